"""A schema refers to a `greenlang:` schema that does not exist.

## What it does

Reports a `$ref` that begins with `greenlang:` but is not the name of a schema in the runtime. The schema of a Quantity
has the name `greenlang://schemas/quantity.json`.

## Why is this bad?

The runtime has a fixed table of schemas and fetches none. An unknown reference fails when the first result is
validated.

## Bad

```python
from gllint_runtime import Tool

load = Tool(
    name="load",
    args_schema={"type": "object", "required": ["site"], "properties": {"site": {"type": "string"}}},
    result_schema={"type": "object", "properties": {"load": {"$ref": "greenlang://schemas/quantities.json"}}},
    fn=lambda site: {"load": {"value": meter(site), "unit": "kW"}},
)
```

## Good

```python
from gllint_runtime import Tool

load = Tool(
    name="load",
    args_schema={"type": "object", "required": ["site"], "properties": {"site": {"type": "string"}}},
    result_schema={"type": "object", "properties": {"load": {"$ref": "greenlang://schemas/quantity.json"}}},
    fn=lambda site: {"load": {"value": meter(site), "unit": "kW"}},
)
```

## How to fix

Refer to `greenlang://schemas/quantity.json`.

## Options

None.

## References

GreenLang's requirements, DOC-601: "Key Requirements".
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.fixes import repair
from gllint_rules.inference.values import Site, Text
from gllint_rules.project.context import Context, Pending
from gllint_rules.reading import facts
from gllint_rules.rule import Rule
from gllint_runtime.policy.schema_numbers import unknown_refs
from gllint_runtime.policy.schemas import KNOWN_SCHEMAS

HELP = f"Known schemas: {', '.join(sorted(KNOWN_SCHEMAS))}."


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each unknown reference in a dict literal: ``{"$ref": "greenlang:quantity/2"}``."""
    for literal, scope in context.module.dicts_with("$ref"):
        ref = literal.value("$ref")
        if ref is None:
            continue
        value = context.eval(ref, scope)
        if isinstance(value, Text) and value.literal is not None and unknown_refs({"$ref": value.literal}):
            site = Site(context.module, ref.at)
            if value.parts and isinstance(ref, facts.Name):  # the literal that the name refers to
                site = value.parts[0].site
            message = f"unknown schema `{value.literal}`"
            fix = repair("names", "correct_ref", context, site, value.literal)
            yield context.finding("GL204", site, message, HELP, fix)


RULE = Rule(
    code="GL204",
    name="unknown-schema-ref",
    summary="A schema refers to a `greenlang:` schema that does not exist",
    documentation=__doc__ or "",
    check=check,
    fix="sometimes",
)

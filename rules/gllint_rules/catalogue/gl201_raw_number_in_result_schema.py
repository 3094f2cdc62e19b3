"""A result schema declares a raw number.

## What it does

Reports each type `number` or `integer` (alone or in a list of types), and each numeric `const` or `enum`, in a schema
that is passed as `result_schema`, `output_schema` or `outputSchema`. If a schema is generated from a class, GL101
reports the number instead.

## Why is this bad?

The schema describes what the tool returns. If it declares a bare number, every result has a number without a unit.

## Bad

```python
from gllint_runtime import Tool

boiler = Tool(
    name="boiler_output",
    args_schema={"type": "object", "required": ["boiler"], "properties": {"boiler": {"type": "string"}}},
    result_schema={"type": "object", "properties": {"output": {"type": "number"}}},
    fn=lambda boiler: read_output(boiler),
)
```

## Good

```python
from gllint_runtime import Tool

boiler = Tool(
    name="boiler_output",
    args_schema={"type": "object", "required": ["boiler"], "properties": {"boiler": {"type": "string"}}},
    result_schema={
        "type": "object",
        "properties": {"output": {"$ref": "greenlang://schemas/quantity.json"}},
    },
    fn=lambda boiler: read_output(boiler),
)
```

## How to fix

In a `result_schema`, declare a Quantity: `{"$ref": "greenlang://schemas/quantity.json"}`. The fix does this. It is
unsafe, because the tool must then return a Quantity.

An `outputSchema` or `output_schema` is read by MCP clients and libraries that cannot resolve a `greenlang:` reference.
There, write out the schema of a Quantity, as the help shows: gllint has no fix for this case. The help names a unit
only if the property's name contains it (`heat_kwh`).

Or declare the unit of the number: `{"type": "number", "x-unit": "kWh"}`. The keywords `unit`, `ucumUnit` and `currency`
work too. GL501 and GL502 check the declared unit.

## Options

`plain-keys` lists properties whose numbers need no unit. `plain-kinds` lists kinds of number that need no unit; the
name of the property shows the kind.

## References

GreenLang's requirements, DOC-601: "Anti-Pattern: Raw Number Returns"; JSON Schema Draft 2020-12.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from gllint_rules.fixes import repair
from gllint_rules.project.advice import plain_advice
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.schemas import is_ours, keyword_schemas
from gllint_rules.project.unit_sources import unit_said
from gllint_rules.rule import Rule
from gllint_rules.words.names import OUTPUT_SCHEMAS
from gllint_runtime.policy.names import read_name
from gllint_runtime.policy.schema_numbers import find_raw_numbers, property_of
from gllint_runtime.policy.schemas import QUANTITY_REF, Path, inlined_quantity
from gllint_runtime.policy.settings import Policy
from gllint_runtime.policy.unit_table import units_of

HELP = f'Declare a Quantity there: `{{"$ref": "{QUANTITY_REF}"}}`.'


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each numeric type of a literal result schema: ``{"heat": {"type": "number"}}``."""
    policy = context.policy
    for keyword_schema in keyword_schemas(context, OUTPUT_SCHEMAS):
        schema = keyword_schema.schema
        for path in find_raw_numbers(schema.data, policy.is_plain, policy.allows, policy.quantity_shapes):
            if policy.mode == "sourced" and _shows_unit(policy, schema.data, path):
                continue
            names = [str(name) for step, name in pairwise(path[:-1]) if step == "properties"]
            subject = f"`{names[-1]}`" if names else "the result"
            message = f"the result schema allows {subject} to be a number without a unit"
            kind = read_name(names[-1]).kind if names else None
            plain = plain_advice(policy, kind, names[-1]) if names else None
            if is_ours(context, keyword_schema):
                help_text, fix = HELP, repair("schemas", "refer_to_quantity", context, schema, path)
            else:  # a framework checks results against such a schema: both have to change, which no fix can do
                unit = _unit_of(policy, property_of(path[:-1]))
                help_text = (
                    f"Return a Quantity there, and declare it: `{json.dumps(inlined_quantity(unit))}`."
                )
                fix = None
            if plain is not None:
                help_text = plain.text
            yield context.finding("GL201", schema.place(path), message, help_text, None if plain else fix)


def _shows_unit(policy: Policy, schema: Any, path: Path) -> bool:
    """Return whether the property's name, its description or the setting `units` shows the unit.

    ``path`` leads to the type of the property: ``("properties", "heat", "type")``.
    """
    name, node = property_of(path[:-1]), schema
    for step in path[:-1]:
        node = node[step]
    text = node.get("description") if isinstance(node, dict) else None
    says_unit = isinstance(text, str) and unit_said(policy, text) is not None
    is_named = name is not None and (
        read_name(name).unit is not None or policy.unit_declared(name, "", "") is not None
    )
    return is_named or says_unit


def _unit_of(policy: Policy, name: str | None) -> str | None:
    """Return the unit of a name: `heat_kwh` → kWh; None for a count (`items`) unless the project allows its unit."""
    unit = read_name(name).unit if name is not None else None
    return unit if unit is None or policy.allows(unit) or unit not in units_of("counts") else None


RULE = Rule(
    code="GL201",
    name="raw-number-in-result-schema",
    summary="A result schema declares a raw number",
    documentation=__doc__ or "",
    check=check,
    fix="unsafe",
    options=("plain-keys", "plain-kinds"),
)

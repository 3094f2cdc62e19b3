"""A result schema declares a raw number.

## What it does

Reports each `number` or `integer` type (alone, in a type list, or as a numeric `const` or `enum`) in a schema that
is given as `result_schema`, `output_schema` or `outputSchema`, at the type.

## Why is this bad?

The schema is the contract of the tool. One that promises a bare number makes the missing unit official.

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

Declare a Quantity: `{"$ref": "greenlang://schemas/quantity.json"}`. The fix is unsafe: the schema demands
another result than before.

## Options

`plain-keys` names the properties whose numbers are no quantities, `plain-kinds` kinds of number that are none where the
name of the property says that kind.

## References

GreenLang's requirements, DOC-601: "Anti-Pattern: Raw Number Returns"; JSON Schema Draft 2020-12.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from gllint_rules.fixes import repair
from gllint_rules.project.admitted import find_raw_numbers
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.kinds import advice
from gllint_rules.project.schemas import keyword_schemas
from gllint_rules.rule import Rule
from gllint_rules.words.kinds import PLAIN, kind_of_name
from gllint_rules.words.names import OUTPUT_SCHEMAS
from gllint_runtime.policy.schemas import QUANTITY_REF

HELP = f'Declare a Quantity there: {{"$ref": "{QUANTITY_REF}"}}.'


def check(context: Context) -> Iterator[Pending]:
    """Findings at the numeric types of literal result schemas."""
    for schema in keyword_schemas(context, OUTPUT_SCHEMAS):
        for path in find_raw_numbers(schema.data, context.settings.is_plain):
            named = [name for step, name in pairwise(path[:-1]) if step == "properties"]
            what = f"`{named[-1]}`" if named else "the result"
            message = f"the result schema lets {what} be a number without a unit"
            fix = repair("schemas", "refer_to_quantity", context, schema, path)
            kind = kind_of_name(str(named[-1])) if named else None
            plain = advice(context.settings, kind, str(named[-1])) if kind in PLAIN else None
            help_text = plain.text if plain is not None else HELP
            yield context.finding("GL201", schema.place(path), message, help_text, None if plain else fix)


RULE = Rule(
    code="GL201",
    name="raw-number-in-result-schema",
    summary="A result schema declares a raw number",
    documentation=__doc__ or "",
    check=check,
    fix="unsafe",
    options=("plain-keys", "plain-kinds"),
)

"""A tool's schema is not a valid JSON Schema.

## What it does

Reports each invalid value in a literal `args_schema` or `result_schema` (Draft 2020-12), and each name in `required`
that `properties` does not declare.

## Why is this bad?

The registry rejects an invalid schema, or the schema accepts values that it should reject.

## Bad

```python
from gllint_runtime import Tool

load = Tool(
    name="load",
    args_schema={"type": "object", "required": ["site"], "properties": {"site": {"type": "text"}}},
    result_schema={"type": "object", "properties": {"load": {"$ref": "greenlang://schemas/quantity.json"}}},
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

Follow the JSON Schema standard, and declare each required property.

## Options

None.

## References

JSON Schema Draft 2020-12.
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.project.context import Context, Pending
from gllint_rules.project.schemas import keyword_schemas
from gllint_rules.rule import Rule
from gllint_rules.words.names import ARGS_SCHEMA, RESULT_SCHEMAS
from gllint_runtime.policy.schemas import schema_problems

HELP = "Correct the value of `{keyword}`: JSON Schema (Draft 2020-12) does not allow it."
REQUIRED_HELP = "Declare the property, or remove its name from `required`."


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each invalid value in the literal schemas of tools."""
    for keyword_schema in keyword_schemas(context, (ARGS_SCHEMA, *RESULT_SCHEMAS)):
        schema = keyword_schema.schema
        for problem in schema_problems(schema.data):
            help = REQUIRED_HELP if problem.is_undeclared else HELP.format(keyword=problem.keyword)
            yield context.finding("GL203", schema.place(problem.path), problem.message, help)


RULE = Rule(
    code="GL203",
    name="invalid-schema",
    summary="A tool's schema is not a valid JSON Schema",
    documentation=__doc__ or "",
    check=check,
)

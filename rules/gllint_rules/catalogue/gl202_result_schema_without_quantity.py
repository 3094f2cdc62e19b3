"""A tool's result schema does not require a Quantity.

## What it does

Reports a tool that is registered with `Tool(…, args_schema=…, fn=…)`, if one of these is true of its `result_schema`:

- It is missing, empty or without properties.
- It writes out the schema of a Quantity instead of referring to it.
- It does not refer to the schema of a Quantity, although the result contains a number or a Quantity.

## Why is this bad?

Without the reference, the runtime accepts a result in which the Quantity is missing or is only a text.

## Bad

```python
from gllint_runtime import Tool

pump = Tool(
    name="pump_power",
    args_schema={"type": "object", "required": ["pump"], "properties": {"pump": {"type": "string"}}},
    result_schema={},
    fn=lambda pump: {"power": {"value": read_power(pump), "unit": "kW"}},
)
```

## Good

```python
from gllint_runtime import Tool

pump = Tool(
    name="pump_power",
    args_schema={"type": "object", "required": ["pump"], "properties": {"pump": {"type": "string"}}},
    result_schema={
        "type": "object",
        "required": ["power"],
        "properties": {"power": {"$ref": "greenlang://schemas/quantity.json"}},
    },
    fn=lambda pump: {"power": {"value": read_power(pump), "unit": "kW"}},
)
```

## How to fix

Declare each number of the result as `{"$ref": "greenlang://schemas/quantity.json"}`.

## Options

None.

## References

GreenLang's requirements, DOC-601: "Define a Tool with Quantity Output".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gllint_rules.fixes import repair
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.kinds import holds_numbers
from gllint_rules.project.schemas import Opaque, read_schema
from gllint_rules.project.sourced import lacks_unit
from gllint_rules.rule import Rule
from gllint_rules.tools.tool import Tool
from gllint_runtime.policy.schema_numbers import (
    demands_quantity,
    find_inlined_quantities,
    find_raw_numbers,
    unknown_refs,
)
from gllint_runtime.policy.schemas import QUANTITY_REF

HELP = f'In `result_schema`, declare each number of the result as `{{"$ref": "{QUANTITY_REF}"}}`.'


def check(context: Context) -> Iterator[Pending]:
    """Yield one finding for each T1 tool without a result schema, or whose schema requires no Quantity."""
    for tool in context.tools:
        if tool.form != "T1":
            continue
        # In sourced mode a result needs a schema only if it has numbers without a unit.
        if context.policy.mode == "sourced" and not any(
            lacks_unit(context, result) for result in context.results_of(tool)
        ):
            continue
        name = tool.title
        if tool.result_schema is None:
            # `Tool(**options)` may have a schema in its options.
            has_spread = tool.call is not None and any(keyword is None for keyword, _ in tool.call.keywords)
            if not has_spread:
                fix = repair("schemas", "declare_quantities", context, tool, None)
                yield context.finding("GL202", tool.at, f"{name} has no result schema", HELP, fix)
            continue
        schema = read_schema(context, tool.result_schema, tool.scope)
        policy = context.policy
        if schema is None or find_raw_numbers(
            schema.data, policy.is_plain, policy.allows, policy.quantity_shapes
        ):
            continue  # GL201 reports it
        problem = _problem(context, tool, schema.data)
        if problem is not None:
            message = f"the result schema of {name} {problem}"
            fix = repair("schemas", "declare_quantities", context, tool, schema)
            yield context.finding("GL202", schema.site, message, HELP, fix)


def _problem(context: Context, tool: Tool, data: Any) -> str | None:
    """Return what is wrong with a result schema ("is empty"), None if nothing is."""
    if any(isinstance(key, Opaque) for key in data):
        return None
    if not data:
        return "is empty"
    if find_inlined_quantities(data):
        return f"defines the Quantity inline instead of referring to {QUANTITY_REF}"
    if data.get("type") == "object" and not data.get("properties") and not _composed(data):
        return "has no properties"
    if unknown_refs(data):  # GL204 reports them
        return None
    if not demands_quantity(data) and any(holds_numbers(r, context.policy) for r in context.results_of(tool)):
        return "declares no Quantity, but the result contains a number"
    return None


def _composed(data: dict[str, Any]) -> bool:
    """Return whether other keywords than ``properties`` declare the keys of an object: ``$ref``, ``allOf`` …"""
    return bool(
        data.keys() & {"$ref", "allOf", "anyOf", "oneOf", "additionalProperties", "patternProperties"}
    )


RULE = Rule(
    code="GL202",
    name="result-schema-without-quantity",
    summary="A tool's result schema does not require a Quantity",
    documentation=__doc__ or "",
    check=check,
    fix="unsafe",
)

"""A tool's result does not match its schema.

## What it does

Reports a tool whose returned dict lacks a `required` key of the literal `result_schema`, or has a key that the schema
forbids (`additionalProperties: false`). If the keys of the dict are unknown, nothing is reported.

## Why is this bad?

The runtime validates each result, so every call of this tool fails.

## Bad

```python
from gllint_runtime import Tool

load = Tool(
    name="load",
    args_schema={"type": "object", "required": ["site"], "properties": {"site": {"type": "string"}}},
    result_schema={
        "type": "object",
        "required": ["load"],
        "properties": {"load": {"$ref": "greenlang://schemas/quantity.json"}},
    },
    fn=lambda site: {"power": {"value": meter(site), "unit": "kW"}},
)
```

## Good

```python
from gllint_runtime import Tool

load = Tool(
    name="load",
    args_schema={"type": "object", "required": ["site"], "properties": {"site": {"type": "string"}}},
    result_schema={
        "type": "object",
        "required": ["load"],
        "properties": {"load": {"$ref": "greenlang://schemas/quantity.json"}},
    },
    fn=lambda site: {"load": {"value": meter(site), "unit": "kW"}},
)
```

## How to fix

Return the keys that the schema names, or change the schema.

## Options

None.

## References

GreenLang's requirements, DOC-601: "Error: RESULT_SCHEMA".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gllint_rules.inference.values import QuantityInstance, Record, Site, options
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.results import Result
from gllint_rules.project.schemas import Opaque, read_schema
from gllint_rules.rule import Rule
from gllint_rules.tools.tool import Tool

HELP = "Return exactly what the result schema declares."


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each tool whose result lacks a key that its literal schema requires, or has another."""
    for tool in context.tools:
        if tool.result_schema is None:
            continue
        schema = read_schema(context, tool.result_schema, tool.scope)
        if schema is None or any(isinstance(key, Opaque) for key in schema.data):
            continue
        for result in context.results_of(tool):
            mismatch = _problem(result, schema.data)
            if mismatch is not None:
                problem, record = mismatch
                yield context.finding("GL205", _site(tool, result, record), problem, HELP, tool=tool)
                break


def _site(tool: Tool, result: Result, record: Record) -> Site:
    """Return the place of the returned dict, or of the tool's ``fn`` if the dict is in another file."""
    modules = {result.callable.module, record.site.module if record.site is not None else tool.module}
    if modules != {tool.module} and tool.fn is not None:
        return Site(tool.module, tool.fn.at)
    return result.site


def _problem(result: Result, schema: dict[str, Any]) -> tuple[str, Record] | None:
    """Return what is wrong with a dict that may be returned, and that dict: "the result lacks `heat`, …".

    ``None`` if all fit, or if their keys are not known.
    """
    required = schema.get("required")
    properties = schema.get("properties")
    closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
    for option in options(result.value):
        if not isinstance(option, Record) or option.open or option.rest is not None:
            continue
        if isinstance(option, QuantityInstance):
            continue
        keys = set(option.entries)
        for name in required if isinstance(required, list) else ():
            if isinstance(name, str) and name not in keys:
                return f"the result lacks `{name}`, which its schema requires", option
        if closed and isinstance(properties, dict) and not any(isinstance(k, Opaque) for k in properties):
            extra = sorted(key for key in option.sure - set(properties) if isinstance(key, str))
            if extra:
                return f"the result has `{extra[0]}`, which its schema forbids", option
    return None


RULE = Rule(
    code="GL205",
    name="result-shape-mismatch",
    summary="A tool's result does not match its schema",
    documentation=__doc__ or "",
    check=check,
    per_tool=True,
)

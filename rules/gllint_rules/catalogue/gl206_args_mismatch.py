"""A tool's function does not accept what its schema allows.

## What it does

Reports a tool whose function `fn` does not match its literal `args_schema`: the function has no parameter for a
property, or a parameter without a default is not in `required`.

## Why is this bad?

The runtime calls `fn(**arguments)` with any arguments that the schema allows. Some of these calls raise a `TypeError`.

## Bad

```python
from gllint_runtime import Tool

load = Tool(
    name="load",
    args_schema={"type": "object", "properties": {"site": {"type": "string"}}},
    result_schema={"type": "object", "properties": {"load": {"$ref": "greenlang://schemas/quantity.json"}}},
    fn=lambda place: {"load": {"value": meter(place), "unit": "kW"}},
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

Give the parameters the names of the properties, and list every parameter without a default in `required`.

## Options

None.

## References

GreenLang's requirements, DOC-601: "Define a Tool with Quantity Output".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gllint_rules.inference.values import FunctionOf, Site
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.schemas import Opaque, read_schema
from gllint_rules.reading import facts
from gllint_rules.rule import Rule
from gllint_rules.tuples import NamedTuple


class _Problem(NamedTuple):
    """How a function and its ``args_schema`` differ, and how to mend it."""

    message: str
    help: str


def check(context: Context) -> Iterator[Pending]:
    """Yield at most one finding for each T1 tool whose function and literal ``args_schema`` are known."""
    for tool in context.tools:
        if tool.form != "T1" or tool.args_schema is None or tool.fn is None or len(tool.callables) != 1:
            continue
        if isinstance(
            tool.fn, facts.Call
        ):  # `functools.partial(f, x)`: some parameters have their argument already
            continue
        schema = read_schema(context, tool.args_schema, tool.scope)
        if schema is None or any(isinstance(key, Opaque) for key in schema.data):
            continue
        problem = _problem(tool.callables[0], schema.data)
        if problem is not None:
            yield context.finding("GL206", Site(tool.module, tool.fn.at), *problem, tool=tool)


def _problem(callee: FunctionOf, schema: dict[str, Any]) -> _Problem | None:
    """Return the first property without a parameter, or parameter that may get no argument; None if all fit."""
    function = callee.function
    # Other decorators may change which parameters the function has.
    if isinstance(function, facts.Function) and any(
        facts.last_name(d) not in ("staticmethod", "classmethod") for d in function.decorators
    ):
        return None
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    if schema.keys() & {"$ref", "allOf", "anyOf", "oneOf"} or not isinstance(properties, dict):
        return None
    if any(
        not isinstance(name, str)
        for name in (*properties, *(required if isinstance(required, list) else [0]))
    ):
        return None
    params = function.params[1:] if callee.first else function.params
    names = {p.name for p in params if p.kind in ("any", "keyword")}
    if not any(p.kind == "double-star" for p in params):
        for name in properties:
            if name not in names:
                return _Problem(
                    f"`args_schema` has `{name}`, but the function has no such parameter",
                    f"Arguments are passed by name: add a parameter `{name}`, or remove it from `args_schema`.",
                )
    for param in params:
        if (
            param.kind in ("any", "keyword", "positional")
            and param.default is None
            and param.name not in required
        ):
            return _Problem(
                f"parameter `{param.name}` has no default, and `args_schema` does not require it",
                "Require it in `args_schema`, or give it a default.",
            )
    return None


RULE = Rule(
    code="GL206",
    name="args-mismatch",
    summary="A tool's function does not accept what its schema allows",
    documentation=__doc__ or "",
    check=check,
    per_tool=True,
)

"""A tool's parameter is a number without a stated unit.

## What it does

Reports a parameter of a tool if its annotation or the `args_schema` says that it is a number, and nothing states its
unit. The unit may be at the end of the name (`discharge_m3_s`), in a declaration (`x-unit`, `Annotated[float,
Unit("m3/s")]`) or in the description. Counts, indexes, identifiers and fractions need no unit and are not reported.
The rule is opt-in.

## Why is this bad?

The model passes a number in the unit in which it found it, and no one notices if the tool expects another.

## Bad

```python
from langchain_core.tools import tool


@tool
def runoff(discharge: float) -> dict:
    return {"runoff": {"value": depth(discharge), "unit": "m"}}
```

## Good

```python
from langchain_core.tools import tool


@tool
def runoff(discharge_m3_s: float) -> dict:
    return {"runoff": {"value": depth(discharge_m3_s), "unit": "m"}}
```

## How to fix

State the unit at the end of the name, as `x-unit` in the schema, or in the description. If the parameter needs no unit,
add its name to `plain-keys`.

## Options

`extend-select = ["GL106"]` switches the rule on. `plain-keys` and `plain-kinds` name numbers that need no unit.

## References

The benchmark UnitSafe (Hugging Face: `radiativity/UnitSafe`), and the recorded runs of the package `quantity-guard`
(PyPI), in which models pass numbers in the unit in which they found them.
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.inference.values import Frame, FunctionOf, Site, number
from gllint_rules.project.argument_units import says_unit, schema_properties
from gllint_rules.project.calculators import is_operand
from gllint_rules.project.context import Context, Pending
from gllint_rules.reading import facts
from gllint_rules.rule import Rule
from gllint_rules.tools.tool import Tool
from gllint_runtime.policy.names import read_name

_COUNTS = frozenset({"n", "k", "limit", "seed", "steps", "retries", "depth_limit"})
_COORDINATES = frozenset({"lat", "latitude", "lon", "lng", "longitude"})
_PAGES = frozenset({"first", "last"})  # how many elements to return, from the start or the end
HELP = (
    "Add the unit to the name of the argument (`heat_kwh` has one), to its annotation "
    '(`Annotated[float, Unit("<unit>")]`) or to its description.'
)


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each numeric parameter or property without a unit: ``def heat(power: float)``."""
    sites: set[Site] = set()
    for tool in context.tools:
        places = [*_parameters(context, tool), *_properties(context, tool)]
        for name, site in places:
            if site not in sites and not _needs_no_unit(context, name):
                sites.add(site)
                message = f"the argument `{name}` of {tool.title} is a number without a unit"
                yield context.finding("GL106", site, message, HELP, tool=tool)


def _parameters(context: Context, tool: Tool) -> Iterator[tuple[str, Site]]:
    """Yield the names and places of the parameters that are annotated as numbers and have no unit."""
    for callee in tool.callables:
        function = callee.function
        if not isinstance(function, facts.Function) or callee in tool.inherited:
            continue
        params = function.params[1 if callee.first else 0 :]
        # `first: int` is a number of elements, but in `add(first, second)` an operand.
        pages = frozenset() if any(param.name == "second" for param in params) else _PAGES
        for param in params:
            if param.name in pages:
                continue
            if param.annotation is not None and param.kind in ("positional", "any", "keyword"):
                if _is_number(context, callee, param) and not says_unit(context, tool, callee, param):
                    yield param.name, Site(callee.module, param.at)


def _is_number(context: Context, callee: FunctionOf, param: facts.Param) -> bool:
    """Return whether a parameter is annotated as a number, or has one as its default."""
    frame = Frame(callee.module, callee.function.scope, None, callee.bound)
    return number(context.evaluator.parameter(param, frame)) is not None


def _properties(context: Context, tool: Tool) -> Iterator[tuple[str, Site]]:
    """Yield the properties of a literal `args_schema` that are numbers, and say no unit."""
    for name, site, has_unit in schema_properties(context, tool):
        if not has_unit:
            yield name, site


def _needs_no_unit(context: Context, name: str) -> bool:
    """Return whether the name says that a number has no unit: a count, an index, an identifier, a ratio."""
    return (
        is_operand(name)
        or name in _COORDINATES
        or name in _COUNTS
        or f"{name}_".startswith(("top_k_", "top_n_"))
        or read_name(name).kind is not None
        or context.policy.is_plain(name)
    )


RULE = Rule(
    code="GL106",
    name="argument-without-unit",
    summary="A tool's parameter is a number without a stated unit",
    documentation=__doc__ or "",
    check=check,
    options=("plain-keys", "plain-kinds"),
)

"""A tool returns one of its own arguments as a Quantity.

## What it does

Reports a Quantity in a tool's result whose `value` is an argument of the tool, unchanged. This rule is opt-in.

## Why is this bad?

The model writes the arguments. If it makes up a number and the tool returns that argument, the number looks as if it
came from the tool.

## Bad

```python
from langchain_core.tools import tool


@tool
def record_demand(demand: float) -> dict:
    return {"demand": {"value": demand, "unit": "kWh"}}
```

## Good

```python
from langchain_core.tools import tool


@tool
def record_demand(meter: str) -> dict:
    return {"demand": {"value": read_meter(meter), "unit": "kWh"}}
```

## How to fix

Let the tool read the number from its own source. At run time, `argument_origin` shows where the numbers in arguments
come from.

## Options

Select it with `extend-select`.

## References

The runtime's page on arguments.
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.project.context import Context, Pending
from gllint_rules.project.results import quantities
from gllint_rules.reading import facts
from gllint_rules.rule import Rule
from gllint_rules.tools.parameters import argument_of

HELP = (
    "The model chose this number: read it from a data source instead, or let "
    '`gllint_runtime` check its origin: `Session(argument_origin="strict")`.'
)


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each Quantity that repeats an argument: ``def f(x): return {"value": x, "unit": "kWh"}``."""
    values_by_module: dict[facts.Module, dict[int, tuple[facts.Expr, facts.Scope]]] = {}
    for result in context.results:
        parameters = result.parameters
        if not parameters:
            continue
        module = result.callable.module
        if module not in values_by_module:
            values_by_module[module] = _values_by_place(module)
        values = values_by_module[module]
        for quantity in quantities(result.value, result.site):
            site = quantity.record.site
            if site is None or site.module is not module or site.at not in values:
                continue
            name = argument_of(*values[site.at], parameters)
            if name is not None:
                message = f"this Quantity repeats the argument `{name}`"
                yield context.found_in(result, "GL105", site, message, HELP)


def _values_by_place(module: facts.Module) -> dict[int, tuple[facts.Expr, facts.Scope]]:
    """Return the number that each dict or call would contain as a Quantity, with its scope, by the place of the dict.

    ``{"value": x}`` → ``x``, ``Quantity(value=x)`` and ``Quantity(x)`` → ``x``
    """
    values: dict[int, tuple[facts.Expr, facts.Scope]] = {}
    for literal, scope in module.dicts:
        value = literal.value("value")
        if value is not None:
            values[literal.at] = value, scope
    for call, scope in module.calls:
        value = call.keyword("value") or (call.args[0] if call.args else None)
        if value is not None:
            values[call.at] = value, scope
    return values


RULE = Rule(
    code="GL105",
    name="echoed-argument",
    summary="A tool returns one of its own arguments as a Quantity",
    documentation=__doc__ or "",
    check=check,
)

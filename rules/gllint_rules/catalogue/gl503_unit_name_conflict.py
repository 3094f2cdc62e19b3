"""A name announces another unit than its Quantity carries.

## What it does

Reports a Quantity whose key ends in a unit of another dimension than the Quantity's own.

## Why is this bad?

One of the two is wrong, and whoever reads the name believes it.

## Bad

```python
from langchain_core.tools import tool


@tool
def footprint(building: str) -> dict:
    return {"heat_kwh": {"value": look_up(building), "unit": "kg"}}
```

## Good

```python
from langchain_core.tools import tool


@tool
def footprint(building: str) -> dict:
    return {"heat_kwh": {"value": look_up(building), "unit": "kWh"}}
```

## How to fix

Rename the key or correct the unit.

## Options

`extend-units`, `unit-packs`.

## References

GreenLang's requirements, DOC-601: "Mixing Units".
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.inference.values import Site
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.units import variable, written_units
from gllint_rules.rule import Rule
from gllint_runtime.policy.key_units import announced_dimension, readings_of_name
from gllint_runtime.policy.units import UnitVerdict, is_allowed

HELP = "Rename the key, or correct the unit."


def check(context: Context) -> Iterator[Pending]:
    """Findings at the keys and variables that contradict the units of their Quantities."""
    for unit in written_units(context, every=True):
        if unit.verdict.dimension is None:
            continue
        held = unit.held
        carriers = [(held.key, held.key_site)] if held.key else []
        site = held.record.site
        if site is not None and site.module is context.module:
            named = variable(context, site.at)
            if named is not None:
                carriers.append((named[0], Site(context.module, named[1])))
        for name, where in carriers:
            announced = readings_of_name(name)
            if announced and all(_conflicts(reading, unit.verdict) for reading in announced):
                message = f"`{name}` announces {' or '.join(announced)}, but the Quantity is in `{unit.verdict.unit}`"
                yield context.finding("GL503", where, message, HELP)


def _conflicts(announced: str, verdict: UnitVerdict) -> bool:
    """Whether a unit that a name announces is of another dimension than the Quantity's, as far as both are known."""
    dimension = announced_dimension(announced)
    carried = announced_dimension(verdict.unit)
    if carried is None and is_allowed(
        announced
    ):  # pint knows the other one, and has no names for our packs' dimensions
        carried = verdict.dimension
    return None not in (dimension, carried) and dimension != carried


RULE = Rule(
    code="GL503",
    name="unit-name-conflict",
    summary="A name announces another unit than its Quantity carries",
    documentation=__doc__ or "",
    check=check,
    options=("extend-units", "unit-packs"),
)

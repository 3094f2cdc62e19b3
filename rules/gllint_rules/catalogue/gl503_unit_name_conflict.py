"""A name announces another unit than its Quantity carries.

## What it does

Reports a Quantity whose key ends in another unit than the Quantity's own, of another dimension (`emissions_kg` in
`kWh`, `mean_kW` in `kWh/year`) or of the same (`heat_wh` in `kWh`). A key that reads as several units (`power_mw`)
conflicts only where each of them does.

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
from gllint_runtime.policy.units import UnitVerdict, is_allowed, is_same_size

_LOOSE = frozenset({("ton", "t")})  # `mass_tons` is said of both
HELP = "Rename the key, or correct the unit."


def check(context: Context) -> Iterator[Pending]:
    """Findings at the keys and variables that contradict the units of their Quantities."""
    for unit in written_units(context, every=True):
        if unit.verdict.dimension is None:
            continue
        quantity = unit.quantity
        carriers = [(quantity.key, quantity.key_site)] if quantity.key else []
        site = quantity.record.site
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
    """Whether a name announces another unit than the Quantity carries, as far as both are known."""
    carried = verdict.nearest or verdict.symbol
    if (announced, carried) in _LOOSE:
        return False
    dimension, other = announced_dimension(announced), announced_dimension(carried)
    if other is None and is_allowed(announced):  # pint knows it, and has no names for our packs' dimensions
        other = verdict.dimension
    if dimension is None or other is None:
        return False
    return dimension != other or is_same_size(announced, carried) is False


RULE = Rule(
    code="GL503",
    name="unit-name-conflict",
    summary="A name announces another unit than its Quantity carries",
    documentation=__doc__ or "",
    check=check,
    options=("extend-units", "unit-packs"),
)

"""A key ends in a unit other than its Quantity's.

## What it does

Reports a Quantity whose key ends in a unit other than its `unit`: `emissions_kg` in `kWh`, `mean_kW` in `kWh/year`,
`heat_wh` in `kWh`. If the end of the key can mean several units (`power_mw`), the key is reported only if none of these
units fits.

## Why is this bad?

Either the name or the unit is wrong, and readers believe the name.

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

from gllint_rules.project.context import Context, Pending
from gllint_rules.project.units import contradicting_names, written_units
from gllint_rules.rule import Rule

HELP = "Rename the key, or correct the unit."


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each name that contradicts the unit of its Quantity: ``{"heat_kwh": {…, "unit": "kg"}}``."""
    for unit in written_units(context, every=True):
        for contradiction in contradicting_names(context, unit):
            announced = " or ".join(f"`{name}`" for name in contradiction.announced)
            message = f"`{contradiction.name}` says {announced}, but the Quantity is in `{unit.verdict.unit}`"
            yield context.finding("GL503", contradiction.site, message, HELP)


RULE = Rule(
    code="GL503",
    name="unit-name-conflict",
    summary="A key ends in a unit other than its Quantity's",
    documentation=__doc__ or "",
    check=check,
    options=("extend-units", "unit-packs"),
)

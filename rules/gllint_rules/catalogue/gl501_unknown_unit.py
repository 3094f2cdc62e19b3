"""A Quantity has an unknown unit.

## What it does

Reports a literal unit that gllint does not know, and that the configuration does not allow. GL502 reports units that
gllint knows but that are not allowed. The help suggests the unit that was probably meant if the text differs in case
(`kwh`), is a plural or uses words (`kilowatt-hours`). The help suggests no unit if the text can mean several units
(`mw`) or a part of a unit (`GBp` is pence).

## Why is this bad?

A misspelt unit cannot be converted or compared. In claims mode the runtime rejects the number.

## Bad

```python
from langchain_core.tools import tool


@tool
def feed_in(plant: str) -> dict:
    return {"feed_in": {"value": read_plant(plant), "unit": "kwh"}}
```

## Good

```python
from langchain_core.tools import tool


@tool
def feed_in(plant: str) -> dict:
    return {"feed_in": {"value": read_plant(plant), "unit": "kWh"}}
```

## How to fix

Write the unit as `gllint units` lists it, or allow it with `unit-packs` or `extend-units`. The fix is safe if only case
or a separator differs and the text can mean only one unit (`kwh`); otherwise it is unsafe. There is no fix if code of
the project compares the unit's text or uses it as a key.

## Options

`extend-units`, `strict-units`, `unit-packs`.

## References

GreenLang's requirements, DOC-601: "Allowed Units".
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.fixes import repair
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.kinds import unit_advice
from gllint_rules.project.units import WrittenUnit, named_units
from gllint_rules.rule import Rule
from gllint_runtime.policy.units import unit_title


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each literal unit that does not exist: ``"unit": "kwh"``."""
    for unit in named_units(context):
        verdict = unit.verdict
        if verdict.status == "unknown":
            message = f"unknown unit `{unit_title(verdict.unit)}`"
            is_written = isinstance(unit, WrittenUnit)  # not in a schema, which the fix does not change
            fix = repair("names", "correct_unit", context, unit) if is_written else None
            yield context.finding("GL501", unit.site, message, unit_advice(context.policy, verdict), fix)


RULE = Rule(
    code="GL501",
    name="unknown-unit",
    summary="A Quantity has an unknown unit",
    documentation=__doc__ or "",
    check=check,
    fix="sometimes",
    options=("extend-units", "strict-units", "unit-packs"),
)

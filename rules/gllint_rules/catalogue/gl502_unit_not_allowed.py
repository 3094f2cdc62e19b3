"""A Quantity has a unit that is not allowed.

## What it does

Reports a literal unit that gllint knows but that is not on the list of allowed units: `BTU`, `mph`, the empty unit.
Compounds of allowed units and time units are allowed (`kWh/year`, `USD/kWh`), unless `strict-units` is
set. Other symbols for an allowed unit are allowed too: `m³` for `m3`, `°C` for `degC`.

## Why is this bad?

In claims mode the runtime rejects units that the project does not allow, so no message can cite the number.

## Bad

```python
from langchain_core.tools import tool


@tool
def heat_content(fuel: str) -> dict:
    return {"heat": {"value": look_up(fuel), "unit": "BTU"}}
```

## Good

```python
from langchain_core.tools import tool


@tool
def heat_content(fuel: str) -> dict:
    return {"heat": {"value": look_up(fuel) * 0.000293, "unit": "kWh"}}
```

## How to fix

If the unit is another name for an allowed unit (`litre` for `L`), write the allowed one. The fix does this; it is safe
if only case or a separator differs. Otherwise allow the unit with `unit-packs` or `extend-units`, or convert the value
to an allowed unit.

## Options

`extend-units`, `strict-units`, `unit-packs`.

## References

GreenLang's requirements, DOC-601: "Allowed Units" and "Unit Normalization".
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.fixes import repair
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.kinds import unit_advice
from gllint_rules.project.units import WrittenUnit, named_units
from gllint_rules.rule import Rule


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each literal unit that exists but is not allowed: ``"unit": "BTU"``."""
    for unit in named_units(context):
        verdict = unit.verdict
        if verdict.status == "not-allowed":
            message = (
                f"unit `{verdict.unit}` is not allowed" if verdict.unit else "the empty unit is not allowed"
            )
            is_written = isinstance(unit, WrittenUnit)  # not in a schema, which the fix does not change
            fix = repair("names", "correct_unit", context, unit) if is_written else None
            yield context.finding("GL502", unit.site, message, unit_advice(context.policy, verdict), fix)


RULE = Rule(
    code="GL502",
    name="unit-not-allowed",
    summary="A Quantity has a unit that is not allowed",
    documentation=__doc__ or "",
    check=check,
    fix="sometimes",
    options=("extend-units", "strict-units", "unit-packs"),
)

"""A Quantity has a unit that is not allowed.

## What it does

Reports a literal unit that is a unit but not on the allowlist: `BTU`, `mph`, the empty unit. Compounds of allowed
units and units of time are allowed (`kWh/year`, `USD/kWh`) unless `strict-units` is set.

## Why is this bad?

The runtime refuses units that the project has not agreed on; a number in one of them can never be claimed.

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

Convert to an allowed unit, allow the pack of units that has it with `unit-packs`, or add it with `extend-units`.

## Options

`extend-units`, `strict-units`, `unit-packs`.

## References

GreenLang's requirements, DOC-601: "Allowed Units" and "Unit Normalization".
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.project.context import Context, Pending
from gllint_rules.project.kinds import allowing
from gllint_rules.project.units import written_units
from gllint_rules.rule import Rule
from gllint_runtime.policy.packs import pack_of


def check(context: Context) -> Iterator[Pending]:
    """Findings at the literal units that are units, but not allowed ones."""
    for unit in written_units(context):
        verdict = unit.verdict
        if verdict.status == "not-allowed":
            message = (
                f"unit `{verdict.unit}` is not allowed" if verdict.unit else "the empty unit is not allowed"
            )
            yield context.finding("GL502", unit.site, message, _help(context, verdict.unit))


def _help(context: Context, unit: str) -> str:
    if pack_of(unit) is not None:
        return f"Allow it with `{allowing(context.settings, unit)}`, or convert it to an allowed unit."
    return "Convert it to an allowed unit (`gllint units` lists them), or add it with `extend-units`."


RULE = Rule(
    code="GL502",
    name="unit-not-allowed",
    summary="A Quantity has a unit that is not allowed",
    documentation=__doc__ or "",
    check=check,
    options=("extend-units", "strict-units", "unit-packs"),
)

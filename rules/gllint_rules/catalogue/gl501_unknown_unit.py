"""A Quantity has an unknown unit.

## What it does

Reports a literal unit that neither the allowlist nor `extend-units` has and that does not parse as a unit. The help
names the unit that is meant where there is exactly one of the same dimension and size: another case (`kwh`), a plural,
a name written out (`kilowatt-hours`). Where the case decides which unit it is (`mw`), or where it is another thing or
another size (`GBp` is pence), the help says so and suggests none.

## Why is this bad?

A misspelt unit cannot be converted or compared, so the claim is rejected at execution.

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

Write the unit as the allowlist has it, or allow it with `unit-packs` or `extend-units`. The fix is safe where the text
differs from the unit in case or a separator alone and is one unit in any case (`kwh`); else it is unsafe. There is no
fix where code of the project compares the text or looks something up by it.

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
    """Findings at the literal units that are no units."""
    for unit in named_units(context):
        verdict = unit.verdict
        if verdict.status == "unknown":
            message = f"unknown unit `{unit_title(verdict.unit)}`"
            is_written = isinstance(unit, WrittenUnit)
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

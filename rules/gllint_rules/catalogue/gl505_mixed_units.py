"""Numbers in different units are added, subtracted or compared.

## What it does

Reports `a + b`, `a - b`, `a < b`, `max(a, b)`, `a += b` and similar expressions if both units are known and differ. It
checks files that define or import tools, and functions in other files that a tool calls, through at most four calls.
`gllint rule GL504` explains how gllint follows units. A name that can mean two units (`cooling_mwh`) is reported only
if neither is the other number's unit.

## Why is this bad?

The sum has no meaning, and the comparison depends on the units instead of the quantities.

## Bad

```python
from langchain_core.tools import tool


@tool
def demand(heat_kwh: float, cooling_wh: float) -> dict:
    return {"demand": {"value": heat_kwh + cooling_wh, "unit": "kWh"}}
```

## Good

```python
from langchain_core.tools import tool


@tool
def demand(heat_kwh: float, cooling_wh: float) -> dict:
    return {"demand": {"value": heat_kwh + cooling_wh / 1000, "unit": "kWh"}}
```

## How to fix

Convert one of the two numbers first. If a name is wrong, rename it.

## Options

None.

## References

GreenLang's requirements, DOC-601: "Mixing Units".
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.inference.units.measure import Measure
from gllint_rules.inference.units.meetings import Meeting
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.unit_findings import conflicts, factor_between, units_of
from gllint_rules.rule import Rule


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each operator between numbers of different units, at the right one: ``kwh + wh``."""
    for site, meeting in conflicts(context):
        if isinstance(meeting, Meeting):
            yield context.finding("GL505", site, _message(meeting), _help(meeting))


def _message(meeting: Meeting) -> str:
    """Return what is done with two numbers: "A number in `Wh` is subtracted from one in `kWh`"."""
    left, right = _unit_name(meeting.left), _unit_name(meeting.right)
    match meeting.op:
        case "+":
            return f"A number in {left} is added to one in {right}"
        case "-":
            return f"A number in {right} is subtracted from one in {left}"
        case _:
            return f"A number in {left} is compared with one in {right}"


def _unit_name(measure: Measure) -> str:
    """Return the units of a measure as a message names them: "`kWh`"; of a fraction "`1` (a fraction)"."""
    text = units_of(measure)
    return "`1` (a fraction)" if text == "`1`" else text


def _help(meeting: Meeting) -> str:
    """Return how the units convert ("Convert one of them first: 1 kWh is 1000 Wh."), or that a name may be wrong."""
    factor = factor_between(meeting.right, meeting.left)
    if factor is None:
        return "Convert one of them first. If a name says the wrong unit, correct the name."
    sizes = [(meeting.right, factor, meeting.left), (meeting.left, 1 / factor, meeting.right)]
    # The direction with fewer digits: 1 h is 60 min, not 1 min is 0.0166666666667 h. A number has no unit: 1 % is 0.01.
    facts = [
        f"1 {units_of(unit)[1:-1]} is {size:.12g} {units_of(target)[1:-1]}".removesuffix(" 1")
        for unit, size, target in sizes
        if units_of(unit) != "`1`"
    ]
    return f"Convert one of them first: {min(facts, key=len)}."


RULE = Rule(
    code="GL505",
    name="mixed-units",
    summary="Numbers in different units are added, subtracted or compared",
    documentation=__doc__ or "",
    check=check,
)

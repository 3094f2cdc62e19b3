"""A Quantity sits inside a list.

## What it does

Reports a Quantity inside a list, tuple or comprehension of a tool's result.

## Why is this bad?

A claim path names the fields that lead to a Quantity (`$.heating.demand`). By default it cannot address an element of a
list, so no message can cite the number.

## Bad

```python
from langchain_core.tools import tool


@tool
def readings(meter: str) -> dict:
    first, last = read_meter(meter)
    return {"readings": [{"value": first, "unit": "kWh"}, {"value": last, "unit": "kWh"}]}
```

## Good

```python
from langchain_core.tools import tool


@tool
def readings(meter: str) -> dict:
    first, last = read_meter(meter)
    return {
        "first_reading": {"value": first, "unit": "kWh"},
        "last_reading": {"value": last, "unit": "kWh"},
    }
```

## How to fix

Give each Quantity its own key, or return only the one that the message needs.

## Options

`array-paths` lets a claim path address an element (`$.readings[0]`), in the runtime too. The rule then reports nothing.

## References

GreenLang's requirements, DOC-601: "JSONPath Format" and the question on arrays of Quantities.
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.inference.values import Site
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.results import quantities
from gllint_rules.rule import Rule

HELP = (
    "By default, a claim path cannot name an element of a list: return each Quantity under a key of its own, "
    "or set `array-paths = true`."
)


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each Quantity in a list: ``[{"value": x, "unit": "kWh"}]``.

    Of a list of rows that contain Quantities only the first is reported.
    """
    if context.policy.array_paths:
        return
    series: set[Site] = set()  # lists of records, of which the first is reported
    for result in context.results:
        for quantity in quantities(result.value, result.site):
            if quantity.list_site is not None and quantity.list_site not in series:
                if quantity.has_more:
                    series.add(quantity.list_site)
                site = quantity.record.site or quantity.site
                yield context.found_in(result, "GL103", site, "this Quantity is inside a list", HELP)


RULE = Rule(
    code="GL103",
    name="quantity-in-list",
    summary="A Quantity sits inside a list",
    documentation=__doc__ or "",
    check=check,
    options=("array-paths",),
)

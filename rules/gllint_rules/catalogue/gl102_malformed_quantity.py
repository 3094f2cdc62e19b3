"""A Quantity in a tool's result has the wrong shape.

## What it does

Reports these in a tool's result:

- a dict with `value`, `unit` and more keys
- a Quantity whose `value` is known not to be a number, or whose `unit` is known not to be a string
- a call of `Quantity` without a value or without a unit

## Why is this bad?

A Quantity has exactly two keys, `value` and `unit`. The runtime rejects any other shape, so no message can cite the
number.

## Bad

```python
from langchain_core.tools import tool


@tool
def tank_volume(tank: str) -> dict:
    level = read_level(tank)
    return {"volume": {"value": f"{level:.1f}", "unit": "m3"}}
```

## Good

```python
from langchain_core.tools import tool


@tool
def tank_volume(tank: str) -> dict:
    level = read_level(tank)
    return {"volume": {"value": level, "unit": "m3"}}
```

## How to fix

Keep `value` a number and `unit` a string. Move other keys out of the Quantity, and change the code that reads them.

## Options

`quantity-shapes` allows other shapes. Each shape needs a number, and a unit or a currency code.

## References

GreenLang's requirements, DOC-601: "Quantity Structure".
"""

from __future__ import annotations

from collections.abc import Iterator

from gllint_rules.inference.values import (
    Number,
    QuantityInstance,
    Record,
    Site,
    Value,
    join,
    options,
    surely_not_number,
    surely_not_text,
)
from gllint_rules.project.context import Context, Pending
from gllint_rules.project.results import is_quantity, quantities
from gllint_rules.project.shapes import is_shaped, shape_problem
from gllint_rules.reading import facts
from gllint_rules.rule import Rule
from gllint_rules.words.names import QUANTITY
from gllint_runtime.policy.schemas import QUANTITY_KEYS

HELP = 'A Quantity has exactly two keys: {"value": <number>, "unit": "<unit>"}.'
VALUE_HELP = 'Write a number: `"value": <number>`.'
UNIT_HELP = 'Write the unit as text: `"unit": "<unit>"`.'
FURTHER_HELP = (
    "Put `value` and `unit` under a key of their own, next to the others: "
    '{"<name>": {"value": …, "unit": …}, …}.'
)


def check(context: Context) -> Iterator[Pending]:
    """Yield a finding for each malformed Quantity: ``{"value": "5", "unit": "kWh"}`` in a result, ``Quantity(5)``."""
    series: set[Site] = set()  # lists of records, of which the first bad one is reported
    reports_gl103 = context.settings.lists and not context.policy.array_paths  # Quantities in lists
    for result in context.results:
        for quantity in quantities(result.value, result.site, policy=context.policy):
            record = quantity.record
            has_shape = is_shaped(record, context.policy)
            fault = shape_problem(record, context.policy) if has_shape else _problem(record)
            if fault is None:
                continue
            if quantity.has_more and quantity.list_site is not None:
                if (reports_gl103 and is_quantity(record)) or quantity.list_site in series:
                    continue
                series.add(quantity.list_site)
            problem, help = fault
            if quantity.has_more and not has_shape:
                help = FURTHER_HELP
            yield context.found_in(result, "GL102", record.site or quantity.site, problem, help)
    for call, scope in context.module.calls_of({QUANTITY}):
        if facts.last_name(call.func) == QUANTITY and context.touches_tools:
            value = context.eval(call, scope)
            if isinstance(value, QuantityInstance):
                fault = _problem(value)
                if fault is not None:
                    yield context.finding("GL102", Site(context.module, call.at), *fault)


def _problem(record: Record) -> tuple[str, str] | None:
    """Return a message and a help for a Quantity: ("this Quantity lacks `unit`", …); None if no fault is visible."""
    if not record.entries:
        return None
    extra = record.entries.keys() - QUANTITY_KEYS
    names = sorted(key for key in extra if isinstance(key, str))
    # A class `Quantity` of the project may have more fields.
    if names and not isinstance(record, QuantityInstance):
        keys = ", ".join(f"`{key}`" for key in names)
        return f"this Quantity has keys other than `value` and `unit`: {keys}", HELP
    missing = sorted(QUANTITY_KEYS - set(record.entries))
    if missing:  # an open record may have other keys
        return None if record.open else (f"this Quantity lacks `{missing[0]}`", HELP)
    value = join(*(entry.value for entry in record.entries["value"]))
    if surely_not_number(value):
        return "the `value` of this Quantity is not a number", VALUE_HELP
    unit = join(*(entry.value for entry in record.entries["unit"]))
    if surely_not_text(unit) and not _of_units(record, unit):
        return "the `unit` of this Quantity is not a string", UNIT_HELP
    return None


def _of_units(record: Record, unit: Value) -> bool:
    """Return whether ``unit`` may be the product of unit objects of a library: ``Quantity(3, 1 / u.s)``.

    The inference takes the result of ``1 / u.s`` for a number, since it does not know ``u``.
    """
    is_of_library = isinstance(record, QuantityInstance) and record.of is None
    return is_of_library and any(isinstance(o, Number) and o.literal is None for o in options(unit))


RULE = Rule(
    code="GL102",
    name="malformed-quantity",
    summary="A Quantity in a tool's result has the wrong shape",
    documentation=__doc__ or "",
    check=check,
    options=("quantity-shapes",),
)

"""Quantities in the shapes of other standards that the project lists in `quantity-shapes`."""

from __future__ import annotations

from gllint_rules.inference.values import (
    Record,
    Site,
    Text,
    Value,
    join,
    literal_of,
    options,
    surely_not_number,
    surely_not_text,
)
from gllint_rules.project.results import shaped_key
from gllint_rules.tuples import NamedTuple
from gllint_runtime.policy.data import is_typed_number
from gllint_runtime.policy.settings import Policy

_SAYING = ("code", "unitCode", "unitText", "unit", "currency")  # keys that may say the unit
_READ = frozenset({*_SAYING, "system", "@type"})
_PLAIN = frozenset({"value", "unit"})


class ShapedUnit(NamedTuple):
    """The unit of a Quantity in a listed shape, as the runtime reads it, and its place."""

    site: Site
    unit: str


def is_shaped(record: Record, policy: Policy) -> bool:
    """Return whether a record is read by one of the project's shapes, not as a Quantity of `value` and `unit`."""
    key = shaped_key(record, policy)
    if key is None:
        return False
    return record.entries.keys() != _PLAIN or surely_not_number(_number(record, key))


def unit_in_shape(record: Record, policy: Policy) -> ShapedUnit | None:
    """Return the unit of a record in a listed shape; None if it has none, or not as a literal."""
    texts = _texts(record)
    if texts is None:
        return None
    from gllint_runtime.policy.quantity_shapes import shaped_unit  # few projects list one

    unit = shaped_unit({**dict.fromkeys(map(str, record.entries)), **texts}, policy.quantity_shapes)
    key = next((key for key in _SAYING if texts.get(key) is not None), None)
    return None if unit is None or key is None else ShapedUnit(record.entries[key][0].site, unit)


def shape_problem(record: Record, policy: Policy) -> tuple[str, str] | None:
    """Return what is wrong with a record in a listed shape, and a help; None if the source shows no fault."""
    key = shaped_key(record, policy)
    assert key is not None
    number = _number(record, key)
    if surely_not_number(number) and not all(_may_be_amount(option) for option in options(number)):
        return f"the `{key}` of this Quantity is not a number", f"Write a number under `{key}`."
    texts = _texts(record)
    if texts is not None and unit_in_shape(record, policy) is None:
        faults = [f"`{key}`" for key in _SAYING if key in texts and texts[key] is None]
        if faults:
            verb = "is not a string" if len(faults) == 1 else "are not strings"
            return (
                f"the {' and '.join(faults)} of this Quantity {verb}",
                "Write the unit or the currency code as a string.",
            )
        return (
            "this Quantity has neither a unit nor a currency code",
            "Add the unit or the currency code of the number.",
        )
    return None


def _number(record: Record, key: str) -> Value:
    return join(*(entry.value for entry in record.entries[key]))


def _may_be_amount(value: Value) -> bool:
    """Return whether a text may be a number, as amounts of money often are."""
    return isinstance(value, Text) and (value.literal is None or is_typed_number(value.literal))


def _texts(record: Record) -> dict[str, str | None] | None:
    """Return the text under each key that may say the unit, None under a key for a value that is not a text.

    None altogether if one of the values is unknown.
    """
    texts: dict[str, str | None] = {}
    for key in _READ & record.entries.keys():
        value = join(*(entry.value for entry in record.entries[key]))
        literal = literal_of(value)
        if literal is None and not surely_not_text(value):
            return None
        texts[str(key)] = literal
    return texts

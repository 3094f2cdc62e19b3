"""Quantities as others write them: FHIR, schema.org, money, Open mHealth.

A project lists the shapes that it uses (``quantity-shapes``); none counts by default. One decision for both moments:
the rules ask it of the keys that the source shows, the runtime of the values that a tool returned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from gllint_runtime.policy.kinds import QUANTITY_SHAPES as QUANTITY_SHAPES
from gllint_runtime.policy.schemas import Quantity
from gllint_runtime.policy.unit_codes import unit_of_code
from gllint_runtime.policy.units import unit_meant

_AMOUNT = re.compile(r"[-+]?[0-9]{1,30}(?:\.[0-9]{1,30})?")
_UCUM = "http://unitsofmeasure.org"


class _Shape(NamedTuple):
    """The key of the number, those that may say its unit, and the others that are allowed."""

    value: str
    units: tuple[str, ...]
    further: frozenset[str]


_SHAPES: Mapping[str, tuple[_Shape, ...]] = {
    "fhir": (_Shape("value", ("unit", "code"), frozenset({"system", "id"})),),
    "schema.org": (
        _Shape("value", ("unitText", "unitCode"), frozenset({"@type", "@context", "@id", "name", "description"})),
        _Shape("value", ("currency",), frozenset({"@type", "@context", "@id", "name", "description"})),
    ),
    "money": (_Shape("amount", ("currency",), frozenset()),),
    "open-mhealth": (_Shape("value", ("unit",), frozenset({"descriptive_statistic"})),),
}  # fmt: skip
_TYPES = frozenset({"QuantitativeValue", "MonetaryAmount", "PropertyValue"})


def value_key(keys: Collection[Any], shapes: Collection[str]) -> str | None:
    """Return the key of the number if an object with these keys has one of ``shapes``.

    ``{"amount", "currency"}`` → "amount".
    """
    for name in shapes:
        for shape in _SHAPES.get(name, ()):
            if shape.value not in keys or not any(unit in keys for unit in shape.units):
                continue
            if all(key == shape.value or key in shape.units or key in shape.further for key in keys):
                return shape.value
    return None


def shaped_unit(data: Mapping[str, Any], shapes: Collection[str]) -> str | None:
    """Return the unit of an object in one of ``shapes``.

    ``{"amount": 9.5, "currency": "EUR"}`` → ``"EUR"``; else ``None``.
    """
    for name in shapes:
        if value_key(data, (name,)) is None:
            continue
        if (unit := _UNITS[name](data)) is not None:
            return unit
    return None


def shaped_quantity(data: Mapping[str, Any], shapes: Collection[str]) -> Quantity | None:
    """Return the Quantity of an object in one of ``shapes``.

    ``{"amount": "9.50", "currency": "EUR"}`` → 9.5 EUR; else ``None``.
    """
    key = value_key(data, shapes)
    if key is None or (unit := shaped_unit(data, shapes)) is None:
        return None
    number = data[key]
    if isinstance(number, str) and _AMOUNT.fullmatch(number):
        number = float(number) if "." in number else int(number)
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        return None
    return Quantity(number, unit)


def _of_fhir(data: Mapping[str, Any]) -> str | None:
    code, unit = data.get("code"), data.get("unit")
    if isinstance(code, str) and data.get("system") == _UCUM:
        return unit_of_code(code, "ucum") or f"ucum:{code}"
    return _read(unit if isinstance(unit, str) else code)


def _of_schema_org(data: Mapping[str, Any]) -> str | None:
    """Return the unit of a schema.org QuantitativeValue, ``{"value": 5, "unitCode": "KWH"}`` → ``"kWh"``; else
    ``None``.
    """
    declared = data.get("@type", "QuantitativeValue")
    if declared not in _TYPES:
        return None
    if isinstance(code := data.get("unitCode"), str):
        return unit_of_code(code, "uncefact") or f"uncefact:{code}"
    if isinstance(text := data.get("unitText"), str):
        return _read(text)
    return _currency(data.get("currency"))


def _currency(code: Any) -> str | None:
    """Return an ISO code; nothing else is a currency here."""
    is_code = isinstance(code, str) and len(code) == 3 and code.isascii() and code.isupper()
    return code if is_code else None


def _read(text: Any) -> str | None:
    """Return a unit as people write it: the tables' own, where it means one, else the text itself."""
    return (unit_meant(text) or text) if isinstance(text, str) else None


_UNITS: Mapping[str, Callable[[Mapping[str, Any]], str | None]] = {
    "fhir": _of_fhir,
    "schema.org": _of_schema_org,
    "money": lambda data: _currency(data.get("currency")),
    "open-mhealth": lambda data: _read(data.get("unit")),
}

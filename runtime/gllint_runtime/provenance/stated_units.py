"""The units that an output says once for several numbers: next to them, above them, or in an object about them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from math import isfinite
from typing import Any

from gllint_runtime.policy.names import name_words, quantity_named, read_name
from gllint_runtime.policy.places import Declared, declared_unit, folded_word
from gllint_runtime.policy.reader import Reader
from gllint_runtime.policy.text_units import (
    currency_units,
    size_of_unit,
    table_words,
    unit_of_text,
    words_table,
)
from gllint_runtime.provenance.keys import is_thing, minor_sizes, units_of_key

_LONGEST = 40  # characters of a text that says a unit
_SCHEME = re.compile(r"(?:[A-Za-z]{2,12}:|TYPE_)(?=\S)")  # wmoUnit:degC
_SENTENCE = re.compile(
    r"\b(?:units?|einheit(?:en)?|unités?)\s?[:=]\s?([^\s,;()]{1,20})"
    r"|\b(?P<money>prices|amounts|costs|fares|totals|preise|beträge|prix|montants|tarifs)\b[^,;:().\n]{0,20}?"
    r"\s(?:in|en)\s([A-Za-z$€£]{1,12}(?: [a-z]{4,8})?)\b"
    r"|\b(?:values|figures|numbers|werte|angaben|valeurs|readings|temperatures|heights)\b[^,;:().\n]{0,20}?"
    r"\s(?:in|en)\s([^\s,;()]{1,20})",
    re.IGNORECASE,
)


@dataclass(slots=True, frozen=True)
class Context:
    """The units on the way down to a number."""

    unit: tuple[str, ...] = ()
    currency: tuple[str, ...] = ()
    units: Mapping[str, Declared] | None = None  # of members, by their names: ``hourly_units``
    factor: float = 1.0  # of values in a unit with a size: ``kEUR``
    is_minor: bool = False  # amounts may be in hundredths of the currency, as payment services write them
    is_sized: bool = False  # the output says the size of its amounts

    def of_key(self, key: str) -> Declared | None:
        """The unit that the output has for a member: by its name, or by words of it."""
        if self.units is None or (named := self.units.get(key)) is not None:
            return None if self.units is None else named
        words = {folded_word(word) for word in name_words(key)}
        for name, unit in self.units.items():
            topic = {folded_word(word) for word in name_words(name)}
            if name.startswith("*") and topic <= words:
                return unit
        return None


@lru_cache(maxsize=4096)
def unit_in(text: str) -> Declared | None:
    """The unit and the size that a field about units says: ``kEUR``, ``US cents``, ``wmoUnit:km_h-1``, ``fraction``."""
    text = text.strip()
    if not 0 < len(text) <= _LONGEST:
        return None
    text, is_coded = _SCHEME.sub("", text), _SCHEME.match(text) is not None
    lower = text.lower().replace("_", " ").replace("-", " ")
    if lower in table_words("parts of one"):
        return Declared(("%",), 100.0, "")
    units = tuple(unit for unit in unit_of_text(text) if size_of_unit(unit))
    if ("/" in text or text == "‰") and (multiple := _multiple_in(text)) is not None:
        return multiple
    if units and units != ("cent",):
        return Declared(units, 1.0, "")
    *head, last = lower.removesuffix(" units").removesuffix(" unit").split() or [""]
    if (size := minor_sizes().get({"ct": "cent"}.get(last, last.removesuffix("s")))) is not None:
        name = text[: len(" ".join(head))].strip()
        sign = {"us": "US$", "euro": "€"}.get(name.lower(), name)
        return Declared(currency_units(sign) or currency_units(name.upper()), 1 / size, "")
    if is_coded and text.isupper() and (units := unit_of_text(text.lower())) and size_of_unit(units[0]):
        return Declared(units, 1.0, "")  # TYPE_SECONDS
    if (word := words_table()["multipliers"].get(lower.removesuffix("s"))) is not None:
        return Declared((), float(word), "")
    return declared_unit(text)


def _multiple_in(text: str) -> Declared | None:
    """What a unit makes of 1 in a text, where that is another number: ``ct/kWh``, ``L/100 km``, ``‰``."""
    readings = Reader().read(f"1 {text}", prose=False)
    if len(readings) != 1 or readings[0].place.end != len(text) + 2 or readings[0].value == 1.0:
        return None
    units = tuple(unit for unit in readings[0].units if size_of_unit(unit))
    return Declared(units, readings[0].value, "") if units else None


def context_after(text: str, context: Context) -> Context:
    """The context of what follows a line that says a unit: "prices in EUR", ``unit=EUR/MWh``."""
    for match in _SENTENCE.finditer(text):
        unit = unit_in(match[1] or match[3] or match[4])
        if unit is None:
            continue
        if is_currency(unit.units) or match["money"]:
            context = _in_amounts(context, unit)
        elif unit.units:
            context = replace(context, unit=unit.units, factor=unit.factor)
    return context


def context_in(node: Mapping[Any, Any], context: Context) -> Context:
    """The context of the numbers in an object."""
    numbers = sum(1 for value in node.values() if is_number(value) or isinstance(value, list))
    values = [str(name) for name in node if str(name).lower() in value_keys()]
    for key, value in _about(node):
        words = name_words(key)
        if isinstance(value, Mapping):
            if not table_words("unit words of keys").isdisjoint(words):
                hits = {str(name): unit_in(unit) for name, unit in value.items() if isinstance(unit, str)}
                units = {name: unit or Declared((), 1.0, "") for name, unit in hits.items()}
                context = replace(context, units={**(context.units or {}), **units})
            continue
        lower = key.lower()
        if lower in table_words("currency keys") or words[-1:] == ("currency",):
            if currency := tuple(unit for unit in unit_of_text(value.upper()) if size_of_unit(unit)):
                is_minor = value.islower() and is_currency(currency) and not context.is_sized
                own = context.unit if context.unit != context.currency or not context.is_sized else currency
                context = replace(context, currency=currency, is_minor=is_minor, unit=own)
            continue
        if lower in table_words("kinds of values") and unit_in(value) == Declared(("%",), 1.0, ""):
            if "value" in node:
                context = replace(
                    context, units={**(context.units or {}), "value": Declared(("%",), 1.0, "")}
                )
            continue
        is_plain = lower in table_words("unit keys")
        if not is_plain and (len(words) < 2 or words[-1] not in table_words("unit words of keys")):
            continue
        if (unit := unit_in(value)) is None:
            continue
        topic = words[:-1]
        is_of_money = any(map(_is_money, topic)) or (
            is_plain and unit.factor != 1.0 and _is_of_money(unit, context)
        )
        if is_of_money and (not is_plain or not values):
            context = _in_amounts(context, unit)
        elif not is_plain:
            context = replace(context, units={**(context.units or {}), f"*{' '.join(topic)}": unit})
        elif values:  # of several numbers it is the unit of that which is called the value
            several = [name for name in values if name.lower() in table_words("quantities")]
            units = {**(context.units or {}), **dict.fromkeys(several or values, unit)}
            currency = context.currency or (unit.units if is_currency(unit.units) else ())
            context = replace(context, unit=(), units=units, currency=currency)
        elif unit.units and (numbers < 2 or _are_bare(node)):
            context = replace(context, unit=unit.units, factor=unit.factor)
    decimals = next((own for key, own in node.items() if str(key).lower() in table_words("decimals")), None)
    if context.currency and isinstance(decimals, int) and 0 <= decimals < 5:
        # {"amount": 4900, "currency": "USD", "exponent": 2}
        context = _in_amounts(context, Declared(context.currency, 10.0**-decimals, ""))
    return context


def context_inside(node: Mapping[Any, Any], context: Context) -> Context:
    """The context of the containers in an object that has a unit which is of none of its own numbers."""
    names = {*map(str.lower, map(str, node))}
    if context.unit or (any(map(is_number, node.values())) and names & value_keys()):
        return context
    for key, value in node.items():
        if isinstance(value, str) and str(key).lower() in table_words("unit keys"):
            hits = unit_in(value)
            if hits is not None and hits.units and not is_currency(hits.units):
                return replace(context, unit=hits.units, factor=hits.factor)
    return context


def _about(node: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    """The members of an object that may say a unit, and those of an object in it that is about the others."""
    for key, value in node.items():
        if not isinstance(key, str):
            continue
        if isinstance(value, Mapping):
            yield key, value
            is_state = key == "attributes" and "state" in node  # of an entity of Home Assistant
            if is_state or (key.lower() in table_words("about") and not any(map(_is_measure, value.items()))):
                yield from ((name, inner) for name, inner in value.items() if isinstance(inner, str))
        elif isinstance(value, str) and len(value) <= _LONGEST:
            yield key, value


def _is_measure(member: tuple[Any, Any]) -> bool:
    """Whether a member has a number that a unit next to it may be of."""
    key, value = str(member[0]), member[1]
    return is_number(value) and read_name(key).kind is None and not 946684800 <= value < 4102444800


def _in_amounts(context: Context, unit: Declared) -> Context:
    """A context whose amounts are in a currency, or in parts or thousands of one."""
    currency = unit.units or context.currency
    if not currency and unit.factor < 1:
        currency = tuple(
            one for sign in words_table()["minor units"]["cents"].split() for one in currency_units(sign)
        )
    is_sized = unit.factor != 1.0
    return replace(context, currency=currency, factor=unit.factor, is_sized=is_sized, is_minor=False)


def _is_of_money(unit: Declared, context: Context) -> bool:
    return is_currency(unit.units) or (not unit.units and (unit.factor < 1 or bool(context.currency)))


def _is_money(word: str) -> bool:
    return quantity_named(word) == "currency" or word.rstrip("s") in ("amount", "price", "money", "betraege")


def _are_bare(node: Mapping[Any, Any]) -> bool:
    """Whether no number of an object has a unit of its own, or counts."""
    keys = [str(key) for key, value in node.items() if is_number(value)]
    return not any(
        units_of_key(key)[0] or is_thing(key) or read_name(key).kind not in (None, "identifier", "index")
        for key in keys
    )


def is_number(value: Any) -> bool:
    """Whether a value is a finite number that a float can have."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return value.bit_length() < 1024 if isinstance(value, int) else isfinite(value)


def is_currency(units: tuple[str, ...]) -> bool:
    """Whether the first of some units is a currency."""
    return bool(units) and units[0].isupper() and len(units[0]) == 3


@cache
def value_keys() -> frozenset[str]:
    """The keys of a number that say nothing but that it is one."""
    return table_words("value keys")

"""How a claimed value is shown: the tool's own value and unit, never the claim's."""

from __future__ import annotations

import re
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from gllint_runtime.policy.data_files import sections
from gllint_runtime.policy.schemas import Quantity
from gllint_runtime.policy.unit_table import ALLOWED_UNITS, pack_units
from gllint_runtime.policy.units import exact_value

_DIGITS = 8  # significant ones of a number that a fixed number of decimals would cut short
_CONTEXT = Context(prec=28, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
_PARTING = (" ", "\u00a0", "/")  # a unit from its number
REST_LENGTH = 40
"""The characters behind a number among which the word of what is counted is looked for."""


def format_quantity(quantity: Quantity, rest: str = "") -> str:
    """``268.00 kgCO2e``, ``99.999 %``: at least two decimals, more while the value has them, no separators.

    A currency has its own decimals (``1500 JPY``), or more where these would not show it. What is counted
    is an integer and a word, ``3 rows``, without the word if it is ``behind`` the macro in the message already. A
    half is rounded away from zero, of the decimals that the value is written with.
    """
    value: Any = quantity.value
    unit = quantity.unit
    exact = exact_value(value)
    if unit == "count" and exact.denominator == 1:
        return str(exact.numerator)
    if exact.denominator == 1 and (words := _counted().get(unit)):
        number = str(exact.numerator)
        return number if _says(rest, words) else f"{number} {words[abs(exact) != 1]}"
    minor = _minor_digits(unit)
    text = _fixed(exact, _places(exact, 2 if minor is None else minor, is_money=minor is not None))
    unit = unit if rest[:1] not in _PARTING else _unit_to_show(unit, rest[:REST_LENGTH])
    return text if unit in ("", "1") else f"{text} {unit}"


def _unit_to_show(unit: str, rest: str) -> str:
    """Return what is left to show of a unit where the message goes on with it, or with a unit that it is
    divided by.
    """
    from gllint_runtime.policy.text_units import end_of_unit, period_at

    if end_of_unit(rest, 0, unit):
        return ""
    numerator, _, divisor = unit.rpartition("/")
    return numerator if divisor and divisor in period_at(rest, 0)[0] else unit


def _places(exact: Fraction, least: int, *, is_money: bool) -> int:
    """Return the decimals of a number: those that it has, while the whole has eight significant digits, and at least
    so many.

    An amount that its currency's own decimals do not show exactly has the two of any other unit.
    """
    if is_money and (exact * 10**least).denominator == 1:
        return least
    least = max(least, 2) if is_money else least
    size = magnitude(exact) if exact else 0
    most = max(least, _DIGITS - 1 - size)
    rounded = round(exact * 10**most)
    return next((places for places in range(least, most) if rounded % 10 ** (most - places) == 0), most)


def magnitude(exact: Fraction) -> int:
    """Return the power of ten of the first digit, whatever the program's decimal context is."""
    return _CONTEXT.divide(Decimal(exact.numerator), Decimal(exact.denominator)).adjusted()


def _fixed(exact: Fraction, places: int) -> str:
    """Format a fraction with a fixed number of decimals, rounded half up."""
    scaled = abs(exact) * 10**places
    rounded = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    digits = str(rounded).rjust(places + 1, "0")
    sign = "-" if exact < 0 and rounded else ""
    return (
        f"{sign}{digits[: len(digits) - places]}.{digits[len(digits) - places :]}"
        if places
        else f"{sign}{digits}"
    )


@lru_cache(maxsize=1)
def _table() -> dict[str, dict[str, str]]:
    return sections("rendering.txt")


def _minor_digits(unit: str) -> int | None:
    """Return the decimals of a bare currency; ``None`` for any other unit."""
    if not unit.isupper():
        return None
    if unit not in pack_units(("currencies",)) and not ALLOWED_UNITS.get(unit, "").startswith("currency-"):
        return None
    return int(_table()["minor digits"].get(unit, 2))


@lru_cache(maxsize=1)
def _counted() -> dict[str, tuple[str, str]]:
    """One and many of each unit of the pack ``counts``, but for ``count`` itself."""
    plurals = _table()["plurals"]
    return {
        unit: (unit, plurals.get(unit, f"{unit}s")) for unit in pack_units(("counts",)) if unit != "count"
    }


def _says(rest: str, words: tuple[str, str]) -> bool:
    """Return whether a message goes on with the word of what is counted."""
    return _word(words).match(rest[:REST_LENGTH]) is not None


@lru_cache(maxsize=64)
def _word(words: tuple[str, str]) -> re.Pattern[str]:
    """Return one of two words, unless it goes on as another unit (``tokens/s``) or another word (``row-level``)."""
    return re.compile(rf"[ \u00a0](?:{'|'.join(map(re.escape, words))})(?![\w^·×]| ?/|-\w)")

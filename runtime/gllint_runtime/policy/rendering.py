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
    """Return a Quantity as text: ``268.00 kgCO2e``, ``99.999 %``, ``1500 JPY``, ``3 rows``.

    At least two decimals, more while the value has them, without separators; a half is rounded away from zero. A
    currency has its own decimals. ``rest`` is the message behind the macro: what it says of the unit is not
    repeated.
    """
    value: Any = quantity.value
    unit = quantity.unit
    exact = exact_value(value)
    if unit == "count" and exact.denominator == 1:
        return str(exact.numerator)
    minor = _minor_digits(unit)  # of a currency; None for any other unit
    words = _counted().get(unit)
    if words is not None and exact.denominator == 1:
        text = str(exact.numerator)
    else:
        text = _fixed(exact, _places(exact, 2 if minor is None else minor, is_money=minor is not None))
    if words is not None:
        return text if _says(rest, words) else f"{text} {words[abs(exact) != 1]}"
    unit = unit if rest[:1] not in _PARTING else _unit_to_show(unit, rest[:REST_LENGTH])
    return text if unit in ("", "1") else f"{text} {unit}"


def _unit_to_show(unit: str, rest: str) -> str:
    """Return the unit, or the part of it that the message does not say next.

    ``"kWh/day"`` before " per day" → ``"kWh"``.
    """
    from gllint_runtime.policy.text_units import end_of_unit, period_at

    if end_of_unit(rest, 0, unit):
        return ""
    numerator, _, divisor = unit.rpartition("/")
    return numerator if divisor and divisor in period_at(rest, 0)[0] else unit


def _places(exact: Fraction, least: int, *, is_money: bool) -> int:
    """Return how many decimals to show: those that the number has, at least ``least``, at most eight significant
    digits.

    ``Fraction("99.999"), 2`` → 3. Money that its own decimals do not show exactly has two at least.
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
    """Return a fraction with a fixed number of decimals, halves rounded away from zero.

    ``Fraction(5, 2), 0`` → ``"3"``.
    """
    scaled = abs(exact) * 10**places
    rounded = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)  # floor(scaled + 1/2)
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
    units = pack_units(("counts",)).values()
    return {unit.symbol: (unit.symbol, unit.plural) for unit in units if unit.symbol != "count"}


def _says(rest: str, words: tuple[str, str]) -> bool:
    """Return whether a message goes on with the word of what is counted."""
    return _word(words).match(rest[:REST_LENGTH]) is not None


@lru_cache(maxsize=64)
def _word(words: tuple[str, str]) -> re.Pattern[str]:
    """Return one of two words, unless it goes on as another unit (``tokens/s``) or another word (``row-level``)."""
    return re.compile(rf"[ \u00a0](?:{'|'.join(map(re.escape, words))})(?![\w^·×]| ?/|-\w)")

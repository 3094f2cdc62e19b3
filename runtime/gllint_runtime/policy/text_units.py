"""The units that a text has at a place: symbols, names, signs of currencies, and what they are divided by."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import cache, lru_cache
from typing import NamedTuple

from gllint_runtime.policy.data_files import sections
from gllint_runtime.policy.expressions import is_unspaced
from gllint_runtime.policy.packs import PACKS
from gllint_runtime.policy.unit_sizes import factors_of_unit, size_of
from gllint_runtime.policy.unit_spellings import (
    as_listed,
    emissions_at,
    plain_spelling,
    readings_of,
    unit_names,
)
from gllint_runtime.policy.unit_table import pack_units
from gllint_runtime.policy.units import TIME_UNITS, is_allowed, measure_of, unit_meant

_SYMBOL = re.compile(r"[^\s,;:!?()\[\]{}\"“”'’|<>=+~≈]*[^\s,;:!?()\[\]{}\"“”'’|<>=+~≈.*_`~/-]")
_PER = re.compile(r"/\s*|\s+/\s+|\s+(?:per|pro|je|par|a|an|each)\s+(?:the\s+)?", re.IGNORECASE)
_DIVISOR = re.compile(r"/\([^()\n]{1,40}\)")
_LETTER = re.compile(r"[^\W\d_](?![\w/])")
_RAISED_TO = re.compile(r"\^(?=[23]\b)")  # m^2, which the tables write m2
_IN_TIME = re.compile(r"[^\W\d_]/(?:s|sec|min|h|hr|d|day)\Z")
_PHRASE = re.compile(r"[^\W\d_]+\.?(?:[ -][^\W\d_]+\.?){0,2}")
_LAST_WORD = re.compile(r"(?:\.|[ -][^\W\d_]+)\Z")
_GAP = re.compile(r"[ \u00a0\u2009\u202f]{1,2}|-(?=[^\W\d_])")
_SIGN = re.compile(r"(?:US|AU|CA|NZ|HK|[ACSR])?\$|[£¥￥฿\u20a0-\u20cf](?!\d)")
_MAX_UNIT = 40  # characters of a symbol
_MAX_PHRASE = 80  # and of a name in several words
_MAX_DENOMINATORS = 3


_PERCENT: tuple[str, ...] = ("%",)
_PERMILLE: tuple[str, ...] = ("permille",)


class Size(NamedTuple):
    """The size of a unit: ``value * factor + offset`` is in the base units of the ``dimension``."""

    dimension: object
    factor: float
    offset: float


@cache
def words_table() -> Mapping[str, Mapping[str, str]]:
    """Return the sections of ``reader.txt``."""
    return sections("reader.txt")


@cache
def table_words(section: str) -> frozenset[str]:
    """Return the words of a section of ``reader.txt``."""
    return frozenset(words_table()[section]["words"].split())


@lru_cache(maxsize=4096)
def size_of_unit(unit: str) -> Size | None:
    """Return the dimension and size of a unit: ``"km"`` → length, 1000; ``None`` for an unknown unit.

    Units of gllint's own dimensions (energy, emissions) come first, then those of physics.
    """
    if (row := words_table()["unit sizes"].get(unit)) is not None:
        dimension, factor = row.split()
        return Size(dimension, float(Fraction(factor)), 0.0)
    measure = measure_of(unit)
    # To physics a temperature has no offset, and a var and a VA are watts: here our own table counts.
    if measure is not None and measure.dimension in _OWN_DIMENSIONS:
        return Size(measure.dimension, float(measure.factor), float(measure.offset))
    size = size_of(factors_of_unit(unit))
    if size is not None and size.dimension:
        return Size(size.dimension, float(size.factor), 0.0)
    return None if measure is None else Size(measure.dimension, float(measure.factor), 0.0)


_OWN_DIMENSIONS = ("temperature", "apparent-power", "reactive-power")  # which physics knows by another


@cache
def counted_units() -> frozenset[str]:
    """Things that are counted: the units of the pack ``counts``."""
    return frozenset(pack_units(("counts",)))


def currency_units(sign: str) -> tuple[str, ...]:
    """Return the currencies that a sign or a code may mean."""
    if len(sign) == 3 and sign.isalpha() and sign.isupper():
        return (sign,) if _is_unit(sign) else ()
    return tuple(words_table()["currencies"].get(sign, "").split())


def units_at(text: str, at: int, *, divided: bool = True) -> tuple[tuple[str, ...], int]:
    """Return the units typed at a place behind a number, and where they end.

    ``"12.5 kWh/m2 now", 4`` → ``(("kWh/m2",), 11)``.

    Several where a sign has several ("$"); ``()`` and ``at`` if there is none. Without ``divided`` a divisor is
    not read.
    """
    origin, gap = at, _GAP.match(text, at)
    at = gap.end() if gap else at
    char = text[at : at + 1]
    if not char or char.isspace() or char in ".,;:!?)]}|":
        return (), origin
    if char in "%％٪‰":
        units, end = _PERMILLE if char == "‰" else _PERCENT, at + 1
    elif sign := _SIGN.match(text, at):
        units, end = currency_units(sign[0]) or (sign[0],), sign.end()
    else:
        units, end = _unit_at(text, at)
    if not units:
        return (), origin
    return _divided(text, units, end) if divided else (units, end)


def end_of_unit(text: str, at: int, unit: str) -> int:
    """Where ``unit`` ends, if it is typed at a place; else 0. Any unit is meant by ""."""
    units, end = units_at(text, at, divided=False)
    if units and unit and unit not in units:
        units, end = units_at(text, at)
    return end if units and (unit in units or not unit) else 0


def period_at(text: str, at: int) -> tuple[tuple[str, ...], int]:
    """Return the units that a text divides by at a place: ``/month``, `` per kWh``; and where that ends."""
    per = _PER.match(text, at)
    units, end = _unit_at(text, per.end()) if per else ((), at)
    return (units, end) if units else ((), at)


def _divided(text: str, bases: tuple[str, ...], end: int) -> tuple[tuple[str, ...], int]:
    """Return units with what the text divides them by, and where that ends.

    ``EUR`` before " per kWh" → ``EUR/kWh``.
    """
    if bracket := _DIVISOR.match(text, end):  # kWh/(m²·a)
        together = "·".join(bracket[0].split())
        units = [unit for base in bases for unit in readings_of(f"{base}{together}") if _is_unit(unit)]
        return (tuple(units), bracket.end()) if units else (bases, end)
    for _ in range(_MAX_DENOMINATORS):
        per = _PER.match(text, end)
        if per is None:
            break
        divisors, divisor_end = _unit_at(text, per.end())
        if not divisors and "/" in per[0]:
            # A letter is a unit below a stroke that alone might be none: mm/d.
            letter = _LETTER.match(text, per.end())
            divisors, divisor_end = ((letter[0],), letter.end()) if letter else ((), end)
        divisor = {"H": "h", "S": "s"}.get(divisors[0], divisors[0]) if divisors else ""
        # "5 km a day" and "5 EUR a litre" are divided; "5 km a m" is not.
        is_article = "/" not in per[0] and per[0].split()[0].lower() not in ("per", "pro", "je", "par")
        is_word = divisor_end - per.end() > 3
        if (
            not divisor
            or divisor in counted_units()
            or (is_article and divisor not in TIME_UNITS and not is_word)
        ):
            break
        composed = []
        for base in bases:
            meant = f"{base}/{divisor}"
            meant = meant if _is_unit(meant) else unit_meant(meant) or ""
            if meant and _is_unit(meant):
                composed.append(meant)
        if not composed:
            break
        bases, end = tuple(composed), divisor_end
    return bases, end


def _unit_at(text: str, at: int) -> tuple[tuple[str, ...], int]:
    """Return the units that a text goes on with, without a divisor by a word, and where they end.

    "kilowatt hours" → ``kWh``.
    """
    if emissions := emissions_at(text, at):
        return (emissions[0],), emissions[1]
    phrase = _PHRASE.match(text, at, at + _MAX_PHRASE)
    if phrase:
        name = phrase[0]
        while name:
            end = at + len(name)
            is_whole = not text[end : end + 1].isalnum() or is_unspaced(name[-1])
            if is_whole and (units := _named(name)):
                if not (len(name) < 3 and text[end : end + 1] in ("/", "²", "³", "^", "·", "’", "'")):
                    return units, end
            shorter = name[:-1] if is_unspaced(name[-1]) else _LAST_WORD.sub("", name)
            name = shorter if shorter != name else ""
    symbol = _SYMBOL.match(text, at, at + _MAX_UNIT + 1)
    if symbol is None or len(symbol[0]) > _MAX_UNIT:
        return (), at
    written = symbol[0]
    while written:  # the longest beginning that is a unit: "kWh/guest" → "kWh"
        if units := _of_symbol(written):
            return units, at + len(written)
        written = re.sub(r"(?:[^\w]?[\w²³°%$]+|\W+)\Z", "", written) if re.search(r"[\w%]\W", written) else ""
    return (), at


@lru_cache(maxsize=8192)
def _named(written: str) -> tuple[str, ...]:
    """Return the units that a name in words means.

    "square meters" → ``m2``, "dollars" → each dollar; ``()`` for any other.
    """
    folded = written.lower()
    if folded in _no_units() or written in _no_units():
        return ()
    table = words_table()
    if (sign := table["currency names"].get(folded)) is not None:
        return tuple(unit for element in sign.split() for unit in currency_units(element) or (element,))
    if len(written) < 4 and _of_symbol(written.rstrip(".")):  # read as a symbol, by its case: `t` and `T`
        return ()
    if (units := table["unit words"].get(folded)) is not None:
        return tuple(units.split())
    unit = unit_names().get(re.sub(r"[\s.-]", "", folded))
    return (_RAISED_TO.sub("", unit),) if unit is not None else ()


@lru_cache(maxsize=8192)
def _of_symbol(written: str) -> tuple[str, ...]:
    """Return the units that a symbol means.

    Example: "kWh" by its case, "KWH" in any case if it has none so; ``()`` for no unit.
    """
    plain = plain_spelling(written)
    # One sign may be a whole unit: ℃.
    is_sign = len(written) == 1 and not plain[0].isalpha()
    if written in _no_units() or (is_sign and written != "°"):
        return ()
    if written in ("Ki", "Mi", "Gi", "Ti"):  # of memory
        return (f"{written}B",)
    if "·" in written and (product := readings_of(written)):  # kW·h
        return tuple(product)
    if written.endswith("/H"):
        written = f"{written[:-1]}h"
    listed = as_listed(_RAISED_TO.sub("", written), packs=PACKS)
    if _is_unit(listed):
        return (listed,)
    if _IN_TIME.search(written) and (meant := unit_meant(written)) and _is_unit(meant):
        return (meant,)  # l/s, of which a letter alone might be none
    folded = written.lower()
    if (units := words_table()["unit words"].get(folded)) is not None and (
        len(written) > 1 or written in "CFKd°"
    ):
        return tuple(units.split())
    # Two letters in any case are too many units: "mw", "MW".
    if len(written) > 2 and written.isalpha() and folded in _folded_symbols():
        return _folded_symbols()[folded]
    # What the tables do not spell so: kWh/m²a, ºC, but no R².
    is_word = written.isascii() or is_unspaced(written[0]) or not (written[0].isalpha() or written[0] == "˚")
    return () if is_word or plain[1:].isdigit() else tuple(filter(_is_unit, readings_of(written)))


@cache
def _folded_symbols() -> Mapping[str, tuple[str, ...]]:
    """Return the units that a symbol in small letters may be: ``{"mwh": ("MWh",)}``."""
    folded: dict[str, tuple[str, ...]] = {}
    from gllint_runtime.policy.unit_table import ALLOWED_UNITS

    for unit in (*ALLOWED_UNITS, *pack_units(PACKS)):
        if unit.isascii() and unit.isalpha() and len(unit) > 2 and not unit.islower() and not unit.isupper():
            folded[unit.lower()] = (*folded.get(unit.lower(), ()), unit)
    return folded


@lru_cache(maxsize=4096)
@lru_cache(maxsize=1024)
def base_of_unit(unit: str) -> float:
    """Return how many seconds, metres, bytes … a unit is: ``"min"`` → 60; 0 for a unit without such a base."""
    size = size_of_unit(unit)
    for base in words_table()["bases"]["words"].split() if size is not None and not size.offset else ():
        base_size = size_of_unit(base)
        if base_size is not None and size is not None and base_size.dimension == size.dimension:
            factor = size.factor / base_size.factor
            return 0.0 if abs(factor - 1) < 1e-12 else factor
    return 0.0


def unit_of_text(text: str) -> tuple[str, ...]:
    """Return the units that a whole text means.

    "kilowatt-hours" → ``("kWh",)``; the text itself if it is no known unit.
    """
    text = text.strip()
    if not text or len(text) > _MAX_UNIT:
        return (text,) if text else ()
    if text in ("1", "count", "ratio", "fraction"):  # units only where a field says so, never in prose
        return (text,)
    units, end = units_at(text, 0)
    if units and end == len(text):
        return units
    meant = unit_meant(text)
    if meant is not None:
        return (meant,)
    return tuple(readings_of(text)) or (text,)


@lru_cache(maxsize=4096)
def _is_unit(symbol: str) -> bool:
    return is_allowed(symbol, packs=PACKS) or symbol in TIME_UNITS


@cache
def _no_units() -> frozenset[str]:
    return frozenset(words_table()["no units"]["words"].split())

"""The one reader of what a text says about its numbers: value, rounding, sign, multiplier, unit, and place.

A number means each value that rounds to what is shown: ``1.2 million`` for all from 1,150,000 to 1,250,000. The
reader looks back, never ahead: a text that grows by sentences is read as the whole.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from gllint_runtime.policy.designations import designated
from gllint_runtime.policy.expressions import expression
from gllint_runtime.policy.moments import Mention, Moment, moments, weekday_numbers
from gllint_runtime.policy.places import Layout, Place
from gllint_runtime.policy.rendered_text import is_numeral, numerals
from gllint_runtime.policy.seen_text import SeenText
from gllint_runtime.policy.text_units import (
    currency_units,
    size_of_unit,
    unit_of_text,
    units_at,
    words_table,
)
from gllint_runtime.policy.units import TIME_UNITS

_MAX_DIGITS = 320  # of a number that is read; no float is longer
_SLACK = 1e-9  # what floating point may have added, of a number
_SLACK_OF_STEP = 1e-3  # and at most, of half a step: 9523456874 is no 9523456873

Shape = Literal["number", "moment", "code", "ordinal", "order", "designation"]


class Shown(NamedTuple):
    """A value as it is shown, and the distances below and above it within which a number is still shown so."""

    value: float
    lower_margin: float
    upper_margin: float

    def fits(self, number: float) -> bool:
        """Return whether ``number`` would be shown so: 1,180,000 as "1.2 million". Only zero is shown as zero."""
        if not self.value:
            return number == 0
        # A value without margins (an exact code) still has the error of floating point.
        slack = (
            min(abs(self.value) * _SLACK, (self.lower_margin + self.upper_margin) * _SLACK_OF_STEP)
            or abs(number) * 1e-12
        )
        return -self.lower_margin - slack <= number - self.value <= self.upper_margin + slack

    def scaled(self, factor: float) -> Shown:
        """Return the value in another unit, margins included; a negative factor exchanges the margins."""
        lower_margin, upper_margin = (
            (self.lower_margin, self.upper_margin) if factor > 0 else (self.upper_margin, self.lower_margin)
        )
        return Shown(self.value * factor, lower_margin * abs(factor), upper_margin * abs(factor))

    @property
    def digits(self) -> int:
        """The number of significant digits that are shown, about."""
        step = max(self.lower_margin + self.upper_margin, 1e-300)
        return len(str(int(min(abs(self.value) / step, 1e308) + 0.5))) if self.value else 1


@dataclass(slots=True, eq=False)
class Reading:
    """A number, date, code or mark of order at code points ``start`` to ``end`` of the text."""

    start: int
    end: int
    text: str
    shape: Shape
    place: Place
    renderings: tuple[Shown, ...] = ()
    units: tuple[str, ...] = ()
    written_unit: str = ""
    is_signed: bool = False
    is_rounded: bool = False
    moments: tuple[Moment, ...] = ()
    series: str = ""  # what runs in order: "step"
    factor: str = ""  # a word that would make another number of it: "doubled"
    own_unit: bool = True  # behind or before it; not from a header or label
    noun: str = ""  # the word behind it
    multiplier: float = 1.0
    has_plus: bool = False
    word: str = ""  # of letters and digits, that the number is a part of

    @property
    def value(self) -> float:
        """The value of the first reading."""
        return self.renderings[0].value if self.renderings else 0.0


class Reader:
    """Reads texts of one conversation; ``decimal_comma`` is what the texts before showed."""

    def __init__(self, *, units: Collection[str] = (), decimal_comma: bool | None = None) -> None:
        self.decimal_comma = decimal_comma
        self._own_units = tuple(units)

    def read(self, text: str, *, prose: bool = True) -> list[Reading]:
        """Return what a text says, in order: "It is 12.5 kWh since May 3" → a number with a unit, and a date.

        Without ``prose`` the text is data: its order means nothing, and no line is a label.
        """
        return GrowingText(self, prose=prose).add(text) if has_numeral(text) else []

    def number(self, text: str, start: int, stop: int, place: Place) -> tuple[Reading, int]:
        """Return the number at ``start``, and where it ends with its unit: "-12.5 kWh/m2" → -12.5 in kWh/m2.

        Its currency and sign are before it, its size ("million"), unit and divisor ("per day") behind it.
        """
        if (measure := _measure_in_parts(text, start, stop)) is not None:
            value, unit = measure
            return Reading(start, stop, text[start:stop], "number", place, (value,), (unit,), unit), stop
        match = _NUMBER.match(text, start)
        if match is None:
            if stop - start == 1 and text[start].isnumeric():  # Ⅻ
                units, place.end = units_at(text, stop)
                amount = (Shown(unicodedata.numeric(text[start]), 0.5, 0.5),)
                return Reading(start, stop, text[start], "number", place, amount, units), place.end
            return Reading(start, stop, text[start:stop], "code", place), stop
        written = match[0]
        end = match.end()
        lead = _BEFORE.search(text, max(0, start - 14), start)
        sign = ""
        currency = ""
        if lead is not None:
            sign = lead["outer"] or lead["sign"] or ""
            currency = lead["currency"] or ""
            if currency and not currency_units(currency):
                currency = ""
                sign = lead["sign"] or ""
        prior = lead.start() if lead is not None and (sign or currency) else start
        if sign and _is_dash(text, prior, start):
            sign = ""
        if sign or _ZONE.search(text, max(0, prior - 6), prior + 1):
            sign = sign or "-"
        elif (
            word := _SIGN_WORD.search(text, max(0, prior - 12), prior)
        ) is not None and not _TAKEN_OFF.search(text, max(0, word.start() - 40), word.start()):
            sign = "-"
        multipliers, trailing = _multipliers(text, end, bool(currency))
        if trailing > end and (link := _OF.match(text, trailing)) and units_at(text, link.end())[0]:
            trailing = link.end()  # 1,25 million d'euros
        if (part := _HALVES.match(text, trailing)) is not None:  # 21 and a half hours
            trailing = part.end()
        units, unit_end = units_at(text, trailing)
        per_many = _per_many(text, trailing)
        if per_many is not None:
            units, unit_end, many = per_many
        written_unit = text[trailing:unit_end].strip()
        if part is None and units and (part := _HALVES.match(text, unit_end)) is not None:
            unit_end = part.end()  # 2 heures et demie
        if not units and self._own_units:
            units, unit_end = self._own_unit(text, trailing)
        if not units and trailing == end and (minor := _MINOR.match(text, end)):
            units = tuple(
                unit
                for element in words_table()["minor units"][minor[1].lower()].split()
                for unit in currency_units(element)
            )
            units, unit_end = _per(text, units, minor.end())
            multipliers, written_unit = (0.01,), minor[1]
        if currency and not (units and units[0] in currency_units(currency)):
            units, per_end = _per(text, currency_units(currency), trailing)
            unit_end, written_unit = per_end, currency
        is_bracketed = not sign and text[prior - 1 : prior] == "(" and text[unit_end : unit_end + 1] == ")"
        if is_bracketed and (currency or "|" in text[max(0, prior - 4) : prior]):
            sign = "-"  # ($12)
        is_ordinal = (ordinal := _ORDINAL.match(text, end)) is not None and trailing == end
        rounding = _rounding(text, prior)
        values = self._values(match, rounding)
        renderings = tuple(
            _shown(value, places, multiplier, digits, rounding, -1 if sign else 1)
            for multiplier in multipliers
            for value, places, digits in values
        )
        if is_bracketed and sign and _IN_PROSE.search(text, max(0, prior - 12), prior):
            renderings = (*renderings, *(element.scaled(-1) for element in renderings))  # RT306 ($33)
            sign = ""
        if part is not None and not any(element.value % 1 for element in renderings):
            half = 0.5 if part[1] or part[2] else 0.25
            renderings = tuple(
                element._replace(value=element.value + half, lower_margin=0.25, upper_margin=0.25)
                for element in renderings
            )
        if per_many is not None:
            renderings, multipliers = tuple(element.scaled(1 / many) for element in renderings), (1 / many,)
        if len(units) == 1 and _SAME_UNITS.fullmatch(units[0]):
            units = ()
        if "permille" in units:
            units, renderings = ("%",), tuple(element.scaled(0.1) for element in renderings)
        reading = Reading(
            start,
            end,
            written,
            "ordinal" if is_ordinal else "number",
            place,
            renderings,
            units,
            written_unit,
            bool(sign),
            bool(rounding) or trailing > end,
        )
        if is_ordinal and ordinal is not None:
            unit_end = ordinal.end()
            reading.end = unit_end
        if _YEAR.fullmatch(written) and not units and not currency and trailing == end:
            reading.moments = (Moment(year=int(written)),)
        if is_ordinal and 1 <= renderings[0].value <= 31:
            reading.moments = (Moment(day=int(renderings[0].value)),)
        if end - start < 3 and text[start:end].isdecimal() and not sign and trailing == end:
            reading.moments = reading.moments or (*_moments_of_integer(text, start, end, units),)
        reading.multiplier = multipliers[0]
        if units and unit_end == end + 1 and (word := _CHUNK.match(text, start)) is not None:
            reading.word = word[0]
        reading.has_plus = text[prior - 1 : prior] == "+"
        noun = _NOUN.match(text, unit_end)
        reading.noun = noun[1].lower() if noun else ""
        if (
            (times := _multiplying().search(text, unit_end, unit_end + 20)) and times.start() == unit_end
        ) or (times := _multiplying_before().search(text[max(0, prior - 24) : prior])):
            reading.factor = times[0].strip()
        place.end = unit_end
        return reading, max(unit_end, end)

    def _own_unit(self, text: str, at: int) -> tuple[tuple[str, ...], int]:
        """Return the project's own unit behind a number, and where it ends; ``()`` and ``at`` if there is none."""
        gap = at + (text[at : at + 1] == " ")
        for unit in self._own_units:
            if (
                unit
                and unit != "1"
                and text.startswith(unit, gap)
                and not text[gap + len(unit) : gap + len(unit) + 1].isalnum()
            ):
                return (unit,), gap + len(unit)
        return (), at

    def _values(self, match: re.Match[str], rounding: str) -> tuple[tuple[float, int, int], ...]:
        """Return each value of the digits, with the power of ten of its last digit and how many digits are significant.

        "12.50" → ``(12.5, -2, 4)``; "1,234" → ``(1234, 0, 4)``, and ``(1.234, -3, 4)`` too where a comma is decimal.
        """
        digits = match["digits"]
        if digits and _DECIMAL_COMMA.fullmatch(digits):
            self.decimal_comma = True
        fraction = match["fraction"] or match["alone"] or ""
        power = int((match["power"] or match["raised"] or match["e"] or "0").translate(_RAISED))
        if fraction:
            part = _fraction(fraction)
            prior = float(digits) if digits and digits.isdecimal() else 0.0
            return ((prior + part, -9, 9),)
        values = []
        for text in _decimal_readings(digits, bool(self.decimal_comma)):
            whole, _, decimals = text.partition(".")
            if len(text) > _MAX_DIGITS or abs(power) > 300:
                continue
            value = float(f"{text}e{power}") if power else float(text)
            if decimals.endswith("0") and rounding:
                decimals = decimals.rstrip("0")
            significant = len((whole + decimals).lstrip("0"))
            zeros = 0 if decimals else len(whole) - len(whole.rstrip("0"))
            values.append((value, power - len(decimals), (significant - zeros) or significant))
        return tuple(values)


class GrowingText:
    """A text that is read as it grows: each part begins a sentence, a list item or a row."""

    def __init__(self, reader: Reader, *, prose: bool = True) -> None:
        self._reader, self._prose = reader, prose
        self.layout = Layout()
        self.length = 0  # with the markup
        self._foreign: set[str] = set()
        self._order: dict[str, float] = {}  # the last number of each series

    def add(self, part: str) -> list[Reading]:
        """Return what a further part of the text says, in order; places are those in the whole text."""
        reader, layout = self._reader, self.layout
        visited, begin, start = SeenText(part), self.length, len(layout.text)
        self.length += len(part)
        layout.grow(visited.text)
        if not has_numeral(part):
            return []
        text = layout.text
        if reader.decimal_comma is None and self._prose:
            self._foreign |= {word.lower() for word in _FOREIGN.findall(part)}
            reader.decimal_comma = len(self._foreign) > 1 or None
        readings: list[Reading] = []
        end = start
        for at, stop, shape, hits in _merged(text, [*_marked(text, start)], start):
            if at < end:
                continue
            place = layout.place(at, stop)
            if shape == "number":
                reading, end = reader.number(text, at, stop, place)
                if reading.units == ("h",) and readings and _is_of_day(text, reading, readings[-1]):
                    reading.shape, reading.renderings, reading.units = "moment", (), ()
            else:
                reading = Reading(at, stop, text[at:stop], shape, place)
                end = stop
            if hits is not None:
                reading.moments = hits.readings
                _as_duration(reading)
                if reading.units and (pace := _PACE.match(text, stop)) is not None:  # 5:05 min/km
                    reading.units = (*reading.units, f"min/{pace[1].lower()}")
                if reading.renderings and _is_length(text, reading, readings):
                    reading.shape, reading.moments = "number", ()
            place.end = max(place.end, end)
            readings.append(reading)
        _join_ranges(text, readings)
        readings = _joined_quantities(text, readings)
        if self._prose:
            _mark_order(text, readings, self._order)
        for reading in readings:
            layout.number(reading.place)
            if reading.shape in ("number", "ordinal"):
                _with_declared_unit(reading, layout)
            first, last = visited.span(reading.start - start, reading.end - start)
            reading.text, reading.start, reading.end = part[first:last], begin + first, begin + last
        return readings


def _per_many(text: str, at: int) -> tuple[tuple[str, ...], int, float] | None:
    """Return the unit, its end and the count of a number that is for many of another.

    "l/100 km" → ``L/km``, …, 100.
    """
    match = _PER_MANY.match(text, at)
    if match is None:
        return None
    base, (divisor, end) = unit_of_text(match[1]), units_at(text, match.end(), divided=False)
    unit = f"{base[0]}/{divisor[0]}" if divisor else ""
    return ((unit,), end, float(match[2])) if unit and size_of_unit(unit) is not None else None


def _is_of_day(text: str, reading: Reading, last: Reading) -> bool:
    """Return whether hours right behind a date are a time of that day: "le 17 septembre à 14 h"."""
    is_joined = _AT.fullmatch(text, last.end, reading.start) is not None
    return bool(reading.moments and last.moments) and last.moments[0].has_date and is_joined


def _moments_of_integer(text: str, start: int, end: int, units: tuple[str, ...]) -> Iterator[Moment]:
    """Yield the day or time that a bare integer may be by the word before it: "Tuesday 24", "until 9", "à 14 h"."""
    prior, value = text[max(0, start - 24) : start], int(text[start:end])
    if value < 25 and units == ("h",) and _HOUR_SIGN.match(text, end) and _AT_HOUR.search(prior):
        yield Moment(hour=value, minute=0)
    if units:
        return
    weekday = _WEEKDAY.search(prior)
    if 0 < value < 32 and weekday is not None and weekday[1].lower() in weekday_numbers():
        yield Moment(day=value)
    if 0 < value < 25 and _BY_HOUR.search(prior) and _NO_NOUN.match(text, end):
        yield Moment(hour=value, minute=0)
        if value < 12:  # "until 9" may be in the evening
            yield Moment(hour=value + 12, minute=0)


_HALVES = re.compile(
    r"\s(?:(?:and|et|und)\s(?:an?|one|une?|eine?n?)\s(?:(half|demie?|halbe[nrs]?)|quarter|quart|viertel)|et\s(demie?))"
    r"(?![^\W_])",
    re.IGNORECASE,
)
_PER_MANY = re.compile(
    r"[ \u00a0]?([^\W\d_]{1,9})\s?(?:/|per\s|pro\s|je\s|aux\s|par\s)\s?(10|100|1000)\s?(?=[^\W\d_])",
    re.IGNORECASE,
)
_AT = re.compile(r" à ")
_HOUR_SIGN = re.compile(r"[ \u00a0\u202f]?h(?![^\W_])")
_WEEKDAY = re.compile(r"([^\W\d_]{3,10})\.?,?\s(?:the\s|den\s|le\s)?\Z")
_AT_HOUR = re.compile(
    r"(?:\b(?:à|dès|vers|avant|après|depuis|de|entre|et|hier|demain|matin|soir)|jusqu['’]à|aujourd['’]hui|\d)\s\Z",
    re.IGNORECASE,
)
_BY_HOUR = re.compile(
    r"\b(?:before|after|until|till|since|past|at|vor|nach|bis|um|ab|gegen|avant|après)\s\Z", re.IGNORECASE
)
_NO_NOUN = re.compile(
    r"\s*(?:\Z|[.,;:!?)](?!\d)|\s(?:or|and|on|today|tomorrow|tonight|in the|oder|und|et|ou|heute|morgen)\b)",
    re.IGNORECASE,
)


def _measure_in_parts(text: str, start: int, stop: int) -> tuple[Shown, str] | None:
    """Return a time in hours or a length in feet that is written in parts: ``7h55m``, ``44:54``, ``5'10"``; else
    ``None``.
    """
    duration = _DURATION.match(text, start)
    if duration is not None and duration.end() >= stop:  # PT1H30M
        hours, minutes, seconds = (float(part or 0) for part in duration.groups())
        half = 1 / 7200 if duration[3] else 1 / 120
        return Shown(hours + minutes / 60 + seconds / 3600, half, half), "h"
    if (watch := _STOPWATCH.match(text, start)) is not None and watch.end() == stop:  # 44:54.5
        whole, rest, part = watch[1] or watch[3], watch[2] or watch[4], watch[5] or ""
        value = int(whole) / 60 + (int(rest) + float(f"0{part.replace(',', '.')}")) / 3600
        half = 10.0 ** -max(0, len(part) - 1) / 7200
        return Shown(value, half, half), "h"
    if (feet := _FEET.match(text, start)) is not None and feet.end() == stop:  # 5'10"
        return Shown(int(feet[1]) + float(feet[2]) / 12, 1 / 24, 1 / 24), "ft"
    time = _length(text, start, stop)  # 7h 55m
    return None if time is None else (time, "h")


def _length(text: str, start: int, stop: int) -> Shown | None:
    """Return a length of time in hours that is written in several parts.

    Example: ``7h 55m``, ``3d4h``; ``None`` for any other text.
    """
    match = _PARTED_TIME.match(text, start)
    parts = [] if match is None else [*match.groups()]
    if match is None or match.end() != stop or sum(part is not None for part in parts) < 2:
        return None
    hours = sum(float(part or 0) * size for part, size in zip(parts, _PART_HOURS, strict=True))
    last = next(
        size for part, size in zip(reversed(parts), reversed(_PART_HOURS), strict=True) if part is not None
    )
    return Shown(hours, last / 2, last / 2)


_PARTED_TIME = expression(
    r"(?<![\w.,:])(?:(\d{1,4}) ?d(?:ays?)?,? ?)?(?:(\d{1,4}) ?h(?:(?:ou)?rs?)?,? ?)?"
    r"(?:(\d{1,4}) ?m(?:in)?(?:ute)?s? ?)?"
    r"(?:(\d{1,5}) ?s(?:ec)?(?:ond)?s?)?(?<=\w)(?![\w])"
)
# Feet and inches: 5'10", 5 ft 10 in.
_FEET = expression(
    r"(?<![\w.,])(\d{1,2})\s?(?:['’′]|ft\.?|feet|foot)\s?(\d|1[01])\s?(?:[\"”″]|''|in(?:ch(?:es)?|\.)?(?!\w))"
)
# The distance behind a pace: 5:05 min/km.
_PACE = expression(r"\s?(?:min(?:utes)?)?\s?(?:/|per )\s?(km|mi)(?:lomet(?:er|re)|le)?(?!\w)", re.IGNORECASE)
# Minutes and seconds that are no time of day: 44:54; 60:40 is a share.
_STOPWATCH = expression(
    r"(?<![\w.,:/-])(?:(?!(?:50:50|60:40|70:30|80:20|90:10)\b)(2[5-9]|[3-9]\d|1\d\d):([0-5]\d)(?!\w|[:.,]\d)"
    r"|(\d{1,2}):([0-5]\d)([.,]\d{1,3})(?![\w:]|[.,]\d))"
)
_PART_HOURS = (24.0, 1.0, 1 / 60, 1 / 3600)


def has_digit(text: str) -> bool:
    """Return whether a text has a digit, or a fraction in one character."""
    return _DIGIT.search(text) is not None


def has_numeral(text: str) -> bool:
    """Return whether a text has anything that a reader may take for a number: ``5``, ``⑤``, ``Ⅴ``."""
    return has_digit(text) or (not text.isascii() and any(map(is_numeral, text)))


@cache
def _other_numerals() -> re.Pattern[str]:
    """Return the expression of numerals that are no digits; behind a letter they are raised or lowered: ``m²``."""
    return re.compile(rf"(?<!\w)[{''.join(char for char in sorted(numerals()) if not _DIGIT.match(char))}]+")


_DURATION = re.compile(
    r"(?i:PT)?(?=\d+[hH]\d|\d+[mM]\d|(?<=T)\d)(?:(\d{1,4})[hH])?(?:(\d{1,4})[mM])?(?:(\d{1,4})[sS])?(?![\w])"
)
_DIGIT = re.compile(r"[\d¼-¾⅐-⅞]")
_FOREIGN = re.compile(words_table()["forms"]["decimal comma"], re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d")
_NUMBER = re.compile(words_table()["forms"]["number"])
_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")
_DECIMAL_COMMA = re.compile(r"\d+,(?:\d{1,2}|\d{4,})|\d{1,3}(?:[. \u00a0\u202f]\d{3})+,\d+")
_GROUPS = re.compile(r"\d{1,3}(?:[.,'’ \u00a0\u2009\u202f]\d{2,3})*[.,'’ \u00a0\u2009\u202f]\d{3}")
_PARTING = re.compile(r"['’ \u00a0\u2009\u202f]")
_BEFORE = re.compile(
    r"(?:(?<![\w.,)\]])(?P<outer>[-−–]))?[ ]?"
    r"(?P<currency>(?:US|AU|CA|NZ|HK|[ACSR])?\$|[€£¥￥₹₩₽₺₪₫₱₴₦฿]|(?<![^\W_])[A-Z]{3}(?=\s?\Z|\s?[-−]))?[ \u00a0]?"
    r"(?:(?<![\w.,)\]])(?P<sign>[-−]))?\Z"
)
_IN_PROSE = re.compile(r"[^\W_][*_]{0,2} \(\Z")
_SAME_UNITS = re.compile(r"([^\W\d_]+)/\1")
_LIST_DASH = re.compile(r"(?:^|\n)[ \t>]*[-−–][ ]\Z")
_SIGN_WORD = re.compile(r"\b(?:minus|negative|moins|menos)\s\Z", re.IGNORECASE)
_ZONE = re.compile(r"\b(?:UTC|GMT)\s?[-−–]\Z")
# What is taken off another number: 55% promoters minus 20% detractors.
_TAKEN_OFF = re.compile(
    r"\d[^.;:,\n\d]{0,30}(?<!\bto)(?<!\band)(?<!\bat)(?<!\bof)(?<!\bis)(?<!\bwas)(?<!à)(?<!auf)\s\Z"
)
_CURRENCY_SIZE = re.compile(r"[ \u00a0\u202f]?([kKM])(?=[€$£]|(?:EUR|USD|GBP|CHF)(?!\w))")
_LETTERS = re.compile(r"(?:bn|mn|mm|[kKMBTmb])(?![\w²³/·°])")
_ALSO_UNITS = ("m", "b", "mm", "T")
"""Letters of a size that without a currency are metres, bytes, millimetres and teslas."""
_MULTIPLIER = re.compile(r" ?([万億亿])|[ \u00a0\u202f-]?([^\W\d_]{2,9}\.?)(?!\w)")
_OF = re.compile(r" (?:d['’]|de |of )")
_MINOR = re.compile(r"[ \u00a0]?(cents?|centimes?|ct|pence|¢)(?![^\W_])", re.IGNORECASE)
_ORDINAL = re.compile(r"(?:st|nd|rd|th|ᵗʰ|er|ère|ème|e)(?![\w])")
_NOUN = re.compile(r"[ -]([^\W\d_]{2,30})")


def _is_dash(text: str, start: int, end: int) -> bool:
    """Return whether a minus before a number is a dash: it opens a list item ("- 5"), or is between words or
    numbers.
    """
    if _LIST_DASH.search(text, max(0, start - 8), end) is not None:
        return True
    mark = text.find("–", start, end)
    is_apart = re.search(r"[-−–][ ]", text[start:end]) is not None
    if mark >= 0 or is_apart:
        return is_apart or text[max(0, start - 1) : start].strip() != ""
    return False


def _decimal_readings(text: str, decimal_comma: bool) -> Iterator[str]:
    """Yield the digits with a point as the decimal mark, in each way in which the separators can be read.

    "1,234" → "1234"; where commas were decimal before, "1.234" and "1234". "1.234,5" → "1234.5".
    """
    if not text.isascii():
        text = "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)
    plain = _PARTING.sub("", text)
    if plain.isdecimal():
        yield plain
        return
    commas, points = plain.count(","), plain.count(".")
    last = "," if plain.rfind(",") > plain.rfind(".") else "."
    whole, _, decimals = plain.rpartition(last)
    # The three digits behind the last mark may be a group of thousands; in "0.125" they are not.
    is_group = len(decimals) == 3 and _GROUPS.fullmatch(plain) is not None and plain[0] != "0"
    if commas and points:
        yield f"{whole.replace(',', '').replace('.', '')}.{decimals}"
    elif commas + points > 1:
        yield plain.replace(",", "").replace(".", "")
    elif last == ",":
        if is_group and not decimal_comma:
            yield whole + decimals
        elif is_group:
            yield f"{whole}.{decimals}"
            yield whole + decimals
        else:
            yield f"{whole}.{decimals}"
    elif is_group and decimal_comma:
        yield whole + decimals
        yield plain
    else:
        yield plain


def _fraction(written: str) -> float:
    if "/" in written:
        numerator, denominator = written.split("/")
        return int(numerator) / int(denominator)
    return unicodedata.numeric(written[-1])


def _multipliers(text: str, end: int, has_currency: bool) -> tuple[tuple[float, ...], int]:
    """Return the factors that the text behind a number says, and where that ends.

    "12 million" → ``(1e6,)``, "12k" → ``(1e3,)``.

    "mil" may be a thousand or a million. Without such a word it is ``(1.0,)``.
    """
    letters = _LETTERS.match(text, end)
    if letters and (letters[0] not in _ALSO_UNITS or has_currency):  # 12k, 3bn, $5m
        return (float(words_table()["letters"][letters[0]]),), letters.end()
    if (size := _CURRENCY_SIZE.match(text, end)) is not None:  # 12 k€, 3 MUSD
        return (float(words_table()["letters"][size[1]]),), size.end()
    word = _MULTIPLIER.match(text, end)
    if word is not None:  # 12 million, 3 Mio., 5万
        written = word[1] or word[2]
        name = written.lower().removesuffix(".").removesuffix("s")
        table = words_table()
        values = (table["multipliers"].get(name) or table["ambiguous multipliers"].get(name, "")).split()
        if values:
            return tuple(map(float, values)), word.end()
        if has_currency and name in ("k", "m", "b"):
            return (float(table["letters"][name]),), word.end()
    return (1.0,), end


def _per(text: str, units: tuple[str, ...], end: int) -> tuple[tuple[str, ...], int]:
    """Return currencies with what the text divides them by, and where that ends: "0.31 per kWh" → ``USD/kWh``."""
    from gllint_runtime.policy.text_units import _divided

    return _divided(text, units, end)


@cache
def _rounding_words() -> re.Pattern[str]:
    """Return the expression of words before a number that round it ("about", "over"); its group is the kind of
    rounding.
    """
    rows = words_table()["rounding"]
    groups = []
    for kind, words in rows.items():
        forms = [
            re.escape(word.replace("~", " ")) if len(word) > 1 else word
            for word in sorted(words.split(), key=len, reverse=True)
        ]
        groups.append(f"(?P<{kind}>{'|'.join(forms)})")
    return re.compile(
        rf"(?:(?<![^\W_])(?:{'|'.join(groups)})\.?\s?(?:(?:a|the|eine[nm]?|les?)\s)?)\Z",
        re.IGNORECASE,
    )


def _rounding(text: str, prior: int) -> str:
    match = _rounding_words().search(text[max(0, prior - 26) : prior])
    return match.lastgroup or "" if match else ""


def _shown(value: float, places: int, multiplier: float, significant: int, rounding: str, sign: int) -> Shown:
    """Return a value with the margins that its last digit and its rounding allow: 1.2 with "million" → 1,200,000 ±
    50,000.

    ``places`` is the power of ten of the last digit. "about 300" is 300 ± 5: the zeros at the end are no digits
    there, but at least two digits count. ``rounding`` "above" and "below" make one margin a whole step, the other none.
    """
    step = 10.0**places * multiplier
    if (rounding or multiplier != 1.0) and value:
        # Zeros at the end are no digits here, but at least two digits are.
        size = abs(value) * multiplier
        magnitude = 10.0 ** len(str(int(size))) if size >= 1 else 1.0
        least = magnitude / 100
        if places >= 0 and multiplier == 1.0:
            zeros = len(str(int(value))) - len(str(int(value)).rstrip("0"))
            step = max(step, min(10.0**zeros, least))
        step = (
            min(step, max(least, 10.0**places * (1.0 if multiplier == 1.0 else 0.0))) if size >= 1 else step
        )
    half = step / 2
    lower_margin, upper_margin = {"above": (0.0, step), "below": (step, 0.0)}.get(rounding, (half, half))
    return Shown(value * multiplier, lower_margin, upper_margin).scaled(sign)


def _as_duration(reading: Reading) -> None:
    """Give a time of day the length of time that it may be as well.

    Example: "14:30" is 14.5 h (or 14 min 30 s), "14h30" 14.5 h.
    """
    match = re.fullmatch(r"(\d{1,3}):(\d\d)(?::(\d\d))?", reading.text)
    if match:
        first, second, third = int(match[1]), int(match[2]), int(match[3] or 0)
        half = 1 / 7200 if match[3] else 1 / 120
        reading.renderings = (Shown(first + second / 60 + third / 3600, half, half),)
        if not match[3]:  # minutes and seconds
            reading.renderings = (*reading.renderings, Shown(first / 60 + second / 3600, 1 / 7200, 1 / 7200))
        reading.units = ("h",)
        return
    match = re.fullmatch(r"(\d{1,2}) ?h ?(\d\d)?", reading.text)
    if match:
        value = int(match[1]) + int(match[2] or 0) / 60
        reading.renderings, reading.units = (Shown(value, 1 / 120, 1 / 120),), ("h",)


def _is_length(text: str, reading: Reading, readings: list[Reading]) -> bool:
    """Return whether what looks like a time of day is how long something took.

    Example: "took 14:30", or the next in such a list.
    """
    if _LASTING.search(text, max(0, reading.start - 30), reading.start):
        return True
    last = readings[-1] if readings else None
    return (  # "took 14:30, 13:30 and 14:00"
        last is not None
        and last.shape == "number"
        and ":" in last.text
        and _NEXT.fullmatch(text, last.end, reading.start) is not None
    )


_LASTING = re.compile(
    r"\b(?:took|takes?|taking|last(?:ed|s)|ran for|runs for|runtime|duration|elapsed(?: time)?|finished in|"
    r"completed in|dauerte|dauert|duré|dure|durée)(?:\s(?:of|was|is|about|only|just|von|de|environ|nur))?:?\s\Z",
    re.IGNORECASE,
)
_NEXT = re.compile(r",?\s(?:and\s|und\s|et\s|to\s|or\s)?|[-–]")


_RANGE = re.compile(
    r"[ \u00a0]?[-–][ \u00a0]?[$€£]?|—[$€£]?|\s(?:to|and|or|of|von|sur|bis|und|à|et|a|y)\s(?:the\s|about\s)?[$€£]?"
)


_ASIDE = re.compile(
    r"\s?\((?:usually|normally|typically|previously|before|was|from|average|avg\.?|vs\.?|zuvor|vorher|sonst|statt|contre|avant)\s"
)


def _join_ranges(text: str, readings: list[Reading]) -> None:
    """Give the first number of a range the unit, size or half of the day of the second: "10–15 km", "from 2 to 4 pm".

    A number in brackets gets the unit of the one that it is compared with: "76 minutes (usually 69)".
    """
    for first, second in pairwise(readings):
        is_measure = first.units[:1] not in ((), ("%",), ("pp",))
        if first.shape == "number" == second.shape and is_measure and not second.units:
            if _ASIDE.fullmatch(text, first.place.end, second.start):  # 76 minutes (usually 69)
                second.units, second.own_unit, second.written_unit = first.units, False, first.written_unit
        if (
            first.shape == "number" == second.shape
            and second.multiplier != 1.0 == first.multiplier
            and first.renderings
            and _RANGE.fullmatch(text, first.place.end, second.start)
        ):
            first.renderings = (first.renderings[0].scaled(second.multiplier), *first.renderings)
        if first.shape == "number" and not first.units and first.renderings and first.value in range(25):
            moment = next((time for time in second.moments if time.has_time and not time.has_date), None)
            if moment is not None and _RANGE.fullmatch(text, first.end, second.start):  # from 2 to 4 pm
                hour = int(first.value) + (12 if first.value + 12 <= (moment.hour or 0) else 0)
                first.moments, first.shape, first.renderings = (Moment(hour=hour, minute=0),), "moment", ()
        if first.shape == "number" == second.shape and second.units and not first.units and first.renderings:
            is_range = _RANGE.fullmatch(text, first.end, second.start) is not None
            if is_range and first.end == first.place.end and "or about" not in text[first.end : second.start]:
                if not first.moments or not second.moments:
                    first.units, first.own_unit, first.written_unit = second.units, False, second.written_unit


_JOINT = re.compile(r"\.?[ \u00a0]?|,? and | und | et ")


def _joined_quantities(text: str, readings: list[Reading]) -> list[Reading]:
    """Return the readings, those that are one amount joined.

    Example: ``1 h 30 min``, ``5 ft 11 in``, "19 dollars and 99 cents".
    """
    joined: list[Reading] = []
    for reading in readings:
        last = joined[-1] if joined else None
        if (
            last is not None
            and last.shape == "number" == reading.shape
            and reading.multiplier == 0.01
            and reading.value < 1.0 == last.multiplier
            and (dollars := next((shown.value for shown in last.renderings if shown.value % 1 == 0), 0.0))
            and (units := tuple(unit for unit in last.units if unit in reading.units))
            and _JOINT.fullmatch(text, last.place.end, reading.start)
        ):  # 19 dollars and 99 cents
            last.renderings = (Shown(dollars + reading.value, 0.005, 0.005),)
            last.end, last.place.end, last.units = reading.end, reading.place.end, units
            continue
        if (
            last is not None
            and last.shape == "number" == reading.shape
            and len(last.units) == 1 == len(reading.units)
            and last.renderings
            and reading.renderings
            and last.own_unit
            and not last.renderings[0].value % 1
            and _JOINT.fullmatch(text, last.place.end, reading.start)
            and (larger := size_of_unit(last.units[0])) is not None
            and (smaller := size_of_unit(reading.units[0])) is not None
            and larger.dimension == smaller.dimension
            and not larger.offset
            and smaller.factor < larger.factor
            and reading.renderings[0].value * smaller.factor < larger.factor
        ):
            part = reading.renderings[0].scaled(smaller.factor / larger.factor)
            sign = -1 if last.is_signed else 1
            whole = Shown(last.renderings[0].value + sign * part.value, part.lower_margin, part.upper_margin)
            last.end, last.renderings = reading.end, (whole,)
            last.place.end = reading.place.end
            continue
        joined.append(reading)
    return joined


_LIST_NUMBER = re.compile(r"(?:^|\n)[ \t>#|]*(?:[-+•*]\s+)?\(?\Z|[.:;!?,]\s\(?\Z|\b(?:and|or)\s\(\Z|\A\(?\Z")
_LIST_MARK = re.compile(r"[.)](?=\s+[^\W\d_])|[.)]\Z")
_INLINE_MARK = re.compile(r"[.)] (?=[A-ZÀ-Þ])")
_LINE_MARK = re.compile(r"(?:[.)]|\ufe0f?\u20e3)(?=\s|$)")
_LINE_NUMBER = re.compile(r"(?:^|\n)[ \t>#|]*(?:[-+•*]\s+)?\(?\Z|\A\(?\Z")
_CITED = re.compile(r"(?:\[\^?|【)\Z")


@cache
def _series() -> re.Pattern[str]:
    words = "|".join(words_table()["ordered"]["words"].split())
    return re.compile(rf"(?<!\w)({words})\s#?\Z", re.IGNORECASE)


def _mark_order(text: str, readings: list[Reading], last: dict[str, float]) -> None:
    """Mark the numbers of lists, steps and sections that run in order: "1. Pay", "2. Ship", "step 3".

    A number is one if it is 1, or at most one more than the last of its series, which ``last`` has; its ``series``
    is "." or the word.
    """
    for reading in readings:
        if (
            reading.shape not in ("number", "order")
            or not reading.renderings
            or not text[reading.start : reading.end].isnumeric()
        ):
            continue
        series = ""
        if (
            (
                _LIST_NUMBER.search(text, max(0, reading.start - 12), reading.start)
                and _LIST_MARK.match(text, reading.end)
            )
            or (
                _LINE_NUMBER.search(text, max(0, reading.start - 12), reading.start)
                and (_LINE_MARK.match(text, reading.end) or not reading.text.isdecimal())
            )
            or ("." in last and _INLINE_MARK.match(text, reading.end) and text[reading.start - 1] == " ")
        ):
            series = "."
        elif not reading.units and (
            word := _series().search(text, max(0, reading.start - 14), reading.start)
        ):
            series = word[1].lower()
        elif (
            _CITED.search(text, max(0, reading.start - 2), reading.start)
            and text[reading.end : reading.end + 1] in ("]", "†")
            and not units_at(text, reading.end + 1)[0]
        ):
            series = "["
        if not series:
            continue
        value = reading.value
        if value == 1 or 0 < value - 1 <= last.get(series, 0):
            reading.shape, reading.series = "order", series
            last[series] = max(value, last.get(series, 0)) if value > 1 else 1


def _has_size(units: tuple[str, ...]) -> bool:
    """Return whether a text may write amounts in these units in thousands or millions: no shares and no times."""
    return not {"%", "pp", "bps", *TIME_UNITS}.intersection(units)


def _with_declared_unit(reading: Reading, layout: Layout) -> None:
    """Give a number the unit and the size that its label, header, row or heading says.

    "Cost in USD millions: 5" → 5,000,000 USD. A unit of its own stays, and gets the size if the label has that
    unit, too.
    """
    if reading.shape == "ordinal" or reading.moments:
        return
    declared = layout.declared(reading.place)
    if declared is None:
        return
    units, factor, per = declared
    if per and reading.units:
        divided = tuple(f"{unit}/{per}" for unit in reading.units if f"/{per}" not in unit)
        reading.units = divided or reading.units
    # A unit that came from the other end of a range ("10–15 km") yields to that of the label.
    keeps_own = bool(reading.units) and (reading.own_unit or not units)
    if units and not keeps_own:
        reading.units, reading.own_unit = units, False
    # "5 million" under "in millions" is not scaled again; nor are 5 kg under "Cost in USD millions", nor is 5 %.
    is_sized = set(units) & set(reading.units) if units else _has_size(reading.units)
    if not reading.is_rounded and (not keeps_own or is_sized):
        reading.renderings = tuple(element.scaled(factor) for element in reading.renderings)


# ------------------------------------------------------------------------------------------------- what is a code


_CHUNK = re.compile(r"#?[^\W_]+(?:[-_./:@#&=?+~]+[^\W_]+)*")
_LINK = re.compile(
    r"(?:https?://|www\.)[^\s<>()\[\]\"'|]*[^\s<>()\[\]\"'|.,;:!?]|(?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)+"
)
_PHONE = re.compile(words_table()["forms"]["telephone"])
_DOTTED = re.compile(r"\d+(?:\.\d+){2,}")
_GROUPED_BY_POINTS = re.compile(r"\d{1,3}(?:\.\d{3})+")
_PREFIXED = re.compile(r"(?:[a-z]{2,6}-|[A-Z]{3}|[x×])(?=\d)|[A-Z]?[a-z]{2,20}[:=]")
_RATIO = re.compile(r"\d+(?:\.\d+)?(?:[-/:x×+=]\d+(?:\.\d+)?)+(?:[^\W\d_]{1,3})?")
_HYPHENED = re.compile(r"(?:-[^\W\d_]{1,20})+")
_CALENDAR = re.compile(r"[-/]")


def _marked(text: str, start: int) -> Iterator[tuple[int, int, Shape, Mention | None]]:
    """Yield the places from ``start`` on that are no plain number by their form, with what they are: links, dates,
    ….
    """
    if any(text.find(mark, start) >= 0 for mark in (":/", "@", "www.")):
        for match in _LINK.finditer(text, start):
            if has_digit(match[0]):
                yield match.start(), match.end(), "code", None
    for match in _PARTED_TIME.finditer(text, start):
        if sum(part is not None for part in match.groups()) > 1:
            yield match.start(), match.end(), "number", None
    for match in (*_STOPWATCH.finditer(text, start), *_FEET.finditer(text, start)):
        yield match.start(), match.end(), "number", None
    for hits in moments(text, start):
        yield hits.start, hits.end, "moment", hits
    for match in _PHONE.finditer(text, start):
        digits = sum(char.isdecimal() for char in match[0])
        if 7 <= digits <= 34 and (
            match[0][0] in "+("
            or not match[0][0].isdecimal()
            or "-" in match[0]
            or "." in match[0]
            or digits == 16
        ):
            if match[0].count(".") != 1 and not _GROUPED_BY_POINTS.fullmatch(match[0]):
                yield match.start(), match.end(), "code", None
    for first, last in designated(text, start):
        yield first, last, "designation", None
    for match in () if text.isascii() else _other_numerals().finditer(text, start):
        yield match.start(), match.end(), "number", None


def _merged(
    text: str, spans: Sequence[tuple[int, int, Shape, Mention | None]], start: int
) -> Iterator[tuple[int, int, Shape, Mention | None]]:
    """Yield the places of all that has digits from ``start`` on, in order: what is marked, and the codes and
    numbers elsewhere.
    """
    ranks = {"number": -1, "moment": 0, "designation": 1}
    claimed_spans: list[tuple[int, int, Shape, Mention | None]] = []
    for span in sorted(spans, key=lambda span: (span[0], ranks.get(span[2], 2), -span[1])):
        if not claimed_spans or span[0] >= claimed_spans[-1][1]:
            claimed_spans.append(span)
    place = 0
    end = start
    for match in _CHUNK.finditer(text, start):
        if not has_digit(match[0]):
            continue
        while place < len(claimed_spans) and claimed_spans[place][1] <= match.start():
            if claimed_spans[place][0] >= end:
                yield claimed_spans[place]
                end = claimed_spans[place][1]
            place += 1
        if place < len(claimed_spans) and claimed_spans[place][0] < match.end():
            # What is marked begins in this word or before it; the rest of the word is read, too.
            if claimed_spans[place][0] > match.start() and has_digit(
                text[match.start() : claimed_spans[place][0]]
            ):
                for part in _in_chunk(text, match.start(), claimed_spans[place][0]):
                    if part[0] >= end:
                        yield part
                        end = part[1]
            while place < len(claimed_spans) and claimed_spans[place][0] < match.end():
                if claimed_spans[place][0] >= end:
                    yield claimed_spans[place]
                    end = claimed_spans[place][1]
                place += 1
            if end < match.end() and has_digit(text[end : match.end()]):
                for part in _in_chunk(text, end, match.end()):
                    yield part
                    end = max(end, part[1])
            continue
        for part in _in_chunk(text, match.start(), match.end()):
            if part[0] >= end:
                yield part
    for span in claimed_spans[place:]:
        if span[0] >= end:
            yield span
    return


def _in_chunk(text: str, start: int, end: int) -> Iterator[tuple[int, int, Shape, Mention | None]]:
    """Yield the place of the code that a word is ("A-48213"), or those of the numbers in it ("p95=2.41s" → 2.41)."""
    chunk = text[start:end]
    if chunk.isdecimal():
        yield start, end, "number", None
        return
    if "=" in chunk and "/" not in chunk:  # p95=2.41s
        for part in re.finditer(r"[^=]+", chunk):
            if has_digit(part[0]):
                yield from _in_chunk(text, start + part.start(), start + part.end())
        return
    if (duration := _DURATION.match(text, start)) is not None and duration.end() == end:  # PT1H30M
        yield start, end, "number", None
        return
    if _is_code(text, start, end):
        yield start, end, "code", None
        return
    for match in _DIGITS.finditer(text, start, end):
        yield match.start(), match.end(), "number", None


_DIGITS = re.compile(r"\d+(?:[.,'’]\d+)*|[¼-¾⅐-⅞]")


def _is_code(text: str, start: int, end: int) -> bool:
    """Return whether a piece of text is a code (``A-48213``, ``#12``), and not a number with what is glued to it
    (``500kWh``).
    """
    chunk = text[start:end]
    if chunk[0] == "#":
        return True
    prefix = _PREFIXED.match(chunk)
    if prefix is not None and not (prefix[0].isupper() and not currency_units(prefix[0])):
        return not _is_numeric(text, start + prefix.end(), end)
    return not _is_numeric(text, start, end)


def _is_numeric(text: str, start: int, end: int) -> bool:
    """Return whether a piece of text is a number with what is glued to it, and nothing else.

    Example: ``500kWh``, ``3rd``, ``1h30m``.
    """
    if not text[start : start + 1].isdecimal() and text[start] not in "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞":
        return False
    chunk = text[start:end]
    dotted = _DOTTED.match(chunk)
    if dotted and not _GROUPED_BY_POINTS.fullmatch(dotted[0]):  # 1.2.3 is a version, 1.234.567 a number
        return False
    if _RATIO.fullmatch(chunk):
        return True
    number = _NUMBER.match(text, start)
    if number is None:
        return False
    at = number.end()
    if at >= end or _HYPHENED.fullmatch(text[at:end]):
        return True
    if _ORDINAL.match(text, at) or text[at:end] in ("x", "s", "×"):
        return True
    _, trailing = _multipliers(text, at, True)
    if trailing >= end:
        return True
    units, unit_end = units_at(text, trailing)
    if units and unit_end >= end:
        return True
    if units and _NUMBER.match(text, unit_end):  # 1h30m
        return _is_numeric(text, unit_end, end)
    rest = text[(unit_end if units else trailing) : end]
    if rest[:1] == "/" and rest[1:].isalpha():
        return True
    return (
        rest[:1] in "-/"
        and _NUMBER.match(text, end - len(rest) + 1) is not None
        and _is_numeric(text, end - len(rest) + 1, end)
    )


@lru_cache(maxsize=1)
def _multiplying() -> re.Pattern[str]:
    return re.compile(words_table()["multiplying"]["behind"], re.IGNORECASE)


@lru_cache(maxsize=1)
def _multiplying_before() -> re.Pattern[str]:
    return re.compile(words_table()["multiplying"]["before"], re.IGNORECASE)

"""Dates and times in a text, each as far as it is said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from typing import NamedTuple

from gllint_runtime.policy.expressions import expression
from gllint_runtime.policy.text_units import words_table

_CENTURY = r"(?:19|20)\d\d"


class Moment(NamedTuple):
    """A date or a time; what is not said of it is ``None``."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    hour: int | None = None
    minute: int | None = None
    second: int | None = None
    quarter: int | None = None

    def is_part_of(self, other: Moment) -> bool:
        """Return whether all that is said of this one is said of ``other``; a quarter is that of a month, too."""
        for own, other_words in zip(self[:6], other[:6], strict=True):
            if own is not None and own != other_words:
                return False
        if self.quarter is None:
            return True
        return self.quarter == (other.quarter or (other.month and (other.month + 2) // 3))

    @property
    def has_date(self) -> bool:
        """Return whether a day of a month is said."""
        return self.month is not None and self.day is not None

    @property
    def has_time(self) -> bool:
        """Return whether an hour and its minute are said."""
        return self.hour is not None and self.minute is not None

    def is_real(self) -> bool:
        """False for what only looks like a date or a time: the 30th of February, 25:61."""
        if (self.hour or 0) > 24 or (self.minute or 0) > 59 or (self.second or 0) > 60:
            return False
        if self.month is None:
            return self.day is None or 1 <= self.day <= 31
        try:
            date(self.year or 2000, self.month, self.day or 1)
        except ValueError:
            return False
        return True

    @property
    def order(self) -> tuple[int, ...]:
        """By which moments are in order."""
        return tuple(
            part or 0
            for part in (
                self.year,
                self.month or (self.quarter or 0) * 3,
                self.day,
                self.hour,
                self.minute,
                self.second,
            )
        )

    @property
    def on(self) -> date | None:
        """The calendar day, where it is said in full."""
        if self.year is None or self.month is None or self.day is None:
            return None
        return date(self.year, self.month, self.day)


class Found(NamedTuple):
    """A moment at a place of a text; ``others`` are further readings of the same characters."""

    start: int
    end: int
    readings: tuple[Moment, ...]


@cache
def month_numbers() -> dict[str, int]:
    """Return the months by their names."""
    return {name: int(month) for month, names in words_table()["months"].items() for name in names.split()}


@cache
def weekday_numbers() -> dict[str, int]:
    """Return the days of the week by their names, Monday is 0."""
    return {name: int(day) for day, names in words_table()["weekdays"].items() for name in names.split()}


@cache
def _pattern() -> re.Pattern[str]:
    names = "|".join(sorted(month_numbers(), key=len, reverse=True))
    day = r"(?:0?[1-9]|[12]\d|3[01])"
    forms = "|".join(words_table()["moments"].values())
    parts = {"months": names, "century": _CENTURY, "day": day}
    return re.compile(re.sub(r"<(months|century|day)>", lambda match: parts[match[1]], forms), re.IGNORECASE)


_RANGE = re.compile(words_table()["forms"]["days behind"])
_RANGE_BEFORE = re.compile(
    r"(?<![\w.,/:-])(\d{1,2})(?:st|nd|rd|th|\.)?\s?(?:[-–—]|,|\band\b|\bto\b|\bund\b|\bbis\b|\bet\b|\bau\b)\s?$"
)
_TIME_BEFORE = re.compile(
    r"(?<![\w.,:/$€£-])(1[0-2]|0?[1-9])(?::([0-5]\d))?\s?(?:[-–—]|to|and|or|until)\s?\Z"
)
_YEAR = re.compile(rf",?\s+({_CENTURY})(?![\w]|[.,]\d)")


_BEGINNING = re.compile(r"\d+|[^\W\d_]+")


def _matches(text: str, begin: int) -> Iterator[re.Match[str]]:
    """Yield what looks like a date or a time: it begins with a digit, a month, or the letter of a quarter."""
    pattern, months, end = _pattern(), month_numbers(), begin
    for place in _BEGINNING.finditer(text, begin):
        start, word = place.start(), place[0]
        if start < end or not (
            word.isdecimal() or word.lower() in months or word in ("Q", "T", "FY", "q", "t", "fy")
        ):
            continue
        match = pattern.match(text, start)
        if match is not None:
            end = match.end()
            yield match


def moments(text: str, begin: int = 0) -> list[Found]:
    """Return the dates and times of a text from a place on, in order."""
    hits: list[Found] = []
    end = begin
    for match in _matches(text, begin):
        if match.start() < end:
            continue
        readings = tuple(moment for moment in _readings(match) if moment.is_real())
        if not readings:
            continue
        first = readings[0]
        if match["dm"] and (prior := _RANGE_BEFORE.search(text, end, match.start())) is not None:
            hits.append(Found(prior.start(1), prior.end(1), (first._replace(day=int(prior[1])),)))
        end = match.end()
        hits.append(Found(match.start(), end, readings))
        if (
            match["pp"]
            and (early := _TIME_BEFORE.search(text, max(begin, match.start() - 24), match.start()))
            is not None
        ):
            half = 12 if match["pp"].lower() == "p" else 0
            own = tuple(
                Moment(hour=int(early[1]) % 12 + extra, minute=int(early[2] or 0))
                for extra in dict.fromkeys((half, 0))
            )
            place = len(hits) - 1
            while place and hits[place - 1].end > early.start(1):
                place -= 1
                del hits[place]
            hits.insert(place, Found(early.start(1), early.end(2) if early[2] else early.end(1), own))
        if match["mm"]:  # December 5-7, 2026
            days: list[int] = []
            while (more := _RANGE.match(text, end)) is not None and 1 <= int(more[1]) <= 31:
                if not _is_day(text, more.end()):
                    break
                days.append(len(hits))
                end = more.end()
                hits.append(Found(more.start(1), more.end(1), (first._replace(day=int(more[1])),)))
            year = _YEAR.match(text, end) if days and first.year is None else None
            if year is not None:
                end = year.end()
                for place in (days[0] - 1, *days):
                    element = hits[place]
                    stop = end if place == days[-1] else element.end
                    hits[place] = Found(
                        element.start, stop, tuple(m._replace(year=int(year[1])) for m in element.readings)
                    )
    return hits


def _is_day(text: str, end: int) -> bool:
    """Return whether a number that ends there is no amount: no unit is behind it."""
    from gllint_runtime.policy.text_units import units_at

    return not units_at(text, end)[0]


def _readings(match: re.Match[str]) -> Iterator[Moment]:
    """Yield the dates and times that a match may mean."""
    part = match.groupdict()

    def number(name: str) -> int | None:
        return int(part[name]) if part[name] else None

    def month(name: str) -> int:
        return month_numbers()[part[name].lower()]

    if part["iy"]:
        yield Moment(number("iy"), number("im"), number("id"), number("ih"), number("in"), number("is"))
    elif part["yy"]:
        yield Moment(number("yy"), number("ym"))
    elif part["mm"]:
        yield Moment(number("my"), month("mm"), number("md"))
    elif part["dm"]:
        yield Moment(number("dy"), month("dm"), number("dd"))
    elif part["om"]:
        yield Moment(number("oy"), month("om"))
    elif part["na"]:
        year = int(part["ny"]) + (2000 if len(part["ny"]) == 2 else 0)
        first, second = int(part["na"]), int(part["nb"])
        pairs = [(second, first)] if part["nx"] == "." else [(first, second), (second, first)]
        yield from (Moment(year, element, two) for element, two in dict.fromkeys(pairs) if 1 <= element <= 12)
    elif part["ry"]:
        yield Moment(number("ry"), number("rm"), number("rd"))
    elif part["ga"]:
        yield Moment(None, number("gb"), number("ga"))
    elif part["ha"] or part["ia_"]:
        yield Moment(None, number("hb") or number("ib_"), number("ha") or number("ia_"))
    elif part["cy"]:
        yield Moment(number("cy"), number("cm"), number("cd"))
    elif part["jm"]:
        yield Moment(None, number("jm"), number("jd"))
    elif part["fy"]:
        yield Moment(int(part["fy"]) + (2000 if len(part["fy"]) == 2 else 0))
    elif part["qq"]:
        yield Moment(number("qy"), quarter=int(part["qq"][1]))
    elif part["xy"]:
        yield Moment(number("xy"), quarter=int(part["xq"][1]))
    elif part["ph"]:
        hour = int(part["ph"]) % 12 + (12 if part["pp"].lower() == "p" else 0)
        yield Moment(None, None, None, hour, number("pn") or 0, number("ps"))
    elif part["th"]:
        yield Moment(None, None, None, number("th"), number("tn"), number("ts"))
    elif part["uh"]:
        yield Moment(None, None, None, number("uh"), number("un") or number("um") or 0)
    elif part["fh"]:
        yield Moment(None, None, None, number("fh"), number("fn") or 0)


_SMALL_NUMBERS = ("a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SHIFT = expression(
    r"\b(?:(?:(?P<count>\d{1,3}|an?|"
    + "|".join(_SMALL_NUMBERS[1:])
    + r")\s+(?:more\s+|calendar\s+)?(?P<unit>days?|nights?|weeks?)|(?P<next>next|following)\s+(?:day|morning|week)"
    r"|(?P<last>previous|prior)\s+(?:day|night|week)|day\s+(?P<after>after|later)|day\s+(?P<before>before|earlier))"
    r"(?:\s+(?P<way>later|after|earlier|before|ago|sooner|from))?)\b",
    re.IGNORECASE,
)


def shifts(text: str) -> set[int]:
    """By how many days a text moves a date, either way where it does not say which."""
    days: set[int] = set()
    for match in _SHIFT.finditer(text):
        count = (match["count"] or "one").lower()
        number = (
            int(count) if count.isdecimal() else _SMALL_NUMBERS.index("a" if count == "an" else count) or 1
        )
        number *= 7 if "week" in match[0].lower() else 1
        way = (match["way"] or "").lower()
        is_later = match["next"] or match["after"] or way in ("later", "after", "from")
        is_earlier = match["last"] or match["before"] or way in ("earlier", "before", "ago", "sooner")
        days |= {number} if is_later else {-number} if is_earlier else {number, -number}
    return days

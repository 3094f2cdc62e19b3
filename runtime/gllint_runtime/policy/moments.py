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
        """Return whether ``other`` has all that this moment states.

        Example: "May 2024" is part of "5 May 2024", as is "Q2 2024".
        """
        for part, other_part in zip(self[:6], other[:6], strict=True):  # all but the quarter
            if part is not None and part != other_part:
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
        """Return whether the calendar and the clock have this moment: not for the 30th of February, or 25:61."""
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
        """The parts from year to second as a tuple to sort by; a quarter counts as its last month, a missing part as
        0.
        """
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


class Mention(NamedTuple):
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
_EARLIER_DAY = re.compile(
    r"(?<![\w.,/:-])(\d{1,2})(?:st|nd|rd|th|\.)?\s?(?:[-–—,]|\b(?:and|to|und|bis|et|au|y|al|e|a|en|tot)\b)\s?"
    r"(?:([^\W\d_]{2,10})\.?,?\s)?$"
)
_EARLIER_TIME = re.compile(
    r"(?<![\w.,:/$€£-])(1[0-2]|0?[1-9])(?::([0-5]\d))?\s?(?:[-–—]|to|and|or|until)\s?\Z"
)
_YEAR = re.compile(rf",?\s+({_CENTURY})(?![\w]|[.,]\d)")


_BEGINNING = re.compile(r"\d+|[^\W\d_]+")


def _matches(text: str, begin: int) -> Iterator[re.Match[str]]:
    """Yield the stretches of a text, from ``begin`` on, that look like a date or a time.

    Example: "5 May 2024", "14:30", "Q3 2023".

    The expression is slow: it is only tried where a digit, the name of a month, or the letter of a quarter begins.
    """
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


def moments(text: str, begin: int = 0) -> list[Mention]:
    """Return the dates and times of a text from ``begin`` on, in order.

    "5 May 2024" is one. "December 5-7, 2026" is two, the year being that of both; "3 to 5 pm" is two times.
    """
    hits: list[Mention] = []
    end = begin
    for match in _matches(text, begin):
        if match.start() < end:
            continue
        readings = tuple(moment for moment in _readings(match) if moment.is_real())
        if not readings:
            continue
        # 5 to 7 December, Friday 5 to Sunday 7 December
        prior = _EARLIER_DAY.search(text, end, match.start()) if match["dm"] else None
        if prior is not None and (prior[2] is None or prior[2].lower() in weekday_numbers()):
            hits.append(Mention(prior.start(1), prior.end(1), (readings[0]._replace(day=int(prior[1])),)))
        end = match.end()
        hits.append(Mention(match.start(), end, readings))
        if match["pp"]:
            _add_earlier_time(text, match, hits, begin)
        if match["mm"]:
            end = _add_further_days(text, readings[0], hits)
    return hits


def _add_earlier_time(text: str, match: re.Match[str], hits: list[Mention], begin: int) -> None:
    """Add the first time of "3 to 5 pm" before the last of ``hits``, the second, which is that of ``match``.

    It is read with the "pm" and without: "11 to 2 pm".
    """
    early = _EARLIER_TIME.search(text, max(begin, match.start() - 24), match.start())
    if early is None:
        return
    half = 12 if match["pp"].lower() == "p" else 0
    readings = tuple(
        Moment(hour=int(early[1]) % 12 + extra, minute=int(early[2] or 0))
        for extra in dict.fromkeys((half, 0))
    )
    place = len(hits) - 1
    while place and hits[place - 1].end > early.start(1):  # "3:30" was read as a time of its own
        place -= 1
        del hits[place]
    hits.insert(place, Mention(early.start(1), early.end(2) if early[2] else early.end(1), readings))


def _add_further_days(text: str, first: Moment, hits: list[Mention]) -> int:
    """Add the further days of "December 5-7, 2026" to ``hits``, whose last is ``first``; return where they end.

    A year behind them is that of each.
    """
    end, days = hits[-1].end, [len(hits) - 1]
    while (further := _RANGE.match(text, end)) is not None and 1 <= int(further[1]) <= 31:
        if not _is_day(text, further.end()):
            break
        days.append(len(hits))
        end = further.end()
        hits.append(Mention(further.start(1), further.end(1), (first._replace(day=int(further[1])),)))
    year = _YEAR.match(text, end) if len(days) > 1 and first.year is None else None
    if year is not None:
        end = year.end()
        for place in days:
            day = hits[place]
            stop = end if place == days[-1] else day.end
            hits[place] = Mention(
                day.start, stop, tuple(moment._replace(year=int(year[1])) for moment in day.readings)
            )
    return end


def _is_day(text: str, end: int) -> bool:
    """Return whether a number that ends there is no amount: no unit is behind it."""
    from gllint_runtime.policy.text_units import units_at

    return not units_at(text, end)[0]


def _readings(match: re.Match[str]) -> Iterator[Moment]:
    """Yield the dates and times that a match may mean: one for "2024-05-03", two for "3/5/2024" (3 May, March 5).

    Of a group's name the first letter is the form, in ``[moments]`` of ``reader.txt``, the second the part (``iy``).
    """
    part = match.groupdict()

    def number(name: str) -> int | None:
        return int(part[name]) if part[name] else None

    def month(name: str) -> int:
        return month_numbers()[part[name].lower()]

    if part["iy"]:  # 2024-05-03T10:00
        yield Moment(number("iy"), number("im"), number("id"), number("ih"), number("in"), number("is"))
    elif part["yy"]:  # 2024-05
        yield Moment(number("yy"), number("ym"))
    elif part["mm"]:  # May 3, 2024
        yield Moment(number("my"), month("mm"), number("md"))
    elif part["dm"]:  # 3 May 2024
        yield Moment(number("dy"), month("dm"), number("dd"))
    elif part["om"]:  # May 2024
        yield Moment(number("oy"), month("om"))
    elif part["na"]:  # 3/5/2024, which may be a day of May or of March, and 3.5.2024, which is one of May
        year = int(part["ny"]) + (2000 if len(part["ny"]) == 2 else 0)
        first, second = int(part["na"]), int(part["nb"])
        pairs = [(second, first)] if part["nx"] == "." else [(first, second), (second, first)]
        yield from (Moment(year, *pair) for pair in dict.fromkeys(pairs) if 1 <= pair[0] <= 12)
    elif part["ry"]:  # 2024/5/3
        yield Moment(number("ry"), number("rm"), number("rd"))
    elif part["ga"]:  # 03.05.
        yield Moment(None, number("gb"), number("ga"))
    elif part["ha"] or part["ia_"]:  # am 3.5., bis 3.5.
        yield Moment(None, number("hb") or number("ib_"), number("ha") or number("ia_"))
    elif part["cy"]:  # 2024年5月3日
        yield Moment(number("cy"), number("cm"), number("cd"))
    elif part["jm"]:  # 5月3日
        yield Moment(None, number("jm"), number("jd"))
    elif part["fy"]:  # FY 24
        yield Moment(int(part["fy"]) + (2000 if len(part["fy"]) == 2 else 0))
    elif part["qq"]:  # Q2 2024
        yield Moment(number("qy"), quarter=int(part["qq"][1]))
    elif part["xy"]:  # 2024-Q2
        yield Moment(number("xy"), quarter=int(part["xq"][1]))
    elif part["ph"]:  # 3:30 pm
        hour = int(part["ph"]) % 12 + (12 if part["pp"].lower() == "p" else 0)
        yield Moment(None, None, None, hour, number("pn") or 0, number("ps"))
    elif part["th"]:  # 15:30
        yield Moment(None, None, None, number("th"), number("tn"), number("ts"))
    elif part["uh"]:  # 15 Uhr 30
        yield Moment(None, None, None, number("uh"), number("un") or number("um") or 0)
    elif part["fh"]:  # 15h30
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
    """Return by how many days a text moves a date.

    "three days later" → ``{3}``, "a week" → ``{7, -7}`` (either way).
    """
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

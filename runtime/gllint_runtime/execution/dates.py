"""Dates and times of day as people and programs write them, to be compared whatever their form."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple, TypeAlias

from gllint_runtime.policy.expressions import expression

Day: TypeAlias = tuple[int | None, int, int]
"""Year (``None`` where it is not said), month, day; or ``(None, -1 - hour, minute)`` for a time of day."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?:,?\s+(?P<year>\d{4})(?!\d))?"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"(?<![\w.])(?P<year>\d{4})(?P<sign>[-/.])(?P<number>\d{1,2})(?P=sign)(?P<day>\d{1,2})(?!\d)",
        r"(?<![\w.])(?P<first>\d{1,2})(?P<sign>[-/.])(?P<second>\d{1,2})(?P=sign)(?P<year>\d{4})(?![\w])",
        r"(?<![\w./])(?P<first>\d{1,2})/(?P<second>\d{1,2})(?![\w/])",
        rf"\b{_MONTH}\s*{_DAY}(?![\w:]){_YEAR}",
        rf"(?<![\w.]){_DAY}\s*(?:of\s+)?(?:-)?{_MONTH}{_YEAR}",
        r"(?<![\w:.])(?P<hour>\d{1,2})(?::(?P<minute>\d{2})(?::\d{2})?)?\s?(?P<half>[ap])\.?m\b",
        r"(?<![\w:.])(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\s?(?:o'clock\s)?\s?in\sthe\s"
        r"(?:(?P<late>afternoon|evening)|morning)\b",
        r"(?<![\w:.])(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::\d{2})?(?![\w:])",
        r"(?<=\dT)(?P<hour>\d{2}):(?P<minute>\d{2})(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?",
    )
)


_COUNT = r"(?P<count>an?|one|two|three|four|five|six|seven|\d{1,3})"
_SHIFTS = expression(
    rf"\b(?:(?P<day>next\s+day|following\s+day|day\s+after|tomorrow|previous\s+day|prior\s+day|day\s+before"
    rf"|yesterday)"
    rf"|for\s+(?P<stay>an?|one|two|three|four|five|six|seven|\d{{1,3}})\s+(?P<unit3>days?|nights?|weeks?)"
    rf"|{_COUNT}\s+(?P<unit>days?|weeks?)\s+"
    rf"(?P<way>earlier|later|before|after|back|ahead|forward|sooner|from|prior|ago)"
    rf"|(?P<lead>back|forward|ahead|up|by|in)\s+(?P<other>an?|one|two|three|four|five|six|seven|\d{{1,3}})\s+"
    rf"(?P<unit2>days?|weeks?))\b",
    re.IGNORECASE,
)
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}
_LATER = frozenset(
    {"next", "following", "tomorrow", "after", "later", "ahead", "forward", "from", "in", "for"}
)
_EARLIER = frozenset({"previous", "prior", "yesterday", "before", "earlier", "sooner", "ago"})
# "Back", "up" and "by" move a date either way: who pushes a meeting back holds it later.
_LEAP_YEAR = 2000


def shifts(text: str) -> set[int]:
    """By how many days a text moves a date: 1 for "the next day", -2 for "two days earlier"."""
    days: set[int] = set()
    for match in _SHIFTS.finditer(text):
        count = (match["count"] or match["other"] or match["stay"] or "one").lower()
        number = _COUNTS[count] if count in _COUNTS else int(count)
        unit = (match["unit"] or match["unit2"] or match["unit3"] or "day").lower()
        number *= 7 if unit.startswith("week") else 1
        words = {*(match["day"] or match["way"] or match["lead"] or "for").lower().split()}
        if not words & _EARLIER:
            days.add(number)
        if not words & _LATER:
            days.add(-number)
        if words >= {"day", "after"} and "tomorrow" in text.lower():
            days.add(2)
        if words >= {"day", "before"} and "yesterday" in text.lower():
            days.add(-2)
    return days


def moved(day: Day, shift: int) -> Day | None:
    """A day of a known year that many days later; ``None`` where there is none."""
    year, month, number = day
    if year is None:
        return None
    try:
        other = date(year, month, number) + timedelta(days=shift)
    except (ValueError, OverflowError):
        return None
    return other.year, other.month, other.day


_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY = expression(r"\b(mon|tues|wednes|thurs|fri|satur|sun)day\b", re.IGNORECASE)
_WHOLE_MONTH = expression(
    rf"\b{_MONTH}[,\s]\s*(?:of\s+)?(?P<year>\d{{4}})(?!\d)|\b(?P<first>\d{{4}})-(?P<second>\d{{2}})\b(?!-)",
    re.IGNORECASE,
)


def weekdays(text: str) -> set[int]:
    """The days of the week that a text names, Monday as 0."""
    return {_WEEKDAYS.index(match[1][:3].lower()) for match in _WEEKDAY.finditer(text)}


def weekday(day: Day) -> int | None:
    """The day of the week of a day whose year is known; ``None`` for any other, and in the year 0."""
    year, month, number = day
    return date(year, month, number).weekday() if year else None


def months(text: str) -> Iterator[Day]:
    """The first and the last day of each month that a text names with its year ("since July 2022")."""
    for match in _WHOLE_MONTH.finditer(text):
        year = int(match["year"] or match["first"])
        month = _MONTHS.index(match["month"][:3].lower()) + 1 if match["month"] else int(match["second"])
        if 1 <= month <= 12:
            yield year, month, 1
            yield year, month, _days(year, month)


class Date(NamedTuple):
    """A date or a time at a place of a text; ``readings`` are those that it may mean (``5/6/2024`` two), or none."""

    start: int
    end: int
    readings: tuple[Day, ...]


def dates(text: str) -> list[Date]:
    """The dates and the times of a text, in order and without overlap; what only looks like one has no readings."""
    candidates = sorted(
        (Date(*match.span(), tuple(_readings(match))) for form in _FORMS for match in form.finditer(text)),
        key=lambda place: (place.start, -place.end),
    )
    places: list[Date] = []
    for place in candidates:
        if not places or place.start >= places[-1].end:
            places.append(place)
    return places


def _readings(match: re.Match[str]) -> Iterator[Day]:
    groups = match.groupdict()
    if groups.get("hour"):
        hour, minute = int(groups["hour"]), int(groups.get("minute") or 0)
        if groups.get("half"):
            if not 1 <= hour <= 12:
                return
            hour = hour % 12 + (12 if groups["half"].lower() == "p" else 0)
        elif groups.get("late") and hour < 12:
            hour += 12
        if hour < 24 and minute < 60:
            yield None, -1 - hour, minute
        return
    year = int(groups["year"]) if groups.get("year") else None
    if groups.get("first"):
        first, second = int(groups["first"]), int(groups["second"])
        pairs = [(first, second), (second, first)] if first != second else [(first, second)]
    elif groups.get("month"):
        pairs = [(_MONTHS.index(groups["month"][:3].lower()) + 1, int(groups["day"]))]
    else:
        pairs = [(int(groups["number"]), int(groups["day"]))]
    yield from (
        (year, month, day) for month, day in pairs if 1 <= month <= 12 and 1 <= day <= _days(year, month)
    )


def _days(year: int | None, month: int) -> int:
    """How many days a month has; in a year that is not said, as many as it may have."""
    return monthrange(_LEAP_YEAR if year is None else year, month)[1]

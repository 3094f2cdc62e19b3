"""Lists of numbers that have a day, an hour or a month each: it follows from the first one and the step."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from typing import Any

from gllint_runtime.policy.names import name_words
from gllint_runtime.policy.text_units import size_of_unit, table_words, unit_of_text
from gllint_runtime.provenance.stated_units import is_number

_MOST = 2_000
_STEP = re.compile(r"(?:PT?)?(\d{1,4})?\s?([A-Za-z]+)")
_STEPS = (*(timedelta(minutes=minutes) for minutes in (1440, 60, 30, 15)),)

Day = date | datetime


def series_of(node: Mapping[Any, Any], arguments: Mapping[str, Any]) -> tuple[list[str], list[str]] | None:
    """The members of an object that are such lists, and the day or time of each item of them."""
    lists = {
        str(name): value
        for name, value in node.items()
        if isinstance(value, (list, tuple)) and 2 < len(value) <= _MOST and all(map(is_number, value))
    }
    lengths = {len(value) for value in lists.values()}
    if len(lengths) != 1:
        return None
    (length,) = lengths
    first = _day(node, "starts of series")
    if first is None:
        return None
    last = _day(node, "ends of series") or _day(arguments, "ends of series")
    step = _step_of(node, lists) or _step_of(arguments, lists)
    try:
        days = [*_days(first, last, step, length)]
    except (OverflowError, TypeError):  # beyond the year 9999; one end has a zone, and the other none
        return None
    return ([*lists], days) if len(days) == length else None


def _days(first: Day, last: Day | None, step: timedelta | None, length: int) -> Iterator[str]:
    """The days or times of items; none where nothing says how far they are apart."""
    if step is None and last is not None and isinstance(first, datetime) == isinstance(last, datetime):
        span = last - first
        step = next((own for own in _STEPS if span in (own * length, own * (length - 1))), None)
    if step is None:
        return
    is_timed = step < timedelta(days=1)
    if is_timed and not isinstance(first, datetime):
        first = datetime(first.year, first.month, first.day)
    for number in range(length):
        day = first + number * step
        yield day.isoformat(timespec="minutes") if isinstance(day, datetime) else day.isoformat()


def _day(node: Mapping[Any, Any], section: str) -> Day | None:
    """The day or time of the member that is called the start, or the end."""
    for key, value in node.items():
        words = [word for word in name_words(str(key)) if word not in ("date", "time", "day", "at", "period")]
        if not isinstance(value, str) or len(words) != 1 or words[0] not in table_words(section):
            continue
        try:
            return date.fromisoformat(value) if len(value) == 10 else datetime.fromisoformat(value)
        except ValueError:
            continue
    return None


def _step_of(node: Mapping[Any, Any], lists: Mapping[str, Any]) -> timedelta | None:
    """The step that a member says: ``{"interval": "1h"}``, ``interval_seconds``, ``daily_kwh``."""
    for key, value in node.items():
        words = name_words(str(key))
        if table_words("steps of series").isdisjoint(words):
            continue
        if isinstance(value, str) and (match := _STEP.fullmatch(value)) is not None:
            return _times(int(match[1] or 1), match[2])
        if is_number(value) and len(words) > 1:
            return _times(value, words[-1])
    names = {word for key in lists for word in name_words(key)}
    return _times(1, "day") if "daily" in names else _times(1, "h") if "hourly" in names else None


def _times(count: float, unit: str) -> timedelta | None:
    name = {"daily": "day", "hourly": "h", "weekly": "week"}.get(unit.lower(), unit)
    units = unit_of_text(name if len(name) > 1 else name.lower())
    size, second = size_of_unit(units[0]), size_of_unit("s")
    if size is None or second is None or size.dimension != second.dimension or not count:
        return None
    seconds = count * size.factor / second.factor
    return timedelta(seconds=seconds) if 60 <= seconds <= 7 * 86400 else None

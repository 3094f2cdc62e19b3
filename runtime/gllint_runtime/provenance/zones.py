"""The zones of time that a conversation shows, and the local times of what its outputs give in UTC."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache

from gllint_runtime.policy.moments import Moment
from gllint_runtime.policy.names import name_words
from gllint_runtime.policy.text_units import words_table

_OFFSET = re.compile(r"(?:UTC|GMT)\s?([+\-−–])(\d{1,2})(?::?([0-5]\d))?(?!\d)")
_NAMED = re.compile(
    r"(?<![\w/])(?:Africa|America|Asia|Atlantic|Australia|Europe|Indian|Pacific)(?:/[A-Za-z_]{2,30}){1,2}"
)
_SUFFIX = re.compile(r"\d\d:?\d\d(?::?\d\d(?:[.,]\d{1,9})?)?\s?(Z|UTC|[+-]\d\d:?\d\d)\Z")
_ABBREVIATION = re.compile(r"\s?\(?([A-Z]{2,4}Z?)(?![^\W_])")


def zones_in(text: str) -> Iterator[tzinfo]:
    """The zones that a text says: "UTC-7", ``America/Denver``."""
    for match in _OFFSET.finditer(text):
        yield _offset(match[1], match[2], match[3])
    for name in _NAMED.findall(text):
        if (zone := _zone(name)) is not None:
            yield zone


def zone_of_number(key: str, value: float) -> tzinfo | None:
    """The zone that a number of a key is: ``utc_offset_seconds``, ``gmtoffset``."""
    words = "".join(name_words(key))
    if "offset" not in words or not any(part in words for part in ("utc", "gmt", "zone", "tz")):
        return None
    seconds = value * (3600 if abs(value) <= 14 else 60 if abs(value) <= 840 else 1)
    return timezone(timedelta(seconds=seconds)) if abs(seconds) <= 14 * 3600 else None


def zone_of_time(text: str) -> tzinfo | None:
    """The zone that is written behind a time: ``2026-01-08T13:53:00-07:00``."""
    match = _SUFFIX.search(text)
    if match is None:
        return None
    if match[1] in ("Z", "UTC"):
        return UTC
    zone = _offset(match[1][0], match[1][1:3], match[1][-2:])
    return zone if zone.utcoffset(None) else UTC


def local_time(moment: Moment, zone: tzinfo) -> Moment | None:
    """A moment of UTC in a zone."""
    if moment.on is None or moment.hour is None or moment.minute is None:
        return None
    when = datetime(
        *moment.on.timetuple()[:3], moment.hour % 24, moment.minute, moment.second or 0, tzinfo=UTC
    )
    own = when.astimezone(zone)
    return Moment(
        own.year, own.month, own.day, own.hour, own.minute, None if moment.second is None else own.second
    )


def hours_of_zone(text: str, at: int) -> list[float]:
    """By how many hours the zone may differ from UTC whose abbreviation is typed at a place: "6:53 a.m. MST"."""
    match = _ABBREVIATION.match(text, at)
    hours = words_table()["zones"].get(match[1].lower(), "") if match is not None else ""
    return [*map(float, hours.split())]


def _offset(sign: str, hours: str, minutes: str | None) -> tzinfo:
    seconds = int(hours) * 3600 + int(minutes or 0) * 60
    return timezone(timedelta(seconds=min(seconds, 14 * 3600) * (1 if sign == "+" else -1)))


@lru_cache(maxsize=256)
def _zone(name: str) -> tzinfo | None:
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):  # not known on this machine
        return None

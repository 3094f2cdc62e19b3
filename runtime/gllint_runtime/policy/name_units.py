"""Every unit that a name may mean where it can only contradict another one: more than a repair may say.

:func:`~gllint_runtime.policy.key_units.readings_of_name` reads what is safe to write into somebody's code. Here single
letters count, too, where another word of the name says what is measured (``power_w``, ``temp_c``), and rates without a
"per" (``discharge_m3_s``).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

from gllint_runtime.policy.allowlist import TIME_UNITS
from gllint_runtime.policy.data_files import sections
from gllint_runtime.policy.key_units import (
    announced_dimension,
    dividends_of,
    divisors_of,
    is_unit_word,
    name_words,
    readings_of_name,
)
from gllint_runtime.policy.packs import pack_units

_LONGEST = 200
_OPERATOR = re.compile(r"([*/])")
_STREAMS = frozenset({"flow", "speed", "rate", "discharge", "wind", "pump", "velocity", "gust", "gusts"})
_FLOWING = frozenset({"length", "area", "volume", "mass", "data", "energy", "emissions", "substance"})


class _Table(NamedTuple):
    letters: dict[str, tuple[str, frozenset[str]]]
    first_letters: dict[str, tuple[str, frozenset[str]]]
    times: dict[str, str]
    glued: dict[str, tuple[str, ...]]
    parts: dict[str, str]
    parts_with: dict[str, tuple[str, frozenset[str]]]
    no_parts: frozenset[str]
    periods: dict[str, str]
    calendar: frozenset[str]
    miswritten: dict[str, str]


@cache
def _table() -> _Table:
    rows = sections("unit_letters.txt")

    def needing(section: str) -> dict[str, tuple[str, frozenset[str]]]:
        table = {}
        for head, words in rows[section].items():
            end, _, unit = head.partition(" ")
            table[end] = unit, frozenset(words.split())
        return table

    return _Table(
        letters=needing("letters"),
        first_letters=needing("first letters"),
        times=dict(rows["times"]),
        glued={
            end: tuple(unit.replace(" ", "/") for unit in units.split(" | "))
            for end, units in rows["glued"].items()
        },
        parts=dict(rows["parts"]),
        parts_with=needing("parts with"),
        no_parts=frozenset(rows["no parts"]["words"].split()),
        periods=dict(rows["periods"]),
        calendar=frozenset(rows["calendar"]["words"].split()),
        miswritten=dict(rows["miswritten"]),
    )


@lru_cache(maxsize=16384)
def all_readings_of_name(name: str) -> tuple[str, ...]:
    """Every unit that the end of a name may mean: ``power_w`` gives ``("W",)``, ``discharge_m3_s`` ``("m3/s",)``."""
    if len(name) > _LONGEST:
        return ()
    words = [word.lower() for word in name_words(name)]
    readings = _without_pairs(readings_of_name(name)) or _further_readings(words)
    readings = tuple(dict.fromkeys((*readings, *filter(None, map(_as_meant, readings)))))
    periods = dict.fromkeys(_table().periods[word] for word in words if word in _table().periods)
    each = (f"{unit}/{time}" for time in periods for unit in readings if "/" not in unit)
    return (*readings, *each)


@lru_cache(maxsize=4096)
def argument_readings_of_name(name: str) -> tuple[str, ...]:
    """Every unit in which an argument may be taken by its name: ``amount_cents`` in the cents of each currency."""
    return tuple(unit for reading in all_readings_of_name(name) for unit in _parts().get(reading, (reading,)))


@cache
def _parts() -> dict[str, tuple[str, ...]]:
    """The parts of each currency that a name leaves open: ``cent``, ``milliunit``, ``microunit``."""
    parts: dict[str, tuple[str, ...]] = {}
    for unit in pack_units(("currencies",)):
        _, _, end = unit.partition("_")
        if end:
            part = {"milli": "milliunit", "micro": "microunit"}.get(end, "cent")
            parts[part] = (*parts.get(part, ()), unit)
    return parts


def _as_meant(unit: str) -> str | None:
    """The unit that is meant as often where one is written so: ``lb/MWh`` by ``lbs_per_mWh``."""
    parts = _OPERATOR.split(unit)
    meant = "".join(_table().miswritten.get(part, part) for part in parts)
    return meant if meant != unit else None


@lru_cache(maxsize=4096)
def is_unit_itself(name: str) -> bool:
    """Whether a name in capitals is that of a unit and of nothing else: ``KM = 1000``, ``LengthUnit.METERS``."""
    return name.isupper() and len(name_words(name)) == 1 and bool(readings_of_name(name))


@lru_cache(maxsize=4096)
def mentions_unit(name: str) -> bool:
    """Whether a reader of a name may see its unit there, though nobody can be sure: ``days_back``, ``rating_mva``."""
    words = [word.lower() for word in name_words(name)]
    is_timed = any(word in _table().calendar for word in words)
    return is_timed or (len(words) > 1 and is_unit_word(words[-1]))


def _without_pairs(units: tuple[str, ...]) -> tuple[str, ...]:
    """The quotients alone, where something that flows stands before a time: nobody multiplies m3 by s."""
    flows = tuple(unit for unit in units if "/" in unit)
    is_flow = flows and all(
        "*" not in unit or (unit.count("*") == 1 and _is_flow(*unit.split("*"))) for unit in units
    )
    return flows if is_flow else units


def _is_flow(first: str, second: str) -> bool:
    return second in TIME_UNITS and announced_dimension(first) in ("area", "volume")


def _further_readings(words: list[str]) -> tuple[str, ...]:
    """The readings that only a second word makes likely."""
    *head, last = words or [""]
    table = _table()
    if "per" in head:
        return _priced(words)
    if last in table.parts:
        return () if head and head[-1] in table.no_parts else (table.parts[last],)
    if not head:
        return ()
    if last in table.parts_with:
        part, needed = table.parts_with[last]
        return (part,) if needed.intersection(head) else ()
    if last in table.glued and (head[-1] not in table.times):
        return table.glued[last] if _STREAMS & {*head} else ()
    if last in table.times and len(head) > 1:
        rate = _rate(head, table.times[last])
        if rate:
            return rate
    unit, needed = table.letters.get(last, ("", frozenset()))
    return (unit,) if needed.intersection(head) else ()


def _rate(words: list[str], time: str) -> tuple[str, ...]:
    """So much in a time: ``discharge_m3_s``."""
    units = readings_of_name("_".join(words))
    if units and all(announced_dimension(unit) in _FLOWING for unit in units):
        return tuple(f"{unit}/{time}" for unit in units)
    unit, needed = _table().first_letters.get(words[-1], ("", frozenset()))
    return (f"{unit}/{time}",) if needed.intersection(words[:-1]) else ()


def _priced(words: list[str]) -> tuple[str, ...]:
    """A quotient whose divisor has two readings: ``price_eur_per_mwh``."""
    split = words.index("per")
    units = dividends_of(words[:split]) or _further_readings(words[:split])
    divisors = readings_of_name("_".join(["x", *words[split + 1 :]])) or divisors_of(words[split + 1 :])
    return tuple(f"{unit}/{divisor}" for unit in units for divisor in divisors if divisor is not None)

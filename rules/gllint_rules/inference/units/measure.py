"""What is known of the unit of an expression: a number in a unit, or a bare number."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, TypeAlias

from msgspec import Struct

from gllint_runtime.policy.names import is_unit_itself, read_name
from gllint_runtime.policy.unit_expressions import Factors
from gllint_runtime.policy.unit_sizes import factors_of_unit, product, size_of
from gllint_runtime.policy.unit_spellings import spelling_of
from gllint_runtime.policy.unit_table import TIME_UNITS, pack_units

_MOST_READINGS = 6

Role: TypeAlias = Literal["number", "unit", "quantity", "factor", "percent of"]


class Measure(Struct, frozen=True):
    """A number, or an array of numbers, in a unit; where that can be read in several ways, all of them.

    ``loose`` where a literal or a count took part that may have a unit of its own: such a number may well be of
    another dimension. ``is_difference`` of a temperature that has no zero. ``is_whole`` where no "per" can be left
    out, as names do (`load_mmbtu` for one in MMBtu/h): of units that are written out, and of what is divided.
    ``is_either`` of one of several numbers: then each of the readings may be that of the one that is there, where a
    name that can be read in several ways has one meaning.

    Other roles than ``number``: a ``unit`` of pint or astropy, and a ``quantity`` of theirs, which converts itself; a
    ``factor`` between two units, by its name; a number times a percentage before it is divided by 100 (``percent of``).
    """

    readings: tuple[Factors, ...]
    loose: bool = False
    is_difference: bool = False
    is_whole: bool = False
    is_either: bool = False
    role: Role = "number"


class Factor(Struct, frozen=True):
    """A bare number that is written out, ``value`` where it is one alone; or how many there are of something."""

    value: float | None
    is_count: bool = False


Meaning: TypeAlias = "Measure | Factor | None"

COUNT = Factor(None, is_count=True)
RATIO = Measure(((),))


def number_in_unit(meaning: Meaning) -> Measure | None:
    """Return the number in a known unit that an expression is."""
    return meaning if isinstance(meaning, Measure) and meaning.role == "number" else None


def measure_of_unit(unit: str) -> Measure:
    """Return a number in a unit that is written out."""
    return Measure((factors_of_unit(unit),), is_whole=True)


def measure_of_text(text: str | None) -> Measure | None:
    """Return the measure of a number whose unit is this text; ``None`` if the size of the unit is unknown."""
    if not text:
        return None
    unit = factors_of_unit(text)
    if unit and size_of(unit) is not None:
        return Measure((unit,), is_whole=True)
    meant = spelling_of(text).meant
    return measure_of_unit(meant) if meant else None


@lru_cache(maxsize=8192)
def measure_of_name(name: str) -> Measure | None:
    """Return the measure of a number whose name ends in a unit."""
    units = read_name(name).readings
    if not units or (len(units) > 1 and any(_is_pair(unit) for unit in units)):
        return None  # `eur_usd`, `wh_co2e`: which way it goes is open, and whether it is a unit at all
    counted = pack_units(("counts",))
    readings = tuple(map(factors_of_unit, units))
    bare = tuple(tuple((name, power) for name, power in unit if name not in counted) for unit in readings)
    if not all(bare):
        return None
    return Measure(bare, loose=bare != readings)  # `steps_per_hour`: what is counted has no unit


@lru_cache(maxsize=8192)
def meaning_of_name(name: str) -> Meaning:
    """Read the end of a name: a number in a unit, a factor between two units, or how many of something."""
    measure = measure_of_name(name)
    if measure is not None:
        return measure
    reading = read_name(name)
    if reading.factor is not None:
        source, target = map(factors_of_unit, reading.factor)
        return Measure((product((target, 1), (source, -1)),), role="factor")
    return COUNT if reading.kind == "count" or reading.unit in pack_units(("counts",)) else None


def announced_by(name: str) -> Measure | None:
    """The number whose unit the name of a variable or an attribute says; one that is a unit itself says none."""
    return None if is_unit_itself(name) else measure_of_name(name)


def _is_pair(unit: str) -> bool:
    """Return whether a reading is a product of two units, time aside (`flow_m3_h`)."""
    return "*" in unit and unit.rpartition("*")[2] not in TIME_UNITS


def join(first: Meaning, second: Meaning) -> Meaning:
    """Return what two measures have in common."""
    if first == second:
        return first
    match first, second:
        case Measure(role="number"), Factor():
            return first if not second.is_count else None  # `total = 0` before the loop
        case Factor(), Measure(role="number"):
            return second if not first.is_count else None
        case Factor(is_count=False), Factor(is_count=False):
            return Factor(None)
        case Measure(), Measure() if first.role == second.role in ("number", "quantity"):
            return with_readings(
                (*first.readings, *second.readings),
                first.loose or second.loose,
                first.is_difference and second.is_difference,
                first.is_whole and second.is_whole,
                first.is_either or second.is_either or first.readings != second.readings,
                first.role,
            )
        case _:
            return None


def joined(meanings: Iterable[Meaning]) -> Meaning:
    """Return what is true of any of several: unknown if there are none or one is unknown, after which it stops."""
    result: Meaning = None
    for i, meaning in enumerate(meanings):
        result = join(result, meaning) if i else meaning
        if result is None:
            return None
    return result


def with_readings(
    readings: Iterable[Factors],
    loose: bool,
    is_difference: bool = False,
    is_whole: bool = False,
    is_either: bool = False,
    role: Role = "number",
) -> Measure | None:
    """Return a measure with these readings, each once; unknown if there are too many."""
    each = tuple(dict.fromkeys(readings))
    if not 0 < len(each) <= _MOST_READINGS:
        return None
    return Measure(each, loose, is_difference, is_whole, is_either and len(each) > 1, role)

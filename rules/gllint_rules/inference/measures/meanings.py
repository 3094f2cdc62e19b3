"""What is known of an expression: a number in a unit, a literal factor, an object of a library of units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TypeAlias

from msgspec import Struct

from gllint_rules.reading.facts import Class, Module
from gllint_runtime.policy.names import read_name
from gllint_runtime.policy.unit_expressions import Factors
from gllint_runtime.policy.unit_sizes import factors_of_unit, product
from gllint_runtime.policy.unit_table import TIME_UNITS, pack_units

MOST_READINGS = 6
MOST_FIELDS = 64


class Measure(Struct, frozen=True):
    """A number, or an array of numbers, in a unit; where that can be read in several ways, all of them.

    ``loose`` where a literal or a count took part that may have a unit of its own: such a number may well be of
    another dimension. ``is_difference`` of a temperature that has no zero. ``is_whole`` where no "per" can be left
    out, as names do (`load_mmbtu` for one in MMBtu/h): of units that are written out, and of what is divided.
    ``is_either`` of one of several numbers: then each of the readings may be that of the one that is there, where a
    name that can be read in several ways has one meaning.
    """

    readings: tuple[Factors, ...]
    loose: bool = False
    is_difference: bool = False
    is_whole: bool = False
    is_either: bool = False


class Factor(Struct, frozen=True):
    """A bare number that is written out; ``value`` is ``None`` where it may be several."""

    value: float | None


class Count(Struct, frozen=True):
    """How many of something there are."""


class UnitObject(Struct, frozen=True):
    """A unit of a library: ``ureg.kWh``, ``u.kWh``."""

    unit: Factors


class PhysicalQuantity(Struct, frozen=True):
    """A number together with its unit, as pint and astropy have it: it converts itself."""

    measure: Measure


class ConversionFactor(Struct, frozen=True):
    """A number of one unit in each of another, by its name: it is in no unit itself, and what it multiplies is."""

    measure: Measure


class PercentOf(Struct, frozen=True):
    """A number times a percentage, before it is divided by 100."""

    measure: Measure


class Fields(Struct, frozen=True):
    """A dict or an object, by the keys of which something is known; ``owner`` is the class of an object."""

    entries: Mapping[str, Meaning]
    owner: tuple[Module, Class] | None = None


class Places(Struct, frozen=True):
    """A tuple, place by place."""

    items: tuple[Meaning, ...]


Meaning: TypeAlias = (
    "Measure | Factor | Count | ConversionFactor | UnitObject | PhysicalQuantity | PercentOf | Fields | Places"
    " | None"
)

COUNT = Count()
RATIO = Measure(((),))


def measure_of_unit(unit: str) -> Measure:
    """A number in a unit that is written out."""
    return Measure((factors_of_unit(unit),), is_whole=True)


@lru_cache(maxsize=8192)
def measure_of_name(name: str) -> Measure | None:
    """A number whose unit a name announces by its end."""
    units = read_name(name).readings
    if not units or (len(units) > 1 and any(_is_pair(unit) for unit in units)):
        return None  # `eur_usd`, `wh_co2e`: nobody knows which way it goes, or whether it is a unit at all
    counted = pack_units(("counts",))
    readings = tuple(map(factors_of_unit, units))
    bare = tuple(tuple((name, power) for name, power in unit if name not in counted) for unit in readings)
    if not all(bare):
        return None
    return Measure(bare, loose=bare != readings)  # `steps_per_hour`: what is counted has no unit


@lru_cache(maxsize=8192)
def meaning_of_name(name: str) -> Measure | Count | ConversionFactor | None:
    """What the end of a name announces: a number in a unit, or how many there are of something."""
    measure = measure_of_name(name)
    if measure is not None:
        return measure
    reading = read_name(name)
    if reading.factor is not None:
        source, target = map(factors_of_unit, reading.factor)
        return ConversionFactor(Measure((product((target, 1), (source, -1)),)))
    return COUNT if reading.kind == "count" or reading.unit in pack_units(("counts",)) else None


def _is_pair(unit: str) -> bool:
    """Whether a reading is a product of two units, time aside (`flow_m3_h`)."""
    return "*" in unit and unit.rpartition("*")[2] not in TIME_UNITS


def join(first: Meaning, second: Meaning) -> Meaning:
    """What holds one of two."""
    if first == second:
        return first
    match first, second:
        case Measure(), Factor():
            return first  # `total = 0` before the loop
        case Factor(), Measure():
            return second
        case Factor(), Factor():
            return Factor(None)
        case Measure(), Measure():
            return with_readings(
                (*first.readings, *second.readings),
                first.loose or second.loose,
                first.is_difference and second.is_difference,
                first.is_whole and second.is_whole,
                first.is_either or second.is_either or first.readings != second.readings,
            )
        case PhysicalQuantity(), PhysicalQuantity():
            measure = join(first.measure, second.measure)
            return PhysicalQuantity(measure) if isinstance(measure, Measure) else None
        case Fields(), Fields():
            common = [key for key in first.entries if key in second.entries]
            owner = first.owner if first.owner == second.owner else None
            return Fields({key: join(first.entries[key], second.entries[key]) for key in common}, owner)
        case Places(), Places() if len(first.items) == len(second.items):
            return Places(tuple(map(join, first.items, second.items)))
        case _:
            return None


def joined(meanings: Iterable[Meaning]) -> Meaning:
    """What holds one of several; unknown where there are none."""
    first, *rest = [*meanings] or [None]
    for meaning in rest:
        first = join(first, meaning)
    return first


def element(meaning: Meaning) -> Meaning:
    """What one element of a container is: an array is in the unit of each of its numbers."""
    match meaning:
        case Places(items=items):
            return joined(items)
        case Measure() | PhysicalQuantity():
            return meaning
        case _:
            return None


def with_readings(
    readings: Iterable[Factors],
    loose: bool,
    is_difference: bool = False,
    is_whole: bool = False,
    is_either: bool = False,
) -> Measure | None:
    """A measure of these readings, each once; unknown where there are too many."""
    each = tuple(dict.fromkeys(readings))
    if not 0 < len(each) <= MOST_READINGS:
        return None
    return Measure(each, loose, is_difference, is_whole, is_either and len(each) > 1)

"""The meaning of an expression with regard to units: a number in a unit, or a bare number."""

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
    """A number, or an array of numbers, in a unit: ``readings`` are all units that it may be in.

    * ``loose``: a literal or a count took part (`kwh / len(days)`) that may have a unit of its own, so the number may
      be of another dimension.
    * ``is_difference``: a difference of temperatures, which has no zero point.
    * ``is_whole``: the unit is written out or computed. One that a name shows may leave out its divisor: `load_mmbtu`
      in MMBtu/h.
    * ``is_either``: one of several numbers (`a_kwh if x else b_wh`), so each reading may be right; of a name with
      several readings, one is.
    * ``role``: a ``number``; a ``unit`` or ``quantity`` of pint or astropy; a ``factor`` between two units
      (`wh_to_kwh`); a number times a percentage, not yet divided by 100 (``percent of``).
    """

    readings: tuple[Factors, ...]
    loose: bool = False
    is_difference: bool = False
    is_whole: bool = False
    is_either: bool = False
    role: Role = "number"


class Factor(Struct, frozen=True):
    """A number without a unit: a literal, with its ``value`` if that is known, or a count of something (``len(x)``)."""

    value: float | None
    is_count: bool = False


Meaning: TypeAlias = "Measure | Factor | None"

COUNT = Factor(None, is_count=True)
RATIO = Measure(((),))


def number_in_unit(meaning: Meaning) -> Measure | None:
    """Return the measure of a number in a known unit; ``None`` for other meanings."""
    return meaning if isinstance(meaning, Measure) and meaning.role == "number" else None


def measure_of_unit(unit: str) -> Measure:
    """Return a number in a unit that the code spells out: ``"kWh"``."""
    return Measure((factors_of_unit(unit),), is_whole=True)


def measure_of_text(text: str | None) -> Measure | None:
    """Return the measure of a number with the unit ``text``: ``"kwh"`` → kWh; ``None`` if the unit is unknown."""
    if not text:
        return None
    unit = factors_of_unit(text)
    if unit and size_of(unit) is not None:
        return Measure((unit,), is_whole=True)
    meant = spelling_of(text).meant  # the unit with another spelling
    return measure_of_unit(meant) if meant else None


@lru_cache(maxsize=8192)
def measure_of_name(name: str) -> Measure | None:
    """Return the measure of a number whose name ends in a unit: ``heat_kwh`` → kWh; ``None`` for other names."""
    units = read_name(name).readings
    # Of `eur_usd` and `wh_co2e` it is not known which is the divisor, or whether they are units.
    if not units or (len(units) > 1 and any(_is_pair(unit) for unit in units)):
        return None
    counts = pack_units(("counts",))
    readings = tuple(map(factors_of_unit, units))
    # A count has no unit: `steps_per_hour` is in 1/h.
    bare = tuple(tuple((name, power) for name, power in unit if name not in counts) for unit in readings)
    if not all(bare):
        return None
    return Measure(bare, loose=bare != readings)


@lru_cache(maxsize=8192)
def meaning_of_name(name: str) -> Meaning:
    """Return the meaning of a name by its end: ``heat_kwh`` → kWh, ``wh_to_kwh`` → a factor, ``row_count`` → count."""
    measure = measure_of_name(name)
    if measure is not None:
        return measure
    reading = read_name(name)
    if reading.factor is not None:
        source, target = map(factors_of_unit, reading.factor)
        return Measure((product((target, 1), (source, -1)),), role="factor")
    return COUNT if reading.kind == "count" or reading.unit in pack_units(("counts",)) else None


def announced_by(name: str) -> Measure | None:
    """Return the measure that a name shows: ``heat_kwh`` → kWh; ``None`` if it is a unit itself: ``kwh = 3.6e6``."""
    return None if is_unit_itself(name) else measure_of_name(name)


def _is_pair(unit: str) -> bool:
    """Return whether a reading is a product of two units, time aside (`flow_m3_h`)."""
    return "*" in unit and unit.rpartition("*")[2] not in TIME_UNITS


def join(first: Meaning, second: Meaning) -> Meaning:
    """Return the meaning of a number that is either of two: kWh or Wh → both readings, kWh or 0 → kWh."""
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
    """Return the meaning of a number that is any of several; ``None`` without any, and at the first unknown one."""
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
    """Return a measure with these readings, each once; ``None`` if there are none or too many."""
    each = tuple(dict.fromkeys(readings))
    if not 0 < len(each) <= _MOST_READINGS:
        return None
    return Measure(each, loose, is_difference, is_whole, is_either and len(each) > 1, role)

"""The measure of a variable that is assigned a value: what that is, or what the name says."""

from __future__ import annotations

from msgspec.structs import replace

from gllint_rules.inference.units.arithmetic import fit, unit_relation
from gllint_rules.inference.units.measure import (
    Factor,
    Meaning,
    Measure,
    announced_by,
    join,
    number_in_unit,
    with_readings,
)
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Expr
from gllint_runtime.policy.names import name_words
from gllint_runtime.policy.unit_sizes import converted, factors_of_unit, product

_PERCENT = (factors_of_unit("%"),)


def stored(name: str, meaning: Meaning, value: Expr | None) -> Meaning:
    """Return the measure of a variable: that of its value, else what its name says."""
    announced = announced_by(name)
    if announced is None or (isinstance(meaning, Factor) and meaning.is_count):
        return meaning
    if isinstance(meaning, Factor):
        return meaning if _is_size(name, announced, meaning.value) else announced
    if meaning is None or meaning.role == "percent of":
        return None if is_no_number(value) else announced
    return _agreed(announced, meaning) if number_in_unit(meaning) else meaning


def _is_size(name: str, announced: Measure, literal: float | None) -> bool:
    """Return whether a name that is just a unit is assigned a conversion factor: ``minutes = 60``."""
    return (
        literal is not None
        and literal != 1
        and len(name_words(name)) == 1
        and any(converted(unit, abs(literal)) is not None for unit in announced.readings)
    )


def _agreed(announced: Measure, measure: Measure) -> Meaning:
    """Return the measure of a value under a name that also says a unit."""
    match fit(announced, measure, are_absolute=False):
        case "same":
            readings = [
                unit
                for unit in announced.readings
                if any(unit_relation(unit, other, False) == "same" for other in measure.readings)
            ]
            is_loose = measure.loose and announced.loose  # a name that agrees settles it
            return replace(measure, readings=tuple(readings), loose=is_loose, is_either=False)
        case "size" if not measure.loose:
            return measure
        case "size":
            return join(announced, measure)
        case "dimension" if (bare := _without_a_year(announced, measure)) is not None:
            return bare
        case None if measure.is_whole and measure.readings == ((),) and announced.readings == _PERCENT:
            # `used_pct = used / total` is no percentage; of what is counted it may be one of each.
            return join(announced, measure) if measure.loose else measure
        case _:
            return announced


def _without_a_year(announced: Measure, measure: Measure) -> Measure | None:
    """Return the unit of a number per year whose name leaves the year out.

    An example is `heat_mwh = power_kw * HOURS_PER_YEAR`.
    """
    year = factors_of_unit("year")
    bare = with_readings(
        (
            *measure.readings,
            *(product((unit, 1), (year, 1)) for unit in measure.readings if ("year", -1) in unit),
        ),
        measure.loose,
        is_whole=measure.is_whole,
    )
    return bare if bare is not None and bare != measure and fit(announced, bare) == "size" else None


def is_no_number(value: Expr | None) -> bool:
    """Return whether an expression is literally something other than a number."""
    match value:
        case facts.Const(value=constant):
            return isinstance(constant, (str, bytes, bool)) or constant is None
        case facts.Join() | facts.Lambda() | facts.Compare():
            return True
        case _:
            return False

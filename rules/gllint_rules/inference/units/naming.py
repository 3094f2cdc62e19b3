"""The measure of a variable after an assignment: that of the value, or the one that the name shows."""

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


def meaning_of_variable(name: str, meaning: Meaning, value: Expr | None) -> Meaning:
    """Return the meaning of a variable after ``name = value``, of which ``meaning`` is that of the value.

    ``heat = x_kwh`` → kWh, ``heat_kwh = 5`` → kWh, ``heat_kwh = "high"`` → unknown. Where both show a unit,
    :func:`_reconciled` decides.
    """
    announced = announced_by(name)
    if announced is None or (isinstance(meaning, Factor) and meaning.is_count):
        return meaning
    if isinstance(meaning, Factor):
        return meaning if _is_size(name, announced, meaning.value) else announced
    if meaning is None or meaning.role == "percent of":
        return None if is_no_number(value) else announced
    return _reconciled(announced, meaning) if number_in_unit(meaning) else meaning


def _is_size(name: str, announced: Measure, literal: float | None) -> bool:
    """Return whether a name that is just a unit is assigned a conversion factor: ``minutes = 60``."""
    return (
        literal is not None
        and literal != 1
        and len(name_words(name)) == 1
        and any(converted(unit, abs(literal)) is not None for unit in announced.readings)
    )


def _reconciled(announced: Measure, measure: Measure) -> Meaning:
    """Return the measure of a value under a name that shows a unit, too: ``x_wh`` as ``heat_kwh`` → Wh."""
    match fit(announced, measure, are_absolute=False):
        case "same":
            readings = [
                unit
                for unit in announced.readings
                if any(unit_relation(unit, other, False) == "same" for other in measure.readings)
            ]
            # The name confirms the unit, so no literal has changed it.
            is_loose = measure.loose and announced.loose
            return replace(measure, readings=tuple(readings), loose=is_loose, is_either=False)
        case "size" if not measure.loose:
            return measure
        case "size":  # `heat_kwh = heat_wh / n`: n may be the conversion
            return join(announced, measure)
        case "dimension" if (with_totals := _with_totals_of_a_year(announced, measure)) is not None:
            return with_totals
        case None if measure.is_whole and measure.readings == ((),) and announced.readings == _PERCENT:
            # `used_pct = used / total` is no percentage; of what is counted it may be one of each.
            return join(announced, measure) if measure.loose else measure
        case _:
            return announced


def _with_totals_of_a_year(announced: Measure, measure: Measure) -> Measure | None:
    """Return a measure that is also read as the total of a year: kWh/year → kWh/year or kWh.

    ``None`` if the name does not show such a total. `heat_mwh = power_kw * hours_per_year` is one, so it
    is read as kWh.
    """
    year = factors_of_unit("year")
    totals = [product((unit, 1), (year, 1)) for unit in measure.readings if ("year", -1) in unit]
    result = with_readings((*measure.readings, *totals), measure.loose, is_whole=measure.is_whole)
    return result if result is not None and totals and fit(announced, result) == "size" else None


def is_no_number(value: Expr | None) -> bool:
    """Return whether an expression is literally something other than a number."""
    match value:
        case facts.Const(value=constant):
            return isinstance(constant, (str, bytes, bool)) or constant is None
        case facts.Join() | facts.Lambda() | facts.Compare():
            return True
        case _:
            return False

"""The units of the results of arithmetic, and whether two numbers may be added or compared."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from gllint_rules.inference.units.measure import (
    RATIO,
    Factor,
    Meaning,
    Measure,
    number_in_unit,
    with_readings,
)
from gllint_runtime.policy.unit_expressions import Factors
from gllint_runtime.policy.unit_sizes import (
    Relation,
    converted,
    factors_of_unit,
    is_named,
    product,
    ratio,
    relation,
)
from gllint_runtime.policy.unit_table import TIME_UNITS

_PERCENT = factors_of_unit("%")
_PERCENTAGES = frozenset({"%", "percent"})
_PERCENTAGES_AND_PARTS = _PERCENTAGES | {"ppm", "bp"}
_FRACTIONS = frozenset(map(factors_of_unit, ("1", "ratio")))
_TEMPERATURES: dict[Factors, str] = {
    (("degC", 1),): "C",
    (("C", 1),): "C",
    (("degF", 1),): "F",
    (("F", 1),): "F",
    (("K", 1),): "K",
}
_MASSES = {"gCO2e": "g", "kgCO2e": "kg", "tCO2e": "t"}
# Sizes that people take for each other: 1 MiB for 1 MB, a short ton for a tonne.
_LOOSE_RATIOS = (1.024, 1.024**2, 1.024**3, 1.024**4, 1.10231131)
_ZERO_CELSIUS = (273.15, 273, 273.16)
# Offsets between scales of temperature; the last three for Rankine, which counts degrees Fahrenheit from absolute zero.
_BETWEEN_SCALES = (*_ZERO_CELSIUS, 32, 459.67, 459.7, 460)
# A division by a whole number below this is as often a mean as a conversion: `(a + b + c) / 3`.
_NO_MEAN = 60
_HOURS_OF_A_YEAR = (8760, 8784, 8766, 8765.8, 8765.82)
_HOUR, _YEAR = factors_of_unit("h"), factors_of_unit("year")
_MOST_POWER = 4
_DATA = frozenset(factors_of_unit(unit)[0][0] for unit in ("B", "kB", "MB", "GB", "TB"))
_LITERALS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
}


def binary(op: str, left: Meaning, right: Meaning) -> Meaning:
    """Return the unit of ``left op right``: kW ``*`` h → kWh, kWh ``+`` kWh → kWh, kWh ``+`` kg → unknown."""
    if isinstance(left, Factor) and isinstance(right, Factor):
        return _of_literals(op, left, right)
    match op:
        case "+" | "-":
            return _sum(op, left, right)
        case "*" | "@":
            return _product(left, right, 1)
        case "/" | "//":
            return _product(left, right, -1)
        case "%":  # `hours % 24`, `seconds % step_seconds`
            is_literal = isinstance(right, Factor) and not right.is_count
            whole, part = number_in_unit(left), number_in_unit(right)
            return left if whole and (is_literal or (part and fit(whole, part) == "same")) else None
        case "**":
            return _power(left, right)
        case _:
            return None


# ------------------------------------------------------------------------------------------------ comparison


def fit(left: Measure, right: Measure, are_absolute: bool = True) -> Relation | None:
    """Return how the units of two numbers relate: kWh, kWh → "same"; kWh, Wh → "size"; kWh, kg → "dimension".

    Of numbers with several readings, one that is the same is enough. ``None`` if unknown. With ``are_absolute``, a
    temperature is a point on its scale, else a difference.
    """
    are_absolute = are_absolute and not (left.is_difference or right.is_difference)
    are_whole = left.is_whole and right.is_whole
    pairs = [(a, b) for a in left.readings for b in right.readings]
    relations = [unit_relation(a, b, are_absolute, are_whole) for a, b in pairs]
    if "same" in relations:
        return "same"
    if None in relations:
        return None
    if "size" in relations:
        return "size"
    if left.loose or right.loose:
        return None
    return None if any(_may_leave_out(a, b, left.is_whole, right.is_whole) for a, b in pairs) else "dimension"


def differ(first: Measure, second: Measure, are_absolute: bool = True) -> bool:
    """Return whether two numbers are known to be in different units."""
    return fit(first, second, are_absolute) in ("size", "dimension")


def _may_leave_out(first: Factors, second: Factors, is_first_whole: bool, is_second_whole: bool) -> bool:
    """Return whether two units may be the same, because a name leaves out its divisor: `load_mmbtu` in MMBtu/h.

    A ``whole`` unit leaves out nothing.
    """
    if not first or not second:  # a ratio: its numerator or its divisor may leave out a "per hour"
        return True
    powers = {power > 0 for _, power in product((first, 1), (second, -1))}
    # All factors that the first has in addition are numerators, or all are divisors.
    if (powers == {True} and not is_first_whole) or (powers == {False} and not is_second_whole):
        return True
    # A name with a bare divisor: `carbon_ha` is in t/ha.
    return any(
        len(bare) == 1 and (bare[0][0], -bare[0][1]) in other
        for bare, other in ((first, second), (second, first))
    )


def unit_relation(
    first: Factors, second: Factors, are_absolute: bool, are_whole: bool = False
) -> Relation | None:
    """Return the relation of two units as people use them: kg and kgCO2e → ``"same"``, MB and MiB → ``"same"``.

    ``are_whole`` if neither unit is read from the end of a name: names in percent often hold fractions.
    """
    if not are_whole and (_may_be_fraction(first, second) or _may_be_fraction(second, first)):
        return None
    result = relation(first, second)
    if result == "dimension":
        result = relation(_as_masses(first), _as_masses(second))
        if result == "size":
            first, second = _as_masses(first), _as_masses(second)
    # Differences of °C and K are the same, points on their scales are not.
    if result == "same" and are_absolute and first in _TEMPERATURES and second in _TEMPERATURES:
        return "same" if _TEMPERATURES[first] == _TEMPERATURES[second] else "size"
    if result == "size":
        factor = ratio(first, second) or 1.0
        if any(math.isclose(max(factor, 1 / factor), loose, rel_tol=1e-6) for loose in _LOOSE_RATIOS):
            return "same"
    return result


def _as_masses(unit: Factors) -> Factors:
    """Return a unit with masses of CO2e as masses: kgCO2e/kWh → kg/kWh."""
    return product(*((((_MASSES.get(name, name), 1),), power) for name, power in unit))


def is_absolute(measure: Measure) -> bool:
    """Return whether a number is a point on a scale of temperature, which no factor converts: 20 °C."""
    return not measure.is_difference and any(unit in _TEMPERATURES for unit in measure.readings)


# ------------------------------------------------------------------------------------------------- operations


def _of_literals(op: str, left: Factor, right: Factor) -> Meaning:
    """Return the result of an operator between two numbers without units: ``1000 * 3.6`` → 3600, count / count → 1."""
    if left.is_count or right.is_count:
        if op == "/" and left.is_count and right.is_count:
            return replace(RATIO, loose=True, is_whole=True)
        return Factor(None, is_count=op in "+-")  # `len(rows) + 1` is a count, too
    if left.value is None or right.value is None or op not in _LITERALS:
        return Factor(None)
    try:
        value = _LITERALS[op](left.value, right.value)
    except ArithmeticError:
        return Factor(None)
    return Factor(value if isinstance(value, float) else None)  # the root of a negative number is complex


def _sum(op: str, left: Meaning, right: Meaning) -> Meaning:
    """Return the unit of a sum or difference: kWh and kWh → kWh, kWh and 5 → kWh; ``None`` if it is not known."""
    match left, right:
        case Measure(role="number"), Measure(role="number"):
            return _sum_of_measures(op, left, right)
        case Measure(role="number"), Factor(is_count=False, value=value):
            return _with_literal(op, left, value)
        case Factor(is_count=False, value=value), Measure(role="number"):
            # `100 - temp_c` is on no scale.
            is_on_scale = op == "+" or not is_absolute(right)
            return _with_literal("+", right, value) if is_on_scale else None
        case Measure(role="quantity"), Measure(role="quantity"):
            return left
        case _:
            return None


def _sum_of_measures(op: str, left: Measure, right: Measure) -> Measure | None:
    """Return the unit that two added or subtracted numbers have in common; ``None`` if there is none.

    The difference of two temperatures is a temperature difference; their sum has no unit. A temperature plus a
    difference (5 K + 20 °C) is on the scale of the temperature, whichever stands first.
    """
    if is_absolute(left) and is_absolute(right):
        if op != "-" or fit(left, right, are_absolute=False) != "same":
            return None
        return replace(left, loose=left.loose or right.loose, is_difference=True, is_whole=False)
    if left.is_difference and is_absolute(right):
        if op == "-":
            return None
        left, right = right, left
    common = [
        unit
        for unit in left.readings
        if any(unit_relation(unit, other, False) == "same" for other in right.readings)
    ]
    return with_readings(
        common,
        loose=left.loose or right.loose,
        is_difference=left.is_difference and right.is_difference,
        is_whole=left.is_whole or right.is_whole,
        is_either=left.is_either or right.is_either,
    )


def _with_literal(op: str, measure: Measure, value: float | None) -> Measure | None:
    """Return the unit of a number plus or minus a literal: `hours + 1` → hours, `temp_c + 273.15` → kelvins."""
    if is_absolute(measure):
        scales = {_TEMPERATURES.get(unit) for unit in measure.readings}
        if value in _ZERO_CELSIUS and scales == {"C" if op == "+" else "K"}:
            return Measure((factors_of_unit("K" if op == "+" else "degC"),))
        return measure if value is not None and value not in _BETWEEN_SCALES else None
    if any(not unit or unit == _PERCENT for unit in measure.readings):
        # `1 - used / total` is a ratio and `100 - used_percent` a percentage. `1 + rate` may be a factor.
        complement_of = {1.0: ((),), 100.0: (_PERCENT,)}.get(value or 0.0)
        return measure if measure.is_whole and measure.readings == complement_of else None
    return measure


def _product(left: Meaning, right: Meaning, exponent: int) -> Meaning:
    """Return the unit of a product: kW times h → kWh; with the ``exponent`` -1 of a quotient: kWh by h → kW."""
    if exponent == 1 and not isinstance(left, Measure):  # a product can be turned around
        left, right = right, left
    sides = (left, right)
    if any(isinstance(side, Measure) and side.role in ("unit", "quantity") for side in sides):
        return _of_library(left, right, exponent)
    # `wh_to_kwh` multiplies like a number in kWh/Wh.
    left, right = (
        replace(side, role="number") if isinstance(side, Measure) and side.role == "factor" else side
        for side in sides
    )
    match left, right:
        case Measure(role="number"), Measure(role="number"):
            percentage = (_percent_of(left, right) or _percent_of(right, left)) if exponent == 1 else None
            return percentage or _times(left, right, exponent)
        case Measure(role="percent of"), Factor(value=float(value)):  # `total_kg * share_percent / 100`
            return replace(left, role="number") if (exponent, value) in ((1, 0.01), (-1, 100)) else None
        case Measure(role="number"), Factor(is_count=True):
            # `kwh * len(days)` is the total of all, `kwh / len(days)` that of one: in kWh, or in kWh per day.
            return replace(left, loose=True)
        case Measure(role="number"), Factor(value=value):
            return _scaled(left, value if exponent == 1 else 1 / value) if value else None
        case Factor(is_count=False, value=value), Measure(role="number"):  # `1 / seconds`
            inverse = _times(RATIO, right, -1)
            return _scaled(inverse, value) if inverse is not None else None
        case _:
            return None


def _of_library(left: Meaning, right: Meaning, exponent: int) -> Measure | None:
    """Return a product or quotient with a unit or quantity of pint or astropy: ``5 * ureg.kWh`` → a quantity in kWh.

    A number of unknown unit times a unit is a quantity in that unit, too.
    """
    match left, right:
        case Measure(role="unit"), Measure(role="unit"):
            return Measure((product((left.readings[0], 1), (right.readings[0], exponent)),), role="unit")
        case Measure(role="unit" | "quantity"), Measure(role="unit" | "quantity"):
            measure = _times(replace(left, role="number"), replace(right, role="number"), exponent)
            return replace(measure, role="quantity") if measure is not None else None
        case Measure(role="quantity"), Factor():
            return left
        case Measure(role="unit"), _ if exponent == 1:
            return replace(left, role="quantity")
        case _, Measure(role="unit"):
            return Measure((product((right.readings[0], exponent)),), role="quantity")
        case _:
            return None


def _power(left: Meaning, right: Meaning) -> Meaning:
    """Return the unit of a power: m, 2 → m2; m2, 0.5 → m; ``None`` if an exponent would not be whole: m, 0.5."""
    match left, right:
        case Measure(role="number" | "quantity" | "unit"), Factor(value=float(exponent)) if (
            not is_absolute(left) and abs(exponent) <= _MOST_POWER
        ):
            readings = []
            for unit in left.readings:
                if _is_percentage(unit) or any(not (power * exponent).is_integer() for _, power in unit):
                    return None
                readings.append(tuple((name, int(power * exponent)) for name, power in unit))
            is_whole, is_either = left.is_whole, left.is_either
            return with_readings(readings, left.loose, False, is_whole, is_either, left.role)
        case _:
            return None


# ---------------------------------------------------------------------------------------------------- parts


def _is_percentage(unit: Factors) -> bool:
    """Return whether a unit has %, ppm or basis points in it; a number under such a name is often a fraction."""
    return any(name in _PERCENTAGES_AND_PARTS for name, _ in unit)


def _may_be_fraction(percentage: Factors, unit: Factors) -> bool:
    """Return whether ``unit`` is the other unit without its percent sign: 1 for %, 1/h for %/h."""
    bare = tuple(factor for factor in percentage if factor[0] not in _PERCENTAGES)
    return (_is_percentage(percentage) and unit in _FRACTIONS) or (bare != percentage and unit == bare)


def _percent_of(measure: Measure, percentage: Measure) -> Measure | None:
    """Return the product of a number and a percentage, which is to be divided by 100: `kg * percent`.

    ``None`` if the second is no percentage, or the first is one, too.
    """
    is_product = percentage.readings == (_PERCENT,) and not any(map(_is_percentage, measure.readings))
    return replace(measure, role="percent of") if is_product and not is_absolute(measure) else None


def _times(left: Measure, right: Measure, exponent: int) -> Measure | None:
    """Return the unit of a product of two units (kW, h → kWh), or with the exponent -1 of a quotient.

    ``None`` for temperatures and percentages, and for a product that no one means (USD times kg).
    """
    if is_absolute(left) or is_absolute(right):
        return None
    if any(_is_percentage(unit) for unit in (*left.readings, *right.readings)):
        return None
    is_either = left.is_either or right.is_either
    products = [
        result
        for a in left.readings
        for b in right.readings
        if _is_plausible(a, b, result := product((a, 1), (b, exponent))) or is_either or exponent == -1
    ]
    return with_readings(products, left.loose or right.loose, is_whole=True, is_either=is_either)


def _is_plausible(a: Factors, b: Factors, result: Factors) -> bool:
    """Return whether the product of ``a`` and ``b`` is a unit that is used: kW times h, but not USD times kg.

    A number in USD times one in kg is a price per kg whose name leaves out the "per kg".
    """
    powers = dict(a)
    cancels = any(powers.get(name, 0) * power < 0 for name, power in b)  # `usd_per_kg * kg`
    # `power_kw * hours_per_year` is in kWh/year: kWh is a unit, and any unit may be one each year.
    without_time = tuple(f for f in result if f[1] > 0 or f[0] not in TIME_UNITS)
    return cancels or not a or not b or is_named(result) or is_named(without_time)


def _scaled(measure: Measure, factor: float | None) -> Measure | None:
    """Return the unit of a number times a literal, as a conversion: Wh, 0.001 → kWh.

    ``None`` if there is no unit of that size: kWh, 0.41.
    """
    if not factor or not math.isfinite(factor) or is_absolute(measure):
        return None
    factor = abs(factor)
    if math.isclose(factor, 1):
        return replace(measure, loose=True)  # the literal may have a unit: a specific heat of 1.0
    readings: list[Factors] = []
    for unit in measure.readings:
        if not unit and math.isclose(factor, 100):  # `used / total * 100`
            readings.append(_PERCENT)
            continue
        if measure.readings == (_PERCENT,) and math.isclose(factor, 0.01):  # `used_percent / 100`
            return Measure(((),), measure.loose, is_whole=True)
        if _is_percentage(unit):
            return None
        other = converted(unit, _in_thousands(unit, factor))
        if other is not None:
            readings.append(other)
            if _may_be_mean(factor):
                readings.append(unit)
        elif totals := _over_a_year(unit, factor):
            readings += totals
        else:
            return None
    # Other literals than the hours of a year may have a unit of their own.
    loose = measure.loose or not _is_hours_of_a_year(factor)
    return with_readings(readings, loose, is_whole=measure.is_whole, is_either=measure.is_either)


def _in_thousands(unit: Factors, factor: float) -> float:
    """Return a power of 1,024 as the power of 1,000, for bytes: MB, 1024 → 1000, because many call 1,024 MB a GB."""
    if len(unit) != 1 or unit[0][0] not in _DATA or unit[0][1] != 1:
        return factor
    power = round(math.log(factor, 1024))
    is_power = power and math.isclose(factor, 1024.0**power) and converted(unit, factor) is None
    return 1000.0**power if is_power else factor


def _is_hours_of_a_year(factor: float) -> bool:
    return any(math.isclose(f, hours) for hours in _HOURS_OF_A_YEAR for f in (factor, 1 / factor))


def _over_a_year(unit: Factors, factor: float) -> list[Factors] | None:
    """Return the units of a number times the hours of a year: kW, 8760 → kWh or kWh/year; kWh, 1/8760 → kW.

    ``None`` for other factors.
    """
    if any(math.isclose(factor, hours) for hours in _HOURS_OF_A_YEAR):
        return [product((unit, 1), (_HOUR, 1)), product((unit, 1), (_HOUR, 1), (_YEAR, -1))]
    if any(math.isclose(factor * hours, 1) for hours in _HOURS_OF_A_YEAR):
        return [product((unit, 1), (_HOUR, -1)), product((unit, 1), (_HOUR, -1), (_YEAR, 1))]
    return None


def _may_be_mean(factor: float) -> bool:
    """Return whether a factor may count the numbers of a mean or a total: 3 or 1/3, but not 1000."""
    whole = factor if factor > 1 else 1 / factor
    return whole < _NO_MEAN and math.isclose(whole, round(whole))

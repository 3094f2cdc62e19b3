"""What arithmetic makes of units, and whether two numbers may meet."""

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
_SHARES = _PERCENTAGES | {"ppm", "bp"}
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
# What is added to one scale for another: the last for Rankine, which counts degrees Fahrenheit from absolute zero.
_BETWEEN_SCALES = (*_ZERO_CELSIUS, 32, 459.67, 459.7, 460)
# Something is divided by a number below this for a mean as often as for a conversion.
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
    """``left op right``; of a sum of two units that do not fit unknown."""
    if isinstance(left, Factor) and isinstance(right, Factor):
        return _of_literals(op, left, right)
    match op:
        case "+" | "-":
            return _sum(op, left, right)
        case "*" | "@":
            return _product(left, right, 1)
        case "/" | "//":
            return _product(left, right, -1)
        case "%":
            is_part = isinstance(right, Factor) and not right.is_count
            whole, part = number_in_unit(left), number_in_unit(right)
            return left if whole and (is_part or (part and fit(whole, part) == "same")) else None
        case "**":
            return _power(left, right)
        case _:
            return None


# ------------------------------------------------------------------------------------------------ comparison


def fit(left: Measure, right: Measure, are_absolute: bool = True) -> Relation | None:
    """Return how the units of two numbers relate, under each reading: ``"same"`` if one reading of both is the same,
    ``None`` if unknown. With ``are_absolute``, a temperature is a point on its scale.
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
    """Return whether one of two units may be the other, with a divisor that its name leaves out: `load_mmbtu` in
    MMBtu/h.
    """
    if not first or not second:
        return True  # a quotient of two of which one leaves out the same
    powers = {power > 0 for _, power in product((first, 1), (second, -1))}
    if (powers == {True} and not is_first_whole) or (powers == {False} and not is_second_whole):
        return True
    # `carbon_ha` is so much in a hectare.
    return any(
        len(bare) == 1 and (bare[0][0], -bare[0][1]) in other
        for bare, other in ((first, second), (second, first))
    )


def unit_relation(
    first: Factors, second: Factors, are_absolute: bool, are_whole: bool = False
) -> Relation | None:
    """Return the relation of two units as people write them: kilograms may be those of CO2e, a MB one of 1,024 kB.

    ``are_whole`` where neither is the end of a name: a quotient that is called a percentage in so many words is none.
    """
    if not are_whole and (_may_be_fraction(first, second) or _may_be_fraction(second, first)):
        return None  # a fraction is called a percentage as often
    between = relation(first, second)
    if between == "dimension":
        between = relation(_as_masses(first), _as_masses(second))
        if between == "size":
            first, second = _as_masses(first), _as_masses(second)
    if between == "same" and are_absolute and first in _TEMPERATURES and second in _TEMPERATURES:
        return "same" if _TEMPERATURES[first] == _TEMPERATURES[second] else "size"
    if between == "size":
        factor = ratio(first, second) or 1.0
        if any(math.isclose(max(factor, 1 / factor), loose, rel_tol=1e-6) for loose in _LOOSE_RATIOS):
            return "same"
    return between


def _as_masses(unit: Factors) -> Factors:
    return product(*((((_MASSES.get(name, name), 1),), power) for name, power in unit))


def is_absolute(measure: Measure) -> bool:
    """Return whether it is a temperature that is read off a scale, which no factor converts."""
    return not measure.is_difference and any(unit in _TEMPERATURES for unit in measure.readings)


# ------------------------------------------------------------------------------------------------- operations


def _of_literals(op: str, left: Factor, right: Factor) -> Meaning:
    """Return the result of an operator between two numbers without units."""
    if left.is_count or right.is_count:
        if op == "/" and left.is_count and right.is_count:
            return replace(RATIO, loose=True, is_whole=True)
        return Factor(None, is_count=op in "+-")
    if left.value is None or right.value is None or op not in _LITERALS:
        return Factor(None)
    try:
        value = _LITERALS[op](left.value, right.value)
    except ArithmeticError:
        return Factor(None)
    return Factor(value if isinstance(value, float) else None)  # no root of a negative number


def _sum(op: str, left: Meaning, right: Meaning) -> Meaning:
    """Return the unit of a sum or difference; ``None`` if an operand's unit is not known."""
    match left, right:
        case Measure(role="number"), Measure(role="number"):
            return _sum_of_measures(op, left, right)
        case Measure(role="number"), Factor(is_count=False, value=value):
            return _shifted(op, left, value)
        case Factor(is_count=False, value=value), Measure(role="number"):
            is_rest = op == "+" or not is_absolute(right)
            return _shifted("+", right, value) if is_rest else None
        case Measure(role="quantity"), Measure(role="quantity"):
            return left
        case _:
            return None


def _sum_of_measures(op: str, left: Measure, right: Measure) -> Measure | None:
    """Return the unit that two added or subtracted numbers have in common."""
    if is_absolute(left) and is_absolute(right):
        is_difference = op == "-" and fit(left, right, are_absolute=False) == "same"
        loose = left.loose or right.loose
        return replace(left, loose=loose, is_difference=True, is_whole=False) if is_difference else None
    common = [
        unit
        for unit in left.readings
        if any(unit_relation(unit, other, False) == "same" for other in right.readings)
    ]
    return with_readings(
        common,
        left.loose or right.loose,
        left.is_difference and right.is_difference,
        left.is_whole or right.is_whole,
        left.is_either or right.is_either,
    )


def _shifted(op: str, measure: Measure, value: float | None) -> Measure | None:
    """Return the unit of a number plus a literal: `hours + 1`, `temp_c + 273.15`."""
    if is_absolute(measure):
        scales = {_TEMPERATURES.get(unit) for unit in measure.readings}
        if value in _ZERO_CELSIUS and scales == {"C" if op == "+" else "K"}:
            return Measure((factors_of_unit("K" if op == "+" else "degC"),))
        return measure if value is not None and value not in _BETWEEN_SCALES else None
    if any(not unit or unit == _PERCENT for unit in measure.readings):
        rest = measure.is_whole and measure.readings == {1.0: ((),), 100.0: (_PERCENT,)}.get(value or 0.0)
        return measure if rest else None  # `1 - used / total`; of `1 + share` it is open
    return measure


def _product(left: Meaning, right: Meaning, exponent: int) -> Meaning:
    """Return the unit of a product, or with the ``exponent`` -1 of a quotient."""
    if exponent == 1 and not isinstance(left, Measure):
        left, right = right, left
    sides = (left, right)
    if any(isinstance(side, Measure) and side.role in ("unit", "quantity") for side in sides):
        return _of_library(left, right, exponent)
    # A factor multiplies as a number of its two units would.
    left, right = (
        replace(side, role="number") if isinstance(side, Measure) and side.role == "factor" else side
        for side in sides
    )
    match left, right:
        case Measure(role="number"), Measure(role="number"):
            share = (_percent_of(left, right) or _percent_of(right, left)) if exponent == 1 else None
            return share or _times(left, right, exponent)
        case Measure(role="percent of"), Factor(value=float(value)):
            return replace(left, role="number") if (exponent, value) in ((1, 0.01), (-1, 100)) else None
        case Measure(role="number"), Factor(is_count=True):
            return replace(left, loose=True)  # for each of many, or of many together
        case Measure(role="number"), Factor(value=value):
            return _scaled(left, value if exponent == 1 else 1 / value) if value else None
        case Factor(is_count=False, value=value), Measure(role="number"):
            inverse = _times(RATIO, right, -1)
            return _scaled(inverse, value) if inverse is not None else None
        case _:
            return None


def _of_library(left: Meaning, right: Meaning, exponent: int) -> Measure | None:
    """Return a product with a unit of pint or astropy, which also makes a quantity of what is unknown, or with a
    quantity.
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
    """Return the unit of a power: ``m2`` for the square of metres."""
    match left, right:
        case Measure(role="number" | "quantity" | "unit"), Factor(value=float(exponent)) if (
            not is_absolute(left) and abs(exponent) <= _MOST_POWER
        ):
            readings = []
            for unit in left.readings:
                if _is_share(unit) or any(not (power * exponent).is_integer() for _, power in unit):
                    return None
                readings.append(tuple((name, int(power * exponent)) for name, power in unit))
            is_whole, is_either = left.is_whole, left.is_either
            return with_readings(readings, left.loose, False, is_whole, is_either, left.role)
        case _:
            return None


# ---------------------------------------------------------------------------------------------------- parts


def _is_share(unit: Factors) -> bool:
    """Return whether it may be a fraction as well as a percentage: names do not keep them apart."""
    return any(name in _SHARES for name, _ in unit)


def _may_be_fraction(share: Factors, unit: Factors) -> bool:
    """Return whether a ratio may be in a unit of fractions: `used / total` under a name in percent, or the
    1/h of %/h.
    """
    bare = tuple(factor for factor in share if factor[0] not in _PERCENTAGES)
    return (_is_share(share) and unit in _FRACTIONS) or (bare != share and unit == bare)


def _percent_of(measure: Measure, share: Measure) -> Measure | None:
    """Return a number times a percentage, if that is one number: a division by 100 shows it."""
    is_share = share.readings == (_PERCENT,) and not any(map(_is_share, measure.readings))
    return replace(measure, role="percent of") if is_share and not is_absolute(measure) else None


def _times(left: Measure, right: Measure, exponent: int) -> Measure | None:
    """Return the unit of a product, or with the exponent -1 of a quotient."""
    if is_absolute(left) or is_absolute(right):
        return None
    if any(_is_share(unit) for unit in (*left.readings, *right.readings)):
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
    """Return whether a product means what its units say: a price times a mass is in no USD*kg, but was one per kg."""
    powers = dict(a)
    cancels = any(powers.get(name, 0) * power < 0 for name, power in b)
    each_time = tuple(f for f in result if f[1] > 0 or f[0] not in TIME_UNITS)  # `power_kw * hours_per_year`
    return cancels or not a or not b or is_named(result) or is_named(each_time)


def _scaled(measure: Measure, factor: float | None) -> Measure | None:
    """Return the unit of a number times a literal: a conversion if there is a unit of that size, else unknown."""
    if not factor or not math.isfinite(factor) or is_absolute(measure):
        return None
    factor = abs(factor)
    if math.isclose(factor, 1):
        return replace(measure, loose=True)  # a specific heat of 1.0, say
    readings: list[Factors] = []
    for unit in measure.readings:
        if not unit and math.isclose(factor, 100):
            readings.append(_PERCENT)
            continue
        if measure.readings == (_PERCENT,) and math.isclose(factor, 0.01):
            return Measure(((),), measure.loose, is_whole=True)  # what is divided by 100 is a percentage
        if _is_share(unit):
            return None
        other = converted(unit, _in_thousands(unit, factor))
        if other is not None:
            readings.append(other)
            if _may_be_mean(factor):
                readings.append(unit)
        elif hours := _over_a_year(unit, factor):
            readings += hours
        else:
            return None
    is_year = _is_hours_of_a_year(factor)  # which is nothing else
    return with_readings(
        readings, measure.loose or not is_year, is_whole=measure.is_whole, is_either=measure.is_either
    )


def _in_thousands(unit: Factors, factor: float) -> float:
    """Return a power of 1,024 as the power of 1,000 that it replaces for bytes: a GB is 1,024 MB to many."""
    if len(unit) != 1 or unit[0][0] not in _DATA or unit[0][1] != 1:
        return factor
    power = round(math.log(factor, 1024))
    is_power = power and math.isclose(factor, 1024.0**power) and converted(unit, factor) is None
    return 1000.0**power if is_power else factor


def _is_hours_of_a_year(factor: float) -> bool:
    return any(math.isclose(f, hours) for hours in _HOURS_OF_A_YEAR for f in (factor, 1 / factor))


def _over_a_year(unit: Factors, factor: float) -> list[Factors] | None:
    """A power times 8,760 is an energy, or one each year; an energy each year divided by it a power."""
    if any(math.isclose(factor, hours) for hours in _HOURS_OF_A_YEAR):
        return [product((unit, 1), (_HOUR, 1)), product((unit, 1), (_HOUR, 1), (_YEAR, -1))]
    if any(math.isclose(factor * hours, 1) for hours in _HOURS_OF_A_YEAR):
        return [product((unit, 1), (_HOUR, -1)), product((unit, 1), (_HOUR, -1), (_YEAR, 1))]
    return None


def _may_be_mean(factor: float) -> bool:
    whole = factor if factor > 1 else 1 / factor
    return whole < _NO_MEAN and math.isclose(whole, round(whole))

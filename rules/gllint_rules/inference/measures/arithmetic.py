"""What arithmetic makes of units, and whether two numbers may meet."""

from __future__ import annotations

import math
from collections.abc import Callable

from gllint_rules.inference.measures.meanings import (
    COUNT,
    RATIO,
    ConversionFactor,
    Count,
    Factor,
    Fields,
    Meaning,
    Measure,
    PercentOf,
    PhysicalQuantity,
    Places,
    UnitObject,
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


def binary(op: str, left: Meaning, right: Meaning) -> Meaning:
    """``left op right``; of a sum of two units that do not fit unknown."""
    match op:
        case "+" | "-":
            return _sum(op, left, right)
        case "*" | "@":
            return _product(left, right)
        case "/" | "//":
            return _quotient(left, right)
        case "%":
            return _remainder(left, right)
        case "**":
            return _power(left, right)
        case _:
            return None


# ------------------------------------------------------------------------------------------------ comparison


def fit(left: Measure, right: Measure, are_absolute: bool = True) -> Relation | None:
    """Whether two numbers are in one unit: the relation of their units, under each reading.

    ``"same"`` where one reading of each is; ``None`` where it is not known. ``are_absolute`` where a temperature is a
    point on its scale.
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


def _may_leave_out(first: Factors, second: Factors, is_first_whole: bool, is_second_whole: bool) -> bool:
    """Whether one of two units may be the other, with a divisor that its name leaves out: `load_mmbtu` in MMBtu/h."""
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
    """The relation of two units as people write them: kilograms may be those of CO2e, a MB one of 1,024 kB.

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
    """Whether it is a temperature that is read off a scale, which no factor converts."""
    return not measure.is_difference and any(unit in _TEMPERATURES for unit in measure.readings)


# ------------------------------------------------------------------------------------------------- operations


def _sum(op: str, left: Meaning, right: Meaning) -> Meaning:
    match left, right:
        case Measure(), Measure():
            return _sum_of_measures(op, left, right)
        case Measure(), Factor(value=value):
            return _shifted(op, left, value)
        case Factor(value=value), Measure():
            is_rest = op == "+" or not is_absolute(right)
            return _shifted("+", right, value) if is_rest else None
        case ((Factor() | Count()), (Factor() | Count())):
            return _of_literals(op, left, right)
        case PhysicalQuantity(), PhysicalQuantity():
            return left
        case _:
            return None


def _sum_of_measures(op: str, left: Measure, right: Measure) -> Measure | None:
    if is_absolute(left) and is_absolute(right):
        if op == "-" and fit(left, right, are_absolute=False) == "same":
            return Measure(
                left.readings, left.loose or right.loose, is_difference=True, is_either=left.is_either
            )
        return None
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
    """A number and a literal: `hours + 1`, `temp_c + 273.15`."""
    if is_absolute(measure):
        scales = {_TEMPERATURES.get(unit) for unit in measure.readings}
        if value in _ZERO_CELSIUS and scales == {"C" if op == "+" else "K"}:
            return Measure((factors_of_unit("K" if op == "+" else "degC"),))
        return measure if value is not None and value not in _BETWEEN_SCALES else None
    if any(not unit or unit == _PERCENT for unit in measure.readings):
        rest = measure.is_whole and measure.readings == {1.0: ((),), 100.0: (_PERCENT,)}.get(value or 0.0)
        return measure if rest else None  # `1 - used / total`; of `1 + share` nobody knows
    return measure


def _product(left: Meaning, right: Meaning) -> Meaning:
    left, right = _converting(left), _converting(right)
    match left, right:
        case Measure(), Measure():
            return _percent_of(left, right) or _percent_of(right, left) or _times(left, right, 1)
        case (PercentOf(measure=measure), Factor(value=0.01)) | (
            Factor(value=0.01),
            PercentOf(measure=measure),
        ):
            return measure
        case (Measure() as measure, Factor(value=value)) | (Factor(value=value), Measure() as measure):
            return _scaled(measure, value)
        case (Measure() as measure, Count()) | (Count(), Measure() as measure):
            return _counted(measure)
        case ((Factor() | Count()), (Factor() | Count())):
            return _of_literals("*", left, right)
        case (other, UnitObject(unit=unit)) | (UnitObject(unit=unit), other):
            return _labelled(other, unit, 1)
        case PhysicalQuantity(), PhysicalQuantity():
            return _physical(_times(left.measure, right.measure, 1))
        case (PhysicalQuantity() as quantity, Factor() | Count()) | (
            Factor() | Count(),
            PhysicalQuantity() as quantity,
        ):
            return quantity
        case _:
            return None


def _converting(meaning: Meaning) -> Meaning:
    """What a factor does: it multiplies as a number of its two units would."""
    return meaning.measure if isinstance(meaning, ConversionFactor) else meaning


def _quotient(left: Meaning, right: Meaning) -> Meaning:
    left, right = _converting(left), _converting(right)
    match left, right:
        case Measure(), Measure():
            return _times(left, right, -1)
        case Measure(), Factor(value=value):
            return _scaled(left, 1 / value if value else None)
        case PercentOf(measure=measure), Factor(value=100):
            return measure
        case Measure(), Count():
            return _counted(left)
        case Factor() | Count(), Measure():
            inverse = _times(RATIO, right, -1)
            return _scaled(inverse, left.value) if inverse and isinstance(left, Factor) else None
        case ((Factor() | Count()), (Factor() | Count())):
            return _of_literals("/", left, right)
        case other, UnitObject(unit=unit):
            return _labelled(other, unit, -1)
        case PhysicalQuantity(), PhysicalQuantity():
            return _physical(_times(left.measure, right.measure, -1))
        case PhysicalQuantity(), Factor() | Count():
            return left
        case _:
            return None


def _remainder(left: Meaning, right: Meaning) -> Meaning:
    match left, right:
        case Measure(), Factor():
            return left
        case Measure(), Measure():
            return left if fit(left, right) == "same" else None
        case Factor(), Factor():
            return _of_literals("%", left, right)
        case _:
            return None


def _power(left: Meaning, right: Meaning) -> Meaning:
    match left, right:
        case Factor(), Factor():
            return _of_literals("**", left, right)
        case Measure(), Factor(value=float(value)) if not is_absolute(left) and abs(value) <= _MOST_POWER:
            return _raised(left, value)
        case PhysicalQuantity(measure=measure), Factor(value=float(value)) if abs(value) <= _MOST_POWER:
            return _physical(_raised(measure, value))
        case UnitObject(unit=unit), Factor(value=float(value)) if (
            value.is_integer() and abs(value) <= _MOST_POWER
        ):
            return UnitObject(product((unit, int(value))))
        case _:
            return None


def square_root(meaning: Meaning) -> Meaning:
    """The unit of a square root."""
    return _power(meaning, Factor(0.5))


def _raised(measure: Measure, exponent: float) -> Measure | None:
    readings = []
    for unit in measure.readings:
        if _is_share(unit) or any(not (power * exponent).is_integer() for _, power in unit):
            return None
        readings.append(tuple((name, int(power * exponent)) for name, power in unit))
    return with_readings(readings, measure.loose, is_whole=measure.is_whole, is_either=measure.is_either)


# ---------------------------------------------------------------------------------------------------- parts


def _is_share(unit: Factors) -> bool:
    """Whether it may be a fraction as well as a percentage: nobody keeps them apart in names."""
    return any(name in _SHARES for name, _ in unit)


def _may_be_fraction(share: Factors, unit: Factors) -> bool:
    """Whether a share may be in a unit of fractions: `used / total` under a name in percent, or the 1/h of %/h."""
    bare = tuple(factor for factor in share if factor[0] not in _PERCENTAGES)
    return (_is_share(share) and unit in _FRACTIONS) or (bare != share and unit == bare)


def _percent_of(measure: Measure, share: Measure) -> PercentOf | None:
    """What a number times a percentage is, if that is one: a division by 100 shows it."""
    is_share = share.readings == (_PERCENT,) and not any(map(_is_share, measure.readings))
    return PercentOf(measure) if is_share and not is_absolute(measure) else None


def _times(left: Measure, right: Measure, exponent: int) -> Measure | None:
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
    """Whether a product means what its units say: a price times a mass is in no USD*kg, but was one per kg."""
    powers = dict(a)
    cancels = any(powers.get(name, 0) * power < 0 for name, power in b)
    each_time = tuple(f for f in result if f[1] > 0 or f[0] not in TIME_UNITS)  # `power_kw * hours_per_year`
    return cancels or not a or not b or is_named(result) or is_named(each_time)


def _scaled(measure: Measure, factor: float | None) -> Measure | None:
    """A number times a literal: a conversion where there is a unit of that size, else anything."""
    if not factor or not math.isfinite(factor) or is_absolute(measure):
        return None
    factor = abs(factor)
    if math.isclose(factor, 1):
        return _counted(measure)  # a specific heat of 1.0, say
    readings: list[Factors] = []
    for unit in measure.readings:
        if not unit and math.isclose(factor, 100):
            readings.append(_PERCENT)
            continue
        if measure.readings == (_PERCENT,) and math.isclose(factor, 0.01):
            return Measure(((),), measure.loose, is_whole=True)  # who divides by 100 has a percentage
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
    """A power of 1,024 as that of 1,000 which it stands for among bytes: a GB is 1,024 MB to many."""
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


def _counted(measure: Measure) -> Measure:
    """For each of many, or of many together."""
    return Measure(measure.readings, True, measure.is_difference, measure.is_whole, measure.is_either)


def _labelled(other: Meaning, unit: Factors, exponent: int) -> Meaning:
    """A number, or what is unknown, times a unit of a library."""
    match other:
        case PhysicalQuantity(measure=measure):
            return _physical(_times(measure, Measure((unit,)), exponent))
        case UnitObject(unit=first):
            return UnitObject(product((first, 1), (unit, exponent)))
        case Fields() | Places():
            return None
        case _:
            return PhysicalQuantity(Measure((product((unit, exponent)),)))


def _physical(measure: Measure | None) -> PhysicalQuantity | None:
    return PhysicalQuantity(measure) if measure is not None else None


_OPERATIONS: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "%": lambda a, b: a % b,
    "**": lambda a, b: a**b,
}


def _of_literals(op: str, left: Factor | Count, right: Factor | Count) -> Meaning:
    match left, right:
        case Factor(value=float(a)), Factor(value=float(b)):
            try:
                value = _OPERATIONS[op](a, b)
            except ArithmeticError:
                return Factor(None)
            return Factor(value if isinstance(value, float) else None)  # no root of a negative number
        case Factor(), Factor():
            return Factor(None)
        case Count(), Count() if op == "/":
            return Measure(((),), loose=True, is_whole=True)
        case _:
            return COUNT if op in "+-" else Factor(None)

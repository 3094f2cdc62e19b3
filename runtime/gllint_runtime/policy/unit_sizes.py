"""How large a unit is, in which physical dimension, and which unit a number of another is in after a conversion.

The allowlist and the packs keep apart what must never be taken for each other in a claim (a force times a length is no
energy there). Arithmetic needs physics: here the same definitions are read over the dimensions of mechanics and
electricity (``base_dimensions.txt``). A year is no number of seconds, emissions are no mass, each currency is its own.
What no pack has is pint's. Nothing is loaded before two units have to be compared that are not written the same.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from typing import Literal, NamedTuple, TypeAlias

from gllint_runtime.policy.data_files import sections
from gllint_runtime.policy.packs import PACKS
from gllint_runtime.policy.stock_units import stock_size
from gllint_runtime.policy.unit_expressions import TRAILING_POWER, Factors, factors_of
from gllint_runtime.policy.unit_spellings import as_listed
from gllint_runtime.policy.unit_table import ALLOWED_UNITS, TIME_UNITS, pack_units, units
from gllint_runtime.policy.units import size_in_bases, unit_dimension

TOLERANCE = 1e-6
"""Two sizes are one where they differ by less than this, relatively: definitions are rounded somewhere."""

ROUNDING = 5e-4
"""A literal factor is the ratio of two units where it differs by less: people write 0.4536 and 1.609."""

Relation: TypeAlias = Literal["same", "size", "dimension"]

_MOST_FACTORS = 12
_FARTHEST = 1e100  # no two units are as far apart
_HIGHEST_POWER = 3  # of a factor that is replaced: a volume is a length to the third
_ANY = "currency"


class UnitSize(NamedTuple):
    """A unit over the base dimensions, and how many of their base units it is."""

    dimension: frozenset[tuple[str, int]]
    factor: Fraction


def relation(unit: Factors, other: Factors) -> Relation | None:
    """Return how two units are related: "same", "size" (kWh and MWh), "dimension" (kWh and m); ``None`` if unknown."""
    if Counter(dict(unit)) == Counter(dict(other)):
        return "same"
    size, other_size = size_of(unit), size_of(other)
    if size is None or other_size is None:
        return None
    if _of_one_currency(size.dimension, other_size.dimension) != other_size.dimension:
        return "dimension"
    return "same" if math.isclose(size.factor, other_size.factor, rel_tol=TOLERANCE) else "size"


def ratio(unit: Factors, other: Factors) -> float | None:
    """Return how many ``other`` one ``unit`` is: MWh, kWh → 1000.

    ``None`` if their dimensions differ or are unknown.
    """
    size, other_size = size_of(unit), size_of(other)
    if (
        size is None
        or other_size is None
        or _of_one_currency(size.dimension, other_size.dimension) != other_size.dimension
    ):
        return None
    return float(size.factor / other_size.factor)


def _of_one_currency(
    dimension: frozenset[tuple[str, int]], other: frozenset[tuple[str, int]]
) -> frozenset[tuple[str, int]]:
    """Return ``dimension`` in the currency of ``other`` if one of the two is in cents of an unknown currency."""
    if dimension == other or (_ANY, 1) not in dimension ^ other:
        return dimension
    mine, theirs = ({base for base in each if base[0].startswith("currency")} for each in (dimension, other))
    # Only where each has one currency, and not in a divisor.
    is_one = len(mine) == len(theirs) == 1 and {power for _, power in mine | theirs} == {1}
    return dimension - mine | theirs if is_one else dimension


def is_of_any_currency(unit: Factors) -> bool:
    """Return whether it is an unnamed part of a currency, which is not a unit of a Quantity."""
    return any(name in _bases()["parts"] for name, _ in unit)


def is_logarithm(unit: str) -> bool:
    """Return whether numbers in ``unit`` are logarithms, as those in dB and of pH are."""
    return unit_dimension(unit) in sections("base_dimensions.txt")["scales"]["logarithms"].split()


def quotient(above: str, below: str) -> str:
    """Return the unit of a number of ``above`` divided by one of ``below``: kWh, kWh/m2 → ``m2``; EUR, kWh →
    ``EUR/kWh``.

    Raises ValueError for a text that is no unit.
    """
    over, under = product((factors_of(above), 1)), product((factors_of(below), 1))
    powers = dict(over)
    if any(powers.get(name, 0) * power > 0 for name, power in under):
        return text_of(product((over, 1), (under, -1)))
    return f"{above}/({below})" if any(mark in below for mark in "*/") else f"{above}/{below}"


def product(*factors: tuple[Factors, int]) -> Factors:
    """Return the product of units, each raised to a power; what cancels is left out."""
    powers: Counter[str] = Counter()
    for unit, exponent in factors:
        for name, power in unit:
            powers[name] += power * exponent
    return tuple(sorted((name, power) for name, power in powers.items() if power))


def converted(unit: Factors, factor: float) -> Factors | None:
    """Return the unit of a number of ``unit`` after it was multiplied by ``factor``; ``None`` if no unit has that size.

    Wh, 0.001 → ``kWh``; Wh, 0.5 → ``None``; EUR/kWh, 1000 → ``EUR/MWh``; km/h, 1 / 3.6 → ``m/s``.
    """
    if not 1 / _FARTHEST < factor < _FARTHEST:
        return None
    if math.isclose(factor, 1):
        return unit
    # Money last: of a price per kWh, the kWh changes. One factor `m` with the power -2 changes by the root.
    for i, (name, power) in sorted(enumerate(unit), key=lambda entry: _is_money(_size_of_one(entry[1][0]))):
        if abs(power) <= _HIGHEST_POWER and (other := _of_size(name, factor ** (-1 / power))) is not None:
            return product((unit[:i] + unit[i + 1 :], 1), (((other, power),), 1))
    size = size_of(unit)
    if size is None or len(unit) < 2:
        return None
    return _sized(size.dimension, float(size.factor) / factor) or _both_converted(unit, factor)


def _both_converted(unit: Factors, factor: float) -> Factors | None:
    """Return a quotient with both factors converted: km/h, 1 / 3.6 → ``m/s``; ``None`` if no two units fit."""
    if len(unit) != 2:
        return None
    (name, power), rest = unit[0], unit[1:]
    size = _size_of_one(name)
    if size is None or abs(power) != 1:
        return None
    for other, other_size in _by_dimension().get(size.dimension, ()):
        if other != name and (match := converted(rest, factor / (float(size.factor / other_size)) ** power)):
            return product((((other, power),), 1), (match, 1))
    return None


def is_named(unit: Factors) -> bool:
    """Return whether there is a unit with a name of this dimension, of whatever size; true if it is not known."""
    size = size_of(unit)
    return size is None or not size.dimension or size.dimension in _by_dimension()


def text_of(unit: Factors) -> str:
    """Return the unit as it is written: ``"kWh/m2"``."""
    above = [_raised(name, power) for name, power in unit if power > 0]
    below = [_raised(name, -power) for name, power in unit if power < 0]
    return "/".join(["*".join(above) or "1", *below])


def name_of(unit: Factors) -> str:
    """Return a unit as people write it: ``kW*h`` → ``"kWh"``, ``()`` → ``"1"``."""
    if not unit:
        return "1"
    size = size_of(unit) if len(unit) > 1 else None
    if size is not None and size.dimension:
        for name, factor in _by_dimension().get(size.dimension, ()):
            if factor == size.factor and name in ALLOWED_UNITS:
                return name
    return text_of(tuple(sorted(unit, key=lambda factor: factor[0] in TIME_UNITS)))


def factors_of_unit(unit: str) -> Factors:
    """Return the factors of a unit as a Quantity, a schema or a name writes it; none for a bare number."""
    return product((factors_of(as_listed(unit, packs=PACKS)), 1))


@lru_cache(maxsize=4096)
def size_of(unit: Factors) -> UnitSize | None:
    """Return the dimension and size of a unit: km/h → length/time, 5/18.

    ``None`` if a factor is unknown, or is a level (dB).
    """
    dimension: Counter[str] = Counter()
    factor = Fraction(1)
    if len(unit) > _MOST_FACTORS:
        return None
    for name, power in unit:
        size = _size_of_one(name)
        if size is None or abs(power) > _MOST_FACTORS:
            return None
        for base, exponent in size.dimension:
            dimension[base] += exponent * power
        factor *= size.factor**power
    return UnitSize(frozenset((base, power) for base, power in dimension.items() if power), factor)


@lru_cache(maxsize=4096)
def _size_of_one(name: str) -> UnitSize | None:
    """Return the dimension and size of one factor of a unit, a number included.

    Example: ``"km"``, ``"m2"``, ``"100"``; else ``None``.
    """
    if name.isdecimal():
        return UnitSize(frozenset(), Fraction(name))
    if (part := _bases()["parts"].get(name)) is not None:
        return part
    ours = size_in_bases(name)
    if ours is not None:
        return _in_physics(*ours, _bases()["physics"])
    match = TRAILING_POWER.match(name)
    if match is not None:
        return size_of(((match[1], int(match[2])),))
    size = None if unit_dimension(name) in _scales() else stock_size(name)
    return None if size is None else _in_physics(size[0], Fraction(size[1]), _bases()["stock"])


def _in_physics(
    exponents: Mapping[str, int], factor: Fraction, bases: Mapping[str, UnitSize]
) -> UnitSize | None:
    """Return a size in our base dimensions as one in those of physics: energy → mass * length2 / time2.

    ``None`` if a base is a logarithmic scale.
    """
    dimension: Counter[str] = Counter()
    for base, power in exponents.items():
        if base in _scales():
            return None
        # A base without a row is one of physics itself.
        meaning = bases.get(base) or UnitSize(frozenset({(base, 1)}), Fraction(1))
        factor *= meaning.factor**power
        for name, exponent in meaning.dimension:
            dimension[name] += exponent * power
    return UnitSize(frozenset((base, power) for base, power in dimension.items() if power), factor)


@cache
def _bases() -> Mapping[str, Mapping[str, UnitSize]]:
    return {
        section: {base: _read(meaning) for base, meaning in rows.items()}
        for section, rows in sections("base_dimensions.txt").items()
        if section != "scales"
    }


def _read(meaning: str) -> UnitSize:
    """``"1000 mass length^2"`` as a size."""
    factor, *names = meaning.split()
    powers = [name.partition("^") for name in names]
    return UnitSize(frozenset((name, int(power or 1)) for name, _, power in powers), Fraction(factor))


@cache
def _scales() -> frozenset[str]:
    return frozenset(sections("base_dimensions.txt")["scales"]["words"].split())


# ------------------------------------------------------------------------------------------- units of a size


@cache
def _by_dimension() -> Mapping[frozenset[tuple[str, int]], Sequence[tuple[str, Fraction]]]:
    """Return the units with a name and their sizes, by dimension, those of the allowlist first."""
    table: dict[frozenset[tuple[str, int]], list[tuple[str, Fraction]]] = {}
    for name in dict.fromkeys(_names()):
        size = size_of(factors_of(name))
        if size is not None:
            table.setdefault(size.dimension, []).append((name, size.factor))
    return table


def _names() -> Iterable[str]:
    yield from ALLOWED_UNITS
    yield from TIME_UNITS
    yield from (name for name in pack_units(PACKS) if name.isascii() and "/" not in name)
    yield from (unit.symbol for unit in units().values() if not unit.packs and unit.size != "-")
    yield from _bases()["parts"]


_LEAST_OF_A_CURRENCY = Fraction(1, 100)


@lru_cache(maxsize=1024)
def _of_size(name: str, ratio_to_name: float) -> str | None:
    """Return the unit that is ``ratio_to_name`` of ``name``: "Wh", 1000 → ``"kWh"``; ``None`` if there is none.

    Not a thousandth or a millionth of a currency: only a name says that, no multiplication.
    """
    size = _size_of_one(name)
    if size is None:
        return None
    is_money = _is_money(size)
    return next(
        (
            other
            for other, factor in _by_dimension().get(size.dimension, ())
            if math.isclose(factor / size.factor, ratio_to_name, rel_tol=ROUNDING)
            if not (is_money and factor < _LEAST_OF_A_CURRENCY)
        ),
        None,
    )


def _is_money(size: UnitSize | None) -> bool:
    """Return whether a unit is a currency or a part of one."""
    return size is not None and any(base.startswith("currency") for base, _ in size.dimension)


def _sized(dimension: frozenset[tuple[str, int]], factor: float) -> Factors | None:
    for name, size in _by_dimension().get(dimension, ()):
        if math.isclose(size, factor, rel_tol=ROUNDING):
            return product((factors_of(name), 1))
    return None


def _raised(name: str, power: int) -> str:
    return name if power == 1 else f"{name}^{power}" if not name[-1].isdigit() else f"({name})^{power}"

"""Units: which ones a Quantity may have, of what dimension they are, and how two Quantities compare.

One decision, :func:`judge_unit`, serves the rules (on literals) and the runtime (on values). Deciding needs
no pint, nor does converting (``units.txt`` defines the units): pint loads only to distinguish a real but unlisted
unit ("lb") from a word that is none.

The allowlist is seed 000's, exact and case-sensitive. Beyond it: compounds of allowed units and units of time
(``kWh/year``, ``kgCO2e/kWh``, ``USD/(m2*month)``, ``m^2``), unless ``strict``. A unit of time alone is not on
the list.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from gllint_runtime.policy.errors import GLValidationError
from gllint_runtime.policy.packs import PACKS
from gllint_runtime.policy.stock_units import stock_dimensions, stock_name, stock_sizes_agree
from gllint_runtime.policy.unit_expressions import MAX_LENGTH, factors_of
from gllint_runtime.policy.unit_spellings import (
    Spelling,
    as_listed,
    divisor_of_time,
    plain_spelling,
    spelling_of,
)
from gllint_runtime.policy.unit_table import (
    ALLOWED_UNITS as ALLOWED_UNITS,
)
from gllint_runtime.policy.unit_table import (
    CANONICAL_UNITS,
    DERIVED_DIMENSIONS,
    pack_units,
    units,
)
from gllint_runtime.policy.unit_table import (
    TIME_UNITS as TIME_UNITS,
)

if TYPE_CHECKING:
    from gllint_runtime.policy.schemas import Quantity

_LENGTHS = {1: "length", 2: "area", 3: "volume"}

_TITLE = 40


class UnitVerdict(NamedTuple):
    """What is known of a unit string.

    ``status`` is ``"allowed"``, ``"not-allowed"`` (a unit, but none of ours) or ``"unknown"`` (no unit at
    all). ``dimension`` reads like ``"energy/area/year"`` and is ``None`` where it is not known, as for a
    project's own units. ``nearest`` is the unit of the same dimension and size that is meant, ``reason`` one
    sentence for people. ``symbol`` is an allowed unit as the allowlist writes it (``m3`` for ``m³``), ``spelling``
    what is known of the way in which any other is written.
    """

    unit: str
    status: Literal["allowed", "not-allowed", "unknown"]
    dimension: str | None
    nearest: str | None
    reason: str
    symbol: str
    spelling: Spelling = Spelling()


def judge_unit(
    unit: str, *, extend: Collection[str] = (), strict: bool = False, packs: Collection[str] = ()
) -> UnitVerdict:
    """Say whether a Quantity may have ``unit``.

    ``extend`` lists a project's own units, known to pint or not; ``packs`` names tables of further ones;
    ``strict`` switches compounds off. The empty string is dimensionless and, unless extended, not allowed.
    """
    return _of_ours(unit, extend, strict, packs) or _refused(unit, frozenset(extend))


def is_allowed(
    unit: str, *, extend: Collection[str] = (), strict: bool = False, packs: Collection[str] = ()
) -> bool:
    """Say whether a Quantity may have ``unit``, and no more: without pint, which knows why not."""
    verdict = _of_ours(unit, extend, strict, packs)
    return verdict is not None and verdict.status == "allowed"


def dimension_of(unit: str, *, extend: Collection[str] = (), packs: Collection[str] = ()) -> str | None:
    """Return the dimension of ``unit`` as canonical text, or ``None`` if it is unknown."""
    return judge_unit(unit, extend=extend, packs=packs).dimension


def packs_for(unit: str) -> tuple[str, ...] | None:
    """Return the packs that allow ``unit``.

    ``"V"`` → ``("electrical",)``; ``()`` if it needs none, ``None`` if no packs do.

    One pack if one is enough, else one for each name in the unit.
    """
    if is_allowed(unit):
        return ()
    symbol = as_listed(unit, packs=PACKS)
    listing = [pack for pack in PACKS if symbol in pack_units((pack,))]  # goes before a pack of its factors
    alone = next((pack for pack in (*listing, *PACKS) if is_allowed(unit, packs=(pack,))), None)
    if alone is not None:
        return (alone,)
    if not is_allowed(unit, packs=PACKS):
        return None
    factors = factors_of(symbol)
    further = [name for name, _ in factors if name not in ALLOWED_UNITS and name not in TIME_UNITS]
    further = ["1" if name.isdecimal() else name for name in further]
    needed = {next(pack for pack in PACKS if name in pack_units((pack,))) for name in further}
    return tuple(pack for pack in PACKS if pack in needed)


def is_same_size(unit: str, other: str) -> bool | None:
    """Return whether two units have the same dimension and size, ``None`` if that is unknown: ``"Wh", "W*h"`` → True.

    The units of all packs count, enabled or not.
    """
    unit, other = as_listed(unit, packs=PACKS), as_listed(other, packs=PACKS)
    if unit == other:
        return True
    if not (_is_ours(unit) and _is_ours(other)):
        return stock_sizes_agree(unit, other)
    return _dimension(unit, PACKS) == _dimension(other, PACKS) and _scale(unit, PACKS) == _scale(other, PACKS)


@lru_cache(maxsize=1024)
def unit_meant(text: str) -> str | None:
    """Return the unit that a text means, in gllint's spelling.

    "kilowatt-hours" → ``"kWh"``; ``None`` for none or several.
    """
    if len(text) > MAX_LENGTH:
        return None
    symbol = as_listed(text, packs=PACKS)
    if _is_ours(symbol):
        return symbol
    return spelling_of(text).meant


def _is_ours(symbol: str) -> bool:
    return is_allowed(symbol, packs=PACKS) or symbol in TIME_UNITS


class Conversion(NamedTuple):
    """``value * factor + offset`` is the value in another unit, exactly."""

    factor: Fraction
    offset: Fraction

    def of(self, value: Any) -> Fraction | None:
        """Return the value in the other unit; ``None`` for what is no finite number."""
        exact = _exact(value)
        return None if exact is None else exact * self.factor + self.offset


_SAME = Conversion(Fraction(1), Fraction(0))


@lru_cache(maxsize=1024)
def conversion(unit: str, target: str) -> Conversion | None:
    """Return the factor and offset from ``unit`` to ``target``.

    ``"degC", "degF"`` → 9/5 and 32; ``None`` if unknown.
    """
    unit, target = as_listed(unit, packs=PACKS), as_listed(target, packs=PACKS)
    if unit == target:
        return _SAME
    dimension = _dimension(unit, PACKS)
    if dimension is None or dimension != _dimension(target, PACKS):
        return None
    (factor, offset), (target_factor, target_offset) = _scale(unit, PACKS), _scale(target, PACKS)
    return Conversion(factor / target_factor, (offset - target_offset) / target_factor)


def rounded_like(value: Any, exact: Fraction) -> Any:
    """Return ``exact`` in the type of ``value``: an integer stays one if it can, a Decimal or Fraction stays; else
    a float.
    """
    match value:
        case int() if exact.denominator == 1:
            return int(exact)
        case Decimal():
            return _decimal(exact)
        case Fraction():
            return exact
    return float(exact)


@lru_cache(maxsize=4096)
def unit_dimension(unit: str) -> str | None:
    """Return the dimension of a unit of the table, packs or not, or of one made of these; pint is not asked for it."""
    return _dimension(as_listed(unit, packs=PACKS), PACKS)


class Measure(NamedTuple):
    """The size of a unit: ``value * factor + offset`` is in the base units of the ``dimension``."""

    dimension: str
    factor: Fraction
    offset: Fraction


@lru_cache(maxsize=4096)
def measure_of(unit: str) -> Measure | None:
    """Return the dimension and the size of a unit of the allowlist, of any pack, or made of these.

    ``None`` for any other.
    """
    symbol = as_listed(unit, packs=PACKS)
    dimension = _dimension(symbol, PACKS)
    return None if dimension is None else Measure(dimension, *_scale(symbol, PACKS))


@lru_cache(maxsize=1024)
def size_in_bases(name: str) -> tuple[Mapping[str, int], Fraction] | None:
    """Return a unit over our base dimensions, and its size.

    ``"kWh"`` → ``({"energy": 1}, 1000)``; ``None`` if unknown.

    Of a temperature it is the size of a degree.
    """
    exponents = _exponents(name, PACKS, False)
    return None if exponents is None else (exponents, _scale(name, PACKS)[0])


def unit_title(unit: str) -> str:
    """Return a unit as a message names it: in full, unless it is too long to be a unit."""
    return unit if len(unit) <= MAX_LENGTH else f"{unit[:_TITLE]}…"


def unit_help(verdict: UnitVerdict, is_nearest_allowed: bool, allowing: Callable[[str], str]) -> str:
    """Return what to do about a unit that is not allowed: "Did you mean `kWh`?"

    ``allowing`` gives the setting that would allow a unit (``unit-packs = ["si"]``); ``verdict.nearest`` needs none if
    ``is_nearest_allowed``.
    """
    spelling, nearest = verdict.spelling, verdict.nearest
    if spelling.is_placeholder:
        return f"{spelling.remark} Write the unit of the value in its place."
    if len(verdict.unit) > MAX_LENGTH:
        return "A unit cannot be that long. Write the unit of the value in its place."
    if spelling.is_ambiguous:
        return spelling.remark
    if nearest is not None:
        is_unknown = verdict.status == "unknown"
        text = f"Did you mean `{nearest}`?" if is_unknown else f"Write `{nearest}`, which is the same unit."
        return text if is_nearest_allowed else f"{text} Allow `{nearest}` with `{allowing(nearest)}`."
    if not verdict.unit.strip():
        return f"Write the unit of the value, or allow the empty one with `{allowing(verdict.unit)}`."
    if spelling.remark:
        return f"{spelling.remark} If you mean `{verdict.unit}`, allow it with `{allowing(verdict.unit)}`."
    if packs_for(verdict.unit) or verdict.status == "not-allowed":
        return f"Allow it with `{allowing(verdict.unit)}`, or convert the value to an allowed unit."
    return f"Correct the unit, or add it with `{allowing(verdict.unit)}`."


def _of_ours(unit: str, extend: Collection[str], strict: bool, packs: Collection[str]) -> UnitVerdict | None:
    """Return the verdict on what is made of our units, for which pint is never asked; ``None`` for anything else."""
    if (
        unit not in extend and len(plain_spelling(unit)) > MAX_LENGTH
    ):  # nothing that long is read, or kept in a cache
        return UnitVerdict(unit, "unknown", None, None, "It cannot be read as a unit.", unit)
    return _judge(unit, frozenset(extend), strict, tuple(packs))


@lru_cache(maxsize=4096)
def _judge(unit: str, extend: frozenset[str], strict: bool, packs: tuple[str, ...]) -> UnitVerdict | None:
    """Return the verdict on a unit by the lists of allowed units and their compounds.

    ``None`` if it has another name in it.
    """
    further = pack_units(packs)
    symbol = as_listed(unit, extend, packs)
    for listed, reason in (
        (extend, "It is one of the project's own units."),
        (ALLOWED_UNITS, "It is on the allowlist."),
        (further, "It is in a pack of units."),
    ):
        if symbol in listed:
            return UnitVerdict(unit, "allowed", _dimension(symbol, packs), None, reason, symbol)
    if not unit.strip():
        reason = "The empty unit means dimensionless, which is not allowed."
        return UnitVerdict(unit, "not-allowed", "dimensionless", None, reason, unit)
    names = dict(factors_of(symbol))
    tables = (ALLOWED_UNITS, TIME_UNITS, extend, further)
    numbers = {name for name, power in names.items() if "1" in further and _is_factor(name, power)}
    if not all(name in numbers or any(name in units for units in tables) for name in names):
        return None
    is_time = not names.keys().isdisjoint(TIME_UNITS)
    if is_time and len(names) == 1 and names.keys().isdisjoint({*extend, *further}):
        reason = "A unit of time is allowed inside a compound (kWh/year), not alone."
        return UnitVerdict(unit, "not-allowed", _dimension(symbol, packs), None, reason, symbol)
    of_time = " and units of time" if is_time else ""
    kind = f"a compound of allowed units{of_time} ({', '.join(names)})"
    if strict:
        reason = f"It is {kind}; with `strict-units = true`, only the listed spellings are allowed."
        return UnitVerdict(unit, "not-allowed", _dimension(symbol, packs), None, reason, symbol)
    return UnitVerdict(unit, "allowed", _dimension(symbol, packs), None, f"It is {kind}.", symbol)


def _is_factor(name: str, power: int) -> bool:
    """Return whether a number is part of a unit, and not of the value: a power of ten (``10^9/L``), or
    ``g/(24*h)``.
    """
    return name.isdecimal() and (power < 0 or (name == "10" and power > 1))


@lru_cache(maxsize=4096)
def _refused(unit: str, extend: frozenset[str]) -> UnitVerdict:
    """Return the verdict on a unit that no list allows: "not-allowed" for ``"furlong"``, "unknown" for ``"kWhh"``."""
    spelling = spelling_of(unit, extend)
    dimension = _dimension(_lenient(unit), stock=True)
    nearest = spelling.meant
    if dimension is None:
        reason = "It cannot be read as a unit."
        return UnitVerdict(unit, "unknown", None, nearest, reason, unit, spelling)
    # Where it is not sure which unit is meant, no dimension is given, so that none is named for a wrong unit.
    dimension = (
        None
        if spelling.is_ambiguous or (nearest is None and (spelling.remark or _is_abbreviation_of_pint(unit)))
        else _dimension(nearest or _lenient(unit), PACKS, stock=True) or dimension
    )
    reason = "It is a unit, but not on the allowlist."
    return UnitVerdict(unit, "not-allowed", dimension, nearest, reason, unit, spelling)


def _is_abbreviation_of_pint(unit: str) -> bool:
    """Return whether a part of a unit is known to pint alone, and by a symbol: `pp` is a length there."""
    names = [name for name, _ in factors_of(_lenient(unit)) if name not in units() and name not in TIME_UNITS]
    return any((full := stock_name(name)) is not None and name not in (full, f"{full}s") for name in names)


# ----------------------------------------------------------------------------------------- reading a unit

_TYPOGRAPHY = str.maketrans({"·": "*", "×": "*", "⋅": "*", "²": "2", "³": "3", "₂": "2", "−": "-", "∕": "/"})


def _lenient(unit: str) -> str:
    """The same unit with typography, ``per`` and blanks between factors written as operators."""
    text = re.sub(r"\s+per\s+|_per_", "/", plain_spelling(unit).translate(_TYPOGRAPHY).strip())
    text = re.sub(r"\A1\s*/", "%/", text)
    return re.sub(r"\s+", "*", re.sub(r"\s*([*/^()])\s*", r"\1", text))


# --------------------------------------------------------------------------------------------- dimensions


@lru_cache(maxsize=4096)
def _dimension(unit: str, packs: tuple[str, ...] = (), *, stock: bool = False) -> str | None:
    """Return the dimension of an expression as text; ``None`` when a factor is not known."""
    exponents = _exponents(unit, packs, stock)
    return None if exponents is None else _text(exponents)


def _exponents(unit: str, packs: tuple[str, ...], stock: bool) -> Counter[str] | None:
    """Return a unit over the base dimensions.

    ``"kWh/m2"`` → ``{"energy": 1, "length": -2}``; ``None`` if a name is unknown.
    """
    total: Counter[str] = Counter()
    for name, power in factors_of(unit):
        part = {} if _is_factor(name, power) else _of_one(name, packs, stock)
        if part is None:
            return None
        for base, exponent in part.items():
            total[base] += exponent * power
    return total


def _of_one(name: str, packs: tuple[str, ...], stock: bool) -> Mapping[str, int] | None:
    """Return one name of a unit over the base dimensions: ``"kWh"`` → ``{"energy": 1}``; ``None`` if it is unknown.

    ``stock``: pint's registry is asked for names that our tables do not have.
    """
    if dimension := ALLOWED_UNITS.get(name) or TIME_UNITS.get(name):
        return (
            dict(factors_of(DERIVED_DIMENSIONS[dimension]))
            if dimension in DERIVED_DIMENSIONS
            else {dimension: 1}
        )
    defined = units().get(name)
    if defined is not None and (not defined.packs or not {*packs}.isdisjoint(defined.packs)):
        base = _size(defined.size)[1]
        return _exponents(base, PACKS, False) if base else {defined.dimension: 1}
    dimensions = stock_dimensions(name) if stock else None
    time = divisor_of_time(name)  # of which pint makes a number of days
    return dimensions if dimensions is None or time is None else {TIME_UNITS[time]: 1}


def _text(exponents: Counter[str]) -> str:
    """Return a dimension in words: ``{"energy": 1, "length": -2}`` → ``"energy/area"``."""
    del exponents["dimensionless"]
    while exponents["energy"] > 0 > exponents["time"]:  # energy per time is named a power
        exponents.update({"energy": -1, "time": 1, "power": 1})
    length = exponents["length"]
    if abs(length) in _LENGTHS:
        del exponents["length"]
        exponents[_LENGTHS[abs(length)]] = 1 if length > 0 else -1
    order = [*CANONICAL_UNITS]
    ranked = sorted(exponents, key=lambda base: (order.index(base) if base in order else -1, base))
    over = [_raised(base, exponents[base]) for base in ranked if exponents[base] > 0]
    under = [_raised(base, -exponents[base]) for base in ranked if exponents[base] < 0]
    return "/".join(["*".join(over) or "1", *under]) if over or under else "dimensionless"


def _raised(base: str, exponent: int) -> str:
    return base if exponent == 1 else f"{base}^{exponent}"


def _canonical(dimension: str) -> str | None:
    """Return the unit that a dimension is normalised to, word by word; ``None`` if there is none."""
    text = re.sub(
        r"[A-Za-z-]+", lambda word: CANONICAL_UNITS.get(word[0], word[0].removeprefix("currency-")), dimension
    )
    return text if is_allowed(text) else None


# ------------------------------------------------------------------------------------------------- how large


def _size(text: str) -> tuple[Fraction, str, Fraction]:
    """``"1 K + 5463/20"`` as a factor, the expression of which it is one (``""`` of a root), and an offset."""
    if text.startswith("["):
        return Fraction(1), "", Fraction(0)
    factor, _, rest = text.partition(" ")
    base, _, offset = rest.partition(" + ")
    return Fraction(factor), base, Fraction(offset or 0)


@lru_cache(maxsize=1024)
def _scale(unit: str, packs: tuple[str, ...]) -> tuple[Fraction, Fraction]:
    """Return ``(factor, offset)`` from a unit of ours to base units.

    "MWh" → ``(1000000, 0)``, "degC" → ``(1, 273.15)``.

    In a compound a degree is a difference, and has no offset.
    """
    if unit.isdecimal():
        return Fraction(unit), Fraction(0)
    row = units().get(unit)
    if row is None or row.size == "-":
        sizes = (_scale(name, packs)[0] ** power for name, power in factors_of(unit))
        return prod(sizes, start=Fraction(1)), Fraction(0)
    factor, base, offset = _size(row.size)
    if not base:
        return factor, offset
    factor_of_base, offset_of_base = _scale(base, packs)
    return factor * factor_of_base, offset * factor_of_base + offset_of_base


def exact_value(value: Any) -> Fraction:
    """Return a number as it is written: 0.1 is a tenth.

    Raises TypeError, ValueError or OverflowError for what is none.
    """
    return Fraction(Decimal(float.__repr__(value)) if isinstance(value, float) else value)


def _exact(value: Any) -> Fraction | None:
    """Return a finite real number as an exact Fraction; ``None`` for anything else, booleans and texts included."""
    if isinstance(value, (bool, str)):
        return None
    try:
        return exact_value(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / value.denominator


# ------------------------------------------------------------------------------------------- the registry


class UnitRegistry:
    """Units of one runtime: the allowlist, and exact arithmetic between its units.

    ``allowlist`` is a set that a project may extend in place; what it adds converts to nothing but itself
    unless it is made of known units. ``packs`` names tables of further units.
    """

    def __init__(
        self, extend: Collection[str] = (), *, strict: bool = False, packs: Collection[str] = ()
    ) -> None:
        self.packs = tuple(packs)
        self.of_packs = frozenset(pack_units(self.packs))
        self._listed = self.of_packs | ALLOWED_UNITS.keys()
        self.allowlist: set[str] = {*self._listed, *extend}
        self.strict = strict

    @property
    def own(self) -> set[str]:
        """The units that the project added itself."""
        return self.allowlist - self._listed

    def symbol(self, unit: str) -> str:
        """Return the unit as the allowlist writes it: ``m3`` for ``m³``."""
        return unit if unit.isascii() else as_listed(unit, self.own, self.packs)

    def is_allowed(self, unit: str) -> bool:
        """Return whether a Quantity may have ``unit`` here; case matters, typography does not (``m³`` is ``m3``)."""
        symbol = self.symbol(unit)
        return symbol in self.allowlist or (
            symbol not in ALLOWED_UNITS
            and is_allowed(symbol, extend=self.own, strict=self.strict, packs=self.packs)
        )

    def require(self, unit: str, path: str | None = None) -> None:
        """Raise GLValidationError UNIT_UNKNOWN unless ``unit`` is allowed."""
        if self.is_allowed(unit):
            return
        verdict = judge_unit(unit, extend=self.own, strict=self.strict, packs=self.packs)
        is_nearest_allowed = verdict.nearest is not None and self.is_allowed(verdict.nearest)
        hint = unit_help(verdict, is_nearest_allowed, _argument)
        message = f"Unit '{unit[:MAX_LENGTH]}' is not allowed. {verdict.reason}"
        raise GLValidationError("UNIT_UNKNOWN", message, hint=hint, path=path)

    def normalize(self, quantity: Quantity) -> tuple[Decimal, str]:
        """Return the value in the canonical unit of its dimension, and that unit: 1 tCO2e →
        ``(Decimal(1000), "kgCO2e")``.

        Raises GLValidationError UNIT_UNKNOWN for a unit that is not allowed.
        """
        self.require(quantity.unit)
        unit = self.symbol(quantity.unit)
        dimension = _dimension(unit, self.packs)
        target = (_canonical(dimension) if dimension else None) or unit
        value = quantity.value if target == unit else self._convert(quantity, target)
        return _decimal(value) if isinstance(value, Fraction) else Decimal(str(value)), target

    def convert_to(self, quantity: Quantity, target_unit: str) -> Quantity:
        """Return the Quantity in ``target_unit``: 2 km in m → 2000 m; integers, Decimals and Fractions stay exact.

        Raises UNIT_UNKNOWN if a unit is not allowed, or the dimensions differ.
        """
        from gllint_runtime.policy.schemas import Quantity

        self.require(quantity.unit)
        self.require(target_unit)
        unit, target_unit = self.symbol(quantity.unit), self.symbol(target_unit)
        if unit == target_unit:
            return Quantity(quantity.value, target_unit)
        dimension = _dimension(unit, self.packs)
        if dimension is None or dimension != _dimension(target_unit, self.packs):
            raise GLValidationError("UNIT_UNKNOWN", f"'{quantity.unit}' does not convert to '{target_unit}'.")
        return Quantity(rounded_like(quantity.value, self._convert(quantity, target_unit)), target_unit)

    def same_quantity(self, a: Quantity, b: Quantity, tolerance: float = 1e-9) -> bool:
        """Return whether two Quantities are equal once in the same unit.

        Integers are compared exactly, anything else to a relative ``tolerance`` with no absolute floor; temperatures
        in kelvin. NaN, infinity, booleans and different dimensions are never equal.
        """
        first, second = _exact(a.value), _exact(b.value)
        if first is None or second is None or not (self.is_allowed(a.unit) and self.is_allowed(b.unit)):
            return False
        unit, other = self.symbol(a.unit), self.symbol(b.unit)
        dimension = _dimension(unit, self.packs)
        if unit != other and (dimension is None or dimension != _dimension(other, self.packs)):
            return False
        # Near 0 °C a relative tolerance is next to nothing: temperatures are compared in kelvin.
        if unit != other or dimension == "temperature":
            first, second = self._in_base_units(first, unit), self._in_base_units(second, other)
        if isinstance(a.value, int) and isinstance(b.value, int):
            return first == second
        return abs(first - second) <= Fraction(tolerance) * max(abs(first), abs(second))

    def _in_base_units(self, value: Fraction, unit: str) -> Fraction:
        factor, offset = _scale(unit, self.packs)
        return value * factor + offset

    def _convert(self, quantity: Quantity, unit: str) -> Fraction:
        value = _exact(quantity.value)
        if value is None:
            raise GLValidationError("UNIT_UNKNOWN", f"{quantity.value!r} is not a finite number.")
        factor, offset = _scale(unit, self.packs)
        return (self._in_base_units(value, self.symbol(quantity.unit)) - offset) / factor


def _argument(unit: str) -> str:
    """Return the arguments of a registry that allow a unit."""
    packs = packs_for(unit)
    return f"packs={[*packs]!r}" if packs else f"extend_units={[unit[:MAX_LENGTH]]!r}"

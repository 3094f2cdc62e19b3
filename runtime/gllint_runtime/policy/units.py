"""Units: which ones a Quantity may carry, of what dimension they are, and how two Quantities compare.

One decision, :func:`judge_unit`, serves the rules (on literals) and the runtime (on values). Deciding needs
no pint; pint loads only to convert (from ``units.txt``, a definition file with these units and nothing else)
and to tell a real but unlisted unit ("lb") from a word that is none.

The allowlist is seed 000's, exact and case-sensitive. Beyond it: compounds of allowed units and units of time
(``kWh/year``, ``kgCO2e/kWh``, ``USD/(m2*month)``, ``m^2``), unless ``strict``. A unit of time alone is not on
the list.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, Protocol

from gllint_runtime.policy.errors import GLValidationError
from gllint_runtime.policy.packs import pack_of, pack_units
from gllint_runtime.policy.tables import lines, sections


def _by_unit(table: Mapping[str, str]) -> Mapping[str, str]:
    """``{"energy": "Wh kWh"}`` → ``{"Wh": "energy", "kWh": "energy"}``, read-only."""
    return MappingProxyType({unit: dimension for dimension, units in table.items() for unit in units.split()})


_TABLES = sections("allowlist.txt")

ALLOWED_UNITS = _by_unit(_TABLES["allowed"])
"""Each allowed unit with its dimension, in the order of seed 000's table."""

TIME_UNITS = _by_unit(_TABLES["time"])
"""Units of time that may stand in a compound."""

UNIT_SUFFIXES: Mapping[str, str] = MappingProxyType(
    {unit.lower(): unit for unit in ALLOWED_UNITS if len(unit) > 1 and unit.isalnum()} | _TABLES["suffixes"]
)
"""The last word of a name in snake_case, in lower case, and the unit it announces. No single letters."""

# Each dimension's canonical unit and its exponents over the base dimensions, in the order in which they are written.
_DIMENSIONS: dict[str, tuple[str, dict[str, int]]] = {}
for _name, _row in _TABLES["dimensions"].items():
    _unit, *_bases = _row.split()
    _DIMENSIONS[_name] = (_unit, {base: int(exponent) for base, exponent in (b.split("=") for b in _bases)})
_LENGTHS = {1: "length", 2: "area", 3: "volume"}

_Factors = tuple[tuple[str, int], ...]

_NAME = re.compile(r"[^\s*/^()]+")
_TRAILING_POWER = re.compile(r"(m|km|mi|ft|s|h)([2-4])\Z")  # as in ft3 or m/s2; nobody writes kWh2
_PINT_NAME = re.compile(r"(?:°|[^\W\d_])\w{0,63}\Z")
_MAX_LENGTH = 200


@dataclass(frozen=True, slots=True)
class UnitVerdict:
    """What is known of a unit string.

    ``status`` is ``"allowed"``, ``"not-allowed"`` (a unit, but none of ours) or ``"unknown"`` (no unit at
    all). ``dimension`` reads like ``"energy/area/year"`` and is ``None`` where it is not known, as for a
    project's own units. ``nearest`` is a known unit to use instead, ``reason`` one sentence for people.
    """

    unit: str
    status: Literal["allowed", "not-allowed", "unknown"]
    dimension: str | None
    nearest: str | None
    reason: str


class HasUnit(Protocol):
    """Anything with a numeric ``value`` and a ``unit``, such as a Quantity."""

    @property
    def value(self) -> Any: ...
    @property
    def unit(self) -> str: ...


def judge_unit(
    unit: str, *, extend: Collection[str] = (), strict: bool = False, packs: Collection[str] = ()
) -> UnitVerdict:
    """Say whether a Quantity may carry ``unit``.

    ``extend`` lists a project's own units, known to pint or not; ``packs`` names tables of further ones;
    ``strict`` switches compounds off. The empty string is dimensionless and, unless extended, not allowed.
    """
    return _of_ours(unit, extend, strict, packs) or _refused(unit, frozenset(extend))


def is_allowed(
    unit: str, *, extend: Collection[str] = (), strict: bool = False, packs: Collection[str] = ()
) -> bool:
    """Say whether a Quantity may carry ``unit``, and no more: pint, which knows why not, is never loaded."""
    verdict = _of_ours(unit, extend, strict, packs)
    return verdict is not None and verdict.status == "allowed"


def dimension_of(unit: str, *, extend: Collection[str] = (), packs: Collection[str] = ()) -> str | None:
    """The dimension of ``unit`` as canonical text, or ``None`` where it is unknown."""
    return judge_unit(unit, extend=extend, packs=packs).dimension


def same_dimension(a: str, b: str, *, packs: Collection[str] = ()) -> bool | None:
    """Whether two units measure the same thing; ``None`` when either dimension is unknown."""
    first, second = dimension_of(a, packs=packs), dimension_of(b, packs=packs)
    return None if first is None or second is None else first == second


def _of_ours(unit: str, extend: Collection[str], strict: bool, packs: Collection[str]) -> UnitVerdict | None:
    """The verdict on what is made of our units, for which pint is never asked; ``None`` for anything else."""
    if len(unit) > _MAX_LENGTH and unit not in extend:  # nothing that long is read, or kept in a cache
        return UnitVerdict(unit, "unknown", None, None, "It does not parse as a unit.")
    return _judge(unit, frozenset(extend), strict, tuple(packs))


@lru_cache(maxsize=4096)
def _judge(unit: str, extend: frozenset[str], strict: bool, packs: tuple[str, ...]) -> UnitVerdict | None:
    further = pack_units(packs)
    for listed, reason in (
        (extend, "It is one of the project's own units."),
        (ALLOWED_UNITS, "It is on the allowlist."),
        (further, "It is in a pack of units."),
    ):
        if unit in listed:
            return UnitVerdict(unit, "allowed", _dimension(unit, packs), None, reason)
    if not unit.strip():
        reason = "It is empty, hence dimensionless, and that is not allowed."
        return UnitVerdict(unit, "not-allowed", "dimensionless", "%", reason)
    factors = _factors(unit, packs)
    known = (ALLOWED_UNITS, TIME_UNITS, extend, further)
    if factors is None or not all(any(name in units for units in known) for name, _ in factors):
        return None
    if unit in TIME_UNITS:
        reason = "A unit of time is allowed inside a compound (kWh/year), not alone."
        return UnitVerdict(unit, "not-allowed", TIME_UNITS[unit], None, reason)
    kind = (
        f"a compound of allowed units and units of time ({', '.join(dict.fromkeys(n for n, _ in factors))})"
    )
    if strict:
        reason = f"It is {kind}, and strict units allow the listed strings alone."
        return UnitVerdict(unit, "not-allowed", _dimension(unit, packs), None, reason)
    return UnitVerdict(unit, "allowed", _dimension(unit, packs), None, f"It is {kind}.")


@lru_cache(maxsize=4096)
def _refused(unit: str, extend: frozenset[str]) -> UnitVerdict:
    """Tell a real unit that is not ours from a string that is none, and suggest what may be meant."""
    lenient = _lenient(unit)
    dimension = _dimension(lenient, stock=True)
    nearest = _nearest_spelling(unit, lenient, extend)
    if dimension is None:
        nearest = nearest or _nearest_word(lenient, extend)
        return UnitVerdict(unit, "unknown", None, nearest, "It does not parse as a unit.")
    nearest = nearest or _canonical(dimension)
    return UnitVerdict(unit, "not-allowed", dimension, nearest, "It is a unit, but not on the allowlist.")


# ----------------------------------------------------------------------------------------- reading a unit


def _factors(unit: str, packs: tuple[str, ...] = ()) -> _Factors | None:
    """``"kWh/m2/year"`` → ``(("kWh", 1), ("m2", -1), ("year", -1))``; ``None`` when it is no such expression."""
    if unit != unit.strip() or len(unit) > _MAX_LENGTH or any(c.isspace() and c != " " for c in unit):
        return None
    names: list[str] = []

    def stand_in(match: re.Match[str]) -> str:
        if re.fullmatch(r"-?[1-9]", match[0]):
            return match[0]
        names.append(match[0])
        return f"u{len(names) - 1}"

    expression = _NAME.sub(stand_in, unit).replace("^", "**")
    try:
        return _product(ast.parse(expression, mode="eval").body, 1, names, pack_units(packs))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _product(node: ast.expr, power: int, names: list[str], further: Mapping[str, Any]) -> _Factors:
    """The factors of an expression raised to ``power``. Raises ValueError where it holds another operator."""
    match node:
        case ast.Name(id=stand_in):
            name = names[int(stand_in[1:])]
            if name[0].isdigit():
                raise ValueError(name)
            split = _TRAILING_POWER.match(name) if name not in ALLOWED_UNITS and name not in further else None
            return ((split[1], int(split[2]) * power),) if split else ((name, power),)
        case ast.BinOp(left, ast.Mult() | ast.Div() as operator, right):
            sign = 1 if isinstance(operator, ast.Mult) else -1
            return _product(left, power, names, further) + _product(right, power * sign, names, further)
        case ast.BinOp(left, ast.Pow(), ast.Constant(value=int(exponent))):
            return _product(left, power * exponent, names, further)
        case ast.BinOp(left, ast.Pow(), ast.UnaryOp(ast.USub(), ast.Constant(value=int(exponent)))):
            return _product(left, -power * exponent, names, further)
    raise ValueError(ast.dump(node))


_TYPOGRAPHY = str.maketrans({"·": "*", "×": "*", "⋅": "*", "²": "2", "³": "3", "₂": "2", "−": "-", "∕": "/"})


def _lenient(unit: str) -> str:
    """The same unit with typography, ``per`` and blanks between factors written as operators."""
    text = re.sub(r"\s+per\s+|_per_", "/", unit.translate(_TYPOGRAPHY).strip())
    text = re.sub(r"\A1\s*/", "%/", text)
    return re.sub(r"\s+", "*", re.sub(r"\s*([*/^()])\s*", r"\1", text))


# --------------------------------------------------------------------------------------------- dimensions


@lru_cache(maxsize=4096)
def _dimension(unit: str, packs: tuple[str, ...] = (), *, stock: bool = False) -> str | None:
    """The dimension of an expression as text; ``None`` when a factor is not known."""
    total: dict[str, int] = {}
    factors = ((unit, 1),) if unit in pack_units(packs) else _factors(unit, packs) or (("", 1),)
    for name, power in factors:
        part = _vector(name, packs, stock)
        if part is None:
            return None
        for base, exponent in part.items():
            total[base] = total.get(base, 0) + exponent * power
    return _text(total)


def _vector(name: str, packs: tuple[str, ...], stock: bool) -> dict[str, int] | None:
    """The exponents of one unit over the base dimensions."""
    dimension = ALLOWED_UNITS.get(name) or TIME_UNITS.get(name)
    if dimension is not None:
        return dict(_DIMENSIONS[dimension][1]) if dimension in _DIMENSIONS else {dimension: 1}
    defined = pack_units(packs).get(name)
    if defined is None:
        return _pint_vector(name) if stock else None
    if defined.dimension is not None:
        return {defined.dimension: 1}
    total: dict[str, int] = {}
    for part, power in _factors(defined.of or "", packs) or ():
        for base, exponent in (_vector(part, packs, False) or {}).items():
            total[base] = total.get(base, 0) + exponent * power
    return total


def _text(exponents: dict[str, int]) -> str:
    """``{"energy": 1, "length": -2}`` → ``"energy/area"``."""
    while exponents.get("energy", 0) > 0 and exponents.get("time", 0) < 0:
        exponents["energy"] -= 1
        exponents["time"] += 1
        exponents["power"] = exponents.get("power", 0) + 1
    length = exponents.get("length", 0)
    if abs(length) in _LENGTHS:
        del exponents["length"]
        exponents[_LENGTHS[abs(length)]] = 1 if length > 0 else -1
    order = [*_DIMENSIONS]
    ranked = sorted(exponents, key=lambda base: (order.index(base) if base in order else -1, base))
    over = [_raised(base, exponents[base]) for base in ranked if exponents[base] > 0]
    under = [_raised(base, -exponents[base]) for base in ranked if exponents[base] < 0]
    return "/".join(["*".join(over) or "1", *under]) if over or under else "dimensionless"


def _raised(base: str, exponent: int) -> str:
    return base if exponent == 1 else f"{base}^{exponent}"


def _canonical(dimension: str) -> str | None:
    """The unit that a dimension is normalised to, word by word; ``None`` where there is none."""

    def unit(match: re.Match[str]) -> str:
        word = match[0]
        return _DIMENSIONS[word][0] if word in _DIMENSIONS else word.removeprefix("currency-")

    text = re.sub(r"[A-Za-z-]+", unit, dimension)
    return text if is_allowed(text) else None


# -------------------------------------------------------------------------------------------- suggestions


def _nearest_word(text: str, extend: frozenset[str]) -> str | None:
    from difflib import get_close_matches

    known = {name.lower(): name for name in (*ALLOWED_UNITS, *sorted(extend))}
    close = get_close_matches(text.lower()[:_MAX_LENGTH], known, cutoff=0.75)
    return known[close[0]] if close else None


def _nearest_spelling(unit: str, lenient: str, extend: frozenset[str]) -> str | None:
    """The allowed unit that differs in case, typography or a customary spelling only."""
    own = {name.lower(): name for name in (*TIME_UNITS, *ALLOWED_UNITS, *sorted(extend))}
    meant = {**UNIT_SUFFIXES, **_TABLES["meant"], **own}

    def word(match: re.Match[str]) -> str:
        name = match[0]
        return name if name in ALLOWED_UNITS or name in TIME_UNITS else meant.get(name.lower(), name)

    for text in (unit.strip(), "".join(unit.split()), lenient):
        candidate = meant.get(text.lower()) or _NAME.sub(word, text)
        if candidate != unit and is_allowed(candidate, extend=extend):
            return candidate
    return None


# --------------------------------------------------------------------------------------------------- pint


@lru_cache(maxsize=1)
def _stock_registry() -> Any:
    """pint's own units. They say only what is a unit somewhere, never what is allowed here."""
    import pint

    return pint.UnitRegistry(cache_folder=None)


@lru_cache(maxsize=1024)
def _pint_vector(name: str) -> dict[str, int] | None:
    """The base dimensions of a unit of pint's default registry, or ``None`` if it has no such unit."""
    if not _PINT_NAME.match(name):
        return None
    try:
        dimensions = _stock_registry().parse_units(name).dimensionality
    except Exception:  # pint raises a dozen unrelated types on words that are no units
        return None
    vector = {str(base).strip("[]"): int(exponent) for base, exponent in dimensions.items()}
    if vector.get("mass") == 1 and vector.get("length") == 2 and vector.get("time") in (-2, -3):
        del vector["mass"], vector["length"]  # joule and watt: for us, energy is a base
        vector["energy"], vector["time"] = 1, vector["time"] + 2
    return vector


@lru_cache(maxsize=1)
def _own_registry() -> Any:
    """The units of ``units.txt`` with exact fractions for factors."""
    import pint

    registry: Any = pint.UnitRegistry
    return registry(lines("units.txt"), non_int_type=Fraction, cache_folder=None)


@lru_cache(maxsize=1024)
def _scale(name: str, packs: tuple[str, ...] = ()) -> tuple[Fraction, Fraction]:
    """``(factor, offset)`` such that ``value * factor + offset`` is in base units. Only for units of ours."""
    defined = None if name in ALLOWED_UNITS or name in TIME_UNITS else pack_units(packs).get(name)
    if defined is not None:
        return defined.factor * (_factor(defined.of, packs)[0] if defined.of else 1), Fraction(0)
    unit = "percent" if name == "%" else name
    zero, one = (_own_registry().Quantity(Fraction(n), unit).to_root_units().magnitude for n in (0, 1))
    return Fraction(one) - Fraction(zero), Fraction(zero)


@lru_cache(maxsize=1024)
def _factor(unit: str, packs: tuple[str, ...] = ()) -> tuple[Fraction, Fraction]:
    """Factor and offset of any allowed unit; inside a compound a degree is a difference and has no offset."""
    factors = _factors(unit, packs) or ((unit, 1),)
    if len(factors) == 1 and factors[0][1] == 1:
        return _scale(factors[0][0], packs)
    product = Fraction(1)
    for name, power in factors:
        product *= _scale(name, packs)[0] ** power
    return product, Fraction(0)


_PLAIN = frozenset({int, float})


def _exact(value: Any) -> Fraction | None:
    """A finite real number as an exact fraction; ``None`` for anything else, booleans included."""
    if isinstance(value, (bool, str)):
        return None
    try:
        return Fraction(value)
    except (TypeError, ValueError, OverflowError):
        return None


# ------------------------------------------------------------------------------------------- the registry


class UnitRegistry:
    """Units of one runtime: the allowlist, and exact arithmetic between its units.

    ``allowlist`` is a set that a project may extend in place; what it adds converts to nothing but itself
    unless it is made of known units. ``packs`` names tables of further units. pint loads at the first
    conversion between two different units of the allowlist.
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
        """What the project added itself."""
        return self.allowlist - self._listed

    def judge(self, unit: str) -> UnitVerdict:
        """:func:`judge_unit` under this registry's allowlist."""
        return judge_unit(unit, extend=self.own, strict=self.strict, packs=self.packs)

    def is_allowed(self, unit: str) -> bool:
        """Whether a Quantity may carry ``unit`` here. Exact and case-sensitive."""
        return unit in self.allowlist or (
            unit not in ALLOWED_UNITS
            and is_allowed(unit, extend=self.own, strict=self.strict, packs=self.packs)
        )

    def require(self, unit: str, path: str | None = None) -> None:
        """Raise GLValidationError UNIT_UNKNOWN unless ``unit`` is allowed."""
        if not self.is_allowed(unit):
            verdict = self.judge(unit)
            pack = pack_of(unit)
            hint = f"Use {verdict.nearest!r}." if verdict.nearest else None
            if pack:  # says more than the nearest spelling does
                hint = f"The pack of units {pack!r} has it: packs=[{pack!r}]."
            message = f"Unit '{unit[:_MAX_LENGTH]}' is not allowed. {verdict.reason}"
            raise GLValidationError("UNIT_UNKNOWN", message, hint=hint, path=path)

    def normalize(self, quantity: HasUnit) -> tuple[Decimal, str]:
        """The value in its dimension's canonical unit, and that unit: 1 tCO2e → ``(1000, "kgCO2e")``.

        Raises GLValidationError UNIT_UNKNOWN for a unit that is not allowed.
        """
        self.require(quantity.unit)
        dimension = self._dimension(quantity.unit)
        target = (_canonical(dimension) if dimension else None) or quantity.unit
        if target == quantity.unit and not isinstance(quantity.value, Fraction):
            return Decimal(str(quantity.value)), quantity.unit
        value = self._convert(quantity, target)
        return Decimal(value.numerator) / Decimal(value.denominator), target

    def convert_to(self, quantity: HasUnit, target_unit: str) -> Any:
        """A Quantity of the same size in ``target_unit``; integers, Decimals and Fractions stay exact.

        Raises UNIT_UNKNOWN where the dimensions differ.
        """
        from gllint_runtime.policy.schemas import Quantity

        self.require(quantity.unit)
        self.require(target_unit)
        if quantity.unit == target_unit:
            return Quantity(quantity.value, target_unit)
        dimension = self._dimension(quantity.unit)
        if dimension is None or dimension != self._dimension(target_unit):
            raise GLValidationError("UNIT_UNKNOWN", f"'{quantity.unit}' does not convert to '{target_unit}'.")
        value = self._convert(quantity, target_unit)
        if isinstance(quantity.value, int) and value.denominator == 1:
            return Quantity(int(value), target_unit)
        if isinstance(quantity.value, Fraction):
            return Quantity(value, target_unit)  # type: ignore[arg-type]
        if isinstance(quantity.value, Decimal):
            exact = Decimal(value.numerator) / Decimal(value.denominator)
            return Quantity(exact, target_unit)  # type: ignore[arg-type]
        return Quantity(float(value), target_unit)

    def same_quantity(self, a: HasUnit, b: HasUnit, tolerance: float = 1e-9) -> bool:
        """Whether two Quantities are equal once in the same unit.

        Integers are compared exactly, anything else to a relative ``tolerance`` with no absolute floor;
        temperatures in kelvin. NaN, infinity, booleans and different dimensions are never equal.
        """
        if type(a.value) in _PLAIN and type(b.value) in _PLAIN and a.value == b.value and a.unit == b.unit:
            return abs(a.value) < math.inf and self.is_allowed(a.unit)
        first, second = _exact(a.value), _exact(b.value)
        if first is None or second is None or not (self.is_allowed(a.unit) and self.is_allowed(b.unit)):
            return False
        dimension = self._dimension(a.unit)
        if a.unit != b.unit and (dimension is None or dimension != self._dimension(b.unit)):
            return False
        if a.unit != b.unit or dimension == "temperature":
            first, second = self._in_base_units(first, a.unit), self._in_base_units(second, b.unit)
        if isinstance(a.value, int) and isinstance(b.value, int):
            return first == second
        return abs(first - second) <= Fraction(tolerance) * max(abs(first), abs(second))

    def validate_dimension(self, quantity: HasUnit, expected_dimension: str) -> None:
        """Raise UNIT_UNKNOWN unless the Quantity is of ``expected_dimension`` (``"energy/area"``)."""
        self.require(quantity.unit)
        found = self._dimension(quantity.unit)
        if found != expected_dimension:
            message = f"Expected a unit of {expected_dimension}, got '{quantity.unit}' ({found})."
            raise GLValidationError("UNIT_UNKNOWN", message)

    def _dimension(self, unit: str) -> str | None:
        return dimension_of(unit, extend=self.own, packs=self.packs)

    def _in_base_units(self, value: Fraction, unit: str) -> Fraction:
        factor, offset = _factor(unit, self.packs)
        return value * factor + offset

    def _convert(self, quantity: HasUnit, unit: str) -> Fraction:
        value = _exact(quantity.value)
        if value is None:
            raise GLValidationError("UNIT_UNKNOWN", f"{quantity.value!r} is not a finite number.")
        factor, offset = _factor(unit, self.packs)
        return (self._in_base_units(value, quantity.unit) - offset) / factor

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
import re
from collections import Counter
from collections.abc import Collection, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from gllint_runtime.policy.errors import GLValidationError
from gllint_runtime.policy.packs import pack_of, pack_units
from gllint_runtime.policy.tables import lines, sections

if TYPE_CHECKING:
    from gllint_runtime.policy.schemas import Quantity


def _by_unit(table: Mapping[str, str]) -> Mapping[str, str]:
    """``{"energy": "Wh kWh"}`` → ``{"Wh": "energy", "kWh": "energy"}``"""
    return {unit: dimension for dimension, units in table.items() for unit in units.split()}


_TABLES = sections("allowlist.txt")

ALLOWED_UNITS = _by_unit(_TABLES["allowed"])
"""Each allowed unit with its dimension, in the order of seed 000's table."""

TIME_UNITS = _by_unit(_TABLES["time"])
"""Units of time that may stand in a compound."""

UNIT_SUFFIXES: Mapping[str, str] = {
    unit.lower(): unit for unit in ALLOWED_UNITS if len(unit) > 1 and unit.isalnum()
} | _TABLES["suffixes"]
"""The last word of a name in snake_case, in lower case, and the unit it announces. No single letters."""

_CANONICAL = _TABLES["canonical"]  # unit of each dimension, in the order in which they are written
_DERIVED = _TABLES["derived"]  # dimensions, and what they are over the base dimensions
_LENGTHS = {1: "length", 2: "area", 3: "volume"}

_Factors = tuple[tuple[str, int], ...]

_NAME = re.compile(r"[^\s*/^()]+")
_TRAILING_POWER = re.compile(r"(m|km|mi|ft|s|h)([2-4])\Z")  # as in ft3 or m/s2; nobody writes kWh2
_PINT_NAME = re.compile(r"(?:°|[^\W\d_])\w{0,63}\Z")
_MAX_LENGTH = 200


class UnitVerdict(NamedTuple):
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
    names = dict(_factors(unit))
    known = (ALLOWED_UNITS, TIME_UNITS, extend, further)
    if not all(any(name in units for units in known) for name in names):
        return None
    if unit in TIME_UNITS:
        reason = "A unit of time is allowed inside a compound (kWh/year), not alone."
        return UnitVerdict(unit, "not-allowed", TIME_UNITS[unit], None, reason)
    kind = f"a compound of allowed units and units of time ({', '.join(names)})"
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


def _factors(unit: str) -> _Factors:
    """``"kWh/m2/year"`` → ``(("kWh", 1), ("m2", -1), ("year", -1))``; what is no such expression as it stands."""
    whole = ((unit, 1),)
    if unit != unit.strip() or len(unit) > _MAX_LENGTH or any(c.isspace() and c != " " for c in unit):
        return whole
    names: list[str] = []

    def stand_in(match: re.Match[str]) -> str:
        if re.fullmatch(r"-?[1-9]", match[0]):
            return match[0]
        names.append(match[0])
        return f"u{len(names) - 1}"

    expression = _NAME.sub(stand_in, unit).replace("^", "**")
    try:
        return _product(ast.parse(expression, mode="eval").body, 1, names)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return whole


def _product(node: ast.expr, power: int, names: list[str]) -> _Factors:
    """The factors of an expression raised to ``power``. Raises ValueError where it holds another operator."""
    match node:
        case ast.Name(id=stand_in):
            name = names[int(stand_in[1:])]
            if name[0].isdigit():
                raise ValueError(name)
            split = None if name in ALLOWED_UNITS else _TRAILING_POWER.match(name)
            return ((split[1], int(split[2]) * power),) if split else ((name, power),)
        case ast.BinOp(left, ast.Mult() | ast.Div() as operator, right):
            sign = 1 if isinstance(operator, ast.Mult) else -1
            return _product(left, power, names) + _product(right, power * sign, names)
        case ast.BinOp(left, ast.Pow(), ast.Constant(value=int(exponent))):
            return _product(left, power * exponent, names)
        case ast.BinOp(left, ast.Pow(), ast.UnaryOp(ast.USub(), ast.Constant(value=int(exponent)))):
            return _product(left, -power * exponent, names)
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
    exponents = _exponents(unit, packs, stock)
    return None if exponents is None else _text(exponents)


def _exponents(unit: str, packs: tuple[str, ...], stock: bool) -> Counter[str] | None:
    """An expression over the base dimensions."""
    total: Counter[str] = Counter()
    for name, power in _factors(unit):
        part = _of_one(name, packs, stock)
        if part is None:
            return None
        for base, exponent in part.items():
            total[base] += exponent * power
    return total


def _of_one(name: str, packs: tuple[str, ...], stock: bool) -> Mapping[str, int] | None:
    """One unit over the base dimensions."""
    if dimension := ALLOWED_UNITS.get(name) or TIME_UNITS.get(name):
        return dict(_factors(_DERIVED[dimension])) if dimension in _DERIVED else {dimension: 1}
    if defined := pack_units(packs).get(name):
        return _exponents(defined.of, packs, False) if defined.of else {defined.dimension: 1}
    return _pint_vector(name) if stock else None


def _text(exponents: Counter[str]) -> str:
    """``{"energy": 1, "length": -2}`` → ``"energy/area"``."""
    del exponents["dimensionless"]
    while exponents["energy"] > 0 > exponents["time"]:
        exponents.update({"energy": -1, "time": 1, "power": 1})
    length = exponents["length"]
    if abs(length) in _LENGTHS:
        del exponents["length"]
        exponents[_LENGTHS[abs(length)]] = 1 if length > 0 else -1
    order = [*_CANONICAL]
    ranked = sorted(exponents, key=lambda base: (order.index(base) if base in order else -1, base))
    over = [_raised(base, exponents[base]) for base in ranked if exponents[base] > 0]
    under = [_raised(base, -exponents[base]) for base in ranked if exponents[base] < 0]
    return "/".join(["*".join(over) or "1", *under]) if over or under else "dimensionless"


def _raised(base: str, exponent: int) -> str:
    return base if exponent == 1 else f"{base}^{exponent}"


def _canonical(dimension: str) -> str | None:
    """The unit that a dimension is normalised to, word by word; ``None`` where there is none."""
    text = re.sub(
        r"[A-Za-z-]+", lambda word: _CANONICAL.get(word[0], word[0].removeprefix("currency-")), dimension
    )
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


@cache
def _stock_registry() -> Any:
    """pint's own units. They say only what is a unit somewhere, never what is allowed here."""
    import pint

    return pint.UnitRegistry(cache_folder=None)


@cache
def _own_registry() -> Any:
    """The units of ``units.txt`` with exact fractions for factors."""
    import pint

    registry: Any = pint.UnitRegistry
    return registry(lines("units.txt"), non_int_type=Fraction, cache_folder=None)


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


@lru_cache(maxsize=1024)
def _scale(unit: str, packs: tuple[str, ...]) -> tuple[Fraction, Fraction]:
    """``(factor, offset)`` such that ``value * factor + offset`` is in base units. Only for units of ours.

    Inside a compound a degree is a difference and has no offset.
    """
    factors = _factors(unit)
    if factors != ((unit, 1),):
        sizes = (_scale(name, packs)[0] ** power for name, power in factors)
        return prod(sizes, start=Fraction(1)), Fraction(0)
    if unit not in ALLOWED_UNITS and unit not in TIME_UNITS:
        defined = pack_units(packs)[unit]
        return defined.factor * (_scale(defined.of, packs)[0] if defined.of else 1), Fraction(0)
    zero, one = (_own_registry().Quantity(Fraction(n), unit).to_root_units().magnitude for n in (0, 1))
    return Fraction(one) - Fraction(zero), Fraction(zero)


def _exact(value: Any) -> Fraction | None:
    """A finite real number as an exact fraction; ``None`` for anything else, booleans included."""
    if isinstance(value, (bool, str)):
        return None
    try:
        return Fraction(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / value.denominator


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

    def is_allowed(self, unit: str) -> bool:
        """Whether a Quantity may carry ``unit`` here. Exact and case-sensitive."""
        return unit in self.allowlist or (
            unit not in ALLOWED_UNITS
            and is_allowed(unit, extend=self.own, strict=self.strict, packs=self.packs)
        )

    def require(self, unit: str, path: str | None = None) -> None:
        """Raise GLValidationError UNIT_UNKNOWN unless ``unit`` is allowed."""
        if self.is_allowed(unit):
            return
        verdict = judge_unit(unit, extend=self.own, strict=self.strict, packs=self.packs)
        hint = None
        if pack := pack_of(unit):  # says more than the nearest spelling does
            hint = f"The pack of units {pack!r} has it: packs=[{pack!r}]."
        elif verdict.nearest:
            hint = f"Use {verdict.nearest!r}."
        message = f"Unit '{unit[:_MAX_LENGTH]}' is not allowed. {verdict.reason}"
        raise GLValidationError("UNIT_UNKNOWN", message, hint=hint, path=path)

    def normalize(self, quantity: Quantity) -> tuple[Decimal, str]:
        """The value in its dimension's canonical unit, and that unit: 1 tCO2e → ``(1000, "kgCO2e")``.

        Raises GLValidationError UNIT_UNKNOWN for a unit that is not allowed.
        """
        self.require(quantity.unit)
        dimension = _dimension(quantity.unit, self.packs)
        target = (_canonical(dimension) if dimension else None) or quantity.unit
        value = quantity.value if target == quantity.unit else self._convert(quantity, target)
        return _decimal(value) if isinstance(value, Fraction) else Decimal(str(value)), target

    def convert_to(self, quantity: Quantity, target_unit: str) -> Quantity:
        """A Quantity of the same size in ``target_unit``; integers, Decimals and Fractions stay exact.

        Raises UNIT_UNKNOWN where the dimensions differ.
        """
        from gllint_runtime.policy.schemas import Quantity

        self.require(quantity.unit)
        self.require(target_unit)
        if quantity.unit == target_unit:
            return Quantity(quantity.value, target_unit)
        dimension = _dimension(quantity.unit, self.packs)
        if dimension is None or dimension != _dimension(target_unit, self.packs):
            raise GLValidationError("UNIT_UNKNOWN", f"'{quantity.unit}' does not convert to '{target_unit}'.")
        value: Any = self._convert(quantity, target_unit)
        match quantity.value:
            case int() if value.denominator == 1:
                value = int(value)
            case int() | float():
                value = float(value)
            case Decimal():
                value = _decimal(value)
        return Quantity(value, target_unit)

    def same_quantity(self, a: Quantity, b: Quantity, tolerance: float = 1e-9) -> bool:
        """Whether two Quantities are equal once in the same unit.

        Integers are compared exactly, anything else to a relative ``tolerance`` with no absolute floor;
        temperatures in kelvin. NaN, infinity, booleans and different dimensions are never equal.
        """
        first, second = _exact(a.value), _exact(b.value)
        if first is None or second is None or not (self.is_allowed(a.unit) and self.is_allowed(b.unit)):
            return False
        dimension = _dimension(a.unit, self.packs)
        if a.unit != b.unit and (dimension is None or dimension != _dimension(b.unit, self.packs)):
            return False
        if a.unit != b.unit or dimension == "temperature":
            first, second = self._in_base_units(first, a.unit), self._in_base_units(second, b.unit)
        if isinstance(a.value, int) and isinstance(b.value, int):
            return first == second
        return abs(first - second) <= Fraction(tolerance) * max(abs(first), abs(second))

    def validate_dimension(self, quantity: Quantity, expected_dimension: str) -> None:
        """Raise UNIT_UNKNOWN unless the Quantity is of ``expected_dimension`` (``"energy/area"``)."""
        self.require(quantity.unit)
        found = _dimension(quantity.unit, self.packs)
        if found != expected_dimension:
            message = f"Expected a unit of {expected_dimension}, got '{quantity.unit}' ({found})."
            raise GLValidationError("UNIT_UNKNOWN", message)

    def _in_base_units(self, value: Fraction, unit: str) -> Fraction:
        factor, offset = _scale(unit, self.packs)
        return value * factor + offset

    def _convert(self, quantity: Quantity, unit: str) -> Fraction:
        value = _exact(quantity.value)
        if value is None:
            raise GLValidationError("UNIT_UNKNOWN", f"{quantity.value!r} is not a finite number.")
        factor, offset = _scale(unit, self.packs)
        return (self._in_base_units(value, quantity.unit) - offset) / factor

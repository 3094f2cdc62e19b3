"""Units: which ones a Quantity may carry, of what dimension they are, and how two Quantities compare.

One decision, :func:`judge_unit`, serves the rules (on literals) and the runtime (on values). Deciding needs
no pint; pint loads only to convert (from ``units.txt``, a definition file with these units and nothing
else) and to tell a real but unlisted unit ("lb") from a word that is none.

The allowlist is seed 000's, exact and case-sensitive. Beyond it: compounds of allowed units and units of
time (``kWh/year``, ``kgCO2e/kWh``, ``USD/(m2*month)``, ``m^2``), unless ``strict``. A unit of time alone is
not on the list.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol

from gllint_runtime.errors import GLValidationError

if TYPE_CHECKING:
    import pint

ALLOWED_UNITS: Mapping[str, str] = MappingProxyType(
    {
        unit: dimension
        for dimension, units in {
            "energy": "Wh kWh MWh GWh MJ GJ",
            "power": "W kW MW",
            "emissions": "gCO2e kgCO2e tCO2e",
            "dimensionless": "% percent",
            "currency-USD": "USD",
            "currency-EUR": "EUR",
            "currency-GBP": "GBP",
            "currency-INR": "INR",
            "currency-CNY": "CNY",
            "currency-JPY": "JPY",
            "volume": "m3 L gal",
            "mass": "g kg t ton",
            "length": "m km mi ft",
            "temperature": "K C degC F degF",
            "area": "m2 km2 ft2",
            "energy/area": "kWh/m2",
            "emissions/area": "kgCO2e/m2",
            "energy/area/year": "kWh/m2/year",
        }.items()
        for unit in units.split()
    }
)
"""Each allowed unit with its dimension, in the order of seed 000's table."""

TIME_UNITS: Mapping[str, str] = MappingProxyType(
    {
        unit: dimension
        for dimension, units in {
            "time": "s second seconds min minute minutes h hr hour hours day days week weeks",
            "year": "year years yr month months",
        }.items()
        for unit in units.split()
    }
)
"""Units of time that may stand in a compound. A month is a twelfth of a year, and neither is a number of days."""

UNIT_SUFFIXES: Mapping[str, str] = MappingProxyType(
    {unit.lower(): unit for unit in ALLOWED_UNITS if len(unit) > 1 and unit.isalnum()}
    | {
        "pct": "%",
        "sqm": "m2",
        "sqft": "ft2",
        "gallons": "gal",
        "liters": "L",
        "litres": "L",
        "tonnes": "t",
        "tons": "ton",
        "miles": "mi",
        "feet": "ft",
        "celsius": "degC",
        "fahrenheit": "degF",
        "kelvin": "K",
        "co2e": "kgCO2e",
        "kgco2": "kgCO2e",
        "tco2": "tCO2e",
    }
)
"""The last word of a name in snake_case, in lower case, and the unit it announces. No single letters."""

# Spellings met in practice and the unit that is meant, for suggestions only.
_MEANT = {
    "$": "USD",
    "us$": "USD",
    "€": "EUR",
    "£": "GBP",
    "₹": "INR",
    "¥": "JPY",
    "°c": "degC",
    "°f": "degF",
    "kgco2eq": "kgCO2e",
    "tonne": "t",
    "metric_ton": "t",
    "liter": "L",
    "litre": "L",
    "percentage": "%",
    "sq_m": "m2",
    "sq_ft": "ft2",
}

# A dimension is a vector over these; what shows in its text is this order, after the derived ones.
_DERIVED = (("power", {"energy": 1, "time": -1}),)
_LENGTH_POWERS = {1: "length", 2: "area", 3: "volume"}
_SPELLED = {"power": (("energy", 1), ("time", -1)), "area": (("length", 2),), "volume": (("length", 3),)}
_ORDER = ("emissions", "energy", "power", "mass", "volume", "area", "length", "temperature", "time", "year")
_CANONICAL = {
    "emissions": "kgCO2e",
    "energy": "kWh",
    "power": "kW",
    "mass": "kg",
    "volume": "m3",
    "area": "m2",
    "length": "m",
    "temperature": "K",
    "time": "h",
    "year": "year",
    "dimensionless": "%",
}

_Vector = tuple[tuple[str, int], ...]
_Factors = tuple[tuple[str, int], ...]

_TOKEN = re.compile(r"\s*(\*\*|\^|[*/()]|[^\s*/()^]+)")
_TRAILING_POWER = re.compile(r"([A-Za-z%]*[A-Za-z%])([2-9])\Z")
_INTEGER = re.compile(r"-?[1-9]\Z")
_WORD = re.compile(r"(?:°|[^\W\d_])\w{0,63}\Z")
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


def judge_unit(unit: str, *, extend: Collection[str] = (), strict: bool = False) -> UnitVerdict:
    """Say whether a Quantity may carry ``unit``.

    ``extend`` lists a project's own units, known to pint or not; ``strict`` switches compounds off. The
    empty string is dimensionless and, unless extended, not allowed.
    """
    return _judge(unit, frozenset(extend), strict, True)


def dimension_of(unit: str, *, extend: Collection[str] = ()) -> str | None:
    """The dimension of ``unit`` as canonical text, or ``None`` where it is unknown."""
    return judge_unit(unit, extend=extend).dimension


def same_dimension(a: str, b: str) -> bool | None:
    """Whether two units measure the same thing; ``None`` when either dimension is unknown."""
    first, second = dimension_of(a), dimension_of(b)
    return None if first is None or second is None else first == second


def unit_of_name(name: str) -> str | None:
    """The unit that a snake_case name announces by its last words, or ``None``.

    ``annual_kwh`` gives kWh, ``intensity_kwh_m2`` and ``intensity_kwh_per_m2`` both kWh/m2,
    ``price_usd_per_kwh`` USD/kWh. A word after ``per`` that is no unit makes the whole unknown.
    """
    found: list[str] = []
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_")
    while words:
        word = words.pop()
        unit = UNIT_SUFFIXES.get(word) or (word if word in TIME_UNITS and len(word) > 1 else None)
        if unit is None:
            if word in TIME_UNITS or (words and words[-1] == "per"):
                return None
            break
        found.insert(0, unit)
        if words and words[-1] == "per":
            words.pop()
            if not words:
                return None
    if "per" in words or not found or found[0] in TIME_UNITS:
        return None
    return "/".join(found)


@lru_cache(maxsize=4096)
def _judge(unit: str, extend: frozenset[str], strict: bool, stock: bool) -> UnitVerdict:
    """The decision behind :func:`judge_unit`; with ``stock`` false, pint is never asked."""
    if unit in extend:
        return UnitVerdict(
            unit, "allowed", _listed_dimension(unit), None, "It is one of the project's own units."
        )
    if unit in ALLOWED_UNITS:
        return UnitVerdict(unit, "allowed", ALLOWED_UNITS[unit], None, "It is on the allowlist.")
    if not unit.strip():
        return UnitVerdict(
            unit,
            "not-allowed",
            "dimensionless",
            "%",
            "It is empty, hence dimensionless, and that is not allowed.",
        )
    factors = _factors(unit)
    if factors is None or not all(_is_factor(name, extend) for name, _ in factors):
        return _refuse(unit, extend, stock)
    dimension = _dimension_text(factors)
    if len(factors) == 1 and unit in TIME_UNITS:
        reason = "A unit of time is allowed inside a compound (kWh/year), not alone."
        return UnitVerdict(unit, "not-allowed", dimension, None, reason)
    if strict:
        reason = "It is a compound of allowed units, and strict units allow the listed strings alone."
        return UnitVerdict(unit, "not-allowed", dimension, None, reason)
    names = ", ".join(dict.fromkeys(name for name, _ in factors))
    reason = f"It is a compound of allowed units and units of time ({names})."
    return UnitVerdict(unit, "allowed", dimension, None, reason)


def _refuse(unit: str, extend: frozenset[str], stock: bool) -> UnitVerdict:
    """Tell a real unit that is not ours from a string that is none, and suggest what may be meant."""
    lenient = _lenient(unit)
    factors = _factors(lenient)
    vector: _Vector | None = None
    if factors is not None and stock:
        vector = _vector(factors, stock=True)
    if vector is None:
        nearest = _nearest(unit, lenient, extend)
        return UnitVerdict(unit, "unknown", None, nearest, "It does not parse as a unit.")
    dimension = _text(vector)
    nearest = _nearest_spelling(unit, lenient, extend) or _canonical(dimension)
    return UnitVerdict(unit, "not-allowed", dimension, nearest, "It is a unit, but not on the allowlist.")


def _is_factor(name: str, extend: frozenset[str]) -> bool:
    return name in ALLOWED_UNITS or name in TIME_UNITS or (bool(name) and name in extend)


# ------------------------------------------------------------------------------------------ reading a unit


def _factors(unit: str) -> _Factors | None:
    """``"kWh/m2/year"`` → ``(("kWh", 1), ("m2", -1), ("year", -1))``; ``None`` when it is no such expression."""
    if len(unit) > _MAX_LENGTH:
        return None
    tokens = _TOKEN.findall(unit)
    if not tokens or unit != unit.strip() or any(_adjacent_words(tokens)):
        return None
    try:
        factors, rest = _product(tokens)
    except (IndexError, ValueError):
        return None
    return None if rest else factors


def _adjacent_words(tokens: list[str]) -> Iterator[bool]:
    """True for each pair of neighbours between which an operator is missing (``kWh year``)."""
    operators = {"*", "/", "**", "^", "(", ")"}
    for left, right in zip(tokens, tokens[1:], strict=False):
        yield left not in operators and right not in operators


def _product(tokens: list[str]) -> tuple[_Factors, list[str]]:
    factors, tokens = _power(tokens)
    while tokens and tokens[0] in "*/":
        sign = 1 if tokens[0] == "*" else -1
        more, tokens = _power(tokens[1:])
        factors += tuple((name, power * sign) for name, power in more)
    return factors, tokens


def _power(tokens: list[str]) -> tuple[_Factors, list[str]]:
    head, tokens = tokens[0], tokens[1:]
    if head == "(":
        factors, tokens = _product(tokens)
        if tokens[0] != ")":
            raise ValueError("unbalanced parenthesis")
        tokens = tokens[1:]
    elif head in {")", "*", "/", "^", "**"} or head[0].isdigit():
        raise ValueError("a unit is missing")
    else:
        factors = (_split_power(head),)
    if tokens and tokens[0] in {"^", "**"}:
        if not _INTEGER.match(tokens[1]):
            raise ValueError("not a small whole power")
        exponent, tokens = int(tokens[1]), tokens[2:]
        factors = tuple((name, power * exponent) for name, power in factors)
    return factors, tokens


def _split_power(word: str) -> tuple[str, int]:
    """``km3`` → ``("km", 3)``, unless the word is a unit as it stands (``m2``)."""
    if word not in ALLOWED_UNITS and (match := _TRAILING_POWER.match(word)):
        return match[1], int(match[2])
    return word, 1


_TYPOGRAPHY = str.maketrans({"·": "*", "×": "*", "⋅": "*", "²": "2", "³": "3", "₂": "2", "−": "-", "∕": "/"})


def _lenient(unit: str) -> str:
    """The same unit with typography, ``per`` and blanks between factors written as operators."""
    text = re.sub(r"\s+per\s+|_per_", "/", unit.translate(_TYPOGRAPHY).strip())
    text = re.sub(r"\s*([*/^()])\s*", r"\1", text)
    return re.sub(r"\s+", "*", text)


# ----------------------------------------------------------------------------------------- its dimension


@lru_cache(maxsize=1024)
def _listed_dimension(unit: str) -> str | None:
    """The dimension of a project's own unit, where it is made of units that this module knows."""
    factors = _factors(unit)
    return _dimension_text(factors) if factors is not None else None


def _dimension_text(factors: _Factors) -> str | None:
    vector = _vector(factors, stock=False)
    return None if vector is None else _text(vector)


def _vector(factors: _Factors, *, stock: bool) -> _Vector | None:
    """The exponents of the base dimensions; ``None`` when a factor is not known."""
    total: dict[str, int] = {}
    for name, power in factors:
        part = _base_vector(name, stock)
        if part is None:
            return None
        for base, exponent in part:
            total[base] = total.get(base, 0) + exponent * power
    return tuple(sorted((base, exponent) for base, exponent in total.items() if exponent))


def _base_vector(name: str, stock: bool) -> _Vector | None:
    dimension = ALLOWED_UNITS.get(name) or TIME_UNITS.get(name)
    if dimension is None:
        return _stock_vector(name) if stock else None
    if dimension == "dimensionless":
        return ()
    return _SPELLED.get(dimension, ((dimension, 1),))


def _text(vector: _Vector) -> str:
    """``(("energy", 1), ("length", -2))`` → ``"energy/area"``."""
    exponents = dict(vector)
    while exponents.get("energy", 0) > 0 and exponents.get("time", 0) < 0:
        exponents["energy"] -= 1
        exponents["time"] += 1
        exponents["power"] = exponents.get("power", 0) + 1
    length = exponents.pop("length", 0)
    if abs(length) in _LENGTH_POWERS:
        exponents[_LENGTH_POWERS[abs(length)]] = 1 if length > 0 else -1
    elif length:
        exponents["length"] = length
    ranked = sorted(exponents, key=lambda base: (_ORDER.index(base) if base in _ORDER else -1, base))
    over = [_raised(base, exponents[base]) for base in ranked if exponents[base] > 0]
    under = [_raised(base, -exponents[base]) for base in ranked if exponents[base] < 0]
    if not over and not under:
        return "dimensionless"
    return "/".join(["*".join(over) or "1", *under])


def _raised(base: str, exponent: int) -> str:
    return base if exponent == 1 else f"{base}^{exponent}"


def _canonical(dimension: str) -> str | None:
    """The unit that GreenLang normalises a dimension to, factor by factor; ``None`` where one is missing."""

    def unit(match: re.Match[str]) -> str:
        word = match[0]
        return word.removeprefix("currency-") if word.startswith("currency-") else _CANONICAL.get(word, "?")

    text = re.sub(r"[A-Za-z-]+", unit, dimension)
    return None if "?" in text or text.startswith("1/") else text


# --------------------------------------------------------------------------------------------- suggestions


def _nearest(unit: str, lenient: str, extend: frozenset[str]) -> str | None:
    if spelling := _nearest_spelling(unit, lenient, extend):
        return spelling
    from difflib import get_close_matches

    known = {name.lower(): name for name in (*ALLOWED_UNITS, *sorted(extend)) if name}
    close = get_close_matches(lenient.lower()[:_MAX_LENGTH], known, n=1, cutoff=0.6)
    return known[close[0]] if close else None


def _nearest_spelling(unit: str, lenient: str, extend: frozenset[str]) -> str | None:
    """The allowed unit that differs in case, typography or a customary spelling only."""
    known = {name.lower(): name for name in (*TIME_UNITS, *ALLOWED_UNITS, *sorted(extend))}
    meant = UNIT_SUFFIXES | _MEANT | known

    def word(match: re.Match[str]) -> str:
        name = match[0]
        return name if name in ALLOWED_UNITS or name in TIME_UNITS else meant.get(name.lower(), name)

    for text in (unit.strip(), "".join(unit.split()), lenient):
        candidate = meant.get(text.lower()) or re.sub(r"[^*/^()\s]+", word, text)
        if candidate != unit and _judge(candidate, extend, False, False).status == "allowed":
            return candidate
    return None


# ---------------------------------------------------------------------------------------------------- pint

_PINT_BASES = {"[mass]": "mass", "[length]": "length", "[time]": "time", "[temperature]": "temperature"}
_PINT_ENERGY = {"[mass]": 1, "[length]": 2, "[time]": -2}


@lru_cache(maxsize=1)
def _stock_registry() -> pint.UnitRegistry[Any]:
    """pint's own units. They say only what is a unit somewhere, never what is allowed here."""
    import pint

    return pint.UnitRegistry(cache_folder=None)


@lru_cache(maxsize=1024)
def _stock_vector(name: str) -> _Vector | None:
    """The base dimensions of a unit of pint's default registry, or ``None`` if it has no such unit."""
    if not _WORD.match(name):
        return None
    try:
        dimensions = dict(_stock_registry().parse_units(name).dimensionality)
    except Exception:  # pint raises a dozen unrelated types on words that are no units
        return None
    vector: dict[str, int] = {}
    for energy, base in (
        (_PINT_ENERGY, (("energy", 1),)),
        (_PINT_ENERGY | {"[time]": -3}, _SPELLED["power"]),
    ):
        if dimensions == energy:
            return tuple(sorted(base))
    for key, exponent in dimensions.items():
        if exponent != int(exponent):
            return None
        vector[_PINT_BASES.get(str(key), str(key).strip("[]"))] = int(exponent)
    return tuple(sorted(vector.items()))


@lru_cache(maxsize=1)
def _own_registry() -> pint.UnitRegistry[Any]:
    """The units of ``units.txt`` with exact fractions for factors."""
    import pint

    lines = resources.files("gllint_runtime").joinpath("units.txt").read_text(encoding="utf-8").splitlines()
    return pint.UnitRegistry(lines, non_int_type=Fraction, cache_folder=None)  # type: ignore[arg-type]


@lru_cache(maxsize=1024)
def _scale(name: str) -> tuple[Fraction, Fraction]:
    """``(factor, offset)`` such that ``value * factor + offset`` is in base units. Only for units of ours."""
    registry = _own_registry()
    unit = "percent" if name == "%" else name
    zero = registry.Quantity(Fraction(0), unit).to_root_units().magnitude
    one = registry.Quantity(Fraction(1), unit).to_root_units().magnitude
    return Fraction(one) - Fraction(zero), Fraction(zero)


# ------------------------------------------------------------------------------------------- the registry


class UnitRegistry:
    """Units of one runtime: the allowlist, and exact arithmetic between its units.

    ``allowlist`` is a set that a project may extend in place; what it adds converts to nothing but itself
    unless it is made of known units. No method loads pint before a conversion between two different units.
    """

    def __init__(self, extend: Collection[str] = (), *, strict: bool = False) -> None:
        self.allowlist: set[str] = set(ALLOWED_UNITS) | set(extend)
        self.strict = strict

    def judge(self, unit: str) -> UnitVerdict:
        """:func:`judge_unit` under this registry's allowlist."""
        verdict = judge_unit(unit, extend=self.allowlist - ALLOWED_UNITS.keys(), strict=self.strict)
        if unit in ALLOWED_UNITS and unit not in self.allowlist:
            return UnitVerdict(
                unit, "not-allowed", verdict.dimension, None, "It was taken off the allowlist."
            )
        return verdict

    def is_allowed(self, unit: str) -> bool:
        """Whether a Quantity may carry ``unit`` here. Exact and case-sensitive."""
        return unit in self.allowlist or self.judge(unit).status == "allowed"

    def require(self, unit: str, path: str | None = None) -> None:
        """Raise UNIT_UNKNOWN unless ``unit`` is allowed."""
        if not self.is_allowed(unit):
            verdict = self.judge(unit)
            hint = f"Use {verdict.nearest!r}." if verdict.nearest else None
            raise GLValidationError(
                "UNIT_UNKNOWN", f"Unit '{unit}' is not allowed. {verdict.reason}", hint=hint, path=path
            )

    def normalize(self, quantity: HasUnit) -> tuple[Decimal, str]:
        """The value in its dimension's canonical unit (``1 tCO2e`` → ``(1000, "kgCO2e")``), and that unit.

        Raises GLValidationError UNIT_UNKNOWN for a unit that is not allowed.
        """
        self.require(quantity.unit)
        dimension = dimension_of(quantity.unit)
        target = _canonical(dimension) if dimension else None
        if target is None or target == quantity.unit:
            return Decimal(str(quantity.value)), quantity.unit
        value = self._convert(quantity, target)
        return Decimal(value.numerator) / Decimal(value.denominator), target

    def convert_to(self, quantity: HasUnit, unit: str) -> Any:
        """A Quantity of the same size in ``unit``. Raises UNIT_UNKNOWN where the dimensions differ."""
        from gllint_runtime.schemas import Quantity

        self.require(quantity.unit)
        self.require(unit)
        if quantity.unit == unit:
            return Quantity(quantity.value, unit)
        if same_dimension(quantity.unit, unit) is not True:
            raise GLValidationError("UNIT_UNKNOWN", f"'{quantity.unit}' does not convert to '{unit}'.")
        return Quantity(float(self._convert(quantity, unit)), unit)

    def same_quantity(self, a: HasUnit, b: HasUnit, tolerance: float = 1e-9) -> bool:
        """Whether two Quantities are equal once in the same unit.

        Integers are compared exactly, anything else to a relative ``tolerance`` with no absolute floor;
        temperatures in kelvin. NaN, infinity, booleans and different dimensions are never equal.
        """
        first, second = _exact(a.value), _exact(b.value)
        if first is None or second is None or not (self.is_allowed(a.unit) and self.is_allowed(b.unit)):
            return False
        if a.unit != b.unit:
            if same_dimension(a.unit, b.unit) is not True:
                return False
            first, second = self._root(first, a.unit), self._root(second, b.unit)
        elif dimension_of(a.unit) == "temperature":
            first, second = self._root(first, a.unit), self._root(second, b.unit)
        if isinstance(a.value, int) and isinstance(b.value, int):
            return first == second
        return abs(first - second) <= Fraction(tolerance) * max(abs(first), abs(second))

    def validate_dimension(self, quantity: HasUnit, expected_dimension: str) -> None:
        """Raise UNIT_UNKNOWN unless the Quantity is of ``expected_dimension`` (``"mass"``, ``"energy/area"``)."""
        self.require(quantity.unit)
        found = dimension_of(quantity.unit)
        if found != expected_dimension:
            raise GLValidationError(
                "UNIT_UNKNOWN", f"Expected a unit of {expected_dimension}, got '{quantity.unit}' ({found})."
            )

    def _convert(self, quantity: HasUnit, unit: str) -> Fraction:
        value = _exact(quantity.value)
        if value is None:
            raise GLValidationError("UNIT_UNKNOWN", f"{quantity.value!r} is not a finite number.")
        factor, offset = self._factor(unit)
        return (self._root(value, quantity.unit) - offset) / factor

    def _root(self, value: Fraction, unit: str) -> Fraction:
        factor, offset = self._factor(unit)
        return value * factor + offset

    @staticmethod
    def _factor(unit: str) -> tuple[Fraction, Fraction]:
        """Factor and offset of a unit; inside a compound a degree is a difference and has no offset."""
        factors = _factors(unit)
        if factors is None:
            raise GLValidationError("UNIT_UNKNOWN", f"Unit '{unit}' cannot be converted.")
        if len(factors) == 1 and factors[0][1] == 1:
            return _scale(factors[0][0])
        product = Fraction(1)
        for name, power in factors:
            product *= _scale(name)[0] ** power
        return product, Fraction(0)


def _exact(value: Any) -> Fraction | None:
    """A finite real number as an exact fraction; ``None`` for anything else, booleans included."""
    if isinstance(value, bool):
        return None
    try:
        return Fraction(value) if not isinstance(value, str) else None
    except (TypeError, ValueError, OverflowError):
        return None

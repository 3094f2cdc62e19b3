"""What a text that is no unit of the tables means: one unit, several, another thing, or nothing that is known.

A unit is suggested only where it means the same as what is written, in dimension and in size: another case, a plural,
a name written out, another way to write a product. A word that is written exactly as some unit is (of ours, or of
pint) means that unit. Any other word is looked up in every case; where that gives two units, none is suggested. The
words are in ``spellings.txt``.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from gllint_runtime.policy.data_files import sections
from gllint_runtime.policy.packs import PACKS
from gllint_runtime.policy.stock_units import stock_name, stock_readings
from gllint_runtime.policy.unit_codes import unit_of_code
from gllint_runtime.policy.unit_expressions import (
    MAX_LENGTH,
    NAME,
    TRAILING_POWER,
    Factors,
    factors_of,
    raised,
)
from gllint_runtime.policy.unit_table import ALLOWED_UNITS, TIME_UNITS, pack_units, units

_MAX_FACTORS = 12
_MAX_DEPTH = 4
_OF_UCUM = re.compile(r"10\*\d|[^/.\s]\{|\}[/.]|\[[\w']+\]")
_COUNTED = re.compile(r"(?:\A|[/.])\{([^{}]*)\}")
_RINGS = str.maketrans("º˚", "°°")  # what some keyboards have for it
_DEGREE = re.compile(r"(?<!\w)°([CF])(?!\w)")


class Spelling(NamedTuple):
    """What is known of the way in which a unit is written.

    ``meant`` is the unit of the tables that means the same, ``in_case_only`` whether the text differs from it in case
    and separators alone and is no other unit in any case, ``remark`` a sentence for people where nothing is suggested,
    ``is_ambiguous`` whether the text may be several units, ``is_placeholder`` whether it is only a placeholder for one.
    """

    meant: str | None = None
    in_case_only: bool = False
    remark: str = ""
    is_ambiguous: bool = False
    is_placeholder: bool = False


# ---------------------------------------------------------------------------------------- the same characters


def plain_spelling(text: str) -> str:
    """Return the text in which units are compared.

    Example: ``m³`` is ``m3``, both micro signs are one, ``℃`` is ``degC`` (NFKC).
    """
    if text.isascii() or len(text) > MAX_LENGTH:
        return text
    return _DEGREE.sub(r"deg\1", unicodedata.normalize("NFKC", text))


def as_listed(unit: str, extend: Collection[str] = (), packs: Collection[str] = ()) -> str:
    """Return the unit with each of its names as the tables write it: ``μg/m³`` gives ``µg/m3``."""
    if unit.isascii():
        return unit
    listed = _written(frozenset(extend), tuple(packs))
    plain = plain_spelling(unit)
    return listed.get(plain) or NAME.sub(lambda name: listed.get(name[0], name[0]), plain)


@lru_cache(maxsize=64)
def _written(extend: frozenset[str], packs: tuple[str, ...]) -> Mapping[str, str]:
    """Return the symbols beyond ASCII, by their plain text."""
    symbols = (symbol for symbol in (*pack_units(packs), *sorted(extend)) if not symbol.isascii())
    written = {plain_spelling(symbol): symbol for symbol in symbols}
    return {plain: symbol for plain, symbol in written.items() if plain not in ALLOWED_UNITS}


# ------------------------------------------------------------------------------------------ what is suggested


@lru_cache(maxsize=1024)
def spelling_of(text: str, extend: frozenset[str] = frozenset()) -> Spelling:
    """Return what ``text``, which is no allowed unit, is as a spelling of one: "KWH" means ``kWh``, "mwh" is ambiguous.

    ``extend`` lists a project's own units.
    """
    plain = " ".join(plain_spelling(text.translate(_RINGS)).split())
    if len(plain) > MAX_LENGTH:
        return Spelling()
    if plain.lower() in _table("placeholders")["texts"].split(", "):
        return Spelling(remark=f"`{plain}` is a placeholder for a unit.", is_placeholder=True)
    others = _table("others")
    if other := others.get(plain):
        return Spelling(remark=f"`{plain}` is {other}.")
    if _OF_UCUM.search(plain) and (meant := _of_ucum(plain)) is not None:
        return Spelling(meant)
    reader = _Reader(extend)
    listed = as_listed(plain, extend, PACKS)
    meanings = reader.meanings(listed)
    written = [unit for meaning in meanings if (unit := reader.written(meaning))]
    if len(meanings) > 1 or reader.is_open:
        return Spelling(remark=reader.remark or _either(written), is_ambiguous=True)
    # A unit of a pack that is not in force is spelled as it should be: there is nothing to suggest.
    if not written or written[0] == as_listed(text, extend, PACKS):
        return Spelling(remark=reader.remark)
    letters = _folded(written[0])
    # "CAL" means `cal`, but "Cal" may be a thousand of it.
    is_other = any(_folded(name) == letters for name in others)
    return Spelling(written[0], _folded(text) == letters and not is_other)


def _of_ucum(text: str) -> str | None:
    """Return the unit that UCUM's own notation means.

    ``10*3/uL`` → ``10^3/uL``; ``{cells}/uL`` and ``mm[Hg]`` are read, too.
    """
    # `{unit}/kWh` is a template that was not filled in.
    if not all(thing.endswith("s") and thing != "units" for thing in _COUNTED.findall(text)):
        return None
    return unit_of_code(text, "ucum")


def readings_of(text: str, extend: Collection[str] = ()) -> list[str]:
    """Return the units that a text may be read as, in gllint's spelling.

    "kilowatt hour" → ``["kWh"]``; ``[]`` if none.
    """
    if len(text) > MAX_LENGTH:
        return []
    reader = _Reader(frozenset(extend))
    plain = " ".join(plain_spelling(text.translate(_RINGS)).split())
    meanings = reader.meanings(as_listed(plain, extend, PACKS))
    return list(dict.fromkeys(unit for meaning in meanings if (unit := reader.written(meaning))))


def _either(units: Collection[str]) -> str:
    if len(units) < 2:
        return "It can be read as several units, by its case: write the one that you mean."
    *rest, last = (f"`{unit}`" for unit in units)
    return f"It can be read as {', '.join(rest)} and as {last}: write the one that you mean."


def _folded(text: str) -> str:
    return re.sub(r"[\s_.-]", "", text).lower()


class _Reader:
    """Reads one text.

    ``remark`` names the part of a text that is not understood. ``is_open``: a text that is understood may also be
    another unit, which the tables do not have.
    """

    def __init__(self, extend: frozenset[str]) -> None:
        self._extend = extend
        self._text = ""
        self.remark = ""
        self.is_open = False

    def meanings(self, text: str) -> list[Factors]:
        """Return the meanings of a text as products.

        "kWh/m2" → ``[(("kWh", 1), ("m", -2))]``; ``[]`` if it is not understood.
        """
        self._text = _EMISSIONS.sub(_emission, text)
        text = _PER.sub("/", self._text.replace("**", "^")).translate(_DIVISION)
        try:
            if (unit := _named(self._text)) is not None:
                return [_expanded(factors_of(unit))]
            return self._quotient(text, False, 0)
        except _UnreadableError as error:
            self.remark = error.remark
            return []

    def _quotient(self, text: str, is_divisor: bool, depth: int) -> list[Factors]:
        """Return the meanings of a unit with ``/`` in it, as products of the parts between the bars."""
        parts = _split(text)
        if depth > _MAX_DEPTH or len(parts) > _MAX_FACTORS:
            raise _UnreadableError
        meanings: list[Factors] = [()]
        for number, part in enumerate(map(_trimmed, parts)):
            is_below_bar = is_divisor or number > 0
            if part.startswith("(") and part.endswith(")"):
                inner = self._quotient(part[1:-1], is_below_bar, depth + 1)
            elif number == 0 and part == "1":
                inner = [()]
            else:
                inner = self._product(part, is_below_bar, number > 0)
            sign = -1 if number else 1
            meanings = _products(meanings, [_raised_factors(factors, sign) for factors in inner])
        return meanings

    def _product(self, text: str, is_divisor: bool, is_behind_bar: bool) -> list[Factors]:
        """Return the meanings of the text between two bars. Behind a bar, "a*b" has two.

        Example: "x/a*b" may be x/(a*b) or x*b/a.
        """
        if (unit := _named(text)) is not None:
            return [_expanded(factors_of(unit))]
        words = [word for word in _FACTOR.split(text) if word]
        if len(words) == 1 and (pair := _SIDE_BY_SIDE.fullmatch(words[0])):
            words = [pair[1], pair[2]]
        if not words or len(words) > _MAX_FACTORS:
            raise _UnreadableError
        first, *rest = (self._factor(word, is_divisor) for word in words)
        # "kg m" may be a product, or short for a quotient.
        if rest and not is_behind_bar and _LOOSE.search(text) and not self._is_product(words):
            self.is_open = True
            raise _UnreadableError(
                "It does not say whether its parts are multiplied or divided: write `*` or `/`."
            )
        meanings = first
        for factors in rest:
            meanings = _products(meanings, factors)
        if not is_behind_bar or not rest:
            return meanings
        products = first
        for factors in rest:
            products = _products(
                products, [_raised_factors(factors_of_one, -1) for factors_of_one in factors]
            )
        return meanings + products

    def _is_product(self, words: list[str]) -> bool:
        """Return whether words side by side are surely multiplied: ``kW h``, ``kWh m-2``."""
        return "*".join(words) in _table("products") or any(
            word[-2:-1] in ("-", "\u207b") for word in words[1:]
        )

    def _factor(self, text: str, is_divisor: bool) -> list[Factors]:
        """Return the meanings of a word with its power: ``m2``, ``s^-1``, ``K-1``."""
        if (other := _table("others").get(text)) is not None:
            raise _UnreadableError(f"`{text}` is {other}.")
        if (ten := _TEN.fullmatch(text)) is not None:
            return [(("10", int(ten["power"])),)]
        if text.isdecimal() and is_divisor:
            return [((text, 1),)]
        if text.isdecimal() and text != self._text:
            raise _UnreadableError(f"`{text}` is a number, and belongs to the value.")
        if text not in _symbols(self._extend) and (measure := counted_measure(text)) is not None:
            self.is_open = True
            raise _UnreadableError(
                f"`{text}` may be a unit ({measure}) or a thing that is counted. Write what is measured in a unit of "
                f'the allowlist. If it is counted, add it as a unit of your own: `extend-units = ["{text}"]`.'
            )
        split = None if text in _symbols(self._extend) else _POWER.fullmatch(text)
        if split is None:
            units, power = self._word(text, is_divisor), 1
        else:
            power = int(split["power"])
            units = self._word(split["base"], is_divisor or split["power"].startswith("-"))
            # "m3" may be a power, or the letters of another unit.
            if split["sign"] is None and (same_letters := self._of_letters(text)):
                self.is_open |= bool(units)
                units, power = same_letters, 1
            self.is_open |= any(
                other.lower() == text.lower() for other in _table("others")
            )  # `nm3` is no `Nm3`
        if not units:
            is_part = text != self._text and any(char in self._text for char in "*/·. -")
            raise _UnreadableError(f"`{text}` is not a known unit." if is_part else "")
        return [_expanded(factors_of(unit), power) for unit in units]

    def _word(self, word: str, is_divisor: bool) -> list[str]:
        """Return the units that a word may mean, in gllint's spelling.

        "kilowatt" → ``["kW"]``; ``[]`` if it is no unit.
        """
        if word in _symbols(self._extend):
            return [word]
        if is_divisor and (unit := _table("denominators").get(word)):
            return [unit]
        if (unit := _named(word)) is not None:
            return [unit]
        if (
            word.endswith("s")
            and word[:-1] in _symbols(frozenset())
            and word[:-1] not in pack_units(("counts",))
        ):
            return [word]  # `Pas` is as often a product with seconds
        if (name := stock_name(word)) is not None:
            ours = _aliases().get(name, word)
            return [ours if len(word) > 1 or ours.lower() == word.lower() else word]
        if len(word) == 1:
            return []
        units = self._of_letters(word)
        meanings = {_meaning(unit) for unit in units}
        if other_readings := stock_readings(word) - meanings:
            self.is_open |= len(other_readings | meanings) > 1
            return units or [word]
        return units or self._counted(word)

    def _counted(self, word: str) -> list[str]:
        """Return the things that are counted, or the project's own units, of which a word is the plural."""
        singular = word[:-1].lower() if word.endswith("s") else ""
        counted = (*pack_units(("counts",)), *sorted(self._extend))
        return list(dict.fromkeys(unit for unit in counted if unit and unit.lower() == singular))

    def _of_letters(self, word: str) -> list[str]:
        """Return the units that are spelled like a word in another case, one for each meaning: "KWH" → ``["kWh"]``."""
        letters = word.lower()
        units = [
            unit
            for unit in _symbols(self._extend)
            # A symbol that is a name of another (`mph`) is that one.
            if unit.lower() == letters and unit_names().get(unit, unit) == unit
        ]
        # A `CUp` may be the currency as well as the measure.
        if all(_is_word(word, unit) for unit in units):
            units = []
        if (unit := unit_names().get(letters)) is not None:
            units.append(unit)
        return list({_meaning(unit): unit for unit in reversed(units)}.values())[::-1]

    def written(self, meaning: Factors) -> str | None:
        """Return a product as the tables write it; ``None`` if one of its factors is not theirs."""
        symbols = _symbols(self._extend)
        return _text(meaning) if all(name in symbols or name.isdecimal() for name, _ in meaning) else None


class _UnreadableError(Exception):
    """``remark`` says which part is not understood; it is empty where all of it is not."""

    def __init__(self, remark: str = "") -> None:
        super().__init__(remark)
        self.remark = remark


def divisor_of_time(word: str) -> str | None:
    """Return the unit of time of a single letter below a bar: ``a`` in ``kWh/a`` is a year."""
    return _table("denominators").get(word)


# ------------------------------------------------------------------------------------------------- the parts

_DIVISION = str.maketrans(dict.fromkeys("∕⁄÷", "/") | {"−": "-", "‐": "-", "‑": "-"})
_PER = re.compile(r"(?<![^\s_-])per(?![^\s_-])")
_FACTOR = re.compile(r"[\s*·⋅×∙•.]+|[-_](?!\d)")
_LOOSE = re.compile(r"(?<![\s*·⋅×∙•./])[\s_]+(?![\s*·⋅×∙•./])")  # side by side, without a sign
_TEN = re.compile(r"10\^(?P<power>\d\d?)")
_POWER = re.compile(r"(?P<base>.*?[^\d^-])(?P<sign>\^|(?=-))?\(?(?P<power>-?[1-9])\)?", re.DOTALL)
_SIDE_BY_SIDE = re.compile(r"((?:m|cm|ft)[23])([A-Z]\w*|a)")  # as in W/m2K and kWh/m2a
_MASS = r"kilogram(?:me)?s?|gram(?:me)?s?|tonnes?|metric[ _-]ton(?:ne)?s?|[kK]?g|KG|[tT]"
_EMISSIONS = re.compile(
    rf"(?<![^\W_])({_MASS})[ _-]?(?:of[ _])?"
    r"(?i:CO[2₂][ _-]?(?:e|eq|equiv|equivalents?)|carbon[ _-]dioxide[ _-]equivalents?)(?![^\W_])\.?"
)


def _emission(match: re.Match[str]) -> str:
    mass = unit_names().get(_folded(match[1])) or match[1].lower()
    return f"{mass}CO2e"


def emissions_at(text: str, at: int) -> tuple[str, int] | None:
    """Return the mass of CO2 equivalents that a text goes on with at a place (``tonnes of CO2e``), and
    where it ends.
    """
    match = _EMISSIONS.match(text, at)
    return None if match is None else (_emission(match), match.end())


def counted_measure(word: str) -> str | None:
    """Return the dimension of a word that is both a unit and a thing that is counted (``bars``); else ``None``."""
    counted, letters = _table("counted"), word.lower()
    if word not in (letters, word.capitalize()):  # a symbol in capitals: `BAR`
        return None
    return counted.get(letters) or (counted.get(letters[:-1]) if letters.endswith("s") else None)


def _split(text: str) -> list[str]:
    """Return the parts of a text between its bars, brackets kept whole: ``"a/(b/c)"`` → ``["a", "(b/c)"]``.

    Raises ``_UnreadableError`` for brackets that do not match.
    """
    parts, depth = [""], 0
    for char in text:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "/" and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    if depth:
        raise _UnreadableError
    return parts


def _trimmed(text: str) -> str:
    return text.strip(" _-")


def _named(text: str) -> str | None:
    """The unit whose name a text is, written out. The case of a long one says nothing."""
    is_name = len(text) > 4 or text == text.lower() or not text.isascii()
    return unit_names().get(_folded(text)) if is_name else None


def _products(left: list[Factors], right: list[Factors]) -> list[Factors]:
    """Return each product of one of ``left`` with one of ``right``, without repetitions in another order.

    Raises ``_UnreadableError`` if there are more than any text needs.
    """
    pairs = [(*factors, *other) for factors in left for other in right]
    products = {frozenset(_powers(pair).items()): pair for pair in reversed(pairs)}
    if len(products) > _MAX_FACTORS:
        raise _UnreadableError
    return list(products.values())[::-1]


def _powers(meaning: Factors) -> Counter[str]:
    exponents: Counter[str] = Counter()
    for name, power in meaning:
        exponents[name] += power
    return exponents


def _raised_factors(factors: Factors, power: int) -> Factors:
    return tuple((name, exponent * power) for name, exponent in factors)


def _is_word(word: str, code: str) -> bool:
    """Return whether a text in other letters than the code of a currency is a word: ``pen``, ``all``."""
    return code in _table("words")["codes"].split() and word != code


def _expanded(factors: Iterable[tuple[str, int]], power: int = 1) -> Factors:
    """Return the factors with a power in the name made an exponent: ``(("m2", 1),)`` → ``(("m", 2),)``."""
    return tuple(
        (split[1], int(split[2]) * exponent * power)
        if (split := TRAILING_POWER.match(name))
        else (name, exponent * power)
        for name, exponent in factors
    )


def _text(meaning: Factors) -> str | None:
    """Return a product as the allowlist spells it.

    ``(("kW", 1), ("h", 1))`` → ``"kWh"``; ``None`` if it has no spelling.
    """
    over, under = _parted(meaning)
    if dict(over).keys() & dict(under).keys():
        return None  # `m3/(h*m2)` is more than a speed
    exponents = _with_products(_powers(meaning))
    for unit in ALLOWED_UNITS:
        if Counter(dict(_expanded(factors_of(unit)))) == exponents:
            return unit
    over, under = _parted([*exponents.items()])
    if not exponents:
        return None
    dividend = "*".join(raised(name, power) for name, power in over)
    return "/".join([dividend or "1", *(raised(name, -power) for name, power in under)])


def _parted(factors: Sequence[tuple[str, int]]) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Return the factors above a bar, and those below it."""
    over = [factor for factor in factors if factor[1] > 0]
    return over, [factor for factor in factors if factor not in over]


def _with_products(exponents: Counter[str]) -> Counter[str]:
    """``kW*h`` as the one unit that it is."""
    for product, unit in _table("products").items():
        left, right = product.split("*")
        if exponents[left] == exponents[right] == 1 and unit not in exponents:
            return Counter({unit: 1, **{n: p for n, p in exponents.items() if n not in (left, right)}})
    return exponents


# ------------------------------------------------------------------------------------------------ the tables


@lru_cache(maxsize=64)
def _symbols(extend: frozenset[str]) -> Mapping[str, None]:
    """Return all symbols that a suggestion may be made of, the allowlist first."""
    compounds = {unit for unit in ALLOWED_UNITS if "/" in unit}
    return dict.fromkeys(
        u for u in (*ALLOWED_UNITS, *TIME_UNITS, *sorted(extend), *pack_units(PACKS)) if u not in compounds
    )


@cache
def _tables() -> Mapping[str, Mapping[str, str]]:
    return sections("spellings.txt")


def _table(name: str) -> Mapping[str, str]:
    return _tables()[name]


@cache
def unit_names() -> Mapping[str, str]:
    """Return the units by their names in words, without blanks and hyphens: ``{"squaremeter": "m^2"}``."""
    named = {form: unit.symbol for unit in units().values() for form in unit.forms}
    for length in ("m", "km", "ft", "mi"):
        for form in units()[length].forms:
            for power, words in (("2", ("square", "sq")), ("3", ("cubic", "cu"))):
                named |= {word + form: f"{length}^{power}" for word in words}
    return named


@cache
def _aliases() -> Mapping[str, str]:
    """Return the unit of the tables that each of pint's full names is."""
    named_otherwise = unit_names().keys() - unit_names().values()
    symbols = [unit for unit in _symbols(frozenset()) if unit not in named_otherwise]
    listed = [*_table("pint"), *reversed(symbols)]
    return {name: unit for unit in listed if not (name := _meaning(unit)).startswith("-")}


def _meaning(unit: str) -> str:
    """Return the name that identifies the meaning of a unit: pint's full name of it, or one of ours."""
    return _table("pint").get(unit) or stock_name(unit) or f"-{unit}"

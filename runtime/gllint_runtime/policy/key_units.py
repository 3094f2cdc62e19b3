"""The unit that a key announces by its end: ``annual_kwh``, ``price_usd_per_kwh``, ``bytes_transferred``.

The end of a key is read as a unit expression to its whole length, or not at all. Where it can be read in two ways, a
key announces no unit: :func:`unit_of_name` says ``None``, and :func:`readings_of_name` has both. Nothing here asks
pint; what no pack has and pint knows stands in ``key_units.txt``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from gllint_runtime.policy.data_files import sections
from gllint_runtime.policy.packs import PACKS, pack_units
from gllint_runtime.policy.unit_spellings import plain_spelling
from gllint_runtime.policy.units import ALLOWED_UNITS, TIME_UNITS, dimension_of, is_allowed

_LONGEST = 200
_NOT_UNITS = frozenset(
    [
        "ours",
        "words",
        "needs",
        "unless",
        "compounds",
        "divided",
        "unit nouns",
        "whole words",
        "scales",
        "scales of money",
        "numbers",
        "others",
        "qualifiers",
        "per",
        "letters",
        "currencies",
        "whole",
        "never alone",
        "no case",
        "priced",
    ]
)
# What the unit before it is divided by, without a "per".
_DIVISORS = frozenset({"area", "volume", "substance"})
_LENGTHS = frozenset({"length", "area", "volume"})
# What is no distance, duration or amount that a number before it could say.
_MEASURED = frozenset({"energy", "power", "emissions"})
_NO_UNIT: tuple[tuple[str, ...], int] = ((), 0)
_FIRST_LETTERS = frozenset({"w", "g", "j"})
_LAST_LETTERS = {"l": "L", "h": "h", "s": "s"}
_BOUNDS = frozenset({"min", "max"})
_EXCHANGES = frozenset({"exchange", "fx", "forex", "conversion"})
_MANY = re.compile(r"x?\d+(?:k|m|mm|mn|b|bn)|x?10{2,}")  # `10k_usd`, `1000_kwh`
_LEVEL = re.compile(r"\d+(?:cm|m|km|hpa|mb)")  # at which something is measured: `wind_10m_ms`
_GASES = frozenset({"co2", "ch4", "n2o", "co2e", "co2eq", "ghg"})
_EMISSIONS = re.compile(r"_(?:(kg|g|t)_co2(?:e|eq|_eq)|co2(?:e|eq|_eq)_(kg|g|t))(?=_|$)", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[a-z0-9][A-Z])(?=[A-Z][a-z])")
_LOWER_WORD = re.compile(r"(?:[A-Z]|(?<![a-z])[a-z])[a-z]+\Z")
_CHUNK = re.compile(r"[^\W_]+")


class _Table(NamedTuple):
    """``key_units.txt`` beside the allowlist and the packs."""

    ends: Mapping[str, tuple[str, ...]]  # one to three words, joined by ``_``, in small letters
    symbols: frozenset[str]  # as the allowlist and the packs write them
    dimensions: Mapping[str, str]  # of what neither has
    per: Mapping[str, str]
    letters: Mapping[str, str]
    needs: Mapping[str, frozenset[str]]
    unless: Mapping[str, frozenset[str]]
    compounds: Mapping[str, frozenset[str]]  # by dimension
    divided: Mapping[str, frozenset[str]]  # by dimension
    unit_nouns: frozenset[str]
    scales: frozenset[str]
    money_scales: frozenset[str]
    numbers: frozenset[str]
    others: frozenset[str]
    qualifiers: frozenset[str]
    whole: frozenset[str]
    whole_words: frozenset[str]
    never_alone: frozenset[str]
    no_case: frozenset[str]
    priced: frozenset[str]


@cache
def _table() -> _Table:
    rows = sections("key_units.txt")

    def words(section: str) -> frozenset[str]:
        return frozenset(rows[section]["words"].split())

    def by_key(section: str) -> dict[str, frozenset[str]]:
        return {key: frozenset(listed.split()) for key, listed in rows[section].items()}

    currencies = words("currencies")
    packed = pack_units(tuple(pack for pack in PACKS if pack not in ("counts", "currencies")))
    symbols = [unit for unit in dict.fromkeys((*ALLOWED_UNITS, *packed)) if unit.isalnum()]
    ends: dict[str, tuple[str, ...]] = {}
    for symbol in symbols:
        if len(symbol) > 1:
            end = plain_spelling(symbol).lower()
            ends[end] = (*ends.get(end, ()), symbol)
    ends |= {code.lower(): (code,) for code in currencies}
    dimensions: dict[str, str] = {}
    for section in rows:
        if section == "ours" or section not in _NOT_UNITS:
            for end, written in rows[section].items():
                ends[end] = tuple(written.split(" | "))
                if section != "ours":
                    dimensions |= {unit: section for unit in ends[end] if unit not in symbols}
    for word in words("words"):
        ends.pop(word, None)
    counted = pack_units(("counts",))
    things = {name: unit for unit in counted for name in (unit, f"{unit}s")}
    return _Table(
        ends=ends,
        symbols=frozenset(symbols) | currencies,
        dimensions=dimensions,
        per=things | rows["per"],
        letters=rows["letters"],
        needs=by_key("needs"),
        unless=by_key("unless"),
        compounds=by_key("compounds"),
        divided=by_key("divided"),
        unit_nouns=frozenset(
            f"{prefix}{noun}{end}"
            for prefix in ("", *rows["unit nouns"]["prefixes"].split())
            for noun in words("unit nouns")
            for end in ("", "s")
        ),
        scales=words("scales"),
        money_scales=words("scales of money"),
        numbers=words("numbers"),
        others=words("others"),
        qualifiers=words("qualifiers"),
        whole=words("whole"),
        whole_words=words("whole words"),
        never_alone=words("never alone"),
        no_case=words("no case"),
        priced=words("priced"),
    )


# ----------------------------------------------------------------------------------------------- the question


def unit_of_name(name: str) -> str | None:
    """The one unit that the end of a name reads as, or ``None``.

    It is written as the allowlist or a pack writes it (``_kwh`` gives ``kWh``), and need not be allowed:
    :func:`~gllint_runtime.policy.units.packs_for` tells what would allow it.
    ``intensity_kwh_m2`` and ``intensity_kwh_per_m2`` both give kWh/m2,
    ``affinity_kcal_mol`` gives kcal/mol, ``power_mw`` and ``temp_c`` give ``None``.
    """
    readings = readings_of_name(name)
    return readings[0] if len(readings) == 1 else None


def is_scaled(name: str) -> bool:
    """Whether a name ends in a multiple of what its number counts, and in no unit: ``revenue_millions``."""
    last = "".join(name_words(name)[-1:]).lower()
    return len(last) > 1 and last in _table().scales and not readings_of_name(name)


@lru_cache(maxsize=8192)
def readings_of_name(name: str) -> tuple[str, ...]:
    """Every unit that the end of a name may mean: ``power_mw`` gives ``("MW", "mW")``, a bare ``total`` none."""
    if len(name) > _LONGEST:
        return ()
    tokens = _tokens(name)
    words = [token.lower() for token in tokens]
    if len(tokens) == 1 and words[0] not in _table().whole:
        if len(words[0]) < 3 or name in currencies() or words[0] in _table().never_alone:
            return ()  # `ml`, `m2`, `{"EUR": 0.92}`: too short a word to be sure
    if words[:1] in (["pct"], ["percent"], ["percentage"]) and not {"per", "id", "code"}.intersection(words):
        if len(words[-1]) == 1:  # `percent_b`, a name of its own
            return ()
        return () if _readings(tokens[1:], name) else ("%",)
    return _readings(tokens, name)


def name_words(name: str) -> list[str]:
    """The words of a name, in their own case."""
    return _tokens(name)


def is_unit_word(word: str) -> bool:
    """Whether a word in small letters is how a unit is written, though it may be something else as often."""
    return word in _table().ends or word == "pu"


def announced_units() -> frozenset[str]:
    """The units that neither the allowlist nor a pack has, and that a name may announce all the same."""
    return frozenset(_table().dimensions)


def announced_dimension(unit: str) -> str | None:
    """The dimension of a unit that a name announces, packs or not; pint is not asked for it."""
    return dimension_of(unit, packs=PACKS) if _is_ours(unit) else _table().dimensions.get(unit)


def _is_ours(unit: str) -> bool:
    return is_allowed(unit, packs=PACKS) or unit in TIME_UNITS


# ----------------------------------------------------------------------------------------------- the reading


def _tokens(name: str) -> list[str]:
    """The words of a name in their own case: ``"kWhPerM2"`` → ``["kWh", "Per", "M2"]``; no number at the end."""
    tokens: list[str] = []
    name = plain_spelling(name)
    lowered = name.lower()
    if name == lowered:  # most names: there is no case to tell words by
        tokens = _CHUNK.findall(name)
    for chunk in _CHUNK.findall(name) if not tokens else ():
        for part in _mixed().sub(_parted, chunk).split("_"):
            if part:
                tokens += [part] if part in _table().symbols else _camel_words(part)
    while len(tokens) > 1 and tokens[-1].isdigit():
        tokens.pop()
        if tokens[-1].lower() in ("m", "cm", "mm", "km", "ft"):  # `area_m_2`
            return []
    if "co2" in lowered:
        return _EMISSIONS.sub(_as_emissions, "_".join(["", *tokens])).split("_")[1:]
    return tokens


def _as_emissions(match: re.Match[str]) -> str:
    """A mass and its gas as one word: ``kgCO2e``."""
    return f"_{(match[1] or match[2]).lower()}CO2e"


def _parted(match: re.Match[str]) -> str:
    """A symbol as a word of its own, but for the first letter that is the last of a word: ``clockHz``."""
    symbol, start = match[0], match.start()
    before = _LOWER_WORD.search(match.string, 0, start + 1)
    if before is not None and before[0].lower() in _table().whole_words:
        return f"{symbol[0]}_{symbol[1:]}_"
    return f"_{symbol}_"


def _camel_words(part: str) -> list[str]:
    """``"irradianceWPerM2"`` → ``["irradiance", "W", "Per", "M2"]``, but ``"energyKWh"`` → ``["energy", "KWh"]``."""
    words: list[str] = []
    for word in _CAMEL.split(part):
        if words and len(words[-1]) == 1 and f"{words[-1]}{word}".lower() in _table().ends:
            word = words.pop() + word
        words.append(word)
    return words


@cache
def currencies() -> frozenset[str]:
    """The currencies that a key may end in."""
    return frozenset(sections("key_units.txt")["currencies"]["words"].split())


@cache
def _mixed() -> re.Pattern[str]:
    """Symbols with a capital inside (``kWh``), which camelCase would take apart."""
    symbols = sorted((s for s in _table().symbols if _CAMEL.search(s)), key=len, reverse=True)
    long = "|".join(symbol for symbol in symbols if len(symbol) > 2)
    short = "|".join(symbol for symbol in symbols if len(symbol) == 2)
    return re.compile(rf"(?:(?:{long})|(?:^|(?<=Per))(?:{short}))(?=[A-Z]|$)")


def _readings(tokens: Sequence[str], name: str) -> tuple[str, ...]:
    words = [token.lower() for token in tokens]
    qualifiers = _table().qualifiers
    end = len(words)
    while end and words[end - 1] in qualifiers:
        end -= 1
    # The case of a name that is all in capitals says nothing.
    return tuple(dict.fromkeys(_expression(words[:end] if name.upper() == name else tokens[:end])))


def _expression(words: Sequence[str]) -> Sequence[str]:
    """The readings of the expression at the end of these words."""
    groups: list[list[str]] = [[]]
    for word in words:
        if word.lower() == "per":
            groups.append([])
        else:
            groups[-1].append(word)
    if len(groups) == 1:
        units = _side_by_side(words)
        return () if _is_divided(words, units) else units
    dividend, *below = groups
    dividends = dividends_of(dividend)
    divisors = [divisor for group in below for divisor in divisors_of(group)]
    if not dividends or not divisors or not all(divisors):
        return ()
    return ["/".join([unit, *map(str, divisors)]) for unit in dividends]


def _is_divided(words: Sequence[str], units: Sequence[str]) -> bool:
    """Whether the word before a unit that stands alone says what is divided by it: ``co2_km``."""
    before = words[: len(words) - _atom(words)[1]]
    word = before[-1].lower() if before else ""
    return any(word in _table().divided.get(announced_dimension(unit) or "", ()) for unit in units)


def _beside_per(words: Sequence[str]) -> list[str]:
    """What is divided, where it is a thing that is counted or a letter: ``tokens_per_s``, ``speed_m_per_s``."""
    previous, last = ("".join(part).lower() for part in (words[-2:-1], words[-1:]))
    unit = _table().letters.get(last) or (_table().per.get(last) if last in _things() else None)
    return [unit] if unit and previous not in _table().scales | _table().others else []


@cache
def _things() -> frozenset[str]:
    counted = pack_units(("counts",))
    return frozenset(word for word, unit in _table().per.items() if unit in counted)


def dividends_of(words: Sequence[str]) -> list[str]:
    """The readings of what stands before a ``per``: ``["BTU"]`` of ``["heat", "rate", "btu"]``."""
    return [*_side_by_side(words)] or _beside_per(words)


def divisors_of(words: Sequence[str]) -> list[str | None]:
    """The units between one ``per`` and the next: ``["m2", "year"]``; ``[None]`` where they cannot be read."""
    joined = "_".join(words).lower()
    if unit := _table().per.get(joined):
        return [unit]
    units, length = _atom(words)
    if len(units) == 1 and length == len(words):
        return [units[0]]
    if len(words) == 2:
        first, last = _atom(words[:1])[0], _table().per.get(words[1].lower())
        if len(first) == 1 and last in TIME_UNITS and announced_dimension(first[0]) in ("area", "volume"):
            return [first[0], last]
    return [None]


def _side_by_side(words: Sequence[str]) -> Sequence[str]:
    """The readings of words without a ``per``."""
    last = words[-1].lower() if words else ""
    units, length = _atom(words)
    if not units and last in _LAST_LETTERS:
        units, length = (_LAST_LETTERS[last],), 1
    elif not units and last in ("year", "yr"):  # `kwh_m2_year`, the one such unit of the allowlist
        yearly = [f"{unit}/year" for unit in _side_by_side(words[:-1])]
        return yearly if all(unit in ALLOWED_UNITS for unit in yearly) else ()
    preceding_words = words[: len(words) - length]
    previous = preceding_words[-1].lower() if preceding_words else ""
    is_speed = (previous, last) == ("m", "s")
    if not units or (preceding_words and not is_speed and not _is_open(preceding_words, units)):
        return ()
    dividend, size = (
        _atom(preceding_words)
        if not preceding_words or preceding_words[-1].lower() not in _BOUNDS
        else _NO_UNIT
    )
    if not dividend and (
        (previous in _FIRST_LETTERS and _DIVISORS.issuperset(map(announced_dimension, units)))
        or (previous, last) == ("w", "h")
        or is_speed
    ):
        dividend, size = (_table().letters[previous],), 1
    if dividend:
        return _joined(dividend, units, preceding_words[: len(preceding_words) - size])
    if previous in _table().unit_nouns:
        return ()
    if (
        len(previous) == 1
        and previous.isalpha()
        and not _DIVISORS.isdisjoint(map(announced_dimension, units))
    ):
        return ()  # `density_p_cm3`: how many of what, or how much, in a volume
    return () if last in _LAST_LETTERS else units


def _joined(dividend: Sequence[str], units: Sequence[str], preceding_words: Sequence[str]) -> Sequence[str]:
    """A quotient where the second unit is an area, a volume or ``mol``, a product where it is the hour of a power."""
    if preceding_words and (_atom(preceding_words) != _NO_UNIT or not _is_open(preceding_words, dividend)):
        return ()
    pairs = [(first, second) for first in dividend for second in units]
    readings: list[str] = []
    for first, second in pairs:
        over, under = announced_dimension(first), announced_dimension(second)
        if (over == "time" and second == "s") or (over or "").startswith(
            "1/"
        ):  # what `mpg_cl` is, nobody knows
            return []
        if second == "h" and over == "power":
            readings.append(f"{first}h" if f"{first}h" in _table().symbols else f"{first}*h")
        elif (
            under in _DIVISORS
            and over not in ("dimensionless", "temperature", "time", under)
            and not (under in _LENGTHS and over in _LENGTHS)
        ):
            readings.append(f"{first}/{second}")
        else:
            readings += [f"{first}/{second}", f"{first}*{second}"]
    return readings


def _is_open(preceding_words: Sequence[str], units: Sequence[str]) -> bool:
    """Whether the word before a unit leaves it this number's (not ``share_of_kwh``), and of its size."""
    word = preceding_words[-1].lower()
    if word in _table().others or word in _table().scales:
        return False
    dimensions = {announced_dimension(unit) for unit in units}
    if any(word in _table().compounds.get(dimension or "", ()) for dimension in dimensions):
        return False
    is_money = any(dimension and dimension.startswith("currency") for dimension in dimensions)
    if is_money and word in _table().money_scales:
        return False
    if (is_money or word.endswith("00")) and _MANY.fullmatch(word):
        return False
    if is_money and not _EXCHANGES.isdisjoint(map(str.lower, preceding_words)):
        return False
    if not is_money and "dimensionless" not in dimensions and word in _table().priced:
        return False
    if "mass" in dimensions and not _GASES.isdisjoint(map(str.lower, preceding_words)):
        return False  # a mass of the gas, or of what it is worth in CO2e?
    # `walk_10_km`, `last_30_days`, `FIVE_MINUTES` say which; `floor_2_kwh`, `year_one_kwh` are energies.
    is_number = word.isdigit() or word in _table().numbers
    return not is_number or _MEASURED.issuperset(dimensions)


def _atom(tokens: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """The readings of the one unit that these words end in, and of how many words it is."""
    table = _table()
    for length in (2, 1):
        if len(tokens) < length:
            continue
        end = "_".join(tokens[-length:]).lower()
        units = table.ends.get(end, ())
        if not units:
            continue
        if length == 1 and tokens[-1] in table.no_case:
            return _NO_UNIT
        if end.upper() in currencies() and tokens[-1] not in (end.upper(), end.capitalize(), end):
            return _NO_UNIT  # `GBp`, which are pence
        preceding_tokens = {token.lower() for token in tokens[:-length]}
        previous = tokens[-length - 1].lower() if len(tokens) > length else ""
        is_needy = end in table.needs and table.needs[end].isdisjoint(preceding_tokens)
        if is_needy and (
            len(previous) < 2 or previous not in table.ends
        ):  # `cost_usd_yr` is a rate of its own
            return _NO_UNIT
        if previous and _LEVEL.fullmatch(previous):
            previous = tokens[-length - 2].lower() if len(tokens) > length + 1 else ""
        if end in table.unless and previous in table.unless[end]:
            return _NO_UNIT
        exact = tokens[-1] if length == 1 and tokens[-1] != end and tokens[-1] in units else None
        return (units if exact is None else (exact,)), length
    return _NO_UNIT

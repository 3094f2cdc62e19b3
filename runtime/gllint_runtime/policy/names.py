"""The unit and kind that a name gives its number: :func:`read_name` reads a key, a variable or a parameter.

The grammar is closed. The end of a name is read as a unit to its whole length, or not at all. Three kinds are whole
words (``count``, ``index``, ``identifier``). Where a name has two readings, or only suggests one, ``unit`` is
``None``, and ``readings`` has what the number may be in: that may contradict another unit, and is never written into
anyone's code. Units and their ends are in ``unit_table.txt``, the words around them in ``names.txt``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache, lru_cache

from gllint_runtime.policy.data_files import sections
from gllint_runtime.policy.kinds import KINDS, Kind
from gllint_runtime.policy.schemas import is_plain_key
from gllint_runtime.policy.tuples import NamedTuple
from gllint_runtime.policy.unit_spellings import plain_spelling
from gllint_runtime.policy.unit_table import dimension_in_table, units, units_of


class NameReading(NamedTuple):
    """What a name says. ``unit`` may be written into code, ``readings`` may only contradict another unit.

    ``kind`` is that of an integral number. ``factor`` has the two units between which a number converts, the first into
    the second: ``KM_PER_MILE`` is ``("mi", "km")``; of ``MILE_KM`` it is not known which way. ``is_scaled`` is a name
    that ends in a multiple (``revenue_millions``).
    """

    unit: str | None = None
    kind: Kind | None = None
    readings: tuple[str, ...] = ()
    factor: tuple[str, str] | None = None
    is_scaled: bool = False


NOTHING = NameReading()

_LONGEST = 200
_CHUNK = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[a-z0-9][A-Z])(?=[A-Z][a-z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PREFIXED = re.compile(r"(?:nano|micro|milli|kilo|mega|giga|tera)([a-z]+?)s?")
_NUMBERED = re.compile(r"([^\W\d_]{3,}|[^\W\d_]{2}(?=\d\d))(\d+)")  # but `P95` and `CO2` are words
_LEVEL = re.compile(r"\d+(?:cm|m|km|hpa|mb)")  # at which something is measured: `wind_10m_kmh`
_EMISSIONS = re.compile(r"_(?:(kg|g|t)_co2(?:e|eq|_eq)|co2(?:e|eq|_eq)_(kg|g|t))(?=_|$)", re.IGNORECASE)
_GASES = frozenset({"co2", "co2e", "co2eq", "ghg"})
_EXCHANGES = frozenset({"exchange", "fx", "forex", "conversion"})
_PERCENT = frozenset({"pct", "percent", "percentage"})
_SHARE_ENDS = frozenset({"points", "point", "pts", "pp", "per", "id", "code"})
_COORDINATES = frozenset({"lat", "latitude", "lon", "longitude"})
_TEMPERATURES = frozenset({"temp", "temperature"})
_BOUNDS = frozenset({"max", "avg", "mean", "maximum", "average"})
_TIMES = frozenset({"time", "year"})
_UNIT_LETTERS = frozenset("gtljwh")
# What a unit side by side with another one is divided by.
_DIVISORS = frozenset({"area", "volume", "substance"})
# What the work on a price or a rank is measured in, too.
_OF_THE_WORK = frozenset({"time", "year", "data", "dimensionless"})
_LENGTHS = frozenset({"length", "area", "volume"})
# What flows: before a time it is so much in each.
_FLOWING = frozenset({"length", "area", "volume", "mass", "data", "energy", "emissions", "substance"})


class _Word(NamedTuple):
    """A word of a name: in small letters, as it is written, and whether a capital alone begins it."""

    text: str
    raw: str
    is_camel: bool


class _Ends(NamedTuple):
    """A unit that some words may end in, and whether a word of its dimension must be in the name."""

    unit: str
    dimension: str
    is_needy: bool


class _Words(NamedTuple):
    """``names.txt``."""

    durations: frozenset[str]
    measured: Mapping[str, frozenset[str]]
    quantities: Mapping[str, str]
    other_words: frozenset[str]
    scales: frozenset[str]
    estimators: frozenset[str]
    money_scales: frozenset[str]
    numbers: frozenset[str]
    joined: frozenset[str]
    divided: Mapping[str, frozenset[str]]
    money: frozenset[str]
    not_behind: Mapping[str, frozenset[str]]
    short: frozenset[str]
    never: frozenset[str]
    cased: frozenset[str]
    qualifiers: frozenset[str]
    periods: Mapping[str, str]
    division: frozenset[str]
    per: Mapping[str, str]
    currencies: frozenset[str]
    parts: Mapping[str, str]
    kinds: Mapping[str, Kind]
    levels: frozenset[str]
    singulars: frozenset[str]
    plurals: frozenset[str]
    statistics: frozenset[str]


@cache
def _words() -> _Words:
    """Return the words of names, read from their file and grouped by what they say."""
    rows = sections("names.txt")

    def words(section: str, row: str = "words") -> frozenset[str]:
        return frozenset(rows[section][row].split())

    def by_row(section: str) -> dict[str, frozenset[str]]:
        return {key: frozenset(listed.split()) for key, listed in rows[section].items()}

    durations, measured = words("durations"), by_row("measured")
    measured["time"] |= durations
    measured["year"] = durations
    prior = by_row("before")
    kinds = rows["kinds"]
    return _Words(
        durations=durations,
        measured=measured,
        quantities={
            word: dimension for dimension, words in rows["quantities"].items() for word in words.split()
        },
        other_words=prior["others"],
        scales=prior["scales"],
        estimators=prior["statistics"],
        money_scales=prior["scales of money"],
        numbers=prior["numbers"],
        joined=prior["joined"],
        divided=by_row("divided"),
        money=words("money"),
        not_behind=by_row("not behind"),
        short=words("alone", "short"),
        never=words("alone", "never"),
        cased=words("alone", "cased"),
        qualifiers=words("qualifiers"),
        periods=rows["periods"],
        division=words("division"),
        per=rows["per"],
        currencies=words("currencies"),
        parts={end: unit for unit, ends in rows["parts"].items() for end in ends.split()},
        kinds={pattern: kind for kind in KINDS for pattern in kinds[kind].split()},
        levels=frozenset(kinds["levels"].split()),
        singulars=frozenset(kinds["no plurals"].split()),
        plurals=frozenset(kinds["plurals"].split()),
        statistics=frozenset(kinds["statistics"].split()),
    )


@cache
def _ends() -> Mapping[str, tuple[_Ends, ...]]:
    """Return the units that a name may end in, by its last words in small letters: ``"usd"`` → ``USD``.

    An end that the table marks with ``?`` counts only where another word of the name says the dimension.
    """
    table: dict[str, tuple[_Ends, ...]] = {}
    currencies = {code.lower() for code in _words().currencies}
    for unit in units().values():
        for end in unit.ends:
            bare = end.removesuffix("?")
            # The code of a rare currency (`all`, `top`) is a word of another meaning more often.
            if unit.dimension == f"currency-{unit.symbol}" and bare == unit.symbol.lower() not in currencies:
                continue
            table[bare] = (*table.get(bare, ()), _Ends(unit.symbol, unit.dimension, bare != end))
    return table


@cache
def _things() -> Mapping[str, str]:
    """The nouns of the pack "counts", in the plural."""
    return {unit.plural: unit.symbol for unit in units_of("counts").values()}


@cache
def _below_per() -> Mapping[str, str]:
    """Return the words after ``per`` that may divide a number, each with its unit.

    Example: ``{"sqm": "m2", "request": "request"}``.
    """
    table = {
        form: unit.symbol
        for unit in reversed([*units().values()])
        for form in unit.forms
        if len(form) > 2 and form.isascii() and form.isalpha()
    }
    return {**table, **{symbol: symbol for symbol in units_of("counts")}, **_things(), **_words().per}


# ----------------------------------------------------------------------------------------------- the question


def read_name(name: str, beside: Collection[object] = ()) -> NameReading:
    """Return the unit and kind that a name gives its number: ``"heat_kwh"`` → ``kWh``, ``"n_users"`` → a count.

    ``beside`` are the other keys of its container. The unit is spelled as the allowlist or a pack spells it, and need
    not be allowed. A noun that is counted (``input_tokens``) is the unit of one number, not of a list.
    """
    if len(name) > _LONGEST:
        return NOTHING
    reading = _read(name)
    if beside:
        words = name.lower()
        if words == "limit" and {"offset", "page"} & {str(key).lower() for key in beside}:
            return reading._replace(kind="index")
        # Next to `temp_max`, `temp_min` is a minimum, and no number of minutes.
        if words.endswith("_min") and any(f"{words[:-3]}{bound}" in beside for bound in _BOUNDS):
            return NOTHING
    return reading


@lru_cache(maxsize=8192)
def name_words(name: str) -> tuple[str, ...]:
    """Return the words of a name, in small letters."""
    return tuple(word.text for word in _split(name[:_LONGEST]))


def is_plain(
    key: str, keys: Collection[str], kinds: Collection[str], value: object = 0, beside: Collection[str] = ()
) -> bool:
    """Return whether a number under ``key`` is no quantity by a project's ``plain-keys`` and ``plain-kinds``.

    ``"order_id"`` is by the key ``"*_id"``, ``"room_count"`` by the kind ``"count"``, unless it is a fraction (2.5).
    Only the key is read, never the code, so that the linter and the runtime agree.
    """
    if is_plain_key(key, keys):
        return True
    is_whole = not isinstance(value, float) or value.is_integer()
    return bool(kinds) and is_whole and read_name(key, beside).kind in kinds


def is_unit_itself(name: str) -> bool:
    """Return whether a name in capitals is that of a unit and of nothing else.

    Example: ``KM = 1000``, ``LengthUnit.METERS``.
    """
    return name.isupper() and len(name_words(name)) == 1 and bool(read_name(name).readings)


@lru_cache(maxsize=4096)
def mentions_unit(name: str) -> bool:
    """Return whether a reader may see a unit in a name, though it is not certain: ``days_back``, ``rating_mva``."""
    words = name_words(name)
    # "min" is "minimum" as often.
    last = words[-1] if len(words) > 1 and len(words[-1]) > 1 and words[-1] != "min" else ""
    is_timed = any(
        dimension_in_table(_below_per().get(word, "")) in _TIMES for word in words if len(word) > 3
    )
    return is_timed or bool(read_name(name).readings) or last in _ends()


def quantity_named(word: str) -> str | None:
    """Return the dimension that a single word in small letters says: ``"temperature"`` → ``"temperature"``.

    ``"currency"`` for a word of money or "amount", ``"time"`` for a duration (``"elapsed"``), ``None`` for any other
    word.
    """
    table = _words()
    if word in table.money or word == "amount":
        return "currency"
    return "time" if word in table.durations else table.quantities.get(word)


@lru_cache(maxsize=4096)
def says_dimension(name: str, unit: str) -> bool:
    """Return whether a name says what ``unit`` measures.

    Example: ``"elapsed"`` and ``"wait_h"`` do for ``"s"``, ``"heat"`` does not.
    """
    dimension = dimension_in_table(unit)
    if dimension is None:
        return False
    words, table = name_words(name), _words()
    return (
        not table.measured.get(dimension, frozenset()).isdisjoint(words)
        or any(table.quantities.get(word) == dimension for word in words)
        or any(dimension_in_table(reading) == dimension for reading in read_name(name).readings)
    )


def is_rescaled(words: Collection[str], unit: str) -> bool:
    """Return whether words in small letters beside a unit say a multiple, a part or a statistic of it, or a rate.

    Example: ``millions``, ``ratio``, ``variance``, ``per``.
    """
    table, dimension = _words(), dimension_in_table(unit) or ""
    changing = table.scales | table.division
    if dimension not in _OF_THE_WORK:
        changing |= table.estimators
    if dimension.startswith("currency"):
        changing |= table.money_scales
    is_share = dimension != "dimensionless" and any(table.quantities.get(w) == "dimensionless" for w in words)
    return is_share or not changing.isdisjoint(words)


def is_unit_word(word: str) -> bool:
    """Return whether a word in small letters is how a unit is written, though it may be something else as often."""
    return word in _ends()


def is_plural(word: str) -> bool:
    """Return whether a word in small letters looks like a plural.

    Example: ``"users"`` does, ``"status"`` and ``"glass"`` do not.
    """
    table = _words()
    if word in table.plurals:
        return True
    return len(word) > 2 and word.endswith("s") and not word.endswith("ss") and word not in table.singulars


@lru_cache(maxsize=8192)
def _read(name: str) -> NameReading:
    """Return the unit and the kind that a name says by itself, without the keys next to it."""
    words = _split(name)
    if not words:
        return NOTHING
    texts = [word.text for word in words]
    if len(words) == 1 and texts[0] in _COORDINATES:  # `lat` alone: in a longer name it is "latency" as often
        return NameReading("deg", None, ("deg",))
    factor = _factor(texts)
    if factor is not None:
        return NameReading(factor=factor if "?" not in factor else None) if factor[0] else NOTHING
    if name.upper() == name:  # the case of a name that is all in capitals says nothing
        words = [word._replace(raw=word.text) for word in words]
    trimmed = _trimmed(words)
    unit, readings = _unit(trimmed, name)
    # `pct_change` is a percentage; `percentage_points`, `pct_id` and `pct_per_day` are not.
    is_share = texts[0] in _PERCENT and len(texts[-1]) > 1 and _SHARE_ENDS.isdisjoint(texts)
    if is_share and not readings:
        return NameReading("%", None, ("%",))
    kind = None if readings and not _is_thing(unit) else _kind(texts)
    if kind is not None:
        return NameReading(None, kind)
    # `monthly_kwh` may be in kWh or in kWh/month.
    if unit is not None and not _is_thing(unit) and "/" not in unit:
        readings += tuple(f"{unit}/{period}" for word in texts if (period := _words().periods.get(word)))
    is_scaled = not readings and len(texts[-1]) > 1 and texts[-1] in _words().scales
    return NameReading(unit, None, readings, None, is_scaled)


def _is_thing(unit: str | None) -> bool:
    return unit is not None and unit in units_of("counts")


# --------------------------------------------------------------------------------------------------- the kinds


def _kind(words: Sequence[str]) -> Kind | None:
    """Return the kind that the words of a name say: ``row_count`` and ``n_users`` a count, ``page_index`` an index."""
    table = _words()
    whole = "_".join(words)
    kind = table.kinds.get(whole)
    for length in (1, 2):
        if kind is None and len(words) > length:
            kind = table.kinds.get(f"*_{'_'.join(words[-length:])}")
    if kind == "count" and not table.levels.isdisjoint(words):
        return None
    if kind is not None:
        return kind
    # The noun behind "n_", "num_" or "number_of_", which has to be a plural and the name of no unit.
    rest = words[1:] if words[0] in ("n", "num") else words[2:] if [*words[:2]] == ["number", "of"] else ()
    if not rest or "per" in rest or not is_plural(rest[-1]) or not table.statistics.isdisjoint(rest):
        return None
    dimension = {candidate.dimension for candidate in _ends().get(rest[-1], ())}
    return None if dimension else "count"  # of `n_gpu_hours` the hours are no number of their own


# --------------------------------------------------------------------------------------------------- the words


def _split(name: str) -> list[_Word]:
    """Return the words of a name without a number at its end: ``"kWhPerM2"`` → ``kWh``, ``Per``, ``M2``.

    Emissions become one word: ``"kg_co2_eq"`` → ``kgCO2e``.
    """
    name = plain_spelling(name)
    words: list[_Word] = []
    for chunk in _CHUNK.findall(name):
        parts = [chunk] if chunk in units() or chunk == chunk.lower() else _camel_words(chunk)
        words += [_Word(part.lower(), part, i > 0) for i, part in enumerate(parts)]
    while len(words) > 1 and words[-1].text.isdigit():
        words.pop()
        if words[-1].text in ("m", "cm", "mm", "km", "ft"):  # `area_m_2` may be in m2: it is not read at all
            return []
    if any("co2" in word.text for word in words):
        joined = _EMISSIONS.sub(
            lambda match: f"_{(match[1] or match[2]).lower()}CO2e",
            "_".join(["", *(word.raw for word in words)]),
        )
        raws = joined.split("_")[1:]
        camel = {word.raw for word in words if word.is_camel}
        words = [_Word(raw.lower(), raw, raw in camel) for raw in raws]
    return words


def _camel_words(chunk: str) -> list[str]:
    """Return the words of a camelCase chunk, the letters of a unit kept together.

    ``"irradianceWPerM2"`` → ``irradiance``, ``W``, ``Per``, ``M2``, but ``"energyKWh"`` → ``energy``, ``KWh``.
    """
    words: list[str] = []
    for word in _CAMEL.split(chunk):
        if words and len(words[-1]) < 3 and f"{words[-1]}{word}".lower() in _ends():
            word = words.pop() + word
        elif words and words[-1].lower()[:-1] == "per" and f"{words[-1][-1]}{word}" in units():
            word = words[-1][-1] + word  # `PerkWh`
            words[-1] = words[-1][:-1]
        elif words and len(words[-1]) > 1 and f"{words[-1][-1]}{word}" in units():
            return [chunk]  # `energykWh` and `clockHz` are the same to read
        if words and (numbered := _NUMBERED.fullmatch(words[-1])):
            words[-1:] = numbered.groups()  # of `priceAt100Kwh` the number is no part of a word
        words.append(word)
    return words


def _trimmed(words: Sequence[_Word]) -> Sequence[_Word]:
    """Return the words without those behind a unit that leave it what it is."""
    end = len(words)
    while end and words[end - 1].text in _words().qualifiers:
        end -= 1
    return words[:end]


# --------------------------------------------------------------------------------------------------- the factors


def _factor(words: Sequence[str]) -> tuple[str, str] | None:
    """Return the two units between which a conversion factor converts, the first into the second.

    ``KM_PER_MILE`` → ``("mi", "km")``. ``MILE_KM`` does not say which way: ``("?", "?")``. A name of two units between
    which nothing converts (``usd_to_kwh``): ``("", "")``. ``None`` for a name that is no factor.
    """
    for sign in ("per", "to"):
        if sign not in words[1:-1]:
            continue
        place = len(words) - 1 - words[::-1].index(sign)
        first, second = _singular(words[:place]), _singular(words[place + 1 :], is_whole=True)
        if first is None or second is None:
            return ("", "") if sign == "to" and second is not None else None
        if not _are_of_one_dimension(first, second):
            return ("", "") if sign == "to" else None
        return (second, first) if sign == "per" else (first, second)
    if len(words) > 1 and _words_apart(words):
        second = _singular(words[-1:], is_whole=True)
        first = _singular(words[:-1]) if second is not None else None
        if first is not None and second is not None and _are_of_one_dimension(first, second):
            return ("?", "?")
    return None


def _words_apart(words: Sequence[str]) -> bool:
    """Return whether the last two words are not the name of one unit: ``kilowatt_hours``."""
    return "_".join(words[-2:]) not in _ends() and "_".join(words[-3:]) not in _ends()


def _singular(words: Sequence[str], is_whole: bool = False) -> str | None:
    """Return the unit that words end in, also by its name in the singular.

    ``MILE`` → ``mi``; ``None`` if there is not one.

    ``is_whole``: the unit has to be all of the words.
    """
    for length in (3, 2, 1):
        if len(words) < length or (is_whole and len(words) != length):
            continue
        end = "_".join(words[-length:])
        candidates = [c for c in _ends().get(end, ()) if not c.is_needy]
        if candidates:
            return candidates[0].unit if len({c.dimension for c in candidates}) == 1 else None
        unit = _below_per().get(end) if len(end) > 1 else None  # a letter alone is any word's beginning
        if unit is not None and unit not in units_of("counts"):
            return unit
    return None


def _are_of_one_dimension(first: str, second: str) -> bool:
    dimension, other = dimension_in_table(first), dimension_in_table(second)
    return first != second and (dimension == other or {dimension, other} <= _TIMES)


# --------------------------------------------------------------------------------------------------- the units


def _unit(words: Sequence[_Word], name: str) -> tuple[str | None, tuple[str, ...]]:
    """Return the unit that a name says for sure, if any, and all units that its number may be in.

    ``heat_kwh`` → ``("kWh", ("kWh",))``; ``amount_cents`` → ``(None, ("cent",))``.
    """
    if not words:
        return None, ()
    last = words[-1].text
    if len(words) == 1 and last not in _words().short:
        if len(last) < 3 or name in _words().currencies or last in _words().never:
            return None, ()  # `ml`, `m2`, `{"EUR": 0.92}`: too short a word to be sure
    groups: list[list[_Word]] = [[]]
    for word in words:
        # `pro_plan_usd` begins with no division; `per_kwh` does.
        if word.text == "per" or (groups[-1] and word.text in _words().division):
            groups.append([])
        else:
            groups[-1].append(word)
    if len(groups) > 1:
        return _quotient(groups)
    # Cents, of whatever currency, in a name that is about money.
    if (part := _words().parts.get(last)) is not None and not _atom(words)[0]:
        is_money = len(words) == 1 or not _words().money.isdisjoint(word.text for word in words)
        return None, (part,) if is_money or words[-2].text == "amount" else ()
    # What is counted: `input_tokens`, but not `max_10_tokens`.
    if last in _things() and not words[-1].is_camel and not _atom(words)[0]:
        previous = words[-2].text if len(words) > 1 else ""
        is_its_own = not _is_barred(previous) and previous not in _words().joined
        return (_things()[last], (_things()[last],)) if is_its_own else (None, ())
    return _side_by_side(words)


def _quotient(groups: Sequence[Sequence[_Word]]) -> tuple[str | None, tuple[str, ...]]:
    """Return the unit of words that "per" separates, if it is sure, and its readings.

    ``price_usd | kwh`` → ``USD/kWh``.
    """
    dividend, *divisor_words = groups
    dividends = _dividends(dividend)
    divisors = [_divisors(group) for group in divisor_words]
    if not dividends or not all(divisors) or len(divisors) > 3:
        return None, ()
    readings = [""]
    for choices in divisors:
        readings = [f"{reading}/{choice}" for reading in readings for choice in choices]
    units_read = tuple(dict.fromkeys(f"{unit}{reading}" for unit in dividends for reading in readings))
    # Not sure: cents of whatever currency, and a camelCase noun (`maxTokensPerDay`), which may be a part of a name.
    is_sure = len(units_read) == 1 and not any(
        (unit in units_of("counts") and dividend[-1].is_camel) or unit in _words().parts.values()
        for unit in dividends
    )
    return (units_read[0] if is_sure else None), units_read[:6]


def _dividends(words: Sequence[_Word]) -> tuple[str, ...]:
    """Return the units that the words before "per" may say; unlike elsewhere, also a counted thing (``tokens``) or a
    letter.
    """
    if not words:
        return ()
    _, readings = _side_by_side(words, is_divided=True)
    if readings:
        return readings
    last, previous = words[-1].text, words[-2].text if len(words) > 1 else ""
    unit = (
        _words().parts.get(last)
        or _things().get(last)
        or {"m": "m", "w": "W", "g": "g", "j": "J", "l": "L"}.get(last)
    )
    return (unit,) if unit and not _is_barred(previous) else ()


def _divisors(words: Sequence[_Word]) -> tuple[str, ...]:
    """Return the units that the words between one "per" and the next may say.

    ``sqm`` → ``m2``, ``m3_day`` → ``m3/day``.
    """
    joined = "_".join(word.text for word in words)
    if unit := _below_per().get(joined):
        return (unit,)
    candidates, length = _atom(words)
    if candidates and length == len(words):
        return tuple(candidate.unit for candidate in candidates)
    if len(words) == 2:
        first, last = _atom(words[:1])[0], _below_per().get(words[1].text)
        if len(first) == 1 and last and dimension_in_table(last) in _TIMES:
            return (f"{first[0].unit}/{last}",) if first[0].dimension in ("area", "volume") else ()
    return ()


def _side_by_side(words: Sequence[_Word], is_divided: bool = False) -> tuple[str | None, tuple[str, ...]]:
    """Return the unit at the end of words without "per", if it is sure, and its readings.

    It is one unit (``heat_kwh``), or two next to each other (``irradiance_w_m2`` → ``W/m2``).
    """
    last = words[-1].text
    candidates, length = _atom(words)
    if not candidates and last in ("year", "yr") and len(words) > 1:
        return _over_a_year(words[:-1])
    if not candidates and last in ("l", "h", "s", "d", "day", "hr") and len(words) > 1:
        # A letter that is no unit alone is one next to another unit: `mg_l`, `km_h`.
        letter = {"l": ("L", "volume"), "d": ("day", "time"), "day": ("day", "time"), "hr": ("h", "time")}
        unit, dimension = letter.get(last, (last, "time"))
        pairs = _pairs([_Ends(unit, dimension, False)], words[:-1])
        return _one(pairs)
    if not candidates:
        return None, ()
    prior = words[: len(words) - length]
    if prior and prior[-1].text not in ("min", "max"):  # `min_kwh` is a minimum in kWh, and no minutes
        pairs = _pairs(candidates, prior)
        if pairs is not None:
            return _one(pairs)
    return _alone(candidates, length, words, prior, is_divided)


def _one(pairs: tuple[bool, tuple[str, ...]] | None) -> tuple[str | None, tuple[str, ...]]:
    if pairs is None:
        return None, ()
    is_sure, readings = pairs
    return (readings[0] if is_sure and len(readings) == 1 else None), readings


def _alone(
    candidates: Sequence[_Ends],
    length: int,
    words: Sequence[_Word],
    prior: Sequence[_Word],
    is_divided: bool,
) -> tuple[str | None, tuple[str, ...]]:
    """Return the unit that the end of a name says by itself, if it is sure, and the units that it may be.

    The unit is that of the last ``length`` words, ``prior`` are the words before it.
    """
    readings = tuple(candidate.unit for candidate in candidates if _is_open(candidate, prior, is_divided))
    if len(readings) != len(candidates):
        return None, ()
    end = "_".join(word.text for word in words[-length:])
    other_words = {candidate.unit for candidate in _ends()[end] if not candidate.is_needy} - {*readings}
    is_sure = len(readings) == 1 and (not other_words or words[-1].raw in readings)
    [dimension, *_] = [candidate.dimension for candidate in candidates]
    if dimension in _TIMES and not is_divided:
        if len(end) == 1 or end == "min":  # `wait_s`, but not `user_s` or `price_min`
            is_sure = _is_duration(prior)
            return (readings[0] if is_sure else None), readings if is_sure else ()
        is_alone = all(word.text in _words().qualifiers for word in prior)
        is_sure = is_sure and (is_alone or _is_duration(prior) or _is_number_of(prior))
    elif len(end) == 1:
        is_sure = dimension == "temperature" and _previous(prior) in _TEMPERATURES
    return (readings[0] if is_sure else None), readings


def _previous(prior: Sequence[_Word]) -> str:
    """Return the word before a unit that says what is measured: ``latency`` for ``latency_p95_ms``.

    Statistics and an ``in`` between them are skipped.
    """
    end = len(prior)
    while end > 1 and (prior[end - 1].text in _words().qualifiers or prior[end - 1].text == "in"):
        if prior[end - 1].text in _words().durations:
            break
        end -= 1
    return prior[end - 1].text if end else ""


def _is_duration(prior: Sequence[_Word]) -> bool:
    word = _previous(prior)
    return word in _words().durations or (
        word.endswith("time") and word not in _words().measured["time"] and word[:4] != "date"
    )


def _is_number_of(prior: Sequence[_Word]) -> bool:
    return not prior[-1].is_camel and [word.text for word in prior] in (["n"], ["num"], ["number", "of"])


def _is_barred(word: str) -> bool:
    """Return whether the word before a unit shows that the unit is not this number's.

    So do a number (``per_100_km``), a size (``million_usd``), and a word that makes the unit a part of another thing.
    A height of measurement does not: ``wind_10m_kmh``.
    """
    table = _words()
    is_digits = word[:1].isdigit() or (word[:1] == "x" and word[1:].isdigit())
    is_number = is_digits and not _LEVEL.fullmatch(word)
    return is_number or word in table.numbers or word in table.other_words or word in table.scales


def _is_money(word: str) -> bool:
    """Return whether a word is one of money, or ends in one: ``strompreis``."""
    return word in _words().money or word[3:].endswith(_money_ends())  # but `imbalance` is not


@cache
def _money_ends() -> tuple[str, ...]:
    return tuple(word for word in _words().money if len(word) > 4)


def _is_joined_with_prefix(word: str) -> bool:
    """Return whether a word is a unit that makes another one of the unit behind it: ``megaohm`` before ``meters``."""
    prefixed = _PREFIXED.fullmatch(word)
    return prefixed is not None and prefixed[1] in _words().joined


def _is_open(candidate: _Ends, prior: Sequence[_Word], is_divided: bool = False) -> bool:
    """Return whether the words before a unit leave it the unit of this number: not in ``million_usd`` or
    ``eur_usd_fx``.
    """
    if not prior:
        return True
    table, dimension = _words(), candidate.dimension
    texts = [word.text for word in prior]
    previous = texts[-1]
    is_money = dimension.startswith("currency")
    if _LEVEL.fullmatch(previous):
        if is_money:
            return False  # `100m_usd`
        previous = texts[-2] if len(texts) > 1 else ""
    if _is_barred(previous) or previous in table.joined or _is_joined_with_prefix(previous):
        return dimension == "dimensionless" and previous in table.joined
    if previous in table.estimators and dimension not in _OF_THE_WORK:
        return False  # `variance_usd`, `rank_kwh`; but `rank_ms` is a time
    if is_money:
        return previous not in table.money_scales and _EXCHANGES.isdisjoint(texts)
    if dimension == "mass" and not _GASES.isdisjoint(texts):
        return False  # a mass of the gas, or of what it is worth in CO2e?
    if previous in _UNIT_LETTERS or (len(previous) == 1 and previous.isalpha() and dimension in _DIVISORS):
        return False  # `density_p_cm3`: how many of what, or how much, in a volume
    if previous in table.money and dimension != "dimensionless":
        return False
    # `prix_au_kwh`, `strompreis_kwh`; but `price_age_s` is a time.
    if dimension not in _OF_THE_WORK and any(_is_money(text) for text in texts):
        return False
    return is_divided or previous not in table.divided.get(dimension, ())


def _over_a_year(words: Sequence[_Word]) -> tuple[str | None, tuple[str, ...]]:
    """Return the unit of words before "year", divided by it.

    ``kwh_m2`` → ``kWh/m2/year``, the only such unit that is sure.
    """
    unit, readings = _side_by_side(words)
    if unit is not None and f"{unit}/year" in units():
        return f"{unit}/year", (f"{unit}/year",)
    if len(readings) == 1 and _is_flowing(readings[0]):
        return None, (f"{readings[0]}/year",)
    return None, ()


def _is_flowing(unit: str) -> bool:
    return (dimension_in_table(unit) or "") in _FLOWING


def _pairs(candidates: Sequence[_Ends], prior: Sequence[_Word]) -> tuple[bool, tuple[str, ...]] | None:
    """Return whether two units side by side say one unit for sure, and the units that they may say; ``None``: no pair.

    ``candidates`` are the readings of the last unit, ``prior`` the words before it: ``w`` before ``m2`` → ``W/m2``.
    """
    previous = prior[-1].text
    dividends, size = _atom(prior)
    if dividends and all(
        d.is_needy and {c.dimension for c in candidates} == {d.dimension} for d in dividends
    ):
        return None  # `heat_ev_kwh`: that of a car
    if not dividends:
        letters = {
            "m": ("m", "length"),
            "w": ("W", "power"),
            "g": ("g", "mass"),
            "j": ("J", "energy"),
            "l": ("L", "volume"),
        }
        if previous not in letters or len(prior) == len(previous):
            return None
        unit, dimension = letters[previous]
        is_rate = all(candidate.dimension in _TIMES for candidate in candidates) and previous in "mlg"
        is_share = _DIVISORS.issuperset(candidate.dimension for candidate in candidates) and previous in "wgj"
        is_product = previous == "w" and [candidate.unit for candidate in candidates] == ["h"]
        texts = {word.text for word in prior[:-1]}
        if not is_share and not is_product:
            if not is_rate or texts.isdisjoint(
                {*_words().measured["length/time"], *_words().measured["volume/time"]}
            ):
                return None
        dividends, size = (_Ends(unit, dimension, False),), 1
    rest = prior[: len(prior) - size]
    if rest and (_atom(rest)[0] or not all(_is_open(d, rest, is_divided=True) for d in dividends)):
        return (False, ())
    readings: list[str] = []
    is_sure = True
    for first in dividends:
        for second in candidates:
            over, under = first.dimension, second.dimension
            if (over == "time" and second.unit == "s") or over == "length/volume":
                return (False, ())  # what `mpg_cl` is, no one knows
            if second.unit == "h" and over == "power":
                readings.append(f"{first.unit}h" if f"{first.unit}h" in units() else f"{first.unit}*h")
            elif (
                under in _DIVISORS
                and over not in ("dimensionless", "temperature", "time", under)
                and not (under in _LENGTHS and over in _LENGTHS)
            ):
                readings.append(f"{first.unit}/{second.unit}")
            elif over.startswith("currency") and under.startswith("currency"):
                return (False, ())  # which way `eur_usd` goes, it does not say
            elif under in _TIMES and over in _FLOWING:
                is_sure = False
                readings.append(f"{first.unit}/{second.unit}")  # no one multiplies a volume by a time
            else:
                is_sure = False
                readings += [f"{first.unit}/{second.unit}", f"{first.unit}*{second.unit}"]
    return is_sure, tuple(dict.fromkeys(readings))


def _atom(words: Sequence[_Word]) -> tuple[tuple[_Ends, ...], int]:
    """Return the units that the last words of a name may say, and how many words that takes.

    ``usd`` → 1, ``watt_hours`` → 2.
    """
    table = _words()
    for length in (3, 2, 1):
        if len(words) < length:
            continue
        end = "_".join(word.text for word in words[-length:])
        candidates = _ends().get(end, ())
        if not candidates:
            continue
        texts = [word.text for word in words[:-length]]
        previous = texts[-1] if texts else ""
        raw = words[-1].raw if length == 1 else end
        if raw in table.cased:
            return (), 0
        if end.upper() in table.currencies and raw not in (end.upper(), end.capitalize(), end):
            return (), 0  # `GBp`, which are pence
        around = {*texts}
        named = [c for c in candidates if not around.isdisjoint(table.measured.get(c.dimension, ()))]
        chosen = [c for c in candidates if not c.is_needy]
        needy = [c for c in named if c.is_needy]
        if needy:
            chosen = named
        elif previous in table.not_behind.get(end, ()):
            return (), 0
        if not chosen and len(previous) > 1 and previous in _ends():
            chosen = list(candidates)  # `cost_usd_yr`
        elif not chosen and not texts and len(end) > 5:
            chosen = list(candidates)  # `meters`
        # In its own case it is no other unit; but a `mWh` is a MWh as often.
        is_cased = raw != end and len(end) > 1
        exact = [c for c in chosen if is_cased and raw == c.unit and "doubt" not in units()[raw].packs]
        chosen = exact or chosen
        if (
            words[-1].is_camel
            and any(c.dimension in _TIMES for c in chosen)
            and not _is_duration(words[:-length])
        ):
            return (), 0
        if chosen:
            return tuple(chosen), length
    return (), 0

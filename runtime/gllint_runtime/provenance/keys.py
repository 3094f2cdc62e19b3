"""What the key of a number says: its words, its unit, its kind."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from gllint_runtime.policy.names import is_unit_word, name_words, read_name
from gllint_runtime.policy.parameter_units import argument_units
from gllint_runtime.policy.places import folded_word
from gllint_runtime.policy.text_units import (
    currency_units,
    size_of_unit,
    table_words,
    unit_of_text,
    words_table,
)

_MAX_RELATIONS = 30  # units that a name leaves open
_SIZED = re.compile(r"_(k|m|mn|mio|bn|b)(usd|eur|gbp|chf)$")
_PARTS_PER = re.compile(
    r"(?:\A|_)(ct|cents?|pence|l|kwh|wh|g|mg|kcal|kj)_?(?:per_?|je_?|pro_?)?(100|1000)?_?(km|kwh|mwh|kg|g|ml|l|m3|min|h)$"
)
_QUOTIENT = re.compile(r"_(kb|mb|gb|tb|eur|usd|gbp|chf)_(s|h|kwh|mwh|kg|t|m2|m3|km|l|gb|tb)$")
_PER_TIME = re.compile(
    r"(?:(?:rows?|orders?|requests?|items?|lines?|units?|throughput|events?|count|n)_per_(?:day|week)"
    r"|(?:rows?|orders?|requests?|items?|lines?|units?|throughput|events?|count|rate|n)_per_(?:s|min|h))$"
)
_SPEED = re.compile(r"speed|wind|ascent|velocity|gust|geschw|vitesse")
_PRICE = re.compile(
    r"(?:price|prix|preis|cost|tariff|tarif|rate|fee)_(?:kwh|mwh|kg|m2|m3|km|night|day|h|gb|l)$"
)
CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])")  # transitDays
_PER_OF_KEY = re.compile(r"_(?:je|pro|par)_", re.IGNORECASE)
_WINDOW_OF_KEY = re.compile(r"_(?:last_?)?\d+ ?(?:h|d|w|m|y|days?|hours?|weeks?|months?)(?:_ago)?(?=_|\Z)")


def _header_unit(name: str) -> tuple[str, ...]:
    bracket = re.search(r"[(\[]([^()\[\]]{1,20})[)\]]\s*$", name)
    if bracket is None:
        return ()
    return tuple(unit for unit in unit_of_text(bracket[1]) if size_of_unit(unit))


def kind_of(key: str) -> str | None:
    """What a bare number of a key is; of missing or double identifiers it says how many there are."""
    words = name_words(key)
    kind = read_name(key).kind if key else None
    return "count" if kind and not table_words("faults of rows").isdisjoint(words[:-1]) else kind


@lru_cache(maxsize=8192)
def scaled_unit(key: str) -> tuple[tuple[str, ...], float] | None:
    """The units and the factor of a key in many or in parts of them: ``kusd``, ``ct_per_kwh``, ``l_100km``."""
    lower, words = CAMEL_CASE.sub("_", key).lower(), words_table()
    if (sized := _SIZED.search(lower)) is not None:
        return (sized[2].upper(),), float(words["letters"].get(sized[1]) or words["multipliers"][sized[1]])
    if (match := _PARTS_PER.search(lower)) is None:
        return None
    numerator, many, divisor_name = match.groups()
    divisor = unit_of_text(words["key letters"].get(divisor_name, divisor_name).split()[0])[0]
    if many:
        bases: tuple[str, ...] = unit_of_text(words["key letters"].get(numerator, numerator).split()[0])
    elif numerator.startswith(("ct", "cent", "pence")):
        bases = tuple(
            code for sign in words["minor units"][numerator].split() for code in currency_units(sign)
        )
    else:
        return None
    composed = tuple(unit for base in bases if size_of_unit(unit := unit_of_text(f"{base}/{divisor}")[0]))
    return (composed, 1 / int(many or 100)) if composed else None


@lru_cache(maxsize=8192)
def stem_of(key: str) -> tuple[str, ...]:
    """The words of a key but for its unit: ``profit_usd`` is about profit."""
    words = name_words(key)
    stem = [
        word
        for place, word in enumerate(words)
        if not (place and is_unit_word(word)) and not (place and len(word) == 1)
    ]
    if len(stem) > 1 and stem[-1] == words[-1] and len(words[-1]) < 3 and units_of_key(key)[0]:
        stem.pop()  # the inches of base_in
    return tuple(folded_word(word) for word in stem if not word.isdecimal()) or tuple(words[:1])


@lru_cache(maxsize=8192)
def units_of_key(key: str) -> tuple[tuple[str, ...], bool]:
    """Each unit that the name of a member may mean, and whether that is open."""
    if not key:
        return (), False
    if key[-1] in ")]":
        if units := _header_unit(key):
            return units, False
    key = _PER_OF_KEY.sub("_per_", _WINDOW_OF_KEY.sub("", CAMEL_CASE.sub("_", key)))
    lower = key.lower()
    if (quotient := _QUOTIENT.search(lower)) is not None:
        table = words_table()["key letters"]
        numerator, divisor_name = (
            unit_of_text(table.get(part, part).split()[0])[0] for part in quotient.groups()
        )
        composed = unit_of_text(f"{numerator}/{divisor_name}")
        if size_of_unit(composed[0]) is not None:
            return composed, False
    if lower.endswith(("_pp", "_points", "_ppt")) and any(
        word in lower for word in ("pct", "percent", "rate", "share", "_pp", "margin")
    ):
        return ("pp",), False
    if lower.endswith(("_bps", "_bp")):
        return ("bps",), False
    if (per := _PER_TIME.search(lower)) is not None:
        return (f"1/{per[0].rpartition('_')[2]}",), False
    readings = argument_units(key)[:_MAX_RELATIONS]
    if not readings:
        head, _, last = lower.rpartition("_")
        letters = None if head.endswith("_per") else words_table()["key letters"].get(last)
        if head.endswith("co2"):  # of the gas, or of what warms as much
            letters = " ".join(unit for unit in (last, f"{last}CO2e") if size_of_unit(unit)) or None
        if head and letters is not None:  # there are no minutes in "breaths_per_min"
            units = tuple(letters.split())
            return units, len(units) > 1
    elif readings == ("ms",) and _SPEED.search(lower):
        return ("m/s", "ms"), True
    elif readings and len(readings) == 1 and size_of_unit(readings[0]) is not None and _PRICE.search(lower):
        return (), False
    statements = read_name(key).unit if len(readings) > 1 else None
    if statements is not None:
        return (statements,), False
    return tuple(readings), len(readings) > 1


@lru_cache(maxsize=4096)
def is_thing(key: str) -> bool:
    """Whether a key names things that are counted: ``pallets``, ``starts``."""
    last = next(reversed(re.findall(r"[^\W\d_]+", CAMEL_CASE.sub("_", key).lower())), "")
    return (
        len(last) > 3
        and last[-1] == "s"
        and last[-2] not in "sui"
        and last not in table_words("no things")
        and last.removesuffix("s") not in minor_sizes()
    )


@cache
def minor_sizes() -> dict[str, float]:
    """The parts of a currency, in the singular, and how many make one: ``{"cent": 100.0, "milli": 1000.0}``.

    Who looks a word up takes the ``s`` off its end, too.
    """
    return {
        word.removesuffix("s"): float(size)
        for size, words in words_table()["minor keys"].items()
        for word in words.split()
    }

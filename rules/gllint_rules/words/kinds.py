"""What kind of number a name announces: a count, an identifier, a time, …

The last word of a name says what it is (``page_count`` is a count, ``cost_ratio`` a share), or the one before ``per``.
Nothing here decides whether there is a finding: it decides how one is told, and what is advised.
"""

from __future__ import annotations

import re
from typing import Literal

from gllint_rules.words.unit_names import unit_of_name
from gllint_runtime.policy.units import dimension_of

Kind = Literal["money", "measure", "time", "share", "identifier", "index", "count"]

KINDS: tuple[Kind, ...] = ("money", "measure", "time", "share", "identifier", "index", "count")
"""All kinds; where several would do, the first of them counts."""

PLAIN: frozenset[Kind] = frozenset({"identifier", "index"})
"""Kinds that are no quantities: a project declares their keys as plain."""

TITLES: dict[Kind | None, str] = {
    None: "number",
    **{kind: kind for kind in KINDS[1:]},
    "money": "amount of money",
}
"""How a message calls a number of each kind."""

_NAMES: dict[Kind, str] = {
    "money": "price cost fee fees amount salary revenue profit budget balance payment discount tax spend earnings "
    "income expense expenses turnover pnl dollars",
    "measure": "temperature temp humidity pressure weight mass height width depth distance altitude elevation "
    "radius diameter perimeter area volume speed velocity acceleration energy power voltage emissions mileage "
    "bytes kb mb gb tb kib mib gib lat lon lng latitude longitude",
    "time": "time timestamp duration elapsed latency timeout ttl uptime age clock epoch eta delay runtime "
    "interval ns us ms millis milliseconds microseconds nanoseconds sec secs second seconds mins minute "
    "minutes hr hrs hour hours day days week weeks month months year years",
    "share": "ratio share pct percent percentage score confidence probability prob likelihood fraction "
    "accuracy precision recall f1 similarity relevance certainty progress utilization utilisation",
    "identifier": "id ids pid uid gid code status port version pin sku isbn zip zipcode postcode errno seed revision",
    "index": "page offset line row column col rank index idx cursor lineno chapter slot ordinal",
    "count": "count counts quantity qty hits matches items rows pages lines tokens words files users records "
    "results entries messages events requests calls steps retries attempts errors warnings failures occurrences "
    "votes likes stars views followers members children nodes edges columns characters chars documents docs "
    "chunks tasks jobs people persons inserted updated deleted removed added skipped processed matched affected",
}
_WORDS: dict[str, Kind] = {word: kind for kind, words in _NAMES.items() for word in words.split()}
# What a name of a measure is a measure of.
_DIMENSIONS = {
    "weight": "mass", "mass": "mass", "energy": "energy", "power": "power", "area": "area", "volume": "volume",
    **dict.fromkeys(("temperature", "temp"), "temperature"),
    **dict.fromkeys(("height", "width", "depth", "distance", "altitude", "elevation", "radius", "diameter"), "length"),
}  # fmt: skip
# In front of another word: how many there are (``n_rows``).
_NUMBERING = frozenset({"n", "num", "nb", "count"})
# In front of ``number``, and of ``rate``.
_NUMBERED = frozenset(
    {"order", "account", "phone", "invoice", "ticket", "issue", "pr", "case", "card", "batch"}
)
_RATED = frozenset(
    {
        "error", "success", "hit", "failure", "conversion", "interest", "growth", "tax", "churn", "pass", "win", "loss",
    }
)  # fmt: skip
# Behind another word: which of several, so the word before says what it is (``price_min``).
_BOUNDS = frozenset({"min", "max", "avg", "mean", "median"})
_CALENDAR = frozenset({"year", "month", "day", "hour", "minute", "second", "week", "weekday", "quarter"})
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_TIMES = {
    "ns": "ns nanoseconds", "us": "us microseconds", "ms": "ms millis milliseconds", "min": "min mins minute minutes",
    "h": "hr hrs hour hours", "day": "day days", "week": "week weeks", "month": "month months", "year": "year years",
}  # fmt: skip
_UNITS_OF_TIME = {word: unit for unit, words in _TIMES.items() for word in words.split()}
_MEASURES = {
    "bytes": "B", "kb": "kB", "mb": "MB", "gb": "GB", "tb": "TB", "kib": "KiB", "mib": "MiB", "gib": "GiB",
    **dict.fromkeys(("lat", "lon", "lng", "latitude", "longitude"), "deg"),
}  # fmt: skip


def words_of(name: str) -> list[str]:
    """``"totalRows_2"`` → ``["total", "rows"]``: the digits at its end number a name, they mean nothing."""
    words = [word.lower() for word in _WORD.findall(name)]
    while len(words) > 1 and words[-1].isdigit():
        words.pop()
    return words


def kind_of_name(name: str) -> Kind | None:
    """The kind of number that a name announces, or ``None``; a bare ``total`` announces none."""
    unit = unit_of_name(name)
    if unit is not None:
        dimension = dimension_of(unit) or ""
        if dimension == "dimensionless":
            return "share"
        return "money" if dimension.startswith("currency-") else "measure"
    words = words_of(name)
    if not words:
        return None
    if "per" in words[1:]:
        return "money" if _WORDS.get(words[words.index("per", 1) - 1]) == "money" else None
    while len(words) > 1 and words[-1] in _BOUNDS:
        words.pop()
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if not before:
        return _WORDS.get(last)
    if last in ("number", "num", "nr"):
        return "identifier" if before in _NUMBERED else "index" if _WORDS.get(before) == "index" else None
    if len(last) == 1 and _WORDS.get(before) == "measure":  # in which unit: `temperature_c`
        return "measure"
    if before.isdigit() and _WORDS.get(last) == "time":  # over which time: `reserved_1year`
        return None
    if last == "rate":
        return "share" if before in _RATED else None
    if last == "at":
        return "time"
    if last in ("val", "value") and before in _NUMBERING:  # the value of a number
        return None
    if words[0] in _NUMBERING or (words[0] == "total" and last.endswith("s") and last not in _WORDS):
        return "count"
    return _WORDS.get(last)


def unit_of_kind(kind: Kind | None, name: str) -> str | None:
    """The unit to advise for a number of this kind under this name; ``None`` where it cannot be told."""
    announced = unit_of_name(name)
    if announced is not None:
        # Of emissions without a mass it is not known how they are counted.
        return None if "kgCO2e" in announced and "kg" not in name.lower() else announced
    last = (words_of(name) or [""])[-1]
    match kind:
        case "count":
            return "count"
        case "share":
            return "%" if last in ("pct", "percent", "percentage") else "ratio"
        case "time":
            return None if is_calendar(name) or last == "age" else _UNITS_OF_TIME.get(last, "s")
        case "money":
            return "USD"
        case "measure":
            return _MEASURES.get(last)
        case _:
            return None


def contradicts(name: str, unit: str) -> bool:
    """Whether a name says that it is of another dimension than a unit: no ``molecular_weight`` is in ``MW``."""
    said = _DIMENSIONS.get((words_of(name) or [""])[-1])
    return said is not None and dimension_of(unit) != said


def is_calendar(name: str) -> bool:
    """Whether a name is a part of a date or of a time of day, which is no duration: ``year``, ``start_hour``."""
    words = words_of(name)
    return bool(words) and words[-1] in _CALENDAR

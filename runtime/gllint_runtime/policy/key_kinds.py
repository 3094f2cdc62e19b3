"""What kind of number a key announces: a count, an identifier, a time, …

The end of a key goes before its beginning: a unit, ``_id``, ``_code`` and ``_per_`` decide alone, else the last word
says what the number is (``page_count`` is a count, ``cost_ratio`` a share, ``request_id`` no request). Both moments
ask here, so that ``plain-kinds`` leaves out the same numbers in the source and at execution. The words are data,
``key_kinds.txt``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from gllint_runtime.policy.data_files import sections
from gllint_runtime.policy.key_units import announced_dimension, readings_of_name
from gllint_runtime.policy.number_kinds import KINDS, Kind
from gllint_runtime.policy.schemas import is_plain_key

_LONGEST = 200
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_DECIDING = frozenset({"id", "ids", "code"})
_LINES = frozenset({"index", "line"})
_RANKS = frozenset({"rank", "offset", "row", "page"})


class _Table(NamedTuple):
    last: Mapping[str, Kind]
    alone: Mapping[str, Kind]
    first: Mapping[str, Kind]
    dimensions: Mapping[str, Kind]
    numbered: frozenset[str]
    rated: frozenset[str]
    sized: frozenset[str]
    stored: frozenset[str]
    placed: frozenset[str]
    levels: frozenset[str]
    behind: frozenset[str]
    bounds: frozenset[str]


@cache
def _table() -> _Table:
    rows = sections("key_kinds.txt")

    def kinds(section: str) -> dict[str, Kind]:
        # In the order of KINDS reversed, so that the first of them wins where a word stands under two.
        return {word: kind for kind in reversed(KINDS) for word in rows[section].get(kind, "").split()}

    def words(section: str) -> frozenset[str]:
        return frozenset(rows[section]["words"].split())

    by_name: dict[str, Kind] = {kind: kind for kind in KINDS}
    alone = dict(entry.split("=") for entry in rows["last"]["alone"].split())
    return _Table(
        last=kinds("last"),
        alone={word: by_name[kind] for word, kind in alone.items()},
        first=kinds("first"),
        dimensions=kinds("dimensions"),
        numbered=words("numbered"),
        rated=words("rated"),
        sized=words("sized"),
        stored=words("stored"),
        placed=words("placed"),
        levels=words("levels"),
        behind=words("behind"),
        bounds=words("bounds"),
    )


def words_of(name: str) -> list[str]:
    """``"totalRows_2"`` → ``["total", "rows"]``: the digits at its end number a name, they mean nothing."""
    words = [word.lower() for word in _WORD.findall(name[:_LONGEST])]
    while words and words[-1].isdigit():
        words.pop()
    return words


@lru_cache(maxsize=8192)
def kind_of_name(name: str) -> Kind | None:
    """The kind of number that a name announces, or ``None``; a bare ``total`` announces none."""
    decided = deciding_kind(name)
    if decided is not None:
        return decided
    words = words_of(name)
    if not words or "per" in words:
        return None
    whole = _table().last.get(name.lower())  # `f1` ends in no number
    if whole is not None or (len(words[0]) == 1 and name[1:].isdigit()):  # `k1` is one of several
        return whole
    return _kind_of_words(words)


@lru_cache(maxsize=8192)
def deciding_kind(name: str) -> Kind | None:
    """The kind that the end of a name decides alone, whatever an expression shows: a unit, ``_id``, ``_code``."""
    words = words_of(name)
    if words and words[-1] in _DECIDING:
        return "identifier"
    kinds = {kind_of_unit(unit) for unit in readings_of_name(name)}
    return kinds.pop() if len(kinds) == 1 else None


def is_plain(key: str, keys: Collection[str], kinds: Collection[str]) -> bool:
    """Whether a number under ``key`` is no quantity for a project that lists these ``plain-keys`` and ``plain-kinds``.

    ``keys`` are patterns. Only what the key itself says counts, so that the source and the execution agree.
    """
    return is_plain_key(key, keys) or (bool(kinds) and kind_of_name(key) in kinds)


def kind_of_unit(unit: str) -> Kind:
    """The kind of a number that is in a unit."""
    dimension = announced_dimension(unit) or ""
    if dimension.startswith("currency"):
        return "money"
    return _table().dimensions.get(dimension, "measure")


def _kind_of_words(words: list[str]) -> Kind | None:
    """The kind that the last word says, or the words around it."""
    table = _table()
    while len(words) > 1 and words[-1] in table.bounds:
        words = words[:-1]
    last, qualifier = words[-1], words[-2] if len(words) > 1 else ""
    if not qualifier:
        return table.alone.get(last) or table.last.get(last)
    if len(last) == 1 and table.last.get(qualifier) in ("measure", "time"):  # in which unit: `temperature_c`
        return table.last[qualifier]
    if last in ("number", "num", "nr", "no"):
        return (
            "identifier"
            if qualifier in table.numbered
            else "index"
            if table.last.get(qualifier) == "index"
            else None
        )
    if last == "rate":
        return "share" if qualifier in table.rated else None
    if last == "size":
        return "count" if qualifier in table.sized and table.stored.isdisjoint(words) else None
    if last == "at":
        return "time"
    if last in ("val", "value", "values"):  # the value of a number
        return None
    first = table.first.get(words[0])
    if first == "count" and len(last) > 1:
        return first
    if first == "count" or "by" in (
        words[0],
        qualifier,
    ):  # `n_2`; `by_status` holds numbers of something else
        return None
    if last in table.behind:
        kind = table.last.get(qualifier)
        return kind if kind in ("count", "time") else first
    if qualifier.isdigit():  # over which time: `cost_1year`, `recent_7_day`
        return None
    if (last in _LINES and qualifier not in table.placed) or (last in _RANKS and qualifier in table.levels):
        return None
    return first or table.last.get(last)

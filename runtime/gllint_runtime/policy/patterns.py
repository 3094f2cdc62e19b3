"""Whether a regular expression of a user can take for ever: :mod:`re` has no time limit, and texts come from models.

What backtracks without bound repeats what itself repeats, with nothing between two rounds that tells them apart:
``(a+)+``, ``(a|a)*``. It is found by reading the expression, so that the verdict holds for every text.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

_parser: Any = importlib.import_module("re._parser")
_ENDLESS = 100  # repetitions that are as good as any number of them
_MOST_IN_A_ROW = 3  # repeats of the same characters one after another: the time grows with that power
_SAMPLE = frozenset(map(chr, range(128))) | frozenset("é²٣ \u2028漢")


def backtracks(pattern: str) -> bool:
    """Whether ``pattern``, which compiles, can take a time that explodes with the length of the text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = _parser.parse(pattern)
    return _is_bad(tree, _SAMPLE | {c for c in pattern if not c.isascii()})


def _is_bad(sequence: Any, sample: frozenset[str]) -> bool:
    endless = [_chars(item, sample) for item in sequence if _is_endless(item)]
    for start in range(len(endless) - _MOST_IN_A_ROW):
        if frozenset.intersection(*endless[start : start + _MOST_IN_A_ROW + 1]):
            return True
    return any(
        (_is_often(item) and _is_ambiguous(item[1][2], sample)) or _is_bad(inner, sample)
        for item in sequence
        for inner in _inner(item)
    )


def _is_ambiguous(body: Any, sample: frozenset[str]) -> bool:
    """Whether several rounds of ``body`` can match what one does."""
    flat = list(_unwrapped(body))
    for kind, argument in _all(flat):
        if str(kind) == "BRANCH":
            firsts = [_first(alternative, sample) for alternative in argument[1]]
            if any(a & b or not (a or b) for i, a in enumerate(firsts) for b in firsts[i + 1 :]):
                return True
    repeats = [_chars(item, sample) for item in _all(flat) if _varies(item)]
    if not any(_varies(item) and (_kind(item) == "BRANCH" or item[1][1] > 1) for item in _all(flat)):
        return False
    repeated = frozenset[str]().union(*repeats)
    return all(_varies(item) or _chars(item, sample) & repeated for item in flat)


def _kind(item: Any) -> str:
    return str(item[0])


def _rounds(item: Any) -> int:
    return int(item[1][1]) if _kind(item) in ("MAX_REPEAT", "MIN_REPEAT") else 1


def _is_endless(item: Any) -> bool:
    return _rounds(item) >= _ENDLESS


def _is_often(item: Any) -> bool:
    """Whether an item repeats without end, or, which is as good as many in a row, often what repeats without end."""
    return _is_endless(item) or (_rounds(item) > _MOST_IN_A_ROW and any(map(_is_endless, _all(item[1][2]))))


def _varies(item: Any) -> bool:
    if _kind(item) == "BRANCH":  # `a|aa` is read as `a(?:|a)`
        return any(not len(alternative) for alternative in item[1][1])
    return _kind(item) in ("MAX_REPEAT", "MIN_REPEAT") and bool(item[1][0] != item[1][1])


def _inner(item: Any) -> Iterator[Any]:
    """The sequences within an item; none where the engine never goes back into it."""
    match _kind(item), item[1]:
        case "MAX_REPEAT" | "MIN_REPEAT", (_, _, body):
            yield body
        case "SUBPATTERN", (*_, body):
            yield body
        case "BRANCH", (_, alternatives):
            yield from alternatives
        case "ASSERT" | "ASSERT_NOT", (_, body):
            yield body
        case "GROUPREF_EXISTS", (_, yes, no):
            yield from (yes, *([no] if no is not None else []))


def _unwrapped(sequence: Any) -> Iterator[Any]:
    for item in sequence:
        if _kind(item) == "SUBPATTERN":
            yield from _unwrapped(item[1][-1])
        else:
            yield item


def _all(sequence: Iterable[Any]) -> Iterator[Any]:
    for item in sequence:
        yield item
        for inner in _inner(item):
            yield from _all(inner)


def _first(sequence: Any, sample: frozenset[str]) -> frozenset[str]:
    """The characters that ``sequence`` can begin with; those of all its optional items and the first that is not."""
    firsts: frozenset[str] = frozenset()
    for item in _unwrapped(sequence):
        firsts |= _chars(item, sample)
        is_optional = _varies(item) and item[1][0] in (0, None)
        if not is_optional and _kind(item) not in ("AT", "ASSERT", "ASSERT_NOT"):
            break
    return firsts


def _chars(item: Any, sample: frozenset[str]) -> frozenset[str]:
    """The characters that may stand in what ``item`` matches."""
    match _kind(item), item[1]:
        case "LITERAL", code:
            return frozenset({chr(code)})
        case "NOT_LITERAL", code:
            return sample - {chr(code)}
        case "ANY", _:
            return sample
        case "IN", members:
            common = frozenset(c for c in sample if any(_holds(member, c) for member in members))
            return sample - common if _kind(members[0]) == "NEGATE" else common
        case "GROUPREF", _:
            return sample
        case _:
            return frozenset[str]().union(*(_chars(i, sample) for inner in _inner(item) for i in inner))


def _holds(member: Any, character: str) -> bool:
    match _kind(member), member[1]:
        case "LITERAL", code:
            return bool(ord(character) == code)
        case "RANGE", (low, high):
            return bool(low <= ord(character) <= high)
        case "CATEGORY", name:
            kind = str(name).removeprefix("CATEGORY_")
            verdict = {
                "DIGIT": character.isdecimal(),
                "SPACE": character.isspace(),
                "WORD": character.isalnum() or character == "_",
            }.get(kind.removeprefix("NOT_"), True)
            return bool(verdict != kind.startswith("NOT_"))
        case _:
            return False

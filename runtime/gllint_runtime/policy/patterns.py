"""What a regular expression of a user can cost: :mod:`re` has no time limit, and texts come from models.

What backtracks without bound repeats what itself repeats, with nothing between two rounds that tells them apart:
``(a+)+``, ``(a|a)*``, or has many parts that may take the same characters: ``a?a?a?…aaa``. It is found by reading the
expression, so that the verdict holds for every text. What is left tries at each place of a text only so often, as long
as no match may be longer than :func:`reach` says; :func:`matches` finds no longer ones, so that the time grows with the
text alone.
"""

from __future__ import annotations

import importlib
import math
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

_parser: Any = importlib.import_module("re._parser")
_ENDLESS = 100  # repetitions that are as good as any number of them
_MOST_IN_A_ROW = 3  # repeats of the same characters one after another: the time grows with that power
_MOST_CHOICES = 100_000  # that parts of a certain length leave
_TOO_MANY_CHOICES = _MOST_CHOICES + 1  # how many more is no matter
_MOST_TRIES = 10_000  # at one place of a text, by parts of any length
_LEAST = 20  # characters that a match may have at least
_SAMPLE = frozenset(map(chr, range(128))) | frozenset("é²٣ \u2028漢")


class _Trades(NamedTuple):
    """How parts of an expression that stand in a row may share characters out among themselves.

    ``endless`` of them repeat without end; ``choices`` are the ways that the others leave.
    """

    endless: int = 0
    choices: int = 1

    def and_then(self, other: _Trades) -> _Trades:
        return _Trades(self.endless + other.endless, min(self.choices * other.choices, _TOO_MANY_CHOICES))

    def or_else(self, other: _Trades) -> _Trades:
        return _Trades(max(self.endless, other.endless), max(self.choices, other.choices))


class _Sample(NamedTuple):
    """The characters by which the parts of an expression are told apart, and what was found out of each part.

    Each part is asked for by whatever stands around it: looked at anew each time, groups in groups would take a time
    that doubles with each. The parts are entered by their identity, as long as the expression lives.
    """

    characters: frozenset[str]
    trades: dict[int, _Trades]
    chars: dict[int, frozenset[str]]


def why_endless(pattern: str) -> str:
    """Why ``pattern``, which compiles, can take a time that explodes with the text; empty where it cannot."""
    tree, sample = _read(pattern)
    if _is_bad(tree, sample):
        return "it repeats what repeats"
    trades = _trades(tree, sample)
    too_many = trades.endless > _MOST_IN_A_ROW or trades.choices > _MOST_CHOICES
    return "too many of its parts may take the same characters" if too_many or _reach(trades) < _LEAST else ""


@lru_cache(maxsize=64)
def reach(pattern: str) -> int:
    """How many characters a match of ``pattern``, which does not backtrack for ever, may have, so that trying stays
    quick."""
    return _reach(_trades(*_read(pattern)))


def _reach(trades: _Trades) -> int:
    if not trades.endless:
        return _MOST_TRIES
    return int((_MOST_TRIES * math.factorial(trades.endless) / trades.choices) ** (1 / trades.endless))


def matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """The matches of ``pattern`` in ``text``, each cut off where it has more characters than it may have.

    A stretch of the text is looked at by itself; what begins in its first quarter is certain to have room in it. An
    expression that :func:`why_endless` refuses may reach no further than a character.
    """
    longest, at = reach(pattern.pattern), 0
    while at <= len(text):
        end = at + max(longest // 4, 1)
        for match in pattern.finditer(text, at, at + longest):
            if match.start() >= end:
                break
            yield match
            at = match.end()
        at = max(at, end)


def _read(pattern: str) -> tuple[Any, _Sample]:
    """The parts of an expression, and what tells them apart."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = _parser.parse(pattern)
    return tree, _Sample(_SAMPLE | {c for c in pattern if not c.isascii()}, {}, {})


def _is_bad(sequence: Any, sample: _Sample) -> bool:
    return any(
        (_is_often(item) and _is_ambiguous(item[1][2], sample)) or _is_bad(inner, sample)
        for item in sequence
        for inner in _inner(item)
    )


def _trades(sequence: Iterable[Any], sample: _Sample) -> _Trades:
    """The most that a row of parts of ``sequence``, or of what stands in them, may trade."""
    return _rows(sequence, sample)[0]


def _rows(sequence: Iterable[Any], sample: _Sample) -> tuple[_Trades, bool]:
    """What :func:`_trades` says, and whether nothing is left at the end to trade with what follows."""
    most = row = aside = _Trades()
    shared = shared_aside = frozenset[str]()  # what the parts of both rows may take
    for item in _unwrapped(sequence):
        chars, own = _chars(item, sample), _trades_of(item, sample)
        if _is_optional_and_closed(item, sample):
            most = most.or_else(row.and_then(own))
            continue
        if shared.isdisjoint(chars):
            if _takes(item):  # it tells the parts before it from those behind
                is_after = not shared_aside.isdisjoint(chars)
                row, shared = (aside, shared_aside) if is_after else (_Trades(), frozenset())
                aside, shared_aside = _Trades(), frozenset()
            elif shared:  # which matters where what follows shares with the parts before
                aside, shared_aside = aside.and_then(own), shared_aside | chars
                most = most.or_else(aside)
                continue
        if own != _Trades():
            row, shared = row.and_then(own).and_then(aside), shared | chars | shared_aside
            aside, shared_aside = _Trades(), frozenset()
        most = most.or_else(row)
    return most, row == aside == _Trades()


def _is_optional_and_closed(item: Any, sample: _Sample) -> bool:
    """Whether a part is either nothing, or ends with what tells it from all that follows: ``(?:[0-9]+Y)?``."""
    if _kind(item) not in ("MAX_REPEAT", "MIN_REPEAT") or item[1][:2] != (0, 1):
        return False
    trades, is_closed = _rows(item[1][2], sample)
    return trades != _Trades() and is_closed


def _takes(item: Any) -> bool:
    """Whether a part always takes a character."""
    if _kind(item) in ("AT", "ASSERT", "ASSERT_NOT", "GROUPREF", "GROUPREF_EXISTS"):
        return False
    return not (_kind(item) in ("MAX_REPEAT", "MIN_REPEAT") and item[1][0] == 0)


def _trades_of(item: Any, sample: _Sample) -> _Trades:
    if id(item) not in sample.trades:
        sample.trades[id(item)] = _own_trades(item, sample)
    return sample.trades[id(item)]


def _own_trades(item: Any, sample: _Sample) -> _Trades:
    most = _Trades()
    for inner in _inner(item):
        most = most.or_else(_trades(inner, sample))
    if _kind(item) == "BRANCH":
        firsts = [_first(alternative, sample) for alternative in item[1][1]]
        is_clear = all(firsts) and not _overlap(firsts)
        return most if is_clear else most.and_then(_Trades(0, len(firsts)))
    if _kind(item) not in ("MAX_REPEAT", "MIN_REPEAT"):
        return most
    if _is_endless(item):
        return most.or_else(_Trades(1, most.choices))
    rounds = _rounds(item)
    # Whether one round trades with the next.
    twice = _trades([*item[1][2], *item[1][2]], sample)
    choices = most.choices**rounds if twice.choices > most.choices else most.choices
    endless = most.endless * rounds if twice.endless > most.endless else most.endless
    most = _Trades(endless, min(choices, _TOO_MANY_CHOICES))
    return most.and_then(_Trades(0, rounds - int(item[1][0]) + 1))


def _is_ambiguous(body: Any, sample: _Sample) -> bool:
    """Whether several rounds of ``body`` can match what one does."""
    flat = list(_unwrapped(body))
    for kind, argument in _all(flat):
        if str(kind) == "BRANCH":
            firsts = [_first(alternative, sample) for alternative in argument[1]]
            if _overlap(firsts) or firsts.count(frozenset()) > 1:
                return True
    repeats = [_chars(item, sample) for item in _all(flat) if _varies(item)]
    if not any(_varies(item) and (_kind(item) == "BRANCH" or item[1][1] > 1) for item in _all(flat)):
        return False
    repeated = frozenset[str]().union(*repeats)
    return all(_varies(item) or _chars(item, sample) & repeated for item in flat)


def _overlap(several: Sequence[frozenset[str]]) -> bool:
    """Whether two of several sets share a character."""
    return sum(map(len, several)) > len(frozenset[str]().union(*several))


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


def _first(sequence: Any, sample: _Sample) -> frozenset[str]:
    """The characters that ``sequence`` can begin with; those of all its optional items and the first that is not."""
    firsts: frozenset[str] = frozenset()
    for item in _unwrapped(sequence):
        firsts |= _chars(item, sample)
        is_optional = _varies(item) and item[1][0] in (0, None)
        if not is_optional and _kind(item) not in ("AT", "ASSERT", "ASSERT_NOT"):
            break
    return firsts


def _chars(item: Any, sample: _Sample) -> frozenset[str]:
    """The characters that may stand in what ``item`` matches."""
    if id(item) not in sample.chars:
        sample.chars[id(item)] = _own_chars(item, sample)
    return sample.chars[id(item)]


def _own_chars(item: Any, sample: _Sample) -> frozenset[str]:
    match _kind(item), item[1]:
        case "LITERAL", code:
            return frozenset({chr(code)})
        case "NOT_LITERAL", code:
            return sample.characters - {chr(code)}
        case "ANY", _:
            return sample.characters
        case "IN", members:
            common = frozenset(c for c in sample.characters if any(_holds(member, c) for member in members))
            return sample.characters - common if _kind(members[0]) == "NEGATE" else common
        case "GROUPREF", _:
            return sample.characters
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
            }[kind.removeprefix("NOT_")]
            return bool(verdict != kind.startswith("NOT_"))
        case _:
            return False

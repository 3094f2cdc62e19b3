"""Numbers that follow from two others: a sum, a difference, a share, a percentage change, and nothing further.

Any number is the sum of some two among a thousand. So two numbers count only where an answer shows them, or where they
are of a kind and few: in one unit, under one name, or side by side in one output. Nothing follows from a zero: 0 of 0
is any share, 0 + x is x, which a tool returned itself, and 0 - x is x with the wrong sign.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Hashable, Iterator, Sequence
from itertools import islice
from math import isfinite
from typing import Any, NamedTuple

from gllint_runtime.audit.sources import Source, Sources, exact, nearest_float
from gllint_runtime.policy.figures import Reading
from gllint_runtime.policy.names import read_name
from gllint_runtime.policy.units import measure_of

_SMALL = 12
_NAMING = 7  # digits of a text from which on it names a thing
_FEW = 12  # numbers of a kind, beyond which two of them give any number
_MANY = 200  # numbers that answers have shown
_ELEMENTS = 2  # nested lists that are looked at, from the inside
_MAX_KINDS = 20_000
_MAX_CALLS = 10_000
_SLACK = 1e-9  # what floating point may have added, of a number
_SLACK_OF_STEP = 1e-3  # and at most, of the step in which a number is shown
_NEAR = 3  # numbers that make a pair with one other


class _Member(NamedTuple):
    value: float  # in base units
    source: Source


class Derivation(NamedTuple):
    """What a number follows from."""

    operation: str
    first: Source
    second: Source

    def to_dict(self) -> dict[str, Any]:
        """The first number as a source, the other one and the operation beside it."""
        return {**self.first.to_dict(), "operation": self.operation, "other": self.second.to_dict()}


class Derivations:
    """The numbers that others may follow from."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[str, ...], list[_Member]] = {}
        self._shown: dict[str, list[_Member]] = {}
        self._calls: dict[str, Hashable] = {}

    def hear(self, call_id: str, question: Hashable) -> None:
        """Take in what a call asks: the tool with its arguments."""
        if len(self._calls) >= _MAX_CALLS:
            self._calls.pop(next(iter(self._calls)))
        self._calls[call_id] = question

    def add(self, source: Source) -> None:
        """Take in a number that a tool returned, unless it names something: 9523456873, or what a ``_id`` is."""
        if not _is_operand(source) or (source.unit is None and _names_something(source)):
            return
        for kind in _kinds(source):
            members = self._kinds.get(kind)
            if members is None:
                if len(self._kinds) >= _MAX_KINDS:
                    self._kinds.pop(next(iter(self._kinds)))
                members = self._kinds[kind] = []
            if len(members) <= _FEW:  # one more says that there are too many
                _insert(members, source)

    def mention(self, source: Source) -> None:
        """Take in a number that an answer rests on."""
        if not _is_operand(source):
            return
        members = self._shown.setdefault(_dimension(source), [])
        if len(members) < _MANY and all(member.source is not source for member in members):
            _insert(members, source)

    def of(self, readings: Sequence[Reading], units: Sequence[str]) -> Derivation | None:
        """What a number follows from."""
        unit_word = units[0] if units else None
        for reading in readings:
            is_small = reading.value.denominator == 1 and abs(reading.value) <= _SMALL
            for dimension, members in self._groups(is_small=is_small, has_unit=bool(units)):
                for operation, pairs in _operations(reading, unit_word, units, dimension, members):
                    for first, second in pairs:
                        if not self._is_same(first.source, second.source):
                            return Derivation(operation, first.source, second.source)
        return None

    def difference(
        self, readings: Sequence[Reading], units: Sequence[str], shown: Sequence[Source], sources: Sources
    ) -> Derivation | None:
        """How far a number that stands just before is from another one of its name: the price before, say.

        ``"The camera is $466.75, you save $14.75"``, where a tool returned the price of 481.50, too.
        """
        for reading in readings:
            if reading.value.denominator == 1 and abs(reading.value) <= _SMALL:
                continue
            for source in shown:
                if not _is_operand(source) or (source.unit and units and source.unit not in units):
                    continue
                for sign in (1, -1):
                    other = exact(source.value) + sign * reading.value
                    low, high = nearest_float(other - reading.half), nearest_float(other + reading.half)
                    for near in islice(sources.by_value(low, high), _FEW):
                        if not _is_operand(near):
                            continue
                        if near.unit == source.unit and _name_of(near) == _name_of(source) != "$":
                            first, second = (near, source) if sign > 0 else (source, near)
                            return Derivation("difference", first, second)
        return None

    def _is_same(self, first: Source, second: Source) -> bool:
        """Whether two are one number: of one call, or of two that asked the same."""
        question = self._calls.get(first.call_id)
        return (
            question is not None
            and question == self._calls.get(second.call_id)
            and first._replace(call_id="") == second._replace(call_id="")
        )

    def _groups(self, *, is_small: bool, has_unit: bool) -> Iterator[tuple[str, list[_Member]]]:
        """The numbers that count together. A small whole number is the difference of some two bare ones."""
        yield from self._shown.items()
        for kind, members in self._kinds.items():
            if 2 <= len(members) <= _FEW and not (is_small and not (has_unit and kind[0])):
                yield kind[0], members


def _insert(members: list[_Member], source: Source) -> None:
    insort(members, _Member(_base(source), source), key=_value)


def _value(member: _Member) -> float:
    return member.value


def _is_operand(source: Source) -> bool:
    """Whether others may follow from a number: not from zero, nor from what no float holds in base units."""
    return isfinite(base := _base(source)) and base != 0


def _names_something(source: Source) -> bool:
    if source.text is not None and len(source.text) >= _NAMING and source.text.isdecimal():
        return True
    return read_name(_name_of(source)).kind == "identifier"


def _name_of(source: Source) -> str:
    return source.path.rpartition(".")[2].partition("[")[0]


def _kinds(source: Source) -> Iterator[tuple[str, ...]]:
    dimension = _dimension(source)
    parent, _, name = source.path.rpartition(".")
    if dimension:
        yield dimension, "unit"
    else:
        yield dimension, "name", name
    yield dimension, "beside", source.call_id, parent
    # Under one name in one element of a list: the legs of a journey.
    *elements, _ = source.path.rsplit("]", _ELEMENTS)
    while elements:
        yield dimension, "within", source.call_id, "]".join(elements), name
        elements.pop()


def _dimension(source: Source) -> str:
    """What numbers have in common that can be added up; degrees count in one unit alone."""
    measure = measure_of(source.unit) if source.unit else None
    if measure is None:
        return ""
    return f"{measure.dimension} in {source.unit}" if measure.offset else measure.dimension


def _base(source: Source) -> float:
    measure = measure_of(source.unit) if source.unit else None
    return float(source.value) if measure is None else nearest_float(exact(source.value) * measure.factor)


def _operations(
    reading: Reading, unit_word: str | None, units: Sequence[str], dimension: str, members: list[_Member]
) -> Iterator[tuple[str, Iterator[tuple[_Member, _Member]]]]:
    # Nothing but zero is shown as zero.
    target = nearest_float(reading.value)
    half = nearest_float(reading.half) if target else 0.0
    if unit_word == "%":
        low, high = (target - half) / 100, (target + half) / 100
        if abs(target) not in (0, 100):
            yield "share", _pairs(members, lambda b: (low * b, high * b))
            yield "percentage change", _pairs(members, lambda b: (b + low * abs(b), b + high * abs(b)))
            if target > 0:
                yield "percentage change", _pairs(members, lambda b: (b - high * abs(b), b - low * abs(b)))
    elif unit_word is None and 0 < target < 1:
        yield "share", _pairs(members, lambda b: ((target - half) * b, (target + half) * b))
    if (
        unit_word is not None
        and dimension
        and not any(
            (one := measure_of(unit)) is not None and one.dimension == dimension.partition(" in ")[0]
            for unit in units
        )
    ):
        return
    if unit_word == "%" and not dimension:  # points of percent are no sum of bare numbers
        return
    # A number without a unit is in that of the two, and one with a unit the sum of bare ones.
    own = measure_of(unit_word or members[0].source.unit or "") if dimension else None
    factor = float(own.factor) if own else 1.0
    low, high = (target - half) * factor, (target + half) * factor
    yield "sum", _pairs(members, lambda b: (low - b, high - b))
    yield "difference", _pairs(members, lambda b: (b + low, b + high))


def _pairs(members: list[_Member], bounds: Any) -> Iterator[tuple[_Member, _Member]]:
    """For each second member the first ones that lie within the bounds that it sets."""
    for second in members:
        low, high = bounds(second.value)
        if low > high:
            low, high = high, low
        slack = min(_SLACK * max(abs(low), abs(high)), _SLACK_OF_STEP * (high - low))
        start = bisect_left(members, low - slack, key=_value)
        end = bisect_right(members, high + slack, key=_value)
        for first in members[start : min(end, start + _NEAR)]:
            if first is not second:
                yield first, second

"""The base of all values of the inference, and the union of several."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from gllint_rules.tuples import NamedTuple

if TYPE_CHECKING:
    from gllint_rules.reading.facts import Module


class Site(NamedTuple):
    """An expression of a module."""

    module: Module
    at: int


class Because(Struct, frozen=True, eq=False):
    """One reason, and the reasons behind it."""

    message: str
    site: Site | None
    causes: tuple[Because, ...] = ()


class Value(Struct, frozen=True, eq=False):
    """Base of all values.

    ``size`` is the number of a value and its elements, an element that is in two containers counted twice: a walk
    takes that many steps. ``nesting`` is its depth. ``gap``: something in it is unknown that the arguments of a call
    may show.
    """

    @property
    def size(self) -> int:
        return 1

    @property
    def nesting(self) -> int:
        return 0

    @property
    def gap(self) -> bool:
        return self is UNKNOWN

    @property
    def identity(self) -> object:
        """A key that is equal for two options of a union that are merged into one."""
        return self

    @property
    def family(self) -> object:
        """A key that is equal for options that are merged if a union has too many; ``None`` for all others."""
        return None

    def merged(self, others: Sequence[Any]) -> Value:
        """Return one value for this one and ``others``, which all have its identity or its family."""
        return self


def measure(whole: Value, parts: Iterable[Value], level: int = 1, gap: bool = False) -> None:
    """Set size, nesting and gap of ``whole`` from those of its ``parts``; ``gap`` if it may contain more parts."""
    size, nesting = 1, 0
    for part in parts:
        if isinstance(part, Holder):
            size += part.size
            gap = gap or part.gap
            if part.nesting > nesting:
                nesting = part.nesting
        else:
            size += 1
            gap = gap or part is UNKNOWN
    set_measures(whole, size, nesting + level, gap)


def set_measures(whole: Value, size: int, nesting: int, gap: bool) -> None:
    force_setattr(whole, "size", size)
    force_setattr(whole, "nesting", nesting)
    force_setattr(whole, "gap", gap)


class Holder(Value, frozen=True, kw_only=True):
    """A value that contains others; its measures (size, nesting, gap) are computed once, when it is created."""

    size: int = 0
    nesting: int = 0
    gap: bool = False

    def measures_with(self, parts: Iterable[Value]) -> tuple[int, int, bool]:
        """Return size, nesting and gap after ``parts`` are added, without counting the other parts again."""
        size, nesting, gap = self.size, self.nesting, self.gap
        for part in parts:
            size += part.size
            nesting = max(nesting, part.nesting + 1)
            gap = gap or part.gap
        return size, nesting, gap


class _Singleton(Value, frozen=True):
    name: str

    def __repr__(self) -> str:
        return self.name


UNKNOWN: Value = _Singleton("UNKNOWN")
# The value of something in the middle of its own definition: nothing, until the other assignments are known.
NEVER: Value = _Singleton("NEVER")
NONE: Value = _Singleton("NONE")


class UnionOf(Holder, frozen=True):
    """One of several values, :data:`UNKNOWN` perhaps among them: ``x`` after ``if t: x = 1`` and ``else: x = "a"``.

    ``source``: the values of one place on several ``paths`` of execution, the ``arms`` of a conditional expression,
    or the ``elements`` of a container.
    """

    options: tuple[Value, ...]
    source: Literal["paths", "arms", "elements"] = "paths"

    def __post_init__(self) -> None:
        measure(self, self.options, level=0)


# The members of a family among the options of a union are distinguished up to this many; more become one.
MOST_OF_A_FAMILY = 16
# Options of a union other than functions and classes, of which a table may have any number. A server
# that answers for all its tools in one function has as many texts as these have sentences.
MOST_OPTIONS = 512


def options(value: Value) -> tuple[Value, ...]:
    """Return the alternatives of a union; of anything else the value alone."""
    return value.options if isinstance(value, UnionOf) else (value,)


def join(*values: Value) -> Value:
    """Return the union of ``values``, with those of the same identity merged: 1, ``"a"``, 2 → a number or ``"a"``.

    It may have more options than the evaluator allows.
    """
    first = values[0] if values else NEVER
    if all(value is first for value in values):
        return first
    union: dict[object, Value] = {}
    for value in values:
        for option in options(value):
            # A value in its own definition adds nothing: its other assignments are joined in a later round.
            if option is not NEVER:
                identity = option.identity
                old = union.get(identity)
                union[identity] = option if old is None or old is option else old.merged([option])
    if len(union) > MOST_OF_A_FAMILY:
        union = _with_families_merged(union)
    if not union:
        return NEVER
    alternatives = tuple(union.values())
    if len(alternatives) == 1:
        return alternatives[0]
    for value in values:
        # A union with all these options is returned itself, so that a fixed point is recognized by identity.
        if isinstance(value, UnionOf) and value.source != "arms" and is_alike(alternatives, value.options):
            return value
    return UnionOf(alternatives)


def _with_families_merged(union: dict[object, Value]) -> dict[object, Value]:
    """Return ``union`` with one option for each family: twenty dicts → one dict with the keys of all."""
    result: dict[object, Value] = {}
    families: dict[object, list[Value]] = {}
    for identity, option in union.items():
        family = option.family
        if family is None:
            result[identity] = option
        else:
            families.setdefault(family, []).append(option)
            result[family] = option  # reserves the place of the family's first option
    for family, (first, *others) in families.items():
        result[family] = first.merged(others)  # at once, because merging one by one takes quadratic time
    return result


def over(value: Value, change: Callable[[Value], Value]) -> Value:
    """Return ``value`` with ``change`` applied to each of its options; ``value`` itself if none changes."""
    if not isinstance(value, UnionOf):
        return change(value)
    changed = tuple(map(change, value.options))
    return value if are_same(changed, value.options) else replace(value, options=changed)


def is_alike(parts: Sequence[object], others: Sequence[object]) -> bool:
    """Return whether two sequences have the same objects in the same order."""
    return len(parts) == len(others) and are_same(parts, others)


def are_same(new: Iterable[object], old: Iterable[object]) -> bool:
    """Return whether each object in ``new`` is the one with its position in ``old``; both have the same length."""
    return all(map(operator.is_, new, old))

"""Changes of a whole value and its elements: moved, made a constant, condensed, filled elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from gllint_rules.inference.values.base import (
    MOST_OPTIONS,
    UNKNOWN,
    Site,
    UnionOf,
    Value,
    join,
    options,
    over,
)
from gllint_rules.inference.values.collections import (
    Container,
    DictOf,
    Entry,
    Key,
    ListOf,
    Record,
    Slots,
    Unnamed,
)
from gllint_rules.inference.values.instances import QuantityInstance
from gllint_rules.inference.values.scalars import BYTES, TEXT, SerialisedText, Text


def _throughout(
    value: Value,
    change: Callable[[Container, Callable[[Value], Value]], Value],
    done: dict[Value, Value],
) -> Value:
    """Return ``value`` with ``change`` applied to all containers in it.

    ``change`` gets a container and the function that changes its parts. ``done`` has the parts that are changed
    already, so that a part in two containers stays one object.
    """

    def inner(part: Value) -> Value:
        if part not in done:
            done[part] = _throughout(part, change, done)
        return done[part]

    if isinstance(value, UnionOf):
        return over(value, inner)
    if isinstance(value, SerialisedText):
        return value.holding(inner(value.value))
    return change(value, inner) if isinstance(value, Container) else value


def moved(value: Value, site: Site) -> Value:
    """Return ``value`` as if all of it had been built at ``site``.

    So the numbers of a helper outside the project are reported at its call, which the user can change.
    """

    def put(entry: Entry, part: Value) -> Entry:
        return Entry(part, site, site if entry.key is not None else None)

    return _throughout(value, lambda container, inner: container.each_changed(inner, put).moved(site), {})


def as_constant(value: Value) -> Value:
    """Return ``value`` with all its entries marked as ``constant``, as in ``PRICES = {"a": 1}``.

    A constant is reported where it is used. Instances and Quantities are not marked: they are reported where their
    class is called.
    """

    def put(entry: Entry, part: Value) -> Entry:
        return replace(entry, value=part, constant=True)

    def mark(container: Container, inner: Callable[[Value], Value]) -> Value:
        return container if isinstance(container, QuantityInstance) else container.each_changed(inner, put)

    return over(
        value, lambda o: o if isinstance(o, Record) and o.of is not None else _throughout(o, mark, {})
    )


def condensed(value: Value) -> Value:
    """Return a small value for a constant table: ``[{"a": 1}, {"a": 2}]`` → a list of ``{"a": a number}``.

    The contents of texts and the places of numbers are lost, because a table is reported where it is used.
    """
    return over(value, _condensed)


def _condensed(value: Value) -> Value:
    """Return a value without its details: ``[1, 2]`` → a list of numbers, ``"a"`` → a text; also of a large dict."""
    match value:
        case ListOf():
            rest = _blended([entry.value for entry in value.items], value.rest)
            return ListOf(rest=rest, kind=value.kind, site=value.site)
        case DictOf() if len(value.entries) > MOST_OPTIONS:
            rest = _blended(value.values(), None if value.is_complete else UNKNOWN)
            return DictOf(open=True, rest=rest, site=value.site, kind=value.kind, keys=value.keys)
        case DictOf():
            return value.each_changed(condensed)
        case SerialisedText():
            return value.holding(condensed(value.value))
        case Text(is_bytes=is_bytes):
            return BYTES if is_bytes else TEXT
        case _:
            return value


def _blended(values: Iterable[Value], rest: Value | None) -> Value:
    """Return the union of many values, each without details: numbers → a number, dicts → one dict with all keys."""
    union: dict[object, Value] = {}
    rows: list[DictOf] = []
    lists: list[ListOf] = []
    for value in (*values, *(() if rest is None else (rest,))):
        for option in options(value):
            match option:
                case DictOf() if len(option.entries) <= MOST_OPTIONS:
                    rows.append(option)
                case ListOf():
                    lists.append(option)
                case _:
                    option = _condensed(option)
                    union.setdefault(option.identity, option)
    if rows:
        # Quantities and other rows as one dict would look like Quantities without a unit.
        shapes = {row.entries.keys() >= {"value", "unit"} for row in rows}
        union[DictOf] = _blended_rows(rows) if len(shapes) == 1 else UNKNOWN
    if lists:
        items = [entry.value for sequence in lists for entry in sequence.items]
        inner = _blended([*items, *(sequence.rest for sequence in lists if sequence.rest is not None)], None)
        union[ListOf] = replace(lists[0], items=(), rest=inner)
    return join(*union.values()) if len(union) <= MOST_OPTIONS else UNKNOWN


def _blended_rows(rows: Sequence[DictOf]) -> DictOf:
    """Return one dict for many: ``{"a": 1}``, ``{"a": "x", "b": 2}`` → ``a`` a number or text, ``b`` a number."""
    by_key: dict[Key, list[Entry]] = {}
    for row in rows:
        for key, slot in row.entries.items():
            by_key.setdefault(key, []).extend(slot)
    entries: Slots = {
        key: (slot[0].holding(_blended([entry.value for entry in slot], None)),)
        for key, slot in by_key.items()
        if not isinstance(key, Unnamed)
    }
    unnamed = [e.value for key, slot in by_key.items() if isinstance(key, Unnamed) for e in slot]
    rests = [*unnamed, *(row.rest for row in rows if row.rest is not None)]
    return replace(
        rows[0],
        entries=entries,
        sure=frozenset.intersection(*(row.sure for row in rows)),
        open=any(row.open for row in rows),
        listed=all(row.is_complete for row in rows),
        rest=_blended(rests, None) if rests else None,
    )


def holds_constants(value: Value) -> bool:
    """Return whether a value may be a constant table, or a part of one."""
    return any(
        isinstance(option, Container) and any(entry.constant for _, entry in option.contents())
        for option in options(value)
    )


def returned_at(value: Value, site: Site) -> Value:
    """Return ``value`` after ``return value`` at ``site``: containers with unseen elements are reported there."""

    def returned(option: Value) -> Value:
        # A container that a function passes on is reported at the return of the one that built it.
        if isinstance(option, (DictOf, ListOf)) and option.rest is not None and option.returned is None:
            return replace(option, returned=site)
        if isinstance(option, ListOf) and option.kind == "tuple":  # `return path, numbers`
            return option.each_changed(lambda part: over(part, returned))
        return option

    return over(value, returned)


def filled_unseen(value: Value) -> Value:
    """Return a container after code that may fill it: an empty ``x: list[float] = []`` then has numbers."""

    def filled(option: Value) -> Value:
        is_empty = isinstance(option, (DictOf, ListOf)) and option.is_empty
        return replace(option, unfilled=False) if is_empty else option

    return over(value, filled)


def filled_elsewhere(value: Value) -> Value:
    """Return a container that other statements of its module fill: it may have any further elements."""
    values: list[Value] = []
    for option in options(filled_unseen(value)):
        if isinstance(option, DictOf) and option.rest is None:
            option = replace(option, open=True, listed=False)
        elif isinstance(option, ListOf) and option.rest is None:
            option = replace(option, rest=UNKNOWN)
        values.append(option)
    return join(*values)

"""What a container is after a store (``x["a"]["b"] = 1``, ``del x["a"]``, ``x.append(1)``): a new value.

The *way* of a store is the steps from the container to the place that changes: ``"a"``, ``"b"``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from gllint_rules.inference import builtin_names, containers, objects
from gllint_rules.inference.values import (
    UNKNOWN,
    Container,
    DictOf,
    Entry,
    Frame,
    Instance,
    Key,
    ListOf,
    ModelInstance,
    Record,
    Site,
    UnionOf,
    Unnamed,
    Value,
    are_same,
    filled_unseen,
    join,
    number,
    options,
)
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Expr
from gllint_rules.tuples import NamedTuple

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator

# From the entries of a place to those after the store.
Change: TypeAlias = Callable[[tuple[Entry, ...]], tuple[Entry, ...]]


class At(NamedTuple):
    """A step into a container: to what is under a key (``None``: one that is not known), or to an attribute."""

    key: Key | None
    at: Expr


class Each(NamedTuple):
    """A step to the elements of a "dict" or "list": to all of them one by one in a loop, or to some."""

    kind: str
    whole: bool
    loop: int


Step: TypeAlias = At | Each


def is_same_way(way: Sequence[Step], other: Sequence[Step]) -> bool:
    """Return whether two ways surely lead to the same place: ``["a"][0]`` and ``["a"][0]``, not ``[i]`` and ``[i]``."""
    return len(way) == len(other) and all(
        a == b if isinstance(a, Each) or isinstance(b, Each) else a.key is not None and a.key == b.key
        for a, b in zip(way, other, strict=True)
    )


def removed(_: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Return no entries: the change of ``del x["a"]``."""
    return ()


class Store(Struct, frozen=True, eq=False):
    """A ``change`` of a place in a container, in the source of ``module``."""

    evaluator: Evaluator
    module: facts.Module
    change: Change

    def into(self, value: Value, way: Sequence[Step]) -> Value:
        """Return ``value`` after the change of the place that ``way`` leads to.

        ``{"a": {}}`` with the way ``"a"``, ``"b"`` and a change to 1 → ``{"a": {"b": 1}}``
        """
        if isinstance(value, UnionOf):
            rebuilt = [self.into(option, way) for option in value.options]
            # The arms of a conditional are joined even if they are the same: after a store they are no arms.
            is_same = value.source != "arms" and are_same(rebuilt, value.options)
            return value if is_same else join(*rebuilt)
        if not way:  # a slice counts as the whole list
            return value
        step, rest = way[0], way[1:]
        # Only a dict takes a store under a text, so an unknown value is one.
        if value is UNKNOWN and self.change is not removed and _has_text_key(way):
            value = _new_container(step)
        if isinstance(step, Each):
            return self._into_each(value, step, rest)
        # `x.a = 1` sets a field, `x["a"] = 1` an entry: a list has no fields, and an object whose fields are its
        # arguments becomes a record of them.
        is_attribute = isinstance(step.at, facts.Attr)
        if isinstance(value, Instance) and is_attribute and objects.is_model(self.evaluator, value.of):
            value = ModelInstance(open=True, of=value.of)
        if isinstance(value, Record):
            return self._into_record(value, step, rest)
        if isinstance(value, ListOf) and not is_attribute:
            return self._into_list(value, step, rest)
        return value

    def _into_record(self, value: Record, step: At, rest: Sequence[Step]) -> Value:
        """Return a record after a store at the key of ``step``, or deeper in it, along the ``rest`` of the way."""
        key, index = step
        if key is None:  # a key that is not known: any entry may be the one that changes
            if rest:
                return self._into_each(value, Each("dict", False, 0), rest)
            new = self._changed(value, value.unnamed())
            return value.with_unnamed(new) if new else filled_unseen(value)
        old = value.entries.get(key, ())
        if rest:
            if not old and value.open and value.of is None:
                # A store into a missing container would raise, so some other code has put one there.
                old = (Entry(UNKNOWN, Site(self.module, index.at)),)
            inner = tuple(e.holding(self.into(e.value, rest)) for e in old)
            is_same = all(e.value is UNKNOWN for e in inner) or (key in value.sure and are_same(inner, old))
            return value if is_same else value.store(key, *inner)
        if self.change is removed:
            return value.without(key)
        # A finding points at the literal key: `x["a"] = 1`.
        stored = tuple(
            replace(e, key=Site(self.module, index.at))
            if e.key is None and isinstance(index, facts.Const)
            else e
            for e in self.change(old)
        )
        if value.of is not None and isinstance(index, facts.Attr):
            for entry in stored:
                value = objects.with_field(self.evaluator, value, key, entry)
            return value
        return value.store(key, *stored)

    def _into_list(self, value: ListOf, step: At, rest: Sequence[Step]) -> Value:
        """Return a list after a store at the index of ``step``, or deeper: ``[1, 2]``, ``x[0] = 5`` → ``[5, 2]``."""
        position = step.at.value if isinstance(step.at, facts.Const) else None
        if not isinstance(position, int):  # any element may be the one that changes
            return self._into_each(value, Each("list", False, 0), rest)
        if -len(value.items) <= position < len(value.items):
            items = list(value.items)
            old = items[position]
            if rest:
                items[position] = old.holding(self.into(old.value, rest))
            elif self.change is not removed:
                items[position] = self.change((old,))[0]
            return value if items[position] is old else replace(value, items=tuple(items))
        return value

    def _into_each(self, value: Value, step: Each, rest: Sequence[Step]) -> Value:
        """Return a container with each element changed (``step.whole``), or with some element changed.

        ``for row in rows: row["a"] = 1`` changes each, ``rows[i]["a"] = 1`` some: that element is the old or the new.
        """
        if not isinstance(value, (DictOf, ListOf)):  # an object has fields, not elements
            return value
        self.evaluator.step(value.size // 64)  # to change 64 elements costs one step
        if not rest:
            return self._into_elements(value, step)

        def inner(part: Value) -> Value:
            changed = self.into(part, rest)
            return changed if step.whole or changed is part else join(part, changed)

        changed = value.each_changed(inner)
        return changed if changed is value else filled_unseen(changed)

    def _changed(self, value: Container, entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
        """Return ``entries`` after the change; none if it keeps the numbers that the other elements are declared as."""
        if value.rest is not None and number(value.rest) is not None:
            # Try the change on a number at an impossible place. If it is still in the result, it was kept.
            probe = Entry(value.rest, Site(self.module, -1))
            if any(entry.site == probe.site for entry in self.change((probe,))):
                return ()
        return self.change(entries)

    def _into_elements(self, value: DictOf | ListOf, step: Each) -> Value:
        """Return a container after each of its elements was replaced (``step.whole``), or some of them.

        ``for k in d: d[k] = 0`` replaces each, ``d[k] = 0`` some.
        """
        elements = tuple(entry for _, entry in value.contents())
        new = self._changed(value, elements)
        if not new:
            return filled_unseen(value)
        if not step.whole or not (elements or value.rest is not None):
            return _with_items(value, new) if isinstance(value, ListOf) else value.with_unnamed(new)
        if isinstance(value, ListOf):  # the new entries replace all that were there
            return replace(value, items=new, rest=None)
        entries: dict[Key, tuple[Entry, ...]] = dict.fromkeys(value.entries, new)
        entries = entries or {Unnamed(new[0].site): new}
        return replace(value, entries=entries, open=True, listed=True, rest=None)


def mutated(evaluator: Evaluator, value: Value, name: str, call: facts.Call, frame: Frame) -> Value | None:
    """Return a container after a call of its method ``name``: ``[1]``, ``append(2)`` → ``[1, 2]``.

    ``None`` if the method changes nothing.
    """
    if isinstance(value, UnionOf):
        changed = [mutated(evaluator, option, name, call, frame) or option for option in value.options]
        return join(*changed)
    if value is UNKNOWN and name == "append":  # a method of lists alone
        value = ListOf(rest=UNKNOWN)
    match value, name:
        case Record(), "update":
            return containers.updated(evaluator, value, call, frame)
        case Record(), "setdefault" if len(call.args) == 2:
            stored = containers.key_of(evaluator, call.args[0], frame)
            entry = evaluator.entry(call.args[1], frame)
            if stored is None:
                return value.with_unnamed((entry,))
            if stored in value.sure:  # the key exists, so the default is not used
                return value
            return value.store(stored, *value.entries.get(stored, ()), entry)
        case ListOf(), "append" | "add" | "insert" if call.args:
            return _appended(evaluator, value, evaluator.entry(call.args[-1], frame))
        case ListOf(kind=builtin_names.TEXT_STREAM), "write" if call.args:
            return _appended(evaluator, value, evaluator.entry(call.args[0], frame))
        case ListOf(), "extend" | "writelines" if call.args:
            for other in options(evaluator.eval(call.args[0], frame)):
                value = _extended(evaluator, value, other)
            return value
        case ((Record() | ListOf()), "clear"):
            return replace(value, entries={}, sure=frozenset()) if isinstance(value, Record) else ListOf()
        case _:
            return None


def _has_text_key(way: Sequence[Step]) -> bool:
    """Return whether the last step of a way is a literal text, and all others are elements or text keys.

    A store with such a way (``x["a"]["b"] = 1``) shows that ``x`` is a dict.
    """
    *steps, last = way
    is_text = isinstance(last, At) and isinstance(last.at, facts.Const) and isinstance(last.at.value, str)
    return is_text and all(isinstance(step, Each) or isinstance(step.key, str) for step in steps)


def _new_container(step: Step) -> Value:
    """Return an empty container that ``step`` can lead into: a list for the elements of a list, else a dict."""
    if isinstance(step, Each) and step.kind == "list":
        return ListOf(rest=UNKNOWN)
    return DictOf(open=True, rest=UNKNOWN if isinstance(step, Each) else None)


def _with_items(value: ListOf, new: tuple[Entry, ...]) -> ListOf:
    sites = {entry.site for entry in new}
    return replace(value, items=(*(e for e in value.items if e.site not in sites), *new))


def _extended(evaluator: Evaluator, value: ListOf, other: Value) -> ListOf:
    """Return a list after ``value.extend(other)``: ``[1]``, ``[2]`` → ``[1, 2]``; of an unknown value, unknown ones."""
    if not isinstance(other, ListOf):
        rest = UNKNOWN if value.rest is None else join(value.rest, UNKNOWN)
        return replace(value, rest=rest, hinted=False, unfilled=False)
    extended = value
    for entry in other.items:
        extended = _appended(evaluator, extended, Entry(entry.value, entry.site))
    rests = [rest for rest in (value.rest, other.rest) if rest is not None]
    is_all_known = other.rest is None or other.is_empty
    return replace(
        extended,
        rest=join(*rests) if rests else None,
        hinted=value.hinted and is_all_known,
        unfilled=value.unfilled and is_all_known,
    )


def _appended(evaluator: Evaluator, value: ListOf, new: Entry) -> ListOf:
    """Return a list with one more entry, or, if the same statement appended before, with that entry joined."""
    # In a loop one entry represents all that its statement appends.
    evaluator.step(len(value.items) // 64)  # to compare 64 elements costs one step
    for i, entry in enumerate(value.items):
        if entry.site == new.site:
            same = entry.holding(join(entry.value, new.value))
            return replace(value, items=(*value.items[:i], same, *value.items[i + 1 :]))
    return value.appended(new)

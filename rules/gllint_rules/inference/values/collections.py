"""Values that contain others, each with its place: dicts, lists, and the base of objects with fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from msgspec import Struct, field
from msgspec.structs import force_setattr, replace

from gllint_rules.inference.values.base import (
    NONE,
    UNKNOWN,
    Holder,
    Site,
    UnionOf,
    Value,
    are_same,
    is_alike,
    join,
    measure,
    options,
    set_measures,
)
from gllint_rules.inference.values.references import ClassOf, ExternalInstance
from gllint_rules.inference.values.scalars import TEXT, Boolean, Number, Text
from gllint_rules.tuples import NamedTuple

if TYPE_CHECKING:
    Measures: TypeAlias = tuple[int, int, bool]


class Entry(Struct, frozen=True, eq=False):
    """A value in a container, where it was put in, and the place of its key where that is written out.

    If both are one place, that is the container that it came with: ``{**row}``.
    ``constant`` is a part of a table that a module or a class binds to a name: it is reported where it is used.
    """

    value: Value
    site: Site
    key: Site | None = None
    constant: bool = False

    def holding(self, value: Value) -> Entry:
        """Return the entry with ``value`` in it: itself, if that is its value already."""
        return self if value is self.value else Entry(value, self.site, self.key, self.constant)


class Unnamed(NamedTuple):
    """A key of a record that is no known text: the place of its value distinguishes it."""

    site: Site


class OtherKey(NamedTuple):
    """A key of a record that is written out and is no text, as ``repr`` shows it."""

    representation: str


Key: TypeAlias = str | Unnamed | OtherKey
Slots: TypeAlias = dict[Key, tuple[Entry, ...]]
ValueChange: TypeAlias = Callable[[Value], Value]
EntryMaker: TypeAlias = Callable[[Entry, Value], Entry]

_C = TypeVar("_C", bound="Container")
_R = TypeVar("_R", bound="Record")


class Container(Holder, frozen=True, kw_only=True):
    """A value that contains others.

    ``site`` is where it was made. ``rest`` is what those may be that have no entry of their own
    (``dict[str, float]``), ``returned`` where the function that made such a one returns it. ``hinted``: ``rest`` is
    what the annotation, or the factory, of an empty one says; ``unfilled``: nothing that could have filled it was met
    since.
    """

    measures: Measures | None = None  # where they are known, those of what it is made with

    @property
    def site(self) -> Site | None:
        return None

    @property
    def rest(self) -> Value | None:
        return None

    @property
    def returned(self) -> Site | None:
        return None

    @property
    def hinted(self) -> bool:
        return False

    @property
    def unfilled(self) -> bool:
        return False

    @property
    def is_empty(self) -> bool:
        """Return whether nothing was put in, whatever its annotation declares."""
        return self.unfilled and next(self.contents(), None) is None

    def contents(self) -> Iterator[tuple[Key | None, Entry]]:
        """Return its known entries, each with its key; an element of a list has none."""
        raise NotImplementedError

    def values(self) -> list[Value]:
        """Return its known values."""
        raise NotImplementedError

    def each_changed(self: _C, change: ValueChange, put: EntryMaker = Entry.holding) -> _C:
        """Return it with its values changed, and ``put`` into its entries; itself if nothing changes."""
        raise NotImplementedError

    def moved(self: _C, site: Site) -> _C:
        """Return it as if it had been made at ``site``, and not returned by a function."""
        raise NotImplementedError


class Record(Container, frozen=True):
    """A value with keys: a dict, or an object with known fields.

    ``entries``: for each key all that may be stored there. ``sure``: keys that are always there. ``open``: there may
    be more keys. ``of``: the class of the project that it is an instance of.
    """

    entries: Slots = field(default_factory=dict)
    sure: frozenset[Key] = frozenset()
    open: bool = False
    site: Site | None = None

    def __post_init__(self) -> None:
        if self.measures is not None:
            set_measures(self, *self.measures)
            force_setattr(self, "measures", None)  # they are not those of one like it
            return
        measure(self, self.values(), gap=self.open and self.rest is None)

    @property
    def of(self) -> ClassOf | None:
        return None

    @property
    def identity(self) -> object:
        return self if self.site is None else (type(self), self.site)

    def merged(self: _R, others: Sequence[_R]) -> _R:
        """Join records: an entry of one of them may be there."""
        records = (self, *others)
        by_key: dict[Key, list[tuple[Entry, ...]]] = {}
        for record in records:
            for key, slot in record.entries.items():
                by_key.setdefault(key, []).append(slot)
        return replace(
            self,
            entries={key: _united(slots) for key, slots in by_key.items()},
            sure=frozenset.intersection(*(record.sure for record in records)),
            open=any(record.open for record in records),
        )

    def values(self) -> list[Value]:
        return [entry.value for slot in self.entries.values() for entry in slot]

    def contents(self) -> Iterator[tuple[Key | None, Entry]]:
        for key, slot in self.entries.items():
            yield from ((key, entry) for entry in slot)

    def each_changed(self: _R, change: ValueChange, put: EntryMaker = Entry.holding) -> _R:
        """Return the record with each value changed."""
        entries = {
            key: tuple(put(entry, change(entry.value)) for entry in slot)
            for key, slot in self.entries.items()
        }
        if all(map(are_same, entries.values(), self.entries.values())):
            return self
        return replace(self, entries=entries)

    def moved(self: _R, site: Site) -> _R:
        return replace(self, site=site if self.site is not None else None)

    @property
    def is_listed(self) -> bool:
        """Return whether all of its values are known to be among the entries, but for the ``rest``."""
        return not self.open

    @property
    def is_complete(self) -> bool:
        """Return whether all of its values are known to be among the entries, or what ``rest`` says."""
        return self.is_listed or self.rest is not None

    def get(self, key: Key) -> Value | None:
        """Return the value under ``key``; ``None`` if nothing is known.

        It is joined with ``NONE`` where the key may be missing.
        """
        entries = self.entries.get(key)
        if entries is None:
            return self.other()
        value = join(*(entry.value for entry in entries))
        return value if key in self.sure else join(value, NONE)

    def any_value(self) -> Value:
        """Return the value under an unknown key."""
        values = self.values() if self.is_complete else []
        return join(*values) if values else UNKNOWN

    def other(self) -> Value | None:
        """Return the value under a key that is not written out; ``None`` if nothing is known of it."""
        return None

    def under(self, key: Key | None) -> Value | None:
        """Return the value under ``key``, supposing that the record has it; ``None`` if the value is not known.

        ``key`` is ``None`` if the key itself is not known. :meth:`get` also allows for a missing key.
        """
        if key is not None and key in self.entries:
            return join(*(entry.value for entry in self.entries[key]))
        value = self.any_value() if key is None else self.other()
        if value is None:
            return None
        kinds = {type(option) for option in options(value)}
        # What may be a text or a container is unknown: a rule about one would report the other too.
        is_mixed = kinds & {Text, Boolean} and any(issubclass(k, Container) for k in kinds)
        return UNKNOWN if is_mixed else _one_of(value)

    def any_key(self) -> Value:
        """Return the value of one of the keys."""
        return TEXT

    def as_dict(self) -> Record:
        """Return what was made, as a dict of its fields."""
        return DictOf(self.entries, self.sure, self.open, self.site)

    def store(self: _R, key: Key, *entries: Entry) -> _R:
        measures = None
        if key not in self.entries:
            measures = self.measures_with(entry.value for entry in entries)
        return self._stored({**self.entries, key: entries}, self.sure | {key}, measures)

    def _stored(self: _R, entries: Slots, sure: frozenset[Key], measures: Measures | None) -> _R:
        return replace(self, entries=entries, sure=sure, measures=measures)

    def part(self: _R, key: Key, slot: tuple[Entry, ...]) -> _R:
        """Return what ``slot`` has under ``key``, and nothing else."""
        return replace(self, entries={key: slot} if slot else {}, open=True)

    def without(self: _R, key: Key) -> _R:
        """The same with nothing under ``key``."""
        entries = {name: slot for name, slot in self.entries.items() if name != key}
        return replace(self, entries=entries, sure=self.sure - {key})

    def unnamed(self) -> tuple[Entry, ...]:
        """Return the entries that were stored under unknown keys."""
        return tuple(
            entry for key, slot in self.entries.items() if isinstance(key, Unnamed) for entry in slot
        )

    def with_unnamed(self: _R, new: Iterable[Entry]) -> _R:
        """Return the same with ``new`` under an unknown key.

        An entry that the same statement has stored before is merged with it, under whatever key it is: the statement
        runs again in a later round of its loop.
        """
        entries = dict(self.entries)
        for entry in new:
            key: Key = Unnamed(entry.site)
            siblings: list[Entry] = []
            for old_key, slot in entries.items():
                if (previous := next((old for old in slot if old.site == entry.site), None)) is not None:
                    key = old_key
                    siblings = [old for old in slot if old.site != entry.site]
                    entry = entry.holding(join(previous.value, entry.value))
                    break
            entries[key] = (*siblings, entry)
        return replace(self, entries=entries, open=True)

    def spread(self: _R, value: Value, site: Site) -> _R:
        """Return the record after ``{**value}``, ``update(value)`` or ``record | value``.

        A key that ``value`` may lack keeps the record's value as an option.
        """
        choices = options(value)
        dicts = [option for option in choices if isinstance(option, DictOf)]
        all_seen = len(dicts) == len(choices)
        sure = (
            frozenset.intersection(*(option.sure for option in dicts)) if dicts and all_seen else frozenset()
        )
        on_top: Slots = {}
        for option in dicts:
            for key, slot in option.entries.items():
                # A constant table is reported where it is used, and this is the use.
                slot = tuple(
                    replace(e, site=site, key=site, constant=False) if e.constant else e for e in slot
                )
                on_top[key] = _united([on_top[key], slot]) if key in on_top else slot
            if option.rest is not None and not option.is_empty:
                # Values without names of their own are put in here, all together.
                on_top[Unnamed(site)] = (Entry(DictOf(open=True, rest=option.rest), site),)
        entries = dict(self.entries)
        for key, slot in on_top.items():
            old = entries.get(key) if key not in sure else None
            entries[key] = _united([old, slot]) if old is not None else slot
        return replace(
            self,
            entries=entries,
            sure=self.sure | sure,
            open=self.open or not all_seen or any(option.open for option in dicts),
        )


class DictOf(Record, frozen=True):
    """A dict, or another mapping.

    ``kind`` is the full name of its class. ``listed``: although there may be more keys, all values are among the
    entries. ``keys``: what its unnamed keys are, where that is said and they are no texts.
    """

    rest: Value | None = None
    kind: str = "builtins.dict"
    returned: Site | None = None
    hinted: bool = False
    listed: bool = False
    keys: Number | ExternalInstance | None = None
    unfilled: bool = False

    @property
    def family(self) -> object:
        # Those with a `value` or a `unit` are left to themselves: together they would look like Quantities.
        return None if "value" in self.entries or "unit" in self.entries else DictOf

    def merged(self, others: Sequence[DictOf]) -> DictOf:
        """Join dicts: keys that only some have may be missing."""
        dicts = (self, *others)
        return replace(
            super().merged(others),
            listed=all(option.is_complete for option in dicts),
            rest=_joined_rest(dicts),
            hinted=_all_hinted(dicts),
            unfilled=all(option.unfilled for option in dicts),
            keys=_joined_keys(dicts),
        )

    def each_changed(self, change: ValueChange, put: EntryMaker = Entry.holding) -> DictOf:
        rest = change(self.rest) if self.rest is not None else None
        changed = super().each_changed(change, put)
        return changed if rest is self.rest else replace(changed, rest=rest)

    def moved(self, site: Site) -> DictOf:
        return replace(self, site=site if self.site is not None else None, returned=None)

    def values(self) -> list[Value]:
        values = super().values()
        return values if self.rest is None else [*values, self.rest]

    @property
    def is_listed(self) -> bool:
        return not self.open or self.listed

    def other(self) -> Value | None:
        if self.rest is not None or not self.listed:
            return self.rest
        values = [entry.value for entry in self.unnamed()]
        return join(*values) if values else None

    def any_key(self) -> Value:
        if self.keys is None:
            return TEXT
        return join(self.keys, TEXT) if any(isinstance(key, str) for key in self.entries) else self.keys

    def as_dict(self) -> DictOf:
        return self

    def part(self, key: Key, slot: tuple[Entry, ...]) -> DictOf:
        return replace(super().part(key, slot), rest=None)

    def with_unnamed(self, new: Iterable[Entry]) -> DictOf:
        return replace(super().with_unnamed(new), listed=self.is_complete and self.rest is None)

    def spread(self, value: Value, site: Site) -> DictOf:
        """Return the dict with the entries of another one on top."""
        choices = options(value)
        dicts = [self, *(option for option in choices if isinstance(option, DictOf))]
        all_seen = len(dicts) == len(choices) + 1
        return replace(
            super().spread(value, site),
            listed=all_seen and all(option.is_complete and option.rest is None for option in dicts),
            unfilled=self.unfilled and all_seen and all(option.is_complete for option in dicts[1:]),
            keys=_joined_keys(dicts),
        )


class ListOf(Container, frozen=True):
    """A list, tuple, set or generator: known ``items`` in order, then any number of ``rest``.

    A ``pair`` is a tuple of ``zip``, ``enumerate`` or ``.items()``. A ``declared`` one is
    the annotation of a tuple, position by position. A ``matrix`` is a literal of lists of numbers in a
    list. A kind with a dot in it is the full name of the class from outside that it is an instance of.
    """

    items: tuple[Entry, ...] = ()
    rest: Value | None = None
    kind: str = "list"
    site: Site | None = None
    returned: Site | None = None
    hinted: bool = False
    unfilled: bool = False
    matrix: bool = False

    def __post_init__(self) -> None:
        if self.measures is not None:
            set_measures(self, *self.measures)
            force_setattr(self, "measures", None)  # they are not those of one like it
            return
        measure(self, self.values())

    @property
    def identity(self) -> object:
        return self if self.site is None else (ListOf, self.site)

    def merged(self, others: Sequence[ListOf]) -> ListOf:
        """Join lists, item by item."""
        lists = (self, *others)
        items, rest = _united([option.items for option in lists]), _joined_rest(lists)
        hinted, unfilled = _all_hinted(lists), all(option.unfilled for option in lists)
        for option in lists:
            is_same = option.items is items and option.rest is rest
            if is_same and option.hinted == hinted and option.unfilled == unfilled and option.resembles(self):
                return option
        return replace(self, items=items, rest=rest, hinted=hinted, unfilled=unfilled)

    def resembles(self, other: ListOf) -> bool:
        """Return whether two lists are the same apart from their elements."""
        return self is other or (
            (self.kind, self.site, self.returned, self.matrix)
            == (other.kind, other.site, other.returned, other.matrix)
        )

    def values(self) -> list[Value]:
        values = [entry.value for entry in self.items]
        return values if self.rest is None else [*values, self.rest]

    def contents(self) -> Iterator[tuple[None, Entry]]:
        return ((None, entry) for entry in self.items)

    def each_changed(self, change: ValueChange, put: EntryMaker = Entry.holding) -> ListOf:
        rest = change(self.rest) if self.rest is not None else None
        items = tuple(put(entry, change(entry.value)) for entry in self.items)
        if rest is self.rest and are_same(items, self.items):
            return self
        return replace(self, items=items, rest=rest)

    def moved(self, site: Site) -> ListOf:
        return replace(self, site=site if self.site is not None else None, returned=None)

    def appended(self, entry: Entry) -> ListOf:
        measures = self.measures_with((entry.value,))
        items = (*self.items, entry)
        return ListOf(items, self.rest, self.kind, self.site, self.returned, self.hinted, measures=measures)

    def element(self) -> Value:
        """Return what any element may be."""
        values = self.values()
        return _one_of(join(*values)) if values else UNKNOWN


def _one_of(value: Value) -> Value:
    """``value``, which is that of any element."""
    return replace(value, source="elements") if isinstance(value, UnionOf) else value


def as_keys(value: Value) -> Number | ExternalInstance | None:
    """``value`` where it says more of keys than that they are texts."""
    return value if isinstance(value, (Number, ExternalInstance)) else None


def is_seen_empty(value: Value) -> bool:
    """Return whether it is a list or a plain dict without known elements."""
    if isinstance(value, ListOf):
        return not value.values()
    return isinstance(value, DictOf) and lacks_key(value, "") and not value.entries


def lacks_key(value: Value, key: Key) -> bool:
    """Return whether ``value`` is a plain dict all of whose keys are seen, and ``key`` is none of them."""
    if not isinstance(value, DictOf) or value.kind != "builtins.dict":
        return False
    return not value.open and value.rest is None and key not in value.entries


def surely_not_number(value: Value) -> bool:
    """Return whether it is definitely something else, as ``"12"`` or ``None`` in a Quantity's value."""
    return all(option is NONE or isinstance(option, (Boolean, Text, Container)) for option in options(value))


def surely_not_text(value: Value) -> bool:
    """Return whether it is definitely something else, as ``3`` or ``None`` in a Quantity's unit."""
    return all(
        option is NONE or isinstance(option, (Boolean, Number, Container)) for option in options(value)
    )


def _joined_keys(dicts: Sequence[DictOf]) -> Number | ExternalInstance | None:
    if all(option.keys is None for option in dicts):
        return None
    return as_keys(join(*(option.any_key() for option in dicts if option.entries or option.open)))


def _joined_rest(containers: Sequence[Container]) -> Value | None:
    rests = [container.rest for container in containers if container.rest is not None]
    return join(*rests) if rests else None


def _all_hinted(containers: Sequence[Container]) -> bool:
    return all(container.hinted or container.rest is None for container in containers)


def _united(slots: Sequence[tuple[Entry, ...]]) -> tuple[Entry, ...]:
    """Return the entries of several containers, merged by site."""
    first = slots[0]
    if all(entries is first for entries in slots):
        return first
    if len(first) == 1 and all(len(entries) == 1 and entries[0] is first[0] for entries in slots):
        return first  # as most are, of containers that grow on some ways only
    by_site: dict[Site, list[Entry]] = {}
    for entries in slots:
        for entry in entries:
            by_site.setdefault(entry.site, []).append(entry)
    united = tuple(same[0].holding(join(*(entry.value for entry in same))) for same in by_site.values())
    return next((entries for entries in slots if is_alike(united, entries)), united)

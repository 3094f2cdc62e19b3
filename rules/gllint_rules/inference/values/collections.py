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
    """A value in a container, with the site where it was put in, and that of its key, if that is a literal.

    If both are the same site, it came with another container: ``{**row}``. ``constant``: it is in a table that a
    module or class assigns to a name, which is reported where it is used.
    """

    value: Value
    site: Site
    key: Site | None = None
    constant: bool = False

    def holding(self, value: Value) -> Entry:
        """Return the entry with ``value`` in it; itself if that is its value already."""
        return self if value is self.value else Entry(value, self.site, self.key, self.constant)


class Unnamed(NamedTuple):
    """A key of a record that is not known (``d[k] = 1``); the site of its value distinguishes it from others."""

    site: Site


class OtherKey(NamedTuple):
    """A literal key of a record that is no text, as ``repr`` shows it: ``5``."""

    representation: str


Key: TypeAlias = str | Unnamed | OtherKey
Slots: TypeAlias = dict[Key, tuple[Entry, ...]]
ValueChange: TypeAlias = Callable[[Value], Value]
EntryMaker: TypeAlias = Callable[[Entry, Value], Entry]

_C = TypeVar("_C", bound="Container")
_R = TypeVar("_R", bound="Record")


class Container(Holder, frozen=True, kw_only=True):
    """A value that contains others.

    * ``site``: where it was created.
    * ``rest``: the value of elements that have no entry of their own, as in ``dict[str, float]``.
    * ``returned``: where the function that created a container with a ``rest`` returns it.
    * ``hinted``: ``rest`` comes from the annotation of an empty container: ``x: list[float] = []``.
    * ``unfilled``: no code after that could have filled it.
    """

    measures: Measures | None = None  # size, nesting and gap, if the one who creates it knows them

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
        """Return whether it has no elements, although its annotation may declare some."""
        return self.unfilled and next(self.contents(), None) is None

    def contents(self) -> Iterator[tuple[Key | None, Entry]]:
        """Yield its known entries, each with its key; ``None`` is the key of an element of a list."""
        raise NotImplementedError

    def values(self) -> list[Value]:
        """Return its known values."""
        raise NotImplementedError

    def each_changed(self: _C, change: ValueChange, put: EntryMaker = Entry.holding) -> _C:
        """Return the container with ``change`` applied to each value; itself if no value changes.

        ``put`` makes the new entry from the old one and the changed value.
        """
        raise NotImplementedError

    def moved(self: _C, site: Site) -> _C:
        """Return the container as if it had been created at ``site``, and not been returned by a function."""
        raise NotImplementedError


class Record(Container, frozen=True):
    """A value with keys: a dict, or an object with known fields.

    ``entries``: all values that a key may have. ``sure``: the keys that it always has. ``open``: it may have other
    keys. ``of``: its class, if the project defines that.
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
        """Return one record for several: a key may have the values of all, and is sure if all have it."""
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
        """Return whether all of its values are among the entries, apart from the ``rest``."""
        return not self.open

    @property
    def is_complete(self) -> bool:
        """Return whether all of its values are among the entries, or described by ``rest``."""
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
        """Return the value under a key without an entry; ``None`` if nothing is known of it."""
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
        # A value that may be a text or a container counts as unknown, else a rule for one would report the other, too.
        is_mixed = kinds & {Text, Boolean} and any(issubclass(k, Container) for k in kinds)
        return UNKNOWN if is_mixed else _element_of(value)

    def any_key(self) -> Value:
        """Return the value of a key: a text, of most records."""
        return TEXT

    def as_dict(self) -> Record:
        """Return an object as a dict of its fields."""
        return DictOf(self.entries, self.sure, self.open, self.site)

    def store(self: _R, key: Key, *entries: Entry) -> _R:
        """Return the record with ``entries`` under ``key``, in place of those that it has there."""
        measures = None
        if key not in self.entries:
            measures = self.measures_with(entry.value for entry in entries)
        return self._stored({**self.entries, key: entries}, self.sure | {key}, measures)

    def _stored(self: _R, entries: Slots, sure: frozenset[Key], measures: Measures | None) -> _R:
        return replace(self, entries=entries, sure=sure, measures=measures)

    def part(self: _R, key: Key, slot: tuple[Entry, ...]) -> _R:
        """Return the record reduced to the entries ``slot`` under ``key``."""
        return replace(self, entries={key: slot} if slot else {}, open=True)

    def without(self: _R, key: Key) -> _R:
        """Return the record without the entries under ``key``."""
        entries = {name: slot for name, slot in self.entries.items() if name != key}
        return replace(self, entries=entries, sure=self.sure - {key})

    def unnamed(self) -> tuple[Entry, ...]:
        """Return the entries that were stored under unknown keys."""
        return tuple(
            entry for key, slot in self.entries.items() if isinstance(key, Unnamed) for entry in slot
        )

    def with_unnamed(self: _R, new: Iterable[Entry]) -> _R:
        """Return the record with the entries ``new`` under unknown keys: after ``d[k] = 1``.

        In a later round of a loop, the entry is merged with the one that the same statement stored before.
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
        """Return the record after ``{**record, **value}``, ``record.update(value)`` or ``record | value``.

        ``{"a": 1}``, ``{"a": 2}`` → ``{"a": 2}``. A key that ``value`` may lack keeps the record's value as an option.
        ``site`` is that of ``value``.
        """
        choices = options(value)
        dicts = [option for option in choices if isinstance(option, DictOf)]
        is_dict = len(dicts) == len(choices)
        sure = (
            frozenset.intersection(*(option.sure for option in dicts)) if dicts and is_dict else frozenset()
        )
        entries = dict(self.entries)
        for key, slot in _spread_slots(dicts, site).items():
            old = entries.get(key) if key not in sure else None
            entries[key] = _united([old, slot]) if old is not None else slot
        return replace(
            self,
            entries=entries,
            sure=self.sure | sure,
            open=self.open or not is_dict or any(option.open for option in dicts),
        )


class DictOf(Record, frozen=True):
    """A dict, or another mapping.

    ``kind``: the full name of its class. ``listed``: all values are among the entries, although some keys are not
    known. ``keys``: its keys without a name, if they are known to be numbers or instances.
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
        # A dict with a `value` merged with one that has a `unit` would look like a Quantity.
        return None if "value" in self.entries or "unit" in self.entries else DictOf

    def merged(self, others: Sequence[DictOf]) -> DictOf:
        """Return one dict for several; keys that only some have may be missing."""
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
        """Return the dict after ``{**self, **value}``; see :meth:`Record.spread`."""
        choices = options(value)
        dicts = [option for option in choices if isinstance(option, DictOf)]
        is_complete = len(dicts) == len(choices) and all(option.is_complete for option in dicts)
        both = [self, *dicts]
        return replace(
            super().spread(value, site),
            listed=is_complete and self.is_complete and all(option.rest is None for option in both),
            unfilled=self.unfilled and is_complete,
            keys=_joined_keys(both),
        )


class ListOf(Container, frozen=True):
    """A list, tuple, set or generator: known ``items`` in order, then any number of ``rest``.

    ``kind``: its class; ``pair`` for a tuple of ``zip``, ``enumerate`` or ``.items()``, ``declared`` for a tuple by
    its annotation (``tuple[int, str]``), and the full name of a class of a library. ``matrix``: a literal list of lists
    of numbers.
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
        """Return one list for several, with the items of all, one for each site."""
        lists = (self, *others)
        items, rest = _united([option.items for option in lists]), _joined_rest(lists)
        hinted, unfilled = _all_hinted(lists), all(option.unfilled for option in lists)
        for option in lists:
            # One of them if it is the result, so that a fixed point is recognized by identity.
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
        """Return the value of any element: ``[1, "a"]`` → a number or ``"a"``."""
        values = self.values()
        return _element_of(join(*values)) if values else UNKNOWN


def _element_of(value: Value) -> Value:
    """Return ``value``; a union is marked as one of the elements of a container."""
    return replace(value, source="elements") if isinstance(value, UnionOf) else value


def _spread_slots(dicts: Sequence[DictOf], site: Site) -> Slots:
    """Return the entries that a value adds at ``site`` by ``**value``; it is one of ``dicts``."""
    slots: Slots = {}
    for option in dicts:
        for key, slot in option.entries.items():
            # A constant table is reported where it is used, and this is the use.
            slot = tuple(replace(e, site=site, key=site, constant=False) if e.constant else e for e in slot)
            slots[key] = _united([slots[key], slot]) if key in slots else slot
        if option.rest is not None and not option.is_empty:
            # Its elements have no names, so they are one entry: a dict of them.
            slots[Unnamed(site)] = (Entry(DictOf(open=True, rest=option.rest), site),)
    return slots


def as_keys(value: Value) -> Number | ExternalInstance | None:
    """Return ``value`` if it is a number or an instance: other keys count as texts."""
    return value if isinstance(value, (Number, ExternalInstance)) else None


def is_seen_empty(value: Value) -> bool:
    """Return whether a value is a list or plain dict without elements: ``[]``, ``{}``."""
    if isinstance(value, ListOf):
        return not value.values()
    return isinstance(value, DictOf) and lacks_key(value, "") and not value.entries


def lacks_key(value: Value, key: Key) -> bool:
    """Return whether ``value`` is surely without ``key``: a plain dict with known keys, of which ``key`` is none."""
    if not isinstance(value, DictOf) or value.kind != "builtins.dict":
        return False
    return not value.open and value.rest is None and key not in value.entries


def surely_not_number(value: Value) -> bool:
    """Return whether a value is definitely no number: ``"12"`` or ``None`` as the value of a Quantity."""
    return all(option is NONE or isinstance(option, (Boolean, Text, Container)) for option in options(value))


def surely_not_text(value: Value) -> bool:
    """Return whether a value is definitely no text: ``3`` or ``None`` as the unit of a Quantity."""
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
    """Return the entries of several containers, those of the same site merged; one of ``slots`` if it has them all."""
    first = slots[0]
    if all(entries is first for entries in slots):
        return first
    # The most frequent case, for speed: one entry, which all containers have.
    if len(first) == 1 and all(len(entries) == 1 and entries[0] is first[0] for entries in slots):
        return first
    by_site: dict[Site, list[Entry]] = {}
    for entries in slots:
        for entry in entries:
            by_site.setdefault(entry.site, []).append(entry)
    united = tuple(same[0].holding(join(*(entry.value for entry in same))) for same in by_site.values())
    return next((entries for entries in slots if is_alike(united, entries)), united)

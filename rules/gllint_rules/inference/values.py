"""The small domain of the inference: what an expression may hold, and why we think so.

A rule fires on what is shown, never on :data:`UNKNOWN`. Containers keep the *site* of each element, the place
where it was put in, because that is where a finding about it belongs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from gllint_rules import records
from gllint_rules.records import derived, fresh, replace
from gllint_rules.tuples import NamedTuple

if TYPE_CHECKING:
    from dataclasses import InitVar

    from gllint_rules.reading.facts import Class, Expr, Function, Lambda, Module, Param, Scope


class Site(NamedTuple):
    """An expression of a module."""

    module: Module
    at: int


class Because(records.Record, frozen=True):
    """One reason, and the reasons behind it."""

    message: str
    site: Site | None
    causes: tuple[Because, ...] = ()


class Value(records.Record, frozen=True):
    """Base of all values.

    ``size`` counts a value and all that it holds, once for each way that leads there, and ``nesting`` how deep
    that goes: what walks a value takes that many steps, however little memory it shares. ``gap`` says whether
    something in it is unknown that the arguments of a call might tell.
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


def _measure(whole: Value, parts: Iterable[Value], level: int = 1, gap: bool = False) -> None:
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
    _set_measures(whole, size, nesting + level, gap and not isinstance(whole, Text))


def _set_measures(whole: Value, size: int, nesting: int, gap: bool) -> None:
    object.__setattr__(whole, "size", size)
    object.__setattr__(whole, "nesting", nesting)
    object.__setattr__(whole, "gap", gap)


def _with_more(whole: Record | ListOf, parts: Iterable[Value]) -> tuple[int, int, bool]:
    """The measures of ``whole`` with ``parts`` beside what it holds."""
    size, nesting, gap = whole.size, whole.nesting, whole.gap
    for part in parts:
        size += part.size
        nesting = max(nesting, part.nesting + 1)
        gap = gap or part.gap
    return size, nesting, gap


class Holder(Value, frozen=True):
    """A value that holds others; its measures are taken once."""

    size: int = derived()
    nesting: int = derived()
    gap: bool = derived()


class _Singleton(Value, frozen=True):
    name: str

    def __repr__(self) -> str:
        return self.name


UNKNOWN: Value = _Singleton("UNKNOWN")
# What a value in the middle of its own definition is worth: nothing, until the other assignments speak.
NEVER: Value = _Singleton("NEVER")
NONE: Value = _Singleton("NONE")


class Boolean(Value, frozen=True):
    """A truth value, no number; ``literal`` where it is written out."""

    literal: bool | None = None


BOOL = Boolean()


class Number(Value, frozen=True):
    """Definitely a number; ``real`` where it is known to be a float, which no sequence can be multiplied by."""

    because: Because
    real: bool = False
    literal: object = None


class Literal(records.Record, frozen=True):
    """A stretch of literal text. ``offsets`` maps its characters to those of the string at ``site``."""

    text: str
    site: Site
    offsets: tuple[int, ...] | None = None


class Interpolation(records.Record, frozen=True):
    """A value formatted into a text."""

    value: Value
    site: Site


class Text(Holder, frozen=True):
    """A string; ``parts`` is ``None`` where its text is unknown. Bytes count as text of unknown content."""

    parts: tuple[Literal | Interpolation, ...] | None = None
    is_bytes: bool = False

    def __post_init__(self) -> None:
        _measure(self, (part.value for part in self.parts or () if isinstance(part, Interpolation)))

    @property
    def literal(self) -> str | None:
        """The whole text where all of it is literal."""
        if self.parts is None:
            return None
        texts = []
        for part in self.parts:
            if not isinstance(part, Literal):
                return None
            texts.append(part.text)
        return "".join(texts)


TEXT = Text()
BYTES = Text(is_bytes=True)


class Entry(records.Record, frozen=True):
    """A value in a container, where it was put in, and the place of its key where that is written out.

    ``constant`` where a table holds it that a module or a class binds to a name: it is reported where it is used.
    """

    value: Value
    site: Site
    key: Site | None = None
    constant: bool = False

    def holding(self, value: Value) -> Entry:
        """The entry with ``value`` in it: itself, where that is the one it holds."""
        return self if value is self.value else Entry(value, self.site, self.key, self.constant)


class Unnamed(NamedTuple):
    """A key of a record that is no text, or none that is known: the place of what it leads to tells it apart."""

    site: Site


class OtherKey(NamedTuple):
    """A key of a record that is written out and is no text, as ``repr`` shows it."""

    representation: str


Key: TypeAlias = str | Unnamed | OtherKey


class Record(Holder, frozen=True):
    """A mapping or an object with known fields.

    ``entries``: for each key all that may be stored there. ``sure``: keys that are always there. ``open``:
    there may be more keys. ``rest``: what unnamed values are (``dict[str, float]``). ``quantity``: a call to a
    class named ``Quantity``. ``cls``: the class of the project it is an instance of. ``kind``: the full name of
    the class from outside that it is an instance of. ``returned``: where the function that made it returns it.
    ``hinted``: ``rest`` is what the annotation, or the factory, of an empty one says; ``unfilled``: nothing that could
    have filled it was met since. ``listed``: although there may be more keys,
    all values are among the entries. ``keys``: what its unnamed keys are, where that is said and they are no texts.
    """

    entries: dict[Key, tuple[Entry, ...]] = fresh(default_factory=dict)
    sure: frozenset[Key] = frozenset()
    open: bool = False
    rest: Value | None = None
    site: Site | None = None
    quantity: bool = False
    cls: ClassOf | None = None
    kind: str = "builtins.dict"
    envelope: bool = False  # what the model sees of an instance that a framework takes apart
    returned: Site | None = None
    hinted: bool = False
    listed: bool = False
    keys: Number | ExternalInstance | None = None
    unfilled: bool = False
    measured: InitVar[tuple[int, int, bool] | None] = None  # where its size, nesting and gap are known

    def __post_init__(self, measured: tuple[int, int, bool] | None) -> None:
        if measured is not None:
            _set_measures(self, *measured)
            return
        parts = [entry.value for slot in self.entries.values() for entry in slot]
        gap = self.open and self.rest is None
        _measure(self, parts if self.rest is None else [*parts, self.rest], gap=gap)

    def get(self, key: Key) -> Value | None:
        """What is under ``key``; ``None`` where nothing is known of it."""
        entries = self.entries.get(key)
        if entries is None:
            return self.other()
        value = join(*(entry.value for entry in entries))
        return value if key in self.sure else join(value, NONE)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was put in, whatever an annotation says of what might be."""
        return self.unfilled and not self.entries

    @property
    def is_complete(self) -> bool:
        """Whether all of its values are known to be among the entries, or what ``rest`` says."""
        return not self.open or self.listed or self.rest is not None

    def any_value(self) -> Value:
        """What is under a key that is not known."""
        values = values_in(self) if self.is_complete else []
        return join(*values) if values else UNKNOWN

    def other(self) -> Value | None:
        """What is under a key that is none of those that are written out; ``None`` where nothing is known of it."""
        if self.rest is not None or not self.listed:
            return self.rest
        values = [e.value for key, slot in self.entries.items() if isinstance(key, Unnamed) for e in slot]
        return join(*values) if values else None

    def under(self, key: Key | None) -> Value | None:
        """What ``key`` leads to where it is there, or one that is not known; ``None`` where nothing is known of it."""
        if key is not None and key in self.entries:
            return join(*(entry.value for entry in self.entries[key]))
        value = self.any_value() if key is None else self.other()
        kinds = {type(option) for option in options(value)} if value is not None else set()
        # What may be a text or a container alike is unknown.
        return UNKNOWN if kinds & {Text, Boolean} and kinds & {Record, ListOf} else value

    def any_key(self) -> Value:
        """What one of its keys is."""
        if self.keys is None:
            return TEXT
        return join(self.keys, TEXT) if any(isinstance(key, str) for key in self.entries) else self.keys

    def store(self, key: Key, *entries: Entry) -> Record:
        measured = None
        if key not in self.entries:
            measured = _with_more(self, (entry.value for entry in entries))
        return Record(  # `replace` takes nearly twice as long
            {**self.entries, key: entries},
            self.sure | {key},
            self.open,
            self.rest,
            self.site,
            self.quantity,
            self.cls,
            self.kind,
            self.envelope,
            self.returned,
            self.hinted,
            self.listed,
            self.keys,
            measured=measured,
        )


class ListOf(Holder, frozen=True):
    """A list, tuple, set or generator: known ``items`` in order, then any number of ``rest``.

    A ``pair`` is a tuple that nobody wrote: ``zip``, ``enumerate`` and ``.items()`` make it. A ``declared`` one is
    what an annotation says of a tuple, position by position. A ``matrix`` is written out as lists of numbers in a
    list. A kind with a dot in it is the full name of the class from outside that it is an instance of. ``returned``,
    ``hinted`` and ``unfilled``: as of a :class:`Record`.
    """

    items: tuple[Entry, ...] = ()
    rest: Value | None = None
    kind: str = "list"
    site: Site | None = None
    returned: Site | None = None
    hinted: bool = False
    unfilled: bool = False
    matrix: bool = False
    measured: InitVar[tuple[int, int, bool] | None] = None

    def __post_init__(self, measured: tuple[int, int, bool] | None) -> None:
        if measured is not None:
            _set_measures(self, *measured)
            return
        parts = [entry.value for entry in self.items]
        _measure(self, parts if self.rest is None else [*parts, self.rest])

    @property
    def is_empty(self) -> bool:
        """As of a :class:`Record`."""
        return self.unfilled and not self.items

    def appended(self, entry: Entry) -> ListOf:
        measured = _with_more(self, (entry.value,))
        items = (*self.items, entry)
        return ListOf(items, self.rest, self.kind, self.site, self.returned, self.hinted, measured=measured)

    def element(self) -> Value:
        """What any element may be."""
        values = values_in(self)
        return join(*values) if values else UNKNOWN


class ClassOf(Value, frozen=True):
    """A class of the project."""

    module: Module
    cls: Class


class Instance(Value, frozen=True):
    """An instance of a class of the project whose fields are looked up in the class.

    ``arguments`` are what stands for its type variables: ``Context[Building]``. ``attributes`` are those that are
    what its constructor was given, where the class is a record of its arguments.
    """

    of: ClassOf
    arguments: tuple[Value, ...] = ()
    attributes: Mapping[str, Value] = fresh(default_factory=dict)
    gap: bool = derived()

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "gap", any(value is UNKNOWN or value.gap for value in self.attributes.values())
        )


class Leading(records.Record, frozen=True):
    """What `functools.partial` gives to a function before its calls; ``is_complete`` where all ``places`` are there."""

    places: tuple[Entry, ...]
    is_complete: bool
    named: Record


class FunctionOf(Value, frozen=True):
    """A function, method (with the class it is bound to) or lambda of the project."""

    module: Module
    function: Function | Lambda
    bound: ClassOf | None = None
    first: bool = False  # whether the first parameter is already given
    # What was made, where a method is called on something that is seen to be made.
    receiver: Record | Instance | None = None
    leading: Leading | None = None

    @property
    def params(self) -> tuple[Param, ...]:
        """The parameters that a call gives."""
        return self.function.params[1 if self.first else 0 :]

    @property
    def home(self) -> Frame:
        """Where its annotations and defaults are evaluated."""
        return Frame(self.module, self.function.scope.parent or self.function.scope, None, self.bound)


class ModuleOf(Value, frozen=True):
    """A module of the project."""

    module: Module


class External(Value, frozen=True):
    """A name from outside the project (``numpy.mean``) or a builtin (``builtins.len``)."""

    name: str


class ExternalInstance(Value, frozen=True):
    """An instance of a class from outside the project; ``arguments`` are what stands for its type variables."""

    name: str
    arguments: tuple[Value, ...] = ()


class Method(Value, frozen=True):
    """A method of a value of a known kind: ``text.format``, ``record.get``."""

    of: Value
    name: str
    site: Site


class ToolData(Protocol):
    """What the inference needs to know of a tool; who recognises tools knows more of each."""

    @property
    def name(self) -> str | None: ...

    @property
    def called(self) -> FunctionOf | None:
        """The function that a call of the tool object is a call of, as it is behind a decorator."""


class ToolValue(Value, frozen=True):
    """A tool object: what a T1 or T4 call makes, or a T3 decorator leaves behind."""

    tool: ToolData


class UnionOf(Holder, frozen=True):
    """One of several, :data:`UNKNOWN` perhaps among them.

    ``conditional`` where a conditional expression chose: each of its arms is a value of its own.
    """

    options: tuple[Value, ...]
    conditional: bool = False

    def __post_init__(self) -> None:
        _measure(self, self.options, level=0)


class Flow(records.Record):
    """The outcome of a function: ``returns`` and ``yields`` as expression and value, in reading order.

    ``parameters`` are what its parameters held when it began.
    """

    returns: list[tuple[Expr, Value]] = fresh(default_factory=list)
    yields: list[tuple[Expr, Value]] = fresh(default_factory=list)
    parameters: tuple[Value, ...] = ()
    falls_through: bool = False
    open: bool = False  # what stands for the outcome while it is being worked out
    result: Value | None = None  # all returns together, once somebody asked


class Own(NamedTuple):
    """The attribute of ``self`` of that name, as a variable."""

    name: str


Variable: TypeAlias = str | Own
Env: TypeAlias = dict[Variable, Value]


class Frame(records.Record):
    """Where an expression is evaluated. ``env`` holds the flow's variables; without it the reading is static."""

    module: Module
    scope: Scope
    env: Env | None = None
    bound: ClassOf | None = None  # what ``self`` is

    @property
    def cls(self) -> Class | None:
        return self.bound.cls if self.bound is not None else None

    def site(self, expr: Expr) -> Site:
        """Where ``expr`` stands, which is evaluated here."""
        return Site(self.module, expr.at)


# Records among the options of a union are told apart up to this many; more become one, with all their keys.
MOST_RECORDS = 16
# Options of a union that are no references to functions and classes: of those a table may hold any number.
MOST_OPTIONS = 64


def entries_in(container: Record | ListOf) -> Iterator[tuple[Key | None, Entry]]:
    """What a container is seen to hold, each entry with its key; an element of a list has none."""
    if isinstance(container, ListOf):
        yield from ((None, entry) for entry in container.items)
    else:
        for key, slot in container.entries.items():
            yield from ((key, entry) for entry in slot)


def values_in(container: Record | ListOf) -> list[Value]:
    """All values that a container is known to hold."""
    values = [entry.value for _, entry in entries_in(container)]
    return values if container.rest is None else [*values, container.rest]


def options(value: Value) -> tuple[Value, ...]:
    """The alternatives of a union; of anything else the value alone."""
    return value.options if isinstance(value, UnionOf) else (value,)


def literal_of(value: Value | None) -> str | None:
    """The text that a value is known to be."""
    return value.literal if isinstance(value, Text) else None


def class_of(value: Value) -> ClassOf | None:
    """The class of the project that an object is an instance of."""
    match value:
        case Instance(of=of) | Record(cls=ClassOf() as of):
            return of
        case _:
            return None


def join(*values: Value) -> Value:
    """What holds one of ``values``. It may have more options than the evaluator lets stand."""
    first = values[0] if values else NEVER
    if all(value is first for value in values):
        return first
    union: dict[object, Value] = {}
    for value in values:
        for option in options(value):
            if option is not NEVER:
                same = _sameness(option)
                old = union.get(same)
                union[same] = option if old is None or old is option else _either(old, option)
    if len(union) > MOST_RECORDS:
        union = _with_one_record(union)
    if not union:
        return NEVER
    return next(iter(union.values())) if len(union) == 1 else UnionOf(tuple(union.values()))


def _sameness(value: Value) -> object:
    """What two options of a union have in common that become one."""
    match value:
        case Number():
            return Number
        case Text(parts=None, is_bytes=is_bytes):
            return Text, is_bytes
        case Text(parts=tuple() as parts) if parts:  # the same expression in a later round of a loop
            return tuple(part.site for part in parts)
        case Boolean():
            return Boolean
        case Record(site=Site() as site):
            return Record, site
        case ListOf(site=Site() as site):
            return ListOf, site
        case Instance(of=of, arguments=()):
            return Instance, of.cls
        case ExternalInstance(name=name, arguments=()):
            return ExternalInstance, name
        case FunctionOf(function=function, bound=bound, first=first, receiver=None):
            return function, bound.cls if bound is not None else None, first
        case _:
            return value


def _either(old: Value, new: Value) -> Value:
    match old, new:
        case Number(real=True), Number():
            return new
        case Number(), Number(real=False):
            return new
        case Text(parts=tuple()), Text():
            return new
        case Record(), Record():
            return _merged([old, new])
        case Instance(attributes=attributes), Instance(attributes=other):
            return old if attributes is other else replace(old, attributes={})
        case ListOf(), ListOf():
            lists = [old, new]
            return replace(
                old,
                items=_entries([old.items, new.items]),
                rest=_joined_rest(lists),
                hinted=_all_hinted(lists),
                unfilled=old.unfilled and new.unfilled,
            )
        case _:
            return old


def _with_one_record(union: dict[object, Value]) -> dict[object, Value]:
    """The options of ``union`` with their plain dicts as one that may have the keys of each.

    Dicts with a ``value`` or a ``unit`` are left to themselves: together they would look like Quantities.
    """
    result: dict[object, Value] = {}
    plain: list[Record] = []
    for same, option in union.items():
        if isinstance(option, Record) and option.cls is None and not option.quantity:
            if "value" not in option.entries and "unit" not in option.entries:
                plain.append(option)
                result[Record] = option  # holds the place
                continue
        result[same] = option
    if plain:
        result[Record] = _merged(plain)  # all at once: one after the other takes the square of the time
    return result


def is_reference(value: Value) -> bool:
    """Whether it stands for a function or a class, which its own code says all about."""
    return isinstance(value, (FunctionOf, ClassOf, ToolValue, Method, External, ModuleOf))


def _merged(records: Sequence[Record]) -> Record:
    by_key: dict[Key, list[tuple[Entry, ...]]] = {}
    for record in records:
        for key, slot in record.entries.items():
            by_key.setdefault(key, []).append(slot)
    return replace(
        records[0],
        entries={key: _entries(slots) for key, slots in by_key.items()},
        sure=frozenset.intersection(*(record.sure for record in records)),
        open=any(record.open for record in records),
        listed=all(record.is_complete for record in records),
        rest=_joined_rest(records),
        hinted=_all_hinted(records),
        unfilled=all(record.unfilled for record in records),
        keys=_joined_keys(records),
    )


def as_keys(value: Value) -> Number | ExternalInstance | None:
    """``value`` where it says more of keys than that they are texts."""
    return value if isinstance(value, (Number, ExternalInstance)) else None


def _joined_keys(records: Sequence[Record]) -> Number | ExternalInstance | None:
    if all(record.keys is None for record in records):
        return None
    return as_keys(join(*(record.any_key() for record in records if record.entries or record.open)))


def _joined_rest(containers: Sequence[Record | ListOf]) -> Value | None:
    rests = [container.rest for container in containers if container.rest is not None]
    return join(*rests) if rests else None


def _all_hinted(containers: Sequence[Record | ListOf]) -> bool:
    return all(container.hinted or container.rest is None for container in containers)


def _entries(slots: Sequence[tuple[Entry, ...]]) -> tuple[Entry, ...]:
    """The entries of several containers in one place, those of one site as one."""
    if all(entries is slots[0] for entries in slots):
        return slots[0]
    by_site: dict[Site, list[Entry]] = {}
    for entries in slots:
        for entry in entries:
            by_site.setdefault(entry.site, []).append(entry)
    return tuple(same[0].holding(join(*(entry.value for entry in same))) for same in by_site.values())


def lacks_key(value: Value, key: Key) -> bool:
    """Whether ``value`` is a plain dict all of whose keys are seen, and ``key`` is none of them."""
    if not isinstance(value, Record) or value.cls is not None or value.kind != "builtins.dict":
        return False
    return not value.open and value.rest is None and key not in value.entries


def number(value: Value) -> Number | None:
    """The number that ``value`` definitely is; when it may be ``None`` but is a number otherwise, that one."""
    if isinstance(value, Number):
        return value
    if isinstance(value, UnionOf):
        result = None
        for option in value.options:
            if isinstance(option, Number):
                result = option
            elif option is not NONE and option is not NEVER:
                return None
        return result
    return None


def surely_not_number(value: Value) -> bool:
    """Whether it is definitely something else, as ``"12"`` or ``None`` in a Quantity's value."""
    return all(
        option is NONE or isinstance(option, (Boolean, Text, Record, ListOf)) for option in options(value)
    )


def surely_not_text(value: Value) -> bool:
    """Whether it is definitely something else, as ``3`` or ``None`` in a Quantity's unit."""
    return all(
        option is NONE or isinstance(option, (Boolean, Number, Record, ListOf)) for option in options(value)
    )


def over(value: Value, change: Callable[[Value], Value]) -> Value:
    """``value`` with each of its alternatives changed; itself where all stay what they are."""
    if not isinstance(value, UnionOf):
        return change(value)
    changed = tuple(map(change, value.options))
    return value if are_same(changed, value.options) else replace(value, options=changed)


def are_same(new: Iterable[object], old: Iterable[object]) -> bool:
    """Whether a change has left all parts of a value as they were."""
    return all(map(operator.is_, new, old))


def each_changed(
    container: Record | ListOf,
    change: Callable[[Value], Value],
    put: Callable[[Entry, Value], Entry] = Entry.holding,
) -> Record | ListOf:
    """``container`` with all that it holds changed, and ``put`` into its entries; itself where all stay as they are."""
    rest = change(container.rest) if container.rest is not None else None
    if isinstance(container, ListOf):
        items = tuple(put(entry, change(entry.value)) for entry in container.items)
        if rest is container.rest and are_same(items, container.items):
            return container
        return replace(container, items=items, rest=rest)
    entries = {
        key: tuple(put(entry, change(entry.value)) for entry in slot)
        for key, slot in container.entries.items()
    }
    if rest is container.rest and all(map(are_same, entries.values(), container.entries.values())):
        return container
    return replace(container, entries=entries, rest=rest)


def _throughout(
    value: Value,
    change: Callable[[Record | ListOf, Callable[[Value], Value]], Value],
    done: dict[Value, Value],
) -> Value:
    """``value`` with all containers in it changed, from within; what it shares stays shared, as ``done`` knows."""

    def inner(part: Value) -> Value:
        if part not in done:
            done[part] = _throughout(part, change, done)
        return done[part]

    if isinstance(value, UnionOf):
        return over(value, inner)
    return change(value, inner) if isinstance(value, (Record, ListOf)) else value


def moved(value: Value, site: Site) -> Value:
    """``value`` as if all of it had been built at ``site``: a helper outside the project is reported at its call."""

    def put(entry: Entry, part: Value) -> Entry:
        return Entry(part, site, site if entry.key is not None else None)

    def move(container: Record | ListOf, inner: Callable[[Value], Value]) -> Value:
        own_site = site if container.site is not None else None
        return replace(each_changed(container, inner, put), site=own_site, returned=None)

    return _throughout(value, move, {})


def as_constant(value: Value) -> Value:
    """``value`` with all that it holds as what a constant table holds; a model is reported where it is built."""

    def put(entry: Entry, part: Value) -> Entry:
        return replace(entry, value=part, constant=True)

    def fix(container: Record | ListOf, inner: Callable[[Value], Value]) -> Value:
        is_quantity = isinstance(container, Record) and container.quantity
        return container if is_quantity else each_changed(container, inner, put)

    return over(
        value,
        lambda o: o if isinstance(o, Record) and o.cls is not None else _throughout(o, fix, {}),
    )


def condensed(value: Value) -> Value:
    """A constant table of any size as a small value: a list of what its rows have in common, a dict of what is in it.

    Texts are no longer told apart, nor is where each number stands: a table is reported where it is used.
    """
    return over(value, _condensed)


def _condensed(value: Value) -> Value:
    match value:
        case ListOf():
            rest = _blended([entry.value for entry in value.items], value.rest)
            return ListOf(rest=rest, kind=value.kind, site=value.site)
        case Record(cls=None, quantity=False) if len(value.entries) > MOST_OPTIONS:
            rest = _blended(values_in(value), None if value.is_complete else UNKNOWN)
            return Record(open=True, rest=rest, site=value.site, kind=value.kind, keys=value.keys)
        case Record(cls=None, quantity=False):
            return each_changed(value, condensed)
        case Text(is_bytes=is_bytes):
            return BYTES if is_bytes else TEXT
        case _:
            return value


def _blended(values: Iterable[Value], rest: Value | None) -> Value:
    """What each of many values is: the numbers as one, the texts as one, the dicts as one with all their keys."""
    union: dict[object, Value] = {}
    rows: list[Record] = []
    lists: list[ListOf] = []
    for value in (*values, *(() if rest is None else (rest,))):
        for option in options(value):
            match option:
                case Record(cls=None, quantity=False) if len(option.entries) <= MOST_OPTIONS:
                    rows.append(option)
                case ListOf():
                    lists.append(option)
                case _:
                    option = _condensed(option)
                    union.setdefault(_sameness(option), option)
    if rows:
        shapes = {row.entries.keys() >= {"value", "unit"} for row in rows}
        union[Record] = _blended_rows(rows) if len(shapes) == 1 else UNKNOWN
    if lists:
        items = [entry.value for sequence in lists for entry in sequence.items]
        inner = _blended([*items, *(sequence.rest for sequence in lists if sequence.rest is not None)], None)
        union[ListOf] = replace(lists[0], items=(), rest=inner)
    return join(*union.values()) if len(union) <= MOST_OPTIONS else UNKNOWN


def _blended_rows(rows: Sequence[Record]) -> Record:
    by_key: dict[Key, list[Entry]] = {}
    for row in rows:
        for key, slot in row.entries.items():
            by_key.setdefault(key, []).extend(slot)
    entries: dict[Key, tuple[Entry, ...]] = {
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
    """Whether one of its alternatives is part of a constant table."""
    return any(
        isinstance(option, (Record, ListOf)) and any(entry.constant for _, entry in entries_in(option))
        for option in options(value)
    )


def returned_at(value: Value, site: Site) -> Value:
    """``value`` where a function returns it at ``site``: a container whose elements cannot be seen belongs there."""

    def returned(option: Value) -> Value:
        if isinstance(option, (Record, ListOf)) and option.rest is not None and option.returned is None:
            return replace(option, returned=site)
        return option

    return over(value, returned)


def spread(record: Record, value: Value, site: Site) -> Record:
    """``{**value}``, ``update(value)``, ``record | value``: what ``value`` holds comes on top, put in at ``site``.

    A key that ``value`` has on some ways only leaves what ``record`` has there.
    """
    choices = options(value)
    records = [option for option in choices if isinstance(option, Record) and option.cls is None]
    sure = frozenset[Key]()
    if records and len(records) == len(choices):
        sure = records[0].sure.intersection(*(option.sure for option in records[1:]))
    entries = dict(record.entries)
    on_top: dict[Key, tuple[Entry, ...]] = {}
    for option in records:
        for key, slot in option.entries.items():
            slot = tuple(replace(e, site=site, constant=False) if e.constant else e for e in slot)
            on_top[key] = _entries([on_top[key], slot]) if key in on_top else slot
        if option.rest is not None and not option.is_empty:
            # Values without names of their own are put in here, all together.
            on_top[Unnamed(site)] = (Entry(Record(open=True, rest=option.rest), site),)
    for key, slot in on_top.items():
        old = entries.get(key) if key not in sure else None
        entries[key] = _entries([old, slot]) if old is not None else slot
    all_seen = len(records) == len(choices)
    return replace(
        record,
        unfilled=record.unfilled
        and all_seen
        and not any(option.open and not option.is_complete for option in records),
        entries=entries,
        sure=record.sure | sure,
        open=record.open or not all_seen or any(option.open for option in records),
        listed=all_seen and all(option.is_complete and option.rest is None for option in (record, *records)),
        keys=_joined_keys([record, *records]),
    )


def pieces(value: Value, site: Site, plain: bool = True) -> tuple[Literal | Interpolation, ...]:
    """What a value put into a text at ``site`` adds to it: its own parts where it is a text that is not changed."""
    if plain and isinstance(value, Text) and value.parts is not None:
        return value.parts
    return (Interpolation(value, site),)


def explained(value: Value, message: str) -> Value:
    """``value`` with a better reason where it is a number because of an annotation."""
    return _with_reason(value, lambda because: Because(message, because.site))


def passed_on(value: Value, message: str, site: Site) -> Value:
    """``value`` where a file that hands it on belongs to the evidence that it is a number."""

    def extend(because: Because) -> Because:
        is_here = because.site is None or because.site.module is site.module
        return because if is_here else Because(message, site, (because,))

    return _with_reason(value, extend)


def _with_reason(value: Value, reason: Callable[[Because], Because]) -> Value:
    """``value`` with another reason where it is a number."""
    if number(value) is None:
        return value

    def reasoned(option: Value) -> Value:
        if not isinstance(option, Number):
            return option
        because = reason(option.because)
        return option if because is option.because else replace(option, because=because)

    return over(value, reasoned)


def filled_unseen(value: Value) -> Value:
    """A container that what nobody sees may fill: an empty one holds what its annotation says."""

    def filled(option: Value) -> Value:
        is_empty = isinstance(option, (Record, ListOf)) and option.is_empty
        return replace(option, unfilled=False) if is_empty else option

    return over(value, filled)


def filled_elsewhere(value: Value) -> Value:
    """A container that other statements of its module fill: there may be anything in it beside what is written."""
    values: list[Value] = []
    for option in options(filled_unseen(value)):
        if isinstance(option, Record) and option.cls is None and option.rest is None:
            option = replace(option, open=True, listed=False)
        elif isinstance(option, ListOf) and option.rest is None:
            option = replace(option, rest=UNKNOWN)
        values.append(option)
    return join(*values)


def is_scalar(value: Value) -> bool:
    return all(isinstance(o, (Number, Text, Boolean)) or o is NONE for o in options(value))

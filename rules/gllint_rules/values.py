"""The small domain of the inference: what an expression may hold, and why we think so.

A rule fires on what is shown, never on :data:`UNKNOWN`. Containers keep the *site* of each element, the place
where it was put in, because that is where a finding about it belongs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gllint_rules.facts import Class, Function, Lambda, Module, Scope
    from gllint_rules.tools import Tool


class Site(NamedTuple):
    """An expression of a module."""

    module: Module
    at: int


@dataclass(frozen=True, slots=True, eq=False)
class Because:
    """One reason, and the reasons behind it."""

    message: str
    site: Site | None
    behind: tuple[Because, ...] = ()


class Value:
    """Base of all values."""

    __slots__ = ()


class _Singleton(Value):
    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


UNKNOWN = _Singleton("UNKNOWN")
# What a value in the middle of its own definition is worth: nothing, until the other assignments speak.
NEVER = _Singleton("NEVER")
NONE = _Singleton("NONE")


@dataclass(frozen=True, slots=True, eq=False)
class Boolean(Value):
    """A truth value, no number; ``literal`` where it is written out."""

    literal: bool | None = None


BOOL = Boolean()


@dataclass(frozen=True, slots=True, eq=False)
class Number(Value):
    """Definitely a number; ``real`` where it is known to be a float, which no sequence can be multiplied by."""

    because: Because
    real: bool = False
    literal: object = None


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A stretch of literal text. ``offsets`` maps its characters to those of the string at ``site``."""

    text: str
    site: Site
    offsets: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Filled:
    """A value formatted into a text."""

    value: Value
    site: Site


@dataclass(frozen=True, slots=True, eq=False)
class Text(Value):
    """A string; ``parts`` is ``None`` where its text is unknown. Bytes count as text of unknown content."""

    parts: tuple[Literal | Filled, ...] | None = None

    @property
    def literal(self) -> str | None:
        """The whole text where all of it is literal."""
        if self.parts is None:
            return None
        out = []
        for part in self.parts:
            if not isinstance(part, Literal):
                return None
            out.append(part.text)
        return "".join(out)


TEXT = Text()


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A value in a container, where it was put in, and the place of its key where that is written out."""

    value: Value
    site: Site
    key: Site | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Record(Value):
    """A mapping or an object with known fields.

    ``entries``: for each key all that may be stored there. ``sure``: keys that are always there. ``open``:
    there may be more keys. ``rest``: what unnamed values are (``dict[str, float]``). ``quantity``: a call to a
    class named ``Quantity``. ``cls``: the class of the project it is an instance of; ``typed`` where that is
    only how the dict is annotated.
    """

    entries: dict[str, tuple[Entry, ...]] = field(default_factory=dict)
    sure: frozenset[str] = frozenset()
    open: bool = False
    rest: Value | None = None
    site: Site | None = None
    quantity: bool = False
    cls: ClassOf | None = None

    def get(self, key: str) -> Value | None:
        """What is under ``key``; ``None`` where nothing is known of it."""
        found = self.entries.get(key)
        if found is None:
            return self.rest
        value = join(*(entry.value for entry in found))
        return value if key in self.sure else join(value, NONE)

    def store(self, key: str, *entries: Entry) -> Record:
        return Record(
            {**self.entries, key: entries},
            self.sure | {key},
            self.open,
            self.rest,
            self.site,
            self.quantity,
            self.cls,
        )


@dataclass(frozen=True, slots=True, eq=False)
class ListOf(Value):
    """A list, tuple, set or generator: known ``items`` in order, then any number of ``rest``.

    A ``pair`` is a tuple that nobody wrote: ``zip``, ``enumerate`` and ``.items()`` make it. A ``declared`` one is
    what an annotation says of a tuple, position by position.
    """

    items: tuple[Entry, ...] = ()
    rest: Value | None = None
    kind: str = "list"
    site: Site | None = None

    def element(self) -> Value:
        """What any element may be."""
        values = [entry.value for entry in self.items]
        if self.rest is not None:
            values.append(self.rest)
        return join(*values) if values else UNKNOWN


@dataclass(frozen=True, slots=True, eq=False)
class ClassOf(Value):
    """A class of the project."""

    module: Module
    cls: Class


@dataclass(frozen=True, slots=True, eq=False)
class Instance(Value):
    """An instance of a class of the project whose fields are looked up in the class.

    ``arguments`` are what stands for its type variables: ``Context[Building]``.
    """

    of: ClassOf
    arguments: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class FunctionOf(Value):
    """A function, method (with the class it is bound to) or lambda of the project."""

    module: Module
    function: Function | Lambda
    bound: ClassOf | None = None
    first: bool = False  # whether the first parameter is already given


@dataclass(frozen=True, slots=True, eq=False)
class ModuleOf(Value):
    """A module of the project."""

    module: Module


@dataclass(frozen=True, slots=True, eq=False)
class External(Value):
    """A name from outside the project (``numpy.mean``) or a builtin (``builtins.len``)."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class ExternalInstance(Value):
    """An instance of a class from outside the project."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Method(Value):
    """A method of a value of a known kind: ``text.format``, ``record.get``."""

    of: Value
    name: str
    site: Site


@dataclass(frozen=True, slots=True, eq=False)
class ToolValue(Value):
    """A tool object: what a T1 or T4 call makes, or a T3 decorator leaves behind."""

    tool: Tool


@dataclass(frozen=True, slots=True, eq=False)
class UnionOf(Value):
    """One of several, :data:`UNKNOWN` perhaps among them.

    ``conditional`` where a conditional expression chose: each of its arms is a value of its own.
    """

    options: tuple[Value, ...]
    conditional: bool = False


@dataclass(slots=True)
class Frame:
    """Where an expression is evaluated. ``env`` holds the flow's variables; without it the reading is static."""

    module: Module
    scope: Scope
    env: dict[str, Value] | None = None
    bound: ClassOf | None = None  # what ``self`` is

    def inner(self, scope: Scope, names: dict[str, Value]) -> Frame:
        return Frame(self.module, scope, {**(self.env or {}), **names}, self.bound)


MOST_OPTIONS = 16
MOST_PARTS = 400


def options(value: Value) -> tuple[Value, ...]:
    """The alternatives of a union; of anything else the value alone."""
    return value.options if isinstance(value, UnionOf) else (value,)


def join(*values: Value) -> Value:
    """What holds one of ``values``."""
    first = values[0] if values else NEVER
    if all(value is first for value in values):
        return first
    out: list[Value] = []
    for value in values:
        for option in options(value):
            _add(out, option)
    if not out:
        return NEVER
    if len(out) == 1:
        return out[0]
    if len(out) > MOST_OPTIONS:
        return UNKNOWN
    return UnionOf(tuple(out))


def _add(out: list[Value], new: Value) -> None:
    if new is NEVER:
        return
    for i, old in enumerate(out):
        if old is new:
            return
        match old, new:
            case Number(real=False), Number(real=True):
                return
            case Number(), Number():
                out[i] = new
                return
            case (Text(parts=None), Text(parts=None)) | (Boolean(), Boolean()):
                return
            case Text(parts=tuple() as a), Text(parts=tuple() as b) if _same_places(a, b):
                out[i] = new  # the same expression in a later round of a loop
                return
            case Record(site=Site() as a), Record(site=Site() as b) if a == b:
                out[i] = _merged(old, new)
                return
            case ListOf(site=Site() as a), ListOf(site=Site() as b) if a == b:
                rests = [v for v in (old.rest, new.rest) if v is not None]
                out[i] = replace(
                    old, items=_entries(old.items, new.items), rest=join(*rests) if rests else None
                )
                return
            case Instance(of=a, arguments=()), Instance(of=b, arguments=()) if a.cls is b.cls:
                return
            case ExternalInstance(name=a), ExternalInstance(name=b) if a == b:
                return
            case _:
                pass
    out.append(new)


def _same_places(a: tuple[Literal | Filled, ...], b: tuple[Literal | Filled, ...]) -> bool:
    return len(a) == len(b) > 0 and all(x.site == y.site for x, y in zip(a, b, strict=True))


def _merged(a: Record, b: Record) -> Record:
    entries = dict(a.entries)
    for key, found in b.entries.items():
        entries[key] = _entries(entries.get(key, ()), found)
    rests = [value for value in (a.rest, b.rest) if value is not None]
    return replace(
        a,
        entries=entries,
        sure=a.sure & b.sure,
        open=a.open or b.open,
        rest=join(*rests) if rests else None,
    )


def _entries(a: tuple[Entry, ...], b: tuple[Entry, ...]) -> tuple[Entry, ...]:
    seen = {entry.site: entry for entry in a}
    for entry in b:
        old = seen.get(entry.site)
        if old is None or old.value is entry.value:
            seen.setdefault(entry.site, entry)
        else:
            seen[entry.site] = replace(old, value=join(old.value, entry.value))
    return tuple(seen.values())


def number(value: Value) -> Number | None:
    """The number that ``value`` definitely is; when it may be ``None`` but is a number otherwise, that one."""
    if isinstance(value, Number):
        return value
    if isinstance(value, UnionOf):
        found = None
        for option in value.options:
            if isinstance(option, Number):
                found = option
            elif option is not NONE and option is not NEVER:
                return None
        return found
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


def moved(value: Value, site: Site) -> Value:
    """``value`` as if all of it had been built at ``site``: a helper of another file is reported at its call."""
    return _map_sites(value, lambda _: site)


def _map_sites(value: Value, change: Callable[[Site], Site]) -> Value:
    match value:
        case Record():
            return replace(
                value,
                entries={k: _map_entries(found, change) for k, found in value.entries.items()},
                site=change(value.site) if value.site is not None else None,
            )
        case ListOf():
            return replace(
                value,
                items=_map_entries(value.items, change),
                rest=_map_sites(value.rest, change) if value.rest is not None else None,
                site=change(value.site) if value.site is not None else None,
            )
        case UnionOf():
            return UnionOf(tuple(_map_sites(option, change) for option in value.options))
        case _:
            return value


def _map_entries(entries: Iterable[Entry], change: Callable[[Site], Site]) -> tuple[Entry, ...]:
    return tuple(
        Entry(
            _map_sites(entry.value, change),
            change(entry.site),
            change(entry.key) if entry.key is not None else None,
        )
        for entry in entries
    )


def spread(record: Record, value: Value, site: Site) -> Record:
    """``{**value}``, ``update(value)``, ``record | value``: what ``value`` holds comes on top, put in at ``site``."""
    for option in options(value):
        if isinstance(option, Record) and option.cls is None:
            sure = option.sure if not isinstance(value, UnionOf) else frozenset()
            entries = {**record.entries, **option.entries}
            if option.rest is not None:  # values without names of their own are put in here, all together
                entries[f"\0{site.at}"] = (Entry(Record(open=True, rest=option.rest), site),)
            record = replace(
                record, entries=entries, sure=record.sure | sure, open=record.open or option.open
            )
        else:
            record = replace(record, open=True)
    return record


def text_of(*pieces: tuple[Value, Site]) -> Text:
    """The text that the concatenated ``pieces`` make."""
    parts: list[Literal | Filled] = []
    for value, site in pieces:
        if isinstance(value, Text) and value.parts is not None:
            parts.extend(value.parts)
        else:
            parts.append(Filled(value, site))
    return Text(tuple(parts)) if len(parts) <= MOST_PARTS else TEXT


def explained(value: Value, message: str) -> Value:
    """``value`` with a better reason where it is a number because of an annotation."""
    if isinstance(value, Number):
        return replace(value, because=Because(message, value.because.site, ()))
    if isinstance(value, UnionOf) and number(value) is not None:
        return UnionOf(tuple(explained(option, message) for option in value.options))
    return value


def filled_elsewhere(value: Value) -> Value:
    """A container that other statements of its module fill: there may be anything in it beside what is written."""
    out: list[Value] = []
    for option in options(value):
        if isinstance(option, Record) and option.cls is None and option.rest is None:
            option = replace(option, open=True)
        elif isinstance(option, ListOf) and option.rest is None:
            option = replace(option, rest=UNKNOWN)
        out.append(option)
    return join(*out)


def has_gap(value: Value, depth: int = 0) -> bool:
    """Whether something in ``value`` is unknown that the arguments of a call might tell."""
    if value is UNKNOWN or depth > 6:
        return value is UNKNOWN
    match value:
        case UnionOf():
            return any(has_gap(option, depth + 1) for option in value.options)
        case Record():
            return any(
                has_gap(entry.value, depth + 1) for held in value.entries.values() for entry in held
            ) or (value.rest is not None and has_gap(value.rest, depth + 1))
        case ListOf():
            return any(has_gap(entry.value, depth + 1) for entry in value.items) or (
                value.rest is not None and has_gap(value.rest, depth + 1)
            )
        case _:
            return False


def reasoned_at(value: Value, site: Site) -> Value:
    return (
        replace(value, because=Because(value.because.message, site)) if isinstance(value, Number) else value
    )


def is_scalar(value: Value) -> bool:
    return all(isinstance(o, (Number, Text, Boolean)) or o is NONE for o in options(value))

"""What typeshed declares of the standard library, and what the packages of the environment in use declare.

In: a full name (``os.path.getsize``). Out: what it is declared as, or ``None``. The standard library's tables are
written by :mod:`~gllint_rules.stubs.typeshed` when gllint is installed; one is read when a name of its top-level module
is first asked for, a line of it when that name is. Any other package is looked up in the environment that :func:`use`
names. Nothing is imported. :mod:`~gllint_rules.stubs.declarations` defines the form; a *type* is a string or a list.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from gllint_rules.stubs.environment import Environment

FOLDER = Path(__file__).parent / "tables"
MOST_KEPT = 16_384  # answers of each kind
_MOST_NAMES = 12  # other names for one thing, one after the other

Type = Any


class Member(Struct, frozen=True, eq=False):
    """A name that a class declares, or an ancestor, ``owner``: ``kind`` as in the tables.

    In its ``type`` the type variables of a class are those of the one that was asked, as ``["^", name]``.
    """

    kind: str
    type: Any
    owner: str


class Declared(Struct, frozen=True, eq=False):
    """What a full name refers to: a ``class``, or as in the tables; ``inner`` is an attribute of another one."""

    kind: str
    name: str
    type: Any = None


@lru_cache(maxsize=MOST_KEPT)
def _table(root: str) -> dict[str, str]:
    """Read the table of a module of the standard library."""
    try:
        text = (FOLDER / f"{root}.txt").read_text("utf-8")
    except FileNotFoundError:
        if not (FOLDER / "ORIGIN").exists():  # written last: without it the tables are incomplete
            raise RuntimeError(
                "the tables of the standard library are missing: install gllint with pip"
            ) from None
        return {}
    lines = (line.split("\t", 2) for line in text.split("\n") if line)
    return {f"{owner}.{name}" if owner else name: content for owner, name, content in lines}


_packages: tuple[str, ...] = ()


def use(packages: tuple[str, ...]) -> None:
    """Look up what is not of the standard library in ``packages`` (see ``Settings.packages``) from now on."""
    global _packages
    if packages != _packages:
        _packages = packages
        for cache in (_line, find, _class, lineage, member, shape):
            cache.cache_clear()


def ran_out() -> bool:
    """Return whether more of the packages in use was asked for than is parsed."""
    return bool(_packages) and _environment(_packages).ran_out


@lru_cache(maxsize=4)
def _environment(packages: tuple[str, ...]) -> Environment:
    from gllint_rules.stubs.environment import Environment

    return Environment(packages[1:])


@lru_cache(maxsize=MOST_KEPT)
def _line(name: str) -> Any:
    """Return the declaration of a dotted name, or ``None``."""
    root = name.partition(".")[0]
    if not root.isidentifier():
        return None
    table = _table(root)
    if not table and _packages:
        return _environment(_packages).line(name)
    text = table.get(name)
    return json.loads(text) if text is not None else None


def knows(name: str) -> bool:
    """Return whether the tables describe the package that ``name`` is of."""
    return bool(_table(name.partition(".")[0]))


@lru_cache(maxsize=MOST_KEPT)
def find(name: str) -> Declared | None:
    """Return what a full name is declared as, whatever other names lead to it."""
    for _ in range(_MOST_NAMES):
        line = _line(name)
        if line is None:
            moved = _moved(name)
            if moved is None or moved == name:
                head, _, _ = name.rpartition(".")
                return Declared("inner", name) if head and find(head) is not None else None
            name = moved
        elif line[0] == "C":
            return Declared("class", name)
        elif line[0] != "i":
            return Declared(line[0], name, line[1])
        elif (other := _other(line)) == name:
            return None  # a module
        else:
            name = other
    return None


def _other(line: Any) -> str:
    """Return the full name that a line gives for another one."""
    return ".".join(part for part in line[1:] if part)


def _moved(name: str) -> str | None:
    """Another name for ``a.b.c`` where ``a.b`` is one for something else."""
    head, _, tail = name.rpartition(".")
    if not head:
        return None
    line = _line(head)
    if line is not None:
        return f"{_other(line)}.{tail}" if line[0] == "i" else None
    moved = _moved(head)
    return f"{moved}.{tail}" if moved is not None else None


def full(name: str) -> str:
    """Return the full name of a class as a type has it: without its module for classes of Python itself."""
    return name if "." in name else f"builtins.{name}"


@lru_cache(maxsize=MOST_KEPT)
def _class(name: str) -> dict[str, Any]:
    line = _line(name)
    return line[1] if line is not None and line[0] == "C" else {}


def is_class(name: str) -> bool:
    """Return whether ``name`` is that of a class of the tables."""
    line = _line(name)
    return line is not None and line[0] == "C"


def variables(name: str) -> list[str]:
    """Return the type variables of a class, in order."""
    names: list[str] = _class(name).get("v", [])
    return names


def fields(name: str) -> list[str]:
    """Return the fields of a named tuple, in order; none of another class."""
    for ancestor in lineage(name):
        names: list[str] | None = _class(ancestor).get("n")
        if names:
            return names
    return []


def wanted(name: str) -> list[str] | None:
    """Return what a protocol wants its instances to have; ``None`` of a class that is no protocol."""
    names: list[str] | None = _class(name).get("p")
    return names


@lru_cache(maxsize=MOST_KEPT)
def lineage(name: str) -> Mapping[str, Mapping[str, Type]]:
    """Return the class and its ancestors, each with what its type variables are in terms of the class's own.

    A base that the stubs do not name ends up as ``?``.
    """
    own: dict[str, Type] = {variable: ["^", variable] for variable in variables(name)}
    ancestors: dict[str, dict[str, Type]] = {}
    queue: list[tuple[str, dict[str, Type]]] = [(name, own)]
    while queue:
        current, substitution = queue.pop(0)
        if current in ancestors:
            continue
        ancestors[current] = substitution
        bases = []
        for base in _class(current).get("b", ()):
            called, arguments = (base[0], base[1:]) if isinstance(base, list) else (base, [])
            called = full(called) if called != "?" else called
            parts = [substituted(argument, substitution) for argument in arguments]
            if called in ("builtins.tuple", "builtins.tuple..."):
                called, parts = "builtins.tuple", [_one_of(parts)]
            unknown: dict[str, Type] = dict.fromkeys(variables(called), "?")
            bases.append((called, unknown | dict(zip(variables(called), parts, strict=False))))
        queue = bases + queue if len(bases) == 1 else queue + bases
    return ancestors


def _one_of(parts: list[Type]) -> Type:
    choices = [part for i, part in enumerate(parts) if part not in parts[:i]]
    return choices[0] if len(choices) == 1 else ["|", *choices]


def tuple_items(name: str) -> list[Type] | None:
    """Return the types of the items of a class that derives from a tuple of a known length."""
    for ancestor, substitution in lineage(name).items():
        for base in _class(ancestor).get("b", ()):
            if isinstance(base, list) and base[0] == "tuple":
                return [substituted(part, substitution) for part in base[1:]]
    return None


def substituted(form: Type, substitution: Mapping[str, Type]) -> Type:
    """Return a type with its variables replaced."""
    if not isinstance(form, list) or form[0] == "=":
        return form
    if form[0] == "~":
        return substitution.get(form[1], form)
    return [form[0], *(substituted(part, substitution) for part in form[1:])]


@lru_cache(maxsize=MOST_KEPT)
def member(name: str, attribute: str) -> Member | None:
    """Return what a class or its ancestors declare of an attribute."""
    for ancestor, substitution in lineage(name).items():
        line = _line(f"{ancestor}.{attribute}")
        if line is not None and line[0] != "C":
            if line[0] == "i":
                return None
            form = line[1]
            if substitution and line[0] == "a":
                form = substituted(form, substitution)
            elif substitution:
                form = [_signature(signature, substitution) for signature in form]
            return Member(line[0], form, ancestor)
    return None


def _signature(signature: list[Any], substitution: Mapping[str, Type]) -> list[Any]:
    params, *types = signature
    if params is not None:
        params = [[name, kind, substituted(form, substitution)] for name, kind, form in params]
    return [params, *(substituted(form, substitution) for form in types)]


def derives(name: str, *ancestors: str) -> bool:
    """Return whether a class is one of ``ancestors`` or derives from one."""
    return not lineage(name).keys().isdisjoint(ancestors)


_PLAIN = {
    "builtins.bool": "bool",
    "builtins.NoneType": "none",
    "types.NoneType": "none",
    "builtins.str": "text",
    "builtins.bytes": "bytes",
    "builtins.bytearray": "bytes",
    "builtins.memoryview": "bytes",
}
_NUMBERS = (
    "builtins.int",
    "builtins.float",
    "builtins.complex",
    "decimal.Decimal",
    "_decimal.Decimal",
    "fractions.Fraction",
    "numbers.Number",
    "numpy.number",
)
AWAITABLES = ("typing.Awaitable", "typing.Coroutine", "types.CoroutineType", "typing.AwaitableGenerator")
_ITERATED = frozenset(
    f"typing.{name}"
    for name in [
        "Iterable", "Iterator", "Generator", "Collection", "Container", "Reversible", "AsyncIterable",
        "AsyncIterator", "AsyncGenerator", "KeysView", "ValuesView", "ItemsView",
    ]
)  # fmt: skip
_ITERATORS = frozenset(f"builtins.{name}" for name in ("enumerate", "zip", "map", "filter", "reversed"))


@lru_cache(maxsize=MOST_KEPT)
def shape(name: str) -> str:
    """Return what the instances of a class are: number, text, bytes, bool, none, mapping, list, tuple, awaitable or
    object.
    """
    for ancestor in lineage(name):
        if ancestor in _PLAIN:
            return _PLAIN[ancestor]
        if ancestor in _NUMBERS:
            return "number"
    if name in AWAITABLES:
        return "awaitable"
    if derives(name, "builtins.tuple", "typing.NamedTuple"):
        return "tuple"
    if derives(name, "typing.Mapping"):
        return "mapping"
    if name in _ITERATED or name in _ITERATORS or name.startswith(("itertools.", "_collections_abc.dict_")):
        return "list"
    if derives(name, "typing.Sequence", "typing.AbstractSet"):
        return "list"
    return "object"


def is_enum(name: str) -> bool:
    """Return whether a class is an enumeration."""
    return derives(name, "enum.Enum")


def is_protocol(name: str) -> bool:
    """Return whether anything may be an instance of it that has the methods that it wants."""
    return (
        wanted(name) is not None
        or name.startswith(("typing.", "contextlib.Abstract"))
        or name == "os.PathLike"
    )

"""The declarations of the standard library, by typeshed, and of the packages of the environment in use.

In: a full name (``os.path.getsize``). Out: its declaration, or ``None``. The standard library's tables are written by
:mod:`~gllint_rules.stubs.typeshed` when gllint is installed. The table of a top-level module is read at the first
look-up of a name in it, and a line is decoded at the first look-up of its name. Other packages are looked up in the
environment that :func:`use` sets. Nothing is imported. :mod:`~gllint_rules.stubs.declarations` defines the form of a
line; a *type* is a string or a list.
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
_MOST_NAMES = 12  # steps from a name to its definition through imports

Type = Any


class Member(Struct, frozen=True, eq=False):
    """An attribute that a class or its ancestor ``owner`` declares; ``kind`` as in the tables.

    The type variables in its ``type`` are those of the class that was looked up, as ``["^", name]``.
    """

    kind: str
    type: Any
    owner: str


class Declared(Struct, frozen=True, eq=False):
    """The definition of a full name; ``kind`` is ``class``, ``inner`` (an attribute: ``str.count``) or as in tables."""

    kind: str
    name: str
    type: Any = None


@lru_cache(maxsize=MOST_KEPT)
def _table(root: str) -> dict[str, str]:
    """Return the table of a top-level module, empty for other packages: ``{"os.getcwd": '["f", …]'}``."""
    try:
        text = (FOLDER / f"{root}.txt").read_text("utf-8")
    except FileNotFoundError:
        # The file is written last: without it the tables are incomplete.
        if not (FOLDER / "ORIGIN").exists():
            raise RuntimeError(
                "the tables of the standard library are missing: install gllint with pip"
            ) from None
        return {}
    lines = (line.split("\t", 2) for line in text.split("\n") if line)
    return {f"{owner}.{name}" if owner else name: content for owner, name, content in lines}


_packages: tuple[str, ...] = ()


def use(packages: tuple[str, ...]) -> None:
    """Set the ``packages`` in which names outside the standard library are looked up; see ``Settings.packages``."""
    global _packages
    if packages != _packages:
        _packages = packages
        for cache in (_line, find, _class, lineage, member, shape):
            cache.cache_clear()


def ran_out() -> bool:
    """Return whether the limit of parsed modules was reached, so that some declarations are not known."""
    return bool(_packages) and _environment(_packages).ran_out


@lru_cache(maxsize=4)
def _environment(packages: tuple[str, ...]) -> Environment:
    from gllint_rules.stubs.environment import Environment

    return Environment(packages[1:])


@lru_cache(maxsize=MOST_KEPT)
def _line(name: str) -> Any:
    """Return the declaration of a full name: ``math.pi`` → ``["a", "float"]``; ``None`` if there is none."""
    root = name.partition(".")[0]
    if not root.isidentifier():
        return None
    table = _table(root)
    if not table and _packages:
        return _environment(_packages).line(name)
    text = table.get(name)
    return json.loads(text) if text is not None else None


def knows(name: str) -> bool:
    """Return whether the tables of the standard library describe the package of ``name``."""
    return bool(_table(name.partition(".")[0]))


@lru_cache(maxsize=MOST_KEPT)
def find(name: str) -> Declared | None:
    """Return the definition of a full name, through imports: ``os.path.join`` → the function ``posixpath.join``.

    ``None`` for a module, and for a name that is not declared.
    """
    for _ in range(_MOST_NAMES):
        line = _line(name)
        if line is None:
            target = _target_of_parent(name)
            if target is None or target == name:
                head, _, _ = name.rpartition(".")
                return Declared("inner", name) if head and find(head) is not None else None
        elif line[0] == "C":
            return Declared("class", name)
        elif line[0] != "i":
            return Declared(line[0], name, line[1])
        else:
            target = _target(line)
            if target == name:  # a module
                return None
        name = target
    return None


def _target(line: Any) -> str:
    """Return the full name that an import leads to: ``["i", "posixpath", "join"]`` → ``posixpath.join``."""
    return ".".join(part for part in line[1:] if part)


def _target_of_parent(name: str) -> str | None:
    """Return the name through an import of its parent: ``os.path.join`` → ``posixpath.join``, as ``os.path`` is one.

    ``None`` if no parent is imported.
    """
    head, _, tail = name.rpartition(".")
    if not head:
        return None
    line = _line(head)
    if line is not None:
        return f"{_target(line)}.{tail}" if line[0] == "i" else None
    target = _target_of_parent(head)
    return f"{target}.{tail}" if target is not None else None


def full(name: str) -> str:
    """Return the full name of a class in a type: ``int`` → ``builtins.int``, ``datetime.date`` → the same."""
    return name if "." in name else f"builtins.{name}"


@lru_cache(maxsize=MOST_KEPT)
def _class(name: str) -> dict[str, Any]:
    """Return the declaration of a class: ``{"b": ["typing.Sized"], "v": ["_T"]}``; empty for other names."""
    line = _line(name)
    return line[1] if line is not None and line[0] == "C" else {}


def is_class(name: str) -> bool:
    """Return whether ``name`` is declared as a class."""
    line = _line(name)
    return line is not None and line[0] == "C"


def variables(name: str) -> list[str]:
    """Return the type variables of a class, in order: ``builtins.dict`` → ``["_KT", "_VT"]``."""
    names: list[str] = _class(name).get("v", [])
    return names


def fields(name: str) -> list[str]:
    """Return the fields of a named tuple, in order; an empty list for other classes."""
    for ancestor in lineage(name):
        names: list[str] | None = _class(ancestor).get("n")
        if names:
            return names
    return []


def wanted(name: str) -> list[str] | None:
    """Return the members of a protocol: ``typing.SupportsInt`` → ``["__int__"]``; ``None`` for other classes."""
    names: list[str] | None = _class(name).get("p")
    return names


@lru_cache(maxsize=MOST_KEPT)
def lineage(name: str) -> Mapping[str, Mapping[str, Type]]:
    """Return the class and its ancestors, each with its type variables in terms of those of the class.

    ``collections.OrderedDict`` → ``{…, "typing.Iterable": {"_T_co": ["^", "_KT"]}, …}``. A base that the stubs do not
    describe is ``?``.
    """
    own: dict[str, Type] = {variable: ["^", variable] for variable in variables(name)}
    ancestors: dict[str, dict[str, Type]] = {}
    queue: list[tuple[str, dict[str, Type]]] = [(name, own)]
    while queue:
        current, substitution = queue.pop(0)
        if current in ancestors:
            continue
        ancestors[current] = substitution
        bases = [_base(form, substitution) for form in _class(current).get("b", ())]
        # Roughly the order of method resolution: an only base before the other branches.
        queue = bases + queue if len(bases) == 1 else queue + bases
    return ancestors


def _base(form: Type, substitution: Mapping[str, Type]) -> tuple[str, dict[str, Type]]:
    """Return the full name of a base and its type arguments: ``["dict", "str", "int"]`` → ``{"_KT": "str", …}``.

    ``substitution`` has the type variables of the class that derives from it.
    """
    name, arguments = (form[0], form[1:]) if isinstance(form, list) else (form, [])
    name = full(name) if name != "?" else name
    parts = [substituted(argument, substitution) for argument in arguments]
    if name in ("builtins.tuple", "builtins.tuple..."):  # has one type variable for all items
        name, parts = "builtins.tuple", [_one_of(parts)]
    unknown: dict[str, Type] = dict.fromkeys(variables(name), "?")
    return name, unknown | dict(zip(variables(name), parts, strict=False))


def _one_of(parts: list[Type]) -> Type:
    """Return the union of types: ``["int", "str", "int"]`` → ``["|", "int", "str"]``."""
    choices = [part for i, part in enumerate(parts) if part not in parts[:i]]
    return choices[0] if len(choices) == 1 else ["|", *choices]


def tuple_items(name: str) -> list[Type] | None:
    """Return the types of the items of a tuple class: ``class P(tuple[int, str])`` → ``["int", "str"]``.

    ``None`` if its length is not known.
    """
    for ancestor, substitution in lineage(name).items():
        for base in _class(ancestor).get("b", ()):
            if isinstance(base, list) and base[0] == "tuple":
                return [substituted(part, substitution) for part in base[1:]]
    return None


def substituted(form: Type, substitution: Mapping[str, Type]) -> Type:
    """Return a type with its variables replaced: ``["list", ["~", "T"]]``, ``{"T": "int"}`` → ``["list", "int"]``."""
    if not isinstance(form, list) or form[0] == "=":
        return form
    if form[0] == "~":
        return substitution.get(form[1], form)
    return [form[0], *(substituted(part, substitution) for part in form[1:])]


@lru_cache(maxsize=MOST_KEPT)
def member(name: str, attribute: str) -> Member | None:
    """Return the declaration of an attribute by a class or its ancestors: ``datetime.datetime``, ``year`` → of date.

    ``None`` if there is none, or if it is an import or a class.
    """
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
    """Return a signature with the type variables of its class replaced."""
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
    """Return the kind of a class's instances: ``pathlib.Path`` → ``object``, ``collections.deque`` → ``list``.

    Also number, text, bytes, bool, none, mapping, tuple and awaitable.
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
    """Return whether a class is a protocol: any object with its methods counts as an instance."""
    return (
        wanted(name) is not None
        or name.startswith(("typing.", "contextlib.Abstract"))
        or name == "os.PathLike"
    )

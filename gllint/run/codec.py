"""Records as bytes and back, without a pickle: what is read can build our own records and nothing else.

The graph is laid out in columns, one for each field of each class, so that json and ``map`` do nearly all the
work. Every value has a number: that of an atom, a record or a container, times three, plus which of them it is. No
depth is too much for it, and a record may contain itself.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from itertools import repeat
from operator import attrgetter
from types import EllipsisType
from typing import Any

# The modules whose records may be kept, and the records: every dataclass and named tuple that is defined there.
_MODULES = (
    "gllint_rules.finding", "gllint.run.results",
)  # fmt: skip
_ATOM, _RECORD, _CONTAINER, _KINDS = 0, 1, 2, 3
_RAW = ":int"  # behind the name of a field that holds whole numbers, as most do: they are kept as they are
_CONTAINERS: dict[str, Callable[[Any], Any]] = {
    "tuple": tuple, "list": list, "set": set, "frozenset": frozenset,
}  # fmt: skip
_LONG = 1 << 64
_AS_THEY_ARE = "alike"  # a long list of texts or whole numbers
_MANY = 16
_ALIKE = ({int}, {str})


def encode(root: object) -> bytes:
    """Return a value of plain containers, plain values and our own records. Raises ``TypeError`` for another."""
    return _Encoder().encode(root)


def decode(data: bytes) -> Any:
    """Return the value of :func:`encode`. Raises an error of some kind where the bytes are not its."""
    document = json.loads(data)
    atoms = [_atom(value) if isinstance(value, list | dict) else value for value in document["atoms"]]
    heap: dict[int, Any] = dict(zip(range(_ATOM, len(atoms) * _KINDS, _KINDS), atoms, strict=False))
    filled = []
    for name, numbers, columns in document["records"]:
        cls, names = _class(name)
        made: list[Any] = list(map(object.__new__, repeat(cls, len(numbers))))
        heap.update(zip(numbers, made, strict=True))
        filled.append((made, names, columns))
    number = _CONTAINER
    for kind, *members in document["containers"]:
        values = map(heap.__getitem__, members)
        if kind == _AS_THEY_ARE:
            heap[number] = _alike(members)
        elif kind == "dict":
            heap[number] = dict(zip(values, values, strict=True))
        elif kind in _CONTAINERS:
            heap[number] = _CONTAINERS[kind](values)
        else:
            heap[number] = _class(kind)[0](*values)
        number += _KINDS
    for made, names, columns in filled:
        for field, column in zip(names, columns, strict=True):
            if len(column) != len(made):
                raise ValueError("a column of another length")
            held = _whole(column) if field.endswith(_RAW) else map(heap.__getitem__, column)
            _exhaust(map(object.__setattr__, made, repeat(field.removesuffix(_RAW)), held))
    return heap[document["root"]]


class _Encoder:
    def __init__(self) -> None:
        self._atoms: list[object] = [None]
        self._atom_numbers: dict[object, int] = {}
        # By identity, which holds while the graph is walked: two equal records stay two. No number is 0.
        self._numbers: dict[int, int] = {}
        self._records: dict[type, tuple[list[int], list[list[int]]]] = {}
        self._pending: dict[type, list[Any]] = {}
        self._count = 0
        self._containers: list[list[Any]] = []

    def encode(self, root: object) -> bytes:
        (number,) = self._numbered([root])
        while self._pending:
            cls, batch = self._pending.popitem()
            for field, column in zip(_class(_name(cls))[1], self._records[cls][1], strict=True):
                values = list(map(attrgetter(field.removesuffix(_RAW)), batch))
                column += values if field.endswith(_RAW) else self._numbered(values)
        records = [(_name(cls), *rows) for cls, rows in self._records.items()]
        document = {"atoms": self._atoms, "records": records, "containers": self._containers, "root": number}
        return json.dumps(document, separators=(",", ":"), check_circular=False).encode("ascii")

    def _numbered(self, values: Iterable[Any]) -> list[int]:
        known, find = self._numbers.get, self._number
        return [known(id(value)) or find(value) for value in values]

    def _number(self, value: Any) -> int:
        kind = type(value)
        if kind is str:
            number = self._atom_number(value, value)
        elif kind in self._records:
            number = self._record_number(value, kind)
        elif kind is tuple or kind is list:
            alike = kind is list and len(value) >= _MANY and set(map(type, value)) in _ALIKE
            number = (
                self._container(_AS_THEY_ARE, value)
                if alike
                else self._container(kind.__name__, self._numbered(value))
            )
        elif kind is dict:
            number = self._container("dict", self._numbered(part for item in value.items() for part in item))
        elif kind is set or kind is frozenset:
            number = self._container(kind.__name__, self._numbered(value))
        elif isinstance(value, tuple):
            number = self._container(_name(kind), self._numbered(value))
        elif hasattr(kind, "__dataclass_fields__"):
            self._records[kind] = ([], [[] for _ in _class(_name(kind))[1]])
            number = self._record_number(value, kind)
        else:
            # Of numbers that are equal, 1 is not True, and 0.0 is not -0.0.
            number = self._atom_number((kind, repr(value) if kind is float else value), value)
        self._numbers[id(value)] = number
        return number

    def _container(self, kind: str, members: Iterable[Any]) -> int:
        number = len(self._containers) * _KINDS + _CONTAINER
        self._containers.append([kind, *members])
        return number

    def _atom_number(self, key: object, value: object) -> int:
        number = self._atom_numbers.get(key)
        if number is None:
            number = self._atom_numbers[key] = len(self._atoms) * _KINDS + _ATOM
            self._atoms.append(_plain(value))
        return number

    def _record_number(self, value: object, kind: type) -> int:
        number = self._count * _KINDS + _RECORD
        self._count += 1
        self._records[kind][0].append(number)
        self._pending.setdefault(kind, []).append(value)
        return number


def _plain(value: object) -> object:
    match value:
        case bytes():
            return ["bytes", value.decode("latin-1")]
        case int() if abs(value) >= _LONG:  # json would refuse its digits
            return ["int", hex(value)]
        case complex():
            return ["complex", value.real, value.imag]
        case EllipsisType():
            return ["..."]
        case str() | int() | float() | None:
            return value
    raise TypeError(f"{type(value)} does not belong into the cache")


def _atom(value: object) -> object:
    match value:
        case ["bytes", str(text)]:
            return text.encode("latin-1")
        case ["int", str(digits)]:
            return int(digits, 16)
        case ["complex", float(real), float(imaginary)]:
            return complex(real, imaginary)
        case ["..."]:
            return ...
    raise ValueError("no atom")


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


@cache
def _classes() -> Mapping[str, tuple[type, tuple[str, ...]]]:
    found: dict[str, tuple[type, tuple[str, ...]]] = {}
    for module in _MODULES:
        for cls in vars(import_module(module)).values():
            if not isinstance(cls, type) or cls.__module__ != module:
                continue
            if is_dataclass(cls):
                names = (field.name + (_RAW if field.type == "int" else "") for field in fields(cls))
                found[_name(cls)] = cls, tuple(names)
            elif issubclass(cls, tuple):
                found[_name(cls)] = cls, ()
    return found


def _class(name: str) -> tuple[type, tuple[str, ...]]:
    try:
        return _classes()[name]
    except KeyError:
        raise TypeError(f"{name} does not belong into the cache") from None


def _alike(values: list[Any]) -> list[Any]:
    if set(map(type, values)) not in _ALIKE:
        raise ValueError("no list of texts or of whole numbers")
    return values


def _whole(column: list[Any]) -> Iterable[Any]:
    if not set(map(type, column)) <= {int}:
        raise ValueError("no whole numbers")
    return column


def _exhaust(values: Iterable[object]) -> None:
    deque(values, maxlen=0)

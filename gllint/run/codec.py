"""Records as bytes and back, without a pickle: what is read can build our own records and nothing else.

An entry is JSON. Texts, numbers, booleans and ``None`` stand as they are; whatever else is an array that begins with
what it is: a container, bytes, or a record and its fields. A record whose fields are not what it declares is refused.
"""

from __future__ import annotations

import json
from itertools import chain
from typing import Any

from gllint.run.results import Dependencies, Result
from gllint_rules import finding

RECORDS: dict[str, type[Any]] = {
    name: record
    for name, record in (*vars(finding).items(), ("Result", Result), ("Dependencies", Dependencies))
    if hasattr(record, "_fields")
}
_CONTAINERS: dict[str, type[Any]] = {"tuple": tuple, "list": list, "set": set, "frozenset": frozenset}
_PLAIN = {"int": int, "str": str, "bool": bool, "bytes": bytes, "Applicability": str}
_ALIKE = "alike"  # a list of texts or of whole numbers, as it is
_LONG = 1 << 64  # json refuses the digits of larger ones at some length


def encode(root: object) -> bytes:
    """Return a value of plain containers, plain values and our own records. Raises ``TypeError`` for another."""
    return json.dumps(_plain(root), separators=(",", ":"), check_circular=False).encode("ascii")


def decode(data: bytes) -> Any:
    """Return the value of :func:`encode`. Raises an error of some kind where the bytes are not its."""
    return _value(json.loads(data))


def _plain(value: Any) -> Any:
    kind = type(value)
    if kind in (str, bool, float) or value is None:
        return value
    if kind is int:
        return value if abs(value) < _LONG else ["int", hex(value)]
    if kind is bytes:
        return ["bytes", value.decode("latin-1")]
    if kind is dict:
        return ["dict", *map(_plain, chain.from_iterable(value.items()))]
    if kind is list and set(map(type, value)) in ({str}, {int}) and max(map(_size, value)) < _LONG:
        return [_ALIKE, *value]
    if _CONTAINERS.get(kind.__name__) is kind or RECORDS.get(kind.__name__) is kind:
        return [kind.__name__, *map(_plain, value)]
    raise TypeError(f"{kind} does not belong into the cache")


def _size(value: str | int) -> int:
    return abs(value) if isinstance(value, int) else 0


def _value(value: Any) -> Any:
    if not isinstance(value, list):
        if isinstance(value, dict):
            raise ValueError("no value of ours")
        return value
    kind, *members = value
    if kind == _ALIKE:
        if set(map(type, members)) not in ({str}, {int}):
            raise ValueError("no list of texts or of whole numbers")
        return members
    if kind == "bytes":
        return members[0].encode("latin-1")
    if kind == "int":
        return int(members[0], 16)
    values = [_value(member) for member in members]
    if kind == "dict":
        return dict(zip(values[::2], values[1::2], strict=True))
    if kind in _CONTAINERS:
        return _CONTAINERS[kind](values)
    record = RECORDS[kind]
    declared = record.__annotations__.values()  # forward references: the modules postpone theirs
    if not all(
        _is(declaration.__forward_arg__, held) for declaration, held in zip(declared, values, strict=True)
    ):
        raise ValueError(f"no {kind}")
    return record(*values)


def _is(declared: str, value: object) -> bool:
    """Say whether a value is what a field of a record is declared to hold."""
    if declared.endswith(" | None"):
        return value is None or _is(declared.removesuffix(" | None"), value)
    outer, _, inner = declared.removesuffix("]").partition("[")
    if outer == "tuple":
        each = inner.removesuffix(", ...")
        return type(value) is tuple and all(_is(each, member) for member in value)
    if outer == "frozenset":
        return type(value) is frozenset and all(_is(inner, member) for member in value)
    if outer == "dict":
        key, each = inner.split(", ", 1)
        return type(value) is dict and all(_is(key, k) and _is(each, member) for k, member in value.items())
    return type(value) is (_PLAIN.get(declared) or RECORDS[declared])

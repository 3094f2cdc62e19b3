"""Records as bytes and back, without a pickle: what is read can build our own records and nothing else.

An entry is JSON. Texts, numbers, booleans and ``None`` stand as they are; whatever else is an array that begins with
what it is: a container, bytes, or a record and its fields. A record whose fields are not what it declares is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from itertools import chain
from typing import Any, TypeAlias

from gllint.run.results import Dependencies, Evidence, Result
from gllint_rules import finding

RECORDS: dict[str, type[Any]] = {
    name: record
    for name, record in (
        *vars(finding).items(),
        ("Result", Result),
        ("Dependencies", Dependencies),
        ("Evidence", Evidence),
    )
    if hasattr(record, "_fields")
}
_CONTAINERS: dict[str, type[Any]] = {"tuple": tuple, "list": list, "set": set, "frozenset": frozenset}
_PLAIN = {"int": int, "str": str, "bool": bool, "bytes": bytes, "Applicability": str}
_ALIKE = "alike"  # a list of texts or of whole numbers, as it is
_APART = re.compile(r", (?![^\[]*\])")  # a comma that is in no brackets
_LONG = 1 << 64  # json refuses the digits of larger ones at some length


_Check: TypeAlias = Callable[[Any], bool]


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
    record, checks = _fields_of(kind)
    if len(checks) != len(values) or not all(check(held) for check, held in zip(checks, values)):  # noqa: B905
        raise ValueError(f"no {kind}")
    return record(*values)


@cache
def _fields_of(kind: str) -> tuple[type[Any], tuple[_Check, ...]]:
    """The record of that name, and for each of its fields what says whether a value is one of its declaration."""
    record = RECORDS[kind]
    # Texts or forward references: the modules postpone theirs.
    declared = (getattr(each, "__forward_arg__", each) for each in record.__annotations__.values())
    return record, tuple(map(_check, declared))


def is_declared(declared: str, value: object) -> bool:
    """Say whether ``value`` is what an annotation declares: of plain values, containers and our records."""
    try:
        return _check(declared)(value)
    except KeyError:
        return False


@cache
def _check(declared: str) -> _Check:
    """What says whether a value is what a field of a record is declared to hold."""
    if declared.endswith(" | None"):
        inner = _check(declared.removesuffix(" | None"))
        return lambda value: value is None or inner(value)
    outer, _, within = declared.removesuffix("]").partition("[")
    if outer == "tuple" and not within.endswith(", ..."):
        members = [_check(member) for member in _APART.split(within)]
        return lambda value: (
            type(value) is tuple
            and len(value) == len(members)
            and all(check(member) for check, member in zip(members, value, strict=True))
        )
    if outer == "tuple":
        each = _check(within.removesuffix(", ..."))
        return lambda value: type(value) is tuple and all(map(each, value))
    if outer == "frozenset":
        each = _check(within)
        return lambda value: type(value) is frozenset and all(map(each, value))
    if outer == "dict":
        key, member = map(_check, within.split(", ", 1))
        return lambda value: type(value) is dict and all(map(key, value)) and all(map(member, value.values()))
    kind = _PLAIN.get(declared) or RECORDS[declared]
    return lambda value: type(value) is kind

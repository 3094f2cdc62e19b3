"""Records as bytes and back, without a pickle: what is read can build our own records and nothing else.

An entry is JSON: a record is the array of its fields, bytes are text. Whoever reads one says what it holds, in the
words of an annotation; a value that is not what is declared is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

from gllint.run import results
from gllint_rules import finding

RECORDS: dict[str, type[Any]] = {
    name: record
    for name, record in (*vars(finding).items(), *vars(results).items())
    if hasattr(record, "_fields")
}
_PLAIN: dict[str, type[Any]] = {"int": int, "str": str, "bool": bool, "Applicability": str, "ToolResult": str}
_Make: TypeAlias = Callable[[Any], Any]


def encode(value: object) -> bytes:
    """Return a value of plain values, our own records, tuples, frozen sets and dicts by text. Raises ``TypeError``."""
    return json.dumps(value, separators=(",", ":"), check_circular=False, default=_plain).encode("ascii")


def decode(declared: str, data: bytes) -> Any:
    """Return the value of :func:`encode` as it was declared. Raises an error of some kind where it is another."""
    return from_json(declared, json.loads(data))


def from_json(declared: str, plain: Any) -> Any:
    """Return what ``plain``, which came from JSON, is declared to be. Raises an error of some kind where it is not."""
    return _maker(declared)(plain)


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, frozenset):
        return sorted(value)
    raise TypeError(f"{type(value)} does not belong into the cache")


@cache
def _maker(declared: str) -> _Make:
    """What makes of a plain value the one that an annotation declares."""
    if declared == "Any":
        return lambda value: value
    if declared.endswith(" | None"):
        inner = _maker(declared.removesuffix(" | None"))
        return lambda value: None if value is None else inner(value)
    outer, _, arguments = declared.removesuffix("]").partition("[")
    if outer in ("tuple", "frozenset"):
        kind = tuple if outer == "tuple" else frozenset
        if outer == "frozenset" or arguments.endswith(", ..."):
            make_member = _maker(arguments.removesuffix(", ..."))
            return lambda value: kind(map(make_member, _listed(value)))
        return _record(tuple, [_maker(member) for member in _apart(arguments)])
    if outer == "dict":
        make_value = _maker(arguments.removeprefix("str, "))
        return lambda value: {key: make_value(member) for key, member in value.items()}
    if declared == "bytes":
        return lambda value: value.encode("latin-1")
    if declared == "None" or declared in _PLAIN:
        plain = _PLAIN.get(declared, type(None))

        def check(value: Any) -> Any:
            if type(value) is not plain:
                raise ValueError(f"no {declared}")
            return value

        return check
    record = RECORDS[declared]
    # Texts or forward references: the modules postpone theirs.
    fields = (
        getattr(annotation, "__forward_arg__", annotation) for annotation in record.__annotations__.values()
    )
    return _record(record._make, [_maker(field) for field in fields])


def _apart(declared: str) -> list[str]:
    """Take a list of annotations apart at the commas that are in no brackets."""
    parts = [""]
    for word in declared.split(", "):
        if parts[-1].count("[") == parts[-1].count("]"):
            parts.append(word)
        else:
            parts[-1] += f", {word}"
    return parts[1:]


def _record(make: Callable[[Any], Any], fields: list[_Make]) -> _Make:
    def record(value: Any) -> Any:
        if len(_listed(value)) != len(fields):
            raise ValueError("not as many fields")
        return make([field(member) for field, member in zip(fields, value)])  # noqa: B905  (they are as many)

    return record


def _listed(value: Any) -> list[Any]:
    if type(value) is not list:
        raise ValueError("no array")
    return value

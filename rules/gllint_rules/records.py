"""Records that are compared by identity and may be changed: as dataclasses with slots, but made in a fifth of the time.

A run over one file makes forty such classes, each of which :mod:`dataclasses` would look at twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, dataclass_transform

_T = TypeVar("_T")


class _Fresh(NamedTuple):
    make: Callable[[], object]


def fresh(*, default_factory: Callable[[], _T]) -> _T:
    """The default of a field that each record gets a new one of."""
    return _Fresh(default_factory)  # type: ignore[return-value]


@dataclass_transform(eq_default=False, field_specifiers=(fresh,))
class _Made(type):
    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
        fields = tuple(body.get("__annotations__", ()))
        known: dict[str, Any] = {}  # what the text of `__init__` names
        parameters, lines = ["self"], ["pass"]
        for field in fields:
            value = field
            if field in body:
                default = known[f"_{field}"] = body.pop(field)
                value = (
                    f"_{field}.make() if {field} is _{field} else {field}"
                    if type(default) is _Fresh
                    else field
                )
            parameters.append(f"{field}=_{field}" if f"_{field}" in known else field)
            lines.append(f"self.{field} = {value}")
        if fields:
            exec(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(lines), known)
            body["__init__"] = known["__init__"]
        body |= {"__slots__": fields, "__match_args__": fields}
        return super().__new__(cls, name, bases, body)


class Record(metaclass=_Made):
    """A record with the fields that its class annotates."""

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in type(self).__annotations__)
        return f"{type(self).__name__}({fields})"

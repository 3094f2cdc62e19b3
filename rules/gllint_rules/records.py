"""Records that are compared by identity: as dataclasses with slots, but made in a fifth of the time.

A run over one file makes eighty such classes, each of which :mod:`dataclasses` would look at twice. Those that are
``frozen`` type checkers keep from being changed: at execution that would be paid for with each record.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeVar, dataclass_transform

_T = TypeVar("_T")


class _Fresh(NamedTuple):
    make: Callable[[], object]


def fresh(*, default_factory: Callable[[], _T]) -> _T:
    """The default of a field that each record gets a new one of."""
    return _Fresh(default_factory)  # type: ignore[return-value]


class _Derived(NamedTuple):
    pass


def derived(*, init: Literal[False] = False) -> Any:
    """A field that nobody gives: ``__post_init__`` sets it."""
    return _Derived()


@dataclass_transform(eq_default=False, field_specifiers=(fresh, derived))
class _RecordType(type):
    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any], frozen: bool = False) -> type:
        annotations = body.get("__annotations__", {})
        init_only = tuple(field for field, kind in annotations.items() if kind.startswith("InitVar["))
        fields = tuple(field for field in annotations if field not in init_only)
        init_fields = tuple(field for field in fields if type(body.get(field)) is not _Derived)
        namespace: dict[str, Any] = {}  # what the text of `__init__` names
        parameters, lines = ["self"], ["pass"]
        for field in (*init_fields, *init_only):
            value = field
            if field in body:
                default = namespace[f"_{field}"] = body.pop(field)
                value = (
                    f"_{field}.make() if {field} is _{field} else {field}"
                    if type(default) is _Fresh
                    else field
                )
            parameters.append(f"{field}=_{field}" if f"_{field}" in namespace else field)
            if field not in init_only:
                lines.append(f"self.{field} = {value}")
        for field in set(fields).difference(init_fields):
            del body[field]
        if "__post_init__" in body:
            lines.append(f"self.__post_init__({', '.join(init_only)})")
        if init_fields:
            exec(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(lines), namespace)
            body["__init__"] = namespace["__init__"]
        body |= {"__slots__": fields, "__match_args__": init_fields}
        return super().__new__(cls, name, bases, body)


class Record(metaclass=_RecordType):
    """A record with the fields that its class annotates."""

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in type(self).__annotations__)
        return f"{type(self).__name__}({fields})"


_R = TypeVar("_R", bound=Record)


def replace(record: _R, **changes: Any) -> _R:
    """A record like another one, but for some fields."""
    fields: tuple[str, ...] = getattr(record, "__match_args__")  # noqa: B009  (no field, for a type checker)
    return type(record)(**{field: getattr(record, field) for field in fields} | changes)

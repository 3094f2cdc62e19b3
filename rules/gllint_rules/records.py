"""Records that are compared by identity: as dataclasses with slots, but made in a fifth of the time.

A run over one file makes eighty such classes, each of which :mod:`dataclasses` would look at twice. Those that are
``frozen`` type checkers keep from being changed: at execution that would be paid for with each record.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar, dataclass_transform

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


class _Parameter(NamedTuple):
    """A parameter of ``__init__``, and whether a field keeps it."""

    default: object
    is_field: bool


_REQUIRED = object()


@dataclass_transform(eq_default=False, field_specifiers=(fresh, derived))
class _RecordType(type):
    _parameters: dict[str, _Parameter]

    def __new__(
        cls,
        name: str,
        bases: tuple[type, ...],
        body: dict[str, Any],
        frozen: bool = False,
        kw_only: bool = False,
    ) -> type:
        declared = body.get("__annotations__", {}).items()
        annotations = {field: kind for field, kind in declared if not kind.startswith("ClassVar[")}
        fields = [field for field, kind in annotations.items() if not kind.startswith("InitVar[")]
        parameters = {key: value for base in bases for key, value in getattr(base, "_parameters", {}).items()}
        for field in annotations:
            default = body.pop(field, _REQUIRED)
            if type(default) is not _Derived:
                parameters[field] = _Parameter(default, field in fields)
        if any(parameter in annotations for parameter in parameters):
            body["__init__"] = _initialiser(
                parameters, annotations if kw_only else (), cls._has_hook(bases, body)
            )
        names = tuple(field for field, parameter in parameters.items() if parameter.is_field)
        body |= {"__slots__": tuple(fields), "__match_args__": names, "_parameters": parameters}
        return super().__new__(cls, name, bases, body)

    @staticmethod
    def _has_hook(bases: tuple[type, ...], body: dict[str, Any]) -> bool:
        return "__post_init__" in body or any(hasattr(base, "__post_init__") for base in bases)


def _initialiser(parameters: dict[str, _Parameter], keywords: Container[str], has_hook: bool) -> object:
    """The ``__init__`` of a record, whose ``keywords`` are never given in their place."""
    namespace: dict[str, Any] = {}  # what its text names
    places, lines = ["self"], ["pass"]
    named: list[str] = []
    for name, (default, is_field) in parameters.items():
        value = name
        if default is not _REQUIRED:
            namespace[f"_{name}"] = default
            if type(default) is _Fresh:
                value = f"_{name}.make() if {name} is _{name} else {name}"
        (named if name in keywords else places).append(name if default is _REQUIRED else f"{name}=_{name}")
        if is_field:
            lines.append(f"self.{name} = {value}")
    if has_hook:
        hook_arguments = (name for name, parameter in parameters.items() if not parameter.is_field)
        lines.append(f"self.__post_init__({', '.join(hook_arguments)})")
    signature = ", ".join([*places, *(["*", *named] if named else [])])
    exec(f"def __init__({signature}):\n " + "\n ".join(lines), namespace)
    return namespace["__init__"]


class Record(metaclass=_RecordType):
    """A record with the fields that its class annotates, behind those of the class that it derives from."""

    __match_args__: ClassVar[tuple[str, ...]]

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in type(self).__match_args__)
        return f"{type(self).__name__}({fields})"


_R = TypeVar("_R", bound=Record)


def replace(record: _R, **changes: Any) -> _R:
    """A record like another one, but for some fields."""
    return type(record)(**{field: getattr(record, field) for field in record.__match_args__} | changes)

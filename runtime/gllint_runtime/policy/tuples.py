"""``typing.NamedTuple`` whose classes cost a tenth to make: a run makes fifty of them before it begins.

Annotations are not looked at, and ``__new__`` with its defaults is compiled when the first object is made. Type
checkers see the original.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from operator import itemgetter

    try:
        from _collections import _tuplegetter
    except ImportError:  # of CPython alone

        def _tuplegetter(index: int, doc: str) -> property:
            return property(itemgetter(index), doc=doc)

    class _Tuple(tuple):
        __slots__ = ()

        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            owner = next(base for base in cls.__mro__ if "_fields" in base.__dict__)
            fields = "".join(f"{name}, " for name in owner._fields)
            names = {"_new": tuple.__new__, "__builtins__": {}, "__name__": owner.__module__}
            made = eval(
                f"lambda _cls, {fields}: _new(_cls, ({fields}))", names
            )  # as collections.namedtuple does
            made.__defaults__ = tuple(owner._field_defaults.values())
            made.__name__, made.__qualname__ = "__new__", f"{owner.__qualname__}.__new__"
            owner.__new__ = staticmethod(made)
            return made(cls, *args, **kwargs)

        @classmethod
        def _make(cls, values: Any) -> Any:
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **changes: Any) -> Any:
            made = self._make(map(changes.pop, self._fields, self))
            if changes:
                raise ValueError(f"Got unexpected field names: {list(changes)!r}")
            return made

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            fields = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
            return f"{type(self).__name__}({fields})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

    class _Made(type):
        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            fields = tuple(annotations := body.get("__annotations__", {}))
            defaults = {field: body.pop(field) for field in annotations if field in body}
            getters = {field: _tuplegetter(index, "") for index, field in enumerate(fields)}
            made = {"__slots__": (), "_fields": fields, "_field_defaults": defaults, "__match_args__": fields}
            return type(name, (_Tuple,), body | getters | made)

    class _Base:
        def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
            return (type.__new__(_Made, "NamedTuple", (), {}),)

    NamedTuple = _Base()

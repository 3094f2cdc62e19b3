"""``typing.NamedTuple`` without the look at each annotation, which takes longer than all else that makes a class.

A run over one file makes forty such classes before it begins, a fifth of its time. Type checkers see the original.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import namedtuple

    class _Made(type):
        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            annotations = body.pop("__annotations__", {})
            defaults = [body.pop(field) for field in annotations if field in body]
            tuple_class = namedtuple(name, annotations, defaults=defaults, module=body.pop("__module__"))
            tuple_class.__annotations__ = annotations
            for key, value in body.items():
                setattr(tuple_class, key, value)
                if hasattr(value, "__set_name__"):
                    value.__set_name__(tuple_class, key)
            return tuple_class

    class _Base:
        def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
            return (type.__new__(_Made, "NamedTuple", (), {}),)

    NamedTuple = _Base()

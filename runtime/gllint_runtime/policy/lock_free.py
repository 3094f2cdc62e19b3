"""A cached property without a lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

_T = TypeVar("_T")


class cached_property(Generic[_T]):
    """A property that is computed once for an object, as that of functools.

    On Python 3.11, that of functools has one lock for all objects of a class. A process that is forked while a thread
    has it would wait for ever.
    """

    def __init__(self, compute: Callable[[Any], _T]) -> None:
        self._compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> _T:
        value = instance.__dict__[self._name] = self._compute(instance)
        return value

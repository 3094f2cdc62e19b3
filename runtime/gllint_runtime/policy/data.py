"""Plain copies: data in JSON's own types alone, within bounds, that nobody else holds a reference into.

One walk makes the copy and says what it holds: Quantities, what only looks like one, raw numbers.
"""

from __future__ import annotations

import marshal
import numbers
import reprlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import is_dataclass
from datetime import date, time
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from itertools import islice
from math import isfinite
from typing import Any
from uuid import UUID

from gllint_runtime.policy.schemas import Path, Quantity, is_plain_key, quantity_problem

_MAX_DEPTH = 64
_MAX_BITS = 1024  # an integer with as many has no float
_LARGE = 2**62  # what is smaller needs no closer look
_MAX_VALUES = 200_000
_MAX_TEXT = 20_000_000
_TEXT = frozenset({str})
_NUMBER = frozenset({float, int})
_BUILT_IN = frozenset({str, int, float, bool, type(None)})
_MARSHAL = 2  # the version without references, which a tree has no use for


def plain(value: Any) -> Any:
    """A deep copy in JSON's own types, so that nobody holds a reference into what is verified.

    Models, dataclasses and tuples become objects and arrays, dates and UUIDs their text, enumerations their value,
    the value of a Quantity an ``int`` or ``float`` whatever its number type.
    Raises ValueError for NaN, infinity, anything that JSON does not have, and for data without end; whatever the
    data's own methods do.
    """
    if type(value) is dict and len(value) < 100 and _is_everyday(value):
        return value.copy()
    return Survey(value).data


def _is_everyday(value: dict[Any, Any]) -> bool:
    """Whether each member is a text or a number of everyday size, so that there is nothing to look at closely."""
    for key, item in value.items():
        kind = type(item)
        if type(key) is not str or len(key) > 1000:
            return False
        if kind is str:
            if len(item) > 1000:
                return False
        elif kind is int or kind is float:
            if not -_LARGE < item < _LARGE:
                return False
        elif item is not None and kind is not bool:
            return False
    return True


def copy_plain(data: Any) -> Any:
    """A deep copy of data that :func:`plain` made; marshal is the fastest way to get one of nested data."""
    if type(data) is dict and _BUILT_IN.issuperset(map(type, data.values())):
        return data.copy()
    return marshal.loads(marshal.dumps(data, _MARSHAL))


class Survey:
    """A plain copy (``data``, see :func:`plain`) and what it holds, all by path.

    ``quantities`` keep the number that the tool gave where a float would round it; ``malformed`` have the keys of a
    Quantity and yet are none, and why; ``raw_numbers`` are all others but booleans and what stands under one of
    ``plain_keys``, in lists too. ``size`` is about the bytes that the data takes. Raises ValueError.
    """

    def __init__(self, value: Any, plain_keys: Collection[str] = ()) -> None:
        self.quantities: dict[Path, Quantity] = {}
        self.malformed: list[tuple[Path, str]] = []
        self.raw_numbers: dict[Path, float] = {}
        self._values = _MAX_VALUES  # what is left of the budget
        self._text = _MAX_TEXT
        try:
            self.data: Any = self._object(value, ()) if type(value) is dict else self._copy(value, ())
        except RecursionError:
            raise ValueError("the data is nested too deeply") from None
        except Exception as error:
            raise ValueError(_trouble(error)) from error
        if self._text < 0:
            raise ValueError(f"the data has more than {_MAX_TEXT} characters")
        if plain_keys:
            raw = self.raw_numbers.items()
            self.raw_numbers = {path: number for path, number in raw if not _is_plain(path, plain_keys)}
        self.size = 50 * (_MAX_VALUES - self._values) + _MAX_TEXT - self._text

    def _copy(self, value: Any, path: Path) -> Any:
        """The copy of a value of whatever type. The methods are those of the built-in types: a subclass may lie."""
        match value:
            case dict():
                return self._object(dict(zip(dict.keys(value), dict.values(value), strict=True)), path)
            case list():
                return self._items(list.__len__(value), enumerate(list.copy(value)), path)
            case tuple():
                return self._items(tuple.__len__(value), enumerate(tuple.__iter__(value)), path)
            case str():  # also an enumeration's member, a NumPy string
                self._text -= str.__len__(value)
                return str.__str__(value)
            case None | bool():
                return value
            case float():
                if not isfinite(value):
                    raise ValueError(f"{float.__repr__(value)} is not a number that JSON has")
                self.raw_numbers[path] = number = float.__float__(value)
                return number
            case int():
                if int.bit_length(value) >= _MAX_BITS:
                    raise ValueError("an integer is beyond the range of numbers")
                self.raw_numbers[path] = number = int.__int__(value)
                return number
            case Quantity():
                return self._object({"value": value.value, "unit": value.unit}, path)
            case date() | time():
                return self._copy(value.isoformat(), path)
            case UUID():
                return self._copy(str(value), path)
            case Enum():
                return self._copy(value.value, path)
        try:
            dumped = _dumped(value)
        except Exception as error:
            problem = f"a {_kind(value)} does not dump itself: {_kind(error)}"
            raise ValueError(problem) from error
        if not isinstance(dumped, Mapping):
            raise ValueError(f"a {_kind(value)} is not data that JSON has")
        return self._object(dict(islice(dumped.items(), self._values + 1)), path)

    def _items(self, count: int, items: Iterable[tuple[Any, Any]], path: Path) -> list[Any]:
        """The copies of what the object or array at ``path`` holds; what needs no closer look is taken as it is."""
        self._take(count, path)
        copied = []
        for step, item in items:
            kind = type(item)
            if kind is str:
                self._text -= len(item)
            elif (kind is float and isfinite(item)) or (kind is int and -_LARGE < item < _LARGE):
                self.raw_numbers[*path, step] = item
            elif kind is dict:
                item = self._object(item, (*path, step))
            elif item is not None and kind is not bool:
                item = self._copy(item, (*path, step))
            copied.append(item)
        return copied

    def _take(self, values: int, path: Path) -> None:
        """Spend so much of the budget on what the object or array at ``path`` holds."""
        self._values -= values
        if len(path) > _MAX_DEPTH:
            raise ValueError("the data is nested too deeply")
        if self._values < 0:
            raise ValueError(f"the data has more than {_MAX_VALUES} values")

    def _object(self, value: dict[Any, Any], path: Path) -> dict[str, Any]:
        if len(value) == 2:
            number: Any = value.get("value")
            unit = value.get("unit")
            # As nearly all Quantities are.
            if type(unit) is str and type(number) in _NUMBER and -_LARGE < number < _LARGE:
                self._take(2, path)
                self._text -= len(unit)
                self.quantities[path] = Quantity(number, unit)
                return {"value": number, "unit": unit}
        if not _TEXT.issuperset(map(type, value)):
            value = {_name(key): item for key, item in value.items()}
        if "value" in value and "unit" in value:
            return self._quantity(value, path)
        self._text -= sum(map(len, value))
        return dict(zip(value, self._items(len(value), value.items(), path), strict=True))

    def _quantity(self, value: dict[str, Any], path: Path) -> dict[str, Any]:
        """An object with the keys of a Quantity."""
        exact = None
        if len(value) == 2:
            number, exact = _number(value["value"])
            value = {**value, "value": number}  # in its place
        copied = dict(zip(value, self._items(len(value), value.items(), path), strict=True))
        problem = quantity_problem(copied)
        if problem is None:
            self.quantities[path] = Quantity(copied["value"] if exact is None else exact, copied["unit"])
            del self.raw_numbers[*path, "value"]
        else:
            self.malformed.append((path, problem))
        return copied


def _is_plain(path: Path, plain_keys: Collection[str]) -> bool:
    """Whether the number at ``path`` stands under one of ``plain_keys``, if in a list."""
    key = next((step for step in reversed(path) if isinstance(step, str)), None)
    return key is not None and is_plain_key(key, plain_keys)


def _trouble(error: Exception) -> str:
    """What went wrong: as we say it, or, where a class that lies about itself raised, no more than that."""
    said = error.args[0] if type(error) is ValueError and error.args else None
    return said[:500] if type(said) is str else f"the data cannot be read: {_kind(error)}"


def _kind(value: Any) -> str:
    """The name of a value's class, whatever its metaclass says."""
    return str(type.__dict__["__name__"].__get__(type(value)))


def _name(key: Any) -> str:
    if not isinstance(key, str):
        raise ValueError(f"the key {reprlib.repr(key)} is not text")
    return str.__str__(key)


def _dumped(value: Any) -> Any:
    """A dataclass or model as the mapping that it dumps to; anything else unchanged."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: getattr(value, name) for name in value.__dataclass_fields__}
    dump: Callable[[], Any] | None = getattr(value, "model_dump", None)
    return dump() if callable(dump) else value


def _number(number: Any) -> tuple[Any, Any]:
    """The value of a Quantity as ``int`` or ``float``, and the Decimal or Fraction that this rounds, if it does."""
    if type(number) in _BUILT_IN or isinstance(number, (int, float, str)):
        return number, None
    if isinstance(number, numbers.Integral):  # of NumPy, as the next
        return int(number), None
    if not isinstance(number, (Decimal, Fraction)):
        return (float(number) if isinstance(number, numbers.Real) else number), None
    kind: Any = Decimal if isinstance(number, Decimal) else Fraction
    exact = kind(number)  # of a subclass, what it really is
    if isinstance(exact, Decimal) and not exact.is_finite():
        raise ValueError(f"{exact} is not a number that JSON has")
    if not _is_short(exact):
        raise ValueError(f"a {_kind(number)} is beyond the range of numbers")
    rounded = float(exact)
    return rounded, None if Fraction(exact) == Fraction(rounded) else exact


def _is_short(number: Decimal | Fraction) -> bool:
    """Whether a finite number has a float near it, and few enough digits to calculate with."""
    if isinstance(number, Fraction):
        return max(number.numerator.bit_length(), number.denominator.bit_length()) < _MAX_BITS
    return len(number.as_tuple().digits) < 300 and abs(number.adjusted()) < 300

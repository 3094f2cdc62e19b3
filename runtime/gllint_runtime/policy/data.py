"""Plain copies: data in JSON's own types alone, within bounds, that nobody else holds a reference into."""

from __future__ import annotations

import marshal
import numbers
import reprlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from datetime import date, time
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from itertools import islice
from math import isfinite
from typing import Any
from uuid import UUID

from gllint_runtime.policy.schemas import Path

Exact = dict[Path, Decimal | Fraction]
"""The values of Quantities that a float would round, by the path of the Quantity."""

_MAX_DEPTH = 64
_MAX_BITS = 1024  # an integer with as many has no float
_LARGE = 2**62  # what is smaller needs no closer look
_MAX_VALUES = 200_000
_MAX_TEXT = 20_000_000
_BUILT_IN = frozenset({str, int, float, bool, type(None)})
_MARSHAL = 2  # the version without references, which a tree has no use for


def plain(value: Any, exact: Exact | None = None) -> Any:
    """A deep copy in JSON's own types, so that nobody holds a reference into what is verified.

    Models, dataclasses and tuples become objects and arrays, dates and UUIDs their text, enumerations their value,
    the value of a Quantity an ``int`` or ``float`` whatever its number type; into ``exact`` goes what that rounds.
    Raises ValueError for NaN, infinity, anything that JSON does not have, and for data without end; whatever the
    data's own methods do.
    """
    copy = _Copy()
    try:
        (copied,) = copy.items((value,), -1)
        if copy.holds_exact:
            _round(copied, {} if exact is None else exact)
        return copied
    except (ValueError, RecursionError) as error:
        raise ValueError(str(error) or "the data is nested too deeply") from error
    except Exception as error:  # a subclass that lies about itself
        raise ValueError(f"the data cannot be read: {type(error).__name__}") from error


def copy_plain(data: Any) -> Any:
    """A deep copy of data that :func:`plain` made; marshal is the fastest way to get one of nested data."""
    if type(data) is dict and _BUILT_IN.issuperset(map(type, data.values())):
        return data.copy()
    return marshal.loads(marshal.dumps(data, _MARSHAL))


class _Copy:
    """One copy in the making, with what is left of its budget."""

    def __init__(self) -> None:
        self.holds_exact = False
        self._values = _MAX_VALUES
        self._text = _MAX_TEXT

    def items(self, items: Iterable[Any], depth: int) -> list[Any]:
        """The copies of what an object or array at this depth holds; what needs no closer look is taken as it is."""
        copied = []
        for item in items:
            kind = type(item)
            self._values -= 1
            if kind is str:
                self._text -= len(item)
            elif not (
                (kind is float and isfinite(item))
                or (kind is int and -_LARGE < item < _LARGE)
                or item is None
                or kind is bool
            ):
                if depth >= _MAX_DEPTH and kind is not float and kind is not int:
                    raise ValueError("the data is nested too deeply")
                item = self._other(item, depth)
            if self._values < 0:
                raise ValueError(f"the data has more than {_MAX_VALUES} values")
            if self._text < 0:
                raise ValueError(f"the data has more than {_MAX_TEXT} characters")
            copied.append(item)
        return copied

    def _other(self, value: Any, depth: int) -> Any:
        """An object or an array, whatever is not of JSON's own types, and numbers that it does not have.

        The methods are those of the built-in types: a subclass may lie.
        """
        match value:
            case dict():
                return self._object(value, depth + 1)
            case list():
                return self.items(list.__iter__(value), depth + 1)
            case tuple():
                return self.items(tuple.__iter__(value), depth + 1)
            case str():  # also an enumeration's member, a NumPy string
                return self.items((str.__str__(value),), depth)[0]
            case float():
                if not isfinite(value):
                    raise ValueError(f"{float.__repr__(value)} is not a number that JSON has")
                return float.__float__(value)
            case int():
                if int.bit_length(value) >= _MAX_BITS:
                    raise ValueError("an integer is beyond the range of numbers")
                return int.__int__(value)
            case date() | time():
                return self.items((value.isoformat(),), depth)[0]
            case UUID():
                return self.items((str(value),), depth)[0]
            case Enum():
                return self.items((value.value,), depth)[0]
        try:
            dumped = _dumped(value)
        except Exception as error:
            problem = f"a {type(value).__name__} does not dump itself: {type(error).__name__}"
            raise ValueError(problem) from error
        if not isinstance(dumped, Mapping):
            raise ValueError(f"a {type(value).__name__} is not data that JSON has")
        return self._object(dict(islice(dumped.items(), self._values + 1)), depth + 1)

    def _object(self, value: dict[Any, Any], depth: int) -> dict[str, Any]:
        names = [key if type(key) is str else _name(key) for key in dict.keys(value)]
        items: Any = dict.values(value)
        exact = None
        if len(names) == 2 and "value" in names and "unit" in names:
            items, place = [*items], names.index("value")
            items[place], exact = _number(items[place])
        copied = dict(zip(names, self.items(items, depth), strict=True))
        if exact is not None:
            copied["value"], self.holds_exact = exact, True
        return copied


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


def _number(number: Any) -> tuple[Any, Decimal | Fraction | None]:
    """The value of a Quantity as ``int`` or ``float``, and where it is a Decimal or Fraction, as that as well."""
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
        raise ValueError(f"a {type(number).__name__} is beyond the range of numbers")
    return 0, exact


def _is_short(number: Decimal | Fraction) -> bool:
    """Whether a finite number has a float near it, and few enough digits to calculate with."""
    if isinstance(number, Fraction):
        return max(number.numerator.bit_length(), number.denominator.bit_length()) < _MAX_BITS
    return len(number.as_tuple().digits) < 300 and abs(number.adjusted()) < 300


def _round(data: Any, exact: Exact) -> None:
    """Put a float in place of each exact number, which goes into ``exact`` where that changes it."""
    waiting: list[tuple[Path, Any]] = [((), data)]
    while waiting:
        path, node = waiting.pop()
        if isinstance(node, dict):
            number = node.get("value")
            if isinstance(number, (Decimal, Fraction)):
                node["value"] = float(number)
                if Fraction(number) != Fraction(node["value"]):
                    exact[path] = number
        if isinstance(node, (dict, list)):
            inner = node.items() if isinstance(node, dict) else enumerate(node)
            waiting.extend(((*path, step), child) for step, child in inner if type(child) not in _BUILT_IN)

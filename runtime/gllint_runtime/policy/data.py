"""Plain copies: data in JSON's own types alone, within bounds, that nothing else references.

One walk makes the copy and finds its parts: Quantities, malformed Quantities, raw numbers.
"""

from __future__ import annotations

import json
import marshal
import numbers
import re
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

from gllint_runtime.policy.claims import claimable_paths
from gllint_runtime.policy.lock_free import cached_property
from gllint_runtime.policy.schemas import Path, Quantity, quantity_problem, show_path

_TYPED_NUMBER = re.compile(r"-?[0-9]{1,300}(?:\.[0-9]{1,300})?")

_MAX_DEPTH = 64
_MAX_BITS = 1024  # an integer with as many may have no float
_LARGE = 2**62  # what is smaller needs no closer look
_MAX_VALUES = 200_000
_MAX_TEXT = 20_000_000
_TEXT = frozenset({str})
_NUMBER = frozenset({float, int})
_MARSHAL = 2  # the version without references, which a tree has no use for


_FINITE = "Return None where there is no number, and say so in a text next to it."
_SMALLER = "Return a smaller number in a larger unit."
_LESS = "Return what the answer needs, not all of it."
_CLASSES = {
    "Return a list: list(values).": "generator map filter zip range dict_keys dict_values dict_items deque",
    "Return a list: sorted(values).": "set frozenset",
    "Return its text: str(path).": "PosixPath WindowsPath PurePosixPath PureWindowsPath",
    "Return its .total_seconds() as a Quantity, or its text.": "timedelta",
    "Await it, and return what comes of it.": "coroutine",
    "Return its parts as two Quantities, or its text.": "complex",
    "Return the numbers that the answer needs, each as a Quantity with a key.": "ndarray Series DataFrame Tensor",
    "Return its text: str(value).": "datetime64 timedelta64",
    "Return bool(value).": "bool bool_",  # of NumPy
}
# What to do with values that JSON does not have, by the name of their class.
_REMEDIES = {name: remedy for remedy, names in _CLASSES.items() for name in names.split()}
_ANY_REMEDY = (
    "Return text, truth values, None, lists, objects with keys of text, and each number as a Quantity."
)


class DataProblem(ValueError):
    """Why a value is no plain data: what is wrong, at which ``path``, and the ``remedy`` for its author."""

    def __init__(self, problem: str, path: Path = (), remedy: str = _ANY_REMEDY) -> None:
        super().__init__(problem)
        self.path, self.remedy = path, remedy


def plain(value: Any, *, rejects_nothing: bool = False) -> Any:
    """Return a deep copy in JSON's own types, so that nothing else references what is verified.

    Models, dataclasses and tuples become objects and arrays, dates and UUIDs their text, enumerations their value,
    the value of a Quantity an ``int`` or ``float`` whatever its number type.
    Raises :class:`DataProblem` for NaN, infinity, anything that JSON does not have, and for data without end; whatever
    the data's own methods do. ``rejects_nothing``: see :class:`Survey`.
    """
    return Survey(value, rejects_nothing=rejects_nothing).data


def copy_plain(data: Any) -> Any:
    """Return a deep copy of data that :func:`plain` made; marshal is the fastest way to get one of nested data."""
    return marshal.loads(marshal.dumps(data, _MARSHAL))


class Survey:
    """A plain copy (``data``, see :func:`plain`) and its parts, all by path.

    ``quantities`` keep the number that the tool gave where a float would round it; ``malformed`` have the keys of a
    Quantity and yet are none, and why; ``raw_numbers`` are all others but booleans and what is under one of
    ``plain_keys``, or under a key that says one of ``plain_kinds``, in lists too: these are ``plain_numbers``.
    ``shapes`` name other ways to write a Quantity that count. ``size`` is approximately the bytes of the data.
    ``is_json_text``: the tool gave it as text.
    Bytes and images are kept as the name of their kind, ``"<bytes>"``. ``rejects_nothing``: so is what JSON cannot
    represent, as the nearest data that it can.
    Raises :class:`DataProblem`.

    ``declared`` are the numbers among the quantities whose unit is in a schema, ``bases`` the bases that one
    declares; both are added by the code that knows the schema. ``models`` are the classes of the objects that dumped
    themselves: their fields may declare units, too.
    """

    is_json_text = False

    def __init__(
        self,
        value: Any,
        plain_keys: Collection[str] = (),
        plain_kinds: Collection[str] = (),
        shapes: Collection[str] = (),
        *,
        rejects_nothing: bool = False,
    ) -> None:
        self._rejects_nothing = rejects_nothing
        self.quantities: dict[Path, Quantity] = {}
        self.declared: dict[Path, str] = {}
        self.bases: dict[Path, str] = {}
        self.models: list[tuple[Path, type]] = []
        self._shapes = shapes
        self.malformed: list[tuple[Path, str]] = []
        self.raw_numbers: dict[Path, float] = {}
        self._values = _MAX_VALUES  # what is left of the budget
        self._text = _MAX_TEXT
        try:
            self.data: Any = self._object(value, ()) if type(value) is dict else self._copy(value, ())
        except RecursionError:
            raise _too_deep(value, ()) from None
        except _Depth as depth:
            raise _too_deep(value, depth.args[0]) from None
        except DataProblem:
            raise
        except Exception as error:
            # A class that lies about itself raised: what it says is none of ours.
            raise DataProblem(f"the data cannot be read: {_kind(error)}") from error
        if self._text < 0:
            raise DataProblem(f"the data has more than {_MAX_TEXT} characters", (), _LESS)
        self.plain_numbers: dict[Path, float] = {}
        if plain_keys or plain_kinds:
            raw = self.raw_numbers
            self.plain_numbers = {
                p: n for p, n in raw.items() if self._is_plain(p, n, plain_keys, plain_kinds)
            }
            self.raw_numbers = {
                path: number for path, number in raw.items() if path not in self.plain_numbers
            }
        self.size = 50 * (_MAX_VALUES - self._values) + _MAX_TEXT - self._text

    def measures(self) -> list[tuple[Path, Quantity]]:
        """Return the quantities but for plain numbers, which may only say an argument back."""
        return [entry for entry in self.quantities.items() if entry[0] not in self.plain_numbers]

    @cached_property
    def odd_paths(self) -> Mapping[tuple[str, ...], Path]:
        """The quantities that no claim could write by their own paths, by those that it can: once all are entered."""
        return claimable_paths([*self.quantities])

    def _is_plain(
        self, path: Path, number: float, plain_keys: Collection[str], plain_kinds: Collection[str]
    ) -> bool:
        """Return whether the number at ``path`` is no quantity: its key, or that of its list, is plain or of a plain
        kind.

        At ``("counts", 2)`` the key is ``counts``. The other keys of its object help to read it (``limit`` next to
        ``offset``).
        """
        from gllint_runtime.policy.names import is_plain  # without numbers no words are needed

        place = next((i for i in reversed(range(len(path))) if isinstance(path[i], str)), None)
        if place is None:
            return False
        key, beside = str(path[place]), self.data
        for step in path[:place]:
            beside = beside[step]
        return is_plain(key, plain_keys, plain_kinds, number, beside)

    @property
    def given(self) -> Any:
        """The data as the tool gave them: as JSON text, or as they are."""
        return json.dumps(self.data) if self.is_json_text else self.data

    def declared_units(self) -> dict[str, str]:
        """Return the units that no data but a schema says, by the path of each number."""
        return {show_path(path): unit for path, unit in self.declared.items()}

    def _copy(self, value: Any, path: Path) -> Any:
        """Return a copy of a value of any type, and note the numbers and Quantities in it.

        The methods called are those of the built-in types (``dict.items(value)``): a subclass may override its own to
        lie.
        """
        match value:
            case dict():
                return self._object(dict(dict.items(value)), path)
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
                    if self._rejects_nothing:
                        return None
                    raise DataProblem(
                        f"{float.__repr__(value)} is not a number that JSON can represent", path, _FINITE
                    )
                self.raw_numbers[path] = number = float.__float__(value)
                return number
            case int():
                if int.bit_length(value) >= _MAX_BITS:
                    raise DataProblem("an integer is beyond the range of numbers", path, _SMALLER)
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
            case bytes() | bytearray() | memoryview():
                return f"<{_kind(value)}>"
            case set() | frozenset() if self._rejects_nothing:
                return self._copy(sorted(value, key=repr), path)
            case Decimal() | Fraction() | numbers.Real():  # also of NumPy; a float of it would be rounded
                if self._rejects_nothing:
                    number = int(value) if isinstance(value, numbers.Integral) else float(value)
                    return self._copy(number, path)
                problem = f"{_a_kind(value)} is a number without a unit"
                raise DataProblem(problem, path, "Wrap it in a Quantity {value, unit}.")
        from gllint_runtime.policy.unit_libraries import quantity_of_library  # few outputs have objects

        if (foreign := quantity_of_library(value)) is not None:
            return self._object({"value": foreign[0], "unit": foreign[1]}, path)
        try:
            dumped = _dumped(value)
        except Exception as error:
            problem = f"{_a_kind(value)} cannot be converted to plain data: {_kind(error)}"
            raise DataProblem(problem, path, "Return its content as an object with texts as keys.") from error
        if not isinstance(dumped, Mapping):
            if hasattr(type(value), "_repr_png_"):  # by which notebooks know an image
                return f"<{_kind(value)}>"
            if self._rejects_nothing:
                text = str(value)
                # The address of an object is another one in each run.
                return self._copy(f"<{_kind(value)}>" if f"{id(value):x}" in text.lower() else text, path)
            raise DataProblem(
                f"{_a_kind(value)} is not data that JSON can represent",
                path,
                _REMEDIES.get(_kind(value), _ANY_REMEDY),
            )
        self.models.append((path, type(value)))
        return self._object(dict(islice(dumped.items(), self._values + 1)), path)

    def _items(self, count: int, items: Iterable[tuple[Any, Any]], path: Path) -> list[Any]:
        """Return copies of the members of the object or list at ``path``, each given with its key or index."""
        self._take(count, path)
        copied = []
        for step, item in items:
            kind = type(item)  # of plain types, which nearly all are, nothing has to be copied
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
        """Subtract ``values`` members from the budget.

        Raises :class:`DataProblem` if it is spent, ``_Depth`` if too deep.
        """
        self._values -= values
        if len(path) > _MAX_DEPTH:
            raise _Depth(path)
        if self._values < 0:
            raise DataProblem(f"the data has more than {_MAX_VALUES} values", (), _LESS)

    def _object(self, value: dict[Any, Any], path: Path) -> dict[str, Any]:
        """Return the copy of an object, which is a Quantity, a Quantity in another shape, or a container."""
        if len(value) == 2:
            number: Any = value.get("value")
            unit = value.get("unit")
            # The fast path, for nearly all Quantities; others are read by `_quantity`.
            if type(unit) is str and type(number) in _NUMBER and -_LARGE < number < _LARGE:
                self._take(2, path)
                self._text -= len(unit)
                self.quantities[path] = Quantity(number, unit)
                return {"value": number, "unit": unit}
        if not _TEXT.issuperset(map(type, value)):
            names = {str(key) if self._rejects_nothing else _name(key, path): key for key in value}
            if len(names) < len(value):
                raise DataProblem("two keys have the same text", path, "Return each under a key of its own.")
            value = {name: value[key] for name, key in names.items()}
        if self._shapes and (key := _value_key(value, self._shapes)) is not None:
            return self._shaped(value, key, path)
        if "value" in value and "unit" in value:
            return self._quantity(value, path)
        self._text -= sum(map(len, value))
        return self._members(value, path)

    def _members(self, value: dict[str, Any], path: Path) -> dict[str, Any]:
        """Return the copy of an object's members under their keys."""
        return dict(zip(value, self._items(len(value), value.items(), path), strict=True))

    def _shaped(self, value: dict[str, Any], key: str, path: Path) -> dict[str, Any]:
        """Return the copy of an object in another shape, ``{"amount": "9.50", "currency": "EUR"}``, and note its
        Quantity.

        Its number is under ``key``. One without a readable number or unit is noted as malformed.
        """
        from gllint_runtime.policy.quantity_shapes import shaped_unit

        number, exact = _number(value[key], (*path, key))
        value = {**value, key: number}
        amount: Any = number if exact is None else exact
        self._text -= sum(map(len, value))
        copied = self._members(value, path)
        unit = shaped_unit(copied, self._shapes)
        if isinstance(number, str) and is_typed_number(number):  # an amount of money is often text
            amount = Decimal(number)
        if (
            unit is None
            or isinstance(amount, bool)
            or not isinstance(amount, (int, float, Decimal, Fraction))
        ):
            problem = "this Quantity needs a number, and a unit or a currency code (both as strings)"
            self.malformed.append((path, problem))
        else:
            self.quantities[path] = Quantity(amount, unit)  # type: ignore[arg-type]  # an exact one, too
            self.raw_numbers.pop((*path, key), None)
        return copied

    def _quantity(self, value: dict[str, Any], path: Path) -> dict[str, Any]:
        """Return the copy of an object with ``value`` and ``unit``, and note its Quantity, or why it is malformed."""
        exact = None
        if len(value) == 2:
            number, exact = _number(value["value"], (*path, "value"))
            value = {**value, "value": number}  # in its place
        else:
            self._text -= sum(map(len, value))
        copied = self._members(value, path)
        problem = quantity_problem(copied)
        if problem is None:
            self.quantities[path] = Quantity(copied["value"] if exact is None else exact, copied["unit"])
            del self.raw_numbers[*path, "value"]
        else:
            self.malformed.append((path, problem))
        return copied


def is_typed_number(text: str) -> bool:
    """Return whether a text is read for the number of a Quantity in another shape."""
    return _TYPED_NUMBER.fullmatch(text) is not None


def _value_key(value: dict[str, Any], shapes: Collection[str]) -> str | None:
    from gllint_runtime.policy.quantity_shapes import value_key  # few projects have other shapes

    return value_key(value, shapes)


class _Depth(Exception):
    """The path at which data goes deeper than it may."""


def _too_deep(value: Any, path: Path) -> DataProblem:
    """Return why the data at ``path`` of ``value`` is too deep: it contains itself, or has too many levels.

    ``a = {}; a["b"] = {"c": a}`` → "the data contains itself: $.b.c is $ again".
    """
    element, ancestors = value, {id(value): "$"}
    for length, step in enumerate(path, 1):
        element = _member(element, step)
        if element is None:
            break
        place = show_path(path[:length])
        if (ancestor := ancestors.setdefault(id(element), place)) != place:
            remedy = "Leave out the reference back, or replace it by an id."
            return DataProblem(
                f"the data contains itself: {place} is {ancestor} again", path[:length], remedy
            )
    return DataProblem("the data is nested too deeply", path, f"Return at most {_MAX_DEPTH} levels.")


def _member(element: Any, step: str | int) -> Any:
    """Return the member of ``node`` at a key or index.

    ``None`` if there is none, or only the object's own code could say.
    """
    if type(element) in (dict, list, tuple):
        try:
            return element[step]
        except (KeyError, IndexError, TypeError):
            return None
    fields = getattr(type(element), "__dataclass_fields__", {})
    return getattr(element, step, None) if isinstance(step, str) and step in fields else None


def _kind(value: Any) -> str:
    """Return the name of a value's class, whatever its metaclass says."""
    return str(type.__dict__["__name__"].__get__(type(value)))


def _a_kind(value: Any) -> str:
    """Return the name of a value's class behind its article."""
    name = _kind(value)
    return "a bytes object" if name == "bytes" else f"{'an' if name[:1] in 'aeiouAEIOU' else 'a'} {name}"


def _name(key: Any, path: Path) -> str:
    """Return a key as text. Raises :class:`DataProblem`, with what to write instead, for a key of another type."""
    if isinstance(key, str):
        return str.__str__(key)
    remedy = "Write it as text: str(key)."
    if isinstance(key, Enum):
        remedy = "Write its name: key.name."
    elif isinstance(key, bytes):
        remedy = "Decode it to text."
    elif isinstance(key, tuple):
        remedy = "Nest one object for each part of it, or join the parts to a text."
    raise DataProblem(f"the key {reprlib.repr(key)} is not text", path, remedy)


def _dumped(value: Any) -> Any:
    """Return a dataclass or model as the mapping that it dumps to; anything else unchanged."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: getattr(value, name) for name in value.__dataclass_fields__}
    dump: Callable[[], Any] | None = getattr(value, "model_dump", None)
    return dump() if callable(dump) else value


def _number(number: Any, path: Path) -> tuple[Any, Any]:
    """Return the value of a Quantity as ``int``, ``float`` or text, and its exact form if a float rounds it, else
    ``None``.

    ``Decimal("0.1")`` → ``(0.1, Decimal("0.1"))``; ``Decimal("0.5")`` → ``(0.5, None)``.
    """
    if isinstance(number, (int, float, str)):
        return number, None
    if isinstance(number, numbers.Integral):  # of NumPy, as the next
        return int(number), None
    if not isinstance(number, (Decimal, Fraction)):
        return (float(number) if isinstance(number, numbers.Real) else number), None
    kind: Any = Decimal if isinstance(number, Decimal) else Fraction
    exact = kind(number)  # of a subclass, what it really is
    if isinstance(exact, Decimal) and not exact.is_finite():
        raise DataProblem(f"{exact} is not a number that JSON can represent", path, _FINITE)
    if not _is_short(exact):
        raise DataProblem(f"a {_kind(number)} is beyond the range of numbers", path, _SMALLER)
    rounded = float(exact)
    return rounded, None if Fraction(exact) == Fraction(rounded) else exact


def _is_short(number: Decimal | Fraction) -> bool:
    """Return whether a finite number has a float near it, and few enough digits to calculate with."""
    if isinstance(number, Fraction):
        return max(number.numerator.bit_length(), number.denominator.bit_length()) < _MAX_BITS
    return len(number.as_tuple().digits) < 300 and abs(number.adjusted()) < 300

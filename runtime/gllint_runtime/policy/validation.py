"""Holding data to a schema at execution: plain copies, cached validators, no ``$ref`` fetched from anywhere."""

from __future__ import annotations

import json
import marshal
import math
import numbers
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, time
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from textwrap import shorten
from typing import Any
from uuid import UUID

from gllint_runtime.policy.schemas import (
    KNOWN_SCHEMAS,
    QUANTITY_BODY,
    QUANTITY_KEYS,
    QUANTITY_REF,
    Path,
    as_plain,
    is_quantity,
    quantity_problem,
    subschemas,
)

_MAX_DEPTH = 64
_MAX_BITS = 1024  # an integer with as many has no float
_LARGE = 2**62  # what is smaller needs no closer look
_MAX_VALUES = 200_000
_MAX_TEXT = 20_000_000
_MAX_MESSAGE = 300
_SCALARS = frozenset({str, int, float, bool, type(None)})
_QUANTITY_KEYWORD = "gllint:quantity"

Checker = Callable[[Any], tuple[Path, str] | None]


Exact = dict[Path, Decimal | Fraction]
"""The values of Quantities that a float would round, by the path of the Quantity."""


def plain(value: Any, exact: Exact | None = None) -> Any:
    """A deep copy in JSON's own types, so that nobody holds a reference into what is verified.

    Models, dataclasses and tuples become objects and arrays, dates and UUIDs their text, enumerations their value,
    the value of a Quantity an ``int`` or ``float`` whatever its number type; into ``exact`` goes what that rounds.
    Raises ValueError for NaN, infinity, anything that JSON does not have, and for data without end; whatever the
    data's own methods do.
    """
    try:
        return _Copy({} if exact is None else exact).of(value)
    except (ValueError, RecursionError) as error:
        raise ValueError(str(error) or "the data is nested too deeply") from error
    except Exception as error:  # a subclass that lies about itself
        raise ValueError(f"the data cannot be read: {type(error).__name__}") from error


class _Copy:
    """One copy in the making, with what is left of its budget."""

    def __init__(self, exact: Exact) -> None:
        self._exact = exact
        self._path: list[str | int] = []
        self._values = _MAX_VALUES
        self._text = _MAX_TEXT

    def of(self, value: Any) -> Any:
        self._values -= 1
        if self._values < 0:
            raise ValueError(f"the data has more than {_MAX_VALUES} values")
        kind = type(value)
        if kind is dict:
            return self._object(value.items(), value.keys() == QUANTITY_KEYS)
        if kind is float and math.isfinite(value):
            return value
        if kind is str:
            self._spend(value)
            return value
        if kind is int and -_LARGE < value < _LARGE:
            return value
        if value is None or kind is bool:
            return value
        if kind is list:
            return self._array(value)
        return self._unusual(value)

    def _unusual(self, value: Any) -> Any:
        """Whatever is not of JSON's own types itself, and numbers that it does not have."""
        if isinstance(value, str):  # also an enumeration's member, a NumPy string
            text = str.__str__(value)
            self._spend(text)
            return text
        if isinstance(value, float):
            if not math.isfinite(value):
                raise ValueError(f"{float.__repr__(value)} is not a number that JSON has")
            return float.__float__(value)
        if isinstance(value, int):
            if int.bit_length(value) >= _MAX_BITS:
                raise ValueError("an integer is beyond the range of numbers")
            return int.__int__(value)
        if isinstance(value, dict):
            return self._object(dict.items(value), dict.keys(value) == QUANTITY_KEYS)
        if isinstance(value, (list, tuple)):
            return self._array(list.__iter__(value) if isinstance(value, list) else tuple.__iter__(value))
        if isinstance(value, (date, time)):
            return self.of(value.isoformat())
        if isinstance(value, UUID):
            return self.of(str(value))
        if isinstance(value, Enum):
            return self.of(value.value)
        try:
            dumped = as_plain(value)
        except Exception as error:
            raise ValueError(
                f"a {type(value).__name__} does not dump itself: {type(error).__name__}"
            ) from error
        if isinstance(dumped, Mapping):
            return self._object(dumped.items(), dumped.keys() == QUANTITY_KEYS)
        raise ValueError(f"a {type(value).__name__} is not data that JSON has")

    def _spend(self, text: str) -> None:
        self._text -= len(text)
        if self._text < 0:
            raise ValueError(f"the data has more than {_MAX_TEXT} characters")

    def _inner(self, step: str | int, item: Any) -> Any:
        if len(self._path) >= _MAX_DEPTH and type(item) not in _SCALARS:
            raise ValueError("the data is nested too deeply")
        self._path.append(step)
        copied = self.of(item)
        self._path.pop()
        return copied

    def _array(self, items: Iterable[Any]) -> list[Any]:
        return [self._inner(i, item) for i, item in enumerate(items)]

    def _object(self, items: Iterable[Any], is_quantity: bool) -> dict[str, Any]:
        copied: dict[str, Any] = {}
        for key, item in items:
            name = key if type(key) is str else self._key(key)
            if type(item) in _SCALARS:  # no path leads below it
                copied[name] = self.of(item)
            else:
                copied[name] = self._inner(name, self._built_in(item) if is_quantity else item)
        return copied

    def _key(self, key: Any) -> str:
        if not isinstance(key, str):
            raise ValueError(f"the key {reprlib.repr(key)} is not text")
        return str.__str__(key)

    def _built_in(self, number: Any) -> Any:
        """A Decimal, Fraction or NumPy number as ``int`` or ``float``; anything else unchanged."""
        if (
            type(number) in _SCALARS
            or isinstance(number, (int, float, str))
            or not isinstance(number, (numbers.Real, Decimal))
        ):
            return number
        if isinstance(number, numbers.Integral):
            return int(number)
        if not isinstance(number, (Decimal, Fraction)):
            return float(number)
        kind: Any = Decimal if isinstance(number, Decimal) else Fraction
        exact = kind(number)  # of a subclass, what it really is
        if isinstance(exact, Decimal) and not exact.is_finite():
            raise ValueError(f"{exact} is not a number that JSON has")
        if not _is_short(exact):
            raise ValueError(f"a {type(number).__name__} is beyond the range of numbers")
        rounded = float(exact)
        if Fraction(exact) != Fraction(rounded):
            self._exact[tuple(self._path)] = exact
        return rounded


def _is_short(number: Decimal | Fraction) -> bool:
    """Whether a finite number has a float near it, and few enough digits to calculate with."""
    if isinstance(number, Fraction):
        return max(number.numerator.bit_length(), number.denominator.bit_length()) < _MAX_BITS
    return len(number.as_tuple().digits) < 300 and abs(number.adjusted()) < 300


def copy_plain(data: Any) -> Any:
    """A deep copy of data that :func:`plain` made; marshal is the fastest way to get one."""
    return marshal.loads(marshal.dumps(data))


def checker(schema: Any) -> Checker:
    """A function from data to ``None`` where it fits ``schema``, else to the path and message of its error.

    The validator is built at the first use and kept.
    """
    own = inline_refs(schema, {_QUANTITY_KEYWORD: True})
    surely_fits = _quick_test(own)

    @lru_cache(maxsize=1)
    def validator() -> Any:
        from jsonschema import Draft202012Validator
        from jsonschema.validators import extend
        from referencing import Registry

        extended: Any = extend  # untyped in its stubs
        keywords = {
            _QUANTITY_KEYWORD: _is_quantity,
            "pattern": _bounded(Draft202012Validator.VALIDATORS["pattern"]),
            "patternProperties": _bounded(Draft202012Validator.VALIDATORS["patternProperties"]),
            "uniqueItems": _are_unique,
        }
        return extended(Draft202012Validator, keywords)(own, registry=Registry())

    def check(data: Any) -> tuple[Path, str] | None:
        try:
            if surely_fits(data) or validator().is_valid(data):
                return None
        except RecursionError:
            return (), "the schema refers to itself without end"
        from jsonschema.exceptions import best_match

        error = best_match(validator().iter_errors(data))
        return tuple(error.absolute_path), shorten(error.message, _MAX_MESSAGE)

    return check


_BOUNDS: dict[str, Callable[[float], Callable[[Any], bool]]] = {
    "minimum": lambda bound: lambda value: value >= bound,
    "maximum": lambda bound: lambda value: value <= bound,
    "exclusiveMinimum": lambda bound: lambda value: value > bound,
    "exclusiveMaximum": lambda bound: lambda value: value < bound,
}
_TYPES: dict[str, tuple[type, ...]] = {
    "number": (int, float),
    "integer": (int,),
    "string": (str,),
    "boolean": (bool,),
    "object": (dict,),
}
_ANNOTATIONS = {"title", "description", "default", "examples", "$schema", "$comment"}
_QUICK_KEYWORDS = {"type", "properties", "required", "additionalProperties", _QUANTITY_KEYWORD, *_BOUNDS}


def _quick_test(schema: Any) -> Callable[[Any], bool]:
    """A test that is true only for data that surely fits; where it is false, the full validator decides.

    It knows the keywords that nearly all tools get by with. For a schema with any other it is never true.
    """
    if schema is True or not isinstance(schema, dict) or schema.keys() - _ANNOTATIONS - _QUICK_KEYWORDS:
        return lambda data: schema is True
    types = _TYPES.get(schema["type"], ()) if isinstance(schema.get("type"), str) else ()
    if (not types and _QUANTITY_KEYWORD not in schema) or (
        types[:1] != (int,) and schema.keys() & _BOUNDS.keys()
    ):
        return lambda data: False
    tests = [build(schema[key]) for key, build in _BOUNDS.items() if key in schema]
    if _QUANTITY_KEYWORD in schema:
        tests.append(is_quantity)
    if not tests and types != (dict,):
        return lambda data: type(data) in types
    if schema.keys() == {_QUANTITY_KEYWORD}:
        return is_quantity
    properties = {name: _quick_test(child) for name, child in schema.get("properties", {}).items()}
    required = frozenset(schema.get("required", ()))
    closed = schema.get("additionalProperties", True) is not True

    def surely_fits(data: Any) -> bool:
        if types and type(data) not in types:
            return False
        if types == (dict,):
            if not data.keys() >= required or (closed and not data.keys() <= properties.keys()):
                return False
            for name, item in data.items():
                if name in properties and not properties[name](item):
                    return False
        for test in tests:  # noqa: SIM110  a generator costs as much as the tests
            if not test(data):
                return False
        return True

    return surely_fits


def _is_quantity(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """The Quantity schema as one keyword: the same decision as everywhere else, at a third of the cost."""
    problem = quantity_problem(instance)
    if problem is not None:
        from jsonschema import ValidationError

        yield ValidationError(problem)


def _bounded(keyword: Callable[..., Any]) -> Callable[..., Any]:
    """``pattern`` or ``patternProperties``, which refuse an expression that can take for ever instead of trying it."""

    def bounded(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        from gllint_runtime.policy.patterns import backtracks

        for pattern in value if isinstance(value, dict) else [value]:
            if backtracks(pattern):
                from jsonschema import ValidationError

                yield ValidationError(f"the pattern {pattern!r} can take for ever, so it is not tried")
                return
        yield from keyword(validator, value, instance, schema) or ()

    return bounded


def _are_unique(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """``uniqueItems`` in a time that grows with the list, not with its square."""
    if value and isinstance(instance, list) and len(set(map(_identity, instance))) < len(instance):
        from jsonschema import ValidationError

        yield ValidationError(f"{shorten(repr(instance), _MAX_MESSAGE)} has elements that are not unique")


def _identity(value: Any) -> Any:
    """What is equal for equal JSON: 1 and 1.0 are, 1 and true are not."""
    if isinstance(value, dict):
        return frozenset((key, _identity(item)) for key, item in value.items())
    if isinstance(value, list):
        return tuple(map(_identity, value))
    return (bool, value) if isinstance(value, bool) else value


def inline_refs(schema: Any, quantity: Mapping[str, Any] = QUANTITY_BODY) -> Any:
    """A copy of ``schema`` with the schema ``quantity`` in place of each reference to the Quantity schema."""
    if isinstance(schema, (list, tuple)):
        return [inline_refs(item, quantity) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    copied = {key: inline_refs(item, quantity) for key, item in schema.items()}
    if copied.get("$ref") != QUANTITY_REF:
        return copied
    del copied["$ref"]
    if copied:  # what stands beside a $ref counts as well
        copied["allOf"] = [*copied.get("allOf", ()), quantity]
        return copied
    return dict(quantity)


def foreign_refs(schema: Any) -> list[Path]:
    """The paths of each ``$ref`` that leads neither to a place in ``schema`` nor to a known schema."""
    nodes = [(path, node) for path, node in subschemas(schema, aside=True) if isinstance(node, Mapping)]
    targets = {"#", *KNOWN_SCHEMAS}
    for _, node in nodes:
        targets.update(f"#{node[key]}" for key in ("$anchor", "$dynamicAnchor") if key in node)
        targets.update(str(node[key]) for key in ("$id",) if key in node)
    return [
        (*path, key)
        for path, node in nodes
        for key in ("$ref", "$dynamicRef")
        if isinstance(ref := node.get(key), str) and ref not in targets and not _leads_somewhere(schema, ref)
    ]


def _leads_somewhere(schema: Any, ref: str) -> bool:
    """Whether ``ref`` is a JSON pointer (``#/$defs/area``) to a part of ``schema``."""
    if not ref.startswith("#/"):
        return False
    node = schema
    for step in ref[2:].split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping) and name in node:
            node = node[name]
        elif isinstance(node, (list, tuple)) and name.isdecimal() and int(name) < len(node):
            node = node[int(name)]
        else:
            return False
    return True


def parse_stringified(data: Any, schema: Any) -> Any:
    """``data`` with JSON text parsed wherever ``schema`` wants an object or an array and forbids a string."""
    if not isinstance(schema, Mapping):
        return data
    if isinstance(data, str):
        types = set(_types(schema))
        if "string" in types or "any" in types or not types & {"object", "array"}:
            return data
        try:
            parsed = json.loads(data)
        except (ValueError, RecursionError):
            return data
        return parse_stringified(parsed, schema) if isinstance(parsed, (dict, list)) else data
    if isinstance(data, dict) and isinstance(properties := schema.get("properties"), Mapping):
        return {key: parse_stringified(item, properties.get(key)) for key, item in data.items()}
    if isinstance(data, list) and isinstance(items := schema.get("items"), Mapping):
        return [parse_stringified(item, items) for item in data]
    return data


def _types(schema: Any) -> Iterator[str]:
    """The types that a schema admits, ``"any"`` where that is not spelled out."""
    declared = schema.get("type") if isinstance(schema, Mapping) else None
    if isinstance(declared, str):
        yield declared
    elif isinstance(declared, (list, tuple)):
        yield from declared
    elif isinstance(schema, Mapping) and ("anyOf" in schema or "oneOf" in schema):
        for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
            yield from _types(branch)
    else:
        yield "any"

"""Holding data to a schema at execution: plain copies, cached validators, no ``$ref`` fetched from anywhere."""

from __future__ import annotations

import json
import math
import numbers
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

from gllint_runtime.schemas import (
    KNOWN_SCHEMAS,
    QUANTITY_KEYS,
    QUANTITY_REF,
    QUANTITY_SCHEMA,
    Path,
    as_plain,
    subschemas,
)

_MAX_DEPTH = 64
_QUANTITY_BODY = {key: value for key, value in QUANTITY_SCHEMA.items() if not key.startswith("$")}

Checker = Callable[[Any], tuple[Path, str] | None]


def plain(value: Any, depth: int = 0) -> Any:
    """A deep copy in JSON's own types, so that nobody holds a reference into what is verified.

    Models, dataclasses and tuples become objects and arrays, the value of a Quantity an ``int`` or ``float``
    whatever its number type. Raises ValueError for NaN, infinity and anything that JSON does not have.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return "".join(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is not a number that JSON has")
        return float(value)
    if depth > _MAX_DEPTH:
        raise ValueError("the data is nested too deeply")
    if isinstance(value, (list, tuple)):
        return [plain(item, depth + 1) for item in value]
    if isinstance(dumped := as_plain(value), Mapping):
        is_quantity = dumped.keys() == QUANTITY_KEYS
        copied = {}
        for key, item in dumped.items():
            if not isinstance(key, str):
                raise ValueError(f"the key {key!r} is not text")
            copied[key] = plain(_built_in(item) if is_quantity else item, depth + 1)
        return copied
    raise ValueError(f"a {type(value).__name__} is not data that JSON has")


def _built_in(number: Any) -> Any:
    """A Decimal, Fraction or NumPy number as ``int`` or ``float``; anything else unchanged."""
    if isinstance(number, numbers.Integral):
        return number if isinstance(number, bool) else int(number)
    return float(number) if isinstance(number, (numbers.Real, Decimal)) else number


def checker(schema: Any) -> Checker:
    """A function that returns ``None`` for data that fits ``schema``, else the path and the message of the best error.

    The validator is built at the first use and kept.
    """

    own = inline_refs(schema)

    @lru_cache(maxsize=1)
    def validator() -> Any:
        from jsonschema import Draft202012Validator
        from referencing import Registry

        return Draft202012Validator(own, registry=Registry())

    def check(data: Any) -> tuple[Path, str] | None:
        if validator().is_valid(data):
            return None
        from jsonschema.exceptions import best_match

        error = best_match(validator().iter_errors(data))
        return tuple(error.absolute_path), error.message

    return check


def inline_refs(schema: Any) -> Any:
    """A copy of ``schema`` in which the Quantity schema stands in place of each reference to it."""
    if isinstance(schema, (list, tuple)):
        return [inline_refs(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    copied = {key: inline_refs(item) for key, item in schema.items()}
    if copied.get("$ref") != QUANTITY_REF:
        return copied
    del copied["$ref"]
    if copied:  # what stands beside a $ref counts as well
        copied["allOf"] = [*copied.get("allOf", ()), _QUANTITY_BODY]
        return copied
    return dict(_QUANTITY_BODY)


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
        except ValueError:
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

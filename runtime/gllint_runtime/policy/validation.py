"""Checks data against a schema at execution: cached validators, no ``$ref`` fetched from anywhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from textwrap import shorten
from typing import Any

from gllint_runtime.policy.patterns import SlowPattern, is_in
from gllint_runtime.policy.schemas import (
    EVERY_KEYWORD,
    KNOWN_SCHEMAS,
    QUANTITY_BODY,
    QUANTITY_REF,
    Path,
    alternatives,
    quantity_problem,
    subschemas,
)

_MAX_MESSAGE = 300
_QUANTITY_KEYWORD = "gllint:quantity"

Checker = Callable[[Any], tuple[Path, str] | None]


def checker(schema: Any) -> Checker:
    """Return a function that checks data against ``schema``: it returns ``None``, or the path and message of the
    first error.

    ``{"type": "number"}``, ``"a"`` → ``((), "'a' is not of type 'number'")``. The validator is built at the first use.
    """
    inlined = inline_refs(schema, {_QUANTITY_KEYWORD: True})

    @cache
    def validator() -> Any:
        """Build the validator with gllint's own keywords."""
        from jsonschema import Draft202012Validator
        from jsonschema.validators import extend
        from referencing import Registry

        extended: Any = extend  # untyped in its stubs
        keywords = {
            _QUANTITY_KEYWORD: _is_quantity,
            "additionalProperties": _additional_properties,
            "pattern": _pattern,
            "patternProperties": _pattern_properties,
            "uniqueItems": _are_unique,
        }
        return extended(Draft202012Validator, keywords)(inlined, registry=Registry())

    def check(data: Any) -> tuple[Path, str] | None:
        """Return the place and the text of the most relevant error, or ``None``."""
        try:
            if validator().is_valid(data):
                return None
        except RecursionError:
            return (), "the schema refers to itself endlessly"
        from jsonschema.exceptions import best_match

        error = best_match(validator().iter_errors(data))
        return tuple(error.absolute_path), shorten(error.message, _MAX_MESSAGE)

    return check


def _is_quantity(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """Yield the Quantity schema as one keyword: the same decision as everywhere else, at a third of the cost."""
    problem = quantity_problem(instance)
    if problem is not None:
        yield _refusal(problem)


def _refusal(message: str) -> Any:
    from jsonschema import ValidationError

    return ValidationError(message)


def _pattern(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """``pattern`` with a limit on its time."""
    try:
        if isinstance(instance, str) and not is_in(value, instance):
            yield _refusal(f"{shorten(repr(instance), _MAX_MESSAGE)} does not match {value!r}")
    except SlowPattern as error:
        yield _refusal(str(error))


def _pattern_properties(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """``patternProperties`` with a limit on the time of its expressions."""
    if not isinstance(instance, dict):
        return
    try:
        for pattern, subschema in value.items():
            for key, item in instance.items():
                if is_in(pattern, key):
                    yield from validator.descend(item, subschema, path=key, schema_path=pattern)
    except SlowPattern as error:
        yield _refusal(str(error))


def _additional_properties(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """``additionalProperties``, for the keys that no expression of ``patternProperties`` names."""
    from jsonschema import Draft202012Validator

    patterns = schema.get("patternProperties", {})
    try:
        if isinstance(instance, dict):
            instance = {
                k: v for k, v in instance.items() if not any(is_in(pattern, k) for pattern in patterns)
            }
    except SlowPattern:  # as `patternProperties` says
        return
    plain = {"properties": schema.get("properties", {})}
    yield from (
        Draft202012Validator.VALIDATORS["additionalProperties"](validator, value, instance, plain) or ()
    )


def _are_unique(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """``uniqueItems`` in a time that grows with the list, not with its square."""
    if value and isinstance(instance, list) and len(set(map(_identity, instance))) < len(instance):
        yield _refusal(f"{shorten(repr(instance), _MAX_MESSAGE)} has elements that are not unique")


def _identity(value: Any) -> Any:
    """Return a key that is equal for equal JSON: 1 and 1.0 are equal, 1 and true are not."""
    if isinstance(value, dict):
        return frozenset((key, _identity(item)) for key, item in value.items())
    if isinstance(value, list):
        return tuple(map(_identity, value))
    return (bool, value) if isinstance(value, bool) else value


def inline_refs(schema: Any, quantity: Mapping[str, Any] = QUANTITY_BODY) -> Any:
    """Return a copy of ``schema`` in which the schema ``quantity`` replaces each reference to the Quantity schema."""
    if isinstance(schema, (list, tuple)):
        return [inline_refs(item, quantity) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    copied = {key: inline_refs(item, quantity) for key, item in schema.items()}
    if copied.get("$ref") != QUANTITY_REF:
        return copied
    del copied["$ref"]
    if copied:  # keywords next to a $ref count as well
        copied["allOf"] = [*copied.get("allOf", ()), quantity]
        return copied
    return dict(quantity)


def foreign_refs(schema: Any, known_schemas: Collection[str] = KNOWN_SCHEMAS) -> list[Path]:
    """Return the paths of each ``$ref`` that leads neither into ``schema`` nor to one of ``known_schemas``."""
    refs = [
        ((*path, key), ref)
        for path, node in subschemas(schema, keywords=EVERY_KEYWORD)
        if isinstance(node, Mapping)
        for key in ("$ref", "$dynamicRef")
        if isinstance(ref := node.get(key), str) and ref not in known_schemas
    ]
    if not refs:
        return []
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    registry = Registry().with_resource("", DRAFT202012.create_resource(schema))
    try:
        # Crawled at once: else each reference that leads nowhere has the whole schema walked again.
        resolver = registry.crawl().resolver()
    except (
        Exception
    ):  # the library stumbles over an invalid schema in many ways; GL203 says what is wrong with it
        return []
    dead = {ref for ref in {ref for _, ref in refs} if not _resolves(resolver, ref)}
    return [path for path, ref in refs if ref in dead]


def _resolves(resolver: Any, ref: str) -> bool:
    try:
        resolver.lookup(ref)
    except Exception:  # also where the way leads through what is no schema
        return False
    return True


_OF_SAME_VALUE = ("not", "if", "then", "else")


def endless_refs(schema: Any) -> list[Path]:
    """Return the paths of references by which a schema leads back to itself for the same value.

    ``{"$ref": "#"}`` → ``$ref``.

    A validator would never end there. Schemas of members and elements are no such way: they apply to other values.
    """
    nodes = dict(subschemas(schema, keywords=EVERY_KEYWORD))
    targets = {_pointer(path): path for path in nodes}
    leads = {path: list(_same_value(path, node, targets)) for path, node in nodes.items()}
    entered: set[Path] = set()
    finished: set[Path] = set()
    endless = []
    for start in leads:
        waiting: list[tuple[Path, bool]] = [(start, False)]
        while waiting:
            path, is_done = waiting.pop()
            if is_done:
                finished.add(path)
            elif path not in entered:
                entered.add(path)
                waiting.append((path, True))
                for step, other in leads[path]:
                    if other in entered and other not in finished:  # it is on the way here: a circle
                        endless.append((*path, *step))
                    waiting.append((other, False))
    return list(dict.fromkeys(endless))


def _same_value(path: Path, node: Any, targets: Mapping[str, Path]) -> Iterator[tuple[Path, Path]]:
    """Yield the schemas in or behind ``node`` that apply to the same value: the steps from ``node`` to each, and
    its place.
    """
    if not isinstance(node, Mapping):
        return
    ref = node.get("$ref")
    if isinstance(ref, str) and ref in targets:
        yield ("$ref",), targets[ref]
    steps: list[Path] = [(key,) for key in _OF_SAME_VALUE if key in node]
    for key in ("allOf", "anyOf", "oneOf"):
        branches = node.get(key)
        steps += ((key, i) for i in range(len(branches) if isinstance(branches, (list, tuple)) else 0))
    yield from ((step, (*path, *step)) for step in steps)


def _pointer(path: Path) -> str:
    """Return the reference to a place of the same schema: ``#/$defs/x``."""
    return "#" + "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


def parse_stringified(data: Any, schema: Any, root: Any = None) -> Any:
    """Return ``data`` with JSON text parsed wherever ``schema`` wants an object or array and no string.

    ``'{"a": 1}'`` → a dict.

    ``root`` is the whole schema, into which references lead; ``schema`` itself by default.
    """
    root = schema if root is None else root
    if not isinstance(schema, Mapping):
        return data
    if isinstance(data, str):
        types = set(_types(root, schema))
        if "string" in types or "any" in types or not types & {"object", "array"}:
            return data
        try:
            parsed = json.loads(data)
        except (ValueError, RecursionError):
            return data
        return parse_stringified(parsed, schema, root) if isinstance(parsed, (dict, list)) else data
    if isinstance(data, dict) and isinstance(properties := schema.get("properties"), Mapping):
        return {key: parse_stringified(item, properties.get(key), root) for key, item in data.items()}
    if isinstance(data, list) and isinstance(items := schema.get("items"), Mapping):
        return [parse_stringified(item, items, root) for item in data]
    return data


def _types(root: Any, schema: Any) -> Iterator[str]:
    """Yield the types that a schema admits; ``"any"`` for a branch that names none."""
    for node in alternatives(root, [schema]):
        declared = node.get("type")
        if isinstance(declared, str):
            yield declared
        elif isinstance(declared, (list, tuple)):
            yield from declared
        elif node.keys().isdisjoint(("anyOf", "oneOf", "allOf", "$ref")):
            yield "any"

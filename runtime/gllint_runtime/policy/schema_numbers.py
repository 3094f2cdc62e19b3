"""What a schema lets through: bare numbers, numbers with a declared unit, Quantities written out, and dead references.

One judgement for both moments: the rules ask it of the schemas that the source writes out, ``gllint mcp`` of those
of a running server, the execution of those that a tool was made with. A *path* is the tuple of keys and indices from
the root to the part that is meant. Nothing is concluded about parts that are not known.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

from gllint_runtime.policy.schemas import (
    BRANCHES,
    EVERY_KEYWORD,
    KNOWN_SCHEMAS,
    NAMED,
    QUANTITY_REF,
    Path,
    Schema,
    is_inlined_quantity,
    is_opaque,
    numeric_keyword,
    subschemas,
)

UNIT_KEYWORDS = ("x-unit", "unit", "ucumUnit", "currency")
"""The keywords by which the schema of a number says its unit; the first that is there counts."""

SYSTEM_KEYWORD = "x-unit-system"


class SchemaUnit(NamedTuple):
    """A unit that a schema names, and the path of its text."""

    path: Path
    unit: str


def declared_unit(node: Any) -> SchemaUnit | None:
    """Return the unit that a schema declares for its number, ``{"x-unit": "kWh"}`` → ``kWh`` at ``("x-unit",)``;
    else ``None``.

    Codes of UCUM and UN/CEFACT are read where ``x-unit-system`` names the system, and in ``ucumUnit``. An unknown
    code keeps its system in front (``ucum:xyz``), so that it is no unit.
    """
    if isinstance(node, Mapping):
        for keyword in UNIT_KEYWORDS:
            if isinstance(unit := node.get(keyword), str):
                return SchemaUnit((keyword,), _decoded(unit, keyword, node.get(SYSTEM_KEYWORD)))
    return None


def _decoded(unit: str, keyword: str, system: Any) -> str:
    """Return a declared unit in gllint's spelling: ``"kW.h"`` under ``ucumUnit`` → ``"kWh"``."""
    if keyword == "ucumUnit":
        from gllint_runtime.policy.unit_codes import unit_of_code  # few schemas need it

        return unit_of_code(unit, "ucum") or f"ucum:{unit}"
    if keyword == "x-unit" and isinstance(system, str):
        from gllint_runtime.policy.unit_codes import SYSTEMS, unit_of_code

        return (unit_of_code(unit, system) or f"{system}:{unit}") if system in SYSTEMS else unit
    return unit


class SchemaNumber(NamedTuple):
    """A place where a schema admits a bare number: the path of its ``type``, ``const`` or ``enum``.

    ``declared`` is the unit that the property's schema declares for it, its path from the root.
    """

    path: Path
    declared: SchemaUnit | None


def schema_numbers(schema: Schema, shapes: Collection[str] = ()) -> Iterator[SchemaNumber]:
    """Yield the places where a schema admits a number outside a Quantity, outermost first, with the unit declared
    for it.

    ``{"properties": {"heat": {"type": "number"}}}`` → ``("properties", "heat", "type")``. Objects in ``shapes``
    are Quantities.
    """
    units: dict[Path | None, SchemaUnit] = {}
    skip = is_inlined_quantity if not shapes else lambda node: _is_quantity(node, shapes)
    # A unit that is declared around a branch of `anyOf`, or for a list, also holds within.
    for path, node in subschemas(schema, skip=skip):
        of_node = declared_unit(node)
        declared = (
            SchemaUnit((*path, *of_node.path), of_node.unit) if of_node else units.get(_same_value(path))
        )
        if declared is not None:
            units[path] = declared
        if isinstance(node, Mapping) and (keyword := numeric_keyword(node)) is not None:
            yield SchemaNumber((*path, keyword), declared)


def _is_quantity(node: Any, shapes: Collection[str]) -> bool:
    from gllint_runtime.policy.quantity_shapes import value_key  # few projects have other shapes

    if is_inlined_quantity(node):
        return True
    properties = node.get("properties") if isinstance(node, Mapping) else None
    return isinstance(properties, Mapping) and value_key([*properties], shapes) is not None


_OF_ELEMENTS = ("items", "contains", "unevaluatedItems")


def _same_value(path: Path) -> Path | None:
    """Return the path of the schema around ``path`` whose declared unit applies here, too; ``None`` if there is none.

    It is the schema whose branch this one is (``anyOf``), or the list whose elements this one describes (``items``).
    """
    if len(path) > 1 and path[-2] in BRANCHES and isinstance(path[-1], int):
        return path[:-2]
    named = len(path) > 1 and path[-2] in NAMED
    if path and not named and path[-1] in (*_OF_ELEMENTS, "then", "else"):
        return path[:-1]
    return None


def find_raw_numbers(
    schema: Schema,
    is_plain: Callable[[str, float], bool] | None = None,
    allows: Callable[[str], bool] = lambda unit: True,
    shapes: Collection[str] = (),
) -> list[Path]:
    """Return the places where a result schema admits a number without a unit (GL201), as paths of ``type``,
    ``const`` or ``enum``.

    Not reported: a number in a Quantity (:func:`find_inlined_quantities`), one under a key for which ``is_plain``
    is true, and one whose declared unit ``allows`` accepts.
    """
    return [
        path
        for path, declared in schema_numbers(schema, shapes)
        if (declared is None or not allows(declared.unit))
        and not (
            is_plain is not None
            and (key := property_of(path[:-1])) is not None
            and is_plain(key, _least_number(schema, path))
        )
    ]


def _least_number(schema: Schema, path: Path) -> float:
    """Return a number that a schema admits at ``path``: 0 if it wants an integer, else 0.5, which no count can be."""
    node: Any = schema
    for step in path:
        node = node[step]
    listed = node if isinstance(node, (list, tuple)) else (node,)
    is_fraction = "number" in listed or any(isinstance(value, float) and value % 1 for value in listed)
    return 0.5 if is_fraction else 0


def declared_units(schema: Schema) -> list[SchemaUnit]:
    """Return the units that a schema declares for its numbers, each once."""
    return list(dict.fromkeys(d for _, d in schema_numbers(schema) if d is not None))


def quantity_units(schema: Schema) -> Iterator[SchemaUnit]:
    """Yield the units that a schema names for the Quantities in it, with their paths.

    ``{"unit": {"const": "kWh"}}`` → ``kWh``.
    """
    for path, node in subschemas(schema):
        if not is_inlined_quantity(node) or not isinstance(unit := node["properties"]["unit"], Mapping):
            continue
        unit_path = (*path, "properties", "unit")
        for keyword in ("const", "default"):
            if isinstance(unit.get(keyword), str):
                yield SchemaUnit((*unit_path, keyword), unit[keyword])
        for keyword in ("enum", "examples"):
            values = unit.get(keyword)
            for number, value in enumerate(values if isinstance(values, (list, tuple)) else ()):
                if isinstance(value, str):
                    yield SchemaUnit((*unit_path, keyword, number), value)


def property_of(path: Path) -> str | None:
    """Return the property that the schema at ``path`` describes.

    ``("properties", "rows", "items")`` → ``"rows"``; else ``None``.
    """
    key: str | int | None = None
    steps = iter(path)
    for step in steps:
        if step in NAMED:
            name = next(steps, None)
            if step != "dependentSchemas":  # which describes the same value
                key = name if step == "properties" else None
        elif step in ("additionalProperties", "unevaluatedProperties"):
            key = None
    return key if isinstance(key, str) else None


def property_names(path: Path) -> tuple[str, ...] | None:
    """Return the properties that lead to the value at ``path``.

    ``("properties", "a", "items", "properties", "b")`` → ``a``, ``b``.

    ``None`` if the path has a step that is neither a property, a list nor a branch.
    """
    names: list[str] = []
    steps = iter(path)
    for step in steps:
        if step == "properties":
            names.append(str(next(steps, "")))
        elif step in BRANCHES:
            next(steps, None)
        elif step not in _OF_ELEMENTS:
            return None
    return tuple(names)


def find_inlined_quantities(schema: Schema) -> list[Path]:
    """Return the paths of the inlined Quantities within a schema, itself included."""
    return [path for path, node in subschemas(schema) if is_inlined_quantity(node)]


def demands_quantity(schema: Schema) -> bool:
    """Return whether ``schema`` refers to the Quantity schema anywhere, or declares the unit of a number.

    True as well where a part of the schema is unknown: it may be there.
    """
    for _, node in subschemas(schema):
        if is_opaque(node):
            return True
        if isinstance(node, Mapping):
            ref = node.get("$ref")
            if ref == QUANTITY_REF or is_opaque(ref) or any(map(is_opaque, node)):
                return True
    return any(number.declared is not None for number in schema_numbers(schema))


def unknown_refs(schema: Schema) -> list[Path]:
    """Return the paths of each ``$ref`` with the scheme ``greenlang:`` that names no known schema (GL204)."""
    return [
        (*path, "$ref")
        for path, node in subschemas(schema, keywords=EVERY_KEYWORD)
        if isinstance(node, Mapping)
        and isinstance(ref := node.get("$ref"), str)
        and ref.startswith("greenlang:")
        and ref.removesuffix("#") not in KNOWN_SCHEMAS
    ]

"""What a result schema lets through: bare numbers, Quantities written out, references to nothing.

A *path* is the tuple of keys and indices from the root to the part that is meant. Nothing is concluded about parts
that are not known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gllint_runtime.policy.schemas import (
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


def find_raw_numbers(schema: Schema, is_plain: Callable[[str], bool] | None = None) -> list[Path]:
    """Where a result schema admits a bare number (GL201): the path of the ``type``, ``const`` or ``enum``.

    Numbers inside an inlined Quantity are left to :func:`find_inlined_quantities`, those under a key
    that ``is_plain`` are none of this policy's.
    """
    return [
        (*path, keyword)
        for path, node in subschemas(schema, skip=is_inlined_quantity)
        if isinstance(node, Mapping)
        and (keyword := numeric_keyword(node)) is not None
        and not (is_plain is not None and _is_plain_property(path, is_plain))
    ]


def _is_plain_property(path: Path, is_plain: Callable[[str], bool]) -> bool:
    """Whether ``path`` leads to a plain key's value, or into a list of its values."""
    key: str | int | None = None
    steps = iter(path)
    for step in steps:
        if step in NAMED:
            name = next(steps, None)
            if step != "dependentSchemas":  # which speaks of the same value
                key = name if step == "properties" else None
        elif step in ("additionalProperties", "unevaluatedProperties"):
            key = None
    return isinstance(key, str) and is_plain(key)


def find_inlined_quantities(schema: Schema) -> list[Path]:
    """The paths of the inlined Quantities within a schema, itself included."""
    return [path for path, node in subschemas(schema) if is_inlined_quantity(node)]


def has_quantity_ref(schema: Schema) -> bool:
    """Whether the Quantity schema is referred to anywhere in ``schema``.

    Also true where a part of the schema is not known, since it may be there.
    """
    for _, node in subschemas(schema):
        if is_opaque(node):
            return True
        if isinstance(node, Mapping):
            ref = node.get("$ref")
            if ref == QUANTITY_REF or is_opaque(ref) or any(map(is_opaque, node)):
                return True
    return False


def unknown_refs(schema: Schema) -> list[Path]:
    """The paths of each ``$ref`` with the scheme ``greenlang:`` that is no known schema (GL204)."""
    return [
        (*path, "$ref")
        for path, node in subschemas(schema, keywords=EVERY_KEYWORD)
        if isinstance(node, Mapping)
        and isinstance(ref := node.get("$ref"), str)
        and ref.startswith("greenlang:")
        and ref.removesuffix("#") not in KNOWN_SCHEMAS
    ]

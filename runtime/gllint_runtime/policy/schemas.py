"""Quantities, claims and steps as data and as JSON Schema (Draft 2020-12), and what can be decided of both.

The functions on schemas and outputs take plain data. In a schema read from source some parts may be objects
that mean "not known here"; nothing is concluded about those. A *path* is the tuple of keys and indices
from the root to the value that is meant.
"""

import json
import numbers
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from gllint_runtime.policy.data_files import read

Schema = Any

Path = tuple[str | int, ...]
"""The keys and indices from the root to the value that is meant."""

QUANTITY_REF = "greenlang://schemas/quantity.json"
QUANTITY_KEYS = frozenset({"value", "unit"})

_SCHEMAS: dict[str, Any] = json.loads(read("schemas.json"))
QUANTITY_SCHEMA: dict[str, Any] = _SCHEMAS["quantity"]

QUANTITY_BODY = {key: value for key, value in QUANTITY_SCHEMA.items() if not key.startswith("$")}
"""The Quantity schema as it is inside another, without an identity of its own."""

QUANTITY_INLINED: dict[str, Any] = {
    "type": "object",
    "properties": {"value": {"type": "number"}, "unit": {"type": "string"}},
    "required": ["value", "unit"],
    "additionalProperties": False,
}
"""A Quantity written out for those who know no schema of ours, as every client reads it."""


def inlined_quantity(unit: str | None) -> dict[str, Any]:
    """Return a Quantity written out, in ``unit`` where that is known."""
    if unit is None:
        return QUANTITY_INLINED
    properties = {**QUANTITY_INLINED["properties"], "unit": {"const": unit}}
    return {**QUANTITY_INLINED, "properties": properties}


ASSISTANT_STEP_SCHEMA: dict[str, Any] = _SCHEMAS["step"]
FINAL_SCHEMA: dict[str, Any] = ASSISTANT_STEP_SCHEMA["oneOf"][1]["properties"]["final"]
CLAIM_SCHEMA: dict[str, Any] = FINAL_SCHEMA["properties"]["claims"]["items"]

KNOWN_SCHEMAS: Mapping[str, dict[str, Any]] = {QUANTITY_REF: QUANTITY_SCHEMA}


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit: the only way a number travels. Nothing is checked here; the runtime does."""

    value: float
    unit: str

    def to_dict(self) -> dict[str, Any]:
        """``{"value": …, "unit": …}``"""
        return {"value": self.value, "unit": self.unit}


@dataclass(frozen=True, slots=True)
class Claim:
    """One entry of ``claims``: the tool call, the path in its output, and the Quantity said to be there.

    ``basis`` is the convention that it is said to follow (``"GWP100 AR6"``), where the tool's schema declares one.
    """

    source_call_id: str
    path: str
    quantity: Quantity
    basis: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the claim as a final step has it."""
        data = {"source_call_id": self.source_call_id, "path": self.path, "quantity": self.quantity.to_dict()}
        return data if self.basis is None else {**data, "basis": self.basis}


class SchemaProblem(NamedTuple):
    """One cause for which a schema is rejected: where, what, and under which keyword."""

    path: Path
    message: str
    keyword: str
    is_undeclared: bool = False  # a name in `required` that `properties` does not declare


# ------------------------------------------------------------------------------------- walking a schema

_MOST_NODES = 200  # that are asked of one value
_PLACE_DIGITS = 9  # of a place in a list
BRANCHES = ("anyOf", "oneOf", "allOf", "prefixItems")
NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
OF_THE_VALUE = (
    *("items", "contains", "unevaluatedItems"),
    *("additionalProperties", "unevaluatedProperties"),
    *("then", "else", *BRANCHES, *NAMED),
)
EVERY_KEYWORD = (*OF_THE_VALUE, "not", "if", "propertyNames")
"""``OF_THE_VALUE``, plus the keywords whose schemas describe what the value is *not*, or only its keys. No number of
the value passes through these."""


def is_opaque(value: Any) -> bool:
    """True for a placeholder of something unknown."""
    return value is not None and not isinstance(value, (str, bool, Mapping, list, tuple, numbers.Number))


def subschemas(
    schema: Schema, *, keywords: Collection[str] = OF_THE_VALUE, skip: Callable[[Any], bool] | None = None
) -> Iterator[tuple[Path, Any]]:
    """Yield ``schema`` and each schema in it under ``keywords``, with its path, outermost first, not only
    mappings.

    ``{"items": {"type": "number"}}`` → ``()`` and ``("items",)``. A part for which ``skip`` is true is left out as
    a whole.
    """
    # A stack instead of recursion: a schema may be nested more deeply than Python allows.
    waiting: list[tuple[Path, Any]] = [((), schema)]
    while waiting:
        path, node = waiting.pop()
        if skip is not None and skip(node):
            continue
        yield path, node
        if not isinstance(node, Mapping):
            continue
        inner: list[tuple[Path, Any]] = []
        for key in keywords:
            value = node.get(key)
            if key in BRANCHES:
                branches = enumerate(value) if isinstance(value, (list, tuple)) else ()
                inner.extend(((*path, key, i), branch) for i, branch in branches)
            elif key in NAMED:
                named = value.items() if isinstance(value, Mapping) else ()
                inner.extend(((*path, key, name), child) for name, child in named)
            elif key in node:
                inner.append(((*path, key), value))
        waiting.extend(reversed(inner))


def referent(root: Schema, ref: str) -> Any:
    """Return the part of ``root`` that a local reference names.

    ``"#/$defs/a"`` → ``root["$defs"]["a"]``; ``None`` if missing.
    """
    node: Any = root
    for step in ref[1:].split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        place = int(step[:_PLACE_DIGITS]) if step.isdecimal() else -1
        if isinstance(node, Mapping):
            node = node.get(step)
        elif isinstance(node, (list, tuple)) and 0 <= place < len(node):
            node = node[place]
        else:
            return None
    return node


def alternatives(root: Schema, schemas: Iterable[Any]) -> list[Mapping[Any, Any]]:
    """Return ``schemas`` and all parts of ``root`` that apply to the same value: their branches and local
    references.
    """
    nodes: list[Mapping[Any, Any]] = []
    waiting = [*schemas][::-1]
    seen: set[int] = set()
    while waiting and len(nodes) < _MOST_NODES:
        node = waiting.pop()
        if not isinstance(node, Mapping) or id(node) in seen:
            continue
        seen.add(id(node))
        nodes.append(node)
        for key in ("anyOf", "oneOf", "allOf"):
            if isinstance(branches := node.get(key), (list, tuple)):
                waiting.extend(reversed(branches))
        if isinstance(ref := node.get("$ref"), str) and ref.startswith("#"):
            waiting.append(referent(root, ref))
    return nodes


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Number) and not isinstance(value, bool)


def numeric_keyword(node: Mapping[Any, Any]) -> str | None:
    """Return the keyword by which a schema admits a number.

    Example: ``"type"``, ``"const"`` or ``"enum"``; ``None`` if none does.
    """
    declared = node.get("type")
    types = declared if isinstance(declared, (list, tuple)) else (declared,)
    if any(isinstance(name, str) and name in _NUMERIC_TYPES for name in types):
        return "type"
    if _is_number(node.get("const")):
        return "const"
    values = node.get("enum")
    if isinstance(values, (list, tuple)) and any(_is_number(value) for value in values):
        return "enum"
    return None


def is_inlined_quantity(schema: Schema) -> bool:
    """Return whether a schema spells out a Quantity: an object with exactly ``value``, a number, and ``unit``, a text.

    A ``value`` or ``unit`` whose type is not known counts as one.
    """
    if not isinstance(schema, Mapping) or schema.get("type", "object") != "object":
        return False
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or set(properties) != QUANTITY_KEYS:
        return False
    value = properties["value"]
    if not isinstance(value, Mapping) or not _may_be(value, _is_number, _NUMERIC_TYPES):
        return False
    return _may_be(properties["unit"], lambda unit: isinstance(unit, str), _TEXT_TYPES)


_NUMERIC_TYPES = frozenset({"number", "integer"})
_TEXT_TYPES = frozenset({"string"})
_MOST_BRANCHES = 1000


def _may_be(schema: Schema, is_wanted: Callable[[Any], bool], types: frozenset[str]) -> bool:
    """Return whether a schema may admit a value of ``types``; False only where its keywords exclude it for certain."""
    waiting = [schema]
    for _ in range(_MOST_BRANCHES):
        if not waiting:
            return False
        node = waiting.pop()
        if node is False:
            continue
        if not isinstance(node, Mapping):
            return True
        declared = node.get("type")
        names = declared if isinstance(declared, (list, tuple)) else [declared]
        if "type" in node and not any(is_opaque(n) or (isinstance(n, str) and n in types) for n in names):
            continue
        values = [node["const"]] if "const" in node else node.get("enum")
        if isinstance(values, (list, tuple)) and not any(is_opaque(v) or is_wanted(v) for v in values):
            continue
        branches = next((b for k in ("anyOf", "oneOf") if isinstance(b := node.get(k), (list, tuple))), None)
        if branches is None:
            return True
        waiting.extend(branches)
    return True


# ------------------------------------------------------------------------------------ validity of a schema


def schema_problems(schema: Schema) -> list[SchemaProblem]:
    """Return why ``schema`` cannot be used (GL203), one problem for each place.

    It is not valid in Draft 2020-12, or ``required`` names a property that ``properties`` does not declare.
    """
    problems: dict[Path, SchemaProblem] = {}
    for problem in (*_invalid_keywords(schema), *_undeclared_required(schema)):
        problems.setdefault(problem.path, problem)
    return sorted(problems.values(), key=lambda problem: [str(step) for step in problem.path])


def _invalid_keywords(schema: Schema) -> Iterator[SchemaProblem]:
    """Yield a problem for each keyword that Draft 2020-12 rejects: ``{"type": "numbr"}``."""
    if is_opaque(schema) or _plainly_valid(schema):
        return
    from jsonschema import Draft202012Validator, FormatChecker

    meta = Draft202012Validator(Draft202012Validator.META_SCHEMA, format_checker=FormatChecker(["regex"]))
    for error in meta.iter_errors(_plain_keys(schema)):
        path = tuple(error.absolute_path)
        if not _holds_opaque(error.instance):
            keyword = next((step for step in reversed(path) if isinstance(step, str)), "")
            yield SchemaProblem(path, _explain(error.instance, keyword, error.message), keyword)


_JSON_TYPES = frozenset({"number", "integer", "string", "boolean", "object", "array", "null"})


def _plainly_valid(schema: Schema) -> bool:
    """Return whether a schema has only everyday keywords, each with a value of the right type: a quick yes for
    most schemas.

    The validator, which takes a millisecond for each schema, decides about all others.
    """
    if isinstance(schema, bool):
        return True
    return isinstance(schema, Mapping) and all(
        isinstance(keyword, str) and keyword in _EVERYDAY and _EVERYDAY[keyword](value)
        for keyword, value in schema.items()
    )


def _schemas_by_name(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and _plainly_valid(schema) for name, schema in value.items()
    )


def _names(value: Any) -> bool:
    return (
        isinstance(value, list) and all(isinstance(n, str) for n in value) and len(set(value)) == len(value)
    )


_EVERYDAY: dict[str, Callable[[Any], bool]] = {
    "type": lambda value: isinstance(value, str) and value in _JSON_TYPES,
    "properties": _schemas_by_name,
    "$defs": _schemas_by_name,
    "items": _plainly_valid,
    "additionalProperties": _plainly_valid,
    "required": _names,
    "description": lambda value: isinstance(value, str),
    "title": lambda value: isinstance(value, str),
    "enum": lambda value: isinstance(value, list),
    "default": lambda value: not _holds_opaque(value),
    "$ref": lambda value: isinstance(value, str) and " " not in value,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    **dict.fromkeys(
        ("minLength", "maxLength", "minItems", "maxItems"),
        lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0,
    ),
}


def _explain(value: Any, keyword: str, message: str) -> str:
    if keyword == "type":
        return f"{value!r} is not a JSON Schema type"
    if isinstance(value, (Mapping, list, tuple)) and len(repr(value)) > 60:
        return f"'{keyword}' is not valid here"
    return f"'{keyword}': {message}" if len(message) < 200 else f"'{keyword}' has an invalid value"


def _holds_opaque(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(is_opaque(key) or _holds_opaque(item) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return any(_holds_opaque(item) for item in value)
    return is_opaque(value)


def _plain_keys(value: Any) -> Any:
    """Return the schema without keys that are not text and with tuples as lists, as a validator expects it."""
    if isinstance(value, Mapping):
        return {key: _plain_keys(item) for key, item in value.items() if isinstance(key, str)}
    if isinstance(value, (list, tuple)):
        return [_plain_keys(item) for item in value]
    return value


def _undeclared_required(schema: Schema) -> Iterator[SchemaProblem]:
    """Yield a problem for each ``required`` property that ``properties`` does not declare.

    Branches of ``anyOf`` and ``oneOf`` are not looked at, as what they require is optional; other branches
    (``allOf``) may require what their parent declares.
    """
    always = [key for key in OF_THE_VALUE if key not in ("anyOf", "oneOf")]
    nodes: dict[Path, Any] = {}
    declared: dict[Path, set[str] | None] = {}
    for path, node in subschemas(schema, keywords=always):
        if not isinstance(node, Mapping):
            continue
        nodes[path] = node
        if not isinstance(required := node.get("required"), (list, tuple)):
            continue
        whole = _whole(path)
        if whole not in declared:
            declared[whole] = _declared(nodes[whole]) if whole in nodes else None
        names = declared[whole]
        if not names and path != whole:
            continue  # a branch of what declares nothing
        for i, name in enumerate(required):
            if isinstance(name, str) and names is not None and name not in names:
                message = f"'{name}' is required but not declared in properties"
                yield SchemaProblem((*path, "required", i), message, "required", is_undeclared=True)


def _whole(path: Path) -> Path:
    """Return the path of the outermost schema that describes the same value: ``("allOf", 0)`` → ``()``."""
    while path:
        named = len(path) > 1 and path[-2] in NAMED
        if len(path) > 1 and (
            path[-2] == "dependentSchemas" or (path[-2] == "allOf" and isinstance(path[-1], int))
        ):
            path = path[:-2]
        elif path[-1] in ("then", "else") and not named:
            path = path[:-1]
        else:
            break
    return path


def _declared(schema: Mapping[Any, Any]) -> set[str] | None:
    """Return the properties that a schema declares, its branches included; ``None`` if that is unknown."""
    names: set[str] = set()
    for _, node in subschemas(schema, keywords=_COMPOSED):
        if isinstance(node, bool):
            continue
        if not isinstance(node, Mapping) or _REACHES_OUT & node.keys():
            return None
        if any(map(is_opaque, (*node, *map(node.get, _COMPOSED)))):
            return None
        properties = node.get("properties", {})
        if not isinstance(properties, Mapping) or not all(isinstance(name, str) for name in properties):
            return None
        names |= properties.keys()
    return names


_COMPOSED = ("allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas")
_REACHES_OUT = {"$ref", "$dynamicRef", "patternProperties"}
_KEYWORDS = frozenset({*EVERY_KEYWORD, *_SCHEMAS["other keywords"]})


def misspelt_keywords(schema: Schema) -> list[tuple[Path, str]]:
    """Return the paths of keys that nearly are a keyword and so check nothing, with the keyword.

    ``requierd`` → ``required``.
    """
    from difflib import get_close_matches

    folded = {keyword.lower(): keyword for keyword in _KEYWORDS}
    return [
        ((*path, key), folded[meant[0]])
        for path, node in subschemas(schema, keywords=EVERY_KEYWORD)
        if isinstance(node, Mapping)
        for key in node
        if isinstance(key, str) and key not in _KEYWORDS and not re.match(r"x[-_]", key)
        if (meant := get_close_matches(key.lower().replace("_", ""), folded, cutoff=0.8))
    ]


# ---------------------------------------------------------------------------------------------- quantities


def quantity_problem(value: Any) -> str | None:
    """Return why data is no Quantity, ``None`` if it is one.

    ``{"value": "5", "unit": "kWh"}`` → "the value of a Quantity must be a number, not str".
    """
    if not isinstance(value, dict):
        return "a Quantity must be an object with 'value' and 'unit'"
    if value.keys() != QUANTITY_KEYS:
        return "a Quantity must have exactly the keys 'value' and 'unit'"
    number, unit = value["value"], value["unit"]
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        return f"the value of a Quantity must be a number, not {type(number).__name__}"
    if not abs(number) <= sys.float_info.max:  # `not … <=`, which NaN fails as well
        return "the value of a Quantity must be finite and within the range of a float"
    return (
        None if isinstance(unit, str) else f"the unit of a Quantity must be text, not {type(unit).__name__}"
    )


def is_plain_key(key: str, patterns: Collection[str]) -> bool:
    """Return whether a project declares that numbers under this key are no quantities (``"*_id"``, ``"page"``)."""
    return any(fnmatchcase(key, pattern) for pattern in patterns)


def show_path(path: Path) -> str:
    """``("items", 0, "energy")`` → ``"$.items[0].energy"``"""
    text = "$"
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}"
    return text

"""GL201, GL202, GL204: make result schemas refer to the Quantity where the result has one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import libcst as cst

from gllint_rules.finding import Edit, Fix
from gllint_rules.fixes.nodes import (
    has_comment,
    layout,
    literal_keys,
    string,
    with_entries,
    with_keyword,
    without,
)
from gllint_rules.fixes.syntax import SyntaxPlace, place_of
from gllint_rules.inference import classes
from gllint_rules.inference.values import (
    NEVER,
    NONE,
    ClassOf,
    DictOf,
    External,
    Number,
    Record,
    Site,
    Value,
    options,
)
from gllint_rules.project.context import Context
from gllint_rules.project.results import is_quantity
from gllint_rules.project.schema_users import is_of_arguments, users_of
from gllint_rules.project.schemas import Path, SchemaLiteral
from gllint_rules.tools.tool import Tool
from gllint_runtime.policy.schema_numbers import find_inlined_quantities
from gllint_runtime.policy.schemas import QUANTITY_REF

REFER = "Refer to the Quantity schema"
_KEPT = frozenset({"description", "title", "$comment", "deprecated", "unit", "units"})
_OF_OBJECTS = frozenset({"type", "properties", "required", "additionalProperties", "$schema", "$id"}) | _KEPT
_NUMERIC = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"})
_OF_LISTS = frozenset({"items", "prefixItems", "contains", "unevaluatedItems"})
_MOST_NESTING = 5  # levels of objects in a schema that is added


# --- GL201 ---------------------------------------------------------------------------------------------------


def _number_at(context: Context, schema: SchemaLiteral, path: Path) -> SyntaxPlace | None:
    """Return the schema with the numeric ``type`` at ``path``: ``{"type": "number"}``; ``None`` to leave it."""
    site = schema.places.get(path[:-1])
    if path[-1] != "type" or site is None or site.module is not schema.place(path).module or _in_list(path):
        return None
    place = place_of(context, site)
    if place is None or not isinstance(place.node, cst.Dict) or is_of_arguments(context, site):
        return None
    return place


def refer_to_quantity(context: Context, schema: SchemaLiteral, path: Path) -> Fix | None:
    """Return the fix that makes the number with the ``type`` at ``path`` a Quantity: ``{"$ref": "greenlang:…"}``."""
    place = _number_at(context, schema, path)
    if place is None or not isinstance(place.node, cst.Dict):
        return None
    return place.fix(_referring(place.node), REFER)


def _referring(node: cst.Dict) -> cst.Dict | None:
    """Return a schema with a reference for its numeric type: ``{"type": "number"}`` → ``{"$ref": "greenlang:…"}``.

    ``None`` if it has keywords with another meaning, or may be of a type that is no number.
    """
    keys = literal_keys(node)
    if keys is None or any(k not in _KEPT | _NUMERIC | {"type"} and not k.startswith("x-") for k in keys):
        return None
    element = keys["type"]
    types = _types(element.value)
    if types is None or not types <= {"number", "integer", "null"}:
        return None
    like = cst.ensure_type(element.key, cst.SimpleString)
    if "null" in types:
        either = layout([{"$ref": QUANTITY_REF}, {"type": "null"}], 0, "")
        new = element.with_changes(key=string("anyOf", like), value=cst.parse_expression(either))
    else:
        new = element.with_changes(key=string("$ref", like), value=string(QUANTITY_REF, like))
    dropped = [keys[key] for key in keys if key in _NUMERIC]
    elements = [new if e is element else e for e in node.elements]
    annotations = without(elements, lambda e: e in dropped, node.rbrace.whitespace_before)
    return node.with_changes(elements=annotations) if annotations is not None else None


def _types(node: cst.BaseExpression) -> set[str] | None:
    """Return the types of a ``type`` keyword: ``["number", "null"]`` → both; ``None`` if one is not literal."""
    match node:
        case cst.SimpleString():
            return {str(node.evaluated_value)}
        case cst.List(elements=elements):
            texts = [e.value.evaluated_value for e in elements if isinstance(e.value, cst.SimpleString)]
            return set(map(str, texts)) if len(texts) == len(elements) else None
        case _:
            return None


def _in_list(path: Path) -> bool:
    """Return whether a path leads to the elements of a list, where no claim could reach a Quantity: ``("items",)``."""
    steps = iter(path)
    for step in steps:
        if step in _OF_LISTS:
            return True
        # What follows is a name, which may be "items", too.
        if step in ("properties", "patternProperties", "$defs", "definitions"):
            next(steps, None)
    return False


# --- GL202 ---------------------------------------------------------------------------------------------------


def declare_quantities(context: Context, tool: Tool, schema: SchemaLiteral | None) -> Fix | None:
    """Return the fix that declares the Quantities of a tool's results in its schema; without one, it adds a schema."""
    if schema is None:
        return _add_schema(context, tool)
    if find_inlined_quantities(schema.data):
        return _replace_inlined(context, schema)
    required = _schema_of_results(context, tool)
    place = place_of(context, schema.site)
    if required is None or place is None or not isinstance(place.node, cst.Dict):
        return None
    if is_of_arguments(context, schema.site) or not _is_own(context, schema.site, tool):
        return None
    node = _merged(place, place.node, required)
    return place.fix(node, REFER)


def _is_own(context: Context, site: Site, tool: Tool) -> bool:
    """Return whether the schema at ``site`` is used by the tool and nothing else."""
    return users_of(context, site) == [(tool.module.path, tool.at)]


def _add_schema(context: Context, tool: Tool) -> Fix | None:
    """Return the fix that adds a result schema to the call that creates a tool: ``Tool(fn=f, result_schema={…})``."""
    place = place_of(context, Site(tool.module, tool.at))
    required = _schema_of_results(context, tool)
    if required is None or place is None or not isinstance(place.node, cst.Call) or tool.call is None:
        return None
    if takes_keyword(context, tool, "result_schema") is False:
        return None
    column, indent = _layout_of_arguments(place, place.node)
    text = layout(required, column + len("result_schema="), indent)
    node = with_keyword(place.node, "result_schema", cst.parse_expression(text))
    return place.fix(node, "Add a result schema")


def takes_keyword(context: Context, tool: Tool, name: str) -> bool | None:
    """Return whether the call that creates a tool may get the keyword ``name``; ``None`` if that is not known.

    Not if it has the keyword, or a ``**spread`` that may contain it.
    """
    assert tool.call is not None
    if any(keyword in (None, name) for keyword, _ in tool.call.keywords):
        return False
    takes: bool | None = None
    for option in options(context.eval(tool.call.func, tool.scope)):
        if isinstance(option, ClassOf):
            names = classes.parameters_of(context.evaluator, option)
            if names is not None and name not in names:
                return False
            takes = True if names is not None else None
        elif isinstance(option, External) and option.name.startswith("gllint_runtime."):
            takes = True
    return takes


def _layout_of_arguments(place: SyntaxPlace, node: cst.Call) -> tuple[int, str]:
    """Return the column of a further argument, and the indent of its lines relative to the statement.

    ``Tool(fn=f)`` → the end of the call, ``""``; with one argument a line → that of the arguments, ``"    "``.
    """
    lines = place.code(node).splitlines()
    if len(lines) < 2 or not isinstance(node.whitespace_before_args, cst.ParenthesizedWhitespace):
        return place.positions.span(place.at).end_column, ""
    first_argument = lines[1]
    indent = first_argument[: len(first_argument) - len(first_argument.lstrip())]
    return len(indent), indent.removeprefix(place.indent)


def _schema_of_results(context: Context, tool: Tool) -> dict[str, Any] | None:
    """Return the schema that all results of a tool satisfy, with their Quantities; ``None`` if they have none."""
    values = [option for result in context.results_of(tool) for option in options(result.value)]
    return _schema_of(values)


def _schema_of(values: Sequence[Value], depth: int = 0) -> dict[str, Any] | None:
    """Return the schema that all ``values`` satisfy, with references for their Quantities; ``None`` without any.

    ``{"heat": a Quantity}`` → ``{"type": "object", "required": ["heat"], "properties": {"heat": {"$ref": …}}}``
    """
    values = [value for value in values if value is not NEVER]
    present = [value for value in values if value is not NONE]
    if not present or depth > _MOST_NESTING:
        return None
    if all(isinstance(v, Number) or (isinstance(v, Record) and is_quantity(v)) for v in present):
        ref = {"$ref": QUANTITY_REF}
        return {"anyOf": [ref, {"type": "null"}]} if len(present) < len(values) else ref
    records = [v for v in present if isinstance(v, DictOf) and not is_quantity(v)]
    names = dict.fromkeys(k for record in records for k in record.entries if isinstance(k, str))
    properties: dict[str, Any] = {}
    required = []
    for name in names:
        entry_values = [o for r in records for e in r.entries.get(name, ()) for o in options(e.value)]
        schema = _schema_of(entry_values, depth + 1)
        if schema is not None:
            properties[name] = schema
            if len(records) == len(values) and all(name in record.sure for record in records):
                required.append(name)
    if not properties:
        return None
    needs: dict[str, Any] = {"required": required} if required else {}
    return {"type": "object", **needs, "properties": properties}


def _merged(place: SyntaxPlace, node: cst.Dict, required: dict[str, Any]) -> cst.Dict | None:
    """Return the schema ``node`` with the Quantities of ``required``; ``None`` if the two contradict each other.

    ``{"type": "object"}`` → ``{"type": "object", "properties": {"heat": {"$ref": …}}}``
    """
    keys = literal_keys(node)
    if keys is None or has_comment(node):
        return None
    if "properties" not in required or not keys:  # a Quantity itself, or `{}`
        if keys.keys() - _KEPT - {"type"}:
            return None
        return _with_annotations(place, keys, required)
    if "properties" not in keys:
        if keys.keys() - _KEPT - {"type", "required", "additionalProperties"}:
            return None
        if "type" in keys and "object" not in (_types(keys["type"].value) or ()):
            return None
        further = (key for key in ("type", "required", "properties") if key in required and key not in keys)
        return with_entries(node, ((key, _expression(place, node, required[key])) for key in further))
    return _with_properties(place, node, keys["properties"].value, required["properties"])


def _with_properties(
    place: SyntaxPlace, node: cst.Dict, declared: cst.BaseExpression, required: dict[str, Any]
) -> cst.Dict | None:
    """Return the schema ``node`` with the properties of ``required``; ``declared`` is the dict of those that it has."""
    by_name = literal_keys(declared) if isinstance(declared, cst.Dict) else None
    if by_name is None or not isinstance(declared, cst.Dict):
        return None
    missing = {name: schema for name, schema in required.items() if name not in by_name}
    new = with_entries(
        declared, ((name, _expression(place, declared, schema)) for name, schema in missing.items())
    )
    for name, schema in required.items():
        old = by_name[name].value if name in by_name else None
        changed = _merged(place, old, schema) if isinstance(old, cst.Dict) else None
        if old is not None and new is not None:
            new = new.deep_replace(old, changed) if changed is not None else None
    return node.deep_replace(declared, new) if new is not None else None


def _with_annotations(
    place: SyntaxPlace, keys: dict[str, cst.DictElement], schema: dict[str, Any]
) -> cst.Dict | None:
    """Return ``schema`` with the title, description and the like of an old one, whose entries are ``keys``."""
    new = cst.ensure_type(_expression(place, cst.Dict([]), schema), cst.Dict)
    return with_entries(new, ((name, e.value) for name, e in keys.items() if name != "type"))


def _expression(place: SyntaxPlace, node: cst.Dict, data: Any) -> cst.BaseExpression:
    """Return ``data`` as a literal, with the indent of an entry of ``node``."""
    opening = node.lbrace.whitespace_after
    if isinstance(opening, cst.ParenthesizedWhitespace):
        indent = opening.last_line.value
    else:
        span = place.positions.span(place.at)
        line = place.positions.lines.source[place.positions.lines.offset(span.line, 1) :]
        indent = line[: len(line) - len(line.lstrip(" \t"))].removeprefix(place.indent)
    return cst.parse_expression(layout(data, len(place.indent) + len(indent) + 24, indent))


def _replace_inlined(context: Context, schema: SchemaLiteral) -> Fix | None:
    """Return the fix that refers to the Quantity schema wherever ``schema`` spells it out.

    ``{"type": "object", "properties": {"value": …, "unit": …}}`` → ``{"$ref": "greenlang:…"}``. ``None`` if one of the
    places cannot be rewritten.
    """
    edits: list[Edit] = []
    for path in find_inlined_quantities(schema.data):
        site = schema.places.get(path)
        place = place_of(context, site)
        if site is None or place is None or place.module is not schema.site.module or _in_list(path):
            return None
        keys = literal_keys(place.node) if isinstance(place.node, cst.Dict) else None
        quantity_keys = {"type", "properties", "required", "additionalProperties"} | _KEPT
        if (
            keys is None
            or keys.keys() - quantity_keys
            or has_comment(place.node)
            or is_of_arguments(context, site)
        ):
            return None
        annotations = {k: e for k, e in keys.items() if k in _KEPT}
        node = _with_annotations(place, annotations, {"$ref": QUANTITY_REF})
        new_edits = place.replaced(node) if node is not None else None
        if new_edits is None:
            return None
        edits.extend(new_edits)
    return Fix("unsafe", REFER, tuple(edits))

"""The JSON Schemas in the source, as plain data with the place of each value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from gllint_rules.inference.values import (
    NONE,
    Boolean,
    Container,
    DictOf,
    Key,
    ListOf,
    Number,
    Site,
    Text,
    UnionOf,
    Value,
)
from gllint_rules.project.context import Context
from gllint_rules.reading.facts import Call, Expr, Scope
from gllint_rules.reading.reads import Read, noted
from gllint_rules.tools.tool import Tool
from gllint_rules.words.names import RESULT_SCHEMAS
from gllint_runtime.policy.schema_numbers import property_names, schema_numbers

Path = tuple[Key | int, ...]


class Opaque:
    """A part of a schema that is not a literal. No rule draws a conclusion from it."""

    def __repr__(self) -> str:
        return "<not known here>"


OPAQUE = Opaque()


class SchemaLiteral(Struct, eq=False):
    """A literal schema: its data, and for each path the place of the value."""

    data: Any
    site: Site
    places: dict[Path, Site] = field(default_factory=dict)

    def place(self, path: Path) -> Site:
        """Return the place of the value at ``path``, or of the nearest part around it."""
        while path not in self.places and path:
            path = path[:-1]
        return self.places.get(path, self.site)


def read_schema(context: Context, expr: Expr, scope: Scope) -> SchemaLiteral | None:
    """Return the schema that ``expr`` is, directly or through names and spreads; ``None`` if it is not a
    literal dict.
    """
    literals, reads = context.once(_read), context.project.reads
    if expr.at not in literals:
        literals[expr.at] = noted(reads, lambda: _literal(context.eval(expr, scope)))
    literal, read = literals[expr.at]
    if reads is not None:
        reads.now |= read
    return literal


def _read(context: Context) -> dict[int, tuple[SchemaLiteral | None, frozenset[Read]]]:
    """Return the store for the schemas of a module, by expression, with the sections read for each."""
    return {}


def _literal(value: Value) -> SchemaLiteral | None:
    if not isinstance(value, DictOf) or value.site is None:
        return None
    schema = SchemaLiteral(None, value.site)
    schema.data = _plain(value, (), schema.places, value.site)
    return schema


def _plain(value: Value, path: Path, places: dict[Path, Site], site: Site) -> Any:
    """Return a schema as plain data, and add the place of each part to ``places``; unknown parts are `Opaque`."""
    places[path] = site
    match value:
        case DictOf(rest=None):
            plain: dict[Any, Any] = {}
            for key, entries in value.entries.items():
                entry = entries[-1]
                name: Any = key
                if not isinstance(key, str):
                    name = Opaque()
                if len(entries) > 1:
                    places[(*path, key)] = entry.site
                    plain[name] = OPAQUE
                else:
                    plain[name] = _plain(
                        entry.value, (*path, key), places, _own_site(entry.value, entry.site)
                    )
            if value.open and not any(isinstance(k, Opaque) for k in plain):
                plain[Opaque()] = OPAQUE
            return plain
        case ListOf(rest=None):
            return [
                _plain(e.value, (*path, i), places, _own_site(e.value, e.site))
                for i, e in enumerate(value.items)
            ]
        case Text() if value.literal is not None:
            return value.literal
        case Number(literal=literal) if literal is not None:
            return literal
        case Boolean(literal=literal) if literal is not None:
            return literal
        case UnionOf():
            return OPAQUE
        case _ if value is NONE:
            return None
        case _:
            return OPAQUE


def _own_site(value: Value, site: Site) -> Site:
    """Return the place of a container itself, if it is known, else ``site``: a constant is reported where it is."""
    if isinstance(value, Container) and value.site is not None:
        return value.site
    return site


class KeywordSchema(Struct, frozen=True, eq=False):
    """A schema that is the keyword argument ``name`` of a call."""

    schema: SchemaLiteral
    call: Call
    name: str


def keyword_schemas(context: Context, names: tuple[str, ...]) -> Iterator[KeywordSchema]:
    """Yield the literal schemas given as one of the keywords ``names`` in a call of the module."""
    wanted = frozenset(names)
    for call, scope in context.module.calls_where(lambda section: not wanted.isdisjoint(section.keywords)):
        values = [(name, value) for name, value in call.keywords if name in names]
        if not values or any(
            first < call.at < last for first, last in context.module.section_of(call.at).compared
        ):
            continue  # the call is in a comparison of a test, and declares nothing
        for name, value in values:
            schema = read_schema(context, value, scope)
            if schema is not None and name is not None:
                yield KeywordSchema(schema, call, name)


def is_ours(context: Context, keyword_schema: KeywordSchema) -> bool:
    """Return whether a schema is that of a T1 tool. Only the runtime of these resolves ``greenlang:`` references."""
    return keyword_schema.name in RESULT_SCHEMAS and keyword_schema.call.at in context.once(_schema_calls)


def _schema_calls(context: Context) -> frozenset[int]:
    return frozenset(tool.call.at for tool in context.tools if tool.form == "T1" and tool.call is not None)


def declared_keys(context: Context, tool: Tool) -> frozenset[tuple[str, ...]]:
    """Return the key paths of the numbers for which the tool's own result schema declares an allowed unit.

    ``("rows", "heat")`` is such a path, where ``rows`` may be a list: paths do not name the elements of lists.
    """
    keys = context.once(_declared_keys)  # each number of a result asks
    if tool not in keys:
        schema = read_schema(context, tool.result_schema, tool.scope) if tool.result_schema else None
        numbers = schema_numbers(schema.data) if schema is not None else ()
        allowed = (path for path, unit in numbers if unit is not None and context.policy.allows(unit.unit))
        # The last step of a path is the keyword that makes it a number, such as `type`.
        names = (property_names(path[:-1]) for path in allowed)
        keys[tool] = frozenset(path for path in names if path is not None)
    return keys[tool]


def _declared_keys(context: Context) -> dict[Tool, frozenset[tuple[str, ...]]]:
    """Return the key paths of the tools that were asked about."""
    return {}

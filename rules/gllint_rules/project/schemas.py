"""JSON Schemas as the source writes them: plain data with the place of each value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gllint_rules import records
from gllint_rules.inference.values import (
    NONE,
    Boolean,
    Key,
    ListOf,
    Number,
    Record,
    Site,
    Text,
    UnionOf,
    Value,
)
from gllint_rules.project.context import Context
from gllint_rules.reading.facts import Expr, Scope
from gllint_rules.reading.reads import Read, noted
from gllint_rules.records import fresh

Path = tuple[Key | int, ...]


class Opaque:
    """A part of a schema that the source does not write out; nothing is concluded about it."""

    def __repr__(self) -> str:
        return "<not known here>"


OPAQUE = Opaque()


class SchemaLiteral(records.Record):
    """A schema that is written out: its data, and for each path the place of the value."""

    data: Any
    site: Site
    places: dict[Path, Site] = fresh(default_factory=dict)

    def place(self, path: Path) -> Site:
        """The place of the value at ``path``, or of what is nearest around it."""
        while path not in self.places and path:
            path = path[:-1]
        return self.places.get(path, self.site)


def read_schema(context: Context, expr: Expr, scope: Scope) -> SchemaLiteral | None:
    """The schema that ``expr`` is, directly or through names and spreads; ``None`` where it is no literal dict."""
    known, reads = context.once(_read), context.project.reads
    if expr.at not in known:
        known[expr.at] = noted(reads, lambda: _literal(context.eval(expr, scope)))
    literal, read = known[expr.at]
    if reads is not None:
        reads.now |= read
    return literal


def _read(context: Context) -> dict[int, tuple[SchemaLiteral | None, frozenset[Read]]]:
    """Those read so far, by expression, and what was read for each."""
    return {}


def _literal(value: Value) -> SchemaLiteral | None:
    if not isinstance(value, Record) or value.site is None or value.cls is not None or value.quantity:
        return None
    out = SchemaLiteral(None, value.site)
    out.data = _plain(value, (), out.places, value.site)
    return out


def _plain(value: Value, path: Path, places: dict[Path, Site], site: Site) -> Any:
    places[path] = site
    match value:
        case Record(cls=None, rest=None) if not value.quantity:
            out: dict[Any, Any] = {}
            for key, entries in value.entries.items():
                entry = entries[-1]
                name: Any = key
                if not isinstance(key, str):
                    name = Opaque()
                if len(entries) > 1:
                    places[(*path, key)] = entry.site
                    out[name] = OPAQUE
                else:
                    out[name] = _plain(entry.value, (*path, key), places, _own_site(entry.value, entry.site))
            if value.open and not any(isinstance(k, Opaque) for k in out):
                out[Opaque()] = OPAQUE
            return out
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
    """A schema that a constant names is reported where it is written."""
    if isinstance(value, (Record, ListOf)) and value.site is not None:
        return value.site
    return site


def keyword_schemas(context: Context, names: tuple[str, ...]) -> Iterator[SchemaLiteral]:
    """The literal schemas given as one of the keywords ``names`` in a call of the module."""
    wanted = frozenset(names)
    for call, scope in context.module.calls_where(lambda section: not wanted.isdisjoint(section.keywords)):
        given = [value for name, value in call.keywords if name in names]
        if not given or any(
            first < call.at < last for first, last in context.module.section_of(call.at).compared
        ):
            continue  # what a test expects declares nothing
        for value in given:
            schema = read_schema(context, value, scope)
            if schema is not None:
                yield schema

"""The parameters of a tool's callable: what its schema says about one, and whether an expression is one unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gllint_rules.inference import classes
from gllint_rules.inference.values import (
    BOOL,
    NONE,
    TEXT,
    UNKNOWN,
    Because,
    ClassOf,
    DictOf,
    Entry,
    Frame,
    Key,
    ListOf,
    Number,
    Record,
    Site,
    Text,
    Value,
    join,
    literal_of,
    options,
)
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Expr, Function, Module, Param, Scope
from gllint_rules.words.names import ARGS_SCHEMA

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator

_JSON_TYPES: dict[str, Value] = {"string": TEXT, "boolean": BOOL, "null": NONE}


def declared_by_schema(evaluator: Evaluator, schema: Expr, frame: Frame, param: Param) -> Value | None:
    """Return the value that ``schema``, the ``args_schema`` of a tool, declares for a parameter of its callable."""
    match schema:
        case facts.Call(func=facts.Attr(base=model, name="model_json_schema" | "schema")):
            schema = model  # the schema of a pydantic model says what its fields say
    fields: Record | None = None
    for option in options(evaluator.eval(schema, frame)):
        if isinstance(option, ClassOf):
            if param.kind == "double-star":
                fields = _model_record(evaluator, option)
            else:
                return evaluator.field(option, param.name)
        elif isinstance(option, Record):
            properties = option.get("properties")
            if isinstance(properties, Record):
                if param.kind == "double-star":
                    entries = {
                        key: tuple(Entry(_json_value(e.value, e.site), e.site) for e in schemas)
                        for key, schemas in properties.entries.items()
                    }
                    fields = DictOf(entries=entries, open=True)
                elif param.name in properties.entries:
                    [*_, entry] = properties.entries[param.name]
                    return _json_value(entry.value, entry.site)
    return fields


def _model_record(evaluator: Evaluator, of: ClassOf) -> Record:
    entries: dict[Key, tuple[Entry, ...]] = {}
    for name in classes.parameters_of(evaluator, of) or ():
        value = evaluator.field(of, name)
        if value is not None:
            entries[name] = (Entry(value, Site(of.module, of.cls.at)),)
    return DictOf(entries=entries, open=True)


def _json_value(schema: Value, site: Site) -> Value:
    """Return the value that fits a property's schema."""
    if not isinstance(schema, Record):
        return UNKNOWN
    kind = schema.get("type")
    names: list[str | None] = []
    for option in options(kind) if kind is not None else ():
        if isinstance(option, Text):
            names.append(option.literal)
        elif isinstance(option, ListOf):
            names.extend(literal_of(e.value) for e in option.items)
    values: list[Value] = []
    for name in names:
        if name in ("number", "integer"):
            values.append(Number(Because(f"`{ARGS_SCHEMA}` types it as {name}", site)))
        elif name == "array":
            items = schema.get("items")
            values.append(ListOf(rest=_json_value(items, site) if items is not None else UNKNOWN))
        else:
            values.append(_JSON_TYPES.get(name or "", UNKNOWN))
    return join(*values) if values else UNKNOWN


def argument_of(expr: Expr, scope: Scope, parameters: frozenset[str]) -> str | None:
    """Return the parameter that ``expr`` is, directly, cut to bounds, through a name, or out of ``**kwargs``."""
    for _ in range(8):
        expr = _within_bounds(expr)
        match expr:
            case facts.Sub(base=facts.Name(id=name), index=facts.Const(value=str() as key)):
                return key if name in parameters and _is_keywords(scope, name) else None
            case facts.Call(
                func=facts.Attr(base=facts.Name(id=name), name="get"), args=(facts.Const() as key, *_)
            ):
                return str(key.value) if name in parameters and _is_keywords(scope, name) else None
            case facts.Name(id=name):
                match scope.find(name):
                    case [facts.Binding(kind="param"), *others]:
                        is_kept = all(_is_cut_to_bounds(other, name) for other in others)
                        return name if is_kept and name in parameters else None
                    case [facts.Binding(kind="assign" | "annotated", value=value)] if value is not None:
                        expr = value
                    case _:
                        return None
            case _:
                return None
    return None


def _within_bounds(expr: Expr) -> Expr:
    """Return the expression that is cut to bounds, or read as a number: ``days`` of ``max(1,
    min(int(days), LIMIT))``.
    """
    match expr:
        case facts.Call(func=facts.Name(id="float" | "int" | "min" | "max"), args=args, keywords=()):
            inner = [
                arg for arg in args if not isinstance(arg, facts.Const) and not facts.last_name(arg).isupper()
            ]
            return _within_bounds(inner[0]) if len(inner) == 1 else expr
    return expr


def _is_cut_to_bounds(binding: facts.Binding, name: str) -> bool:
    """Return whether a variable is bound to itself, but for bounds: ``days = min(days, 90)``."""
    if binding.kind != "assign" or binding.value is None:
        return False
    inner = _within_bounds(binding.value)
    return isinstance(inner, facts.Name) and inner.id == name


def function_at(module: Module, at: int) -> Function | None:
    """Return the innermost ``def`` that contains expression ``at``."""
    functions = (function for function in module.section_of(at).functions if function.at < at < function.end)
    return max(functions, key=lambda function: function.at, default=None)


def _is_keywords(scope: Scope, name: str) -> bool:
    return any(isinstance(b.target, Param) and b.target.kind == "double-star" for b in scope.find(name))

"""What an instance is when it is made: a record of its arguments, an envelope around a payload, a Quantity."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gllint_rules.inference import annotations as hints
from gllint_rules.inference import classes
from gllint_rules.inference.values import (
    ClassOf,
    Entry,
    Frame,
    Instance,
    Key,
    Number,
    Record,
    Site,
    Value,
    number,
)
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Expr
from gllint_rules.words.names import QUANTITY

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator


def construct(evaluator: Evaluator, of: ClassOf, expr: facts.Call, frame: Frame) -> Value:
    """An instance made by ``expr``; of a class with annotated fields, a record of the arguments."""
    if of.cls.name == QUANTITY:
        return quantity(evaluator, expr, frame, of)
    payload = evaluator.tools.payload(of.cls.name)
    if payload is not None:
        return envelope(evaluator, payload, expr, frame, classes.parameters_of(evaluator, of) or [], of)
    if evaluator.tools.is_tool_class(of):
        return Instance(of)
    plain = classes.new_type(evaluator, of)
    if isinstance(plain, Number):
        return plain
    names = classes.parameters_of(evaluator, of)
    if names is None:
        return Instance(of)
    entries: dict[Key, tuple[Entry, ...]] = {}
    arguments: list[tuple[str, Expr]] = []
    for name, arg in zip(names, expr.args, strict=False):
        if isinstance(arg, facts.Star):
            break
        arguments.append((name, arg))
    arguments.extend((name, value) for name, value in expr.keywords if name is not None)
    spread = False
    for found in (evaluator.eval(value, frame) for name, value in expr.keywords if name is None):
        spread = spread or not isinstance(found, Record) or found.open
        for key, held in found.entries.items() if isinstance(found, Record) else ():
            entries[key] = tuple(replace(e, value=_in_field(evaluator, of, key, e.value)) for e in held)
    for name, arg in arguments:
        value = _in_field(evaluator, of, name, evaluator.eval(arg, frame))
        entries[name] = (Entry(value, Site(frame.module, arg.at)),)
    return Record(
        entries=entries,
        sure=frozenset(entries),
        open=spread or bool(expr.args),
        site=Site(frame.module, expr.at),
        cls=of,
    )


def _in_field(evaluator: Evaluator, of: ClassOf, name: Key, value: Value) -> Value:
    declared = evaluator.field(of, name)
    if declared is None:
        return value
    if isinstance(declared, Number) and not isinstance(value, Number):
        return declared
    if number(declared) is None:  # an optional number may be left out as well
        return hints.typed(evaluator, value, declared)
    return value


def envelope(
    evaluator: Evaluator,
    payload: frozenset[str],
    expr: facts.Call,
    frame: Frame,
    names: list[str],
    of: ClassOf | None,
) -> Record:
    """An envelope around a result (``ToolResult(…)``): only its payload goes to the model."""
    entries: dict[Key, tuple[Entry, ...]] = {}
    arguments = [*zip(names, expr.args, strict=False), *expr.keywords]
    for name, arg in arguments:
        if name in payload and name is not None:
            entries[name] = (Entry(evaluator.eval(arg, frame), Site(frame.module, arg.at)),)
    return Record(entries=entries, open=True, site=Site(frame.module, expr.at), cls=of)


def quantity(evaluator: Evaluator, expr: facts.Call, frame: Frame, of: ClassOf | None) -> Record:
    """A call of a class named ``Quantity``, of the project (``of``) or not."""
    entries: dict[Key, tuple[Entry, ...]] = {}
    for name, arg in zip(("value", "unit"), expr.args, strict=False):
        if isinstance(arg, facts.Star):
            return Record(quantity=True, open=True, site=Site(frame.module, expr.at), cls=of)
        entries[name] = (Entry(evaluator.eval(arg, frame), Site(frame.module, arg.at)),)
    spread = False
    for keyword, arg in expr.keywords:
        if keyword is None:
            spread = True
        else:
            entries[keyword] = (Entry(evaluator.eval(arg, frame), Site(frame.module, arg.at)),)
    return Record(
        entries=entries,
        sure=frozenset(entries),
        open=spread,
        site=Site(frame.module, expr.at),
        quantity=True,
        cls=of,
    )

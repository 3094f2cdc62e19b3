"""A helper of the project that wraps every number in its argument into a Quantity: ``wrap(o)``, which calls itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gllint_rules.inference.values import (
    Container,
    Entry,
    Frame,
    FunctionOf,
    Number,
    QuantityInstance,
    Record,
    UnionOf,
    Value,
    join,
)
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Function

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator

_NUMERIC = frozenset({"int", "float", "complex", "Decimal", "Fraction", "Number", "Real"})
_QUANTITY_KEYS = frozenset({"value", "unit"})


def wrapped(evaluator: Evaluator, callee: FunctionOf, call: facts.Call, frame: Frame) -> Value | None:
    """Return the argument of ``call`` with each number in a Quantity, if ``callee`` is a helper that wraps numbers.

    ``wrap({"a": 1})`` → ``{"a": {"value": 1, "unit": "kWh"}}``. ``None`` if it is another function. The module's
    docstring shows such a helper.
    """
    function = callee.function
    if not isinstance(function, Function) or not call.args or frame.scope.enclosing_function() is function:
        return None
    section = callee.module.section_of(function.at)
    if function.name not in section.section.calls or not any(
        facts.last_name(inner.func) == function.name and scope.enclosing_function() is function
        for inner, scope in section.calls
    ):
        return None  # it does not call itself, so it wraps no nested numbers
    name = callee.params[0].name if callee.params else ""
    message = "the helper asks whether it is one"
    parameter = evaluator.number(message, Frame(callee.module, function.scope), function.at)
    inner = Frame(callee.module, function.scope, {name: parameter})
    values = (evaluator.eval(branch, inner) for branch in _number_branches(function, name))
    quantity = next((value for value in values if isinstance(value, Record) and _is_whole(value)), None)
    if quantity is None:
        return None
    site = quantity.site or frame.site(call)

    def wrap(value: Value) -> Value:
        """Return a value with each of its numbers in the Quantity."""
        if isinstance(value, UnionOf):
            return join(*map(wrap, value.options))
        if isinstance(value, Number):
            return replace(quantity, entries={**quantity.entries, "value": (Entry(value, site),)})
        if isinstance(value, QuantityInstance) or not isinstance(value, Container):
            return value
        return value.each_changed(wrap)

    return wrap(evaluator.eval(call.args[0], frame))


def _is_whole(record: Record) -> bool:
    """Return whether a record has the keys of a Quantity and no others."""
    return record.entries.keys() == _QUANTITY_KEYS


def _number_branches(function: Function, name: str) -> Iterator[facts.Expr]:
    """Yield the expressions that a function may return where its argument ``name`` is a number.

    Those in branches that test for a number (``if isinstance(o, float): return …``), and that at its end.
    """
    for statement in facts.statements(function.body):
        match statement:
            case facts.If(test=test, body=body) if _asks_for_number(test, name):
                yield from _returned(body)
            case facts.Match(subject=facts.Name(id=subject), cases=cases) if subject == name:
                for _, body in cases:
                    yield from _returned(body)
    yield from _returned(function.body[-1:])


def _returned(body: facts.Block) -> Iterator[facts.Expr]:
    """Yield the expression of a ``return`` that is the first statement of ``body``."""
    for statement in body[:1]:
        if isinstance(statement, facts.Return) and statement.value is not None:
            yield statement.value


def _asks_for_number(test: facts.Expr, name: str) -> bool:
    """Return whether a test shows that ``name`` is a number: ``isinstance(o, float)``, also with ``and not …``."""
    match test:
        case facts.Call(func=facts.Name(id="isinstance"), args=(facts.Name(id=tested), kinds)):
            parts = kinds.items if isinstance(kinds, facts.Seq) else (kinds,)
            return tested == name and all(facts.last_name(part) in _NUMERIC for part in parts)
        case facts.BoolOp(op="and", left=left, right=right):
            return _asks_for_number(left, name) or _asks_for_number(right, name)
        case _:
            return False

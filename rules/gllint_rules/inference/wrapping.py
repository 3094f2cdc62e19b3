"""A helper of the project that wraps every number in its argument into a Quantity: ``wrap(o)``, which calls itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gllint_rules.inference.values import (
    Container,
    DictOf,
    Entry,
    Frame,
    FunctionOf,
    Key,
    Number,
    QuantityInstance,
    Site,
    UnionOf,
    Value,
    join,
)
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Dict, Function

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator

_NUMERIC = frozenset({"int", "float", "complex", "Decimal", "Fraction", "Number", "Real"})
_QUANTITY_KEYS = ("value", "unit")


def wrapped(evaluator: Evaluator, callee: FunctionOf, call: facts.Call, frame: Frame) -> Value | None:
    """Return what ``call`` gives where it calls such a helper; ``None`` where it calls another function."""
    function = callee.function
    if not isinstance(function, Function) or not call.args or frame.scope.enclosing_function() is function:
        return None
    if function.name not in callee.module.section_of(function.at).section.calls:
        return None  # it does not call itself
    display = _display(function, callee.params[0].name) if callee.params else None
    if display is None:
        return None
    unit = display.value(_QUANTITY_KEYS[1])
    inner = Frame(callee.module, function.scope)
    unit_entry = evaluator.entry(unit, inner) if unit is not None else None
    site = Site(callee.module, display.at)

    def quantity(value: Value) -> Value:
        if isinstance(value, UnionOf):
            return join(*map(quantity, value.options))
        if isinstance(value, Number) and unit_entry is not None:
            entries: dict[Key, tuple[Entry, ...]] = {"value": (Entry(value, site),), "unit": (unit_entry,)}
            return DictOf(entries=entries, sure=frozenset(_QUANTITY_KEYS), site=site)
        if isinstance(value, QuantityInstance) or not isinstance(value, Container):
            return value
        return value.each_changed(quantity)

    return quantity(evaluator.eval(call.args[0], frame))


def _display(function: Function, name: str) -> Dict | None:
    """The Quantity that a function returns for its argument ``name`` where ``isinstance`` says that it is a number."""
    for statement in facts.statements(function.body):
        match statement:
            case facts.If(
                test=facts.Call(func=facts.Name(id="isinstance"), args=(facts.Name(id=tested), kinds)),
                body=(facts.Return(value=Dict(items=items) as display), *_),
            ) if tested == name and _is_numeric(kinds):
                value, keys = (
                    display.value("value"),
                    [key.value for key, _ in items if isinstance(key, facts.Const)],
                )
                if sorted(map(str, keys)) == sorted(_QUANTITY_KEYS) and len(items) == 2:
                    if isinstance(value, facts.Name) and value.id == name:
                        return display
    return None


def _is_numeric(kinds: facts.Expr) -> bool:
    parts = kinds.items if isinstance(kinds, facts.Seq) else (kinds,)
    return all(facts.last_name(part) in _NUMERIC for part in parts)

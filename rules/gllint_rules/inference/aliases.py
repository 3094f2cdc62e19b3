"""Find the binding of a type alias that an annotation names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from gllint_rules.inference.values import Frame, ModuleOf
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Binding, Expr

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator

_MOST_IMPORTS = 8  # that lead to each other


def alias_binding(evaluator: Evaluator, base: Expr, frame: Frame) -> tuple[Binding, Frame] | None:
    """Return the binding of the type alias that an expression names, and the frame in which to read it.

    Imports are followed. None if the name has several bindings, or is not an alias.
    """
    home = frame
    match base:
        case facts.Name(id=name):
            scope = next((s for s in frame.scope.enclosing() if name in s.bindings), None)
        case facts.Attr(base=facts.Name() as inner, name=name):
            value = evaluator.eval(inner, replace(frame, env=None))
            if not isinstance(value, ModuleOf):
                return None
            home = Frame(value.module, value.module.scope)
            scope = value.module.scope if name in value.module.scope.bindings else None
        case _:
            return None
    for _ in range(_MOST_IMPORTS):
        match scope.bindings[name] if scope is not None else ():
            case [facts.Binding(kind="import", module=dotted, name=original)] if original:
                module = evaluator.module_named(dotted, home.module)
                if module is None or original not in module.scope.bindings:
                    return None
                name, scope, home = original, module.scope, Frame(module, module.scope)
            case [facts.Binding(kind="alias" | "annotated" | "assign") as binding]:
                return binding, Frame(home.module, scope or home.scope)
            case _:
                return None
    return None

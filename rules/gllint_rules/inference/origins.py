"""From a name to the expression that it was made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gllint_rules.inference import classes
from gllint_rules.inference.values import ClassOf, Frame, Instance, ModuleOf, options
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Expr

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator

MOST_STEPS = 8  # from a name to what it was made of


def sources(evaluator: Evaluator, expr: Expr, frame: Frame) -> Iterator[tuple[Expr, Frame]]:
    """Yield the expressions that are assigned to a name or to an attribute of ``self``, each with its frame."""
    match expr:
        case facts.Name(id=name):
            scope = frame.scope.home(name)
            for binding in scope.bindings[name] if scope is not None else ():
                if binding.value is not None and binding.kind in ("assign", "annotated", "with"):
                    yield binding.value, Frame(frame.module, scope or frame.scope, frame.env, frame.bound)
        case facts.Attr(base=base, name=name):
            for option in options(evaluator.eval(base, frame)):
                ancestors = classes.ancestors(evaluator, option.of) if isinstance(option, Instance) else ()
                for ancestor in ancestors:
                    if isinstance(ancestor, ClassOf):
                        for value, _, scope_of in ancestor.cls.attributes.get(name, ()):
                            if value is not None:
                                yield value, Frame(ancestor.module, scope_of, None, ancestor)
        case _:
            pass


def origin(evaluator: Evaluator, expr: Expr, frame: Frame) -> tuple[Expr, Frame]:
    """Follow ``expr`` through names, imports and attributes to what made it, while each has one source."""
    for _ in range(MOST_STEPS):
        several = list(sources(evaluator, expr, frame)) or list(_elsewhere(evaluator, expr, frame))
        if len(several) != 1:
            break
        expr, frame = several[0]
    return expr, frame


def _elsewhere(evaluator: Evaluator, expr: Expr, frame: Frame) -> Iterator[tuple[Expr, Frame]]:
    """Yield the expressions that another module of the project, or a class body, binds a name to."""
    match expr:
        case facts.Name(id=name):
            for binding in frame.scope.find(name):
                if binding.kind == "import" and binding.name:
                    module = evaluator.module_named(binding.module, frame.module)
                    if module is not None and module is not frame.module:
                        yield from sources(
                            evaluator, facts.Name(expr.at, binding.name), Frame(module, module.scope)
                        )
        case facts.Attr(base=base, name=name):
            for option in options(evaluator.eval(base, frame)):
                match option:
                    case ModuleOf(module=module):
                        yield from sources(evaluator, facts.Name(expr.at, name), Frame(module, module.scope))
                    case ClassOf(cls=cls) | Instance(of=ClassOf(cls=cls)):
                        of = option if isinstance(option, ClassOf) else option.of
                        for binding in cls.scope.bindings.get(name, ()):
                            if binding.value is not None and binding.kind in ("assign", "annotated"):
                                yield binding.value, Frame(of.module, cls.scope, None, of)
                    case _:
                        pass
        case _:
            pass

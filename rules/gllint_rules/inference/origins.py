"""From a name to the expression that it is assigned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gllint_rules.inference import classes
from gllint_rules.inference.values import ClassOf, Frame, Instance, ModuleOf, options
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Expr

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator

MOST_STEPS = 8  # from a name to the expression that makes its value


def sources(evaluator: Evaluator, expr: Expr, frame: Frame) -> Iterator[tuple[Expr, Frame]]:
    """Yield the expressions assigned to a name or an attribute, each with its frame: ``x`` → ``5`` after ``x = 5``."""
    match expr:
        case facts.Name(id=name):
            scope = frame.scope.home(name)
            for binding in scope.bindings[name] if scope is not None else ():
                if binding.value is not None and binding.kind in ("assign", "annotated", "with"):
                    yield binding.value, Frame(frame.module, scope or frame.scope, frame.env, frame.bound)
        case facts.Attr(base=base, name=name):  # `self.x`, which a method assigns
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
    """Follow a name to the expression that makes its value: ``b`` → ``Server()`` after ``a = Server(); b = a``.

    Stops at a name with several sources or none.
    """
    for _ in range(MOST_STEPS):
        candidates = list(sources(evaluator, expr, frame)) or list(_remote_sources(evaluator, expr, frame))
        if len(candidates) != 1:
            break
        expr, frame = candidates[0]
    return expr, frame


def _remote_sources(evaluator: Evaluator, expr: Expr, frame: Frame) -> Iterator[tuple[Expr, Frame]]:
    """Yield the expressions that another module or a class body assigns: to ``x`` of ``from m import x``, ``m.x``
    and ``C.x``.
    """
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

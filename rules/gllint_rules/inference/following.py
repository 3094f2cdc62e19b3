"""An evaluator for modules that are edited: it records what each answer reads, and forgets what an edit affects.

A question is known by its key. Whatever is read of a module for its answer is noted: the section of each expression
that is evaluated, of each function that is executed, and what :class:`~gllint_rules.reading.facts.Module` notes itself
when a name is looked up or sections are gone through. What a key refers to is noted, too: no answer outlives it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, TypeVar

from gllint_rules.inference.evaluator import Evaluator
from gllint_rules.inference.questions import Answer
from gllint_rules.inference.values import ClassOf, Flow, Frame, FunctionOf, Site, Value
from gllint_rules.reading.facts import Expr, Module, Scope
from gllint_rules.reading.outline import SECTION_BITS
from gllint_rules.reading.reads import NOTHING, Read, Reads, Spoilt

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Modules, Tools

_T = TypeVar("_T")


class FollowingEvaluator(Evaluator):
    """An evaluator that keeps its answers after an edit, unless they depend on a section that the edit changed."""

    def __init__(self, modules: Modules, tools: Tools, reads: Reads, packages: tuple[str, ...] = ()) -> None:
        super().__init__(modules, tools, packages)
        self._reads = reads
        self._read: dict[Hashable, frozenset[Read]] = {}  # for the answers, and for the provisional ones

    def inherit(self, old: FollowingEvaluator) -> None:
        """Take over the answers of ``old``, which records reads in the same object."""
        self._answers, self._costs, self._dear = dict(old._answers), dict(old._costs), dict(old._dear)
        self._read = dict(old._read)

    def forget(self) -> None:
        super().forget()
        self._read.clear()

    def forget_spoilt(self, spoilt: Spoilt) -> None:
        """Forget the answers that depend on the ``spoilt`` sections."""
        for key in spoilt.among(self._read):
            del self._read[key]
            self._answers.pop(key, None)
            self._costs.pop(key, None)
            self._dear.pop(key, None)

    def _noted(self, key: Hashable, answer: Callable[[], _T]) -> _T:
        """Return an answer, and record what is read for it under ``key``."""
        # Within a cycle an answer may be given a second time, which reads less: what the first one read counts, too.
        settled = self._read.get(key, NOTHING) if key in self._answers else NOTHING
        outer = self._reads.begin()
        try:
            return answer()
        finally:
            self._read[key] = settled | self._reads.end(outer)

    def _remember(self, key: Hashable) -> None:
        """Record that the current answer uses a stored answer, and so all that was read for that."""
        self._reads.now |= self._read.get(key, NOTHING)

    def _note(self, module: Module, at: int) -> None:
        """Record that the current answer reads the section at position ``at``."""
        self._reads.now.add(module.key | at >> SECTION_BITS)

    def _note_class(self, of: ClassOf | None) -> None:
        if of is not None:
            self._note(of.module, of.cls.at)

    # --- what is remembered ----------------------------------------------------------------------------------

    def ask(
        self, key: Hashable, answer: Callable[[], _T], meanwhile: _T, instead: Callable[[], _T], site: Site
    ) -> _T:
        """Answer a question, and record that the answer reads the section at ``site``."""
        if key in self._open:
            return super().ask(key, answer, meanwhile, instead, site)
        ask = super().ask

        def answered() -> _T:
            self._note(site.module, site.at)
            return ask(key, answer, meanwhile, instead, site)

        return self._noted(key, answered)

    def _answer(self, key: Hashable) -> Answer | None:
        answer = super()._answer(key)
        if answer is not None:
            self._remember(key)
        return answer

    def again(self, key: Hashable, answer: Callable[[], _T]) -> _T:
        again = super().again
        if key in self._costs:
            self._remember(key)
            return again(key, answer)
        return self._noted(key, lambda: again(key, answer))

    def eval(self, expr: Expr, frame: Frame) -> Value:
        """Evaluate an expression; the value is stored if it took many steps."""
        evaluate = super().eval
        if self.depth or frame.env is not None:
            return evaluate(expr, frame)
        key = (expr, frame.scope, frame.cls)
        if key in self._dear:
            self._remember(key)
            return self._dear[key]
        value = self._noted(key, lambda: evaluate(expr, frame))
        if key not in self._dear:
            del self._read[key]
        return value

    # --- what is read ----------------------------------------------------------------------------------------

    def _eval(self, expr: Expr, frame: Frame) -> Value:
        self._note(frame.module, expr.at)
        return super()._eval(expr, frame)

    def _binding_value(self, scope: Scope, name: str, frame: Frame) -> Value:
        owner = next((outer.owner for outer in scope.enclosing() if outer.owner is not None), None)
        if owner is not None:
            self._note(frame.module, owner.at)
        self._note_class(frame.bound)
        return super()._binding_value(scope, name, frame)

    def _read_annotation(self, expr: Expr, frame: Frame) -> Value:
        self._note(frame.module, expr.at)
        self._note_class(frame.bound)
        return super()._read_annotation(expr, frame)

    def _field(self, of: ClassOf, name: str) -> Value | None:
        self._note_class(of)
        return super()._field(of, name)

    def _executed(self, callee: FunctionOf) -> Flow:
        self._note(callee.module, callee.function.at)
        self._note_class(callee.bound)
        return super()._executed(callee)

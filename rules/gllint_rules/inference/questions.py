"""What keeps the inference finite: every question has a budget, and the cut depends on the code alone.

A *question* is what is remembered: the outcome of a function, the value of a name, the value of an attribute. Each has
its own budget of steps, and a question within it counts as one step, whether it is remembered or not. What
exceeds the budget is too complex *as a whole*: its answer is unknown, and it is noted where.

A question that comes up while it is being answered is in a circle. It is assumed to add nothing, and what was
concluded under that assumption is valid while the assumed questions are all open; then it is forgotten. At the head of
the circle the answer is final. A remembered head is answered anew while another question of its circle is open. So
the answers do not depend on the order of questions. A dense circle has very many ways around, so it has a budget of
its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from msgspec import Struct, field

from gllint_rules.inference.values import Site

_T = TypeVar("_T")

MOST_STEPS = 25_000  # of one question
# Nested expressions, blocks and questions: a large stack (reading.stack) has room for many times as many.
MOST_DEPTH = 2_000
MOST_REPEATED = 20  # questions answered anew on other ways around a circle
MOST_IN_CIRCLE = 2_000  # steps of the questions on the ways around it
# Functions are executed anew for the arguments of a call. Within each other that branches at each call: it is bounded
# in depth, and in the steps that executions within others take in one question.
MOST_EXECUTED = 5
MOST_WITHIN_EXECUTED = 5_000


class TooComplex(Exception):
    """A budget ran out; ``deep`` where it is that of the depth, which is measured from the outermost question."""

    def __init__(self, budget: str, deep: bool = False) -> None:
        super().__init__(budget)
        self.budget = budget
        self.deep = deep


class Answer(Struct, eq=False):
    """An answer that is remembered."""

    value: Any
    height: int
    circle: frozenset[Hashable]
    assumed: frozenset[int] = frozenset()


class _Question(Struct, eq=False):
    """One that is being answered."""

    place: int = -1  # in the row of those that are
    steps: int = 0
    top: int = 0  # the greatest depth within it
    assumed: set[int] = field(
        default_factory=set
    )  # the places of open questions that are assumed to add nothing
    circle: set[Hashable] = field(default_factory=set)
    forgotten: set[Hashable] = field(default_factory=set)  # questions within it with provisional answers
    repeated: int = 0  # how often one of them was answered anew
    in_circle: int = 0  # the steps that they took
    # What was concluded under the assumption that this question adds nothing, and under none about a later one.
    concluded: list[Hashable] = field(default_factory=list)
    executed: set[Hashable] = field(default_factory=set)  # what is being executed for the arguments of a call
    within_executed: int = 0  # steps of what was executed within something else that was
    began_within: int = 0  # at how many steps the one that is going on began
    allowance: int = 0  # steps in addition to those of any question


class Questions:
    """Asks, answers and remembers; counts steps and depth."""

    def __init__(self) -> None:
        self.depth = 0
        self.cuts: dict[Site, str] = {}
        self.total_steps = 0  # all steps, for those who measure
        self._answers: dict[Hashable, Answer] = {}
        self._costs: dict[Hashable, tuple[Any, int, int]] = {}
        self._for_now: dict[Hashable, Answer] = {}  # answers that are valid while certain questions are open
        self._open: dict[Hashable, _Question] = {}
        self._circles = 0  # how often an answer rested on a circle
        self._now = _Question()

    def forget(self) -> None:
        """Forget all answers but those to questions that are open."""
        self._answers.clear()
        self._costs.clear()

    def ask(
        self, key: Hashable, answer: Callable[[], _T], meanwhile: _T, instead: Callable[[], _T], site: Site
    ) -> _T:
        """Return the result of ``answer()``, remembered under ``key``.

        If the same question is asked while it is being answered, its answer is ``meanwhile``. If the answer is too
        complex, ``instead()`` replaces it, and the cut is noted at ``site``.
        """
        outermost = self.depth == 0
        if outermost:
            self.begin(site)
            self._now = _Question()
        self.step()
        opened = self._open.get(key)
        if opened is not None:  # a circle: it is being answered
            self._circles += 1
            self._now.assumed.add(opened.place)
            return meanwhile
        old = self._answer(key)
        if old is not None:
            if not outermost:
                self.reach(self.depth + old.height)
            result: _T = old.value
            return result
        outer, depth = self._now, self.depth
        now = self._open[key] = self._now = _Question(len(self._open), top=depth)
        try:
            self.deeper()
            value = answer()
        except TooComplex as error:
            # The depth is measured from the outermost question, and an answer that rests on an open question is
            # not final: in both cases a question further out is the one that is cut.
            if (error.deep and not outermost) or now.assumed - {now.place}:
                raise
            self.cut(site, error.budget)
            value = instead()
            if error.deep:
                now.top = MOST_DEPTH + 1
        finally:
            self.depth = depth
            self._now = outer
            del self._open[key]
            for concluded in now.concluded:  # they assumed that this question adds nothing
                del self._for_now[concluded]
            now.assumed.discard(now.place)
            if now.assumed:
                outer.circle |= now.circle
                outer.circle.add(key)
                outer.assumed |= now.assumed
        new = Answer(value, now.top - depth, frozenset(now.circle), frozenset(now.assumed))
        if not now.assumed:
            self._answers[key] = new
        if not outermost:
            self.reach(now.top)
        if now.assumed:
            self._for_now[key] = new
            list(self._open.values())[max(now.assumed)].concluded.append(key)
            now.forgotten.add(key)
            self._count_circle(now, outer)
        return value

    def _count_circle(self, now: _Question, outer: _Question) -> None:
        """Count a question with a provisional answer in ``outer``, which may have to ask it again.

        Raises :class:`TooComplex` where too many questions of a circle were answered again.
        """
        self._spend(now.steps)
        outer.in_circle += now.steps
        if outer.in_circle > MOST_IN_CIRCLE:
            raise TooComplex(f"{MOST_IN_CIRCLE} steps in a circle")
        few, many = sorted(
            (now.forgotten, outer.forgotten), key=len
        )  # the smaller set goes into the larger one
        outer.repeated += now.repeated + len(few & many)
        many |= few
        outer.forgotten = many
        if outer.repeated > MOST_REPEATED:
            raise TooComplex(f"{MOST_REPEATED} questions in a circle")

    def _answer(self, key: Hashable) -> Answer | None:
        """Return the remembered answer to a question; ``None`` if there is none that is valid now."""
        answer = self._answers.get(key)
        if answer is not None and answer.circle:
            self._circles += 1
        # While a question of its circle is open, the head of the circle is answered anew.
        if answer is not None and (not answer.circle or self._open.keys().isdisjoint(answer.circle)):
            return answer
        answer = self._for_now.get(key)
        if answer is not None:
            self._circles += 1
            self._now.assumed |= answer.assumed
            self._now.circle |= answer.circle
            self._now.circle.add(key)
        return answer

    def again(self, key: Hashable, answer: Callable[[], _T]) -> _T:
        """Return the result of ``answer()``, remembered under ``key`` together with its cost.

        A remembered answer uses up the same steps and levels of the budget again. It is not remembered if it depends on
        a question that is still being answered.
        """
        cost = self._costs.get(key)
        if cost is not None:
            result: _T
            result, steps, height = cost
            if not self.depth:
                return result
            # Beyond the budget it is answered again, as its answer may come with an allowance, or with a cut.
            if self._now.steps + steps <= MOST_STEPS:
                self.step(steps)
                self.reach(self.depth + height)
                return result
        if not self.depth:
            return answer()
        now, circles, cuts = self._now, self._circles, len(self.cuts)
        top, start = now.top, now.steps
        now.top = self.depth  # so that it is the greatest depth of this answer
        try:
            value = answer()
        finally:
            height = now.top - self.depth
            now.top = max(now.top, top)
        if circles == self._circles and cuts == len(self.cuts):
            self._costs[key] = value, now.steps - start, height
        return value

    def outermost(self, answer: Callable[[], _T], instead: _T, site: Site) -> _T:
        """Return the result of ``answer()``, which asks questions, or ``instead`` if it is too complex.

        It has a budget of its own, and must not be called while a question is being answered.
        """
        self.begin(site)
        self._now = _Question()
        try:
            return answer()
        except TooComplex as error:
            self.cut(site, error.budget)
            return instead
        finally:
            self.depth = 0

    def begin(self, site: Site) -> None:
        """Prepare for a question at ``site`` that no other question asks; for subclasses."""

    def executes(self, key: Hashable) -> bool:
        """Return whether this question is executing a call; ``key`` is its function and arguments."""
        return key in self._now.executed

    def rounds_of(self, function: object) -> int:
        """Count how often ``function`` is being executed now, whichever calls started it."""
        return sum(isinstance(key, tuple) and key[0] is function for key in self._now.executed)

    def executed(self, key: Hashable, execute: Callable[[], _T], site: Site | None) -> _T | None:
        """Return the result of ``execute()``, which executes a function for the arguments of a call, the ``key``.

        ``None`` if the same call is being executed already (it is recursive), or if a budget for calls within calls
        ran out, which is noted at ``site``.
        """
        now = self._now
        if key in now.executed:
            return None
        level = len(now.executed)  # 0: a call that the question makes, 1: a call within it …
        nested_steps = now.within_executed + (now.steps - now.began_within if level > 1 else 0)
        if level >= MOST_EXECUTED or nested_steps > MOST_WITHIN_EXECUTED:
            budget = str(MOST_EXECUTED) if level >= MOST_EXECUTED else f"{MOST_WITHIN_EXECUTED} steps in"
            if site is not None:
                self.cut(site, f"{budget} nested calls")
            return None
        if level == 1:
            now.began_within = now.steps
        now.executed.add(key)
        try:
            return execute()
        finally:
            now.executed.discard(key)
            if level == 1:
                now.within_executed += now.steps - now.began_within

    def step(self, steps: int = 1) -> None:
        """Count ``steps`` of the question. Raises :class:`TooComplex` beyond its budget."""
        self.total_steps += steps
        self._spend(steps)

    def _spend(self, steps: int) -> None:
        now = self._now
        now.steps += steps
        if now.steps > MOST_STEPS and now.steps > MOST_STEPS + now.allowance:
            raise TooComplex(f"{MOST_STEPS + now.allowance} steps")

    def allow(self, steps: int) -> None:
        """Add ``steps`` to the budget of the question that is being answered: a table may be as large as its source."""
        self._now.allowance += steps

    def deeper(self) -> None:
        """Go one level deeper; the caller resets ``depth``. Raises :class:`TooComplex` beyond the budget."""
        self.depth += 1
        if self.depth > self._now.top:
            self.reach(self.depth)

    def reach(self, depth: int) -> None:
        """Note that the question went as deep as ``depth``. Raises :class:`TooComplex` beyond the budget."""
        self._now.top = max(self._now.top, depth)
        if depth > MOST_DEPTH:
            raise TooComplex(f"{MOST_DEPTH} levels", deep=True)

    def cut(self, site: Site, budget: str) -> None:
        """Note that a budget ran out at ``site``."""
        self.cuts.setdefault(site, budget)

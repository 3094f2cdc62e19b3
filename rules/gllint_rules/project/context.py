"""What a rule may ask for: the facts of one module, its tools, their results, and a way to report.

A rule is a generator over a :class:`Context`. It knows nothing of files, configuration formats, output or caches.
A finding may land in another file than the one that made it visible (a constant, a helper, a schema).
"""

from __future__ import annotations

import posixpath
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from gllint_rules.finding import Failure, Finding, Fix, Note, Span
from gllint_rules.inference import annotations as hints
from gllint_rules.inference import functions as calling
from gllint_rules.inference.evaluator import Evaluator
from gllint_rules.inference.values import (
    NEVER,
    NONE,
    Because,
    Entry,
    Frame,
    FunctionOf,
    Instance,
    ListOf,
    Literal,
    Number,
    Record,
    Site,
    UnionOf,
    Value,
    number,
    options,
)
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Expr, Module, Scope

if TYPE_CHECKING:
    from gllint_rules.project.project import Project
    from gllint_rules.project.schemas import SchemaLiteral
    from gllint_rules.project.templates import FinalStep
    from gllint_rules.project.tools import Tool

MOST_NOTES = 8


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """One value that a tool's callable can return, and the expression that it returns."""

    tool: Tool
    callable: FunctionOf
    expr: Expr
    value: Value

    @property
    def site(self) -> Site:
        return Site(self.callable.module, self.expr.at)


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """A definite number outside a Quantity, where it was put into the result.

    ``value`` is all that may stand at ``site``; ``None`` where the site is that of a container around the number.
    ``keys`` lead to it, and ``holder`` is the record that it stands in.
    """

    site: Site
    number: Number
    key: str | None
    value: Value | None
    keys: tuple[str, ...] = ()
    in_list: bool = False
    holder: Record | None = None


class Context:
    """One module of a project, as the rules see it."""

    def __init__(self, project: Project, module: Module) -> None:
        self.project = project
        self.module = module
        self.settings = project.settings
        self.names = project.names
        self.schemas: dict[int, SchemaLiteral | None] = {}  # those read so far, by expression
        # What fixes have asked so far: the units of a tool's Quantities by their key, and of those in one record by
        # the ending of their key, each with the keys. Each is asked once for every finding.
        self.units_of_tool: dict[Tool, dict[str | None, set[str | None]]] = {}
        self.units_in: dict[Record, dict[str, dict[str | None, set[str]]]] = {}

    @classmethod
    def of(cls, project: Project, module: Module) -> Context:
        """The context of ``module``, with what other rules and files have asked of it already."""
        return project.once(_contexts).setdefault(module.path, cls(project, module))

    @property
    def evaluator(self) -> Evaluator:
        return self.project.evaluator

    @cached_property
    def tools(self) -> list[Tool]:
        """The tools that this module defines."""
        return self.project.tools(self.module)

    @cached_property
    def results(self) -> list[Result]:
        """All results of all tools of the module; of a callable with two roles once."""
        out: list[Result] = []
        seen: set[object] = set()
        for tool in self.tools:
            for callable in tool.callables:
                if callable.function in seen:
                    continue
                seen.add(callable.function)
                flow = self.project.flow(callable)
                function = callable.function
                pairs = (
                    flow.yields if isinstance(function, facts.Function) and function.yields else flow.returns
                )
                declared = self._declared_container(callable)
                for expr, value in pairs:
                    if declared is not None:
                        value = hints.typed(self.evaluator, value, declared)
                    out.append(Result(tool, callable, expr, value))
        return out

    def _declared_container(self, callable: FunctionOf) -> Value | None:
        """What the annotation says the result holds: ``dict[str, float]``, a ``TypedDict``, perhaps optional."""
        function = callable.function
        if isinstance(function, facts.Function) and function.yields:
            return None
        declared = calling.declared_return(self.evaluator, callable)
        kept = [option for option in options(declared) if option is not NONE] if declared is not None else []
        return kept[0] if len(kept) == 1 and isinstance(kept[0], (Instance, Record, ListOf)) else None

    @cached_property
    def listed_numbers(self) -> frozenset[Site]:
        """Where a number is put into a list of some result, perhaps beside other roles."""
        return frozenset(
            leaf.site for result in self.results for leaf in leaves(result.value, result.site) if leaf.in_list
        )

    def results_of(self, tool: Tool) -> list[Result]:
        """The results of all callables of ``tool``, in reading order."""
        functions = dict.fromkeys(callable.function for callable in tool.callables)
        found = [pair for function in functions for pair in self._results_by_function.get(function, ())]
        return [result for _, result in sorted(found, key=lambda pair: pair[0])]

    @cached_property
    def _results_by_function(self) -> dict[object, list[tuple[int, Result]]]:
        out: dict[object, list[tuple[int, Result]]] = {}
        for i, result in enumerate(self.results):
            out.setdefault(result.callable.function, []).append((i, result))
        return out

    @cached_property
    def final_steps(self) -> list[FinalStep]:
        """The final messages that this module writes, with the claims beside them."""
        from gllint_rules.project.templates import final_steps

        return list(final_steps(self))

    @cached_property
    def touches_tools(self) -> bool:
        """Whether the module defines tools or imports them (or the classes that make them)."""
        return bool(self.tools) or self.project.imports_tools(self.module)

    @cached_property
    def is_test(self) -> bool:
        return is_test_path(self.module.path, self.project.root)

    def frame(self, scope: Scope) -> Frame:
        return Frame(self.module, scope)

    def eval(self, expr: Expr, scope: Scope) -> Value:
        return self.evaluator.eval(expr, Frame(self.module, scope))

    def span(self, site: Site) -> Span:
        return self.project.positions(site.module).span(site.at)

    def finding(
        self,
        code: str,
        where: Site | int,
        message: str,
        help: str = "",
        fix: Callable[[], Fix | None] | None = None,
        because: Because | None = None,
        within: tuple[int, int] | None = None,
    ) -> Pending:
        """A finding at an expression, or at the characters ``within`` its source text.

        ``fix`` works out the repair, whose edits all lie in the file of ``where``; it is called once the finding is
        placed.
        """
        site = where if isinstance(where, Site) else Site(self.module, where)
        return Pending(code, site, message, help, fix, because, within)

    def literal_span(self, literal: Literal, start: int, end: int) -> tuple[Site, tuple[int, int]]:
        """Where characters ``start`` to ``end`` of a literal's text stand in the source of its string."""
        from gllint_rules.reading.strings import raw_offsets

        offsets = literal.offsets
        first = offsets[start] if offsets is not None else start
        last = offsets[end - 1] if offsets is not None else end - 1
        raw = self.project.positions(literal.site.module).text(literal.site.at)
        places = raw_offsets(raw)
        if last >= len(places) - 1:
            return literal.site, (0, len(raw))
        return literal.site, (places[first], places[last + 1])


def _contexts(project: Project) -> dict[str, Context]:
    return {}


@dataclass(frozen=True, slots=True, eq=False)
class Pending:
    """A finding whose place is not worked out yet."""

    code: str
    site: Site
    message: str
    help: str
    fix: Callable[[], Fix | None] | None
    because: Because | None
    within: tuple[int, int] | None


def check(
    project: Project, module: Module, codes: frozenset[str], fixes: bool = True
) -> Iterator[Finding | Failure]:
    """Run the rules ``codes`` over ``module``; one that raises loses nothing but itself.

    Without ``fixes`` none is worked out: that takes longer than to find what they are for.
    """
    from gllint_rules.catalogue import RULES

    context = Context.of(project, module)
    failures: set[Failure] = set()
    for code in sorted(codes):
        rule = RULES.get(code)
        if rule is None or rule.check is None:
            continue
        seen: set[tuple[Site, tuple[int, int] | None]] = set()
        try:
            for pending in rule.check(context):
                key = (pending.site, pending.within)
                if key not in seen:
                    seen.add(key)
                    fix: Fix | None = None
                    try:
                        fix = pending.fix() if fixes and pending.fix is not None else None
                    except Exception as error:  # what no fix foresaw costs the fix, not the finding
                        failure = _failure(code, module, error)
                        if failure not in failures:
                            yield failure
                        failures.add(failure)
                    yield _placed(project, pending, fix)
        except Exception as error:
            yield _failure(code, module, error)


def _failure(code: str, module: Module, error: Exception) -> Failure:
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{posixpath.basename(last.filename)}:{last.lineno}"
    return Failure(code, module.path, f"{type(error).__name__}: {error} ({place})")


def _placed(project: Project, pending: Pending, fix: Fix | None) -> Finding:
    positions = project.positions(pending.site.module)
    span = positions.span(pending.site.at)
    if pending.within is not None:
        start = positions.lines.offset(span.line, span.column)
        span = positions.lines.span(start + pending.within[0], start + pending.within[1])
    notes: list[Note] = []
    if pending.because is not None:
        _collect(project, pending.because, pending.site, notes)
    return Finding(
        code=pending.code,
        path=pending.site.module.path,
        span=span,
        message=pending.message,
        help=pending.help,
        fix=fix,
        notes=tuple(notes),
    )


def _collect(project: Project, because: Because, at: Site, out: list[Note]) -> None:
    """The chain of evidence, nearest reason first; what stands at the finding itself needs no note."""
    queue = deque([because])
    seen: set[Because] = set()
    while queue and len(out) < MOST_NOTES:
        reason = queue.popleft()
        if reason in seen:  # several ways may lead to it
            continue
        seen.add(reason)
        if reason.site is not None and reason.site != at:
            note = Note(
                reason.message,
                reason.site.module.path,
                project.positions(reason.site.module).span(reason.site.at),
            )
            if note not in out:
                out.append(note)
        queue.extend(reason.behind)


def is_test_path(path: str, root: str) -> bool:
    """Test code: ``test_*.py``, ``*_test.py``, ``conftest.py``, or anything under ``tests/`` or ``test/``."""
    relative = posixpath.relpath(path, root) if root and path.startswith(f"{root}/") else path
    *folders, name = relative.split("/")
    return (
        name == "conftest.py"
        or (name.startswith("test_") and name.endswith(".py"))
        or name.endswith("_test.py")
        or "tests" in folders
        or "test" in folders
    )


# --- reading results -----------------------------------------------------------------------------------------


def is_quantity(record: Record) -> bool:
    """Whether a record is meant as a Quantity, well-formed or not: it has ``value`` and ``unit``."""
    return (
        record.quantity
        or ("value" in record.entries and "unit" in record.entries and record.cls is None)
        or (record.cls is not None and set(record.entries) == {"value", "unit"})
    )


def leaves(value: Value, site: Site) -> Iterator[Leaf]:
    """The definite numbers of a result that no Quantity carries, each where it was put in."""
    return _leaves(value, Leaf(site, _NO_NUMBER, None, value))


_NO_NUMBER = Number(Because("", None))


def _leaves(value: Value, at: Leaf) -> Iterator[Leaf]:
    """The leaves below ``at``, which says how ``value`` was reached."""
    found = number(value)
    if found is None and isinstance(value, UnionOf) and value.conditional:
        found = next((option for option in value.options if isinstance(option, Number)), None)
    if found is not None:
        yield replace(at, number=found)
    for option in options(value):
        if isinstance(option, Record) and not is_quantity(option):
            for name, entries in option.entries.items():
                shown = None if name.startswith("\0") else name
                for entry in entries:
                    inner = _inside(at, option, entry)
                    yield from _leaves(entry.value, replace(inner, key=shown, keys=(*at.keys, name)))
        elif isinstance(option, ListOf):
            if option.kind == "declared":
                option = replace(option, items=(), rest=option.element())
            for entry in option.items:
                inner = replace(at, value=None) if option.kind == "pair" else _inside(at, option, entry)
                yield from _leaves(entry.value, replace(inner, in_list=True))
        else:
            continue
        if option.rest is not None and _known_throughout(value):
            in_list = at.in_list or isinstance(option, ListOf)
            yield from _leaves(option.rest, replace(at, value=None, in_list=in_list))


def _known_throughout(value: Value) -> bool:
    """Whether each alternative is a container: one that may be text, or anything, is not known to hold numbers."""
    if not isinstance(value, UnionOf):
        return True
    for option in value.options:
        if option is NONE or option is NEVER:
            continue
        if not isinstance(option, (Record, ListOf)):
            return False
        if option.rest is not None and number(option.rest) is None:
            return False
    return True


def _inside(at: Leaf, container: Record | ListOf, entry: Entry) -> Leaf:
    """Where ``entry`` stands. What another file built has no place of its own, nor has what it holds."""
    own = entry.site != container.site
    holder = container if isinstance(container, Record) else at.holder
    return replace(at, site=entry.site, value=entry.value if own else None, holder=holder)


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """A Quantity in a result: where it is put in, under which key, and whether a list holds it."""

    record: Record
    site: Site
    key: str | None
    entry: Entry | None
    in_list: bool

    @property
    def key_site(self) -> Site:
        """Where its key is written, else where it is put in."""
        return self.entry.key if self.entry is not None and self.entry.key is not None else self.site


def quantities(
    value: Value,
    site: Site,
    key: str | None = None,
    entry: Entry | None = None,
    in_list: bool = False,
) -> Iterator[Held]:
    """The Quantities that a result holds, well-formed or not."""
    for option in options(value):
        if isinstance(option, Record):
            if is_quantity(option):
                yield Held(option, site, key, entry, in_list)
                continue
            for name, entries in option.entries.items():
                shown = None if name.startswith("\0") else name
                for held in entries:
                    yield from quantities(held.value, held.site, shown, held, in_list)
            if option.rest is not None:
                yield from quantities(option.rest, site, key, entry, in_list)
        elif isinstance(option, ListOf):
            for held in option.items:
                yield from quantities(held.value, held.site, key, held, True)
            if option.rest is not None:
                yield from quantities(option.rest, site, key, entry, True)


def holds_numbers(result: Result) -> bool:
    """Whether a result holds a number or a Quantity."""
    return (
        next(leaves(result.value, result.site), None) is not None
        or next(quantities(result.value, result.site), None) is not None
    )

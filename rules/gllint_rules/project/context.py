"""What a rule may ask for: the facts of one module, its tools and their results; and how it reports.

A rule is a generator over a :class:`Context`. It knows nothing of files, configuration formats, output or caches.
A finding may land in another file than the one that made it visible (a constant, a helper, a schema).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from msgspec import Struct

from gllint_rules.finding import Applicability, Fix, Span, ToolAt
from gllint_rules.inference import annotations as hints
from gllint_rules.inference import functions
from gllint_rules.inference.evaluator import Evaluator
from gllint_rules.inference.values import (
    NONE,
    Because,
    Entry,
    Frame,
    FunctionOf,
    Instance,
    ListOf,
    Literal,
    Record,
    Site,
    Value,
    options,
)
from gllint_rules.inference.values.changes import moved
from gllint_rules.project.model_view import (
    is_changed,
    read_result,
    result_changers,
    runs_wrapped,
    visible_result,
    wrappers,
)
from gllint_rules.project.project import Project
from gllint_rules.project.results import Result, leaves
from gllint_rules.project.test_paths import is_test_path
from gllint_rules.project.tool_exports import imports_tools
from gllint_rules.reading import facts
from gllint_rules.reading.expression_index import expressions_in
from gllint_rules.reading.facts import Expr, Module, Scope
from gllint_rules.tools.tool import Tool
from gllint_rules.tuples import NamedTuple
from gllint_runtime.policy.kinds import Kind

if TYPE_CHECKING:
    import libcst as cst
    from libcst.matchers import BaseMatcherNode

    from gllint_rules.project.concrete_nodes import ConcreteNodes

    Fact: TypeAlias = Expr | facts.Function | facts.Class | Site | cst.CSTNode


_T = TypeVar("_T")


class Context:
    """One module of a project, as the rules see it."""

    def __init__(self, project: Project, module: Module) -> None:
        self.project = project
        self.module = module
        self.settings = project.settings
        self.policy = project.settings.policy
        self.names = project.names
        self._answers: dict[object, Any] = {}  # by the question, a function
        self._containers: dict[object, Value | None] = {}  # by the callable's function or lambda
        # For each record, the keys of the numbers that a unit in it may belong to: one key, or none.
        self.numbers_without_unit: dict[Record, frozenset[str]] = {}

    @classmethod
    def of(cls, project: Project, module: Module) -> Context:
        """Return the context of ``module`` that all rules share, with the answers that it has stored."""
        return project.memory(_contexts).setdefault(module.path, cls(project, module))

    @property
    def evaluator(self) -> Evaluator:
        return self.project.evaluator

    @cached_property
    def tools(self) -> list[Tool]:
        """The tools that this module defines."""
        return self.project.tools.of(self.module)

    @cached_property
    def results(self) -> list[Result]:
        """Return the results of all tools of the module, each callable once."""
        results: list[Result] = []
        keys: set[object] = set()
        seen_changers: set[object] = set()
        for tool in self.tools:
            for callable in (*tool.callables, *tool.inherited):
                key = callable.function, tool if callable in tool.inherited else None
                if key in keys:
                    continue
                if is_changed(self.evaluator, tool, callable):
                    for changer in result_changers(self.evaluator, tool, callable):
                        if changer.function not in seen_changers:
                            seen_changers.add(changer.function)
                            flow = self.evaluator.flow(changer)
                            results += (
                                Result(tool, changer, *read_result(value, Site(changer.module, expr.at)))
                                for expr, value in flow.returns
                            )
                else:
                    keys.add(key)
                    results += self._returned(tool, callable)
                # What decorators of the project return in addition to the function's result.
                for wrapper in filter(runs_wrapped, wrappers(self.evaluator, callable)):
                    for expr, value in self.evaluator.flow(wrapper).returns:
                        visible = visible_result(self.evaluator, tool, wrapper, expr, value)
                        results.append(Result(tool, wrapper, *visible))
        return results

    def _returned(self, tool: Tool, callable: FunctionOf) -> Iterator[Result]:
        """Yield the results that a callable itself returns, or yields if it is a generator."""
        flow, function = self.evaluator.flow(callable), callable.function
        pairs = flow.yields if isinstance(function, facts.Function) and function.yields else flow.returns
        declared = self.declared_container(callable)
        answers = tool.framework.answers if tool.framework is not None else ()
        if answers and isinstance(function, facts.Function):
            pairs = [*self._answers_in(function, callable.module, answers)]
        for expr, value in pairs:
            if declared is not None:
                value = hints.typed(self.evaluator, value, declared)
            site, result = visible_result(self.evaluator, tool, callable, expr, value)
            if not self.evaluator.modules.owns(callable.module.path):
                # The project cannot change other packages, so findings are reported where it makes a tool of theirs.
                site = Site(tool.module, tool.at)
                result = moved(result, site)
            yield Result(tool, callable, site, result)

    def _answers_in(
        self, function: facts.Function, module: facts.Module, names: tuple[str, ...]
    ) -> Iterator[tuple[facts.Expr, Value]]:
        """Yield the arguments of the callbacks ``names`` that take a result: ``await params.result_callback(…)``."""
        for expr in expressions_in(function.body):
            if isinstance(expr, facts.Call) and expr.args and facts.last_name(expr.func) in names:
                yield expr.args[0], self.evaluator.eval(expr.args[0], Frame(module, function.scope))

    def declared_container(self, callable: FunctionOf) -> Value | None:
        """Return the container that the annotation of the result declares: ``dict[str, float]``, a ``TypedDict``."""
        if callable.function not in self._containers:
            self._containers[callable.function] = self._declared_container(callable)
        return self._containers[callable.function]

    def _declared_container(self, callable: FunctionOf) -> Value | None:
        """Return the container in the annotation of the result; None if it declares none, or several."""
        function = callable.function
        if isinstance(function, facts.Function) and function.yields:
            return None
        declared = functions.declared_return(self.evaluator, callable)
        if declared is None:
            return None
        types = [option for option in options(declared) if option is not NONE]
        return types[0] if len(types) == 1 and isinstance(types[0], (Instance, Record, ListOf)) else None

    @cached_property
    def listed_numbers(self) -> frozenset[Site]:
        """The places where a number is put into a list of some result, perhaps with other roles."""
        return frozenset(
            leaf.site for result in self.results for leaf in leaves(result.value, result.site) if leaf.in_list
        )

    def results_of(self, tool: Tool) -> list[Result]:
        """Return the results of all callables of ``tool``, in reading order."""
        own = dict.fromkeys(callable.function for callable in tool.callables)
        pairs = [pair for function in own for pair in self._results_by_function.get(function, ())]
        return [result for _, result in sorted(pairs, key=lambda pair: pair[0])]

    @cached_property
    def _results_by_function(self) -> dict[object, list[tuple[int, Result]]]:
        """The results of each function, with their numbers in :attr:`results`."""
        table: dict[object, list[tuple[int, Result]]] = {}
        for i, result in enumerate(self.results):
            if result.callable not in result.tool.inherited:
                table.setdefault(result.callable.function, []).append((i, result))
        return table

    def once(self, question: Callable[[Context], _T]) -> _T:
        """Return the answer to a question about the module, which is stored."""
        if question not in self._answers:
            self._answers[question] = question(self)
        answer: _T = self._answers[question]
        return answer

    @cached_property
    def touches_tools(self) -> bool:
        """Return whether the module defines tools or imports them (or the classes that make them)."""
        return bool(self.tools) or imports_tools(self.project, self.module)

    @cached_property
    def is_test(self) -> bool:
        return is_test_path(self.module.path, self.project.root)

    def frame(self, scope: Scope) -> Frame:
        return Frame(self.module, scope)

    def eval(self, expr: Expr, scope: Scope) -> Value:
        return self.evaluator.eval(expr, Frame(self.module, scope))

    def entry(self, expr: Expr, scope: Scope) -> Entry:
        """Return the value of an expression of the module, and its place."""
        return Entry(self.eval(expr, scope), Site(self.module, expr.at))

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
        characters: tuple[int, int] | None = None,
        tool: Tool | None = None,
    ) -> Pending:
        """Return a finding at an expression, or at the ``characters`` (start, end) of its source text.

        ``fix`` computes the repair, whose edits must be in the file of ``where``; it is called only if fixes are asked
        for. ``tool`` is the tool that the finding is about.
        """
        site = where if isinstance(where, Site) else Site(self.module, where)
        of = subject_of(tool, None) if tool is not None else None
        return Pending(code, site, message, help, fix, because, characters, of)

    def found_in(
        self,
        result: Result,
        code: str,
        site: Site,
        message: str,
        help: str,
        fix: Callable[[], Fix | None] | None = None,
        because: Because | None = None,
        key: str | None = None,
        what: str = "",
        kind: Kind | None = None,
        settings: tuple[str, ...] = (),
        characters: tuple[int, int] | None = None,
    ) -> Pending:
        """Return a finding in the result of a tool, at ``site`` or at the ``characters`` (start, end) of its text.

        An empty ``message`` is replaced by one about the tools, their keys and ``what`` the value is (``of_results``).
        ``settings`` are the lines of configuration that the help names.
        """
        of = subject_of(result.tool, result.callable)
        return Pending(code, site, message, help, fix, because, characters, of, key, what, kind, settings)

    # --- how it is written, for rules of one's own ---------------------------------------------------------------

    @cached_property
    def _concrete(self) -> ConcreteNodes:
        # Imported here: loading LibCST takes longer than checking most files.
        from gllint_rules.project.concrete_nodes import ConcreteNodes

        return ConcreteNodes(self.project, self.module)

    @overload
    def node(self, fact: facts.Function) -> cst.FunctionDef | None: ...

    @overload
    def node(self, fact: facts.Class) -> cst.ClassDef | None: ...

    @overload
    def node(self, fact: Expr | Site) -> cst.CSTNode | None: ...

    def node(self, fact: Expr | facts.Function | facts.Class | Site) -> cst.CSTNode | None:
        """Return the LibCST node of an expression, function or class of the module, or of what is at a site.

        None if LibCST cannot parse it. Raises TypeError for other objects, and ValueError for a fact of another module.
        """
        return self._concrete.node(fact)

    def matches(self, fact: Fact, matcher: BaseMatcherNode) -> bool:
        """Return whether the node of a fact matches a matcher of ``libcst.matchers``. Raises as :meth:`node`."""
        return self._concrete.matches(fact, matcher)

    def comments(self, fact: Fact) -> tuple[str, ...]:
        """Return the comments (``"# …"``) on the lines of a fact or a node, and alone on the lines right above it.

        Of a function, a class or a statement with a body, the lines up to the body count. Raises as :meth:`node`.
        """
        return self._concrete.comments(fact)

    def replacement(
        self, fact: Fact, node: cst.CSTNode, message: str, applicability: Applicability = "unsafe"
    ) -> Fix | None:
        """Return the fix that replaces a fact or a node by ``node``, and leaves all other text unchanged.

        None if LibCST cannot parse it, or if nothing changes. Raises as :meth:`node`.
        """
        return self._concrete.replacement(fact, node, message, applicability)

    def literal_span(self, literal: Literal, start: int, end: int) -> tuple[Site, tuple[int, int]]:
        """Return the place of characters ``start`` to ``end`` of a literal's text in the source of its string."""
        offsets = literal.offsets
        first = offsets[start] if offsets is not None else start
        last = offsets[end - 1] if offsets is not None else end - 1
        places, length = self.project.positions(literal.site.module).characters(literal.site.at)
        if last >= len(places) - 1:
            return literal.site, (0, length)
        return literal.site, (places[first], places[last + 1])


def _contexts(project: Project) -> dict[str, Context]:
    """Return the store for the contexts of a project, by path."""
    return {}


class Subject(NamedTuple):
    """The tool that a finding is about, and the files that make it one."""

    tool: ToolAt
    files: tuple[str, ...]


def subject_of(tool: Tool, callable: FunctionOf | None) -> Subject:
    """Return the subject of a finding: ``tool`` at the place of its ``callable``, else at its own place."""
    any_callable = callable or tool.callable
    class_name = tool.cls.cls.name if tool.cls is not None else ""
    function = any_callable.function if any_callable is not None else None
    name = tool.name or class_name or (function.name if isinstance(function, facts.Function) else "")
    if callable is None:
        return Subject(ToolAt(tool.module.path, tool.at, name), (tool.module.path,))
    files = dict.fromkeys((tool.module.path, callable.module.path))
    return Subject(ToolAt(callable.module.path, callable.function.at, name), tuple(files))


class Pending(Struct, frozen=True, eq=False):
    """A finding without line and column yet. Several of them at one place become one finding."""

    code: str
    site: Site
    message: str
    help: str
    fix: Callable[[], Fix | None] | None
    because: Because | None
    characters: tuple[int, int] | None
    subject: Subject | None = None
    key: str | None = None
    what: str = ""
    kind: Kind | None = None
    settings: tuple[str, ...] = ()

"""T5: the functions that a module calls by the names of the tools that JSON describes to a model's SDK.

The model asks for a tool by its name, and the project calls what belongs to that name: in the branch of an ``if`` or
``match`` that compares it, through a dict of functions, or by looking the function up (``globals()[name]``,
``getattr(self, name)``). The names are those of the descriptions alone, so that nothing else is looked up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct, field

from gllint_rules.inference import classes
from gllint_rules.inference.values import (
    ClassOf,
    Container,
    Frame,
    FunctionOf,
    ModuleOf,
    Record,
    Value,
    class_of,
    options,
)
from gllint_rules.reading import facts
from gllint_rules.reading.expression_index import expressions_in, parts_of
from gllint_rules.reading.facts import Call, Expr, Module, Scope, SectionFacts
from gllint_rules.tools.framework_names import bound_function
from gllint_rules.tools.registrars import COMPUTED, Registrar, Sink, deep_functions, import_reach, nowhere
from gllint_rules.tuples import NamedTuple
from gllint_rules.words.framework_table import DescriptionWords

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator

ANYWHERE = "*"
MOST_NAMES = 500  # described tools of a project
_NAMESPACES = frozenset({"globals", "locals"})
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_IN_THREADS = frozenset({"to_thread", "run_in_executor", "run_sync", "run_in_threadpool"})


class NameCall(NamedTuple):
    """A function that is called by the ``name`` of a described tool, and where that is seen."""

    name: str
    function: FunctionOf
    scope: Scope
    at: int
    is_namesake: bool


def called_by_name(
    evaluator: Evaluator,
    words: DescriptionWords,
    module: Module,
    registrars: Iterable[Registrar],
    sink: Sink = nowhere,
) -> list[NameCall]:
    """Return the functions that ``module`` calls by the names of tools that a module of the project describes.

    Where functions that bear the name of the tool are among them, no others are. A registry of the project may compute
    the names: what it looks up and calls is under :data:`ANYWHERE`, and ``sink`` takes note of what fills it.
    """
    described = described_names(frozenset(registrars))
    if not described:
        return []
    names = frozenset(name for name, paths in described.items() if ANYWHERE in paths or module.path in paths)
    search = _Search(evaluator, words, module, names)
    own = frozenset(name for name, paths in described.items() if module.path in paths)
    calls = dict.fromkeys((*search.calls(), *search.direct_calls(own)))
    with_namesake = {call.name for call in calls if call.is_namesake}
    computed = search.dispatch_calls(sink) if search.is_near(set().union(*described.values())) else ()
    return [
        *(
            call
            for call in calls
            if (call.is_namesake or call.name not in with_namesake) and search.is_near(described[call.name])
        ),
        *computed,
    ]


@lru_cache(maxsize=4)
def described_names(registrars: frozenset[Registrar]) -> dict[str, set[str]]:
    """Return the names of the tools that the project describes, each with the paths of the modules that give it to an
    SDK.

    :data:`ANYWHERE` is among them where others than tests do.
    """
    names: dict[str, set[str]] = {}
    for registrar in sorted(map(Registrar._make, registrars)):
        is_described = registrar.kind == "described"
        if (is_described or registrar.kind == "tested") and (
            registrar.used_as in names or len(names) < MOST_NAMES
        ):
            names.setdefault(registrar.used_as, set()).update(
                (registrar.path, ANYWHERE) if is_described else (registrar.path,)
            )
    return names


class _Search(Struct, eq=False):
    """Looks through one module for calls by one of the ``names``."""

    evaluator: Evaluator
    words: DescriptionWords
    module: Module
    names: frozenset[str]
    _leads: dict[str, frozenset[str]] = field(default_factory=dict)
    _words_of: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def calls(self) -> Iterator[NameCall]:
        """Yield the calls in branches and through dicts, and what is looked up by a name."""
        names = self.names
        for part in self.module.sections(
            lambda section: not (names.isdisjoint(section.compared) and names.isdisjoint(section.keys))
        ):
            yield from self._in_branches(part)
            for display, scope in part.dicts:
                yield from self._in_dict(display, scope)
        for part in self.module.sections(
            lambda section: any(self._ends_with(name, self.words.names) for name in section.looked_up)
        ):
            yield from self._looked_up(part)

    def direct_calls(self, own: frozenset[str]) -> Iterator[NameCall]:
        """Yield the functions called by their own names, next to what gives their description to an SDK."""
        for call, scope in self.module.calls_of(own) if own else ():
            if isinstance(call.func, facts.Name) and call.func.id in own:
                for function in self._functions(call.func, Frame(self.module, scope)):
                    yield NameCall(call.func.id, function, scope, call.at, True)

    def is_near(self, paths: set[str]) -> bool:
        """Return whether the module, or one at ``paths``, imports the other, or what does: else the name
        is another's.
        """
        own = self.module.path
        if own in paths or not self.imports.isdisjoint(paths):
            return True
        return any(own in self._reach(path) for path in paths)

    @property
    def imports(self) -> frozenset[str]:
        """The files that the module imports, and those that these do."""
        return self._reach(self.module.path)

    def _reach(self, path: str) -> frozenset[str]:
        """Return the files that the one at ``path`` leads to; none for :data:`ANYWHERE`."""
        if path not in self._leads:
            self._leads[path] = (
                import_reach(self.evaluator.modules, path) if path != ANYWHERE else frozenset()
            )
        return self._leads[path]

    # --- branches ------------------------------------------------------------------------------------------------

    def _in_branches(self, part: SectionFacts) -> Iterator[NameCall]:
        yield from self._in_body(part.body, None)
        for function in part.functions:
            yield from self._in_body(function.body, function)

    def _in_body(self, body: facts.Block, function: facts.Function | None) -> Iterator[NameCall]:
        """Yield the functions that are called in a branch for the name of a tool."""
        frame = Frame(self.module, function.scope if function is not None else self.module.scope)
        for statement in facts.statements(body):
            for name, branch in self._branches(statement):
                calls = list(self._in_block(name, branch, frame))
                yield from calls
                if not calls and function is not None and self._is_dispatcher(function, branch):
                    called = bound_function(self.module, function)
                    yield NameCall(name, called, frame.scope, function.at, False)
        for expr in expressions_in(body):
            if isinstance(expr, facts.IfExp):
                for name in self._compared(expr.test):
                    yield from self._in_branch(name, parts_of(expr.body), frame)

    def _branches(self, statement: facts.Stmt) -> Iterator[tuple[str, facts.Block]]:
        """Yield the blocks of a statement that are executed for one of the names."""
        match statement:
            case facts.If(test=test, body=branch):
                yield from ((name, branch) for name in self._compared(test))
            case facts.Match(subject=subject, cases=cases, values=values):
                if self._holds_name(subject) or isinstance(subject, (facts.Seq, facts.Dict)):
                    for (_, branch), compared in zip(cases, values, strict=True):
                        yield from ((name, branch) for name in self._texts(compared))
            case _:
                pass

    def _is_dispatcher(self, function: facts.Function, branch: facts.Block) -> bool:
        """Return whether a function is given a tool's arguments and returns what the ``branch`` for its name computes.

        ``def process_tool_call(tool_name, tool_input)`` is the tool itself where no other function is.
        """
        if not any(self._ends_with(param.name, self.words.arguments) for param in function.params):
            return False
        returned = {
            statement.value.id
            for statement in facts.statements(function.body)
            if isinstance(statement, facts.Return) and isinstance(statement.value, facts.Name)
        }
        for statement in facts.statements(branch):
            match statement:
                case facts.Return(value=value) if value is not None and not isinstance(value, facts.Const):
                    return True
                case facts.Assign(targets=targets):
                    if any(isinstance(target, facts.Name) and target.id in returned for target in targets):
                        return True
                case _:
                    pass
        return False

    def _compared(self, test: Expr) -> Iterator[str]:
        """Yield the described names one of which a condition asks for."""
        match test:
            case facts.Compare(operands=(left, right), ops=("Equal",)):
                for expr, other in ((left, right), (right, left)):
                    if self._holds_name(other):
                        yield from self._texts((expr,))
            case facts.Compare(operands=(left, facts.Seq(items=items)), ops=("In",)):
                if self._holds_name(left):
                    yield from self._texts(items)
            case facts.BoolOp(left=left, right=right):
                yield from self._compared(left)
                yield from self._compared(right)
            case _:
                pass

    def _texts(self, exprs: Iterable[Expr]) -> Iterator[str]:
        for expr in exprs:
            if isinstance(expr, facts.Const) and isinstance(expr.value, str) and expr.value in self.names:
                yield expr.value

    def _in_block(self, name: str, branch: facts.Block, frame: Frame) -> Iterator[NameCall]:
        return self._in_branch(name, expressions_in(branch), frame, frozenset(_dropped(branch)))

    def _in_branch(
        self, name: str, branch: Iterable[Expr], frame: Frame, dropped: frozenset[int] = frozenset()
    ) -> Iterator[NameCall]:
        """Yield the functions in a branch that bear the ``name`` of its tool, and a single other that takes arguments.

        The other counts only if no namesake is found anywhere: :func:`called_by_name` decides that.
        """
        others: dict[object, NameCall] = {}
        for expr in branch:
            callee = expr.func if isinstance(expr, Call) else expr
            if not isinstance(callee, (facts.Name, facts.Attr)):
                continue
            is_namesake = self._is_namesake(facts.last_name(callee), name)
            is_call = isinstance(expr, Call) and expr.at not in dropped and self._takes_arguments(expr)
            for function in self._functions(callee, frame) if is_namesake or is_call else ():
                call = NameCall(name, function, frame.scope, expr.at, is_namesake)
                if is_namesake:
                    yield call
                else:
                    others.setdefault(function.function, call)
        if len(others) == 1:
            yield from others.values()

    # --- dicts ---------------------------------------------------------------------------------------------------

    def _in_dict(self, display: facts.Dict, scope: Scope) -> Iterator[NameCall]:
        """Yield the functions that a dict has under the name that they bear themselves."""
        for key, value in display.items:
            if key is None:
                continue
            for name in self._texts((key,)):
                for expr in parts_of(value):
                    if isinstance(expr, (facts.Name, facts.Attr)) and self._is_namesake(
                        facts.last_name(expr), name
                    ):
                        for function in self._functions(expr, Frame(self.module, scope)):
                            yield NameCall(name, function, scope, expr.at, True)

    def _looked_up(self, part: SectionFacts) -> Iterator[NameCall]:
        """Yield the functions that are looked up by the name of a tool: in a dict, or by ``getattr``."""
        for base, look, scope in self._looks(part):
            yield from self._under_name(base, look, part, scope)
        for call, scope in part.calls:
            match call:
                case Call(func=facts.Name(id="getattr"), args=(base, key, *_)):
                    yield from self._attributes(base, key, call, scope)
                case _:
                    pass

    def _looks(self, part: SectionFacts) -> Iterator[tuple[Expr, Expr, Scope]]:
        """Yield the look-ups by the name of a tool, each after what it looks in."""
        for sub, scope in part.subscripts:
            if self._holds_name(sub.index):
                yield sub.base, sub, scope
        for call, scope in part.calls:
            match call:
                case Call(func=facts.Attr(base=base, name="get"), args=(key, *_)) if self._holds_name(key):
                    yield base, call, scope
                case _:
                    pass

    def dispatch_calls(self, sink: Sink) -> Iterator[NameCall]:
        """Yield what is looked up by a name and called with the arguments of a tool."""
        for part in self.module.sections(
            lambda section: any(self._ends_with(name, self.words.names) for name in section.looked_up)
        ):
            for base, look, scope in self._looks(part):
                if COMPUTED not in self.names and any(
                    True for _ in self._under_name(base, look, part, scope)
                ):
                    continue  # only what bears a described name is a tool
                for call, call_scope in self._calls_of(look, part, scope):
                    values = [*call.args, *(value for _, value in call.keywords)]
                    if any(map(self._holds_arguments, values)):
                        functions = [*self._functions(call.func, Frame(self.module, call_scope))]
                        functions += deep_functions(self.evaluator, base, Frame(self.module, scope), sink)
                        for function in functions:
                            yield NameCall(ANYWHERE, function, call_scope, call.at, False)

    def _under_name(self, base: Expr, look: Expr, part: SectionFacts, scope: Scope) -> Iterator[NameCall]:
        """Return the functions that a look-up in ``base`` may give."""
        match base:
            case Call(func=facts.Name(id=namespace), args=()) if namespace in _NAMESPACES:
                key = look.index if isinstance(look, facts.Sub) else look.args[0]  # type: ignore[union-attr]
                yield from self._of_module(self.module, key, look, scope)
                return
            case _:
                pass
        is_called: bool | None = None
        for option in options(self.evaluator.eval(base, Frame(self.module, scope))):
            for key, entry in option.contents() if isinstance(option, Record) else ():
                if not isinstance(key, str) or key not in self.names:
                    continue
                for function in _functions_in(entry.value):
                    is_namesake = self._is_namesake(getattr(function.function, "name", ""), key)
                    if not is_namesake and is_called is None:
                        is_called = any(True for _ in self._calls_of(look, part, scope))
                    if is_namesake or is_called:
                        yield NameCall(key, function, scope, look.at, is_namesake)

    def _attributes(self, base: Expr, key: Expr, look: Expr, scope: Scope) -> Iterator[NameCall]:
        """Yield the methods or functions with one of the names that an object, a class or a module has."""
        forms = list(self._forms(key, Frame(self.module, scope)))
        values = options(self.evaluator.eval(base, Frame(self.module, scope))) if forms else ()
        for value in values:
            of = value if isinstance(value, ClassOf) else class_of(value)
            if isinstance(value, ModuleOf):
                yield from self._of_module(value.module, key, look, scope)
            elif of is not None:
                for name, attribute in forms:
                    for ancestor in classes.ancestors(self.evaluator, of):
                        method = ancestor.cls.method(attribute) if isinstance(ancestor, ClassOf) else None
                        if method is not None and isinstance(ancestor, ClassOf):
                            function = FunctionOf(ancestor.module, method, of, True)
                            yield NameCall(name, function, scope, look.at, True)
                            break

    def _of_module(self, home: Module, key: Expr, look: Expr, scope: Scope) -> Iterator[NameCall]:
        """Yield the functions with one of the names in a module's namespace."""
        for name, bound in self._forms(key, Frame(self.module, scope)):
            if bound in home.scope.bindings:
                for option in options(self.evaluator.lookup(bound, Frame(home, home.scope))):
                    if isinstance(option, FunctionOf):
                        yield NameCall(name, option, scope, look.at, True)

    def _forms(self, key: Expr, frame: Frame) -> Iterator[tuple[str, str]]:
        """Yield the described names, each as ``key`` spells it: ``f"tool_{name}"`` puts a word before it."""
        match key:
            case facts.Join(parts=parts) if sum(isinstance(part, facts.Hole) for part in parts) == 1:
                [hole] = [part for part in parts if isinstance(part, facts.Hole)]
                at = parts.index(hole)
                texts = [str(part.value) if isinstance(part, facts.Const) else "" for part in parts]
                if self._holds_name(hole.value):
                    before, behind = "".join(texts[:at]), "".join(texts[at + 1 :])
                    yield from ((name, f"{before}{name}{behind}") for name in sorted(self.names))
            case facts.BinOp(op="+", left=facts.Const(value=str(before)), right=right) if self._holds_name(
                right
            ):
                yield from ((name, f"{before}{name}") for name in sorted(self.names))
            case _ if self._holds_name(key):
                yield from ((name, name) for name in sorted(self.names))
            case _:
                pass

    # --- what is called with what ---------------------------------------------------------------------------------

    def _calls_of(self, look: Expr, part: SectionFacts, scope: Scope) -> Iterator[tuple[Call, Scope]]:
        """Yield the calls of what is looked up, with a tool's arguments, whose result is kept."""
        names = {
            name
            for name, bindings in scope.bindings.items()
            for binding in bindings
            if binding.value is not None and any(expr is look for expr in parts_of(binding.value))
        }
        dropped = set(_dropped(part.body, *(function.body for function in part.functions)))
        for call, call_scope in part.calls:
            is_it = any(
                part is look
                or (isinstance(part, facts.Name) and part.id in names and call_scope.home(part.id) is scope)
                for part in parts_of(call.func)
            )
            if facts.last_name(call.func) in _IN_THREADS:
                is_it = is_it or any(isinstance(arg, facts.Name) and arg.id in names for arg in call.args)
            if is_it and call.at not in dropped and self._takes_arguments(call):
                yield call, call_scope

    def _takes_arguments(self, call: Call) -> bool:
        """Return whether a call is given nothing, or what the model gave for a tool's arguments."""
        values = [*call.args, *(value for name, value in call.keywords if name is not None)]
        if any(name is None for name, _ in call.keywords) or not values:
            return True
        return any(self._holds_arguments(value) for value in values)

    def _holds_arguments(self, expr: Expr) -> bool:
        """Return whether an expression reads as the arguments that the model gives a tool: ``call.arguments``."""
        match expr:
            case facts.Sub(base=base, index=index):
                return self._ends_with(_text(index), self.words.arguments) or self._holds_arguments(base)
            case Call(func=facts.Attr(base=base), args=args):
                return self._holds_arguments(base) or any(map(self._holds_arguments, args))
            case Call(args=args):
                return any(map(self._holds_arguments, args))
            case facts.Star(value=value) | facts.Await(value=value):
                return self._holds_arguments(value)
            case facts.Name(id=name):
                return self._ends_with(name, self.words.arguments)
            case facts.Attr(base=base, name=name):
                return self._ends_with(name, self.words.arguments) or self._holds_arguments(base)
            case _:
                return False

    def _holds_name(self, expr: Expr) -> bool:
        """Return whether an expression reads as the name of the tool that the model wants."""
        match expr:
            case facts.Sub(index=index):
                return self._ends_with(_text(index), self.words.names)
            case Call(func=facts.Attr(base=base, name=method), args=args):
                if method == "get":
                    return any(self._ends_with(_text(arg), self.words.names) for arg in args[:1])
                return self._holds_name(base)  # `.strip()`, `.lower()`
            case Call(func=facts.Name(id="str"), args=(inner,)) | facts.Await(value=inner):
                return self._holds_name(inner)
            case facts.BoolOp(op="or", left=left):  # `call.function.name or ""`
                return self._holds_name(left)
            case facts.Walrus(target=name) | facts.Name(id=name) | facts.Attr(name=name):
                return self._ends_with(name, self.words.names)
            case _:
                return False

    def _ends_with(self, name: str, words: frozenset[str]) -> bool:
        parts = self._split(name)
        return bool(parts) and parts[-1] in words

    def _is_namesake(self, function: str, name: str) -> bool:
        """Return whether a function bears the name of a tool, words such as ``handle`` aside."""
        own, other = (
            [word for word in self._split(text) if word not in self.words.affixes]
            for text in (function, name)
        )
        return own == other if own or other else self._split(function) == self._split(name)

    def _split(self, name: str) -> tuple[str, ...]:
        words = self._words_of.get(name)
        if words is None:
            words = self._words_of[name] = tuple(word.lower() for word in _WORD.findall(name))
        return words

    def _functions(self, expr: Expr, frame: Frame) -> Iterator[FunctionOf]:
        for option in options(self.evaluator.eval(expr, frame)):
            if isinstance(option, FunctionOf):
                yield option


def _functions_in(value: Value, depth: int = 2) -> Iterator[FunctionOf]:
    """Return the functions that a value is, or that it contains next to their descriptions."""
    for option in options(value):
        if isinstance(option, FunctionOf):
            yield option
        elif isinstance(option, Container) and depth:
            for _, entry in option.contents():
                yield from _functions_in(entry.value, depth - 1)


def _dropped(*blocks: facts.Block) -> Iterator[int]:
    """The numbers of the calls whose result nothing is made of: alone in a statement, or asked in a condition."""
    for statement in facts.statements(*blocks):
        match statement:
            case facts.Do(kind="expr", values=(value,)):
                value = value.value if isinstance(value, facts.Await) else value
                if isinstance(value, Call):
                    yield value.at
            case facts.If(test=test):
                yield from (expr.at for expr in parts_of(test) if isinstance(expr, Call))
            case _:
                pass


def _text(expr: Expr) -> str:
    return (
        expr.value if isinstance(expr, facts.Const) and isinstance(expr.value, str) else facts.last_name(expr)
    )

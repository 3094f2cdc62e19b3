"""What is handed over: the functions in the list, set, tuple or dict that an argument is, however it was built."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from gllint_rules.inference import classes
from gllint_rules.inference.builtin_names import PROPERTIES
from gllint_rules.inference.values import (
    NEVER,
    UNKNOWN,
    ClassOf,
    Container,
    DictOf,
    External,
    ExternalInstance,
    Frame,
    FunctionOf,
    Instance,
    ListOf,
    Method,
    ModuleOf,
    Record,
    Text,
    ToolValue,
    Value,
    class_of,
    options,
)
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Call, Expr, Function, Lambda, Module, Param, Scope
from gllint_rules.reading.outline import Section
from gllint_rules.reading.reads import ALL, SHAPE
from gllint_rules.tools.framework_names import bound_function
from gllint_rules.tuples import NamedTuple
from gllint_rules.words.framework_table import DescriptionWords, Place

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator, Modules

DESCRIPTIONS = "descriptions"
COMPUTED = "*"  # stands for the names of described tools that the source does not show
MOST_IMPORTS = 100  # of a module that are looked at for what they import
MOST_PARTS = 2_000  # expressions and values that are looked at for one argument
_ADDS_ONE = frozenset({"append", "add", "insert"})
_ADDS_MANY = frozenset({"extend", "update"})
_TOOL_NAME = re.compile(r"[^\W\d][\w-]{0,99}")
_NAME = "name"  # the key under which each description has the name of its tool
_COPIES = frozenset(
    {"list", "tuple", "set", "frozenset", "sorted", "reversed", "dict", "copy", "deepcopy", "cast"}
)


class Registrar(NamedTuple):
    """What hands functions over wherever it is used: a parameter, a decorator, a name of a class.

    ``at`` is the place of the function or class in the file at ``path``, ``used_as`` its name where it is used.
    What takes JSON descriptions of tools alone has :data:`DESCRIPTIONS` as its framework, as have the names of the
    tools that the module describes. Of these, ``name`` is a digest of the files that the module leads to, so that
    whatever asks for its imports is asked again when they change, and not when anything else in the module does.
    """

    path: str
    at: int
    used_as: str
    name: str
    # Of a parameter "one", "all" or, of what the function returns, "made"; of a class "below"; of a decorator of the
    # table to which a module gives that name "renamed"; of the name of a tool that is described as JSON "described",
    # or, where a test describes it, "tested".
    kind: str
    framework: str


Sink: TypeAlias = Callable[[str, int, str, str, str], None]
"""Takes note of what hands functions of other modules over: the first five fields of a :class:`Registrar`."""


def nowhere(*fields: object) -> None:
    pass


def import_reach(modules: Modules, path: str) -> frozenset[str]:
    """Return the files that the one at ``path`` imports, and those that these do; what a package imports aside."""
    first = modules.imports_of(path)
    direct = [other for other in sorted(first) if not other.endswith("/__init__.py")][:MOST_IMPORTS]
    return first.union(*map(modules.imports_of, direct))


def functions(
    evaluator: Evaluator, expr: Expr, frame: Frame, sink: Sink = nowhere, of_objects: bool = False
) -> tuple[FunctionOf, ...]:
    """Return the functions among the values, also those of tools and of callable objects if asked for."""
    walk = _Walk(evaluator, sink)
    walk.element(expr, frame)
    return walk.functions(True, of_objects)


def functions_in(
    evaluator: Evaluator, expr: Expr, frame: Frame, sink: Sink = nowhere, of_objects: bool = False
) -> tuple[FunctionOf, ...]:
    """Return the plain functions in the container that ``expr`` is, or that it is itself; what is a tool already
    aside.
    """
    walk = _Walk(evaluator, sink)
    walk.container(expr, frame)
    return walk.functions(False, of_objects)


def deep_functions(evaluator: Evaluator, expr: Expr, frame: Frame, sink: Sink) -> tuple[FunctionOf, ...]:
    """Return the functions in the container ``expr``, also inside the dicts and objects that it contains."""
    walk = _Walk(evaluator, sink, is_deep=True)
    walk.container(expr, frame)
    return walk.functions(False)


class _Uses(NamedTuple):
    """The registrars by the place of the function or class; the names of those that are called, and of bases."""

    at: Mapping[tuple[str, int], list[Registrar]]
    names: frozenset[str]
    bases: frozenset[str]


@lru_cache(maxsize=4)
def _uses_of(registrars: frozenset[Registrar]) -> _Uses:
    """Index registrars by place, with the names under which they are used."""
    at: dict[tuple[str, int], list[Registrar]] = {}
    for registrar in map(Registrar._make, registrars):  # from another process they come as plain tuples
        if registrar.kind not in ("described", "tested", "renamed"):  # which take no function themselves
            at.setdefault((registrar.path, registrar.at), []).append(registrar)
    records = [registrar for several in at.values() for registrar in several]
    names, bases = (
        frozenset(registrar.used_as for registrar in records if (registrar.kind == "below") is is_base)
        for is_base in (False, True)
    )
    return _Uses(at, names, bases)


def registrations(
    evaluator: Evaluator,
    module: Module,
    registrars: frozenset[Registrar],
    sink: Callable[[str], Sink],
    words: DescriptionWords,
) -> Iterator[tuple[FunctionOf, Scope, int, str]]:
    """Return the functions that ``module`` passes to another module, each with the place and a framework.

    ``sink`` makes of a framework's name where it is noted what ``module`` itself hands on.
    """
    uses = _uses_of(registrars)
    for function in module.functions_where(
        lambda section: not section.decorators.isdisjoint(uses.names), SHAPE
    ):
        yield from _decorator_registrations(evaluator, module, function, uses)
    for call, scope in module.calls_of(uses.names):
        yield from _call_registrations(evaluator, call, Frame(module, scope), uses, sink, words)
    for cls in module.classes_where(lambda s: any(b.rpartition(".")[2] in uses.bases for b in s.bases)):
        yield from _class_registrations(evaluator, ClassOf(module, cls), uses, sink, words)


def _decorator_registrations(
    evaluator: Evaluator, module: Module, function: Function, uses: _Uses
) -> Iterator[tuple[FunctionOf, Scope, int, str]]:
    """Yield a function that a decorator of the project registers."""
    scope = function.scope.parent or function.scope
    for written in function.decorators:
        called = isinstance(written, Call)
        func = written.func if isinstance(written, Call) else written
        for registrar, _ in _registrars_of(evaluator, uses, func, Frame(module, scope)):
            if registrar.kind == ("made" if called else "one"):
                yield bound_function(module, function), scope, function.at, registrar.framework


def _call_registrations(
    evaluator: Evaluator,
    call: Call,
    frame: Frame,
    uses: _Uses,
    sink: Callable[[str], Sink],
    words: DescriptionWords,
) -> Iterator[tuple[FunctionOf, Scope, int, str]]:
    """Yield the functions that a call passes to registrars of the project."""
    maker = call.func.func if isinstance(call.func, Call) else None  # ``maker(…)(function)``
    for registrar, run in _registrars_of(evaluator, uses, call.func if maker is None else maker, frame):
        walk, argument = _Walk(evaluator, sink(registrar.framework), words), None
        if maker is None and registrar.kind != "made" and isinstance(run.function, Function):
            argument = _argument(call, run.function, registrar.name, run.shift)
        elif maker is not None and registrar.kind == "made" and call.args:
            argument = call.args[0]
        if argument is not None:
            (walk.container if registrar.kind == "all" else walk.element)(argument, frame)
        if registrar.framework == DESCRIPTIONS:
            walk.tell_descriptions(frame.module)
        else:
            for callee in walk.functions(of_tools=registrar.kind != "all"):
                yield callee, frame.scope, call.at, registrar.framework


def _class_registrations(
    evaluator: Evaluator, of: ClassOf, uses: _Uses, sink: Callable[[str], Sink], words: DescriptionWords
) -> Iterator[tuple[FunctionOf, Scope, int, str]]:
    """Return what a class has under a name that a class above it registers."""
    for base in classes.ancestors(evaluator, of)[1:]:
        if not isinstance(base, ClassOf) or base.module.path == of.module.path:
            continue
        for registrar in uses.at.get((base.module.path, base.cls.at), ()):
            walk = _Walk(evaluator, sink(registrar.framework), words)
            walk.class_entry(of, registrar.name)
            if registrar.framework == DESCRIPTIONS:
                walk.tell_descriptions(of.module)
            else:
                for callee in walk.functions(of_tools=False):
                    yield callee, of.cls.scope, of.cls.at, registrar.framework


def _registrars_of(
    evaluator: Evaluator, uses: _Uses, func: Expr, frame: Frame
) -> Iterator[tuple[Registrar, _CallTarget]]:
    """Return the registrars of the function or class that ``func`` refers to, and what runs then."""
    name = facts.last_name(func)
    names = frame.module.imported_names.get(name, (name,))
    if not uses.names.isdisjoint(names) and not isinstance(func, Call):
        for option in options(evaluator.eval(func, frame)):
            for run in _run_by(evaluator, option):
                for registrar in uses.at.get((run.module.path, run.function.at), ()):
                    if run.of_result is None or run.of_result is (registrar.kind == "made"):
                        yield registrar, run


class _CallTarget(NamedTuple):
    """The function that runs when something is called; the call does not fill its first ``shift`` parameters.

    ``of_result`` says whether it runs only when the result of the call is itself called.
    """

    module: Module
    function: Function | Lambda
    shift: int
    of_result: bool | None


def _run_by(evaluator: Evaluator, value: Value) -> Iterator[_CallTarget]:
    """Yield the functions that run when a value is called."""
    match value:
        case FunctionOf(module=module, function=function, first=first):
            yield _CallTarget(module, function, 1 if first else 0, None)
        case ClassOf():
            yield from _methods(evaluator, value, "__init__", None)
            yield from _methods(evaluator, value, "__call__", True)
        case Instance(of=of):
            yield from _methods(evaluator, of, "__call__", False)


def _methods(evaluator: Evaluator, of: ClassOf, name: str, of_result: bool | None) -> Iterator[_CallTarget]:
    for ancestor in classes.ancestors(evaluator, of):
        if isinstance(ancestor, ClassOf) and (method := ancestor.cls.method(name)) is not None:
            yield _CallTarget(ancestor.module, method, 1, of_result)
            return


def describe(evaluator: Evaluator, expr: Expr, frame: Frame, sink: Sink, words: DescriptionWords) -> None:
    """Pass ``sink`` the tools that are described as JSON in what a module gives to a model's SDK."""
    walk = _Walk(evaluator, sink, words)
    walk.container(expr, frame)
    walk.tell_descriptions(frame.module)


def described_in(
    evaluator: Evaluator, expr: Expr, frame: Frame, words: DescriptionWords, is_choice: bool = False
) -> set[str]:
    """Return the names of the tools that an expression describes as JSON; of a choice of a tool its name."""
    walk = _Walk(evaluator, nowhere, words)
    walk.container(expr, frame)
    values = (*walk.values, evaluator.eval(expr, frame))
    return walk.names.union(*(walk.described(value, is_choice) for value in values))


def gaps(
    evaluator: Evaluator, argument: Expr | Value, frame: Frame, single: bool, gap: Callable[[Value], bool]
) -> int:
    """Return how many of the functions and tools that are handed over, a single one or several, are gaps."""
    if isinstance(argument, facts.Seq) and not single:
        return sum(gaps(evaluator, i, frame, not isinstance(i, facts.Star), gap) for i in argument.items)
    walk = _Walk(evaluator)
    if isinstance(argument, Value):
        walk.container_value(argument)
    else:
        (walk.element if single else walk.container)(argument, frame)
    return int(any(gap(option) for value in walk.values for option in options(value)))


def functions_in_value(evaluator: Evaluator, value: Value) -> tuple[FunctionOf, ...]:
    """Return the plain functions in the container ``value``."""
    walk = _Walk(evaluator)
    walk.container_value(value)
    return walk.functions(of_tools=False)


def wrapped_functions(
    evaluator: Evaluator, wrapper: FunctionOf, sink: Sink = nowhere
) -> tuple[FunctionOf, ...]:
    """Return the functions that others give to a function of the project, which makes ``wrapper`` of each."""
    walk = _Walk(evaluator, sink)
    walk.wrapped_functions(wrapper)
    return walk.functions(of_tools=False)


def arguments(
    evaluator: Evaluator, call: Call, frame: Frame, places: tuple[Place, ...]
) -> Iterator[tuple[Place, Expr | Value]]:
    """Return the arguments at the ``places`` of a call: expressions, or values of what is spread into it."""
    plain = True
    positional: list[Expr] = []
    for arg in call.args:
        plain = plain and not isinstance(arg, facts.Star)
        if plain:
            positional.append(arg)
    for place in places:
        if isinstance(place, int):
            if place < len(positional):
                yield place, positional[place]
        elif place == "*":
            yield from ((place, arg) for arg in positional)
        else:
            first, _, rest = place.partition(".")
            argument = call.keyword(first)
            if argument is not None:
                yield from ((place, part) for part in _parts_at(evaluator, argument, frame, rest))
            for name, spread in call.keywords:
                if name is None and not rest:
                    for option in options(evaluator.eval(spread, frame)):
                        if isinstance(option, Record):
                            yield from ((place, entry.value) for entry in option.entries.get(first, ()))


def _parts_at(evaluator: Evaluator, expr: Expr, frame: Frame, path: str) -> Iterator[Expr | Value]:
    """Yield what is under the dotted keys ``path`` of a dict, or among the keywords of a call."""
    if not path:
        yield expr
        return
    key, _, rest = path.partition(".")
    match expr:
        case facts.Dict() | facts.Call():
            inner = expr.value(key) if isinstance(expr, facts.Dict) else expr.keyword(key)
            if inner is not None:
                yield from _parts_at(evaluator, inner, frame, rest)
        case _:
            for option in options(evaluator.eval(expr, frame)):
                if isinstance(option, Record) and not rest:
                    yield from (entry.value for entry in option.entries.get(key, ()))


class _Walk(Struct, eq=False):
    """Goes through what builds a container: written out, spread, added to, bound to names of whatever module."""

    evaluator: Evaluator
    sink: Sink = nowhere
    words: DescriptionWords = DescriptionWords()
    values: list[Value] = field(default_factory=list)
    budget: int = MOST_PARTS
    visits: set[tuple[Scope, str]] = field(default_factory=set)
    names: set[str] = field(default_factory=set)  # of tools that calls describe
    is_deep: bool = False  # an element is also what a dict, or a call, has that makes one

    def tell_descriptions(self, module: Module) -> None:
        """Pass on the tools that are described as JSON in what was met, if ``module`` passes that to others."""
        for value in self.values:
            self.names.update(self.described(value))
        if self.names:
            near = "\n".join(sorted(import_reach(self.evaluator.modules, module.path)))
            digest = blake2b(near.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
            for name in sorted(self.names):
                self.sink(module.path, 0, name, digest, "described")

    def described(self, value: Value, is_nested: bool = False) -> Iterator[str]:
        """Yield the names of the tools that are described in a value, however deep."""
        for option in options(value):
            if not isinstance(option, Container) or not self.spend():
                continue
            if isinstance(option, Record) and _NAME in option.entries:
                if is_nested or not self.words.schemas.isdisjoint(option.entries):
                    names = (o for entry in option.entries[_NAME] for o in options(entry.value))
                    literals = [o.literal if isinstance(o, Text) else None for o in names]
                    yield from (name for name in literals if name and _TOOL_NAME.fullmatch(name))
                    if None in literals:
                        yield COMPUTED
                    continue
            for key, entry in option.contents():
                yield from self.described(entry.value, key in self.words.nested)
            if option.rest is not None:
                yield from self.described(option.rest)

    def functions(self, of_tools: bool, of_objects: bool = False) -> tuple[FunctionOf, ...]:
        """Return the functions in the values, with those of tools or callable objects if asked."""
        callables: dict[object, FunctionOf] = {}
        for value in self.values:
            for option in options(value):
                callee = option.tool.called if of_tools and isinstance(option, ToolValue) else option
                if of_objects and (of := class_of(option)) is not None:
                    callee = self.evaluator.member(of, "__call__")
                    if not isinstance(callee, FunctionOf):
                        continue
                    callee = replace(callee, bound=of, first=True)
                if isinstance(callee, FunctionOf):
                    callables.setdefault(callee.function, callee)
        return tuple(callables.values())

    def spend(self) -> bool:
        self.budget -= 1
        return self.budget > 0

    # --- elements ------------------------------------------------------------------------------------------

    def element(self, expr: Expr, frame: Frame) -> None:
        """An element: a function, or a tuple of one and what belongs to it."""
        if not self.spend():
            return
        match expr:
            case facts.Seq(kind="tuple", items=items):
                for item in items:
                    self.element(item, frame)
            case facts.IfExp(body=first, orelse=second) | facts.BoolOp(left=first, right=second):
                self.element(first, frame)
                self.element(second, frame)
            case facts.Await(value=inner) | facts.Walrus(value=inner):
                self.element(inner, frame)
            case facts.Const() | facts.Join():
                pass
            case facts.Dict(items=entries) if self.is_deep:
                for _, item in entries:
                    self.element(item, frame)
            case facts.Call():
                self.describing(expr, frame)
                for arg in (*expr.args, *(v for _, v in expr.keywords)) if self.is_deep else ():
                    self.element(arg, frame)
                for option in options(self.evaluated(expr, frame)):
                    if not (isinstance(option, FunctionOf) and self.wrapped(expr, option, frame)):
                        self.values.append(option)
            case facts.Name(id=name):
                scope = frame.scope.home(name)
                bindings = scope.bindings[name] if scope is not None else []
                calls = [b.value for b in bindings if isinstance(b.value, Call) and b.kind == "assign"]
                if scope is not None and len(calls) == len(bindings):
                    for call in calls:
                        self.element(call, Frame(frame.module, scope, None, frame.bound))
                elif scope is not None and [b.kind for b in bindings] == ["param"]:
                    self.parameter(name, scope, frame.module)
                else:
                    elsewhere = False
                    if scope is not None:
                        home = Frame(frame.module, scope, None, frame.bound)
                        elsewhere = self.looped(bindings, expr.at, home)
                        self.imported_descriptions(bindings, frame.module)
                    value = self.evaluator.eval(expr, frame)
                    self.whole(NEVER if elsewhere and value is UNKNOWN else value)
            case _:
                self.values.append(self.evaluated(expr, frame))

    def evaluated(self, expr: Expr, frame: Frame) -> Value:
        """Return the value of an expression; of what is unknown, the object from outside that it comes from."""
        value = self.evaluator.eval(expr, frame)
        if value is UNKNOWN:
            match expr:
                case facts.Await(value=inner) | facts.Attr(base=inner) | facts.Sub(base=inner):
                    source = self.evaluated(inner, frame)
                case facts.Call(func=inner):
                    source = self.evaluated(inner, frame)
                case _:
                    return value
            if isinstance(source, (External, ExternalInstance, Method)):
                return source
        return value

    def describing(self, call: Call, frame: Frame) -> None:
        """Note the tool that a call describes: by its own ``name=``, or in what it is given."""
        name = call.keyword(_NAME)
        if isinstance(name, facts.Const) and isinstance(name.value, str) and _TOOL_NAME.fullmatch(name.value):
            self.names.add(name.value)
        for _, value in call.keywords if name is None and self.spend() else ():
            if isinstance(value, facts.Call):
                self.describing(value, frame)
            elif isinstance(value, facts.Dict):
                self.names.update(self.described(self.evaluator.eval(value, frame)))

    def imported_descriptions(self, bindings: list[facts.Binding], module: Module) -> None:
        """Note the tools that calls in other modules describe from which ``module`` imports what they make."""
        imports = dict.fromkeys(
            (b.module, b.name) for b in facts.alternatives(bindings) if b.kind == "import"
        )
        for dotted, name in imports:
            origin = self.origin(module, dotted, name)
            for made in origin.scope.bindings[name] if origin is not None else ():
                if isinstance(made.value, Call) and origin is not None:
                    self.describing(made.value, Frame(origin, origin.scope))

    def looped(self, bindings: list[facts.Binding], at: int, home: Frame) -> bool:
        """Return whether a variable is followed to the elements of a loop; ``at`` says in which of several loops."""
        is_behind = home.scope.kind == "comprehension"
        loops = [b for b in bindings if b.kind == "loop" and b.value and (is_behind or b.value.at < at)]
        over = loops[-1].value if loops else None
        return over is not None and self.elements(over, loops[-1].index, home)

    def elements(self, over: Expr, index: tuple[int, ...], frame: Frame) -> bool:
        """Follow the elements of a container, if it can be. ``index`` is their place in tuples, as of ``items()``."""
        match over, index:
            case Call(func=facts.Attr(base=base, name="items"), args=()), (1,):
                self.container(base, frame)
            case Call(func=facts.Name(id="enumerate"), args=(inner, *_)), (1, *further):
                return self.elements(inner, (*further,), frame)
            case Call(func=facts.Name(id="zip"), args=args), (place, *further) if place < len(args):
                return self.elements(args[place], (*further,), frame)
            case _, ():
                self.container(over, frame)
            case _:
                return False
        return True

    def wrapped(self, call: Call, wrapper: FunctionOf, frame: Frame) -> bool:
        """Return whether a function of the project made ``wrapper`` around another one, whose result it keeps: that is
        it.
        """
        inner, maker = wrapper.function, _maker_of(wrapper.function)
        if not isinstance(inner, Function) or maker is None:
            return False
        names = {param.name for param in maker.params}.intersection(called_names(inner))
        values = [value for name in sorted(names) if (value := _argument(call, maker, name)) is not None]
        for value in values:
            self.element(value, frame)
        return bool(values)

    def whole(self, value: Value) -> None:
        """An element; of a function inside a decorator, which calls what is decorated, that too."""
        for option in options(value):
            if isinstance(option, FunctionOf):
                self.wrapped_functions(option)
        self.values.append(value)

    def wrapped_functions(self, wrapper: FunctionOf) -> None:
        """The functions that a function of the project was made around, whose results it keeps."""
        inner, maker = wrapper.function, _maker_of(wrapper.function)
        if maker is not None and isinstance(inner, Function):
            for name in {param.name for param in maker.params}.intersection(called_names(inner)):
                self.parameter(name, maker.scope, wrapper.module)

    def parameter(self, name: str, scope: Scope, module: Module) -> None:
        """Yield the elements of a parameter: arguments of calls, and functions that it decorates."""
        if (scope, name) in self.visits:
            return
        self.visits.add((scope, name))
        [binding] = scope.bindings[name]
        function = scope.owner
        if not isinstance(binding.target, Param) or not isinstance(function, Function):
            return
        self.take(function, name, "one", module)
        for argument, frame in _arguments_for(binding.target, function, module):
            self.element(argument, frame)
        if binding.target in function.params[: 1 if function.owner is None else 2]:
            maker = _maker_of(function)
            if maker is not None:
                self.sink(module.path, maker.at, maker.name, name, "made")
            elif _is_called_instance(function) and function.owner is not None:
                self.sink(module.path, function.at, function.owner.name, name, "made")
            self.values += _decorated_by(function, module)

    def take(self, function: Function, name: str, kind: str, module: Module) -> None:
        """Pass on that what other modules give for a parameter is registered."""
        for used_as in _used_as(function, module):
            self.sink(module.path, function.at, used_as, name, kind)

    def class_entry(self, of: ClassOf, name: str) -> None:
        """Return what a class has under a name that a class above it registers."""
        method = of.cls.method(name)
        if method is not None:
            self.returned(FunctionOf(of.module, method, of, True))
        elif name in of.cls.attributes or name in of.cls.scope.bindings:
            self.of_class(name, of, None)

    def value(self, value: Value) -> None:
        """Yield the element of a value."""
        for option in options(value):
            if not self.spend():
                return
            if isinstance(option, ListOf) and option.kind in ("tuple", "pair"):
                self.container_value(option)
            else:
                self.values.append(option)

    # --- containers ----------------------------------------------------------------------------------------

    def container(self, expr: Expr, frame: Frame) -> None:
        """Return the elements of the container ``expr``; a function itself is one element."""
        if not self.spend():
            return
        match expr:
            case facts.Seq(items=items):
                for item in items:
                    (self.container if isinstance(item, facts.Star) else self.element)(item, frame)
            case facts.Dict(items=entries):
                for key, item in entries:
                    (self.container if key is None else self.element)(item, frame)
            case (
                facts.BinOp(left=first, right=second)
                | facts.BoolOp(left=first, right=second)
                | facts.IfExp(body=first, orelse=second)
            ):
                self.container(first, frame)
                self.container(second, frame)
            case facts.Await(value=inner) | facts.Walrus(value=inner) | facts.Star(value=inner):
                self.container(inner, frame)
            case facts.Call(func=func, args=args) if args and facts.last_name(func) in _COPIES:
                self.container(args[-1] if facts.last_name(func) == "cast" else args[0], frame)
            case facts.Call(func=facts.Attr(base=base, name="copy" | "values")):
                self.container(base, frame)
            case facts.Call(func=func):
                self.describing(expr, frame)
                callees = options(self.evaluator.eval(expr.keyword("default_factory") or func, frame))
                for option in callees:
                    if isinstance(option, FunctionOf):
                        self.returned(option)
                self.from_value(expr, frame, any(isinstance(option, FunctionOf) for option in callees))
            case facts.Name(id=name):
                self.named(name, frame)
            case facts.Attr():
                self.attribute(expr, frame)
            case facts.Comp(kind="list" | "set" | "generator", element=element, scope=scope):
                self.element(element, Frame(frame.module, scope, None, frame.bound))
            case _:
                self.from_value(expr, frame)

    def from_value(self, expr: Expr, frame: Frame, elsewhere: bool = False) -> None:
        """Take what a container is by its value, unless it is unknown and was followed ``elsewhere``, as a
        parameter is to the callers.
        """
        value = self.evaluated(expr, frame)
        root = facts.root(expr)
        scope = frame.scope.home(root) if root is not None else None
        outer = scope is not None and any(b.kind == "param" for b in scope.bindings[root or ""])
        if value is not UNKNOWN or not (elsewhere or outer):
            self.container_value(value)

    def container_value(self, value: Value) -> None:
        """Return the elements of a container that is known by its value."""
        for option in options(value):
            if not self.spend():
                return
            match option:
                case ListOf() | DictOf():
                    for _, entry in option.contents():
                        self.value(entry.value)
                    if isinstance(option, ListOf) and option.rest is not None:
                        self.value(option.rest)
                case FunctionOf():  # one alone, or what gives the list once an agent runs
                    self.values.append(option)
                    self.returned(option)
                case External() | ExternalInstance() | Method():
                    self.values.append(option)
                case _ if option is UNKNOWN:
                    self.values.append(option)
                case _:
                    pass

    def named(self, name: str, frame: Frame) -> None:
        """Follow the variable ``name`` to the containers that are assigned to it."""
        scope = frame.scope.home(name)
        if scope is None:
            self.container_value(self.evaluator.lookup(name, frame))
            return
        if (scope, name) in self.visits:
            return
        self.visits.add((scope, name))
        home = Frame(frame.module, scope, None, frame.bound)
        for binding in scope.bindings[name]:
            if binding.kind in ("assign", "aug", "annotated") and binding.value is not None:
                self.container(binding.value, home)
            elif binding.kind == "import" and (
                origin := self.origin(frame.module, binding.module, binding.name)
            ):
                self.named(binding.name, Frame(origin, origin.scope))
            elif (
                binding.kind == "param"
                and isinstance(binding.target, Param)
                and isinstance(scope.owner, Function)
            ):
                self.take(scope.owner, name, "all", frame.module)
                for argument, call_frame in _arguments_for(binding.target, scope.owner, frame.module):
                    self.container(argument, call_frame)
            elif binding.kind != "annotated":  # without a value: others give it one
                self.container_value(self.evaluator.lookup(name, home))

        def is_it(receiver: Expr, inner: Scope) -> bool:
            return isinstance(receiver, facts.Name) and receiver.id == name and inner.home(name) is scope

        self.filled(name, is_it, frame.module, frame.bound)

    def origin(self, module: Module, dotted: str, name: str) -> Module | None:
        """Return the module of the project that binds what is imported as ``name`` from ``dotted``."""
        path = self.evaluator.modules.find_module(module.path, dotted) if name else None
        home = self.evaluator.modules.module_at(path) if path is not None and path != module.path else None
        return home if home is not None and name in home.scope.bindings else None

    def attribute(self, expr: facts.Attr, frame: Frame) -> None:
        """``self.tools``: what is assigned to it, what the methods of the class add, and what a property returns."""
        cls = frame.scope.enclosing_class()
        if isinstance(expr.base, facts.Name) and expr.base.id in ("self", "cls") and cls is not None:
            self.of_class(expr.name, ClassOf(frame.module, cls), frame)
            return
        elsewhere = False
        for option in options(self.evaluator.eval(expr.base, frame)):
            match option:
                case ModuleOf(module=module) if expr.name in module.scope.bindings:
                    self.named(expr.name, Frame(module, module.scope))
                    return
                case Instance(of=of) | Record(of=ClassOf() as of) | (ClassOf() as of):
                    self.of_class(expr.name, of, None)
                    elsewhere = True
                case _:
                    pass
        self.from_value(expr, frame, elsewhere)

    def of_class(self, name: str, of: ClassOf, own: Frame | None) -> None:
        """Return what the class ``of`` has under an attribute; ``own`` means that one of its methods asks."""
        cls, module, bound = of.cls, of.module, own.bound if own is not None else of
        if (cls.scope, f"self.{name}") in self.visits:
            return
        self.visits.add((cls.scope, f"self.{name}"))
        assigned = cls.attributes.get(name, ())
        method = cls.method(name)
        for value, _, scope in assigned:
            if value is not None:
                self.container(value, Frame(module, scope, None, bound))
        if method is not None:
            function = FunctionOf(module, method, bound, True)
            if PROPERTIES.isdisjoint(map(facts.last_name, method.decorators)):
                self.container_value(function)
            else:
                self.returned(function)
        elif name in cls.scope.bindings:
            self.named(name, Frame(module, cls.scope, None, of))
        elif not assigned and own is not None:
            inherited = self.evaluator.member(of, name)
            self.container_value(NEVER if inherited is UNKNOWN else inherited)

        def is_it(receiver: Expr, scope: Scope) -> bool:
            """Return whether an expression is the attribute of this class."""
            match receiver:
                case facts.Attr(base=facts.Name(id="self" | "cls"), name=written):
                    return written == name and scope.enclosing_class() is cls
                case facts.Attr(base=facts.Name(id=base), name=written):
                    return written == name and base == cls.name and scope.home(base) is cls.scope.parent
                case _:
                    return False

        self.filled(name, is_it, module, bound)
        if own is not None:
            self.sink(module.path, cls.at, cls.name, name, "below")
            for subclass in _subclasses(of):
                self.of_class(name, subclass, Frame(module, subclass.cls.scope, None, subclass))

    def filled(
        self, name: str, is_it: Callable[[Expr, Scope], bool], module: Module, bound: ClassOf | None
    ) -> None:
        """Note what a module puts into the container called ``name``; ``is_it`` confirms that it is the container."""
        for target, value, scope in stores(module, lambda section: name in section.mutated, SHAPE):
            if isinstance(target, facts.Sub) and is_it(target.base, scope):
                self.element(value, Frame(module, scope, None, bound))
        for call, scope in module.calls_where(lambda section: name in section.mutated, SHAPE):
            if isinstance(call.func, facts.Attr) and is_it(call.func.base, scope):
                self.added(call.func.name, call, Frame(module, scope, None, bound))

    def returned(self, function: FunctionOf) -> None:
        """Yield what a function of the project returns."""
        inner = function.function
        if (inner.scope, "return") not in self.visits:
            self.visits.add((inner.scope, "return"))
            for value in returned(inner.body) if isinstance(inner, Function) else (inner.body,):
                self.container(value, Frame(function.module, inner.scope, None, function.bound))
            if function.bound is not None and isinstance(inner, Function):
                of = function.bound
                self.sink(of.module.path, of.cls.at, of.cls.name, inner.name, "below")
            for subclass in _subclasses(function.bound) if function.bound is not None else ():
                method = subclass.cls.method(getattr(inner, "name", ""))
                if method is not None:
                    self.returned(FunctionOf(subclass.module, method, subclass, True))

    def added(self, method: str, call: Call, frame: Frame) -> None:
        """``tools.append(f)``, ``tools.extend(more)``."""
        if method in _ADDS_ONE and call.args:
            self.element(call.args[-1], frame)
        elif method in _ADDS_MANY and call.args:
            self.container(call.args[0], frame)


def called_names(function: Function) -> Iterator[str]:
    """Yield the names that all returns of a function call: of ``return f(*args)`` it is ``f``."""
    for value in returned(function.body):
        while isinstance(value, facts.Await):
            value = value.value
        if isinstance(value, facts.Name):
            value = next(
                (b.value for b in function.scope.bindings.get(value.id, ()) if b.value is not None), value
            )
            while isinstance(value, facts.Await):
                value = value.value
        match value:
            case Call(
                func=facts.Name(id="to_thread") | facts.Attr(name="to_thread"), args=(facts.Name(id=name), *_)
            ):
                yield name
            case Call(func=facts.Name(id=name)):
                yield name
            case _:
                pass


def _maker_of(function: Function | Lambda) -> Function | None:
    """The function in whose body another one is made."""
    parent = function.scope.parent
    return parent.enclosing_function() if parent is not None else None


def _is_called_instance(function: Function) -> bool:
    return function.owner is not None and function.name == "__call__"


def _used_as(function: Function, module: Module) -> Iterator[str]:
    """Yield the names by which a function is called: of ``__init__`` the class's, of ``__call__`` those of its
    instances.
    """
    cls = function.owner
    if cls is None or function.name not in ("__init__", "__call__"):
        yield function.name
    elif function.name == "__init__":
        yield cls.name
    else:
        for name, bindings in module.scope.bindings.items():
            values = (b.value for b in bindings if b.kind in ("assign", "annotated"))
            if any(isinstance(value, Call) and facts.last_name(value.func) == cls.name for value in values):
                yield name


def _arguments_for(param: Param, function: Function, module: Module) -> Iterator[tuple[Expr, Frame]]:
    """Yield the arguments that calls in the same module pass for a parameter, and its default."""
    callees = frozenset(_used_as(function, module))
    shift = 1 if function.owner is not None else 0
    if param.name not in [p.name for p in function.params[shift:]]:
        return
    if param.default is not None:
        yield param.default, Frame(module, function.scope.parent or function.scope)
    for call, inner in module.calls_of(callees):
        if facts.last_name(call.func) not in callees or isinstance(call.func, Call):
            continue
        argument = _argument(call, function, param.name)
        if argument is not None:
            yield argument, Frame(module, inner)


def _argument(call: Call, function: Function, name: str, shift: int | None = None) -> Expr | None:
    """Return the argument of a call for a parameter; the first ``shift`` ones (``self``) are not the call's."""
    if shift is None:
        shift = 1 if function.owner is not None else 0
    value = call.keyword(name)
    position = [param.name for param in function.params].index(name) - shift
    if value is None and 0 <= position < len(call.args):
        value = None if any(isinstance(a, facts.Star) for a in call.args) else call.args[position]
    return value


def _decorated_by(decorator: Function, module: Module) -> Iterator[FunctionOf]:
    """Yield the functions of the module that ``@decorator`` decorates, or ``@maker(…)`` where a maker returns it.

    Of a class whose instances are called, ``@instance`` or ``@Class(…)``.
    """
    maker = _maker_of(decorator)
    uses = [((maker or decorator).name, maker is not None)]
    if _is_called_instance(decorator) and decorator.owner is not None:
        uses = [(decorator.owner.name, True), *((name, False) for name in _used_as(decorator, module))]
    names = frozenset(name for name, _ in uses)
    for function in module.functions_where(lambda section: not names.isdisjoint(section.decorators), SHAPE):
        for written in function.decorators:
            if (facts.last_name(written), isinstance(written, Call)) in uses:
                yield bound_function(module, function)


def _subclasses(of: ClassOf) -> Iterator[ClassOf]:
    """Yield the classes of the same module that derive from one, by their bases' names."""
    name = of.cls.name
    for cls in of.module.classes_where(lambda s: any(b.rpartition(".")[2] == name for b in s.bases)):
        if any(facts.last_name(base) == name for base in cls.bases):
            yield ClassOf(of.module, cls)


def stores(
    module: Module, about: Callable[[Section], bool], by: int = ALL
) -> Iterator[tuple[Expr, Expr, Scope]]:
    """Yield the stores in sections whose outline has some: target, value, and scope."""
    blocks: list[tuple[facts.Block, Scope]] = []
    for part in module.sections(about, by):
        if module.owner(part.section) is None:
            blocks.append((part.body, module.scope))
        blocks += ((function.body, function.scope) for function in part.functions)
    for block, scope in reversed(blocks):
        for statement in facts.statements(block):
            match statement:
                case facts.Assign(targets=targets, value=value) if value is not None:
                    yield from ((target, value, scope) for target in targets)
                case facts.AugAssign(target=target, value=value):
                    yield target, value, scope
                case _:
                    pass


def returned(block: facts.Block) -> Iterator[Expr]:
    """Yield the values that a function with this body returns."""
    for statement in facts.statements(block):
        if isinstance(statement, facts.Return) and statement.value is not None:
            yield statement.value

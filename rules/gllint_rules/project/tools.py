"""Which callables are offered to a language model: the five forms of the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gllint_rules.inference import classes
from gllint_rules.inference.evaluator import Evaluator
from gllint_rules.inference.protocol import Modules
from gllint_rules.inference.values import (
    ClassOf,
    Frame,
    FunctionOf,
    ListOf,
    Number,
    Record,
    Site,
    Text,
    ToolValue,
    Value,
    held_in,
    options,
)
from gllint_rules.project.derivation import Derivation
from gllint_rules.project.parameters import declared_by_schema
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Call, Expr, Function, Module, Param, Scope
from gllint_rules.reading.outline import Section
from gllint_rules.words.names import (
    ARGS_SCHEMA,
    RESULT_SCHEMAS,
    SCHEMA_FN,
    TOOL_DESCRIPTIONS,
    TOOL_REGISTRY_NAMES,
    TOOL_WRAPPER_ENDING,
    TOOL_WRAPPER_KEYWORDS,
    TOOL_WRAPPER_METHODS,
    Names,
)

if TYPE_CHECKING:
    from gllint_rules.inference.evaluator import Evaluator

Form = Literal["T1", "T2", "T3", "T4", "T5"]


@dataclass(frozen=True, slots=True, eq=False)
class Tool:
    """A tool of the tools. ``callable`` is absent where ``fn`` is not a function that we can see."""

    form: Form
    module: Module
    scope: Scope
    at: int  # the call, or the name of the function or class
    callables: tuple[FunctionOf, ...]
    name: str | None
    call: Call | None = None
    cls: ClassOf | None = None
    args_schema: Expr | None = None
    result_schema: Expr | None = None
    fn: Expr | None = None

    @property
    def callable(self) -> FunctionOf | None:
        return self.callables[0] if self.callables else None

    @property
    def called(self) -> FunctionOf | None:
        """The decorated function, which a call of the tool object is a call of."""
        return self.callable if self.form == "T3" else None


class Tools:
    """The tools of a project, module by module, and what is known of a value because it is one.

    The evaluator asks here while a tool is looked for, and a tool is looked for with the evaluator: it is made here.
    """

    def __init__(self, modules: Modules, names: Names) -> None:
        self.names = names
        self.evaluator = Evaluator(modules, self)
        self.derivation = Derivation(modules, names.tool_classes)
        self._tools: dict[str, list[Tool]] = {}
        self._decorated: dict[Function, Tool | None] = {}
        self._schemas: dict[Scope, tuple[Expr, Frame]] = {}

    def of(self, module: Module) -> list[Tool]:
        """The tools that ``module`` defines."""
        found = self._tools.get(module.path)
        if found is None:
            self._tools[module.path] = []
            found = list(_find_tools(self, module))
            self._keep(module.path, found)
        return found

    def inherit(self, old: Tools, paths: Callable[[str], bool]) -> None:
        """Take over the tools that ``old`` found in the modules at ``paths``."""
        for path, tools in old._tools.items():
            if paths(path):
                self._keep(path, tools)

    def _keep(self, path: str, tools: list[Tool]) -> None:
        for tool in tools:
            if tool.called is not None:
                assert isinstance(tool.called.function, Function)
                self._decorated[tool.called.function] = tool
            if tool.args_schema is not None:
                for callable in tool.callables:
                    frame = Frame(tool.module, tool.scope)
                    self._schemas[callable.function.scope] = (tool.args_schema, frame)
        self._tools[path] = tools

    def is_tool_class(self, of: ClassOf) -> bool:
        """Whether the instances of a class are tools."""
        return any(name in self.names.tool_classes for name in classes.bases_named(self.evaluator, of))

    def payload(self, name: str) -> frozenset[str] | None:
        """The arguments of the envelope ``name`` that reach the model; ``None`` where it is no envelope."""
        return self.names.payloads.get(name)

    def decorated_tool(self, module: Module, function: Function) -> Tool | None:
        """T3: the tool that the decorators of a function make of it."""
        if not function.decorators:
            return None
        if function not in self._decorated:
            self._decorated[function] = None
            self._decorated[function] = _decorated_tool(self, module, function)
        return self._decorated[function]

    def made_tool(self, module: Module, call: Call, scope: Scope) -> Tool | None:
        """The tool object that ``call`` makes (T1, T4), if it makes one."""
        last = real_name(module, call.func)
        if not (
            last.endswith(TOOL_WRAPPER_ENDING)
            or last in TOOL_WRAPPER_METHODS
            or call.keyword(SCHEMA_FN) is not None
        ):
            return None
        return self.evaluator.ask(
            ("tool", call),
            lambda: self._made_tool(module, call, scope),
            None,
            lambda: None,
            Site(module, call.at),
        )

    def _made_tool(self, module: Module, call: facts.Call, scope: Scope) -> Tool | None:
        tool = _called_tool(self, module, call, scope)
        return tool if tool is not None and tool.form != "T5" else None

    def schema_of_parameter(self, scope: Scope, param: Param) -> Value | None:
        """What the tool's own ``args_schema`` says of a parameter of its callable."""
        found = self._schemas.get(scope)
        return declared_by_schema(self.evaluator, *found, param) if found is not None else None


def _find_tools(tools: Tools, module: Module) -> Iterator[Tool]:
    """The tools that ``module`` defines, in all five forms, in reading order within each form."""
    for call, scope in module.calls_where(_may_make_tools):
        tool = _called_tool(tools, module, call, scope)
        if tool is not None:
            yield tool
    for cls in module.classes_where(lambda section: tools.derivation.may_derive(module, section)):
        of = ClassOf(module, cls)
        if tools.is_tool_class(of):
            yield _class_tool(tools, of)
    decorators = tools.names.tool_decorators
    for function in module.functions_where(lambda section: not decorators.isdisjoint(section.decorators)):
        tool = tools.decorated_tool(module, function)
        if tool is not None:
            yield tool


def _may_make_tools(section: Section) -> bool:
    return SCHEMA_FN in section.keywords or any(
        name.endswith(TOOL_WRAPPER_ENDING) or name in TOOL_WRAPPER_METHODS or name in TOOL_DESCRIPTIONS
        for name in section.calls
    )


def _called_tool(tools: Tools, module: Module, call: Call, scope: Scope) -> Tool | None:
    """The tool that ``call`` makes or describes, if it does: T1, T4 or T5."""
    last = real_name(module, call.func)
    fn = call.keyword(SCHEMA_FN)
    args_schema = call.keyword(ARGS_SCHEMA)
    result_schema = call.keyword(*RESULT_SCHEMAS)
    frame = Frame(module, scope)
    if fn is not None and (args_schema is not None or result_schema is not None):
        return Tool(
            form="T1",
            module=module,
            scope=scope,
            at=call.at,
            callables=_functions(tools, fn, frame),
            name=_literal(tools, call.keyword("name"), frame),
            call=call,
            args_schema=args_schema,
            result_schema=result_schema,
            fn=fn,
        )
    if last in TOOL_DESCRIPTIONS:
        return _described(tools, module, call, scope)
    wraps = last.endswith(TOOL_WRAPPER_ENDING) or (
        last in TOOL_WRAPPER_METHODS
        and isinstance(call.func, facts.Attr)
        and real_name(module, call.func.base).endswith(TOOL_WRAPPER_ENDING)
    )
    if not wraps:
        return None
    named = bool(call.args) and isinstance(call.args[0], facts.Const)  # `Tool("search", search)`
    for source in (*(call.keyword(name) for name in TOOL_WRAPPER_KEYWORDS), *call.args[: 2 if named else 1]):
        if source is None or isinstance(source, facts.Const):
            continue
        found = _functions(tools, source, frame)
        if found:
            name = call.keyword("name")
            return Tool(  # gllint: ignore[GL202] a record of one, no tool
                form="T4",
                module=module,
                scope=scope,
                at=call.at,
                callables=found,
                name=_literal(tools, name, frame)
                if name is not None
                else getattr(found[0].function, "name", None),
                call=call,
                args_schema=args_schema,
                fn=source,
            )
    return None


def _functions(tools: Tools, expr: Expr, frame: Frame) -> tuple[FunctionOf, ...]:
    """The functions of the project that ``expr`` may be."""
    if isinstance(expr, facts.Call) and facts.last_name(expr.func) == "partial" and expr.args:
        expr = expr.args[0]
    out = []
    for option in options(tools.evaluator.eval(expr, frame)):
        if isinstance(option, FunctionOf):
            out.append(option)
        elif isinstance(option, ToolValue) and option.tool.called is not None:
            out.append(option.tool.called)
    return tuple(out)


def _literal(tools: Tools, expr: Expr | None, frame: Frame) -> str | None:
    if expr is None:
        return None
    value = tools.evaluator.eval(expr, frame)
    return value.literal if isinstance(value, Text) else None


def _described(tools: Tools, module: Module, call: Call, scope: Scope) -> Tool | None:
    """T5: the method or function beside the description that bears its name."""
    frame = Frame(module, scope)
    name_expr = call.keyword("name") or (call.args[0] if call.args else None)
    name = _literal(tools, name_expr, frame)
    if name is None:
        return None
    found = _beside(tools, module, name, scope)
    if found is None:
        return None
    return Tool(
        form="T5",
        module=module,
        scope=scope,
        at=call.at,
        callables=(found,),
        name=name,
        call=call,
        args_schema=call.keyword("parameters"),
    )


def _beside(tools: Tools, module: Module, name: str, scope: Scope) -> FunctionOf | None:
    names = (name, f"_{name}", f"{name}_impl", f"_{name}_impl")
    cls = scope.enclosing_class()
    if cls is not None:
        of = ClassOf(module, cls)
        for candidate in names:
            method = cls.method(candidate)
            if method is not None:
                return FunctionOf(module, method, of, True)
    for candidate in names:
        for binding in module.scope.bindings.get(candidate, ()):
            if isinstance(binding.target, Function):
                return FunctionOf(module, binding.target)
    for table, table_scope in module.dicts_with(name):
        if cls is not None and table_scope.enclosing_class() is not cls:
            continue
        value = table.value(name)
        if isinstance(value, (facts.Name, facts.Attr, facts.Lambda)):
            for found in _functions(tools, value, Frame(module, table_scope)):
                return found
    return None


def _class_tool(tools: Tools, of: ClassOf) -> Tool:
    methods = tuple(
        FunctionOf(of.module, method, of, True)
        for name in tools.names.tool_methods
        if (method := of.cls.method(name)) is not None
    )
    return Tool(
        form="T2",
        module=of.module,
        scope=of.cls.scope,
        at=of.cls.at,
        callables=methods,
        name=_class_tool_name(tools.evaluator, of),
        cls=of,
        args_schema=classes.class_value(of, ARGS_SCHEMA),
        result_schema=classes.class_value(of, RESULT_SCHEMAS[0]),
    )


def _decorated_tool(tools: Tools, module: Module, function: Function) -> Tool | None:
    """T3: the tool that a decorator makes of ``function``."""
    for decorator in function.decorators:
        func = decorator.func if isinstance(decorator, Call) else decorator
        if not _is_tool_decorator(tools, module, func):
            continue
        cls = function.owner
        bound = ClassOf(module, cls) if cls is not None else None
        name: str | None = function.name
        if isinstance(decorator, Call):
            given = decorator.keyword("name", "name_override") or (
                decorator.args[0] if decorator.args else None
            )
            if isinstance(given, facts.Const) and isinstance(given.value, str):
                name = given.value
            elif given is not None:
                name = _literal(tools, given, Frame(module, function.scope.parent or function.scope))
        return Tool(
            form="T3",
            module=module,
            scope=function.scope.parent or function.scope,
            at=function.at,
            callables=(FunctionOf(module, function, bound, bound is not None),),
            name=name,
            call=decorator if isinstance(decorator, Call) else None,
            args_schema=decorator.keyword(ARGS_SCHEMA) if isinstance(decorator, Call) else None,
        )
    return None


def _is_tool_decorator(tools: Tools, module: Module, func: Expr) -> bool:
    names = tools.names.tool_decorators
    return facts.last_name(func) in names or real_name(module, func) in names


def real_name(module: Module, expr: Expr) -> str:
    """The last name of ``expr``, as it was before an import gave it another one."""
    name = facts.last_name(expr)
    return module.imported_names.get(name, name) if isinstance(expr, facts.Name) else name


def _class_tool_name(evaluator: Evaluator, of: ClassOf) -> str | None:
    """The literal name of a tool class: ``name = "…"``, or a property that returns one."""
    for ancestor in classes.ancestors(evaluator, of):
        if not isinstance(ancestor, ClassOf):
            continue
        expr = classes.class_value(ancestor, "name")
        if expr is None:
            method = ancestor.cls.method("name")
            if method is not None and method.body:
                last = method.body[-1]
                expr = last.value if isinstance(last, facts.Return) else None
        if expr is not None:
            value = evaluator.eval(expr, Frame(ancestor.module, ancestor.cls.scope))
            return value.literal if isinstance(value, Text) else None
    return None


def assigns_registry(evaluator: Evaluator, module: Module) -> bool:
    """Whether ``module`` assigns a ``TOOL_REGISTRY`` that may hold tools, not merely descriptions of them."""
    frame = Frame(module, module.scope)
    return any(
        binding.value is None or _may_hold_tools(evaluator.eval(binding.value, frame))
        for name in TOOL_REGISTRY_NAMES
        for binding in module.scope.bindings.get(name, ())
        if binding.kind in ("assign", "annotated")
    )


def _may_hold_tools(value: Value) -> bool:
    if not isinstance(value, Record) or value.open or not value.entries:
        return True
    held = (option for _, entry in held_in(value) for option in options(entry.value))
    return any(not isinstance(option, Record | ListOf | Text | Number) for option in held)

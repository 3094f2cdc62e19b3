"""The places where the source calls a tool by name, and the names of the project's tools."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from gllint_rules.inference import classes
from gllint_rules.inference.values import (
    NONE,
    ClassOf,
    DictOf,
    Entry,
    ExternalInstance,
    Frame,
    FunctionOf,
    Instance,
    ListOf,
    Record,
    Value,
    class_of,
    literal_of,
    options,
)
from gllint_rules.project.project import registrars
from gllint_rules.project.test_paths import is_test_path
from gllint_rules.project.tool_exports import tool_classes
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Call, Class, Expr, Module, Scope, Sub
from gllint_rules.reading.outline import Section
from gllint_rules.reading.reads import ALL
from gllint_rules.tools.framework_names import real_name
from gllint_rules.tools.tool import Tool
from gllint_rules.tuples import NamedTuple
from gllint_rules.words.names import (
    ACTION_PARSERS,
    REGISTRY_LOOKUPS,
    TOOL_ACTIONS,
    TOOL_LOADERS,
    TOOL_NAMING_ENDINGS,
    TOOL_NAMING_STARTS,
    TOOL_PARAMETERS,
    TOOL_REGISTRY_CLASSES,
    TOOL_REGISTRY_NAMES,
)

if TYPE_CHECKING:
    from gllint_rules.project.context import Context
    from gllint_rules.project.project import Project


_STEP_KEYS = ("kind", "tool_name")


class Action(Struct, frozen=True, eq=False):
    """A tool action: the tool's name and the arguments. None for one that the source does not show."""

    name: Entry | None
    args: Entry | None


def actions(context: Context) -> Iterator[Action]:
    """Yield the tool actions of a module: ``ToolAction(…)``, and dicts that are parsed or dispatched as one."""
    for call, scope in context.module.calls_of(_action_calls(context)):
        callee = real_name(context.module, call.func)
        if callee in TOOL_ACTIONS:
            yield Action(_argument(context, call, scope, "name"), _argument(context, call, scope, "args"))
            sources = [value for name, value in call.keywords if name is None]
        elif callee in context.names.dispatch_functions or _parses_action(context.module, call.func):
            sources = [*call.args[:1], *(value for name, value in call.keywords if name == "action")]
        else:
            continue
        for source in sources:
            value = context.eval(source, scope)
            if isinstance(value, DictOf):
                yield Action(_entry(value, "name"), _entry(value, "args"))


def _action_calls(context: Context) -> frozenset[str]:
    return TOOL_ACTIONS | ACTION_PARSERS | context.names.dispatch_functions


def _parses_action(module: Module, func: Expr) -> bool:
    """Return whether ``func`` is ``ToolAction.model_validate`` or the like."""
    return (
        isinstance(func, facts.Attr)
        and func.name in ACTION_PARSERS
        and real_name(module, func.base) in TOOL_ACTIONS
    )


def _argument(context: Context, call: Call, scope: Scope, name: str) -> Entry | None:
    expr = call.keyword(name)
    return context.entry(expr, scope) if expr is not None else None


def _entry(record: Record, key: str) -> Entry | None:
    entries = record.entries.get(key, ())
    return entries[0] if len(entries) == 1 else None


def is_nested(context: Context, value: Value) -> bool:
    """Return whether a value is surely neither a primitive nor a list of primitives."""
    types = [option for option in options(value) if option is not NONE]
    return bool(types) and all(_is_structure(context, option) for option in types)


def _is_structure(context: Context, value: Value) -> bool:
    """Return whether an argument of a tool action is a dict, or a list with containers in it."""
    match value:
        case Record():
            return True
        case ListOf(kind="list"):
            elements = [entry.value for entry in value.items]
            if value.rest is not None:
                elements.append(value.rest)
            return any(_is_container(context, element) for element in elements)
        case _:
            return _is_container(context, value)


def _is_container(context: Context, value: Value) -> bool:
    """Return whether ``value`` is a container or an object, which a list of primitives cannot contain."""
    match value:
        case Record() | ListOf(kind="list" | "tuple" | "set"):
            return True
        case Instance(of=of):
            return (
                not classes.is_enum(context.evaluator, of) and classes.new_type(context.evaluator, of) is None
            )
        case _:
            return False


class ToolLookup(Struct, frozen=True, eq=False):
    """A name by which the source looks up a tool. ``registry`` is the object of ``registry.get(name)``, else None."""

    name: Entry
    registry: Expr | None
    scope: Scope

    def of_registry(self, context: Context) -> bool:
        """Return whether the look-up is for a tool: an action, or a ``get`` of a tool registry, not of any dict."""
        return (
            self.registry is None
            or facts.last_name(self.registry) in TOOL_REGISTRY_NAMES
            or any(
                is_tool_registry(context.project, option)
                for option in options(context.eval(self.registry, self.scope))
            )
        )


def may_look_up(context: Context) -> bool:
    """Return whether a module may ask for a tool by name, judged by its outline."""
    names = _action_calls(context)
    if context.project.once(names_registries):
        names |= REGISTRY_LOOKUPS
    context.module.note(ALL)
    return any(
        not names.isdisjoint(section.calls) or section.keys.issuperset(_STEP_KEYS)
        for section in context.module.outline.sections
    )


def tool_lookups(context: Context) -> Iterator[ToolLookup]:
    """Yield the places where a module may ask for a tool by name: actions, ``"tool_call"`` steps, registries."""
    for action in actions(context):
        if action.name is not None:
            yield ToolLookup(action.name, None, context.module.scope)
    for step, scope in context.module.dicts_with(*_STEP_KEYS):
        kind, name = step.value("kind"), step.value("tool_name")
        if isinstance(kind, facts.Const) and kind.value == "tool_call" and name is not None:
            yield ToolLookup(context.entry(name, scope), None, scope)
    if not context.project.once(names_registries):
        return
    for call, scope in context.module.calls_of(REGISTRY_LOOKUPS):
        if call.args and isinstance(call.func, facts.Attr) and call.func.name in REGISTRY_LOOKUPS:
            [name, *_] = call.args
            if isinstance(name, facts.Const | facts.Name):
                yield ToolLookup(context.entry(name, scope), call.func.base, scope)


def names_registries(project: Project) -> bool:
    """Return whether a module of the project defines, imports or assigns a registry of tools by its usual name."""
    return any(project.answers(_names_registry, None))


def _names_registry(project: Project, module: Module, argument: None) -> bool:
    return any(
        name in module.scope.bindings or any(name in section.calls for section in module.outline.sections)
        for name in (*TOOL_REGISTRY_CLASSES, *TOOL_REGISTRY_NAMES)
    )


def is_tool_registry(project: Project, value: Value) -> bool:
    """Return whether ``value`` is an instance of a class with the name of a tool registry, or derived from one."""
    of = class_of(value)
    bases = classes.bases_named(project.evaluator, of) if of is not None else ()
    return not TOOL_REGISTRY_CLASSES.isdisjoint((_class_name(value), *bases))


def stores(module: Module, names: Collection[str]) -> Iterator[tuple[Sub, Expr]]:
    """Yield what a module stores under a subscript: ``target[…] = value``."""
    parts = list(module.sections(lambda section: not section.mutated.isdisjoint(names)))
    functions = (function.body for part in parts for function in part.functions)
    for statement in facts.statements(*(part.body for part in parts), *functions):
        match statement:
            case facts.Assign(targets=targets, value=value) if value is not None:
                yield from ((target, value) for target in targets if isinstance(target, Sub))
            case _:
                pass


# --- the names of all tools ---------------------------------------------------------------------------------


class ToolNames(NamedTuple):
    """The names of a project's tools; ``complete`` if no tool can have another name."""

    names: frozenset[str]
    complete: bool


def tool_names(project: Project) -> ToolNames:
    """Return the literal names of the tools of a project, in all calls and dicts that may give one.

    In doubt a text counts as a name, so that GL303 reports no valid one. A tool with a computed name makes the answer
    incomplete, unless it is in a test.
    """
    parts = list(project.answers(_registered_in, None))
    keys = {name for names, _ in parts for name in names}
    registered = frozenset(name for _, classes in parts for name in classes)
    classes = registered | tool_classes(project)
    module_names = list(project.answers_by_words(_names_in, classes, (registered, project.once(registrars))))
    return ToolNames(
        frozenset(keys).union(*(names for names, _ in module_names)),
        all(complete for _, complete in module_names),
    )


def all_tools_have_names(project: Project) -> bool:
    """Return whether the project has tools and the names of all are known."""
    names = project.once(tool_names)
    return names.complete and bool(names.names)


def _registered_in(project: Project, module: Module, argument: None) -> tuple[frozenset[str], frozenset[str]]:
    """Return the keys of a ``TOOL_REGISTRY`` that a module assigns, and the classes of its values."""
    keys: set[str] = set()
    classes: set[str] = set()
    for name in TOOL_REGISTRY_NAMES:
        for binding in module.scope.bindings.get(name, ()):
            if binding.kind in ("assign", "annotated") and binding.value is not None:
                value = project.evaluator.eval(binding.value, Frame(module, module.scope))
                if isinstance(value, Record):
                    keys.update(key for key in value.entries if isinstance(key, str))
                    values = (entry.value for _, entry in value.contents())
                    classes.update(filter(None, map(_class_name, values)))
    return frozenset(keys), frozenset(classes)


def _names_in(
    project: Project,
    module: Module,
    argument: tuple[frozenset[str], tuple[frozenset[str], frozenset[tuple[str, int, str, str, str, str]]]],
) -> tuple[frozenset[str], bool]:
    """Return the names of a module's tools, and whether these are all.

    ``argument`` has all tool classes, the registered ones, and the registrars, on which the module's tools depend.
    """
    classes, (registered, _) = argument
    return _Collector(project, registered, classes).read(module)


class _Collector:
    """Collects the names of one module's tools."""

    def __init__(self, project: Project, registered: frozenset[str], classes: frozenset[str]) -> None:
        self.project, self.registered, self.classes = project, registered, classes
        self.names: set[str] = set()
        self.complete = True

    def read(self, module: Module) -> tuple[frozenset[str], bool]:
        """Return the names that a module gives its tools, and whether these are all of them."""
        for tool in self.project.tools.of(module):
            self._read_tool(tool)
        for call, scope in module.calls_where(self._may_name):
            self._read_call(module, call, scope)
        parts = module.sections(lambda section: not section.keys.isdisjoint(TOOL_PARAMETERS))
        for literal, _ in (display for part in parts for display in part.dicts):
            if any(literal.value(key) is not None for key in TOOL_PARAMETERS):
                self.names.update(_texts(literal.value("name")))
        if is_test_path(module.path, self.project.root):
            self.complete = True
        return frozenset(self.names), self.complete

    def _may_name(self, section: Section) -> bool:
        """Return whether a section may give a tool its name."""
        return any(
            name in self.classes
            or name in TOOL_LOADERS
            or name.endswith(TOOL_NAMING_ENDINGS)
            or name.startswith(TOOL_NAMING_STARTS)
            for name in section.calls
        )

    def _read_tool(self, tool: Tool) -> None:
        """Add the names of a tool. The names are incomplete if one of them is not a literal."""
        names = {tool.name} if tool.name else set()
        if tool.cls is not None:
            for expr, _, scope in tool.cls.cls.attributes.get("name", ()):  # self.name = …
                frame = Frame(tool.module, scope)
                value = self.project.evaluator.eval(expr, frame) if expr is not None else None
                names.add(literal_of(value) or "")
        self.names.update(names)
        is_named = tool.cls is not None and (
            _is_abstract(tool.cls.cls) or tool.cls.cls.name in self.registered
        )
        if "" in names or not (names or is_named or not tool.callables):
            self.complete = False

    def _read_call(self, module: Module, call: Call, scope: Scope) -> None:
        """Add the names in a call that may make a tool or load tools."""
        last = real_name(module, call.func)
        if last in TOOL_LOADERS:
            if not self._is_own(module, call, scope):
                self.complete = False
            return
        is_class = last in self.classes
        if not (is_class or last.endswith(TOOL_NAMING_ENDINGS) or last.startswith(TOOL_NAMING_STARTS)):
            return
        names = {*_texts(call.keyword("name")), *(name for arg in call.args[:1] for name in _texts(arg))}
        self.names.update(names)
        if (
            not names
            and not is_class
            and last.endswith("Tool")
            and self.project.tools.made_tool(module, call, scope) is None
            and not self._is_own(module, call, scope)
        ):
            self.complete = False  # a tool of another package, whose name is written there

    def _is_own(self, module: Module, call: Call, scope: Scope) -> bool:
        """Return whether the call is one of a class or function of the project."""
        callee = self.project.evaluator.eval(call.func, Frame(module, scope))
        return any(isinstance(option, ClassOf | FunctionOf) for option in options(callee))


def _class_name(value: Value) -> str | None:
    """Return the last name of the class that an object is an instance of."""
    of = class_of(value)
    if of is not None:
        return of.cls.name
    return value.name.rpartition(".")[2] if isinstance(value, ExternalInstance) else None


def _is_abstract(cls: Class) -> bool:
    """Return whether a class is only there to be derived from."""
    decorators = (decorator for method in cls.methods() for decorator in method.decorators)
    return any(facts.last_name(base) == "ABC" for base in cls.bases) or any(
        facts.last_name(decorator) == "abstractmethod" for decorator in decorators
    )


def _texts(expr: Expr | None) -> Iterator[str]:
    if isinstance(expr, facts.Const) and isinstance(expr.value, str):
        yield expr.value

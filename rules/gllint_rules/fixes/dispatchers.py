"""The dispatcher of a project: how to call it, and what to import for that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from gllint_rules.inference.values import (
    ClassOf,
    External,
    Frame,
    FunctionOf,
    Instance,
    Record,
    Value,
    options,
)
from gllint_rules.project.context import Context
from gllint_rules.project.project import Project
from gllint_rules.project.test_paths import is_test_path
from gllint_rules.project.tool_names import is_tool_registry
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Function, Module, Param
from gllint_rules.tuples import NamedTuple
from gllint_rules.words.names import TOOL_ACTIONS, TOOL_REGISTRY_NAMES

Form = Literal["action", "dict", "pair", "keywords"]

_ACTION_NAMES = frozenset({"action", "tool_action", "step", "tool_call", "call", "request"})
_NAME_NAMES = frozenset({"name", "tool", "tool_name"})
_ARGS_NAMES = frozenset({"args", "arguments", "params", "parameters", "tool_args", "tool_input", "inputs"})
MOST_MODULES = 100


class Dispatcher(NamedTuple):
    """How to call a tool by its name: ``callee`` takes an action, a dict, a name and arguments, or keywords.

    ``path`` is the file that has the name to import, ``dotted`` its module where it is no file of the project.
    """

    callee: str
    form: Form
    is_async: bool
    path: str
    dotted: str
    action: str = ""  # the module that has ToolAction


def dispatcher_of(context: Context) -> Dispatcher | None:
    """Return the dispatcher that this module can use: its own one, else the project's."""
    names = sorted(context.names.dispatch_functions)
    own = next(
        (dispatcher for name in names for dispatcher in _imported_as(context, context.module, name)), None
    )
    if own is not None:
        return own
    everywhere = {
        dispatcher
        for module in context.project.modules.values()
        if not is_test_path(module.path, context.project.root)
        for name in names
        for dispatcher in _imported_as(context, module, name)
    }
    return everywhere.pop() if len(everywhere) == 1 else None if everywhere else _registry(context)


def _imported_as(context: Context, module: Module, name: str) -> Iterator[Dispatcher]:
    """Yield each dispatcher that ``name`` may be in ``module``, imported or defined there."""
    for binding in module.scope.bindings.get(name, ()):
        if binding.kind == "import" and binding.name == name:
            value = context.evaluator.imported(module, binding.module, name)
        elif binding.kind == "def" and isinstance(binding.target, Function):
            value = FunctionOf(module, binding.target)
        else:
            continue
        match value:
            case FunctionOf(function=Function() as function, module=home):
                form = _form(function)
                if form is not None:
                    yield Dispatcher(
                        name,
                        form,
                        is_async=function.is_async,
                        path=home.path,
                        dotted="",
                        action=_home_of_action(context, home),
                    )
            case External(name=dotted) if _is_called_alone(context, name):
                source = dotted.rpartition(".")[0]
                yield Dispatcher(name, "action", is_async=False, path="", dotted=source, action=source)
            case _:
                pass


def _form(function: Function) -> Form | None:
    """Return how a dispatcher takes a call, by its parameters."""
    required = [p for p in function.params if p.default is None and p.kind in ("any", "positional")]
    has_keywords = any(p.kind == "double-star" for p in function.params)
    match required:
        case [first] if _is_action(first):
            return "action"
        case [first] if _is_typed(first, "dict", "Mapping", "Dict"):
            return "dict"
        case [first] if has_keywords and first.name in _NAME_NAMES:
            return "keywords"
        case [first, second] if first.name in _NAME_NAMES and second.name in _ARGS_NAMES:
            return "pair"
        case _:
            return None


def _is_action(param: Param) -> bool:
    if param.annotation is None:
        return param.name in _ACTION_NAMES
    return _is_typed(param, *TOOL_ACTIONS)


def _is_typed(param: Param, *names: str) -> bool:
    annotation = param.annotation
    if isinstance(annotation, facts.Const):
        return annotation.value in names
    return annotation is not None and facts.last_name(annotation) in names


def _home_of_action(context: Context, home: Module) -> str:
    """Return the module from which the dispatcher's own file has ``ToolAction``; its path where that is in the
    project.
    """
    for name in sorted(TOOL_ACTIONS):
        for binding in home.scope.bindings.get(name, ()):
            if binding.kind == "class":
                return home.path
            if binding.kind == "import" and binding.name == name:
                return context.project.imports.find_module(home.path, binding.module) or binding.module
    return ""


def _is_called_alone(context: Context, name: str) -> bool:
    """Return whether the project calls a dispatcher from outside with an action and nothing else."""
    calls = [
        call
        for module in context.project.modules.values()
        for call, _ in module.calls
        if facts.last_name(call.func) == name
    ]
    return bool(calls) and all(len(call.args) == 1 and not call.keywords for call in calls)


def _registry(context: Context) -> Dispatcher | None:
    """Return ``TOOL_REGISTRY.invoke(name, arguments)`` as the dispatcher, if the project has one such registry."""
    dispatchers = set()
    for module in context.project.modules.values():
        for name in TOOL_REGISTRY_NAMES:
            if any(b.kind in ("assign", "annotated") for b in module.scope.bindings.get(name, ())):
                value = context.evaluator.lookup(name, Frame(module, module.scope))
                if any(
                    is_tool_registry(context.project, o) and _has_invoke(context, o) for o in options(value)
                ):
                    dispatchers.add(Dispatcher(f"{name}.invoke", "pair", False, module.path, ""))
    return dispatchers.pop() if len(dispatchers) == 1 else None


def _has_invoke(context: Context, registry: Value) -> bool:
    """Return whether a registry has a method ``invoke(name, arguments)``."""
    match registry:
        case Instance(of=of) | Record(of=ClassOf() as of):
            method = context.evaluator.class_member(of, "invoke")
            if not isinstance(method, FunctionOf) or not isinstance(method.function, Function):
                return False
            params = [p for p in method.function.params[1:] if p.default is None and p.kind == "any"]
            return (
                not method.function.is_async
                and [p.name in _NAME_NAMES for p in params][:1] == [True]
                and len(params) == 2
            )
        case _:
            return True


# --- imports -------------------------------------------------------------------------------------------------


def imports_for(context: Context, dispatcher: Dispatcher) -> dict[str, str] | None:
    """Return the imports that the new call needs; ``None`` if one would be circular."""
    wanted = {dispatcher.callee.partition(".")[0]: dispatcher.path or dispatcher.dotted}
    if dispatcher.form == "action":
        if not dispatcher.action:
            return None
        wanted.update(dict.fromkeys(TOOL_ACTIONS, dispatcher.action))
    modules: dict[str, str] = {}
    for name, home in wanted.items():
        if home == context.module.path:
            continue
        dotted = _dotted(context, home) if home.endswith(".py") else home
        is_imported = any(b.kind == "import" for b in context.module.scope.bindings.get(name, ()))
        if dotted is None or (not is_imported and home.endswith(".py") and _leads_back(context, home)):
            return None
        modules[name] = dotted
    return modules


def _dotted(context: Context, path: str) -> str | None:
    """Return the dotted name by which this module can import a file: as it or others do, else by its path."""
    find, home = context.project.imports.find_module, context.module
    own = [imported.module for imported in home.outline.imports]
    imports = (i.module for module in context.project.modules.values() for i in module.outline.imports)
    absolute = sorted({dotted for dotted in imports if not dotted.startswith(".")})
    names = [*own, *absolute]
    relative = [dotted for dotted in own if dotted.startswith(".")]
    if relative and not any(find(home.path, dotted) for dotted in own if dotted not in relative):
        names.append("." + path.removesuffix(".py").rpartition("/")[2])
    for dotted in absolute:
        root = _stem(find(home.path, dotted) or "").removesuffix(dotted.replace(".", "/"))
        if root.endswith("/") and path.startswith(root):
            names.append(_stem(path).removeprefix(root).replace("/", "."))
    names += _by_packages(context.project, path)
    return next((dotted for dotted in names if find(home.path, dotted) == path), None)


def _stem(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__")


def _by_packages(project: Project, path: str) -> list[str]:
    """Return the file's name below the outermost of the packages that it lies in, if it lies in one."""
    parts = _stem(path).split("/")
    first = len(parts) - 1
    while first > 0 and project.imports.find_module(f"{'/'.join(parts[:first])}/_.py", ".") is not None:
        first -= 1
    return [".".join(parts[first:])] if first < len(parts) - 1 else []


def _leads_back(context: Context, path: str) -> bool:
    """Return whether importing a file would import this module again."""
    imports = context.project.imports
    paths = {path}
    queue = [path]
    while queue:
        importer = queue.pop()
        module = imports.module_at(importer)
        for _, source, name in module.outline.imports if module is not None else ():
            for dotted in (source, f"{source.rstrip('.')}.{name}" if name else ""):
                target = imports.find_module(importer, dotted) if dotted.strip(".") else None
                if target == context.module.path or len(paths) > MOST_MODULES:
                    return True
                if target is not None and target not in paths:
                    paths.add(target)
                    queue.append(target)
    return False

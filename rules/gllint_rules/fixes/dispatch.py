"""GL301: a tool is called by its registered name through the dispatcher of the project."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import libcst as cst

from gllint_rules.finding import Edit, Fix
from gllint_rules.fixes.imports import imported
from gllint_rules.fixes.nodes import has_comment
from gllint_rules.fixes.syntax import Place, place
from gllint_rules.fixes.uses import enclosing
from gllint_rules.inference.values import (
    ClassOf,
    External,
    Frame,
    FunctionOf,
    Instance,
    Record,
    Site,
    ToolValue,
    Value,
    options,
)
from gllint_rules.project.asked import is_nested, is_tool_registry
from gllint_rules.project.context import Context, is_test_path
from gllint_rules.project.project import Project
from gllint_rules.project.tool import Tool
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Call, Function, Module, Param, Scope
from gllint_rules.words.names import TOOL_ACTIONS, TOOL_REGISTRY_NAMES

Form = Literal["action", "dict", "pair", "keywords"]

_SYNCHRONOUS = frozenset({"run", "_run", "invoke", "forward", "fn"})
_ASYNCHRONOUS = frozenset({"arun", "_arun", "ainvoke"})
_ACTION_NAMES = frozenset({"action", "tool_action", "step", "tool_call", "call", "request"})
_NAME_NAMES = frozenset({"name", "tool", "tool_name"})
_ARGS_NAMES = frozenset({"args", "arguments", "params", "parameters", "tool_args", "tool_input", "inputs"})
MOST_MODULES = 100


@dataclass(frozen=True, slots=True)
class Dispatcher:
    """How to call a tool by its name: ``callee`` takes an action, a dict, a name and arguments, or keywords.

    ``path`` is the file that has the name to import, ``dotted`` its module where it is no file of the project.
    """

    callee: str
    form: Form
    is_async: bool
    path: str
    dotted: str
    action: str = ""  # the module that has ToolAction


def dispatch(context: Context, call: Call, scope: Scope) -> Fix | None:
    """Call the tool by name instead."""
    here = place(context, Site(context.module, call.at))
    dispatcher = _dispatcher(context)
    if here is None or dispatcher is None or not isinstance(here.node, cst.Call) or has_comment(here.node):
        return None
    assert isinstance(call.func, facts.Attr)
    target = _target(context, call.func.base, scope, here.node)
    if target is None or not _returns_plainly(context, call, scope):
        return None
    tool, name = target
    arguments = _arguments(context, tool, call, scope, here.node)
    wanted = _imports(context, dispatcher)
    if arguments is None or wanted is None:
        return None
    new = _dispatched(dispatcher, name, arguments)
    edits = _replaced(context, here, call.func.name, dispatcher, new)
    added = imported(context, context.module, scope, wanted)
    if edits is None or added is None:
        return None
    return Fix("unsafe", f"Call it through `{dispatcher.callee}`", (*edits, *added))


# --- the tool ------------------------------------------------------------------------------------------------


def _target(
    context: Context, base: facts.Expr, scope: Scope, node: cst.Call
) -> tuple[Tool | None, cst.BaseExpression] | None:
    """The tool that is called, where it is known, and the expression of its registered name."""
    found = options(context.eval(base, scope))
    tool = _tool_of(context.project, found[0]) if len(found) == 1 else None
    if _is_registry_entry(base):
        assert isinstance(node.func, cst.Attribute) and isinstance(node.func.value, cst.Subscript)
        [element] = node.func.value.slice
        if isinstance(element.slice, cst.Index) and isinstance(
            element.slice.value, cst.SimpleString | cst.Name
        ):
            return tool, element.slice.value
        return None
    if tool is None:
        return None
    registered = context.project.once(_registrations)
    name = registered.get(_maker(tool)) if registered else tool.name
    return (tool, cst.SimpleString(f'"{name}"')) if name and '"' not in name and "\\" not in name else None


def _is_registry_entry(base: facts.Expr) -> bool:
    return isinstance(base, facts.Sub) and facts.last_name(base.base) in TOOL_REGISTRY_NAMES


def _tool_of(project: Project, value: Value) -> Tool | None:
    match value:
        case ToolValue(tool=Tool() as tool):
            return tool
        case Instance(of=of) | Record(cls=ClassOf() as of):
            return next(
                (t for t in project.tools.of(of.module) if t.cls is not None and t.cls.cls is of.cls), None
            )
        case _:
            return None


def _maker(tool: Tool) -> object:
    """The class, call or function that makes the tool."""
    if tool.cls is not None:
        return tool.cls.cls
    return tool.call if tool.called is None else tool.called.function


def _registrations(project: Project) -> dict[object, str]:
    """The tools that the project can be seen to register, and under which names."""
    out: dict[object, str] = {}
    for module in project.modules.values():
        if is_test_path(module.path, project.root):
            continue
        for call, scope in module.calls:
            if isinstance(call.func, facts.Attr) and call.func.name == "register" and call.args:
                for option in options(project.evaluator.eval(call.args[0], Frame(module, scope))):
                    tool = _tool_of(project, option)
                    if tool is not None and tool.name:
                        out[_maker(tool)] = tool.name
        for name in TOOL_REGISTRY_NAMES:
            for binding in module.scope.bindings.get(name, ()):
                if binding.value is not None:
                    out.update(
                        _entries(project, project.evaluator.eval(binding.value, Frame(module, module.scope)))
                    )
    return out


def _entries(project: Project, registry: Value) -> Iterator[tuple[object, str]]:
    for key, entries in registry.entries.items() if isinstance(registry, Record) else ():
        for entry in entries:
            tool = _tool_of(project, entry.value)
            if tool is not None and isinstance(key, str):
                yield _maker(tool), key


def _returns_plainly(context: Context, call: Call, scope: Scope) -> bool:
    """Whether the call gives what the dispatcher gives, no envelope around it."""
    value = context.eval(call, scope)
    return not any(
        isinstance(o, Instance) or (isinstance(o, Record) and o.cls is not None) for o in options(value)
    )


# --- its arguments -------------------------------------------------------------------------------------------


def _arguments(
    context: Context, tool: Tool | None, call: Call, scope: Scope, node: cst.Call
) -> list[tuple[str | None, cst.BaseExpression]] | None:
    """The arguments by name; a ``None`` name is ``**value``."""
    assert isinstance(call.func, facts.Attr)
    if any(isinstance(a.value, cst.GeneratorExp | cst.NamedExpr | cst.Yield) for a in node.args):
        return None
    params = _params(tool, call.func.name)
    match node.args:
        case [
            cst.Arg(value=cst.Dict() as only, star="", keyword=None | cst.Name(value="input" | "tool_input"))
        ]:
            return None if _is_own_method(tool, call.func.name) else _from_dict(context, call, scope, only)
    given = (*call.args, *(value for name, value in call.keywords if name is not None))
    if any(is_nested(context, context.eval(value, scope)) for value in given):
        return None
    out: list[tuple[str | None, cst.BaseExpression]] = []
    names = (
        [p.name for p in params if p.kind in ("any", "positional", "keyword")] if params is not None else None
    )
    for i, arg in enumerate(node.args):
        if arg.star == "*":
            return None
        if arg.star == "**":
            out.append((None, arg.value))
        elif arg.keyword is not None:
            if names is not None and arg.keyword.value not in names and not _takes_more(params or ()):
                return None
            out.append((arg.keyword.value, arg.value))
        elif names is None or params is None or i >= len(names) or params[i].kind == "keyword":
            return None
        else:
            out.append((names[i], arg.value))
    return out


def _params(tool: Tool | None, method: str) -> Sequence[Param] | None:
    """The parameters that the call fills: of the method itself, or of what a framework's method hands on to."""
    if tool is None or not tool.callables:
        return None
    callable = next(
        (c for c in tool.callables if getattr(c.function, "name", "") == method), tool.callables[0]
    )
    return callable.function.params[1 if callable.first else 0 :]


def _is_own_method(tool: Tool | None, method: str) -> bool:
    """Whether the tool itself says what the method takes, and no framework between."""
    return tool is not None and any(getattr(c.function, "name", "") == method for c in tool.callables)


def _takes_more(params: Sequence[Param]) -> bool:
    return any(p.kind == "double-star" for p in params)


def _from_dict(
    context: Context, call: Call, scope: Scope, node: cst.Dict
) -> list[tuple[str | None, cst.BaseExpression]] | None:
    """``tool.invoke({"city": city})``"""
    literal = (*call.args, *(value for _, value in call.keywords))[0]
    assert isinstance(literal, facts.Dict)
    if any(is_nested(context, context.eval(value, scope)) for key, value in literal.items if key is not None):
        return None
    out: list[tuple[str | None, cst.BaseExpression]] = []
    for element in node.elements:
        if isinstance(element, cst.StarredDictElement):
            out.append((None, element.value))
        elif isinstance(element, cst.DictElement) and isinstance(element.key, cst.SimpleString):
            out.append((str(element.key.evaluated_value), element.value))
        else:
            return None
    return out


# --- the dispatcher ------------------------------------------------------------------------------------------


def _dispatcher(context: Context) -> Dispatcher | None:
    """The one way to call a tool that this module can take: what it has already, else what the project has."""
    own = [found for name in _names_of(context) for found in _imported_as(context, context.module, name)]
    if own:
        return own[0]
    everywhere = {
        found
        for module in context.project.modules.values()
        if not is_test_path(module.path, context.project.root)
        for name in _names_of(context)
        for found in _imported_as(context, module, name)
    }
    return everywhere.pop() if len(everywhere) == 1 else None if everywhere else _registry(context)


def _names_of(context: Context) -> list[str]:
    return sorted(context.names.dispatch_functions)


def _imported_as(context: Context, module: Module, name: str) -> Iterator[Dispatcher]:
    """The dispatcher that ``name`` is in ``module``, imported or defined there."""
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
                        name, form, function.is_async, home.path, "", _home_of_action(context, home)
                    )
            case External(name=dotted) if _is_called_alone(context, name):
                source = dotted.rpartition(".")[0]
                yield Dispatcher(name, "action", False, "", source, source)
            case _:
                pass


def _form(function: Function) -> Form | None:
    """How a dispatcher wants to be called, by its parameters."""
    required = [p for p in function.params if p.default is None and p.kind in ("any", "positional")]
    more = any(p.kind == "double-star" for p in function.params)
    match required:
        case [first] if _is_action(first):
            return "action"
        case [first] if _is_typed(first, "dict", "Mapping", "Dict"):
            return "dict"
        case [first] if more and first.name in _NAME_NAMES:
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
    """The module from which the dispatcher's own file has ``ToolAction``; its path where that is in the project."""
    for name in sorted(TOOL_ACTIONS):
        for binding in home.scope.bindings.get(name, ()):
            if binding.kind == "class":
                return home.path
            if binding.kind == "import" and binding.name == name:
                return context.project.imports.find_module(home.path, binding.module) or binding.module
    return ""


def _is_called_alone(context: Context, name: str) -> bool:
    """Whether the project calls a dispatcher from outside with an action and nothing else."""
    calls = [
        call
        for module in context.project.modules.values()
        for call, _ in module.calls
        if facts.last_name(call.func) == name
    ]
    return bool(calls) and all(len(call.args) == 1 and not call.keywords for call in calls)


def _registry(context: Context) -> Dispatcher | None:
    """``TOOL_REGISTRY.invoke(name, arguments)`` where the project has such a registry."""
    found = set()
    for module in context.project.modules.values():
        for name in TOOL_REGISTRY_NAMES:
            if any(b.kind in ("assign", "annotated") for b in module.scope.bindings.get(name, ())):
                value = context.evaluator.lookup(name, Frame(module, module.scope))
                if any(
                    is_tool_registry(context.project, o) and _has_invoke(context, o) for o in options(value)
                ):
                    found.add(Dispatcher(f"{name}.invoke", "pair", False, module.path, ""))
    return found.pop() if len(found) == 1 else None


def _has_invoke(context: Context, registry: Value) -> bool:
    match registry:
        case Instance(of=of) | Record(cls=ClassOf() as of):
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


# --- the call ------------------------------------------------------------------------------------------------


def _dispatched(
    dispatcher: Dispatcher, name: cst.BaseExpression, arguments: list[tuple[str | None, cst.BaseExpression]]
) -> cst.Call:
    callee = cst.parse_expression(dispatcher.callee)
    held = cst.Dict(
        [
            cst.StarredDictElement(value)
            if key is None
            else cst.DictElement(cst.SimpleString(f'"{key}"'), value)
            for key, value in arguments
        ]
    )
    match dispatcher.form:
        case "action":
            [action] = TOOL_ACTIONS
            return cst.Call(
                callee, [cst.Arg(cst.Call(cst.Name(action), [_named("name", name), _named("args", held)]))]
            )
        case "dict":
            entries = [("name", name), ("args", held)]
            step = cst.Dict([cst.DictElement(cst.SimpleString(f'"{key}"'), value) for key, value in entries])
            return cst.Call(callee, [cst.Arg(step)])
        case "pair":
            return cst.Call(callee, [cst.Arg(name), cst.Arg(held)])
        case "keywords":
            rest = [cst.Arg(v, star="**") if key is None else _named(key, v) for key, v in arguments]
            return cst.Call(callee, [cst.Arg(name), *rest])


def _named(name: str, value: cst.BaseExpression) -> cst.Arg:
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    return cst.Arg(value, keyword=cst.Name(name), equal=equal)


def _replaced(
    context: Context, here: Place, method: str, dispatcher: Dispatcher, new: cst.Call
) -> tuple[Edit, ...] | None:
    """Put the new call in, awaited or not as the dispatcher wants it."""
    above = next(here.ancestors(), None)
    awaited = isinstance(above, cst.Await)
    if method not in (_ASYNCHRONOUS if awaited else _SYNCHRONOUS):
        return None
    if awaited and not dispatcher.is_async:
        assert above is not None
        return here.of(above).replaced(new)
    if dispatcher.is_async and not awaited:
        function = enclosing(context.module, here.at)
        if function is None or not function.is_async:
            return None
        simple = isinstance(above, cst.Assign | cst.AnnAssign | cst.Return | cst.Expr)
        if not simple:
            return None
        return here.replaced(cst.Await(new))
    return here.replaced(new)


# --- imports -------------------------------------------------------------------------------------------------


def _imports(context: Context, dispatcher: Dispatcher) -> dict[str, str] | None:
    """The names that the new call needs and their modules; ``None`` where an import would go round in a circle."""
    wanted = {dispatcher.callee.partition(".")[0]: dispatcher.path or dispatcher.dotted}
    if dispatcher.form == "action":
        if not dispatcher.action:
            return None
        wanted.update(dict.fromkeys(TOOL_ACTIONS, dispatcher.action))
    out: dict[str, str] = {}
    for name, home in wanted.items():
        if home == context.module.path:
            continue
        dotted = _dotted(context, home) if home.endswith(".py") else home
        known = any(b.kind == "import" for b in context.module.scope.bindings.get(name, ()))
        if dotted is None or (not known and home.endswith(".py") and _leads_back(context, home)):
            return None
        out[name] = dotted
    return out


def _dotted(context: Context, path: str) -> str | None:
    """The name under which this module can import the file at ``path``: as it or others do, else as they would."""
    project, here = context.project, context.module
    own = list(_imports_of(here))
    for dotted in own:
        if project.imports.find_module(here.path, dotted) == path:
            return dotted
    absolute = {
        d for module in project.modules.values() for d in _imports_of(module) if not d.startswith(".")
    }
    for dotted in sorted(absolute):
        if project.imports.find_module(here.path, dotted) == path:
            return dotted
    if own and not any(project.imports.find_module(here.path, d) for d in own if not d.startswith(".")):
        stem = path.removesuffix(".py").rpartition("/")[2]
        if project.imports.find_module(here.path, f".{stem}") == path and any(d.startswith(".") for d in own):
            return f".{stem}"
    for dotted in sorted(absolute):
        home = project.imports.find_module(here.path, dotted)
        root = (
            home.removesuffix(".py").removesuffix("/__init__").removesuffix(dotted.replace(".", "/"))
            if home
            else ""
        )
        guess = path.removeprefix(root).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        if (
            root.endswith("/")
            and path.startswith(root)
            and project.imports.find_module(here.path, guess) == path
        ):
            return guess
    return _by_packages(project, here, path)


def _imports_of(module: Module) -> Iterator[str]:
    for bindings in module.scope.bindings.values():
        for binding in bindings:
            if binding.kind == "import":
                yield binding.module


def _by_packages(project: Project, here: Module, path: str) -> str | None:
    """The file's name below the outermost of the packages that it lies in."""
    parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
    first = len(parts) - 1
    while first > 0 and project.imports.find_module(f"{'/'.join(parts[:first])}/_.py", ".") is not None:
        first -= 1
    dotted = ".".join(parts[first:])
    return (
        dotted if first < len(parts) - 1 and project.imports.find_module(here.path, dotted) == path else None
    )


def _leads_back(context: Context, path: str) -> bool:
    """Whether importing the file at ``path`` would import this module again, for all that can be followed."""
    seen = {path}
    queue = [path]
    while queue:
        module = context.project.imports.module_at(queue.pop())
        if module is None:
            continue
        for bindings in module.scope.bindings.values():
            for binding in bindings:
                if binding.kind != "import":
                    continue
                for dotted in (
                    binding.module,
                    f"{binding.module.rstrip('.')}.{binding.name}" if binding.name else "",
                ):
                    found = (
                        context.project.imports.find_module(module.path, dotted)
                        if dotted.strip(".")
                        else None
                    )
                    if found == context.module.path or len(seen) > MOST_MODULES:
                        return True
                    if found is not None and found not in seen:
                        seen.add(found)
                        queue.append(found)
    return False

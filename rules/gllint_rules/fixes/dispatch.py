"""GL301: a tool is called by its registered name through the dispatcher of the project."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from gllint_rules.finding import Edit, Fix
from gllint_rules.fixes.dispatchers import Dispatcher, dispatcher_of, imports_for
from gllint_rules.fixes.imports import imported
from gllint_rules.fixes.nodes import has_comment, named, string
from gllint_rules.fixes.syntax import SyntaxPlace, place_of
from gllint_rules.inference.values import (
    ClassOf,
    Frame,
    Instance,
    Record,
    Site,
    ToolValue,
    Value,
    class_of,
    options,
)
from gllint_rules.project.context import Context
from gllint_rules.project.project import Project
from gllint_rules.project.test_paths import is_test_path
from gllint_rules.project.tool_names import is_nested
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Call, Scope
from gllint_rules.tools.parameters import function_at
from gllint_rules.tools.tool import Tool
from gllint_rules.words.names import TOOL_ACTIONS, TOOL_REGISTRY_NAMES

_SYNCHRONOUS = frozenset({"run", "_run", "invoke", "forward", "fn"})
_ASYNCHRONOUS = frozenset({"arun", "_arun", "ainvoke"})


def dispatch(context: Context, call: Call, scope: Scope) -> Fix | None:
    """Call the tool by name instead."""
    place = place_of(context, Site(context.module, call.at))
    dispatcher = dispatcher_of(context)
    if place is None or dispatcher is None or not isinstance(place.node, cst.Call) or has_comment(place.node):
        return None
    assert isinstance(call.func, facts.Attr)
    target = _target(context, call.func.base, scope, place.node)
    if target is None or not _returns_plainly(context, call, scope):
        return None
    tool, name = target
    arguments = _arguments(context, tool, call, scope, place.node)
    wanted = imports_for(context, dispatcher)
    if arguments is None or wanted is None:
        return None
    new = _dispatched(dispatcher, name, arguments)
    edits = _replaced(context, place, call.func.name, dispatcher, new)
    added = imported(context, context.module, scope, wanted)
    if edits is None or added is None:
        return None
    return Fix("unsafe", f"Call it through `{dispatcher.callee}`", (*edits, *added))


# --- the tool ------------------------------------------------------------------------------------------------


def _target(
    context: Context, base: facts.Expr, scope: Scope, node: cst.Call
) -> tuple[Tool | None, cst.BaseExpression] | None:
    """Return the called tool, if it is known, and the expression of its registered name."""
    values = options(context.eval(base, scope))
    tool = _tool_of(context.project, values[0]) if len(values) == 1 else None
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
    """Return the tool that a value is, if it is one."""
    match value:
        case ToolValue(tool=Tool() as tool):
            return tool
        case Instance(of=of) | Record(of=ClassOf() as of):
            return next(
                (t for t in project.tools.of(of.module) if t.cls is not None and t.cls.cls is of.cls), None
            )
        case _:
            return None


def _maker(tool: Tool) -> object:
    """Return the class, call or function that makes the tool."""
    if tool.cls is not None:
        return tool.cls.cls
    return tool.call if tool.called is None else tool.called.function


def _registrations(project: Project) -> dict[object, str]:
    """Return the tools that the project registers, with their names."""
    names: dict[object, str] = {}
    for module in project.modules.values():
        if is_test_path(module.path, project.root):
            continue
        for call, scope in module.calls:
            if isinstance(call.func, facts.Attr) and call.func.name == "register" and call.args:
                for option in options(project.evaluator.eval(call.args[0], Frame(module, scope))):
                    tool = _tool_of(project, option)
                    if tool is not None and tool.name:
                        names[_maker(tool)] = tool.name
        for name in TOOL_REGISTRY_NAMES:
            for binding in module.scope.bindings.get(name, ()):
                if binding.value is not None:
                    names.update(
                        _entries(project, project.evaluator.eval(binding.value, Frame(module, module.scope)))
                    )
    return names


def _entries(project: Project, registry: Value) -> Iterator[tuple[object, str]]:
    for key, entries in registry.entries.items() if isinstance(registry, Record) else ():
        for entry in entries:
            tool = _tool_of(project, entry.value)
            if tool is not None and isinstance(key, str):
                yield _maker(tool), key


def _returns_plainly(context: Context, call: Call, scope: Scope) -> bool:
    """Return whether a call returns the result itself, as a dispatcher does, without an envelope around it."""
    value = context.eval(call, scope)
    return not any(class_of(o) is not None for o in options(value))


# --- its arguments -------------------------------------------------------------------------------------------


def _arguments(
    context: Context, tool: Tool | None, call: Call, scope: Scope, node: cst.Call
) -> list[tuple[str | None, cst.BaseExpression]] | None:
    """Return the arguments by name; a ``None`` name is ``**value``."""
    assert isinstance(call.func, facts.Attr)
    if any(isinstance(a.value, cst.GeneratorExp | cst.NamedExpr | cst.Yield) for a in node.args):
        return None
    callables = tool.callables if tool is not None else ()
    own = next((c for c in callables if getattr(c.function, "name", "") == call.func.name), None)
    match node.args:
        case [
            cst.Arg(value=cst.Dict() as only, star="", keyword=None | cst.Name(value="input" | "tool_input"))
        ]:
            # A tool's own method takes the dict as one argument; a framework's method takes its entries.
            return None if own is not None else _from_dict(context, call, scope, only)
    exprs = (*call.args, *(value for name, value in call.keywords if name is not None))
    if any(is_nested(context, context.eval(value, scope)) for value in exprs):
        return None
    # A framework's method passes its arguments to the tool's function.
    called = own or next(iter(callables), None)
    params = called.function.params[1 if called.first else 0 :] if called is not None else ()
    names = [p.name for p in params if p.kind in ("any", "positional", "keyword")]
    takes_more = called is None or any(p.kind == "double-star" for p in params)
    pairs: list[tuple[str | None, cst.BaseExpression]] = []
    for i, arg in enumerate(node.args):
        if arg.star == "**":
            pairs.append((None, arg.value))
        elif arg.keyword is not None and (takes_more or arg.keyword.value in names):
            pairs.append((arg.keyword.value, arg.value))
        elif arg.keyword is None and not arg.star and i < len(names) and params[i].kind != "keyword":
            pairs.append((names[i], arg.value))
        else:
            return None
    return pairs


def _from_dict(
    context: Context, call: Call, scope: Scope, node: cst.Dict
) -> list[tuple[str | None, cst.BaseExpression]] | None:
    """Return the arguments in ``tool.invoke({"city": city})`` by name; None if they are not known one by one."""
    literal = (*call.args, *(value for _, value in call.keywords))[0]
    assert isinstance(literal, facts.Dict)
    if any(is_nested(context, context.eval(value, scope)) for key, value in literal.items if key is not None):
        return None
    pairs: list[tuple[str | None, cst.BaseExpression]] = []
    for element in node.elements:
        if isinstance(element, cst.StarredDictElement):
            pairs.append((None, element.value))
        elif isinstance(element, cst.DictElement) and isinstance(element.key, cst.SimpleString):
            pairs.append((str(element.key.evaluated_value), element.value))
        else:
            return None
    return pairs


# --- the call ------------------------------------------------------------------------------------------------


def _dispatched(
    dispatcher: Dispatcher, name: cst.BaseExpression, arguments: list[tuple[str | None, cst.BaseExpression]]
) -> cst.Call:
    """Return the call of a tool through a dispatcher."""
    callee = cst.parse_expression(dispatcher.callee)
    display = _display(arguments)
    match dispatcher.form:
        case "action":
            [action] = TOOL_ACTIONS
            args = [cst.Arg(cst.Call(cst.Name(action), [named("name", name), named("args", display)]))]
        case "dict":
            args = [cst.Arg(_display([("name", name), ("args", display)]))]
        case "pair":
            args = [cst.Arg(name), cst.Arg(display)]
        case "keywords":
            rest = (cst.Arg(v, star="**") if key is None else named(key, v) for key, v in arguments)
            args = [cst.Arg(name), *rest]
    return cst.Call(callee, args)


def _display(entries: Sequence[tuple[str | None, cst.BaseExpression]]) -> cst.Dict:
    return cst.Dict(
        [cst.StarredDictElement(v) if key is None else cst.DictElement(string(key), v) for key, v in entries]
    )


def _replaced(
    context: Context, place: SyntaxPlace, method: str, dispatcher: Dispatcher, new: cst.Call
) -> tuple[Edit, ...] | None:
    """Return the edits that replace the call by ``new``, with ``await`` for an async dispatcher; None if impossible."""
    parent = place.parents[0]
    awaited = isinstance(parent, cst.Await)
    if method not in (_ASYNCHRONOUS if awaited else _SYNCHRONOUS):
        return None
    if awaited == dispatcher.is_async:
        return place.replaced(new)
    if awaited:
        return place.of(parent).replaced(new)
    function = function_at(context.module, place.at)
    simple = isinstance(parent, cst.Assign | cst.AnnAssign | cst.Return | cst.Expr)
    return place.replaced(cst.Await(new)) if simple and function is not None and function.is_async else None

"""The uses of a value in its file: whether it reaches results and nothing else.

A repair that gives a number another shape is offered only where the same file does not compute with that number. The
way of a value is followed through containers, local variables and the functions of the file, outwards to the results.
What reads it by a key or a name, in whichever file, is looked up later (``check/readers.py``).
"""

from __future__ import annotations

import libcst as cst
from msgspec import Struct, field

from gllint_rules.fixes.syntax import SyntaxPlace, place_of
from gllint_rules.inference.values import (
    UNKNOWN,
    ClassOf,
    Frame,
    FunctionOf,
    Key,
    Site,
    ToolValue,
    Value,
    options,
)
from gllint_rules.project.call_graph import is_promised, is_run, where
from gllint_rules.project.context import Context
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Function, Lambda, Module
from gllint_rules.reading.positions import Positions
from gllint_rules.tools.parameters import function_at
from gllint_rules.tools.tool import Tool

MOST_STEPS = 60
# The methods of a container that put their argument into it.
_FILLING_METHODS = frozenset({"update", "setdefault", "append", "appendleft", "insert", "extend", "add"})


class Way(Struct, eq=False):
    """What is known of the uses of a value. ``is_promised``: a schema declares the result."""

    keys: tuple[Key, ...]
    is_promised: bool = False
    returned: list[Function] = field(default_factory=list)  # the functions that it is returned from
    variables: list[tuple[Function, str]] = field(default_factory=list)  # those that it was stored in
    steps: set[Site | tuple[Function, str]] = field(default_factory=set)


def way_out(context: Context, site: Site, keys: tuple[Key, ...]) -> Way | None:
    """Return the way of the value at ``site``, which ``keys`` lead to; ``None`` if it is used otherwise."""
    way = Way(keys)
    return way if _follow(context, site, way) else None


def _follow(context: Context, site: Site, way: Way) -> bool:
    """Follow one use of a value, and return whether all of its further uses are known."""
    if len(way.steps) > MOST_STEPS:
        return False
    if site in way.steps:
        return True
    way.steps.add(site)
    place = place_of(context, site)
    return place is not None and _climb(context, place, way)


def _climb(context: Context, place: SyntaxPlace, way: Way) -> bool:
    """Follow a container outwards to where it is stored, returned or passed."""
    node = place.node
    for parent in place.parents:
        match parent:
            case cst.DictElement(value=value) | cst.StarredDictElement(value=value) if value is node:
                pass
            case cst.Dict() | cst.Arg() | cst.Await():
                pass
            case cst.IfExp(body=body, orelse=orelse) if node in (body, orelse):
                pass
            case cst.BooleanOperation():
                pass
            case cst.Call(func=func, args=args) if node is not func:
                arg = next(arg for arg in args if arg is node)
                name = func.attr.value if isinstance(func, cst.Attribute) else getattr(func, "value", "")
                payload = context.names.table.payload(name) or ()
                if isinstance(func, cst.Attribute) and name in _FILLING_METHODS:
                    return _follow_root(context, place, func.value, way)
                if not (isinstance(func, cst.Name) and name == "dict") and not (
                    arg.keyword is not None and arg.keyword.value in payload
                ):
                    return arg.star == "" and _leaves_project(context, place.of(parent))
            case cst.Return():
                function = function_at(place.module, place.at)
                return function is not None and _returned(context, place.module, function, way)
            case cst.Lambda(body=body) if body is node:
                return _runs_lambda(context, place.of(parent), way)
            case cst.Assign(targets=[cst.AssignTarget(target=target)]) | cst.AnnAssign(target=target):
                return _follow_root(context, place, target, way)
            case _:
                return False
        node = parent
    return False


def _leaves_project(context: Context, place: SyntaxPlace) -> bool:
    """Return whether a call hands a container to something outside the project: what is inside may compute with it."""
    call, scope = next((call, scope) for call, scope in place.module.calls if call.at == place.at)
    callee = options(context.evaluator.eval(call.func, Frame(place.module, scope)))
    return not any(isinstance(option, (FunctionOf, ClassOf, ToolValue)) for option in callee)


def _follow_root(context: Context, place: SyntaxPlace, target: cst.BaseExpression, way: Way) -> bool:
    """Go on with the variable behind ``a``, ``a["b"]`` or ``a["b"]["c"]``."""
    while isinstance(target, cst.Subscript):
        target = target.value
    function = function_at(place.module, place.at)
    if not isinstance(target, cst.Name) or function is None:
        return False
    return _variable(context, place.positions, function, target.value, way)


# --- variables -----------------------------------------------------------------------------------------------


def _variable(context: Context, positions: Positions, function: Function, name: str, way: Way) -> bool:
    """Follow each use of a local variable of ``function``."""
    key = (function, name)
    if key in way.steps:
        return True
    way.steps.add(key)
    bindings = function.scope.bindings.get(name, ())
    if not bindings or any(b.kind not in ("assign", "annotated", "aug") for b in bindings):
        return False
    way.variables.append((function, name))
    return all(_use(context, positions, at, way) for at in positions.mentions(function, name))


def _use(context: Context, positions: Positions, at: int, way: Way) -> bool:
    """Return whether one use of a container leaves its numbers unread."""
    place = place_of(context, Site(positions.module, at))
    if place is None:  # the header of a loop or of a condition
        return False
    node: cst.CSTNode = place.node
    key: str | None = ""
    parent: cst.CSTNode | None = None
    for parent in place.parents:
        if not (isinstance(parent, cst.Subscript) and parent.value is node):
            break
        key = _literal_key(parent) if key == "" else key
        node = parent
    match parent:
        case cst.AssignTarget() | cst.Del():
            return True
        case cst.AnnAssign(target=target) if target is node:
            return True
        case cst.AugAssign(target=target) if target is node:
            return bool(key)
        case cst.Attribute(value=value) if value is node:
            return key == "" and _method(place, parent, way)
    if node is place.node:
        return _climb(context, place, way)
    return key is not None


def _literal_key(node: cst.Subscript) -> str | None:
    match node.slice:
        case [cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as text))]:
            value = text.evaluated_value
            return value if isinstance(value, str) else None
        case _:
            return None


def _method(place: SyntaxPlace, attribute: cst.Attribute, way: Way) -> bool:
    """Return whether ``container.method(…)`` leaves the container's numbers unread."""
    call = next((parent for parent in place.parents if isinstance(parent, cst.Call)), None)
    if call is None or call.func is not attribute:
        return False
    if attribute.attr.value == "keys" or attribute.attr.value in _FILLING_METHODS - {"setdefault"}:
        return True
    if attribute.attr.value in ("get", "pop", "setdefault") and call.args:
        return isinstance(call.args[0].value, cst.SimpleString)
    return False


# --- functions -----------------------------------------------------------------------------------------------


def _returned(context: Context, module: Module, function: Function, way: Way) -> bool:
    """Follow the calls of a function in its own file."""
    if function in way.returned:
        return True
    way.returned.append(function)
    if function.yields:
        return False
    place = module.path, function.at
    is_tools = is_run(context.project, place)
    way.is_promised = way.is_promised or is_promised(context.project, place)
    for call, scope in module.calls_of({function.name}):
        if facts.last_name(call.func) != function.name:
            continue
        callee = options(context.evaluator.eval(call.func, Frame(module, scope)))
        if UNKNOWN in callee and not is_tools:
            return False
        is_called = any(where(called) == place for option in callee for called in _functions_in(option))
        if is_called and not _follow(context, Site(module, call.at), way):
            return False
    return True


def _functions_in(value: Value) -> tuple[FunctionOf, ...]:
    """Return the functions that ``value`` may be, decorated tools included."""
    match value:
        case FunctionOf():
            return (value,)
        case ToolValue(tool=Tool(callables=callables)):
            return tuple(callables)
        case _:
            return ()


def _runs_lambda(context: Context, place: SyntaxPlace, way: Way) -> bool:
    """Return whether the lambda at ``place`` is what a tool of its file runs."""
    uses = [
        tool
        for tool in context.project.tools.of(place.module)
        for callable in tool.callables
        if callable.module is place.module
        and isinstance(callable.function, Lambda)
        and callable.function.at == place.at
    ]
    way.is_promised = way.is_promised or any(tool.result_schema is not None for tool in uses)
    return bool(uses)

"""The uses of a value in its file: whether it reaches results and nothing else.

A repair that makes a Quantity of a number is offered only if the same file does not compute with that number. A value
is followed through containers, local variables and the functions of the file, outwards to the results. Code that reads
it by its key or name, in any file, is looked up later (``check/readers.py``).
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
    """The uses of a value up to the results; ``keys`` lead to it. ``is_promised``: a schema declares the result."""

    keys: tuple[Key, ...]
    is_promised: bool = False
    returned: list[Function] = field(default_factory=list)  # the functions that it is returned from
    variables: list[tuple[Function, str]] = field(default_factory=list)  # those that it was stored in
    steps: set[Site | tuple[Function, str]] = field(default_factory=set)


def way_out(context: Context, site: Site, keys: tuple[Key, ...]) -> Way | None:
    """Return the way of the value at ``site`` to the results; ``None`` if it may be used for something else.

    ``keys`` lead to it within the result: ``("heat",)`` of ``return {"heat": x}``.
    """
    way = Way(keys)
    return way if _follow(context, site, way) else None


def _follow(context: Context, site: Site, way: Way) -> bool:
    """Follow the value at ``site``, and return whether it reaches results and nothing else."""
    if len(way.steps) > MOST_STEPS:
        return False
    if site in way.steps:
        return True
    way.steps.add(site)
    place = place_of(context, site)
    return place is not None and _climb(context, place, way)


def _climb(context: Context, place: SyntaxPlace, way: Way) -> bool:
    """Follow the expression outwards to the ``return``, assignment or call around it; return as :func:`_follow`.

    ``rows.append({"heat": x})`` → goes on with ``rows``.
    """
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
            case cst.Call(func=func) if isinstance(node, cst.Arg):
                match func:
                    case cst.Attribute(attr=cst.Name(value=name)) | cst.Name(value=name):
                        payload = context.names.table.payload(name) or ()
                    case _:  # `handlers["a"](row)`
                        name, payload = "", ()
                if isinstance(func, cst.Attribute) and name in _FILLING_METHODS:
                    return _follow_root(context, place, func.value, way)
                # `dict(heat=x)` and `ToolResult(content=x)` contain the value; another call may compute with it.
                is_dict = isinstance(func, cst.Name) and name == "dict"
                is_envelope = node.keyword is not None and node.keyword.value in payload
                if not is_dict and not is_envelope:
                    return node.star == "" and _leaves_project(context, place.of(parent))
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
    """Return whether a call passes the value out of the project; a function of the project may compute with it."""
    call, scope = next((call, scope) for call, scope in place.module.calls if call.at == place.at)
    callee = options(context.evaluator.eval(call.func, Frame(place.module, scope)))
    return not any(isinstance(option, (FunctionOf, ClassOf, ToolValue)) for option in callee)


def _follow_root(context: Context, place: SyntaxPlace, target: cst.BaseExpression, way: Way) -> bool:
    """Follow the variable of an assignment's target: ``a`` of ``a["b"]["c"] = x``; return as :func:`_follow`."""
    while isinstance(target, cst.Subscript):
        target = target.value
    function = function_at(place.module, place.at)
    if not isinstance(target, cst.Name) or function is None:
        return False
    return _variable(context, place.positions, function, target.value, way)


# --- variables -----------------------------------------------------------------------------------------------


def _variable(context: Context, positions: Positions, function: Function, name: str, way: Way) -> bool:
    """Follow each use of a local variable of ``function``; return as :func:`_follow`."""
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
    """Return whether one use of a container does not compute with its numbers: ``a["b"] = x``, ``return a``.

    ``a["b"]`` with a literal key reads another number at most, which is looked up later.
    """
    place = place_of(context, Site(positions.module, at))
    if place is None:  # the header of a loop or of a condition
        return False
    node: cst.CSTNode = place.node
    key: str | None = ""  # the first one of `a["b"]["c"]`; "" without any, None if it is not literal
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
    """Return the key of a subscript: ``a["b"]`` → ``b``; ``None`` if it is not a literal text."""
    match node.slice:
        case [cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as text))]:
            value = text.evaluated_value
            return value if isinstance(value, str) else None
        case _:
            return None


def _method(place: SyntaxPlace, attribute: cst.Attribute, way: Way) -> bool:
    """Return whether ``container.method(…)`` reads no number: ``row.keys()``, ``rows.append(x)``, ``row.get("a")``."""
    call = next((parent for parent in place.parents if isinstance(parent, cst.Call)), None)
    if call is None or call.func is not attribute:
        return False
    if attribute.attr.value == "keys" or attribute.attr.value in _FILLING_METHODS - {"setdefault"}:
        return True
    # A literal key: whether it is that of the number is looked up later.
    if attribute.attr.value in ("get", "pop", "setdefault") and call.args:
        return isinstance(call.args[0].value, cst.SimpleString)
    return False


# --- functions -----------------------------------------------------------------------------------------------


def _returned(context: Context, module: Module, function: Function, way: Way) -> bool:
    """Follow the results of a function to its calls in its own file; return as :func:`_follow`."""
    if function in way.returned:
        return True
    way.returned.append(function)
    if function.yields:
        return False
    place = module.path, function.at
    is_tool = is_run(context.project, place)
    way.is_promised = way.is_promised or is_promised(context.project, place)
    for call, scope in module.calls_of({function.name}):
        if facts.last_name(call.func) != function.name:
            continue
        callee = options(context.evaluator.eval(call.func, Frame(module, scope)))
        # An unknown callee of that name may be this function; a tool is called by the framework.
        if UNKNOWN in callee and not is_tool:
            return False
        is_callee = any(where(called) == place for option in callee for called in _functions_in(option))
        if is_callee and not _follow(context, Site(module, call.at), way):
            return False
    return True


def _functions_in(value: Value) -> tuple[FunctionOf, ...]:
    """Return the functions that a call of ``value`` runs: a function itself, or those of a tool."""
    match value:
        case FunctionOf():
            return (value,)
        case ToolValue(tool=Tool(callables=callables)):
            return tuple(callables)
        case _:
            return ()


def _runs_lambda(context: Context, place: SyntaxPlace, way: Way) -> bool:
    """Return whether a tool of the same file runs the lambda at ``place``: ``Tool(func=lambda x: …)``.

    Sets ``way.is_promised`` if a schema declares the result of such a tool.
    """
    tools = [
        tool
        for tool in context.project.tools.of(place.module)
        for candidate in tool.callables
        if candidate.module is place.module
        and isinstance(candidate.function, Lambda)
        and candidate.function.at == place.at
    ]
    way.is_promised = way.is_promised or any(tool.result_schema is not None for tool in tools)
    return bool(tools)

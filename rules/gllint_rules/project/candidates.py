"""Find candidates for tools: functions that are passed on like tools, to a callee that no row of the table names.

gllint reports nothing in them: the summary counts them, with the line of configuration that makes them tools.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gllint_rules.finding import DESCRIBED, ToolAt, ToolSight
from gllint_rules.inference.values import ClassOf, External, Frame, FunctionOf, class_of, options
from gllint_rules.project.project import registrars
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Call, Expr, Module
from gllint_rules.tools.discovery import values_under
from gllint_rules.tools.name_calls import called_by_name
from gllint_rules.tools.registrars import COMPUTED, Registrar, described_in, functions_in
from gllint_rules.tools.registrars import functions as functions_of
from gllint_rules.words.names import LIKE_TOOLS, TOOL_PARAMETERS

if TYPE_CHECKING:
    from gllint_rules.project.context import Context
    from gllint_rules.project.project import Project

_CHOICES = frozenset({"tool_choice", "function_call", "toolChoice"})  # what makes the model call one tool
_PROPERTIES = "properties"  # the key of a JSON Schema under which a tool's parameters are
_DESCRIPTIONS = (*TOOL_PARAMETERS, "function")


def candidates(context: Context) -> Iterator[ToolSight]:
    """Yield the functions of the project that a module passes on like tools."""
    yield from _under_keywords(context)
    yield from _with_schema(context)
    yield from _without_function(context)
    for at, under, count in context.project.tools.forms.gaps(context.module):
        line = context.project.positions(context.module).span(at).line
        yield ToolSight(ToolAt(context.module.path, at, ""), line, "unregistered", under=under, names=count)


def _without_function(context: Context) -> Iterator[ToolSight]:
    """Yield, as one, the tools that the module describes as JSON to a model if no function of the project bears or is
    called by their names.

    A tool that the model is made to call is the form of its answer.
    """
    module, words = context.module, context.names.table.descriptions
    all_registrars = context.project.once(registrars)
    names = {r.used_as for r in all_registrars if r.kind == "described" and r.path == module.path}
    callable_names = context.project.once(names_with_function) if names else names
    missing = names - callable_names - ({COMPUTED} if callable_names else set())
    if not missing or COMPUTED in callable_names:
        return
    for value, scope in values_under(module, _CHOICES):
        missing -= described_in(context.evaluator, value, Frame(module, scope), words, is_choice=True)
    for value, scope in values_under(module, words.places) if missing else ():
        if not missing.isdisjoint(described_in(context.evaluator, value, Frame(module, scope), words)):
            line = context.project.positions(module).span(value.at).line
            at = ToolAt(module.path, value.at, "")
            yield ToolSight(at, line, "unregistered", under=DESCRIBED, names=len(missing))
            return


def names_with_function(project: Project) -> frozenset[str]:
    """Return the names of the project's tools, and those by which it calls functions that are described as JSON.

    :data:`COMPUTED` is among them if it calls what it looks up by a name.
    """
    return frozenset[str]().union(*project.answers(_names_in, project.once(registrars)))


def _names_in(project: Project, module: Module, registrars: frozenset[Registrar]) -> frozenset[str]:
    words = project.names.table.descriptions
    sunk: list[object] = []

    def sink(*fields: object) -> None:
        sunk.append(fields)

    calls = called_by_name(project.evaluator, words, module, registrars, sink)
    names = {COMPUTED} if sunk else set[str]()
    names |= {call.name for call in calls}
    names |= {tool.name for tool in project.tools.of(module) if tool.name}
    return frozenset(names)


def _under_keywords(context: Context) -> Iterator[ToolSight]:
    """Yield functions under ``functions=``, ``actions=`` and the like."""
    keywords, forms = {*LIKE_TOOLS, *context.names.table.any_keywords}, context.project.tools.forms
    for call, scope in context.module.calls_where(lambda section: not keywords.isdisjoint(section.keywords)):
        frame = Frame(context.module, scope)
        for keyword, value in call.keywords:
            if keyword is None or keyword not in keywords or forms.is_settled(keyword, call, frame):
                continue
            row = {"keywords": [keyword]}
            for function in functions_in(context.evaluator, value, frame):
                yield from _sight(context, function, f"`{keyword}=`", row)


def _with_schema(context: Context) -> Iterator[ToolSight]:
    """Yield functions that are passed together with a JSON Schema of their parameters: it is for a model.

    Other calls of the same callee in the module may have the schema under a name.
    """
    module, forms = context.module, context.project.tools.forms
    calls = [
        (call, scope)
        for call, scope in module.calls_where(lambda section: _PROPERTIES in section.keys)
        if any(map(_describes, _arguments(call)))
    ]
    callees = frozenset(facts.last_name(call.func) for call, _ in calls)
    for call, scope in module.calls_of(callees) if callees else ():
        frame = Frame(module, scope)
        if facts.last_name(call.func) not in callees or forms.names(call, frame):
            continue
        functions = list(_function_arguments(context, call, frame))
        if len(functions) == 1:
            [(place, function)] = functions
            name = _callee_name(context, call.func, frame)
            row = {"calls": {name: [place]}}
            yield from _sight(context, function, f"`{facts.last_name(call.func)}(…)`", row)
    for definition in module.functions_where(lambda section: not callees.isdisjoint(section.decorators)):
        for decorator in definition.decorators:
            name = facts.last_name(decorator)
            if (
                name in callees
                and isinstance(decorator, Call)
                and any(map(_describes, _arguments(decorator)))
            ):
                function = FunctionOf(module, definition)
                yield from _sight(context, function, f"`@{name}`", {"decorators": [name]})


def _arguments(call: Call) -> Iterator[Expr]:
    yield from call.args
    yield from (value for keyword, value in call.keywords if keyword is not None)


def _describes(expr: Expr) -> bool:
    """Return whether an expression is a JSON Schema of parameters, or a dict that has one where descriptions do."""
    if not isinstance(expr, facts.Dict):
        return False
    parts = (expr.value(key) for key in _DESCRIPTIONS)
    return expr.value(_PROPERTIES) is not None or any(_describes(part) for part in parts if part is not None)


def _function_arguments(context: Context, call: Call, frame: Frame) -> Iterator[tuple[int | str, FunctionOf]]:
    """Yield the functions of the project among the arguments of a call, callbacks aside, each with its place."""
    is_callback = context.names.table.no_tools.is_callback
    places: list[tuple[int | str, Expr]] = list(enumerate(call.args))
    places += ((keyword, value) for keyword, value in call.keywords if keyword and not is_callback(keyword))
    for place, value in places:
        if isinstance(value, (facts.Name, facts.Attr, facts.Lambda)):
            yield from ((place, function) for function in functions_of(context.evaluator, value, frame))


def _callee_name(context: Context, func: Expr, frame: Frame) -> str:
    """Return the name of a callee as a row has it.

    It is the dotted name of what another package has, a method of the project with its class, and ``*.name`` where the
    object is unknown.
    """
    for option in options(context.evaluator.eval(func, frame)):
        if isinstance(option, External):
            return option.name
    name = facts.last_name(func)
    if not isinstance(func, facts.Attr):
        return name
    for option in options(context.evaluator.eval(func.base, frame)):
        of = class_of(option)
        if isinstance(of, ClassOf):
            return f"{of.cls.name}.{name}"
    return f"*.{name}"


def _sight(context: Context, candidate: FunctionOf, under: str, row: dict[str, Any]) -> Iterator[ToolSight]:
    """Yield a function as one that is no tool yet, if it is none."""
    function, module = candidate.function, candidate.module
    tools = (*context.project.tools.of(module), *context.tools)
    if not any(function is callee.function for tool in tools for callee in tool.callables):
        line = context.project.positions(module).span(function.at).line
        at = ToolAt(module.path, function.at, getattr(function, "name", ""))
        yield ToolSight(at, line, "unregistered", under=under, row=json.dumps(row))

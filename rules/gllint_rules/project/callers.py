"""Which tools of a project run a function, and who calls it.

Functions and calls are told by their places, so that an answer can be kept, and what is far away need not be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from gllint_rules.inference.values import UNKNOWN, Frame, FunctionOf, ToolValue, Value, options
from gllint_rules.project.project import taken
from gllint_rules.project.tool import Tool
from gllint_rules.reading import facts
from gllint_rules.reading.facts import Function, Lambda, Module
from gllint_rules.tuples import NamedTuple

if TYPE_CHECKING:
    from gllint_rules.project.project import Project

Where: TypeAlias = tuple[str, int]
"""The path of a module, and the number of what stands there."""


class Runner(NamedTuple):
    """A tool that runs a function: the names that it has in the source and for a model, and the call that makes it."""

    own: str  # empty where the function is a lambda
    name: str
    path: str
    at: int  # below 0 where no call makes it
    promises: bool  # something of its result, by a schema


class Calls(NamedTuple):
    """The calls of something of a name: what is called, and where; whether that is known of each."""

    found: tuple[tuple[Where, Where], ...]
    are_all: bool


def where(function: FunctionOf) -> Where:
    """The place of a function."""
    return function.module.path, function.function.at


def runners(project: Project, path: str, at: int) -> tuple[Runner, ...]:
    """The tools that run the function at a place."""
    return project.held(_runners).get((path, at), ())


def promises_for_lambda(project: Project) -> bool:
    """Whether a tool that runs a lambda promises something of its result."""
    found = project.held(_runners).values()
    return any(runner.promises and not runner.own for several in found for runner in several)


def learn_callers(project: Project) -> None:
    """Ask all modules what fixes ask of all of them, for somebody who keeps what they say."""
    calls_named(project, "")
    project.held(_runners)


def calls_named(project: Project, name: str) -> Calls:
    """The calls of something whose last name is ``name``."""
    called = zip(project.modules.paths, project.each(_called_in, None), strict=True)
    callers = [path for path, names in called if name in names]
    parts = project.parts(_calls_in, name, callers).values()
    return Calls(tuple(call for calls, _ in parts for call in calls), all(are_all for _, are_all in parts))


def _runners(project: Project) -> dict[Where, tuple[Runner, ...]]:
    found: dict[Where, tuple[Runner, ...]] = {}
    for part in project.each(_run_in, project.once(taken)):
        for function, runner in part:
            found[function] = *found.get(function, ()), Runner._make(runner)
    return found


def _run_in(
    project: Project, module: Module, given: frozenset[tuple[str, int, str, str, str, str]]
) -> tuple[tuple[tuple[str, int], tuple[str, str, str, int, bool]], ...]:
    """The functions that the tools of a module run, and those tools."""
    return tuple(
        (where(callable), Runner(_own_name(tool, callable.function), tool.name or "", *_made_at(tool)))
        for tool in project.tools.of(module)
        for callable in tool.callables
    )


def _made_at(tool: Tool) -> tuple[str, int, bool]:
    return tool.module.path, tool.at if tool.call is not None else -1, tool.result_schema is not None


def _own_name(tool: Tool, function: Function | Lambda) -> str:
    if isinstance(function, Lambda):
        return ""
    return function.name if tool.cls is None else tool.cls.cls.name


def _called_in(project: Project, module: Module, given: None) -> frozenset[str]:
    """The last names of what a module calls."""
    return frozenset().union(*(section.calls for section in module.outline.sections))


def _calls_in(
    project: Project, module: Module, name: str
) -> tuple[tuple[tuple[tuple[str, int], tuple[str, int]], ...], bool]:
    """What :class:`Calls` holds of one module."""
    found: list[tuple[Where, Where]] = []
    are_all = True
    for call, scope in module.calls_of({name}):
        if facts.last_name(call.func) == name:
            for option in options(project.evaluator.eval(call.func, Frame(module, scope))):
                are_all = are_all and option is not UNKNOWN
                found += ((where(function), (module.path, call.at)) for function in _functions_in(option))
    return tuple(found), are_all


def _functions_in(value: Value) -> tuple[FunctionOf, ...]:
    """The function that ``value`` is, or those of the tool that a decorator made of one."""
    match value:
        case FunctionOf():
            return (value,)
        case ToolValue(tool=Tool(callables=callables)):
            return tuple({where(callable): callable for callable in callables}.values())
        case _:
            return ()

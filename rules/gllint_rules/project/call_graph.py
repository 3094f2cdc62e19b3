"""Which functions of a project some tool runs, told by their places, so that the answer can be kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from gllint_rules.inference.values import FunctionOf
from gllint_rules.project.project import taken
from gllint_rules.reading.facts import Module

if TYPE_CHECKING:
    from gllint_rules.project.project import Project

Where: TypeAlias = tuple[str, int]
"""The path of a module, and the number of what stands there."""


def where(function: FunctionOf) -> Where:
    """The place of a function."""
    return function.module.path, function.function.at


def is_run(project: Project, function: Where) -> bool:
    """Whether some tool of the project runs ``function``."""
    return function in project.held(_promises)


def is_promised(project: Project, function: Where) -> bool:
    """Whether a tool that runs ``function`` promises something of its result, by a schema."""
    return project.held(_promises).get(function, False)


def learn_runners(project: Project) -> None:
    """Ask all modules what fixes ask of all of them, for somebody who keeps what they say."""
    project.held(_promises)


def _promises(project: Project) -> dict[Where, bool]:
    """The functions that tools run, each with whether one of these tools has a result schema."""
    out: dict[Where, bool] = {}
    for part in project.each(_run_in, project.once(taken)):
        for function, has_schema in part:
            out[function] = has_schema or out.get(function, False)
    return out


def _run_in(
    project: Project, module: Module, given: frozenset[tuple[str, int, str, str, str, str]]
) -> tuple[tuple[tuple[str, int], bool], ...]:
    """The functions that the tools of a module run."""
    return tuple(
        (where(callable), tool.result_schema is not None)
        for tool in project.tools.of(module)
        for callable in tool.callables
    )

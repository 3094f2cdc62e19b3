"""Find the functions that tools run, by their places, so that the answer can be stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from gllint_rules.inference.values import FunctionOf
from gllint_rules.project.project import registrars
from gllint_rules.reading.facts import Module

if TYPE_CHECKING:
    from gllint_rules.project.project import Project

Where: TypeAlias = tuple[str, int]
"""The path of a module, and the number of an expression in it."""


def where(function: FunctionOf) -> Where:
    """Return the place of a function."""
    return function.module.path, function.function.at


def is_run(project: Project, function: Where) -> bool:
    """Return whether some tool of the project runs ``function``."""
    return function in project.memory(_promises)


def is_promised(project: Project, function: Where) -> bool:
    """Return whether a tool that runs ``function`` has a result schema."""
    return project.memory(_promises).get(function, False)


def learn_runners(project: Project, path: str) -> None:
    """Store the answer of one module to the question of :func:`is_run`, while the module is read anyway."""
    project.parts(_run_in, project.once(registrars), [path])


def _promises(project: Project) -> dict[Where, bool]:
    """Return the functions that tools run, each with whether one of these tools has a result schema."""
    promises: dict[Where, bool] = {}
    for part in project.answers(_run_in, project.once(registrars)):
        for function, has_schema in part:
            promises[function] = has_schema or promises.get(function, False)
    return promises


def _run_in(
    project: Project, module: Module, argument: frozenset[tuple[str, int, str, str, str, str]]
) -> tuple[tuple[tuple[str, int], bool], ...]:
    """Return the functions that the tools of a module run."""
    return tuple(
        (where(callable), tool.result_schema is not None)
        for tool in project.tools.of(module)
        for callable in tool.callables
    )

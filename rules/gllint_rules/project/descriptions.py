"""Descriptions of the tools of a project: names, places, documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from gllint_rules.finding import Span
from gllint_rules.inference import classes
from gllint_rules.inference.values import literal_of
from gllint_rules.project.context import Context
from gllint_rules.project.project import registrars
from gllint_rules.reading import facts
from gllint_rules.tuples import NamedTuple

if TYPE_CHECKING:
    from gllint_rules.project.project import Project
    from gllint_rules.reading.facts import Module
    from gllint_rules.tools.tool import Tool

_DESCRIPTION = "description"
_Plain: TypeAlias = tuple[str, str, Span, str]


class ToolDescription(NamedTuple):
    """A tool: its name, empty where it is not known, where it is defined, and what it says about itself."""

    name: str
    path: str
    span: Span
    description: str


def described_tools(project: Project) -> list[ToolDescription]:
    """Return all tools of the project."""
    return [ToolDescription._make(fields) for part in _parts(project).values() for fields in part]


def modules_with_tools(project: Project) -> list[Module]:
    """Return the modules that define tools. Stored answers are used, so that other modules are not read."""
    return [project.modules[path] for path, part in _parts(project).items() if part]


def description_of(project: Project, tool: Tool) -> ToolDescription:
    """Return the description of a tool, with its name and place."""
    span = project.positions(tool.module).span(tool.at)
    return ToolDescription(tool.name or "", tool.module.path, span, _description(project, tool))


def _parts(project: Project) -> dict[str, tuple[_Plain, ...]]:
    return dict(
        zip(project.modules.paths, project.answers(_described_in, project.once(registrars)), strict=True)
    )


def _described_in(
    project: Project, module: Module, argument: frozenset[tuple[str, int, str, str, str, str]]
) -> tuple[tuple[str, str, Span, str], ...]:
    return tuple(description_of(project, tool) for tool in project.tools.of(module))


def _description(project: Project, tool: Tool) -> str:
    """Return the ``description=`` of a tool, else the first paragraph of its docstring, else ""."""
    context = Context(project, tool.module)
    expr = tool.call.keyword(_DESCRIPTION) if tool.call is not None else None
    scope = tool.scope
    if expr is None and tool.cls is not None:
        expr = classes.class_value(tool.cls, _DESCRIPTION)
    if expr is not None and (text := literal_of(context.eval(expr, scope))):
        return text
    function = tool.callable.function if tool.callable is not None else None
    match getattr(function, "body", ()):
        case (facts.Do(kind="expr", values=(facts.Const(value=str() as text),)), *_):
            return text.strip().partition("\n\n")[0]
        case _:
            return ""

"""What a project knows about tools and claims, for hovers, completions and jumps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gllint_rules.finding import Span
from gllint_rules.inference import classes
from gllint_rules.inference.values import Literal, Value
from gllint_rules.project.claimed import claimed, sources, text_of
from gllint_rules.project.context import Context
from gllint_rules.project.templates import final_steps
from gllint_rules.reading import facts

if TYPE_CHECKING:
    from gllint_rules.project.project import Project
    from gllint_rules.project.templates import FinalStep
    from gllint_rules.project.tool import Tool
    from gllint_rules.reading.facts import Module

_DESCRIPTION = "description"


@dataclass(frozen=True, slots=True)
class Known:
    """A tool by its name: where it is defined, and what it says of itself."""

    name: str
    path: str
    span: Span
    description: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim as the source writes it; what it does not write out is ``None``."""

    index: int | None
    call_id: str | None
    path: str | None
    value: object
    unit: str | None
    tools: tuple[Known, ...]


def tools_named(project: Project, name: str | None = None) -> list[Known]:
    """The tools of the project that bear ``name``, or all that bear one."""
    return [
        known(project, tool)
        for module in list(project.modules.values())
        for tool in project.tools.of(module)
        if tool.name and (name is None or tool.name == name)
    ]


def tool_names(project: Project) -> dict[str, str]:
    """The names of all tools of the project, each with the file that it is defined in."""
    return {
        tool.name: module.path
        for module in list(project.modules.values())
        for tool in project.tools.of(module)
        if tool.name
    }


def known(project: Project, tool: Tool) -> Known:
    """What is shown of a tool."""
    span = project.positions(tool.module).span(tool.at)
    return Known(tool.name or "", tool.module.path, span, _description(project, tool))


def claim_of_macro(project: Project, module: Module, span: Span, index: int) -> Claim | None:
    """The claim behind macro ``index`` of the final message whose text stands around ``span``."""
    for path in sorted(project.imports.reaching([module.path]), key=lambda path: path != module.path):
        if path not in project.modules:
            continue
        context = Context(project, project.modules[path])
        for step in final_steps(context):
            if step.claims is not None and _holds(project, step, module, span):
                if index < len(step.claims.items):
                    return _claim(context, step.claims.items[index].value, index)
    return None


def claim_at(project: Project, module: Module, span: Span) -> Claim | None:
    """The claim that is written out around ``span``."""
    from gllint_rules.project.templates import claim_entries

    context = Context(project, module)
    around = [
        (place, entry)
        for entry in claim_entries(context)
        if entry.site.module is module and _contains(place := context.span(entry.site), span)
    ]
    if not around:
        return None
    _, entry = max(around, key=lambda pair: (pair[0].line, pair[0].column))
    return _claim(context, entry.value, None)


def _holds(project: Project, step: FinalStep, module: Module, span: Span) -> bool:
    return any(
        isinstance(part, Literal)
        and part.site.module is module
        and _contains(project.positions(module).span(part.site.at), span)
        for part in step.template.parts
    )


def _contains(outer: Span, inner: Span) -> bool:
    return (outer.line, outer.column) <= (inner.line, inner.column) and (
        (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)
    )


def _claim(context: Context, value: Value, index: int | None) -> Claim | None:
    said = claimed(value)
    if said is None:
        return None
    tools = tuple(known(context.project, tool) for tool in sources(context, said))
    return Claim(index, said.call_id, said.path, said.value, said.unit, tools)


def _description(project: Project, tool: Tool) -> str:
    context = Context(project, tool.module)
    expr = tool.call.keyword(_DESCRIPTION) if tool.call is not None else None
    scope = tool.scope
    if expr is None and tool.cls is not None:
        expr = classes.class_value(tool.cls, _DESCRIPTION)
    if expr is not None and (text := text_of(context.eval(expr, scope))):
        return text
    function = tool.callable.function if tool.callable is not None else None
    match getattr(function, "body", ()):
        case (facts.Do(kind="expr", values=(facts.Const(value=str() as text),)), *_):
            return text.strip().partition("\n\n")[0]
        case _:
            return ""

"""What a project knows about tools and claims, for hovers, completions and jumps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gllint_rules.finding import Span
from gllint_rules.inference.values import Literal, Value
from gllint_rules.project.claimed import claim_parts, sources
from gllint_rules.project.context import Context
from gllint_rules.project.descriptions import ToolDescription, described_tools, description_of
from gllint_rules.project.templates import final_steps

if TYPE_CHECKING:
    from gllint_rules.project.project import Project
    from gllint_rules.project.templates import FinalStep
    from gllint_rules.reading.facts import Module


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim as the source writes it; what it does not write out is ``None``."""

    index: int | None
    call_id: str | None
    path: str | None
    value: object
    unit: str | None
    tools: tuple[ToolDescription, ...]


def tools_named(project: Project, name: str) -> list[ToolDescription]:
    """Return the tools of the project that bear ``name``."""
    return [tool for tool in described_tools(project) if name and tool.name == name]


def tool_names(project: Project) -> dict[str, str]:
    """Return the names of all tools of the project, each with the file that it is defined in."""
    return {tool.name: tool.path for tool in described_tools(project) if tool.name}


def claim_of_macro(project: Project, module: Module, span: Span, index: int) -> Claim | None:
    """Return the claim with ``index`` of the final message whose text is at ``span``; ``None`` if it is not seen.

    ``1`` → the second of ``claims=[...]``. The message is looked for in its own module first, then in modules that
    import it.
    """
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
    """Return the innermost claim that is written at ``span``; ``None`` if there is none."""
    from gllint_rules.project.templates import claim_entries

    context = Context(project, module)
    pairs = [
        (place, entry)
        for entry in claim_entries(context)
        if entry.site.module is module and _contains(place := context.span(entry.site), span)
    ]
    if not pairs:
        return None
    _, entry = max(pairs, key=lambda pair: (pair[0].line, pair[0].column))
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
    claim = claim_parts(value)
    if claim is None:
        return None
    tools = tuple(description_of(context.project, tool) for tool in sources(context, claim))
    return Claim(index, claim.call_id, claim.path, claim.value, claim.unit, tools)

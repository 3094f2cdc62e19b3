from __future__ import annotations

from collections.abc import Iterator

from ask import Project, Tool, method
from beeai_framework.agents.requirement import RequirementAgent


def tools(project: Project) -> Iterator[Tool]:
    for agent in project.every(RequirementAgent):
        for tool in agent._tools:
            function = closure(project, tool) or method(tool, "_run")

            async def run(args, tool=tool):
                given = dict.fromkeys(tool.input_schema.model_fields, "Lisbon")
                return (await tool.run(given)).get_text_content()

            yield Tool(tool.name, function, run)


def closure(project: Project, tool):
    """A decorated function stands in the closure of the class that the decorator makes."""
    for cell in getattr(type(tool)._run, "__closure__", None) or ():
        if callable(cell.cell_contents) and project.holds(cell.cell_contents):
            return cell.cell_contents
    return None

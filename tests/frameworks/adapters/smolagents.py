from __future__ import annotations

from collections.abc import Iterator

from ask import Project, Tool
from smolagents import MultiStepAgent


def tools(project: Project) -> Iterator[Tool]:
    for agent in project.every(MultiStepAgent):
        for name, tool in agent.tools.items():
            yield Tool(name, type(tool).forward, lambda args, tool=tool: str(tool(**args)))

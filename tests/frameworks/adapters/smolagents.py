from __future__ import annotations

from collections.abc import Iterator

from ask import Project, Tool
from smolagents import MultiStepAgent


def tools(project: Project) -> Iterator[Tool]:
    for agent in project.every(MultiStepAgent):
        for name, tool in agent.tools.items():
            forward = type(tool).forward
            yield Tool(name, function_of(project, tool, name), lambda args, tool=tool: str(tool(**args)))


def function_of(project: Project, tool, name):
    forward = type(tool).forward
    if forward.__module__ == project.module.__name__:
        return forward
    return forward.__wrapped__ if hasattr(forward, "__wrapped__") else forward

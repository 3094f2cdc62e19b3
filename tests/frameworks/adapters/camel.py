from __future__ import annotations

from collections.abc import Iterator

from ask import Project, Tool
from camel.agents import ChatAgent


def tools(project: Project) -> Iterator[Tool]:
    for agent in project.every(ChatAgent):
        for name, tool in agent.tool_dict.items():
            yield Tool(name, tool.func, lambda args, tool=tool: tool(**args))

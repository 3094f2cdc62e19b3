from __future__ import annotations

from collections.abc import Iterator

from agent_framework import Agent, normalize_tools
from ask import Project, Tool


def tools(project: Project) -> Iterator[Tool]:
    for agent in project.every(Agent):
        for tool in normalize_tools(agent.default_options["tools"]):

            async def run(args, tool=tool):
                return [getattr(part, "text", part) for part in await tool.invoke(arguments=args)]

            yield Tool(tool.name, tool.func, run)

from __future__ import annotations

from collections.abc import Iterator

from ask import Project, Tool
from strands import Agent


def tools(project: Project) -> Iterator[Tool]:
    for agent in project.every(Agent):
        for name in agent.tool_names:
            tool = agent.tool_registry.registry[name]

            async def run(args, tool=tool):
                seen = None
                async for event in tool.stream(
                    {"name": tool.tool_name, "toolUseId": "1", "input": args}, {"agent": None}
                ):
                    seen = event
                result = seen.get("tool_result", seen)
                return result.get("content", result)

            yield Tool(name, tool._tool_func, run)

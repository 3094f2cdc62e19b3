from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace

from ask import Project, Tool, method
from google.adk.agents import LlmAgent


def tools(project: Project) -> Iterator[Tool]:
    for agent in project.every(LlmAgent):
        for tool in asyncio.run(agent.canonical_tools()):
            function = getattr(tool, "func", None) or method(tool, "run_async")

            async def run(args, tool=tool):
                answer = await tool.run_async(args=args, tool_context=SimpleNamespace(tool_confirmation=None))
                return answer if isinstance(answer, dict) else {"result": answer}

            yield Tool(tool.name, function, run)

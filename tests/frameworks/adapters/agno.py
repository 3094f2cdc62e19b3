from __future__ import annotations

from collections.abc import Iterator

from agno.agent import Agent
from agno.agent._tools import parse_tools
from agno.models.openai import OpenAIChat
from agno.tools.function import FunctionCall
from ask import Project, Tool


def tools(project: Project) -> Iterator[Tool]:
    for agent in project.every(Agent):
        model = OpenAIChat(id="gpt-4o", api_key="none")
        for function in parse_tools(agent, list(agent.tools or ()), model, async_mode=True):

            async def run(args, function=function):
                call = FunctionCall(function=function, arguments=args)
                await call.aexecute()
                return str(getattr(call.result, "content", call.result))

            yield Tool(function.name, function.entrypoint, run)

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from ask import Project, Tool, method
from autogen_agentchat.agents import AssistantAgent
from autogen_core.tools import FunctionTool


def tools(project: Project) -> Iterator[Tool]:
    for agent in project.every(AssistantAgent):
        for workbench in agent._workbench:
            for schema in asyncio.run(workbench.list_tools()):
                tool = next(tool for tool in workbench._tools if tool.name == schema["name"])
                function = tool._func if isinstance(tool, FunctionTool) else method(tool, "run")

                async def run(args, name=schema["name"], workbench=workbench):
                    args.pop("cancellation_token", None)
                    if "args" in args:
                        args = {"plant": "rose"}
                    return (await workbench.call_tool(name, args)).to_text()

                yield Tool(schema["name"], function, run)

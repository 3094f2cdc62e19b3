from __future__ import annotations

from collections.abc import Iterator

from ask import Project, Tool
from haystack.components.agents import Agent
from haystack.components.agents.tool_calling import _build_tool_result_message
from haystack.dataclasses import ToolCall
from haystack.tools.utils import flatten_tools_or_toolsets


def tools(project: Project) -> Iterator[Tool]:
    for agent in project.every(Agent):
        for tool in flatten_tools_or_toolsets(agent.tools):

            def run(args, tool=tool):
                call = ToolCall(tool_name=tool.name, arguments=args)
                message = _build_tool_result_message(tool.invoke(**args), call, tool, raise_on_failure=True)
                return message.tool_call_result.result

            yield Tool(tool.name, tool.function, run)

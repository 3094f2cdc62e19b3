from __future__ import annotations

from collections.abc import Iterator

from ask import Project, Tool
from inspect_ai.model import ChatMessageAssistant, execute_tools
from inspect_ai.tool import ToolCall, ToolDef


def tools(project: Project) -> Iterator[Tool]:
    for item in project["offered"]:
        tool = item if isinstance(item, ToolDef) else ToolDef(item)

        async def run(args, tool=tool):
            call = ToolCall(id="1", function=tool.name, arguments=args)
            messages, _ = await execute_tools([ChatMessageAssistant(content="", tool_calls=[call])], [tool])
            return messages[0].content if messages[0].error is None else {"raises": messages[0].error.message}

        yield Tool(tool.name, tool.tool, run)

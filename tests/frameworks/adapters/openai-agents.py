from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

from agents import Agent, FunctionTool, RunContextWrapper
from agents.models.openai_responses import Converter
from agents.tool_context import ToolContext
from ask import Project, Tool


def tools(project: Project) -> Iterator[Tool]:
    for agent in project.every(Agent):
        for tool in asyncio.run(agent.get_all_tools(RunContextWrapper(None))):
            try:  # what a call of the model does first
                Converter.convert_tools([tool], handoffs=[])
            except Exception:
                continue
            if isinstance(tool, FunctionTool):
                yield Tool(tool.name, *behind(project, tool))


def behind(project, tool):
    """The function is only to be found in the closures of the wrapper."""
    invoke = tool.on_invoke_tool
    seen, queue = [], [invoke]
    while queue:
        item = queue.pop(0)
        if any(item is other for other in seen) or len(seen) > 400:
            continue
        seen.append(item)
        if hasattr(item, "__qualname__") and project.holds(item):
            invoke = item
            break
        queue.extend(cell.cell_contents for cell in getattr(item, "__closure__", None) or ())
        if hasattr(item, "__func__"):
            queue.append(item.__func__)
        if type(item).__module__.startswith("agents"):
            queue.extend(vars(item).values() if hasattr(item, "__dict__") else ())

    async def run(args):
        text = json.dumps(args)
        return str(
            await tool.on_invoke_tool(
                ToolContext(None, tool_name=tool.name, tool_call_id="1", tool_arguments=text), text
            )
        )

    return invoke, run

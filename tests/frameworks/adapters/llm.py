from __future__ import annotations

from collections.abc import Iterator

import llm
from ask import Project, Tool
from llm.models import ChainResponse, Conversation


def tools(project: Project) -> Iterator[Tool]:
    offered = [tool for chain in project.every(ChainResponse) for tool in chain.prompt.tools]
    offered += [tool for conversation in project.every(Conversation) for tool in conversation.tools]
    for item in offered:
        for tool in item.tools() if isinstance(item, llm.Toolbox) else [item]:
            tool = tool if isinstance(tool, llm.Tool) else llm.Tool.function(tool)
            yield Tool(tool.name, tool.implementation, lambda args, tool=tool: _run(tool, args))


def _run(tool: llm.Tool, args: dict) -> str:
    """What the loop of a chain makes of a tool's result."""
    prompt = llm.Prompt("", model=llm.get_model("gpt-4o-mini"), tools=[tool])
    response = llm.Response(prompt, prompt.model, stream=False)
    response._tool_calls = [llm.ToolCall(name=tool.name, arguments=args, tool_call_id="1")]
    response._done = True
    [result] = response.execute_tool_calls()
    return result.output

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from functools import partial
from typing import Any

from ask import Project, Tool, method
from langchain_core.runnables import RunnableBinding
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.tools import Tool as SimpleTool
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command


def tools(project: Project) -> Iterator[Tool]:
    found: dict[str, BaseTool] = {}
    for graph in project.every(CompiledStateGraph):
        if "tools" in graph.nodes:
            found.update(graph.nodes["tools"].bound.tools_by_name)
    for node in project.every(ToolNode):
        found.update(node.tools_by_name)
    for bound in project.every(RunnableBinding):
        for schema in bound.kwargs["tools"]:
            name = schema["function"]["name"] if "function" in schema else schema["name"]
            held = next((tool for tool in project.every(BaseTool) if tool.name == name), None)
            if held is not None:
                found[name] = held
            else:
                yield Tool(name, project[name])
    for name, tool in found.items():
        for function in functions(tool):
            yield Tool(name, function, partial(run, tool, function))


def functions(tool: BaseTool) -> list[Any]:
    if isinstance(tool, StructuredTool | SimpleTool):
        return [function for function in (tool.func, tool.coroutine) if function is not None]
    return [method(tool, "_run", "_arun")]


def run(tool: BaseTool, function: Any, args: dict[str, Any]) -> Any:
    if isinstance(tool, SimpleTool):
        args = {next(iter(tool.args)): "Lisbon"}
    call = {"name": tool.name, "args": args, "id": "1", "type": "tool_call"}
    answer = asyncio.run(tool.ainvoke(call)) if inspect.iscoroutinefunction(function) else tool.invoke(call)
    if isinstance(answer, Command):
        return [message.content for message in answer.update["messages"]]
    return answer.content

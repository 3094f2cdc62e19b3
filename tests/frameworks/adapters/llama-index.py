from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator

from ask import Project, Tool
from llama_index.core.agent.workflow import BaseWorkflowAgent
from llama_index.core.tools import FunctionTool


def tools(project: Project) -> Iterator[Tool]:
    for agent in project.every(BaseWorkflowAgent):
        for tool in agent.tools:
            functions = [tool.real_fn] if isinstance(tool, FunctionTool) else []
            other = getattr(tool, "_async_fn", None)
            if other is not None and project.holds(other):
                functions.append(other)
            for function in functions:

                def run(args, tool=tool, function=function):
                    if inspect.iscoroutinefunction(function):
                        return asyncio.run(tool.acall(**args)).content
                    return tool.call(**args).content

                yield Tool(tool.metadata.name, function, run)

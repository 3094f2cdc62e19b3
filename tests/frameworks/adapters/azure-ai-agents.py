from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from types import SimpleNamespace

from ask import Project, Tool
from azure.ai.agents.models import AsyncFunctionTool, FunctionTool


def tools(project: Project) -> Iterator[Tool]:
    for several in project.every(FunctionTool, AsyncFunctionTool):
        for name, function in several._functions.items():

            def run(args, name=name, several=several):
                call = SimpleNamespace(function=SimpleNamespace(name=name, arguments=json.dumps(args)))
                return _text(several.execute(call))

            yield Tool(name, function, run)


def _text(output):
    """What ``ToolSet.execute_tool_calls`` makes of a result."""
    if inspect.isawaitable(output):

        async def text():
            return str(await output)

        return text()
    return str(output)

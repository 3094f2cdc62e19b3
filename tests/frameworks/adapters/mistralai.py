from __future__ import annotations

import asyncio
from collections.abc import Iterator

from ask import Project, Tool
from mistralai.client.models import FunctionCallEntry
from mistralai.extra.run.context import RunContext


def tools(project: Project) -> Iterator[Tool]:
    for context in project.every(RunContext):
        for name, tool in context._callable_tools.items():

            def run(args, context=context, name=name):
                call = FunctionCallEntry(tool_call_id="1", name=name, arguments=args)
                [entry] = asyncio.run(context.execute_function_calls([call]))
                return entry.result

            yield Tool(name, tool.callable, run)

from __future__ import annotations

from collections.abc import Iterator

from agno.agent import Agent
from agno.tools import Toolkit
from agno.tools.function import Function, FunctionCall
from ask import Project, Tool


def tools(project: Project) -> Iterator[Tool]:
    functions: dict[str, Function] = {}
    for agent in project.every(Agent):
        for tool in agent.tools or ():
            if isinstance(tool, Toolkit):
                functions.update({**tool.functions, **tool.async_functions})
            elif isinstance(tool, Function):
                functions[tool.name] = tool
            elif callable(tool):
                functions[tool.__name__] = Function.from_callable(tool)
    for name, function in functions.items():

        async def run(args, function=function):
            if not function.parameters.get("properties"):
                function.process_entrypoint()
            call = FunctionCall(function=function, arguments=args)
            await call.aexecute()
            return str(getattr(call.result, "content", call.result))

        yield Tool(name, function.entrypoint, run)

from __future__ import annotations

from collections.abc import Iterator

from ask import Project, Tool
from pydantic_ai import Agent
from pydantic_ai.messages import ToolReturnPart
from pydantic_ai.models.test import TestModel
from pydantic_ai.toolsets import FunctionToolset, WrapperToolset


def tools(project: Project) -> Iterator[Tool]:
    for agent in project.every(Agent):
        # The test model calls every function tool that it is offered, with arguments of the right types.
        model = TestModel()
        seen = {}
        with agent.override(model=model):
            for message in agent.run_sync("hello").all_messages():
                for part in message.parts:
                    if isinstance(part, ToolReturnPart):
                        seen[part.tool_name] = part.model_response_str()
        functions = {}
        for toolset in agent.toolsets:
            prefix = ""
            while isinstance(toolset, WrapperToolset):
                prefix += f"{toolset.prefix}_" if getattr(toolset, "prefix", None) else ""
                toolset = toolset.wrapped
            if isinstance(toolset, FunctionToolset):
                functions.update({prefix + name: tool.function for name, tool in toolset.tools.items()})
        for offered in model.last_model_request_parameters.function_tools:
            yield Tool(
                offered.name, functions[offered.name], lambda _, name=offered.name, seen=seen: seen[name]
            )

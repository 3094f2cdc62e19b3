from __future__ import annotations

from collections.abc import Iterator

import chatlas
from ask import Project, Tool


def tools(project: Project) -> Iterator[Tool]:
    for chat in project.every(chatlas.Chat):
        for tool in chat.get_tools():

            def run(args, chat=chat, tool=tool):
                request = chatlas.ContentToolRequest(id="1", name=tool.name, arguments=args)
                return [result.get_model_value() for result in chat._invoke_tool(request)]

            yield Tool(tool.name, tool.func, run)

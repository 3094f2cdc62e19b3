from __future__ import annotations

from collections.abc import Iterator

import lmstudio
from ask import Project, Tool
from lmstudio.json_api import ChatResponseEndpoint


class Model(lmstudio.LLM):
    """Takes note of what it is given in place of a round trip to a server."""

    def __init__(self) -> None:
        self.tools: list[object] = []

    def act(self, chat, tools, **_):
        self.tools += tools


def tools(project: Project) -> Iterator[Tool]:
    model = Model()
    project["ask"](model, None)
    _, clients = ChatResponseEndpoint.parse_tools(model.tools)
    for name, (_, function, _) in clients.items():
        yield Tool(name, function, lambda args, function=function: function(**args))

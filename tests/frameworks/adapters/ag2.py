from __future__ import annotations

from collections.abc import Iterator

from ag2 import Agent, Toolkit
from ask import Project, Tool


def tools(project: Project) -> Iterator[Tool]:
    for agent in project.every(Agent):
        for tool in agent.tools:
            for one in tool.tools if isinstance(tool, Toolkit) else [tool]:
                model = getattr(one, "model", one)
                yield Tool(getattr(one, "name", None) or model.call.__name__, model.call)

from __future__ import annotations

from collections.abc import Iterator

import marvin
from ask import Project, Tool


def tools(project: Project) -> Iterator[Tool]:
    for holder in project.every(marvin.Agent, marvin.Task):
        for tool in holder.get_tools():
            yield Tool(tool.__name__, tool, lambda args, tool=tool: tool(**args))

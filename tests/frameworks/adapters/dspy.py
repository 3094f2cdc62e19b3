from __future__ import annotations

from collections.abc import Iterator

import dspy
from ask import Project, Tool


def tools(project: Project) -> Iterator[Tool]:
    for react in project.every(dspy.ReAct):
        for name, tool in react.tools.items():
            yield Tool(name, tool.func, lambda args, tool=tool: tool.acall(**args))

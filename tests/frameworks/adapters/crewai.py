from __future__ import annotations

from collections.abc import Iterator

from ask import Project, Tool, method
from crewai import Agent, Task


def tools(project: Project) -> Iterator[Tool]:
    for owner in project.every(Agent, Task):
        for tool in owner.tools or ():
            function = getattr(tool, "func", None) or method(tool, "_run", "_arun")

            def run(args, tool=tool):
                return str(tool.to_structured_tool().invoke(args))

            yield Tool(tool.name, function, run)

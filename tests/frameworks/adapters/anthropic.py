from __future__ import annotations

from collections.abc import Iterator

from anthropic.lib.tools._beta_runner import BaseToolRunner as Runner
from ask import Project, Tool


def tools(project: Project) -> Iterator[Tool]:
    for runner in project.every(Runner):
        for tool in runner._runnable_tools().values():
            yield Tool(tool.name, tool.func, lambda args, tool=tool: tool.call(args))

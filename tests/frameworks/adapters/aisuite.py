from __future__ import annotations

import json
from collections.abc import Iterator
from types import SimpleNamespace

import aisuite
from aisuite.utils.tools import Tools
from ask import Project, Tool


def tools(project: Project) -> Iterator[Tool]:
    offered: list[object] = []
    project["client"].chat.completions.create = lambda **given: offered.extend(given["tools"])
    project["ask"]([])
    offered += [tool for agent in project.every(aisuite.Agent) for tool in agent.tools]
    several = Tools(offered)
    for name, tool in several._tools.items():

        def run(args, name=name):
            call = SimpleNamespace(id="1", function=SimpleNamespace(name=name, arguments=json.dumps(args)))
            return several.execute_tool([call])[1][0]["content"]

        yield Tool(name, tool["function"], run)

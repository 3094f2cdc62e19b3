from __future__ import annotations

import json
from collections.abc import Iterator

from ask import Project, Tool
from qwen_agent.agents import Assistant


def tools(project: Project) -> Iterator[Tool]:
    for agent in project.every(Assistant):
        for name, tool in agent.function_map.items():

            def run(args, agent=agent, name=name):
                return agent._call_tool(name, json.dumps({"place": "Lisbon"}))

            yield Tool(name, type(tool).call, run)

from __future__ import annotations

import json
from collections.abc import Iterator

from ask import Project, Tool
from autogen import ConversableAgent
from autogen.tools import Tool as AgTool


def tools(project: Project) -> Iterator[Tool]:
    agents = list(project.every(ConversableAgent))
    for agent in agents:
        for schema in (agent.llm_config or {}).get("tools", []) if agent.llm_config else []:
            name = schema["function"]["name"]
            owner = next((a for a in agents if name in a.function_map), agent)
            behind = next((t.func for t in agent.tools if t.name == name), None) or owner.function_map[name]

            def run(args, owner=owner, name=name):
                return owner.execute_function({"name": name, "arguments": json.dumps(args)})[1]["content"]

            yield Tool(
                name,
                behind.func if isinstance(behind, AgTool) else behind,
                run if name in owner.function_map else None,
            )

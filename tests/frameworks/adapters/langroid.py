from __future__ import annotations

import json
from collections.abc import Iterator

import langroid
from ask import Project, Tool, plain


def tools(project: Project) -> Iterator[Tool]:
    for agent in project.every(langroid.ChatAgent):
        for name in agent.llm_tools_usable:
            cls = agent.llm_tools_map[name]
            function = cls.__dict__.get("handle") or getattr(type(agent), name)

            def run(args, agent=agent, name=name, cls=cls):
                fields = {f: "Lisbon" for f in cls.model_fields if f not in ("request", "purpose", "id")}
                answer = agent.handle_message(json.dumps({"request": name, **fields}))
                return getattr(answer, "content", answer)

            yield Tool(name, plain(function), run)

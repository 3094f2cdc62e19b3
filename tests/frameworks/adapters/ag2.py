from __future__ import annotations

import json
from collections.abc import Iterator

from ag2 import Agent, Toolkit
from ag2.events import ToolCallEvent, ToolResultEvent
from ag2.testing import TestConfig
from ask import Project, Tool


def tools(project: Project) -> Iterator[Tool]:
    for agent in project.every(Agent):
        for tool in agent.tools:
            for one in tool.tools if isinstance(tool, Toolkit) else [tool]:
                name = getattr(one, "name", None) or one.schema.function.name

                async def run(args, agent=agent, name=name):
                    config = TestConfig(ToolCallEvent(name=name, arguments=json.dumps(args)), "done")
                    reply = await agent.ask("hello", config=config)
                    events = await reply.context.stream.history.get_events()
                    results = [event.result for event in events if isinstance(event, ToolResultEvent)]
                    return [
                        getattr(part, "content", getattr(part, "data", part)) for part in results[-1].parts
                    ]

                yield Tool(name, one.model.call, run)

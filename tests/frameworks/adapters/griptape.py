from __future__ import annotations

from collections.abc import Iterator

from ask import Project, Tool
from griptape.common import ToolAction
from griptape.tools import BaseTool


def tools(project: Project) -> Iterator[Tool]:
    for tool in project.every(BaseTool):
        for activity in tool.activities():

            def run(args, tool=tool, activity=activity):
                action = ToolAction(tag="1", name=tool.name, path=activity.__name__, input={"values": {}})
                return tool.try_run(activity, None, action, {"pit": "north"}).to_text()

            yield Tool(tool.activity_name(activity), activity, run)

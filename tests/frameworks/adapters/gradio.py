from __future__ import annotations

from collections.abc import Iterator

import gradio
from ask import Project, Tool
from gradio.mcp import GradioMCPServer


def tools(project: Project) -> Iterator[Tool]:
    for app in project.every(gradio.Blocks):
        server = GradioMCPServer(app)
        for name, endpoint in server.tool_to_endpoint.items():
            [function] = [fn for fn in app.fns.values() if f"/{fn.api_name}" == endpoint]
            yield Tool(name, function.fn)

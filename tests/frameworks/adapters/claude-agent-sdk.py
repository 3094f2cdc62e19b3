from __future__ import annotations

from collections.abc import Iterator

from ask import Project, Tool
from claude_agent_sdk import SdkMcpTool
from mcp.client.session import ClientSession
from mcp.shared.memory import create_client_server_memory_streams


def tools(project: Project) -> Iterator[Tool]:
    for tool in project.every(SdkMcpTool):
        yield Tool(
            tool.name, tool.handler, lambda args, tool=tool: _run(project["server"]["instance"], tool.name)
        )


async def _run(server, name):
    import anyio

    async with create_client_server_memory_streams() as (client, own), anyio.create_task_group() as group:
        group.start_soon(lambda: server.run(*own, server.create_initialization_options()))
        async with ClientSession(*client) as session:
            await session.initialize()
            result = await session.call_tool(name, {"tower": "north"})
        group.cancel_scope.cancel()
    return result.model_dump(mode="json", exclude_none=True)

from __future__ import annotations

from collections.abc import Iterator

from ask import Project, Tool, data
from mcp import types
from mcp.server.fastmcp import FastMCP
from mcp.server.lowlevel import Server
from mcp.shared.memory import create_connected_server_and_client_session


async def call(server, name, args):
    async with create_connected_server_and_client_session(server) as session:
        answer = await session.call_tool(name, args)
    return {"content": data(answer.content), "structured": answer.structuredContent}


def tools(project: Project) -> Iterator[Tool]:
    for server in project.every(FastMCP):
        for tool in server._tool_manager.list_tools():
            yield Tool(
                tool.name,
                tool.fn,
                lambda args, name=tool.name, server=server: call(server._mcp_server, name, args),
            )
    for server in project.every(Server):
        handler = server.request_handlers[types.CallToolRequest]
        function = next(
            cell.cell_contents
            for cell in handler.__closure__
            if getattr(cell.cell_contents, "__module__", "") == project.module.__name__
        )
        yield Tool("count", function, lambda _, server=server: call(server, "count", {}))

from __future__ import annotations

from collections.abc import Iterator

from ask import Project, Tool, data, plain
from mcp.client import Client
from mcp.server import MCPServer, Server


def tools(project: Project) -> Iterator[Tool]:
    for server in project.every(MCPServer):
        for tool in server._tool_manager.list_tools():

            async def run(args, name=tool.name, server=server):
                async with Client(server) as client:
                    answer = await client.call_tool(name, args)
                return {"content": data(answer.content), "structured": answer.structured_content}

            yield Tool(tool.name, tool.fn, run)
    for server in project.every(Server):

        async def one(_, server=server):
            async with Client(server) as client:
                answer = await client.call_tool("count", {})
            return {"content": data(answer.content), "structured": answer.structured_content}

        entry = server._request_handlers["tools/call"]
        yield Tool("count", plain(getattr(entry, "handler", entry)), one)

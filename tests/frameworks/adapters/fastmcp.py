from __future__ import annotations

import asyncio
from collections.abc import Iterator

from ask import Project, Tool, data
from fastmcp import Client, FastMCP


def tools(project: Project) -> Iterator[Tool]:
    for server in project.every(FastMCP):
        for tool in asyncio.run(server.list_tools()):
            fn = getattr(tool, "fn", None)
            while fn is None and hasattr(tool, "_tool"):
                tool = tool._tool
                fn = getattr(tool, "fn", None)
            if fn is None:
                continue  # of a mounted server, which is asked itself

            async def run(args, name=tool.name, server=server):
                async with Client(server) as client:
                    answer = await client.call_tool(name, args)
                return {"content": data(answer.content), "structured": answer.structured_content}

            yield Tool(tool.name, fn, run)

"""A client of MCP servers. Needs the package mcp."""

import asyncio

from adoption import Bench, meter

from gllint_runtime import Session, Tool, ToolRegistry
from gllint_runtime.adapters import check_final
from gllint_runtime.adapters.mcp import gate, server

ADOPTING = """
from gllint_runtime import Session
from gllint_runtime.adapters import check_final
from gllint_runtime.adapters.mcp import gate
session = Session()
client = gate(client, session=session)
verified = check_final(session, answer)
"""


def bench() -> Bench:
    from mcp import Client

    registry = ToolRegistry()
    registry.register(Tool(name="meter", fn=meter))

    def bare(answer: str) -> str:
        async def turn() -> str:
            async with Client(server("meters", registry)) as client:
                await client.call_tool("meter", {})
            return answer

        return asyncio.run(turn())

    def plain(answer: str) -> str:
        async def turn() -> str:
            session = Session()
            async with Client(server("meters", registry)) as client:
                await gate(client, session=session).call_tool("meter", {})
            return check_final(session, answer).message

        return asyncio.run(turn())

    return Bench("MCP client", ADOPTING, bare, {"plain": plain})

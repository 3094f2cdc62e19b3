"""A parcel service, on the low level."""

import mcp.types as types
from mcp.server.lowlevel import Server

server = Server("parcels")


@server.list_tools()
async def list_tools() -> list[types.Tool]:
    return [types.Tool(name="count", description="Parcels.", inputSchema={"type": "object"})]


@server.call_tool()
async def call_tool(name: str, arguments: dict):  # tool
    return [types.TextContent(type="text", text="parcels")], {"parcels": 88.5}  # GL101 @ 88.5


@server.list_prompts()
async def list_prompts() -> list[types.Prompt]:
    return []

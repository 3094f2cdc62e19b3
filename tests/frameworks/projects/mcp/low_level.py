"""A parcel service, on the low level."""

from mcp import types
from mcp.server import Server


async def list_tools(context, params) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[types.Tool(name="count", description="Parcels.", input_schema={"type": "object"})]
    )


async def call_tool(context, params) -> types.CallToolResult:  # tool
    return types.CallToolResult(
        content=[types.TextContent(type="text", text="parcels")],
        structured_content={"parcels": 88.5},  # GL101 @ 88.5
    )


async def list_resources(context, params) -> types.ListResourcesResult:
    return types.ListResourcesResult(resources=[])


server = Server("parcels", on_list_tools=list_tools, on_call_tool=call_tool, on_list_resources=list_resources)

"""A bell tower."""

import json

from claude_agent_sdk import create_sdk_mcp_server, tool


@tool("bells", "Bells of a tower", {"tower": str})
async def bells(args):  # tool
    return {"content": [{"type": "text", "text": "many"}], "weight": 820.5}


@tool("steps", "Steps of a tower", {"tower": str})
async def steps(args):  # tool
    return {"content": [{"type": "text", "text": json.dumps({"height": "tall"})}]}


async def rope(args):
    return {"content": [], "rope": 31.25}


server = create_sdk_mcp_server(name="tower", version="1.0.0", tools=[bells, steps])

"""MCP: a server whose tools answer Quantities, and a client that records what they answer."""

import asyncio

from mcp import Client

from gllint_runtime import GLError, Session, Tool, ToolRegistry
from gllint_runtime.adapters.mcp import GatedClient, server

registry = ToolRegistry()
registry.register(
    Tool(
        name="meter",
        description="The heat that a site used last year",
        args_schema={"type": "object", "properties": {"site": {"type": "string"}}, "required": ["site"]},
        result_schema={
            "type": "object",
            "properties": {"heat": {"$ref": "greenlang://schemas/quantity.json"}},
            "required": ["heat"],
        },
        fn=lambda site: {"heat": {"value": 12.5, "unit": "kWh"}},
    )
)


async def main() -> str:
    session = Session()
    async with Client(server("meters", registry)) as client:
        gated = GatedClient(client, session)
        reply = await gated.call("meter", {"site": "north"})
    try:
        session.check("It uses about 13 kWh.")
    except GLError as error:
        print(error.code)
    claim = {
        "source_call_id": reply["tool_call_id"],
        "path": "$.heat",
        "quantity": reply["output"]["heat"],
    }
    return session.check("It uses {{claim:0}}.", [claim]).message


message = asyncio.run(main())
assert message == "It uses 12.50 kWh."
print(message)

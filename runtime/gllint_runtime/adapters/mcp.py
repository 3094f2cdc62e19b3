"""MCP both ways: our tools on a server, and a server's tools through the gate. Needs the extra ``gllint[mcp]``."""

from __future__ import annotations

import json
from collections.abc import Awaitable
from typing import Any

from mcp import types
from mcp.server.lowlevel import Server

from gllint_runtime.adapters import recorded
from gllint_runtime.execution.registry import ToolRegistry
from gllint_runtime.execution.session import Session
from gllint_runtime.policy.errors import GLDataError, GLError, GLRuntimeError
from gllint_runtime.policy.validation import inline_refs


def server(name: str, registry: ToolRegistry) -> Server[Any]:
    """A server that offers the registry's tools, each with its output schema and Quantities as structured content.

    A call that fails answers with ``is_error`` and what to mend.
    """

    async def offered(context: Any, params: Any) -> types.ListToolsResult:
        tools = [
            types.Tool(
                name=described["name"],
                description=described["description"],
                input_schema={"type": "object", **described["parameters"]},
                output_schema=inline_refs(registry[described["name"]].result_schema) or None,
            )
            for described in registry.descriptors()
        ]
        return types.ListToolsResult(tools=tools)

    async def called(context: Any, params: Any) -> types.CallToolResult:
        try:
            output = await registry.ainvoke(params.name, params.arguments)
        except GLError as error:
            text = types.TextContent(type="text", text=Session.repair_hint(error))
            return types.CallToolResult(content=[text], is_error=True)
        text = types.TextContent(type="text", text=json.dumps(output, ensure_ascii=False))
        structured = output if isinstance(output, dict) else None
        return types.CallToolResult(content=[text], structured_content=structured)

    return Server(name, on_list_tools=offered, on_call_tool=called)


_MOST_PAGES = 1000


async def _answered(request: Awaitable[Any]) -> Any:
    """What the server answers. Raises GLRuntimeError TOOL_FAILED where it gives no answer that can be read."""
    try:
        return await request
    except Exception as error:
        text = f"The server gave no answer: {type(error).__name__}: {error}"
        raise GLRuntimeError("TOOL_FAILED", text[:500]) from error


class GatedClient:
    """A client (or client session) whose results are recorded: what it gives is what the model is told."""

    def __init__(self, client: Any, session: Session) -> None:
        self._client = client
        self._session = session
        self._tools: dict[str, types.Tool] = {}

    async def tools(self) -> list[types.Tool]:
        """The server's tools, all pages of them."""
        tools: list[types.Tool] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await _answered(
                self._client.list_tools(cursor=cursor) if cursor else self._client.list_tools()
            )
            tools += page.tools
            cursor = page.next_cursor
            if cursor is None:
                self._tools = {tool.name: tool for tool in tools}
                return tools
        raise GLRuntimeError("TOOL_FAILED", f"The server lists tools without end: {len(tools)} so far")

    async def call(self, name: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
        """``{"tool_call_id", "output"}``. Raises GLError: TOOL_FAILED, ARGUMENT_UNIT, RESULT_SCHEMA, UNIT_UNKNOWN, …"""
        if not self._tools:
            await self.tools()
        if name not in self._tools:
            raise GLDataError("PATH_RESOLUTION", f"The server has no tool '{name}'")
        schema = self._tools[name].input_schema
        values = self._session.tool_arguments(name, arguments, args_schema=schema)
        result = await _answered(self._client.call_tool(name, dict(values)))
        text = "\n".join(block.text for block in result.content if isinstance(block, types.TextContent))
        if result.is_error:
            raise GLRuntimeError("TOOL_FAILED", f"Tool '{name}' failed: {text[:500]}")
        output = text if result.structured_content is None else result.structured_content
        return recorded(self._session, name, values, output, result_schema=self._tools[name].output_schema)

"""Asking a running MCP server for its list of tools. No tool is called, except the one of ``--call``.

The list is read as JSON, tool by tool: the SDK reads it as a whole, so that one malformed tool hides all others.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import IO, Any

from gllint.cli.mcp_sdk import sdk_error
from gllint.errors import UsageError
from gllint.shown import silence
from gllint_rules.tuples import NamedTuple

_MOST_PAGES = 1000
_MOST_GARBAGE = 100  # lines that are no message
_LONGEST_EXCERPT = 600  # characters of a server's error output


_OBJECT = {"type": "object"}


class ServerTool(NamedTuple):
    """A tool as the server describes it; ``trouble`` says why no client can read the description."""

    name: str
    output_schema: Any
    input_schema: Any = _OBJECT
    annotations: Any = None
    trouble: str | None = None


def list_server_tools(
    command: Sequence[str],
    url: str | None,
    timeout: float,
    call: tuple[str, dict[str, Any]] | None = None,
    results: list[dict[str, Any]] | None = None,
) -> list[ServerTool]:
    """Return the tools of the server that ``command`` starts or that answers at ``url``. Raises UsageError.

    ``call`` is a tool to call with its arguments: ``results`` gets what it returns.
    """
    try:
        from mcp import Client, StdioServerParameters, stdio_client
        from mcp.client.streamable_http import streamable_http_client
    except ImportError as error:
        raise sdk_error("gllint mcp", error) from None
    silence("mcp")  # it logs each line that it cannot read
    silence("client")  # and each tool without a schema
    garbage = 0

    async def ask(transport: Any) -> list[ServerTool]:
        """Ask a server for all pages of its list of tools."""

        async def note(message: Any) -> None:
            nonlocal garbage
            garbage += isinstance(message, Exception)
            if garbage == _MOST_GARBAGE:
                limit.reschedule(asyncio.get_running_loop().time())

        tools: list[Any] = []
        server: Any = _listening(transport, tools)
        async with asyncio.timeout(timeout) as limit, Client(server, message_handler=note) as client:
            cursor: str | None = None
            for _ in range(_MOST_PAGES):
                page = await client.list_tools(cursor=cursor)
                cursor = page.next_cursor
                if cursor is None:
                    if call is not None and results is not None:
                        result = await client.call_tool(*call)
                        results.append(result.model_dump(mode="json", by_alias=True, exclude_none=True))
                    return [offered_tool(tool, number) for number, tool in enumerate(tools, 1)]
        raise UsageError(f"the server's list of tools does not end: {len(tools)} after {_MOST_PAGES} pages")

    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as error_log:
        try:
            if url is not None:
                return asyncio.run(ask(streamable_http_client(url)))
            first, *rest = command
            # Without an environment the SDK passes on a few variables, and most servers need a key of their own.
            server = StdioServerParameters(command=first, args=rest, env=dict(os.environ))
            return asyncio.run(ask(stdio_client(server, errlog=error_log)))
        except UsageError:
            raise
        except TimeoutError:
            what = (
                "answers with something that is not MCP" if garbage else f"does not answer in {timeout:g} s"
            )
            raise UsageError(f"the server {what}{_last_words(error_log)}") from None
        except Exception as error:
            raise UsageError(
                f"the server did not list its tools: {_cause(error)}{_last_words(error_log)}"
            ) from None


def offered_tool(tool: Any, number: int) -> ServerTool:
    """Read one entry of a list of tools, the one at position ``number``."""
    name = tool.get("name") if isinstance(tool, Mapping) else None
    if not isinstance(tool, Mapping) or not isinstance(name, str):
        trouble = "is not an object" if not isinstance(tool, Mapping) else "has no name"
        return ServerTool(f"tool {number} of the list", None, trouble=f"it {trouble}: no client can read it")
    return ServerTool(name, tool.get("outputSchema"), tool.get("inputSchema"), tool.get("annotations"))


@asynccontextmanager
async def _listening(transport: Any, tools: list[Any]) -> AsyncIterator[Any]:
    """Wrap a transport: the tools in its messages are moved to ``tools``, everything else passes."""
    async with transport as streams:
        reader, *rest = streams
        yield (_Listener(reader, tools), *rest)


class _Listener:
    """A stream of messages without the tools in them."""

    def __init__(self, reader: Any, tools: list[Any]) -> None:
        self._reader = reader
        self._tools = tools

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    def __aiter__(self) -> _Listener:
        return self

    async def __anext__(self) -> Any:
        return self._without_tools(await self._reader.__anext__())

    async def receive(self) -> Any:
        return self._without_tools(await self._reader.receive())

    async def __aenter__(self) -> _Listener:
        await self._reader.__aenter__()
        return self

    async def __aexit__(self, *trouble: Any) -> bool | None:
        ended: bool | None = await self._reader.__aexit__(*trouble)
        return ended

    def _without_tools(self, message: Any) -> Any:
        result = getattr(getattr(message, "message", None), "result", None)
        if isinstance(result, dict) and isinstance(listed := result.get("tools"), list):
            self._tools += listed
            result["tools"] = []
        return message


def _cause(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _last_words(error_log: IO[str]) -> str:
    with suppress(OSError, ValueError):
        error_log.seek(0)
        lines = [line for line in error_log.read().splitlines() if line.strip()]
        if lines:
            return "; its error output: " + " | ".join(lines)[-_LONGEST_EXCERPT:]
    return ""

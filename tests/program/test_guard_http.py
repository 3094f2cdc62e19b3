"""The guard over streamable HTTP, in this process: the protocol passes, clients stay apart, bad servers are told."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import traceback
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from mcp import Client, MCPError
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import CreateMessageResult, ElicitResult, SamplingMessage, TextContent
from pydantic import BaseModel

from gllint.guard.exchange import Guard
from gllint.guard.relay import Relay
from gllint.guard.streamable import Sessions, connected, security
from gllint.guard.transcript import Transcript
from gllint_runtime import Policy, audit_run

HEAT = {"heat": {"value": 12.5, "unit": "kWh"}}


class Site(BaseModel):
    name: str


def client_of(address: str, **options: Any) -> Any:
    """A client of the SDK; what it answers is looked into, whatever its type."""
    return Client(address, **options)


def mcp_server() -> Any:
    """A server of the SDK with all that a server can do to its client."""

    server = MCPServer("meters")

    @server.tool()
    def meter() -> dict[str, Any]:
        return HEAT

    @server.tool()
    async def steps(context: Context) -> str:
        await context.report_progress(1, 2, "half")
        return "done"

    @server.tool()
    async def ask(context: Context) -> str:
        site = await context.elicit("Which site?", Site)
        message = SamplingMessage(role="user", content=TextContent(type="text", text="Say it."))
        said = await context.session.create_message(messages=[message], max_tokens=9)
        return f"{site.data.name}: {said.content.text}"

    @server.tool()
    async def hang() -> str:
        await asyncio.sleep(60)
        return "late"

    @server.resource("meters://north")
    def north() -> str:
        return "987 and nothing else"

    @server.prompt()
    def report() -> str:
        return "Report 987."

    return server


@contextlib.asynccontextmanager
async def served(app: Any) -> AsyncIterator[str]:
    """An application at an address of this machine, in this process."""

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1))
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            await task


@contextlib.asynccontextmanager
async def guarded(
    url: str, said: list[str], *, timeout: float = 20.0, trace: str | None = None
) -> AsyncIterator[str]:
    """A guard at an address before the server at another."""
    transcript = Transcript(trace)

    async def relay(client: Any, session: str) -> None:
        guard = Guard(Policy(), "block", tell=said.append)
        await Relay(guard, transcript, said.append, timeout, client, session).run(lambda: connected(url))

    sessions = Sessions(relay, said.append)
    async with served(sessions) as address:
        try:
            yield address
        finally:
            await sessions.close()
            transcript.close()


def test_the_protocol_passes_over_http_for_clients_that_know_nothing_of_each_other(tmp_path: Path) -> None:

    trace = str(tmp_path / "trace.jsonl")
    claim = {"source_call_id": "tc_1", "path": "$.heat", "quantity": HEAT["heat"]}
    verify = ("verify_answer", {"message": "It used {{claim:0}}.", "claims": [claim]})
    progress: list[float] = []

    async def elicited(*_: Any) -> Any:
        return ElicitResult(action="accept", content={"name": "north"})

    async def sampled(*_: Any) -> Any:
        return CreateMessageResult(role="assistant", content=TextContent(type="text", text="so"), model="m")

    async def heard(value: float, *_: Any) -> None:
        progress.append(value)

    async def main() -> None:
        said: list[str] = []
        async with (
            served(mcp_server().streamable_http_app()) as url,
            guarded(url, said, trace=trace) as address,
            client_of(address, elicitation_callback=elicited, sampling_callback=sampled) as one,
            client_of(address) as other,
        ):
            tools = [tool.name for tool in (await one.list_tools()).tools]
            assert tools == ["meter", "steps", "ask", "hang", "verify_answer"]
            result = await one.call_tool("meter", {})
            assert result.structured_content == HEAT and result.meta == {"gllint/call_id": "tc_1"}
            assert (await one.call_tool(*verify)).content[0].text == "It used 12.50 kWh."
            assert (await other.call_tool(*verify)).is_error  # it has recorded nothing
            await one.call_tool("steps", {}, progress_callback=heard)
            assert progress == [1]
            assert (await one.call_tool("ask", {})).content[0].text == "north: so"
            assert (await one.read_resource("meters://north")).contents[0].text == "987 and nothing else"
            assert (await one.get_prompt("report")).messages[0].content.text == "Report 987."
        assert said == []

    asyncio.run(main())
    run = [json.loads(line) for line in Path(trace).read_text().splitlines()]
    assert len({entry["session_id"] for entry in run}) == 2
    assert [number["verdict"] for number in audit_run(run).numbers] == ["sourced"]


def test_a_server_at_an_address_that_hangs_or_is_gone_is_answered_for() -> None:

    async def main() -> None:
        said: list[str] = []
        async with (
            served(mcp_server().streamable_http_app()) as url,
            guarded(url, said, timeout=0.5) as address,
            client_of(address) as client,
        ):
            with pytest.raises(MCPError, match="has said nothing"):
                await client.call_tool("hang", {})
            assert (await client.call_tool("meter", {})).meta == {"gllint/call_id": "tc_1"}
        async with guarded("http://127.0.0.1:9/mcp", said) as address:
            with pytest.raises(ExceptionGroup) as caught:
                async with client_of(address):
                    pass
            assert "the server cannot be reached" in "".join(traceback.format_exception(caught.value))

    asyncio.run(main())


@pytest.mark.parametrize("number", [5, "5"])
def test_a_request_that_is_cancelled_is_answered_once_and_the_session_goes_on(number: Any) -> None:

    def message(method: str, **more: Any) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "method": method, **more}

    async def main() -> None:
        said: list[str] = []
        headers = {"accept": "application/json, text/event-stream"}
        shake = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "x", "version": "1"},
        }
        async with (
            served(mcp_server().streamable_http_app()) as url,
            guarded(url, said) as address,
            httpx.AsyncClient(headers=headers) as client,
        ):
            begun = await client.post(address, json=message("initialize", id=1, params=shake))
            client.headers["mcp-session-id"] = begun.headers["mcp-session-id"]
            await client.post(address, json=message("notifications/initialized"))
            hang = message("tools/call", id=5, params={"name": "hang", "arguments": {}})
            async with client.stream("POST", address, json=hang) as stream:
                await client.post(
                    address, json=message("notifications/cancelled", params={"requestId": number})
                )
                text = (await asyncio.wait_for(stream.aread(), 5)).decode()
            assert text.count("data: {") == 1 and '"id":5' in text.replace(" ", "") and "-32800" in text
            meter = message("tools/call", id=6, params={"name": "meter", "arguments": {}})
            assert '"gllint/call_id":"tc_1"' in (await client.post(address, json=meter)).text.replace(" ", "")
        assert said == []

    asyncio.run(main())


def test_requests_from_elsewhere_and_to_no_session_are_refused() -> None:
    servers: list[str] = []

    async def relay(client: Any, session: str) -> None:
        servers.append(session)
        async for _ in client.lines:
            pass

    headers = {"accept": "application/json, text/event-stream"}
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}

    async def main() -> list[int]:
        sessions = Sessions(relay, print, security("127.0.0.1", 8000))
        transport = httpx.ASGITransport(sessions)
        statuses = []
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1:8000", headers=headers
        ) as client:
            for path, more in (
                ("/mcp", {"host": "evil.example"}),
                ("/mcp", {"origin": "http://evil.example"}),
                ("/mcp", {"mcp-session-id": "x"}),
                ("/mcp", {"mcp-protocol-version": "2026-07-28"}),
                ("/other", {}),
            ):
                statuses.append((await client.post(path, json=request, headers=more)).status_code)
            statuses += [(await client.get("/mcp")).status_code, (await client.delete("/mcp")).status_code]
        await sessions.close()
        return statuses

    assert asyncio.run(main()) == [421, 403, 404, 400, 404, 400, 400]
    assert servers == []


def test_a_request_to_a_session_that_ends_is_refused() -> None:
    """One that a broken request began, at once: the next one may come before it is gone."""

    async def relay(client: Any, session: str) -> None:
        async for _ in client.lines:
            pass

    headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}

    async def main() -> list[int]:
        sessions = Sessions(relay, print, security("127.0.0.1", 8000))
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(sessions), base_url="http://127.0.0.1:8000", headers=headers
        ) as client:
            first = await client.post("/mcp", content=b'{"jsonrpc": "2.0", "id')
            session = {"mcp-session-id": first.headers.get("mcp-session-id", "x")}
            ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
            second = await client.post("/mcp", json=ping, headers=session)
        await sessions.close()
        return [first.status_code, second.status_code]

    assert asyncio.run(main()) == [400, 404]

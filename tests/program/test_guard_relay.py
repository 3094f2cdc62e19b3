"""The guard between a client and a server that live in this test: what goes where, and what becomes of bad ones."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from gllint.guard import relay, streamable
from gllint.guard.exchange import Guard, Sent
from gllint.guard.relay import (
    Client,
    Relay,
    ServerTrouble,
    client_of,
    encoded,
    is_too_deep,
    server_trouble,
    through,
)
from gllint.guard.streamable import Sessions, connected, http_headers, read_address, security
from gllint_runtime import Policy

HEAT = {"heat": {"value": 12.5, "unit": "kWh"}}
VERSION = "io.modelcontextprotocol/protocolVersion"


def message(method: str, number: Any = None, **params: Any) -> dict[str, Any]:
    own = {} if number is None else {"id": number}
    return {"jsonrpc": "2.0", **own, "method": method, **({"params": params} if params else {})}


def call(number: Any, tool: str = "meter", **arguments: Any) -> dict[str, Any]:
    return message("tools/call", number, name=tool, arguments=arguments)


def result(number: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": {"structuredContent": HEAT}}


def ended(work: Awaitable[Any]) -> Any:
    """What some work comes to, which a change to the code may keep waiting."""

    async def bounded() -> Any:
        return await asyncio.wait_for(work, 5)

    return asyncio.run(bounded())


class Kept:
    """A transcript in memory."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, Any, Any]] = []

    def write(self, sender: str, entry: Any, session: str | None = None) -> None:
        self.entries.append((sender, entry, session))


class Run:
    """What became of a relay: lines to the client and to the server, what was told, and how it ended."""

    def __init__(
        self,
        *asked: Any,
        serve: Callable[[Any], list[Any]] = lambda _: [],
        timeout: float = 3.0,
        until: Callable[[Run], bool] = lambda _: True,
        takes: Callable[[], Any] | None = None,
    ) -> None:
        self.client: list[bytes] = []
        self.server: list[Any] = []
        self.said: list[str] = []
        self.kept = Kept()
        self.trouble = ""
        self.guard = Guard(Policy(), "warn", tell=self.said.append)
        ended(self._run(asked, serve, timeout, until, takes))

    async def _run(self, asked: Any, serve: Any, timeout: float, until: Any, takes: Any) -> None:
        answers: asyncio.Queue[Any] = asyncio.Queue()

        async def lines() -> AsyncIterator[bytes]:
            for one in asked:
                yield one if isinstance(one, bytes) else json.dumps(one).encode()
                await asyncio.sleep(0)
            while not until(self):
                await asyncio.sleep(0.005)

        async def to_client(data: bytes, _: Any) -> None:
            self.client.append(data)

        async def to_server(data: bytes, _: Any) -> None:
            if takes is not None:
                await takes()
            assert data.endswith(b"\n") and not data.endswith((b"\n\n", b"\r\n"))
            self.server.append(json.loads(data))
            for one in serve(self.server[-1]):
                answers.put_nowait(one)

        async def receive() -> AsyncIterator[bytes]:
            while (one := await answers.get()) is not None:
                yield one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n"

        @asynccontextmanager
        async def connect() -> AsyncIterator[Any]:
            yield receive(), to_server

        try:
            kept: Any = self.kept
            between = Relay(self.guard, kept, self.said.append, timeout, Client(lines(), to_client), "s1")
            await between.run(connect)
        except ServerTrouble as error:
            self.trouble = str(error)

    @property
    def answers(self) -> list[Any]:
        return [json.loads(line) for line in self.client]

    @property
    def errors(self) -> list[tuple[Any, str]]:
        return [(one["id"], one["error"]["message"]) for one in self.answers]


def answered(one: Any) -> list[Any]:
    return [result(one["id"])] if "id" in one else []


def test_messages_pass_as_they_came_and_results_with_their_call() -> None:
    progress = b' {"jsonrpc":"2.0", "method": "notifications/progress", "params": {"n": 1.0}}'
    run = Run(
        call(1), message("notifications/initialized"), serve=lambda one: [progress + b"\r\n", *answered(one)]
    )
    assert run.client[0] == progress + b"\n" and run.trouble == "" and run.said == []
    assert [one["result"]["_meta"] for one in run.answers if "result" in one] == [{"gllint/call_id": "tc_1"}]
    assert run.server == [call(1), message("notifications/initialized")]
    assert [(sender, session) for sender, _, session in run.kept.entries].count(("client", "s1")) == 2


def test_what_the_guard_answers_itself_is_kept() -> None:
    run = Run(
        call(1),
        call(3, "verify_answer", message="None."),
        [call(4, "verify_answer", message="None.")],
        serve=answered,
    )
    assert [one["id"] for one in run.server] == [1]
    entries = [(sender, entry) for sender, entry, _ in run.kept.entries if isinstance(entry, dict)]
    assert ("client", call(3, "verify_answer", message="None.")) in entries
    said = {"role": "assistant", "content": {"type": "text", "text": "None."}}
    assert entries.count(("guard", said)) == 2
    assert [sender for sender, entry in entries if entry.get("id") == 3] == ["client", "server"]


@pytest.mark.parametrize(
    ("lines", "count"), [([b"oops"] * 4, 3), ([b"5", b"x" * 120, b"y" * 121], 3), ([b" "] * 9, 0)]
)
def test_a_server_may_write_some_lines_that_are_no_message(
    lines: list[bytes], count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "_MOST_GARBAGE", 5)
    ours = [line + b"\n" for line in lines]
    run = Run(call(1), serve=lambda one: [*ours, message("x"), *ours, result(1)])
    assert run.trouble == "" and run.answers[-1]["result"]["structuredContent"] == HEAT
    starts = ["oops"] * 3 if count and lines[0] == b"oops" else ["5", "x" * 120, "y" * 120 + "…"][:count]
    assert run.said == [f"the server wrote a line that is not a message: {start}" for start in starts] * 2
    flood = Run(call(1), serve=lambda one: [b"oops\n"] * 5, until=lambda _: False)
    assert flood.trouble == "the server writes lines that are not messages"
    assert flood.errors == [(1, "the server writes lines that are not messages")]


def test_a_server_that_says_nothing_is_answered_for_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "_TICK", 0.01)
    run = Run(call(1), message("tools/list", 2), timeout=0.05, until=lambda run: len(run.server) == 4)
    text = "the server has said nothing for 0.05 s"
    assert run.errors == [(1, text), (2, text)] and run.said == [text]
    assert run.server[2:] == [
        message("notifications/cancelled", requestId=number, reason="no answer in time") for number in (1, 2)
    ]
    monkeypatch.setattr(relay, "_TICK", 5)
    monkeypatch.setattr(relay, "_LAST", 0.05)
    text = "the server has not answered before the client ended"
    assert Run(call(1)).errors == [(1, text)]
    assert Run(message("notifications/initialized")).client == []


def test_a_server_that_goes_is_told_to_whoever_waits() -> None:
    run = Run(call(1), call("x"), serve=lambda one: [None], until=lambda _: False)
    assert run.trouble == "the server has ended" and run.errors == [
        (1, "the server has ended"),
        ("x", "the server has ended"),
    ]

    async def broken() -> None:
        raise BrokenPipeError

    run = Run(call(1), takes=broken, until=lambda _: False)
    assert run.trouble == "the server has ended" and run.errors == [(1, "the server has ended")]

    async def stuck() -> None:
        await asyncio.sleep(5)

    run = Run(call(1), takes=stuck, timeout=0.05, until=lambda _: False)
    assert run.trouble == "the server has not read its input for 0.05 s"


def nested(levels: int) -> Any:
    inner: Any = 5
    for level in range(levels):
        inner = [inner] if level % 2 else {"a": inner}
    return inner


def test_what_is_too_deep_or_cannot_be_read_is_answered() -> None:
    deep = {**call(1), "params": nested(200)}
    batch = [deep, {**deep, "id": None}, message("x", "y"), message("z"), result(7), 5]
    run = Run(deep, batch, b"{half", serve=answered)
    too_deep, unreadable = (
        "it has more than 200 nested brackets",
        "it is not a readable JSON message",
    )
    assert (
        run.errors == [(1, too_deep), (1, too_deep), ("y", too_deep), (None, unreadable)] and run.server == []
    )
    assert run.said == [f"a message from the client was not forwarded to the server: {too_deep}"] * 2 + [
        f"a line from the client was not forwarded to the server: {unreadable}"
    ]
    ours = {"jsonrpc": "2.0", "id": 1, "result": nested(200)}
    run = Run(call(1), call(2), serve=lambda one: [[{**ours, "id": one["id"]}, {**deep, "id": 9}]])
    assert sorted(run.errors, key=str) == [(1, too_deep), (2, too_deep)]
    assert run.said == [f"a message from the server was not forwarded to the client: {too_deep}"] * 2


@pytest.mark.parametrize(
    ("value", "expected"),
    [(nested(200), False), (nested(201), True), ("[" * 300, False), ({"a": "[" * 300}, False), ([[]] * 300, False)],
)  # fmt: skip
def test_brackets_are_counted_as_deep_as_they_are(value: Any, expected: bool) -> None:
    assert is_too_deep(json.dumps(value).encode(), value) is expected


def test_several_messages_go_as_one_to_each_side() -> None:
    def decide(one: Any) -> list[Sent]:
        return [Sent("server" if one != 5 else "client", one)] if one != 7 else []

    batch = [5, 6, 7, 8]
    assert through(batch, decide) == [Sent("client", [5]), Sent("server", [6, 8])]
    assert through([6, 8], decide)[0].message == [6, 8]
    whole = [6, 8]
    assert through(whole, decide)[0].message is whole
    assert through([], lambda one: [Sent("server", one)]) == [Sent("server", [])]
    assert through(5, decide) == [Sent("client", 5)]
    assert through([[5, 7], [[6]]], decide) == [Sent("client", [[5]]), Sent("server", [[[6]]])]


def test_a_message_leaves_as_utf_8() -> None:
    same = {"a": 1}
    assert encoded(b'{"a":1}', same, same) == b'{"a":1}'
    assert encoded(b"", None, {"a": "é"}) == '{"a": "é"}'.encode()
    assert encoded(b"", None, {"a": "\ud800"}) == b'{"a": "\\ud800"}'


def test_what_went_wrong_is_taken_out_of_its_groups() -> None:
    trouble = ServerTrouble("the server has ended")
    assert server_trouble(BaseExceptionGroup("", [ExceptionGroup("", [trouble])])) is trouble
    other = server_trouble(ExceptionGroup("", [OSError("no route"), trouble]))
    assert str(other) == "the server cannot be reached: OSError: no route"


class Slow:
    """A stream that takes as much as it likes."""

    def __init__(self, *counts: int | None) -> None:
        self.counts = iter(counts)
        self.taken = b""
        self.flushed = 0

    def write(self, data: bytes) -> int | None:
        count = next(self.counts, len(data))
        if count == -1:
            raise OSError("gone")
        self.taken += data[: count or 0]
        return count

    def flush(self) -> None:
        self.flushed += 1


def test_a_client_that_takes_a_part_is_sent_the_rest() -> None:
    stream: Any = Slow(None, 2, 0, 1)
    before = {*threading.enumerate()}
    ended(client_of(io.BytesIO(), stream).send(b"abcdef\n", None))
    assert (stream.taken, stream.flushed) == (b"abcdef\n", 1)
    assert all(
        thread.daemon for thread in {*threading.enumerate()} - before
    )  # which keeps nobody from ending
    with pytest.raises(OSError, match="gone"):
        ended(client_of(io.BytesIO(), Slow(-1)).send(b"abcdef\n", None))  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------ over HTTP


@pytest.mark.parametrize(
    ("sent", "negotiated", "headers"),
    [
        (5, "2025-06-18", {}),
        (message("tools/list", 1), None, {}),
        (message("tools/list", 1), "2025-06-18", {"mcp-protocol-version": "2025-06-18"}),
        ({"method": "x", "params": 5}, "v", {"mcp-protocol-version": "v"}),
        ({"method": "x", "params": {"_meta": 5, "name": "n"}}, "v", {"mcp-protocol-version": "v"}),
        ({"method": "x", "params": {"_meta": {VERSION: 5}}}, "v", {}),
        ({"method": "x", "params": {"_meta": {VERSION: "w"}}}, "v", {"mcp-protocol-version": "w", "mcp-method": "x"}),
        ({"method": "x", "params": {"_meta": {VERSION: "w"}, "uri": "u"}}, None,
         {"mcp-protocol-version": "w", "mcp-method": "x", "mcp-name": "u"}),
        ({"method": "x", "params": {"_meta": {VERSION: "w"}, "uri": "u", "name": "n"}}, None,
         {"mcp-protocol-version": "w", "mcp-method": "x", "mcp-name": "n"}),
        ({"method": "x", "params": {"_meta": {VERSION: "w"}, "name": 5}}, None,
         {"mcp-protocol-version": "w", "mcp-method": "x"}),
        ({"id": 1, "params": {"_meta": {VERSION: "w"}}}, None, {"mcp-protocol-version": "w"}),
    ],
)  # fmt: skip
def test_a_message_has_its_headers(sent: Any, negotiated: str | None, headers: dict[str, str]) -> None:
    assert http_headers(sent, negotiated) == headers


@pytest.mark.parametrize("text", ["user@host:1", "host:1/x", "host:1?x", ":80", "host:"])
def test_an_address_has_nothing_but_a_host_and_a_port(text: str) -> None:
    assert read_address(text) is None


def test_requests_of_this_host_alone_are_taken() -> None:
    settings = security("plant", 8000)
    assert settings.allowed_hosts == ["127.0.0.1:8000", "[::1]:8000", "localhost:8000", "plant:8000"]
    assert settings.allowed_origins == [f"http://{host}" for host in settings.allowed_hosts]


def item(one: Any) -> SessionMessage:
    return SessionMessage(jsonrpc_message_adapter.validate_python(one, by_name=False))


class Writer:
    """Where a transport takes messages: each with what it says of itself."""

    def __init__(self, fails: type[Exception] | None = None) -> None:
        self.sent: list[tuple[Any, Any]] = []
        self.fails = fails

    async def send(self, one: SessionMessage) -> None:
        if self.fails is not None:
            raise self.fails
        self.sent.append((one.message.model_dump(by_alias=True, exclude_unset=True), one.metadata))

    @property
    def belongings(self) -> list[tuple[Any, Any]]:
        """The method or the id of each, and the request that it belongs to."""
        return [
            (one.get("method", one.get("id")), metadata.related_request_id) for one, metadata in self.sent
        ]


def test_what_a_server_sends_goes_to_the_request_that_it_belongs_to() -> None:
    async def main() -> None:
        writer = Writer()

        async def reader() -> AsyncIterator[Any]:
            yield item(message("tools/call", 5, name="meter", _meta={"progressToken": "p"}))
            yield ValueError("half a message")
            yield item(message("tools/list", "6"))
            yield item(message("notifications/cancelled", requestId="5"))
            yield item(message("notifications/cancelled", requestId=9))

        client = streamable._client_of(reader(), writer)
        lines = client.lines

        async def send(*messages: Any) -> list[tuple[Any, Any]]:
            writer.sent.clear()
            for one in messages:
                await client.send(json.dumps(one).encode(), one)
            return writer.belongings

        progress = "notifications/progress"
        ask = message("sampling/createMessage", 70, messages=[], maxTokens=5)
        assert await send(ask, message(progress, progressToken="p", progress=1)) == [
            ("sampling/createMessage", None),
            (progress, None),
        ]
        assert json.loads(await anext(lines))["id"] == 5
        assert await send(ask) == [("sampling/createMessage", 5)]
        assert json.loads(await anext(lines))["id"] == "6"
        assert await send(
            ask,
            message(progress, progressToken="p", progress=1),
            message(progress, progressToken="q", progress=1),
            message("notifications/tools/list_changed"),
            message("notifications/resources/updated", uri="x"),
            [ask, 5, message(progress, progressToken="p", progress=1)],
            {"jsonrpc": "1.0"},
        ) == [
            ("sampling/createMessage", "6"),
            (progress, 5),
            (progress, None),
            ("notifications/tools/list_changed", None),
            ("notifications/resources/updated", None),
            ("sampling/createMessage", "6"),
            (progress, 5),
        ]
        assert await send({"jsonrpc": "2.0", "id": 6, "result": {}}) == [(6, None)]
        assert await send(ask) == [("sampling/createMessage", 5)]
        writer.sent.clear()
        assert json.loads(await anext(lines))["method"] == "notifications/cancelled"
        assert json.loads(await anext(lines))["params"]["requestId"] == 9
        error = {"code": -32800, "message": "Request cancelled"}
        assert [one for one, _ in writer.sent] == [{"jsonrpc": "2.0", "id": 5, "error": error}]
        assert [line async for line in lines] == []
        writer.fails = anyio.ClosedResourceError
        await client.send(json.dumps(ask).encode(), ask)

    ended(main())


def test_a_server_at_an_address_is_heard_and_told_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    shaken = {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-06-18", "capabilities": {}}}

    async def main(*items: Any, fails: type[Exception] | None = None) -> tuple[list[Any], list[Any], str]:
        writer = Writer()
        trouble = ""
        heard: list[Any] = []

        async def reader() -> AsyncIterator[Any]:
            for one in items:
                yield one if isinstance(one, Exception) else item(one)

        @asynccontextmanager
        async def client(url: str, **options: Any) -> AsyncIterator[Any]:
            yield reader(), writer

        monkeypatch.setattr("mcp.client.streamable_http.streamable_http_client", client)
        async with connected("http://plant.example/mcp") as (receive, send):
            assert not logging.getLogger("mcp").isEnabledFor(logging.CRITICAL)
            try:
                await send(json.dumps(message("ping", 1)).encode(), message("ping", 1))
                await send(b'{"jsonrpc": "1.0"}', {"jsonrpc": "1.0"})
                async for line in receive:
                    heard.append(json.loads(line))
            except ServerTrouble as error:
                trouble = str(error)
            writer.fails = fails
            await send(json.dumps(message("ping", 2)).encode(), message("ping", 2))
        return heard, [metadata.headers if metadata else None for _, metadata in writer.sent], trouble

    closed = "the server has closed the connection"
    version = {"mcp-protocol-version": "2025-06-18"}
    assert ended(main(shaken)) == ([shaken], [None, version], closed)
    later = {**shaken, "id": 2, "result": {"protocolVersion": "2024-11-05"}}
    assert ended(main(result(1), shaken, later)) == ([result(1), shaken, later], [None, version], closed)
    unsaid = {**shaken, "result": {"protocolVersion": 5}}
    assert ended(main(unsaid)) == ([unsaid], [None, None], closed)
    assert ended(main(OSError("no route")))[2] == "the server cannot be reached: OSError: no route"
    with pytest.raises(ServerTrouble, match=f"^{closed}$"):
        ended(main(fails=anyio.BrokenResourceError))


SHAKE = message(
    "initialize", 1, protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "x", "version": "1"}
)


class Served:
    """Sessions whose server answers each request; over HTTP, in this process."""

    def __init__(self, trouble: str = "") -> None:
        self.said: list[str] = []
        self.sessions: list[str] = []
        self.trouble = trouble
        self.app = Sessions(self._relay, self.said.append, security("127.0.0.1", 8000))

    async def _relay(self, client: Client, session: str) -> None:
        self.sessions.append(session)
        async for line in client.lines:
            one = json.loads(line)
            if "id" in one:
                answer = {"jsonrpc": "2.0", "id": one["id"], "result": {"said": one["method"]}}
                await client.send(json.dumps(answer).encode(), answer)
            if self.trouble and one["method"] != "initialize":
                raise ServerTrouble(self.trouble)

    @asynccontextmanager
    async def client(self) -> AsyncIterator[httpx.AsyncClient]:
        headers = {"accept": "application/json, text/event-stream"}
        transport = httpx.ASGITransport(self.app)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1:8000", headers=headers
        ) as client:
            try:
                yield client
            finally:
                await self.app.close()


def refusal(answer: httpx.Response) -> tuple[int, Any]:
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert answer.headers["content-type"] == "application/json"
    return answer.status_code, answer.json()


def refused(status: int, text: str, code: int = -32600, **more: Any) -> tuple[int, Any]:
    return status, {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": text, **more}}


def test_a_session_begins_goes_on_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        served = Served()
        async with served.client() as client:
            first = await client.post("/mcp/", json=SHAKE)
            assert first.status_code == 200 and '"said":"initialize"' in first.text.replace(" ", "")
            session = {"mcp-session-id": first.headers["mcp-session-id"]}
            assert served.sessions == [session["mcp-session-id"]]
            ping = await client.post("/mcp", json=message("ping", 2), headers=session)
            assert '"said":"ping"' in ping.text.replace(" ", "")
            monkeypatch.setattr(streamable, "_MOST_SESSIONS", 1)
            assert refusal(await client.post("/mcp", json=SHAKE)) == refused(
                503, "there are 1 sessions already"
            )
            assert (await client.delete("/mcp", headers=session)).status_code == 200
            gone = refused(404, "there is no such session")
            assert refusal(await client.post("/mcp", json=message("ping", 3), headers=session)) == gone
            assert (await client.post("/mcp", json=SHAKE)).status_code == 200
            assert refusal(await client.post("/other", json=SHAKE)) == refused(404, "the guard is at /mcp")
            _, body = refusal(
                await client.post("/mcp", json=SHAKE, headers={"mcp-protocol-version": "2026-07-28"})
            )
            assert body["error"]["message"] == "the guard needs a session: begin with initialize"
            assert body["error"]["code"] == -32022 and body["error"]["data"]["requested"] == "2026-07-28"
            assert "2025-06-18" in body["error"]["data"]["supported"]
        assert served.said == []

    ended(main())


def test_a_session_whose_server_goes_is_told_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamable, "_DELIVERY", 0.0)

    async def main() -> None:
        served = Served("the server has ended")
        async with served.client() as client:
            first = await client.post("/mcp", json=SHAKE)
            session = {"mcp-session-id": first.headers["mcp-session-id"]}
            await client.post("/mcp", json=message("ping", 2), headers=session)
            await asyncio.sleep(0.05)
            assert served.said == ["the server has ended"]
            again = await client.post("/mcp", json=message("ping", 3), headers=session)
            assert refusal(again) == refused(404, "there is no such session")

    ended(main())


def test_a_first_request_that_is_refused_begins_no_session() -> None:
    async def main() -> None:
        served = Served()
        async with served.client() as client:
            assert (
                await client.post("/mcp", content=b"{half", headers={"content-type": "application/json"})
            ).status_code == 400
            assert served.app._transports == {}
            heard: list[Any] = []
            await served.app({"type": "lifespan"}, None, heard.append)
            assert heard == []

    ended(main())

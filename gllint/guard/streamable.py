"""Streamable HTTP on either side of a guard, by the transports of the MCP SDK: a server at an address, clients at one.

Each session of a client has a server, a session of the guard and a trace of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import uuid4

from gllint.guard.exchange import id_key
from gllint.guard.relay import GRACE, LONGEST, Client, ServerTrouble
from gllint.shown import silence

if TYPE_CHECKING:
    from mcp.server.streamable_http import StreamableHTTPServerTransport
    from mcp.server.transport_security import TransportSecuritySettings

PATH = "/mcp"
_MOST_SESSIONS = 100
_IDLE = 1800.0  # seconds without a request, after which a session ends
_DELIVERY = 0.2  # seconds for the last answers of a session
_CANCELLED = -32800
_UNSUPPORTED_VERSION = -32022
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"


# ------------------------------------------------------------------------------------------- the server's side


@contextlib.asynccontextmanager
async def connected(url: str) -> AsyncIterator[Any]:
    """Connect to a server at ``url``, and yield how to receive and send."""
    from anyio import BrokenResourceError, ClosedResourceError
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared.message import ClientMessageMetadata, SessionMessage
    from mcp_types import jsonrpc_message_adapter

    silence("mcp")  # the guard reports it instead
    version: list[str] = []

    async def receive(reader: Any) -> AsyncIterator[bytes]:
        """Yield the messages of the server as lines, and note its protocol version."""
        async for item in reader:
            if isinstance(item, Exception):
                raise ServerTrouble(f"the server cannot be reached: {type(item).__name__}: {item}")
            line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            result = getattr(item.message, "result", None)
            if not version and isinstance(result, dict) and isinstance(result.get("protocolVersion"), str):
                version.append(result["protocolVersion"])
            yield line.encode()
        raise ServerTrouble("the server has closed the connection")

    # A server that hangs is given no longer for its last message than one that is a process.
    with contextlib.suppress(TimeoutError):
        async with (
            asyncio.timeout(None) as limit,
            streamable_http_client(url, max_sse_event_size=LONGEST) as (reader, writer),
        ):

            async def send(data: bytes, message: Any) -> None:
                """Send a message to the server, with the headers that its protocol asks for."""
                try:
                    read = jsonrpc_message_adapter.validate_json(data, by_name=False)
                except ValueError:
                    return  # what is no message has no place in a request
                headers = http_headers(message, version[0] if version else None)
                metadata = ClientMessageMetadata(headers=headers) if headers else None
                try:
                    await writer.send(SessionMessage(read, metadata=metadata))
                except (BrokenResourceError, ClosedResourceError):
                    raise ServerTrouble("the server has closed the connection") from None

            try:
                yield receive(reader), send
            finally:
                limit.reschedule(asyncio.get_running_loop().time() + GRACE)


def http_headers(message: Any, negotiated: str | None) -> dict[str, str]:
    """Return the HTTP headers of a message.

    Example: ``{"mcp-protocol-version": "2025-06-18"}``; since 2026 also its method and name.

    ``negotiated`` is the version of the session, for a message that states none.
    """
    if not isinstance(message, dict):
        return {}
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    meta = params.get("_meta")
    version_in_meta = meta.get(_VERSION_KEY) if isinstance(meta, dict) else None
    headers = {}
    if isinstance(version := version_in_meta or negotiated, str):
        headers["mcp-protocol-version"] = version
    # Only a message of 2026 states its version, and only there these headers are asked for.
    if isinstance(version_in_meta, str) and isinstance(message.get("method"), str):
        from mcp.shared.inbound import encode_header_value

        headers["mcp-method"] = message["method"]
        name = params.get("name") or params.get("uri")
        if isinstance(name, str):
            headers["mcp-name"] = encode_header_value(name)
    return headers


# ------------------------------------------------------------------------------------------- the clients' side


def security(host: str, port: int) -> TransportSecuritySettings:
    """Return the rule that requests must name this host: a web page that resolves to it under another name is
    rejected.
    """
    from mcp.server.transport_security import TransportSecuritySettings

    names = {host, "127.0.0.1", "localhost", "[::1]"}
    hosts = [f"{name}:{port}" for name in sorted(names)]
    return TransportSecuritySettings(
        allowed_hosts=hosts, allowed_origins=[f"http://{name}" for name in hosts]
    )


class Sessions:
    """An ASGI application: the sessions of many clients, each of them relayed by ``relay(client, session)``.

    A client of protocol 2026-07-28, which has no sessions, is asked for a handshake: claims are checked against what
    the same session recorded.
    """

    def __init__(
        self,
        relay: Callable[[Client, str], Awaitable[None]],
        say: Callable[[str], None],
        security_settings: TransportSecuritySettings | None = None,
        idle_timeout: float = _IDLE,
    ) -> None:
        from mcp.server.transport_security import RequestBodyLimitMiddleware

        self._relay, self._say = relay, say
        self._security, self._idle = security_settings, idle_timeout
        self._transports: dict[str, StreamableHTTPServerTransport] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._limited = RequestBodyLimitMiddleware(self._serve, LONGEST)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] == "http":
            await self._limited(scope, receive, send)

    async def close(self) -> None:
        """End all sessions, and their servers."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer an HTTP request: begin a session, pass it to its session, or reject it."""
        from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
        }
        session = headers.get("mcp-session-id")
        version = headers.get("mcp-protocol-version")
        if scope["path"].rstrip("/") != PATH:
            await _refuse(send, 404, f"the guard is at {PATH}")
        elif version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            known = {"supported": [*HANDSHAKE_PROTOCOL_VERSIONS], "requested": version}
            text = "the guard needs a session: begin with initialize"
            await _refuse(send, 400, text, _UNSUPPORTED_VERSION, known)
        elif session is None:
            await self._open(scope, receive, send)
        elif (transport := self._transports.get(session)) is None:
            await _refuse(send, 404, "there is no such session")
        else:
            await self._handle(transport, scope, receive, send)
            if transport.is_terminated:
                self._transports.pop(session, None)

    async def _handle(
        self, transport: StreamableHTTPServerTransport, scope: Any, receive: Any, send: Any
    ) -> int:
        """Have a session answer a request, and return the status; 404 for a session that ended meanwhile."""
        from anyio import BrokenResourceError, ClosedResourceError

        status = 0

        async def watched(message: Any) -> None:
            nonlocal status
            status = message["status"] if message["type"] == "http.response.start" else status
            await send(message)

        try:
            await transport.handle_request(scope, receive, watched)
        except (BrokenResourceError, ClosedResourceError):
            if not status:
                await _refuse(send, 404, "there is no such session")
        return status or 500

    async def _open(self, scope: Any, receive: Any, send: Any) -> None:
        """Begin a session with its first request; if that is rejected, the session is removed.

        A request from a web page elsewhere starts no server.
        """
        from mcp.server.streamable_http import StreamableHTTPServerTransport
        from mcp.server.transport_security import TransportSecurityMiddleware
        from starlette.requests import Request

        if scope["method"] != "POST":
            await _refuse(send, 400, "the guard needs a session: begin with initialize")
            return
        elsewhere = await TransportSecurityMiddleware(self._security).validate_request(
            Request(scope), is_post=True
        )
        if elsewhere is not None:
            await elsewhere(scope, receive, send)
            return
        if len(self._transports) >= _MOST_SESSIONS:
            await _refuse(send, 503, f"there are {_MOST_SESSIONS} sessions already")
            return
        session = uuid4().hex
        transport = StreamableHTTPServerTransport(
            session, security_settings=self._security, idle_timeout=self._idle
        )
        self._transports[session] = transport
        is_ready = asyncio.Event()
        task = asyncio.create_task(self._run(session, transport, is_ready))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        status = 500
        try:
            await is_ready.wait()
            status = await self._handle(transport, scope, receive, send)
        finally:
            if status >= 400:
                self._transports.pop(session, None)
                task.cancel()

    async def _run(
        self, session: str, transport: StreamableHTTPServerTransport, is_ready: asyncio.Event
    ) -> None:
        """Relay one session until it ends."""
        try:
            async with transport.connect() as (reader, writer):
                is_ready.set()
                assert transport.idle_scope is not None
                with transport.idle_scope:
                    try:
                        await self._relay(_client_of(reader, writer), session)
                    except ServerTrouble as error:
                        self._say(str(error))
                        await asyncio.sleep(_DELIVERY)
                self._transports.pop(session, None)
                await transport.terminate()
        finally:
            is_ready.set()
            self._transports.pop(session, None)


def _client_of(reader: Any, writer: Any) -> Client:
    """Return the client of a session; a message of the server goes to the open request that it belongs to, if any."""
    from anyio import BrokenResourceError, ClosedResourceError
    from mcp.shared.message import ServerMessageMetadata, SessionMessage
    from mcp_types import jsonrpc_message_adapter

    open_requests: dict[
        Any, tuple[Any, Any]
    ] = {}  # the id of each and the token of its progress, by the key of its id

    async def write(message: Any, data: bytes) -> None:
        """Send a message to the client, with the request that it belongs to."""
        try:
            read = jsonrpc_message_adapter.validate_json(data, by_name=False)
        except ValueError:  # no message: the SDK could not send it
            return
        metadata = ServerMessageMetadata(related_request_id=_request_of(message, open_requests))
        with contextlib.suppress(BrokenResourceError, ClosedResourceError):  # the client has gone
            await writer.send(SessionMessage(read, metadata=metadata))

    async def lines() -> AsyncIterator[bytes]:
        """Yield the lines of the client, and note which requests are open."""
        while True:
            try:
                item = await anext(reader)
            except (StopAsyncIteration, BrokenResourceError, ClosedResourceError):
                return
            if isinstance(item, Exception):  # what came is no message
                continue
            message = item.message
            if (number := getattr(message, "id", None)) is not None and hasattr(message, "method"):
                meta = (message.params or {}).get("_meta")
                token = meta.get("progressToken") if isinstance(meta, dict) else None
                open_requests[id_key(number)] = number, token
            yield message.model_dump_json(by_alias=True, exclude_unset=True).encode()
            if getattr(message, "method", None) == "notifications/cancelled":
                number = (message.params or {}).get("requestId")
                if isinstance(number, (str, int)) and id_key(number) in open_requests:
                    number, _ = open_requests.pop(id_key(number))
                    # A stream ends with an answer, and a server does not answer what was cancelled.
                    error = {"code": _CANCELLED, "message": "Request cancelled"}
                    answer = {"jsonrpc": "2.0", "id": number, "error": error}
                    await write(answer, json.dumps(answer).encode())

    async def send(data: bytes, message: Any) -> None:
        """Send each message of the server to the client, and close the requests that it answers."""
        for one in message if isinstance(message, list) else [message]:
            if not isinstance(one, dict):
                continue
            await write(one, data if one is message else json.dumps(one).encode())
            number = one.get("id")
            if "method" not in one and isinstance(number, (str, int)):
                open_requests.pop(id_key(number), None)

    return Client(lines(), send)


def _request_of(message: Any, open_requests: dict[Any, tuple[Any, Any]]) -> Any:
    """Return the id of the open request that a message of the server belongs to; ``None`` if it belongs to none."""
    if "method" not in message or not open_requests:
        return None
    if message["method"] == "notifications/progress":
        params = message.get("params")
        token = params.get("progressToken") if isinstance(params, dict) else None
        return next(
            (number for number, request_token in open_requests.values() if request_token == token), None
        )
    is_of_session = message["method"].endswith(("list_changed", "resources/updated"))
    return None if is_of_session else next(reversed(open_requests.values()))[0]


async def _refuse(send: Any, status: int, text: str, code: int = -32600, data: Any = None) -> None:
    error = {"code": code, "message": text, **({"data": data} if data is not None else {})}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def read_address(text: str) -> tuple[str, int] | None:
    """Return the host and port of ``127.0.0.1:8000``, ``[::1]:8000`` or ``8000``; ``None`` for any other text."""
    try:
        parts = urlsplit(f"//{text}" if ":" in text else f"//127.0.0.1:{text}")
        port = parts.port
    except ValueError:
        return None
    is_address = parts.hostname and port is not None and not (parts.path or parts.query or parts.username)
    return (parts.hostname, port) if is_address and parts.hostname and port is not None else None

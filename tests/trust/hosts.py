"""What gllint is set up with and what its hosts send it, changed at random: settings of agents, hooks, HTTP, --config.

Each reader here is given a text, as those of ``traffic`` are. It raises AssertionError where something is lost or made
up on the way.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import io
import itertools
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from trust import AGENT, write

from gllint.cli.hooking import hook
from gllint.files.config import inline
from gllint.guard.relay import Client
from gllint.guard.streamable import PATH, Sessions, http_headers, read_address, security
from gllint.hosts.coding_agents import AGENTS
from gllint.init import json_text
from gllint.init.agents import with_entry
from gllint.init.hook import has_hook, with_hook

_ENTRY = {"hooks": [{"command": "gllint hook x", "text": "é\u2028 // no */ comment"}]}


def settings(text: str) -> None:
    """The settings of an agent: what is added is there, and all else is as it was."""
    try:
        root = json_text.read(text)
    except ValueError as error:
        assert str(error), "no reason"
        return
    with contextlib.suppress(ValueError, RecursionError):
        plain = json.loads(text)
        assert plain == root.value or plain != plain or "NaN" in text, "read as something else"
    for add, child, key in ((json_text.with_member, {}, "added"), (json_text.with_item, [], None)):
        for node in _nodes(root):
            if type(node.value) is not type(child) or (key is not None and key in node.members):
                continue
            new = add(text, node, key, _ENTRY) if key is not None else add(text, node, _ENTRY)  # type: ignore[operator]
            before, again = json_text.read(text), json_text.read(new)
            there = next(n for n in _nodes(before) if n.start == node.start)
            if isinstance(there.value, dict):
                there.value[key] = _ENTRY
            else:
                there.value.append(_ENTRY)
            assert again.value == before.value or "NaN" in text, "something else changed"
            rest = iter(new)
            assert all(char in rest for char in text if not char.isspace()), "something is gone"
    for agent in AGENTS.values():
        with contextlib.suppress(ValueError):
            added = with_entry(agent, text)
            assert added is None or with_entry(agent, added) is None, "added twice"


def _nodes(node: json_text.Node) -> list[json_text.Node]:
    return [node, *(inner for child in (*node.members.values(), *node.items) for inner in _nodes(child))][:40]


def commit_hooks(text: str) -> None:
    """A pre-commit configuration: the hook is there, and each line that was there stays as it was, in order."""
    new = with_hook(text)
    if new is None:
        return
    assert has_hook(new)
    if text.strip():
        lines = iter(new.split("\n"))
        assert all(
            line.rstrip("\r") in (other.rstrip("\r") for other in lines)
            for line in text.rstrip("\r\n").split("\n")
        )


def command_line(text: str) -> None:
    """Settings of the command line, one a line: they are taken or refused, and say which they are."""
    given = inline(text.split("\n"), "/project")
    assert all(isinstance(key, str) for key in given.keys)


def hooks(text: str) -> None:
    """An event for each agent's hook, run in a project: its answer is in the form that the agent reads."""
    with TemporaryDirectory() as folder, contextlib.chdir(folder):
        write(Path(folder), {"gllint.toml": "", **AGENT})
        before = {path: path.read_bytes() for path in Path(folder).rglob("*.py")}
        for name in AGENTS:
            output, error = io.StringIO(), io.StringIO()
            typed = io.TextIOWrapper(io.BytesIO(text.encode("utf-8", "surrogateescape")))
            with (
                patch.object(sys, "stdin", typed),
                patch.dict(os.environ, {"GLLINT_CACHE_DIR": f"{folder}/.gllint_cache"}),
                contextlib.redirect_stdout(output),
                contextlib.redirect_stderr(error),
            ):
                status = hook(name)
            assert status in (0, 1, 2), status
            if status != 1 and AGENTS[name].fields:
                json.loads(output.getvalue())
            assert "\x1b" not in output.getvalue() + error.getvalue()
        assert before == {path: path.read_bytes() for path in Path(folder).rglob("*.py")}


def requests(text: str) -> None:
    """Requests to a guard that listens, one a line and the body behind its head: each has one answer."""
    asyncio.run(_requests(text.split("\n")[:6]))


async def _requests(lines: list[str]) -> None:
    async def relay(client: Client, session: str) -> None:
        async for line in client.lines:
            message = json.loads(line)
            if isinstance(message, dict) and "id" in message:
                answer = {"jsonrpc": "2.0", "id": message["id"], "result": {}}
                await client.send(json.dumps(answer).encode(), answer)

    said: list[str] = []
    sessions = Sessions(relay, said.append, security("127.0.0.1", 8000), idle_timeout=5.0)
    opened = ""
    for line in lines:
        head, _, body = line.partition(" ")
        method, _, rest = head.partition(",")
        headers = [
            (b"host", b"127.0.0.1:8000"),
            (b"content-type", b"application/json"),
            (b"accept", b"application/json, text/event-stream"),
            *((b"mcp-session-id", opened.encode()) for _ in opened[:1]),
            *(
                (key.encode("utf-8", "surrogateescape").lower(), value.encode("utf-8", "surrogateescape"))
                for part in rest.split(",")[:4]
                for key, _, value in [part.partition("=")]
                if key
            ),
        ]
        scope = {
            "type": "http", "method": method, "path": PATH, "query_string": b"", "headers": headers,
            "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8000), "scheme": "http", "http_version": "1.1",
        }  # fmt: skip
        sent: list[Any] = []
        chunks = iter(
            [{"type": "http.request", "body": body.encode("utf-8", "surrogateescape"), "more_body": False}]
        )

        async def receive(chunks: Any = chunks) -> Any:
            for chunk in chunks:
                return chunk
            await asyncio.sleep(0.2)
            return {"type": "http.disconnect"}

        async def send(message: Any, sent: list[Any] = sent) -> None:
            sent.append(message)

        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1):
                await sessions(scope, receive, send)
        starts = [one for one in sent if one["type"] == "http.response.start"]
        assert len(starts) == 1 or (not starts and method.upper() in ("GET", "HEAD")), (
            f"{len(starts)} answers"
        )
        for key, value in itertools.chain.from_iterable(one.get("headers", ()) for one in starts):
            if key.lower() == b"mcp-session-id":
                opened = value.decode("latin-1")
    await sessions.close()
    assert not sessions._transports
    assert all(len(one.splitlines()) <= 1 or one for one in said)


def addresses(text: str) -> None:
    """An address to listen at, and the headers that a message needs: no line of its own in them."""
    for part in text.split("\n")[:20]:
        address = read_address(part)
        assert address is None or (address[0] and 0 <= address[1] < 65536)
        with contextlib.suppress(ValueError, RecursionError):
            for value in http_headers(json.loads(part), "2025-06-18").values():
                value.encode("utf-8", "surrogateescape")


_SETTINGS = '// what runs\r\n{\r\n  "a": [1, 2.5e3, true,], /* b */\r\n  "hooks": {"PostToolUse": [ {"x": "\\u00e9//"} // c\r\n  ] },\r\n}\r\n'
_MESSAGE = '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}}'
_EVENT = '{"hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_input": {"file_path": "plant/tools.py", "edits": [{"path": "plant/agent.py"}]}}'
Reader = tuple[Callable[[str], object], list[str], tuple[type[BaseException], ...]]


def _readers() -> dict[str, Reader]:
    importlib.import_module("mcp.server.streamable_http")  # which takes longer to load than one text may

    from gllint.errors import UsageError

    hook_file = "repos:\n- repo: local\n  hooks:\n  - id: x  # y\n\n# of ci\nci:\n  a: b\n"
    return {
        "settings of agents": (
            settings,
            [_SETTINGS, '{"version": 1, "hooks": {"postToolUse": []}}', "{}", "[]"],
            (),
        ),
        "pre-commit configuration": (commit_hooks, [hook_file, "repos:\r\n  - repo: a\r\n"], ()),
        "settings of the command line": (
            command_line,
            [
                'select = ["GL1"]\nextend-units = ["kWp"]',
                'guard.meter.units."meter.$.a" = "kWh"\nseverity.GL101 = "warning"',
            ],
            (UsageError,),
        ),
        "hooks of agents": (hooks, [_EVENT], ()),
        "requests to the guard": (
            requests,
            [
                f'POST {_MESSAGE}\nPOST {{"jsonrpc": "2.0", "id": 2, "method": "ping"}}\nDELETE,a=b \nGET,mcp-protocol-version=2026-07-28 '
            ],
            (),
        ),
        "addresses and headers": (
            addresses,
            [
                '127.0.0.1:8000\n[::1]:80\n8000\n{"method": "tools/call", "params": {"name": "a\\r\\nb: c", "_meta": {"io.modelcontextprotocol/protocolVersion": "x"}}}'
            ],
            (),
        ),
    }


READERS = _readers()

"""What the guard before an MCP server costs, and what becomes of servers that misbehave.

``python benchmarks/guard.py`` prints a table of Markdown: the median of a call with and without the guard, asked in
turns in one run; a list of 10,000 tools, a result of 10 MB; servers that die, hang, flood or write garbage; 100 clients
one after the other. Behind each stands how many processes of the server were left.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

_CALLS = 500
_CLIENTS = 100
_TIMEOUT = 2  # seconds after which a server that says nothing hangs
_MARK = f"gllint-guard-benchmark-{os.getpid()}"
_SERVER = """
import json, os, sys, time
TOOLS = [{"name": f"tool_{i}", "inputSchema": {"type": "object", "properties": {"site": {"type": "string"}}}}
         for i in range(10_000)]
HEAT = {"heat": {"value": 12.5, "unit": "kWh"}}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    name = message.get("params", {}).get("name", "")
    if message["method"] == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "b", "version": "1"}}
    elif message["method"] == "tools/list":
        result = {"tools": TOOLS}
    elif name == "die":
        os._exit(3)
    elif name == "hang":
        time.sleep(3600)
    elif name == "flood":
        while True:
            sys.stdout.write("x" * 1_000_000)
    elif name == "garbage":
        sys.stdout.write("this is no message\\n{\\n")
        result = {"content": [{"type": "text", "text": json.dumps(HEAT)}]}
    elif name == "big":
        rows = [{**HEAT, "note": "x" * 1000} for _ in range(9_500)]
        result = {"content": [{"type": "text", "text": json.dumps(rows)}]}
    else:
        result = {"content": [{"type": "text", "text": json.dumps(HEAT)}], "structuredContent": HEAT}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\\n")
    sys.stdout.flush()
"""


class Client:
    """A client of a server on standard input and output, behind the guard or not."""

    def __init__(self, *, is_guarded: bool, timeout: float = 300) -> None:
        guard = ["--guard", "--no-trace", "--timeout", str(timeout), "--"]
        self._process = subprocess.Popen(
            ([*_gllint(), *guard] if is_guarded else []) + _server(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._number = 0

    def ask(self, method: str, **params: Any) -> tuple[dict[str, Any], float]:
        """The answer to a request, and after how many seconds it was there."""
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        start = time.perf_counter()
        pipe(self._process.stdin).write(json.dumps(message).encode() + b"\n")
        pipe(self._process.stdin).flush()
        answer = json.loads(pipe(self._process.stdout).readline() or b"{}")
        return answer, time.perf_counter() - start

    def call(self, tool: str) -> tuple[dict[str, Any], float]:
        """The answer to a call of a tool."""
        return self.ask("tools/call", name=tool, arguments={"site": "north"})

    def end(self) -> str:
        """Hang up; what was told on standard error."""
        with contextlib.suppress(OSError):
            pipe(self._process.stdin).close()
        told = pipe(self._process.stderr).read().decode(errors="replace")
        self._process.wait(30)
        return told


def pipe(stream: IO[bytes] | None) -> IO[bytes]:
    """A stream that is there."""
    assert stream is not None
    return stream


def _gllint() -> list[str]:
    return [sys.executable, "-m", "gllint", "mcp"]


def _server() -> list[str]:
    return [sys.executable, "-c", _SERVER, _MARK]


def strays() -> int:
    """How many processes of the server are left."""
    time.sleep(0.5)
    lines = subprocess.run(
        ["ps", "-eo", "args"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return sum(_MARK in line for line in lines)


def cost() -> Iterator[tuple[str, str, str]]:
    """A call, the list of tools and a large result, with the guard and without."""
    bare, guarded = Client(is_guarded=False), Client(is_guarded=True)
    guarded.ask("ping")
    rows = [
        ("a list of 10,000 tools", "tools/list", {}),
        ("a result of 10 MB", "tools/call", {"name": "big"}),
    ]
    times: list[tuple[float, float]] = []
    for _ in range(_CALLS):
        times.append((bare.call("read")[1], guarded.call("read")[1]))
    without, within = (statistics.median(column) * 1000 for column in zip(*times, strict=True))
    yield "a call, median", f"{without:.2f} ms → {within:.2f} ms", f"{within / without:.1f} times"
    for name, method, params in rows:
        _, first = bare.ask(method, **params)
        answer, second = guarded.ask(method, **params)
        assert "result" in answer, answer
        yield name, f"{first * 1000:.0f} ms → {second * 1000:.0f} ms", f"{second / first:.1f} times"
    bare.end()
    guarded.end()


def trouble() -> Iterator[tuple[str, str, str]]:
    """What the client of a bad server is answered."""
    for name, tool in (
        ("dies", "die"),
        ("hangs", "hang"),
        ("floods", "flood"),
        ("writes garbage", "garbage"),
    ):
        client = Client(is_guarded=True, timeout=_TIMEOUT)
        client.call("read")
        answer, seconds = client.call(tool)
        client.end()
        said = answer.get("error", {}).get("message") or "the result, as if nothing were"
        yield f"a server that {name}", said, f"{seconds:.1f} s, {strays()} left"


def clients() -> Iterator[tuple[str, str, str]]:
    """Clients over HTTP, one after the other, each with a session and a server of its own."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder, "told")
        with told.open("wb") as stream:
            guard = subprocess.Popen(
                [*_gllint(), "--guard", "--no-trace", "--listen", "127.0.0.1:0", "--", *_server()],
                stderr=stream,
                stdout=subprocess.DEVNULL,
            )
        try:
            url = _address(told)
            start = time.perf_counter()
            answered = sum(_session(url) for _ in range(_CLIENTS))
            seconds = time.perf_counter() - start
        finally:
            guard.terminate()
            guard.wait(30)
    yield (
        f"{_CLIENTS} clients over HTTP, in turn",
        f"{answered} answered",
        f"{seconds:.0f} s, {strays()} left",
    )


def _address(told: Path) -> str:
    for _ in range(300):
        if match := re.search(r"http://\S+?/mcp", told.read_text(encoding="utf-8")):
            return match[0]
        time.sleep(0.1)
    raise SystemExit("the guard does not listen")


def _session(url: str) -> bool:
    """Whether a client that shakes hands, calls a tool and ends its session is answered."""
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

    def post(message: dict[str, Any], method: str = "POST") -> tuple[str, Any]:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode() if message else None
        with urllib.request.urlopen(
            urllib.request.Request(url, data, headers, method=method), timeout=60
        ) as answer:
            return answer.read().decode(), answer.headers

    info = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "b", "version": "1"}}
    _, got = post({"id": 0, "method": "initialize", "params": info})
    headers["Mcp-Session-Id"] = got["Mcp-Session-Id"]
    headers["MCP-Protocol-Version"] = "2025-06-18"
    post({"method": "notifications/initialized"})
    body, _ = post({"id": 1, "method": "tools/call", "params": {"name": "read", "arguments": {}}})
    post({}, "DELETE")
    return "gllint/call_id" in body


def main() -> None:
    """Print the table."""
    print("| what | bare → guarded, or what the client is told | |\n|---|---|---|")
    for part in (cost, trouble, clients):
        for row in part():
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()

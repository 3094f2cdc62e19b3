"""Measure the language server: from a keystroke to its diagnostics, against a bare parse, and its memory.

    python tests/server/measure.py PROJECT FILE [--edits 1000] [--broken]

Starts the server on PROJECT, opens FILE, waits until the project is read, then types into FILE at random places,
one character at a time, and takes the time until the diagnostics of that very version arrive. Between keystrokes
the same text is parsed with ``libcst.parse_module`` alone, in this process. No test: a machine's speed is no defect.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import libcst


class Wire:
    """The least client there can be: it adds nothing to what is measured."""

    def __init__(self, root: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "gllint", "server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._number = 0
        folder = {"uri": root.as_uri(), "name": root.name}
        self.request("initialize", {"processId": None, "capabilities": {}, "workspaceFolders": [folder]})
        self.notify("initialized", {})

    def notify(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def request(self, method: str, params: Any) -> Any:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        while True:
            message = self.receive()
            if message.get("id") == self._number:
                return message.get("result")

    def diagnostics(self, version: int) -> list[Any]:
        while True:
            message = self.receive()
            if message.get("method") == "textDocument/publishDiagnostics":
                if message["params"].get("version") == version:
                    return list(message["params"]["diagnostics"])

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        size = 0
        while line := self.process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                size = int(value)
        message: dict[str, Any] = json.loads(self.process.stdout.read(size))
        return message

    def memory(self, what: str = "VmRSS") -> float:
        """Megabytes of the server process."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) / 1000 for line in status.splitlines() if line.startswith(what))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("project", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--edits", type=int, default=1000)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between keystrokes")
    options = parser.parse_args()
    root, path = options.project.resolve(), options.file.resolve()
    text = path.read_text("utf-8")
    print(
        f"{path.name}: {text.count(chr(10))} lines; {sum(1 for _ in root.rglob('*.py'))} files in the project"
    )

    started = time.perf_counter()
    wire = Wire(root)
    uri = path.as_uri()
    document = {"uri": uri, "languageId": "python", "version": 0, "text": text}
    wire.notify("textDocument/didOpen", {"textDocument": document})
    found = wire.diagnostics(0)
    print(
        f"first diagnostics after {time.perf_counter() - started:.1f} s: {len(found)}; {wire.memory():.0f} MB"
    )
    time.sleep(15)

    rng = random.Random(0)
    keys, bare, memories = [], [], []
    typed: tuple[int, int] | None = None
    for version in range(1, options.edits + 1):
        lines = text.split("\n")
        if typed is None:
            line = rng.randrange(len(lines))
            column, new, _end = len(lines[line]), "  # x" if not lines[line].endswith("\\") else "", 0
            typed = (line, column)
            change_end = column
        else:
            line, column = typed
            new, change_end, typed = "", len(lines[line]), None
        start = {"line": line, "character": column}
        stop = {"line": line, "character": change_end}
        lines[line] = lines[line][:column] + new
        text = "\n".join(lines)
        change = {"range": {"start": start, "end": stop}, "text": new}
        begun = time.perf_counter()
        wire.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": version}, "contentChanges": [change]},
        )
        wire.diagnostics(version)
        keys.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        try:
            libcst.parse_module(text)
            bare.append(time.perf_counter() - begun)
        except libcst.ParserSyntaxError:
            pass
        if version % max(1, options.edits // 10) == 0:
            memories.append(wire.memory())
        time.sleep(options.pause)

    median, high = statistics.median(keys), statistics.quantiles(keys, n=20)[-1]
    parse = statistics.median(bare)
    print(f"bare parse: median {parse * 1000:.0f} ms")
    print(f"keystroke:  median {median * 1000:.0f} ms ({median / parse:.2f} x), ", end="")
    print(f"95th percentile {high * 1000:.0f} ms ({high / parse:.2f} x), worst {max(keys) * 1000:.0f} ms")
    print("memory (MB): " + " ".join(f"{m:.0f}" for m in memories) + f"; peak {wire.memory('VmHWM'):.0f}")
    wire.request("shutdown", None)
    wire.notify("exit", None)
    wire.process.wait(10)


if __name__ == "__main__":
    main()

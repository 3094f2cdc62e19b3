"""Measure the language server: from a keystroke to its diagnostics, against a bare parse, and its memory.

    python benchmarks/editor.py [PROJECT FILE] [--edits 1000] [--seed 0] [--pause 0]

Without arguments it writes a project of 24,000 files, one of them a tool file of 1,000 lines, and measures that.
It starts the server on the project, opens FILE, waits until the project is read, then makes edits of several kinds,
each of which the next edit takes back, and takes the time until the diagnostics of that very version arrive. After
each edit the same text is parsed with ``libcst.parse_module`` alone, in this process: the machine may be busy with
other things, the ratio of the two says what counts. No test: a machine's speed is no defect.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import tokenize
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import libcst

FILES, LINES, TOOL_FILES = 24_000, 1_000, 300
MEDIAN_LIMIT, HIGH_LIMIT, MEMORY_LIMIT = 0.6, 1.2, 130.0
SETTLING = 10.0

# --- a project -----------------------------------------------------------------------------------------------

PLAIN = '''\
"""Readings of building {number}."""


class Building{number}:
    """One building."""

    def __init__(self, area: float, storeys: int) -> None:
        self.area, self.storeys = area, storeys

    def per_storey(self) -> float:
        """The area of one storey."""
        return self.area / self.storeys


def mean(values: list[float]) -> float:
    """The mean of some readings."""
    return sum(values) / len(values) if values else 0.0
'''
HELPERS = '''\
"""What the tools share."""


def demand(area: float, loss: float) -> float:
    """Heat demand."""
    return area * loss
'''
TOOL = '''

@tool
def heat_{number}(area: float, loss: float = 0.{number}) -> dict:
    """Heat demand of building {number}, in kWh a year."""
    needed = demand(area, loss)
    note = f"building {number} with {{area}} m2"
    if area > {number}00:
        return {{"error": "The building is too large.", "note": note}}
    # What a building loses goes with its surface.
    return {{
        "heat": {{"value": needed * 24, "unit": "kWh/year"}},
        "needed": needed,
        "note": note,
    }}
'''
HEAD = '"""Tools for buildings."""\n\nfrom langchain_core.tools import tool\n\nfrom helpers import demand\n'


def write_project(root: Path) -> Path:
    """Write a project and return its tool file."""
    (root / "pyproject.toml").write_text("")
    (root / "helpers.py").write_text(HELPERS)
    for number in range(FILES - TOOL_FILES - 1):
        folder = root / "plain" / f"part_{number // 200}"
        if number % 200 == 0:
            folder.mkdir(parents=True)
        (folder / f"building_{number}.py").write_text(PLAIN.format(number=number))
    (root / "tools").mkdir()
    for number in range(TOOL_FILES - 1):
        (root / "tools" / f"tools_{number}.py").write_text(HEAD + TOOL.format(number=number))
    file = root / "agent.py"
    count = LINES // TOOL.count("\n")
    file.write_text(HEAD + "".join(TOOL.format(number=number) for number in range(1, count + 1)))
    return file


# --- a client ------------------------------------------------------------------------------------------------


class Wire:
    """The least client there can be: it adds nothing to what is measured."""

    def __init__(self, root: Path, cache: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "gllint", "server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # pygls logs whatever it cannot read
            env={**os.environ, "GLLINT_CACHE_DIR": cache},
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

    def diagnostics(self, uri: str, version: int | None = None) -> list[Any]:
        """The next diagnostics of a buffer, or those of one version."""
        while True:
            message = self.receive()
            if message.get("method") == "textDocument/publishDiagnostics":
                params = message["params"]
                if params["uri"] == uri and version in (None, params.get("version")):
                    return list(params["diagnostics"])

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


class Buffer:
    """An open file: its text, and the edits that were made."""

    def __init__(self, wire: Wire, path: Path) -> None:
        self.wire, self.uri = wire, path.as_uri()
        self.text, self.version = path.read_text("utf-8"), 0
        document = {"uri": self.uri, "languageId": "python", "version": 0, "text": self.text}
        wire.notify("textDocument/didOpen", {"textDocument": document})

    def edit(self, start: int, end: int, new: str) -> None:
        """Put ``new`` between two offsets."""
        self.version += 1
        place = {"start": self._position(start), "end": self._position(end)}
        self.text = self.text[:start] + new + self.text[end:]
        document = {"uri": self.uri, "version": self.version}
        change = {"range": place, "text": new}
        self.wire.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})

    def _position(self, offset: int) -> dict[str, int]:
        before = self.text[:offset]
        column = len(before.rpartition("\n")[2].encode("utf-16-le")) // 2
        return {"line": before.count("\n"), "character": column}


# --- edits ---------------------------------------------------------------------------------------------------


class Spot(NamedTuple):
    """Where something can be typed, and what."""

    offset: int
    new: str


def spots(text: str) -> dict[str, list[Spot]]:
    """Where one key can be pressed, by the kind of edit that it is."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found: dict[str, list[Spot]] = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        start = starts[token.start[0] - 1] + token.start[1]
        end = starts[token.end[0] - 1] + token.end[1]
        match token.type:
            case tokenize.STRING if end - start > 8:
                found.setdefault("a text", []).append(Spot((start + end) // 2, "e"))
            case tokenize.NUMBER:
                found.setdefault("a number", []).append(Spot(end, "7"))
            case tokenize.NAME if len(token.string) > 3 and token.string.islower():
                found.setdefault("a name", []).append(Spot(end, "x"))
            case tokenize.NEWLINE:
                indent = len(token.line) - len(token.line.lstrip())
                found.setdefault("a new line", []).append(Spot(start, "\n" + " " * indent))
                found.setdefault("a comment", []).append(Spot(start, "  # x"))
            case tokenize.OP if token.string == ")":
                found.setdefault("broken syntax", []).append(Spot(start, "("))
    return found


def helper_edits(wire: Wire, tool: Buffer, root: Path, count: int) -> Iterator[Callable[[], None]]:
    """Edits of a helper that change what the tool file's findings are; each waits for those."""
    helper = Buffer(wire, root / "helpers.py")
    wire.diagnostics(helper.uri, 0)

    def press(start: int, end: int, new: str) -> None:
        helper.edit(start, end, new)
        wire.diagnostics(tool.uri)

    number, text = "-> float", "-> str"
    for turn in range(count):
        old, new = (number, text) if turn % 2 == 0 else (text, number)
        start = helper.text.index(old)

        yield partial(press, start, start + len(old), new)


def edits(tool: Buffer, rng: random.Random, count: int) -> Iterator[tuple[str, Callable[[], None]]]:
    """Edits of the tool file, of all kinds in turn; each waits for its own diagnostics."""
    places = spots(tool.text)

    def press(start: int, end: int, new: str) -> None:
        tool.edit(start, end, new)
        tool.wire.diagnostics(tool.uri, tool.version)

    for number in range(count // 2):
        kind = sorted(places)[number % len(places)]
        offset, new = rng.choice(places[kind])
        yield kind, partial(press, offset, offset, new)
        yield kind, partial(press, offset, offset + len(new), "")


# --- the measurement -----------------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("project", type=Path, nargs="?")
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--edits", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between keystrokes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gllint-measure-") as place:
        if options.project is None:
            root = Path(place, "project")
            root.mkdir()
            file = write_project(root)
        else:
            root, file = options.project.resolve(), options.file.resolve()
        measure(root, file, f"{place}/cache", options)


def measure(root: Path, file: Path, cache: str, options: argparse.Namespace) -> None:
    """Drive the server and print what it took."""
    started = time.perf_counter()
    wire = Wire(root, cache)
    tool = Buffer(wire, file)
    found = wire.diagnostics(tool.uri, 0)
    files = sum(1 for _ in root.rglob("*.py"))
    print(
        f"{file.name}: {tool.text.count(chr(10))} lines, {len(found)} findings; {files} files in the project"
    )
    print(f"first diagnostics after {time.perf_counter() - started:.1f} s, {wire.memory():.0f} MB")
    time.sleep(SETTLING)

    rng = random.Random(options.seed)
    keys: dict[str, list[float]] = {}
    bare: list[float] = []
    ratios: list[float] = []
    memories: list[float] = []
    every = max(1, options.edits // 10)
    for number, (kind, press) in enumerate(edits(tool, rng, options.edits), 1):
        keys.setdefault(kind, []).append(_seconds(press))
        if (seconds := _bare_parse(tool.text)) is not None:
            bare.append(seconds)
            ratios.append(keys[kind][-1] / seconds)
        if number % every == 0:
            memories.append(wire.memory())
            print(f"{number} edits, {memories[-1]:.0f} MB", file=sys.stderr, flush=True)
        time.sleep(options.pause)
    if options.project is None:
        for press in helper_edits(wire, tool, root, 40):
            keys.setdefault("a helper", []).append(_seconds(press))
            bare.append(_bare_parse(tool.text) or 0.0)

    parse = statistics.median(bare)
    print(_row("bare parse", bare, parse))
    for kind, times in sorted(keys.items()):
        print(_row(kind, times, parse))
    together = [seconds for times in keys.values() for seconds in times]
    print(_row("ALL", together, parse))
    beside = f"median {statistics.median(ratios):.2f} x  95 % {_high(ratios):.2f} x"
    print(f"each edit of the tool file against the parse beside it: {beside}")
    print("memory (MB): " + " ".join(f"{m:.0f}" for m in memories) + f"; peak {wire.memory('VmHWM'):.0f}")
    wire.request("shutdown", None)
    wire.notify("exit", None)
    wire.process.wait(10)
    is_fast = statistics.median(ratios) <= MEDIAN_LIMIT and _high(ratios) <= HIGH_LIMIT
    is_small = max(memories) < MEMORY_LIMIT
    print("within the limits" if is_fast and is_small else "NOT within the limits")


def _seconds(do: Callable[[], None]) -> float:
    begun = time.perf_counter()
    do()
    return time.perf_counter() - begun


def _bare_parse(text: str) -> float | None:
    """How long the parser takes, ``None`` where the text is broken."""
    begun = time.perf_counter()
    try:
        libcst.parse_module(text)
    except libcst.ParserSyntaxError:
        return None
    return time.perf_counter() - begun


def _high(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1] if len(times) > 1 else times[0]


def _row(kind: str, times: list[float], parse: float) -> str:
    shown = [(statistics.median(times), "median"), (_high(times), "95 %"), (max(times), "worst")]
    columns = "  ".join(f"{name} {value * 1000:6.0f} ms {value / parse:5.2f} x" for value, name in shown)
    return f"{kind:>14} {len(times):5}:  {columns}"


if __name__ == "__main__":
    main()

"""Killed at a random moment: each file is as it was or as it was to be, nothing is left over, nobody stays behind.

Three hundred times in an hour, over everything that writes: fixes, suppressions, baselines, reports, the cache, ``init``
with its hooks, an editor's server, the guard's transcript, and a conversation that is stored after each turn.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from trust import AGENT, GLLINT, Budget, Row, gllint, write

import gllint as program
import gllint_rules
import gllint_runtime
from gllint_runtime import GLError, Session

_COPIES = 4
_MODES = {
    "--fix": "check --fix --unsafe-fixes --jobs 2",
    "--add-noqa": "check --add-noqa --jobs 2",
    "--write-baseline": "check --write-baseline base.json --jobs 2",
    "--output-file and the cache": "check --output-format json --output-file out.json --jobs 2",
    "the configuration": "init --yes",
    "hooks of commits and agents": "init --yes --agent claude-code --agent codex",
}
_LEAST, _MOST = 34, 42  # kills of each of the nine in an hour: by each signal, early and late
_CELLS = [{"cell_type": "code", "metadata": {}, "source": AGENT["plant/tools.py"], "outputs": []}]
_NOTEBOOK = json.dumps({"cells": _CELLS, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)
_OTHERS = {  # to which somebody else's lines belong
    ".pre-commit-config.yaml": "repos:\n  - repo: local\n    hooks: []\n",
    ".claude/settings.json": '{"permissions": {"allow": ["Bash(ls)"]}}\n',
    "CLAUDE.md": "# Ours\n\nBe kind.\n",
    "AGENTS.md": "# Ours\n",
}
_ROOM = (0, 100, 700)  # bytes that a file may hold
_LEAST_WORKERS = 3
_WORKERS, _MANY = 5, 2500  # files, so that they are looked at by several processes
_SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
_FRAME = re.compile(rb'^ *File "([^"\n]+)", line', re.MULTILINE)
ROOMS = [Path(package.__path__[0]).resolve() for package in (program, gllint_rules, gllint_runtime)]


def suite(budget: Budget) -> Iterator[Row]:
    modes, rooms = (list(_MODES), _ROOM) if budget.is_long() else (["--write-baseline"], _ROOM[1:2])
    with TemporaryDirectory() as folder:
        yield from _kills(budget.part(0.85), modes, Path(folder))
        tried, full = 0, list[str]()
        for mode, room in itertools.product(modes, rooms):
            full += _full(Path(folder, f"{mode}{room}"), mode, room)
            tried += 1
        for mode in modes if budget.is_long() else ():
            with _small_disk(Path(folder, f"disk{mode}")) as disk:
                if disk is not None:
                    full += _full(disk, mode)
                    tried += 1
        yield Row("interruption: no room to write", f"{tried} runs", full, tried, len(modes) * len(rooms))
        if budget.is_long():
            yield _lost_workers(budget.part(0.9), Path(folder, "lost"))


class _Kill(NamedTuple):
    """One that is to be killed: what it does, where, by which signal, and after which part of its time."""

    mode: str
    top: Path
    which: signal.Signals
    after: float


class _Killed(NamedTuple):
    """What came of it."""

    mode: str
    wrong: list[str]


def _kills(budget: Budget, modes: list[str], folder: Path) -> Iterator[Row]:
    """A row for each mode. They take turns, so that a run that ends early has seen all of them."""
    whole = {mode: _run_whole(folder / f"whole {mode}", _MODES[mode].split()) for mode in modes}
    attempts: dict[str, Callable[[_Kill], list[str]]] = {
        mode: partial(_kill_command, _MODES[mode].split(), *whole[mode]) for mode in modes
    }
    if budget.is_long():
        attempts |= {
            "the server": partial(_kill_server, _found_in(folder / "server")),
            "the guard": _kill_guard,
            "a conversation": _kill_conversation,
        }
    kills = [
        _Kill(
            mode,
            folder / f"{number} {mode}",
            _SIGNALS[number % len(_SIGNALS)],
            # Most of what is written is written at the end.
            budget.random.uniform(*((0.0, 1.0), (0.6, 1.1))[number // len(_SIGNALS) % 2]),
        )
        for number in range(_MOST if budget.is_long() else 1)
        for mode in attempts
    ]
    counts, wrong = dict.fromkeys(attempts, 0), {mode: list[str]() for mode in attempts}

    def fewest(_: list[_Killed]) -> int:
        return min(counts.values())

    for done in budget.map(partial(_kill, attempts), kills, partial(_Killed, ""), _LEAST, fewest):
        counts[done.mode or next(iter(attempts))] += 1
        wrong[done.mode or next(iter(attempts))] += done.wrong
    for mode, count in counts.items():
        yield Row(f"interruption: {mode}", f"{count} kills", wrong[mode][:20], count, _LEAST)


def _kill(attempts: dict[str, Callable[[_Kill], list[str]]], kill: _Kill) -> _Killed:
    try:
        said = attempts[kill.mode](kill)
    finally:
        shutil.rmtree(kill.top, ignore_errors=True)
    return _Killed(kill.mode, [f"{kill.which.name} after {kill.after:.2f}: {line}" for line in said])


def _project(top: Path) -> dict[str, bytes]:
    write(top, {f"{number}/{name}": text for number in range(_COPIES) for name, text in AGENT.items()})
    write(top, {"gllint.toml": "", "a.ipynb": _NOTEBOOK, **_OTHERS})
    return _content(top)


def _content(top: Path) -> dict[str, bytes]:
    """What lies in a folder, the cache and its key aside, which guard themselves."""
    return {
        str(path.relative_to(top)): path.read_bytes()
        for path in sorted(top.rglob("*"))
        if path.is_file() and not {".gllint_cache", ".local"} & {*path.parts}
    }


def _run_whole(top: Path, arguments: list[str]) -> tuple[dict[str, bytes], float]:
    _project(top)
    begun = time.monotonic()
    gllint(*arguments, cwd=top)
    seconds = time.monotonic() - begun
    return _content(top), seconds


@contextlib.contextmanager
def _small_disk(top: Path) -> Iterator[Path | None]:
    """A file system of 2 MB, where somebody may mount one."""
    top.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(top)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        yield None
        return
    try:
        yield top / "project"
    finally:
        subprocess.run(["umount", str(top)], check=True)


def _full(top: Path, mode: str, room: int | None = None) -> list[str]:
    """What is wrong where no file can hold more than ``room`` bytes; without it, where the disk is full."""
    before = _project(top)
    if room is None:
        with contextlib.suppress(OSError), (top.parent / "filling").open("wb", buffering=0) as file:
            while file.write(b"x" * 4096):
                pass
    done = subprocess.run(
        [*GLLINT, *_MODES[mode].split()],
        cwd=top,
        env={**os.environ, "HOME": str(top)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=partial(_limit, room),
        timeout=120,
        check=False,
    )
    now = _content(top)
    where = "a full disk" if room is None else f"{room} bytes"
    wrong = [
        f"{mode} with {where}: {name} is gone, cut off or left over"
        for name in before.keys() | now.keys()
        if ".gllint-" in name or (name in before and len(now.get(name, b"")) < len(before[name]))
    ]
    if b"Traceback" in done.stderr or b"internal error" in done.stderr or not done.stderr.strip():
        wrong.append(f"{mode} with {where}: says {done.stderr[-200:]!r}")
    return wrong


def _limit(room: int | None) -> None:
    if room is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))


def _lost_workers(budget: Budget, top: Path) -> Row:
    """Where a process that helps is killed, another one looks at its files, or they are said to be lost."""
    _project(top)
    write(top, {f"many/m{number}.py": "from plant.tools import heat\n" for number in range(_MANY)})
    command = [*GLLINT, "check", "--no-cache", "--jobs", "2", "--output-format", "json"]
    wanted = subprocess.run(command, cwd=top, capture_output=True, timeout=240, check=False).stdout
    count, wrong = 0, list[str]()
    for _ in itertools.islice(budget.rounds(_LEAST_WORKERS), _WORKERS):
        wrong += _without_worker(command, top, wanted)
        count += 1
    return Row("interruption: a worker killed", f"{count} runs", wrong, count, _LEAST_WORKERS)


def _without_worker(command: list[str], top: Path, wanted: bytes) -> list[str]:
    process = subprocess.Popen(command, cwd=top, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None and not (found := children.read_text().split()):
        time.sleep(0.002)
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(found[-1]), signal.SIGKILL)
    try:
        told, said = process.communicate(timeout=240)
    except subprocess.TimeoutExpired:
        process.kill()
        return ["waits for a worker that was killed"]
    return [] if told == wanted or said.strip() else ["other findings, and nothing is said"]


def _kill_command(arguments: list[str], wanted: dict[str, bytes], seconds: float, kill: _Kill) -> list[str]:
    """A command of the command line: what it leaves, and what the next run says and leaves."""
    top = kill.top
    before = _project(top)
    said = _ended(_start(top, *arguments), kill.which, 0.02 + kill.after * seconds)
    if said is None:
        return ["somebody still holds its output after a minute"]
    wrong = _left(before, _content(top), wanted) + traceback_in(said, kill.which)
    again = gllint(*arguments, cwd=top)
    wrong += [f"the next run says {again.stderr[-200:]}"] if again.returncode not in (0, 1) else []
    return wrong + [
        f"{name} differs after the next run"
        for name, data in _content(top).items()
        if data != wanted.get(name)
    ]


def _start(top: Path, *arguments: str) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    environment = {**os.environ, "HOME": str(top)}
    return subprocess.Popen(
        [*GLLINT, *arguments], cwd=top, env=environment, stdin=pipe, stdout=pipe, stderr=pipe
    )


def _ended(process: subprocess.Popen[bytes], which: signal.Signals, after: float) -> bytes | None:
    """What it said on standard error once it was killed; ``None`` where somebody stays behind."""
    time.sleep(after)
    process.send_signal(which)
    try:
        # The pipes end only when the last process that holds them has ended.
        return process.communicate(timeout=60)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        return None


def traceback_in(said: bytes, which: signal.Signals) -> list[str]:
    """A traceback, other than that of an interrupt in which nothing of gllint runs yet: Python itself is loading."""
    if b"Traceback" not in said:
        return []
    frames = [Path(os.fsdecode(file)) for file in _FRAME.findall(said)]
    is_ours = any(file.is_relative_to(room) for file in frames for room in ROOMS)
    is_interrupt = which is signal.SIGINT and said.rstrip().endswith(b"KeyboardInterrupt")
    return [] if frames and is_interrupt and not is_ours else [f"a traceback: {said[-300:]!r}"]


def _left(before: dict[str, bytes], now: dict[str, bytes], wanted: dict[str, bytes]) -> list[str]:
    # A baseline and a report name no folder, so that they are the same in each copy.
    return [
        *(f"{name} is left over" for name in now if name not in before and name not in wanted),
        *(f"{name} is gone" for name in before if name not in now),
        *(f"{name} is half-written" for name in now if now[name] not in (before.get(name), wanted.get(name))),
    ]


# --- what runs on and on ------------------------------------------------------------------------------------


def _message(number: int | None, method: str, **params: Any) -> bytes:
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(message if number is None else {**message, "id": number}).encode()


def _many_files(top: Path) -> dict[str, bytes]:
    """A project of so many files that the server has another process learn them."""
    _project(top)
    write(top, {f"plain/m{number}.py": f"x = {number}\n" for number in range(80)})
    return _content(top)


def _found_in(top: Path) -> str:
    _many_files(top)
    return gllint("check", "-q", "--output-format", "json", "--no-cache", cwd=top).stdout


def _kill_server(expected: str, kill: _Kill) -> list[str]:
    """An editor's server, while it learns the project and keeps what it learns, and while somebody types."""
    top = kill.top
    before = _many_files(top)
    process = _start(top, "server")
    texts = [AGENT["plant/tools.py"] + "# more\n" * number for number in range(6)]
    uri = (top / "0/plant/tools.py").as_uri()
    messages = [
        _message(1, "initialize", processId=None, rootUri=top.as_uri(), capabilities={}),
        _message(None, "initialized"),
        _message(None, "textDocument/didOpen", textDocument={"uri": uri, "languageId": "python", "version": 0, "text": texts[0]}),
        *(
            _message(None, "textDocument/didChange", textDocument={"uri": uri, "version": version}, contentChanges=[{"text": text}])
            for version, text in enumerate(texts[1:], 1)
        ),
    ]  # fmt: skip
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        for message in messages:
            process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(message), message))
        process.stdin.flush()
    said = _ended(process, kill.which, 0.1 + 2.5 * kill.after)
    if said is None:
        return ["somebody still holds its output after a minute"]
    wrong = _left(before, _content(top), before)
    again = gllint("check", "-q", "--output-format", "json", cwd=top)
    if again.stdout != expected:
        wrong.append(f"the next run finds something else: {again.stderr[-200:]}")
    return wrong


_SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        heat = {"heat": {"value": message["id"], "unit": "kWh"}, "note": "x" * (message["id"] % 7 * 20_000)}
        result = {"content": [{"type": "text", "text": json.dumps(heat)}], "structuredContent": heat}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def _kill_guard(kill: _Kill) -> list[str]:
    """The guard, while it passes results of all sizes on: what its client was told stands in the transcript.

    All of them fit into the 64 MB of that.
    """
    top = kill.top
    write(top, {"gllint.toml": "", "server.py": _SERVER})
    trace = top / "trace.jsonl"
    told = set[int]()
    for which, after in (
        (kill.which, 0.3 + kill.after),
        (signal.SIGTERM, None),
    ):  # the second one is let end by itself
        process = _start(top, "mcp", "--guard", "--trace", "trace.jsonl", "--", sys.executable, "server.py")
        reader = threading.Thread(target=_read_answers, args=(process, told))
        reader.start()
        first = 1000 * len(told) + 1
        assert process.stdin is not None
        timer = threading.Timer(after if after is not None else 60, process.send_signal, [which])
        timer.start()
        with contextlib.suppress(BrokenPipeError):
            for number in range(first, first + (30 if after is None else 300)):
                process.stdin.write(_message(number, "tools/call", name="heat", arguments={}) + b"\n")
                process.stdin.flush()
            if after is None:
                process.stdin.close()
        reader.join(60)
        if reader.is_alive():
            process.kill()
            return ["somebody still holds its output after a minute"]
        timer.cancel()
        process.wait(60)
        if after is not None and process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
    kept, asked, broken = set[int](), set[int](), 0
    for line in trace.read_bytes().split(b"\n")[:-1]:
        try:
            entry = json.loads(line)
        except ValueError:
            broken += 1
            continue
        {"server": kept, "client": asked}[entry["from"]].add(entry["message"]["id"])
    wrong = (
        [f"{len(told - kept)} answers that the client was given are not in the transcript"]
        if told - kept
        else []
    )
    lost = {*range(first, first + 30)} - asked
    wrong += [f"{len(lost)} calls of the next guard are not in the transcript"] if lost else []
    wrong += (
        [f"{broken} lines of the transcript are half-written"]
        if broken > (kill.which == signal.SIGKILL)
        else []
    )
    audit = gllint("audit", "trace.jsonl", cwd=top)
    is_read = (
        audit.returncode in (0, 1) or "no answer that can be read" in audit.stdout + audit.stderr
    )  # no model answers
    return wrong + ([f"the audit says {audit.stderr[-300:]}"] if not is_read and not broken else [])


def _read_answers(process: subprocess.Popen[bytes], told: set[int]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if line.endswith(b"\n"):
            told.add(json.loads(line)["id"])


_TALK = """
import os, sys
from gllint_runtime import Session
from load import heat
path, key = sys.argv[1:]
while True:
    session = Session.from_json(open(path).read(), key=key) if os.path.exists(path) else Session()
    assert heat(session, session.count) == []
    with open(path + ".new", "w") as file:  # as a store that is no good at it
        file.write(session.to_json(key=key))
    os.replace(path + ".new", path)
    print(session.count, flush=True)
"""


def _kill_conversation(kill: _Kill) -> list[str]:
    """One that is stored after each turn: the next process goes on behind the last; half of a text is refused."""
    top, key, last = kill.top, "the key of the store", 0
    write(top, {"talk.py": _TALK})
    store, folder = top / "session.json", str(Path(__file__).parent)
    for _ in range(2):
        process = subprocess.Popen(
            [sys.executable, "talk.py", str(store), key],
            cwd=top,
            env={**os.environ, "PYTHONPATH": folder},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        time.sleep(0.4 + 0.4 * kill.after)
        process.send_signal(kill.which)
        printed, said = process.communicate(timeout=60)
        turns = [int(line) for line in printed.split(b"\n")[:-1] if line]
        if b"AssertionError" in said or b"GLE" in said:
            return [f"the conversation cannot go on: {said[-300:]!r}"]
        if turns and turns != [*range(turns[0], turns[-1] + 1)]:
            return [f"turns are lost: {turns}"]
        if turns and turns[0] not in (last + 1, last + 2):  # stored, and killed before it said so
            return [f"after turn {last} comes turn {turns[0]}"]
        last = turns[-1] if turns else last
    if not store.exists():
        return ["nothing was stored"] if last else []
    whole = Session.from_json(store.read_text(), key=key)
    wrong = [] if whole.count in (last, last + 1) else [f"{whole.count} turns are stored, {last} were told"]
    new = Path(f"{store}.new")
    if new.exists():
        with contextlib.suppress(GLError, ValueError):
            taken = Session.from_json(new.read_text(), key=key)
            wrong += [] if taken.count == whole.count + 1 else ["half of a session was taken for one"]
    return wrong

"""Killed at a random moment: each file is as it was or as it was to be, nothing is left over, nobody stays behind."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import resource
import signal
import subprocess
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from trust import AGENT, GLLINT, Budget, Row, gllint, write

_COPIES = 4
_MODES = {
    "--fix": "check --fix --unsafe-fixes --jobs 2",
    "--add-noqa": "check --add-noqa --jobs 2",
    "--write-baseline": "check --write-baseline base.json --jobs 2",
    "--output-file and the cache": "check --output-format json --output-file out.json --jobs 2",
    "configuration": "init --yes",
}
_CELLS = [{"cell_type": "code", "metadata": {}, "source": AGENT["plant/tools.py"], "outputs": []}]
_NOTEBOOK = json.dumps({"cells": _CELLS, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)
_ROOM = (0, 100, 700)  # bytes that a file may hold
_WORKERS, _MANY = 5, 2500  # files, so that they are looked at by several processes
_SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


def suite(budget: Budget) -> Iterator[Row]:
    modes, rooms = (list(_MODES), _ROOM) if budget.is_long() else (["--write-baseline"], _ROOM[1:2])
    with TemporaryDirectory() as folder:
        for mode in modes:
            yield _kills(mode, Budget(0.6 * budget.seconds / len(modes), budget.seed), Path(folder, mode))
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


def _kills(mode: str, budget: Budget, folder: Path) -> Row:
    arguments = _MODES[mode].split()
    wanted, seconds = _run_whole(folder / "whole", arguments)
    count, wrong = 0, list[str]()
    for number in budget.rounds():
        which = _SIGNALS[number % len(_SIGNALS)]
        after = budget.random.uniform(0.02, seconds)
        said = _killed(folder / str(number), arguments, which, after, wanted)
        wrong += [f"{which.name}: {line}" for line in said]
        count = number + 1
    return Row(f"interruption: {mode}", f"{count} kills", wrong, count, 10)


def _project(top: Path) -> dict[str, bytes]:
    write(top, {f"{number}/{name}": text for number in range(_COPIES) for name, text in AGENT.items()})
    write(top, {"gllint.toml": "", "a.ipynb": _NOTEBOOK})
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
    return _content(top), time.monotonic() - begun


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
    for _ in itertools.islice(budget.rounds(), _WORKERS):
        wrong += _without_worker(command, top, wanted)
        count += 1
    return Row("interruption: a worker killed", f"{count} runs", wrong, count, 3)


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


def _killed(
    top: Path, arguments: list[str], which: signal.Signals, after: float, wanted: dict[str, bytes]
) -> list[str]:
    before = _project(top)
    process = subprocess.Popen(
        [*GLLINT, *arguments],
        cwd=top,
        env={**os.environ, "HOME": str(top)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    time.sleep(after)
    process.send_signal(which)
    try:
        # Both pipes end only when the last process that holds them has ended.
        _, said = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        return ["somebody still holds its output after a minute"]
    wrong = ["a traceback"] if b"Traceback" in said else []
    now = _content(top)
    wrong += [f"{name} is left over" for name in now if name not in before and name not in wanted]
    wrong += [f"{name} is gone" for name in before if name not in now]
    # A baseline and a report name no folder, so that they are the same in each copy.
    wrong += [
        f"{name} is half-written" for name in now if now[name] not in (before.get(name), wanted.get(name))
    ]
    again = gllint(*arguments, cwd=top)
    wrong += [f"the next run says {again.stderr[-200:]}"] if again.returncode not in (0, 1) else []
    wrong += [
        f"{name} differs after the next run"
        for name, data in _content(top).items()
        if data != wanted.get(name)
    ]
    return wrong

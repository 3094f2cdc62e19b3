"""What the suites share: a limit of time, real files, and the row that each of them adds to the table."""

from __future__ import annotations

import gc
import math
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import sysconfig
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: what was tried, what went wrong, how much was tried, and how much an hour tries at least.

    A suite goes on until it has tried its part of that, whatever the time: too few are tried only where the inputs end.
    """

    suite: str
    tried: str
    wrong: list[str] = field(default_factory=list)
    count: int = 1
    least: int = 1

    def verdict(self, hours: float) -> str:
        """A row that tried too little has shown nothing."""
        if self.wrong:
            return "wrong"
        if not self.least:
            return LEFT_OUT
        return "ok" if self.count >= due(self.least, hours) else "too few"


LEFT_OUT = "left out"


def left_out(suite: str) -> Row:
    """The row of what only a whole run does, in a shorter one."""
    return Row(suite, f"takes a run of {60 * _WHOLE:.0f} minutes", count=0, least=0)


def due(least: int, hours: float) -> int:
    """How many inputs a run of so many hours tries at least, where one of an hour tries ``least``."""
    return max(1, math.ceil(least * min(1.0, hours)))


_WHOLE = 0.5  # hours from which a run leaves nothing out


@cache
def standard_libraries() -> tuple[Path, ...]:
    """Those of the Pythons on the machine, their tests included: nothing in them has to do with agents."""
    beside = Path(sys.base_prefix).parent.glob("*/lib/python[23].*")
    found = (
        Path(sysconfig.get_path("stdlib")),
        *sorted(beside),
        *sorted(Path("/usr/lib").glob("python[23].*")),
    )
    return tuple({path.resolve(): None for path in found})


def is_unrelated(path: Path) -> bool:
    """Whether nothing there has to do with agents."""
    return "site-packages" not in path.parts and any(map(path.is_relative_to, standard_libraries()))


def everything(corpora: Sequence[Path]) -> tuple[Path, ...]:
    """What is there to try: the corpora, the standard libraries, and the packages installed."""
    return (*corpora, *standard_libraries(), Path(sysconfig.get_path("purelib")))


class Budget:
    """How long a suite may take, and what it draws from. The same seed tries the same things, as far as it comes.

    ``hours`` are those of the whole run, by which the least number of inputs is measured; an everyday run has none.
    """

    def __init__(
        self, seconds: float, seed: int = 0, folders: Sequence[Path] = (), hours: float = 0.0
    ) -> None:
        self._end = time.monotonic() + seconds
        self.seconds, self.seed, self.hours = seconds, seed, hours
        self.random = random.Random(seed)
        self._folders = tuple(folders)

    def due(self, least: int) -> int:
        """How many inputs are tried whatever the time, where a run of an hour tries ``least``; one is always tried."""
        return due(least, self.hours)

    def goes_on(self, count: int, least: int = 1) -> bool:
        """Whether another input is tried once ``count`` have been: too few have been, or there is time."""
        return count < self.due(least) or time.monotonic() < self._end

    def part(self, share: float) -> Budget:
        """A budget of its own for a share of the time that is left."""
        return Budget(share * (self._end - time.monotonic()), self.seed, self._folders, self.hours)

    def is_long(self) -> bool:
        """Whether this is a run by hand, which does more than an everyday one."""
        return self.hours > 0

    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return self.hours >= _WHOLE

    def rounds(self, least: int = 1, count: Callable[[], int] | None = None) -> Iterator[int]:
        """Number the rounds until there are ``least`` of an hour, by ``count`` where that is given, and the time is up."""
        number = 0
        while self.goes_on(count() if count else number, least) or not number:
            yield number
            number += 1

    def projects(self) -> dict[Path, list[Path]]:
        """The Python files of each project, the largest project first."""
        return _projects(self._folders)

    def parts(self, largest: int) -> dict[Path, list[Path]]:
        """Projects of at most so many files, and the folders of those that have more."""
        found = (_parts(top, files, largest) for top, files in self.projects().items())
        return {top: files for parts in found for top, files in parts if files}

    def files(self) -> Iterator[Path]:
        """The Python files of the corpus, drawn at random; nothing is walked that nobody asks for.

        Of each part of the corpus some come first, and what is left of them all at the end.
        """
        parts = [(top, part) for top in self._folders for part in _tops(top)]
        self.random.shuffle(parts)
        rest: list[Path] = []
        for top, part in parts:
            found = [path for files in _walked(top, part).values() for path in files]
            self.random.shuffle(found)
            yield from found[:_MOST_OF_PART]
            rest += found[_MOST_OF_PART:]
        self.random.shuffle(rest)
        yield from rest

    def map(
        self,
        function: Callable[[_In], _Out],
        items: Iterable[_In],
        broken: Callable[[list[str]], _Out],
        least: int = 1,
        count: Callable[[list[_Out]], int] = len,
    ) -> Iterator[_Out]:
        """What ``function`` makes of the items, in two processes where it is worth it.

        Of those for which there is time, and of ``least`` of an hour in any case, as ``count`` counts what came.
        Where it raises, what ``broken`` makes of the words for that. What is not done then is given up.
        """
        attempt = partial(_attempt, function, broken)
        done: list[_Out] = []
        if not self.is_long():
            for item in items:
                if done and not self.goes_on(count(done), least):
                    break
                done.append(attempt(item))
                yield done[-1]
            return
        is_over = threading.Event()
        try:
            with multiprocessing.get_context("fork").Pool(2, _end_orderly, maxtasksperchild=20) as pool:
                processes = pool._pool  # type: ignore[attr-defined]
                results = pool.imap_unordered(attempt, items)
                try:
                    with suppress(StopIteration, multiprocessing.TimeoutError):
                        while not done or self.goes_on(count(done), least):
                            is_short = count(done) < self.due(least)
                            left = max(0.0, self._end - time.monotonic())
                            done.append(results.next(None if is_short else left))
                            yield done[-1]
                finally:
                    threading.Thread(target=_insist, args=(processes, is_over), daemon=True).start()
        finally:
            is_over.set()


_In = TypeVar("_In")
_Out = TypeVar("_Out")
_MARKS = {"pyproject.toml", "setup.py"}


def _end_orderly() -> None:
    """Let a process that is ended kill what it started, and remove what it wrote; leave alone what others made."""
    gc.freeze()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())


def _insist(processes: Iterable[multiprocessing.Process], is_over: threading.Event) -> None:
    """End processes till all have ended: one that is about to wait hears no signal before it is woken."""
    while not is_over.wait(5):
        for process in list(processes):
            if process.is_alive():
                process.terminate()


def _attempt(function: Callable[[_In], _Out], broken: Callable[[list[str]], _Out], item: _In) -> _Out:
    try:
        return function(item)
    except Exception:
        return broken([f"{item}: {traceback.format_exc()[-1500:]}"])


_MOST_OF_PART = 200  # files that are drawn of a repository, or a package, before the next one is looked at


@cache
def _projects(folders: tuple[Path, ...]) -> dict[Path, list[Path]]:
    """A project has a ``pyproject.toml`` or a ``setup.py``, or lies in one of the folders."""
    found: dict[Path, list[Path]] = {}
    for top in folders:
        for part in _tops(top):
            for project, files in _walked(top, part).items():
                found.setdefault(project, []).extend(files)
    return dict(sorted(found.items(), key=lambda project: -len(project[1])))


@cache
def _tops(top: Path) -> list[Path]:
    """The folders of a corpus, each with all that is in it, and itself for what lies in none; links lead to theirs."""
    if is_unrelated(top):
        return [top]
    here, _, _ = _listed(top)
    within = (Path(entry.path).resolve() for entry in os.scandir(top) if entry.is_dir())
    return [*([top] if here else []), *sorted(path for path in within if path.name not in _INSTALLED)]


@cache
def _walked(top: Path, part: Path) -> dict[Path, list[Path]]:
    """The files of each project in a part of the corpus ``top``."""
    if part == top and not is_unrelated(top):
        return {top: _listed(top)[0]}
    found: dict[Path, list[Path]] = {}
    waiting = [(part, part)]  # a folder, and the project around it
    while waiting:
        folder, project = waiting.pop()
        files, folders, begins = _listed(folder)
        if begins and folder != part:
            project = folder
        if files:
            found.setdefault(project, []).extend(files)
        waiting += [(path, project) for path in reversed(folders)]
    return found


def _listed(folder: Path) -> tuple[list[Path], list[Path], bool]:
    """The Python files of a folder, the folders in it, and whether a project begins there."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return [], [], False
    files = [Path(entry.path) for entry in entries if entry.name.endswith(".py") and entry.is_file()]
    folders = [
        Path(entry.path)
        for entry in entries
        if entry.name not in _INSTALLED and entry.is_dir(follow_symlinks=False)
    ]
    return files, folders, not _MARKS.isdisjoint(entry.name for entry in entries)


_INSTALLED = {"site-packages", "node_modules", ".venv", ".git"}  # into a project


def _parts(top: Path, files: list[Path], largest: int) -> Iterator[tuple[Path, list[Path]]]:
    if len(files) <= largest:
        yield top, files
        return
    yield top, [path for path in files if path.parent == top]
    within = sorted(path for path in files if path.parent != top)
    for name, part in groupby(within, lambda path: path.relative_to(top).parts[0]):
        yield from _parts(top / name, list(part), largest)


def ran(
    *command: str | Path, cwd: Path | None = None, timeout: float = 600, typed: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with these variables beside those that are there, and ``typed`` on its input."""
    environment = {**os.environ, **variables}
    keep: dict[str, Any] = {"capture_output": True, "text": True, "errors": "surrogateescape", "check": False}
    return subprocess.run(command, cwd=cwd, env=environment, timeout=timeout, input=typed, **keep)


GLLINT = (sys.executable, "-m", "gllint")


def gllint(
    *arguments: str, cwd: Path, timeout: float = 120, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run gllint in ``cwd``, where its configuration and its home are, too."""
    return ran(*GLLINT, *arguments, cwd=cwd, timeout=timeout, **{"HOME": str(cwd), **variables})


PYTEST = (sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", "--tb=no")


def run_tests(tests: Sequence[str]) -> tuple[str, list[str]]:
    """Run tests of this repository; what pytest says in the end, and those that failed."""
    done = ran(*PYTEST, "-rf", *tests, cwd=Path(__file__).parents[2], timeout=1200)
    lines = done.stdout.splitlines()
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return (lines or ["nothing"])[-1], failed or ([done.stderr[-500:]] if done.returncode else [])


# Two files that have findings of several rules, fixes and suppressions, and that refer to each other.
AGENT = {
    "plant/__init__.py": "",
    "plant/tools.py": """from langchain_core.tools import tool


@tool
def heat(site):
    return {"site": site, "heat_kwh": survey(site) * 80.0}


@tool
def loss(site):
    return {"loss": {"value": survey(site) + 1, "unit": "kwh"}}


def survey(site):
    return len(site)  # noqa: GL101
""",
    "plant/agent.py": """from plant.tools import heat, loss

FINAL_MESSAGE = "It uses 5 kWh"
agent = Agent(tools=[heat, loss])
heat.invoke({"site": "a"})
""",
}


def write(top: Path, files: dict[str, str]) -> None:
    """Write ``files`` below ``top``."""
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text, encoding="utf-8")


def sum_of(name: str, records: Iterable[Any]) -> int:
    """The sum of a field of some records."""
    return sum(getattr(record, name) for record in records)


def places_in(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each place within plain data: what holds it, and under which key or number."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from places_in(value[key])

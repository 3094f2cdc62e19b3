"""Work over many files, in this process or in several, with the same results in the same order."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from gllint.files.digest import digest
from gllint.files.source import Undecodable, decode
from gllint.files.writing import read_bytes
from gllint.run.parsing import Unparsed, judge
from gllint_rules import Settings
from gllint_rules.reading.stack import on_large_stack
from gllint_rules.words.screen import Screen

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing.process import BaseProcess

# What the first look finds: rules could speak about the file; it could use a tool that another file defines;
# a comment in it suppresses findings of ours by name; it cannot be read; it is no text; Python was asked and takes it.
PASSES, MAY_USE, MARKED, UNREADABLE, UNDECODABLE, IS_PYTHON = 1, 2, 4, 8, 16, 32
_MARKS = (b"gllint:", b"oqa")
_NAMES_US = re.compile(rb"gllint:|(?i:noqa:(?:(?!noqa:)[^\r\n])*?GL[0-9])")
_WORDS_APART = bytes(c if c < 128 and (chr(c).isalnum() or c == ord("_")) else 32 for c in range(256))
_CHUNK = 400
_MOST_PROCESSES = 61  # more are refused on Windows
# What asks a process to end, beside an interrupt.
ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Screened(NamedTuple):
    """What the first look at a file's bytes says: flags, and the digest of a file that passes."""

    flags: int
    digest: bytes = b""
    error: str = ""


def screen_bytes(settings: Settings, data: bytes) -> Screened:
    """Judge a file by its bytes alone."""
    screen = _screen(settings)
    flags = (PASSES if screen.passes(data) else 0) | (MAY_USE if screen.may_use(data) else 0)
    if any(mark in data for mark in _MARKS) and _NAMES_US.search(data):
        flags |= MARKED
    if not _is_text(data):
        flags |= UNDECODABLE
    return Screened(flags, digest(data) if flags & PASSES else b"")


def _is_text(data: bytes) -> bool:
    if data.isascii() and b"\0" not in data and b"coding" not in data[:1000]:
        return True
    try:
        decode(data)
    except Undecodable:
        return False
    return True


def judge_file(_: None, path: str) -> Unparsed | None:
    """Say why a file is no Python, ``None`` where it is."""
    try:
        return judge(read_bytes(path))
    except OSError as error:
        return Unparsed(f"cannot be read: {error.strerror}")


def screen_file(settings: Settings, path: str) -> Screened:
    """Judge a file on disk. One that cannot be read is flagged so, with the reason."""
    try:
        return screen_bytes(settings, read_bytes(path))
    except FileNotFoundError:
        return Screened(0)
    except OSError as error:
        return Screened(UNREADABLE, b"", f"cannot be read: {error.strerror}")


def uses_file(work: tuple[Settings, frozenset[bytes]], path: str) -> bytes:
    """Return the digest of a file that uses one of the tools named, ``b""`` of any other."""
    settings, names = work
    try:
        data = read_bytes(path)
    except OSError:
        return b""
    return digest(data) if _screen(settings).uses(data, names) else b""


def words_of_file(words: frozenset[str], path: str) -> frozenset[str]:
    """Return which of ``words`` a file holds; all of them where it is there and cannot be read."""
    try:
        return words_in(words, read_bytes(path))
    except FileNotFoundError:
        return frozenset()
    except OSError:
        return words


def words_in(words: frozenset[str], data: bytes) -> frozenset[str]:
    """Return which of ``words`` these bytes hold. A word beyond ASCII counts as held where the file goes there, too."""
    held = set(data.translate(_WORDS_APART).split())
    plain = {word for word in words if word.isascii() and word.encode() in held}
    return frozenset(plain if data.isascii() else plain | {word for word in words if not word.isascii()})


@lru_cache(maxsize=16)
def _screen(settings: Settings) -> Screen:
    return Screen(settings)


class Pool:
    """Runs a function over paths. Processes are started only by the first work that is worth them."""

    def __init__(self, jobs: int | None) -> None:
        self.jobs = jobs or _cores()
        self._executor: ProcessPoolExecutor | None = None

    def map(
        self,
        function: Callable[[Any, str], _Result],
        work: Any,
        paths: Sequence[str],
        *,
        worth: bool,
        chunk: int = _CHUNK,
        tick: Callable[[int], None] = lambda done: None,
    ) -> Iterator[_Result]:
        """Yield ``function(work, path)`` for each path, in order; in several processes if ``worth`` it."""
        if not worth or self.jobs < 2 or len(paths) <= chunk:
            for path in paths:
                yield function(work, path)
                tick(1)
            return
        chunks = [paths[start : start + chunk] for start in range(0, len(paths), chunk)]
        for part in self._run(function, work, chunks):
            yield from part
            tick(len(part))

    def _run(
        self, function: Callable[[Any, str], _Result], work: Any, chunks: list[Sequence[str]]
    ) -> Iterator[list[_Result]]:
        from concurrent.futures.process import BrokenProcessPool

        try:
            executor = self._start()
            futures = [executor.submit(_apply, function, work, chunk) for chunk in chunks]
        except (OSError, ImportError, NotImplementedError):
            # No processes to be had here: the work is done all the same.
            self.kill()
            for chunk in chunks:
                yield _apply(function, work, chunk)
            return
        for future, chunk in zip(futures, chunks, strict=True):
            try:
                yield future.result()
            except BrokenProcessPool:
                yield [self._alone(function, work, path) for path in chunk]

    def _alone(self, function: Callable[[Any, str], _Result], work: Any, path: str) -> _Result:
        """Run one path again in sound processes: some file of its chunk took the last ones down."""
        from concurrent.futures.process import BrokenProcessPool

        for _ in range(2):
            try:
                return self._start().submit(function, work, path).result()
            except BrokenProcessPool:
                self.close()
        return cast(_Result, _crashed(function))

    def _start(self) -> ProcessPoolExecutor:
        if self._executor is None:
            from concurrent.futures import ProcessPoolExecutor

            self._executor = ProcessPoolExecutor(min(self.jobs, _MOST_PROCESSES), initializer=_begin)
        return self._executor

    def close(self) -> None:
        """Let the processes go; work that has not begun is dropped."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
            self._executor = None

    def kill(self) -> None:
        """End the processes in the middle of their work."""
        if self._executor is not None:
            from multiprocessing import active_children

            for process in active_children():
                process.terminate()
            self.close()


def _crashed(function: Callable[[Any, str], Any]) -> Any:
    """Return what ``function`` says of a file that killed the process which read it."""
    if function is words_of_file:
        return frozenset()
    if function is judge_file:
        return Unparsed("the parser crashed on this file")
    return b"" if function is uses_file else Screened(UNREADABLE, b"", "cannot be read")


def _apply(function: Callable[[Any, str], _Result], work: Any, paths: Sequence[str]) -> list[_Result]:
    return on_large_stack(lambda: [function(work, path) for path in paths])


def _begin() -> None:
    """Begin a process of the pool: its parent says when it ends, and it never outlives its parent."""
    import threading
    from multiprocessing import parent_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in ENDING:
        signal.signal(name, signal.SIG_DFL)
    threading.Thread(target=_end_with, args=(parent_process(),), daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    """Wait for the end of the parent, however it comes, and end too: whoever reads our output waits for it."""
    parent.join()
    os._exit(1)


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1

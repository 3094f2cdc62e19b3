"""Work over many files, in this process or in several, with the same results in the same order."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from gllint_rules.reading.stack import on_large_stack

if TYPE_CHECKING:
    import signal
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess
else:
    import _signal as signal  # whose numbers do: to make enumerations of them takes as long as checking a file

CHUNK = 400
_MOST_PROCESSES = 61  # more are rejected on Windows
# What asks a process to end, next to an interrupt.
ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
_Result = TypeVar("_Result")


class Pool:
    """Runs a function over paths. Processes are started only by the first work that is worth them."""

    def __init__(self, jobs: int | None) -> None:
        self.jobs = jobs or _cores()
        self._executor: ProcessPoolExecutor | None = None

    def takes(self, paths: Sequence[str], worth: bool, chunk: int = CHUNK) -> bool:
        """Return whether work over ``paths`` is done in other processes."""
        return worth and self.jobs > 1 and len(paths) > chunk

    def map(
        self,
        function: Callable[[Any, str], _Result],
        work: Any,
        paths: Sequence[str],
        *,
        crashed: _Result,
        chunk: int = CHUNK,
        tick: Callable[[int], None] = lambda done: None,
    ) -> Iterator[_Result]:
        """Yield ``function(work, path)`` for each path, in order, computed in several processes.

        ``crashed`` is the result for a path that ended the process which worked on it.
        """
        chunks = [paths[start : start + chunk] for start in range(0, len(paths), chunk)]
        for part in self._run(function, work, chunks, crashed):
            yield from part
            tick(len(part))

    def _run(
        self,
        function: Callable[[Any, str], _Result],
        work: Any,
        chunks: list[Sequence[str]],
        crashed: _Result,
    ) -> Iterator[list[_Result]]:
        """Yield the results of each chunk from other processes; ``crashed`` for a path that ended its process."""
        from concurrent.futures.process import BrokenProcessPool

        try:
            with starting():
                executor = self._start()
                futures = [executor.submit(apply, function, work, chunk) for chunk in chunks]
        except (OSError, ImportError, NotImplementedError):
            # No processes can be started here: the work is done in this one.
            self.kill()
            for chunk in chunks:
                yield apply(function, work, chunk)
            return
        for future, chunk in zip(futures, chunks, strict=True):
            try:
                yield future.result()
            except BrokenProcessPool:
                yield [self._alone(function, work, path, crashed) for path in chunk]

    def _alone(
        self, function: Callable[[Any, str], _Result], work: Any, path: str, crashed: _Result
    ) -> _Result:
        """Run one path again in new processes, after a file of its chunk crashed the old ones."""
        from concurrent.futures.process import BrokenProcessPool

        for _ in range(2):
            try:
                with starting():
                    future = self._start().submit(function, work, path)
                return future.result()
            except BrokenProcessPool:
                self.close()
        return crashed

    def _start(self) -> ProcessPoolExecutor:
        """Return the executor; the first call starts its processes."""
        if self._executor is None:
            from concurrent.futures import ProcessPoolExecutor

            self._executor = ProcessPoolExecutor(
                min(self.jobs, _MOST_PROCESSES), mp_context=context(), initializer=begin
            )
        return self._executor

    def close(self) -> None:
        """End the processes after their current work; work that has not begun is dropped."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
            self._executor = None

    def kill(self) -> None:
        """End the processes in the middle of their work."""
        if "multiprocessing" in sys.modules:
            from multiprocessing import active_children

            for process in active_children():
                process.terminate()
        self.close()


def context() -> BaseContext | None:
    """Return how to start processes: by fork if that is safe, since a fork has everything loaded; else the default."""
    import threading
    from multiprocessing import get_context

    return get_context("fork") if sys.platform == "linux" and threading.active_count() == 1 else None


def apply(function: Callable[[Any, str], _Result], work: Any, paths: Sequence[str]) -> list[_Result]:
    """Return ``function(work, path)`` for each path."""
    return on_large_stack(lambda: [function(work, path) for path in paths])


@contextlib.contextmanager
def starting() -> Iterator[None]:
    """Delay signals while processes are started, so that none is half-started."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    old_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *ENDING})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old_mask)


def begin() -> None:
    """Set up a worker process. It ends when its parent does."""
    import threading
    from multiprocessing import parent_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in ENDING:
        signal.signal(name, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):  # see starting
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    threading.Thread(target=_end_with, args=(parent_process(),), daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    """Wait until the parent ends, and end too, since the reader of the output waits until all processes have ended."""
    parent.join()
    os._exit(1)


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1

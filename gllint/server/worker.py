"""One thread that does all the thinking, so that the thread that reads and writes is always free.

Jobs are done in the order in which they come; what can wait is done step by step while there are none.
"""

from __future__ import annotations

import gc
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from gllint_rules.reading.stack import raise_recursion_limit, start_thread

_T = TypeVar("_T")
# Collecting waits for a pause in typing. Where there is none it comes often, since little at a time is felt least:
# what two or three keystrokes leave behind takes as long as one of them.
_QUIET = 0.3
_LITTER, _MOST_LITTER = 20_000, 60_000


class Worker:
    """A thread with a queue.

    ``step`` does a bit of what can wait. It returns the seconds after which it wants to be asked again, 0 for
    at once, ``None`` for when another job has come. ``fail`` hears of what it raises.
    """

    def __init__(self, step: Callable[[], float | None], fail: Callable[[BaseException], None]) -> None:
        self._step, self._fail = step, fail
        self._jobs: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._changed = threading.Condition()
        self._stopped = False

    def start(self) -> None:
        """Begin to work."""
        raise_recursion_limit()
        if start_thread(self._run) is None:
            threading.Thread(target=self._run, name="gllint", daemon=True).start()

    def stop(self) -> None:
        """Leave all that has not begun."""
        with self._changed:
            self._stopped = True
            self._jobs.clear()
            self._changed.notify()

    def submit(self, job: Callable[[], _T]) -> Future[_T]:
        """Have ``job`` done when all before it are; its future can be cancelled until it begins."""
        future: Future[_T] = Future()
        with self._changed:
            self._jobs.append((future, job))
            self._changed.notify()
        return future

    @property
    def is_stopped(self) -> bool:
        """Return whether no one wants anything any more."""
        return self._stopped

    def _run(self) -> None:
        """Do the jobs in order, and between them steps of the work that can wait."""
        delay: float | None = 0.0
        while not self._stopped:
            job = self._next(delay)
            if job is not None:
                _do(*job)
                delay = 0.0
            elif not self._stopped:
                delay = self._do_step()
            _tidy(_MOST_LITTER)

    def _next(self, delay: float | None) -> tuple[Future[Any], Callable[[], Any]] | None:
        """Return the next job, waiting ``delay`` seconds for one; ``None`` if none has come."""
        with self._changed:
            if delay != 0 and not self._wait(_QUIET if delay is None else min(delay, _QUIET)):
                _tidy(_LITTER)
                self._wait(None if delay is None else delay - _QUIET)
            return self._jobs.popleft() if self._jobs else None

    def _wait(self, seconds: float | None) -> bool:
        """Wait until something is wanted; false if nothing was for so long."""
        return self._changed.wait_for(lambda: bool(self._jobs) or self._stopped, seconds)

    def _do_step(self) -> float | None:
        try:
            return self._step()
        except Exception as error:
            self._fail(error)
            return None


def _do(future: Future[_T], job: Callable[[], _T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(job())
    except BaseException as error:
        future.set_exception(error)


def _tidy(litter: int) -> None:
    """Collect garbage if there is so much: the collector itself is off, it would come in the middle of a job."""
    if not gc.isenabled() and gc.get_count()[0] > litter:
        gc.collect()

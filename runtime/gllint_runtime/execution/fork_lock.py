"""A lock that is free in a process that was forked while a thread had it: that thread does not exist there."""

from __future__ import annotations

import os
import threading
from itertools import count

_forks = count(1)
_generation = 0


def _begin_anew() -> None:
    global _generation
    _generation = next(_forks)


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_begin_anew)


class ForkLock:
    """A re-entrant lock. What it guards must bear that a change breaks off where the process forks."""

    __slots__ = ("_generation", "_lock")

    def __init__(self) -> None:
        self._generation, self._lock = _generation, threading.RLock()

    def __enter__(self) -> None:
        if self._generation != _generation:  # there is one thread yet, the one that forked
            self.__init__()  # type: ignore[misc]
        self._lock.acquire()

    def __exit__(self, *exception: object) -> None:
        self._lock.release()

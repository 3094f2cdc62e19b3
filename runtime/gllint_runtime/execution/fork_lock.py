"""What a process that was forked amid busy threads needs: those threads do not exist there.

A lock that is free although one of them had it, and no module that one of them was importing.
"""

from __future__ import annotations

import os
import sys
import threading
from importlib import import_module
from itertools import count

_forks = count(1)
_generation = 0


def _begin_anew() -> None:
    global _generation
    _generation = next(_forks)


def _end_imports() -> None:
    """Wait for the modules of the runtime that another thread is importing: a child would wait for them for ever."""
    waits: set[str] = set()  # a module that this thread is importing itself stays as it is
    while imports := {name for name, module in [*sys.modules.items()] if _is_under_way(name, module)} - waits:
        waits |= imports
        for name in imports:
            import_module(name)


def _is_under_way(name: str, module: object) -> bool:
    is_own = name.startswith("gllint_runtime.")
    return is_own and getattr(getattr(module, "__spec__", None), "_initializing", False)


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(before=_end_imports, after_in_child=_begin_anew)


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

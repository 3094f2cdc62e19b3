"""Checking the smaller projects of one run in a forked process, while this process checks the others.

A large project alone cannot keep several processors busy, since its tools are found module after module.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, TypeVar

from gllint.run.pool import begin, starting

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

WORTH_BYTES = 10_000_000
# The process uses processors that are idle; the large projects have precedence, since the run waits for them.
_NICE = 10
_Outcome = TypeVar("_Outcome")


class ProjectProcess(Generic[_Outcome]):
    """A process that calls ``check`` for each of ``roots``, with everything that was known before the fork."""

    def __init__(self, roots: list[str], check: Callable[[str], _Outcome]) -> None:
        """Start the process, which goes through all of ``roots`` and then sends their outcomes at once."""
        import multiprocessing

        context = multiprocessing.get_context("fork")
        self.roots = roots
        self._pipe, theirs = context.Pipe(duplex=False)
        self._process = context.Process(target=_serve, args=(roots, check, theirs), daemon=True)
        with starting():
            self._process.start()
        theirs.close()

    def outcomes(self) -> dict[str, _Outcome]:
        """Wait for the process, and return the outcomes by root; none if the process failed."""
        results: dict[str, _Outcome] = {}
        with suppress(OSError, EOFError):
            results = self._pipe.recv()
        self.close()
        return results

    def close(self) -> None:
        """End the process, which has nothing to save."""
        self._process.terminate()
        self._process.join()
        self._pipe.close()


def start(
    sizes: Mapping[str, int], jobs: int, check: Callable[[str], _Outcome]
) -> ProjectProcess[_Outcome] | None:
    """Start a process for the smallest projects, with as much work as one of ``jobs`` processors should do.

    ``sizes`` are the bytes of each project by its root. ``None`` if there is too little work, or no process can be
    forked.
    """
    share = sum(sizes.values()) // max(jobs, 1)
    roots: list[str] = []
    total = 0
    for root in sorted(sizes, key=lambda root: (sizes[root], root)):
        if total + sizes[root] > share:
            break
        total += sizes[root]
        roots.append(root)
    # The libraries of macOS cannot be forked; with other threads, a fork may hang.
    may_fork = sys.platform == "linux" and threading.active_count() == 1
    if jobs < 2 or total < WORTH_BYTES or not may_fork:
        return None
    with suppress(OSError):
        return ProjectProcess(roots, check)
    return None


def _serve(roots: list[str], check: Callable[[str], _Outcome], pipe: Connection) -> None:
    begin()
    with suppress(OSError, AttributeError):  # Windows has none
        os.nice(_NICE)
    with suppress(Exception):  # the parent checks these projects again, and reports the error
        pipe.send({root: check(root) for root in roots})

"""The smaller projects of one run in a process of their own, forked from this one, while this one checks the others.

Much of what a large project takes waits for one processor: what is known of its tools grows module by module.
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
# It takes the processors while the others wait, not from what the others wait for.
_NICE = 10
_Outcome = TypeVar("_Outcome")


class ProjectProcess(Generic[_Outcome]):
    """Checks ``roots`` by ``check``, which is to rest on nothing but what was known before the fork."""

    def __init__(self, roots: list[str], check: Callable[[str], _Outcome]) -> None:
        import multiprocessing

        context = multiprocessing.get_context("fork")
        self.roots = roots
        self._pipe, theirs = context.Pipe(duplex=False)
        self._process = context.Process(target=_serve, args=(roots, check, theirs), daemon=True)
        with starting():
            self._process.start()
        theirs.close()

    def outcomes(self) -> dict[str, _Outcome]:
        """Return what came of the projects by their roots; none if the process is gone."""
        results: dict[str, _Outcome] = {}
        with suppress(OSError, EOFError):
            results = self._pipe.recv()
        self.close()
        return results

    def close(self) -> None:
        """Let the process go; it has nothing to lose."""
        self._process.terminate()
        self._process.join()
        self._pipe.close()


def start(
    sizes: Mapping[str, int], jobs: int, check: Callable[[str], _Outcome]
) -> ProjectProcess[_Outcome] | None:
    """Have the smallest of several projects checked next to the others: what one of ``jobs`` processors takes.

    ``sizes`` are the bytes of each by its root. ``None`` if it is not worth a process, and if none is to be had.
    """
    share = sum(sizes.values()) // max(jobs, 1)
    roots: list[str] = []
    total = 0
    for root in sorted(sizes, key=lambda root: (sizes[root], root)):
        if total + sizes[root] > share:
            break
        total += sizes[root]
        roots.append(root)
    # macOS does not let its libraries be forked; next to other threads a fork may never come back.
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
    with suppress(Exception):  # the parent does it all again, and says what is wrong
        pipe.send({root: check(root) for root in roots})

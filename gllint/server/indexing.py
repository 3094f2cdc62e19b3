"""The first look at a large project, in a process of its own that leaves what it learnt in the cache.

A process of its own may use all cores, can be ended at any moment and takes its memory with it. Run as a
module it prints one line for each step: what is done, how much of it, of how much.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from gllint.run.progress import Progress

if TYPE_CHECKING:
    from gllint_rules.project.project import Project

_INTERVAL = 0.1
_NICE = 5


class Cancelled(Exception):
    """No one wants the index any more."""


class Reporter(Progress):
    """Hands progress on to ``report`` (what, done, total), a few times a second."""

    def __init__(self, report: Callable[[str, int, int], None]) -> None:
        super().__init__(is_enabled=False)
        self._report, self._told_at = report, 0.0

    def expect(self, label: str, total: int) -> None:
        """Begin a stretch of ``total`` steps."""
        super().expect(label, total)
        if total > 1:
            self._tell()

    def tick(self, done: int) -> None:
        """Count steps as done."""
        super().tick(done)
        if time.monotonic() - self._told_at > _INTERVAL:
            self._tell()

    def _tell(self) -> None:
        self._told_at = time.monotonic()
        self._report(self._label, self._done, self._total)


def index_apart(root: str, report: Callable[[str, int, int], None]) -> None:
    """Load the project at ``root`` in a process of its own, which fills the cache.

    ``report`` gets the progress, and may cancel by raising an exception.
    """
    # -P: nothing of the folder that the editor was started in is imported.
    command = [sys.executable, "-P", "-m", __name__, root]
    null, pipe = subprocess.DEVNULL, subprocess.PIPE
    with (
        contextlib.suppress(OSError),
        subprocess.Popen(command, stdin=null, stdout=pipe, stderr=null, text=True) as process,
    ):
        assert process.stdout is not None
        try:
            for line in process.stdout:
                label, done, total = line.rsplit(maxsplit=2)
                report(label, int(done), int(total))
        except BaseException:
            process.terminate()
            raise


def _main(root: str) -> None:
    """Load a project, and print the progress for the server: "reading files 120 500" on a line."""
    from gllint.run.engine import Engine, Options
    from gllint_rules.reading.stack import on_large_stack

    with contextlib.suppress(OSError, AttributeError):  # Windows has none
        os.nice(_NICE)
    engine = Engine(Options(fixes=False))
    engine.progress = Reporter(lambda label, done, total: print(label, done, total, flush=True))
    try:
        engine.places.ask_about([root])
        workspace = engine.workspace(engine.places.project(root))
        on_large_stack(_ask, workspace.index.project)
        workspace.landing(())  # nothing is to be said, but all of it found out
    finally:
        engine.close(interrupted=True)


def _ask(project: Project) -> None:
    """Ask all modules what the server is asked about all of them; what they say is kept with the rest."""
    from gllint_rules.project.descriptions import described_tools

    described_tools(project)


if __name__ == "__main__":
    _main(sys.argv[1])

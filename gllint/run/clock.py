"""The seconds that each step takes and, with ``--timings``, each rule."""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Iterator


class Clock:
    """Adds up seconds by name. ``by_rule`` asks for each rule to be run and timed alone."""

    def __init__(self, by_rule: bool = False) -> None:
        self.by_rule = by_rule
        self.stages: dict[str, float] = {}

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the seconds of the block as those of a step, or of a rule by its code."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.stages[name] = self.stages.get(name, 0.0) + time.perf_counter() - started


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Run a block without the garbage collector: its objects live on, so a search among them finds no garbage."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()

"""Where the time goes: the seconds of each step and, where wanted, of each rule."""

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
        self.rules: dict[str, float] = {}

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the seconds of the block as those of a step."""
        with _counted(self.stages, name):
            yield

    @contextlib.contextmanager
    def rule(self, code: str) -> Iterator[None]:
        """Count the seconds of the block as those of a rule."""
        with _counted(self.rules, code):
            yield


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Make many objects that will stay, without the garbage collector looking through them again and again.

    It takes a third of the time of a parse and six sevenths of that of reading facts back.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextlib.contextmanager
def _counted(totals: dict[str, float], name: str) -> Iterator[None]:
    started = time.perf_counter()
    try:
        yield
    finally:
        totals[name] = totals.get(name, 0.0) + time.perf_counter() - started

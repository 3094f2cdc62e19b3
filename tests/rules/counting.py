"""How much work something is: the calls of functions that it makes. No clock is as steady."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise
from types import FrameType
from typing import Any


def calls(work: Callable[[], object]) -> int:
    """The functions that are called, those of C included."""
    count = 0

    def note(_: FrameType, event: str, __: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    old = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(old)
    return count


def growth(work: Callable[[int], object], size: int) -> list[float]:
    """How many times as much twice the size takes, and twice that again."""
    work(3)  # what is read and compiled at first use
    counts = [calls(lambda n=n: work(n)) for n in (size, 2 * size, 4 * size)]  # type: ignore[misc]
    return [more / fewer for fewer, more in pairwise(counts)]

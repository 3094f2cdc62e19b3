"""What a person reads as a date, a time, a version or the order of items: the patterns of ``contexts.txt``."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache

from gllint_runtime.policy.data_files import sections

ALL = ("dates", "times", "order", "versions")
MOMENTS = ("dates", "times")


@cache
def _contexts(names: tuple[str, ...]) -> Sequence[re.Pattern[str]]:
    tables = sections("../audit/contexts.txt")
    months = sections("designations.txt")["months"]["words"]
    patterns = [pattern for name in names for pattern in tables[name].values()]
    return [re.compile(pattern.replace("<months>", months), re.IGNORECASE) for pattern in patterns]


def places(text: str, names: tuple[str, ...] = ALL) -> list[tuple[int, int]]:
    """Where dates, times, versions and the order of items stand: in order, and apart from each other."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(
        match.span() for pattern in _contexts(names) for match in pattern.finditer(text)
    ):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def is_within(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a place is in one of the spans, which are in order and apart."""
    number = bisect_right(spans, (place, sys.maxsize)) - 1
    return number >= 0 and place < spans[number][1]

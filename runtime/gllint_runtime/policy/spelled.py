"""English numbers in words: ``three``, ``two hundred and fifty``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from gllint_runtime.policy.data_files import sections


@lru_cache(maxsize=64)
def spelled_numbers(text: str) -> list[tuple[int, int, int]]:
    """Return the numbers in words of a text: start, end, value. "One" alone is an article as often."""
    phrases = ((match, re.findall("[a-z]+", match[0].lower())) for match in _pattern().finditer(text))
    return [(match.start(), match.end(), _value(words)) for match, words in phrases if words != ["one"]]


@cache
def _pattern() -> re.Pattern[str]:
    tables = sections("spelled.txt")
    word = f"(?:{'|'.join([*tables['values'], *tables['multipliers']])})"
    return re.compile(rf"(?<![\w-]){word}(?:(?:[ -]|\s+and\s+){word})*(?![\w-])", re.IGNORECASE)


def _value(words: Sequence[str]) -> int:
    """Return the number that words say: ``["two", "hundred", "five"]`` → 205."""
    tables = sections("spelled.txt")
    total = part = 0
    for word in words:
        if word in tables["values"]:
            part += int(tables["values"][word])
        elif word in tables["multipliers"]:
            size = int(tables["multipliers"][word])
            part = (part or 1) * size
            if size >= 1000:
                total, part = total + part, 0
    return total + part

"""Edits of a source text between two offsets."""

from __future__ import annotations

from gllint_rules.finding import Edit
from gllint_rules.reading.positions import Positions


def insertion(positions: Positions, offset: int, content: str) -> Edit:
    """Return the edit that inserts ``content`` at an offset of the source."""
    return Edit(positions.lines.span(offset, offset), content)


def replacement(positions: Positions, start: int, end: int, content: str) -> Edit:
    """Return the edit that replaces the text between two offsets of the source by ``content``."""
    return Edit(positions.lines.span(start, end), content)


def difference(positions: Positions, start: int, old: str, new: str) -> Edit:
    """Return the edit that makes ``new`` of the text ``old`` at ``start``: it replaces only the words that differ."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    if head + tail == len(old):  # an insertion: move it to the beginning of a word
        while head and _cuts(old, head) and old[head - 1] == new[len(new) - tail - 1]:
            head, tail = head - 1, tail + 1
    while head and (_cuts(old, head) or _cuts(new, head)):
        head -= 1
    while tail and (_cuts(old, len(old) - tail) or _cuts(new, len(new) - tail)):
        tail -= 1
    return replacement(positions, start + head, start + len(old) - tail, new[head : len(new) - tail])


def _cuts(text: str, offset: int) -> bool:
    """Return whether ``offset`` is inside a word or a line ending."""
    pair = text[offset - 1 : offset + 1]
    return pair == "\r\n" or (len(pair) == 2 and pair.replace("_", "a").isalnum())

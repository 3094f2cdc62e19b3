"""Which lines of a text are others in another version of it, in a time that grows with the text alone.

:mod:`difflib` looks for the longest stretch that both have, again and again, and compares each line with every one that
is equal to it: sixteen thousand blank lines take it minutes. Here lines that both versions have once keep
them together, and what is between two of them is compared again by itself.
"""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import AnyStr

from gllint_rules.tuples import NamedTuple

_MOST_ROUNDS = 8  # of stretches within stretches
_MOST_PAIRED = 64  # lines of a stretch that difflib compares, each with each
_CONTEXT = 3  # lines around a change that a patch shows


class LineChange(NamedTuple):
    """The lines from ``first`` to before ``last`` of the old version, in the place of which others are in the new."""

    first: int
    last: int
    new_first: int
    new_last: int


def line_changes(old: Sequence[AnyStr], new: Sequence[AnyStr]) -> list[LineChange]:
    """Return the changes that turn the lines ``old`` into ``new``, in order; in long texts they may not be the fewest.

    ``["a", "b"], ["a", "c"]`` → ``[LineChange(1, 2, 1, 2)]``.
    """
    changes: list[LineChange] = []
    for change in _between(old, new, LineChange(0, len(old), 0, len(new)), _MOST_ROUNDS):
        if changes and changes[-1].last == change.first and changes[-1].new_last == change.new_first:
            change = LineChange(changes[-1].first, change.last, changes.pop().new_first, change.new_last)
        changes.append(change)
    return changes


def patch(old: Sequence[bytes], new: Sequence[bytes], old_name: bytes, new_name: bytes) -> Iterator[bytes]:
    """Yield the lines of a patch in the unified format, nothing if ``old`` and ``new`` are the same."""
    changes = line_changes(old, new)
    if changes:
        yield b"--- %b\n" % old_name
        yield b"+++ %b\n" % new_name
    for hunk in _hunks(changes):
        before, behind = min(_CONTEXT, hunk[0].first), min(_CONTEXT, len(old) - hunk[-1].last)
        at, end = hunk[0].first - before, hunk[-1].last + behind
        places = _place(at, end), _place(hunk[0].new_first - before, hunk[-1].new_last + behind)
        yield b"@@ -%b +%b @@\n" % places
        for change in hunk:
            yield from (b" " + line for line in old[at : change.first])
            yield from (b"-" + line for line in old[change.first : change.last])
            yield from (b"+" + line for line in new[change.new_first : change.new_last])
            at = change.last
        yield from (b" " + line for line in old[at:end])


def _hunks(changes: Sequence[LineChange]) -> Iterator[list[LineChange]]:
    """Yield the changes in groups: two in one hunk if their context lines would touch."""
    hunk: list[LineChange] = []
    for change in changes:
        if hunk and change.first - hunk[-1].last > 2 * _CONTEXT:
            yield hunk
            hunk = []
        hunk.append(change)
    if hunk:
        yield hunk


def _place(first: int, last: int) -> bytes:
    """Return where a hunk is in one of the two versions."""
    count = last - first
    return b"%d" % (first + 1) if count == 1 else b"%d,%d" % (first + (count > 0), count)


def _between(
    old: Sequence[AnyStr], new: Sequence[AnyStr], stretch: LineChange, rounds: int
) -> Iterator[LineChange]:
    """Yield the changes in a stretch of lines: equal lines at both ends are skipped, the rest is compared.

    A long rest is cut at lines that occur once in both versions, at most ``rounds`` times.
    """
    first, last, new_first, new_last = stretch
    while first < last and new_first < new_last and old[first] == new[new_first]:
        first, new_first = first + 1, new_first + 1
    while first < last and new_first < new_last and old[last - 1] == new[new_last - 1]:
        last, new_last = last - 1, new_last - 1
    size, new_size = last - first, new_last - new_first
    if not (size and new_size):
        if size or new_size:
            yield LineChange(first, last, new_first, new_last)
    elif max(size, new_size) <= _MOST_PAIRED:
        matcher = difflib.SequenceMatcher(None, old[first:last], new[new_first:new_last], autojunk=False)
        for kind, begin, end, new_begin, new_end in matcher.get_opcodes():
            if kind != "equal":
                yield LineChange(first + begin, first + end, new_first + new_begin, new_first + new_end)
    elif anchors := _anchors(old, new, LineChange(first, last, new_first, new_last)) if rounds else ():
        for line, new_line in anchors:
            yield from _between(old, new, LineChange(first, line, new_first, new_line), rounds - 1)
            first, new_first = line + 1, new_line + 1
        yield from _between(old, new, LineChange(first, last, new_first, new_last), rounds - 1)
    elif size == new_size:
        for number in range(size):
            if old[first + number] != new[new_first + number]:
                line, new_line = first + number, new_first + number
                yield LineChange(line, line + 1, new_line, new_line + 1)
    else:
        yield LineChange(first, last, new_first, new_last)


def _anchors(old: Sequence[AnyStr], new: Sequence[AnyStr], stretch: LineChange) -> list[tuple[int, int]]:
    """Return pairs of line numbers, old and new, of lines that occur once in both versions, as many as keep their
    order.
    """
    first, last, new_first, new_last = stretch
    counts, new_counts = Counter(old[first:last]), Counter(new[new_first:new_last])
    places = {line: at for at, line in enumerate(new[new_first:new_last], new_first) if new_counts[line] == 1}
    pairs = [
        (at, places[line])
        for at, line in enumerate(old[first:last], first)
        if counts[line] == 1 and line in places
    ]
    # The longest row that rises: `ends` has the smallest end of a row of each length, `previous` what it came from.
    ends: list[int] = []
    numbers: list[int] = []
    previous: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        previous.append(numbers[length - 1] if length else -1)
        ends[length : length + 1], numbers[length : length + 1] = [place], [number]
    row: list[tuple[int, int]] = []
    number = numbers[-1] if numbers else -1
    while number >= 0:
        row.append(pairs[number])
        number = previous[number]
    return row[::-1]

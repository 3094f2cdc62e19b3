"""What was read of modules, from which it follows which answers an edit leaves valid."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from typing import TypeAlias, TypeVar

from gllint_rules.reading.outline import SECTION_BITS

_T = TypeVar("_T")
_K = TypeVar("_K")

# One thing that was read: a section of a module by a number (see :meth:`Reads.number`), the path of a file that is no
# module, or anything hashable that the caller notes.
Read: TypeAlias = Hashable
# In place of the number of a section: what the outline says about what is where and of what kind; what it says that
# sections call; what it says that they mention at all.
SHAPE, CALLS, ALL = (1 << SECTION_BITS) - 1, (1 << SECTION_BITS) - 2, (1 << SECTION_BITS) - 3

NOTHING: frozenset[Read] = frozenset()


class Reads:
    """Notes what is read. ``now`` is what was read for the answer that is being worked out."""

    def __init__(self) -> None:
        self.now: set[Read] = set()
        self._numbers = 0

    def number(self) -> int:
        """Return a number for a module: what is read of it bears numbers from here on, section by section."""
        self._numbers += 1
        return self._numbers << SECTION_BITS

    def begin(self) -> set[Read]:
        """Begin to note what is read for an answer; give what this returns to :meth:`end`."""
        outer, self.now = self.now, set()
        return outer

    def end(self, outer: set[Read]) -> frozenset[Read]:
        """Return what was read since; the questions around it have read that, too."""
        read, self.now = frozenset(self.now), outer
        outer |= read
        return read

    def apart(self, answer: Callable[[], _T]) -> _T:
        """Return what ``answer`` returns, without noting for the caller what was read for it."""
        outer = self.begin()
        try:
            return answer()
        finally:
            self.now = outer


def noted(reads: Reads | None, answer: Callable[[], _T]) -> tuple[_T, frozenset[Read]]:
    """Return what ``answer`` gives, and what was read for it, where that is noted."""
    if reads is None:
        return answer(), NOTHING
    outer, read = reads.begin(), NOTHING
    try:
        value = answer()
    finally:
        read = reads.end(outer)
    return value, read


class Spoilt:
    """What is not what it was. ``modules`` are numbers of those of which nothing is; ``reads`` what else."""

    def __init__(self, modules: Collection[int], reads: Collection[Read]) -> None:
        self._modules = frozenset(modules)
        self._reads = frozenset(reads)

    def among(self, answers: Mapping[_K, frozenset[Read]]) -> list[_K]:
        """Return those of ``answers`` that may be others now, by what they rest on."""
        apart = self._reads.isdisjoint
        if not self._modules:
            return [key for key, reads in answers.items() if not apart(reads)]
        return [key for key, reads in answers.items() if not apart(reads) or any(map(self._is_of_one, reads))]

    def _is_of_one(self, read: Read) -> bool:
        return isinstance(read, int) and read >> SECTION_BITS << SECTION_BITS in self._modules

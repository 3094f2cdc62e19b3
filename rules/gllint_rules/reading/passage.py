"""A piece of source, and the places of the nodes of CPython's tree in it."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from itertools import accumulate

_NAME = re.compile(r"\w+")
_NEWLINE = re.compile(r"\r\n?|\n")
_BLANK = re.compile(r"(?:[\s\\]|\#[^\r\n]*+)*+")


def line_starts(source: str) -> list[int]:
    """Where the lines of ``source`` begin; the last one may be empty."""
    if "\r" in source:
        return [0, *(match.end() for match in _NEWLINE.finditer(source))]
    lengths = [len(line) + 1 for line in source.split("\n")]
    return list(accumulate(lengths[:-1], initial=0))


class Passage:
    """A piece of source and where its lines begin, for the places of CPython's tree: lines and bytes in them.

    ``written`` is what is in the file, where that is in newer syntax (:mod:`gllint_rules.reading.newer`).
    ``shift`` leads from its offsets to those of the section.
    """

    __slots__ = ("is_ascii", "shift", "source", "starts", "written")

    def __init__(self, source: str, shift: int = 0, written: str | None = None) -> None:
        self.source, self.shift, self.is_ascii = source, shift, source.isascii()
        self.written = source if written is None else written
        self.starts = line_starts(source)

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a line and a column in bytes."""
        start = self.starts[line - 1]
        if self.is_ascii:
            return start + column
        end = self.starts[line] if line < len(self.starts) else len(self.source)
        return start + len(
            self.source[start:end].encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore")
        )

    def begin(self, node: ast.expr | ast.stmt | ast.arg) -> int:
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.offset(node.end_lineno, node.end_col_offset)

    def of(self, node: ast.expr | ast.stmt) -> str:
        """Return how a node is written."""
        if self.is_ascii and node.end_lineno == node.lineno and node.end_col_offset is not None:
            start = self.starts[node.lineno - 1]
            return self.written[start + node.col_offset : start + node.end_col_offset]
        return self.written[self.begin(node) : self.end(node)]

    def name_end(self, begin: int, name: str) -> int:
        """Where a name ends that begins there: Python gives it after NFKC, which may be of another length."""
        if self.is_ascii:
            return begin + len(name)
        match = _NAME.match(self.written, begin)
        return match.end() if match is not None else begin

    def is_lowered(self, begin: int, end: int) -> bool:
        """Return whether what is written between two offsets is in newer syntax."""
        return self.written is not self.source and self.written[begin:end] != self.source[begin:end]

    def stars(self, begin: int, end: int) -> int:
        """Return how many stars of newer syntax are blanked between two offsets, which contain no code."""
        if self.written is self.source:
            return 0
        pairs = zip(self.written[begin:end], self.source[begin:end], strict=True)
        return sum(written == "*" != read for written, read in pairs)

    def line_end(self, node: ast.stmt) -> int:
        """Where the line ends that a statement ends on."""
        line = node.end_lineno or node.lineno
        return self.starts[line] if line < len(self.starts) else len(self.source)

    def is_first(self, begin: int) -> bool:
        """Return whether nothing is on the line before an offset, and no line is continued by it."""
        start = self.starts[bisect_right(self.starts, begin) - 1]
        prefix = self.source[max(start - 3, 0) : start].rstrip("\r\n")
        return not self.source[start:begin].strip(" \t\f") and not prefix.endswith("\\")

    def end_of(self, node: ast.expr, limit: int, signs: str = ")") -> int:
        """Where ``node`` ends with the ``signs`` behind it, before ``limit`` at the latest."""
        end = position = self.end(node)
        while (position := self.skipped(position)) < limit and self.source[position] in signs:
            end = position = position + 1
        return end

    def skipped(self, position: int) -> int:
        """Return the offset after whitespace and comments."""
        blank = _BLANK.match(self.source, position)
        assert blank is not None
        return blank.end()

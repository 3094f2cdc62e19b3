"""The text of an open buffer, its bytes, and its places in the client's units.

The lines of the protocol are those of Python and of a finding: they end at ``\\n``, ``\\r\\n`` or ``\\r`` and
nowhere else. A character of the protocol is a code unit of the encoding that was agreed on; ours is a code point.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property

from lsprotocol import types

from gllint.files.source import as_bytes
from gllint_rules import Span

_NEWLINE = re.compile(r"\r\n|\r|\n")
_MARK = "\ufeff"


class Snapshot:
    """One version of a text. ``encoding`` is the one that positions of the protocol are counted in."""

    def __init__(self, text: str, version: int | None, encoding: str) -> None:
        self.text, self.version, self.encoding = text, version, encoding

    @cached_property
    def starts(self) -> list[int]:
        """The offset at which each line begins."""
        return [0, *(match.end() for match in _NEWLINE.finditer(self.text))]

    @cached_property
    def data(self) -> bytes:
        """The bytes that an editor would write, in the encoding that the text itself declares."""
        return as_bytes(self.text)

    def line(self, number: int) -> str:
        """The text of a line, counted from 0, without its ending; empty beyond the last one."""
        if number >= len(self.starts):
            return ""
        end = self.starts[number + 1] if number + 1 < len(self.starts) else len(self.text)
        return self.text[self.starts[number] : end].rstrip("\r\n")

    # --- between offsets and the protocol ------------------------------------------------------------------

    def offset(self, position: types.Position) -> int:
        """The offset of a position; one beyond the end of its line or of the text counts as that end."""
        if position.line >= len(self.starts):
            return len(self.text)
        line = self.line(position.line)
        return self.starts[position.line] + _code_points(line, position.character, self.encoding)

    def position(self, offset: int) -> types.Position:
        """The position of an offset; the reverse of :meth:`offset`."""
        line = bisect_right(self.starts, offset) - 1
        before = self.text[self.starts[line] : offset]
        return types.Position(line, units(before, self.encoding))

    def range(self, start: int, end: int) -> types.Range:
        """The range between two offsets."""
        return types.Range(self.position(start), self.position(end))

    # --- between spans and the rest ------------------------------------------------------------------------

    def span_offsets(self, span: Span) -> tuple[int, int]:
        """The offsets of a finding's span; what lies beyond the text is cut off."""
        return self._span_offset(span.line, span.column), self._span_offset(span.end_line, span.end_column)

    def range_of(self, span: Span) -> types.Range:
        """The range of a finding's span."""
        return self.range(*self.span_offsets(span))

    def span_at(self, offset: int) -> Span:
        """The empty span at an offset, as findings count; the reverse of :meth:`span_offsets`."""
        line = bisect_right(self.starts, offset)
        mark = 1 if line == 1 and self.text.startswith(_MARK) else 0
        column = offset - self.starts[line - 1] + 1 - mark
        return Span(line, column, line, column)

    def _span_offset(self, line: int, column: int) -> int:
        if line > len(self.starts):
            return len(self.text)
        mark = 1 if line == 1 and self.text.startswith(_MARK) else 0
        start = self.starts[line - 1]
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        return min(start + column - 1 + mark, end)

    # --- edits ---------------------------------------------------------------------------------------------

    def edited(
        self, changes: Sequence[types.TextDocumentContentChangeEvent], version: int | None
    ) -> Snapshot:
        """The text after ``changes``, each of which speaks of the text that the one before it left."""
        found = self
        for change in changes:
            text = change.text
            if isinstance(change, types.TextDocumentContentChangePartial):
                start, end = found.offset(change.range.start), found.offset(change.range.end)
                text = found.text[:start] + text + found.text[max(start, end) :]
            found = Snapshot(text, version, self.encoding)
        return found if changes else Snapshot(self.text, version, self.encoding)


def units(text: str, encoding: str) -> int:
    """How many code units ``text`` takes."""
    if encoding == types.PositionEncodingKind.Utf32 or text.isascii():
        return len(text)
    if encoding == types.PositionEncodingKind.Utf8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(1 for character in text if character > "\uffff")


def _code_points(line: str, count: int, encoding: str) -> int:
    """How many code points ``count`` code units are, at most all of ``line``; half of one counts as none."""
    if encoding == types.PositionEncodingKind.Utf32 or line.isascii():
        return min(count, len(line))
    for number, character in enumerate(line):
        count -= units(character, encoding)
        if count < 0:
            return number
    return len(line)

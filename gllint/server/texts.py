"""The text of a file or a cell, its bytes, and its places in the client's units.

The lines of the protocol are those of Python and of a finding: they end at ``\\n``, ``\\r\\n`` or ``\\r`` and
nowhere else. A character of the protocol is a code unit of the encoding that was agreed on; ours is a code point.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from lsprotocol import types

from gllint.files.line_changes import line_changes
from gllint.files.source import Change, Offsets, as_bytes, decode, keep_lines
from gllint_rules import Span

_MARK = "\ufeff"


class Snapshot:
    """One version of a document. ``encoding`` is the one that positions of the protocol are counted in.

    ``text`` is its code, to which findings, spans and offsets refer. A notebook's code is not the editor's text:
    the classes of :mod:`~gllint.server.cells` say where its parts are.
    """

    def __init__(self, uri: str, text: str, version: int | None, encoding: str) -> None:
        self.uri, self.text, self.version, self.encoding = uri, text, version, encoding

    @property
    def documents(self) -> Sequence[Snapshot]:
        """The documents that the editor shows it in, each a text of its own."""
        return (self,)

    @cached_property
    def offsets(self) -> Offsets:
        """Between offsets in the text and lines and columns as findings count them."""
        return Offsets(self.text)

    @cached_property
    def data(self) -> bytes:
        """The bytes that an editor would write, in the encoding that the text itself declares."""
        return as_bytes(self.text)

    def line(self, number: int) -> str:
        """Return the text of a line, counted from 0, without its ending; empty beyond the last one."""
        starts = self.offsets.starts
        if number >= len(starts):
            return ""
        end = starts[number + 1] if number + 1 < len(starts) else len(self.text)
        return self.text[starts[number] : end].rstrip("\r\n")

    # --- between offsets and the protocol ------------------------------------------------------------------

    def offset(self, position: types.Position) -> int:
        """Return the offset of a position; one beyond the end of its line or of the text counts as that end."""
        starts = self.offsets.starts
        if position.line >= len(starts):
            return len(self.text)
        line = self.line(position.line)
        return starts[position.line] + _code_points(line, position.character, self.encoding)

    def position(self, offset: int) -> types.Position:
        """Return the position of an offset; the reverse of :meth:`offset`."""
        line = self.offsets.place(offset)[0] - 1
        prefix = self.text[self.offsets.starts[line] : offset]
        return types.Position(line, units(prefix, self.encoding))

    def range(self, start: int, end: int) -> types.Range:
        """Return the range between two offsets."""
        return types.Range(self.position(start), self.position(end))

    def offset_in(self, uri: str, position: types.Position) -> int | None:
        """Return the offset of a position in one of the documents; ``None`` if no code is."""
        return self.offset(position)

    def location(self, start: int, end: int) -> types.Location:
        """Return where in the documents the text between two offsets is."""
        return types.Location(self.uri, self.range(start, end))

    # --- between spans and the rest ------------------------------------------------------------------------

    def place_of(self, span: Span) -> types.Location:
        """Return where in the documents a finding's span is."""
        return self.location(*self.offsets.of(span))

    def span_at(self, offset: int) -> Span:
        """Return the empty span at an offset, as findings count."""
        place = self.offsets.place(offset)
        return Span(*place, *place)

    # --- edits ---------------------------------------------------------------------------------------------

    def in_documents(self, changes: Sequence[Change]) -> list[tuple[Snapshot, Sequence[Change]]]:
        """Return the documents that changes of the text change, each with its part; none if that cannot be done."""
        return [(self, changes)]

    def until(self, data: bytes) -> list[tuple[Snapshot, Sequence[Change]]]:
        """Return the edits that make the documents contain the bytes ``data`` of the file."""
        mark = _MARK if self.text.startswith(_MARK) else ""
        return [(self, list(difference(self.text, mark + decode(data).source)))]

    def edited(
        self, changes: Sequence[types.TextDocumentContentChangeEvent], version: int | None
    ) -> Snapshot:
        """Return the text after ``changes``, each of which refers to the text after the one before it."""
        snapshot = self
        for change in changes:
            text = change.text
            if isinstance(change, types.TextDocumentContentChangePartial):
                start, end = snapshot.offset(change.range.start), snapshot.offset(change.range.end)
                text = snapshot.text[:start] + text + snapshot.text[max(start, end) :]
            snapshot = Snapshot(self.uri, text, version, self.encoding)
        return snapshot if changes else Snapshot(self.uri, self.text, version, self.encoding)


def difference(old_text: str, new_text: str) -> Iterator[Change]:
    """The changes, line by line, that make one text of the other."""
    old, new = keep_lines(old_text), keep_lines(new_text)
    starts = [*Offsets(old_text).starts, len(old_text)]
    for change in line_changes(old, new):
        content = "".join(new[change.new_first : change.new_last])
        yield starts[change.first], starts[change.last], content


def units(text: str, encoding: str) -> int:
    """Count the code units of ``text``."""
    if encoding == types.PositionEncodingKind.Utf32 or text.isascii():
        return len(text)
    if encoding == types.PositionEncodingKind.Utf8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(1 for character in text if character > "\uffff")


def _code_points(line: str, count: int, encoding: str) -> int:
    """Return how many code points ``count`` code units at the beginning of ``line`` are; half a code point does
    not count.
    """
    if encoding == types.PositionEncodingKind.Utf32 or line.isascii():
        return min(count, len(line))
    for number, character in enumerate(line):
        count -= units(character, encoding)
        if count < 0:
            return number
    return len(line)

"""From bytes to text and back: byte-order marks, PEP 263 cookies, line endings.

A finding's column counts code points after the byte-order mark; a fix must give back the bytes it did not
touch. Both need the same reading of a file, so it is done here once.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable

from gllint_rules import Span
from gllint_rules.tuples import NamedTuple
from gllint_runtime.policy.expressions import expression

# gllint.files.notebooks writes it in front of what it cannot read.
BROKEN = b"\0gllint: no notebook: "
# And this behind the statement that it puts in the place of a cell that is no Python.
UNREAD_CELL = "# gllint reads no such cell, "
_UNREAD_CELL = expression(UNREAD_CELL + r"(\d{1,9}):(\d{1,9}): ([^\t\r\n]*+)")
BOM = codecs.BOM_UTF8
_WIDE = (  # the longer marks first: one begins with the other
    (codecs.BOM_UTF32_LE, "UTF-32"), (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"), (codecs.BOM_UTF16_BE, "UTF-16"),
)  # fmt: skip
ASCII_SUPERSETS = frozenset({"utf-8", "iso8859-1"})  # each byte of ASCII means itself in them
_COOKIE = expression(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_LONGEST_NAME = 60  # characters of a name that no one knows
_SLOW, _MOST_SLOW = ("punycode", "idna"), 10_000  # their time grows with the square of the size
_LATIN = ("latin-1-", "iso-8859-1-", "iso-latin-1-")
_BLANK_OR_COMMENT = expression(rb"^[ \t\f]*(?:#.*)?$")
_TWO_LINES = expression(rb"[^\r\n]*+(?:\r\n|\r|\n)?+[^\r\n]*+")
_NEWLINE = expression(r"\r\n|\r|\n")
_LINE = expression(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")

Change = tuple[int, int, str]
"""What to put between two offsets of a text."""


class Undecodable(Exception):
    """Bytes that are no Python source text; ``line`` and ``column`` are 1-based."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.message, self.line, self.column = message, line, column


class Text(NamedTuple):
    """A decoded file: its source without byte-order mark, and what it takes to write it back."""

    source: str
    encoding: str = "utf-8"
    bom: bool = False

    def encode(self, source: str) -> bytes:
        """Return ``source`` as this file's bytes. Raises ``UnicodeEncodeError`` if they cannot encode it."""
        return (BOM if self.bom else b"") + _encoded(source, self.encoding)


def decode(data: bytes) -> Text:
    """Return a file's text as Python reads it (PEP 263), its newlines unchanged. Raises :class:`Undecodable`."""
    if data.startswith(BROKEN):
        raise _broken(data)
    bom = data.startswith(BOM)
    body = data[len(BOM) :] if bom else data
    encoding = _declared_encoding(body, bom)
    _refuse_wide(data)
    if bom and body.startswith(BOM):
        raise Undecodable("a second byte-order mark: invalid non-printable character U+FEFF", 1, 1)
    if encoding in _SLOW and len(body) > _MOST_SLOW:
        raise Undecodable(f"too large to be decoded as {encoding}", 1, 1)
    try:
        source = body.decode(encoding)
    except UnicodeDecodeError as error:
        line, column = _place(body, error.start, encoding)
        raise Undecodable(f"not {encoding} text: {error.reason}", line, column) from None
    except Exception as error:  # codecs raise any class: `undefined`, `idna`, `hex`, those of other packages
        raise Undecodable(f"not {encoding} text: {error}", 1, 1) from None
    refuse_null(source, "source code")
    return Text(source, encoding, bom)


def decode_plain(data: bytes) -> Text:
    """Return the text of a file that is not Python, which is read as UTF-8. Raises :class:`Undecodable`."""
    bom = data.startswith(BOM)
    body = data[len(BOM) :] if bom else data
    try:
        source = body.decode("utf-8")
    except UnicodeDecodeError as error:
        line, column = _place(body, error.start, "utf-8")
        raise Undecodable(f"not utf-8 text: {error.reason}", line, column) from None
    refuse_null(source, "not text: it")
    return Text(source, "utf-8", bom)


def refuse_null(text: str, subject: str) -> None:
    """Reject a text with a null byte, which no parser takes. Raises :class:`Undecodable`, about ``subject``."""
    if "\0" in text:
        lines = split_lines(text[: text.index("\0")] + "x")
        raise Undecodable(f"{subject} contains a null byte", len(lines), len(lines[-1]))


def _broken(data: bytes) -> Undecodable:
    """Say what is wrong with a notebook, in the words of :func:`~gllint.files.notebooks.as_python`."""
    problem = data[len(BROKEN) :].split(b"\n", 1)[0].decode("utf-8", "replace")
    line, column, reason = problem.split(":", 2)
    return Undecodable(reason.strip(), int(line), int(column))


def unread_cells(code: str) -> list[tuple[str, int, int]]:
    """Return of each cell of a notebook that is not Python what is wrong, and its line and column in the ``code``."""
    if UNREAD_CELL not in code:
        return []
    return [(why, int(line), int(column)) for line, column, why in _UNREAD_CELL.findall(code)]


def _refuse_wide(data: bytes) -> None:
    for mark, name in _WIDE:
        if data.startswith(mark):
            raise Undecodable(
                f"{name} text: Python cannot read source in this encoding, save it as UTF-8", 1, 1
            )


def as_bytes(source: str) -> bytes:
    """Return ``source`` in the encoding that it declares, so that :func:`decode` reads the same text again."""
    unmarked = source.encode("utf-8", "surrogatepass")
    try:
        return _encoded(source, _declared_encoding(unmarked, bom=False))
    except (Undecodable, UnicodeEncodeError):
        return unmarked


def split_lines(source: str) -> list[str]:
    """Return the lines as Python counts them, without their endings; a final newline adds no empty line."""
    lines = _NEWLINE.split(source)
    if lines[-1] == "":
        lines.pop()
    return lines


def keep_lines(source: str) -> list[str]:
    """Return the lines as Python counts them, each with its ending."""
    return _LINE.findall(source)


class Offsets:
    """Between lines and columns as findings count them, from 1, and offsets in a text.

    A byte-order mark that the text begins with takes no column.
    """

    def __init__(self, text: str) -> None:
        self.starts = [0, *(newline.end() for newline in _NEWLINE.finditer(text))]
        self._mark, self._size = int(text.startswith("\ufeff")), len(text)

    def at(self, line: int, column: int) -> int:
        """Return the offset of a place; what lies beyond its line or the text is cut off."""
        if line > len(self.starts):
            return self._size
        end = self.starts[line] if line < len(self.starts) else self._size
        return min(self.starts[line - 1] + column - 1 + (self._mark if line == 1 else 0), end)

    def of(self, span: Span) -> tuple[int, int]:
        """Return the offsets of a span."""
        return self.at(span.line, span.column), self.at(span.end_line, span.end_column)

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of an offset."""
        from bisect import bisect_right  # a run that finds nothing needs none

        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1 - (self._mark if line == 1 else 0)


def changed(source: str, changes: Iterable[Change]) -> str:
    """Return a text with changes made that do not overlap."""
    parts, at = [], 0
    for start, end, content in sorted(changes):
        parts += [source[at:start], content]
        at = end
    return "".join([*parts, source[at:]])


def main_newline(source: str) -> str:
    """Return the line ending that the source uses first; ``"\\n"`` where it has none."""
    match = _NEWLINE.search(source)
    return match.group() if match else "\n"


def _encoded(source: str, encoding: str) -> bytes:
    try:
        return source.encode(encoding)
    except UnicodeEncodeError:
        raise
    except (UnicodeError, LookupError) as error:  # `idna`, `undefined`
        raise UnicodeEncodeError(encoding, source, 0, len(source), str(error)) from None


def declares_ascii(data: bytes) -> bool:
    """Return whether a file declares no encoding, or one in which each byte of ASCII means itself."""
    try:
        return _declared_encoding(data, bom=False) in ASCII_SUPERSETS
    except Undecodable:
        return False


def _may_declare(data: bytes) -> bool:
    """Return whether a cookie may be in the first two lines, however long they are."""
    lines = _TWO_LINES.match(data)
    return lines is not None and b"coding" in lines.group()


def _declared_encoding(body: bytes, bom: bool) -> str:
    """Return the encoding that one of the first two lines declares (``# coding: latin-1``), else UTF-8."""
    if not _may_declare(body):
        return "utf-8"
    for number, line in enumerate(re.split(rb"\r\n|\r|\n", body, maxsplit=2)[:2], 1):
        cookie = _COOKIE.match(line)
        if cookie:
            return _text_codec(cookie.group(1).decode("ascii", "replace"), bom, number)
        if not _BLANK_OR_COMMENT.match(line):
            break
    return "utf-8"


def _text_codec(name: str, bom: bool, line: int) -> str:
    """Return the name of the codec of a declared encoding.

    ``"latin-1"`` → ``"iso8859-1"``. Raises :class:`Undecodable`.
    """
    normal = f"{name[:12].lower().replace('_', '-')}-"
    if normal.startswith("utf-8-"):  # whatever follows, as for Python's own tokenizer
        return "utf-8"
    if bom:  # `utf8` and `u8`, too: Python compares the names
        raise Undecodable(
            f"encoding is declared as {name[:_LONGEST_NAME]} but the file begins with a UTF-8 mark", line, 1
        )
    if normal.startswith(_LATIN):
        return "iso8859-1"
    try:
        codec = codecs.lookup(name)
        if not getattr(
            codec, "_is_text_encoding", True
        ):  # `rot13`, `base64`: between texts, or between bytes
            raise LookupError(name)
    except (LookupError, ValueError):
        raise Undecodable(f"unknown encoding: {name[:_LONGEST_NAME]}", line, 1) from None
    return codec.name


def _place(body: bytes, offset: int, encoding: str) -> tuple[int, int]:
    try:
        prefix = body[:offset].decode(encoding, "replace")
    except Exception:  # not every codec knows how to replace
        prefix = body[:offset].decode("latin-1")
    lines = split_lines(prefix + "x")
    return len(lines), len(lines[-1])

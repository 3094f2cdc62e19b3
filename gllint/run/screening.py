"""The first look at a file's bytes: which rules could matter to it. Several processes share this work."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from gllint.files.digest import digest
from gllint.files.source import ASCII_SUPERSETS, UNREAD_CELL, Text, Undecodable, declares_ascii, decode
from gllint.files.sources import read_python
from gllint.run.parsing import Unparsed, judge, outlined, too_large
from gllint_rules import Settings
from gllint_rules.tuples import NamedTuple
from gllint_rules.words.needles import Needles
from gllint_runtime.policy.expressions import expression

if TYPE_CHECKING:
    from gllint_rules.reading.outline import Outline
    from gllint_rules.words.screen import Screen

# The flags of the first look, in this order: rules could report on the file; it could use a tool that another file
# defines; it has a comment that suppresses a code of gllint; it cannot be read; it cannot be decoded; it is valid
# Python; it imports a framework or a model's SDK; Python may read names in it that are
# not in its bytes; a cell of the notebook is not Python.
PASSES, MAY_USE, MARKED, UNREADABLE, UNDECODABLE, IS_PYTHON, TALKS = 1, 2, 4, 8, 16, 32, 64
HAS_READINGS, LACKS_CELLS = 256, 512
_UNREAD_CELL = UNREAD_CELL.encode()
# Everything that `verdict/suppress.py` may read as a suppression, malformed ones included, and more.
_NAMES_US = expression(rb"(?i:gllint:|noqa(?:(?!noqa)[^\r\n])*?GL)")
# Where blanks, brackets or line ends are between an ``@`` or a dot and the name that follows.
_SPREAD = expression(rb"@ ?+(?:[ \t\f(\\]|[\w.]++[ \t\f\\])")
_SPREAD_DOT = expression(rb"\.\\[\r\n]")
_COMMENT = expression(r"#[^\r\n]*+")
_GAP = expression(r"([@.])[\s\\(]++")
Read: TypeAlias = Callable[[str], bytes]


class Screened(NamedTuple):
    """The result of the first look at a file: flags, the digest if it passes, and why it cannot be read."""

    flags: int
    digest: bytes = b""
    error: str = ""


def screen_file(settings: Settings, path: str, read: Read = read_python) -> Screened:
    """Take the first look at a file. A file that cannot be read gets a flag and the reason."""
    try:
        return screen_bytes(settings, read(path))
    except FileNotFoundError:
        return Screened(0)
    except OSError as error:
        return Screened(UNREADABLE, b"", f"cannot be read: {error.strerror}")


def screen_bytes(settings: Settings, original: bytes) -> Screened:
    """Take the first look at the bytes of a file."""
    from gllint_rules.words.screen import AT, BROKEN_DOT, MARKS

    is_plain = _is_plain(original)
    text = None if is_plain else _text(original)
    screen = _screen(settings)
    data, fragments = original, screen.fragments(original)
    is_spread = any(
        spread.match(original, place)
        for joint, spread in ((AT, _SPREAD), (BROKEN_DOT, _SPREAD_DOT))
        for place in fragments.get(joint, ())
    )
    readings = _readings(original, text, is_spread)
    if readings:
        data = b"\n".join((original, *readings))
        fragments = screen.fragments(data)
    # A file that is too large for the rules passes, so that it is reported.
    passes = screen.passes(data, fragments) or too_large(original) is not None
    flags = (PASSES if passes else 0) | (MAY_USE if b"import" in data or b"def " in data else 0)
    if screen.talks(data, fragments):
        flags |= TALKS
    if not fragments.keys().isdisjoint(MARKS) and _NAMES_US.search(data):
        flags |= MARKED
    if not is_plain and text is None:
        flags |= UNDECODABLE
    if readings:
        flags |= HAS_READINGS
    if _UNREAD_CELL in original:
        flags |= LACKS_CELLS
    return Screened(flags, digest(original) if flags & PASSES else b"")


def as_read(data: bytes) -> bytes:
    """Return the bytes of a file, followed by the text as Python reads it where that may differ.

    Python compares names after NFKC (``function_tooℓ``), reads what a declared encoding makes of the bytes
    (``\\x66`` in ``unicode_escape``), and goes on behind a backslash at the end of a line and in brackets.
    """
    text = None if _is_plain(data) else _text(data)
    is_spread = any(spread.search(data) for spread in (_SPREAD, _SPREAD_DOT))
    return b"\n".join((data, *_readings(data, text, is_spread)))


def _readings(data: bytes, text: Text | None, is_spread: bool) -> list[bytes]:
    """Return the texts that Python may read in a file and that differ from its bytes.

    ``text`` is the decoded file, ``None`` if it is plain ASCII; ``is_spread`` says that blanks or line ends may be
    between an ``@`` or a dot and the name that follows.
    """
    if text is None and not is_spread:
        return []
    source = text.source if text is not None else data.decode("utf-8", "replace")
    readings = []
    if not source.isascii():
        from unicodedata import is_normalized, normalize  # most files are ASCII

        if not is_normalized("NFKC", source):
            source = normalize("NFKC", source)
            readings.append(source)
    is_odd = text is not None and text.encoding not in ASCII_SUPERSETS
    if is_odd and not readings:
        readings.append(source)
    if is_spread or is_odd:
        readings.append(_GAP.sub(r"\1", _COMMENT.sub("", source)))
    return [reading.encode("utf-8", "surrogatepass") for reading in readings]


def _is_plain(data: bytes) -> bool:
    """Return whether the bytes are the text: ASCII, without an encoding that reads something else in them."""
    return data.isascii() and b"\0" not in data and declares_ascii(data)


def _text(data: bytes) -> Text | None:
    try:
        return decode(data)
    except Undecodable:
        return None


def judge_file(_: None, path: str, read: Read = read_python) -> Unparsed | None:
    """Return why a file is not Python, ``None`` if it is."""
    try:
        return judge(path, read(path))
    except OSError as error:
        return Unparsed(f"cannot be read: {error.strerror}")


def outline_file(_: None, path: str, read: Read = read_python) -> tuple[bytes, Outline] | None:
    """Return the digest of a file and its outline, ``None`` if the caller must read it itself."""
    try:
        data = read(path)
    except OSError:
        return None
    outline = outlined(data)
    return (digest(data), outline) if outline is not None else None


class UseSearch(NamedTuple):
    """A search for the uses of tools called ``names``; if ``is_literal``, in the bytes as they are on disk.

    Other files are searched with their :func:`other readings <as_read>`.
    """

    settings: Settings
    names: Needles
    is_literal: bool


def digest_if_user(search: UseSearch, path: str, read: Read = read_python) -> bytes:
    """Return the digest of a file if it uses one of the tools of the search; ``b""`` for any other file."""
    try:
        data = read(path)
    except OSError:
        return b""
    text = data if search.is_literal else as_read(data)
    return digest(data) if _screen(search.settings).uses(text, search.names) else b""


def words_of_file(words: frozenset[str], path: str, read: Read = read_python) -> frozenset[str]:
    """Return which of ``words`` a file may contain: all of them if it exists and cannot be read.

    A file with any character beyond ASCII may contain every word beyond ASCII.
    """
    try:
        data = read(path)
    except FileNotFoundError:
        return frozenset()
    except OSError:
        return words
    from gllint_rules.words.screen import words_in

    plain = _plain(words)
    matches = frozenset(plain[raw_word] for raw_word in words_in(as_read(data), frozenset(plain)))
    return matches if data.isascii() else matches.union(words.difference(plain.values()))


@lru_cache(maxsize=4)
def _plain(words: frozenset[str]) -> dict[bytes, str]:
    return {word.encode(): word for word in words if word.isascii()}


@lru_cache(maxsize=16)
def _screen(settings: Settings) -> Screen:
    from gllint_rules.words.screen import Screen  # whose expressions a run over known files needs none of

    return Screen(settings)

"""What can be told of a file by a look at its bytes: the work that is handed to several processes."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from gllint.files.digest import digest
from gllint.files.source import Text, Undecodable, decode, may_declare
from gllint.files.sources import read_python
from gllint.run.parsing import Unparsed, judge, outlined, too_large
from gllint_rules import Settings
from gllint_rules.tuples import NamedTuple
from gllint_rules.words.screen import LOADERS, MARKS, Needles, Screen, words_in

if TYPE_CHECKING:
    from gllint_rules.reading.outline import Outline

# What the first look finds: rules could speak about the file; it could use a tool that another file defines;
# a comment in it suppresses findings of ours by name; it cannot be read; it is no text; Python was asked and takes it;
# it imports a framework or a model's SDK; it may run a file by its path.
PASSES, MAY_USE, MARKED, UNREADABLE, UNDECODABLE, IS_PYTHON, TALKS, LOADS = 1, 2, 4, 8, 16, 32, 64, 128
_NAMES_US = re.compile(rb"gllint:|(?i:noqa:(?:(?!noqa:)[^\r\n])*?GL[0-9])")
# Where something may stand between an ``@`` or a dot and the name behind it, and what may.
_SPREAD = re.compile(rb"@ ?+(?:[ \t\f(\\]|[\w.]++[ \t\f\\])")
_SPREAD_DOT = re.compile(rb"\.\\[\r\n]")
_COMMENT = re.compile(r"#[^\r\n]*+")
_GAP = re.compile(r"([@.])[\s\\(]++")
_SUPERSETS = frozenset({"utf-8", "iso8859-1"})  # of ASCII: each of its bytes means itself
Read: TypeAlias = Callable[[str], bytes]


class Screened(NamedTuple):
    """What the first look at a file's bytes says: flags, and the digest of a file that passes."""

    flags: int
    digest: bytes = b""
    error: str = ""


def screen_file(settings: Settings, path: str, read: Read = read_python) -> Screened:
    """Judge a file by its bytes. One that cannot be read is flagged so, with the reason."""
    try:
        return screen_bytes(settings, read(path))
    except FileNotFoundError:
        return Screened(0)
    except OSError as error:
        return Screened(UNREADABLE, b"", f"cannot be read: {error.strerror}")


def screen_bytes(settings: Settings, original: bytes) -> Screened:
    """Judge a file by its bytes alone."""
    is_plain = _is_plain(original)
    text = None if is_plain else _text(original)
    data = _with_readings(original, text)
    screen = _screen(settings)
    fragments = screen.fragments(data)
    # What is too large for the rules passes, so that it is told.
    passes = screen.passes(data, fragments) or too_large(original) is not None
    flags = (PASSES if passes else 0) | (MAY_USE if b"import" in data or b"def " in data else 0)
    if screen.talks(data, fragments):
        flags |= TALKS
    if not fragments.keys().isdisjoint(LOADERS):
        flags |= LOADS
    if not fragments.keys().isdisjoint(MARKS) and _NAMES_US.search(data):
        flags |= MARKED
    if not is_plain and text is None:
        flags |= UNDECODABLE
    return Screened(flags, digest(original) if flags & PASSES else b"")


def as_read(data: bytes) -> bytes:
    """The bytes of a file in which every name stands that Python reads in it, perhaps a second time.

    Python compares names after NFKC (``function_tooℓ``), reads what a declared encoding makes of the bytes
    (``\\x66`` in ``unicode_escape``), and goes on behind a backslash at the end of a line and in brackets.
    """
    return _with_readings(data, None if _is_plain(data) else _text(data))


def _with_readings(data: bytes, text: Text | None) -> bytes:
    is_spread = _SPREAD.search(data) is not None or (b"\\" in data and _SPREAD_DOT.search(data) is not None)
    if text is None and not is_spread:
        return data
    source = text.source if text is not None else data.decode("utf-8", "replace")
    readings = []
    if not source.isascii():
        from unicodedata import is_normalized, normalize  # most files are ASCII

        if not is_normalized("NFKC", source):
            source = normalize("NFKC", source)
            readings.append(source)
    is_odd = text is not None and text.encoding not in _SUPERSETS
    if is_odd and not readings:
        readings.append(source)
    if is_spread or is_odd:
        readings.append(_GAP.sub(r"\1", _COMMENT.sub("", source)))
    return b"\n".join((data, *(reading.encode("utf-8", "surrogatepass") for reading in readings)))


def _is_plain(data: bytes) -> bool:
    """Whether the bytes mean what they say: ASCII, and no declared encoding makes something else of it."""
    return data.isascii() and b"\0" not in data and not may_declare(data)


def _text(data: bytes) -> Text | None:
    try:
        return decode(data)
    except Undecodable:
        return None


def judge_file(_: None, path: str, read: Read = read_python) -> Unparsed | None:
    """Say why a file is no Python, ``None`` where it is."""
    try:
        return judge(read(path))
    except OSError as error:
        return Unparsed(f"cannot be read: {error.strerror}")


def outline_file(_: None, path: str, read: Read = read_python) -> tuple[bytes, Outline] | None:
    """Return the digest of a file and its outline, ``None`` where whoever needs it must look for himself."""
    try:
        data = read(path)
    except OSError:
        return None
    outline = outlined(data)
    return (digest(data), outline) if outline is not None else None


def uses_file(work: tuple[Settings, Needles], path: str, read: Read = read_python) -> bytes:
    """Return the digest of a file that uses one of the tools named, ``b""`` of any other."""
    settings, names = work
    try:
        data = read(path)
    except OSError:
        return b""
    return digest(data) if _screen(settings).uses(as_read(data), names) else b""


def words_of_file(words: frozenset[str], path: str, read: Read = read_python) -> frozenset[str]:
    """Return which of ``words`` a file holds; all of them where it is there and cannot be read.

    One beyond ASCII it holds where its content goes there, too.
    """
    try:
        data = read(path)
    except FileNotFoundError:
        return frozenset()
    except OSError:
        return words
    plain = _plain(words)
    matches = frozenset(plain[raw_word] for raw_word in words_in(as_read(data), frozenset(plain)))
    return matches if data.isascii() else matches.union(words.difference(plain.values()))


@lru_cache(maxsize=4)
def _plain(words: frozenset[str]) -> dict[bytes, str]:
    return {word.encode(): word for word in words if word.isascii()}


@lru_cache(maxsize=16)
def _screen(settings: Settings) -> Screen:
    return Screen(settings)

"""From a file's bytes to its facts. A file that cannot be parsed becomes an :class:`Unparsed`; nothing is raised.

CPython's own parser decides what is Python. Syntax that is newer than the running Python is rewritten first
(:mod:`gllint_rules.reading.newer`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from gllint.files.source import Undecodable, decode, decode_plain, unread_cells
from gllint.files.sources import is_notebook
from gllint.run.clock import Clock, without_collector
from gllint_rules import Finding, Span
from gllint_rules.reading.stack import on_large_stack
from gllint_rules.tuples import NamedTuple
from gllint_rules.words.text_files import text_kind

if TYPE_CHECKING:
    from gllint_rules.reading.facts import Module
    from gllint_rules.reading.outline import Outline

_FILE = "This file was not checked."
MAX_BYTES, MAX_LINES = 4_000_000, 200_000


class Unparsed(NamedTuple):
    """Why a file has no facts, and where (1-based; line 0: all of it).

    ``is_python`` says that it is valid Python all the same (too large, say): a notice mentions it, no finding.
    """

    message: str
    line: int = 1
    column: int = 1
    is_python: bool = False


Parsed: TypeAlias = "Module | Unparsed"


def parse(
    path: str,
    data: bytes,
    clock: Clock | None = None,
    old_facts: Module | None = None,
    outline: Outline | None = None,
) -> Parsed:
    """Return the facts of a file's bytes, or why there are none. Never raises.

    ``old_facts`` are those before an edit: they are reused for the new ones, and are invalid afterwards. ``outline``
    is one that another process has made.
    """
    if text_kind(path) is not None:
        return _parse_text(path, data)
    return on_large_stack(_parse, path, data, clock or Clock(), old_facts, outline)


def _parse_text(path: str, data: bytes) -> Parsed:
    """Read a template or data file."""
    from gllint_rules.reading.data_files import UnreadableData
    from gllint_rules.reading.positions import Lines
    from gllint_rules.reading.text_files import MOST_BYTES, read_text_module

    if len(data) > MOST_BYTES:
        return Unparsed(f"too large to read: {len(data):,} bytes (the limit is {MOST_BYTES:,})", 0)
    try:
        source = decode_plain(data).source
    except Undecodable as error:
        return Unparsed(error.message, error.line, error.column)
    try:
        with without_collector():
            return read_text_module(path, source)
    except UnreadableData as error:
        return Unparsed(error.message, *Lines(source).place(error.offset))
    except Exception as error:  # a parser that fails in its own way
        return Unparsed(f"cannot be read: {type(error).__name__}: {error}", 0)


def outlined(data: bytes) -> Outline | None:
    """Return the outline of a file's bytes, ``None`` if the file is too large or not valid."""
    from gllint_rules.reading.outline import outline_of

    try:
        with without_collector():
            return None if too_large(data) else outline_of(decode(data).source)
    except Exception:  # the reader of the file reports what is wrong
        return None


def judge(path: str, data: bytes) -> Unparsed | None:
    """Return why a file's bytes are not Python, ``None`` if they are, be it of a newer version."""
    return on_large_stack(_judge, path, data)


def unparsed_cells(path: str, code: str) -> list[Unparsed]:
    """Return why each cell of a notebook that is not Python is not; ``code`` is the notebook as Python."""
    return [Unparsed(*cell) for cell in unread_cells(code)] if is_notebook(path) else []


def _parse(path: str, data: bytes, clock: Clock, old_facts: Module | None, outline: Outline | None) -> Parsed:
    """Return the facts of a Python file, or why it has none."""
    from gllint_rules.reading.modules import read_module
    from gllint_rules.reading.syntax import ParseFailure

    if (size := too_large(data)) is not None:
        return _judge(path, data) or Unparsed(size, is_python=True)
    try:
        with clock.stage("outline"), without_collector():
            return read_module(path, decode(data).source, old_facts, outline)
    except (Undecodable, ParseFailure) as error:
        return Unparsed(error.message, error.line, error.column)
    except Exception as error:
        # A defect of a parser must not end the run.
        return Unparsed(f"cannot be parsed: {type(error).__name__}: {error}", is_python=True)


def _judge(path: str, data: bytes) -> Unparsed | None:
    """Return why a file is not Python of any known version, ``None`` if it is."""
    from gllint_rules.reading.syntax import ParseFailure, parsed

    try:
        source = decode(data).source
        with without_collector():
            parsed(source)
    except ParseFailure as error:
        if not (error.is_syntax and _is_newer(source)):
            return Unparsed(error.message, error.line, error.column)
    except Undecodable as error:
        return Unparsed(error.message, error.line, error.column)
    return next(iter(unparsed_cells(path, source)), None)


def _is_newer(source: str) -> bool:
    """Return whether a text is Python of a newer version than the one that runs gllint."""
    from gllint_rules.reading.newer import lowered

    return lowered(source) is not None


def too_large(data: bytes) -> str | None:
    """Return why a file is too large to read, ``None`` if it is not."""
    if len(data) > MAX_BYTES:
        return f"too large to read: {len(data):,} bytes (the limit is {MAX_BYTES:,})"
    lines = data.count(b"\n") if len(data) > MAX_LINES else 0
    return f"too large to read: {lines:,} lines (the limit is {MAX_LINES:,})" if lines > MAX_LINES else None


def syntax_error(
    path: str, why: Unparsed | None, codes: frozenset[str], help: str = _FILE
) -> tuple[Finding, ...]:
    """Return the GL900 finding of a file or cell that is not Python; nothing if it is, or if GL900 is off."""
    if why is None or why.is_python or "GL900" not in codes:
        return ()
    place = Span(why.line, why.column, why.line, why.column + 1)
    return (Finding("GL900", path, place, why.message, help),)

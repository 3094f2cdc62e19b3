"""From a file's bytes to its facts, whatever the bytes are: what cannot be parsed comes back as a record.

LibCST's parser runs on the machine's stack and takes the process with it where the nesting is too deep, so a
file that looks deep is asked of CPython's own parser first, which has limits.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from gllint.clock import Clock, without_collector
from gllint.source import Undecodable, decode

if TYPE_CHECKING:
    from gllint_rules.facts import Module

MAX_BYTES = 4_000_000
_MAX_DEPTH = 1000
_MAX_BRACKETS = 200
_TOO_DEEP = "nested too deeply to be parsed"
_SUSPICIOUS_LINE = 2000
_SUSPICIOUS_COUNT = 400
_BRACKETS = re.compile(rb"[()\[\]{}]")
_CONTINUES = re.compile(
    rb"^[ \t]*(?:[-+*/%@|&^.<>=]|(?:and|or|not|if|else|elif|in|is|await|lambda)\b)"
    rb"|(?:[-+*/%@|&^\\]|\b(?:and|or|not|else|in|is))[ \t\r]*$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Unparsed:
    """Why a file has no facts, and where (1-based)."""

    message: str
    line: int = 1
    column: int = 1


Parsed: TypeAlias = "Module | Unparsed"


def parse(path: str, data: bytes, clock: Clock | None = None) -> Parsed:
    """Return the facts of a file's bytes, or why there are none. Imports LibCST. Never raises."""
    if len(data) > MAX_BYTES:
        return Unparsed(f"too large to be checked: {len(data)} bytes, at most {MAX_BYTES} are parsed")
    try:
        source = decode(data).source
        deep = _too_deep(source) if _looks_deep(data) else None
        with without_collector():
            return deep or _read(path, source, clock or Clock())
    except Undecodable as error:
        return Unparsed(error.message, error.line, error.column)
    except (RecursionError, MemoryError):
        return Unparsed(_TOO_DEEP)


def _read(path: str, source: str, clock: Clock) -> Parsed:
    from gllint_rules.reader import ParseFailure, read_module

    try:
        with clock.stage("outline"):
            return read_module(path, source)
    except ParseFailure as error:
        return _in_words_of_python(source) or Unparsed(error.message, error.line, error.column)
    except (RecursionError, MemoryError):
        raise
    except Exception as error:
        # A parser that fails in its own way must not take the run with it.
        return Unparsed(f"cannot be parsed: {type(error).__name__}: {error}")


def _in_words_of_python(source: str) -> Unparsed | None:
    """Say what is wrong, and where, as Python itself would; ``None`` where it sees nothing wrong."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except SyntaxError as error:
        return Unparsed(error.msg, max(error.lineno or 1, 1), max(error.offset or 1, 1))
    except (ValueError, RecursionError, MemoryError):
        pass
    return None


def _looks_deep(data: bytes) -> bool:
    """Say whether a file could hold nesting that is worth a second look; must not miss any that crashes."""
    if max(map(len, data.split(b"\n"))) > _SUSPICIOUS_LINE:
        return True
    if sum(1 for _ in _CONTINUES.finditer(data)) > _SUSPICIOUS_COUNT:
        return True
    depth = deepest = 0
    for bracket in _BRACKETS.findall(data):
        depth = depth + 1 if bracket in b"([{" else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest > _MAX_BRACKETS // 2


def _too_deep(source: str) -> Unparsed | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except SyntaxError as error:
        if "too many" not in error.msg:
            return _unbalanced(source)
        return Unparsed(error.msg, error.lineno or 1, max(error.offset or 1, 1))
    pending: deque[tuple[ast.AST, int]] = deque([(tree, 0)])
    while pending:
        node, above = pending.popleft()
        depth = above + _flattened(node)
        if depth > _MAX_DEPTH:
            return Unparsed(_TOO_DEEP)
        pending.extend((child, depth + 1) for child in ast.iter_child_nodes(node))
    return None


def _flattened(node: ast.AST) -> int:
    """Return the levels that CPython's tree lays flat and LibCST's does not."""
    match node:
        case ast.BoolOp(values=values):
            return len(values)
        case ast.alias(name=str(name)) | ast.ImportFrom(module=str(name)):
            return name.count(".")
        case _:
            return 0


def _unbalanced(source: str) -> Unparsed | None:
    """Of a file that this Python cannot parse, say whether its brackets alone would be too much."""
    depth = 0
    for found in re.finditer(r"[()\[\]{}]", source):
        depth = depth + 1 if found.group() in "([{" else max(depth - 1, 0)
        if depth > _MAX_BRACKETS:
            return Unparsed("too many nested parentheses", source.count("\n", 0, found.start()) + 1)
    return None

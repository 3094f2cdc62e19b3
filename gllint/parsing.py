"""From a file's bytes to its facts, whatever the bytes are: what cannot be parsed comes back as a record.

CPython's own parser is the judge of what is Python; where LibCST takes what it refuses (syntax newer than the running
Python), LibCST is. LibCST's parser runs on the machine's stack and takes the process with it where the nesting is too
deep, so a file that looks deep is asked of CPython first, which has limits.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from gllint.clock import Clock, without_collector
from gllint.source import Undecodable, decode
from gllint.stack import on_large_stack, stack_size

if TYPE_CHECKING:
    from gllint_rules.facts import Module

# LibCST takes 80 microseconds for the shortest of lines.
MAX_BYTES, MAX_LINES = 4_000_000, 200_000
# Levels of the tree that fit into a large stack, and into any. Of the second kind are those that CPython keeps in a
# flat list (`a or b or …`, `elif`). LibCST's time for the first kind grows with the square of the depth, which the
# sum of the depths of all deep nodes measures.
_LARGE_STACK = 256 << 20
_MAX_DEPTH, _MAX_FLAT, _MAX_ANYWHERE = 2_500, 25_000, 1_000
_DEEP, _MOST_WORK = 200, 6_000_000
_MAX_BRACKETS = 200
_TOO_DEEP = "nested too deeply to be parsed"
_UNREAD = "nests too deeply to be read"
# What every level of nesting takes at least one of. Fewer of them in a whole file are no danger.
_NESTING = (
    *(bytes((c,)) for c in b"([{.-+~*/%@|&^<>=\\"),
    b"not",
    b"lambda",
    b"else",
    b"elif",
    b"or",
    b"and",
    b"if",
)
_HARMLESS = 4_000
_BRACKETS = re.compile(rb"[()\[\]{}]")
_STRING_OR_BRACKET = re.compile(
    r"""\"{3}(?:[^"\\]|\\.|"(?!""))*(?:\"{3}|\Z)|'{3}(?:[^'\\]|\\.|'(?!''))*(?:'{3}|\Z)"""
    r"""|"(?:[^"\\\r\n]|\\.)*"?|'(?:[^'\\\r\n]|\\.)*'?|\#[^\r\n]*|(?P<open>[(\[{])|(?P<close>[)\]}])""",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Unparsed:
    """Why a file has no facts, and where (1-based).

    ``is_python`` says that it is sound Python all the same, which is nothing to report but something to say.
    """

    message: str
    line: int = 1
    column: int = 1
    is_python: bool = False


Parsed: TypeAlias = "Module | Unparsed"


def parse(path: str, data: bytes, clock: Clock | None = None) -> Parsed:
    """Return the facts of a file's bytes, or why there are none. Imports LibCST. Never raises."""
    return on_large_stack(_parse, path, data, clock or Clock())


def judge(data: bytes) -> Unparsed | None:
    """Say why a file's bytes are no Python, by CPython's parser alone; ``None`` where they are."""
    return on_large_stack(_judge, data)


def _parse(path: str, data: bytes, clock: Clock) -> Parsed:
    try:
        source = decode(data).source
        if (size := _too_large(data)) is not None:
            return _judge_source(source) or Unparsed(size, is_python=True)
        deep = _too_deep(source) if _looks_deep(data) else None
        with without_collector():
            return deep or _read(path, source, clock)
    except Undecodable as error:
        return Unparsed(error.message, error.line, error.column)


def _judge(data: bytes) -> Unparsed | None:
    try:
        return _judge_source(decode(data).source)
    except Undecodable as error:
        return Unparsed(error.message, error.line, error.column)


def _judge_source(source: str) -> Unparsed | None:
    """Say what is wrong, and where, as Python itself would; ``None`` where it sees nothing wrong."""
    verdict = _tree(source)
    return verdict if isinstance(verdict, Unparsed) and not verdict.is_python else None


def _tree(source: str) -> ast.Module | Unparsed:
    try:
        with warnings.catch_warnings(), without_collector():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except SyntaxError as error:
        # How many digits `int` converts is a setting of the interpreter, no syntax.
        many_digits = "integer string conversion" in error.msg
        return Unparsed(
            error.msg, max(error.lineno or 1, 1), max(error.offset or 1, 1), is_python=many_digits
        )
    except (RecursionError, MemoryError):
        return Unparsed(f"{_TOO_DEEP}: Python itself gives up on it")
    except ValueError as error:
        return Unparsed(f"cannot be parsed: {error}")


def _read(path: str, source: str, clock: Clock) -> Parsed:
    from gllint_rules.reader import ParseFailure, parse_source, read_tree

    try:
        with clock.stage("parse"):
            tree = parse_source(source)
        with clock.stage("facts"):
            return read_tree(path, source, tree)
    except ParseFailure as error:
        return _refused(source, Unparsed(error.message, error.line, error.column))
    except (RecursionError, MemoryError):
        return _refused(source, Unparsed(_TOO_DEEP))
    except Exception as error:
        # A parser that fails in its own way must not take the run with it.
        return _refused(source, Unparsed(f"cannot be parsed: {type(error).__name__}: {error}"))


def _refused(source: str, why: Unparsed) -> Unparsed:
    """What to say of a file that could not be read: what Python finds wrong with it, if anything."""
    return _judge_source(source) or Unparsed(
        "valid Python, but too deep or too long for the parser", why.line, why.column, is_python=True
    )


def _too_large(data: bytes) -> str | None:
    if len(data) > MAX_BYTES:
        return f"too large to be read: {len(data):,} bytes, at most {MAX_BYTES:,} are"
    lines = data.count(b"\n") if len(data) > MAX_LINES else 0
    return f"too large to be read: {lines:,} lines, at most {MAX_LINES:,} are" if lines > MAX_LINES else None


def _looks_deep(data: bytes) -> bool:
    """Say whether a file could hold nesting that is worth a second look; must not miss any that crashes."""
    if len(data) > _HARMLESS and sum(map(data.count, _NESTING)) > _HARMLESS:
        return True
    depth = deepest = 0
    for bracket in _BRACKETS.findall(data):
        depth = depth + 1 if bracket in b"([{" else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest > _MAX_BRACKETS // 2


def _too_deep(source: str) -> Unparsed | None:
    tree = _tree(source)
    if isinstance(tree, Unparsed):
        # Syntax that is newer than the running Python goes to LibCST, unless its brackets alone are too many.
        return tree if _TOO_DEEP in tree.message or "too many" in tree.message else _brackets(source)
    large = stack_size() >= _LARGE_STACK
    most, most_flat = (_MAX_DEPTH, _MAX_FLAT) if large else (_MAX_ANYWHERE, _MAX_ANYWHERE)
    work = 0
    pending: list[tuple[ast.AST, int, int]] = [(tree, 0, 0)]
    while pending:
        node, depth, flat = pending.pop()
        work += depth if depth > _DEEP else 0
        if depth > most or depth + flat > most_flat or work > _MOST_WORK:
            return Unparsed(_UNREAD, getattr(node, "lineno", 1), is_python=True)
        flat += _flattened(node)
        for child in ast.iter_child_nodes(node):
            below = (depth, flat + 1) if _is_elif(node, child) else (depth + 1, flat)
            pending.append((child, *below))
    return None


def _is_elif(node: ast.AST, child: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(child, ast.If) and child.col_offset == node.col_offset


def _flattened(node: ast.AST) -> int:
    """Return the levels that CPython's tree lays flat and LibCST's does not."""
    match node:
        case ast.BoolOp(values=values):
            return len(values)
        case ast.alias(name=str(name)) | ast.ImportFrom(module=str(name)):
            return name.count(".")
        case _:
            return 0


def _brackets(source: str) -> Unparsed | None:
    """Of a file that this Python cannot parse, say whether its brackets alone would be too much."""
    depth = 0
    for found in _STRING_OR_BRACKET.finditer(source):
        if found["open"]:
            depth += 1
        elif found["close"]:
            depth = max(depth - 1, 0)
        if depth > _MAX_BRACKETS:
            return Unparsed("too many nested parentheses", source.count("\n", 0, found.start()) + 1)
    return None

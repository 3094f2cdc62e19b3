"""Whether LibCST can take a piece of source: its parser recurses on the machine's stack, and none is endless.

Where the nesting is too deep, its parser takes the process with it. So what looks deep is measured with :mod:`ast`
first, whose parser has limits of its own.
"""

from __future__ import annotations

import ast
import re

from gllint_rules.reading.literals import literals
from gllint_rules.reading.stack import stack_size
from gllint_rules.reading.syntax import parsed

# Levels of the tree that fit into a large stack, and into any. Of the second kind are those that CPython keeps in a
# flat list (`a or b or …`, `elif`). LibCST's time for the first kind grows with the square of the depth, which the
# sum of the depths of all deep nodes measures.
_LARGE_STACK = 256 << 20
_MAX_DEPTH, _MAX_FLAT, _MAX_ANYWHERE = 2_500, 25_000, 1_000
_DEEP, _MOST_WORK = 200, 6_000_000
_MAX_BRACKETS, _MAX_CHAIN = 200, 400
# What every level of nesting takes at least one of. Fewer of them in a whole section are no danger.
_NESTING = (*"([{.-+~*/%@|&^<>=\\", "not", "lambda", "else", "elif", "or", "and", "if")
_HARMLESS = 1_000
_TOKEN = re.compile(
    r"""(?P<formatted>\b(?:[fFtT][rR]?|[rR][fFtT])["'])"""
    r"""|\"{3}(?:[^"\\]|\\.|"(?!""))*(?:\"{3}|\Z)|'{3}(?:[^'\\]|\\.|'(?!''))*(?:'{3}|\Z)"""
    r"""|"(?:[^"\\\r\n]|\\.)*"?|'(?:[^'\\\r\n]|\\.)*'?|\#[^\r\n]*|(?P<open>[(\[{])|(?P<close>[)\]}])"""
    r"""|(?P<end>[,;]|(?<!\\)(?<!\\\r)\n)|(?P<link>[-.+~*/%@|&^<>=]|\b(?:not|lambda|else|or|and|if|await|in|is)\b)""",
    re.DOTALL,
)


def is_too_deep(source: str) -> bool:
    """Whether ``source``, which this Python can parse, nests too deeply for LibCST."""
    if len(source) <= _HARMLESS or sum(map(source.count, _NESTING)) <= _HARMLESS:
        return False
    large = stack_size() >= _LARGE_STACK
    most, most_flat = (_MAX_DEPTH, _MAX_FLAT) if large else (_MAX_ANYWHERE, _MAX_ANYWHERE)
    work = 0
    pending: list[tuple[ast.AST, int, int]] = [(parsed(source), 0, 0)]
    while pending:
        node, depth, flat = pending.pop()
        work += depth if depth > _DEEP else 0
        if depth > most or depth + flat > most_flat or work > _MOST_WORK:
            return True
        flat += _flattened(node)
        for child in ast.iter_child_nodes(node):
            below = (depth, flat + 1) if _is_elif(node, child) else (depth + 1, flat)
            pending.append((child, *below))
    return False


def _is_elif(node: ast.AST, child: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(child, ast.If) and child.col_offset == node.col_offset


def _flattened(node: ast.AST) -> int:
    """The levels that CPython's tree lays flat and LibCST's does not."""
    match node:
        case ast.BoolOp(values=values):
            return len(values)
        case ast.alias(name=str(name)) | ast.ImportFrom(module=str(name)):
            return name.count(".")
        case _:
            return 0


def is_hopeless(source: str) -> bool:
    """Whether ``source``, which this Python cannot parse, is nothing to try LibCST on, as newer syntax.

    Its brackets nest too deeply for any Python, or they stay open, or it has a chain of operators or names that would
    take LibCST a time which grows with the square of its length.
    """
    depth = chain = position = 0
    while (found := _TOKEN.search(source, position)) is not None:
        position = found.end()
        match found.lastgroup:
            case "formatted":
                try:
                    literal = next(literals(source, found.start()))
                except (ValueError, RecursionError):
                    return True
                position = literal.begin + len(literal.text)
            case "open":
                depth += 1
            case "close":
                depth = max(depth - 1, 0)
            case "end" if depth == 0 or found[0] != "\n":
                chain = 0
        chain += found.lastgroup in ("open", "link")
        if depth > _MAX_BRACKETS or chain > _MAX_CHAIN:
            return True
    return depth > 0

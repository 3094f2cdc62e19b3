"""Whether LibCST can take a piece of source: its parser recurses on the machine's stack, and none is endless.

Where the nesting is too deep, its parser takes the process with it. So what looks deep is measured with :mod:`ast`
first, whose parser has limits of its own.
"""

from __future__ import annotations

import ast
import re

from gllint_rules.reading.literals import literals
from gllint_rules.reading.syntax import parsed

# Levels of the tree that fit into any stack, and in which LibCST's time, which grows with their square, is short.
_MAX_DEPTH = 1_000
_MAX_BRACKETS, _MAX_CHAIN = 200, 400
# What every level of nesting takes at least one of. Fewer of them in a whole section are no danger.
_NESTING = (*"([{.-+~*/%@|&^<>=\\", "not", "lambda", "else", "or", "and", "if")
_HARMLESS = 1_000
_TOKEN = re.compile(
    r"""(?P<formatted>\b(?:[fFtT][rR]?|[rR][fFtT])["'])"""
    r"""|\"{3}(?:[^"\\]|\\.|"(?!""))*(?:\"{3}|\Z)|'{3}(?:[^'\\]|\\.|'(?!''))*(?:'{3}|\Z)"""
    r"""|"(?:[^"\\\r\n]|\\.)*"?|'(?:[^'\\\r\n]|\\.)*'?|\#[^\r\n]*|(?P<open>[(\[{])|(?P<close>[)\]}])"""
    r"""|(?P<end>[,;]|(?<!\\)(?<!\\\r)\n)|(?P<link>[-.+~*/%@|&^<>=]|\b(?:not|lambda|else|or|and|if|await|in|is)\b)""",
    re.DOTALL,
)


def is_too_deep(source: str) -> bool:
    """Return whether ``source``, simple statements which this Python can parse, nests too deeply for LibCST."""
    if len(source) <= _HARMLESS or sum(map(source.count, _NESTING)) <= _HARMLESS:
        return False
    pending: list[tuple[ast.AST, int]] = [(parsed(source), 0)]
    while pending:
        node, depth = pending.pop()
        depth += 1 + _flattened(node)
        if depth > _MAX_DEPTH:
            return True
        pending += ((child, depth) for child in ast.iter_child_nodes(node))
    return False


def _flattened(node: ast.AST) -> int:
    """Return the levels that CPython's tree lays flat and LibCST's does not."""
    match node:
        case ast.BoolOp(values=values):
            return len(values)
        case ast.alias(name=str(name)) | ast.ImportFrom(module=str(name)):
            return name.count(".")
        case _:
            return 0


def is_hopeless(source: str) -> bool:
    """Return whether ``source``, which this Python cannot parse, is nothing to try LibCST on, as newer syntax.

    Its brackets nest too deeply for any Python, or they stay open, or it has a chain of operators or names that would
    take LibCST a time which grows with the square of its length.
    """
    depth = chain = position = 0
    while (token := _TOKEN.search(source, position)) is not None:
        position = token.end()
        match token.lastgroup:
            case "formatted":
                try:
                    literal = next(literals(source, token.start()))
                except (ValueError, RecursionError):
                    return True
                position = literal.begin + len(literal.text)
            case "open":
                depth += 1
            case "close":
                depth = max(depth - 1, 0)
            case "end" if depth == 0 or token[0] != "\n":
                chain = 0
        chain += token.lastgroup in ("open", "link")
        if depth > _MAX_BRACKETS or chain > _MAX_CHAIN:
            return True
    return depth > 0

"""The text of a section by itself, and how much of what it says an edit has left.

A comment, a blank line or a space at the end of a line is no fact: where nothing else was edited, the facts of a
section stay, and so does whatever was worked out of them. Places are another matter: they are looked up anew.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from gllint_rules.reading.outline import CLASS, Section
from gllint_rules.reading.syntax import ParseFailure, parsed

MACRO_MARK = "claim:"


class Edited(IntEnum):
    """What an edit changed of a section; the more, the greater."""

    NOTHING = 0
    PLACES = 1  # of statements: comments and blank lines between and behind them
    SPELLING = 2  # and how an expression is written, of which a message may quote a part
    FACTS = 3


def code_of(source: str, section: Section) -> str:
    """Return the text of a section, as long as it is in the file; methods of a class are blank."""
    if not section.holes:
        return source[section.begin : section.end]
    parts: list[str] = []
    position = section.begin
    for begin, end, word in section.holes:
        parts.append(source[position:begin])
        indented = max(source.rfind("\n", begin, word), source.rfind("\r", begin, word), begin - 1) + 1
        parts.append(_blank(source[begin:indented]) + source[indented:word])
        parts.append("pass" + _blank(source[word + 4 : end]))
        position = end
    parts.append(source[position : section.end])
    return "".join(parts)


_LINE = re.compile(r"[^\r\n]+")


def _blank(text: str) -> str:
    return _LINE.sub(lambda line: " " * len(line[0]), text)


def edited_part(old_source: str, old: Section, source: str, section: Section) -> Edited:
    """Return what an edit changed of the section of one number, the methods of a class aside."""
    if (old.kind, old.owner) != (section.kind, section.owner) or len(old.holes) != len(section.holes):
        return Edited.FACTS
    if _around_methods(old_source, old) == _around_methods(source, section):
        return Edited.NOTHING
    old_code, code = code_of(old_source, old), code_of(source, section)
    if (MACRO_MARK in old_code) != (MACRO_MARK in code):  # only then is it looked for
        return Edited.FACTS
    if not _differ_in_comments(_lines(old_code), _lines(code)):
        return Edited.FACTS
    prefix = CLASS if section.owner is not None else ""
    try:
        old_tree, tree = parsed(prefix + old_code), parsed(prefix + code)
    except (ParseFailure, RecursionError, MemoryError, ValueError):
        return Edited.FACTS
    return _compared(old_tree, _lines(prefix + old_code), tree, _lines(prefix + code))


def _around_methods(source: str, section: Section) -> list[str]:
    begins = [section.begin, *(end for _, end, _ in section.holes)]
    ends = [*(begin for begin, _, _ in section.holes), section.end]
    return [source[begin:end] for begin, end in zip(begins, ends, strict=True)]


def _lines(text: str) -> list[str]:
    """Return the lines of a text as CPython counts them."""
    return _LINE_END.split(text)


_LINE_END = re.compile(r"\r\n|\r|\n")
# What is before the comment of a line, if strings end on it.
_CODE = re.compile(r"""(?:[^#'"]|'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")*+""")


def _differ_in_comments(old_lines: Sequence[str], lines: Sequence[str]) -> bool:
    """Return whether two texts differ only in comments and blank lines."""
    start, most = 0, min(len(old_lines), len(lines))
    while start < most and old_lines[start] == lines[start]:
        start += 1
    end = 0
    while end < most - start and old_lines[-1 - end] == lines[-1 - end]:
        end += 1
    old_codes = _codes(old_lines[start : len(old_lines) - end])
    return old_codes is not None and old_codes == _codes(lines[start : len(lines) - end])


def _codes(lines: Sequence[str]) -> list[str] | None:
    """Return the code of lines without comments and blank lines; ``None`` if that cannot be done line by line."""
    codes: list[str] = []
    for line in lines:
        match = _CODE.match(line)
        assert match is not None
        if match.end() < len(line) and line[match.end()] != "#":
            return None
        if code := match[0].rstrip():
            codes.append(code)
    return codes


def _compared(old_tree: ast.AST, old_lines: Sequence[str], tree: ast.AST, lines: Sequence[str]) -> Edited:
    """Return what two trees have in common, places aside: each node is looked at once, however deep it lies."""
    pairs: list[tuple[Any, Any]] = [(old_tree, tree)]
    while pairs:
        old, new = pairs.pop()
        if type(old) is not type(new):
            return Edited.FACTS
        if isinstance(old, list):
            if len(old) != len(new):
                return Edited.FACTS
            pairs += zip(old, new, strict=True)
        elif isinstance(old, ast.AST):
            pairs += ((getattr(old, name, None), getattr(new, name, None)) for name in old._fields)
        elif old != new:
            return Edited.FACTS
    is_same_text = _multiline_texts(old_tree, old_lines) == _multiline_texts(tree, lines)
    return Edited.PLACES if is_same_text else Edited.SPELLING


def _multiline_texts(tree: ast.AST, lines: Sequence[str]) -> list[str]:
    """Return the lines of the outermost expressions that span several lines.

    The first line is whole, since an edit of what is before the expression also changes the columns in it.
    """
    texts: list[str] = []
    nodes = [tree]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.expr) and node.end_lineno is not None and node.end_lineno > node.lineno:
            texts += lines[node.lineno - 1 : node.end_lineno - 1]
            last = lines[node.end_lineno - 1].encode(
                "utf-8", "surrogatepass"
            )  # `ast` counts columns in bytes
            texts.append(last[: node.end_col_offset].decode("utf-8", "replace"))
        else:
            nodes += ast.iter_child_nodes(node)
    return texts

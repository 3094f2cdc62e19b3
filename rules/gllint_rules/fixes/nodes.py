"""Rewrite containers and calls so that their layout stays: remove or add elements, keys and texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import libcst as cst


def literal_keys(node: cst.Dict) -> dict[str, cst.DictElement] | None:
    """Return the elements of a dict display by their keys; None if a key is not a literal, or occurs twice."""
    elements: dict[str, cst.DictElement] = {}
    for element in node.elements:
        if not isinstance(element, cst.DictElement) or not isinstance(element.key, cst.SimpleString):
            return None
        key = element.key.evaluated_value
        if not isinstance(key, str) or key in elements:
            return None
        elements[key] = element
    return elements


def without(
    elements: Sequence[Any], gone: Callable[[Any], bool], closing: cst.BaseParenthesizableWhitespace
) -> list[Any] | None:
    """Return the elements that are not ``gone``; None if a comment would be lost or moved.

    ``closing`` is the space before the closing bracket.
    """
    rest = [element for element in elements if not gone(element)]
    if any(has_comment(element) for element in elements if gone(element)):
        return None
    if rest and gone(elements[-1]):
        if has_comment(rest[-1].comma) or has_comment(closing):
            return None
        rest[-1] = rest[-1].with_changes(comma=elements[-1].comma)
    return rest


def with_added(
    elements: Sequence[Any], new: Any, opening: cst.BaseParenthesizableWhitespace
) -> list[Any] | None:
    """Return the elements with ``new`` at the end, in the same layout; None if a comment follows the last one.

    ``opening`` is the space before the first element.
    """
    if not elements:
        return [new]
    last = elements[-1]
    if has_comment(last.comma) or has_comment(getattr(last, "whitespace_after_arg", None)):
        return None
    between = cst.Comma(whitespace_after=_after_comma(elements, opening))
    plain = {"whitespace_after_arg": cst.SimpleWhitespace("")} if isinstance(last, cst.Arg) else {}
    # The space between the last argument and the closing bracket, if no comma has it.
    space = {"whitespace_after_arg": last.whitespace_after_arg} if isinstance(last, cst.Arg) else {}
    head = [*elements[:-1], last.with_changes(comma=between, **plain)]
    return [*head, new.with_changes(comma=last.comma, **space)]


def _after_comma(
    elements: Sequence[Any], opening: cst.BaseParenthesizableWhitespace
) -> cst.BaseParenthesizableWhitespace:
    """Return the white space that the elements have after a comma."""
    for element in elements[:-1]:
        if isinstance(element.comma, cst.Comma) and not has_comment(element.comma):
            return element.comma.whitespace_after
    if isinstance(opening, cst.ParenthesizedWhitespace) and not has_comment(opening):
        return opening
    return cst.SimpleWhitespace(" ")


def with_entries(node: cst.Dict, entries: Iterable[tuple[str, cst.BaseExpression]]) -> cst.Dict | None:
    """Return a dict display with more entries."""
    for key, value in entries:
        keys = (element.key for element in (literal_keys(node) or {}).values())
        like = next((key for key in keys if isinstance(key, cst.SimpleString)), None)
        new = cst.DictElement(string(key, like), value)
        elements = with_added(node.elements, new, node.lbrace.whitespace_after)
        if elements is None or has_comment(node.rbrace):
            return None
        node = node.with_changes(elements=elements)
    return node


def with_keyword(node: cst.Call, name: str, value: cst.BaseExpression) -> cst.Call | None:
    """Return a call with one more keyword argument."""
    args = with_added(node.args, named(name, value), node.whitespace_before_args)
    return node.with_changes(args=args) if args is not None else None


def named(name: str, value: cst.BaseExpression) -> cst.Arg:
    """Return a keyword argument."""
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    return cst.Arg(value, keyword=cst.Name(name), equal=equal)


def _literal(data: Any) -> str:
    """Return the Python code of nested dicts, lists, strings, numbers and truth values, with double quotes."""
    if isinstance(data, dict):
        return "{" + ", ".join(f"{_literal(key)}: {_literal(value)}" for key, value in data.items()) + "}"
    if isinstance(data, list):
        return "[" + ", ".join(map(_literal, data)) + "]"
    return json.dumps(data, ensure_ascii=False) if isinstance(data, str) else repr(data)


def _holds_dict(data: Any) -> bool:
    values = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return any(isinstance(v, dict) or (isinstance(v, list) and _holds_dict(v)) for v in values)


def layout(data: Any, column: int, indent: str, width: int = 100) -> str:
    """Return a literal of nested dicts, lists and texts, broken into lines where it is too long for one.

    ``column`` is where it begins, ``indent`` what its lines are indented by.
    """
    short = _literal(data)
    if column + len(short) <= width or not _holds_dict(data):
        return short
    inner = indent + "    "
    if isinstance(data, list):
        rows = [f"{inner}{layout(value, len(inner), inner, width)},\n" for value in data]
        return "[\n" + "".join(rows) + indent + "]"
    lines = [
        f"{inner}{_literal(key)}: {layout(value, len(inner) + len(key) + 4, inner, width)},\n"
        for key, value in data.items()
    ]
    return "{\n" + "".join(lines) + indent + "}"


def has_comment(node: Any) -> bool:
    """Return whether a comment is in a node or in the space that belongs to it."""
    waiting = [node] if isinstance(node, cst.CSTNode) else []
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, cst.Comment):
            return True
        waiting.extend(inner.children)
    return False


def rewritten(node: cst.SimpleString, text: str) -> cst.SimpleString | None:
    """The same literal with another text; ``None`` if escapes would have to be thought of."""
    inner = node.raw_value
    if "\\" in inner or "b" in node.prefix.lower() or any(c in text for c in "\\\r\n\"'{}"):
        return None
    return node.with_changes(value=f"{node.prefix}{node.quote}{text}{node.quote}")


def string(text: str, like: cst.SimpleString | None = None) -> cst.SimpleString:
    """Return a literal of a plain text, in the quotes of another one."""
    quote = like.quote if like is not None and len(like.quote) == 1 else '"'
    return cst.SimpleString(f"{quote}{text}{quote}")

"""Rewriting containers and calls so that their layout stays: elements out, elements in, keys and texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst


def literal_keys(node: cst.Dict) -> dict[str, cst.DictElement] | None:
    """The elements of a dict display under their keys; ``None`` where a key is not written out, or written twice."""
    out: dict[str, cst.DictElement] = {}
    for element in node.elements:
        if not isinstance(element, cst.DictElement) or not isinstance(element.key, cst.SimpleString):
            return None
        key = element.key.evaluated_value
        if not isinstance(key, str) or key in out:
            return None
        out[key] = element
    return out


def without(
    elements: Sequence[Any], gone: Callable[[Any], bool], closing: cst.BaseParenthesizableWhitespace
) -> list[Any] | None:
    """The elements that stay; ``None`` where a comment would go with the others, or to another one.

    ``closing`` is the space before the closing bracket.
    """
    kept = [element for element in elements if not gone(element)]
    if any(has_comment(element) for element in elements if gone(element)):
        return None
    if kept and gone(elements[-1]):
        if has_comment(kept[-1].comma) or has_comment(closing):
            return None
        kept[-1] = kept[-1].with_changes(comma=elements[-1].comma)
    return kept


def with_added(
    elements: Sequence[Any], new: Any, opening: cst.BaseParenthesizableWhitespace
) -> list[Any] | None:
    """The elements and ``new`` behind them, laid out as they are; ``opening`` is the space before the first one.

    ``None`` where a comment stands behind the last one.
    """
    if not elements:
        return [new]
    last = elements[-1]
    if has_comment(last.comma) or has_comment(getattr(last, "whitespace_after_arg", None)):
        return None
    between = cst.Comma(whitespace_after=_after_comma(elements, opening))
    plain = {"whitespace_after_arg": cst.SimpleWhitespace("")} if isinstance(last, cst.Arg) else {}
    before = [*elements[:-1], last.with_changes(comma=between, **plain)]
    return [*before, new.with_changes(comma=last.comma, **_space_after(last))]


def _space_after(last: Any) -> dict[str, Any]:
    """What stands between the last argument and the closing bracket, where no comma carries it."""
    return {"whitespace_after_arg": last.whitespace_after_arg} if isinstance(last, cst.Arg) else {}


def _after_comma(
    elements: Sequence[Any], opening: cst.BaseParenthesizableWhitespace
) -> cst.BaseParenthesizableWhitespace:
    for element in elements[:-1]:
        if isinstance(element.comma, cst.Comma) and not has_comment(element.comma):
            return element.comma.whitespace_after
    if isinstance(opening, cst.ParenthesizedWhitespace) and not has_comment(opening):
        return opening
    return cst.SimpleWhitespace(" ")


def with_entry(node: cst.Dict, key: str, value: cst.BaseExpression) -> cst.Dict | None:
    """A dict display with one more entry."""
    keys = literal_keys(node) or {}
    if has_comment(node.rbrace):
        return None
    like = next((e.key for e in keys.values() if isinstance(e.key, cst.SimpleString)), None)
    elements = with_added(
        node.elements, cst.DictElement(string(key, like), value), node.lbrace.whitespace_after
    )
    return node.with_changes(elements=elements) if elements is not None else None


def with_keyword(node: cst.Call, name: str, value: cst.BaseExpression) -> cst.Call | None:
    """A call with one more keyword argument."""
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    new = cst.Arg(value, keyword=cst.Name(name), equal=equal)
    args = with_added(node.args, new, node.whitespace_before_args)
    return node.with_changes(args=args) if args is not None else None


def layout(data: Any, column: int, indent: str, width: int = 100) -> str:
    """A literal of nested dicts, lists and texts, broken into lines where it is too long for one.

    ``column`` is where it begins, ``indent`` what its lines are indented by.
    """
    short = _literal(data)
    nested = isinstance(data, dict) and any(isinstance(value, dict) for value in data.values())
    if column + len(short) <= width or not nested:
        return short
    inner = indent + "    "
    lines = [
        f"{inner}{_literal(key)}: {layout(value, len(inner) + len(key) + 4, inner, width)},\n"
        for key, value in data.items()
    ]
    return "{\n" + "".join(lines) + indent + "}"


def _literal(data: Any) -> str:
    match data:
        case dict():
            return "{" + ", ".join(f"{_literal(key)}: {_literal(value)}" for key, value in data.items()) + "}"
        case list():
            return "[" + ", ".join(map(_literal, data)) + "]"
        case _:
            return '"' + str(data).replace("\\", "\\\\").replace('"', '\\"') + '"'


def has_comment(node: Any) -> bool:
    """Whether a comment stands in a node or in the space that belongs to it."""
    waiting = [node] if isinstance(node, cst.CSTNode) else []
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, cst.Comment):
            return True
        waiting.extend(inner.children)
    return False


def rewritten(node: cst.SimpleString, text: str) -> cst.SimpleString | None:
    """The same literal with another text; ``None`` where escapes would have to be thought of."""
    inner = node.raw_value
    if "\\" in inner or "b" in node.prefix.lower() or any(c in text for c in "\\\r\n\"'{}"):
        return None
    return node.with_changes(value=f"{node.prefix}{node.quote}{text}{node.quote}")


def string(text: str, like: cst.SimpleString | None = None) -> cst.SimpleString:
    """A literal of a plain text, in the quotes of another one."""
    quote = like.quote if like is not None and len(like.quote) == 1 else '"'
    return cst.SimpleString(f"{quote}{text}{quote}")

"""JSON that people write, with comments and trailing commas: read with its places, so that all else of a file stays."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

_BLANK = re.compile(r"(?:[\s\ufeff]|//[^\n]*|/\*.*?\*/)*+", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*+"')
_SCALAR = re.compile(r"[\w.+-]++")
_REST_OF_LINE = re.compile(r"[ \t]*(?://[^\n]*|/\*[^\n]*?\*/[ \t]*)?(?=\r?\n)")
_DEEPEST = 100


@dataclass(slots=True)
class Node:
    """A value and where it is: of an object the ``members``, of an array the ``items``."""

    value: Any
    start: int
    end: int = 0
    members: dict[str, Node] = field(default_factory=dict)
    items: list[Node] = field(default_factory=list)
    has_trailing_comma: bool = False

    @property
    def last(self) -> Node | None:
        """The last child of an object or an array."""
        children = self.items or list(self.members.values())
        return children[-1] if children else None


def read(text: str) -> Node:
    """Read a document. Raises ``ValueError`` with the reason, as in "it is not valid JSON"."""
    reader = _Reader(text)
    node = reader.value(_skip_blank(text, 0), 0)
    if _skip_blank(text, node.end) != len(text):
        raise ValueError("is not valid JSON")
    return node


def with_member(text: str, at: Node, key: str, value: Any) -> str:
    """``text`` with one member more in the object ``at``, behind the others."""
    return _with(text, at, f"{json.dumps(key, ensure_ascii=False)}: ", value)


def with_item(text: str, at: Node, value: Any) -> str:
    """``text`` with one item more in the array ``at``, behind the others."""
    return _with(text, at, "", value)


def _skip_blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match is not None else at


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text

    def value(self, at: int, depth: int) -> Node:
        """Return the JSON value at a place in the text. Raises ValueError."""
        if depth > _DEEPEST:
            raise ValueError("is nested too deeply")
        opening = self._text[at : at + 1]
        if opening == "{":
            return self._object(at, depth)
        if opening == "[":
            return self._array(at, depth)
        match = _STRING.match(self._text, at) or _SCALAR.match(self._text, at)
        if match is None:
            raise ValueError("is not valid JSON")
        return Node(_scalar(match.group()), at, match.end())

    def _object(self, at: int, depth: int) -> Node:
        """Return the JSON object at a place, with the place of each member. Raises ValueError."""
        node = Node({}, at)
        at = _skip_blank(self._text, at + 1)
        while self._text[at : at + 1] != "}":
            name = _STRING.match(self._text, at)
            colon = _skip_blank(self._text, name.end()) if name is not None else at
            if name is None or self._text[colon : colon + 1] != ":":
                raise ValueError("is not valid JSON")
            key = _scalar(name.group())
            if key in node.members:
                raise ValueError("has a duplicate key")
            member = self.value(_skip_blank(self._text, colon + 1), depth + 1)
            node.members[key], node.value[key] = member, member.value
            at = self._separated(node, member.end, "}")
        node.end = at + 1
        return node

    def _array(self, at: int, depth: int) -> Node:
        """Return the JSON array at a place, with the place of each element. Raises ValueError."""
        node = Node([], at)
        at = _skip_blank(self._text, at + 1)
        while self._text[at : at + 1] != "]":
            item = self.value(at, depth + 1)
            node.items.append(item)
            node.value.append(item.value)
            at = self._separated(node, item.end, "]")
        node.end = at + 1
        return node

    def _separated(self, node: Node, at: int, closing: str) -> int:
        """Return where the next child begins, or the closing bracket."""
        at = _skip_blank(self._text, at)
        if self._text[at : at + 1] == ",":
            at = _skip_blank(self._text, at + 1)
            node.has_trailing_comma = self._text[at : at + 1] == closing
        elif self._text[at : at + 1] != closing:
            raise ValueError("is not valid JSON")
        return at


def _scalar(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise ValueError("is not valid JSON") from None


# --- writing -----------------------------------------------------------------------------------------------------


def _with(text: str, at: Node, head: str, value: Any) -> str:
    """Return the text with a value added to the object or array ``at``, laid out like its neighbours; comments stay.

    ``head`` is what goes before the value: ``"key": `` in an object.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = _unit(text)
    outer = _indent_at(text, at.start)
    last = at.last
    shares_line = last is None or "\n" not in text[at.start : last.start]
    inner = outer + unit if last is None or shares_line else _indent_at(text, last.start)
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    written = inner + head + newline.join([lines[0], *(inner + line for line in lines[1:])])
    if last is None:
        closing = at.end - 1
        before = text[:closing].rstrip(" \t\r\n")
        return f"{before}{newline}{written}{newline}{outer}{text[closing:]}"
    behind = text.index(",", _skip_blank(text, last.end)) + 1 if at.has_trailing_comma else last.end
    comma = "" if at.has_trailing_comma else ","
    rest = _REST_OF_LINE.match(text, behind)
    remark = rest.group() if rest is not None else ""
    tail = text[behind + len(remark) :]
    if rest is None:  # the brackets are on one line
        tail = newline + outer + tail.lstrip(" \t")
    return f"{text[:behind]}{comma}{remark}{newline}{written}{tail}"


def _unit(text: str) -> str:
    match = re.search(r"^[\s\ufeff]*[{\[][^\n]*\n(?:[ \t]*(?://[^\n]*)?\r?\n)*([ \t]+)", text)
    return match[1] if match is not None else "  "


def _indent_at(text: str, at: int) -> str:
    """Return the indentation of the line that ``at`` is in."""
    begin = text.rfind("\n", 0, at) + 1
    return re.match(r"[ \t]*", text[begin:])[0]  # type: ignore[index]

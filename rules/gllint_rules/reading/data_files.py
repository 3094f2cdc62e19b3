"""YAML and JSON as a tree of their texts, each with where its characters are in the file.

Numbers and truth values are left out: nothing is reported of them. No tag is obeyed, nothing is built but the nodes
below, and nothing here calls itself, so that no nesting of a file costs a stack.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, TypeAlias

from msgspec import Struct

MOST_NODES, MOST_NESTING = 50_000, 200


class UnreadableData(Exception):
    """A file that is no YAML or JSON, or that goes beyond a budget; ``offset`` is where."""

    def __init__(self, message: str, offset: int = 0) -> None:
        super().__init__(message)
        self.message, self.offset = message, offset


class TextNode(Struct, eq=False):
    """A text between two offsets of the file. ``places`` are those of its characters, from ``begin`` on."""

    begin: int
    end: int
    text: str
    places: Sequence[int]


class MapNode(Struct, eq=False):
    """What keys that are texts lead to."""

    begin: int
    end: int
    entries: list[tuple[TextNode, Node]]


class ListNode(Struct, eq=False):
    """A list, all of it."""

    begin: int
    end: int
    items: list[Node]


class OtherNode(Struct, eq=False):
    """A value without text: a number, a truth value, null."""

    begin: int
    end: int


Node: TypeAlias = "TextNode | MapNode | ListNode | OtherNode"


class _Tree:
    """Puts nodes together in the order in which a file has them."""

    def __init__(self) -> None:
        self.roots: list[Node] = []
        self._open: list[MapNode | ListNode] = []
        self._keys: list[Node | None] = []  # of each open map the key that waits for its value
        self._count = 0

    def put(self, node: Node) -> None:
        """Add a node to what is open. Raises :class:`UnreadableData`."""
        self._count += 1
        if self._count > MOST_NODES:
            raise UnreadableData(f"contains more than {MOST_NODES:,} values", node.begin)
        if not self._open:
            self.roots.append(node)
            return
        parent, key = self._open[-1], self._keys[-1]
        if isinstance(parent, ListNode):
            parent.items.append(node)
        elif key is None:
            self._keys[-1] = node
        else:
            if isinstance(key, TextNode):
                parent.entries.append((key, node))
            self._keys[-1] = None

    def open(self, node: MapNode | ListNode) -> None:
        self._open.append(node)
        self._keys.append(None)
        if len(self._open) > MOST_NESTING:
            raise UnreadableData(f"is nested more than {MOST_NESTING} levels deep", node.begin)

    def close(self, end: int) -> MapNode | ListNode:
        """End the innermost node, which is put into the one around it."""
        node = self._open.pop()
        self._keys.pop()
        node.end = end
        self.put(node)
        return node

    @property
    def innermost(self) -> MapNode | ListNode | None:
        return self._open[-1] if self._open else None


# --- JSON ----------------------------------------------------------------------------------------------------

_TOKEN = re.compile(r"""[ \t\r\n]*(?:([{\[])|([}\]])|([,:])|(")|([^\s,:\[\]{}"]+)|\Z)""")


def read_json(text: str) -> list[Node]:
    """Return the value of a JSON text. Raises :class:`UnreadableData`."""
    tree, position = _Tree(), 0
    while True:
        match = _TOKEN.match(text, position)
        if match is None:  # nothing is left that it does not match
            raise UnreadableData("is not valid JSON", position)
        opened, closed, sign, quote, word = match.groups()
        begin, position = match.start(match.lastindex or 0), match.end()
        if opened == "{":
            tree.open(MapNode(begin, begin, []))
        elif opened:
            tree.open(ListNode(begin, begin, []))
        elif closed:
            if not isinstance(tree.innermost, MapNode if closed == "}" else ListNode):
                raise UnreadableData("is not valid JSON", begin)
            tree.close(position)
        elif quote:
            try:
                value, position = scanstring(text, position, False)
            except ValueError:
                raise UnreadableData("is not valid JSON", begin) from None
            tree.put(_text_node(value, text, begin, position, begin + 1))
        elif word:
            tree.put(OtherNode(begin, position))
        elif not sign:
            break
    if tree.innermost is not None or len(tree.roots) != 1:
        raise UnreadableData("is not valid JSON", position)
    return tree.roots


# --- YAML ----------------------------------------------------------------------------------------------------


def read_yaml(text: str) -> list[Node]:
    """Return the values of the documents of a YAML text. Raises :class:`UnreadableData`."""
    try:
        import yaml  # type: ignore[import-untyped]
    except ImportError:  # LibCST brings another package on some versions of Python
        raise UnreadableData("cannot be read without the package PyYAML") from None

    # libyaml's events come one by one and nest nothing; the loader in Python takes ten times as long.
    loader_class: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        loader = loader_class(text)
    except yaml.YAMLError as error:
        raise UnreadableData("is no YAML", _offset(error)) from None
    try:
        return _documents(yaml, loader, text)
    except yaml.YAMLError as error:
        raise UnreadableData("is no YAML", _offset(error)) from None
    finally:
        loader.dispose()


def _offset(error: Any) -> int:
    mark = getattr(error, "problem_mark", None)
    return int(mark.index) if mark is not None else 0


def _documents(yaml: Any, loader: Any, text: str) -> list[Node]:
    """Read the documents of a YAML text as trees."""
    tree = _Tree()
    anchors: dict[str, Node] = {}
    names: list[str | None] = []  # the anchors of what is open
    while loader.check_event():
        event = loader.get_event()
        begin, end = event.start_mark.index, event.end_mark.index
        match event:
            case yaml.MappingStartEvent():
                names.append(event.anchor)
                tree.open(MapNode(begin, end, []))
            case yaml.SequenceStartEvent():
                names.append(event.anchor)
                tree.open(ListNode(begin, end, []))
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                node: Node = tree.close(end)
                # Only now: a value that contains itself would be walked for ever.
                _name(anchors, names.pop(), node)
            case yaml.ScalarEvent():
                node = _scalar(yaml, loader, event, text)
                tree.put(node)
                _name(anchors, event.anchor, node)
            case yaml.AliasEvent():
                tree.put(anchors.get(event.anchor, OtherNode(begin, end)))
            case yaml.DocumentStartEvent():
                anchors.clear()
    return tree.roots


def _name(anchors: dict[str, Node], anchor: str | None, node: Node) -> None:
    if anchor is not None:
        anchors[anchor] = node


def _scalar(yaml: Any, loader: Any, event: Any, text: str) -> Node:
    """Read a scalar of YAML, with the place of its text."""
    begin, end = event.start_mark.index, event.end_mark.index
    if event.style is None and event.tag is None:
        if loader.resolve(yaml.ScalarNode, event.value, event.implicit) != "tag:yaml.org,2002:str":
            return OtherNode(begin, end)
    first = begin
    if event.style in ("'", '"'):
        first += 1
    elif event.style in ("|", ">"):
        first = text.find("\n", begin, end) + 1 or begin
    return _text_node(event.value, text, begin, end, first, event.style or "")


def leaves(roots: Sequence[Node]) -> Iterator[TextNode | OtherNode]:
    """Yield the keys and the values that contain no others, each once."""
    waiting, nodes = [*roots], set[Node]()
    while waiting:
        node = waiting.pop()
        if node in nodes:
            continue
        nodes.add(node)
        match node:
            case MapNode(entries=entries):
                for key, value in entries:
                    yield key
                    waiting.append(value)
            case ListNode(items=items):
                waiting += items
            case _:
                yield node


# --- places --------------------------------------------------------------------------------------------------

_ESCAPE = re.compile(
    r"\\(?:[uU][dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|x\w\w|u\w{4}|U\w{8}|\r?\n[ \t]*|.)", re.DOTALL
)


def _text_node(value: str, text: str, begin: int, end: int, first: int, style: str = '"') -> TextNode:
    return TextNode(
        begin, end, value, tuple(place - begin for place in _places(value, text, first, end, style))
    )


def _places(value: str, text: str, first: int, end: int, style: str) -> Iterator[int]:
    """Return where each character of ``value`` is in ``text``, whose white space may be folded."""
    position = first
    for char in value:
        if char.isspace() and position < end and text[position] != "\\":
            yield position
            if text[position].isspace():
                position += 1
            continue
        while position < end and text[position] != char and text[position].isspace():
            position += 1
        yield min(position, end - 1)
        if position >= end:
            continue
        if style == '"' and text[position] == "\\":
            escape = _ESCAPE.match(text, position)
            position = min(escape.end() if escape is not None else position + 1, end)
        elif style == "'" and char == "'":
            position += 2
        elif text[position] == char:
            position += 1


READERS: dict[str, Callable[[str], list[Node]]] = {"json": read_json, "yaml": read_yaml}

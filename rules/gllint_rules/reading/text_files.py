"""A template, a prompt or a data file, as a module whose expressions are its texts.

What Jinja reads itself (``{{ name }}``, ``{% if … %}``, ``{# … #}``) is no text of the message: an expression leaves a
hole, a statement and a comment nothing. A macro is text (``{{claim:0}}``), and so is what is in ``{% raw %}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gllint_rules.reading.data_files import READERS, Node, TextNode, UnreadableData
from gllint_rules.reading.facts import Module, SectionFacts
from gllint_rules.reading.modules import read_section
from gllint_rules.reading.outline import Outline, Section
from gllint_rules.tuples import NamedTuple
from gllint_rules.words.text_files import TextKind, text_kind

MOST_BYTES = 1_000_000


class Stretch(NamedTuple):
    """A part of the file that is one expression: ``places`` are those of its characters from ``begin``."""

    begin: int
    end: int
    places: Sequence[int]


class Part(NamedTuple):
    """A part of a text: expression ``at`` and what it says; ``None`` where something is filled in."""

    at: int
    text: str | None


class TextModule(Module):
    """A file that is no Python: ``stretches`` are its expressions, by their numbers.

    A template has ``parts``, data have ``roots``, one for each document. Expression 0 is all of the file.
    Raises :class:`UnreadableData`.
    """

    def __init__(self, path: str, source: str) -> None:
        super().__init__(path, source, _OUTLINE, read_section)
        kind = text_kind(path)
        self.kind: TextKind = kind if kind is not None else "plain"
        self.stretches = [Stretch(0, len(source), range(len(source)))]
        reader = READERS.get(self.kind)
        self.roots: Sequence[Node] = reader(source) if reader is not None else ()
        self.texts: list[tuple[tuple[str, ...], TextNode]] = []
        self.numbers: dict[Node, int] = {}
        self.node_parts: dict[TextNode, tuple[Part, ...]] = {}
        if reader is not None:
            self.parts: tuple[Part, ...] = (Part(0, source),)
            self._number()
        else:
            self.parts = tuple(self._parts(source, 0, range(len(source))))

    def section_of(self, at: int) -> SectionFacts:
        return self.section(0)

    def _number(self) -> None:
        """Give every node its number, and every text the keys that lead to it, each once."""
        waiting: list[tuple[tuple[str, ...], Node]] = [((), root) for root in reversed(self.roots)]
        while waiting:
            keys, node = waiting.pop()
            if node in self.numbers:
                continue
            self.numbers[node] = self._add(node.begin, node.end, range(node.end - node.begin))
            if isinstance(node, TextNode):
                self.texts.append((keys, node))
                self.node_parts[node] = tuple(self._parts(node.text, node.begin, node.places))
                continue
            entries = getattr(node, "entries", ())
            waiting += [((*keys, key.text), value) for key, value in reversed(entries)]
            waiting += [(keys, item) for item in reversed(getattr(node, "items", ()))]

    def _add(self, begin: int, end: int, places: Sequence[int]) -> int:
        self.stretches.append(Stretch(begin, end, places))
        return len(self.stretches) - 1

    def _parts(self, text: str, begin: int, places: Sequence[int]) -> Iterator[Part]:
        """Yield the parts of a text that begins at an offset of the file, where its characters have their
        ``places``.
        """
        for first, end, is_text in template_parts(text):
            start = begin + places[first]
            stop = begin + places[end - 1] + 1
            inner = places[first:end]
            shifted = (
                range(len(inner)) if isinstance(inner, range) else [place - places[first] for place in inner]
            )
            at = self._add(start, stop, shifted)
            yield Part(at, text[first:end] if is_text else None)


# One section, of which there is nothing to read.
_OUTLINE = Outline((Section(0, "imports", "", None, 0, 0),), (), frozenset(), ())
_OPENING = re.compile(r"\{\{(?!\s*claim\s*:)|\{%|\{#|<!--(?=\s*gllint:)|\$\{?(?=[A-Za-z_])")
_CLOSING = {"{{": "}}", "{%": "%}", "{#": "#}", "<!--": "-->", "${": "}"}
_RAW, _END_RAW = re.compile(r"\{%[-+]?\s*raw\s*[-+]?%\}"), re.compile(r"\{%[-+]?\s*endraw\s*[-+]?%\}")
_QUOTED = re.compile(r"""\{\{-?\s*(?P<quote>["'])(?P<text>[^"'\n]*)(?P=quote)\s*-?\}\}""")
_NAME = re.compile(r"\w+")


def template_parts(text: str) -> Iterator[tuple[int, int, bool]]:
    """Where the parts of a template begin and end, and whether each is text; else it is filled in."""
    last = position = 0
    unclosed: set[str] = set()
    while (opening := _OPENING.search(text, position)) is not None:
        begin, sign = opening.start(), opening.group()
        inner: tuple[int, int] | None = None
        is_hole = sign in ("{{", "${", "$")
        if (raw := _RAW.match(text, begin)) is not None and "raw" not in unclosed:
            end_raw = _END_RAW.search(text, raw.end())
            if end_raw is None:
                unclosed.add("raw")
                continue
            inner, end = (raw.end(), end_raw.start()), end_raw.end()
        elif sign == "$":
            name = _NAME.match(text, opening.end())
            end = name.end() if name is not None else opening.end()
        elif (quoted := _QUOTED.match(text, begin)) is not None:
            inner, end = quoted.span("text"), quoted.end()
        else:
            close = -1 if sign in unclosed else text.find(_CLOSING[sign], opening.end())
            if close < 0:
                unclosed.add(sign)
                position = opening.end()
                continue
            end = close + len(_CLOSING[sign])
        if begin > last:
            yield last, begin, True
        if inner is not None and inner[1] > inner[0]:
            yield *inner, True
        elif inner is None and is_hole:
            yield begin, end, False
        last = position = end
    if last < len(text):
        yield last, len(text), True


def read_text_module(path: str, source: str) -> TextModule:
    """Return the texts of a file that is not Python. Raises :class:`UnreadableData`."""
    if len(source) > MOST_BYTES:
        raise UnreadableData(f"is larger than {MOST_BYTES:,} characters")
    return TextModule(path, source)

"""The syntax around an expression, and edits that replace one node by another."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import libcst as cst

from gllint_rules.finding import Edit
from gllint_rules.inference.values import Site
from gllint_rules.project.context import Context
from gllint_rules.reading.facts import SECTION_BITS, Expr
from gllint_rules.reading.positions import Positions
from gllint_rules.reading.reader import KeptTree, Recorder, kept_section, read_node


class Place:
    """An expression in its statement: its node, the nodes around it, and its text."""

    def __init__(self, positions: Positions, at: int) -> None:
        self.positions = positions
        self.at = at
        self._kept = kept_tree(positions, at)
        self._stretch = positions.stretch(at)
        self.node = self._kept.node(at)
        self.statement = self._kept.statements.get(self._stretch.number) if self._stretch else None

    @property
    def start(self) -> int:
        """The offset in the source at which the expression begins; parentheses around it are not part of it."""
        span = self.positions.span(self.at)
        return self.positions.lines.offset(span.line, span.column)

    @property
    def end(self) -> int:
        """The offset in the source at which the expression ends."""
        span = self.positions.span(self.at)
        return self.positions.lines.offset(span.end_line, span.end_column)

    @property
    def text(self) -> str:
        return self.positions.text(self.at)

    @property
    def indent(self) -> str:
        """What the line on which the statement begins is indented by."""
        assert self._stretch is not None
        lines, begin = self.positions.lines, self._stretch.begin
        return lines.source[lines.offset(lines.place(begin)[0], 1) : begin]

    def facts(self) -> Expr:
        """The facts of the expression, numbered by themselves."""
        return read_node(self.node)

    def ancestors(self) -> Iterator[cst.CSTNode]:
        """The nodes around the expression, nearest first, up to the statement."""
        if self.statement is not None:
            above = _parents(self.statement)
            node = self.node
            while node in above:
                node = above[node]
                yield node

    def of(self, node: cst.CSTNode) -> Place:
        """The place of another expression of the same statement."""
        assert self._stretch is not None
        first = self._stretch.unit.first
        numbers = range(first, first + self._stretch.size)
        return Place(self.positions, next(at for at in numbers if self._kept.node(at) is node))

    def code(self, node: cst.CSTNode) -> str:
        """The text of a node as it stands, or would stand, in the statement; without parentheses around it."""
        state = Recorder("", self._kept.tree.default_newline, [node])
        state.indent_tokens.append(self.indent)
        node._codegen(state)
        [found] = state.found
        assert found is not None
        return "".join(state.tokens)[slice(*found)]

    def replaced(self, node: cst.CSTNode) -> tuple[Edit, ...] | None:
        """What makes ``node`` of the expression; ``None`` where its text cannot be told for sure."""
        if self.statement is None or self.code(self.node) != self.text:
            return None
        return (difference(self.positions, self.start, self.text, self.code(node)),)

    def whole(self, content: str) -> Edit:
        """Put ``content`` in the place of the expression."""
        return replacement(self.positions, self.start, self.end, content)

    def wrapped(self, before: str, after: str) -> tuple[Edit, ...]:
        """Put text before and after the expression."""
        return (
            insertion(self.positions, self.start, before),
            insertion(self.positions, self.end, after),
        )


def kept_tree(positions: Positions, at: int) -> KeptTree:
    """The tree of the section that holds an expression, parsed again where it is no longer at hand."""
    return kept_section(positions.module, at >> SECTION_BITS)


@lru_cache(maxsize=512)
def _parents(statement: cst.SimpleStatementLine) -> dict[cst.CSTNode, cst.CSTNode]:
    above: dict[cst.CSTNode, cst.CSTNode] = {}
    waiting: list[cst.CSTNode] = [statement]
    while waiting:
        node = waiting.pop()
        # `node.children` visits, which takes ten times as long; `isinstance` of an abstract class is slow, too.
        for name in node.__dataclass_fields__:
            part = getattr(node, name)
            for child in part if isinstance(part, (list, tuple)) else (part,):
                if hasattr(child, "_codegen"):
                    above[child] = node
                    waiting.append(child)
    return above


def place(context: Context, site: Site) -> Place | None:
    """The syntax at ``site``; ``None`` where it does not stand in a simple statement."""
    found = Place(context.project.positions(site.module), site.at)
    return found if found.statement is not None else None


def insertion(positions: Positions, offset: int, content: str) -> Edit:
    """Put ``content`` at an offset of the source."""
    return Edit(positions.lines.span(offset, offset), content)


def replacement(positions: Positions, start: int, end: int, content: str) -> Edit:
    """Put ``content`` in the place of what stands between two offsets of the source."""
    return Edit(positions.lines.span(start, end), content)


def difference(positions: Positions, start: int, old: str, new: str) -> Edit:
    """What makes ``new`` of the text ``old`` that begins at ``start``: the words in between that differ."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    if head + tail == len(old):  # nothing but new text: let it begin where a word does
        while head and _cuts(old, head) and old[head - 1] == new[len(new) - tail - 1]:
            head, tail = head - 1, tail + 1
    while head and (_cuts(old, head) or _cuts(new, head)):
        head -= 1
    while tail and (_cuts(old, len(old) - tail) or _cuts(new, len(new) - tail)):
        tail -= 1
    return replacement(positions, start + head, start + len(old) - tail, new[head : len(new) - tail])


def _cuts(text: str, offset: int) -> bool:
    """Whether a word or a line ending goes on across ``offset``."""
    around = text[offset - 1 : offset + 1]
    return around == "\r\n" or (len(around) == 2 and around.replace("_", "a").isalnum())

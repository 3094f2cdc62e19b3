"""The syntax around an expression, and edits that replace one node by another.

The facts have the offsets of an expression. LibCST parses only the statement around it, in which its node is looked up
by these offsets.
"""

from __future__ import annotations

from functools import lru_cache

import libcst as cst

from gllint_rules.finding import Edit, Fix
from gllint_rules.inference.values import Site
from gllint_rules.project.context import Context
from gllint_rules.project.edits import difference, insertion, replacement
from gllint_rules.reading.concrete import Recorder
from gllint_rules.reading.concrete_text import ConcreteText
from gllint_rules.reading.facts import Expr, Module
from gllint_rules.reading.positions import Positions, Stretch
from gllint_rules.reading.sections import read_annotation

_BLOCK = "if _:\n"


class SyntaxStatement:
    """Simple statements on a line of their own (``a = 1; b = 2``), parsed by LibCST as ``node``.

    Raises :class:`Unreadable` if LibCST cannot parse them.
    """

    def __init__(self, positions: Positions, stretch: Stretch) -> None:
        source, begin = positions.lines.source, stretch.begin
        text = source[begin : stretch.end]
        self.indent = source[positions.lines.starts[positions.lines.place(begin)[0] - 1] : begin]
        # An indented line is parsed within a block, so that LibCST knows the indent of its continuation lines.
        indent = self.indent.rpartition("\f")[2]
        prefix = _BLOCK + indent if indent else ""
        self.begin = begin - len(prefix)
        self._concrete = ConcreteText(prefix + text)
        tree = self._concrete.tree
        self.newline = tree.default_newline
        self.parents = self._concrete.parents
        self.places = self._concrete.places
        [line] = tree.body
        if isinstance(line, cst.If):
            [line] = line.body.body  # type: ignore[assignment]
        self.node = cst.ensure_type(line, cst.SimpleStatementLine)

    def at(self, start: int, end: int) -> cst.CSTNode:
        """Return the expression between two offsets of the source. Raises :class:`Unreadable`."""
        return self._concrete.expression(start - self.begin, end - self.begin)

    def place(self, node: cst.CSTNode) -> tuple[int, int]:
        """Return the offsets of a node in the source."""
        start, end = self.places[node]
        return start + self.begin, end + self.begin


@lru_cache(maxsize=256)
def statement(positions: Positions, stretch: Stretch) -> SyntaxStatement:
    """Return the syntax of a line. Raises :class:`Unreadable`."""
    return SyntaxStatement(positions, stretch)


class SyntaxPlace:
    """An expression in its statement: its node, the nodes around it, and its text."""

    def __init__(self, positions: Positions, at: int, stretch: Stretch) -> None:
        self.positions = positions
        self.at = at
        self.start, self.end = positions.offsets(at)  # parentheses around it are not part of it
        self._stretch = stretch
        self._statement = statement(positions, stretch)
        self.node = self._statement.at(self.start, self.end)

    @property
    def module(self) -> Module:
        return self.positions.module

    @property
    def text(self) -> str:
        return self.positions.text(self.at)

    @property
    def indent(self) -> str:
        """The indent of the statement's first line."""
        return self._statement.indent

    def facts(self) -> Expr | None:
        """Return the facts of the expression, read again from its text; all of them have its number."""
        return read_annotation(f"({self.module.code[self.start : self.end]}\n)", self.at)

    @property
    def parents(self) -> list[cst.CSTNode]:
        """The nodes around the expression, nearest first, up to the line of its statement."""
        nodes = [self.node]
        while nodes[-1] is not self._statement.node:
            nodes.append(self._statement.parents[nodes[-1]])
        return nodes[1:]

    def of(self, node: cst.CSTNode) -> SyntaxPlace:
        """Return the place of another expression of the same statement."""
        offsets = self._statement.place(node)
        at = next(at for at in self._stretch.numbers if self.positions.offsets(at) == offsets)
        return SyntaxPlace(self.positions, at, self._stretch)

    def code(self, node: cst.CSTNode) -> str:
        """Return the text of a node, also a new one, with the statement's indent; without parentheses around it."""
        state = Recorder("", self._statement.newline)
        state.indent_tokens.append(self.indent)
        node._codegen(state)
        return "".join(state.tokens)[slice(*state.places[node])]

    def replaced(self, node: cst.CSTNode) -> tuple[Edit, ...] | None:
        """Return the edit that replaces the expression by ``node``; ``None`` if LibCST reads other text there."""
        if self.code(self.node) != self.text:
            return None
        return (difference(self.positions, self.start, self.text, self.code(node)),)

    def fix(self, node: cst.CSTNode | None, message: str) -> Fix | None:
        """Return the unsafe fix that replaces the expression by ``node``; ``None`` without a node, or as above."""
        edits = self.replaced(node) if node is not None else None
        return Fix("unsafe", message, edits) if edits is not None else None

    def is_beside(self, other: SyntaxPlace) -> bool:
        """Return whether both are in the same line of statements."""
        return self._stretch == other._stretch

    def whole(self, content: str) -> Edit:
        """Return the edit that replaces the expression by ``content``."""
        return replacement(self.positions, self.start, self.end, content)

    def wrapped(self, prefix: str, suffix: str) -> tuple[Edit, ...]:
        """Return the edits that put ``prefix`` before the expression and ``suffix`` after it."""
        return (
            insertion(self.positions, self.start, prefix),
            insertion(self.positions, self.end, suffix),
        )


def place_of(context: Context, site: Site | None) -> SyntaxPlace | None:
    """Return the syntax at ``site``; ``None`` outside simple statements, as in the condition of an ``if``."""
    if site is None:
        return None
    positions = context.project.positions(site.module)
    stretch = positions.stretch(site.at)
    return SyntaxPlace(positions, site.at, stretch) if stretch is not None else None

"""A piece of source as LibCST reads it, with the node at each of its places and the comments in it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cache, cached_property

import libcst as cst

from gllint_rules.reading.concrete import recorded
from gllint_rules.reading.depth import is_too_deep
from gllint_rules.reading.passage import line_starts
from gllint_rules.reading.sections import Unreadable
from gllint_rules.reading.syntax import ParseFailure

_LONGEST = 1_000_000  # LibCST takes a second for a tenth of it


class ConcreteText:
    """LibCST's tree of ``text``, all of whose places are offsets.

    ``code`` is the same for this Python where ``text`` is in newer syntax. Raises :class:`Unreadable` where LibCST does
    not take it.
    """

    def __init__(self, text: str, code: str | None = None) -> None:
        if len(text) > _LONGEST:
            raise Unreadable("is too long to be read")
        try:
            if is_too_deep(text if code is None else code):
                raise Unreadable("nests too deeply to be read")
            self.tree = cst.parse_module(text)
            state = recorded(self.tree)
        except (cst.ParserSyntaxError, ParseFailure) as error:
            raise Unreadable(f"cannot be read: {error.message}") from None
        except RecursionError:
            raise Unreadable("nests too deeply to be read") from None
        self.text = text
        self.parents = state.parents
        self.places = state.places
        self._expressions: dict[tuple[int, int], cst.CSTNode] = {}
        for node, place in state.places.items():
            if _is_numbered(type(node)) and not (
                place in self._expressions and isinstance(self._expressions[place], cst.BaseExpression)
            ):
                self._expressions[place] = node

    def expression(self, begin: int, end: int) -> cst.CSTNode:
        """Return the expression between two offsets. Raises :class:`Unreadable`."""
        node = self._expressions.get((begin, end))
        if node is None:
            raise Unreadable("is not where it is looked for")
        return node

    def comments(self, node: cst.CSTNode) -> tuple[str, ...]:
        """Return the comments on the lines of a node, and on those right above it that contain nothing else.

        Of what has a body, the lines up to the body count.
        """
        begin, end = self.places[node]
        if isinstance(node, cst.FunctionDef | cst.ClassDef) and node.decorators:
            begin = self.places[node.decorators[0]][0]
        body = getattr(node, "body", None)
        if isinstance(body, cst.BaseSuite):
            end = self.places[body.header if isinstance(body, cst.IndentedBlock) else body][0]
        first, last = self._line(begin), self._line(end)
        while (first - 1) in self._comments and self._comments[first - 1][1]:
            first -= 1
        return tuple(self._comments[line][0] for line in range(first, last + 1) if line in self._comments)

    def _line(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    @cached_property
    def _starts(self) -> list[int]:
        return line_starts(self.text)

    @cached_property
    def _comments(self) -> dict[int, tuple[str, bool]]:
        """Return each comment by its line, and whether the line has nothing else."""
        return {line: (text, is_alone) for line, text, is_alone in self._each_comment()}

    def _each_comment(self) -> Iterator[tuple[int, str, bool]]:
        for node, (begin, _) in self.places.items():
            if isinstance(node, cst.Comment):
                line = self._line(begin)
                yield line, node.value, not self.text[self._starts[line - 1] : begin].strip()


@cache
def _is_numbered(kind: type[cst.CSTNode]) -> bool:
    """Return whether nodes of a kind are, or correspond to, an expression of the facts."""
    texts = (cst.FormattedStringText, cst.TemplatedStringText)
    return issubclass(kind, (cst.BaseExpression, cst.Arg, cst.Slice, *texts))

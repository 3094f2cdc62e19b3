"""The statements of a source text and what is in their brackets, by its tokens alone.

A comment covers a statement or an element in brackets, so that it covers the same after a formatter has broken the
line in two or joined two. Tokens are enough for that, also where the file does not parse.
"""

from __future__ import annotations

import token
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice
from tokenize import ENCODING, TokenInfo
from typing import TypeAlias

from msgspec import Struct

from gllint_rules.tuples import NamedTuple

Position: TypeAlias = tuple[int, int]
"""A line, from 1, and a column, from 0, as tokens have them."""

END = 1 << 30  # a line below all others
_BLANK = frozenset(
    {token.COMMENT, token.NL, token.NEWLINE, token.INDENT, token.DEDENT, token.ENDMARKER, ENCODING}
)
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_COMPOUND = frozenset(
    {
        "async", "class", "def", "elif", "else", "except", "finally", "for", "if", "try", "while", "with",
    }
)  # fmt: skip
_SOFT = frozenset({"match", "case"})
# What is behind a name that is no keyword: `match = 1`, `case.x`, `match: int`.
_BEHIND_NAME = frozenset("=.:,;)]}") | {"+=", "-=", "*=", "/=", "|=", "&=", ":="}


class Range(NamedTuple):
    """From the first character of something to behind its last one."""

    begin: Position
    end: Position

    def holds(self, position: Position) -> bool:
        """Say whether a position lies within."""
        return self.begin <= position < self.end

    def meets(self, line: int) -> bool:
        """Say whether it begins or ends on a line."""
        return line in (self.begin[0], self.end[0])


class Statement:
    """A simple statement, or the header of a compound one.

    ``indent`` is that of its line; ``elements`` are the parts of its brackets between commas, at any depth.
    """

    def __init__(
        self, range: Range, indent: int, is_header: bool, is_decorator: bool, elements: list[Range]
    ) -> None:
        self.range, self.indent = range, indent
        self.is_header, self.is_decorator = is_header, is_decorator
        self.elements = elements

    @cached_property
    def _by_line(self) -> dict[int, list[Range]]:
        by_line: dict[int, list[Range]] = {}
        for element in self.elements:
            for line in {element.begin[0], element.end[0]}:
                by_line.setdefault(line, []).append(element)
        return by_line

    @cached_property
    def _innermost(self) -> dict[int, Range]:
        """The innermost element around each line on which none begins or ends."""
        innermost: dict[int, Range] = {}
        for element in sorted(self.elements, key=_outer_first):
            for line in range(element.begin[0] + 1, element.end[0]):
                innermost[line] = element
        return innermost

    def elements_on(self, line: int) -> list[Range]:
        """Return the outermost elements that begin or end on a line, else the innermost one around it, if any.

        An element is a part of a bracket between commas: ``b=2`` of ``f(a, b=2)``.
        """
        if line in self._by_line:
            return _outermost(self._by_line[line])
        return [self._innermost[line]] if line in self._innermost else []

    def elements_from(self, line: int) -> list[Range]:
        """Return the elements that begin on a line, those within others aside, in order."""
        return _outermost(element for element in self._by_line.get(line, ()) if element.begin[0] == line)


def _outer_first(element: Range) -> tuple[Position, int, int]:
    return element.begin, -element.end[0], -element.end[1]


def _outermost(elements: Iterable[Range]) -> list[Range]:
    outermost: list[Range] = []
    for element in sorted(elements, key=_outer_first):
        if not outermost or element.end > outermost[-1].end:
            outermost.append(element)
    return outermost


class Statements:
    """The statements of one text, in order."""

    def __init__(self, tokens: Sequence[TokenInfo]) -> None:
        self.all = _Reader().read(tokens)
        self._begins = [statement.range.begin for statement in self.all]
        self._last_lines = [statement.range.end[0] for statement in self.all]

    def on(self, line: int) -> list[Statement]:
        """Return the statements that are on a line, in part or whole, in order."""
        statements: list[Statement] = []
        for statement in islice(self.all, bisect_left(self._last_lines, line), None):
            if statement.range.begin[0] > line:
                break
            statements.append(statement)
        return statements

    def at(self, position: Position) -> Statement | None:
        """Return the statement that contains a position, else the last one before it on its line."""
        number = bisect_right(self._begins, position) - 1
        statement = self.all[number] if number >= 0 else None
        return statement if statement is not None and statement.range.end[0] >= position[0] else None

    def open_at(self, line: int) -> Statement | None:
        """Return the statement that began above a line and goes on to it or below."""
        statement = self.last_before(line)
        return statement if statement is not None and statement.range.end[0] >= line else None

    def last_before(self, line: int) -> Statement | None:
        """Return the last statement that begins above a line."""
        number = bisect_left(self._begins, (line, 0)) - 1
        return self.all[number] if number >= 0 else None

    def first_after(self, line: int) -> Statement | None:
        """Return the first statement that begins below a line."""
        number = bisect_left(self._begins, (line + 1, 0))
        return self.all[number] if number < len(self.all) else None

    def whole(self, statement: Statement) -> Range:
        """Return where a statement is; of a decorator, as far as the header of what it decorates."""
        return Range(statement.range.begin, self.all[self._headers[self._number(statement)]].range.end)

    @cached_property
    def _headers(self) -> list[int]:
        """For each statement its number, for a decorator that of the header of what it decorates."""
        headers = list(range(len(self.all)))
        for number in reversed(range(len(self.all) - 1)):
            if self.all[number].is_decorator:
                headers[number] = headers[number + 1]
        return headers

    def body_end(self, header: Statement) -> int:
        """Return the last line of the block below a header (``if x:``), or of the statements behind its colon."""
        number, end = self._number(header) + 1, header.range.end[0]
        while number < len(self.all) and self.all[number].range.begin[0] == end:
            end = self.all[number].range.end[0]
            number += 1
        if number == len(self.all) or self.all[number].indent <= header.indent:
            return end
        return self._line_above(self._block_end(number, header.indent + 1))

    def block_end(self, first: Statement, indent: int) -> int:
        """Return the last line before the next statement, from ``first`` on, that is indented less."""
        return self._line_above(self._block_end(self._number(first), indent))

    def _number(self, statement: Statement) -> int:
        return bisect_left(self._begins, statement.range.begin)

    def _block_end(self, number: int, indent: int) -> int:
        while number < len(self.all) and self.all[number].indent >= indent:
            number = self._dedents[number]
        return number

    def _line_above(self, number: int) -> int:
        return self._begins[number][0] - 1 if number < len(self.all) else END

    @cached_property
    def _dedents(self) -> list[int]:
        """The number of the next statement with less indentation, for each statement."""
        dedents = [len(self.all)] * len(self.all)
        waiting: list[int] = []
        for number, statement in enumerate(self.all):
            while waiting and self.all[waiting[-1]].indent > statement.indent:
                dedents[waiting.pop()] = number
            waiting.append(number)
        return dedents


class _Bracket(Struct, eq=False):
    begin: Position | None = None  # of the element that is being read


class _Reader:
    """Puts the tokens together to statements."""

    def __init__(self) -> None:
        """Begin before the first token."""
        self._statements: list[Statement] = []
        self._brackets: list[_Bracket] = []
        self._elements: list[Range] = []
        self._begin: Position | None = None
        self._end: Position = (0, 0)
        self._indent = self._lambdas = 0
        self._is_header = self._is_decorator = False
        self._is_first = True  # on its logical line

    def read(self, tokens: Sequence[TokenInfo]) -> list[Statement]:
        """Return the statements of a sequence of tokens: "if x: f(1)" → two, the header and the call."""
        for number, lexeme in enumerate(tokens):
            if lexeme.type == token.NEWLINE:
                self._close()
                self._is_first = True
            if lexeme.type not in _BLANK:
                self._take(lexeme, tokens[number + 1].string if number + 1 < len(tokens) else "")
        self._close()
        return self._statements

    def _take(self, lexeme: TokenInfo, following: str) -> None:
        """Read one token, which may open or close a statement, an element or a bracket."""
        text = lexeme.string if lexeme.type in (token.OP, token.NAME) else ""
        if self._begin is None:
            if text == ";":
                return
            self._open(lexeme, text, following)
        if text in _CLOSING and self._brackets:
            self._end_element()
            self._brackets.pop()
        elif text == "," and self._brackets:
            self._end_element()
            self._end = lexeme.end
            return
        elif text == ";" and not self._brackets:
            self._close()
            return
        if self._brackets and self._brackets[-1].begin is None:
            self._brackets[-1].begin = lexeme.start
        self._end = lexeme.end
        if text in _OPENING:
            self._brackets.append(_Bracket())
        elif not self._brackets and self._is_header:
            if text == "lambda":  # its colon does not end the header
                self._lambdas += 1
            elif text == ":" and self._lambdas:
                self._lambdas -= 1
            elif text == ":":
                self._close()

    def _open(self, lexeme: TokenInfo, text: str, following: str) -> None:
        self._begin = lexeme.start
        if self._is_first:
            self._indent = len(lexeme.line[: lexeme.start[1]].expandtabs())
            self._is_header = text in _COMPOUND or (text in _SOFT and following not in _BEHIND_NAME)
            self._is_decorator = text == "@"
        self._is_first = False

    def _end_element(self) -> None:
        begin = self._brackets[-1].begin
        if begin is not None:
            self._elements.append(Range(begin, self._end))
        self._brackets[-1].begin = None

    def _close(self) -> None:
        """End the current statement, if there is one; the next token begins a new one."""
        if self._begin is not None:
            place = Range(self._begin, self._end)
            header, decorator = self._is_header, self._is_decorator
            self._statements.append(Statement(place, self._indent, header, decorator, self._elements))
        self._begin, self._elements, self._brackets = None, [], []
        self._is_header = self._is_decorator = False
        self._lambdas = 0

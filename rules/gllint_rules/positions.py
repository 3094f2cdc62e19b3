"""Where in the source an expression stands, worked out only for what is reported.

Facts carry no positions: computing them for a whole file costs more than everything else after the parse.
Instead, the statement (or the header of a compound statement) that holds a reported expression is written out once
more where its tree is still at hand. Where it is gone, the statement is parsed again alone and read in the same order,
so that its expressions get the same numbers. Its own place in the file comes from a scan for logical lines. Where
anything does not match up, the whole file is parsed again.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

import libcst as cst
from libcst._nodes.internal import CodegenState

from gllint_rules.facts import Module, Unit
from gllint_rules.finding import Span
from gllint_rules.reader import KEPT, KeptTree, Reader

_TOKEN = re.compile(
    r'''
      (?P<string>
        """[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""
      | \'\'\'[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*\'\'\'
      | "[^"\\\r\n]*(?:\\(?:\r\n|.)[^"\\\r\n]*)*"
      | '[^'\\\r\n]*(?:\\(?:\r\n|.)[^'\\\r\n]*)*'
      )
    | (?P<comment>\#[^\r\n]*)
    | (?P<open>[\[({])
    | (?P<close>[\])}])
    | (?P<joined>\\(?:\r\n?|\n))
    | (?P<newline>\r\n?|\n)
    | (?P<other>[^\s"'\#\[\](){}\\][^"'\#\[\](){}\\\r\n]*)
    ''',
    re.VERBOSE | re.DOTALL,
)

_NEWLINE = re.compile(r"\r\n?|\n")


def logical_lines(source: str) -> list[int]:
    """The offsets at which the logical lines of ``source`` begin, comments and blank lines aside."""
    starts: list[int] = []
    depth = 0
    fresh = True
    for match in _TOKEN.finditer(source):
        kind = match.lastgroup
        if kind == "newline":
            fresh = fresh or depth == 0
        elif kind not in ("comment", "joined"):
            if fresh and depth == 0:
                starts.append(match.start())
            fresh = False
            if kind == "open":
                depth += 1
            elif kind == "close":
                depth = max(0, depth - 1)
    return starts


class Lines:
    """Offsets of a text as 1-based lines and columns, and back."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.starts = [0, *(m.end() for m in _NEWLINE.finditer(source))]

    def place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        return self.starts[line - 1] + column - 1

    def text(self, span: Span) -> str:
        return self.source[self.offset(span.line, span.column) : self.offset(span.end_line, span.end_column)]

    def span(self, start: int, end: int) -> Span:
        return Span(*self.place(start), *self.place(end))


class Stretch(NamedTuple):
    """A unit with its number, how many expressions it has, and between which offsets its text lies."""

    number: int
    unit: Unit
    size: int
    begin: int
    end: int


class Positions:
    """The places of one module's expressions, found on demand and remembered."""

    def __init__(self, module: Module, source: str) -> None:
        self.module = module
        self.lines = Lines(source)
        self._known: dict[int, Span] = {}
        self._offsets: dict[int, tuple[int, int]] = {}
        self._unit_starts: list[int] | None = None
        self._firsts: list[int] = []
        self._whole = False

    def span(self, at: int) -> Span:
        """Where expression number ``at`` stands; parentheses around it are not part of it."""
        found = self._known.get(at)
        if found is None:
            if at not in self._offsets:
                self._locate(at)
            if at in self._offsets:
                self._known[at] = self.lines.span(*self._offsets[at])
            found = self._known[at]
        return found

    def text(self, at: int) -> str:
        return self.lines.text(self.span(at))

    def stretch(self, at: int) -> Stretch | None:
        """The unit that holds expression ``at``; ``None`` where the units cannot be told apart."""
        if self._unit_starts is None:
            self._index()
        return self.unit(bisect_right(self._firsts, at) - 1)

    def unit(self, number: int) -> Stretch | None:
        """The unit of that number; ``None`` where the units cannot be told apart."""
        if self._unit_starts is None:
            self._index()
        starts, units = self._unit_starts, self.module.units
        if not starts:
            return None
        last = number + 1 == len(units)
        size = (self.module.size if last else units[number + 1].first) - units[number].first
        end = len(self.lines.source) if last else starts[number + 1]
        return Stretch(number, units[number], size, starts[number], end)

    def _locate(self, at: int) -> None:
        found = None if self._whole else self.stretch(at)
        if found is not None:
            unit, begin = found.unit, found.begin
            if self._generate(found):
                return
            line, column = self.lines.place(begin)
            indent = self.lines.source[begin - column + 1 : begin]
            spans = _spans_of_unit(self.lines.source[begin : found.end], unit, found.size, line, indent)
            if spans is not None:
                self._known.update(enumerate(spans, unit.first))
                return
        self._whole = True
        self._known.update(enumerate(_spans(cst.parse_module(self.lines.source))))

    def _generate(self, unit: Stretch) -> bool:
        """Find the places in a statement or header whose tree is still there, by writing it out once more."""
        kept = KEPT.get(self.module.digest)
        node = _written_alone(kept, unit.number) if kept is not None else None
        if kept is None or node is None:
            return False
        source, begin, first = self.lines.source, unit.begin, unit.unit.first
        state = Recorder("", kept.tree.default_newline, kept.nodes[first : first + unit.size])
        state.indent_tokens.append(source[source.rfind("\n", 0, begin) + 1 : begin])
        node._codegen(state)
        text = "".join(state.tokens)
        if isinstance(node, cst.BaseCompoundStatement):
            text = text[: text.rindex(":") + 1]
        [lead, *_] = logical_lines(text) or [len(text)]
        if not source.startswith(text[lead:].rstrip("\r\n"), begin):
            return False
        if None in state.found:
            return False
        for at, found in enumerate(state.found, first):
            assert found is not None
            self._offsets[at] = begin + found[0] - lead, begin + found[1] - lead
        return True

    def _index(self) -> None:
        starts = logical_lines(self.lines.source)
        self._firsts = [unit.first for unit in self.module.units]
        self._unit_starts = []
        position = 0
        for unit in self.module.units:
            if position < len(starts):
                self._unit_starts.append(starts[position])
            position += unit.lines
        if position != len(starts):
            self._unit_starts = []


def _written_alone(kept: KeptTree, number: int) -> cst.SimpleStatementLine | cst.BaseCompoundStatement | None:
    """The tree of a unit; of a header with nothing behind its colon, which is then the last one."""
    header = kept.headers.get(number)
    if header is None:
        return kept.statements.get(number)
    rest = {"orelse": None} if isinstance(header, (cst.If, cst.For, cst.While)) else {}
    return header.with_changes(leading_lines=(), body=_NOTHING, **rest)


_NOTHING = cst.SimpleStatementSuite([cst.Pass()])


class Recorder(CodegenState):
    """LibCST's code generator, noting between which offsets it writes each wanted node.

    ``PositionProvider`` finds the same places, at more than twice the price: it visits the tree once more and
    keeps the place of every node. A test holds the two equal.
    """

    def __init__(self, indent: str, newline: str, nodes: list[cst.CSTNode]) -> None:
        super().__init__(default_indent=indent, default_newline=newline)
        self.found: list[tuple[int, int] | None] = [None] * len(nodes)
        self._numbers = {id(node): number for number, node in enumerate(nodes)}
        self.offset = 0
        self._starts: list[int] = []

    def add_token(self, value: str) -> None:
        self.tokens.append(value)
        self.offset += len(value)

    def add_indent_tokens(self) -> None:
        self.tokens.extend(self.indent_tokens)
        self.offset += sum(map(len, self.indent_tokens))

    def before_codegen(self, node: cst.CSTNode) -> None:
        self._starts.append(self.offset)

    def after_codegen(self, node: cst.CSTNode) -> None:
        start = self._starts.pop()
        number = self._numbers.get(id(node))
        if number is not None and self.found[number] is None:
            self.found[number] = start, self.offset

    def record_syntactic_position(  # type: ignore[override]  # a generator costs more than what it surrounds
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> _Mark:
        return _Mark(self, self._numbers.get(id(node)))


class _Mark:
    """Notes where an expression begins and ends without the parentheses around it."""

    __slots__ = ("number", "recorder", "start")

    def __init__(self, recorder: Recorder, number: int | None) -> None:
        self.recorder, self.number = recorder, number

    def __enter__(self) -> None:
        self.start = self.recorder.offset

    def __exit__(self, *_: object) -> None:
        if self.number is not None:
            self.recorder.found[self.number] = self.start, self.recorder.offset


def _spans(tree: cst.Module) -> list[Span]:
    reader = Reader(track=True)
    reader.module("", "", tree)
    assert reader.nodes is not None
    state = Recorder(tree.default_indent, tree.default_newline, reader.nodes)
    tree._codegen(state)
    lines = Lines("".join(state.tokens))
    return [lines.span(*found) for found in state.found if found is not None]


def _spans_of_unit(text: str, unit: Unit, count: int, line: int, indent: str) -> list[Span] | None:
    """The places of the ``count`` expressions of a unit whose ``text`` begins on ``line`` after ``indent``."""
    prefix, cut, extra = _wrapping(unit, text, indent)
    body = text[cut:]
    block = f"\n{indent if unit.lines > 1 else ''} pass\n"
    suffixes: tuple[str, ...]
    match unit.kind:
        case "simple":
            suffixes = ("",)
        case "match":
            suffixes = ("\n case _: pass\n",)
        case _:  # the suite follows on lines of its own, or on this one
            suffixes = (block, "")
    for suffix in suffixes:
        try:
            tree = cst.parse_module(prefix + (body.rstrip() if suffix else body) + suffix)
        except (cst.ParserSyntaxError, cst.CSTValidationError, RecursionError):
            continue
        spans = _spans(tree)[extra:]
        if len(spans) != count:
            return None
        added = prefix.count("\n")
        shift = len(indent) + cut - len(prefix.rpartition("\n")[2])
        return [_moved(span, line - 1 - added, added + 1, shift) for span in spans]
    return None


def _wrapping(unit: Unit, text: str, indent: str) -> tuple[str, int, int]:
    """What makes a unit parse alone: text before it, characters to drop, expressions that this adds."""
    match unit.kind:
        case "header" if unit.lines > 1 and indent:  # decorators: several lines with one indentation
            return f"if 1:\n{indent}", 0, 1
        case "elif":
            return "", 2, 0
        case "except":
            return "try:\n pass\n", 0, 0
        case "case":
            return "match 0:\n ", 0, 1
        case "bare":
            return "if 1", text.index(":"), 1
        case _:
            return "", 0, 0


def _moved(span: Span, lines: int, first: int, shift: int) -> Span:
    return Span(
        span.line + lines,
        span.column + shift if span.line == first else span.column,
        span.end_line + lines,
        span.end_column + shift if span.end_line == first else span.end_column,
    )

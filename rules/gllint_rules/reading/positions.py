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

from gllint_rules.finding import Span
from gllint_rules.reading.facts import SECTION_BITS, LogicalLine, Module, SectionFacts
from gllint_rules.reading.reader import KeptTree, kept_section
from gllint_rules.reading.sections import section_text

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
    unit: LogicalLine
    size: int
    begin: int
    end: int


class Positions:
    """The places of one module's expressions, found on demand and remembered."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.lines = Lines(module.source)
        self._known: dict[int, Span] = {}
        self._offsets: dict[int, tuple[int, int]] = {}
        self._sections: dict[int, _Section] = {}

    def span(self, at: int) -> Span:
        """Where expression number ``at`` stands; parentheses around it are not part of it."""
        found = self._known.get(at)
        if found is None:
            if at not in self._offsets:
                self._locate(at)
            found = self._known[at] = self.lines.span(*self._offsets[at])
        return found

    def text(self, at: int) -> str:
        return self.lines.text(self.span(at))

    def stretch(self, at: int) -> Stretch | None:
        """The unit that holds expression ``at``; ``None`` where the units cannot be told apart."""
        section = self._section(at >> SECTION_BITS)
        return section.unit(bisect_right(section.firsts, at) - 1)

    def unit(self, section: int, number: int) -> Stretch | None:
        """The unit of that number in a section; ``None`` where the units cannot be told apart."""
        return self._section(section).unit(number)

    def _section(self, number: int) -> _Section:
        if number not in self._sections:
            section = self.module.outline.sections[number]
            facts = kept_section(self.module, number).facts
            self._sections[number] = _Section(facts, section_text(self.module, section))
        return self._sections[number]

    def _locate(self, at: int) -> None:
        section = self._section(at >> SECTION_BITS)
        kept = kept_section(self.module, at >> SECTION_BITS)
        found = self.stretch(at)
        if found is None or not self._generate(found, section, kept):
            state = Recorder(kept.tree.default_indent, kept.tree.default_newline, kept.nodes)
            kept.tree._codegen(state)
            shift = section.facts.section.begin - kept.prefix
            for number, place in enumerate(state.found, section.facts.first):
                assert place is not None
                self._offsets[number] = place[0] + shift, place[1] + shift

    def _generate(self, unit: Stretch, section: _Section, kept: KeptTree) -> bool:
        """Find the places in a statement or header by writing it out once more, alone."""
        node = _written_alone(kept, unit.number)
        if node is None:
            return False
        source, begin, first = self.lines.source, unit.begin, unit.unit.first
        low = first - section.facts.first
        state = Recorder("", kept.tree.default_newline, kept.nodes[low : low + unit.size])
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


class _Section:
    """A section's units and where they begin; none where they do not match up with its logical lines."""

    def __init__(self, facts: SectionFacts, text: str) -> None:
        self.facts = facts
        begin = facts.section.begin
        starts = logical_lines(text)
        self.firsts = [unit.first for unit in facts.units]
        self.starts: list[int] = []
        self.end = begin + len(text)
        position = 0
        for unit in facts.units:
            if position < len(starts):
                self.starts.append(begin + starts[position])
            position += unit.lines
        if position != len(starts):
            self.starts = []

    def unit(self, number: int) -> Stretch | None:
        units = self.facts.units
        if not self.starts or not 0 <= number < len(units):
            return None
        last = number + 1 == len(units)
        after = self.facts.first + self.facts.size if last else units[number + 1].first
        end = self.end if last else self.starts[number + 1]
        return Stretch(number, units[number], after - units[number].first, self.starts[number], end)


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
        self._numbers = {node: number for number, node in enumerate(nodes)}
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
        number = self._numbers.get(node)
        if number is not None and self.found[number] is None:
            self.found[number] = start, self.offset

    def record_syntactic_position(  # type: ignore[override]  # a generator costs more than what it surrounds
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> _Mark:
        return _Mark(self, self._numbers.get(node))


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

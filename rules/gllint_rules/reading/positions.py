"""Where in the source an expression stands, worked out only for what is reported.

Facts carry no positions: most are never asked for. The section that holds a reported expression is read once more in
the same order, so that its expressions get the same numbers, and the place of each is noted.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from gllint_rules.finding import Span
from gllint_rules.reading.facts import SECTION_BITS, LogicalLine, Module, SectionFacts
from gllint_rules.reading.outline import Section
from gllint_rules.reading.sections import read_places, section_text
from gllint_rules.tuples import NamedTuple

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
    """The places of one module's expressions, found on demand and remembered with the facts of their sections."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.lines = Lines(module.source)
        self._known: dict[int, Span] = {}
        self._sections: dict[int, _Section] = {}

    def span(self, at: int) -> Span:
        """Where expression number ``at`` stands; parentheses around it are not part of it."""
        found = self._known.get(at)
        if found is None:
            found = self._known[at] = self.lines.span(*self.offsets(at))
        return found

    def offsets(self, at: int) -> tuple[int, int]:
        """Between which offsets of the source expression number ``at`` stands."""
        known = self.module.section_of(at)
        if known.places is None:
            known.places = self._places(known.section)
        begin, end = known.places[at - known.first]
        return known.section.begin + begin, known.section.begin + end

    def text(self, at: int) -> str:
        return self.lines.source[slice(*self.offsets(at))]

    def stretch(self, at: int) -> Stretch | None:
        """The unit that holds expression ``at``; ``None`` where the units cannot be told apart."""
        section = self._section(at >> SECTION_BITS)
        return section.unit(bisect_right(section.firsts, at) - 1)

    def unit(self, section: int, number: int) -> Stretch | None:
        """The unit of that number in a section; ``None`` where the units cannot be told apart."""
        return self._section(section).unit(number)

    def _section(self, number: int) -> _Section:
        if number not in self._sections:
            from gllint_rules.reading.reader import kept_section

            section = self.module.outline.sections[number]
            facts = kept_section(self.module, number).facts
            self._sections[number] = _Section(facts, section_text(self.module, section))
        return self._sections[number]

    def _places(self, section: Section) -> list[tuple[int, int]]:
        """Between which offsets of the text of ``section`` its expressions stand."""
        if self.module.outline.is_whole:
            from gllint_rules.reading.reader import kept_section

            return kept_section(self.module, section.number).places()
        begin = section.begin
        return [(start - begin, end - begin) for start, end in read_places(self.module, section)]


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

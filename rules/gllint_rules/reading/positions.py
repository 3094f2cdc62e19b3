"""The places of expressions in the source, computed only for what is reported.

Facts have no positions: most are never asked for. The section that contains a reported expression is read once more in
the same order, so that its expressions get the same numbers, and the place of each is noted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from gllint_rules.finding import Span
from gllint_rules.reading.facts import Function, Module, Places, SectionFacts
from gllint_rules.reading.passage import line_starts
from gllint_rules.reading.sections import read_places
from gllint_rules.reading.text_files import TextModule
from gllint_rules.tuples import NamedTuple


class Lines:
    """Offsets of a text as 1-based lines and columns, and back."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.starts = line_starts(source)

    def place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        return self.starts[line - 1] + column - 1

    def line_end(self, offset: int) -> int:
        """Where the line behind the one of an offset begins, or the text ends."""
        line = bisect_right(self.starts, offset)
        return self.starts[line] if line < len(self.starts) else len(self.source)

    def text(self, span: Span) -> str:
        return self.source[self.offset(span.line, span.column) : self.offset(span.end_line, span.end_column)]

    def span(self, start: int, end: int) -> Span:
        return Span(*self.place(start), *self.place(end))


class Stretch(NamedTuple):
    """Simple statements on a line of their own: offsets of the source, and the numbers of the expressions in them."""

    begin: int
    end: int
    numbers: range


class Positions:
    """The places of one module's expressions, found on demand and remembered with the facts of their sections."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.lines = Lines(module.source)
        self._spans: dict[int, Span] = {}
        self._characters: dict[int, tuple[Sequence[int], int]] = {}

    def span(self, at: int) -> Span:
        """Return the place of expression number ``at``, without parentheses around it."""
        span = self._spans.get(at)
        if span is None:
            span = self._spans[at] = self.lines.span(*self.offsets(at))
        return span

    def offsets(self, at: int) -> tuple[int, int]:
        """Return the offsets of expression number ``at`` in the source."""
        section_facts = self.module.section_of(at)
        begin, end = self.places(section_facts).span(at - section_facts.first)
        return section_facts.section.begin + begin, section_facts.section.begin + end

    def text(self, at: int) -> str:
        return self.lines.source[slice(*self.offsets(at))]

    def characters(self, at: int) -> tuple[Sequence[int], int]:
        """Where the characters of a string's text are in the source of expression number ``at``, and its length."""
        characters = self._characters.get(at)
        if characters is None:
            from gllint_rules.reading.strings import raw_offsets

            raw = self.text(at)
            characters = self._characters[at] = raw_offsets(raw), len(raw)
        return characters

    def places(self, section_facts: SectionFacts) -> Places:
        """Return the places of a section's expressions, as offsets of its own text. Raises :class:`Unreadable`."""
        if section_facts.places is None:
            section_facts.places = read_places(self.module, section_facts.section)
        return section_facts.places

    def mentions(self, function: Function, name: str) -> Iterator[int]:
        """Yield the numbers of the places in a function that mention a name."""
        section_facts = self.module.section_of(function.at)
        for number in self.places(section_facts).names:
            at = section_facts.first + number
            if function.at <= at < function.end and self.text(at) == name:
                yield at

    def stretch(self, at: int) -> Stretch | None:
        """Return the line of simple statements that expression number ``at`` is in; ``None`` if it is in none."""
        section_facts = self.module.section_of(at)
        places, number = self.places(section_facts), at - section_facts.first
        line = bisect_right(places.lines, number, key=lambda line: line.first) - 1
        begin, end = places.span(number)
        is_there = line >= 0 and places.lines[line].begin <= begin and end <= places.lines[line].end
        return self._line(section_facts, line) if is_there else None

    def stretches(self, section_facts: SectionFacts) -> list[Stretch]:
        """Return the lines of simple statements in a section."""
        return [self._line(section_facts, number) for number in range(len(self.places(section_facts).lines))]

    def _line(self, section_facts: SectionFacts, number: int) -> Stretch:
        places, start = self.places(section_facts), section_facts.section.begin
        first, begin, end = places.lines[number]
        last = places.lines[number + 1].first if number + 1 < len(places.lines) else len(places.begins)
        return Stretch(
            start + begin, start + end, range(section_facts.first + first, section_facts.first + last)
        )


class TextPositions(Positions):
    """The places of the texts of a file that is no Python."""

    def __init__(self, module: TextModule) -> None:
        super().__init__(module)
        self._stretches = module.stretches

    def offsets(self, at: int) -> tuple[int, int]:
        return self._stretches[at].begin, self._stretches[at].end

    def characters(self, at: int) -> tuple[Sequence[int], int]:
        characters = self._characters.get(at)
        if characters is None:
            begin, end, places = self._stretches[at]
            characters = self._characters[at] = [*places, end - begin], end - begin
        return characters

    def stretch(self, at: int) -> Stretch | None:
        return None


def positions_of(module: Module) -> Positions:
    """Return the places of the expressions of a module."""
    return TextPositions(module) if isinstance(module, TextModule) else Positions(module)

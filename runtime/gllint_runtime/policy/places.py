"""The place of a number in a text: its clause, list item, table row and column, heading, and what they say about it."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Literal, NamedTuple

from gllint_runtime.policy.text_units import currency_units, size_of_unit, unit_of_text, units_at, words_table
from gllint_runtime.policy.units import is_allowed

Span = tuple[int, int]
LineKind = Literal["prose", "item", "row", "rule", "heading", "label", "blank"]

_WORD = re.compile(r"[^\W_]+")
_ITEM = re.compile(r"([ \t>]*)(?:[-*+•–]|\(?\d{1,3}[.)]|[a-z]\))[ \t]+")
_HEADING = re.compile(r"\s*#{1,6}\s")
_RULE = re.compile(r"(?=[\s|:+]*-)[\s|:+-]*+\Z")
_SENTENCE = re.compile(r"[.!?…][\"'”’)\]]*\s+(?=[^a-zß-ÿ\s])")
_ABBREVIATED = re.compile(words_table()["forms"]["abbreviated"], re.IGNORECASE)
_CLAUSE = re.compile(words_table()["forms"]["clause"], re.IGNORECASE)
_LABEL_WORDS = 9
_LONGEST_SENTENCE = (
    1_000  # characters; one without an end is read in parts, so that each number reads as little
)
_LONGEST_LIST = 40  # lines of a list above a number that count for it
_LISTED = ("row", "item", "rule", "blank", "label")
_MAX_LABEL = 90


@dataclass(slots=True, eq=False)
class Line:
    """A line of a text, and what is above it that counts for it."""

    start: int
    end: int
    kind: LineKind
    indent: int = 0
    header: Line | None = None  # the first row of its table
    heads: tuple[Span, ...] = ()  # parents, labels and headings, the nearest first


class Declared(NamedTuple):
    """The units, the factor and the divisor that a label, header or heading gives the numbers under it."""

    units: tuple[str, ...]
    factor: float
    per: str


@dataclass(slots=True, eq=False)
class Place:
    """The place of a number in a text."""

    layout: Layout
    start: int
    end: int
    _scopes: list[tuple[Span, ...]] | None = None
    _sentence: Span | None = None
    _clause: Span | None = None

    @property
    def scopes(self) -> list[tuple[Span, ...]]:
        """The stretches that say what a number is of, from the nearest to the farthest."""
        if self._scopes is None:
            self._scopes = [scope for scope in self.layout.scopes(self) if scope]
        return self._scopes

    @property
    def sentence(self) -> Span:
        """The sentence, list item or table row."""
        if self._sentence is None:
            self._sentence = self.layout.sentence(self.start, self.end)
        return self._sentence

    @property
    def clause(self) -> Span:
        """The part of the sentence, up to the next comma or "and"."""
        if self._clause is None:
            self._clause = self.layout.clause(self.start, self.end)
        return self._clause


class _Context(NamedTuple):
    """What is above a line and may count for it."""

    headings: tuple[tuple[int, Span], ...] = ()
    label: Span | None = None
    parents: tuple[Line, ...] = ()
    header: Line | None = None
    has_items: bool = False


class Layout:
    """The lines, sentences and words of a text, which may grow."""

    def __init__(self, text: str = "") -> None:
        self.text = ""
        self.lines: list[Line] = []  # each with what is above it that counts for it
        self._line_starts: list[int] = []
        self._context_of_last = _Context()  # the last line, which may still grow
        self._captions: list[
            Span
        ] = []  # the sentences that say something of all numbers: "All figures in millions"
        self._words: tuple[list[int], list[str]] = [], []
        self._words_end = 0
        self._word_sets: dict[Span, frozenset[str]] = {}
        self._numbers: list[Span] = []
        self._sentence_spans: dict[int, list[Span]] = {}
        self._clause_spans: dict[Span, list[Span]] = {}
        self._cell_spans: dict[int, list[Span]] = {}
        self.grow(text)

    def grow(self, text: str) -> None:
        """Add what follows: further sentences, list items or rows."""
        end = len(self.text)
        self.text += text
        self._captions[:0] = [match.span() for match in _CAPTION.finditer(self.text, end)][::-1]
        start = 0
        if self.lines:
            start = self._line_starts.pop()
            self.lines.pop()
            self._cell_spans.pop(start, None)
        context = self._context_of_last
        for piece in self.text[start:].splitlines(keepends=True) or [""]:
            line = _line(piece, start)
            self._context_of_last = context
            context = _with_heads(line, piece, context)
            self.lines.append(line)
            self._line_starts.append(start)
            start += len(piece)

    def place(self, start: int, end: int) -> Place:
        """Return the place of a number."""
        return Place(self, start, end)

    def number(self, place: Place) -> None:
        """Add a number, which ends the description of those next to it."""
        self._numbers.append((place.start, place.end))

    @property
    def words(self) -> tuple[list[int], list[str]]:
        """Return where the words begin, and the words, folded."""
        starts, words = self._words
        if self._words_end < len(self.text):
            for match in _WORD.finditer(self.text, self._words_end):
                starts.append(match.start())
                words.append(folded_word(match[0]))
            self._words_end = len(self.text)
        return self._words

    def words_in(self, span: Span) -> list[str]:
        """Return the words of a stretch."""
        return [word for _, word in self.word_places(span)]

    def word_set(self, span: Span) -> frozenset[str]:
        """Return the words of a stretch that is looked at for several numbers."""
        if (words := self._word_sets.get(span)) is None:
            words = self._word_sets[span] = frozenset(self.words_in(span))
        return words

    def word_places(self, span: Span) -> list[tuple[int, str]]:
        """Return where the words of a stretch begin, each with the word."""
        starts, words = self.words
        first, last = (bisect_left(starts, place) for place in span)
        return [*zip(starts[first:last], words[first:last], strict=True)]

    def line_at(self, place: int) -> Line:
        """Return the line that contains a place."""
        return self.lines[self._number_at(place)]

    def _number_at(self, place: int) -> int:
        return max(0, bisect_right(self._line_starts, place) - 1)

    def sentence(self, start: int, end: int) -> Span:
        """Return the sentence that contains a place; of a table row the whole row."""
        return _span_at(self._sentences(self.line_at(start)), start)

    def _sentences(self, line: Line) -> list[Span]:
        """Return the places of the sentences of a line; the point of an abbreviation ("approx. 5") ends none."""
        spans = self._sentence_spans.setdefault(line.start, [])
        first = line.start
        if spans:
            if spans[-1][1] >= line.end:
                return spans
            first = spans.pop()[0]  # the line has grown
        for match in _SENTENCE.finditer(self.text, first, line.end) if line.kind != "row" else ():
            if not is_abbreviated(self.text, match.start()):
                spans += self._parts(first, match.start() + 1)
                first = match.end()
        spans += self._parts(first, line.end)
        return spans

    def _parts(self, start: int, end: int) -> Iterator[Span]:
        """Yield a sentence; a very long one in parts, each of which ends at a blank if it has one."""
        while end - start > _LONGEST_SENTENCE:
            blank = self.text.rfind(" ", start + _LONGEST_SENTENCE // 2, start + _LONGEST_SENTENCE)
            stop = blank + 1 if blank >= 0 else start + _LONGEST_SENTENCE
            yield (start, stop)
            start = stop
        yield (start, end)

    def previous_sentence(self, sentence: Span) -> Span | None:
        """Return the sentence, item or row before one; ``None`` at the start."""
        at = sentence[0] - 1
        while at >= 0 and self.text[at].isspace():
            at -= 1
        return self.sentence(at, at + 1) if at >= 0 else None

    def list_start(self, line: Line) -> int:
        """Return where the list or table that ends at ``line`` begins, with the line of prose that introduces it."""
        place = start = self._number_at(line.start)
        while place > max(0, start - _LONGEST_LIST) and self.lines[place - 1].kind in _LISTED:
            place -= 1
        if place < start and place and self.lines[place - 1].kind == "prose":
            place -= 1
        return self.lines[place].start

    def next_item(self, line: Line) -> int:
        """Return where the text that follows up on a line ends: the next item of its list, or the list that it
        introduces.

        At the last item, and for any other line, that is the end of the line.
        """
        place = self._number_at(line.start) + 1
        if line.kind != "item" and self.text[line.start : line.end].rstrip().endswith(":"):
            end = line.end
            for following in self.lines[place : place + _LONGEST_LIST]:
                if following.kind not in _LISTED and following.kind != "blank":
                    break
                end = following.end
            return end
        after = self.lines[place : place + 1] if line.kind == "item" else []
        return after[0].end if after and after[0].kind == "item" else line.end

    def clause(self, start: int, end: int) -> Span:
        """Return the part of a sentence that contains a place."""
        return _span_at(self.clauses(self.sentence(start, end)), start)

    def clauses(self, sentence: Span) -> list[Span]:
        """Return the places of a sentence's clauses, which commas, "and" and the like separate."""
        spans = self._clause_spans.get(sentence)
        if spans is None:
            first, spans = sentence[0], []
            for match in _CLAUSE.finditer(self.text, *sentence):
                spans.append((first, match.start()))
                first = match.end()
            spans.append((first, sentence[1]))
            self._clause_spans[sentence] = spans
        return spans

    def cell(self, line: Line, place: int) -> tuple[Span, int]:
        """Return the cell of a row, and its column."""
        cells = self.cells(line)
        number = bisect_right(cells, place - 1, key=itemgetter(1))
        return (cells[number], number) if number < len(cells) else ((line.start, line.end), 0)

    def cells(self, line: Line) -> list[Span]:
        """Return the places of the cells of a row.

        ``| Heat | 5 kWh |`` → those of "Heat" and "5 kWh", with their blanks.
        """
        if (spans := self._cell_spans.get(line.start)) is not None:
            return spans
        spans = self._cell_spans[line.start] = []
        row = self.text[line.start : line.end]
        at = line.start + len(row) - len(row.lstrip(" \t|"))
        if row.lstrip()[:1] == "|":  # the first cell may be empty: `|| 5 |`
            at = self.text.index("|", line.start) + 1
        while at <= line.end:
            bar = self.text.find("|", at, line.end)
            stop = bar if bar >= 0 else line.end
            if bar >= 0 or self.text[at:stop].strip():
                spans.append((at, stop))
            at = stop + 1
        return spans

    def scopes(self, place: Place) -> Iterator[tuple[Span, ...]]:
        """Yield the stretches that may say what a number is, from the nearest to the farthest, each as one or
        several places.

        In a row: its cell, then the header and the first cells; in prose: the text around it, its clause, its
        sentence; last the label and headings above it.
        """
        line = self.line_at(place.start)
        if line.kind == "row":
            cell, column = self.cell(line, place.start)
            yield (cell,)
            labels: list[Span] = []
            if line.header is not None and column < len(heads := self.cells(line.header)):
                labels.append(heads[column])
            labels += [element for element in self.cells(line)[: max(column, 1)] if element != cell]
            yield tuple(labels)
        else:
            clause, sentence = self.clause(place.start, place.end), self.sentence(place.start, place.end)
            yield from self._windows(place, clause)
            yield (self._own_part(place, clause),)
            if sentence != clause:
                yield from self._clauses_before(clause, sentence)
                start = max(sentence[0], self.text.rfind(";", sentence[0], clause[0]) + 1)
                if start < clause[0]:
                    yield ((start, place.end),)  # what another clause names behind it is not of it
            if sentence != (line.start, line.end) and line.kind == "item":
                yield ((line.start, line.end),)
        for head in line.heads:
            yield (head,)

    def _windows(self, place: Place, clause: Span) -> Iterator[tuple[Span, ...]]:
        """Yield the text next to a number in a clause with several.

        "2 apples and 3 pears" → for 3 "pears" first, then "and".
        """
        first, last = (bisect_left(self._numbers, (at,)) for at in clause)
        inside = self._numbers[first:last]
        if len(inside) < 2:
            return
        number = bisect_left(inside, (place.start,))
        if number == len(inside) or inside[number][0] != place.start:
            return
        # A number in brackets right behind another is of the same thing: 1.44 billion (17.8%) in India.
        if number + 1 < len(inside) and _OPENED.fullmatch(self.text, place.end, inside[number + 1][0]):
            closed = self.text.find(")", inside[number + 1][0], clause[1])
            if closed >= 0 and not any(place.end < span[0] < closed for span in inside[number + 2 :]):
                trailing = inside[number + 2][0] if number + 2 < len(inside) else clause[1]
                if (after := _JOINED.match(self.text, closed + 1, trailing)) is not None:
                    yield ((closed + 1, after.end()),)
        prior = inside[number - 1][1] if number else clause[0]
        if number and (aside := _BRACKETED.match(self.text, prior, place.start)) is not None:
            prior = aside.end()  # it is about the number before
        trailing = inside[number + 1][0] if number + 1 < len(inside) else clause[1]
        if (aside := _BRACKETED.match(self.text, place.end, trailing)) is not None:
            yield (aside.span(),)
        after = _JOINED.match(self.text, place.end, trailing)
        if after is not None:
            yield ((place.end, after.end()),)
        if number and (noun := _JOINED.match(self.text, prior, place.start)) is not None:
            prior = noun.end()
            if (per := _PER_WORD.match(self.text, prior, place.start)) is not None:
                prior = per.end()
        opened = self.text.rfind("(", prior, place.start)
        closed = self.text.find(")", place.end, clause[1])
        if opened >= 0 and closed >= 0 and sum(opened < span[0] < closed for span in inside) > 1:
            prior = opened + 1
        # The number before is the label of this one: `404: 12`.
        if number and _COLON.fullmatch(self.text, prior, place.start):
            yield (inside[number - 1],)
        prior = max(prior, self.text.rfind(":", prior, place.start) + 1)
        if prior < place.start:
            yield ((prior, place.start),)
        if number == 0 and place.end < trailing:
            yield ((place.end, _FEW_WORDS.match(self.text, place.end, trailing).end()),)  # type: ignore[union-attr]

    def _own_part(self, place: Place, clause: Span) -> Span:
        """Return the part of a clause that is about a number, without what it is compared with behind it."""
        reference = _REFERENCE.search(self.text, place.end, clause[1])
        return clause if reference is None else (clause[0], reference.start())

    def _clauses_before(self, clause: Span, sentence: Span) -> Iterator[tuple[Span, ...]]:
        before = [span for span in self.clauses(sentence) if span[1] <= clause[0]]
        for earlier, later in zip(before[:-4:-1], [clause, *before[:-4:-1]], strict=False):
            if ";" in self.text[earlier[1] : later[0]]:
                return
            if not _REFERS.search(self.text, *earlier):  # an hour before RJ 132
                yield (earlier,)

    def declared(self, place: Place) -> Declared | None:
        """Return what the header, label or heading of a number says about it.

        ``Heat (MWh): 5`` → the unit MWh; else ``None``.

        The nearest counts: the header of its column, the first cell of its row, the label before it, a unit in
        brackets behind it, the lines above it, and last a caption ("All figures in millions").
        """
        line = self.line_at(place.start)
        nearest = self._declared_in_row if line.kind == "row" else self._declared_nearby
        if (declared := nearest(line, place)) is not None:
            return declared
        for head in line.heads:
            text = self.text[slice(*head)]
            if declared := declaration(text.rstrip().rstrip(":"), False):
                return declared
        for caption in self._captions:
            if caption[0] < place.start and (declared := _caption(self.text[slice(*caption)])):
                return declared
        return None

    def _declared_in_row(self, row: Line, place: Place) -> Declared | None:
        """Return what the header of a number's column, or else the first cell of its row, says about it."""
        _, column = self.cell(row, place.start)
        if row.header is None:
            return None
        heads, cells = self.cells(row.header), self.cells(row)
        if column < len(heads) and (declared := declaration(self.text[slice(*heads[column])], True)):
            return declared
        return declaration(self.text[slice(*cells[0])], False) if column and cells else None

    def _declared_nearby(self, line: Line, place: Place) -> Declared | None:
        """Return what a label before a number or a unit in brackets behind it says: "Heat (MWh): 5", "12.5 (MWh)"."""
        label = self.text[max(line.start, place.start - _LONGEST_SENTENCE) : place.start]
        mark = max(label.rfind(":"), label.rfind("="))
        if mark >= 0 and not label[mark + 1 :].strip(" \t$€£~≈*-−"):
            begin = max(label.rfind(separator, 0, mark) for separator in (", ", "; ", ". ")) + 1
            if declared := declaration(label[begin:mark], False):
                return declared
        near = _STATED.search(label) or _BRACKET.match(self.text, place.end)
        declared = declared_unit(near[1]) if near is not None else None
        return declared if declared is not None and declared.units else None


def is_abbreviated(text: str, point: int) -> bool:
    """Return whether a point is behind an abbreviation or a list number."""
    return _ABBREVIATED.search(text, max(0, point - 8), point) is not None


def _span_at(spans: list[Span], place: int) -> Span:
    """Return the stretch that contains a place, or the last."""
    number = bisect_right(spans, place, key=itemgetter(1))
    return spans[min(number, len(spans) - 1)]


_JOINED = re.compile(
    r"\s?(?:(?:in|of|for|at|de|für|pour)\s)?(?:the\s)?"
    r"(?!(?:on|from|with|vs|and|to|by|against|compared|than|over|while|but|or|is|are|was|were|und|et|auf|mit|bei|sur)\b)[^\W\d_]+"
    r"(?:\s(?!(?:on|from|with|vs|and|to|by|against|compared|than|over|while|but|or|is|are|was|were|und|et|auf|mit|bei|sur|at|in|of|for|per|a|an|pro|par)\b)[^\W\d_]+)?(?=[\s.,;)]|$)"
)
_OPENED = re.compile(r"[\s*_]*\([^\w]*")
_BRACKETED = re.compile(r"\s?\([^()\n]*\)")
_REFERS = re.compile(
    r"\b(?:than|before|after|versus|vs|compared|instead|als|vor|nach|que|avant|après)\b", re.IGNORECASE
)
_REFERENCE = re.compile(
    r"\b(?:from|than|versus|vs|compared|instead of|against|als|gegenüber|statt|que|contre)\s"
    r"(?:[^\W\d_]+\s){0,2}[$€£]?(?=[-−]?\d)",
    re.IGNORECASE,
)
_COLON = re.compile(r"\s?[:=]\W*")
_PER_WORD = re.compile(r"\s?(?:per|a|an|pro|par)\s[^\W\d_]+")
_FEW_WORDS = re.compile(r"(?:\s?[^\W_]+){0,3}")
_BRACKET = re.compile(r"[ \u00a0]?[(\[]([^()\[\]\d]{1,20})[)\]]")
_CAPTION = re.compile(words_table()["forms"]["caption"], re.IGNORECASE)
_END_BRACKET = re.compile(r"[(\[]\s*([^()\[\]]{1,28})\s*[)\]]\s*\Z")
_IN = re.compile(r"(?:\bin|,|/)\s+([^,()]{1,28})\Z")
_STATED = re.compile(r"[(\[]([^()\[\]\d]{2,20})[)\]]\s(?:is|was|are|were|ist|war|est|était)\s\W{0,3}\Z")
_LABEL_PER = re.compile(r"\b(?:per|pro|par)\s+([^\W_]{1,12}\d?)\s*\Z", re.IGNORECASE)


@lru_cache(maxsize=1024)
def declaration(text: str, is_header: bool) -> Declared | None:
    """Return what a label or a column's header says about its numbers: "Heat (MWh)" → the unit MWh; else ``None``.

    "Cost in USD millions" → USD, factor 1,000,000; "Energy per day" → divided by a day. ``is_header``: a bare unit
    counts, too ("MWh").
    """
    text = text.strip()
    if not text or len(text) > _MAX_LABEL * 2:  # a sentence, and no label
        return None
    bracket = _END_BRACKET.search(text)
    if bracket is not None:
        return declared_unit(bracket[1])
    if (inner := _IN.search(text)) is not None and (hits := declared_unit(inner[1])) is not None:
        return hits
    if (per := _LABEL_PER.search(text)) is not None:
        units, end = units_at(per[1], 0)
        if units and end == len(per[1]):
            return Declared((), 1.0, units[0])
    if is_header and len(text) > 1:  # one letter ("A", "B") names what is compared
        if (hits := declared_unit(text)) is not None:
            return hits
        last = text.rsplit(None, 1)[-1]
        if (
            last != text
            and not last.islower()
            and 1 < len(last) < 12
            and (hits := declared_unit(last)) is not None
            and all(is_allowed(unit) for unit in hits.units)  # not the "S9" of "Dustbot S9"
        ):
            return hits
        if "%" in text:
            return Declared(("%",), 1.0, "")
    return None


def _caption(text: str) -> Declared | None:
    match = _CAPTION.search(text)
    return declared_unit(match[1] or match[2] or match[3]) if match is not None else None


_FACTOR = re.compile(
    r"\b(thousands?|millions?|billions?|tausend|tsd\.?|mio\.?|mrd\.?|millionen|milliers|mn|bn)(?![^\W_])",
    re.IGNORECASE,
)
_SIZE_BEFORE = re.compile(r"([kKMBT])\s?(?=(?:US)?[$€£¥]|[A-Z]{3}\Z)")
_SIZE_BEHIND = re.compile(r"(?<=[$€£¥])\s?([kKMmBb]|bn|mn|mm)\Z|(?<=[A-Z]{3})\s?([kKM])\Z|\A([kKM])\Z")


@lru_cache(maxsize=1024)
def declared_unit(text: str) -> Declared | None:
    """Return the unit and size of a text in brackets or after "in".

    Example: ``$M``, ``kEUR``, ``USD millions``, ``MWh``; else ``None``.

    ``"kEUR"`` → ``Declared(("EUR",), 1000.0, "")``.
    """
    text = re.sub(r"\bin\b|\bof\b|\bde\b", " ", text).strip()
    factor = 1.0
    letters = words_table()["letters"]
    if (word := _FACTOR.search(text)) is not None:
        name = word[1].lower().rstrip(".").removesuffix("s")
        factor = float(words_table()["multipliers"].get(name, 1))
        text = f"{text[: word.start()]} {text[word.end() :]}".strip()
    elif (size := _SIZE_BEFORE.match(text)) is not None and currency_units(text[size.end() :].strip()):
        factor, text = float(letters[size[1]]), text[size.end() :]
    elif (size := _SIZE_BEHIND.search(text)) is not None:
        factor, text = float(letters[size[1] or size[2] or size[3]]), text[: size.start()]
    text = " ".join(text.split())
    if not text:
        return Declared((), factor, "") if factor != 1.0 else None
    units = currency_units(text) or unit_of_text(text)
    if any(size_of_unit(unit) is None for unit in units):
        return Declared((), factor, "") if factor != 1.0 else None
    return Declared(tuple(units), factor, "")


def _line(piece: str, start: int) -> Line:
    """Return a line with its kind: blank, rule (``|---|``), row, heading, item, label ("Costs:") or prose."""
    text = piece.rstrip("\r\n")
    end = start + len(text)
    stripped = text.strip()
    if not stripped:
        return Line(start, end, "blank")
    if "|" in stripped and _RULE.match(stripped):
        return Line(start, end, "rule")
    if "|" in stripped and (stripped[0] == "|" or " | " in stripped):
        return Line(start, end, "row")
    if _HEADING.match(text):
        return Line(start, end, "heading")
    if item := _ITEM.match(text):
        return Line(start, end, "item", len(item[1].expandtabs(4)))
    if stripped[-1] not in ".!?;," and len(stripped) <= _MAX_LABEL and stripped.count(" ") < _LABEL_WORDS:
        if stripped[-1] == ":" or not any(char.isdecimal() for char in stripped):
            return Line(start, end, "label")
    return Line(start, end, "prose")


def _with_heads(line: Line, piece: str, context: _Context) -> _Context:
    """Give a line what is above it that counts for it; return what is above the next."""
    headings, label, parents, header, has_items = context
    this_line, trimmed = (line.start, line.end), piece.strip()
    if line.kind == "heading":
        level = len(trimmed) - len(trimmed.lstrip("#"))
        headings = (*(pair for pair in headings if pair[0] < level), (level, this_line))
        label, parents, header = None, (), None
    elif line.kind == "label":
        label, parents, header, has_items = this_line, (), None, False
    elif line.kind == "prose":
        if has_items or not trimmed.endswith(":"):
            label = None
        if trimmed.endswith(":"):
            label, has_items = this_line, False
        parents, header = (), None
    elif line.kind == "item":
        has_items, header = True, None
        parents = tuple(element for element in parents if element.indent < line.indent)
        line.heads = tuple((element.start, element.end) for element in reversed(parents))
        parents = (*parents, line)
    elif line.kind == "row":
        has_items, line.header = True, header
        header = header or line
    elif line.kind == "blank":
        header = None
    if line.kind not in ("blank", "heading"):
        labels = (label,) if label is not None and label != this_line else ()
        line.heads = (*line.heads, *labels, *(place for _, place in reversed(headings)))
    return _Context(headings, label, parents, header, has_items)


_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


@lru_cache(maxsize=16384)
def folded_word(word: str) -> str:
    """Return a word in small letters, without accents and the end of a plural.

    "Cities" → "city", "Ströme" → "stroeme".
    """
    word = word.lower()
    if not word.isascii():
        word = unicodedata.normalize("NFKD", word.translate(_UMLAUTS))
        word = "".join(char for char in word if not unicodedata.combining(char))
    if len(word) > 3 and word != "news" and word[-1] == "s" and word[-2] not in "sui":
        if word.endswith("ies") and len(word) > 4:
            return word[:-3] + "y"
        if word.endswith(("ches", "shes", "xes", "sses", "zes")):
            return word[:-2]
        return word[:-1]
    return word

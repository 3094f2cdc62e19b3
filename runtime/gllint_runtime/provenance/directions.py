"""In which way a text says that a number goes, and of what two values it compares the first with the second.

A difference has a subject and a reference: "A is 3 cheaper than B", "up from 5", "2 h less than planned". The words
say the sign of subject minus reference; one function finds which of two operands is which.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple, Protocol

from gllint_runtime.policy.expressions import expression
from gllint_runtime.policy.places import Layout, Span, folded_word
from gllint_runtime.policy.reader import Reading
from gllint_runtime.policy.text_units import size_of_unit, table_words, words_table
from gllint_runtime.provenance.records import Record, Source


class Mark(NamedTuple):
    """A word of direction: ``up``, ``down``, ``neutral``, or ``left`` for what a whole has more than its part."""

    start: int
    end: int
    way: str
    word: str


class Side(Protocol):
    """One of two values that are compared."""

    @property
    def at(self) -> int:
        """Where it is shown; negative where it is not."""

    @property
    def sources(self) -> tuple[Source, ...]:
        """What it rests on."""


class Names(Protocol):
    """Says which records a stretch names."""

    def named(self, scope: tuple[Span, ...]) -> dict[str, set[Record]]:
        """The records that a stretch names."""

    def last_place_of(self, sources: tuple[Source, ...], span: Span) -> int:
        """Where a stretch last names the record of a source; -1 where it does not."""


@cache
def _ways() -> dict[str, str]:
    ways = {
        folded_word(word): way for way, words in words_table()["directions"].items() for word in words.split()
    }
    return {**dict.fromkeys(table_words("what is left"), "left"), **ways}


@cache
def key_order() -> dict[str, str]:
    """The words of keys that say which of two values is the earlier, or the later."""
    return {word: order for order, words in words_table()["order of keys"].items() for word in words.split()}


_LINKS = (
    r"(?:instead\sof|rather\sthan|compared\s(?:to|with)|versus|vs\.?|against|up\sfrom|down\sfrom|statt|gegenüber|"
    r"au\slieu\sde|contre)"
)
_LINK = expression(
    rf"\s?[,(]?\s?(?:[^\W\d_]+\s){{0,2}}{_LINKS}\s(?:about\s|only\s|the\s)?[$€£]?\Z", re.IGNORECASE
)
_REFERENCE = expression(
    rf"\b(?:than|below|above|under|over|beyond|from|als|que|dans|{_LINKS})\s(?!\()", re.IGNORECASE
)
_AGAINST = expression(rf"\b{_LINKS}\s", re.IGNORECASE)
_TO_NEXT = expression(r"[^.;\n]{0,30}\b(?:to|auf|à)\s+(?:about\s+|only\s+|just\s+)?[$€£]?\Z", re.IGNORECASE)
_MOVED = expression(r"\b(up|down)\sfrom\b", re.IGNORECASE)
_FROM = expression(r"\b(?:from|von|de)\s+(?:about\s+)?[$€£]?\Z", re.IGNORECASE)
_TO_WORD = expression(r"\b(?:to|auf|à)\b", re.IGNORECASE)
_PART_OF = expression(
    r"[^\d.;\n]{0,24}\s(?:out of|of|von|sur|/)\s(?:the\s|your\s|its\s)?[^\d.;\n]{0,12}\Z", re.IGNORECASE
)
_BOUND = expression(
    r"\s?[,(:;–—-]\s?(?:[^\W\d_]+\s){0,3}?(?P<way>below|above|under|over|beyond|less than|more than|fewer than)\s"
    r"(?:[^\W\d_]+\s){0,3}[$€£]?\Z",
    re.IGNORECASE,
)
_YEAR = expression(r"(?:19|20)\d\d")
_DIGIT = expression(r"\d")
_ASIDE = expression(r"[^\d(]{0,12}\([^\d]{0,4}\d[^()]*\)[^\d]*\Z")  # 1.44 billion (17.8%) in India
_THAN = expression(
    r"[,(–—-]\s?(?:[^\W\d_]+\s){0,3}?(?P<word>[^\W\d_]+)\s(?:than|als|que)\s(?:[^\W\d_]+\s){0,6}[$€£]?\Z",
    re.IGNORECASE,
)
_OVER = expression(r"\s(?:over|too)\b", re.IGNORECASE)
_OVER_BY = expression(r"\bover\sby\s[$€£]?\Z", re.IGNORECASE)
_OR = expression(r"\s(?:or|oder|ou)\s(?:about\s|rund\s|environ\s)?")
_MORE_WORDS = r"(?:(?!to\s|and\s)(?:[^\W\d_]+|\d+\.?)[ ]){0,3}\Z"
_COMPARED = expression(rf"\b(?:than|since|seit|depuis|als|que|{_LINKS})\s{_MORE_WORDS}", re.IGNORECASE)
_FROM_WHAT = expression(rf"\b(?:from|dans)\s{_MORE_WORDS}", re.IGNORECASE)
_REACH = 60  # characters after "than" that name the reference
_VERB_REACH = 60  # characters before "from 8 to 5" that have its verb
_COMPARATIVE_REACH = 80  # characters before "8 compared to 5" that have its comparative


def is_against(text: str) -> bool:
    """Whether a text compares what follows it with what was before: "against a target of"."""
    return _AGAINST.search(text) is not None


class Directions:
    """The words of direction in one text."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.marks: list[Mark] = []
        self._starts: list[int] = []

    def read(self, starts: Sequence[int], words: Sequence[str]) -> None:
        """Read further words of the text."""
        for start, word in zip(starts, words, strict=True):
            if (way := _ways().get(word)) is not None:
                self.marks.append(Mark(start, start + len(word), way, word))
                self._starts.append(start)

    def within(self, start: int, end: int) -> list[Mark]:
        """The words of direction of a stretch."""
        return self.marks[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def mark_of(self, reading: Reading, places: Sequence[Span]) -> Mark | None:
        """The word around a number that says which way it goes; ``places`` are those of all numbers."""
        text = self.layout.text
        end = reading.place.end
        if (other := _OR.match(text, end)) is not None:  # 169 kWh or 5 % less
            end = next((last for first, last in places if first == other.end()), end)
        trailing = re.split(r"[.,\n]", text[end : end + 30], maxsplit=1)[0]
        after = [mark for mark in self.within(end, end + len(trailing)) if mark.way != "left"]
        if _OVER.match(text, end) or _OVER_BY.search(
            text, max(0, reading.place.start - 12), reading.place.start
        ):
            return Mark(end, end, "up", "over")
        for mark in after:
            is_verb = mark.word.endswith("ed") or mark.word in table_words("verbs of direction")
            count = len(text[end : mark.start].split())
            if count < 2 and mark.way != "neutral" and not (count and is_verb):
                return mark  # not: 400 people dropped out
        clause, line = reading.place.clause, self.layout.line_at(reading.place.start)
        ends = [place[1] for place in places if clause[0] <= place[0] < reading.place.start]
        start = max([clause[0], *ends]) if line.kind != "row" else clause[0]
        before = [mark for mark in reversed(self.within(start, reading.place.start)) if mark.way != "left"]
        if (nearest := next((mark for mark in before if mark.way != "neutral"), None)) is not None:
            return nearest
        if line.kind == "row":
            spans = (span for scope in reading.place.scopes[:3] for span in scope)
            before += [mark for span in spans for mark in self.within(*span) if mark.way != "left"][:1]
        elif start > clause[0] and not before:
            before = [mark for mark in reversed(self.within(clause[0], start)) if mark.way != "left"]
        if before and before[0].way != "neutral":
            return before[0]
        if after and len(text[end : after[0].start].split()) < 3:
            return after[0]
        return before[0] if before else None

    def contradicted(self, readings: list[Reading]) -> Iterator[Reading]:
        """The numbers that a comparison without a number of its own says the wrong way round: "fell from 5 to 8"."""
        pairs = [*pairwise(readings), *zip(readings, readings[2:], strict=False)]
        for first, second in pairs:
            if not (first.renderings and second.renderings) or first.value == second.value:
                continue
            if first.units and first.units != second.units:
                continue
            text = self.layout.text
            if first.moments:
                continue  # 355.1 t in 2025, down from 379.4 t: what is between them compares other numbers
            between = text[first.place.end : second.place.start]
            if len(between) > 60 or "\n" in between or (_DIGIT.search(between) and not _ASIDE.match(between)):
                continue
            way = self._way_of_first(first, between)
            if way and (first.value > second.value) != (way == "up"):
                yield first

    def _is_from(self, reading: Reading) -> bool:
        return bool(_FROM.search(self.layout.text, max(0, reading.place.start - 12), reading.place.start))

    def _way_of_first(self, first: Reading, between: str) -> str:
        """Return "up" if words say that the first of two numbers is the higher one, "down" if the lower, else "".

        ``between`` is the text between the two: "8, up from 5" → "up".
        """
        if self._is_from(first):
            return self._way_from(first, between)
        if (link := _LINK.search(between)) is not None:
            return self._way_over_link(first, between, link)
        if (bound := _BOUND.fullmatch(between)) is not None:  # "12, well below 15"
            marks = self.within(first.place.end + bound.start("way"), first.place.end + bound.end("way"))
            return marks[-1].way if marks else ""
        if (than := _THAN.search(between)) is not None:  # "12 (higher than 9)"
            way = _ways().get(folded_word(than["word"]), "")
            return way if way in ("up", "down") else ""
        return ""

    def _way_from(self, first: Reading, between: str) -> str:
        """Return the way of a number after "from": "fell from 8 to 5" → "up", as 8 is the higher one."""
        if not _TO_NEXT.fullmatch(between):
            return ""
        start = self.layout.sentence(first.place.start, first.place.end)[0]
        marks = self.within(max(start, first.place.start - _VERB_REACH), first.place.start)
        way = marks[-1].way if marks else ""
        return {"up": "down", "down": "up"}.get(way, "")

    def _way_over_link(self, first: Reading, between: str, link: re.Match[str]) -> str:
        """Return the way of a number before a link: "8, up from 5" → "up", "higher at 8 compared to 5" → "up"."""
        # With many words before the link, another number or noun may be what is compared.
        if len(between[: link.start()].split()) > 3:
            return ""
        if (moved := _MOVED.search(link[0])) is not None:
            # So may "up from" after a comma: "8 on Monday, and in the north, up from 5".
            return moved[1].lower() if len(between.split()) < 5 and "," not in between[3:] else ""
        start = self.layout.sentence(first.place.start, first.place.end)[0]
        before = [
            mark
            for mark in self.within(max(start, first.place.start - _COMPARATIVE_REACH), first.place.start)
            if mark.way in ("up", "down")
        ]
        return way_in(before[-1], first.units) if before and _is_comparative(before[-1].word) else ""

    # ---------------------------------------------------------------------------------- subject and reference

    def is_subject(
        self, names: Names, reading: Reading, first: Side, second: Side, *, by_name: bool = True
    ) -> bool | None:
        """Whether the text compares the first of two with the second; ``None`` where it leaves that open."""
        text = self.layout.text
        start, stop = reading.place.sentence
        if first.at >= 0 and second.at >= 0:
            early, late = sorted((first.at, second.at))
            is_from = _FROM.search(text, max(0, early - 24), early) is not None
            if is_from and late - early < 2 * _REACH and _TO_WORD.search(text, early, late) is not None:
                return first.at > second.at
        reference = _REFERENCE.search(text, reading.place.end, stop) or _AGAINST.search(text, start, stop)
        if reference is not None:
            end = min(stop, reference.end() + _REACH)
            if reference.end() <= reading.place.start:
                end = min(end, reading.place.start)
            span = (reference.end(), end)
            inside = [span[0] <= side.at < span[1] for side in (first, second)]
            if inside[0] != inside[1]:
                return inside[1]
            if inside[0]:  # "than LX318 (164.50 vs 189)"
                span = (span[0], min(first.at, second.at))
            named = [_is_named(side, names.named((span,))) for side in (first, second)]
            if named[0] != named[1]:
                return named[1]
            if inside[0]:
                return first.at > second.at
            words = set(self.layout.words_in(span))
            stems = [set(side.sources[0].stem) for side in (first, second)]
            named = [not words.isdisjoint(own - other) for own, other in (stems, stems[::-1])]
            if named[0] != named[1]:
                return named[1]
        if (is_later := _is_later(first, second)) is not None:
            return is_later
        if by_name and (is_nearest := self._nearest(names, reading, first, second)) is not None:
            return is_nearest
        if 0 <= first.at < start and 0 <= second.at < start:
            between = (min(first.at, second.at), max(first.at, second.at))
            if _AGAINST.search(text, *between):
                return first.at < second.at
        return None

    def _nearest(self, names: Names, reading: Reading, first: Side, second: Side) -> bool | None:
        """Whether what is named last before a number is the first of two; ``None`` where neither is named alone."""
        starts, words = self.layout.words
        stems = [set(side.sources[0].stem) for side in (first, second)]
        for begin, end in reversed(self.layout.clauses(reading.place.sentence)):
            if begin >= reading.place.start:
                continue
            span = (begin, min(end, reading.place.start))
            places = [names.last_place_of(side.sources, span) for side in (first, second)]
            if places[0] == places[1] and end > reading.place.start:
                within = range(bisect_left(starts, span[0]), bisect_left(starts, span[1]))
                places = [
                    max((starts[hit] for hit in within if words[hit] in own - other), default=-1)
                    for own, other in (stems, stems[::-1])
                ]
            if places[0] != places[1]:
                return (places[0] > places[1]) != self._is_reference(max(places))
        return None

    def is_compared(self, place: int) -> bool:
        """Whether what is named at a place is what another is compared with: behind "than", "since"."""
        return _COMPARED.search(self.layout.text, max(0, place - 40), place) is not None

    def _is_reference(self, place: int) -> bool:
        return (
            self.is_compared(place)
            or _FROM_WHAT.search(self.layout.text, max(0, place - 40), place) is not None
        )

    def is_later(self, first: Side, second: Side) -> bool | None:
        """Whether the key of the first of two says that it is the later: the actual time of the planned one."""
        orders = [
            next((order for word in side.sources[0].stem if (order := key_order().get(word))), "")
            for side in (first, second)
        ]
        return orders[0] == "later" if orders[0] and orders[1] and orders[0] != orders[1] else None

    def is_whole(self, first: Side, second: Side) -> bool | None:
        """Whether the first of two is the whole of which the second is a part, by the text or by the names of keys."""
        if first.at >= 0 and second.at >= 0:
            early, late = sorted((first, second), key=lambda side: side.at)
            if _PART_OF.search(self.layout.text, early.at, late.at):
                return late is first
        limits = [not table_words("limits").isdisjoint(side.sources[0].stem) for side in (first, second)]
        return limits[0] if limits[0] != limits[1] else None


def _is_comparative(word: str) -> bool:
    return word.endswith("er") or word in (
        "more",
        "less",
        "extra",
        "additional",
        "mehr",
        "weniger",
        "plus",
        "moins",
    )


def way_in(mark: Mark | None, units: tuple[str, ...]) -> str:
    """Return the direction of a word for values in a unit: what is faster takes less time, and has the higher rate."""
    if mark is None:
        return ""
    size, second = size_of_unit(units[0]) if units else None, size_of_unit("s")
    is_time = size is not None and second is not None and size.dimension == second.dimension
    if mark.word in table_words("speed") and is_time:
        return {"up": "down", "down": "up"}.get(mark.way, mark.way)
    if mark.word in words_table()["punctuality"] and not is_time:
        return ""  # a year earlier
    return mark.way


def _is_named(side: Side, named: dict[str, set[Record]]) -> bool:
    return any(
        element in named.get(element.group, ())
        for source in side.sources[:8]
        if source.record is not None
        for element in source.record.chain
    )


def _is_later(first: Side, second: Side) -> bool | None:
    """Whether the first of two is the later, by the words of its key or of its parent's, or by the time of its row."""
    sources = (first.sources[0], second.sources[0])
    orders = [
        next((order for word in _key_words(source) if (order := key_order().get(word))), "")
        for source in sources
    ]
    if orders[0] and orders[1] and orders[0] != orders[1]:
        return orders[0] == "later"
    years = [_YEAR.search(source.key) for source in sources]
    if years[0] is not None and years[1] is not None and years[0][0] != years[1][0]:
        return years[0][0] > years[1][0]  # mwh_2024 of mwh_2023
    if sources[0].key != sources[1].key:
        return None
    times = [
        next((moment for element in source.record.chain for moment in element.moments if moment.month), None)
        if source.record is not None
        else None
        for source in sources
    ]
    if times[0] is None or times[1] is None or times[0].order == times[1].order:
        return None
    return times[0].order > times[1].order


def _key_words(source: Source) -> Iterable[str]:
    yield from source.stem
    if source.record is not None:
        for element in source.record.chain:
            yield from folded_word(element.label).split("_")

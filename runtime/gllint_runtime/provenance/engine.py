"""The one engine that says what a number rests on: of a message, an argument, a recorded answer.

A conversation is heard turn by turn. Each number of a text is then ``sourced``, ``quoted``, ``derived``, ``exempt``,
``mislabelled`` or ``unsourced``, with what it rests on.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import accumulate, chain, pairwise, takewhile
from math import isfinite
from operator import attrgetter, itemgetter
from typing import Any

from gllint_runtime.policy.claims import find_macros
from gllint_runtime.policy.expressions import expression
from gllint_runtime.policy.moments import Moment, weekday_numbers
from gllint_runtime.policy.names import name_words, quantity_named
from gllint_runtime.policy.places import Place, Span, folded_word
from gllint_runtime.policy.reader import GrowingText, Reader, Reading, Shown, has_numeral
from gllint_runtime.policy.settings import Policy
from gllint_runtime.policy.spelled import spelled_numbers
from gllint_runtime.policy.text_units import (
    base_of_unit,
    counted_units,
    size_of_unit,
    table_words,
    unit_of_text,
    units_at,
    words_table,
)
from gllint_runtime.policy.units import TIME_UNITS
from gllint_runtime.provenance.derivation import (
    NOTHING,
    Derivations,
    is_clock,
    says_extreme,
    superlative_of,
    superlative_topic,
)
from gllint_runtime.provenance.directions import Directions, Mark, key_order, way_in
from gllint_runtime.provenance.findings import Finding, Miss, Verdict
from gllint_runtime.provenance.formulas import derived_by_row
from gllint_runtime.provenance.index import Index, LocalTimes, Mentions, Names
from gllint_runtime.provenance.keys import CAMEL_CASE, is_thing, stem_of, units_of_key
from gllint_runtime.provenance.records import (
    SEAT,
    Harvest,
    Harvester,
    Record,
    Source,
    code_words,
    common_words,
    minor_words,
    sources_of,
)
from gllint_runtime.provenance.zones import hours_of_zone, zones_in

_SLACK = 1e-9
_ROUNDING = 4e-15  # what the conversion of a float may have added
_LARGEST_EXACT = 2**53
_MAX_WEIGHT = 50_000_000  # bytes, about, of what is remembered; beyond, the oldest is forgotten down to half
_MAX_TEXT = 500_000
_MAX_SPELLED = 20_000  # characters of what a user said in which numbers in words are read
_SIZES = (-3, 3, -6, 6, -2, 2, -1, 1)  # powers of ten by which a size is mistaken
_MOST_PASSES = 4
_NEAR = 10  # minutes by which a full hour may be off that is called about
_REACH = 80  # characters before a number in which a word says that it is of the one before


class Provenance:
    """What one conversation brought, and the verdicts on what is said in it."""

    def __init__(
        self,
        *,
        constants: Mapping[str, Any] | None = None,
        units: Mapping[str, str] | None = None,
        today: date | None = None,
        own_units: Collection[str] = (),
        whitelist: Collection[str] = (),
    ) -> None:
        self._units = dict(units or {})
        self._own_units = tuple(own_units)
        self._whitelist = tuple(map(re.compile, whitelist))
        self.today = today
        self.reader = Reader(units=self._own_units)
        self._said = 0
        self.has_forgotten = False
        self._constants = Harvest("constant", [*_constant_sources(constants or {})])
        self._begin([])

    @classmethod
    def under(cls, policy: Policy, constants: Mapping[str, Any] | None = None) -> Provenance:
        """A conversation that is judged as a policy says."""
        return cls(
            constants=constants,
            units=dict(policy.units),
            today=policy.today,
            own_units=[unit for unit in policy.extend_units if unit not in ("1", "")],
            whitelist=policy.whitelist,
        )

    def _begin(self, harvests: Iterable[Harvest]) -> None:
        self.index, self.names = Index(), Names()
        self.derivations = Derivations()
        self._texts: list[tuple[Source, str]] = []
        self.statements: list[Source] = []
        self.vocabulary: set[str] = set()
        self.currencies: dict[str, set[str]] = {}
        self._harvests: list[Harvest] = []
        self._weight = 0
        self.local_times = LocalTimes()
        self._questions: set[object] = set()
        for harvest in (self._constants, *harvests):
            self._learn(harvest)

    # ------------------------------------------------------------------------------------------- what is heard

    def hear(self, speaker: str, text: str) -> None:
        """Take in what the user, or the program itself, said."""
        text = text[:_MAX_TEXT]
        number, self._said = self._said, self._said + 1
        path = (f"{speaker}[{number}]",)
        harvest = Harvest(speaker, spoken=[text], zones={*zones_in(text)})
        is_prompt = speaker == "prompt"
        readings = self.reader.read(text)
        for reading in readings:
            sources = [*sources_of(reading, "said", "", speaker, path, "", None)]
            if is_prompt:
                spans = (span for scope in reading.place.scopes for span in scope)
                words = {
                    word for span in spans for word in reading.place.layout.words_in(span)
                } - common_words()
                sources = [replace(source, stem=tuple(filter(str.isalpha, words))) for source in sources]
            harvest.sources += sources
            if _HEMISPHERE.match(text, reading.end):  # 119.54 W
                harvest.sources += [replace(one, value=-one.value) for one in sources if not one.is_code]
        for start, end, value in spelled_numbers(text[:_MAX_SPELLED]) if speaker == "user" else ():
            units = units_at(text, end)[0]  # three bags
            harvest.sources.append(
                Source("said", "", speaker, path, "", value, units[:1], None, text[start:end])
            )
        for word in code_words(text, readings):
            if is_prompt and word.isdecimal() and len(word) < 5 and word[0] != "0":
                continue  # of a prompt's number it counts what it is of
            harvest.sources.append(Source("said", "", speaker, path, "", 0, (), None, word, is_code=True))
        harvest.quotable.append(Source("said", "", speaker, path, "", 0, (), None, text))
        self._take_in(harvest)

    def record(
        self,
        call_id: str,
        tool: str,
        arguments: Mapping[str, Any] | None,
        output: Any,
        declared: Mapping[str, str] | None = None,
    ) -> None:
        """Take in the output of a call; ``declared`` are units by path that its schema says."""
        reader = Reader(units=self._own_units, decimal_comma=self.reader.decimal_comma or None)
        harvester = Harvester(call_id, tool, arguments, reader, {**self._units, **(declared or {})})
        harvest = harvester.read(output)
        with suppress(TypeError, ValueError, RecursionError):  # what cannot be compared is like no other
            harvest.answer = hash(json.dumps([tool, arguments, output], sort_keys=True, default=str))
        for record in harvest.records:
            harvest.spoken += [f"{key} {text}" for key, text in record.texts.items()]
        harvest.spoken.append(" ".join((tool, *harvester.keys)))
        for path, text, record in harvest.texts:
            harvest.quotable.append(Source("text", call_id, tool, path, "", 0, (), record, text))
        self._take_in(harvest)

    def _take_in(self, harvest: Harvest) -> None:
        self._learn(harvest)
        if self._weight > _MAX_WEIGHT:
            harvests = deque(self._harvests[1:])
            left = self._weight
            while len(harvests) > 1 and left > _MAX_WEIGHT // 2:
                left -= harvests.popleft().weight
            self.has_forgotten = True
            self._begin(harvests)

    def _learn(self, harvest: Harvest) -> None:
        self._harvests.append(harvest)
        self._weight += harvest.weight
        self.local_times.add_zones(harvest.zones)
        for source in _distinct(harvest.sources):
            self.index.add(source)
            if source.zone == UTC:
                self.local_times.add(source)
            if source.tool in ("user", "prompt") and source.moment is None and not source.is_code:
                if source.tool == "user" or source.units:
                    self.statements.append(source)
            if source.units and _is_currency(source.units[0]):
                currencies = self.currencies.setdefault(source.call_id, set())
                currencies.update(unit.partition("/")[0] for unit in source.units)
        for text in harvest.spoken:
            words = _WORDS.findall(CAMEL_CASE.sub(" ", text[:4000].replace("_", " ")))
            self.vocabulary.update(map(folded_word, words))
        self.names.add(harvest)
        if harvest.answer is None or harvest.answer not in self._questions:  # else it is one reading twice
            self.derivations.add(harvest, harvest.tool)
            self._questions.add(harvest.answer)
        self._texts += [(source, source.text.casefold()) for source in harvest.quotable]

    # -------------------------------------------------------------------------------------------- judging

    def judge(self, text: str, proven: Sequence[Span] = ()) -> list[Finding]:
        """The numbers of a text and what each rests on; those within ``proven`` are let be."""
        return Judging(self).add(text, proven) if has_numeral(text) else []

    def new_text(self) -> GrowingText:
        """A text that is read as those of this conversation are."""
        return GrowingText(Reader(units=self._own_units, decimal_comma=self.reader.decimal_comma or None))

    def exempt(self, text: str) -> Iterator[tuple[int, int]]:
        """The stretches of a text that the project's own patterns let pass."""
        return (match.span() for pattern in self._whitelist for match in pattern.finditer(text))

    def says_period(self, units: tuple[str, ...], own: tuple[str, ...]) -> bool:
        """Whether the period by which a text divides an amount is in the conversation."""
        base, _, period = units[0].rpartition("/") if units else ("", "", "")
        if not base or period not in words_table()["periods"] or any("/" in element for element in own):
            return True
        size = size_of_unit(units[0])
        if size is not None and size in map(size_of_unit, own):  # mph, which has its period without a stroke
            return True
        known = {name for name, words in _period_words().items() if not self.vocabulary.isdisjoint(words)}
        # Of money that the conversation divides by nothing the period is guessed as often; a length is no speed.
        return period in known or (not known and (not own or _is_currency(base)))

    def knows_currency(self, units: tuple[str, ...], call_id: str) -> bool:
        """Whether the currency of a bare amount is one that its output, or the user, says anywhere, or no one is."""
        if not units or not _is_currency(units[0]):
            return True
        known = self.currencies.get(call_id, set()) | self.currencies.get("", set())
        known = known | {code.upper() for code in table_words("currency codes") & self.vocabulary}
        return not known or not known.isdisjoint(unit.partition("/")[0] for unit in units)

    def without_arguments(self) -> Provenance:
        """The same conversation, but that what calls were given is no source: it is an argument that is judged."""
        other = copy(self)
        other.index = self.index.without_arguments()
        return other

    def without_columns(self) -> Provenance:
        """The same conversation, in which a number follows from those alone that its own text shows."""
        other = copy(self)
        other.derivations, other.statements = Derivations(), []
        return other

    def conversions(self, value: float, units: Collection[str]) -> Iterator[Source]:
        """The numbers that are a value in one of some units, as far as it is written."""
        decimals = len(repr(value).partition(".")[2]) if isinstance(value, float) else 0
        is_long = len(str(value).strip("-0.").replace(".", "")) >= 3
        margin = 0.5 * 10.0**-decimals if is_long else abs(value) * _SLACK
        if 0 < abs(value) <= 1:  # 0.12 of "12 %"
            for source in self.index.by_value(value * 100 - _SLACK, value * 100 + _SLACK):
                if source.units == ("%",):
                    yield source
        for unit in units if isfinite(value) and value else ():
            size = size_of_unit(unit)
            if size is None:
                continue
            base, half = value * size.factor + size.offset, (margin + abs(value) * _SLACK) * size.factor
            yield from self.index.by_size(size.dimension, base - half, base + half)

    def quotes(self, text: str) -> Source | None:
        """Who said a text, word for word."""
        folded = text.casefold()
        pattern = re.compile(rf"(?<![^\W_])(?<!\d[.,]){re.escape(folded)}(?![^\W_]|[.,]\d)")
        for source, whole in reversed(self._texts):
            if folded in whole and pattern.search(whole):
                return source
        return None


def _place_of(finding: Finding) -> int:
    return finding.reading.place.start


def _inside_of(spans: Iterable[Span]) -> Callable[[Reading], bool]:
    """Return what says whether a reading is within one of some stretches."""
    places = sorted(spans)
    ends = [*accumulate((end for _, end in places), max)]

    def is_inside(reading: Reading) -> bool:
        number = bisect_right(places, reading.start, key=itemgetter(0))
        return number > 0 and reading.end <= ends[number - 1]

    return is_inside


def _constant_sources(constants: Mapping[str, Any]) -> Iterator[Source]:
    for name, value in constants.items():
        units = units_of_key(name)[0]
        if isinstance(value, Mapping):
            units = (str(value.get("unit")),)
            value = value.get("value")
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            yield Source("said", "", "constant", (name,), name, value, units, stem=stem_of(name))


class Judging:
    """The judging of one text, which may grow by sentences, list items and rows."""

    def __init__(self, provenance: Provenance) -> None:
        self.provenance = provenance
        self._text = provenance.new_text()
        self.layout = self._text.layout
        self.directions = Directions(self.layout)
        self.done: list[Finding] = []
        self._without_unit: list[Finding] = []  # of which the answer alone gives a unit
        self._readings: list[Reading] = []
        self._starts: list[int] = []
        self._names = Mentions(provenance.names)
        self._words_with_direction = self._words_with_names = self._dates = (
            0  # words and readings that were looked up
        )
        self._contradicting: set[Reading] = set()
        self._scales: dict[tuple[str, str], bool] = {}
        self._named: dict[tuple[Span, ...], dict[str, set[Record]]] = {}
        self._misses: dict[Finding, list[Miss]] = {}
        self._marks: dict[Reading, Mark | None] = {}
        self._refuted: set[Finding] = set()  # what the text derives otherwise

    def add(self, part: str, proven: Iterable[Span] = ()) -> list[Finding]:
        """The verdicts on the numbers of a further part, in order; those within ``proven`` are let be."""
        begin = self._text.length
        readings = self._text.add(part)
        if not readings:
            return []
        if "{{" in part:
            proven = [*proven, *((macro.start, macro.end) for macro in find_macros(part))]
        is_proven = _inside_of((begin + start, begin + end) for start, end in proven)
        is_exempted = _inside_of((begin + start, begin + end) for start, end in self.provenance.exempt(part))
        starts, words = self.layout.words
        self.directions.read(starts[self._words_with_direction :], words[self._words_with_direction :])
        self._words_with_direction = len(starts)
        self._contradicting.update(self.directions.contradicted([*self._readings[-2:], *readings]))
        self._readings += readings
        self._starts += (reading.place.start for reading in readings)
        first = len(self.done)
        long_codes = [
            (begin + start, begin + end, source) for start, end, source in self._codes_in_groups(part)
        ]
        for reading in readings:
            if not is_proven(reading):
                is_exempt = reading.shape == "order" or is_exempted(reading)
                finding = Finding(reading, "exempt") if is_exempt else self._of(reading)
                start, end, code = (
                    long_codes[bisect_right(long_codes, reading.start, key=itemgetter(0)) - 1]
                    if long_codes
                    else (0, 0, None)
                )
                if finding.fails and code is not None and not reading.units and start <= reading.start:
                    if reading.end <= end and self._is_of_place(code, reading) is None:
                        finding = Finding(reading, _verdict_of(code), code)
                self.done.append(finding)
                self._without_unit += [finding] if finding.has_no_unit else []
        new = self.done[first:]
        waiting = [finding for finding in new if finding.fails]
        self._refuse_scales(new)
        waiting = [finding for finding in waiting if not self._is_converted(finding)]
        waiting = self._derive_all(waiting)
        if waiting and self.provenance.derivations.latest:  # else only what the text itself shows counts
            self._derive_by_row(waiting)
            rest = [finding for finding in waiting if finding.fails]
            if len(rest) < len(waiting):
                self._derive_all(rest)
        return new

    def _codes_in_groups(self, part: str) -> Iterator[tuple[int, int, Source]]:
        """The long codes of digits that a text writes in groups: "1-800-555-0142" of ``+18005550142``."""
        for match in _GROUPS.finditer(part):
            for source in self.provenance.index.of_groups(match[0])[-1:]:
                yield *match.span(), source

    def _refuse_scales(self, findings: Iterable[Finding]) -> None:
        """Refuse amounts in two scales of one key, and hundredths of which the conversation says nothing."""
        says_parts = not self.provenance.vocabulary.isdisjoint(minor_words())
        for finding in findings:
            source = finding.source
            if finding.verdict == "sourced" and source is not None and finding.reading.units:
                scale = self._scales.setdefault((source.tool, source.key), source.is_minor)
                if scale != source.is_minor or (source.is_doubtful and not says_parts):
                    finding.verdict, finding.miss, finding.source = "mislabelled", Miss("size", source), None

    def numbers_in(self, span: Span) -> list[Reading]:
        """The numbers that begin in a stretch."""
        first, last = (bisect_left(self._starts, at) for at in span)
        return self._readings[first:last]

    def _derive_all(self, waiting: list[Finding]) -> list[Finding]:
        """Derive numbers from others, and from what was derived; return those that are left."""
        for _ in range(_MOST_PASSES):
            rest = [finding for finding in waiting if not self._derive(finding)]
            if len(rest) == len(waiting):
                break
            waiting = rest
        return waiting

    def _derive_by_row(self, waiting: list[Finding]) -> None:
        """Derive numbers by the formulas that make those of several rows, or one of a row that the text names."""
        unproven = {own for own in waiting if own.miss is None and own not in self._refuted}
        others = [own for own in self.done if own in unproven or own.verdict == "derived"]
        for finding, derivation in derived_by_row(others, self) if unproven else ():
            if finding in unproven:
                finding.verdict, finding.derivation = "derived", derivation

    def direction(self, reading: Reading) -> str:
        """The way in which the words around a number say that it goes."""
        return way_in(self.mark(reading), reading.units)

    def mark(self, reading: Reading) -> Mark | None:
        """The word around a number that says which way it goes."""
        if reading not in self._marks:
            places = [(own.place.start, own.place.end) for own in self.numbers_in(reading.place.sentence)]
            self._marks[reading] = self.directions.mark_of(reading, places)
        return self._marks[reading]

    def findings_in(self, span: Span) -> list[Finding]:
        """The verdicts on the numbers that begin in a stretch, as far as there are some."""
        first, last = (bisect_left(self.done, at, key=_place_of) for at in span)
        return self.done[first:last]

    def _is_converted(self, finding: Finding) -> bool:
        """Whether a number is another in the unit that the answer gives that itself: "23.4 MWh (84.24 GJ)"."""
        reading = finding.reading
        size = size_of_unit(reading.units[0]) if len(reading.units) == 1 else None
        if size is None or size.offset:  # of a temperature a bare number says too little
            return False
        for other in self._without_unit:
            own = size_of_unit(other.unit) if other.unit is not None else None
            if own is None or own.dimension != size.dimension or other.source is None:
                continue
            value = float(other.source.value) * own.factor / size.factor
            if any(renderings.fits(value) for renderings in reading.renderings):
                finding.verdict, finding.source, finding.miss = "sourced", other.source, None
                finding.has_no_unit = True
                self._without_unit.append(finding)
                return True
        return False

    def _derive(self, finding: Finding) -> bool:
        """Whether a number that nothing shows follows from others."""
        reading = finding.reading
        if reading.shape == "code" or (
            finding.miss is not None and finding.miss.reason in ("factor", "direction", "weekday")
        ):
            return False
        derivation = self.provenance.derivations.of(reading, self, self._misses.get(finding, ()))
        if derivation is NOTHING:
            self._refuted.add(finding)
        if derivation is None or derivation is NOTHING:
            return False
        finding.verdict, finding.derivation, finding.miss = "derived", derivation, None
        return True

    def words(self, span: tuple[int, int]) -> list[str]:
        """The words of a stretch."""
        return self.layout.words_in(span)

    def last_place_of(self, sources: tuple[Source, ...], span: tuple[int, int]) -> int:
        """Where a stretch last names the record of a source; -1 where it does not."""
        chain = {
            element for source in sources if source.record is not None for element in source.record.chain
        }
        return self._mentions.last_place_of(chain, span)

    def named(
        self, scope: tuple[tuple[int, int], ...], but_for: Reading | None = None
    ) -> dict[str, set[Record]]:
        """The records that a stretch names, but for those that a date in it does."""
        if but_for is not None and any(start <= but_for.place.start < end for start, end in scope):
            start, end = but_for.place.start, but_for.place.end
            rest = tuple(
                part
                for first, last in scope
                for part in ((first, min(start, last)), (max(end, first), last))
                if part[0] < part[1]
            )
            return self.named(rest) if rest != scope else {}
        hits = self._named.get(scope)
        if hits is None:
            hits = self._named[scope] = self._mentions.named(scope)
        return hits

    @property
    def _mentions(self) -> Mentions:
        """What the text names, as far as it is there."""
        starts, words = self.layout.words
        if self._words_with_names == len(starts):
            return self._names
        starts, words = starts[self._words_with_names :], words[self._words_with_names :]
        moments = [(own.place.start, own.moments[0]) for own in self._readings[self._dates :] if own.moments]
        self._words_with_names, self._dates = self._words_with_names + len(starts), len(self._readings)
        today = self.provenance.today
        for at, word in zip(starts, words, strict=True):
            if today is not None and (days := _relative_days().get(word)) is not None:
                day = today + timedelta(days=days)
                moments.append((at, Moment(day.year, day.month, day.day)))
            if (hour := _NAMED_HOURS.get(word)) is not None:
                moments.append((at, Moment(hour=hour, minute=0)))
        self._names.read(starts, words, moments)
        return self._names

    # ---------------------------------------------------------------------------------------- one number

    def _of(self, reading: Reading) -> Finding:
        if reading.shape == "designation":
            index = self.provenance.index
            sources = index.codes(reading.text)
            digits = re.search(r"\d+", reading.text)
            is_said = digits is not None and bool(index.by_value(float(digits[0]), float(digits[0])))
            if not sources and not is_said and (other := index.of_same_name(reading.text)) is not None:
                return Finding(reading, "mislabelled", miss=Miss("key", other))  # I-80 of I-70
            return Finding(reading, "exempt", sources[-1] if sources else None)
        if reading.shape == "code":
            return self._code(reading)
        is_word = any(map(str.isalpha, reading.word))
        if is_word and (name := self._as_word(reading)) is not None:  # a seat, 14C
            return name
        if reading.value in _BASES and _PER_BEFORE.search(self._before(reading, 8)):
            return Finding(reading, "exempt")  # £1.40 per 100 g
        misses: list[Miss] = []
        if reading in self._contradicting:
            turned = next((source for source, *_ in self._candidates(reading)), None)
            if turned is not None:
                return Finding(reading, "mislabelled", miss=Miss("direction", turned))
        if reading.factor:
            source = next(iter(self._candidates(reading)), None)
            if source is not None:
                return Finding(reading, "mislabelled", miss=Miss("factor", source[0]))
        if reading.moments:
            hits = self._moment(reading, misses)
            if hits is not None:
                return hits
        if reading.renderings and reading.shape != "moment":
            hits = self._number(reading, misses)
            if hits is not None:
                return hits
        elif reading.renderings and (hits := self._number(reading, [])) is not None:
            return hits
        if not is_word and (name := self._as_word(reading)) is not None:
            return name
        if reading.shape == "number" and not reading.units:
            code = self._as_code(reading) or self._as_week(reading)
            if code is not None:
                return Finding(reading, _verdict_of(code), code)
        if not misses and (other := self._of_other_size(reading)) is not None:
            misses.append(Miss("size", other))
        finding = Finding(
            reading, "mislabelled" if misses else "unsourced", miss=misses[0] if misses else None
        )
        self._misses[finding] = misses
        return finding

    def _as_word(self, reading: Reading) -> Finding | None:
        """A number that is a code with what touches it, of the record that the text names."""
        for name in reversed(self.provenance.index.codes(reading.word) if reading.word else []):
            if reading.multiplier == 1.0 and self._is_of_place(name, reading) is None:
                reading.text, reading.end = reading.word, reading.start + len(reading.word)
                return Finding(reading, _verdict_of(name), name)
        return None

    def _things_of(self, reading: Reading) -> frozenset[str]:
        """The words of the things that a bare number counts: of "30 open tickets", and of "5 of the 7 tickets"."""
        if reading.units or reading.moments or not reading.renderings:
            return frozenset()
        layout, start = reading.place.layout, reading.place.end
        of_many = _OF_MANY.match(layout.text, start)
        phrase = _PHRASE.match(layout.text, of_many.end() if of_many is not None else start)
        words = phrase[0].split() if phrase is not None else []
        if phrase is None or not any(map(is_thing, takewhile(_may_be_noun, words[:3]))):
            return frozenset()
        return frozenset(layout.words_in(phrase.span())).union(
            unit for word in words for unit in unit_of_text(word) if size_of_unit(unit)
        )

    def _of_other_size(self, reading: Reading) -> Source | None:
        """A source of the same digits in another size: 1.235 MWh of "1,235 MWh"."""
        for renderings in reading.renderings:
            if renderings.digits < 3 and not reading.units:
                continue
            for power in _SIZES:
                element = renderings.scaled(10.0**power)
                for source in self.provenance.index.by_value(
                    element.value - element.lower_margin, element.value + element.upper_margin
                ):
                    if (
                        element.value
                        and (source.call_id or source.units)
                        and abs(float(source.value) - element.value) <= _SLACK * abs(element.value)
                        and _relation(reading, source) in ("same", "bare")
                    ):
                        return source
        return None

    def _as_code(self, reading: Reading) -> Source | None:
        """An identifier that is digits alone, or its end: a card "ending in 9725"."""
        digits, things = reading.text, self._things_of(reading)
        if not digits.isdecimal():
            return None
        # A phone number may be written without its hyphens; "1-2 sentences" is no 12.
        sources = [
            source
            for source in self.provenance.index.codes(digits)
            if (len(digits) >= 5 or digits in re.findall(r"\d+", source.text))
            and not (source.is_asked and source.text.isdecimal() and not self._shares_word(source, reading))
            and (not things or source.may_count(things))
        ]
        if sources and (len(digits) >= 5 or digits.startswith("0")):
            return sources[-1]
        if len(digits) == 4 and not things and (endings := self.provenance.index.ending(digits)):
            return endings[-1]
        if len(digits) >= 2:
            sources = [source for source in sources if self._is_of_place(source, reading) is None]
            return sources[-1] if sources else None
        return None

    def _as_week(self, reading: Reading) -> Source | None:
        """The week of a year: "week 10" of ``2026-W10``, or of a date in it."""
        if not reading.text.isdecimal() or _WEEK_BEFORE.search(self._before(reading, 12)) is None:
            return None
        index, week = self.provenance.index, int(reading.text)
        for code in (f"W{week:02}", f"W{week}"):
            if sources := index.codes(code):
                return sources[-1]
        return index.of_week(week)

    def _code(self, reading: Reading) -> Finding:
        index = self.provenance.index
        text = reading.text.rstrip(".")
        miss: Miss | None = None
        for source in reversed(index.codes(text)):
            problem = self._is_of_place(source, reading) or self._is_other_end(source, reading)
            if problem is None:
                return Finding(reading, _verdict_of(source), source)
            miss = miss or problem
        if miss is not None:
            return Finding(reading, "mislabelled", miss=miss)
        digits = re.sub(r"\D", "", text)
        if text[:1] == "#" and text[1:].isdecimal():
            for source in index.by_value(float(digits), float(digits)):
                return Finding(reading, _verdict_of(source), source)
        if (whole := self.provenance.quotes(text)) is not None:
            return Finding(reading, "quoted", whole)
        if ":" in text and all(self._part(part) for part in text.split(":") if any(map(str.isdecimal, part))):
            return Finding(reading, "quoted", self._part(text.split(":")[0]))
        if (joint := _LETTERS_DIGITS.fullmatch(text)) is not None:  # carrier TP, number 210
            for source in (*index.codes(joint[2]), *index.by_value(float(joint[2]), float(joint[2]))):
                is_of_row = source.record is not None and joint[1] in source.record.texts.values()
                if is_of_row or joint[1].lower() in _short_names(source.key):
                    return Finding(reading, "quoted", source)
        if (made := _OF_TRIED.fullmatch(text)) is not None:  # 4-for-7, 11-of-19
            sources = [next(iter(index.by_value(float(part), float(part))), None) for part in made.groups()]
            if all(sources):
                return Finding(reading, "quoted", sources[0])
        parts = [part for part in re.split(r"[^\w]+|_", text) if any(char.isdecimal() for char in part)]
        if len(parts) > 1 or (parts and parts[0] != text):
            sources = [self._part(part) for part in parts]
            if all(sources):
                return Finding(reading, "quoted", sources[0])
        if (
            len(digits) == 4
            and re.search(r"[*•xX.·…]{2,}[ -]?\d{4}\Z", text)
            and (hits := index.ending(digits))
        ):
            return Finding(reading, _verdict_of(hits[-1]), hits[-1])
        return Finding(reading, "unsourced")

    def _part(self, part: str) -> Source | None:
        codes = self.provenance.index.codes(part)
        if codes:
            return codes[-1]
        if part.isdecimal() and len(part) > 1:
            return next(iter(self.provenance.index.by_value(float(part), float(part))), None)
        return None

    # -------------------------------------------------------------------------------------------- moments

    def _moment(self, reading: Reading, misses: list[Miss]) -> Finding | None:
        index = self.provenance.index
        for moment in reading.moments:
            if reading.shape == "ordinal" and not _ORDINAL_DAY.search(self._before(reading, 16)):
                continue
            year = moment.year
            about = [moment] if not self._is_about(moment, reading) else [*_times_about(moment)]
            for attempt in (*about, moment._replace(year=None)):
                if attempt.year != year and (year is None or not attempt.has_date):
                    continue
                own: list[Miss] = []
                for source in chain(index.moments(attempt), self.provenance.local_times.moments(attempt)):
                    if attempt.year != year and not self._is_known_year(source, year):
                        continue
                    problem = (
                        self._is_of_place(source, reading)
                        or self._of_other_weekday(source, reading)
                        or self._of_other_date(source, reading)
                        or self._of_other_zone(source, reading)
                        or self._is_other_end(source, reading)
                    )
                    if problem is None:
                        return Finding(reading, _verdict_of(source), source)
                    own.append(problem)
                misses += own[:1]
            if moment.has_time and moment.has_date:
                continue
            if (today := self.provenance.today) is not None:
                now = Moment(today.year, today.month, today.day)
                if moment.is_part_of(now):
                    source = Source("said", "", "today", ("today",), "", 0, (), None, today.isoformat(), now)
                    return Finding(reading, "quoted", source)
        return None

    def _of_other_date(self, source: Source, reading: Reading) -> Miss | None:
        """What is wrong where a time is right behind a date, and the source is of another date."""
        moment = source.moment
        if (
            moment is None
            or not moment.has_date
            or reading.moments[0].has_date
            or not reading.moments[0].has_time
        ):
            return None
        last = self.done[-1].reading if self.done else None
        if last is None or not last.moments or not last.moments[0].has_date:
            return None
        between = reading.place.layout.text[last.place.end : reading.place.start]
        is_adjacent = _AT.fullmatch(between) is not None
        return Miss("key", source) if is_adjacent and not last.moments[0].is_part_of(moment) else None

    def _of_other_weekday(self, source: Source, reading: Reading) -> Miss | None:
        """What is wrong where the text gives a date another day of the week than it has."""
        moment = source.moment
        day = moment.on if moment is not None else None
        if day is None or reading.moments[0].day is None:
            return None
        word = _WEEKDAY_BEFORE.search(self._before(reading, 22))
        weekday = weekday_numbers().get(word[1].lower()) if word is not None else None
        return Miss("weekday", source) if weekday is not None and weekday != day.weekday() else None

    def _is_about(self, moment: Moment, reading: Reading) -> bool:
        """Whether a full hour is shown as one that is not exact: "around 3 p.m.", "shortly after 12"."""
        is_full = (
            moment.has_time
            and not moment.minute
            and not moment.has_date
            and not _MINUTES.search(reading.text)
        )
        return is_full and _ABOUT.search(self._before(reading, 12)) is not None

    def _of_other_zone(self, source: Source, reading: Reading) -> Miss | None:
        """What is wrong where a zone is behind a time, and it is not the one of the source."""
        moment, place = source.moment, reading.place
        if source.zone is None or moment is None or moment.on is None or not reading.moments[0].has_time:
            return None
        hours = hours_of_zone(place.layout.text, place.end)
        when = datetime(moment.on.year, moment.on.month, moment.on.day, moment.hour or 0, tzinfo=source.zone)
        own = when.utcoffset()
        is_other = bool(hours) and own is not None and own.total_seconds() / 3600 not in hours
        return Miss("key", source) if is_other else None

    def _is_known_year(self, source: Source, year: int | None) -> bool:
        """Whether a date without a year may be of this one, which the conversation says elsewhere."""
        if source.moment is None or source.moment.year is not None or year is None:
            return False
        today = self.provenance.today
        return (today is not None and today.year == year) or any(
            True for _ in self.provenance.index.moments(Moment(year=year))
        )

    def _before(self, reading: Reading, length: int) -> str:
        return reading.place.layout.text[max(0, reading.place.start - length) : reading.place.start]

    # -------------------------------------------------------------------------------------------- numbers

    def _candidates(self, reading: Reading) -> Iterable[tuple[Source, Shown, int, str]]:
        """The sources that a number may be, with the sign that it has there, and how the units compare."""
        index = self.provenance.index
        visited: set[Source] = set()
        bases = [factor for unit in reading.units[:1] if (factor := base_of_unit(unit))]
        for renderings in reading.renderings:
            for factor in bases:
                element = renderings.scaled(factor)
                for source in reversed(
                    index.by_value(element.value - element.lower_margin, element.value + element.upper_margin)
                ):
                    is_exact = abs(element.value - float(source.value)) <= _SLACK * abs(element.value)
                    if source.units or source.origin != "tool" or source.kind is not None:
                        continue
                    if is_exact or renderings.digits > (1 if renderings.value % 1 == 0 else 2):
                        yield source, element, 1, "bare"
            if reading.multiplier < 1 and renderings.value:  # 1049 cents of a bare 1049, 6.2 l/100 km of 6.19
                element = renderings.scaled(1 / reading.multiplier)
                for source in index.by_value(
                    element.value - element.lower_margin, element.value + element.upper_margin
                ):
                    if not source.units and element.fits(float(source.value)):
                        yield source, element, 1, "bare"
            for sign in (1, -1):
                element = renderings if sign > 0 else renderings.scaled(-1)
                if sign < 0 and not renderings.value:
                    continue
                slack = (
                    min(abs(element.value) * _SLACK, (element.lower_margin + element.upper_margin) * 1e-3)
                    + 1e-12
                )
                low, high = (
                    element.value - element.lower_margin - slack,
                    element.value + element.upper_margin + slack,
                )
                for source in reversed(index.by_value(low, high)):
                    if element.fits(float(source.value)) and _is_same_integer(reading, source):
                        relation = _relation(reading, source)
                        visited.add(source) if relation == "same" else None
                        yield source, element, sign, relation
                for unit in reading.units[:1] if len(reading.units) > 8 else reading.units:
                    size = size_of_unit(unit)
                    if size is None:
                        continue
                    base = element.value * size.factor + size.offset
                    rounding = abs(base) * _ROUNDING
                    below = (element.lower_margin if element.value else 0) * size.factor
                    above = (element.upper_margin if element.value else 0) * size.factor
                    margin = slack * size.factor + rounding
                    for source in reversed(
                        index.by_size(size.dimension, base - below - margin, base + above + margin)
                    ):
                        if source not in visited:
                            yield source, element, sign, "same"
                for unit in reading.units[:1]:
                    for own, factor in _BINARY.get(unit, {}).items():  # 33.75 GB of 34560 MB
                        part = element.scaled(factor)
                        for source in index.by_value(
                            part.value - part.lower_margin, part.value + part.upper_margin
                        ):
                            if own in source.units:
                                yield source, element, sign, "same"
                if "%" in reading.units:
                    part = element.scaled(0.01)
                    for source in index.by_value(
                        part.value - part.lower_margin - 1e-12, part.value + part.upper_margin + 1e-12
                    ):
                        if (
                            not source.units or source.units[0] in ("1", "ratio", "fraction")
                        ) and _may_be_share(source):
                            yield source, element, sign, "same"
                        elif source.units == ("%",) and 0 < abs(source.value) < 1 and renderings.digits > 2:
                            yield source, element, sign, "same"  # 0.471 of FG_PCT

    def _number(self, reading: Reading, misses: list[Miss]) -> Finding | None:
        quoted: Finding | None = None
        weak: Finding | None = None
        rounded: Finding | None = None
        for source, renderings, sign, relation in self._candidates(reading):
            if relation in ("same", "bare") and not self.provenance.says_period(reading.units, source.units):
                relation = "unit"
            if (
                relation == "bare"
                and source.origin == "tool"
                and not self.provenance.knows_currency(reading.units, source.call_id)
            ):
                relation = "unit"
            if (
                relation == "bare"
                and "%" in reading.units
                and _is_fraction(source)
                and renderings.fits(source.value)
            ):
                relation = "unit"  # 0.938 % of 0.9377
            if relation == "bare" and source.is_asked and reading.units[0] not in TIME_UNITS:
                continue  # of its own argument a model says no unit
            if relation in ("unit", "kind"):
                if sign > 0 and _is_telling(renderings, source):
                    misses.append(Miss(relation, source))  # type: ignore[arg-type]
                continue
            if source.kind in ("identifier", "index") and (
                reading.units or (reading.noun and not self._shares_word(source, reading))
            ):
                continue
            if (things := self._things_of(reading)) and not source.may_count(things):
                continue
            if renderings.digits < 2 and relation == "bare" and renderings.value != float(source.value):
                continue  # 1 °C of a bare 0.8
            if source.key.lower() in _OWN_NAMES and relation == "bare" and source.record is not None:
                if isinstance(source.value, int) and self.provenance.names.size(source.record.group) > 1:
                    continue  # the number of a row is no measure
            if _may_be_seat(source) and not self._shares_word(source, reading):
                continue
            if is_clock(source) and not _is_exact(reading, renderings, source):
                continue
            if not self._has_sign(reading, source, sign):
                if relation == "same":
                    misses.append(Miss("sign", source))
                continue
            problem = (
                self._is_of_place(source, reading)
                or self._is_other_extreme(source, reading)
                or self._is_other_end(source, reading)
            )
            if problem is not None:
                misses.append(problem)
                continue
            if renderings.digits < 3 and not reading.units and self._names_other(source, reading):
                misses.append(Miss("key", source))
                continue
            finding = Finding(reading, _verdict_of(source), source)
            finding.has_no_unit = source.is_minor or (relation == "bare" and source.origin == "tool")
            if source.is_asked and not source.units and not self._shares_word(source, reading):
                continue
            if source.tool == "prompt" and not self._shares_word(source, reading):
                continue  # a long prompt has numbers of every size
            if source.origin == "said" or source.is_asked:
                quoted = quoted or finding
                continue
            if renderings.digits < 3 and not self._shares_word(source, reading):
                if (
                    renderings.digits < 2
                    and float(source.value) % 1
                    and not _is_exact_share(reading, source)
                    and not self._names_source(source, reading)
                ):
                    continue
                finding.is_weak = True
                weak = weak or finding
                continue
            is_other_unit = bool(source.units) and set(source.units).isdisjoint(reading.units)
            if not source.is_doubtful and (is_other_unit or reading.value == float(source.value)):
                return finding
            if rounded is None or (rounded.source is not None and rounded.source.is_doubtful):
                rounded = finding
        if quoted is not None and rounded is not None and quoted.source is not None:
            if float(quoted.source.value) == reading.value and quoted.source.origin == "said":
                return quoted  # the nominal 50 Hz, and not the 49.98 that are measured
        return rounded or (weak if weak is not None and quoted is None else quoted or weak)

    def _has_sign(self, reading: Reading, source: Source, sign: int) -> bool:
        """Whether the text gives a number the sign that its source has, by a mark or by a word."""
        value = float(source.value)
        if not value:
            return True
        if source.origin != "tool":
            return sign > 0 or (value < 0 and not reading.is_signed)
        direction = self.direction(reading)
        before = self._before(reading, 8)
        if reading.has_plus and value > 0 and _is_deduction(source) and not _ADDED.search(before):
            return False
        if sign > 0:
            if value < 0 or not direction:
                return not (
                    value > 0 and direction == "down" and _is_change(source) and not reading.is_signed
                )
            return not (direction == "down" and _is_change(source) and not reading.is_signed)
        if value < 0 and _HEMISPHERE.match(reading.place.layout.text, reading.place.end):  # 86.3° W
            return True
        if reading.is_signed:  # shown as negative, and the source is not
            is_aside = "(" in before and reading.place.layout.line_at(reading.place.start).kind != "row"
            return value > 0 and (_is_deduction(source) or is_aside)
        if value < 0 and direction != "up" and not reading.has_plus and _is_flow(source):
            return True  # what was spent is a negative amount
        return value < 0 and not reading.has_plus and direction in ("down", "neutral")

    def _shares_word(self, source: Source, reading: Reading) -> bool:
        """Whether the clause shares a word with the key, the row or the unit of a source."""
        if reading.units and source.units:
            return True
        words = {word for scope in reading.place.scopes for span in scope for word in self.words(span)}
        if not words.isdisjoint(source.stem):
            return True
        record = source.record
        return record is not None and any(
            element in named
            for scope in reading.place.scopes
            for element in record.chain
            for named in (self.named(scope).get(element.group, ()),)
        )

    def _names_source(self, source: Source, reading: Reading) -> bool:
        """Whether the text names the key or the record of a source."""
        words = {word for scope in reading.place.scopes for span in scope for word in self.words(span)}
        record = source.record
        if not words.isdisjoint(source.stem):
            return True
        scopes = reading.place.scopes
        return record is not None and any(
            record in self.named(scope).get(record.group, ()) for scope in scopes
        )

    def _is_of_place(self, source: Source, reading: Reading) -> Miss | None:
        """What is wrong where the text names another record, or another key, than a source's."""
        record = source.record
        if record is None or source.origin == "said":
            return None
        scopes = reading.place.scopes
        names = self.provenance.names
        if source.key.lower() in _OWN_NAMES and isinstance(source.value, int) and source.value < 100:
            return None
        is_date = source.moment is not None or 1900 <= source.value <= 2100
        moment = next(iter(reading.moments), Moment())
        is_day = source.moment is not None and not source.moment.has_time and moment.has_date
        has_name = is_day and any(
            not word.isdecimal() and word not in weekday_numbers() for words in record.names for word in words
        )
        if (
            is_date
            and not has_name
            and not table_words("dates of rows").isdisjoint((source.key.lower(), folded_word(source.key)))
        ):
            return None  # the date is what the row is named by
        is_compared = _compared().search(self._before(reading, 24)) is not None or self._is_from_to(reading)
        start, end = reading.place.sentence[0], reading.place.end
        if not table_words("former").isdisjoint(self.words((max(start, end - _REACH), end))):
            scopes = [
                scope for scope in scopes if scope[0][0] >= start
            ]  # of the previous one no heading says
        if is_compared:  # what the sentence names is of the other side: only what is right behind counts
            scopes = [(self._behind(reading),)]
        nearest = len(scopes)
        for element in reversed([*record.chain]):
            if names.size(element.group) < 2:
                continue
            line = reading.place.layout.line_at(reading.place.start)
            is_near = element.group.endswith(" line") and line.kind not in ("item", "row")
            for distance, scope in enumerate(self._key_scopes(reading) if is_near else scopes):
                named = self.named(scope, reading if reading.moments else None).get(element.group)
                if named and reading.moments:
                    named = named - self._records_by_date(element.group, scope, reading)
                elif named and reading.shape == "code" and source.key != next(iter(record.texts), ""):
                    named = self._owners(element, scope, reading, source.key)
                if not named:
                    continue
                if distance > nearest:
                    break  # what is farther off names a part of something else
                nearest = distance
                if (
                    element not in named
                    and (element is not record or any(_has_like(other, source) for other in named))
                    and not self._names_only_key(source, named, reading)
                    and (self._has_owner(reading) or not self._are_compared(named, scope))
                    and not self._is_listed(reading, element)
                    and not any(
                        folded_word(reading.noun) in name for name in element.names
                    )  # a $500 certificate
                    and not (
                        not element.names
                        and (self._says_total(reading) or self._has_other_number(named, scope, reading))
                    )
                ):
                    return Miss("record", source)
                break
        if (
            len(record.stems) > 1
            and source.key in record.stems
            and (source.moment is None or moment.has_date or moment.has_time)
            and not _OUT_OF.search(self._before(reading, 32))
        ):
            named_keys = self._keys_of(reading, record, is_date=source.moment is not None)
            if len(named_keys) == 1 and source.key not in named_keys:
                (key,) = named_keys
                other = record.values.get(key)
                shows_unit = bool(source.units) and not set(source.units).isdisjoint(reading.units)
                if not (shows_unit and other is not None and not other.units) and not self._is_partly_named(
                    source, record.stems[key], reading
                ):
                    return Miss("key", source)
        return None

    def _records_by_date(self, group: str, scope: tuple[Span, ...], reading: Reading) -> set[Record]:
        """The records of a group that a stretch names by a date next to the one that is judged.

        In "on November 18 and on November 25" neither date says whose the other one is.
        """
        dates = (
            (own.place.start, own.place.end)
            for span in scope
            for own in self.numbers_in(span)
            if own is not reading and own.moments and own.moments[0].has_date
        )
        return set[Record]().union(*(self.named((date,)).get(group, ()) for date in dates))

    def _owners(self, record: Record, scope: tuple[Span, ...], reading: Reading, key: str) -> set[Record]:
        """The records like one that a stretch names before a code, each by another text than a code of its kind.

        In "LX318: gate B7" the flight names the row of the gate; in "LX318 and BA711" neither names the other's.
        """
        spans = tuple((start, min(end, reading.place.start)) for start, end in scope)
        text = " ".join(self.text_of(span) for span in spans).casefold()
        named = self.named(spans).get(record.group, set())
        if record in named:
            return named
        return {own for own in named if not any(part in text for part in _codes_in(own.texts.get(key, "")))}

    def _has_owner(self, reading: Reading) -> bool:
        """Whether the name right in front of a number says whose it is: "down from Q2's $1.38 million"."""
        start = reading.place.start
        return _OWNER.search(self.layout.text, max(0, start - 16), start) is not None

    def _is_listed(self, reading: Reading, record: Record) -> bool:
        """Whether several numbers are of several records in order: "A and B have 1.2 and 3.4 (respectively)"."""
        sentence = reading.place.sentence
        if not table_words("respectively").isdisjoint(self.words(sentence)):
            return True
        if record not in self.named((sentence,)).get(record.group, ()):
            return False
        number = bisect_left(self._starts, reading.place.start)
        return any(
            _JOINED.fullmatch(self.layout.text, first.place.end, second.place.start)
            for first, second in pairwise(self._readings[max(0, number - 1) : number + 2])
        )

    def _says_total(self, reading: Reading) -> bool:
        """Whether the words next to a number say that it is of all rows, as that of a row without a name is."""
        start, end = reading.place.start, reading.place.end
        words = self.words(
            (max(reading.place.sentence[0], start - 16), min(reading.place.sentence[1], end + 16))
        )
        return not table_words("of all").isdisjoint(words)

    def _has_other_number(self, named: set[Record], scope: tuple[Span, ...], reading: Reading) -> bool:
        """Whether a number of the named records follows their name: "the pump is 5 kg and the tank is 7 kg"."""
        at = max(self._mentions.last_place_of(named, span) for span in scope)
        between = self.findings_in((at, reading.place.start)) if at >= 0 else ()
        sources = (finding.source for finding in between if finding.source is not None)
        return any(
            source.record is not None and not named.isdisjoint(source.record.chain) for source in sources
        )

    def _are_compared(self, named: set[Record], scope: tuple[tuple[int, int], ...]) -> bool:
        """Whether the only one that is named is what another is compared with: "since January"."""
        places = [place for span in scope if (place := self._mentions.last_place_of(named, span)) >= 0]
        return bool(places) and all(map(self.directions.is_compared, places))

    def _is_partly_named(self, source: Source, other: tuple[str, ...], reading: Reading) -> bool:
        """Whether the clause has a word of a source's key that the key which it names has not, or all of them."""
        clause = reading.place.clause
        words = set(self.words(clause)) - table_words("links of keys")
        own = {
            word
            for word in set(source.stem) - set(other) or source.stem
            if _has_stem(words, (word,)) or (len(word) > 3 and any(said.startswith(word) for said in words))
        }
        if not own:
            return False
        numbers = self._numbers_of(clause)
        return len(numbers) < 2 or self._is_next_to((*own,), reading, numbers)

    def _numbers_of(self, clause: Span) -> list[Place]:
        return [
            other.place
            for other in self.numbers_in(clause)
            if other.shape in ("number", "moment") and (other.renderings or other.moments)
        ]

    def _names_only_key(self, source: Source, named: set[Record], reading: Reading) -> bool:
        """Whether the clause says the whole key of an output, which none of the outputs that it names has."""
        return (
            source.record is not None
            and source.record.parent is None
            and bool(source.stem)
            and not any(source.key in record.values for record in named)
            and set(source.stem) <= set(self.words(reading.place.clause))
        )

    def _behind(self, reading: Reading) -> tuple[int, int]:
        """What follows a number in its clause, up to the next that is no date."""
        span = reading.place.end, reading.place.clause[1]
        later = (
            own.place.start for own in self.numbers_in(span) if own.shape == "number" and not own.moments
        )
        return span[0], next(later, span[1])

    def _keys_of(self, reading: Reading, record: Record, *, is_date: bool) -> set[str]:
        """The keys of a record that the text names for a number; of several in a clause for the one next to it."""
        alike = {own.key for own in record.times} if is_date else record.values
        layout, clause = reading.place.layout, reading.place.clause
        is_row = layout.line_at(reading.place.start).kind == "row"
        for scope in self._key_scopes(reading) if is_row else [(clause,)]:
            words = {word for span in scope for word in self.words(span)}
            named = {
                key
                for key in _named_keys(record, words)
                if key in alike
                and _may_be_of(reading, record.values.get(key))
                and not self._is_denied(key, record, reading)
                and (reading.moments or key.lower() not in table_words("dates of rows"))
            }
            if is_row and named:
                return named
        if is_row or not named:
            return named
        numbers = self._numbers_of(clause)
        if len(numbers) < 2:
            return named
        stems = [set(stem) for stem in record.stems.values()]
        return {
            key
            for key in named
            if self._is_next_to(record.stems[key], reading, numbers)
            and self._is_next_to(_own_words(record.stems[key], stems), reading, numbers)
        }

    def _is_next_to(self, stem: tuple[str, ...], reading: Reading, numbers: list[Place]) -> bool:
        """Whether the words of a key belong to a number: they lead to it, or follow it and lead to none."""
        layout, clause = reading.place.layout, reading.place.clause
        telling = {word for word in stem if word not in table_words("links of keys")} or set(stem)
        starts, words = layout.words
        for place in range(bisect_left(starts, clause[0]), bisect_left(starts, clause[1])):
            if words[place] not in telling and not _has_stem({words[place]}, (*telling,)):
                continue
            start, end = starts[place], starts[place] + len(words[place])
            if words[place].isdecimal() and not _LABELS.match(layout.text, end):
                continue
            before = next((own for own in reversed(numbers) if own.start < start), None)
            after = next((own for own in numbers if own.start > start), None)
            own = after or before
            if before is not None and after is not None:
                is_lead = _LEADS.fullmatch(layout.text, end, after.start) is not None
                own = after if is_lead or len(layout.text[before.end : start].split()) > 3 else before
            if own is reading.place:
                return True
        return False

    def _is_denied(self, key: str, record: Record, reading: Reading) -> bool:
        """Whether a key has no amount, and the clause says so: "free shipping", "has not been refunded"."""
        own = record.values.get(key)
        return (
            own is not None and not own.value and not _nothing().isdisjoint(self.words(reading.place.clause))
        )

    def _is_from_to(self, reading: Reading) -> bool:
        """Whether a number is the second of "from 5 in 2023 to 8"."""
        clause = reading.place.clause
        text = reading.place.layout.text[reading.place.sentence[0] : reading.place.start]
        numbers = self.numbers_in((clause[0], reading.place.start))
        last = max((own.place.end for own in numbers), default=clause[0])
        if _THAN.search(reading.place.layout.text, last, reading.place.start):
            return True
        return _FROM_TO.search(text) is not None

    def _names_other(self, source: Source, reading: Reading) -> bool:
        """Whether the words next to a number name a key of which no output has such a value."""
        if source.origin == "said" and reading.noun and folded_word(reading.noun) in source.text:
            return False
        if _OUT_OF.search(self._before(reading, 16)):
            return False
        layout = reading.place.layout
        stop = _STOP.search(layout.text, reading.place.end, reading.place.end + 40)
        end = stop.start() if stop is not None else reading.place.end + 40
        trailing = [
            *takewhile(lambda word: word not in common_words(), layout.words_in((reading.place.end, end)))
        ][:2]
        words = {word for word in trailing if word not in common_words()}
        if not words or not words.isdisjoint(source.stem):
            return False
        for column in self.provenance.derivations.named(words):
            if set(column.sources[0].stem) <= set(trailing) and not any(
                any(renderings.fits(float(element.value)) for renderings in reading.renderings)
                for element in column.sources
            ):
                phrase = f"{reading.text} {reading.noun}"  # of the user's "7 business days" it is no key
                return source.origin != "said" or self.provenance.quotes(phrase) is None
        return False

    def _is_other_extreme(self, source: Source, reading: Reading) -> Miss | None:
        """What is wrong where the text calls the largest of a column the smallest."""
        record = source.record
        if record is None or record.parent is None:
            return None
        clause = reading.place.clause
        last = max(
            (
                done.reading.place.end
                for done in takewhile(lambda own: own.reading.place.start >= clause[0], reversed(self.done))
                if done.source is not None
                and (
                    done.source.key == source.key
                    or (done.reading.units and done.reading.units == reading.units)
                )
            ),
            default=clause[0],
        )
        extreme = superlative_of(_NEXT_EXTREME.sub("", self.text_of((last, clause[1]))))
        if not extreme or superlative_of(" ".join(source.stem)):  # the longest wait of each row
            return None
        if self._is_of_other_key(extreme, (clause[0], reading.place.start), source):
            return None
        if (extreme == "maximum") == ("max" in source.key.lower()) and {"min", "max"} & set(
            re.findall("min|max", source.key.lower())
        ):
            return None
        value = float(source.value)
        column = self.provenance.derivations.column(source)
        if any((float(element.value) < 0) != (value < 0) for element in column if element.value):
            column = [
                element for element in column if (float(element.value) < 0) == (value < 0)
            ]  # payments alone
            if len(column) > 1 and value < 0:
                words = set(reading.place.layout.words[1])
                column = [own for own in column if _shares_text(own, source, words)] or column
        values = [float(element.value) for element in column]
        if len(values) < 2 or min(values) == max(values):
            return None
        words = {folded_word(word) for word in _WORDS.findall(self.text_of((last, clause[1])))}
        if max(values) <= 0 and not table_words("superlatives of size").isdisjoint(
            words
        ):  # the largest payment
            value, values = -value, [-element for element in values]
        wanted, opposite = (max(values), min(values)) if extreme == "maximum" else (min(values), max(values))
        is_said = says_extreme(self.text_of((last, reading.place.start)))
        return Miss("direction", source) if value == opposite or (is_said and value != wanted) else None

    def _is_of_other_key(self, extreme: str, span: Span, source: Source) -> bool:
        """Whether a superlative is of another key of the row: one that is shown, or whose word is behind it.

        "The cheapest is Sol at €64 with 12 seats left"; "the highest rated is Azul at €118".
        """
        keys = source.record.stems if source.record is not None else {}
        topic = superlative_topic(self.text_of(span))
        if any(word.startswith(topic) for key, stem in keys.items() if key != source.key for word in stem):
            return True
        pick = max if extreme == "maximum" else min
        return any(
            own.source is not None
            and own.source.record is source.record
            and own.source.key != source.key
            and own.source.value
            == pick(
                (element.value for element in self.provenance.derivations.column(own.source)), default=None
            )
            for own in self.findings_in(span)
        )

    def _is_other_end(self, source: Source, reading: Reading) -> Miss | None:
        """What is wrong where "from" is before the later of two values, or "to" before the earlier."""
        table = key_order()
        order = next((table[word] for word in source.stem if word in table), "")
        record = source.record
        stems = (
            []
            if record is None
            else [
                *record.stems.values(),
                *map(stem_of, record.texts),
                *(element.stem for element in record.times),
            ]
        )
        rest = {word for word in source.stem if word not in table}
        if (
            not order
            or record is None
            or not any(
                table.get(word, order) != order and {other for other in stem if other not in table} == rest
                for stem in stems
                for word in stem
            )
        ) and table_words("former").isdisjoint(source.stem):
            return None
        prior = self._before(reading, 24)
        trailing = reading.place.layout.text[reading.place.end : reading.place.end + 24]
        if _INSTEAD.match(trailing):
            return Miss("key", source) if order != "later" else None
        says = (
            "earlier"
            if _FROM.search(prior)
            else "later"
            if _TO.search(prior) and self._is_from_to(reading)
            else ""
        )
        return Miss("key", source) if says and says != order else None

    def text_of(self, span: tuple[int, int]) -> str:
        """The text of a stretch."""
        return self.layout.text[span[0] : span[1]]

    def _key_scopes(self, reading: Reading) -> list[tuple[tuple[int, int], ...]]:
        """The stretches that name the key of a number: not the whole sentence, unless it is a row."""
        layout = reading.place.layout
        line = layout.line_at(reading.place.start)
        if line.kind == "row":
            cell, _ = layout.cell(line, reading.place.start)
            if len(self.numbers_in((cell[0], cell[1] + 1))) > 1:
                for part in layout.clauses(cell):
                    if part[0] <= reading.place.start < part[1] and len(self.numbers_in(part)) == 1:
                        return [(part,)]
                trailing = layout.text.find("(", reading.place.end, cell[1])
                return [
                    (
                        (
                            reading.place.end,
                            trailing if trailing >= 0 else min(cell[1], reading.place.end + 20),
                        ),
                    )
                ]
            return reading.place.scopes[:2]
        clause = reading.place.clause
        inside = [
            scope for scope in reading.place.scopes if scope[0][0] >= clause[0] and scope[0][1] <= clause[1]
        ]
        # A clause of several numbers names the key of one of them: only what is next to a number is its own.
        several = len(self.numbers_in(clause)) > 1
        return inside[:-1] if several else inside


_MEANING = attrgetter(
    "value", "text", "units", "record", "key", "stem", "moment", "zone", "kind", "is_code", "is_open", "is_asked",
    "is_minor", "is_doubtful",
)  # fmt: skip


def _distinct(sources: Iterable[Source]) -> Iterable[Source]:
    """The sources of one output or text; of those that say the same in one text, the last alone."""
    by_meaning: dict[object, Source] = {}
    for source in sources:
        by_meaning[source if source.origin == "tool" else _MEANING(source)] = source
    return by_meaning.values()


def _short_names(key: str) -> tuple[str, ...]:
    """What stands for a key before its number: its own name, or, for a period, its first letters: W for ``week``."""
    *_, last = words = name_words(key) or [""]
    is_period = any(last in group.split() for group in words_table()["periods"].values())
    return key.lower(), "".join(word[0] for word in words) if is_period else ""


def _times_about(moment: Moment) -> Iterator[Moment]:
    """A full hour, and the times a few minutes before and after it."""
    for minutes in sorted(range(-_NEAR, _NEAR + 1), key=abs):
        hour, minute = divmod((moment.hour or 0) * 60 + minutes, 60)
        yield moment._replace(hour=hour % 24, minute=minute)


@cache
def _relative_days() -> dict[str, int]:
    return {
        folded_word(word): int(days)
        for days, words in words_table()["relative days"].items()
        for word in words.split()
    }


@cache
def _compared() -> re.Pattern[str]:
    words = sorted(words_table()["comparisons"]["words"].split(), key=len, reverse=True)
    return re.compile(
        rf"(?<!\w)(?:{'|'.join(re.escape(word).replace('~', ' ') for word in words)})\s[$€£(]?\Z",
        re.IGNORECASE,
    )


_WORDS = re.compile(r"[^\W\d_]+")
_BASES = (1.0, 10.0, 100.0, 1000.0, 100_000.0, 1e6)
_BINARY = {
    "kB": {"B": 1024.0},
    "MB": {"kB": 1024.0, "B": 1024.0**2},
    "GB": {"MB": 1024.0, "kB": 1024.0**2, "B": 1024.0**3},
    "TB": {"GB": 1024.0, "MB": 1024.0**2},
}
_PER_BEFORE = re.compile(r"(?:/|\b(?:per|pro|je|par))\s?\Z", re.IGNORECASE)
_NAMED_HOURS = {
    "noon": 12,
    "midday": 12,
    "midnight": 0,
    "mittag": 12,
    "mitternacht": 0,
    "midi": 12,
    "minuit": 0,
}
_FROM = re.compile(r"\b(?:from|instead of|von|statt|de|au lieu de)\s[$€£]?\Z", re.IGNORECASE)
_TO = re.compile(r"\b(?:to|auf|à|bis)\s(?:about\s)?[$€£]?\Z", re.IGNORECASE)
_THAN = re.compile(r"\b(?:than|als|que|instead of|versus|vs|compared|gegenüber|statt)\b", re.IGNORECASE)
_AT = re.compile(r",?\s?(?:(?:at|um|à|@|by|gegen|vers)\s)?")
_JOINED = re.compile(r"(?:,|,?\s(?:and|und|et))\s[$€£]?")
_WEEK_BEFORE = re.compile(r"\b(?:week|wk|kw|woche|semaine)\s\Z", re.IGNORECASE)
_NEXT_EXTREME = re.compile(r"\b(?:next|second|third)[- ][^\W\d_]+", re.IGNORECASE)
_ADDED = re.compile(r"[\w)]\s?\+\s?[$€£]?\Z")
_INSTEAD = re.compile(r"\s?(?:[^\W\d_]{1,6}\s)?(?:instead of|rather than|statt|au lieu de)\b")
_LABELS = re.compile(r"\s?[:=(]")
_STOP = re.compile(r"[^\w\s'-]|\n|\d")
_LEADS = expression(
    r"[^\w.;]*(?:(?:of|was|is|are|were|at|to|only|about|over|nearly|just|exactly|reached|totals?|von|ist|sind|war|lag|bei|"
    r"im|auf|de|est|sont|à|était)[^\w.;]+){0,3}[^\w.;]*",
    re.IGNORECASE,
)
_GROUPS = re.compile(
    r"(?<![\w.,+(])(?=[+(\d.]{1,40}[ )-][ (]?\d)[+(]{0,2}\d{1,9}(?:[ ().-]{1,2}\d{1,9}){1,8}(?!\w|[.,]\d)"
)
_OWNER = re.compile(r"['’]s?\s(?:about\s|nearly\s)?[$€£]?\Z")  # Q2's $1.38 million
_OF_MANY = re.compile(r"\s(?:(?:out )?of|von|sur|/)\s(?:(?:the|all|your|our|its|their|den|les)\s)?\d[\d.,]*")
_PHRASE = re.compile(r"(?:[ -][^\W\d_]+[²³]?){1,5}")
_LETTERS_DIGITS = re.compile(r"([A-Z]{1,3})[- ]?(\d{1,5})")
_OF_TRIED = re.compile(r"(\d{1,3})-(?:for|of)-(\d{1,3})")
_OUT_OF = re.compile(
    r"(?:\d(?:\s[^\W\d_]+){0,2}\s?|(?:\A|[.;:\n-])(?:[^\S\n]|\*)*+)(?:out of|of|von|sur|/)\s"
    r"(?:(?:the|your|our|its|their|all|den|les|vos)\s)?\Z",
    re.IGNORECASE,
)
_WEEKDAY_BEFORE = re.compile(r"([^\W\d_]{2,10})\.?,?\s(?:the\s|den\s|le\s)?\Z")
_FROM_TO = re.compile(
    r"\A(?>.*?\b(?:from|von|de)\b).*\b(?:to|auf|à)\b[^.]{0,40}\Z", re.IGNORECASE | re.DOTALL
)
_MINUTES = re.compile(r"\d\s?[:.h]\s?\d\d")
_ABOUT = re.compile(r"\b(?:around|about|near|nearly|gegen|vers)\s\Z", re.IGNORECASE)
_HEMISPHERE = re.compile(r"°?\s?(?:W|S|O|west|south|West|Süd|ouest|sud)(?!\w)")
_ORDINAL_DAY = re.compile(
    r"\b(?:the|on|by|until|till|from|since|to|and|le|am|den|vom|bis)\s+(?:the\s+)?\Z", re.IGNORECASE
)


@cache
def _nothing() -> frozenset[str]:
    return frozenset(map(folded_word, table_words("no")))


@cache
def _change_words() -> frozenset[str]:
    return frozenset(words_table()["change keys"]["words"].split())


@cache
def _deduction_words() -> frozenset[str]:
    return frozenset(words_table()["deduction keys"]["words"].split())


def _is_same_integer(reading: Reading, source: Source) -> bool:
    """Whether two integers that are one number as floats have the same digits."""
    if abs(source.value) < _LARGEST_EXACT or not reading.text.isdecimal():
        return True
    written = source.text or str(source.value)
    return not written.isdecimal() or written == reading.text


def _is_change(source: Source) -> bool:
    return not _change_words().isdisjoint(source.stem)


def _is_flow(source: Source) -> bool:
    """Whether the sign of a value says only which way it went: an amount of a transaction, the power of a battery."""
    return not table_words("flows").isdisjoint(source.stem) and not _is_change(source)


def _is_deduction(source: Source) -> bool:
    return not _deduction_words().isdisjoint(source.stem)


def _may_be_noun(word: str) -> bool:
    return is_thing(word) or word.lower() not in common_words()


def _codes_in(text: str) -> list[str]:
    """The words of a text that have digits, or else the text itself."""
    words = [word for word in text.casefold().split() if any(map(str.isdecimal, word))]
    return words or [text.casefold()]


def _verdict_of(source: Source) -> Verdict:
    return "sourced" if source.origin == "tool" and not source.is_code else "quoted"


def _may_be_share(source: Source) -> bool:
    return (
        abs(float(source.value)) <= 1.5
        or quantity_named("".join(name_words(source.key)[-1:])) == "dimensionless"
    )


def _is_fraction(source: Source) -> bool:
    """Whether a bare number is a part of 1: below it, with three digits or more, under a key that says no percent."""
    value = abs(float(source.value))
    return 0 < value < 1 and len(f"{value:.6g}") > 4


def _shares_text(own: Source, source: Source, words: set[str]) -> bool:
    """Whether two rows have a text in common that the answer says: the purchases of one category."""
    first, second = own.record, source.record
    if first is None or second is None:
        return False
    return any(
        first.texts.get(key) == text and folded_word(text) in words for key, text in second.texts.items()
    )


def _is_exact_share(reading: Reading, source: Source) -> bool:
    """Whether a percentage is a fraction to the last digit: 5 % of an ``alpha`` of 0.05."""
    return "%" in reading.units and abs(100 * float(source.value) - reading.value) < _SLACK


def _is_telling(renderings: Shown, source: Source) -> bool:
    """Whether a number is so like another that only the unit can be wrong: 4 for 3.6 is chance."""
    return renderings.value == float(source.value) or renderings.digits >= 2


def _relation(reading: Reading, source: Source) -> str:
    """How the unit of a number compares with that of a source of its value: same, bare, unit, kind."""
    units, own = reading.units, source.units
    if not units:
        return "same"
    if not own and source.text[-1:] in _SIZE_LETTERS:
        return "same" if units[0].startswith(source.text[-1]) else "unit"  # 402M of memory
    if not own:
        if source.kind in ("count", "identifier", "index") and source.stem[-1:] not in _BOUNDS:
            if any(
                unit not in counted_units() and unit not in TIME_UNITS and unit != "count" for unit in units
            ):
                return "kind"
            return "same"
        if units[0] in counted_units():
            return "same"
        if is_thing(source.key) and isinstance(source.value, int) and not _is_currency(units[0]):
            is_rate = "/" in units[0] and units[0].rpartition("/")[2] in TIME_UNITS
            return "bare" if is_rate else "kind"  # gusts of 70 km/h
        return "bare"
    if not set(units).isdisjoint(own):
        return "same"
    if own[0] in _SIZE_LETTERS and units[0].startswith(own[0]):
        return "same"  # 12.2G of memory
    if source.origin == "text" and own[0] == "m" and units[0] == "min":
        return "same"
    is_letter = source.origin == "text" and len(own[0]) == 1 and own[0].isupper() and units[0] != own[0]
    if is_letter and float(source.value).is_integer() and abs(source.value) < 1000:
        return (
            "bare"  # a letter behind an integer in a text that a tool returned is a code as often: seat 14 C
        )
    for unit in units:
        if unit in counted_units() or unit == "count":
            if own[0] in counted_units() or own[0] in ("1", "count"):
                return "same"
            continue
        base, _, time = unit.rpartition("/")
        if base in own and (time in TIME_UNITS or time in counted_units()):
            return "same"
        if any(_names_period(reading, unit, element) for element in own):
            return "same"
        size = size_of_unit(unit)
        if size is None:
            return "unit"
        for element in own:
            if element in ("count", "1", "ratio"):
                if unit in TIME_UNITS and element == "count":
                    return "same"
                continue
            other = size_of_unit(element)
            if other is None or other == size:
                return "same"
    return "unit"


def _is_exact(reading: Reading, renderings: Shown, source: Source) -> bool:
    """Whether a number is a source's value to the last digit, in its own unit or in another."""
    own = size_of_unit(reading.units[0]) if reading.units else None
    other = size_of_unit(source.units[0]) if source.units else None
    factor = other.factor / own.factor if own is not None and other is not None else 1.0
    return abs(renderings.value - float(source.value) * factor) <= 1e-6 * max(1.0, abs(renderings.value))


def _may_be_seat(source: Source) -> bool:
    """Whether a number is in a text like ``4B``, which names a place or a size."""
    texts = source.record.texts if source.record is not None else {}
    return SEAT.fullmatch(texts.get(source.key, "")) is not None


_OWN_NAMES = frozenset(["n", "no", "nr", "number", "index", "#"])
_BOUNDS = {("limit",), ("max",), ("min",), ("cap",), ("target",), ("threshold",), ("budget",)}
_SIZE_LETTERS = frozenset("kKMGT")


def _names_period(reading: Reading, unit: str, rate: str) -> bool:
    """Whether a unit is that of a rate for its period: money, or where the text around names the period.

    "$1,200" of 1200 USD/month; "it uses 12 kWh each day", but not "560 m" of 560 m/s.
    """
    base, _, period = rate.rpartition("/")
    if base != unit or period not in TIME_UNITS:
        return False
    if _is_currency(unit):
        return True
    place, names = reading.place, _period_words().get(period, frozenset())
    spans = (place.sentence, *(span for scope in place.scopes for span in scope))
    spots = (at for span in spans for at, word in place.layout.word_places(span) if word in names)
    return any(place.layout.text[at - 1 : at] != "/" for at in spots)  # not that of another rate


@cache
def _period_words() -> dict[str, frozenset[str]]:
    periods = words_table()["periods"].items()
    return {name: frozenset(map(folded_word, words.split())) for name, words in periods}


def _is_currency(unit: str) -> bool:
    size = size_of_unit(unit)
    return size is not None and "currency" in str(size.dimension)


def _has_like(record: Record, source: Source) -> bool:
    """Whether a record has a value of the same kind as a source: what it has not, its name says nothing of."""
    if source.key in record.values or source.moment is not None or source.is_code:
        return True
    if record.group.endswith((" line", " block")):
        return True
    return any(element.units == source.units for element in record.values.values() if element.units)


def _may_be_of(reading: Reading, source: Source | None) -> bool:
    """Whether a number may be a value of a key, by its unit."""
    if source is None or not reading.units:
        return True
    if not source.units:
        is_counted = (
            source.kind == "count" or is_thing(source.key) or source.key.lower() in table_words("quantities")
        )
        is_time = reading.units[0] in TIME_UNITS and not is_thing(source.key)
        return not is_counted or is_time or reading.units[0] in counted_units()
    own, other = size_of_unit(reading.units[0]), size_of_unit(source.units[0])
    if own is None or other is None or not set(reading.units).isdisjoint(source.units):
        return True
    return own.dimension == other.dimension


@cache
def _senses() -> dict[str, frozenset[str]]:
    """The words that say what a word of a key does: ``wide`` of ``width``."""
    rows = [frozenset(map(folded_word, words.split())) for words in words_table()["senses"].values()]
    return {word: row for row in rows for word in row}


def _own_words(stem: tuple[str, ...], stems: Sequence[set[str]]) -> tuple[str, ...]:
    """The words of a key that no other key of its record has: ``attempt`` of ``run_attempt`` next to ``run_number``."""
    own = tuple(word for word in stem if sum(word in other for other in stems) < 2)
    return own or stem


def _has_stem(words: set[str], stem: tuple[str, ...]) -> bool:
    """Whether words have each word of a key, or another form of it: ``picked`` of ``in_pick``."""
    telling = [word for word in stem if word not in table_words("links of keys")] or stem
    return all(
        word in words
        or not _senses().get(word, frozenset()).isdisjoint(words)
        or (len(word) > 3 and any(other.startswith(word) and len(other) - len(word) < 4 for other in words))
        for word in telling
    )


def _named_keys(record: Record, words: set[str]) -> set[str]:
    """The keys of a record that words name by their whole stem, but for those whose stem is a part of another's."""
    named = {
        key: {word for word in stem if word not in table_words("links of keys")} or set(stem)
        for key, stem in record.stems.items()
        if stem and _has_stem(words, stem)
    }
    return {key for key, stem in named.items() if not any(stem < other for other in named.values())}

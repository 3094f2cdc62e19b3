"""Numbers that follow from others which the text points at: it shows them, or names their row, label or key.

Any number is the sum of some two among a thousand, and among twelve values any percentage of two digits is some pair's.
So operands are those that the sentence or the one before shows, those of the rows and keys that it names, and whole
columns; nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache
from itertools import combinations
from math import fsum
from statistics import median
from typing import Any, NamedTuple, Protocol

from gllint_runtime.policy.expressions import expression
from gllint_runtime.policy.moments import Moment
from gllint_runtime.policy.places import folded_word
from gllint_runtime.policy.reader import Reading
from gllint_runtime.policy.text_units import counted_units, size_of_unit, table_words, words_table
from gllint_runtime.policy.unit_sizes import factors_of_unit, product, size_of
from gllint_runtime.policy.units import TIME_UNITS
from gllint_runtime.provenance.findings import Derivation, Finding, Miss
from gllint_runtime.provenance.records import Harvest, Record, Source, is_thing


class Judgement(Protocol):
    """The judging of a text, of which a number is asked from what it follows."""

    done: list[Finding]
    provenance: Any

    def named(self, scope: tuple[tuple[int, int], ...]) -> dict[str, set[Record]]:
        """The records that a stretch names."""

    def record_moments(self, record: Record) -> list[tuple[Moment, Source]]:
        """The dates and times of a record."""

    def direction(self, reading: Reading) -> str:
        """The way in which the words around a number say that it goes."""

    def text_of(self, span: tuple[int, int]) -> str:
        """The text of a stretch."""


_MAX_COLUMNS = 60  # columns without a pointer that are looked at, the latest first
_MAX_OPERANDS = 24
_MAX_NAMED = 40  # values of named rows
_MANY_PAIRS = 10
_SMALL = 100
_BESIDE = 4  # the nearest numbers, from which also a percentage of one digit may follow
_MOST_ADDED = 12
_EXACT = 1e-9


class Operand(NamedTuple):
    """A value that others may follow from."""

    value: float
    units: tuple[str, ...]
    sources: tuple[Source, ...]
    is_shown: bool
    moment: Moment | None = None
    is_near: bool = False
    is_said: bool = False  # by the user, and not shown

    @property
    def source(self) -> Source:
        """The first source."""
        return self.sources[0]


@dataclass(eq=False)
class Column:
    """The values under one key in records of one shape."""

    key: str
    group: str
    units: tuple[str, ...]
    sources: list[Source] = field(default_factory=list)

    def rows(self) -> list[Source]:
        """The values, one for each record: of a call that was made again the last."""
        return self.sources


class Derivations:
    """The columns and lists of a conversation."""

    def __init__(self) -> None:
        self._columns: dict[tuple[Any, ...], Column] = {}
        self._by_word: dict[str, list[Column]] = {}
        self._latest: list[Column] = []
        self._lists: dict[int, list[Source]] = {}
        self._records: dict[str, list[Record]] = {}

    def add(self, harvest: Harvest, tool: str) -> None:
        """Take in the output of a call."""
        for source in harvest.sources:
            record = source.record
            if record is None or source.origin != "tool" or source.moment is not None or source.is_code:
                continue
            if source.kind in ("identifier", "index"):
                continue
            units = source.units if not source.is_open else source.units[:1]
            if isinstance(source.path[-1] if source.path else "", int):
                keys: list[tuple[Any, ...]] = [
                    (source.call_id, source.path[:-1], units),
                    (record.group, source.key, units),
                ]
            else:
                keys = [(record.group, source.key, units)]
                parent = record.parent
                if parent is not None and parent.parent is not None:
                    keys.append((id(parent), record.group, source.key, units))
                keys.append((record.call_id, record.group, source.key, units))
            for key in keys:
                column = self._columns.get(key)
                if column is None:
                    column = self._columns[key] = Column(source.key, record.group, source.units)
                    for word in source.stem:
                        self._by_word.setdefault(word, []).append(column)
                    self._latest.append(column)
                column.sources.append(source)
        for path, count, record in harvest.lists:
            name = next((str(step) for step in reversed(path) if isinstance(step, str)), "")
            self._lists.setdefault(count, []).append(
                Source("tool", record.call_id, tool, path, name, count, (), record)
            )
        for record in harvest.records:
            self._records.setdefault(record.group, []).append(record)

    def of(self, reading: Reading, judgement: Judgement, misses: Sequence[Miss]) -> Derivation | None:
        """What a number follows from."""
        return _Search(self, reading, judgement, misses).derivation()

    def columns(self, words: set[str]) -> Iterator[tuple[Column, bool]]:
        """The columns whose key the words name, and the latest others; whether named."""
        visited: set[int] = set()
        for word in words:
            for column in self._by_word.get(word, ())[-_MAX_COLUMNS:]:
                if id(column) not in visited:
                    visited.add(id(column))
                    yield column, True
        for column in self._latest[: -_MAX_COLUMNS - 1 : -1]:
            if id(column) not in visited:
                visited.add(id(column))
                yield column, False

    def named(self, words: set[str]) -> Iterator[tuple[Column, bool]]:
        """The columns of whose key the words have one."""
        for word in words:
            for column in self._by_word.get(word, ())[-_MAX_COLUMNS:]:
                yield column, True

    def column(self, source: Source) -> list[Source]:
        """The values of the same key in the same call."""
        record = source.record
        if record is None:
            return []
        column = self._columns.get(
            (
                record.call_id,
                record.group,
                source.key,
                source.units if not source.is_open else source.units[:1],
            )
        )
        return column.sources if column is not None else []

    def lists(self, count: int) -> list[Source]:
        """The lists that have so many items."""
        return self._lists.get(count, [])

    def records(self, group: str) -> list[Record]:
        """The records of a group."""
        return self._records.get(group, [])

    @property
    def groups(self) -> dict[str, list[Record]]:
        """The records by what they are one of."""
        return self._records

    @property
    def latest_groups(self) -> list[str]:
        """The groups that were seen last, with several records."""
        return [group for group, records in [*self._records.items()][-30:] if len(records) > 1]


@cache
def _aggregate_words() -> dict[str, frozenset[str]]:
    return {
        kind: frozenset(folded_word(word) for word in words.replace("~", " ").split())
        for kind, words in words_table()["aggregates"].items()
    }


@cache
def _superlatives() -> re.Pattern[str]:
    groups = [
        f"(?P<{kind}>{'|'.join(re.escape(word.replace('~', ' ')) for word in words.split())})"
        for kind, words in words_table()["superlatives"].items()
    ]
    return re.compile(rf"(?<!\w)(?:{'|'.join(groups)})(?!\w)", re.IGNORECASE)


def superlative_of(text: str) -> str:
    """The extreme that a clause says, where it says one."""
    kinds = {match.lastgroup or "" for match in _superlatives().finditer(text)}
    return kinds.pop() if len(kinds) == 1 else ""


@cache
def _words_of(section: str) -> frozenset[str]:
    return frozenset(map(folded_word, table_words(section)))


_AGGREGATES: dict[str, Callable[[list[float]], float]] = {
    "total": fsum,
    "mean": lambda values: fsum(values) / len(values),
    "minimum": min,
    "maximum": max,
    "median": median,
}


class _Search:
    def __init__(
        self, owner: Derivations, reading: Reading, judgement: Judgement, misses: Sequence[Miss]
    ) -> None:
        self.owner, self.reading, self.judgement = owner, reading, judgement
        self.misses = misses
        layout = reading.place.layout
        self.sentence = reading.place.sentence
        self.previous = layout.previous_sentence(self.sentence)
        line = layout.line_at(reading.place.start)
        self.is_row = line.kind == "row"
        spans = [self.sentence, *line.heads]
        if self.is_row:
            spans += [span for scope in reading.place.scopes[:2] for span in scope]
        self.words = {word for span in spans for word in layout.words_in(span)}
        self.near_words = self.words | (set(layout.words_in(self.previous)) if self.previous else set())
        self.wrong_record = any(miss.reason in ("record", "key") for miss in misses)

    def derivation(self) -> Derivation | None:
        reading = self.reading
        if reading.shape == "moment" or (reading.moments and not reading.renderings):
            return self._date()
        operands = self._operands()
        near = [operand for operand in operands if operand.is_near]
        hits = self._search(operands, near)
        if hits is None or self._of_other_record(hits):
            return None
        return hits if not self.wrong_record or self._says_how(hits) else None

    def _says_how(self, hits: Derivation) -> bool:
        """Whether the clause says how a number follows, which is another row's or key's, too."""
        if hits.how in ("difference", "percentage change"):
            return bool(self.judgement.direction(self.reading))
        words = set(self.reading.place.layout.words_in(self.reading.place.clause))
        return not _aggregate_words().get(hits.how, frozenset()).isdisjoint(words) or hits.how == "time span"

    def _of_other_record(self, hits: Derivation) -> bool:
        """Whether the clause names one record, and a number follows from others of its kind alone."""
        named = self.judgement.named((self.reading.place.clause,))
        for group, records in named.items():
            own = [
                source
                for source in hits.sources
                if source.record is not None
                and any(element.group == group for element in source.record.chain)
            ]
            if (
                len(records) == 1
                and own
                and len(own) == len(hits.sources)
                and hits.how not in ("total", "mean", "count", "median")
            ):
                if not any(element in records for source in own for element in source.record.chain):  # type: ignore[union-attr]
                    return True
        return False

    def _contradicts(self, hits: Derivation) -> bool:
        """Whether the text says that a difference goes the other way."""
        if hits.how not in ("difference", "percentage change") or len(hits.sources) != 2:
            return False
        reading = self.reading
        first, second = hits.sources
        if reading.has_plus and hits.value < 0 and self._is_ordered(first, second) is not None:
            return bool(self._is_ordered(first, second))
        direction = self.judgement.direction(reading)
        if direction not in ("up", "down"):
            return False
        ordered = self._is_ordered(first, second)
        if ordered is None:
            return False
        change = hits.value if ordered else -hits.value
        return (change < 0) == (direction == "up") and change != 0

    def _is_ordered(self, first: Source, second: Source) -> bool | None:
        """Whether the text speaks of the first as compared with the second; ``None`` where that is open."""
        layout = self.reading.place.layout
        text = layout.text[self.sentence[0] : self.sentence[1]]
        reference = _REFERENCE.search(
            text, max(0, self.reading.place.end - self.sentence[0])
        ) or _AGAINST.search(text)
        if reference is not None:
            span = (
                self.sentence[0] + reference.end(),
                min(self.sentence[1], self.sentence[0] + reference.end() + 60),
            )
            named = self.judgement.named((span,))
            of_second = second.record is not None and any(
                element in named.get(element.group, ()) for element in second.record.chain
            )
            of_first = first.record is not None and any(
                element in named.get(element.group, ()) for element in first.record.chain
            )
            if of_first != of_second:
                return of_second
            near = [
                finding
                for finding in self.judgement.done
                if span[0] <= finding.reading.place.start < span[1] and finding.source is not None
            ]
            if near and near[0].source is second and near[0].source is not first:
                return True
            if near and near[0].source is first:
                return False
            if of_first == of_second and (subject := self._subject(first, second)) is not None:
                return subject
        places = {
            id(finding.source): finding.reading.place.start
            for finding in self.judgement.done
            if finding.source is not None
            and self.sentence[0] <= finding.reading.place.start < self.sentence[1]
        }
        if _FROM_TO.search(text) and id(first) in places and id(second) in places:
            return places[id(first)] > places[id(second)]
        times = [
            next((moment for element in source.record.chain for moment in element.moments), None)
            if source.record is not None
            else None
            for source in (first, second)
        ]
        if times[0] is not None and times[1] is not None:
            element, other = times[0].order, times[1].order
            if element != other:
                return element > other
        return None

    def _subject(self, first: Source, second: Source) -> bool | None:
        """Whether the first of two is of what the sentence names first; ``None`` where it names none of them alone."""
        layout = self.reading.place.layout
        at = self.sentence[0]
        while at < self.reading.place.start:
            clause = layout.clause(at, at + 1)
            named = self.judgement.named((clause,))
            own = [
                any(element in named.get(element.group, ()) for element in source.record.chain)
                if source.record is not None
                else False
                for source in (first, second)
            ]
            if own[0] != own[1]:
                return own[0]
            at = max(clause[1] + 1, at + 1)
        return None

    def _search(self, operands: list[Operand], near: list[Operand]) -> Derivation | None:
        return (
            self._aggregate()
            or self._count()
            or self._of_pairs(near)
            or self._sum_of_shown(near)
            or self._span(operands)
            or self._rate(operands)
            or self._of_pairs(operands)
            or self._sum_of_shown(operands)
            or self._sum_of_products()
            or self._share_of_column(operands)
            or self._within_record()
        )

    # --------------------------------------------------------------------------------------- comparison

    def _fits(
        self, value: float, units: tuple[str, ...], *, is_exact: bool = False, any_sign: bool = False
    ) -> bool:
        """Whether a value in one of these units would be shown as the number is."""
        for renderings in self.reading.renderings:
            for factor in self._factors(units):
                result = value * factor
                for element in (
                    (renderings, renderings.scaled(-1))
                    if any_sign or self._may_lose_sign(result)
                    else (renderings,)
                ):
                    if element.fits(result) and (
                        not is_exact or abs(element.value - result) <= _EXACT * max(abs(result), 1)
                    ):
                        return True
        return False

    def _may_lose_sign(self, value: float) -> bool:
        """Whether a negative value may be shown without its sign: as a difference, or where words say that it falls."""
        if value >= 0 or self.reading.is_signed:
            return False
        if self._is_spent:
            return True
        return self._is_difference or self.judgement.direction(self.reading) in ("down", "neutral")

    _is_difference = False
    _is_spent = False  # a total of amounts that are all taken away

    def _factors(self, units: tuple[str, ...]) -> Iterator[float]:
        """By what a value in ``units`` is multiplied to be in the unit that is shown."""
        own = self.reading.units
        if not own or not units:
            if own and own[0] in ("%", "pp", "bps") and not units:
                return
            yield 1.0
            return
        if not set(own).isdisjoint(units):
            yield 1.0
            return
        for unit in own[:1]:
            size = size_of_unit(unit)
            base, _, per = unit.rpartition("/")
            if base in units and (per in TIME_UNITS or per in counted_units()):
                yield 1.0
            for element in units:
                other = size_of_unit(element)
                if (
                    size is not None
                    and other is not None
                    and size.dimension == other.dimension
                    and not size.offset
                    and not other.offset
                ):
                    yield other.factor / size.factor
                elif element in ("count", "1") and (unit in counted_units() or unit in TIME_UNITS):
                    yield 1.0

    @property
    def digits(self) -> int:
        """How many significant digits are shown."""
        return max((renderings.digits for renderings in self.reading.renderings), default=0)

    @property
    def _counts(self) -> bool:
        """Whether the number has no unit, or one of what is counted."""
        return all(unit in counted_units() or unit == "count" for unit in self.reading.units)

    # --------------------------------------------------------------------------------------- whole columns

    def _aggregate(self) -> Derivation | None:
        kinds = {kind for kind, words in _aggregate_words().items() if not words.isdisjoint(self.words)}
        for column, is_named in self.owner.columns(self.near_words):
            sources = column.rows()
            if len(sources) < 2:
                continue
            if self.reading.units and not column.units and is_thing(column.key) and not self._counts:
                continue
            if (
                not (self.reading.units and column.units)
                and self.reading.units
                and self.reading.units[0] in ("%", "pp")
            ):
                continue
            for subset, is_pointed in self._subsets(column, sources):
                values = [float(source.value) for source in subset]
                for how, operation in _AGGREGATES.items():
                    if how == "median" and "median" not in kinds:
                        continue
                    if how in ("minimum", "maximum") and (self.wrong_record and how not in kinds):
                        continue
                    if how == "total" and self._is_no_sum(column.units):
                        continue
                    least = 2 if self._has_rows(column.group) and (is_named or is_pointed) else 3
                    if how not in kinds and self.digits < least:
                        continue
                    value = operation(values)
                    self._is_spent = how in ("total", "mean") and max(values) < 0
                    statements = superlative_of(self.judgement.text_of(self.reading.place.clause))
                    own = (
                        {"minimum": "maximum", "maximum": "minimum"}.get(how, how)
                        if value < 0 and self.reading.value > 0
                        else how
                    )
                    if statements and how in ("minimum", "maximum") and own != statements:
                        continue
                    if self._fits(value, column.units):
                        if how in _OPPOSITE:
                            subset = [source for source in subset if float(source.value) == value][:1]
                        return Derivation(how, tuple(subset), value, column.units)
        return None

    def _has_rows(self, group: str) -> bool:
        """Whether the text names several rows of a group."""
        return any(len(self.judgement.named(scope).get(group, ())) > 1 for scope in self._scopes())

    @staticmethod
    def _is_no_sum(units: tuple[str, ...]) -> bool:
        if not units:
            return False
        size = size_of_unit(units[0])
        return units[0] in ("%", "pp", "bps") or (size is not None and size.dimension == "temperature")

    def _subsets(self, column: Column, sources: list[Source]) -> Iterator[tuple[list[Source], bool]]:
        """The whole column, the rows that are named, and those whose text has a value that is named."""
        yield sources, False
        for scope in self._scopes():
            named = self.judgement.named(scope).get(column.group)
            if named and len(named) > 1:
                rows = [source for source in sources if source.record in named]
                if 1 < len(rows) < len(sources):
                    yield rows, True
        renderings = {
            id(source) for operand in self._operands() if operand.is_shown for source in operand.sources
        }
        rows = [source for source in sources if id(source) in renderings]
        if 1 < len(rows) < len(sources):
            yield rows, True
        for parents in self._by_parents(column, sources):
            yield parents, True
        yield from ((rows, True) for rows in self._with_value(sources) if len(rows) > 1)

    def _by_parents(self, column: Column, sources: list[Source]) -> Iterator[list[Source]]:
        for scope in self._scopes():
            for group, records in self.judgement.named(scope).items():
                if group == column.group:
                    continue
                rows = [
                    source
                    for source in sources
                    if source.record is not None
                    and any(element in records for element in source.record.chain)
                ]
                if 1 < len(rows) < len(sources):
                    yield rows

    def _with_value(self, sources: list[Source]) -> Iterator[list[Source]]:
        """The rows whose text has a value that the answer names."""
        sets: dict[tuple[str, str], list[Source]] = {}
        for source in sources[:400]:
            record = source.record
            if record is None:
                continue
            for key, text in record.texts.items():
                if len(text) <= 40:
                    sets.setdefault((key, text.casefold()), []).append(source)
            for key, flag in record.flags.items():
                sets.setdefault((key, str(flag)), []).append(source)
            for key, value in record.values.items():
                if not value.units and key:
                    sets.setdefault((key, str(bool(value.value))), []).append(source)
        for (key, text), rows in sets.items():
            if len(rows) == len(sources):
                continue
            if self._names_value(key, text):
                yield rows

    def _names_value(self, key: str, text: str) -> bool:
        if text in ("true", "false", "True", "False"):
            stem = {folded_word(word) for word in re.findall(r"[a-z]+", key.lower())} - {"is", "has", "was"}
            return bool(stem) and stem <= self.near_words
        words = {folded_word(word) for word in re.findall(r"[^\W_]+", text)}
        return bool(words) and (
            words <= self.near_words
            or any(_is_form(word, self.near_words) for word in words if len(words) == 1)
        )

    def _scopes(self) -> list[tuple[tuple[int, int], ...]]:
        scopes = [*self.reading.place.scopes, (self.sentence,)]
        if self.previous is not None:
            scopes.append((self.previous,))
        return scopes

    # ------------------------------------------------------------------------------------------- counts

    def _count(self) -> Derivation | None:
        reading = self.reading
        if reading.units and not all(
            unit in counted_units() or unit in ("count", *TIME_UNITS) for unit in reading.units
        ):
            return None
        if not reading.renderings or reading.value % 1 or reading.value < 0 or reading.shape == "ordinal":
            return None
        count = int(reading.value)
        for source in reversed(self.owner.lists(count)):
            return Derivation("count", (source,), float(count))
        if self._beyond(count):
            return Derivation("count", tuple(self._counted), float(count))
        for group in reversed(self.owner.latest_groups):
            records = self.owner.records(group)
            if not 1 < len(records) <= 400:
                continue
            by_call: dict[str, list[Record]] = {}
            for record in records:
                by_call.setdefault(record.call_id, []).append(record)
            for several in (*by_call.values(), records):
                if len(several) < 2:
                    continue
                stand_ins = [_stand_in(record) for record in several]
                if len(several) == count:
                    return Derivation("count", tuple(stand_ins), float(count))
                for rows in self._with_value(stand_ins):
                    if len(rows) == count:
                        return Derivation("count", tuple(rows), float(count))
                for scope in self._scopes():
                    named = self.judgement.named(scope).get(group)
                    if named and len(named) == count > 1:
                        return Derivation(
                            "count", tuple(_stand_in(element) for element in named), float(count)
                        )
        return None

    _counted: Sequence[Source] = ()

    def _beyond(self, count: int) -> bool:
        """Whether so many values of a column are above, or below, a number that the sentence shows."""
        if not count or _BEYOND.isdisjoint(self.words):
            return False
        bounds = [
            operand.value
            for operand in self._operands()
            if operand.is_shown and operand.is_near and operand.moment is None
        ]
        if not {"zero", "freezing", "null", "zéro"}.isdisjoint(self.words):
            bounds.append(0.0)
        for column, _ in self.owner.columns(self.words):
            if not 2 < len(column.sources) <= 100:
                continue
            values = [float(source.value) for source in column.sources]
            for bound in bounds:
                if count in (
                    sum(value >= bound for value in values),
                    sum(value < bound for value in values),
                ) and min(values) <= bound <= max(values):
                    self._counted = [source for source in column.sources if float(source.value) >= bound]
                    return True
        return False

    # -------------------------------------------------------------------------------------------- pairs

    def _operands(self) -> list[Operand]:
        """What the text points at."""
        if self._found is None:
            self._found = [*self._shown_operands(), *self._named_operands()]
        return self._found

    _found: list[Operand] | None = None

    def _shown_operands(self) -> Iterator[Operand]:
        start = self.previous[0] if self.previous is not None else self.sentence[0]
        count = 0
        line = self.reading.place.layout.line_at(self.reading.place.start)
        at = self.reading.place.start
        for finding in sorted(self.judgement.done, key=lambda element: abs(element.reading.place.start - at)):
            other = finding.reading
            if other is self.reading or count >= _MAX_OPERANDS:
                continue
            is_near = start <= other.place.start < self.sentence[1] or any(
                head[0] <= other.place.start < head[1] for head in line.heads
            )
            if not is_near and not self._is_above(other):
                continue
            source = finding.source
            if finding.verdict not in ("sourced", "quoted", "derived"):
                continue
            if source is not None and not source.units and not other.units:
                if source.kind in ("identifier", "index") or (source.is_asked and abs(source.value) < _SMALL):
                    continue
            is_near = self.sentence[0] <= other.place.start < self.sentence[1]
            for operand in _operands_of(finding):
                count += 1
                yield operand._replace(is_near=is_near)

    def _is_above(self, other: Reading) -> bool:
        """Whether a number is in a row or an item above, of one list or table."""
        layout = self.reading.place.layout
        if other.place.start > self.reading.place.start:
            return False
        lines = layout.lines
        first = lines.index(layout.line_at(other.place.start))
        last = lines.index(layout.line_at(self.reading.place.start))
        return last - first <= 40 and all(
            line.kind in ("row", "item", "rule") or (line.kind == "blank" and place < last - first)
            for place, line in enumerate(lines[first:last])
        )

    def _named_operands(self) -> Iterator[Operand]:
        count = 0
        visited: set[int] = set()
        for scope in self._scopes():
            for records in self.judgement.named(scope).values():
                for record in list(records)[:8]:
                    for source in record.values.values():
                        if count >= _MAX_NAMED or id(source) in visited:
                            continue
                        if source.kind in ("identifier", "index"):
                            continue
                        visited.add(id(source))
                        count += 1
                        is_near = scope in self.reading.place.scopes[:3]
                        yield Operand(float(source.value), source.units, (source,), False, None, is_near)
        yield from self._said_operands()
        words = self.near_words
        for column, is_named in self.owner.columns(words):
            if not is_named:
                break
            if len(column.sources) > 6 or not set(column.sources[0].stem) <= words:
                continue
            for source in column.sources:
                if id(source) not in visited and count < _MAX_NAMED:
                    visited.add(id(source))
                    count += 1
                    is_near = set(source.stem) <= self.words and len(column.sources) == 1
                    yield Operand(float(source.value), source.units, (source,), False, None, is_near)

    def _said_operands(self) -> Iterator[Operand]:
        """The numbers that the user said, by which a price is multiplied."""
        for source in self.judgement.provenance.statements[-6:]:
            yield Operand(float(source.value), source.units, (source,), False, None, False, True)

    def _of_pairs(self, operands: list[Operand]) -> Derivation | None:
        numbers = [operand for operand in operands if operand.moment is None]
        pairs = [pair for pair in combinations(numbers, 2) if pair[0].source is not pair[1].source]
        needed = 3 if len(pairs) > 2 * _MANY_PAIRS else 2
        if (
            needed == 3
            and self.digits < 3
            and "%" in self.reading.units
            and not all(o.is_near for o in numbers)
        ):
            return None
        for first, second in pairs:
            for a, b in ((first, second), (second, first)):
                for how, value, units in self._operations(a, b):
                    self._is_difference = how in ("difference", "percentage change", "ratio")
                    is_exact = self.digits < (2 if first.is_shown and second.is_shown else needed)
                    if is_exact and not (first.is_shown and second.is_shown):
                        continue
                    if "%" in self.reading.units and first.is_shown and second.is_shown:
                        is_beside = first in numbers[:_BESIDE] and second in numbers[:_BESIDE]
                        is_exact = is_exact and len(pairs) > _MANY_PAIRS and not is_beside
                    if self._fits(value, units, is_exact=is_exact):
                        hits = Derivation(how, (*a.sources, *b.sources), value, units)
                        if not self._contradicts(hits) and not self._of_other_record(hits):
                            return hits
        return None

    def _operations(self, a: Operand, b: Operand) -> Iterator[tuple[str, float, tuple[str, ...]]]:
        own = self.reading.units
        if own and not self._counts and "%" not in own and _counts_things(a) and _counts_things(b):
            return
        is_share = "%" in own
        both_shown = a.is_shown and b.is_shown
        alike = _alike(a, b)
        if a.is_said or b.is_said:
            if not (a.is_said and b.is_said):
                yield from self._products(a, b, both_shown)
            return
        if alike is not None:
            other = b.value * alike
            kin = both_shown or _is_kin(a, b)
            if kin and other:
                if is_share:
                    if a.units and a.units[0] == "%" and both_shown:
                        yield "percentage change", 100 * (a.value - other) / abs(other), ("%",)
                    if not (a.units and a.units[0] in ("%", "pp")):
                        if a.value / other >= 0:
                            yield "share", 100 * a.value / other, ("%",)
                        yield "percentage change", 100 * (a.value - other) / abs(other), ("%",)
                elif not own or own[0] in counted_units():
                    yield "ratio", a.value / other, ()
            if kin and not is_share:
                if a.units and a.units[0] == "%":
                    yield "difference", a.value - other, ("pp",)
                elif (
                    a.units
                    and (size := size_of_unit(a.units[0])) is not None
                    and size.dimension == "temperature"
                ):
                    yield "difference", a.value - other, a.units
                else:
                    yield "difference", a.value - other, a.units
        is_factor = (
            b.is_shown
            and not b.value % 1
            and (not b.units or b.units[0] in TIME_UNITS or b.units[0] in counted_units())
        )
        if (
            both_shown
            or (a.source.record is not None and a.source.record is b.source.record)
            or (is_factor and bool(own))
        ):
            yield from self._products(a, b, both_shown)
        if a.is_shown and a.units and own and set(own).isdisjoint(a.units) and not self.wrong_record:
            yield "conversion", a.value, a.units

    def _products(
        self, a: Operand, b: Operand, both_shown: bool
    ) -> Iterator[tuple[str, float, tuple[str, ...]]]:
        if b.value in (0, 1) or a.value in (0, 1):
            return
        if b.units and b.units[0] == "%" and not (a.units and a.units[0] == "%"):
            yield "percentage", a.value * b.value / 100, a.units
            if both_shown:
                yield "percentage", a.value * (1 - b.value / 100), a.units
                yield "percentage", a.value * (1 + b.value / 100), a.units
            return
        if "%" in self.reading.units:
            return
        if a.units and not (
            b.units
            and size_of_unit(b.units[0]) is not None
            and b.units[0] not in TIME_UNITS
            and b.units[0] not in counted_units()
        ):
            base = tuple(unit.rpartition("/")[0] or unit for unit in a.units)
            yield "product", a.value * b.value, base
            if both_shown and b.value:
                yield "quotient", a.value / b.value, base
        elif not a.units and not b.units:
            yield "product", a.value * b.value, ()
            if both_shown and b.value:
                yield "quotient", a.value / b.value, ()
        if a.units and b.units:
            numerator, _, lower_margin = a.units[0].rpartition("/")
            size, other = size_of_unit(lower_margin) if numerator else None, size_of_unit(b.units[0])
            if composed := self._composed(a, b, 1):
                yield "product", composed, self.reading.units[:1]
            if both_shown and (composed := self._composed(a, b, -1)):
                yield "quotient", composed, self.reading.units[:1]
            if size is not None and other is not None and size.dimension == other.dimension:
                yield (
                    "product",
                    a.value * b.value * other.factor / size.factor,
                    tuple(u.rpartition("/")[0] for u in a.units),
                )

    def _composed(self, a: Operand, b: Operand, power: int) -> float:
        """The product or the quotient of two measures in the unit that is shown; 0 where it measures something else."""
        if not b.value or not self.reading.units or self.reading.units[0] in ("pp", "bps", "%"):
            return 0.0
        own = size_of(factors_of_unit(self.reading.units[0]))
        made = size_of(product((factors_of_unit(a.units[0]), 1), (factors_of_unit(b.units[0]), power)))
        if own is None or made is None or own.dimension != made.dimension or not own.dimension:
            return 0.0
        return float(a.value * b.value**power * float(made.factor / own.factor))

    def _rate(self, operands: list[Operand]) -> Derivation | None:
        """So many in so long a time: ``125 rows per second``."""
        trailing = _PER_TIME.match(self.reading.place.layout.text, self.reading.place.end)
        period = _PERIODS.get(trailing[1].lower()) if trailing is not None else None
        if period is None or "%" in self.reading.units:
            return None
        renderings = [operand for operand in operands if operand.is_shown and operand.moment is None]
        seconds = size_of_unit("s")
        for a in renderings:
            for b in renderings:
                size = size_of_unit(b.units[0]) if b.units else None
                if (
                    a is b
                    or size is None
                    or seconds is None
                    or size.dimension != seconds.dimension
                    or not b.value
                    or a.units == b.units
                ):
                    continue
                value = a.value * period / (b.value * size.factor / seconds.factor)
                if self._fits(value, a.units) and self.digits > 1:
                    return Derivation("quotient", (*a.sources, *b.sources), value, a.units)
        return None

    def _sum_of_shown(self, operands: list[Operand]) -> Derivation | None:
        self._is_difference = self._is_spent = False
        """The sum of what is shown just before, where it adds up exactly."""
        renderings = [operand for operand in operands if operand.is_shown and operand.moment is None]
        groups: dict[Any, list[Operand]] = {}
        for operand in renderings[: _MOST_ADDED * 2]:
            if self._is_no_sum(operand.units):
                continue
            groups.setdefault(operand.units[:1], []).append(operand)
        for group in groups.values():
            for count in range(2, min(len(group), _MOST_ADDED) + 1):
                several = group[:count]
                value = fsum(operand.value for operand in several)
                if self._fits(value, several[0].units, is_exact=self.digits < 2, any_sign=True):
                    sources = tuple(source for operand in several for source in operand.sources)
                    return Derivation("total", sources, value, several[0].units)
            if 6 < len(group) <= 14 and self.digits > 2:
                for count in (2, 3):
                    for some in combinations(group, count):
                        several = list(some)
                        value = fsum(operand.value for operand in several)
                        if self._fits(value, several[0].units, is_exact=True):
                            return Derivation(
                                "total",
                                tuple(source for operand in several for source in operand.sources),
                                value,
                                several[0].units,
                            )
            if len(group) <= 6:
                for count in range(2, len(group)):
                    for some in combinations(group, count):
                        several = list(some)
                        value = fsum(operand.value for operand in several)
                        if self._fits(value, several[0].units, is_exact=True):
                            sources = tuple(source for operand in several for source in operand.sources)
                            return Derivation("total", sources, value, several[0].units)
                for first in range(len(group)):  # the whole less its parts
                    rest = [element for place, element in enumerate(group) if place != first]
                    value = group[first].value - fsum(operand.value for operand in rest)
                    if len(rest) > 1 and value > 0 and self._fits(value, group[first].units, is_exact=True):
                        sources = tuple(source for operand in group for source in operand.sources)
                        return Derivation("difference", sources, value, group[first].units)
        return None

    def _share_of_column(self, operands: list[Operand]) -> Derivation | None:
        """What one value is of the whole column, and what is left of a hundred percent."""
        if "%" not in self.reading.units or self.digits < 2:
            return None
        for operand in operands:
            if operand.moment is not None or not operand.is_near:
                continue
            if operand.units[:1] == ("%",) and not _words_of("what is left").isdisjoint(self.words):
                if self._fits(100 - operand.value, ("%",), is_exact=True):
                    return Derivation("difference", operand.sources, 100 - operand.value, ("%",))
            whole = self.owner.column(operand.source)
            total = fsum(float(source.value) for source in whole)
            if len(whole) > 1 and total and self._fits(100 * float(operand.source.value) / total, ("%",)):
                share = 100 * float(operand.source.value) / total
                return Derivation("share", (operand.source, *whole), share, ("%",))
        return None

    def _within_record(self) -> Derivation | None:
        """What is left of one key's value without another's, where a call returned one record alone."""
        clause = set(self.reading.place.layout.words_in(self.reading.place.clause))
        is_left = not _words_of("what is left").isdisjoint(clause)
        is_each = not _words_of("each").isdisjoint(clause)
        if not (is_left or is_each) or self.digits < 2 or self.wrong_record:
            return None
        for records in [*self.owner.groups.values()][-6:]:
            values = [*records[0].values.values()] if len(records) == 1 else []
            for a, b in combinations(values[:12], 2):
                if (
                    is_left
                    and a.units == b.units
                    and a.kind not in ("identifier", "index")
                    and a.key != b.key
                ):
                    value = abs(float(a.value) - float(b.value))
                    if self._fits(value, a.units, is_exact=True):
                        return Derivation("difference", (a, b), value, a.units)
                for first, second in ((a, b), (b, a)):
                    if is_each and second.key.lower() in _QUANTITIES and float(second.value) > 1:
                        if self._fits(float(first.value) / float(second.value), first.units):
                            share = float(first.value) / float(second.value)
                            return Derivation("quotient", (first, second), share, first.units)
        return None

    def _sum_of_products(self) -> Derivation | None:
        """The sum of what is so often so dear: prices by quantities of one list."""
        if self.digits < 2:
            return None
        for group in reversed([*self.owner.groups][-30:]):
            records = self.owner.records(group)
            rows = [record for record in records if record.call_id == records[-1].call_id]
            if not 0 < len(rows) <= 200:
                continue
            keys = set.intersection(*(set(record.values) for record in rows))
            quantities = [key for key in keys if key.lower() in _QUANTITIES]
            for quantity in quantities:
                for key in keys - {quantity}:
                    sources = [record.values[key] for record in rows]
                    value = fsum(
                        float(record.values[key].value) * float(record.values[quantity].value)
                        for record in rows
                    )
                    if self._fits(value, sources[0].units):
                        return Derivation("total", tuple(sources), value, sources[0].units)
        return None

    # ------------------------------------------------------------------------------------------- moments

    def _moments(self, operands: Iterable[Operand]) -> list[tuple[Moment, Source]]:
        hits = [(operand.moment, operand.source) for operand in operands if operand.moment is not None]
        for scope in self._scopes()[:6]:
            for records in self.judgement.named(scope).values():
                for record in list(records)[:4]:
                    hits += self.judgement.record_moments(record)
        if (today := self._today()) is not None:
            hits.append(today)
        return hits[:_MAX_OPERANDS]

    def _today(self) -> tuple[Moment, Source] | None:
        """The day of the conversation, where it is known."""
        today = self.judgement.provenance.today
        if today is None:
            return None
        now = Moment(today.year, today.month, today.day)
        return now, Source("said", "", "today", ("today",), "", 0, (), None, today.isoformat(), now)

    def _span(self, operands: list[Operand]) -> Derivation | None:
        """The time between two moments."""
        reading = self.reading
        unit = (
            reading.units[0]
            if reading.units
            else (
                "day"
                if reading.noun in ("days", "nights", "night", "day", "tage", "nächte", "jours", "nuits")
                else ""
            )
        )
        size = size_of_unit(unit) if unit else None
        seconds = size_of_unit("s")
        if (
            size is None
            or seconds is None
            or (size.dimension != seconds.dimension and unit not in TIME_UNITS)
        ):
            return None
        per = {"s": 1, "min": 60, "h": 3600, "day": 86400, "week": 604800}.get(unit)
        if per is None:
            return None
        hits = [*combinations(self._moments(operands), 2), *self._kin_moments()]
        for (first, source), (second, other) in hits:
            for difference in _between(first, second, is_exact=per < 86400):
                if any(renderings.fits(difference / per) for renderings in reading.renderings):
                    return Derivation("time span", (source, other), difference / per, (unit,))
                if (
                    unit == "day"
                    and per
                    and any(renderings.fits(difference / per + 1) for renderings in reading.renderings)
                    and "through" in self.words
                ):
                    return Derivation("time span", (source, other), difference / per + 1, (unit,))
        return None

    def _kin_moments(self) -> Iterator[tuple[tuple[Moment, Source], tuple[Moment, Source]]]:
        """Two times of the one record of an output that belong together: planned and actual, start and end."""
        for group, records in reversed([*self.owner.groups.items()][-6:]):
            if len(records) != 1 and not group.endswith(" line"):
                continue
            if group.endswith(" line"):
                for record in records[:20]:
                    times = [
                        element for element in self.judgement.record_moments(record) if element[0].has_time
                    ]
                    if len(times) == 2:
                        yield times[0], times[1]
                continue
            times = self.judgement.record_moments(records[0])
            if (now := self._today()) is not None and not _RELATIVE.isdisjoint(self.words):
                yield from ((element, now) for element in times[:10])
            for pair in combinations(times[:10], 2):
                first, second = set(pair[0][1].stem), set(pair[1][1].stem)
                if (
                    first & second
                    or len(times) == 2
                    or any(element & first and element & second for element in _ENDS)
                ):
                    yield pair

    def _date(self) -> Derivation | None:
        """A date that is so long before or after another."""
        operands = self._operands()
        hits = self._moments(operands)
        lengths: list[tuple[float, Source | None]] = [
            (operand.value * days, operand.source)
            for operand in operands
            if operand.moment is None and operand.units and (days := _DAYS.get(operand.units[0]))
        ]
        lengths += [
            (float(days), None)
            for word, days in (
                ("tomorrow", 1),
                ("morgen", 1),
                ("demain", 1),
                ("yesterday", -1),
                ("gestern", -1),
                ("hier", -1),
            )
            if word in self.words
        ]
        for moment in self.reading.moments:
            for base, source in hits:
                start = base.on
                if start is None:
                    continue
                for length, other in lengths:
                    for sign in (1, -1):
                        try:
                            day = start + timedelta(days=sign * length)
                        except OverflowError:
                            continue
                        if (
                            not length % 1
                            and moment.has_date
                            and moment.is_part_of(Moment(day.year, day.month, day.day))
                        ):
                            return Derivation(
                                "date",
                                tuple(element for element in (source, other) if element is not None),
                                0.0,
                            )
        return None


_RELATIVE = frozenset(
    ["in", "ago", "left", "remaining", "until", "away", "vor", "dans", "noch", "il", "reste", "ya"]
)
_OPPOSITE = {"minimum": "maximum", "maximum": "minimum"}
_PER_TIME = re.compile(
    r"(?:\s[^\W\d_]+){0,2}(?:\s(?:per|a|an|pro|par)\s|/)(second|minute|hour|day|week|s|min|h|sekunde|stunde|tag|heure|jour)\b",
    re.IGNORECASE,
)
_PERIODS = {
    "second": 1,
    "s": 1,
    "sekunde": 1,
    "minute": 60,
    "min": 60,
    "hour": 3600,
    "h": 3600,
    "stunde": 3600,
    "heure": 3600,
    "day": 86400,
    "tag": 86400,
    "jour": 86400,
    "week": 604800,
}
_REFERENCE = re.compile(
    r"\b(?:than|below|above|under|over|compared (?:to|with)|versus|vs\.?|als|que|dans|gegenüber)\s",
    re.IGNORECASE,
)
_AGAINST = expression(r"\b(?:against|compared (?:to|with)|versus|vs\.?|gegenüber)\s", re.IGNORECASE)
_FROM_TO = expression(r"\b(?:from|von|de)\b.*\b(?:to|auf|à)\b", re.IGNORECASE | re.DOTALL)
_BEYOND = table_words("thresholds")
_QUANTITIES = table_words("quantities")
_ENDS = [
    frozenset(words.split())
    for words in (
        "start end",
        "begin end",
        "from to",
        "dep arr",
        "depart arrive",
        "departure arrival",
        "planned actual",
        "created due",
        "opened closed",
        "check in out",
        "now cutoff",
    )
]
_DAYS = {"day": 1, "week": 7}


def _stand_in(record: Record) -> Source:
    path = next((source.path[:-1] for source in record.values.values()), ())
    return Source("tool", record.call_id, record.group.partition(" ")[0], path, record.label, 1, (), record)


def _is_form(word: str, words: set[str]) -> bool:
    """Whether a word is another form of one of several: ``delay`` of ``delayed``."""
    return len(word) > 4 and any(
        other.startswith(word[:-1]) and abs(len(other) - len(word)) < 4 for other in words if len(other) > 3
    )


def _operands_of(finding: Finding) -> Iterator[Operand]:
    """What a number that is shown gives to others: its source's value, and its own where that is rounded."""
    reading, source, derivation = finding.reading, finding.source, finding.derivation
    if reading.moments and reading.shape == "moment":
        if source is not None and source.moment is not None:
            yield Operand(0.0, (), (source,), True, _completed(reading.moments[0], source.moment))
            return
        if derivation is not None and derivation.sources and not reading.renderings:
            yield Operand(0.0, (), derivation.sources, True, reading.moments[0])
            return
    if source is not None and not source.is_code and source.moment is None:
        units = (
            source.units
            if not source.is_open
            else tuple(unit for unit in reading.units if unit in source.units) or source.units[:1]
        )
        value = float(source.value)
        if reading.is_signed and value > 0 > reading.value:
            value = -value
        if not units and "%" in reading.units and abs(value) <= 1.5 and reading.value != value:
            value, units = value * 100, ("%",)
        yield Operand(value, units or reading.units, (source,), True)
        if (
            reading.renderings
            and (not units or units == reading.units)
            and reading.value != value
            and abs(reading.value) != abs(value)
        ):
            yield Operand(reading.value, units or reading.units, (source,), True)
    elif derivation is not None and derivation.sources and reading.renderings:
        yield Operand(derivation.value, derivation.units or reading.units, derivation.sources, True)
        if reading.value != derivation.value and reading.units:
            yield Operand(reading.value, reading.units, derivation.sources, True)


def _completed(own: Moment, other: Moment | None) -> Moment:
    if other is None:
        return own
    return Moment(*(mine if mine is not None else theirs for mine, theirs in zip(own, other, strict=True)))


def _counts_things(operand: Operand) -> bool:
    source = operand.source
    return not operand.units and (source.kind == "count" or is_thing(source.key))


def _alike(a: Operand, b: Operand) -> float | None:
    """By what the second is multiplied to be in the unit of the first; ``None`` where they do not compare."""
    if a.source.units == b.source.units and len(a.sources) == len(b.sources) == 1 and a.source.units:
        return 1.0
    if not a.units or not b.units:
        return 1.0 if not a.units and not b.units else None
    if not set(a.units).isdisjoint(b.units):
        return 1.0
    size, other = size_of_unit(a.units[0]), size_of_unit(b.units[0])
    if size is None or other is None or size.dimension != other.dimension or size.offset or other.offset:
        return None
    return other.factor / size.factor


def _is_kin(a: Operand, b: Operand) -> bool:
    """Whether two values are in one column, under one key, or in one record."""
    first, second = a.source, b.source
    if (
        first.record is not None
        and second.record is not None
        and (first.record in second.record.chain or second.record in first.record.chain)
    ):
        return True
    return first.key == second.key


def _between(first: Moment, second: Moment, *, is_exact: bool = False) -> Iterator[float]:
    """The seconds between two moments; of two times of day also over midnight."""
    on, other = first.on, second.on
    if on is None and first.has_date and second.has_date:
        on, other = (
            date(second.year or 2025, first.month or 1, first.day or 1),
            date(second.year or 2025, second.month or 1, second.day or 1),
        )
    if on is not None and second.has_date and other is None:
        other = date(on.year, second.month or 1, second.day or 1)
    if on is not None and other is None and not second.has_time:
        return
    if first.has_time and second.has_time:
        seconds = _seconds(second) - _seconds(first)
        if on is not None and other is not None:
            yield abs((other - on).days * 86400 + seconds)
        else:
            yield abs(seconds)
            yield 86400 - abs(seconds)
    if on is not None and other is not None and not (is_exact and first.has_time and second.has_time):
        yield float(abs((other - on).days) * 86400)


def _seconds(moment: Moment) -> int:
    return (moment.hour or 0) * 3600 + (moment.minute or 0) * 60 + (moment.second or 0)

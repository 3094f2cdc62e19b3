"""Numbers that follow from others which the text points at: it shows them, or names their row, label or key.

Any number is the sum of some two among a thousand, and among twelve values any percentage of two digits is some pair's.
So the operands are in one space, each with how closely the text points at it: in the sentence of the number, before it,
by its row or key, or in the record of one that is shown. The operations are data; for one operand the partner that
would make the number is looked up by its value, so that the cost grows with the operands and not with their pairs.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache, lru_cache
from itertools import combinations, islice, pairwise
from math import fsum, inf
from statistics import median
from typing import Any, NamedTuple, Protocol

from gllint_runtime.policy.expressions import expression
from gllint_runtime.policy.lock_free import cached_property
from gllint_runtime.policy.moments import Moment, shifts
from gllint_runtime.policy.places import Span, folded_word
from gllint_runtime.policy.reader import Reading, Shown
from gllint_runtime.policy.spelled import spelled_numbers
from gllint_runtime.policy.text_units import (
    base_of_unit,
    counted_units,
    size_of_unit,
    table_words,
    units_at,
    words_table,
)
from gllint_runtime.policy.unit_sizes import factors_of_unit, product, size_of
from gllint_runtime.policy.units import TIME_UNITS
from gllint_runtime.provenance.directions import Directions, Mark, is_against, way_in
from gllint_runtime.provenance.findings import Derivation, Finding, Miss
from gllint_runtime.provenance.index import latest_of
from gllint_runtime.provenance.records import Harvest, Record, Source, is_thing


class Judgement(Protocol):
    """The judging of a text, of which a number is asked from what it follows."""

    provenance: Any
    directions: Directions

    def findings_in(self, span: Span) -> list[Finding]:
        """The verdicts on the numbers that begin in a stretch, as far as there are some."""

    def mark(self, reading: Reading) -> Mark | None:
        """The word around a number that says which way it goes."""

    def last_place_of(self, sources: tuple[Source, ...], span: Span) -> int:
        """Where a stretch last names the record of a source; -1 where it does not."""

    def named(self, scope: tuple[Span, ...]) -> dict[str, set[Record]]:
        """The records that a stretch names."""

    def direction(self, reading: Reading) -> str:
        """The way in which the words around a number say that it goes."""

    def text_of(self, span: Span) -> str:
        """The text of a stretch."""


_MAX_COLUMNS = 60  # columns without a pointer that are looked at, the latest first
_MAX_SHOWN = 24
_MAX_NEAR = 100  # numbers before and after one that are looked at
_MAX_NAMED = 40  # values of named rows and keys
_MAX_KIN = 24
_MAX_ROWS = 400  # of a list whose texts are counted
_MAX_GROUPS = 30  # lists that are counted, the latest first
_MANY_PAIRS = 10
_FEW_PAIRS = 60
_LONG = 100
_FAR = 1_000  # characters around a number in which the text points at what it follows from
_NEAREST = 4  # the nearest numbers, from which also a percentage of one digit may follow
_MOST_ADDED = 12
_FEW = 6  # values of a key in a whole conversation that its name alone points at
_EXACT = 1e-9

# How closely the text points at an operand.
_SHOWN, _BEFORE, _NAMED, _NAMED_FAR, _KIN, _SAID = range(6)


class Operand(NamedTuple):
    """A value that others may follow from."""

    value: float
    units: tuple[str, ...]
    sources: tuple[Source, ...]
    rank: int
    at: int = -1  # where it is shown
    moment: Moment | None = None

    @property
    def source(self) -> Source:
        """The first source."""
        return self.sources[0]

    @property
    def is_shown(self) -> bool:
        """Whether the text has the number."""
        return self.rank <= _BEFORE


@dataclass(eq=False)
class Column:
    """The values under one key in records of one shape."""

    key: str
    group: str
    units: tuple[str, ...]
    sources: list[Source] = field(default_factory=list)
    _values: tuple[int, dict[str, float]] = (0, {})
    _places: tuple[int, dict[Record, list[int]]] = (0, {})

    @property
    def aggregates(self) -> dict[str, float]:
        """What the whole column has in total, at least, at most and on average."""
        if self._values[0] != len(self.sources):
            values = [float(source.value) for source in self.sources]
            self._values = len(values), {how: operation(values) for how, operation in _AGGREGATES.items()}
        return self._values[1]

    def of(self, records: Collection[Record]) -> list[Source]:
        """The values of some records, and of what is a part of them: of a long column among the latest."""
        if self._places[0] != len(self.sources):
            places: dict[Record, list[int]] = {}
            first = max(0, len(self.sources) - _MAX_ROWS)
            for place in range(first, len(self.sources)):
                record = self.sources[place].record
                for element in record.chain if record is not None else ():
                    places.setdefault(element, []).append(place)
            self._places = len(self.sources), places
        places = self._places[1]
        if len(records) > len(places):
            hits = {place for record, own in places.items() if record in records for place in own}
        else:
            hits = {place for record in records for place in places.get(record, ())}
        return [self.sources[place] for place in sorted(hits)]


class Rows:
    """The records of one list, and those of them whose text or flag has a value."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self._size = 0
        self._by_word: dict[str, list[tuple[str, str, list[Record]]]] = {}

    def with_word(self, word: str) -> list[tuple[str, str, list[Record]]]:
        """The keys and texts that begin with a word, and the records that have them."""
        if self._size != len(self.records):
            self._size = len(self.records)
            sets: dict[tuple[str, str], list[Record]] = {}
            for record in self.records[:_MAX_ROWS]:
                for key, text in record.texts.items():
                    if len(text) <= 40:
                        sets.setdefault((key, text.casefold()), []).append(record)
                flags = [*record.flags.items()]
                flags += [
                    (key, bool(own.value)) for key, own in record.values.items() if not own.units and key
                ]
                for key, flag in flags:
                    sets.setdefault((key, str(flag)), []).append(record)
            self._by_word = {}
            for (key, text), records in sets.items():
                for own in _first_words(key, text):
                    self._by_word.setdefault(own, []).append((key, text, records))
        return self._by_word.get(word, [])


def _first_words(key: str, text: str) -> Iterator[str]:
    stem = [word for word in re.findall(r"[a-z]+", key.lower()) if word not in _BEING]
    if text in ("True", "False") or text in table_words("absent"):
        yield from map(folded_word, stem[:1])
    if text not in ("True", "False"):
        first = re.search(r"[^\W_]+", text)
        if first is not None:
            yield folded_word(first[0])
            if len(first[0]) > 4:
                yield first[0][:5]  # another form of it: "delayed" of delay


@lru_cache(maxsize=16384)
def _words_of_value(key: str, text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words of a key, and those of a text under it."""
    stem = (folded_word(word) for word in re.findall(r"[a-z]+", key.lower()) if word not in _BEING)
    return frozenset(stem), frozenset(map(folded_word, re.findall(r"[^\W_]+", text)))


_BEING = ("is", "has", "was")


class Derivations:
    """The columns and lists of a conversation."""

    def __init__(self) -> None:
        self._columns: dict[tuple[Any, ...], Column] = {}
        self._by_word: dict[str, list[Column]] = {}
        self._by_key: dict[tuple[tuple[str, bool], tuple[str, ...]], list[Source]] = {}
        self._latest: list[Column] = []
        self._lists: dict[int, list[Source]] = {}
        self._rows: dict[tuple[str, str], Rows] = {}
        self._groups: dict[str, Rows] = {}
        self.rates: list[Source] = []

    def add(self, harvest: Harvest, tool: str) -> None:
        """Take in the output of a call."""
        for source in harvest.sources:
            if source.units and "/" in source.units[0] and source.moment is None:
                self.rates.append(source)
            record = source.record
            if record is None or source.origin != "tool" or source.moment is not None or source.is_code:
                continue
            if source.kind in ("identifier", "index"):
                continue
            units = source.units if not source.is_open else source.units[:1]
            identity = (source.key, source.is_minor)
            self._by_key.setdefault((identity, units), []).append(source)
            keys: list[tuple[Any, ...]] = [(record.group, identity, units)]
            parent = record.parent
            if (
                len(source.path) > 1
                and isinstance(source.path[-1], int)
                and not isinstance(source.path[-2], int)
            ):
                keys.append((source.call_id, source.path[:-1], units))
            else:
                keys.append((record.call_id, record.group, identity, units))
            while parent is not None and parent.parent is not None:
                keys.append((parent, record.group, identity, units))
                parent = parent.parent
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
            self._groups.setdefault(record.group, Rows()).records.append(record)
            self._rows.setdefault((record.group, record.call_id), Rows()).records.append(record)

    def of(self, reading: Reading, judgement: Judgement, misses: Sequence[Miss]) -> Derivation | None:
        """What a number follows from."""
        return _Search(self, reading, judgement, misses).derivation()

    def named(self, words: Iterable[str]) -> Iterator[Column]:
        """The columns of whose key the words have one."""
        visited: set[Column] = set()
        for word in self._by_word.keys() & words:
            for column in self._by_word[word][-_MAX_COLUMNS:]:
                if column not in visited:
                    visited.add(column)
                    yield column

    @property
    def latest(self) -> list[Column]:
        """The columns that were seen last, the latest first."""
        return self._latest[: -_MAX_COLUMNS - 1 : -1]

    def column(self, source: Source) -> list[Source]:
        """The values of the same key in the same call."""
        record = source.record
        if record is None:
            return []
        units = source.units if not source.is_open else source.units[:1]
        column = self._columns.get((record.call_id, record.group, (source.key, source.is_minor), units))
        return column.sources if column is not None else []

    def of_key(self, source: Source) -> list[Source]:
        """The values of the same key anywhere, where they are few."""
        units = source.units if not source.is_open else source.units[:1]
        hits = self._by_key.get(((source.key, source.is_minor), units), [])
        return hits if len(hits) <= _FEW else []

    def siblings(self, source: Source) -> list[Source]:
        """The values of the same key in the few rows of its list that have a text in common with its row."""
        record = source.record
        rows = self._rows.get((record.group, record.call_id)) if record is not None else None
        if record is None or rows is None or not 2 < len(rows.records) <= _MAX_ROWS:
            return []
        for key, text in record.texts.items():
            alike = [
                other.values[source.key]
                for other in rows.records
                if other is not record and other.texts.get(key) == text and source.key in other.values
            ]
            if 0 < len(alike) < 4 and 2 * len(alike) < len(rows.records):
                return alike
        return []

    def lists(self, count: int) -> list[Source]:
        """The lists that have so many items."""
        return self._lists.get(count, [])

    @property
    def rows(self) -> Iterator[tuple[str, Rows]]:
        """The lists that were seen last: of each call, and of all its calls together."""
        for (group, _), rows in islice(reversed(self._rows.items()), _MAX_GROUPS):
            if len(rows.records) > 1:
                yield group, rows
        for group, rows in islice(reversed(self._groups.items()), _MAX_GROUPS):
            if len(rows.records) > 1:
                yield group, rows

    @property
    def single(self) -> list[Record]:
        """The records that are the only ones of their kind, the latest first."""
        groups = islice(reversed(self._groups.values()), _MAX_GROUPS)
        return [rows.records[0] for rows in groups if len(rows.records) == 1]


# --------------------------------------------------------------------------------------------------- operations


class Operation(NamedTuple):
    """What is made of two values: which partner ``b`` of ``a`` makes a number from ``low`` to ``high``."""

    how: str
    result: Callable[[float, float], float]
    partner: Callable[[float, float, float], tuple[float, float]]


def _swapped(low: float, high: float) -> tuple[float, float]:
    return (low, high) if low <= high else (high, low)


def _over(a: float, low: float, high: float) -> tuple[float, float]:
    """The divisors of a value that make a number."""
    if low <= 0 <= high or not a:
        return (inf, -inf)
    return _swapped(a / high, a / low)


DIFFERENCE = Operation("difference", lambda a, b: a - b, lambda a, low, high: (a - high, a - low))
RATIO = Operation("ratio", lambda a, b: a / b, _over)
SHARE = Operation("share", lambda a, b: 100 * a / b, lambda a, low, high: _over(100 * a, low, high))
REST = Operation(
    "share", lambda a, b: 100 - 100 * a / b, lambda a, low, high: _over(100 * a, 100 - high, 100 - low)
)
CHANGE = Operation(
    "percentage change",
    lambda a, b: 100 * (a - b) / abs(b),
    lambda a, low, high: _over(100 * a, 100 + low, 100 + high),
)
PRODUCT = Operation(
    "product", lambda a, b: a * b, lambda a, low, high: _swapped(low / a, high / a) if a else (inf, -inf)
)
QUOTIENT = Operation("quotient", lambda a, b: a / b, _over)
PERCENTAGES = (
    Operation(
        "percentage", lambda a, b: a * b / 100, lambda a, low, high: PRODUCT.partner(a / 100, low, high)
    ),
    Operation(
        "percentage",
        lambda a, b: a * (1 - b / 100),
        lambda a, low, high: _swapped(100 - 100 * low / a, 100 - 100 * high / a) if a else (inf, -inf),
    ),
    Operation(
        "percentage",
        lambda a, b: a * (1 + b / 100),
        lambda a, low, high: _swapped(100 * low / a - 100, 100 * high / a - 100) if a else (inf, -inf),
    ),
)


@dataclass(slots=True)
class _Group:
    """The operands of one dimension, in the order of their value in its first unit."""

    units: tuple[str, ...]
    values: list[float]
    operands: list[Operand]

    def between(self, low: float, high: float) -> Iterator[tuple[float, Operand]]:
        slack = _EXACT * max(abs(low), abs(high), 1e-3)
        for place in range(bisect_left(self.values, low - slack), bisect_right(self.values, high + slack)):
            yield self.values[place], self.operands[place]


def is_counted(units: tuple[str, ...]) -> bool:
    return not units or units[0] in counted_units() or units[0] in ("count", "1")


@lru_cache(maxsize=4096)
def _dimension(unit: str) -> object:
    """What values that add up have in common: a dimension, or a unit of its own."""
    if unit == "%":
        return unit
    size = size_of_unit(unit)
    return unit if size is None else size.dimension


@lru_cache(maxsize=8192)
def unit_factor(units: tuple[str, ...], own: tuple[str, ...]) -> float | None:
    """By what a value in ``units`` is multiplied to be in those that are shown; ``None`` where it is not of them."""
    if is_counted(own):
        return 1.0 if not own or is_counted(units) else None
    if not set(own).isdisjoint(units):
        return 1.0
    if own[0] in ("%", "pp", "bps") or not units or is_counted(units):
        if own[0] in ("pp", "bps") and units[:1] == ("%",):
            return 1.0 if own[0] == "pp" else 100.0
        if own[0] in ("%", "pp", "bps") or (units and own[0] not in TIME_UNITS):
            return None
        return 1.0
    base, _, per = own[0].rpartition("/")
    if base in units and (per in TIME_UNITS or per in counted_units()):
        return 1.0
    if own[0].isupper() and any(unit.rpartition("/")[0] == own[0] for unit in units):
        return 1.0
    size = size_of_unit(own[0])
    for unit in units:
        other = size_of_unit(unit)
        if size is not None and other is not None and size.dimension == other.dimension:
            if not size.offset and not other.offset:
                return other.factor / size.factor
    return None


@lru_cache(maxsize=8192)
def _made(a: tuple[str, ...], b: tuple[str, ...], power: int, own: tuple[str, ...]) -> float | None:
    """By what the product (power 1) or the quotient (-1) of values in two units is multiplied to be in a third."""
    is_factor = is_counted(b) or b[0] in TIME_UNITS
    if is_factor and not (a and b and b[0] in TIME_UNITS and is_counted(a)):
        if is_counted(a) and (power < 0 and b and b[0] in TIME_UNITS):
            return None  # a rate, which its own words announce
        if is_counted(a):
            return 1.0 if not a or is_counted(own) else None
        if (
            not b
            and own
            and own[0] not in a
            and len(own[0]) == len(a[0]) == 3
            and a[0].isupper()
            and own[0].isupper()
        ):
            return 1.0  # an amount by a rate of exchange
        base = tuple(unit.rpartition("/")[0] or unit for unit in a) if power > 0 else a
        if (factor := unit_factor(base, own) if own else 1.0) is not None:
            return factor
    if not own or not b or (not a and power > 0) or own[0] in ("pp", "bps", "%") or "%" in (*a[:1], b[0]):
        return None
    numerator, _, below = a[0].rpartition("/") if a else ("", "", "")
    if numerator and power > 0:
        size, other = size_of_unit(below), size_of_unit(b[0])
        if size is not None and other is not None and size.dimension == other.dimension:
            rest = tuple(unit.rpartition("/")[0] for unit in a)
            if (factor := unit_factor(rest, own)) is not None:
                return factor * other.factor / size.factor
        if (
            below == b[0]
            and (factor := unit_factor(tuple(unit.rpartition("/")[0] for unit in a), own)) is not None
        ):
            return factor
    if power < 0 and is_counted(a) and own[0].rpartition("/")[2] == b[0]:
        return 1.0  # people per km2
    each, _, period = b[0].rpartition("/")
    if each and period in TIME_UNITS and (factor := _made(a, (each,), power, own)) is not None:
        return factor  # 1.5 kW for 4 hours a day
    shown = size_of(factors_of_unit(own[0]))
    made = size_of(product(*(((factors_of_unit(a[0]), 1),) if a else ()), (factors_of_unit(b[0]), power)))
    if shown is None or made is None or shown.dimension != made.dimension or not shown.dimension:
        return None
    return float(made.factor / shown.factor)


def is_no_sum(units: tuple[str, ...]) -> bool:
    """Whether values in a unit do not add up: percentages, temperatures."""
    return bool(units) and (units[0] in ("%", "pp", "bps") or _dimension(units[0]) == "temperature")


_AGGREGATES: dict[str, Callable[[list[float]], float]] = {
    "total": fsum,
    "mean": lambda values: fsum(values) / len(values),
    "minimum": min,
    "maximum": max,
    "median": median,
}


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


def superlative_topic(text: str) -> str:
    """The beginning of the word behind a superlative: "rat" of "the highest rated"; a mark where there is none."""
    ends = [match.end() for match in _superlatives().finditer(text)]
    word = _TOPIC.match(text, ends[-1]) if ends else None
    return word[1].lower() if word is not None else "-"


def says_extreme(text: str) -> bool:
    """Whether a superlative, with nothing that narrows what it is of, leads to what follows: "The highest was"."""
    ends = [match.end() for match in _superlatives().finditer(text)]
    return bool(ends) and _LEADS_ON.fullmatch(text, ends[-1]) is not None


_TOPIC = expression(r"[\s-]([^\W\d_]{3})[^\W\d_]")
_LEADS_ON = expression(
    r"(?:\s(?:one|reading|value))?(?:\s(?:was|is|are|were|of|at|ist|war|est)|:)[^\w]*", re.IGNORECASE
)


@cache
def _words_of(section: str) -> frozenset[str]:
    return frozenset(map(folded_word, table_words(section)))


# ------------------------------------------------------------------------------------------------------- search


class _Search:
    """From what one number follows."""

    def __init__(
        self, owner: Derivations, reading: Reading, judgement: Judgement, misses: Sequence[Miss]
    ) -> None:
        self.owner, self.reading, self.judgement = owner, reading, judgement
        layout = reading.place.layout
        self.units = reading.units
        place = reading.place
        self.sentence = place.sentence
        self.previous = layout.previous_sentence(place.sentence)
        line = layout.line_at(reading.place.start)
        spans = [self.sentence, *line.heads]
        self.is_row = line.kind == "row"
        if self.is_row:
            spans += [span for scope in reading.place.scopes[:2] for span in scope]
        self.words = frozenset[str]().union(*map(layout.word_set, spans))
        self.near_words = self.words | (layout.word_set(self.previous) if self.previous else frozenset())
        self.clause_words = layout.word_set(reading.place.clause)
        self.is_share = "%" in reading.units
        self.wrong_record = any(
            miss.reason in ("record", "key")
            and abs(reading.value) == abs(float(miss.source.value))
            and not (self.is_share and _counts_things(Operand(0.0, miss.source.units, (miss.source,), _KIN)))
            for miss in misses
        )
        self.of_other_unit = {miss.source for miss in misses if miss.reason in ("unit", "kind")}
        self.wrong_sign = any(miss.reason == "sign" for miss in misses)
        self.digits = max((renderings.digits for renderings in reading.renderings), default=0)
        self.counts = is_counted(reading.units)
        self.kinds = {kind for kind, words in _aggregate_words().items() if not words.isdisjoint(self.words)}
        self._values: dict[str, list[list[Record]]] = {}

    def derivation(self) -> Derivation | None:
        """From what the number follows; ``None`` where that is nothing that the text points at."""
        reading = self.reading
        if reading.shape == "moment" or (reading.moments and not reading.renderings):
            return self._moment() or (
                self._rate() or self._span() or self._sum() if reading.renderings else None
            )
        for attempt in (
            self._equation,
            self._tied,
            self._aggregate,
            self._count,
            self._rate,
            self._bound,
            self._pair,
            self._sum,
            self._conversion,
            self._span,
            self._products,
        ):
            hits = attempt()
            if hits is _UNTIED:
                return None
            if hits is not None:
                return hits if hits is NOTHING or hits.how == "equation" or self._is_said(hits) else NOTHING
        return None

    def _is_said(self, hits: Derivation) -> bool:
        """Whether the clause does not name other records or keys than those that a number follows from."""
        if self._of_other_record(hits) or (self.wrong_sign and hits.how not in _AGGREGATES):
            return False
        if not self.of_other_unit.isdisjoint(hits.sources) and hits.how in (
            "product",
            "quotient",
            "percentage",
        ):
            return False  # 14 weeks of 14 days and of another number twice
        bare = next((source for source in hits.sources if source.origin == "tool" and not source.units), None)
        if bare is not None and not self.judgement.provenance.knows_currency(self.units, bare.call_id):
            return False
        if (
            self.units
            and not self.counts
            and not self.is_share
            and hits.how in ("total", "mean", "difference")
        ):
            if self.units[0] not in TIME_UNITS and any(map(is_clock, hits.sources)):
                return False  # a time of day is no part of a price
            if len({source.is_minor for source in hits.sources}) > 1:
                return False  # nor is an amount in hundredths one of the amount itself
            if all(_counts_things(Operand(0.0, source.units, (source,), _KIN)) for source in hits.sources):
                return False
        if not self.wrong_record or hits.how in ("time span", "percentage"):
            return True
        if hits.how in ("difference", "percentage change"):
            return bool(self.judgement.direction(self.reading))
        return not _aggregate_words().get(hits.how, frozenset()).isdisjoint(self.clause_words)

    def _of_other_record(self, hits: Derivation) -> bool:
        """Whether the clause names one record, and a number follows from others of its kind alone."""
        if hits.how in ("total", "mean", "count", "median"):
            return False
        for group, records in self.judgement.named((self.reading.place.clause,)).items():
            if len(records) != 1:
                continue
            own = [
                source
                for source in hits.sources
                if source.record is not None
                and any(element.group == group for element in source.record.chain)
            ]
            if own and len(own) == len(hits.sources):
                if not any(element in records for source in own for element in source.record.chain):  # type: ignore[union-attr]
                    return True
        return False

    # --------------------------------------------------------------------------------------------- comparison

    def _shown(self, factor: float, *, any_sign: bool = False) -> Iterator[Shown]:
        """What is shown, in the unit of an operand, of which ``factor`` makes the unit that is shown."""
        for renderings in self.reading.renderings:
            yield renderings.scaled(1 / factor)
            if any_sign and renderings.value and not self.reading.is_signed:
                yield renderings.scaled(-1 / factor)

    def _fits(
        self, value: float, units: tuple[str, ...], *, is_exact: bool = False, any_sign: bool = False
    ) -> bool:
        """Whether a value in one of these units would be shown as the number is."""
        factor = unit_factor(units, self.units)
        if factor is None:
            return False
        any_sign = any_sign or (value < 0 and self.judgement.direction(self.reading) in ("down", "neutral"))
        return any(
            element.fits(value)
            and (not is_exact or abs(element.value - value) <= _EXACT * max(abs(value), 1))
            for element in self._shown(factor, any_sign=any_sign)
        )

    def _says_period(self, units: tuple[str, ...]) -> bool:
        return bool(self.judgement.provenance.says_period(self.units, units))

    # ---------------------------------------------------------------------------------------------- operands

    @cached_property
    def operands(self) -> list[Operand]:
        """What the text points at, the closest first."""
        shown = self.shown
        units = {
            operand.source.key: operand.units
            for operand in shown
            if operand.source.key
            and not operand.source.units
            and operand.value == float(operand.source.value)
        }
        named = [
            operand._replace(units=units.get(operand.source.key, ())) if not operand.units else operand
            for operand in self._named_operands(
                {operand.source for operand in shown if len(operand.sources) == 1}
            )
        ]
        kin = [
            *self._kin_operands(
                shown, {operand.source for operand in (*shown, *named) if len(operand.sources) == 1}
            )
        ]
        return [*shown, *named, *self._joint_operands(shown), *kin, *self._said_operands()]

    @cached_property
    def shown(self) -> list[Operand]:
        """The numbers that the text shows near by."""
        return [*self._shown_operands()]

    @cached_property
    def scopes(self) -> list[tuple[Span, ...]]:
        """The stretches that may name an operand."""
        scopes = [*self.reading.place.scopes, (self.sentence,)]
        return [*scopes, (self.previous,)] if self.previous is not None else scopes

    def _shown_operands(self) -> Iterator[Operand]:
        layout, at = self.reading.place.layout, self.reading.place.start
        line = layout.line_at(at)
        start = self.previous[0] if self.previous is not None else self.sentence[0]
        floor, ceiling = layout.list_start(line), layout.next_item(line)
        count = 0
        reach = max(min(start, floor), at - _FAR), min(max(self.sentence[1], at, ceiling), at + _FAR)
        spans = (*line.heads, reach)
        near: dict[Finding, None] = {}
        for span in spans:
            findings = self.judgement.findings_in(span)
            own = bisect_left(findings, at, key=lambda element: element.reading.place.start)
            near |= dict.fromkeys(
                finding
                for finding in findings[max(0, own - _MAX_NEAR) : own + _MAX_NEAR]
                if finding.verdict in ("sourced", "quoted", "derived")
            )
        for finding in sorted(near, key=lambda element: abs(element.reading.place.start - at)):
            other, source = finding.reading, finding.source
            if other is self.reading:
                continue
            place = other.place.start
            is_near = start <= place < self.sentence[1] or any(
                head[0] <= place < head[1] for head in line.heads
            )
            if not is_near and not floor <= place < max(at, ceiling):
                continue
            if source is not None and not source.units and not other.units:
                if source.kind in ("identifier", "index") or (source.is_asked and abs(source.value) < 100):
                    continue
            rank = _SHOWN if self.sentence[0] <= place < self.sentence[1] else _BEFORE
            for operand in _operands_of(finding, rank):
                count += 1
                yield operand
            if count >= _MAX_SHOWN:
                return

    def _word_operands(self) -> Iterator[Operand]:
        """The numbers in words near by that some list, or a number of the conversation, has: "two passengers"."""
        start = self.previous[0] if self.previous is not None else self.sentence[0]
        for first, _, value in spelled_numbers(self.judgement.text_of((start, self.sentence[1]))):
            index = self.judgement.provenance.index
            sources = self.owner.lists(value) or index.by_value(value, value)
            if sources:
                yield Operand(float(value), (), (sources[-1],), _SAID, start + first)

    def _named_operands(self, visited: set[Source]) -> Iterator[Operand]:
        """The values of the rows that are named, and those of the keys that are."""
        count = 0
        for scope in self.scopes:
            for records in self.judgement.named(scope).values():
                for record in latest_of(records, 8):
                    for source in record.values.values():
                        if (
                            count < _MAX_NAMED
                            and source.kind not in ("identifier", "index")
                            and source not in visited
                        ):
                            visited.add(source)
                            count += 1
                            rank = _NAMED if scope in self.reading.place.scopes[:4] else _NAMED_FAR
                            yield Operand(float(source.value), source.units, (source,), rank)
        for column in self.owner.named(self.near_words):
            if len(column.sources) > _FEW or not set(column.sources[0].stem) <= self.near_words:
                continue
            near = {operand.source.record for operand in self.shown if operand.rank == _SHOWN}
            for source in column.sources:
                if source not in visited and count < _MAX_NAMED:
                    visited.add(source)
                    count += 1
                    is_close = set(source.stem) <= self.words and (
                        len(column.sources) == 1 or (source.record is not None and source.record in near)
                    )
                    rank = _NAMED if is_close else _NAMED_FAR
                    yield Operand(float(source.value), source.units, (source,), rank)

    def _joint_operands(self, shown: list[Operand]) -> Iterator[Operand]:
        """What several numbers of a sentence that are of one key, or of one record, have together."""
        clause = (self.reading.place.clause,)
        for group in self.judgement.named(clause).values():
            if 1 < len(group) <= _FEW:  # "Bluewater" of two invoices
                records = latest_of(group, _FEW)
                for key in records[0].values:
                    if not all(key in record.values for record in records):
                        continue
                    sources = tuple(record.values[key] for record in records)
                    if not is_no_sum(sources[0].units) and len({source.units for source in sources}) == 1:
                        total = fsum(float(source.value) for source in sources)
                        yield Operand(total, sources[0].units, sources, _NAMED)
        if self.is_share:
            for a, b in combinations([operand for operand in shown if operand.rank == _SHOWN], 2):
                if a.units == b.units and a.at != b.at and not is_no_sum(a.units) and _is_kin(a, b):
                    if len(a.sources) == len(b.sources) == 1 and a.source is not b.source:
                        yield Operand(a.value + b.value, a.units, (a.source, b.source), _BEFORE)

    def _kin_operands(self, shown: list[Operand], visited: set[Source]) -> Iterator[Operand]:
        """The values that are in one record with those that are shown, or under one key with them."""
        count = 0
        for operand in shown:
            record = operand.source.record
            if record is None or len(operand.sources) > 1 or operand.moment is not None:
                continue
            values = [*record.values.values()] if len(record.values) <= 12 else []
            for source in (*values, *self.owner.of_key(operand.source), *self.owner.siblings(operand.source)):
                if source not in visited and source.kind not in ("identifier", "index") and count < _MAX_KIN:
                    visited.add(source)
                    count += 1
                    is_only = source.key == operand.source.key and (
                        len(self.owner.of_key(source)) == 2 or len(self.owner.siblings(source)) == 1
                    )
                    rank = _NAMED_FAR if is_only else _KIN
                    is_bare = source.key == operand.source.key and not source.units
                    units = operand.units if is_bare else source.units
                    yield Operand(float(source.value), units, (source,), rank)

    def _said_operands(self) -> Iterator[Operand]:
        """What is multiplied: numbers in words, those that the user said, and the rates of the outputs."""
        yield from self._word_operands()
        for source in (*self.judgement.provenance.statements[-6:], *self.owner.rates[-12:]):
            yield Operand(float(source.value), source.units, (source,), _SAID)
        calendar = words_table()["calendar"]
        for word in self.words & calendar.keys():
            value, unit = calendar[word].split()
            source = Source("said", "", "calendar", (word,), word, float(value), (unit,))
            yield Operand(float(value), (unit,), (source,), _SAID)

    @cached_property
    def groups(self) -> list[_Group]:
        """The numbers by their dimension."""
        groups: dict[object, list[Operand]] = {}
        for operand in self.operands:
            if operand.moment is None:
                key = "" if is_counted(operand.units) else _dimension(operand.units[0])
                groups.setdefault(key, []).append(operand)
        hits = []
        for key, several in groups.items():
            units = () if key == "" else several[0].units
            pairs = sorted(
                (
                    (operand.value * (unit_factor(operand.units, units) or 1.0), place)
                    for place, operand in enumerate(several)
                )
            )
            hits.append(_Group(units, [value for value, _ in pairs], [several[place] for _, place in pairs]))
        return hits

    def _pairs_at(self, rank: int, a: Operand, b: Operand) -> int:
        """How many pairs of these dimensions the text points at as closely."""
        counts = []
        for units in (a.units, b.units):
            key = "" if is_counted(units) else _dimension(units[0])
            counts.append(self._rank_counts.get(key, [0] * (_SAID + 1))[rank])
        is_like = is_counted(a.units) == is_counted(b.units) and (
            is_counted(a.units) or _dimension(a.units[0]) == _dimension(b.units[0])
        )
        return counts[0] * (counts[0] - 1) // 2 if is_like else counts[0] * counts[1]

    @cached_property
    def _rank_counts(self) -> dict[object, list[int]]:
        counts: dict[object, list[int]] = {}
        for operand in self.operands:
            if operand.moment is None:
                key = "" if is_counted(operand.units) else _dimension(operand.units[0])
                row = counts.setdefault(key, [0] * (_SAID + 1))
                for rank in range(operand.rank, _SAID + 1):
                    row[rank] += 1
        return counts

    # -------------------------------------------------------------------------------------------------- pairs

    def _pair(
        self, among: Callable[[Operand, Operand], bool] | None = None, subject: int = -1
    ) -> Derivation | None:
        """What follows from two values; of several pairs the one at which the text points most closely."""
        best: tuple[int, Derivation] | None = None
        is_turned = False
        for operation, a, b, value, units, element in self._candidates():
            rank = max(a.rank, b.rank)
            if best is not None and rank >= best[0]:
                continue
            if among is not None and not among(a, b):
                continue
            is_tied = among is not None
            if a.sources == b.sources or not self._is_telling(operation, a, b, element, value, is_tied):
                continue
            hits = Derivation(operation.how, (*a.sources, *b.sources), value, units)
            if self._contradicts(operation, a, b, value, subject):
                is_turned = is_turned or (a.is_shown and b.is_shown and self.digits > 2)
                continue
            if not is_tied and self._of_other_record(hits):
                continue
            best = rank, hits
        if is_turned and (best is None or best[1].how in ("product", "quotient", "percentage")):
            return NOTHING  # the difference is of the other sign
        return best[1] if best is not None else None

    def _candidates(self) -> Iterator[tuple[Operation, Operand, Operand, float, tuple[str, ...], Shown]]:
        """The pairs that make the number, with what makes it of them."""
        for group in self.groups:
            for operation, factor, units in self._within(group):
                yield from self._partners(operation, group, group, factor, units)
        if self.units[:1] in (("%",), ("pp",), ("bps",)):
            return
        for first in self.groups:
            for second in self.groups:
                if second.units[:1] == ("%",):
                    amount = unit_factor(first.units, self.units) if first.units[:1] != ("%",) else None
                    for operation in PERCENTAGES if amount is not None else ():
                        yield from self._partners(operation, first, second, amount or 1.0, first.units)
                    continue
                for operation, power in ((PRODUCT, 1), (QUOTIENT, -1)):
                    made = _made(first.units, second.units, power, self.units)
                    if made is not None:
                        units = self.units or (
                            first.units
                            if power < 0
                            else tuple(u.rpartition("/")[0] or u for u in first.units)
                        )
                        yield from self._partners(operation, first, second, made, units)

    def _within(self, group: _Group) -> Iterator[tuple[Operation, float, tuple[str, ...]]]:
        """The operations on two values of one dimension that may make the number, and the unit of what they make."""
        is_percent = group.units[:1] == ("%",)
        if self.is_share:
            if not is_percent:
                yield SHARE, 1.0, ("%",)
                yield REST, 1.0, ("%",)
            yield CHANGE, 1.0, ("%",)
            return
        if not group.units and not self.units and self.reading.noun in ("points", "prozentpunkte"):
            yield DIFFERENCE, 100.0, ("pp",)  # of two fractions
        if (factor := unit_factor(group.units, self.units)) is not None:
            yield DIFFERENCE, factor, ("pp",) if is_percent else group.units
        if self.counts:
            yield RATIO, 1.0, ()

    def _partners(
        self, operation: Operation, first: _Group, second: _Group, factor: float, units: tuple[str, ...]
    ) -> Iterator[tuple[Operation, Operand, Operand, float, tuple[str, ...], Shown]]:
        any_sign = operation is DIFFERENCE or operation is CHANGE
        for element in self._shown(factor, any_sign=any_sign):
            low, high = element.value - element.lower_margin, element.value + element.upper_margin
            for value, a in zip(first.values, first.operands, strict=True):
                for other, b in second.between(*operation.partner(value, low, high)):
                    if (other or operation is DIFFERENCE) and element.fits(
                        result := operation.result(value, other)
                    ):
                        yield operation, a, b, result, units, element

    def _is_telling(
        self, operation: Operation, a: Operand, b: Operand, element: Shown, value: float, is_tied: bool
    ) -> bool:
        """Whether so many digits agree that it is no chance, and the text may mean the pair."""
        rank = max(a.rank, b.rank)
        both_shown = a.is_shown and b.is_shown
        is_exact = abs(element.value - value) <= _EXACT * max(abs(value), 1)
        is_like = operation in (DIFFERENCE, RATIO, SHARE, REST, CHANGE)
        if not a.value or not b.value:
            return False  # nothing follows from a zero
        if _SAID in (a.rank, b.rank):
            is_related = is_exact and not _words_of("of a limit").isdisjoint(self.words)
            if operation is not DIFFERENCE:
                is_related = operation is SHARE and bool(a.units and b.units)
            if is_related and (a.is_shown or b.is_shown):
                return self.digits > 1  # 66 € above the limit that the user said
            if is_like or a.rank == b.rank == _SAID:
                return False
        if (
            self.units
            and not self.counts
            and not self.is_share
            and _counts_things(a)
            and (_counts_things(b) or not is_like)
        ):
            return False
        if is_like and not both_shown and not _is_kin(a, b):
            return False
        if operation in (PRODUCT, QUOTIENT) and self.reading.value in (a.value, b.value):
            return False
        if operation is PRODUCT and self.counts and self.digits < 3:
            if _SAID in (a.rank, b.rank) and min(a.at, b.at) >= 0:  # one of them is in words
                return not _words_of("times").isdisjoint(self.near_words)
            if _words_of("times").isdisjoint(self.words) or not both_shown:
                return False
        if operation is SHARE and a.source.key == b.source.key and self._is_change:
            return False  # 38 % cheaper is not 38 % of the other price
        if operation is REST and (self.digits < 3 or _words_of("of a whole").isdisjoint(self.words)):
            return False
        if operation is RATIO and self.wrong_record:
            return False
        if operation is RATIO or (operation is CHANGE and self._is_change):
            if not set(a.sources).isdisjoint(b.sources):
                return False  # a sum is no multiple of what is in it
        if operation is CHANGE and a.units[:1] == ("%",) and not both_shown:
            return False
        if operation in (PRODUCT, QUOTIENT) and not self._may_multiply(operation, a, b, both_shown):
            return False
        if (
            operation in PERCENTAGES
            and not both_shown
            and (operation is not PERCENTAGES[0] or self.digits < 3)
        ):
            return False
        if operation is not QUOTIENT and not self._says_period(a.units):
            return False
        if is_tied:
            return True
        pairs = self._pairs_at(rank, a, b)
        if operation in (SHARE, REST) and not table_words("limits").isdisjoint(b.source.stem):
            pairs = int((2 * pairs) ** 0.5)  # of one whole
        same = a.source.record is not None and a.source.record is b.source.record
        if operation is DIFFERENCE and is_exact and rank <= _NAMED_FAR and pairs <= _MANY_PAIRS:
            step = element.lower_margin + element.upper_margin
            if step and abs(a.value) / step >= _LONG and (a.is_shown or b.is_shown):
                return True  # 16.9 less 16.1: each has three digits
        if (
            is_exact
            and same
            and is_like
            and rank == _NAMED_FAR
            and self.digits > 1
            and b.value
            and pairs <= _FEW_PAIRS
        ):
            return True
        is_pointed = same or (a.source.key == b.source.key and set(a.source.stem) <= self.words)
        if is_exact and is_pointed and rank <= _NAMED and is_like:
            return True
        if (
            operation in (CHANGE, DIFFERENCE)
            and self.owner.siblings(a.source) == [b.source]
            and (a.is_shown or b.is_shown)
        ):
            return self.digits > 1
        if rank >= _KIN:
            return self.digits >= 3 and (is_exact or self.digits > 3 or rank == _SAID)
        if both_shown:
            if self.digits >= 2 or is_exact:
                return True
            nearest = self.operands[:_NEAREST]
            return self.is_share and (pairs <= _MANY_PAIRS or (a in nearest and b in nearest))
        return self.digits >= (2 if pairs <= _MANY_PAIRS else 3)

    @cached_property
    def _is_change(self) -> bool:
        """Whether a word of direction is right next to the number: "rose by 38 %", "38 % cheaper"."""
        mark, place = self.judgement.mark(self.reading), self.reading.place
        if mark is None or mark.way not in ("up", "down"):
            return False
        between = (mark.end, place.start) if mark.end <= place.start else (place.end, mark.start)
        return self.judgement.text_of(between).strip() in ("", "by", "%")

    def _may_multiply(self, operation: Operation, a: Operand, b: Operand, both_shown: bool) -> bool:
        """Whether a value is multiplied with, or divided by, what is a number of things, a time or a measure."""
        if b.value in (0, 1) or a.value in (0, 1):
            return False
        if not b.units and a.units and self.units and unit_factor(a.units, self.units) is None:
            return not _words_of("factors").isdisjoint(b.source.stem)
        if not b.units and b.value % 1 and not _words_of("factors").intersection(b.source.stem):
            return False  # 45 divided by a rating of 4.7
        same = a.source.record is not None and a.source.record is b.source.record
        if (
            operation is QUOTIENT
            and same
            and max(a.rank, b.rank) < _KIN
            and self.digits > 2
            and not _words_of("times").isdisjoint(self.words)
        ):
            return True  # the cost per user, of a row
        if operation is QUOTIENT and b.source.tool == "calendar":
            return self.digits > 2 and a.rank <= _NAMED
        if operation is QUOTIENT and not both_shown and not (b.units and not is_counted(b.units)):
            return a.rank < _KIN and bool(
                (b.rank == _SAID and not b.value % 1 and not _words_of("times").isdisjoint(self.words))
                or b.source.key.lower() in table_words("quantities")
                or _counts_things(b)
                or b.source.kind == "count"
            )
        is_factor = not b.value % 1 and (is_counted(b.units) or b.units[0] in TIME_UNITS)
        if both_shown or _SAID in (a.rank, b.rank):
            return True
        return same or (b.is_shown and is_factor and bool(self.units))

    def _contradicts(self, operation: Operation, a: Operand, b: Operand, value: float, subject: int) -> bool:
        """Whether the text says that a difference goes the other way; ``subject`` is where the first of a pair is."""
        change = value - 1 if operation is RATIO else value
        if operation not in (DIFFERENCE, CHANGE, RATIO) or not change:
            return False
        reading, directions = self.reading, self.judgement.directions
        if reading.has_plus or reading.is_signed:
            way = "down" if reading.is_signed else "up"
        else:
            way = way_in(self.judgement.mark(reading), a.units if operation is RATIO else reading.units)
        if way not in ("up", "down"):
            return False
        is_first: bool | None = None
        mark = self.judgement.mark(reading)
        if subject >= 0 and (a.at == subject) != (b.at == subject):
            is_first = a.at == subject
        else:
            is_cell = (reading.is_signed or reading.has_plus) and self.is_row
            is_first = directions.is_subject(self.judgement, reading, a, b, by_name=not is_cell)
            if mark is not None and mark.word in _words_of("of a limit"):
                is_whole = directions.is_whole(a, b)
                is_first = is_first if is_whole is None else not is_whole
        return is_first is not None and ((change if is_first else -change) < 0) == (way == "up")

    # ----------------------------------------------------------------------------------------- what is worked out

    def _equation(self) -> Derivation | None:
        """What the text works out itself: "3 × €118 + €45 = €399"."""
        reading, text = self.reading, self.reading.place.layout.text
        if not reading.renderings:
            return None
        terms: list[tuple[Finding, str]] = []
        end, link = reading.place.start, _EQUALS
        for finding in reversed(self.judgement.findings_in((0, reading.place.start))):
            place = finding.reading.place
            joint = link.fullmatch(text, place.end, end)
            if joint is None:
                break
            if finding.fails or not finding.reading.renderings:
                return None
            # What joins a term to the next one; the last one is joined to the result, without an operator.
            terms.append((finding, (joint.groupdict().get("operator") or "").strip()))
            end, link = place.start, _OPERATOR
        if len(terms) < 2:
            return None
        terms.reverse()
        result = _result_of(terms)
        if not any(element.fits(result) for element in reading.renderings):
            return None
        # One of the terms has the unit of the result, unless the result has none or counts things.
        units = {unit.partition("/")[0] for finding, _ in terms for unit in _units_of(finding)}
        if self.units and units and units.isdisjoint(self.units) and not is_counted(self.units):
            return None
        sources = tuple(
            source
            for finding, _ in terms
            for source in (finding.derivation.sources if finding.derivation else (finding.source,))
            if source is not None
        )
        return Derivation("equation", sources, result, self.units)

    # -------------------------------------------------------------------------------------------- what is tied

    def _tied(self) -> Derivation | None:
        """What follows from the one pair that the text puts next to a number: "5 of 8 seats (63%)"."""
        start = self.reading.place.start
        near = [
            own.reading
            for own in self.judgement.findings_in(
                (max(self.sentence[0], start - 2 * _LONG), min(self.sentence[1] + _LONG, start + 2 * _LONG))
            )
        ]
        pair = _tied_places(self.reading, [own for own in near if own.renderings or not self.is_share])
        if pair is None:
            return None
        first, second = pair
        before = next((own for own in near if own.place.start == first), None)
        if before is not None and second < 0 and before.units == self.units:
            return None  # the same once more: nearly 40% (39.0%)

        def among(a: Operand, b: Operand) -> bool:
            if second >= 0:
                return {a.at, b.at} == {first, second}
            return first in (a.at, b.at) and (self.digits > 1 or _is_wholly(a, b, first))

        if self.units and _dimension(self.units[0]) == _dimension("s"):
            moments = [(o.moment, o.source) for o in self.operands if o.moment is not None and o.at in pair]
            if len(moments) == 2:
                return self._span_of([tuple(moments)]) or NOTHING  # type: ignore[list-item]
        text = self.judgement.text_of((max(0, first - 40), first))
        subject = first if second >= 0 or not is_against(text) else -1
        if second >= 0 and _FROM.search(text):
            subject = second
        hits = self._pair(among, subject)
        if hits is None and self.is_share:
            shown = {operand.at for operand in self.operands}
            if {first, max(second, first)} <= shown:
                return NOTHING if second >= 0 else _UNTIED
        return hits

    # ------------------------------------------------------------------------------------------- whole columns

    def _aggregate(self) -> Derivation | None:
        named = [*self.owner.named(self.near_words)]
        visited = set(named)
        for column in (*named, *(column for column in self.owner.latest if column not in visited)):
            if len(column.sources) < 2 or unit_factor(column.units, self.units) is None:
                continue
            if self.units and not self.counts and not column.units and is_thing(column.key):
                continue
            if not self._says_period(column.units):
                continue
            if (
                hits := self._of_values(column, column.sources, column.aggregates, column in visited)
            ) is not None:
                return hits
            for rows in self._subsets(column):
                values = [float(source.value) for source in rows]
                aggregates = {how: operation(values) for how, operation in _AGGREGATES.items()}
                if (hits := self._of_values(column, rows, aggregates, True)) is not None:
                    return hits
        return None

    def _of_values(
        self, column: Column, rows: list[Source], aggregates: dict[str, float], is_pointed: bool
    ) -> Derivation | None:
        for how, value in aggregates.items():
            if how not in self.kinds:
                is_named = how == "total" and set(column.sources[0].stem) <= self.words
                least = 2 if is_pointed and (is_named or self._has_rows(column.group)) else 3
                if (
                    how == "median"
                    or self.digits < least
                    or (self.wrong_record and how in ("minimum", "maximum"))
                ):
                    continue
            if how == "total" and is_no_sum(column.units):
                continue
            is_spent = how in ("total", "mean") and aggregates["maximum"] < 0
            if not self._fits(
                value,
                column.units,
                any_sign=is_spent,
                is_exact=self.digits < 3 and how == "total" and how not in self.kinds,
            ):
                continue
            if how in ("minimum", "maximum"):
                extreme = superlative_of(self.judgement.text_of(self.reading.place.clause))
                is_turned = value < 0 < self.reading.value
                if extreme and (extreme == how) == is_turned:
                    continue
                rows = [source for source in rows if float(source.value) == value][:1]
            return Derivation(how, tuple(rows), value, column.units)
        return None

    def _has_rows(self, group: str) -> bool:
        """Whether the text names several rows of a group."""
        return any(len(self.judgement.named(scope).get(group, ())) > 1 for scope in self.scopes)

    def _subsets(self, column: Column) -> Iterator[list[Source]]:
        """The rows of a column that are named or shown, and those whose text has a value that is named."""
        count = len(column.sources)
        first = column.sources[0].record
        groups = {record.group for record in first.chain} if first is not None else set()
        several: list[Collection[Record]] = [
            records for group, records in self._named_sets if group in groups
        ]
        for records in (*several, *(self._valued(column.group) if count <= _MAX_ROWS else ())):
            rows = column.of(records)
            if 1 < len(rows) < count:
                yield rows
                once = {_row_of(source, records): source for source in rows}
                if 1 < len(once) < len(rows):
                    yield [*once.values()]  # an output may list one flight in several pairs
        shown = self._shown_by_key.get(column.key, ())
        rows = [source for source in column.sources[-_MAX_ROWS:] if source in shown] if len(shown) > 1 else []
        if 1 < len(rows) < count:
            yield rows

    @cached_property
    def _named_sets(self) -> list[tuple[str, set[Record]]]:
        """The records that the scopes name, each set once."""
        sets: list[tuple[str, set[Record]]] = []
        for scope in self.scopes:
            for group, records in self.judgement.named(scope).items():
                if not any(records is other for _, other in sets):
                    sets.append((group, records))
        return sets

    @cached_property
    def _shown_by_key(self) -> dict[str, set[Source]]:
        """The sources of the numbers that are shown."""
        keys: dict[str, set[Source]] = {}
        for operand in self.operands:
            for source in operand.sources if operand.is_shown else ():
                keys.setdefault(source.key, set()).add(source)
        return keys

    def _valued(self, group: str) -> list[list[Record]]:
        """The rows of a group whose text has a value that the answer names."""
        if group not in self._values:
            rows = self.owner._groups.get(group)
            self._values[group] = [] if rows is None else [*self._with_value(rows)]
        return self._values[group]

    def _with_value(self, rows: Rows) -> Iterator[list[Record]]:
        """The rows whose text has a value that the answer names."""
        hits: dict[tuple[str, str], list[Record]] = {}
        words = [word for word in self.near_words if not word.isdecimal()]
        for word in (*words, *(word[:5] for word in words if len(word) > 4)):
            for key, text, records in rows.with_word(word):
                if len(records) < len(rows.records) and self._names_value(key, text, self.near_words):
                    hits[key, text] = records
        close = {key for key, text in hits if self._names_value(key, text, self.clause_words)}
        for (key, text), records in hits.items():
            if key not in close or self._names_value(key, text, self.clause_words):
                yield records

    def _names_value(self, key: str, text: str, said: frozenset[str]) -> bool:
        stem, words = _words_of_value(key, text)
        is_absent = text in table_words("absent") and not _words_of("no").isdisjoint(said)
        if text in ("True", "False") or (is_absent and stem <= said):
            return bool(stem) and stem <= said
        return bool(words) and (
            words <= said or any(_is_form(word, said) for word in words if len(words) == 1)
        )

    # ------------------------------------------------------------------------------------------------- counts

    def _count(self) -> Derivation | None:
        reading = self.reading
        if not self.counts and self.units[0] not in TIME_UNITS:
            return None
        if not reading.renderings or reading.value % 1 or reading.value < 0 or reading.shape == "ordinal":
            return None
        count = int(reading.value)
        for source in reversed(self.owner.lists(count)):
            return Derivation("count", (source,), float(count))
        if (rows := self._beyond(count)) is not None:
            return Derivation("count", tuple(rows), float(count))
        is_other = not _words_of("the others").isdisjoint(self.clause_words)
        for group, several in self.owner.rows:
            records: Iterable[Record] | None = None
            size = len(several.records)
            if size == count or (is_other and size == count + 1):
                records = several.records
            else:
                records = next((rows for rows in self._with_value(several) if len(rows) == count), None)
                if records is None:
                    names = (self.judgement.named(scope).get(group, ()) for scope in self.scopes)
                    records = next((named for named in names if len(named) == count > 1), None)
            if records is not None:
                return Derivation("count", tuple(map(_stand_in, records)), float(count))
        return None

    def _beyond(self, count: int) -> list[Source] | None:
        """The values of a column above, or below, a number that the text shows or names, if they are so many."""
        if not count or _words_of("thresholds").isdisjoint(self.words):
            return None
        bounds = {
            operand.value
            for operand in self.operands
            if operand.moment is None and operand.rank <= _NAMED_FAR and operand.value != count
        }
        is_between = not _words_of("between").isdisjoint(self.words)
        if not {"zero", "freezing", "null"}.isdisjoint(self.words):
            bounds.add(0.0)
        named = [*self.owner.named(self.words)]
        for column in (*named, *self.owner.latest):
            if not 2 < len(column.sources) <= 100:
                continue
            values = sorted(float(source.value) for source in column.sources)
            for low, high in combinations(sorted(bounds), 2) if is_between else ():
                inside = bisect_right(values, high) - bisect_left(values, low)
                if inside == count and values[0] <= high and low <= values[-1]:
                    return [source for source in column.sources if low <= float(source.value) <= high]
            for bound in bounds:
                below = bisect_left(values, bound)
                if values[0] <= bound <= values[-1] and count in (len(values) - below, below):
                    is_above = count == len(values) - below
                    return [source for source in column.sources if (float(source.value) >= bound) == is_above]
        return None

    # --------------------------------------------------------------------------------------------------- sums

    def _sum(self) -> Derivation | None:
        """The sum of what is shown just before, where it adds up exactly; and the whole less its other parts."""
        return self._sum_of(_SHOWN) or self._sum_of(_BEFORE) or self._sum_of_record()

    def _sum_of_record(self) -> Derivation | None:
        """The sum of a number that is shown and of its neighbours in its record, to the last of three digits."""
        for operand in self.operands if self.digits > 2 else ():
            source, record = operand.source, operand.source.record
            if operand.rank > _SHOWN or record is None or len(record.values) > 12 or is_no_sum(source.units):
                continue
            rest = [own for own in record.values.values() if own is not source and own.units == source.units]
            for count in (1, 2):
                for some in combinations(
                    [own for own in rest if own.kind not in ("identifier", "index")], count
                ):
                    value = fsum(float(own.value) for own in (source, *some))
                    if self._fits(value, source.units, is_exact=True):
                        return Derivation("total", (source, *some), value, source.units)
        return None

    def _sum_of(self, rank: int) -> Derivation | None:
        at = self.reading.place.start
        for group in self.groups:
            if is_no_sum(group.units) or (factor := unit_factor(group.units, self.units)) is None:
                continue
            terms = {
                operand.at: (value, operand)
                for value, operand in zip(group.values, group.operands, strict=True)
                if operand.rank <= rank and operand.at >= 0
            }
            several = sorted(terms.values(), key=lambda term: abs(term[1].at - at))[:_MAX_SHOWN]
            if len(several) < 2 or not self._says_period(several[0][1].units):
                continue
            values = [value for value, _ in several]
            is_spent = max(values) < 0 or (self.reading.is_signed and min(values) > 0)
            elements = [*self._shown(-factor if is_spent else factor)]
            for places, value in _sums(values):
                is_run = places[-1] == len(places) - 1
                if not any(self._adds_up(element, value, len(places), is_run) for element in elements):
                    continue
                operands = [several[place][1] for place in places]
                if self.units and not self.counts and any(map(_counts_things, operands)):
                    continue
                sources = tuple(source for operand in operands for source in operand.sources)
                return Derivation("total", sources, value, group.units)
        return None

    def _adds_up(self, element: Shown, value: float, count: int, is_run: bool) -> bool:
        """Whether a sum is what is shown: to the last digit, unless it is one of the numbers just before."""
        if not element.fits(value) or (count > 2 and self.digits < 2 and not is_run):
            return False
        return (is_run and self.digits > 1) or abs(element.value - value) <= _EXACT * max(abs(value), 1)

    def _conversion(self) -> Derivation | None:
        """What is shown in another unit."""
        for operand in self.operands:
            if (
                operand.is_shown
                and operand.units
                and self.units
                and set(operand.units).isdisjoint(self.units)
            ):
                if not is_counted(self.units) and not self.wrong_record and self.digits > 1:
                    if self._is_same_temperature(operand):
                        return Derivation("conversion", operand.sources, operand.value, operand.units)
                    if self._fits(operand.value, operand.units) and self._says_period(operand.units):
                        return Derivation("conversion", operand.sources, operand.value, operand.units)
        return None

    def _is_same_temperature(self, operand: Operand) -> bool:
        """Whether a number is a temperature that is shown, on another scale."""
        own, other = size_of_unit(self.units[0]), size_of_unit(operand.units[0])
        if not operand.source.units:
            return False  # of a bare number nobody knows that it is one
        if own is None or other is None or own.dimension != other.dimension or own.offset == other.offset:
            return False
        value = (operand.value * other.factor + other.offset - own.offset) / own.factor
        return any(renderings.fits(value) for renderings in self.reading.renderings)

    def _products(self) -> Derivation | None:
        """The sum of prices by quantities of one list; and what is left of a hundred percent."""
        if self.digits < 2:
            return None
        if self.is_share:
            return self._share_of_column()
        for _, several in self.owner.rows:
            rows = several.records
            if len(rows) > 200:
                continue
            keys = set.intersection(*(set(record.values) for record in rows))
            for quantity in keys:
                is_share = rows[0].values[quantity].units == ("%",) or quantity.lower() in table_words(
                    "weights"
                )
                if not is_share and quantity.lower() not in table_words("quantities"):
                    continue
                for key in keys - {quantity}:
                    sources = [record.values[key] for record in rows]
                    value = fsum(float(r.values[key].value) * float(r.values[quantity].value) for r in rows)
                    value /= 100 if is_share else 1
                    if self._fits(value, sources[0].units):
                        return Derivation("total", tuple(sources), value, sources[0].units)
        return None

    def _share_of_column(self) -> Derivation | None:
        for operand in self.operands:
            if operand.moment is not None or operand.rank > _NAMED or len(operand.sources) > 1:
                continue
            if operand.units[:1] == ("%",) and not _words_of("what is left").isdisjoint(self.words):
                if operand.is_shown and self._fits(100 - operand.value, ("%",), is_exact=True):
                    return Derivation("difference", operand.sources, 100 - operand.value, ("%",))
            whole = self.owner.column(operand.source)
            total = fsum(float(source.value) for source in whole)
            if len(whole) > 1 and total and operand.rank <= _SHOWN:
                share = 100 * float(operand.source.value) / total
                if self._fits(share, ("%",)):
                    return Derivation("share", (operand.source, *whole), share, ("%",))
        return None

    def _rate(self) -> Derivation | None:
        """So many for each: ``125 rows per second``, ``£1.40 per 100 g``, ``60 per picker``."""
        text, end = self.reading.place.layout.text, self.reading.place.end
        trailing = _PER.match(text, end)
        if self.is_share or self.digits < 2 or trailing is None:
            return None
        at = trailing.end()
        count = float(trailing["count"] or 1)
        units = tuple(words_table()["rate periods"].get(trailing["word"].lower(), "").split())
        units = units or units_at(text, at - len(trailing["word"]))[0]
        noun = folded_word(trailing["word"])
        shown = [operand for operand in self.operands if operand.moment is None and operand.rank <= _KIN]
        for b in shown:
            if units and not is_counted(units):
                factor = unit_factor(b.units, units) if b.units and not is_counted(b.units) else None
            else:
                factor = 1.0 if noun in b.source.stem or b.source.kind == "count" else None
            for a in shown if factor and b.value else ():
                value = a.value * count / (b.value * (factor or 1.0))
                if a is not b and a.sources != b.sources and (not a.units or a.units != b.units):
                    if self._fits(value, a.units):
                        return Derivation("quotient", (*a.sources, *b.sources), value, a.units)
        return None

    def _bound(self) -> Derivation | None:
        """A bound that a key before it keeps: ``p < 0.001``."""
        before = _BOUND.search(
            self.judgement.text_of((max(0, self.reading.place.start - 16), self.reading.place.start))
        )
        for column in self.owner.named([folded_word(before["key"])]) if before is not None else ():
            for source in column.sources[: -_MAX_ROWS - 1 : -1]:
                is_below = float(source.value) < self.reading.value
                if len(source.stem) == 1 and is_below == (before["sign"] in "<≤"):  # type: ignore[index]
                    hits = Derivation("bound", (source,), float(source.value), source.units)
                    if not self._of_other_record(hits):
                        return hits
        return None

    # ------------------------------------------------------------------------------------------------ moments

    def _moments(self) -> list[tuple[Moment, Source, int]]:
        hits = [(o.moment, o.source, o.rank) for o in self.operands if o.moment is not None]
        for _, source, _ in [*hits]:
            others = source.record.times[:4] if source.record is not None else ()
            hits += [
                (own.moment, own, _KIN) for own in others if own is not source and own.moment is not None
            ]
        for scope in self.scopes[:6]:
            for records in self.judgement.named(scope).values():
                for record in latest_of(records, 4):
                    hits += [(own.moment, own, _NAMED) for own in record.times if own.moment is not None]
        if (today := self._today()) is not None:
            hits.append((*today, _SHOWN))
        return hits[: 2 * _MAX_SHOWN]

    def _today(self) -> tuple[Moment, Source] | None:
        """The day of the conversation, where it is known."""
        today = self.judgement.provenance.today
        if today is None:
            return None
        now = Moment(today.year, today.month, today.day)
        return now, Source("said", "", "today", ("today",), "", 0, (), None, today.isoformat(), now)

    def _span(self) -> Derivation | None:
        """The time between two moments that are shown, or belong together."""
        moments = self._moments()
        pairs = [
            ((first, source), (second, other))
            for (first, source, rank), (second, other, other_rank) in combinations(moments, 2)
            if max(rank, other_rank) <= _BEFORE or _is_same(source, other)
        ]
        return self._span_of([*pairs, *self._kin_moments()])

    def _span_of(
        self, pairs: Iterable[tuple[tuple[Moment, Source], tuple[Moment, Source]]]
    ) -> Derivation | None:
        reading = self.reading
        unit = (
            self.units[0]
            if self.units and self.units[0] != "night"
            else "day"
            if reading.noun in table_words("days")
            else ""
        )
        size, seconds = size_of_unit(unit) if unit else None, size_of_unit("s")
        per = {"s": 1, "min": 60, "h": 3600, "day": 86400, "week": 604800}.get(unit)
        if size is None or seconds is None or per is None:
            return None
        mark = self.judgement.mark(reading)
        way = words_table()["punctuality"].get(mark.word, "") if mark is not None else ""
        for (first, source), (second, other) in pairs:
            offset, other_offset = _offset(first, source), _offset(second, other)
            is_zoned = per < 86400 and offset is not None and other_offset is not None
            for local in _between(first, second, is_exact=per < 86400):
                difference = local - (other_offset - offset) if is_zoned else local  # type: ignore[operator]
                extra = 1 if unit == "day" and "through" in self.words else 0
                if not any(
                    renderings.fits(abs(difference) / per + more)
                    for renderings in reading.renderings
                    for more in {0, extra}
                ):
                    continue
                a = Operand(0.0, (), (source,), _NAMED, -1, first)
                b = Operand(0.0, (), (other,), _NAMED, -1, second)
                later = self.judgement.directions.is_later(b, a) if way else None
                if (
                    later is not None
                    and difference
                    and ((difference if later else -difference) > 0) != (way == "late")
                ):
                    continue
                return Derivation("time span", (source, other), abs(difference) / per, (unit,))
        return None

    def _kin_moments(self) -> Iterator[tuple[tuple[Moment, Source], tuple[Moment, Source]]]:
        """Two times of the one record of an output that belong together: planned and actual, start and end."""
        for group, several in reversed([*islice(reversed(self.owner._groups.items()), 6)]):
            for record in several.records[:20] if group.endswith(" line") else several.records[:1]:
                times = [(own.moment, own) for own in record.times[:10] if own.moment is not None]
                if group.endswith(" line"):
                    times = [element for element in times if element[0].has_time]
                elif len(several.records) > 1:
                    continue
                if (now := self._today()) is not None and not _words_of("relative").isdisjoint(self.words):
                    yield from ((element, now) for element in times)
                for first, second in combinations(times, 2):
                    if len(times) == 2 or _are_ends(first[1], second[1]):
                        yield first, second

    def _moment(self) -> Derivation | None:
        """A date, or a time of day, that is so long before or after another."""
        if self.wrong_record:
            return None
        seconds = size_of_unit("s")
        lengths: list[tuple[float, Source | None]] = [
            (86400.0 * int(days), None)
            for days, words in words_table()["relative days"].items()
            if not self.words.isdisjoint(words.split())
        ]
        if "ago" not in self.words:  # that counts from today alone
            days_apart = sorted(shifts(self.judgement.text_of(self.sentence)))
            lengths += ((86400.0 * days, None) for days in days_apart)
        for operand in self.operands:
            if operand.moment is not None:
                continue
            unit = operand.units[0] if operand.units else ""
            size = size_of_unit("day" if unit == "night" else unit)
            if size is not None and seconds is not None and size.dimension == seconds.dimension:
                if operand.rank < _SAID and not is_clock(operand.source):
                    lengths.append((operand.value * size.factor / seconds.factor, operand.source))
        says = {words_table()["punctuality"].get(word, "") for word in self.words} - {""}
        signs = [sign for sign, word in ((1, "late"), (-1, "early")) if not says or word in says]
        for moment in self.reading.moments:
            if moment.year is not None and moment.month is None and self._is_year_before(moment.year):
                return Derivation("date", (), 0.0)
            for base, source, _ in (*self._moments(), *self._single_moments()):
                for length, other in lengths:
                    for sign in signs:
                        if _is_so_long_after(moment, base, sign * length):
                            sources = tuple(element for element in (source, other) if element is not None)
                            return Derivation("date", sources, 0.0)
        return None

    def _is_year_before(self, year: int) -> bool:
        """Whether an output is for the year before one in the text: ``prev_year``."""
        vocabulary = self.judgement.provenance.vocabulary
        is_said = any(True for _ in self.judgement.provenance.index.moments(Moment(year=year + 1)))
        return is_said and "year" in vocabulary and not table_words("former").isdisjoint(vocabulary)

    def _single_moments(self) -> Iterator[tuple[Moment, Source, int]]:
        for record in self.owner.single[:3]:
            for own in record.times[:6]:
                if own.moment is not None:
                    yield own.moment, own, _KIN


def _result_of(terms: list[tuple[Finding, str]]) -> float:
    """Return the result of numbers, each with the operator behind it: 3 "×", 118 "+", 45 "" → 399."""
    total, summand = 0.0, terms[0][0].reading.value  # the summand grows by factors until a sign ends it
    for (_, operator), (finding, _) in pairwise(terms):
        value = finding.reading.value
        if operator in ("+", "−", "–", "-"):
            total, summand = total + summand, value if operator == "+" else -value
        elif operator in ("/", "÷"):
            summand = summand / value if value else inf
        else:
            summand *= value * (0.01 if finding.reading.units == ("%",) else 1)
    return total + summand


_FROM = expression(r"\b(?:from|von|de)\s+[$€£]?\Z", re.IGNORECASE)
_EQUALS = expression(r"[^\d.;\n=]{0,20}=[^\w.;\n]{0,5}")
_OPERATOR = expression(
    r"(?:[^\W\d_]|[^\w+−–×*/÷\n])*?(?P<operator>[+−–×x*/÷]|[ ]-[ ])(?:[^\W\d_]|[^\w+−–×*/÷\n])*?"
)
_UNTIED = Derivation("", (), 0.0)  # it is in brackets behind a number from which it does not follow
NOTHING = Derivation("", (), 0.0)  # the text says from what a number follows, and it does not
_PER = expression(
    r"(?:\s[^\W\d_]+){0,2}?(?:\s(?:per|a|an|pro|je|par|each)\s|\s?/)(?:(?P<count>\d{1,6})\s)?(?P<word>[^\W\d_]+²?)",
    re.IGNORECASE,
)
_BOUND = expression(r"(?P<key>[^\W\d_]+)\s?(?P<sign>[<>≤≥])\s?\Z")
_OPENED = expression(r"[^\d.;\n(]{0,40}\((?:[^\d()]{0,24}\s)?[-+−~≈$€£]?\Z")
_OF = expression(r"[^\d.;\n()]{0,24}\s(?:out of|of|von|sur|/)\s[^\d.;\n()]{0,12}\Z", re.IGNORECASE)
_INSIDE = expression(r"[^\d.;\n()]{0,50}\((?:from |von |de )?[$€£]?\Z", re.IGNORECASE)
_JOINED = expression(
    r"[^\d.;\n()]{0,24}?(?:\s|^)(?:out of|of|von|sur|vs\.?|versus|instead of|rather than|statt|"
    r"au lieu de|against|to|/)\s[$€£]?\Z",
    re.IGNORECASE,
)


def _tied_places(reading: Reading, readings: Sequence[Reading]) -> tuple[int, int] | None:
    """Where the pair, or the value, is that the text puts before a number in brackets, or in brackets behind it."""
    text, start, end = reading.place.layout.text, reading.place.start, reading.place.end
    places = [(other.place.start, other.place.end) for other in readings if other.renderings or other.moments]
    place = bisect_left(places, (start, 0))
    before, after = (
        places[max(0, place - 2) : place],
        [span for span in places[place:] if span[0] > start][:2],
    )
    if before and _OPENED.fullmatch(text, before[-1][1], start) and text.find(")", end, end + 60) >= 0:
        is_pair = len(before) > 1 and _OF.fullmatch(text, before[-2][1], before[-1][0])
        return (before[-2][0], before[-1][0]) if is_pair else (before[-1][0], -1)
    if (
        len(after) > 1
        and _INSIDE.fullmatch(text, end, after[0][0])
        and _JOINED.fullmatch(text, after[0][1], after[1][0])
    ):
        return after[0][0], after[1][0]
    return None


def _row_of(source: Source, records: Collection[Record]) -> tuple[object, ...]:
    """The names of the row that a value is of, and the value: rows that are alike in both are one."""
    chain = source.record.chain if source.record is not None else ()
    return (source.value, *(name for own in chain if own in records for name in own.names))


def _is_wholly(a: Operand, b: Operand, first: int) -> bool:
    """Whether the other of two values is the whole of which the first is a part."""
    other = b if a.at == first else a
    return other.is_shown or not table_words("limits").isdisjoint(other.source.stem)


def _sums(values: list[float]) -> Iterator[tuple[tuple[int, ...], float]]:
    """The sums of the nearest values, of any two or three, and what the largest is without the others."""
    total = values[0] if values else 0.0
    for count in range(1, min(len(values), _MOST_ADDED)):
        total += values[count]
        yield tuple(range(count + 1)), total
    for count in (2, 3):
        for places in combinations(range(min(len(values), _MOST_ADDED)), count):
            yield places, fsum(values[place] for place in places)
    if 2 < len(values) <= _MOST_ADDED:
        whole = fsum(values)
        for first, value in enumerate(values):
            if value > 0 and 2 * value > whole:
                yield (first, *(place for place in range(len(values)) if place != first)), 2 * value - whole


def _stand_in(record: Record) -> Source:
    path = next((source.path[:-1] for source in record.values.values()), ())
    return Source("tool", record.call_id, record.group.partition(" ")[0], path, record.label, 1, (), record)


def _is_form(word: str, words: frozenset[str]) -> bool:
    """Whether a word is another form of one of several: ``delay`` of ``delayed``."""
    return len(word) > 4 and any(
        other.startswith(word[:-1]) and abs(len(other) - len(word)) < 4 for other in words if len(other) > 3
    )


def _operands_of(finding: Finding, rank: int) -> Iterator[Operand]:
    """What a number that is shown gives to others: its source's value, and its own where that is rounded."""
    reading, source, derivation = finding.reading, finding.source, finding.derivation
    at = reading.place.start
    if reading.moments and reading.shape == "moment":
        if source is not None and source.moment is not None:
            moment = _completed(reading.moments[0], source.moment)
            yield Operand(0.0, (), (source,), rank, at, moment)
            return
        if derivation is not None and derivation.sources and derivation.how == "date":
            yield Operand(0.0, (), derivation.sources, rank, at, reading.moments[0])
            return
    units = reading.units if not is_counted(reading.units) else ()
    if reading.units[:1] == ("night",):
        units = ("day",)
    if source is not None and not source.is_code and source.moment is None:
        own = source.units
        if source.is_open:
            own = tuple(unit for unit in reading.units if unit in source.units) or source.units[:1]
        value = float(source.value)
        if reading.is_signed and value > 0 > reading.value:
            value = -value
        base = base_of_unit(units[0]) if units and not own else 0.0
        if base and any(element.fits(value / base) for element in reading.renderings):
            value /= base  # 21340, which is shown as 21.3 km
        if not own and "%" in reading.units and abs(value) <= 1.5 and reading.value != value:
            value, own = value * 100, ("%",)
        own = own or units
        yield Operand(value, own, (source,), rank, at)
        if reading.renderings and (own == units) and abs(reading.value) != abs(value):
            yield Operand(reading.value, own, (source,), rank, at)
    elif derivation is not None and derivation.sources and reading.renderings:
        value = -derivation.value if reading.value < 0 < derivation.value else derivation.value
        yield Operand(value, derivation.units or units, derivation.sources, rank, at)
        if reading.value != derivation.value and units:
            yield Operand(reading.value, units, derivation.sources, rank, at)


def _units_of(finding: Finding) -> tuple[str, ...]:
    return (
        finding.source.units if finding.source is not None and finding.source.units else finding.reading.units
    )


def _completed(own: Moment, other: Moment | None) -> Moment:
    if other is None:
        return own
    return Moment(*(mine if mine is not None else theirs for mine, theirs in zip(own, other, strict=True)))


def _counts_things(operand: Operand) -> bool:
    source = operand.source
    return is_counted(operand.units) and (
        bool(operand.units) or source.kind == "count" or is_thing(source.key)
    )


def _is_kin(a: Operand, b: Operand) -> bool:
    """Whether two values are in one column, under one key, or in one record."""
    first, second = a.source, b.source
    if first.record is not None and second.record is not None:
        if first.record in second.record.chain or second.record in first.record.chain:
            return True
    return first.key == second.key


def _is_same(first: Source, second: Source) -> bool:
    """Whether two times are of one record, or under one key."""
    return (
        first.record is None
        or second.record is None
        or first.record is second.record
        or first.key == second.key
    )


@cache
def _ends() -> list[frozenset[str]]:
    return [frozenset(words.split()) for words in words_table()["ends"].values()]


def _are_ends(first: Source, second: Source) -> bool:
    """Whether two times are the two ends of one thing: start and end, planned and actual."""
    own, other = set(first.stem), set(second.stem)
    return bool(own & other) or any(ends & own and ends & other for ends in _ends())


def _between(first: Moment, second: Moment, *, is_exact: bool = False) -> Iterator[float]:
    """The seconds from one moment to another; of two times of day also over midnight."""
    on, other = first.on, second.on
    if on is None and first.has_date and second.has_date:
        on = date(second.year or 2025, first.month or 1, first.day or 1)
        other = date(second.year or 2025, second.month or 1, second.day or 1)
    if on is not None and second.has_date and other is None:
        other = date(on.year, second.month or 1, second.day or 1)
    if on is not None and other is None and not second.has_time:
        return
    days = None if on is None or other is None else (other - on).days * 86400
    if first.has_time and second.has_time:
        seconds = _seconds(second) - _seconds(first)
        if days is not None:
            yield float(days + seconds)
        else:
            yield float(seconds)
            yield float(seconds + (86400 if seconds < 0 else -86400))
    if days is not None and not (is_exact and first.has_time and second.has_time):
        yield float(days)


def _offset(moment: Moment, source: Source) -> float | None:
    """The seconds by which a moment is ahead of UTC, if it is shown as its output has it; else ``None``."""
    own = source.zone.utcoffset(None) if source.zone is not None else None
    is_own = source.moment is not None and moment.is_part_of(source.moment)
    return own.total_seconds() if own is not None and is_own else None


def _seconds(moment: Moment) -> int:
    return (moment.hour or 0) * 3600 + (moment.minute or 0) * 60 + (moment.second or 0)


def is_clock(source: Source) -> bool:
    """Whether a number is a time of day, which is as long only where it is shown to the minute."""
    return ":" in source.text and source.moment is None


def _is_so_long_after(moment: Moment, base: Moment, seconds: float) -> bool:
    """Whether a moment is so long after another, as far as both are said."""
    if moment.has_time and base.has_time and not moment.has_date:
        return (_seconds(base) + seconds) % 86400 == _seconds(moment)
    start = base.on
    if start is None or seconds % 86400 or not moment.has_date:
        return False
    try:
        day = start + timedelta(seconds=seconds)
    except OverflowError:
        return False
    return moment.is_part_of(Moment(day.year, day.month, day.day))

"""Where the numbers, dates, codes and names of a conversation are found again."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from datetime import tzinfo
from heapq import nlargest
from math import isfinite
from operator import attrgetter, itemgetter

from gllint_runtime.policy.moments import Moment, month_numbers
from gllint_runtime.policy.places import folded_word
from gllint_runtime.policy.text_units import size_of_unit, table_words
from gllint_runtime.provenance.records import Harvest, Record, Source, common_words
from gllint_runtime.provenance.zones import local_time

_FEW = 64  # new numbers that are put in their places one by one
_MOST_OF_ONE = 300  # sources of one value that are looked at
_MOST_TIMES = 5_000  # of UTC that are kept in each zone
_MOST_ZONES = 6
_MOST_PARTLY_NAMED = 40  # and that a word of their names may
_MOST_OF_A_NAME = 3  # words of a name that one of them may stand for
_LONG = 7  # digits of a code that may be written in groups, as a telephone number is
_ENDING = 4  # digits by which a card or an account is named
_NO_MONTHS = frozenset(("march", "mar", "may", "mars", "marche", "jan"))
_WEEK = re.compile(r"(?<![^\W\d])w\d{1,2}\Z")
_PLAIN = re.compile(r"[\W_]+")


class SortedIndex:
    """Sources in the order of a number."""

    def __init__(self) -> None:
        self._values: list[float] = []
        self._sources: list[Source] = []
        self._new: list[tuple[float, Source]] = []

    def add(self, value: float, source: Source) -> None:
        """Take in a source."""
        self._new.append((value, source))

    def between(self, low: float, high: float) -> list[Source]:
        """The sources from one value to another."""
        if self._new:
            self._sort()
        start = bisect_left(self._values, low)
        return self._sources[start : min(bisect_right(self._values, high), start + _MOST_OF_ONE)]

    def nearest(self, value: float) -> Iterator[Source]:
        """The sources that are nearest to a value."""
        if self._new:
            self._sort()
        place = bisect_left(self._values, value)
        for at in (place, place - 1, place + 1):
            if 0 <= at < len(self._values):
                yield self._sources[at]

    def _sort(self) -> None:
        if len(self._new) > _FEW:
            entries = sorted(
                [*zip(self._values, self._sources, strict=True), *self._new], key=lambda entry: entry[0]
            )
            self._values = [value for value, _ in entries]
            self._sources = [source for _, source in entries]
        else:
            for value, source in self._new:
                place = bisect_right(self._values, value)
                self._values.insert(place, value)
                self._sources.insert(place, source)
        self._new.clear()


class Index:
    """All that a conversation brought, by value, by size, by moment, by code."""

    def __init__(self) -> None:
        self._by_value = SortedIndex()
        self._by_size: dict[object, SortedIndex] = {}
        self._moments: dict[tuple[str, object], list[Source]] = {}
        self._codes: dict[str, list[Source]] = {}
        self._endings: dict[str, list[Source]] = {}
        self._heads: dict[str, list[tuple[str, Source]]] = {}  # each with all of its letters and digits
        self._numerals: dict[str, list[tuple[str, Source]]] = {}  # codes of digits, by their last seven
        self._prefixes: dict[str, list[Source]] = {}
        self._hides_arguments = False

    def without_arguments(self) -> Index:
        """The same without what calls were given, which a model wrote itself."""
        other = copy(self)
        other._hides_arguments = True
        return other

    def _visible(self, sources: list[Source]) -> list[Source]:
        return [source for source in sources if not source.is_asked] if self._hides_arguments else sources

    def add(self, source: Source) -> None:
        """Take in a source."""
        if source.is_code:
            self._add_code(source)
        elif source.moment is not None:
            for key in _moment_keys(source.moment):
                self._moments.setdefault(key, []).append(source)
        else:
            value = float(source.value)
            if not isfinite(value):
                return
            self._by_value.add(value, source)
            dimensions = set()
            for unit in source.units:
                if (size := size_of_unit(unit)) is not None and size.dimension not in dimensions:
                    dimensions.add(size.dimension)
                    for element in source.units if source.is_open else (unit,):
                        if (own := size_of_unit(element)) is not None and own.dimension == size.dimension:
                            index = self._by_size.setdefault(size.dimension, SortedIndex())
                            index.add(value * own.factor + own.offset, source)

    def _add_code(self, source: Source) -> None:
        folded = source.text.casefold()
        plain = _PLAIN.sub("", folded)
        if letters := _letters_of(folded):
            self._prefixes.setdefault(letters, []).append(source)
        last = folded.rpartition("_")[2]  # gift_card_6276644
        parts = (last,) if len(last) > _ENDING and last.isdecimal() else ()
        if (week := _WEEK.search(folded)) is not None:
            parts = (*parts, week[0])  # 2026-W10
        for key in {folded, plain, folded.lstrip("#"), *parts}:
            self._codes.setdefault(key, []).append(source)
        if len(plain) > _ENDING and plain[-_ENDING:].isdecimal():
            self._endings.setdefault(plain[-_ENDING:], []).append(source)
        if len(plain) >= _LONG and plain.isdecimal():
            self._numerals.setdefault(plain[-_LONG:], []).append((plain, source))
        if len(plain) > 7:
            self._heads.setdefault(plain[:7], []).append((plain, source))

    def by_value(self, low: float, high: float) -> list[Source]:
        """The numbers of a value, whatever their unit."""
        return self._visible(self._by_value.between(low, high))

    def nearest(self, value: float) -> Iterator[Source]:
        """The numbers that are nearest to a value."""
        return self._by_value.nearest(value)

    def by_size(self, dimension: object, low: float, high: float) -> list[Source]:
        """The numbers with a unit of a dimension, by their value in its base units."""
        index = self._by_size.get(dimension)
        return self._visible(index.between(low, high)) if index is not None else []

    def moments(self, moment: Moment) -> Iterator[Source]:
        """The dates and times of which a moment is a part."""
        for key in _moment_keys(moment):
            for source in self._visible(self._moments.get(key, [])[-_MOST_OF_ONE:]):
                if source.moment is not None and moment.is_part_of(source.moment):
                    yield source
            return

    def of_week(self, week: int) -> Source | None:
        """A date that is in a week of its year."""
        for (part, _), sources in self._moments.items():
            for source in self._visible(sources[-_MOST_OF_ONE:]) if part == "day" else ():
                day = source.moment.on if source.moment is not None else None
                if day is not None and day.isocalendar().week == week:
                    return source
        return None

    @property
    def has_years(self) -> bool:
        """Whether any date has its year."""
        return any(part == "year" for part, _ in self._moments)

    def codes(self, code: str) -> list[Source]:
        """Who brought a code; of one of letters and digits also its beginning, as of a commit."""
        folded = code.casefold()
        hits = self._codes.get(folded) or self._codes.get(_PLAIN.sub("", folded))
        if hits:
            return self._visible(hits)
        plain = _PLAIN.sub("", folded)
        heads = self._heads.get(plain[:7], ())
        return self._visible([source for whole, source in heads if whole.startswith(plain)])

    def of_groups(self, text: str) -> list[Source]:
        """Who brought a long code of digits that is written in groups, with or without the code of its country."""
        digits = re.sub(r"\D", "", text).lstrip("0")
        return self._visible(
            [
                source
                for whole, source in self._numerals.get(digits[-_LONG:], ())
                if digits.endswith(whole.lstrip("0")) or whole.endswith(digits)
            ]
        )

    def of_same_name(self, text: str) -> Source | None:
        """A code with the same letters and another number; ``None`` where the letters are in none."""
        digits = len(re.sub(r"\D", "", text))
        sources = self._prefixes.get(_letters_of(text), ())
        return next((own for own in sources if len(re.sub(r"\D", "", own.text)) == digits), None)

    def ending(self, digits: str) -> list[Source]:
        """Who brought a longer code that ends in four digits."""
        return self._visible(self._endings.get(digits, []))


class LocalTimes:
    """The times of UTC in the outputs, as they are in the zones that the conversation shows."""

    def __init__(self) -> None:
        self._zones: dict[tzinfo, None] = {}
        self._sources: list[Source] = []
        self._index, self._size = Index(), 0  # how many of the sources are in the index

    def add_zones(self, zones: Iterable[tzinfo]) -> None:
        """Take in the zones that an output or a text shows, up to ``_MOST_ZONES``."""
        for zone in sorted(zones, key=str):
            if zone not in self._zones and len(self._zones) < _MOST_ZONES:
                self._zones[zone] = None
                self._index, self._size = Index(), 0

    def add(self, source: Source) -> None:
        """Take in a time of UTC; of very many the oldest are forgotten."""
        if source.moment is None or not source.moment.has_time:
            return
        self._sources.append(source)
        if len(self._sources) > 2 * _MOST_TIMES:
            del self._sources[:-_MOST_TIMES]
            self._index, self._size = Index(), 0

    def moments(self, moment: Moment) -> Iterator[Source]:
        """The local times of which a moment is a part."""
        if self._zones:
            for source in self._sources[self._size :]:
                for zone in self._zones:
                    if source.moment is not None and (own := local_time(source.moment, zone)) is not None:
                        self._index.add(replace(source, moment=own, zone=zone))
            self._size = len(self._sources)
        return self._index.moments(moment)


def _letters_of(code: str) -> str:
    return re.sub(r"[\W_]*\d.*", "", code.casefold(), flags=re.DOTALL)


def _moment_keys(moment: Moment) -> Iterator[tuple[str, object]]:
    if moment.month is not None and moment.day is not None:
        yield "day", (moment.month, moment.day)
    if moment.hour is not None:
        yield "time", (moment.hour, moment.minute)
    if moment.month is not None:
        yield "month", moment.month
        yield "quarter", (moment.month + 2) // 3
    if moment.quarter is not None:
        yield "quarter", moment.quarter
    if moment.day is not None:
        yield "date", moment.day
    if moment.year is not None:
        yield "year", moment.year


Members = dict[str, set[Record]]  # the records of each group of one shape
Name = tuple[int, int, Members]  # from where to where, and what it names
NamePart = tuple[int, list[tuple[Record, bool]]]  # where, and the records with whether their name is short


class Names:
    """Which records the words of a text name: each by a text of its own, in each group of records of one shape."""

    def __init__(self) -> None:
        self._records: dict[object, Members] = {}  # of each name, day, month and time
        self._lengths: dict[str, set[int]] = {}  # of the names that begin with a word
        self._by_word: dict[str, list[tuple[Record, bool]]] = {}
        self._sizes: dict[str, int] = {}
        self._count = 0

    def add(self, harvest: Harvest) -> None:
        """Take in the records of an output."""
        for record in harvest.records:
            self._count += 1
            record.number = self._count
            self._sizes[record.group] = self._sizes.get(record.group, 0) + 1
            parts: dict[str, bool] = {}  # the words of its names, and whether a short one has it
            for name in dict.fromkeys(record.names):
                self._add(name, record)
                self._lengths.setdefault(name[0], set()).add(len(name))
                for word in name if len(name) > 1 else ():
                    parts[word] = parts.get(word, False) or len(name) <= _MOST_OF_A_NAME
            for word in parts.keys() - common_words():
                if len(word) > 2 and not (word.isdecimal() and len(word) < 5):
                    self._by_word.setdefault(word, []).append((record, parts[word]))
            for moment in record.moments:
                if moment.month is not None and moment.day is not None:
                    self._add(("day", moment.month, moment.day), record)
                    self._add(("day", moment.month, moment.day, moment.year), record)
                if moment.month is not None:
                    self._add(("in month", moment.month), record)
                    self._add(("month", moment.year, moment.month), record)
                if moment.has_time:
                    self._add(("time", moment.hour, moment.minute), record)

    def _add(self, key: object, record: Record) -> None:
        self._records.setdefault(key, {}).setdefault(record.group, set()).add(record)

    def find(
        self, starts: Sequence[int], words: Sequence[str], moments: Iterable[tuple[int, Moment]]
    ) -> tuple[list[Name], list[NamePart]]:
        """The names, and the parts of names, that words of a text are, and dates at places of it."""
        hits: dict[tuple[int, int], Members] = {}
        for place, word in enumerate(words):
            for length in self._lengths.get(word, ()):
                records = self._records.get(tuple(words[place : place + length]))
                if records and place + length <= len(words):
                    hits[place, place + length] = records
        # A name within a longer one is none: "Widget" of "Widget Pro".
        inner = {
            span
            for span in hits
            if any(other != span and other[0] <= span[0] and span[1] <= other[1] for other in hits)
        }
        found = [
            (starts[first], starts[last - 1] + 1, groups)
            for (first, last), groups in hits.items()
            if (first, last) not in inner
        ]
        parts: list[NamePart] = []
        for at, word in zip(starts, words, strict=True):
            month = month_numbers().get(word)
            if month is not None and word not in _NO_MONTHS:
                found.append((at, at + 1, self._records.get(("in month", month), {})))
            if word in table_words("weekend"):
                days = ((folded_word(day),) for day in ("saturday", "sunday"))
                found.append((at, at + 1, self._of_any(days)))
            partly = self._by_word.get(word)
            if partly is not None and len(partly) <= _MOST_PARTLY_NAMED:
                parts.append((at, partly))
        for at, moment in moments:
            found.append((at, at + 1, self._at(moment)))
        return sorted(found, key=itemgetter(0)), parts

    def size(self, group: str) -> int:
        """How many records a group has."""
        return self._sizes.get(group, 0)

    def _at(self, moment: Moment) -> Members:
        """The records of a day, of a month, or of a time of day."""
        if moment.month is not None and moment.day is not None:
            day = ("day", moment.month, moment.day)
            keys = [day] if moment.year is None else [(*day, moment.year), (*day, None)]
            return self._of_any(keys)
        if moment.month is not None:
            return self._records.get(("month", moment.year, moment.month), {})
        if moment.has_time:
            return self._records.get(("time", moment.hour, moment.minute), {})
        return {}

    def _of_any(self, keys: Iterable[object]) -> Members:
        """The records that one of some keys has."""
        several = [members for key in keys if (members := self._records.get(key))]
        if len(several) == 1:
            return several[0]
        return {
            group: set().union(*(members.get(group, ()) for members in several))
            for group in {group: None for members in several for group in members}
        }


class Mentions:
    """The names, dates and parts of names in one text, and the records that each of them names.

    The sets of records are those of the index: they are read, and never changed.
    """

    def __init__(self, index: Names) -> None:
        self._index = index
        self._names: list[Name] = []  # in the order of the text, as the parts are
        self._parts: list[NamePart] = []
        # Where each of them begins, for a binary search.
        self._name_starts: list[int] = []
        self._part_starts: list[int] = []
        # The answers of `named`, by the numbers of the names in the stretches, -1, and the numbers of the parts.
        self._members: dict[tuple[int, ...], Members] = {}

    def read(
        self, starts: Sequence[int], words: Sequence[str], moments: Iterable[tuple[int, Moment]]
    ) -> None:
        """Read further words of the text, and the dates at places of it."""
        names, parts = self._index.find(starts, words, moments)
        self._names += names
        self._parts += parts
        self._name_starts += map(itemgetter(0), names)
        self._part_starts += map(itemgetter(0), parts)

    def named(self, spans: Iterable[tuple[int, int]]) -> Members:
        """The records that stretches name, by their group: those that have all its names, or each that has one."""
        names: list[int] = []
        parts: list[int] = []
        for start, end in spans:
            first = bisect_left(self._name_starts, start)
            last = bisect_left(self._name_starts, end)
            names += [place for place in range(first, last) if self._names[place][1] <= end]
            parts += range(bisect_left(self._part_starts, start), bisect_left(self._part_starts, end))
        key = (*names, -1, *parts)
        members = self._members.get(key)
        if members is None:
            members = self._members[key] = self._of(names, parts)
        return members

    def _of(self, names: list[int], parts: list[int]) -> Members:
        sets: dict[str, list[set[Record]]] = {}
        counts: dict[str, dict[Record, int]] = {}
        surely: set[Record] = set()  # by a word that is in the name of no other
        shortly: set[Record] = (
            set()
        )  # by a word of a short name: those of a description only show what is no name
        for place in names:
            for group, records in self._names[place][2].items():
                sets.setdefault(group, []).append(records)
        for place in parts:
            some = self._parts[place][1]
            named = [record for record, is_short in some if is_short]
            shortly.update(named)
            if len(some) == 1:
                surely.update(named)
            for record, _ in some:
                own = counts.setdefault(record.group, {})
                own[record] = own.get(record, 0) + 1
        hits = {
            group: several[0] if len(several) == 1 else set.intersection(*several) or set.union(*several)
            for group, several in sets.items()
        }
        for group, own in counts.items():
            if group in hits:
                if not hits[group].issuperset(more := surely & own.keys()):
                    hits[group] = hits[group] | more
            else:
                most = max(own.values())
                best = {record for record, count in own.items() if count == most}
                if len(best) > 1 and not set.intersection(*(set(record.names) for record in best)):
                    best = best & surely
                if best <= shortly and 0 < len(best) < self._index.size(group):
                    hits[group] = best
        return hits

    def last_place_of(self, chain: set[Record], span: tuple[int, int]) -> int:
        """Where a stretch last names one of some records; -1 where it does not."""
        names = self._names[bisect_left(self._name_starts, span[0]) : bisect_left(self._name_starts, span[1])]
        places = [
            start
            for start, _, groups in names
            if any(not chain.isdisjoint(records) for records in groups.values())
        ]
        parts = [
            start
            for start, records in self._parts[
                bisect_left(self._part_starts, span[0]) : bisect_left(self._part_starts, span[1])
            ]
            if any(record in chain for record, _ in records)
        ]
        return max([*places, *parts], default=-1)


def latest_of(records: Collection[Record], most: int) -> list[Record]:
    """The records that were returned last, in their order."""
    if len(records) > most:
        records = nlargest(most, records, key=attrgetter("number"))
    return sorted(records, key=attrgetter("number"))

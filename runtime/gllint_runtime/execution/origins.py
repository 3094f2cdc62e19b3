"""Where the numbers in the arguments of tool calls come from: a tool that echoes launders nothing.

Of outputs an exact value counts, or one that is converted to the unit of its parameter; of what the user said also what
is in words, in percent, or a sum; of the call itself the total of what its other arguments name (:mod:`.totals`). Text
that is quoted from the user or from an output brings its numbers along. What is beyond the bounds has no origin.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from functools import cached_property
from math import isfinite
from typing import Any

from gllint_runtime.execution.argument_units import (
    Change,
    Clash,
    Misfit,
    quantities_in,
    stands_in_other_unit,
    unit_of_holder,
)
from gllint_runtime.execution.names import Names
from gllint_runtime.execution.record import CallRecord, Origin
from gllint_runtime.execution.spoken import SpokenNumbers, as_argument, converted
from gllint_runtime.execution.totals import Totals
from gllint_runtime.policy.expressions import expression
from gllint_runtime.policy.figures import figures
from gllint_runtime.policy.names import read_name
from gllint_runtime.policy.numbers import is_in_symbol, scan_naked_numbers
from gllint_runtime.policy.parameter_units import ParameterUnit, ParameterUnits
from gllint_runtime.policy.rendered_text import is_numeral
from gllint_runtime.policy.schemas import Path, Quantity, show_path
from gllint_runtime.policy.text_units import size_of_unit
from gllint_runtime.policy.units import unit_meant

Source = tuple[str, str | None, bool]
"""The last three fields of an :class:`Origin`: kind, source, grounded."""

_USER: Source = ("user", None, True)

_GROUPING = str.maketrans("", "", ",'’_ \u00a0\u2009\u202f")
_TYPED_NUMBER = expression(r"\d\d*(?:[.,'’_ \u00a0\u2009\u202f]\d+)*(?:[eE][+-]?\d+)?")
_DIGITS = expression("[0-9]+")
_WRITTEN_NUMBER = expression(
    r"\s{0,9}[-+]?(?:[0-9]{1,3}(?:,[0-9]{3}){1,5}|[0-9]{1,20})(?:\.[0-9]{1,20})?(?:[eE][-+]?[0-9]{1,2})?\s{0,9}"
)
# Where a quotation may begin and end: it is not a part of a longer number or word.
_BEGIN = expression(r"(?<![\w.,])")
_END = expression(r"(?!\w|[.,]\d)")

_FLAT = frozenset({str, float, int, bool, type(None)})

_BETWEEN = "\0"

_MAX_HEARD = 1_000_000  # characters of what a user said
_MAX_TRACED = 10_000  # numbers of one call's arguments
_MAX_TRACED_TEXTS = 200  # texts among them that hold a number
_MAX_TRACED_LETTERS = 100_000
_MAX_QUOTED = 2_000_000  # characters of texts that may be quoted; beyond, the oldest cannot be
_MAX_SEARCHED = 1_000_000  # characters of outputs that are text alone
_MAX_PLAIN = 200_000  # numbers of outputs that are no measures
_MAX_PLACES = 2_000  # at which a text is looked for
_MAX_CONVERTED = 50  # numbers of one call that are looked for in other words and units
_LARGEST_ROUNDED = 10**15
_LEAST_WRITTEN, _LEAST_SIGNIFICANT = 4, 3  # digits that are more than chance
_MAX_UNITS = 20  # in which outputs have one number
_UNIT_BEHIND = expression(r"[ \u00a0\u202f-]?([^\s,;:!?()\"']+(?:[ \u00a0\u202f][^\s,;:!?()\"']+){0,3})")


class Origins:
    """The numbers and the texts that a run may work with, and where each was first seen."""

    def __init__(
        self,
        constants: Mapping[str, Any],
        heard: Iterable[str | CallRecord] = (),
        kinds: Collection[str] = (),
        shapes: Collection[str] = (),
    ) -> None:
        self._shapes = shapes
        self._names: Names[Source] | None = None if {*kinds} <= {"numbers"} else Names(kinds)
        self._counts_numbers = not kinds or "numbers" in kinds
        self._unread = [*heard]  # what no number has had to be traced to yet
        self._sources: dict[Any, Source] = {}
        self._constants = constants
        self._user_texts: list[str] = []
        self._unmeasured: list[CallRecord] = []  # whose units nobody had to ask for yet
        self._units: dict[Any, dict[str, tuple[CallRecord, Path]]] = {}
        self._in_order: list[float] = []  # the same numbers
        # The same by the dimension of their unit: the value in its base unit, a number that tells alike ones apart.
        self._by_size: dict[object, list[tuple[Any, ...]]] = {}
        self._measured = 0
        for name, value in constants.items():
            self._sources.setdefault(value, ("constant", name, True))
        # The texts that a user, or an output, holds in one, by which a quotation is found fastest; and their paths.
        self._totals = Totals()
        # Outputs whose plain numbers (an id under one of the plain keys), or text without any number beside it, no
        # number had to be looked for in yet.
        self._unsearched: list[CallRecord] = []
        self._plain: dict[float, Source] = {}
        self._searchable = _MAX_SEARCHED
        self._quotable: deque[tuple[str, CallRecord | None, list[Path]]] = deque()
        self._unquoted: list[str | CallRecord] = []  # what no text had to be looked for in yet
        self._letters = 0
        self._conversions: int  # that are left to the call whose arguments are traced

    @cached_property
    def _spoken(self) -> SpokenNumbers:
        return SpokenNumbers(self._user_texts)

    def trace(
        self,
        arguments: Mapping[str, Any],
        declared: ParameterUnits,
        changes: Iterable[Change] = (),
        *,
        judges_units: bool = False,
        citations: Mapping[Path, Origin | None],
    ) -> tuple[tuple[Origin, ...], list[Misfit], list[Clash]]:
        """The origin of every number in ``arguments``, those inside text included; which have another unit, or basis.

        ``declared`` says in which units they are taken, which is not judged unless ``judges_units``, and from whom
        (``x-source``). ``changes`` are the numbers that were converted already. ``citations`` are the parts of claims
        that hold: the origins of their numbers, and ``None`` for each text, which says where that is.
        """
        for new in self._unread:
            self._read(new)
        self._unread.clear()
        origins: list[Origin] = []
        misfits: list[Misfit] = []
        clashes: list[Clash] = []
        # What was sent as a Quantity, by the path of its number.
        sent = self._sent(arguments, changes) if judges_units else {}
        texts = letters = 0
        self._conversions = _MAX_CONVERTED
        totals: dict[Any, Any] = {}  # of this call, once one had to be worked out
        has_sources = declared.has_sources
        for path, value in _leaves(arguments):
            kind = type(value)
            demand = declared.at(path).sources if has_sources else ()
            if "any" in demand:
                continue
            if kind is str:
                if path in citations or not _holds_numeral(value):
                    continue
                texts += 1
                letters += len(value)
            elif kind is not float and kind is not int:
                continue
            if len(origins) >= _MAX_TRACED or texts > _MAX_TRACED_TEXTS or letters > _MAX_TRACED_LETTERS:
                origins.append(Origin(show_path(path), "the rest, too much to trace", "none", grounded=False))
                break
            if kind is str:
                if judges_units and (number := _number_of(value)) is not None:
                    self._judge_unit(path, number, declared, misfits)
                    self._compare_basis(path, number, "", declared, clashes)
                origins.extend(_demanded(o, demand) for o in self._in_text(path, value, declared))
                continue
            if sent and (quantity := sent.get(path)) is not None:
                origin = citations.get(path) or self._of_quantity(path, value, *quantity, declared)
                origins.append(_demanded(origin, demand))
                self._compare_basis(path, quantity[0].value, quantity[0].unit, declared, clashes)
                continue
            origin = citations.get(path) or self._origin(path, value, (value,), declared)
            parameter = declared.at(path)
            if origin.kind == "none" and self._conversions:
                self._conversions -= 1
                origin = self._rephrased(origin, parameter.readings)
                if origin.kind == "none" and (source := self._in_plain_output(value)):
                    origin = Origin(origin.path, value, *source)
                if origin.kind == "none" and value and (total := self._total(arguments, path, value, totals)):
                    origin = Origin(origin.path, value, *total)
                if judges_units and parameter.readings and origin.kind == "none":
                    misfits.extend(self._rounded(path, value, parameter))
            if demand and origin.kind not in demand:
                origin = self._from_demanded(origin, demand, parameter.readings)
            if judges_units:
                if parameter.readings:
                    origin = self._in_unit(origin, path, value, parameter, misfits)
                if parameter.basis is not None:
                    self._compare_basis(path, value, "", declared, clashes)
            if self._counts_numbers or path in citations:
                origins.append(_demanded(origin, demand))
        return tuple(origins), misfits, clashes

    def _compare_basis(
        self, path: Path, value: Any, unit: str, parameters: ParameterUnits, clashes: list[Clash]
    ) -> None:
        """Enter a number that outputs have, perhaps in another unit, on another basis than its parameter's alone.

        ``unit`` is what it was sent in; none where it is bare.
        """
        place = path[:-1] if path[-1] == "value" and len(path) > 1 else path
        parameter = parameters.at(place)
        basis = parameter.basis
        if basis is None:
            return
        places = [*self._holders(value).values()]
        if not places and self._conversions and (units := (unit,) if unit else parameter.readings):
            self._conversions -= 1
            places = [place for place in (self._converted(value, units),) if place is not None]
        bases = {record.output.bases.get(where) for record, where in places}
        if bases and None not in bases and basis not in bases:
            record, where = places[0]
            clashes.append(
                Clash(path, parameter, str(record.output.bases[where]), str(_source(record, where)[1]))
            )

    def _rephrased(self, origin: Origin, units: Collection[str]) -> Origin:
        """The origin of a number that was said in words, in percent, in another unit, or as a sum."""
        if (said := self._spoken.origin(origin.value, units)) is not None:
            return Origin(origin.path, origin.value, "user", said)
        if units and (place := self._converted(origin.value, units)) is not None:
            return Origin(origin.path, origin.value, *_source(*place))
        return origin

    def _from_demanded(self, origin: Origin, demand: Collection[str], units: Collection[str]) -> Origin:
        """The same number from somebody whom its tool asks for, where they have it, too."""
        if "user" in demand and (said := self._spoken.origin(origin.value, units)) is not None:
            return Origin(origin.path, origin.value, "user", said)
        if "tool" in demand and (source := self._in_plain_output(origin.value)):
            return Origin(origin.path, origin.value, *source)
        names = [name for name, value in self._constants.items() if value == origin.value]
        if "constant" in demand and names:
            return Origin(origin.path, origin.value, "constant", names[0])
        return origin

    def _converted(self, value: Any, units: Collection[str]) -> tuple[CallRecord, Path] | None:
        """Where an output has a number that is ``value`` in one of ``units``."""
        self._holders(value)
        for target in units:
            size = size_of_unit(unit_meant(target) or target)
            if size is None or not isinstance(value, (int, float)):
                continue
            base, near = value * size.factor + size.offset, max(abs(value) * 0.01, 1.0) * size.factor
            sizes = self._by_size.get(size.dimension, [])
            start = bisect_left(sizes, (base - near,))
            place: tuple[CallRecord, Path]
            for _, _, number, unit, place in sizes[start : bisect_left(sizes, (base + near,), start)]:
                if converted({(number, unit): place}, value, (target,)) is not None:
                    return place
        return None

    def _sent(
        self, arguments: Mapping[str, Any], changes: Iterable[Change]
    ) -> dict[Path, tuple[Quantity, str]]:
        """The Quantities among the arguments as they were sent, with the unit that their number is in now."""
        sent = {}
        if not _FLAT.issuperset(map(type, arguments.values())):
            sent = {
                (*path, key): (quantity, quantity.unit)
                for path, key, quantity in quantities_in(arguments, self._shapes)
            }
        for change in changes:
            place = (*change.path, "value")
            sent[place if place in sent else change.path] = change.sent, change.result.unit
        return sent

    def _of_quantity(
        self, path: Path, value: Any, sent: Quantity, unit: str, declared: ParameterUnits
    ) -> Origin:
        """The origin of a number that was sent with its unit. One that an output has in another has none of its own."""
        origin = self._origin(path, sent.value, (sent.value,), declared)
        source_unit, is_other = self._unit_of_source(sent.value, ParameterUnit((sent.unit,)))
        grounded = origin.grounded and not (is_other and origin.kind == "tool")
        return Origin(
            origin.path, value, origin.kind, origin.source, grounded, unit, source_unit or sent.unit
        )

    def _in_unit(
        self, origin: Origin, path: Path, value: Any, parameter: ParameterUnit, misfits: list[Misfit]
    ) -> Origin:
        """The origin of a bare number with its units; one that is in another unit is entered as a misfit."""
        readings = parameter.readings
        unit = " or ".join(readings)
        where, _, kind, source, grounded, *_ = origin
        source_unit, is_other = self._unit_of_source(value, parameter)
        if source_unit is None:
            return Origin(where, value, kind, source, grounded, unit)
        held = _source(*self._holders(value)[source_unit])
        if is_other and not self._is_excused(value, parameter):
            misfits.append(Misfit(path, value, source_unit, str(held[1]), parameter))
        if kind == held[0]:  # of all that have this number, the one that has it in this unit
            kind, source, grounded = held
        return Origin(where, value, kind, source, grounded, unit, source_unit)

    def _judge_unit(self, path: Path, number: float, declared: ParameterUnits, misfits: list[Misfit]) -> None:
        """Enter the number that a text is, where that is in another unit than its parameter takes."""
        parameter = declared.at(path)
        if parameter.readings:
            origin = self._origin(path, number, (number,), declared)
            self._in_unit(origin, path, number, parameter, misfits)

    def _rounded(self, path: Path, value: Any, parameter: ParameterUnit) -> Iterator[Misfit]:
        """A number that nobody has, and that outputs have, before it was rounded, in another unit alone."""
        if not -_LARGEST_ROUNDED < value < _LARGEST_ROUNDED:
            return
        text = str(value).removesuffix(".0")
        digits = text.lstrip("-0.").replace(".", "")
        if len(digits) < _LEAST_WRITTEN or len(digits.rstrip("0")) < _LEAST_SIGNIFICANT or "e" in text:
            return
        half = 0.5 * 10.0 ** -len(text.partition(".")[2])
        misfits = []
        start = bisect_left(self._in_order, value - half)
        for number in self._in_order[start : bisect_right(self._in_order, value + half, start)]:
            units = self._units[number]
            unit, is_other = unit_of_holder(value, parameter, units)
            if unit is not None and is_other:
                source = str(_source(*units[unit])[1])
                misfits.append(Misfit(path, value, unit, source, parameter, number))
        yield from misfits[:1]

    def _unit_of_source(self, value: Any, parameter: ParameterUnit) -> tuple[str | None, bool]:
        return unit_of_holder(value, parameter, self._holders(value))

    def _holders(self, value: Any) -> Mapping[str, tuple[CallRecord, Path]]:
        """In which units outputs have a number, and where the first of each is."""
        for record in self._unmeasured:
            for path, quantity in record.output.measures():
                exact: Any = quantity.value
                self._measure(record, path, exact, quantity.unit)
                if type(exact) not in (float, int):  # and what JSON makes of it
                    self._measure(record, path, float(exact), quantity.unit)
            for path, number in record.output.raw_numbers.items():
                name = next((step for step in reversed(path) if type(step) is str), "")
                if (unit := read_name(name).unit) is not None:
                    self._measure(record, path, number, unit)
        self._unmeasured.clear()
        return self._units.get(value, {})

    def _measure(self, record: CallRecord, path: Path, value: Any, unit: str) -> None:
        if (
            value not in self._units
            and (type(value) is float or type(value) is int)
            and abs(value) < _LARGEST_ROUNDED
        ):
            insort(self._in_order, value)
        units = self._units.setdefault(value, {})
        if unit not in units and len(units) < _MAX_UNITS:
            units[unit] = (record, path)
            size = size_of_unit(unit)
            if size is not None and isinstance(value, (int, float)) and isfinite(value):
                entry = (value * size.factor + size.offset, self._measured, value, unit, (record, path))
                insort(self._by_size.setdefault(size.dimension, []), entry)
                self._measured += 1

    def _is_excused(self, value: Any, parameter: ParameterUnit) -> bool:
        """Whether the user, or a constant, has a number in the unit of its parameter, or without any."""
        for name, constant in self._constants.items():
            if constant == value and not stands_in_other_unit(
                value, read_name(name.replace(" ", "_")).unit, parameter
            ):
                return True
        return any(
            not stands_in_other_unit(value, unit, parameter)
            for text in self._user_texts
            for unit in _units_behind(text, value)
        )

    def learn(self, new: str | CallRecord) -> None:
        """Remember the numbers and the texts of what the user said, or of a call's output."""
        self._unread.append(new)

    def _read(self, new: str | CallRecord) -> None:
        if isinstance(new, str):
            new = new[:_MAX_HEARD]
            for number in _typed_numbers(new):
                self._sources[number] = _USER
            self._user_texts.append(new)
            self._unquoted.append(new)
            if self._names is not None:
                self._names.learn(new, _USER, is_user=True)
            return
        values = [(path, quantity.value) for path, quantity in new.output.measures()]
        for path, value in (*values, *new.output.raw_numbers.items()):
            source = self._sources.get(value)
            if source is None or not source[2]:
                self._sources[value] = _source(new, path)
        self._unmeasured.append(new)
        self._unquoted.append(new)
        self._unsearched.append(new)
        self._totals.learn(new)
        if self._names is not None:
            for path, value in _leaves(new.output.data):
                if type(value) is str:
                    self._names.learn(value, _source(new, path))

    def _total(
        self, arguments: Mapping[str, Any], path: Path, value: Any, memory: dict[Any, Any]
    ) -> Source | None:
        """Where the parts of a total, or its whole, came from."""
        return self._totals.origin(
            arguments,
            path,
            value,
            lambda number: self._sources.get(number) or self._plain.get(number),
            memory,
        )

    def _in_plain_output(self, value: Any) -> Source | None:
        """Where outputs have a number that is no measure: under a plain key, or in text that is all there is."""
        for record in self._unsearched:
            self._search(record)
        self._unsearched.clear()
        return self._plain.get(value)

    def _search(self, record: CallRecord) -> None:
        numbers: list[tuple[Path, Any]] = []
        texts: list[tuple[Path, str]] = []
        for path, leaf in _leaves(record.output.data):
            if type(leaf) is int or type(leaf) is float:
                numbers.append((path, leaf))
            elif type(leaf) is str and _holds_numeral(leaf):
                texts.append((path, leaf))
        if numbers or record.output.quantities:
            texts.clear()
        # What the call was told has its source elsewhere, or none; where it was told too much, all may be that.
        echo = _numbers_in(record.arguments) if numbers or texts else None
        if echo is None:
            return
        for path, number in numbers:
            if number not in echo:
                self._add_plain(number, _source(record, path))
        for path, text in texts:
            read = text[: self._searchable]
            self._searchable -= len(read)
            for figure in figures(read):
                if not figure.is_excused and not figure.is_name:
                    said = {as_argument(reading.value) for reading in figure.readings}
                    for number in said if echo.isdisjoint(said) else ():
                        self._add_plain(number, _source(record, path))

    def _add_plain(self, value: Any, source: Source) -> None:
        known = self._plain.get(value)
        if (known is None or not known[2]) and len(self._plain) < _MAX_PLAIN:
            self._plain[value] = source

    def _may_quote(self, new: str | CallRecord) -> None:
        record = None if isinstance(new, str) else new
        leaves = [((), new)] if isinstance(new, str) else _leaves(new.output.data)
        texts = [(path, text) for path, text in leaves if type(text) is str and _holds_numeral(text)]
        if texts:
            joined = _BETWEEN.join([text.replace(_BETWEEN, " ") for _, text in texts])
            self._quotable.append((joined, record, [path for path, _ in texts]))
            self._letters += len(joined)
        while self._letters > _MAX_QUOTED:
            self._letters -= len(self._quotable.popleft()[0])

    def _in_text(self, path: Path, text: str, declared: ParameterUnits) -> Iterator[Origin]:
        if parts := _listed(text):
            for part in parts:
                yield from self._in_text(path, part, declared)
            return
        # A text that is nothing but a number is one, also where prose would excuse it ("500." begins a list).
        names = [*self._names.names(text)] if self._names is not None else []
        numbers = self._numbers_beside(text, [(name.start, name.end) for name in names])
        quoted = [*self._quoted(text)] if numbers or names else []
        if _USER in quoted:
            return
        for name in names:
            source = name.origin or max(quoted, key=lambda source: source[2], default=None)
            yield (
                Origin(show_path(path), name.text, "none", grounded=False)
                if source is None
                else Origin(show_path(path), name.text, *source)
            )
        for number in numbers if self._counts_numbers else ():
            origin = self._origin(path, number, _typed_numbers(number), declared)
            if not origin.grounded:
                # What is no single number, an address say, was said where it stands as it is.
                sources = quoted or ([*self._quoted(number)] if _SEVERAL.search(number) else [])
                if sources:
                    origin = Origin(origin.path, number, *max(sources, key=lambda source: source[2]))
            yield origin

    def _numbers_beside(self, text: str, places: list[tuple[int, int]]) -> list[str]:
        """The numbers of a text but for those that are parts of its names and dates."""
        if _is_number(text):  # an identifier may be digits alone
            is_name = self._names is not None and self._names.knows(text) is not None
            return [] if is_name or places else [text]
        return [
            number.text
            for number in scan_naked_numbers(text)
            if not any(start < number.end and number.start < end for start, end in places)
        ]

    def _quoted(self, text: str) -> Iterator[Source]:
        """What ``text`` stands in, and not as a part of a longer number or word."""
        for new in self._unquoted:
            self._may_quote(new)
        self._unquoted.clear()
        text, places = text.replace(_BETWEEN, " "), _MAX_PLACES
        for whole, record, paths in self._quotable:
            start = whole.find(text)
            while start >= 0 and places:
                places -= 1
                if _BEGIN.match(whole, start) and _END.match(whole, start + len(text)):
                    yield _source(record, paths[whole.count(_BETWEEN, 0, start)]) if record else _USER
                    break
                start = whole.find(text, start + 1)

    def _origin(self, path: Path, value: Any, readings: Iterable[Any], declared: ParameterUnits) -> Origin:
        where = show_path(path)
        for reading in readings:
            if origin_source := self._sources.get(reading):
                kind, source, grounded = origin_source
                return Origin(where, value, kind, source, grounded)
        if value in declared.offered(path):
            return Origin(where, value, "schema")
        return Origin(where, value, "none", grounded=False)


def _demanded(origin: Origin, demand: Collection[str]) -> Origin:
    """The origin, which is none where the tool takes only what comes from elsewhere."""
    if not demand or origin.kind in demand or not origin.grounded:
        return origin
    return origin._replace(grounded=False, demand=" or ".join(demand))


def _source(record: CallRecord, path: Path) -> Source:
    return "tool", f"{record.call_id} {show_path(path)}", record.grounded is not False


def _numbers_in(arguments: Mapping[str, Any]) -> Set[Any] | None:
    """The numbers of a call's arguments, and those in their texts; ``None`` where the texts are too long."""
    numbers: set[Any] = set()
    letters = 0
    for _, leaf in _leaves(arguments):
        if type(leaf) is int or type(leaf) is float:
            numbers.add(leaf)
        elif type(leaf) is str and _holds_numeral(leaf):
            letters += len(leaf)
            if letters > _MAX_TRACED_LETTERS:
                return None
            for figure in figures(leaf):
                numbers.update(as_argument(reading.value) for reading in figure.readings)
    return numbers


def _holds_numeral(text: str) -> bool:
    return bool(_DIGITS.search(text)) if text.isascii() else any(map(is_numeral, {*text}))


def _leaves(data: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Whatever is neither object nor array in ``data``, in order; also the names of inner objects' members."""
    inner: Iterable[tuple[str | int, Any]]
    if type(data) is dict:
        if path:
            yield from (((*path, key), key) for key in data)
        inner = data.items()
    elif type(data) is list:
        inner = enumerate(data)
    else:
        yield path, data
        return
    for step, value in inner:
        if type(value) is dict or type(value) is list:
            yield from _leaves(value, (*path, step))
        else:
            yield (*path, step), value


_MARKS = "[](){}'\"` \t\r\n,;|"
_SEVERAL = expression(r"\d\.\d+\.\d")
_BLANK = expression(r"\s")
_PARTED = expression(r"[\[\](){}'\"`]|[,;|](?=\s)|\n")


def _listed(text: str) -> list[str]:
    """The items of a list that is written as a text (``"['8384507844', '7453605304']"``); none where it is prose."""
    if len(text) > _MAX_TRACED_LETTERS or not ((is_bracketed := text[:1] in "[(") or ", " in text):
        return []
    parts = [stripped for part in _PARTED.split(text) if (stripped := part.strip(_MARKS))]
    is_list = is_bracketed or not any(map(_BLANK.search, parts))
    return parts if is_list and len(parts) <= _MAX_TRACED_TEXTS and all(map(_holds_numeral, parts)) else []


def _is_number(text: str) -> bool:
    if not _TYPED_NUMBER.search(text):  # "nan" and "infinity" are words
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number_of(text: str) -> float | None:
    """The number that a text is from its beginning to its end, thousands set apart by commas or not."""
    match = _WRITTEN_NUMBER.fullmatch(text)
    return float(text.replace(",", "")) if match is not None else None


def _typed_numbers(text: str) -> Iterator[float]:
    """Each number typed in a text, in every reading that a person may mean (``2,5`` is 25 or 2.5)."""
    for match in _TYPED_NUMBER.finditer(text):
        if is_in_symbol(text, match.start()):
            continue
        written = match[0]
        readings = (written,) if written.isdecimal() else _readings(written)
        minus = match.start() and text[match.start() - 1] in "-−"
        for reading in readings:
            try:
                value = float(reading)
            except ValueError:
                continue
            yield value
            if minus:
                yield -value


def _units_behind(text: str, value: Any) -> Iterator[str | None]:
    """What stands behind each place where a user typed a number: the unit that it means, or ``None``."""
    for match in _TYPED_NUMBER.finditer(text):
        if value not in _typed_numbers(match[0]):
            continue
        behind = _UNIT_BEHIND.match(text, match.end())
        words = behind[1].split() if behind else []
        yield next(
            (
                unit
                for end in range(len(words), 0, -1)
                if (unit := unit_meant(" ".join(words[:end]).rstrip("."))) is not None
            ),
            None,
        )


_THOUSANDS = expression(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")


def _readings(written: str) -> set[str]:
    if _THOUSANDS.fullmatch(written):  # 1,500 is no 1.5
        return {written.translate(_GROUPING)}
    parts = [part for part in re.split(r"[ ,]", written) if part[0] != "0" or len(part) == 1]
    return {written, written.translate(_GROUPING), written.replace(",", "."), *parts}

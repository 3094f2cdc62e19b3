"""The content of a tool's output: numbers, dates and codes, each with its key, its unit and its record."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from functools import cache, lru_cache
from itertools import chain
from math import isfinite
from typing import Any, Literal

from gllint_runtime.policy.moments import Moment, moments, month_numbers, weekday_numbers
from gllint_runtime.policy.names import name_words, quantity_named, read_name
from gllint_runtime.policy.places import Declared, folded_word
from gllint_runtime.policy.reader import Reader, Reading, has_digit
from gllint_runtime.policy.schemas import Path, show_path
from gllint_runtime.policy.seen_text import SeenText
from gllint_runtime.policy.text_units import (
    counted_units,
    size_of_unit,
    table_words,
    unit_of_text,
    words_table,
)
from gllint_runtime.provenance.keys import is_thing as is_thing
from gllint_runtime.provenance.keys import kind_of, minor_sizes, scaled_unit, stem_of, units_of_key
from gllint_runtime.provenance.stated_units import (
    Context,
    context_after,
    context_in,
    context_inside,
    is_currency,
    is_number,
    unit_in,
    value_keys,
)
from gllint_runtime.provenance.tables import (
    NUMERAL,
    Keyed,
    Table,
    blocks_of,
    is_amount,
    keyed,
    rows_of,
    table_of,
)
from gllint_runtime.provenance.zones import zone_of_number, zone_of_time, zones_in

_MAX_LEAVES = 200_000  # of one output
_MAX_DEPTH = 64
_MAX_TEXT = 500_000  # characters of one text that are read
_MAX_NAME = 80
_MAX_ARGUMENT = 2_000
SEAT = re.compile(r"\d+[A-Z]")
_MAX_SENTENCES = 20  # of one call's arguments, which its output may say back
_MOST_WRAPPED = 3
_SHORT = 24  # characters of a field that may be a code as a whole: "BA 117"
_MAX_NAME_WORDS = 8
_BYTES_OF_SOURCE, _BYTES_OF_RECORD = 550, 1_500  # as measured, each with what only it refers to

Origin = Literal["tool", "text", "said"]
_WORD = re.compile(r"[^\W_]+")


@dataclass(slots=True, eq=False)
class Record:
    """An object of an output, or a row of a table: ``group`` is what it is one of, ``names`` the texts that name it."""

    group: str
    call_id: str
    parent: Record | None = None
    names: list[tuple[str, ...]] = field(default_factory=list)
    moments: list[Moment] = field(default_factory=list)
    stems: dict[str, tuple[str, ...]] = field(default_factory=dict)  # the words of each numeric key
    texts: dict[str, str] = field(default_factory=dict)
    flags: dict[str, bool] = field(default_factory=dict)
    values: dict[str, Source] = field(default_factory=dict)
    times: list[Source] = field(default_factory=list)
    parts: list[Record] = field(default_factory=list)  # the objects in it
    label: str = ""
    members: frozenset[str] = frozenset()
    number: int = 0  # in the order of the conversation

    @property
    def chain(self) -> Iterator[Record]:
        """The record and those that it is a part of."""
        record: Record | None = self
        while record is not None:
            yield record
            record = record.parent


@dataclass(slots=True, eq=False)
class Source:
    """A number, date or code that a tool or a person brought."""

    origin: Origin
    call_id: str
    tool: str
    path: Path
    key: str
    value: int | float
    units: tuple[str, ...]
    record: Record | None = None
    text: str = ""  # as a text has it
    moment: Moment | None = None
    kind: str | None = None
    is_open: bool = False  # each of ``units`` may be meant
    stem: tuple[str, ...] = ()
    is_code: bool = False
    is_asked: bool = False  # an argument, which the model wrote itself
    is_minor: bool = False  # the amount, if the integer is in hundredths of a currency
    zone: tzinfo | None = None  # of a time: the one that it is written with
    is_doubtful: bool = False  # if the conversation says that amounts are: the output does not

    @property
    def unit(self) -> str | None:
        """The unit; ``None`` where there is none, or several may be meant."""
        return self.units[0] if self.units and not self.is_open else None

    @property
    def shown_path(self) -> str:
        """The path as claims write it."""
        return show_path(self.path)

    def may_count(self, words: frozenset[str]) -> bool:
        """Whether it may say how many there are of what words name: no measure, size of a page or identifier."""
        is_measure = bool(self.units) and self.units[0] not in (*counted_units(), "count", "1")
        if not (is_measure and size_of_unit(self.units[0])) and not self.is_code:
            if self.kind not in ("identifier", "index"):
                return True
        names = () if self.record is None else chain.from_iterable(self.record.names)
        return not words.isdisjoint((*self.stem, *self.units, *names))

    def to_dict(self) -> dict[str, Any]:
        """The source as plain data."""
        value: Any = self.text if self.moment is not None or self.is_code else self.value
        return {
            "call_id": self.call_id,
            "tool": self.tool,
            "path": self.shown_path,
            "value": value,
            "unit": self.unit,
        }


@dataclass(eq=False)
class Harvest:
    """What one output, or one text, brought; ``tool`` is the tool, or who said the text."""

    tool: str
    sources: list[Source] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    lists: list[tuple[Path, int, Record]] = field(default_factory=list)
    texts: list[tuple[Path, str, Record]] = field(default_factory=list)
    quotable: list[Source] = field(default_factory=list)  # its texts as they are
    spoken: list[str] = field(default_factory=list)  # all whose words it uses
    answer: object = None  # the call with its output, which may come again
    zones: set[tzinfo] = field(default_factory=set)  # of time, that it shows
    is_cut: bool = False

    @property
    def weight(self) -> int:
        """About how many bytes it takes to remember it, with its places in an index."""
        texts = sum(map(len, self.spoken)) + 2 * sum(len(source.text) for source in self.quotable)
        return _BYTES_OF_SOURCE * len(self.sources) + _BYTES_OF_RECORD * len(self.records) + texts


class Harvester:
    """Reads the output of one call."""

    def __init__(
        self,
        call_id: str,
        tool: str,
        arguments: Mapping[str, Any] | None,
        reader: Reader,
        declared: Mapping[str, str] | None = None,
    ) -> None:
        self._call_id, self._tool, self._reader = call_id, tool, reader
        self._declared = declared or {}
        self._room = _MAX_LEAVES
        self.harvest = Harvest(tool)
        self.keys: set[str] = set()
        self._echo = {}
        root = self._record(f"{tool} $", None)
        sentences: set[str] = set()
        for path, leaf in _plain_leaves(arguments or {}):
            key = next((str(step) for step in reversed(path) if isinstance(step, str)), "")
            self._echo.setdefault(key, set()).add(_echoed(leaf))
            self.harvest.spoken.append(str(leaf))
            if isinstance(leaf, str) and " " in leaf.strip() and has_digit(leaf[:_MAX_ARGUMENT]):
                sentences.add(leaf.strip())
            self._name(root, key, leaf)
            self._asked(leaf, ("arguments", *path), key, root)
        self._sentences = sorted(sentences, key=len, reverse=True)[:_MAX_SENTENCES]
        self.root = root

    def _asked(self, leaf: Any, path: Path, key: str, root: Record) -> None:
        """Take in what a call asked for: its codes, dates, counts and times; no measure, which its tool may echo."""
        if isinstance(leaf, bool) or not isinstance(leaf, (int, float, str)) or not has_digit(str(leaf)):
            return
        if isinstance(leaf, str) and len(leaf) > _MAX_ARGUMENT:
            return
        if isinstance(leaf, str) and (window := _WINDOW.fullmatch(leaf)) is not None:
            time = (
                {"m": "min", "d": "day", "w": "week", "mo": "month", "y": "year"}.get(window[2], window[2]),
            )
            asked = Source(
                "text", self._call_id, self._tool, path, key, int(window[1]), time, root, leaf, is_asked=True
            )
            self.harvest.sources.append(asked)
        is_prose = isinstance(leaf, str) and " " in leaf.strip()
        readings = self._reader.read(str(leaf), prose=False)
        for reading in readings:
            for source in sources_of(reading, "text", self._call_id, self._tool, path, key, root):
                if is_prose and not source.is_code and source.moment is None:
                    continue
                own = source.units or units_of_key(key)[0]
                size = size_of_unit(own[0]) if own else None
                if (
                    source.is_code
                    or source.moment is not None
                    or not own
                    or size == size_of_unit("s")
                    or (size is not None and "time" in str(size.dimension) and len(str(size.dimension)) < 40)
                ):
                    source.stem = stem_of(key)
                    source.units = own
                    source.is_asked = True
                    self.harvest.sources.append(source)
        if isinstance(leaf, (str, int)):
            for word in _CODES.findall(str(leaf)):
                if has_digit(word):
                    self._code(word, path, key, root)
                    self.harvest.sources[-1].is_asked = True

    _echo: dict[str, set[Any]]

    def read(self, output: Any) -> Harvest:
        """The content of an output."""
        if (leaf := _only_leaf(output)) is not None and any(leaf in values for values in self._echo.values()):
            self._code(str(leaf), (), "", self.root)  # it says back what it was given
            return self.harvest
        self._node(output, (), "", self.root, Context(), "$")
        return self.harvest

    def _record(self, group: str, parent: Record | None) -> Record:
        record = Record(group, self._call_id, parent)
        if parent is not None and parent is not self.harvest.records[0]:
            parent.parts.append(record)
        self.harvest.records.append(record)
        return record

    def _node(self, node: Any, path: Path, key: str, record: Record, context: Context, pattern: str) -> None:
        self._room -= 1
        if self._room < 0 or len(path) > _MAX_DEPTH:
            self.harvest.is_cut = True
            return
        if isinstance(node, Mapping):
            self._object(node, path, key, record, context, pattern)
        elif isinstance(node, (list, tuple)):
            self._list(node, path, key, record, context, pattern)
        elif isinstance(node, str):
            self._text(node, path, key, record, context, pattern)
        elif isinstance(node, bool):
            record.flags[key] = node
        elif isinstance(node, (int, float)):
            self._number(node, path, key, record, context)

    # ------------------------------------------------------------------------------------------ containers

    def _object(
        self, node: Mapping[Any, Any], path: Path, key: str, record: Record, context: Context, pattern: str
    ) -> None:
        if node.keys() == {"value", "unit"} and isinstance(node["unit"], str) and is_number(node["value"]):
            self._quantity(node, path, key, record)
            return
        if is_number(node.get("nanos")) and (whole := _number_of(node.get("units"))) is not None:
            value = whole + node["nanos"] / 1e9
            code = unit_of_text(str(node.get("currencyCode", "")))
            self._number(value, path, key, record, Context(code), is_quantity=is_currency(code))
            return
        if (rows := _rows(node)) is not None:
            for name in rows[0]:
                self._in_name(name, (*path, name), record)
            for number, row in enumerate(rows):
                steps = {name: (*path, name, number) for name in row}
                self._row(row, steps, record, f"{pattern}[*]", context)
            self.harvest.lists.append((path, len(rows), record))
            rest = {name: value for name, value in node.items() if not isinstance(value, (list, tuple))}
            if len(rest) < len(node) and rest:
                self._object(rest, path, key, record, context, pattern)
            return
        if _calendar_keys(node):
            named = {str(name): value for name, value in node.items() if is_number(value)}
            for name, value in named.items():
                is_calendar = (
                    name.lower() in weekday_numbers()
                    or name.lower() in month_numbers()
                    or _CALENDAR.fullmatch(name)
                )
                if is_calendar:
                    self._row(
                        {"name": name, key or "value": value},
                        {"name": (*path, name), key or "value": (*path, name)},
                        record,
                        f"{pattern}.*",
                        context,
                    )
            node = {
                name: value
                for name, value in node.items()
                if not (
                    str(name) in named
                    and (
                        str(name).lower() in weekday_numbers()
                        or str(name).lower() in month_numbers()
                        or _CALENDAR.fullmatch(str(name))
                    )
                )
            }
        inner = context_in(node, context)
        # Of each row the same members are fields; elsewhere members of one shape are records, named by their keys.
        alike = _alike_members(node) if "[*]" not in pattern else frozenset()
        is_map = len(alike) == len(node) > 1
        if path and not is_map:
            record = self._record(f"{self._tool} {pattern}", record)
            record.label = key
            if key and not pattern.endswith("[*]"):
                self._name(record, "name", key)
            if (
                "_" in key
                and inner.unit is context.unit
                and (units := units_of_key(key))[0]
                and not units[1]
                and units[0][0] not in counted_units()
            ):
                inner = replace(inner, unit=units[0], factor=1.0)
        record.members = frozenset(map(str, node))
        self._date(node, lambda name: (*path, name), record)
        for name, value in node.items():
            name = str(name)
            if not isinstance(value, (Mapping, list, tuple)):
                self._name(record, name, value)
            elif isinstance(value, list) and len(value) < 3:  # the dimensions of a row: {"keys": ["Paris"]}
                for item in value:
                    self._name(record, name, item) if isinstance(item, str) else None
        within = context_inside(node, inner)
        for name, value in node.items():
            name = str(name)
            element = within if isinstance(value, (Mapping, list, tuple)) else inner
            beside = node.get(f"{name}_units", node.get(f"{name}_unit"))
            if isinstance(beside, (Mapping, str)):
                known = beside if isinstance(beside, Mapping) else {name: beside}
                named = {str(own): unit_in(str(unit)) or Declared((), 1.0, "") for own, unit in known.items()}
                element = replace(inner, units={**(inner.units or {}), **named})
            if name in alike:
                child = self._record(f"{self._tool} {pattern}.*", record)
                child.label = name
                self._name(child, "name", name)
                self._object_members(value, (*path, name), child, element, f"{pattern}.*")
            else:
                self._in_name(name, (*path, name), record)
                self._node(value, (*path, name), name, record, element, f"{pattern}.{name}")

    def _in_name(self, name: str, path: Path, record: Record) -> None:
        """Take in the numbers of a key: ``snow_24h_cm``."""
        if has_digit(name):
            for word in re.split(r"\W+|_", name):
                if has_digit(word) and not word.isdecimal():
                    self._code(word, path, name, record)  # HbA1c
            text = _GLUED.sub(" ", name.replace("_", " ")) if "-" not in name else name
            self._in_text(text, path, name, record, Context())

    def _object_members(
        self, node: Mapping[Any, Any], path: Path, record: Record, context: Context, pattern: str
    ) -> None:
        if has_digit(str(path[-1])):
            self._in_text(str(path[-1]), path, str(path[-1]), record, Context())
        if node.keys() == {"value", "unit"} and isinstance(node["unit"], str) and is_number(node["value"]):
            key = next((str(step) for step in reversed(path[:-1]) if isinstance(step, str)), "")
            self._quantity(node, path, key, record)
            return
        inner = context_in(node, context)
        for name, value in node.items():
            if not isinstance(value, (Mapping, list, tuple)):
                self._name(record, str(name), value)
            if _CALENDAR.fullmatch(str(name)):
                self._in_text(str(name), (*path, str(name)), "name", record, Context())
        for name, value in node.items():
            self._node(value, (*path, str(name)), str(name), record, inner, f"{pattern}.{name}")

    def _list(
        self, node: Sequence[Any], path: Path, key: str, record: Record, context: Context, pattern: str
    ) -> None:
        if (grid := _grid(node)) is not None:
            header, rows = grid
            for name in header:
                self._in_name(name, path, record)
            for number, row in enumerate(rows):
                first = number + (len(node) - len(rows))
                steps = {name: (*path, first, column) for column, name in enumerate(header)}
                self._row(dict(zip(header, row, strict=True)), steps, record, f"{pattern}[*]", context)
            self.harvest.lists.append((path, len(rows), record))
            return
        self.harvest.lists.append((path, len(node), record))
        if (columns := keyed(node)) is not None:
            self._keyed(columns, node, path, record, context, pattern)
            return
        for number, value in enumerate(node):
            self._node(value, (*path, number), key, record, context, f"{pattern}[*]")

    def _row(
        self, row: Mapping[str, Any], steps: Mapping[str, Path], parent: Record, group: str, context: Context
    ) -> None:
        record = self._record(f"{self._tool} {group}", parent)
        for name, value in row.items():
            self._name(record, name, value)
        self._date(row, steps.__getitem__, record)
        for name, value in row.items():
            self._node(value, steps[name], name, record, context, f"{group}.{name}")

    def _date(self, row: Mapping[Any, Any], path_of: Callable[[str], Path], record: Record) -> None:
        """Take in a date whose parts are members of their own: ``{"year": 2024, "month": 5}``."""
        names: dict[str, str] = {}
        values: dict[str, int] = {}
        for name, value in row.items():
            part = _parts_of_dates().get(str(name).lower())
            if part is not None and (number := _number_of_part(part, value)) is not None:
                names[part], values[part] = str(name), number
        finest = next((part for part in ("month", "quarter", "year") if part in values), None)
        if finest is None:
            return
        years = (own.year for element in record.chain for own in element.moments if own.year is not None)
        moment = Moment(**{"year": next(years, None), **values})
        if moment.is_real():
            path = path_of(names[finest])
            text = " ".join(f"{names[part]} {value}" for part, value in values.items())
            source = Source("tool", self._call_id, self._tool, path, "date", 0, (), record, text, moment)
            record.moments.append(moment)
            record.names += [(f"q{moment.quarter}",)] if moment.quarter else []
            record.times.append(source)
            self.harvest.sources.append(source)

    # --------------------------------------------------------------------------------------------- leaves

    def _quantity(self, node: Mapping[str, Any], path: Path, key: str, record: Record) -> None:
        unit, value = unit_in(node["unit"]), node["value"]
        if unit is not None and unit.factor not in (1.0, 100.0):  # bn EUR, and no ratio
            self._number(value * unit.factor, path, key, record, Context(unit.units), is_quantity=True)
            return
        units = unit_of_text(node["unit"]) if unit is None or unit.factor != 1.0 else unit.units
        self._number(value, path, key, record, Context(units), is_quantity=True)

    def _number(
        self,
        value: Any,
        path: Path,
        key: str,
        record: Record,
        context: Context,
        *,
        is_quantity: bool = False,
    ) -> None:
        if not is_number(value):
            return
        if not is_quantity and _echoed(value) in self._echo.get(key, ()):
            self._code(str(value), path, key, record)
            return
        units: tuple[str, ...] = context.unit if is_quantity else ()
        is_open = False
        if not is_quantity and (sized := scaled_unit(key)) is not None:
            (units, factor), is_quantity = sized, True
            value, is_open = value * factor, len(units) > 1
        if (zone := zone_of_number(key, value)) is not None:
            self.harvest.zones.add(zone)
        shown, factor = value, 1.0
        if not is_quantity:
            units, is_open, factor = self._units(path, key, context, record)
            if not units and context.unit and value % 1:  # the part of phones in null_pct is no phone
                units, factor = context.unit, context.factor
            value = value * factor if factor != 1.0 else value
            if (size := _size_of_minor(key) or _size_of_minor(record.label)) is not None:
                value, units = value / size, context.currency
        source = Source("tool", self._call_id, self._tool, path, key, value, units, record, is_open=is_open)
        source.kind = None if units else kind_of(key)
        source.stem = stem_of(key)
        self.keys.add(key)
        if source.stem:
            record.stems[key] = source.stem
        record.values.setdefault(key, source)
        self.harvest.sources.append(source)
        if factor == 100.0 and units == ("%",):  # a part of one, shown as such or in percent
            self.harvest.sources.append(replace(source, value=shown, units=()))
        if isinstance(value, int) and source.kind is None and not is_quantity and not context.is_sized:
            if (units and units == context.currency) or (not units and _is_amount(key)):
                # Nothing says which of the two it is: payment services keep hundredths next to a currency.
                is_doubtful = not context.is_minor or units != context.currency
                self.harvest.sources.append(
                    replace(source, value=value / 100, is_minor=True, is_doubtful=is_doubtful)
                )
        if not units and (size := _size_of_key(key)) is not None:
            self.harvest.sources.append(replace(source, value=value * size))
        if context.unit and units == context.unit != ("%",) and not is_quantity and 0 < abs(value) < 1:
            self.harvest.sources.append(replace(source, units=("1",)))  # a share has not the unit next to it
        if isinstance(value, int) and (source.kind in ("identifier", "index") or value > 99999) and not units:
            self._code(str(value), path, key, record)
        if (
            source.kind in ("time", "date", None)
            and not (is_quantity or units_of_key(key)[0])
            and isinstance(value, int)
            and (946684800 <= value < 4102444800 or 946684800_000 <= value < 4102444800_000)
        ):
            when = datetime.fromtimestamp(value if value < 4102444800 else value / 1000, UTC)
            moment = Moment(when.year, when.month, when.day, when.hour, when.minute, when.second)
            epoch = Source(
                "tool",
                self._call_id,
                self._tool,
                path,
                key,
                value,
                (),
                record,
                str(value),
                moment,
                stem=source.stem,
                zone=UTC,
            )
            record.times.append(epoch)
            record.moments.append(moment)
            self.harvest.sources.append(epoch)

    def _units(
        self, path: Path, key: str, context: Context, record: Record
    ) -> tuple[tuple[str, ...], bool, float]:
        """The units of a bare number, whether each of them may be meant, and the factor that they come with."""
        declared = self._declared.get(show_path(path)) or self._declared.get(
            f"{self._tool}.{show_path(path)}"
        )
        if declared:
            return unit_of_text(declared), False, 1.0
        rate = _quoted_rate(key, record)
        if rate is not None:
            return rate, False, 1.0
        if (named := context.of_key(key)) is not None:
            return named.units, False, named.factor
        is_least = key.lower() == "min" and "max" in record.members
        units, is_open = units_of_key(key) if not is_least else ((), False)
        if not units and key.lower() in _unit_keys_alone() and not is_least:
            return unit_of_text(key.lower()), True, 1.0
        if units and not is_open:
            return units, False, 1.0
        if not key or read_name(key).kind is not None:
            return (
                (context.unit or units, not context.unit and is_open, context.factor)
                if not key
                else (units, is_open, 1.0)
            )
        if context.unit:
            return context.unit, False, context.factor
        words = name_words(key)
        is_counted = is_thing(key) or key.lower() in table_words("quantities")
        is_money = (context.is_sized and not is_counted) or any(
            quantity_named(word) == "currency" or word in value_keys()
            for word in (words if context.is_minor else words[-1:])
        )
        if context.currency and (is_money or key.lower() in value_keys()):
            return context.currency, len(context.currency) > 1, context.factor
        return units, is_open, 1.0

    def _text(self, text: str, path: Path, key: str, record: Record, context: Context, pattern: str) -> None:
        text = text[:_MAX_TEXT]
        record.texts.setdefault(key, text)
        self.harvest.zones.update(zones_in(text))
        for sentence in self._sentences:
            text = _without(text, sentence)
        if text and not has_digit(text):
            if len(text) > 2 and text[0] in "{[":
                self._structured(text, path, key, record, context, pattern)
            return
        if len(text) > 2 and self._structured(text, path, key, record, context, pattern):
            return
        if NUMERAL.fullmatch(text.strip()):
            stripped = text.strip()
            try:
                value = int(stripped) if stripped.lstrip("+-").isdecimal() else float(stripped)
            except ValueError:
                value = 0
            if not (stripped.lstrip("+-").startswith("0") and stripped.isdecimal() and len(stripped) > 1):
                self._number(value, path, key, record, context)
            if stripped.isdecimal():
                self._code(stripped, path, key, record)
            if _CALENDAR.fullmatch(stripped):
                self.harvest.sources.append(
                    Source(
                        "tool",
                        self._call_id,
                        self._tool,
                        path,
                        key,
                        0,
                        (),
                        record,
                        stripped,
                        Moment(year=int(stripped[:4])),
                    )
                )
            return
        self._in_text(text, path, key, record, context)

    def _structured(
        self, text: str, path: Path, key: str, record: Record, context: Context, pattern: str
    ) -> bool:
        """Read a text that is JSON, a table, or the ``repr`` of a container, as what it is."""
        stripped = text.strip()
        if stripped[:3] == "```" and stripped.endswith("```"):
            stripped = (
                stripped.strip("`").removeprefix("json").removeprefix("csv").removeprefix("yaml").strip()
            )
        if stripped[:1] in ("{", "[") or (stripped[-1:] == ")" and _OBJECT.match(stripped)):
            value = _container(stripped)
            if value is not None:
                self._node(value, path, key, record, context, pattern)
                return True
        if _PAIRS.fullmatch(stripped) is not None:
            self._node(rows_of(_PAIR.findall(stripped)), path, key, record, context, pattern)
            return True
        if (parts := _embedded(text)) is not None:
            for part in parts:
                if isinstance(part, str) and has_digit(part):
                    self._in_text(part, path, key, record, context)
            values = [part for part in parts if not isinstance(part, str)]
            # Several are rows of one list, as those of JSON Lines: what names one names no other record of the call.
            self._node(values if len(values) > 1 else values[0], path, key, record, context, pattern)
            return True
        if stripped[:1] == "<" and not _ELEMENT.search(stripped) and (tags := _TAG.findall(stripped)):
            self._node([dict(_ATTRIBUTE.findall(tag)) for tag in tags], path, key, record, context, pattern)
            return True
        if _CELL.search(stripped):
            stripped = SeenText(stripped).text.strip()
        if stripped[:1] == "<" and (elements := _ELEMENT.findall(stripped)):
            self._node(rows_of(elements), path, key, record, context, pattern)
            for name, inner in _ATTRIBUTE.findall(stripped):
                self._text(inner, path, name, record, context, pattern)
            return True
        if (table := table_of(stripped)) is not None:
            self._table(table, path, key, record, context, pattern)
            return True
        if (blocks := blocks_of(stripped)) is None:
            return False
        is_parted = sum(not isinstance(block.body, str) for block in blocks) > 1
        for number, block in enumerate(blocks):
            own, place = record, (*path, number) if is_parted else path
            if is_parted and not isinstance(block.body, str):
                own = self._record(f"{self._tool} {pattern} block", record)
            if block.head:
                self._heading(block.head, place, key, own)
                context = context_after(block.head, context)
            if isinstance(block.body, str):
                self._in_text(block.body, place, key, record, context)
            elif isinstance(block.body, list):
                self._node(block.body, place, key, own, context, pattern)
            elif isinstance(block.body, dict):
                self._fields(block.body, place, own, context, f"{pattern} block" if is_parted else pattern)
            else:
                self._table(block.body, place, key, own, context, pattern)
        return True

    def _heading(self, text: str, path: Path, key: str, record: Record) -> None:
        """Take in the line above a table or fields: what it names, and its numbers."""
        label = _LABEL_END.split(text.strip(" #*-=/"), maxsplit=1)[0].strip(" *")
        self._name(record, "name", label)
        if has_digit(text):
            self._in_text(text, path, key, record, Context())

    def _fields(
        self, fields: Mapping[str, Any], path: Path, record: Record, context: Context, pattern: str
    ) -> None:
        inner = context_in(fields, context)
        for name, value in fields.items():
            if isinstance(value, str) and not is_amount(value):
                self._name(record, name, value)
            own = record
            if isinstance(value, Mapping) or has_digit(value):
                own = self._record(f"{self._tool} {pattern} line", record)
                own.label = name
                self._name(own, "name", name)
            if isinstance(value, Mapping):
                self._fields(value, (*path, name), own, inner, f"{pattern}.*")
            else:
                self._in_name(name, (*path, name), own)
                self._node(value, (*path, name), name, own, inner, f"{pattern}.{name}")

    def _table(
        self, table: Table, path: Path, key: str, record: Record, context: Context, pattern: str
    ) -> None:
        header, rows = table
        cells = [dict(zip(header, row, strict=False)) for row in rows]
        for name in header:
            self._in_name(name, path, record)
        self.harvest.lists.append((path, len(rows), record))
        if (columns := keyed(cells)) is not None:
            self._keyed(columns, cells, path, record, context, pattern)
            return
        for number, row in enumerate(cells):
            steps = {name: (*path, number, name) for name in row}
            self._row(row, steps, record, f"{pattern}[*]", context)

    def _keyed(
        self,
        columns: Keyed,
        rows: Sequence[Mapping[str, Any]],
        path: Path,
        record: Record,
        context: Context,
        pattern: str,
    ) -> None:
        """Read rows each of which is a field, as the fields that they are; of several columns each is a record."""
        for column in columns.values:
            own, group = record, pattern
            if len(columns.values) > 1:
                own, group = self._record(f"{self._tool} {pattern}.*", record), f"{pattern}.*"
                self._name(own, "name", column)
            for number, row in enumerate(rows):
                name, unit = row[columns.name], row.get(columns.unit)
                known = unit_in(unit) if isinstance(unit, str) else None
                inner = context if known is None else replace(context, units={name: known})
                self._in_name(name, (*path, number, columns.name), own)
                self._node(row[column], (*path, number, column), name, own, inner, f"{group}.{name}")
        rest = [*rows[0].keys() - {columns.name, columns.unit, *columns.values}]
        for number, row in enumerate(rows):
            for column in rest:
                self._node(
                    row[column], (*path, number, column), column, record, context, f"{pattern}.{column}"
                )

    def _in_text(self, text: str, path: Path, key: str, record: Record, context: Context) -> None:
        """The numbers, dates and codes in prose, or in a field that is a number with its unit."""
        readings = self._reader.read(text, prose=False)
        is_one = (
            len(readings) == 1
            and not text[: readings[0].start].strip(" $€£+-−")
            and not _WORD.search(text, readings[0].place.end)
        )
        is_line = "\n" in text
        origin: Origin = "tool" if is_one else "text"
        lines: dict[int, Record] = {}
        for reading in readings:
            own = record
            stem = stem_of(key)
            if is_line:
                line = reading.place.layout.line_at(reading.place.start)
                own = lines.get(line.start) or self._line_record(text, reading, record, key)
                lines[line.start] = own
            for source in sources_of(reading, origin, self._call_id, self._tool, path, key, own):
                if origin == "tool" and source.moment is None and not source.is_code and not source.units:
                    source.units, source.is_open, factor = self._units(path, key, context, own)
                    if (sized := scaled_unit(key)) is not None:
                        (source.units, factor), source.is_open = sized, len(sized[0]) > 1
                    source.value = source.value * factor if factor != 1.0 else source.value
                    source.kind = None if source.units else kind_of(key)
                source.stem = stem
                if source.moment is not None:
                    own.times.append(source)
                    source.zone = zone_of_time(source.text)
                    if source.zone not in (None, UTC):
                        self.harvest.zones.add(source.zone)
                if origin == "tool" and not source.is_code:
                    own.stems[key] = stem
                if origin == "tool" and source.moment is None and not source.is_code:
                    own.values.setdefault(key, source)
                self.harvest.sources.append(source)
        if not is_one:
            self.harvest.texts.append((path, text, record))
        if is_one or len(text) <= _SHORT:
            self._code(text.strip(), path, key, record)
        for word in code_words(text, readings):
            self._code(word, path, key, record, origin)

    def _line_record(self, text: str, reading: Reading, parent: Record, key: str) -> Record:
        layout = reading.place.layout
        line = layout.line_at(reading.place.start)
        record = self._record(f"{self._tool} {key} line", parent)
        head = layout.text[line.start : reading.place.start].strip(" -*•|#\t")
        label, *rest = _LABEL_END.split(head or layout.text[reading.end : line.end].strip(), maxsplit=1)
        label = label.strip()
        if rest or not (
            label.isalpha() and label.islower()
        ):  # "commit", "vite": a word of prose names no line
            self._name(record, "name", label)
        return record

    def _code(self, code: str, path: Path, key: str, record: Record, origin: Origin = "tool") -> None:
        source = Source(origin, self._call_id, self._tool, path, key, 0, (), record, code, is_code=True)
        source.stem = stem_of(key)
        self.harvest.sources.append(source)

    def _is_quantity(self, text: str) -> bool:
        """Whether a text is a number and its unit alone, which names no row: "$20", "135 lb". A seat "14C" does."""
        if not has_digit(text) or SEAT.fullmatch(text):
            return False
        readings = self._reader.read(text, prose=False)
        [reading] = readings if len(readings) == 1 else [None]
        return (
            reading is not None
            and bool(reading.units)
            and not reading.moments
            and not text[reading.end :].strip()
        )

    def _name(self, record: Record, key: str, value: Any) -> None:
        """Take in a text that may name a record."""
        if isinstance(value, bool) or value is None:
            return
        if isinstance(value, (int, float)):
            kind = read_name(key).kind
            if (
                isinstance(value, int)
                and key.lower() in ("n", "no", "nr", "number", "index", "id")
                and record.label
            ):
                record.names.append((folded_word(record.label), str(value)))
            if isinstance(value, int) and (
                kind in ("identifier", "index", "date")
                or key.lower() in ("year", "month", "day", "week", "hour", "quarter", "id", "number")
            ):
                stem = stem_of(key) or (folded_word(key),)
                record.names.append((*stem[-1:], str(value)) if value < 1000 else (str(value),))
            elif isinstance(value, int) and key == "name":
                record.names.append((str(value),))
            return
        if not isinstance(value, str) or not 0 < len(value) <= _MAX_NAME:
            return
        if not _is_identity(key) or self._is_quantity(value):
            return
        if (month := month_numbers().get(value.lower())) is not None:
            record.moments.append(Moment(month=month))
        if (weekday := weekday_numbers().get(value.lower())) is not None:
            record.names += [
                (folded_word(name),) for name, number in weekday_numbers().items() if number == weekday
            ]
        if has_digit(value):
            for hits in moments(value):
                moment = hits.readings[0]
                if not moment.has_date and not table_words("dates of rows").issuperset((key.lower(),)):
                    continue  # when it began and ended names no row
                record.moments.append(
                    moment
                    if key.lower() in table_words("dates of rows")
                    else moment._replace(hour=None, minute=None, second=None)
                )
                if (day := moment.on) is not None:
                    record.names += [
                        (name,) for name, number in weekday_numbers().items() if number == day.weekday()
                    ]
        if _CLOCK.fullmatch(value) and key.lower() not in table_words("dates of rows"):
            return  # when it began and ended names no row
        if (labelled := _LABELLED.fullmatch(value)) is not None:  # host:web-03
            self._name(record, key, labelled[1])
        words = tuple(folded_word(word) for word in _WORD.findall(value))
        if 0 < len(words) <= _MAX_NAME_WORDS and not (
            len(words) == 1 and (len(words[0]) < 2 or words[0] in common_words())
        ):
            if any(len(word) > 1 for word in words) and (
                not NUMERAL.fullmatch(value) or _CALENDAR.fullmatch(value)
            ):
                record.names.append(words)


_WINDOW = re.compile(r"-?(\d{1,4})(s|min|m|h|d|w|mo|y)")
_CODES = re.compile(r"[^\W_]+(?:[-_./][^\W_]+)*")
_PAIRS = re.compile(r"\w+=[^\s;,=]+(?:[;,\s]\s?\w+=[^\s;,=]+)+;?")  # temp=14.6;rh=58
_PAIR = re.compile(r"(?<!\w)(\w++)=([^\s;,=]+)")
_OBJECT = re.compile(r"[^\W\d][\w.]*\([^\W\d]\w*=")  # an object of Python: Lamp(price=25)
_TAG = re.compile(r"<[A-Za-z][\w.-]*((?:\s+[\w:.-]+=(?:\"[^\"<>]*\"|'[^'<>]*'))+)\s*/?>")
_CELL = re.compile(r"<t[dh]\b", re.IGNORECASE)
_ELEMENT = re.compile(r"<([A-Za-z][\w.-]*)[^<>]*>([^<>]+)</\1>")
_ATTRIBUTE = re.compile(r"\s([A-Za-z][\w.-]*)=[\"']([^\"'<>]{1,200})[\"']")
_JSON_START = re.compile(r"[{\[][ \t\r\n]{0,100}(?=[\"{\[])")
_DECODER = json.JSONDecoder()


def sources_of(
    reading: Reading, origin: Origin, call_id: str, tool: str, path: Path, key: str, record: Record | None
) -> Iterator[Source]:
    """What a number, a date or a code that is read in a text may be."""
    for moment in reading.moments:
        yield Source(origin, call_id, tool, path, key, 0, (), record, reading.text, moment)
    if reading.shape == "code" or reading.shape == "designation":
        yield Source(origin, call_id, tool, path, key, 0, (), record, reading.text, is_code=True)
    letter = reading.place.layout.text[reading.place.end - 1]
    if letter in "kKMGT" and reading.multiplier > 1.0 and reading.renderings and not reading.units:
        value = reading.renderings[0].value / reading.multiplier  # 402M, of memory
        yield Source(origin, call_id, tool, path, key, value, (), record, f"{reading.text}{letter}")
    for renderings in reading.renderings:
        if isfinite(renderings.value):
            units = reading.units
            yield Source(
                origin,
                call_id,
                tool,
                path,
                key,
                renderings.value,
                units,
                record,
                reading.text,
                is_open=len(units) > 1,
            )


def code_words(text: str, readings: Sequence[Reading]) -> Iterator[str]:
    """The words of a text that have digits, but for the parts of its dates and times."""
    moments = [reading for reading in readings if reading.shape == "moment"]
    for match in _CODES.finditer(text):
        while moments and moments[0].end <= match.start():
            moments.pop(0)
        is_part = moments and moments[0].start <= match.start() and match.end() <= moments[0].end
        if has_digit(match[0]) and not (is_part and match[0] != moments[0].text):
            yield match[0]


def _number_of(value: Any) -> float | None:
    """A number, or the text of one."""
    if isinstance(value, str) and NUMERAL.fullmatch(value):
        return float(value)
    return value if is_number(value) else None


def _echoed(leaf: Any) -> Any:
    return leaf.strip() if isinstance(leaf, str) else leaf


def _only_leaf(value: Any) -> Any:
    """The number or the text that an output is, whatever wraps it; ``None`` of one that has several."""
    for _ in range(_MOST_WRAPPED):
        if isinstance(value, Mapping) and len(value) == 1:
            (value,) = value.values()
        elif isinstance(value, list) and len(value) == 1:
            (value,) = value
    is_leaf = isinstance(value, (str, int, float)) and not isinstance(value, bool)
    return _echoed(value) if is_leaf and has_digit(str(value)) else None


def _without(text: str, sentence: str) -> str:
    """A text without a sentence; no part of a longer word or number is one."""
    if sentence not in text:
        return text
    return re.sub(rf"(?<!\w)(?<!\d[.,]){re.escape(sentence)}(?!\w|[.,]\d)", " ; ", text)


def _plain_leaves(node: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if len(path) > 8:
        return
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _plain_leaves(value, (*path, str(key)))
    elif isinstance(node, (list, tuple)):
        for number, value in enumerate(node[:200]):
            yield from _plain_leaves(value, (*path, number))
    elif isinstance(node, (str, int, float)):
        yield path, node


def _container(text: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        if len(text) > 200_000:
            return None
        try:
            value = ast.literal_eval(_Objects().visit(ast.parse(text, mode="eval")))
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError, OverflowError):
            return None
    return value if isinstance(value, (dict, list, tuple)) else None


class _Objects(ast.NodeTransformer):
    """Makes data of the calls by which Python shows objects: ``Lamp(price=25)``, ``Decimal('25.00')``, a date.

    Any other call stays, which no data has: what ``Fraction(3, 4)`` is, its arguments alone do not say.
    """

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not node.args:
            names: list[ast.expr | None] = [ast.Constant(keyword.arg) for keyword in node.keywords]
            return ast.Dict(names, [keyword.value for keyword in node.keywords])
        if node.keywords:
            return node
        if ast.unparse(node.func).rpartition(".")[2] in ("date", "datetime"):
            return ast.Constant(datetime(*map(ast.literal_eval, node.args)).isoformat())
        return node.args[0] if len(node.args) == 1 else node


def _embedded(text: str) -> list[Any] | None:
    """The objects and arrays of JSON in a text, and the text between them; ``None`` where it has none."""
    parts: list[Any] = []
    begun = at = failures = 0
    while failures < 20 and (start := _JSON_START.search(text, at)) is not None:
        try:
            value, at = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            at = start.start() + 1
            failures += 1
            continue
        parts += [text[begun : start.start()], value]
        begun = at
    return [*parts, text[begun:]] if parts else None


_LABEL_END = re.compile(r"[:|=(\t]|\s[-–]\s|\s{2,}")
_LABELLED = re.compile(r"[A-Za-z_]+[:=]([^\s:=]{3,60})")
_CLOCK = re.compile(r"\d{1,2}:\d\d(?::\d\d)?")
_GLUED = re.compile(r"(?<=\d)(?=[A-Za-z])|(?<=[A-Za-z]{2})(?=\d)")


def _rows(node: Mapping[Any, Any]) -> list[dict[str, Any]] | None:
    """Return the rows of an object: lists side by side (``time``, ``temperature``), or a list of names and of rows."""
    lists = {str(name): value for name, value in node.items() if isinstance(value, (list, tuple)) and value}
    headers = [names for value in _header_lists(node) if (names := _names_of(value))]
    for rows in lists.values():
        cells = [_cells_of(row) for row in rows]
        width = len(cells[0])
        if width > 1 and all(len(row) == width for row in cells):
            names = next(
                (names for names in (*headers, [*chain.from_iterable(headers)]) if len(names) == width), None
            )
            if names is not None:
                return [dict(zip(names, row, strict=True)) for row in cells]
    if len(lists) < 2:
        return None
    lengths = {len(value) for value in lists.values()}
    if len(lengths) != 1 or lengths.pop() < 2:
        return None
    if any(isinstance(item, (Mapping, list, tuple)) for value in lists.values() for item in value):
        return None
    if not any(all(isinstance(item, str) for item in value) for value in lists.values()):
        return None
    names = list(lists)
    return [dict(zip(names, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def _header_lists(node: Mapping[Any, Any]) -> Iterator[Any]:
    """The lists of an object, and of the objects in it, that may name columns."""
    for value in node.values():
        if isinstance(value, (list, tuple)):
            yield value
        elif isinstance(value, Mapping):
            yield from (inner for inner in value.values() if isinstance(inner, (list, tuple)))


def _names_of(value: Sequence[Any]) -> list[str] | None:
    """The names of columns: texts, or objects with a ``name``."""
    names = [item.get("name") if isinstance(item, Mapping) else item for item in value]
    texts = [name for name in names if isinstance(name, str) and name and not NUMERAL.fullmatch(name)]
    return texts if texts and len({*texts}) == len(names) else None


def _cells_of(row: Any) -> list[Any]:
    """The cells of a row: a list, or the lists of an object one after the other, of values or ``{"value": …}``."""
    if isinstance(row, (list, tuple)):
        return list(row) if not any(isinstance(cell, (Mapping, list, tuple)) for cell in row) else []
    if not isinstance(row, Mapping) or not all(isinstance(value, (list, tuple)) for value in row.values()):
        return []
    cells: list[Any] = []
    for cell in (cell for value in row.values() for cell in value):
        if not isinstance(cell, Mapping) or len(cell) != 1:
            return []
        cells += cell.values()
    return cells


def _grid(node: Sequence[Any]) -> tuple[list[str], list[Sequence[Any]]] | None:
    """The header and the rows of lists of one length; without a header the columns have no names."""
    if len(node) < 2 or not all(isinstance(row, (list, tuple)) for row in node):
        return None
    width = len(node[0])
    if width < 2 or any(
        len(row) != width or any(isinstance(cell, (list, tuple, Mapping)) for cell in row) for row in node
    ):
        return None
    if (
        all(isinstance(cell, str) and not NUMERAL.fullmatch(cell) for cell in node[0])
        and len(set(node[0])) == width
    ):
        if any(is_number(cell) for row in node[1:] for cell in row):
            return [str(cell) for cell in node[0]], list(node[1:])
    if all(isinstance(row[0], str) or is_number(row[0]) for row in node) and any(
        is_number(cell) for cell in node[0][1:]
    ):
        return ["name", *(f"value {place}" for place in range(1, width))], list(node)
    return None


@cache
def _parts_of_dates() -> Mapping[str, str]:
    """The part of a date that a key names: ``{"jahr": "year"}``."""
    return {word: part for part, words in words_table()["parts of dates"].items() for word in words.split()}


def _number_of_part(part: str, value: Any) -> int | None:
    """Return the number that a part of a date is: 5 of 5, "05" and "May"."""
    if isinstance(value, str):
        value = int(value) if value.isdecimal() and len(value) < 5 else month_numbers().get(value.lower())
    ranges = {"year": (1900, 2100), "month": (1, 12), "day": (1, 31), "quarter": (1, 4)}
    low, high = ranges[part]
    return value if type(value) is int and low <= value <= high else None


def _calendar_keys(node: Mapping[Any, Any]) -> bool:
    """Whether the keys of an object are weekdays, months, years or dates, and its values numbers: it is a column."""
    numbers = [str(key) for key, value in node.items() if is_number(value)]
    names = [
        key
        for key in numbers
        if key.lower() in weekday_numbers() or key.lower() in month_numbers() or _CALENDAR.fullmatch(key)
    ]
    return len(names) > 2 and len(numbers) - len(names) < 3


_CALENDAR = re.compile(r"(?:19|20)\d\d(?:-\d\d(?:-\d\d)?|-?Q[1-4])?|Q[1-4]|\d{1,2}:\d\d")


def _alike_members(node: Mapping[Any, Any]) -> frozenset[str]:
    """The keys of an object that are names of records of one shape."""
    shapes = {
        str(name): frozenset(map(str, value))
        for name, value in node.items()
        if isinstance(value, Mapping)
        and value.keys() != {"value", "unit"}
        and not str(name).lower().endswith(("units", "unit"))
    }
    if len(shapes) < 2 or len(frozenset.intersection(*shapes.values())) * 2 < len(
        max(shapes.values(), key=len)
    ):
        return frozenset()
    return frozenset(shapes)


def _size_of_minor(key: str) -> float | None:
    """How many of the parts that a key says make one of a currency: 100 of ``amount_cents``."""
    words = name_words(key)
    place = words.index("per") if "per" in words else len(words)
    return minor_sizes().get(words[place - 1].removesuffix("s")) if place > 1 else None


@cache
def minor_words() -> frozenset[str]:
    """Words for hundredths of a currency, as a text says them."""
    return frozenset(map(folded_word, words_table()["minor keys"]["100"].split()))


def _size_of_key(key: str) -> float | None:
    """By what a key multiplies its numbers: 1,000 of ``earned_premium_k``."""
    last = "".join(name_words(key)[-1:])
    size = words_table()["letters" if last == "k" else "multipliers"].get(last.removesuffix("s"))
    return float(size) if size is not None else None


def _is_amount(key: str) -> bool:
    return any(quantity_named(word) == "currency" or word in value_keys() for word in name_words(key))


def _quoted_rate(key: str, record: Record) -> tuple[str, ...] | None:
    """The unit of a rate of exchange: ``{"base": "EUR", "rates": {"CHF": 0.94}}``, ``{"base", "quote", "rate"}``."""
    texts = {name.lower(): text for element in record.chain for name, text in element.texts.items()}
    base = next((texts[name] for name in ("base", "base_currency", "from", "source") if name in texts), "")
    quote = key
    if key.lower() in ("rate", "exchange_rate", "fx_rate", "kurs", "taux"):
        quote = next(
            (texts[name] for name in ("quote", "quote_currency", "to", "target") if name in texts), ""
        )
    if quote != base and is_currency((base,)) and is_currency((quote,)):
        return (f"{quote}/{base}",)
    return None


@cache
def _unit_keys_alone() -> frozenset[str]:
    return table_words("keys that are units")


@cache
def _attribute_keys() -> frozenset[str]:
    return frozenset(words_table()["attribute keys"]["words"].split())


@lru_cache(maxsize=8192)
def _is_identity(key: str) -> bool:
    words = name_words(key)
    return not words or (words[-1] not in _attribute_keys() and key.lower() not in _attribute_keys())


@cache
def common_words() -> frozenset[str]:
    """Words that name no row and no key."""
    return frozenset(words_table()["common"]["words"].split())

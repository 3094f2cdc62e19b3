"""The numbers that a conversation's users and tools brought, and who brought each: found again by value or by unit."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Hashable, Iterator, Mapping
from fractions import Fraction
from functools import cache, lru_cache
from math import isfinite
from typing import Any, Literal, NamedTuple

from gllint_runtime.audit.contexts import MOMENTS, is_within, places
from gllint_runtime.policy.data_files import sections
from gllint_runtime.policy.figures import Figure, figures
from gllint_runtime.policy.names import read_name
from gllint_runtime.policy.outputs import json_value
from gllint_runtime.policy.parameter_units import argument_units
from gllint_runtime.policy.schemas import Path, show_path
from gllint_runtime.policy.unit_sizes import UnitSize, factors_of_unit, size_of
from gllint_runtime.policy.units import exact_value, measure_of, unit_meant

_MAX_SOURCES = 50_000  # numbers of one conversation; beyond, the oldest half is forgotten
_MAX_WORDS = 100_000
_MAX_LEAVES = 200_000  # of one output
_MAX_DEPTH = 64
_MAX_TEXT = 2_000_000  # characters of one output that are read
_LONG = 2_000  # characters of a text of a tool in which numbers in words are looked for
_ENDING = 4  # digits by which a card or an account is named
_MOST_WRAPPED = 3
_MOST_NOT_JSON = 20  # places in one text that look like JSON and are none
_MAX_ECHOED = 1_000  # leaves of one call's arguments
_MAX_ECHOED_LETTERS = 20_000
_MAX_SENTENCES = 20
_MAX_READINGS = 30  # units of one number
_FEW = 64  # new numbers that are put in their places one by one


class Source(NamedTuple):
    """A number with its unit, and who brought it: a call, or (without one) the user or the program's own text."""

    kind: Literal["tool", "said"]
    call_id: str
    tool: str
    path: str
    value: int | float
    unit: str | None
    text: str | None = None  # as it stands in a text, where it does
    is_date: bool = False  # a part of a date or of a time
    is_open: bool = False  # ``unit`` is one of several that a name may mean

    def to_dict(self) -> dict[str, Any]:
        """The call, the path and the value; of a unit that is open, none."""
        return {
            "call_id": self.call_id,
            "tool": self.tool,
            "path": self.path,
            "value": self.value,
            "unit": None if self.is_open else self.unit,
        }


class Sources:
    """The numbers of one conversation up to a turn, and its words of letters and digits (``HAT136``)."""

    def __init__(self) -> None:
        self._sources: dict[tuple[Any, ...], Source] = {}
        self._words: dict[str, Source] = {}
        self._endings: dict[str, Source] = {}
        self._by_value = _Index()
        self._by_dimension: dict[str, _Index] = {}
        # Those in units that we do not have and physics does: Ml/d.
        self._by_physics: dict[Hashable, _Index] = {}
        self.has_forgotten = False

    def add(self, source: Source) -> None:
        """Remember a number."""
        key = (source.kind, source.value, source.unit, source.is_date)
        if key in self._sources:
            return
        if len(self._sources) >= _MAX_SOURCES:
            self._forget()
        self._sources[key] = source
        self._place(source)

    def add_word(self, word: str, source: Source) -> None:
        """Remember a word that holds digits."""
        if len(self._words) < _MAX_WORDS:
            self._words.setdefault(word.casefold(), source)
            if len(digits := word[-_ENDING - 1 :]) > _ENDING and digits[1:].isdecimal():
                self._endings.setdefault(digits[1:], source)
        else:
            self.has_forgotten = True

    def word(self, word: str) -> Source | None:
        """Who brought a word, or the last part of one that hyphens join (``local-to-NAVD88``)."""
        folded = word.casefold()
        return self._words.get(folded) or self._words.get(folded.rpartition("-")[2])

    def has_word(self, word: str) -> bool:
        """Whether somebody said this very word."""
        return word.casefold() in self._words

    def ending(self, digits: str) -> Source | None:
        """Who brought a longer word that ends in four digits."""
        return self._endings.get(digits)

    def by_value(self, low: float, high: float) -> Iterator[Source]:
        """The numbers of a value, whatever their unit."""
        return self._by_value.between(low, high)

    def by_dimension(self, dimension: str, low: float, high: float) -> Iterator[Source]:
        """The numbers with a unit of a dimension, by their value in its base units."""
        index = self._by_dimension.get(dimension)
        return index.between(low, high) if index else iter(())

    def by_physics(self, size: UnitSize, low: float, high: float) -> Iterator[Source]:
        """The numbers with a unit that is not ours, of the dimension of ``size``, by their value in root units."""
        index = self._by_physics.get(size.dimension)
        return index.between(low, high) if index else iter(())

    @property
    def has_foreign_units(self) -> bool:
        """Whether any number has a unit that is not ours."""
        return bool(self._by_physics)

    def _place(self, source: Source) -> None:
        self._by_value.add(float(source.value), source)
        measure = measure_of(source.unit) if source.unit else None
        if measure is not None:
            base = nearest_float(exact(source.value) * measure.factor + measure.offset)
            self._by_dimension.setdefault(measure.dimension, _Index()).add(base, source)
        elif source.unit and source.kind == "tool" and (size := physical_size(source.unit)) is not None:
            base = nearest_float(exact(source.value) * size.factor)
            self._by_physics.setdefault(size.dimension, _Index()).add(base, source)

    def _forget(self) -> None:
        self.has_forgotten = True
        recent = [*self._sources.items()][len(self._sources) // 2 :]
        self._sources = dict(recent)
        self._by_value, self._by_dimension, self._by_physics = _Index(), {}, {}
        for _, source in recent:
            self._place(source)


class _Index:
    """Sources in the order of a number."""

    def __init__(self) -> None:
        self._entries: list[tuple[float, Source]] = []
        self._new: list[tuple[float, Source]] = []

    def add(self, value: float, source: Source) -> None:
        self._new.append((value, source))

    def between(self, low: float, high: float) -> Iterator[Source]:
        if len(self._new) > _FEW:
            self._entries = sorted([*self._entries, *self._new], key=_place_of)
        else:
            for entry in self._new:
                insort(self._entries, entry, key=_place_of)
        self._new.clear()
        start = bisect_left(self._entries, low, key=_place_of)
        end = bisect_right(self._entries, high, key=_place_of)
        for place in range(start, end):
            yield self._entries[place][1]


def _place_of(entry: tuple[float, Source]) -> float:
    return entry[0]


@lru_cache(maxsize=4096)
def physical_size(unit: str) -> UnitSize | None:
    """The size of a unit over the dimensions of physics; ``None`` of one that nobody has, or that has none."""
    size = size_of(factors_of_unit(unit))
    return size if size is not None and size.dimension else None


@lru_cache(maxsize=4096)
def exact(value: int | float) -> Fraction:
    """A number as it is written: 0.1 is a tenth."""
    return exact_value(value)


def nearest_float(value: Fraction) -> float:
    """A number as a float; infinity where none is so large."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


# ---------------------------------------------------------------------------------- what a call was told itself


class Echo(NamedTuple):
    """The numbers of a call's arguments under their names, and its sentences that hold a digit, the longest first."""

    numbers: frozenset[tuple[str, Any]] = frozenset()
    texts: tuple[str, ...] = ()

    def holds(self, key: str, leaf: Any, is_all: bool) -> bool:
        """Whether a number of an output repeats an argument of its name; one that is all of an output, any argument."""
        leaf = leaf.strip() if isinstance(leaf, str) else leaf
        return (key, leaf) in self.numbers or (is_all and any(leaf == value for _, value in self.numbers))

    def without(self, text: str) -> str:
        """A text of an output without the sentences of the arguments; no part of a longer number is one."""
        for sentence in self.texts:
            text = _without(text, sentence)
        return text


def _without(text: str, sentence: str) -> str:
    """A text in which whole words of a sentence gave way to a sign that no number goes across."""
    parts: list[str] = []
    start = rest = 0
    while (start := text.find(sentence, start)) >= 0:
        end = start + len(sentence)
        if (
            _WORD_BEFORE.search(text, max(0, start - 2), start) is None
            and _WORD_BEHIND.match(text, end) is None
        ):
            parts += [text[rest:start], _BARRIER]
            rest = end
        start = end
    return "".join([*parts, text[rest:]])


def echo_of(arguments: Any) -> Echo:
    """What an output of a call with these arguments may say back."""
    if isinstance(arguments, str) and (value := json_value(arguments)) is not None:
        arguments = value
    numbers: set[tuple[str, Any]] = set()
    texts: set[str] = set()
    letters = 0
    for path, leaf, _ in _leaves(arguments, (), None, [_MAX_ECHOED]):
        if not isinstance(leaf, str):
            numbers.add((name_of(path), leaf))
            continue
        letters += len(leaf)
        if letters > _MAX_ECHOED_LETTERS:
            break
        leaf = leaf.strip()
        if _NUMERAL.fullmatch(leaf):
            numbers.add((name_of(path), leaf))
        elif _ANY_DIGIT.search(leaf) and len(leaf.split(None, 1)) > 1:
            texts.add(leaf)
    return Echo(frozenset(numbers), tuple(sorted(texts, key=len, reverse=True)[:_MAX_SENTENCES]))


# ------------------------------------------------------------------------------------------- what a tool said


def sources_of_output(
    call_id: str, tool: str, value: Any, echo: Echo | None = None
) -> Iterator[tuple[Source, str]]:
    """The numbers in what a tool returned, each with the word that it is a part of (or empty)."""
    room = [_MAX_LEAVES, _MAX_TEXT]
    is_all = echo is not None and _is_one(value)
    for path, leaf, unit in _leaves(value, (), None, room):
        if echo is not None:  # what the call was told itself has its source elsewhere, or none
            if echo.holds(name_of(path), leaf, is_all):
                continue
            leaf = echo.without(leaf) if isinstance(leaf, str) else leaf
        if isinstance(leaf, str):
            room[1] -= len(leaf)
            if room[1] < 0:
                return
            yield from _in_text(leaf, "tool", call_id, tool, show_path(path), unit)
        elif _is_number(leaf):
            readings = [(unit, False)] if unit else units_of_key(name_of(path))
            room[0] -= len(readings) - 1
            for reading, is_open in readings:
                source = Source("tool", call_id, tool, show_path(path), leaf, reading, is_open=is_open)
                yield source, ""


def name_of(path: Path) -> str:
    """The name under which a leaf stands."""
    return next((step for step in reversed(path) if isinstance(step, str)), "")


def _is_one(value: Any) -> bool:
    """Whether an output is a single number or text, within whatever it is wrapped."""
    for _ in range(_MOST_WRAPPED):
        if isinstance(value, Mapping) and len(value) == 1:
            (value,) = value.values()
        elif isinstance(value, list) and len(value) == 1:
            (value,) = value
    is_quantity = isinstance(value, Mapping) and value.keys() == {"value", "unit"}
    return is_quantity or not isinstance(value, (Mapping, list, tuple))


def sources_of_text(text: str, speaker: str, number: int) -> Iterator[tuple[Source, str]]:
    """The numbers in what the user, or the program itself, said."""
    return _in_text(text[:_MAX_TEXT], "said", "", speaker, f"{speaker}[{number}]", None)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return value.bit_length() < 1024 if isinstance(value, int) else isfinite(value)


def _in_text(
    text: str, kind: Literal["tool", "said"], call_id: str, tool: str, path: str, unit: str | None
) -> Iterator[tuple[Source, str]]:
    if not _may_hold_number(text, kind):
        return
    for match in _WORD.finditer(text):
        if len(match[0]) > 120 or _ANY_DIGIT.search(match[0]) is None:
            continue
        if len(match[0]) > _ENDING or not match[0].isdecimal():
            yield Source(kind, call_id, tool, path, 0, None, match[0]), match[0]
    parted = text.replace("_", " ")  # gift_card_6276644
    moments = places(parted, MOMENTS)
    words = _may_hold_words(text, kind)
    for figure in _figures(parted, words):
        if figure.is_excused or figure.is_name:
            continue
        is_date = is_within(figure.start, moments)
        for reading in figure.readings:
            value: int | float = (
                int(reading.value) if reading.value.denominator == 1 else nearest_float(reading.value)
            )
            if not _is_number(value):
                continue
            typed = figure.units or ((unit,) if unit else (None,))
            for one in typed[:_MAX_READINGS]:
                yield Source(kind, call_id, tool, path, value, one, figure.text, is_date), ""


def _figures(text: str, words: bool) -> Iterator[Figure]:
    """The numbers of a text, and those that are groups of one: ``12 340`` may be two columns."""
    for figure in figures(text, words=words):
        yield figure
        if " " in figure.text and not figure.is_spelled:
            yield from figures(figure.text, words=False, is_parted=False)


_JSON_START = re.compile(r"[{\[][ \t\r\n]{0,100}(?=[\"{\[])")
_DECODER = json.JSONDecoder()
_NUMERAL = re.compile(r"[-+]?\d[\d.,]*\s*%?")
_WORD = re.compile(r"[^\W_][\w-]*+")
_WORD_BEFORE = re.compile(r"\w\Z|\d[.,]\Z")
_WORD_BEHIND = re.compile(r"\w|[.,]\d")
_BARRIER = " ; "
_ANY_DIGIT = re.compile(r"\d")


def _may_hold_number(text: str, kind: str) -> bool:
    return _ANY_DIGIT.search(text) is not None or _may_hold_words(text, kind)


def _may_hold_words(text: str, kind: str) -> bool:
    """Whether numbers in words are looked for: not in names, nor in long pages that a tool read."""
    return kind == "said" or (" " in text and len(text) < _LONG)


def _leaves(
    node: Any, path: Path, unit: str | None, room: list[int]
) -> Iterator[tuple[Path, Any, str | None]]:
    """Numbers and texts with the unit that stands beside them, and the names of members that hold digits.

    JSON in a text is read as its value: neither what wraps results (``{"result": "{…}"}``) nor words before them
    (``Result: {…}``) hide a unit.
    """
    room[0] -= 1
    if room[0] < 0 or len(path) > _MAX_DEPTH:
        return
    if isinstance(node, Mapping) and len(node) == 2 and isinstance(node.get("unit"), str):
        if _is_number(number := node.get("value")):  # a Quantity, which claims cite by its own path
            yield path, number, unit_of_text(node["unit"])
            return
    if isinstance(node, Mapping):
        beside = _units_beside(node)
        for key, inner in node.items():
            name = str(key)
            if _ANY_DIGIT.search(name):
                yield (*path, name), name, None
            yield from _leaves(inner, (*path, name), beside.get(name), room)
    elif isinstance(node, (list, tuple)):
        for place, inner in enumerate(node):
            yield from _leaves(inner, (*path, place), unit, room)
    elif isinstance(node, str) and len(node) <= _MAX_TEXT and _JSON_START.search(node):
        for part in _parts(node):
            if isinstance(part, str):
                yield path, part, unit
            else:
                yield from _leaves(part, path, None, room)
    elif isinstance(node, (str, int, float)):
        yield path, node, unit


def _parts(text: str) -> Iterator[Any]:
    """The objects and arrays of JSON in a text, and the text between them."""
    begun = at = failures = 0
    while failures < _MOST_NOT_JSON and (start := _JSON_START.search(text, at)) is not None:
        try:
            value, at = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            at = start.start() + 1
            failures += 1
            continue
        if text[begun : start.start()].strip():
            yield text[begun : start.start()]
        yield value
        begun = at
    if text[begun:].strip():
        yield text[begun:]


def _units_beside(node: Mapping[Any, Any]) -> Mapping[str, str]:
    """The units that members of an object give to others: ``{"value": 5, "unit": "kWh"}``."""
    units: dict[str, str] = {}
    numbers = [str(key) for key, value in node.items() if _is_number(value)]
    for key, value in node.items():
        if not isinstance(value, str) or not isinstance(key, str) or not 0 < len(value) <= 60:
            continue
        folded = key.lower()
        if folded in _words("unit keys"):
            named = [name for name in numbers if name.lower() in _words("value keys")]
            for name in named or (numbers if len(numbers) == 1 else ()):
                units[name] = unit_of_text(value)
        elif folded.endswith(("_unit", "_units", "_currency")):
            head = folded.rpartition("_")[0]
            for name in numbers:
                if name.lower() in (head, f"{head}_value", f"{head}_amount"):
                    units[name] = unit_of_text(value)
    return units


@lru_cache(maxsize=4096)
def unit_of_text(text: str) -> str:
    """A unit as the tables write it; as it stands where they do not have it."""
    return unit_meant(text.strip()) or text.strip()


@lru_cache(maxsize=4096)
def units_of_key(key: str) -> tuple[tuple[str | None, bool], ...]:
    """Each unit that the name of a member may mean, and whether that is open; one ``None`` where it means none.

    ``annual_kwh`` and ``temp_c`` say one, ``power_mw`` leaves two open.
    """
    readings = argument_units(key)[:_MAX_READINGS] if key else ()
    said = read_name(key).unit if len(readings) > 1 else None
    return tuple((unit, len(readings) > 1 and unit != said) for unit in readings) or ((None, False),)


@cache
def _words(section: str) -> frozenset[str]:
    return frozenset(sections("../audit/contexts.txt")[section]["words"].split())

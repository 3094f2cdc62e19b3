"""What each number of an answer rests on. One conversation is heard turn by turn; nothing but it decides."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import islice
from typing import Any, Literal, NamedTuple

from gllint_runtime.audit.answers import answer_text, is_answer_tool, is_receipt
from gllint_runtime.audit.contexts import is_within, places
from gllint_runtime.audit.derivation import Derivations
from gllint_runtime.audit.sources import (
    Echo,
    Source,
    Sources,
    echo_of,
    exact,
    nearest_float,
    physical_size,
    sources_of_output,
    sources_of_text,
)
from gllint_runtime.audit.turns import Called, Returned, Said, Turn
from gllint_runtime.policy.data_files import sections
from gllint_runtime.policy.figures import Figure, Reading, figures
from gllint_runtime.policy.outputs import json_value
from gllint_runtime.policy.settings import Policy
from gllint_runtime.policy.tool_hints import is_verifier
from gllint_runtime.policy.unit_sizes import factors_of_unit, relation
from gllint_runtime.policy.unit_table import pack_units
from gllint_runtime.policy.units import is_same_size, measure_of

Verdict = Literal["sourced", "quoted", "derived", "mislabelled", "unsourced", "exempt"]
FAULTS: tuple[Verdict, ...] = ("unsourced", "mislabelled")

_MAX_ANSWER = 500_000
_MAX_OPEN = 10_000  # calls whose result is awaited
_MAX_LATEST = 50  # calls whose arguments may be an answer
_MAX_LOOKED_AT = 2_000  # sources of one value
_BESIDE = 4  # numbers just before one, from which it may follow
_FIRST_YEAR = 1000
_SLACK = Fraction(1, 10**9)  # what floating point may have added, of a number
_SLACK_OF_STEP = Fraction(1, 1000)  # and at most, of half a step: 9523456874 is no 9523456873


class Number(NamedTuple):
    """A number of an answer: where it stands, the verdict, the unit that is typed there, and what it rests on."""

    conversation: str
    answer: int
    text: str
    start: int
    end: int
    verdict: Verdict
    unit: str | None
    source: dict[str, Any] | None

    def to_dict(self) -> dict[str, Any]:
        """The number as plain data."""
        return self._asdict()


class Answer(NamedTuple):
    """A text that the assistant said, and its numbers."""

    number: int
    text: str
    numbers: list[Number]


@dataclass
class Conversation:
    """One conversation: its answers with their numbers, and what could not be judged.

    One that comes in pieces without an id is told answer by answer: each but the first ``is_continued``.
    """

    conversation: str
    answers: list[Answer] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_continued: bool = False
    has_answer_unread: bool = False  # nothing in it is an answer, and one may lie where nobody could look

    @property
    def numbers(self) -> list[Number]:
        """All numbers of its answers."""
        return [number for answer in self.answers for number in answer.numbers]


class _Judgement(NamedTuple):
    figure: Figure
    verdict: Verdict
    unit: str | None = None
    source: dict[str, Any] | None = None
    origin: Source | None = None


class Listener:
    """Hears the turns of one conversation and judges its answers; memory stays within bounds, however long it is."""

    def __init__(self, conversation: str = "", policy: Policy | None = None) -> None:
        self.conversation = conversation
        self.notes: list[str] = []
        self.has_gaps = False  # whether something of it was passed over
        self._policy = policy or Policy()
        self._symbols = self._policy.pack_symbols()
        self._tool_sources, self._said_sources = Sources(), Sources()
        self._derivations = Derivations()
        # The tools of calls, and what they were told, by their ids.
        self._open: dict[str, tuple[str, Echo]] = {}
        self._open_of: dict[str, dict[str, None]] = {}  # their ids, by tool
        # What the latest calls were told, as it was: the answer may prove to be among them.
        self._latest: dict[str, Any] = {}
        self._answered: dict[str, None] = {}
        self._answers = self._said = self._calls = 0

    def hear(self, turn: Turn) -> Answer | None:
        """Take in a turn; judged where it is an answer."""
        match turn:
            case Said("assistant", text):
                return self._answer(text)
            case Said(speaker, text):
                for source, word in sources_of_text(text, speaker, self._said):
                    _learn(self._said_sources, source, word)
                self._said += 1
            case Called(call_id, tool, arguments):
                self._calls += 1
                if len(self._open) >= _MAX_OPEN:
                    self._closed(next(iter(self._open)))
                call_id = call_id or f"call_{self._calls}"
                if is_answer_tool(tool):
                    return self._answer_of_call(call_id, arguments)
                _keep_latest(self._latest, call_id, arguments)
                self._closed(call_id)
                self._open[call_id] = tool, echo_of(arguments)
                self._open_of.setdefault(tool, {})[call_id] = None
                self._derivations.hear(call_id, _question(tool, arguments))
            case Returned(call_id, tool, value):
                if is_receipt(value) and call_id in self._latest:
                    self._closed(call_id)
                    return self._answer_of_call(call_id, self._latest.pop(call_id))
                if not is_answer_tool(tool) and call_id not in self._answered:
                    self._hear_output(call_id, tool, value)
        return None

    def _answer(self, text: str) -> Answer:
        self._answers += 1
        return self._judged(text, self._answers - 1)

    def _answer_of_call(self, call_id: str, arguments: Any) -> Answer | None:
        """An answer that is given as the arguments of a call; a trace may tell of the same call twice."""
        if call_id in self._answered:
            return None
        _keep_latest(self._answered, call_id, None)
        text, is_whole = answer_text(arguments)
        if not is_whole:
            self.notes.append(f"answer {self._answers + 1} has more parts than are read")
        return self._answer(text)

    @property
    def has_answer_unread(self) -> bool:
        """Whether nothing is an answer and tools are called, or something was passed over: it lies where no rule of the
        format looks.
        """
        return bool(self._calls or self.has_gaps) and not self._answers

    def _closed(self, call_id: str) -> tuple[str, Echo | None]:
        """The tool of a call that waits no longer, and what it was told."""
        tool, echo = self._open.pop(call_id, ("", None))
        ids = self._open_of.get(tool, {})
        ids.pop(call_id, None)
        if not ids:
            self._open_of.pop(tool, None)
        return tool, echo

    def _hear_output(self, call_id: str, tool: str, value: Any) -> None:
        if not call_id:  # the oldest call of that tool which waits
            waiting = self._open_of.get(tool, {}) if tool else self._open
            call_id = next(iter(waiting), "") or f"call_{self._calls + 1}"
        name, echo = self._closed(call_id)
        tool = tool or name or "a tool"
        if is_verifier(tool):  # which says back what it is given
            return
        for source, word in sources_of_output(call_id, tool, value, echo):
            _learn(self._tool_sources, source, word)
            if not word and not source.is_date:
                self._derivations.add(source)

    def finish(self) -> None:
        """What there is to say once all is heard."""
        if self._tool_sources.has_forgotten or self._said_sources.has_forgotten:
            self.notes.append(
                "it holds more numbers than are remembered: those of the oldest turns were forgotten"
            )
        if self.has_answer_unread:
            calls = "calls tools and " if self._calls else ""
            self.notes.append(f"it {calls}has no answer that can be read")

    # ------------------------------------------------------------------------------------------- judging

    def _judged(self, text: str, number: int) -> Answer:
        if len(text) > _MAX_ANSWER:
            self.notes.append(f"answer {number + 1} was judged up to its character {_MAX_ANSWER:,}")
        looked_at = text[:_MAX_ANSWER]
        policy = self._policy
        exempt = places(looked_at)
        numbers_shown = figures(
            looked_at,
            whitelist=policy.whitelist,
            units=policy.extend_units,
            glued=self._symbols,
        )
        judgements: list[_Judgement] = []
        for figure in self._codes(looked_at, numbers_shown):
            if figure.is_excused or is_within(figure.start, exempt):
                judgements.append(_Judgement(figure, "exempt"))
                continue
            verdict, source = self._verdict(figure, looked_at)
            if figure.is_spelled and not self._counts(figure) and verdict not in ("sourced", "quoted"):
                continue
            if verdict == "sourced" and source is not None:
                self._derivations.mention(source)
            basis = None if source is None else _basis(source)
            judgements.append(_Judgement(figure, verdict, _unit(figure, source), basis, source))
        # What is left may be a number of this answer in another unit, or follow from several that are shown in it.
        judgements = _converted(judgements)
        numbers = [
            self._derived(judgement, looked_at, judgements[max(0, place - _BESIDE) : place])
            for place, judgement in enumerate(judgements)
        ]
        return Answer(
            number,
            text,
            [
                Number(
                    self.conversation,
                    number,
                    entry.figure.text,
                    entry.figure.start,
                    entry.figure.end,
                    *entry[1:4],
                )
                for entry in numbers
            ],
        )

    def _codes(self, text: str, shown: Sequence[Figure]) -> Iterator[Figure]:
        """The figures of a text; those of one code (``4OG6T1``, ``A1-77-C3``) are one, which is the whole code."""
        codes = (match for match in _CODE.finditer(text) if _is_code(match[0]))
        code = next(codes, None)
        group: list[Figure] = []
        for figure in shown:
            while code is not None and code.end() <= figure.start:
                yield from self._joined(group, code)
                group, code = [], next(codes, None)
            if code is not None and code.start() <= figure.start and figure.end <= code.end():
                group.append(figure)
            else:
                yield figure
        if code is not None:
            yield from self._joined(group, code)

    def _joined(self, group: Sequence[Figure], code: re.Match[str]) -> Sequence[Figure]:
        """The figures of a code as one, unless they stand for themselves: a quantity, a part that somebody said."""
        name = next((figure for figure in group if figure.is_name), None)
        if len(group) < 2 or name is None or any(figure.is_excused or figure.units for figure in group):
            return group
        word = code[0]
        if not self._knows(word) and any(self._knows(part) for part in word.split("-") if "-" in word):
            return group
        return [name._replace(start=code.start(), end=code.end(), text=word, word=word)]

    def _knows(self, word: str) -> bool:
        return self._tool_sources.has_word(word) or self._said_sources.has_word(word)

    def _derived(self, judgement: _Judgement, text: str, before: Sequence[_Judgement]) -> _Judgement:
        figure = judgement.figure
        if judgement.verdict not in FAULTS or figure.word:
            return judgement
        derivation = self._derivations.of(figure.readings, figure.units)
        if derivation is None:
            shown = [
                entry.origin
                for entry in reversed(before)
                if entry.origin is not None
                and entry.verdict == "sourced"
                and "\n" not in text[entry.figure.end : figure.start]
                and figure.start - entry.figure.end <= 2 * _REACH
            ]
            derivation = self._derivations.difference(
                figure.readings, figure.units, shown, self._tool_sources
            )
        if derivation is None:
            return judgement
        has_unit = derivation.operation not in ("sum", "difference") or derivation.first.unit in figure.units
        if judgement.verdict == "mislabelled" and not has_unit:
            return judgement
        return judgement._replace(verdict="derived", source=derivation.to_dict())

    def _counts(self, figure: Figure) -> bool:
        """Whether a number in words is one that a reader takes for a figure: with a unit, or beyond twelve."""
        if self._policy.number_words or (figure.units and figure.units[0] not in pack_units(("counts",))):
            return True
        return any(abs(reading.value) > 12 for reading in figure.readings)

    def _verdict(self, figure: Figure, text: str) -> tuple[Verdict, Source | None]:
        if figure.is_name:  # HAT136 is a name, not a number
            if (source := self._tool_sources.word(figure.word)) is not None:
                return "sourced", source
            source = self._said_sources.word(figure.word)
            if source is not None or _PREFIXED.fullmatch(figure.word) is None:  # post-1974 is a number
                return ("quoted", source) if source is not None else ("unsourced", None)
        if _ENDING.search(text, max(0, figure.start - _REACH), figure.start):
            if (source := self._tool_sources.ending(figure.text)) is not None:
                return "sourced", source
            if (source := self._said_sources.ending(figure.text)) is not None:
                return "quoted", source
        signs = (1, -1) if _is_fall(text, figure) else (1,)
        may_be_date = _may_be_date(text, figure)
        contradiction: Source | None = None
        for sources, verdict in ((self._tool_sources, "sourced"), (self._said_sources, "quoted")):
            if figure.word and (source := sources.word(figure.word)) is not None:
                return verdict, source  # type: ignore[return-value]
            for sign in signs:
                readings = [Reading(reading.value * sign, reading.half) for reading in figure.readings]
                source, other = _match(readings, figure.units, sources, may_be_date)
                if source is not None and sign == -1 and not _falls(readings, source):
                    source = None
                if source is not None:
                    return verdict, source  # type: ignore[return-value]
                if verdict == "sourced":
                    contradiction = contradiction or other
        if (source := _without_prefix(text, figure, self._tool_sources)) is not None:
            return "sourced", source
        return ("mislabelled", contradiction) if contradiction is not None else ("unsourced", None)


def _keep_latest(calls: dict[str, Any], call_id: str, value: Any) -> None:
    while len(calls) >= _MAX_LATEST:
        calls.pop(next(iter(calls)))
    calls[call_id] = value


def _is_code(word: str) -> bool:
    """Whether a word may be a code of several numbers."""
    return len(word) <= _LONGEST_CODE and not word.isdecimal() and not word.isalpha()


def _question(tool: str, arguments: Any) -> Hashable:
    """What a call asks, by which it is known again; like no other where that cannot be told."""
    if isinstance(arguments, str) and (value := json_value(arguments)) is not None:
        arguments = value
    try:
        return tool, hash(json.dumps(arguments, sort_keys=True, default=str))
    except (TypeError, ValueError, RecursionError):  # keys of several kinds, too deep
        return object()


def _converted(judgements: list[_Judgement]) -> list[_Judgement]:
    """What a number that a tool returned bare is in another unit than the one that the answer gives it itself.

    ``"It used 23.4 MWh, which are 84.24 GJ"``, where the tool returned 23.4.
    """
    labelled = Sources()
    for entry in judgements:
        unit, source = entry.unit, entry.source
        if entry.verdict == "sourced" and unit and source and source.get("unit") is None:
            value, measure = source["value"], measure_of(unit)
            # Of a temperature a bare number says too little: its zero is somewhere else in each unit.
            if isinstance(value, (int, float)) and measure is not None and not measure.offset:
                labelled.add(Source("tool", source["call_id"], source["tool"], source["path"], value, unit))
    return [_in_other_unit(entry, labelled) for entry in judgements]


def _in_other_unit(entry: _Judgement, labelled: Sources) -> _Judgement:
    if entry.verdict not in FAULTS or len(entry.figure.units) != 1 or entry.figure.word:
        return entry
    source = _by_unit(entry.figure.readings, entry.figure.units[0], labelled)
    return entry if source is None else entry._replace(verdict="sourced", source=source.to_dict())


def _learn(sources: Sources, source: Source, word: str) -> None:
    if word:
        sources.add_word(word, source)
    else:
        sources.add(source)


def _basis(source: Source) -> dict[str, Any] | None:
    """What a number of a tool rests on; what was said is no call."""
    if source.kind != "tool":
        return None
    basis = source.to_dict()
    return basis if source.text is None or source.value else {**basis, "value": source.text}


def _unit(figure: Figure, source: Source | None) -> str | None:
    """The unit that is typed: of a sign that currencies share, the one that the source has."""
    if not figure.units:
        return None
    if len(figure.units) == 1:
        return figure.units[0]
    return source.unit if source is not None and source.unit in figure.units else figure.written


# ------------------------------------------------------------------------------------------ same or another


def _match(
    readings: Sequence[Reading], units: Sequence[str], sources: Sources, may_be_date: bool
) -> tuple[Source | None, Source | None]:
    """A source that a number, as it is shown, may be; and one with its value in a unit that contradicts it."""
    contradiction: Source | None = None
    for unit in units:
        if (source := _by_unit(readings, unit, sources)) is not None:
            return source, None
    for reading in readings:
        for source in _near(sources, reading):
            if source.is_date and not may_be_date and abs(source.value) < _FIRST_YEAR:
                continue
            if not units or source.unit is None or any(_agree(unit, source.unit) for unit in units):
                return source, None
            if _is_telling(reading, exact(source.value)):
                contradiction = contradiction or source
        if "%" in units:  # a share, shown in percent
            part = Reading(reading.value / 100, reading.half / 100)
            for source in _near(sources, part):
                if source.unit in (None, "1", "ratio"):
                    return source, None
    return None, contradiction


def _is_telling(reading: Reading, value: Fraction) -> bool:
    """Whether a number is so like another that only the unit can be wrong: 4 for 3.6 is chance."""
    return reading.value == value or abs(value) >= 10 * reading.half * 2


def _falls(readings: Sequence[Reading], source: Source) -> bool:
    """Whether a number is a negative one without its sign: 5 for a bare -4.5 is chance."""
    value = exact(source.value)
    return source.unit is not None or any(_is_telling(reading, value) for reading in readings)


def _near(sources: Sources, reading: Reading) -> Iterator[Source]:
    low, high = _bounds(reading.value, reading.half)
    for source in islice(sources.by_value(low, high), _MAX_LOOKED_AT):
        if _is_shown(reading, exact(source.value)):
            yield source


def _by_unit(readings: Sequence[Reading], unit: str, sources: Sources) -> Source | None:
    """A source in another unit of the same dimension, of the size that is shown."""
    measure = measure_of(unit)
    if measure is None:
        return None
    for reading in readings:
        base = reading.value * measure.factor + measure.offset
        half = abs(reading.half * measure.factor)
        low, high = _bounds(base, half)
        for source in islice(sources.by_dimension(measure.dimension, low, high), _MAX_LOOKED_AT):
            other = measure_of(source.unit or "")
            assert other is not None  # or it would have no dimension
            value = (exact(source.value) * other.factor + other.offset - measure.offset) / measure.factor
            if _is_shown(reading, value):
                return source
    return _by_physics(readings, unit, sources)


def _by_physics(readings: Sequence[Reading], unit: str, sources: Sources) -> Source | None:
    """A source in a unit that is not ours, of the size that is shown: 45 Ml/d is 45,000 m3/day."""
    size = physical_size(unit) if sources.has_foreign_units else None
    if size is None:
        return None
    for reading in readings:
        low, high = _bounds(reading.value * size.factor, abs(reading.half * size.factor))
        for source in islice(sources.by_physics(size, low, high), _MAX_LOOKED_AT):
            own = physical_size(source.unit or "")
            assert own is not None  # as above
            value = exact(source.value) * own.factor / size.factor
            if _is_shown(reading, value):
                return source
    return None


_OPERATOR_BEFORE = re.compile(r"[=≈×*/÷√(]\s*\Z")
_OPERATOR_BEHIND = re.compile(r"\s*[=≈×*/÷)]")
_BLANKS = 3  # characters before a number in which an operator stands
_PREFIXES = {"k": 3, "M": 6, "G": 9, "T": 12, "m": -3}


def _without_prefix(text: str, figure: Figure, sources: Sources) -> Source | None:
    """A source whose unit a formula leaves out together with its prefix: ``42,000,000 / (√3 × 138,000)`` of 42 MVA."""
    if figure.units or not (
        _OPERATOR_BEFORE.search(text, max(0, figure.start - _BLANKS), figure.start)
        and _OPERATOR_BEHIND.match(text, figure.end)
    ):
        return None
    for reading in figure.readings:
        for prefix, power in _PREFIXES.items():
            size = Fraction(10) ** power
            part = Reading(reading.value / size, reading.half / size)
            for source in _near(sources, part):
                unit = source.unit or ""
                root = measure_of(unit.removeprefix(prefix))
                if root is not None and measure_of(unit) == root._replace(factor=root.factor * size):
                    return source
    return None


def _is_shown(reading: Reading, value: Fraction) -> bool:
    """Whether a number would be shown so, but for what floating point may have added."""
    slack = min(abs(reading.value) * _SLACK, reading.half * _SLACK_OF_STEP)
    return reading._replace(half=reading.half + slack).fits(value)


def _bounds(value: Fraction, half: Fraction) -> tuple[float, float]:
    slack = abs(value) * _SLACK
    return nearest_float(value - half - slack), nearest_float(value + half + slack)


def _agree(label: str, own: str) -> bool:
    """Whether a number with the unit ``own`` may be shown with another word: things that are counted have no unit."""
    counted = pack_units(("counts",))
    if own in ("1", "count", "ratio"):
        measure = measure_of(label)
        if own != "count":  # a share in percent is a hundred times the number
            return label != "%" and (measure is None or measure.dimension == "dimensionless")
        return measure is None or (measure.dimension in ("count", "dimensionless", "time") and label != "%")
    if label in counted and own not in counted:
        return False
    if measure_of(own) is None or measure_of(label) is None:
        sizes = physical_size(own), physical_size(label)  # of what is not ours: 45 Ml/d are no 45 kWh
        return is_same_size(own, label) is not False if None in sizes else _is_alike(own, label)
    return is_same_size(label, own) is True or _is_same_physics(label, own)


def _is_same_physics(label: str, own: str) -> bool:
    """Whether a unit that is made of others is another one by the laws of electricity and mechanics: VA/V and A."""
    return "/" in label + own and _is_alike(own, label)


def _is_alike(unit: str, other: str) -> bool:
    """Whether two units are of one dimension and size by physics, ours or not."""
    return relation(factors_of_unit(unit), factors_of_unit(other)) == "same"


# ----------------------------------------------------------------------------------------------- beside it


_REACH = 60
_ENDING = re.compile(r"\b(?:end(?:ing|s)|last\s+(?:four|4)(?:\s+digits)?)\b[^.\n\d]*\Z", re.IGNORECASE)


_CODE = re.compile(r"[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*")
_LONGEST_CODE = 100  # characters
_PREFIXED = re.compile(r"[a-z]{2,6}-\d+")
_SENTENCE_END = re.compile(r"[.!?](?=\s+[A-Z])")
_WORD = 12  # characters before a number in which such a word stands
_DATE_BEFORE = re.compile(r"\b(?:at|by|until|till|from|on|the|day|since)\s+\Z", re.IGNORECASE)
_DATE_AFTER = re.compile(r"(?:st|nd|rd|th|h)\b|\s?o['’]?clock\b", re.IGNORECASE)


def _may_be_date(text: str, figure: Figure) -> bool:
    """Whether a number may be a day or an hour that stands in the date or the time of a source."""
    return not figure.units and (
        _DATE_AFTER.match(text, figure.end) is not None
        or _DATE_BEFORE.search(text, max(0, figure.start - _WORD), figure.start) is not None
    )


@cache
def _falling() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{sections('../audit/contexts.txt')['falling']['words']})\b", re.IGNORECASE)


def _is_fall(text: str, figure: Figure) -> bool:
    """Whether words beside a number, in its own sentence, say that it goes down, so that its sign is in them."""
    before = _SENTENCE_END.split(text[max(0, figure.start - _REACH) : figure.start])[-1]
    behind = _SENTENCE_END.split(text[figure.end : figure.end + _REACH])[0]
    return _falling().search(f"{before}{figure.text}{behind}") is not None

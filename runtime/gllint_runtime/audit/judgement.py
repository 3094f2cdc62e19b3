"""The audit of one conversation: it is heard turn by turn, and each answer is judged by the provenance engine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from gllint_runtime.audit.answers import answer_text, is_answer_tool, is_receipt
from gllint_runtime.audit.turns import By, Called, Concluded, Fragment, On, Piece, Returned, Said, Turn
from gllint_runtime.policy.outputs import json_value
from gllint_runtime.policy.settings import Policy
from gllint_runtime.policy.tool_hints import is_verifier
from gllint_runtime.provenance.engine import Provenance
from gllint_runtime.provenance.findings import FAULTS as FAULTS
from gllint_runtime.provenance.findings import Finding, Verdict

_DIGITS = "0123456789"
_MAX_ANSWER = 500_000
_MAX_OPEN = 10_000  # calls whose result is awaited
_MAX_LATEST = 50  # calls whose arguments may be an answer


class Number(NamedTuple):
    """A number of an answer: its place, the verdict, the unit that is typed there, and what it rests on.

    ``source`` of one that is mislabelled is what it was taken for; of one that is derived, ``derived`` lists all.
    """

    conversation: str
    answer: int
    text: str
    start: int
    end: int
    verdict: Verdict
    unit: str | None
    source: dict[str, Any] | None
    derived: dict[str, Any] | None = None
    weak: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the number as plain data."""
        return self._asdict()


class Answer(NamedTuple):
    """A text that the assistant said, and its numbers.

    ``passes_invented``: whether an invented number would have been accepted in the place of one that was; ``None``
    where none was tried.
    """

    number: int
    text: str
    numbers: list[Number]
    model: str = ""
    passes_invented: bool | None = None


@dataclass
class Conversation:
    """One conversation: its answers with their numbers, and what could not be judged.

    A long one is reported in parts, and one without an id answer by answer: each but the last ``is_continued``.
    """

    conversation: str
    answers: list[Answer] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_continued: bool = False
    has_answer_unread: bool = False  # nothing in it is an answer, and one may be in an unreadable part
    has_results_unread: bool = (
        False  # what a tool returned may be where no rule looks: no number is called unsourced
    )

    @property
    def numbers(self) -> list[Number]:
        """All numbers of its answers."""
        return [number for answer in self.answers for number in answer.numbers]

    def leave_open(self) -> None:
        """Withdraw verdicts whose source may be in a part that could not be read."""
        if not self.has_results_unread:
            return
        count = len(self.numbers)
        self.answers = [
            answer._replace(numbers=[number for number in answer.numbers if number.verdict not in FAULTS])
            for answer in self.answers
        ]
        if count := count - len(self.numbers):
            self.notes.append(
                f"some tool results cannot be read: {count} number{'s' * (count > 1)} of the answers not judged"
            )


class Listener:
    """Hears the turns of one conversation and judges its answers; memory stays within bounds, however long it is."""

    def __init__(
        self, conversation: str = "", policy: Policy | None = None, *, tries_invented: bool = False
    ) -> None:
        self.conversation = conversation
        self._tries_invented = tries_invented
        self.notes: list[str] = []
        self.has_gaps = False  # whether something of it was passed over
        self.has_results_unread = False
        self._provenance = Provenance.under(policy or Policy())
        # The tools of calls and their arguments, by their ids.
        self._open: dict[str, tuple[str, Any]] = {}
        self._open_of: dict[str, dict[str, None]] = {}  # their ids, by tool
        # The arguments of the latest calls: the answer may prove to be among them.
        self._latest: dict[str, Any] = {}
        self._answered: dict[str, None] = {}
        self._answers = self._calls = 0
        self._returned: set[str] = set()  # tools that have returned something
        self._pieces: list[str] = []
        self._message = self._model = ""
        self._latest_texts: dict[str, None] = {}

    def hear(self, turn: Turn) -> list[Answer]:
        """Take in a turn: the answers that it is or ends."""
        match turn:
            case Piece(text, message):
                whole = self._end_pieces() if message and self._message and message != self._message else []
                self._message = message or self._message
                self._pieces += [text] if text else []
                return whole
            case On(day):
                self._provenance.today = day
                return []
            case By(model):
                self._model = model
                return []
            case Fragment(text):
                if self._open:
                    call_id, (tool, arguments) = next(reversed(self._open.items()))
                    start = arguments if isinstance(arguments, str) else ""
                    self._open[call_id] = tool, start + text
                return []
        answers = self._end_pieces()
        match turn:
            case Concluded(text):
                answers += [] if text in self._latest_texts else [self._answer(text)]
            case Said("assistant", text):
                answers.append(self._answer(text))
            case Said(speaker, text):
                self._provenance.hear(speaker, text)
            case Called(call_id, tool, arguments):
                self._calls += 1
                if len(self._open) >= _MAX_OPEN:
                    self._closed(next(iter(self._open)))
                call_id = call_id or f"call_{self._calls}"
                if is_answer_tool(tool):
                    return answers + self._answer_of_call(call_id, arguments)
                _keep_latest(self._latest, call_id, arguments)
                self._closed(call_id)
                self._open[call_id] = tool, arguments
                self._open_of.setdefault(tool, {})[call_id] = None
            case Returned(call_id, tool, value):
                if is_receipt(value) and call_id in self._latest:
                    self._closed(call_id)
                    return answers + self._answer_of_call(call_id, self._latest.pop(call_id))
                if not is_answer_tool(tool) and call_id not in self._answered:
                    self._hear_output(call_id, tool, value)
        return answers

    def _end_pieces(self) -> list[Answer]:
        """Return the answer that a stream gave, once something else follows."""
        text = "".join(self._pieces)
        self._pieces, self._message = [], ""
        return [self._answer(text)] if text else []

    def _answer(self, text: str) -> Answer:
        """Judge an answer. If it has faults, note which tool has no recorded result."""
        self._answers += 1
        _keep_latest(self._latest_texts, text, None)
        answer = self._judged(text, self._answers - 1)
        has_faults = any(number.verdict in FAULTS for number in answer.numbers)
        if has_faults and not self.has_results_unread and (silent := self._without_result()):
            self.has_results_unread = True
            self.notes.append(f"no result of the tool {silent} is in the recording")
        return answer

    def _without_result(self) -> str:
        """Return a tool that was called and of which the recording has no result at all."""
        return next((tool for tool in self._open_of if tool not in self._returned), "")

    def _answer_of_call(self, call_id: str, arguments: Any) -> list[Answer]:
        """Judge an answer in the arguments of a call. A trace may contain the same call twice."""
        if call_id in self._answered:
            return []
        _keep_latest(self._answered, call_id, None)
        text, is_whole = answer_text(arguments)
        if not is_whole:
            self.notes.append(f"answer {self._answers + 1} has more parts than are read")
        return [self._answer(text)]

    @property
    def has_answer_unread(self) -> bool:
        """Return whether nothing is an answer and tools are called, or something was passed over: it lies where no
        rule of the format looks.
        """
        return bool(self._calls or self.has_gaps) and not self._answers

    def _closed(self, call_id: str) -> tuple[str, Any]:
        """Close a call, and return its tool and arguments."""
        tool, arguments = self._open.pop(call_id, ("", None))
        ids = self._open_of.get(tool, {})
        ids.pop(call_id, None)
        if not ids:
            self._open_of.pop(tool, None)
        return tool, arguments

    def _hear_output(self, call_id: str, tool: str, value: Any) -> None:
        """Record an output as a source, with the call that it answers."""
        if not call_id:  # the oldest call of that tool which waits
            waiting = self._open_of.get(tool, {}) if tool else self._open
            call_id = next(iter(waiting), "") or f"call_{self._calls + 1}"
        name, arguments = self._closed(call_id)
        tool = tool or name or "a tool"
        self._returned.update((tool, name or tool))
        if value is None:
            return
        if is_verifier(tool):  # which says back what it is given
            return
        if isinstance(arguments, str):
            arguments = json_value(arguments)
        self._provenance.record(call_id, tool, arguments if isinstance(arguments, Mapping) else None, value)

    def finish(self) -> list[Answer]:
        """Judge the answer that a stream ends with."""
        answers = self._end_pieces()
        if self._provenance.has_forgotten:
            self.notes.append(
                "it has more numbers than are remembered: those of the oldest turns were forgotten"
            )
        if self.has_answer_unread:
            calls = "calls tools and " if self._calls else ""
            self.notes.append(f"it {calls}has no answer that can be read")
        return answers

    def _judged(self, text: str, number: int) -> Answer:
        if len(text) > _MAX_ANSWER:
            self.notes.append(f"answer {number + 1} was judged up to its character {_MAX_ANSWER:,}")
        findings = self._provenance.judge(text[:_MAX_ANSWER])
        numbers = [self._number(number, finding) for finding in findings]
        passes = self._passes_invented(text[:_MAX_ANSWER], numbers) if self._tries_invented else None
        return Answer(number, text, numbers, self._model, passes)

    def _passes_invented(self, text: str, numbers: list[Number]) -> bool | None:
        """Return whether an answer passes with one of its numbers replaced by an invented one."""
        chance = Random(text)
        right = [
            (number.start, number.end)
            for number in numbers
            if number.verdict in ("sourced", "derived") and sum(map(str.isdecimal, number.text)) > 1
            if not any(map(str.isalpha, number.text))
        ]
        if not right:
            return None
        start, end = chance.choice(right)
        while (invented := re.sub(r"\d", lambda _: chance.choice(_DIGITS), text[start:end])) == text[
            start:end
        ]:
            pass
        findings = self._provenance.judge(f"{text[:start]}{invented}{text[end:]}")
        return all(finding.verdict not in FAULTS for finding in findings if start <= finding.span[0] < end)

    def _number(self, answer: int, finding: Finding) -> Number:
        """Return the verdict on a number as the audit reports it."""
        source = finding.miss.source if finding.miss is not None else finding.source
        is_of_call = source is not None and bool(source.call_id)
        return Number(
            self.conversation,
            answer,
            finding.reading.text,
            *finding.span,
            finding.verdict,
            finding.unit,
            source.to_dict() if source is not None and is_of_call else None,
            finding.derivation.to_dict() if finding.derivation is not None else None,
            finding.is_weak,
        )


def _keep_latest(calls: dict[str, Any], call_id: str, value: Any) -> None:
    while len(calls) >= _MAX_LATEST:
        calls.pop(next(iter(calls)))
    calls[call_id] = value

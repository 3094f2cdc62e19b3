"""The output of an audit. SARIF and the page are written at the end, other formats conversation by conversation."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from math import sqrt
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from gllint import __version__
from gllint.report.sarif import SCHEMA
from gllint.shown import visible
from gllint_rules.tuples import NamedTuple
from gllint_runtime.audit.judgement import FAULTS, Answer, Conversation, Number
from gllint_runtime.audit.page import VERDICTS, basis_text, page
from gllint_runtime.policy.keywords import Mode
from gllint_runtime.policy.numbers import scan_naked_numbers
from gllint_runtime.policy.text_units import units_at

_AROUND = 40  # characters of the answer that are shown on either side
_MOST_TOOLS = 20


class Judged(NamedTuple):
    """A conversation of a file, and those of its faults that are not in a baseline."""

    path: str
    conversation: Conversation
    faults: list[tuple[Answer, Number]]

    @property
    def name(self) -> str:
        """The conversation and its file, for a line of text."""
        return visible(f"{self.path}: conversation {self.conversation.conversation}")

    @property
    def notes(self) -> Iterable[str]:
        """The notes on what was not read, once each."""
        return dict.fromkeys(self.conversation.notes)


def faults_of(conversation: Conversation) -> list[tuple[Answer, Number]]:
    """Return the numbers that are unsourced or mislabelled, each with its answer."""
    return _numbers(conversation, FAULTS)


def _numbers(conversation: Conversation, verdicts: Iterable[str]) -> list[tuple[Answer, Number]]:
    return [
        (answer, number)
        for answer in conversation.answers
        for number in answer.numbers
        if number.verdict in verdicts
    ]


# --------------------------------------------------------------------------------------------------- figures


class Totals:
    """The counts for the last line, for ``--stats`` and for ``--judge``."""

    def __init__(self, modes: tuple[Mode, ...] = ()) -> None:
        self.conversations = self.answers = self.faults = self.unread = self.unread_results = 0
        self.verdicts: Counter[str] = Counter()
        self._modes = modes
        self._rejected: Counter[tuple[Mode, ...]] = Counter()  # answers, by the modes that reject them
        self._tools: Counter[str] = Counter()
        self._models: dict[str, list[bool]] = {}  # whether an answer has a fault
        self._weak = 0
        self._invented: list[bool] = []  # whether an invented number, tried in an answer, would have passed

    def add(self, judged: Judged) -> None:
        """Count a conversation."""
        conversation = judged.conversation
        self.conversations += not conversation.is_continued
        self.answers += len(conversation.answers)
        self.faults += len(judged.faults)
        self.unread += conversation.has_answer_unread
        self.unread_results += conversation.has_results_unread
        self.verdicts.update(number.verdict for number in conversation.numbers)
        for answer in conversation.answers:
            has_faults = any(number.verdict in FAULTS for number in answer.numbers)
            if answer.numbers:
                self._models.setdefault(answer.model or "unknown", []).append(has_faults)
            if answer.passes_invented is not None:
                self._invented.append(answer.passes_invented)
            if self._modes:
                verdict: Mapping[str, bool] = {
                    "sourced": has_faults,
                    "claims": bool(answer.numbers and scan_naked_numbers(answer.text)),
                }
                self._rejected[tuple(mode for mode in self._modes if verdict[mode])] += 1
        for number in conversation.numbers:
            self._weak += number.weak
            sources = number.derived["from"] if number.derived else [number.source] if number.source else []
            self._tools.update({source["tool"] for source in sources})

    def line(self) -> str:
        """Return the summary: ``2 conversations, 3 answers, 9 numbers: 8 sourced, 1 unsourced.``"""
        parts = ", ".join(
            f"{self.verdicts[verdict]:,} {verdict}" for verdict in VERDICTS if self.verdicts[verdict]
        )
        numbers = _counted(self.verdicts.total(), "number")
        what = (
            f"{_counted(self.conversations, 'conversation')}, {_counted(self.answers, 'answer')}, {numbers}"
        )
        line = f"{what}: {parts}." if parts else f"{what}."
        if self.unread:
            which = "conversation has" if self.unread == 1 else "conversations have"
            line += f" {self.unread} {which} no readable answer."
        return line

    def stats(self) -> Mapping[str, Any]:
        """Return the figures of an audit: rates with 95 % intervals (Wilson)."""
        answers = [has_faults for model in self._models.values() for has_faults in model]
        return {
            "conversations": self.conversations,
            "answers": self.answers,
            "answers_with_numbers": len(answers),
            "answers_with_faults": _ratio(answers),
            "numbers": self.verdicts.total(),
            "verdicts": {verdict: self.verdicts[verdict] for verdict in VERDICTS},
            "weak": self._weak,
            "invented_that_pass": _ratio(self._invented),
            "tools": dict(self._tools.most_common(_MOST_TOOLS)),
            "models": {model: _ratio(faults) for model, faults in sorted(self._models.items())},
            "unread": {"answers": self.unread, "results": self.unread_results},
        }

    def stats_text(self) -> str:
        """Return the figures of an audit as lines of text."""
        stats = self.stats()
        lines = [f"answers with a fault: {_ratio_text(stats['answers_with_faults'])}"]
        lines += [f"answers of {model}: {_ratio_text(ratio)}" for model, ratio in stats["models"].items()]
        lines += [f"numbers from {tool}: {count:,}" for tool, count in stats["tools"].items()]
        lines.append(f"weak (few digits, no shared word): {stats['weak']:,}")
        lines.append(f"invented numbers that would pass: {_ratio_text(stats['invented_that_pass'])}")
        return "".join(f"{visible(line)}\n" for line in lines)

    def judgement(self) -> Mapping[str, int]:
        """Return how many answers each mode rejects: ``{"claims": 3, "sourced": 2, "answers": 9, "both": 1}``."""
        by_mode: dict[str, int] = {
            mode: sum(count for modes, count in self._rejected.items() if mode in modes)
            for mode in self._modes
        }
        return {**by_mode, "answers": self._rejected.total(), "both": self._rejected[self._modes]}

    def judgement_text(self) -> str:
        """Return the counts of :meth:`judgement` as a sentence."""
        counts = self.judgement()
        modes = ", ".join(f"{mode} would reject {counts[mode]:,}" for mode in self._modes)
        return f"Of {_counted(counts['answers'], 'answer')} {modes}; both {counts['both']:,}."


def _ratio(outcomes: list[bool]) -> Mapping[str, Any]:
    """Return how many outcomes are true, of how many, with the 95 % interval of the ratio (Wilson's formula)."""
    count, total, z = sum(outcomes), len(outcomes), 1.96
    if not total:
        return {"count": 0, "of": 0, "interval": None}
    middle = count + z * z / 2
    spread = z * sqrt(count * (total - count) / total + z * z / 4)
    low, high = ((middle + sign * spread) / (total + z * z) for sign in (-1, 1))
    return {"count": count, "of": total, "interval": [round(max(0.0, low), 4), round(min(1.0, high), 4)]}


def _ratio_text(ratio: Mapping[str, Any]) -> str:
    interval = ratio["interval"]
    between = f" (95 %: {interval[0]:.1%} to {interval[1]:.1%})" if interval else ""
    return f"{ratio['count']:,} of {ratio['of']:,}{between}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


# --------------------------------------------------------------------------------------------------- formats


def render(judged: Iterable[Judged], output_format: str) -> Iterator[str]:
    """Return the output in pieces."""
    return FORMATS[output_format](judged)


def excerpt(answer: Answer, number: Number) -> str:
    """Return a number of an answer with the words around it, on one line."""
    start, end = max(0, number.start - _AROUND), number.end + _AROUND
    head = ("…" if start else "") + answer.text[start : number.start]
    tail = answer.text[number.end : end] + ("…" if end < len(answer.text) else "")
    return visible(" ".join(f"{head}[{number.text}]{tail}".split()))


_WORD = re.compile(r"\s?([^\W\d_]+)")


def _with_unit(answer: Answer, number: Number) -> str:
    """Return a number with its unit, spelled as in the answer if it is one word or sign: ``$150``, ``12 hours``."""
    unit = number.unit
    if not unit:
        return number.text
    if answer.text[: number.start].endswith(unit):  # $150
        return f"{unit}{number.text}"
    word = _WORD.match(answer.text, number.end)
    if (
        word is not None and unit in units_at(f" {word[1]}", 0)[0]
    ):  # "12 hours": the word reads as the unit `h`
        unit = word[1]
    return f"{number.text} {unit}"


def _message(answer: Answer, number: Number) -> str:
    shown = _with_unit(answer, number)
    if number.verdict == "derived":
        return f"derived `{shown}`: {basis_text(number)}"
    if number.verdict == "mislabelled" and number.source is not None:
        return f"mislabelled `{shown}`: it is {basis_text(number)}"
    return f"unsourced `{shown}`"


def _place(number: Number) -> str:
    return f"answer {number.answer + 1}, characters {number.start}-{number.end}"


def _text(judged: Iterable[Judged]) -> Iterator[str]:
    """Yield each fault and each derived number as text."""
    for run in judged:
        for note in run.notes:
            yield f"{run.name}: note: {visible(note)}\n"
        reported = [*run.faults, *_numbers(run.conversation, ("derived",))]
        for answer, number in sorted(reported, key=lambda pair: (pair[1].answer, pair[1].start)):
            yield f"{run.name}, {_place(number)}: {visible(_message(answer, number))}\n"
            yield f"    {excerpt(answer, number)}\n"


def _rows(judged: Iterable[Judged]) -> Iterator[str]:
    """Yield a JSON row for each number, and one without a verdict for each note."""
    for run in judged:
        reported = {(number.answer, number.start, number.end) for _, number in run.faults}
        for number in run.conversation.numbers:
            # A fault of the baseline has no row.
            if number.verdict not in FAULTS or (number.answer, number.start, number.end) in reported:
                yield json.dumps({"path": run.path, **number.to_dict()}, ensure_ascii=True)
        for note in run.notes:
            row = dict.fromkeys(Number._fields) | {
                "conversation": run.conversation.conversation,
                "note": note,
            }
            yield json.dumps({"path": run.path, **row}, ensure_ascii=True)


def _json(judged: Iterable[Judged]) -> Iterator[str]:
    separator = "[\n"
    for row in _rows(judged):
        yield f"{separator}  {row}"
        separator = ",\n"
    yield "[]\n" if separator == "[\n" else "\n]\n"


def _json_lines(judged: Iterable[Judged]) -> Iterator[str]:
    for row in _rows(judged):
        yield f"{row}\n"


def _junit(judged: Iterable[Judged]) -> Iterator[str]:
    """Yield the audit as JUnit XML: a test suite for each file, a test case for each conversation."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="gllint audit">\n'
    current: str | None = None
    lines: list[str] = []  # of a conversation, over its parts
    for run in judged:
        if run.path != current:
            yield "" if current is None else "  </testsuite>\n"
            yield f"  <testsuite name={_attribute(run.path)}>\n"
            current = run.path
        for answer, number in run.faults:
            message = _attribute(f"{_place(number)}: {_message(answer, number)}")
            text = escape(excerpt(answer, number))
            lines.append(
                f"      <failure type={_attribute(number.verdict)} message={message}>{text}</failure>\n"
            )
        if run.conversation.notes:
            notes = visible("; ".join(run.notes))
            is_unread = run.conversation.has_results_unread or run.conversation.has_answer_unread
            lines.append(
                f'      <error type="unread" message={quoteattr(notes)}/>\n'
                if is_unread
                else f"      <system-out>{escape(notes)}</system-out>\n"
            )
        if not run.conversation.is_continued:
            name = _attribute(f"conversation {run.conversation.conversation}")
            case = f"    <testcase classname={_attribute(run.path)} name={name}"
            yield "".join([case, ">\n", *lines, "    </testcase>\n"]) if lines else f"{case}/>\n"
            lines = []
    yield "</testsuites>\n" if current is None else "  </testsuite>\n</testsuites>\n"


def _sarif(judged: Iterable[Judged]) -> Iterator[str]:
    """Yield the audit as SARIF, in one piece."""
    results, notes = [], []
    for run in judged:
        file = {"physicalLocation": {"artifactLocation": {"uri": run.path}, "region": {"startLine": 1}}}
        for answer, number in run.faults:
            name = f"conversation {number.conversation}, {_place(number)}"
            result = {
                "ruleId": number.verdict,
                "level": "error",
                "message": {"text": f"{_message(answer, number)}: {excerpt(answer, number)}"},
                "locations": [{**file, "logicalLocations": [{"fullyQualifiedName": name}]}],
            }
            results.append(result)
        for note in run.notes:
            level = "error" if run.conversation.has_results_unread else "warning"
            notes.append({"level": level, "message": {"text": f"{run.name}: {note}"}, "locations": [file]})
    rules = [{"id": verdict, "shortDescription": {"text": VERDICTS[verdict]}} for verdict in sorted(FAULTS)]
    log = {
        "tool": {"driver": {"name": "gllint audit", "version": __version__, "rules": rules}},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notes}],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    yield json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [log]}, indent=2) + "\n"


def _page(judged: Iterable[Judged]) -> Iterator[str]:
    yield page(
        replace(run.conversation, conversation=f"{run.conversation.conversation} of {run.path}")
        for run in judged
    )


FORMATS: Mapping[str, Callable[[Iterable[Judged]], Iterator[str]]] = {
    "text": _text,
    "json": _json,
    "json-lines": _json_lines,
    "junit": _junit,
    "sarif": _sarif,
    "html": _page,
}


def _attribute(text: str) -> str:
    return quoteattr(visible(text))

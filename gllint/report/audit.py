"""The output of an audit: on a terminal, as JSON, JUnit or a page. All but the page are written as they come."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from xml.sax.saxutils import escape, quoteattr

from gllint.shown import visible
from gllint_rules.tuples import NamedTuple
from gllint_runtime.audit.judgement import FAULTS, Answer, Conversation, Number
from gllint_runtime.audit.page import VERDICTS, basis_text, page
from gllint_runtime.policy.text_units import units_at

FORMATS = ("text", "json", "junit", "html")
_AROUND = 40  # characters of the answer that are shown on either side


class Judged(NamedTuple):
    """A conversation of a file, and its faults to report: all, or those that are in no baseline."""

    path: str
    conversation: Conversation
    faults: list[tuple[Answer, Number]]


def faults_of(conversation: Conversation) -> list[tuple[Answer, Number]]:
    """The numbers that are unsourced or mislabelled, each with its answer."""
    return [
        (answer, number)
        for answer in conversation.answers
        for number in answer.numbers
        if number.verdict in FAULTS
    ]


class Totals:
    """What was counted, for the last line."""

    def __init__(self) -> None:
        self.conversations = self.answers = self.faults = self.unread = self.unread_results = 0
        self.verdicts: Counter[str] = Counter()

    def add(self, judged: Judged) -> None:
        """Count a conversation."""
        self.conversations += not judged.conversation.is_continued
        self.answers += len(judged.conversation.answers)
        self.faults += len(judged.faults)
        self.unread += judged.conversation.has_answer_unread
        self.unread_results += judged.conversation.has_results_unread
        self.verdicts.update(number.verdict for number in judged.conversation.numbers)

    def line(self) -> str:
        """One sentence."""
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
            line += f" {self.unread} {which} no answer that can be read."
        return line


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def render(judged: Iterable[Judged], output_format: str) -> Iterator[str]:
    """The output in pieces."""
    renderers = {"text": _text, "json": _json, "junit": _junit, "html": _page}
    return renderers[output_format](judged)


def excerpt(answer: Answer, number: Number) -> str:
    """A number of an answer with the words around it, on one line."""
    start, end = max(0, number.start - _AROUND), number.end + _AROUND
    head = (
        " ".join(answer.text[start : number.start].split(" "))
        if start == 0
        else "…" + answer.text[start : number.start]
    )
    tail = answer.text[number.end : end] + ("…" if end < len(answer.text) else "")
    return visible(" ".join(f"{head}[{number.text}]{tail}".split()))


_WORD = re.compile(r"\s?([^\W\d_]+)")


def _shown(answer: Answer, number: Number) -> str:
    """Return a number with its unit as it is typed, if that is one word or sign; else as gllint writes it."""
    unit = number.unit
    if not unit:
        return number.text
    if answer.text[: number.start].endswith(unit):  # $150
        return f"{unit}{number.text}"
    word = _WORD.match(answer.text, number.end)
    if word is not None and unit in units_at(f" {word[1]}", 0)[0]:
        unit = word[1]
    return f"{number.text} {unit}"


def _message(answer: Answer, number: Number) -> str:
    shown = _shown(answer, number)
    if number.verdict == "mislabelled" and number.source is not None:
        return f"mislabelled `{shown}`: it is {basis_text(number)}"
    return f"unsourced `{shown}`"


def _text(judged: Iterable[Judged]) -> Iterator[str]:
    for one in judged:
        name = visible(f"{one.path}: conversation {one.conversation.conversation}")
        for note in dict.fromkeys(one.conversation.notes):
            yield f"{name}: note: {visible(note)}\n"
        for answer, number in one.faults:
            place = f"answer {number.answer + 1}, characters {number.start}-{number.end}"
            yield f"{name}, {place}: {visible(_message(answer, number))}\n"
            yield f"    {excerpt(answer, number)}\n"


def _json(judged: Iterable[Judged]) -> Iterator[str]:
    separator = "[\n"
    for one in judged:
        wanted = {(number.answer, number.start, number.end) for _, number in one.faults}
        for number in one.conversation.numbers:
            if number.verdict not in FAULTS or (number.answer, number.start, number.end) in wanted:
                entry = {"path": one.path, **number.to_dict()}
                yield f"{separator}  {json.dumps(entry, ensure_ascii=True)}"
                separator = ",\n"
    yield "[]\n" if separator == "[\n" else "\n]\n"


def _junit(judged: Iterable[Judged]) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="gllint audit">\n'
    current: str | None = None
    for one in judged:
        if one.path != current:
            yield "" if current is None else "  </testsuite>\n"
            yield f"  <testsuite name={_attribute(one.path)}>\n"
            current = one.path
        name = _attribute(f"conversation {one.conversation.conversation}")
        if not one.faults:
            yield f"    <testcase classname={_attribute(one.path)} name={name}/>\n"
            continue
        yield f"    <testcase classname={_attribute(one.path)} name={name}>\n"
        for answer, number in one.faults:
            message = _attribute(
                f"answer {number.answer + 1}, characters {number.start}-{number.end}: {_message(answer, number)}"
            )
            text = escape(excerpt(answer, number))
            yield f"      <failure type={_attribute(number.verdict)} message={message}>{text}</failure>\n"
        yield "    </testcase>\n"
    yield "</testsuites>\n" if current is None else "  </testsuite>\n</testsuites>\n"


def _page(judged: Iterable[Judged]) -> Iterator[str]:
    yield page(
        replace(one.conversation, conversation=f"{one.conversation.conversation} of {one.path}")
        for one in judged
    )


def _attribute(text: str) -> str:
    return quoteattr(visible(text))

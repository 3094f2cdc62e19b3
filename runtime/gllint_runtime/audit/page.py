"""The page of an audit: each answer with its numbers underlined, each linked to what it rests on.

One file without a script that asks nothing of the network. Everything that a tool or a model wrote is escaped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from html import escape
from typing import Any

from gllint_runtime.audit.judgement import FAULTS, Answer, Conversation, Number
from gllint_runtime.policy.data_files import read

VERDICTS: Mapping[str, str] = {
    "unsourced": "no source",
    "mislabelled": "a source has these digits with another unit, sign, size, row or key",
    "derived": "follows from other numbers, listed here",
    "quoted": "the user, the program or a text that a tool returned has it",
    "sourced": "a tool returned it, in the unit here or converted to it",
    "exempt": "a list marker or a name with digits",
}
_MAX_PAGE = 20_000_000  # characters, of which a browser still makes a page
_MAX_TEXT = 200
_MAX_PARTS = 5  # numbers of which another is derived


def page(conversations: Iterable[Conversation]) -> str:
    """Return the page. Answers with unsourced numbers come first; beyond 20 MB the rest is only counted."""
    counts: Counter[str] = Counter()
    total = answers = left_out = size = 0
    faulty: list[str] = []
    sound: list[str] = []
    for number, conversation in enumerate(conversations):
        total += not conversation.is_continued
        answers += len(conversation.answers)
        counts.update(one.verdict for one in conversation.numbers)
        if not conversation.numbers and not conversation.notes:
            continue
        if size > _MAX_PAGE:
            left_out += 1
            continue
        text = "".join(_conversation(conversation, number))
        size += len(text)
        is_faulty = any(one.verdict in FAULTS for one in conversation.numbers)
        (faulty if is_faulty else sound).append(text)
    figures = "".join(f"<div><dt>{verdict}</dt><dd>{counts[verdict]:,}</dd></div>" for verdict in VERDICTS)
    key = "".join(
        f'<li><span class="n {verdict}">{verdict}</span>: {meaning}.</li>'
        for verdict, meaning in VERDICTS.items()
    )
    rest = f'<p class="soft">{left_out:,} more are not shown.</p>' if left_out else ""
    summary = f"{_counted(total, 'conversation')}, {_counted(answers, 'answer')}, {_counted(counts.total(), 'number')}."
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<link rel="icon" href="data:,"><title>Audit of numbers</title>'
        f"<style>{_style()}</style></head><body><main><h1>What the numbers rest on</h1><p>{summary}</p>"
        f"<dl>{figures}</dl><ul>{key}</ul>{''.join(faulty)}{''.join(sound)}{rest}</main></body></html>\n"
    )


@cache
def _style() -> str:
    return read("../audit/page.css")


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _conversation(conversation: Conversation, number: int) -> Iterator[str]:
    """Yield a conversation of the page: its notes and answers."""
    yield f"<article><h2>Conversation {_text(conversation.conversation)}</h2>"
    for note in conversation.notes:
        yield f'<p class="soft">{_text(note)}</p>'
    for answer in conversation.answers:
        if answer.numbers:
            anchor = f"c{number}-{answer.number}"
            yield f'<div class="answer">{"".join(_marked(answer, anchor))}</div>'
            yield from _table(answer, anchor)
    yield "</article>"


def _marked(answer: Answer, anchor: str) -> Iterator[str]:
    """Yield an answer with its numbers underlined."""
    position = 0
    for place, number in enumerate(answer.numbers):
        shown = _escaped(answer.text[number.start : number.end])
        label = f"{shown}: {number.verdict}, {VERDICTS[number.verdict]}"
        yield _escaped(answer.text[position : number.start])
        if number.verdict == "exempt":
            yield f'<span class="n exempt" title="{label}">{shown}</span>'
        else:
            yield f'<a class="n {number.verdict}" href="#{anchor}-{place}" title="{label}">{shown}</a>'
        position = number.end
    yield _escaped(answer.text[position:])


def _table(answer: Answer, anchor: str) -> Iterator[str]:
    """Yield the table of an answer's numbers and their sources."""
    rows = [(place, number) for place, number in enumerate(answer.numbers) if number.verdict != "exempt"]
    if not rows:
        return
    yield "<table><tr><th>Number</th><th>Verdict</th><th>Rests on</th></tr>"
    for place, number in rows:
        shown = " ".join([_text(number.text), *([_text(number.unit)] if number.unit else [])])
        look = {"unsourced": "unsourced", "mislabelled": "unsourced", "derived": "derived"}.get(
            number.verdict, "soft"
        )
        basis = basis_text(number, _text, "<code>", "</code>")
        yield (
            f'<tr id="{anchor}-{place}"><td>{shown}</td><td class="{look}">{number.verdict}</td><td>{basis}</td></tr>'
        )
    yield "</table>"


def basis_text(number: Number, show: Any = str, opening: str = "", closing: str = "") -> str:
    """Return the source of a number: the call, the path, the value."""
    if number.derived is not None:
        parts = [_source_text(source, show, opening, closing) for source in number.derived["from"]]
        rest = f" and {len(parts) - _MAX_PARTS} more" if len(parts) > _MAX_PARTS else ""
        return f"{number.derived['how']} of {', '.join(parts[:_MAX_PARTS])}{rest}"
    if number.source is None:
        return VERDICTS[number.verdict]
    return _source_text(number.source, show, opening, closing)


def _source_text(source: Mapping[str, Any], show: Any, opening: str, closing: str) -> str:
    value = f"{source['value']} {source['unit']}" if source["unit"] else str(source["value"])
    call = f" ({show(source['call_id'])})" if source["call_id"] else ""
    return f"{opening}{show(value)}{closing} from {show(source['tool'])}{call} {opening}{show(source['path'])}{closing}"


def _escaped(text: str) -> str:
    return escape("".join(c if c.isprintable() or c in "\n\t" else "�" for c in text))


def _text(text: str) -> str:
    return _escaped(text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…")

"""The audit of recorded runs: what each number of each answer rests on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from gllint_runtime.audit.formats import FormatError, Reader, Record, formats
from gllint_runtime.audit.judgement import FAULTS, Answer, Conversation, Listener
from gllint_runtime.audit.page import page
from gllint_runtime.policy.settings import Policy

_MAX_OPEN = 2_000  # conversations whose turns come in pieces
_MAX_ITEMS = 20_000  # of one trace, which are put in order first
_MAX_DEPTH = 60


@dataclass
class Audit:
    """Recorded conversations, judged. ``numbers`` has an entry for each number of each answer, as plain data."""

    conversations: list[Conversation]

    @property
    def numbers(self) -> list[dict[str, Any]]:
        """``{"conversation", "answer", "text", "start", "end", "verdict", "unit", "source"}`` of each number."""
        return [number.to_dict() for item in self.conversations for number in item.numbers]

    @property
    def counts(self) -> dict[str, int]:
        """How many numbers have each verdict."""
        return dict(Counter(number.verdict for item in self.conversations for number in item.numbers))

    @property
    def has_faults(self) -> bool:
        """Whether an answer has a number that is unsourced or mislabelled."""
        return any(number.verdict in FAULTS for item in self.conversations for number in item.numbers)

    def to_json(self) -> str:
        """The numbers as a JSON array."""
        return json.dumps(self.numbers, ensure_ascii=False, indent=2) + "\n"

    def to_html(self) -> str:
        """A page: each answer with its numbers underlined, and what each rests on."""
        return page(self.conversations)


def audit_run(run: Any, *, format: str = "auto", policy: Policy | None = None) -> Audit:
    """Judge a recorded run, or several: messages of any SDK or framework that the table of formats knows, or spans.

    ``run`` is what the framework has in memory or writes as JSON: a list of messages, an object with one,
    a list of such. ``format`` is ``"auto"`` or a name of the table, all of which is read in any case.
    Raises :class:`~gllint_runtime.audit.formats.FormatError`, a ValueError, for what is none.
    """
    if format != "auto" and format not in formats():
        raise FormatError(f"there is no format {format!r}")
    reader = Reader()
    return Audit([*judged_records([reader.read(plain_run(run))], policy, reader)])


def judged_records(
    records: Iterable[list[Record]], policy: Policy | None = None, reader: Reader | None = None
) -> Iterator[Conversation]:
    """Judge conversations as they come: whole ones at once, those that come in pieces when there is no more."""
    pieces = _Pieces(policy, reader or Reader())
    count = 0
    for group in records:
        for record in group:
            if record.is_whole:
                count += 1
                yield judged(record.conversation or str(count), record, policy)
            else:
                yield from pieces.add(record)
    yield from pieces.finish()


def judged(name: str, record: Record, policy: Policy | None = None) -> Conversation:
    """The audit of one conversation: it depends on its turns and the policy alone."""
    opened = _Open(name, policy)
    opened.add(record)
    return opened.finish()


class _Open:
    """A conversation that is heard."""

    def __init__(self, name: str, policy: Policy | None) -> None:
        self.conversation = Conversation(name)
        self._listener = Listener(name, policy)

    def add(self, record: Record) -> list[Answer]:
        """Hear a record: the answers that it gives, which the conversation has, too."""
        self._listener.has_gaps |= bool(record.unread)
        self.conversation.has_results_unread |= record.has_results_unread
        self.conversation.notes += _unread_notes(record.unread)
        answers = [answer for turn in record.turns for answer in self._listener.hear(turn)]
        self.conversation.answers += answers
        return answers

    @property
    def has_results_unread(self) -> bool:
        """Whether what a tool returned may be in what was not read so far."""
        return self.conversation.has_results_unread or self._listener.has_results_unread

    def finish(self) -> Conversation:
        """The whole conversation."""
        conversation, listener = self.conversation, self._listener
        conversation.answers += listener.finish()
        conversation.notes += listener.notes
        conversation.has_answer_unread = listener.has_answer_unread
        conversation.has_results_unread = self.has_results_unread
        conversation.leave_open()
        return conversation


def _unread_notes(unread: Iterable[str]) -> list[str]:
    return [
        f"{what} was passed over" + (f" ({count} times)" if count > 1 else "")
        for what, count in Counter(unread).items()
    ]


class _Pieces:
    """Conversations with a part in each record, distinguished by their ids."""

    def __init__(self, policy: Policy | None, reader: Reader) -> None:
        self._policy, self._reader = policy, reader
        self._open: dict[str, _Open] = {}
        self._items: dict[str, list[Any]] = {}

    def add(self, record: Record) -> Iterator[Conversation]:
        name = record.conversation
        if record.item is not None:
            yield from self._add_item(name, record.item)
            return
        if name not in self._open:
            if len(self._open) >= _MAX_OPEN:
                yield self._open.pop(next(iter(self._open))).finish()
            self._open[name] = _Open(name or "1", self._policy)
        answers = self._open[name].add(record)
        if answers and not name:  # it may be without end
            opened = self._open[name]
            opened.conversation.answers.clear()
            part = Conversation("1", answers, is_continued=True, has_results_unread=opened.has_results_unread)
            part.leave_open()
            yield part

    def _add_item(self, name: str, item: Any) -> Iterator[Conversation]:
        """Keep an operation of a trace until all are there."""
        if name not in self._items and len(self._items) >= _MAX_OPEN:
            yield self._judge_items(next(iter(self._items)))
        items = self._items.setdefault(name, [])
        items.append(item)
        if len(items) >= _MAX_ITEMS:
            yield self._judge_items(name)

    def _judge_items(self, name: str) -> Conversation:
        record = self._reader.conversation_of(self._items.pop(name))
        return judged(name or "1", record, self._policy)

    def finish(self) -> Iterator[Conversation]:
        for opened in self._open.values():
            yield opened.finish()
        for name in [*self._items]:
            yield self._judge_items(name)


# ---------------------------------------------------------------------------------------- objects in memory


def plain_run(run: Any, depth: int = 0) -> Any:
    """Return the messages of a framework as the plain data of their JSON."""
    if depth > _MAX_DEPTH or run is None or isinstance(run, (str, int, float, bool)):
        return run
    if isinstance(run, Mapping):
        return {str(key): plain_run(value, depth + 1) for key, value in run.items()}
    if isinstance(run, (list, tuple)):
        return [plain_run(item, depth + 1) for item in run]
    if is_dataclass(run) and not isinstance(run, type):
        return {item.name: plain_run(getattr(run, item.name), depth + 1) for item in fields(run)}
    dump = getattr(run, "model_dump", None)
    if callable(dump):
        return plain_run(dump(), depth + 1)
    if hasattr(run, "attributes") and hasattr(run, "name"):  # a span of OpenTelemetry's SDK
        own = {
            name: getattr(run, name, None)
            for name in ("name", "attributes", "start_time", "end_time", "events")
        }
        context = getattr(run, "context", None)
        if context is not None:
            own["trace_id"] = format(getattr(context, "trace_id", 0), "x")
            for name, holder in (("span_id", context), ("parent_id", getattr(run, "parent", None))):
                if isinstance(number := getattr(holder, "span_id", None), int):
                    own[name] = format(number, "x")
        return plain_run(own, depth + 1)
    return str(run)

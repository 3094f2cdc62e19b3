"""The audit of recorded runs: what each number of each answer rests on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from gllint_runtime.audit.formats import Reader, Record, conversation_of
from gllint_runtime.audit.judgement import FAULTS, Conversation, Listener
from gllint_runtime.audit.page import page
from gllint_runtime.audit.turns import Turn
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
    """Judge a recorded run, or several: messages of OpenAI, Anthropic, LangChain, pydantic-ai, MCP, or spans.

    ``run`` is what the framework has in memory or writes as JSON: a list of messages, an object with one,
    a list of such. Raises :class:`~gllint_runtime.audit.formats.FormatError`, a ValueError, for what is none.
    """
    reader = Reader(format)
    run = plain_run(run)
    records = reader.read(run)
    return Audit([*judged_records([records], policy)])


def judged_records(records: Iterable[list[Record]], policy: Policy | None = None) -> Iterator[Conversation]:
    """Judge conversations as they come: whole ones at once, those that come in pieces when there is no more."""
    pieces = _Pieces(policy)
    count = 0
    for group in records:
        for record in group:
            if record.is_whole:
                count += 1
                yield judged(record.conversation or str(count), record.turns, policy, record.unread)
            else:
                yield from pieces.add(record)
    yield from pieces.finish()


def judged(
    conversation: str, turns: Iterable[Turn], policy: Policy | None = None, unread: Iterable[str] = ()
) -> Conversation:
    """The audit of one conversation: it depends on its turns and the policy alone."""
    listener = Listener(conversation, policy)
    gaps = _unread_notes(unread)
    listener.has_gaps = bool(gaps)
    answers = [answer for turn in turns if (answer := listener.hear(turn)) is not None]
    listener.finish()
    notes = [*gaps, *listener.notes]
    return Conversation(conversation, answers, notes, has_answer_unread=listener.has_answer_unread)


def _unread_notes(unread: Iterable[str]) -> list[str]:
    return [
        f"{what} was passed over" + (f" ({count} times)" if count > 1 else "")
        for what, count in Counter(unread).items()
    ]


class _Pieces:
    """Conversations with one turn in each record, distinguished by their ids."""

    def __init__(self, policy: Policy | None) -> None:
        self._policy = policy
        self._listeners: dict[str, tuple[Listener, Conversation]] = {}
        self._items: dict[str, tuple[str, list[Any]]] = {}

    def add(self, record: Record) -> Iterator[Conversation]:
        name = record.conversation
        if record.item is not None:
            yield from self._add_item(name, record)
            return
        if name in self._listeners:
            listener, conversation = self._listeners[name]
        else:
            if len(self._listeners) >= _MAX_OPEN:
                yield self._close(next(iter(self._listeners)))
            listener = Listener(name or "1", self._policy)
            conversation = Conversation(name or "1")
            self._listeners[name] = listener, conversation
        conversation.notes += _unread_notes(record.unread)
        listener.has_gaps = listener.has_gaps or bool(record.unread)
        for turn in record.turns:
            answer = listener.hear(turn)
            if answer is not None:
                if name:
                    conversation.answers.append(answer)
                else:  # it may be without end
                    yield Conversation(conversation.conversation, [answer], is_continued=True)

    def _add_item(self, name: str, record: Record) -> Iterator[Conversation]:
        """Keep an item that is put in order before it is judged."""
        if name not in self._items and len(self._items) >= _MAX_OPEN:
            yield self._judge_items(next(iter(self._items)))
        _, items = self._items.setdefault(name, (record.format, []))
        items.append(record.item)
        if len(items) >= _MAX_ITEMS:
            yield self._judge_items(name)

    def _judge_items(self, name: str) -> Conversation:
        format_name, items = self._items.pop(name)
        record = conversation_of(items, format_name)
        return judged(name or "1", record.turns, self._policy, record.unread)

    def _close(self, name: str) -> Conversation:
        listener, conversation = self._listeners.pop(name)
        listener.finish()
        conversation.notes += listener.notes
        conversation.has_answer_unread = listener.has_answer_unread
        return conversation

    def finish(self) -> Iterator[Conversation]:
        for name in [*self._listeners]:
            yield self._close(name)
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
        return plain_run(own, depth + 1)
    return str(run)

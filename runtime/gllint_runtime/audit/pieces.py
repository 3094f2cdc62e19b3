"""Conversations that come in pieces, one judged at a time. Their pieces wait in a temporary file, not in memory."""

from __future__ import annotations

import json
from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from itertools import chain, islice
from tempfile import SpooledTemporaryFile
from typing import Any

from gllint_runtime.audit.formats import Reader, Record
from gllint_runtime.audit.judgement import Conversation, Listener
from gllint_runtime.audit.turns import TURNS, On, Turn

_MAX_ITEMS = 20_000  # operations of one trace that are put in order together
_MAX_ANSWERS = 1_000  # of one conversation, which is longer in several parts
_MAX_IN_MEMORY = 1 << 22  # bytes of pieces that need no file


class OpenConversation:
    """A conversation of which more may come."""

    def __init__(self, listener: Listener) -> None:
        self._part = Conversation(listener.conversation)
        self._listener = listener

    def add(self, record: Record, *, is_live: bool = False) -> Iterator[Conversation]:
        """Hear a record: the part that is judged, where it is long enough, or ``is_live`` and has an answer."""
        self._listener.has_gaps |= bool(record.unread)
        self._part.has_results_unread |= record.has_results_unread
        self._part.notes += [
            f"{what} was passed over" + (f" ({count} times)" if count > 1 else "")
            for what, count in Counter(record.unread).items()
        ]
        turns = deque(record.turns)
        record.turns.clear()  # what was heard needs no memory
        while turns:
            self._part.answers += self._listener.hear(turns.popleft())
            if len(self._part.answers) >= _MAX_ANSWERS:
                yield self._cut()
        if is_live and self._part.answers:
            yield self._cut()

    def _cut(self) -> Conversation:
        """Return the part so far; what was not read is reported with the last."""
        part = self._part
        part.has_results_unread |= self._listener.has_results_unread
        rest = Conversation(part.conversation, [], part.notes, has_results_unread=part.has_results_unread)
        self._part, part.notes, part.is_continued = rest, [], True
        part.leave_open()
        return part

    def finish(self) -> Conversation:
        """Return all that was not a part."""
        part, listener = self._part, self._listener
        part.answers += listener.finish()
        part.notes += listener.notes
        part.has_answer_unread = listener.has_answer_unread
        part.has_results_unread |= listener.has_results_unread
        part.leave_open()
        return part


class Pieces:
    """Conversations with a part in each record, distinguished by their ids; one without an id is judged at once."""

    def __init__(self, listen: Callable[[str], Listener], reader: Reader) -> None:
        self._listen, self._reader = listen, reader
        self._file = SpooledTemporaryFile(_MAX_IN_MEMORY)  # noqa: SIM115  closed with the last reference to it
        self._places: dict[str, array[int]] = {}
        self._end = 0
        self._nameless: OpenConversation | None = None

    def add(self, record: Record) -> Iterator[Conversation]:
        """Take in a piece."""
        if record.conversation or record.item is not None:
            line = json.dumps(_plain(record)).encode() + b"\n"
            self._places.setdefault(record.conversation, array("Q")).append(self._end)
            self._file.write(line)
            self._end += len(line)
        else:
            self._nameless = self._nameless or OpenConversation(self._listen("1"))
            yield from self._nameless.add(record, is_live=True)

    def finish(self) -> Iterator[Conversation]:
        """Judge each conversation, in the order in which they began."""
        if self._nameless is not None:
            yield self._nameless.finish()
        for name, places in self._places.items():
            records = map(self._record, places)
            first = next(records)
            if first.item is None:
                opened = OpenConversation(self._listen(name))
                for record in chain((first,), records):
                    yield from opened.add(record)
                yield opened.finish()
                continue
            items = [first.item]
            while items:
                items += [record.item for record in islice(records, _MAX_ITEMS - len(items))]
                yield from audit_of(self._listen(name or "1"), self._reader.conversation_of(items))
                items = [record.item for record in islice(records, 1)]

    def _record(self, place: int) -> Record:
        self._file.seek(place)
        turns, unread, has_results_unread, item = json.loads(self._file.readline())
        return Record("", [*map(_turn, turns)], False, unread, has_results_unread, item)


def audit_of(listener: Listener, record: Record) -> Iterator[Conversation]:
    """Yield the audit of a whole conversation, which depends on its turns and the policy alone."""
    opened = OpenConversation(listener)
    yield from opened.add(record)
    yield opened.finish()


def _plain(record: Record) -> Sequence[Any]:
    turns = [
        (type(turn).__name__, *((turn.day.isoformat(),) if isinstance(turn, On) else turn))
        for turn in record.turns
    ]
    return turns, record.unread, record.has_results_unread, record.item


def _turn(plain: Sequence[Any]) -> Turn:
    name, *fields = plain
    return On(date.fromisoformat(*fields)) if name == "On" else TURNS[name](*fields)

"""The audit of recorded runs: what each number of each answer rests on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from gllint_runtime.audit.formats import FormatError, Reader, Record, formats
from gllint_runtime.audit.judgement import FAULTS, Conversation, Listener
from gllint_runtime.audit.page import page
from gllint_runtime.audit.pieces import Pieces, audit_of
from gllint_runtime.policy.settings import Policy

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
        """The number of numbers with each verdict."""
        return dict(Counter(number.verdict for item in self.conversations for number in item.numbers))

    @property
    def has_faults(self) -> bool:
        """Return whether an answer has a number that is unsourced or mislabelled."""
        return any(number.verdict in FAULTS for item in self.conversations for number in item.numbers)

    def to_json(self) -> str:
        """Return the numbers as a JSON array."""
        return json.dumps(self.numbers, ensure_ascii=False, indent=2) + "\n"

    def to_html(self) -> str:
        """Return a page: each answer with its numbers underlined, and what each rests on."""
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
    records: Iterable[list[Record]],
    policy: Policy | None = None,
    reader: Reader | None = None,
    *,
    tries_invented: bool = False,
) -> Iterator[Conversation]:
    """Judge conversations as they come: whole ones at once, those that come in pieces when there is no more.

    A long one comes in several parts, of which the last alone is not ``is_continued``. ``tries_invented``: see
    :class:`~gllint_runtime.audit.judgement.Answer`.
    """

    def listen(name: str) -> Listener:
        return Listener(name, policy, tries_invented=tries_invented)

    pieces = Pieces(listen, reader or Reader())
    count = 0
    for group in records:
        for record in group:
            if record.is_whole:
                count += 1
                yield from audit_of(listen(record.conversation or str(count)), record)
            else:
                yield from pieces.add(record)
    yield from pieces.finish()


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

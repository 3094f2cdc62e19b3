"""The verdicts of a session, in order: its trace, as a chain of hashes, and its listeners."""

from __future__ import annotations

import hashlib
import json
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, Literal

from gllint_runtime.execution.record import CallRecord
from gllint_runtime.execution.trace import snapshot
from gllint_runtime.policy.data import copy_plain
from gllint_runtime.policy.errors import GLError
from gllint_runtime.policy.levels import Level
from gllint_runtime.policy.log import logger
from gllint_runtime.policy.schemas import show_path

Event = dict[str, Any]
"""A verdict: ``verdict`` (``"pass"``, ``"warn"``, ``"block"``), ``code`` and ``error`` (``None`` where it passes)."""

Redact = Callable[[str], str]

_MOST_ENTRIES = 10_000
_MOST_PLACES = 200  # of raw numbers in one JSON text
_START = "sha256:" + "0" * 64


class Verdicts:
    """The trace of a session and its listeners.

    ``redact`` receives each text of the trace and the events, and returns its replacement.
    """

    def __init__(self, redact: Redact | None = None) -> None:
        self.redact = redact
        self._listeners: list[Callable[[Event], Any]] = []
        # Entries whose hash was asked for, the hash before them, and those that were only noted: most are never asked.
        self._chained: deque[dict[str, Any]] = deque(maxlen=_MOST_ENTRIES)
        self._last = _START
        self._noted: list[tuple[str, Any]] = []

    def listen(self, callback: Callable[[Event], Any]) -> None:
        """Call ``callback`` with each verdict from now on."""
        self._listeners.append(callback)

    def call(self, record: CallRecord) -> None:
        """Note a call whose output was recorded."""
        self._note("tool", record)

    def passed(self, claims: int) -> None:
        """Note a message that passes."""
        self._note("verdict", {"verdict": "pass", "claims": claims})
        self._publish("pass", None)

    def unclaimed(self, place: str, value: Any, reason: str) -> None:
        """Note a number that is declared to need no claim."""
        self._note(
            "verdict", {"verdict": "pass", "unclaimed": place, "value": snapshot(value), "reason": reason}
        )

    def violation(self, error: GLError, level: Level) -> dict[str, Any]:
        """Note an error with its level in the trace, report it, and return it as data.

        Raises it if the level is ``"block"``.
        """
        described = {**error.to_dict(), "level": level}
        shown = self.redacted(snapshot(described))
        self._note("verdict", {"verdict": level, **shown})
        if level != "shadow":
            self._publish(level, shown)
        if level == "block":
            raise error
        if level == "warn":
            logger.warning("[%s] %s", shown["code"], shown["message"])
        return described

    def settle(
        self,
        errors: Sequence[GLError],
        level_of: Callable[[str], Level],
        passed: int,
        note: GLError | None = None,
    ) -> list[dict[str, Any]]:
        """Give one verdict on a message: raise the first error that blocks, else report the worst, else pass;
        return the errors.

        ``passed`` is how many numbers passed, ``note`` an error that by itself makes no verdict.
        """
        if note is not None:
            level = level_of(note.code)
            if level == "shadow":
                self._note(
                    "verdict",
                    {"verdict": level, **self.redacted(snapshot({**note.to_dict(), "level": level}))},
                )
            else:
                errors = [*errors, note]
        if not errors:
            self.passed(passed)
            return []
        order = ("block", "warn", "shadow")
        ranked = sorted(errors, key=lambda error: order.index(level_of(error.code)))
        described = [{**error.to_dict(), "level": level_of(error.code)} for error in ranked]
        for error in ranked[1:]:
            self._note(
                "verdict", {"verdict": level_of(error.code), **self.redacted(snapshot(error.to_dict()))}
            )
        self.violation(ranked[0], level_of(ranked[0].code))
        return described

    def redacted(self, value: Any) -> Any:
        """Return plain data with each text value replaced by what ``redact`` returns for it; keys stay."""
        redact = self.redact
        if redact is None:
            return value
        if isinstance(value, str):
            return redact(value)
        if isinstance(value, Mapping):
            return {key: self.redacted(item) for key, item in value.items()}
        return [self.redacted(item) for item in value] if isinstance(value, list) else value

    # ------------------------------------------------------------------------------------------ the chain

    def trace(self) -> list[dict[str, Any]]:
        """Return a copy of the entries, each with the hash of the one before (``previous``) and its own (``hash``)."""
        self._chain()
        return [copy_plain(entry) for entry in self._chained]

    def restore(self, entries: Any) -> None:
        """Go on behind the entries that :meth:`trace` gave. Raises ValueError if one was changed."""
        entries = [*entries]
        if trace_break(entries) is not None:
            raise ValueError("the trace was changed after it was written")
        self._chained.extend(entries)
        self._last = entries[-1]["hash"] if entries else _START

    def _note(self, kind: Literal["tool", "verdict"], what: Any) -> None:
        self._noted.append((kind, what))
        if len(self._noted) > _MOST_ENTRIES:
            self._chain()

    def release(self, record: CallRecord) -> None:
        """Keep no output for the trace of a call that is forgotten."""
        if any(what is record for _, what in self._noted):
            self._chain()

    def _chain(self) -> None:
        for kind, what in self._noted:
            body = {"kind": kind, "previous": self._last, **self._entry(what)}
            self._last = _hash(body)
            self._chained.append({**body, "hash": self._last})
        self._noted.clear()

    def _entry(self, what: Any) -> dict[str, Any]:
        """Return an entry of the trace for a call or a verdict, as plain data with secrets removed."""
        if not isinstance(what, CallRecord):
            return dict(what)
        arguments = self.redacted(copy_plain(what.arguments))
        entry = {
            "call_id": what.call_id,
            "tool": what.tool_name,
            "arguments": arguments,
            "output_hash": what.output_hash,
        }
        if what.output.is_json_text and what.output.raw_numbers:
            entry["raw_numbers"] = [show_path(path) for path in islice(what.output.raw_numbers, _MOST_PLACES)]
        return entry

    # ------------------------------------------------------------------------------------------- events

    def _publish(self, verdict: str, error: dict[str, Any] | None) -> None:
        """Send a verdict to the listeners and to OpenTelemetry's current span."""
        telemetry = sys.modules.get("opentelemetry.trace")  # only a program that uses it has loaded it
        if not self._listeners and telemetry is None:
            return
        event: Event = {"verdict": verdict, "code": error and error["code"], "error": error}
        for listener in self._listeners:
            try:
                listener(dict(event))
            except Exception:  # who listens does not decide what is said
                logger.exception("A listener of the session failed")
        if telemetry is not None and (span := telemetry.get_current_span()).is_recording():
            span.add_event("gen_ai.evaluation.result", evaluation(event))


def trace_break(trace: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the index of the first entry of a session's trace that was changed, added or moved.

    ``None`` if there is none.

    An entry that was removed shows at the next one. Entries cut off at the end do not show: for those, keep the
    hash of the last one elsewhere.
    """
    last = _START
    for place, entry in enumerate(trace):
        try:
            body = {key: value for key, value in entry.items() if key != "hash"}
            is_cut = (
                not place and len(trace) >= _MOST_ENTRIES
            )  # the oldest are forgotten: it follows one of them
            if entry["hash"] != _hash(body) or not (is_cut or entry["previous"] == last):
                return place
            last = entry["hash"]
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):  # no entry at all
            return place
    return None


def evaluation(event: Event) -> dict[str, Any]:
    """Return a verdict as attributes of OpenTelemetry's ``gen_ai.evaluation.result``."""
    attributes: dict[str, Any] = {
        "gen_ai.evaluation.name": "gllint",
        "gen_ai.evaluation.score.label": event["verdict"],
        "gen_ai.evaluation.score.value": float(event["verdict"] == "pass"),
    }
    if event["error"] is not None:
        attributes["gen_ai.evaluation.explanation"] = event["code"]
        attributes["error.type"] = event["code"]
    return attributes


def _hash(body: Mapping[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"

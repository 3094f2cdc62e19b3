"""What happened in a run: the trace, the metrics, and where each number came from.

Nothing here is ever overwritten: a trace only grows, and what leaves it is a copy.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from gllint_runtime.numbers import scan_naked_numbers
from gllint_runtime.schemas import Claim, Path, find_raw_numbers_in_output, quantities, show_path
from gllint_runtime.validation import plain


@dataclass(frozen=True, slots=True)
class TraceEntry:
    """One decision of the model or one execution of a tool.

    ``decision`` is ``"tool_use"``, ``"final_answer"``, ``"clarification"``, ``"max_attempts"`` or
    ``"invalid"``; ``tools`` names the tools that a step calls or the entry ran. ``validation`` says how the
    input was let through or why not, ``observation`` is what came back. ``duration_ms`` is wall time.
    """

    kind: Literal["start", "model", "tool"]
    step: int
    decision: str | None = None
    tools: tuple[str, ...] = ()
    call_id: str | None = None
    input: Any = None
    validation: Any = None
    observation: Any = None
    success: bool = True
    duration_ms: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """The entry as plain data; a copy."""
        return {item.name: copied(getattr(self, item.name)) for item in fields(self)}


def copied(value: Any) -> Any:
    try:
        return plain(value)
    except ValueError:
        return repr(value)


class Trace:
    """The entries of one run, appended only."""

    def __init__(self) -> None:
        self._entries: list[TraceEntry] = []

    def append(self, entry: TraceEntry) -> None:
        """Add an entry."""
        self._entries.append(entry)

    def to_list(self) -> list[dict[str, Any]]:
        """All entries as plain data; a copy."""
        return [entry.to_dict() for entry in self._entries]


@dataclass(slots=True)
class Metrics:
    """Counts of one run; rates are from 0 to 1."""

    model_steps: int = 0
    tool_steps: int = 0
    naked_number_rejections: int = 0
    quantity_mismatches: int = 0
    replay_violations: int = 0
    executed: list[str] = field(default_factory=list)
    latency_ms: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """The metrics under the names of seed 000."""
        calls = len(self.executed)
        return {
            "tool_use_rate": self.tool_steps / self.model_steps if self.model_steps else 0.0,
            "total_tool_calls": calls,
            "unique_tools_used": len(set(self.executed)),
            "naked_number_rejections": self.naked_number_rejections,
            "quantity_mismatches": self.quantity_mismatches,
            "replay_violations": self.replay_violations,
            "total_steps": self.model_steps,
            "avg_tool_latency_ms": self.latency_ms / calls if calls else 0.0,
        }


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a number in a call's arguments came from.

    ``kind`` is ``"user"``, ``"tool"``, ``"constant"``, ``"schema"`` (declared by the tool itself) or
    ``"none"``; ``source`` is the constant's name or ``"tc_1 $.energy"``. ``grounded`` is false when it has no
    origin, or one that rests on a call with such a number.
    """

    path: str
    value: Any
    kind: str
    source: str | None = None
    grounded: bool = True

    def to_dict(self) -> dict[str, Any]:
        """The origin as plain data."""
        return {"path": self.path, "value": self.value, "origin": self.kind, "source": self.source}


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A tool call that succeeded: what later claims and origins are resolved against."""

    call_id: str
    tool_name: str
    arguments: dict[str, Any]
    output: Any
    origins: tuple[Origin, ...] | None

    @property
    def grounded(self) -> bool | None:
        """Whether every number in the arguments has an origin; ``None`` when that was not looked at."""
        return None if self.origins is None else all(origin.grounded for origin in self.origins)

    def provenance(self, claim: Claim) -> dict[str, Any]:
        """A claim with its whole chain: tool, arguments, their origins, and a hash of the output."""
        canonical = json.dumps(self.output, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        entry = {
            **claim.to_dict(),
            "tool_name": self.tool_name,
            "call_id": self.call_id,
            "arguments": plain(self.arguments),
            "output_hash": "sha256:" + hashlib.sha256(canonical.encode()).hexdigest(),
        }
        if self.origins is not None:
            entry["origins"] = [origin.to_dict() for origin in self.origins]
            entry["grounded"] = self.grounded
        return entry


_GROUPING = str.maketrans("", "", ",'’_ \u00a0\u2009\u202f")
_TYPED_NUMBER = re.compile(r"\d+(?:[.,'’_ \u00a0\u2009\u202f]\d+)*(?:[eE][+-]?\d+)?")


class Origins:
    """The numbers that a run may work with, and where each was first seen.

    Only an exact value counts: a number that the model rounded, converted or added up is its own.
    """

    def __init__(self, user_message: str, constants: Mapping[str, Any]) -> None:
        self._user_message = user_message
        self._known: dict[Any, tuple[str, str | None, bool]] = {}
        for value in _typed_numbers(user_message):
            self._known.setdefault(value, ("user", None, True))
        for name, value in constants.items():
            self._known.setdefault(value, ("constant", name, True))

    def learn(self, record: CallRecord) -> None:
        """Remember the Quantities (and permitted raw numbers) of a call's output."""
        grounded = record.grounded is not False
        found: Iterable[tuple[Path, Any]] = [
            *((path, quantity["value"]) for path, quantity in quantities(record.output)),
            *((path, _at(record.output, path)) for path in find_raw_numbers_in_output(record.output)),
        ]
        for path, value in found:
            if not self._known.get(value, ("", None, False))[2]:
                self._known[value] = ("tool", f"{record.call_id} {show_path(path)}", grounded)

    def trace(self, arguments: Mapping[str, Any], args_schema: Any) -> tuple[Origin, ...]:
        """The origin of every number in ``arguments``, those inside text included."""
        return tuple(self._origin(path, value, args_schema) for path, value in self._numbers(arguments))

    def _numbers(self, arguments: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
        waiting: list[tuple[Path, Any]] = [((), dict(arguments))]
        while waiting:
            path, value = waiting.pop()
            if isinstance(value, dict):
                waiting.extend(((*path, key), item) for key, item in reversed(value.items()))
                waiting.extend(((*path, key), key) for key in value if path and isinstance(key, str))
            elif isinstance(value, list):
                waiting.extend(((*path, i), item) for i, item in reversed([*enumerate(value)]))
            elif isinstance(value, str):
                if value not in self._user_message:
                    yield from ((path, number.text) for number in scan_naked_numbers(value))
            elif isinstance(value, (int, float)) and not isinstance(value, bool):
                yield path, value

    def _origin(self, path: Path, value: Any, args_schema: Any) -> Origin:
        where = show_path(path)
        for reading in (value,) if not isinstance(value, str) else _typed_numbers(value):
            if known := self._known.get(reading):
                return Origin(where, value, *known)
        if value in _declared_values(path, args_schema):
            return Origin(where, value, "schema")
        return Origin(where, value, "none", grounded=False)


def _typed_numbers(text: str) -> Iterator[float]:
    """Each number typed in a text, in every reading that a person may mean (``2,5`` is 25 or 2.5)."""
    for match in _TYPED_NUMBER.finditer(text):
        written = match[0]
        readings = {written.translate(_GROUPING), written.replace(",", "."), *re.split(r"[ ,]", written)}
        for reading in sorted(readings):
            try:
                value = float(reading)
            except ValueError:
                continue
            yield value
            if text[max(0, match.start() - 1) : match.start()] in {"-", "−"}:
                yield -value


def _declared_values(path: Path, args_schema: Any) -> list[Any]:
    """What the tool's own schema offers for an argument: its ``const``, ``default`` and ``enum``."""
    node: Any = args_schema
    for step in path:
        keyword = "items" if isinstance(step, int) else "properties"
        node = node.get(keyword, {}) if isinstance(node, Mapping) else {}
        if keyword == "properties":
            node = node.get(step, {})
    if not isinstance(node, Mapping):
        return []
    return [*(node[key] for key in ("const", "default") if key in node), *node.get("enum", ())]


def _at(output: Any, path: Path) -> Any:
    for step in path:
        output = output[step]
    return output

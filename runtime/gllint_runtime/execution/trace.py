"""What happened in a run: the trace, the metrics, and where each number came from.

Nothing here is ever overwritten: a trace only grows, and what leaves it is a copy.
"""

from __future__ import annotations

import hashlib
import json
import marshal
import re
import reprlib
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

from gllint_runtime.policy.numbers import scan_naked_numbers, unit_symbol_end
from gllint_runtime.policy.schemas import Claim, Path, Survey, show_path
from gllint_runtime.policy.validation import Exact, copy_plain, plain
from gllint_runtime.policy.view import is_numeral


class Trace:
    """What a run did, entry by entry; appended, never overwritten.

    Each entry is plain data with ``kind`` (``"start"``, ``"model"``, ``"tool"``), ``step``, ``decision`` (of a
    model: ``"tool_use"``, ``"final_answer"``, ``"clarification"``, ``"max_attempts"`` or ``"invalid"``), the
    ``tools`` called, the ``call_id`` of a call that succeeded, ``input``, ``validation`` (how the input was let
    through, or the error), ``observation``, ``success`` and ``duration_ms``.
    """

    _FIELDS = (
        *("kind", "step", "decision", "tools", "call_id", "input", "validation", "observation", "success"),
        "duration_ms",
    )

    def __init__(self) -> None:
        self._entries: list[bytes] = []

    @property
    def entries(self) -> list[dict[str, Any]]:
        """A copy of what was entered."""
        return [dict(zip(self._FIELDS, marshal.loads(entry), strict=True)) for entry in self._entries]

    def append(
        self,
        kind: Literal["start", "model", "tool"],
        step: int,
        decision: str | None = None,
        *,
        tool: str | None = None,
        call_id: str | None = None,
        input: Any = None,
        validation: Any = None,
        observation: Any = None,
        success: bool = True,
        duration_ms: float = 0.0,
    ) -> None:
        """Add an entry, as everything in it is now; of what is no data, its ``repr``."""
        tools = [] if tool is None else [tool]
        entry = (kind, step, decision, tools, call_id, input, validation, observation, success, duration_ms)
        try:
            frozen = marshal.dumps(entry)
        except ValueError:
            frozen = marshal.dumps(tuple(map(_as_data, entry)))
        self._entries.append(frozen)


def _as_data(value: Any) -> Any:
    try:
        return plain(value)
    except ValueError:
        try:
            return reprlib.repr(value)
        except Exception:
            return f"<{type(value).__name__}>"


@dataclass(slots=True)
class Metrics:
    """Counts of one run; rates are from 0 to 1."""

    model_steps: int = 0
    tool_steps: int = 0
    naked_number_rejections: int = 0
    quantity_mismatches: int = 0
    replay_violations: int = 0
    executed: Counter[str] = field(default_factory=Counter)
    latency_ms: float = 0.0

    def stored(self) -> dict[str, Any]:
        """The counts themselves, as the constructor takes them."""
        return asdict(self) | {"executed": dict(self.executed)}

    @classmethod
    def restored(cls, stored: Mapping[str, Any]) -> Metrics:
        """The counts that :meth:`stored` gave. Raises ValueError or TypeError for anything else."""
        metrics = cls(**{**stored, "executed": Counter(stored["executed"])})
        counts = [
            *metrics.executed.values(),
            *(value for name, value in stored.items() if name != "executed"),
        ]
        if not all(type(count) in (int, float) and count >= 0 for count in counts):
            raise ValueError("the metrics are no counts")
        return metrics

    def to_dict(self) -> dict[str, Any]:
        """The metrics under the names of seed 000."""
        calls = self.executed.total()
        return {
            "tool_use_rate": self.tool_steps / self.model_steps if self.model_steps else 0.0,
            "total_tool_calls": calls,
            "unique_tools_used": len(self.executed),
            "naked_number_rejections": self.naked_number_rejections,
            "quantity_mismatches": self.quantity_mismatches,
            "replay_violations": self.replay_violations,
            "total_steps": self.model_steps,
            "avg_tool_latency_ms": self.latency_ms / calls if calls else 0.0,
        }


class Origin(NamedTuple):
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


_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


@dataclass(eq=False)
class CallRecord:
    """A tool call that succeeded: what later claims and origins are resolved against."""

    call_id: str
    tool_name: str
    arguments: dict[str, Any]
    output: Any
    found: Survey
    exact: Exact
    origins: tuple[Origin, ...] | None
    _hash: str | None = None

    def __post_init__(self) -> None:
        self.size = 500 + len(marshal.dumps((self.arguments, self.output)))  # about the bytes that it holds

    @property
    def grounded(self) -> bool | None:
        """Whether every number in the arguments has an origin; ``None`` when that was not looked at."""
        return None if self.origins is None else all(origin.grounded for origin in self.origins)

    @property
    def output_hash(self) -> str:
        """SHA-256 of the output, computed once however many claims cite it."""
        if self._hash is None:
            canonical = _canonical(self.output).encode("utf-8", "surrogatepass")
            self._hash = f"sha256:{hashlib.sha256(canonical).hexdigest()}"
        return self._hash

    def provenance(self, claim: Claim) -> dict[str, Any]:
        """A claim with its whole chain: tool, arguments, their origins, and a hash of the output."""
        entry = {
            **claim.to_dict(),
            "tool_name": self.tool_name,
            "call_id": self.call_id,
            "arguments": copy_plain(self.arguments),
            "output_hash": self.output_hash,
        }
        if self.origins is not None:
            entry["origins"] = [origin.to_dict() for origin in self.origins]
            entry["grounded"] = self.grounded
        return entry


_GROUPING = str.maketrans("", "", ",'’_ \u00a0\u2009\u202f")
_TYPED_NUMBER = re.compile(r"\d+(?:[.,'’_ \u00a0\u2009\u202f]\d+)*(?:[eE][+-]?\d+)?")
_DIGIT = re.compile("[0-9]")
_MAX_HEARD = 1_000_000  # characters of what a user said
_MAX_TRACED = 10_000  # numbers of one call's arguments
_MAX_TRACED_TEXTS = 200  # texts among them that hold a number
_MAX_TRACED_LETTERS = 100_000
_MAX_QUOTABLE = 2_000  # texts of outputs that arguments may quote


class Origins:
    """The numbers that a run may work with, and where each was first seen.

    Only an exact value counts: a number that the model rounded, converted or added up is its own. Text that is
    quoted from the user or from an output brings its numbers along. What is beyond the bounds has no origin.
    """

    def __init__(self, constants: Mapping[str, Any]) -> None:
        self._heard: list[str] = []
        self._known: dict[Any, tuple[str, str | None, bool]] = {}
        self._texts: deque[tuple[str, str, bool]] = deque(maxlen=_MAX_QUOTABLE)
        for name, value in constants.items():
            self._known.setdefault(value, ("constant", name, True))
        self._unread: deque[CallRecord] = deque()

    def hear(self, user_message: str) -> None:
        """Remember the numbers and the text of what the user says."""
        self._heard.append(user_message[:_MAX_HEARD])
        for value in _typed_numbers(self._heard[-1]):
            self._known[value] = ("user", None, True)

    def learn(self, record: CallRecord) -> None:
        """Remember the Quantities, the texts (and permitted raw numbers) of a call's output."""
        self._unread.append(record)

    def trace(self, arguments: Mapping[str, Any], args_schema: Any) -> tuple[Origin, ...]:
        """The origin of every number in ``arguments``, those inside text included."""
        while self._unread:
            self._read(self._unread.popleft())
        found: list[Origin] = []
        texts = letters = 0
        for path, value in _leaves(arguments):
            if type(value) is str:
                if not _holds_number(value):
                    continue
                texts += 1
                letters += len(value)
            elif type(value) not in (int, float):
                continue
            if len(found) > _MAX_TRACED or texts > _MAX_TRACED_TEXTS or letters > _MAX_TRACED_LETTERS:
                found.append(Origin(show_path(path), "the rest, too much to trace", "none", grounded=False))
                break
            if type(value) is str:
                found.extend(self._in_text(path, value, args_schema))
            else:
                found.append(self._origin(path, value, (value,), args_schema))
        return tuple(found)

    def _read(self, record: CallRecord) -> None:
        grounded = record.grounded is not False
        values = [(path, quantity["value"]) for path, quantity in record.found.quantities]
        values += [(path, _at(record.output, path)) for path in record.found.raw_numbers]
        for path, value in values:
            known = self._known.get(value)
            if known is None or not known[2]:
                self._known[value] = ("tool", f"{record.call_id} {show_path(path)}", grounded)
        for path, text in _leaves(record.output):
            if type(text) is str and _holds_number(text):
                self._texts.append((text, f"{record.call_id} {show_path(path)}", grounded))

    def _in_text(self, path: Path, text: str, args_schema: Any) -> Iterator[Origin]:
        # A text that is nothing but a number is one, also where prose would excuse it ("500." begins a list).
        numbers = [text] if _is_number(text) else [number.text for number in scan_naked_numbers(text)]
        if not numbers or any(_quotes(heard, text) for heard in self._heard):
            return
        quoted = [(source, grounded) for whole, source, grounded in self._texts if _quotes(whole, text)]
        for number in numbers:
            origin = self._origin(path, number, _typed_numbers(number), args_schema)
            if quoted and not origin.grounded:
                source, grounded = max(quoted, key=lambda found: found[1])
                origin = Origin(origin.path, number, "tool", source, grounded)
            yield origin

    def _origin(self, path: Path, value: Any, readings: Iterable[Any], args_schema: Any) -> Origin:
        where = show_path(path)
        for reading in readings:
            if known := self._known.get(reading):
                return Origin(where, value, *known)
        if any(value == declared for declared in _declared_values(path, args_schema)):
            return Origin(where, value, "schema")
        return Origin(where, value, "none", grounded=False)


def _leaves(data: Any) -> Iterator[tuple[Path, Any]]:
    """Whatever is neither object nor array in ``data``, in order; also the names of inner objects' members."""
    waiting: list[tuple[Path, Any]] = [((), data)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(((*path, key), item) for key, item in reversed(value.items()))
            waiting.extend(((*path, key), key) for key in value if path)
        elif isinstance(value, list):
            waiting.extend(((*path, i), item) for i, item in reversed([*enumerate(value)]))
        else:
            yield path, value


def _holds_number(text: str) -> bool:
    return bool(_DIGIT.search(text)) if text.isascii() else any(map(is_numeral, {*text}))


def _is_number(text: str) -> bool:
    if not _TYPED_NUMBER.search(text):  # "nan" and "infinity" are words
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True


def _quotes(source: str, text: str) -> bool:
    """Whether ``text`` stands in ``source``, and not as a part of a longer number or word."""
    return text in source and bool(re.search(rf"(?<![\w.,]){re.escape(text)}(?!\w|[.,]\d)", source))


def _typed_numbers(text: str) -> Iterator[float]:
    """Each number typed in a text, in every reading that a person may mean (``2,5`` is 25 or 2.5)."""
    for match in _TYPED_NUMBER.finditer(text):
        if unit_symbol_end(text, match.start()):
            continue
        written = match[0]
        readings = (written,) if written.isdecimal() else _readings(written)
        minus = match.start() and text[match.start() - 1] in "-−"
        for reading in readings:
            try:
                value = float(reading)
            except ValueError:
                continue
            yield value
            if minus:
                yield -value


def _readings(written: str) -> set[str]:
    parts = [part for part in re.split(r"[ ,]", written) if part[0] != "0" or len(part) == 1]
    return {written, written.translate(_GROUPING), written.replace(",", "."), *parts}


def _declared_values(path: Path, args_schema: Any) -> Iterator[Any]:
    """What the tool's own schema offers for an argument: its ``const``, ``default`` and ``enum``."""
    nodes = _alternatives(args_schema)
    for step in path:
        inner = [
            node.get("items") if isinstance(step, int) else node.get("properties", {}).get(step)
            for node in nodes
        ]
        nodes = [found for node in inner for found in _alternatives(node)]
    for node in nodes:
        offered = [node[key] for key in ("const", "default") if key in node]
        yield from (value for value in (*offered, *node.get("enum", ())) if not isinstance(value, bool))


def _alternatives(node: Any) -> list[Mapping[str, Any]]:
    """A schema and the branches of its ``anyOf``, ``oneOf`` and ``allOf``."""
    if not isinstance(node, Mapping):
        return []
    branches = (branch for key in ("anyOf", "oneOf", "allOf") for branch in node.get(key, ()))
    return [node, *(found for branch in branches for found in _alternatives(branch))]


def _at(output: Any, path: Path) -> Any:
    for step in path:
        output = output[step]
    return output

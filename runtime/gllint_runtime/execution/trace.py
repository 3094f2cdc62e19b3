"""What happened in a run: the entries of its trace, and the metrics."""

from __future__ import annotations

import marshal
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gllint_runtime.policy.data import plain

_MANY = 2**62  # more than can have happened


def trace_entry(
    kind: Literal["start", "model", "tool"],
    step: int,
    decision: str | None = None,
    tool: str | None = None,
    *,
    input: Any = None,
    validation: Any = None,
    observation: Any = None,
    success: bool = True,
    duration_ms: float = 0.0,
) -> dict[str, Any]:
    """Return one step of a run as plain data that nothing else references (:func:`snapshot`).

    The ``decision`` of a model is ``"tool_use"``, ``"final_answer"``, ``"clarification"``, ``"max_attempts"`` or
    ``"invalid"``. ``validation`` is how the input was let through, or the error. A call that succeeds gets its id.
    """
    return {
        "kind": kind,
        "step": step,
        "decision": decision,
        "tools": [] if tool is None else [tool],
        "call_id": None,
        "input": input,
        "validation": validation,
        "observation": observation,
        "success": success,
        "duration_ms": duration_ms,
    }


def snapshot(value: Any) -> Any:
    """Return a copy of ``value`` that later changes do not reach; the ``repr`` of a value that is no plain data."""
    if type(value) is str:
        return value
    try:
        [[copied]] = marshal.loads(marshal.dumps([[value]], 2))  # as deep as it will be in the trace
        return copied
    except ValueError:
        pass
    try:
        return plain(value)
    except ValueError:
        try:
            return reprlib.repr(value)
        except Exception:
            return f"<{type(value).__name__}>"


def count_of(stored: Any) -> int:
    """``stored`` where it says how often something happened. Raises ValueError."""
    if type(stored) is not int or not 0 <= stored < _MANY:
        raise ValueError(f"{stored!r} is no count")
    return stored


@dataclass(slots=True)
class Metrics:
    """Counts of one run; rates are from 0 to 1."""

    model_steps: int = 0
    tool_steps: int = 0
    naked_number_rejections: int = 0
    quantity_mismatches: int = 0
    replay_violations: int = 0
    executed: dict[str, int] = field(default_factory=dict)
    latency_ms: float = 0.0

    @classmethod
    def restored(cls, stored: Mapping[str, Any]) -> Metrics:
        """Return the counts that ``asdict`` gave. Raises ValueError or TypeError for data of another form."""
        counts = {
            name: count_of(count) for name, count in stored.items() if name not in ("executed", "latency_ms")
        }
        executed = {name: count_of(count) for name, count in stored["executed"].items()}
        latency = stored["latency_ms"]
        if type(latency) not in (int, float) or not 0 <= latency < _MANY:
            raise ValueError(f"{latency!r} is no time")
        return cls(**counts, executed=executed, latency_ms=latency)

    def to_dict(self) -> dict[str, Any]:
        """Return the metrics as plain data, with the rates and averages calculated."""
        calls = sum(self.executed.values())
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

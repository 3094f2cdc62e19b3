"""The gate inside other people's agents: their types in, ours out, and back. One module for each framework."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from gllint_runtime.execution.runtime import RULES
from gllint_runtime.execution.session import Session, Verified
from gllint_runtime.execution.steps import read_step
from gllint_runtime.policy.data import plain

INSTRUCTIONS = (
    RULES
    + """
- Your final answer is one JSON object {"message": "…", "claims": […]}, or plain text without any number."""
)
"""What the model has to know; put it into the system prompt."""


def check_final(session: Session, final: Any) -> Verified:
    """Check a final answer: text, ``{"message", "claims"}``, a model of that, or its JSON text. Raises GLError."""
    if isinstance(final, str):
        written = final.strip()
        if not written.startswith(("{", "```")) or '"message"' not in written:
            return session.check(final)
        final = written
    elif not isinstance(final, Mapping):
        with suppress(ValueError):
            final = plain(final)
    step = read_step({"kind": "final", **final} if isinstance(final, Mapping) else final)
    return session.check(step.message, step.claims)


def recorded(
    session: Session, tool: str, arguments: Mapping[str, Any], output: Any, **options: Any
) -> dict[str, Any]:
    """Record a tool's output, the JSON text of one included; return what the model is told. Raises GLError."""
    if isinstance(output, str):
        try:
            output = json.loads(output)
        except (ValueError, RecursionError):
            output = {"text": output}
    call_id = session.record(tool, arguments, output, **options)
    return {"tool_call_id": call_id, "output": session.output(call_id)}

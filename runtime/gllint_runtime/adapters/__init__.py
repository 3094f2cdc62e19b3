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
from gllint_runtime.policy.outputs import json_value

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
    output = text_of_blocks(output)
    if isinstance(output, str) and json_value(output) is None:
        output = _scalar(output)
    call_id = session.record(tool, arguments, output, **options)
    answer = {"tool_call_id": call_id, "output": session.output(call_id)}
    if units := session.declared_units(call_id):
        answer["units"] = units
    return answer


def _scalar(text: str) -> Any:
    """What a text says that is no JSON of an object or array: the text or truth value in it, or itself."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {"text": text}
    return value if value is None or isinstance(value, str | bool) else {"text": text}


def text_of_blocks(output: Any) -> Any:
    """The text of content blocks that hold nothing else; any other output as it is."""
    if not isinstance(output, list) or not output:
        return output
    texts = [
        block["text"]
        for block in output
        if isinstance(block, Mapping) and block.get("type") == "text" and isinstance(block.get("text"), str)
    ]
    return "\n".join(texts) if len(texts) == len(output) else output

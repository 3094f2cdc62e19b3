"""What a model looks like to the runtime, and the adapters: ``scripted``, ``anthropic``, ``openai``."""

from __future__ import annotations

import inspect
import time
from typing import Any, Protocol


class Provider(Protocol):
    """A conversation with a model. It keeps the messages; ``state`` is whatever it wants handed back.

    ``chat_step`` may also take ``options=`` (``{"temperature": 0.0, "seed": 42}`` in Replay); it is passed to
    those that do. Each method may be async, or return something to await. One with an attribute ``blocking`` that is
    false is called right on the event loop even where its methods are not async.
    """

    def init_chat(self, system_prompt: str, user_msg: str) -> Any:
        """Begin a conversation and return its state."""

    def chat_step(self, *, schema: dict[str, Any], tools: list[dict[str, Any]], state: Any) -> Any:
        """Return the model's next step: an object that fits ``schema``, or its JSON text."""

    def inject_tool_result(self, result: dict[str, Any]) -> Any:
        """Send the model ``{"tool_call_id": "tc_1", "output": …}`` and return the new state."""

    def inject_error(self, message: str) -> Any:
        """Send the model what was wrong with its last step and return the new state."""


def takes_options(provider: Provider) -> bool:
    """Return whether ``provider.chat_step`` takes the keyword ``options``."""
    parameters = inspect.signature(provider.chat_step).parameters
    return "options" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


class Tape:
    """What else a run depends on, its clock and its tools; a provider that is one records or replays them."""

    clock = staticmethod(time.perf_counter)
    """Seconds, for durations."""

    def opening(self, start: dict[str, Any]) -> dict[str, Any]:
        """Return the settings that the run (or the recorded run) began with."""
        return start

    def recorded_call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        """Return what that call led to when it was recorded, or ``None`` when it is to be executed now."""

    def call_done(self, name: str, arguments: dict[str, Any], outcome: dict[str, Any]) -> None:
        """Receives the result of a call."""

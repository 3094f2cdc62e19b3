"""What the adapters for chat APIs share: the open tool calls, the names, and the final answer as a tool.

The model is offered one more tool, ``final_answer``, whose arguments are the final message and its claims; so
the API itself checks its answer against a schema. A stream is read to its end before anything of it goes on:
unchecked text is never shown. Retries are those of the SDK's client.
"""

from __future__ import annotations

import inspect
import json
import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Iterable
from typing import Any, NamedTuple

from gllint_runtime.policy.errors import GLRuntimeError
from gllint_runtime.policy.schemas import FINAL_SCHEMA

FINAL_ANSWER = "final_answer"
_FINAL = {
    "name": FINAL_ANSWER,
    "description": "Give the user the final message, once all values are there.",
    "parameters": FINAL_SCHEMA,
}
_MAX_NAME = 64


class ToolUse(NamedTuple):
    """A call as the model made it: the API's identifier, the API's name for the tool, the arguments."""

    id: str
    name: str
    arguments: Any


class Answer(NamedTuple):
    """Return what the model receives about one of its calls (``id``), or, without one, about its text."""

    id: str | None
    content: str
    is_error: bool


def api_names(names: Iterable[str]) -> dict[str, str]:
    """Return the tools' names by the names that an API allows, no two alike.

    ``["a.b", "a_b"]`` → ``{"a_b": "a.b", "a_b_2": "a_b"}``.

    An API's name is within ``[a-zA-Z0-9_-]{1,64}``.
    """
    mapped: dict[str, str] = {}
    for name in names:
        short = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:_MAX_NAME]
        candidate, number = short, 2
        while candidate in mapped or candidate == FINAL_ANSWER:
            suffix = f"_{number}"
            candidate, number = short[: _MAX_NAME - len(suffix)] + suffix, number + 1
        mapped[candidate] = name
    return mapped


class ChatProvider(ABC):
    """A provider over an API that keeps no state: the whole conversation goes with each request."""

    def __init__(self, client: Any, stream: bool, **fixed: Any) -> None:
        self.blocking = not type(client).__name__.startswith("Async")
        self._client = client
        self._stream = stream
        self._fixed = fixed  # what goes with each request
        self.init_chat("", "")

    def init_chat(self, system_prompt: str, user_msg: str) -> list[dict[str, Any]]:
        """Begin a conversation and return its list of messages, the state."""
        self._system = system_prompt
        self._messages: list[dict[str, Any]] = [{"role": "user", "content": user_msg}]
        self._open: deque[ToolUse] = deque()
        self._current: ToolUse | None = None
        self._answers: list[Answer] = []
        return self._messages

    def chat_step(
        self, *, schema: Any, tools: list[dict[str, Any]], state: Any = None, options: Any = None
    ) -> Any:
        """Return the next of the model's calls; a request is made if no call is left of the last response.

        With an async client it has to be awaited. Raises GLRuntimeError PROVIDER_FAILED for an answer that a
        length limit, a refusal or a content filter cut off.
        """
        names = api_names(tool["name"] for tool in tools)
        if self._open:
            return self._next(names)
        self._messages.extend(self._answer_messages(self._answers))
        self._answers = []
        offered = [{**tool, "name": name} for name, tool in zip(names, tools, strict=True)]
        response = self._request([*offered, _FINAL], dict(options or {}))
        return self._later(response, names) if inspect.isawaitable(response) else self._read(response, names)

    async def _later(self, response: Awaitable[Any], names: dict[str, str]) -> dict[str, Any]:
        return self._read(await response, names)

    def _read(self, response: Any, names: dict[str, str]) -> dict[str, Any]:
        """Return the first step of a response.

        Raises GLRuntimeError PROVIDER_FAILED for one that was cut off or is empty.
        """
        reason = self._stop_reason(response)
        if reason is not None:
            raise GLRuntimeError(
                "PROVIDER_FAILED", f"The answer was cut off: {reason}", context={"stop_reason": reason}
            )
        uses, text = self._take(response)
        self._open.extend(uses)
        if uses:
            return self._next(names)
        self._current = None
        if not text.strip():
            raise GLRuntimeError("PROVIDER_FAILED", "The model's answer was empty")
        return {"kind": "final", "final": {"message": text, "claims": []}}

    def _next(self, names: dict[str, str]) -> dict[str, Any]:
        use = self._current = self._open.popleft()
        if use.name == FINAL_ANSWER:
            return {"kind": "final", "final": use.arguments}
        return {"kind": "tool_call", "tool_name": names.get(use.name, use.name), "arguments": use.arguments}

    def inject_tool_result(self, result: dict[str, Any]) -> list[dict[str, Any]]:
        """Answer the current call with the tool's output and the id to claim it by."""
        return self._answer(json.dumps(result, ensure_ascii=False), is_error=False)

    def inject_error(self, message: str) -> list[dict[str, Any]]:
        """Answer the current call, or the model's text, with what was wrong."""
        return self._answer(message, is_error=True)

    def _answer(self, content: str, *, is_error: bool) -> list[dict[str, Any]]:
        self._answers.append(Answer(self._current.id if self._current else None, content, is_error))
        return self._messages

    @abstractmethod
    def _request(self, tools: list[dict[str, Any]], options: dict[str, Any]) -> Any:
        """Ask the API; the whole response, or an awaitable of it."""

    @abstractmethod
    def _stop_reason(self, response: Any) -> str | None:
        """Return why the answer is not to be used, or ``None`` if it came to its own end."""

    @abstractmethod
    def _take(self, response: Any) -> tuple[list[ToolUse], str]:
        """Append the model's message to ``_messages``; return its calls and its text."""

    @abstractmethod
    def _answer_messages(self, answers: list[Answer]) -> list[dict[str, Any]]:
        """Return the answers as messages of this API."""

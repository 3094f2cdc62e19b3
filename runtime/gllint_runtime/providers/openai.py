"""OpenAI's Chat Completions API through the official SDK. Needs the extra ``gllint[openai]``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gllint_runtime.providers.chat import Answer, ChatProvider, ToolUse

if TYPE_CHECKING:
    from openai import OpenAI


class OpenAIProvider(ChatProvider):
    """Talks to ``model``. ``client`` defaults to one configured by the environment; ``request`` goes along.

    In Replay the temperature and the seed go with each request; a model that refuses one of them needs it
    overridden in ``request``.
    """

    def __init__(self, model: str, client: OpenAI | None = None, **request: Any) -> None:
        super().__init__()
        if client is None:
            from openai import OpenAI

            client = OpenAI()
        self._client = client
        self._fixed = {"model": model, **request}

    def _request(self, tools: list[dict[str, Any]], options: dict[str, Any]) -> tuple[list[ToolUse], str]:
        request: dict[str, Any] = {
            "messages": [{"role": "system", "content": self._system}, *self._messages],
            "tools": [{"type": "function", "function": tool} for tool in tools],
            "tool_choice": "required",
            "parallel_tool_calls": False,
            **options,
            **self._fixed,
        }
        message = self._client.chat.completions.create(**request).choices[0].message
        self._messages.append(message.model_dump(exclude_none=True))
        calls = [call for call in message.tool_calls or () if call.type == "function"]
        uses = [ToolUse(c.id, c.function.name, _arguments(c.function.arguments)) for c in calls]
        return uses, message.content or ""

    def _told(self, answers: list[Answer]) -> list[dict[str, Any]]:
        return [
            {"role": "user", "content": answer.content}
            if answer.id is None
            else {"role": "tool", "tool_call_id": answer.id, "content": answer.content}
            for answer in answers
        ]


def _arguments(text: str) -> Any:
    """The arguments as data, or the text itself where it is no JSON: the runtime says so to the model."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text

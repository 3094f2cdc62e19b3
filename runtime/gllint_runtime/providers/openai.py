"""OpenAI's Chat Completions API through the official SDK. Needs the extra ``gllint[openai]``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gllint_runtime.policy.validation import parse_stringified
from gllint_runtime.providers.chat import Answer, ChatProvider, ToolUse

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI

_ENDS = frozenset({"stop", "tool_calls", "function_call"})


class OpenAIProvider(ChatProvider):
    """Talks to ``model``. ``client`` defaults to one configured by the environment; ``request`` goes along.

    The client may be async; ``stream`` reads a stream, and withholds it until it is complete. In Replay the
    temperature and the seed go with each request; a model that rejects one of them needs it overridden in ``request``.
    """

    def __init__(
        self,
        model: str,
        client: OpenAI | AsyncOpenAI | None = None,
        *,
        stream: bool = False,
        **request: Any,
    ) -> None:
        if client is None:
            from openai import OpenAI

            client = OpenAI()
        super().__init__(client, stream, model=model, **request)

    def _request(self, tools: list[dict[str, Any]], options: dict[str, Any]) -> Any:
        """Send the conversation with the tools, and return the response, or an awaitable of it for an async client."""
        request: dict[str, Any] = {
            "messages": [{"role": "system", "content": self._system}, *self._messages],
            "tools": [{"type": "function", "function": tool} for tool in tools],
            "tool_choice": "required",
            "parallel_tool_calls": False,
            **options,
            **self._fixed,
        }
        if not self._stream:
            return self._client.chat.completions.create(**request)
        chunks: Any = self._client.chat.completions.create(stream=True, **request)
        if not self.blocking:
            return self._streamed(chunks)
        return _joined(chunks)

    async def _streamed(self, chunks: Any) -> Any:
        return _joined([chunk async for chunk in await chunks])

    def _stop_reason(self, response: Any) -> str | None:
        if not response.choices:
            return "no choice"
        choice = response.choices[0]
        if choice.message.refusal:
            return "refusal"
        return None if choice.finish_reason in _ENDS else str(choice.finish_reason)

    def _take(self, response: Any) -> tuple[list[ToolUse], str]:
        """Add a response to the conversation, and return its calls and its text."""
        message = response.choices[0].message
        self._messages.append(message.model_dump(exclude_none=True))
        calls = [call for call in message.tool_calls or () if call.type == "function"]
        # Arguments that are no JSON stay as they are: the runtime says so to the model.
        uses = [
            ToolUse(c.id, c.function.name, parse_stringified(c.function.arguments, {"type": "object"}))
            for c in calls
        ]
        return uses, message.content or ""

    def _answer_messages(self, answers: list[Answer]) -> list[dict[str, Any]]:
        return [
            {"role": "user", "content": answer.content}
            if answer.id is None
            else {"role": "tool", "tool_call_id": answer.id, "content": answer.content}
            for answer in answers
        ]


def _joined(chunks: Iterable[Any]) -> Any:
    """Return the response that a stream brings in chunks."""
    from openai.lib.streaming.chat import ChatCompletionStreamState

    state = ChatCompletionStreamState()
    for chunk in chunks:
        state.handle_chunk(chunk)
    return state.current_completion_snapshot

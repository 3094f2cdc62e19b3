"""Anthropic's Messages API through the official SDK. Needs the extra ``gllint[anthropic]``.

The API takes neither a temperature nor a seed, so Replay's options go no further than the trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gllint_runtime.providers.chat import Answer, ChatProvider, ToolUse

if TYPE_CHECKING:
    from anthropic import Anthropic, AsyncAnthropic

_ENDS = frozenset({"end_turn", "tool_use", "stop_sequence"})


class AnthropicProvider(ChatProvider):
    """Talks to ``model``. ``client`` defaults to one configured by the environment and may be async; ``request``
    goes along. ``stream`` reads a stream, and withholds it until it is complete.
    """

    def __init__(
        self,
        model: str,
        client: Anthropic | AsyncAnthropic | None = None,
        *,
        max_tokens: int = 4096,
        stream: bool = False,
        **request: Any,
    ) -> None:
        if client is None:
            from anthropic import Anthropic

            client = Anthropic()
        super().__init__(client, stream, model=model, max_tokens=max_tokens, **request)

    def _request(self, tools: list[dict[str, Any]], options: dict[str, Any]) -> Any:
        """Send the conversation with the tools, and return the response, or an awaitable of it for an async client."""
        request: dict[str, Any] = {
            "system": self._system,
            "messages": self._messages,
            "tools": [_tool(**tool) for tool in tools],
            "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
            **self._fixed,
        }
        if not self._stream:
            return self._client.messages.create(**request)
        if not self.blocking:
            return self._streamed(request)
        with self._client.messages.stream(**request) as stream:
            return stream.get_final_message()

    async def _streamed(self, request: dict[str, Any]) -> Any:
        async with self._client.messages.stream(**request) as stream:
            return await stream.get_final_message()

    def _stop_reason(self, response: Any) -> str | None:
        return None if response.stop_reason in _ENDS else str(response.stop_reason)

    def _take(self, response: Any) -> tuple[list[ToolUse], str]:
        content = [block.model_dump(exclude_none=True) for block in response.content]
        self._messages.append({"role": "assistant", "content": content})
        uses = [ToolUse(b["id"], b["name"], b["input"]) for b in content if b["type"] == "tool_use"]
        return uses, "".join(block["text"] for block in content if block["type"] == "text")

    def _answer_messages(self, answers: list[Answer]) -> list[dict[str, Any]]:
        """Return the answers to the model's calls as one message of the user."""
        blocks: list[dict[str, Any]] = [
            {"type": "text", "text": answer.content}
            if answer.id is None
            else {
                "type": "tool_result",
                "tool_use_id": answer.id,
                "content": answer.content,
                "is_error": answer.is_error,
            }
            for answer in answers
        ]
        return [{"role": "user", "content": blocks}] if blocks else []


def _tool(name: str, description: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "description": description, "input_schema": {"type": "object", **parameters}}

"""A loop over Anthropic's messages. Needs the package anthropic."""

import json
from collections.abc import Iterator
from typing import Any

from adoption import Bench
from raw_loop import PARAMETERS, Api, Call, bench_of_loop, pieces, sse

TOOLS: Any = [{"name": "meter", "description": "The heat of a site.", "input_schema": PARAMETERS}]
CALL = {"type": "tool_use", "id": "c1", "name": "meter", "input": {"site": "north"}}


class Messages:
    def __init__(self, scripted: list[str]) -> None:
        import anthropic

        self._scripted = scripted
        self._client = anthropic.Anthropic(api_key="none", base_url=Api(self._reply).address)

    def _reply(self, body: Any, path: str) -> Any:
        is_call = len(body["messages"]) == 1
        usage = {"input_tokens": 1, "output_tokens": 1}
        reason = "tool_use" if is_call else "end_turn"
        about = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "usage": usage}
        block: Any = CALL if is_call else {"type": "text", "text": self._scripted[0]}
        if not body.get("stream"):
            return {**about, "stop_reason": reason, "content": [block]}
        deltas: list[Any] = (
            [{"type": "input_json_delta", "partial_json": json.dumps(CALL["input"])}]
            if is_call
            else [{"type": "text_delta", "text": piece} for piece in pieces(self._scripted[0])]
        )
        start = {**CALL, "input": {}} if is_call else {"type": "text", "text": ""}
        events: list[Any] = [
            {"type": "message_start", "message": {**about, "content": []}},
            {"type": "content_block_start", "index": 0, "content_block": start},
            *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage},
            {"type": "message_stop"},
        ]
        return sse([(event["type"], event) for event in events])

    def ask(self, messages: list[Any], streams: bool) -> Iterator[str | Call]:
        options: Any = {"model": "claude", "max_tokens": 1000, "messages": messages, "tools": TOOLS}
        if streams:
            with self._client.messages.stream(**options) as stream:
                yield from stream.text_stream
                reply = stream.get_final_message()
        else:
            reply = self._client.messages.create(**options)
            yield from (block.text for block in reply.content if block.type == "text")
        messages.append({"role": "assistant", "content": reply.content})
        for block in reply.content:
            if block.type == "tool_use":
                yield Call(block.id, block.name, block.input)

    def tell(self, messages: list[Any], call: Call, result: str) -> None:
        content = [{"type": "tool_result", "tool_use_id": call.call_id, "content": result}]
        messages.append({"role": "user", "content": content})

    def say(self, messages: list[Any], text: str) -> None:
        messages.append({"role": "user", "content": text})


def bench() -> Bench:
    scripted: list[str] = []
    return bench_of_loop("Anthropic messages, a loop", Messages(scripted), scripted)

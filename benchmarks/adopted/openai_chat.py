"""A loop over OpenAI's chat completions. Needs the package openai."""

import json
from collections.abc import Iterator
from typing import Any

from adoption import Bench
from raw_loop import PARAMETERS, Api, Call, bench_of_loop, pieces, sse

TOOLS: Any = [{"type": "function", "function": {"name": "meter", "parameters": PARAMETERS}}]
CALL = {"id": "c1", "type": "function", "function": {"name": "meter", "arguments": '{"site": "north"}'}}


class Chat:
    def __init__(self, scripted: list[str]) -> None:
        import openai

        self._scripted = scripted
        self._client = openai.OpenAI(api_key="none", base_url=Api(self._reply).address)

    def _reply(self, body: Any, path: str) -> Any:
        about = {"id": "c", "created": 0, "model": "gpt"}
        is_call = all(message["role"] != "tool" for message in body["messages"])
        if not body.get("stream"):
            told: Any = {"tool_calls": [CALL]} if is_call else {"content": self._scripted[0]}
            choice = {"index": 0, "message": {"role": "assistant", **told}, "finish_reason": "stop"}
            return {**about, "object": "chat.completion", "choices": [choice]}
        deltas = (
            [{"tool_calls": [{"index": 0, **CALL}]}]
            if is_call
            else [{"content": piece} for piece in pieces(self._scripted[0])]
        )
        chunk = {**about, "object": "chat.completion.chunk"}
        return sse([(None, {**chunk, "choices": [{"index": 0, "delta": delta}]}) for delta in deltas])

    def ask(self, messages: list[Any], streams: bool) -> Iterator[str | Call]:
        if not streams:
            message = (
                self._client.chat.completions.create(model="gpt", messages=messages, tools=TOOLS)
                .choices[0]
                .message
            )
            messages.append(message.model_dump(exclude_none=True))
            for call in message.tool_calls or ():
                yield Call(call.id, call.function.name, json.loads(call.function.arguments))
            if message.content:
                yield message.content
            return
        said: Any = {"role": "assistant", "content": ""}
        for chunk in self._client.chat.completions.create(
            model="gpt", messages=messages, tools=TOOLS, stream=True
        ):
            delta = chunk.choices[0].delta
            for item in delta.tool_calls or ():  # a real one comes in parts
                function = {"name": item.function.name, "arguments": item.function.arguments}
                said["tool_calls"] = [{"id": item.id, "type": "function", "function": function}]
                yield Call(item.id, item.function.name, json.loads(item.function.arguments))
            if delta.content:
                said["content"] += delta.content
                yield delta.content
        messages.append(said)

    def tell(self, messages: list[Any], call: Call, result: str) -> None:
        messages.append({"role": "tool", "tool_call_id": call.call_id, "content": result})

    def say(self, messages: list[Any], text: str) -> None:
        messages.append({"role": "user", "content": text})


def bench() -> Bench:
    scripted: list[str] = []
    return bench_of_loop("OpenAI chat, a loop", Chat(scripted), scripted)

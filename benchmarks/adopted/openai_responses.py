"""A loop over OpenAI's responses. Needs the package openai."""

import json
from collections.abc import Iterator
from typing import Any

from adoption import Bench
from raw_loop import PARAMETERS, Api, Call, bench_of_loop, pieces, sse

TOOLS: Any = [{"type": "function", "name": "meter", "parameters": PARAMETERS, "strict": False}]
CALL = {
    "id": "f",
    "type": "function_call",
    "call_id": "c1",
    "name": "meter",
    "arguments": '{"site": "north"}',
}


class Responses:
    def __init__(self, scripted: list[str]) -> None:
        import openai

        self._scripted = scripted
        self._client = openai.OpenAI(api_key="none", base_url=Api(self._reply).address)

    def _reply(self, body: Any, path: str) -> Any:
        is_call = all(item.get("type") != "function_call_output" for item in body["input"])
        content = [{"type": "output_text", "text": self._scripted[0], "annotations": []}]
        message = {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
        about = {"id": "r", "object": "response", "created_at": 0, "model": "gpt", "status": "completed"}
        output = [CALL if is_call else message]
        whole = {**about, "output": output, "tools": [], "tool_choice": "auto", "parallel_tool_calls": True}
        if not body.get("stream"):
            return whole
        place = {"item_id": "m", "output_index": 0, "content_index": 0, "sequence_number": 0, "logprobs": []}
        kind = "response.output_text.delta"
        deltas = [
            (kind, {"type": kind, "delta": piece, **place})
            for piece in ([] if is_call else pieces(self._scripted[0]))
        ]
        end = {"type": "response.completed", "response": whole, "sequence_number": 0}
        return sse([*deltas, ("response.completed", end)])

    def ask(self, messages: list[Any], streams: bool) -> Iterator[str | Call]:
        response = None
        if streams:
            for event in self._client.responses.create(model="gpt", input=messages, tools=TOOLS, stream=True):
                if event.type == "response.output_text.delta":
                    yield event.delta
                elif event.type == "response.completed":
                    response = event.response
        else:
            response = self._client.responses.create(model="gpt", input=messages, tools=TOOLS)
        assert response is not None
        messages += [item.model_dump(exclude_none=True) for item in response.output]
        for item in response.output:
            if item.type == "function_call":
                yield Call(item.call_id, item.name, json.loads(item.arguments))
        if not streams:
            yield response.output_text

    def tell(self, messages: list[Any], call: Call, result: str) -> None:
        messages.append({"type": "function_call_output", "call_id": call.call_id, "output": result})

    def say(self, messages: list[Any], text: str) -> None:
        messages.append({"role": "user", "content": text})


def bench() -> Bench:
    scripted: list[str] = []
    return bench_of_loop("OpenAI responses, a loop", Responses(scripted), scripted)

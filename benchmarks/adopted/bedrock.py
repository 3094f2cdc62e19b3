"""A loop over Bedrock's converse. Needs the package boto3."""

import json
import struct
import zlib
from collections.abc import Iterator
from typing import Any

from adoption import Bench
from raw_loop import PARAMETERS, Api, Call, bench_of_loop, pieces

TOOLS: Any = {"tools": [{"toolSpec": {"name": "meter", "inputSchema": {"json": PARAMETERS}}}]}
CALL = {"toolUseId": "c1", "name": "meter", "input": {"site": "north"}}
MIME = "application/vnd.amazon.eventstream"


def framed(kind: str, data: Any) -> bytes:
    """An event as AWS frames it: lengths and checksums around headers and payload."""
    payload = json.dumps(data).encode()
    headers = b"".join(
        bytes([len(name)]) + name.encode() + b"\7" + struct.pack(">H", len(value)) + value.encode()
        for name, value in (
            (":event-type", kind),
            (":content-type", "application/json"),
            (":message-type", "event"),
        )
    )
    lengths = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    message = lengths + struct.pack(">I", zlib.crc32(lengths)) + headers + payload
    return message + struct.pack(">I", zlib.crc32(message))


class Converse:
    def __init__(self, scripted: list[str]) -> None:
        import boto3

        self._scripted = scripted
        self._client: Any = boto3.client(
            "bedrock-runtime",
            region_name="none",
            endpoint_url=Api(self._reply, MIME).address,
            aws_access_key_id="none",
            aws_secret_access_key="none",
        )

    def _reply(self, body: Any, path: str) -> Any:
        is_call = len(body["messages"]) == 1
        reason = {"stopReason": "tool_use" if is_call else "end_turn"}
        usage = {
            "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
            "metrics": {"latencyMs": 1},
        }
        if not path.endswith("-stream"):
            block: Any = {"toolUse": CALL} if is_call else {"text": self._scripted[0]}
            return {"output": {"message": {"role": "assistant", "content": [block]}}, **reason, **usage}
        deltas: list[Any] = (
            [{"toolUse": {"input": json.dumps(CALL["input"])}}]
            if is_call
            else [{"text": piece} for piece in pieces(self._scripted[0])]
        )
        place = {"contentBlockIndex": 0}
        use = {"toolUse": {"toolUseId": "c1", "name": "meter"}}
        events: list[tuple[str, Any]] = [
            ("messageStart", {"role": "assistant"}),
            *([("contentBlockStart", {"start": use, **place})] if is_call else []),
            *(("contentBlockDelta", {"delta": delta, **place}) for delta in deltas),
            ("contentBlockStop", place),
            ("messageStop", reason),
            ("metadata", usage),
        ]
        return b"".join(framed(kind, data) for kind, data in events)

    def ask(self, messages: list[Any], streams: bool) -> Iterator[str | Call]:
        options: Any = {"modelId": "model", "messages": messages, "toolConfig": TOOLS}
        content: list[Any] = []
        if streams:
            text, use = "", None
            for event in self._client.converse_stream(**options)["stream"]:
                if start := event.get("contentBlockStart"):
                    use = {**start["start"]["toolUse"], "input": ""}
                delta = event.get("contentBlockDelta", {}).get("delta", {})
                if use is not None and "toolUse" in delta:
                    use["input"] += delta["toolUse"]["input"]
                elif "text" in delta:
                    text += delta["text"]
                    yield delta["text"]
            content = [{"text": text}] if text else []
            content += [{"toolUse": {**use, "input": json.loads(use["input"])}}] if use else []
        else:
            content = self._client.converse(**options)["output"]["message"]["content"]
            yield from (block["text"] for block in content if "text" in block)
        messages.append({"role": "assistant", "content": content})
        for block in content:
            if item := block.get("toolUse"):
                yield Call(item["toolUseId"], item["name"], item["input"])

    def tell(self, messages: list[Any], call: Call, result: str) -> None:
        block = {"toolResult": {"toolUseId": call.call_id, "content": [{"text": result}]}}
        messages.append({"role": "user", "content": [block]})

    def say(self, messages: list[Any], text: str) -> None:
        messages.append({"role": "user", "content": [{"text": text}]})


def bench() -> Bench:
    scripted: list[str] = []
    return bench_of_loop("Bedrock converse, a loop", Converse(scripted), scripted)

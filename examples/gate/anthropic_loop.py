"""A loop of your own over Anthropic's messages.

The model states a made-up number, is told so, and repairs it. The API is scripted.
"""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anthropic

from gllint_runtime import GLError, Session
from gllint_runtime.adapters import kit


def meter(site: str) -> dict[str, Any]:
    """The heat that a site used last year."""
    return {"heat": {"value": 12.5, "unit": "kWh"}}


PARAMETERS = {"type": "object", "properties": {"site": {"type": "string"}}, "required": ["site"]}
TOOLS: Any = [{"name": "meter", "description": "The heat of a site.", "input_schema": PARAMETERS}]


def answer(question: str, session: Session, max_retries: int = 2) -> str:
    """What may be said to a question: the loop as you have it, and the gate in it."""
    session.user(question)
    messages: Any = [{"role": "user", "content": question}]
    while True:
        reply = client.messages.create(
            model="claude", max_tokens=1000, system=kit.INSTRUCTIONS, messages=messages, tools=TOOLS
        )
        messages.append({"role": "assistant", "content": reply.content})
        results = []
        for use in reply.content:
            if use.type == "tool_use":
                told = kit.tool_result(session, use.name, meter, use.input, tool_call_id=use.id)
                results.append({"type": "tool_result", "tool_use_id": use.id, "content": told})
        if results:
            messages.append({"role": "user", "content": results})
            continue
        try:
            text = "".join(block.text for block in reply.content if block.type == "text")
            return kit.check_final(session, text).message
        except GLError as error:
            if max_retries == 0:
                return kit.REFUSAL
            max_retries -= 1
            messages.append({"role": "user", "content": session.repair_hint(error)})


class Api(BaseHTTPRequestHandler):
    """Stands in for the API: answers what it is told to."""

    script: Iterator[Any]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps(next(self.script)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None: ...


server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_port}"
client = anthropic.Anthropic(api_key="none", base_url=address)


def reply(block: dict[str, Any]) -> dict[str, Any]:
    reason = "tool_use" if block["type"] == "tool_use" else "end_turn"
    about = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "stop_reason": reason}
    return {**about, "content": [block], "usage": {"input_tokens": 1, "output_tokens": 1}}


def says(text: str) -> dict[str, Any]:
    return reply({"type": "text", "text": text})


call = {"type": "tool_use", "id": "c1", "name": "meter", "input": {"site": "north"}}

claim = {"source_call_id": "tc_1", "path": "$.heat", "quantity": {"value": 12.5, "unit": "kWh"}}
Api.script = iter(
    [
        reply(call),
        says("It uses about 13 kWh."),
        says(json.dumps({"message": "It uses {{claim:0}}.", "claims": [claim]})),
    ]
)
text = answer("How much heat?", Session())
server.shutdown()

assert text == "It uses 12.50 kWh."
print(text)

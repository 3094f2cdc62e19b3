"""A loop of your own over Anthropic's messages.

The model states a made-up number, is told so, and repairs it. The API is scripted.
"""

import json
from typing import Any

import anthropic
from scripted_api import scripted_api

from gllint_runtime import GLError, Session
from gllint_runtime.adapters import kit


def meter(site: str) -> dict[str, Any]:
    """The heat that a site used last year."""
    return {"heat": {"value": 12.5, "unit": "kWh"}}


PARAMETERS = {"type": "object", "properties": {"site": {"type": "string"}}, "required": ["site"]}
TOOLS: Any = [{"name": "meter", "description": "The heat of a site.", "input_schema": PARAMETERS}]


def answer(client: anthropic.Anthropic, question: str, session: Session, max_retries: int = 2) -> str:
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


def reply(block: dict[str, Any]) -> dict[str, Any]:
    reason = "tool_use" if block["type"] == "tool_use" else "end_turn"
    about = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "stop_reason": reason}
    return {**about, "content": [block], "usage": {"input_tokens": 1, "output_tokens": 1}}


def says(text: str) -> dict[str, Any]:
    return reply({"type": "text", "text": text})


call = {"type": "tool_use", "id": "c1", "name": "meter", "input": {"site": "north"}}

claim = {"source_call_id": "tc_1", "path": "$.heat", "quantity": {"value": 12.5, "unit": "kWh"}}
script = [
    reply(call),
    says("It uses about 13 kWh."),
    says(json.dumps({"message": "It uses {{claim:0}}.", "claims": [claim]})),
]
with scripted_api(script) as address:
    client = anthropic.Anthropic(api_key="none", base_url=address)
    text = answer(client, "How much heat?", Session())

assert text == "It uses 12.50 kWh."
print(text)

"""A loop of your own over Anthropic's messages.

The model makes up a number, gets the hint, and repairs its answer. The API is scripted.
"""

from typing import Any

import anthropic
from scripted_api import scripted_api

from gllint_runtime import Session
from gllint_runtime.adapters import kit


def meter(site: str) -> dict[str, Any]:
    """The heat that a site used last year."""
    return {"heat_kwh": 12.5}


PARAMETERS = {"type": "object", "properties": {"site": {"type": "string"}}, "required": ["site"]}
TOOLS: Any = [{"name": "meter", "description": "The heat of a site.", "input_schema": PARAMETERS}]


def answer(client: anthropic.Anthropic, question: str, session: Session) -> str:
    """Return the checked answer to a question: your loop, with the gate in it."""
    session.user(question)
    turn = kit.Turn(kit.Gate(max_retries=2), session)
    messages: Any = [{"role": "user", "content": question}]
    while True:
        reply = client.messages.create(model="claude", max_tokens=1000, messages=messages, tools=TOOLS)
        messages.append({"role": "assistant", "content": reply.content})
        results = []
        for use in reply.content:
            if use.type == "tool_use":
                result = kit.tool_result(session, use.name, meter, use.input, tool_call_id=use.id)
                results.append({"type": "tool_result", "tool_use_id": use.id, "content": result})
        if results:
            messages.append({"role": "user", "content": results})
            continue
        text = turn.text("".join(block.text for block in reply.content if block.type == "text"))
        if text is not None:
            return text
        messages.append({"role": "user", "content": turn.hint})


def reply(block: dict[str, Any]) -> dict[str, Any]:
    reason = "tool_use" if block["type"] == "tool_use" else "end_turn"
    about = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "stop_reason": reason}
    return {**about, "content": [block], "usage": {"input_tokens": 1, "output_tokens": 1}}


def says(text: str) -> dict[str, Any]:
    return reply({"type": "text", "text": text})


call = {"type": "tool_use", "id": "c1", "name": "meter", "input": {"site": "north"}}

script = [
    reply(call),
    says("It uses 14 kWh."),
    says("It uses 12.5 kWh."),
]
with scripted_api(script) as address:
    client = anthropic.Anthropic(api_key="none", base_url=address)
    text = answer(client, "How much heat?", Session(mode="sourced"))

assert text == "It uses 12.5 kWh."
print(text)

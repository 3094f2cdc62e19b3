"""A loop of your own over OpenAI's chat completions.

The model makes up a number, gets the hint, and repairs its answer. The API is scripted.
"""

import json
from typing import Any

import openai
from scripted_api import scripted_api

from gllint_runtime import Session
from gllint_runtime.adapters import kit


def meter(site: str) -> dict[str, Any]:
    """The heat that a site used last year."""
    return {"heat_kwh": 12.5}


PARAMETERS = {"type": "object", "properties": {"site": {"type": "string"}}, "required": ["site"]}
TOOLS: Any = [{"type": "function", "function": {"name": "meter", "parameters": PARAMETERS}}]


def answer(client: openai.OpenAI, question: str, session: Session) -> str:
    """Return the checked answer to a question: your loop, with the gate in it."""
    session.user(question)
    turn = kit.Turn(kit.Gate(max_retries=2), session)
    messages: Any = [{"role": "user", "content": question}]
    while True:
        choice = client.chat.completions.create(model="gpt", messages=messages, tools=TOOLS).choices[0]
        messages.append(choice.message.model_dump(exclude_none=True))
        for call in choice.message.tool_calls or ():
            arguments = json.loads(call.function.arguments)
            result = kit.tool_result(session, call.function.name, meter, arguments, tool_call_id=call.id)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        if not choice.message.tool_calls:
            text = turn.text(choice.message.content or "")
            if text is not None:
                return text
            messages.append({"role": "user", "content": turn.hint})


def says(text: str | None, *calls: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, **({"tool_calls": [*calls]} if calls else {})}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return {"id": "c", "object": "chat.completion", "created": 0, "model": "gpt", "choices": [choice]}


call = {"id": "c1", "type": "function", "function": {"name": "meter", "arguments": '{"site": "north"}'}}

script = [
    says(None, call),
    says("It uses 14 kWh."),
    says("It uses 12.5 kWh."),
]
with scripted_api(script) as address:
    client = openai.OpenAI(api_key="none", base_url=address)
    text = answer(client, "How much heat?", Session(mode="sourced"))

assert text == "It uses 12.5 kWh."
print(text)

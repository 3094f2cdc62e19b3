"""A loop of your own over OpenAI's responses.

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
TOOLS: Any = [{"type": "function", "name": "meter", "parameters": PARAMETERS, "strict": False}]


def answer(client: openai.OpenAI, question: str, session: Session) -> str:
    """Return the checked answer to a question: your loop, with the gate in it."""
    session.user(question)
    turn = kit.Turn(kit.Gate(max_retries=2), session)
    items: Any = [{"role": "user", "content": question}]
    while True:
        response = client.responses.create(model="gpt", input=items, tools=TOOLS)
        items += [item.model_dump(exclude_none=True) for item in response.output]
        calls = [item for item in response.output if item.type == "function_call"]
        for call in calls:
            arguments = json.loads(call.arguments)
            result = kit.tool_result(session, call.name, meter, arguments, tool_call_id=call.call_id)
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": result})
        if not calls:
            text = turn.text(response.output_text or "")
            if text is not None:
                return text
            items.append({"role": "user", "content": turn.hint})


def response(item: dict[str, Any]) -> dict[str, Any]:
    about = {"id": "r", "object": "response", "created_at": 0, "model": "gpt", "status": "completed"}
    return {**about, "output": [item], "tools": [], "tool_choice": "auto", "parallel_tool_calls": True}


def says(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return response(
        {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": content}
    )


call = {
    "id": "f",
    "type": "function_call",
    "call_id": "c1",
    "name": "meter",
    "arguments": '{"site": "north"}',
}

script = [
    response(call),
    says("It uses 14 kWh."),
    says("It uses 12.5 kWh."),
]
with scripted_api(script) as address:
    client = openai.OpenAI(api_key="none", base_url=address)
    text = answer(client, "How much heat?", Session(mode="sourced"))

assert text == "It uses 12.5 kWh."
print(text)

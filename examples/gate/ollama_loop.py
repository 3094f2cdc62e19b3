"""A loop of your own over Ollama.

The model states a made-up number, gets a hint, and repairs it. The API is scripted.
"""

from typing import Any

import ollama
from scripted_api import scripted_api

from gllint_runtime import Session
from gllint_runtime.adapters import kit


def meter(site: str) -> dict[str, Any]:
    """The heat that a site used last year."""
    return {"heat_kwh": 12.5}


def answer(client: ollama.Client, question: str, session: Session) -> str:
    """Return the checked answer to a question: your loop, with the gate in it."""
    session.user(question)
    turn = kit.Turn(kit.Gate(max_retries=2), session)
    messages: Any = [{"role": "user", "content": question}]
    while True:
        message = client.chat(model="model", messages=messages, tools=[meter]).message
        messages.append(message)
        for call in message.tool_calls or ():
            result = kit.tool_result(session, call.function.name, meter, call.function.arguments)
            messages.append({"role": "tool", "tool_name": call.function.name, "content": result})
        if not message.tool_calls:
            text = turn.text(message.content or "")
            if text is not None:
                return text
            messages.append({"role": "user", "content": turn.hint})


def says(text: str = "", *calls: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, "tool_calls": [*calls]}
    return {"model": "model", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": True}


script = [
    says("", {"function": {"name": "meter", "arguments": {"site": "north"}}}),
    says("It uses 14 kWh."),
    says("It uses 12.5 kWh."),
]
with scripted_api(script) as address:
    text = answer(ollama.Client(host=address), "How much heat?", Session(mode="sourced"))

assert text == "It uses 12.5 kWh."
print(text)

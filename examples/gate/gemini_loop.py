"""A loop of your own over Gemini.

The model states a made-up number, gets a hint, and repairs it. The API is scripted.
"""

from typing import Any

from google import genai
from google.genai import types
from scripted_api import scripted_api

from gllint_runtime import Session
from gllint_runtime.adapters import kit


def meter(site: str) -> dict[str, Any]:
    """The heat that a site used last year."""
    return {"heat_kwh": 12.5}


PARAMETERS: Any = {"type": "OBJECT", "properties": {"site": {"type": "STRING"}}, "required": ["site"]}
METER = types.FunctionDeclaration(name="meter", parameters=PARAMETERS)
CONFIG = types.GenerateContentConfig(tools=[types.Tool(function_declarations=[METER])])


def answer(client: genai.Client, question: str, session: Session) -> str:
    """Return the checked answer to a question: your loop, with the gate in it."""
    session.user(question)
    turn = kit.Turn(kit.Gate(max_retries=2), session)
    contents: Any = [types.Content(role="user", parts=[types.Part(text=question)])]
    while True:
        reply: Any = client.models.generate_content(model="gemini", contents=contents, config=CONFIG)
        contents.append(reply.candidates[0].content)
        results = []
        for call in reply.function_calls or ():
            result = kit.tool_result(session, call.name, meter, call.args, tool_call_id=call.id)
            results.append(types.Part.from_function_response(name=call.name, response={"result": result}))
        if not results:
            text = turn.text(reply.text or "")
            if text is not None:
                return text
            results = [types.Part(text=turn.hint)]
        contents.append(types.Content(role="user", parts=results))


def says(part: dict[str, Any]) -> dict[str, Any]:
    content = {"role": "model", "parts": [part]}
    return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}


script = [
    says({"functionCall": {"name": "meter", "args": {"site": "north"}}}),
    says({"text": "It uses 14 kWh."}),
    says({"text": "It uses 12.5 kWh."}),
]
with scripted_api(script) as address:
    client = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=address))
    text = answer(client, "How much heat?", Session(mode="sourced"))

assert text == "It uses 12.5 kWh."
print(text)

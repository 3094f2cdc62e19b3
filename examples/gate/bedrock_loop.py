"""A loop of your own over Bedrock's converse.

The model makes up a number, gets the hint, and repairs its answer. The API is scripted.
"""

from typing import Any

import boto3
from scripted_api import scripted_api

from gllint_runtime import Session
from gllint_runtime.adapters import kit


def meter(site: str) -> dict[str, Any]:
    """The heat that a site used last year."""
    return {"heat_kwh": 12.5}


PARAMETERS = {"type": "object", "properties": {"site": {"type": "string"}}, "required": ["site"]}
TOOLS: Any = {"tools": [{"toolSpec": {"name": "meter", "inputSchema": {"json": PARAMETERS}}}]}


def answer(client: Any, question: str, session: Session) -> str:
    """Return the checked answer to a question: your loop, with the gate in it."""
    session.user(question)
    turn = kit.Turn(kit.Gate(max_retries=2), session)
    messages: Any = [{"role": "user", "content": [{"text": question}]}]
    while True:
        reply = client.converse(modelId="model", messages=messages, toolConfig=TOOLS)
        message = reply["output"]["message"]
        messages.append(message)
        results = []
        for use in (block["toolUse"] for block in message["content"] if "toolUse" in block):
            call_id = use["toolUseId"]
            result = kit.tool_result(session, use["name"], meter, use["input"], tool_call_id=call_id)
            results.append({"toolResult": {"toolUseId": call_id, "content": [{"text": result}]}})
        if results:
            messages.append({"role": "user", "content": results})
            continue
        text = turn.text("".join(block.get("text", "") for block in message["content"]))
        if text is not None:
            return text
        messages.append({"role": "user", "content": [{"text": turn.hint}]})


def reply(block: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": [block]}
    usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
    reason = "tool_use" if "toolUse" in block else "end_turn"
    about = {"stopReason": reason, "usage": usage, "metrics": {"latencyMs": 1}}
    return {"output": {"message": message}, **about}


def says(text: str) -> dict[str, Any]:
    return reply({"text": text})


call = {"toolUse": {"toolUseId": "c1", "name": "meter", "input": {"site": "north"}}}

script = [
    reply(call),
    says("It uses 14 kWh."),
    says("It uses 12.5 kWh."),
]
with scripted_api(script) as address:
    client: Any = boto3.client(
        "bedrock-runtime",
        region_name="none",
        endpoint_url=address,
        aws_access_key_id="none",
        aws_secret_access_key="none",
    )
    text = answer(client, "How much heat?", Session(mode="sourced"))

assert text == "It uses 12.5 kWh."
print(text)

"""OpenAI Agents SDK: the agent states a made-up number, is told so, and repairs it. The model is scripted."""

import asyncio
import json
from typing import Any

from agents import Agent, Model, ModelResponse, RunConfig, Usage, function_tool
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from gllint_runtime import Session
from gllint_runtime.adapters import INSTRUCTIONS
from gllint_runtime.adapters.openai_agents import gated, run


class Script(Model):
    """Stands in for a model."""

    def __init__(self, *outputs: Any) -> None:
        self._outputs = iter(outputs)

    async def get_response(self, *arguments: Any, **options: Any) -> ModelResponse:
        return ModelResponse(output=[next(self._outputs)], usage=Usage(), response_id=None)

    def stream_response(self, *arguments: Any, **options: Any) -> Any:
        raise NotImplementedError


def says(text: str) -> ResponseOutputMessage:
    content = ResponseOutputText(text=text, type="output_text", annotations=[])
    return ResponseOutputMessage(
        id="m", content=[content], role="assistant", status="completed", type="message"
    )


@function_tool
def meter(site: str) -> dict[str, Any]:
    """The heat that a site used last year."""
    return {"heat": {"value": 12.5, "unit": "kWh"}}


claim = {"source_call_id": "tc_1", "path": "$.heat", "quantity": {"value": 12.5, "unit": "kWh"}}
model = Script(
    ResponseFunctionToolCall(
        call_id="call_1", name="meter", arguments='{"site": "north"}', type="function_call"
    ),
    says("It uses about 13 kWh."),
    says(json.dumps({"message": "It uses {{claim:0}}.", "claims": [claim]})),
)
session = Session()
agent = Agent(name="advisor", instructions=INSTRUCTIONS, tools=[gated(meter, session)], model=model)
verified = asyncio.run(run(agent, "How much heat?", session, run_config=RunConfig(tracing_disabled=True)))

assert verified.message == "It uses 12.50 kWh."
print(verified.message)

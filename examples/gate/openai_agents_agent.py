"""The gate in the OpenAI Agents SDK: the agent states a made-up number, is told so, and repairs it, from a script."""

import asyncio
import json
from typing import Any

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from gllint_runtime.adapters import INSTRUCTIONS
from gllint_runtime.adapters.openai_agents import gate


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
agent = gate(Agent(name="advisor", instructions=INSTRUCTIONS, tools=[meter], model=model))
result = asyncio.run(Runner.run(agent, "How much heat?", run_config=RunConfig(tracing_disabled=True)))

assert result.final_output == "It uses 12.50 kWh."
assert "13 kWh" not in str(result.to_input_list())
print(result.final_output)

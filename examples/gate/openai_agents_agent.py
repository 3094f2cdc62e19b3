"""The gate in the OpenAI Agents SDK: the scripted model makes up a number, gets the hint, and repairs its answer."""

import asyncio
from typing import Any

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from gllint_runtime.adapters.openai_agents import gate


class Script(Model):
    """A scripted model."""

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
    return {"heat_kwh": 12.5}


model = Script(
    ResponseFunctionToolCall(
        call_id="call_1", name="meter", arguments='{"site": "north"}', type="function_call"
    ),
    says("It uses 14 kWh."),
    says("It uses 12.5 kWh."),
)
agent = gate(Agent(name="advisor", instructions="Answer in one sentence.", tools=[meter], model=model))
result = asyncio.run(Runner.run(agent, "How much heat?", run_config=RunConfig(tracing_disabled=True)))

assert result.final_output == "It uses 12.5 kWh."
assert "14 kWh" not in str(result.to_input_list())
print(result.final_output)

"""The gate in pydantic-ai: the scripted model makes up a number, gets the hint, and repairs its answer."""

from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from gllint_runtime.adapters.pydantic_ai import gate


def meter(site: str) -> dict[str, Any]:
    """The heat that a site used last year."""
    return {"heat_kwh": 12.5}


script = iter(
    [
        ModelResponse([ToolCallPart("meter", {"site": "north"})]),
        ModelResponse([TextPart("It uses 14 kWh.")]),
        ModelResponse([TextPart("It uses 12.5 kWh.")]),
    ]
)
model = FunctionModel(lambda messages, info: next(script))
agent = gate(Agent(model, instructions="Answer in one sentence.", tools=[meter]))
result = agent.run_sync("How much heat?")

assert result.output == "It uses 12.5 kWh."
assert "14 kWh" not in str(result.all_messages())
print(result.output)

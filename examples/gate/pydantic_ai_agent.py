"""The gate in pydantic-ai: the agent states a made-up number, is told so, and repairs it. The model is scripted."""

import json
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from gllint_runtime.adapters import INSTRUCTIONS
from gllint_runtime.adapters.pydantic_ai import gate


def meter(site: str) -> dict[str, Any]:
    """The heat that a site used last year."""
    return {"heat": {"value": 12.5, "unit": "kWh"}}


claim = {"source_call_id": "tc_1", "path": "$.heat", "quantity": {"value": 12.5, "unit": "kWh"}}
script = iter(
    [
        ToolCallPart("meter", {"site": "north"}),
        TextPart("It uses about 13 kWh."),
        TextPart(json.dumps({"message": "It uses {{claim:0}}.", "claims": [claim]})),
    ]
)
model = FunctionModel(lambda messages, info: ModelResponse([next(script)]))
agent = gate(Agent(model, instructions=INSTRUCTIONS, tools=[meter]))
result = agent.run_sync("How much heat?")

assert result.output == "It uses 12.50 kWh."
assert "13 kWh" not in str(result.all_messages())
print(result.output)

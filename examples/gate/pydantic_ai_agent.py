"""pydantic-ai: the agent states a made-up number, is told so, and repairs it. The model is scripted."""

import json
from typing import Any

from pydantic_ai import Agent, FunctionToolset
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from gllint_runtime import Session
from gllint_runtime.adapters import INSTRUCTIONS
from gllint_runtime.adapters.pydantic_ai import GatedToolset, output_check


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
session = Session()
agent = Agent(
    FunctionModel(lambda messages, info: ModelResponse([next(script)])),
    instructions=INSTRUCTIONS,
    toolsets=[GatedToolset(FunctionToolset([meter]), session)],
    retries=2,
)
agent.output_validator(output_check(session))
answer = agent.run_sync("How much heat?").output

assert answer == "It uses 12.50 kWh."
print(answer)

"""Google ADK: the agent states a made-up number, is told so, and repairs it. The model is scripted."""

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from gllint_runtime.adapters import INSTRUCTIONS
from gllint_runtime.adapters.google_adk import gate


class Script(BaseLlm):
    """Stands in for a model."""

    script: list[Any]

    async def generate_content_async(
        self, *arguments: Any, **options: Any
    ) -> AsyncGenerator[LlmResponse, None]:
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(**self.script.pop(0))]))


def meter(site: str) -> dict[str, Any]:
    """The heat that a site used last year."""
    return {"heat": {"value": 12.5, "unit": "kWh"}}


claim = {"source_call_id": "tc_1", "path": "$.heat", "quantity": {"value": 12.5, "unit": "kWh"}}
model = Script(
    model="script",
    script=[
        {"function_call": types.FunctionCall(name="meter", args={"site": "north"})},
        {"text": "It uses about 13 kWh."},
        {"text": json.dumps({"message": "It uses {{claim:0}}.", "claims": [claim]})},
    ],
)
agent = gate(LlmAgent(name="advisor", model=model, instruction=INSTRUCTIONS, tools=[meter]))
runner = InMemoryRunner(agent)
events = asyncio.run(runner.run_debug("How much heat?", quiet=True))
answer = events[-1].content.parts[0].text

assert answer == "It uses 12.50 kWh."
assert "about 13" not in str(events)
print(answer)

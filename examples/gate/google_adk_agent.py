"""Google ADK: the scripted model makes up a number, gets the hint, and repairs its answer."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from gllint_runtime.adapters.google_adk import gate


class Script(BaseLlm):
    """A scripted model."""

    script: list[Any]

    async def generate_content_async(
        self, *arguments: Any, **options: Any
    ) -> AsyncGenerator[LlmResponse, None]:
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(**self.script.pop(0))]))


def meter(site: str) -> dict[str, Any]:
    """The heat that a site used last year."""
    return {"heat_kwh": 12.5}


model = Script(
    model="script",
    script=[
        {"function_call": types.FunctionCall(name="meter", args={"site": "north"})},
        {"text": "It uses 14 kWh."},
        {"text": "It uses 12.5 kWh."},
    ],
)
agent = gate(LlmAgent(name="advisor", model=model, instruction="Answer in one sentence.", tools=[meter]))
runner = InMemoryRunner(agent)
events = asyncio.run(runner.run_debug("How much heat?", quiet=True))
answer = events[-1].content.parts[0].text

assert answer == "It uses 12.5 kWh."
assert "14 kWh" not in str(events)
print(answer)

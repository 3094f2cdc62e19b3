"""Google ADK. Needs the package google.adk."""

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

from adoption import HONEST, Bench, meter, note, repeated

from gllint_runtime import ClaimedText
from gllint_runtime.adapters.google_adk import gate

ADOPTING = """
from gllint_runtime.adapters.google_adk import gate
agent = gate(LlmAgent(name="…", model=model, tools=tools))
"""


def bench() -> Bench:
    from google.adk.agents import LlmAgent, RunConfig
    from google.adk.agents.run_config import StreamingMode
    from google.adk.models import BaseLlm, LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.adk.tools.agent_tool import AgentTool
    from google.genai import types
    from pydantic import BaseModel

    class Answer(BaseModel):
        note: ClaimedText

    class Script(BaseLlm):
        script: list[Any]

        async def generate_content_async(
            self, llm_request: Any, stream: bool = False
        ) -> AsyncGenerator[LlmResponse, None]:
            said = self.script.pop(0)
            for letter in said if stream and isinstance(said, str) else ():
                piece = types.Content(role="model", parts=[types.Part(text=letter)])
                yield LlmResponse(content=piece, partial=True)
            if isinstance(said, str):
                part = types.Part(text=said)
            else:
                part = types.Part(function_call=types.FunctionCall(name=said[0], args=said[1]))
            yield LlmResponse(content=types.Content(role="model", parts=[part]))

    def made(*script: Any, name: str = "a", tools: Any = (meter,), **options: Any) -> Any:
        return LlmAgent(name=name, model=Script(model="m", script=[*script]), tools=[*tools], **options)

    def agent(*script: Any, **options: Any) -> Any:
        return gate(made(*script, **options), mode="claims", max_retries=0)

    def text_of(events: list[Any]) -> str:
        return "".join(part.text or "" for event in events for part in event.content.parts)

    def said(target: Any, **options: Any) -> list[Any]:
        return asyncio.run(InMemoryRunner(target).run_debug("How?", quiet=True, **options))

    def streamed(answer: str) -> str:
        config = RunConfig(streaming_mode=StreamingMode.SSE)
        events = said(agent(("meter", {}), answer), run_config=config)
        return text_of([event for event in events if event.partial])

    def structured(answer: str) -> str:
        whole = json.dumps(note(answer))
        events = said(agent(("meter", {}), whole, output_schema=Answer))
        return str(json.loads(text_of(events[-1:]))["note"])

    def agents(answer: str) -> str:
        expert = AgentTool(made(("meter", {}), HONEST, name="expert"))
        return text_of(said(agent(("expert", {"request": "How?"}), repeated(answer), tools=[expert]))[-1:])

    return Bench(
        "Google ADK",
        ADOPTING,
        lambda answer: text_of(said(made(("meter", {}), answer))[-1:]),
        {
            "plain": lambda answer: text_of(said(agent(("meter", {}), answer))[-1:]),
            "streamed": streamed,
            "structured": structured,
            "agents": agents,
        },
    )

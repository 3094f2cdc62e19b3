"""Strands Agents. Needs the package strands."""

import asyncio
import json
from typing import Any

from adoption import HONEST, Bench, meter, note, repeated

from gllint_runtime import ClaimedText
from gllint_runtime.adapters.strands import gate

ADOPTING = """
from gllint_runtime.adapters.strands import gate
agent = gate(Agent(model=model, tools=tools))
"""


def bench() -> Bench:
    from pydantic import BaseModel
    from strands import Agent, tool
    from strands.models import Model

    class Answer(BaseModel):
        note: ClaimedText

    class Script(Model):
        def __init__(self, *script: Any) -> None:
            self._script = iter(script)

        def update_config(self, **config: Any) -> None: ...

        def get_config(self) -> Any:
            return {}

        def structured_output(self, *arguments: Any, **options: Any) -> Any:
            raise NotImplementedError

        async def stream(self, *arguments: Any, **options: Any) -> Any:
            said = next(self._script)
            yield {"messageStart": {"role": "assistant"}}
            if isinstance(said, str):
                for letter in said:
                    yield {"contentBlockDelta": {"delta": {"text": letter}}}
            else:
                use = {"toolUseId": f"call of {said[0]}", "name": said[0]}
                yield {"contentBlockStart": {"start": {"toolUse": use}}}
                yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(said[1])}}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn" if isinstance(said, str) else "tool_use"}}

    reading = tool(meter)

    def made(*script: Any, tools: Any = (reading,), **options: Any) -> Any:
        return Agent(model=Script(*script), tools=[*tools], callback_handler=None, **options)

    def agent(*script: Any, **options: Any) -> Any:
        return gate(made(*script, **options), mode="claims", max_retries=0)

    def streamed(answer: str) -> str:
        async def main() -> str:
            events = [event async for event in agent(("meter", {}), answer).stream_async("How?")]
            return "".join(event["data"] for event in events if "data" in event)

        return asyncio.run(main())

    def structured(answer: str) -> str:
        result = agent(("meter", {}), ("Answer", note(answer)))("How?", structured_output_model=Answer)
        return str(result.structured_output.note)

    def agents(answer: str) -> str:
        expert = made(("meter", {}), HONEST, name="expert")
        return str(agent(("expert", {"input": "How?"}), repeated(answer), tools=[expert])("How?")).strip()

    return Bench(
        "Strands Agents",
        ADOPTING,
        lambda answer: str(made(("meter", {}), answer)("How?")).strip(),
        {
            "plain": lambda answer: str(agent(("meter", {}), answer)("How?")).strip(),
            "streamed": streamed,
            "structured": structured,
            "agents": agents,
        },
    )

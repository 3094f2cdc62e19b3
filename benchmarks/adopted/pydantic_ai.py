"""pydantic-ai. Needs the package pydantic_ai."""

import asyncio
import json
from typing import Any

from adoption import HONEST, Bench, meter, note, repeated

from gllint_runtime import ClaimedText
from gllint_runtime.adapters.pydantic_ai import gate

ADOPTING = """
from gllint_runtime.adapters.pydantic_ai import gate
agent = gate(Agent(model, tools=tools))
"""


def bench() -> Bench:
    from pydantic import BaseModel
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import DeltaToolCall, FunctionModel

    class Answer(BaseModel):
        note: ClaimedText

    def model(*script: Any) -> Any:
        steps = iter(script)

        def answer(messages: Any, info: Any) -> ModelResponse:
            step = next(steps)
            return ModelResponse([TextPart(step) if isinstance(step, str) else ToolCallPart(*step)])

        async def stream(messages: Any, info: Any) -> Any:
            step = next(steps)
            if isinstance(step, str):
                for letter in step:
                    yield letter
            else:
                yield {0: DeltaToolCall(name=step[0], json_args=json.dumps(step[1]), tool_call_id="call_1")}

        return FunctionModel(answer, stream_function=stream)

    def agent(*script: Any, tool: Any = meter, **options: Any) -> Any:
        return gate(Agent(model(*script), tools=[tool], **options), mode="claims", max_retries=0)

    def streamed(answer: str) -> str:
        async def main() -> str:
            async with agent(("meter", {}), answer).run_stream("How?") as result:
                return "".join([text async for text in result.stream_text(delta=True, debounce_by=None)])

        return asyncio.run(main())

    def structured(answer: str) -> str:
        made = agent(("meter", {}), ("final_result", note(answer)), output_type=Answer, retries=0)
        return str(made.run_sync("How?").output.note)

    def agents(answer: str) -> str:
        async def expert() -> str:
            """Asks the expert."""
            return str((await agent(("meter", {}), HONEST).run("How?")).output)

        return str(agent(("expert", {}), repeated(answer), tool=expert).run_sync("How?").output)

    return Bench(
        "pydantic-ai",
        ADOPTING,
        lambda answer: str(Agent(model(("meter", {}), answer), tools=[meter]).run_sync("How?").output),
        {
            "plain": lambda answer: str(agent(("meter", {}), answer).run_sync("How?").output),
            "streamed": streamed,
            "structured": structured,
            "agents": agents,
        },
    )

"""The OpenAI Agents SDK. Needs the package agents."""

import asyncio
import json
from typing import Any

from adoption import HONEST, Bench, meter, note, repeated

from gllint_runtime import ClaimedText
from gllint_runtime.adapters.openai_agents import gate

ADOPTING = """
from gllint_runtime.adapters.openai_agents import gate
agent = gate(Agent(name="…", tools=tools))
"""


def bench() -> Bench:
    from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
    from openai.types.responses import (
        Response,
        ResponseCompletedEvent,
        ResponseFunctionToolCall,
        ResponseOutputMessage,
        ResponseOutputText,
        ResponseTextDeltaEvent,
    )
    from pydantic import BaseModel

    class Answer(BaseModel):
        note: ClaimedText

    class Script(Model):
        def __init__(self, *script: Any) -> None:
            self._script = iter(script)

        def _next(self) -> Any:
            said = next(self._script)
            if isinstance(said, tuple):
                return ResponseFunctionToolCall(
                    call_id=f"call of {said[0]}", name=said[0], arguments=said[1], type="function_call"
                )
            content: Any = [ResponseOutputText(text=said, type="output_text", annotations=[])]
            return ResponseOutputMessage(
                id="m", content=content, role="assistant", status="completed", type="message"
            )

        async def get_response(self, *arguments: Any, **options: Any) -> ModelResponse:
            return ModelResponse(output=[self._next()], usage=Usage(), response_id=None)

        async def stream_response(self, *arguments: Any, **options: Any) -> Any:
            item = self._next()
            place: Any = {
                "item_id": "m",
                "output_index": 0,
                "sequence_number": 0,
                "content_index": 0,
                "logprobs": [],
            }
            for letter in item.content[0].text if isinstance(item, ResponseOutputMessage) else "":
                yield ResponseTextDeltaEvent(delta=letter, type="response.output_text.delta", **place)
            whole: Any = {
                "id": "r",
                "created_at": 0,
                "model": "m",
                "object": "response",
                "tool_choice": "auto",
            }
            response = Response(output=[item], tools=[], parallel_tool_calls=True, **whole)
            yield ResponseCompletedEvent(response=response, type="response.completed", sequence_number=0)

    quiet = RunConfig(tracing_disabled=True)
    tool = function_tool(meter)

    def made(*script: Any, tools: Any = (tool,), **options: Any) -> Any:
        return Agent(name="a", tools=[*tools], model=Script(*script), **options)

    def agent(*script: Any, **options: Any) -> Any:
        return gate(made(*script, **options), mode="claims", max_retries=0)

    def run(agent: Any) -> Any:
        return asyncio.run(Runner.run(agent, "How much?", run_config=quiet)).final_output

    def streamed(answer: str) -> str:
        async def main() -> str:
            result = Runner.run_streamed(agent(("meter", "{}"), answer), "How?", run_config=quiet)
            events = [event async for event in result.stream_events()]
            return "".join(
                event.data.delta
                for event in events
                if getattr(getattr(event, "data", 0), "type", "") == "response.output_text.delta"
            )

        return asyncio.run(main())

    def agents(answer: str) -> str:
        expert = agent(("meter", "{}"), HONEST).as_tool("expert", "Asks the expert.")
        return str(run(agent(("expert", '{"input": "How?"}'), repeated(answer), tools=[expert])))

    return Bench(
        "OpenAI Agents SDK",
        ADOPTING,
        lambda answer: str(run(made(("meter", "{}"), answer))),
        {
            "plain": lambda answer: str(run(agent(("meter", "{}"), answer))),
            "streamed": streamed,
            "structured": lambda answer: str(
                run(agent(("meter", "{}"), json.dumps(note(answer)), output_type=Answer)).note
            ),
            "agents": agents,
        },
    )

"""LlamaIndex. Needs the package llama_index."""

import asyncio
from typing import Any

from adoption import HONEST, Bench, meter, note, repeated

from gllint_runtime import ClaimedText
from gllint_runtime.adapters.llama_index import gate

ADOPTING = """
from gllint_runtime.adapters.llama_index import gate
agent = gate(FunctionAgent(tools=tools, llm=llm))
"""


def bench() -> Bench:
    from llama_index.core.agent.workflow import AgentStream, FunctionAgent
    from llama_index.core.llms import ChatMessage, MockFunctionCallingLLM
    from llama_index.core.llms.llm import ToolSelection
    from pydantic import BaseModel

    class Answer(BaseModel):
        note: ClaimedText

    class Script(MockFunctionCallingLLM):
        def get_tool_calls_from_response(self, response: Any, **options: Any) -> list[ToolSelection]:
            calls = response.message.additional_kwargs.get("calls", [])
            return [ToolSelection(tool_id=f"call of {n}", tool_name=n, tool_kwargs=a) for n, a in calls]

    def message(said: Any) -> ChatMessage:
        if isinstance(said, str):
            return ChatMessage(role="assistant", content=said)
        return ChatMessage(role="assistant", additional_kwargs={"calls": [said]})

    def made(*script: Any, tool: Any = meter, **options: Any) -> Any:
        steps = iter(script)
        llm = Script(response_generator=lambda messages, **options: message(next(steps)))
        return FunctionAgent(tools=[tool], llm=llm, **options)

    def agent(*script: Any, **options: Any) -> Any:
        return gate(made(*script, **options), mode="claims", max_retries=0)

    def run(agent: Any) -> Any:
        async def main() -> Any:
            return await agent.run("How much?")

        return asyncio.run(main())

    def streamed(answer: str) -> str:
        async def main() -> str:
            handler = agent(("meter", {}), answer).run("How?")
            events = [event async for event in handler.stream_events()]
            await handler
            return "".join(event.delta for event in events if isinstance(event, AgentStream))

        return asyncio.run(main())

    def structured(answer: str) -> str:
        made = agent(("meter", {}), "It uses little.", ("Answer", note(answer)), output_cls=Answer)
        return str(run(made).structured_response["note"])

    def agents(answer: str) -> str:
        async def expert() -> str:
            """Asks the expert."""
            return str(await agent(("meter", {}), HONEST).run("How?"))

        return str(run(agent(("expert", {}), repeated(answer), tool=expert)))

    return Bench(
        "LlamaIndex",
        ADOPTING,
        lambda answer: str(run(made(("meter", {}), answer))),
        {
            "plain": lambda answer: str(run(agent(("meter", {}), answer))),
            "streamed": streamed,
            "structured": structured,
            "agents": agents,
        },
    )

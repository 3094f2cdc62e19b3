"""The gate in LlamaIndex: the scripted model makes up a number, gets the hint, and repairs its answer."""

import asyncio
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage, MockFunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.memory import Memory

from gllint_runtime.adapters.llama_index import gate


class Script(MockFunctionCallingLLM):
    """A scripted model."""

    def get_tool_calls_from_response(self, response: Any, **options: Any) -> list[ToolSelection]:
        calls = response.message.additional_kwargs.get("calls", [])
        return [ToolSelection(tool_id="call_1", tool_name=name, tool_kwargs=args) for name, args in calls]


def meter(site: str) -> dict[str, Any]:
    """The heat that a site used last year."""
    return {"heat_kwh": 12.5}


script = iter(
    [
        ChatMessage(role="assistant", additional_kwargs={"calls": [("meter", {"site": "north"})]}),
        ChatMessage(role="assistant", content="It uses 14 kWh."),
        ChatMessage(role="assistant", content="It uses 12.5 kWh."),
    ]
)
llm = Script(response_generator=lambda messages, **options: next(script))
agent = gate(FunctionAgent(tools=[meter], llm=llm, system_prompt="Answer in one sentence."))
memory = Memory.from_defaults(session_id="ada")  # one for each conversation


async def main() -> str:
    return str(await agent.run("How much heat?", memory=memory))


answer = asyncio.run(main())
assert answer == "It uses 12.5 kWh."
assert not any("14 kWh" in str(message.content) for message in memory.get())
print(answer)

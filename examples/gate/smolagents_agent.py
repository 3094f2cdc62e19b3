"""smolagents: the scripted model makes up a number, gets the hint, and repairs its answer."""

from typing import Any

from smolagents import LogLevel, Model, ToolCallingAgent, tool
from smolagents.models import (
    ChatMessage,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
)

from gllint_runtime.adapters.smolagents import gate


class Script(Model):
    """A scripted model."""

    def __init__(self, *script: tuple[str, dict[str, Any]]) -> None:
        super().__init__()
        self._script = iter(script)

    def generate(self, *arguments: Any, **options: Any) -> ChatMessage:
        name, values = next(self._script)
        call = ChatMessageToolCall(ChatMessageToolCallFunction(values, name), "call_1", "function")
        return ChatMessage(MessageRole.ASSISTANT, "", [call])


@tool
def meter(site: str) -> dict:
    """The heat that a site used last year.

    Args:
        site: Its name.
    """
    return {"heat_kwh": 12.5}


model = Script(
    ("meter", {"site": "north"}),
    ("final_answer", {"answer": "It uses 14 kWh."}),
    ("final_answer", {"answer": "It uses 12.5 kWh."}),
)
agent = gate(
    ToolCallingAgent(
        tools=[meter], model=model, instructions="Answer in one sentence.", verbosity_level=LogLevel.OFF
    )
)
answer = agent.run("How much heat?")

assert answer == "It uses 12.5 kWh."
assert "14 kWh" not in str(agent.memory.get_full_steps())
print(answer)

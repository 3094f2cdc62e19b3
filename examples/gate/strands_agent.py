"""The gate in Strands Agents: the scripted model makes up a number, gets the hint, and repairs its answer."""

from collections.abc import AsyncIterator
from typing import Any

from strands import Agent, tool
from strands.models import Model

from gllint_runtime.adapters.strands import gate


class Script(Model):
    """A scripted model."""

    def __init__(self, *script: dict[str, Any]) -> None:
        self._script = iter(script)

    def update_config(self, **config: Any) -> None: ...

    def get_config(self) -> dict[str, Any]:
        return {}

    def structured_output(self, *arguments: Any, **options: Any) -> Any:
        raise NotImplementedError

    async def stream(self, *arguments: Any, **options: Any) -> AsyncIterator[Any]:
        block = next(self._script)
        yield {"messageStart": {"role": "assistant"}}
        if "toolUse" in block:
            yield {"contentBlockStart": {"start": {"toolUse": block["toolUse"]}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": '{"site": "north"}'}}}}
        else:
            yield {"contentBlockDelta": {"delta": block}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if "toolUse" in block else "end_turn"}}


@tool
def meter(site: str) -> dict[str, Any]:
    """The heat that a site used last year."""
    return {"heat_kwh": 12.5}


model = Script(
    {"toolUse": {"toolUseId": "call_1", "name": "meter"}},
    {"text": "It uses 14 kWh."},
    {"text": "It uses 12.5 kWh."},
)
agent = gate(
    Agent(model=model, system_prompt="Answer in one sentence.", tools=[meter], callback_handler=None)
)
answer = str(agent("How much heat?")).strip()

assert answer == "It uses 12.5 kWh."
assert "14 kWh" not in str([message["content"] for message in agent.messages])
print(answer)

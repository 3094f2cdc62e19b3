"""The gate in Strands Agents: the agent states a made-up number, is told so, and repairs it. The model is scripted."""

import json
from collections.abc import AsyncIterator
from typing import Any

from strands import Agent, tool
from strands.models import Model

from gllint_runtime.adapters import INSTRUCTIONS
from gllint_runtime.adapters.strands import gate


class Script(Model):
    """Stands in for a model."""

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
    return {"heat": {"value": 12.5, "unit": "kWh"}}


claim = {"source_call_id": "tc_1", "path": "$.heat", "quantity": {"value": 12.5, "unit": "kWh"}}
model = Script(
    {"toolUse": {"toolUseId": "call_1", "name": "meter"}},
    {"text": "It uses about 13 kWh."},
    {"text": json.dumps({"message": "It uses {{claim:0}}.", "claims": [claim]})},
)
agent = gate(Agent(model=model, system_prompt=INSTRUCTIONS, tools=[meter], callback_handler=None))
answer = str(agent("How much heat?")).strip()

assert answer == "It uses 12.50 kWh."
assert "13" not in str([message["content"] for message in agent.messages])
print(answer)

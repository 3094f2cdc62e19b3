"""The gate in Agno: the scripted model makes up a number, gets the hint, and repairs its answer."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.base import Model
from agno.models.response import ModelResponse

from gllint_runtime.adapters.agno import gate


@dataclass
class Script(Model):
    """A scripted model."""

    id: str = "script"
    script: Iterator[ModelResponse] = field(default_factory=lambda: iter(()))

    def invoke(self, *arguments: Any, **options: Any) -> ModelResponse:
        return next(self.script)

    ainvoke = invoke_stream = ainvoke_stream = _parse_provider_response = invoke
    _parse_provider_response_delta = invoke


def meter(site: str) -> dict[str, Any]:
    """The heat that a site used last year."""
    return {"heat_kwh": 12.5}


call = {"id": "call_1", "type": "function", "function": {"name": "meter", "arguments": '{"site": "north"}'}}
script = iter(
    [
        ModelResponse(tool_calls=[call]),
        ModelResponse(content="It uses 14 kWh."),
        ModelResponse(content="It uses 12.5 kWh."),
    ]
)
agent = gate(
    Agent(
        model=Script(script=script),
        tools=[meter],
        instructions="Answer in one sentence.",
        db=InMemoryDb(),
        add_history_to_context=True,
        telemetry=False,
    )
)
output = agent.run("How much heat?", session_id="ada")

assert output.content == "It uses 12.5 kWh."
assert not any("14 kWh" in str(message.content) for message in output.messages or [])
print(output.content)

"""Agno. Needs the package agno."""

import json
from dataclasses import dataclass
from typing import Any

from adoption import HONEST, Bench, meter, note, repeated

from gllint_runtime import ClaimedText
from gllint_runtime.adapters.agno import gate

ADOPTING = """
from gllint_runtime.adapters.agno import gate
agent = gate(Agent(model=model, tools=tools))
"""


def bench() -> Bench:
    from agno.agent import Agent
    from agno.models.base import Model
    from agno.models.response import ModelResponse
    from pydantic import BaseModel

    class Answer(BaseModel):
        note: ClaimedText

    @dataclass
    class Script(Model):
        id: str = "script"
        script: Any = None

        def invoke(self, *arguments: Any, **options: Any) -> Any:
            said = next(self.script)
            if isinstance(said, str):
                return ModelResponse(content=said)
            function = {"name": said[0], "arguments": json.dumps(said[1])}
            return ModelResponse(
                tool_calls=[{"id": f"call of {said[0]}", "type": "function", "function": function}]
            )

        def invoke_stream(self, *arguments: Any, **options: Any) -> Any:
            whole = self.invoke()
            yield from (ModelResponse(content=letter) for letter in whole.content or "")
            if whole.tool_calls:
                yield whole

        ainvoke = ainvoke_stream = _parse_provider_response = invoke
        _parse_provider_response_delta = invoke

    def made(*script: Any, tool: Any = meter, **options: Any) -> Any:
        return Agent(model=Script(script=iter(script)), tools=[tool], telemetry=False, **options)

    def agent(*script: Any, **options: Any) -> Any:
        return gate(made(*script, **options), mode="claims", max_retries=0)

    def text(agent: Any) -> str:
        return str(agent.run("How much?").content)

    def streamed(answer: str) -> str:
        events = agent(("meter", {}), answer).run("How?", stream=True)
        return "".join(event.content for event in events if event.event == "RunContent" and event.content)

    def agents(answer: str) -> str:
        def expert() -> str:
            """Asks the expert."""
            return text(agent(("meter", {}), HONEST))

        return text(agent(("expert", {}), repeated(answer), tool=expert))

    return Bench(
        "Agno",
        ADOPTING,
        lambda answer: text(made(("meter", {}), answer)),
        {
            "plain": lambda answer: text(agent(("meter", {}), answer)),
            "streamed": streamed,
            "structured": lambda answer: str(
                agent(("meter", {}), json.dumps(note(answer)), output_schema=Answer).run("How?").content.note
            ),
            "agents": agents,
        },
    )

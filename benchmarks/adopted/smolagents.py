"""smolagents, with pydantic for structured answers. Needs the package smolagents."""

from typing import Any, ClassVar

from adoption import HONEST, Bench, meter, note, repeated

from gllint_runtime import ClaimedText
from gllint_runtime.adapters.smolagents import gate

ADOPTING = """
from gllint_runtime.adapters.smolagents import gate
agent = gate(ToolCallingAgent(tools=tools, model=model))
"""


def bench() -> Bench:
    from pydantic import BaseModel
    from smolagents import LogLevel, Model, Tool, ToolCallingAgent
    from smolagents.models import (
        ChatMessage,
        ChatMessageToolCall,
        ChatMessageToolCallFunction,
        MessageRole,
    )

    class Answer(BaseModel):
        note: ClaimedText

    class Structured(Tool):
        name = "final_answer"
        description = "The answer."
        inputs: ClassVar[Any] = {"note": {"type": "any", "description": "A text."}}
        output_type = "any"

        def forward(self, note: Any) -> Answer:
            return Answer(note=note)

    class Reading(Tool):
        name = "meter"
        description = "The heat that a site used."
        inputs: ClassVar[Any] = {}
        output_type = "object"

        def forward(self) -> Any:
            return meter()

    class Script(Model):
        def __init__(self, *script: Any) -> None:
            super().__init__()
            self._script = iter(script)

        def generate(self, *arguments: Any, **options: Any) -> ChatMessage:
            said = next(self._script)
            name, values = ("final_answer", {"answer": said}) if isinstance(said, str) else said
            function = ChatMessageToolCallFunction(values, name)
            call = ChatMessageToolCall(function, f"call of {name}", "function")
            return ChatMessage(MessageRole.ASSISTANT, "", [call])

    def made(*script: Any, tools: Any = (), **options: Any) -> Any:
        return ToolCallingAgent(
            tools=[Reading(), *tools], model=Script(*script), verbosity_level=LogLevel.OFF, **options
        )

    def agent(*script: Any, **options: Any) -> Any:
        return gate(made(*script, **options), mode="claims", max_retries=0)

    def agents(answer: str) -> str:
        expert = made(("meter", {}), HONEST, name="expert", description="Knows.")
        boss = agent(("expert", {"task": "How?"}), repeated(answer), managed_agents=[expert])
        return str(boss.run("How?"))

    def structured(answer: str) -> str:
        final = ("final_answer", note(answer))
        result = agent(("meter", {}), final, tools=[Structured()]).run("How?")
        return result if isinstance(result, str) else str(result.note)

    return Bench(
        "smolagents",
        ADOPTING,
        lambda answer: str(made(("meter", {}), answer).run("How?")),
        {
            "plain": lambda answer: str(agent(("meter", {}), answer).run("How?")),
            "streamed": lambda answer: [*agent(("meter", {}), answer).run("How?", stream=True)][-1].output,
            "structured": structured,
            "agents": agents,
        },
    )

"""CrewAI. Needs the package crewai."""

import json
import os
from typing import Any

from adoption import HONEST, Bench, meter, note, repeated

from gllint_runtime import ClaimedText
from gllint_runtime.adapters.crewai import gate

ADOPTING = """
from gllint_runtime.adapters.crewai import gate
crew = gate(Crew(agents=[Agent(backstory="…", role="…", goal="…", tools=tools, llm=llm)], tasks=tasks))
"""


def bench() -> Bench:
    os.environ["CREWAI_DISABLE_TELEMETRY"] = os.environ["OTEL_SDK_DISABLED"] = "true"
    from crewai import Agent, BaseLLM, Crew, Task
    from crewai.tools import tool
    from pydantic import BaseModel

    class Answer(BaseModel):
        note: ClaimedText

    class Script(BaseLLM):
        script: list[Any]

        def call(self, *arguments: Any, **options: Any) -> Any:
            said = self.script.pop(0)
            if isinstance(said, str):
                return said
            function = {"name": said[0], "arguments": json.dumps(said[1])}
            return [{"id": f"call of {said[0]}", "type": "function", "function": function}]

        def supports_function_calling(self) -> bool:
            return True

    reading = tool(meter)

    def expert(*script: Any, role: str = "Expert", tools: Any = (reading,), **options: Any) -> Any:
        llm = Script(model="m", script=[*script])
        return Agent(role=role, goal="Answers.", backstory="Knows.", tools=[*tools], llm=llm, **options)

    def crew(*agents: Any, form: Any = None, **options: Any) -> Any:
        task = Task(description="How?", expected_output="Heat.", agent=agents[0], output_pydantic=form)
        return Crew(agents=[*agents], tasks=[task], **options)

    def said(*agents: Any, **options: Any) -> Any:
        return gate(crew(*agents, **options), mode="claims", max_retries=0).kickoff()

    def agents(answer: str) -> str:
        question = {"question": "How?", "context": "North.", "coworker": "Expert"}
        script = [("ask_question_to_coworker", question), repeated(answer)]
        boss = expert(*script, role="Boss", tools=(), allow_delegation=True)
        return str(said(boss, expert(("meter", {}), HONEST)).raw)

    return Bench(
        "CrewAI",
        ADOPTING,
        lambda answer: str(crew(expert(("meter", {}), answer)).kickoff().raw),
        {
            "plain": lambda answer: str(said(expert(("meter", {}), answer)).raw),
            "streamed": lambda answer: str(said(expert(("meter", {}), answer), stream=True).raw),
            "structured": lambda answer: str(
                said(expert(("meter", {}), json.dumps(note(answer))), form=Answer).pydantic.note
            ),
            "agents": agents,
        },
    )

import os
from typing import Any

os.environ["CREWAI_DISABLE_TELEMETRY"] = os.environ["OTEL_SDK_DISABLED"] = "true"

from crewai import Agent, BaseLLM, Crew, Task
from crewai.tools import tool

from gllint_runtime.adapters.crewai import gate


class Script(BaseLLM):
    """A scripted model."""

    script: list[Any]

    def call(self, *arguments: Any, **options: Any) -> Any:
        return self.script.pop(0)

    def supports_function_calling(self) -> bool:
        return True


@tool
def meter(site: str) -> dict:
    """The heat that a site used last year."""
    return {"heat_kwh": 12.5}


call = {"id": "call_1", "type": "function", "function": {"name": "meter", "arguments": '{"site": "north"}'}}
answers = ["It uses 14 kWh.", "It uses 12.5 kWh."]
llm = Script(model="script", script=[[call], *answers])
expert = Agent(role="Expert", goal="Answers.", backstory="Answer in one sentence.", tools=[meter], llm=llm)
task = Task(description="How much heat does {site} use?", expected_output="The heat.", agent=expert)
crew = gate(Crew(agents=[expert], tasks=[task]))
result = crew.kickoff(inputs={"site": "north"})

assert result.raw == "It uses 12.5 kWh."
assert "14 kWh" not in str(result.tasks_output)
print(result.raw)

"""A film festival."""

from crewai import Agent, Task
from crewai.tools import BaseTool, tool


@tool
def screens(city: str) -> dict:  # tool
    """Screens of a city."""
    return {"screens": 23.5}  # GL101 @ 23.5


@tool("Ticket Counter")
def tickets(film: str) -> float:  # tool
    """Tickets that are sold."""
    return 318.25  # GL101 @ 318.25


class Budget(BaseTool):
    name: str = "budget"
    description: str = "Budget of a film."

    def _run(self, film: str) -> dict:  # tool
        return {"film": film, "budget": {"value": 12000.5, "unit": "EUR"}}

    def audit(self, film: str) -> dict:
        return {"gap": 17.375}


def guard(output):
    return (len(output.raw) < 900.5, output)


def on_step(step) -> None:
    print(3.25)


planner = Agent(
    role="planner",
    goal="plan",
    backstory="long",
    tools=[screens, Budget()],
    step_callback=on_step,
    llm="gpt-4o",
)
counting = Task(description="Count tickets.", expected_output="A list.", tools=[tickets], guardrail=guard)

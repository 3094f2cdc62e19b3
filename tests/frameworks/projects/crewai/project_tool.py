"""A crew whose `@tool` of `crewai.project` marks a method that gives a tool."""

from crewai import Agent, Crew, Task
from crewai.project import CrewBase, agent, crew, task, tool
from crewai.tools import BaseTool


class Weights(BaseTool):
    name: str = "weights"
    description: str = "Weight of a parcel."

    def _run(self, parcel: str) -> dict:  # tool
        return {"parcel": parcel, "weight": 4.875}  # GL101 @ 4.875


@CrewBase
class Parcels:
    agents_config = {"clerk": {"role": "clerk", "goal": "weigh", "backstory": "long", "llm": "gpt-4o"}}
    tasks_config = {"weigh": {"description": "Weigh it.", "expected_output": "A weight."}}

    @tool
    def scales(self):
        return Weights()

    @tool
    def price(self):
        """Gives no tool, but this is not what the decorator is for either."""
        self.rate = 2.125
        return Weights()

    @agent
    def clerk(self) -> Agent:
        return Agent(config=self.agents_config["clerk"], tools=[self.scales()])


office = Parcels()
clerk = office.clerk()

"""A crew whose `@tool` of `crewai.project` marks a method that gives a tool."""

from crewai import Agent
from crewai.project import CrewBase, agent, tool
from crewai.tools import BaseTool


class Weights(BaseTool):
    name: str = "weights"
    description: str = "Weight of a parcel."

    def _run(self, parcel: str) -> dict:  # tool
        return {"parcel": parcel, "weight": 4.875}  # GL101 @ 4.875


@CrewBase
class Parcels:
    @tool
    def scales(self):
        return Weights()

    @tool
    def price(self):
        """A method that gives a number is no tool either."""
        return 2.125

    @agent
    def clerk(self) -> Agent:
        return Agent(role="clerk", goal="weigh", backstory="long", llm="gpt-4o", tools=[self.scales()])


office = Parcels()
clerk = office.clerk()

"""A parking house: an agent with a type for its context, and a copy of it."""

from dataclasses import dataclass

from agents import Agent, RunContextWrapper, function_tool


@dataclass
class House:
    level: str


@function_tool
def free(context: RunContextWrapper[House], level: str) -> dict:  # tool
    """Free places of a level."""
    return {"free": 87.5}  # GL101 @ 87.5


@function_tool(strict_mode=False)
def tariff(hours: float) -> dict:  # tool
    """The tariff."""
    return {"tariff": hours * 2.25}  # GL101 @ hours * 2.25


def instructions(context: RunContextWrapper[House], agent: Agent[House]) -> str:
    return "Count to 99.5."


warden = Agent[House](name="warden", instructions=instructions, tools=[free])
cashier = warden.clone(name="cashier", tools=[tariff])

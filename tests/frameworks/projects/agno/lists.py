"""A dairy: a list that a function gives, and one that grows."""

from agno.agent import Agent


def milk(cow: str) -> dict:  # tool
    """Milk of a cow."""
    return {"milk": 27.75}  # GL101 @ 27.75


def cheese(cellar: str) -> dict:  # tool
    """Cheese of a cellar."""
    return {"cheese": 64.25}  # GL101 @ 64.25


def whey(cellar: str) -> dict:
    return {"whey": 120.625}


def kit():
    return [milk]


tools = kit()
tools.extend([cheese])
dairy = Agent(tools=tools)

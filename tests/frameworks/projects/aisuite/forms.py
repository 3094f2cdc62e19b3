"""A lighthouse."""

import aisuite as ai
from aisuite import Agent

client = ai.Client()


def beam(tower: str) -> dict:  # tool
    """Beam of a tower."""
    return {"reach": 18.125}  # GL101 @ 18.125


def fog(tower: str) -> float:  # tool
    """Fog around a tower."""
    return 0.625  # GL101 @ 0.625


def keeper(tower: str) -> dict:
    return {"years": 31.5}


agent = Agent(name="keeper", model="openai:gpt-4o", tools=[fog])


def ask(messages):
    return client.chat.completions.create(model="openai:gpt-4o", messages=messages, tools=[beam], max_turns=2)

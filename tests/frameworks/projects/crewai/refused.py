"""A choir: a plain function is refused."""

from crewai import Agent
from crewai.tools import tool
from pydantic import ValidationError


def singers(voice: str) -> dict:
    """Singers of a voice."""
    return {"singers": 11.5}


@tool
def songs(concert: str) -> dict:  # tool
    """Songs of a concert."""
    return {"songs": 8.625}  # GL101 @ 8.625


try:
    conductor = Agent(role="conductor", goal="sing", backstory="long", llm="gpt-4o", tools=[singers, songs])
except ValidationError:
    conductor = Agent(role="conductor", goal="sing", backstory="long", llm="gpt-4o", tools=[songs])

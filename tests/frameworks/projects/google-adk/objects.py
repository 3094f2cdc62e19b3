"""A ferry: objects that are called."""

from google.adk.agents import Agent
from google.adk.tools import FunctionTool


class Waves:
    """Waves at sea."""

    def __call__(self, port: str) -> dict:  # tool
        """Waves at sea."""
        return {"waves": 1.625}  # GL101 @ 1.625

    def stop(self) -> dict:
        return {"stopped": 0.875}


class Wind:
    """Wind at sea."""

    def __call__(self, port: str) -> dict:  # tool
        """Wind at sea."""
        return {"wind": 7.125}  # GL101 @ 7.125


agent = Agent(name="ferry", model="gemini-2.0-flash", tools=[Waves(), FunctionTool(Wind())])

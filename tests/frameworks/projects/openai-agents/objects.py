"""A ferry: objects that are called."""

from agents import Agent, function_tool


class Waves:
    """Waves at sea."""

    def __call__(self, port: str) -> dict:  # tool
        """Waves at sea."""
        return {"waves": 1.625}  # GL101 @ 1.625

    def stop(self) -> dict:
        return {"stopped": 0.875}


agent = Agent(name="ferry", tools=[function_tool(Waves(), name_override="waves")])

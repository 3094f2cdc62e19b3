"""A bus company: agents that a function builds."""

from pydantic_ai import Agent


def build(line: str) -> Agent:
    agent = Agent("test", tools=[stops], defer_model_check=True)

    @agent.tool_plain
    def seats(bus: str) -> dict:  # tool
        """Seats of a bus."""
        return {"seats": 52.5}  # GL101 @ 52.5

    def mileage(bus: str) -> dict:
        return {"km": 9000.125}

    return agent


def stops(line: str) -> dict:  # tool
    """Stops of a line."""
    return {"stops": 17.25}  # GL101 @ 17.25


agent = build("12")

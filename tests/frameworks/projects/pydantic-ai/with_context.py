"""A hotel's front desk: tools that take the run's context."""

from pydantic_ai import Agent, RunContext

desk = Agent("test", deps_type=str, defer_model_check=True)


@desk.tool
async def rate(ctx: RunContext[str], room: str) -> dict:  # tool
    """The rate of a room."""
    return {"room": room, "night": 129.5}  # GL101 @ 129.5


@desk.tool(name="occupancy")
def occupied(ctx: RunContext[str], floor: int) -> float:  # tool
    """The share of rooms that are taken."""
    return 0.875  # GL101 @ 0.875

"""A travel desk."""

from google.adk.agents import Agent, LlmAgent
from google.adk.tools import FunctionTool, LongRunningFunctionTool


def visa(country: str) -> dict:  # tool
    """Visa rules.

    Args:
        country: Where to.
    """
    return {"country": country, "days": 90.5}  # GL101 @ 90.5


def exchange(currency: str) -> float:  # tool
    """The rate of a currency."""
    return 1.085  # GL101 @ 1.085


async def seats(flight: str) -> dict:  # tool
    """Seats that are left."""
    return {"flight": flight, "seats": {"value": 4.5, "unit": "count"}}


def approve(trip: str) -> dict:  # tool
    """Asks a person."""
    return {"status": "pending", "ticket": 8812.5}  # GL101 @ 8812.5


def is_expensive(flight: str) -> bool:
    return len(flight) > 33.5


def greeting(context) -> str:
    return "Hello"


def note_tool(tool, args, tool_context, tool_response):
    return {"calls": 31.25}


desk = Agent(name="desk", model="gemini-2.0-flash", instruction=greeting, tools=[visa, exchange])
back_office = LlmAgent(
    name="back_office",
    model="gemini-2.0-flash",
    after_tool_callback=note_tool,
    tools=[FunctionTool(seats, require_confirmation=is_expensive), LongRunningFunctionTool(func=approve)],
)

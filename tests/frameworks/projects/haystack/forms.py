"""An orchard."""

from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.tools import Tool, Toolset, create_tool_from_function, tool
from haystack.utils import Secret


@tool
def trees(field: str) -> dict:  # tool
    """Trees of a field."""
    return {"trees": 144.5}  # GL101 @ 144.5


@tool(name="ripe")
def ripeness(field: str) -> float:  # tool
    """Ripeness of a field."""
    return 0.785  # GL101 @ 0.785


def harvest(field: str) -> dict:  # tool
    """Harvest of a field."""
    return {"harvest": {"value": 12.5, "unit": "t"}}


def frost(night: str) -> dict:  # tool
    """Frost of a night."""
    return {"celsius": -2.625}  # GL101 @ -2.625


def picked(field: str) -> dict:  # tool
    """The model sees one part."""
    return {"summary": "all picked", "hours": 31.125}


def keep(old, new):
    return 5.25


frost_tool = Tool(
    name="frost",
    description="Frost of a night.",
    parameters={"type": "object", "properties": {"night": {"type": "string"}}, "required": ["night"]},
    function=frost,
)
picked_tool = create_tool_from_function(
    picked,
    outputs_to_string={"source": "summary"},
    outputs_to_state={"log": {"source": "hours", "handler": keep}},
)
farmer = Agent(
    chat_generator=OpenAIChatGenerator(api_key=Secret.from_token("none")),
    tools=[trees, ripeness, create_tool_from_function(harvest), picked_tool],
    state_schema={"log": {"type": float, "handler": keep}},
)
guard = Agent(
    chat_generator=OpenAIChatGenerator(api_key=Secret.from_token("none")), tools=Toolset([frost_tool])
)

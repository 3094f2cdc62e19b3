"""A city guide: tools in lists, wrapped and plain."""

from pydantic_ai import Agent, Tool
from pydantic_ai.output import ToolOutput


def tide(harbour: str) -> dict:  # tool
    """The tide in a harbour."""
    return {"harbour": harbour, "height": 2.35}  # GL101 @ 2.35


def ferry(harbour: str) -> dict:  # tool
    """The next ferry."""
    return {"harbour": harbour, "berth": "north"}


def wind(harbour: str) -> dict:  # tool
    """The wind."""
    return {"knots": 17.5}  # GL101 @ 17.5


def summary(text: str) -> dict:
    """The end of the run: no tool result goes back to the model."""
    return {"length": 404.25}


async def only_weekdays(ctx, tool_def):
    """Decides whether a tool is offered."""
    return tool_def


def schema_made(place: str) -> dict:  # tool
    return {"crowd": 250.5}  # GL101 @ 250.5


extra = [wind]
guide = Agent(
    "test",
    tools=[
        tide,
        Tool(ferry, prepare=only_weekdays),
        *extra,
        Tool.from_schema(
            schema_made,
            name="crowd",
            description="How many people there are.",
            json_schema={
                "type": "object",
                "properties": {"place": {"type": "string"}},
                "required": ["place"],
            },
        ),
    ],
    output_type=[ToolOutput(summary), str],
    instructions=lambda: "Answer in one sentence.",
    defer_model_check=True,
)

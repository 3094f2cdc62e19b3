"""A radio station."""

from strands import Agent, tool
from strands.hooks import BeforeInvocationEvent
from strands.models.openai import OpenAIModel


@tool
def listeners(show: str) -> dict:  # tool
    """Listeners of a show."""
    return {"listeners": 5120.5}  # GL101 @ 5120.5


@tool(name="length_of")
def length(show: str) -> float:  # tool
    """Length of a show."""
    return 54.375  # GL101 @ 54.375


@tool
def playlist(show: str) -> dict:  # tool
    """The finished result."""
    return {
        "status": "success",
        "content": [{"json": {"songs": 18.25}}],  # GL101 @ 18.25
        "took": 0.875,
    }


class Archive:
    @tool
    def tapes(self, year: str) -> dict:  # tool
        """Tapes of a year."""
        return {"tapes": 730.5}  # GL101 @ 730.5

    @tool
    def boxes(self, year: str) -> dict:  # tool
        """Decorated, and a tool, though nobody hands it over here."""
        return {"boxes": {"value": 31.5, "unit": "count"}}

    def dust(self, year: str) -> float:
        return 2.25


def plain(show: str) -> dict:
    """Dropped: it has no decorator."""
    return {"jingles": 44.125}


def count(event: BeforeInvocationEvent) -> None:
    print(1.5)


archive = Archive()
station = Agent(
    model=OpenAIModel(client_args={"api_key": "none"}, model_id="gpt-4o"),
    tools=[listeners, length, playlist, archive.tapes, archive.boxes, plain],
)
station.hooks.add_callback(BeforeInvocationEvent, count)

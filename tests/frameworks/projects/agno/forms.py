"""A cinema."""

from agno.agent import Agent
from agno.tools import Toolkit, tool
from agno.tools.function import ToolResult


@tool
def seats(film: str) -> dict:  # tool
    """Seats that are left."""
    return {"film": film, "seats": 73.5}  # GL101 @ 73.5


@tool(name="price_of")
def price(film: str) -> dict:  # tool
    """Price of a ticket."""
    return {"price": {"value": 9.25, "unit": "EUR"}}


def length(film: str) -> dict:  # tool
    """Length of a film."""
    return {"minutes": 118.5}  # GL101 @ 118.5


def rating(film: str) -> ToolResult:  # tool
    """Rating of a film."""
    return ToolResult(content="good", metadata={"votes": 51.125})


def later(film: str) -> float:  # tool
    """Added when the agent is there."""
    return 6.375  # GL101 @ 6.375


async def hook(function_name, function_call, arguments):
    print(function_name, 0.875)
    result = function_call(**arguments)
    return await result if hasattr(result, "__await__") else result


def instructions(agent) -> str:
    return "Be brief."


class Kiosk(Toolkit):
    def __init__(self):
        super().__init__(name="kiosk", tools=[self.popcorn], async_tools=[(self.drinks, "drinks")])
        self.register(self.queue, name="queue_length")

    def popcorn(self, size: str) -> dict:  # tool
        """Popcorn that is left."""
        return {"popcorn": 21.5}  # GL101 @ 21.5

    async def drinks(self, size: str) -> dict:  # tool
        """Drinks that are left."""
        return {"drinks": 44.5}  # GL101 @ 44.5

    def queue(self, hall: str) -> dict:  # tool
        """People who wait."""
        return {"people": 17.125}  # GL101 @ 17.125

    def clean(self, hall: str) -> dict:
        """For the staff."""
        return {"minutes": 12.625}


cinema = Agent(tools=[seats, price, length, rating, Kiosk()], tool_hooks=[hook], instructions=instructions)
cinema.add_tool(later)

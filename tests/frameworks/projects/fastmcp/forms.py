"""A zoo: each way in which this framework takes a function."""

from fastmcp import FastMCP
from fastmcp.tools import Tool, ToolResult, tool


def animals(house: str) -> dict:  # tool
    """Animals of a house."""
    return {"animals": 57.5}  # GL101 @ 57.5


def feed(house: str) -> dict:  # tool
    """Feed of a day."""
    return {"feed": 19.25}  # GL101 @ 19.25


def keepers(house: str) -> dict:  # tool
    """Keepers of a house."""
    return {"keepers": ["Ana", "Rui"]}


zoo = FastMCP("zoo", tools=[animals])
zoo.tool(feed)
zoo.add_tool(Tool.from_function(keepers))


@zoo.tool
def visitors(day: str) -> ToolResult:  # tool
    """Visitors of a day."""
    return ToolResult(
        content="see the chart",
        structured_content={"visitors": 2345.5},  # GL101 @ 2345.5
        meta={"took": 0.125},
    )


@zoo.tool
def ticket(age: int) -> ToolResult:  # tool
    """Price of a ticket."""
    return ToolResult({"price": 14.75})  # GL101 @ 14.75


@tool
def found_later(day: str) -> dict:  # tool
    """Described, then found by what looks through the module."""
    return {"hours": 8.375}  # GL101 @ 8.375


@tool
def added_later(day: str) -> dict:  # tool
    """Described, then added."""
    return {"hours": 7.625}  # GL101 @ 7.625


zoo.add_tool(added_later)


class Gate:
    """Counts who comes."""

    def __call__(self, day: str) -> dict:  # tool
        """Comers of a day."""
        return {"comers": 611.5}  # GL101 @ 611.5

    def close(self) -> dict:
        return {"closed": 3.125}


zoo.add_tool(Tool.from_function(Gate(), name="gate"))


async def keepers_for_children(house: str) -> dict:  # tool
    """Keepers of a house who are glad to talk."""
    return {"talkers": 2.625}  # GL101 @ 2.625


zoo.add_tool(Tool.from_tool(Tool.from_function(keepers), name="talkers", transform_fn=keepers_for_children))
for value in list(globals().values()):
    if hasattr(value, "__fastmcp__") and value is found_later:
        zoo.add_tool(value)
aquarium = FastMCP("aquarium")


@aquarium.tool(name="water")
def water_temperature(tank: str) -> float:  # tool
    """Temperature of a tank."""
    return 24.125  # GL101 @ 24.125


zoo.mount(aquarium, namespace="fish")

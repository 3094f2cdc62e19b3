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
def described_only(day: str) -> dict:
    """Described, but never added to a server."""
    return {"hours": 8.375}


@tool
def added_later(day: str) -> dict:  # tool
    """Described, then added."""
    return {"hours": 7.625}  # GL101 @ 7.625


zoo.add_tool(added_later)
aquarium = FastMCP("aquarium")


@aquarium.tool(name="water")
def water_temperature(tank: str) -> float:  # tool
    """Temperature of a tank."""
    return 24.125  # GL101 @ 24.125


zoo.mount(aquarium, namespace="fish")

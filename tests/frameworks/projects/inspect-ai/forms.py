"""A glacier."""

from inspect_ai.agent import react
from inspect_ai.solver import use_tools
from inspect_ai.tool import ContentText, Tool, ToolDef, tool


@tool
def ice() -> Tool:
    async def execute(glacier: str) -> dict:  # tool
        """Ice of a glacier.

        Args:
            glacier: Its name.
        """
        return {"ice": 88.5}  # GL101 @ 88.5

    return execute


@tool(name="melt_water")
def melt(season: str = "summer") -> Tool:
    """Makes the tool."""

    async def run(glacier: str) -> float:  # tool
        """Water of a glacier.

        Args:
            glacier: Its name.
        """
        return 3.875  # GL101 @ 3.875

    return run


async def slope(glacier: str) -> dict:  # tool
    """Slope of a glacier.

    Args:
        glacier: Its name.
    """
    return {"slope": 14.25}  # GL101 @ 14.25


@tool
def names() -> Tool:
    async def list_names(country: str) -> list:  # tool
        """Names of glaciers.

        Args:
            country: A country.
        """
        return [ContentText(text="many")]

    return list_names


def rain() -> dict:
    return {"rain": 2.625}


sloping = ToolDef(slope)
agent = react(tools=[ice(), melt(), sloping])
solver = use_tools(names())
offered = [ice(), melt(), names(), sloping]

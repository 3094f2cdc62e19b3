"""A planetarium: a toolset with a list that grows, and a plain function beside it."""

from google.adk.agents import Agent
from google.adk.tools import FunctionTool
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.base_toolset import BaseToolset


class Dome(BaseToolset):
    def __init__(self, prefix: str = "dome"):
        super().__init__(tool_name_prefix=prefix)
        self._show = FunctionTool(self.shows)

    async def get_tools(self, readonly_context=None) -> list[BaseTool]:
        tools: list[BaseTool] = [self._show]
        for function in (self.stars, self.planets):
            tools.append(FunctionTool(func=function))
        return tools

    async def shows(self, day: str) -> dict:  # tool
        """Shows of a day."""
        return {"shows": 4.5}  # GL101 @ 4.5

    def stars(self, month: str) -> dict:  # tool
        """Stars of a month."""
        return {"stars": 3021.5}  # GL101 @ 3021.5

    def planets(self, month: str) -> dict:  # tool
        """Planets of a month."""
        return {"planets": ["Mars"]}

    def seats(self, row: str) -> dict:
        return {"seats": 18.125}

    async def close(self) -> None:
        pass


def moon(day: str) -> float:  # tool
    """Phase of the moon."""
    return 0.615  # GL101 @ 0.615


astronomer = Agent(name="astronomer", model="gemini-2.0-flash", tools=[Dome(), moon])

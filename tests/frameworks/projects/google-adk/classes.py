"""A museum's guide: a tool class, and a toolset."""

from google.adk.agents import Agent
from google.adk.tools import BaseTool, FunctionTool
from google.adk.tools.base_toolset import BaseToolset


class Visitors(BaseTool):
    def __init__(self):
        super().__init__(name="visitors", description="Visitors today.")

    async def run_async(self, *, args: dict, tool_context) -> dict:  # tool
        return {"visitors": 1893.5}  # GL101 @ 1893.5


class Rooms(BaseToolset):
    async def get_tools(self, readonly_context=None):
        return [FunctionTool(self.temperature)]

    def temperature(self, room: str) -> dict:  # tool
        """Temperature of a room."""
        return {"room": room, "celsius": 20.25}  # GL101 @ 20.25

    def calibrate(self, room: str) -> dict:
        """For the staff."""
        return {"offset": 0.125}

    async def close(self):
        pass


guide = Agent(name="guide", model="gemini-2.0-flash", tools=[Visitors(), Rooms()])

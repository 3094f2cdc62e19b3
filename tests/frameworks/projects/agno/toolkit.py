"""A bicycle shop: a toolkit whose list depends on its switches, and a team."""

from typing import Any

from agno.agent import Agent
from agno.tools import Toolkit


class Workshop(Toolkit):
    def __init__(self, enable_repairs: bool = True, **kwargs: Any) -> None:
        tools: list[Any] = [self.bikes]
        if enable_repairs:
            tools.append(self.repairs)
        super().__init__(name="workshop", tools=tools, **kwargs)

    def bikes(self, model: str) -> dict:  # tool
        """Bicycles of a model."""
        return {"bikes": self._count(model)}  # GL101 @ self._count(model)

    async def repairs(self, day: str) -> dict:  # tool
        """Repairs of a day."""
        return {"repairs": 13.25}  # GL101 @ 13.25

    def _count(self, model: str) -> float:
        return 22.5

    def order(self, part: str) -> dict:
        return {"parts": 71.125}


mechanic = Agent(tools=[Workshop(enable_repairs=True)])

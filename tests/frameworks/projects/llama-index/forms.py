"""A harbour master."""

from llama_index.core.agent.workflow import ReActAgent
from llama_index.core.llms import MockLLM
from llama_index.core.tools import FunctionTool
from llama_index.core.tools.tool_spec.base import BaseToolSpec


def berths(quay: str) -> dict:  # tool
    """Berths of a quay."""
    return {"berths": 14.5}  # GL101 @ 14.5


def draught(ship: str) -> float:  # tool
    """Draught of a ship."""
    return 8.375  # GL101 @ 8.375


async def draught_later(ship: str) -> float:  # tool
    """Draught of a ship."""
    return 8.625  # GL101 @ 8.625


def cargo(ship: str) -> dict:  # tool
    """Cargo of a ship."""
    return {"cargo": {"value": 1200.5, "unit": "t"}}


def shown(ship: str) -> dict:  # tool
    """The model sees what the callback makes of it."""
    return {"length": 229.75}


def as_text(result) -> str:
    return "long" if result["length"] > 99.5 else "short"


def unused(ship: str) -> float:
    return 3.125


class Pilots(BaseToolSpec):
    spec_functions = ["pilots", ("tugs", "atugs")]

    def pilots(self, day: str) -> dict:  # tool
        """Pilots of a day."""
        return {"pilots": 6.25}  # GL101 @ 6.25

    def tugs(self, day: str) -> dict:  # tool
        """Tugs of a day."""
        return {"tugs": 4.25}  # GL101 @ 4.25

    async def atugs(self, day: str) -> dict:  # tool
        """Tugs of a day."""
        return {"tugs": 4.75}  # GL101 @ 4.75

    def salaries(self, day: str) -> dict:
        """For the office."""
        return {"salary": 2100.5}


master = ReActAgent(
    llm=MockLLM(),
    tools=[
        berths,
        FunctionTool.from_defaults(draught, async_fn=draught_later),
        FunctionTool.from_defaults(fn=cargo),
        FunctionTool.from_defaults(fn=shown, callback=as_text),
        *Pilots().to_tool_list(),
    ],
)

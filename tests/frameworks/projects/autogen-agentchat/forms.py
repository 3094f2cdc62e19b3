"""A garden centre."""

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import FunctionalTermination
from autogen_core import CancellationToken
from autogen_core.tools import BaseTool, FunctionTool, StaticWorkbench
from autogen_ext.models.openai import OpenAIChatCompletionClient
from pydantic import BaseModel


def plants(bed: str) -> dict:  # tool
    """Plants of a bed."""
    return {"bed": bed, "plants": 38.5}  # GL101 @ 38.5


async def water(bed: str) -> float:  # tool
    """Water that a bed needs."""
    return 12.75  # GL101 @ 12.75


def compost(heap: str) -> dict:  # tool
    """Compost of a heap."""
    return {"ph": 6.85}  # GL101 @ 6.85


def soil(bed: str) -> dict:  # tool
    """Soil of a bed."""
    return {"soil": "loam"}


class Plant(BaseModel):
    plant: str


class Height(BaseModel):
    height: float


class Measure(BaseTool[Plant, Height]):
    def __init__(self):
        super().__init__(Plant, Height, "measure", "Measures a plant.")

    async def run(self, args: Plant, cancellation_token: CancellationToken) -> Height:  # tool
        return Height(height=141.5)  # GL101 @ 141.5


def done(messages) -> bool:
    return len(messages) > 7.5


def summary(call, result) -> str:
    return "done"


client = OpenAIChatCompletionClient(model="gpt-4o", api_key="none")
gardener = AssistantAgent(
    "gardener",
    client,
    tools=[plants, water, FunctionTool(compost, description="Compost."), Measure()],
    tool_call_summary_formatter=summary,
)
bench = StaticWorkbench([FunctionTool(func=soil, description="Soil.")])
helper = AssistantAgent("helper", client, workbench=bench)
stop = FunctionalTermination(done)

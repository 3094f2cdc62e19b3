"""An apiary."""

from beeai_framework.agents.requirement import RequirementAgent
from beeai_framework.backend import ChatModel
from beeai_framework.emitter import Emitter
from beeai_framework.memory import UnconstrainedMemory
from beeai_framework.tools import JSONToolOutput, StringToolOutput, Tool, ToolRunOptions, tool
from pydantic import BaseModel


@tool
def hives(meadow: str) -> float:  # tool
    """Hives of a meadow."""
    return 21.375  # GL101 @ 21.375


@tool(name="honey_of")
def honey(hive: str) -> dict:  # tool
    """Honey of a hive."""
    return {"honey": {"value": 13.5, "unit": "kg"}}


@tool
def queen(hive: str) -> StringToolOutput:  # tool
    """The queen of a hive."""
    return StringToolOutput("healthy")


class Hive(BaseModel):
    hive: str


class Weight(Tool[Hive, ToolRunOptions, JSONToolOutput]):
    name = "weight"
    description = "Weight of a hive."
    input_schema = Hive

    def _create_emitter(self) -> Emitter:
        return Emitter.root().child(namespace=["tool", "weight"], creator=self)

    async def _run(self, input: Hive, options, context) -> JSONToolOutput:  # tool
        return JSONToolOutput({"hive": input.hive, "weight": 48.25})  # GL101 @ 48.25

    def tare(self) -> float:
        return 6.125


keeper = RequirementAgent(
    llm=ChatModel.from_name("ollama:llama3.1"),
    memory=UnconstrainedMemory(),
    tools=[hives, honey, queen, Weight()],
)

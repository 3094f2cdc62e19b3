"""A print shop: partials and bound methods."""

from functools import partial

from autogen_agentchat.agents import AssistantAgent
from autogen_core.tools import FunctionTool, StaticWorkbench
from autogen_ext.models.openai import OpenAIChatCompletionClient


def pages(job: str, colour: bool) -> dict:  # tool
    """Pages of a job."""
    return {"pages": 212.5}  # GL101 @ 212.5


class Press:
    def ink(self, colour: str) -> dict:  # tool
        """Ink of a colour."""
        return {"ink": 0.385}  # GL101 @ 0.385

    def oil(self, part: str) -> dict:
        return {"oil": 1.875}


press = Press()
bench = StaticWorkbench(
    [
        FunctionTool(partial(pages, colour=True), description="Pages of a job.", name="pages"),
        FunctionTool(press.ink, description="Ink of a colour."),
    ]
)
printer = AssistantAgent(
    "printer", OpenAIChatCompletionClient(model="gpt-4o", api_key="none"), workbench=bench
)

"""A stable."""

from camel.agents import ChatAgent
from camel.models import ModelFactory
from camel.toolkits import BaseToolkit, FunctionTool
from camel.types import ModelPlatformType, ModelType


def horses(box: str) -> dict:
    """Never handed over."""
    return {"horses": 1.125}


def hay(barn: str) -> dict:  # tool
    """Hay of a barn.

    Args:
        barn (str): Which.
    """
    return {"bales": 88.5}  # GL101 @ 88.5


def oats(barn: str) -> float:  # tool
    """Oats of a barn.

    Args:
        barn (str): Which.
    """
    return 61.375  # GL101 @ 61.375


def saddle(horse: str) -> str:  # tool
    """Saddle of a horse.

    Args:
        horse (str): Which.
    """
    return "brown"


class Vet(BaseToolkit):
    def pulse(self, horse: str) -> dict:  # tool
        """Pulse of a horse.

        Args:
            horse (str): Which.
        """
        return {"pulse": 37.5}  # GL101 @ 37.5

    def bill(self, horse: str) -> dict:
        """For the office."""
        return {"bill": 240.25}

    def get_tools(self):
        return [FunctionTool(self.pulse)]


model = ModelFactory.create(
    model_platform=ModelPlatformType.OPENAI, model_type=ModelType.GPT_4O, api_key="none"
)
groom = ChatAgent("You help.", model=model, tools=[hay, FunctionTool(oats), *Vet().get_tools()])
groom.add_tool(saddle)

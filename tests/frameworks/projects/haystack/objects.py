"""A ferry: objects that are called."""

from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.tools import Tool
from haystack.utils import Secret


class Waves:
    """Waves at sea."""

    def __call__(self, port: str) -> dict:  # tool
        """Waves at sea."""
        return {"waves": 1.625}  # GL101 @ 1.625

    def stop(self) -> dict:
        return {"stopped": 0.875}


PORT = {"type": "object", "properties": {"port": {"type": "string"}}, "required": ["port"]}
waves = Tool(name="waves", description="Waves at sea.", parameters=PORT, function=Waves())
agent = Agent(chat_generator=OpenAIChatGenerator(api_key=Secret.from_token("none")), tools=[waves])

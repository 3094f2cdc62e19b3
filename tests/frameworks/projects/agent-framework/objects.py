"""A ferry: objects that are called."""

from agent_framework import Agent, BaseChatClient, FunctionTool


class Client(BaseChatClient):
    def _inner_get_response(self, **options):
        raise NotImplementedError


class Waves:
    """Waves at sea."""

    def __call__(self, port: str) -> dict:  # tool
        """Waves at sea."""
        return {"waves": 1.625}  # GL101 @ 1.625

    def stop(self) -> dict:
        return {"stopped": 0.875}


agent = Agent(Client(), tools=[FunctionTool(name="waves", func=Waves())])

"""A puppet theatre: a plain function is refused."""

from smolagents import InferenceClientModel, ToolCallingAgent, tool


def puppets(play: str) -> dict:
    return {"puppets": 34.5}


@tool
def plays(month: str) -> dict:  # tool
    """Plays of a month.

    Args:
        month: Its name.
    """
    return {"plays": 5.625}  # GL101 @ 5.625


model = InferenceClientModel(token="none")
try:
    director = ToolCallingAgent(tools=[puppets, plays], model=model)
except AssertionError:
    director = ToolCallingAgent(tools=[plays], model=model)

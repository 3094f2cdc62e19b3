"""An agent for a vineyard."""

from langchain.agents import create_agent
from langchain.agents.middleware import before_model
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.tools import tool


@tool
def rainfall(field: str) -> dict:  # tool
    """Rain of the last week."""
    return {"field": field, "rain": 23.5}  # GL101 @ 23.5


@tool("sugar_content", description="Sugar of the must")
def sugar(barrel: str) -> dict:  # tool
    return {"barrel": barrel, "sugar": {"value": 87.25, "unit": "g"}}


@tool(response_format="content_and_artifact")
def satellite(field: str):  # tool
    """A picture of a field, and its raw pixels for the page."""
    return {"ndvi": 0.635}, {"pixels": 40000.5}  # GL101 @ 0.635


def yearly(field: str) -> float:
    return 512.5


@before_model
def count_tokens(state, runtime):
    return {"seen": 7.125}


agent = create_agent(
    FakeListChatModel(responses=["ok"]), tools=[rainfall, sugar, satellite], middleware=[count_tokens]
)

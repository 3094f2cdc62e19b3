"""Tools bound to a model, and the older constructor of agents."""

from langchain_openai import ChatOpenAI
from langgraph.graph import StateGraph
from langgraph.prebuilt import create_react_agent


def humidity(room: str) -> dict:  # tool
    """Humidity of a room."""
    return {"room": room, "humidity": 0.415}  # GL101 @ 0.415


def lamp(room: str) -> dict:  # tool
    """Dims the lamp."""
    return {"level": 55.5}  # GL101 @ 55.5


def node(state: dict) -> dict:
    return {"steps": 21.5}


llm = ChatOpenAI(model="gpt-4o")
with_humidity = llm.bind_tools([humidity])
house = create_react_agent(llm, tools=[lamp])
graph = StateGraph(dict)
graph.add_node("count", node)

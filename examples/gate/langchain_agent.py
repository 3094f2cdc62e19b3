"""LangChain: the scripted model makes up a number, gets the hint, and repairs its answer."""

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool

from gllint_runtime.adapters.langchain import gate


class Script(FakeMessagesListChatModel):
    """A scripted model."""

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self


@tool
def meter(site: str) -> dict[str, Any]:
    """The heat that a site used last year."""
    return {"heat_kwh": 12.5}


model = Script(
    responses=[
        AIMessage("", tool_calls=[{"name": "meter", "args": {"site": "north"}, "id": "call_1"}]),
        AIMessage("It uses 14 kWh."),
        AIMessage("It uses 12.5 kWh."),
    ]
)
agent = gate(create_agent(model, [meter], system_prompt="Answer in one sentence."))
messages = agent.invoke({"messages": [HumanMessage("How much heat?")]})["messages"]

assert messages[-1].text == "It uses 12.5 kWh."
assert not any("14 kWh" in message.text for message in messages if isinstance(message, AIMessage))
print(messages[-1].text)

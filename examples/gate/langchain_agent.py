"""LangChain: the agent states a made-up number, is told so, and repairs it. The model is scripted."""

import json
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool

from gllint_runtime.adapters import INSTRUCTIONS
from gllint_runtime.adapters.langchain import gate


class Script(FakeMessagesListChatModel):
    """Stands in for a model."""

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self


@tool
def meter(site: str) -> dict[str, Any]:
    """The heat that a site used last year."""
    return {"heat": {"value": 12.5, "unit": "kWh"}}


claim = {"source_call_id": "tc_1", "path": "$.heat", "quantity": {"value": 12.5, "unit": "kWh"}}
model = Script(
    responses=[
        AIMessage("", tool_calls=[{"name": "meter", "args": {"site": "north"}, "id": "call_1"}]),
        AIMessage("It uses about 13 kWh."),
        AIMessage(json.dumps({"message": "It uses {{claim:0}}.", "claims": [claim]})),
    ]
)
agent = gate(create_agent(model, [meter], system_prompt=INSTRUCTIONS))
messages = agent.invoke({"messages": [HumanMessage("How much heat?")]})["messages"]

assert messages[-1].text == "It uses 12.50 kWh."
assert not any("13" in message.text for message in messages if isinstance(message, AIMessage))
print(messages[-1].text)

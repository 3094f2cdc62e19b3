"""LangChain and LangGraph. Needs the package langchain."""

from typing import Any

from adoption import HONEST, Bench, meter, note, repeated

from gllint_runtime import ClaimedText
from gllint_runtime.adapters.langchain import gate

ADOPTING = """
from gllint_runtime.adapters.langchain import gate
agent = gate(create_agent(model, tools))
"""


def bench() -> Bench:
    from langchain.agents import create_agent
    from langchain.agents.structured_output import ToolStrategy
    from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.tools import StructuredTool
    from pydantic import BaseModel

    class Answer(BaseModel):
        note: ClaimedText

    class Script(FakeMessagesListChatModel):
        def bind_tools(self, tools: Any, **options: Any) -> Any:
            return self

    def calling(name: str, **args: Any) -> AIMessage:
        return AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"call of {name}"}])

    def agent(*script: Any, tool: Any = meter, gated: bool = True, **options: Any) -> Any:
        made = create_agent(Script(responses=[*script]), [StructuredTool.from_function(tool)], **options)
        return gate(made, mode="claims", max_retries=0) if gated else made

    def text(agent: Any) -> str:
        return str(agent.invoke({"messages": ["How much?"]})["messages"][-1].text)

    def streamed(answer: str) -> str:
        running = agent(calling("meter"), AIMessage(answer)).stream(
            {"messages": ["How?"]}, stream_mode="messages"
        )
        return "".join(part.text for part, _ in running if isinstance(part, AIMessage))

    def structured(answer: str) -> str:
        made = agent(
            calling("meter"), calling("Answer", **note(answer)), response_format=ToolStrategy(Answer)
        )
        return str(made.invoke({"messages": ["How?"]})["structured_response"].note)

    def agents(answer: str) -> str:
        def expert() -> str:
            """Asks the expert."""
            return text(agent(calling("meter"), AIMessage(HONEST)))

        return text(agent(calling("expert"), AIMessage(repeated(answer)), tool=expert))

    return Bench(
        "LangChain, LangGraph",
        ADOPTING,
        lambda answer: text(agent(calling("meter"), AIMessage(answer), gated=False)),
        {
            "plain": lambda answer: text(agent(calling("meter"), AIMessage(answer))),
            "streamed": streamed,
            "structured": structured,
            "agents": agents,
        },
    )

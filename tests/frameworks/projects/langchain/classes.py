"""A warehouse: tool classes and the bare ToolNode."""

from typing import Annotated

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, InjectedToolCallId, tool
from langgraph.prebuilt import ToolNode
from langgraph.types import Command


class Stock(BaseTool):
    name: str = "stock"
    description: str = "How much is in stock."

    def _run(self, article: str) -> dict:  # tool
        return {"article": article, "pieces": self.count(article)}  # GL101 @ self.count(article)

    def count(self, article: str) -> float:
        return 64.5

    def reorder(self, article: str) -> dict:
        return {"pieces": 333.5}


@tool
def move(article: str, call: Annotated[str, InjectedToolCallId]) -> Command:  # tool
    """Moves an article to the ramp."""
    return Command(update={"moves": 15.125, "messages": [ToolMessage(f"{article} moved", tool_call_id=call)]})


node = ToolNode([Stock(), move])

"""Bookkeeping tools that are built by call."""

from langchain_core.tools import StructuredTool, Tool
from langgraph.prebuilt import ToolNode


def balance(account: str) -> dict:  # tool
    """Balance of an account."""
    return {"account": account, "balance": 1042.75}  # GL101 @ 1042.75


async def balance_later(account: str) -> dict:  # tool
    """Balance of an account."""
    return {"account": account, "balance": 1043.75}  # GL101 @ 1043.75


def invoices(customer: str) -> dict:  # tool
    """Open invoices."""
    return {"open": 18.5}  # GL101 @ 18.5


def vat(country: str) -> float:  # tool
    """The rate."""
    return 0.235  # GL101 @ 0.235


def explain(error) -> str:
    return f"sorry: {error}"


tools = [
    StructuredTool.from_function(
        func=balance, coroutine=balance_later, name="balance", handle_tool_error=explain
    ),
    Tool(name="invoices", func=invoices, description="Open invoices of a customer."),
    Tool.from_function(vat, name="vat", description="The rate of a country."),
]
node = ToolNode(tools)

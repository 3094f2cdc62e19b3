"""A pharmacy: the tool objects."""

from autogen import ConversableAgent
from autogen.tools import Tool, tool

config = {"config_list": [{"model": "gpt-4o", "api_key": "none"}]}
clerk = ConversableAgent("clerk", llm_config=config)


@tool(name="packs", description="Packs that are left.")
def packs(drug: str) -> dict:  # tool
    return {"packs": 16.5}  # GL101 @ 16.5


def dose(drug: str) -> dict:  # tool
    return {"dose": {"value": 2.5, "unit": "g"}}


def refund(receipt: str) -> float:  # tool
    return 7.85  # GL101 @ 7.85


packs.register_tool(clerk)
Tool(name="dose", description="Dose of a drug.", func_or_tool=dose).register_tool(clerk)
refund_tool = Tool(name="refund", description="Refund of a receipt.", func_or_tool=refund)
refund_tool.register_tool(clerk)

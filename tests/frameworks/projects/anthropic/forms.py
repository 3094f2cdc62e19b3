"""A library of maps."""

import json

from anthropic import Anthropic, AsyncAnthropic, beta_async_tool, beta_tool
from anthropic.lib.tools import BetaFunctionTool

client = Anthropic(api_key="none")


@beta_tool
def sheets(region: str) -> dict:  # tool
    """Sheets of a region."""
    return {"sheets": 54.5}  # GL101 @ 54.5


@beta_tool(name="scale_of")
def scale(sheet: str) -> str:  # tool
    """Scale of a sheet."""
    return json.dumps({"scale": 25.75})  # GL101 @ 25.75


def height(peak: str) -> dict:  # tool
    """Height of a peak."""
    return {"height": {"value": 2351.5, "unit": "m2"}}


def paths(valley: str) -> dict:  # tool
    """Paths of a valley."""
    return {"paths": 29.5}  # GL101 @ 29.5


def plain(valley: str) -> dict:
    """Given as it is: it never runs."""
    return {"huts": 13.5}


height_tool = beta_tool(height)
paths_tool = BetaFunctionTool(paths, name="paths")
messages = [{"role": "user", "content": "Which sheets?"}]
runner = client.beta.messages.tool_runner(
    max_tokens=100,
    model="claude-sonnet-4-5",
    messages=messages,
    tools=[sheets, scale, height_tool, paths_tool, plain],
)


@beta_async_tool
async def weather(region: str) -> dict:  # tool
    """Weather of a region."""
    return {"celsius": 11.375}  # GL101 @ 11.375


later = AsyncAnthropic(api_key="none").beta.messages.tool_runner(
    max_tokens=100, model="claude-sonnet-4-5", messages=messages, tools=[weather]
)

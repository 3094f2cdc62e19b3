"""A bank's helpers."""

from agents import Agent, FunctionTool, function_tool, input_guardrail


@function_tool
def rate(currency: str) -> float:  # tool
    """The rate of a currency."""
    return 1.125  # GL101 @ 1.125


@function_tool(name_override="fees_of")
async def fees(account: str) -> dict:  # tool
    """Fees of an account."""
    return {"account": account, "fees": 4.75}  # GL101 @ 4.75


def branches(city: str) -> dict:  # tool
    """Branches of a city."""
    return {"branches": 12.5}  # GL101 @ 12.5


async def invoke_limit(context, arguments: str):  # tool
    return {"limit": 2500.5}  # GL101 @ 2500.5


def plain(city: str) -> dict:
    """Given as it is: the model call refuses it."""
    return {"atm": 33.5}


def instructions(context, agent) -> str:
    return "Be correct."


@input_guardrail
async def polite(context, agent, text):
    return {"score": 0.375}


branch_tool = function_tool(branches, name_override="branches_of")
limit_tool = FunctionTool(
    name="limit",
    description="The limit of a card.",
    params_json_schema={"type": "object", "properties": {}, "additionalProperties": False},
    on_invoke_tool=invoke_limit,
)
bank = Agent(
    name="bank",
    instructions=instructions,
    tools=[rate, fees, branch_tool, limit_tool, plain],
    input_guardrails=[polite],
)

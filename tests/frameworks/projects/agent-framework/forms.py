"""A brewery."""

from agent_framework import Agent, BaseChatClient, FunctionTool, function_middleware, tool


class Client(BaseChatClient):
    def _inner_get_response(self, **options):
        raise NotImplementedError


@tool
def tanks(hall: str) -> dict:  # tool
    """Tanks of a hall."""
    return {"tanks": 9.5}  # GL101 @ 9.5


@tool(name="gravity_of")
def gravity(tank: str) -> float:  # tool
    """Gravity of a tank."""
    return 1.048  # GL101 @ 1.048


def malt(hall: str) -> dict:  # tool
    """Malt of a hall."""
    return {"malt": {"value": 40.5, "unit": "kg"}}


def hops(hall: str) -> dict:  # tool
    """Hops of a hall."""
    return {"hops": 3.375}  # GL101 @ 3.375


def bottles(hall: str) -> dict:  # tool
    """Bottles of a hall."""
    return {"bottles": 2500.5}  # GL101 @ 2500.5


def shown(hall: str) -> dict:  # tool
    """The parser makes a text of it."""
    return {"litres": 611.75}


def as_text(result) -> str:
    return "enough"


@function_middleware
async def watch(context, call_next):
    await call_next(context)


brewer = Agent(
    Client(),
    tools=[
        tanks,
        gravity,
        malt,
        FunctionTool(name="hops", description="Hops.", func=hops),
        FunctionTool(name="shown", description="Litres.", func=shown, result_parser=as_text),
    ],
)
cellar = Agent(Client(), tools=bottles)

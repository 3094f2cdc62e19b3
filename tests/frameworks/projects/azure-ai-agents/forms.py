"""A lift."""

from azure.ai.agents.models import AsyncFunctionTool, FunctionTool, ToolSet


def floor(lift: str) -> dict:  # tool
    """Where a lift is.

    :param lift: Its name.
    """
    return {"floor": 4.25}  # GL101 @ 4.25


def load(lift: str) -> float:  # tool
    """What a lift carries.

    :param lift: Its name.
    """
    return 312.5  # GL101 @ 312.5


def doors(lift: str) -> dict:  # tool
    """How wide its doors are.

    :param lift: Its name.
    """
    return {"width": 1.125}  # GL101 @ 1.125


async def wait(lift: str) -> dict:  # tool
    """How long one waits.

    :param lift: Its name.
    """
    return {"wait": 41.5}  # GL101 @ 41.5


def service(lift: str) -> dict:
    return {"age": 7.75}


functions = FunctionTool(functions={floor, load})
functions.add_functions({doors})
toolset = ToolSet()
toolset.add(functions)
waiting = AsyncFunctionTool({wait})

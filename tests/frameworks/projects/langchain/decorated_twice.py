"""A night shift: tools under the project's own decorators."""

import functools

from langchain_core.tools import tool
from langgraph.prebuilt import ToolNode


def timed(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


@tool
@timed
def patients(ward: str) -> dict:  # tool
    """Patients of a ward."""
    return {"patients": 15.5}  # GL101 @ 15.5


def helper(ward: str) -> dict:
    return {"pulse": bed_pulse(ward)}


def bed_pulse(ward: str) -> float:
    return 71.25


node = ToolNode([patients])

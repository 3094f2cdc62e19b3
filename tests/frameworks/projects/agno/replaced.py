"""Tools that are set later."""

from agno.agent import Agent


def old(film: str) -> dict:
    """Replaced by the next."""
    return {"seats": 1.125}


def reserve(film: str) -> dict:  # tool
    """Reserves a seat."""
    return {"row": 11.5}  # GL101 @ 11.5


box_office = Agent()
box_office.set_tools([reserve])

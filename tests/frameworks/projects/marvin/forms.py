"""An orchard."""

import marvin


def apples(tree: str) -> dict:  # tool
    """Apples of a tree."""
    return {"apples": 61.5}  # GL101 @ 61.5


def pears(tree: str) -> float:  # tool
    """Pears of a tree."""
    return 23.75  # GL101 @ 23.75


def wasps(tree: str) -> dict:
    return {"wasps": 4.125}


agent = marvin.Agent(name="gardener", tools=[apples])
task = marvin.Task("Count the pears", tools=[pears])

"""A mill."""

from mistralai.client import Mistral
from mistralai.extra.run.context import RunContext

client = Mistral(api_key="none")
context = RunContext(model="mistral-medium-latest")


@context.register_func
def grind(grain: str) -> dict:  # tool
    """Grind grain."""
    return {"flour": 81.25}  # GL101 @ 81.25


def sieve(grain: str) -> float:  # tool
    """Sieve flour."""
    return 0.375  # GL101 @ 0.375


def weigh(grain: str) -> dict:
    return {"weight": 12.75}


context.register_func(sieve)

"""Delivery slots of a grocer."""

from dataclasses import dataclass

from pydantic_ai import Agent, ToolReturn


@dataclass
class Shop:
    city: str = "Porto"


agent = Agent("test", deps_type=Shop, defer_model_check=True)


@agent.tool_plain
def slots(day: str) -> dict:  # tool
    """Free delivery slots of a day."""
    return {"day": day, "free": 417}  # GL101 @ 417


@agent.tool_plain(retries=2)
def fee(basket: str) -> dict:  # tool
    """What a delivery costs."""
    return {"basket": basket, "fee": {"value": 3.25, "unit": "EUR"}}


@agent.tool_plain
async def van(plate: str) -> ToolReturn:  # tool
    """Where a van is."""
    load = 81.5
    return ToolReturn(
        return_value={"plate": plate, "load": load},  # GL101 @ load}
        content="The van is on its way.",
        metadata={"queue_ms": 99.75},
    )


@agent.instructions
def house_rules() -> str:
    return "Be brief."


@agent.system_prompt
def greeting() -> str:
    return "You help shoppers."


@agent.output_validator
def check(answer: str) -> str:
    return answer


def distance(street: str) -> float:
    """Called by nobody but this file."""
    return 12.75

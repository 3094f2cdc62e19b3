"""An oven."""

import lmstudio as lms


def heat(oven: str) -> dict:  # tool
    """Heat of an oven."""
    return {"heat": 232.5}  # GL101 @ 232.5


def draught(oven: str) -> float:  # tool
    """Draught of an oven."""
    return 0.875  # GL101 @ 0.875


def door(oven: str) -> dict:  # tool
    return {"gap": 1.375}  # GL101 @ 1.375


def ash(oven: str) -> dict:  # tool
    """Ash of an oven."""
    return {"ash": 5.625}  # GL101 @ 5.625


def fuel(oven: str) -> dict:
    return {"fuel": 17.25}


def watch(message) -> dict:
    return {"watched": 3.5}


described = lms.ToolFunctionDef(
    name="door", description="Gap of its door.", parameters={"oven": str}, implementation=door
)
tools = [heat, lms.ToolFunctionDef.from_callable(draught), described]


def ask(model: lms.LLM, chat: lms.Chat):
    model.act(chat, [ash], on_message=watch)
    return model.act(chat, tools=tools, on_message=watch)

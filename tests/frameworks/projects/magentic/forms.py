"""A bakery."""

from magentic import Chat, FunctionCall, OpenaiChatModel, UserMessage, prompt, prompt_chain

model = OpenaiChatModel("gpt-4o", api_key="none")


def oven(bread: str) -> dict:  # tool
    """Heat of the oven."""
    return {"heat": 241.5}  # GL101 @ 241.5


def dough(bread: str) -> float:  # tool
    """Weight of the dough."""
    return 0.875  # GL101 @ 0.875


def crumbs(bread: str) -> dict:
    """Crumbs of a bread: the caller calls it, or does not."""
    return {"crumbs": 71.5}


def price(bread: str) -> dict:
    return {"price": 4.75}


@prompt_chain("How do I bake {bread}?", functions=[oven], model=model)
def bake(bread: str) -> str: ...


@prompt("Which crumbs has {bread}?", functions=[crumbs], model=model)
def crumble(bread: str) -> FunctionCall: ...


chat = Chat(messages=[UserMessage("Bake.")], functions=[dough], model=model)

"""A price watcher in a browser."""

from browser_use import ActionResult, Controller, Tools

tools = Tools()
controller = Controller()


@tools.action("Price of an article.")
def price(article: str) -> ActionResult:  # tool
    found = 23.75
    return ActionResult(extracted_content=f"{article}: see the page", metadata={"price": found})


@tools.action("Stars of an article.")
async def stars(article: str) -> str:  # tool
    return "many"


@controller.action("Reviews of an article.")
def reviews(article: str) -> dict:  # tool
    """Any other type is refused: nothing of it reaches the model."""
    return {"reviews": 312.5}


@controller.registry.action("Shipping of an article.")
def shipping(article: str) -> ActionResult:  # tool
    return ActionResult(extracted_content="free", long_term_memory="free shipping")


def discount(article: str) -> float:
    return 0.125

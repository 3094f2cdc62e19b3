"""A vineyard."""

from chatlas import ChatOpenAI, ContentToolResult, Tool

chat = ChatOpenAI(model="gpt-4o", api_key="none")


def sugar(plot: str) -> dict:  # tool
    """Sugar of the grapes."""
    return {"sugar": 18.75}  # GL101 @ 18.75


def acid(plot: str) -> float:  # tool
    """Acid of the grapes."""
    return 6.125  # GL101 @ 6.125


def yields(plot: str) -> ContentToolResult:  # tool
    """Yield of a plot."""
    return ContentToolResult(value={"yield": 44.5}, extra={"cached": 3.5})  # GL101 @ 44.5


def slope(plot: str) -> dict:  # tool
    """Slope of a plot."""
    return {"slope": 12.625}  # GL101 @ 12.625


def price(plot: str) -> dict:
    return {"price": 9.875}


chat.register_tool(sugar)
chat.register_tool(acid, name="acidity")
chat.register_tool(Tool.from_func(yields))
chat.set_tools([*chat.get_tools(), slope])

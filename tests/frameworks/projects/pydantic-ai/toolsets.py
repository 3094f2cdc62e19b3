"""A library's catalogue, as toolsets."""

from pydantic_ai import Agent, FunctionToolset, Tool

loans = FunctionToolset()


@loans.tool_plain
def overdue(card: str) -> dict:  # tool
    """Books that are overdue."""
    return {"card": card, "books": 14.5}  # GL101 @ 14.5


def shelf(title: str) -> dict:  # tool
    """Where a book stands."""
    return {"shelf": 771}  # GL101 @ 771


def branch(name: str) -> dict:  # tool
    """Opening hours."""
    return {"open": "09:00"}


def fine(days: int) -> float:  # tool
    """The fine."""
    return days * 0.55  # GL101 @ days * 0.55


loans.add_function(shelf, name="where_is")
loans.add_tool(Tool(branch))
fines = FunctionToolset([fine])
desk = Agent("test", toolsets=[loans, fines.prefixed("money")], defer_model_check=True)

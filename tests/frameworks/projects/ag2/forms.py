"""A gym."""

from ag2 import Agent, Toolkit, ToolResult, tool


@tool
def lockers(floor: str) -> dict:  # tool
    """Lockers that are free."""
    return {"lockers": 61.5}  # GL101 @ 61.5


def members(club: str) -> dict:  # tool
    """Members of a club."""
    return {"members": 480.5}  # GL101 @ 480.5


def trainer(day: str) -> ToolResult:  # tool
    """The trainer of a day."""
    return ToolResult({"hours": 6.25}, metadata={"cost": 88.125})  # GL101 @ 6.25


def pool(day: str) -> float:  # tool
    """Temperature of the pool."""
    return 27.625  # GL101 @ 27.625


gym = Agent("gym", tools=[lockers, members])
gym.add_tool(trainer)
sauna = Toolkit(pool, name="sauna")


@sauna.tool
def heat(room: str) -> dict:  # tool
    """Heat of a room."""
    return {"celsius": 91.5}  # GL101 @ 91.5


gym.add_tool(sauna)


@gym.tool
def courses(day: str) -> dict:  # tool
    """Courses of a day."""
    return {"courses": ["yoga"]}


@gym.prompt
def rules(context) -> str:
    return "Be friendly."


def unused(day: str) -> float:
    return 2.875

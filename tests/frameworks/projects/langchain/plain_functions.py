"""Calendar helpers: functions as they are."""

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langgraph.prebuilt import ToolNode

MEETINGS = {"mon": 4, "tue": 6}


def meetings(day: str) -> dict:  # tool
    """Meetings of a day."""
    return {"day": day, "hours": 5.75}  # GL101 @ 5.75


async def free_rooms(day: str) -> dict:  # tool
    """Rooms that are free."""
    return {"rooms": ["Ada", "Grace"], "seats": 36.5}  # GL101 @ 36.5


def invite(person: str) -> str:  # tool
    """Invites somebody."""
    return f"{person} is invited"


def unused(day: str) -> dict:
    return {"hours": 9.25}


model = FakeListChatModel(responses=["ok"])
planner = create_agent(model, [meetings, free_rooms])
node = ToolNode([invite])

"""A ski school: lists that are built before they are handed over."""

from google.adk.agents import LlmAgent


def lessons(day: str) -> dict:  # tool
    """Lessons of a day."""
    return {"lessons": 26.5}  # GL101 @ 26.5


def teachers(day: str) -> dict:  # tool
    """Teachers of a day."""
    return {"teachers": 7.375}  # GL101 @ 7.375


def skis(size: str) -> dict:  # tool
    """Skis of a size."""
    return {"skis": 54.25}  # GL101 @ 54.25


def boots(size: str) -> dict:  # tool
    """Boots of a size."""
    return {"boots": 33.625}  # GL101 @ 33.625


def helmets(size: str) -> dict:
    """Kept in a list that nobody hands over."""
    return {"helmets": 19.125}


rental = [skis]
rental.append(boots)
seniors = [teachers]
school = [lessons] + seniors  # noqa: RUF005
drawer = [helmets]
desk = LlmAgent(name="desk", model="gemini-2.0-flash", tools=[*school, *rental])

"""A railway."""

from google import genai
from google.genai import types

client = genai.Client(api_key="none")


def trains(station: str) -> dict:  # tool
    """Trains of a station."""
    return {"trains": 93.5}  # GL101 @ 93.5


def delay(train: str) -> float:  # tool
    """Delay of a train."""
    return 4.375  # GL101 @ 4.375


def platform(train: str) -> dict:  # tool
    """Platform of a train."""
    return {"platform": "7b"}


def coaches(train: str) -> dict:  # tool
    """Coaches of a train."""
    return {"coaches": 11.25}  # GL101 @ 11.25


def crew(train: str) -> dict:
    return {"crew": 5.125}


config = types.GenerateContentConfig(tools=[trains, delay], system_instruction="Be brief.")
chat = client.chats.create(model="gemini-2.0-flash", config={"tools": [platform]})
declared = types.FunctionDeclaration.from_callable(client=client, callable=coaches)

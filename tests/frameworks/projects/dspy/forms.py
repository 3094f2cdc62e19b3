"""A chess club."""

import dspy


def rating(player: str) -> dict:  # tool
    """Rating of a player."""
    return {"rating": 1875.5}  # GL101 @ 1875.5


def games(player: str) -> float:  # tool
    """Games of a player."""
    return 212.25  # GL101 @ 212.25


async def boards(room: str) -> dict:  # tool
    """Boards of a room."""
    return {"boards": 12.125}  # GL101 @ 12.125


def opening(name: str) -> str:  # tool
    """Moves of an opening."""
    return "e4 e5"


def reward(args, prediction) -> float:
    return 0.625


helpers = [opening]
coach = dspy.ReAct(
    "question -> answer",
    tools=[rating, dspy.Tool(games), dspy.Tool(func=boards, name="boards", desc="Boards.")],
)
teacher = dspy.ReAct("question -> answer", helpers)
best = dspy.BestOfN(module=coach, N=3, reward_fn=reward, threshold=0.5)

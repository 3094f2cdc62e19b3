"""A ferry: objects that are called."""

import dspy


class Waves:
    """Waves at sea."""

    def __call__(self, port: str) -> dict:  # tool
        """Waves at sea."""
        return {"waves": 1.625}  # GL101 @ 1.625

    def stop(self) -> dict:
        return {"stopped": 0.875}


react = dspy.ReAct("question -> answer", tools=[dspy.Tool(Waves())])

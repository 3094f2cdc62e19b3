"""A telescope."""

from smolagents import CodeAgent, InferenceClientModel, Tool, ToolCallingAgent, tool


@tool
def magnitude(star: str) -> float:  # tool
    """Magnitude of a star.

    Args:
        star: Its name.
    """
    return 1.375  # GL101 @ 1.375


@tool
def catalogue(star: str) -> dict:  # tool
    """Entry of a star.

    Args:
        star: Its name.
    """
    return {"name": star, "parallax": 0.742}  # GL101 @ 0.742


class Exposure(Tool):
    name = "exposure"
    description = "Time of an exposure."
    inputs = {"star": {"type": "string", "description": "Its name."}}
    output_type = "number"

    def forward(self, star: str) -> float:  # tool
        return self.seconds(star)  # GL101 @ self.seconds(star)

    def seconds(self, star: str) -> float:
        return 32.5

    def warm_up(self) -> float:
        return 11.125


def note_step(step, agent=None):
    return {"steps": 3.375}


def is_short(answer, memory, agent=None) -> bool:
    return len(str(answer)) < 200.5


model = InferenceClientModel(token="none")
observer = ToolCallingAgent(tools=[magnitude, Exposure()], model=model, step_callbacks=[note_step])
coder = CodeAgent(tools=[catalogue], model=model, final_answer_checks=[is_short])

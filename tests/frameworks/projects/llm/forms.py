"""A harbour."""

import llm


def tide(port: str) -> dict:  # tool
    """Tide in a port."""
    return {"tide": 3.375}  # GL101 @ 3.375


def swell(port: str) -> float:  # tool
    """Swell in a port."""
    return 1.625  # GL101 @ 1.625


def berths(port: str) -> llm.ToolOutput:  # tool
    """Berths of a port."""
    return llm.ToolOutput(output={"berths": 14.75})  # GL101 @ 14.75


def fees(port: str) -> dict:
    return {"fees": 9.5}


class Crane(llm.Toolbox):
    """What a crane can do."""

    def lift(self, load: str) -> dict:  # tool
        """Lift a load."""
        return {"lifted": 2.125}  # GL101 @ 2.125

    def _reach(self) -> dict:
        return {"reach": 40.25}


model = llm.get_model("gpt-4o-mini")
chain = model.chain("Which tide?", tools=[tide, llm.Tool.function(swell)])
conversation = model.conversation(tools=[berths, Crane()])

"""A clinic's calendar."""

from typing import Annotated

from autogen import ConversableAgent, register_function

config = {"config_list": [{"model": "gpt-4o", "api_key": "none"}]}


def nurses(day: str) -> dict:  # tool
    """Nurses of a day."""
    return {"nurses": 8.5}  # GL101 @ 8.5


def beds(ward: str) -> dict:  # tool
    """Beds of a ward."""
    return {"beds": 27.5}  # GL101 @ 27.5


def is_over(message) -> bool:
    return len(message) > 99.5


caller = ConversableAgent("caller", llm_config=config, functions=[nurses], is_termination_msg=is_over)
executor = ConversableAgent("executor", llm_config=False)


@executor.register_for_execution()
@caller.register_for_llm(description="Waiting time.")
def waiting(ward: Annotated[str, "which"]) -> dict:  # tool
    return {"minutes": 42.5}  # GL101 @ 42.5


@caller.register_for_llm(description="Doctors of a day.")
@executor.register_for_execution()
def doctors(day: Annotated[str, "which"]) -> dict:  # tool
    return {"doctors": 5.25}  # GL101 @ 5.25


@executor.register_for_execution()
def only_executed(day: str) -> dict:
    return {"rooms": 3.125}


register_function(beds, caller=caller, executor=executor, name="beds", description="Beds of a ward.")


def reply(agent, messages=None, sender=None, config=None):
    return False, {"count": 64.25}


caller.register_reply([ConversableAgent, None], reply)

"""The gate in a framework that has no adapter yet: a small framework, and an adapter for it that is made of the kit."""

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any, Literal

from gllint_runtime.adapters import kit

# ------------------------------------------------------ a framework that somebody else wrote


class Agent:
    """Asks a model, which answers token by token or calls a tool; its messages are the conversation."""

    def __init__(self, model: Callable[[list[Any]], Iterator[Any]], *tools: Callable[..., Any]) -> None:
        self.model, self.tools = model, {tool.__name__: tool for tool in tools}

    def ask(self, messages: list[Any]) -> Iterator[Any]:
        yield from self.model(messages)

    def call(self, messages: list[Any], name: str, arguments: dict[str, Any], call_id: str) -> str:
        tool = self.tools[name]
        return str(tool(**arguments))

    def run(self, messages: list[Any]) -> Iterator[str]:
        """Yield the answer token by token, and add to the messages."""
        said = ""
        for part in self.ask(messages):
            if isinstance(part, dict):  # the model calls a tool
                result = self.call(messages, part["tool"], part["arguments"], part["id"])
                messages += [
                    {"role": "assistant", "call": part},
                    {"role": "tool", "call": part, "content": result},
                ]
                yield from self.run(messages)
                return
            said += part
            yield part
        messages.append({"role": "assistant", "content": said})


# ------------------------------------------------------------------- the adapter, from the kit


def gate(
    target: Agent,
    *,
    session: kit.SessionOption = None,
    mode: Literal["claims", "sourced"] | None = None,
    max_retries: int = 2,
    on_refusal: kit.OnRefusal = None,
) -> Agent:
    """Return a copy of the agent that records its tools and checks its answers."""
    if not isinstance(target, Agent):
        raise TypeError(f"gate takes an Agent, not {type(target).__name__}")
    twin = GatedAgent(target.model, *target.tools.values())
    twin.gate = kit.Gate(session, mode, max_retries, on_refusal)
    return twin


def history(messages: list[Any]) -> Iterator[kit.Event]:
    """Read the messages, from which the session of the conversation is made."""
    for message in messages:
        if message["role"] == "user":
            yield kit.UserText(message["content"])
        elif message["role"] == "tool":
            call = message["call"]
            yield kit.ToolUse(call["id"], call["tool"], call["arguments"])
            yield kit.ToolReply(call["id"], call["tool"], message["content"])
        else:
            yield kit.Answer()


class GatedAgent(Agent):
    """An agent with the gate in it."""

    gate: kit.Gate

    def call(self, messages: list[Any], name: str, arguments: dict[str, Any], call_id: str) -> str:
        """Call a tool with its arguments in the units of its parameters, and record what it returned."""
        session = self.gate.conversation(self, history(messages))
        return kit.tool_result(session, name, self.tools[name], arguments, tool_call_id=call_id)

    def ask(self, messages: list[Any]) -> Iterator[Any]:
        """Ask the model until its answer passes; yield only checked text."""
        turn = kit.Turn(self.gate, self.gate.conversation(self, history(messages)))
        while True:
            said = ""
            for part in super().ask(messages):
                if isinstance(part, dict):
                    yield part
                    return
                said += part
                yield turn.feed(part)
            text = turn.text(said)
            if text is not None:
                yield turn.rest(text)
                return
            hint = {"role": "user", "content": turn.hint}
            messages = [*messages, {"role": "assistant", "content": said}, hint]


# ------------------------------------------------------------------------------- does it work?


def says(*script: Any) -> Callable[[list[Any]], Iterator[Any]]:
    """A model that follows a script, and streams texts letter by letter."""
    steps = iter(script)

    def model(messages: list[Any]) -> Iterator[Any]:
        step = next(steps)
        yield from [step] if isinstance(step, dict) else step

    return model


def meter(site: str) -> dict[str, Any]:
    """The heat that a site used last year."""
    return {"heat_kwh": 12.5}


call = {"tool": "meter", "arguments": {"site": "north"}, "id": "call_1"}
honest = "It is warm. It uses 12.5 kWh."
agent = gate(
    Agent(says(call, "It is warm. It uses 14 kWh.", honest, honest, *["It uses 14 kWh."] * 3), meter)
)

ada: list[Any] = [{"role": "user", "content": "How much heat?"}]
bob = copy.deepcopy(ada)
answer = "".join(agent.run(ada))
assert answer == honest  # rejected, repaired, and no sentence twice
assert "14 kWh" not in str(ada)  # no rejected answer stays
ada.append({"role": "user", "content": "Again?"})
assert "".join(agent.run(json.loads(json.dumps(ada)))) == honest  # restarted
assert "".join(agent.run(bob)) == kit.REFUSAL  # another conversation has no numbers
print(answer)

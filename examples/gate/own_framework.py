"""The gate in a framework that has no adapter yet: a small framework, and an adapter for it that is made of the kit."""

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

from gllint_runtime import GLError, Session
from gllint_runtime.adapters import kit

# ----------------------------------------------------- a framework, as others have written it


class Agent:
    """Asks a model, which answers by tokens or calls a tool; its messages are the conversation."""

    def __init__(self, model: Callable[[list[Any]], Iterator[Any]], *tools: Callable[..., Any]) -> None:
        self.model, self.tools = model, {tool.__name__: tool for tool in tools}

    def ask(self, messages: list[Any]) -> Iterator[Any]:
        yield from self.model(messages)

    def call(self, messages: list[Any], name: str, arguments: dict[str, Any], call_id: str) -> str:
        tool = self.tools[name]
        return str(tool(**arguments))

    def run(self, messages: list[Any]) -> Iterator[str]:
        """What the user is shown, by tokens; the messages grow."""
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
    max_retries: int = 2,
    on_refusal: kit.OnRefusal = None,
) -> Agent:
    """A copy of the agent, its tools recorded and its answers checked before they reach anybody."""
    if not isinstance(target, Agent):
        raise TypeError(f"gate takes an Agent, not {type(target).__name__}")
    twin = GatedAgent(target.model, *target.tools.values())
    twin.option, twin.max_retries, twin.on_refusal = session, max_retries, on_refusal
    return twin


class GatedAgent(Agent):
    """An agent with the gate in it."""

    option: kit.SessionOption
    max_retries: int
    on_refusal: kit.OnRefusal

    def session(self, messages: list[Any]) -> Session:
        """The session of a conversation, with what its messages hold: nothing else is kept."""
        begins = not any(message["role"] == "assistant" for message in messages)
        session = kit.session_for(self.option, messages, begins=begins)
        for message in messages:
            if message["role"] == "user":
                kit.hear(session, [message["content"]])
            elif message["role"] == "tool":
                call = message["call"]
                kit.restore(
                    session, call["tool"], call["arguments"], message["content"], tool_call_id=call["id"]
                )
        return session

    def call(self, messages: list[Any], name: str, arguments: dict[str, Any], call_id: str) -> str:
        """Call a tool with its arguments in the units of its parameters, and record what it returned."""
        return kit.tool_result(
            self.session(messages), name, self.tools[name], arguments, tool_call_id=call_id
        )

    def ask(self, messages: list[Any]) -> Iterator[Any]:
        """Ask the model until its answer holds; what is shown of it was checked."""
        session, asked, told = self.session(messages), messages, ""
        for attempt in range(self.max_retries + 1):
            said, stream = "", kit.FinalStream(session)
            for part in super().ask(asked):
                if isinstance(part, dict):
                    yield part
                    return
                said += part
                if not told:  # what an answer that broke off has shown stays
                    yield stream.feed(part)
            told = told or stream.released
            try:
                text = kit.check_final(session, said).message
            except GLError as error:
                if attempt < self.max_retries:
                    hint = {"role": "user", "content": Session.repair_hint(error)}
                    asked = [*asked, {"role": "assistant", "content": said}, hint]
                    continue
                text = kit.refusal(self.on_refusal, error)
            yield kit.rest_of(text, told)
            return


# --------------------------------------------------------------------------------- does it hold?


def says(*script: Any) -> Callable[[list[Any]], Iterator[Any]]:
    """A model that says what it is told to, texts by letters."""
    steps = iter(script)

    def model(messages: list[Any]) -> Iterator[Any]:
        step = next(steps)
        yield from [step] if isinstance(step, dict) else step

    return model


def meter(site: str) -> dict[str, Any]:
    """The heat that a site used last year."""
    return {"heat": {"value": 12.5, "unit": "kWh"}}


call = {"tool": "meter", "arguments": {"site": "north"}, "id": "call_1"}
claim = {"source_call_id": "tc_1", "path": "$.heat", "quantity": {"value": 12.5, "unit": "kWh"}}
honest = json.dumps({"claims": [claim], "message": "It is warm. It uses {{claim:0}}."})
agent = gate(Agent(says(call, "It uses 13 kWh.", honest, honest, *["It uses 13 kWh."] * 3), meter))

ada: list[Any] = [{"role": "user", "content": "How much heat?"}]
bob = copy.deepcopy(ada)
answer = "".join(agent.run(ada))
assert answer == "It is warm. It uses 12.50 kWh."  # stopped, repaired, by sentences
assert "13 kWh" not in str(ada)  # nothing refused stays
ada.append({"role": "user", "content": "Again?"})
assert "".join(agent.run(json.loads(json.dumps(ada)))) == "It is warm. It uses 12.50 kWh."  # restarted
assert "".join(agent.run(bob)) == kit.REFUSAL  # another user's numbers are not this user's
print(answer)

"""The gate in Agno, asked of the package itself: sessions, streams, structured answers, several agents."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
from dataclasses import dataclass, field
from typing import Any

import pytest

pytest.importorskip("agno", reason="Agno has an environment of its own: .ci/frameworks")

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.media import Image
from agno.metrics import MessageMetrics
from agno.models.base import Model
from agno.models.message import Message
from agno.models.response import ModelResponse
from agno.team import Team
from agno.tools.function import ToolResult

from gate_answers import BAD, GOOD, HEAT, NAKED, REFUSED, SUM, TWICE, Answer, Rated, at_once, final, origin
from gllint_runtime import GLError, Quantity, Session, calculate
from gllint_runtime.adapters import current_session
from gllint_runtime.adapters.agno import gate as gate_of


def gate(target: Any, **options: Any) -> Any:
    """The gate in claims mode; a session has its own."""
    return gate_of(target, **({} if options.get("session") is not None else {"mode": "claims"}), **options)


def calling(name: str = "meter", call_id: str = "call_1", **arguments: Any) -> list[dict[str, Any]]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return [{"id": call_id, "type": "function", "function": function}]


@dataclass
class Script(Model):
    """Says what it is told to, by five letters where it is streamed."""

    id: str = "script"
    script: list[Any] = field(default_factory=list)
    asked: list[Any] = field(default_factory=list)

    def _next(self, messages: list[Message]) -> ModelResponse:
        self.asked.append([*messages])
        said = self.script.pop(0)
        usage = MessageMetrics(input_tokens=2, output_tokens=3, total_tokens=5)
        if isinstance(said, str):
            return ModelResponse(role="assistant", content=said, response_usage=usage)
        if isinstance(said, tuple):
            return ModelResponse(role="assistant", content=said[0], tool_calls=said[1], response_usage=usage)
        return ModelResponse(role="assistant", tool_calls=said, response_usage=usage)

    def invoke(self, messages: list[Message], *arguments: Any, **options: Any) -> ModelResponse:
        return self._next(messages)

    async def ainvoke(self, messages: list[Message], *arguments: Any, **options: Any) -> ModelResponse:
        return self._next(messages)

    def invoke_stream(self, messages: list[Message], *arguments: Any, **options: Any) -> Any:
        whole = self._next(messages)
        text = whole.content or ""
        yield ModelResponse(reasoning_content="Maybe 14 kWh?")
        for start in range(0, len(text), 5):
            yield ModelResponse(content=text[start : start + 5])
        whole.content = None
        yield whole

    async def ainvoke_stream(self, messages: list[Message], *arguments: Any, **options: Any) -> Any:
        for part in self.invoke_stream(messages):
            yield part

    def _parse_provider_response(self, response: Any, **options: Any) -> ModelResponse:
        raise NotImplementedError

    def _parse_provider_response_delta(self, response: Any) -> ModelResponse:
        raise NotImplementedError


def meter(site: str = "north") -> dict[str, Any]:
    """The heat that a site used."""
    return HEAT


def made(*script: Any, option: Any = None, tools: Any = (meter,), **options: Any) -> Any:
    own = {name: options.pop(name) for name in ("max_retries", "on_refusal") if name in options}
    model = Script(script=[*script])
    return gate(Agent(model=model, tools=[*tools], telemetry=False, **options), session=option, **own)


def remembering(*script: Any, db: Any = None, **options: Any) -> Any:
    return made(*script, db=db or InMemoryDb(), add_history_to_context=True, **options)


WAYS = pytest.mark.parametrize("way", ["run", "arun"])


def ask(agent: Any, text: str = "How much?", way: str = "run", **options: Any) -> Any:
    return agent.run(text, **options) if way == "run" else asyncio.run(agent.arun(text, **options))


def heard(agent: Any, way: str = "run", **options: Any) -> tuple[list[str], str]:
    async def events() -> list[Any]:
        return [event async for event in agent.arun("How?", stream=True, stream_events=True, **options)]

    found = (
        [*agent.run("How?", stream=True, stream_events=True, **options)]
        if way == "run"
        else asyncio.run(events())
    )
    chunks = [
        event.content for event in found if event.event in ("RunContent", "TeamRunContent") and event.content
    ]
    return chunks, str(found)


@WAYS
def test_a_made_up_number_is_stopped_and_mended(way: str) -> None:
    agent = made(calling(), NAKED, final("It uses {{claim:0}}."))
    output = ask(agent, way=way)
    assert output.content == "It uses 12.50 kWh."
    assert "13 kWh" not in str(output.to_dict())
    told = next(m.content for m in output.messages if m.role == "tool")
    assert json.loads(told) == {"tool_call_id": "tc_1", "output": HEAT}
    assert "NO_NAKED_NUMBERS" in str(agent.model.asked[-1])
    assert ask(made(calling(), final("{{claim:0}}", "call_1")), way=way).content == "12.50 kWh"


def test_where_repairs_run_out() -> None:
    refused = ask(made(*[NAKED] * 3))
    assert refused.content == REFUSED and "13 kWh" not in str(refused.to_dict())
    assert ask(made(NAKED, max_retries=0, on_refusal="No.")).content == "No."
    for wrong in ("agent", Agent(telemetry=False)):
        with pytest.raises(TypeError, match="gate takes|its model"):
            gate(wrong)
    with pytest.raises(TypeError, match="parser model"):
        made(parser_model=Script())


@WAYS
def test_what_the_program_raises_is_raised(way: str) -> None:
    def raising(error: GLError) -> str:
        raise error

    def stranger(run: Any) -> Session:
        raise LookupError("Who is this?")

    for run in (ask, heard):
        with pytest.raises(GLError, match="NO_NAKED_NUMBERS"):
            run(made(NAKED, max_retries=0, on_refusal=raising), way=way)
        with pytest.raises(LookupError, match="Who is this"):
            run(made(NAKED, option=stranger), way=way)


def test_each_conversation_has_its_own_numbers() -> None:
    cited = final("{{claim:0}}")
    agent = remembering(calling(), "It is warm.", *[cited] * 4)
    ask(agent, session_id="ada")
    assert ask(agent, "And?", session_id="bob").content == REFUSED
    assert ask(agent, "So?", session_id="ada").content == "12.50 kWh"
    assert current_session() is None


def test_a_restart_forgets_nothing() -> None:
    db = InMemoryDb()
    ask(remembering(calling(), "It is warm.", db=db), session_id="ada")
    later = remembering(
        calling(call_id="call_2"), final("{{claim:0}}", "tc_2"), final("{{claim:0}}", "call_1"), db=db
    )
    assert ask(later, session_id="ada").content == ask(later, session_id="ada").content == "12.50 kWh"


def test_one_session_for_two_conversations_is_told() -> None:
    agent = remembering(calling(), "Warm.", "Warm.", "Warm.", option=Session())
    ask(agent, session_id="ada")
    ask(agent, session_id="ada")
    with pytest.raises(GLError, match="SESSION_SHARED"):
        ask(agent, session_id="bob")
    sessions: dict[str, Session] = {}
    found = made(
        calling(), final("{{claim:0}}"), option=lambda run: sessions.setdefault(run.session_id, Session())
    )
    assert ask(found, session_id="ada").content == "12.50 kWh" and sessions["ada"].count == 1


@WAYS
def test_a_stream_shows_what_was_checked_by_sentences(way: str) -> None:
    answer = final("It is warm. It uses {{claim:0}}. Fine?")
    chunks, events = heard(made(calling(), answer), way)
    assert "".join(chunks) == "It is warm. It uses 12.50 kWh. Fine?" and len(chunks) >= 3
    chunks, events = heard(made(calling(), NAKED, answer), way)
    assert "".join(chunks) == "It is warm. It uses 12.50 kWh. Fine?" and "13 kWh" not in events
    assert "14 kWh" not in events.partition("messages=")[0]
    chunks, events = heard(made("It is warm. It uses 13 kWh.", "It is cold."), way)
    assert "".join(chunks) == "It is warm. \n\nIt is cold." and "13 kWh" not in events
    chunks, events = heard(made(*[NAKED] * 3), way)
    assert chunks == [REFUSED] and "13 kWh" not in events


def test_nothing_is_lost() -> None:
    picture = Image(url="https://example.org/a.png")

    def camera() -> ToolResult:
        """A picture and a reading."""
        return ToolResult(content=json.dumps(HEAT), images=[picture])

    def quantity() -> dict[str, Quantity]:
        """A reading of our own."""
        return {"heat": Quantity(12.5, "kWh")}

    output = ask(made(calling("camera"), NAKED, final("{{claim:0}}"), tools=[camera]))
    assert output.content == "12.50 kWh"
    assert any(m.images and m.images[0].url == picture.url for m in output.messages)
    assert output.metrics.total_tokens == 15 and output.tools[0].tool_name == "camera"
    assert ask(made(calling("quantity"), final("{{claim:0}}"), tools=[quantity])).content == "12.50 kWh"
    noted = ask(made(("I look, 13 kWh.", calling()), final("{{claim:0}}")))
    assert noted.content == "12.50 kWh" and "13 kWh" not in str(noted.to_dict())


def test_results_and_arguments_that_do_not_hold_go_back_to_the_model() -> None:
    def heat_of(area_m2: float) -> dict[str, Any]:
        """The heat of an area."""
        return {"value": area_m2, "unit": "kWh"}

    output = ask(made(calling("heat_of", area_m2={"value": 5, "unit": "kWh"}), "Warm.", tools=[heat_of]))
    assert "ARGUMENT_UNIT" in str(next(m.content for m in output.messages if m.role == "tool"))

    def bare() -> Any:
        """A bare number."""
        return {"heat": 5}

    assert ask(made(calling("bare"), *[final("{{claim:0}}", value=5)] * 3, tools=[bare])).content == REFUSED


@WAYS
def test_structured_answers_have_the_tools_own_quantities(way: str) -> None:
    bad, good = json.dumps(BAD), json.dumps({**GOOD, "extra": NAKED})
    output = ask(made(calling(), bad, good, output_schema=Answer), way=way)
    assert output.content == Answer.model_construct(
        heat=Quantity(12.5, "kWh"), note="It uses 12.50 kWh.", stars=5
    )
    assert "13 kWh" not in str(output.to_dict()) and output.content_type == "Answer"
    late = ask(made(calling(), good), way=way, output_schema=Answer)
    assert late.content.heat == Quantity(12.5, "kWh")
    with pytest.raises(GLError):
        ask(made(calling(), *[bad] * 3, output_schema=Answer), way=way)
    with pytest.raises(TypeError, match="Rated.rating is a bare float"):
        made(output_schema=Rated)
    with pytest.raises(TypeError, match="Rated.rating is a bare float"):
        ask(made("Well."), way=way, output_schema=Rated)
    with pytest.raises(TypeError, match="not streamed"):
        heard(made(calling(), good, output_schema=Answer), way)


def test_a_supervisor_repeats_the_number_of_its_sub_agent() -> None:
    inner = made(calling(), NAKED, final("It uses {{claim:0}}."))

    def expert(question: str) -> str:
        """Asks the expert."""
        return str(inner.run(question).content)

    told = final("So it is {{claim:0}}.", "tc_2", path="$.numbers.heat")
    outer = remembering(calling("expert", question="How?"), NAKED, told, told, tools=[expert])
    assert ask(outer, session_id="ada").content == "So it is 12.50 kWh."
    assert ask(outer, session_id="ada").content == "So it is 12.50 kWh."


@WAYS
def test_a_team_is_gated_as_a_whole(way: str) -> None:
    def team() -> Any:
        member = Agent(
            name="reader",
            id="reader",
            model=Script(script=[calling(), NAKED, final("It uses {{claim:0}}.")]),
            tools=[meter],
            telemetry=False,
        )
        task = calling("delegate_task_to_member", member_id="reader", task="How much?")
        told = final("Indeed {{claim:0}}.", "tc_2", path="$.numbers.heat")
        boss = Script(script=[task, NAKED, told])
        return gate(Team(members=[member], model=boss, telemetry=False))

    output = ask(team(), way=way)
    assert output.content == "Indeed 12.50 kWh." and "13 kWh" not in str(output.to_dict())
    chunks, events = heard(team(), way)
    assert "Indeed 12.50 kWh." in "".join(chunks) and "13 kWh" not in events


def test_the_task_of_a_sub_agent_is_no_user_s_word() -> None:
    inner = made(calling(), "Warm.")

    def expert(question: str) -> str:
        """Asks the expert."""
        return str(inner.run(question).content)

    session = Session()
    ask(
        made(calling("expert", question="For 500 m2?"), "Well.", option=session, tools=[expert]),
        "I have 400 m2.",
    )
    assert (origin(session, 500), origin(session, 400)) == ("none", "user")
    session = Session()
    member = Agent(
        name="m", id="m", model=Script(script=[calling(), "Warm."]), tools=[meter], telemetry=False
    )
    task = calling("delegate_task_to_member", member_id="m", task="For 500 m2?")
    boss = Script(script=[task, "Well."])
    gate(Team(members=[member], model=boss, telemetry=False), session=session).run("I have 400 m2.")
    assert (origin(session, 500), origin(session, 400)) == ("none", "user")


def test_many_conversations_over_one_agent() -> None:
    class Echo(Script):
        def _next(self, messages: list[Message]) -> ModelResponse:
            number = float(next(m.content for m in messages if m.role == "user").split()[-1])
            if messages[-1].role == "tool":
                return ModelResponse(role="assistant", content=final("{{claim:0}}", value=number))
            return ModelResponse(role="assistant", tool_calls=calling("reading", value=number))

    def reading(value: float) -> dict[str, Any]:
        """Reads."""
        return {"heat": {"value": value, "unit": "kWh"}}

    agent = gate(Agent(model=Echo(), tools=[reading], telemetry=False))

    def talk(number: int) -> Any:
        return agent.run(f"Site {number}", session_id=str(number)).content

    assert at_once(talk, range(1, 25)) == [f"{number}.00 kWh" for number in range(1, 25)]


def test_a_model_calculates_with_what_it_cites() -> None:
    agent = made(calling(), calling("calculate", "call_2", **TWICE), SUM, tools=[meter, calculate])
    assert ask(agent).content == "It is 25.00 kWh."


def test_copies_of_an_agent_and_a_model_that_it_is_given_later_are_gated() -> None:
    script = [calling(), NAKED, final("It uses {{claim:0}}.")]
    agent = made(*script)
    for twin in (agent.deep_copy(), copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
        assert ask(twin).content == "It uses 12.50 kWh."
    agent.model = Script(script=[*script])
    assert ask(agent).content == "It uses 12.50 kWh."
    agent.model = None
    with pytest.raises(TypeError, match="its model"):
        ask(agent)

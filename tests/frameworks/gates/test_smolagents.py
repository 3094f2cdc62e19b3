"""The gate in smolagents, asked of the package itself: sessions, streams, structured answers, managed agents."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

pytest.importorskip("smolagents", reason="smolagents has an environment of its own: .ci/frameworks")

from smolagents import CodeAgent, Model, Tool, ToolCallingAgent, tool
from smolagents.memory import PlanningStep
from smolagents.models import (
    ChatMessage,
    ChatMessageStreamDelta,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    ChatMessageToolCallStreamDelta,
    MessageRole,
)
from smolagents.monitoring import LogLevel, TokenUsage

from gate_answers import BAD, GOOD, HEAT, NAKED, REFUSED, SUM, TWICE, Answer, at_once, final_data, origin
from gllint_runtime import GLError, Quantity, Session, calculate
from gllint_runtime.adapters import current_session
from gllint_runtime.adapters.smolagents import gate as gate_of


def gate(target: Any, **options: Any) -> Any:
    """The gate in claims mode; a session has its own."""
    return gate_of(target, **({} if options.get("session") is not None else {"mode": "claims"}), **options)


def final(message: str, *arguments: Any, **options: Any) -> Any:
    return answer(final_data(message, *arguments, **options))


def calling(name: str = "meter", call_id: str = "call_1", said: str = "", **arguments: Any) -> Any:
    call = ChatMessageToolCall(ChatMessageToolCallFunction(arguments, name), call_id, "function")
    return ChatMessage(MessageRole.ASSISTANT, said, [call], token_usage=TokenUsage(2, 3))


def answer(data: Any) -> Any:
    return calling("final_answer", "call_f", answer=data)


def code(text: str) -> Any:
    return ChatMessage(MessageRole.ASSISTANT, text, token_usage=TokenUsage(2, 3))


def answer_in_code(data: Any) -> Any:
    return code(f"<code>\nfinal_answer({data!r})\n</code>")


class Script(Model):
    """Says what it is told to."""

    def __init__(self, *script: Any) -> None:
        super().__init__()
        self.script = [*script]
        self.asked: list[Any] = []

    def generate(self, messages: Any, *arguments: Any, **options: Any) -> ChatMessage:
        self.asked.append(messages)
        return self.script.pop(0)

    def generate_stream(self, messages: Any, *arguments: Any, **options: Any) -> Any:
        said = self.generate(messages)
        text = said.content
        for start in range(0, len(text), 5):
            yield ChatMessageStreamDelta(text[start : start + 5])
        for i, call in enumerate(said.tool_calls or ()):
            function = ChatMessageToolCallFunction(json.dumps(call.function.arguments), call.function.name)
            yield ChatMessageStreamDelta(
                tool_calls=[ChatMessageToolCallStreamDelta(i, call.id, "function", function)],
                token_usage=said.token_usage,
            )


@tool
def meter(site: str = "north") -> dict:
    """The heat that a site used.

    Args:
        site: Which.
    """
    return HEAT


QUIET: Any = {"verbosity_level": LogLevel.OFF}


def made(
    *script: Any, option: Any = None, kind: Any = ToolCallingAgent, tools: Any = (meter,), **options: Any
) -> Any:
    return gate(kind(tools=[*tools], model=Script(*script), **QUIET, **options), session=option)


def memory_of(agent: Any) -> str:
    return str(agent.memory.get_full_steps())


def test_a_made_up_number_is_stopped_and_mended() -> None:
    agent = made(calling(), answer(NAKED), final("It uses {{claim:0}}."))
    assert agent.run("How much?") == "It uses 12.50 kWh."
    assert "13 kWh" not in memory_of(agent) and "NO_NAKED_NUMBERS" in str(agent.model.asked[-1])
    assert "13" in str(agent.model.asked[-1]) and "NO_NAKED_NUMBERS" not in str(agent.model.asked[1])
    step = agent.memory.steps[1]
    assert json.loads(step.observations) == {"tool_call_id": "tc_1", "output": HEAT}
    assert made(calling(), final("{{claim:0}}", "call_1")).run("How?") == "12.50 kWh"


def test_where_repairs_run_out() -> None:
    agent = made(*[answer(NAKED)] * 3)
    assert agent.run("How?") == REFUSED and "13 kWh" not in memory_of(agent)
    agent = ToolCallingAgent(tools=[], model=Script(answer(NAKED)), **QUIET)
    assert gate(agent, max_retries=0, on_refusal="No.").run("How?") == "No."
    with pytest.raises(ValueError, match="gated already"):
        gate(agent)
    with pytest.raises(TypeError, match="gate takes"):
        gate("agent")  # type: ignore[arg-type]


def test_where_the_steps_run_out() -> None:
    texts = [code(NAKED), code(json.dumps(final_data("{{claim:0}}")))]
    agent = made(calling(), *texts, max_steps=1)
    assert agent.run("How?") == "12.50 kWh" and "13 kWh" not in memory_of(agent)
    assert made(calling(), *[code(NAKED)] * 3, max_steps=1).run("How?") == REFUSED


def test_each_conversation_has_its_own_numbers() -> None:
    agent = made(calling(), answer("It is warm."), *[final("{{claim:0}}")] * 4)
    agent.run("How?")
    assert agent.run("So?", reset=False) == "12.50 kWh"
    assert agent.run("Another user's?") == REFUSED
    assert current_session() is None
    agent = made(calling(), answer("It is warm."), *[final("{{claim:0}}")] * 3)
    agent.run("How?")
    agent.memory.steps = []  # another user's conversation in the same agent
    assert agent.run("And?", reset=False) == REFUSED


def test_two_conversations_in_turns() -> None:
    agents = [made(calling(), final("{{claim:0}}")), made(*[final("{{claim:0}}")] * 3)]
    runs = [agent.run("How?", stream=True) for agent in agents]
    ends: list[Any] = [None, None]
    for _ in range(20):
        for i, run in enumerate(runs):
            ends[i] = next(run, ends[i])
    assert [end.output for end in ends] == ["12.50 kWh", REFUSED]


def test_a_restart_forgets_nothing() -> None:
    first = made(calling(), answer("It is warm."))
    first.run("How?")
    later = made(calling(call_id="call_2"), final("{{claim:0}}", "tc_2"), final("{{claim:0}}", "call_1"))
    later.memory.steps = pickle.loads(pickle.dumps(first.memory.steps))
    assert later.run("How?", reset=False) == later.run("So?", reset=False) == "12.50 kWh"


def test_one_session_for_two_conversations_is_told() -> None:
    agent = made(calling(), answer("Warm."), answer("Warm."), option=Session())
    agent.run("How?")
    with pytest.raises(GLError, match="SESSION_SHARED"):
        agent.run("How?")
    sessions: dict[str, Session] = {}
    agent = made(
        calling(),
        final("{{claim:0}}"),
        option=lambda agent: sessions.setdefault(agent.state["user"], Session()),
    )
    assert agent.run("How?", additional_args={"user": "ada"}) == "12.50 kWh" and sessions["ada"].count == 1


@pytest.mark.parametrize("streams", [False, True])
def test_a_stream_shows_what_was_checked_by_steps(streams: bool) -> None:
    script = [
        calling(said="I look, 13 kWh."),
        calling("final_answer", "f", "So 13 kWh.", answer=NAKED),
        final("It uses {{claim:0}}."),
    ]
    agent = made(*script, stream_outputs=streams)
    events = [*agent.run("How?", stream=True)]
    assert events[-1].output == "It uses 12.50 kWh." and "13 kWh" not in str(events)
    agent = made(*[answer(NAKED)] * 3, stream_outputs=streams)
    events = [*agent.run("How?", stream=True)]
    assert events[-1].output == REFUSED and "13 kWh" not in str(events) and "13 kWh" not in memory_of(agent)


def test_plans_are_held_back() -> None:
    agent = made(code("Find 13 kWh."), answer("It is warm."), planning_interval=1, stream_outputs=True)
    events = [*agent.run("How?", stream=True)]
    assert not any(isinstance(event, PlanningStep) for event in events)
    assert "13 kWh" not in str([event for event in events if isinstance(event, ChatMessageStreamDelta)])


def test_nothing_is_lost() -> None:
    picture = pytest.importorskip("PIL.Image").new("RGB", (2, 2))

    @tool
    def camera() -> Any:
        """A picture."""
        return picture

    camera.output_type = "image"

    @tool
    def quantity() -> Any:
        """A reading of our own."""
        return {"heat": Quantity(12.5, "kWh")}

    agent = made(calling(), answer(NAKED), final("{{claim:0}}"))
    result = agent.run("How?", return_full_result=True)
    assert result.output == "12.50 kWh" and result.token_usage == TokenUsage(6, 9)
    assert result.state == "success" and len(result.steps) == 4
    agent = made(calling("camera"), answer("image.png"), tools=[camera])
    assert agent.run("Show?").to_raw() is agent.state["image.png"].to_raw()
    own = made(calling("quantity"), final("{{claim:0}}"), tools=[quantity])
    assert own.run("How?") == "12.50 kWh"
    assert made(answer(None)).run("?") is None and made(answer(True)).run("?") is True


def test_a_tool_that_fails_or_is_asked_in_other_units() -> None:
    @tool
    def heat_of(area_m2: float) -> dict:
        """The heat of an area.

        Args:
            area_m2: Which.
        """
        return {"heat": {"value": area_m2, "unit": "kWh"}}

    quantity = {"value": 5, "unit": "kWh"}
    agent = made(calling("heat_of", area_m2=quantity), answer("It is warm."), tools=[heat_of])
    agent.run("How?")
    assert "ARGUMENT_UNIT" in str(agent.memory.steps[1].error)
    quantity = {"value": 0.0005, "unit": "ha"}
    agent = made(calling("heat_of", area_m2=quantity), final("{{claim:0}}", value=5), tools=[heat_of])
    assert agent.run("How much of 0.0005 ha?") == "5.00 kWh"


class Structured(Tool):
    name = "final_answer"
    description = "The answer."
    inputs = {
        "heat": {"type": "object", "description": "claim"},
        "note": {"type": "any", "description": "text"},
    }
    output_type = "any"

    def forward(self, heat: Any, note: Any) -> Answer:
        return Answer(heat=heat, note=note)


class RatedAnswer(Structured):
    def forward(self, heat: Any, note: Any) -> float:
        return 5.0


def test_structured_answers_have_the_tools_own_quantities() -> None:
    script = [calling("final_answer", **BAD), calling("final_answer", **GOOD)]
    agent = made(calling(), *script, tools=[meter, Structured()])
    expected = Answer.model_construct(heat=Quantity(12.5, "kWh"), note="It uses 12.50 kWh.", stars=5)
    assert agent.run("How?") == expected and "13 kWh" not in memory_of(agent)
    with pytest.raises(TypeError, match="bare float"):
        made(tools=[meter, RatedAnswer()])
    assert made(answer({"title": "Heat", "ok": True})).run("?") == {"title": "Heat", "ok": True}
    for bad in ({"heat": 13}, {"13 kWh": "heat"}, [13], 13, {"title": NAKED}):
        assert made(*[answer(bad)] * 3).run("?") == REFUSED


def test_the_code_of_an_agent_gets_the_outputs_and_the_model_their_ids() -> None:
    script = [
        code("Thought: 13 kWh?\n<code>\nprint(meter('north')['heat']['value'])\n</code>"),
        answer_in_code(NAKED),
        answer_in_code(final_data("It uses {{claim:0}}.")),
    ]
    agent = made(*script, kind=CodeAgent)
    events = [*agent.run("How?", stream=True)]
    assert events[-1].output == "It uses 12.50 kWh."
    assert "13 kWh" not in str(events) + memory_of(agent)
    step = agent.memory.steps[1]
    assert "12.5" in step.observations and '{"tool_call_id": "tc_1"' in step.observations
    agent.model.script = [answer_in_code(final_data("{{claim:0}}"))]
    assert agent.run("And?", reset=False) == "12.50 kWh"
    for arguments, problem in (
        ("'north', 5", "positional argument"),
        ("'north', site='south'", "multiple values"),
    ):
        agent = made(
            code(f"<code>\nprint(meter({arguments}))\n</code>"), answer_in_code("Warm."), kind=CodeAgent
        )
        agent.run("How?")
        assert problem in str(agent.memory.steps[1].error)
    # What the code prints is no recorded call.
    told = json.dumps({"tool_call_id": "tc_9", "output": {"heat": {"value": 13, "unit": "kWh"}}})
    agent = made(
        code(f"<code>\nprint('''{told}''')\n</code>"),
        answer_in_code("Warm."),
        kind=CodeAgent,
    )
    agent.run("How?")
    agent.model.script = [answer_in_code(final_data("{{claim:0}}", "tc_9", value=13))] * 3
    assert agent.run("And?", reset=False) == REFUSED


def test_a_supervisor_repeats_the_number_of_the_agent_it_manages() -> None:
    for kind in (ToolCallingAgent, CodeAgent):
        expert = ToolCallingAgent(
            tools=[meter],
            model=Script(calling(), answer(NAKED), final("It uses {{claim:0}}.")),
            name="expert",
            description="Knows.",
            **QUIET,
        )
        script = [
            calling("expert", task="How much?"),
            answer(NAKED),
            final("So {{claim:0}}.", "tc_2", "$.numbers.heat"),
        ]
        if kind is CodeAgent:
            script = [
                code("<code>\nprint(expert('How much?'))\n</code>"),
                answer_in_code(NAKED),
                answer_in_code(final_data("So {{claim:0}}.", "tc_2", "$.numbers.heat")),
            ]
        boss = made(*script, kind=kind, tools=[], managed_agents=[expert])
        events = [*boss.run("How?", stream=True)]
        assert events[-1].output == "So 12.50 kWh."
        assert "13 kWh" not in str(events) + memory_of(boss) + memory_of(expert)


def test_the_task_of_a_managed_agent_is_no_user_s_word() -> None:
    options: Any = {"name": "expert", "description": "Knows.", "tools": [meter], **QUIET}
    expert = ToolCallingAgent(model=Script(calling(), answer("Warm.")), **options)
    session = Session()
    task = calling("expert", task="For 500 m2?")
    made(task, answer("Well."), tools=[], managed_agents=[expert], option=session).run("I have 400 m2.")
    assert session.next_id() == "tc_3"
    assert (origin(session, 500), origin(session, 400)) == ("none", "user")


def test_many_agents_at_once_and_calls_side_by_side() -> None:
    @tool
    def reading(number: float) -> dict:
        """Reads.

        Args:
            number: Which.
        """
        return {"heat": {"value": number, "unit": "kWh"}}

    def talk(number: int) -> Any:
        both = calling("reading", "a", number=number)
        both.tool_calls += calling("reading", "b", number=number + 0.5).tool_calls
        agent = made(both, final("{{claim:0}}", "b", value=number + 0.5), tools=[reading])
        return agent.run(f"Site {number}")

    assert at_once(talk, range(1, 9)) == [f"{number}.50 kWh" for number in range(1, 9)]


def test_a_model_calculates_with_what_it_cites() -> None:
    agent = made(
        calling(), calling("calculate", "call_2", **TWICE), answer(SUM), tools=[meter, tool(calculate)]
    )
    assert agent.run("How much is it twice?") == "It is 25.00 kWh."

"""The gate in Strands Agents, asked of the package itself: sessions, streams, structured answers, several agents."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

pytest.importorskip("strands", reason="Strands has an environment of its own: .ci/frameworks")

from strands import Agent, tool
from strands.agent.conversation_manager import SummarizingConversationManager
from strands.models import Model
from strands.multiagent import GraphBuilder, Swarm
from strands.types.exceptions import EventLoopException

from gate_answers import BAD, GOOD, HEAT, NAKED, REFUSED, SUM, TWICE, Answer, Rated, at_once, final, origin
from gllint_runtime import GLError, Quantity, Session, calculate
from gllint_runtime.adapters import current_session
from gllint_runtime.adapters.strands import gate as gate_of


def gate(target: Any, **options: Any) -> Any:
    """The gate in claims mode; a session has its own."""
    return gate_of(target, **({} if options.get("session") is not None else {"mode": "claims"}), **options)


def calling(name: str = "meter", call_id: str = "call_1", **arguments: Any) -> list[Any]:
    return [{"toolUse": {"toolUseId": call_id, "name": name, "input": arguments}}]


class Script(Model):
    """Says what it is told to, by five letters."""

    def __init__(self, *script: Any) -> None:
        self.script = [*script]
        self.asked: list[Any] = []

    def update_config(self, **config: Any) -> None: ...

    def get_config(self) -> Any:
        return {}

    async def structured_output(self, *arguments: Any, **options: Any) -> Any:
        yield {"output": None}

    async def stream(self, messages: Any, *arguments: Any, **options: Any) -> Any:
        self.asked.append(messages)
        said = self.script.pop(0)
        blocks = [{"text": said}] if isinstance(said, str) else said
        yield {"messageStart": {"role": "assistant"}}
        for i, block in enumerate(blocks):
            place = {"contentBlockIndex": i}
            if use := block.get("toolUse"):
                begin = {"name": use["name"], "toolUseId": use["toolUseId"]}
                yield {"contentBlockStart": {"start": {"toolUse": begin}, **place}}
                delta = {"toolUse": {"input": json.dumps(use["input"])}}
                yield {"contentBlockDelta": {"delta": delta, **place}}
            elif reason := block.get("reasoning"):
                yield {"contentBlockDelta": {"delta": {"reasoningContent": {"text": reason}}, **place}}
            else:
                for start in range(0, len(block["text"]), 5):
                    delta = {"text": block["text"][start : start + 5]}
                    yield {"contentBlockDelta": {"delta": delta, **place}}
            yield {"contentBlockStop": place}
        is_call = any("toolUse" in block for block in blocks)
        yield {"messageStop": {"stopReason": "tool_use" if is_call else "end_turn"}}
        usage = {"inputTokens": 2, "outputTokens": 3, "totalTokens": 5}
        yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 1}}}


@tool
def meter(site: str = "north") -> dict[str, Any]:
    """The heat that a site used."""
    return HEAT


def made(*script: Any, option: Any = None, tools: Any = (meter,), **options: Any) -> Agent:
    agent = Agent(model=Script(*script), tools=[*tools], callback_handler=None, **options)
    return gate(agent, session=option)


def text_of(result: Any) -> str:
    return str(result).strip()


def test_a_made_up_number_is_stopped_and_mended() -> None:
    agent = made(calling(), NAKED, final("It uses {{claim:0}}."))
    result = agent("How much?")
    assert text_of(result) == "It uses 12.50 kWh." and "13 kWh" not in str(agent.messages)
    told = json.loads(agent.messages[2]["content"][0]["toolResult"]["content"][0]["text"])
    assert told == {"tool_call_id": "tc_1", "output": HEAT}
    assert "NO_NAKED_NUMBERS" in str(agent.model.asked[-1])  # type: ignore[attr-defined]
    assert text_of(made(calling(), final("{{claim:0}}", "call_1"))("How?")) == "12.50 kWh"


def test_where_repairs_run_out() -> None:
    assert text_of(made(*[NAKED] * 3)("How?")) == REFUSED
    agent = Agent(model=Script(NAKED), callback_handler=None)
    assert text_of(gate(agent, max_retries=0, on_refusal="No.")("How?")) == "No."
    with pytest.raises(ValueError, match="gated already"):
        gate(agent)
    with pytest.raises(TypeError, match="gate takes"):
        gate("agent")


def test_each_conversation_has_its_own_numbers() -> None:
    agents = [made(calling(), "It is warm.", final("{{claim:0}}")), made(*[final("{{claim:0}}")] * 3)]
    agents[0]("How?")
    assert text_of(agents[1]("And?")) == REFUSED
    assert text_of(agents[0]("So?")) == "12.50 kWh"
    assert current_session() is None
    shared = made(calling(), "Warm.", *[final("{{claim:0}}")] * 3)
    shared("How?")
    shared.messages = []  # another user's conversation in the same agent
    assert text_of(shared("And?")) == REFUSED


def test_a_restart_forgets_nothing() -> None:
    first = made(calling(), "It is warm.")
    first("How?")
    later = made(calling(call_id="call_2"), final("{{claim:0}}", "tc_2"), final("{{claim:0}}", "call_1"))
    later.messages = json.loads(json.dumps(first.messages))
    assert text_of(later("How?")) == text_of(later("So?")) == "12.50 kWh"


def test_one_session_for_two_conversations_is_told() -> None:
    session = Session()
    made(calling(), "Warm.", option=session)("How?")
    with pytest.raises(GLError, match="SESSION_SHARED"):
        made("Warm.", option=session)("How?")
    sessions: dict[str, Session] = {}
    agent = made(
        calling(),
        final("{{claim:0}}"),
        option=lambda run: sessions.setdefault(run.invocation_state["user"], Session()),
    )
    assert text_of(agent("How?", invocation_state={"user": "ada"})) == "12.50 kWh"
    assert sessions["ada"].count == 1


def test_a_stream_shows_what_was_checked_by_sentences() -> None:
    async def heard(agent: Agent) -> tuple[list[str], str]:
        events = [event async for event in agent.stream_async("How?")]
        return [event["data"] for event in events if "data" in event], str(events)

    thinking = [{"reasoning": "Maybe 13 kWh?"}, {"text": final("It is warm. It uses {{claim:0}}. Fine?")}]
    chunks, events = asyncio.run(heard(made(calling(), NAKED, thinking)))
    assert "".join(chunks) == "It is warm. It uses 12.50 kWh. Fine?" and len(chunks) >= 3
    shown = events.replace(str({"reasoningText": {"text": "Maybe 13 kWh?"}}), "")
    assert "13 kWh" not in shown and "messageStop" in events
    chunks, _ = asyncio.run(heard(made("It is warm. It uses 13 kWh.", "It is warm. It is dry.")))
    assert "".join(chunks) == "It is warm. It is dry."
    chunks, _ = asyncio.run(heard(made("It is warm. It uses 13 kWh.", "It is cold.")))
    assert "".join(chunks) == "It is warm. \n\nIt is cold."
    chunks, events = asyncio.run(heard(made(*[NAKED] * 3)))
    assert chunks == [REFUSED] and "13 kWh" not in events


def test_nothing_is_lost() -> None:
    picture = {"image": {"format": "png", "source": {"bytes": b"x"}}}

    @tool
    def camera() -> dict[str, Any]:
        """A picture and a reading."""
        return {"status": "success", "content": [{"json": HEAT}, picture, {"text": "warm"}]}

    @tool
    def quantity() -> dict[str, Quantity]:
        """A reading of our own."""
        return {"heat": Quantity(12.5, "kWh")}

    agent = made(calling("camera"), NAKED, final("{{claim:0}}", path="$.block_1.heat"), tools=[camera])
    result = agent("How?")
    assert text_of(result) == "12.50 kWh" and result.stop_reason == "end_turn"
    assert agent.messages[2]["content"][0]["toolResult"]["content"][1] == picture
    assert result.metrics.accumulated_usage["totalTokens"] == 15
    assert result.message["metadata"]["usage"]["totalTokens"] == 10
    own = made(calling("quantity"), final("{{claim:0}}"), tools=[quantity])
    assert text_of(own("How?")) == "12.50 kWh"
    noted = made([{"text": "I look, 13 kWh."}, *calling()], final("{{claim:0}}"))
    assert text_of(noted("How?")) == "12.50 kWh" and "13 kWh" not in str(noted.messages)


def test_a_tool_that_fails_or_is_asked_in_other_units() -> None:
    @tool
    def heat_of(area_m2: float) -> dict[str, Any]:
        """The heat of an area."""
        return {"value": area_m2, "unit": "kWh"}

    quantity = {"value": 5, "unit": "kWh"}
    agent = made(calling("heat_of", area_m2=quantity), "It is warm.", tools=[heat_of])
    agent("How?")
    assert agent.messages[2]["content"][0]["toolResult"]["status"] == "error"

    @tool
    def bare() -> Any:
        """A bare number."""
        return {"heat": 5}

    agent = made(calling("bare"), *[final("{{claim:0}}", value=5)] * 3, tools=[bare])
    assert text_of(agent("How?")) == REFUSED


@pytest.mark.parametrize("way", ["tool", "text"])
def test_structured_answers_have_the_tools_own_quantities(way: str) -> None:
    def answer(data: Any, call_id: str = "s") -> Any:
        return calling("Answer", call_id, **data) if way == "tool" else json.dumps(data)

    begin = [calling()] if way == "tool" else [calling(), "It is warm."]
    agent = made(*begin, answer(BAD), answer(GOOD))
    result = agent("How?", structured_output_model=Answer)
    assert result.structured_output == Answer.model_construct(
        heat=Quantity(12.5, "kWh"), note="It uses 12.50 kWh.", stars=5
    )
    assert "13 kWh" not in str(agent.messages)
    with pytest.raises(EventLoopException) as raised:
        made(*begin, *[answer(BAD)] * 3)("How?", structured_output_model=Answer)
    assert isinstance(raised.value.original_exception, GLError) and "13 kWh" not in str(raised.value)
    with pytest.raises(TypeError, match="Rated.rating is a bare float"):
        made("Well.")("How?", structured_output_model=Rated)
    with pytest.raises(TypeError, match="Rated.rating is a bare float"):
        made(structured_output_model=Rated)
    with (
        pytest.warns(DeprecationWarning, match="structured_output"),
        pytest.raises(TypeError, match="goes around the gate"),
    ):
        made("Well.").structured_output(Answer, "How?")


def test_a_structured_stream_shows_nothing_unchecked() -> None:
    async def heard() -> str:
        agent = made(calling(), calling("Answer", "s", **BAD), calling("Answer", "t", **GOOD))
        return str([event async for event in agent.stream_async("How?", structured_output_model=Answer)])

    events = asyncio.run(heard())
    assert "13 kWh" not in events and "It uses 12.50 kWh." in events


def test_a_supervisor_repeats_the_number_of_its_sub_agent() -> None:
    expert = Agent(
        name="expert",
        description="Knows.",
        model=Script(calling(), NAKED, final("It uses {{claim:0}}.")),
        tools=[meter],
        callback_handler=None,
    )
    told = final("So it is {{claim:0}}.", "tc_2", path="$.numbers.heat")
    boss = made(calling("expert", input="How much?"), NAKED, told, told, tools=[expert])

    async def heard() -> str:
        return str([event async for event in boss.stream_async("How?")])

    events = asyncio.run(heard())
    assert "So it is 12.50 kWh." in events and "13 kWh" not in events
    assert text_of(boss("Again?")) == "So it is 12.50 kWh."


def test_the_task_of_a_sub_agent_is_no_user_s_word() -> None:
    def agent(name: str, *script: Any, **options: Any) -> Agent:
        return Agent(name=name, model=Script(*script), callback_handler=None, **options)

    def in_a_swarm(expert: Agent, session: Session) -> None:
        handoff = calling("handoff_to_agent", agent_name="expert", message="For 500 m2?")
        swarm = Swarm([agent("boss", handoff, "Well."), expert], max_handoffs=2)
        gate(swarm, session=session)("I have 400 m2.")

    def as_a_tool(expert: Agent, session: Session) -> None:
        task = calling("expert", input="For 500 m2?")
        made(task, "Well.", tools=[expert], option=session)("I have 400 m2.")

    for way in (in_a_swarm, as_a_tool):
        session = Session()
        way(agent("expert", calling(), "Warm.", tools=[meter], description="Knows."), session)
        assert session.next_id() != "tc_1"
        assert (origin(session, 500), origin(session, 400)) == ("none", "user")


def test_graphs_and_swarms_are_gated_as_a_whole() -> None:
    def agent(name: str, *script: Any) -> Agent:
        return Agent(name=name, model=Script(*script), tools=[meter], callback_handler=None)

    builder = GraphBuilder()
    worker = agent("worker", calling(), NAKED, final("It uses {{claim:0}}."))
    writer = agent("writer", NAKED, final("Indeed {{claim:0}}."), "Warm.")
    builder.add_node(worker, "worker")
    builder.add_node(writer, "writer")
    builder.add_edge("worker", "writer")
    graph = gate(builder.build())
    result = graph("How?")
    assert text_of(result.results["writer"].result) == "Indeed 12.50 kWh."
    assert "13 kWh" not in str(worker.messages) + str(writer.messages)
    swarm = gate(Swarm([agent("one", calling(), NAKED, final("It uses {{claim:0}}."))]))

    async def heard() -> str:
        return str([event async for event in swarm.stream_async("How?")])

    events = asyncio.run(heard())
    assert "It uses 12.50 kWh." in events and "13 kWh" not in events


def test_each_run_of_a_swarm_has_its_own_numbers_and_a_graph_those_of_its_messages() -> None:
    cited = final("{{claim:0}}")

    def agent(*script: Any) -> Agent:
        return Agent(name="one", model=Script(*script), tools=[meter], callback_handler=None)

    def graph_of(*script: Any, option: Any = None) -> Any:
        builder = GraphBuilder()
        builder.add_node(agent(*script), "one")
        return gate(builder.build(), session=option)

    def told(target: Any) -> str:
        return text_of(target("How?").results["one"].result)

    swarm = gate(Swarm([agent(calling(), "Warm.", *[cited] * 3)]))
    assert (told(swarm), told(swarm)) == ("Warm.", REFUSED)  # its agents forget what they said before
    graph = graph_of(calling(), "Warm.", cited)
    assert (told(graph), told(graph)) == ("Warm.", "12.50 kWh")
    session = Session()
    graph = graph_of(calling(), "Warm.", cited, option=session)
    assert (told(graph), told(graph)) == ("Warm.", "12.50 kWh")
    with pytest.raises(GLError, match="SESSION_SHARED"):
        graph_of("Warm.", option=session)("How?")


def test_calls_side_by_side_and_many_agents_at_once() -> None:
    @tool
    def reading(value: float) -> dict[str, Any]:
        """Reads."""
        return {"heat": {"value": value, "unit": "kWh"}}

    def talk(number: int) -> str:
        both = [*calling("reading", "a", value=number), *calling("reading", "b", value=number + 0.5)]
        agent = made(both, final("{{claim:0}}", "b", value=number + 0.5), tools=[reading])
        return text_of(agent(f"Site {number}"))

    assert at_once(talk, range(1, 17)) == [f"{number}.50 kWh" for number in range(1, 17)]


def test_a_model_calculates_with_what_it_cites() -> None:
    agent = made(calling(), calling("calculate", "call_2", **TWICE), SUM, tools=[meter, tool(calculate)])
    assert text_of(agent("How much is it twice?")) == "It is 25.00 kWh."


def test_what_a_model_sums_up_is_no_user_s_word() -> None:
    manager = SummarizingConversationManager(summary_ratio=0.5, preserve_recent_messages=1)
    session = Session()
    script = [calling(), "Warm.", "The user has 500 m2.", "Well."]
    agent = made(*script, conversation_manager=manager, option=session)
    agent("I have 400 m2.")
    manager.reduce_context(agent)
    assert "500 m2" in str(agent.messages)
    agent("And?")
    assert (origin(session, 500), origin(session, 400)) == ("none", "user")

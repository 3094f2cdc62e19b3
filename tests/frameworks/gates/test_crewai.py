"""The gate in CrewAI, asked of the package itself: sessions, structured answers, crews, delegation."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import json
import os
import re
import sys
import threading
from typing import Any

import pytest

if importlib.util.find_spec("crewai") is None:
    pytest.skip("CrewAI has an environment of its own: .ci/frameworks", allow_module_level=True)
# Before CrewAI is imported, and only where it is: other tests of this process trace.
os.environ["CREWAI_DISABLE_TELEMETRY"] = os.environ["OTEL_SDK_DISABLED"] = "true"
os.environ["CREWAI_TRACING_ENABLED"] = "false"

from crewai import Agent, BaseLLM, Crew, Flow, Process, Task
from crewai.events.event_bus import crewai_event_bus
from crewai.events.types.llm_events import LLMCallCompletedEvent, LLMStreamChunkEvent
from crewai.hooks.dispatch import InterceptionPoint, get_global_hook_list
from crewai.tools import tool

from gate_answers import (
    HEAT,
    NAKED,
    REFUSED,
    SUM,
    TWICE,
    Answer,
    Rated,
    at_once,
    claim,
    final,
    final_data,
    origin,
)
from gllint_runtime import GLError, Quantity, Session, calculate
from gllint_runtime.adapters import current_session
from gllint_runtime.adapters.crewai import gate as gate_of


def gate(target: Any, **options: Any) -> Any:
    """The gate in claims mode; a session has its own."""
    return gate_of(target, **({} if options.get("session") is not None else {"mode": "claims"}), **options)


def calling(name: str = "meter", call_id: str = "call_1", **arguments: Any) -> list[Any]:
    return [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    ]


class Script(BaseLLM):
    """Says what it is told to."""

    script: list[Any] = []
    asked: list[Any] = []
    native: bool = True

    def call(self, messages: Any, tools: Any = None, *arguments: Any, **options: Any) -> Any:
        self.asked.append(messages)
        said = self.script.pop(0)
        self._token_usage["total_tokens"] += 5
        if self._effective_stream():
            self._emit_stream_chunk_event(chunk=str(said))
        self._emit_call_completed_event(said, "llm_call", messages=messages)  # type: ignore[arg-type]
        return said

    async def acall(self, *arguments: Any, **options: Any) -> Any:
        await asyncio.sleep(0)
        return self.call(*arguments, **options)

    def supports_function_calling(self) -> bool:
        return self.native


@tool
def meter(site: str = "north") -> dict:  # type: ignore[type-arg]
    """The heat that a site used."""
    return HEAT


@tool
def count() -> int:
    """A bare number."""
    return 7


def bare(
    *script: Any, tools: Any = (meter,), native: bool = True, role: str = "Expert", **options: Any
) -> Any:
    llm = Script(model="m", script=[*script], asked=[], native=native)
    return Agent(role=role, goal="Answers", backstory="Knows.", tools=[*tools], llm=llm, **options)


def made(*script: Any, option: Any = None, **options: Any) -> Any:
    return gate(bare(*script, **options), session=option)


def crew(agent: Any, *, option: Any = None, crew_options: Any = (), **options: Any) -> Any:
    task = Task(description="How much?", expected_output="The heat.", agent=agent, **options)
    return gate(Crew(agents=[agent], tasks=[task], **dict(crew_options)), session=option)


def test_a_made_up_number_is_stopped_and_mended() -> None:
    agent = made(calling(), NAKED, final("It uses {{claim:0}}."))
    result = agent.kickoff("How much?")
    assert result.raw == "It uses 12.50 kWh." and "13 kWh" not in str(result.messages)
    assert json.loads(result.messages[-2]["content"]) == {"tool_call_id": "tc_1", "output": HEAT}
    assert "NO_NAKED_NUMBERS" in str(agent.llm.asked[-1]) and NAKED in str(agent.llm.asked[-1])
    assert result.usage_metrics["total_tokens"] == 15
    assert made(calling(), final("{{claim:0}}", "call_1")).kickoff("How?").raw == "12.50 kWh"
    assert asyncio.run(made(calling(), NAKED, final("{{claim:0}}")).akickoff("How?")).raw == "12.50 kWh"


def test_a_crew_shows_what_was_checked_and_loses_nothing() -> None:
    said: list[Any] = []
    agent = bare(calling(), NAKED, final("It uses {{claim:0}}."), step_callback=said.append)
    result = crew(agent, callback=said.append).kickoff(inputs={"site": "north"})
    (output,) = result.tasks_output
    assert result.raw == output.raw == "It uses 12.50 kWh." and output.agent == "Expert"
    assert result.token_usage.total_tokens == 15
    assert NAKED not in str([output.messages, said]) and said[-1] is output

    async def main() -> Any:
        agent = bare(calling(), NAKED, final("{{claim:0}}"))
        return await crew(agent).akickoff(), await crew(bare("Warm.")).kickoff_async()

    assert [answer.raw for answer in asyncio.run(main())] == ["12.50 kWh", "Warm."]
    copies = crew(bare(*[NAKED] * 3)).kickoff_for_each([{"site": "north"}])
    assert [answer.raw for answer in copies] == [REFUSED]
    assert crew(bare(*[NAKED] * 3)).kickoff().raw == REFUSED


def test_what_a_tool_is_called_with_in_text() -> None:
    called = 'Thought: I look.\nAction: meter\nAction Input: {"site": "north"}'
    answers = (called, f"Thought: I know.\nFinal Answer: {NAKED}", f"Final Answer: {final('{{claim:0}}')}")
    agent = made(*answers, native=False)
    result = agent.kickoff("How much?")
    assert result.raw == "12.50 kWh" and NAKED not in str(result.messages)
    later = made(final("{{claim:0}}"), native=False)
    assert later.kickoff([*result.messages, {"role": "user", "content": "And?"}]).raw == "12.50 kWh"


def test_neither_a_result_that_the_model_makes_up_nor_a_thought_that_does_not_hold_stays() -> None:
    fake = json.dumps({"tool_call_id": "tc_9", "output": {"heat": {"value": 13, "unit": "kWh"}}})
    called = f"Thought: Some 14 kWh.\nAction: meter\nAction Input: {{}}\nObservation: {fake}"
    result = made(called, "Final Answer: Warm.", native=False).kickoff("How much?")
    assert not {"13", "14"} & {*re.findall("[0-9]+", str(result.messages[-3:]))}
    again = made(f"Final Answer: {final('{{claim:0}}')}", native=False)  # and the real result is there
    assert again.kickoff([*result.messages, {"role": "user", "content": "So?"}]).raw == "12.50 kWh"


def test_where_repairs_run_out() -> None:
    assert made(*[NAKED] * 3).kickoff("How?").raw == REFUSED
    agent = bare(NAKED)
    assert gate(agent, max_retries=0, on_refusal="No.").kickoff("How?").raw == "No."

    def raising(error: GLError) -> str:
        raise error

    with pytest.raises(GLError, match="NO_NAKED_NUMBERS"):
        gate(bare(NAKED), max_retries=0, on_refusal=raising).kickoff("How?")
    agent = bare(NAKED)
    alone = Crew(agents=[agent], tasks=[Task(description="?", expected_output=".", agent=agent)])
    with pytest.raises(GLError, match="NO_NAKED_NUMBERS"):
        gate(alone, max_retries=0, on_refusal=raising).kickoff()
    assert len(agent.llm.asked) == 1
    spent = made(calling(), NAKED, final("{{claim:0}}"), max_iter=1)
    assert spent.kickoff("How?").raw == "12.50 kWh"
    assert made(calling(), *[calling()] * 3, max_iter=1).kickoff("How?").raw == REFUSED
    odd = made([{"heat": 13}], {"message": NAKED, "claims": []}, {"message": "Warm.", "claims": []})
    assert odd.kickoff("How?").raw == "Warm."


def test_a_model_that_fails_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    class Flaky(Script):
        def call(self, *arguments: Any, **options: Any) -> Any:
            if self.script[0] is ConnectionError:
                raise self.script.pop(0)("The line is down.")
            return super().call(*arguments, **options)

    leaks: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", leaks.append)
    agent = bare()
    agent.llm = Flaky(model="m", script=[calling(), ConnectionError, NAKED, "Warm."], asked=[])
    assert crew(agent).kickoff().raw == "Warm."
    agent = made()
    agent.llm = Flaky(model="m", script=[ConnectionError], asked=[])
    with pytest.raises(ConnectionError):
        agent.kickoff("How?")
    gc.collect()
    assert leaks == [] and current_session() is None


def test_each_conversation_has_its_own_numbers() -> None:
    agent = made(calling(), "Warm.", *[final("{{claim:0}}")] * 3)
    first = agent.kickoff("How?")
    assert agent.kickoff("And?").raw == REFUSED and current_session() is None
    later = made(final("{{claim:0}}"), calling(), final("{{claim:0}}", "tc_2"))
    history = [*json.loads(json.dumps(first.messages)), {"role": "user", "content": "And?"}]
    assert later.kickoff(history).raw == later.kickoff(history).raw == "12.50 kWh"

    one, other = (crew(bare(calling(), NAKED, final("{{claim:0}}"))), crew(bare(*[final("{{claim:0}}")] * 3)))

    async def main() -> Any:
        return await asyncio.gather(one.akickoff(), other.akickoff())

    assert [answer.raw for answer in asyncio.run(main())] == ["12.50 kWh", REFUSED]


def test_two_conversations_in_one_agent_at_once() -> None:
    barrier = threading.Barrier(2, timeout=20)

    class Meeting(Script):
        def call(self, messages: Any, *arguments: Any, **options: Any) -> Any:
            user = "ada" if "ada" in str(messages) else "bob"
            turn = sum(user in str(asked) for asked in self.asked)
            self.asked.append(str(messages))
            if turn == 0:
                barrier.wait()
            script = [calling(), final("{{claim:0}}")] if user == "ada" else [final("{{claim:0}}")] * 3
            return script[turn]

    agent = Agent(role="E", goal="A", backstory="K", tools=[meter], llm=Meeting(model="m", asked=[]))
    gate(agent)

    def ask(user: str) -> str:
        return str(agent.kickoff(f"How, asks {user}?").raw)

    assert at_once(ask, ("ada", "bob")) == ["12.50 kWh", REFUSED]


def test_one_session_for_two_conversations_is_told() -> None:
    session = Session()
    target = crew(bare(calling(), "Warm.", "Warm."), option=session)
    target.kickoff()
    with pytest.raises(GLError, match="SESSION_SHARED"):
        target.kickoff()
    sessions: dict[str, Session] = {}
    target = crew(
        bare(calling(), final("{{claim:0}}")),
        option=lambda run: sessions.setdefault(run.inputs["user"], Session()),
    )
    assert target.kickoff(inputs={"user": "ada"}).raw == "12.50 kWh" and sessions["ada"].count == 1


def test_structured_answers() -> None:
    wrong = json.dumps({"heat": {**claim(), "path": "$.cold"}, "note": "Warm."})
    loose = json.dumps({"heat": claim(), "note": NAKED})
    right = json.dumps({"heat": claim(), "note": final_data("It is {{claim:0}}.")})
    for tools in ((meter,), (meter, count)):
        result = made(calling(), wrong, loose, right, tools=tools).kickoff("How?", response_format=Answer)
        assert result.pydantic.heat == Quantity(12.5, "kWh") and result.pydantic.note == "It is 12.50 kWh."
    output = crew(bare(calling(), loose, f"Sure!\n```json\n{right}\n```"), output_pydantic=Answer).kickoff()
    assert output.pydantic.heat == Quantity(12.5, "kWh") and "13 kWh" not in output.raw
    output = crew(bare(calling(), right), output_json=Answer).kickoff()
    assert output.json_dict == {"heat": HEAT["heat"], "note": "It is 12.50 kWh.", "stars": 5}
    with pytest.raises(GLError):
        made(calling(), *[wrong] * 3).kickoff("How?", Answer)
    with pytest.raises(GLError):
        crew(bare(calling(), *[wrong] * 3), output_pydantic=Answer).kickoff()

    with pytest.raises(TypeError, match=r"Rated\.rating is a bare float"):
        crew(bare(), output_pydantic=Rated)
    with pytest.raises(TypeError, match=r"Rated\.rating is a bare float"):
        made().kickoff("How?", response_format=Rated)


def test_a_stream_is_refused_and_no_event_tells_what_was_not_checked() -> None:
    with pytest.raises(TypeError, match="not streamed"):
        crew(bare(), crew_options={"stream": True})
    target = crew(bare(NAKED))
    target.stream = True
    with pytest.raises(TypeError, match="not streamed"):
        target.kickoff()
    heard: list[Any] = []
    with crewai_event_bus.scoped_handlers():

        @crewai_event_bus.on(LLMStreamChunkEvent)
        def chunk(source: Any, event: Any) -> None:
            heard.append(event.chunk)

        @crewai_event_bus.on(LLMCallCompletedEvent)
        def completed(source: Any, event: Any) -> None:
            heard.append([event.response, str(event.messages)])

        agent = made(NAKED, "Warm.")
        agent.llm.stream = True
        assert agent.kickoff("How?").raw == "Warm."
        crewai_event_bus.flush()
    assert "Warm." in str(heard) and "13 kWh" not in str(heard)


def test_a_coworker_is_gated_and_its_number_can_be_repeated() -> None:
    expert = bare(calling(), NAKED, final("It uses {{claim:0}}."))
    ask = calling("ask_question_to_coworker", question="How?", context="North.", coworker="Expert")
    second = final("{{claim:0}}", "tc_2", "$.numbers.heat")
    boss = bare(ask, NAKED, second, tools=(), role="Boss", allow_delegation=True)
    task = Task(description="How much?", expected_output="The heat.", agent=boss)
    assert gate(Crew(agents=[boss, expert], tasks=[task])).kickoff().raw == "12.50 kWh"


def test_the_question_to_a_coworker_is_no_user_s_word() -> None:
    expert = bare(calling(), "Warm.")
    ask = calling("ask_question_to_coworker", question="For 500 m2?", context="North.", coworker="Expert")
    boss = bare(ask, "Well.", tools=(), role="Boss", allow_delegation=True)
    task = Task(description="I have {area} m2.", expected_output="The heat.", agent=boss)
    session = Session()
    gate(Crew(agents=[boss, expert], tasks=[task]), session=session).kickoff({"area": 400})
    assert session.next_id() == "tc_3"
    assert (origin(session, 500), origin(session, 400)) == ("none", "user")


def test_the_manager_of_a_crew_is_gated() -> None:
    expert = bare(calling(), NAKED, final("It uses {{claim:0}}."))
    ask = calling("ask_question_to_coworker", question="How?", context="North.", coworker="Expert")
    manager = Script(model="m", script=[ask, NAKED, final("{{claim:0}}", "tc_2", "$.numbers.heat")], asked=[])
    task = Task(description="How much?", expected_output="The heat.")
    target = Crew(agents=[expert], tasks=[task], process=Process.hierarchical, manager_llm=manager)
    assert gate(target).kickoff().raw == "12.50 kWh"


def test_what_a_tool_gives() -> None:
    @tool
    def warm(power: float) -> dict:  # type: ignore[type-arg]
        """Heats."""
        raise ValueError("It is broken.")

    agent = made(calling("count"), calling("warm", power=2), "None.", tools=(count, warm))
    result = agent.kickoff("How, with a power of 2?")
    told = [message["content"] for message in result.messages if message["role"] == "tool"]
    assert "unit" in told[0] and "It is broken." in told[1] and result.raw == "None."
    hooks = get_global_hook_list(InterceptionPoint.POST_TOOL_CALL)
    hooks.clear()  # as a program does that clears its own
    assert made(calling(), final("{{claim:0}}")).kickoff("How?").raw == "12.50 kWh"


def test_what_cannot_be_gated_is_refused() -> None:
    agent = made()
    with pytest.raises(ValueError, match="gated already"):
        gate(agent)

    class Own(Flow):  # type: ignore[type-arg]
        pass

    for target in ("agent", Own()):
        with pytest.raises(TypeError, match="gate takes"):
            gate(target)
    with pytest.raises(TypeError, match="plans"):
        made(planning=True)
    with pytest.raises(TypeError, match="set planning=False"):
        crew(bare(), crew_options={"planning": True, "planning_llm": Script(model="m")})

    @tool(result_as_answer=True)
    def answer() -> str:
        """Answers."""
        return NAKED

    with pytest.raises(TypeError, match="would be the final answer, unchecked"):
        made(tools=(answer,))
    with pytest.raises(TypeError, match="would be the final answer, unchecked"):
        crew(bare(), tools=[answer])


def test_outside_of_a_gated_run_the_model_answers_as_ever() -> None:
    agent = made(NAKED, NAKED)
    assert agent.llm.call("How?") == NAKED
    shared = bare(NAKED)
    shared.llm = agent.llm
    assert shared.kickoff("How?").raw == NAKED


def test_a_model_calculates_with_what_it_cites() -> None:
    agent = made(calling(), calling("calculate", "call_2", **TWICE), SUM, tools=[meter, tool(calculate)])
    assert agent.kickoff("How much is it twice?").raw == "It is 25.00 kWh."

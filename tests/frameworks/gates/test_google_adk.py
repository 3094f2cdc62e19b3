"""The gate in Google's ADK, asked of the package itself: sessions, streams, structured answers, several agents."""

from __future__ import annotations

import asyncio
import copy
import json
import warnings
from collections.abc import AsyncGenerator
from typing import Any

import pytest

pytest.importorskip("google.adk", reason="Google ADK has an environment of its own: .ci/frameworks")

from google.adk.agents import LlmAgent, RunConfig, SequentialAgent
from google.adk.agents.run_config import StreamingMode
from google.adk.apps.llm_event_summarizer import LlmEventSummarizer
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.agent_tool import AgentTool
from google.genai import types

from gate_answers import BAD, GOOD, HEAT, NAKED, REFUSED, SUM, TWICE, Answer, Rated, final, origin
from gllint_runtime import GLError, Quantity, Session, calculate
from gllint_runtime.adapters import current_session
from gllint_runtime.adapters.google_adk import gate as gate_of

warnings.simplefilter("ignore")


def gate(target: Any, **options: Any) -> Any:
    """The gate in claims mode; a session has its own."""
    return gate_of(target, **({} if options.get("session") is not None else {"mode": "claims"}), **options)


def calling(name: str = "meter", call_id: str = "call_1", **arguments: Any) -> list[Any]:
    return [types.Part(function_call=types.FunctionCall(id=call_id, name=name, args=arguments))]


class Script(BaseLlm):
    """Says what it is told to, by five letters where it is streamed."""

    model: str = "script"
    script: list[Any] = []
    asked: list[Any] = []

    async def generate_content_async(
        self, llm_request: Any, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self.asked.append([*llm_request.contents])
        said = self.script.pop(0)
        parts = [types.Part(text=said)] if isinstance(said, str) else said
        if stream:
            for part in parts:
                text = part.text or ""
                for start in range(0, len(text), 5):
                    piece = types.Part(text=text[start : start + 5], thought=part.thought)
                    yield LlmResponse(content=types.Content(role="model", parts=[piece]), partial=True)
        usage = types.GenerateContentResponseUsageMetadata(
            prompt_token_count=2, candidates_token_count=3, total_token_count=5
        )
        content = types.Content(role="model", parts=parts)
        yield LlmResponse(
            content=content, usage_metadata=usage, finish_reason="STOP", custom_metadata={"own": "mark"}
        )


def meter(site: str = "north") -> dict[str, Any]:
    """The heat that a site used."""
    return HEAT


def bare_agent(*script: Any, tools: Any = (meter,), **options: Any) -> LlmAgent:
    model = Script(script=[*script], asked=[])
    return LlmAgent(name=options.pop("name", "a"), model=model, tools=[*tools], **options)


def made(*script: Any, option: Any = None, **options: Any) -> Any:
    return gate(bare_agent(*script, **options), session=option)


class App:
    """A runner over one agent object, and what its users hear."""

    def __init__(self, agent: Any, service: Any = None) -> None:
        self.service = service or InMemorySessionService()
        self.runner = Runner(app_name="app", agent=agent, session_service=self.service)

    async def events(self, text: str = "How?", session: str = "s", **options: Any) -> list[Any]:
        if await self.service.get_session(app_name="app", user_id="u", session_id=session) is None:
            await self.service.create_session(app_name="app", user_id="u", session_id=session)
        message = types.Content(role="user", parts=[types.Part(text=text)])
        run = self.runner.run_async(user_id="u", session_id=session, new_message=message, **options)
        return [event async for event in run]

    def ask(self, text: str = "How?", session: str = "s", **options: Any) -> str:
        return said(asyncio.run(self.events(text, session, **options)))

    def stored(self, session: str = "s") -> Any:
        return asyncio.run(self.service.get_session(app_name="app", user_id="u", session_id=session))


def said(events: list[Any]) -> str:
    return "".join(part.text or "" for part in events[-1].content.parts)


def test_a_made_up_number_is_stopped_and_mended() -> None:
    app = App(agent := made(calling(), NAKED, final("It uses {{claim:0}}.")))
    assert app.ask() == "It uses 12.50 kWh." and "13 kWh" not in str(app.stored())
    told = app.stored().events[2].content.parts[0].function_response.response
    assert told == {"tool_call_id": "tc_1", "output": HEAT}
    assert "NO_NAKED_NUMBERS" in str(agent.model.asked[-1])
    assert App(made(calling(), final("{{claim:0}}", "call_1"))).ask() == "12.50 kWh"
    assert current_session() is None


def test_where_repairs_run_out() -> None:
    assert App(made(*[NAKED] * 3)).ask() == REFUSED
    agent = bare_agent(NAKED)
    assert App(gate(agent, max_retries=0, on_refusal="No.")).ask() == "No."
    with pytest.raises(ValueError, match="gated already"):
        gate(agent)
    with pytest.raises(TypeError, match="gate takes"):
        gate("agent")  # type: ignore[arg-type]


def test_what_the_adk_asks_of_its_own_is_answered_as_ever_and_nothing_around_the_gate() -> None:
    app = App(made(calling(), final("{{claim:0}}"), "It used 13 kWh of heat."))
    app.ask()
    summarizer = LlmEventSummarizer(llm=app.runner.agent.canonical_model)
    summary = asyncio.run(summarizer.maybe_summarize_events(events=app.stored().events))
    assert "13 kWh" in str(summary.actions.compaction.compacted_content)
    agent = made(NAKED)
    agent.before_model_callback = None
    with pytest.raises(GLError, match="gate is bypassed"):
        App(agent).ask()


def test_each_conversation_of_one_agent_has_its_own_numbers() -> None:
    app = App(made(calling(), "Warm.", *[final("{{claim:0}}")] * 4))
    app.ask(session="ada")
    assert app.ask(session="bob") == REFUSED and app.ask(session="ada") == "12.50 kWh"


def test_conversations_at_once() -> None:
    def reading(number: float) -> dict[str, Any]:
        """Reads."""
        return {"heat": {"value": number, "unit": "kWh"}}

    class Echo(Script):
        async def generate_content_async(
            self, llm_request: Any, stream: bool = False
        ) -> AsyncGenerator[LlmResponse, None]:
            texts = [part.text for content in llm_request.contents for part in content.parts if part.text]
            number = float(texts[0].split()[-1])
            await asyncio.sleep(0)
            is_told = any(p.function_response for c in llm_request.contents for p in c.parts)
            answer = final("{{claim:0}}", value=number)
            parts = [types.Part(text=answer)] if is_told else calling("reading", number=number)
            yield LlmResponse(content=types.Content(role="model", parts=parts))

    app = App(gate(LlmAgent(name="a", model=Echo(), tools=[reading])))

    async def talk() -> list[str]:
        runs = [app.events(f"Site {i}", session=str(i)) for i in range(1, 21)]
        return [said(events) for events in await asyncio.gather(*runs)]

    assert asyncio.run(talk()) == [f"{i}.00 kWh" for i in range(1, 21)]


def test_a_restart_forgets_nothing() -> None:
    first = App(made(calling(), "Warm."))
    first.ask()
    later = App(
        made(calling(call_id="call_2"), final("{{claim:0}}", "tc_2"), final("{{claim:0}}", "call_1")),
        first.service,
    )
    assert later.ask() == later.ask() == "12.50 kWh"


def test_one_session_for_two_conversations_is_told() -> None:
    app = App(made(calling(), "Warm.", "Warm.", option=Session()))
    app.ask(session="ada")
    with pytest.raises(GLError, match="SESSION_SHARED"):
        app.ask(session="bob")
    sessions: dict[str, Session] = {}
    option = lambda context: sessions.setdefault(context.session.id, Session())  # noqa: E731
    assert App(made(calling(), final("{{claim:0}}"), option=option)).ask(session="ada") == "12.50 kWh"
    assert sessions["ada"].count == 1


def test_a_stream_shows_what_was_checked_by_sentences() -> None:
    mode = {"run_config": RunConfig(streaming_mode=StreamingMode.SSE)}
    thinking = [
        types.Part(text="Maybe 13 kWh?", thought=True),
        types.Part(text=final("It is warm. It uses {{claim:0}}. Fine?")),
    ]
    app = App(made(calling(), NAKED, thinking))
    events = asyncio.run(app.events(**mode))
    chunks = [said([event]) for event in events if event.partial]
    assert "".join(chunks) == "It is warm. It uses 12.50 kWh. Fine?" and len(chunks) >= 3
    assert "It uses 13" not in str(events)
    for second, end in (("It is warm. It is dry.", "It is dry."), ("It is cold.", "\n\nIt is cold.")):
        events = asyncio.run(App(made("It is warm. It uses 13 kWh.", second)).events(**mode))
        chunks = [said([event]) for event in events if event.partial]
        assert "".join(chunks) == f"It is warm. {end}" and said(events) == second
    events = asyncio.run(App(made(*[NAKED] * 3)).events(**mode))
    assert [said([event]) for event in events] == [REFUSED, REFUSED] and "13 kWh" not in str(events)


def test_nothing_is_lost() -> None:
    picture = types.Part(inline_data=types.Blob(data=b"x", mime_type="image/png"))

    def quantity() -> Any:
        """A reading of our own."""
        return {"heat": Quantity(12.5, "kWh")}

    answer = [types.Part(text=final("{{claim:0}}")), picture]
    events = asyncio.run(App(made(calling("quantity"), NAKED, answer, tools=[quantity])).events())
    last = events[-1]
    assert last.content.parts[0].text == "12.50 kWh" and last.content.parts[1] == picture
    assert last.usage_metadata.total_token_count == 10 and last.custom_metadata["own"] == "mark"
    noted = App(made([types.Part(text="I look, 13 kWh."), *calling()], final("{{claim:0}}")))
    assert noted.ask() == "12.50 kWh" and "13 kWh" not in str(noted.stored())


def test_a_tool_that_is_asked_in_other_units_or_gives_bare_numbers() -> None:
    def heat_of(area_m2: float) -> Any:
        """The heat of an area."""
        return {"heat": {"value": area_m2, "unit": "kWh"}}

    app = App(made(calling("heat_of", area_m2={"value": 5, "unit": "kWh"}), "Warm.", tools=[heat_of]))
    app.ask()
    assert "ARGUMENT_UNIT" in str(app.stored().events[2].content)

    def bare() -> Any:
        """A bare number."""
        return 5

    app = App(made(calling("bare"), "Warm.", tools=[bare]))
    assert app.ask() == "Warm." and "RESULT_SCHEMA" in str(app.stored().events[2].content)


@pytest.mark.parametrize("way", ["tool", "text"])
def test_structured_answers_have_the_tools_own_quantities(way: str) -> None:
    def answer(data: Any) -> Any:
        return calling("set_model_response", "s", **data) if way == "tool" else json.dumps(data)

    script = [calling(), answer(BAD), answer(GOOD)]
    app = App(made(*script, output_schema=Answer, output_key="answer"))
    read = json.loads(app.ask())
    assert read == {"heat": HEAT["heat"], "note": "It uses 12.50 kWh.", "stars": 5}
    assert app.stored().state["answer"] == {
        "heat": Quantity(12.5, "kWh").to_dict(),
        **{k: read[k] for k in ("note", "stars")},
    }
    assert "13 kWh" not in str(app.stored())
    with pytest.raises(GLError):
        App(made(calling(), *[answer(BAD)] * 3, output_schema=Answer)).ask()
    with pytest.raises(TypeError, match="Rated.rating is a bare float"):
        made(output_schema=Rated)


def test_agents_among_tools_in_turn_and_handed_over_to() -> None:
    expert = bare_agent(calling(), NAKED, final("It uses {{claim:0}}."), name="expert")
    told = final("So {{claim:0}}.", "tc_2", path="$.numbers.heat")
    boss = made(calling("expert", request="How?"), NAKED, told, tools=[AgentTool(expert)])
    app = App(boss)
    assert app.ask() == "So 12.50 kWh." and "13 kWh" not in str(app.stored())
    one = bare_agent(calling(), NAKED, final("It uses {{claim:0}}."), name="one")
    two = bare_agent(NAKED, final("Indeed {{claim:0}}."), name="two")
    app = App(gate(SequentialAgent(name="both", sub_agents=[one, two])))
    assert app.ask() == "Indeed 12.50 kWh." and "13 kWh" not in str(app.stored())
    child = bare_agent(calling(), NAKED, final("It uses {{claim:0}}."), name="child")
    head = bare_agent(calling("transfer_to_agent", agent_name="child"), name="head", sub_agents=[child])
    app = App(gate(head))
    assert app.ask() == "It uses 12.50 kWh." and "13 kWh" not in str(app.stored())


@pytest.mark.parametrize("way", ["tool", "single_turn", "task"])
def test_the_request_to_a_sub_agent_is_no_user_s_word(way: Any) -> None:
    ends = calling("finish_task", "f", result="Warm.") if way == "task" else "Warm."
    options: Any = {} if way == "tool" else {"mode": way, "description": "Knows."}
    expert = bare_agent(calling(), ends, name="expert", **options)
    where: Any = {"tools": [AgentTool(expert)]} if way == "tool" else {"tools": [], "sub_agents": [expert]}
    session = Session()
    App(made(calling("expert", request="For 500 m2?"), "Well.", option=session, **where)).ask(
        "I have 400 m2."
    )
    assert session.has_calls
    assert (origin(session, 500), origin(session, 400)) == ("none", "user")


def test_a_model_calculates_with_what_it_cites() -> None:
    agent = made(calling(), calling("calculate", "call_2", **TWICE), SUM, tools=[meter, calculate])
    assert App(agent).ask() == "It is 25.00 kWh."


def test_copies_of_an_agent_and_a_model_that_it_is_given_later_are_gated() -> None:
    script = [NAKED, final("It uses {{claim:0}}.")]
    other = Script(script=[calling(), *script], asked=[])
    agent = made(calling(), *script)
    assert App(copy.deepcopy(agent)).ask() == "It uses 12.50 kWh."
    assert App(agent.clone(update={"model": other})).ask() == "It uses 12.50 kWh."
    agent.model = Script(script=[calling(), *script], asked=[])
    assert App(agent).ask() == "It uses 12.50 kWh."

"""The gate around agents of pydantic-ai: sessions, streams, structured answers, and all that must stay as it was."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import date
from enum import Enum
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic import BaseModel
from pydantic_ai import (
    Agent,
    BinaryContent,
    DeferredToolRequests,
    RunContext,
    TextOutput,
    ToolOutput,
    ToolReturn,
)
from pydantic_ai.agent import WrapperAgent
from pydantic_ai.exceptions import UnexpectedModelBehavior, UserError
from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.usage import RequestUsage

from gllint_runtime import Claimed, ClaimedText, GLError, Quantity, Session, Unclaimed
from gllint_runtime.adapters import current_session
from gllint_runtime.adapters.pydantic_ai import GatedToolset, gate, output_check


def claims_gate(target: Any, **options: Any) -> Any:
    return gate(target, mode=None if options.get("session") is not None else "claims", **options)


HEAT = {"heat": {"value": 12.5, "unit": "kWh"}}
CLAIM = {"source_call_id": "tc_1", "path": "$.heat", "quantity": HEAT["heat"]}
NAKED = "It uses 13 kWh."


def final(message: str, call_id: str = "tc_1", path: str = "$.heat") -> str:
    return json.dumps({"claims": [{**CLAIM, "source_call_id": call_id, "path": path}], "message": message})


def says(*script: Any) -> FunctionModel:
    """A model that says what it is told to: texts, or calls of tools as pairs of name and arguments."""
    left = iter(script)

    def part(item: Any) -> Any:
        return TextPart(item) if isinstance(item, str) else ToolCallPart(*item)

    def answer(messages: Any, info: Any) -> ModelResponse:
        item = next(left)
        if callable(item):
            item = item(info)
        return item if isinstance(item, ModelResponse) else ModelResponse([part(item)])

    async def stream(messages: Any, info: Any) -> Any:
        item = next(left)
        if isinstance(item, str):
            for i in range(0, len(item), 5):
                yield item[i : i + 5]
        else:
            yield {0: DeltaToolCall(name=item[0], json_args=json.dumps(item[1]), tool_call_id="call_1")}

    return FunctionModel(answer, stream_function=stream)


def meter(site: str = "north") -> dict[str, Any]:
    """The heat that a site used."""
    return HEAT


CALL = ("meter", {})


def made(*script: Any, tools: Any = (meter,), option: Any = None, **options: Any) -> Any:
    return claims_gate(Agent(says(*script), tools=tools, **options), session=option)


def test_a_made_up_number_is_stopped_and_mended() -> None:
    result = made(CALL, NAKED, final("It uses {{claim:0}}.")).run_sync("How much?")
    assert result.output == "It uses 12.50 kWh."
    assert "13 kWh" not in str(result.all_messages()) and len(result.all_messages()) == 4
    (told,) = [p for m in result.all_messages() for p in m.parts if isinstance(p, ToolReturnPart)]
    assert told.content == {"tool_call_id": "tc_1", "output": HEAT}


def test_where_repairs_run_out() -> None:
    assert made(*[NAKED] * 3).run_sync("How?").output == "I cannot give a verified answer to that."
    agent = Agent(says(*[NAKED] * 3))
    assert claims_gate(agent, max_retries=0, on_refusal="No.").run_sync("How?").output == "No."
    assert (
        claims_gate(agent, max_retries=1, on_refusal=lambda e: e.code).run_sync("How?").output
        == "NO_NAKED_NUMBERS"
    )
    with pytest.raises(TypeError, match="an agent of pydantic-ai"):
        claims_gate(5)  # type: ignore[arg-type]


def test_a_model_that_the_run_names_is_gated_too() -> None:
    result = made("Never.").run_sync("How?", model=says(NAKED, "It is warm."))
    assert result.output == "It is warm."


@pytest.mark.parametrize("method", ["stream_text", "delta", "stream_output", "events", "handler", "iter"])
@pytest.mark.parametrize("script", [(NAKED, "It is warm. It is dry."), (NAKED,) * 3])
def test_no_stream_shows_what_was_not_checked(method: str, script: Any) -> None:
    shown: list[Any] = []

    async def note(ctx: Any, events: Any) -> None:
        async for event in events:
            shown.append(event)

    async def main() -> None:
        agent = made(CALL, *script)
        if method == "events":
            async with agent.run_stream_events("How?") as events:
                async for event in events:
                    shown.append(event)
        elif method == "handler":
            await agent.run("How?", event_stream_handler=note)
        elif method == "iter":
            async with agent.iter("How?") as run:
                async for node in run:
                    if Agent.is_model_request_node(node):
                        async with node.stream(run.ctx) as stream:
                            async for event in stream:
                                shown.append(event)
        else:
            async with agent.run_stream("How?") as answer:
                stream = (
                    answer.stream_output()
                    if method == "stream_output"
                    else answer.stream_text(delta=method == "delta", debounce_by=None)
                )
                async for text in stream:
                    shown.append(text)
                shown.append(answer.all_messages())

    asyncio.run(main())
    assert shown and not re.search("es 13|13 kWh", str(shown))
    assert "kWh" not in "".join(item for item in shown if isinstance(item, str))


def test_a_stream_comes_by_sentences() -> None:
    async def main() -> list[str]:
        agent = made(CALL, final("It is warm. It uses {{claim:0}}. Is that fine?"))
        async with agent.run_stream("How?") as answer:
            return [text async for text in answer.stream_text(delta=True, debounce_by=None)]

    shown = asyncio.run(main())
    assert "".join(shown) == "It is warm. It uses 12.50 kWh. Is that fine?" and len(shown) >= 3


def test_each_conversation_has_its_own_numbers() -> None:
    cited = final("{{claim:0}}")
    agent = made(CALL, cited, cited, cited, cited)
    first = agent.run_sync("How?")
    assert first.output == "12.50 kWh" and current_session() is None
    assert "12" not in agent.run_sync("How?").output


def test_a_restart_forgets_nothing() -> None:
    stored = made(CALL, "It is warm.").run_sync("How?").all_messages_json()
    history = ModelMessagesTypeAdapter.validate_json(stored)
    call_id = next(p.tool_call_id for m in history for p in m.parts if isinstance(p, ToolCallPart))
    for cited in ("tc_1", call_id):
        assert (
            made(final("{{claim:0}}", cited)).run_sync("So?", message_history=history).output == "12.50 kWh"
        )
    later = made(CALL, final("{{claim:0}}", "tc_2")).run_sync("And?", message_history=history)
    assert later.output == "12.50 kWh"


def test_one_session_for_two_conversations_is_told() -> None:
    agent = made(CALL, "Warm.", "Warm.", "Warm.", option=Session())
    history = agent.run_sync("How?").all_messages()
    assert agent.run_sync("So?", message_history=history).output == "Warm."
    with pytest.raises(GLError, match="SESSION_SHARED"):
        agent.run_sync("How?")
    session = Session()
    plain = Agent(says(CALL, "Warm.", "Warm."), toolsets=[])
    plain = Agent(says(CALL, "Warm.", "Warm."), toolsets=[GatedToolset(_toolset(), session)])
    plain.output_validator(output_check(session))
    plain.run_sync("How?")
    with pytest.raises(GLError, match="SESSION_SHARED"):
        plain.run_sync("How?")


def _toolset() -> Any:
    from pydantic_ai import FunctionToolset

    return FunctionToolset([meter])


def test_the_parts_find_the_session_of_a_conversation_by_themselves() -> None:
    agent = Agent(
        says(CALL, final("{{claim:0}}"), *[final("{{claim:0}}")] * 2), toolsets=[GatedToolset(_toolset())]
    )
    agent.output_validator(output_check())
    assert agent.run_sync("How?").output == "12.50 kWh"
    with pytest.raises(UnexpectedModelBehavior):
        agent.run_sync("How?")


def test_a_function_finds_the_session() -> None:
    sessions: dict[str, Session] = {}
    agent = made(
        CALL, final("{{claim:0}}"), option=lambda ctx: sessions.setdefault(ctx.deps, Session()), deps_type=str
    )
    assert agent.run_sync("How?", deps="ada").output == "12.50 kWh"
    assert sessions["ada"].next_id() == "tc_2"


def test_nothing_is_lost() -> None:
    thought = ThinkingPart("let me see")
    answer = ModelResponse(
        [thought, TextPart("It is warm.", id="t1")],
        usage=RequestUsage(input_tokens=3, output_tokens=4),
        provider_details={"finish_reason": "stop"},
        finish_reason="stop",
        provider_response_id="r1",
    )
    refused = ModelResponse([TextPart(NAKED)], usage=RequestUsage(input_tokens=1, output_tokens=1))
    last = made(refused, answer).run_sync("How?").all_messages()[-1]
    assert last.parts == answer.parts and last.usage == RequestUsage(input_tokens=4, output_tokens=5)
    assert (last.finish_reason, last.provider_response_id, last.provider_details) == (
        "stop",
        "r1",
        {"finish_reason": "stop"},
    )


def test_what_tools_return_beside_data_stays() -> None:
    picture = BinaryContent(b"x", media_type="image/png")

    def told(value: Any, answer: str = "Well.") -> Any:
        def chart() -> Any:
            """Draws."""
            return value

        result = made(("chart", {}), answer, tools=[chart]).run_sync("How?")
        parts = [p for m in result.all_messages() for p in m.parts if isinstance(p, ToolReturnPart)]
        return parts[0], result.output

    assert told(picture)[0].content == picture
    part, output = told([HEAT, picture], final("{{claim:0}}"))
    assert part.content == [{"tool_call_id": "tc_1", "output": HEAT}, picture] and output == "12.50 kWh"
    part, output = told(ToolReturn(HEAT, metadata={"rows": 5}), final("{{claim:0}}"))
    assert part.metadata == {"rows": 5} and output == "12.50 kWh"


def test_a_supervisor_repeats_the_number_of_its_sub_agent() -> None:
    inner = made(CALL, final("It uses {{claim:0}}."))

    async def expert() -> str:
        """Asks the expert."""
        assert current_session() is not None
        return str((await inner.run("How?")).output)

    told = final("So it is {{claim:0}}.", "tc_2", "$.numbers.heat")
    result = made(("expert", {}), told, tools=[expert]).run_sync("How?")
    assert result.output == "So it is 12.50 kWh."
    again = made(told).run_sync("So?", message_history=result.all_messages())
    assert again.output == "So it is 12.50 kWh."


def origin(session: Session, number: float) -> str:
    """Where a session thinks that a number in a tool's arguments comes from."""
    (origin,) = session.tool_arguments("scaled", {"area": number}).origins or ()
    return origin.kind


@pytest.mark.parametrize("own", [False, True])
def test_the_task_of_a_sub_agent_is_no_user_s_word(own: bool) -> None:
    """Nor where the sub-agent has a session of its own, which hears the user as the one around it did."""
    inner_session = Session()
    inner = made(CALL, "Warm.", option=inner_session if own else None)

    async def expert(question: str) -> str:
        """Asks the expert."""
        return str((await inner.run(question)).output)

    session = Session()
    boss = made(("expert", {"question": "For 500 m2?"}), "Well.", tools=[expert], option=session)
    boss.run_sync("I have 400 m2.")
    for one in {session, inner_session} if own else {session}:
        assert one.has_calls
        assert (origin(one, 500), origin(one, 400)) == ("none", "user")


# ---------------------------------------------------------------------------------------- structured answers


class Tone(Enum):
    WARM = "warm"


class Answer(BaseModel):
    heat: Claimed[Quantity]
    note: ClaimedText
    stars: Unclaimed[int, "rating of the answer"] = 0  # noqa: F722


class Plain(BaseModel):
    title: str
    ok: bool
    tone: Tone = Tone.WARM
    day: date | None = None


def filled(**fields: Any) -> Any:
    return lambda info: (info.output_tools[0].name, fields)


NOTE = {"message": "It uses {{claim:0}}.", "claims": [CLAIM]}


def test_a_structured_answer_has_the_tools_own_quantities() -> None:
    session = Session()
    agent = made(CALL, filled(heat=CLAIM, note=NOTE, stars=4), output_type=Answer, option=session)
    answer = agent.run_sync("How?").output
    assert answer.heat == Quantity(12.5, "kWh") and answer.note == "It uses 12.50 kWh." and answer.stars == 4
    assert answer.model_dump()["heat"] == HEAT["heat"]
    assert [e["reason"] for e in session.trace if "unclaimed" in e] == ["rating of the answer"]


@pytest.mark.parametrize(
    "bad",
    [
        {"heat": {**CLAIM, "quantity": {"value": 13, "unit": "kWh"}}, "note": "Well."},
        {"heat": {"value": 12.5, "unit": "kWh"}, "note": "Well."},
        {"heat": CLAIM, "note": "It uses 12.5 kWh."},
        {"heat": CLAIM, "note": {"message": "{{claim:1}}", "claims": [CLAIM]}},
    ],
)
def test_a_structured_answer_that_does_not_hold_is_mended(bad: Any) -> None:
    agent = made(CALL, filled(**bad), filled(heat=CLAIM, note="Well."), output_type=Answer)
    assert agent.run_sync("How?").output.note == "Well."
    with pytest.raises(UnexpectedModelBehavior):
        made(CALL, *[filled(**bad)] * 3, output_type=Answer).run_sync("How?")


def test_models_without_numbers_pass_as_they_are() -> None:
    answer = made(filled(title="Heat", ok=True, day="2024-10-02"), output_type=Plain).run_sync("How?").output
    assert answer == Plain(title="Heat", ok=True, day=date(2024, 10, 2))
    mended = made(filled(title=NAKED, ok=True), filled(title="Heat", ok=True), output_type=Plain).run_sync(
        "How?"
    )
    assert mended.output.title == "Heat"


class Rated(BaseModel):
    rating: float


class Nested(BaseModel):
    rows: list[Rated]


@pytest.mark.parametrize(
    "output", [Rated, Nested, int, list[float], dict[str, int], Rated | None, Quantity, [Plain, Rated]]
)
def test_a_bare_number_is_refused_at_definition(output: Any) -> None:
    with pytest.raises(TypeError, match=r"Claimed\[Quantity\]"):
        made(output_type=output)


def heated(ctx: RunContext[None], heat: float) -> float:
    return heat


def untyped(heat):  # type: ignore[no-untyped-def]
    return heat


def starred(stars: Unclaimed[int, "rating of it"], note: str) -> str:  # noqa: F722
    return note


def shouted(text: str) -> str:
    return text.upper()


def titled(title: str, ok: bool) -> str:
    return title.upper()


@pytest.mark.parametrize("output", [heated, untyped, starred, Any, [Plain, ToolOutput(heated)]])
def test_an_output_function_of_bare_numbers_is_refused_at_definition(output: Any) -> None:
    with pytest.raises(TypeError, match="Unclaimed"):
        made(output_type=output)


def test_what_an_output_function_takes_is_checked() -> None:
    script = (filled(title=NAKED, ok=True), filled(title="Heat", ok=True))
    assert made(*script, output_type=titled).run_sync("How?").output == "HEAT"
    made(output_type=[titled, TextOutput(shouted), DeferredToolRequests])


def test_an_agent_that_has_a_gate_is_not_gated_again() -> None:
    with pytest.raises(TypeError, match="gate it once"):
        claims_gate(WrapperAgent(made()))


def test_a_structured_answer_is_not_streamed() -> None:
    async def main() -> None:
        async with made(("final_result", {}), output_type=Plain).run_stream("How?"):
            pass

    with pytest.raises(UserError, match="is not streamed"):
        asyncio.run(main())


def test_what_a_field_may_be_declared() -> None:
    with pytest.raises(TypeError, match="Claimed"):
        Claimed[int]
    for wrong in (int, (int, ""), (int, 5)):
        with pytest.raises(TypeError, match="Unclaimed"):
            Unclaimed[wrong]
    with pytest.raises(ValueError, match="There is no current session"):
        Answer.model_validate({"heat": CLAIM, "note": "Well."})
    schema = Answer.model_json_schema()
    assert schema["properties"]["heat"]["anyOf"][0]["required"] == ["source_call_id", "path", "quantity"]


def test_a_gated_agent_registers_tools_and_refuses_what_goes_around_the_gate() -> None:
    agent = gate(Agent(says(("reading", {}), "It uses 14 kWh.", "It uses 12.5 kWh.")))

    @agent.tool_plain
    def reading() -> dict[str, Any]:
        """Reads."""
        return {"heat_kwh": 12.5}

    agent.instructions(lambda: "Answer shortly.")
    assert agent.run_sync("How much?").output == "It uses 12.5 kWh."
    with pytest.raises(TypeError, match="to_web.* without its gate"):
        agent.to_web()

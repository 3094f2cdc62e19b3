"""The gate around agents of the OpenAI SDK: sessions, streams, structured answers, and all that must stay as it was."""

from __future__ import annotations

import asyncio
import copy
import gc
import json
from contextlib import suppress
from typing import Any

import pytest

pytest.importorskip("agents")

from agents import (
    Agent,
    AgentHooks,
    AgentOutputSchema,
    AgentsException,
    Model,
    ModelProvider,
    ModelResponse,
    ModelSettings,
    MultiProvider,
    RunConfig,
    Runner,
    SQLiteSession,
    ToolOutputImage,
    ToolOutputText,
    Usage,
    UserError,
    function_tool,
    handoff,
)
from agents.run import get_default_agent_runner, set_default_agent_runner
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseContentPartAddedEvent,
    ResponseContentPartDoneEvent,
    ResponseCreatedEvent,
    ResponseFunctionToolCall,
    ResponseIncompleteEvent,
    ResponseOutputItemAddedEvent,
    ResponseOutputItemDoneEvent,
    ResponseOutputMessage,
    ResponseOutputRefusal,
    ResponseOutputText,
    ResponseRefusalDeltaEvent,
    ResponseRefusalDoneEvent,
    ResponseTextDeltaEvent,
    ResponseTextDoneEvent,
)
from pydantic import BaseModel

from gllint_runtime import Claimed, ClaimedText, GLError, Quantity, Session, calculate
from gllint_runtime.adapters import current_session, kit
from gllint_runtime.adapters.openai_agents import _Agents, gate, gated, run


def claims_gate(target: Any, **options: Any) -> Any:
    return gate(target, mode=None if options.get("session") is not None else "claims", **options)


HEAT = {"heat": {"value": 12.5, "unit": "kWh"}}
CLAIM = {"source_call_id": "tc_1", "path": "$.heat", "quantity": HEAT["heat"]}
NAKED = "It uses 13 kWh."
QUIET = RunConfig(tracing_disabled=True)


def final(message: str, call_id: str = "tc_1", path: str = "$.heat") -> str:
    return json.dumps({"claims": [{**CLAIM, "source_call_id": call_id, "path": path}], "message": message})


def message(text: str, *annotations: Any) -> ResponseOutputMessage:
    content = ResponseOutputText(text=text, type="output_text", annotations=[*annotations])
    return ResponseOutputMessage(
        id="m", content=[content], role="assistant", status="completed", type="message"
    )


def call(name: str, call_id: str = "call_1", **arguments: Any) -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(
        call_id=call_id, name=name, arguments=json.dumps(arguments), type="function_call"
    )


def response_of(item: Any) -> Response:
    """What the model's server says of one item."""
    return Response(
        id="r",
        created_at=0,
        model="m",
        object="response",
        output=[item],
        tool_choice="auto",
        tools=[],
        parallel_tool_calls=True,
    )


class Script(Model):
    """Says what it is told to, by five letters where it is streamed."""

    def __init__(self, *script: Any) -> None:
        self._script = iter(script)
        self.heard: list[Any] = []

    def _next(self, items: Any) -> Any:
        self.heard.append(items)
        item = next(self._script)
        return message(item) if isinstance(item, str) else item

    async def get_response(
        self, system_instructions: Any, input: Any, *arguments: Any, **options: Any
    ) -> ModelResponse:
        usage = Usage(requests=1, input_tokens=2, output_tokens=3, total_tokens=5)
        return ModelResponse(output=[self._next(input)], usage=usage, response_id="r")

    async def stream_response(
        self, system_instructions: Any, input: Any, *arguments: Any, **options: Any
    ) -> Any:
        item = self._next(input)
        whole = response_of(item)
        place: Any = {"item_id": "m", "output_index": 0, "sequence_number": 0}
        yield ResponseCreatedEvent(
            response=whole.model_copy(update={"output": []}), type="response.created", sequence_number=0
        )
        if isinstance(item, ResponseOutputMessage):
            text = item.content[0].text  # type: ignore[union-attr]
            for i in range(0, len(text), 5):
                yield ResponseTextDeltaEvent(
                    delta=text[i : i + 5],
                    content_index=0,
                    logprobs=[],
                    type="response.output_text.delta",
                    **place,
                )
            yield ResponseTextDoneEvent(
                text=text, content_index=0, logprobs=[], type="response.output_text.done", **place
            )
            yield ResponseContentPartDoneEvent(
                part=item.content[0], content_index=0, type="response.content_part.done", **place
            )
        yield ResponseOutputItemDoneEvent(
            item=item, output_index=0, sequence_number=0, type="response.output_item.done"
        )
        yield ResponseCompletedEvent(response=whole, type="response.completed", sequence_number=0)


@function_tool
def meter(site: str = "north") -> dict[str, Any]:
    """The heat that a site used."""
    return HEAT


def made(*script: Any, option: Any = None, tools: Any = (meter,), **options: Any) -> Any:
    return claims_gate(Agent(name="a", tools=[*tools], model=Script(*script), **options), session=option)


def ask(agent: Any, text: Any = "How much?", **options: Any) -> Any:
    return asyncio.run(Runner.run(agent, text, run_config=options.pop("run_config", QUIET), **options))


def test_a_made_up_number_is_stopped_and_mended() -> None:
    result = ask(made(call("meter"), NAKED, final("It uses {{claim:0}}.")))
    assert result.final_output == "It uses 12.50 kWh."
    items = result.to_input_list()
    assert "13 kWh" not in str(items) and len(items) == 4
    assert json.loads(items[2]["output"]) == {"tool_call_id": "tc_1", "output": HEAT}
    assert result.context_wrapper.usage.requests == 3 and result.context_wrapper.usage.output_tokens == 9


def test_where_repairs_run_out() -> None:
    assert ask(made(*[NAKED] * 3)).final_output == "I cannot give a verified answer to that."
    agent = Agent(name="a", model=Script(*[NAKED] * 3))
    assert ask(claims_gate(agent, max_retries=0, on_refusal="No.")).final_output == "No."
    assert (
        ask(claims_gate(agent, max_retries=1, on_refusal=lambda e: e.code)).final_output == "NO_NAKED_NUMBERS"
    )
    with pytest.raises(TypeError, match="gate takes an Agent"):
        claims_gate(5)  # type: ignore[arg-type]


def test_options_that_no_gate_has_are_told() -> None:
    agent = Agent(name="a", model=Script())
    with pytest.raises(ValueError, match="max_retries is a whole number from 0, not -1"):
        gate(agent, max_retries=-1)
    with pytest.raises(TypeError, match=r"no option levels=.*session=lambda context: Session\("):
        gate(agent, levels="shadow")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="gate it once"):
        gate(gate(agent))


@pytest.mark.parametrize("level", ["warn", "shadow"])
def test_a_violation_of_a_gated_run_is_read_from_events_or_the_trace(level: Any) -> None:
    """As docs/gate/README.md says."""
    events: list[Any] = []
    sessions: list[Session] = []

    def session_of(context: Any) -> Session:
        sessions.append(session := Session(mode="sourced", levels=level))
        session.on_event(events.append)
        return session

    agent = gate(Agent(name="a", model=Script("It uses 99 kWh.")), session=session_of)
    assert ask(agent).final_output == "It uses 99 kWh."
    assert {event["code"] for event in events} == ({"NO_SOURCE"} if level == "warn" else set())
    assert {entry.get("code") for session in sessions for entry in session.trace} == {"NO_SOURCE"}


@pytest.mark.parametrize("streams", [False, True])
def test_an_answer_of_a_model_that_the_run_names_is_checked_at_its_end(streams: bool) -> None:
    async def main(text: str) -> tuple[Any, list[Any]]:
        store, model = SQLiteSession("ada"), Script(text)
        options: Any = {"run_config": RunConfig(tracing_disabled=True, model=model), "session": store}
        answer = None
        with suppress(GLError):
            if streams:
                result: Any = Runner.run_streamed(made("Never."), "How?", **options)
                [event async for event in result.stream_events()]
            else:
                result = await Runner.run(made("Never."), "How?", **options)
            answer = result.final_output
        return answer, await store.get_items()

    answer, items = asyncio.run(main(NAKED))
    assert answer is None and "13 kWh" not in str(items)
    assert asyncio.run(main("Warm."))[0] == "Warm."


@pytest.mark.parametrize("option", ["conversation_id", "previous_response_id"])
@pytest.mark.parametrize("streams", [False, True])
def test_a_conversation_that_the_server_stores_is_gated(option: str, streams: bool) -> None:
    model = Script(call("meter"), "It uses 14 kWh.", "It uses 12.5 kWh.")
    agent = gate(Agent(name="a", tools=[meter], model=model))

    async def main() -> Any:
        options: Any = {option: "stored", "run_config": QUIET}
        if not streams:
            return await Runner.run(agent, "How?", **options)
        result = Runner.run_streamed(agent, "How?", **options)
        [event async for event in result.stream_events()]
        return result

    assert asyncio.run(main()).final_output == "It uses 12.5 kWh."
    # The server has what was said before: only the hint is sent to it.
    assert [len(items) for items in model.heard] == [1, 1, 1] and "NO_SOURCE" in str(model.heard[2])


def test_an_agent_with_a_model_needs_no_runner_of_the_gate() -> None:
    before = get_default_agent_runner()
    set_default_agent_runner(None)
    try:
        own = get_default_agent_runner()
        assert ask(made(call("meter"), NAKED, "Well.")).final_output == "Well."
        assert get_default_agent_runner() is own
    finally:
        set_default_agent_runner(before)


class Provider(ModelProvider):
    """Notes the names that it is asked for."""

    def __init__(self, *script: Any) -> None:
        self.model, self.names = Script(*script), list[str | None]()

    def get_model(self, model_name: str | None) -> Model:
        self.names.append(model_name)
        return self.model


@pytest.mark.parametrize("name", ["gpt-x", None])
@pytest.mark.parametrize("form", ["run", "run_sync", "run_streamed", "mapping"])
def test_a_model_by_name_comes_from_the_provider_of_the_run(
    name: str | None, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MultiProvider, "get_model", lambda self, name: pytest.fail("the default provider"))
    agent = gate(Agent(name="a", model=name, tools=[meter]))
    for _ in range(2):  # the provider of one run is not that of the next
        provider = Provider(call("meter"), "It uses 14 kWh.", "It uses 12.5 kWh.")
        config: Any = {"tracing_disabled": True, "model_provider": provider}
        if form != "mapping":
            config = RunConfig(**config)
        if form == "run_sync":
            result: Any = Runner.run_sync(agent, "How?", run_config=config)
        elif form == "run_streamed":

            async def main(config: Any = config) -> Any:
                result = Runner.run_streamed(agent, "How?", run_config=config)
                [event async for event in result.stream_events()]
                return result

            result = asyncio.run(main())
        else:
            result = ask(agent, run_config=config)
        assert result.final_output == "It uses 12.5 kWh." and len(provider.model.heard) == 3
        assert set(provider.names) == {name}


def test_a_model_by_name_without_a_provider_of_the_run_is_the_default_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    provider = Provider("Well.")
    monkeypatch.setattr(MultiProvider, "get_model", lambda self, name: provider.get_model(name))
    agent = gate(Agent(name="a", model="gpt-x"))
    assert ask(agent, run_config={"tracing_disabled": True}).final_output == "Well."
    assert set(provider.names) == {"gpt-x"}


@pytest.mark.parametrize("name", ["gpt-5", "gpt-4o", None])
def test_a_model_by_name_gets_its_own_settings(name: str | None) -> None:
    class Heard(Script):
        async def get_response(
            self, system_instructions: Any, input: Any, model_settings: Any, *rest: Any, **options: Any
        ) -> Any:
            heard.append(model_settings)
            return await super().get_response(system_instructions, input)

    heard: list[ModelSettings] = []
    plain = Agent(name="a", model=name)
    for agent in (plain, gate(plain)):
        provider = Provider()
        provider.model = Heard("Well.")
        settings = ModelSettings(temperature=0.5)
        ask(
            agent,
            run_config=RunConfig(tracing_disabled=True, model_provider=provider, model_settings=settings),
        )
    assert heard[0] == heard[1] and heard[1].temperature == 0.5
    assert (heard[1].verbosity == "low") is (name != "gpt-4o")


def test_a_sub_agent_has_the_provider_of_its_own_run() -> None:
    inner, outer = Provider("Warm."), Provider(call("expert", input="How?"), "Well.")
    expert = gate(Agent(name="expert", model="small")).as_tool(
        "expert", "Asks.", run_config=RunConfig(tracing_disabled=True, model_provider=inner)
    )
    agent = gate(Agent(name="a", model="large", tools=[expert]))
    result = ask(agent, run_config=RunConfig(tracing_disabled=True, model_provider=outer))
    assert result.final_output == "Well."
    assert (set(inner.names), set(outer.names)) == ({"small"}, {"large"})


def test_a_runner_that_was_set_after_the_gate_is_told() -> None:
    agent = gate(Agent(name="a", model="gpt-x"))
    before = get_default_agent_runner()
    set_default_agent_runner(None)
    try:
        with pytest.raises(UserError, match="Call gate after that"):
            ask(agent)
        assert ask(made("Well.")).final_output == "Well."
    finally:
        set_default_agent_runner(before)


def refusing(text: str) -> ResponseOutputMessage:
    content = ResponseOutputRefusal(refusal=text, type="refusal")
    return message("").model_copy(update={"content": [content]})


class Events(Model):
    """Streams what it is told to."""

    def __init__(self, *script: list[Any]) -> None:
        self._script = iter(script)

    async def get_response(self, *arguments: Any, **options: Any) -> ModelResponse:
        raise NotImplementedError

    async def stream_response(self, *arguments: Any, **options: Any) -> Any:
        for event in next(self._script):
            yield event


PLACE: Any = {"item_id": "m", "output_index": 0, "sequence_number": 0, "content_index": 0}


def ending(kind: type[Any], name: str, item: Any) -> Any:
    return kind(response=response_of(item), sequence_number=0, type=f"response.{name}")


def refusal_events(text: str) -> list[Any]:
    item = refusing(text)
    part: Any = item.content[0]
    return [
        ResponseRefusalDeltaEvent(delta=text, type="response.refusal.delta", **PLACE),
        ResponseRefusalDoneEvent(refusal=text, type="response.refusal.done", **PLACE),
        ResponseContentPartDoneEvent(part=part, type="response.content_part.done", **PLACE),
        ending(ResponseCompletedEvent, "completed", item),
    ]


def events_of(*script: list[Any]) -> tuple[list[Any], str]:
    """What a run shows, and how it ended."""

    async def main() -> tuple[list[Any], str]:
        agent = claims_gate(Agent(name="a", model=Events(*script)), max_retries=1)
        result = Runner.run_streamed(agent, "How?", run_config=QUIET)
        shown = []
        try:
            async for event in result.stream_events():
                shown.append(event)
        except AgentsException as error:
            return shown, str(error)
        return shown, str(result.final_output)

    return asyncio.run(main())


def test_with_what_words_a_model_refuses_is_checked() -> None:
    with pytest.raises(AgentsException, match="I cannot give a verified answer"):
        ask(made(*[refusing(NAKED)] * 3))
    with pytest.raises(AgentsException, match="I will not say that"):
        ask(made(refusing(NAKED), refusing("I will not say that.")))
    shown, end = events_of(refusal_events(NAKED), refusal_events("I will not."))
    assert "13 kWh" not in str(shown) and end.endswith(": I will not.")
    whole = [getattr(getattr(event, "data", None), "refusal", None) for event in shown]
    assert [text for text in whole if text] == ["I will not."]


def test_no_event_tells_a_text_before_it_is_checked() -> None:
    item = message(NAKED)
    part: Any = item.content[0]
    begins = [
        ResponseOutputItemAddedEvent(
            item=item, output_index=0, sequence_number=0, type="response.output_item.added"
        ),
        ResponseContentPartAddedEvent(part=part, type="response.content_part.added", **PLACE),
    ]
    script = [*begins, ending(ResponseCompletedEvent, "completed", item)]
    shown, end = events_of(script, script)
    assert "13 kWh" not in str(shown) and end == "I cannot give a verified answer to that."
    shown, end = events_of([*begins, ending(ResponseIncompleteEvent, "incomplete", item)])
    assert "13 kWh" not in str(shown) and "response.incomplete" in end


@pytest.mark.parametrize("script", [(NAKED, "It is warm. It is dry."), (NAKED,) * 3])
def test_no_stream_shows_what_was_not_checked(script: Any) -> None:
    async def main() -> tuple[list[Any], Any]:
        result = Runner.run_streamed(made(call("meter"), *script), "How?", run_config=QUIET)
        return [event async for event in result.stream_events()], result

    shown, result = asyncio.run(main())
    assert "es 13" not in str(shown) and "13 kWh" not in str(shown) + str(result.to_input_list())
    deltas = "".join(
        e.data.delta
        for e in shown
        if getattr(getattr(e, "data", 0), "type", "") == "response.output_text.delta"
    )
    assert deltas == result.final_output != ""
    ends = [
        e.data.text
        for e in shown
        if getattr(getattr(e, "data", 0), "type", "") == "response.output_text.done"
    ]
    assert ends == [result.final_output]


def test_a_stream_comes_by_sentences() -> None:
    async def main() -> list[str]:
        answer = final("It is warm. It uses {{claim:0}}. Is that fine?")
        result = Runner.run_streamed(made(call("meter"), answer), "How?", run_config=QUIET)
        return [
            e.data.delta
            async for e in result.stream_events()
            if getattr(getattr(e, "data", 0), "type", "") == "response.output_text.delta"
        ]

    shown = asyncio.run(main())
    assert "".join(shown) == "It is warm. It uses 12.50 kWh. Is that fine?" and len(shown) >= 3


def test_each_conversation_has_its_own_numbers() -> None:
    cited = final("{{claim:0}}")
    agent = made(call("meter"), cited, cited, cited, cited)
    assert ask(agent).final_output == "12.50 kWh" and current_session() is None
    assert "12" not in ask(agent).final_output


def test_a_restart_forgets_nothing() -> None:
    async def main() -> list[str]:
        store = SQLiteSession("ada")
        await Runner.run(made(call("meter"), "It is warm."), "How?", run_config=QUIET, session=store)
        later = made(
            final("{{claim:0}}"),
            final("{{claim:0}}", "call_1"),
            call("meter", "call_2"),
            final("{{claim:0}}", "tc_2"),
        )
        answers = [await Runner.run(later, "So?", run_config=QUIET, session=store) for _ in range(3)]
        assert "13 kWh" not in str(await store.get_items())
        return [answer.final_output for answer in answers]

    assert asyncio.run(main()) == ["12.50 kWh"] * 3
    items = ask(made(call("meter"), "It is warm.")).to_input_list()
    assert (
        ask(made(final("{{claim:0}}")), [*items, {"role": "user", "content": "So?"}]).final_output
        == "12.50 kWh"
    )


def test_one_session_for_two_conversations_is_told() -> None:
    agent = made(call("meter"), "Warm.", "Warm.", "Warm.", option=Session())
    items = ask(agent).to_input_list()
    assert ask(agent, [*items, {"role": "user", "content": "So?"}]).final_output == "Warm."
    with pytest.raises(GLError, match="SESSION_SHARED"):
        ask(agent)
    session = Session()
    plain = Agent(name="a", tools=[gated(meter, session)], model=Script(call("meter"), "Warm.", "Warm."))
    asyncio.run(run(plain, "How?", session, run_config=QUIET))
    with pytest.raises(GLError, match="SESSION_SHARED"):
        asyncio.run(run(plain, "How?", session, run_config=QUIET))


def test_an_answer_goes_on_with_a_conversation_whose_session_was_filled_before() -> None:
    session = Session()
    session.record("search", {}, HEAT)
    items = ask(made("Hello.", option=session)).to_input_list()
    items.append({"role": "user", "content": "So?"})
    assert ask(made("Warm.", option=session), items).final_output == "Warm."
    plain = Agent(name="a", model=Script("Cold."))
    assert asyncio.run(run(plain, items, session, run_config=QUIET)).message == "Cold."


@pytest.mark.parametrize("role", ["system", "developer"])
def test_what_a_prompt_among_the_items_says_is_a_source(role: str) -> None:
    items = [{"role": role, "content": "Our limit is 37.5 kWh."}, {"role": "user", "content": "What is it?"}]
    agent = gate(Agent(name="a", model=Script("The limit is 37.5 kWh.")), max_retries=0)
    assert ask(agent, items).final_output == "The limit is 37.5 kWh."


def test_a_function_finds_the_session_and_hooks_stay() -> None:
    sessions: dict[str, Session] = {}
    heard: list[str] = []

    class Hooks(AgentHooks[Any]):
        async def on_start(self, context: Any, agent: Any) -> None:
            heard.append("start")

        async def on_llm_start(self, *arguments: Any) -> None:
            heard.append("llm")

    agent = made(
        call("meter"),
        final("{{claim:0}}"),
        option=lambda ctx: sessions.setdefault(ctx.context, Session()),
        hooks=Hooks(),
    )
    assert ask(agent, context="ada").final_output == "12.50 kWh"
    assert sessions["ada"].next_id() == "tc_2" and heard == ["start", "llm", "llm"]


def test_nothing_is_lost() -> None:
    cited = {
        "type": "url_citation",
        "url": "https://example.org",
        "title": "t",
        "start_index": 0,
        "end_index": 2,
    }
    result = ask(made(call("meter"), message(final("{{claim:0}}"), cited)))
    (part,) = result.raw_responses[-1].output[0].content
    assert part.text == "12.50 kWh" and part.annotations[0].url == "https://example.org"
    assert result.raw_responses[-1].response_id == "r"


def test_what_tools_return_beside_data_stays() -> None:
    picture = ToolOutputImage(image_url="https://example.org/a.png")

    def told(value: Any, answer: str = "Well.") -> Any:
        @function_tool
        def chart() -> Any:
            """Draws."""
            return value

        result = ask(made(call("chart"), answer, tools=[chart]))
        return result.to_input_list()[2]["output"], result.final_output

    assert told(picture)[0][0]["image_url"] == picture.image_url
    output, answer = told([ToolOutputText(text=json.dumps(HEAT)), picture], final("{{claim:0}}"))
    assert (
        json.loads(output[0]["text"])["output"] == HEAT and output[1]["image_url"] and answer == "12.50 kWh"
    )


def test_a_supervisor_repeats_the_number_of_its_sub_agent() -> None:
    inner = made(call("meter"), final("It uses {{claim:0}}."))
    expert = inner.as_tool("expert", "Asks the expert.")
    told = final("So it is {{claim:0}}.", "tc_2", "$.numbers.heat")
    result = ask(made(call("expert", input="How?"), told, tools=[expert]))
    assert result.final_output == "So it is 12.50 kWh."
    later = made(told)
    assert (
        ask(later, [*result.to_input_list(), {"role": "user", "content": "So?"}]).final_output
        == "So it is 12.50 kWh."
    )


def test_the_task_of_a_sub_agent_is_no_user_s_word() -> None:
    session = Session()
    expert = made(call("meter"), "Warm.").as_tool("expert", "Asks the expert.")
    boss = made(call("expert", input="For 500 m2?"), "Well.", tools=[expert], option=session)
    ask(boss, "I have 400 m2.")
    kinds = {
        number: [o.kind for o in session.tool_arguments("scaled", {"area": number}).origins or ()]
        for number in (500, 400)
    }
    assert session.next_id() == "tc_3" and kinds == {500: ["none"], 400: ["user"]}


@pytest.mark.parametrize("form", ["agent", "handoff"])
def test_an_agent_that_is_handed_over_to_is_gated_and_has_the_session(form: str) -> None:
    expert = Agent(name="expert", model=Script(NAKED, final("It uses {{claim:0}}.")))
    to = handoff(expert) if form == "handoff" else expert
    result = ask(made(call("meter"), call("transfer_to_expert", "call_2"), handoffs=[to]))
    assert result.final_output == "It uses 12.50 kWh." and "13 kWh" not in str(result.to_input_list())
    one, other = Agent(name="one", model=Script("Well.")), Agent(name="other")
    one.handoffs, other.handoffs = [other], [one]
    assert ask(claims_gate(one)).final_output == "Well."


def test_an_agent_that_is_gone_leaves_nothing_behind() -> None:
    """Agents that a hand-off makes anew each time: another one may come to stand where one stood in memory."""
    gates = _Agents(kit.Gate())
    gc.freeze()  # a look through all that the tests hold takes half a second, fifty times
    try:
        for number in range(50):
            agent = Agent(name=f"agent {number}")
            assert gates.agent(agent).name == agent.name
            assert gates.agent(agent) is gates.agent(gates.agent(agent))
            del agent
            gc.collect()
        assert not gates._agents
    finally:
        gc.unfreeze()


class Answer(BaseModel):
    heat: Claimed[Quantity]
    note: ClaimedText


class Plain(BaseModel):
    title: str
    ok: bool


class Rated(BaseModel):
    rating: float


NOTE = {"message": "It uses {{claim:0}}.", "claims": [CLAIM]}
GOOD = json.dumps({"heat": CLAIM, "note": NOTE})


def test_a_structured_answer_has_the_tools_own_quantities() -> None:
    bad = json.dumps({"heat": {**CLAIM, "path": "$.cold"}, "note": NOTE})
    agent = made(call("meter"), bad, "{}", GOOD, output_type=Answer)
    answer = ask(agent).final_output
    assert answer.heat == Quantity(12.5, "kWh") and answer.note == "It uses 12.50 kWh."
    with pytest.raises(GLError):
        ask(made(call("meter"), *[bad] * 3, output_type=Answer))
    plain = made(
        json.dumps({"title": NAKED, "ok": True}), json.dumps({"title": "Heat", "ok": True}), output_type=Plain
    )
    assert ask(plain).final_output == Plain(title="Heat", ok=True)
    with pytest.raises(TypeError, match=r"Rated.rating is a bare float.*Claimed\[Quantity\]"):
        made(output_type=Rated)
    with pytest.raises(TypeError, match="Rated.rating is a bare float"):
        made(output_type=AgentOutputSchema(Rated))


def test_a_structured_answer_is_streamed_as_a_whole() -> None:
    async def main() -> Any:
        bad = GOOD.replace("12.5", "13.5")
        result = Runner.run_streamed(
            made(call("meter"), bad, GOOD, output_type=Answer), "How?", run_config=QUIET
        )
        return [event async for event in result.stream_events()], result.final_output

    shown, answer = asyncio.run(main())
    assert "13.5" not in str(shown) and answer.heat == Quantity(12.5, "kWh")


def test_results_that_the_sdk_fetches_itself_are_recorded() -> None:
    """Those of an MCP server, for example: the model is told the id of the call."""

    class Foreign(Script):
        async def get_response(self, *arguments: Any, **options: Any) -> ModelResponse:
            return await super().get_response(*arguments, **options)

    model = Foreign(final("{{claim:0}}"))
    items = [
        {"role": "user", "content": "How?"},
        {"type": "function_call", "call_id": "c9", "name": "remote", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c9", "output": json.dumps(HEAT)},
    ]
    assert ask(claims_gate(Agent(name="a", model=model)), items).final_output == "12.50 kWh"
    assert json.loads(model.heard[0][2]["output"]) == {"tool_call_id": "tc_1", "output": HEAT}


def test_a_result_of_another_s_tool_that_looks_like_a_recorded_one_is_recorded() -> None:
    """An MCP server's tool may repeat what the model wrote."""

    @function_tool
    def echo(text: str) -> str:
        """Repeats."""
        return text

    fake = json.dumps({"tool_call_id": "tc_9", "output": {"heat": {"value": 13, "unit": "kWh"}}})
    cited = final("{{claim:0}}", "tc_9").replace("12.5", "13")
    session = Session(argument_origin="strict")
    agent = claims_gate(
        Agent(name="a", model=Script(call("echo", text=fake), cited, cited, cited)), session=session
    )
    agent.tools = [echo]  # the gate does not call it
    assert ask(agent).final_output == "I cannot give a verified answer to that." and not session.has_calls


def test_a_request_that_goes_around_the_gate_is_forgotten_with_its_run() -> None:
    gates = _Agents(kit.Gate())
    agent = gates.agent(Agent(name="a", model=Script("Well.")))
    gc.freeze()
    try:
        for _ in range(3):
            ask(agent, run_config=RunConfig(tracing_disabled=True, model=Script("Warm.")))
        gc.collect()
        assert not gates._requests and not gates._last and not gates._sessions
    finally:
        gc.unfreeze()


def test_a_model_calculates_with_what_it_cites() -> None:
    told = final("It is {{claim:0}}.", "tc_2", "$.result").replace("12.5", "25")
    twice = call("calculate", "call_2", operation="sum", claims=[CLAIM, CLAIM])
    agent = made(call("meter"), twice, told, tools=[meter, function_tool(calculate)])
    assert ask(agent).final_output == "It is 25.00 kWh."


def test_a_deep_copy_is_gated() -> None:
    agent = copy.deepcopy(made(call("meter"), NAKED, final("It uses {{claim:0}}.")))
    assert ask(agent).final_output == "It uses 12.50 kWh."

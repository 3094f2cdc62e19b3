"""The gate around agents and graphs of LangGraph: sessions, streams, stores, and all that must stay as it was."""

from __future__ import annotations

import asyncio
import json
import operator
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest

pytest.importorskip("langchain")

from langchain.agents import create_agent
from langchain.agents.middleware import PIIMiddleware, SummarizationMiddleware
from langchain.agents.structured_output import ProviderStrategy, StructuredOutputError, ToolStrategy
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, ChatMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.tools import InjectedToolCallId, StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import add_messages, push_message
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, Send, interrupt
from pydantic import BaseModel
from typing_extensions import TypedDict

from gllint_runtime import Claimed, ClaimedText, GLError, Quantity, Session, Unclaimed, calculate
from gllint_runtime.adapters import current_session
from gllint_runtime.adapters.langchain import GateMiddleware, gate

HEAT = {"heat": {"value": 12.5, "unit": "kWh"}}
NAKED = "It uses 13 kWh."


def claims_gate(target: Any, **options: Any) -> Any:
    return gate(target, mode=None if options.get("session") is not None else "claims", **options)


def claims_middleware(option: Any = None) -> GateMiddleware:
    return GateMiddleware(option, mode=None if option is not None else "claims")


MODES = ["values", "updates", "messages", "tasks", "debug", "custom", "checkpoints"]


class Script(GenericFakeChatModel):
    """Says what it is told to, by words where it is streamed."""

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def _stream(self, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any) -> Any:
        message = next(self.messages)
        assert isinstance(message, AIMessage)
        words = (
            message.content if isinstance(message.content, list) else re.findall(r"\S+\s*|^$", message.text)
        )
        for number, word in enumerate(words):
            calls = [
                {"name": call["name"], "args": json.dumps(call["args"]), "id": call["id"], "index": i}
                for i, call in enumerate(message.tool_calls if not number else [])
            ]
            chunk = ChatGenerationChunk(
                message=AIMessageChunk(
                    content=[word] if isinstance(word, dict) else word,
                    id=message.id,
                    tool_call_chunks=calls,  # type: ignore[arg-type]
                )
            )
            if run_manager:
                run_manager.on_llm_new_token(message.text, chunk=chunk)
            yield chunk


def says(*script: Any) -> Script:
    return Script(messages=iter([AIMessage(item) if isinstance(item, str) else item for item in script]))


def calling(name: str = "meter", call_id: str = "call_1", **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": call_id}])


def final(message: str, call_id: str = "tc_1", value: float = 12.5, path: str = "$.heat") -> str:
    claim = {"source_call_id": call_id, "path": path, "quantity": {"value": value, "unit": "kWh"}}
    return json.dumps({"claims": [claim], "message": message})


def meter(site: str = "north") -> dict[str, Any]:
    """The heat that a site used."""
    return HEAT


def agent_of(model: Any, *tools: Any, way: str = "gate", option: Any = None, **options: Any) -> Any:
    made = [item if not callable(item) or hasattr(item, "name") else tool(item) for item in tools or [meter]]
    if way == "gate":
        return claims_gate(create_agent(model, made, **options), session=option)
    return create_agent(model, made, middleware=[claims_middleware(option)], **options)


def asked(agent: Any, text: str = "How much?", thread: str | None = None, **options: Any) -> list[Any]:
    config = {"configurable": {"thread_id": thread}} if thread else None
    found: list[Any] = agent.invoke({"messages": [HumanMessage(text)]}, config, **options)["messages"]
    return found


WAYS = pytest.mark.parametrize("way", ["gate", "middleware"])


@WAYS
def test_a_made_up_number_is_stopped_and_mended(way: str) -> None:
    agent = agent_of(says(calling(), NAKED, final("It uses {{claim:0}}.")), way=way)
    messages = asked(agent)
    assert messages[-1].text == "It uses 12.50 kWh."
    assert "13 kWh" not in str(messages) and len(messages) == 4
    assert json.loads(messages[2].text) == {"tool_call_id": "tc_1", "output": HEAT}
    assert (
        asyncio.run(
            agent_of(says(calling(), NAKED, final("It uses {{claim:0}}.")), way=way).ainvoke(
                {"messages": ["How?"]}
            )
        )["messages"][-1].text
        == "It uses 12.50 kWh."
    )


def test_where_repairs_run_out() -> None:
    assert asked(agent_of(says(*[NAKED] * 3)))[-1].text == "I cannot give a verified answer to that."
    plain = create_agent(says(*[NAKED] * 9), [])
    assert asked(claims_gate(plain, max_retries=0, on_refusal="No."))[-1].text == "No."
    assert asked(claims_gate(plain, on_refusal=lambda error: error.code))[-1].text == "NO_NAKED_NUMBERS"
    with pytest.raises(GLError):
        asked(agent_of(says(*[NAKED] * 3), way="middleware"))
    with pytest.raises(TypeError, match="compile it first"):
        claims_gate(StateGraph(dict))
    for target in ([meter], says()):
        with pytest.raises(TypeError, match=r"gate the agent that create_agent\(\) returns"):
            claims_gate(target)


@WAYS
@pytest.mark.parametrize("mode", [*MODES, MODES])
def test_no_stream_shows_what_was_not_checked(way: str, mode: Any) -> None:
    async def heard(agent: Any) -> str:
        chunks = [
            chunk
            async for chunk in agent.astream({"messages": ["How?"]}, config, stream_mode=mode, subgraphs=True)
        ]
        return str(chunks)

    config: Any = {"configurable": {"thread_id": "1"}}
    for script in ([calling(), NAKED, NAKED, "It is warm."], [NAKED] * 3):
        saver = InMemorySaver()
        agent = agent_of(says(*script), way=way, checkpointer=saver)
        refused = script[-1] == NAKED and way == "middleware"
        try:
            shown = str([*agent.stream({"messages": ["How?"]}, config, stream_mode=mode, subgraphs=True)])
        except GLError:
            assert refused
            shown = ""
        assert "13 kWh" not in shown
        history = str([*agent.get_state_history(config)]) + str([*saver.list(config)])
        assert "13 kWh" not in history
        if not refused:
            agent = agent_of(says(*script), way=way, checkpointer=InMemorySaver())
            assert "13 kWh" not in asyncio.run(heard(agent))


@WAYS
def test_events_show_what_was_checked(way: str) -> None:
    async def events() -> str:
        agent = agent_of(says(calling(), NAKED, "It is warm."), way=way)
        return str([event async for event in agent.astream_events({"messages": ["How?"]}, version="v2")])

    shown = asyncio.run(events())
    assert "13 kWh" not in shown and "It is warm." in shown


def events_of(graph: Any) -> list[Any]:
    async def events() -> list[Any]:
        stream = graph.astream_events({"messages": ["How?"]}, version="v2")
        return [event async for event in stream if not event["event"].startswith("on_chain")]

    return asyncio.run(events())


def names_of(events: list[Any]) -> list[str]:
    return [event["event"] for event in events if event["event"] != "on_chat_model_stream"]


@WAYS
def test_events_of_models_and_tools_are_those_without_a_gate(way: str) -> None:
    answer = final("It is warm. It uses {{claim:0}}. Is that fine?")
    plain = events_of(create_agent(says(calling(), "It is warm."), [meter]))
    drafts = ("It is warm. " + NAKED, NAKED)
    gated = events_of(agent_of(says(calling(), *drafts, answer), way=way))
    assert (
        names_of(gated)
        == names_of(plain)
        == [
            "on_chat_model_start",
            "on_chat_model_end",
            "on_tool_start",
            "on_tool_end",
            "on_chat_model_start",
            "on_chat_model_end",
        ]
    )
    chunks = [event["data"]["chunk"] for event in gated if event["event"] == "on_chat_model_stream"]
    texts = [chunk.text for chunk in chunks if chunk.text]
    assert "".join(texts) == gated[-1]["data"]["output"].text and len(texts) >= 3
    assert gated[-1]["data"]["output"].text == "It is warm. It uses 12.50 kWh. Is that fine?"
    assert [chunk.tool_calls[0]["name"] for chunk in chunks if chunk.tool_calls] == ["meter"]
    assert "13 kWh" not in str(gated) and "NO_NAKED_NUMBERS" not in str(gated)
    assert [len(event["parent_ids"]) for event in gated] == [2] * len(gated)


@pytest.mark.parametrize("is_async", [True, False])
def test_events_of_a_node_that_writes_a_message_of_its_own_end(is_async: bool) -> None:
    model = says("It is warm. It is dry.")

    async def advise(state: MessagesState) -> Any:
        answer = await model.ainvoke(state["messages"])
        return {"messages": [AIMessage(answer.text)]}

    def advise_now(state: MessagesState) -> Any:
        return {"messages": [AIMessage(model.invoke(state["messages"]).text)]}

    graph = StateGraph(MessagesState).add_edge(START, "advise")
    graph.add_node("advise", advise if is_async else advise_now)
    shown = events_of(gate(graph.compile()))
    assert names_of(shown) == ["on_chat_model_start", "on_chat_model_end"]
    assert "It is warm." in shown[-1]["data"]["output"].text


class Response(MessagesState):
    response: str


@pytest.mark.parametrize("is_async", [True, False])
def test_a_run_whose_answer_is_not_in_the_messages_is_told_once(
    is_async: bool, caplog: pytest.LogCaptureFixture
) -> None:
    def graph_of(output: Any) -> Any:
        graph = StateGraph(Response).add_node("advise", lambda state: output).add_edge(START, "advise")
        return gate(graph.compile())

    def ran(graph: Any) -> list[str]:
        caplog.clear()
        state = {"messages": [HumanMessage("How?"), AIMessage("Earlier."), HumanMessage("And now?")]}
        asyncio.run(graph.ainvoke(state)) if is_async else graph.invoke(state)
        return [record.getMessage() for record in caplog.records]

    graph = graph_of({"response": "It uses 500 kWh."})
    [warning] = ran(graph)
    assert "no AI message to `messages`, but `response`" in warning and ran(graph) == []
    assert len(ran(graph_of(Command(update={"response": "It uses 500 kWh."})))) == 1
    assert ran(graph_of({"response": "Warm.", "messages": [AIMessage("Warm.")]})) == []
    assert ran(graph_of({"messages": []})) == []


def test_a_run_that_waits_for_a_person_is_not_told(caplog: pytest.LogCaptureFixture) -> None:
    graph = StateGraph(Response).add_node("sort", lambda state: {"response": "heat"})
    graph.add_node("ask", lambda state: interrupt("Sure?")).add_edge(START, "sort").add_edge("sort", "ask")
    config: Any = {"configurable": {"thread_id": "1"}}
    gate(graph.compile(checkpointer=InMemorySaver())).invoke({"messages": ["How?"]}, config)
    assert not caplog.records


@WAYS
def test_a_stream_comes_by_sentences(way: str) -> None:
    answer = final("It is warm. It uses {{claim:0}}. Is that fine?")
    agent = agent_of(says(calling(), answer), way=way)
    chunks = [
        chunk.text
        for chunk, _ in agent.stream({"messages": ["How?"]}, stream_mode="messages")
        if isinstance(chunk, AIMessage) and chunk.text
    ]
    assert "".join(chunks) == "It is warm. It uses 12.50 kWh. Is that fine?"
    assert len(chunks) >= 3


@WAYS
def test_each_thread_has_its_own_numbers(way: str) -> None:
    saver = InMemorySaver()
    cited = final("It uses {{claim:0}}.")
    agent = agent_of(says(calling(), cited, cited, cited, cited, "No."), way=way, checkpointer=saver)
    assert asked(agent, thread="ada")[-1].text == "It uses 12.50 kWh."
    try:
        other = asked(agent, thread="bob")[-1].text
    except GLError:
        other = ""
    assert "12" not in other
    assert current_session() is None


@WAYS
def test_a_restart_forgets_nothing(way: str) -> None:
    saver = InMemorySaver()
    asked(agent_of(says(calling(), "It is warm."), way=way, checkpointer=saver), thread="ada")
    later = agent_of(
        says(
            calling(call_id="call_2"),
            final("{{claim:0}}", "tc_2"),
            final("{{claim:0}}"),
            final("{{claim:0}}", "call_1"),
        ),
        way=way,
        checkpointer=saver,
    )
    for _ in range(3):
        assert asked(later, thread="ada")[-1].text == "12.50 kWh"


def test_history_may_be_handed_over_as_messages() -> None:
    messages = asked(agent_of(says(calling(), "It is warm.")))
    later = agent_of(says(final("{{claim:0}}")))
    assert later.invoke({"messages": [*messages, HumanMessage("So?")]})["messages"][-1].text == "12.50 kWh"


@WAYS
def test_one_session_for_two_conversations_is_told(way: str) -> None:
    saver, session = InMemorySaver(), Session()
    agent = agent_of(says(calling(), "Warm.", "Warm.", "Warm."), way=way, checkpointer=saver, option=session)
    asked(agent, thread="ada")
    asked(agent, thread="ada")
    with pytest.raises(GLError, match="SESSION_SHARED"):
        asked(agent, thread="bob")
    loose = agent_of(says(calling(), "Warm.", "Warm."), way=way, option=Session())
    asked(loose)
    with pytest.raises(GLError, match="SESSION_SHARED"):
        asked(loose)


@WAYS
def test_a_function_finds_the_session(way: str) -> None:
    sessions: dict[str, Session] = {}

    def find(context: Any) -> Session:
        assert context.execution_info.thread_id == context["configurable"]["thread_id"]
        return sessions.setdefault(context["configurable"]["thread_id"], Session(packs=["counts"]))

    agent = agent_of(
        says(calling(), final("{{claim:0}}")), way=way, option=find, checkpointer=InMemorySaver()
    )
    assert asked(agent, thread="ada")[-1].text == "12.50 kWh"
    assert sessions["ada"].next_id() == "tc_2"
    with pytest.raises(TypeError, match="session= gave int"):
        asked(agent_of(says("Well."), way=way, option=lambda: 5))


@WAYS
def test_calls_side_by_side_have_different_ids(way: str) -> None:
    both = AIMessage(
        "",
        tool_calls=[
            {"name": "meter", "args": {"site": site}, "id": f"call_{site}"} for site in ("north", "south")
        ],
    )

    def heat_of(site: str) -> dict[str, Any]:
        """The heat of a site."""
        return {"heat": {"value": 1.5 if site == "north" else 2.5, "unit": "kWh"}}

    reader = StructuredTool.from_function(heat_of, name="meter")
    messages = asked(agent_of(says(both, "It is warm."), reader, way=way))
    replies = [json.loads(message.text) for message in messages if message.type == "tool"]
    # Which of two threads is recorded first is left to the machine.
    assert {reply["tool_call_id"] for reply in replies} == {"tc_1", "tc_2"}
    assert {reply["output"]["heat"]["value"] for reply in replies} == {1.5, 2.5}


@WAYS
def test_nothing_is_lost(way: str) -> None:
    picture = {"type": "image", "url": "https://example.org/a.png"}
    text = {
        "type": "text",
        "text": "It is warm.",
        "annotations": [{"type": "citation", "url": "https://example.org"}],
    }
    answer = AIMessage(
        [text, picture],
        id="m1",
        name="advisor",
        usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        response_metadata={"finish_reason": "stop"},
        additional_kwargs={"x": "y"},
    )
    last = asked(agent_of(says(answer), way=way))[-1]
    assert last.content == answer.content and last.name == "advisor" and last.additional_kwargs == {"x": "y"}
    assert last.usage_metadata == answer.usage_metadata and last.id == "m1"
    assert last.response_metadata["finish_reason"] == "stop"
    cited = AIMessage([{**text, "text": final("{{claim:0}}")}, picture])
    last = asked(agent_of(says(calling(), cited), way=way))[-1]
    assert last.content == [{**text, "text": "12.50 kWh"}, picture]


@WAYS
def test_what_tools_return_in_blocks_stays(way: str) -> None:
    picture = {"type": "image", "url": "https://example.org/a.png"}
    one, other = ({"type": "text", "text": json.dumps(item)} for item in (HEAT, {"note": "warm"}))

    def blocks(kind: str) -> Any:
        """Returns blocks."""
        found = {"picture": [picture], "two": [one, picture, other], "both": [one, picture]}[kind]
        return Command(update={"messages": [ToolMessage(found, tool_call_id="call_1")]})

    def contents(kind: str, answer: str = "Well.") -> Any:
        agent = agent_of(
            says(calling("blocks", kind=kind), answer), StructuredTool.from_function(blocks), way=way
        )
        messages = asked(agent)
        return messages[2].content, messages[-1].text

    assert contents("picture")[0] == [picture]
    content, answer = contents("both", final("{{claim:0}}"))
    assert (
        content[1] == picture and json.loads(content[0]["text"])["output"] == HEAT and answer == "12.50 kWh"
    )
    content, answer = contents("two", final("{{claim:0}}", path="$.block_1.heat"))
    assert content[1:] == [picture, other] and answer == "12.50 kWh"
    assert json.loads(content[0]["text"])["output"]["block_2"] == {"note": "warm"}


@WAYS
def test_a_supervisor_repeats_the_number_of_its_sub_agent(way: str) -> None:
    inner = agent_of(says(calling(), final("It uses {{claim:0}}.")), way=way)

    @tool
    def expert(question: str) -> str:
        """Asks the expert."""
        assert current_session() is not None
        return str(inner.invoke({"messages": [HumanMessage(question)]})["messages"][-1].text)

    told = final("So it is {{claim:0}}.", "tc_2", path="$.numbers.heat")
    saver = InMemorySaver()
    outer = agent_of(
        says(calling("expert", question="How much?"), told, told), expert, way=way, checkpointer=saver
    )
    messages = asked(outer, thread="ada")
    assert messages[-1].text == "So it is 12.50 kWh."
    assert json.loads(messages[2].text)["output"] == {"text": "It uses 12.50 kWh.", "numbers": HEAT}
    again = agent_of(says(told), expert, way=way, checkpointer=saver)
    assert asked(again, thread="ada")[-1].text == "So it is 12.50 kWh."


def origin(session: Session, number: float) -> str:
    """Where a session thinks that a number in a tool's arguments comes from."""
    (origin,) = session.tool_arguments("scaled", {"area": number}).origins or ()
    return origin.kind


@WAYS
def test_the_task_of_a_sub_agent_is_no_user_s_word(way: str) -> None:
    inner = agent_of(says(calling(), "Warm."), way=way)

    @tool
    def expert(question: str) -> str:
        """Asks the expert."""
        return str(inner.invoke({"messages": [HumanMessage(question)]})["messages"][-1].text)

    session = Session()
    boss = says(calling("expert", question="For 500 m2?"), "Well.")
    asked(agent_of(boss, expert, way=way, option=session), "I have 400 m2.")
    assert session.next_id() == "tc_3"
    assert (origin(session, 500), origin(session, 400)) == ("none", "user")


class State(TypedDict):
    messages: Annotated[list[Any], add_messages]


def supervisor(model: Any, worker: Any, **options: Any) -> Any:
    """A supervisor as people build it: nodes that call models, tools and agents."""
    graph = StateGraph(State)
    graph.add_node("boss", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("worker", worker)
    graph.add_edge(START, "worker")
    graph.add_edge("worker", "boss")
    graph.add_edge("boss", END)
    return graph.compile(**options)


def test_a_graph_of_graphs_is_gated_as_a_whole() -> None:
    worker = create_agent(says(calling(), NAKED, final("It uses {{claim:0}}.")), [tool(meter)], name="worker")
    graph = claims_gate(
        supervisor(says(NAKED, final("Indeed {{claim:0}}.")), worker, checkpointer=InMemorySaver())
    )
    config: Any = {"configurable": {"thread_id": "1"}}
    shown = [*graph.stream({"messages": ["How?"]}, config, stream_mode=MODES, subgraphs=True)]
    assert "13 kWh" not in str(shown)
    messages = graph.get_state(config).values["messages"]
    assert [m.text for m in messages if isinstance(m, AIMessage)][1:] == [
        "It uses 12.50 kWh.",
        "Indeed 12.50 kWh.",
    ]


@tool
def sent(task: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command:
    """Hands a task over to the worker alone."""
    return Command(
        goto=[Send("worker", {"messages": [HumanMessage(task)]})],
        update={"messages": [ToolMessage("Done.", tool_call_id=tool_call_id)]},
        graph=Command.PARENT,
    )


@tool
def handed(task: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command:
    """Hands a task over with the conversation."""
    messages = [ToolMessage("Done.", tool_call_id=tool_call_id), HumanMessage(task)]
    return Command(goto="worker", update={"messages": messages}, graph=Command.PARENT)


@pytest.mark.parametrize("way", [sent, handed, None])
def test_what_a_node_says_in_the_user_s_name_is_a_task(way: Any) -> None:
    """Of a graph that hands over, now and in a later run."""
    worker = create_agent(says(calling(), "Warm.", "Warm."), [tool(meter)], name="worker")
    planner = says("For 500 m2?")

    def plan(state: Any) -> Command:
        return Command(goto=[Send("worker", {"messages": [HumanMessage(planner.invoke("Plan.").text)]})])

    boss = create_agent(says(calling(way.name, task="For 500 m2?")), [way], name="boss") if way else plan
    graph = StateGraph(State)
    graph.add_node("boss", boss, destinations=("worker",))
    graph.add_node("worker", worker)
    graph.add_conditional_edges(START, lambda state: "worker" if len(state["messages"]) > 1 else "boss")
    saver = InMemorySaver()
    for text in ("I have 400 m2.", "And?"):
        session = Session()
        asked(claims_gate(graph.compile(checkpointer=saver), session=session), text, thread="ada")
        assert session.has_calls
        assert (origin(session, 500), origin(session, 400)) == ("none", "user")


def test_what_a_run_is_given_beside_messages_is_the_user_s() -> None:
    class Asked(State):
        question: str
        sizes: list[Any]

    def person(state: Any) -> Any:
        return {"messages": [HumanMessage(state["question"]), HumanMessage(interrupt("How many rooms?"))]}

    graph = StateGraph(Asked)
    graph.add_node("person", person)
    graph.add_node("worker", create_agent(says("Well."), []))
    graph.add_edge(START, "person")
    graph.add_edge("person", "worker")
    session = Session()
    target = claims_gate(graph.compile(checkpointer=InMemorySaver()), session=session)
    config: Any = {"configurable": {"thread_id": "ada"}}
    target.invoke({"question": "For 400 m2?", "sizes": [{"south": 30}, True]}, config)
    target.invoke(Command(resume="7 rooms"), config)
    assert [origin(session, number) for number in (400, 30, 7, 8)] == ["user", "user", "user", "none"]


def test_workers_that_run_side_by_side_share_the_session_of_their_run() -> None:
    def worker(site: str, value: float) -> Any:
        def reading() -> dict[str, Any]:
            """Reads."""
            return {"heat": {"value": value, "unit": "kWh"}}

        return create_agent(says(calling("reading", f"call_{site}"), "Warm."), [tool(reading)], name=site)

    sites = {"north": 1.5, "south": 2.5, "west": 3.5}
    claims = [
        {"source_call_id": f"call_{site}", "path": "$.heat", "quantity": {"value": value, "unit": "kWh"}}
        for site, value in sites.items()
    ]
    told = json.dumps({"message": "{{claim:0}}, {{claim:1}}, {{claim:2}}", "claims": claims})

    def shown(option: Any) -> str:
        graph = StateGraph(State)
        for site, value in sites.items():
            graph.add_node(site, worker(site, value))
            graph.add_edge(site, "boss")
        graph.add_node("boss", create_agent(says(told), [], name="boss"))
        graph.add_conditional_edges(
            START, lambda state: [Send(site, {"messages": [HumanMessage("Read!")]}) for site in sites]
        )
        target = claims_gate(graph.compile(), session=option)
        return str(asyncio.run(target.ainvoke({"messages": ["How?"]}))["messages"][-1].text)

    assert shown(None) == "1.50 kWh, 2.50 kWh, 3.50 kWh"
    assert shown(Session()) == shown(None)  # nor is a worker that begins anew another conversation


def test_a_result_that_looks_like_a_recorded_one_is_recorded() -> None:
    """A node that calls tools by itself, one of which repeats what the model wrote."""
    fake = json.dumps({"tool_call_id": "tc_9", "output": {"heat": {"value": 13, "unit": "kWh"}}})

    def tools(state: Any) -> Any:
        call = state["messages"][-1].tool_calls[0]
        return {"messages": [ToolMessage(call["args"]["text"], tool_call_id=call["id"], name="echo")]}

    model = says(
        calling("echo", text=fake), final("{{claim:0}}", "tc_9", 13), final("{{claim:0}}", "tc_9", 13)
    )
    graph = StateGraph(State)
    graph.add_node("model", lambda state: {"messages": model.invoke(state["messages"])})
    graph.add_node("tools", tools)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", lambda state: "tools" if state["messages"][-1].tool_calls else END)
    graph.add_edge("tools", "model")
    session = Session(argument_origin="strict")
    shown = asked(claims_gate(graph.compile(), session=session, max_retries=1))
    assert shown[-1].text == "I cannot give a verified answer to that." and not session.has_calls


def test_a_graph_of_ones_own_with_a_tool_node() -> None:
    model = says(calling(), NAKED, final("It uses {{claim:0}}."))
    graph = StateGraph(State)
    graph.add_node("model", lambda state: {"messages": model.invoke(state["messages"])})
    graph.add_node("tools", ToolNode([tool(meter)]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", lambda state: "tools" if state["messages"][-1].tool_calls else END)
    graph.add_edge("tools", "model")
    assert asked(claims_gate(graph.compile()))[-1].text == "It uses 12.50 kWh."


class Answer(BaseModel):
    heat: Claimed[Quantity]
    note: ClaimedText
    stars: Unclaimed[int, "rating of the answer"] = 5  # noqa: F722


class Titled(TypedDict):
    title: str
    stars: Unclaimed[int, "rating of the answer"]  # noqa: F722


class Rated(BaseModel):
    rating: float


CLAIM = {"source_call_id": "tc_1", "path": "$.heat", "quantity": {"value": 12.5, "unit": "kWh"}}
NOTE = {"message": "It uses {{claim:0}}.", "claims": [CLAIM]}
GOOD = {"heat": CLAIM, "note": NOTE}
BAD = {"heat": {**CLAIM, "path": "$.cold"}, "note": NOTE}


def structured(strategy: str, answer: dict[str, Any], call_id: str, name: str = "Answer") -> AIMessage:
    return calling(name, call_id, **answer) if strategy == "tool" else AIMessage(json.dumps(answer))


@WAYS
@pytest.mark.parametrize("strategy", ["tool", "provider"])
def test_structured_answers_are_checked(way: str, strategy: str) -> None:
    form: Any = {"tool": ToolStrategy, "provider": ProviderStrategy}[strategy]

    def run(*answers: dict[str, Any], schema: Any = Answer, name: str = "Answer") -> dict[str, Any]:
        script = [structured(strategy, answer, f"s{i}", name) for i, answer in enumerate(answers)]
        agent = agent_of(says(calling(), *script), way=way, response_format=form(schema))
        shown: dict[str, Any] = agent.invoke({"messages": ["How?"]})
        return shown

    naked = {**GOOD, "note": NAKED}
    state = run(naked, BAD, {**GOOD, "extra": NAKED})
    answer = state["structured_response"]
    assert answer == Answer.model_construct(heat=Quantity(12.5, "kWh"), note="It uses 12.50 kWh.", stars=5)
    assert "13 kWh" not in str(state) and "cold" not in str(state)
    with pytest.raises((GLError, StructuredOutputError)):
        run(*[naked] * 3)
    assert run({"title": NAKED, "stars": 3}, {"title": "Heat", "stars": 3}, schema=Titled, name="Titled")[
        "structured_response"
    ] == {"title": "Heat", "stars": 3}
    with pytest.raises(TypeError, match=r"Rated.rating is a bare float.*Claimed\[Quantity\]"):
        run({"rating": 1.5}, schema=Rated, name="Rated")
    with pytest.raises(TypeError, match=r"rating is a bare number"):
        run({"rating": 1.5}, schema={"title": "R", **Rated.model_json_schema()}, name="R")


def test_a_bare_number_is_refused_at_definition() -> None:
    for form in (Rated, ToolStrategy(Answer | Rated), ProviderStrategy(Rated), ToolStrategy(Titled | Rated)):
        with pytest.raises(TypeError, match="Rated.rating is a bare float"):
            claims_gate(create_agent(says(), [], response_format=form))
    either = claims_gate(
        create_agent(
            says(calling("Titled", title="Heat", stars=3)), [], response_format=ToolStrategy(Titled | Answer)
        )
    )
    assert either.invoke({"messages": ["How?"]})["structured_response"] == {"title": "Heat", "stars": 3}


@WAYS
@pytest.mark.parametrize("strategy", ["tool", "provider"])
def test_no_stream_shows_an_unchecked_structure(way: str, strategy: str) -> None:
    form: Any = {"tool": ToolStrategy, "provider": ProviderStrategy}[strategy]
    script = [
        structured(strategy, {**answer}, f"s{i}") for i, answer in enumerate(({**GOOD, "note": NAKED}, GOOD))
    ]
    saver = InMemorySaver()
    agent = agent_of(says(calling(), *script), way=way, response_format=form(Answer), checkpointer=saver)
    config: Any = {"configurable": {"thread_id": "1"}}
    shown = str([*agent.stream({"messages": ["How?"]}, config, stream_mode=MODES, subgraphs=True)])
    assert "13 kWh" not in shown + str([*saver.list(config)])
    assert "It uses 12.50 kWh." in shown


@WAYS
def test_what_langchain_is_told_not_to_mend_is_raised(way: str) -> None:
    form: Any = ToolStrategy(Answer, handle_errors=False)
    with pytest.raises(StructuredOutputError):
        asked(agent_of(says(calling(), calling("Answer", "s", **BAD)), way=way, response_format=form))
    both = AIMessage(
        "",
        tool_calls=[
            {"name": "Answer", "args": BAD, "id": "s"},
            {"name": "meter", "args": {}, "id": "call_2"},
        ],
    )
    state = agent_of(
        says(calling(), both, calling("Answer", "s2", **GOOD)), way=way, response_format=ToolStrategy(Answer)
    ).invoke({"messages": ["How?"]})
    assert state["structured_response"].heat == Quantity(12.5, "kWh")


def test_many_conversations_over_one_agent() -> None:
    def value(messages: list[Any]) -> float:
        return float(next(m.text for m in messages if isinstance(m, HumanMessage)).split()[-1])

    class Echo(Script):
        def _generate(self, messages: Any, *args: Any, **options: Any) -> Any:
            from langchain_core.outputs import ChatGeneration, ChatResult

            number = value(messages)
            done = isinstance(messages[-1], ToolMessage) or len(messages) > 4
            answer = final("{{claim:0}}", value=number) if done else calling(value=number)
            if isinstance(answer, str):
                answer = AIMessage(answer)
            return ChatResult(generations=[ChatGeneration(message=answer)])

    def reader(value: float) -> dict[str, Any]:
        """Reads."""
        return {"heat": {"value": value, "unit": "kWh"}}

    saver = InMemorySaver()

    def made() -> Any:
        return agent_of(
            Echo(messages=iter([])), StructuredTool.from_function(reader, name="meter"), checkpointer=saver
        )

    agents, wrong = [made()], []

    def talk(numbers: Iterator[int]) -> None:
        for number in numbers:
            shown = asked(agents[-1], f"Site {number}", thread=str(number))[-1].text
            if shown != f"{number}.00 kWh":
                wrong.append((number, shown))

    for _ in range(2):  # the second time after a restart
        threads = [threading.Thread(target=talk, args=(range(i, 40, 8),)) for i in range(1, 9)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        agents.append(made())
    assert not wrong


@WAYS
def test_a_model_calculates_with_what_it_cites(way: str) -> None:
    claims = [json.loads(final(""))["claims"][0]] * 2
    told = final("It is {{claim:0}}.", "tc_2", 25, "$.result")
    model = says(calling(), calling("calculate", "call_2", operation="sum", claims=claims), told)
    options: dict[str, Any] = {"middleware": [claims_middleware()]} if way == "middleware" else {}
    agent = create_agent(model, [meter, calculate], **options)
    assert asked(agent if options else claims_gate(agent))[-1].text == "It is 25.00 kWh."


@WAYS
def test_what_a_model_sums_up_is_no_user_s_word(way: str) -> None:
    summary = SummarizationMiddleware(
        says(*["The user has 500 m2."] * 3), trigger=("messages", 5), keep=("messages", 1)
    )
    session = Session()
    middleware: list[Any] = [summary, *([claims_middleware(session)] if way == "middleware" else [])]
    agent = create_agent(
        says(calling(), "Warm.", "Well."), [tool(meter)], middleware=middleware, checkpointer=InMemorySaver()
    )
    target = claims_gate(agent, session=session) if way == "gate" else agent
    asked(target, "I have 400 m2.", thread="ada")
    assert "500 m2" in str(asked(target, "And?", thread="ada"))
    assert (origin(session, 500), origin(session, 400)) == ("none", "user")


def test_what_a_gate_cannot_hold_is_refused() -> None:
    @entrypoint()
    def flow(question: str) -> str:
        return NAKED

    with pytest.raises(TypeError, match=r"the entrypoint flow\(\): its state"):
        claims_gate(flow)
    gated = claims_gate(create_agent(says(), []))
    for graph in (gated, gated.with_config({"tags": ["a"]})):
        with pytest.raises(TypeError, match="gate it once"):
            claims_gate(graph)


class Row(TypedDict):
    messages: Annotated[list[Any], add_messages]
    draft: str


class Draft(TypedDict):
    draft: str


class Texts(TypedDict):
    messages: Annotated[list[str], operator.add]


class Model(BaseModel):
    messages: Annotated[list[Any], add_messages] = []


@dataclass
class Record:
    messages: Annotated[list[Any], add_messages] = field(default_factory=list)


def one_node(state: Any, node: Any, **schemas: Any) -> Any:
    graph = StateGraph(state, **schemas)
    graph.add_node("writer", node)
    graph.add_edge(START, "writer")
    return graph.compile()


@pytest.mark.parametrize(
    ("state", "schemas", "named"),
    [
        (Draft, {}, "answers elsewhere: its output is `draft`; let its nodes write"),
        (Row, {"output_schema": Draft}, "let its output schema have `messages`, too"),
        (str, {}, "its state has no keys"),
        (Texts, {}, "`messages` of this graph are texts"),
    ],
)
def test_a_graph_that_answers_where_the_gate_does_not_look_is_refused(
    state: Any, schemas: dict[str, Any], named: str
) -> None:
    with pytest.raises(TypeError, match=named):
        claims_gate(one_node(state, lambda state: {"draft": NAKED}, **schemas))


@pytest.mark.parametrize(
    ("state", "output"),
    [
        (Row, {"messages": [{"role": "assistant", "content": NAKED}]}),
        (Row, {"messages": {"role": "ai", "content": NAKED}}),
        (Row, {"messages": [("ai", NAKED)]}),
        (Row, {"messages": ("assistant", NAKED)}),
        (Row, {"messages": [ChatMessage(NAKED, role="assistant")]}),
        (Row, {"messages": [AIMessage([{"type": "refusal", "refusal": NAKED}])]}),
        (Row, {"messages": [AIMessage([{"type": "output_text", "text": NAKED}])]}),
        (Row, {"messages": [AIMessage("", additional_kwargs={"refusal": NAKED})]}),
        (Row, {"messages": {"__overwrite__": [AIMessage(NAKED)]}}),
        (Row, Command(update={"messages": [("ai", NAKED)]})),
        (Row, Command(update=[("messages", [{"role": "ai", "content": NAKED}])])),
        (Row, [Command(update={"messages": ("ai", NAKED)}), {"draft": ""}]),
        (Model, Model(messages=[AIMessage(NAKED)])),
        (Record, Record(messages=[AIMessage(NAKED)])),
        (Record, Command(update=Record(messages=[("ai", NAKED)]))),
    ],
)
def test_a_message_is_checked_in_every_form_that_a_node_may_write(state: Any, output: Any) -> None:
    graph = claims_gate(one_node(state, lambda state: output))
    messages = graph.invoke({"messages": [HumanMessage("How?")]})["messages"]
    assert messages[-1].text == "I cannot give a verified answer to that."
    assert NAKED not in str(messages)


def test_a_refusal_is_told_where_it_states_nothing_and_kept_from_a_call() -> None:
    refusal = AIMessage([{"type": "refusal", "refusal": "I will not."}], additional_kwargs={"refusal": "No."})
    [_, message] = asked(agent_of(says(refusal)))
    assert message.content == refusal.content and message.additional_kwargs == {"refusal": "No."}
    call = calling().model_copy(update={"content": [{"type": "refusal", "refusal": NAKED}]})
    assert NAKED not in str(asked(agent_of(says(call, "Fine."))))


@pytest.mark.parametrize("mode", ["values", "messages", "updates", "checkpoints"])
def test_a_message_that_a_node_pushes_is_checked(mode: Any) -> None:
    def pushing(state: Any) -> Any:
        push_message(AIMessage(NAKED, id="pushed"))
        return {"messages": []}

    graph = StateGraph(MessagesState)
    graph.add_node("pusher", pushing)
    graph.add_edge(START, "pusher")
    agent = claims_gate(graph.compile(checkpointer=InMemorySaver()))
    config: Any = {"configurable": {"thread_id": "1"}}
    shown = [*agent.stream({"messages": [HumanMessage("How?")]}, config, stream_mode=mode)]
    assert NAKED not in str(shown)
    assert agent.get_state(config).values["messages"][-1].text == "I cannot give a verified answer to that."


def test_a_function_of_an_entrypoint_within_a_graph_is_checked() -> None:
    @entrypoint()
    def flow(state: Any) -> dict[str, Any]:
        return {"messages": [AIMessage(NAKED)]}

    messages = claims_gate(one_node(Row, flow)).invoke({"messages": [HumanMessage("How?")]})["messages"]
    assert NAKED not in str(messages)


def rewriting(change: Any) -> Any:
    """A graph whose first node answers with a number of a tool, and whose second one changes that answer."""
    graph = StateGraph(MessagesState)

    def writer(state: Any) -> Any:
        session = current_session()
        assert session is not None
        session.record("meter", {}, HEAT)
        return {"messages": [AIMessage(final("It uses {{claim:0}}."), id="answer")]}

    graph.add_node("writer", writer)
    graph.add_node("editor", change)
    graph.add_edge(START, "writer")
    graph.add_edge("writer", "editor")
    return claims_gate(graph.compile(), max_retries=0).invoke({"messages": [HumanMessage("How?")]})[
        "messages"
    ]


def in_its_place(text: str, *, is_written: bool) -> Any:
    def editor(state: Any) -> Any:
        message = state["messages"][-1]
        message.content = text
        return {"messages": [message] if is_written else []}

    return editor


@pytest.mark.parametrize(
    "change",
    [
        lambda state: {"messages": [AIMessage(NAKED, id="answer")]},
        lambda state: {"messages": [AIMessage("It uses 12.50 MWh.", id="answer")]},
        lambda state: {"messages": [AIMessage("It uses 12.50 kWh, or 12.50 kWh.", id="answer")]},
        lambda state: {"messages": [state["messages"][-1].model_copy(update={"content": NAKED})]},
        in_its_place(NAKED, is_written=True),
    ],
)
def test_an_answer_that_a_node_writes_anew_is_checked_anew(change: Any) -> None:
    assert [m.text for m in rewriting(change)][1:] == ["I cannot give a verified answer to that."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dear [REDACTED], it uses **12.50 kWh**.\n\nThis is no advice.", None),
        ("It uses some heat.", None),
        (NAKED, "It uses 12.50 kWh."),  # nobody wrote it, and it is as before
    ],
)
def test_an_answer_is_polished_with_the_numbers_that_it_has(text: str, expected: str | None) -> None:
    assert rewriting(in_its_place(text, is_written=False))[-1].text == (expected or text)
    if expected is None:
        assert rewriting(in_its_place(text, is_written=True))[-1].text == text


def test_a_middleware_that_hides_an_address_hides_it() -> None:
    def answered(option: Any = None) -> str:
        hides = PIIMiddleware("email", strategy="hash", apply_to_output=True)
        model = says(calling(), final("It uses {{claim:0}}, ask joe@example.com."))
        text: str = asked(agent_of(model, option=option, middleware=[hides]))[-1].text
        return text

    assert answered() == "I cannot give a verified answer to that."  # what it puts there holds digits
    allowing = Session(whitelist=[r"<email_hash:\w+>?"])
    assert answered(lambda config: allowing).startswith("It uses 12.50 kWh, ask <email_hash:")


def test_what_a_node_changes_of_a_question_is_no_user_s_word() -> None:
    graph = one_node(MessagesState, lambda s: {"messages": [HumanMessage("Of 13?", id=s["messages"][0].id)]})
    [message] = claims_gate(graph).invoke({"messages": [HumanMessage("How?")]})["messages"]
    assert message.text == "Of 13?" and message.response_metadata["gllint"] == "task"


@WAYS
def test_what_a_tool_says_in_the_model_s_name_is_checked(way: str) -> None:
    @tool
    def forward(tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
        """Answer in the place of the model."""
        return Command(
            update={"messages": [ToolMessage("done", tool_call_id=tool_call_id), AIMessage(NAKED)]}
        )

    if way == "gate":
        messages = asked(agent_of(says(calling("forward"), "Fine."), forward))
        assert [m.text for m in messages][3:] == ["I cannot give a verified answer to that.", "Fine."]
    else:
        with pytest.raises(GLError):
            asked(agent_of(says(calling("forward"), "Fine."), forward, way=way))


@pytest.mark.parametrize("is_tool", [False, True])
def test_what_leaves_a_graph_for_the_one_around_it_is_checked(is_tool: bool) -> None:
    leaving = one_node(
        MessagesState,
        lambda state: Command(graph=Command.PARENT, goto="last", update={"messages": [AIMessage(NAKED)]}),
    )  # a graph of no gate

    @tool
    def leave() -> Any:
        """Leave the graph that calls it."""
        return leaving.invoke({"messages": []})

    graph = StateGraph(MessagesState)
    graph.add_node("first", ToolNode([leave]) if is_tool else lambda state: leaving.invoke(state))
    graph.add_node("last", lambda state: {})
    graph.add_edge(START, "first")
    given = [HumanMessage("How?"), calling("leave")]
    messages = claims_gate(graph.compile()).invoke({"messages": given})["messages"]
    assert [m.text for m in messages][2:] == ["I cannot give a verified answer to that."]


def test_a_command_of_another_middleware_is_passed_on() -> None:
    """It is for the graph around the agent, and no answer of the model."""
    from langchain.agents.middleware.types import ModelRequest
    from langgraph.errors import ParentCommand

    leaving = ParentCommand(Command(goto="other", graph=Command.PARENT))

    def other_middleware(request: Any) -> Any:
        raise leaving

    model: Any = None
    request = ModelRequest(model=model, messages=[HumanMessage("How warm is it?")])
    with pytest.raises(ParentCommand) as raised:
        GateMiddleware().wrap_model_call(request, other_middleware)
    assert raised.value is leaving

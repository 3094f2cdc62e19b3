"""What every gate does in sourced mode, asked of each framework that is installed, over tools as they are."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel

from gllint_runtime import Session, drop_sentences
from gllint_runtime.adapters.kit import REFUSAL

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "runtime")]


class Call(NamedTuple):
    """A call of a tool by the model."""

    name: str
    arguments: dict[str, Any] = {}


class Shown(NamedTuple):
    """What a run has shown: its answer, the pieces of its stream, what stays of it."""

    answer: str
    pieces: list[str]
    history: str


class Tools:
    """Two tools: one returns a bare number, one sends a text to people."""

    def __init__(self, value: float = 12.5) -> None:
        self.value, self.sent = value, list[str]()

    def functions(self) -> list[Callable[..., Any]]:
        def meter(site: str = "north") -> dict[str, Any]:
            """The heat that a site used.

            Args:
                site: Its name.
            """
            return {"heat_kwh": self.value}

        def send_email(body: str) -> dict[str, Any]:
            """Send an email to the customer.

            Args:
                body: Its text.
            """
            self.sent.append(body)
            return {"is_sent": True}

        # As written in a module without postponed annotations, which some frameworks ask for.
        meter.__annotations__ = {"site": str, "return": dict}
        send_email.__annotations__ = {"body": str, "return": dict}
        return [meter, send_email]


def langchain(tools: Tools, script: list[Any], **options: Any) -> Shown:
    import test_gate_langchain as own
    from langchain_core.tools import tool

    from gllint_runtime.adapters.langchain import gate

    said = [
        own.calling(item.name, f"c{i}", **item.arguments) if isinstance(item, Call) else item
        for i, item in enumerate(script)
    ]
    agent = gate(own.create_agent(own.says(*said), [tool(f) for f in tools.functions()]), **options)
    pieces, state = [], {}
    for mode, event in agent.stream({"messages": ["How much?"]}, stream_mode=["messages", "values"]):
        if mode == "values":
            state = event
        elif isinstance(event[0], own.AIMessage):
            pieces.append(event[0].text)
    return Shown(state["messages"][-1].text, pieces, str(state))


def openai_agents(tools: Tools, script: list[Any], **options: Any) -> Shown:
    import test_gate_openai_agents as own

    from gllint_runtime.adapters.openai_agents import gate

    said = [
        own.call(item.name, f"c{i}", **item.arguments) if isinstance(item, Call) else item
        for i, item in enumerate(script)
    ]
    made = [own.function_tool(f, strict_mode=False) for f in tools.functions()]
    agent = gate(own.Agent(name="a", tools=made, model=own.Script(*said)), **options)

    async def run() -> Shown:
        result = own.Runner.run_streamed(agent, "How much?", run_config=own.QUIET)
        pieces = [
            event.data.delta
            async for event in result.stream_events()
            if getattr(getattr(event, "data", 0), "type", "") == "response.output_text.delta"
        ]
        return Shown(result.final_output, pieces, str(result.to_input_list()))

    return asyncio.run(run())


def pydantic_ai(tools: Tools, script: list[Any], **options: Any) -> Shown:
    import test_gate_pydantic_ai as own

    from gllint_runtime.adapters.pydantic_ai import gate

    agent = gate(own.Agent(own.says(*script), tools=tools.functions()), **options)

    async def run() -> Shown:
        async with agent.run_stream("How much?") as answer:
            pieces = [text async for text in answer.stream_text(delta=True, debounce_by=None)]
            return Shown("".join(pieces), pieces, str(answer.all_messages()))

    return asyncio.run(run())


def agno(tools: Tools, script: list[Any], **options: Any) -> Shown:
    import test_agno as own
    from gllint_runtime.adapters.agno import gate

    said = [
        own.calling(item.name, f"c{i}", **item.arguments) if isinstance(item, Call) else item
        for i, item in enumerate(script)
    ]
    model = own.Script(script=said)
    agent = gate(own.Agent(model=model, tools=tools.functions(), telemetry=False), **options)
    pieces, history = own.heard(agent)
    return Shown("".join(pieces), pieces, history)


def google_adk(tools: Tools, script: list[Any], **options: Any) -> Shown:
    import test_google_adk as own
    from gllint_runtime.adapters.google_adk import gate

    said = [
        own.calling(item.name, f"c{i}", **item.arguments) if isinstance(item, Call) else item
        for i, item in enumerate(script)
    ]
    app = own.App(gate(own.bare_agent(*said, tools=tools.functions()), **options))
    config = own.RunConfig(streaming_mode=own.StreamingMode.SSE)
    events = asyncio.run(app.events(run_config=config))
    pieces = [
        part.text
        for event in events
        if event.partial and event.content
        for part in event.content.parts
        if part.text
    ]
    return Shown(own.said(events), pieces, str(app.stored().events))


def llama_index(tools: Tools, script: list[Any], **options: Any) -> Shown:
    import test_llama_index as own
    from gllint_runtime.adapters.llama_index import gate

    said = [
        own.calling(item.name, f"c{i}", **item.arguments) if isinstance(item, Call) else item
        for i, item in enumerate(script)
    ]
    agent = gate(own.FunctionAgent(tools=tools.functions(), llm=own.Script(script=said)), **options)
    pieces, history, answer = asyncio.run(own.heard(agent))
    return Shown(str(answer), pieces, history)


def strands(tools: Tools, script: list[Any], **options: Any) -> Shown:
    import test_strands as own
    from gllint_runtime.adapters.strands import gate

    said = [
        own.calling(item.name, f"c{i}", **item.arguments) if isinstance(item, Call) else item
        for i, item in enumerate(script)
    ]
    made = [own.tool(f) for f in tools.functions()]
    agent = gate(own.Agent(model=own.Script(*said), tools=made, callback_handler=None), **options)

    async def run() -> list[Any]:
        return [event async for event in agent.stream_async("How much?")]

    events = asyncio.run(run())
    pieces = [event["data"] for event in events if "data" in event]
    return Shown(str(events[-1]["result"]).strip(), pieces, str(agent.messages))


def crewai(tools: Tools, script: list[Any], **options: Any) -> Shown:
    import test_crewai as own
    from gllint_runtime.adapters.crewai import gate

    said = [
        own.calling(item.name, f"c{i}", **item.arguments) if isinstance(item, Call) else item
        for i, item in enumerate(script)
    ]
    agent = own.bare(*said, tools=[own.tool(f) for f in tools.functions()])
    task = own.Task(description="How much?", expected_output="The heat.", agent=agent)
    result = gate(own.Crew(agents=[agent], tasks=[task]), **options).kickoff()
    return Shown(result.raw, [], str(result.tasks_output))


def smolagents(tools: Tools, script: list[Any], **options: Any) -> Shown:
    import test_smolagents as own
    from gllint_runtime.adapters.smolagents import gate

    said = [
        own.calling(item.name, f"c{i}", **item.arguments) if isinstance(item, Call) else own.answer(item)
        for i, item in enumerate(script)
    ]
    made = [own.tool(f) for f in tools.functions()]
    agent = gate(own.ToolCallingAgent(tools=made, model=own.Script(*said), **own.QUIET), **options)
    return Shown(str(agent.run("How much?")), [], own.memory_of(agent))


NEEDS = {
    langchain: "langchain",
    openai_agents: "agents",
    pydantic_ai: "pydantic_ai",
    agno: "agno",
    google_adk: "google.adk",
    llama_index: "llama_index.core",
    strands: "strands",
    crewai: "crewai",
    smolagents: "smolagents",
}


@pytest.fixture(params=NEEDS, ids=lambda driver: driver.__name__)
def run(request: pytest.FixtureRequest) -> Callable[..., Shown]:
    pytest.importorskip(NEEDS[request.param])
    driver: Callable[..., Shown] = request.param
    return driver


def test_a_plain_answer_over_a_bare_number_passes_and_a_made_up_one_is_mended(run: Any) -> None:
    shown = run(Tools(), [Call("meter"), "It uses 14 kWh.", "It uses 12.5 kWh."])
    assert shown.answer == "It uses 12.5 kWh."
    assert "14 kWh" not in "".join(shown.pieces) + shown.history
    assert run(Tools(), [Call("meter"), *["It uses 14 kWh."] * 3]).answer == REFUSAL


def test_a_stream_says_no_sentence_twice(run: Any) -> None:
    script = [Call("meter"), "It is warm. It uses 14 kWh. ", "It is warm. It uses 12.5 kWh. Fine."]
    shown = run(Tools(), script)
    assert shown.answer == "It is warm. It uses 12.5 kWh. Fine."
    if shown.pieces:
        assert "".join(shown.pieces) == shown.answer and len(shown.pieces) > 1
    script = [Call("meter"), "It is warm. It uses 14 kWh. ", "Well. It is warm. It uses 12.5 kWh."]
    text = "".join(run(Tools(), script).pieces)
    assert text.count("It is warm.") == (1 if text else 0) and "14" not in text
    text = "".join(run(Tools(), [Call("meter"), *["It is warm. It uses 14 kWh."] * 3]).pieces)
    assert text.count("It is warm.") == (1 if text else 0) and "14" not in text


def test_a_refusal_has_the_error_and_the_draft(run: Any) -> None:
    script = [Call("meter"), *["It is warm. It uses 14 kWh."] * 3]
    shown = run(Tools(), script, on_refusal=lambda error, draft: f"{error.code}: {len(draft)}")
    assert shown.answer.endswith("NO_SOURCE: 27")  # some show it behind what the stream has shown
    assert run(Tools(), script, on_refusal=drop_sentences).answer.strip() == "It is warm."
    assert (
        run(Tools(), [Call("meter"), *["It uses 14 kWh."] * 3], on_refusal=drop_sentences).answer == REFUSAL
    )


@pytest.mark.parametrize(
    ("body", "sent"),
    [
        ("You used 12.5 kWh.", "You used 12.5 kWh."),
        ("You used {{tc_1.heat_kwh}}.", None),
        ("You used {{claim:0}}.", None),
        ("You used 12.5 MWh.", None),
        ("You used 12.5 kWh and owe 999 EUR.", None),
    ],
)
def test_what_a_tool_sends_to_people_is_judged(run: Any, body: str, sent: str | None) -> None:
    tools = Tools()
    session = Session(mode="sourced", argument_origin="strict")
    script = [Call("meter"), Call("send_email", {"body": body}), "Done.", "Done."]
    assert run(tools, script, session=lambda: session).answer == "Done."
    assert tools.sent == ([] if sent is None else [sent])


def test_a_macro_in_an_argument_is_replaced(run: Any) -> None:
    tools, session = Tools(), Session()
    session.record("meter", {}, {"heat": {"value": 12.5, "unit": "kWh"}})
    body = {"body": "You used {{tc_1.heat}}."}
    run(tools, [Call("send_email", body), "Done."], session=lambda: session)
    assert tools.sent == ["You used 12.50 kWh."]


def test_a_mode_that_differs_from_the_given_session_s_is_an_error(run: Any) -> None:
    with pytest.raises(ValueError, match="leave mode out"):
        run(Tools(), ["Done."], session=Session(), mode="sourced")


def test_made_up_numbers_are_stopped_and_right_ones_pass(run: Any) -> None:
    wrong = passed = 0
    for number in range(10):
        value = round(3.1 + number * 7.37, 2)
        right, bad = f"It uses {value} kWh.", f"It uses {round(value * 1.31 + 0.2, 2)} kWh."
        passed += run(Tools(value), [Call("meter"), right, "Never."]).answer == right
        wrong += run(Tools(value), [Call("meter"), bad], max_retries=0).answer == REFUSAL
    assert (wrong, passed) == (10, 10)


class Reading(BaseModel):
    """A structured answer as people declare one."""

    site: str
    heat_kwh: float
    note: str


def structured_langchain(tools: Tools, data: dict[str, Any]) -> Any:
    import test_gate_langchain as own
    from langchain_core.tools import tool

    from gllint_runtime.adapters.langchain import gate

    said = own.says(own.calling(), own.calling("Reading", "s", **data))
    made = [tool(f) for f in tools.functions()]
    agent = gate(own.create_agent(said, made, response_format=own.ToolStrategy(Reading)), max_retries=0)
    return agent.invoke({"messages": ["How much?"]})["structured_response"]


def structured_openai_agents(tools: Tools, data: dict[str, Any]) -> Any:
    import test_gate_openai_agents as own

    from gllint_runtime.adapters.openai_agents import gate

    model = own.Script(own.call("meter"), json.dumps(data))
    made = [own.function_tool(f, strict_mode=False) for f in tools.functions()]
    return own.ask(
        gate(own.Agent(name="a", tools=made, model=model, output_type=Reading), max_retries=0)
    ).final_output


def structured_pydantic_ai(tools: Tools, data: dict[str, Any]) -> Any:
    import test_gate_pydantic_ai as own

    from gllint_runtime.adapters.pydantic_ai import gate

    model = own.says(("meter", {}), own.filled(**data))
    made = own.Agent(model, tools=tools.functions(), output_type=Reading, retries=0)
    return gate(made).run_sync("How much?").output


def structured_agno(tools: Tools, data: dict[str, Any]) -> Any:
    import test_agno as own
    from gllint_runtime.adapters.agno import gate

    model = own.Script(script=[own.calling(), json.dumps(data)])
    made = own.Agent(model=model, tools=tools.functions(), output_schema=Reading, telemetry=False)
    return gate(made, max_retries=0).run("How much?").content


def structured_google_adk(tools: Tools, data: dict[str, Any]) -> Any:
    import test_google_adk as own
    from gllint_runtime.adapters.google_adk import gate

    made = own.bare_agent(
        own.calling(), json.dumps(data), tools=tools.functions(), output_schema=Reading, output_key="reading"
    )
    app = own.App(gate(made, max_retries=0))
    return Reading.model_validate_json(app.ask())


def structured_strands(tools: Tools, data: dict[str, Any]) -> Any:
    import test_strands as own
    from gllint_runtime.adapters.strands import gate

    model = own.Script(own.calling(), own.calling("Reading", "s", **data))
    made = own.Agent(model=model, tools=[own.tool(f) for f in tools.functions()], callback_handler=None)
    return gate(made, max_retries=0)("How much?", structured_output_model=Reading).structured_output


def structured_crewai(tools: Tools, data: dict[str, Any]) -> Any:
    import test_crewai as own
    from gllint_runtime.adapters.crewai import gate

    agent = own.bare(own.calling(), json.dumps(data), tools=[own.tool(f) for f in tools.functions()])
    task = own.Task(
        description="How much?", expected_output="The heat.", agent=agent, output_pydantic=Reading
    )
    return gate(own.Crew(agents=[agent], tasks=[task]), max_retries=0).kickoff().pydantic


STRUCTURED: dict[Any, str] = {
    structured_langchain: "langchain",
    structured_openai_agents: "agents",
    structured_pydantic_ai: "pydantic_ai",
    structured_agno: "agno",
    structured_google_adk: "google.adk",
    structured_strands: "strands",
    structured_crewai: "crewai",
}


@pytest.mark.parametrize("ask", STRUCTURED, ids=lambda ask: ask.__name__)
def test_structured_answers_of_a_type_as_it_is_are_judged(ask: Any) -> None:
    pytest.importorskip(STRUCTURED[ask])
    wrong = passed = 0
    for number in range(10):
        value = round(3.1 + number * 7.37, 2)
        bad = round(value * 1.31 + 0.2, 2)
        data: dict[str, Any] = {"site": "north", "heat_kwh": value, "note": f"That is {value} kWh."}
        passed += ask(Tools(value), data) == Reading(**data)
        data["heat_kwh" if number % 2 else "note"] = bad if number % 2 else f"That is {bad} kWh."
        with pytest.raises(Exception, match=r"NO_SOURCE|Exceeded|exceeded"):
            ask(Tools(value), data)
        wrong += 1
    assert (wrong, passed) == (10, 10)

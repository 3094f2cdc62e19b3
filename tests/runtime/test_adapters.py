"""The gate inside other frameworks, each with the real package and its own way of scripting a model."""

from __future__ import annotations

import asyncio
import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from gllint_runtime import GLError, Session, Tool, ToolCategory, ToolRegistry

EXAMPLES = Path(__file__).parents[2] / "examples" / "gate"
NEEDS = {
    "ten_lines": "gllint_runtime",
    "langchain_agent": "langchain",
    "pydantic_ai_agent": "pydantic_ai",
    "openai_agents_agent": "agents",
    "mcp_both_ways": "mcp",
    "own_framework": "gllint_runtime",
    "openai_chat_loop": "openai",
    "openai_responses_loop": "openai",
    "anthropic_loop": "anthropic",
    "bedrock_loop": "boto3",
    "gemini_loop": "google.genai",
    "ollama_loop": "ollama",
    "crewai_agent": "crewai",
    "google_adk_agent": "google.adk",
    "smolagents_agent": "smolagents",
    "agno_agent": "agno",
    "llama_index_agent": "llama_index",
    "strands_agent": "strands",
    "local_model": "llama_cpp",
}
HEAT = {"heat": {"value": 12.5, "unit": "kWh"}}
MADE_UP = [
    "It uses 13 kWh.",
    "It uses ½ of it.",
    '{"message": "It uses 500kWh.", "claims": []}',
    "-{{claim:0}}",
]


def test_each_example_is_known() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} - {"scripted_api"} == set(NEEDS)


@pytest.mark.parametrize("name", NEEDS)
def test_examples_run(name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(NEEDS[name], reason=f"needs the extra for {NEEDS[name]}")
    monkeypatch.syspath_prepend(EXAMPLES)  # as for who runs the file
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert re.search(r"12\.50? kWh", capsys.readouterr().out)


def meter(site: str = "north") -> dict[str, Any]:
    """The heat that a site used."""
    return HEAT


def broken(site: str = "north") -> dict[str, Any]:
    """Returns a raw number."""
    return {"heat": 12.5}


@pytest.mark.parametrize("text", MADE_UP)
def test_langchain_never_ends_on_a_made_up_number(text: str) -> None:
    pytest.importorskip("langchain")
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
    from langchain_core.messages import AIMessage, HumanMessage

    from gllint_runtime.adapters.langchain import GateMiddleware

    model = FakeMessagesListChatModel(responses=[AIMessage(text)] * 9)
    agent = create_agent(model, [], middleware=[GateMiddleware(Session())])
    with pytest.raises(GLError):
        agent.invoke({"messages": [HumanMessage("How much?")]})
    assert model.i == 3


def test_langchain_tells_the_model_of_a_raw_number() -> None:
    pytest.importorskip("langchain")
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_core.tools import tool

    from gllint_runtime.adapters.langchain import GateMiddleware

    class Script(FakeMessagesListChatModel):
        def bind_tools(self, tools: Any, **options: Any) -> Any:
            return self

    call = {"name": "broken", "args": {}, "id": "call_1"}
    script = Script(responses=[AIMessage("", tool_calls=[call]), AIMessage("I cannot say.")])
    agent = create_agent(script, [tool(broken)], middleware=[GateMiddleware(lambda: session)])
    session = Session()
    messages = asyncio.run(agent.ainvoke({"messages": [HumanMessage("How much?")]}))["messages"]
    assert messages[2].text.startswith("[RESULT_SCHEMA]") and messages[2].status == "error"
    assert messages[-1].text == "I cannot say." and session.next_id() == "tc_1"


@pytest.mark.parametrize("text", MADE_UP)
def test_pydantic_ai_never_ends_on_a_made_up_number(text: str) -> None:
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import Agent
    from pydantic_ai.exceptions import UnexpectedModelBehavior
    from pydantic_ai.messages import ModelResponse, TextPart
    from pydantic_ai.models.function import FunctionModel

    from gllint_runtime.adapters.pydantic_ai import output_check

    agent = Agent(FunctionModel(lambda messages, info: ModelResponse([TextPart(text)])))
    agent.output_validator(output_check(Session()))
    with pytest.raises(UnexpectedModelBehavior):
        agent.run_sync("How much?")


def test_pydantic_ai_tells_the_model_of_a_raw_number() -> None:
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import Agent, FunctionToolset
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from gllint_runtime.adapters.pydantic_ai import GatedToolset, output_check

    script = iter([ToolCallPart("broken", {}), TextPart("I cannot say.")])
    session = Session()
    agent = Agent(
        FunctionModel(lambda messages, info: ModelResponse([next(script)])),
        toolsets=[GatedToolset(FunctionToolset([broken]), session)],
    )
    agent.output_validator(output_check(session))
    result = agent.run_sync("How much?")
    parts = [part for message in result.all_messages() for part in message.parts]
    assert [str(part) for part in parts if "[RESULT_SCHEMA]" in str(part)]
    assert result.output == "I cannot say."


@pytest.mark.parametrize("text", MADE_UP)
def test_openai_agents_never_end_on_a_made_up_number(text: str) -> None:
    pytest.importorskip("agents")
    from agents import Agent, OutputGuardrailTripwireTriggered, RunConfig, Runner

    from gllint_runtime.adapters.openai_agents import guardrail, run

    example = runpy.run_path(str(EXAMPLES / "openai_agents_agent.py"))
    script, says = example["Script"], example["says"]
    config = RunConfig(tracing_disabled=True)
    agent = Agent(name="a", model=script(*[says(text)] * 9))
    with pytest.raises(GLError):
        asyncio.run(run(agent, "How much?", Session(), run_config=config))
    guarded = Agent(name="a", model=script(says(text)), output_guardrails=[guardrail(Session())])
    with pytest.raises(OutputGuardrailTripwireTriggered):
        asyncio.run(Runner.run(guarded, "How much?", run_config=config))
    honest = Agent(name="a", model=script(says("Good.")), output_guardrails=[guardrail(Session())])
    assert asyncio.run(Runner.run(honest, "How much?", run_config=config)).final_output == "Good."


def test_openai_agents_tell_the_model_of_a_raw_number() -> None:
    pytest.importorskip("agents")
    from agents import Agent, RunConfig, function_tool
    from openai.types.responses import ResponseFunctionToolCall

    from gllint_runtime.adapters.openai_agents import gated, run

    example = runpy.run_path(str(EXAMPLES / "openai_agents_agent.py"))
    call = ResponseFunctionToolCall(call_id="c", name="broken", arguments="{}", type="function_call")
    session = Session()
    model = example["Script"](call, example["says"]("I cannot say."))
    agent = Agent(name="a", tools=[gated(function_tool(broken), session)], model=model)
    verified = asyncio.run(run(agent, "How much?", session, run_config=RunConfig(tracing_disabled=True)))
    assert verified.message == "I cannot say." and session.next_id() == "tc_1"


def scaled(area: float) -> dict[str, Any]:
    """The heat that an area needs."""
    return {"heat": {"value": area * 2, "unit": "kWh"}}


ANSWER = json.dumps(
    {
        "message": "It needs {{claim:0}}.",
        "claims": [{"source_call_id": "tc_1", "path": "$.heat", "quantity": {"value": 800, "unit": "kWh"}}],
    }
)


def test_langchain_knows_what_the_user_said_before_a_tool_is_called() -> None:
    pytest.importorskip("langchain")
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_core.tools import tool

    from gllint_runtime.adapters.langchain import GateMiddleware

    class Script(FakeMessagesListChatModel):
        def bind_tools(self, tools: Any, **options: Any) -> Any:
            return self

    call = {"name": "scaled", "args": {"area": 400}, "id": "call_1"}
    script = Script(responses=[AIMessage("", tool_calls=[call]), AIMessage(ANSWER)])
    session = Session(argument_origin="strict")
    agent = create_agent(script, [tool(scaled)], middleware=[GateMiddleware(session)])
    said = [HumanMessage("The house has 400 m2."), HumanMessage("How much heat?")]
    assert agent.invoke({"messages": said})["messages"][-1].text == "It needs 800.00 kWh."


@pytest.mark.parametrize("in_parts", [False, True])
def test_pydantic_ai_knows_what_the_user_said_before_a_tool_is_called(in_parts: bool) -> None:
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import Agent, FunctionToolset
    from pydantic_ai.messages import ImageUrl, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from gllint_runtime.adapters.pydantic_ai import GatedToolset, output_check

    script = iter([ToolCallPart("scaled", {"area": 400}), TextPart(ANSWER)])
    session = Session(argument_origin="strict")
    agent = Agent(
        FunctionModel(lambda messages, info: ModelResponse([next(script)])),
        toolsets=[GatedToolset(FunctionToolset([scaled]), session)],
    )
    agent.output_validator(output_check(session))
    said = "How much heat for 400 m2?"
    picture = ImageUrl("https://example.org/house.png")
    assert agent.run_sync([picture, said] if in_parts else said).output == "It needs 800.00 kWh."


def test_openai_agents_know_what_the_user_said_before_a_tool_is_called() -> None:
    pytest.importorskip("agents")
    from agents import Agent, RunConfig, function_tool
    from openai.types.responses import ResponseFunctionToolCall

    from gllint_runtime.adapters.openai_agents import gated, run

    example = runpy.run_path(str(EXAMPLES / "openai_agents_agent.py"))
    call = ResponseFunctionToolCall(
        call_id="c", name="scaled", arguments='{"area": 400}', type="function_call"
    )
    session = Session(argument_origin="strict")
    model = example["Script"](call, example["says"](ANSWER))
    agent = Agent(name="a", tools=[gated(function_tool(scaled), session)], model=model)
    config = RunConfig(tracing_disabled=True)
    verified = asyncio.run(run(agent, "How much heat for 400 m2?", session, run_config=config))
    assert verified.message == "It needs 800.00 kWh."


def test_mcp_refuses_on_both_sides() -> None:
    mcp = pytest.importorskip("mcp")
    from gllint_runtime.adapters.mcp import GatedClient, server

    registry = ToolRegistry()
    registry.register(Tool(name="meter", fn=meter))
    registry.register(Tool(name="broken", fn=broken))
    registry.register(Tool(name="switch", fn=meter, category=ToolCategory.EXTERNAL))
    registry.register(Tool(name="note", fn=lambda: "warm", result_schema={}))

    async def main() -> None:
        session = Session()
        async with mcp.Client(server("meters", registry)) as client:
            gated = GatedClient(client, session)
            assert [tool.name for tool in await gated.tools()] == ["meter", "broken", "switch", "note"]
            assert await gated.call("meter") == {"tool_call_id": "tc_1", "output": HEAT}
            assert await gated.call("note") == {"tool_call_id": "tc_2", "output": "warm"}
            for name, arguments, code in (
                ("broken", {}, "TOOL_FAILED"),
                ("switch", {}, "TOOL_FAILED"),
                ("meter", {"x": 1}, "TOOL_FAILED"),
                ("guess", {}, "PATH_RESOLUTION"),
            ):
                with pytest.raises(GLError) as caught:
                    await gated.call(name, arguments)
                assert caught.value.code == code
        assert session.next_id() == "tc_3"

    asyncio.run(main())


def test_an_mcp_tool_promises_what_somebody_said_of_it() -> None:
    mcp = pytest.importorskip("mcp")
    from gllint_runtime.adapters.mcp import category, server

    registry = ToolRegistry()
    registry.register(Tool(name="meter", fn=meter))
    registry.register(Tool(name="live", fn=meter, live_required=True))
    registry.register(Tool(name="read", fn=meter, category=ToolCategory.READ_ONLY))

    async def main() -> None:
        async with mcp.Client(server("meters", registry)) as client:
            silent, live, read = (await client.list_tools()).tools
            assert silent.annotations.model_dump(by_alias=True, exclude_none=True) == {}
            assert live.annotations.model_dump(by_alias=True, exclude_none=True) == {"openWorldHint": True}
            assert [category(tool) for tool in (silent, read)] == [
                ToolCategory.EXTERNAL,
                ToolCategory.READ_ONLY,
            ]

    asyncio.run(main())
    assert registry["meter"].category is ToolCategory.READ_ONLY


def test_an_mcp_server_of_somebody_else_is_judged() -> None:
    mcp = pytest.importorskip("mcp")
    from mcp.server.mcpserver import MCPServer

    from gllint_runtime.adapters.mcp import GatedClient

    other = MCPServer("other")
    other.tool()(broken)

    async def main() -> None:
        async with mcp.Client(other) as client:
            with pytest.raises(GLError) as caught:
                await GatedClient(client, Session()).call("broken")
            assert caught.value.code == "RESULT_SCHEMA"

    asyncio.run(main())


def test_langchain_counts_the_retries_of_each_message() -> None:
    pytest.importorskip("langchain")
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
    from langchain_core.messages import AIMessage, HumanMessage

    from gllint_runtime.adapters.langchain import GateMiddleware

    said = [AIMessage(text) for _ in range(4) for text in ("It is 5.", "It is warm.")]
    model = FakeMessagesListChatModel(responses=[*said])
    agent = create_agent(model, [], middleware=[GateMiddleware(Session(), max_retries=1)])
    messages: list[Any] = []
    for _ in range(3):
        messages = agent.invoke({"messages": [*messages, HumanMessage("How much?")]})["messages"]
        assert messages[-1].text == "It is warm."
    assert not any("5" in message.text for message in messages if isinstance(message, AIMessage))
    assert agent.invoke({"messages": [AIMessage("It was 5.")]})["messages"][-1].text == "It is warm."


def test_langchain_ends_on_no_answer_that_was_not_checked() -> None:
    pytest.importorskip("langchain")
    from langchain.agents import create_agent
    from langchain.agents.middleware import ModelCallLimitMiddleware
    from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_core.tools import tool

    from gllint_runtime.adapters.langchain import GateMiddleware

    class Script(FakeMessagesListChatModel):
        def bind_tools(self, tools: Any, **options: Any) -> Any:
            return self

    call = {"name": "meter", "args": {}, "id": "call_1"}
    model = Script(responses=[AIMessage("", tool_calls=[call])])
    limit = ModelCallLimitMiddleware(run_limit=1, exit_behavior="end")
    agent = create_agent(model, [tool(meter)], middleware=[GateMiddleware(Session()), limit])
    with pytest.raises(GLError) as caught:
        agent.invoke({"messages": [HumanMessage("How much?")]})
    assert caught.value.code == "PROVIDER_FAILED"


def test_langchain_records_what_a_command_brings_and_passes_on_an_error() -> None:
    pytest.importorskip("langchain")
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
    from langchain_core.tools import StructuredTool, ToolException
    from langgraph.types import Command

    from gllint_runtime.adapters.langchain import GateMiddleware

    class Script(FakeMessagesListChatModel):
        def bind_tools(self, tools: Any, **options: Any) -> Any:
            return self

    def failing() -> str:
        """Fails."""
        raise ToolException("the meter is away")

    def command() -> Any:
        """Changes the state."""
        return Command(update={"messages": [ToolMessage("{}", tool_call_id="c2")]})

    tools = [
        StructuredTool.from_function(failing, handle_tool_error=True),
        StructuredTool.from_function(command),
    ]
    calls = [{"name": "failing", "args": {}, "id": "c1"}, {"name": "command", "args": {}, "id": "c2"}]
    model = Script(responses=[AIMessage("", tool_calls=calls), AIMessage("I cannot say.")])
    session = Session()
    agent = create_agent(model, tools, middleware=[GateMiddleware(session)])
    messages = agent.invoke({"messages": [HumanMessage("How much?")]})["messages"]
    assert [message.text for message in messages[2:]] == [
        "the meter is away",
        '{"tool_call_id": "tc_2", "output": {}}',
        "I cannot say.",
    ]
    assert session.next_id() == "tc_3"


@pytest.mark.parametrize("method", ["stream_output", "stream_text", "get_output"])
@pytest.mark.parametrize("word", ["13", "much"])
def test_pydantic_ai_streams_nothing_unchecked(method: str, word: str) -> None:
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import Agent
    from pydantic_ai.exceptions import UnexpectedModelBehavior
    from pydantic_ai.models.function import FunctionModel

    from gllint_runtime.adapters.pydantic_ai import output_check

    async def stream(messages: Any, info: Any) -> Any:
        for piece in ("It ", "uses ", word, " kWh."):
            yield piece

    agent = Agent(FunctionModel(stream_function=stream))
    agent.output_validator(output_check(Session()))
    shown: list[str] = []

    async def main() -> None:
        async with agent.run_stream("How much?") as answer:
            if method != "get_output":
                async for text in getattr(answer, method)(debounce_by=None):
                    shown.append(text)
            shown.append(await answer.get_output())

    if word == "13":
        with pytest.raises(UnexpectedModelBehavior):
            asyncio.run(main())
        assert set(shown) <= {""}
    else:
        asyncio.run(main())
        assert shown[-1] == "It uses much kWh." and set(shown[:-1]) <= {"", shown[-1]}


def test_what_an_adapter_is_told() -> None:
    from gllint_runtime.adapters import check_final, recorded

    session = Session()
    assert recorded(session, "meter", {}, '{"heat": {"value": 12.5, "unit": "kWh"}}')["output"] == HEAT
    assert recorded(session, "note", {}, "warm")["output"] == {"text": "warm"}
    assert recorded(session, "note", {}, "5")["output"] == {"text": "5"}
    assert recorded(session, "rows", {}, '{"rows": 5}')["output"] == {"rows": 5}
    blocks = [{"type": "text", "text": json.dumps(HEAT)}]
    assert recorded(session, "meter", {}, blocks)["output"] == HEAT
    assert Session.from_json(session.to_json()).output("tc_4") == {"rows": 5}
    with pytest.raises(GLError):
        recorded(session, "rows", {}, {"rows": 5})
    with pytest.raises(GLError):
        recorded(Session(json_text="strict"), "rows", {}, '{"rows": 5}')
    claim = {"source_call_id": "tc_1", "path": "$.heat", "quantity": HEAT["heat"]}
    answer = {"message": "It uses {{claim:0}}.", "claims": [claim]}
    for final in (answer, json.dumps(answer), f"```json\n{json.dumps(answer)}\n```"):
        assert check_final(session, final).message == "It uses 12.50 kWh."
    assert check_final(session, "It is warm.").message == "It is warm."
    for final in (5, None, {"message": 5}, {"message": "13"}, '{"message": "13"}', "It uses {{claim:0}}."):
        with pytest.raises(GLError):
            check_final(session, final)


def test_all_pages_of_an_mcp_servers_tools() -> None:
    mcp = pytest.importorskip("mcp")
    from mcp.server.lowlevel import Server

    from gllint_runtime.adapters.mcp import GatedClient

    pages = {None: ("meter", "next"), "next": ("pump", None)}

    async def offered(context: Any, params: Any) -> Any:
        name, cursor = pages[params.cursor if params else None]
        tool = mcp.types.Tool(name=name, input_schema={"type": "object"})
        return mcp.types.ListToolsResult(tools=[tool], next_cursor=cursor)

    async def called(context: Any, params: Any) -> Any:
        text = mcp.types.TextContent(type="text", text="warm")
        return mcp.types.CallToolResult(content=[text])

    async def main() -> None:
        async with mcp.Client(Server("pages", on_list_tools=offered, on_call_tool=called)) as client:
            gated = GatedClient(client, Session())
            assert await gated.call("pump") == {"tool_call_id": "tc_1", "output": {"text": "warm"}}
            assert [tool.name for tool in await gated.tools()] == ["meter", "pump"]

    asyncio.run(main())


def test_langchain_withholds_a_number_beside_a_tool_call() -> None:
    pytest.importorskip("langchain")
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_core.tools import StructuredTool

    from gllint_runtime.adapters.langchain import GateMiddleware

    class Script(FakeMessagesListChatModel):
        def bind_tools(self, tools: Any, **options: Any) -> Any:
            return self

    class Shut:
        def __bool__(self) -> bool:
            raise ValueError

    def chart() -> Any:
        """Returns what is no data beside its text."""
        return "drawn", Shut()

    thought = {"type": "reasoning", "reasoning": "let me see"}
    call = {"name": "chart", "args": {}, "id": "c1"}
    said = [
        AIMessage("About 13 kWh; I look.", tool_calls=[call]),
        AIMessage([thought, {"type": "text", "text": "About 13"}], tool_calls=[call | {"id": "c2"}]),
        AIMessage("I look once more.", tool_calls=[call | {"id": "c3"}]),
        AIMessage("I cannot say."),
    ]
    tools = [StructuredTool.from_function(chart, response_format="content_and_artifact")]
    agent = create_agent(Script(responses=said), tools, middleware=[GateMiddleware(Session())])
    messages = agent.invoke({"messages": [HumanMessage("How much?")]})["messages"]
    answers = [message.content for message in messages if isinstance(message, AIMessage)]
    assert answers == ["", [thought], "I look once more.", "I cannot say."]
    assert messages[1].tool_calls and messages[2].text.startswith("[RESULT_SCHEMA]")


def test_pydantic_ai_unwraps_a_tool_return_and_checks_a_model() -> None:
    pytest.importorskip("pydantic_ai")
    from pydantic import BaseModel
    from pydantic_ai import Agent, FunctionToolset, ToolReturn
    from pydantic_ai.exceptions import UnexpectedModelBehavior
    from pydantic_ai.messages import ModelResponse, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    from gllint_runtime.adapters.pydantic_ai import GatedToolset, output_check

    class Answer(BaseModel):
        message: str
        claims: list[dict[str, Any]] = []

    class Scored(Answer):
        score: float = 13

    def wrapped() -> Any:
        """The heat, and what only the program sees."""
        return ToolReturn(HEAT, metadata={"rows": 5})

    claim = {"source_call_id": "tc_1", "path": "$.heat", "quantity": HEAT["heat"]}
    final = {"message": "It uses {{claim:0}}.", "claims": [claim]}

    def asked(output_type: Any, *said: dict[str, Any]) -> Any:
        session, script = Session(), iter(said)

        def model(messages: Any, info: Any) -> ModelResponse:
            known = info.output_tools[0].name
            args = next(script)
            return ModelResponse([ToolCallPart(known if args else "wrapped", args)])

        toolset = GatedToolset(FunctionToolset([wrapped]), session)
        agent = Agent(FunctionModel(model), toolsets=[toolset], output_type=output_type)
        agent.output_validator(output_check(session))
        return agent.run_sync("How much?")

    result = asked(Answer, {}, final)
    assert result.output == Answer(message="It uses 12.50 kWh.", claims=[claim])
    (part, *_) = [p for m in result.all_messages() for p in m.parts if isinstance(p, ToolReturnPart)]
    assert part.content == {"tool_call_id": "tc_1", "output": HEAT} and part.metadata == {"rows": 5}
    assert asked(Scored, {}, final).output == "It uses 12.50 kWh."  # the score is nobody's
    with pytest.raises(UnexpectedModelBehavior):
        asked(Answer, {"message": "About 13."}, {"message": "It is 13."})


def test_openai_agents_take_a_conversation_and_arguments_that_are_no_json() -> None:
    pytest.importorskip("agents")
    from agents import Agent, RunConfig, function_tool
    from openai.types.responses import ResponseFunctionToolCall

    from gllint_runtime.adapters.openai_agents import gated, run

    example = runpy.run_path(str(EXAMPLES / "openai_agents_agent.py"))
    session = Session()
    bad = ResponseFunctionToolCall(call_id="c1", name="scaled", arguments="{bad", type="function_call")
    call = ResponseFunctionToolCall(
        call_id="c2", name="scaled", arguments='{"area": 80}', type="function_call"
    )
    model = example["Script"](bad, call, example["says"]("I cannot say."))
    agent = Agent(name="a", tools=[gated(function_tool(scaled), session)], model=model)
    said = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hello"},
        {"role": "user", "content": [{"type": "input_text", "text": "I have 80 m2."}]},
    ]
    verified = asyncio.run(run(agent, said, session, run_config=RunConfig(tracing_disabled=True)))
    assert verified.message == "I cannot say." and session.next_id() == "tc_2"
    assert [origin.kind for origin in session.tool_arguments("scaled", {"area": 80}).origins or ()] == [
        "user"
    ]


@pytest.mark.parametrize("what", ["raises", "is endless"])
def test_an_mcp_server_that_gives_no_answer(what: str) -> None:
    mcp = pytest.importorskip("mcp")
    from mcp.server.lowlevel import Server

    from gllint_runtime.adapters.mcp import GatedClient

    async def offered(context: Any, params: Any) -> Any:
        tool = mcp.types.Tool(name="meter", input_schema={"type": "object"})
        return mcp.types.ListToolsResult(tools=[tool], next_cursor="x" if what == "is endless" else None)

    async def called(context: Any, params: Any) -> Any:
        raise RuntimeError

    async def main() -> None:
        async with mcp.Client(Server("silent", on_list_tools=offered, on_call_tool=called)) as client:
            with pytest.raises(GLError) as caught:
                await GatedClient(client, Session()).call("meter")
            assert caught.value.code == "TOOL_FAILED"

    asyncio.run(main())

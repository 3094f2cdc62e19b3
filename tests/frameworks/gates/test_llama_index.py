"""The gate in LlamaIndex, asked of the package itself: sessions, streams, structured answers, several agents."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="LlamaIndex has an environment of its own: .ci/frameworks")

from llama_index.core.agent.workflow import AgentStream, AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ImageBlock,
    LLMMetadata,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.memory import Memory
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context

from gate_answers import BAD, GOOD, HEAT, NAKED, REFUSED, SUM, TWICE, Answer, Rated, final, origin
from gllint_runtime import GLError, Quantity, Session, calculate
from gllint_runtime.adapters import current_session
from gllint_runtime.adapters.llama_index import gate as gate_of


def gate(target: Any, **options: Any) -> Any:
    """The gate in claims mode; a session has its own."""
    return gate_of(target, **({} if options.get("session") is not None else {"mode": "claims"}), **options)


def calling(name: str = "meter", call_id: str = "call_1", **arguments: Any) -> list[Any]:
    return [ToolCallBlock(tool_call_id=call_id, tool_name=name, tool_kwargs=arguments)]


class Script(FunctionCallingLLM):
    """Says what it is told to, by five letters."""

    script: list[Any]
    asked: list[Any] = []

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_function_calling_model=True, model_name="script")

    def _next(self, messages: Any) -> ChatResponse:
        self.asked.append(messages)
        said = self.script.pop(0)
        blocks = [TextBlock(text=said)] if isinstance(said, str) else [*said]
        usage = {"usage": {"total_tokens": 5}}
        return ChatResponse(message=ChatMessage(role="assistant", blocks=blocks), raw=usage)

    def chat(self, messages: Any, **options: Any) -> ChatResponse:
        return self._next(messages)

    async def achat(self, messages: Any, **options: Any) -> ChatResponse:
        return self._next(messages)

    async def astream_chat(self, messages: Any, **options: Any) -> Any:
        whole = self._next(messages)

        async def stream() -> Any:
            text = whole.message.content or ""
            for start in range(0, len(text), 5):
                part = ChatMessage(role="assistant", content=text[: start + 5])
                yield ChatResponse(message=part, delta=text[start : start + 5], raw=whole.raw)
            whole.delta = ""
            yield whole

        return stream()

    def stream_chat(self, *arguments: Any, **options: Any) -> Any:
        raise NotImplementedError

    complete = stream_complete = stream_chat

    async def acomplete(self, *arguments: Any, **options: Any) -> Any:
        raise NotImplementedError

    astream_complete = acomplete

    def _prepare_chat_with_tools(self, tools: Any, **options: Any) -> Any:
        history = [*(options.get("chat_history") or [])]
        if user := options.get("user_msg"):
            history.append(ChatMessage(role="user", content=user) if isinstance(user, str) else user)
        return {"messages": history}

    def get_tool_calls_from_response(self, response: Any, **options: Any) -> list[ToolSelection]:
        return [
            ToolSelection(
                tool_id=block.tool_call_id, tool_name=block.tool_name, tool_kwargs=block.tool_kwargs
            )
            for block in response.message.blocks
            if isinstance(block, ToolCallBlock)
        ]


def meter(site: str = "north") -> dict[str, Any]:
    """The heat that a site used."""
    return HEAT


def made(
    *script: Any, option: Any = None, tools: Any = (meter,), kind: Any = FunctionAgent, **options: Any
) -> Any:
    own = {name: options.pop(name) for name in ("max_retries", "on_refusal") if name in options}
    return gate(kind(tools=[*tools], llm=Script(script=[*script]), **options), session=option, **own)


def ask(agent: Any, text: str = "How much?", **options: Any) -> Any:
    async def run() -> Any:
        return await agent.run(text, **options)

    return asyncio.run(run())


async def heard(agent: Any, **options: Any) -> tuple[list[str], str, Any]:
    handler = agent.run("How?", **options)
    events = [event async for event in handler.stream_events()]
    deltas = [event.delta for event in events if isinstance(event, AgentStream) and event.delta]
    return deltas, str(events), await handler


def test_a_made_up_number_is_stopped_and_mended() -> None:
    memory = Memory.from_defaults(session_id="ada")
    agent = made(calling(), NAKED, final("It uses {{claim:0}}."))
    assert str(ask(agent, memory=memory)) == "It uses 12.50 kWh."
    history = memory.get()
    assert "13 kWh" not in str(history)
    assert json.loads(history[2].content) == {"tool_call_id": "tc_1", "output": HEAT}
    assert "NO_NAKED_NUMBERS" in str(agent.llm.asked[-1])
    assert str(ask(made(calling(), final("{{claim:0}}", "call_1")))) == "12.50 kWh"
    assert str(ask(made(calling(), NAKED, final("{{claim:0}}"), streaming=False))) == "12.50 kWh"


def test_where_repairs_run_out() -> None:
    refused = ask(made(*[NAKED] * 3))
    assert str(refused) == REFUSED and "13 kWh" not in repr(refused)
    assert str(ask(made(NAKED, max_retries=0, on_refusal="No."))) == "No."
    with pytest.raises(TypeError, match="gate takes"):
        gate("agent")


def test_each_conversation_has_its_own_numbers() -> None:
    cited = final("{{claim:0}}")

    async def run() -> None:
        agent = made(calling(), "It is warm.", cited, cited, cited, cited)
        ada, bob = (Memory.from_defaults(session_id=name) for name in ("ada", "bob"))
        await agent.run("How?", memory=ada)
        assert str(await agent.run("And?", memory=bob)) == REFUSED
        assert str(await agent.run("So?", memory=ada, ctx=Context(agent))) == "12.50 kWh"

    asyncio.run(run())
    assert current_session() is None


def test_a_restart_forgets_nothing() -> None:
    memory = Memory.from_defaults(session_id="ada")
    ask(made(calling(), "It is warm."), memory=memory)
    stored = json.dumps([message.model_dump(mode="json") for message in memory.get()])
    history = [ChatMessage.model_validate(message) for message in json.loads(stored)]
    later = made(calling(call_id="call_2"), final("{{claim:0}}", "tc_2"), final("{{claim:0}}", "call_1"))
    assert str(ask(later, chat_history=[*history])) == str(ask(later, chat_history=[*history])) == "12.50 kWh"


def test_one_session_for_two_conversations_is_told() -> None:
    agent = made(calling(), "Warm.", "Warm.", "Warm.", option=Session())
    memory = Memory.from_defaults(session_id="ada")
    ask(agent, memory=memory)
    ask(agent, memory=memory)
    with pytest.raises(GLError, match="SESSION_SHARED"):
        ask(agent, memory=Memory.from_defaults(session_id="bob"))
    sessions: dict[str, Session] = {}
    found = made(
        calling(),
        final("{{claim:0}}"),
        option=lambda run: sessions.setdefault(run.options["memory"].session_id, Session()),
    )
    assert str(ask(found, memory=Memory.from_defaults(session_id="ada"))) == "12.50 kWh"
    assert sessions["ada"].count == 1


def test_a_stream_shows_what_was_checked_by_sentences() -> None:
    answer = final("It is warm. It uses {{claim:0}}. Fine?")
    deltas, events, _ = asyncio.run(heard(made(calling(), NAKED, answer)))
    assert "".join(deltas) == "It is warm. It uses 12.50 kWh. Fine?" and len(deltas) >= 3
    assert "13 kWh" not in events
    deltas, _, output = asyncio.run(heard(made("It is warm. It uses 13 kWh.", "It is cold.")))
    assert "".join(deltas) == "It is warm. \n\nIt is cold." and str(output) == "It is cold."
    deltas, events, _ = asyncio.run(heard(made(*[NAKED] * 3)))
    assert deltas == [REFUSED] and "13 kWh" not in events


def test_nothing_is_lost() -> None:
    picture = ImageBlock(url="https://example.org/a.png")

    def camera() -> Any:
        """A picture and a reading."""
        return [TextBlock(text=json.dumps(HEAT)), picture, TextBlock(text='{"note": "warm"}')]

    def quantity() -> dict[str, Quantity]:
        """A reading of our own."""
        return {"heat": Quantity(12.5, "kWh")}

    memory = Memory.from_defaults(session_id="ada")
    output = ask(
        made(calling("camera"), NAKED, final("{{claim:0}}", path="$.block_1.heat"), tools=[camera]),
        memory=memory,
    )
    assert str(output) == "12.50 kWh" and output.raw == {"usage": {"total_tokens": 5}}
    assert output.tool_calls[0].tool_name == "camera"
    assert memory.get()[2].blocks[1] == picture
    assert str(ask(made(calling("quantity"), final("{{claim:0}}"), tools=[quantity]))) == "12.50 kWh"
    noted = [TextBlock(text="I look, 13 kWh."), *calling()]
    memory = Memory.from_defaults(session_id="bob")
    assert str(ask(made(noted, final("{{claim:0}}")), memory=memory)) == "12.50 kWh"
    assert "13 kWh" not in str(memory.get())
    direct = FunctionTool.from_defaults(
        lambda: "13 kWh as the program says", name="direct", return_direct=True, description="d"
    )
    assert "as the program says" in str(ask(made(calling("direct"), tools=[direct])))


def test_results_and_arguments_that_do_not_hold_go_back_to_the_model() -> None:
    def heat_of(area_m2: float) -> dict[str, Any]:
        """The heat of an area."""
        return {"value": area_m2, "unit": "kWh"}

    memory = Memory.from_defaults(session_id="ada")
    ask(
        made(calling("heat_of", area_m2={"value": 5, "unit": "kWh"}), "Warm.", tools=[heat_of]), memory=memory
    )
    assert "ARGUMENT_UNIT" in str(memory.get()[2].content)

    def bare() -> Any:
        """A bare number."""
        return {"heat": 5}

    assert str(ask(made(calling("bare"), *[final("{{claim:0}}", value=5)] * 3, tools=[bare]))) == REFUSED


def test_structured_answers_have_the_tools_own_quantities() -> None:
    bad = calling("Answer", "s", **BAD)
    good = calling("Answer", "t", **GOOD)
    agent = made(calling(), "It is warm.", bad, good, output_cls=Answer)
    _, events, output = asyncio.run(heard(agent))
    assert output.structured_response == {
        "heat": Quantity(12.5, "kWh"),
        "note": "It uses 12.50 kWh.",
        "stars": 5,
    }
    assert output.get_pydantic_model(Answer).heat == Quantity(12.5, "kWh")
    assert "13 kWh" not in events
    with pytest.raises(GLError):
        ask(made(calling(), "It is warm.", *[bad] * 3, output_cls=Answer))
    with pytest.raises(TypeError, match="Rated.rating is a bare float"):
        made(output_cls=Rated)


def test_react_agents_are_gated() -> None:
    script = [
        "Thought: I look, maybe 13 kWh.\nAction: meter\nAction Input: {}",
        "Thought: I can answer.\nAnswer: It uses 13 kWh.",
        "Thought: I can answer.\nAnswer: " + final("It uses {{claim:0}}."),
        "Thought: I can answer.\nAnswer: " + final("Still {{claim:0}}."),
    ]

    async def run() -> None:
        agent = made(*script, kind=ReActAgent)
        memory = Memory.from_defaults(session_id="ada")
        deltas, events, output = await heard(agent, memory=memory)
        assert str(output) == "It uses 12.50 kWh." and "13 kWh" not in events
        assert "".join(deltas) == "It uses 12.50 kWh."
        assert "13 kWh" not in str(memory.get())
        assert str(await agent.run("So?", memory=memory)) == "Still 12.50 kWh."

    asyncio.run(run())
    refused = made(*["Thought: I can answer.\nAnswer: It uses 13 kWh."] * 3, kind=ReActAgent)
    assert str(ask(refused)) == REFUSED


def test_a_supervisor_repeats_the_number_of_its_sub_agent() -> None:
    inner = made(calling(), NAKED, final("It uses {{claim:0}}."))

    async def expert(question: str) -> str:
        """Asks the expert."""
        return str(await inner.run(question))

    told = final("So it is {{claim:0}}.", "tc_2", path="$.numbers.heat")
    outer = made(calling("expert", question="How?"), NAKED, told, tools=[expert])
    _, events, output = asyncio.run(heard(outer))
    assert str(output) == "So it is 12.50 kWh." and "13 kWh" not in events


def test_the_task_of_a_sub_agent_is_no_user_s_word() -> None:
    inner = made(calling(), "Warm.")

    async def expert(question: str) -> str:
        """Asks the expert."""
        return str(await inner.run(question))

    session = Session()
    ask(
        made(calling("expert", question="For 500 m2?"), "Well.", tools=[expert], option=session),
        "I have 400 m2.",
    )
    assert (origin(session, 500), origin(session, 400)) == ("none", "user")
    session = Session()
    handoff = calling("handoff", "h", to_agent="writer", reason="for 500 m2")
    agents = [
        FunctionAgent(name=name, description=name, llm=Script(script=script), tools=[meter])
        for name, script in (("boss", [handoff]), ("writer", [calling(), "Warm."]))
    ]
    ask(gate(AgentWorkflow(agents=agents, root_agent="boss"), session=session), "I have 400 m2.")
    assert (origin(session, 500), origin(session, 400)) == ("none", "user")


def test_a_workflow_of_agents_is_gated_as_a_whole() -> None:
    def agent(name: str, *script: Any, **options: Any) -> FunctionAgent:
        return FunctionAgent(name=name, description=name, llm=Script(script=[*script]), **options)

    reader = agent(
        "reader", calling(), calling("handoff", "h", to_agent="writer", reason="done"), tools=[meter]
    )
    writer = agent("writer", NAKED, final("Indeed {{claim:0}}."))
    flow = gate(AgentWorkflow(agents=[reader, writer], root_agent="reader"))
    _, events, output = asyncio.run(heard(flow))
    assert str(output) == "Indeed 12.50 kWh." and "13 kWh" not in events
    loose = AgentWorkflow(agents=[gate(agent("one", "Warm."))])
    with pytest.raises(GLError, match="gate the workflow"):
        ask(loose)


def test_many_conversations_over_one_agent() -> None:
    class Echo(Script):
        def _next(self, messages: Any) -> ChatResponse:
            number = float(next(m.content for m in messages if m.role.value == "user").split()[-1])
            if messages[-1].role.value == "tool":
                blocks = [TextBlock(text=final("{{claim:0}}", value=number))]
            else:
                blocks = calling("reading", value=number)
            return ChatResponse(message=ChatMessage(role="assistant", blocks=blocks), raw={})

    async def reading(value: float) -> dict[str, Any]:
        """Reads."""
        await asyncio.sleep(0.001)
        return {"heat": {"value": value, "unit": "kWh"}}

    async def run() -> None:
        agent = gate(FunctionAgent(tools=[reading], llm=Echo(script=[])))
        answers = await asyncio.gather(*(agent.run(f"Site {number}") for number in range(1, 25)))
        assert [str(answer) for answer in answers] == [f"{number}.00 kWh" for number in range(1, 25)]

    asyncio.run(run())


def test_a_model_calculates_with_what_it_cites() -> None:
    agent = made(calling(), calling("calculate", "call_2", **TWICE), SUM, tools=[meter, calculate])
    assert str(ask(agent)) == "It is 25.00 kWh."

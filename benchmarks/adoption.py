"""What it takes to put the gate into an agent of each framework, and what that stops and costs.

``python benchmarks/adoption.py`` prints, for each framework that is installed: the lines of code that adopt the gate,
how many of 50 scripted attempts to state a made-up number are stopped, and what a turn costs more than in the bare
framework, both measured in this run. The models are scripted in each framework's own way; nothing reaches a network.
"""

from __future__ import annotations

import asyncio
import json
import logging
import statistics
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

from gllint_runtime import GLError, Session, Tool, ToolRegistry

TURNS = 100
HEAT = {"heat": {"value": 12.5, "unit": "kWh"}}
CLAIM = {"source_call_id": "tc_1", "path": "$.heat", "quantity": HEAT["heat"]}
HONEST = json.dumps({"message": "It uses {{claim:0}}.", "claims": [CLAIM]})
PLAIN = "It uses little."


def attempts() -> list[str]:
    """Fifty answers with a number that no tool returned, or with the tool's number changed."""
    typed = [
        *(
            "It uses 13 kWh.",
            "It uses 12.5 kWh.",
            "About 500kWh.",
            "Some 1e6 units.",
            "It is 5%.",
            "It costs €5.",
        ),
        *(
            "Half: ½.",
            "Ⅻ rooms.",
            "⑤ rooms.",
            "５ rooms.",
            "٥ rooms.",
            "५ kWh.",
            "𝟓 kWh.",
            "5️⃣ rooms.",
            "🔟 rooms.",
        ),
        *("💯 percent.", "⚄ rooms.", ":five: rooms.", "&#53; rooms.", "&frac12; of it.", "5<b>0</b>0 kWh."),
        *("5\u200b00 kWh.", "In Q3.", "The 3rd.", "On 2024-02-30.", "At 25:00.", "```\n500\n```", "%35 kWh."),
    ]
    changed = [
        *("-@", "− @", "-<!-- x -->@", "&minus;@", "minus @", "$@", "@000", "5@", "@k", "@ million", "@ MWh"),
        *("@/m2", "@ per m2", "@%", "@²", "@@", "@e6", "@万", "√@", "@ CO2e"),
    ]
    messages = [text.replace("@", "{{claim:0}}") for text in changed]
    other = {**CLAIM, "quantity": {"value": 13, "unit": "kWh"}}
    cold = {**CLAIM, "path": "$.cold"}
    answers = [{"message": message, "claims": [CLAIM]} for message in messages]
    answers += [{"message": "It uses {{claim:0}}.", "claims": [claim]} for claim in (cold, other)]
    return [*typed, *map(json.dumps, answers)]


class Row(NamedTuple):
    """One framework: lines to adopt, attempts stopped, microseconds a turn takes bare and gated."""

    name: str
    lines: int
    stopped: int
    bare: float
    gated: float


class Bench(NamedTuple):
    """One framework: the code that adopts it, and a turn with and without the gate for what a model says."""

    name: str
    adopting: str
    bare: Callable[[], Callable[[str], str]]
    gated: Callable[[], Callable[[str], str]]


def meter(site: str = "north") -> dict[str, Any]:
    """The heat that a site used."""
    return HEAT


# ---------------------------------------------------------------------------------------------- frameworks


def own_loop() -> Bench:
    def bare() -> Callable[[str], str]:
        return lambda answer: (meter(), answer)[1]

    def gated() -> Callable[[str], str]:
        def turn(answer: str) -> str:
            session = Session()
            session.record("meter", {"site": "north"}, meter())
            final = json.loads(answer) if answer.startswith("{") else {"message": answer, "claims": []}
            return session.check(final["message"], final["claims"]).message

        return turn

    adopting = """
    from gllint_runtime import Session
    session = Session()
    call_id = session.record("meter", arguments, output)
    verified = session.check(final["message"], final["claims"])
    """
    return Bench("a loop of your own", adopting, bare, gated)


def langchain() -> Bench:
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_core.tools import StructuredTool

    from gllint_runtime.adapters.langchain import GateMiddleware

    class Script(FakeMessagesListChatModel):
        def bind_tools(self, tools: Any, **options: Any) -> Any:
            return self

    def turn(*middleware: Any) -> Callable[[str], str]:
        model = Script(responses=[])
        agent = create_agent(model, [StructuredTool.from_function(meter)], middleware=middleware)

        def run(answer: str) -> str:
            call = {"name": "meter", "args": {"site": "north"}, "id": "c"}
            model.responses, model.i = [AIMessage("", tool_calls=[call]), AIMessage(answer)], 0
            return str(agent.invoke({"messages": [HumanMessage("How much?")]})["messages"][-1].text)

        return run

    def gated() -> Callable[[str], str]:
        return turn(GateMiddleware(lambda: sessions.setdefault("it", Session()), max_retries=0))

    sessions: dict[str, Session] = {}

    def fresh() -> Callable[[str], str]:
        run = gated()

        def one(answer: str) -> str:
            sessions.clear()
            return run(answer)

        return one

    adopting = """
    from gllint_runtime import Session
    from gllint_runtime.adapters import INSTRUCTIONS
    from gllint_runtime.adapters.langchain import GateMiddleware
    agent = create_agent(model, tools, system_prompt=INSTRUCTIONS, middleware=[GateMiddleware(Session())])
    """
    return Bench("LangChain, LangGraph", adopting, turn, fresh)


def pydantic_ai() -> Bench:
    from pydantic_ai import Agent, FunctionToolset
    from pydantic_ai.exceptions import UnexpectedModelBehavior
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from gllint_runtime.adapters.pydantic_ai import GatedToolset, output_check

    def model(answer: str) -> Any:
        steps = iter([ToolCallPart("meter", {"site": "north"}), TextPart(answer)])
        return FunctionModel(lambda messages, info: ModelResponse([next(steps)]))

    def bare() -> Callable[[str], str]:
        def turn(answer: str) -> str:
            agent = Agent(toolsets=[FunctionToolset([meter])])
            return agent.run_sync("How much?", model=model(answer)).output

        return turn

    def gated() -> Callable[[str], str]:
        def turn(answer: str) -> str:
            session = Session()
            agent = Agent(toolsets=[GatedToolset(FunctionToolset([meter]), session)], retries=0)
            agent.output_validator(output_check(session))
            try:
                return agent.run_sync("How much?", model=model(answer)).output
            except UnexpectedModelBehavior as error:
                raise GLError("PROVIDER_FAILED", str(error)) from error

        return turn

    adopting = """
    from gllint_runtime import Session
    from gllint_runtime.adapters import INSTRUCTIONS
    from gllint_runtime.adapters.pydantic_ai import GatedToolset, output_check
    session = Session()
    agent = Agent(model, instructions=INSTRUCTIONS, toolsets=[GatedToolset(toolset, session)])
    agent.output_validator(output_check(session))
    """
    return Bench("pydantic-ai", adopting, bare, gated)


def openai_agents() -> Bench:
    from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    from gllint_runtime.adapters.openai_agents import gated as gated_tool
    from gllint_runtime.adapters.openai_agents import run

    class Script(Model):
        def __init__(self, answer: str) -> None:
            content = ResponseOutputText(text=answer, type="output_text", annotations=[])
            call = ResponseFunctionToolCall(call_id="c", name="meter", arguments="{}", type="function_call")
            message = ResponseOutputMessage(
                id="m", content=[content], role="assistant", status="completed", type="message"
            )
            self._outputs = iter([call, message])

        async def get_response(self, *arguments: Any, **options: Any) -> ModelResponse:
            return ModelResponse(output=[next(self._outputs)], usage=Usage(), response_id=None)

        def stream_response(self, *arguments: Any, **options: Any) -> Any:
            raise NotImplementedError

    config = RunConfig(tracing_disabled=True)
    tool = function_tool(meter)

    def bare() -> Callable[[str], str]:
        def turn(answer: str) -> str:
            agent = Agent(name="a", tools=[tool], model=Script(answer))
            return str(asyncio.run(Runner.run(agent, "How much?", run_config=config)).final_output)

        return turn

    def gated() -> Callable[[str], str]:
        def turn(answer: str) -> str:
            session = Session()
            agent = Agent(name="a", tools=[gated_tool(tool, session)], model=Script(answer))
            return asyncio.run(run(agent, "How much?", session, max_retries=0, run_config=config)).message

        return turn

    adopting = """
    from gllint_runtime import Session
    from gllint_runtime.adapters import INSTRUCTIONS
    from gllint_runtime.adapters.openai_agents import gated, run
    session = Session()
    agent = Agent(name="…", instructions=INSTRUCTIONS, tools=[gated(tool, session) for tool in tools])
    verified = await run(agent, question, session)
    """
    return Bench("OpenAI Agents SDK", adopting, bare, gated)


def mcp() -> Bench:
    from mcp import Client

    from gllint_runtime.adapters import check_final
    from gllint_runtime.adapters.mcp import GatedClient, server

    registry = ToolRegistry()
    registry.register(Tool(name="meter", fn=meter))

    def bare() -> Callable[[str], str]:
        async def turn(answer: str) -> str:
            async with Client(server("meters", registry)) as client:
                await client.list_tools()
                await client.call_tool("meter", {})
            return answer

        return lambda answer: asyncio.run(turn(answer))

    def gated() -> Callable[[str], str]:
        async def turn(answer: str) -> str:
            session = Session()
            async with Client(server("meters", registry)) as client:
                await GatedClient(client, session).call("meter", {})
            return check_final(session, answer).message

        return lambda answer: asyncio.run(turn(answer))

    adopting = """
    from gllint_runtime import Session
    from gllint_runtime.adapters import check_final
    from gllint_runtime.adapters.mcp import GatedClient
    session = Session()
    client = GatedClient(client, session)
    verified = check_final(session, answer)
    """
    return Bench("MCP client", adopting, bare, gated)


FRAMEWORKS = {
    "gllint_runtime": own_loop,
    "langchain": langchain,
    "pydantic_ai": pydantic_ai,
    "agents": openai_agents,
    "mcp": mcp,
}

# ----------------------------------------------------------------------------------------------- measuring


def measure(bench: Bench, turns: int = TURNS) -> Row:
    """Let every attempt run through the gate, then time honest turns, bare and gated in alternation."""
    gated, bare = bench.gated(), bench.bare()
    stopped = 0
    for attempt in attempts():
        try:
            gated(attempt)
        except GLError:
            stopped += 1
    if gated(HONEST) != "It uses 12.50 kWh." or gated(PLAIN) != PLAIN or bare(PLAIN) != PLAIN:
        raise AssertionError(f"{bench.name}: an honest answer did not come through")
    times: tuple[list[float], list[float]] = [], []
    for _ in range(turns):
        for kept, turn in zip(times, (bare, gated), strict=True):
            began = time.process_time()
            turn(HONEST)
            kept.append((time.process_time() - began) * 1e6)
    lines = sum(bool(line.strip()) for line in bench.adopting.splitlines())
    return Row(bench.name, lines, stopped, *(statistics.median(kept) for kept in times))


def table(rows: list[Row]) -> str:
    """The rows as a Markdown table."""
    head = "| framework | lines to adopt | stopped of 50 | a turn bare, µs | gated, µs | more, µs |"
    return "\n".join(
        [head, "|---|--:|--:|--:|--:|--:|"]
        + [
            f"| {name} | {lines} | {stopped} | {bare:.0f} | {gated:.0f} | {gated - bare:.0f} |"
            for name, lines, stopped, bare, gated in rows
        ]
    )


def main() -> int:
    logging.disable()
    rows = [measure(make()) for package, make in FRAMEWORKS.items() if find_spec(package)]
    print(table(rows))
    for package in FRAMEWORKS:
        if not find_spec(package):
            print(f"{package} is not installed: left out")
    return int(any(row.stopped < len(attempts()) for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())

"""A thousand conversations over one agent object, in 64 threads and on one loop, restarted from the store half-way.

``python benchmarks/conversations.py`` does it with each of LangGraph, the OpenAI Agents SDK and pydantic-ai that is
installed. In each conversation the model asks for a number that no other has, states a made-up one every third time,
and repeats its number once the agent was made anew and nothing but the store is left; then it cites the number of
another conversation, which must be refused. Exits with 1 where an answer is another than it must be, or memory grows.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

from gate_load import is_flat, resident

from gllint_runtime.adapters.kit import REFUSAL

Agent = Callable[[str, str], Any]
"""Takes the id of a conversation and what its user says; awaited it gives the answer."""


class Seen(NamedTuple):
    """What was seen: answers, those that are wrong, seconds, and the resident memory in MB as conversations went by."""

    answers: int
    wrong: list[str]
    seconds: float
    memory: list[float]


def reading(number: int) -> dict[str, Any]:
    """Reads a meter.

    Args:
        number: Which.
    """
    return {"heat": {"value": number, "unit": "kWh"}}


def said(user: str, results: Sequence[str], last: str) -> int | str:
    """What the model says: a number to call the tool with, or an answer.

    ``results`` are what it was told of its calls, ``last`` is the text of the last message.
    """
    verb, _, number = user.partition(" ")
    told = [json.loads(text) for text in results]
    if verb == "steal":
        return _claiming("tc_1", int(number))
    if verb == "again":
        return _claiming(told[0]["tool_call_id"], told[0]["output"]["heat"]["value"])
    own = next((one for one in told if one["output"]["heat"]["value"] == int(number)), None)
    if own is None:
        return int(number)
    is_hint = "NO_NAKED_NUMBERS" in last
    return (
        f"It uses {int(number) + 1} kWh."
        if int(number) % 3 == 0 and not is_hint
        else _claiming(own["tool_call_id"], int(number))
    )


def _claiming(call_id: str, number: int) -> str:
    claim = {"source_call_id": call_id, "path": "$.heat", "quantity": {"value": number, "unit": "kWh"}}
    return json.dumps({"message": "It uses {{claim:0}}.", "claims": [claim]})


# ------------------------------------------------------------------------------------------------- frameworks


def langgraph() -> tuple[Callable[[], Agent], Callable[[], Any]]:
    """What makes an agent of LangGraph, and what clears the store of its checkpointer."""
    from langchain.agents import create_agent
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.tools import tool
    from langgraph.checkpoint.memory import InMemorySaver

    from gllint_runtime.adapters.langchain import gate

    class Model(BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "scripted"

        def bind_tools(self, tools: Any, **options: Any) -> Any:
            return self

        def _generate(self, messages: Any, *arguments: Any, **options: Any) -> Any:
            users = [m.text for m in messages if isinstance(m, HumanMessage) and m.name is None]
            results = [m.text for m in messages if isinstance(m, ToolMessage)]
            item = said(users[-1], results, messages[-1].text)
            call: Any = {"name": "reading", "args": {"number": item}, "id": f"call_{item}"}
            answer = AIMessage(item) if isinstance(item, str) else AIMessage("", tool_calls=[call])
            return ChatResult(generations=[ChatGeneration(message=answer)])

    saver = InMemorySaver()

    def made() -> Agent:
        agent = gate(create_agent(Model(), [tool(reading)], checkpointer=saver), mode="claims")

        async def ask(conversation: str, text: str) -> str:
            config: Any = {"configurable": {"thread_id": conversation}}
            return str((await agent.ainvoke({"messages": [HumanMessage(text)]}, config))["messages"][-1].text)

        return ask

    def clear() -> None:
        for kept in (saver.storage, saver.writes, saver.blobs):
            kept.clear()

    return made, clear


def openai_agents() -> tuple[Callable[[], Agent], Callable[[], Any]]:
    """What makes an agent of the OpenAI SDK, and what clears the store: the items of conversations as JSON."""
    from agents import Agent as Target
    from agents import Model, ModelResponse, RunConfig, Runner, Usage, function_tool
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    from gllint_runtime.adapters.openai_agents import gate

    def message(text: str) -> Any:
        part = ResponseOutputText(text=text, type="output_text", annotations=[])
        return ResponseOutputMessage(
            id="m", content=[part], role="assistant", status="completed", type="message"
        )

    class Scripted(Model):
        async def get_response(self, system: Any, input: Any, *arguments: Any, **options: Any) -> Any:
            users = [item["content"] for item in input if item.get("role") == "user"]
            results = [item["output"] for item in input if item.get("type") == "function_call_output"]
            asked = next(text for text in reversed(users) if not text.startswith("["))
            item = said(asked, results, str(input[-1]))
            output: Any = (
                message(item)
                if isinstance(item, str)
                else ResponseFunctionToolCall(
                    call_id=f"call_{item}",
                    name="reading",
                    arguments=json.dumps({"number": item}),
                    type="function_call",
                )
            )
            return ModelResponse(output=[output], usage=Usage(), response_id=None)

        def stream_response(self, *arguments: Any, **options: Any) -> Any:
            raise NotImplementedError

    store: dict[str, Any] = {}

    def made() -> Agent:
        target = gate(Target(name="a", tools=[function_tool(reading)], model=Scripted()), mode="claims")

        async def ask(conversation: str, text: str) -> str:
            items = [*json.loads(store.get(conversation, "[]")), {"role": "user", "content": text}]
            result = await Runner.run(target, items, run_config=RunConfig(tracing_disabled=True))
            store[conversation] = json.dumps(result.to_input_list())
            return str(result.final_output)

        return ask

    return made, store.clear


def pydantic_ai() -> tuple[Callable[[], Agent], Callable[[], Any]]:
    """What makes an agent of pydantic-ai, and what clears the store: the messages of conversations as JSON."""
    from pydantic_ai import Agent as Target
    from pydantic_ai.messages import (
        ModelMessagesTypeAdapter,
        ModelResponse,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )
    from pydantic_ai.models.function import FunctionModel

    from gllint_runtime.adapters.pydantic_ai import gate

    def model(messages: Any, info: Any) -> Any:
        parts = [part for message in messages for part in message.parts]
        users = [part.content for part in parts if isinstance(part, UserPromptPart)]
        results = [json.dumps(part.content) for part in parts if isinstance(part, ToolReturnPart)]
        asked = next(text for text in reversed(users) if not text.startswith("["))
        item = said(asked, results, str(parts[-1]))
        return ModelResponse(
            [
                TextPart(item)
                if isinstance(item, str)
                else ToolCallPart("reading", {"number": item}, f"call_{item}")
            ]
        )

    store: dict[str, Any] = {}

    def made() -> Agent:
        target = gate(Target(FunctionModel(model), tools=[reading]), mode="claims")

        async def ask(conversation: str, text: str) -> str:
            stored = store.get(conversation)
            history = None if stored is None else ModelMessagesTypeAdapter.validate_json(stored)
            result = await target.run(text, message_history=history)
            store[conversation] = result.all_messages_json()
            return str(result.output)

        return ask

    return made, store.clear


FRAMEWORKS = {"langgraph": langgraph, "agents": openai_agents, "pydantic_ai": pydantic_ai}
"""By the package that each needs."""


# -------------------------------------------------------------------------------------------------- measuring


def run(package: str, conversations: int, threads: int, rounds: int = 5) -> Seen:
    """As many conversations in threads and as many on one loop, each in rounds, and what was seen."""
    made, clear = FRAMEWORKS[package]()
    wrong: list[str] = []
    memory: list[float] = []
    began = time.perf_counter()
    for number in range(rounds):
        mine = range(number * conversations // rounds, (number + 1) * conversations // rounds)
        agents = [made()]
        # All the first turns, then all the others with an agent that is made anew.
        for turns in (_first, _others):
            _in_threads(agents[-1], [(f"thread {i}", turns(i)) for i in mine], threads, wrong)
            asyncio.run(_on_one_loop(agents[-1], [(f"loop {i}", turns(i)) for i in mine], wrong))
            agents = [made()]
        clear()
        gc.collect()
        memory.append(resident())
    return Seen(2 * 5 * conversations, wrong, time.perf_counter() - began, memory)


Turns = list[tuple[str, str]]
"""What a user says, and what must be answered."""


def _first(number: int) -> Turns:
    return [(f"read {number}", f"It uses {number}.00 kWh.")]


def _others(number: int) -> Turns:
    other = number + 1_000_000
    return [
        ("again", f"It uses {number}.00 kWh."),
        (f"steal {number + 1}", REFUSAL),
        (f"read {other}", f"It uses {other}.00 kWh."),
        ("again", f"It uses {number}.00 kWh."),
    ]


async def _talk(ask: Agent, conversation: str, turns: Turns, wrong: list[str]) -> None:
    for text, expected in turns:
        try:
            answer = await ask(conversation, text)
        except Exception as error:
            answer = repr(error)
        if answer != expected:
            wrong.append(f"{conversation}: {text}: {answer}")


def _in_threads(ask: Agent, talks: list[tuple[str, Turns]], threads: int, wrong: list[str]) -> None:
    left: Iterator[tuple[str, Turns]] = iter(talks)
    lock = threading.Lock()

    def work() -> None:
        while True:
            with lock:
                talk = next(left, None)
            if talk is None:
                return
            asyncio.run(_talk(ask, *talk, wrong))

    started = [threading.Thread(target=work) for _ in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()


async def _on_one_loop(ask: Agent, talks: list[tuple[str, Turns]], wrong: list[str]) -> None:
    async with asyncio.TaskGroup() as group:
        for talk in talks:
            group.create_task(_talk(ask, *talk, wrong))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--conversations", type=int, default=1_000)
    parser.add_argument("--threads", type=int, default=64)
    given = parser.parse_args()
    logging.disable()
    failed = False
    for package in FRAMEWORKS:
        if find_spec(package) is None:
            print(f"{package} is not installed: left out")
            continue
        seen = run(package, given.conversations, given.threads)
        print(f"{package}: {seen.answers} answers in {seen.seconds:.0f} s, wrong: {len(seen.wrong)}")
        print(*(f"  {wrong[:300]}" for wrong in seen.wrong[:5]), sep="\n", end="" if not seen.wrong else "\n")
        print("  memory in MB:", ", ".join(f"{held:.0f}" for held in seen.memory))
        failed |= bool(seen.wrong) or not is_flat(seen.memory)
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())

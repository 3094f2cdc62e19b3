"""A message that is shown while it is written, cut at any places, against the whole of it.

However it is cut, the verdict is the same, and what was shown in the end. Of two ways to cut it, what one shows early is
how the other's begins. The session's own stream, that of the kit, and the stream of each adapter that is installed.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

from trust import Budget, Row

from gllint_runtime import GLError, Session
from gllint_runtime.adapters import kit

_LEAST, _LEAST_OF_ADAPTER = 10_000, 500  # cuts in an hour
_AT_ONCE, _AT_ONCE_OF_ADAPTER = 200, 4  # messages
_HEAT = {"heat": {"value": 12.5, "unit": "kWh"}}
_CLAIM = {"source_call_id": "tc_1", "path": "$.heat", "quantity": _HEAT["heat"]}
_PIECES = (
    "It is warm.", "It uses {{claim:0}}.", "Is it {{claim:0}}?", "暖かい。", "{{claim:0}}。", "Fine!", "…", " and ", "**{{claim:0}}**",
    "Ada's e.g. i.e. etc.", "She said: \"Warm.\"", "(Dry.)", "« Sec. »", "\n\n", "\n- ", "\n1. ", "\n2) ", "\n# ", "\n> ", "\n", " ", "  ", "\t",
    "| a | b |\n|---|---|\n| {{claim:0}} | x |\n", "`x`", "```\nx\n```", "~~~", "[a](b)", "<b>warm</b>", "<!-- ", " -->", "&amp;", "\\$", "$x$",
    "{{", "}}", "{", "}", "{{claim", ":0}}", "{{claim:9}}", "5 kWh", "12.5", "2024", "3rd", "twelve", "é", "🏠🏠", "\u200b", "\u2028", "\r\n", "_", "*", "{{claim:1}}",
)  # fmt: skip
_SOBER = 24  # of these, which most of a message is made of


class Tried(NamedTuple):
    """What came of some messages."""

    way: str
    cuts: int
    refused: int
    wrong: list[str]


def rows(budget: Budget) -> Iterator[Row]:
    """A row for each stream."""
    is_long = budget.is_long()
    ways = [
        way
        for way, needed in _NEEDED.items()
        if needed is None or (is_long and find_spec(needed) is not None)
    ]
    items = [(way, budget.random.random(), is_long) for _ in range(2_000 if is_long else 1) for way in ways]
    done = [*map(_try, items[: len(ways)])]  # here, so that no process has to import the frameworks

    def fewest(
        later: list[Tried],
    ) -> int:  # an adapter is asked for less, and each of its cuts counts for more
        cuts = {way: sum(item.cuts for item in later if item.way == way) for way in ways}
        return min(cuts[way] * _LEAST // _least(way) for way in ways)

    done += budget.map(_try, items[len(ways) :], partial(Tried, "", 0, 0), _LEAST, fewest)
    for way in ways:
        tried = [item for item in done if item.way in (way, "")]
        cuts, refused = sum(item.cuts for item in tried), sum(item.refused for item in tried)
        wrong = [line for item in tried for line in item.wrong][:20]
        shown = f"{cuts} cuts, {refused} refused"
        yield Row(f"equivalence: stream of {way}", shown, wrong, cuts, _least(way))


def _least(way: str) -> int:
    """How many cuts of a stream an hour tries."""
    return _LEAST if _NEEDED.get(way) is None else _LEAST_OF_ADAPTER


def _try(item: tuple[str, float, bool]) -> Tried:
    way, seed, is_long = item
    chance = random.Random(seed)
    cuts, refused, wrong = 0, 0, list[str]()
    messages = _AT_ONCE_OF_ADAPTER if _NEEDED[way] is not None else _AT_ONCE if is_long else 10
    for _ in range(messages):
        message = _message(chance)
        claims = [_CLAIM] * (int("claim:0" in message) if chance.random() < 0.9 else chance.randrange(3))
        text = message if way == "a session" else _answer(chance, message, claims)
        whole = _WAYS[way](Turn(text, [text], True, claims))
        seen = {""}
        for pieces in _cuts(chance, text):
            shown = _WAYS[way](Turn(text, pieces, False, claims))
            cuts += 1
            refused += shown.error is not None
            if (shown.error, shown.text) != (whole.error, whole.text):
                wrong.append(f"seed {seed}: {text!r} cut as {pieces}: {shown}, whole {whole}")
            seen.add(shown.early)
        longest = max(seen, key=len)
        wrong += [
            f"seed {seed}: {text!r} shows {early!r} or {longest!r}"
            for early in seen
            if not longest.startswith(early)
        ]
        if whole.error is None and not whole.text.startswith(longest):
            wrong.append(f"seed {seed}: {text!r} shows {longest!r} and is {whole.text!r}")
    return Tried(way, cuts, refused, wrong[:3])


def _message(chance: random.Random) -> str:
    few = _PIECES if chance.random() < 0.3 else _PIECES[:_SOBER]
    pieces = [chance.choice(few) for _ in range(chance.randrange(1, 12))]
    return chance.choice(("", " ")).join(pieces)


def _answer(chance: random.Random, message: str, claims: Sequence[Any]) -> str:
    """What a model writes: the message as it is, or the object that it is to write, in a fence or amid prose."""
    if not claims and chance.random() < 0.5:
        return message
    keys = ["message", "claims"]
    chance.shuffle(keys)
    values = {"message": message, "claims": claims}
    data: dict[str, Any] = {key: values[key] for key in keys}
    if chance.random() < 0.1:
        data = {"kind": "final", "final": data}
    text = json.dumps(data, ensure_ascii=chance.random() < 0.5, indent=chance.choice((None, None, 1)))
    return chance.choice(
        (text, text, text, f"```json\n{text}\n```", f"Here it is:\n{text}", f" {text} Done.")
    )


def _cuts(chance: random.Random, text: str) -> Iterator[list[str]]:
    """By letters, at one place, at a few, and at many; an empty piece now and then."""
    yield list(text)
    for most in (1, 3, 9):
        places = (
            sorted(chance.randrange(len(text) + 1) for _ in range(chance.randrange(1, most + 1)))
            if text
            else []
        )
        yield [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


# --- the ways -----------------------------------------------------------------------------------------------


class Shown(NamedTuple):
    """The code of what was refused, what was shown in all, and what of it before the end."""

    error: str | None
    text: str
    early: str = ""


_REFUSED = "Refused."


class Turn(NamedTuple):
    """A model's answer: whole and in pieces, which of them is shown, its claims, and what the tool returned."""

    text: str
    pieces: Sequence[str]
    is_whole: bool
    claims: Sequence[Any] = ()
    data: Any = _HEAT
    mode: Any = "claims"

    @property
    def options(self) -> dict[str, Any]:
        """The options of a gate that asks once."""
        return {"mode": self.mode, "max_retries": 0, "on_refusal": _REFUSED}


def _session() -> Session:
    session = Session()
    session.user("How much?")
    session.record("meter", {}, _HEAT)
    return session


def _by_session(turn: Turn) -> Shown:
    if turn.is_whole:
        return _verdict(lambda: _session().check(turn.text, turn.claims).message)
    stream = _session().stream()
    stream.feed("", turn.claims)
    for piece in turn.pieces:
        stream.feed(piece)

    def end() -> str:
        stream.close()
        return str(stream.released + stream.rest)

    return _verdict(end)._replace(early=stream.released)


def _by_kit(turn: Turn) -> Shown:
    if turn.is_whole:
        return _verdict(lambda: kit.check_final(_session(), turn.text).message)
    stream = kit.FinalStream(_session())
    early = "".join(map(stream.feed, turn.pieces))
    assert early == stream.released
    return _verdict(lambda: early + stream.close()[1])._replace(early=early)


def _verdict(message: Callable[[], str]) -> Shown:
    try:
        return Shown(None, message())
    except GLError as error:
        return Shown(error.code, "")


def _by_pydantic_ai(turn: Turn) -> Shown:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import DeltaToolCall, FunctionModel

    from gllint_runtime.adapters.pydantic_ai import gate

    def answer(messages: Any, info: Any) -> ModelResponse:
        return ModelResponse([TextPart(turn.text) if len(messages) > 1 else ToolCallPart("meter", {})])

    async def stream(messages: Any, info: Any) -> AsyncIterator[Any]:
        if len(messages) == 1:
            yield {0: DeltaToolCall(name="meter", json_args="{}", tool_call_id="call_1")}
            return
        for piece in turn.pieces:
            yield piece

    agent: Any = gate(
        Agent(FunctionModel(answer, stream_function=stream), tools=[_meter(turn.data)]),
        **turn.options,
    )

    async def streamed() -> str:
        async with agent.run_stream("How much?") as result:
            return "".join([part async for part in result.stream_text(delta=True, debounce_by=None)])

    return _told(agent.run_sync("How much?").output if turn.is_whole else asyncio.run(streamed()))


def _by_openai_agents(turn: Turn) -> Shown:
    from agents import Agent, RunConfig, Runner, function_tool
    from scripts import openai_model

    from gllint_runtime.adapters.openai_agents import gate

    model = openai_model(turn.text, turn.pieces)
    agent = gate(
        Agent(name="a", tools=[function_tool(_meter(turn.data))], model=model),
        **turn.options,
    )
    quiet = RunConfig(tracing_disabled=True)

    async def streamed() -> str:
        result = Runner.run_streamed(agent, "How much?", run_config=quiet)
        return "".join(
            [
                event.data.delta
                async for event in result.stream_events()
                if getattr(getattr(event, "data", None), "type", "") == "response.output_text.delta"
            ]
        )

    async def at_once() -> str:
        return str((await Runner.run(agent, "How much?", run_config=quiet)).final_output)

    return _told(asyncio.run(at_once() if turn.is_whole else streamed()))


def _by_langchain(turn: Turn) -> Shown:
    from langchain.agents import create_agent
    from langchain_core.messages import AIMessage
    from langchain_core.tools import tool
    from scripts import langchain_model

    from gllint_runtime.adapters.langchain import gate

    agent = gate(
        create_agent(langchain_model(turn.text, turn.pieces), [tool(_meter(turn.data))]),
        **turn.options,
    )
    asked: Any = {"messages": ["How much?"]}
    if turn.is_whole:
        return _told(agent.invoke(asked)["messages"][-1].text)
    chunks = agent.stream(asked, stream_mode="messages")
    return _told("".join(chunk.text for chunk, _ in chunks if isinstance(chunk, AIMessage)))


def _meter(data: Any) -> Callable[..., Any]:
    def meter() -> dict[str, Any]:
        """The heat that a site used."""
        return data  # type: ignore[no-any-return]

    return meter


def _told(text: str) -> Shown:
    """What an agent says; of what was refused, what was shown before."""
    if text.endswith(_REFUSED):
        return Shown("refused", "", text.removesuffix(_REFUSED).removesuffix("\n\n"))
    return Shown(None, text)


# The package that each adapter needs, and how it is run.
ADAPTERS: dict[str, tuple[str, Callable[[Turn], Shown]]] = {
    "langchain": ("langchain", _by_langchain),
    "openai_agents": ("agents", _by_openai_agents),
    "pydantic_ai": ("pydantic_ai", _by_pydantic_ai),
}
_WAYS = {"a session": _by_session, "the kit": _by_kit} | {name: run for name, (_, run) in ADAPTERS.items()}
_NEEDED: dict[str, str | None] = {way: ADAPTERS[way][0] if way in ADAPTERS else None for way in _WAYS}

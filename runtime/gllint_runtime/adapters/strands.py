"""Strands Agents: a gate in an agent, a graph or a swarm. Needs ``gllint[strands]``.

agent = gate(Agent(model=model, system_prompt="…", tools=[meter]))
result = agent("How much heat?")

The messages of an agent are its session: what tools returned is in them. So a session manager, or ``agent.messages``
kept by the program, is all that a conversation needs to go on.
"""

from __future__ import annotations

import copy
import inspect
import json
import uuid
import weakref
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar, Unpack

from strands import Agent
from strands.hooks import AfterInvocationEvent, BeforeInvocationEvent
from strands.middleware import ExecuteToolStage, InvokeModelStage
from strands.multiagent import Swarm
from strands.multiagent.base import MultiAgentBase, Status
from strands.tools.decorator import DecoratedFunctionTool
from strands.types._events import ModelStreamChunkEvent, TextStreamEvent
from strands.types.events import ModelStopReason, ToolResultEvent, TypedEvent

from gllint_runtime.adapters import kit
from gllint_runtime.execution.session import Session
from gllint_runtime.policy.data import plain
from gllint_runtime.policy.errors import GLError, GLValidationError

_GATED: weakref.WeakSet[Any] = weakref.WeakSet()


@dataclass(frozen=True)
class Run:
    """The argument of ``session=callable``: the agent, graph or swarm, and the state that its run was given."""

    agent: Any
    invocation_state: Any


TargetT = TypeVar("TargetT", bound=Agent | MultiAgentBase)


def gate(target: TargetT, **options: Unpack[kit.GateOptions]) -> TargetT:
    """Gate an agent, graph or swarm in place and return it: results are recorded, answers checked before anyone
    sees them.

    Agents that are its nodes or its tools are gated with it, and use its session. ``session`` is the
    conversation's, or a function that is given a :class:`Run` and returns it. After the last repair, the answer is
    what ``on_refusal`` says; a structured one raises the GLError. Raises TypeError for a
    ``structured_output_model`` of bare numbers, ValueError for an agent that is gated already.
    """
    if not isinstance(target, Agent | MultiAgentBase):
        raise TypeError(f"gate takes an Agent, a graph or a swarm, not {type(target).__name__}")
    if target in _GATED:
        raise ValueError("This agent is gated already")
    agents = _Agents(kit.Gate.of(options))
    if isinstance(target, Agent):
        agents.enter(target)
    else:
        agents.surround(target)
    return target


class _Agents:
    """The agents of one gate, and the sessions of the runs that go on."""

    def __init__(self, gate: kit.Gate) -> None:
        self.gate = gate
        self._runs: weakref.WeakKeyDictionary[Any, Session] = weakref.WeakKeyDictionary()

    def enter(self, agent: Agent) -> None:
        """Gate an agent, and the agents among its tools."""
        if agent in _GATED:
            return
        self.gate.require_claims(agent._default_structured_output_model)
        _GATED.add(agent)
        agent.add_hook(self._begin, BeforeInvocationEvent)
        agent.add_hook(lambda event: self._runs.pop(event.agent, None), AfterInvocationEvent)
        agent.add_middleware(InvokeModelStage, self.model)
        agent.add_middleware(ExecuteToolStage, self.tool)
        agent.structured_output_async = _refused_structured_output
        self._enter_all(getattr(tool, "agent", None) for tool in agent.tool_registry.registry.values())

    def surround(self, graph: Any) -> None:
        """Give each run of a graph or swarm one session for all nodes, and gate these."""
        if graph in _GATED:
            return
        _GATED.add(graph)
        run = graph.stream_async

        async def stream_async(task: Any, invocation_state: Any = None, **options: Any) -> AsyncIterator[Any]:
            """Run the graph under one session, and yield its events."""
            history = [event for part in _messages_of_nodes(graph) for event in _history(part)]
            texts = [task] if isinstance(task, str) else _texts(task or ())
            session = self.gate.conversation(
                Run(graph, invocation_state),
                [*history, *map(kit.UserText, texts)],
                conversation=_id_of(getattr(graph, "session_manager", None)),
            )
            async for event in kit.session_steps(session, run(task, invocation_state, **options)):
                yield event

        graph.stream_async = stream_async
        self._enter_all(node.executor for node in graph.nodes.values())

    def _enter_all(self, parts: Iterable[Any]) -> None:
        inner = _Agents(self.gate.inner)
        for part in parts:
            if isinstance(part, Agent):
                inner.enter(part)
            elif isinstance(part, MultiAgentBase):
                inner.surround(part)

    def _begin(self, event: BeforeInvocationEvent) -> None:
        self._runs[event.agent] = self._session_of(event.agent, event.invocation_state)

    def _session_of(self, agent: Any, invocation_state: Any) -> Session:
        """Return the session of a run, with the agent's messages."""
        return self.gate.conversation(
            Run(agent, invocation_state), _history_of(agent), conversation=_id_of(agent._session_manager)
        )

    def session(self, context: Any) -> Session:
        """Return the session of the run that goes on; a tool that the program calls has one for itself."""
        session = self._runs.get(context.agent)
        if session is None:
            return self._session_of(context.agent, context.invocation_state)
        kit.read_history(session, _history_of(context.agent))
        return session

    # ------------------------------------------------------------------------------------------------- tools

    async def tool(self, context: Any, run: Callable[[Any], Any]) -> AsyncIterator[TypedEvent]:
        """Call a tool with its arguments in the units of its parameters, and yield its events, the result recorded."""
        session = self.session(context)
        use, tool = context.tool_use, context.tool
        if tool is None or tool.tool_type == "structured_output":
            async for event in kit.session_steps(session, run(context)):
                yield event
            return
        schema = tool.tool_spec["inputSchema"].get("json")
        call = kit.ToolCall(session, use["name"], use["input"], schema=schema, id=use["toolUseId"])
        if call.refusal is not None:
            yield _refused_result(use, call.refusal)
            return
        if call.is_changed:
            context = context.replace(tool_use={**use, "input": dict(call.arguments)})
        context = context.replace(tool=_of_plain_results(tool))
        async for event in kit.session_steps(session, run(context)):
            if isinstance(event, ToolResultEvent) and event.tool_result.get("status") != "error":
                try:
                    event = ToolResultEvent(_recorded(call, event.tool_result), exception=event.exception)
                except GLError as error:
                    event = _refused_result(use, Session.repair_hint(error))
            yield event

    # ------------------------------------------------------------------------------------------------- model

    async def model(self, context: Any, run: Callable[[Any], Any]) -> AsyncIterator[TypedEvent]:
        """Yield the events of the model's answer, its text by checked sentences, asked for until it passes."""
        session, form = self.session(context), _structured_tool(self.gate, context.agent)
        turn = kit.Turn(self.gate, session)
        usage: dict[str, int] = {}
        while True:
            answer = _Answer(turn, context, form)
            async for event in kit.session_steps(session, run(context)):
                for part in answer.sentences(event):
                    yield part
            stop = answer.stop
            for name, count in stop.usage.items():
                usage[name] = usage.get(name, 0) + count
            message = turn.attempt(answer.checked, None if answer.is_structured else answer.refused)
            if message is None:
                hint = _hint(stop.message, turn.hint)
                context = context.replace(messages=[*context.messages, stop.message, hint])
                continue
            for part in answer.ending(message):
                yield part
            reason = "tool_use" if _uses(message) and stop.stop_reason == "end_turn" else stop.stop_reason
            yield ModelStopReason(reason, message, usage, stop.metrics)
            return


class _Answer:
    """One answer of the model: its text by sentences as it comes, all else once the whole passes."""

    def __init__(self, turn: kit.Turn, context: Any, form: Any) -> None:
        self._turn, self._form, self._is_first = turn, form, not turn.attempts
        self._is_forced = context.structured_output_model is not None
        self._rest: list[TypedEvent] = []
        self._block: dict[str, Any] = {}
        self.stop: Any = None

    def sentences(self, event: Any) -> Iterator[TypedEvent]:
        """Yield the parts of an event that may be shown now."""
        chunk = event.get("event") or {}
        delta = chunk.get("contentBlockDelta") or {}
        if isinstance(event, ModelStopReason):
            self.stop = event
        elif "data" in event:
            if not self._form:
                yield from self._text(self._turn.feed(event["data"]))
        elif "text" in delta.get("delta", ()):
            self._block = delta
        elif "messageStart" in chunk:
            if self._is_first:
                yield event
        elif not ({"reasoningContent", "citation"} & delta.get("delta", {}).keys()) and not (
            {"reasoning", "citation"} & event.keys()
        ):
            self._rest.append(event)

    def ending(self, message: Any) -> Iterator[TypedEvent]:
        """Yield the rest of the text, and what was withheld."""
        yield from self._text(self._turn.rest("".join(_texts(message["content"]))))
        yield from self._rest

    def _text(self, text: str) -> Iterator[TypedEvent]:
        if text:
            yield ModelStreamChunkEvent({"contentBlockDelta": {**self._block, "delta": {"text": text}}})
            yield TextStreamEvent({"text": text}, text)

    @property
    def is_structured(self) -> bool:
        """Return whether this is an answer of the form that was asked for."""
        form = self._form
        return form is not None and (
            self._is_forced or any(use["name"] == form.tool_name for use in _uses(self.stop.message))
        )

    def refused(self, error: GLError) -> Any:
        """Return the message with what the user sees instead of its text."""
        message = self.stop.message
        return _with_text(message, self._turn.refusal(error, "".join(_texts(message["content"]))))

    def checked(self) -> Any:
        """Return the message with its text checked. Raises GLError."""
        message, session = self.stop.message, self._turn.session
        text = "".join(_texts(message["content"]))
        uses = _uses(message)
        if self.is_structured:
            if not uses:  # a provider that cannot be made to call the tool writes its input
                use = {"toolUseId": f"gllint_{uuid.uuid4().hex}", "name": self._form.tool_name}
                uses = [{**use, "input": _object_in(text)}]
                message, text = {**message, "content": [{"toolUse": uses[0]}]}, ""
            for use in uses:
                if use["name"] == self._form.tool_name:
                    kit.structure(session, self._form.structured_output_model, use["input"])
        if uses or self.stop.stop_reason == "cancelled":
            return _with_text(message, self._turn.text(text, calls_tools=True) or "")
        return _with_text(message, kit.check_final(session, text).message) if text else message


def _object_in(text: str) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        if isinstance(data := json.loads(text), dict):
            return data
    raise GLValidationError("STEP_SCHEMA", "The answer is no JSON object", "Call the tool of the answer.")


async def _refused_structured_output(*arguments: Any, **options: Any) -> Any:
    raise TypeError("structured_output() goes around the gate: call the agent with structured_output_model=")


def _structured_tool(gate: kit.Gate, agent: Any) -> Any:
    """Return the tool by which the model gives this run's structured answer, ``None`` without one.

    Raises TypeError for a type without claims.
    """
    for tool in agent.tool_registry.dynamic_tools.values():
        if tool.tool_type == "structured_output":
            gate.require_claims(tool.structured_output_model)
            return tool
    return None


# ---------------------------------------------------------------------------------------------------- messages


def _texts(content: Any) -> Iterator[str]:
    """Yield the texts of a message or a tool's result, cited ones included."""
    for block in content:
        if "citationsContent" in block:
            yield from _texts(block["citationsContent"].get("content", ()))
        elif "text" in block:
            yield block["text"]


def _messages_of_nodes(graph: Any) -> list[Any]:
    """Return the messages with which each agent of a graph or swarm runs."""
    if isinstance(graph, Swarm) and graph.state.completion_status is not Status.INTERRUPTED:
        for node in graph.nodes.values():  # the swarm does so, too, before it runs the node
            node.reset_executor_state()
    return [getattr(node.executor, "messages", ()) for node in graph.nodes.values()]


def _id_of(session_manager: Any) -> str | None:
    return getattr(session_manager, "session_id", None)


def _uses(message: Any) -> list[Any]:
    return [block["toolUse"] for block in message["content"] if "toolUse" in block]


def _with_text(message: Any, text: str) -> Any:
    """Return the message with ``text`` for its first text and without its other texts; other blocks stay."""
    if "".join(_texts(message["content"])) == text:
        return message

    def put(block: Any, new: str) -> Any:
        """Return a block with its text replaced; a new one for a message without text (``None``)."""
        part = {"text": new}
        if block is None or (cited := block.get("citationsContent")) is None:
            return {**(block or {}), **part}
        return {**block, "citationsContent": {**cited, "content": [part]}}

    def is_text(block: Any) -> bool:
        return bool({"text", "citationsContent"} & block.keys())

    return {**message, "content": kit.with_text(message["content"], text, is_text, put)}


def _hint(message: Any, hint: str) -> Any:
    """Return the message that says what is wrong with an answer, as the result of its calls of tools if it has any."""
    text = [{"text": hint}]
    results = [
        {"toolResult": {"toolUseId": use["toolUseId"], "status": "error", "content": text}}
        for use in _uses(message)
    ]
    return {"role": "user", "content": results or text}


def _summary_of(agent: Any) -> Any:
    """Return the message in which a conversation manager let a model sum up earlier ones."""
    return getattr(getattr(agent, "conversation_manager", None), "_summary_message", None)


def _history_of(agent: Any) -> Iterator[kit.Event]:
    if isinstance(agent.system_prompt, str):
        yield kit.UserText(agent.system_prompt, "prompt")
    yield from _history(agent.messages, _summary_of(agent))


def _history(messages: Any, summary: Any = None) -> Iterator[kit.Event]:
    """Yield messages of Strands as events of a conversation; ``summary`` is the one that a model wrote about
    earlier ones.
    """
    for message in messages:
        if message is summary or message["role"] == "assistant":
            yield kit.Answer()
        elif message["role"] == "user":
            yield from (kit.UserText(block["text"]) for block in message["content"] if "text" in block)
        for use in _uses(message):
            yield kit.ToolUse(use["toolUseId"], use["name"], use["input"])
        for block in message["content"]:
            if (result := block.get("toolResult")) and result.get("status") != "error":
                if texts := [*_texts(result["content"])]:
                    yield kit.ToolReply(result["toolUseId"], None, texts)
                else:
                    data = [part["json"] for part in result["content"] if "json" in part]
                    yield kit.ToolReply(result["toolUseId"], None, kit.block_data(data) if data else "")


# ------------------------------------------------------------------------------------------------------- tools


def _recorded(call: kit.ToolCall, result: Any) -> Any:
    """Return a tool's result as the model receives it; pictures and documents stay as they are. Raises GLError."""
    data = [block for block in result["content"] if {"text", "json"} & block.keys()]
    files = [block for block in result["content"] if block not in data]
    if (output := result.get("structuredContent")) is None:
        if not data:
            return result
        output = kit.read_blocks(
            call.session, [block["text"] if "text" in block else block["json"] for block in data]
        )
    text = call.text(output)
    return result if text is None else {**result, "content": [{"text": text}, *files]}


def _refused_result(use: Any, hint: str) -> ToolResultEvent:
    return ToolResultEvent({"toolUseId": use["toolUseId"], "status": "error", "content": [{"text": hint}]})


def _of_plain_results(tool: Any) -> Any:
    """Return a tool whose function's Quantities and models become JSON; Strands would write them as Python objects."""
    if not isinstance(tool, DecoratedFunctionTool) or inspect.isasyncgenfunction(tool._tool_func):
        return tool
    call: Any = tool._tool_func

    async def plain_result(**arguments: Any) -> Any:
        return _plain(await call(**arguments))

    twin = copy.copy(tool)
    twin._tool_func = (
        plain_result if inspect.iscoroutinefunction(call) else lambda **arguments: _plain(call(**arguments))
    )
    return twin


def _plain(result: Any) -> Any:
    """Return a result as JSON data, or unchanged if it is none."""
    if isinstance(result, str):
        return result
    try:
        json.dumps(result)
    except (TypeError, ValueError, RecursionError):
        with suppress(ValueError):
            return plain(result)
    return result

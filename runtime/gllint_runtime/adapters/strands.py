"""Strands Agents: a gate in an agent, a graph or a swarm. Needs ``gllint[strands]``.

agent = gate(Agent(model=model, system_prompt=INSTRUCTIONS, tools=[meter]))
result = agent("How much heat?")

The messages of an agent are its session: what a tool returned stands in them with the id that claims cite. So a session
manager, or ``agent.messages`` kept by the program, is all that a conversation needs to go on.
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
from typing import Any

from strands import Agent
from strands.hooks import AfterInvocationEvent, BeforeInvocationEvent
from strands.middleware import ExecuteToolStage, InvokeModelStage
from strands.multiagent import Swarm
from strands.multiagent.base import MultiAgentBase
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
    """What ``session=callable`` is given: the agent, graph or swarm, and the state that its run was handed."""

    agent: Any
    invocation_state: Any


def gate(
    target: Any,
    *,
    session: kit.SessionOption = None,
    max_retries: int = 2,
    on_refusal: kit.OnRefusal = None,
) -> Any:
    """The same agent, graph or swarm, its tools recorded and its answers checked before they reach anybody.

    Agents that are its nodes or its tools are gated with it, and find its session. ``session`` is the conversation's,
    or a function that is given a :class:`Run` and finds it. Where repairs run out, the answer is what ``on_refusal``
    says; a structured one raises the GLError. Raises TypeError for a ``structured_output_model`` of bare numbers,
    ValueError for an agent that is gated already.
    """
    if not isinstance(target, Agent | MultiAgentBase):
        raise TypeError(f"gate takes an Agent, a graph or a swarm, not {type(target).__name__}")
    if target in _GATED:
        raise ValueError("This agent is gated already")
    way = _Gate(session, max_retries, on_refusal)
    if isinstance(target, Agent):
        way.enter(target)
    else:
        way.surround(target)
    return target


class _Gate:
    """What a gate was told, and the stages of an agent's run that it stands around."""

    def __init__(self, session: kit.SessionOption, max_retries: int, on_refusal: kit.OnRefusal) -> None:
        self.option, self.max_retries, self.on_refusal = session, max_retries, on_refusal
        self._runs: weakref.WeakKeyDictionary[Any, Session] = weakref.WeakKeyDictionary()

    def enter(self, agent: Agent) -> None:
        """Stand around the model and the tools of an agent, and of the agents among its tools."""
        if agent in _GATED:
            return
        if (form := agent._default_structured_output_model) is not None:
            kit.require_claims(form, form.__name__)
        _GATED.add(agent)
        agent.add_hook(self._begin, BeforeInvocationEvent)
        agent.add_hook(lambda event: self._runs.pop(event.agent, None), AfterInvocationEvent)
        agent.add_middleware(InvokeModelStage, self.model)
        agent.add_middleware(ExecuteToolStage, self.tool)
        agent.structured_output_async = _refused_structured_output
        self._enter_all(getattr(tool, "agent", None) for tool in agent.tool_registry.registry.values())

    def surround(self, graph: Any) -> None:
        """Give the nodes of a graph or a swarm one session for each run, and gate them."""
        if graph in _GATED:
            return
        _GATED.add(graph)
        run = graph.stream_async

        async def stream_async(task: Any, invocation_state: Any = None, **options: Any) -> AsyncIterator[Any]:
            messages = _messages_of_nodes(graph)
            session = kit.session_for(
                self.option,
                Run(graph, invocation_state),
                conversation=_id_of(getattr(graph, "session_manager", None)),
                begins=_begins(message for part in messages for message in part),
            )
            kit.hear(session, [task] if isinstance(task, str) else _texts(task or ()))
            for part in messages:
                _restore(session, part)
            async for event in kit.session_steps(session, run(task, invocation_state, **options)):
                yield event

        graph.stream_async = stream_async
        self._enter_all(node.executor for node in graph.nodes.values())

    def _enter_all(self, parts: Iterable[Any]) -> None:
        inner = _Gate(None, self.max_retries, self.on_refusal)
        for part in parts:
            if isinstance(part, Agent):
                inner.enter(part)
            elif isinstance(part, MultiAgentBase):
                inner.surround(part)

    def _begin(self, event: BeforeInvocationEvent) -> None:
        self._runs[event.agent] = self._session_of(event.agent, event.invocation_state)

    def _session_of(self, agent: Any, invocation_state: Any) -> Session:
        """The session of a run, with what the agent's messages hold."""
        session = kit.session_for(
            self.option,
            Run(agent, invocation_state),
            conversation=_id_of(agent._session_manager),
            begins=_summary_of(agent) is None and _begins(agent.messages),
        )
        _restore(session, agent.messages, _summary_of(agent))
        return session

    def session(self, context: Any) -> Session:
        """The session of the run that goes on; a tool that the program calls has one for itself."""
        session = self._runs.get(context.agent)
        if session is None:
            return self._session_of(context.agent, context.invocation_state)
        _hear(session, context.agent.messages, _summary_of(context.agent))
        return session

    # ------------------------------------------------------------------------------------------------- tools

    async def tool(self, context: Any, run: Callable[[Any], Any]) -> AsyncIterator[TypedEvent]:
        """Call a tool with its arguments in the units of its parameters, and record what it returned."""
        session = self.session(context)
        use, tool = context.tool_use, context.tool
        if tool is None or tool.tool_type == "structured_output":
            async for event in kit.session_steps(session, run(context)):
                yield event
            return
        try:
            schema = tool.tool_spec["inputSchema"].get("json")
            arguments = session.tool_arguments(use["name"], use["input"], args_schema=schema)
        except GLError as error:
            yield _refused_result(use, error)
            return
        if arguments.changes:
            context = context.replace(tool_use={**use, "input": dict(arguments)})
        context = context.replace(tool=_of_plain_results(tool))
        async for event in kit.session_steps(session, run(context)):
            if isinstance(event, ToolResultEvent) and event.tool_result.get("status") != "error":
                try:
                    reply = _recorded(session, use, arguments, event.tool_result)
                    event = ToolResultEvent(reply, exception=event.exception)
                except GLError as error:
                    event = _refused_result(use, error)
            yield event

    # ------------------------------------------------------------------------------------------------- model

    async def model(self, context: Any, run: Callable[[Any], Any]) -> AsyncIterator[TypedEvent]:
        """Ask the model until its answer holds; what is streamed of it was checked."""
        session, form = self.session(context), _structured_tool(context.agent)
        usage: dict[str, int] = {}
        prefix = ""
        for attempt in range(self.max_retries + 1):
            answer = _Answer(kit.FinalStream(session), context, form, prefix, is_first=not attempt)
            async for event in kit.session_steps(session, run(context)):
                for part in answer.sentences(event):
                    yield part
            stop, prefix = answer.stop, answer.prefix
            for name, count in stop.usage.items():
                usage[name] = usage.get(name, 0) + count
            try:
                message = answer.checked(session)
            except GLError as error:
                if attempt < self.max_retries:
                    hint = _hint(stop.message, error)
                    context = context.replace(messages=[*context.messages, stop.message, hint])
                    continue
                if answer.is_structured:
                    raise
                message = _with_text(stop.message, kit.refusal(self.on_refusal, error))
            for part in answer.ending(message):
                yield part
            reason = "tool_use" if _uses(message) and stop.stop_reason == "end_turn" else stop.stop_reason
            yield ModelStopReason(reason, message, usage, stop.metrics)
            return


class _Answer:
    """One answer of the model: its text by sentences as it comes, all else once the whole holds."""

    def __init__(
        self, stream: kit.FinalStream, context: Any, form: Any, prefix: str, *, is_first: bool
    ) -> None:
        self._stream, self._form, self.prefix, self._is_first = stream, form, prefix, is_first
        self._is_behind = bool(prefix)  # what an answer that broke off has shown stays
        self._is_forced = context.structured_output_model is not None
        self._rest: list[TypedEvent] = []
        self._block: dict[str, Any] = {}
        self.stop: Any = None

    def sentences(self, event: Any) -> Iterator[TypedEvent]:
        """What of an event may be shown now."""
        chunk = event.get("event") or {}
        delta = chunk.get("contentBlockDelta") or {}
        if isinstance(event, ModelStopReason):
            self.stop = event
        elif "data" in event:
            if not self._form and not self._is_behind:
                new = self._stream.feed(event["data"])
                self.prefix += new
                yield from self._text(new)
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
        """The rest of the text, and what was held back."""
        yield from self._text(kit.rest_of("".join(_texts(message["content"])), self.prefix))
        yield from self._rest

    def _text(self, text: str) -> Iterator[TypedEvent]:
        if text:
            yield ModelStreamChunkEvent({"contentBlockDelta": {**self._block, "delta": {"text": text}}})
            yield TextStreamEvent({"text": text}, text)

    @property
    def is_structured(self) -> bool:
        """Whether this is an answer of the form that was asked for."""
        form = self._form
        return form is not None and (
            self._is_forced or any(use["name"] == form.tool_name for use in _uses(self.stop.message))
        )

    def checked(self, session: Session) -> Any:
        """The message as it may be shown: all but its text stays. Raises GLError."""
        message = self.stop.message
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
            return message if session.verify(text).status == "success" else _with_text(message, "")
        return _with_text(message, kit.check_final(session, text).message) if text else message


def _object_in(text: str) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        if isinstance(data := json.loads(text), dict):
            return data
    raise GLValidationError("STEP_SCHEMA", "The answer is no JSON object", "Call the tool of the answer.")


async def _refused_structured_output(*arguments: Any, **options: Any) -> Any:
    raise TypeError("structured_output() goes around the gate: call the agent with structured_output_model=")


def _structured_tool(agent: Any) -> Any:
    """The tool by which the model gives the structured answer of this run. Raises TypeError for one of bare numbers."""
    for tool in agent.tool_registry.dynamic_tools.values():
        if tool.tool_type == "structured_output":
            kit.require_claims(tool.structured_output_model, tool.tool_name)
            return tool
    return None


# ---------------------------------------------------------------------------------------------------- messages


def _texts(content: Any) -> Iterator[str]:
    """The texts of a message or a tool's result, cited ones included."""
    for block in content:
        if "citationsContent" in block:
            yield from _texts(block["citationsContent"].get("content", ()))
        elif "text" in block:
            yield block["text"]


def _messages_of_nodes(graph: Any) -> list[Any]:
    """What each agent of a graph or swarm knows when it runs: those of a swarm begin anew but after an interrupt."""
    begins = isinstance(graph, Swarm) and not graph._interrupt_state.activated
    return [
        node._initial_messages if begins else getattr(node.executor, "messages", ())
        for node in graph.nodes.values()
    ]


def _begins(messages: Iterable[Any]) -> bool:
    return not any(message["role"] == "assistant" for message in messages)


def _id_of(session_manager: Any) -> str | None:
    return getattr(session_manager, "session_id", None)


def _uses(message: Any) -> list[Any]:
    return [block["toolUse"] for block in message["content"] if "toolUse" in block]


def _with_text(message: Any, text: str) -> Any:
    """The message with ``text`` in the place of its first text; all else stays."""
    if "".join(_texts(message["content"])) == text:
        return message
    content: list[Any] = []
    for block in message["content"]:
        if not {"text", "citationsContent"} & block.keys():
            content.append(block)
        elif text:
            cited = block.get("citationsContent")
            new: Any = (
                {"text": text}
                if cited is None
                else {"citationsContent": {**cited, "content": [{"text": text}]}}
            )
            content.append({**block, **new})
            text = ""
    return {**message, "content": [*content, {"text": text}] if text else content}


def _hint(message: Any, error: GLError) -> Any:
    """What is wrong with an answer, in the place of the results of the tools that it calls."""
    text = [{"text": Session.repair_hint(error)}]
    results = [
        {"toolResult": {"toolUseId": use["toolUseId"], "status": "error", "content": text}}
        for use in _uses(message)
    ]
    return {"role": "user", "content": results or text}


def _hear(session: Session, messages: Any, summary: Any = None) -> None:
    """Tell a session what the user said in messages; the ``summary`` among them is what a model says that they said."""
    for message in messages:
        if message["role"] == "user" and message is not summary:
            kit.hear(session, (block["text"] for block in message["content"] if "text" in block))


def _summary_of(agent: Any) -> Any:
    """The message in which a conversation manager let a model sum up earlier ones."""
    return getattr(getattr(agent, "conversation_manager", None), "_summary_message", None)


def _restore(session: Session, messages: Any, summary: Any = None) -> None:
    """Give a session what an agent's messages hold."""
    _hear(session, messages, summary)
    calls: dict[str, Any] = {}
    for message in messages:
        calls |= {use["toolUseId"]: use for use in _uses(message)}
        for block in message["content"]:
            if (result := block.get("toolResult")) and result.get("status") != "error":
                call_id = result["toolUseId"]
                call = calls.get(call_id, {})
                for text in _texts(result["content"]):
                    kit.restore(
                        session, call.get("name", "tool"), call.get("input"), text, tool_call_id=call_id
                    )


# ------------------------------------------------------------------------------------------------------- tools


def _recorded(session: Session, use: Any, arguments: Any, result: Any) -> Any:
    """A tool's result as the model is told it; pictures and documents stay as they are. Raises GLError."""
    data = [block for block in result["content"] if {"text", "json"} & block.keys()]
    files = [block for block in result["content"] if block not in data]
    if (output := result.get("structuredContent")) is None:
        if not data:
            return result
        values = [
            kit.read_output(session, block["text"]) if "text" in block else block["json"] for block in data
        ]
        output = kit.block_data(values)
    reply = kit.recorded(session, use["name"], arguments, output, tool_call_id=use["toolUseId"])
    return {**result, "content": [{"text": json.dumps(reply, ensure_ascii=False)}, *files]}


def _refused_result(use: Any, error: GLError) -> ToolResultEvent:
    text = Session.repair_hint(error)
    return ToolResultEvent({"toolUseId": use["toolUseId"], "status": "error", "content": [{"text": text}]})


def _of_plain_results(tool: Any) -> Any:
    """A tool whose function's Quantities and models become JSON, of which Strands makes the text of objects else."""
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
    if isinstance(result, str):
        return result
    try:
        json.dumps(result)
    except (TypeError, ValueError, RecursionError):
        with suppress(ValueError):
            return plain(result)
    return result

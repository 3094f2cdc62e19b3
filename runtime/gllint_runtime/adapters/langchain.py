"""LangChain and LangGraph: a middleware for ``create_agent``, and a gate around any graph. Needs ``gllint[langchain]``.

graph = gate(graph)
agent = create_agent(model, tools, middleware=[GateMiddleware()])

The messages of a thread are its session: what its tools returned is in them. So a checkpointer, a store or a list of
messages is all that a conversation needs to go on.
"""

from __future__ import annotations

import copy
import json
import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from dataclasses import is_dataclass, replace
from functools import partial
from types import UnionType
from typing import Any, NamedTuple, TypeVar, Union, Unpack, get_args, get_origin, get_type_hints

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ExtendedModelResponse
from langchain.agents.structured_output import StructuredOutputError
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackManager
from langchain_core.callbacks.manager import handle_event
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
)
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import ensure_config, var_child_runnable_config
from langgraph.errors import GraphInterrupt, ParentCommand
from langgraph.graph import START
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel
from langgraph.runtime import get_runtime
from langgraph.types import Command, Send

from gllint_runtime.adapters import kit
from gllint_runtime.execution.session import Session
from gllint_runtime.policy.errors import GLError, GLRuntimeError, GLValidationError
from gllint_runtime.policy.keywords import Mode
from gllint_runtime.policy.log import logger

try:
    from langgraph.types import Overwrite
except ImportError:  # of older versions
    Overwrite = ()  # type: ignore[assignment, misc]

GraphT = TypeVar("GraphT", bound=Pregel[Any, Any, Any, Any])

_HINT = _CHECKED = "gllint"
_ANSWERS = "messages"  # the key of the state that is gated
_ROOT = "__root__"  # the channel of a state that has no keys
_OVERWRITE = "__overwrite__"  # by which a node puts a value in the place of a channel's own
_MOST_TEXTS = 1000
_OTHER_ROLES = ("user", "human", "system", "developer", "tool", "function")
_WORDS = {"refusal": "refusal", "output_text": "text", "text-plain": "text"}  # the key of each kind of block
_SEND = "__pregel_send"  # by which ``push_message`` writes to the state while its node runs
_EDGES = ".,;:!?()[]*_\"'"  # of a word, which a text that is polished may gain or lose


def gate(target: GraphT, **options: Unpack[kit.GateOptions]) -> GraphT:
    """Return a compiled graph whose nodes record what tools return, and let only checked messages into its state.

    ``target`` is an agent of ``create_agent``, or any graph whose state and output have ``messages``; graphs that
    are its nodes are gated with it. ``session`` is the conversation's, or a function that is given the
    RunnableConfig (with the attributes of the Runtime) and returns it. After the last repair, the answer is what
    ``on_refusal`` says; a structured one raises the GLError. Raises TypeError for a graph whose answer is
    elsewhere.
    """
    if not isinstance(target, Pregel):
        what = (
            "compile it first" if hasattr(target, "compile") else "gate the agent that create_agent() returns"
        )
        raise TypeError(f"gate takes a compiled graph, not {type(target).__name__}: {what}")
    if isinstance(target, _GatedGraph):
        raise TypeError("The graph has a gate already: gate it once")
    if not isinstance(target, CompiledStateGraph):
        name = next(iter(target.nodes))
        raise TypeError(
            f"gate cannot check the entrypoint {name}(): its state has no `messages`. Gate the agents that it "
            "calls, or build a StateGraph"
        )
    _require_messages(target)
    gated: GraphT = _gated_graph(target, kit.Gate.of(options), _GatedGraph)
    return gated


def _require_messages(graph: Any) -> None:
    """Raise TypeError for a graph whose answer the gate would not see."""
    outputs = graph.output_channels
    keys = [outputs] if isinstance(outputs, str) else [*outputs]
    state = [key for key in graph.channels if key in keys or key == _ANSWERS]
    advice = (
        f"let its nodes write what the model says to `{_ANSWERS}` (MessagesState), or check a text of your own with "
        "Session.check() before anybody sees it"
    )
    if _ANSWERS not in keys:
        named = ", ".join(f"`{key}`" for key in keys if key != _ROOT)
        what = f"its output is {named}" if named else "its state has no keys"
        if _ANSWERS in state:
            advice = f"let its output schema have `{_ANSWERS}`, too"
        raise TypeError(
            f"gate sees what a graph writes to `{_ANSWERS}`, and this graph answers elsewhere: {what}; {advice}"
        )
    if _element_type(graph) is str:
        raise TypeError(
            f"gate reads messages of LangChain, and `{_ANSWERS}` of this graph are texts: declare "
            f"`{_ANSWERS}: Annotated[list[AnyMessage], add_messages]`"
        )


def _element_type(graph: Any) -> Any:
    """Return the type that a graph's state declares for a message; ``None`` if it declares none."""
    try:
        declared = get_type_hints(graph.builder.state_schema)[_ANSWERS]
    except (AttributeError, KeyError, NameError, TypeError):
        return None
    return next(iter(get_args(declared)), None)


class _Run:
    """A run of a gated graph: its session, once a node asks for it, and what else than messages it was given."""

    def __init__(self, gate: kit.Gate, input: Any) -> None:
        self.gate, self.texts = gate, [*_input_texts(input)]
        self.session: Session | None = None
        self.is_read = False  # the messages that it began with
        self.lock = threading.Lock()
        self.has_answer = self.is_paused = False
        self.key: str | None = None  # of the state that a node wrote text to, apart from the messages

    def note(self, output: Any) -> None:
        """Note what a node wrote."""
        for update in output if isinstance(output, list | tuple) else [output]:
            update = update.update if isinstance(update, Command) else update
            self.has_answer = self.has_answer or any(isinstance(m, AIMessage) for m in _messages(update))
            for key, value in update.items() if isinstance(update, Mapping) else ():
                if key != _ANSWERS and isinstance(value, str) and value:
                    self.key = key

    def warn(self, graph: Any) -> None:
        """Warn once of a graph that ends without an answer that the gate could check."""
        if self.key is None or self.has_answer or self.is_paused or vars(type(graph)).get("_gllint_warned"):
            return
        type(graph)._gllint_warned = True
        logger.warning(
            "The gate checked nothing: a run of %s wrote no AI message to `%s`, but `%s`; a text there is not checked",
            graph.get_name(),
            _ANSWERS,
            self.key,
        )


_RUN: ContextVar[_Run | None] = ContextVar("gllint_langchain_run", default=None)


class _Context(dict[str, Any]):
    """A run's RunnableConfig, with the attributes of its Runtime (``context``, ``store``, ``execution_info``)."""

    def __getattr__(self, name: str) -> Any:
        return getattr(get_runtime(), name)


def _session(gate: kit.Gate, messages: Sequence[Any]) -> Session:
    """Return the session of the run, with ``messages`` read into it."""
    run = _RUN.get()
    if run is None or run.gate is not gate:
        return _of_conversation(gate, messages)
    with run.lock:  # nodes run side by side
        if run.session is None:
            run.session = _of_conversation(gate, messages)
            kit.hear(run.session, run.texts)
        elif messages and not run.is_read:
            kit.read_history(run.session, _history(messages))
        else:
            return _with_history(run.session, messages)
        run.is_read = bool(messages)
        return run.session


def _with_history(session: Session, messages: Sequence[Any]) -> Session:
    # What a node wrote in the meantime is no user's word: the run has heard what there is to hear.
    events = [event for event in _history(messages) if not isinstance(event, kit.UserText)]
    kit.read_history(session, events)
    return session


def _of_conversation(gate: kit.Gate, messages: Sequence[Any]) -> Session:
    config = _Context(ensure_config())
    thread = config.get("configurable", {}).get("thread_id")
    is_inner = "|" in (config.get("metadata") or {}).get("langgraph_checkpoint_ns", "")  # a graph in a graph
    history = [*_history(messages), *([kit.Answer()] if is_inner else [])]
    return gate.conversation(config, history, conversation=None if thread is None else str(thread))


def _history(messages: Sequence[Any]) -> Iterator[kit.Event]:
    """Yield messages of LangChain as events of a conversation."""
    for message in messages:
        if isinstance(message, AIMessage):
            yield kit.Answer()
            yield from (kit.ToolUse(call["id"], call["name"], call["args"]) for call in message.tool_calls)
        elif isinstance(message, ToolMessage) and message.status != "error":
            yield kit.ToolReply(message.tool_call_id, message.name, [*_texts(message.content)])
        elif isinstance(message, SystemMessage):
            yield kit.UserText(message.text, "prompt")
        elif _is_summary(message):
            yield kit.Answer()
        elif _is_of_user(message):
            yield kit.UserText(message.text)


# -------------------------------------------------------------------------------------------------- middleware


def _raised(error: GLError) -> str:
    raise error


class GateMiddleware(AgentMiddleware[Any, Any, Any]):
    """Records each tool's output and lets only verified messages of the model into the state.

    A rejected message is shown to the model alone, with why, at most ``max_retries`` times for one answer; then the
    GLError is raised, or the answer is what ``on_refusal`` says. ``session`` and ``mode`` are as in :func:`gate`.
    """

    def __init__(
        self,
        session: kit.SessionOption = None,
        max_retries: int = 2,
        on_refusal: kit.OnRefusal = _raised,
        *,
        mode: Mode | None = None,
    ) -> None:
        """Make the middleware; the options are as in :func:`gate`."""
        super().__init__()
        self._gate = kit.Gate(session, mode, max_retries, on_refusal)

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Call a tool with its arguments in the units of its parameters, and record what it returned."""
        call = _ToolRequest(self._gate, request)
        return kit.run_steps(call.steps(handler))

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """The same for an async tool."""
        call = _ToolRequest(self._gate, request)
        return await kit.arun_steps(call.steps(handler))

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Ask the model until its message passes."""
        return kit.run_steps(self._asking(request, handler))

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """The same for an async model."""
        return await kit.arun_steps(self._asking(request, handler))

    def _asking(self, request: Any, handler: Callable[[Any], Any]) -> kit.Steps[Any]:
        messages = [*filter(None, [request.system_message]), *request.messages]
        turn = _Turn(self._gate, messages, _schemas(self._gate, request.response_format))

        def ask(hints: list[Any], config: Any) -> kit.Steps[Any]:
            return (yield handler(request.override(messages=[*request.messages, *hints])))

        return turn.asking(ask, _answer_of_response, ensure_config())

    def after_agent(self, state: Any, runtime: Any) -> None:
        """Whatever ended the run: its last answer must be one that was checked."""
        messages = state["messages"]
        last = next((message for message in reversed(messages) if isinstance(message, AIMessage)), None)
        if last is not None and _CHECKED not in last.response_metadata:
            raise GLRuntimeError("PROVIDER_FAILED", "The run ended on an answer that was not checked")


# ------------------------------------------------------------------------------------------------------- tools


class _ToolRequest:
    """A call of a tool that a middleware sees."""

    def __init__(self, gate: kit.Gate, request: Any) -> None:
        """Check the arguments of a call, and put them into the units of the tool's parameters."""
        call, messages = request.tool_call, _messages(request.state)
        self.request = request
        self._turn = _Turn(gate, messages, [])
        self._call_id = call["id"]
        _arrange(self._turn.session, messages)
        self.call = _tool_call(self._turn.session, call, request.tool)
        if self.call.is_changed:
            self.request = request.override(tool_call={**call, "args": dict(self.call.arguments)})

    def steps(self, handler: Callable[[Any], Any]) -> kit.Steps[Any]:
        """Run the tool, and return its recorded result: steps for :func:`kit.run_steps`.

        A tool may leave its graph with a Command for the outer one, which is raised again with the recorded result.
        """
        if (refusal := _refusal_of(self.call, self.request.tool_call)) is not None:
            return refusal
        with self.call.running():
            try:
                return self.result((yield handler(self.request)))
            except ParentCommand as leaving:
                leaving.args = (self.result(leaving.args[0]),)
                raise

    def result(self, result: Any) -> Any:
        """Return the tool's message or Command as the model receives it."""
        if isinstance(result, Command):
            return _mapped(result, self.result)
        if isinstance(result, ToolMessage):
            return _recorded(self.call, result) if result.tool_call_id == self._call_id else result
        return self._turn.pushed(result)


def _tool_call(session: Session, call: Any, tool: Any) -> kit.ToolCall:
    schema = getattr(tool, "tool_call_schema", None)  # the schema that the model receives
    if schema is not None and not isinstance(schema, dict):
        schema = schema.model_json_schema()
    return kit.ToolCall(session, call["name"], call["args"], schema=schema, id=call["id"])


def _refusal_of(call: kit.ToolCall, model_call: Any) -> ToolMessage | None:
    if call.refusal is None:
        return None
    return ToolMessage(call.refusal, tool_call_id=model_call["id"], name=model_call["name"], status="error")


def _arrange(session: Session, messages: Sequence[Any]) -> None:
    if messages and isinstance(messages[-1], AIMessage):
        session.arrange([call["id"] for call in messages[-1].tool_calls if call["id"]])


def _recorded(call: kit.ToolCall, message: ToolMessage) -> ToolMessage:
    """Return a tool's message as the model receives it; its images and other blocks stay as they are."""
    if message.status == "error":
        return message
    outputs: list[Any] = [] if message.artifact is None else [message.artifact]
    if not outputs or call.session.mode == "sourced":
        outputs += _texts(message.content)
    if not outputs:  # pictures alone: there is nothing to claim
        return message
    try:
        text = call.text(kit.read_blocks(call.session, outputs))
    except GLError as error:
        return message.model_copy(update={"content": Session.repair_hint(error), "status": "error"})
    if text is None:
        return message
    return message.model_copy(update={"content": _with_text(message.content, text, rest=True)})


# ---------------------------------------------------------------------------------------------------- messages


def _texts(content: Any) -> Iterator[str]:
    """Yield the texts of a message's content."""
    for block in [content] if isinstance(content, str) else content:
        if isinstance(block, str):
            yield block
        elif isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str):
            yield block["text"]


def _with_text(content: Any, text: str, *, rest: bool = False) -> Any:
    """Return a message's content with ``text`` for its first text; its further texts are dropped, or kept with
    ``rest``.

    ``[{"type": "text", "text": "a"}, image], "b"`` → ``[{"type": "text", "text": "b"}, image]``.
    """
    if isinstance(content, str):
        return text
    blocks: list[Any] = []
    is_replaced = False
    for block in content:
        is_text = isinstance(block, str) or (isinstance(block, dict) and block.get("type") == "text")
        if not is_text or (is_replaced and rest):
            blocks.append(block)
        elif not is_replaced:
            blocks.append(text if isinstance(block, str) else {**block, "text": text})
            is_replaced = True
    return blocks if is_replaced else [{"type": "text", "text": text}, *blocks]


def _messages(state: Any) -> list[BaseMessage]:
    """Return the messages in a node's state: of a mapping, a list, an object with ``messages``, or a single message."""
    if isinstance(state, Mapping):
        state = state.get("messages") or (_messages(state["state"]) if "state" in state else [])
    elif not isinstance(state, list):
        state = getattr(state, "messages", None)
    state = state if isinstance(state, list) else [state]
    return [message for item in state if (message := _as_message(item)) is not None]


def _as_message(item: Any) -> BaseMessage | None:
    """Return a message given in any form that LangGraph accepts: ``{"role": …, "content": …}``, ``("ai", …)``, a text.

    ``None`` for any other value.
    """
    if isinstance(item, ChatMessage) and item.role not in _OTHER_ROLES:
        metadata = {"additional_kwargs": item.additional_kwargs, "response_metadata": item.response_metadata}
        return AIMessage(item.content, id=item.id, name=item.name, **metadata)
    if isinstance(item, BaseMessage) or item is None:
        return item
    try:
        [message] = convert_to_messages([item])
    except (ValueError, TypeError, NotImplementedError):  # no message, which LangGraph says itself
        return None
    return message


def _mapped(output: Any, change: Callable[[Any], Any]) -> Any:
    """Return a node's output, in any of its forms, with ``change`` applied to each of its messages."""
    if isinstance(output, BaseMessage):
        return _mapped_messages(output, change)
    if isinstance(output, Command):
        return replace(output, update=_mapped(output.update, change), goto=_mapped(output.goto, change))
    if isinstance(output, Send):
        copied = copy.copy(output)
        copied.arg = _mapped(output.arg, change)
        return copied
    if isinstance(output, list):
        return [_mapped(item, change) for item in output]
    if isinstance(output, tuple) and len(output) == 2 and output[0] == _ANSWERS:
        return _ANSWERS, _mapped_messages(output[1], change)
    if isinstance(output, Mapping) and _ANSWERS in output:
        return {**output, _ANSWERS: _mapped_messages(output[_ANSWERS], change)}
    if isinstance(output, tuple):  # a list of updates; a named tuple is a state without messages
        return tuple(_mapped(item, change) for item in output) if type(output) is tuple else output
    if _is_record(output):
        changed = copy.copy(output)
        object.__setattr__(changed, _ANSWERS, _mapped_messages(getattr(output, _ANSWERS), change))
        return changed
    return output


def _mapped_messages(update: Any, change: Callable[[Any], Any]) -> Any:
    """Return the value of ``messages`` in a node's output with ``change`` applied to each message."""
    if isinstance(update, list):
        return [_mapped_messages(item, change) for item in update]
    if isinstance(update, Overwrite):
        return replace(update, value=_mapped_messages(update.value, change))
    if isinstance(update, Mapping) and update.keys() == {_OVERWRITE}:
        return {_OVERWRITE: _mapped_messages(update[_OVERWRITE], change)}
    message = _as_message(update)
    return update if message is None else change(message)


def _is_record(output: Any) -> bool:
    """Return whether a node's output is a state of a dataclass or of pydantic that has messages."""
    if isinstance(output, type) or not hasattr(output, _ANSWERS):
        return False
    return is_dataclass(output) or hasattr(type(output), "model_fields")


def _input_texts(data: Any) -> Iterator[str]:
    """Return the texts and numbers in a run's input besides its messages, and a person's answer to an interrupt."""
    if isinstance(data, Command):
        yield from _values(data.resume)
        data = data.update
    if isinstance(data, Mapping):
        yield from _values([value for key, value in data.items() if key != "messages"])


def _values(data: Any) -> Iterator[str]:
    """Yield the texts and numbers in data, as texts."""
    stack = [data]
    for _ in range(_MOST_TEXTS):
        if not stack:
            return
        item = stack.pop()
        if isinstance(item, Mapping | list | tuple):
            stack += [*item.values()] if isinstance(item, Mapping) else item
        elif isinstance(item, HumanMessage):
            yield item.text
        elif isinstance(item, str | int | float) and not isinstance(item, bool):
            yield str(item)


def _is_of_user(message: Any) -> bool:
    """Return whether a message is a person's: no hint of the gate, no task that a node wrote, no summary by a model."""
    return (
        isinstance(message, HumanMessage)
        and message.name != _HINT
        and _CHECKED not in message.response_metadata
        and not _is_summary(message)
    )


def _is_summary(message: Any) -> bool:
    return isinstance(message, HumanMessage) and "lc_source" in message.additional_kwargs


def _as_task(session: Session, message: HumanMessage) -> HumanMessage:
    """Return a message that a node or a tool wrote in the user's name: it stays no user's word, in later runs, too."""
    if not _is_of_user(message) or session.has_heard(message.text):
        return message
    return message.model_copy(update={"response_metadata": {**message.response_metadata, _CHECKED: "task"}})


def _checked(session: Session, message: AIMessage) -> AIMessage:
    """Return a message of the model as it may be shown. Raises GLError for a final answer that fails the check."""
    return _checked_call(session, message) if message.tool_calls else _checked_answer(session, message)


def _checked_answer(session: Session, message: AIMessage) -> AIMessage:
    """Return a final answer with its checked text. Raises GLError."""
    if words := _other_words(message):
        session.check(words)
    text = message.text
    verified = kit.check_final(session, text)
    metadata = {**message.response_metadata, _CHECKED: verified.provenance}
    content = message.content if text == verified.message else _with_text(message.content, verified.message)
    return message.model_copy(update={"content": content, "response_metadata": metadata})


def _checked_call(session: Session, message: AIMessage) -> AIMessage:
    """Return a message that calls tools, without those of its words that fail the check; the calls stay."""
    words = _other_words(message)
    if words and session.verify(words).status != "success":
        message = _without_other_words(message)
    if session.verify(message.text).status == "success":
        return message
    content = [] if isinstance(message.content, str) else message.content
    other = [block for block in content if isinstance(block, dict) and block.get("type") != "text"]
    return message.model_copy(update={"content": other or ""})


def _other_words(message: AIMessage) -> str:
    """Return what a model says outside its text, such as a refusal to answer."""
    blocks: Sequence[Any] = message.content
    texts = [block.get(_WORDS[block["type"]]) for block in blocks if _has_words(block)]
    texts.append(message.additional_kwargs.get("refusal"))
    return "\n\n".join(text for text in texts if isinstance(text, str) and text)


def _without_other_words(message: AIMessage) -> AIMessage:
    """Return a message without the texts outside of ``text``, which are not checked (reasoning)."""
    if not _other_words(message):
        return message
    content = message.content
    if not isinstance(content, str):
        content = [block for block in content if not _has_words(block)]
    rest = {key: value for key, value in message.additional_kwargs.items() if key != "refusal"}
    return message.model_copy(update={"content": content, "additional_kwargs": rest})


def _has_words(block: Any) -> bool:
    return isinstance(block, dict) and isinstance(block.get("type"), str) and block["type"] in _WORDS


class _Sayings:
    """The messages of a state as they were, by id.

    A node may later change a message, or write another one under its id.
    """

    def __init__(self, messages: Sequence[BaseMessage]) -> None:
        self._messages = messages
        self._contents: dict[str | None, Any] = {
            m.id: copy.deepcopy(m.content) for m in messages if m.id is not None
        }

    def has(self, message: BaseMessage) -> bool:
        """Return whether a message is one of them, as it was."""
        return message.id in self._contents and self._contents[message.id] == message.content

    def has_id(self, message: BaseMessage) -> bool:
        """Return whether a message has the id of one of them."""
        return message.id in self._contents

    def repeats_numbers(self, session: Session, message: BaseMessage) -> bool:
        """Return whether a message has only numbers of the earlier message with its id, in their order."""
        if (content := self._contents.get(message.id)) is None:
            return False
        numbers, words = _numbers_and_words(message.text)
        places: dict[str, deque[int]] = {}  # where the earlier message has each number
        for place, number in enumerate(_numbers_and_words(" ".join(_texts(content)))[0]):
            places.setdefault(number, deque()).append(place)
        last = -1
        for number in numbers:
            places_left = places.get(number, deque())
            while places_left and places_left[0] <= last:
                places_left.popleft()
            if places_left:
                last = places_left.popleft()
            else:
                words.append(number)
        return session.verify(" ".join(words)).status == "success"

    def take_back(self, session: Session) -> None:
        """Undo changes in place that are not allowed."""
        for message in self._messages:
            if isinstance(message, AIMessage) and self.has_id(message) and not self.has(message):
                if not (self.repeats_numbers(session, message) or session.was_shown(message.text)):
                    message.content = self._contents[message.id]


def _numbers_and_words(text: str) -> tuple[list[str], list[str]]:
    """Return the words with numbers, each with the next word, which may be its unit; and the other words.

    "It is 5 kWh" → ``["5 kWh"]``, ``["It", "is", "kWh"]``.
    """
    words = [word.strip(_EDGES) for word in text.split()]
    is_number = [any(map(str.isnumeric, word)) for word in words]
    numbers = [
        f"{word} {following}"
        for word, following, has_digit in zip(words, [*words[1:], ""], is_number, strict=True)
        if has_digit
    ]
    return numbers, [word for word, has_digit in zip(words, is_number, strict=True) if not has_digit]


class _Answer(NamedTuple):
    """The parts of a model's answer: its messages and its structure; ``put`` replaces both in a node's output."""

    messages: list[Any]
    structure: Any
    put: Callable[[list[Any], Any], Any]


def _answer_of_response(response: Any) -> _Answer:
    """Return the messages and structure of a response, and how to put others into it."""
    if isinstance(response, AIMessage):
        return _Answer([response], None, lambda messages, structure: messages[0])
    if isinstance(response, ExtendedModelResponse):
        inner = _answer_of_response(response.model_response)

        def put(messages: list[Any], structure: Any) -> Any:
            return replace(response, model_response=inner.put(messages, structure))

        return inner._replace(put=put)
    return _Answer(
        [*response.result],
        response.structured_response,
        lambda messages, structure: replace(response, result=messages, structured_response=structure),
    )


# ---------------------------------------------------------------------------------------- structured answers


def _schemas(gate: kit.Gate, response_format: Any) -> list[Any]:
    """Return the types of structured answer that a response format admits.

    Raises TypeError for a type without claims.
    """
    if response_format is None:
        return []
    schema = getattr(response_format, "schema", response_format)  # of a strategy, not of a model's class
    if isinstance(response_format, type | Mapping):
        schema = response_format
    schemas = [*get_args(schema)] if get_origin(schema) in (UnionType, Union) else [schema]
    for item in schemas:
        gate.require_claims(item, "the response format")
    return schemas


def _schemas_of_node(gate: kit.Gate, bound: Any) -> list[Any]:
    """Return the types of structured answer of a node that ``create_agent`` made; ``[]`` for other nodes.

    They are only in the variables of the node's function.
    """
    function = getattr(bound, "func", None)
    cells = getattr(function, "__closure__", None) or ()
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    for name, cell in zip(names, cells, strict=False):
        if name in ("initial_response_format", "response_format"):
            return _schemas(gate, cell.cell_contents)
    return []


def _structured(
    session: Session, schemas: list[Any], messages: list[Any], structure: Any
) -> tuple[list[Any], Any]:
    """Return the messages and the structure of a structured answer as they may be shown. Raises GLError."""
    replies = {message.tool_call_id for message in messages if isinstance(message, ToolMessage)}
    calls = [call for m in messages if isinstance(m, AIMessage) for call in m.tool_calls]
    answer_calls = [call for call in calls if call["id"] in replies]
    if structure is None:  # what LangChain says is wrong with it
        problem = next(m.text for m in messages if isinstance(m, ToolMessage))
        raise GLValidationError("STEP_SCHEMA", f"The structured answer cannot be taken: {problem}")
    names = {call["name"] for call in answer_calls}
    schema = next((item for item in schemas if getattr(item, "__name__", "") in names), None)
    if schema is None and len(schemas) == 1:
        schema = schemas[0]
    structure = kit.checked_structure(session, structure, schema)
    data = kit.structure_data(structure, schema)
    checked = []
    for message in messages:
        if isinstance(message, AIMessage):
            metadata = {**message.response_metadata, _CHECKED: []}
            new: dict[str, Any] = {"response_metadata": metadata}
            if answer_calls:
                message = _checked(session, message)
                new["tool_calls"] = [
                    {**call, "args": data} if call in answer_calls else call for call in message.tool_calls
                ]
            else:
                new["content"] = _with_text(message.content, json.dumps(data, ensure_ascii=False))
            message = message.model_copy(update=new)
        checked.append(message)
    return checked, structure


def _hints(messages: list[Any], hint: str) -> list[BaseMessage]:
    """Return the messages that ask the model again: its answer, and the hint.

    If the answer called tools, the hint is the result of these calls.
    """
    answers = [message for message in messages if isinstance(message, AIMessage)]
    results = {message.tool_call_id for message in messages if isinstance(message, ToolMessage)}
    if not results:
        return [*answers, HumanMessage(hint, name=_HINT)]
    return [
        *answers,
        *(
            ToolMessage(
                hint if call["id"] in results else "Not called.",
                tool_call_id=call["id"],
                name=call["name"],
                status="error",
            )
            for message in answers
            for call in message.tool_calls
        ),
    ]


class _Turn:
    """The model's turn: its answers are judged, and what may be shown of a stream is."""

    def __init__(self, gate: kit.Gate, messages: Sequence[Any], schemas: list[Any]) -> None:
        self.session = _session(gate, messages)
        self.schemas = schemas
        self.sayings = _Sayings(messages)
        self._turn = kit.Turn(gate, self.session)
        self._sentences: _Sentences | None = None

    def asking(
        self,
        ask: Callable[[list[Any], Any], kit.Steps[Any]],
        answer_of: Callable[[Any], _Answer],
        config: RunnableConfig,
    ) -> kit.Steps[Any]:
        """Return the first response that passes, asked for with a hint after each that fails: steps for
        :func:`kit.run_steps`.
        """
        hints: list[Any] = []
        while True:
            with self.privately(config) as private:
                try:
                    response = yield from ask(hints, private)
                except StructuredOutputError as error:
                    hints = [*hints, *_hints([error.ai_message], self._misfit(error))]
                    continue
            answer = answer_of(response)
            otherwise = None if self._is_structured(answer) else partial(self._refused, answer)
            checked = self._turn.attempt(partial(self._checked, answer), otherwise)
            if checked is None:
                hints = [*hints, *_hints(answer.messages, self._turn.hint)]
                continue
            messages, structure = checked
            if self._sentences is not None:
                messages = self._sentences.close(messages)
            return answer.put(messages, structure)

    def _misfit(self, error: StructuredOutputError) -> str:
        """Return the hint about an answer that LangChain could not read; raise its error after the last repair."""
        if error.ai_message.tool_calls:  # which would stay without results if the model were asked again
            raise error

        def misfit() -> None:
            raise GLValidationError("STEP_SCHEMA", f"The structured answer cannot be taken: {error}")

        try:
            self._turn.attempt(misfit)
        except GLError:
            raise error from None
        return self._turn.hint

    def _checked(self, answer: _Answer) -> tuple[list[Any], Any]:
        if self._is_structured(answer):
            return _structured(self.session, self.schemas, answer.messages, answer.structure)
        return [self._accept(message) for message in answer.messages], answer.structure

    def _refused(self, answer: _Answer, error: GLError) -> tuple[list[Any], Any]:
        return [self._with_refusal(message, error) for message in answer.messages], answer.structure

    @staticmethod
    def _is_structured(answer: _Answer) -> bool:
        return answer.structure is not None or any(isinstance(m, ToolMessage) for m in answer.messages)

    def _accept(self, message: Any) -> Any:
        """Return a message of a node as it may be shown; one that was checked before is unchanged. Raises GLError."""
        message = _as_message(message) if isinstance(message, ChatMessage) else message
        if not isinstance(message, AIMessage) or self.sayings.has(message):
            return message
        if self.session.was_shown(message.text) and _CHECKED in message.response_metadata:
            return message  # of a graph inside this one
        if self.sayings.repeats_numbers(self.session, message):
            return message
        try:
            return _checked(self.session, message)
        except GLError as error:
            if not self.sayings.has_id(message):
                raise
            # What rewrites an answer takes the last message for it: asked again, it would find the hint there.
            return self._with_refusal(message, error)

    def _with_refusal(self, message: Any, error: GLError) -> Any:
        """Return a message with the text of ``on_refusal`` in place of its own."""
        if not isinstance(message, AIMessage) or self.sayings.has(message) or message.tool_calls:
            return message
        text = self._turn.refusal(error, message.text)
        message = _without_other_words(message)
        metadata = {**message.response_metadata, _CHECKED: []}
        content = _with_text(message.content, text)
        return message.model_copy(update={"content": content, "response_metadata": metadata})

    def sent(self, writes: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
        """Return what a node writes while it runs, as it may be shown."""
        return [
            (key, _mapped_messages(value, self.pushed) if key == _ANSWERS else value) for key, value in writes
        ]

    def pushed(self, message: Any) -> Any:
        """Return a message as it may be shown, without asking the model again."""
        if isinstance(message, HumanMessage):
            return _as_task(self.session, message)
        try:
            return self._accept(message)
        except GLError as error:
            return self._with_refusal(message, error)

    @contextmanager
    def privately(self, config: RunnableConfig) -> Iterator[RunnableConfig]:
        """Run the model so that its tokens reach only the gate, which passes on checked text; yield the config for
        that.
        """
        manager = config.get("callbacks")
        handlers = manager.handlers if isinstance(manager, BaseCallbackManager) else manager or []
        streams: list[Any] = [handler for handler in handlers if hasattr(handler, "tap_output_aiter")]
        if streams and isinstance(manager, BaseCallbackManager):
            manager = manager.copy()
            self._sentences = self._sentences or _Sentences(self._turn)
            for handler in streams:
                manager.remove_handler(handler)
                if (private := self._sentences.twin(handler)) is not None:
                    manager.add_handler(private, inherit=True)
            config = {**config, "callbacks": manager}
        configurable = config.get("configurable", {})
        if (send := configurable.get(_SEND)) is not None:
            config = {
                **config,
                "configurable": {**configurable, _SEND: lambda writes: send(self.sent(writes))},
            }
        with kit.binding(var_child_runnable_config, config), kit.using(self.session):
            yield config


class _Sentences:
    """Receives what a model streams, and passes checked text on to ``stream_mode="messages"`` and
    ``astream_events``, as one message.
    """

    def __init__(self, turn: kit.Turn) -> None:
        self._turn = turn
        self._id: str | None = None  # of the message that is shown
        self._now: str | None = None  # of the one that the model writes
        self._attempt = 0
        self._listeners: list[tuple[Any, Callable[[AIMessageChunk], None]]] = []
        self._events: list[_ModelEvents] = []

    def twin(self, handler: Any) -> Any:
        """Return what hears the model in place of a stream's handler; ``None`` if nothing of it may be shown."""
        if callable(getattr(handler, "stream", None)):  # that of stream_mode="messages"
            twin = copy.copy(handler)
            twin.seen, twin.metadata = set(), {}
            twin.stream = lambda event: self._hear_message(handler, *event)
            return twin
        if not isinstance(handler, AsyncCallbackHandler):  # that of astream_log
            return None
        events = next((events for events in self._events if events.handler is handler), None)
        if events is None:
            self._events.append(events := _ModelEvents(handler, self))
        events.begin()
        return events

    def _hear_message(self, handler: Any, namespace: Any, mode: str, event: Any) -> None:
        message, metadata = event

        def emit(chunk: AIMessageChunk) -> None:
            handler.seen.add(chunk.id)
            handler.stream((namespace, mode, (chunk, metadata)))

        self.hear(handler, message, emit)

    def hear(self, handler: Any, message: Any, emit: Callable[[AIMessageChunk], None]) -> None:
        """Pass a checked piece of a streamed text to each handler that listens, once."""
        if not isinstance(message, AIMessageChunk) or message.id is None:
            return  # whole messages are shown where the node has returned them
        if self._attempt != self._turn.attempts:
            self._attempt, self._now = self._turn.attempts, None
        self._now = self._now or message.id
        if message.id != self._now:  # of another model that the node asks, whose text is not streamed
            return
        if not any(handler is listener for listener, _ in self._listeners):
            self._listeners.append((handler, emit))
        if handler is self._listeners[0][0] and (text := self._turn.feed(message.text)):
            self._id = self._id or message.id
            self._emit(AIMessageChunk(content=text, id=self._id))

    def close(self, messages: list[Any]) -> list[Any]:
        """Stream the rest of the text, and return the messages, the shown one with the id under which it was
        streamed.
        """
        closed = self._close_text(messages)
        for events in self._events:
            for message, shown in zip(messages, closed, strict=True):
                events.end(events.place_of(message), shown)
            # What a node streamed and then put into a message of its own.
            events.end_rest(AIMessage(self._turn.shown, id=self._id))
        return closed

    def _close_text(self, messages: list[Any]) -> list[Any]:
        if self._id is None:
            return messages  # the graph itself streams the whole message
        place = next(
            (i for i, m in enumerate(messages) if isinstance(m, AIMessage) and m.id == self._now), None
        )
        if place is None:
            return messages
        message = messages[place].model_copy(update={"id": self._id})
        self._emit(_last_chunk(message, self._turn.rest(message.text)))
        return [*messages[:place], message, *messages[place + 1 :]]

    def _emit(self, chunk: AIMessageChunk) -> None:
        for _, emit in self._listeners:
            emit(chunk)


def _last_chunk(message: AIMessage, text: str) -> AIMessageChunk:
    """Return the last piece of a streamed message, with the rest of its text."""
    calls = [
        tool_call_chunk(name=call["name"], args=json.dumps(call["args"]), id=call["id"], index=number)
        for number, call in enumerate(message.tool_calls)
    ]
    return AIMessageChunk(
        content=text,
        id=message.id,
        tool_call_chunks=calls,
        usage_metadata=message.usage_metadata,
        response_metadata=message.response_metadata,
        chunk_position="last",
    )


class _ModelEvents(AsyncCallbackHandler):
    """Passes on to ``astream_events`` what a node's tools do, and of its models what was checked.

    All attempts are shown as the first one, whose input contains no rejected draft.
    """

    def __init__(self, handler: Any, sentences: _Sentences) -> None:
        self.handler, self._sentences = handler, sentences
        self._starts: list[tuple[Any, dict[str, Any]]] = []  # of the models of the first attempt
        self._attempts = self._place = 0  # the place is that of the next model of this attempt
        self._places: dict[Any, int] = {}  # by the ids of the runs
        self._of_messages: dict[str | None, int] = {}
        self._streams: set[int] = set()  # those that wrote tokens
        self._shown: dict[int, bool] = {}  # those that have begun, and whether their text was shown
        self._ended: set[int] = set()
        self._parents: dict[Any, Any] = {}  # of the chains, which are not shown

    def begin(self) -> None:
        """Begin an attempt."""
        self._attempts += 1
        self._place = 0

    def tap_output_aiter(self, run_id: Any, output: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Return what a chain yields; it is not shown."""
        return output

    def tap_output_iter(self, run_id: Any, output: Iterator[Any]) -> Iterator[Any]:
        """Return what a chain yields; it is not shown."""
        return output

    async def on_chain_start(self, serialized: Any, inputs: Any, **options: Any) -> None:
        """Note the parent of a chain, which is that of its tools and models for the reader."""
        self._parents[options["run_id"]] = options.get("parent_run_id")

    def _under_shown(self, options: dict[str, Any]) -> dict[str, Any]:
        parent = options.get("parent_run_id")
        while parent in self._parents:
            parent = self._parents[parent]
        return {**options, "parent_run_id": parent}

    async def on_chat_model_start(self, serialized: Any, messages: Any, **options: Any) -> None:
        """Note the start of a model; it is shown with its first checked text."""
        place, self._place = self._place, self._place + 1
        if self._attempts == 1:
            self._starts.append(((serialized, messages), self._under_shown(options)))
        if place < len(self._starts):
            self._places[options["run_id"]] = place

    async def on_llm_new_token(self, token: Any, *, chunk: Any = None, **options: Any) -> None:
        """Pass on what of the text is checked."""
        if (place := self._places.get(options["run_id"])) is None:
            return
        self._streams.add(place)
        self._sentences.hear(self.handler, getattr(chunk, "message", None), partial(self._token, place))

    async def on_llm_end(self, response: Any, **options: Any) -> None:
        """Note whose message it is; the end is shown with the checked message."""
        if (place := self._places.get(options["run_id"])) is not None:
            for generation in response.generations[0][:1]:
                self._of_messages[getattr(generation, "message", None) and generation.message.id] = place

    def _send(self, event: str, /, *values: Any, **options: Any) -> None:
        handle_event([self.handler], event, None, *values, **options)

    def _begin_model(self, place: int) -> Any:
        values, options = self._starts[place]
        if place not in self._shown:
            self._shown[place] = False
            self._send("on_chat_model_start", *values, **options)
        return options["run_id"]

    def _token(self, place: int, chunk: AIMessageChunk) -> None:
        run_id = self._begin_model(place)
        self._shown[place] = True
        self._send("on_llm_new_token", chunk.text, chunk=ChatGenerationChunk(message=chunk), run_id=run_id)

    def place_of(self, message: Any) -> int | None:
        """Return the place of the model that wrote a message; ``None`` if none of the node's models did."""
        return self._of_messages.pop(message.id, None) if isinstance(message, AIMessage) else None

    def end(self, place: int | None, message: Any) -> None:
        """Show the end of a model with its checked message."""
        if place is None:
            return
        run_id = self._begin_model(place)
        if place in self._streams and not self._shown[place]:
            self._token(place, _last_chunk(message, message.text))
        self._ended.add(place)
        self._send("on_llm_end", LLMResult(generations=[[ChatGeneration(message=message)]]), run_id=run_id)

    def end_rest(self, message: AIMessage) -> None:
        """Show the end of each other model that has begun, with the text that was shown."""
        for place in self._shown.keys() - self._ended:
            self.end(place, message)

    async def on_tool_start(self, serialized: Any, input_str: str, **options: Any) -> None:
        """Delegated to the stream."""
        await self.handler.on_tool_start(serialized, input_str, **self._under_shown(options))

    async def on_tool_end(self, output: Any, **options: Any) -> None:
        """Delegated to the stream."""
        await self.handler.on_tool_end(output, **options)

    async def on_tool_error(self, error: BaseException, **options: Any) -> None:
        """Delegated to the stream."""
        await self.handler.on_tool_error(error, **options)

    async def on_custom_event(self, name: str, data: Any, **options: Any) -> None:
        """Delegated to the stream."""
        await self.handler.on_custom_event(name, data, **options)


# ------------------------------------------------------------------------------------------------------ graphs


class _GatedGraph:
    """A graph each of whose runs has one session, which its nodes and the graphs among them share."""

    _gllint: kit.Gate

    def stream(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Iterator[Any]:
        """Run the graph by steps."""
        run = _Run(self._gllint, input)
        events = super().stream(input, config, **options)  # type: ignore[misc]
        yield from kit.stepwise(lambda: kit.binding(_RUN, run), events)
        run.warn(self)

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **options: Any
    ) -> AsyncIterator[Any]:
        """Run the graph by steps."""
        run = _Run(self._gllint, input)
        events = super().astream(input, config, **options)  # type: ignore[misc]
        async with aclosing(kit.astepwise(lambda: kit.binding(_RUN, run), events)) as steps:
            async for event in steps:
                yield event
        run.warn(self)


class _InnerGraph:
    """A graph that is a node of a gated one, and runs within its run."""

    _gllint: kit.Gate

    def invoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """Run the graph."""
        return self._with_tasks(input, super().invoke(input, config, **options))  # type: ignore[misc]

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """Run the graph."""
        return self._with_tasks(input, await super().ainvoke(input, config, **options))  # type: ignore[misc]

    def _with_tasks(self, input: Any, output: Any) -> Any:
        session = _session(self._gllint, _messages(input))
        return _mapped(output, lambda m: _as_task(session, m) if isinstance(m, HumanMessage) else m)


def _gated_graph(graph: Any, gate: kit.Gate, mixin: type) -> Any:
    """Return a copy of a graph whose nodes are gated, and whose class has the methods of ``mixin``."""
    nodes = {
        name: node if name == START else node.copy({"bound": _gated(node.bound, gate)})
        for name, node in graph.nodes.items()
    }
    original_class = type(graph)
    # Copies, as with_config() makes them, are of the same class.
    gated: Any = type(
        f"Gated{original_class.__name__}", (mixin, original_class), {"__module__": __name__, "_gllint": gate}
    )
    twin = object.__new__(gated)
    twin.__dict__.update(graph.copy({"nodes": nodes}).__dict__)
    return twin


def _gated(bound: Runnable[Any, Any], gate: kit.Gate) -> Runnable[Any, Any]:
    if isinstance(bound, CompiledStateGraph):
        inner: Runnable[Any, Any] = _gated_graph(bound, gate, _InnerGraph)
        return inner
    return _GatedNode(bound, gate)


class _GatedNode(Runnable[Any, Any]):
    """A node whose rejected messages never reach the state; it runs again instead."""

    def __init__(self, bound: Runnable[Any, Any], gate: kit.Gate) -> None:
        self._bound, self._gate = bound, gate
        self._schemas = _schemas_of_node(gate, bound)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """Run the node."""
        node = _NodeRun(self._gate, self._bound, self._schemas, input)
        return kit.run_steps(node.steps(partial(self._bound.invoke, **options), config))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """Run the node."""
        node = _NodeRun(self._gate, self._bound, self._schemas, input)
        return await kit.arun_steps(node.steps(partial(self._bound.ainvoke, **options), config))


class _NodeRun:
    """A run of a node: its input, and its output once that passes."""

    def __init__(self, gate: kit.Gate, bound: Any, schemas: list[Any], input: Any) -> None:
        """Begin a run of a node with ``input``: the calls that wait in it for their tools are checked."""
        state = _messages(input)
        self.turn = _Turn(gate, state, schemas)
        self._session = self.turn.session
        self._is_of_tools = isinstance(bound, ToolNode)
        self._tools = bound.tools_by_name if isinstance(bound, ToolNode) else {}
        self._calls: dict[Any, kit.ToolCall] = {}
        self._refusals: list[ToolMessage] = []
        self._own = self._with_arguments(input, state)

    def steps(self, run: Callable[[Any, Any], Any], config: RunnableConfig | None) -> kit.Steps[Any]:
        """Run the node, and return its output once it passes; a Command for the graph around it is raised as the
        node did.
        """
        leaving: ParentCommand | None = None
        current = _RUN.get()

        def ask(hints: list[Any], private: Any) -> kit.Steps[Any]:
            nonlocal leaving
            leaving = None
            try:
                return (yield run(_with_hints(self._own, hints), private))
            except GraphInterrupt:
                if current is not None:
                    current.is_paused = True
                raise
            except ParentCommand as command:
                leaving = command
                return command.args[0]

        if self._refusals and self._is_idle(self._own):  # none of its calls may run
            output = self._with_refusals([])
        else:
            output = yield from self.turn.asking(ask, self._answer_of, ensure_config(config))
            output = self._with_refusals(output)
        self.turn.sayings.take_back(self._session)
        if current is not None:
            current.note(output)
        if leaving is None:
            return output
        leaving.args = (output,)
        raise leaving

    def _with_arguments(self, input: Any, state: list[BaseMessage]) -> Any:
        """Return the node's input with the arguments of its calls in the units of their parameters.

        The calls are those of a single ``tool_call``, a list of calls, or the last message of the state.
        """
        _arrange(self._session, state)

        def checked_call(call: Any) -> Any:
            tool_call = _tool_call(self._session, call, self._tools.get(call["name"]))
            if refusal := _refusal_of(tool_call, call):
                self._refusals.append(refusal)
                return None
            self._calls[call["id"]] = tool_call
            return {**call, "args": dict(tool_call.arguments)} if tool_call.is_changed else call

        if isinstance(input, Mapping) and isinstance(single_call := input.get("tool_call"), Mapping):
            return {
                **input,
                "tool_call": checked_call(single_call),
            }  # as create_agent sends each call to its tools
        if isinstance(input, list) and input and not state:
            return [call for model_call in input if (call := checked_call(model_call)) is not None]
        places = [i for i, message in enumerate(state) if isinstance(message, AIMessage)]
        place = places[-1] if places and (self._is_of_tools or places[-1] == len(state) - 1) else None
        if place is None or not (last := state[place]).tool_calls:  # type: ignore[attr-defined]
            return input
        calls = [call for model_call in last.tool_calls if (call := checked_call(model_call)) is not None]  # type: ignore[attr-defined]
        if calls == last.tool_calls:  # type: ignore[attr-defined]
            return input
        return _with_messages(
            input, [*state[:place], last.model_copy(update={"tool_calls": calls}), *state[place + 1 :]]
        )

    @staticmethod
    def _is_idle(input: Any) -> bool:
        if isinstance(input, Mapping) and "tool_call" in input:
            return input["tool_call"] is None
        last = next((m for m in reversed(_messages(input)) if isinstance(m, AIMessage)), None)
        return not last.tool_calls if last else not input

    def _with_refusals(self, output: Any) -> Any:
        """Return a node's output with the answers to calls that were rejected."""
        if not self._refusals:
            return output
        if isinstance(output, list):
            return [*output, {_ANSWERS: self._refusals}] if output else {_ANSWERS: self._refusals}
        if isinstance(output, Mapping) and isinstance(output.get(_ANSWERS), list):
            return {**output, _ANSWERS: [*output[_ANSWERS], *self._refusals]}
        return output

    def _answer_of(self, output: Any) -> _Answer:
        """Return the model's messages in a node's output, and how to replace them; results of tools are recorded."""
        results: list[Any] = []
        structures = [*_structures(output)]
        # The calls that the node itself asks for: their results are no tool's.
        own_calls: set[str | None] = set()

        def gathered(message: Any) -> Any:
            """Return a message as it goes on, and note the answers among them."""
            if self.turn.sayings.has(message):
                return message
            if isinstance(message, HumanMessage):
                return _as_task(self._session, message)
            if isinstance(message, AIMessage):
                if self._is_of_tools:
                    return self.turn.pushed(message)
                own_calls.update(call["id"] for call in message.tool_calls)
                results.append(message)
            elif isinstance(message, ToolMessage) and message.tool_call_id in own_calls:
                results.append(message)  # it contains the structured answer
            elif isinstance(message, ToolMessage):
                call_id = message.tool_call_id
                if (call := self._calls.get(call_id)) is None and self._session.told_of(call_id) is None:
                    call = kit.ToolCall(self._session, message.name or "tool", {}, id=call_id)
                return message if call is None else _recorded(call, message)
            return message

        mapped = _mapped(output, gathered)

        def put(messages: list[Any], structure: Any) -> Any:
            new = {id(old): new for old, new in zip(results, messages, strict=True)}
            changed = _mapped(mapped, lambda message: new.get(id(message), message))
            return changed if structure is None else _with_structure(changed, structure)

        return _Answer(results, structures[0] if structures else None, put)


def _with_hints(state: Any, hints: list[Any]) -> Any:
    return _with_messages(state, [*_messages(state), *hints]) if hints else state


def _with_messages(state: Any, messages: list[Any]) -> Any:
    """Return a state, in any of its forms, with other messages."""
    if isinstance(state, list):
        return messages
    if isinstance(state, Mapping):
        return {**state, _ANSWERS: messages}
    changed = copy.copy(state)
    object.__setattr__(changed, _ANSWERS, messages)
    return changed


def _structures(output: Any) -> Iterator[Any]:
    """Yield the structured answers in a node's output."""
    if isinstance(output, Command):
        yield from _structures(output.update)
    elif isinstance(output, list):
        for item in output:
            yield from _structures(item)
    elif isinstance(output, Mapping) and output.get("structured_response") is not None:
        yield output["structured_response"]


def _with_structure(output: Any, structure: Any) -> Any:
    """Return a node's output with the checked structured answer in place of the model's."""
    if isinstance(output, Command):
        return replace(output, update=_with_structure(output.update, structure))
    if isinstance(output, list):
        return [_with_structure(item, structure) for item in output]
    if isinstance(output, Mapping) and output.get("structured_response") is not None:
        return {**output, "structured_response": structure}
    return output

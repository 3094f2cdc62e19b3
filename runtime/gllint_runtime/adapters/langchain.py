"""LangChain and LangGraph: a middleware for ``create_agent``, and a gate around any graph. Needs ``gllint[langchain]``.

agent = create_agent(model, tools, system_prompt=INSTRUCTIONS, middleware=[GateMiddleware()])
graph = gate(graph)

The messages of a thread are its session: what a tool returned stands in its ToolMessage with the id that claims cite.
So a checkpointer, a store or a list of messages is all that a conversation needs to go on.
"""

from __future__ import annotations

import copy
import json
import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import is_dataclass, replace
from types import UnionType
from typing import Any, NamedTuple, Union, cast, get_args, get_origin, get_type_hints

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ExtendedModelResponse
from langchain.agents.structured_output import StructuredOutputError
from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    ToolMessage,
    convert_to_messages,
)
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import ensure_config, var_child_runnable_config
from langchain_core.tracers._streaming import _StreamingCallbackHandler
from langgraph.errors import ParentCommand
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel
from langgraph.pregel._messages import StreamMessagesHandler, graph_namespace
from langgraph.pregel._read import DEFAULT_BOUND
from langgraph.runtime import get_runtime
from langgraph.types import Command, Send

from gllint_runtime.adapters import kit
from gllint_runtime.execution.session import Session
from gllint_runtime.policy.errors import GLError, GLRuntimeError, GLValidationError

try:
    from langchain_core.tracers._streaming import _V2StreamingCallbackHandler
except ImportError:  # of older versions
    _V2StreamingCallbackHandler = _StreamingCallbackHandler  # type: ignore[assignment, misc]

try:
    from langgraph.types import Overwrite
except ImportError:  # of older versions
    Overwrite = ()  # type: ignore[assignment, misc]

_HINT = "gllint"
_OF_AN_ENTRYPOINT = "__previous__"  # the channel that a graph of nodes has not
_CHECKED = "gllint"
_ANSWERS = "messages"  # the key of the state that is gated
_ROOT = "__root__"  # the channel of a state that has no keys
_OVERWRITE = "__overwrite__"  # by which a node puts a value in the place of a channel's own
_MOST_TEXTS = 1000
_OTHER_ROLES = ("user", "human", "system", "developer", "tool", "function")
_WORDS = {"refusal": "refusal", "output_text": "text", "text-plain": "text"}  # the key of each kind of block
_SEND = "__pregel_send"  # by which ``push_message`` writes to the state while its node runs
_EDGES = ".,;:!?()[]*_\"'"  # of a word, which a text that is polished may gain or lose


def gate(
    target: Any,
    *,
    session: kit.SessionOption = None,
    max_retries: int = 2,
    on_refusal: kit.OnRefusal = None,
) -> Any:
    """A compiled graph whose nodes record what tools return, and let only verified messages into its state.

    So what is streamed, stored and answered was checked. ``target`` is an agent of ``create_agent``, or any graph
    whose state and output have ``messages``; graphs that are its nodes are gated with it. ``session`` is the
    conversation's, or a function that is given the RunnableConfig (with the attributes of the Runtime) and finds it.
    Where repairs run out, the answer is what ``on_refusal`` says; a structured one raises the GLError. Raises TypeError
    for a graph whose answer stands elsewhere, and for a response format in which a number needs no claim.
    """
    if not isinstance(target, Pregel):
        raise TypeError(f"gate takes a compiled graph, not {type(target).__name__}: compile it first")
    if hasattr(target, "_gllint"):
        raise TypeError("The graph has a gate already: gate it once")
    if _OF_AN_ENTRYPOINT in target.channels:
        name = next(iter(target.nodes))
        raise TypeError(
            f"gate cannot hold {name}(), the function of an entrypoint, whose state has no messages: gate the agents "
            "that it calls, or build a StateGraph"
        )
    _require_messages(target)
    return _gated_graph(target, _Way(session, max_retries, on_refusal), _GatedGraph)


def _require_messages(graph: Pregel[Any, Any, Any, Any]) -> None:
    """Raises TypeError for a graph whose answer the gate would not see."""
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
    """What a graph's state declares a message to be; ``None`` where it does not say."""
    try:
        declared = get_type_hints(graph.builder.state_schema)[_ANSWERS]
    except (AttributeError, KeyError, NameError, TypeError):
        return None
    return next(iter(get_args(declared)), None)


class _Run:
    """A run of a gated graph: its session, once a node asks for it, and what else than messages it was given."""

    def __init__(self, way: _Way, given: Any) -> None:
        self.way, self.texts = way, [*_given_texts(given)]
        self.session: Session | None = None
        self.lock = threading.Lock()


_RUN: ContextVar[_Run | None] = ContextVar("gllint_langchain_run", default=None)


class _Way:
    """What a gate was told, and how it finds its session."""

    def __init__(self, session: kit.SessionOption, max_retries: int, on_refusal: kit.OnRefusal) -> None:
        self.option, self.max_retries, self.on_refusal = session, max_retries, on_refusal

    def session(self, messages: Sequence[Any]) -> Session:
        """The session of the run, with what its messages hold."""
        run = _RUN.get()
        if run is None or run.way is not self:
            session = self._found(messages)
        else:
            with run.lock:  # nodes run side by side
                if run.session is None:
                    run.session = self._found(messages)
                    kit.hear(run.session, run.texts)
                session = run.session
        self._restore(session, messages)
        return session

    def _found(self, messages: Sequence[Any]) -> Session:
        """The session of the conversation that begins, or goes on, with these messages."""
        config = _Context(ensure_config())
        thread = config.get("configurable", {}).get("thread_id")
        is_inner = "|" in (config.get("metadata") or {}).get(
            "langgraph_checkpoint_ns", ""
        )  # of a graph in a graph
        begins = not is_inner and not any(
            isinstance(message, AIMessage | ToolMessage) or _is_summary(message) for message in messages
        )
        session = kit.session_for(
            self.option, config, conversation=None if thread is None else str(thread), begins=begins
        )
        kit.hear(session, [m.text for m in messages if _is_of_user(m)])
        return session

    @staticmethod
    def _restore(session: Session, messages: Sequence[Any]) -> None:
        calls: dict[str, Any] = {}
        for message in messages:
            if isinstance(message, AIMessage):
                calls |= {call["id"]: call for call in message.tool_calls if call["id"]}
            elif isinstance(message, ToolMessage) and message.status != "error":
                call = calls.get(message.tool_call_id, {})
                for text in _texts(message.content):
                    name = message.name or call.get("name") or "tool"
                    kit.restore(session, name, call.get("args"), text, tool_call_id=message.tool_call_id)


class _Context(dict[str, Any]):
    """A run's RunnableConfig, with the attributes of its Runtime (``context``, ``store``, ``execution_info``)."""

    def __getattr__(self, name: str) -> Any:
        return getattr(get_runtime(), name)


# -------------------------------------------------------------------------------------------------- middleware


def _raised(error: GLError) -> str:
    raise error


class GateMiddleware(AgentMiddleware[Any, Any, Any]):
    """Records each tool's output and lets only verified messages of the model into the state.

    A refused message is shown to the model alone, with why, at most ``max_retries`` times for one answer; then the
    GLError is raised, or the answer is what ``on_refusal`` says. ``session`` is as in :func:`gate`. A response format
    in which a number needs no claim raises TypeError before the model is asked: no middleware is told of it earlier.
    """

    def __init__(
        self,
        session: kit.SessionOption = None,
        max_retries: int = 2,
        on_refusal: kit.OnRefusal = _raised,
    ) -> None:
        super().__init__()
        self._way = _Way(session, max_retries, on_refusal)

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Call a tool with its arguments in the units of its parameters, and record what it returned."""
        call = _ToolCall(self._way, request)
        if call.refusal is not None:
            return call.refusal
        with call.running():
            return call.recorded(handler(call.request))

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """The same for an async tool."""
        call = _ToolCall(self._way, request)
        if call.refusal is not None:
            return call.refusal
        with call.running():
            return call.recorded(await handler(call.request))

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Ask the model until its message holds."""
        turn = _Turn(self._way, request.messages, _schemas(request.response_format))
        judging = turn.judging(_answer_of_response)
        hints = next(judging)
        while True:
            with turn.privately(ensure_config()):
                try:
                    response = handler(request.override(messages=[*request.messages, *hints]))
                except StructuredOutputError as error:
                    response = error
            try:
                hints = judging.send(response)
            except StopIteration as done:
                return done.value

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """The same for an async model."""
        turn = _Turn(self._way, request.messages, _schemas(request.response_format))
        judging = turn.judging(_answer_of_response)
        hints = next(judging)
        while True:
            with turn.privately(ensure_config()):
                try:
                    response = await handler(request.override(messages=[*request.messages, *hints]))
                except StructuredOutputError as error:
                    response = error
            try:
                hints = judging.send(response)
            except StopIteration as done:
                return done.value

    def after_agent(self, state: Any, runtime: Any) -> None:
        """Whatever ended the run: its last answer must be one that was checked."""
        messages = state["messages"]
        last = next((message for message in reversed(messages) if isinstance(message, AIMessage)), None)
        if last is not None and _CHECKED not in last.response_metadata:
            raise GLRuntimeError("PROVIDER_FAILED", "The run ended on an answer that was not checked")


# ------------------------------------------------------------------------------------------------------- tools


class _ToolCall:
    """One call of a tool: its arguments as the tool takes them, and what it returned, recorded."""

    def __init__(self, way: _Way, request: Any) -> None:
        self.call = call = request.tool_call
        self.request = request
        self.refusal: ToolMessage | None = None
        messages = _messages(request.state)
        self._way, self._sayings = way, _Sayings(messages)
        self.session = way.session(messages)
        if messages and isinstance(messages[-1], AIMessage):
            self.session.arrange([call["id"] for call in messages[-1].tool_calls if call["id"]])
        try:
            self.arguments: Any = self.session.tool_arguments(
                call["name"], call["args"], args_schema=_args_schema(request.tool)
            )
        except GLError as error:
            self.refusal = ToolMessage(
                Session.repair_hint(error), tool_call_id=call["id"], name=call["name"], status="error"
            )
            return
        if self.arguments.changes:
            self.request = request.override(tool_call={**call, "args": dict(self.arguments)})

    @contextmanager
    def running(self) -> Iterator[None]:
        """While the tool runs, which may leave its graph with a Command for the one around it."""
        with kit.using(self.session):
            try:
                yield
            except ParentCommand as leaving:
                leaving.args = (self.recorded(leaving.args[0]),)
                raise

    def recorded(self, result: Any) -> Any:
        """What the tool returned, a message or a Command, as the model is told it."""
        if isinstance(result, Command):
            return _mapped(result, self.recorded)
        if isinstance(result, HumanMessage):
            return _as_task(self.session, result)
        if isinstance(result, AIMessage):
            return self._spoken(result)
        if not isinstance(result, ToolMessage) or result.tool_call_id != self.call["id"]:
            return result
        return _recorded(self.session, result, self.call["name"], self.arguments)

    def _spoken(self, message: AIMessage) -> AIMessage:
        """What a tool says in the model's name, as it may be shown: nobody can be asked again."""
        if self._sayings.has(message) or self.session.was_shown(message.text):
            return message
        try:
            return _checked(self.session, message)
        except GLError as error:
            return _refused(message, kit.refusal(self._way.on_refusal, error))


def _recorded(session: Session, message: ToolMessage, tool: str, arguments: Any) -> ToolMessage:
    """A tool's message with the id of its call. Its images and other blocks stay as they are."""
    if message.status == "error":
        return message
    texts = [*_texts(message.content)]
    if message.artifact is not None:
        output = message.artifact
    elif texts:
        output = kit.block_data([kit.read_output(session, text) for text in texts])
    else:  # pictures alone: there is nothing to claim
        return message
    try:
        told = kit.recorded(session, tool, arguments, output, tool_call_id=message.tool_call_id)
    except GLError as error:
        return message.model_copy(update={"content": Session.repair_hint(error), "status": "error"})
    return message.model_copy(
        update={"content": _with_text(message.content, json.dumps(told, ensure_ascii=False), rest=True)}
    )


def _args_schema(tool: Any) -> dict[str, Any] | None:
    """The schema that the model is told of a tool's arguments."""
    schema = getattr(tool, "tool_call_schema", None)
    if schema is None or isinstance(schema, dict):
        return schema
    described: dict[str, Any] = schema.model_json_schema()
    return described


# ---------------------------------------------------------------------------------------------------- messages


def _texts(content: Any) -> Iterator[str]:
    """The texts of a message's content."""
    for block in [content] if isinstance(content, str) else content:
        if isinstance(block, str):
            yield block
        elif isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str):
            yield block["text"]


def _with_text(content: Any, text: str, *, rest: bool = False) -> Any:
    """A message's content with ``text`` for its first text; further texts go, or stay with ``rest``."""
    if isinstance(content, str):
        return text
    blocks: list[Any] = []
    written = False
    for block in content:
        is_text = isinstance(block, str) or (isinstance(block, dict) and block.get("type") == "text")
        if not is_text or (written and rest):
            blocks.append(block)
        elif not written:
            blocks.append(text if isinstance(block, str) else {**block, "text": text})
            written = True
    return blocks if written else [{"type": "text", "text": text}, *blocks]


def _messages(state: Any) -> list[BaseMessage]:
    """The messages in a node's state, whatever it is."""
    if isinstance(state, Mapping):
        state = state.get("messages") or (_messages(state["state"]) if "state" in state else [])
    elif not isinstance(state, list):
        state = getattr(state, "messages", None)
    state = state if isinstance(state, list) else [state]
    return [message for item in state if (message := _as_message(item)) is not None]


def _as_message(item: Any) -> BaseMessage | None:
    """A message in any form that LangGraph takes one in: ``{"role": …, "content": …}``, ``("ai", …)``, a text."""
    if isinstance(item, ChatMessage) and item.role not in _OTHER_ROLES:
        own = {"additional_kwargs": item.additional_kwargs, "response_metadata": item.response_metadata}
        return AIMessage(item.content, id=item.id, name=item.name, **own)
    if isinstance(item, BaseMessage) or item is None:
        return item
    try:
        [message] = convert_to_messages([item])
    except (ValueError, TypeError, NotImplementedError):  # no message, which LangGraph says itself
        return None
    return message


def _mapped(output: Any, change: Callable[[Any], Any]) -> Any:
    """A node's output, in whatever form it has, with each of its messages changed."""
    if isinstance(output, BaseMessage):
        return _mapped_messages(output, change)
    if isinstance(output, Command):
        return replace(output, update=_mapped(output.update, change), goto=_mapped(output.goto, change))
    if isinstance(output, Send):
        sent = copy.copy(output)
        sent.arg = _mapped(output.arg, change)
        return sent
    if isinstance(output, list):
        return [_mapped(item, change) for item in output]
    if isinstance(output, tuple) and len(output) == 2 and output[0] == _ANSWERS:
        return _ANSWERS, _mapped_messages(output[1], change)
    if isinstance(output, Mapping) and _ANSWERS in output:
        return {**output, _ANSWERS: _mapped_messages(output[_ANSWERS], change)}
    if isinstance(output, tuple):  # updates, one behind the other
        return tuple(_mapped(item, change) for item in output) if type(output) is tuple else output
    if _is_record(output):
        changed = copy.copy(output)
        object.__setattr__(changed, _ANSWERS, _mapped_messages(getattr(output, _ANSWERS), change))
        return changed
    return output


def _mapped_messages(written: Any, change: Callable[[Any], Any]) -> Any:
    """What a node writes to the messages, with each of them changed, in whatever form it stands there."""
    if isinstance(written, list):
        return [_mapped_messages(item, change) for item in written]
    if isinstance(written, Overwrite):
        return replace(written, value=_mapped_messages(written.value, change))
    if isinstance(written, Mapping) and written.keys() == {_OVERWRITE}:
        return {_OVERWRITE: _mapped_messages(written[_OVERWRITE], change)}
    message = _as_message(written)
    return written if message is None else change(message)


def _is_record(output: Any) -> bool:
    """Whether a node's output is a state of a dataclass or of pydantic that has messages."""
    if isinstance(output, type) or not hasattr(output, _ANSWERS):
        return False
    return is_dataclass(output) or hasattr(type(output), "model_fields")


def _given_texts(given: Any) -> Iterator[str]:
    """The texts and numbers that a run is given beside its messages, among them what a person answers an interrupt."""
    if isinstance(given, Command):
        yield from _values(given.resume)
        given = given.update
    if isinstance(given, Mapping):
        yield from _values([value for key, value in given.items() if key != "messages"])


def _values(data: Any) -> Iterator[str]:
    left = [data]
    for _ in range(_MOST_TEXTS):
        if not left:
            return
        item = left.pop()
        if isinstance(item, Mapping | list | tuple):
            left += [*item.values()] if isinstance(item, Mapping) else item
        elif isinstance(item, HumanMessage):
            yield item.text
        elif isinstance(item, str | int | float) and not isinstance(item, bool):
            yield str(item)


def _is_of_user(message: Any) -> bool:
    """Whether a person said it: no hint, no task that a node wrote, no summary that LangChain let a model write."""
    return (
        isinstance(message, HumanMessage)
        and message.name != _HINT
        and _CHECKED not in message.response_metadata
        and not _is_summary(message)
    )


def _is_summary(message: Any) -> bool:
    return isinstance(message, HumanMessage) and "lc_source" in message.additional_kwargs


def _as_task(session: Session, message: HumanMessage) -> HumanMessage:
    """A message that a node or a tool wrote in the user's name: it stays no user's word, in later runs, too."""
    if not _is_of_user(message) or session.has_heard(message.text):
        return message
    return message.model_copy(update={"response_metadata": {**message.response_metadata, _CHECKED: "task"}})


def _checked(session: Session, message: AIMessage) -> AIMessage:
    """What the model said, as it may be shown: all but its text stays. Raises GLError."""
    text = message.text
    if (others := _other_words(message)) and not message.tool_calls:
        session.check(others)
    if not message.tool_calls:
        verified = kit.check_final(session, text)
        metadata = {**message.response_metadata, _CHECKED: verified.provenance}
        content = (
            message.content if text == verified.message else _with_text(message.content, verified.message)
        )
        return message.model_copy(update={"content": content, "response_metadata": metadata})
    if others and session.verify(others).status != "success":
        message = _without_other_words(message)
    if session.verify(text).status == "success":
        return message
    content = [] if isinstance(message.content, str) else message.content
    other = [block for block in content if isinstance(block, dict) and block.get("type") != "text"]
    return message.model_copy(update={"content": other or ""})


def _refused(message: AIMessage, text: str) -> AIMessage:
    """The message with what the user is told in the place of its text."""
    message = _without_other_words(message)
    metadata = {**message.response_metadata, _CHECKED: []}
    content = _with_text(message.content, text)
    return message.model_copy(update={"content": content, "response_metadata": metadata})


def _other_words(message: AIMessage) -> str:
    """What a model says elsewhere than in its text: that it refuses to answer, say."""
    blocks: Sequence[Any] = message.content
    texts = [block.get(_WORDS[block["type"]]) for block in blocks if _has_words(block)]
    texts.append(message.additional_kwargs.get("refusal"))
    return "\n\n".join(text for text in texts if isinstance(text, str) and text)


def _without_other_words(message: AIMessage) -> AIMessage:
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
    """What the messages of a state say, by their ids: a node may write another text to one of them, or change it."""

    def __init__(self, messages: Sequence[BaseMessage]) -> None:
        self._messages = messages
        self._contents: dict[str | None, Any] = {
            m.id: copy.deepcopy(m.content) for m in messages if m.id is not None
        }

    def has(self, message: BaseMessage) -> bool:
        """Whether a message is one of them, as it was."""
        return message.id in self._contents and self._contents[message.id] == message.content

    def has_id(self, message: BaseMessage) -> bool:
        """Whether a message has the id of one of them."""
        return message.id in self._contents

    def repeats_numbers(self, session: Session, message: BaseMessage) -> bool:
        """Whether a message states the numbers of one of them alone, in their order: a text that was polished."""
        if (content := self._contents.get(message.id)) is None:
            return False
        numbers, words = _numbers_and_words(message.text)
        places: dict[str, deque[int]] = {}
        for place, number in enumerate(_numbers_and_words(" ".join(_texts(content)))[0]):
            places.setdefault(number, deque()).append(place)
        last = -1
        for number in numbers:
            own = places.get(number, deque())
            while own and own[0] <= last:
                own.popleft()
            if own:
                last = own.popleft()
            else:
                words.append(number)
        return session.verify(" ".join(words)).status == "success"

    def take_back(self, session: Session) -> None:
        """Take back what was changed in its place, where nobody may say it."""
        for message in self._messages:
            if isinstance(message, AIMessage) and self.has_id(message) and not self.has(message):
                if not (self.repeats_numbers(session, message) or session.was_shown(message.text)):
                    message.content = self._contents[message.id]


def _numbers_and_words(text: str) -> tuple[list[str], list[str]]:
    """The words of a text that hold numbers, each with the one behind it, which may be its unit; and the others."""
    words = [word.strip(_EDGES) for word in text.split()]
    is_number = [any(map(str.isnumeric, word)) for word in words]
    numbers = [
        f"{word} {behind}"
        for word, behind, is_one in zip(words, [*words[1:], ""], is_number, strict=True)
        if is_one
    ]
    return numbers, [word for word, is_one in zip(words, is_number, strict=True) if not is_one]


class _Answer(NamedTuple):
    """What a model said: its messages, its structured answer, and what puts others into their place."""

    messages: list[Any]
    structure: Any
    put: Callable[[list[Any], Any], Any]


def _answer_of_response(response: Any) -> _Answer:
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


def _schemas(response_format: Any) -> list[Any]:
    """The types of structured answer that a response format admits. Raises TypeError for one of bare numbers."""
    if response_format is None:
        return []
    schema = getattr(response_format, "schema", response_format)  # of a strategy, not of a model's class
    if isinstance(response_format, type | Mapping):
        schema = response_format
    schemas = [*get_args(schema)] if get_origin(schema) in (UnionType, Union) else [schema]
    for item in schemas:
        kit.require_claims(item, getattr(item, "__name__", "the response format"))
    return schemas


def _schemas_of_node(bound: Any) -> list[Any]:
    """Those of a node that ``create_agent`` made, which is the only one that knows of them."""
    function = getattr(bound, "func", None)
    cells = getattr(function, "__closure__", None) or ()
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    for name, cell in zip(names, cells, strict=False):
        if name in ("initial_response_format", "response_format"):
            return _schemas(cell.cell_contents)
    return []


def _structured(
    session: Session, schemas: list[Any], messages: list[Any], structure: Any
) -> tuple[list[Any], Any]:
    """A structured answer and its messages, as they may be shown. Raises GLError."""
    answered = {message.tool_call_id for message in messages if isinstance(message, ToolMessage)}
    calls = [call for m in messages if isinstance(m, AIMessage) for call in m.tool_calls]
    own = [call for call in calls if call["id"] in answered]
    if structure is None:  # what LangChain says is wrong with it
        problem = next(m.text for m in messages if isinstance(m, ToolMessage))
        raise GLValidationError("STEP_SCHEMA", f"The structured answer cannot be taken: {problem}")
    names = {call["name"] for call in own}
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
            if own:
                message = _checked(session, message)
                new["tool_calls"] = [
                    {**call, "args": data} if call in own else call for call in message.tool_calls
                ]
            else:
                new["content"] = _with_text(message.content, json.dumps(data, ensure_ascii=False))
            message = message.model_copy(update=new)
        checked.append(message)
    return checked, structure


def _hints(messages: list[Any], error: GLError) -> list[BaseMessage]:
    """What the model said, and what is wrong with it, in the place of a tool's result where it called one."""
    hint = Session.repair_hint(error)
    answers = [message for message in messages if isinstance(message, AIMessage)]
    results = {message.tool_call_id: message for message in messages if isinstance(message, ToolMessage)}
    if not results:
        return [*answers, HumanMessage(hint, name=_HINT)]
    return [
        *answers,
        *(
            ToolMessage(hint, tool_call_id=call["id"], name=call["name"], status="error")
            if call["id"] in results
            else ToolMessage("Not called.", tool_call_id=call["id"], name=call["name"], status="error")
            for message in answers
            for call in message.tool_calls
        ),
    ]


class _Turn:
    """The model's turn: its answers are judged, and what may be shown of a stream is."""

    def __init__(self, way: _Way, messages: Sequence[Any], schemas: list[Any]) -> None:
        self._way = way
        self.session = way.session(messages)
        self.schemas = schemas
        self.sayings = _Sayings(messages)
        self._sentences: _Sentences | None = None

    def judging(self, answer_of: Callable[[Any], _Answer]) -> Generator[list[Any], Any, Any]:
        """Yields what to tell the model, first nothing; is sent its answer; returns the one that holds."""
        hints: list[Any] = []
        for attempt in range(self._way.max_retries + 1):
            response = yield hints
            if isinstance(response, StructuredOutputError):
                if attempt == self._way.max_retries or response.ai_message.tool_calls:
                    raise response  # LangChain was told to
                problem = GLValidationError(
                    "STEP_SCHEMA", f"The structured answer cannot be taken: {response}"
                )
                hints = [*hints, *_hints([response.ai_message], problem)]
                continue
            answer = answer_of(response)
            is_structured = self._is_structured(answer)
            structure = answer.structure
            try:
                if is_structured:
                    checked, structure = _structured(
                        self.session, self.schemas, answer.messages, answer.structure
                    )
                else:
                    checked = [self._judged(message) for message in answer.messages]
            except GLError as error:
                if attempt < self._way.max_retries:
                    hints = [*hints, *_hints(answer.messages, error)]
                    continue
                if is_structured:
                    raise
                text = kit.refusal(self._way.on_refusal, error)
                checked = [self._refused(message, text) for message in answer.messages]
            if self._sentences is not None:
                self._sentences.close([message for message in checked if isinstance(message, AIMessage)])
            return answer.put(checked, structure)
        return None

    def _is_structured(self, answer: _Answer) -> bool:
        return answer.structure is not None or (
            bool(self.schemas) and any(isinstance(message, ToolMessage) for message in answer.messages)
        )

    def _judged(self, message: Any) -> Any:
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
            return self._refused(message, kit.refusal(self._way.on_refusal, error))

    def _refused(self, message: Any, text: str) -> Any:
        if not isinstance(message, AIMessage) or self.sayings.has(message) or message.tool_calls:
            return message
        return _refused(message, text)

    def _sent(self, writes: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
        """What a node writes while it runs, as it may be shown: nobody can be asked again."""
        return [
            (key, _mapped_messages(value, self._pushed) if key == _ANSWERS else value)
            for key, value in writes
        ]

    def _pushed(self, message: Any) -> Any:
        if isinstance(message, HumanMessage):
            return _as_task(self.session, message)
        try:
            return self._judged(message)
        except GLError as error:
            return self._refused(message, kit.refusal(self._way.on_refusal, error))

    def ended(self, output: Any, leaving: ParentCommand | None) -> Any:
        """The output of a node, or its Command for the graph around it, which is raised as the node did."""
        self.sayings.take_back(self.session)
        if leaving is None:
            return output
        leaving.args = (output,)
        raise leaving

    @contextmanager
    def privately(self, config: RunnableConfig) -> Iterator[RunnableConfig]:
        """While the model answers, nobody hears its tokens but the gate, which passes on what holds."""
        manager = config.get("callbacks")
        handlers = manager.handlers if isinstance(manager, BaseCallbackManager) else manager or []
        streams = [
            h for h in handlers if isinstance(h, _StreamingCallbackHandler | _V2StreamingCallbackHandler)
        ]
        if streams and isinstance(manager, BaseCallbackManager):
            manager = manager.copy()
            for handler in streams:
                manager.remove_handler(cast(BaseCallbackHandler, handler))
            listeners = [handler for handler in handlers if isinstance(handler, StreamMessagesHandler)]
            if listeners and not self.schemas:  # a structured answer is checked as a whole
                self._sentences = _Sentences(self.session, listeners, config.get("metadata") or {})
                manager.add_handler(self._sentences, inherit=True)
            config = {**config, "callbacks": manager}
        own = config.get("configurable", {})
        if (send := own.get(_SEND)) is not None:
            config = {**config, "configurable": {**own, _SEND: lambda writes: send(self._sent(writes))}}
        with kit.binding(var_child_runnable_config, config), kit.using(self.session):
            yield config


class _Sentences(BaseCallbackHandler, _StreamingCallbackHandler):  # type: ignore[type-arg]
    """Hears a model's tokens, and tells ``stream_mode="messages"`` the sentences that hold."""

    run_inline = True

    def __init__(
        self, session: Session, listeners: list[StreamMessagesHandler], metadata: dict[str, Any]
    ) -> None:
        self._session, self._metadata = session, metadata
        namespace = graph_namespace(metadata)
        self._namespace = namespace
        self._listeners = [
            listener
            for listener in listeners
            if listener.subgraphs or not namespace or namespace == listener.parent_ns
        ]
        self._streams: dict[str, kit.FinalStream] = {}

    def tap_output_aiter(self, run_id: Any, output: Any) -> Any:
        """Of an interface that it implements."""
        return output

    def tap_output_iter(self, run_id: Any, output: Any) -> Any:
        """Of an interface that it implements."""
        return output

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, **options: Any) -> None:
        """Pass on what the token completes."""
        message = getattr(chunk, "message", None)
        if not isinstance(message, AIMessageChunk) or message.id is None:
            return
        stream = self._streams.setdefault(message.id, kit.FinalStream(self._session))
        if text := stream.feed(message.text):
            self._emit(AIMessageChunk(content=text, id=message.id))

    def close(self, messages: list[AIMessage]) -> None:
        """Pass on the end of what was begun."""
        for message in messages:
            stream = self._streams.get(message.id or "")
            if stream is None or not stream.released:
                continue  # the graph itself tells the whole message
            text = message.text
            rest = text[len(stream.released) :] if text.startswith(stream.released) else text
            calls = [
                tool_call_chunk(name=call["name"], args=json.dumps(call["args"]), id=call["id"], index=number)
                for number, call in enumerate(message.tool_calls)
            ]
            self._emit(
                AIMessageChunk(
                    content=rest,
                    id=message.id,
                    tool_call_chunks=calls,
                    usage_metadata=message.usage_metadata,
                    response_metadata=message.response_metadata,
                    chunk_position="last",
                )
            )

    def _emit(self, chunk: AIMessageChunk) -> None:
        for listener in self._listeners:
            listener._emit((self._namespace, self._metadata), chunk)


# ------------------------------------------------------------------------------------------------------ graphs


class _GatedGraph:
    """A graph each of whose runs has one session, which its nodes and the graphs among them share."""

    _gllint: _Way

    def stream(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Iterator[Any]:
        """Run the graph by steps."""
        run = _Run(self._gllint, input)
        events = super().stream(input, config, **options)  # type: ignore[misc]
        return kit.stepwise(lambda: kit.binding(_RUN, run), events)

    def astream(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> AsyncIterator[Any]:
        """Run the graph by steps."""
        run = _Run(self._gllint, input)
        events = super().astream(input, config, **options)  # type: ignore[misc]
        return kit.astepwise(lambda: kit.binding(_RUN, run), events)


class _InnerGraph:
    """A graph that is a node of a gated one, and runs within its run."""

    _gllint: _Way

    def invoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """Run the graph."""
        return self._with_tasks(input, super().invoke(input, config, **options))  # type: ignore[misc]

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """Run the graph."""
        return self._with_tasks(input, await super().ainvoke(input, config, **options))  # type: ignore[misc]

    def _with_tasks(self, input: Any, output: Any) -> Any:
        session = self._gllint.session(_messages(input))
        return _mapped(output, lambda m: _as_task(session, m) if isinstance(m, HumanMessage) else m)


def _gated_graph(graph: Any, way: _Way, mixin: type) -> Any:
    """A copy of a graph whose nodes are gated, and whose class has the gate in it."""
    nodes = {}
    for name, node in graph.nodes.items():
        nodes[name] = gated = copy.copy(node)
        gated.bound = _gated(node.bound, way)
        gated.__dict__.pop("node", None)
    own = type(graph)
    # Copies, as with_config() makes them, are of the same class.
    gated_class: Any = type(f"Gated{own.__name__}", (mixin, own), {"__module__": __name__, "_gllint": way})
    twin = object.__new__(gated_class)
    twin.__dict__.update(graph.copy({"nodes": nodes}).__dict__)
    return twin


def _gated(bound: Runnable[Any, Any], way: _Way) -> Runnable[Any, Any]:
    if bound is DEFAULT_BOUND:
        return bound
    if isinstance(bound, Pregel) and _OF_AN_ENTRYPOINT not in bound.channels:
        inner: Runnable[Any, Any] = _gated_graph(bound, way, _InnerGraph)
        return inner
    return _GatedTools(bound, way) if isinstance(bound, ToolNode) else _GatedNode(bound, way)


class _GatedTools(Runnable[Any, Any]):
    """A ToolNode whose calls are recorded."""

    def __init__(self, bound: ToolNode, way: _Way) -> None:
        middleware = GateMiddleware()
        middleware._way = way
        self._node = copy.copy(bound)
        inner, ainner = bound._wrap_tool_call, bound._awrap_tool_call

        def outer(request: Any, execute: Any) -> Any:
            handler = execute if inner is None else lambda request: inner(request, execute)
            return middleware.wrap_tool_call(request, handler)

        async def aouter(request: Any, execute: Any) -> Any:
            async def handler(request: Any) -> Any:
                if ainner is not None:
                    return await ainner(request, execute)
                return await execute(request)

            return await middleware.awrap_tool_call(request, handler)

        self._node._wrap_tool_call, self._node._awrap_tool_call = outer, aouter
        # What the node runs are its methods, which a copy does not bind anew.
        self._node.func, self._node.afunc = self._node._func, self._node._afunc

    def invoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """Call the tools."""
        return self._node.invoke(input, config, **options)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """Call the tools."""
        return await self._node.ainvoke(input, config, **options)


class _GatedNode(Runnable[Any, Any]):
    """A node of whose messages only those get into the state that hold; it runs again where one does not."""

    def __init__(self, bound: Runnable[Any, Any], way: _Way) -> None:
        self._bound, self._way = bound, way
        self._schemas = _schemas_of_node(bound)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """Run the node."""
        state = _messages(input)
        turn = _Turn(self._way, state, self._schemas)
        judging = turn.judging(_answers_of_node(turn, state))
        hints = next(judging)
        while True:
            with turn.privately(ensure_config(config)) as private:
                leaving = None
                try:
                    output: Any = self._bound.invoke(_with_hints(input, hints), private, **options)
                except StructuredOutputError as error:
                    output = error
                except ParentCommand as command:
                    leaving, output = command, command.args[0]
            try:
                hints = judging.send(output)
            except StopIteration as done:
                return turn.ended(done.value, leaving)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """Run the node."""
        state = _messages(input)
        turn = _Turn(self._way, state, self._schemas)
        judging = turn.judging(_answers_of_node(turn, state))
        hints = next(judging)
        while True:
            with turn.privately(ensure_config(config)) as private:
                leaving = None
                try:
                    output: Any = await self._bound.ainvoke(_with_hints(input, hints), private, **options)
                except StructuredOutputError as error:
                    output = error
                except ParentCommand as command:
                    leaving, output = command, command.args[0]
            try:
                hints = judging.send(output)
            except StopIteration as done:
                return turn.ended(done.value, leaving)


def _with_hints(state: Any, hints: list[Any]) -> Any:
    if not hints:
        return state
    if isinstance(state, list):
        return [*state, *hints]
    if isinstance(state, Mapping):
        return {**state, "messages": [*state["messages"], *hints]}
    changed = copy.copy(state)
    object.__setattr__(changed, _ANSWERS, [*getattr(state, _ANSWERS), *hints])
    return changed


def _answers_of_node(turn: _Turn, state: list[BaseMessage]) -> Callable[[Any], _Answer]:
    """The messages that a node's output adds, and what puts others into their place; results of tools are recorded."""
    calls: dict[Any, Any] = {
        call["id"]: call for message in state if isinstance(message, AIMessage) for call in message.tool_calls
    }

    def answer_of(output: Any) -> _Answer:
        found: list[Any] = []
        structures = [*_structures(output)]

        def gathered(message: Any) -> Any:
            if not turn.sayings.has(message):
                if isinstance(message, HumanMessage):
                    return _as_task(turn.session, message)
                if isinstance(message, AIMessage):
                    calls.update({call["id"]: call for call in message.tool_calls})
                    found.append(message)
                elif isinstance(message, ToolMessage) and turn.session.told_of(message.tool_call_id) is None:
                    if turn.schemas:  # it tells of the structured answer
                        found.append(message)
                        return message
                    call = calls.get(message.tool_call_id, {})
                    name = message.name or call.get("name") or "tool"
                    return _recorded(turn.session, message, name, call.get("args"))
            return message

        mapped = _mapped(output, gathered)

        def put(messages: list[Any], structure: Any) -> Any:
            new = {id(old): new for old, new in zip(found, messages, strict=True)}
            changed = _mapped(mapped, lambda message: new.get(id(message), message))
            return changed if structure is None else _with_structure(changed, structure)

        return _Answer(found, structures[0] if structures else None, put)

    return answer_of


def _structures(output: Any) -> Iterator[Any]:
    """The structured answers in a node's output."""
    if isinstance(output, Command):
        yield from _structures(output.update)
    elif isinstance(output, list):
        for item in output:
            yield from _structures(item)
    elif isinstance(output, Mapping) and output.get("structured_response") is not None:
        yield output["structured_response"]


def _with_structure(output: Any, structure: Any) -> Any:
    """A node's output with the checked answer in the place of the model's."""
    if isinstance(output, Command):
        return replace(output, update=_with_structure(output.update, structure))
    if isinstance(output, list):
        return [_with_structure(item, structure) for item in output]
    if isinstance(output, Mapping) and output.get("structured_response") is not None:
        return {**output, "structured_response": structure}
    return output

"""What every adapter is made of: record what a tool gave, check what the model says, find the session of the moment.

An adapter for another framework needs four places in it: behind a tool's result (:func:`recorded`), behind the model's
answer (:func:`check_final`, and :class:`FinalStream` where it streams), where the history of a conversation is at hand
(:func:`restore`), and where a run begins (:class:`Sessions`).
"""

from __future__ import annotations

import copy
import hashlib
import inspect
import json
import weakref
from collections import deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, NamedTuple, TypedDict, TypeVar, cast
from weakref import WeakKeyDictionary, WeakValueDictionary

from gllint_runtime.execution.calculate import calculate as calculate
from gllint_runtime.execution.claimed import binding as binding
from gllint_runtime.execution.claimed import checked_structure as checked_structure
from gllint_runtime.execution.claimed import current_session as current_session
from gllint_runtime.execution.claimed import require_claims as require_claims
from gllint_runtime.execution.claimed import structure_data as structure_data
from gllint_runtime.execution.claimed import using as using
from gllint_runtime.execution.runtime import RULES
from gllint_runtime.execution.session import Session, Verified
from gllint_runtime.execution.steps import FINAL_HINT, final_in, read_object, read_step
from gllint_runtime.execution.streaming import parts_of
from gllint_runtime.policy.claims import find_macros
from gllint_runtime.policy.data import plain
from gllint_runtime.policy.errors import HINTS, GLError, GLSecurityError, GLValidationError
from gllint_runtime.policy.keywords import Mode
from gllint_runtime.policy.log import logger
from gllint_runtime.policy.outputs import json_value

Value = TypeVar("Value")
Steps = Generator[Any, Any, Value]
"""Code that yields what it waits for, and gets the result of that: :func:`run_steps`, :func:`arun_steps`."""

INSTRUCTIONS = (
    RULES
    + """
- Your final answer is one JSON object {"message": "…", "claims": […]}, or plain text without any number."""
)
"""What the model has to know; put it into the system prompt."""

REFUSAL = "I cannot give a verified answer to that."
"""The text that the user sees after the last attempt, without ``on_refusal``."""

SessionOption = Session | Callable[[Any], Session] | None
"""A Session of one conversation; or a function that returns the session, given the framework's context; or ``None``:
the session of the surrounding run, else a new one."""

OnRefusal = str | Callable[[GLError], str] | Callable[[GLError, str], str] | None
"""What the user sees after the last attempt: a text, or a function of the error, or of the error and the draft."""

# ------------------------------------------------------------------------------------ the session of the moment


class UserText(NamedTuple):
    """A text of the user in a conversation; with ``by="prompt"`` a text of the program itself."""

    text: str
    by: Literal["user", "prompt"] = "user"


class ToolUse(NamedTuple):
    """A call of a tool in a conversation; its arguments may be JSON text."""

    id: str | None
    name: str
    arguments: Any


class ToolReply(NamedTuple):
    """The result of a call, as the model received it."""

    id: str | None
    name: str | None
    content: Any


class Answer(NamedTuple):
    """Something that a model said: the conversation has begun."""


Event = UserText | ToolUse | ToolReply | Answer
"""What an adapter reads in its framework's history for :meth:`Gate.conversation`, in order."""


class GateOptions(TypedDict, total=False):
    """The keywords of every ``gate``."""

    session: SessionOption
    mode: Mode | None
    max_retries: int
    on_refusal: OnRefusal


@dataclass(frozen=True)
class Gate:
    """The options of a ``gate``, and how it finds the session of a conversation. It stores nothing of a conversation.

    Raises ValueError for a mode that differs from the given session's, and for a negative ``max_retries``.
    """

    option: SessionOption = None
    mode: Mode | None = None
    max_retries: int = 2
    on_refusal: OnRefusal = None

    def __post_init__(self) -> None:
        if self.mode not in (None, "claims", "sourced"):
            raise ValueError(f"mode is 'claims' or 'sourced', not {self.mode!r}")
        if type(self.max_retries) is not int or self.max_retries < 0:
            raise ValueError(f"max_retries is a whole number from 0, not {self.max_retries!r}")
        if isinstance(self.option, Session):
            self._require_mode(self.option)

    @classmethod
    def of(cls, options: GateOptions) -> Gate:
        """Return the gate with the keywords of a ``gate``. Raises TypeError for others."""
        if unknown := [name for name in options if name not in GateOptions.__annotations__]:
            raise TypeError(
                f"gate has no option {unknown[0]}=: its options are {', '.join(GateOptions.__annotations__)}. For an "
                f'option of Session: session=lambda context: Session(mode="sourced", {unknown[0]}=…)'
            )
        fields: Any = {("option" if name == "session" else name): value for name, value in options.items()}
        return cls(**fields)

    def __deepcopy__(self, memo: Any) -> Gate:
        """Copies of an agent share its gate."""
        return self

    @property
    def inner(self) -> Gate:
        """The gate of agents that run within a run of this one: they find its session."""
        return replace(self, option=None)

    def _require_mode(self, session: Session) -> Session:
        if self.mode not in (None, session.mode):
            raise ValueError(f"mode={self.mode!r} and a session of mode {session.mode!r}: leave mode out")
        return session

    def require_claims(self, form: Any, name: str = "the answer") -> None:
        """Raises TypeError for a structured answer in which a number needs no claim, where claims are asked for."""
        mode = self.option.mode if isinstance(self.option, Session) else self.mode
        if form is not None and mode == "claims":
            require_claims(form, getattr(form, "__name__", name))

    def session(self, context: Any, *, conversation: str | None = None, begins: bool = False) -> Session:
        """Return the session of a run: the given one, else that of the run around it, else a new one."""
        if self.option is None:
            return current_session() or Session(mode=self.mode or "sourced")
        return self._require_mode(session_for(self.option, context, conversation=conversation, begins=begins))

    def conversation(
        self, context: Any, history: Iterable[Event], *, conversation: str | None = None
    ) -> Session:
        """Return the session of a run, with the history of its conversation read into it.

        ``context`` is what a ``session=`` function is given, ``conversation`` the framework's id of the conversation.
        """
        events = [*history]
        begins = not any(isinstance(event, Answer | ToolReply) for event in events)
        session = self.session(context, conversation=conversation, begins=begins)
        read_history(session, events)
        return session


def read_history(session: Session, history: Iterable[Event]) -> None:
    """Add the events of a history to a session; those that it has already are skipped."""
    calls: dict[str | None, ToolUse] = {}
    counts: dict[str | None, int] = {}
    for event in history:
        match event:
            case UserText(text, "user"):
                hear(session, [text])
            case UserText(text, _):
                session.prompt(text)
            case ToolUse():
                calls[event.id] = event
            case ToolReply(call_id, name, content):
                call = calls.get(call_id)
                tool = name or (call.name if call else "tool")
                counts[call_id] = number = counts.get(call_id, 0) + 1
                # A provider may give several calls one id: the second is "call_1#2".
                own_id = call_id if number == 1 or call_id is None else f"{call_id}#{number}"
                restore(session, tool, call.arguments if call else {}, content, tool_call_id=own_id)


def session_for(
    option: SessionOption, context: Any, *, conversation: str | None = None, begins: bool = False
) -> Session:
    """Return the session of a run: the one of ``option``, else that of the run around it, else a new one.

    ``conversation`` is the framework's id of the conversation, ``begins`` whether it has no history yet. Raises
    GLSecurityError SESSION_SHARED if one ``Session`` would serve a second conversation.
    """
    if isinstance(option, Session):
        _refuse_shared(option, conversation, begins)
        return option
    if option is not None:
        session = option() if _parameters(option, 1) == 0 else option(context)  # type: ignore[call-arg]
        if not isinstance(session, Session):
            raise TypeError(f"session= gave {type(session).__name__}; it gives the conversation's Session")
        return session
    return current_session() or Session()


def _parameters(function: Callable[..., Any], most: int) -> int:
    """Return how many of ``most`` positional arguments a function accepts; ``most`` if its signature is unknown."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # a built-in
        return most
    for count in range(most, 0, -1):
        with suppress(TypeError):
            signature.bind(*[None] * count)
            return count
    return 0


def _refuse_shared(session: Session, conversation: str | None, begins: bool) -> None:
    """Raise GLSecurityError SESSION_SHARED if the session belongs to another conversation; else note this one as
    its own.
    """
    owner = session.conversation
    if owner is None:
        session.conversation = conversation or "the first"
    elif owner == conversation:  # whatever is left of its history
        return
    elif (begins and session.has_calls) or (
        conversation is not None and owner not in (conversation, "the first")
    ):
        other = f"conversation '{conversation[:80]}'" if conversation else "a conversation that begins anew"
        raise GLSecurityError("SESSION_SHARED", f"The session of another conversation was given to {other}")
    elif conversation is not None:
        session.conversation = conversation


class WeakIdentityMap(Generic[Value]):
    """A value for each of some objects that cannot be hashed, as long as the object lives."""

    def __init__(self) -> None:
        self._values: dict[int, Value] = {}

    def __len__(self) -> int:
        return len(self._values)

    def get(self, owner: Any) -> Value | None:
        """Return the value of an object; ``None`` if it has none."""
        return self._values.get(id(owner))

    def put(self, owner: Any, value: Value) -> None:
        """Set the value of an object. It is forgotten with the object, whose place in memory another may get."""
        if id(owner) not in self._values:
            weakref.finalize(owner, self._values.pop, id(owner), None).atexit = False
        self._values[id(owner)] = value


class Answers:
    """Structured answers that were checked, for a framework that reads their text once more where no session is known.

    Each is there as long as the session that checked it, and every reader gets a copy of its own.
    """

    class _Answer:
        def __init__(self, value: Any) -> None:
            self.value = value

    def __init__(self) -> None:
        self._answers: WeakValueDictionary[str, Answers._Answer] = WeakValueDictionary()
        self._of_sessions: WeakKeyDictionary[Session, deque[Answers._Answer]] = WeakKeyDictionary()

    def put(self, session: Session, texts: Iterable[str], value: Any) -> None:
        """Keep the answer that ``session`` has checked, by each text that may be read for it."""
        answer = self._Answer(value)
        self._of_sessions.setdefault(session, deque(maxlen=20)).append(answer)
        for text in texts:
            self._answers[text] = answer

    def get(self, text: str | None) -> Any:
        """Return the answer of a text; ``None`` if none was checked."""
        answer = None if text is None else self._answers.get(text)
        return None if answer is None else copy.deepcopy(answer.value)


def session_steps(session: Session, events: AsyncIterable[Any]) -> AsyncIterator[Any]:
    """Yield the events of a run whose steps run under ``session``; the reader's code does not."""
    return astepwise(lambda: using(session), events)


async def astepwise(
    enter: Callable[[], AbstractContextManager[Any]], events: AsyncIterable[Any]
) -> AsyncGenerator[Any]:
    """Yield the events, each made in a newly entered context, in which the reader's code never runs.

    When the reader stops, the source of the events is closed in the same context.
    """
    iterator = aiter(events)
    try:
        while True:
            with enter():
                try:
                    event = await anext(iterator)
                except StopAsyncIteration:
                    return
            yield event
    finally:
        if close := getattr(iterator, "aclose", None):
            with enter():
                await close()


def stepwise(enter: Callable[[], AbstractContextManager[Any]], events: Iterable[Any]) -> Iterator[Any]:
    """Yield events that are not async as :func:`astepwise` does."""
    iterator = iter(events)
    try:
        while True:
            with enter():
                try:
                    event = next(iterator)
                except StopIteration:
                    return
            yield event
    finally:
        if close := getattr(iterator, "close", None):
            with enter():
                close()


def run_steps(steps: Steps[Value], *, if_async: str | None = None) -> Value:
    """Run steps from synchronous code, and return their result: each value that they yield is sent back to them.

    So one function is written for async and other code. Raises TypeError with ``if_async``, if given, for a value
    that has to be awaited.
    """
    value: Any = None
    while True:
        try:
            value = steps.send(value)
        except StopIteration as stop:
            result: Value = stop.value
            return result
        if if_async is not None and inspect.isawaitable(value):
            if inspect.iscoroutine(value):
                value.close()
            steps.close()
            raise TypeError(if_async)


async def arun_steps(steps: Steps[Value]) -> Value:
    """Run steps from async code, and return their result: each value that they yield is awaited if it can be."""
    value: Any = None
    error: BaseException | None = None
    while True:
        try:
            step = steps.send(value) if error is None else steps.throw(error)
        except StopIteration as stop:
            result: Value = stop.value
            return result
        value = error = None
        try:
            value = await step if inspect.isawaitable(step) else step
        except BaseException as raised:
            error = raised


def under(
    enter: Callable[[], AbstractContextManager[Any]],
    function: Callable[..., Any],
    *arguments: Any,
    **options: Any,
) -> Any:
    """Return what ``function`` returns; an awaitable or iterator that it returns runs in the same context."""
    with enter():
        result = function(*arguments, **options)
    if hasattr(result, "__anext__"):
        return astepwise(enter, result)
    if hasattr(result, "__next__"):
        return stepwise(enter, result)
    return _awaited(enter, result) if inspect.isawaitable(result) else result


async def _awaited(enter: Callable[[], AbstractContextManager[Any]], result: Any) -> Any:
    with enter():
        return await result


def twin(target: Value, mixin: type, **attributes: Any) -> Value:
    """Return a copy of an object whose class has the methods of ``mixin`` before its own, with ``attributes`` set."""
    original_class: Any = type(target)
    copied: Any = copy.copy(target)
    kind: Any = type(original_class)
    copied.__class__ = kind(
        f"Gated{original_class.__name__}", (mixin, original_class), {"__module__": mixin.__module__}
    )
    for name, value in attributes.items():
        object.__setattr__(copied, name, value)
    return cast(Value, copied)


def hear(session: Session, texts: Iterable[str]) -> None:
    """Add what the user said to a session, unless it has that already.

    Within another run (:func:`current_session`) a model wrote the task, whatever its role: that of a sub-agent, of
    an agent among the tools, of a member of a team. There a session gets only what the user said in the run around
    it. Call this before the run makes its own session the current one.
    """
    outer = current_session()
    if outer is not None:
        texts = () if outer is session else outer.user_texts
    for text in texts:
        if not session.has_heard(text):
            session.user(text)


# --------------------------------------------------------------------------------------------------- recording


def recorded(
    session: Session,
    tool: str,
    arguments: Mapping[str, Any],
    output: Any,
    *,
    tool_call_id: str | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Record a tool's output, and return what the model receives.

    Example: ``{"tool_call_id": "tc_1", "output": …}``. Raises GLError.

    The text of a sub-agent whose answer this session has checked keeps its numbers: the model receives them as
    Quantities next to it.
    """
    output = text_of_blocks(output)
    if isinstance(output, str) and json_value(output) is None:
        output = read_output(session, output)
    try:
        call_id = session.record(tool, arguments, output, tool_call_id=tool_call_id, **options)
    except GLError as error:  # for the model, which can change neither tool nor policy
        why = session.verdicts.redacted(f"{error.message.rstrip('.')}. {error.hint}")
        logger.warning("The result of tool %s was rejected: [%s] %s", tool, error.code, why)
        raise
    reply = {"tool_call_id": call_id, "output": session.output(call_id)}
    if units := session.declared_units(call_id):
        reply["units"] = units
    if paths := session.odd_paths(call_id):
        reply["paths"] = paths
    return reply


class ToolCall:
    """A call of a tool: its arguments as the tool takes them, and what the model receives as its result.

    ``refusal`` is what the model receives in place of a result if the tool must not run.
    """

    def __init__(
        self,
        session: Session,
        name: str,
        arguments: Mapping[str, Any] | None,
        *,
        schema: Mapping[str, Any] | None = None,
        id: str | None = None,
    ) -> None:
        """Convert the arguments to the units of the parameters in ``schema``; :attr:`refusal` says why that is
        impossible.
        """
        self.session, self.name, self.id = session, name, id
        self.refusal: str | None = None
        model_arguments = {} if arguments is None else dict(arguments)
        self.arguments: dict[str, Any] = model_arguments
        try:
            self.arguments = session.tool_arguments(name, model_arguments, args_schema=schema)
        except GLError as error:
            self.refusal = Session.repair_hint(error)
        self.is_changed = self.arguments != model_arguments

    def steps(
        self,
        run: Callable[[], Any],
        refused: Callable[[str], Value],
        replied: Callable[[ToolCall, Any], Value],
    ) -> Steps[Value]:
        """Check the call, ``run`` its tool under the session, and return what the model receives: steps for
        :func:`run_steps`.

        ``replied`` makes that of this call and the output, ``refused`` makes it of a hint if call or result is
        rejected.
        """
        if self.refusal is not None:
            return refused(self.refusal)
        with self.running():
            output = yield run()
        try:
            return replied(self, output)
        except GLError as error:
            return refused(Session.repair_hint(error))

    def running(self) -> AbstractContextManager[Any]:
        """While the tool runs: agents that it runs find the session."""
        return using(self.session)

    def reply(self, output: Any, **options: Any) -> Any:
        """Return what the model receives, as data; ``None`` for the output as it is. Raises GLError."""
        return reply_to_model(
            self.session, self.name, self.arguments, output, tool_call_id=self.id, **options
        )

    def text(self, output: Any) -> str | None:
        """The same as text."""
        data = self.reply(output)
        return None if data is None else json.dumps(data, ensure_ascii=False)


def reply_to_model(
    session: Session,
    tool: str,
    arguments: Mapping[str, Any],
    output: Any,
    *,
    tool_call_id: str | None = None,
    **options: Any,
) -> dict[str, Any] | None:
    """Record a tool's output, and return what the model receives; ``None`` for the output as it is. Raises GLError.

    That is so in sourced mode, in which a model cites nothing.
    """
    if session.mode == "sourced" and tool_call_id is None:
        with suppress(ValueError, TypeError):
            data = read_output(session, output) if isinstance(output, str) else _plain_output(output)
            tool_call_id = _id_by_content(tool, arguments, data)
    reply = recorded(session, tool, arguments, output, tool_call_id=tool_call_id, **options)
    return None if session.mode == "sourced" else reply


def _id_by_content(tool: str, arguments: Any, data: Any) -> str:
    """Return an id for a call of which the framework has none: the same result of the same call is the same."""
    key = json.dumps([tool, arguments, data], default=str, sort_keys=True)
    return f"gllint-{hashlib.sha256(key.encode()).hexdigest()[:16]}"


def tool_result(
    session: Session,
    tool: str,
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    *,
    tool_call_id: str | None = None,
    args_schema: Mapping[str, Any] | None = None,
) -> str:
    """Call a tool with its arguments in the units of its parameters, record the result, and return the text for
    the model.

    Agents that the tool runs use this session. For a rejected call or result the text is the hint, for an
    exception of the tool its type and message. Raises TypeError for an async tool: use :func:`atool_result`.
    """
    call = ToolCall(session, tool, arguments, schema=args_schema, id=tool_call_id)
    is_async = f"The tool {tool} is async: await atool_result(session, …) in place of tool_result"
    return run_steps(_result_steps(call, function), if_async=is_async)


async def atool_result(
    session: Session,
    tool: str,
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    *,
    tool_call_id: str | None = None,
    args_schema: Mapping[str, Any] | None = None,
) -> str:
    """Return the same as :func:`tool_result`, for a tool that may be async."""
    call = ToolCall(session, tool, arguments, schema=args_schema, id=tool_call_id)
    return await arun_steps(_result_steps(call, function))


def _result_steps(call: ToolCall, function: Callable[..., Any]) -> Steps[str]:
    try:
        return (yield from call.steps(lambda: function(**call.arguments), str, _reply_text))
    except Exception as error:
        return _failure(call.name, error)


def _failure(tool: str, error: Exception) -> str:
    if isinstance(error, GLError):
        return Session.repair_hint(error)
    logger.warning("The tool %s failed", tool, exc_info=error)
    return f"The tool {tool} failed: {type(error).__name__}: {error}"


def _reply_text(call: ToolCall, output: Any) -> str:
    """Return what the model receives of an output. Raises GLError."""
    data = call.reply(output)
    if data is None:
        data = output
    return data if isinstance(data, str) else json.dumps(_plain_output(data), ensure_ascii=False)


def _plain_output(output: Any) -> Any:
    """Return an output as the session keeps it in sourced mode: a Decimal as a number, a set as a list."""
    return plain(output, rejects_nothing=True)


def read_output(session: Session, text: str) -> Any:
    """Return a tool's text as data: its JSON, or ``{"text": …}`` with the numbers of a message that the session
    has checked.
    """
    if (data := json_value(text)) is not None:
        return data
    with suppress(ValueError, RecursionError):
        scalar = json.loads(text)
        if scalar is None or isinstance(scalar, str | bool):
            return scalar
    numbers: dict[str, Any] = {}
    for claim in session.claims_of(text) or session.claims_of(text.strip()):
        name = claim["path"].rpartition(".")[2] or "number"
        while name in numbers:
            name += "_"
        numbers[name] = claim["quantity"]
    return {"text": text, "numbers": numbers} if numbers else {"text": text}


def with_text(
    parts: Iterable[Value],
    text: str,
    is_text: Callable[[Value], bool],
    put: Callable[[Any, str], Value],
) -> list[Value]:
    """Return the parts of a message with ``text`` in place of its first text, and without its further texts.

    ``put(part, text)`` makes the new part; ``put(None, text)`` one for a message without any text.
    """
    changed: list[Value] = []
    for part in parts:
        if not is_text(part):
            changed.append(part)
        elif text:
            changed.append(put(part, text))
            text = ""
    return [*changed, put(None, text)] if text else changed


def read_blocks(session: Session, values: Iterable[Any]) -> Any:
    """Return the blocks of a result as one output, their texts read as data; ``None`` if there are none."""
    blocks = [read_output(session, value) if isinstance(value, str) else value for value in values]
    return block_data(blocks) if blocks else None


def block_data(values: Sequence[Any]) -> Any:
    """Return the blocks of a result as one output: that of a single block, or several by their positions."""
    return values[0] if len(values) == 1 else {f"block_{i}": value for i, value in enumerate(values, 1)}


def with_units(output: Any, units: Mapping[Any, Any], path: str = "$") -> Any:
    """Return the output with a Quantity for each number that ``units`` has a unit for, by its path."""
    if isinstance(output, Mapping):
        return {key: with_units(value, units, f"{path}.{key}") for key, value in output.items()}
    if isinstance(output, list):
        return [with_units(value, units, f"{path}[{i}]") for i, value in enumerate(output)]
    return {"value": output, "unit": units[path]} if path in units else output


def text_of_blocks(output: Any) -> Any:
    """Return the text of a list of text blocks, ``[{"type": "text", "text": "Hi"}]`` → ``"Hi"``.

    Any other output unchanged.
    """
    if not isinstance(output, list) or not output:
        return output
    texts = [
        block["text"]
        for block in output
        if isinstance(block, Mapping) and block.get("type") == "text" and isinstance(block.get("text"), str)
    ]
    return "\n".join(texts) if len(texts) == len(output) else output


def _is_hint(text: str) -> bool:
    return text.startswith("[") and text[1:].partition("]")[0] in HINTS


def restore(
    session: Session, tool: str, arguments: Any, reply: Any, *, tool_call_id: str | None = None
) -> bool:
    """Record a call of a stored history again, with its result as the model received it; return whether the
    session has it.

    In claims mode the result is that of :func:`recorded`, and any other is skipped; in sourced mode it may be any.
    """
    if isinstance(arguments, str):
        with suppress(ValueError, RecursionError):
            arguments = json.loads(arguments)
    envelope = reply
    texts = [text for text in (reply if isinstance(reply, list) else [reply]) if isinstance(text, str)]
    if texts:
        envelopes = [text for text in texts if text.startswith('{"tool_call_id"')]
        envelope = json_value(envelopes[0]) if envelopes else None
    if isinstance(envelope, Mapping) and {"tool_call_id", "output"} <= envelope.keys():
        output, call_id = envelope["output"], envelope["tool_call_id"]
        if isinstance(units := envelope.get("units"), Mapping):
            output = with_units(output, units)
    elif session.mode == "sourced":
        if tool_call_id is not None and session.told_of(tool_call_id) is not None:
            return True
        if any(_is_hint(text) for text in texts):  # of a call that was rejected: its numbers are the model's
            return False
        output, call_id = text_of_blocks(reply), None
        if texts:
            output = block_data([read_output(session, text) for text in texts])
        data = _plain_output(output)
        tool_call_id = tool_call_id or _id_by_content(tool, arguments, data)
        if session.told_of(tool_call_id) is not None:
            return True
        # A provider may give several calls one id.
        own_id, _, number = tool_call_id.rpartition("#")
        if (
            number.isdigit()
            and (earlier := session.told_of(own_id)) is not None
            and earlier["output"] == data
        ):
            return True
    else:
        return False
    try:
        session.restore(call_id, tool, arguments, output, tool_call_id=tool_call_id)
    except GLError as error:
        logger.warning("A stored call of %s cannot be claimed any more: %s", tool, error.code)
        return False
    return True


# ---------------------------------------------------------------------------------------------------- checking


def check_final(session: Session, final: Any) -> Verified:
    """Return a checked final answer: of a text, ``{"message", "claims"}``, a model of that, or its JSON text.

    Raises GLError.

    The JSON may be in a code fence or amid prose; the prose is dropped.
    """
    if isinstance(final, str):
        final_data = _final_in(session, final)
        if final_data is None:
            return session.check(final)
        final = final_data
    elif not isinstance(final, Mapping):
        with suppress(ValueError):
            final = plain(final)
    try:
        step = read_step({"kind": "final", **final} if isinstance(final, Mapping) else final)
        return session.check(step.message, step.claims)
    except GLError as error:
        if error.code == "STEP_SCHEMA":  # a framework calls its tools by itself
            error.hint = FINAL_HINT
        raise


def _final_in(session: Session, text: str) -> dict[str, Any] | None:
    """Return the final message that is JSON in a text; in sourced mode, JSON without claims is plain text
    (``None``).
    """
    if session.mode == "claims":
        return final_in(text)
    try:
        data = final_in(text)
    except GLError:
        return None
    return data if data is not None and "claims" in data.get("final", data) else None


def structure(session: Session, form: Any, data: Any) -> Any:
    """Return a checked structured answer of the type or JSON Schema ``form``, read from the model's data or text.

    The JSON of a text may be in a code fence or amid prose; the prose is dropped. Raises GLError.
    """
    name = getattr(form, "__name__", "the answer")
    hint = f"Answer by the schema of {name}."
    if isinstance(data, str):
        try:
            data = json.loads(data)
        except (ValueError, RecursionError):
            data = read_object(data, hint)
    if isinstance(form, Mapping):
        return checked_structure(session, data, form)
    from pydantic import TypeAdapter, ValidationError

    with using(session):
        try:
            answer = TypeAdapter(form).validate_python(data)
        except ValidationError as error:
            wrong = "; ".join(
                f"{'.'.join(map(str, part['loc'])) or name}: {part['msg']}"
                for part in error.errors(include_url=False, include_context=False, include_input=False)[:20]
            )
            raise GLValidationError("STEP_SCHEMA", wrong, hint) from None
    return checked_structure(session, answer, form)


def refusal(on_refusal: OnRefusal, error: GLError, draft: str = "") -> str:
    """Return what the user sees after the last attempt. Raises what ``on_refusal`` raises."""
    if on_refusal is None or isinstance(on_refusal, str):
        return on_refusal or REFUSAL
    function: Callable[..., str] = on_refusal
    return function(*(error, draft)[: _parameters(function, 2)]) or REFUSAL


class Turn:
    """A model's turn in a run: its answers, asked for until one may be shown; what is streamed of them, nothing twice.

    An adapter gives each piece of text to :meth:`feed` and shows what that returns, gives the whole answer to
    :meth:`text` or :meth:`structure`, and asks again with :attr:`hint` where that returns ``None``; else it shows
    :meth:`rest` of the text.
    """

    def __init__(self, gate: Gate, session: Session) -> None:
        self.gate, self.session = gate, session
        self.attempts = 0
        self.hint = ""
        self.shown = ""  # over all attempts
        self._begin()

    def _begin(self) -> None:
        self._stream = FinalStream(self.session)
        self._is_apart = False

    def feed(self, chunk: str) -> str:
        """Return the text that may be shown now, and was not shown before; often ``""``."""
        if self._is_apart or not self._stream.feed(chunk):
            return ""
        released = self._stream.released
        if released.startswith(self.shown):
            new = released[len(self.shown) :]
            self.shown = released
            return new
        # A second attempt: silent while it repeats what was shown; if it differs, nothing more is streamed.
        self._is_apart = not self.shown.startswith(released)
        return ""

    def rest(self, text: str) -> str:
        """Return the rest of the accepted answer, after what was shown."""
        rest = rest_of(text, self.shown)
        self.shown += rest
        return rest

    def text(self, draft: str, *, calls_tools: bool = False) -> str | None:
        """Return the model's text as it may be shown; ``None`` if it has to be asked again.

        Text next to a call of a tool is no answer: it is ``""`` if it is rejected.
        """
        if calls_tools or not draft.strip():
            return draft if not draft or self.session.verify(draft).status == "success" else ""
        return self.attempt(
            lambda: check_final(self.session, draft).message, lambda error: self.refusal(error, draft)
        )

    def structure(self, form: Any, data: Any) -> Any:
        """Return a structured answer of a type or JSON Schema, from data or text; ``None``: ask again.

        Raises GLError.
        """
        return self.attempt(lambda: structure(self.session, form, data))

    def attempt(
        self, check: Callable[[], Value], otherwise: Callable[[GLError], Value] | None = None
    ) -> Value | None:
        """Return what ``check`` returns; ``None`` if it raises a GLError and the model has to be asked again.

        After the last repair, the result is what ``otherwise`` makes of the error. Raises the GLError without
        ``otherwise``.
        """
        try:
            return check()
        except GLError as error:
            if self.attempts < self.gate.max_retries:
                self.attempts += 1
                self.hint = Session.repair_hint(error)
                self._begin()
                return None
            if otherwise is None:
                raise
            return otherwise(error)

    def refusal(self, error: GLError, draft: str = "") -> str:
        """Return what the user sees instead of a rejected answer, with the macros in it replaced if their claims
        pass.
        """
        claims: Any = ()
        with suppress(GLError):
            if data := _final_in(self.session, draft):
                final = data.get("final", data)
                draft, claims = final.get("message", ""), final.get("claims", ())
        text = refusal(self.gate.on_refusal, error, draft)
        if not find_macros(text):
            return text
        cited = [claims[m.index] for m in find_macros(text) if m.index is not None and m.index < len(claims)]
        verified = self.session.verify(text, claims) if len(cited) == len(claims) else None
        return verified.message if verified is not None and verified.status == "success" else REFUSAL


class FinalStream:
    """A final answer that is shown while the model writes it, as text or as ``{"message", "claims"}``.

    Of an answer as JSON the message is shown by sentences as it comes; one that cites a claim waits for that.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._stream = session.stream()
        self._raw = ""
        self._mode: str | None = None
        self._message = 0  # characters of the message that were fed
        self._parsed = 0  # characters of the answer that were read

    def feed(self, chunk: str) -> str:
        """Return the text that may be shown now; often ``""``."""
        self._raw += chunk
        if self._mode is None:
            begin = self._raw.lstrip()[:1]
            if not begin:
                return ""
            # Braces or a fence may begin the actual answer; the text before it is then dropped.
            self._mode = "json" if begin in "{`" else "text"
            chunk = self._raw  # with the blanks before it
        if self._mode == "text":
            # What came before was looked at: a brace that is no macro's would have been met, half a fence not.
            begin_of_fence = max(0, len(self._raw) - len(chunk) - 2)
            if "{" in chunk.replace("{{claim:", "") or "```" in self._raw[begin_of_fence:]:
                self._mode = "held"
                return ""
            return self._stream.feed(chunk)
        if self._mode == "held" or len(self._raw) > 200_000:
            return ""
        return self._feed_json()

    def _feed_json(self) -> str:
        """Return the new text of an answer that is JSON."""
        # Parsing it anew at each token would take quadratic time: only after it has grown by a part.
        if len(self._raw) - self._parsed <= len(self._raw) // 64:
            return ""
        self._parsed = len(self._raw)
        message, claims = partial_final(self._raw)
        new = message[self._message :]
        self._message += len(new)
        return self._stream.feed(new, claims) if new or claims else ""

    def close(self) -> tuple[Verified, str]:
        """Return the whole answer, and what of it was not shown yet. Raises GLError, with ``released``."""
        try:
            verified = check_final(self._session, self._raw)
        except GLError as error:
            error.released = self._stream.released
            raise
        shown = self._stream.released
        return verified, verified.message[len(shown) :] if verified.message.startswith(
            shown
        ) else verified.message

    @property
    def released(self) -> str:
        """The text that was shown so far."""
        return self._stream.released


def rest_of(text: str, shown: str) -> str:
    """Return the part of an answer that is not ``shown`` yet; if the answer changed, its new parts."""
    if text.startswith(shown):
        return text[len(shown) :]
    parts = {part.strip() for part in _lines_and_sentences(shown)}
    rest = "".join(part for part in _lines_and_sentences(text) if part.strip() not in parts)
    return f"\n\n{rest}" if rest.strip() else ""


def _lines_and_sentences(text: str) -> Iterator[str]:
    """Yield the parts of a text; a sentence on the line behind a list item or a table row is one of its own."""
    for part in parts_of(text):
        line, newline, following = part.partition("\n")
        is_block = line.lstrip()[:1] in "-*+•|#>" and following.strip() and not following[0].isspace()
        yield from (line + newline, following) if is_block else (part,)


def partial_final(text: str) -> tuple[str, Sequence[Any]]:
    """Return the message so far and the claims, if complete, of a final answer whose JSON is incomplete.

    ``'{"final": {"message": "It is'`` → ``("It is", ())``.
    """
    start = text.find("{")
    if start < 0:
        return "", ()
    position, depth, message = start + 1, 1, ""  # brackets that are open; 0 behind the object
    claims: Sequence[Any] = ()
    decoder = json.JSONDecoder(strict=False)
    while depth and position < len(text):
        char = text[position]
        if char == '"' and depth == 1:
            try:
                key, end = decoder.raw_decode(text, position)
            except ValueError:
                return message, claims
            start = end
            while start < len(text) and text[start] in " \t\r\n:":
                start += 1
            if start >= len(text):
                return message, claims
            if key == "final" and text[start] == "{":  # the answer is in this object: read on in it
                position, message, claims = start + 1, "", ()
                continue
            if key == "message" and text[start] == '"':
                message = _partial_text(text, start + 1)
            try:
                whole, position = decoder.raw_decode(text, start)
            except (ValueError, RecursionError):
                return message, claims
            if key == "message" and isinstance(whole, str):
                message = whole
            elif key == "claims" and isinstance(whole, list):
                claims = whole
            continue
        depth += (char in "{[") - (char in "}]")
        position += 1
    return message, claims


def _partial_text(text: str, start: int) -> str:
    """Return the text so far of a JSON string that begins at ``start``, without an escape that is incomplete."""
    end = start
    while end < len(text) and text[end] != '"':
        if text[end] == "\\":
            width = 6 if text[end + 1 : end + 2] == "u" else 2
            if end + width > len(text):
                break
            end += width
        else:
            end += 1
    with suppress(ValueError):
        decoded: str = json.loads(f'"{text[start:end]}"', strict=False)
        # Half of a surrogate pair waits for the other.
        return decoded[:-1] if decoded[-1:] and "\ud800" <= decoded[-1] <= "\udbff" else decoded
    return ""

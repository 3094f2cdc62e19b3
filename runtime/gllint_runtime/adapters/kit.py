"""What every adapter is made of: record what a tool gave, check what the model says, find the session of the moment.

An adapter for another framework needs four places in it: behind a tool's result (:func:`recorded`), behind the model's
answer (:func:`check_final`, and :class:`FinalStream` where it streams), where the history of a conversation is at hand
(:func:`restore`), and where a run begins (:class:`Sessions`).
"""

from __future__ import annotations

import copy
import inspect
import json
import weakref
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Any, Generic, TypeVar
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
from gllint_runtime.policy.data import plain
from gllint_runtime.policy.errors import GLError, GLSecurityError, GLValidationError
from gllint_runtime.policy.log import logger
from gllint_runtime.policy.outputs import json_value

Value = TypeVar("Value")

INSTRUCTIONS = (
    RULES
    + """
- Your final answer is one JSON object {"message": "…", "claims": […]}, or plain text without any number."""
)
"""What the model has to know; put it into the system prompt."""

REFUSAL = "I cannot give a verified answer to that."
"""What the user is told where the model's repairs ran out, unless ``on_refusal`` says otherwise."""

SessionOption = Session | Callable[[Any], Session] | None
"""One conversation's session, or what finds it in a framework's own context, or one for each conversation."""

OnRefusal = str | Callable[[GLError], str] | None
"""What the user is told where repairs ran out: a text, or a function of the last error, which may raise."""

# ------------------------------------------------------------------------------------ the session of the moment


def session_for(
    option: SessionOption, context: Any, *, conversation: str | None = None, begins: bool = False
) -> Session:
    """The session of a run: what ``option`` says, else that of the run around it, else a new one.

    ``conversation`` is the framework's id of it; ``begins`` says that there is no history yet. One ``Session`` that
    serves a second conversation is refused: GLSecurityError SESSION_SHARED.
    """
    if isinstance(option, Session):
        _refuse_shared(option, conversation, begins)
        return option
    if option is not None:
        session = _called(option, context)
        if not isinstance(session, Session):
            raise TypeError(f"session= gave {type(session).__name__}; it gives the conversation's Session")
        return session
    return current_session() or Session()


def _called(option: Callable[..., Any], context: Any) -> Any:
    try:
        inspect.signature(option).bind(context)
    except TypeError:  # it asks for no context
        return option()
    except ValueError:  # a built-in does not say
        pass
    return option(context)


def _refuse_shared(session: Session, conversation: str | None, begins: bool) -> None:
    own = session.conversation
    if own is None:
        session.conversation = conversation or "the first"
    elif own == conversation:  # whatever is left of its history
        return
    elif (begins and session.has_calls) or (
        conversation is not None and own not in (conversation, "the first")
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
        """The value of an object; ``None`` where it has none."""
        return self._values.get(id(owner))

    def put(self, owner: Any, value: Value) -> None:
        """Give an object its value. It goes with the object: another one may come to stand at its place in memory."""
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
        """The answer of a text; ``None`` where none was checked."""
        answer = None if text is None else self._answers.get(text)
        return None if answer is None else copy.deepcopy(answer.value)


def session_steps(session: Session, events: AsyncIterable[Any]) -> AsyncIterator[Any]:
    """The events of a run that goes on under ``session``, which whoever reads them does not see."""
    return astepwise(lambda: using(session), events)


async def astepwise(
    enter: Callable[[], AbstractContextManager[Any]], events: AsyncIterable[Any]
) -> AsyncIterator[Any]:
    """The events, each made while a context is entered anew, so that it never reaches whoever reads them.

    Whoever stops to read ends what makes the events, too, and under the same context.
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
    """The same for events that are not async."""
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


def hear(session: Session, texts: Iterable[str]) -> None:
    """Tell a session what the user said in the conversation; what it heard before it need not hear again.

    Inside another run (:func:`current_session`) the task is a model's, in whatever role it is told: that of a
    sub-agent, of an agent that is a tool, of a member of a team. There a session hears only what the user said in the
    run around it. So call this before the run makes its own session the current one.
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
    """Record a tool's output, the JSON text of one included; return what the model is told. Raises GLError.

    A text that is a message which this session has verified (a sub-agent's answer) keeps its numbers: they are told as
    Quantities beside it, each to be claimed.
    """
    output = text_of_blocks(output)
    if isinstance(output, str) and json_value(output) is None:
        output = read_output(session, output)
    try:
        call_id = session.record(tool, arguments, output, tool_call_id=tool_call_id, **options)
    except GLError as error:  # the model is told, who can mend neither tool nor policy
        why = session.verdicts.redacted(f"{error.message.rstrip('.')}. {error.hint}")
        logger.warning("The result of tool %s was refused: [%s] %s", tool, error.code, why)
        raise
    reply = {"tool_call_id": call_id, "output": session.output(call_id)}
    if units := session.declared_units(call_id):
        reply["units"] = units
    if paths := session.odd_paths(call_id):
        reply["paths"] = paths
    return reply


def tool_result(
    session: Session,
    tool: str,
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    *,
    tool_call_id: str | None = None,
    args_schema: Mapping[str, Any] | None = None,
) -> str:
    """Call a tool, with its arguments in the units of its parameters, and record it: the text that the model is told.

    Agents that the tool runs find the session. What does not hold comes back as what the model has to mend, what the
    tool raises as its name and text (and to the log). Raises TypeError for an async tool: :func:`atool_result`.
    """
    try:
        values = session.tool_arguments(tool, arguments, args_schema=args_schema)
        with using(session):
            output = function(**values)
    except Exception as error:
        return _failure(tool, error)
    if inspect.isawaitable(output):
        if inspect.iscoroutine(output):
            output.close()
        raise TypeError(f"The tool {tool} is async: await atool_result(session, …) in place of tool_result")
    return _reply(session, tool, values, output, tool_call_id)


async def atool_result(
    session: Session,
    tool: str,
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    *,
    tool_call_id: str | None = None,
    args_schema: Mapping[str, Any] | None = None,
) -> str:
    """The same as :func:`tool_result`, for a tool that is async, or is not."""
    try:
        values = session.tool_arguments(tool, arguments, args_schema=args_schema)
        with using(session):
            output = function(**values)
            if inspect.isawaitable(output):
                output = await output
    except Exception as error:
        return _failure(tool, error)
    return _reply(session, tool, values, output, tool_call_id)


def _failure(tool: str, error: Exception) -> str:
    if isinstance(error, GLError):
        return Session.repair_hint(error)
    logger.warning("The tool %s failed", tool, exc_info=error)
    return f"The tool {tool} failed: {type(error).__name__}: {error}"


def _reply(session: Session, tool: str, values: Any, output: Any, tool_call_id: str | None) -> str:
    try:
        reply = recorded(session, tool, values, output, tool_call_id=tool_call_id)
    except GLError as error:
        return Session.repair_hint(error)
    return json.dumps(reply, ensure_ascii=False)


def read_output(session: Session, text: str) -> Any:
    """What a tool's text holds: JSON, or the text with the numbers of a message that the session has verified."""
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


def block_data(values: Sequence[Any]) -> Any:
    """What the blocks of a result hold as one output: that of a block alone, several by their places."""
    return values[0] if len(values) == 1 else {f"block_{i}": value for i, value in enumerate(values, 1)}


def with_units(output: Any, units: Mapping[Any, Any], path: str = "$") -> Any:
    """The output with a Quantity for each number whose unit stands beside it, by its path."""
    if isinstance(output, Mapping):
        return {key: with_units(value, units, f"{path}.{key}") for key, value in output.items()}
    if isinstance(output, list):
        return [with_units(value, units, f"{path}[{i}]") for i, value in enumerate(output)]
    return {"value": output, "unit": units[path]} if path in units else output


def text_of_blocks(output: Any) -> Any:
    """The text of content blocks that hold nothing else; any other output as it is."""
    if not isinstance(output, list) or not output:
        return output
    texts = [
        block["text"]
        for block in output
        if isinstance(block, Mapping) and block.get("type") == "text" and isinstance(block.get("text"), str)
    ]
    return "\n".join(texts) if len(texts) == len(output) else output


def restore(
    session: Session, tool: str, arguments: Any, reply: Any, *, tool_call_id: str | None = None
) -> bool:
    """Give a session back what :func:`recorded` told, from a stored history; whether it has the call now.

    Anything else is passed over.
    """
    if isinstance(reply, str):
        if not reply.startswith('{"tool_call_id"'):
            return False
        try:
            reply = json.loads(reply)
        except (ValueError, RecursionError):
            return False
    if not isinstance(reply, Mapping) or not {"tool_call_id", "output"} <= reply.keys():
        return False
    output = reply["output"]
    if isinstance(units := reply.get("units"), Mapping):
        output = with_units(output, units)
    if isinstance(arguments, str):
        with suppress(ValueError, RecursionError):
            arguments = json.loads(arguments)
    try:
        session.restore(reply["tool_call_id"], tool, arguments, output, tool_call_id=tool_call_id)
    except GLError as error:
        logger.warning("A stored call of %s cannot be claimed any more: %s", tool, error.code)
        return False
    return True


# ---------------------------------------------------------------------------------------------------- checking


def check_final(session: Session, final: Any) -> Verified:
    """Check a final answer: text, ``{"message", "claims"}``, a model of that, or its JSON text. Raises GLError.

    The JSON may stand in a code fence or amid prose; the prose is dropped.
    """
    if isinstance(final, str):
        found = final_in(final)
        if found is None:
            return session.check(final)
        final = found
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


def structure(session: Session, form: Any, data: Any) -> Any:
    """A structured answer of the type or JSON Schema ``form``, read from the model's data or text. Raises GLError.

    The JSON of a text may stand in a code fence or amid prose; the prose is dropped.
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


def refusal(on_refusal: OnRefusal, error: GLError) -> str:
    """What the user is told where repairs ran out. Raises what ``on_refusal`` raises."""
    if on_refusal is None:
        return REFUSAL
    return on_refusal if isinstance(on_refusal, str) else on_refusal(error)


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
        """What is safe to show now."""
        self._raw += chunk
        if self._mode is None:
            begin = self._raw.lstrip()[:1]
            if not begin:
                return ""
            # Braces or a fence anywhere may begin the answer proper, which drops what stands before it.
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
        if (
            len(self._raw) - self._parsed <= len(self._raw) // 64
        ):  # reading it anew at each token would be quadratic
            return ""
        self._parsed = len(self._raw)
        message, claims = partial_final(self._raw)
        new = message[self._message :]
        self._message += len(new)
        return self._stream.feed(new, claims) if new or claims else ""

    def close(self) -> tuple[Verified, str]:
        """The whole answer, and what of it was not shown yet. Raises GLError, with ``released``."""
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
        """What was shown so far."""
        return self._stream.released


def rest_of(text: str, prefix: str) -> str:
    """What is to be shown of an answer behind what was; behind sentences of another that broke off, all of it."""
    if text.startswith(prefix):
        return text[len(prefix) :]
    return f"\n\n{text}" if text else ""


def partial_final(text: str) -> tuple[str, Sequence[Any]]:
    """Of a final answer that is still being written as JSON: its message so far, and its claims once they are whole."""
    start = text.find("{")
    if start < 0:
        return "", ()
    position, depth, message = start + 1, 1, ""
    claims: Sequence[Any] = ()
    decoder = json.JSONDecoder(strict=False)
    while depth and position < len(text):
        char = text[position]
        if char == '"' and depth == 1:
            try:
                key, behind = decoder.raw_decode(text, position)
            except ValueError:
                return message, claims
            value = behind
            while value < len(text) and text[value] in " \t\r\n:":
                value += 1
            if value >= len(text):
                return message, claims
            if key == "final" and text[value] == "{":
                return partial_final(text[value:])
            if key == "message" and text[value] == '"':
                message = _partial_text(text, value + 1)
            try:
                whole, position = decoder.raw_decode(text, value)
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
    """The text of a JSON string that begins at ``start`` and may not have ended."""
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

"""Agno: a gate around an agent or a team. Needs ``gllint[agno]``.

agent = gate(Agent(model=OpenAIChat(id="…"), tools=[meter], instructions="…"))
answer = agent.run("How much heat?").content

The messages of a session are its session here, too: what tools returned is in them. So ``db=`` with
``add_history_to_context=True`` is all that a conversation needs to go on.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar, Unpack, cast

from agno.agent import Agent
from agno.models.base import Model
from agno.models.message import Message
from agno.models.response import ModelResponse
from agno.models.utils import get_model
from agno.team import Team
from agno.tools.function import ToolResult
from pydantic import BaseModel

from gllint_runtime.adapters import kit
from gllint_runtime.execution.session import Session
from gllint_runtime.policy.errors import GLError

_FALLBACKS = ("on_error", "on_rate_limit", "on_context_overflow")


TargetT = TypeVar("TargetT", bound=Agent | Team)


def gate(target: TargetT, **options: Unpack[kit.GateOptions]) -> TargetT:
    """Return a copy of the agent or team that records its tools' results and checks its answers before anyone sees
    them.

    Members of a team are gated with it, and use its session. ``session`` is the conversation's, or a function that
    is given the RunOutput and returns it. After the last repair, the answer is what ``on_refusal`` says; a
    structured one raises the GLError. Structured answers are not streamed: that raises a TypeError, as do an
    ``output_schema`` in which a number needs no claim, and a parser model, which sees no result of a tool.
    """
    if not isinstance(target, Agent | Team):
        raise TypeError(f"gate takes an Agent or a Team, not {type(target).__name__}")
    if target.parser_model is not None:
        raise TypeError("A parser model sees no result of a tool, and can claim none: leave parser_model out")
    new_gate = kit.Gate.of(options)
    new_gate.require_claims(target.output_schema)
    return cast(TargetT, _gated(target, new_gate))


def _gated(target: Any, gate: kit.Gate) -> Any:
    """Return the gated copy of an agent or team, with its models and members gated; anything else unchanged."""
    if isinstance(target, _GatedAgent) or not isinstance(target, Agent | Team):
        return target
    twin = _twin(type(target), _GatedAgent, gate, target.__dict__)
    twin._enter_models()
    if (fallback := getattr(target, "fallback_config", None)) is not None:
        lists = {name: [_gated_model(m, gate) for m in getattr(fallback, name)] for name in _FALLBACKS}
        twin.fallback_config = replace(fallback, **lists)
    if isinstance(target, Team) and isinstance(target.members, list):
        twin.members = [_gated(member, gate.inner) for member in target.members]
    return twin


def _twin(original_class: type, mixin: type, gate: kit.Gate, state: dict[str, Any]) -> Any:
    """Return a copy of an agent or a model of class ``original_class``, whose class has the gate in it."""
    gated: Any = type(
        f"Gated{original_class.__name__}", (mixin, original_class), {"__module__": __name__, "_gllint": gate}
    )
    twin = object.__new__(gated)
    twin.__dict__.update(state)
    return twin


class _Twin:
    """Base of the gated classes: each is created from an agent's own class, for one gate."""

    _gllint: kit.Gate

    def __reduce__(self) -> Any:
        """Say how to copy and to pickle an instance, whose class is created at run time."""
        mixin, original_class = type(self).__bases__
        return _twin, (original_class, mixin, self._gllint, self.__dict__)


def _gated_model(model: Any, gate: kit.Gate, *, is_output: bool = False) -> Any:
    if not isinstance(model, Model | str):
        raise TypeError("Give the agent its model before the gate")
    model = get_model(model)
    return _twin(type(model), _GatedModel, gate, {**model.__dict__, "_gllint_is_output": is_output})


@dataclass
class _Run:
    """One run: whose it is, the type of its structured answer, that answer, and what Agno would make its text."""

    target: Any
    schema: Any = None
    answer: Any = None
    error: Exception | None = None

    @contextmanager
    def current(self) -> Iterator[None]:
        """Make this the current run within ``with``. Raises what went wrong in it."""
        with kit.binding(_RUN, self):
            yield
        if self.error is not None:
            raise self.error


_RUN: ContextVar[_Run | None] = ContextVar("gllint_agno_run", default=None)
_TURN: ContextVar[kit.Turn | None] = ContextVar("gllint_agno_turn", default=None)


# -------------------------------------------------------------------------------------------- agents and teams


class _GatedAgent(_Twin):
    """An agent or a team whose model knows what run it answers in."""

    model: Any
    output_model: Any
    output_schema: Any
    stream: Any

    def _enter_models(self) -> None:
        """Gate its models, those that it was given later among them."""
        if not isinstance(self.model, _GatedModel):  # runs side by side write nothing
            self.model = _gated_model(self.model, self._gllint)
        if not isinstance(self.output_model, _GatedModel | None):
            self.output_model = _gated_model(self.output_model, self._gllint, is_output=True)

    def run(self, *arguments: Any, **options: Any) -> Any:
        """Do what the framework's ``run`` does, under the session of this run."""
        return self._under(super().run, arguments, options)  # type: ignore[misc]

    def arun(self, *arguments: Any, **options: Any) -> Any:
        """Do what the framework's ``arun`` does, under the session of this run."""
        return self._under(super().arun, arguments, options)  # type: ignore[misc]

    def continue_run(self, *arguments: Any, **options: Any) -> Any:
        """Do what the framework's ``continue_run`` does, under the session of this run."""
        return self._under(super().continue_run, arguments, options)  # type: ignore[misc]

    def acontinue_run(self, *arguments: Any, **options: Any) -> Any:
        """Do what the framework's ``acontinue_run`` does, under the session of this run."""
        return self._under(super().acontinue_run, arguments, options)  # type: ignore[misc]

    def _under(self, function: Callable[..., Any], arguments: Any, options: Any) -> Any:
        """Run ``function`` of the framework under the session of this run, and return its result."""
        schema = options.get("output_schema")
        if schema is None:
            schema = self.output_schema
        else:
            self._gllint.require_claims(schema)
        if schema is not None and (options.get("stream") or (options.get("stream") is None and self.stream)):
            raise TypeError(
                "gllint: a structured answer is checked as a whole and not streamed: leave stream out"
            )
        self._enter_models()
        return kit.under(_Run(self, schema).current, function, *arguments, **options)


@contextmanager
def _run_errors() -> Iterator[None]:
    """Note an error of the gate in the run, which then ends with it; Agno itself would return its text as the
    answer.
    """
    try:
        yield
    except Exception as error:
        if (run := _RUN.get()) is not None:
            run.error = error
        raise


@contextmanager
def _current_turn(turn: kit.Turn | None) -> Iterator[None]:
    """An answer of the model under its session; without one it is none of the gate's."""
    with kit.binding(_TURN, turn), nullcontext() if turn is None else kit.using(turn.session):
        yield


# ------------------------------------------------------------------------------------------------------- model


class _GatedModel(_Twin):
    """A model that is asked until its answer passes, and whose tools are recorded."""

    _gllint_is_output: bool

    def response(self, messages: list[Any], *rest: Any, **options: Any) -> Any:
        """Answer with the help of tools."""
        turn = self._turn(messages, options)
        with _current_turn(turn):
            return self._structured(turn, super().response(messages, *rest, **options), options)  # type: ignore[misc]

    async def aresponse(self, messages: list[Any], *rest: Any, **options: Any) -> Any:
        """Answer with the help of tools."""
        turn = self._turn(messages, options)
        with _current_turn(turn):
            return self._structured(turn, await super().aresponse(messages, *rest, **options), options)  # type: ignore[misc]

    def response_stream(self, messages: list[Any], *rest: Any, **options: Any) -> Iterator[Any]:
        """The same, by sentences."""
        turn = self._turn(messages, options)
        ungated_stream = super().response_stream  # type: ignore[misc]
        events: Iterator[Any] = kit.under(
            lambda: _current_turn(turn), ungated_stream, messages, *rest, **options
        )
        return events

    def aresponse_stream(self, messages: list[Any], *rest: Any, **options: Any) -> AsyncIterator[Any]:
        """The same, by sentences."""
        turn = self._turn(messages, options)
        ungated_stream = super().aresponse_stream  # type: ignore[misc]
        events: AsyncIterator[Any] = kit.under(
            lambda: _current_turn(turn), ungated_stream, messages, *rest, **options
        )
        return events

    def _turn(self, messages: list[Any], options: Any) -> Any:
        """Return the turn of this answer; ``None`` for an answer to the framework itself (a summary, a memory)."""
        output, run = options.get("run_response"), _RUN.get()
        if not self._gllint_is_output:
            is_of_run = run is None or run.target.id in (
                getattr(output, "agent_id", None),
                getattr(output, "team_id", None),
            )
            if output is None or not is_of_run:
                return None
        conversation = getattr(output, "session_id", None)
        with _run_errors():
            session = self._gllint.conversation(output, _history(messages), conversation=conversation)
        # Not the whole system message, which may contain a model's summary.
        instructions: Any = run.target.instructions if run is not None else None
        if isinstance(instructions, str):
            instructions = [instructions]
        for text in instructions if isinstance(instructions, list) else ():
            session.prompt(text)
        return kit.Turn(self._gllint, session)

    def _structured(self, turn: Any, response: Any, options: Any) -> Any:
        run = _RUN.get()
        if turn is not None and run is not None and run.answer is not None:
            response.content, run.answer = run.answer, None
            if (output := options.get("run_response")) is not None:
                output.content_type = "dict" if isinstance(run.schema, dict) else run.schema.__name__
        return response

    # ------------------------------------------------------------------------------------------ what it says

    def _invoke_with_retry(self, **options: Any) -> Any:
        return kit.run_steps(_asking(super()._invoke_with_retry, options))  # type: ignore[misc]

    async def _ainvoke_with_retry(self, **options: Any) -> Any:
        return await kit.arun_steps(_asking(super()._ainvoke_with_retry, options))  # type: ignore[misc]

    def _invoke_stream_with_retry(self, **options: Any) -> Iterator[Any]:
        judging = _Judging(options)
        while not judging.is_finished:
            for delta in super()._invoke_stream_with_retry(**judging.options):  # type: ignore[misc]
                yield from judging.sentences(delta)
            yield from judging.end()

    async def _ainvoke_stream_with_retry(self, **options: Any) -> AsyncIterator[Any]:
        """Ask the model until its answer passes, and yield checked sentences."""
        judging = _Judging(options)
        while not judging.is_finished:
            async for delta in super()._ainvoke_stream_with_retry(**judging.options):  # type: ignore[misc]
                for new in judging.sentences(delta):
                    yield new
            for new in judging.end():
                yield new

    def process_response_stream(self, *arguments: Any, **options: Any) -> Iterator[Any]:
        """Yield the answer as it is streamed: without the model's reasoning, which its message keeps."""
        for delta in super().process_response_stream(*arguments, **options):  # type: ignore[misc]
            yield _without_reasoning(delta)

    async def aprocess_response_stream(self, *arguments: Any, **options: Any) -> AsyncIterator[Any]:
        """Yield the answer as it is streamed: without the model's reasoning, which its message keeps."""
        async for delta in super().aprocess_response_stream(*arguments, **options):  # type: ignore[misc]
            yield _without_reasoning(delta)

    # ------------------------------------------------------------------------------------------------- tools

    def get_function_calls_to_run(
        self, assistant_message: Any, messages: list[Any], functions: Any = None
    ) -> Any:
        """Return the calls to run, with arguments in the units of the parameters; a rejected one is answered with
        its error.
        """
        calls = super().get_function_calls_to_run(assistant_message, messages, functions)  # type: ignore[misc]
        if (turn := _TURN.get()) is None:
            return calls
        runnable = []
        for call in calls:
            tool_call = kit.ToolCall(
                turn.session,
                call.function.name,
                call.arguments,
                schema=call.function.parameters,
                id=call.call_id,
            )
            if tool_call.refusal is not None:
                call.error = tool_call.refusal
                messages.append(super().create_function_call_result(call, success=False))  # type: ignore[misc]
                continue
            if tool_call.is_changed:
                call.arguments = dict(tool_call.arguments)
            runnable.append(call)
        return runnable

    def create_function_call_result(
        self,
        function_call: Any,
        success: bool,
        output: Any = None,
        timer: Any = None,
        function_execution_result: Any = None,
    ) -> Any:
        """Return what the model receives for a call: its recorded output, or the error."""
        turn, function = _TURN.get(), function_call.function
        if success and turn is not None and not function.stop_after_tool_call:
            try:
                reply = kit.reply_to_model(
                    turn.session,
                    function.name,
                    function_call.arguments or {},
                    _value(turn.session, output, function_execution_result),
                    tool_call_id=function_call.call_id,
                )
                if reply is not None:
                    output = json.dumps(reply, ensure_ascii=False)
            except GLError as error:
                success, function_call.error = False, Session.repair_hint(error)
        return super().create_function_call_result(  # type: ignore[misc]
            function_call, success, output, timer, function_execution_result
        )


def _history(messages: list[Any]) -> Iterator[kit.Event]:
    """Yield stored messages as events of a conversation."""
    for message in messages:
        if message.role == "assistant":
            yield kit.Answer()
            for call in message.tool_calls or ():
                function = call.get("function", {})
                yield kit.ToolUse(call.get("id"), function.get("name") or "tool", function.get("arguments"))
        elif message.role == "tool" and not message.tool_call_error:
            yield kit.ToolReply(message.tool_call_id, message.tool_name, message.content)
        elif message.role == "user" and isinstance(message.content, str):
            yield kit.UserText(message.content)


def _without_reasoning(delta: Any) -> Any:
    if _TURN.get() is None or not isinstance(delta, ModelResponse):
        return delta
    return replace(delta, reasoning_content=None, redacted_reasoning_content=None)


def _value(session: Session, output: Any, execution: Any) -> Any:
    """Return what a tool returned: its data if there is any, else its text."""
    raw = getattr(execution, "result", None)
    if isinstance(raw, ToolResult):
        raw = raw.content
    if isinstance(raw, bool | int | float | dict | list | tuple | BaseModel) or hasattr(
        raw, "__dataclass_fields__"
    ):
        return raw
    return kit.read_output(session, str(output))


def _asking(ask: Callable[..., Any], options: dict[str, Any]) -> kit.Steps[Any]:
    """Ask the model until its answer passes."""
    judging = _Judging(options)
    while True:
        response = yield ask(**judging.options)
        if judging.accepts(response):
            return response


class _Judging:
    """One answer of the model, asked for until it passes."""

    def __init__(self, options: dict[str, Any]) -> None:
        """Begin an answer with the options of the call to the model."""
        self.options = options
        # Each message of the model is a turn of its own; the tools between them share its session.
        outer = _TURN.get()
        self._turn = None if outer is None else kit.Turn(outer.gate, outer.session)
        run = _RUN.get()
        self._run = run if run is not None and run.schema is not None else None
        self._usage: Any = None
        self.is_finished = False
        self._begin()

    def _begin(self) -> None:
        self._deltas: list[Any] = []
        self._text = ""

    def accepts(self, response: Any) -> bool:
        """Return whether an answer may be shown; if so, its content is the checked text."""
        if self._turn is None:
            return True
        if self._usage is not None and response.response_usage is not None:
            response.response_usage = self._usage + response.response_usage
        self._usage = response.response_usage
        draft = response.content
        if not isinstance(draft, str) or not draft:
            return True
        response.content = self._checked(draft, bool(response.tool_calls))
        return response.content is not None

    def _checked(self, draft: str, calls_tools: bool) -> str | None:
        """Return the checked text of an answer; ``None`` if the model has to be asked again."""
        turn: Any = self._turn
        if calls_tools:
            return str(turn.text(draft, calls_tools=True))
        text: str | None = turn.attempt(partial(self._accept, draft), partial(self._refusal, draft))
        if text is None:
            exchange = [Message(role="assistant", content=draft), Message(role="user", content=turn.hint)]
            self.options = {**self.options, "messages": [*self.options["messages"], *exchange]}
        return text

    def _accept(self, draft: str) -> str:
        session = self._turn.session  # type: ignore[union-attr]
        if self._run is None or not draft:
            return kit.check_final(session, draft).message
        self._run.answer = kit.structure(session, self._run.schema, draft)
        return json.dumps(kit.structure_data(self._run.answer, self._run.schema), ensure_ascii=False)

    def _refusal(self, draft: str, error: GLError) -> str:
        if self._run is not None:
            self._run.error = error
        with _run_errors():
            return self._turn.refusal(error, draft)  # type: ignore[union-attr]

    # ------------------------------------------------------------------------------------------ as a stream

    def sentences(self, delta: ModelResponse) -> Iterator[ModelResponse]:
        """Yield the checked sentences that a part of the stream completes."""
        if self._turn is None:
            yield delta
            return
        if isinstance(delta.content, str):
            self._text += delta.content
            if new := self._turn.feed(delta.content):
                yield ModelResponse(content=new)
        self._deltas.append(replace(delta, content=None))

    def end(self) -> Iterator[ModelResponse]:
        """Yield the rest of the answer, once the stream has ended; for a rejected one only its token usage."""
        if self._turn is None:
            self.is_finished = True
            return
        text = self._checked(self._text, any(delta.tool_calls for delta in self._deltas))
        if text is None:
            yield from (
                ModelResponse(response_usage=d.response_usage) for d in self._deltas if d.response_usage
            )
            self._begin()
            return
        if rest := self._turn.rest(text):
            yield ModelResponse(content=rest)
        yield from self._deltas
        self.is_finished = True

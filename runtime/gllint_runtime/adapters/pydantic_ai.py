"""pydantic-ai: a gate around an agent; a toolset that records and an output validator. Needs ``gllint[pydantic-ai]``.

agent = gate(Agent(model, tools=[heat]))

The message history is the session: what tools returned is in it, so that a run with ``message_history=`` goes on where
the last one ended, in whatever process.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime
from types import UnionType
from typing import Any, TypeVar, Union, Unpack, cast, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic_ai import (
    BinaryImage,
    DeferredToolRequests,
    ModelRetry,
    NativeOutput,
    PromptedOutput,
    RunContext,
    TextOutput,
    ToolOutput,
    ToolReturn,
)
from pydantic_ai.agent import AbstractAgent, WrapperAgent
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    SystemPromptPart,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
    is_multi_modal_content,
)
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.toolsets import WrapperToolset
from pydantic_ai.usage import RequestUsage

from gllint_runtime.adapters import kit
from gllint_runtime.execution.claimed import Declared
from gllint_runtime.execution.session import Session
from gllint_runtime.policy.errors import GLError
from gllint_runtime.policy.keywords import Mode

if not hasattr(AbstractCapability, "get_wrapper_model"):  # an older version would show unchecked answers
    raise ImportError(
        "The gate of pydantic-ai needs pydantic-ai-slim>=2.62, in which a capability wraps the model"
    )

_OF_THE_FRAMEWORK = (None, str, DeferredToolRequests, BinaryImage)  # no model fills them in


AgentT = TypeVar("AgentT", bound=AbstractAgent[Any, Any])


def gate(target: AgentT, **options: Unpack[kit.GateOptions]) -> AgentT:
    """Return the agent with its tools' results recorded and its answers checked before anyone sees them.

    ``session`` is the conversation's, or a function that is given the RunContext and returns it. After the last
    repair, the answer is what ``on_refusal`` says. Structured answers are checked, too
    (:class:`~gllint_runtime.Claimed`); they are not streamed: that raises a UserError.
    """
    if not isinstance(target, AbstractAgent):
        raise TypeError(f"gate takes an agent of pydantic-ai, not {type(target).__name__}")
    inner: Any = target
    while isinstance(inner, WrapperAgent):
        if isinstance(inner, _GatedAgent):
            raise TypeError("The agent has a gate already: gate it once")
        inner = inner.wrapped
    capability = Gate(**options)
    _require_claims(capability.gate, target.output_type)
    gated: Any = _GatedAgent(target, capability)
    return cast(AgentT, gated)


class _GatedAgent(WrapperAgent[Any, Any]):
    """An agent each of whose runs has the capability; what it registers, it registers with the agent that it wraps."""

    def __init__(self, wrapped: AbstractAgent[Any, Any], capability: Gate) -> None:
        super().__init__(wrapped)
        self._capability = capability

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the wrapped agent (``tool``, ``instructions``).

        Raises TypeError for one that runs it ungated.
        """
        # ``tool``, ``instructions``, ``output_validator``, …: a decorator or a list of the agent's own.
        if name.startswith("_"):
            raise AttributeError(name)
        if name in _AROUND_THE_GATE:
            raise TypeError(
                f"gllint: {name}() would run the agent without its gate: use run(), or gate what it makes"
            )
        return getattr(self.wrapped, name)

    @asynccontextmanager
    async def iter(self, *arguments: Any, **options: Any) -> AsyncGenerator[Any]:
        """A run of the agent, gated."""
        _require_claims(self._capability.gate, options.get("output_type"))
        options["capabilities"] = [self._capability, *(options.get("capabilities") or ())]
        async with self.wrapped.iter(*arguments, **options) as run:
            yield run


# What hands the wrapped agent itself to a server or an app.
_AROUND_THE_GATE = frozenset({"to_web", "to_a2a", "to_ag_ui"})


def _require_claims(gate: kit.Gate, output: Any) -> None:
    """Raise TypeError for an output type, or a parameter of an output function, in which a number needs no claim."""
    if isinstance(output, list | tuple):
        for item in output:
            _require_claims(gate, item)
    elif isinstance(output, ToolOutput):
        _require_claims(gate, output.output)
    elif isinstance(output, NativeOutput | PromptedOutput):
        _require_claims(gate, output.outputs)
    elif get_origin(output) in (Union, UnionType):
        _require_claims(gate, get_args(output))
    elif inspect.isroutine(output):
        hints = get_type_hints(output, include_extras=True)
        parameters = {name: hints.get(name, Any) for name in inspect.signature(output).parameters}
        parameters = {
            name: hint for name, hint in parameters.items() if (get_origin(hint) or hint) is not RunContext
        }
        for name, hint in parameters.items():
            gate.require_claims(hint, f"{name} of {output.__name__}()")
        # The function is checked by its arguments as one dict, which does not tell which of them is Unclaimed.
        if len(parameters) > 1 and any(
            isinstance(mark, Declared) for hint in parameters.values() for mark in get_args(hint)
        ):
            raise TypeError(
                f"{output.__name__}() takes Unclaimed next to other parameters: declare one model with all of them"
            )
    elif not isinstance(output, TextOutput) and output not in _OF_THE_FRAMEWORK:
        gate.require_claims(output)


@dataclass
class Gate(AbstractCapability[Any]):
    """The gate as a capability: ``Agent(…, capabilities=[Gate()])``."""

    session: kit.SessionOption = None
    _: KW_ONLY
    mode: Mode | None = None
    max_retries: int = 2
    on_refusal: kit.OnRefusal = None
    own: Session | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.gate = kit.Gate(self.session, self.mode, self.max_retries, self.on_refusal)

    async def for_run(self, ctx: RunContext[Any]) -> Gate:
        """Return the gate of one run, with the session of its conversation."""
        return replace(self, own=_session(self.gate, ctx))

    def get_wrapper_model(self, model: Model) -> Model:
        """Return the model, whose answers are checked."""
        return _GatedModel(model, self)

    async def wrap_tool_execute(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: Any, args: Any, handler: Any
    ) -> Any:
        """Return the result of a tool, called with arguments in the units of its parameters, as the model receives
        it.
        """
        if tool_def.kind == "output":
            return await handler(args)
        schema = tool_def.parameters_json_schema
        tool_call = kit.ToolCall(
            self._session, call.tool_name, dict(args), schema=schema, id=call.tool_call_id
        )
        return await _called(tool_call, lambda changed: handler(changed or args))

    async def wrap_output_validate(
        self, ctx: RunContext[Any], *, output_context: Any, output: Any, handler: Any
    ) -> Any:
        """Return a checked structured answer, in which each claim has become the tool's Quantity."""
        with kit.using(self._session):
            answer = await handler(output)
            try:
                if ctx.partial_output:
                    return answer
                return kit.checked_structure(self._session, answer, output_context.output_type)
            except GLError as error:
                raise ModelRetry(Session.repair_hint(error)) from error

    @property
    def _session(self) -> Session:
        if self.own is None:
            raise UserError("The gate belongs to a run: give it to the agent's capabilities")
        return self.own

    def turn(self, messages: Sequence[ModelMessage]) -> kit.Turn:
        """Return the model's turn, under the session that knows what the program says to it."""
        for message in messages:
            if isinstance(message, ModelRequest) and message.instructions:
                self._session.prompt(message.instructions)
        return kit.Turn(self.gate, self._session)


def _answer(
    turn: kit.Turn, response: ModelResponse, parameters: ModelRequestParameters
) -> ModelResponse | None:
    """Return the model's response with its text checked; ``None`` if the model has to be asked again."""
    texts = [part for part in response.parts if isinstance(part, TextPart)]
    if parameters.output_object is not None or not texts:  # JSON of a schema is checked where it is read
        return response
    calls_tools = any(isinstance(part, ToolCallPart) for part in response.parts)
    said = "".join(part.content for part in texts)
    text = turn.text(said, calls_tools=calls_tools)
    if calls_tools and not text:
        return replace(response, parts=[part for part in response.parts if not isinstance(part, TextPart)])
    if text == said:
        return response
    return None if text is None else _with_text(response, text)


def _with_text(response: ModelResponse, text: str) -> ModelResponse:
    """Return a response with ``text`` in its first text part, and without its further texts."""
    parts = kit.with_text(
        response.parts,
        text,
        lambda part: isinstance(part, TextPart),
        lambda part, new: replace(part, content=new),
    )
    return replace(response, parts=parts)


def _hint(turn: kit.Turn) -> ModelRequest:
    return ModelRequest(parts=[UserPromptPart(turn.hint)])


class _GatedModel(WrapperModel):
    """A model that is asked until its answer passes."""

    def __init__(self, wrapped: Model, gate: Gate) -> None:
        super().__init__(wrapped)
        self._gate = gate

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Return the model's answer, asked for until it passes."""
        usage = RequestUsage()
        turn = self._gate.turn(messages)
        while True:
            response = await self.wrapped.request(messages, model_settings, model_request_parameters)
            usage = usage + response.usage
            answer = _answer(turn, response, model_request_parameters)
            if answer is not None:
                return replace(answer, usage=usage)
            messages = [*messages, response, _hint(turn)]

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """Open a stream of the model's answer by checked sentences. Raises UserError for a structured answer."""
        if model_request_parameters.output_tools or model_request_parameters.output_object is not None:
            raise UserError(
                "gllint: a structured answer is not streamed, since it is checked as a whole: use run()"
            )
        opening = self.wrapped.request_stream(messages, model_settings, model_request_parameters, run_context)
        async with opening as first:

            @asynccontextmanager
            async def ask(hints: list[ModelMessage]) -> AsyncGenerator[StreamedResponse]:
                """Open the stream of the first answer, then of each further attempt."""
                if not hints:
                    yield first
                    return
                async with self.wrapped.request_stream(
                    [*messages, *hints], model_settings, model_request_parameters, run_context
                ) as stream:
                    yield stream

            yield _CheckedStream(model_request_parameters, self._gate.turn(messages), first, ask)


@dataclass
class _CheckedStream(StreamedResponse):
    """A model's stream that passes on the checked sentences of its text."""

    turn: kit.Turn
    first: StreamedResponse
    ask: Callable[[list[ModelMessage]], Any]

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        """Yield the checked events of the answer, asked for until it passes."""
        hints: list[ModelMessage] = []
        while True:
            async with self.ask(hints) as stream:
                async for event in stream:
                    new = ""
                    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                        new = event.part.content
                    elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                        new = event.delta.content_delta
                    for released in self._text(self.turn.feed(new)):
                        yield released
                response = stream.get()
            self._usage = self._usage + response.usage
            self.finish_reason = response.finish_reason
            self.provider_response_id = response.provider_response_id
            self.provider_details = response.provider_details
            answer = _answer(self.turn, response, self.model_request_parameters)
            if answer is None:
                hints = [*hints, response, _hint(self.turn)]
                continue
            whole = "".join(part.content for part in answer.parts if isinstance(part, TextPart))
            for released in self._text(self.turn.rest(whole)):
                yield released
            for number, part in enumerate(answer.parts):
                if not isinstance(part, TextPart):
                    yield self._parts_manager.handle_part(vendor_part_id=f"part {number}", part=part)
            return

    def _text(self, text: str) -> Iterator[ModelResponseStreamEvent]:
        if text:
            yield from self._parts_manager.handle_text_delta(vendor_part_id="text", content=text)

    async def close_stream(self) -> None:
        """Close the model's own stream."""
        await self.first.close_stream()

    @property
    def model_name(self) -> str:
        """The name of the model that answers."""
        return self.first.model_name

    @property
    def provider_name(self) -> str | None:
        """The name of its provider."""
        return self.first.provider_name

    @property
    def provider_url(self) -> str | None:
        """The address of its provider."""
        return self.first.provider_url

    @property
    def timestamp(self) -> datetime:
        """The time of the first answer."""
        return self.first.timestamp


# ---------------------------------------------------------------------------------------------------- sessions


def _session(gate: kit.Gate, ctx: RunContext[Any]) -> Session:
    """Return the session of a run, with its history."""
    return gate.conversation(ctx, _history(ctx), conversation=ctx.conversation_id)


def _history(ctx: RunContext[Any]) -> Iterator[kit.Event]:
    """Yield the messages of a run as events of a conversation."""
    for message in ctx.messages:
        if isinstance(message, ModelResponse):
            yield kit.Answer()
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                yield kit.ToolUse(part.tool_call_id, part.tool_name, part.args)
            elif isinstance(part, UserPromptPart):
                yield from map(kit.UserText, _prompt_texts(part.content))
            elif isinstance(part, SystemPromptPart):
                yield kit.UserText(part.content, "prompt")
            elif isinstance(part, ToolReturnPart) and part.outcome == "success":
                yield kit.ToolReply(part.tool_call_id, part.tool_name, part.content)
    yield from map(kit.UserText, _prompt_texts(ctx.prompt))


def _prompt_texts(prompt: Any) -> list[str]:
    parts: Sequence[Any] = [prompt] if isinstance(prompt, str) else prompt or ()
    texts = [getattr(part, "content", part) for part in parts]
    joined = "\n".join(text for text in texts if isinstance(text, str))
    return [joined] if joined else []


async def _called(call: kit.ToolCall, run: Callable[[dict[str, Any] | None], Any]) -> Any:
    return await kit.arun_steps(
        call.steps(lambda: run(dict(call.arguments) if call.is_changed else None), _retried, _for_model)
    )


def _retried(hint: str) -> Any:
    raise ModelRetry(hint)


def _for_model(call: kit.ToolCall, output: Any) -> Any:
    """Return a tool's result as the model receives it; pictures and files stay as they are. Raises GLError."""
    value = output.return_value if isinstance(output, ToolReturn) else output
    items = value if isinstance(value, list | tuple) else [value]
    files = [item for item in items if is_multi_modal_content(item)]
    data = [item for item in items if not is_multi_modal_content(item)]
    if not data and files:
        return output
    reply: Any = call.reply(kit.block_data(data) if files else value)
    if reply is None:
        return output
    if files:
        reply = [reply, *files]
    return replace(output, return_value=reply) if isinstance(output, ToolReturn) else reply


# ----------------------------------------------------------------------------- for agents that are put together


@dataclass
class GatedToolset(WrapperToolset[Any]):
    """Records each output of the toolset it wraps; the model receives the call's id, or the hint."""

    session: kit.SessionOption = None

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: Any) -> Any:
        """Call a tool, record its output, and return what the model receives."""
        session = _session(kit.Gate(self.session), ctx)
        last = ctx.messages[-1] if ctx.messages else None
        parts = last.parts if isinstance(last, ModelResponse) else ()
        session.arrange([part.tool_call_id for part in parts if isinstance(part, ToolCallPart)])
        schema = tool.tool_def.parameters_json_schema
        call = kit.ToolCall(session, name, tool_args, schema=schema, id=ctx.tool_call_id)
        call_ungated = super().call_tool
        return await _called(call, lambda changed: call_ungated(name, changed or tool_args, ctx, tool))


def output_check(session: kit.SessionOption = None) -> Callable[[RunContext[Any], Any], Any]:
    """Return an output validator: it returns the message as the user may see it, or raises ModelRetry with what to
    mend.

    An output type with ``message`` and ``claims`` stays one, with the checked message; one with more fields gives
    the message alone; of any other model each text is checked. For :class:`~gllint_runtime.Claimed` fields use
    :func:`gate`.

    ``stream_output()`` and ``stream_text()`` show nothing until the answer is complete.
    ``stream_text(delta=True)`` asks no validator, by the framework's own design, and shows unchecked text:
    :func:`gate` withholds it.
    """

    def check(ctx: RunContext[Any], output: Any) -> Any:
        """Return the checked output, or ask the model again."""
        if ctx.partial_output:
            return ""
        found_session = _session(kit.Gate(session), ctx)
        try:
            if isinstance(output, BaseModel) and not {"message", "claims"} < type(output).model_fields.keys():
                return kit.checked_structure(found_session, output)
            return kit.check_final(found_session, output).message
        except GLError as error:
            raise ModelRetry(Session.repair_hint(error)) from error

    return check

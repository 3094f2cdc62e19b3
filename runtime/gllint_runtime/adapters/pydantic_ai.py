"""pydantic-ai: a gate around an agent; a toolset that records and an output validator. Needs ``gllint[pydantic-ai]``.

agent = gate(Agent(model, instructions=INSTRUCTIONS, tools=[heat]))

The message history is the session: what a tool returned stands in it with the id that claims cite, so that a run with
``message_history=`` goes on where the last one ended, in whatever process.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

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

_OF_THE_FRAMEWORK = (None, str, DeferredToolRequests, BinaryImage)  # no model fills them in


def gate(
    target: AbstractAgent[Any, Any],
    *,
    session: kit.SessionOption = None,
    max_retries: int = 2,
    on_refusal: kit.OnRefusal = None,
) -> AbstractAgent[Any, Any]:
    """The agent, its tools recorded and its answers checked before they reach its history, its streams and its user.

    ``session`` is the conversation's, or a function that is given the RunContext and finds it. Where repairs run out,
    the answer is what ``on_refusal`` says. Structured answers are checked, too (:class:`~gllint_runtime.Claimed`); they
    are not streamed: that raises a UserError.
    """
    if not isinstance(target, AbstractAgent):
        raise TypeError(f"gate takes an agent of pydantic-ai, not {type(target).__name__}")
    inner: Any = target
    while isinstance(inner, WrapperAgent):
        if isinstance(inner, _GatedAgent):
            raise TypeError("The agent has a gate already: gate it once")
        inner = inner.wrapped
    _require_claims(target.output_type)
    return _GatedAgent(target, Gate(session, max_retries=max_retries, on_refusal=on_refusal))


class _GatedAgent(WrapperAgent[Any, Any]):
    """An agent each of whose runs has the capability."""

    def __init__(self, wrapped: AbstractAgent[Any, Any], capability: Gate) -> None:
        super().__init__(wrapped)
        self._capability = capability

    @asynccontextmanager
    async def iter(self, *arguments: Any, **options: Any) -> AsyncGenerator[Any]:
        """A run of the agent, gated."""
        _require_claims(options.get("output_type"))
        options["capabilities"] = [self._capability, *(options.get("capabilities") or ())]
        async with self.wrapped.iter(*arguments, **options) as run:
            yield run


def _require_claims(output: Any) -> None:
    """Raises TypeError for an output type, or an output function's parameter, in which a number needs no claim."""
    if isinstance(output, list | tuple):
        for item in output:
            _require_claims(item)
    elif isinstance(output, ToolOutput):
        _require_claims(output.output)
    elif isinstance(output, NativeOutput | PromptedOutput):
        _require_claims(output.outputs)
    elif get_origin(output) in (Union, UnionType):
        _require_claims(get_args(output))
    elif inspect.isroutine(output):
        hints = get_type_hints(output, include_extras=True)
        own = {name: hints.get(name, Any) for name in inspect.signature(output).parameters}
        own = {name: hint for name, hint in own.items() if (get_origin(hint) or hint) is not RunContext}
        for name, hint in own.items():
            kit.require_claims(hint, f"{name} of {output.__name__}()")
        if len(own) > 1 and any(isinstance(m, Declared) for h in own.values() for m in get_args(h)):
            raise TypeError(
                f"{output.__name__}() takes Unclaimed beside others: take one model that has them"
            )
    elif not isinstance(output, TextOutput) and output not in _OF_THE_FRAMEWORK:
        kit.require_claims(output, getattr(output, "__name__", "the answer"))


@dataclass
class Gate(AbstractCapability[Any]):
    """The gate as a capability: ``Agent(…, capabilities=[Gate()])``."""

    session: kit.SessionOption = None
    _: KW_ONLY
    max_retries: int = 2
    on_refusal: kit.OnRefusal = None
    own: Session | None = field(default=None, repr=False)

    async def for_run(self, ctx: RunContext[Any]) -> Gate:
        """The gate of one run, with the session of its conversation."""
        return replace(self, own=_session(self.session, ctx))

    def get_wrapper_model(self, model: Model) -> Model:
        """The model, whose answers are checked."""
        return _GatedModel(model, self)

    async def wrap_tool_execute(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: Any, args: Any, handler: Any
    ) -> Any:
        """Call a tool with its arguments in the units of its parameters, and record what it returned."""
        if tool_def.kind == "output":
            return await handler(args)
        session = self._session
        if not isinstance(args, dict):
            args = dict(args)
        try:
            arguments = session.tool_arguments(
                call.tool_name, args, args_schema=tool_def.parameters_json_schema
            )
        except GLError as error:
            raise ModelRetry(Session.repair_hint(error)) from error
        with kit.using(session):
            output = await handler(dict(arguments) if arguments.changes else args)
        return _recorded(session, call.tool_name, arguments, output, call.tool_call_id)

    async def wrap_output_validate(
        self, ctx: RunContext[Any], *, output_context: Any, output: Any, handler: Any
    ) -> Any:
        """Read a structured answer: each claim in it becomes the tool's Quantity, each text is checked."""
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

    def answer(self, response: ModelResponse, parameters: ModelRequestParameters) -> ModelResponse:
        """What the model said, as it may be shown: all but its text stays. Raises GLError."""
        if parameters.output_object is not None:  # JSON of a schema, which is checked where it is read
            return response
        texts = [part for part in response.parts if isinstance(part, TextPart)]
        if not texts:
            return response
        text = "".join(part.content for part in texts)
        if any(isinstance(part, ToolCallPart) for part in response.parts):
            kept = texts if self._session.verify(text).status == "success" else []
            return replace(
                response,
                parts=[p for p in response.parts if not isinstance(p, TextPart) or p in kept],
            )
        return _with_text(response, kit.check_final(self._session, text).message)

    def refused(self, response: ModelResponse, error: GLError) -> ModelResponse:
        """What the user is told in place of the model's answer."""
        return _with_text(response, kit.refusal(self.on_refusal, error))


def _with_text(response: ModelResponse, text: str) -> ModelResponse:
    texts = [part for part in response.parts if isinstance(part, TextPart)]
    if "".join(part.content for part in texts) == text:
        return response
    parts = [
        replace(part, content=text) if part is texts[0] else part
        for part in response.parts
        if not isinstance(part, TextPart) or part is texts[0]
    ]
    return replace(response, parts=parts)


def _hint(error: GLError) -> ModelRequest:
    return ModelRequest(parts=[UserPromptPart(Session.repair_hint(error))])


class _GatedModel(WrapperModel):
    """A model that is asked until its answer holds."""

    def __init__(self, wrapped: Model, gate: Gate) -> None:
        super().__init__(wrapped)
        self._gate = gate

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Ask the model, and again with what is wrong with its answer."""
        usage = RequestUsage()
        asked = messages
        for attempt in range(self._gate.max_retries + 1):
            response = await self.wrapped.request(asked, model_settings, model_request_parameters)
            usage = usage + response.usage
            try:
                answer = self._gate.answer(response, model_request_parameters)
            except GLError as error:
                if attempt < self._gate.max_retries:
                    asked = [*asked, response, _hint(error)]
                    continue
                answer = self._gate.refused(response, error)
            return replace(answer, usage=usage)
        raise UserError("max_retries is a number of times, at least 0")

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """The same, by sentences."""
        if model_request_parameters.output_tools or model_request_parameters.output_object is not None:
            raise UserError(
                "gllint: a structured answer is not streamed, since it is checked as a whole: use run()"
            )
        opening = self.wrapped.request_stream(messages, model_settings, model_request_parameters, run_context)
        async with opening as first:

            @asynccontextmanager
            async def ask(hints: list[ModelMessage]) -> AsyncGenerator[StreamedResponse]:
                if not hints:
                    yield first
                    return
                async with self.wrapped.request_stream(
                    [*messages, *hints], model_settings, model_request_parameters, run_context
                ) as stream:
                    yield stream

            yield _CheckedStream(model_request_parameters, self._gate, first, ask)


@dataclass
class _CheckedStream(StreamedResponse):
    """A model's stream, of whose text the sentences that hold are passed on."""

    gate: Gate
    first: StreamedResponse
    ask: Callable[[list[ModelMessage]], Any]

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        hints: list[ModelMessage] = []
        for attempt in range(self.gate.max_retries + 1):
            text = f"text {attempt}"
            shown = kit.FinalStream(self.gate._session)
            async with self.ask(hints) as stream:
                async for event in stream:
                    new = ""
                    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                        new = event.part.content
                    elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                        new = event.delta.content_delta
                    for released in self._text(text, shown.feed(new) if new else ""):
                        yield released
                response = stream.get()
            self._usage = self._usage + response.usage
            self.finish_reason = response.finish_reason
            self.provider_response_id = response.provider_response_id
            self.provider_details = response.provider_details
            try:
                answer = self.gate.answer(response, self.model_request_parameters)
            except GLError as error:
                if attempt < self.gate.max_retries:
                    hints = [*hints, response, _hint(error)]
                    continue
                answer = self.gate.refused(response, error)
            whole = "".join(part.content for part in answer.parts if isinstance(part, TextPart))
            rest = whole[len(shown.released) :] if whole.startswith(shown.released) else whole
            for released in self._text(text, rest):
                yield released
            for number, part in enumerate(answer.parts):
                if not isinstance(part, TextPart):
                    yield self._parts_manager.handle_part(vendor_part_id=f"part {number}", part=part)
            return

    def _text(self, part: str, text: str) -> Iterator[ModelResponseStreamEvent]:
        if text:
            yield from self._parts_manager.handle_text_delta(vendor_part_id=part, content=text)

    async def close_stream(self) -> None:
        """Close the model's own stream."""
        await self.first.close_stream()

    @property
    def model_name(self) -> str:
        """Of the model that answers."""
        return self.first.model_name

    @property
    def provider_name(self) -> str | None:
        """Of the model that answers."""
        return self.first.provider_name

    @property
    def provider_url(self) -> str | None:
        """Of the model that answers."""
        return self.first.provider_url

    @property
    def timestamp(self) -> datetime:
        """Of the first answer."""
        return self.first.timestamp


# ---------------------------------------------------------------------------------------------------- sessions


def _session(option: kit.SessionOption, ctx: RunContext[Any]) -> Session:
    """The session of a run, with what its history holds."""
    history = ctx.messages
    begins = not any(isinstance(message, ModelResponse) for message in history)
    session = kit.session_for(option, ctx, conversation=ctx.conversation_id, begins=begins)
    calls: dict[str, ToolCallPart] = {}
    for message in history:
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                calls[part.tool_call_id] = part
            elif isinstance(part, UserPromptPart):
                kit.hear(session, _prompt_texts(part.content))
            elif isinstance(part, ToolReturnPart) and part.outcome == "success":
                call = calls.get(part.tool_call_id)
                arguments = call.args if call else None
                content, name = part.content, part.tool_name
                kit.restore(session, name, arguments, content, tool_call_id=part.tool_call_id)
    kit.hear(session, _prompt_texts(ctx.prompt))
    return session


def _prompt_texts(prompt: Any) -> list[str]:
    parts: Sequence[Any] = [prompt] if isinstance(prompt, str) else prompt or ()
    texts = [getattr(part, "content", part) for part in parts]
    joined = "\n".join(text for text in texts if isinstance(text, str))
    return [joined] if joined else []


def _recorded(session: Session, name: str, arguments: Any, output: Any, tool_call_id: str | None) -> Any:
    """A tool's output as the model is told it; pictures and files stay as they are."""
    value = output.return_value if isinstance(output, ToolReturn) else output
    if is_multi_modal_content(value):
        return output
    files: list[Any] = []
    if isinstance(value, list | tuple) and any(map(is_multi_modal_content, value)):
        files = [item for item in value if is_multi_modal_content(item)]
        data = [item for item in value if not is_multi_modal_content(item)]
        if not data:
            return output
        value = kit.block_data(data)
    try:
        reply: Any = kit.recorded(session, name, arguments, value, tool_call_id=tool_call_id)
    except GLError as error:
        raise ModelRetry(Session.repair_hint(error)) from error
    if files:
        reply = [reply, *files]
    return replace(output, return_value=reply) if isinstance(output, ToolReturn) else reply


# ----------------------------------------------------------------------------- for agents that are put together


@dataclass
class GatedToolset(WrapperToolset[Any]):
    """Records each output of the toolset it wraps; the model is told the call's id, or what was wrong with it."""

    session: kit.SessionOption = None

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: Any) -> Any:
        """Call the tool, record its output."""
        session = _session(self.session, ctx)
        last = ctx.messages[-1] if ctx.messages else None
        parts = last.parts if isinstance(last, ModelResponse) else ()
        session.arrange([part.tool_call_id for part in parts if isinstance(part, ToolCallPart)])
        schema = tool.tool_def.parameters_json_schema
        try:
            arguments = session.tool_arguments(name, tool_args, args_schema=schema)
        except GLError as error:
            raise ModelRetry(Session.repair_hint(error)) from error
        with kit.using(session):
            output = await super().call_tool(
                name, dict(arguments) if arguments.changes else tool_args, ctx, tool
            )
        return _recorded(session, name, arguments, output, ctx.tool_call_id)


def output_check(session: kit.SessionOption = None) -> Callable[[RunContext[Any], Any], Any]:
    """An output validator: the message as the user may see it, or ModelRetry with what to mend.

    An output type that is a model of ``message`` and ``claims`` stays one, with that message; one that has more beside
    them gives the message alone; of any other model each text is checked. For :class:`~gllint_runtime.Claimed` fields
    take :func:`gate`.

    A stream is held back: ``stream_output()`` and ``stream_text()`` show nothing until the answer is complete, and
    ``get_output()`` gives it. ``stream_text(delta=True)`` asks no validator, by the framework's own design, and shows
    what nobody has checked: :func:`gate` holds it back.
    """

    def check(ctx: RunContext[Any], output: Any) -> Any:
        if ctx.partial_output:
            return ""
        own = _session(session, ctx)
        try:
            if isinstance(output, BaseModel) and not {"message", "claims"} < type(output).model_fields.keys():
                return kit.checked_structure(own, output)
            return kit.check_final(own, output).message
        except GLError as error:
            raise ModelRetry(Session.repair_hint(error)) from error

    return check

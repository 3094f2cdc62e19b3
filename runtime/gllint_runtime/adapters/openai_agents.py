"""OpenAI Agents SDK: a gate around an agent and those it hands over to. Needs ``gllint[openai-agents]``.

agent = gate(Agent(name="…", instructions="…", tools=[meter]))
result = await Runner.run(agent, "How much heat?")

The items of a conversation are its session: what its tools returned is in them. So an SDK ``Session``, or
``result.to_input_list()``, is all that a conversation needs to go on.
"""

from __future__ import annotations

import json
import weakref
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, Unpack
from weakref import WeakKeyDictionary, WeakValueDictionary

from agents import (
    Agent,
    AgentHooks,
    AgentOutputSchema,
    AgentOutputSchemaBase,
    FunctionTool,
    GuardrailFunctionOutput,
    Handoff,
    Model,
    ModelProvider,
    ModelResponse,
    ModelSettings,
    MultiProvider,
    OutputGuardrail,
    RunContextWrapper,
    Runner,
    ToolOutputFileContent,
    ToolOutputImage,
    ToolOutputText,
)
from agents.exceptions import ModelBehaviorError, UserError
from openai.types.responses import (
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputRefusal,
    ResponseOutputText,
    ResponseTextDeltaEvent,
)

from gllint_runtime.adapters import kit
from gllint_runtime.execution.session import Session, Verified
from gllint_runtime.policy.errors import GLError, GLValidationError

_FILES = (ToolOutputImage, ToolOutputFileContent)
_PARTS = (ResponseOutputText, ResponseOutputRefusal)
# The events that have a whole text.
_ENDS = ("response.output_text.done", "response.refusal.done", "response.content_part.done")
_GATED_HOOKS = ("on_llm_start", "on_end")


ContextT = TypeVar("ContextT")


def gate(target: Agent[ContextT], **options: Unpack[kit.GateOptions]) -> Agent[ContextT]:
    """Return a copy of the agent that records its tools' results and checks its answers before anyone sees them.

    Agents that it hands over to are gated with it; an agent among its tools has to be gated by itself. ``session``
    is the conversation's, or a function that is given the run's RunContextWrapper and returns it. After the last
    repair, the answer is what ``on_refusal`` says; a structured one raises the GLError. A model named by
    ``RunConfig`` bypasses the gate: its answer is checked before the run returns, which raises the GLError.
    """
    if not isinstance(target, Agent):
        raise TypeError(f"gate takes an Agent, not {type(target).__name__}")
    if isinstance(target.model, _GatedModel):
        raise TypeError("The agent has a gate already: gate it once")
    return _Agents(kit.Gate.of(options)).agent(target)


_PROVIDER: ContextVar[ModelProvider] = ContextVar("gllint_openai_agents_provider")


class _Runner:
    """The default runner, which tells the gated models of a run the provider of that run.

    A model receives nothing of the RunConfig, and only the SDK's own code gets a model by its name.
    """

    def __init__(self, own: Any) -> None:
        self._own = own

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def run(self, agent: Any, input: Any, **options: Any) -> Any:
        """Return the coroutine of a run."""
        return kit.under(_provider_of(options), self._own.run, agent, input, **options)

    def run_sync(self, agent: Any, input: Any, **options: Any) -> Any:
        """Return the result of a run."""
        return kit.under(_provider_of(options), self._own.run_sync, agent, input, **options)

    def run_streamed(self, agent: Any, input: Any, **options: Any) -> Any:
        """Begin a run; its task copies the context."""
        return kit.under(_provider_of(options), self._own.run_streamed, agent, input, **options)


def _note_providers() -> None:
    """Wrap the default runner, which the SDK calls experimental: nothing else knows the provider of a run."""
    from agents.run import get_default_agent_runner, set_default_agent_runner

    runner: Any = get_default_agent_runner()
    if not isinstance(runner, _Runner):
        runner = _Runner(runner)
        set_default_agent_runner(runner)


def _provider_of(options: Mapping[str, Any]) -> Callable[[], AbstractContextManager[Any]]:
    """Return what enters the context of a run with these options."""
    config = options.get("run_config")
    if isinstance(config, Mapping):
        provider = config.get("model_provider")
    else:
        provider = getattr(config, "model_provider", None)
    return partial(kit.binding, _PROVIDER, provider or MultiProvider())


class _Request:
    """A request to a model: its context, and its items, a reference to which keeps their ids unique."""

    def __init__(self, items: Any, context: weakref.ref[RunContextWrapper[Any]]) -> None:
        self.items, self.context = items, context


class _Agents:
    """The agents of one gate, and the sessions of the runs that go on."""

    def __init__(self, gate: kit.Gate) -> None:
        """Begin without agents and sessions."""
        self.gate = gate
        self._agents: kit.WeakIdentityMap[Agent[Any]] = kit.WeakIdentityMap()
        # By the run's own Usage, which the contexts of its tools share with it.
        self._sessions: kit.WeakIdentityMap[Session] = kit.WeakIdentityMap()
        # The last request of each run, for as long as the run lives, and which one has the items at hand.
        self._last: kit.WeakIdentityMap[_Request] = kit.WeakIdentityMap()
        self._requests: WeakValueDictionary[int, _Request] = WeakValueDictionary()
        self._refusals: WeakKeyDictionary[Session, str] = WeakKeyDictionary()

    def __deepcopy__(self, memo: Any) -> _Agents:
        """Copies of an agent share its gate, which stores nothing of a conversation."""
        return self

    def agent(self, agent: Agent[Any]) -> Agent[Any]:
        """Return the gated copy of an agent; the same copy each time it is handed over to."""
        if isinstance(agent.model, _GatedModel) and agent.model.gate is self:
            return agent
        if (copy := self._agents.get(agent)) is not None:
            return copy
        output = agent.output_type
        if output is not None and output is not str:
            is_schema = isinstance(output, AgentOutputSchemaBase)
            form: Any = getattr(output, "output_type", str) if is_schema else output
            self.gate.require_claims(form)
            if not isinstance(output, AgentOutputSchemaBase):
                output = AgentOutputSchema(output)
            output = _GatedOutput(output)
        model = _GatedModel(agent.model, self)
        copied = agent.clone(
            tools=[
                _gated(tool, self.session) if isinstance(tool, FunctionTool) else tool for tool in agent.tools
            ],
            model=model,
            output_type=output,
            hooks=_Hooks(agent.hooks, self),
        )
        if (
            copied.model_settings != agent.model_settings
        ):  # the defaults of a model by name, which are dropped
            model.defaults = agent.model_settings
        self._agents.put(agent, copied)
        copied.handoffs = [
            self._handoff(item) if isinstance(item, Handoff) else self.agent(item) for item in agent.handoffs
        ]
        return copied

    def _handoff(self, handoff: Handoff[Any, Any]) -> Handoff[Any, Any]:
        invoke = handoff.on_invoke_handoff

        async def invoked(context: RunContextWrapper[Any], arguments: str) -> Any:
            return self.agent(await invoke(context, arguments))

        return replace(handoff, on_invoke_handoff=invoked)

    def session(
        self,
        context: RunContextWrapper[Any] | None,
        history: Sequence[kit.Event] = (),
        conversation: str | None = None,
    ) -> Session:
        """Return the session of a run, with ``history`` read into it; a new one is made and remembered for a new
        run.
        """
        usage = None if context is None else context.usage
        session = None if usage is None else self._sessions.get(usage)
        if session is not None:
            kit.read_history(session, history)
            return session
        # A run without its items goes on somewhere: an answer says that its conversation has begun, so that
        # one ``Session`` may serve it.
        session = self.gate.conversation(context, history or [kit.Answer()], conversation=conversation)
        if usage is not None:
            self._sessions.put(usage, session)
        return session

    def refusal(self, turn: kit.Turn, error: GLError, draft: str) -> str:
        """Return the text for the user, which the guardrail accepts."""
        self._refusals[turn.session] = text = turn.refusal(error, draft)
        return text

    def expect(self, items: Any, context: RunContextWrapper[Any]) -> None:
        """Note the context of a request's items, which a model does not receive."""
        request = self._requests[id(items)] = _Request(items, weakref.ref(context))
        self._last.put(context, request)

    def request_context(self, items: Any) -> RunContextWrapper[Any] | None:
        """Return the context of the run that asks the model with these items."""
        request = self._requests.get(id(items))
        return None if request is None else request.context()

    def require_checked(self, context: RunContextWrapper[Any], output: Any) -> None:
        """Raise the GLError of an answer that another model than the agent's gave, or a tool."""
        session = self.session(context)
        if (
            isinstance(output, str)
            and not session.was_shown(output)
            and self._refusals.get(session) != output
        ):
            kit.check_final(session, output)


class _Hooks(AgentHooks[Any]):
    """The agent's own hooks, and two of the gate: before each request to the model, and before the run returns."""

    def __init__(self, own: AgentHooks[Any] | None, gate: _Agents) -> None:
        self._own, self._gate = own, gate

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("on_") and name not in _GATED_HOOKS and self._own is not None:
            return getattr(self._own, name)
        return object.__getattribute__(self, name)

    async def on_llm_start(
        self, context: RunContextWrapper[Any], agent: Any, system_prompt: str | None, input_items: Any
    ) -> None:
        """Pass the request's context to the gate."""
        self._gate.expect(input_items, context)
        if self._own is not None:
            await self._own.on_llm_start(context, agent, system_prompt, input_items)

    async def on_end(self, context: Any, agent: Any, output: Any) -> None:
        """Raise the GLError of an answer that was not checked."""
        self._gate.require_checked(context, output)
        if self._own is not None:
            await self._own.on_end(context, agent, output)


# ------------------------------------------------------------------------------------------------------- tools


def gated(tool: FunctionTool, session: Session) -> FunctionTool:
    """Return the tool with each output recorded; the model receives the call's id, or the hint."""
    return _gated(tool, lambda context: session)


def _gated(tool: FunctionTool, session_of: Callable[[Any], Session]) -> FunctionTool:
    """Return a tool that checks its arguments and records its result."""
    invoke = tool.on_invoke_tool

    async def record(context: Any, arguments: str) -> Any:
        """Check the arguments of a call, run the tool, and record its result."""
        try:
            values = json.loads(arguments or "{}")
        except (ValueError, RecursionError):  # the SDK reports it to the model
            return await invoke(context, arguments)
        call_id = getattr(context, "tool_call_id", None)
        call = kit.ToolCall(
            session_of(context), tool.name, values, schema=tool.params_json_schema, id=call_id
        )

        def run_tool() -> Any:
            return invoke(context, json.dumps(call.arguments) if call.is_changed else arguments)

        return await kit.arun_steps(call.steps(run_tool, str, _for_model))

    record.gllint = True  # type: ignore[attr-defined]
    return replace(tool, on_invoke_tool=record)


def _for_model(call: kit.ToolCall, output: Any) -> Any:
    """Return what the model receives for an output; pictures and files stay as they are. Raises GLError."""
    items = output if isinstance(output, list) else [output]
    files = [item for item in items if isinstance(item, _FILES)]
    data = [item.text if isinstance(item, ToolOutputText) else item for item in items if item not in files]
    if not data:
        return output
    if files or isinstance(output, ToolOutputText):
        reply = call.text(kit.read_blocks(call.session, data))
    else:
        reply = call.text(output)
    if reply is None:
        return output
    return [ToolOutputText(text=reply), *files] if files else reply


# ------------------------------------------------------------------------------------------------------- model


class _GatedOutput(AgentOutputSchemaBase):
    """A structured answer that is read once, while its session is at hand, and given when the runner reads it."""

    def __init__(self, own: AgentOutputSchemaBase) -> None:
        self._own = own
        self._answers = kit.Answers()

    def is_plain_text(self) -> bool:
        """Delegated to the answer's own type."""
        return self._own.is_plain_text()

    def name(self) -> str:
        """Delegated to the answer's own type."""
        return self._own.name()

    def json_schema(self) -> dict[str, Any]:
        """Delegated to the answer's own type."""
        return self._own.json_schema()

    def is_strict_json_schema(self) -> bool:
        """Delegated to the answer's own type."""
        return self._own.is_strict_json_schema()

    def read(self, session: Session, text: str) -> None:
        """Check a structured answer while its session is known; the runner reads it later. Raises GLError."""
        with kit.using(session):
            try:
                answer = self._own.validate_json(text)
            except ModelBehaviorError as error:
                raise GLValidationError(
                    "STEP_SCHEMA", str(error), f"Answer by the schema {self.name()}."
                ) from error
            self._answers.put(
                session,
                [text],
                (kit.checked_structure(session, answer, getattr(self._own, "output_type", None)),),
            )

    def validate_json(self, json_str: str) -> Any:
        """Return the answer that :meth:`read` has checked. Raises ModelBehaviorError."""
        if (checked := self._answers.get(json_str)) is None:
            raise ModelBehaviorError("The answer was not checked: another model than the agent's gave it")
        return checked[0]


class _GatedModel(Model):
    """A model that is asked until its answer passes."""

    def __init__(self, own: Model | str | None, gate: _Agents) -> None:
        self._own, self.gate = own, gate
        self.defaults = ModelSettings()
        if not isinstance(own, Model):
            _note_providers()

    def _model(self) -> Model:
        if isinstance(self._own, Model):
            return self._own
        if (provider := _PROVIDER.get(None)) is None:
            raise UserError(
                f"The gate does not know the provider of the model {self._own!r} in this run: a runner was set after "
                "gate(agent). Call gate after that, or give the agent a Model: provider.get_model(name)"
            )
        return provider.get_model(self._own)

    async def close(self) -> None:
        """Close the model itself."""
        if isinstance(self._own, Model):
            await self._own.close()

    def get_retry_advice(self, request: Any) -> Any:
        """Delegated to the model itself."""
        return self._model().get_retry_advice(request)

    async def get_response(
        self,
        system_instructions: Any,
        input: Any,
        model_settings: Any,
        tools: Any,
        output_schema: Any,
        *rest: Any,
        **options: Any,
    ) -> ModelResponse:
        """Return the model's answer, asked for until it passes."""
        turn = _Turn(self.gate, system_instructions, input, tools, output_schema, options)
        model_settings = self.defaults.resolve(model_settings)
        usage = None
        while True:
            response = await self._model().get_response(
                system_instructions, turn.input, model_settings, tools, output_schema, *rest, **turn.options
            )
            if usage is not None:
                response.usage.add(usage)
            usage = response.usage
            output = turn.accept(response.output, response.response_id)
            if output is not None:
                return replace(response, output=output)

    async def stream_response(
        self,
        system_instructions: Any,
        input: Any,
        model_settings: Any,
        tools: Any,
        output_schema: Any,
        *rest: Any,
        **options: Any,
    ) -> AsyncIterator[Any]:
        """Yield the events of the model's answer, its text by checked sentences, asked for until it passes."""
        turn = _Turn(self.gate, system_instructions, input, tools, output_schema, options)
        model_settings = self.defaults.resolve(model_settings)
        usage: Any = None
        first = True
        while True:
            stream = _Stream(turn)
            async for event in self._model().stream_response(
                system_instructions, turn.input, model_settings, tools, output_schema, *rest, **turn.options
            ):
                if isinstance(event, ResponseCompletedEvent):
                    response = event.response
                    usage = _added(usage, response.usage)
                    output = turn.accept(response.output or stream.items, response.id)
                    if output is None:
                        break
                    for last in stream.ending(output):
                        yield last
                    final = response.model_copy(update={"output": output, "usage": usage})
                    yield event.model_copy(update={"response": final})
                    return
                for shown_parts in stream.shown_parts(event, first):
                    yield shown_parts
            else:  # it says itself how it ended
                return
            first = False


def _added(usage: Any, usage_added: Any) -> Any:
    """Return the token counts of two requests together."""
    if usage is None or usage_added is None:
        return usage_added or usage
    return usage_added.model_copy(
        update={
            name: getattr(usage, name) + getattr(usage_added, name)
            for name in ("input_tokens", "output_tokens", "total_tokens")
        }
    )


class _Turn:
    """The model's turn: its input, and whether its answer passes."""

    def __init__(
        self,
        agents: _Agents,
        instructions: Any,
        items: Any,
        tools: Any,
        output_schema: Any,
        options: Mapping[str, Any],
    ) -> None:
        """Begin a turn from the arguments of a request to the model."""
        self.agents, self.options = agents, dict(options)
        self._is_stored = bool(options.get("previous_response_id") or options.get("conversation_id"))
        is_gated: dict[str, bool] = {
            tool.name: getattr(getattr(tool, "on_invoke_tool", None), "gllint", False) for tool in tools
        }
        history = [*_history(instructions, items, is_gated), *([kit.Answer()] if self._is_stored else [])]
        self.session = agents.session(agents.request_context(items), history, options.get("conversation_id"))
        self.kit = kit.Turn(agents.gate, self.session)
        self.input = _with_foreign_results(self.session, items, is_gated)
        is_structured = isinstance(output_schema, _GatedOutput) and not output_schema.is_plain_text()
        self.structure: _GatedOutput | None = output_schema if is_structured else None

    def accept(self, output: list[Any], response_id: str | None) -> list[Any] | None:
        """Return the items of an answer as they may be shown; ``None`` if the model has to be asked again:
        ``input`` and ``options`` are then those of the next request.

        Raises GLError for a structured answer after the last repair.
        """

        def refused(error: GLError) -> list[Any]:
            text = self.agents.refusal(self.kit, error, _words(output, ResponseOutputText))
            return _with_words(_with_words(output, ResponseOutputText, text), ResponseOutputRefusal, text)

        checked = self.kit.attempt(lambda: self._checked(output), None if self.structure else refused)
        if checked is None:
            hint = {"role": "user", "content": self.kit.hint}
            if self._is_stored:  # the server has the history and the draft: only the hint is sent
                self.input = [hint]
                if self.options.get("previous_response_id"):
                    self.options["previous_response_id"] = response_id
            else:
                drafts = [
                    item.model_dump(exclude_unset=True) if hasattr(item, "model_dump") else item
                    for item in output
                ]
                self.input = [*_as_list(self.input), *drafts, hint]
        return checked

    def _checked(self, output: list[Any]) -> list[Any]:
        """Return the output with its text checked. Raises :class:`GLError`."""
        text = _words(output, ResponseOutputText)
        if refusal := _words(output, ResponseOutputRefusal):
            self.session.check(refusal)
        if not text:
            return output
        if any(isinstance(item, ResponseFunctionToolCall) for item in output):
            return _with_words(output, ResponseOutputText, self.kit.text(text, calls_tools=True) or "")
        if self.structure is not None:
            self.structure.read(self.session, text)
            return output
        return _with_words(output, ResponseOutputText, kit.check_final(self.session, text).message)


class _Stream:
    """The events of one answer: text by sentences, its end once the whole passes, reasoning never."""

    def __init__(self, turn: _Turn) -> None:
        self._turn = turn
        self._text: Any = None
        self._refusal: Any = None
        self._ends: list[Any] = []
        self.items: list[Any] = []

    def shown_parts(self, event: Any, first: bool) -> Iterator[Any]:
        """Yield the parts of an event that may be shown now."""
        kind = getattr(event, "type", "")
        if kind == "response.output_text.delta":
            self._text = event
            if self._turn.structure is None and (text := self._turn.kit.feed(event.delta)):
                yield event.model_copy(update={"delta": text, "logprobs": []})
            return
        if kind == "response.refusal.delta":
            self._refusal = event
            return
        if kind in ("response.incomplete", "response.failed"):
            output = _with_words(event.response.output or [], ResponseOutputText, "")
            output = _with_words(output, ResponseOutputRefusal, "")
            yield event.model_copy(update={"response": event.response.model_copy(update={"output": output})})
            return
        item = getattr(event, "item", None)
        if kind == "response.output_item.done":
            self.items.append(item)
        if kind == "response.output_item.added" and isinstance(item, ResponseOutputMessage):
            yield event.model_copy(update={"item": item.model_copy(update={"content": []})})
        elif kind == "response.content_part.added" and isinstance(event.part, _PARTS):
            yield event.model_copy(update={"part": _with_text(event.part, "")})
        elif kind in _ENDS or (
            kind == "response.output_item.done" and isinstance(item, ResponseOutputMessage)
        ):
            self._ends.append(event)
        elif kind.startswith("response.reasoning"):
            return
        elif first or kind not in ("response.created", "response.in_progress", "response.queued"):
            yield event

    def ending(self, output: list[Any]) -> Iterator[Any]:
        """Yield the rest of the text, and the events that end it, with the checked text."""
        text = _words(output, ResponseOutputText)
        rest = self._turn.kit.rest(text)
        if rest and isinstance(self._text, ResponseTextDeltaEvent):
            yield self._text.model_copy(update={"delta": rest, "logprobs": []})
        refusal = _words(output, ResponseOutputRefusal)
        if refusal and self._refusal is not None:
            yield self._refusal.model_copy(update={"delta": refusal})
        messages = {item.id: item for item in output if isinstance(item, ResponseOutputMessage)}
        for event in self._ends:
            if event.type == "response.output_item.done":
                yield event.model_copy(update={"item": messages.get(event.item.id, event.item)})
            elif event.type == "response.output_text.done":
                yield event.model_copy(update={"text": text, "logprobs": []})
            elif event.type == "response.refusal.done":
                yield event.model_copy(update={"refusal": refusal})
            elif isinstance(event.part, _PARTS):
                words = text if isinstance(event.part, ResponseOutputText) else refusal
                yield event.model_copy(update={"part": _with_text(event.part, words)})


# ------------------------------------------------------------------------------------------------------- items


def _as_list(items: Any) -> Sequence[Any]:
    return [{"role": "user", "content": items}] if isinstance(items, str) else items


def _kind(item: Any) -> Any:
    kind = item.get("type") if isinstance(item, Mapping) else None
    return item.get("role") if isinstance(item, Mapping) and kind in (None, "message") else kind


def _history(instructions: Any, items: Any, is_gated: Mapping[str, bool]) -> Iterator[kit.Event]:
    """Yield the items of a conversation as its events, without results of tools that have no gate."""
    prompts = [
        *([instructions] if isinstance(instructions, str) else []),
        *_texts(items, "system", "developer"),
    ]
    yield from (kit.UserText(text, "prompt") for text in prompts)
    yield from map(kit.UserText, _user_texts(items))
    calls: dict[Any, Any] = {}
    for item in () if isinstance(items, str) else items:
        kind = _kind(item)
        if kind == "function_call":
            calls[item.get("call_id")] = item.get("name")
            yield kit.ToolUse(item.get("call_id"), item.get("name"), item.get("arguments"))
        elif (
            kind == "function_call_output" and is_gated.get(calls.get(item.get("call_id")) or "") is not False
        ):
            yield kit.ToolReply(item.get("call_id"), None, _result_texts(item))
        if kind in ("function_call", "assistant"):
            yield kit.Answer()


def _result_texts(item: Any) -> list[Any]:
    output = item.get("output")
    return (
        [output]
        if isinstance(output, str)
        else [p.get("text") for p in output or () if isinstance(p, Mapping)]
    )


def _with_foreign_results(session: Session, items: Any, is_gated: Mapping[str, bool]) -> Any:
    """Return the items as the model receives them, and record the results of tools that the gate does not run.

    Such tools belong to MCP servers or to the provider. Their results are recorded even if the session has a
    result with the same call id, which the model could have written itself.
    """
    if isinstance(items, str):
        return items
    calls: dict[Any, Any] = {item.get("call_id"): item for item in items if _kind(item) == "function_call"}
    return [
        _recorded(session, item, calls.get(item.get("call_id"), {}), is_gated)
        if _kind(item) == "function_call_output"
        else item
        for item in items
    ]


def _recorded(session: Session, item: Any, call: Any, is_gated: Mapping[str, bool]) -> Any:
    """Return an item with the result of a tool without a gate as the model receives it, recorded once."""
    output, call_id, name = item.get("output"), item.get("call_id"), call.get("name")
    if is_gated.get(name or "") or name is None or not isinstance(output, str):
        return item
    if is_gated.get(name) is None and session.told_of(call_id) is not None:  # of the history
        return item
    arguments: Any = {}
    with suppress(ValueError, RecursionError):
        arguments = json.loads(call.get("arguments") or "{}")
    reply = session.told_of(call_id)
    try:
        if reply is None:
            reply = kit.recorded(session, name, arguments, output, tool_call_id=call_id)
    except GLError as error:
        return {**item, "output": Session.repair_hint(error)}
    return item if session.mode == "sourced" else {**item, "output": json.dumps(reply, ensure_ascii=False)}


def _words(output: list[Any], kind: type[Any]) -> str:
    """Return the text of the parts of one kind: the answer, or the model's refusal to answer."""
    messages = (item for item in output if isinstance(item, ResponseOutputMessage))
    parts = (part for item in messages for part in item.content if isinstance(part, kind))
    return "".join(part.text if kind is ResponseOutputText else part.refusal for part in parts)


def _with_words(output: list[Any], kind: type[Any], text: str) -> list[Any]:
    """Return the items with ``text`` for their first part of a kind and ``""`` for the others; all else stays."""
    if _words(output, kind) == text:
        return output
    rest = [text]

    def changed(part: Any) -> Any:
        return _with_text(part, rest.pop() if rest else "") if isinstance(part, kind) else part

    return [
        item.model_copy(update={"content": [*map(changed, item.content)]})
        if isinstance(item, ResponseOutputMessage)
        else item
        for item in output
    ]


def _with_text(part: Any, text: str) -> Any:
    """Return a part of a message with another text or refusal, and without the probabilities of its own tokens."""
    is_answer = isinstance(part, ResponseOutputText)
    return part.model_copy(update={"text": text, "logprobs": None} if is_answer else {"refusal": text})


def _user_texts(items: Any) -> Iterator[str]:
    """Yield the texts of the user in the input of ``Runner.run``: a text, or items."""
    if isinstance(items, str):
        yield items
    yield from _texts(items, "user")


def _texts(items: Any, *roles: str) -> Iterator[str]:
    """Yield the texts of the items that have one of some roles."""
    for item in () if isinstance(items, str) else items:
        if isinstance(item, Mapping) and item.get("role") in roles:
            content = item.get("content") or ()
            parts = [content] if isinstance(content, str) else [part.get("text") for part in content]
            yield from (part for part in parts if isinstance(part, str))


# ----------------------------------------------------------------------------- for agents that are put together


def guardrail(session: Session) -> OutputGuardrail[Any]:
    """Return a guardrail that ends the run if the final output may not be shown.

    Its ``output_info`` is the Verified, or the error as data.
    """

    def check(context: RunContextWrapper[Any], agent: Agent[Any], output: Any) -> GuardrailFunctionOutput:
        try:
            return GuardrailFunctionOutput(kit.check_final(session, output), tripwire_triggered=False)
        except GLError as error:
            return GuardrailFunctionOutput(error.to_dict(), tripwire_triggered=True)

    return OutputGuardrail(check, name="gllint")


async def run(
    agent: Agent[Any], user: Any, session: Session, *, max_retries: int = 2, **options: Any
) -> Verified:
    """Run an agent until its answer passes, and return that. Raises GLError after ``max_retries``.

    ``user`` is what the user says, or the items of a conversation that ends with it; ``options`` go to
    ``Runner.run``. It is for an agent whose tools are :func:`gated`; an agent of :func:`gate` is run by ``Runner``
    itself.
    """
    begins = isinstance(user, str) or not any(_kind(item) in ("function_call", "assistant") for item in user)
    # Rejects a session that has served another conversation.
    kit.session_for(session, None, begins=begins and options.get("session") is None)
    if text := "\n".join(_user_texts(user)):
        kit.hear(session, [text])
    items: Any = user
    attempts = 0
    while True:
        with kit.using(session):
            result = await Runner.run(agent, items, **options)
        try:
            return kit.check_final(session, result.final_output)
        except GLError as error:
            if attempts >= max_retries:
                raise
            attempts += 1
            items = [*result.to_input_list(), {"role": "user", "content": session.repair_hint(error)}]

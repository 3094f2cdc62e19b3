"""LlamaIndex: a gate around an agent or an AgentWorkflow. Needs ``gllint[llama-index]``.

agent = gate(FunctionAgent(tools=[meter], llm=llm, system_prompt=INSTRUCTIONS))
answer = await agent.run("How much heat?")

The memory of a conversation is its session: what a tool returned stands in it with the id that claims cite. So a
``Context``, a ``Memory`` or a list of messages is all that a conversation needs to go on.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any

from llama_index.core.agent.utils import messages_to_xml_format
from llama_index.core.agent.workflow import AgentWorkflow, ReActAgent
from llama_index.core.agent.workflow.base_agent import BaseWorkflowAgent
from llama_index.core.agent.workflow.workflow_events import (
    AgentInput,
    AgentOutput,
    AgentStream,
    ToolCall,
    ToolCallResult,
)
from llama_index.core.llms import ChatMessage, TextBlock
from llama_index.core.tools import ToolOutput
from llama_index.core.workflow import Context, StopEvent, step
from pydantic import BaseModel

from gllint_runtime.adapters import kit
from gllint_runtime.execution.session import Session
from gllint_runtime.policy.errors import GLError, GLRuntimeError, GLValidationError
from gllint_runtime.policy.schemas import Quantity

_OBSERVATION = re.compile(r'^Observation: (\{"tool_call_id".*)$', re.MULTILINE)


def gate(
    target: Any,
    *,
    session: kit.SessionOption = None,
    max_retries: int = 2,
    on_refusal: kit.OnRefusal = None,
) -> Any:
    """A copy of the agent or AgentWorkflow, its tools recorded and its answers checked before they reach anybody.

    Agents of the workflow are gated with it, and share its session. ``session`` is the conversation's, or a function
    that is given a :class:`Run` and finds it. Where repairs run out, the answer is what ``on_refusal`` says; a
    structured one raises the GLError. Raises TypeError for an ``output_cls`` in which a number needs no claim.
    """
    if not isinstance(target, BaseWorkflowAgent | AgentWorkflow):
        raise TypeError(f"gate takes an agent or an AgentWorkflow, not {type(target).__name__}")
    way = _Way(session, max_retries, on_refusal)
    if isinstance(target, BaseWorkflowAgent):
        return _gated(target, _GatedAgent, way, target)
    twin = _gated(target, _GatedWorkflow, way, target.agents[target.root_agent])
    twin.agents = {name: _gated(agent, _GatedAgent, way, agent) for name, agent in target.agents.items()}
    return twin


def _gated(target: Any, mixin: type, way: _Way, agent: Any) -> Any:
    """A copy of the target whose class has the gate in it."""
    twin = copy.copy(target)
    own = type(target)
    meta: Any = type(own)
    twin.__class__ = meta(f"Gated{own.__name__}", (mixin, own), {"__module__": __name__})
    object.__setattr__(twin, "_gllint", way)
    if target.output_cls is not None:
        kit.require_claims(target.output_cls, target.output_cls.__name__)
        twin.structured_output_fn = way.structured(target.output_cls, agent)
        twin.output_cls = None
    return twin


class Run:
    """One run: the agent or workflow, its Context if it was given one, and what else ``run`` was given."""

    def __init__(self, target: Any, context: Context | None, options: dict[str, Any]) -> None:
        self.target, self.context, self.options = target, context, options
        self.session: Session | None = None
        self.error: GLError | None = None


_RUN: ContextVar[Run] = ContextVar("gllint_llama_index_run")
_TOOL_ID: ContextVar[str | None] = ContextVar("gllint_llama_index_tool_id", default=None)


class _Way:
    """What a gate was told, and how it judges."""

    def __init__(self, session: kit.SessionOption, max_retries: int, on_refusal: kit.OnRefusal) -> None:
        self.option, self.max_retries, self.on_refusal = session, max_retries, on_refusal

    def session(self, messages: Iterable[Any] = (), memory: Any = None) -> Session:
        """The session of the run, with what its messages hold."""
        run = _RUN.get(None)
        if run is None:
            raise GLRuntimeError(
                "PROVIDER_FAILED", "The gate was left out: gate the workflow that runs this agent"
            )
        history = [*messages]
        if run.session is None:
            begins = not any(message.role.value == "assistant" for message in history)
            conversation = getattr(memory, "session_id", None)
            run.session = kit.session_for(self.option, run, conversation=conversation, begins=begins)
        _restore(run.session, history)
        return run.session

    def structured(self, form: Any, agent: Any) -> Any:
        """What gives a structured answer from the messages of a conversation, checked."""

        async def structured_output(messages: list[Any]) -> dict[str, Any]:
            session = self.session()
            system = [ChatMessage(role="system", content=agent.system_prompt)] if agent.system_prompt else []
            prompt = messages_to_xml_format([*system, *messages])
            llm = agent.llm.as_structured_llm(form)
            for attempt in range(self.max_retries + 1):
                try:
                    try:
                        with kit.using(session):
                            answer = (await llm.achat(messages=prompt)).raw
                    except (TypeError, ValueError) as error:  # it does not fit
                        wrong = f"The answer does not fit {form.__name__}: {str(error)[:2000]}"
                        raise GLValidationError("STEP_SCHEMA", wrong) from None
                    answer = kit.checked_structure(session, answer, form)
                    return {name: getattr(answer, name) for name in form.model_fields}
                except GLError as error:
                    if attempt >= self.max_retries:
                        _RUN.get().error = error
                        raise
                    prompt = [*prompt, ChatMessage(role="user", content=Session.repair_hint(error))]
            raise AssertionError

        return structured_output


# ---------------------------------------------------------------------------------------- agents and workflows


class _Gated:
    """What an agent and a workflow of agents do the same way."""

    _gllint: _Way

    def run(self, *arguments: Any, **options: Any) -> Any:
        """Run it, under a session that its steps, tools and sub-agents find."""
        context = options.get("ctx") or next((item for item in arguments if isinstance(item, Context)), None)
        with kit.binding(_RUN, Run(self, context, options)):
            return super().run(*arguments, **options)  # type: ignore[misc]

    @step  # type: ignore[untyped-decorator]
    async def call_tool(self, ctx: Context, ev: ToolCall) -> ToolCallResult:
        """Call a tool; its id is what the model has for the call."""
        with kit.binding(_TOOL_ID, ev.tool_id):
            return await super().call_tool(ctx, ev)  # type: ignore[misc]

    @step  # type: ignore[untyped-decorator]
    async def parse_agent_output(
        self, ctx: Context, ev: AgentOutput
    ) -> StopEvent | AgentInput | ToolCall | None:
        """End a run, or go on with the tools that the model calls. Raises the GLError of a structured answer."""
        result = await super().parse_agent_output(ctx, ev)  # type: ignore[misc]
        if error := _RUN.get().error:
            raise error
        return result

    async def _call_tool(self, ctx: Context, tool: Any, tool_input: dict[str, Any]) -> ToolOutput:
        name = tool.metadata.get_name()
        if name == "handoff":
            return await super()._call_tool(ctx, tool, tool_input)  # type: ignore[misc]
        session = self._gllint.session()
        try:
            schema = tool.metadata.get_parameters_dict() if tool.metadata.fn_schema else None
            arguments = session.tool_arguments(name, tool_input, args_schema=schema)
            with kit.using(session):
                output = await super()._call_tool(  # type: ignore[misc]
                    ctx, tool, dict(arguments) if arguments.changes else tool_input
                )
            return output if output.is_error else _recorded(session, tool, arguments, output)
        except GLError as error:
            hint = Session.repair_hint(error)
            return ToolOutput(
                content=hint, tool_name=name, raw_input=tool_input, raw_output=None, is_error=True
            )

    async def _get_llm_response(self, ctx: Context, llm_input: list[Any], *rest: Any, **options: Any) -> Any:
        """The model's last answer where iterations ran out."""
        way = self._gllint
        session = way.session(llm_input)
        prompt, prefix = llm_input, ""
        for attempt in range(way.max_retries + 1):
            turn = _Turn(ctx, session, prefix, is_first=not attempt, by_sentences=True)
            response = await super()._get_llm_response(turn, prompt, *rest, **options)  # type: ignore[misc]
            try:
                response.message = _checked(session, response.message, is_call=False)
            except GLError as error:
                prefix = turn.prefix
                if attempt < way.max_retries:
                    hint = ChatMessage(role="user", content=Session.repair_hint(error))
                    prompt = [*prompt, response.message, hint]
                    continue
                response.raw = None
                response.message = _with_text(response.message, kit.refusal(way.on_refusal, error))
            turn.end(response.message.content or "")
            return response
        raise AssertionError


class _GatedWorkflow(_Gated):
    """A workflow of agents."""


class _GatedAgent(_Gated):
    """An agent, whose model is asked until its answer holds."""

    async def take_step(self, ctx: Any, llm_input: list[Any], tools: Any, memory: Any) -> AgentOutput:
        """Ask the model; what stays of its answer was checked."""
        way, key = self._gllint, _key(self)
        earlier = [] if key is None else [*await ctx.store.get(key, default=[])]
        session = way.session([*llm_input, *(m for m in earlier if isinstance(m, ChatMessage))], memory)
        prompt = llm_input
        hints: list[Any] = []
        prefix = ""
        is_react = isinstance(self, ReActAgent)
        for attempt in range(way.max_retries + 1):
            turn = _Turn(ctx, session, prefix, is_first=not attempt, by_sentences=not is_react)
            if key is not None:
                await ctx.store.set(key, [*earlier, *hints])
            with kit.using(session):
                output: AgentOutput = await super().take_step(turn, prompt, tools, memory)  # type: ignore[misc]
            steps = [] if key is None else (await ctx.store.get(key, default=[]))[len(earlier) + len(hints) :]
            try:
                if output.retry_messages:  # ReAct tells the model by itself what it could not read
                    output.response = _with_text(output.response, "")
                elif is_react:
                    _check_reasoning(session, steps)
                    answer = steps[-1].response if steps and steps[-1].is_done else ""
                    output.response = _with_text(output.response, answer and f"Answer: {answer}")
                else:
                    output.response = _checked(session, output.response, is_call=bool(output.tool_calls))
                    steps = [output.response, *steps[1:]]
            except GLError as error:
                hint, prefix = Session.repair_hint(error), turn.prefix
                if attempt < way.max_retries:
                    if key is None:
                        prompt = [*prompt, output.response, ChatMessage(role="user", content=hint)]
                    else:
                        hints = [
                            *hints,
                            *steps,
                            _observation(hint) if is_react else ChatMessage(role="user", content=hint),
                        ]
                    continue
                text = kit.refusal(way.on_refusal, error)
                output.raw = None
                output.response = _with_text(output.response, f"Answer: {text}" if is_react else text)
                if is_react:
                    steps[-1].thought, steps[-1].response = "", text
                else:
                    steps = [output.response, *steps[1:]]
            if key is not None:
                await ctx.store.set(key, [*earlier, *steps])
            turn.end(
                (output.response.content or "").removeprefix("Answer: ") if not output.retry_messages else ""
            )
            return output
        raise AssertionError


def _key(agent: Any) -> str | None:
    """Where an agent keeps what it said and saw in this run."""
    return getattr(agent, "reasoning_key", None) or getattr(agent, "scratchpad_key", None)


def _observation(hint: str) -> Any:
    from llama_index.core.agent.react.types import ObservationReasoningStep

    return ObservationReasoningStep(observation=hint)


def _check_reasoning(session: Session, steps: list[Any]) -> None:
    """Check the answer of a ReAct agent; a thought that does not hold is left out. Raises GLError."""
    for part in steps:
        if part.is_done:
            part.response = kit.check_final(session, part.response).message
        if session.verify(getattr(part, "thought", "")).status != "success":
            part.thought = ""


class _Turn:
    """The context of one answer: of what the model streams, the sentences that hold are passed on."""

    def __init__(
        self, ctx: Any, session: Session, prefix: str, *, is_first: bool, by_sentences: bool
    ) -> None:
        self._ctx, self.prefix = ctx, prefix
        # What an answer that broke off has shown stays; the next one comes behind it once it holds.
        self._is_first, self._by_sentences = is_first, by_sentences and not prefix
        self._stream = kit.FinalStream(session)
        self._last: AgentStream | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)

    def write_event_to_stream(self, event: Any) -> None:
        """Tell what of an event may be shown now."""
        if isinstance(event, AgentStream):
            self._last = event
            if self._by_sentences and (text := self._stream.feed(event.delta)):
                self.prefix += text
                self._tell(text, self.prefix, [])
        elif self._is_first or not isinstance(event, AgentInput):
            self._ctx.write_event_to_stream(event)

    def end(self, text: str) -> None:
        """Tell the rest."""
        if self._last is not None:
            self._tell(kit.rest_of(text, self.prefix), text, self._last.tool_calls)

    def _tell(self, delta: str, response: str, tool_calls: list[Any]) -> None:
        new = {
            "delta": delta,
            "response": response,
            "tool_calls": tool_calls,
            "raw": None,
            "thinking_delta": None,
        }
        self._ctx.write_event_to_stream(self._last.model_copy(update=new))  # type: ignore[union-attr]


# ---------------------------------------------------------------------------------------- messages and results


def _checked(session: Session, message: ChatMessage, *, is_call: bool) -> ChatMessage:
    """What the model said, as it may be shown: all but its text stays. Raises GLError."""
    text = message.content or ""
    if is_call:
        return message if session.verify(text).status == "success" else _with_text(message, "")
    return _with_text(message, kit.check_final(session, text).message)


def _with_text(message: ChatMessage, text: str) -> ChatMessage:
    """The message with ``text`` in the place of its first text; all else stays."""
    if (message.content or "") == text:
        return message
    blocks: list[Any] = []
    for block in message.blocks:
        if not isinstance(block, TextBlock):
            blocks.append(block)
        elif text:
            blocks.append(block.model_copy(update={"text": text}))
            text = ""
    return message.model_copy(update={"blocks": [*blocks, TextBlock(text=text)] if text else blocks})


def _restore(session: Session, messages: list[Any]) -> None:
    """Give a session what the messages of a conversation hold."""
    calls: dict[Any, Any] = {}
    for message in messages:
        role, text = message.role.value, message.content or ""
        for block in message.blocks:
            if block.block_type == "tool_call":
                calls[block.tool_call_id] = block
        if role == "user":
            kit.hear(session, [text])
        elif role == "tool":
            call_id = message.additional_kwargs.get("tool_call_id")
            call = calls.get(call_id)
            name = "tool" if call is None else call.tool_name
            kit.restore(session, name, getattr(call, "tool_kwargs", None), text, tool_call_id=call_id)
        elif role == "assistant":  # of a ReAct agent, with what it saw
            for reply in _OBSERVATION.findall(text):
                kit.restore(session, "tool", None, reply)


def _recorded(session: Session, tool: Any, arguments: Any, output: ToolOutput) -> ToolOutput:
    """A tool's output as the model is told it; pictures and files stay as they are. Raises GLError."""
    files = [block for block in output.blocks if not isinstance(block, TextBlock)]
    value = _value(session, output)
    if value is None and files:
        return output
    reply = kit.recorded(session, tool.metadata.get_name(), arguments, value, tool_call_id=_TOOL_ID.get())
    if tool.metadata.return_direct:  # the tool's own words are the answer
        return output
    text = TextBlock(text=json.dumps(reply, ensure_ascii=False))
    return ToolOutput(
        blocks=[text, *files],
        tool_name=output.tool_name,
        raw_input=output.raw_input,
        raw_output=output.raw_output,
    )


def _value(session: Session, output: ToolOutput) -> Any:
    """What a tool returned, as data where it is such, else its text."""
    raw = output.raw_output
    data = getattr(raw, "structuredContent", None) or getattr(raw, "structured_content", None)
    if data is not None:
        return data
    items = raw if isinstance(raw, list | tuple) else [raw]
    is_blocks = any(hasattr(item, "block_type") or hasattr(item, "get_content") for item in items)
    is_data = isinstance(raw, dict | list | tuple | int | float | Quantity | BaseModel) and not is_blocks
    if is_data and not hasattr(raw, "isError"):
        return raw
    texts = [block.text for block in output.blocks if isinstance(block, TextBlock)]
    return kit.block_data([kit.read_output(session, text) for text in texts]) if texts else None

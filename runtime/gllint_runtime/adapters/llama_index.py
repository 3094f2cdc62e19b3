"""LlamaIndex: a gate around an agent or an AgentWorkflow. Needs ``gllint[llama-index]``.

agent = gate(FunctionAgent(tools=[meter], llm=llm, system_prompt="…"))
answer = await agent.run("How much heat?")

The memory of a conversation is its session: what tools returned is in it. So a ``Context``, a ``Memory`` or a list of
messages is all that a conversation needs to go on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar, Unpack, cast

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

_OBSERVATION = re.compile(r"^Observation: (.*)$", re.MULTILINE)


TargetT = TypeVar("TargetT", bound=BaseWorkflowAgent | AgentWorkflow)


def gate(target: TargetT, **options: Unpack[kit.GateOptions]) -> TargetT:
    """Return a copy of the agent or AgentWorkflow that records its tools' results and checks its answers before
    anyone sees them.

    Agents of the workflow are gated with it, and share its session. ``session`` is the conversation's, or a
    function that is given a :class:`Run` and returns it. After the last repair, the answer is what ``on_refusal``
    says; a structured one raises the GLError. Raises TypeError for an ``output_cls`` in which a number needs no
    claim.
    """
    if not isinstance(target, BaseWorkflowAgent | AgentWorkflow):
        raise TypeError(f"gate takes an agent or an AgentWorkflow, not {type(target).__name__}")
    new_gate = kit.Gate.of(options)
    if isinstance(target, BaseWorkflowAgent):
        return cast(TargetT, _gated(target, _GatedAgent, new_gate, target))
    twin = _gated(target, _GatedWorkflow, new_gate, target.agents[target.root_agent])
    twin.agents = {name: _gated(agent, _GatedAgent, new_gate, agent) for name, agent in target.agents.items()}
    return cast(TargetT, twin)


def _gated(target: Any, mixin: type, gate: kit.Gate, agent: Any) -> Any:
    """Return a gated copy of the target; its structured answer is asked for by the gate."""
    twin = kit.twin(target, mixin, _gllint=gate)
    if target.output_cls is not None:
        gate.require_claims(target.output_cls)
        twin.structured_output_fn = _structured(gate, target.output_cls, agent)
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


def _session(gate: kit.Gate, messages: Iterable[Any] = (), memory: Any = None) -> Session:
    """Return the session of the run, with ``messages`` read into it."""
    run = _RUN.get(None)
    if run is None:
        raise GLRuntimeError(
            "PROVIDER_FAILED", "The gate was left out: gate the workflow that runs this agent"
        )
    history = [*_history(messages)]
    if run.session is None:
        run.session = gate.conversation(run, history, conversation=getattr(memory, "session_id", None))
    else:
        kit.read_history(run.session, history)
    return run.session


def _structured(gate: kit.Gate, form: Any, agent: Any) -> Any:
    """Return the function that asks for a structured answer to a conversation until it passes."""

    async def structured_output(messages: list[Any]) -> dict[str, Any]:
        """Ask for a structured answer until it passes."""
        session = _session(gate)
        system = [ChatMessage(role="system", content=agent.system_prompt)] if agent.system_prompt else []
        prompt = messages_to_xml_format([*system, *messages])
        llm = agent.llm.as_structured_llm(form)
        turn = kit.Turn(gate, session)
        while True:
            raw = wrong = None
            try:
                with kit.using(session):
                    raw = (await llm.achat(messages=prompt)).raw
            except (TypeError, ValueError) as error:  # it does not fit
                wrong = f"The answer does not fit {form.__name__}: {str(error)[:2000]}"
            try:
                answer = turn.attempt(partial(_checked_structure, session, form, raw, wrong))
            except GLError as error:
                _RUN.get().error = error
                raise
            if answer is not None:
                return {name: getattr(answer, name) for name in form.model_fields}
            prompt = [*prompt, ChatMessage(role="user", content=turn.hint)]

    return structured_output


def _checked_structure(session: Session, form: Any, raw: Any, wrong: str | None) -> Any:
    if wrong is not None:
        raise GLValidationError("STEP_SCHEMA", wrong)
    return kit.checked_structure(session, raw, form)


# ---------------------------------------------------------------------------------------- agents and workflows


class _Gated:
    """Base of gated agents and of gated workflows of agents."""

    _gllint: kit.Gate

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
        """Return what the run does next: end, ask again, or call tools. Raises the GLError of a structured answer."""
        result = await super().parse_agent_output(ctx, ev)  # type: ignore[misc]
        if error := _RUN.get().error:
            raise error
        return result

    async def _call_tool(self, ctx: Context, tool: Any, tool_input: dict[str, Any]) -> ToolOutput:
        """Return the output of a tool, called with checked arguments, as the model receives it."""
        name = tool.metadata.get_name()
        if name == "handoff":
            return await super()._call_tool(ctx, tool, tool_input)  # type: ignore[misc]
        schema = tool.metadata.get_parameters_dict() if tool.metadata.fn_schema else None
        call = kit.ToolCall(_session(self._gllint), name, tool_input, schema=schema, id=_TOOL_ID.get())
        call_ungated = super()._call_tool  # type: ignore[misc]

        def refused(hint: str) -> ToolOutput:
            return ToolOutput(
                content=hint, tool_name=name, raw_input=tool_input, raw_output=None, is_error=True
            )

        return await kit.arun_steps(
            call.steps(
                lambda: call_ungated(ctx, tool, dict(call.arguments) if call.is_changed else tool_input),
                refused,
                partial(_recorded, tool),
            )
        )

    async def _get_llm_response(self, ctx: Context, llm_input: list[Any], *rest: Any, **options: Any) -> Any:
        """Return the model's last answer, after the iterations ran out, asked for until it passes."""
        turn = kit.Turn(self._gllint, _session(self._gllint, llm_input))
        while True:
            stream = _Stream(ctx, turn, by_sentences=True)
            response = await super()._get_llm_response(stream, llm_input, *rest, **options)  # type: ignore[misc]
            message = response.message
            text = turn.text(message.content or "")
            if text is None:
                llm_input = [*llm_input, message, ChatMessage(role="user", content=turn.hint)]
                continue
            if text != (message.content or ""):
                response.raw = None
            response.message = _with_text(message, text)
            stream.end(text)
            return response


class _GatedWorkflow(_Gated):
    """A workflow of agents."""


class _GatedAgent(_Gated):
    """An agent whose model is asked until its answer passes."""

    async def take_step(self, ctx: Any, llm_input: list[Any], tools: Any, memory: Any) -> AgentOutput:
        """Return the model's answer, asked for until it passes."""
        key = _key(self)
        earlier = [] if key is None else [*await ctx.store.get(key, default=[])]
        messages = [message for message in earlier if isinstance(message, ChatMessage)]
        session = _session(self._gllint, [*llm_input, *messages], memory)
        if self.system_prompt:  # type: ignore[attr-defined]
            session.prompt(self.system_prompt)  # type: ignore[attr-defined]
        turn = kit.Turn(self._gllint, session)
        hints: list[Any] = []
        is_react = isinstance(self, ReActAgent)
        while True:
            stream = _Stream(ctx, turn, by_sentences=not is_react)
            if key is not None:
                await ctx.store.set(key, [*earlier, *hints])
            with kit.using(session):
                output: AgentOutput = await super().take_step(stream, llm_input, tools, memory)  # type: ignore[misc]
            steps = [] if key is None else (await ctx.store.get(key, default=[]))[len(earlier) + len(hints) :]
            check = _check_react if is_react else _check_output
            checked = turn.attempt(
                partial(check, turn, output, steps), partial(_refuse, turn, output, steps, is_react)
            )
            if checked is None:
                hint = ChatMessage(role="user", content=turn.hint)
                if key is None:
                    llm_input = [*llm_input, output.response, hint]
                else:
                    hints = [*hints, *steps, _observation(turn.hint) if is_react else hint]
                continue
            if key is not None:
                await ctx.store.set(key, [*earlier, *checked])
            text = output.response.content or ""
            stream.end("" if output.retry_messages else text.removeprefix("Answer: "))
            return output


def _check_output(turn: kit.Turn, output: AgentOutput, steps: list[Any]) -> list[Any]:
    """Put the model's message as it may be shown into an output, and return what the agent keeps. Raises GLError."""
    text = output.response.content or ""
    if output.retry_messages:
        output.response = _with_text(output.response, "")
    elif output.tool_calls:
        output.response = _with_text(output.response, turn.text(text, calls_tools=True) or "")
    else:
        output.response = _with_text(output.response, kit.check_final(turn.session, text).message)
    return [output.response, *steps[1:]]


def _check_react(turn: kit.Turn, output: AgentOutput, steps: list[Any]) -> list[Any]:
    """Do the same as :func:`_check_output` for a ReAct agent, which asks again by itself for an answer that it
    cannot read.
    """
    answer = ""
    if not output.retry_messages:
        for part in steps:
            if part.is_done:
                answer = part.response = kit.check_final(turn.session, part.response).message
            if turn.session.verify(getattr(part, "thought", "")).status != "success":
                part.thought = ""
    output.response = _with_text(output.response, answer and f"Answer: {answer}")
    return steps


def _refuse(
    turn: kit.Turn, output: AgentOutput, steps: list[Any], is_react: bool, error: GLError
) -> list[Any]:
    """Put what the user sees instead of a rejected answer into an output, and return what the agent keeps."""
    text = turn.refusal(error, steps[-1].response if is_react and steps else output.response.content or "")
    output.raw = None
    output.response = _with_text(output.response, f"Answer: {text}" if is_react else text)
    if not is_react:
        return [output.response, *steps[1:]]
    steps[-1].thought, steps[-1].response = "", text
    return steps


def _key(agent: Any) -> str | None:
    """Return the key under which an agent keeps its messages of this run."""
    return getattr(agent, "reasoning_key", None) or getattr(agent, "scratchpad_key", None)


def _observation(hint: str) -> Any:
    from llama_index.core.agent.react.types import ObservationReasoningStep

    return ObservationReasoningStep(observation=hint)


class _Stream:
    """The context of one answer, which passes on the checked sentences of what the model streams."""

    def __init__(self, ctx: Any, turn: kit.Turn, *, by_sentences: bool) -> None:
        self._ctx, self._turn, self._by_sentences = ctx, turn, by_sentences
        self._is_first = not turn.attempts
        self._last: AgentStream | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)

    def write_event_to_stream(self, event: Any) -> None:
        """Pass an event on: of streamed text only the checked sentences."""
        if isinstance(event, AgentStream):
            self._last = event
            if self._by_sentences and (text := self._turn.feed(event.delta)):
                self._write_text(text, self._turn.shown, [])
        elif self._is_first or not isinstance(event, AgentInput):
            self._ctx.write_event_to_stream(event)

    def end(self, text: str) -> None:
        """Write the rest."""
        if self._last is not None:
            self._write_text(self._turn.rest(text), text, self._last.tool_calls)

    def _write_text(self, delta: str, response: str, tool_calls: list[Any]) -> None:
        """Write a piece of text to the event stream."""
        new = {
            "delta": delta,
            "response": response,
            "tool_calls": tool_calls,
            "raw": None,
            "thinking_delta": None,
        }
        self._ctx.write_event_to_stream(self._last.model_copy(update=new))  # type: ignore[union-attr]


# ---------------------------------------------------------------------------------------- messages and results


def _with_text(message: ChatMessage, text: str) -> ChatMessage:
    """Return the message with ``text`` for its first text and without its other texts; all else stays."""
    if (message.content or "") == text:
        return message
    blocks: list[Any] = kit.with_text(
        message.blocks, text, lambda block: isinstance(block, TextBlock), lambda _, new: TextBlock(text=new)
    )
    return message.model_copy(update={"blocks": blocks})


def _history(messages: Iterable[Any]) -> Iterator[kit.Event]:
    """Yield messages of LlamaIndex as events of a conversation."""
    for message in messages:
        role, text = message.role.value, message.content or ""
        for block in message.blocks:
            if block.block_type == "tool_call":
                yield kit.ToolUse(block.tool_call_id, block.tool_name, block.tool_kwargs)
        if role == "user":
            yield kit.UserText(text)
        elif role == "system":
            yield kit.UserText(text, "prompt")
        elif role == "tool":
            yield kit.ToolReply(message.additional_kwargs.get("tool_call_id"), None, text)
        elif role == "assistant":  # of a ReAct agent, with what it saw
            yield kit.Answer()
            yield from (kit.ToolReply(None, None, reply) for reply in _OBSERVATION.findall(text))


def _recorded(tool: Any, call: kit.ToolCall, output: ToolOutput) -> ToolOutput:
    """Return a tool's output as the model receives it; pictures and files stay as they are. Raises GLError."""
    if output.is_error:
        return output
    files = [block for block in output.blocks if not isinstance(block, TextBlock)]
    value = _value(call, output)
    if value is None and files:
        return output
    reply = call.text(value)
    if reply is None or tool.metadata.return_direct:  # the tool's own words are the answer
        return output
    return ToolOutput(
        blocks=[TextBlock(text=reply), *files],
        tool_name=output.tool_name,
        raw_input=output.raw_input,
        raw_output=output.raw_output,
    )


def _value(call: kit.ToolCall, output: ToolOutput) -> Any:
    """Return what a tool returned: its data if there is any, else its text."""
    raw = output.raw_output
    data = getattr(raw, "structuredContent", None) or getattr(raw, "structured_content", None)
    if data is not None:
        return data
    items = raw if isinstance(raw, list | tuple) else [raw]
    is_blocks = any(hasattr(item, "block_type") or hasattr(item, "get_content") for item in items)
    is_data = isinstance(raw, dict | list | tuple | int | float | Quantity | BaseModel) and not is_blocks
    if is_data and not hasattr(
        raw, "isError"
    ):  # a result of MCP is a model too, but its blocks are its output
        return raw
    return kit.read_blocks(
        call.session, [block.text for block in output.blocks if isinstance(block, TextBlock)]
    )

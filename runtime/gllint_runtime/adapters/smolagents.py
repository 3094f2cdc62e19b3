"""smolagents: a gate in a ToolCallingAgent or a CodeAgent, and in those it manages. Needs ``gllint[smolagents]``.

agent = gate(ToolCallingAgent(tools=[meter], model=model))
answer = agent.run("How much heat?")

The memory of an agent is its session: each step has what was recorded in it. A run that begins anew (``reset=True``)
begins with no numbers; ``run(…, reset=False)`` goes on with those of the memory.
"""

from __future__ import annotations

import typing
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar, Unpack

from smolagents import CodeAgent, MultiStepAgent
from smolagents.agent_types import AgentAudio, AgentImage
from smolagents.agents import ActionOutput, ToolCall, ToolOutput
from smolagents.local_python_executor import LocalPythonExecutor
from smolagents.memory import ActionStep, PlanningStep, TaskStep
from smolagents.models import ChatMessage, ChatMessageStreamDelta, MessageRole
from smolagents.utils import AgentError, AgentExecutionError, AgentToolExecutionError

from gllint_runtime.adapters import kit
from gllint_runtime.execution.session import Session
from gllint_runtime.policy.errors import GLError, GLValidationError

_GATED: weakref.WeakSet[Any] = weakref.WeakSet()
_RECORDED = "Recorded, to be cited in claims:"


AgentT = TypeVar("AgentT", bound=MultiStepAgent)


def gate(target: AgentT, **options: Unpack[kit.GateOptions]) -> AgentT:
    """Gate an agent in place and return it: results of tools are recorded, answers checked before anyone sees
    them.

    Agents that it manages are gated with it. ``session`` is the conversation's, or a function that is given the
    agent and returns it. After the last repair, the answer is what ``on_refusal`` says. Raises TypeError for a
    ``final_answer`` tool that returns bare numbers and for code that runs elsewhere, ValueError for an agent that
    is gated already.
    """
    if not isinstance(target, MultiStepAgent):
        raise TypeError(f"gate takes an agent of smolagents, not {type(target).__name__}")
    if target in _GATED:
        raise ValueError("This agent is gated already")
    _Agent(target, kit.Gate.of(options))
    return target


@dataclass
class _Run:
    """A run of an agent: its turn, its current step, and the hints about its last answer."""

    turn: kit.Turn
    step: Any = None
    hints: list[ChatMessage] = field(default_factory=list)
    calls: list[tuple[str, Any, str]] = field(default_factory=list)  # of the step: name, arguments, id

    @property
    def session(self) -> Session:
        """The session of the conversation."""
        return self.turn.session


class _Agent:
    """An agent and those that it manages, with the gate around their methods."""

    def __init__(self, agent: Any, gate: kit.Gate) -> None:
        """Replace the methods of an agent and of those that it manages.

        Raises TypeError for one that cannot be checked.
        """
        final = agent.tools.get("final_answer")
        if final is not None:
            form = typing.get_type_hints(type(final).forward, include_extras=True).get("return", Any)
            if form is not Any:  # without an annotation the answer is checked by its value
                gate.require_claims(form)
        if isinstance(agent, CodeAgent) and not isinstance(agent.python_executor, LocalPythonExecutor):
            raise TypeError(
                "The executor of this agent runs its code in another process, where no tool call can be recorded: "
                "use LocalPythonExecutor"
            )
        _GATED.add(agent)
        self.agent, self.gate = agent, gate
        self._run: ContextVar[_Run] = ContextVar("gllint_run")
        self._own: dict[str, Any] = {}
        for name, method in (
            ("_run_stream", self.run_stream),
            ("_step_stream", self.step_stream),
            ("_generate_planning_step", self.planning),
            ("provide_final_answer", self.last_answer),
            ("write_memory_to_messages", self.messages),
            ("process_tool_calls", self.calls),
            ("execute_tool_call", self.call),
        ):
            if hasattr(agent, name):  # a CodeAgent calls its tools in its code
                self._own[name] = getattr(agent, name)
                setattr(agent, name, method)
        for managed in agent.managed_agents.values():
            if managed not in _GATED:
                _Agent(managed, gate.inner)

    # ------------------------------------------------------------------------------------------------- runs

    def run_stream(self, *arguments: Any, **options: Any) -> Iterator[Any]:
        """Yield the steps of a run, each with the session of its conversation."""
        run = _Run(kit.Turn(self.gate, self.gate.conversation(self.agent, self._history())))

        @contextmanager
        def current() -> Iterator[None]:
            with kit.binding(self._run, run), kit.using(run.session):
                yield

        for step in kit.stepwise(current, self._own["_run_stream"](*arguments, **options)):
            if not isinstance(step, PlanningStep) or run.session.verify(step.plan).status == "success":
                yield step

    def _history(self) -> Iterator[kit.Event]:
        """Yield the memory of the agent as events of a conversation."""
        if isinstance(instructions := getattr(self.agent, "instructions", None), str):
            yield kit.UserText(instructions, "prompt")
        for step in self.agent.memory.steps:
            if isinstance(step, TaskStep):
                yield kit.UserText(step.task)
            if isinstance(step, ActionStep):
                yield kit.Answer()
            for name, arguments, reply, call_id in getattr(step, "gllint", ()):
                yield kit.ToolUse(call_id, name, arguments)
                yield kit.ToolReply(call_id, name, reply)

    def planning(self, *arguments: Any, **options: Any) -> Iterator[Any]:
        """Yield a plan, once it is whole."""
        for event in self._own["_generate_planning_step"](*arguments, **options):
            if not isinstance(event, ChatMessageStreamDelta):
                yield event

    def step_stream(self, step: Any) -> Iterator[Any]:
        """Yield the events of one step, after all of it is checked."""
        run = self._run.get()
        run.step, step.gllint, hints = step, [], run.hints
        if isinstance(self.agent, CodeAgent):
            tools = {**self.agent.tools, **self.agent.managed_agents}
            self.agent.python_executor.send_tools(
                {name: tool if name == "final_answer" else self._called(tool) for name, tool in tools.items()}
            )
        deltas: list[Any] = []
        events: list[Any] = []
        draft = ""
        try:
            for event in self._own["_step_stream"](step):
                (deltas if isinstance(event, ChatMessageStreamDelta) else events).append(event)
            final = events[-1] if events and isinstance(events[-1], ActionOutput) else None
            if final is None or not final.is_final_answer:
                run.hints = []
            else:
                draft = final.output if isinstance(final.output, str) else ""
                events = [self._answer(run, step, _checked(run.session, final.output))]
        except GLError as error:
            events = [self._answer(run, step, self._refused(run, step, error, draft))]
        except AgentExecutionError as error:
            if "final_answer" not in (step.code_action or ""):
                raise
            wrong = GLValidationError("STEP_SCHEMA", str(error), "Give an answer that final_answer takes.")
            events = [self._answer(run, step, self._refused(run, step, wrong, ""))]
        finally:
            self._clean(run, step, hints)
        if deltas and (text := step.model_output):
            yield ChatMessageStreamDelta(content=text, token_usage=step.token_usage)
        yield from events

    def _clean(self, run: _Run, step: Any, hints: list[ChatMessage]) -> None:
        """Remove from a step the hints of an attempt, and the model's thoughts if they are rejected."""
        if step.model_input_messages is not None:
            step.model_input_messages = [m for m in step.model_input_messages if not _is_in(m, hints)]
        if step.gllint and isinstance(self.agent, CodeAgent) and run.session.mode == "claims":
            record = "\n".join([_RECORDED, *(str(reply) for _, _, reply, _ in step.gllint)])
            step.observations = f"{step.observations}\n{record}" if step.observations else record
        text = _text(step.model_output)
        tag = self.agent.code_block_tags[0] if isinstance(self.agent, CodeAgent) else None
        thought = text.partition(tag)[0] if tag else text
        if thought.strip() and run.session.verify(thought).status != "success":
            _say(step, text[len(thought) :])

    @staticmethod
    def _answer(run: _Run, step: Any, output: Any) -> ActionOutput:
        run.hints = []
        if isinstance(output, str):
            step.observations = output
        step.action_output = output
        return ActionOutput(output=output, is_final_answer=True)

    def _refused(self, run: _Run, step: Any, error: GLError, draft: str) -> str:
        """Return what the user sees after the last repair; before it, raise AgentError, after which the agent
        continues.
        """
        answer = _text(step.model_output)
        if (message := step.model_output_message) is not None and message.tool_calls:
            answer += str([call.dict() for call in step.tool_calls or ()] or [*map(str, message.tool_calls)])
        _say(step, "", tool_calls=None)
        step.tool_calls = step.code_action = step.observations = step.action_output = None
        text = run.turn.attempt(partial(_raised, error), partial(run.turn.refusal, draft=draft))
        if text is not None:
            return text
        run.hints = _hints(answer, run.turn.hint)
        raise AgentError(f"The answer was rejected: [{error.code}]", self.agent.logger) from None

    def last_answer(self, task: str) -> ChatMessage:
        """Return the answer that is asked for when the steps have run out, until it passes."""
        run = self._run.get()
        run.hints = []
        while True:
            message = self._own["provide_final_answer"](task)
            text = run.turn.text(_text(message.content))
            if text is not None:
                return replace(message, content=text)
            run.hints = _hints(_text(message.content), run.turn.hint)

    def messages(self, summary_mode: bool = False) -> list[ChatMessage]:
        """Return the memory as the model receives it, with the hints about its last answer."""
        messages: list[ChatMessage] = self._own["write_memory_to_messages"](summary_mode=summary_mode)
        run = self._run.get(None)
        return messages if run is None or summary_mode else [*messages, *run.hints]

    # ------------------------------------------------------------------------------------------------- tools

    def calls(self, message: ChatMessage, step: Any) -> Iterator[ToolCall | ToolOutput]:
        """Yield the calls of a step, with their ids at hand."""
        calls = message.tool_calls or ()
        self._run.get().calls = [(c.function.name, c.function.arguments or {}, c.id) for c in calls]
        yield from self._own["process_tool_calls"](message, step)

    def call(self, name: str, arguments: Any) -> Any:
        """Call a tool, and return its output with the id that claims cite."""
        tool = {**self.agent.tools, **self.agent.managed_agents}.get(name)
        run = self._run.get(None)
        if run is None or tool is None or not isinstance(arguments, Mapping):
            return self._own["execute_tool_call"](name, arguments)
        if name == "final_answer":
            try:
                return self._own["execute_tool_call"](name, arguments)
            except AgentToolExecutionError as error:
                wrong = str(error.__cause__ or error)
                hint = "Give an answer that final_answer takes."
                raise GLValidationError("STEP_SCHEMA", wrong, hint) from None
        call = next((call for call in run.calls if call[:2] == (name, arguments)), None)
        if call is not None:
            with suppress(ValueError):  # another thread took it
                run.calls.remove(call)
        gated_call = kit.ToolCall(
            run.session, name, arguments, schema=_schema(tool), id=call[2] if call else None
        )

        def refused(hint: str) -> Any:
            raise AgentToolExecutionError(hint, self.agent.logger)

        execute = partial(
            self._own["execute_tool_call"],
            name,
            dict(gated_call.arguments) if gated_call.is_changed else arguments,
        )
        return kit.run_steps(gated_call.steps(execute, refused, partial(self._recorded, run)))

    def _called(self, tool: Any) -> Any:
        """Return a tool as code calls it: the code gets the output itself, the model receives its id in the logs."""
        run = self._run.get()

        def called(*arguments: Any, **named: Any) -> Any:
            """Check the arguments of a call, run the tool, and record its output."""
            positional = dict(zip(tool.inputs, arguments, strict=False))
            if len(positional) < len(arguments) or positional.keys() & named.keys():
                return tool(*arguments, **named)  # it says what is wrong with them
            call = kit.ToolCall(run.session, tool.name, {**positional, **named}, schema=_schema(tool))
            if call.refusal is not None:
                raise ValueError(call.refusal)
            with call.running():
                output = tool(**dict(call.arguments))
            self._recorded(run, call, output)
            return output

        return called

    @staticmethod
    def _recorded(run: _Run, call: kit.ToolCall, output: Any) -> Any:
        """Record a tool's output, and return what the model receives. Raises GLError."""
        if isinstance(output, AgentImage | AgentAudio):
            return output
        reply = call.text(output)
        shown = output if reply is None else reply
        run.step.gllint.append((call.name, dict(call.arguments), shown, call.id))
        return shown


def _raised(error: GLError) -> str:
    raise error


def _schema(tool: Any) -> Mapping[str, Any]:
    return {"type": "object", "properties": tool.inputs}


def _checked(session: Session, output: Any) -> Any:
    """Return a final answer as it may be shown: text, data whose numbers are claims, or a picture. Raises GLError."""
    if output is None or isinstance(output, bool | AgentImage | AgentAudio):
        return output
    if type(output).__module__.startswith("PIL."):  # a picture that no tool has wrapped yet
        return output
    if isinstance(output, str):
        return kit.check_final(session, str(output)).message  # a plain text: smolagents has a class for texts
    if isinstance(output, int | float) or (isinstance(output, Mapping) and "message" in output):
        return kit.check_final(session, output).message
    return kit.checked_structure(session, output)


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if isinstance(part, Mapping))
    return content or ""


def _say(step: Any, text: str, **changes: Any) -> None:
    """Put ``text`` in the place of what the model said in a step."""
    step.model_output = text
    if (message := step.model_output_message) is not None:
        step.model_output_message = replace(message, content=text, raw=None, **changes)


def _hints(answer: str, hint: str) -> list[ChatMessage]:
    texts = [(MessageRole.ASSISTANT, answer), (MessageRole.USER, hint)]
    return [ChatMessage(role=role, content=[{"type": "text", "text": text}]) for role, text in texts]


def _is_in(message: Any, messages: list[ChatMessage]) -> bool:
    return any(message is other for other in messages)

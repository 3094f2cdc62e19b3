"""CrewAI: a gate in a crew and all its agents, or in an agent alone. Needs ``gllint[crewai]``.

expert = Agent(role="Expert", goal="Answers.", backstory="…", tools=[meter], llm=llm)
crew = gate(Crew(agents=[expert], tasks=[task]))
answer = crew.kickoff(inputs={"site": "north"}).raw

Each kickoff is a conversation of its own; ``agent.kickoff(messages)`` goes on with the numbers of its messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar, Unpack

from crewai import Agent, BaseLLM, Crew
from crewai.agents.constants import ACTION_INPUT_REGEX
from crewai.agents.parser import AgentAction
from crewai.hooks.dispatch import HookAborted, InterceptionPoint, get_global_hook_list
from crewai.llms.base_llm import call_stream_override
from crewai.tools.tool_failure import ToolFailure
from crewai.utilities.agent_utils import extract_tool_call_info, format_answer, is_tool_call_list
from crewai.utilities.i18n import I18N_DEFAULT
from pydantic import BaseModel, ValidationError

from gllint_runtime.adapters import kit
from gllint_runtime.execution.session import Session
from gllint_runtime.policy.errors import GLError, GLValidationError

_CALL_OPTIONS = ("tools", "callbacks", "available_functions", "from_task", "from_agent", "response_model")
_ERROR = "Error executing tool: "  # CrewAI's text for what a tool raised


class Kickoff(NamedTuple):
    """The argument of ``session=callable``: the crew or the agent, and what it was started with."""

    target: Any
    inputs: Any


@dataclass
class _Run:
    """A run of an agent: its gate, its session, the type of its answer, the calls of tools that go on."""

    gate: kit.Gate
    session: Session
    form: Any = None
    calls: list[tuple[str, Any, str]] = field(default_factory=list)  # name, arguments, id
    tool_calls: list[tuple[Any, kit.ToolCall]] = field(default_factory=list)  # by their arguments


_RUN: ContextVar[_Run | None] = ContextVar("gllint_run", default=None)
_EVENTS: ContextVar[list[dict[str, Any]] | None] = ContextVar("gllint_events", default=None)


class _Stop(HookAborted):  # type: ignore[misc, unused-ignore]
    """Ends a run, which CrewAI would restart after any other error; the caller gets its cause."""


TargetT = TypeVar("TargetT", bound=Crew | Agent)


def gate(target: TargetT, **options: Unpack[kit.GateOptions]) -> TargetT:
    """Gate a crew or agent in place and return it: results of tools are recorded, answers checked before anyone
    sees them.

    The agents of a crew are gated with it, its manager among them. ``session`` is the conversation's, or a
    function that is given the :class:`Kickoff`. After the last repair, the answer is what ``on_refusal`` says; a
    structured answer raises the GLError. Raises TypeError for an agent that the gate cannot check, ValueError for
    one that is gated already.
    """
    if not isinstance(target, Crew | Agent):
        raise TypeError(f"gate takes a Crew or an Agent of CrewAI, not {type(target).__name__}")
    if _is_gated(target):
        raise ValueError(f"This {type(target).__name__.lower()} is gated already")
    new_gate = kit.Gate.of(options)
    if isinstance(target, Crew):
        _enter_crew(target, new_gate)
    else:
        _enter_agent(target, new_gate)
    return target


def _is_gated(target: Any) -> bool:
    return "gllint_gate" in vars(target)


def _set(target: Any, **methods: Any) -> None:
    for name, method in methods.items():
        object.__setattr__(target, name, method)  # pydantic admits no other attributes


def _run(steps: Callable[..., kit.Steps[Any]], method: Any) -> Callable[..., Any]:
    """Return a method whose steps are given the ``method`` that it replaces."""
    return lambda *arguments, **options: kit.run_steps(steps(method, *arguments, **options))


def _arun(steps: Callable[..., kit.Steps[Any]], method: Any) -> Callable[..., Any]:
    return lambda *arguments, **options: kit.arun_steps(steps(method, *arguments, **options))


# -------------------------------------------------------------------------------------------- crews and agents


def _enter_crew(crew: Any, gate_of_crew: kit.Gate) -> None:
    """Gate a crew in place: its agents, and the methods that start it."""
    _require_checkable_crew(gate_of_crew, crew)
    inner = gate_of_crew.inner
    agents = [*crew.agents, *(task.agent for task in crew.tasks), crew.manager_agent]
    for agent in agents:
        if agent is not None and not isinstance(agent, Agent):
            raise TypeError(f"The gate does not know how {type(agent).__name__} answers: give it Agents")
    for agent in agents:
        if agent is not None and not _is_gated(agent):
            _enter_agent(agent, inner)
    kickoff, akickoff, create_manager = crew.kickoff, crew.akickoff, crew._create_manager_agent

    def session_of(inputs: Any) -> Session:
        _require_checkable_crew(gate_of_crew, crew)
        texts = [str(value) for value in (inputs or {}).values() if isinstance(value, str | int | float)]
        texts_for_model = [*texts, *(task.description for task in crew.tasks)]
        return gate_of_crew.conversation(Kickoff(crew, inputs), map(kit.UserText, texts_for_model))

    def kicking(start: Any, inputs: Any = None, *arguments: Any, **options: Any) -> kit.Steps[Any]:
        _require_own(*arguments, *options.values())
        with _stopping(), kit.using(session_of(inputs)):
            return (yield start(inputs, *arguments, **options))

    def gated_manager() -> None:
        create_manager()
        if not _is_gated(crew.manager_agent):
            _enter_agent(crew.manager_agent, inner)

    _set(
        crew,
        gllint_gate=gate_of_crew,
        kickoff=_run(kicking, kickoff),
        akickoff=_arun(kicking, akickoff),
        _create_manager_agent=gated_manager,
        copy=_copier(crew.copy, _enter_crew, gate_of_crew),
    )


def _copier(
    copy: Callable[[], Any], enter: Callable[[Any, kit.Gate], None], gate_of_target: kit.Gate
) -> Callable[[], Any]:
    """Return a ``copy`` method whose copies are gated too."""

    def gated_copy() -> Any:
        twin = copy()
        enter(twin, gate_of_target)
        return twin

    return gated_copy


def _require_checkable_crew(gate_of_crew: kit.Gate, crew: Any) -> None:
    """Raise TypeError for a crew of whose answers some would be unchecked."""
    if crew.stream:
        raise TypeError("The answers of a gated crew are not streamed: set stream=False")
    if crew.planning:
        raise TypeError("The gate does not check what a crew plans: set planning=False")
    for task in crew.tasks:
        _require_no_final_tool(task.tools)
        for form in (task.output_pydantic, task.output_json, task.response_model):
            gate_of_crew.require_claims(form)


def _require_no_final_tool(tools: Any) -> None:
    for tool in tools or ():
        if getattr(tool, "result_as_answer", False):
            raise TypeError(
                f"The result of the tool {tool.name} would be the final answer, unchecked: set result_as_answer=False"
            )


def _enter_agent(agent: Any, gate_of_agent: kit.Gate) -> None:
    """Gate an agent in place: its model, and the methods that start it.

    Raises TypeError for one that cannot be checked.
    """
    if agent.planning_enabled:
        raise TypeError("An agent that plans answers from its steps, unchecked: leave out planning")
    if getattr(agent, "a2a", None) is not None:
        raise TypeError("An agent that uses A2A passes on unchecked answers of others: leave out a2a")
    _require_no_final_tool(agent.tools)

    @contextmanager
    def running(inputs: Any, form: Any = None, *, begins: bool = False) -> Iterator[None]:
        """Run the agent under the session of its conversation."""
        is_inner = kit.current_session() is not None
        # An answer says that the conversation goes on, so that one Session may serve it.
        history: Iterable[kit.Event] = [] if begins else [kit.Answer()]
        if not isinstance(inputs, list | str):
            _require_no_final_tool(inputs.tools)
        elif not is_inner:  # a model writes the task of an agent within a run
            history = _history(inputs)
        session = gate_of_agent.conversation(Kickoff(agent, inputs), history)
        session.prompt("\n".join([agent.goal, agent.backstory]))
        _wrap(agent.llm)
        _listen()
        run = _Run(gate_of_agent, session, form)
        with kit.binding(_RUN, run), _stopping(is_inner=is_inner), kit.using(session):
            yield

    def executing(execute: Any, task: Any, *arguments: Any, **options: Any) -> kit.Steps[Any]:
        with running(task):
            return (yield execute(task, *arguments, **options))

    def kicking(
        start: Any, messages: Any, response_format: Any = None, *arguments: Any, **options: Any
    ) -> kit.Steps[Any]:
        gate_of_agent.require_claims(response_format)
        _require_own(*arguments, *options.values())
        begins = isinstance(messages, str) or all(message.get("role") == "user" for message in messages)
        with running(messages, response_format, begins=begins):
            return (yield start(messages, response_format, *arguments, **options))

    _set(
        agent,
        gllint_gate=gate_of_agent,
        execute_task=_run(executing, agent.execute_task),
        aexecute_task=_arun(executing, agent.aexecute_task),
        kickoff=_run(kicking, agent.kickoff),
        kickoff_async=_arun(kicking, agent.kickoff_async),
        copy=_copier(agent.copy, _enter_agent, gate_of_agent),
    )


def _require_own(*options: Any) -> None:
    if any(getattr(option, "restore_from", None) is not None for option in options):
        raise TypeError(
            "A checkpoint restores a crew or an agent without its gate: gate what from_checkpoint() gives"
        )


@contextmanager
def _stopping(*, is_inner: bool = False) -> Iterator[None]:
    """Raise the error of a rejected answer to the caller of a kickoff, instead of ``_Stop``."""
    try:
        yield
    except _Stop as stop:
        if is_inner or stop.__cause__ is None:
            raise
        raise stop.__cause__ from None


def _history(messages: Any) -> Iterator[kit.Event]:
    """Yield the messages of a kickoff as events of a conversation."""
    for message in [{"role": "user", "content": messages}] if isinstance(messages, str) else messages:
        content, call_id = message.get("content"), message.get("tool_call_id")
        for call in message.get("tool_calls") or ():
            if info := extract_tool_call_info(call):
                yield kit.ToolUse(*info[:3])
        if message.get("role") == "tool":
            yield kit.ToolReply(call_id, message.get("name"), content)
        elif message.get("role") == "user":
            text = kit.text_of_blocks(content)
            yield from [kit.UserText(text)] if isinstance(text, str) else []
        else:
            yield kit.Answer()
            # A tool that was called in text: "Action: heat … Observation: 5".
            if isinstance(content, str) and "\nObservation: " in content:
                step, _, reply = content.partition("\nObservation: ")
                if isinstance(action := format_answer(step), AgentAction):
                    yield kit.ToolUse(None, action.tool, action.tool_input)
                    yield kit.ToolReply(None, action.tool, reply)


# ------------------------------------------------------------------------------------------------------- tools


def _listen() -> None:
    """Add the gate's hooks of tools before all others, so that those see the recorded result."""
    for point, hook in (
        (InterceptionPoint.PRE_TOOL_CALL, _on_call),
        (InterceptionPoint.POST_TOOL_CALL, _on_result),
    ):
        hooks = get_global_hook_list(point)
        if hook not in hooks:
            hooks.insert(0, hook)


def _on_call(context: Any) -> None:
    """Put a call's arguments into the units of its parameters. Raises HookAborted if the call is rejected."""
    run = _RUN.get()
    if run is None or not isinstance(context.tool_input, dict):
        return
    schema = context.tool.args_schema.model_json_schema() if context.tool is not None else None
    known_call = next((call for call in run.calls if call[0] == context.tool_name), None)
    if known_call is not None:
        with suppress(ValueError):  # another thread took it
            run.calls.remove(known_call)
    call = kit.ToolCall(
        run.session,
        context.tool_name,
        context.tool_input,
        schema=schema,
        id=known_call[2] if known_call else None,
    )
    run.tool_calls.append((context.tool_input, call))
    if call.refusal is not None:
        raise HookAborted(call.refusal)
    if call.is_changed:
        context.tool_input.update(call.arguments)


def _on_result(context: Any) -> str | None:
    """Record what a tool returned, and return what the model receives; ``None`` for the result as it is."""
    run = _RUN.get()
    if run is None:
        return None
    call = next((call for arguments, call in run.tool_calls if arguments is context.tool_input), None)
    if call is not None and call.refusal is not None:
        return call.refusal
    output = context.raw_tool_result
    if isinstance(output, ToolFailure) or (isinstance(output, str) and output.startswith(_ERROR)):
        return None
    if getattr(context.tool, "result_as_answer", False):
        return "The result of this tool would be the final answer, which the gate cannot check."
    try:
        call = call or kit.ToolCall(run.session, context.tool_name, context.tool_input)
        return call.text(output)
    except GLError as error:
        return Session.repair_hint(error)


# ------------------------------------------------------------------------------------------------------- model


def _wrap(llm: Any) -> None:
    """Check the answers of a model in runs of gated agents, in place; its other calls are unchanged."""
    if not isinstance(llm, BaseLLM):
        raise TypeError(f"The gate needs a BaseLLM, not {type(llm).__name__}")
    if getattr(vars(llm).get("call"), "gllint_llm", None) is llm:
        return

    def asking(call_model: Any, messages: Any, *arguments: Any, **options: Any) -> kit.Steps[Any]:
        """Call the model until its answer passes."""
        options |= dict(zip(_CALL_OPTIONS, arguments, strict=False))
        run = _RUN.get()
        if run is None or not _asks_for_answer(messages, options):
            return (yield call_model(messages, **options))
        turn = _Turn(run, llm, messages, options)
        while True:
            with turn.privately():
                try:
                    answer = yield call_model(turn.messages, **options)
                except ValidationError as error:
                    answer = _Misfit(error)
            if turn.accepts(answer):
                return turn.answer

    call = _run(asking, type(llm).call.__get__(llm))
    call.gllint_llm = llm  # type: ignore[attr-defined]
    _set(llm, call=call, acall=_arun(asking, type(llm).acall.__get__(llm)))
    _hold_events(llm)


def _hold_events(llm: Any) -> None:
    """Hold back a model's text from the event bus until it is checked."""
    completed, chunk = llm._emit_call_completed_event, llm._emit_stream_chunk_event
    names = ("response", "call_type", "from_task", "from_agent", "messages", "usage")

    def emit_completed(*arguments: Any, **options: Any) -> None:
        if (events := _EVENTS.get()) is None:
            completed(*arguments, **options)
        else:
            events.append({**dict(zip(names, arguments, strict=False)), **options})

    def emit_chunk(*arguments: Any, **options: Any) -> None:
        if _EVENTS.get() is None:
            chunk(*arguments, **options)

    emit_completed.gllint_own = completed  # type: ignore[attr-defined]
    _set(llm, _emit_call_completed_event=emit_completed, _emit_stream_chunk_event=emit_chunk)


class _Misfit(NamedTuple):
    """An answer that the provider's client could not read as the type that was asked for."""

    error: ValidationError


def _asks_for_answer(messages: Any, options: Mapping[str, Any]) -> bool:
    """Return whether an agent asks for its next step or its answer; else CrewAI asks for something of its own."""
    if options.get("from_agent") is not None:
        return True
    last = messages[-1].get("content") if isinstance(messages, list) and messages else None
    return isinstance(last, str) and last == I18N_DEFAULT.errors("force_final_answer")


class _Turn:
    """An answer of a model, asked for until it passes; nothing is shown before."""

    def __init__(self, run: _Run, llm: Any, messages: Any, options: Mapping[str, Any]) -> None:
        """Begin an answer of ``llm`` to ``messages``."""
        self._run, self._llm, self._own_messages = run, llm, messages
        task = options.get("from_task")
        self._form = options.get("response_model") or run.form
        if self._form is None and task is not None:
            self._form = task.response_model or task.output_pydantic or task.output_json
        self._is_text = not options.get("tools")
        self._turn = kit.Turn(run.gate, run.session)
        self._events: list[dict[str, Any]] = []
        self.messages = messages
        self.answer: Any = ""

    @contextmanager
    def privately(self) -> Iterator[None]:
        """While the model answers, its events are withheld and nothing is streamed."""
        self._events = []
        with kit.binding(_EVENTS, self._events), call_stream_override(self._llm, False):
            yield

    def accepts(self, answer: Any) -> bool:
        """Return whether an answer may be shown; if so it is in ``self.answer``, else ``messages`` say what is wrong.

        Raises _Stop.
        """
        try:
            checked = self._turn.attempt(
                lambda: (_checked(self._run, answer, self._form, is_text=self._is_text),),
                lambda error: (self._refusal(error, answer),),
            )
            if checked is None:
                self.messages = [*_as_list(self.messages), *_hint(answer, self._turn.hint)]
                return False
            (self.answer,) = checked
        finally:
            for event in self._events:
                self._llm._emit_call_completed_event.gllint_own(
                    **{**event, "response": self.answer, "messages": self._own_messages}
                )
        return True

    def _refusal(self, error: GLError, answer: Any) -> str:
        try:
            if self._form is not None:
                raise error
            return self._turn.refusal(error, answer if isinstance(answer, str) else "")
        except Exception as cause:
            raise _Stop(str(cause)) from cause


def _as_list(messages: Any) -> list[Any]:
    return [{"role": "user", "content": messages}] if isinstance(messages, str) else [*messages]


def _hint(answer: Any, hint: str) -> list[dict[str, str]]:
    """Return the rejected answer and the hint as messages for the model."""
    text = str(answer.error) if isinstance(answer, _Misfit) else answer
    if isinstance(answer, BaseModel):
        text = answer.model_dump_json()
    return [
        {"role": "assistant", "content": text if isinstance(text, str) else str(text)},
        {"role": "user", "content": hint},
    ]


def _call_in_text(session: Session, answer: str) -> str:
    """Return a call of a tool in text, without a result that the model made up, and without a rejected thought."""
    match = ACTION_INPUT_REGEX.search(answer)
    start = match.start() if match else 0
    reasoning, call = answer[:start], answer[start:].partition("\nObservation:")[0]
    return reasoning + call if session.verify(reasoning).status == "success" else call


def _checked(run: _Run, answer: Any, form: Any, *, is_text: bool) -> Any:
    """Return what a model said as the run may use it. Raises GLError for an answer that fails the check.

    Calls of tools are noted in ``run`` and returned unchanged.
    """
    if isinstance(answer, _Misfit):
        raise GLValidationError("STEP_SCHEMA", str(answer.error), "Answer by the schema that was asked for.")
    if isinstance(answer, list) and answer and is_tool_call_list(answer):
        if is_text:
            raise GLValidationError("STEP_SCHEMA", "No tool can be called here", "Give your final answer.")
        for call in answer:
            if info := extract_tool_call_info(call):
                run.calls.append((info[1], info[2], info[0]))
        return answer
    if not answer:
        return answer
    if not isinstance(answer, str | BaseModel | Mapping):
        answer = str(answer)  # as CrewAI shows it
    if isinstance(answer, str) and is_text:
        step = format_answer(answer)
        if isinstance(step, AgentAction):
            return _call_in_text(run.session, answer)
        answer = step.output
    if form is not None:
        return kit.structure(run.session, form, answer)
    return kit.check_final(run.session, answer).message

"""Google ADK: a gate in an agent and all agents below it. Needs ``gllint[google-adk]``.

agent = gate(LlmAgent(name="…", model=model, instruction="…", tools=[meter]))
runner = Runner(app_name="…", agent=agent, session_service=service)

The events of an ADK session are the session of the gate: what tools returned is in them. So a session service, of
whatever kind, is all that a conversation needs to go on.
"""

from __future__ import annotations

import copy
import inspect
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any, TypeVar, Unpack

from google.adk.agents import BaseAgent, LlmAgent
from google.adk.models import LlmRequest, LlmResponse
from google.adk.tools import BaseTool, FunctionTool
from google.genai import types
from pydantic import BaseModel

from gllint_runtime.adapters import kit
from gllint_runtime.execution.session import Session
from gllint_runtime.policy.errors import GLError, GLRuntimeError

_OWN_TOOLS = {"exit_loop", "finish_task", "set_model_response", "transfer_to_agent"}
_AGENT_LABEL = "adk_agent_name"  # with which the ADK labels the requests of agents


AgentT = TypeVar("AgentT", bound=BaseAgent)


def gate(target: AgentT, **options: Unpack[kit.GateOptions]) -> AgentT:
    """Gate an agent in place and return it: results of tools are recorded, answers checked before anyone sees
    them.

    Agents below it and among its tools are gated with it. ``session`` is the conversation's, or a function that is
    given ADK's context and returns it. After the last repair, the answer is what ``on_refusal`` says; a structured
    one raises the GLError. Raises TypeError for an ``output_schema`` of bare numbers, ValueError for an agent that
    is gated already.
    """
    if not isinstance(target, BaseAgent):
        raise TypeError(f"gate takes an agent of the ADK, not {type(target).__name__}")
    if isinstance(target, LlmAgent) and _is_gated(target):
        raise ValueError("This agent is gated already")
    agents = _Agents(kit.Gate.of(options))
    for agent in [*_agents(target)]:
        agents.enter(agent)
    return target


def _agents(agent: Any) -> Iterator[LlmAgent]:
    """Yield the agents with a model among ``agent``, its tools and its sub-agents."""
    if isinstance(agent, LlmAgent):
        yield agent
        for tool in agent.tools:
            if isinstance(getattr(tool, "agent", None), BaseAgent):
                yield from _agents(tool.agent)
    for child in agent.sub_agents:
        yield from _agents(child)


def _is_gated(agent: Any) -> bool:
    return any(getattr(callback, "gllint", False) for callback in agent.canonical_before_tool_callbacks)


class _Agents:
    """The agents of one gate, and the requests and sessions of the runs that go on."""

    def __init__(self, gate: kit.Gate) -> None:
        self.gate = gate
        self._contexts: kit.WeakIdentityMap[Any] = kit.WeakIdentityMap()  # of requests to the model
        self._calls: kit.WeakIdentityMap[kit.ToolCall] = kit.WeakIdentityMap()  # by their contexts
        # Of ADK's sessions, each with how many events it knows.
        self._sessions: kit.WeakIdentityMap[tuple[Session, int]] = kit.WeakIdentityMap()

    def enter(self, agent: Any) -> None:
        """Gate one agent: its model, its callbacks and its tools."""
        if _is_gated(agent):
            return
        form = agent.output_schema
        if form is not None:
            self.gate.require_claims(form)
            if isinstance(form, type) and issubclass(form, BaseModel):
                agent.output_schema = _verified_form(form)
        self._enter_model(agent)
        agent.before_model_callback = [self._expect, *agent.canonical_before_model_callbacks]
        agent.before_tool_callback = [_start_callback(self), *agent.canonical_before_tool_callbacks]
        agent.after_tool_callback = [self._end_callback(agent.canonical_after_tool_callbacks)]
        agent.tools = [self._tool(tool) for tool in agent.tools]

    def __deepcopy__(self, memo: Any) -> _Agents:
        """Copies of an agent share its gate, which stores nothing of a conversation."""
        return self

    def _enter_model(self, agent: Any) -> None:
        """Replace the model of an agent by a copy that answers through the gate."""
        model = copy.copy(agent.canonical_model)  # its name, client and settings stay
        own_ask, form = model.generate_content_async, agent.output_schema

        def ask(llm_request: LlmRequest, stream: bool = False) -> AsyncIterator[LlmResponse]:
            return self.answers(own_ask, form, llm_request, stream)

        ask.gllint = True  # type: ignore[attr-defined]
        object.__setattr__(model, "generate_content_async", ask)
        object.__setattr__(model, "connect", _refused_live)
        agent.model = model

    def session(self, context: Any) -> Session:
        """Return the session of a run, up to date with the history that ADK has stored."""
        stored = context.session
        events = [*stored.events]
        entry = self._sessions.get(stored)
        if entry is None:
            gate = self.gate if kit.current_session() is None else self.gate.inner
            session = gate.conversation(context, _history(events), conversation=stored.id)
        else:
            session, count = entry
            # Some events before the known ones' end again: ADK may have replaced the last of them.
            kit.read_history(session, _history(events[max(0, count - 100) :]))
        self._sessions.put(stored, (session, len(events)))
        return session

    # ------------------------------------------------------------------------------------------------- tools

    def _tool(self, tool: Any) -> Any:
        """Return a copy of a tool that runs under the session of its run, which agents in the tool then use."""
        if not isinstance(tool, BaseTool):
            if not inspect.isroutine(tool):
                return tool  # a toolset
            tool = FunctionTool(tool)
        twin = copy.copy(tool)
        original_run = tool.run_async

        async def run_async(*, args: dict[str, Any], tool_context: Any) -> Any:
            with kit.using(self.session(tool_context)):
                return await original_run(args=args, tool_context=tool_context)

        twin.run_async = run_async
        return twin

    def call(self, tool: Any, args: dict[str, Any], tool_context: Any) -> kit.ToolCall:
        """Return a call of a tool, its arguments in the units of its parameters."""
        schema = getattr(tool._get_declaration(), "parameters_json_schema", None)
        return kit.ToolCall(
            self.session(tool_context), tool.name, args, schema=schema, id=tool_context.function_call_id
        )

    def expect_result(self, tool_context: Any, call: kit.ToolCall) -> None:
        """Keep a call until its tool has returned."""
        self._calls.put(tool_context, call)

    def _end_callback(self, user_callbacks: Any) -> Any:
        """Return the callback that records the result of a tool, after the user's own callbacks have changed it."""

        async def end_call(*, tool: Any, args: Any, tool_context: Any, tool_response: Any) -> Any:
            """Record the result of a tool, as the user's own callbacks leave it."""
            if isinstance(tool_response, _Refusal):
                return None
            for callback in user_callbacks:
                changed = callback(
                    tool=tool, args=args, tool_context=tool_context, tool_response=tool_response
                )
                changed = await changed if inspect.isawaitable(changed) else changed
                if changed is not None:
                    tool_response = changed
                    break
            if tool_response is None or tool.name in _OWN_TOOLS or _has_parts(tool_response):
                return tool_response
            call = self._calls.get(tool_context) or self.call(tool, args, tool_context)
            try:
                reply = call.reply(tool_response)
            except GLError as error:
                return _Refusal(error=Session.repair_hint(error))
            return tool_response if reply is None else reply

        return end_call

    # ------------------------------------------------------------------------------------------------- model

    def _expect(self, callback_context: Any, llm_request: LlmRequest) -> None:
        """Note the context of a request, which a model does not receive. A model that was set later is gated, too."""
        agent = callback_context._invocation_context.agent
        if not hasattr(agent.canonical_model.generate_content_async, "gllint"):
            self._enter_model(agent)
        self._contexts.put(llm_request, callback_context)

    async def answers(
        self, ask: Any, form: Any, request: LlmRequest, stream: bool
    ) -> AsyncIterator[LlmResponse]:
        """Ask the model until its answer passes, and yield it; only checked text is streamed."""
        context = self._contexts.get(request)
        if context is None:
            if _AGENT_LABEL in ((request.config and request.config.labels) or ()):
                raise GLRuntimeError(
                    "PROVIDER_FAILED",
                    "The gate is bypassed: before_model_callback was replaced after gate(). Set callbacks before it",
                )
            async for response in ask(request, stream):  # of no agent: the ADK itself asks for a summary
                yield response
            return
        session = self.session(context)
        if request.config and isinstance(prompt := request.config.system_instruction, str):
            session.prompt(prompt)
        turn = kit.Turn(self.gate, session)
        usage: dict[str, int] = {}
        while True:
            responses: list[LlmResponse] = []
            async with aclosing(ask(request, stream)) as parts:
                async for response in parts:
                    if not response.partial:
                        responses.append(response)
                    elif form is None and (new := turn.feed(_text(response))):
                        yield _with_text(response, new)
            for response in responses:
                _add(usage, response.usage_metadata)
            draft = "".join(map(_text, responses))
            text = turn.attempt(
                partial(_checked, session, form, draft, responses),
                None if form is not None else partial(turn.refusal, draft=draft),
            )
            if text is None:
                request = _repeated(request, responses, turn.hint)
                continue
            rest = turn.rest(text)
            if stream and form is None and rest:
                part = types.Part(text=rest)
                yield LlmResponse(content=types.Content(role="model", parts=[part]), partial=True)
            for response in responses:
                reply = _with_text(response, text)
                text = "" if _text(response) else text
                if response is responses[-1] and response.usage_metadata is not None and turn.attempts:
                    total = response.usage_metadata.model_copy(update=usage)
                    reply = reply.model_copy(update={"usage_metadata": total})
                yield reply
            return


class _Refusal(dict[str, str]):
    """Return what the model receives instead of a result."""


def _start_callback(agents: _Agents) -> Any:
    """Return the callback that puts the arguments of a call into the units of its tool's parameters, or rejects
    the call.
    """

    def start_call(*, tool: Any, args: dict[str, Any], tool_context: Any) -> Any:
        """Put the arguments of a call into the units of its tool's parameters."""
        if tool.name in _OWN_TOOLS:
            return None
        call = agents.call(tool, args, tool_context)
        if call.refusal is not None:
            return _Refusal(error=call.refusal)
        agents.expect_result(tool_context, call)
        if call.is_changed:
            args.update(call.arguments)
        return None

    start_call.gllint = True  # type: ignore[attr-defined]
    return start_call


def _refused_live(*arguments: Any, **options: Any) -> Any:
    raise TypeError("gllint: speech is heard before it can be checked: use run_async(), not run_live()")


# --------------------------------------------------------------------------------------------------- answers


def _checked(session: Session, form: Any, text: str, responses: list[LlmResponse]) -> str:
    """Return the text of an answer as it may be shown. Raises GLError."""
    calls = [part.function_call for response in responses for part in _parts(response) if part.function_call]
    if form is not None:
        for call in calls:
            if call.name == "set_model_response":
                _keep(form, session, call.args)
    if calls or not text.strip():
        return text if session.verify(text).status == "success" else ""
    return kit.check_final(session, text).message if form is None else _keep(form, session, text)


def _keep(form: Any, session: Session, data: Any) -> str:
    """Return a structured answer as checked JSON text; ADK reads the checked answer later, by its text.

    Raises GLError.
    """
    if not hasattr(form, "gllint_answers"):
        if not isinstance(data, str):
            data = data.get("items", data.get("response"))
        answer = kit.structure(session, form, data)
        return json.dumps(answer, default=_plain, ensure_ascii=False)
    answer = kit.structure(session, form.gllint_form, data)
    text: str = answer.model_dump_json()
    dumped = [answer.model_dump(mode="json", exclude_none=not all_fields) for all_fields in (True, False)]
    read = [*dumped, *([] if isinstance(data, str) else [data])]
    form.gllint_answers.put(session, map(_key, read), answer)
    return text


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)


def _key(data: Any) -> str:
    return json.dumps(data, sort_keys=True, default=str)


def _key_of(text: Any) -> str | None:
    try:
        return _key(json.loads(text))
    except (TypeError, ValueError, RecursionError):
        return None


def _verified_form(form: type[BaseModel]) -> Any:
    """Return a subclass of ``form`` that returns the answers which the gate has checked.

    ADK reads an answer several times, the gate once, while its session is at hand.
    """
    answers = kit.Answers()

    class Verified(form):  # type: ignore[misc,valid-type]
        @classmethod
        def model_validate_json(cls, json_data: Any, **options: Any) -> Any:
            return answers.get(_key_of(json_data)) or form.model_validate_json(json_data, **options)

        @classmethod
        def model_validate(cls, obj: Any, **options: Any) -> Any:
            return answers.get(_key(obj)) or form.model_validate(obj, **options)

    Verified.__name__, Verified.__qualname__, Verified.__doc__ = (
        form.__name__,
        form.__qualname__,
        form.__doc__,
    )
    Verified.gllint_answers, Verified.gllint_form = answers, form
    return Verified


# -------------------------------------------------------------------------------------------------- contents


def _parts(response: Any) -> list[Any]:
    return (response.content.parts or []) if response.content else []


def _history(events: list[Any]) -> Iterator[kit.Event]:
    """Yield ADK's stored events as events of a conversation."""
    for event in events:
        # What a node of the ADK puts into the user's mouth is the task that another agent gave it.
        if event.author == "user" and event.content and not event.node_info.path:
            yield from map(kit.UserText, _texts(event.content))
        if event.content and event.content.role == "model":
            yield kit.Answer()
        for part in _parts(event):
            if call := part.function_call:
                yield kit.ToolUse(call.id, call.name, call.args)
            elif (reply := part.function_response) and reply.name not in _OWN_TOOLS:
                yield kit.ToolReply(reply.id, reply.name, reply.response)


def _texts(content: Any) -> list[str]:
    return [part.text for part in content.parts or () if part.text]


def _text(response: LlmResponse) -> str:
    return "".join(part.text for part in _parts(response) if part.text and not part.thought)


def _has_parts(output: Any) -> bool:
    """Return whether a tool returned pictures or files."""
    values = output.values() if isinstance(output, Mapping) else output
    return isinstance(values, types.Part | types.Blob) or (
        not isinstance(values, str | int | float)
        and hasattr(values, "__iter__")
        and any(isinstance(value, types.Part | types.Blob | types.Content) for value in values)
    )


def _with_text(response: LlmResponse, text: str) -> LlmResponse:
    """Return the response with ``text`` for its first text and without its other texts; calls and files stay."""
    if response.content is None or _text(response) == text:
        return response
    parts = []
    for part in _parts(response):
        if part.text and not part.thought:
            if text:
                parts.append(part.model_copy(update={"text": text}))
            text = ""
        elif not (response.partial and part.thought):
            parts.append(part)
    return response.model_copy(update={"content": response.content.model_copy(update={"parts": parts})})


def _repeated(request: LlmRequest, responses: list[LlmResponse], hint: str) -> LlmRequest:
    """Return the request with the rejected answer and what is wrong with it."""
    parts = [part for response in responses for part in _parts(response)]
    results = [
        types.Part.from_function_response(name=part.function_call.name, response={"error": hint})
        for part in parts
        if part.function_call
    ]
    exchange = [
        types.Content(role="model", parts=parts),
        types.Content(role="user", parts=results or [types.Part(text=hint)]),
    ]
    return request.model_copy(update={"contents": [*request.contents, *exchange]})


def _add(usage: dict[str, int], metadata: Any) -> None:
    for name, count in (metadata.model_dump() if metadata is not None else {}).items():
        if name.endswith("_count") and isinstance(count, int):
            usage[name] = usage.get(name, 0) + count

"""LangChain and LangGraph: a middleware for ``create_agent``. Needs the extra ``gllint[langchain]``.

agent = create_agent(model, tools, system_prompt=INSTRUCTIONS, middleware=[GateMiddleware(Session())])
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from itertools import takewhile
from typing import Any

from langchain.agents.middleware import AgentMiddleware, hook_config
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from gllint_runtime.adapters import check_final, recorded, text_of_blocks
from gllint_runtime.execution.session import Session
from gllint_runtime.policy.errors import GLError, GLRuntimeError
from gllint_runtime.policy.outputs import json_value

_HINT = "gllint"
_WITHHELD = "(withheld)"
_CHECKED = "gllint"


class GateMiddleware(AgentMiddleware[Any, Any, Any]):
    """Records each tool's output and lets only a verified message end the run.

    A refused message is withheld and the model told why, at most ``max_retries`` times for one message of the user;
    then the GLError is raised. ``session`` is the conversation's, or a function that finds it.
    """

    def __init__(self, session: Session | Callable[[], Session], max_retries: int = 2) -> None:
        super().__init__()
        self._session: Callable[[], Session] = session if callable(session) else lambda: session
        self._max_retries = max_retries

    def before_agent(self, state: Any, runtime: Any) -> None:
        """Tell the session what the user said."""
        new = takewhile(lambda message: not isinstance(message, AIMessage), reversed(state["messages"]))
        for message in reversed([*new]):
            if isinstance(message, HumanMessage) and message.name != _HINT:
                self._session().user(message.text)

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Call a tool with its arguments in the units of its parameters, and record what it returned."""
        try:
            request, arguments = self._in_units(request)
        except GLError as error:
            return _refused(request, error)
        return self._recorded(request, handler(request), arguments)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """The same for an async tool."""
        try:
            request, arguments = self._in_units(request)
        except GLError as error:
            return _refused(request, error)
        return self._recorded(request, await handler(request), arguments)

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Check a message that would end the run, and withhold what is said beside tool calls where it may not be."""
        messages = state["messages"]
        last = _last_answer(messages)
        if last is None:
            return None
        session = self._session()
        if last.tool_calls:
            if session.verify(last.text).status == "success":
                return None
            blocks = [] if isinstance(last.content, str) else last.content
            media = [block for block in blocks if isinstance(block, dict) and block.get("type") != "text"]
            return {"messages": [last.model_copy(update={"content": media or ""})]}
        try:
            verified = check_final(session, last.text)
        except GLError as error:
            if _hints(messages) >= self._max_retries:
                raise
            hint = HumanMessage(session.repair_hint(error), name=_HINT)
            return {"messages": [AIMessage(_WITHHELD, id=last.id), hint], "jump_to": "model"}
        provenance = {_CHECKED: verified.provenance}
        return {"messages": [AIMessage(verified.message, id=last.id, response_metadata=provenance)]}

    def after_agent(self, state: Any, runtime: Any) -> None:
        """Whatever ended the run: its last answer must be one that was checked."""
        last = _last_answer(state["messages"])
        if last is not None and _CHECKED not in last.response_metadata:
            raise GLRuntimeError("PROVIDER_FAILED", "The run ended on an answer that was not checked")

    def _in_units(self, request: Any) -> tuple[Any, Any]:
        """The request as the tool is to get it, and its arguments. Raises GLError."""
        call = request.tool_call
        arguments = self._session().tool_arguments(
            call["name"], call["args"], args_schema=_args_schema(request.tool)
        )
        if arguments.changes:
            request = request.override(tool_call={**call, "args": dict(arguments)})
        return request, arguments

    def _recorded(self, request: Any, result: Any, arguments: Any) -> Any:
        if not isinstance(result, ToolMessage) or result.status == "error":
            return result
        call = request.tool_call
        output = result.content if result.artifact is None else result.artifact
        try:
            answer = recorded(self._session(), call["name"], arguments, _returned(output))
        except GLError as error:
            text, status = Session.repair_hint(error), "error"
        else:
            text, status = json.dumps(answer, ensure_ascii=False), "success"
        return ToolMessage(text, tool_call_id=result.tool_call_id, name=call["name"], status=status)


def _refused(request: Any, error: GLError) -> ToolMessage:
    """What the model is told in place of a call's result."""
    call = request.tool_call
    text = Session.repair_hint(error)
    return ToolMessage(text, tool_call_id=call["id"], name=call["name"], status="error")


def _args_schema(tool: Any) -> dict[str, Any] | None:
    """The schema that the model is told of a tool's arguments."""
    schema = getattr(tool, "tool_call_schema", None)
    if schema is None or isinstance(schema, dict):
        return schema
    described: dict[str, Any] = schema.model_json_schema()
    return described


def _returned(output: Any) -> Any:
    """What a tool returned: of a dict or list the framework has made JSON text, and nobody can tell it from a text."""
    text = text_of_blocks(output)
    value = json_value(text) if isinstance(text, str) else None
    return output if value is None else value


def _last_answer(messages: list[Any]) -> AIMessage | None:
    return next((message for message in reversed(messages) if isinstance(message, AIMessage)), None)


def _hints(messages: list[Any]) -> int:
    """How often the model was told since the user last spoke."""
    questions = (message for message in reversed(messages) if isinstance(message, HumanMessage))
    return len([*takewhile(lambda message: message.name == _HINT, questions)])

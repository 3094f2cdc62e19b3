"""pydantic-ai: a toolset that records and an output validator that checks. Needs ``gllint[pydantic-ai]``.

agent = Agent(model, instructions=INSTRUCTIONS, toolsets=[GatedToolset(FunctionToolset([heat]), session)])
agent.output_validator(output_check(session))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel
from pydantic_ai import ModelRetry, RunContext, ToolReturn
from pydantic_ai.toolsets import WrapperToolset

from gllint_runtime.adapters import check_final, recorded
from gllint_runtime.execution.session import Session
from gllint_runtime.policy.errors import GLError


@dataclass
class GatedToolset(WrapperToolset[Any]):
    """Records each output of the toolset it wraps; the model is told the call's id, or what was wrong with it."""

    session: Session

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: Any) -> Any:
        """Call the tool, record its output."""
        _hear(self.session, ctx)
        schema = tool.tool_def.parameters_json_schema
        try:
            arguments = self.session.tool_arguments(name, tool_args, args_schema=schema)
        except GLError as error:
            raise ModelRetry(Session.repair_hint(error)) from error
        output = await super().call_tool(name, dict(arguments) if arguments.changes else tool_args, ctx, tool)
        wrapped = isinstance(output, ToolReturn)
        try:
            answer = recorded(self.session, name, arguments, output.return_value if wrapped else output)
        except GLError as error:
            raise ModelRetry(Session.repair_hint(error)) from error
        return replace(output, return_value=answer) if wrapped else answer


def output_check(session: Session) -> Callable[[RunContext[Any], Any], Any]:
    """An output validator: the message as the user may see it, or ModelRetry with what to mend.

    An output type that is a model of ``message`` and ``claims`` alone stays one, with that message.

    A stream is held back: ``stream_output()`` and ``stream_text()`` show nothing until the answer is complete, and
    ``get_output()`` gives it. ``stream_text(delta=True)`` asks no validator, by the framework's own design, and shows
    what nobody has checked: leave it out.
    """

    def check(ctx: RunContext[Any], output: Any) -> Any:
        if ctx.partial_output:
            return ""
        _hear(session, ctx)
        try:
            message = check_final(session, output).message
        except GLError as error:
            raise ModelRetry(session.repair_hint(error)) from error
        if isinstance(output, BaseModel) and output.model_dump().keys() <= {"message", "claims"}:
            return output.model_copy(update={"message": message})
        return message

    return check


def _hear(session: Session, ctx: RunContext[Any]) -> None:
    """Tell the session what the user said, before its numbers are arguments of a tool."""
    parts = [ctx.prompt] if isinstance(ctx.prompt, str) else ctx.prompt or ()
    texts = [getattr(part, "content", part) for part in parts]
    if user_text := "\n".join(text for text in texts if isinstance(text, str)):
        session.user(user_text)

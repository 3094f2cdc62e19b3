"""OpenAI Agents SDK: recorded tools, an output guardrail, and a run that repairs. Needs ``gllint[openai-agents]``.

agent = Agent(name="…", instructions=INSTRUCTIONS, tools=[gated(tool, session)])
verified = await run(agent, "How much heat?", session)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from agents import (
    Agent,
    FunctionTool,
    GuardrailFunctionOutput,
    OutputGuardrail,
    RunContextWrapper,
    Runner,
)

from gllint_runtime.adapters import check_final, recorded
from gllint_runtime.execution.session import Session, Verified
from gllint_runtime.policy.errors import GLError


def gated(tool: FunctionTool, session: Session) -> FunctionTool:
    """The tool, with each output recorded; the model is told the call's id, or what was wrong with it."""
    invoke = tool.on_invoke_tool

    async def record(context: Any, arguments: str) -> Any:
        try:
            values = json.loads(arguments or "{}")
        except (ValueError, RecursionError):  # the SDK tells the model so
            return await invoke(context, arguments)
        try:
            values = session.tool_arguments(tool.name, values, args_schema=tool.params_json_schema)
            output = await invoke(context, json.dumps(values) if values.changes else arguments)
            answer = recorded(session, tool.name, values, output)
        except GLError as error:
            return Session.repair_hint(error)
        return json.dumps(answer, ensure_ascii=False)

    return replace(tool, on_invoke_tool=record)


def guardrail(session: Session) -> OutputGuardrail[Any]:
    """Trips where the final output may not be shown; its ``output_info`` is the Verified, or the error as data."""

    def check(context: RunContextWrapper[Any], agent: Agent[Any], output: Any) -> GuardrailFunctionOutput:
        try:
            return GuardrailFunctionOutput(check_final(session, output), tripwire_triggered=False)
        except GLError as error:
            return GuardrailFunctionOutput(error.to_dict(), tripwire_triggered=True)

    return OutputGuardrail(check, name="gllint")


async def run(
    agent: Agent[Any], user: Any, session: Session, *, max_retries: int = 2, **options: Any
) -> Verified:
    """Run an agent until its answer holds; ``options`` go to ``Runner.run``. Raises GLError after ``max_retries``.

    ``user`` is what the user says, or the items of a conversation that ends with it.
    The SDK's own output guardrails end a run where they trip: this tells the model what to mend instead.
    """
    if text := "\n".join(_user_texts(user)):
        session.user(text)
    items: Any = user
    attempts = 0
    while True:
        result = await Runner.run(agent, items, **options)
        try:
            return check_final(session, result.final_output)
        except GLError as error:
            if attempts >= max_retries:
                raise
            attempts += 1
            items = [*result.to_input_list(), {"role": "user", "content": session.repair_hint(error)}]


def _user_texts(items: Any) -> Iterator[str]:
    """The texts of the user in what ``Runner.run`` takes for its input."""
    if isinstance(items, str):
        yield items
        return
    for item in items:
        if isinstance(item, Mapping) and item.get("role") == "user":
            content = item.get("content") or ()
            parts = [content] if isinstance(content, str) else [part.get("text") for part in content]
            yield from (part for part in parts if isinstance(part, str))

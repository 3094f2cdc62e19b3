"""In sourced mode the history of a conversation is all that its session is made of."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from gllint_runtime import Session
from gllint_runtime.adapters import kit
from gllint_runtime.adapters.kit import REFUSAL

sys.path.insert(0, str(Path(__file__).parent))

LATER = "It was 12.5 kWh."


def meter(site: str = "north") -> dict[str, Any]:
    """The heat that a site used."""
    return {"heat_kwh": 12.5}


def test_langgraph_remembers_its_threads_alone() -> None:
    pytest.importorskip("langchain")
    import test_gate_langchain as own

    from gllint_runtime.adapters.langchain import gate

    saver = own.InMemorySaver()

    def made(*script: Any) -> Any:
        return gate(own.create_agent(own.says(*script), [own.tool(meter)], checkpointer=saver))

    own.asked(made(own.calling(), "It is warm."), thread="ada")
    assert own.asked(made(LATER), thread="ada")[-1].text == LATER
    assert own.asked(made(*[LATER] * 3), thread="bob")[-1].text == REFUSAL


def test_openai_agents_remember_their_items_alone() -> None:
    pytest.importorskip("agents")
    import test_gate_openai_agents as own

    from gllint_runtime.adapters.openai_agents import gate

    script = [own.call("meter"), "It is warm.", *[LATER] * 4]
    agent = gate(own.Agent(name="a", tools=[own.function_tool(meter)], model=own.Script(*script)))
    items = own.ask(agent).to_input_list()
    assert own.ask(agent, [*items, {"role": "user", "content": "And?"}]).final_output == LATER
    assert own.ask(agent).final_output == REFUSAL


def test_pydantic_ai_remembers_its_messages_alone() -> None:
    pytest.importorskip("pydantic_ai")
    import test_gate_pydantic_ai as own

    from gllint_runtime.adapters.pydantic_ai import gate

    agent = gate(own.Agent(own.says(own.CALL, "It is warm.", *[LATER] * 4), tools=[meter]))
    history = agent.run_sync("How much?").all_messages()
    assert agent.run_sync("And?", message_history=history).output == LATER
    assert agent.run_sync("How much?").output == REFUSAL


def test_what_a_model_was_told_of_a_refused_call_is_no_source() -> None:
    session = Session(mode="sourced")
    kit.restore(session, "send", {}, "[MISSING_ORIGIN] The number 999 has no origin", tool_call_id="c")
    assert session.verify("It is 999 EUR.").status == "error" and not session.has_calls


def test_a_call_is_recorded_once_however_often_its_history_is_read() -> None:
    session = Session(mode="sourced")
    history = [
        kit.ToolUse(None, "meter", "{}"),
        kit.ToolReply(None, "meter", '{"heat_kwh": 12.5}'),
        kit.ToolUse("c", "meter", {}),
        kit.ToolReply("c", "meter", '{"heat_kwh": 13.5}'),
        kit.ToolReply("c", "meter", '{"heat_kwh": 14.5}'),
    ]
    for _ in range(3):
        kit.read_history(session, history)
    assert session.count == 3 and session.verify("12.5 kWh, 13.5 kWh and 14.5 kWh.").status == "success"

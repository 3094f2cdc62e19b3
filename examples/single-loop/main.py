"""One loop: the model calls a tool or answers; each answer of a run is one of three, told apart by ``status``."""

from __future__ import annotations

from typing import Any

from gllint_runtime import ScriptedProvider, ToolRuntime
from gllint_runtime.execution.responses import AgentResponse
from tools import registry


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """The step by which a model calls a tool."""
    return {"kind": "tool_call", "tool_name": name, "arguments": arguments}


def claim(source: str, path: str, value: float, unit: str) -> dict[str, Any]:
    """What ties a number of the message to a tool's output."""
    return {"source_call_id": source, "path": path, "quantity": {"value": value, "unit": unit}}


FOUND = call("db_query_candidates", where='{"role": "engineer"}')  # stringified, as models do
SCRIPTS = {
    "How many engineers are there?": [
        FOUND,
        {"kind": "final", "final": {"message": "There are about three of them.", "claims": []}},
    ],
    "And how many rows are both tables together?": [
        FOUND,
        call("db_query_opportunities"),
        call("calculator", operation="add", a={"value": 2, "unit": "count"}, b={"value": 2, "unit": "count"}),
        {
            "kind": "final",
            "final": {"message": "{{claim:0}} in all.", "claims": [claim("tc_3", "$.result", 4, "count")]},
        },
    ],
    "Is there any news?": [call("web_fetch_mock", url="https://example.org/news")] * 9,
    "What do they earn?": [call("db_query_candidates", table="salaries")],
}


def main() -> None:
    """Ask each question and print what came of it."""
    for question, steps in SCRIPTS.items():
        runtime = ToolRuntime(ScriptedProvider(steps), registry(), max_steps=5, number_words=True)
        answer: AgentResponse = runtime.try_run("You answer from the tables.", question)
        if answer["status"] == "success":
            print(answer["message"])
        else:
            print(answer["status"], answer["error"]["code"])


if __name__ == "__main__":
    main()

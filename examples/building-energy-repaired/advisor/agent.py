"""The agent: a model, the tools, and the runtime that lets no unproven number pass between them."""

from advisor.model import ScriptedModel
from advisor.registry import TOOL_REGISTRY
from gllint_runtime import ToolRuntime

SYSTEM_PROMPT = "You advise home owners on energy. Calculate nothing yourself: ask the tools."


def answer(model: ScriptedModel, question: str) -> str:
    """Return the verified answer to a question, or why there is none."""
    outcome = ToolRuntime(model, TOOL_REGISTRY).try_run(SYSTEM_PROMPT, question)
    if outcome["status"] != "success":
        return f"refused: {outcome['error']['message']}"
    sources = ", ".join(entry["tool_name"] for entry in outcome["provenance"])
    return f"verified: {outcome['message']} (from {sources})"

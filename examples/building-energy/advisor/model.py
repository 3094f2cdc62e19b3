"""A stand-in for a language model, so that the example runs without one and without a network."""

from typing import Any


class ScriptedModel:
    """Calls one tool, then claims one value of its result in a message."""

    def __init__(self, tool: str, arguments: dict[str, Any], message: str, path: str) -> None:
        self.call = {"kind": "tool_call", "tool_name": tool, "arguments": arguments}
        self.message = message
        self.path = path

    def init_chat(self, system_prompt: str, user_msg: str) -> dict[str, Any]:
        """Begin a conversation: no tool has answered yet."""
        return {}

    def chat_step(self, *, schema: Any, tools: Any, state: dict[str, Any]) -> dict[str, Any]:
        """Decide what to do next."""
        if not state:
            return self.call
        claim = {
            "source_call_id": state["tool_call_id"],
            "path": self.path,
            "quantity": state["output"][self.path.removeprefix("$.")],
        }
        return {"kind": "final", "final": {"message": self.message, "claims": [claim]}}

    def inject_tool_result(self, result: dict[str, Any]) -> dict[str, Any]:
        """Learn what the tool returned."""
        self.result = result
        return result

    def inject_error(self, message: str) -> dict[str, Any]:
        """Learn what was wrong with the last answer; a script cannot do better."""
        return self.result

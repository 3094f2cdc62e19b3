"""Reading what a model wrote, and ``dispatch_tool``: the one way to run a tool on its behalf (seed 004)."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gllint_runtime.errors import GLError, GLValidationError
from gllint_runtime.tools import ToolRegistry

logger = logging.getLogger("gllint_runtime")

CLARIFICATION = "None"
"""The tool name by which a model asks the user instead of calling a tool."""

TOOL_REGISTRY = ToolRegistry()
"""The registry that :func:`dispatch_tool` uses unless it is given another."""

_FENCED = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)


@dataclass
class ToolAction:
    """A tool's name and its flat arguments, as a model asks for them."""

    name: str
    args: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, raw: str | Mapping[str, Any] | ToolAction) -> ToolAction:
        """Read an action from model output: an object or its JSON text, in a code fence or amid prose.

        Raises GLValidationError STEP_SCHEMA with a hint that a model can act on.
        """
        if isinstance(raw, ToolAction):
            return raw
        data = read_object(raw)
        name, args = data.get("name", data.get("tool_name")), data.get("args", data.get("arguments", {}))
        if not isinstance(name, str) or not name:
            raise _step_error("A tool action needs the 'name' of a tool", path="name")
        if isinstance(args, str):
            args = read_object(args)
        if not isinstance(args, Mapping):
            raise _step_error("The 'args' of a tool action are an object", path="args")
        return cls(name, dict(args))


def read_object(raw: Any) -> dict[str, Any]:
    """The JSON object in a model's output. Raises GLValidationError STEP_SCHEMA."""
    if isinstance(raw, Mapping):
        return dict(raw)
    if not isinstance(raw, str):
        raise _step_error(f"Expected a JSON object, got {type(raw).__name__}")
    fenced = _FENCED.search(raw)
    text = (fenced[1] if fenced else raw).strip()
    start = text.find("{")
    if start < 0:
        raise _step_error("There is no JSON object in the answer")
    try:
        data, _ = json.JSONDecoder(strict=False).raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        raise _step_error(f"The answer is not valid JSON: {error}") from None
    return dict(data)


def _step_error(message: str, path: str | None = None) -> GLValidationError:
    return GLValidationError("STEP_SCHEMA", message, path=path)


def sanitize_args(args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with everything but primitives, ``None`` and lists of them turned into text."""
    return {name: value if _is_flat(value) else str(value) for name, value in args.items()}


def _is_flat(value: Any) -> bool:
    items = value if isinstance(value, list) else [value]
    return all(item is None or isinstance(item, (str, int, float, bool)) for item in items)


def dispatch_tool(action: ToolAction | Mapping[str, Any] | str, registry: ToolRegistry | None = None) -> Any:
    """Run the tool that ``action`` names and return its verified output.

    Never raises: what goes wrong comes back as ``{"error": "[CODE] message", "code": …, "hint": …}``, and the
    reserved name ``"None"`` as ``{"clarification_needed": question}``.
    """
    try:
        asked = ToolAction.parse(action)
        if asked.name == CLARIFICATION:
            question = str(asked.args.get("clarification_needed", ""))
            logger.warning("The model asks for clarification: %s", question)
            return {"clarification_needed": question}
        return (TOOL_REGISTRY if registry is None else registry).invoke(asked.name, sanitize_args(asked.args))
    except GLError as error:
        logger.error("Tool dispatch failed: %s", error)
        return {"error": str(error), "code": error.code, "hint": error.hint}

"""``dispatch_tool``: the one way to run a tool on a model's behalf (seed 004)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gllint_runtime.execution.registry import ToolRegistry
from gllint_runtime.execution.steps import CLARIFICATION, ToolAction, question
from gllint_runtime.policy.errors import GLError, GLValidationError
from gllint_runtime.policy.log import logger

TOOL_REGISTRY = ToolRegistry()
"""The registry that :func:`dispatch_tool` uses unless it is given another."""


def sanitize_args(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with everything but primitives, ``None`` and lists of them turned into text."""
    return {name: value if _is_flat(value) else str(value) for name, value in args.items()}


def _is_flat(value: Any) -> bool:
    items = value if isinstance(value, list) else [value]
    return all(item is None or isinstance(item, (str, int, float, bool)) for item in items)


def dispatch_tool(action: ToolAction | Mapping[str, Any] | str, registry: ToolRegistry | None = None) -> Any:
    """Run the tool that ``action`` names, ``{"name": "heat", "args": {…}}``, and return its verified output.

    Never raises: a fault is returned as ``{"error": "[CODE] message", "code": …, "hint": …}``, and a call of the
    reserved name ``"None"`` as ``{"clarification_needed": question}``.
    """
    try:
        request = _request(action)
        if request.name == CLARIFICATION:
            text = question(request.args)
            logger.warning("The model asks for clarification: %s", text)
            return {"clarification_needed": text}
        return (TOOL_REGISTRY if registry is None else registry).invoke(request.name, request.args)
    except GLError as error:
        logger.error("Tool dispatch failed: %s", error)
        return {"error": f"[{error.code}] {error.message}", "code": error.code, "hint": error.hint}


def _request(action: Any) -> ToolAction:
    """Return an action read from an object or JSON text, with arguments that are plain values.

    Raises :class:`GLError`.
    """
    try:
        request = ToolAction.parse(action)
        return ToolAction(request.name, sanitize_args(request.args))
    except GLError:
        raise
    except Exception as error:  # of an object that lies about itself, or cannot be printed
        raise GLValidationError("STEP_SCHEMA", "The action cannot be read") from error

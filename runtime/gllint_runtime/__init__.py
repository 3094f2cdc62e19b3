"""The policy on numbers, units and claims, and its enforcement when tools run.

No number reaches the user unless it came from a validated tool output, carries a recognised unit, and is tied
to explicit provenance. Names load on first use, so that importing the policy alone stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gllint_runtime.execution.approval import ToolCategory
    from gllint_runtime.execution.dispatch import TOOL_REGISTRY, dispatch_tool, sanitize_args
    from gllint_runtime.execution.registry import ToolRegistry
    from gllint_runtime.execution.runtime import ToolRuntime
    from gllint_runtime.execution.session import Refused, Session, Verified
    from gllint_runtime.execution.steps import ToolAction
    from gllint_runtime.execution.tools import BaseTool, Tool, ToolResult
    from gllint_runtime.execution.typed import tool
    from gllint_runtime.policy.errors import (
        GLDataError,
        GLError,
        GLProvenanceError,
        GLRuntimeError,
        GLSecurityError,
        GLValidationError,
    )
    from gllint_runtime.policy.numbers import scan_naked_numbers
    from gllint_runtime.policy.schemas import QUANTITY_SCHEMA, Claim, Quantity
    from gllint_runtime.policy.units import UnitRegistry
    from gllint_runtime.providers.scripted import Recorder, Replayer, ScriptedProvider

_HOMES = {
    "execution.approval": "ToolCategory",
    "execution.dispatch": "TOOL_REGISTRY dispatch_tool sanitize_args",
    "execution.registry": "ToolRegistry",
    "execution.runtime": "ToolRuntime",
    "execution.session": "Refused Session Verified",
    "execution.steps": "ToolAction",
    "execution.typed": "tool",
    "execution.tools": "BaseTool Tool ToolResult",
    "policy.errors": "GLDataError GLError GLProvenanceError GLRuntimeError GLSecurityError GLValidationError",
    "policy.numbers": "scan_naked_numbers",
    "policy.schemas": "QUANTITY_SCHEMA Claim Quantity",
    "policy.units": "UnitRegistry",
    "providers.scripted": "Recorder Replayer ScriptedProvider",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "QUANTITY_SCHEMA",
    "TOOL_REGISTRY",
    "BaseTool",
    "Claim",
    "GLDataError",
    "GLError",
    "GLProvenanceError",
    "GLRuntimeError",
    "GLSecurityError",
    "GLValidationError",
    "Quantity",
    "Recorder",
    "Refused",
    "Replayer",
    "ScriptedProvider",
    "Session",
    "Tool",
    "ToolAction",
    "ToolCategory",
    "ToolRegistry",
    "ToolResult",
    "ToolRuntime",
    "UnitRegistry",
    "Verified",
    "dispatch_tool",
    "sanitize_args",
    "scan_naked_numbers",
    "tool",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value

"""The one way to run a tool outside a conversation."""

from typing import Any

import gllint_runtime
from advisor.registry import TOOL_REGISTRY
from gllint_runtime import ToolAction


def dispatch_tool(action: ToolAction) -> Any:
    """Return the verified result of a tool, or ``{"error": …}``."""
    return gllint_runtime.dispatch_tool(action, TOOL_REGISTRY)

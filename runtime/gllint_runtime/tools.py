"""The names that GreenLang's module of this name has: its users change the package name only."""

from gllint_runtime.execution.registry import ToolRegistry
from gllint_runtime.execution.runtime import ToolRuntime
from gllint_runtime.execution.tools import BaseTool, Tool, ToolResult

__all__ = ["BaseTool", "Tool", "ToolRegistry", "ToolResult", "ToolRuntime"]

"""What a tool is: a function with two JSON Schemas (:class:`Tool`), or a class with ``execute``."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from gllint_runtime.execution.approval import ToolCategory

_NOBODYS: Any = object()  # the category of a tool that names none


@dataclass
class Tool:
    """A function offered to a model, with JSON Schemas (Draft 2020-12) for its arguments and its result.

    ``live_required`` marks a tool that reaches the network: Replay rejects it. ``timeout`` is in seconds.
    ``preview(**arguments)`` returns what a call would change, for the user. A tool without a ``category`` runs as
    ``READ_ONLY`` and promises nothing: ``has_own_category`` is false.
    """

    name: str
    description: str = ""
    args_schema: dict[str, Any] = field(default_factory=lambda: {"type": "object"})
    result_schema: dict[str, Any] = field(default_factory=lambda: {"type": "object"})
    fn: Callable[..., Any] | None = None
    live_required: bool = False
    category: ToolCategory = _NOBODYS  # READ_ONLY, once it is made
    timeout: float | None = None
    preview: Callable[..., str] | None = None

    def __post_init__(self) -> None:
        self.has_own_category = self.category is not _NOBODYS
        if not self.has_own_category:
            self.category = ToolCategory.READ_ONLY
        if not callable(self.fn):
            raise TypeError(f"Tool {self.name!r} needs a callable fn")


@dataclass
class ToolResult:
    """The answer of a :class:`BaseTool`: data or an error, never an exception."""

    success: bool
    data: Any | None
    tool_name: str
    category: ToolCategory
    error_message: str | None = None
    execution_time_ms: float = 0.0
    cancelled: bool = False


class BaseTool(ABC):
    """A tool as a class with an async ``execute`` (seed 003). Schemas and ``preview`` are optional."""

    args_schema: ClassVar[dict[str, Any]] = {"type": "object"}
    result_schema: ClassVar[dict[str, Any]] = {}
    live_required: bool = False
    timeout: float | None = 30.0

    @property
    @abstractmethod
    def name(self) -> str:
        """The unique identifier."""

    @property
    @abstractmethod
    def description(self) -> str:
        """What the tool does, for the model and the user."""

    @property
    @abstractmethod
    def category(self) -> ToolCategory:
        """Decides whether the user is asked."""

    @abstractmethod
    async def execute(self, **kwargs: Any) -> ToolResult:
        """Run the tool."""

    def format_result(self, result: ToolResult) -> str:
        """Return the result for people."""
        if not result.success:
            return f"{self.name} failed: {result.error_message}"
        return json.dumps(result.data, ensure_ascii=False, default=str)


def as_tool(tool: Any) -> Any:
    """Return ``tool`` if it is one, or a Tool of an object with ``name`` and ``run``. Raises TypeError for any other.

    Such an object may return anything without a raw number, text for example (seed 004).
    """
    if isinstance(tool, BaseTool) or callable(getattr(tool, "fn", None)):
        return tool
    name, run = getattr(tool, "name", None), getattr(tool, "run", None)
    if not isinstance(name, str) or not callable(run):
        raise TypeError(
            f"{type(tool).__name__} is not a tool: it needs a name and a function, or a run method"
        )
    options = {key: getattr(tool, key) for key in _OPTIONAL if getattr(tool, key, None) is not None}
    schema = options.get("args_schema")
    if callable(model_schema := getattr(schema, "model_json_schema", None)):  # a pydantic model
        options["args_schema"] = model_schema()
    return Tool(name=name, fn=run, **{"result_schema": {}, **options})


_OPTIONAL = ("description", "args_schema", "result_schema", "live_required", "category", "timeout", "preview")

"""What a run answers, as types and as a JSON Schema: distinguished by ``status`` (seed 002)."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from gllint_runtime.execution.typed import schema_of


class Answer(TypedDict):
    """The result of :meth:`ToolRuntime.run`."""

    message: str
    provenance: list[dict[str, Any]]
    metrics: dict[str, float]
    trace: list[dict[str, Any]]
    clarification_needed: NotRequired[bool]


class SuccessResponse(Answer):
    """A verified message."""

    status: Literal["success"]


class ErrorData(TypedDict):
    """A GLError as data (:meth:`GLError.to_dict`)."""

    error_type: str
    code: str
    message: str
    hint: str | None
    path: str | None
    context: Any


class FailureResponse(TypedDict):
    """No message, and why: ``max_attempts_reached`` where the steps ran out."""

    status: Literal["max_attempts_reached", "error"]
    error: ErrorData
    metrics: dict[str, float]
    trace: list[dict[str, Any]]


AgentResponse = SuccessResponse | FailureResponse

AGENT_RESPONSE_SCHEMA = schema_of(AgentResponse)
"""The JSON Schema of what :meth:`ToolRuntime.try_run` returns."""

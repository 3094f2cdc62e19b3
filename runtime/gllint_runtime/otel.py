"""OpenTelemetry spans for runs and tool calls, under the GenAI semantic conventions.

A run is ``invoke_agent {gen_ai.agent.name}``, a tool call ``execute_tool {gen_ai.tool.name}``; both INTERNAL.
Arguments, results and the text of errors are recorded on request only: they may be private.
Needs the extra ``gllint[otel]``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from opentelemetry import trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from gllint_runtime.policy.errors import GLError

if TYPE_CHECKING:
    from gllint_runtime.execution.calls import Call, Mode


class OpenTelemetry:
    """Spans through ``tracer_provider``, or the global one. Pass it as ``ToolRuntime(telemetry=…)``.

    ``content`` also records arguments, outputs and the text of errors.
    """

    def __init__(
        self,
        tracer_provider: trace.TracerProvider | None = None,
        agent_name: str = "gllint",
        *,
        content: bool = False,
    ) -> None:
        """Make the receiver of spans; see the class."""
        self._content = content
        self._tracer = trace.get_tracer("gllint_runtime", tracer_provider=tracer_provider)
        self._agent_name = agent_name

    @contextmanager
    def run(self, mode: Mode, metrics: Callable[[], dict[str, Any]]) -> Iterator[None]:
        """Open a span for a run, and set its metrics as attributes at the end."""
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": self._agent_name,
            "gllint.mode": mode,
        }
        with self._span(f"invoke_agent {self._agent_name}", attributes) as span:
            try:
                yield
            finally:
                for name, value in metrics().items():
                    span.set_attribute(f"gllint.{name}", value)

    @contextmanager
    def tool(self, call: Call, call_id: str) -> Iterator[Callable[[Any], None]]:
        """Open a span for a call of a tool, and yield the function that receives its output."""
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.tool.name,
            "gen_ai.tool.call.id": call_id,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.description": call.tool.description,
        }
        if self._content:
            attributes["gen_ai.tool.call.arguments"] = json.dumps(call.arguments, ensure_ascii=False)
        with self._span(f"execute_tool {call.tool.name}", attributes) as span:

            def note(output: Any) -> None:
                if self._content:
                    span.set_attribute("gen_ai.tool.call.result", json.dumps(output, ensure_ascii=False))

            yield note

    @contextmanager
    def _span(self, name: str, attributes: dict[str, Any]) -> Iterator[trace.Span]:
        """Open a span, and set the code or class of an exception in it as its error."""
        with self._tracer.start_as_current_span(
            name,
            kind=SpanKind.INTERNAL,
            attributes=attributes,
            record_exception=self._content,
            set_status_on_exception=False,
        ) as span:
            try:
                yield span
            except BaseException as error:
                kind = error.code if isinstance(error, GLError) else type(error).__name__
                span.set_attribute("error.type", kind)
                span.set_status(Status(StatusCode.ERROR, str(error) if self._content else kind))
                raise

"""Spans as the GenAI semantic conventions want them."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from gllint_runtime import GLError, ScriptedProvider, Tool, ToolRegistry, ToolRuntime
from gllint_runtime.otel import OpenTelemetry


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def telemetry(exporter: InMemorySpanExporter) -> OpenTelemetry:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return OpenTelemetry(provider, agent_name="advisor")


def test_spans_of_a_run(
    registry: ToolRegistry, step: Any, telemetry: Any, exporter: InMemorySpanExporter
) -> None:
    script = [
        step.call("heating_intensity", heat_kwh=5000, area_m2=400),
        step.final("{{claim:0}}", step.claim("$.intensity", 12.5, "kWh/m2")),
    ]
    ToolRuntime(ScriptedProvider(script), registry, telemetry=telemetry).run("", "")
    tool, run = exporter.get_finished_spans()
    assert (tool.name, tool.kind) == ("execute_tool heating_intensity", SpanKind.INTERNAL)
    assert dict(tool.attributes or {}) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "heating_intensity",
        "gen_ai.tool.call.id": "tc_1",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.description": "Heat per floor area",
    }
    assert tool.status.status_code is StatusCode.UNSET
    assert (run.name, run.kind) == ("invoke_agent advisor", SpanKind.INTERNAL)
    assert tool.parent is not None
    assert tool.parent.span_id == run.context.span_id
    assert run.attributes is not None
    assert run.attributes["gen_ai.operation.name"] == "invoke_agent"
    assert run.attributes["gen_ai.agent.name"] == "advisor"
    assert run.attributes["gllint.mode"] == "Replay"
    assert run.attributes["gllint.total_tool_calls"] == 1


@pytest.mark.parametrize("output", [5, ZeroDivisionError()])
def test_failures_are_marked(output: Any, step: Any, telemetry: Any, exporter: InMemorySpanExporter) -> None:
    def fail() -> Any:
        if isinstance(output, Exception):
            raise output
        return {"heat": output}

    registry = ToolRegistry()
    registry.register(Tool(name="meter", fn=fail))
    with pytest.raises(GLError) as caught:
        ToolRuntime(ScriptedProvider([step.call("meter")]), registry, telemetry=telemetry).run("", "")
    for span in exporter.get_finished_spans():
        assert span.status.status_code is StatusCode.ERROR
        assert span.attributes is not None
        assert span.attributes["error.type"] == span.status.description == caught.value.code
        assert not span.events


def test_errors_of_the_provider_are_named(telemetry: Any, exporter: InMemorySpanExporter) -> None:
    with pytest.raises(RuntimeError):
        ToolRuntime(ScriptedProvider([]), ToolRegistry(), telemetry=telemetry).run("", "")
    (span,) = exporter.get_finished_spans()
    assert span.attributes is not None
    assert span.attributes["error.type"] == "RuntimeError"


def test_the_global_provider_is_the_default(registry: ToolRegistry, step: Any) -> None:
    runtime = ToolRuntime(ScriptedProvider([step.final("Done")]), registry, telemetry=OpenTelemetry())
    assert runtime.run("", "")["message"] == "Done"


def test_content_is_recorded_on_request_only(
    registry: ToolRegistry, step: Any, exporter: InMemorySpanExporter
) -> None:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    script = [
        step.call("heating_intensity", heat_kwh=5000, area_m2=400),
        step.call("heating_intensity", heat_kwh=5000, area_m2=0),
    ]
    telemetry = OpenTelemetry(provider, content=True)
    with pytest.raises(GLError):
        ToolRuntime(ScriptedProvider(script), registry, telemetry=telemetry).run("", "")
    tool, run = exporter.get_finished_spans()
    attributes = dict(tool.attributes or {})
    assert attributes["gen_ai.tool.call.arguments"] == '{"heat_kwh": 5000, "area_m2": 400}'
    assert attributes["gen_ai.tool.call.result"] == '{"intensity": {"value": 12.5, "unit": "kWh/m2"}}'
    assert "0 is less than or equal" in (run.status.description or "") and run.events[0].name == "exception"

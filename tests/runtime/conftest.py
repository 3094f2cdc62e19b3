"""What the runtime's tests share: one honest tool, its registry, and a way to let a script answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gllint_runtime import ScriptedProvider, Tool, ToolRegistry, ToolRuntime
from gllint_runtime.policy.schemas import QUANTITY_REF

Run = Callable[..., dict[str, Any]]


def quantity_schema(*names: str) -> dict[str, Any]:
    """A result schema with a Quantity under each name."""
    return {
        "type": "object",
        "required": [*names],
        "properties": {name: {"$ref": QUANTITY_REF} for name in names},
        "additionalProperties": False,
    }


@pytest.fixture
def heating() -> Tool:
    """Divides a year's heat by an area."""
    return Tool(
        name="heating_intensity",
        description="Heat per floor area",
        args_schema={
            "type": "object",
            "required": ["heat_kwh", "area_m2"],
            "properties": {
                "heat_kwh": {"type": "number", "minimum": 0},
                "area_m2": {"type": "number", "exclusiveMinimum": 0},
            },
        },
        result_schema=quantity_schema("intensity"),
        fn=lambda heat_kwh, area_m2: {"intensity": {"value": heat_kwh / area_m2, "unit": "kWh/m2"}},
    )


@pytest.fixture
def registry(heating: Tool) -> ToolRegistry:
    registry = ToolRegistry()
    registry.register(heating)
    return registry


def call(tool_name: str, **arguments: Any) -> dict[str, Any]:
    return {"kind": "tool_call", "tool_name": tool_name, "arguments": arguments}


def claim(path: str, value: Any, unit: str, source: str = "tc_1") -> dict[str, Any]:
    return {"source_call_id": source, "path": path, "quantity": {"value": value, "unit": unit}}


def final(message: str, *claims: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "final", "final": {"message": message, "claims": [*claims]}}


@pytest.fixture
def step() -> Any:
    """The builders of a model's steps: ``step.call``, ``step.claim``, ``step.final``, ``step.schema``."""

    class Steps:
        pass

    steps = Steps()
    steps.call, steps.claim, steps.final, steps.schema = call, claim, final, quantity_schema  # type: ignore[attr-defined]
    return steps


@pytest.fixture
def run(registry: ToolRegistry) -> Run:
    """Run a script of steps: ``run(step, …, tools=[…], user="…", **options of ToolRuntime)``."""

    def run(
        *steps: Any,
        tools: list[Any] | None = None,
        user: str = "Heat 5000 kWh, floor 400 m2",
        retries: int = 0,
        **options: Any,
    ) -> dict[str, Any]:
        if tools is None:
            tools = []
        for tool in tools:
            registry.register(tool)
        runtime = ToolRuntime(ScriptedProvider(steps), options.pop("registry", registry), **options)
        return runtime.run("You advise on buildings.", user, max_retries=retries)

    return run

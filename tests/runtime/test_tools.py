"""Tools, their registry, and the way of a call through it."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import time
from dataclasses import dataclass
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from gllint_runtime import (
    BaseTool,
    GLDataError,
    GLRuntimeError,
    GLSecurityError,
    GLValidationError,
    Quantity,
    Tool,
    ToolCategory,
    ToolRegistry,
    ToolResult,
)
from gllint_runtime.execution.calls import run_blocking
from gllint_runtime.policy.schemas import QUANTITY_REF


def giving(output: Any, **options: Any) -> Tool:
    return Tool(name="give", fn=lambda: output, **options)


def invoke(tool: Any, arguments: Any = None, **options: Any) -> Any:
    registry = ToolRegistry(**options)
    registry.register(tool)
    return registry.invoke(tool.name, arguments)


# ----------------------------------------------------------------------------------------------- registering


def test_registry_knows_its_tools(registry: ToolRegistry, heating: Tool) -> None:
    assert registry.get("heating_intensity") is heating
    assert registry.list() == [heating]
    assert [tool.name for tool in registry.list()] == ["heating_intensity"]
    with pytest.raises(GLDataError) as caught:
        registry.get("cooling")
    assert caught.value.code == "PATH_RESOLUTION"
    assert "heating_intensity" in caught.value.hint


def test_what_is_no_tool_is_told_so() -> None:
    class Nameless:
        name = 5
        run = dict

    class Idle:
        name = "idle"

    for other in (Nameless(), Idle()):
        with pytest.raises(
            TypeError, match=f"{type(other).__name__} is not a tool: it needs a name and a function"
        ):
            ToolRegistry().register(other)


def test_not_all_that_is_wrong_with_a_schema_is_told() -> None:
    schema = {"type": "object", "properties": {}, "required": [f"name{i}" for i in range(30)]}
    with pytest.raises(GLValidationError) as caught:
        ToolRegistry().register(giving({}, args_schema=schema))
    assert caught.value.message.count("is required but not declared") == 20


def test_a_name_is_taken_once(registry: ToolRegistry, heating: Tool) -> None:
    with pytest.raises(ValueError, match="already registered"):
        registry.register(heating)
    registry.register(giving({"a": "b"}))
    registry.register(giving({"a": "c"}), replace=True)
    assert registry.invoke("give") == {"a": "c"}


@pytest.mark.parametrize("name", ["", "None", 5])
def test_names_that_cannot_be(name: Any) -> None:
    with pytest.raises(ValueError, match="not a valid name"):
        ToolRegistry().register(Tool(name=name, fn=dict))


def test_a_tool_needs_a_function() -> None:
    with pytest.raises(TypeError, match="callable"):
        Tool(name="x")


def test_a_category_must_exist() -> None:
    with pytest.raises(ValueError, match="harmless"):
        ToolRegistry().register(giving({}, category="harmless"))


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "objekt"}, "not a JSON Schema type"),
        ({"type": "object", "properties": {"a": {}}, "required": ["b"]}, "not declared"),
        ({"type": "object", "requierd": ["a"]}, "did you mean 'required'"),
        ({"$ref": "https://example.org/x.json"}, "no such schema"),
        ({"properties": {"a": {"$ref": "greenlang://schemas/heat.json"}}}, "no such schema"),
    ],
)
@pytest.mark.parametrize("which", ["args_schema", "result_schema"])
def test_schemas_that_would_check_nothing_or_fetch(schema: Any, why: str, which: str) -> None:
    with pytest.raises(GLValidationError, match=f"The {which} of 'x' cannot be used: .*{why}") as caught:
        ToolRegistry().register(Tool(name="x", fn=dict, **{which: schema}))
    assert caught.value.code == {"args_schema": "ARGS_SCHEMA", "result_schema": "RESULT_SCHEMA"}[which]


@pytest.mark.parametrize("schema", [True, False])
def test_arguments_are_described_by_an_object_schema(schema: Any) -> None:
    with pytest.raises(GLValidationError, match="the schema of arguments"):
        ToolRegistry().register(Tool(name="x", fn=dict, args_schema=schema))


def test_descriptors_hold_no_foreign_reference() -> None:
    registry = ToolRegistry()
    schema = {"type": "object", "properties": {"heat": {"$ref": QUANTITY_REF}}}
    registry.register(Tool(name="x", description="d", args_schema=schema, fn=lambda heat: {}))
    (described,) = registry.descriptors()
    assert (described["name"], described["description"]) == ("x", "d")
    assert described["parameters"]["properties"]["heat"]["required"] == ["value", "unit"]


# ------------------------------------------------------------------------------------------------- arguments


def test_a_call_goes_through(registry: ToolRegistry) -> None:
    output = registry.invoke("heating_intensity", {"heat_kwh": 5000, "area_m2": 400})
    assert output == {"intensity": {"value": 12.5, "unit": "kWh/m2"}}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "required"),
        ({"heat_kwh": -1, "area_m2": 1}, "minimum"),
        ({"heat_kwh": "5", "area_m2": 1}, "not of type 'number'"),
        ({"heat_kwh": True, "area_m2": 1}, "not of type 'number'"),
        ({"heat_kwh": float("nan"), "area_m2": 1}, "not valid JSON"),
        ({"heat_kwh": 1, "area_m2": float("inf")}, "not valid JSON"),
        ({"heat_kwh": 1, "area_m2": 1, "more": 1}, "takes no argument more"),
        ([1, 2], "must be an object"),
        ("[1, 2]", "must be an object"),
        ("no json", "must be an object"),
    ],
)
def test_arguments_that_do_not_fit(registry: ToolRegistry, arguments: Any, why: str) -> None:
    with pytest.raises(GLValidationError, match=why) as caught:
        registry.invoke("heating_intensity", arguments)
    assert caught.value.code == "ARGS_SCHEMA"


def test_the_place_of_a_wrong_argument_is_told(registry: ToolRegistry) -> None:
    with pytest.raises(GLValidationError) as caught:
        registry.invoke("heating_intensity", {"heat_kwh": 1, "area_m2": 0})
    assert caught.value.path == "$.area_m2"


def test_a_parameter_that_the_schema_forgot_is_asked_for() -> None:
    with pytest.raises(GLValidationError, match="needs the argument b"):
        invoke(Tool(name="x", fn=lambda a, b, c=1, *, d=2: {}), {"a": 1})


def test_a_function_that_takes_anything() -> None:
    assert invoke(Tool(name="x", fn=lambda **all: {"names": sorted(all)}), {"b": 1, "a": 2}) == {
        "names": ["a", "b"]
    }


def test_a_function_without_signature() -> None:
    assert invoke(Tool(name="x", fn=dict), {"a": "b"}) == {"a": "b"}


@pytest.mark.parametrize("arguments", [{"where": '{"city": "Graz"}'}, '{"where": {"city": "Graz"}}'])
def test_stringified_json_is_repaired(arguments: Any) -> None:
    schema = {"type": "object", "properties": {"where": {"type": "object"}}}
    registry = ToolRegistry()
    registry.register(Tool(name="find", args_schema=schema, fn=lambda where: {"city": where["city"]}))
    assert registry.invoke("find", arguments) == {"city": "Graz"}
    assert registry.verify("find", {"where": '{"city": "Graz"}'}).repaired
    assert not registry.verify("find", {"where": {"city": "Graz"}}).repaired


def test_a_tool_cannot_change_what_was_verified() -> None:
    registry = ToolRegistry()
    registry.register(Tool(name="x", fn=lambda rooms: {"left": [rooms.pop()]}))
    given = {"rooms": ["hall", "attic"]}
    call = registry.verify("x", given)
    assert run_blocking(call) == {"left": ["attic"]}
    assert given == call.arguments == {"rooms": ["hall", "attic"]}


# --------------------------------------------------------------------------------------------------- results


@dataclass
class Reading:
    heat: Quantity


@pytest.mark.parametrize(
    ("output", "plain"),
    [
        ({"heat": Quantity(5, "kWh")}, {"heat": {"value": 5, "unit": "kWh"}}),
        ({"heat": {"value": Decimal("5.5"), "unit": "kWh"}}, {"heat": {"value": 5.5, "unit": "kWh"}}),
        (Reading(Quantity(5, "kWh")), {"heat": {"value": 5, "unit": "kWh"}}),
        ({"rooms": ({"name": "hall"},)}, {"rooms": [{"name": "hall"}]}),
        (
            {"text": "uses 500 kWh", "open": True, "none": None},
            {"text": "uses 500 kWh", "open": True, "none": None},
        ),
        ("just text", "just text"),
        (None, None),
    ],
)
def test_outputs_become_plain_data(output: Any, plain: Any) -> None:
    assert invoke(giving(output, result_schema={})) == plain


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ({"heat": 5}, "raw number"),
        ({"heat": {"value": 5}}, "raw number"),
        ({"heat": {"value": "high", "unit": "level", "more": ""}}, "exactly the keys"),
        ({"heat": {"value": "5", "unit": "kWh"}}, "a number, not str"),
        ({"heat": Decimal(5)}, "a Decimal"),
    ],
)
def test_outputs_that_carry_a_number_without_unit(output: Any, why: str) -> None:
    with pytest.raises(GLValidationError, match=why) as caught:
        invoke(giving(output))
    assert caught.value.code == "RESULT_SCHEMA"


@pytest.mark.parametrize(
    ("unit", "allowed"), [("kWh", True), ("kWh/year", True), ("kwh", False), ("", False)]
)
def test_units_of_outputs_are_judged(unit: str, allowed: bool) -> None:
    tool = giving({"heat": {"value": 5, "unit": unit}})
    if allowed:
        assert invoke(tool)["heat"]["unit"] == unit
    else:
        with pytest.raises(GLValidationError) as caught:
            invoke(tool)
        assert (caught.value.code, caught.value.path) == ("UNIT_UNKNOWN", "$.heat")


def test_a_registry_may_know_more_units_or_fewer() -> None:
    assert invoke(giving({"x": {"value": 5, "unit": ""}}), extend_units=[""])
    with pytest.raises(GLValidationError):
        invoke(giving({"x": {"value": 5, "unit": "kWh/year"}}), strict_units=True)


def test_outputs_are_held_to_their_schema() -> None:
    schema = {"type": "object", "required": ["heat"], "properties": {"heat": {"$ref": QUANTITY_REF}}}
    with pytest.raises(GLValidationError, match="'heat' is a required property"):
        invoke(giving({}, result_schema=schema))
    with pytest.raises(GLValidationError, match="Quantity must be an object") as caught:
        invoke(giving({"heat": "5"}, result_schema=schema))
    assert caught.value.path == "$.heat"


def test_raw_numbers_are_allowed_on_request_and_never_silently(caplog: pytest.LogCaptureFixture) -> None:
    counted = {"load": 5, "heat": {"value": "5", "unit": "kWh", "more": ""}}
    with caplog.at_level(logging.WARNING, logger="gllint_runtime"):
        assert invoke(giving(counted), allow_raw_numbers=True) == counted
    assert ["cannot cite those numbers" in r.message or "$.load" in r.message for r in caplog.records] == [
        True
    ] * 2


def test_not_all_raw_numbers_are_told(caplog: pytest.LogCaptureFixture) -> None:
    counts = {f"load_{i}": i for i in range(30)}
    assert invoke(giving(counts), allow_raw_numbers=True) == counts
    assert caplog.records[-1].message.endswith("$.load_18, $.load_19")


# ------------------------------------------------------------------------------------------------- executing


def test_a_failing_tool() -> None:
    def fail() -> None:
        raise ZeroDivisionError("no area")

    with pytest.raises(GLRuntimeError, match="ZeroDivisionError: no area") as caught:
        invoke(Tool(name="x", fn=fail))
    assert caught.value.code == "TOOL_FAILED"
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


async def slow(seconds: float) -> dict[str, str]:
    await asyncio.sleep(seconds)
    return {"state": "done"}


def test_async_functions() -> None:
    assert invoke(Tool(name="x", fn=slow), {"seconds": 0}) == {"state": "done"}
    assert invoke(Tool(name="x", fn=lambda seconds: slow(seconds)), {"seconds": 0}) == {"state": "done"}


async def failing() -> None:
    raise KeyError("gone")


@pytest.mark.parametrize("function", [failing, lambda: failing()])
def test_async_functions_that_fail(function: Any) -> None:
    with pytest.raises(GLRuntimeError, match="KeyError"):
        invoke(Tool(name="x", fn=function))


def test_async_tools_inside_a_running_loop() -> None:
    async def main() -> Any:
        return invoke(Tool(name="x", fn=slow), {"seconds": 0})

    assert asyncio.run(main()) == {"state": "done"}


@pytest.mark.parametrize("function", [slow, time.sleep])
def test_timeouts(function: Any) -> None:
    name = "seconds"
    tool = Tool(
        name="x", fn=(lambda seconds: function(seconds)) if function is time.sleep else slow, timeout=0.05
    )
    started = time.perf_counter()
    with pytest.raises(GLRuntimeError, match=r"timed out after 0\.05 s") as caught:
        invoke(tool, {name: 3})
    assert caught.value.code == "TOOL_FAILED"
    assert time.perf_counter() - started < 2


def test_a_plain_function_within_its_time() -> None:
    assert invoke(giving({"a": "b"}, timeout=5)) == {"a": "b"}


def test_a_timed_out_coroutine_is_told_to_stop() -> None:
    stopped = threading.Event()

    async def work() -> None:
        try:
            await asyncio.sleep(3)
        except asyncio.CancelledError:
            stopped.set()
            raise

    with pytest.raises(GLRuntimeError, match="timed out"):
        invoke(Tool(name="x", fn=work, timeout=0.05))
    assert stopped.wait(2)


def test_the_user_can_cancel_while_a_tool_runs() -> None:
    registry = ToolRegistry()
    registry.register(Tool(name="x", fn=slow))
    with pytest.raises(GLRuntimeError) as caught:
        run_blocking(registry.verify("x", {"seconds": 3}), lambda: True)
    assert caught.value.code == "CANCELLED"


def test_exit_from_a_tool_is_not_swallowed(caplog: pytest.LogCaptureFixture) -> None:
    async def leave() -> None:
        raise SystemExit(3)

    before = {*threading.enumerate()}
    with pytest.raises(SystemExit):
        invoke(Tool(name="x", fn=leave))
    for thread in {*threading.enumerate()} - before:
        thread.join(10)
    gc.collect()
    assert not caplog.records  # asyncio has nothing to complain of


# -------------------------------------------------------------------------------------------- tools as classes


class Meter(BaseTool):
    """Reads a heat meter."""

    args_schema = {"type": "object", "properties": {"room": {"type": "string"}}}

    def __init__(self, category: ToolCategory = ToolCategory.READ_ONLY, result: Any = None) -> None:
        self._category = category
        self._result = result
        self.ran = 0

    @property
    def name(self) -> str:
        return "meter"

    @property
    def description(self) -> str:
        return "Read the heat meter"

    @property
    def category(self) -> ToolCategory:
        return self._category

    async def execute(self, **kwargs: Any) -> ToolResult:
        self.ran += 1
        if isinstance(self._result, Exception):
            raise self._result
        if self._result is not None:
            return self._result  # type: ignore[no-any-return]
        return ToolResult(
            True, {"heat": Quantity(7, "kWh"), "room": kwargs.get("room")}, self.name, self.category
        )


def execute(tool: BaseTool, approve: Any = None, **arguments: Any) -> ToolResult:
    registry = ToolRegistry(approve=approve)
    registry.register(tool)
    return asyncio.run(registry.execute(tool.name, **arguments))


def test_execute_returns_a_result_with_verified_data() -> None:
    result = execute(Meter(), room="hall")
    assert result.success
    assert result.data == {"heat": {"value": 7, "unit": "kWh"}, "room": "hall"}
    assert result.execution_time_ms > 0
    assert result.error_message is None


def test_an_execution_is_timed_in_milliseconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(perf_counter=iter([1.0, 1.5]).__next__)
    monkeypatch.setattr("gllint_runtime.execution.registry.time", clock)
    assert execute(Meter(), room="hall").execution_time_ms == 500


def test_the_tools_own_timing_is_kept() -> None:
    assert (
        execute(
            Meter(result=ToolResult(True, None, "meter", ToolCategory.READ_ONLY, None, 42.0))
        ).execution_time_ms
        == 42
    )


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (ToolResult(False, None, "meter", ToolCategory.READ_ONLY, "no signal"), "no signal"),
        (RuntimeError("broken"), "broken"),
        (ToolResult(True, {"heat": 7}, "meter", ToolCategory.READ_ONLY), "raw number"),
    ],
)
def test_execute_never_raises(result: Any, message: str) -> None:
    answer = execute(Meter(result=result))
    assert not answer.success
    assert not answer.cancelled
    assert message in str(answer.error_message)


def test_execute_of_an_unknown_tool() -> None:
    answer = asyncio.run(ToolRegistry().execute("meter"))
    assert not answer.success
    assert "not found" in str(answer.error_message)


def test_execute_times_out() -> None:
    class Slow(Meter):
        timeout = 0.05

        async def execute(self, **kwargs: Any) -> ToolResult:
            await asyncio.sleep(3)
            raise AssertionError

    assert "timed out after 0.05 s" in str(execute(Slow()).error_message)


def test_execute_runs_plain_functions_aside() -> None:
    async def main() -> tuple[ToolResult, int]:
        registry = ToolRegistry()
        registry.register(Tool(name="x", fn=lambda: time.sleep(0.1) or {"a": "b"}))
        ticks = 0
        running = asyncio.create_task(registry.execute("x"))
        while not running.done():
            await asyncio.sleep(0.01)
            ticks += 1
        return running.result(), ticks

    result, ticks = asyncio.run(main())
    assert result.data == {"a": "b"}
    assert ticks > 2


def test_refusal_is_a_clean_cancelled_result() -> None:
    meter = Meter(ToolCategory.EXTERNAL)
    result = execute(meter, approve=lambda tool, args, first: False)
    assert (result.success, result.cancelled, result.error_message) == (
        False,
        True,
        "Tool execution cancelled",
    )
    assert result.category is ToolCategory.EXTERNAL
    assert meter.ran == 0


def test_invoke_runs_classes_too() -> None:
    registry = ToolRegistry()
    registry.register(Meter())
    assert registry.invoke("meter", {"room": "hall"})["heat"] == {"value": 7, "unit": "kWh"}


def test_a_tool_is_invoked_on_a_loop_as_well() -> None:
    registry = ToolRegistry()
    registry.register(Meter())
    registry.register(Tool(name="switch", category=ToolCategory.EXTERNAL, fn=dict))
    heat = asyncio.run(registry.ainvoke("meter", {"room": "hall"}))
    assert heat == registry.invoke("meter", {"room": "hall"})
    with pytest.raises(GLSecurityError):
        asyncio.run(registry.ainvoke("switch"))


def test_format_result() -> None:
    meter = Meter()
    assert meter.format_result(ToolResult(True, {"a": "b"}, "meter", meter.category)) == '{"a": "b"}'
    assert (
        meter.format_result(ToolResult(False, None, "meter", meter.category, "no signal"))
        == "meter failed: no signal"
    )


def test_replay_refuses_what_needs_the_network() -> None:
    registry = ToolRegistry()
    registry.register(giving({"a": "b"}, live_required=True))
    assert registry.invoke("give") == {"a": "b"}
    with pytest.raises(GLSecurityError) as caught:
        registry.invoke("give", mode="Replay")
    assert caught.value.code == "EGRESS_BLOCKED"


def test_a_failed_result_is_the_tools_own() -> None:
    answer = execute(
        Meter(result=ToolResult(False, {"heat": 7}, "meter", ToolCategory.READ_ONLY, "no signal"))
    )
    assert (answer.error_message, answer.data) == ("no signal", None)
    assert answer.execution_time_ms > 0


def test_failures_come_out_of_invoke_as_well() -> None:
    registry = ToolRegistry()
    registry.register(Meter(result=ToolResult(False, None, "meter", ToolCategory.READ_ONLY, "no signal")))
    with pytest.raises(GLRuntimeError) as caught:
        registry.invoke("meter", {"room": "hall"})
    assert caught.value.code == "TOOL_FAILED" and "no signal" in caught.value.message


def test_a_tool_of_another_framework_brings_a_model_for_its_arguments() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Arguments(pydantic.BaseModel):
        room: str
        floor: int = 0

    class Thermometer:
        name = "Thermometer"
        description = "Reads a room"
        args_schema = Arguments

        def run(self, room: str, floor: int = 0) -> dict[str, Any]:
            return {"temperature": {"value": 21.5, "unit": "degC"}}

    registry = ToolRegistry()
    registry.register(Thermometer())
    assert registry.invoke("Thermometer", {"room": "hall"})["temperature"]["value"] == 21.5
    with pytest.raises(GLValidationError):
        registry.invoke("Thermometer", {"room": 5})
    assert registry.descriptors()[0]["parameters"]["required"] == ["room"]

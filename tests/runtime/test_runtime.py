"""The loop: steps, repairs, bounds, modes, claims, rendering, metrics and trace."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unittest.mock import Mock

import pytest

from gllint_runtime import (
    GLDataError,
    GLError,
    GLProvenanceError,
    GLRuntimeError,
    GLSecurityError,
    GLValidationError,
    Quantity,
    ScriptedProvider,
    Session,
    Tool,
    ToolCategory,
    ToolRegistry,
    ToolRuntime,
)
from gllint_runtime.execution.responses import AGENT_RESPONSE_SCHEMA
from gllint_runtime.execution.steps import read_step
from gllint_runtime.policy.errors import HINTS, error_from_dict
from gllint_runtime.policy.rendering import format_quantity
from gllint_runtime.policy.validation import checker
from gllint_runtime.providers.scripted import Recorder, Replayer


def giving(value: Any, unit: str = "kWh", name: str = "read_meter", **options: Any) -> Tool:
    return Tool(name=name, fn=lambda: {"heat": {"value": value, "unit": unit}}, **options)


# ------------------------------------------------------------------------------------------------ a whole turn


def test_a_turn(run: Any, step: Any) -> None:
    answer = run(
        step.call("heating_intensity", heat_kwh=5000, area_m2=400),
        step.final("It needs {{claim:0}} a year.", step.claim("$.intensity", 12.5, "kWh/m2")),
    )
    assert answer["message"] == "It needs 12.50 kWh/m2 a year."
    (entry,) = answer["provenance"]
    assert entry["source_call_id"] == entry["call_id"] == "tc_1"
    assert (entry["path"], entry["quantity"]) == ("$.intensity", {"value": 12.5, "unit": "kWh/m2"})
    assert entry["tool_name"] == "heating_intensity"
    assert entry["arguments"] == {"heat_kwh": 5000, "area_m2": 400}
    assert entry["output_hash"].startswith("sha256:")
    assert entry["grounded"] is True


@pytest.mark.parametrize(
    "final",
    [
        {"message": "It is {{claim:0}}.", "claims": [{"source_call_id": "tc_1", "path": "$.intensity"}]},
        {"message": "It is {{tc_1.intensity}}."},
    ],
)
def test_a_call_and_a_path_are_claim_enough(final: Any, run: Any, step: Any) -> None:
    answer = run(step.call("heating_intensity", heat_kwh=5000, area_m2=400), {"kind": "final", **final})
    assert answer["message"] == "It is 12.50 kWh/m2."


def test_the_output_hash_is_of_the_canonical_json(run: Any, step: Any) -> None:
    import hashlib

    answer = run(
        step.call("read_meter"), step.final("{{claim:0}}", step.claim("$.heat", 5, "kWh")), tools=[giving(5)]
    )
    canonical = '{"heat":{"unit":"kWh","value":5}}'
    assert (
        answer["provenance"][0]["output_hash"] == "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()
    )


def test_several_calls_and_claims_in_any_order(run: Any, step: Any) -> None:
    answer = run(
        step.call("heating_intensity", heat_kwh=5000, area_m2=400),
        step.call("heating_intensity", heat_kwh=8000, area_m2=400),
        step.final(
            "{{claim:1}}, then {{claim:0}}, again {{claim:1}}",
            step.claim("$.intensity", 12.5, "kWh/m2"),
            step.claim("$.intensity", 20, "kWh/m2", "tc_2"),
        ),
    )
    assert answer["message"] == "20.00 kWh/m2, then 12.50 kWh/m2, again 20.00 kWh/m2"
    assert [entry["call_id"] for entry in answer["provenance"]] == ["tc_1", "tc_2"]


def test_the_model_is_told_the_rules_the_tools_and_the_results(registry: ToolRegistry, step: Any) -> None:
    provider = ScriptedProvider(
        [step.call("heating_intensity", heat_kwh=5000, area_m2=400), step.final("Done")]
    )
    ToolRuntime(provider, registry).run("You advise.", "How much?")
    assert "{{claim:0}}" in provider.received[0]["system"]
    assert provider.received[0]["user"] == "How much?"
    assert provider.received[1] == {
        "tool_call_id": "tc_1",
        "output": {"intensity": {"value": 12.5, "unit": "kWh/m2"}},
    }


@pytest.mark.parametrize(
    "raw",
    [
        {"kind": "final", "message": "Done", "claims": []},
        {"kind": "final", "message": "Done"},
        {"kind": "final", "final": {"message": "Done", "claims": None}},
        {"final": {"message": "Done"}},
        '{"kind": "final", "final": {"message": "Done"}}',
        '```json\n{"kind": "final", "message": "Done"}\n```',
    ],
)
def test_final_steps_nested_or_flat_as_data_or_text(raw: Any, run: Any) -> None:
    assert run(raw)["message"] == "Done"


@pytest.mark.parametrize(
    "raw",
    [
        {"kind": "tool_call", "tool_name": "x", "arguments": {"a": 1}},
        {"kind": "tool_call", "name": "x", "args": {"a": 1}},
        {"name": "x", "args": {"a": 1}},
        {"tool_name": "x", "arguments": '{"a": 1}'},
        '{"kind": "tool_call", "tool_name": "x", "arguments": {"a": 1}}',
    ],
)
def test_tool_calls_in_every_spelling(raw: Any) -> None:
    read = read_step(raw)
    assert (read.kind, read.tool_name, read.arguments) == ("tool_call", "x", {"a": 1})


CLAIM = {"source_call_id": "tc_1", "path": "$.heat", "quantity": {"value": 5, "unit": "kWh"}}


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ("no object", None),
        (None, None),
        ({"kind": "think"}, "kind"),
        ({"kind": ["final"]}, "kind"),
        ({"kind": "final"}, "final.message"),
        ({"kind": "final", "final": "text"}, "final.message"),
        ({"kind": "final", "message": 5}, "final.message"),
        ({"kind": "final", "message": "a", "claims": {"a": 1}}, "final.claims"),
        ({"kind": "final", "message": "a", "claims": "none"}, "final.claims"),
        ({"kind": "final", "message": "a", "claims": ["tc_1"]}, "final.claims[0]"),
        ({"kind": "final", "message": "a", "claims": [CLAIM, {**CLAIM, "path": 5}]}, "final.claims[1].path"),
        (
            {"kind": "final", "message": "a", "claims": [{**CLAIM, "source_call_id": None}]},
            "final.claims[0].source_call_id",
        ),
        ({"kind": "final", "message": "a", "claims": [{**CLAIM, "quantity": 5}]}, "final.claims[0].quantity"),
        (
            {"kind": "final", "message": "a", "claims": [{**CLAIM, "quantity": [5, "kWh"]}]},
            "final.claims[0].quantity",
        ),
        (
            {"kind": "final", "message": "a", "claims": [{**CLAIM, "quantity": {"value": 5}}]},
            "final.claims[0].quantity",
        ),
        ({"kind": "tool_call", "arguments": {}}, "name"),
    ],
)
def test_steps_that_are_none(raw: Any, path: str | None, run: Any) -> None:
    with pytest.raises(GLValidationError) as caught:
        run(raw)
    assert (caught.value.code, caught.value.path) == ("STEP_SCHEMA", path)


def test_asking_the_user_back(run: Any, step: Any) -> None:
    answer = run(step.call("None", clarification_needed="Which building?"))
    assert answer["message"] == "Which building?"
    assert answer["clarification_needed"] is True
    with pytest.raises(GLRuntimeError, match="NO_NAKED_NUMBERS"):
        run(step.call("None", clarification_needed="Is it 500 kWh?"))


# ------------------------------------------------------------------------------------------------------ claims


def claimed(run: Any, step: Any, claim: dict[str, Any], tool: Tool, message: str = "{{claim:0}}") -> str:
    return str(run(step.call(tool.name), step.final(message, claim), tools=[tool])["message"])


@pytest.mark.parametrize(("value", "unit"), [(6, "kWh"), (5, "MWh"), (5, "USD")])
def test_claims_that_are_not_the_tools(value: Any, unit: str, run: Any, step: Any) -> None:
    with pytest.raises(GLDataError, match="Claim 0 mismatch: tool returned value=5 unit='kWh'") as caught:
        claimed(run, step, step.claim("$.heat", value, unit), giving(5))
    assert (caught.value.code, caught.value.path) == ("QUANTITY_MISMATCH", "$.heat")


@pytest.mark.parametrize("path", ["$.cold", "heat", "$.note"])
def test_paths_that_do_not_lead_to_a_quantity(path: str, run: Any, step: Any) -> None:
    tool = Tool(name="x", fn=lambda: {"heat": {"value": 5, "unit": "kWh"}, "note": "5 kWh"})
    with pytest.raises(GLDataError) as caught:
        claimed(run, step, step.claim(path, 5, "kWh"), tool)
    assert (caught.value.code, caught.value.path) == ("PATH_RESOLUTION", path)


def test_claims_that_cite_no_call(run: Any, step: Any) -> None:
    with pytest.raises(GLProvenanceError) as caught:
        claimed(run, step, step.claim("$.heat", 5, "kWh", "tc_2"), giving(5))
    assert caught.value.code == "MISSING_TOOL_CALL"
    assert "tc_1" in caught.value.hint


def test_a_run_cannot_cite_the_one_before(registry: ToolRegistry, step: Any) -> None:
    cite = step.final("{{claim:0}}", step.claim("$.intensity", 12.5, "kWh/m2"))
    turn = [step.call("heating_intensity", heat_kwh=5000, area_m2=400), cite]
    runtime = ToolRuntime(ScriptedProvider([*turn * 2, cite]), registry)
    assert [runtime.run("", "")["provenance"][0]["call_id"] for _ in range(2)] == ["tc_1"] * 2
    with pytest.raises(GLProvenanceError, match="MISSING_TOOL_CALL"):
        runtime.run("", "")


def test_a_tool_cannot_rewrite_its_history(registry: ToolRegistry, step: Any) -> None:
    kept: dict[str, Any] = {"heat": {"value": 5, "unit": "kWh"}}

    def forge() -> dict[str, Any]:
        kept["heat"]["value"] = 999
        return {"note": "nothing"}

    registry.register(Tool(name="meter", fn=lambda: kept))
    registry.register(Tool(name="forge", fn=forge))
    final = step.final("{{claim:0}}", step.claim("$.heat", 5, "kWh"))
    script = ScriptedProvider([step.call("meter"), step.call("forge"), final])
    assert ToolRuntime(script, registry).run("", "")["message"] == "5.00 kWh"


def test_a_claim_without_macro_and_a_macro_without_claim(run: Any, step: Any) -> None:
    for message in ("Done", "{{claim:1}}"):
        with pytest.raises(GLRuntimeError) as caught:
            run(step.final(message, step.claim("$.heat", 5, "kWh")))
        assert caught.value.code == "MISSING_CLAIM"


def test_what_is_rendered_is_not_read_again(step: Any) -> None:
    registry = ToolRegistry(extend_units=["{{claim:1}}"])
    registry.register(giving(5, "{{claim:1}}"))
    registry.register(giving(6, name="other"))
    script = [
        step.call("read_meter"),
        step.call("other"),
        step.final(
            "{{claim:0}} and {{claim:1}}",
            step.claim("$.heat", 5, "{{claim:1}}"),
            step.claim("$.heat", 6, "kWh", "tc_2"),
        ),
    ]
    answer = ToolRuntime(ScriptedProvider(script), registry).run("", "")
    assert answer["message"] == "5.00 {{claim:1}} and 6.00 kWh"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (268, "268.00"),
        (1000.0, "1000.00"),
        (1234567.891, "1234567.89"),
        (2.675, "2.675"),
        (1, "1.00"),
        (-12.345, "-12.345"),
        (0, "0.00"),
        (-0.0, "0.00"),
        (0.5, "0.50"),
        (-0.25, "-0.25"),
        (0.00004, "0.00004"),
        (0.123456, "0.123456"),
        (0.99999, "0.99999"),
        (1e-12, "0.000000000001"),
        (10**20 + 1, "100000000000000000001.00"),
        (1e16, "10000000000000000.00"),
    ],
)
def test_rendering(value: float, shown: str) -> None:
    assert format_quantity(Quantity(value, "kWh")) == f"{shown} kWh"
    assert format_quantity(Quantity(value, "")) == shown


def test_the_smallest_number_is_not_shown_as_zero() -> None:
    assert float(format_quantity(Quantity(5e-324, "")).replace(" ", "")) > 0


# ------------------------------------------------------------------------------------------ repairs and bounds


def test_a_naked_number_is_given_another_try(run: Any, step: Any) -> None:
    answer = run(
        step.final("It needs 12.5."),
        step.call("heating_intensity", heat_kwh=5000, area_m2=400),
        step.final("It needs {{claim:0}}.", step.claim("$.intensity", 12.5, "kWh/m2")),
        retries=1,
    )
    assert answer["metrics"]["naked_number_rejections"] == 1
    assert answer["message"] == "It needs 12.50 kWh/m2."


def test_what_the_model_is_told(registry: ToolRegistry, step: Any) -> None:
    provider = ScriptedProvider([step.final("It needs 12.5."), step.final("Done")])
    ToolRuntime(provider, registry).run("", "")
    told = provider.received[1]["error"]
    assert told.startswith("[NO_NAKED_NUMBERS] Naked number '12.5' detected at position 9")
    assert HINTS["NO_NAKED_NUMBERS"] in told


def test_the_budget_of_repairs_is_for_the_whole_run(run: Any, step: Any) -> None:
    bad, call = step.final("It needs 5."), step.call("heating_intensity", heat_kwh=5000, area_m2=400)
    with pytest.raises(GLRuntimeError, match="NO_NAKED_NUMBERS") as caught:
        run(bad, call, bad, call, bad, call, step.final("Done"), retries=2)
    assert caught.value.context == [{"text": "5", "position": 9}]


def test_every_blocked_final_counts(registry: ToolRegistry, step: Any) -> None:
    runtime = ToolRuntime(ScriptedProvider([step.final("5")] * 3), registry)
    with pytest.raises(GLRuntimeError):
        runtime.run("", "")
    assert runtime.get_metrics()["naked_number_rejections"] == 3


@pytest.mark.parametrize(
    ("code", "broken"),
    [
        ("ARGS_SCHEMA", {"kind": "tool_call", "tool_name": "heating_intensity", "arguments": {}}),
        ("PATH_RESOLUTION", {"kind": "tool_call", "tool_name": "cooling", "arguments": {}}),
        ("TOOL_FAILED", {"kind": "tool_call", "tool_name": "broken", "arguments": {}}),
        ("APPROVAL_DENIED", {"kind": "tool_call", "tool_name": "writer", "arguments": {}}),
        ("EGRESS_BLOCKED", {"kind": "tool_call", "tool_name": "weather", "arguments": {}}),
        ("STEP_SCHEMA", "I think it is warm"),
        ("MISSING_CLAIM", {"kind": "final", "message": "{{claim:0}}"}),
        ("MISSING_TOOL_CALL", {"kind": "final", "message": "{{claim:0}}", "claims": [CLAIM]}),
    ],
)
def test_other_errors_are_raised_or_repaired_as_configured(
    code: str, broken: Any, registry: ToolRegistry, step: Any
) -> None:
    registry.register(Tool(name="broken", fn=lambda: 1 / 0))
    registry.register(Tool(name="writer", fn=dict, category=ToolCategory.MODIFICATION))
    registry.register(Tool(name="weather", fn=dict, live_required=True))
    with pytest.raises(GLError) as caught:
        ToolRuntime(ScriptedProvider([broken]), registry).run("", "")
    assert caught.value.code == code
    script = ScriptedProvider([broken, step.final("Done")])
    assert ToolRuntime(script, registry, repair_on=[code]).run("", "")["message"] == "Done"


def test_steps_are_bounded(registry: ToolRegistry, step: Any) -> None:
    provider = Mock()
    provider.chat_step.return_value = step.call("heating_intensity", heat_kwh=5000, area_m2=400)
    runtime = ToolRuntime(provider, registry, max_steps=5)
    with pytest.raises(GLRuntimeError, match="No final answer after 5 steps"):
        runtime.run("", "")
    assert provider.chat_step.call_count == 5
    assert runtime.try_run("", "")["status"] == "max_attempts_reached"
    assert ToolRuntime(provider, registry).max_steps == 20


def test_the_union(registry: ToolRegistry, step: Any) -> None:
    done = ToolRuntime(ScriptedProvider([step.final("Done")]), registry).try_run("", "")
    assert (done["status"], done["message"]) == ("success", "Done")
    blocked = ToolRuntime(ScriptedProvider([step.final("5")]), registry).try_run("", "", max_retries=0)
    assert blocked["status"] == "error"
    assert blocked["error"]["code"] == "NO_NAKED_NUMBERS"
    assert blocked["metrics"]["naked_number_rejections"] == 1
    assert blocked["trace"][-1]["decision"] == "final_answer"
    broken = ToolRuntime(ScriptedProvider([]), registry).try_run("", "")
    assert broken["error"] == {
        "error_type": "RuntimeError",
        "code": "PROVIDER_FAILED",
        "message": "RuntimeError: The script has no further step",
        "hint": HINTS["PROVIDER_FAILED"],
        "path": None,
        "context": None,
    }


def test_what_a_provider_raises_comes_through(registry: ToolRegistry) -> None:
    provider = Mock()
    provider.chat_step.side_effect = ConnectionError("down")
    with pytest.raises(ConnectionError):
        ToolRuntime(provider, registry).run("", "")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"mode": "replay"}, "mode must be"),
        ({"mode": "LIVE"}, "mode must be"),
        ({"argument_origin": "on"}, "argument_origin must be one of"),
        ({"repair_on": ["X"]}, "repair_on has unknown error codes: X"),
        ({"repair_on": "NO_NAKED_NUMBERS"}, "repair_on must be a list"),
        ({"max_steps": 0}, "max_steps must be"),
        ({"max_steps": "5"}, "max_steps must be"),
        ({"approve": True}, "approve must be a function"),
        ({"notify": "me"}, "notify must be a function"),
        ({"provider": None}, "provider must have a method chat_step"),
        ({"registry": {}}, "registry must be a ToolRegistry"),
    ],
)
def test_what_no_runtime_can_be_made_of(options: Any, says: str, registry: ToolRegistry) -> None:
    with pytest.raises((TypeError, ValueError), match=says):
        ToolRuntime(**{"provider": ScriptedProvider([]), "registry": registry, **options})


# ------------------------------------------------------------------------------------------------------- modes


def test_replay_refuses_the_network_and_counts_it(registry: ToolRegistry, step: Any) -> None:
    ran: list[int] = []
    registry.register(Tool(name="weather", fn=lambda: ran.append(1), live_required=True))
    runtime = ToolRuntime(ScriptedProvider([step.call("weather")]), registry)
    with pytest.raises(GLSecurityError, match="requires Live mode but runtime is in Replay"):
        runtime.run("", "")
    assert runtime.get_metrics()["replay_violations"] == 1
    assert ran == []


def test_live_lets_it_through(registry: ToolRegistry, step: Any) -> None:
    registry.register(giving(20, "degC", name="weather", live_required=True))
    script = ScriptedProvider(
        [step.call("weather"), step.final("{{claim:0}}", step.claim("$.heat", 20, "degC"))]
    )
    assert ToolRuntime(script, registry, mode="Live").run("", "")["message"] == "20.00 degC"


@pytest.mark.parametrize(("mode", "options"), [("Replay", {"temperature": 0.0, "seed": 7}), ("Live", None)])
def test_replay_passes_temperature_and_seed(
    mode: Any, options: Any, registry: ToolRegistry, step: Any
) -> None:
    provider = Mock()
    provider.chat_step.return_value = step.final("Done")
    answer = ToolRuntime(provider, registry, mode=mode, seed=7).run("", "")
    assert provider.chat_step.call_args.kwargs.get("options") == options
    assert answer["trace"][0]["input"] == {
        "mode": mode,
        "options": options or {},
        "argument_origin": "record",
    }


def test_a_provider_that_takes_no_options_gets_none(registry: ToolRegistry, step: Any) -> None:
    class Plain(ScriptedProvider):
        def chat_step(self, *, schema: Any = None, tools: Any = None, state: Any = None) -> Any:  # type: ignore[override]
            return super().chat_step(schema=schema, tools=tools, state=state)

    assert ToolRuntime(Plain([step.final("Done")]), registry).run("", "")["message"] == "Done"


# --------------------------------------------------------------------------------------- people stay in charge


def test_approval_in_a_run(registry: ToolRegistry, step: Any) -> None:
    written: list[str] = []
    registry.register(
        Tool(
            name="write",
            fn=lambda text: written.append(text),
            category=ToolCategory.MODIFICATION,
            result_schema={},
        )
    )
    asked: list[Any] = []

    def approve(tool: Tool, args: dict[str, Any], first_use: bool) -> bool:
        asked.append((tool.name, args, first_use))
        return args["text"] != "bad"

    def answer(text: str) -> dict[str, Any]:
        script = ScriptedProvider([step.call("write", text=text), step.final("Done")])
        return ToolRuntime(script, registry, approve=approve).try_run("", "")

    good, bad = answer("good"), answer("bad")
    assert good["status"] == "success"
    assert good["trace"][2]["validation"] == {"arguments": "valid", "approval": "approved"}
    assert bad["error"]["code"] == "APPROVAL_DENIED"
    assert written == ["good"]
    assert asked == [("write", {"text": "good"}, True), ("write", {"text": "bad"}, True)]


def test_the_registrys_gate_is_the_default(step: Any) -> None:
    registry = ToolRegistry(approve=lambda tool, args, first_use: True)
    registry.register(Tool(name="write", fn=dict, category=ToolCategory.EXTERNAL))
    script = ScriptedProvider([step.call("write"), step.final("Done")])
    assert ToolRuntime(script, registry).run("", "")["message"] == "Done"


@pytest.mark.parametrize("where", ["tool", "step", "approval"])
def test_the_user_can_cancel_at_any_step(where: str, registry: ToolRegistry, step: Any) -> None:
    ran: list[str] = []
    registry.register(
        Tool(name="write", fn=lambda: ran.append("write"), category=ToolCategory.EXTERNAL, result_schema={})
    )

    class Script(ScriptedProvider):
        def chat_step(self, **request: Any) -> Any:
            if where == "step":
                runtime.cancel()
            return super().chat_step(**request)

    def approve(*_: Any) -> bool:
        if where == "approval":
            runtime.cancel()
        return True

    def stop() -> dict[str, Any]:
        runtime.cancel()
        return {}

    registry.register(Tool(name="stop", fn=stop))
    calls = [step.call("stop")] if where == "tool" else []
    runtime = ToolRuntime(Script([*calls, step.call("write"), step.final("Done")]), registry, approve=approve)
    answer = runtime.try_run("", "")
    assert answer["error"]["code"] == "CANCELLED"
    assert ran == []


def test_a_cancelled_runtime_can_run_again(registry: ToolRegistry, step: Any) -> None:
    runtime = ToolRuntime(ScriptedProvider([step.final("Done")]), registry)
    runtime.cancel()
    assert runtime.run("", "")["message"] == "Done"


# ----------------------------------------------------------------------------------------- metrics and trace


def test_metrics(registry: ToolRegistry, step: Any) -> None:
    registry.register(giving(5))
    script = [
        step.call("read_meter"),
        step.call("heating_intensity", heat_kwh=5000, area_m2=400),
        step.call("read_meter"),
        step.final("5"),
        step.final("{{claim:0}}", step.claim("$.heat", 6, "kWh")),
        step.final("{{claim:0}}", step.claim("$.heat", 5, "kWh")),
    ]
    runtime = ToolRuntime(
        ScriptedProvider(script), registry, repair_on=["NO_NAKED_NUMBERS", "QUANTITY_MISMATCH"]
    )
    result = runtime.run("", "")
    metrics = result["metrics"]
    latency = metrics.pop("avg_tool_latency_ms")
    took = [entry["duration_ms"] for entry in result["trace"] if entry["kind"] == "tool"]
    assert all(took) and latency == pytest.approx(sum(took) / 3)
    assert metrics == {
        "tool_use_rate": 0.5,
        "total_tool_calls": 3,
        "unique_tools_used": 2,
        "naked_number_rejections": 1,
        "quantity_mismatches": 1,
        "replay_violations": 0,
        "total_steps": 6,
    }
    assert runtime.get_metrics() == {**metrics, "avg_tool_latency_ms": latency}


def test_durations_are_milliseconds(step: Any, tmp_path: Path) -> None:
    registry, tape = ToolRegistry(), tmp_path / "run.jsonl"
    registry.register(giving(5))
    script = ScriptedProvider([step.call("read_meter"), step.final("Done")])
    ToolRuntime(Recorder(script, tape), registry).run("", "")
    readings = iter([1.0, 1.5, 2.0, 2.25, 3.0, 4.0])  # of the clock
    lines = [
        json.dumps({"clock": next(readings)}) if "clock" in json.loads(line) else line
        for line in tape.read_text("utf-8").splitlines()
    ]
    tape.write_text("\n".join(lines), "utf-8")
    result = ToolRuntime(Replayer(tape), registry).run("", "")
    assert [entry["duration_ms"] for entry in result["trace"]] == [0, 500, 250, 1000]
    assert result["metrics"]["avg_tool_latency_ms"] == 250


def test_a_step_that_is_no_dict_is_recorded_as_one(registry: ToolRegistry, tmp_path: Path) -> None:
    step = MappingProxyType({"kind": "final", "message": "Dry."})
    tape = tmp_path / "run.jsonl"

    class Given(ScriptedProvider):
        def chat_step(self, **options: Any) -> Any:
            return step

    live = ToolRuntime(Recorder(Given([]), tape), registry).run("", "")
    assert live["message"] == "Dry." and ToolRuntime(Replayer(tape), registry).run("", "") == live


def test_metrics_before_any_run(registry: ToolRegistry) -> None:
    metrics = ToolRuntime(ScriptedProvider([]), registry).get_metrics()
    assert set(metrics.values()) == {0}


def test_the_trace_has_every_decision_and_execution(registry: ToolRegistry, step: Any) -> None:
    script = [
        "nothing",
        step.call("cooling"),
        step.call("heating_intensity", heat_kwh=-1, area_m2=400),
        step.call("heating_intensity", heat_kwh=5000, area_m2=400),
        step.final("5"),
        step.final("Done"),
    ]
    codes = ["STEP_SCHEMA", "PATH_RESOLUTION", "ARGS_SCHEMA", "NO_NAKED_NUMBERS"]
    runtime = ToolRuntime(ScriptedProvider(script), registry, repair_on=codes)
    trace = runtime.run("", "", max_retries=9)["trace"]
    assert [(e["kind"], e["step"], e["decision"], e["success"]) for e in trace] == [
        ("start", 0, None, True),
        ("model", 1, "invalid", False),
        ("model", 2, "tool_use", True),
        ("tool", 2, None, False),
        ("model", 3, "tool_use", True),
        ("tool", 3, None, False),
        ("model", 4, "tool_use", True),
        ("tool", 4, None, True),
        ("model", 5, "final_answer", False),
        ("model", 6, "final_answer", True),
    ]
    assert trace[3]["validation"]["error"]["code"] == "PATH_RESOLUTION"
    assert trace[5]["input"] == {"heat_kwh": -1, "area_m2": 400}
    assert [trace[i]["tools"] for i in (0, 1, 7, 9)] == [[], [], ["heating_intensity"], []]
    assert trace[7]["call_id"] == "tc_1"
    assert trace[7]["observation"] == {"intensity": {"value": 12.5, "unit": "kWh/m2"}}
    assert [e for e in trace if not 0 <= e["duration_ms"] < 60_000] == []
    assert trace[7]["duration_ms"] > 0
    assert trace[8]["validation"]["code"] == "NO_NAKED_NUMBERS"
    assert runtime.trace == trace
    json.dumps(trace)


def test_repaired_arguments_are_noted(registry: ToolRegistry, step: Any) -> None:
    schema = {"type": "object", "properties": {"where": {"type": "object"}}}
    registry.register(Tool(name="find", args_schema=schema, fn=lambda where: {"city": "Graz"}))
    trace = ToolRuntime(
        ScriptedProvider([step.call("find", where='{"a": "b"}'), step.final("Done")]), registry
    ).run("", "")["trace"]
    assert trace[2]["validation"]["arguments"] == "repaired"
    assert trace[2]["input"] == {"where": '{"a": "b"}'}


def test_the_trace_keeps_what_was_even_if_the_provider_changes_it(registry: ToolRegistry, step: Any) -> None:
    raw = step.call("heating_intensity", heat_kwh=5000, area_m2=400)

    class Forgetful(ScriptedProvider):
        def chat_step(self, **request: Any) -> Any:
            return raw if not self.received[1:] else super().chat_step(**request)

        def inject_tool_result(self, result: dict[str, Any]) -> int:
            raw["arguments"]["heat_kwh"] = 1
            result["output"]["intensity"]["value"] = 99
            return super().inject_tool_result(result)

    script = Forgetful([step.final("{{claim:0}}", step.claim("$.intensity", 12.5, "kWh/m2"))])
    answer = ToolRuntime(script, registry).run("", "")
    assert answer["message"] == "12.50 kWh/m2"
    assert answer["trace"][1]["observation"]["arguments"]["heat_kwh"] == 5000
    assert answer["provenance"][0]["arguments"]["heat_kwh"] == 5000


def test_what_is_no_data_is_traced_as_text(registry: ToolRegistry) -> None:
    class Strange:
        def __repr__(self) -> str:
            return "<strange>"

    answer = ToolRuntime(ScriptedProvider([Strange()]), registry).try_run("", "")
    assert answer["trace"][1]["observation"] == "<strange>"


def test_logging(registry: ToolRegistry, step: Any, caplog: pytest.LogCaptureFixture) -> None:
    script = [
        step.call("heating_intensity", heat_kwh=5000, area_m2=400),
        step.final("5"),
        step.final("{{claim:0}}", step.claim("$.intensity", 12.5, "kWh/m2")),
    ]
    with caplog.at_level(logging.DEBUG, logger="gllint_runtime"):
        ToolRuntime(ScriptedProvider(script), registry).run("", "")
    text = caplog.text
    assert "heat_kwh" in text
    assert "12.5" in text
    assert "Naked number '5'" in text
    assert "Claim 0 holds" in text


# ------------------------------------------------------------------------------------------------------ errors


def test_errors_carry_everything_and_print_their_code() -> None:
    error = GLDataError("PATH_RESOLUTION", "gone", path="$.heat", context={"a": 1})
    assert str(error) == f"[PATH_RESOLUTION] gone\n{error.hint}"
    assert error.hint == HINTS["PATH_RESOLUTION"]
    assert error.to_dict() == {
        "error_type": "GLDataError",
        "code": "PATH_RESOLUTION",
        "message": "gone",
        "hint": HINTS["PATH_RESOLUTION"],
        "path": "$.heat",
        "context": {"a": 1},
    }
    again = error_from_dict(error.to_dict())
    assert (type(again), again.to_dict()) == (GLDataError, error.to_dict())


def test_an_error_of_ones_own_has_the_codes_of_its_kind() -> None:
    class MeterError(GLDataError):
        """A project's own."""

    assert MeterError("PATH_RESOLUTION", "No meter").hint == HINTS["PATH_RESOLUTION"]
    with pytest.raises(ValueError, match="MeterError has no code"):
        MeterError("TOOL_FAILED", "No meter")


def test_each_code_belongs_to_one_class_and_has_a_hint() -> None:
    owners = [(code, kind) for kind in GLError.__subclasses__() for code in kind.codes]
    assert sorted(code for code, _ in owners) == sorted(HINTS)
    assert all(getattr(kind, code) == code for code, kind in owners)
    with pytest.raises(ValueError, match="GLDataError has no code"):
        GLDataError("NO_NAKED_NUMBERS", "")


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ([{"message": "It is warm."}], "success"),
        ([{"name": "None", "args": {"clarification_needed": "Which roof?"}}], "success"),
        ([{"message": "It is 5."}], "error"),
        ([{"name": "meter"}], "error"),
        ([], "error"),
        ([{"name": "None", "args": 5}] * 9, "max_attempts_reached"),
    ],
)
def test_each_response_fits_the_schema_of_responses(script: Any, status: str, registry: Any) -> None:
    fits = checker(AGENT_RESPONSE_SCHEMA)
    runtime = ToolRuntime(ScriptedProvider(script), registry, max_steps=3)
    for answer in (runtime.try_run("", "", max_retries=9), asyncio.run(_again(script, registry))):
        assert answer["status"] == status
        assert fits(answer) is None
        assert fits({**answer, "status": "unknown"}) is not None
        assert fits({**answer, "message": 5}) is not None


async def _again(script: Any, registry: Any) -> Any:
    return await ToolRuntime(ScriptedProvider(script), registry, max_steps=3).try_arun("", "", max_retries=9)


class Endless(dict[str, Any]):
    """What it says of its members has no end."""

    def items(self) -> Any:
        return (("kind", "final") for _ in iter(int, 1))

    def get(self, key: str, default: Any = None) -> Any:
        raise RuntimeError("not told")


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        (Endless(kind="final", message="Done"), "Done"),
        ({"kind": "final", "final": Endless(message="Done")}, "Done"),
        ({"kind": "final", "final": Endless()}, None),
        ({"tool_name": "read_meter", "arguments": Endless(floor="first")}, {"floor": "first"}),
    ],
    ids=["step", "final", "empty", "arguments"],
)
def test_a_step_that_lies_about_itself_is_read_as_it_is(raw: Any, read: Any) -> None:
    if read is None:
        with pytest.raises(GLValidationError, match="STEP_SCHEMA"):
            read_step(raw)
    else:
        step = read_step(raw)
        assert read in (step.message, step.arguments)


def test_a_claim_that_lies_about_itself_is_refused() -> None:
    with pytest.raises(GLValidationError, match="STEP_SCHEMA"):
        Session().check("Done", [Endless(path="$.heat")])


@pytest.mark.parametrize("depth", [100, 1990, 1995, 1998, 1999, 2000, 2001, 5000])
def test_an_answer_of_any_depth_is_traced(depth: int) -> None:
    deep: Any = "bottom"
    for _ in range(depth):
        deep = [deep]

    class Deep:
        def init_chat(self, system_prompt: str, user_msg: str) -> None: ...

        def chat_step(self, *, schema: Any, tools: Any, state: Any) -> Any:
            return {"kind": "final", "message": "Done", "more": deep}

    answer = ToolRuntime(Deep(), ToolRegistry()).run("", "")  # type: ignore[arg-type]
    assert answer["message"] == "Done" and answer["trace"][1]["observation"]


# ----------------------------------------------------------------------------------------- what a call is told of


def metered(**options: Any) -> ToolRegistry:
    registry = ToolRegistry(**options)
    flow = {"type": "object", "properties": {"flow": {"type": "number", "x-unit": "m3/s"}}}
    level = {"type": "object", "properties": {"level": {"type": "number", "x-unit": "m"}}}
    registry.register(Tool(name="gauge", fn=lambda: {"flow": Quantity(1250, "ft3/s")}))
    registry.register(Tool(name="gate", args_schema=flow, result_schema=level, fn=lambda flow: {"level": 2}))
    return registry


@pytest.mark.parametrize(("units", "converted"), [("convert", True), ("refuse", False)])
def test_the_model_is_told_of_units_that_a_schema_declares_and_of_what_was_converted(
    units: Any, converted: bool, step: Any
) -> None:
    sent = 1250 if converted else {"value": 1250, "unit": "ft3/s"}
    provider = ScriptedProvider([step.call("gauge"), step.call("gate", flow=sent), step.final("Done")])
    runtime = ToolRuntime(provider, metered(), argument_units=units)
    runtime.run("", "")
    *_, gauge, gate = provider.received
    assert gauge == {"tool_call_id": "tc_1", "output": {"flow": {"value": 1250, "unit": "ft3/s"}}}
    change = {
        "path": "$.flow",
        "from": {"value": 1250, "unit": "ft3/s"},
        "to": {"value": 35.39605824, "unit": "m3/s"},
    }
    assert gate == {
        "tool_call_id": "tc_2",
        "output": {"level": 2},
        "units": {"$.level": "m"},
        **({"converted": [change]} if converted else {}),
    }
    entry = [entry for entry in runtime.trace if entry["kind"] == "tool"][-1]
    assert entry["validation"]["arguments"] == "repaired"
    assert [origin["source"] for origin in entry["validation"]["origins"]] == ["tc_1 $.flow"]


@pytest.mark.parametrize("mode", ["Replay", "Live"])
def test_the_trace_begins_with_the_settings_that_are_not_as_always(mode: Any, step: Any) -> None:
    def opening(registry: ToolRegistry, **options: Any) -> Any:
        runtime = ToolRuntime(ScriptedProvider([step.final("Done")]), registry, mode=mode, **options)
        return runtime.run("", "")["trace"][0]["input"]

    always = {"mode": mode, "options": {"temperature": 0.0, "seed": 42} if mode == "Replay" else {}}
    assert opening(ToolRegistry()) == {**always, "argument_origin": "record"}
    registry = ToolRegistry(packs=["counts"], plain_keys=["*_id"], plain_kinds=["index"])
    assert opening(registry, argument_origin="off") == {
        **always,
        "argument_origin": "off",
        "packs": ["counts"],
        "plain_keys": ["*_id"],
        "plain_kinds": ["index"],
    }


def test_a_call_that_is_refused_is_in_the_trace_with_its_error_and_without_an_id(step: Any) -> None:
    steps = [step.call("gauge"), step.call("gate", flow="x"), step.call("none"), step.final("Done")]
    runtime = ToolRuntime(ScriptedProvider(steps), metered())
    runtime.run("", "")
    entries = [entry for entry in runtime.trace if entry["kind"] == "tool"]
    assert [(entry["call_id"], entry["success"]) for entry in entries] == [
        ("tc_1", True),
        (None, False),
        (None, False),
    ]
    assert [entry["validation"].get("error", {}).get("code") for entry in entries] == [
        None,
        "ARGS_SCHEMA",
        "PATH_RESOLUTION",
    ]
    assert entries[1]["input"] == {"flow": "x"} and entries[0]["validation"]["approval"] == "auto"
    assert runtime.get_metrics()["total_tool_calls"] == 1

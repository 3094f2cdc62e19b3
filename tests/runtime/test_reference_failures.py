"""Each way in which GreenLang's own runtime was seen to let a number through, closed here.

The scanner's part (digits glued to letters, windows around whitelisted contexts, typed copies, code fences)
is in ``test_adversarial.py``; the units' and the approval's parts are shown here once more in a whole run.
"""

from __future__ import annotations

import dataclasses
import math
from decimal import Decimal
from typing import Any

import pytest

from gllint_runtime import (
    GLDataError,
    GLError,
    GLProvenanceError,
    GLRuntimeError,
    GLSecurityError,
    GLValidationError,
    ScriptedProvider,
    Tool,
    ToolCategory,
    ToolRegistry,
    ToolRuntime,
)
from gllint_runtime.policy.schemas import QUANTITY_REF


@dataclasses.dataclass
class Reading:
    heat: float


def returning(output: Any) -> Tool:
    return Tool(name="meter", fn=lambda: output)


def claim_of(run: Any, step: Any, output: Any, value: Any, unit: str) -> str:
    claim = step.claim("$.heat", value, unit)
    return str(
        run(step.call("meter"), step.final("{{claim:0}}", claim), tools=[returning(output)])["message"]
    )


def heat(value: Any, unit: str = "kWh") -> dict[str, Any]:
    return {"heat": {"value": value, "unit": unit}}


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_an_infinite_output_proves_nothing(value: float, run: Any, step: Any) -> None:
    with pytest.raises(GLValidationError, match="RESULT_SCHEMA"):
        claim_of(run, step, heat(value), 5, "kWh")


def test_the_tools_value_is_shown_not_the_claims(run: Any, step: Any) -> None:
    assert claim_of(run, step, heat(1000.0000001), 1000, "kWh") == "1000.00 kWh"
    registry = ToolRegistry()
    registry.register(returning(heat(2, "MWh")))
    script = ScriptedProvider(
        [step.call("meter"), step.final("{{claim:0}}", step.claim("$.heat", 2000, "kWh"))]
    )
    assert ToolRuntime(script, registry).run("", "")["message"] == "2.00 MWh"


def test_a_small_value_is_not_shown_as_zero(run: Any, step: Any) -> None:
    assert claim_of(run, step, heat(0.00004), 0.00004, "kWh") == "0.00004000 kWh"


def test_degrees_stay_degrees(run: Any, step: Any) -> None:
    assert claim_of(run, step, heat(20, "degC"), 20, "degC") == "20.00 degC"


@pytest.mark.parametrize("unit", ["parsec", "widgets", "kwh", "KWH", "MEUR", ""])
def test_the_allowlist_is_enforced(unit: str, run: Any, step: Any) -> None:
    with pytest.raises(GLValidationError, match="UNIT_UNKNOWN"):
        claim_of(run, step, heat(5, unit), 5, unit)


@pytest.mark.parametrize(
    ("output", "value", "unit", "shown"),
    [
        (heat(1, "MWh"), 1000, "kWh", "1.00 MWh"),
        (heat(1000, "kWh"), 1, "MWh", "1000.00 kWh"),
        (heat(7, "kgCO2e/m2"), 7, "kgCO2e/m2", "7.00 kgCO2e/m2"),
        (heat(7, "kgCO2e/m2"), 7000, "gCO2e/m2", "7.00 kgCO2e/m2"),
    ],
)
def test_honest_claims_in_other_units_pass(
    output: Any, value: Any, unit: str, shown: str, run: Any, step: Any
) -> None:
    assert claim_of(run, step, output, value, unit) == shown


@pytest.mark.parametrize(
    ("unit", "claimed"), [("kg", "kgCO2e"), ("USD", "EUR"), ("kWh/year", "W"), ("t", "tCO2e")]
)
def test_dimensions_never_mix(unit: str, claimed: str, run: Any, step: Any) -> None:
    with pytest.raises(GLDataError, match="QUANTITY_MISMATCH"):
        claim_of(run, step, heat(5, unit), 5, claimed)


def test_a_model_that_only_calls_tools_is_stopped(registry: ToolRegistry, step: Any) -> None:
    class Endless(ScriptedProvider):
        def chat_step(self, **_: Any) -> Any:
            return step.call("heating_intensity", heat_kwh=5000, area_m2=400)

    with pytest.raises(GLRuntimeError, match="MAX_STEPS"):
        ToolRuntime(Endless([]), registry).run("", "")


def test_a_run_cannot_cite_the_one_before(registry: ToolRegistry, step: Any) -> None:
    cite = step.final("{{claim:0}}", step.claim("$.intensity", 12.5, "kWh/m2"))
    script = [step.call("heating_intensity", heat_kwh=5000, area_m2=400), cite, cite]
    runtime = ToolRuntime(ScriptedProvider(script), registry)
    assert runtime.run("", "")["message"] == "12.50 kWh/m2"
    with pytest.raises(GLProvenanceError, match="MISSING_TOOL_CALL"):
        runtime.run("", "")


def test_call_ids_start_over_in_each_run(registry: ToolRegistry, step: Any) -> None:
    turn = [
        step.call("heating_intensity", heat_kwh=5000, area_m2=400),
        step.final("{{claim:0}}", step.claim("$.intensity", 12.5, "kWh/m2")),
    ]
    runtime = ToolRuntime(ScriptedProvider(turn * 3), registry)
    assert [runtime.run("", "")["provenance"][0]["call_id"] for _ in range(3)] == ["tc_1"] * 3


@pytest.mark.parametrize("mode", ["replay", "REPLAY", "live", "", None])
def test_a_misspelt_mode_is_no_mode(mode: Any, registry: ToolRegistry) -> None:
    with pytest.raises(ValueError, match="mode"):
        ToolRuntime(ScriptedProvider([]), registry, mode=mode)


def test_a_tool_cannot_rewrite_its_history(registry: ToolRegistry, step: Any) -> None:
    kept: dict[str, Any] = heat(5)

    def forge() -> dict[str, Any]:
        kept["heat"]["value"] = 999
        return {"note": "nothing"}

    registry.register(Tool(name="meter", fn=lambda: kept))
    registry.register(Tool(name="forge", fn=forge))
    script = [
        step.call("meter"),
        step.call("forge"),
        step.final("{{claim:0}}", step.claim("$.heat", 5, "kWh")),
    ]
    assert ToolRuntime(ScriptedProvider(script), registry).run("", "")["message"] == "5.00 kWh"


@pytest.mark.parametrize(
    "output",
    [
        {"heat": Decimal(5)},
        {"heat": (5,)},
        {"heat": {5}},
        {"heat": Reading(5)},
        {"heat": [[5]]},
        Reading(5),
        {"heat": 5 + 0j},
    ],
    ids=repr,
)
def test_no_container_or_type_hides_a_raw_number(output: Any, run: Any, step: Any) -> None:
    with pytest.raises(GLValidationError, match="RESULT_SCHEMA"):
        run(step.call("meter"), step.final("Done"), tools=[returning(output)])


def test_booleans_are_no_numbers(run: Any, step: Any) -> None:
    assert run(step.call("meter"), step.final("Done"), tools=[returning({"open": True})])["message"] == "Done"


def test_a_number_in_a_results_text_cannot_be_claimed(run: Any, step: Any) -> None:
    with pytest.raises(GLDataError, match="does not lead to a Quantity"):
        claim_of(run, step, {"heat": "500 kWh"}, 500, "kWh")


def test_what_stands_beside_a_reference_counts(registry: ToolRegistry) -> None:
    schema = {"type": "object", "properties": {"heat": {"$ref": QUANTITY_REF, "maxProperties": 1}}}
    registry.register(Tool(name="meter", result_schema=schema, fn=lambda: heat(5)))
    with pytest.raises(GLValidationError, match="too many properties"):
        registry.invoke("meter")


def test_a_misspelt_keyword_is_refused(registry: ToolRegistry) -> None:
    schema = {"type": "object", "properites": {"heat": {"$ref": QUANTITY_REF}}}
    with pytest.raises(GLValidationError, match="'properties'"):
        registry.register(Tool(name="meter", result_schema=schema, fn=lambda: heat(5)))


@pytest.mark.parametrize("confirmed", ["no", "yes", 1, None])
def test_a_confirmation_of_no_does_not_run_the_tool(confirmed: Any, step: Any) -> None:
    ran: list[int] = []
    registry = ToolRegistry(approve=lambda tool, args, first_use: confirmed)
    registry.register(Tool(name="annotate", fn=lambda: ran.append(1), category=ToolCategory.EXTERNAL))
    with pytest.raises(GLSecurityError, match="APPROVAL_DENIED"):
        ToolRuntime(ScriptedProvider([step.call("annotate")]), registry).run("", "")
    assert ran == []


def test_the_first_time_gate_is_reached(step: Any) -> None:
    firsts: list[bool] = []

    def approve(tool: Any, args: Any, first_use: bool) -> bool:
        firsts.append(first_use)
        return True

    registry = ToolRegistry(approve=approve)
    registry.register(Tool(name="annotate", fn=dict, category=ToolCategory.EXTERNAL))
    script = [step.call("annotate"), step.call("annotate"), step.final("Done")]
    ToolRuntime(ScriptedProvider(script), registry).run("", "")
    assert firsts == [True, False]


def test_no_failure_leaves_a_message(registry: ToolRegistry, step: Any) -> None:
    registry.register(returning(heat(5)))
    for message, claims in [("{{claim:0}} 7", 1), ("{{claim:1}}", 1), ("{{claim:0}}0", 1), ("5.00 kWh", 0)]:
        final = step.final(message, *[step.claim("$.heat", 5, "kWh")] * claims)
        with pytest.raises(GLError):
            ToolRuntime(ScriptedProvider([step.call("meter"), final]), registry).run("", "", max_retries=0)

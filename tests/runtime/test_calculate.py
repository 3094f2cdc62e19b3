"""The ready tool ``calculate``: numbers that follow from others, over claims."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from gllint_runtime import (
    GLError,
    Quantity,
    ScriptedProvider,
    Session,
    Tool,
    ToolRegistry,
    ToolRuntime,
    calculate,
    using,
)
from gllint_runtime.execution.calculate import calculated


def exactly(value: Any, unit: str) -> Quantity:
    return Quantity(value, unit)


def made(operation: str, *quantities: tuple[Any, str], **settings: Any) -> Quantity:
    """What an operation makes of these, each recorded as a call of its own."""
    session = Session(**settings)
    for value, unit in quantities:
        session.record("meter", {}, {"x": {"value": value, "unit": unit}})
    return calculated(session, operation, session.claimable())


@pytest.mark.parametrize(
    ("operation", "quantities", "expected"),
    [
        ("sum", [(0.1, "kWh"), (0.2, "kWh")], Quantity(0.3, "kWh")),
        ("sum", [(1, "kWh"), (500, "Wh")], Quantity(1.5, "kWh")),
        ("sum", [(1, "kWh"), (2, "kWh"), (3, "kWh")], Quantity(6, "kWh")),
        ("sum", [(7, "kWh")], Quantity(7, "kWh")),
        ("difference", [(0.3, "USD"), (0.1, "USD")], Quantity(0.2, "USD")),
        ("difference", [(20, "degC"), (15, "degC")], Quantity(5, "K")),
        ("difference", [(59, "degF"), (50, "degF")], Quantity(5, "K")),
        ("ratio", [(5000, "kWh"), (400, "m2")], Quantity(12.5, "kWh/m2")),
        ("ratio", [(6, "USD"), (3, "kWh/m2")], Quantity(2, "USD/(kWh/m2)")),
        ("ratio", [(1, "kWh"), (500, "Wh")], Quantity(200, "%")),
        ("share", [(1, "kWh"), (4, "kWh")], Quantity(25, "%")),
        ("share", [(500, "Wh"), (4, "kWh")], Quantity(12.5, "%")),
        ("percentage_change", [(0.1, "kWh"), (0.3, "kWh")], Quantity(200, "%")),
        ("Percentage change", [(-4, "kWh"), (-2, "kWh")], Quantity(50, "%")),
        ("sum", [(10**30, "kWh"), (1, "kWh")], Quantity(10**30 + 1, "kWh")),
        ("sum", [(Decimal("0.10"), "kWh"), (Decimal("0.2"), "kWh")], exactly(Decimal("0.3"), "kWh")),
        ("share", [(Decimal(1), "kWh"), (Decimal(8), "kWh")], exactly(Decimal("12.5"), "%")),
        ("difference", [(Decimal("0.25"), "kWh"), (Decimal(1), "kWh")], exactly(Decimal("-0.75"), "kWh")),
        ("sum", [(Decimal(10**29 + 1), "kWh")], exactly(Decimal(10**29 + 1), "kWh")),
        (
            "ratio",
            [(Decimal(3), "kWh"), (Decimal(2**70), "m2")],
            exactly(Decimal(f"{3 * 5**70}e-70"), "kWh/m2"),
        ),
        (
            "ratio",
            [(Decimal(3), "kWh"), (Decimal(5**45), "m2")],
            exactly(Decimal(f"{3 * 2**45}e-45"), "kWh/m2"),
        ),
        ("difference", [(Decimal(59), "degF"), (Decimal(50), "degF")], exactly(Decimal(5), "K")),
        ("ratio", [(Fraction(1, 3), "kWh"), (2, "m2")], exactly(Fraction(1, 6), "kWh/m2")),
        ("ratio", [(10, "kWh"), (4, "kWh/m2")], Quantity(2.5, "m2")),
        ("ratio", [(10, "kWh/m2"), (4, "kWh")], Quantity(2.5, "1/m2")),
        ("ratio", [(10, "kWh/m2/year"), (4, "m2")], Quantity(2.5, "kWh/m2/year/m2")),
    ],
)
def test_it_computes_with_the_decimals_that_are_shown(
    operation: str, quantities: list[tuple[Any, str]], expected: Quantity
) -> None:
    result = made(operation, *quantities)
    assert result == expected
    assert type(result.value) is type(expected.value) or result.value == expected.value


def test_a_ratio_of_one_kind_has_the_unit_1_where_that_is_allowed() -> None:
    assert made("ratio", (3, "kWh"), (2, "kWh"), extend_units=["1"]) == Quantity(1.5, "1")


def test_a_number_by_a_bare_one_keeps_its_unit() -> None:
    assert made("ratio", (3, "kWh"), (2, "1"), extend_units=["1"]) == Quantity(1.5, "kWh")


def test_a_difference_of_logarithms_is_one() -> None:
    assert made("difference", (7.5, "pH"), (7, "pH"), packs=["chemistry"]) == Quantity(0.5, "pH")


def test_a_small_decimal_without_end_has_28_digits_too() -> None:
    value: Any = made("ratio", (Decimal("1e-40"), "kWh"), (Decimal("0.3"), "m2")).value
    assert value == Decimal(f"3.{'3' * 27}e-40")


def test_a_decimal_without_end_is_cut_off_at_28_digits() -> None:
    assert str(made("ratio", (Decimal("0.1"), "kWh"), (Decimal("0.3"), "m2")).value) == f"0.{'3' * 28}"


@pytest.mark.parametrize(
    ("operation", "quantities", "part"),
    [
        ("sum", [(1, "kWh"), (1, "USD")], "USD and kWh are units of different kinds"),
        ("share", [(1, "kWh"), (1, "m2")], "units of different kinds"),
        ("sum", [(1, "degC"), (1, "degC")], "A sum of temperatures in degC has no meaning"),
        ("ratio", [(1, "degC"), (1, "m2")], "A ratio of temperatures"),
        ("difference", [(1, "degC"), (1, "degF")], "start from different zeros"),
        ("difference", [(1, "kWh")], "difference takes 2 claims, not 1"),
        ("share", [(1, "kWh"), (0, "kWh")], "The number to divide by is zero"),
        ("percentage_change", [(0, "kWh"), (1, "kWh")], "The number to divide by is zero"),
        ("product", [(1, "kWh")], "'product' must be one of the operations"),
        ("x" * 90, [(1, "kWh")], f"'{'x' * 80}' must be one of the operations"),
        ("sum", [], "sum takes from one to 1000 claims, not 0"),
        ("ratio", [(1e300, "kWh"), (1e-300, "m2")], "too large"),
        ("ratio", [(1e-300, "kWh"), (1e300, "m2")], "too small"),
        ("sum", [(60, "dB"), (60, "dB")], "A sum of numbers in dB has no meaning: they are logarithms"),
        ("ratio", [(7, "pH"), (2, "pH")], "A ratio of numbers in pH"),
        ("percentage_change", [(7, "pH"), (2, "pH")], "A percentage change of numbers in pH"),
        ("share", [(7, "mag"), (2, "mag")], "A share of numbers in mag"),
    ],
)
def test_what_cannot_be_made_is_refused(operation: str, quantities: list[tuple[Any, str]], part: str) -> None:
    with pytest.raises(GLError, match=part):
        made(operation, *quantities, packs=["rates", "chemistry", "physics"])


def claim(call: str, value: Any, unit: str = "kWh") -> dict[str, Any]:
    return {"source_call_id": call, "path": "$.heat", "quantity": {"value": value, "unit": unit}}


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"kind": "tool_call", "tool_name": tool, "arguments": arguments}


def runtime(steps: list[Any], **settings: Any) -> ToolRuntime:
    registry = ToolRegistry()
    registry.register(
        Tool(
            "meter",
            args_schema={"type": "object", "properties": {"site": {"type": "string"}}},
            fn=lambda site: {"heat": {"value": {"north": 0.1, "south": 0.2}[site], "unit": "kWh"}},
        )
    )
    registry.register(calculate)
    return ToolRuntime(ScriptedProvider(steps), registry, **settings)


@pytest.mark.parametrize("origin", ["record", "strict", "off"])
def test_an_agent_cites_what_it_calculated_and_the_provenance_has_both_sources(origin: Any) -> None:
    steps = [
        call("meter", site="north"),
        call("meter", site="south"),
        call("calculate", operation="sum", claims=[claim("tc_1", 0.1), claim("tc_2", 200, "Wh")]),
        {
            "kind": "final",
            "message": "Together: {{claim:0}}.",
            "claims": [{**claim("tc_3", 0.3), "path": "$.result"}],
        },
    ]
    answer = runtime(steps, argument_origin=origin).run("Advise.", "How much?")
    assert answer["message"] == "Together: 0.30 kWh."
    (entry,) = answer["provenance"]
    assert [cited["source_call_id"] for cited in entry["arguments"]["claims"]] == ["tc_1", "tc_2"]
    if origin != "off":
        assert entry["grounded"]
        assert [o["source"] for o in entry["origins"]] == ["tc_1 $.heat", "tc_2 $.heat"]


def test_a_model_mends_a_claim_that_does_not_hold() -> None:
    steps = [
        call("meter", site="north"),
        call("calculate", operation="sum", claims=[claim("tc_1", 7)]),
        call("calculate", operation="sum", claims=[claim("tc_1", 0.1)]),
        {
            "kind": "final",
            "message": "It is {{claim:0}}.",
            "claims": [{**claim("tc_3", 0.1), "path": "$.result"}],
        },
    ]
    agent = runtime(steps)
    assert asyncio.run(agent.arun("Advise.", "How much?"))["message"] == "It is 0.10 kWh."
    first, second = [entry["observation"] for entry in agent.trace if entry["kind"] == "tool"][1:]
    assert first["error"].startswith("[QUANTITY_MISMATCH]")
    assert second == {"result": {"value": 0.1, "unit": "kWh"}}


def test_it_takes_the_framework_s_own_id_of_a_call() -> None:
    session = Session()
    session.record("meter", {}, {"heat": {"value": 1, "unit": "kWh"}}, tool_call_id="call_abc")
    with using(session):
        assert calculate("sum", [claim("call_abc", 1)]) == {"result": {"value": 1, "unit": "kWh"}}  # type: ignore[list-item]


def test_without_a_session_it_says_what_to_do() -> None:
    assert "run the agent through its gate" in calculate("sum", [])["error"]


def test_it_is_a_tool_of_pydantic_ai() -> None:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from gllint_runtime.adapters.pydantic_ai import gate

    def heat() -> dict[str, Any]:
        return {"heat": {"value": 0.1, "unit": "kWh"}}

    answers: Iterator[Any] = iter(
        [
            ToolCallPart("heat", {}),
            ToolCallPart(
                "calculate", {"operation": "sum", "claims": [claim("tc_1", 0.1), claim("tc_1", 0.1)]}
            ),
            TextPart(
                '{"message": "Twice: {{claim:0}}.", "claims": [{"source_call_id": "tc_2", "path": "$.result",'
                ' "quantity": {"value": 0.2, "unit": "kWh"}}]}'
            ),
        ]
    )

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[next(answers)])

    agent = gate(Agent(FunctionModel(model), tools=[heat, calculate]), mode="claims")
    assert agent.run_sync("How much?").output == "Twice: 0.20 kWh."


@pytest.mark.parametrize(
    "hidden",
    [
        {"claims": [{**claim("tc_1", 1), "limit": 98_765.5}]},
        {"claims": [{**claim("tc_1", 1), "note": "at most 98765.5 kWh"}]},
        {"claim": {**claim("tc_1", 1), "more": {"limit": 98_765.5}}},
        {"claims": [claim("tc_1", 1)], "claims[0].quantity.value": 98_765.5},
    ],
)
def test_a_number_beside_a_claim_that_holds_needs_an_origin_of_its_own(hidden: dict[str, Any]) -> None:
    session = Session(argument_origin="strict")
    session.record("meter", {}, {"heat": {"value": 1, "unit": "kWh"}})
    session.tool_arguments("act", {"claims": [claim("tc_1", 1)]})
    with pytest.raises(GLError, match=r"98765\.5 in the arguments of 'act' has no origin"):
        session.tool_arguments("act", hidden)


def test_a_cited_number_comes_from_a_tool_where_its_parameter_is_the_user_s() -> None:
    value = {"type": "object", "properties": {"value": {"type": "number", "x-source": "user"}}}
    schema = {
        "type": "object",
        "properties": {"claim": {"type": "object", "properties": {"quantity": value}}},
    }
    session = Session()
    session.record("meter", {}, {"heat": {"value": 7, "unit": "kWh"}})
    with pytest.raises(GLError, match=r"7 in the arguments of 'act' may come from user alone.*tc_1 \$\.heat"):
        session.tool_arguments("act", {"claim": claim("tc_1", 7)}, args_schema=schema)


def based(unit: str, basis: str | None, key: str = "x") -> dict[str, Any]:
    declared = {"x-unit": unit, **({"x-basis": basis} if basis else {})}
    return {"type": "object", "properties": {key: {"type": "number", **declared}}}


def test_a_number_under_an_odd_key_has_its_basis_too() -> None:
    session = Session()
    session.record("meter", {}, {"x-y": 6}, result_schema=based("kgCO2e", "GWP100 AR5", "x-y"))
    (number,) = session.claimable()
    entry = session.check("It is {{claim:0}}.", [{**number.to_dict(), "basis": "GWP100 AR5"}]).provenance[0]
    assert entry["path"] == "$.x_y" and entry["basis"] == "GWP100 AR5"


def test_numbers_of_one_kind_and_two_bases_do_not_mix() -> None:
    session = Session()
    for unit, basis in (
        ("kgCO2e", None),
        ("kgCO2e", "GWP100 AR5"),
        ("kgCO2e", "GWP100 AR6"),
        ("kgCO2e", "GWP20 AR6"),
        ("m2", "GIA"),
    ):
        session.record("meter", {}, {"x": 6}, result_schema=based(unit, basis))
    unbased, fifth, sixth, short, area = session.claimable()
    for operation, claims in (("sum", [unbased, fifth, sixth, short]), ("difference", [fifth, sixth])):
        with pytest.raises(GLError, match="different bases: 'GWP100 AR5' and 'GWP100 AR6'\n"):
            calculated(session, operation, claims)
    assert calculated(session, "sum", [unbased, fifth, fifth]) == Quantity(18, "kgCO2e")
    assert calculated(session, "ratio", [fifth, area]) == Quantity(1, "kgCO2e/m2")
    with pytest.raises(GLError) as refused:
        calculated(session, "sum", [fifth, sixth])
    assert refused.value.code == "BASIS"


def test_what_was_calculated_has_the_basis_of_what_it_was_made_of() -> None:
    session = Session(packs=["si"])
    for unit, basis in (("kWh", "HHV"), ("m2", None), ("kWh", None)):
        session.record("meter", {}, {"x": 6}, result_schema=based(unit, basis))
    heat, area, other = (number.to_dict() for number in session.claimable())

    def basis(operation: str, *claims: Any) -> str | None:
        arguments = {"operation": operation, "claims": [*claims]}
        with using(session):
            session.record("calculate", arguments, calculate(**arguments))
        stored = Session.from_json(session.to_json(), policy=session.policy)
        for kept in (session, stored):
            claim = kept.claimable()[-1].to_dict()
            (entry,) = kept.check("It is {{claim:0}}.", [claim]).provenance
        found: str | None = entry.get("basis")
        return found

    assert basis("sum", heat, heat) == basis("sum", heat, other) == basis("ratio", heat, area) == "HHV"
    assert basis("sum", other, other) is basis("share", heat, heat) is basis("ratio", area, area) is None
    # So that nobody takes a number to another basis by a sum of one.
    basis("sum", heat)
    boiler = {"type": "object", "properties": {"heat": {"type": "number", "x-unit": "MWh", "x-basis": "LHV"}}}
    for value in (0.00625, "0.00625", {"value": 6.25, "unit": "kWh"}, {"value": 0.00625, "unit": "MWh"}):
        lone = Session(packs=["si"])
        lone.record("meter", {}, {"x": 6.25}, result_schema=based("kWh", "HHV"))
        with pytest.raises(GLError, match="BASIS"):
            lone.tool_arguments("boiler", {"heat": value}, args_schema=boiler)

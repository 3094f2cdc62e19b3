"""The numbers in a call's arguments are in the units of its parameters, or the call is refused with what mends it."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

import pytest

from gllint_runtime import (
    GLError,
    GLValidationError,
    Policy,
    Quantity,
    ScriptedProvider,
    Session,
    Tool,
    ToolRegistry,
    ToolRuntime,
    Unit,
    tool,
)
from gllint_runtime.policy.parameter_units import ParameterUnit, ParameterUnits
from gllint_runtime.policy.schemas import QUANTITY_REF

FLOW = (1250.0, "ft3/s")
NUMBER = {"type": "number"}


def properties(**schemas: Any) -> dict[str, Any]:
    return {"type": "object", "properties": schemas}


def sent(value: Any, unit: str) -> dict[str, Any]:
    return {"value": value, "unit": unit}


def session(*outputs: tuple[Any, str], user: str = "", **settings: Any) -> Session:
    """A conversation whose earlier calls returned these Quantities."""
    conversation = Session(
        packs=["us", "time", "counts", "data", "rates", "electrical", "si", "currencies"], **settings
    )
    conversation.user(user)
    for value, unit in outputs:
        conversation.record("source", {}, {"amount": {"value": value, "unit": unit}})
    return conversation


M3_S = properties(discharge={**NUMBER, "x-unit": "m3/s"})


@pytest.mark.parametrize(
    ("outputs", "name", "schema", "value", "sentence"),
    [
        ([FLOW], "discharge", M3_S, 1250, "1250 is in ft3/s; `discharge` takes m3/s: pass 35.4 m3/s"),
        ([FLOW], "discharge_m3_s", None, 1250, "`discharge_m3_s` takes m3/s: pass 35.4 m3/s"),
        ([FLOW], "discharge_m3_per_s", None, 1250.0, "takes m3/s: pass 35.4 m3/s"),
        ([FLOW], "discharge", properties(discharge={"$ref": "#/$defs/flow"}) | {"$defs": {"flow": {**NUMBER, "unit": "m3/s"}}}, 1250, "takes m3/s"),
        ([FLOW], "discharge", properties(discharge={"anyOf": [{**NUMBER, "x-unit": "m³/s"}, {"type": "null"}]}), 1250, "35.4"),
        ([(1250, "kWh")], "heat_mwh", None, 1250, "takes MWh: pass 1.25 MWh"),
        ([(1250, "kW")], "power_mw", None, 1250, "`power_mw` takes MW or mW: pass 1.25 MW or 1250000000 mW"),
        ([(104, "degF")], "temp_c", None, 104, "104 is in degF; `temp_c` takes degC: pass 40 degC"),
        ([(1.52, "kW")], "power_w", None, 1.52, "`power_w` takes W: pass 1520 W"),
        ([(125, "min")], "timeout_s", None, 125, "`timeout_s` takes s: pass 7500 s"),
        ([(12.5, "USD")], "amount_cents", None, 12.5, "`amount_cents` takes USD_cent: pass 1250 USD_cent"),
        ([(12.5, "EUR")], "amount_cents", None, 12.5, "`amount_cents` takes EUR_cent: pass 1250 EUR_cent"),
        ([(500, "JPY")], "amount_cents", None, 500, "`amount_cents` takes cent: one does not convert"),
        ([(5.25, "GBP")], "price_pence", None, 5.25, "`price_pence` takes GBP_pence: pass 525 GBP_pence"),
        ([(150, "min")], "duration_s", properties(duration_s={**NUMBER, "x-unit": "s"}), 150, "pass 9000 s"),
        ([(20.5, "degC")], "temp", properties(temp={**NUMBER, "x-unit": "degF"}), 20.5, "pass 68.9 degF"),
        ([(20.5, "degC")], "temp", properties(temp={**NUMBER, "x-unit": "K"}), 20.5, "pass 293.65 K"),
        ([(100, "USD")], "fee_eur", None, 100, "one does not convert into the other"),
        ([(705, "kgCO2e")], "emissions_tco2e", None, 705, "pass 0.705 tCO2e"),
        ([(505, "kWh/year")], "need", properties(need={**NUMBER, "x-unit": "MWh/year"}), 505, "pass 0.505 MWh/year"),
        ([(3, "mi"), FLOW], "discharge_m3_s", None, 1250, "35.4"),
        ([(100, "gal")], "volume", properties(volume={**NUMBER, "x-unit": "L"}), 100, "pass 379 L"),
        ([FLOW], "discharge", M3_S, "1250", "1250 is in ft3/s; `discharge` takes m3/s: pass 35.4 m3/s"),
        ([FLOW], "discharge", M3_S, "1,250.0", "pass 35.4 m3/s"),
        ([FLOW], "discharge_m3_s", properties(discharge_m3_s={"type": "string"}), " 1250", "pass 35.4 m3/s"),
        ([FLOW, (1250, "L/s")], "discharge", M3_S, 1250, "1250 is in ft3/s"),
        ([(1250.37, "ft3/s")], "discharge", M3_S, 1250.4, "1250.4 is in ft3/s; `discharge` takes m3/s: pass 35.4 m3/s"),
        ([(1250.37, "ft3/s")], "discharge", M3_S, 1250, "1250 is in ft3/s"),
        ([(1250.37, "ft3/s")], "discharge", M3_S, 1250.0, "1250 is in ft3/s"),
        ([(300, "K")], "temp_c", None, 300, "pass 26.85 degC"),
        ([(-10.5, "degC")], "temp_f", None, -10.5, "pass 13.1 degF"),
        ([(1250, "USD_cent")], "amount_usd", None, 1250, "pass 12.5 USD"),
        ([(12.34, "USD")], "amount_milliunits", None, 12.34, "pass 12340 USD_milli"),
        ([(1.29, "USD")], "amount_cents", None, 1.29, "pass 129 USD_cent"),
        ([(10**18, "Wh")], "heat_kwh", None, 10**18, "pass 1000000000000000 kWh"),
        ([(108, "km/h")], "wind_speed_ms", None, 108, "pass 30 m/s"),
        ([(1250.5, "ft3/s")], "discharge", M3_S, 1250, "1250 is in ft3/s"),
        ([(Decimal("1250.123456789012345678"), "ft3/s")], "discharge", M3_S, 1250.1234567890123, "is in ft3/s"),
        ([(Decimal("1250.123456789012345678"), "kWh"), (10**17, "kWh"), (1250.37, "ft3/s")], "discharge", M3_S, 1250, "1250 is in ft3/s"),
        ([(10**24, "Wh")], "heat_kwh", None, 10**24, "pass 1e+21 kWh"),
        ([(5 * 10**23, "Wh")], "heat_kwh", None, 5 * 10**23, "pass 500000000000000000000 kWh"),
        ([(1e15, "Wh")], "heat_kwh", None, 1e15, "1000000000000000.0 is in Wh; `heat_kwh` takes kWh: pass 1000000000000 kWh"),
        ([(1234567, "Wh")], "heat_kwh", None, 1234567, "pass 1234.567 kWh"),
        ([(12345678, "Wh")], "heat_kwh", None, 12345678, "pass 12346 kWh"),
        ([(123456, "Wh")], "heat", properties(heat={**NUMBER, "x-unit": "MJ"}), 123456, "pass 444.4416 MJ"),
        ([(12345678.5, "Wh")], "heat_mwh", None, 12345678.5, "pass 12.3 MWh"),
        ([(1.23456789, "Wh")], "heat_mwh", None, 1.23456789, "pass 0.00000123 MWh"),
        ([(1.23456789, "Wh")], "heat_gwh", None, 1.23456789, "pass 1.23E-9 GWh"),
        ([(1e307, "km")], "length", properties(length={**NUMBER, "x-unit": "mm"}), 1e307, "takes mm: one does not convert into"),
    ],
)  # fmt: skip
def test_a_bare_number_of_another_unit_is_refused_with_what_mends_it(
    outputs: list[tuple[Any, str]], name: str, schema: Any, value: Any, sentence: str
) -> None:
    with pytest.raises(GLValidationError) as refused:
        session(*outputs).tool_arguments("runoff", {name: value}, args_schema=schema)
    assert refused.value.code == "ARGUMENT_UNIT" and sentence in refused.value.message
    assert refused.value.path == f"$.{name}"
    # A call that was made already is refused, too.
    with pytest.raises(GLValidationError, match="ARGUMENT_UNIT"):
        session(*outputs).record("runoff", {name: value}, {}, args_schema=schema)


@pytest.mark.parametrize(
    ("outputs", "user", "name", "schema", "value", "taken"),
    [
        ([FLOW], "", "discharge", M3_S, 35.396, 35.396),  # converted
        ([FLOW], "", "discharge", M3_S, 40, 40),  # nobody has it: recorded as such
        ([FLOW], "Assume 1250 there.", "discharge", M3_S, 1250, 1250),
        ([FLOW], "Assume 1,250 m³/s.", "discharge", M3_S, 1250, 1250),
        ([FLOW, (1250, "m3/s")], "", "discharge", M3_S, 1250, 1250),
        ([FLOW], "", "discharge", properties(discharge=NUMBER), 1250, 1250),  # it says no unit
        ([FLOW], "", "area_km2", None, 1250, 1250),  # another dimension
        ([(0, "ft3/s")], "", "discharge", M3_S, 0, 0),  # zero is zero
        ([(1250, "USD")], "", "discharge", M3_S, 1250, 1250),
        ([(12, "kWh")], "", "mass", properties(mass={**NUMBER, "x-unit": "furlong"}), 12, 12),  # no unit of ours
        ([(12, "kWh")], "", "mass", properties(mass={**NUMBER, "x-unit": 7}), 12, 12),  # no text
        ([(12, "kWh")], "", "heat_kwh", None, 12, 12),
        ([(12, "MW")], "", "power_mw", None, 12, 12),  # one of the readings
        ([FLOW], "", "discharge", M3_S, sent(1250, "ft3/s"), 35.39605824),
        ([FLOW], "", "discharge", M3_S, sent(1250, "cfs"), 35.39605824),
        ([FLOW], "", "discharge", M3_S, sent(1250, "ft³/s"), 35.39605824),
        ([FLOW], "", "discharge", M3_S, sent(1250, "ft**3/s"), 35.39605824),
        ([FLOW], "", "discharge", M3_S, sent(35, "m^3/s"), 35),
        ([FLOW], "", "discharge", M3_S, "1250 cfs", 35.39605824),
        ([FLOW], "", "discharge", M3_S, '{"value": 1250, "unit": "cfs"}', 35.39605824),
        ([FLOW], "", "discharge", properties(discharge={"type": "string", "x-unit": "m3/s"}), "1250 cfs", "1250 cfs"),
        ([], "", "temp", properties(temp={**NUMBER, "x-unit": "degC"}), sent(68, "degF"), 20),
        ([], "", "length", properties(length={**NUMBER, "x-unit": "cm"}), "5m", 500),
        ([], "", "length", properties(length={**NUMBER, "x-unit": "cm"}), "5m" + " " * 198, 500),
        ([], "", "length", properties(length={**NUMBER, "x-unit": "cm"}), "5m" + " " * 199, "5m" + " " * 199),
        ([], "", "length", properties(length={**NUMBER, "x-unit": "cm"}), "1e999 m", "1e999 m"),
        ([], "", "length", properties(length={**NUMBER, "x-unit": "cm"}), "5 bananas", "5 bananas"),
        ([], "", "length", properties(length={**NUMBER, "x-unit": "cm"}), ' {"value": 5, "unit": "m"}', 500),
        ([], "", "length", properties(length={**NUMBER, "x-unit": "cm"}), '{"value": 5}', '{"value": 5}'),
        ([], "", "length", properties(length={**NUMBER, "x-unit": "cm"}), '{"value": 5', '{"value": 5'),
        ([], "", "length", properties(length={**NUMBER, "x-unit": "cm"}), ["5 m"], ["5 m"]),
        ([], "", "power_mw", None, sent(5, "kW"), sent(5, "kW")),  # nobody knows of which two
        ([], "", "power_mw", None, sent(0, "kW"), 0),
        ([], "", "power_mw", None, sent(5, "MW"), 5),
        ([(7.0, "USD")], "", "rows", properties(rows={"type": "array", "items": properties(fee_usd=NUMBER)}), [[{"fee_usd": sent(7, "USD")}]], [[{"fee_usd": 7}]]),
        ([], "", "discharge", properties(discharge={"$ref": QUANTITY_REF, "x-unit": "m3/s"}), sent(1250, "ft3/s"), sent(35.39605824, "m3/s")),
        ([], "", "heat", properties(heat={"$ref": QUANTITY_REF}), sent(12, "kWh"), sent(12, "kWh")),
        ([], "", "flows", properties(flows={"type": "array", "x-unit": "m3/s", "items": NUMBER}), [sent(1250, "ft3/s"), 2], [35.39605824, 2]),
        ([], "", "site", properties(site=properties(area_m2=NUMBER)), {"area_m2": sent(1, "km2")}, {"area_m2": 1000000}),
        ([FLOW], "", "ok", properties(ok={"type": "boolean", "x-unit": "m3/s"}), True, True),
        ([FLOW], "", "discharge", properties(discharge={**NUMBER, "$ref": "#/properties/discharge", "x-unit": "m3/s"}), 35, 35),
        ([(5, "kWh")], "", "heat", properties(heat={**NUMBER, "x-unit": "kW.h", "x-unit-system": "ucum"}), 5, 5),
        ([], "", "amount_cents", None, sent(0.29, "USD"), 29),
        ([], "", "amount_cents", properties(amount_cents={"type": "integer"}), sent(12.5, "USD"), 1250),
        ([], "", "amount_milliunits", None, sent(12.34, "USD"), 12340),
        ([(1250.37, "ft3/s"), (1250.4, "m3/s")], "", "discharge", M3_S, 1250, 1250),  # one of them rounds to it in the right unit
        ([(35.44, "ft3/s"), FLOW], "", "discharge", M3_S, 35.4, 35.4),  # converted, whatever it is near
        ([(12.37, "ft3/s")], "", "discharge", M3_S, 12.4, 12.4),  # too few digits to tell
        ([(1250.37, "ft3/s")], "It was about 1250.", "discharge", M3_S, 1250, 1250),
        ([(5, "MB")], "", "search_kb", None, 5, 5),  # a knowledge base
        ([(5, "USD")], "", "ask_px", None, 5, 5),
        ([(1e300, "ft3/s"), (10**300, "m3/s")], "", "discharge", M3_S, 10**299 + 7, 10**299 + 7),
    ],
)  # fmt: skip
def test_what_fits_passes_and_a_quantity_is_converted(
    outputs: list[tuple[Any, str]], user: str, name: str, schema: Any, value: Any, taken: Any
) -> None:
    arguments = session(*outputs, user=user).tool_arguments("runoff", {name: value}, args_schema=schema)
    assert arguments == {name: taken}


@pytest.mark.parametrize(
    ("name", "schema", "value"),
    [
        ("discharge", M3_S, sent(5, "kWh")),
        ("discharge", M3_S, sent(5, "bananas")),
        ("fee_eur", properties(fee_eur=NUMBER), sent(100, "USD")),
        ("length", properties(length={**NUMBER, "x-unit": "mm"}), sent(1e307, "km")),
        ("flows", properties(flows={"type": "array", "items": {**NUMBER, "x-unit": "m3/s"}}), [1, sent(5, "kg")]),
    ],
)  # fmt: skip
def test_a_quantity_that_does_not_convert_is_refused(name: str, schema: Any, value: Any) -> None:
    with pytest.raises(GLValidationError, match="does not convert") as refused:
        session().tool_arguments("runoff", {name: value}, args_schema=schema)
    assert refused.value.code == "ARGUMENT_UNIT"


@pytest.mark.parametrize(
    ("held", "name", "value", "schema", "hint"),
    [
        (FLOW, "discharge_m3_s", 1250, None, "tc_1 $.amount of this run has 1250 in ft3/s. In m3/s it is 35.39605824."),
        (FLOW, "discharge", 1250, M3_S, "tc_1 $.amount of this run has 1250 in ft3/s. In m3/s it is 35.39605824."
         ' A Quantity is converted for you: {"value": 1250, "unit": "ft3/s"}.'),
        ((1250.37, "ft3/s"), "discharge_m3_s", 1250, None,
         "tc_1 $.amount of this run has 1250.37 in ft3/s. In m3/s it is 35.39605824."),
        ((1250, "kW"), "power_mw", 1250, None, "tc_1 $.amount of this run has 1250 in kW."),
        ((100, "USD"), "fee_eur", 100, None, "tc_1 $.amount of this run has 100 in USD."),
    ],
)  # fmt: skip
def test_the_hint_says_who_has_the_number_and_what_it_is_in_the_one_unit(
    held: Any, name: str, value: Any, schema: Any, hint: str
) -> None:
    with pytest.raises(GLValidationError) as refused:
        session(held).tool_arguments("runoff", {name: value}, args_schema=schema)
    assert refused.value.hint == hint
    # A tool that has run already takes no Quantity any more.
    with pytest.raises(GLValidationError) as refused:
        session(held).record("runoff", {name: value}, {}, args_schema=schema)
    assert refused.value.hint == hint.partition(" A Quantity is")[0]


def test_the_arguments_of_a_call_are_no_quantity_though_they_look_like_one() -> None:
    assert session().tool_arguments("convert", sent(5, "kWh")) == sent(5, "kWh")


def test_a_number_in_a_unit_of_the_project_is_no_money() -> None:
    conversation = session((12, "bananas"), extend_units=["bananas"])
    for name in ("fee_eur", "discharge_m3_s"):
        assert conversation.tool_arguments("f", {name: 12}) == {name: 12}


def test_what_stands_as_text_was_sent_as_the_number_that_it_says() -> None:
    schema = properties(length={**NUMBER, "x-unit": "cm"})
    for text, value in (("+5 m", 5), ("-5 m", -5), ("5.0 m", 5.0), ("5e0m", 5.0)):
        (change,) = session().tool_arguments("f", {"length": text}, args_schema=schema).changes
        assert change.sent == Quantity(value, "m") and type(change.sent.value) is type(value)


def test_an_element_of_a_list_and_a_member_of_an_object_have_units_too() -> None:
    schema = properties(site=properties(flows={"type": "array", "items": {**NUMBER, "x-unit": "m3/s"}}))
    with pytest.raises(GLValidationError) as refused:
        session(FLOW).tool_arguments("runoff", {"site": {"flows": [1, 1250]}}, args_schema=schema)
    assert refused.value.path == "$.site.flows[1]"


@pytest.mark.parametrize(
    "user",
    [
        "It was 1,250 cubic feet per second.",
        "It was 1,250 ft3/s.",
        "It was 1,250 ft3/s then.",
        "In 7 rooms it was 1,250 ft3/s",
        "In 1,250 ft3/s",
    ],
)
def test_what_the_user_said_in_the_wrong_unit_excuses_nothing(user: str) -> None:
    with pytest.raises(GLValidationError, match="35.4"):
        session(FLOW, user=user).tool_arguments("runoff", {"discharge": 1250}, args_schema=M3_S)


def test_a_raw_number_has_the_unit_that_its_key_ends_in() -> None:
    for output in ({"heat_wh": 1250}, {"heats_wh": [7, 1250]}):
        conversation = session(allow_raw_numbers=True)
        conversation.record("meter", {}, output)
        with pytest.raises(GLValidationError, match="1250 is in Wh"):
            conversation.tool_arguments("book", {"heat_kwh": 1250})


@pytest.mark.parametrize(
    ("outputs", "user", "value", "kind", "source"),
    [
        ([(1250, "USD"), (1250, "m3/s"), (1250, "m3/s")], "", 1250, "tool", "tc_2 $.amount"),
        ([(1250, "m3/s")], "Assume 1250", 1250, "user", None),
        ([FLOW], "Assume 1250", sent(1250, "m3/s"), "user", None),
    ],
)
def test_a_number_comes_from_who_has_it_in_its_unit(
    outputs: Any, user: str, value: Any, kind: str, source: str | None
) -> None:
    conversation = session(*outputs, user=user)
    (origin,) = conversation.tool_arguments("f", {"discharge": value}, args_schema=M3_S).origins or ()
    assert (origin.kind, origin.source, origin.grounded, origin.unit) == (kind, source, True, "m3/s")


def test_of_two_outputs_that_round_to_a_number_one_converts_it() -> None:
    conversation = session((1250.37, "ft3/s"), (1250.4, "ft3/s"), argument_units="convert")
    arguments = conversation.tool_arguments("f", {"discharge": 1250}, args_schema=M3_S)
    assert len(arguments.changes) == 1


def test_units_are_judged_where_nobody_asks_for_origins() -> None:
    conversation = session(FLOW, argument_origin="off")
    with pytest.raises(GLValidationError, match="ARGUMENT_UNIT"):
        conversation.tool_arguments("f", {"discharge": 1250}, args_schema=M3_S)
    assert conversation.tool_arguments("f", {"discharge": 7}, args_schema=M3_S).origins is None
    conversation = session(FLOW, argument_origin="off", argument_units="off")
    assert conversation.tool_arguments("f", {"discharge": 1250}, args_schema=M3_S).origins is None


def test_a_registry_converts_as_its_policy_says_or_as_it_is_asked_to() -> None:
    for units, arguments, converts in (
        ("off", None, False),
        ("off", "refuse", True),
        ("refuse", "off", False),
    ):
        registry = ToolRegistry(policy=Policy(argument_units=units))  # type: ignore[arg-type]
        registry.register(Tool(name="f", args_schema=M3_S, fn=lambda discharge: {}))
        call = ("f", {"discharge": sent(1250, "ft3/s")})
        if converts:
            made = registry.verify(*call, argument_units=arguments)  # type: ignore[arg-type]
            assert made.arguments == {"discharge": 35.39605824} and len(made.changes) == 1
        else:
            with pytest.raises(GLValidationError, match="ARGS_SCHEMA"):
                registry.verify(*call, argument_units=arguments)  # type: ignore[arg-type]


def test_units_that_nobody_judges_refuse_nothing() -> None:
    conversation = session((1250.37, "ft3/s"), argument_units="off", argument_origin="record")
    assert conversation.tool_arguments("f", {"discharge": 1250}, args_schema=M3_S) == {"discharge": 1250}


def test_a_number_on_another_basis_is_told_with_both() -> None:
    heat = {**NUMBER, "x-unit": "kWh"}
    conversation = session()
    conversation.record("gas", {}, {"x": 6.25}, result_schema=properties(x={**heat, "x-basis": "HHV"}))
    boiler = properties(heat={**heat, "x-basis": "LHV"})
    for value, path in ((6.25, "$.heat"), (sent(6.25, "kWh"), "$.heat"), ("6.25", "$.heat")):
        with pytest.raises(GLError) as refused:
            conversation.tool_arguments("boiler", {"heat": value}, args_schema=boiler)
        assert refused.value.message == (
            "`heat` takes a quantity of the basis 'LHV', and tc_1 $.x is of the basis 'HHV'"
        )
        assert refused.value.path == path


def test_a_constant_in_the_parameters_unit_excuses_it() -> None:
    def arguments(name: str) -> Any:
        conversation = session(FLOW, constants={name: 1250})
        return conversation.tool_arguments("runoff", {"discharge": 1250}, args_schema=M3_S)

    assert arguments("design flow m3 per s") == arguments("design flow") == {"discharge": 1250}
    with pytest.raises(GLValidationError, match="35.4"):
        arguments("design_flow_ft3_per_s")


# ------------------------------------------------------------------------------------------- levels and trace


def test_the_trace_says_where_each_argument_came_from_and_in_which_unit() -> None:
    conversation = session(FLOW)
    arguments = conversation.tool_arguments("f", {"discharge": sent(1250, "ft3/s")}, args_schema=M3_S)
    call = conversation.record("f", arguments, {"depth": sent(1, "m")})
    claim = {"source_call_id": call, "path": "$.depth", "quantity": sent(1, "m")}
    (entry,) = conversation.check("It is {{claim:0}}.", [claim]).provenance
    assert entry["arguments"] == {"discharge": 35.39605824}
    assert entry["origins"] == [
        {
            "path": "$.discharge",
            "value": 35.39605824,
            "origin": "tool",
            "source": "tc_1 $.amount",
            "unit": "m3/s",
            "source_unit": "ft3/s",
        }
    ]
    stored = Session.from_json(conversation.to_json(), policy=conversation.policy)
    assert stored.check("It is {{claim:0}}.", [claim]).provenance == [entry]


def test_a_number_whose_unit_was_exchanged_has_no_origin() -> None:
    arguments = session(FLOW).tool_arguments("f", {"discharge": sent(1250, "m3/s")}, args_schema=M3_S)
    assert arguments.origins is not None
    (origin,) = arguments.origins
    assert (origin.grounded, origin.unit, origin.source_unit) == (False, "m3/s", "ft3/s")


def test_the_integer_that_a_tool_asks_for_is_one() -> None:
    schema = properties(amount={"type": "integer", "x-unit": "USD_cent"})
    for value, level in ((sent(12.5, "USD"), "refuse"), (12.5, "convert")):
        conversation = session((12.5, "USD"), argument_units=level)
        arguments = conversation.tool_arguments("pay", {"amount": value}, args_schema=schema)
        assert type(arguments["amount"]) is int and arguments == {"amount": 1250}


def test_a_number_that_stands_as_text_is_converted_as_text() -> None:
    conversation = session((1.52, "kW"), argument_units="convert")
    assert conversation.tool_arguments("f", {"power_w": "1.52"}) == {"power_w": "1520"}


def test_a_number_of_few_digits_is_in_another_unit_by_chance() -> None:
    """It is recorded with the unit of its source, and refused in no mode."""
    conversation = session((1, "day"), (68, "degF"))
    (origin,) = conversation.tool_arguments("sleep", {"timeout_s": 1}).origins or ()
    assert (origin.unit, origin.source_unit) == ("s", "day")
    assert conversation.tool_arguments("set", {"temp_c": 68}) == {"temp_c": 68}


def test_the_levels_of_argument_units() -> None:
    def arguments(level: Any, value: Any) -> Any:
        conversation = session(FLOW, argument_units=level)
        return conversation.tool_arguments("f", {"discharge": value}, args_schema=M3_S)

    converted = arguments("convert", 1250)
    assert converted == {"discharge": pytest.approx(35.396, rel=1e-4)}
    assert [change.to_dict() for change in converted.changes] == [
        {"path": "$.discharge", "from": sent(1250, "ft3/s"), "to": sent(35.39605824, "m3/s")}
    ]
    recorded = arguments("record", 1250)
    assert recorded == {"discharge": 1250} and recorded.origins[0].source_unit == "ft3/s"
    assert arguments("off", 1250) == {"discharge": 1250}
    assert arguments("off", sent(1250, "ft3/s")) == {"discharge": sent(1250, "ft3/s")}
    with pytest.raises(ValueError, match="argument_units"):
        session(argument_units="always")


# ----------------------------------------------------------------------------------------------- other doors


@tool
def runoff(discharge: Annotated[float, Unit("m3/s")], area_km2: float) -> dict[str, Quantity]:
    """Runoff over an area."""
    return {"depth": Quantity(discharge / area_km2 * 86.4, "mm/day")}


def test_a_typed_tool_declares_units_and_the_runtime_has_the_call_mended() -> None:
    assert runoff.args_schema["properties"]["discharge"] == {"type": "number", "x-unit": "m3/s"}
    registry = ToolRegistry(packs=["si"])
    registry.register(Tool(name="gauge", fn=lambda: {"flow": Quantity(1250, "ft3/s")}))
    registry.register(runoff)

    def call(name: str, **arguments: Any) -> dict[str, Any]:
        return {"kind": "tool_call", "tool_name": name, "arguments": arguments}

    def run(discharge: Any, **options: Any) -> ToolRuntime:
        steps = [call("gauge"), call("runoff", discharge=1250, area_km2=29000)]
        steps += [call("runoff", discharge=discharge, area_km2=29000)] if discharge else []
        runtime = ToolRuntime(
            ScriptedProvider([*steps, {"kind": "final", "message": "Done."}]), registry, **options
        )
        runtime.run("", "How much runoff?")
        return runtime

    trace = run(sent(1250, "ft3/s")).trace
    refused, mended = (entry for entry in trace if entry["tools"] == ["runoff"] and entry["kind"] == "tool")
    assert refused["validation"]["error"]["code"] == "ARGUMENT_UNIT"
    discharge, area = mended["validation"]["origins"]
    assert discharge["value"] == pytest.approx(35.396, rel=1e-4) and discharge["source_unit"] == "ft3/s"
    assert area == {"path": "$.area_km2", "value": 29000, "origin": "none", "source": None, "unit": "km2"}
    assert mended["observation"]["depth"]["value"] == pytest.approx(0.10546, rel=1e-4)
    assert run(35.396).trace[-2]["success"]
    (mended,) = (
        e for e in run(None, argument_units="convert").trace if e["observation"] and "depth" in str(e)
    )
    assert mended["observation"]["depth"]["value"] == pytest.approx(0.10546, rel=1e-4)


def test_pydantic_fields_and_quantities_declare_units() -> None:
    pydantic: Any = pytest.importorskip("pydantic")

    class Site(pydantic.BaseModel):  # type: ignore[misc]
        area: Annotated[float, Unit("m2")]

    def need(site: Any, heat: Any) -> Any:
        return {"intensity": Quantity(heat.value / site.area, "kWh/m2")}

    need.__annotations__ |= {"site": Site, "heat": Annotated[Quantity, Unit("kWh")]}
    registry = ToolRegistry()
    registry.register(tool(need))
    output = registry.invoke("need", {"site": {"area": sent(1, "km2")}, "heat": sent(1, "GWh")})
    assert output == {"intensity": sent(1.0, "kWh/m2")}
    assert Site(area=sent(1, "km2")).area == 1_000_000
    with pytest.raises(pydantic.ValidationError, match="does not convert"):
        Site(area=sent(1, "kg"))
    with pytest.raises(GLError, match="ARGUMENT_UNIT"):
        registry.invoke("need", {"site": {"area": 3}, "heat": sent(1, "kg")})


def test_large_and_deep_arguments_take_linear_time() -> None:
    conversation = session(FLOW)
    schema = properties(flows={"type": "array", "items": {**NUMBER, "x-unit": "m3/s"}})
    huge = conversation.tool_arguments("f", {"flows": [1e308, 10**300, sent(2, "m3/s")]}, args_schema=schema)
    assert huge["flows"][2] == 2
    endless = properties(a={"$ref": "#/properties/b"}, b={"allOf": [{"$ref": "#/properties/a"}]})
    assert conversation.tool_arguments("f", {"a": 1250}, args_schema=endless) == {"a": 1250}
    with pytest.raises(GLValidationError, match="ARGS_SCHEMA"):
        conversation.tool_arguments("f", {"flows": [float("nan")]}, args_schema=schema)


@pytest.mark.parametrize(
    ("held", "name", "value", "taken"),
    [
        ((12.5, "USD"), "amount_cents", sent(12.5, "USD"), 1250),
        ((12.5, "EUR"), "amount_cents", sent(12.5, "EUR"), 1250),
        ((12.5, "USD"), "amount_cents", 1250, 1250),
        ((1250, "USD_cent"), "amount_cents", 1250, 1250),
        ((68.0, "degF"), "temp_c", sent(68.0, "degF"), 20.0),
        ((9, "m/s"), "wind_speed_ms", 9, 9),
        ((12, "kWh/year"), "annual_energy_kwh", 12, 12),
    ],
)
def test_the_end_of_a_name_as_the_rules_read_it(held: Any, name: str, value: Any, taken: float) -> None:
    assert session(held).tool_arguments("pay", {name: value}) == {name: pytest.approx(taken)}


# ------------------------------------------------------------------------------------ what a schema says of a path

SHAPE = properties(value=NUMBER, unit={"const": "kWh"})
SITE = properties(
    flow={**NUMBER, "x-unit": "m3/s", "x-basis": "mean"},
    heat=SHAPE,
    cold=properties(value=NUMBER, unit={"enum": ["kWh", "MJ", 7]}),
    bare=properties(value=NUMBER, unit=True),
    wide=properties(value=NUMBER, unit={"type": "string"}, note={"type": "string"}),
    rows={"type": "array", "x-unit": "m", "items": {"type": ["integer", "null"]}},
    pair={"prefixItems": [{**NUMBER, "x-unit": "kg"}, {"type": "string", "x-unit": "t"}]},
    table={"x-unit": "K", "additionalProperties": {**NUMBER, "x-unit": "degC"}},
    outer={"x-unit": "m", "x-basis": "net", "x-source": "user", "properties": {"width_km": {"type": "integer"}}},
    held={"x-source": "user", "allOf": [{**NUMBER, "x-source": "tool", "x-basis": "a"}, {"x-basis": "b"}]},
    linked={"$ref": "#/$defs/a~1b~0c/anyOf/1"},
    lost={"$ref": "#/$defs/nothing/at/all"},
    far={"$ref": "elsewhere.json#/$defs/x"},
    amount_cents={"type": "string"},
) | {"$defs": {"a/b~c": {"anyOf": [{}, {"oneOf": [{"type": "string"}, {**NUMBER, "x-unit": "s"}]}]}}}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "unit"),
    [
        ("flow", ParameterUnit(("m3/s",), "flow", takes_number=True, is_declared=True, basis="mean")),
        ("heat", ParameterUnit(("kWh",), "heat", takes_quantity=True, is_declared=True)),
        ("cold", ParameterUnit(("kWh", "MJ"), "cold", takes_quantity=True, is_declared=True)),
        ("bare", ParameterUnit((), "bare", takes_quantity=True)),
        ("wide", ParameterUnit((), "wide", takes_quantity=True, takes_shape=True)),
        ("rows.3", ParameterUnit(("m",), "rows", takes_number=True, is_declared=True, takes_integer=True)),
        (
            "pair.0",
            ParameterUnit(("kg", "t"), "pair", takes_number=True, takes_text=True, is_declared=True),
        ),
        ("table.roof", ParameterUnit(("degC",), "roof", takes_number=True, is_declared=True)),
        (
            "outer.width_km",
            ParameterUnit(("km",), "width_km", takes_number=True, sources=("user",), takes_integer=True),
        ),
        ("held", ParameterUnit((), "held", takes_number=True, sources=("user", "tool"))),
        ("linked", ParameterUnit(("s",), "linked", takes_number=True, takes_text=True, is_declared=True)),
        ("lost", ParameterUnit((), "lost")),
        ("far", ParameterUnit((), "far")),
        ("nowhere_kwh", ParameterUnit(("kWh",), "nowhere_kwh")),
        ("", ParameterUnit(takes_shape=True)),
    ],
)
def test_what_a_schema_says_of_a_path(path: str, unit: ParameterUnit) -> None:
    steps = tuple(int(step) if step.isdecimal() else step for step in path.split(".") if step)
    units = ParameterUnits(SITE)
    assert units.at(steps) == unit == units.at(steps)


def test_what_a_schema_says_in_all() -> None:
    units = ParameterUnits(SITE)
    assert units.declares and units.numeric_only == {"flow"}
    bare = ParameterUnits(properties(heat_kwh=NUMBER, n={"type": "integer"}, note={"type": "string"}))
    assert bare.numeric_only == {"heat_kwh"} and not bare.declares
    assert ParameterUnits(properties(a={**NUMBER, "x-basis": "mean"})).declares
    for nothing in (None, [], "text", {"properties": [1]}):
        units = ParameterUnits(nothing)
        assert (units.numeric_only, units.declares) == (frozenset(), False)
        assert units.at(("heat_kwh",)).readings == ("kWh",) and units.offered(("heat_kwh",)) == ()


def test_the_values_that_a_schema_offers() -> None:
    units = ParameterUnits(
        properties(
            mode={"const": 3, "default": 5, "enum": [3, "x", True]},
            many={"items": {"anyOf": [{"default": 7}, {"enum": "none"}]}},
            ok={"default": False},
        )
    )
    assert units.offered(("mode",)) == (3, 5, 3, "x") == units.offered(("mode",))
    assert units.offered(("many", 0)) == (7,) == units.offered(("many", 9))
    assert units.offered(("ok",)) == () == units.offered(("no",))


def test_a_number_as_its_parameter_takes_it() -> None:
    whole = ParameterUnit(takes_integer=True)
    assert [repr(whole.as_taken(value)) for value in (1250.0, 2.5, 7, "1.0")] == ["1250", "2.5", "7", "'1.0'"]
    assert repr(ParameterUnit().as_taken(1250.0)) == "1250.0"


def test_a_schema_that_goes_on_for_ever_is_read_in_part() -> None:
    endless: dict[str, Any] = {"type": "number", "x-unit": "m"}
    endless["anyOf"] = [endless, {"$ref": "#/properties/a"}]
    units = ParameterUnits(properties(a=endless))
    assert units.at(("a",)).readings == ("m",)
    branches = [{"type": "number"} for _ in range(300)]
    units = ParameterUnits(properties(a={"anyOf": [*branches, {"x-unit": "m"}]}))
    assert units.at(("a",)).readings == ()

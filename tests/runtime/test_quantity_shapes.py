"""Quantities of other houses: units that a schema declares, other shapes, objects of other libraries; and bases."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from types import SimpleNamespace
from typing import Annotated, Any

import pydantic
import pytest

from gllint_runtime import GLDataError, GLError, GLValidationError, Policy, Quantity, Session
from gllint_runtime.policy.packs import PACKS
from gllint_runtime.policy.quantity_shapes import (
    QUANTITY_SHAPES,
    shaped_quantity,
    shaped_unit,
    value_key,
)
from gllint_runtime.policy.schemas import QUANTITY_REF
from gllint_runtime.policy.unit_codes import SYSTEMS, _codes, unit_of_code
from gllint_runtime.policy.unit_libraries import quantity_of_library
from gllint_runtime.policy.units import TIME_UNITS, is_allowed

NUMBER = {"type": "number"}
UCUM = "http://unitsofmeasure.org"


class AstropyUnit:
    scale = 1.0
    bases = (SimpleNamespace(name="kW"), SimpleNamespace(name="h"))
    powers = (1, 1)


AstropyQuantity: Any = type(
    "Quantity", (), {"__module__": "astropy.units.quantity", "unit": AstropyUnit(), "value": 5.0}
)


def pint_quantity(value: Any, unit: str) -> Any:
    import pint

    registry: Any = pint.UnitRegistry(cache_folder=None)
    return registry.Quantity(value, unit)


SHAPES: list[tuple[Any, Any, Quantity]] = [
    ({**NUMBER, "x-unit": "kWh"}, 5, Quantity(5, "kWh")),
    ({**NUMBER, "unit": "kWh"}, 5, Quantity(5, "kWh")),
    ({**NUMBER, "ucumUnit": "kW.h"}, 5, Quantity(5, "kWh")),
    ({**NUMBER, "x-unit": "KWH", "x-unit-system": "uncefact"}, 5, Quantity(5, "kWh")),
    ({"type": "integer", "currency": "EUR"}, 5, Quantity(5, "EUR")),
    ({"anyOf": [{**NUMBER, "x-unit": "kWh"}, {"type": "null"}]}, 5, Quantity(5, "kWh")),
    ({}, {"value": 5, "unit": "mmHg", "system": UCUM, "code": "mm[Hg]"}, Quantity(5, "mmHg")),
    ({}, {"value": 37.2, "code": "Cel", "system": UCUM}, Quantity(37.2, "degC")),
    ({}, {"@type": "QuantitativeValue", "value": 5, "unitText": "kilowatt hours"}, Quantity(5, "kWh")),
    ({}, {"value": 5, "unitCode": "MTQ"}, Quantity(5, "m3")),
    ({}, {"@type": "MonetaryAmount", "value": 5, "currency": "EUR"}, Quantity(5, "EUR")),
    ({}, {"amount": 12.5, "currency": "CHF"}, Quantity(12.5, "CHF")),
    ({}, {"amount": "12.50", "currency": "USD"}, Quantity(Decimal("12.50"), "USD")),  # type: ignore[arg-type]
    ({}, {"value": 72, "unit": "beats/min", "descriptive_statistic": "average"}, Quantity(72, "beats/min")),
    ({}, {"value": 5, "unit": "kWh"}, Quantity(5, "kWh")),
    ({}, Quantity(5, "kWh"), Quantity(5, "kWh")),
    ({}, AstropyQuantity(), Quantity(5.0, "kWh")),
]  # fmt: skip


def claimed(session: Session, schema: Any, value: Any, quantity: Quantity) -> str:
    properties = {"type": "object", "properties": {"amount": schema}}
    call = session.record("meter", {}, {"amount": value}, result_schema=properties)
    claim = {"source_call_id": call, "path": "$.amount", "quantity": quantity.to_dict()}
    return session.check("It is {{claim:0}}.", [claim]).message


@pytest.mark.parametrize(("schema", "value", "quantity"), SHAPES)
def test_each_shape_is_read_kept_as_it_is_and_survives_a_store(
    schema: Any, value: Any, quantity: Quantity
) -> None:
    session = Session(packs=PACKS, quantity_shapes=QUANTITY_SHAPES)
    message = claimed(session, schema, value, quantity)
    assert quantity.unit in message
    told = session.output("tc_1")["amount"]
    assert told == (value if isinstance(value, (dict, int)) else quantity.to_dict())
    stored = Session.from_json(session.to_json(), policy=session.policy)
    assert stored.output("tc_1") == session.output("tc_1")
    assert stored.declared_units("tc_1") == session.declared_units("tc_1")
    claim = {"source_call_id": "tc_1", "path": "$.amount", "quantity": quantity.to_dict()}
    assert stored.check("It is {{claim:0}}.", [claim]).message == message


@pytest.mark.parametrize("shapes", [(), ("money",)])
def test_other_shapes_count_where_they_are_listed_alone(shapes: tuple[str, ...]) -> None:
    session = Session(packs=PACKS, quantity_shapes=shapes)
    with pytest.raises(GLValidationError, match="RESULT_SCHEMA"):
        session.record("f", {}, {"value": 5, "unit": "kg", "code": "kg", "system": UCUM})
    money = {"price": {"amount": 5, "currency": "USD"}}
    if shapes:
        assert session.record("f", {}, money) == "tc_1"
    else:
        with pytest.raises(GLValidationError, match="a raw number"):
            session.record("f", {}, money)
    with pytest.raises(ValueError, match="quantity_shapes"):
        Session(quantity_shapes=["fihr"])
    assert Policy(quantity_shapes=["fhir"]).quantity_shapes == ("fhir",)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ({"value": 5, "unit": "kg", "comparator": "<"}, "RESULT_SCHEMA"),  # at most, which is no value
        ({"value": "5.1.2", "unit": "kg", "system": UCUM}, "RESULT_SCHEMA"),
        ({"value": True, "unit": "kg", "system": UCUM}, "RESULT_SCHEMA"),
        ({"value": 5, "unit": None, "system": UCUM}, "RESULT_SCHEMA"),
        ({"value": 5, "code": "C", "system": UCUM}, "UNIT_UNKNOWN"),  # a coulomb, no temperature
        ({"value": 5, "unitCode": "kWh"}, "UNIT_UNKNOWN"),
        ({"amount": 5, "currency": "$"}, "RESULT_SCHEMA"),
        ({"amount": 5, "currency": "XYZ"}, "UNIT_UNKNOWN"),
        ({"amount": 5, "currency": "USD", "fee": 2}, "RESULT_SCHEMA"),
        ({"@type": "Product", "value": 5, "unitText": "kWh"}, "RESULT_SCHEMA"),
    ],
)
def test_what_only_looks_like_one_is_refused(value: Any, code: str) -> None:
    session = Session(packs=PACKS, quantity_shapes=QUANTITY_SHAPES)
    with pytest.raises(GLValidationError) as refused:
        session.record("f", {}, {"amount": value})
    assert refused.value.code == code


def test_a_declaration_of_no_use_makes_no_quantity() -> None:
    def record(schema: Any) -> str:
        properties = {"type": "object", "properties": {"amount": schema}}
        return Session().record("f", {}, {"amount": 5}, result_schema=properties)

    assert record({**NUMBER, "x-unit": "kWh"}) == "tc_1"
    for schema, code in [
        ({**NUMBER, "x-unit": "furlong"}, "UNIT_UNKNOWN"),
        ({**NUMBER, "x-unit": "KWH"}, "UNIT_UNKNOWN"),  # a code, where nothing says so
        ({**NUMBER, "x-unit": "kWh", "x-unit-system": "uncefact"}, "UNIT_UNKNOWN"),
        ({**NUMBER, "ucumUnit": "C"}, "UNIT_UNKNOWN"),
        (
            {**NUMBER, "unit": "kW.h", "x-unit-system": "ucum"},
            "UNIT_UNKNOWN",
        ),  # a system is that of x-unit alone
        ({**NUMBER, "x-unit": 5}, "RESULT_SCHEMA"),
        ({"anyOf": [{**NUMBER, "x-unit": "kWh"}, {**NUMBER, "x-unit": "MWh"}]}, "RESULT_SCHEMA"),
    ]:
        with pytest.raises(GLValidationError) as refused:
            record(schema)
        assert refused.value.code == code, schema


def test_objects_of_pint() -> None:
    session = Session(packs=PACKS)
    heat = pint_quantity(3, "kilowatt_hour / meter ** 2 / year")
    assert claimed(session, {}, heat, Quantity(3, "kWh/m2/year")) == "It is 3.00 kWh/m2/year."
    with pytest.raises(GLError, match="UNIT_UNKNOWN"):
        session.record("f", {}, {"length": pint_quantity(3, "furlong")})
    numpy = pytest.importorskip("numpy")
    with pytest.raises(GLError, match="RESULT_SCHEMA"):
        session.record("f", {}, {"heat": pint_quantity(numpy.array([1.0, 2.0]), "kWh")})
    assert claimed(session, {}, pint_quantity(numpy.float64(2), "kWh"), Quantity(2, "kWh"))
    assert quantity_of_library({"value": 1}) is None


# ---------------------------------------------------------------------------------------------------- codes


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_code_is_a_unit(system: str) -> None:
    for code, unit in _codes()[SYSTEMS.index(system)].items():
        assert is_allowed(unit, packs=PACKS) or unit in TIME_UNITS, code
        assert unit_of_code(code, system) == unit


@pytest.mark.parametrize(
    ("code", "unit"),
    [
        ("kW.h", "kWh"), ("kW.h/(m2.a)", "kWh/m2/year"), ("mm[Hg]", "mmHg"), ("m.s-2", "m/s2"), ("[lb_av]", "lb"),
        ("{beats}/min", "beat/min"), ("mmol/L", "mmol/L"), ("By", "B"), ("%{saturation}", "%"), ("k[iU]/L", "kIU/L"),
        ("C", None), ("F", None), ("B", None), ("KWH", None), ("", None), ("/", None), ("kW..h", None), ("((", None),
        ("kW.h" * 100, None), ("10*9/L", "10^9/L"),
        ("{cells}/uL", "1/uL"), ("10*6.[iU]/mL", "10^6*IU/mL"), ("g/(24.h)", "g/24/h"), ("/100{WBCs}", "1/100"),
        ("U/(10.g){feces}", "U/10/g"), ("ms", "ms"), ("[arb'U]/mL", "arbU/mL"), ("mL/min/{1.73_m2}", "mL/min"),
        ("24.h", None), ("g/100.g", None), ("10*31", None), ("{cells}/", None),
    ],
)  # fmt: skip
def test_ucum(code: str, unit: str | None) -> None:
    assert unit_of_code(code, "ucum") == unit


# ------------------------------------------------------------------------------------------------- arguments

PRESSURE = {"value": 120, "unit": "mmHg", "system": UCUM, "code": "mm[Hg]"}
FHIR: dict[str, Any] = {
    "type": "object",
    "properties": {"value": NUMBER, "code": {}, "unit": {}, "system": {}},
}


@pytest.mark.parametrize(
    ("name", "schema", "value", "argument"),
    [
        ("p", {**NUMBER, "x-unit": "kPa"}, PRESSURE, 15.9986864898),
        ("p_kpa", None, PRESSURE, 15.9986864898),
        ("p_kpa", FHIR, PRESSURE, PRESSURE),  # its tool takes it as it is
        ("p_kpa", {"$ref": QUANTITY_REF}, PRESSURE, {"value": 15.9986864898, "unit": "kPa"}),
        ("ps", {"type": "array", "items": {**NUMBER, "x-unit": "kPa"}}, [PRESSURE, 3], [15.9986864898, 3]),
        ("heat_mwh", {**NUMBER, "x-unit": "MWh"}, {"value": 5, "unitCode": "KWH"}, 0.005),
        ("amount_cents", {"type": "integer"}, {"amount": "12.50", "currency": "EUR"}, 1250),
        (
            "amount_cents",
            None,
            {"amount": "12,50", "currency": "EUR"},
            {"amount": "12,50", "currency": "EUR"},
        ),
        ("amount_cents", None, {"amount": True, "currency": "EUR"}, {"amount": True, "currency": "EUR"}),
    ],
)
def test_an_argument_in_another_shape_is_converted_as_a_quantity_is(
    name: str, schema: Any, value: Any, argument: Any
) -> None:
    declared = None if schema is None else {"type": "object", "properties": {name: schema}}
    session = Session(packs=PACKS, quantity_shapes=QUANTITY_SHAPES)
    session.record("cuff", {}, {"p": PRESSURE})
    arguments = session.tool_arguments("f", {name: value}, args_schema=declared)
    assert arguments == {name: argument}
    if value is PRESSURE:
        assert arguments.origins is not None
        assert [(o.source, o.source_unit) for o in arguments.origins] == [("tc_1 $.p", "mmHg")]
    else:
        plain = Session(packs=PACKS).tool_arguments("f", {name: value}, args_schema=declared)
        assert plain == {name: value}


# -------------------------------------------------------------------------------------------------- the basis


def gas(basis: str) -> dict[str, Any]:
    return {"type": "object", "properties": {"heat": {"$ref": QUANTITY_REF, "x-basis": basis}}}


def test_a_claim_of_another_basis_is_refused() -> None:
    session = Session()
    call = session.record("gas", {}, {"heat": {"value": 5, "unit": "kWh"}}, result_schema=gas("HHV"))
    claim = {"source_call_id": call, "path": "$.heat", "quantity": {"value": 5, "unit": "kWh"}}
    assert session.check("It is {{claim:0}}.", [claim]).provenance[0]["basis"] == "HHV"
    assert session.check("It is {{claim:0}}.", [{**claim, "basis": "HHV"}]).message == "It is 5.00 kWh."
    for stored in (session, Session.from_json(session.to_json())):
        with pytest.raises(GLDataError, match="basis 'LHV'") as refused:
            stored.check("It is {{claim:0}}.", [{**claim, "basis": "LHV"}])
        assert refused.value.code == "BASIS"
    with pytest.raises(GLValidationError, match="STEP_SCHEMA"):
        session.check("It is {{claim:0}}.", [{**claim, "basis": 5}])


@pytest.mark.parametrize("value", [5, {"value": 5, "unit": "kWh"}])
def test_an_argument_of_another_basis_is_refused(value: Any) -> None:
    session = Session()
    session.record("gas", {}, {"heat": {"value": 5, "unit": "kWh"}}, result_schema=gas("HHV"))

    def arguments(basis: str) -> Any:
        schema = {"type": "object", "properties": {"heat": {**NUMBER, "x-unit": "kWh", "x-basis": basis}}}
        return session.tool_arguments("boiler", {"heat": value}, args_schema=schema)

    assert arguments("HHV") == {"heat": 5}
    with pytest.raises(GLDataError, match="takes a quantity of the basis 'LHV'") as refused:
        arguments("LHV")
    assert refused.value.code == "BASIS" and refused.value.path == "$.heat"
    session.record("other", {}, {"heat": {"value": 5, "unit": "kWh"}}, result_schema=gas("LHV"))


@pytest.mark.parametrize(
    ("shape", "data", "key", "quantity"),
    [
        ("open-mhealth", {"value": 5, "unit": "kWh"}, "value", Quantity(5, "kWh")),
        ("open-mhealth", {"value": "5", "unit": "kWh"}, "value", Quantity(5, "kWh")),
        ("open-mhealth", {"value": "-5.5", "unit": "kWh"}, "value", Quantity(-5.5, "kWh")),
        ("open-mhealth", {"value": "5,5", "unit": "kWh"}, "value", None),
        ("open-mhealth", {"value": True, "unit": "kWh"}, "value", None),
        ("open-mhealth", {"value": None, "unit": "kWh"}, "value", None),
        ("open-mhealth", {"value": 5, "unit": None}, "value", None),
        ("open-mhealth", {"value": 5}, None, None),
        ("open-mhealth", {"unit": "kWh"}, None, None),
        ("open-mhealth", {"value": 5, "unit": "kWh", "note": "x"}, None, None),
        ("fhir", {"value": 5, "unit": "MWh", "code": "kWh"}, "value", Quantity(5, "MWh")),
        ("fhir", {"value": 5, "code": "kWh"}, "value", Quantity(5, "kWh")),
        ("fhir", {"value": 5, "unit": "MWh", "code": "kW.h", "system": UCUM}, "value", Quantity(5, "kWh")),
        ("fhir", {"value": 5, "code": "no such", "system": UCUM}, "value", Quantity(5, "ucum:no such")),
        ("fhir", {"value": 5, "unit": 5}, "value", None),
        ("schema.org", {"value": 5, "unitCode": "KWH", "unitText": "m"}, "value", Quantity(5, "kWh")),
        ("schema.org", {"value": 5, "unitCode": "ZZZZ"}, "value", Quantity(5, "uncefact:ZZZZ")),
        ("schema.org", {"value": 5, "unitText": 5}, "value", None),
        ("schema.org", {"value": 5, "unitText": "m", "@type": "PropertyValue"}, "value", Quantity(5, "m")),
        ("schema.org", {"value": 5, "unitText": "m", "@type": "Thing"}, "value", None),
        ("schema.org", {"value": 5, "currency": "USD", "unitText": "m"}, None, None),
        ("money", {"amount": 5, "currency": "USD"}, "amount", Quantity(5, "USD")),
        ("money", {"amount": 5, "currency": "usd"}, "amount", None),
        ("money", {"amount": 5, "currency": "US"}, "amount", None),
        ("money", {"amount": 5, "currency": "ÜSD"}, "amount", None),
        ("money", {"amount": 5, "currency": 5}, "amount", None),
        ("no such", {"amount": 5, "currency": "USD"}, None, None),
    ],
)
def test_what_an_object_in_a_shape_says(
    shape: str, data: dict[str, Any], key: str | None, quantity: Quantity | None
) -> None:
    assert (value_key(data, [shape]), shaped_quantity(data, [shape])) == (key, quantity)
    assert value_key(data, ["no such", shape]) == key
    if quantity is not None:
        assert type(shaped_quantity(data, [shape]).value) is type(quantity.value)  # type: ignore[union-attr]
        assert shaped_unit(data, ["money", "no such", shape]) == quantity.unit


def foreign(module: str, name: str, **attributes: Any) -> Any:
    return type(name, (), {"__module__": module, **attributes})()


class AreaUnit:
    scale = 1.0
    powers = (1, -2)

    def __init__(self, above: str) -> None:
        self.bases = (SimpleNamespace(name=above), SimpleNamespace(name="m"))


@pytest.mark.parametrize(
    ("powers", "unit"),
    [
        ({"kilowatt_hour": 1, "meter": -2}, "kWh/m2"),
        ({"meter": 2.0}, "m2"),
        ({"kilowatt_hour": 1, "meter": 0}, "kWh"),
        ({"meter": 0.5}, "meter^0.5"),
        ({"meter": -0.5}, "1/meter^0.5"),
        ({"second": -1}, "1/second"),
        ({"kilogram": 1, "meter": -1, "second": -2}, "kg/m/second^2"),
        ({"widget": 1, "gadget": 1}, "widget*gadget"),
        ({}, "1"),
    ],
)
def test_the_unit_of_an_object_of_pint(powers: dict[str, Any], unit: str) -> None:
    value = foreign("pint.registry", "Quantity", magnitude=5, _units=powers)
    assert quantity_of_library(value) == (5, unit)


def test_an_object_of_astropy_and_what_is_none() -> None:
    for above, unit in (("kWh", "kWh/m2"), ("widget", "widget/m^2")):
        value = foreign("astropy.units", "Quantity", value=5, unit=AreaUnit(above))
        assert quantity_of_library(value) == (5, unit)
    for value in (
        5,
        foreign("astropy.units", "Unit", value=5, unit=AreaUnit("kWh")),
        foreign("mine", "Quantity", value=5, unit=AreaUnit("kWh")),
        foreign("pint", "Unit", _units={"meter": 1}),
        foreign("pint", "Measurement", magnitude=5),
        foreign("mine", "Quantity", magnitude=5, _units={"meter": 1}),
    ):
        assert quantity_of_library(value) is None


class Part(pydantic.BaseModel):
    loss: float | None = pydantic.Field(default=None, json_schema_extra={"x-unit": "kW"})


class Site(pydantic.BaseModel):
    heat: Annotated[float, pydantic.Field(json_schema_extra={"x-unit": "kWh"})]
    parts: list[Part] = []


@dataclass
class Meter:
    heat: float = field(metadata={"unit": "kWh"})


@pytest.mark.parametrize("mode", ["claims", "sourced"])
@pytest.mark.parametrize("make", [lambda: Site(heat=12.5, parts=[Part(loss=1.5)]), lambda: Meter(12.5)])
def test_the_fields_of_a_model_declare_units(mode: Any, make: Any) -> None:
    session = Session(mode=mode)
    call = session.record("meter", {}, {"site": make()})
    units = session.declared_units(call)
    assert units["$.site.heat"] == "kWh"
    assert units.get("$.site.parts[0].loss", "kW") == "kW"


def test_what_no_field_declares_is_a_raw_number() -> None:
    class Bare(pydantic.BaseModel):
        heat: float

    with pytest.raises(GLValidationError, match="raw number"):
        Session().record("meter", {}, Bare(heat=12.5))

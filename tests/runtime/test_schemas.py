"""What is decided about schemas and outputs as data."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import pytest

from gllint_runtime import Claim, Quantity
from gllint_runtime.policy.schema_numbers import (
    SchemaUnit,
    declared_units,
    demands_quantity,
    find_inlined_quantities,
    find_raw_numbers,
    property_names,
    property_of,
    quantity_units,
    schema_numbers,
    unknown_refs,
)
from gllint_runtime.policy.schemas import (
    ASSISTANT_STEP_SCHEMA,
    CLAIM_SCHEMA,
    FINAL_SCHEMA,
    QUANTITY_BODY,
    QUANTITY_REF,
    QUANTITY_SCHEMA,
    is_inlined_quantity,
    misspelt_keywords,
    quantity_problem,
    schema_problems,
    show_path,
)

REF = {"$ref": QUANTITY_REF}


class Opaque:
    """Stands for a part of a schema that is not known."""


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


NUMBER = {"type": "number"}
IN_KWH = {**NUMBER, "x-unit": "kWh"}
INLINED = of(value=NUMBER, unit={"type": "string"})


@pytest.mark.parametrize(
    ("schema", "paths"),
    [
        ({}, []),
        (True, []),
        (Opaque(), []),
        ({"type": Opaque()}, []),
        ({"type": "number"}, [("type",)]),
        ({"type": "integer"}, [("type",)]),
        ({"type": ["string", "null"]}, []),
        ({"type": ["string", "number"]}, [("type",)]),
        ({"const": 3}, [("const",)]),
        ({"const": True}, []),
        ({"enum": ["a", 1.5]}, [("enum",)]),
        ({"enum": ["a", True]}, []),
        ({"type": "integer", "enum": [1, 2]}, [("type",)]),
        (of(heat={"type": "number"}, note={"type": "string"}), [("properties", "heat", "type")]),
        (of(type={"type": "string"}), []),
        (of(type={"type": "number"}), [("properties", "type", "type")]),
        ({"items": {"type": "number"}}, [("items", "type")]),
        ({"prefixItems": [{}, {"type": "number"}]}, [("prefixItems", 1, "type")]),
        ({"anyOf": [{"type": "null"}, {"type": "number"}]}, [("anyOf", 1, "type")]),
        ({"oneOf": [{"type": "number"}]}, [("oneOf", 0, "type")]),
        ({"allOf": [of(x={"type": "number"})]}, [("allOf", 0, "properties", "x", "type")]),
        ({"$defs": {"x": {"type": "number"}}}, [("$defs", "x", "type")]),
        ({"additionalProperties": {"type": "number"}}, [("additionalProperties", "type")]),
        ({"not": {"type": "number"}}, []),
        ({"if": {"type": "number"}, "then": {"type": "number"}}, [("then", "type")]),
        (REF, []),
        ({**REF, "type": "number"}, [("type",)]),
        (INLINED, []),
        (of(heat=INLINED), []),
        (of(value={"type": "number"}), [("properties", "value", "type")]),
        (of(value={"type": "number"}, unit={}, note={}), [("properties", "value", "type")]),
        (
            of(a={"type": "number"}, b={"type": "integer"}),
            [("properties", "a", "type"), ("properties", "b", "type")],
        ),
    ],
)
def test_raw_numbers_in_schemas(schema: Any, paths: list[tuple[Any, ...]]) -> None:
    assert find_raw_numbers(schema) == paths


def test_deep_schemas_are_no_problem() -> None:
    schema: dict[str, Any] = {"type": "number"}
    for _ in range(5000):
        schema = {"items": schema}
    assert len(find_raw_numbers(schema)) == 1


@pytest.mark.parametrize(
    ("schema", "inlined"),
    [
        (INLINED, True),
        (QUANTITY_SCHEMA, True),
        (of(value={}, unit={}), True),
        (of(value={"type": ["number", "null"]}, unit={}), True),
        (of(value={"type": "string"}, unit={"type": "string"}), False),
        (of(value={"type": "number"}), False),
        (of(value={"type": "number"}, unit={"type": "number"}), False),
        (of(value={"type": "number"}, unit={"const": 5}), False),
        (of(value={"type": "number"}, unit={"enum": [1, 2]}), False),
        (of(value={"type": "number"}, unit={"anyOf": [{"type": "integer"}, {"type": "null"}]}), False),
        (of(value={"type": "number"}, unit={"type": [{}]}), False),
        (of(value={"type": "number"}, unit=False), False),
        (of(value={"type": "number"}, unit=True), True),
        (of(value={"type": "number"}, unit={"type": ["string", "null"]}), True),
        (of(value={"type": "number"}, unit={"$ref": "#/$defs/Unit"}), True),
        (of(value={"const": "x"}, unit={}), False),
        (of(value={"enum": ["x", 1]}, unit={"enum": [5, "m"]}), True),
        (of(value={"enum": [Opaque()]}, unit={"type": [Opaque()]}), True),
        (of(value={"const": Opaque()}, unit={"const": "m", "enum": [5]}), True),
        (of(value={"anyOf": [{"type": "null"}] * 998}, unit={}), False),
        (of(value={"anyOf": [{"type": "null"}] * 1000}, unit={}), True),  # more than anybody looks at
        (of(value={"anyOf": [{"type": "number"}, {"type": "null"}]}, unit={}), True),
        ({"type": "array", "properties": INLINED["properties"]}, False),
        (REF, False),
        (None, False),
        ({"properties": Opaque()}, False),
    ],
)
def test_inlined_quantities(schema: Any, inlined: bool) -> None:
    assert is_inlined_quantity(schema) is inlined


@pytest.mark.parametrize(
    ("schema", "units"),
    [
        (NUMBER, [None]),
        (IN_KWH, ["kWh"]),
        ({**NUMBER, "unit": 5, "currency": "USD"}, ["USD"]),
        # Of a branch, of the elements of a list, and where a condition holds, it is the unit of the whole.
        ({"unit": "kWh", "anyOf": [NUMBER, {"type": "null"}]}, ["kWh"]),
        ({"unit": "kWh", "anyOf": [{**NUMBER, "unit": "MWh"}, NUMBER]}, ["MWh", "kWh"]),
        ({"unit": "kWh", "prefixItems": [NUMBER]}, ["kWh"]),
        ({"unit": "kWh", "items": NUMBER}, ["kWh"]),
        ({"unit": "kWh", "contains": NUMBER}, ["kWh"]),
        ({"unit": "kWh", "unevaluatedItems": {"items": NUMBER}}, ["kWh"]),
        ({"unit": "kWh", "if": {}, "then": NUMBER, "else": {"oneOf": [NUMBER]}}, ["kWh", "kWh"]),
        ({"unit": "kWh", "oneOf": [{"items": {"allOf": [NUMBER]}}]}, ["kWh"]),
        # Of what stands under a key it is not, whatever that is called.
        ({"unit": "kWh", "properties": {"a": NUMBER}}, [None]),
        ({"unit": "kWh", "properties": {"items": NUMBER, "then": NUMBER, "else": NUMBER}}, [None] * 3),
        ({"unit": "kWh", "$defs": {"items": NUMBER}, "patternProperties": {"contains": NUMBER}}, [None] * 2),
        ({"unit": "kWh", "additionalProperties": NUMBER}, [None]),
        ({"properties": {"anyOf": {"unit": "kWh", "properties": {"a": NUMBER}}}}, [None]),
        ({"unit": "kWh", "properties": {"anyOf": {"items": NUMBER}}}, [None]),
        ({"properties": {"items": {"unit": "kWh", "items": NUMBER}}}, ["kWh"]),
        ({"properties": {"items": {"unit": "kWh", "anyOf": [NUMBER]}}}, ["kWh"]),
    ],
)
def test_the_unit_that_is_declared_for_each_number(schema: Any, units: list[str | None]) -> None:
    numbers = [*schema_numbers(schema)]
    assert [number.declared and number.declared.unit for number in numbers] == units
    named = [unit for unit in units if unit is not None]
    assert [unit.unit for unit in declared_units({"properties": {"a": schema}})] in (named, named[:1])
    assert demands_quantity(schema) is bool(named)


def test_where_a_unit_is_declared() -> None:
    schema = {"properties": {"a": {"x-unit": "kWh", "items": {"anyOf": [NUMBER, {"type": "integer"}]}}}}
    unit = SchemaUnit(("properties", "a", "x-unit"), "kWh")
    inner = ("properties", "a", "items", "anyOf")
    assert [*schema_numbers(schema)] == [((*inner, 0, "type"), unit), ((*inner, 1, "type"), unit)]
    assert declared_units(schema) == [unit]


def test_numbers_of_other_shapes_are_quantities_where_these_are_listed() -> None:
    money = of(amount=NUMBER, currency={"type": "string"})
    amount = [("properties", "amount", "type")]
    assert find_raw_numbers(money) == amount
    assert find_raw_numbers(money, shapes=("money",)) == []
    assert find_raw_numbers(INLINED, shapes=("money",)) == []
    assert find_raw_numbers({"properties": Opaque(), **NUMBER}, shapes=("money",)) == [("type",)]
    assert find_raw_numbers(of(amount=NUMBER), shapes=("money",)) == amount
    assert find_raw_numbers({"items": True, **NUMBER}, shapes=("money",)) == [("type",)]


def test_numbers_that_are_no_quantities_or_say_their_unit() -> None:
    schema = of(page=NUMBER, heat=IN_KWH, area=NUMBER, pages={"items": NUMBER})
    area, heat = ("properties", "area", "type"), ("properties", "heat", "type")
    assert find_raw_numbers(schema, lambda key, number: key.startswith("page")) == [area]
    assert find_raw_numbers(schema, lambda key, number: key.startswith("page"), lambda unit: False) == [
        heat,
        area,
    ]
    assert find_raw_numbers(NUMBER, lambda key, number: True) == [("type",)]


@pytest.mark.parametrize(
    ("unit", "units"),
    [
        ({"const": "kWh"}, [("const", "kWh")]),
        ({"const": "kWh", "default": "MWh"}, [("const", "kWh"), ("default", "MWh")]),
        ({"default": None, "examples": ("kWh", 5, "MWh")}, [("examples", 0, "kWh"), ("examples", 2, "MWh")]),
        ({"enum": ["kWh", None, "J"], "examples": "kWh"}, [("enum", 0, "kWh"), ("enum", 2, "J")]),
        ({"enum": Opaque()}, []),
        (True, []),
    ],
)
def test_the_units_that_a_quantity_may_have(unit: Any, units: list[Any]) -> None:
    schema = of(a={"items": of(value=NUMBER, unit=unit)}, b=of(unit={"const": "m"}), c=NUMBER)
    place = ("properties", "a", "items", "properties", "unit")
    assert [*quantity_units(schema)] == [SchemaUnit((*place, *steps), symbol) for *steps, symbol in units]


@pytest.mark.parametrize(
    ("path", "key", "names"),
    [
        ((), None, ()),
        (("properties", "a"), "a", ("a",)),
        (("properties", "a", "items", "anyOf", 0), "a", ("a",)),
        (("properties", "a", "contains", "prefixItems", 1), "a", ("a",)),
        (("properties", "a", "unevaluatedItems", "properties", "b"), "b", ("a", "b")),
        (("properties", "properties", "oneOf", 0, "properties", "items"), "items", ("properties", "items")),
        (("properties", "a", "additionalProperties"), None, None),
        (("properties", "a", "unevaluatedProperties"), None, None),
        (("properties", "a", "patternProperties", "^b"), None, None),
        (("properties", "a", "$defs", "b"), None, None),
        (("properties", "a", "dependentSchemas", "b"), "a", None),
        (("properties", "a", "then"), "a", None),
        (("additionalProperties", "properties", "a"), "a", None),
        (("properties", "additionalProperties"), "additionalProperties", ("additionalProperties",)),
        (("properties",), None, ("",)),
    ],
)
def test_the_properties_that_a_part_of_a_schema_speaks_of(path: Any, key: Any, names: Any) -> None:
    assert (property_of(path), property_names(path)) == (key, names)


def test_where_quantities_are_inlined() -> None:
    assert find_inlined_quantities(of(heat=INLINED, roof=of(area=INLINED), ref=REF)) == [
        ("properties", "heat"),
        ("properties", "roof", "properties", "area"),
    ]


@pytest.mark.parametrize(
    ("schema", "has"),
    [
        ({}, False),
        (INLINED, False),
        (REF, True),
        (of(heat=REF), True),
        ({"items": REF}, True),
        (of(heat={"$ref": "#/$defs/x"}), False),
        (of(heat=Opaque()), True),
        (of(heat={"$ref": Opaque()}), True),
    ],
)
def test_quantity_refs(schema: Any, has: bool) -> None:
    assert demands_quantity(schema) is has


def test_unknown_refs() -> None:
    schema = of(
        a=REF,
        b={"$ref": "greenlang://schemas/quantities.json"},
        c={"$ref": "#/$defs/x"},
        d={"not": {"$ref": "greenlang:quantity"}},
        e={"$ref": QUANTITY_REF + "#"},
        f={"$ref": Opaque()},
    )
    assert unknown_refs(schema) == [("properties", "b", "$ref"), ("properties", "d", "not", "$ref")]


@pytest.mark.parametrize(
    ("schema", "problems"),
    [
        ({}, []),
        (False, []),
        (QUANTITY_SCHEMA, []),
        (CLAIM_SCHEMA, []),
        (FINAL_SCHEMA, []),
        (ASSISTANT_STEP_SCHEMA, []),
        (5, [((), "")]),
        ({"type": "numbr"}, [(("type",), "type")]),
        ({"type": ["string", "text"]}, [(("type",), "type")]),
        ({"properties": []}, [(("properties",), "properties")]),
        (of(a={"minimum": "0"}), [(("properties", "a", "minimum"), "minimum")]),
        ({"required": "a"}, [(("required",), "required")]),
        ({"required": ["a", "a"], **of(a={})}, [(("required",), "required")]),
        ({"pattern": "("}, [(("pattern",), "pattern")]),
        ({"minLength": -1}, [(("minLength",), "minLength")]),
        ({"anyOf": []}, [(("anyOf",), "anyOf")]),
        ({"enum": "abc"}, [(("enum",), "enum")]),
        ({"required": ["a", "b"], **of(a={})}, [(("required", 1), "required")]),
        ({"type": "object", "required": ["a"]}, [(("required", 0), "required")]),
        (of(x={"required": ["a"], **of(b={})}), [(("properties", "x", "required", 0), "required")]),
        (of(required={"required": ["a"], **of(a={})}), []),
        # What speaks of the same value, and what of another.
        ({"items": {"required": ["a"], **of(b={})}, **of(a={})}, [(("items", "required", 0), "required")]),
        (of(then={"required": ["a"], **of(b={})}), [(("properties", "then", "required", 0), "required")]),
        (
            of(allOf={"items": {"required": ["a"], **of(b={})}}),
            [(("properties", "allOf", "items", "required", 0), "required")],
        ),
        (
            of(x={"allOf": [{"required": ["a"]}], **of(b={})}),
            [(("properties", "x", "allOf", 0, "required", 0), "required")],
        ),
        (
            of(x={"then": {"required": ["a"]}, **of(b={})}),
            [(("properties", "x", "then", "required", 0), "required")],
        ),
        ({"dependentSchemas": {"c": {"required": ["a"]}}, **of(a={})}, []),
        ({"anyOf": [{"required": ["a"]}], **of(a={})}, []),
        ({"not": {"required": ["a"]}}, []),
        ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, []),
        ({"allOf": [{"required": ["a"]}], **of(a={})}, []),
        ({"allOf": [of(a={})], "required": ["a"]}, []),
        ({"allOf": [of(a={})], "required": ["b"]}, [(("required", 0), "required")]),
        ({"allOf": [True], "required": ["b"], **of(b={})}, []),
        ({"allOf": [True], "required": ["b"], **of(a={})}, [(("required", 0), "required")]),
        (of(anyOf={"required": ["b"], **of(a={})}), [(("properties", "anyOf", "required", 0), "required")]),
        ({"anyOf": [{"required": ["b"], **of(a={})}]}, []),
        (Opaque(), []),
        ({"anyOf": [REF], "required": ["b"], **of(a={})}, []),
        ({"anyOf": Opaque(), "required": ["b"], **of(a={})}, []),
        ({"$ref": "#/$defs/x", "required": ["b"], **of(a={})}, []),
        ({"patternProperties": {"^b": {}}, "required": ["b"], **of(a={})}, []),
        ({"then": of(a={"required": ["x"]})}, [(("then", "properties", "a", "required", 0), "required")]),
        ({"required": [Opaque(), "a"], **of(a={})}, []),
        ({"required": Opaque()}, []),
        ({"required": ["a"], "properties": Opaque()}, []),
        ({"required": ["a"], "properties": {Opaque(): {}}}, []),
        ({"type": Opaque(), "properties": {"a": Opaque()}}, []),
        ({Opaque(): 1, "type": "object"}, []),
        (of(a={"type": ("string", "null")}), []),
        ({"minimum": 10**400, "type": "number"}, []),
    ],
)
def test_schema_problems(schema: Any, problems: list[Any]) -> None:
    found = schema_problems(schema)
    assert [(problem.path, problem.keyword) for problem in found] == problems
    assert all(problem.message and len(problem.message) < 300 for problem in found)


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"properties": ["a" * 56]}, f"'properties': {['a' * 56]} is not of type 'object'"),
        ({"properties": ["a" * 57]}, "'properties' is not valid here"),
        ({"enum": "a" * 174}, f"'enum': {'a' * 174!r} is not of type 'array'"),
        ({"enum": "a" * 175}, "'enum' has an invalid value"),
        ({"type": "numbr"}, "'numbr' is not a JSON Schema type"),
    ],
)
def test_a_problem_is_told_in_short(schema: Any, told: str) -> None:
    assert [problem.message for problem in schema_problems(schema)] == [told]


@pytest.mark.parametrize(
    ("schema", "meant"),
    [
        ({"requierd": ["a"]}, ["required"]),
        ({"propertes": {}}, ["properties"]),
        ({"additional_properties": False}, ["additionalProperties"]),
        ({"exclusiveminimum": 0}, ["exclusiveMinimum"]),
        ({"item": {}}, ["items"]),
        (of(requierd={}, propertes={}), []),
        ({"x-unit": "kWh", "unit": "kWh", "example": 1, "nullable": True}, []),
        ({"not": {"typ": "string"}}, ["type"]),
        ({3: 4}, []),
    ],
)
def test_misspelt_keywords(schema: Any, meant: list[str]) -> None:
    assert [keyword for _, keyword in misspelt_keywords(schema)] == meant


# ------------------------------------------------------------------------------------------------ outputs


@dataclass
class Room:
    area: Any
    name: str = "hall"


class Model:
    def model_dump(self) -> dict[str, Any]:
        return {"heat": 3}


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"value": 1, "unit": "kWh"}, None),
        ({"unit": "", "value": -1.5}, None),
        ({"value": -sys.float_info.max, "unit": "m"}, None),
        ({"value": True, "unit": "kWh"}, "not bool"),
        ({"value": "1", "unit": "kWh"}, "not str"),
        ({"value": None, "unit": "kWh"}, "not NoneType"),
        ({"value": 1j, "unit": "kWh"}, "not complex"),
        ({"value": float("nan"), "unit": "kWh"}, "finite"),
        ({"value": float("inf"), "unit": "kWh"}, "finite"),
        ({"value": 10**400, "unit": "kWh"}, "finite"),
        ({"value": 1, "unit": None}, "text"),
        ({"value": 1}, "exactly"),
        ({"value": 1, "unit": "kWh", "note": ""}, "exactly"),
        ([1, "kWh"], "object"),
    ],
)
def test_quantities(value: Any, problem: str | None) -> None:
    found = quantity_problem(value)
    assert found is None if problem is None else problem in str(found)


def test_paths_are_shown_as_claims_write_them() -> None:
    assert show_path(("rooms", 0, "heat")) == "$.rooms[0].heat"
    assert show_path(()) == "$"


def test_records_dump_to_plain_data() -> None:
    assert Claim("tc_1", "$.heat", Quantity(1, "kWh")).to_dict() == {
        "source_call_id": "tc_1",
        "path": "$.heat",
        "quantity": {"value": 1, "unit": "kWh"},
    }


@pytest.mark.parametrize(
    "unknown",
    [object(), {"a": object()}, [object()], {"a": [{"b": object()}]}],
    ids=["object", "value", "item", "deep"],
)
def test_nothing_is_concluded_about_what_holds_the_unknown(unknown: Any) -> None:
    assert schema_problems({"type": "object", "required": unknown}) == []
    assert schema_problems({"type": unknown}) == []
    assert schema_problems({"type": {"a": 5}}) != []


def test_the_quantity_of_a_claim_is_the_quantity() -> None:
    assert CLAIM_SCHEMA["properties"]["quantity"] == QUANTITY_BODY

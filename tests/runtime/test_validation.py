"""Plain copies, validators without network, and the repair of stringified JSON."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry

from gllint_runtime import GLValidationError, Quantity
from gllint_runtime.policy.data import copy_plain, plain
from gllint_runtime.policy.outputs import usable_checker
from gllint_runtime.policy.schemas import QUANTITY_BODY, QUANTITY_REF, quantity_problem, schema_problems
from gllint_runtime.policy.validation import (
    checker,
    endless_refs,
    foreign_refs,
    inline_refs,
    parse_stringified,
)

REF = {"$ref": QUANTITY_REF}


class Colour(str, Enum):
    RED = "red"


class Floor(IntEnum):
    FIRST = 1


class Shade(Enum):
    DARK = "dark"
    INNER = Quantity(1, "m")


class FalseDate(date):
    def isoformat(self) -> Any:
        return object()


@dataclass
class Room:
    area: Quantity


@pytest.mark.parametrize(
    ("value", "copied"),
    [
        (None, None),
        (True, True),
        ("é\ud800", "é\ud800"),
        (10**30, 10**30),
        (1.5, 1.5),
        (Colour.RED, "red"),
        (Floor.FIRST, 1),
        (Shade.DARK, "dark"),
        (Shade.INNER, {"value": 1, "unit": "m"}),
        (date(2024, 10, 2), "2024-10-02"),
        (datetime(2024, 10, 2, 8, 30, tzinfo=UTC), "2024-10-02T08:30:00+00:00"),
        (time(8, 30), "08:30:00"),
        (UUID(int=7), "00000000-0000-0000-0000-000000000007"),
        ((1, [2]), [1, [2]]),
        (Quantity(1, "m"), {"value": 1, "unit": "m"}),
        (Room(Quantity(Decimal("1.5"), "m2")), {"area": {"value": 1.5, "unit": "m2"}}),
        ({"value": Fraction(1, 4), "unit": "m"}, {"value": 0.25, "unit": "m"}),
        ({"value": Floor.FIRST, "unit": "m"}, {"value": 1, "unit": "m"}),
        ({"value": True, "unit": "m"}, {"value": True, "unit": "m"}),
        ({"value": None, "unit": "m"}, {"value": None, "unit": "m"}),
    ],
)
def test_plain_data(value: Any, copied: Any) -> None:
    result = plain(value)
    assert result == copied
    assert type(result) is type(copied)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (float("nan"), "not a number that JSON can represent"),
        ({"value": float("-inf"), "unit": "m"}, "not a number that JSON can represent"),
        (Decimal(1), "a Decimal"),
        ({"heat": Fraction(1, 2)}, "a Fraction"),
        ({1, 2}, "a set"),
        (object(), "an object"),
        (FalseDate(2024, 10, 2), "an object"),
        ({"value": Decimal("1e999"), "unit": "m"}, "a Decimal is beyond the range of numbers"),
        ({"value": Decimal("nan"), "unit": "m"}, "not a number that JSON can represent"),
        ({"value": Decimal("1." + "3" * 400), "unit": "m"}, "a Decimal is beyond the range of numbers"),
        ({"value": Fraction(10**400), "unit": "m"}, "a Fraction is beyond the range of numbers"),
        ({"value": Fraction(2**1024 - 1), "unit": "m"}, "a Fraction is beyond the range of numbers"),
        ({"value": Decimal("1e300"), "unit": "m"}, "a Decimal is beyond the range of numbers"),
        ({"value": Decimal("1e-300"), "unit": "m"}, "a Decimal is beyond the range of numbers"),
        ({"value": Decimal("0." + "3" * 300), "unit": "m"}, "a Decimal is beyond the range of numbers"),
        ({"value": 2**1024, "unit": "m"}, "an integer is beyond the range of numbers"),
        ({5: "a"}, "the key 5"),
        ({"value": 1j, "unit": "m"}, "a complex"),
    ],
)
def test_what_is_no_data(value: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        plain(value)


@pytest.mark.parametrize("container", [list, lambda inner: {"a": inner}])
def test_endless_data_is_refused(container: Any) -> None:
    value: Any = []
    for _ in range(100):
        value = container([value]) if container is list else container(value)
    with pytest.raises(ValueError, match="nested"):
        plain(value)
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ValueError, match=r"the data contains itself: \$\[0\] is \$ again"):
        plain(loop)


def test_the_letters_of_keys_count_as_well() -> None:
    with pytest.raises(ValueError, match="characters"):
        plain({"a" * 20_000_001: None})


@pytest.mark.parametrize(
    "number", [Fraction(2**1023 - 1), Decimal("1e299"), Decimal("1e-299"), Decimal("0." + "3" * 299), 2**1022]
)
def test_the_largest_numbers_and_those_with_most_digits(number: Any) -> None:
    assert plain({"value": number, "unit": "m"}) == {"value": float(number), "unit": "m"}


class Dumping:
    def __init__(self, members: int) -> None:
        self.members = members

    def model_dump(self) -> Any:
        return {str(i): None for i in range(self.members)}


@pytest.mark.usefixtures("unmeasured")
def test_just_so_many_values_are_data() -> None:
    assert len(plain(Dumping(200_000))) == len(plain([None] * 200_000)) == 200_000
    assert len(plain([{"value": 1, "unit": "m"}] * 66_666)) == 66_666
    for more in (Dumping(200_001), [None] * 200_001, [{"value": 1, "unit": "m"}] * 66_667):
        with pytest.raises(ValueError, match="the data has more than 200000 values"):
            plain(more)


def test_a_copy_shares_nothing() -> None:
    original = {"rooms": [{"name": "hall"}]}
    for copied in (plain(original), copy_plain(original)):
        copied["rooms"][0]["name"] = "attic"
        assert original == {"rooms": [{"name": "hall"}]}


# ----------------------------------------------------------------------------------------------- validating


@pytest.mark.parametrize(
    ("schema", "data", "problem"),
    [
        ({"type": "number", "minimum": 0}, -1, ((), "less than the minimum")),
        ({"properties": {"a": {"type": "string"}}}, {"a": 1}, (("a",), "not of type 'string'")),
        ({"type": "object", "required": ["a"], "properties": {"a": {}}}, {}, ((), "required")),
        ({"type": "object", "properties": {}, "additionalProperties": False}, {"b": 1}, ((), "unexpected")),
        ({"properties": {"q": REF}}, {"q": 5}, (("q",), "a Quantity must be an object")),
        ({"properties": {"q": REF}}, {"q": {"value": 5, "unit": "m", "x": 1}}, (("q",), "exactly the keys")),
        (
            {"properties": {"q": {**REF, "maxProperties": 1}}},
            {"q": {"value": 5, "unit": "m"}},
            (("q",), "too many"),
        ),
        (
            {"items": {"$ref": "#/$defs/t"}, "$defs": {"t": {"type": "string"}}},
            ["a", 1],
            ((1,), "not of type"),
        ),
        (False, 1, ((), "False schema")),
        (REF, {"value": 5, "unit": "m", "x": 1}, ((), "exactly the keys")),
        (REF, {"value": 5, "unit": 5}, ((), "must be text, not int")),
        ({"type": "string"}, {"value": 5, "unit": "m"}, ((), "not of type 'string'")),
        (REF, {"value": "5", "unit": "m"}, ((), "must be a number, not str")),
        ({"type": "array", "items": {"type": "string"}}, ["a", 1], ((1,), "not of type 'string'")),
        ({"type": "array", "items": {"type": "string"}}, {"a": "b"}, ((), "not of type 'array'")),
        ({"type": "array", "items": {"type": "string"}, "minItems": 2}, ["a"], ((), "too short")),
        ({"type": "object", "items": {"type": "string"}}, ["a"], ((), "not of type 'object'")),
        ({"type": "string", "properties": {}}, {}, ((), "not of type 'string'")),
        ({"type": "string", "minimum": 3}, 5, ((), "not of type 'string'")),
        ({"type": "integer", "maximum": 3}, 4, ((), "greater than the maximum")),
        ({"type": "number", "exclusiveMaximum": 3}, 3, ((), "greater than or equal to the maximum")),
    ],
)
def test_the_best_error_is_told(schema: Any, data: Any, problem: tuple[Any, str]) -> None:
    found = checker(schema)(data)
    assert found is not None
    assert found[0] == problem[0]
    assert problem[1] in found[1]


@pytest.mark.parametrize(
    ("schema", "data"),
    [
        (True, 1),
        ({}, {"a": 1}),
        (REF, {"value": 5, "unit": "m"}),
        ({"type": "string", "minimum": 3}, "text"),
        ({"type": "integer"}, 3.0),
        ({"type": ["string", "null"]}, None),
        ({"type": "object", "additionalProperties": {"type": "string"}}, {"a": "b"}),
        (
            {"type": "object", "title": "t", "description": "d", "properties": {"a": {"type": "number"}}},
            {"b": 1},
        ),
    ],
)
def test_what_fits(schema: Any, data: Any) -> None:
    assert checker(schema)(data) is None


@pytest.mark.parametrize("where", ["pattern", "patternProperties"])
def test_an_expression_that_takes_too_long_is_given_up(where: str) -> None:
    endless = {"pattern": "^(a|aa)+$", "patternProperties": {"^(a|aa)+$": True}}
    text = "a" * 60 + "!"
    found = checker({where: endless[where]})(text if where == "pattern" else {text: 1})
    assert found is not None and "takes too long" in found[1]
    calm = {"pattern": "^a+!$", "patternProperties": {"^a+!$": {"type": "integer"}}}
    assert checker({where: calm[where]})(text if where == "pattern" else {text: 1}) is None
    assert checker({where: calm[where]})("b" if where == "pattern" else {text: "b"}) is not None


@pytest.mark.parametrize(
    ("items", "unique"),
    [
        ([1, True, "1", None, [1], [True], {"a": 1}, {"a": True}, {}, [], 0, False], True),
        ([1, 1.0], False),
        ([[1, {"a": [2]}], [1, {"a": [2.0]}]], False),
        ([{"a": 1, "b": 2}, {"b": 2, "a": 1}], False),
        ([{"n": i} for i in range(20_000)], True),
    ],
)
def test_unique_items(items: list[Any], unique: bool) -> None:
    assert (checker({"uniqueItems": True})(items) is None) is unique
    assert checker({"uniqueItems": False})(items) is None


def test_the_callers_schema_may_change_without_effect() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
    check = checker(schema)
    schema["properties"]["a"]["type"] = "number"
    assert check({"a": "b"}) is None


scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-3, 3) | st.sampled_from(["", "a", "b"])
data = st.recursive(
    scalars | st.fixed_dictionaries({"value": scalars, "unit": scalars}),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
bounds = st.dictionaries(
    st.sampled_from(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]),
    st.integers(-2, 2),
    max_size=2,
)
leaf_schemas = st.builds(
    lambda kind, more: {"type": kind, **more},
    st.sampled_from(["number", "integer", "string", "boolean", "object", "array", "null"]),
    bounds,
) | st.sampled_from([True, {}, REF, {"enum": ["a", 1]}, {"type": ["string", "null"]}, {"const": 1}])
schemas = st.recursive(
    leaf_schemas,
    lambda inner: st.builds(
        lambda properties, required, rest: {
            "type": "object",
            "properties": properties,
            "required": required,
            **rest,
        },
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
        st.lists(st.sampled_from("ab"), unique=True),
        st.sampled_from(
            [
                {},
                {"additionalProperties": False},
                {"additionalProperties": {"type": "string"}},
                {"title": "t"},
            ]
        ),
    ),
    max_leaves=5,
)


@pytest.mark.usefixtures("unmeasured")
@settings(max_examples=300)
@given(schemas, data)
def test_the_quick_test_never_differs_from_the_validator(schema: Any, instance: Any) -> None:
    spelled = Draft202012Validator(inline_refs(schema), registry=Registry())
    assert (checker(schema)(instance) is None) is spelled.is_valid(instance)


@given(data)
def test_the_quantity_keyword_is_the_quantity_schema(instance: Any) -> None:
    spelled = Draft202012Validator(inline_refs(REF), registry=Registry())
    assert (quantity_problem(instance) is None) is spelled.is_valid(instance)


# --------------------------------------------------------------------------------------------- references


@pytest.mark.parametrize(
    ("schema", "paths"),
    [
        (REF, []),
        ({"$ref": "#"}, []),
        ({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {}}}, []),
        ({"$ref": "#/anyOf/0", "anyOf": [{}]}, []),
        ({"$ref": "#here", "$defs": {"x": {"$anchor": "here"}}}, []),
        ({"$ref": "urn:own", "$defs": {"x": {"$id": "urn:own"}}}, []),
        ({"$ref": "#/$defs/missing"}, [("$ref",)]),
        ({"$ref": "#/anyOf/1", "anyOf": [{}]}, [("$ref",)]),
        ({"$ref": "#nowhere"}, [("$ref",)]),
        ({"$ref": "https://example.org/heat.json"}, [("$ref",)]),
        ({"$ref": "greenlang://schemas/heat.json"}, [("$ref",)]),
        ({"properties": {"a": {"$ref": "heat.json"}}}, [("properties", "a", "$ref")]),
        ({"not": {"$dynamicRef": "#x"}}, [("not", "$dynamicRef")]),
    ],
)
def test_references_that_would_have_to_be_fetched(schema: Any, paths: list[Any]) -> None:
    assert foreign_refs(schema) == paths


def test_references_are_inlined_wherever_they_stand() -> None:
    schema = {"anyOf": [REF, {"items": REF}], "prefixItems": (REF,)}
    inlined = {"anyOf": [QUANTITY_BODY, {"items": QUANTITY_BODY}], "prefixItems": [QUANTITY_BODY]}
    assert inline_refs(schema) == inlined


def test_siblings_of_a_reference_count() -> None:
    inlined = inline_refs({**REF, "description": "heat", "allOf": [{"minProperties": 2}]})
    assert "$ref" not in inlined
    assert inlined["description"] == "heat"
    assert [sorted(part) for part in inlined["allOf"]][0] == ["minProperties"]
    assert inlined["allOf"][1]["required"] == ["value", "unit"]


# ----------------------------------------------------------------------------------- stringified arguments


WANTS = {
    "type": "object",
    "properties": {
        "where": {"type": "object", "properties": {"tags": {"type": "array"}}},
        "columns": {"type": ["array", "null"], "items": {"type": "object"}},
        "either": {"type": ["object", "string"]},
        "any": {},
        "name": {"type": "string"},
        "heat": REF,
        "one_of": {"anyOf": [{"type": "object"}, {"type": "null"}]},
        "loose": {"oneOf": [{"type": "object"}, {}]},
        "text_or": {"anyOf": [{"type": "object"}, {"type": "string"}]},
    },
}


@pytest.mark.parametrize(
    ("name", "text", "parsed"),
    [
        ("where", '{"city": "Graz"}', {"city": "Graz"}),
        ("where", '{"tags": "[1]"}', {"tags": [1]}),
        ("columns", '["{\\"a\\": 1}"]', [{"a": 1}]),
        ("heat", '{"value": 1, "unit": "kWh"}', {"value": 1, "unit": "kWh"}),
        ("one_of", '{"a": 1}', {"a": 1}),
        ("where", "not json", "not json"),
        ("where", "5", "5"),
        ("either", '{"a": 1}', '{"a": 1}'),
        ("any", '{"a": 1}', '{"a": 1}'),
        ("name", '{"a": 1}', '{"a": 1}'),
        ("loose", '{"a": 1}', '{"a": 1}'),
        ("text_or", '{"a": 1}', '{"a": 1}'),
        ("unknown", '{"a": 1}', '{"a": 1}'),
    ],
)
def test_json_text_is_parsed_only_where_nothing_else_can_be_meant(name: str, text: str, parsed: Any) -> None:
    assert parse_stringified({name: text}, inline_refs(WANTS)) == {name: parsed}


def test_nothing_is_parsed_without_a_schema() -> None:
    assert parse_stringified({"a": "[1]"}, True) == {"a": "[1]"}
    assert parse_stringified(["[1]"], {"type": "array"}) == ["[1]"]


def test_the_deepest_data() -> None:
    def nested(depth: int) -> Any:
        data: Any = "x"
        for _ in range(depth):
            data = [data]
        return data

    assert plain(nested(65)) == nested(65)
    with pytest.raises(ValueError, match="nested too deeply"):
        plain(nested(66))


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/a/0/b", "a": [1]},
        {"$ref": "#/a/x", "a": [1]},
        {"$ref": "#/a/b", "a": "t"},
        {"$ref": "#/%zz"},
        {"$ref": "http://[::"},
        {"properties": {"a": {"$ref": "#/$defs/gone"}}},
        {"not": {"$ref": "https://example.com/x.json"}},
    ],
)
def test_references_that_lead_nowhere(schema: Any) -> None:
    assert len(foreign_refs(schema)) == 1


@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": {"a": {"$id": 5}}, "$ref": "#/q"},
        {"$defs": 5, "$ref": "x"},
        {"properties": [1], "$ref": "#/z"},
        {"properties": None, "items": [], "$ref": "u"},
        {"$ref": "x", "$defs": {"$anchor": "z", "$dynamicAnchor": 5}},
    ],
)
def test_an_invalid_schema_is_invalid_whatever_its_references(schema: Any) -> None:
    assert schema_problems(schema) and foreign_refs(schema) == []


@pytest.mark.parametrize(
    ("schema", "endless"),
    [
        ({"$ref": "#"}, 1),
        ({"not": {"$ref": "#"}}, 1),
        ({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}}, 1),
        ({"$ref": "#/$defs/b/anyOf/0", "$defs": {"b": {"anyOf": [{"$ref": "#/$defs/b"}]}}}, 1),
        ({"$defs": {"a~/b": {"$ref": "#/$defs/a~0~1b"}}}, 1),
        ({"properties": {"a": {"$ref": "#"}}}, 0),
        (True, 0),
        ({"properties": {"a": True, "b": {"$ref": 5}}, "anyOf": 5}, 0),
        ({"if": {"$ref": "#"}}, 1),
        ({"then": {"else": {"$ref": "#/then"}}}, 1),
        ({"oneOf": [True, {"allOf": [{"$ref": "#/oneOf/1"}]}]}, 1),
        ({"$ref": "#/$defs/t", "$defs": {"t": {"properties": {"of": {"items": {"$ref": "#/$defs/t"}}}}}}, 0),
        ({"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}], "$defs": {"a": {"type": "string"}}}, 0),
    ],
)
def test_references_without_end(schema: Any, endless: int) -> None:
    assert len(endless_refs(schema)) == endless
    if endless:
        with pytest.raises(GLValidationError, match="endlessly"):
            usable_checker("t", "RESULT_SCHEMA", schema)


def test_json_text_is_parsed_where_a_reference_wants_an_object() -> None:
    schema = {
        "properties": {"a": {"$ref": "#/$defs/x~1y"}, "b": {"$ref": "#/$defs/text"}},
        "$defs": {
            "x/y": {"anyOf": [{"type": "object"}, {"type": "null"}]},
            "text": {"type": ["string", "object"]},
        },
    }
    assert parse_stringified({"a": '{"n": 1}', "b": "{}"}, schema) == {"a": {"n": 1}, "b": "{}"}
    assert parse_stringified({"a": "[1]"}, {"properties": {"a": {"$ref": "#/none"}}}) == {"a": "[1]"}

"""What a verified output holds, and the way from a claim to it."""

from __future__ import annotations

import json
import logging
import numbers
from collections import OrderedDict
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Any

import pytest

from gllint_runtime import GLDataError, GLError, GLValidationError, Quantity, Session
from gllint_runtime.policy import data
from gllint_runtime.policy.data import DataProblem, Survey, plain
from gllint_runtime.policy.outputs import (
    claimable,
    odd_paths,
    output_schema,
    plain_arguments,
    resolve_path,
    unheld_output,
    usable_checker,
    verified_output,
)
from gllint_runtime.policy.settings import Policy

OUTPUT = {
    "roof": {"area": {"value": 80, "unit": "m2"}, "note": "flat"},
    "rooms": [{"value": 1, "unit": "m2"}],
}


def verified(output: Any, **settings: Any) -> Survey:
    policy = Policy(**settings)
    return verified_output("meter", output, policy, policy.unit_registry())


def test_resolving() -> None:
    assert resolve_path(verified(OUTPUT), "$.roof.area") == Quantity(80, "m2")
    assert resolve_path(verified(OUTPUT), "$.rooms[0]", arrays=True) == Quantity(1, "m2")
    with pytest.raises(GLDataError, match="does not lead to a Quantity"):
        resolve_path(verified(OUTPUT), "$.roof.note")


@pytest.mark.parametrize("path", ["$.area", "$.roof.note.x", "$.rooms.first", "$.roof.area.value.x"])
def test_paths_that_lead_nowhere(path: str) -> None:
    with pytest.raises(GLDataError, match="not found") as caught:
        resolve_path(verified(OUTPUT), path)
    assert (caught.value.code, caught.value.path) == ("PATH_RESOLUTION", path)
    assert caught.value.hint == "Quantities of this output: $.roof.area."


def test_an_output_without_quantities_says_so() -> None:
    with pytest.raises(GLDataError) as caught:
        resolve_path(verified({"note": "flat"}), "$.area")
    assert "no Quantity" in caught.value.hint


def test_many_quantities_are_not_all_told() -> None:
    output = verified({f"heat_{i}": Quantity(i, "kWh") for i in range(25)})
    with pytest.raises(GLDataError) as caught:
        resolve_path(output, "$.cold")
    assert caught.value.hint.endswith("$.heat_19 and 5 more.")
    for count, ending in ((20, "$.heat_19."), (21, "$.heat_19 and 1 more.")):
        with pytest.raises(GLDataError) as caught:
            resolve_path(verified({f"heat_{i}": Quantity(i, "kWh") for i in range(count)}), "$.cold")
        assert caught.value.hint.endswith(ending)


def test_quantities_keep_what_a_float_would_round() -> None:
    output = verified({"a": {"value": Decimal("0.1"), "unit": "kWh"}, "b": [Quantity(Fraction(1, 3), "kWh")]})
    assert output.data == {"a": {"value": 0.1, "unit": "kWh"}, "b": [{"value": 1 / 3, "unit": "kWh"}]}
    assert output.quantities == {
        ("a",): Quantity(Decimal("0.1"), "kWh"),
        ("b", 0): Quantity(Fraction(1, 3), "kWh"),
    }


def test_the_unit_may_come_first() -> None:
    output = {"a": {"unit": "kWh", "value": 5}, "b": {"unit": "kWh", "value": Decimal("0.1")}}
    found = verified(output)
    assert found.quantities == {("a",): Quantity(5, "kWh"), ("b",): Quantity(Decimal("0.1"), "kWh")}
    assert found.data == {"a": {"unit": "kWh", "value": 5}, "b": {"unit": "kWh", "value": 0.1}}


@pytest.mark.parametrize(
    ("output", "size"),
    [
        ("abc", 3),
        ({"a": "bcd"}, 54),
        ([1, None], 100),
        ({"a": {"value": 1, "unit": "kWh"}}, 154),
        ({"a": {"value": Decimal("0.1"), "unit": "kWh"}}, 154),
    ],
)
def test_about_how_many_bytes_it_takes(output: Any, size: int) -> None:
    assert Survey(output).size == size


def test_an_exact_number_beside_a_unit_that_is_none() -> None:
    with pytest.raises(GLValidationError, match="text, not int"):
        verified({"a": {"value": Decimal("0.1"), "unit": 5}})
    loose = verified({"a": {"value": Decimal("0.1"), "unit": 5}}, allow_raw_numbers=True)
    assert loose.quantities == {} and [*loose.raw_numbers] == [("a", "value"), ("a", "unit")]


class Whole:
    """An integer of a library, as NumPy's are."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __int__(self) -> int:
        return self.number

    __index__ = __int__


numbers.Integral.register(Whole)


class Part:
    def __float__(self) -> float:
        return 2.5


numbers.Real.register(Part)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (5, 5),
        (2.5, 2.5),
        (Decimal("2.5"), 2.5),
        (Fraction(5, 2), 2.5),
        (Whole(5), 5),
        (Part(), 2.5),
        (Decimal("0.1"), Decimal("0.1")),
        (Fraction(1, 3), Fraction(1, 3)),
    ],
)
def test_the_number_of_a_quantity_is_the_plainest_that_is_exact(value: Any, number: Any) -> None:
    survey = Survey([{"value": value, "unit": "m"}])
    [quantity] = survey.quantities.values()
    assert (quantity.value, type(quantity.value)) == (number, type(number))
    assert (survey.data, survey.raw_numbers) == ([{"value": float(number), "unit": "m"}], {})
    assert type(survey.data[0]["value"]) is (int if type(number) is int else float)


class Colour(StrEnum):
    RED = "red"


class Model:
    def model_dump(self) -> Any:
        return OrderedDict(a="b")


@pytest.mark.parametrize(
    ("value", "copied"),
    [
        (OrderedDict(a="b"), {"a": "b"}),
        ({"x": OrderedDict(a=[None])}, {"x": {"a": [None]}}),
        ({Colour.RED: Colour.RED}, {"red": "red"}),
        ([Model()], [{"a": "b"}]),
        ({"x": (1, True, "y")}, {"x": [1, True, "y"]}),
    ],
)
def test_a_copy_is_of_plain_types(value: Any, copied: Any) -> None:
    data = Survey(value).data
    assert data == copied and repr(data) == repr(copied)


@pytest.mark.parametrize(
    ("output", "keys", "kinds", "paths"),
    [
        ({"page": 1, "heat": 2}, (), (), [("page",), ("heat",)]),
        ({"page": 1, "heat": 2}, ("pa*",), (), [("heat",)]),
        ({"row_count": 1, "heat": 2}, (), ("count",), [("heat",)]),
        ({"page": [1, [2]], "of": {"page": {"heat": 3}}}, ("page",), (), [("of", "page", "heat")]),
        ([5], ("*",), (), [(0,)]),
    ],
)
def test_numbers_under_plain_keys_are_none(output: Any, keys: Any, kinds: Any, paths: list[Any]) -> None:
    assert [*Survey(output, keys, kinds).raw_numbers] == paths


@pytest.mark.parametrize(
    ("output", "malformed"),
    [
        ({"value": 5}, False),
        ({"unit": "m"}, False),
        ({"value": 5, "unit": "m", "note": ""}, True),
        ({"value": None, "unit": "m"}, True),
        ({"amount": "x", "currency": "USD"}, True),
        ({"amount": True, "currency": "USD"}, True),
        ({"amount": 5, "currency": 5}, True),
        ({"amount": "5.50", "currency": "USD"}, False),
    ],
)
def test_what_has_the_keys_of_a_quantity_and_is_none(output: Any, malformed: bool) -> None:
    assert [path for path, _ in Survey(output, shapes=("money",)).malformed] == [()] * malformed


class Dumping:
    def __init__(self, members: int) -> None:
        self.members = members

    def model_dump(self) -> Any:
        return {str(i): None for i in range(self.members)}


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ([None] * 6, True),
        ([None] * 7, False),
        ([[None] * 5], True),
        ([[None] * 6], False),
        ([{"value": 1, "unit": "m"}] * 2, True),
        ([{"value": 1, "unit": "m"}] * 3, False),
        (Dumping(6), True),
        (Dumping(7), False),
        ({"abc": "d" * 97}, True),
        ({"abc": "d" * 98}, False),
        ("d" * 100, True),
        ("d" * 101, False),
        ({"value": 5, "unit": "m" * 100}, True),
        ({"value": 5, "unit": "m" * 101}, False),
        # The letters of its keys count, too, where an object only begins as a Quantity.
        ({"value": 5, "unit": "m", "n" * 90: None}, True),
        ({"value": 5, "unit": "m", "n" * 91: None}, False),
    ],
)
def test_the_bounds_of_data(monkeypatch: pytest.MonkeyPatch, value: Any, fits: bool) -> None:
    monkeypatch.setattr(data, "_MAX_VALUES", 6)
    monkeypatch.setattr(data, "_MAX_TEXT", 100)
    if fits:
        assert len(Survey(value).data) == len(value.model_dump() if isinstance(value, Dumping) else value)
    else:
        with pytest.raises(DataProblem, match="the data has more than (6 values|100 characters)") as caught:
            Survey(value)
        assert caught.value.path == () and caught.value.remedy == data._LESS


def test_a_long_text_among_arguments_is_within_the_same_bounds() -> None:
    for arguments in ({"a": "x" * 20_000_001}, {"x" * 20_000_001: "a"}):
        with pytest.raises(DataProblem, match="the data has more than 20000000 characters"):
            plain(arguments)


class Endless:
    """Holds itself as far as nobody can tell but by what it does."""

    def model_dump(self) -> Any:
        return {"a": Endless()}

    @property
    def a(self) -> Any:
        raise Unspeakable


def test_what_goes_on_without_holding_itself_is_nested_too_deeply() -> None:
    with pytest.raises(DataProblem, match="the data is nested too deeply"):
        Survey(Endless())


@pytest.mark.parametrize(("length", "is_told"), [(1, True), (2, True), (65, True), (66, False)])
def test_data_that_holds_itself_is_told_where(length: int, is_told: bool) -> None:
    first: list[Any] = []
    last = first
    for _ in range(length - 1):
        last.append([])
        last = last[0]
    last.append(first)
    with pytest.raises(DataProblem) as caught:
        Survey(first)
    place = f"${'[0]' * length} is $ again"
    assert str(caught.value) == (
        f"the data contains itself: {place}" if is_told else "the data is nested too deeply"
    )
    assert caught.value.path == (0,) * min(length, 65)


@pytest.mark.parametrize(
    ("output", "paths"),
    [
        (None, []),
        (True, []),
        ("500 kWh", []),
        (5, [()]),
        ({"heat": 5}, [("heat",)]),
        ({"heat": {"value": 5, "unit": "kWh"}}, []),
        ({"heat": {"value": 5}}, [("heat", "value")]),
        ({"heat": {"value": 5, "unit": "kWh", "year": 2024}}, [("heat", "value"), ("heat", "year")]),
        ([1, [2.5]], [(0,), (1, 0)]),
    ],
)
def test_raw_numbers(output: Any, paths: list[Any]) -> None:
    assert [*Survey(output).raw_numbers] == paths


def test_a_survey_tells_quantities_from_what_only_looks_like_one() -> None:
    found = Survey({"good": {"value": 1, "unit": "m"}, "bad": {"value": "1", "unit": "m"}})
    assert [*found.quantities] == [("good",)]
    assert [path for path, _ in found.malformed] == [("bad",)]


class Unspeakable(ValueError):
    def __str__(self) -> str:
        raise RuntimeError


class Liar(date):
    def isoformat(self, *_: Any, **__: Any) -> str:
        raise Unspeakable


class Nameless(type):
    @property
    def __name__(cls) -> str:
        raise Unspeakable


class Odd(metaclass=Nameless):
    pass


class Shut:
    def __getattribute__(self, name: str) -> Any:
        raise Unspeakable


@pytest.mark.parametrize("made", [lambda: Liar(2024, 10, 2), lambda: Odd(), lambda: Shut()])
def test_what_cannot_even_say_what_is_wrong(made: Callable[[], Any]) -> None:
    for output in (made(), {"a": made()}, {"value": made(), "unit": "kWh"}):
        with pytest.raises(GLValidationError) as caught:
            verified(output)
        assert caught.value.code == "RESULT_SCHEMA" and len(caught.value.message) < 1000


JSON_TEXT = '{"area": {"value": 80, "unit": "m2"}, "rooms": 5, "old": {"value": 3, "unit": "perch of sand"}}'


def test_a_json_text_is_what_it_says() -> None:
    output = verified(JSON_TEXT)
    assert output.data["rooms"] == 5 and output.is_json_text
    assert output.quantities == {("area",): Quantity(80, "m2")}
    assert [*output.raw_numbers] == [("rooms",)]
    assert resolve_path(verified(f"\n {JSON_TEXT}\n"), "$.area") == Quantity(80, "m2")
    assert verified('[{"value": 1, "unit": "kWh"}]').quantities == {(0,): Quantity(1, "kWh")}


def test_a_json_text_whose_raw_numbers_are_refused() -> None:
    for settings in ({"json_text": "strict"}, {"json_text": "strict", "plain_keys": ["rooms"]}):
        with pytest.raises(GLError):
            verified(JSON_TEXT, **settings)
    assert verified('{"rooms": 5}', json_text="strict", plain_keys=["rooms"]).data == {"rooms": 5}
    with pytest.raises(ValueError, match="json_text"):
        Policy(json_text="loose")  # type: ignore[arg-type]


def test_a_json_text_is_held_to_the_schema_of_its_tool() -> None:
    policy = Policy()

    def held(output: str, schema: Any) -> Survey:
        check = output_schema("meter", schema)
        return verified_output("meter", output, policy, policy.unit_registry(), check)

    schema = {"type": "object", "required": ["area"], "properties": {"area": {}}}
    assert held('{"area": {"value": 80, "unit": "m2"}}', schema).quantities == {("area",): Quantity(80, "m2")}
    for text in ('{"heat": {"value": 80, "unit": "kWh"}}', '{"area": 80}', "[1]", "area"):
        with pytest.raises(GLValidationError) as caught:
            held(text, schema)
        assert caught.value.code == "RESULT_SCHEMA"
    assert held(JSON_TEXT, {"type": "string"}).data == JSON_TEXT


@pytest.mark.parametrize(
    "text", ["", "warm", "5", '"5"', "null", "[5", '{"a": NaN}', "{a: 5}", "[" * 5000, '[1] and "2"', "x[1]"]
)
def test_any_other_text_is_text(text: str) -> None:
    output = verified(text)
    assert output.data == text and not output.is_json_text and not output.raw_numbers


def test_a_json_text_beyond_the_bounds_is_text() -> None:
    for text in ("[" * 80 + "]" * 80, f"[{'9' * 400}]"):
        assert verified(text).data == text


@pytest.mark.parametrize("count", [0, 1, 20, 21])
def test_raw_numbers_that_are_let_through_are_logged(caplog: pytest.LogCaptureFixture, count: int) -> None:
    output = {f"n{i}": i for i in range(count)}
    places = ", ".join(f"$.n{i}" for i in range(min(count, 20)))
    caplog.set_level(logging.WARNING)
    verified(output, allow_raw_numbers=True)
    verified(json.dumps(output))
    assert caplog.messages == (
        []
        if not count
        else [
            f"Tool meter returned raw numbers at {places}",
            f"Tool meter returned JSON text with raw numbers at {places}",
        ]
    )


@pytest.mark.parametrize(
    ("count", "others"),
    [
        (1, ""),
        (2, "; also at $.n1"),
        (8, "; also at $.n1, $.n2, $.n3, $.n4, $.n5, $.n6, $.n7"),
        (9, "; also at $.n1, $.n2, $.n3, $.n4, $.n5, $.n6, $.n7 and 1 more"),
        (300, "; also at $.n1, $.n2, $.n3, $.n4, $.n5, $.n6, $.n7 and 292 more"),
    ],
)
def test_where_the_raw_numbers_are(count: int, others: str) -> None:
    with pytest.raises(GLValidationError) as caught:
        verified({f"n{i}": i for i in range(count)})
    assert caught.value.message == (
        f"Tool output validation failed at $.n0: a raw number; wrap it in a Quantity {{value, unit}}{others}"
    )
    assert caught.value.context == [f"$.n{i}" for i in range(min(count, 200))]


def test_units_are_told_as_the_allowlist_writes_them() -> None:
    survey = verified(
        {"flow": {"value": 5, "unit": "cfs"}, "sand": [{"value": 1, "unit": "m³"}]}, packs=["us"]
    )
    assert survey.quantities == {("flow",): Quantity(5, "ft3/s"), ("sand", 0): Quantity(1, "m3")}
    assert survey.data == {"flow": {"value": 5, "unit": "ft3/s"}, "sand": [{"value": 1, "unit": "m³"}]}
    policy = Policy(packs=["us"])
    schema = output_schema("meter", {"properties": {"flow": {"type": "number", "x-unit": "cfs"}}})
    survey = verified_output("meter", {"flow": 5}, policy, policy.unit_registry(), schema)
    assert (survey.data, survey.quantities) == ({"flow": 5}, {("flow",): Quantity(5, "ft3/s")})
    assert survey.declared_units() == {"$.flow": "cfs"}


def test_of_what_nobody_holds_to_a_policy_allowed_quantities_are_left() -> None:
    policy = Policy(packs=["us"])
    units = policy.unit_registry()
    output = {"a": {"value": 1, "unit": "cfs"}, "b": {"value": 1, "unit": "perch of sand"}, "c": 5}
    for given in (output, json.dumps(output)):
        survey = unheld_output(given, policy, units)
        assert survey.quantities == {("a",): Quantity(1, "ft3/s")}
        assert survey.is_json_text is isinstance(given, str) and type(survey.given) is type(given)
    assert (unheld_output("5 kWh", policy, units).data, unheld_output(5, policy, units).data) == ("5 kWh", 5)


def test_a_json_text_that_its_schema_describes_stays_a_text() -> None:
    policy = Policy()
    schema = output_schema("meter", {"type": "object"})
    survey = verified_output("meter", '{"a": "b"}', policy, policy.unit_registry(), schema)
    assert survey.is_json_text and survey.given == '{"a": "b"}'


def test_arguments_are_an_object() -> None:
    assert plain_arguments("meter", {"a": (1, 2)}) == {"a": [1, 2]}
    with pytest.raises(GLValidationError, match="The arguments of 'meter' must be an object") as caught:
        plain_arguments("meter", [1])
    assert caught.value.code == "ARGS_SCHEMA"


def test_paths_that_no_claim_could_write_are_told_in_another_way() -> None:
    survey = verified({"a.b": {"value": 1, "unit": "m"}, "c": {"value": 2, "unit": "m"}})
    [path] = odd_paths(survey)
    assert resolve_path(survey, path) == Quantity(1, "m")
    assert {*claimable(survey)} == {path, "$.c"}


@pytest.mark.parametrize(
    ("code", "schema", "trouble"),
    [
        ("RESULT_SCHEMA", True, None),
        ("RESULT_SCHEMA", {}, None),
        ("ARGS_SCHEMA", {}, None),
        ("ARGS_SCHEMA", True, "args_schema of 'meter' cannot be used: $: the schema of arguments must have the"),
        ("ARGS_SCHEMA", {"type": "x"}, "args_schema of 'meter' cannot be used: $.type: 'x' is not a JSON"),
        ("RESULT_SCHEMA", {"typ": "object"}, "result_schema of 'meter' cannot be used: $.typ: did you mean 'type'?"),
        ("RESULT_SCHEMA", {"$ref": "x"}, "result_schema of 'meter' cannot be used: $.$ref: no such schema"),
    ],
)  # fmt: skip
def test_a_schema_of_no_use_is_told(code: str, schema: Any, trouble: str | None) -> None:
    if trouble is None:
        assert usable_checker("meter", code, schema)({}) is None
        return
    with pytest.raises(GLValidationError) as caught:
        usable_checker("meter", code, schema)
    assert caught.value.code == code and f"The {trouble}" in caught.value.message
    assert ";" not in caught.value.message


def test_what_is_wrong_with_an_args_schema_is_told_once() -> None:
    with pytest.raises(GLValidationError) as caught:
        usable_checker("meter", "ARGS_SCHEMA", 5)
    assert "a model is told" not in caught.value.message


def test_the_trace_tells_of_raw_numbers_in_a_json_text() -> None:
    session = Session()
    session.record("meter", {}, JSON_TEXT)
    session.record("meter", {}, '{"name": "roof"}')
    told, silent = session.trace
    assert told["raw_numbers"] == ["$.rooms"] and "raw_numbers" not in silent
    restored = Session.from_json(session.to_json())
    assert [restored.output(call) for call in ("tc_1", "tc_2")] == [session.output("tc_1"), {"name": "roof"}]

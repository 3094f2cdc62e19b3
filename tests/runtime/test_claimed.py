"""What a structured answer may hold: judged by its type or JSON Schema, and once more by the answer itself."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from ipaddress import IPv4Address
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    TypedDict,
    TypeVar,
    get_args,
)
from uuid import UUID

import pytest
import typing_extensions
from pydantic import (
    AfterValidator,
    AnyUrl,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    EmailStr,
    Field,
    Json,
    SecretStr,
    ValidationError,
    create_model,
)

from gllint_runtime import Claimed, ClaimedText, GLError, Quantity, Session, Unclaimed, current_session, using
from gllint_runtime.adapters.kit import structure
from gllint_runtime.execution.claimed import Declared, checked_structure, require_claims, structure_data

Item = TypeVar("Item")
Stars = Unclaimed[int, "rating of the answer"]

NUMBER = {"type": "number"}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["integer", "null"]},
        {"properties": {"rating": {"const": 5}}},
        {"items": {"anyOf": [{"type": "string"}, NUMBER]}},
        {"additionalItems": NUMBER},
        {"dependentSchemas": {"rating": NUMBER}},
        {"if": {"type": "object"}, "then": {"properties": {"rating": NUMBER}}},
        {"json_schema": {"schema": {"properties": {"rating": NUMBER}}}},
    ],
)
def test_a_schema_that_admits_a_bare_number_is_refused(schema: Any) -> None:
    with pytest.raises(TypeError, match="bare number"):
        require_claims(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"not": NUMBER},
        {"if": {"properties": {"rating": {"const": 5}}}, "then": {"required": ["title"]}},
        {"propertyNames": {"const": 5}},
        {"properties": {"type": {"type": "string"}, "enum": {"type": "string"}}},
        {"type": [{}, "string"]},
    ],
)
def test_a_schema_through_which_no_number_gets_is_none_of_them(schema: Any) -> None:
    require_claims(schema)


class Extensible(BaseModel):
    model_config = ConfigDict(extra="allow")
    title: str


class Size(IntEnum):
    LARGE = 13


class Grade(Enum):
    BEST = "13 kWh"


class Colour(Enum):
    RED = "red"


class Pair(NamedTuple):
    title: str
    heat: float


class Pairs(NamedTuple):
    title: str
    rating: Stars


@dataclass
class Box(Generic[Item]):
    item: Item


@dataclass
class Node:
    title: str
    inner: list[Node]


OPEN: list[Any] = [
    *(bytes, SecretStr, timedelta, time, Path, re.Pattern[str], IPv4Address, UUID, AnyUrl, Json, Any, object),
    *(
        deque[str],
        Iterable[str],
        dict,
        list,
        set,
        dict[str, Any],
        frozenset[Any],
        tuple,
        Item,
        Callable[..., str],
    ),
    *(Extensible, list[Extensible], Box[bytes], Box),
]
BARE: list[Any] = [
    *(
        Decimal,
        Size,
        Grade,
        Pair,
        Literal[13],
        Literal["13 kWh"],
        Box[float],
        dict[int, str],
        float | None,
    ),
    *(NewType("Heat", float), Annotated[int, "years"], tuple[str, ...] | set[float], Quantity),
]


@pytest.mark.parametrize("hint", OPEN)
def test_a_type_that_may_hold_anything_is_refused_with_the_way_out(hint: Any) -> None:
    with pytest.raises(TypeError, match=r"nothing checks\. Declare .*Unclaimed"):
        require_claims(hint)
    with pytest.raises(TypeError, match="nothing checks"):
        require_claims(create_model("Made", field=(hint, ...), __config__={"arbitrary_types_allowed": True}))


@pytest.mark.parametrize("hint", BARE)
def test_a_type_with_a_number_of_its_own_is_refused(hint: Any) -> None:
    with pytest.raises(TypeError, match=r"make it up\. Declare"):
        require_claims(hint)


@pytest.mark.parametrize(
    "hint",
    [
        *(
            str,
            bool,
            None,
            date,
            datetime,
            Colour,
            Literal["a", True, None],
            Literal["gpt-4", "Scope 1", "ISO 14064-1"],
            EmailStr,
            AwareDatetime,
            Claimed[Quantity],
        ),
        *(
            list[str],
            tuple[str, ...],
            set[date],
            frozenset[str],
            dict[str, ClaimedText],
            Sequence[str],
        ),
        *(
            Mapping[str, str] | None,
            Annotated[str, Field(max_length=5)],
            Box[str],
            Node,
            Unclaimed[bytes, "a file"],
        ),
        NewType("Title", str),
        typing_extensions.TypeAliasType("Name", str),
    ],
)
def test_a_type_all_of_whose_parts_are_checked_is_taken(hint: Any) -> None:
    require_claims(hint)


def test_a_type_of_too_many_parts_is_refused() -> None:
    wide: Any = create_model("Wide", **{f"field_{i}": (str | list[bool], ...) for i in range(1000)})
    with pytest.raises(TypeError, match="more than 1000 parts"):
        require_claims(wide)


@pytest.mark.parametrize(
    ("hint", "data"),
    [
        (frozenset[str], ["13 kWh"]),
        (dict[str, str], {"13 kWh": "x"}),
        (dict[str, Stars], {"13 kWh": 5}),
        (tuple[str, Stars], ["13 kWh", 5]),
        (str | Stars, '"13 kWh"'),
        (Annotated[str, AfterValidator(float)], '"13.5"'),
        (Any, {"heat": 13.5}),
        (Any, {"13 kWh": True}),
        ({"type": "object", "properties": {"a": {}}}, {"a": {"13 kWh": "x"}}),
    ],
)
def test_a_number_in_whatever_part_of_an_answer_is_refused(hint: Any, data: Any) -> None:
    with pytest.raises(GLError, match="NO_NAKED_NUMBERS"):
        structure(Session(), hint, data)


@pytest.mark.parametrize(
    ("hint", "right", "wrong"),
    [
        (date, "2031-05-01", "2031-05-02"),
        (datetime, "2031-05-01T10:00:00", "2031-05-01T11:00:00"),
        (time, "10:00", "10:30"),
        (timedelta, "PT45M", "PT46M"),
        (AnyUrl, "https://a.org/7", "https://a.org/8"),
        (UUID, "12345678-1234-5678-1234-567812345678", "12345678-1234-5678-1234-567812345679"),
        (IPv4Address, "10.0.0.7", "10.0.0.8"),
    ],
)
def test_in_sourced_mode_a_value_of_any_type_needs_its_source(hint: Any, right: str, wrong: str) -> None:
    session = Session(mode="sourced")
    output = {"day": "2031-05-01", "at": "2031-05-01T10:00:00", "url": "https://a.org/7", "ip": "10.0.0.7"}
    session.record("look", {}, {**output, "id": "12345678-1234-5678-1234-567812345678", "wait_min": 45})
    structure(session, list[hint], [right])
    with pytest.raises(GLError, match="NO_SOURCE"):
        structure(session, list[hint], [wrong])


def test_a_day_is_read_as_midnight() -> None:
    session = Session(mode="sourced")
    session.record("look", {}, {"day": "2031-05-01"})
    assert structure(session, list[datetime], ["2031-05-01"]) == [datetime(2031, 5, 1)]


@pytest.mark.parametrize("text", ["2031-05-01T10:00:00", "2031-05-01T10:00:00.5+05:30"])
def test_in_claims_mode_a_date_needs_no_claim(text: str) -> None:
    assert structure(Session(), list[datetime], [text]) == [datetime.fromisoformat(text)]


@pytest.mark.parametrize("number", ["NaN", "1e999", "-Infinity"])
def test_a_number_is_finite(number: str) -> None:
    with pytest.raises(GLError, match="A number must be finite"):
        structure(Session(mode="sourced"), list[float], f"[{number}]")


@pytest.mark.parametrize(
    "value", [{"a": b"13"}, [timedelta(13)], (Path("13"),), {"a": [object()]}, deque([13])]
)
def test_a_value_that_no_rule_knows_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="nothing checks"):
        checked_structure(Session(), value, Any)


def test_what_is_declared_of_one_type_says_nothing_of_another() -> None:
    with pytest.raises(GLError, match="NO_NAKED_NUMBERS"):
        checked_structure(Session(), {"heat": "13 kWh"}, Stars)


def test_a_further_field_is_checked_whatever_the_type_says() -> None:
    for value in (Extensible(title="x", heat=13.5), Extensible(title="x", **{"13 kWh": "x"})):  # type: ignore[call-arg]
        with pytest.raises(GLError, match="NO_NAKED_NUMBERS"):
            checked_structure(Session(), value, Extensible)


def test_what_is_declared_in_a_part_is_noted_and_the_rest_checked() -> None:
    session = Session()
    hint: Any = dict[str, list[str | Stars]]
    assert structure(session, hint, {"a": ["x", 5]}) == {"a": ["x", 5]}
    assert structure(session, Pairs, ["x", 5]) == Pairs("x", 5)
    named: Any = {"type": "object", "properties": {"heat_2024": {"type": "string"}}}
    assert structure(session, named, {"heat_2024": "low"}) == {"heat_2024": "low"}


def test_an_answer_that_is_nested_too_deeply_is_an_answer_to_mend() -> None:
    deep: Any = "x"
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(GLError, match="nested too deeply"):
        checked_structure(Session(), deep)


def test_a_mapping_where_its_type_says_a_list_is_held_all_the_same() -> None:
    assert checked_structure(Session(), {"a": "fine"}, list[str]) == {"a": "fine"}
    with pytest.raises(GLError):
        checked_structure(Session(), {"a": "It is 5 kWh"}, list[str])


# -------------------------------------------------------------------------------------- what each is told to be


class Level(Enum):
    HIGH = b"13"


class Rated(BaseModel):
    title: str
    rating: int = Field(ge=1)


class Inner(BaseModel):
    rows: list[Rated]


class LooseDict(TypedDict):
    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]
    title: str


class FurtherText(TypedDict):
    title: str


FurtherText.__extra_items__ = str  # type: ignore[attr-defined]


class Closed(TypedDict):
    title: str


Closed.__extra_items__ = "typing.Never"  # type: ignore[attr-defined]


class Qualified(typing_extensions.TypedDict):
    rating: NotRequired[Stars]


def nested(depth: int, schema: Any) -> Any:
    for _ in range(depth):
        schema = {"anyOf": [schema]}
    return schema


class Report(BaseModel):
    message: str
    claims: list[dict[str, Any]] = []


class Reports(BaseModel):
    reports: list[Report]


@pytest.mark.parametrize(
    ("hint", "what"),
    [
        (float, "the answer is a bare float"),
        (Quantity, "the answer is a Quantity without a claim"),
        (Literal["a", 5], "the answer is a choice of bare numbers"),
        (Literal[b"a"], "the answer is a choice of bytes"),
        (Level, "the answer is a choice of bytes"),
        (Size, "the answer is a choice of bare numbers"),
        (Literal["13 kWh"], "the answer is a choice that states a number ('13 kWh')"),
        (Literal["uses 13 kWh"], "the answer is a choice that states a number ('uses 13 kWh')"),
        (Literal[f"13 {'x' * 90}"], f"the answer is a choice that states a number ('13 {'x' * 77}')"),
        (Rated, "Rated.rating is a bare int"),
        (Inner, "Rated.rating is a bare int"),
        (dict[str, float], "the answer is a bare float"),
        (tuple[str, int], "the answer is a bare int"),
        (str | None | int, "the answer is a bare int"),
        ({"type": "number"}, "the answer is a bare number"),
        ({"type": ["string", "integer"]}, "the answer is a bare number"),
        ({"enum": ["a", 5]}, "the answer is a choice of bare numbers"),
        ({"const": 5.5}, "the answer is a choice of bare numbers"),
        (
            {"properties": {"a": {"properties": {"b": {"type": "integer"}}}}},
            "the answer.a.b is a bare number",
        ),
        ({"anyOf": [{"type": "string"}, {"const": 7}]}, "the answer is a choice of bare numbers"),
        (bytes, "the answer is of the type bytes"),
        (list, "the answer is a bare list"),
        (dict[str, bytes], "the answer is of the type bytes"),
        (deque[str], "the answer is of the type deque"),
        (Any, "the answer is"),
        (Item, "the answer is ~Item"),
        (Extensible, "the answer accepts fields that it does not declare"),
        (LooseDict, "the answer accepts fields that it does not declare"),
        (FurtherText, "the answer accepts fields that it does not declare"),
    ],
    ids=str,
)
def test_what_an_answer_may_not_be_is_said_with_its_place(hint: Any, what: str) -> None:
    with pytest.raises(TypeError) as refused:
        require_claims(hint)
    assert str(refused.value).startswith(what)
    assert re.match(r"(: | )", str(refused.value)[len(what) :])


@pytest.mark.parametrize(
    "hint",
    [
        Closed,
        Report,
        Reports,
        Literal["2024-10-02", "none"],
        {"enum": ["a", None, True], "const": "b"},
        {"enum": 5, "properties": [1], "items": "x"},
        {"properties": {"message": {"type": "string"}, "claims": {"items": {"type": "number"}}}},
        {"properties": {"message": {"type": "string"}}, "items": [{"type": "string"}, 5]},
    ],
    ids=str,
)
def test_what_states_no_number_or_has_claims_of_its_own_is_taken(hint: Any) -> None:
    require_claims(hint)


def test_a_type_has_a_thousand_parts_at_most() -> None:
    require_claims(tuple[(str,) * 999])  # type: ignore[misc]
    with pytest.raises(TypeError, match="the answer has more than 1000 parts: take a smaller type"):
        require_claims(tuple[(str,) * 1000])  # type: ignore[misc]


def test_a_large_schema_is_taken_and_its_answer_is_checked_all_the_same() -> None:
    names = {f"field_{i}": {"type": "string"} for i in range(1001)}
    require_claims({"type": "object", "properties": {"rating": NUMBER, **names}})


def test_what_is_claimed_or_unclaimed_says_so_in_its_type() -> None:
    kind, field = get_args(Claimed[Quantity])
    assert kind is Quantity and field.read(Quantity(5, "kWh")) == Quantity(5, "kWh")
    assert get_args(Unclaimed[int, "why"]) == (int, Declared("why"))


@pytest.mark.parametrize("item", [int, (int,), (int, "why", "more"), (int, 5), (int, " ")])
def test_what_is_unclaimed_has_a_type_and_a_reason(item: Any) -> None:
    with pytest.raises(TypeError, match="Unclaimed needs a type and a reason"):
        Unclaimed[item]
    with pytest.raises(TypeError, match="only a Quantity can be claimed"):
        Claimed[item]


# ------------------------------------------------------------------------------------------- reading an answer


class Answer(BaseModel):
    heat: Claimed[Quantity]
    note: ClaimedText
    stars: Stars = 5


HEAT = {"value": 12.5, "unit": "kWh"}
CLAIM = {"source_call_id": "tc_1", "path": "$.heat", "quantity": HEAT}


def measured(**settings: Any) -> Session:
    session = Session(**settings)
    session.record("meter", {}, {"heat": HEAT})
    return session


def test_a_model_of_claims_is_read_in_the_session_of_the_moment() -> None:
    text = {"message": "It is {{claim:0}}.", "claims": [CLAIM]}
    with using(measured()) as session:
        answer = Answer.model_validate({"heat": CLAIM, "note": text})
        assert answer.heat == Quantity(12.5, "kWh") and answer.note == "It is 12.50 kWh."
        assert Answer.model_validate({"heat": CLAIM, "note": "It is warm."}).note == "It is warm."
        # What the program has, and what was checked, is read again as it is.
        assert (
            Answer.model_validate(answer.model_dump(mode="python") | {"heat": answer.heat}).note
            == answer.note
        )
        for wrong, problem in (
            ({"heat": {**CLAIM, "path": "$.cold"}, "note": "x"}, "PATH_RESOLUTION"),
            ({"heat": HEAT, "note": "x"}, "STEP_SCHEMA"),
            ({"heat": CLAIM, "note": "It is 5 kWh."}, "NO_NAKED_NUMBERS"),
            ({"heat": CLAIM, "note": {**text, "claims": []}}, "MISSING_CLAIM"),
            ({"heat": CLAIM, "note": 5}, "STEP_SCHEMA"),
        ):
            with pytest.raises(ValidationError, match=problem):
                Answer.model_validate(wrong)
        assert checked_structure(session, answer) is answer
    assert answer.model_dump() == {"heat": HEAT, "note": "It is 12.50 kWh.", "stars": 5}
    with pytest.raises(ValidationError, match="There is no current session: run the agent through its gate"):
        Answer.model_validate({"heat": CLAIM, "note": "x"})
    schema = Answer.model_json_schema()["properties"]
    claim, plain = schema["heat"]["anyOf"]
    assert claim["required"] == ["source_call_id", "path", "quantity"] and plain["required"] == [
        "value",
        "unit",
    ]
    assert [form.get("required") for form in schema["note"]["anyOf"]] == [["message", "claims"], None]


def test_a_program_s_own_quantity_and_checked_text_need_no_session() -> None:
    with using(measured()):
        note = Answer.model_validate({"heat": CLAIM, "note": "It is warm."}).note
    again = Answer.model_validate({"heat": Quantity(7, "kWh"), "note": note})
    assert again.heat == Quantity(7, "kWh") and again.note is note


def test_sessions_are_current_one_within_another() -> None:
    outer, inner = Session(), Session()
    with using(outer):
        with using(inner):
            assert current_session() is inner
        assert current_session() is outer
    assert current_session() is None


@pytest.mark.parametrize(
    ("hint", "answer", "expected"),
    [
        # Messages with claims of their own, wherever they stand.
        (None, {"message": "It is {{claim:0}}.", "claims": [CLAIM]}, {"message": "It is 12.50 kWh.", "claims": [CLAIM]}),
        (list[Any], [{"message": "{{claim:0}}", "claims": [CLAIM]}], [{"message": "12.50 kWh", "claims": [CLAIM]}]),
        (Report, Report(message="{{claim:0}}", claims=[CLAIM]), Report(message="12.50 kWh", claims=[CLAIM])),
        (
            Reports,
            Reports(reports=[Report(message="{{claim:0}}", claims=[CLAIM])]),
            Reports(reports=[Report(message="12.50 kWh", claims=[CLAIM])]),
        ),
        # Containers keep their kinds.
        (None, ["a", ("b", {"c"}, frozenset({"d"}))], ["a", ("b", {"c"}, frozenset({"d"}))]),
        (None, {"a": None, "b": True, "c": date(2024, 5, 20), "d": Quantity(5, "kWh")}, ...),
        # Names that the type declares are no texts of the model's.
        (dict[str, str], {"a": "b"}, ...),
        (Closed, {"title": "x"}, ...),
        (Literal["Scope 1", "x"], "Scope 1", ...),
        (None, Colour.RED, ...),
        (list[Colour], [Colour.RED], ...),
        (Stars, 7, ...),
        (Stars | None, None, ...),
        (list[Stars | str], [7, "x"], ...),
        (dict[str, Stars], {"x": 7}, ...),
        (tuple[str, Stars], ("x", 7), ...),
        (tuple[Stars, ...], (7, 8), ...),
        (NewType("Score", Stars), 7, ...),
        (Box[Stars], Box(7), ...),
        (typing_extensions.TypeAliasType("Score", Stars), 7, ...),
        (Literal["Scope 1"] | Stars, 7, ...),
        (Literal["Scope 1"] | Stars, "Scope 1", ...),
        (Unclaimed[Any, "whatever it is"] | None, 7, ...),
        (Closed | Stars, 7, ...),
        (Qualified, {"rating": 7}, ...),
        (nested(400, {"properties": {"h2": {}}}), {"h2": "low"}, ...),
        (list[Closed | dict[str, Stars]], [{"title": "x"}, {"y": 7}], ...),
        (Unclaimed[Any, "whatever it is"], 7, ...),
        ({"properties": {"h2": {"properties": {"co2_2024": {}}}}}, {"h2": {"co2_2024": "low"}}, ...),
    ],
    ids=str,
)  # fmt: skip
def test_an_answer_that_holds_is_given_as_the_program_gets_it(hint: Any, answer: Any, expected: Any) -> None:
    assert checked_structure(measured(), answer, hint) == (answer if expected is ... else expected)


@pytest.mark.parametrize(
    ("hint", "answer", "place"),
    [
        (None, {"a": [1.5]}, "'1.5' at $.a[0]"),
        (None, ["x", {"a": {"b": 7}}], "'7' at $[1].a.b"),
        (None, {7: "x"}, "'7' at a key of $"),
        (None, {"a": {"13 kWh": "x"}}, "'13' detected"),
        (None, [Grade.BEST], "'13' detected"),
        (Stars, "It is 13", "'13' detected"),
        (Stars, True, None),
        (list[Stars | str], [7.5, "13"], "'13' detected"),
        (tuple[Stars, str], (7, 8), "'8' at $[1]"),
        (tuple[Stars, str], (7, "x", 9), "'9' at $[2]"),
        (dict[str, Stars], {"a": {"b": 7}}, "'7' at $.a.b"),
        (Closed, {"title": "x", "more": 7}, "'7' at $.more"),
        (Closed, {"title": "x", "h2": "low"}, "'2' detected"),
        (Literal["Scope 1"], "Scope 2", "'2' detected"),
        (Literal["13 kWh"], "13 kWh", "'13' detected"),
        (dict[Literal["Scope 1"], str], {"Scope 2": "x"}, "'2' detected"),
        (Box[Stars], Box("13"), "'13' detected"),
        ({"properties": {"a": {}}}, {"h2": "x"}, "'2' detected"),
        (None, {"message": "It is 13", "claims": []}, "'13' detected"),
        (None, {"message": "x", "claims": [], "more": 13}, "'13' at $.more"),
    ],
    ids=str,
)
def test_a_number_in_an_answer_is_told_with_its_place(hint: Any, answer: Any, place: str | None) -> None:
    if place is None:
        assert checked_structure(measured(), answer, hint) is answer
        return
    with pytest.raises(GLError) as refused:
        checked_structure(measured(), answer, hint)
    assert refused.value.code == "NO_NAKED_NUMBERS" and place in refused.value.message


def test_an_unclaimed_number_is_noted_with_its_place_and_reason() -> None:
    session = measured()
    checked_structure(session, {"a": [7, True], "b": [True]}, dict[str, list[Stars] | list[Stars | bool]])
    noted = [entry for entry in session.trace if "unclaimed" in entry]
    assert [(entry["unclaimed"], entry["value"], entry["reason"]) for entry in noted] == [
        ("$.a[0]", 7, "rating of the answer")
    ]


def test_an_answer_without_a_type_is_held_to_its_own() -> None:
    for answer in (Rated(title="x", rating=5), Pair("x", 5), 13):
        with pytest.raises(TypeError, match="a model could make it up"):
            checked_structure(Session(), answer)
    with pytest.raises(TypeError, match="Box"):
        checked_structure(Session(), Box("x"))
    assert checked_structure(Session(), Report(message="Fine.")).message == "Fine."


class Dated(typing_extensions.TypedDict):
    title: str
    day: date


def test_a_checked_answer_as_data_has_each_number_with_its_unit() -> None:
    pair: Any = {"title": "x", "day": date(2024, 5, 20)}
    assert structure_data(pair) == pair and structure_data(pair) is not pair
    assert structure_data(pair, Dated) == {"title": "x", "day": "2024-05-20"}
    assert structure_data(Box(date(2024, 5, 20))) == {"item": "2024-05-20"}
    with using(measured()):
        answer = Answer.model_validate({"heat": CLAIM, "note": "x"})
    assert structure_data(answer) == {"heat": HEAT, "note": "x", "stars": 5}

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
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, TypeVar
from uuid import UUID

import pytest
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
    create_model,
)

from gllint_runtime import Claimed, ClaimedText, GLError, Quantity, Session, Unclaimed
from gllint_runtime.adapters.kit import structure
from gllint_runtime.execution.claimed import checked_structure, require_claims

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

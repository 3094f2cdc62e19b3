"""What a tool returns and JSON does not have: each is told as what it is, where it stands, with what to do."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from pathlib import PurePosixPath
from typing import Any

import pytest

from gllint_runtime import GLValidationError, Session
from gllint_runtime.policy.outputs import plain_arguments


class Colour(Enum):
    RED = 1


class Level(IntEnum):
    LOW = 1


@dataclass
class Node:
    below: Any


class ndarray:
    """Stands for NumPy's."""


def _loop() -> dict[str, Any]:
    data: dict[str, Any] = {}
    data["rows"] = [{"back": data}]
    return data


def _nodes() -> dict[str, Any]:
    node = Node(None)
    node.below = {"parent": node}
    return {"tree": node}


def _deep() -> dict[str, Any]:
    data: dict[str, Any] = {}
    for _ in range(80):
        data = {"a": data}
    return data


@pytest.mark.parametrize(
    ("result", "path", "problem", "remedy"),
    [
        ({"a": {1, 2}}, "$.a", "a set is not data that JSON can represent", "sorted(values)"),
        ({"a": [frozenset()]}, "$.a[0]", "a frozenset is not data", "sorted(values)"),
        ({"file": PurePosixPath("/x")}, "$.file", "a PurePosixPath is not data", "str(path)"),
        ({"a": {5: "x"}}, "$.a", "the key 5 is not text", "str(key)"),
        ({"a": {None: "x"}}, "$.a", "the key None is not text", "str(key)"),
        ({"a": {b"k": "x"}}, "$.a", "the key b'k' is not text", "Decode it"),
        ({"a": {(1, 2): "x"}}, "$.a", "the key (1, 2) is not text", "Nest"),
        ({Colour.RED: "x"}, "$", "the key <Colour.RED: 1> is not text", "key.name"),
        ({Level.LOW: "x"}, "$", "the key <Level.LOW: 1> is not text", "key.name"),
        (_loop(), "$.rows[0].back", "the data contains itself: $.rows[0].back is $ again", "reference back"),
        (_nodes(), "$.tree.below.parent", "$.tree.below.parent is $.tree again", "reference back"),
        (_deep(), "$" + ".a" * 65, "the data is nested too deeply", "64 levels"),
        ({"a": [math.nan]}, "$.a[0]", "nan is not a number that JSON can represent", "None"),
        (
            {"a": {"value": math.inf, "unit": "m"}},
            "$.a.value",
            "inf is not a number that JSON can represent",
            "None",
        ),
        ({"a": {"value": Decimal("NaN"), "unit": "m"}}, "$.a.value", "NaN is not a number", "None"),
        ({"a": 2**1024 - 1}, "$.a", "an integer is beyond the range of numbers", "larger unit"),
        ({"a": 2**2000}, "$.a", "an integer is beyond the range of numbers", "larger unit"),
        ({"a": Decimal(5)}, "$.a", "a Decimal is a number without a unit", "Quantity"),
        ({"a": Fraction(1, 3)}, "$.a", "a Fraction is a number without a unit", "Quantity"),
        ({"a": ndarray()}, "$.a", "a ndarray is not data", "each as a Quantity"),
        ({"a": 1j}, "$.a", "a complex is not data", "two Quantities"),
        ({"a": (x for x in "ab")}, "$.a", "a generator is not data", "list(values)"),
        ({"a": deque()}, "$.a", "a deque is not data", "list(values)"),
        ({"a": timedelta(1)}, "$.a", "a timedelta is not data", ".total_seconds()"),
        ({"a": len}, "$.a", "a builtin_function_or_method is not data", "keys of text"),
        ([0] * 200_001, "$", "the data has more than 200000 values", "not all of it"),
    ],
)
def test_each_is_told_as_what_it_is(result: Any, path: str, problem: str, remedy: str) -> None:
    with pytest.raises(GLValidationError) as raised:
        Session().record("meter", {}, result)
    error = raised.value
    assert error.code == "RESULT_SCHEMA" and error.path == path
    assert f"at {path}: " in error.message and problem in error.message
    assert (
        remedy in error.hint and str(error).count(error.hint) == 1
    )  # the hint ends the text, and stands there once
    assert ("Wrap" in error.hint) == isinstance(
        result.get("a") if isinstance(result, dict) else 0, Decimal | Fraction
    )


class Picture:
    def _repr_png_(self) -> bytes:
        return b""


@pytest.mark.parametrize("mode", ["claims", "sourced"])
def test_bytes_and_images_are_kept_beside_what_can_be_claimed(mode: Any) -> None:
    session, heat = Session(mode=mode), {"value": 12.5, "unit": "kWh"}
    call_id = session.record("meter", {}, {"a": b"5", "b": [bytearray(b"5"), Picture()], "heat": heat})
    assert session.output(call_id) == {"a": "<bytes>", "b": ["<bytearray>", "<Picture>"], "heat": heat}
    macro = [{"source_call_id": call_id, "path": "$.heat"}]
    assert session.check("{{claim:0}}", macro, mode="claims").message == "12.50 kWh"


@pytest.mark.parametrize(
    ("result", "kept"),
    [
        ({"price_usd": Decimal("12.5")}, {"price_usd": 12.5}),
        ({2024: 5.5, Colour.RED: Fraction(1, 2)}, {"2024": 5.5, "Colour.RED": 0.5}),
        ({"tags": {"b", "a"}}, {"tags": ["a", "b"]}),
        ({"x": 1.5, "y": math.nan, "z": Decimal("Infinity")}, {"x": 1.5, "y": None, "z": None}),
        ({"file": PurePosixPath("/x"), "wait": timedelta(1)}, {"file": "/x", "wait": "1 day, 0:00:00"}),
        ({"a": object(), "b": (x for x in "ab")}, {"a": "<object>", "b": "<generator>"}),
    ],
)
def test_in_sourced_mode_tools_return_anything(result: Any, kept: Any) -> None:
    session = Session(mode="sourced")
    assert session.output(session.record("meter", {}, result)) == kept


def test_no_key_takes_the_place_of_another() -> None:
    with pytest.raises(GLValidationError, match="two keys have the same text"):
        Session(mode="sourced").record("meter", {}, {1: 5.5, "1": 6.5})


def test_arguments_say_where() -> None:
    with pytest.raises(
        GLValidationError, match=r"are not valid JSON: at \$\.where a PurePosixPath is not data"
    ) as raised:
        plain_arguments("meter", {"where": PurePosixPath("/x")})
    assert raised.value.path == "$.where"


def test_what_a_hostile_class_says_is_not_repeated() -> None:
    class Liar:
        @property
        def model_dump(self) -> Any:
            raise ValueError("it is 500 kWh")

    with pytest.raises(
        GLValidationError, match=r"at \$\.a: a Liar cannot be converted to plain data: ValueError"
    ) as raised:
        Session().record("meter", {}, {"a": Liar()})
    assert "500" not in str(raised.value)

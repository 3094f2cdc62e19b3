"""What a verified output holds, and the way from a claim to it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from gllint_runtime import GLDataError, GLValidationError, Quantity
from gllint_runtime.policy.data import Survey
from gllint_runtime.policy.outputs import resolve_path, verified_output
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

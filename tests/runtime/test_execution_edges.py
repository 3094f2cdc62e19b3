"""What runs at the edges: names beside numbers, sums, lists in texts, nested outputs, who listens and who does not."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any

import pytest

from gllint_runtime import GLError, Session
from gllint_runtime.execution import spoken
from gllint_runtime.execution.final_schema import _WITHOUT_CASE, _letters_within
from gllint_runtime.execution.names import Names
from gllint_runtime.execution.origins import _listed
from gllint_runtime.execution.spoken import SpokenNumbers, as_argument, converted
from gllint_runtime.execution.steps import read_claims
from gllint_runtime.execution.totals import _objects
from gllint_runtime.policy.schemas import QUANTITY_REF


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("['8384507844', '7453605304']", ["8384507844", "7453605304"]),
        ("(8384507844; 7453605304)", ["8384507844", "7453605304"]),
        ("[room 17, room 18]", ["room 17", "room 18"]),
        ("8384507844, 7453605304", ["8384507844", "7453605304"]),
        ("room 17, room 18", []),
        ("8384507844 7453605304", []),
        ("17, none", []),
    ],
)
def test_a_list_in_a_text_is_in_brackets_or_of_words_without_blanks(text: str, items: list[str]) -> None:
    assert _listed(text) == items


def test_objects_of_an_output_are_found_in_objects_and_in_lists() -> None:
    output = {
        "a1b": {"n": 1},
        "rows": [{"n": 2}, [{"n": 3}]],
        "amount": {"value": 5, "unit": "kWh"},
        "t": "x",
    }
    assert [(path, names) for path, _, names in _objects(output, ())] == [
        ((), []),
        (("a1b",), ["a1b"]),
        (("rows", 0), []),
        (("rows", 1, 0), []),
    ]


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("Pay 250+55 now.", 305, "250 + 55"),
        ("Pay 250 and 55 and 10 now.", 315, "250 + 55 + 10"),
        ("Pay 250, 55, 10 and 3 now.", 318, None),
        (f"Pay 250 and {'x' * 34} 55 now.", 305, "250 + 55"),
        (f"Pay 250 and {'x' * 35} 55 now.", 305, None),
        ("Pay 250. And 55 now.", 305, None),
        ("Pay 250 EUR and 55 USD.", 305, None),
        ("Pay a debt of 250 and 55.", -250, "250"),
        ("It is at 71.05 W, 55 N.", -71.05, "71.05"),
        ("It is 12 degrees below zero, 55 there.", -12, "12"),
        ("Once, 55 of 66.", 1, "Once"),
        ("Take half, 55 of 66.", 0.5, "half"),
        ("Take 5 %, 55 of 66.", 0.05, "5%"),
        ("At 3 pm, 55 of 66.", 15, "3 pm"),
        ("At 3:30 pm, 55 of 66.", 15, None),
        ("On 2024-05-20, 55 of 66.", -6, None),
        ("On May 20, 55 of 66.", -6, None),
        ("debt of 12, or 55.", -12, "12"),
        ("debt of 12, or 55.", -55, None),
        ("Pay 0 and 250 and 55 now.", 305, "250 + 55"),
        ("Pay 1 and 55 now.", 56, "1 + 55"),
        ("Pay 250 EUR and 55 now.", 305, "250 + 55"),
        ("Pay 55 and 55% now.", 0.55, "55%"),
    ],
)
def test_a_number_that_was_said_in_another_way(text: str, value: float, expected: str | None) -> None:
    assert SpokenNumbers([text]).origin(value, ()) == expected


def test_numbers_are_added_within_one_text() -> None:
    assert SpokenNumbers(["Pay 250 and then", "It's a lot 55"]).origin(305, ()) is None


def test_of_what_was_said_so_many_characters_are_read_and_so_many_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(spoken, "_MAX_LETTERS", 10)
    for texts, expected in (
        (["Pay five.", "And six or seven", "Eight"], {5, 6}),
        (["Pay five..", "And six or seven"], {5}),
    ):
        numbers = SpokenNumbers(texts)
        assert {value for value in range(5, 9) if numbers.origin(value, ("m",))} == expected
    monkeypatch.setattr(spoken, "_MAX_NUMBERS", 1)
    numbers = SpokenNumbers(["Five, six"])
    assert [numbers.origin(value, ()) for value in (5, 6)] == ["Five", None]


@pytest.mark.parametrize(
    ("value", "unit", "target", "fits"),
    [
        (1, "km", 1000, True),
        (1, "km", 1000.0, True),
        (1, "km", 999, False),
        (1, "km", 1000.5, False),
        (1234.5, "m", 1.2, True),
        (1234.5, "m", 1.3, False),
        (1234.5, "m", 1.23, True),
        (1234.5, "m", 1, True),
        (400, "m", 0.4, False),  # a digit is too few to tell
        (10**25, "m", 1e22, False),
        (1, "km", float("nan"), False),
        (1, "km", float("inf"), False),
        (1, "km", "1000", False),
        (1, "kWh", 1000, False),
    ],
)
def test_a_measure_is_what_an_argument_rounds_it_to(value: Any, unit: str, target: Any, fits: bool) -> None:
    to = "m" if unit == "km" or unit == "kWh" else "km"
    assert (converted({(Fraction(value), unit): "x"}, target, ["bananas", to]) == "x") is fits


def test_a_value_is_an_argument_in_full_where_it_is_an_integer() -> None:
    assert as_argument(Fraction(2**60 + 1)) == 2**60 + 1
    assert as_argument(Fraction(1, 4)) == 0.25
    assert math.isnan(as_argument(Fraction(10**400, 3)))


@pytest.mark.parametrize(
    ("quantity", "problem"),
    [
        ([5, "kWh"], "a Quantity is an object with 'value' and 'unit'"),
        ("ab", "a Quantity is an object with 'value' and 'unit'"),
        ({"value": 5}, "a Quantity has exactly the keys 'value' and 'unit'"),
    ],
)
def test_a_claim_whose_quantity_is_none_is_refused(quantity: Any, problem: str) -> None:
    with pytest.raises(GLError) as error:
        read_claims([{"source_call_id": "c", "path": "$", "quantity": quantity}])
    assert f"Claim 0: {problem}" in str(error.value)


HEAT = {"value": 12.5, "unit": "kWh"}


def test_who_listens_is_told_where_no_telemetry_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "opentelemetry.trace", raising=False)
    events: list[Any] = []
    session = Session()
    session.on_event(events.append)
    call_id = session.record("meter", {"site": 7}, {"heat": HEAT})
    session.check("It uses {{claim:0}}.", [{"source_call_id": call_id, "path": "$.heat", "quantity": HEAT}])
    assert [event["verdict"] for event in events] == ["pass"]


@pytest.mark.parametrize(
    ("schema", "declared"),
    [({}, "declares none"), ({"x-basis": "HHV"}, "declares 'HHV'")],
)
def test_a_basis_that_no_schema_declares_is_refused(schema: dict[str, Any], declared: str) -> None:
    session = Session()
    heat = {"type": "object", "properties": {"heat": {"$ref": QUANTITY_REF, **schema}}}
    call_id = session.record("gas", {}, {"heat": HEAT}, result_schema=heat)
    claim = {"source_call_id": call_id, "path": "$.heat", "quantity": HEAT, "basis": "LHV"}
    with pytest.raises(GLError) as error:
        session.check("It is {{claim:0}}.", [claim])
    assert f"Claim 0 says the basis 'LHV', but the tool's schema {declared}" in str(error.value)


def test_a_name_is_made_of_up_to_so_many_words_before_a_number_and_of_none_behind() -> None:
    names: Names[str] = Names(["identifiers"])
    names.learn("One two my gift card 6276644 please", "user")
    for text in ("6276644", "card_6276644", "gift_card_6276644"):
        assert names.knows(text) == "user"
    for text in ("gift_card_6276644please", "card_6276644_please", "gift_6276644"):
        assert names.knows(text) is None


def test_scripts_without_case_write_words_of_two_letters_behind_a_macro() -> None:
    """Of which none has a letter at a bound; Greek before them and Thai behind them are as all others."""
    first, last = _WITHOUT_CASE
    ranges = _letters_within(first, last)
    assert all(first < low <= high < last for low, high in ranges)
    for letter, is_within in (("א", True), ("ව", True), ("ω", False), ("ก", False)):
        assert any(low <= letter <= high for low, high in ranges) == is_within

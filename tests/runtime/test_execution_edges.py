"""What runs at the edges: names beside numbers, sums, lists in texts, nested outputs, who listens and who does not."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from gllint_runtime import GLError, Session
from gllint_runtime.execution.final_schema import _WITHOUT_CASE, _letters_within
from gllint_runtime.execution.names import Names
from gllint_runtime.execution.origins import _listed
from gllint_runtime.execution.spoken import SpokenNumbers
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
    ],
)
def test_a_number_that_was_said_in_another_way(text: str, value: float, expected: str | None) -> None:
    assert SpokenNumbers([text]).origin(value, ()) == expected


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

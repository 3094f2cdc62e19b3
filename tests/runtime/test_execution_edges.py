"""What runs at the edges: names beside numbers, sums, lists in texts, nested outputs, who listens and who does not."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import asdict
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from gllint_runtime import GLError, Quantity, Session
from gllint_runtime.execution import spoken, text_numbers
from gllint_runtime.execution.final_schema import _WITHOUT_CASE, _letters_within
from gllint_runtime.execution.names import Names
from gllint_runtime.execution.origins import _listed
from gllint_runtime.execution.record import CallRecord, Origin
from gllint_runtime.execution.spoken import SpokenNumbers, as_argument, converted
from gllint_runtime.execution.steps import read_claims
from gllint_runtime.execution.totals import _objects
from gllint_runtime.execution.trace import Metrics, snapshot
from gllint_runtime.policy.data import Survey
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
        ("Take 5 percent, 55 of 66.", 0.05, "5%"),
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
    for letter, is_within in (
        ("א", True),
        ("ව", True),
        ("ω", False),
        ("ก", False),
        ("०", False),
        ("၊", False),
    ):
        assert any(low <= letter <= high for low, high in ranges) == is_within


# ------------------------------------------------------------------------------------------- numbers in texts


@pytest.mark.parametrize(
    ("message", "number", "word"),
    [
        ("441", "441", "441"),
        ("PA441", "441", "PA441"),
        ("441b is it", "441", "441b"),
        ("a PA441b, c", "441", "PA441b"),
        ("xxxxPA441bxxxx", "441", "xPA441bxx"),
    ],
)
def test_a_number_with_the_letters_that_touch_it(
    message: str, number: str, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_numbers, "_LONGEST_WORD", 3)
    start = message.index(number)
    assert text_numbers.word_around(message, start, start + len(number)) == word


def sources(word: str, *outputs: Any) -> str | None:
    session = Session(allow_raw_numbers=True)
    for output in outputs:
        session.record("look", {}, output)
    record = text_numbers.text_source(word, [*session._calls.values()])
    return None if record is None else record.call_id


@pytest.mark.parametrize(
    ("word", "outputs", "source"),
    [
        ("441", ["It is 441."], "tc_1"),
        ("441", ["It is 441.", "Or 441"], "tc_2"),
        ("441", [{"a": ["x", {"b": "It is 441"}]}], "tc_1"),
        ("441", ["PA441", "441b", "1.441", "441.5", "441,5"], None),
        ("441", [{"n": 441}], None),
        ("1,441", ["It is 1,441 there", HEAT], "tc_1"),
        ("12.5", ["It is 12.5 there", {"heat": HEAT}], None),  # which can be cited
        ("1,441", ["It is 1,441", {"heat": {"value": 1441, "unit": "kWh"}}], None),
        ("PA441", ["PA441 flies", {"heat": HEAT}], "tc_1"),
        ("442", ["It is 441."], None),
    ],
)
def test_the_latest_call_in_one_of_whose_texts_a_number_stands(
    word: str, outputs: list[Any], source: str | None
) -> None:
    assert sources(word, *outputs) == source


@pytest.mark.parametrize(("bound", "enough"), [("_MAX_CALLS", 2), ("_MAX_PARTS", 4), ("_MAX_TEXT", 7)])
def test_texts_are_searched_within_bounds(bound: str, enough: int, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = {
        "_MAX_CALLS": ["441", "x"],
        "_MAX_PARTS": [["441", "x", "y"]],  # the list and what it holds, the last first
        "_MAX_TEXT": [["441", "abcd"]],
    }[bound]
    for most, source in ((enough, "tc_1"), (enough - 1, None)):
        monkeypatch.setattr(text_numbers, bound, most)
        assert sources("441", *outputs) == source


# ------------------------------------------------------------------------------------- what a run has to show


def test_what_is_no_data_is_shown_as_what_it_is() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise ValueError

    value = {"a": [1, "x", None]}
    copied = snapshot(value)
    assert copied == value and copied["a"] is not value["a"]
    assert snapshot("text") == "text"
    assert snapshot({"heat": Quantity(5, "kWh")}) == {"heat": {"value": 5, "unit": "kWh"}}
    assert snapshot(Broken()).startswith("<Broken")
    assert snapshot(object()).startswith("<object objec")


def test_rates_of_no_step_and_no_call_are_none() -> None:
    assert set(Metrics().to_dict().values()) == {0}
    metrics = Metrics(model_steps=4, tool_steps=3, executed={"a": 2, "b": 1}, latency_ms=6.0)
    assert metrics.to_dict() == {
        "tool_use_rate": 0.75,
        "total_tool_calls": 3,
        "unique_tools_used": 2,
        "naked_number_rejections": 0,
        "quantity_mismatches": 0,
        "replay_violations": 0,
        "total_steps": 4,
        "avg_tool_latency_ms": 2.0,
    }
    assert Metrics.restored(asdict(metrics)) == metrics
    for key, wrong in (
        ("latency_ms", -0.5),
        ("latency_ms", True),
        ("model_steps", -1),
        ("tool_steps", 2**62),
    ):
        with pytest.raises(ValueError, match="is no (time|count)"):
            Metrics.restored({**asdict(metrics), key: wrong})
    assert Metrics.restored({**asdict(metrics), "tool_steps": 2**62 - 1, "latency_ms": 0}).latency_ms == 0


def test_an_origin_tells_what_is_known_of_it() -> None:
    assert Origin("$.a", 5, "none").to_dict() == {"path": "$.a", "value": 5, "origin": "none", "source": None}
    assert Origin("$.a", 5, "tool", "tc_1", True, "kWh", "Wh", "user").to_dict() == {
        "path": "$.a",
        "value": 5,
        "origin": "tool",
        "source": "tc_1",
        "unit": "kWh",
        "source_unit": "Wh",
        "demand": "user",
    }


def test_a_call_is_grounded_where_all_its_numbers_are_and_nobody_knows_where_none_was_traced() -> None:
    loose = Origin("$.a", 5, "none", grounded=False)
    for origins, grounded in (
        (None, None),
        ((), True),
        ((Origin("$.a", 5, "user"),), True),
        ((loose,), False),
    ):
        assert CallRecord("tc_1", "t", {}, Survey({}), origins).grounded is grounded


# -------------------------------------------------------------------------------------------- stored sessions


@pytest.mark.parametrize(
    ("constants", "error", "message"),
    [
        ([5], TypeError, r"constants are numbers by their names, not \[5\]"),
        ({"a": True}, TypeError, "constants: 'a' is a number, not True"),
        ({"a": "5"}, TypeError, "constants: 'a' is a number, not '5'"),
        ({"a": math.nan}, ValueError, "constants: 'a' is a finite number, not nan"),
        ({"a": math.inf}, ValueError, "constants: 'a' is a finite number, not inf"),
        ({"a": -math.inf}, ValueError, "constants: 'a' is a finite number, not -inf"),
        ({"a": Decimal("NaN")}, ValueError, "constants: 'a' is a finite number"),
        ({"a": Decimal("Infinity")}, ValueError, "constants: 'a' is a finite number"),
    ],
)
def test_constants_are_finite_numbers(constants: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Session(constants=constants)


def test_exact_numbers_in_each_shape_come_back_exactly() -> None:
    long, third = Decimal("0.1234567890123456789"), Fraction(1, 3)
    session = Session(constants={"a": long, "b": third, "c": 5, "d": 2.5}, quantity_shapes=["money"])
    session.record(
        "m",
        {},
        {"x": {"value": long, "unit": "kWh"}, "y": [{"value": third, "unit": "kWh"}], "z": {"amount": long, "currency": "USD"},
         "w": {"amount": "12.10", "currency": "USD"}},
    )  # fmt: skip
    again = Session.from_json(session.to_json(), policy=session.policy)
    assert again.constants == session.constants
    assert [type(value) for value in again.constants.values()] == [Decimal, Fraction, int, float]
    for one in (session, again):
        quantities = one._calls["tc_1"].output.quantities
        assert {path[0]: quantity.value for path, quantity in quantities.items()} == {
            "x": long,
            "y": third,
            "z": long,
            "w": Decimal("12.10"),
        }
    assert again.to_json() == session.to_json()


def test_units_and_bases_that_a_schema_declared_come_back() -> None:
    for declared in ({"x-unit": "kWh"}, {"x-unit": "kWh", "x-basis": "HHV"}):
        session = Session()
        schema = {"type": "object", "properties": {"heat": {"type": "number", **declared}}}
        session.record("m", {"site": 7}, {"heat": 5}, result_schema=schema)
        again = Session.from_json(session.to_json())
        assert again.claimable() == session.claimable()
        (claim,) = again.claimable()
        (entry,) = again.check("{{claim:0}}", [claim]).provenance
        assert entry == session.check("{{claim:0}}", [claim]).provenance[0]
        assert entry.get("basis") == declared.get("x-basis")


def test_settings_that_differ_are_told_up_to_twenty(caplog: pytest.LogCaptureFixture) -> None:
    stored = json.loads(Session().to_json())
    stored["policy"] |= {f"a{i:02}": None for i in range(25)}
    Session.from_json(json.dumps(stored))
    assert caplog.messages == [
        "The session was stored under another policy; this program's holds "
        f"({', '.join(f'a{i:02}' for i in range(20))})"
    ]

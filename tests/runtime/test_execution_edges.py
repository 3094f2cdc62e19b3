"""What runs at the edges: names beside numbers, sums, lists in texts, nested outputs, who listens and who does not."""

from __future__ import annotations

import json
import math
import re
import sys
from dataclasses import asdict
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from gllint_runtime import GLError, Quantity, Session
from gllint_runtime.execution import text_numbers
from gllint_runtime.execution.final_schema import _WITHOUT_CASE, _letters_within
from gllint_runtime.execution.record import CallRecord, Origin
from gllint_runtime.execution.steps import read_claims
from gllint_runtime.execution.trace import Metrics, snapshot
from gllint_runtime.policy.data import Survey
from gllint_runtime.policy.schemas import QUANTITY_REF


@pytest.mark.parametrize(
    ("quantity", "problem"),
    [
        ([5, "kWh"], "a Quantity must be an object with 'value' and 'unit'"),
        ("ab", "a Quantity must be an object with 'value' and 'unit'"),
        ({"value": 5}, "a Quantity must have exactly the keys 'value' and 'unit'"),
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
    assert f"Claim 0 has the basis 'LHV', but the tool's schema {declared}" in str(error.value)


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
    hint = text_numbers.text_hint(word, session._judge.provenance)
    return None if hint is None else re.findall(r"\((tc_\d+)\)", hint)[0]


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
        ([5], TypeError, r"constants must be a mapping of names to numbers, got \[5\]"),
        ({"a": True}, TypeError, "constants: 'a' must be a number, got True"),
        ({"a": "5"}, TypeError, "constants: 'a' must be a number, got '5'"),
        ({"a": math.nan}, ValueError, "constants: 'a' must be a finite number, got nan"),
        ({"a": math.inf}, ValueError, "constants: 'a' must be a finite number, got inf"),
        ({"a": -math.inf}, ValueError, "constants: 'a' must be a finite number, got -inf"),
        ({"a": Decimal("NaN")}, ValueError, "constants: 'a' must be a finite number"),
        ({"a": Decimal("Infinity")}, ValueError, "constants: 'a' must be a finite number"),
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
        "The session was stored with another policy; the policy of this program is used "
        f"({', '.join(f'a{i:02}' for i in range(20))})"
    ]

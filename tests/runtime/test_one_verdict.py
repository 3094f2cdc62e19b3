"""One conversation gets one verdict: in sourced mode, in the audit of its recording, in an argument, in the guard."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gllint_runtime import GLError, Session
from judges import passes_guard, refused_by_audit

CITIES = ("Oslo", "Rome", "Bergen", "Turin")
UNITS = ("kWh", "MWh", "EUR", "degC", "%")
NUMBERS = st.one_of(st.integers(20, 9_999), st.decimals("0.1", "999", places=1).map(float))
QUANTITIES = st.fixed_dictionaries({"value": NUMBERS, "unit": st.sampled_from(UNITS)})
ROWS = st.lists(
    st.fixed_dictionaries({"city": st.sampled_from(CITIES), "amount": QUANTITIES}), min_size=1, max_size=4
)
SENTENCES = st.tuples(
    st.sampled_from(("{city} has {number} {unit}.", "It is {number} {unit}.", "In total {number} {unit}.")),
    st.sampled_from(CITIES),
    st.integers(0, 3),
    st.sampled_from((1, 1, 1000, 0.001, 1.1)),
    st.sampled_from((None, None, *UNITS)),
)


def _answer(rows: list[dict[str, Any]], sentences: list[Any]) -> str:
    parts = []
    for form, city, place, factor, unit in sentences:
        amount = rows[place % len(rows)]["amount"]
        number = f"{amount['value'] * factor:.12g}"
        parts.append(form.format(city=city, number=number, unit=unit or amount["unit"]))
    return " ".join(parts)


def _failing(error: GLError | None) -> set[str]:
    return set() if error is None else {str(entry["text"]) for entry in error.context or ()}


def _refusal(session: Session, answer: str) -> GLError | None:
    try:
        session.check(answer)
    except GLError as error:
        return error
    return None


@pytest.mark.usefixtures("unmeasured")
@settings(max_examples=60, deadline=None)
@given(ROWS, st.lists(SENTENCES, min_size=1, max_size=4))
def test_one_conversation_gets_one_verdict(rows: list[Any], sentences: list[Any]) -> None:
    answer, user = _answer(rows, sentences), "What of my sites?"  # of which the guard hears nothing
    gate = Session(mode="sourced")
    gate.user(user)
    gate.record("meter", {}, rows)
    refused = _failing(_refusal(gate, answer))

    assert refused_by_audit(user, rows, answer) == refused

    strict = Session(mode="sourced", argument_origin="strict")
    strict.user(user)
    strict.record("meter", {}, rows)
    try:
        strict.tool_arguments("post", {"body": answer})
    except GLError as error:
        assert error.code == "MISSING_ORIGIN" and refused
    else:
        assert not refused

    assert passes_guard({"rows": rows}, answer) is not bool(refused)

"""One conversation gets one verdict: in sourced mode, in the audit of its recording, in an argument, in the guard."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gllint.guard.exchange import Guard
from gllint_runtime import GLError, Policy, Session, audit_run

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
    gate.record("look", {"of": "all"}, rows)
    refused = _failing(_refusal(gate, answer))

    call = {"id": "tc_1", "function": {"name": "look", "arguments": '{"of": "all"}'}}
    run = [
        {"role": "user", "content": user},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "tc_1", "content": json.dumps(rows)},
        {"role": "assistant", "content": answer},
    ]
    numbers = audit_run(run).numbers
    assert {one["text"] for one in numbers if one["verdict"] in ("unsourced", "mislabelled")} == refused

    strict = Session(mode="sourced", argument_origin="strict")
    strict.user(user)
    strict.record("look", {"of": "all"}, rows)
    try:
        strict.tool_arguments("post", {"body": answer})
    except GLError as error:
        assert error.code == "MISSING_ORIGIN" and refused
    else:
        assert not refused

    guard = Guard(Policy(), "block")
    guard.from_client(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "look", "arguments": {"of": "all"}},
        }
    )
    guard.from_server(
        {"jsonrpc": "2.0", "id": 1, "result": {"content": [], "structuredContent": {"rows": rows}}}
    )
    verify = {"name": "verify_answer", "arguments": {"message": answer}}
    [sent] = guard.from_client({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": verify})
    assert sent.message["result"]["isError"] is bool(refused)

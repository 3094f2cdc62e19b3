"""Texts among the arguments of a tool: what people read is judged as a message is, and a macro is never sent."""

from __future__ import annotations

from typing import Any

import pytest

from gllint_runtime import GLError, Session

HEAT = {"heat": {"value": 12.5, "unit": "kWh"}}
CLAIM = {"source_call_id": "tc_1", "path": "$.heat"}


def session(**settings: Any) -> Session:
    made = Session(**settings)
    made.user("Mail me how much heat we used, to room B4.")
    made.record("meter", {}, HEAT)
    return made


@pytest.mark.parametrize("mode", ["claims", "sourced"])
@pytest.mark.parametrize(
    ("body", "number"),
    [
        ("You used 12.5 MWh", "12.5"),
        ("You used −12.5 kWh", "12.5"),
        ("You used 12.5 kWh and owe 999 EUR.", "999"),
        ("You used as much as 14 kWh.", "14"),
    ],
)
def test_prose_is_judged_as_a_message(mode: Any, body: str, number: str) -> None:
    gate = session(mode=mode, argument_origin="strict")
    with pytest.raises(GLError, match=rf"\[MISSING_ORIGIN\] The number \S*{number} in") as raised:
        gate.tool_arguments("send_email", {"mails": [{"body": body}]})
    assert raised.value.path == "$.mails[0].body"


@pytest.mark.parametrize("mode", ["claims", "sourced"])
def test_prose_whose_numbers_have_a_source_passes(mode: Any) -> None:
    gate = session(mode=mode, argument_origin="strict")
    for body in ("You used 12.5 kWh.", "You used 12,500 Wh in all.", "Come to room B4, please."):
        assert gate.tool_arguments("send_email", {"body": body}) == {"body": body}


def test_a_schema_says_what_is_prose() -> None:
    gate = session(argument_origin="strict")
    schema = {"properties": {"body": {"type": "string", "x-text": True}}}
    with pytest.raises(GLError, match="is in kWh"):
        gate.tool_arguments("send", {"body": "12.5 MWh"}, args_schema=schema)


@pytest.mark.parametrize("origin", ["off", "record", "strict"])
@pytest.mark.parametrize("mode", ["claims", "sourced"])
def test_a_macro_is_replaced_or_refused(mode: Any, origin: Any) -> None:
    gate = session(mode=mode, argument_origin=origin)
    sent = gate.tool_arguments("send", {"body": "You used {{tc_1.heat}}.", "to": ["ada"]})
    assert sent == {"body": "You used 12.50 kWh.", "to": ["ada"]}
    sent = gate.tool_arguments("send", {"body": "You used {{claim:0}}.", "claims": [CLAIM]})
    assert sent["body"] == "You used 12.50 kWh."
    for body in ("You used {{claim:0}}.", "You used {{tc_9.heat}}.", "You used {claim:0}."):
        with pytest.raises(GLError, match="MISSING_CLAIM|MISSING_TOOL_CALL"):
            gate.tool_arguments("send", {"body": body})


@pytest.mark.parametrize("mode", ["claims", "sourced"])
def test_a_check_at_warn_is_one_verdict(mode: Any) -> None:
    gate, events = session(mode=mode, levels="warn"), list[Any]()
    gate.on_event(events.append)
    gate.check("You used 13 kWh and {{claim:0}}.")
    assert [event["verdict"] for event in events] == ["warn"]

"""What a violation does, whom it is told, and the trace of what was judged."""

from __future__ import annotations

import json
import logging
import pickle
from typing import Any

import pytest

from gllint_runtime import GLError, Policy, Session

HEAT = {"heat": {"value": 12.5, "unit": "kWh"}}
CLAIM = {"source_call_id": "tc_1", "path": "$.heat", "quantity": HEAT["heat"]}
WRONG = {**CLAIM, "quantity": {"value": 13, "unit": "kWh"}}
COLD = {**CLAIM, "path": "$.cold"}
LATE = {**CLAIM, "source_call_id": "tc_9"}


def recorded(**settings: Any) -> Session:
    session = Session(**settings)
    session.record("meter", {}, HEAT)
    return session


@pytest.mark.parametrize("level", ["warn", "shadow"])
@pytest.mark.parametrize(
    ("message", "claims", "shown", "code"),
    [
        ("It uses 13 kWh.", [], "It uses 13 kWh.", "NO_NAKED_NUMBERS"),
        ("It uses {{claim:0}}.", [WRONG], "It uses [unverified].", "QUANTITY_MISMATCH"),
        ("It uses {{claim:0}}.", [COLD], "It uses [unverified].", "PATH_RESOLUTION"),
        ("It uses {{claim:0}}.", [LATE], "It uses [unverified].", "MISSING_TOOL_CALL"),
        ("It uses {{claim:1}}, {{claim:0}}.", [CLAIM], "It uses [unverified], 12.50 kWh.", "MISSING_CLAIM"),
        ("It uses {{claim:a}}.", [], "It uses [unverified].", "MISSING_CLAIM"),
        ("{{claim:0}}, {{claim:1}}", [WRONG, CLAIM], "[unverified], 12.50 kWh", "QUANTITY_MISMATCH"),
    ],
)
def test_what_a_level_lets_through(
    level: Any, message: str, claims: list[Any], shown: str, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    session = recorded(levels=level)
    events: list[Any] = []
    session.on_event(events.append)
    caplog.set_level(logging.WARNING)
    verified = session.check(message, claims)
    assert verified.message == shown and code in [found["code"] for found in verified.violations]
    assert {found["level"] for found in verified.violations} == {level}
    assert code in [entry.get("code") for entry in session.trace]
    told = [event["code"] for event in events if event["verdict"] != "pass"]
    assert (code in told) == (code in caplog.text) == (level == "warn")
    assert session.verify(message, claims).status == "success"
    assert verified.to_html() and verified.to_mermaid()
    with pytest.raises(GLError):
        recorded().check(message, claims)


def test_each_code_has_its_level() -> None:
    session = recorded(levels={"NO_NAKED_NUMBERS": "warn"})
    assert session.check("13").violations[0]["code"] == "NO_NAKED_NUMBERS"
    with pytest.raises(GLError, match="QUANTITY_MISMATCH"):
        session.check("{{claim:0}}", [WRONG])
    assert session.policy == pickle.loads(pickle.dumps(session.policy)) and hash(session.policy)
    assert not recorded(levels="warn").check("{{claim:0}}", [CLAIM]).violations


@pytest.mark.parametrize(
    ("message", "claims", "code"),
    [
        ("a\x1b[2Kb", [], "UNSAFE_TEXT"),
        ("x" * 500_001, [], "STEP_SCHEMA"),
        ("", "x", "STEP_SCHEMA"),
        (5, [], "STEP_SCHEMA"),
    ],
)
def test_what_always_blocks(message: Any, claims: Any, code: str) -> None:
    session = recorded(levels="shadow")
    events: list[Any] = []
    session.on_event(events.append)
    with pytest.raises(GLError, match=code):
        session.check(message, claims)
    assert [(event["verdict"], event["code"]) for event in events] == [("block", code)]


@pytest.mark.parametrize(
    "levels", ["loud", {"NO_NAKED_NUMBERS": "loud"}, {"NOTHING": "warn"}, {"UNSAFE_TEXT": "warn"}]
)
def test_levels_of_no_use(levels: Any) -> None:
    with pytest.raises(ValueError, match="levels"):
        Session(levels=levels)
    with pytest.raises(TypeError, match="levels"):
        Session(levels=5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "output", [{"heat": 12.5}, {"heat": {"value": 5, "unit": "parsec"}}, {"x": object()}, object()]
)
def test_an_output_that_a_level_lets_through_can_not_be_claimed(output: Any) -> None:
    session = Session(levels="warn")
    session.record("meter", {}, output)
    assert session.check("{{claim:0}}", [CLAIM]).message == "[unverified]"
    with pytest.raises(GLError):
        Session().record("meter", {}, output)


def test_an_argument_without_origin_can_be_let_through() -> None:
    session = Session(levels={"MISSING_ORIGIN": "warn"}, argument_origin="strict")
    assert session.record("meter", {"area": 400}, HEAT) == "tc_1"
    assert session.check("{{claim:0}}", [CLAIM]).provenance[0]["grounded"] is False


def test_the_trace_is_a_chain() -> None:
    session = recorded()
    session.check("It uses {{claim:0}}.", [CLAIM])
    with pytest.raises(GLError):
        session.check("13")
    trace = session.trace
    assert [entry["kind"] for entry in trace] == ["tool", "verdict", "verdict"]
    assert [entry.get("verdict") for entry in trace] == [None, "pass", "block"]
    assert [entry["previous"] for entry in trace[1:]] == [entry["hash"] for entry in trace[:-1]]
    again = Session.from_json(session.to_json())
    again.check("Well.")
    assert again.trace[:3] == trace and again.trace[3]["previous"] == trace[2]["hash"]
    stored = json.loads(session.to_json())
    stored["trace"][0]["tool"] = "other"
    with pytest.raises(ValueError, match="the trace is not as it was written"):
        Session.from_json(json.dumps(stored))


def test_what_is_redacted() -> None:
    session = Session(redact=lambda text: text.replace("Ada", "(name)"))
    events: list[Any] = []
    session.on_event(events.append)
    session.record("meter", {"owner": "Ada"}, HEAT)
    verified = session.check("Ada, it uses {{claim:0}}.", [CLAIM])
    with pytest.raises(GLError):
        session.record("Ada", {}, {"Ada": 5})
    assert verified.message == "Ada, it uses 12.50 kWh."
    assert "Ada" not in json.dumps([session.trace, events, verified.provenance])
    assert "(name)" in json.dumps(session.trace)


def test_who_listens_does_not_decide() -> None:
    session = recorded()
    session.on_event(lambda event: 1 / 0)
    assert session.check("Well.").message == "Well."


def test_a_span_is_told_each_verdict() -> None:
    pytest.importorskip("opentelemetry.sdk.trace")
    from opentelemetry.sdk.trace import TracerProvider

    session = recorded()
    with TracerProvider().get_tracer("t").start_as_current_span("turn") as span:
        session.check("{{claim:0}}", [CLAIM])
        with pytest.raises(GLError):
            session.check("13")
    first, second = span.events  # type: ignore[attr-defined]
    assert first.name == second.name == "gen_ai.evaluation.result"
    assert first.attributes["gen_ai.evaluation.score.label"] == "pass"
    assert second.attributes["error.type"] == "NO_NAKED_NUMBERS"
    assert second.attributes["gen_ai.evaluation.score.value"] == 0.0


# ------------------------------------------------------------------------------------------------- storing


def test_the_policy_is_the_programs(caplog: pytest.LogCaptureFixture) -> None:
    text = Session(allow_raw_numbers=True, levels="shadow").to_json()
    session = Session.from_json(text)
    assert session.policy == Policy()
    assert "another policy" in caplog.text and "allow_raw_numbers, levels" in caplog.text
    with pytest.raises(GLError):
        session.check("13")
    caplog.clear()
    policy = Policy(packs=["counts"], levels={"NO_NAKED_NUMBERS": "warn"})
    assert Session.from_json(Session(policy=policy).to_json(), policy=policy).policy == policy
    assert not caplog.text


def test_a_signed_session() -> None:
    session = recorded()
    text = session.to_json(key="secret")
    assert Session.from_json(text, key=b"secret").check("{{claim:0}}", [CLAIM]).message == "12.50 kWh"
    assert Session.from_json(text).next_id() == "tc_2"
    forged = text.replace("12.5", "99.5")
    unsigned = {key: value for key, value in json.loads(text).items() if key != "signature"}
    for bad in (
        forged,
        json.dumps(unsigned),
        session.to_json(),
        text.replace('"signature": "', '"signature": "é'),
    ):
        with pytest.raises(GLError) as caught:
            Session.from_json(bad, key="secret")
        assert caught.value.code == "SESSION_SIGNATURE"
    with pytest.raises(GLError, match="SESSION_SIGNATURE"):
        Session.from_json(text, key="other")
    with pytest.raises(ValueError, match="key"):
        session.to_json(key="")


def test_a_store_sees_a_second_writer() -> None:
    text = recorded().to_json()
    one, other = Session.from_json(text), Session.from_json(text)
    assert one.version == other.version == json.loads(text)["version"] == 1
    assert one.to_json() == other.to_json() == text
    for session in (one, other):
        session.user("And now?")
        assert json.loads(session.to_json())["version"] == session.version == 2


def test_a_claim_may_cite_the_frameworks_own_id() -> None:
    session = Session()
    assert session.record("meter", {}, HEAT, tool_call_id="call_a") == "tc_1"
    cited = {**CLAIM, "source_call_id": "call_a"}
    for same in (session, Session.from_json(session.to_json())):
        verified = same.check("{{claim:0}}", [cited])
        assert verified.message == "12.50 kWh" and verified.provenance[0]["call_id"] == "tc_1"

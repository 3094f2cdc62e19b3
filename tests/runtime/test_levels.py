"""What a violation does, whom it is told, and the trace of what was judged."""

from __future__ import annotations

import hashlib
import json
import logging
import pickle
from typing import Any

import pytest

from gllint_runtime import GLError, Policy, Session
from gllint_runtime.execution import verdicts
from gllint_runtime.execution.record import CallRecord
from gllint_runtime.execution.verdicts import Verdicts, evaluation, trace_break
from gllint_runtime.policy.data import Survey

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
    assert verified.to_html()
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
    with pytest.raises(ValueError, match="the trace was changed after it was written"):
        Session.from_json(json.dumps(stored))


def test_what_redacts_is_a_callable() -> None:
    with pytest.raises(TypeError, match="redact must be a callable, not 'Ada'"):
        Session(redact="Ada")  # type: ignore[arg-type]


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


# --------------------------------------------------------------------------------------------------- the chain


@pytest.mark.parametrize(("level", "told", "logged"), [("warn", True, True), ("shadow", False, False)])
def test_who_is_told_of_what_a_level_lets_through(
    level: Any, told: bool, logged: bool, caplog: pytest.LogCaptureFixture
) -> None:
    session, events = Session(levels=level), list[Any]()
    session.on_event(events.append)
    violations = session.check("It is 13.").violations
    assert [(one["code"], one["level"]) for one in violations] == [("NO_NAKED_NUMBERS", level)]
    assert ("[NO_NAKED_NUMBERS] Naked number '13'" in caplog.text) is logged
    assert [event["code"] for event in events] == (["NO_NAKED_NUMBERS"] if told else [])
    assert [entry["verdict"] for entry in session.trace] == [level]


def test_what_blocks_is_told_and_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    session, events = Session(), list[Any]()
    session.on_event(events.append)
    assert session.verify("It is 13.").status == "error"
    assert [(event["verdict"], event["code"]) for event in events] == [("block", "NO_NAKED_NUMBERS")]
    assert events[0]["error"]["level"] == "block" and not caplog.records


def test_a_trace_breaks_at_the_first_entry_that_is_not_as_it_was_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = recorded()
    for _ in range(3):
        session.check("Well.")
    trace = session.trace
    assert trace_break(trace) is trace_break([]) is trace_break(trace[:2]) is None
    changed = [*trace[:2], {**trace[2], "claims": 7}, trace[3]]
    for broken, place in (
        (changed, 2),
        (trace[1:], 0),
        ([trace[0], trace[2]], 1),
        ([trace[1], trace[0]], 0),
        ([*trace, trace[3]], 4),
        ([*trace, {"kind": "verdict"}], 4),
        ([*trace, 5], 4),
        ([{**trace[0], "more": object()}], 0),
    ):
        assert trace_break(broken) == place  # type: ignore[arg-type]
    # Of a trace that is full the oldest entries are forgotten.
    monkeypatch.setattr(verdicts, "_MOST_ENTRIES", 3)
    assert trace_break(trace[1:]) is None and trace_break(trace[2:]) == 0
    assert trace_break([*trace[1:3], trace[1]]) == 2


def test_a_hash_is_that_of_the_entry_as_canonical_json() -> None:
    session = Session()
    session.record("Zähler", {"größe": "ü"}, HEAT)
    (entry,) = session.trace
    body = {key: value for key, value in entry.items() if key != "hash"}
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert entry["hash"] == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    assert entry["previous"] == f"sha256:{'0' * 64}"


def test_what_was_noted_is_chained_once_it_is_much_or_its_call_is_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(verdicts, "_MOST_ENTRIES", 2)
    session = recorded()
    session.check("Well.")
    assert len(session.verdicts._noted) == 2
    session.check("Well.")
    assert len(session.verdicts._noted) == 0
    session = recorded()
    session.check("Well.")
    session.verdicts.release(CallRecord("tc_1", "meter", {}, Survey({}), None))
    assert len(session.verdicts._noted) == 2
    session.verdicts.release(session._calls["tc_1"])
    assert len(session.verdicts._noted) == 0 and len(session.trace) == 2


def test_the_trace_says_which_numbers_of_a_json_text_nobody_can_claim() -> None:
    session = Session()
    session.record("foreign", {}, json.dumps({"n": 5, "rows": [*range(300)]}))
    session.record("foreign", {}, json.dumps({"x": "text"}))
    session.record("foreign", {}, {"heat": HEAT["heat"]})
    first, second, third = session.trace
    assert first["raw_numbers"][:2] == ["$.n", "$.rows[0]"] and len(first["raw_numbers"]) == 200
    assert "raw_numbers" not in second and "raw_numbers" not in third
    lax = Session(allow_raw_numbers=True)
    lax.record("meter", {}, {"n": 5})
    assert "raw_numbers" not in lax.trace[0]


def test_each_text_of_what_is_told_is_redacted() -> None:
    shout = Verdicts(str.upper)
    assert shout.redacted({"a": ["b", {"c": "d"}], "e": 5}) == {"a": ["B", {"c": "D"}], "e": 5}
    assert Verdicts().redacted(value := {"a": "b"}) is value


def test_a_verdict_under_the_names_of_the_conventions() -> None:
    passed = {"gen_ai.evaluation.name": "gllint", "gen_ai.evaluation.score.label": "pass"}
    assert evaluation({"verdict": "pass", "code": None, "error": None}) == {
        **passed,
        "gen_ai.evaluation.score.value": 1.0,
    }
    assert evaluation({"verdict": "warn", "code": "BASIS", "error": {}}) == {
        **passed,
        "gen_ai.evaluation.score.label": "warn",
        "gen_ai.evaluation.score.value": 0.0,
        "gen_ai.evaluation.explanation": "BASIS",
        "error.type": "BASIS",
    }

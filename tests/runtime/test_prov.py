"""``to_prov`` of an answer, and the chain of a session's trace."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gllint_runtime import Session, calculate, trace_break, using

ENDS = {
    "used": {"prov:activity": "activity", "prov:entity": "entity"},
    "wasGeneratedBy": {"prov:entity": "entity", "prov:activity": "activity"},
    "wasDerivedFrom": {"prov:generatedEntity": "entity", "prov:usedEntity": "entity"},
    "wasAssociatedWith": {"prov:activity": "activity", "prov:agent": "agent"},
}


def session() -> Session:
    session = Session(constants={"factor": 3})
    session.user("The house at site 7, please")
    session.record("meter", {"site": 7, "factor": 3}, {"heat": {"value": 1.5, "unit": "kWh"}})
    arguments = {"operation": "sum", "claims": [claim.to_dict() for claim in session.claimable()]}
    with using(session):
        session.record("calculate", arguments, calculate(**arguments))  # type: ignore[arg-type]
    return session


def is_value(value: Any) -> bool:
    return isinstance(value, str | int) or (
        isinstance(value, dict)
        and value.keys() == {"$", "type"}
        and all(isinstance(v, str) for v in value.values())
    )


def check_structure(document: dict[str, Any]) -> None:
    """Raise AssertionError for what is no PROV-JSON: kinds, qualified names, attributes, ends that exist."""
    prefixes = {*document["prefix"], "prov", "xsd", "_"}
    assert json.loads(json.dumps(document)) == document
    for kind, records in document.items():
        if kind == "prefix":
            continue
        assert kind in ENDS or kind in ("entity", "activity", "agent")
        for name, record in records.items():
            assert name.partition(":")[0] in prefixes
            if kind not in ENDS:
                assert all(
                    key.partition(":")[0] in prefixes and is_value(value) for key, value in record.items()
                )
                continue
            assert record.keys() == ENDS[kind].keys()
            for role, target in ENDS[kind].items():
                assert record[role] in document[target]


def test_an_answer_is_derived_from_all_that_its_numbers_come_from() -> None:
    claims = [claim.to_dict() for claim in session().claimable()][1:]
    document = session().check("It is {{claim:0}}, indeed {{claim:0}}.", claims).to_prov()
    check_structure(document)
    derived: dict[str, set[str]] = {}
    for relation in document["wasDerivedFrom"].values():
        derived.setdefault(relation["prov:generatedEntity"], set()).add(relation["prov:usedEntity"])
    assert derived == {
        "gllint:message": {"gllint:number-0"},
        "gllint:number-0": {"gllint:tc_2-output"},
        "gllint:tc_2-output": {"gllint:tc_1-output"},
    }
    assert document["entity"]["gllint:message"]["prov:value"] == "It is 1.50 kWh, indeed 1.50 kWh."
    assert document["entity"]["gllint:number-0"]["prov:value"] == {"$": "1.5", "type": "xsd:double"}


def test_what_the_user_said_and_constants_are_sources() -> None:
    claims = [claim.to_dict() for claim in session().claimable()]
    document = session().check("{{claim:0}} and {{claim:1}}", claims).to_prov()
    check_structure(document)
    used = {(one["prov:activity"], one["prov:entity"]) for one in document["used"].values()}
    assert {("gllint:tc_1", "gllint:user-message"), ("gllint:tc_1", "gllint:constant-1")} <= used
    assert document["entity"]["gllint:constant-1"]["prov:label"] == "factor"


def test_a_call_is_written_once_however_many_numbers_cite_it(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def sources(document: Any, origins: Any) -> list[str]:
        calls.append(len(origins))
        return []

    monkeypatch.setattr("gllint_runtime.prov._sources", sources)
    session = Session()
    session.record("meter", {}, {f"x{number}": {"value": number, "unit": "kWh"} for number in range(20)})
    claims = [claim.to_dict() for claim in session.claimable()]
    document = session.check("\n".join(f"- {{{{claim:{number}}}}}" for number in range(20)), claims).to_prov()
    check_structure(document)
    assert calls == [0]


def test_an_answer_without_a_number_has_a_document_too() -> None:
    document = Session().check("It is warm.").to_prov()
    check_structure(document)
    assert [*document["entity"]] == ["gllint:message"]


def test_a_changed_trace_says_which_entry() -> None:
    kept = session()
    kept.check("All is well.")
    assert trace_break(kept.trace) is None
    assert trace_break([]) is None
    assert trace_break(Session.from_json(kept.to_json()).trace) is None


def nested() -> list[Any]:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda trace: trace[1].update(tool="other"), 1),
        (lambda trace: trace[1]["arguments"].update(more=1), 1),
        (lambda trace: trace.pop(0), 0),
        (lambda trace: trace.pop(1), 1),
        (lambda trace: trace.reverse(), 0),
        (lambda trace: trace.insert(2, {**trace[0]}), 2),
        (lambda trace: trace[2].pop("hash"), 2),
        (lambda trace: trace.append(None), 3),
        (lambda trace: trace.append({"previous": nested(), "hash": "sha256:"}), 3),
    ],
)
def test_each_change_of_a_trace_is_noticed(change: Any, place: int) -> None:
    kept = session()
    kept.check("All is well.")
    trace = kept.trace
    change(trace)
    assert trace_break(trace) == place

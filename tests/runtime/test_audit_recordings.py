"""One recording in the shape of each vendor and framework: its right answer passes, its wrong one does not.

A line of ``recordings.jsonl`` is a recording as the vendor's own types write it, with ``@N@`` in the place of the number.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gllint_runtime.audit.audit import judged_records
from gllint_runtime.audit.formats import FormatError, Reader
from gllint_runtime.audit.judgement import Conversation
from gllint_runtime.audit.mapping import MappedReader

ROWS = {
    row["name"]: row
    for row in map(
        json.loads, Path(__file__).with_name("recordings.jsonl").read_text(encoding="utf-8").splitlines()
    )
}


def conversations(row: dict[str, Any], number: str) -> list[Conversation]:
    run = json.loads(json.dumps(row["run"]).replace("@N@", number))
    reader = Reader()
    return [*judged_records(map(reader.read, run if row["is_lines"] else [run]), None, reader)]


def verdicts(row: dict[str, Any], number: str) -> dict[str, str]:
    return {
        one.text: one.verdict for conversation in conversations(row, number) for one in conversation.numbers
    }


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row["is_read"]])
def test_the_right_answer_passes_and_the_wrong_one_does_not(name: str) -> None:
    right, wrong = (verdicts(ROWS[name], number) for number in ("1,234.56", "1,299.4"))
    assert right.keys() == {"1,234.56", "1,100"} and wrong.keys() == {"1,299.4", "1,100"}
    assert {right["1,100"], wrong["1,100"]} <= {"sourced", "quoted"}
    assert right["1,234.56"] in ("sourced", "quoted")
    assert wrong["1,299.4"] == "unsourced"


@pytest.mark.parametrize(
    "name", [name for name, row in ROWS.items() if not row["is_read"] and name != "unknown-shape"]
)
def test_where_the_results_cannot_be_read_no_number_is_called_unsourced(name: str) -> None:
    for number in ("1,234.56", "1,299.4"):
        read = conversations(ROWS[name], number)
        assert any(one.has_results_unread for one in read)
        assert "unsourced" not in [one.verdict for conversation in read for one in conversation.numbers]
        assert "some tool results cannot be read: 1 number of the answers not judged" in read[-1].notes


def test_what_a_stream_cuts_is_one_answer() -> None:
    chunks = [
        {"id": "a", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": text}}]}
        for text in ("It used 1,2", "34.56", " kWh.")
    ]
    call: Any = {"name": "meter", "arguments": '{"site"'}
    rest: Any = {"arguments": ': "north"}'}
    calls = [
        {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"tool_calls": [part]}}]}
        for part in ({"index": 0, "id": "c1", "function": call}, {"index": 0, "function": rest})
    ]
    result = {"role": "tool", "tool_call_id": "c1", "content": '{"heat_kwh": 1234.56}'}
    row = {"run": [*calls, result, *chunks], "is_lines": True}
    assert [answer.text for one in conversations(row, "") for answer in one.answers] == [
        "It used 1,234.56 kWh."
    ]
    assert verdicts(row, "") == {"1,234.56": "sourced"}


def test_a_calendar_word_counts_from_the_day_of_the_recording() -> None:
    run = [
        {"type": "user", "timestamp": "2025-06-03T10:00:00Z", "message": {"role": "user", "content": "When?"}},
        {"type": "assistant", "timestamp": "2025-06-03T10:00:01Z", "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": "t", "name": "trains", "input": {}}]}},
        {"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": '{"date": "2025-06-04"}'}]}},
        {"type": "assistant", "message": {"role": "assistant", "content": "Tomorrow, June 4."}},
    ]  # fmt: skip
    assert {*verdicts({"run": run, "is_lines": True}, "").values()} == {"sourced"}


TURNS = {
    "session": {"id": "s9"},
    "turns": [
        {"who": "customer", "say": {"txt": "How much? We planned 1,100 kWh."}},
        {"who": "robot", "act": {"fn": "meter", "in": '{"site": "north"}', "n": "k1"}},
        {"who": "api", "out": {"of": "k1", "body": {"heat": {"value": 1234.56, "unit": "kWh"}}}},
        {"who": "robot", "say": {"txt": "It used 1,234.56 kWh of 1,100 kWh, and 77.3 kWh are lost."}},
    ],
}
PATHS = """
conversation = "$.session.id"
role = "$.turns[*].who"
text = "$.turns[*].say.txt"
call = {id = "$.turns[*].act.n", tool = "$.turns[*].act.fn", arguments = "$.turns[*].act.in"}
result = {id = "$.turns[*].out.of", value = "$.turns[*].out.body"}
roles = {customer = "user", robot = "assistant"}
"""


def mapped(text: str, *records: Any) -> list[tuple[str, dict[str, str]]]:
    reader = MappedReader(text)
    return [
        (one.conversation, {number.text: number.verdict for number in one.numbers})
        for one in judged_records(map(reader.read, records), None, reader)
    ]


def test_a_map_names_the_paths_of_any_other_recording() -> None:
    expected = {"1,234.56": "sourced", "1,100": "quoted", "77.3": "unsourced"}
    assert mapped(PATHS, TURNS) == [("s9", expected)]
    with pytest.raises(FormatError, match="`--map FILE` names its paths"):
        Reader().read(TURNS)
    lines = [{**turn, "chat": "c"} for turn in TURNS["turns"]]
    paths = {
        "conversation": "chat",
        "role": "who",
        "text": "say.txt",
        "result": "out.body",
        "roles": {"customer": "user", "robot": "assistant"},
    }
    assert mapped(json.dumps(paths), *lines) == [("c", expected)]
    whole = {
        **TURNS,
        "turns": [TURNS["turns"][0], {**TURNS["turns"][1], **TURNS["turns"][2], **TURNS["turns"][3]}],
    }
    assert mapped(PATHS, whole) == [("s9", expected)]
    calls = [{"speaker": "assistant", "call": {"name": "meter", "arguments": {}}}, {"speaker": "tool", "text": '{"a": 7.25}'}, {"speaker": "model", "text": "It is 7.25."}]  # fmt: skip
    assert mapped('role = "[*].speaker"\ntext = "[*].text"\ncall = "[*].call"', calls) == [
        ("1", {"7.25": "sourced"})
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('rolle = "who"', "'rolle' is none of its keys: conversation, role, text, call, result, roles"),
        ("{}", "it names no path of a text"),
        ("=", "it is neither JSON nor TOML"),
    ],
)
def test_a_map_that_cannot_be_read_is_reported(text: str, complaint: str) -> None:
    with pytest.raises(FormatError, match=complaint):
        MappedReader(text)


def test_a_role_that_no_map_names_is_reported() -> None:
    with pytest.raises(FormatError, match="the role 'wizard' is none of assistant, system, tool, user"):
        MappedReader('role = "who"\ntext = "say"').read({"who": "wizard", "say": "5"})

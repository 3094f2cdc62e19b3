"""``gllint audit``: files of every shape, what it prints and how it exits."""

from __future__ import annotations

import gc
import io
import json
import os
from itertools import islice
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from gllint.cli import commands
from gllint.errors import UsageError
from gllint.files import records
from gllint.files.records import entries

HEAT = {"heat": {"value": 1234.56, "unit": "kWh"}}


def run_of(answer: str) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": "How much?"},
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "meter", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": json.dumps(HEAT)},
        {"role": "assistant", "content": answer},
    ]


GOOD, BAD = run_of("It used 1,235 kWh."), run_of("It used 1,299 kWh\nin all.")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def audit(*arguments: str) -> int:
    return commands.run(["audit", *arguments])


def test_the_exit_status_says_whether_a_number_lacks_its_source(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "good.json").write_text(json.dumps(GOOD))
    (folder / "bad.json").write_text(json.dumps(BAD))
    assert audit("good.json") == 0
    assert capsys.readouterr().out == "1 conversation, 1 answer, 1 number: 1 sourced.\n"
    assert audit("bad.json", "good.json") == 1
    assert capsys.readouterr().out == (
        "bad.json: conversation 1, answer 1, characters 8-13: unsourced `1,299 kWh`\n"
        "    It used [1,299] kWh in all.\n"
        "2 conversations, 2 answers, 2 numbers: 1 unsourced, 1 sourced.\n"
    )


SHAPES = {
    "a conversation": json.dumps(BAD),
    "pretty printed": json.dumps(BAD, indent=2),
    "an object": json.dumps({"id": "x", "messages": BAD}, indent=1),
    "a list of conversations": json.dumps([{"messages": BAD}]),
    "a pretty list of conversations": json.dumps([{"messages": BAD}], indent=2),
    "a line for a conversation": json.dumps({"messages": BAD}) + "\n\n",
    "a line for a message": "".join(json.dumps(message) + "\n" for message in BAD),
    "a line for a message of a thread": "".join(json.dumps({"thread_id": "t", **one}) + "\n" for one in BAD),
    "with a mark of its encoding": "\ufeff" + json.dumps(BAD),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_files_of_every_shape_are_read(shape: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "run.jsonl").write_text(SHAPES[shape], encoding="utf-8")
    assert audit("run.jsonl", "--output-format", "json") == 1
    [number] = json.loads(capsys.readouterr().out)
    assert (number["path"], number["text"], number["verdict"]) == ("run.jsonl", "1,299", "unsourced")


def test_standard_input_and_folders(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(json.dumps(BAD).encode()))
    monkeypatch.setattr("sys.stdin", stdin)
    assert audit("-") == 1
    (folder / "runs" / "may").mkdir(parents=True)
    (folder / "runs" / "may" / "a.jsonl").write_text(json.dumps(BAD))
    (folder / "runs" / "b.json").write_text(json.dumps(GOOD))
    for name in ("notes.txt", "a.JSON.lock", "a.jsonl.dvc", "a.jsonl.sha256"):
        (folder / "runs" / name).write_text("no run")
    (folder / "runs" / "latest").symlink_to(folder / "runs")
    assert audit("runs", "-q") == 1
    assert "runs/may/a.jsonl: conversation 1" in capsys.readouterr().out
    (folder / "empty").mkdir()
    for missing in ("empty", "nowhere.json"):
        with pytest.raises(UsageError, match=missing):
            audit(missing)


@pytest.mark.parametrize(
    ("content", "trouble"),
    [
        (b"", "it is empty"),
        (b"{", "it is not valid JSON"),
        (b"[]", "contains no conversation"),
        (b"{}\n{}\n", "contains no conversation"),
        (
            b"[\n" + json.dumps(GOOD[0]).encode() + b"\n]\n{oops",
            "line 1 behind the list: it is not valid JSON",
        ),
        (b"[1, 2]", "a number among messages is in no known format"),
        (b'{"a": 1}', "an object with the key 'a' is no conversation"),
        (b"\xff\xfe\x00", "it is not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'[{"messages": []},\n {"messages"', "element 2: it is not valid JSON"),
        (json.dumps({"messages": BAD}).encode() + b"\n{oops\n", "line 2: it is not valid JSON"),
        (b'{"role": "wizard", "content": "5"}\n', "line 1: an item with the role 'wizard'"),
    ],
)
def test_what_cannot_be_read_is_told_and_exits_with_two(
    content: bytes, trouble: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "run.json").write_bytes(content)
    (folder / "good.json").write_text(json.dumps(GOOD))
    assert audit("run.json", "good.json") == 2
    told = capsys.readouterr()
    assert trouble in told.err and "Traceback" not in told.err
    assert "1 sourced" in told.out


@pytest.mark.parametrize("shape", ["LIST", '{"messages": LIST}', "[\nITEMS\n]"])
def test_no_line_behind_a_long_first_one_is_left_out(
    shape: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "_CHUNK", 100)
    first = shape.replace("LIST", json.dumps(GOOD)).replace("ITEMS", json.dumps(GOOD)[1:-1])
    lines = [first, json.dumps({"messages": GOOD}), json.dumps({"messages": BAD})]
    (folder / "run.jsonl").write_text("\n".join(lines))
    assert audit("run.jsonl") == 1
    assert "3 conversations, 3 answers, 3 numbers: 1 unsourced, 2 sourced" in capsys.readouterr().out


@pytest.mark.parametrize(
    "run",
    [
        {"request": {"messages": GOOD[:1]}, "response": {"reply": "It used 1,299 kWh."}},
        {"a": {"messages": GOOD[:1]}, "b": {"said": ["It used 1,299 kWh."]}},
        {"prompt": "How much?", "response": {"final": "It used 1,299 kWh."}},
    ],
)
def test_an_answer_in_what_is_passed_over_is_told(
    run: Any, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "run.json").write_text(json.dumps(run))
    assert audit("run.json") == 2
    told = capsys.readouterr().out
    assert "passed over" in told and "has no answer that can be read" in told


def test_what_a_folder_holds_beside_runs_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "runs").mkdir()
    (folder / "runs" / "a.JSON").write_text(json.dumps(GOOD))
    for name in ("notes.txt", "a.JSON.lock", "a.jsonl.dvc", "a.jsonl.sha256"):
        (folder / "runs" / name).write_text("no run")
    (folder / "runs" / "latest").symlink_to(folder / "runs")
    assert audit("runs") == 0
    (folder / "runs" / "old.jsonl.1").write_text(json.dumps(BAD))
    (folder / "runs" / "linked").symlink_to(folder / "elsewhere")
    capsys.readouterr()
    assert audit("runs") == 2
    told = capsys.readouterr().err
    assert "old.jsonl.1: not read: its name must end in one of .json, .jsonl, .ndjson" in told
    assert "linked: not read: this link leads out of the folder; pass it to have it read" in told


def test_what_cannot_be_read_on_the_way_hides_no_other_file(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe, which would be waited for, a link that leads nowhere, a folder that cannot be listed."""
    top = folder / "runs"
    top.mkdir()
    (top / "nowhere.json").symlink_to("gone")
    if hasattr(os, "mkfifo"):
        os.mkfifo(top / "pipe.json")
    (top / "z.json").write_text(json.dumps(GOOD))
    assert audit("runs") == 2
    told = capsys.readouterr()
    assert "1 sourced" in told.out and "nowhere.json: cannot be read" in told.err
    (top / "nowhere.json").unlink()
    (top / "pipe.json").unlink(missing_ok=True)
    walk = os.walk

    def unlisted(path: str, onerror: Any) -> Any:
        onerror(PermissionError(13, "Permission denied", f"{path}/shut"))
        return walk(path)

    monkeypatch.setattr(os, "walk", unlisted)
    assert audit("runs") == 2
    assert "shut: cannot be listed: Permission denied" in capsys.readouterr().err


def test_a_broken_line_hides_no_other(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [json.dumps({"messages": BAD}), "{oops", json.dumps({"id": "last", "messages": BAD})]
    (folder / "run.jsonl").write_text("\n".join(lines))
    assert audit("run.jsonl") == 2
    told = capsys.readouterr()
    assert "conversation last" in told.out and "line 2" in told.err


def test_a_baseline_leaves_out_what_it_holds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "run.json").write_text(json.dumps(BAD))
    assert audit("run.json", "--write-baseline", "known.json") == 0
    capsys.readouterr()
    assert audit("run.json", "--baseline", "known.json") == 0
    assert "1 number is known from the baseline." in capsys.readouterr().out
    (folder / "run.json").write_text(json.dumps(run_of("It used 1,300 kWh.")))
    assert audit("run.json", "--baseline", "known.json") == 1
    with pytest.raises(UsageError):
        audit("run.json", "--baseline", "run.json")


def test_junit_and_the_page_are_well_formed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "run.jsonl").write_text(f"{json.dumps({'messages': BAD})}\n{json.dumps({'messages': GOOD})}")
    assert audit("run.jsonl", "--output-format", "junit") == 1
    document = ElementTree.fromstring(capsys.readouterr().out)
    assert [len(case) for case in document.iter("testcase")] == [1, 0]
    assert audit("run.jsonl", "--output-format", "html", "--output-file", "page.html") == 1
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "Conversation 1 of run.jsonl" in page and 'class="n unsourced"' in page
    (folder / "run.json").write_text(json.dumps([*GOOD, *BAD[3:]]))  # told answer by answer
    assert audit("run.json", "--output-format", "junit") == 1
    cases = [*ElementTree.fromstring(capsys.readouterr().out).iter("testcase")]
    assert len(cases) == 1 and len(cases[0]) == 1
    assert audit("run.json", "--output-format", "html") == 1
    said = capsys.readouterr().out
    assert "<p>1 conversation, 2 answers, 2 numbers.</p>" in said


def test_the_project_says_what_is_whitelisted(folder: Path) -> None:
    (folder / "run.json").write_text(json.dumps(run_of("It is in scope 3.")))
    assert audit("run.json", "-q") == 1
    (folder / "pyproject.toml").write_text("[tool.gllint]\nwhitelist-patterns = ['scope [123]']\n")
    assert audit("run.json", "-q") == 0


def test_an_audit_takes_away_garbage(folder: Path) -> None:
    """``main`` switches this off for short runs."""
    (folder / "good.json").write_text(json.dumps(GOOD))
    gc.disable()
    try:
        assert audit("good.json") == 0 and gc.isenabled()
    finally:
        gc.enable()


def test_memory_holds_one_record_of_a_long_array() -> None:
    class Endless(io.StringIO):
        """An array that is made while it is read."""

        longest = 0

        def readline(self, size: int | None = -1) -> str:  # type: ignore[override]
            return "["

        def read(self, size: int | None = -1) -> str:
            self.longest = max(self.longest, size or 0)
            return '{"messages": []},' * 1000

    stream = Endless()
    for entry in islice(entries(stream), 100_000):
        assert entry.value == {"messages": []}
    assert stream.longest <= 1 << 21


def _calls(tool: str, arguments: object, returned: object = None) -> list[dict[str, object]]:
    call = {"id": "c9", "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
    messages: list[dict[str, object]] = [
        {"role": "user", "content": "How much?"},
        {"role": "assistant", "tool_calls": [call]},
    ]
    if returned is not None:
        messages.append({"role": "tool", "tool_call_id": "c9", "content": returned})
    return messages


@pytest.mark.parametrize(
    ("tool", "returned"),
    [
        ("final_answer", None),
        ("final_result", "Final result processed."),
        ("final_result_Report", "Final result processed."),
        ("Report", "Final result processed."),
        ("Report", "Returning structured response: text='It costs 777 EUR.'"),
    ],
)
def test_an_answer_in_the_arguments_of_a_call(
    folder: Path, capsys: pytest.CaptureFixture[str], tool: str, returned: str | None
) -> None:
    answer = {"text": "It costs 777 EUR.", "level_2": 3, "done": True}
    (folder / "run.json").write_text(json.dumps(_calls(tool, answer, returned)))
    assert audit("run.json") == 1
    said = capsys.readouterr().out
    assert "unsourced `777 EUR`" in said
    assert "1 conversation, 1 answer, 2 numbers: 2 unsourced." in said


@pytest.mark.parametrize("messages", [[], [{"role": "user", "content": "How much?"}]])
def test_an_audit_without_an_answer_has_judged_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], messages: list[Any]
) -> None:
    (folder / "run.json").write_text(json.dumps({"messages": messages}))
    (folder / "good.json").write_text(json.dumps(GOOD))
    assert audit("run.json") == 2
    assert (
        "gllint: nothing was checked: the recordings contain no answer of an assistant\n"
        in capsys.readouterr().err
    )
    assert audit("run.json", "good.json") == 0


def test_an_answer_that_cannot_be_read_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "run.json").write_text(json.dumps(_calls("meter", {"site": 4}, "5 kWh")))
    assert audit("run.json") == 2
    said = capsys.readouterr().out
    assert "note: it calls tools and has no answer that can be read" in said
    assert "1 conversation, 0 answers, 0 numbers. 1 conversation has no readable answer." in said


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("There were 12 people.", "12 people"),
        ("It is 10,000 miles away.", "10,000 miles"),
        ("It costs $150.", "$150"),
        ("It used 480 kg of CO2e.", "480 kgCO2e"),
        ("It used 480 kWh.", "480 kWh"),
    ],
)
def test_a_unit_is_shown_as_it_is_typed(
    folder: Path, capsys: pytest.CaptureFixture[str], answer: str, shown: str
) -> None:
    (folder / "run.json").write_text(json.dumps(run_of(answer)))
    assert audit("run.json") == 1
    assert f"unsourced `{shown}`" in capsys.readouterr().out


def test_every_output_says_what_was_not_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = {"role": "assistant", "content": "It used 1,299 kWh.", "actionLog": [{"seen": "1,299 kWh"}]}
    (folder / "run.json").write_text(json.dumps({"messages": [GOOD[0], said]}))
    note = "'actionLog' was passed over"
    for name in ("text", "json", "json-lines", "junit", "sarif", "html"):
        assert audit("run.json", "--output-format", name, "-q") == 2
        out = capsys.readouterr().out
        assert (note in out or note.replace("'", "&#x27;") in out) and "unsourced `" not in out


def test_the_outputs_for_machines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.json").write_text(json.dumps(BAD))
    assert audit("bad.json", "--output-format", "json-lines", "-q") == 1
    assert [json.loads(line)["verdict"] for line in capsys.readouterr().out.splitlines()] == ["unsourced"]
    assert audit("bad.json", "--output-format", "sarif", "-q") == 1
    [run] = json.loads(capsys.readouterr().out)["runs"]
    [result] = run["results"]
    assert result["ruleId"] == "unsourced" and "1,299" in result["message"]["text"]


def test_figures_and_what_each_mode_would_reject(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.json").write_text(json.dumps({"model": "m1", "messages": BAD}))
    (folder / "good.json").write_text(json.dumps({"model": "m2", "messages": GOOD}))
    assert (
        audit("bad.json", "good.json", "--stats", "--judge", "claims,sourced", "--output-format", "json") == 1
    )
    stats = json.loads(capsys.readouterr().err.splitlines()[-2])
    assert stats["answers_with_faults"] == {"count": 1, "of": 2, "interval": [0.0945, 0.9055]}
    assert (stats["tools"], stats["models"]["m2"]["count"]) == ({"meter": 1}, 0)
    # In the answer without a fault one number is tried, which no tool returned.
    assert stats["invented_that_pass"] == {"count": 0, "of": 1, "interval": [0.0, 0.7935]}
    assert audit("bad.json", "good.json", "--stats", "--judge", "claims,sourced") == 1
    out = capsys.readouterr().out
    assert "Of 2 answers claims would reject 2, sourced would reject 1; both 1.\n" in out
    assert "answers of m1: 1 of 1 (95 %: 20.6% to 100.0%)\n" in out
    assert "invented numbers that would pass: 0 of 1 (95 %: 0.0% to 79.3%)\n" in out
    every = {"rows": [{"kwh": number} for number in range(10, 100)]}
    anything = [
        *BAD[:2],
        {**BAD[2], "content": json.dumps(every)},
        {"role": "assistant", "content": "It is 42 kWh."},
    ]
    (folder / "any.json").write_text(json.dumps(anything))
    audit("any.json", "--stats", "--output-format", "json")
    stats = json.loads(capsys.readouterr().err.splitlines()[-1])
    assert stats["invented_that_pass"]["count"] == stats["invented_that_pass"]["of"] == 1
    with pytest.raises(UsageError, match="must be two modes"):
        audit("bad.json", "--judge", "sourced")


def test_a_file_of_paths_is_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "run.jsonl").write_text('{"who": "assistant", "say": "It is 77.3."}\n')
    (folder / "map.json").write_text('{"role": "who", "text": "say"}')
    assert audit("run.jsonl", "--map", "map.json") == 1
    (folder / "map.json").write_text('{"roel": "who"}')
    with pytest.raises(UsageError, match="map.json: 'roel' is none of its keys"):
        audit("run.jsonl", "--map", "map.json")

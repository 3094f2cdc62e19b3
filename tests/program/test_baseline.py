"""The baseline: old findings stay known however the code moves, new ones are reported."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from gllint.errors import UsageError
from gllint.verdict import baseline
from gllint.verdict.fingerprint import Fingerprint, fingerprints, scopes
from gllint.verdict.suppress import Comments
from gllint_rules import Finding, Span

Write = Callable[..., Path]
Run = Callable[..., Any]
Check = Callable[..., list[str]]

FUNCTIONS = [
    f'''\
@tool
def tool_{n}(site: str) -> dict:
    """Tool {n}."""
    value = helper_{n}(site)
    return {{"site": site, "total": {n}.5 * 2, "text": value}}
'''
    for n in range(6)
] + [f"def helper_{n}(site):\n    return site.title()\n" for n in range(6)]
HEAD = "from langchain_core.tools import tool\n"
TAIL = '''\
FINAL_MESSAGE = """
Used 500 kWh
and 600 kWh.
"""
'''


def module(functions: list[str]) -> str:
    return "\n\n".join([HEAD, *functions, TAIL])


def findings(check: Check, top: Path, *arguments: str) -> list[str]:
    return check("--baseline", "base.json", *arguments, cwd=top, whole=True)


@pytest.fixture
def old(write: Write, run: Run) -> Path:
    """A project with a baseline of its eight findings."""
    top = write({"a.py": module(FUNCTIONS), "clean.py": "x = 1\n"})
    done = run("check", "--write-baseline", "base.json", cwd=top)
    assert (done.returncode, done.stderr.decode()) == (0, "Wrote 8 findings to base.json.\n")
    return top


def test_what_is_known_is_not_reported(old: Path, check: Check) -> None:
    assert findings(check, old) == []
    before = (old / "base.json").read_bytes()
    assert findings(check, old) == []
    assert (old / "base.json").read_bytes() == before


def edited(functions: list[str], chance: random.Random) -> list[str]:
    """The functions after one edit that moves code: the findings are the same ones."""
    functions = list(functions)
    match chance.randrange(4):
        case 0:
            at = chance.randrange(len(functions))
            functions[at] = "\n" * chance.randrange(1, 4) + "# moved\n" + functions[at]
        case 1:
            chance.shuffle(functions)
        case 2:
            functions.insert(
                chance.randrange(len(functions)),
                f"def extra_{chance.random():.9f}():\n    pass\n".replace("0.", ""),
            )
        case _:
            at = chance.randrange(len(functions))
            head, _, body = functions[at].partition(":\n")
            functions[at] = f"{head}:\n    # a remark\n{body}"
    return functions


def test_edits_bring_no_old_finding_back_and_hide_no_new_one(old: Path, check: Check) -> None:
    chance = random.Random(11)
    functions = list(FUNCTIONS)
    for step in range(50):
        functions = edited(functions, chance)
        planted = step % 10 == 9
        text = module(functions)
        if planted:
            text += f'final_message = "planted {step} kWh"\n'
        (old / "a.py").write_text(text)
        reported = findings(check, old)
        assert [line.split()[1] for line in reported] == (["GL401"] if planted else []), (step, reported)
        assert not planted or f"`{step}`" in reported[0]


def test_a_fix_and_a_regression_do_not_cancel_out(old: Path, check: Check) -> None:
    functions = list(FUNCTIONS)
    functions[0] = functions[0].replace("0.5 * 2", "None")
    functions[1] = functions[1].replace('"text": value', '"text": 0.5 * 2')
    (old / "a.py").write_text(module(functions))
    assert len(findings(check, old)) == 2  # both of the line that was edited


def test_a_second_finding_of_the_same_line_is_new(old: Path, check: Check) -> None:
    (old / "a.py").write_text(module(FUNCTIONS) + TAIL.replace("FINAL_MESSAGE", "final_message"))
    assert len(findings(check, old)) == 2


def test_a_moved_file_and_a_renamed_function_keep_their_findings(old: Path, check: Check) -> None:
    (old / "sub").mkdir()
    (old / "a.py").rename(old / "sub/b.py")
    assert findings(check, old) == []
    text = (old / "sub/b.py").read_text().replace("def tool_3", "def tool_three")
    (old / "sub/b.py").write_text(text)
    assert findings(check, old) == []


def test_an_edited_line_is_new(old: Path, check: Check) -> None:
    text = module(FUNCTIONS)
    for edit in (
        ('{"site": site, "total": 0.5 * 2,', '{"site": site.upper(), "total": 0.5 * 2,'),
        ('"total": 0.5 * 2,', '"total": 0.5 * 3,'),
        ("Used 500 kWh", "Used 500 kWh of heat"),
        ("Used 500 kWh", "Used 501 kWh"),
    ):
        assert edit[0] in text
        (old / "a.py").write_text(text.replace(*edit))
        assert len(findings(check, old)) == 1, edit
    # A second edit of a known line is as new as the first.
    (old / "a.py").write_text(text.replace("title()", "upper()"))
    assert findings(check, old) == []


def test_what_is_fixed_is_named_and_nothing_is_written(old: Path, run: Run) -> None:
    before = (old / "base.json").read_bytes()
    (old / "base.json").chmod(0o444)
    (old / "a.py").write_text(module(FUNCTIONS).replace("600", "many"))
    for options in ([], ["--fix"], ["--diff"], ["--output-format", "json"]):
        done = run("check", "--baseline", "base.json", *options, cwd=old)
        assert done.returncode == 0, options
        said = done.stderr.decode()
        assert "No longer found: a.py: GL401 and 600 kWh." in said
        assert "1 entry is fixed: remove it with `--prune-baseline`." in said
        assert (old / "base.json").read_bytes() == before


def test_a_diff_says_what_its_fixes_would_take_out(write: Write, run: Run) -> None:
    tool = """\
from langchain_core.tools import tool


@tool
def f(xs: list) -> dict:
    return {"load": {"value": 3.5, "unit": "kwh"}}
"""
    top = write({"gllint.toml": "", "a.py": tool})
    run("check", "--write-baseline", "base.json", cwd=top)
    said = run("check", "--baseline", "base.json", "--diff", cwd=top).stderr.decode()
    assert "Would fix 1 finding" in said and "Would no longer be found: a.py: GL501" in said
    assert "1 entry would be fixed: remove it with `--prune-baseline`." in said
    assert "Gone since" not in said


def test_pruning_takes_out_what_is_gone_and_says_so(old: Path, run: Run, check: Check) -> None:
    (old / "a.py").write_text(module(FUNCTIONS).replace("600", "many") + 'final_message = "7 kWh"\n')
    done = run("check", "--baseline", "base.json", "--prune-baseline", cwd=old)
    assert done.returncode == 1  # of the new one
    assert "Removed 1 finding from base.json." in done.stderr.decode()
    kept = (old / "base.json").read_bytes()
    entries = json.loads(kept)["findings"]
    assert len(entries) == 7
    assert not any("600" in entry["text"] or "7 kWh" in entry["text"] for entry in entries)
    again = run("check", "--baseline", "base.json", "--prune-baseline", cwd=old)
    assert "Took" not in again.stderr.decode()
    assert (old / "base.json").read_bytes() == kept
    (old / "a.py").write_text(module(FUNCTIONS))
    assert len(findings(check, old)) == 1


def test_pruning_needs_a_baseline_and_a_difference_writes_none(old: Path, run: Run) -> None:
    before = (old / "base.json").read_bytes()
    for options in (
        ["--prune-baseline"],
        ["--baseline", "base.json", "--write-baseline", "base.json"],
        ["--baseline", "base.json", "--prune-baseline", "--diff"],
        ["--diff", "--write-baseline", "new.json"],
        ["--diff", "--add-noqa"],
    ):
        done = run("check", *options, cwd=old)
        assert done.returncode == 2, options
        assert len(done.stderr.decode().splitlines()) == 1
    assert (old / "base.json").read_bytes() == before
    assert not (old / "new.json").exists()


def test_pruning_what_was_not_checked_takes_nothing(old: Path, run: Run) -> None:
    before = (old / "base.json").read_bytes()
    for options in (["clean.py"], ["--select", "GL5"], ["--isolated", "--exclude", "a.py"]):
        run("check", *options, "--baseline", "base.json", "--prune-baseline", cwd=old)
        assert (old / "base.json").read_bytes() == before, options


@pytest.mark.parametrize("content", ["x = 1\n", "{}", '[{"version": 1}]', "\0\1"])
def test_only_a_baseline_is_written_over(old: Path, run: Run, content: str) -> None:
    (old / "mine").write_text(content)
    done = run("check", "--write-baseline", "mine", cwd=old)
    assert done.returncode == 2
    assert "exists and is not a baseline" in done.stderr.decode()
    assert (old / "mine").read_text() == content


def test_a_broken_or_empty_baseline_is_written_anew(old: Path, run: Run) -> None:
    sound = (old / "base.json").read_bytes()
    for content in (b"", b"\n", sound[:100], b"{" + sound[1:].replace(b'"version": 1', b'"version": 7')):
        (old / "base.json").write_bytes(content)
        assert run("check", "--write-baseline", "base.json", cwd=old).returncode == 0
        assert (old / "base.json").read_bytes() == sound


@pytest.mark.parametrize(("options", "found"), [(["new.py"], 1), (["--select", "GL5"], 0)])
def test_what_was_not_checked_stays_in_a_baseline_written_again(
    old: Path, run: Run, options: list[str], found: int
) -> None:
    before = baseline.read(str(old / "base.json"))
    (old / "new.py").write_text('FINAL_MESSAGE = "Used 700 kWh"\n')
    for _ in range(2):
        done = run("check", *options, "--write-baseline", "base.json", cwd=old)
        wrote, kept = done.stderr.decode().splitlines()
        assert wrote == f"Wrote {found} finding{'' if found else 's'} to base.json."
        assert kept == "It keeps 8 findings of files that were not checked."
        after = baseline.read(str(old / "base.json"))
        assert len(after) == 8 + found and {*before} <= {*after}


def test_what_was_not_checked_is_not_taken_for_fixed(old: Path, check: Check) -> None:
    before = (old / "base.json").read_bytes()
    assert findings(check, old, "clean.py") == []
    assert findings(check, old, "--select", "GL5") == []
    assert (old / "base.json").read_bytes() == before


def entry(**changed: Any) -> dict[str, Any]:
    return {"code": "GL401", "path": "a.py", "scope": "", "text": "x", "target": "x"} | changed


def of(*entries: Any) -> bytes:
    return json.dumps({"version": 1, "findings": list(entries)}).encode()


BROKEN = {
    "missing": None,
    "empty": b"",
    "list": b"[]",
    "object": b"{}",
    "no text": b"\xff",
    "binary": bytes(range(256)),
    "a later version": b'{"version": 2, "findings": []}',
    "true for one": b'{"version": true, "findings": []}',
    "a point": b'{"version": 1.0, "findings": []}',
    "no findings": b'{"version": 1}',
    "findings null": b'{"version": 1, "findings": null}',
    "findings object": b'{"version": 1, "findings": {}}',
    "twice": b'{"version": 1, "findings": [{}], "findings": []}',
    "an entry that lacks": of({"code": "GL401"}),
    "an entry that is a number": of(3),
    "null": of(None),
    "a list": of([]),
    **{f"{name} {value!r}": of(entry(**{name: value}))
       for name in ("code", "path", "scope", "text", "target") for value in (1, None, True, [], {}, 1.5)},
    **{f"count {value!r}": of(entry(count=value))
       for value in (0, -1, 100_000_000, 10**30, 1.5, True, None, "1", [], {})},
    "many of many": of(*[entry(count=900_000, text=str(n)) for n in range(50)]),
    "infinite count": of(entry(count=float("inf"))),
    "no number": of(entry(count=float("nan"))),
    "too large": of(entry(count=7)).replace(b"7", b"1e999"),
    "digits": of(entry(count=7)).replace(b"7", b"7" * 5000),
    "deep": b'{"version": 1, "findings": ' + b"[" * 100_000,
    "deep objects": b'{"version": 1, "findings": ' + b'{"a":' * 100_000,
    "a null byte": of(entry(path="a\0.py")),
    "a lone surrogate": of(entry(path="a\ud800.py")),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_baseline_is_one_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / "base.json"
    if (content := BROKEN[name]) is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        baseline.read(str(path))
    said = str(caught.value)
    assert said.startswith(f"{path}: ") and said.endswith("write one with --write-baseline")
    assert said.isprintable() and len(said) < 400


@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "loop"])
def test_a_baseline_that_is_no_file_is_not_waited_for(write: Write, run: Run, kind: str) -> None:
    top = write({"a.py": ""})
    path = top / "base.json"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero" if kind == "device" else "base.json")
    for option in ("--baseline", "--write-baseline"):
        done = run("check", option, "base.json", cwd=top)
        assert done.returncode == 2
        (line,) = done.stderr.decode().splitlines()
        assert "base.json: cannot be " in line


def test_odd_texts_and_far_paths_are_no_harm(old: Path, run: Run) -> None:
    odd = [
        entry(text="\0\ud800\x1b[31m\u202e", scope="\0", target="\ud800"),
        entry(path="/etc/passwd"),
        entry(path="../" * 50 + "etc/passwd", scope="a.b"),
        entry(path=""),
        entry(path="a.py" * 2000),
        entry(path="\udcff.py", count=3),
        entry(code="\x1b]0;x\x07"),
    ]
    document = json.loads((old / "base.json").read_text())
    document["findings"] += odd
    (old / "base.json").write_text(json.dumps(document))
    done = run("check", "--baseline", "base.json", "--prune-baseline", cwd=old)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stderr.decode()


def test_many_equal_findings_are_matched_quickly() -> None:
    many = [Fingerprint("GL401", "a.py", "", "x", "x", nth) for nth in range(100_000)]
    found = [Finding("GL401", "a.py", Span(1, 1, 1, 2), "m")] * 100_000
    compared = baseline.compare(
        many, found, many, was_checked=lambda _: True, has_scope=lambda *_: True, exists=lambda _: True
    )
    assert (compared.new, len(compared.matches), compared.fixed) == ([], 100_000, [])


@pytest.mark.parametrize(
    ("checked", "there", "fixed"), [(True, True, True), (False, False, True), (False, True, False)]
)
def test_what_is_gone_is_fixed_where_it_could_have_been_seen(checked: bool, there: bool, fixed: bool) -> None:
    gone = Fingerprint("GL401", "a.py", "f", "x", "x")
    compared = baseline.compare(
        [gone], [], [], was_checked=lambda _: checked, has_scope=lambda *_: True, exists=lambda _: there
    )
    assert (compared.fixed, compared.unseen) == (([gone], []) if fixed else ([], [gone]))


# The same line in another function, another file, and in both; whether those of before are still there.
@pytest.mark.parametrize(
    ("moved", "scope", "file", "known"),
    [
        ({}, True, True, True),
        ({"scope": "g"}, True, True, False),
        ({"scope": "g"}, False, True, True),
        ({"path": "b.py"}, True, True, False),
        ({"path": "b.py"}, True, False, True),
        ({"path": "b.py", "scope": "g"}, False, True, False),
        ({"path": "b.py", "scope": "g"}, False, False, True),
        ({"text": "y"}, False, False, False),
        ({"target": "y"}, False, False, False),
        ({"code": "GL402"}, False, False, False),
    ],
)
def test_a_finding_moves_where_its_place_is_gone(
    moved: dict[str, str], scope: bool, file: bool, known: bool
) -> None:
    before = Fingerprint("GL401", "a.py", "f", "x", "x")
    after = before._replace(**moved)
    found = Finding(after.code, after.path, Span(1, 1, 1, 2), "m")
    compared = baseline.compare(
        [before],
        [found],
        [after],
        was_checked=lambda _: True,
        has_scope=lambda *_: scope,
        exists=lambda _: file,
    )
    assert (len(compared.matches), compared.new) == ((1, []) if known else (0, [found]))


def test_an_unreadable_baseline_ends_with_2(write: Write, run: Run, agent: str) -> None:
    top = write({"a.py": agent, "base.json": of(entry(count=100_000_000))})
    done = run("check", "--baseline", "base.json", cwd=top)
    assert (done.returncode, done.stdout) == (2, b"")
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith(f"gllint: {top}/base.json: is not a baseline: entry 1: 'count' must be")


def test_an_entry_of_any_length_is_said_in_a_line(old: Path, run: Run) -> None:
    document = json.loads((old / "base.json").read_text())
    document["findings"][0] |= {"path": "x" * 100_000, "text": "y"}
    (old / "base.json").write_text(json.dumps(document))
    done = run("check", "--baseline", "base.json", cwd=old)
    assert b"No longer found: xxx" in done.stderr
    assert len(done.stderr) < 1000


def test_a_finding_belongs_to_the_definitions_around_its_line() -> None:
    lines = {  # and the scope of each
        "x = 1": "",
        "class A:": "A",
        "    # a note": "A",
        "    def f(self):": "A.f",
        "        y = '''": "A.f",
        "def g():": "A.f",
        "'''": "A.f",
        "        if y:": "A.f",
        "            return y": "A.f",
        "    z = 2": "A",
        "async def h():": "h",
        "    return 3": "h",
        "y = 4": "",
    }
    comments = Comments("".join(f"{line}\n" for line in lines))
    assert scopes(comments)[: len(lines)] == [*lines.values()]
    assert scopes(Comments("def f():\n return 1\n"))[1] == "f"


def test_what_a_fingerprint_holds_of_a_line_has_a_limit() -> None:
    line = "x = [" + "1.5, " * 10_000 + "]"
    finding = Finding("GL101", "a.py", Span(1, 6, 1, len(line)), "m")
    texts = [line, line[:-1] + "# other"]
    one, other = (fingerprints([finding], lambda _, text=text: text, str)[0] for text in texts)  # type: ignore[misc]
    assert len(one.text) < 2000 and len(one.target) < 2000
    assert one.text != other.text


def test_equal_findings_of_a_file_are_numbered() -> None:
    found = Finding("GL401", "a.py", Span(2, 5, 2, 6), "m")
    one, other = fingerprints([found, found], lambda _: "x = 1\ny = 2", str)
    assert one == Fingerprint("GL401", "a.py", "", "y = 2", "2", 0)
    assert other == one._replace(nth=1)
    assert len(one.hex()) == 40 and one.hex() != other.hex()


@pytest.mark.parametrize(
    ("content", "may"),
    [("", True), (" \n", True), ('{"version": 1, "findings": []}', True), ("x = 1\n", False)],
)
def test_what_may_be_written_over(tmp_path: Path, content: str, may: bool) -> None:
    path = tmp_path / "base.json"
    path.write_text(content)
    with nullcontext() if may else pytest.raises(UsageError, match="is not a baseline"):
        baseline.target(str(path))


def test_how_a_baseline_is_written() -> None:
    one = Fingerprint("GL401", "b.py", "f", "é 5", "5")
    other = Fingerprint("GL101", "a.py", "", "x", "x")
    assert baseline.as_bytes([one, other, one._replace(nth=1)]).decode() == (
        '{\n  "version": 1,\n  "findings": [\n'
        '    {"code": "GL101", "path": "a.py", "scope": "", "text": "x", "target": "x"},\n'
        '    {"code": "GL401", "path": "b.py", "scope": "f", "text": "é 5", "target": "5", "count": 2}\n'
        "  ]\n}\n"
    )
    assert baseline.as_bytes([]) == b'{\n  "version": 1,\n  "findings": []\n}\n'


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (of({"code": "GL401"}), "lacks 'path'"),
        (of({**entry(), "path": 1}), "'path' must be a string"),
        (b'{"version": 1, "findings": [], "findings": []}', "key 'findings' is given twice"),
    ],
)
def test_what_is_wrong_with_a_baseline_is_said(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "base.json"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=said):
        baseline.read(str(path))


def test_a_baseline_that_is_missing_has_no_findings(tmp_path: Path) -> None:
    assert baseline.target(str(tmp_path / "new.json")) == []
    with pytest.raises(UsageError, match="cannot be written"):
        baseline.target(str(tmp_path))

"""While something that could matter was not read, no suppression is called unused and no baseline loses an entry."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from gllint.run.engine import Engine, Options
from gllint.run.obstacles import stem
from gllint.run.workspace import Workspace
from gllint_rules import Failure

Write = Callable[..., Path]
Run = Callable[..., "subprocess.CompletedProcess[bytes]"]

HELPER = """\
def area(house):
    return {"rooms": 12}  # gllint: ignore[GL101] counted by hand
"""
AGENT = '''\
from langchain_core.tools import tool
from helper import area


@tool
def rooms(house: str) -> dict:
    """The rooms of a house."""
    return area(house)
'''
NOTEBOOK = json.dumps(
    {"cells": [{"cell_type": "code", "source": AGENT.splitlines(True)}], "nbformat": 4, "metadata": {}}
)
PLAIN = "def double(items):\n    return items + items\n"

# Each a project in which the file with the tool is not read, and what is said of that.
UNREAD: dict[str, tuple[Mapping[str, str | bytes], str]] = {
    "a conflict marker": ({"agent.py": AGENT + "<<<<<<< HEAD\n"}, "agent.py (invalid syntax, line 9)"),
    "a syntax error": ({"agent.py": AGENT + "x = (\n"}, "agent.py ('(' was never closed, line 9)"),
    "bytes that are no text": ({"agent.py": AGENT.encode() + b"# \xff\n"}, "agent.py (not utf-8 text"),
    "UTF-16": ({"agent.py": AGENT.encode("utf-16")}, "agent.py (cannot be decoded)"),
    "an unknown encoding": ({"agent.py": "# coding: klingon\n" + AGENT}, "agent.py (unknown encoding"),
    "a null byte": ({"agent.py": AGENT + "# \0\n"}, "agent.py (source code contains a null byte"),
    "too many bytes": ({"agent.py": AGENT + "# x\n" * 1_000_001}, "agent.py (too large to read: 4,000,"),
    "too many lines": ({"agent.py": AGENT + "\n" * 200_001}, "agent.py (too large to read: 200,"),
    "a broken notebook": ({"agent.ipynb": NOTEBOOK[:-3]}, "agent.ipynb ("),
    "excluded": (
        {"agent.py": AGENT, "gllint.toml": "extend-exclude = ['agent.py']\n"},
        "agent.py (is excluded)",
    ),
    "in a folder that is excluded": (
        {"old/agent.py": AGENT, "gllint.toml": "extend-exclude = ['old']\n"},
        "old/agent.py (is excluded)",
    ),
    "ignored": ({"agent.py": AGENT, ".gitignore": "agent.py\n"}, "agent.py (is excluded)"),
    "through a module between": (
        {"agent.py": AGENT.replace("helper", "between") + "x = (\n", "between.py": "from helper import area\n"},
        "agent.py (",
    ),
    "through a package": (
        {
            "gllint.toml": "extend-exclude = ['old']\n",
            "pkg/__init__.py": "from .helper import area\n",
            "pkg/helper.py": HELPER,
            "old/agent.py": AGENT.replace("helper", "pkg"),
        },
        "old/agent.py (is excluded)",
    ),
    "what the tool returns": (
        {
            "helper.py": AGENT.replace("helper", "made") + "x = 1  # gllint: ignore[GL101] counted by hand\n",
            "made.py": "x = 1\n<<<<<<<\n",
        },
        "made.py (invalid syntax, line 2)",
    ),
    "a base of the tool": (
        {
            "agent.py": "from base import House\nfrom helper import area\n\n\nclass Rooms(House):\n"
            "    def _run(self, house):\n        return area(house)\n",
            "base.py": "from langchain_core.tools import BaseTool\nclass House(BaseTool):\n<<<<<<<\n",
        },
        "base.py (",
    ),
}  # fmt: skip


@pytest.fixture(params=UNREAD)
def unread(request: pytest.FixtureRequest, write: Write) -> tuple[Path, str]:
    """A project whose tool is not read, and how that is said."""
    files, said = UNREAD[request.param]
    helper = {} if "pkg/helper.py" in files else {"helper.py": HELPER}
    return write({"gllint.toml": "", ".git/HEAD": "", **helper, **files}), said


def test_an_unread_file_keeps_what_rests_on_it(unread: tuple[Path, str], run: Run) -> None:
    top, said = unread
    done = run("check", "--fix", cwd=top)
    assert b"GL901" not in done.stdout and b"# gllint: ignore" in (next(top.rglob("helper.py")).read_bytes())
    assert f"1 suppression was not judged, since these were not read: {said}".encode() in done.stderr or (
        b"not judged, since these were not read: " in done.stderr and b"cannot be parsed" in done.stderr
    )


def test_it_is_kept_in_every_form_of_a_check(write: Write, run: Run) -> None:
    top = write({"gllint.toml": "", "helper.py": HELPER, **UNREAD["a conflict marker"][0]})
    for arguments in ([], ["--diff"], ["--no-cache"], ["-", "--stdin-filename", str(top / "helper.py")]):
        done = run("check", *arguments, cwd=top, stdin=HELPER.encode())
        assert b"GL901" not in done.stdout and b"1 suppression was not judged" in done.stderr


@pytest.mark.parametrize("unread", ["a syntax error", "through a package"], indirect=True)
def test_flake8_keeps_what_rests_on_an_unread_file(unread: tuple[Path, str]) -> None:
    top, _ = unread
    (helper,) = top.rglob("helper.py")
    command = [sys.executable, "-m", "flake8", "--select", "GL", str(helper)]
    done = subprocess.run(command, cwd=top, capture_output=True, timeout=120, check=False)
    assert done.stdout == b""


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"other.py": "x = (\n"},
        {"other.py": "from langchain_core.tools import tool\n@tool\ndef f(x):\n<<<<<<<\n"},
        {"other.py": b"# \xff\n"},
        {"other.ipynb": "{"},
        {"old/other.py": AGENT.replace("helper", "elsewhere"), "gllint.toml": "extend-exclude = ['old']\n"},
        {".venv/lib/agent.py": AGENT, "build/agent.py": AGENT},
        {"sub/pyproject.toml": "[tool.gllint]\n", "sub/agent.py": AGENT + "x = (\n"},
        {"notes.txt": "helper"},
    ],
)  # fmt: skip
def test_what_does_not_matter_keeps_nothing(write: Write, run: Run, files: Mapping[str, str | bytes]) -> None:
    top = write({"gllint.toml": "", "helper.py": HELPER, **files})
    done = run("check", "helper.py", cwd=top)
    assert b"helper.py:2:27: GL901" in done.stdout and b"not judged" not in done.stderr


def test_the_whole_project_is_asked_where_a_rule_asks_for_what_is_nowhere(write: Write, run: Run) -> None:
    top = write(
        {"gllint.toml": "", "a.py": "class A:  # gllint: ignore[GL701] old\n    x = 1\n", "b.py": b"\xff"}
    )
    done = run("check", "a.py", cwd=top)
    assert (
        b"1 suppression was not judged, since these were not read: b.py (cannot be decoded)." in done.stderr
    )


def test_a_rule_that_failed_on_a_file_keeps_what_rests_on_it(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = write({"gllint.toml": "", "helper.py": HELPER, "agent.py": AGENT})
    original = Workspace._checked

    def checked(self: Workspace, paths: list[str], fixes: bool) -> object:
        agent = str(top / "agent.py")
        said = original(self, paths, fixes)
        failed = (Failure("GL101", agent, "boom"),)
        return {p: r._replace(findings=(), failures=failed) if p == agent else r for p, r in said.items()}

    monkeypatch.setattr(Workspace, "_checked", checked)
    outcome = Engine(Options(cache=False, jobs=1)).check([str(top)])
    assert outcome.findings == []
    (unjudged,) = outcome.unjudged
    assert [os.path.basename(each.path) for each in unjudged.obstacles] == ["agent.py"]


def test_several_are_counted_and_named(write: Write, run: Run) -> None:
    helpers = HELPER + HELPER.replace("area", "other")
    agents = {f"agent{n}.py": AGENT + "<<<<<<<\n" for n in range(5)}
    top = write({"gllint.toml": "", "helper.py": helpers, **agents})
    done = run("check", "helper.py", cwd=top)
    assert (
        b"2 suppressions were not judged, since these were not read: agent0.py (invalid syntax, line 9), "
        in done.stderr
    )
    assert b" and 2 more." in done.stderr


DISPATCHES = """\
from langchain_core.tools import tool
from gllint_runtime import ToolAction, dispatch_tool


@tool
def read_meter(meter: str) -> dict:
    return {"reading": meter}


def monthly(meter: str) -> dict:
    return dispatch_tool(ToolAction(name="read_metre", args={"meter": meter}))
"""


def test_no_name_is_called_unknown_while_a_file_may_define_it(write: Write, run: Run) -> None:
    top = write({"gllint.toml": "", "a.py": DISPATCHES})
    assert b"a.py:11:42: GL303" in run("check", "--output-format", "concise", cwd=top).stdout
    write({"b.py": DISPATCHES.partition("def monthly")[0].replace("meter(", "metre(") + "<<<<<<<\n"})
    done = run("check", "a.py", cwd=top)
    assert b"GL303" not in done.stdout
    assert b"1 name was not judged, since these were not read: b.py (invalid syntax, line 10)." in done.stderr


# --- baselines -------------------------------------------------------------------------------------------------


@pytest.fixture
def old(write: Write, run: Run) -> Path:
    """A project with a finding in its baseline, which rests on another file."""
    top = write({"gllint.toml": "", "helper.py": HELPER.partition("  # ")[0] + "\n", "agent.py": AGENT})
    done = run("check", "--write-baseline", "base.json", cwd=top)
    assert (done.returncode, done.stderr) == (0, b"Wrote 1 finding to base.json.\n")
    return top


def test_a_baseline_loses_nothing_that_was_not_judged(old: Path, run: Run) -> None:
    before = (old / "base.json").read_bytes()
    (old / "agent.py").write_text(AGENT + "<<<<<<<\n")
    for paths in (["helper.py"], ["."]):
        done = run("check", *paths, "--baseline", "base.json", "--prune-baseline", cwd=old)
        assert (old / "base.json").read_bytes() == before
        assert done.returncode == 1
        assert (
            b"1 finding of the baseline was not judged, since these were not read: agent.py (" in done.stderr
        )
        assert b"Fixed" not in done.stderr and b"too many" not in done.stderr
    done = run("check", "helper.py", "--baseline", "base.json", cwd=old)
    assert (done.returncode, done.stdout) == (0, b"") and b"was not judged" in done.stderr
    run("check", "--write-baseline", "base.json", cwd=old)
    assert (old / "base.json").read_bytes() == before


def test_a_baseline_loses_a_line_that_is_no_more(old: Path, run: Run) -> None:
    (old / "agent.py").write_text(AGENT + "<<<<<<<\n")
    (old / "helper.py").write_text("def area(house):\n    return {}\n")
    done = run("check", "helper.py", "--baseline", "base.json", "--prune-baseline", cwd=old)
    assert done.returncode == 0 and b"Removed 1 finding from base.json." in done.stderr


def test_a_baseline_loses_nothing_of_a_file_that_cannot_be_read(old: Path, run: Run) -> None:
    before = (old / "base.json").read_bytes()
    (old / "helper.py").write_bytes(b"\xff")
    done = run("check", "--baseline", "base.json", "--prune-baseline", cwd=old)
    assert (old / "base.json").read_bytes() == before
    assert done.returncode == 1 and b"not judged, since these were not read: helper.py (" in done.stderr


# --- fixes that could not be written ---------------------------------------------------------------------------


def test_a_fix_that_could_not_be_written_is_not_told_as_done(write: Write, run: Run) -> None:
    text = "x = 1  # gllint: ignore[GL101] old\n"
    top = write({"gllint.toml": "", "a.py": text, "b.py": text})
    (top / "b.py").chmod(0o444)
    done = run("check", "--fix", cwd=top)
    assert done.returncode == 2
    assert (top / "a.py").read_text() == "x = 1\n" and (top / "b.py").read_text() == text
    assert b"Fixed 1 finding in 1 file." in done.stderr and b"b.py: cannot be written" in done.stderr
    assert done.stdout.startswith(b"b.py:1:8: GL901") and b"a.py" not in done.stdout
    done = run("check", "--fix", "b.py", cwd=top)
    assert done.returncode == 2 and b"Fixed" not in done.stderr and b"GL901" in done.stdout


@pytest.mark.parametrize(
    ("path", "name"), [("/a/helper.py", "helper"), ("/a/pkg/__init__.py", "pkg"), ("/a/x.test.ipynb", "x")]
)
def test_the_name_that_a_file_is_imported_by(path: str, name: str) -> None:
    assert stem(path) == name

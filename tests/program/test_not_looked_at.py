"""What a run could not look at is told, in words and by its exit status: the rows of ``docs/unread.md``."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gllint.cli.commands import cli
from gllint.errors import UsageError
from gllint.run import parsing

Write = Callable[..., Path]
Run = Callable[..., "subprocess.CompletedProcess[bytes]"]

AGENT = '@tool\ndef load():\n    """The load."""\n    return {"load_kwh": 5}\n'
LONG = "x = 1\n" * 2_001
TOO_LONG = "too large to read: 2,001 lines (the limit is 2,000)"


@pytest.fixture
def at_most_2000_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reject what has more lines, since 200,000 take seconds to be written, and to be parsed."""
    assert parsing.MAX_LINES == 200_000
    monkeypatch.setattr(parsing, "MAX_LINES", 2_000)


@pytest.mark.usefixtures("at_most_2000_lines")
@pytest.mark.parametrize("text", [LONG, AGENT + LONG[: -6 * 4]])
def test_a_named_file_of_too_many_lines_is_a_finding(
    write: Write, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.chdir(write({"gllint.toml": "", "long.py": text}))
    for arguments, stdin in ((["long.py"], ""), (["-"], text)):
        done = CliRunner().invoke(cli, ["check", *arguments, "--output-format", "concise"], input=stdin)
        name = "stdin" if stdin else "long.py"
        assert done.stdout == f"{name}:1:1: GL900 {TOO_LONG}\n"
        assert done.exit_code == 1
        assert "1 file left out." in done.stderr and "not checked, too large" not in done.stderr
    done = CliRunner().invoke(cli, ["check", "long.py", "--ignore", "GL900"])
    assert done.exit_code == 0 and f"1 file not checked, {TOO_LONG}" in done.stderr


@pytest.mark.usefixtures("at_most_2000_lines")
def test_a_file_of_too_many_lines_on_the_way_is_told(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write({"gllint.toml": "", "long.py": LONG, "other.py": "x = 1\n"}))
    for _ in range(2):  # the second time from the cache
        done = CliRunner().invoke(cli, ["check"])
        assert done.exit_code == 0
        assert f"1 file not checked, {TOO_LONG} (line 1): long.py\n" in done.stderr
        assert "1 file left out." in done.stderr


ROWS: dict[str, tuple[bytes | None, str, int, str]] = {
    # What stands in the file; what is said where it is named; where it is met the exit status, and what is said.
    "no such file": (None, "no such file or folder", 0, "No findings"),
    "not to be decoded": (b"# \xff\n", "GL900 not utf-8 text", 0, "1 file not checked, cannot be decoded: a.py"),
    "not to be parsed": (AGENT.encode() + b"x = (", "GL900 '(' was never closed", 1, "GL900 '(' was never closed"),
    "no tool in it, and not to be parsed": (b"x = (", "GL900 '(' was never closed", 0, "1 file not checked: a.py ('(' was never closed, line 1)\nNo findings in 2 files, as far as gllint looked."),
    "too many bytes": (b"# x\n" * 100_000 * 11, "GL900 too large to read", 0, "1 file not checked, too large"),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_what_cannot_be_read_as_named_and_on_the_way(write: Write, run: Run, row: str) -> None:
    content, said, status, said_on_the_way = ROWS[row]
    top = write(
        {
            "gllint.toml": "",
            "b.py": AGENT.replace("5", "None"),
            **({} if content is None else {"a.py": content}),
        }
    )
    named = run("check", "a.py", "--output-format", "concise", cwd=top)
    assert said in (named.stdout + named.stderr).decode()
    assert named.returncode == (2 if content is None else 1)
    met = run("check", "--output-format", "concise", cwd=top)
    assert said_on_the_way in (met.stdout + met.stderr).decode()
    assert met.returncode == status
    page = top.parent / "page.html"
    assert run("report", "-o", str(page), cwd=top).returncode == 0
    assert ("a.py" in page.read_text("utf-8")) == ("a.py" in (met.stdout + met.stderr).decode())


READS_A_HELPER = "from helper import rooms\n" + AGENT.replace("5", "rooms()")
UNPARSED = "1 file not checked: helper.py ('(' was never closed, line 2)"


def test_a_helper_that_cannot_be_parsed_is_told_beside_a_named_file(write: Write, run: Run) -> None:
    rest = {f"other{number}.py": "x = 1\n" * 5_000 for number in range(5)}  # too much to be parsed by the way
    top = write({"gllint.toml": "", "agent.py": READS_A_HELPER, "helper.py": "\ndef rooms(:\n", **rest})
    write({"helper.py": "\ndef rooms(\n", "elsewhere.py": "x = (\n"})
    for arguments in (["agent.py"], ["."], ["agent.py", "--no-cache"], ["agent.py"]):
        done = run("check", *arguments, cwd=top)
        assert done.returncode == 0
        assert done.stderr.decode().startswith(f"{UNPARSED}\nNo findings in ")
        assert b"1 tool. Not checked: 1 (unknown result: agent.py:3), 1 file left out." in done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (READS_A_HELPER + "<<<<<<< HEAD\n", "agent.py (invalid syntax, line 6)"),
        (READS_A_HELPER.encode("utf-16"), "agent.py (UTF-16 text: Python cannot read source in this encoding"),
    ],
)  # fmt: skip
def test_what_uses_a_named_file_and_cannot_be_read_is_told(
    write: Write, run: Run, text: str | bytes, said: str
) -> None:
    top = write({"gllint.toml": "", "helper.py": "def rooms():\n    return 3\n", "agent.py": text})
    write({"other.py": "x = 1\n"})
    for _ in range(2):
        done = run("check", "helper.py", cwd=top)
        assert f"1 file not checked: {said}" in done.stderr.decode()
        assert b"\nNo findings in 1 file, as far as gllint looked." in done.stderr
        assert done.returncode == 0
        assert run("check", "other.py", cwd=top).stderr == b"No findings in 1 file.\n"


def test_a_cell_that_cannot_be_parsed_is_named(write: Write, run: Run) -> None:
    cells = [{"cell_type": "code", "source": text} for text in ("%%bash\nls (", "x = 1", "y = (")]
    top = write({"gllint.toml": "", "a.ipynb": json.dumps({"cells": cells, "metadata": {}, "nbformat": 4})})
    assert (
        b"a.ipynb:cell 3:1:5: GL900 '('"
        in run("check", "a.ipynb", "--output-format", "concise", cwd=top).stdout
    )
    assert b"not checked: a.ipynb ('(' was never closed, cell 3, line 1)" in run("check", cwd=top).stderr


def test_the_report_fails_where_what_it_was_asked_for_cannot_be_read(write: Write, run: Run) -> None:
    top = write(
        {"gllint.toml": "", "a.py": AGENT, "b.py": "x = (\n", "c.py": b"\xff", "d.py": AGENT + "x = ("}
    )
    for named, status, said in (
        ([], 0, "1 tool: 1 returns numbers. Not checked: 3 files left out."),
        (["a.py"], 0, "Wrote 1 finding to ../page.html."),
        (["a.py", "b.py"], 1, "1 tool: 1 returns numbers. Not checked: 1 file left out."),
        (["c.py"], 1, "1 file left out."),
        (["nowhere.py"], 2, "nowhere.py: no such file or folder"),
    ):
        done = run("report", "-o", "../page.html", *named, cwd=top)
        assert (done.returncode, done.stderr.decode().splitlines()[-1].endswith(said)) == (status, True), (
            named
        )
    assert run("report", "-o", "../page.html", "--quiet", "b.py", cwd=top).stderr == b""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"x = (", "a.py was not checked: '(' was never closed, line 1"),
        (b"\xff", "a.py was not checked: not utf-8 text: invalid start byte, line 1"),
        (b"x = 1", "a.py contains nothing that the rules check."),
    ],
)  # fmt: skip
def test_why_there_is_nothing_of_a_file_that_was_not_read(
    write: Write, run: Run, text: bytes, said: str
) -> None:
    top = write({"gllint.toml": "", "a.py": text})
    done = run("check", "--why", "a.py:1", cwd=top)
    assert done.returncode == 0 and done.stdout.decode().endswith(f"{said}\n")


@pytest.fixture
def locked(write: Write, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a folder that cannot be listed, whoever asks: root may list any."""
    top = write({"gllint.toml": "", "a.py": "x = 1\n", "sub/locked/b.py": AGENT})
    scandir = os.scandir

    def refusing(folder: Any = ".") -> Any:
        if os.fspath(folder).endswith("locked"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), folder)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refusing)
    monkeypatch.chdir(top)
    return top


def test_a_folder_beside_a_named_file_that_cannot_be_listed_is_told(locked: Path) -> None:
    done = CliRunner().invoke(cli, ["check", "a.py"])
    assert done.exit_code == 0
    assert done.stderr.splitlines() == [
        "1 folder not checked, cannot be listed: Permission denied: sub/locked",
        "No findings in 1 file, as far as gllint looked.",
        "1 folder left out.",
    ]


@pytest.mark.parametrize("named", [".", "sub", "sub/locked"])
def test_a_named_folder_that_cannot_be_listed_is_refused(locked: Path, named: str) -> None:
    done = CliRunner().invoke(cli, ["check", named])
    assert isinstance(done.exception, UsageError)
    assert "sub/locked: cannot be " in str(done.exception) and "Permission denied" in str(done.exception)


@pytest.mark.skipif(os.name == "nt", reason="a shell that closes streams")
@pytest.mark.parametrize(
    ("command", "closed", "said"),
    [
        ("check a.py", ">&-", "gllint: standard output is closed\n"),
        ("check a.py --output-file x", ">&-", "gllint: standard output is closed\n"),
        ("--version", ">&-", "gllint: standard output is closed\n"),
        ("check --help", ">&-", "gllint: standard output is closed\n"),
        ("check a.py", ">&- 2>&-", ""),
        ("check -", "<&-", "gllint: standard input is closed: there is nothing to read\n"),
        ("init", "<&-", "gllint: not a terminal: use `--yes` or `--dry-run`\n"),
    ],
)  # fmt: skip
def test_a_closed_stream(write: Write, command: str, closed: str, said: str) -> None:
    top = write({"gllint.toml": "", "a.py": AGENT})
    line = f'"{sys.executable}" -m gllint {command} {closed}'
    done = subprocess.run(line, shell=True, cwd=top, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (2, said)


@pytest.mark.skipif(os.name == "nt", reason="no folder is deleted below a process there")
@pytest.mark.parametrize(
    "command", ["check", "check .", "check -", "check {top}/a.py", "init", "report -o {top}/x.html"]
)
def test_a_current_folder_that_is_gone(write: Write, command: str) -> None:
    top = write({"gllint.toml": "", "a.py": AGENT})
    line = f'mkdir gone; cd gone; rmdir ../gone; "{sys.executable}" -m gllint {command.format(top=top)}'
    done = subprocess.run(
        line, shell=True, cwd=top, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, check=False
    )  # fmt: skip
    assert done.stderr == "gllint: the current folder cannot be read: No such file or directory\n"
    assert done.returncode == 2 and done.stdout == ""

"""What a run could not look at is told, in words and by its exit status: the rows of ``docs/security.md``."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[..., Path]
Run = Callable[..., "subprocess.CompletedProcess[bytes]"]

AGENT = '@tool\ndef load():\n    """The load."""\n    return {"load_kwh": 5}\n'
LONG = "x = 1\n" * 200_001
TOO_LONG = "too large to be read: 200,001 lines, at most 200,000 are"


@pytest.mark.parametrize("text", [LONG, AGENT + LONG[: -6 * 4]])
def test_a_named_file_of_too_many_lines_is_a_finding(write: Write, run: Run, text: str) -> None:
    top = write({"gllint.toml": "", "long.py": text})
    for arguments, stdin in ((("long.py",), b""), (("-",), text.encode())):
        done = run("check", *arguments, "--output-format", "concise", cwd=top, stdin=stdin)
        name = "stdin" if stdin else "long.py"
        assert done.stdout.decode() == f"{name}:1:1: GL900 {TOO_LONG}\n"
        assert done.returncode == 1
        assert b"1 file left out." in done.stderr and b"not checked, too large" not in done.stderr
    done = run("check", "long.py", "--ignore", "GL900", cwd=top)
    assert done.returncode == 0 and f"1 file not checked, {TOO_LONG}".encode() in done.stderr


def test_a_file_of_too_many_lines_on_the_way_is_told(write: Write, run: Run) -> None:
    top = write({"gllint.toml": "", "long.py": LONG, "other.py": "x = 1\n"})
    for _ in range(2):  # the second time from the cache
        done = run("check", cwd=top)
        assert done.returncode == 0
        assert f"1 file not checked, {TOO_LONG} (line 1): long.py\n".encode() in done.stderr
        assert b"1 file left out." in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="a shell that closes streams")
@pytest.mark.parametrize(
    ("command", "closed", "said"),
    [
        ("check a.py", ">&-", "gllint: standard output is closed: there is nowhere to write to\n"),
        ("check a.py --output-file x", ">&-", "gllint: standard output is closed: there is nowhere to write to\n"),
        ("--version", ">&-", "gllint: standard output is closed: there is nowhere to write to\n"),
        ("check --help", ">&-", "gllint: standard output is closed: there is nowhere to write to\n"),
        ("check a.py", ">&- 2>&-", ""),
        ("check -", "<&-", "gllint: standard input is closed: there is nothing to read\n"),
        ("init", "<&-", "gllint: there is nobody to ask: give --yes to write, or --dry-run to look\n"),
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

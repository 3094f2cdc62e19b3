"""What could not be looked at, in each host: the second table of ``docs/unread.md``, by the hosts themselves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from gllint.report import FORMATS

Write = Callable[..., Path]
Host = Callable[..., "subprocess.CompletedProcess[str]"]

AGENT = '@tool\ndef load():\n    """The load."""\n    return {"load": None}\n'
CELLS = [{"cell_type": "code", "source": text} for text in ("%%bash\nls (", "x = 1", "y = (")]
UNREADABLE = {
    "broken.py": "x = (\n",
    "bytes.py": b"# \xff\n",
    "cell.ipynb": json.dumps({"cells": CELLS, "metadata": {}, "nbformat": 4}),
    "locked.py": "x = 1\n",
}
PROJECT = {"gllint.toml": "", "agent.py": AGENT, "sub/locked/a.py": AGENT, **UNREADABLE}
# Whoever runs the tests, root too, may not open or list what is called "locked".
LOCK = """\
import errno, os

def refusing(function):
    def call(path=".", *arguments, **keywords):
        name = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else ""
        base = os.path.basename(name)
        if base.partition(".")[0] == "locked" or (base and base == os.environ.get("LOCKED")):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
        return function(path, *arguments, **keywords)
    return call

import builtins, io, tokenize
for module, name in ((os, "scandir"), (os, "listdir"), (os, "open"), (builtins, "open"), (io, "open")):
    setattr(module, name, refusing(getattr(module, name)))
tokenize._builtin_open = builtins.open
"""
FOLDER = "1 folder not checked, cannot be listed: Permission denied: sub/locked"
PASSED_BY = (
    "1 file not checked, cannot be decoded: bytes.py",
    "2 files not checked: broken.py ('(' was never closed, line 1), cell.ipynb ('(' was never closed, cell 3, line 1)",
)


@pytest.fixture
def host(gllint: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    """Run a module as a program in a folder, where nothing called "locked" can be opened."""
    (tmp_path / "lock").mkdir()
    (tmp_path / "lock" / "sitecustomize.py").write_text(LOCK)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "lock"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("NO_COLOR", "1")

    def host(module: str, *arguments: str, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        forked = {"gllint": gllint, "flake8": [*gllint, "-m", "flake8"]}
        command = [*forked.get(module, [sys.executable, "-m", module]), *arguments]
        return subprocess.run(
            command, cwd=cwd, input=stdin, capture_output=True, text=True, timeout=120, check=False
        )

    return host


@pytest.mark.parametrize("output_format", FORMATS)
def test_what_is_named_is_found_in_each_format(write: Write, host: Host, output_format: str) -> None:
    top = write(PROJECT)
    done = host("gllint", "check", *UNREADABLE, "--output-format", output_format, cwd=top)
    assert done.returncode == 1
    assert done.stdout.count("was never closed") >= 2 and done.stdout.count("Permission denied") >= 1
    assert "not utf-8 text" in done.stdout
    assert FOLDER in done.stderr.splitlines()


@pytest.mark.parametrize("output_format", FORMATS)
def test_what_is_met_is_told_in_each_format(write: Write, host: Host, output_format: str) -> None:
    top = write({**PROJECT, "gllint.toml": "extend-exclude = ['sub']\n"})
    for _ in range(2):
        done = host("gllint", "check", "--output-format", output_format, cwd=top)
        assert done.returncode == 1  # for the file that nobody may open: it may hold anything
        assert all(notice in done.stderr.splitlines() for notice in PASSED_BY)
        assert "4 files left out." in done.stderr
        told = [name for name in ("broken.py", "bytes.py", "cell.ipynb") if name in done.stdout]
        assert told == (list(UNREADABLE)[:3] if output_format in ("sarif", "github") else [])
    (top / "locked.py").unlink()
    quiet = host("gllint", "check", "--quiet", "--output-format", output_format, cwd=top)
    assert quiet.returncode == 0 and quiet.stderr == ""


def test_the_notices_of_code_scanning(write: Write, host: Host) -> None:
    top = write({**PROJECT, "gllint.toml": "extend-exclude = ['sub']\n"})
    log = json.loads(host("gllint", "check", "--output-format", "sarif", cwd=top).stdout)
    [invocation] = log["runs"][0]["invocations"]
    assert invocation["executionSuccessful"]
    assert [
        (entry["level"], entry["message"]["text"], *(
            place["physicalLocation"]["artifactLocation"]["uri"] for place in entry["locations"]
        ))
        for entry in invocation["toolExecutionNotifications"]
    ] == [
        ("warning", "not checked: '(' was never closed, line 1", "broken.py"),
        ("warning", "not checked: cannot be decoded", "bytes.py"),
        ("warning", "not checked: '(' was never closed, cell 3, line 1", "cell.ipynb"),
    ]  # fmt: skip
    said = host("gllint", "check", "--output-format", "github", cwd=top).stdout
    assert "::warning title=gllint,file=bytes.py::bytes.py: not checked: cannot be decoded\n" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ("check",), ("check", "sub"), ("check", "--fix"), ("check", "--diff"), ("check", "--add-noqa"),
        ("check", "--write-baseline", "b.json"), ("check", "--statistics"), ("check", "--show-files"),
        ("report", "-o", "../page.html"), ("init", "--dry-run"), ("init", "--yes"),
    ],
)  # fmt: skip
def test_a_folder_that_was_asked_for_and_cannot_be_listed(
    write: Write, host: Host, arguments: tuple[str, ...]
) -> None:
    top = write(PROJECT)
    done = host("gllint", *arguments, cwd=top)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        f"gllint: {top}/sub/locked: cannot be listed: Permission denied; exclude it"
    )
    assert {path.name for path in top.iterdir()} - {".gllint_cache"} == {*PROJECT} - {"sub/locked/a.py"} | {
        "sub"
    }


@pytest.mark.parametrize("option", ["--fix", "--diff", "--add-noqa", "--unsafe-fixes"])
def test_what_cannot_be_read_is_not_changed(write: Write, host: Host, option: str) -> None:
    top = write(PROJECT)
    before = {name: (top / name).read_bytes() for name in UNREADABLE}
    done = host("gllint", "check", *UNREADABLE, option, cwd=top)
    assert {name: (top / name).read_bytes() for name in UNREADABLE} == before
    assert done.returncode == (2 if option == "--add-noqa" else 1)
    assert "internal error" not in done.stderr


@pytest.mark.parametrize(
    ("text", "said"), [("x = (\n", "'(' was never closed"), ("x = 1\n" * 200_001, "too large to read")]
)
def test_standard_input_that_cannot_be_read(write: Write, host: Host, text: str, said: str) -> None:
    top = write(PROJECT)
    for arguments in (("-",), ("-", "--stdin-filename", "agent.py")):
        done = host("gllint", "check", "--output-format", "concise", *arguments, cwd=top, stdin=text)
        assert done.returncode == 1 and f":1:{5 if len(text) < 9 else 1}: GL900 {said}" in done.stdout
        if len(text) > 9:
            continue  # other plugins take minutes for it
        name = ("--stdin-display-name", "agent.py") if len(arguments) > 1 else ()
        flake8 = host("flake8", "--select", "GL", "-", *name, cwd=top, stdin=text)
        assert flake8.stdout == done.stdout and flake8.returncode == 1


def test_pre_commit(write: Write, host: Host) -> None:
    hooks = yaml.safe_load((Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text())
    entry = {
        **hooks[0],
        "language": "system",
        "entry": f"{sys.executable} -m {hooks[0]['entry']}",
        "verbose": True,
    }
    config = yaml.safe_dump({"repos": [{"repo": "local", "hooks": [entry]}]})
    top = write({**PROJECT, ".pre-commit-config.yaml": config})
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run([*git, "init", "-q"], cwd=top, check=True)
    subprocess.run([*git, "add", "agent.py", "gllint.toml", ".pre-commit-config.yaml"], cwd=top, check=True)
    done = host("pre_commit", "run", cwd=top)
    assert done.returncode == 0 and FOLDER in done.stdout
    subprocess.run([*git, "add", "broken.py", "bytes.py", "cell.ipynb"], cwd=top, check=True)
    done = host("pre_commit", "run", cwd=top)
    assert done.returncode == 1
    assert "broken.py:1:5: GL900 '(' was never closed" in done.stdout
    assert "bytes.py:1:3: GL900 not utf-8 text" in done.stdout
    assert FOLDER in done.stdout


def test_flake8_finds_what_is_named(write: Write, host: Host) -> None:
    top = write(PROJECT)
    named = [*UNREADABLE, "nowhere.py"]
    done = host("flake8", "--select", "GL", *named, cwd=top)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "broken.py:1:5: GL900 '(' was never closed",
        "bytes.py:1:3: GL900 not utf-8 text: invalid start byte",
        "cell.ipynb:1:1: GL900 cell 3, 1:5: '(' was never closed",
        "locked.py:1:1: GL900 cannot be read: Permission denied",
        "nowhere.py:1:1: GL900 no such file or folder",
    ]
    assert done.stderr == f"gllint: {FOLDER}\n"
    both = host("flake8", "--select", "GL,E9", *named, cwd=top).stdout
    for name in named:  # each once: what flake8 tells gllint does not repeat
        assert len([line for line in both.splitlines() if line.startswith(name)]) == 1


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_flake8_tells_what_is_met(write: Write, host: Host, jobs: str) -> None:
    top = write(PROJECT)
    done = host("flake8", "--select", "GL", "--jobs", jobs, cwd=top)
    assert done.stderr.splitlines() == [
        f"gllint: {PASSED_BY[0]}",
        "gllint: 1 file not checked: broken.py ('(' was never closed, line 1)",
        f"gllint: {FOLDER}",
    ]
    assert done.stdout == "./locked.py:1:1: GL900 cannot be read: Permission denied\n"
    done = host("flake8", "--select", "GL,E9", "--jobs", jobs, cwd=top)
    assert "./broken.py:1:6: E999" in done.stdout and "broken.py" not in done.stderr
    if jobs == "1":
        done = host("flake8", "--select", "F", cwd=top)
        assert done.stderr == ""  # of a linter that nobody asked


def test_flake8_fails_where_a_rule_fails(write: Write, host: Host, tmp_path: Path) -> None:
    info = tmp_path / "lock" / "bad-1.0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bad\nVersion: 1.0.0\n")
    (info / "entry_points.txt").write_text("[gllint.rules]\nBAD101 = bad:RULE\n")
    (tmp_path / "lock" / "bad.py").write_text("raise KeyError('x')\n")
    top = write({"gllint.toml": "", "agent.py": AGENT})
    done = host("flake8", "--select", "GL,BAD", cwd=top)
    assert done.returncode == 1
    said = "BAD101 failed (bad): it cannot be loaded: KeyError: 'x' (bad.py:1)"
    assert done.stdout == f"./agent.py:1:1: {said}\n"
    log = json.loads(host("gllint", "check", "--output-format", "sarif", cwd=top).stdout)
    assert not log["runs"][0]["invocations"][0]["executionSuccessful"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("gllint", "check"), ("gllint", "check", "agent.py"), ("gllint", "check", "-"),
        ("gllint", "check", "--why", "agent.py:1"), ("gllint", "report", "-o", "../page.html"),
        ("gllint", "init", "--dry-run"), ("gllint", "mcp", "--", "true"), ("gllint", "config"),
        ("flake8", "--select", "GL"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"gllint.toml": ""}, "gllint.toml: cannot be read: Permission denied"),
        ({"pyproject.toml": ""}, "pyproject.toml: cannot be read: Permission denied"),
        ({"gllint.toml": b"\xff"}, "gllint.toml: "),
        ({"gllint.toml": "selekt = []\n"}, "unknown key 'selekt'"),
    ],
)  # fmt: skip
def test_a_configuration_that_cannot_be_read(
    write: Write,
    host: Host,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    files: dict[str, str],
    said: str,
) -> None:
    top = write({"agent.py": AGENT, **files})
    monkeypatch.setenv("LOCKED", next(iter(files)) if "Permission" in said else "")
    done = host(*arguments, cwd=top)
    assert done.returncode == (1 if arguments[0] == "flake8" else 2)
    assert said in done.stdout + done.stderr and "internal error" not in done.stderr


@pytest.mark.parametrize("content", [None, b"\xff", b"[]", b"{"])
def test_a_baseline_that_cannot_be_read(write: Write, host: Host, content: bytes | None) -> None:
    name = "locked.json" if content is None else "base.json"
    top = write(
        {
            "gllint.toml": f"baseline = '{name}'\n",
            name: content or b"",
            "agent.py": AGENT.replace("None", "5"),
        }
    )
    for arguments in (
        ("check",),
        ("check", "--prune-baseline"),
        ("report", "-o", "../page.html"),
        ("init", "--yes"),
    ):
        done = host("gllint", *arguments, cwd=top)
        assert done.returncode == 2 and name in done.stderr, arguments
        assert "internal error" not in done.stderr
    done = host("flake8", "--select", "GL", cwd=top)
    assert done.returncode == 1 and name in done.stdout + done.stderr


def test_a_cache_that_nobody_may_write_to(write: Write, host: Host) -> None:
    top = write(
        {
            "gllint.toml": "cache-dir = 'locked'\nextend-exclude = ['locked']\n",
            "agent.py": AGENT,
            "locked/.keep": "",
        }
    )
    done = host("gllint", "check", "--verbose", cwd=top)
    assert done.returncode == 0 and "internal error" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="a signal ends the watch")
def test_watch_tells_and_goes_on(write: Write, host: Host) -> None:
    pytest.importorskip("watchfiles")
    top = write(PROJECT)
    process = subprocess.Popen(
        [sys.executable, "-m", "gllint", "check", "--watch"], cwd=top, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    said = [process.stderr.readline() for _ in range(2)]
    assert "sub/locked: cannot be listed: Permission denied" in said[0]
    assert said[1] == "Watching for changes; Ctrl-C ends it.\n" and process.poll() is None
    process.terminate()
    process.wait(30)
    process.stderr.close()

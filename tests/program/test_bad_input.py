"""Whatever the bytes are: a clear finding or error, and the rest of the run unharmed."""

from __future__ import annotations

import codecs
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gllint.report import FORMATS
from gllint.run import fixer, parsing
from gllint.run.engine import Engine, Options
from gllint.run.parsing import Unparsed, parse
from gllint.shown import visible

Write = Callable[..., Path]
Run = Callable[..., Any]
Check = Callable[..., list[str]]
Named = Callable[..., subprocess.CompletedProcess[str]]
NEEDLE = 'FINAL_MESSAGE = "x"\n'


def test_each_bad_file_is_a_finding_and_the_others_are_checked(
    write: Write, check: Check, agent: str
) -> None:
    top = write(
        {
            "agent.py": agent,
            "broken.py": NEEDLE + "def f(:\n",
            "decode.py": NEEDLE.encode() + b"s = '\xff'\n",
            "empty.py": "",
            "latin.py": b"# coding: latin-1\n" + NEEDLE.encode() + b"s = '\xff'\n",
            "mark.py": codecs.BOM_UTF8 + b'FINAL_MESSAGE = "5 kWh"\n',
            "null.py": NEEDLE.encode() + b"x\0y\n",
            "odd\xe9.py": 'FINAL_MESSAGE = "5 kWh"\n',
            "unknown.py": b"# coding: klingon\n" + NEEDLE.encode(),
            "utf16.py": NEEDLE.encode("utf-16"),
            "old_mac.py": 'x = 1\rFINAL_MESSAGE = "5 kWh"\r',
        }
    )
    assert check("--select", "GL401,GL900", cwd=top) == [
        "agent.py:11:37: GL401",
        "broken.py:2:7: GL900",
        "decode.py:2:6: GL900",
        "mark.py:1:18: GL401",
        "null.py:2:2: GL900",
        "odd\xe9.py:1:18: GL401",
        "old_mac.py:2:18: GL401",
        "unknown.py:1:1: GL900",
    ]


def test_a_license_that_is_named_is_no_broken_python(write: Write, check: Check, named: Named) -> None:
    top = write(
        {
            "LICENSE": "MIT License\n",
            "Dockerfile": "FROM python:3.12\n",
            "start": "#!/bin/sh\necho FINAL_MESSAGE\n",
            "icon": b"\xff\x00",
            "script": "#!/usr/bin/env python3\n" + NEEDLE + "x = (\n",
            "SConstruct": 'FINAL_MESSAGE = "5 kWh"\n',
        }
    )
    names = ["LICENSE", "Dockerfile", "start", "icon"]
    done = named(top, *names)
    assert (done.returncode, done.stdout) == (0, "")
    why = "4 files not checked, neither the name nor the content is Python: LICENSE, Dockerfile, start and 1 more"
    assert why in done.stderr
    assert check(*names, "script", "SConstruct", cwd=top) == ["SConstruct:1:18: GL401", "script:3:5: GL900"]


def test_what_is_no_regular_file_does_not_hold_the_run_up(write: Write, run: Run, check: Check) -> None:
    top = write({"a.py": ""})
    os.mkfifo(top / "pipe.py")
    assert check(cwd=top) == []
    assert check("pipe.py", cwd=top) == ["pipe.py:1:1: GL900"]
    assert check("/dev/zero", cwd=top) == ["/dev/zero:1:1: GL900"]


def test_a_link_to_nowhere_is_said_and_the_others_are_checked(write: Write, check: Check, agent: str) -> None:
    top = write({"agent.py": agent})
    (top / "link.py").symlink_to("nowhere.py")
    (top / "loop.py").symlink_to("loop.py")
    assert check("--select", "GL401,GL900", "link.py", "loop.py", "agent.py", cwd=top) == [
        "agent.py:11:37: GL401",
        "link.py:1:1: GL900",
        "loop.py:1:1: GL900",
    ]
    assert check("--select", "GL401,GL900", ".", cwd=top) == ["agent.py:11:37: GL401"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(write: Write, check: Check, agent: str) -> None:
    top = write({"secret.py": agent, "agent.py": agent})
    (top / "secret.py").chmod(0)
    assert "secret.py:1:1: GL900" in check(cwd=top)


def test_a_huge_file_is_no_finding_unless_it_is_no_python(
    write: Write, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parsing, "MAX_LINES", 1000)
    top = write({"huge.py": NEEDLE + "x = 1\n" * 2000})
    assert check(cwd=top) == []
    (top / "huge.py").write_text(NEEDLE + "x = 1\n" * 2000 + "x = = 2\n")
    assert check(cwd=top) == ["huge.py:2002:5: GL900"]


@pytest.mark.parametrize(("last", "found"), [("x = = 2", ["a.py:3:5: GL900"]), ("", [])])
def test_a_file_that_was_not_checked_has_no_unused_suppression(
    write: Write, check: Check, monkeypatch: pytest.MonkeyPatch, last: str, found: list[str]
) -> None:
    """Nor is it the fault of a fix that such a file does not parse."""
    monkeypatch.setattr(parsing, "MAX_LINES", 1)
    top = write({"a.py": f"{NEEDLE.rstrip()}  # noqa: GL101\n# gllint: GL101\n{last}\n"})
    assert check(cwd=top) == ["a.py:2:1: GL902", *found]
    engine = Engine(Options(cache=False))
    fixed = fixer.fix(engine, [str(top)], unsafe=True)
    assert (fixed.errors, fixed.new_data) == ([], {})


@pytest.fixture
def named(gllint: list[str]) -> Named:
    def named(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [*gllint, "check", "--output-format", "concise", "--no-cache", *arguments]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)

    return named


def test_a_named_file_must_be_python_and_others_are_counted(tmp_path: Path, named: Named) -> None:
    (tmp_path / "wide.py").write_bytes("x = 1\n".encode("utf-16"))
    (tmp_path / "null.py").write_bytes(b"x = 1\0\n")
    (tmp_path / "wrong.py").write_text("def (:\n")
    done = named(tmp_path, ".")
    assert (done.returncode, done.stdout) == (0, "")
    assert "2 files not checked, cannot be decoded: null.py, wide.py" in done.stderr
    done = named(tmp_path, "wide.py", "null.py", "wrong.py")
    assert done.returncode == 1
    assert [line.split(" ")[1] for line in done.stdout.splitlines()] == ["GL900"] * 3


@pytest.mark.parametrize(
    "codec", ["punycode", "idna", "undefined", "base64", "rot13", "hex", "utf-16", "nope"]
)
def test_an_odd_codec_loses_no_other_file(codec: str, write: Write, check: Check, agent: str) -> None:
    top = write({"odd.py": f"# coding: {codec}\n{agent}é.\n", "agent.py": agent})
    found = check(cwd=top)
    assert codec == "idna" or any(line.startswith("odd.py") and "GL900" in line for line in found)
    assert any(line.startswith("agent.py") for line in found)


def test_a_name_cannot_write_to_the_log(tmp_path: Path, named: Named) -> None:
    name = "a\n::error::owned\x1b[2J\u202e\u2028.py"
    (tmp_path / name).write_text("def (:\n")
    for form in ("concise", "full", "github", "junit"):
        done = named(tmp_path, "--output-format", form, name)
        assert done.returncode == 1
        assert "GL900" in done.stdout
        for text in (done.stdout, done.stderr):
            assert not {"\x1b", "\u202e", "\u2028"} & set(text)
            assert not any(line.startswith("::error::owned") for line in text.splitlines())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error::owned.py:1:1", "\\x3a:error::owned.py:1:1"),
        ("  ::stop-commands::x", "  \\x3a:stop-commands::x"),
        ('x = "##[error]owned"', 'x = "##\\x5berror]owned"'),
        ("##vso[task.setvariable]", "##vso\\x5btask.setvariable]"),
        ("a::b ## [c] #[d]", "a::b ## [c] #[d]"),
    ],
)
def test_what_a_log_takes_for_a_command_is_escaped(text: str, shown: str) -> None:
    assert visible(text) == shown


_DEEP = {
    "parentheses": "x = " + "(" * 3000 + ")" * 3000,
    "unclosed": "x = " + "(" * 20000,
    "lists": "x = " + "[" * 3000 + "]" * 3000,
    "sum": "x = " + "+".join(["1"] * 20000),
    "sum over lines": "x = (" + "+\n".join(["1"] * 20000) + ")",
    "sum with backslashes": "x = 1" + " \\\n+ 1" * 20000,
    "calls": "x = y" + ".z()" * 5000,
    "calls over lines": "x = (y" + "\n.z()" * 5000 + ")",
    "not": "x = " + "not " * 20000 + "y",
    "not over lines": "x = (" + "not\n" * 20000 + "y)",
    "minus": "x = " + "-" * 20000 + "1",
    "lambda": "x = " + "lambda: " * 20000 + "1",
    "elif": "if a:\n  pass\n" + "elif b:\n  pass\n" * 20000,
    "conditional": "x = " + "1 if a else " * 20000 + "1",
    "indentation": "".join(" " * depth + "if 1:\n" for depth in range(400)) + " " * 400 + "pass",
    "import": "import a" + ".a" * 9000,
    "from": "from a" + ".a" * 9000 + " import b",
    "subscripts": "x = y" + "[0]" * 3000,
    "and": "x = " + " and ".join(["a"] * 20000),
    "future syntax and parentheses": "match x:\n  case 1: pass\n  casex 2\n" + "(" * 3000,
}


_REFUSED = ("parentheses", "unclosed", "lists", "future syntax and parentheses", "indentation")


def _compiles(source: str) -> bool:
    try:
        compile(source, "deep.py", "exec")
    except (SyntaxError, RecursionError, MemoryError):
        return False
    return True


@pytest.mark.parametrize("name", _DEEP)
def test_deep_nesting_is_no_crash(name: str, tmp_path: Path, named: Named) -> None:
    # In a process of its own: what we guard against would take pytest down.
    (tmp_path / "deep.py").write_text(NEEDLE + _DEEP[name] + "\n")
    done = named(tmp_path, "deep.py")
    assert done.returncode in (0, 1), (done.returncode, done.stderr[-300:])
    assert (": GL900 " in done.stdout) == (done.returncode == 1)
    if name in _REFUSED:
        assert done.returncode == 1
    elif _compiles(_DEEP[name]):
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "source",
    [
        "x = " + "+".join(["1"] * 300),
        "x = (" + "+\n".join(["1"] * 500) + ")",
        "x = " + "(" * 90 + ")" * 90,
        "x = " + "[" * 150 + "]" * 150,
        "if a:\n  pass\n" + "elif b:\n  pass\n" * 450,
        "x = '" + "(" * 5000 + "'",
        "x = [" + "1, " * 5000 + "]",
        "x = (" + "'a'\n" * 480 + ")",
        "x = y" + ".z()" * 300,
        "x = " + " or ".join(["a"] * 5000),
        "if a:\n  pass\n" + "elif b:\n  pass\n" * 3000,
        "x = 0x" + "f" * 9000,
    ],
)
def test_what_people_write_is_parsed(source: str) -> None:
    assert not isinstance(parse("/x.py", source.encode()), Unparsed)


@pytest.mark.parametrize(
    "wrong",
    [
        "a." * 20000,
        "a" + ".b()" * 20000 + " c",
        "a + \\\n" * 20000 + "\nb c",
        "a" + "[0]" * 20000 + " b",
        "(a\n.b" * 20000,
        "a = " * 20000,
        "not " * 20000,
    ],
    ids=lambda text: text[:8],
)
def test_what_is_no_python_is_refused_at_once(wrong: str, tmp_path: Path, named: Named) -> None:
    (tmp_path / "a.py").write_text(f"{NEEDLE}x = {wrong}\n")
    done = named(tmp_path, "a.py")
    assert " GL900 " in done.stdout and done.returncode == 1


def test_empty_and_odd_sources_are_parsed() -> None:
    for source in ("", "\n", "#", "\f", "\ufeff", "x = 1;"):
        assert not isinstance(parse("/x.py", source.encode()), Unparsed), repr(source)


def test_a_rule_that_raises_loses_nothing_else(
    write: Write, agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gllint.run.engine import Engine, Options
    from gllint_rules import Failure
    from gllint_rules.check import check as running
    from gllint_rules.project.project import Project

    top = write({"agent.py": agent, "b.py": agent})

    class Failing(running.Check):
        def __init__(self, project: Project, path: str, codes: frozenset[str]) -> None:
            super().__init__(project, path, codes - {"GL101"})
            self._path = path

        def reports(self, *how: Any) -> Any:
            yield Failure("GL101", self._path, "ValueError: no")
            yield from super().reports(*how)

    honest = running.Check
    monkeypatch.setattr(running, "Check", Failing)
    outcome = Engine(Options(cache=True)).check([str(top)])
    assert [failure.code for failure in outcome.failures] == ["GL101", "GL101"]
    assert [finding.code for finding in outcome.findings] == ["GL401", "GL401"]
    # What failed is not remembered as if it had found nothing.
    monkeypatch.setattr(running, "Check", honest)
    again = Engine(Options(cache=True)).check([str(top)])
    assert not again.failures
    assert len(again.findings) == 6


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text elsewhere")
def test_a_file_whose_name_is_no_text(write: Write, run: Run) -> None:
    tool = "from langchain_core.tools import tool\n\n\n@tool\ndef f(x):\n    return {'a_kwh': 3.5}\n"
    top = write({"agent.py": tool})
    with open(os.fsencode(top) + b"/\xff\xfe.py", "w") as file:
        file.write(tool)
    for name in FORMATS:
        assert run("check", "--output-format", name, cwd=top).returncode == 1, name
    assert run("check", "--fix", "--unsafe-fixes", cwd=top).returncode == 0


@pytest.mark.parametrize("name", ["pyproject.toml", "gllint.toml"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le-sig", "utf-32"])
def test_a_configuration_in_another_encoding_is_told(tmp_path: Path, name: str, encoding: str) -> None:
    text = '[tool.gllint]\nselect = ["GL1"]\n'
    data = b"\xff\xfe" + text.encode("utf-16-le") if encoding == "utf-16-le-sig" else text.encode(encoding)
    (tmp_path / name).write_bytes(data)
    (tmp_path / "a.py").write_text("x = 1\n")
    command = [sys.executable, "-m", "gllint", "check", "--no-cache", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and f"{name}: not UTF-8" in done.stderr

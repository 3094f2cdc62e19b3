"""The `full` format fits on one screen: ten findings in their source, a line for each of a hundred, then counts."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gllint import report
from gllint.report import Diagnostic, Report
from gllint_rules import Finding, Note, Span

Write = Callable[..., Path]
Run = Callable[..., Any]
SOURCE = ["x = 1"] * 1000
UNIT, OPEN = 'Return `{"value": x, "unit": "kWh"}`.', 'Return `{"value": x, "unit": "<unit>"}`.'


def finding(number: int, file: int, code: str = "GL101", help_text: str = OPEN) -> Finding:
    span = Span(number + 1, 1, number + 1, 2)
    return Finding(code, f"/p/f{file}.py", span, "m", help_text, None, (Note("n", "/p/b.py", span),))


def screen(findings: list[Finding], **more: Any) -> list[str]:
    made = Report(
        [Diagnostic(f, f.path[3:], "error") for f in findings],
        lambda _: SOURCE,
        lambda p: p[3:],
        list,
        **more,
    )
    return report.render("full", made).splitlines()


def frames(lines: list[str]) -> list[str]:
    """The heads of the findings that are shown in their source."""
    return [
        line for line, following in itertools.pairwise(lines) if following.endswith(" |") and "GL" in line
    ]


def test_few_of_one_file_and_of_one_rule_are_shown_in_their_source() -> None:
    of_one_file = screen([finding(n, 0, f"GL10{n % 6 + 1}") for n in range(9)])
    assert len(frames(of_one_file)) == 3
    of_one_rule = screen([finding(0, n) for n in range(30)])
    assert len(frames(of_one_rule)) == 5
    of_many = screen([finding(0, n, f"GL{n % 4 + 1}01") for n in range(30)])
    assert len(frames(of_many)) == 10
    assert len([line for line in of_many if "GL" in line]) == 30


def test_what_names_a_unit_comes_first_and_a_help_is_printed_once() -> None:
    lines = screen([finding(0, n, help_text=OPEN) for n in range(5)] + [finding(0, 9, "GL201", UNIT)])
    assert frames(lines)[0].startswith("f9.py:1:1: GL201")
    assert sum("help: " in line for line in lines) == 2
    assert not any("note: " in line for line in lines)


def test_beyond_a_hundred_there_are_counts() -> None:
    lines = screen([finding(n % 50, n // 50) for n in range(250)])
    assert len(lines) <= 300
    assert lines[-3:] == ["GL101 f2.py: 50 more", "GL101 f3.py: 50 more", "GL101 f4.py: 50 more"]
    assert len(screen([finding(0, n, f"GL{n % 4 + 1}01") for n in range(2_000)])) <= 300


def test_a_verbose_report_leaves_nothing_out() -> None:
    lines = screen([finding(0, n) for n in range(30)], verbose=True)
    assert (
        len(frames(lines))
        == sum("help: " in line for line in lines)
        == sum("note: " in line for line in lines)
        == 30
    )


def test_what_a_line_of_configuration_settles_comes_last_as_that_line() -> None:
    several = [finding(n, 0) for n in range(4)]
    lines = screen(several, settled=several[:2], setting='`plain-keys = ["n"]`')
    assert sum(": GL101 " in line for line in lines) == 2
    assert lines[-1].startswith(
        '2 more have keys that name no quantity: `plain-keys = ["n"]` in [tool.gllint] leaves them out'
    )


@pytest.mark.parametrize("arguments", [[], ["--verbose"]])
def test_a_project_of_many_findings(write: Write, run: Run, arguments: list[str]) -> None:
    tool = "@tool\ndef t{0}(site: str) -> dict:\n    return {{'heat_{0}_kwh': 1.5 * len(site)}}\n\n\n"
    text = "from langchain_core.tools import tool\n\n\n" + "".join(tool.format(n) for n in range(25))
    top = write({"gllint.toml": "", **{f"a{n}.py": text for n in range(10)}})
    done = run("check", *arguments, cwd=top)
    shown = done.stdout.decode().splitlines()
    assert done.returncode == 1 and b"Found 250 findings in 10 files" in done.stderr
    assert (len(shown) <= 300) == (not arguments)

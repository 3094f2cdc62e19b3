"""Test the examples on a rule's page: code under *Bad* must be reported, code under *Good* must not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gllint_rules.check.check import check
from gllint_rules.finding import Failure, Finding
from gllint_rules.project.project import Project
from gllint_rules.reading.modules import read_module
from gllint_rules.reading.positions import Lines
from gllint_rules.reading.syntax import ParseFailure
from gllint_rules.rule import Rule
from gllint_rules.words.settings import Settings

SECTIONS = ("What it does", "Why is this bad?", "Bad", "Good", "How to fix", "Options", "References")
_SECTION = re.compile(r"^## (?P<title>.+?)\n(?P<text>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


def example_problems(rule: Rule) -> list[str]:
    """Return what is wrong with the page and the examples of a rule. For the tests of packages with rules."""
    return list(_problems(rule))


def _problems(rule: Rule) -> Iterator[str]:
    """Yield what is wrong with the page of a rule or its examples."""
    sections = {match["title"]: match["text"] for match in _SECTION.finditer(rule.documentation)}
    for title in SECTIONS:
        if not sections.get(title, "").strip():
            yield f"the page has no section '{title}'"
    for title, is_bad in (("Bad", True), ("Good", False)):
        blocks = _BLOCK.findall(sections.get(title, ""))
        if not blocks:
            yield f"the section '{title}' shows no Python"
        for code in blocks:
            reports = _reports_on(rule, code)
            yield from (
                f"{title}: the rule raised {item.error}" for item in reports if isinstance(item, Failure)
            )
            if is_bad and not any(not isinstance(item, Failure) for item in reports):
                yield f"{title}: nothing is reported"
            elif is_bad and rule.fix in ("safe", "unsafe"):
                yield from _fix_problems(rule, code, [item for item in reports if isinstance(item, Finding)])
            for item in reports:
                if not is_bad and not isinstance(item, Failure):
                    yield f"{title}: line {item.span.line} is reported: {item.message}"


def _fix_problems(rule: Rule, code: str, findings: list[Finding]) -> Iterator[str]:
    """Yield what is wrong with the fixes of a rule that promises one for each finding."""
    lines = Lines(code)
    for finding in findings:
        where = f"Bad: the fix of line {finding.span.line}"
        if finding.fix is None:
            yield f"{where} is missing"
            continue
        if finding.fix.applicability != rule.fix:
            yield f"{where} is {finding.fix.applicability}, not {rule.fix}"
        text = code
        for edit in sorted(finding.fix.edits, reverse=True):
            span = edit.span
            begin, end = lines.offset(span.line, span.column), lines.offset(span.end_line, span.end_column)
            text = text[:begin] + edit.content + text[end:]
        try:
            reports = _reports_on(rule, text)
        except ParseFailure as error:
            yield f"{where} makes invalid Python: {error.message}"
            continue
        if sum(isinstance(item, Finding) for item in reports) >= len(findings):
            yield f"{where} leaves as many findings as before"


def _reports_on(rule: Rule, code: str) -> list[Finding | Failure]:
    """Return what a rule reports on a project of one file with this code."""
    path = "/project/example.py"
    project = Project(Settings(), lambda _: None, lambda _: False, lambda _: code, "/project")
    project.add(read_module(path, code))
    return list(check(project, path, frozenset({rule.code})))

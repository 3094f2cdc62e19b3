"""JUnit XML: a suite for each file, a failing case for each finding."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from gllint.report import Diagnostic, Report, position
from gllint.shown import visible


def render(report: Report) -> str:
    """Return the document. Without findings it has one passing case, since tools take an empty report for a failure."""
    suites: dict[str, list[Diagnostic]] = {}
    for diagnostic in report.diagnostics:
        suites.setdefault(diagnostic.path, []).append(diagnostic)
    body = "".join(_suite(path, diagnostics) for path, diagnostics in suites.items()) or _passing_suite()
    count = len(report.diagnostics)
    head = f'<testsuites name="gllint" tests="{count or 1}" failures="{count}" errors="0">\n'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}{body}</testsuites>\n'


def _suite(path: str, diagnostics: list[Diagnostic]) -> str:
    cases = "".join(_case(diagnostic) for diagnostic in diagnostics)
    counts = f'tests="{len(diagnostics)}" failures="{len(diagnostics)}" errors="0" skipped="0"'
    return f'  <testsuite name={_attribute(path)} package="gllint" {counts}>\n{cases}  </testsuite>\n'


def _case(diagnostic: Diagnostic) -> str:
    """Return a finding as a failed test case."""
    finding = diagnostic.finding
    name = f"{finding.code} at {position(finding.span, diagnostic.cell)}"
    where = f"classname={_attribute(diagnostic.path)} name={_attribute(name)}"
    place = visible(f"{diagnostic.where}: {finding.code} {finding.message}")
    text = place + (f"\n{visible(finding.help)}" if finding.help else "")
    failure = f"type={_attribute(diagnostic.severity)} message={_attribute(diagnostic.message)}"
    return (
        f'    <testcase {where} time="0">\n'
        f"      <failure {failure}>{escape(text)}</failure>\n"
        f"    </testcase>\n"
    )


def _passing_suite() -> str:
    return (
        '  <testsuite name="gllint" package="gllint" tests="1" failures="0" errors="0" skipped="0">\n'
        '    <testcase classname="gllint" name="No findings" time="0"/>\n'
        "  </testsuite>\n"
    )


def _attribute(text: str) -> str:
    # What XML 1.0 cannot contain is among what cannot be shown either.
    return quoteattr(visible(text))

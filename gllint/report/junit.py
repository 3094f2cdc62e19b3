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
    body = "".join(_suite(path, diagnostics) for path, diagnostics in suites.items())
    count, errors = len(report.diagnostics), len(report.failures)
    if errors or not count:
        body += _own_suite([*map(visible, report.failures)])
    head = f'<testsuites name="gllint" tests="{count + errors or 1}" failures="{count}" errors="{errors}">\n'
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


def _own_suite(errors: list[str]) -> str:
    """Return a suite with a test case for each internal error, or one that says that there are no findings."""
    counts = f'tests="{len(errors) or 1}" failures="0" errors="{len(errors)}" skipped="0"'
    case = '    <testcase classname="gllint" name="{}" time="0"'
    cases = "".join(
        f"{case.format('Internal error')}><error message={_attribute(error)}/></testcase>\n"
        for error in errors
    )
    cases = cases or f"{case.format('No findings')}/>\n"
    return f'  <testsuite name="gllint" package="gllint" {counts}>\n{cases}  </testsuite>\n'


def _attribute(text: str) -> str:
    # What XML 1.0 cannot contain is among what cannot be shown either.
    return quoteattr(visible(text))

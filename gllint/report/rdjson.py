"""The Diagnostic Format of reviewdog, with a suggestion where a fix is a single edit."""

from __future__ import annotations

import json
from typing import Any

from gllint.report import Diagnostic, Report
from gllint_rules import Edit, Span
from gllint_rules.rule import home_page

_SEVERITIES = {"error": "ERROR", "warning": "WARNING", "info": "INFO"}


def render(report: Report) -> str:
    """Return one object with all diagnostics. Columns count bytes of UTF-8 from 1, as the format wants them."""
    home = home_page()
    document = {
        "source": {"name": "gllint", **({"url": home} if home else {})},
        "diagnostics": [_diagnostic(diagnostic, report) for diagnostic in report.diagnostics],
    }
    return json.dumps(document, indent=2) + "\n"


def _diagnostic(diagnostic: Diagnostic, report: Report) -> dict[str, Any]:
    """Return a finding in the Diagnostic Format of reviewdog."""
    finding, rule = diagnostic.finding, diagnostic.rule
    lines = report.lines(finding.path) if diagnostic.cell is None else []
    suggestion = _suggestion(diagnostic)
    help_text = f" {finding.help}" if finding.help else ""
    return {
        "message": f"{diagnostic.message}.{help_text}" if help_text else diagnostic.message,
        "location": {"path": diagnostic.path, "range": _range(diagnostic.in_file, lines)},
        "severity": _SEVERITIES[diagnostic.severity],
        "code": {"value": finding.code, **({"url": rule.url} if rule.url else {})},
        **(
            {"suggestions": [{"range": _range(suggestion.span, lines), "text": suggestion.content}]}
            if suggestion is not None
            else {}
        ),
    }


def _suggestion(diagnostic: Diagnostic) -> Edit | None:
    """Return the edit of a fix that has only one. Reviewdog would offer several one by one, and half a fix is wrong."""
    fix = diagnostic.finding.fix
    return fix.edits[0] if fix is not None and len(fix.edits) == 1 and diagnostic.cell is None else None


def _range(span: Span, lines: list[str]) -> dict[str, Any]:
    return {
        "start": {"line": span.line, "column": _byte_column(lines, span.line, span.column)},
        "end": {"line": span.end_line, "column": _byte_column(lines, span.end_line, span.end_column)},
    }


def _byte_column(lines: list[str], line: int, column: int) -> int:
    """Return a column counted in bytes of UTF-8. Of a line that is not in ``lines``, the column is unchanged."""
    text = lines[line - 1] if line <= len(lines) else ""
    if text.isascii():
        return column
    return len(text[: column - 1].encode("utf-8", "surrogatepass")) + 1

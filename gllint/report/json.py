"""JSON: one array, sorted by path, line, column and code."""

from __future__ import annotations

import json
from typing import Any

from gllint.report import Diagnostic, Report
from gllint_rules import Edit


def render(report: Report) -> str:
    """Return the array."""
    return json.dumps([_entry(diagnostic) for diagnostic in report.diagnostics], indent=2) + "\n"


def _entry(diagnostic: Diagnostic) -> dict[str, Any]:
    finding, rule = diagnostic.finding, diagnostic.rule
    span, fix = finding.span, finding.fix
    return {
        "code": finding.code,
        "name": rule.name,
        "message": finding.message,
        "help": finding.help,
        "severity": diagnostic.severity,
        "path": diagnostic.path,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "fix": None
        if fix is None
        else {
            "applicability": fix.applicability,
            "message": fix.message,
            "edits": [_edit(edit) for edit in fix.edits],
        },
        "url": rule.url,
        "kind": finding.kind,
        "tools": [tool.name for tool in finding.tools if tool.name],
    }


def _edit(edit: Edit) -> dict[str, Any]:
    span = edit.span
    return {
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "content": edit.content,
    }

"""JSON: one array, sorted by path, line, column and code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gllint.report import Diagnostic, Report
from gllint_rules import Edit, Span

if TYPE_CHECKING:
    from gllint.files.notebooks import Place


def render(report: Report) -> str:
    """Return the array."""
    return json.dumps([entry(diagnostic, report) for diagnostic in report.diagnostics], indent=2) + "\n"


def entry(diagnostic: Diagnostic, report: Report) -> dict[str, Any]:
    """Return a finding as an object. Scripts rely on its keys."""
    finding, rule = diagnostic.finding, diagnostic.rule
    span, fix, cell = finding.span, finding.fix, diagnostic.cell
    return {
        "code": finding.code,
        "name": rule.name,
        "message": finding.message,
        "help": finding.help,
        "severity": diagnostic.severity,
        "path": diagnostic.path,
        **_places(span, cell),
        "fix": None
        if fix is None
        else {
            "applicability": fix.applicability,
            "message": fix.message,
            "edits": [_edit(edit, finding.path, report) for edit in fix.edits],
        },
        "url": rule.url or None,
        "cell": None if cell is None else cell.cell,
        "kind": finding.kind,
        "tools": [tool.name for tool in finding.tools if tool.name],
    }


def _edit(edit: Edit, path: str, report: Report) -> dict[str, Any]:
    """Return one edit as an object; in a notebook with its cell, which may differ from the finding's."""
    span, cell = edit.span, report.cell(path, edit.span.line)
    return {
        **_places(span, cell),
        "content": edit.content,
        **({} if cell is None else {"cell": cell.cell}),
    }


def _places(span: Span, cell: Place | None) -> dict[str, int]:
    """Return the lines and columns of a span. In a notebook, lines are counted within the cell."""
    shift = 0 if cell is None else cell.line - span.line
    return {
        "line": span.line + shift,
        "column": span.column,
        "end_line": span.end_line + shift,
        "end_column": span.end_column,
    }

"""Workflow commands that GitHub Actions shows as annotations on the changed lines."""

from __future__ import annotations

from gllint.report import Diagnostic, Report
from gllint.shown import visible

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def render(report: Report) -> str:
    """Return one command for each diagnostic, and for each file and folder that was not checked."""
    unread_files = [
        f"::warning title=gllint,file={_property(path)}::{_data(visible(f'{path}: not checked: {why}'))}\n"
        for path, why in report.unread_files.items()
    ]
    return "".join([*map(_command, report.diagnostics), *unread_files])


def _command(diagnostic: Diagnostic) -> str:
    """Return a finding as an annotation of GitHub."""
    finding = diagnostic.finding
    span = diagnostic.in_file
    properties = {
        "title": f"gllint ({finding.code})",
        "file": diagnostic.path,
        "line": span.line,
        "endLine": span.end_line,
    }
    if span.line == span.end_line:
        # GitHub rejects columns on an annotation of several lines.
        properties |= {"col": span.column, "endColumn": span.end_column}
    listed = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    text = f"{diagnostic.where}: {finding.code} {finding.message}"
    return f"::{_COMMANDS[diagnostic.severity]} {listed}::{_data(visible(text))}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    # Line ends have an escape here, so that the name stays the file's own; other such characters have none.
    escaped_text = "".join(c if c in "\r\n" else visible(c) for c in text)
    return _data(escaped_text).replace(":", "%3A").replace(",", "%2C")

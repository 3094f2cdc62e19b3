"""GitLab's code quality report: an array of the issues, each with a fingerprint of its own."""

from __future__ import annotations

import json
import os
from typing import Any

from gllint.files.paths import absolute
from gllint.report import Diagnostic, Report

_SEVERITIES = {"error": "major", "warning": "minor", "info": "info"}


def render(report: Report) -> str:
    """Return the array. Paths are relative to ``CI_PROJECT_DIR``, the folder of the repository."""
    entries = [
        _entry(diagnostic, fingerprint)
        for diagnostic, fingerprint in zip(report.diagnostics, report.fingerprints(), strict=True)
    ]
    return json.dumps(entries, indent=2) + "\n"


def _entry(diagnostic: Diagnostic, fingerprint: str) -> dict[str, Any]:
    """Return a finding as an entry of GitLab's Code Quality report."""
    finding = diagnostic.finding
    span = diagnostic.in_file
    return {
        "description": f"{finding.code} {diagnostic.message}",
        "check_name": finding.code,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[diagnostic.severity],
        "location": {
            "path": _in_repository(diagnostic),
            "positions": {
                "begin": {"line": span.line, "column": span.column},
                "end": {"line": span.end_line, "column": span.end_column},
            },
        },
    }


def _in_repository(diagnostic: Diagnostic) -> str:
    top = os.environ.get("CI_PROJECT_DIR")
    if top:
        prefix = absolute(top).rstrip("/") + "/"
        if diagnostic.finding.path.startswith(prefix):
            return diagnostic.finding.path.removeprefix(prefix)
    return diagnostic.path

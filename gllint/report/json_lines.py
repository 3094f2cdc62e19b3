"""JSON Lines: one object a finding, as in the array of ``json``, for what reads line by line."""

from __future__ import annotations

import json

from gllint.report import Report
from gllint.report.json import entry


def render(report: Report) -> str:
    """Return one line for each diagnostic."""
    return "".join(json.dumps(entry(diagnostic, report)) + "\n" for diagnostic in report.diagnostics)

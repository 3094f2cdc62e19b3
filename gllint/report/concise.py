"""One line a finding: ``path:line:column: CODE message``."""

from __future__ import annotations

from gllint.report import Report
from gllint.shown import visible


def render(report: Report) -> str:
    """Return one line for each diagnostic."""
    return "".join(
        visible(f"{d.where}: {d.finding.code} {d.finding.message}") + "\n" for d in report.diagnostics
    )

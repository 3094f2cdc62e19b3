"""For coding agents: one line a finding, short, with what to write instead.

``PATH:LINE:COLUMN CODE MESSAGE | REPAIR``. Without path and repair a line has at most :data:`LONGEST` bytes; line
breaks in the repair are written as ``\\n``; a finding without a help or a fix has an empty repair.
"""

from __future__ import annotations

from gllint.report import Diagnostic, Report
from gllint.shown import visible

LONGEST = 160
_ELLIPSIS = "…"


def render(report: Report) -> str:
    """Return one line for each diagnostic."""
    return "".join(f"{line(diagnostic)}\n" for diagnostic in report.diagnostics)


def line(diagnostic: Diagnostic) -> str:
    """Return a finding as one line, without its end."""
    finding = diagnostic.finding
    path = visible(diagnostic.path)
    place = diagnostic.where.removeprefix(diagnostic.path)
    head, tail = f"{place} {finding.code} ", " | "
    room = LONGEST - len((head + tail).encode())
    return f"{path}{head}{_shortened(visible(finding.message), room)}{tail}{_repair(diagnostic)}"


def _repair(diagnostic: Diagnostic) -> str:
    """Say what to do: the help, else what the fix does."""
    finding = diagnostic.finding
    text = finding.help or (f"{finding.fix.message}." if finding.fix is not None else "")
    return "\\n".join(visible(part) for part in text.splitlines())


def _shortened(text: str, room: int) -> str:
    """Return ``text`` cut to at most ``room`` bytes of UTF-8, with an ellipsis."""
    data = text.encode("utf-8", "backslashreplace")
    if len(data) <= room:
        return data.decode()
    return data[: room - len(_ELLIPSIS.encode())].decode("utf-8", "ignore") + _ELLIPSIS

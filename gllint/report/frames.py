"""The stretch of source around a finding."""

from __future__ import annotations

from collections.abc import Iterator

from gllint.report import Diagnostic, Report

CONTEXT = 2


def window(lines: list[str], diagnostic: Diagnostic, report: Report) -> Iterator[tuple[int, int]]:
    """Yield the lines to show around a finding: the number of each in the file, and the one that people see.

    In a notebook these are lines of its cell; blank ones at either end are left out.
    """
    span, cell = diagnostic.finding.span, diagnostic.cell
    first, last = max(1, span.line - CONTEXT), min(len(lines), span.line + CONTEXT)
    if span.line > len(lines):
        return
    if cell is not None:  # what is in other cells is no context
        cells = [report.cell(diagnostic.finding.path, number) for number in range(first, last + 1)]
        own = [first + i for i, at in enumerate(cells) if at is not None and at.cell == cell.cell]
        first, last = min(own, default=span.line), max(own, default=span.line)
    shift = 0 if cell is None else cell.line - span.line
    while first < span.line and not lines[first - 1].strip():
        first += 1
    while last > span.line and not lines[last - 1].strip():
        last -= 1
    for number in range(first, last + 1):
        yield number, number + shift

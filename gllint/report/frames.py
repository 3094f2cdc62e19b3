"""The stretch of source around a finding."""

from __future__ import annotations

from collections.abc import Iterator

from gllint.report import Diagnostic, Report

CONTEXT = 2


def window(lines: list[str], diagnostic: Diagnostic, report: Report) -> Iterator[tuple[int, int]]:
    """Yield the lines to show around a finding, each as its number in ``lines`` and the number to print.

    In a notebook, only lines of its cell are shown, numbered within the cell. Blank lines at both ends are left out.
    """
    span, cell = diagnostic.finding.span, diagnostic.cell
    first, last = max(1, span.line - CONTEXT), min(len(lines), span.line + CONTEXT)
    if span.line > len(lines):
        return
    if cell is not None:
        places = [report.cell(diagnostic.finding.path, number) for number in range(first, last + 1)]
        same = [first + i for i, place in enumerate(places) if place is not None and place.cell == cell.cell]
        first, last = min(same, default=span.line), max(same, default=span.line)
    shift = 0 if cell is None else cell.line - span.line
    while first < span.line and not lines[first - 1].strip():
        first += 1
    while last > span.line and not lines[last - 1].strip():
        last -= 1
    for number in range(first, last + 1):
        yield number, number + shift

"""Writing suppressions: a comment for each finding, at a place that stays valid after formatting."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable

from gllint.files.source import Change, Offsets, main_newline
from gllint.verdict.statements import Position, Statement
from gllint.verdict.suppress import NOQA, Comments
from gllint_rules import Finding
from gllint_rules.tuples import NamedTuple

# Findings about comments themselves, or about files that are not Python.
_NOT_SUPPRESSIBLE = frozenset({"GL900", "GL901", "GL902"})


class Form(NamedTuple):
    """The form of a suppression: ``pattern`` finds one in a line, with its ``codes``."""

    pattern: re.Pattern[str]
    begin: str
    end: str


AS_NOQA = Form(NOQA, "# noqa: ", "")
AS_IGNORE = Form(
    re.compile(r"#\s*gllint:\s*ignore\s*\[(?P<codes>[^\]]*)\]", re.IGNORECASE), "# gllint: ignore[", "]"
)


class Spot(NamedTuple):
    """The place of a new suppression: at the end of a line, on a line of its own above it, or around its lines."""

    where: str
    line: int
    last: int


def add_noqa(source: str, findings: Iterable[Finding]) -> list[Change]:
    """Return the changes of the source that suppress its findings."""
    return suppressing(Comments(source), findings, AS_NOQA, Offsets(source).at)


def suppressing(
    comments: Comments, findings: Iterable[Finding], form: Form, at: Callable[[int, int], int]
) -> list[Change]:
    """Return the changes that add comments which suppress ``findings``; ``at`` gives the offset of a line and
    column.
    """
    wanted: dict[Spot, set[str]] = defaultdict(set)
    for finding in findings:
        if finding.code not in _NOT_SUPPRESSIBLE:
            wanted[spot(comments, comments.position(finding))].add(finding.code)
    writer = _Writer(comments, form, at)
    return [change for place, codes in wanted.items() for change in writer.changes(place, sorted(codes))]


def spot(comments: Comments, position: Position) -> Spot:
    """Return where the comment that suppresses a finding at a position goes.

    That is the end of its line if the comment stays there when a formatter joins or breaks lines; else the end of the
    statement; else the line above it. One of several statements on a line is enclosed (``disable`` … ``enable``).
    """
    row_end = comments.row(position[0])[1]
    statement = comments.statements.at(position)
    if statement is None:
        return Spot("behind", row_end, row_end)
    last = comments.row(statement.range.end[0])[1]
    if row_end < last and _stays(statement, row_end, position):
        return Spot("behind", row_end, row_end)
    first = statement.range.begin[0]
    if comments.statements.on(last)[-1] is statement:
        return Spot("behind", last, last)
    if comments.statements.on(first)[0] is statement:
        return Spot("above", first, first)
    return Spot("around", comments.statements.on(first)[0].range.begin[0], last)


def _stays(statement: Statement, line: int, position: Position) -> bool:
    """Say whether a comment on a line within a statement covers this element alone."""
    elements = statement.elements_on(line)
    return len(elements) == 1 and elements[0].holds(position)


class _Writer:
    def __init__(self, comments: Comments, form: Form, at: Callable[[int, int], int]) -> None:
        """Find the suppressions that are in the source already."""
        self._comments, self._form, self._at = comments, form, at
        self._suppressions = {
            line: (column, match)
            for line, column, text in comments.comments
            if (match := form.pattern.search(text)) is not None
        }
        self._newline = main_newline(comments.source)

    def changes(self, place: Spot, codes: list[str]) -> list[Change]:
        """Return the changes that write ``codes`` at a place; to a suppression that is there already the new ones
        are added.
        """
        lines, at, listed = self._comments.lines, self._at, ", ".join(codes)
        body = lines[place.line - 1] if place.line <= len(lines) else ""
        indent = body[: len(body) - len(body.lstrip())]
        line_start = at(place.line, 1)
        if place.where == "around":
            begin = f"{indent}# gllint: disable[{listed}]{self._newline}"
            return [
                (line_start, line_start, begin),
                self._enabling(place.last, f"{indent}# gllint: enable[{listed}]"),
            ]
        suppression = self._suppressions.get(place.line if place.where == "behind" else place.line - 1)
        if place.where == "above" and (
            suppression is None or lines[place.line - 2][: suppression[0] - 1].strip()
        ):
            return [
                (line_start, line_start, f"{indent}{self._form.begin}{listed}{self._form.end}{self._newline}")
            ]
        if suppression is None:
            text = f"  {self._form.begin}{listed}{self._form.end}"
            return [(at(place.line, len(body.rstrip()) + 1), at(place.line, len(body) + 1), text)]
        column, match = suppression
        if match["codes"] is None:
            return []
        old_codes = [code.upper() for code in re.split(r"[,\s]+", match["codes"]) if code]
        end = at(place.line - (place.where == "above"), column + match.end("codes"))
        added = ", ".join(code for code in codes if code not in old_codes)
        return [(end, end, f"{', ' if old_codes else ''}{added}")] if added else []

    def _enabling(self, line: int, text: str) -> Change:
        if self._comments.ends(line):
            next_line = self._at(line + 1, 1)
            return next_line, next_line, f"{text}{self._newline}"
        end = self._at(line, len(self._comments.lines[line - 1]) + 1)
        return end, end, f"{self._newline}{text}"

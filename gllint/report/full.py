"""For people: a first screen of the findings, or with ``--verbose`` each with its source and evidence.

The first screen has up to ten findings with their source, those first whose help names a unit; then a line a finding,
up to a hundred findings; then a line a rule and file. At the end is a setting that would leave findings out.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate

from gllint.report import Diagnostic, Report, position
from gllint.report.frames import CONTEXT, window
from gllint.shown import visible
from gllint_rules import Span
from gllint_rules.tuples import NamedTuple

_MAX_WIDTH = 160
_TAB = "    "
_COLOURS = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "info": "\x1b[1;36m"}
_BOLD, _BLUE, _RESET = "\x1b[1m", "\x1b[1;34m", "\x1b[0m"


FRAMES, _OF_ONE_FILE, _OF_ONE_RULE = 10, 3, 5
LINES = 100
_GROUPS = 100


def render(report: Report) -> str:
    """Return the findings as text: a first screen, or with ``--verbose`` a block for each."""
    if report.verbose:
        return "\n".join(_block(diagnostic, report, set()) for diagnostic in report.diagnostics)
    settled = set(report.settled)
    remaining = [diagnostic for diagnostic in report.diagnostics if diagnostic.finding not in settled]
    with_source = _with_source(remaining)
    rest = [diagnostic for diagnostic in remaining if diagnostic not in with_source]
    line_count = LINES - len(with_source)
    helps: set[str] = set()
    parts = [
        *(_block(diagnostic, report, helps) for diagnostic in with_source),
        "".join(f"{_head(diagnostic, report)}\n" for diagnostic in rest[:line_count]),
        "".join(f"{line}\n" for line in _group_lines(rest[line_count:])),
        f"{_settled_line(report)}\n" if settled else "",
    ]
    return "\n".join(filter(None, parts))


def _settled_line(report: Report) -> str:
    """Return a line that says how many findings a setting would leave out."""
    count = len(report.settled)
    one = count == 1
    return (
        f"{count} more {'has a key that names' if one else 'have keys that name'} no quantity: "
        f"{visible(report.setting)} in [tool.gllint] leaves "
        f"{'it' if one else 'them'} out (`gllint init` writes it, --verbose shows {'it' if one else 'them'})"
    )


def _with_source(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Return the findings to show with their source: at most ten, few of each file and rule.

    Those whose help names a unit come first.
    """
    first_screen: list[Diagnostic] = []
    files, rules = Counter[str](), Counter[str]()
    for diagnostic in sorted(diagnostics, key=lambda d: not _names_unit(d.finding.help)):
        path, code = diagnostic.path, diagnostic.finding.code
        if len(first_screen) < FRAMES and files[path] < _OF_ONE_FILE and rules[code] < _OF_ONE_RULE:
            first_screen.append(diagnostic)
            files[path] += 1
            rules[code] += 1
    return first_screen


def _names_unit(help_text: str) -> bool:
    return '"unit": "' in help_text and '"unit": "<unit>"' not in help_text


def _group_lines(diagnostics: Sequence[Diagnostic]) -> Iterator[str]:
    """Yield a line for each of the first hundred pairs of rule and file, and one line for all others."""
    counts = Counter((d.finding.code, visible(d.path)) for d in diagnostics)
    for (code, path), count in list(counts.items())[:_GROUPS]:
        yield f"{code} {path}: {count} more"
    if rest := list(counts.items())[_GROUPS:]:
        files = len({path for (_, path), _ in rest})
        yield f"{sum(count for _, count in rest)} more in {files} other files: --verbose shows all"


def _head(diagnostic: Diagnostic, report: Report) -> str:
    finding = diagnostic.finding
    paint = _painter(report.colour)
    place = paint(_BOLD, visible(diagnostic.path)) + f":{position(finding.span, diagnostic.cell)}:"
    level = "" if diagnostic.severity == "error" else f"{diagnostic.severity}: "
    return f"{place} {paint(_COLOURS[diagnostic.severity], finding.code)} {level}{visible(finding.message)}"


def _block(diagnostic: Diagnostic, report: Report, helps: set[str]) -> str:
    """Return a finding with its source, and with its help unless that is in ``helps``, to which it is added."""
    finding = diagnostic.finding
    span = finding.span
    paint = _painter(report.colour)
    block = [_head(diagnostic, report)]
    lines = report.lines(finding.path)
    width = len(str(min(span.line + CONTEXT, len(lines)) or 1))
    gutter = " " * width + paint(_BLUE, " |")
    frame = list(_frame(lines, span, width, report.colour, diagnostic, report))
    if frame:
        block += [gutter, *frame, gutter]
    margin = " " * width + paint(_BLUE, " = ")
    if finding.help and finding.help not in helps:
        helps.add(finding.help)
        block.append(f"{margin}{paint(_BOLD, 'help')}: {visible(finding.help)}")
    if finding.fix is not None:
        flag = "--fix" if finding.fix.applicability == "safe" else "--fix --unsafe-fixes"
        block.append(f"{margin}{paint(_BOLD, 'fix')}: {visible(finding.fix.message)} ({flag})")
    # A dict, since parts of one value may have the same note at the same place.
    notes: dict[str, None] = {}
    for note in finding.notes if report.verbose else ():
        at = position(note.span, report.cell(note.path, note.span.line))
        where = f"{visible(report.show(note.path))}:{at}"
        notes[f"{margin}{paint(_BOLD, 'note')}: {where}: {visible(note.message)}"] = None
    block += notes
    return "\n".join(block) + "\n"


def _frame(
    lines: list[str], span: Span, width: int, colour: bool, diagnostic: Diagnostic, report: Report
) -> Iterator[str]:
    """Yield the lines of source around a finding, with the finding underlined."""
    paint = _painter(colour)
    numbers = list(window(lines, diagnostic, report))
    if not numbers:
        return
    shift = _shift(lines[span.line - 1], span)
    for number, label in numbers:
        text = _clip(lines[number - 1], shift)
        yield f"{paint(_BLUE, f'{label:>{width}} |')} {text}".rstrip()
        if number == span.line:
            start, length = _underline(lines[number - 1], span)
            length = max(1, min(length, _MAX_WIDTH - (start - shift)))
            marks = " " * (start - shift) + paint(_COLOURS["error"], "^" * length)
            yield f"{' ' * width}{paint(_BLUE, ' |')} {marks}"


class _DisplayLine(NamedTuple):
    """A line of source as it is shown, measured in cells of the terminal.

    ``columns`` has the cell in which each character of the source begins, ``cells`` the same for each character of
    ``text``; the last item of both is the end of the line.
    """

    text: str
    columns: Sequence[int]
    cells: Sequence[int]


@lru_cache(maxsize=4 * CONTEXT)
def _display_line(line: str) -> _DisplayLine:
    """Return a line as it is shown. Cached, since many findings may be on one line."""
    text = visible(line.replace("\t", _TAB))
    if text == line and text.isascii():
        return _DisplayLine(text, range(len(text) + 1), range(len(text) + 1))
    widths = [_cells(visible(character.replace("\t", _TAB))) for character in line]
    return _DisplayLine(text, [*accumulate(widths, initial=0)], [*accumulate(map(_cells, text), initial=0)])


def _underline(line: str, span: Span) -> tuple[int, int]:
    """Return where the marks begin, in cells of the terminal, and how many there are."""
    columns = _display_line(line).columns
    end = min(span.end_column - 1 if span.end_line == span.line else len(line), len(line))
    start = columns[min(span.column - 1, len(line))]
    return start, max(1, columns[end] - start)


def _shift(line: str, span: Span) -> int:
    """Return how many cells to cut off on the left, so that the finding in a very long line is visible."""
    start, length = _underline(line, span)
    # The first 40 marks are enough to recognise a long finding.
    return max(0, start - _MAX_WIDTH // 2) if start + min(length, 40) > _MAX_WIDTH else 0


def _clip(line: str, shift: int) -> str:
    text, _, cells = _display_line(line)
    return text[
        bisect_left(cells, shift, 0, len(text)) : bisect_left(cells, shift + _MAX_WIDTH, 0, len(text))
    ]


def _cells(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def _painter(colour: bool) -> Callable[[str, str], str]:
    return (lambda style, text: f"{style}{text}{_RESET}") if colour else (lambda style, text: text)

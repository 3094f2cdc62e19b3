"""How findings are reported: one module a format, each a pure function from a report to text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, cast

from gllint.report.unseen import Unseen
from gllint_rules import RULES, Finding, Rule, Span
from gllint_rules.tuples import NamedTuple

if TYPE_CHECKING:
    from gllint.files.notebooks import Place
    from gllint_rules.check.map import Map

# The formats, and whether they report fixes, which take longer to work out than findings.
FORMATS = {
    "full": True, "concise": False, "json": True, "json-lines": True, "sarif": True, "github": False, "gitlab": False,
    "junit": False, "rdjson": True, "agent": False,
}  # fmt: skip
# The page that `gllint report` writes.
PAGE = "html"

PLURALS = {"identifier": "identifiers", "index": "indexes", "count": "counts"}


class Diagnostic(NamedTuple):
    """A finding with what reports add: the ``path`` to show, and a ``severity`` of error, warning or info.

    ``cell`` is where it begins in a notebook; ``is_known`` says that it is in the baseline.
    """

    finding: Finding
    path: str
    severity: str
    cell: Place | None = None
    is_known: bool = False

    @property
    def rule(self) -> Rule:
        """The rule behind it."""
        return RULES[self.finding.code]

    @property
    def where(self) -> str:
        """Its place for people: ``path:12:5``, in a notebook ``path:cell 3:12:5``."""
        return f"{self.path}:{position(self.finding.span, self.cell)}"

    @property
    def in_file(self) -> Span:
        """The place in the file, for formats that know no cells: in a notebook its line of JSON."""
        return in_file(self.finding.span, self.cell)

    @property
    def message(self) -> str:
        """The message for formats that know no cells: in a notebook it names the cell."""
        return in_cell(self.finding.message, self.finding.span, self.cell)


class Report(NamedTuple):
    """What the output formats are made from.

    - ``lines`` returns a file's lines by its absolute path, ``show`` the path to show for it.
    - ``fingerprints`` returns one for each diagnostic, in order; it stays the same when lines move.
    - ``cell`` returns the cell of a line of a notebook.
    - ``maps`` say where numbers come from, one for each project; only the HTML page has them.
    - ``has_baseline``: the findings were compared with a baseline.
    - ``unseen`` is what was not checked, ``failures`` the rules that failed, as sentences.
    - ``settled`` are the findings that the lines of configuration in ``setting`` would leave out.
    - ``verbose``: nothing is left out.
    """

    diagnostics: Sequence[Diagnostic]
    lines: Callable[[str], list[str]]
    show: Callable[[str], str]
    fingerprints: Callable[[], list[str]]
    checked: Sequence[str] = ()
    colour: bool = False
    cell: Callable[[str, int], Place | None] = lambda path, line: None
    maps: Sequence[Map] = ()
    has_baseline: bool = False
    unseen: Unseen = Unseen()
    failures: Sequence[str] = ()
    settled: Sequence[Finding] = ()
    setting: str = ""
    verbose: bool = False

    @property
    def unread_files(self) -> Mapping[str, str]:
        """The files and folders (with a slash) that were left out without a finding, each with the reason."""
        reported = {d.path for d in self.diagnostics if d.finding.code == "GL900"}
        return {path: why for path, why in self.unseen.files.items() if path not in reported}


def position(span: Span, cell: Place | None) -> str:
    """Return line and column, in a notebook those within the cell: ``12:5``, ``cell 3:2:5``."""
    return f"{span.line}:{span.column}" if cell is None else f"cell {cell.cell}:{cell.line}:{span.column}"


def in_file(span: Span, cell: Place | None) -> Span:
    """Return ``span``; in a notebook, the first character of the line of JSON where it begins."""
    return span if cell is None else Span(cell.file_line, 1, cell.file_line, 2)


def in_cell(message: str, span: Span, cell: Place | None) -> str:
    """Return ``message``; in a notebook, with the place in its cell before it: ``cell 3, 2:5: …``."""
    return message if cell is None else f"cell {cell.cell}, {cell.line}:{span.column}: {message}"


def render(format_name: str, report: Report) -> str:
    """Return the report in one of :data:`FORMATS`; text that is not empty ends with a newline."""
    if not report.diagnostics and format_name in ("full", "concise", "agent"):
        return ""
    module = import_module(f"gllint.report.{format_name.replace('-', '_')}")
    return cast(Callable[[Report], str], module.render)(report)


def statistics(
    report: Report, by: Callable[[Diagnostic], str | None], code: str | None = None
) -> Mapping[str, int]:
    """Count the findings (those of ``code`` alone, if given) by the value of ``by``, the most frequent first.

    Findings for which ``by`` returns None are not counted.
    """
    counts: dict[str, int] = {}
    for diagnostic in report.diagnostics:
        key = by(diagnostic) if code in (None, diagnostic.finding.code) else None
        if key is not None:
            counts[key] = counts.get(key, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

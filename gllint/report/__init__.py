"""How findings are told: one module a format, each a pure function from a report to text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import NamedTuple, cast

from gllint_rules import RULES, Finding, Rule

# The formats, and whether they tell of fixes, which take longer to work out than findings.
FORMATS = {
    "full": True, "concise": False, "json": True, "sarif": True, "github": False, "gitlab": False, "junit": False,
}  # fmt: skip


class Diagnostic(NamedTuple):
    """A finding as it is shown: ``path`` for people, ``severity`` error, warning or info."""

    finding: Finding
    path: str
    severity: str

    @property
    def rule(self) -> Rule:
        """The rule behind it."""
        return RULES[self.finding.code]


class Report(NamedTuple):
    """What a renderer may ask for.

    ``lines`` gives a file's lines by its absolute path, ``show`` the path that people see, ``fingerprints``
    one for each diagnostic, in their order, the same for the same violation wherever its lines move.
    """

    diagnostics: Sequence[Diagnostic]
    lines: Callable[[str], list[str]]
    show: Callable[[str], str]
    fingerprints: Callable[[], list[str]]
    checked: Sequence[str] = ()
    colour: bool = False


def render(format_name: str, report: Report) -> str:
    """Return the report in one of :data:`FORMATS`; text that is not empty ends with a newline."""
    module = import_module(f"gllint.report.{format_name}")
    return cast(Callable[[Report], str], module.render)(report)


def statistics(
    report: Report, by: Callable[[Diagnostic], str | None], code: str | None = None
) -> Mapping[str, int]:
    """Return how many findings, of one ``code`` or all, share what ``by`` says of them, the most frequent first."""
    counts: dict[str, int] = {}
    for diagnostic in report.diagnostics:
        key = by(diagnostic) if code in (None, diagnostic.finding.code) else None
        if key is not None:
            counts[key] = counts.get(key, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

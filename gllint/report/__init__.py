"""How findings are told: one module a format, each a pure function from a report to text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from gllint_rules import RULES, Finding, Rule

FORMATS = ("full", "concise", "json", "sarif", "github", "gitlab", "junit")


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding as it is shown: ``path`` for people, ``severity`` error, warning or info."""

    finding: Finding
    path: str
    severity: str

    @property
    def rule(self) -> Rule:
        """The rule behind it."""
        return RULES[self.finding.code]


@dataclass(frozen=True, slots=True)
class Report:
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


def visible(text: str) -> str:
    """Return text with its control and other unprintable characters as escapes, so that it stays on one line.

    Whatever comes from a file, its name included, passes here before a terminal or a CI log shows it: a line feed
    could begin a workflow command, an escape sequence or a right-to-left override could hide what is written.
    Zero-width characters are what a naked number may hide behind: they are shown too.
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def render(format_name: str, report: Report) -> str:
    """Return the report in one of :data:`FORMATS`; text that is not empty ends with a newline."""
    module = import_module(f"gllint.report.{format_name}")
    return cast(Callable[[Report], str], module.render)(report)


def statistics(report: Report) -> Mapping[str, int]:
    """Return how many findings each code has, the most frequent first."""
    counts: dict[str, int] = {}
    for diagnostic in report.diagnostics:
        counts[diagnostic.finding.code] = counts.get(diagnostic.finding.code, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

"""What makes a violation the same one after its lines have moved.

A fingerprint is made of the code, the file, the function or class around it, the text of its line and the
text it points at; never of line numbers. Equal ones in one file are numbered in their order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from gllint.files.digest import digest
from gllint.verdict.suppress import Comments
from gllint_rules import Finding
from gllint_rules.tuples import NamedTuple

_DEFINITION = re.compile(r"(\s*)(?:async\s+def|def|class)\s+(\w+)")
_SPACE = re.compile(r"\s+")


class Fingerprint(NamedTuple):
    """``scope`` is dotted (``Reader.read``), ``text`` the line, spaces collapsed, ``nth`` counts equals."""

    code: str
    path: str
    scope: str
    text: str
    target: str
    nth: int = 0

    def hex(self) -> str:
        """Return it as text of 40 hexadecimal digits."""
        return digest(*(str(part).encode("utf-8", "surrogatepass") for part in self)).hex()


def fingerprints(
    findings: Iterable[Finding], source: Callable[[str], str], show: Callable[[str], str]
) -> list[Fingerprint]:
    """Return the fingerprint of each finding.

    ``source`` gives a file's text (``""``: unreadable), ``show`` the path that stands for it.
    """
    counts: dict[Fingerprint, int] = {}
    comments: dict[str, Comments] = {}
    results: list[Fingerprint] = []
    for finding in findings:
        if finding.path not in comments:
            comments[finding.path] = Comments(source(finding.path))
        base = _fingerprint(finding, comments[finding.path], show(finding.path))
        nth = counts[base] = counts.get(base, -1) + 1
        results.append(base._replace(nth=nth))
    return results


def line_text(line: str) -> str:
    """Return what a fingerprint holds of a line."""
    return _SPACE.sub(" ", line.strip())


def scope_of(comments: Comments, line: int) -> str:
    """Return the dotted name of the functions and classes around a line, by their indentation."""
    lines = comments.lines
    first = comments.logical_lines.get(line, (line, line))[0]
    if first > len(lines):
        return ""
    names: list[str] = []
    limit = _indent(lines[first - 1])
    head = _DEFINITION.match(lines[first - 1])
    if head:
        names.append(head[2])
    for number in range(first - 1, 0, -1):
        text = lines[number - 1]
        if limit == 0:
            break
        if (
            not text.strip()
            or _indent(text) >= limit
            or comments.logical_lines.get(number, (number,))[0] != number
        ):
            continue
        head = _DEFINITION.match(text)
        if head:
            names.append(head[2])
            limit = _indent(text)
    return ".".join(reversed(names))


def _fingerprint(finding: Finding, comments: Comments, path: str) -> Fingerprint:
    span, lines = finding.span, comments.lines
    text = lines[span.line - 1] if span.line <= len(lines) else ""
    end = span.end_column - 1 if span.end_line == span.line else len(text)
    target = text[span.column - 1 : end]
    return Fingerprint(
        finding.code,
        path,
        scope_of(comments, span.line),
        line_text(text),
        _SPACE.sub(" ", target),
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())

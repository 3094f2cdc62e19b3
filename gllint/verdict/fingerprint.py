"""What makes a violation the same one after its lines have moved.

A fingerprint is made of the code, the file, the function or class around it, the text of its line and the
text it points at; never of line numbers. Equal ones in one file are numbered in their order.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import lru_cache

from gllint.files.digest import digest
from gllint.verdict.suppress import Comments
from gllint_rules import Finding
from gllint_rules.tuples import NamedTuple

_DEFINITION = re.compile(r"(\s*)(?:async\s+def|def|class)\s+(\w+)")
_SPACE = re.compile(r"\s+")
_LONGEST = 1000  # characters of a line or a target; of the rest of a line a digest represents all


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
    """Return the fingerprint of each finding; equal ones are numbered (``nth``).

    ``source`` gives a file's text, ``""`` if it cannot be read, ``show`` the path that identifies it.
    """
    counts: dict[Fingerprint, int] = {}
    comments: dict[str, tuple[Comments, list[str]]] = {}
    results: list[Fingerprint] = []
    for finding in findings:
        if finding.path not in comments:
            text = Comments(source(finding.path))
            comments[finding.path] = text, scopes(text)
        base = _fingerprint(finding, *comments[finding.path], show(finding.path))
        nth = counts[base] = counts.get(base, -1) + 1
        results.append(base._replace(nth=nth))
    return results


@lru_cache(maxsize=8)
def line_text(line: str) -> str:
    """Return the part of a line that a fingerprint contains: the same few characters for each finding on it."""
    text = _SPACE.sub(" ", line.strip())
    if len(text) <= _LONGEST:
        return text
    return text[:_LONGEST] + digest(text.encode("utf-8", "surrogatepass")).hex()


def scopes(comments: Comments) -> list[str]:
    """Return for each line the dotted name of the functions and classes around it, by indentation.

    Example: ``"Reader.read"``.
    """
    indents: list[int] = []  # of the definitions around the line, outermost first
    names: list[str] = []  # of each, with those around it
    of_lines: list[str] = []
    for number, text in enumerate(comments.lines, 1):
        first = comments.logical_lines.get(number, (number,))[0]
        if first < number:
            of_lines.append(of_lines[first - 1])
            continue
        indent = _indent(text)
        level = bisect_left(indents, indent)
        scope = names[level - 1] if level else ""
        head = _DEFINITION.match(text)
        if head:
            scope = f"{scope}.{head[2]}" if scope else head[2]
            indents[level:], names[level:] = [indent], [scope]
        of_lines.append(scope)
    return of_lines


def _fingerprint(finding: Finding, comments: Comments, of_lines: list[str], path: str) -> Fingerprint:
    """Return what identifies a finding when lines move: code, path, function, line and the marked text."""
    span, lines = finding.span, comments.lines
    is_there = span.line <= len(lines)
    text = lines[span.line - 1] if is_there else ""
    end = span.end_column - 1 if span.end_line == span.line else len(text)
    target = text[span.column - 1 : min(end, span.column - 1 + _LONGEST)]
    scope = of_lines[span.line - 1] if is_there else ""
    return Fingerprint(finding.code, path, scope, line_text(text), _SPACE.sub(" ", target))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())

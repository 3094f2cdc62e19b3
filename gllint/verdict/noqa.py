"""Writing suppressions: a ``# noqa`` for each finding, where one can stand and speaks of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from gllint.files.source import keep_lines
from gllint.verdict.suppress import NOQA, Comments
from gllint_rules import Finding


def add_noqa(source: str, findings: Iterable[Finding]) -> tuple[str, int]:
    """Return the source with a suppression for each of its findings, and how many lines got one.

    A comment cannot stand inside a text or before a continuation: there it goes to the logical line's end.
    """
    comments = Comments(source)
    wanted: dict[int, set[str]] = defaultdict(set)
    for finding in findings:
        if finding.code != "GL900":
            line = comments.logical_lines.get(finding.span.line, (0, finding.span.line))[1]
            wanted[line].add(finding.code)
    lines = keep_lines(source)
    existing = {line: (column, text) for line, column, text in comments.comments}
    for line, codes in wanted.items():
        whole = lines[line - 1]
        body = whole.rstrip("\r\n")
        lines[line - 1] = _with_noqa(body, codes, existing.get(line)) + whole[len(body) :]
    return "".join(lines), len(wanted)


def _with_noqa(line: str, codes: set[str], comment: tuple[int, str] | None) -> str:
    there = NOQA.search(comment[1]) if comment else None
    if comment is None or there is None:
        return f"{line.rstrip()}  # noqa: {', '.join(sorted(codes))}"
    if there["codes"] is None:
        return line
    known = there["codes"].split()
    end = comment[0] - 1 + there.end("codes")
    missing = sorted(code for code in codes if not any(code == k.strip(",").upper() for k in known))
    return line[:end] + "".join(f", {code}" for code in missing) + line[end:]

"""Writing suppressions: a ``# noqa`` for each finding, where one can stand and speaks of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from gllint.files.source import Change, Offsets
from gllint.verdict.suppress import NOQA, Comments
from gllint_rules import Finding


def add_noqa(source: str, findings: Iterable[Finding]) -> list[Change]:
    """Return the changes of the source that suppress its findings, one for each line that gets a comment or codes."""
    comments, at = Comments(source), Offsets(source).at
    wanted: dict[int, set[str]] = defaultdict(set)
    for finding in findings:
        if finding.code != "GL900":
            wanted[comments.line_for(finding.span.line)].add(finding.code)
    existing = {line: (column, NOQA.search(text)) for line, column, text in comments.comments}
    changes: list[Change] = []
    for line, codes in wanted.items():
        column, there = existing.get(line, (0, None))
        if there is None:
            body = comments.lines[line - 1]
            text = f"  # noqa: {', '.join(sorted(codes))}"
            changes.append((at(line, len(body.rstrip()) + 1), at(line, len(body) + 1), text))
        elif there["codes"] is not None:
            known = [code.strip(",").upper() for code in there["codes"].split()]
            end = at(line, column + there.end("codes"))
            changes.append((end, end, "".join(f", {code}" for code in sorted(codes.difference(known)))))
    return changes

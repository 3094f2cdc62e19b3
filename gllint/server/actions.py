"""What can be done about findings: their fixes, all safe fixes at once, and a suppression."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from gllint.errors import UsageError
from gllint.files.config import Config
from gllint.files.editing import Addition, with_settings
from gllint.files.source import Change, keep_lines, main_newline
from gllint.server.texts import Snapshot, difference
from gllint.verdict.advice import asked_by
from gllint.verdict.suppress import Comments
from gllint_rules import Edit, Finding, Fix

_OWN = re.compile(r"#\s*gllint:\s*ignore\s*\[(?P<codes>[^\]]*)\]", re.IGNORECASE)
_NOT_SUPPRESSIBLE = frozenset({"GL900", "GL901", "GL902"})

_ALLOWING = frozenset({"unit-packs", "plain-keys"})


def fix_changes(snapshot: Snapshot, fix: Fix) -> list[Change]:
    """The changes of a fix."""
    return [(*snapshot.span_offsets(edit.span), _content(snapshot, edit)) for edit in fix.edits]


def _content(snapshot: Snapshot, edit: Edit) -> str:
    newline = main_newline(snapshot.text)
    if newline == "\n":
        return edit.content
    return edit.content.replace("\r\n", "\n").replace("\n", newline)


def suppression_changes(snapshot: Snapshot, finding: Finding) -> list[Change]:
    """A ``# gllint: ignore[…]`` that takes the finding away; none where no comment could."""
    if finding.code in _NOT_SUPPRESSIBLE:
        return []
    text = snapshot.text.removeprefix("\ufeff")
    mark = len(snapshot.text) - len(text)
    comments = _comments(text)
    # A comment cannot stand inside a text or before a continuation: there it goes to the logical line's end.
    line = comments.logical_lines.get(finding.span.line, (0, finding.span.line))[1]
    starts = [0]
    for whole in keep_lines(text):
        starts.append(starts[-1] + len(whole))
    body = comments.lines[line - 1] if line <= len(comments.lines) else ""
    for number, column, comment in comments.comments:
        there = _OWN.search(comment) if number == line else None
        if there is not None:
            end = mark + starts[line - 1] + column - 1 + there.end("codes")
            return [(end, end, f", {finding.code}" if there["codes"].strip() else finding.code)]
    start = mark + starts[line - 1] + len(body.rstrip())
    return [(start, mark + starts[line - 1] + len(body), f"  # gllint: ignore[{finding.code}]")]


@lru_cache(maxsize=1)
def _comments(text: str) -> Comments:
    return Comments(text)


def allowing(
    finding: Finding, config: Config, path: str, snapshot: Snapshot
) -> Iterator[tuple[str, list[Change]]]:
    """Lines that would allow what a finding reports, each with the changes of the configuration file at ``path``.

    Nothing where the file cannot be changed by the line.
    """
    for key, items in asked_by(finding, config):
        if key in _ALLOWING:
            with contextlib.suppress(UsageError):
                after = _with_items(path, snapshot.text, key, tuple(items))
                line = f"{key} = [{', '.join(json.dumps(item, ensure_ascii=False) for item in items)}]"
                yield line, list(difference(snapshot.text, after))


@lru_cache(maxsize=16)
def _with_items(path: str, text: str, key: str, items: tuple[str, ...]) -> str:
    return with_settings(path, text, Addition({key: items}), path.endswith("gllint.toml"))


def has_safe_fix(findings: Iterable[Finding]) -> bool:
    """Say whether fixing all would do anything."""
    return any(finding.fix is not None and finding.fix.applicability == "safe" for finding in findings)

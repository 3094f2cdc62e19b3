"""Applies fixes in memory as the program does, and says what must be true of each of them."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping

from gllint.files.source import keep_lines
from gllint.run.fixer import MAX_PASSES, apply
from gllint_rules import Failure, Finding, Fix
from harness import Case, run

ROOT = "/project/"
Files = Mapping[str, str]


def findings(files: Files, configuration: Mapping[str, object] | None = None) -> list[Finding]:
    """The findings of a project; a rule or a fix that fails, fails the test."""
    found = run(Case("fixes", dict(files), dict(configuration or {})))
    assert [item for item in found if isinstance(item, Failure)] == []
    return [item for item in found if isinstance(item, Finding)]


def wanted(found: list[Finding], unsafe: bool = True) -> dict[str, list[Fix]]:
    """The fixes to apply, by file."""
    out: dict[str, list[Fix]] = {}
    for finding in found:
        if finding.fix is not None and (unsafe or finding.fix.applicability == "safe"):
            out.setdefault(finding.path.removeprefix(ROOT), []).append(finding.fix)
    return out


def fix_all(files: Files, unsafe: bool = True) -> dict[str, str]:
    """The files once nothing more can be fixed."""
    out = dict(files)
    for _ in range(MAX_PASSES):
        by_file = wanted(findings(out), unsafe)
        if not by_file:
            return out
        for path, fixes in by_file.items():
            out[path], applied = apply(out[path], fixes)
            assert applied, f"{path}: no fix could be applied"
    raise AssertionError("fixing does not come to an end")


def assert_sound(files: Files, finding: Finding, before: list[Finding]) -> None:
    """One fix alone: its finding goes, none comes but of a unit that stood there before, the file parses, lines stay."""
    assert finding.fix is not None
    path = finding.path.removeprefix(ROOT)
    source = files[path]
    fixed, applied = apply(source, [finding.fix])
    assert applied == 1, f"the edits overlap: {finding.fix}"
    ast.parse(fixed)
    assert_untouched(source, fixed, finding.fix)
    after = findings({**files, path: fixed})
    old, new = Counter(map(_title, before)), Counter(map(_title, after))
    of_units = {"GL501", "GL502"} if finding.fix.message.startswith("Combine it with the") else set()
    came = {title for title in new - old if title[0] not in {finding.code, *of_units}}
    assert not came, f"{finding.fix.message}: {came} came\n{fixed}"
    assert (old - new)[_title(finding)], f"{finding.fix.message}: {_title(finding)} stays\n{fixed}"


def _title(finding: Finding) -> tuple[str, str]:
    return finding.code, finding.message


def assert_untouched(source: str, fixed: str, fix: Fix) -> None:
    """Every line that no edit touches is the same, byte for byte."""
    lines, new = keep_lines(source), keep_lines(fixed)
    touched = {n for e in fix.edits for n in range(e.span.line, e.span.end_line + 1)}
    shift = {e.span.line: 0 for e in fix.edits}
    for edit in fix.edits:
        shift[edit.span.line] += edit.content.count("\n") - (edit.span.end_line - edit.span.line)
    moved = 0
    for number, line in enumerate(lines, 1):
        if number not in touched:
            assert new[number - 1 + moved] == line, f"line {number} changed"
        moved += shift.get(number, 0)
    assert len(new) >= len(lines) + moved - len(touched)


def offered(found: list[Finding]) -> Iterator[Finding]:
    """The findings that have a fix."""
    return (finding for finding in found if finding.fix is not None)

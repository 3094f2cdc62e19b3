"""The baselines of projects: writing one, and comparing findings with it.

The command line, flake8, the commit hook and the editor all leave out the same findings.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from functools import cache

from gllint.files.discover import Signature, signature_of
from gllint.files.paths import absolute
from gllint.run.engine import Engine, Outcome
from gllint.verdict import baseline
from gllint.verdict.baseline import Compared
from gllint.verdict.fingerprint import Fingerprint, line_text
from gllint_rules import Finding


class Baselines:
    """The baselines of the projects of ``engine``. A baseline is read again when its file changes."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._entries: dict[str, tuple[Signature | None, list[Fingerprint]]] = {}

    def entries(self, file: str) -> list[Fingerprint]:
        """Return the entries of a baseline. Raises :class:`UsageError` if it is missing or not a baseline."""
        signature = signature_of(file)
        entry = self._entries.get(file)
        if entry is None or entry[0] != signature or signature is None:
            self._entries[file] = entry = signature, baseline.read(file)
        return entry[1]

    def compare(self, outcome: Outcome, covers_all: bool) -> dict[str, Compared]:
        """Return, by the path of each baseline in use, how the findings compare with it. Raises :class:`UsageError`.

        ``covers_all`` says that the outcome has all findings of its files, so that an entry without one is fixed.
        """
        findings, checked = self._grouped(outcome.findings), set(outcome.checked)
        files = {file for path in checked if (file := self._file_of(path)) is not None}
        return {
            file: compared(
                self._engine, file, findings.get(file, ()), self.entries(file), checked if covers_all else ()
            )
            for file in sorted(files | findings.keys())
        }

    def leave_out(self, outcome: Outcome) -> None:
        """Drop the findings of ``outcome`` that are in a baseline. Raises :class:`UsageError`."""
        old_findings: set[Finding] = set()
        for file, findings in self._grouped(outcome.findings).items():
            old_findings.update(findings)
            old_findings.difference_update(
                compared(self._engine, file, findings, self._relevant(file, findings)).new
            )
        if old_findings:
            outcome.findings = [finding for finding in outcome.findings if finding not in old_findings]

    def _relevant(self, file: str, findings: Sequence[Finding]) -> list[Fingerprint]:
        """Return the entries that may match ``findings``: those of the same files, and of deleted files."""
        folder = os.path.dirname(file)
        paths = {finding.path for finding in findings}

        @cache
        def may_match(path: str) -> bool:
            full = absolute(os.path.join(folder, path))
            return full in paths or not os.path.exists(full)

        return [entry for entry in self.entries(file) if may_match(entry.path)]

    def _grouped(self, findings: Iterable[Finding]) -> dict[str, list[Finding]]:
        grouped: dict[str, list[Finding]] = {}
        for finding in findings:
            if (file := self._file_of(finding.path)) is not None:
                grouped.setdefault(file, []).append(finding)
        return grouped

    def _file_of(self, path: str) -> str | None:
        return self._engine.config_of(path).baseline_file


def write(
    engine: Engine, outcome: Outcome, path: str, old: Sequence[Fingerprint], covers_all: bool
) -> tuple[int, int]:
    """Write the findings to the baseline ``path`` (absolute), whose entries were ``old``. Raises :class:`UsageError`.

    The entries of ``old`` that the run did not check (other files, rules or lines) stay in it. Return the number of
    this run's findings, and of those entries.
    """
    covered = outcome.checked if covers_all else ()
    unseen = compared(engine, path, outcome.findings, old, set(covered)).unseen
    entries = baseline.entries(outcome.findings, engine.sources.code, os.path.dirname(path))
    baseline.write(path, [*entries, *unseen])
    return len(entries), len(unseen)


def compared(
    engine: Engine,
    path: str,
    findings: Sequence[Finding],
    old: Sequence[Fingerprint],
    covered: Collection[str] = (),
) -> Compared:
    """Compare ``findings`` with the entries ``old`` of the baseline ``path``.

    ``covered`` are the files whose findings are complete, so that an entry without a finding is fixed.
    """
    folder = os.path.dirname(path)

    def has_scope(file: str, scope: str) -> bool:
        source = engine.sources.code(absolute(os.path.join(folder, file)))
        return not scope or all(_defines(source, name) for name in scope.split("."))

    texts = cache(lambda full: frozenset(map(line_text, engine.sources.lines(full))))
    unjudged: list[tuple[Fingerprint, Sequence[tuple[str, str]]]] = []

    def was_checked(entry: Fingerprint) -> bool:
        """Return whether the run would have found the finding of an entry again, if it were not fixed."""
        full = absolute(os.path.join(folder, entry.path))
        if full not in covered or entry.code not in engine.config_of(full).codes:
            return False
        if texts(full) and entry.text not in texts(full):
            return True  # the line is gone, so unread files do not matter
        obstacles = engine.obstacles(full, (entry.code,))
        if obstacles:
            unjudged.append((entry, obstacles))
        return not obstacles

    candidates = [finding for finding in findings if baseline.takes(finding.code)]
    result = baseline.compare(
        old,
        candidates,
        baseline.entries(candidates, engine.sources.code, folder),
        was_checked=was_checked,
        has_scope=has_scope,
        exists=lambda file: _may_exist(os.path.join(folder, file)),
    )
    new = set(result.new)
    new_findings = [f for f in findings if f in new or not baseline.takes(f.code)]
    return result._replace(new=new_findings, unjudged=unjudged)


def _may_exist(path: str) -> bool:
    """Return whether a file exists, or may exist in a folder that cannot be read."""
    try:
        os.stat(path)
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return True


def _defines(source: str, name: str) -> bool:
    return any(f"{word} {name}{end}" in source for word in ("def", "class") for end in "(:[")

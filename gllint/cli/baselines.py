"""Writing a baseline of what a run found, and comparing a run with one."""

from __future__ import annotations

import os
from collections.abc import Sequence

from gllint.files.places import absolute
from gllint.run.engine import Engine, Outcome
from gllint.verdict import baseline
from gllint.verdict.fingerprint import Fingerprint


def write(engine: Engine, outcome: Outcome, path: str, old: Sequence[Fingerprint], covers_all: bool) -> int:
    """Write what was found to the baseline ``path`` (absolute), which held ``old``. Raises :class:`UsageError`.

    It keeps, and returns, how many of ``old`` are of what the run did not judge: other files, rules or lines.
    """
    unseen = compare(engine, outcome, path, old, covers_all).unseen
    found = baseline.entries(outcome.findings, engine.sources.code, os.path.dirname(path))
    baseline.write(path, [*found, *unseen])
    return len(unseen)


def compare(
    engine: Engine, outcome: Outcome, path: str, old: Sequence[Fingerprint], covers_all: bool
) -> baseline.Compared:
    """Compare what was found with the baseline ``old``, read from ``path`` (absolute).

    ``covers_all`` says that the outcome holds all findings of its files, so that one that it lacks is fixed.
    """
    folder = os.path.dirname(path)
    current = baseline.entries(outcome.findings, engine.sources.code, folder)
    checked = set(outcome.checked)

    def has_scope(file: str, scope: str) -> bool:
        source = engine.sources.code(absolute(os.path.join(folder, file)))
        return not scope or all(_defines(source, name) for name in scope.split("."))

    def was_checked(entry: Fingerprint) -> bool:
        full = absolute(os.path.join(folder, entry.path))
        return covers_all and full in checked and entry.code in engine.config_of(full).codes

    return baseline.compare(
        old,
        outcome.findings,
        current,
        was_checked=was_checked,
        has_scope=has_scope,
        exists=lambda file: os.path.exists(os.path.join(folder, file)),
    )


def _defines(source: str, name: str) -> bool:
    return any(f"{word} {name}{end}" in source for word in ("def", "class") for end in "(:[")

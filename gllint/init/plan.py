"""From a folder to what ``gllint init`` would write, its effect in numbers, and the writing of it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass

from gllint.errors import UsageError
from gllint.files.config import Config
from gllint.files.editing import Addition, configuration, with_settings
from gllint.files.places import Place, absolute
from gllint.files.writing import check_inside, read_bytes, write_atomically
from gllint.init import hook
from gllint.init.proposal import Proposal, propose
from gllint.init.survey import Survey, survey
from gllint.run.engine import Engine, Options, Outcome
from gllint.verdict import baseline

BASELINE = "gllint-baseline.json"


@dataclass(frozen=True, slots=True)
class Change:
    """A file that would be written: its path, what it holds now (``None``: it is not there) and would hold."""

    path: str
    before: bytes | None
    after: bytes


@dataclass(slots=True)
class Plan:
    """What was seen, what is proposed, and the files that say it. ``left`` is what is found with the new settings."""

    root: str
    seen: Survey
    proposal: Proposal
    left: int
    changes: Sequence[Change]
    notes: Sequence[str]


def plan(path: str) -> Plan:
    """Look through the project that the folder ``path`` belongs to. Writes nothing. Raises :class:`UsageError`."""
    if not os.path.isdir(path):
        raise UsageError(f"{path}: is not a folder" if os.path.exists(path) else f"{path}: no such folder")
    engine = Engine(Options(fixes=False, progress=True))
    try:
        engine.places.ask_about([absolute(path)])
        place = engine.places.project(absolute(path))
        seen = survey(engine, place.root, place.config.base if place.config.source else place.root)
        proposal = propose(seen, place.config, place.root)
        engine.progress.clear()
        after, outcome = _after(engine, place, seen, proposal.addition)
        changes, notes = _changes(place, proposal.addition, after, outcome)
    finally:
        engine.close()
    return Plan(place.root, seen, proposal, len(outcome.findings), changes, notes)


def _after(engine: Engine, place: Place, seen: Survey, addition: Addition) -> tuple[Engine, Outcome]:
    """What is found once the settings are as proposed."""
    if not addition:
        return engine, seen.outcome

    def proposed(config: Config) -> Config:
        return addition.applied(config) if config.source == place.config.source else config

    # What is found is kept, too: the first check under the new settings finds it there.
    other = Engine(Options(override=proposed, fixes=False, progress=True))
    try:
        other.places.ask_about([place.root])
        other.take_over(engine)
        return other, other.check([place.root])
    finally:
        other.close()


def _changes(
    place: Place, addition: Addition, engine: Engine, outcome: Outcome
) -> tuple[list[Change], list[str]]:
    changes: list[Change] = []
    notes: list[str] = []
    if addition:
        path = configuration(place) or f"{place.root}/gllint.toml"
        before = _content(path, place)
        text = _decoded(path, before)
        is_own = path.endswith("gllint.toml")
        changes.append(Change(path, before, with_settings(path, text, addition, is_own).encode()))
    kept = f"{place.root}/{BASELINE}"
    old = _content(kept, place)
    if old is None and outcome.findings:
        found = baseline.entries(outcome.findings, engine.sources.code, place.root)
        changes.append(Change(kept, None, baseline.as_bytes(found)))
    elif old is not None:
        notes.append(f"{BASELINE} is there already and stays as it is.")
    has_baseline = old is not None or bool(outcome.findings)
    if not place.repository:
        notes.append("This is no git repository, so no commit hook is proposed.")
        return changes, notes
    hooks = f"{place.repository}/{hook.FILE}"
    there = _content(hooks, place)
    present = _decoded(hooks, there) if there is not None else None
    named = os.path.relpath(kept, place.repository).replace(os.sep, "/") if has_baseline else None
    if hook.has_hook(present):
        lacks = named is not None and named not in (present or "")
        told = (
            f"; give the hook `args: [--baseline, {named}]`, or it reports what the baseline holds"
            if lacks
            else ""
        )
        notes.append(f"{hook.FILE} runs gllint already{told}.")
        return changes, notes
    text_after = hook.with_hook(present, named)
    if text_after is None:
        notes.append(
            f"{hook.FILE} has no list of `repos` that a line could be added to; add the hook yourself."
        )
    else:
        changes.append(Change(hooks, there, text_after.encode()))
    return changes, notes


def _content(path: str, place: Place) -> bytes | None:
    """The bytes of a file that may be written, ``None`` where it is not there. Raises :class:`UsageError`."""
    try:
        check_inside(path, place.repository or place.root)
        return read_bytes(path) if os.path.lexists(path) else None
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from None


def _decoded(path: str, data: bytes | None) -> str:
    try:
        return (data or b"").decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: is not UTF-8 text: {error.reason}") from None


def write(changes: Sequence[Change]) -> None:
    """Write all files or none. Raises :class:`UsageError`; what was written by then is as it was before."""
    done: list[Change] = []
    for change in changes:
        try:
            if _now(change.path) != change.before:
                raise OSError(0, "has changed meanwhile")
            write_atomically(change.path, change.after)
        except OSError as error:
            for earlier in reversed(done):
                _undo(earlier)
            raise UsageError(
                f"{change.path}: cannot be written: {error.strerror}; nothing was changed"
            ) from None
        done.append(change)


def _now(path: str) -> bytes | None:
    return read_bytes(path) if os.path.lexists(path) else None


def _undo(change: Change) -> None:
    with contextlib.suppress(OSError):
        if change.before is None:
            os.unlink(change.path)
        else:
            write_atomically(change.path, change.before)

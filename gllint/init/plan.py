"""From a folder to what ``gllint init`` would write, its effect in numbers, and the writing of it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass

from gllint.errors import UsageError
from gllint.files.config import Config
from gllint.files.discover import is_left_out
from gllint.files.editing import Addition, configuration, with_settings
from gllint.files.paths import absolute, relative
from gllint.files.places import Place, Places
from gllint.files.writing import check_inside, read_bytes, write_atomically
from gllint.hosts.coding_agents import AGENTS, CodingAgent
from gllint.init import agents, hook
from gllint.init.proposal import Proposal, propose
from gllint.init.survey import Survey, survey
from gllint.report.unseen import Unseen
from gllint.run.baselines import compared
from gllint.run.engine import Engine, Options, Outcome
from gllint.verdict import baseline
from gllint_rules import Finding

BASELINE = "gllint-baseline.json"


@dataclass(frozen=True, slots=True)
class Change:
    """A file that would be written: its path, what it contains now (``None``: it is not there) and would contain.

    Of a baseline also how many findings those are.
    """

    path: str
    old_data: bytes | None
    new_data: bytes
    finding_counts: tuple[int, int] | None = None


@dataclass(slots=True)
class Plan:
    """What the survey says about the project ``root`` of a ``folder``, what is proposed, and the files that say it.

    ``finding_count`` are the findings with the new settings, ``baseline_count`` those of them that a baseline gains;
    ``unseen`` says what is not looked at under these.
    """

    folder: str
    root: str
    survey: Survey
    proposal: Proposal
    finding_count: int
    baseline_count: int
    changes: Sequence[Change]
    notes: Sequence[str]
    unseen: Unseen


def plan(path: str, agent_names: Sequence[str] = (), mode: str | None = None) -> Plan:
    """Return what ``gllint init`` would write for the project of the folder ``path``. Raises :class:`UsageError`.

    ``agent_names`` are coding agents that get a hook and instructions; ``mode`` is that of the answers, if it is known.
    """
    if not os.path.isdir(path):
        raise UsageError(f"{path}: is not a folder" if os.path.exists(path) else f"{path}: no such folder")
    engine = Engine(Options(fixes=False, progress=True))
    try:
        engine.places.ask_about([absolute(path)])
        place = engine.places.project(absolute(path))
        _check_repository(place)
        project_survey = survey(engine, place.root, place.config.base if place.config.source else place.root)
        proposal = propose(project_survey, place.config, place.root, mode)
        engine.progress.clear()
        new_engine, outcome = _check_proposal(engine, place, project_survey, proposal.addition)
        by_mode = proposal.count_of_mode(outcome.findings)
        proposal = proposal._replace(settled={**proposal.settled, "mode": by_mode})
        changes, baseline_count = _settings_and_baselines(
            absolute(path), place, proposal.addition, new_engine, outcome
        )
        hook_change, notes = _hook(place, absolute(path), engine.places)
        for name in dict.fromkeys(agent_names):
            agent_changes, agent_notes = _agent(AGENTS[name], place)
            hook_change += agent_changes
            notes += agent_notes
        unseen = _unseen(place, new_engine, outcome)
    finally:
        engine.close()
    finding_count = len(outcome.findings)
    return Plan(
        absolute(path),
        place.root,
        project_survey,
        proposal,
        finding_count,
        baseline_count,
        [*changes, *hook_change],
        notes,
        unseen,
    )


def _check_proposal(
    engine: Engine, place: Place, project_survey: Survey, addition: Addition
) -> tuple[Engine, Outcome]:
    """Return the findings under the proposed settings, with the engine that has them."""
    if not addition:
        return engine, project_survey.outcome

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


def _unseen(place: Place, engine: Engine, outcome: Outcome) -> Unseen:
    def show(path: str) -> str:
        return relative(path, place.root)

    return engine.unseen(outcome, show)


def _check_repository(place: Place) -> None:
    """Raise :class:`UsageError` if a settings file of the repository is outside of it."""
    source, repository = place.config.source, place.repository
    if source and repository and not absolute(source).startswith(repository.rstrip("/") + "/"):
        raise UsageError(
            f"{repository}: this git repository has no settings of its own and uses {source}, which is outside it; "
            f"put an empty gllint.toml into {repository} first, or run init for {os.path.dirname(source)}"
        )


def _settings_and_baselines(
    folder: str, place: Place, addition: Addition, engine: Engine, outcome: Outcome
) -> tuple[list[Change], int]:
    """Return the changes of configurations and baselines, and how many findings the baselines gain.

    A part of the project with its own configuration gets a baseline of its own, but only if it is in ``folder``.
    """
    by_source: dict[str, list[Finding]] = {}
    for finding in outcome.findings:
        by_source.setdefault(engine.config_of(finding.path).source, []).append(finding)
    main_source = place.config.source
    changes: list[Change] = []
    baseline_count = 0
    inside = folder.rstrip("/") + "/"
    parts = [source for source in sorted(by_source) if folder == place.root or source.startswith(inside)]
    for source in dict.fromkeys((main_source, *parts)):
        source_place = place if source == main_source else engine.place_of(source)
        gain = addition if source == main_source else Addition()
        findings = [finding for finding in by_source.get(source, ()) if baseline.takes(finding.code)]
        change, new, named = _baseline(
            source_place, place.root if source == main_source else source_place.config.base, engine, findings
        )
        baseline_count += new
        if named is not None:
            gain = gain._replace(values={**gain.values, "baseline": named})
        if gain:
            changes.append(_configuration(source_place, gain))
        changes += change
    return changes, baseline_count


def _configuration(place: Place, addition: Addition) -> Change:
    path = configuration(place) or f"{place.root}/gllint.toml"
    old_data = _content(path, place)
    new_text = with_settings(path, _decoded(path, old_data), addition, path.endswith("gllint.toml"))
    return Change(path, old_data, new_text.encode())


def _baseline(
    place: Place, folder: str, engine: Engine, findings: Sequence[Finding]
) -> tuple[list[Change], int, str | None]:
    """Return the change of a configuration's baseline for ``findings``, how many are new to it, and its name.

    The name is ``None`` if the configuration has it already, or if no baseline is needed. A new one is in ``folder``.
    """
    configured = place.config.baseline_file
    path = configured or f"{folder}/{BASELINE}"
    data = _content(path, place)
    if data is None and not findings:
        return [], 0, None
    old = baseline.read(path) if data is not None else []
    new = compared(engine, path, findings, old).new
    entries = baseline.entries(new, engine.sources.code, os.path.dirname(path))
    changes: list[Change] = []
    if new:
        counts = len(old), len(old) + len(entries)
        changes.append(Change(path, data, baseline.as_bytes([*old, *entries]), counts))
    base = os.path.dirname(place.config.source) or place.root
    named = relative(path, base) if configured is None else None
    return changes, len(new), named


def _hook(place: Place, folder: str, places: Places) -> tuple[list[Change], list[str]]:
    """Return the change that adds the commit hook, if it can be added, and notes for the user about it."""
    if not place.repository:
        return [], ["This is not a git repository: no commit hook is proposed."]
    if folder != place.repository and is_left_out(f"{folder}/x.py", place.repository, places):
        return [], [f"{relative(folder, place.repository)} is ignored: no commit hook is proposed."]
    hooks = f"{place.repository}/{hook.FILE}"
    old_data = _content(hooks, place)
    present = _decoded(hooks, old_data) if old_data is not None else None
    if hook.has_hook(present):
        return [], [f"{hook.FILE} already runs gllint."]
    if present is None and os.path.isdir(f"{place.repository}/.husky"):
        return [], ["This repository uses husky: add `gllint check --force-exclude` to its hooks yourself."]
    text = hook.with_hook(present)
    if text is None:
        reason = "has no block list `repos`: add the hook yourself."
        return [], [f"{hook.FILE} {reason}"]
    return [Change(hooks, old_data, text.encode())], ["Run `pre-commit install` once to activate the hook."]


def _agent(agent: CodingAgent, place: Place) -> tuple[list[Change], list[str]]:
    """Return the changes that add the hook and instructions of a coding agent, and notes for the user about them."""
    top = place.repository or place.root
    changes: list[Change] = []
    notes: list[str] = []
    settings = f"{top}/{agent.settings}"
    old_data = _content(settings, place)
    try:
        new_text = agents.with_entry(agent, _decoded(settings, old_data) if old_data is not None else None)
        if new_text is None:
            notes.append(f"{agent.settings} already runs `{agent.command}`.")
        else:
            changes.append(Change(settings, old_data, new_text.encode()))
            notes += [agent.remark] if agent.remark else []
    except ValueError as error:
        notes.append(f"{agent.settings} {error}: add the hook `{agent.command}` yourself.")
    instructions = f"{top}/{agent.instructions}"
    text = agents.instructions(agent).encode()
    old_data = _content(instructions, place)
    if old_data is None:
        changes.append(Change(instructions, None, text))
    elif old_data != text:
        notes.append(f"{agent.instructions} already exists and is not changed.")
    return changes, notes


def _content(path: str, place: Place) -> bytes | None:
    """Return the bytes of a file that may be written, ``None`` if it is not there. Raises :class:`UsageError`."""
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
    """Write all files or none: after an error, those written already are restored. Raises :class:`UsageError`."""
    done: list[Change] = []
    new_folders: list[str] = []
    for change in changes:
        try:
            if _now(change.path) != change.old_data:
                raise OSError(0, "changed in the meantime")
            for folder in _missing_folders(change.path):
                os.mkdir(folder)
                new_folders.append(folder)
            write_atomically(change.path, change.new_data)
        except OSError as error:
            for earlier in reversed(done):
                _undo(earlier)
            for folder in reversed(new_folders):
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
            raise UsageError(
                f"{change.path}: cannot be written: {error.strerror}; nothing was changed"
            ) from None
        done.append(change)


def _missing_folders(path: str) -> list[str]:
    """Return the folders above ``path`` that are not there, the outermost first."""
    folders: list[str] = []
    folder = os.path.dirname(path)
    while not os.path.lexists(folder):
        folders.append(folder)
        folder = os.path.dirname(folder)
    return folders[::-1]


def _now(path: str) -> bytes | None:
    return read_bytes(path) if os.path.lexists(path) else None


def _undo(change: Change) -> None:
    with contextlib.suppress(OSError):
        if change.old_data is None:
            os.unlink(change.path)
        else:
            write_atomically(change.path, change.old_data)

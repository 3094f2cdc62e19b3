"""What the server knows: its folders, the buffers that are open, and the findings in them.

Everything here but :meth:`Session.put` and :meth:`Session.drop` runs in the worker's thread.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol

from gllint.errors import UsageError
from gllint.files.places import MARKERS, Place
from gllint.report.unseen import TEXT_RULE, unseen
from gllint.run import fixer
from gllint.run.engine import Options, Outcome, by_path, tools_in_force
from gllint.run.notices import Notice
from gllint.run.parsing import too_large
from gllint.server.indexing import Cancelled, Reporter, index_apart
from gllint.server.live import LiveEngine, LiveWorkspace
from gllint.server.texts import Snapshot
from gllint.shown import failure_text
from gllint_rules import Failure, Finding, Settings
from gllint_rules.tuples import NamedTuple

_PATIENCE = 0.5
_FOREIGN = frozenset({"site-packages", "dist-packages", "node_modules"})
_SETTINGS = (*MARKERS, ".gitignore", ".toml")  # endings of paths that may change the settings


class Client(Protocol):
    """The messages of the session to the editor; called in the worker's thread."""

    def publish(self, path: str, snapshot: Snapshot, file_findings: FileFindings) -> None:
        """Show the findings of one version of a buffer."""

    def publish_closed(self, path: str, findings: Sequence[Finding], level: Callable[[str], str]) -> None:
        """Show findings in a file that is not open; none take away those that were shown."""

    def refresh(self) -> None:
        """Have the editor ask for all diagnostics again."""

    def complain(self, message: str) -> None:
        """Show a message."""

    def log(self, message: str) -> None:
        """Keep a message where someone who looks for it finds it."""

    def note(self, message: str, is_warning: bool) -> None:
        """Keep what is no failure of ours there, too."""

    def working(self, title: str) -> Callable[[str, int, int], None]:
        """Show progress from now on; the function returned reports it and may raise :class:`Cancelled`."""

    def finished(self) -> None:
        """Show no progress any more."""


class FileFindings(NamedTuple):
    """Findings and the text that they lie in. ``level`` gives the severity of a code."""

    snapshot: Snapshot
    findings: tuple[Finding, ...]
    level: Callable[[str], str]


@dataclass(slots=True)
class Buffer:
    """An open file. ``applied`` is the text that the project knows, ``file_findings`` what was worked out last.

    ``fixable`` are these findings with their fixes, once someone has asked for them.
    """

    snapshot: Snapshot
    applied: Snapshot | None = None
    file_findings: FileFindings | None = None
    fixable: FileFindings | None = None
    is_checked: bool = True
    is_too_large: bool = False  # so that nothing of it is read
    settings: Settings = field(default_factory=Settings)


@dataclass(slots=True)
class Root:
    """A folder of the editor (``""``: files outside all of them) and its engine."""

    folder: str
    engine: LiveEngine
    rescans: dict[str, Iterator[None]] = field(default_factory=dict)

    def holds(self, path: str) -> bool:
        """Say whether a file lies below the folder."""
        return bool(self.folder) and path.startswith(self.folder.rstrip("/") + "/")


class LoadedProject(NamedTuple):
    """A project that is loaded."""

    root: Root
    engine: LiveEngine
    workspace: LiveWorkspace


class Session:
    """All folders and buffers of one editor."""

    def __init__(self, client: Client) -> None:
        """Make a session without folders and buffers."""
        self._client = client
        self.buffers: dict[str, Buffer] = {}  # replaced, never changed: two threads read it
        self._roots: list[Root] = []
        self._complaints: set[str] = set()
        self._failures: set[Failure] = set()
        self._outdated: list[str] = []  # open files whose findings may not be the ones shown
        self._elsewhere: dict[str, list[Finding]] = {}  # shown in files that are not open
        self._noted: dict[str, set[str]] = {}  # of each project what was said of what is not looked at
        self._settling: Iterator[None] | None = None
        self._settle_at: float | None = None
        self._cancelled: set[str] = set()

    # --- in the thread that reads --------------------------------------------------------------------------

    def put(self, path: str, snapshot: Snapshot) -> None:
        """Take note of a buffer's newest text."""
        buffer = self.buffers.get(path)
        if buffer is None:
            self.buffers = {**self.buffers, path: Buffer(snapshot)}
        else:
            buffer.snapshot = snapshot

    def drop(self, path: str) -> None:
        """Forget a buffer; its file counts as it is on disk."""
        self.buffers = {other: buffer for other, buffer in self.buffers.items() if other != path}

    # --- folders -------------------------------------------------------------------------------------------

    def add_folder(self, folder: str) -> None:
        """Add a folder of the editor, and load its project."""
        if any(root.folder == folder for root in self._roots):
            return
        root = Root(folder, self._new_engine(folder))
        self._roots.append(root)
        self._loaded(root, folder)
        self._reapply(root.holds)

    def remove_folder(self, folder: str) -> None:
        """Let a folder go."""
        gone = [root for root in self._roots if root.folder == folder]
        self._roots = [root for root in self._roots if root.folder != folder]
        for root in gone:
            self._reapply(root.holds)

    def reload(self) -> None:
        """Read the configuration again, with everything that depends on it."""
        self._complaints.clear()
        self._noted.clear()
        self._cancelled.clear()
        gc.unfreeze()
        for root in self._roots:
            old = root.engine.lives()
            root.engine = self._new_engine(root.folder)
            root.rescans.clear()
            for workspace in old:
                self._loaded(root, workspace.root, workspace)
        self._reapply(lambda path: True)

    def _new_engine(self, folder: str) -> LiveEngine:
        """Return an engine for a folder; a faulty configuration is reported to the editor."""
        engine = LiveEngine(Options(jobs=1))
        engine.progress = Reporter(lambda label, done, total: None)
        if folder and os.path.isdir(folder):
            try:
                engine.places.ask_about([folder])
            except UsageError as error:
                self._complain(error)
        return engine

    def _reapply(self, concerns: Callable[[str], bool]) -> None:
        """Give buffers to the project that they belong to now."""
        for path, buffer in self.buffers.items():
            if concerns(path):
                buffer.applied = None
                self.apply(path)

    def _root_of(self, path: str) -> Root:
        holding = [root for root in self._roots if root.holds(path)]
        if holding:
            return max(holding, key=lambda root: len(root.folder))
        if not any(not root.folder for root in self._roots):
            self._roots.append(Root("", self._new_engine("")))
        return next(root for root in self._roots if not root.folder)

    # --- projects ------------------------------------------------------------------------------------------

    def project_of(self, path: str) -> LoadedProject | None:
        """Return the project of a file, loaded; ``None`` if there can be none."""
        root = self._root_of(path)
        if not root.folder and not _FOREIGN.isdisjoint(path.split("/")):
            return None
        return self._loaded(root, os.path.dirname(path))

    def _loaded(self, root: Root, folder: str, old: LiveWorkspace | None = None) -> LoadedProject | None:
        """Return the project of a folder, loaded; ``None`` if its configuration is faulty or the user cancelled.

        ``old`` is the project under its earlier configuration, whose facts about files are still valid.
        """
        try:
            workspace = root.engine.live(root.engine.places.project(folder))
        except UsageError as error:
            self._complain(error)
            return None
        if not workspace.is_loaded and workspace.root not in self._cancelled:
            if old is not None and old.root == workspace.root:
                workspace.take_facts(old)
            self._load(root.engine, workspace)
        return LoadedProject(root, root.engine, workspace) if workspace.is_loaded else None

    def _load(self, engine: LiveEngine, workspace: LiveWorkspace) -> None:
        """Read all files of a project, with a progress bar that the user can cancel."""
        name = os.path.basename(workspace.root) or workspace.root
        report = self._client.working(f"gllint: reading {name}")
        engine.progress = Reporter(report)
        try:
            if workspace.is_worth_a_process():
                index_apart(workspace.root, report)
                workspace.index.table.forget()
            workspace.load()
        except Cancelled:
            self._cancelled.add(workspace.root)
        finally:
            self._client.finished()
            engine.progress = Reporter(lambda label, done, total: None)
        # What was read just now stays: the collector need never look at it again.
        gc.collect()
        gc.freeze()

    # --- buffers -------------------------------------------------------------------------------------------

    def apply(self, path: str) -> None:
        """Give the project the newest text of a buffer; its findings are worked out later."""
        buffer = self.buffers.get(path)
        if buffer is None or buffer.applied is buffer.snapshot:
            return
        if self._elsewhere.pop(path, None) is not None:
            self._client.publish_closed(path, (), lambda code: "error")
        is_new, snapshot = buffer.applied is None, buffer.snapshot
        was_too_large, buffer.is_too_large = buffer.is_too_large, too_large(snapshot.data) is not None
        if was_too_large and buffer.is_too_large and not is_new:
            # Of the project nothing has changed: nothing of the text was read before, and nothing is now.
            buffer.applied = snapshot
            self._outdated = [path, *(other for other in self._outdated if other != path)]
            return
        loaded_project = self.project_of(path)
        if is_new:
            buffer.is_checked = loaded_project is not None and loaded_project.engine.would_check(
                path, loaded_project.root.folder or loaded_project.workspace.root
            )
        if loaded_project is not None:
            buffer.settings = loaded_project.workspace.config.rules
        if loaded_project is not None and buffer.is_checked:
            loaded_project.engine.sources.put(path, snapshot.data)
            loaded_project.workspace.changed(path)
        buffer.applied = snapshot
        self._touch(path)

    def close(self, path: str) -> None:
        """Update the project after a buffer was closed: the file on disk counts again."""
        if path in self.buffers:
            return
        for root in self._roots:
            if root.engine.sources.drop(path) and (loaded_project := self.project_of(path)) is not None:
                loaded_project.workspace.changed(path)
                self._touch(path)

    def _touch(self, path: str) -> None:
        """A file has changed: look at it first, then at the other open ones, then at the rest."""
        self._outdated = [path, *(other for other in self.buffers if other != path)]
        self._settling, self._settle_at = None, time.monotonic() + _PATIENCE

    def findings(self, path: str) -> FileFindings | None:
        """Return the findings in the newest text of an open file; ``None`` if it is not open."""
        buffer = self.buffers.get(path)
        if buffer is None:
            return None
        while buffer.applied is not buffer.snapshot:
            self.apply(path)
        if (
            path in self._outdated
            or buffer.file_findings is None
            or buffer.file_findings.snapshot is not buffer.applied
        ):
            self._check(path, buffer)
        return buffer.file_findings

    def fixable(self, path: str) -> FileFindings | None:
        """Return the findings in the newest text of an open file, with their fixes; ``None`` if it is not open."""
        buffer, file_findings = self.buffers.get(path), self.findings(path)
        if buffer is None or file_findings is None:
            return None
        if buffer.fixable is None:
            buffer.fixable = self._conclude(path, file_findings.snapshot, buffer, fixes=True)
        return buffer.fixable

    def place(self, path: str) -> Place | None:
        """Return the project of a file and its configuration; ``None`` if there is none, or a wrong one."""
        loaded_project = self.project_of(path)
        return loaded_project.engine.place_of(path) if loaded_project is not None else None

    def _check(self, path: str, buffer: Buffer) -> None:
        """Work out the findings of a buffer, and show them if they are not the ones shown."""
        if path in self._outdated:
            self._outdated.remove(path)
        assert buffer.applied is not None
        old = buffer.file_findings
        if old is not None and buffer.is_too_large and too_large(old.snapshot.data) is not None:
            file_findings = old._replace(snapshot=buffer.applied)
        else:
            file_findings = self._conclude(path, buffer.applied, buffer)
        buffer.file_findings, buffer.fixable = file_findings, None
        is_same_text = old is not None and old.snapshot is file_findings.snapshot
        if old is None or not is_same_text or old.findings != file_findings.findings:
            self._client.publish(path, file_findings.snapshot, file_findings)
        if old is not None and is_same_text and old.findings != file_findings.findings:
            self._client.refresh()

    def _conclude(self, path: str, snapshot: Snapshot, buffer: Buffer, fixes: bool = False) -> FileFindings:
        """Return the findings in a buffer's text under the settings of its project; failures of rules are logged
        once.
        """
        loaded_project = self.project_of(path) if buffer.is_checked else None
        if loaded_project is None:
            return FileFindings(snapshot, (), lambda code: "error")
        if not fixes:
            loaded_project.workspace.forget_results(path)
        outcome = loaded_project.engine.conclude(path, fixes)
        self._leave_out(loaded_project, outcome)
        for failure in outcome.failures:
            if failure not in self._failures:
                self._failures.add(failure)
                self._client.log(failure_text(failure, failure.path))
        return FileFindings(snapshot, tuple(outcome.findings), loaded_project.workspace.config.level)

    def _leave_out(self, loaded_project: LoadedProject, outcome: Outcome) -> None:
        """Remove the findings that are in the configured baseline from ``outcome``; a faulty baseline is reported
        once.
        """
        if not outcome.findings or loaded_project.workspace.config.baseline_file is None:
            return
        try:
            loaded_project.engine.baselines.leave_out(outcome)
        except UsageError as error:
            if str(error) not in self._complaints:
                self._complaints.add(str(error))
                self._client.complain(str(error))

    def fixed(self, path: str) -> tuple[Snapshot, bytes] | None:
        """Return the newest text of an open file and its bytes after all safe fixes; ``None`` if no fix changes it."""
        file_findings, loaded_project = self.findings(path), self.project_of(path)
        if file_findings is None or loaded_project is None:
            return None
        try:
            data = fixer.fix(loaded_project.engine, [path], unsafe=False).new_data.get(path)
        finally:
            loaded_project.engine.put(path, file_findings.snapshot.data)
        return (file_findings.snapshot, data) if data is not None else None

    # --- what can wait -------------------------------------------------------------------------------------

    def step(self) -> float | None:
        """Do a small part of the waiting work, and return the seconds until the next one; see
        :class:`~gllint.server.worker.Worker`.
        """
        if self._outdated:
            path = self._outdated.pop(0)
            buffer = self.buffers.get(path)
            # Where there is a newer text, the job that brings it is waiting.
            if buffer is not None and buffer.applied is buffer.snapshot:
                self._check(path, buffer)
            return 0
        for root in self._roots:
            for name, rescan in root.rescans.items():
                if next(rescan, self) is self:
                    del root.rescans[name]
                    self._outdated, self._settle_at = list(self.buffers), time.monotonic()
                return 0
        if self._settle_at is None:
            return None
        wait = self._settle_at - time.monotonic()
        return wait if wait > 0 else self._settle()

    def _settle(self) -> float | None:
        """Do one step of checking the files that an edit may affect; return 0 if more waits, else ``None``."""
        if self._settling is None:
            self._settling = self._settle_all()
        if next(self._settling, self) is not self:
            return 0
        self._settling = self._settle_at = None
        _warm_up()
        return None

    def _settle_all(self) -> Iterator[None]:
        """Settle the projects of the open files, then check these again, one step at a time."""
        checked = [path for path, buffer in self.buffers.items() if buffer.is_checked]
        projects = {
            loaded_project.workspace.root: loaded_project
            for path in checked
            if (loaded_project := self.project_of(path)) is not None
        }
        for project in projects.values():
            yield from project.workspace.settle()
        for path in checked:
            buffer = self.buffers.get(path)
            if buffer is not None and buffer.applied is buffer.snapshot:
                self._check(path, buffer)
                yield
        self._show_elsewhere(projects.values(), checked)
        for project in projects.values():
            self._note_unseen(project)

    def _note_unseen(self, project: LoadedProject) -> None:
        """Write to the editor's log what of a project is not checked: the counts once, and new notices."""
        workspace = project.workspace
        root, said = workspace.root, self._noted.get(workspace.root)

        def show(path: str) -> str:
            return path.removeprefix(f"{root.rstrip('/')}/")

        notices = workspace.notices()
        lines = {notice.text(show): True for notice in notices}
        if said is None and (figures := _figures(workspace, notices, show)):
            lines[f"{figures}."] = False
        for line, is_warning in lines.items():
            if line not in (said or ()):
                self._client.note(f"gllint: {os.path.basename(root)}: {line}", is_warning)
        self._noted[root] = set(lines)

    def _show_elsewhere(self, projects: Iterable[LoadedProject], checked: Collection[str]) -> None:
        """Show the findings that open files cause in files that are not open, and remove those that they no longer
        cause.
        """
        elsewhere: dict[str, list[Finding]] = {}
        for loaded_project in projects:
            outcome = loaded_project.engine.caused(loaded_project.workspace, checked)
            self._leave_out(loaded_project, outcome)
            for path, findings in by_path(outcome.findings).items():
                if path not in self.buffers:
                    elsewhere[path] = findings
                    if self._elsewhere.get(path) != findings:
                        self._client.publish_closed(path, findings, loaded_project.workspace.config.level)
        for path in self._elsewhere.keys() - elsewhere.keys():
            self._client.publish_closed(path, (), lambda code: "error")
        self._elsewhere = elsewhere

    # --- the disk ------------------------------------------------------------------------------------------

    def written(self, paths: Sequence[str]) -> None:
        """Update the projects after files were written on disk; a configuration among them reloads everything."""
        if any(os.path.basename(path).endswith(_SETTINGS) for path in paths):
            self.reload()
            return
        if self._cancelled:
            self._cancelled.clear()
            self._reapply(lambda path: True)
        for path in paths:
            if (loaded_project := self._known_already(path)) is not None:
                if loaded_project.workspace.written(path):
                    self._touch(path)
                else:
                    loaded_project.root.rescans[loaded_project.workspace.root] = (
                        loaded_project.workspace.rescan()
                    )

    def rescan(self, paths: Iterable[str]) -> None:
        """Look for files that came, went or changed in the projects of ``paths``."""
        for path in paths:
            if (loaded_project := self._known_already(path)) is not None:
                loaded_project.root.rescans[loaded_project.workspace.root] = loaded_project.workspace.rescan()

    def _known_already(self, path: str) -> LoadedProject | None:
        """Return the project of a file if it is loaded; ``None`` if it is not."""
        root = self._root_of(path)
        for workspace in root.engine.lives():
            if workspace.is_loaded and path.startswith(workspace.root.rstrip("/") + "/"):
                try:
                    is_its_own = root.engine.place_of(path).root == workspace.root
                except UsageError:
                    continue
                if is_its_own:
                    return LoadedProject(root, root.engine, workspace)
        return None

    def _complain(self, error: UsageError) -> None:
        message = str(error)
        if message not in self._complaints:
            self._complaints.add(message)
            self._client.complain(message)


def _figures(workspace: LiveWorkspace, notices: Iterable[Notice], show: Callable[[str], str]) -> str:
    """Return the counts of unchecked parts that the summary of ``gllint check`` shows.

    Example: "2 tools return text (GL104 is off)".
    """
    left_out = workspace.left_out()
    for notice in notices:
        left_out |= notice.reasons()

    def judges_text(path: str) -> bool:
        return TEXT_RULE in workspace.config.codes_in(path)

    return unseen(tools_in_force(workspace.tools(), workspace.config), left_out, show, judges_text).line()


@cache
def _warm_up() -> None:
    """Load what the first odd unit that someone types would have to wait for."""
    from gllint_runtime.policy.units import judge_unit

    judge_unit("kWh/odd")

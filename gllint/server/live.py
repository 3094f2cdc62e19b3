"""A project that stays loaded and follows edits one file at a time.

What the command line does for a whole project is done here for what an edit touches, by the same functions:
facts of the files that did not change are kept, a fresh :class:`Project` is put over them for each edit (that
takes a millisecond), and it inherits what the edit leaves valid.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from gllint.files.discover import Signature, is_left_out, signature, walk
from gllint.files.places import Place
from gllint.files.writing import read_bytes
from gllint.run.cache import digest
from gllint.run.engine import Engine, Outcome
from gllint.run.parsing import Parsed, Unparsed, parse
from gllint.run.pool import MAY_USE, PASSES, screen_bytes, uses_file
from gllint.run.progress import Progress
from gllint.run.workspace import Known, Result, Workspace
from gllint_rules import Failure, Finding
from gllint_rules.words.screen import Screen

if TYPE_CHECKING:
    from gllint_rules.project.project import Project

_CHUNK = 50
_SWEPT = 16


class LiveWorkspace(Workspace):
    """A workspace whose files change while it is in use."""

    is_loaded = False
    _user_names: frozenset[bytes] = frozenset()

    # --- loading -------------------------------------------------------------------------------------------

    def unknown_files(self) -> int:
        """List the files of the project and count those that must be read because the cache says nothing."""
        self._list_project()
        table = self._known()
        return sum(
            1 for path, seen in self._files.items() if path not in table or table[path].signature != seen
        )

    def forget_table(self) -> None:
        """Read the cache again: another process has written to it."""
        self._table = None

    def load(self) -> None:
        """Read the facts of the whole project; after that it follows changes."""
        self._results = {}
        self._loaded_project(self._candidates())
        super()._save_table()
        self.is_loaded = True

    def _save_table(self) -> None:
        """Not at every keystroke: what is read while an editor is open is read again by the next process."""

    def report_to(self, progress: Progress) -> None:
        """Tell ``progress`` what is done."""
        self._progress = progress

    @property
    def keeps_cache(self) -> bool:
        """Whether another process could leave anything for this one."""
        return self._store.folder is not None

    @property
    def project(self) -> Project:
        """The project over the facts as they are now."""
        return self._loaded_project(self._candidates())

    def take_facts(self, other: LiveWorkspace) -> None:
        """Take over the facts of the same project under another configuration: they depend on the text alone."""
        self._parsed = {path: facts for path, facts in other._parsed.items() if path not in other._overlay}

    # --- changes -------------------------------------------------------------------------------------------

    def changed(self, path: str) -> None:
        """Follow a file whose content is another one now, or that has come or gone."""
        self._dependencies.mentions.clear()
        data = self._content(path)
        if self._project is None or self._added is None or data is None or path not in self._files:
            self._start_again(path, exists=data is not None)
        else:
            self._follow(path, data, self._added, self._project)

    def written(self, path: str) -> bool:
        """Follow a file that was written on disk, unless it is open; false where it is not known."""
        seen = _signature(path)
        if path not in self._files or seen is None:
            return False
        self._files[path] = seen
        if path not in self._overlay:
            self.changed(path)
        return True

    @cached_property
    def _second_screen(self) -> Screen:
        return Screen(self._settings)

    def _content(self, path: str) -> bytes | None:
        try:
            return self._overlay[path] if path in self._overlay else read_bytes(path)
        except OSError:
            return None

    def _start_again(self, path: str, exists: bool) -> None:
        """A file that comes or goes may change what any import leads to."""
        self._files.pop(path, None)
        if exists:
            self._files[path] = None if path in self._overlay else _signature(path)
        self._parsed.pop(path, None)
        self._forget_project()

    def _forget_project(self) -> None:
        self._dependencies.probed.clear()
        self._dependencies.mentions.clear()
        self._announced.clear()
        self._added = self._project = self._top_level = None
        self._results = {}

    def _follow(self, path: str, data: bytes, added: dict[str, bytes], old: Project) -> None:
        screened = screen_bytes(self._settings, data)
        uses = bool(screened.flags & MAY_USE) and self._second_screen.uses(data, self._user_names)
        name = digest(data) if uses or screened.flags & PASSES else b""
        if name and added.get(path) == name and path in self._parsed:
            return
        if not name and path not in added and path not in self._parsed:
            return
        _forget_tree(self._parsed.pop(path, None))
        if name:
            if path not in added:
                added = dict(sorted({**added, path: name}.items()))
            added[path] = name
            self._parsed[path] = parse(path, data)
        else:
            added.pop(path, None)
        self._added = added
        self._renew(old, {path})

    def _renew(self, old: Project, changed: set[str]) -> None:
        """Put a fresh project over the facts."""
        assert self._added is not None
        self._announced.clear()
        self._project = self._new_project()
        self._add(self._project, self._added)
        stale = self._project.inherit(old, changed)
        self._results = {path: result for path, result in (self._results or {}).items() if path not in stale}

    # --- results -------------------------------------------------------------------------------------------

    def forget_results(self, path: str) -> None:
        """Have a file checked again: rules that ask about the whole project may say something else now."""
        if self._results is not None:
            self._results.pop(path, None)

    def landing(
        self, paths: Iterable[str], named: Collection[str] = (), fixes: bool = False
    ) -> dict[str, Result]:
        """Return what is known of ``paths``: what their own checks say, and what those of other files said last."""
        wanted = dict.fromkeys(paths)
        said = self.check(wanted)
        said |= {
            path: result
            for path, result in (self._results or {}).items()
            if any(finding.path in wanted for finding in result.findings)
        }
        if fixes:
            project = self.project
            said |= dict(self._run_over(project, [path for path in said if path in self._candidates()]))
        landed: dict[str, dict[Finding, None]] = {path: {} for path in wanted}
        for result in said.values():
            for finding in result.findings:
                if finding.path in landed:
                    landed[finding.path][finding] = None
        return {
            path: Result(tuple(findings), said.get(path, Result()).failures)
            for path, findings in landed.items()
        }

    def _run_rules(self, project: Project, path: str, fixes: bool = False) -> Result:
        """Without the fixes, where nobody asks for them: a keystroke should not wait for them."""
        return super()._run_rules(project, path, fixes)

    # --- what can wait -------------------------------------------------------------------------------------

    def settle(self) -> Iterator[None]:
        """Do, step by step, what an edit leaves to be done about files that are not open.

        Other files may use a tool now that was not there before, and findings in an open file may come from
        the check of another one. Stop asking as soon as another edit has come.
        """
        yield from self._settle_users()
        unknown = [path for path in self._candidates() if path not in (self._results or {})]
        for number, path in enumerate(unknown, 1):
            assert self._results is not None
            self._results[path] = self._run_rules(self.project, path)
            if number % _SWEPT == 0 or number == len(unknown):
                # What was inferred for files that are not open would only take up memory.
                self._renew(self.project, set())
            yield

    def _settle_users(self) -> Iterator[None]:
        added, old = self._candidates(), self.project
        passing = {path: value for path, value in added.items() if self._passes(path)}
        names = self._tool_names(passing)
        if names == self._user_names:
            return
        key = digest(*sorted(names))
        table = self._known()
        unknown = [
            path
            for path in self._files
            if path not in self._overlay and (row := table.get(path)) is not None and _is_open(row, key)
        ]
        for number, path in enumerate(unknown):
            table[path] = table[path]._replace(uses=key + uses_file((self._settings, names), path))
            if number % _CHUNK == 0:
                yield
        self._added = None
        renewed = self._candidates()
        self._user_names = names
        if renewed.keys() != added.keys():
            self._renew(old, renewed.keys() ^ added.keys())

    def _passes(self, path: str) -> bool:
        return bool(self._screen([path])[path].flags & PASSES)

    def _tool_names(self, passing: Mapping[str, bytes]) -> frozenset[bytes]:
        from gllint_rules.project.offered import names_of_tools

        if self._project is None:
            self._user_names = super()._tool_names(passing)
            return self._user_names
        project = self._new_project()
        for path in passing:
            parsed = self._parsed[path]
            if not isinstance(parsed, Unparsed):
                project.add(parsed)
        project.inherit(self._project, ())
        return self._reaching(project.once(names_of_tools))

    def rescan(self) -> Iterator[None]:
        """Compare, step by step, the files on disk with what is known of them, and follow what changed."""
        found: dict[str, Signature | None] = {}
        for number, item in enumerate(walk(self.root, self._places, within_project=True)):
            found[item.path] = item.signature
            if number % _CHUNK == 0:
                yield
        for path in self._overlay:
            if path in self._files:
                found.setdefault(path, None)
        changed = [path for path, seen in found.items() if self._files.get(path) != seen]
        if found.keys() != self._files.keys():
            self._files = found
            for path in changed:
                if path not in self._overlay:
                    self._parsed.pop(path, None)
            self._forget_project()
            return
        self._files = found
        for path in changed:
            if path not in self._overlay:
                self.changed(path)
                yield


class LiveEngine(Engine):
    """An engine over live workspaces."""

    workspace_class: ClassVar[type[Workspace]] = LiveWorkspace

    def live(self, place: Place) -> LiveWorkspace:
        """Return the project at ``place``."""
        workspace = self.workspace(place)
        assert isinstance(workspace, LiveWorkspace)
        return workspace

    def place_of(self, path: str) -> Place:
        """Return the place of a file. Raises :class:`UsageError` where its configuration is wrong."""
        return self.places.project(os.path.dirname(path))

    def would_check(self, path: str, top: str) -> bool:
        """Say whether ``gllint check`` of the folder ``top`` would come upon a file, were it saved."""
        return path.endswith((".py", ".pyi")) and not is_left_out(path, top, self.places)

    def check(self, paths: Sequence[str]) -> Outcome:
        """Check files of projects that are loaded, by their absolute paths; with the fixes."""
        outcome = Outcome(checked=list(paths))
        for path in paths:
            findings, failures = self.conclude(path, fixes=True)
            outcome.findings += findings
            outcome.failures += failures
        return outcome

    def conclude(self, path: str, fixes: bool = False) -> tuple[list[Finding], list[Failure]]:
        """Return the findings of the command line that lie in a file, and what failed on the way.

        Without ``fixes`` a finding has its own only where working it out takes no time.
        """
        workspace = self.live(self.place_of(path))
        outcome = Outcome()
        self._conclude(workspace, [path], workspace.landing([path], fixes=fixes), outcome)
        return sorted(outcome.findings, key=_order), outcome.failures

    def lives(self) -> list[LiveWorkspace]:
        """Return the projects that were asked about so far."""
        return [workspace for workspace in self.workspaces() if isinstance(workspace, LiveWorkspace)]


def _forget_tree(parsed: Parsed | None) -> None:
    """Let the tree of an old text go: there is one for each keystroke, and the collector looks at them all."""
    from gllint_rules.reading.reader import TREES

    if parsed is not None and not isinstance(parsed, Unparsed):
        TREES.forget(parsed.digest)


def _is_open(row: Known, key: bytes) -> bool:
    """Say whether it must be asked again if a file uses a tool, those being the ones that ``key`` stands for."""
    if not row.screened.flags & MAY_USE or row.screened.flags & PASSES:
        return False
    return row.uses is None or not row.uses.startswith(key)


def _signature(path: str) -> Signature | None:
    try:
        return signature(os.stat(path))
    except OSError:
        return None


def _order(finding: Finding) -> tuple[int, int, str]:
    return finding.span.line, finding.span.column, finding.code

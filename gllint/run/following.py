"""An index for editors: it follows edits one file at a time, and keeps the facts of unchanged files."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from gllint.files.places import Place
from gllint.run.cache import Store
from gllint.run.index import Index, tool_names
from gllint.run.parsing import Parsed, Unparsed
from gllint.run.results import Evidence
from gllint.run.screening import words_of_file
from gllint.run.screening_cache import Means
from gllint_rules.words.needles import Needles

if TYPE_CHECKING:
    from gllint_rules.project.project import Project
    from gllint_rules.reading.facts import Module


class FollowingIndex(Index):
    """The files and facts of a project whose files change while it is in use."""

    def __init__(self, place: Place, store: Store, means: Means) -> None:
        super().__init__(place, store, means)
        self._unread: dict[str, Evidence] = {}  # the text of these is what it was
        self._sound: dict[str, Module] = {}  # of files that an edit has broken, what they were before
        self._lasting: Project | None = None  # the one whose answers outlive those worked out in between
        # Files that are broken, and the project before they were.
        self._unbroken: tuple[Collection[str], Project] | None = None

    @property
    def unread(self) -> Mapping[str, Evidence]:
        """The modules that need not be read yet, since what is stored about them is enough.

        A file stays among them after an edit elsewhere has made its stored results invalid.
        """
        return self._unread

    def _new_project(self) -> Project:
        """Return a project that also knows the imports of the files whose cached results are valid."""
        if self._reads is None:
            from gllint_rules.reading.reads import Reads

            self._reads = Reads()
        project = super()._new_project()
        if self._project is None:  # else it inherits that
            self._unread.update(self.analysis_cache.fresh)
            for path, evidence in self.analysis_cache.fresh.items():
                project.imports.targets[path] = dict(evidence.targets)
                for teller in evidence.told_by:
                    project.imports.tell(teller, path)
        return project

    def _holding(self, words: frozenset[str], paths: Collection[str]) -> Collection[str]:
        read = self.means.sources.read
        return {path for path in paths if words_of_file(words, path, read)}

    @property
    def has_project(self) -> bool:
        """Return whether the project exists already."""
        return self._project is not None and self._candidates is not None

    def choose_again(self) -> dict[str, bytes]:
        """Choose the modules of the project again by the current names of tools, and return them."""
        self._candidates = None
        return self.candidates()

    def tool_names(self, passing: Mapping[str, bytes]) -> Needles:
        """Return the names by which files next to those ``passing`` the first look may use a tool."""
        if passing and self._project is not None:
            return self._reaching(self._names_after_edit(self._project, passing))
        return super().tool_names(passing)

    def _names_after_edit(self, old: Project, passing: Collection[str]) -> Needles:
        project = self._new_project()
        for path in passing:
            self._announce(project, path)
        project.inherit(old, ())
        return tool_names(project)

    def follow(self, path: str, name: bytes) -> None:
        """Follow an edit. ``name`` is the digest of the file, empty if it is no module of the project."""
        candidates = dict(self.candidates())
        self._unread.pop(path, None)
        if name:
            is_new = path not in candidates
            candidates[path] = name
            self.parsed[path] = self._read_again(path)
            self._candidates = dict(sorted(candidates.items())) if is_new else candidates
        else:
            candidates.pop(path, None)
            self.parsed.pop(path, None)
            self._candidates = candidates

    def _read_again(self, path: str) -> Parsed:
        """Read an edited file, and keep the facts that the edit did not change."""
        old = self.parsed.get(path)
        old_facts = self._sound.pop(path, None) if old is None or isinstance(old, Unparsed) else old
        parsed = self._read(path, old_facts=old_facts)
        if isinstance(parsed, Unparsed) and old_facts is not None:
            self._sound[path] = old_facts
        return parsed

    def drop(self, path: str) -> None:
        """Forget the facts of a file."""
        self.parsed.pop(path, None)
        self._unread.pop(path, None)

    def forget_project(self) -> None:
        super().forget_project()
        self._lasting = self._unbroken = None

    def renew(self, changed: Collection[str]) -> frozenset[str]:
        """Update the project after edits of the files ``changed``; return the files whose results may differ now.

        The set is empty if only the positions of results have changed.
        """
        project, lasting, sound = self._project or self.project, self._lasting, self._unbroken
        broken = frozenset(path for path in changed if isinstance(self.parsed.get(path), Unparsed))
        had_facts = project.modules.paths.keys() & broken or any(map(project.imports.loaded_module, broken))
        if broken == frozenset(changed) and not had_facts:
            return broken  # they were broken before, too
        self._lasting = self._unbroken = None
        is_mended = False
        if broken:
            # One of the next edits will probably mend the file: then the project of before is valid again.
            self._unbroken = broken, lasting or project
        elif sound is not None and sound[0] == changed:
            project, lasting = sound[1], None
            is_mended = True
        if not self._holds(project, changed):
            return self._overlay(project, changed, lasting)
        self._project = project
        if lasting is not None:
            self._overlay(project, (), lasting)
        stale = self._project.follow(changed)
        self._spoil(stale.union(changed))
        if is_mended and not stale:  # what was said meanwhile is outdated
            return self._project.imports.reaching(changed)
        return stale

    def _holds(self, project: Project, changed: Collection[str]) -> bool:
        """Return whether a project has exactly the current modules, with the current facts of the ``changed`` ones."""
        modules = project.modules.paths
        return all(
            path in modules and project.imports.loaded_module(path) is self.parsed.get(path)
            for path in changed
        ) and (modules.keys() == {path for path in self.candidates() if self._is_sound(path)})

    def _is_sound(self, path: str) -> bool:
        parsed = self.parsed.get(path)
        return self.unread[path].sound if parsed is None else not isinstance(parsed, Unparsed)

    def renew_aside(self, is_last: bool) -> None:
        """Replace the project by one without the answers since the last edit."""
        project = self.project
        lasting = self._lasting or project
        self._overlay(project, (), lasting)
        self._lasting = None if is_last else lasting

    def _overlay(self, old: Project, changed: Collection[str], answers: Project | None) -> frozenset[str]:
        """Make a new project that takes over valid answers of the old one, and return the modules that have none."""
        self._announced.clear()
        self._added = None
        self._project = self._new_project()
        self._add(self._project, self.candidates())
        stale = self._project.inherit(old, changed, answers)
        self._spoil(stale)
        return stale

    def _spoil(self, stale: frozenset[str]) -> None:
        if not stale.isdisjoint(self.analysis_cache.fresh):
            self.analysis_cache.spoil(stale)

"""The files of one project: which of them are its modules (*candidates*), their facts, and the inference over them.

Batch and live runs both have an index. Each step is done only when it is needed: a file that the first look rejects is
only read, and a project without candidates never loads the parser.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import repeat
from typing import TYPE_CHECKING, Any

from gllint.files.digest import digest
from gllint.files.discover import Signature, is_excluded
from gllint.files.places import Place
from gllint.files.sources import is_notebook
from gllint.files.writing import check_inside
from gllint.run.analysis_cache import AnalysisCache
from gllint.run.cache import Store
from gllint.run.parsing import Parsed, Unparsed, parse
from gllint.run.results import Dependencies, Evidence, Result, StoredResult
from gllint.run.screening import LACKS_CELLS, PASSES, TALKS, UNDECODABLE, UNREADABLE, outline_file
from gllint.run.screening_cache import Means, Table
from gllint_rules import RULES
from gllint_rules.reading.stack import on_large_stack
from gllint_rules.words.needles import ANY_NAME, Needles
from gllint_rules.words.text_files import TEXT_MARK, text_kind

if TYPE_CHECKING:
    from gllint_rules.project.imports import Imports
    from gllint_rules.project.project import Project
    from gllint_rules.reading.facts import Module
    from gllint_rules.reading.outline import Outline
    from gllint_rules.reading.reads import Reads

_SMALL_PROJECT = 500
_WORTH_BYTES, _CHUNK = 1_000_000, 8


class Index:
    """The files and facts of one project."""

    def __init__(self, place: Place, store: Store, means: Means) -> None:
        self.root, self.config, self._place = place.root, place.config, place
        codes = place.config.codes
        self.settings = place.config.rules._replace(
            audit="GL405" in codes, lists="GL103" in codes, needles=RULES.needles()
        )
        self.means = means
        self.table = Table(self.settings, store, means)
        self.parsed: dict[str, Parsed] = {}
        self.names: Needles = frozenset()  # of the tools, as the candidates were chosen by
        self.dependencies = Dependencies({}, {}, {})
        self._store = store
        self.analysis_cache = AnalysisCache(store, self)
        self.talking: set[str] = set()  # the files that import a framework or a model's SDK
        self.is_complete = False  # all files of the project are listed
        self.is_stale = False  # a file changed while we read it twice: nothing of this run is kept
        self._candidates: dict[str, bytes] | None = None
        self._project: Project | None = None
        self._inherited: Project | None = None  # under another configuration
        self._announced: set[str] = set()
        self._added: Mapping[str, bytes] | None = None  # those that were announced last
        self.locked: dict[str, str] = {}  # folders that cannot be listed, each with the reason
        self._listed: dict[str, frozenset[str]] = {}  # what lies in folders that were looked into
        self._top_level: dict[str, list[str]] | None = None
        self._imports: Imports | None = None  # that have read no file
        self._passing: dict[str, bytes] = {}

    def take_over(self, other: Index) -> None:
        """Take over what ``other`` has read and inferred about the same files under another configuration.

        It must not be used afterwards.
        """
        if other.is_worth_keeping:
            self.parsed = other.parsed
            if other._project is not None and self.settings.reads_like(other.settings):
                self._inherited, self._announced = other._project, other._announced
                self.dependencies = other.dependencies

    # --- files ---------------------------------------------------------------------------------------------

    @property
    def files(self) -> dict[str, Signature | None]:
        """The known files, each with its signature (size and times) as the walk read it."""
        return self.table.files

    def list_files(self) -> None:
        """List all files of the project, unless that was done."""
        if not self.is_complete:
            places, pages = self.means.places, self.means.pages
            for file in self._store.walk(
                self.root, places, within_project=True, locked=self.locked, pages=pages
            ):
                self.files.setdefault(file.path, file.signature)
            for path in self.means.sources.buffer_paths():
                is_python = text_kind(path) is None
                if is_python and self.means.places.project(os.path.dirname(path)).root == self.root:
                    self.files.setdefault(path, None)
            self.is_complete = True

    @property
    def is_worth_keeping(self) -> bool:
        """Return whether the index is still valid for the files on disk."""
        return not self.means.sources.buffer_paths() and not self.is_stale

    def forget(self, path: str) -> None:
        """Forget the facts of a file, and all that is inferred from several files."""
        self.parsed.pop(path, None)
        self.forget_project()

    def forget_project(self) -> None:
        """Forget all that is inferred from several files."""
        self._listed.clear()
        self._announced.clear()
        self._candidates = self._project = self._inherited = self._top_level = self._imports = None
        self._added = None

    # --- candidates ----------------------------------------------------------------------------------------

    @property
    def knows_candidates(self) -> bool:
        """Return whether the candidates were chosen already."""
        return self._candidates is not None

    def candidates(self) -> dict[str, bytes]:
        """Return the files that pass the first look or use a tool, each with its digest."""
        if self._candidates is None:
            self.list_files()
            with self.means.clock.stage("screen"):
                screened = self.table.screen(self.files)
            passing = {path: s.digest for path, s in screened.items() if s.flags & PASSES}
            self.talking = {path for path, s in screened.items() if s.flags & TALKS}
            self._passing = passing
            if self._project is None:
                self.analysis_cache.compare(bool(self.talking))
            self.names = names = self.tool_names(passing)
            using: dict[str, bytes] = {}
            if names:
                with self.means.clock.stage("second round"):
                    users = self.table.users(names, screened)
                    using = {path: user_digest for path, user_digest in users if user_digest}
            self._candidates = dict(sorted((passing | using).items()))
        return self._candidates

    def tool_names(self, passing: Mapping[str, bytes]) -> Needles:
        """Return the names by which other files may use a tool of the files ``passing`` the first look."""
        if not passing:
            return frozenset()
        names = self.analysis_cache.names(passing)
        if names is None:
            self._project = self._inherited or self._new_project()
            self._project.judge_by(self.settings)
            self._add(self._project, passing)
            with self.means.clock.stage("tool names"):
                names = on_large_stack(tool_names, self._project)
        return self._reaching(names)

    def _reaching(self, names: Needles) -> Needles:
        """Return the names; in a small project any name counts, so that edits of names change few files."""
        return names | {ANY_NAME} if names and len(self.files) <= _SMALL_PROJECT else names

    # --- the project ---------------------------------------------------------------------------------------

    @property
    def project(self) -> Project:
        """The project of all current candidates, which answers the questions of rules."""
        candidates = self.candidates()
        if self._project is None:
            self._project = self._new_project()
        self._add(self._project, candidates)
        return self._project

    def find_tools(self) -> None:
        """Find the tools of all candidates that are not fresh, and mark modules that a changed tool makes stale."""
        with self.means.clock.stage("tool names"):
            on_large_stack(self._find_tools)

    def _find_tools(self) -> None:
        """Find the tools of the project, until no cached evidence is stale.

        ``told_by`` has, for each module, those that add facts about what is in it: one that registers its function.
        A cached module that others add to now is stale: it and what depends on it are read again, which may make more
        stale.
        """
        project, told_by = self.project, self.project.imports.told_by
        tool_names(project)  # fills `told_by`
        to_read = {teller for evidence in self.analysis_cache.fresh.values() for teller in evidence.told_by}
        while True:
            for path in sorted(to_read & project.modules.paths.keys()):
                project.tools.of(project.modules[path])  # adds to `told_by`
            fresh = self.analysis_cache.fresh
            stale = [path for path in told_by if path in fresh and not told_by[path] <= fresh[path].told_by]
            if not stale:
                return
            to_read = self.analysis_cache.spoil(stale)

    def _new_project(self) -> Project:
        """Return a project that reads its files through this index."""
        if self.means.clock.by_rule:
            from gllint_rules.catalogue import load_all

            with self.means.clock.stage("load"):
                load_all()
        from gllint_rules.project.project import Project

        return Project(
            self.settings,
            self._load,
            self._exists,
            self._source_of,
            self.root,
            self._packages(),
            self._owns,
            bool(self.talking),
            self.analysis_cache.part_values,
            self._holding,
            self._reads,
        )

    _reads: Reads | None = None  # what answers rest on, where edits are followed
    # Which of some files contain one of some words, where that is asked again and again.
    _holding: Callable[[frozenset[str], Collection[str]], Collection[str]] | None = None

    def _packages(self) -> dict[str, list[str]]:
        """Return the folders of each top-level package, including packages of other members of the workspace."""
        from gllint_rules.project.imports import top_level_packages

        if self._top_level is None:
            self._top_level = top_level_packages(sorted(self.files))
            # An unpacked archive has no repository: a workspace is two folders above its members at most.
            top = self._place.repository or os.path.dirname(os.path.dirname(self.root))
            if top != self.root:
                from gllint.files.workspaces import sibling_packages

                for name, folders in sibling_packages(self.root, top).items():
                    self._top_level.setdefault(name, []).extend(folders)
        return self._top_level

    def _add(self, project: Project, added: Mapping[str, bytes]) -> None:
        """Add the modules to the project that it does not have yet."""
        if (
            added is self._added
        ):  # nothing is new, as in most calls: there is one for each file that is checked
            return
        new = [path for path in sorted(added) if path not in self._announced]
        unread = self.unread
        self._read_facts([path for path in new if path not in self.parsed and path not in unread], added)
        for path in new:
            self._announce(project, path)
        self._announced.update(new)
        self._added = added

    @property
    def unread(self) -> Mapping[str, Evidence]:
        """The candidates that need not be read yet, since what is stored about them is enough."""
        return self.analysis_cache.fresh

    def unsound(self) -> set[str]:
        """Return the files on which answers of this or an earlier run depend and that have no facts."""
        read = {path for path, parsed in self.parsed.items() if isinstance(parsed, Unparsed)}
        read |= {path for path, evidence in self.unread.items() if not evidence.sound}
        return {path for path in read if text_kind(path) is None}

    def incomplete_files(self) -> dict[str, str]:
        """Return the files of the project that were not read completely, each with the reason."""
        reasons = {
            path: self.why_unparsed(path, parsed)
            for path, parsed in self.parsed.items()
            if isinstance(parsed, Unparsed)
            and text_kind(path) is None  # no file depends on templates and data
        }
        # Of files that an earlier run could not parse only that is stored, and not the place.
        for path, evidence in self.unread.items():
            if not evidence.sound and path not in self.parsed and text_kind(path) is None:
                reasons[path] = "cannot be parsed"
        for path, screened in self.table.screen(self.files).items():
            if screened.flags & UNREADABLE:
                reasons[path] = screened.error
            elif screened.flags & UNDECODABLE:
                reasons.setdefault(path, "cannot be decoded")
            # The mark of an unread cell may be in a text of any file: only in a notebook it says that.
            elif screened.flags & LACKS_CELLS and is_notebook(path):
                reasons.setdefault(path, "a cell of it cannot be parsed")
        return reasons

    def is_sound(self, path: str) -> bool:
        """Return whether a file has facts, according to the cache, or else by reading it."""
        evidence = self.unread.get(path) if path not in self.parsed else None
        return evidence.sound if evidence is not None else not isinstance(self.read(path), Unparsed)

    def why_unparsed(self, path: str, parsed: Unparsed) -> str:
        """Say why a file has no facts, and where."""
        if not parsed.line:
            return parsed.message
        cell = self.means.sources.cell(path, parsed.line)
        place = f"line {parsed.line}" if cell is None else f"cell {cell.cell}, line {cell.line}"
        return f"{parsed.message}, {place}"

    def _announce(self, project: Project, path: str) -> None:
        parsed = self.parsed.get(path)
        if parsed is None and self.unread[path].sound:
            project.announce(path)
        elif parsed is not None and not isinstance(parsed, Unparsed):
            project.add(parsed)

    def _read_facts(self, paths: list[str], digests: Mapping[str, bytes]) -> None:
        """Read the facts of files, in several processes if that is worth it."""
        self.means.progress.expect("reading", len(paths))
        size = sum(signature.size for path in paths if (signature := self.files.get(path)))
        worth = size > _WORTH_BYTES and not self.means.sources.buffer_paths()
        outlines: Iterable[tuple[bytes, Outline] | None] = repeat(None)
        if self.means.pool.takes(paths, worth, _CHUNK):
            outlines = self.means.pool.map(outline_file, None, paths, crashed=None, chunk=_CHUNK)
        for path, outline in zip(paths, outlines):  # noqa: B905  (one of them may be endless)
            self.parsed[path] = self._read(path, digests[path], outline_entry=outline)
            self.means.progress.tick(1)

    def _read(
        self,
        path: str,
        expected: bytes = b"",
        old_facts: Module | None = None,
        outline_entry: tuple[bytes, Outline] | None = None,
    ) -> Parsed:
        """Read the facts of one file."""
        try:
            data = self.means.sources.read(path)
        except OSError as error:
            self.is_stale = True
            return Unparsed(f"cannot be read: {error.strerror}")
        if expected and not self.means.sources.holds(path):
            self.is_stale = self.is_stale or digest(data) != expected
        outline = outline_entry[1] if outline_entry is not None and outline_entry[0] == digest(data) else None
        return parse(path, data, self.means.clock, old_facts, outline)

    def learnt(self) -> tuple[Any, ...]:
        """Return the evidence of this process's results, for another process to :meth:`learn`."""
        imports = self.project.imports
        return (
            self.dependencies,
            self.is_stale,
            imports.targets,
            imports.told_by,
            self.project.part_values,
        )

    def learn(
        self,
        dependencies: Dependencies,
        is_stale: bool,
        targets: Mapping[str, dict[str, str | None]],
        told_by: Mapping[str, set[str]],
        answers: Mapping[tuple[Any, Any], Mapping[str, Any]],
    ) -> None:
        """Take over the evidence of another process's results."""
        self.dependencies.loaded.update(dependencies.loaded)
        self.dependencies.probed.update(dependencies.probed)
        self.dependencies.owned.update(dependencies.owned)
        self.is_stale = self.is_stale or is_stale
        imports = self.project.imports
        for path, names in targets.items():
            imports.targets.setdefault(path, {}).update(names)
        for path, tellers in told_by.items():
            imports.told_by.setdefault(path, set()).update(tellers)
        for (part, argument), values in answers.items():
            self.project.remember(part, argument, values)

    # --- what is kept ----------------------------------------------------------------------------------------

    def save(self, results: Mapping[str, Result | StoredResult] | None = None) -> None:
        """Store the evidence of the modules, and the rules' ``results`` for all of them."""
        if self._project is None or not self.is_worth_keeping:
            return
        candidates, imports, loaded = self.candidates(), self._project.imports, self.dependencies.loaded
        if results is not None:
            # Before anything is recorded, since answers may load more modules.
            self.analysis_cache.find_answers(results, candidates)
        broken = {path for path, parsed in self.parsed.items() if isinstance(parsed, Unparsed)}
        self.analysis_cache.learn(candidates, loaded, broken, imports.targets, imports.told_by)
        if results is not None:
            self.analysis_cache.keep_results(self.config.codes, candidates, results)
        self.analysis_cache.keep_facts(
            bool(self.talking),
            self._project.part_values,
            self.dependencies._replace(probed=self._in_short(self.dependencies.probed)),
            candidates,
            self.names - {ANY_NAME},
            self._passing,
        )

    def digest_of(self, path: str) -> bytes:
        """Return the digest of a file as it is now, ``b""`` of one that cannot be read."""
        file_digest = self.table.digest_of(path)
        if file_digest is not None:
            return file_digest
        try:
            return digest(self.means.sources.read(path))
        except (OSError, ValueError):
            return b""

    def is_there(self, path: str) -> bool:
        """Return whether a file exists, or a folder if the path ends with a slash."""
        return os.path.isdir(path) if path.endswith("/") else self.means.sources.exists(path)

    def leads_to(self, importer: str, dotted: str) -> str | None:
        """Return the file to which a dotted name leads when ``importer`` imports it, ``None`` for no file."""
        if self._imports is None:
            from gllint_rules.project.imports import Imports

            self._imports = Imports(
                lambda path: None, self._exists, self._packages(), lambda path: True, root=self.root
            )
        return self._imports.find_module(importer, dotted)

    def answer(self, question: str) -> bytes:
        """Return the digest of the answer to a question about all modules."""
        from gllint_rules.project.project_questions import QUESTIONS

        function = QUESTIONS.get(question)
        return digest(_canonical(on_large_stack(self.project.once, function)).encode()) if function else b""

    # --- what layer 2 asks back ----------------------------------------------------------------------------

    def read(self, path: str) -> Parsed:
        """Return the facts of a file, or why it has none."""
        if path not in self.parsed:
            self.parsed[path] = self._load_helper(path)
        return self.parsed[path]

    def _load(self, path: str) -> Module | None:
        parsed = self.read(path)
        return None if isinstance(parsed, Unparsed) else parsed

    def _load_helper(self, path: str) -> Parsed:
        """Read a module that a checked file imports, and record its digest as a dependency."""
        is_text = text_kind(path) is not None
        try:
            if is_text and not self.means.sources.holds(path):
                check_inside(path, self.root)
            data = self.means.sources.read(path)
        except OSError as error:
            self.dependencies.loaded[path] = b""
            why = f"cannot be read: {error.strerror}"
            return Unparsed(why.partition(";")[0], 0) if is_text else Unparsed(why)
        self.dependencies.loaded[path] = now = digest(data)
        if self._candidates and self._candidates.get(path, now) != now:
            self.is_stale = True
        return parse(path, data, self.means.clock)

    def own_files(self) -> Collection[str]:
        """Return the files in which findings are reported: the Python files, and templates and data that code reads."""
        texts = [path for path in self.texts() if not is_excluded(path, self._place)]
        return {*self.files, *texts} if texts else self.files

    # --- what is no Python -----------------------------------------------------------------------------------

    def texts(self) -> dict[str, list[str]]:
        """Return the templates and data files that candidates read, each with its readers."""
        readers: dict[str, list[str]] = {}
        imports = self._project.imports if self._project is not None else None
        for path in self.candidates():
            evidence = self.analysis_cache.fresh.get(path)
            targets = {**(evidence.targets if evidence is not None else {})}
            targets.update(imports.targets.get(path, {}) if imports is not None else {})
            for name, target in targets.items():
                if name.startswith(TEXT_MARK) and target is not None and path not in readers.get(target, ()):
                    readers.setdefault(target, []).append(path)
        return readers

    def _exists(self, path: str) -> bool:
        if path in self.files or self.means.sources.holds(path):
            return True
        probed = self.dependencies.probed
        if path not in probed:
            probed[path] = self._may_exist(path) and os.path.isfile(path)
        return probed[path]

    def _may_exist(self, path: str) -> bool:
        """Return whether a file or folder may exist, judged by cached listings of folders."""
        folder, _, name = path.rpartition("/")
        if folder != self.root and not folder.startswith(f"{self.root}/"):
            return True
        names = self._listed.get(folder)
        if names is None:
            try:
                names = frozenset(os.listdir(folder) if self._may_exist(folder) else ())
            except OSError as error:
                if not isinstance(error, FileNotFoundError | NotADirectoryError):
                    return True
                names = frozenset()
            self._listed[folder] = names
        return name in names

    def _in_short(self, probed: Mapping[str, bool]) -> dict[str, bool]:
        """Return ``probed`` with each group of missing paths in one missing folder replaced by that folder and a slash.

        ``{"/a/x/b.py": False, "/a/x/c.py": False}`` → ``{"/a/x/": False}`` if there is no ``/a/x``.
        """
        short: dict[str, bool] = {}
        for path, exists in probed.items():
            missing = path
            while not exists and not self._may_exist(folder := missing.rstrip("/").rpartition("/")[0]):
                missing = f"{folder}/"
            short[missing] = exists
        return short

    def _owns(self, path: str) -> bool:
        """Return whether a file belongs to the project, and record the answer as a dependency."""
        if not self._candidates or path not in self._candidates:
            self.dependencies.owned[path] = path in self.files
        return path in self.files

    def _source_of(self, path: str) -> str:
        """Return the text of a file, and record if it has changed since the run began."""
        source = self.means.sources.of(path)
        if not self.means.sources.holds(path):
            if self._candidates and path in self._candidates:
                self.is_stale = self.is_stale or digest(source.data) != self._candidates[path]
            elif path not in self.dependencies.loaded:
                self.dependencies.loaded[path] = digest(source.data)
        return source.text.source

    def holds(self, rests_on: Dependencies) -> bool:
        """Return whether the files on which fixes depend are unchanged."""
        return all(self.digest_of(path) == value for path, value in rests_on.loaded.items())


def _canonical(value: object) -> str:
    """Return a text of a plain value that is the same for equal values, whatever the order of their sets is."""
    if isinstance(value, frozenset):
        return f"{{{','.join(sorted(map(_canonical, value)))}}}"
    return f"({','.join(map(_canonical, value))})" if isinstance(value, tuple) else repr(value)


def tool_names(project: Project) -> Needles:
    from gllint_rules.project.tool_exports import names_of_tools

    return project.once(names_of_tools)

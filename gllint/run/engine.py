"""From the paths that a user passes to the findings: the one pipeline behind every host."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

import gllint_rules
from gllint.errors import UsageError
from gllint.files.config import Config
from gllint.files.discover import (
    Omission,
    Signature,
    is_excluded,
    is_left_out,
    is_python_name,
    is_script,
    signature_of,
)
from gllint.files.paths import absolute, relative
from gllint.files.places import Place, Places
from gllint.files.source import Undecodable
from gllint.files.sources import Sources
from gllint.report.unseen import TEXT_RULE, Unseen, unseen
from gllint.run.cache import Store, cache_folder
from gllint.run.clock import Clock
from gllint.run.index import Index
from gllint.run.notices import Notice, disobeyed
from gllint.run.pool import Pool
from gllint.run.progress import Progress
from gllint.run.results import Result
from gllint.run.screening_cache import Means
from gllint.run.workspace import Workspace
from gllint_rules import Failure, Finding, PlainNumber, ToolSight
from gllint_rules.tuples import NamedTuple
from gllint_rules.words.text_files import text_kind

if TYPE_CHECKING:
    from typing import Protocol

    from gllint.run.obstacles import Obstacle
    from gllint_rules.check.map import Map

    class Reader(Protocol):
        """The part of a project that :class:`Engine` reads to complete what was found in it."""

        @property
        def index(self) -> Index:
            """The files and facts of the project."""

        def obstacles(self, path: str, codes: Iterable[str], comment: str = "") -> list[Obstacle]:
            """Return the unread files that may matter to findings of ``codes`` at a ``comment`` of a file."""

        def unread(self) -> list[Obstacle]:
            """Return the files of the project that cannot be read."""


_Grouped: TypeAlias = "tuple[Place, dict[str, Signature | None]]"
_OF_WHAT_IS_NOWHERE = frozenset({"GL303"})  # rules that report a name which nothing in the project has
CACHE_VARIABLE = "GLLINT_CACHE_DIR"
_MOST_ENTRIES = 1_000
_STRANGE = "neither the name nor the content is Python"


class Options(NamedTuple):
    """How to run.

    - ``fixed`` is a configuration for every file; ``override`` changes each configuration.
    - ``take_turns``: one process at a time analyses a project, for hosts that run many processes at once.
    - Without ``comments`` no comment suppresses anything; without ``noqa`` those of flake8's form do not.
    - Without ``fixes`` a finding has its fix only if that takes no extra time.
    - ``bound``: findings in other files than those checked are left out, for hosts that show one file.
    - ``once``: the engine is used for one check only.
    """

    fixed: Config | None = None
    override: Callable[[Config], Config] = lambda config: config
    cache: bool = True
    jobs: int | None = None
    noqa: bool = True
    comments: bool = True
    progress: bool = False
    time_rules: bool = False
    take_turns: bool = False
    fixes: bool = True
    bound: bool = False
    once: bool = False


class Unjudged(NamedTuple):
    """Something that was not judged because a file was not read: a suppression, or a name that no file defines."""

    what: str
    path: str
    line: int
    obstacles: tuple[Obstacle, ...]


class Outcome:
    """The findings of a run, sorted by path, line, column and code, and what was not checked. Paths are absolute.

    - ``checked`` are the files that were checked; they may cause findings in other files.
    - ``tools`` are the tools that these files define, each once, if any rule is on there; ``has_tools`` counts the
      others, too.
    - ``plain_numbers`` are the numbers that ``plain-kinds`` leaves out.
    - ``left_out`` says why files, or parts of them, were not checked.
    - ``suppressed`` is the number of findings that comments suppress.
    """

    def __init__(self, checked: Iterable[str] = ()) -> None:
        self.findings: list[Finding] = []
        self.failures: list[Failure] = []
        self.notices: list[Notice] = []
        self.unjudged: list[Unjudged] = []
        self.checked = list(checked)
        self.tools: list[ToolSight] = []
        self.has_tools = False
        self.plain_numbers: list[PlainNumber] = []
        self.left_out: dict[str, str] = {}
        self.suppressed = 0

    def add(self, other: Outcome) -> None:
        """Add the findings of another outcome."""
        self.findings += other.findings
        self.failures += other.failures
        self.notices += other.notices
        self.unjudged += other.unjudged
        self.checked += other.checked
        self.tools += other.tools
        self.has_tools |= other.has_tools
        self.plain_numbers += other.plain_numbers
        self.left_out |= other.left_out
        self.suppressed += other.suppressed


class Engine(Means):
    """Checks files, and keeps what it inferred about their projects for the next call.

    ``sources`` returns the contents of files; :meth:`put` replaces that of a file on disk.
    """

    def __init__(self, options: Options | None = None) -> None:
        self.options = options = options or Options()
        super().__init__(
            Places(options.override, options.fixed),
            Sources(),
            Pool(options.jobs),
            Clock(options.time_rules),
            Progress(options.progress),
        )
        self._workspaces: dict[str, Workspace] = {}
        self._complete: set[str] = set()

    def check(self, paths: Sequence[str]) -> Outcome:
        """Check files and folders, given as the user wrote them. Raises :class:`UsageError`."""
        omissions: list[Omission] = []
        with self.clock.stage("discover"):
            named = [absolute(path) for path in paths]
            grouped = self._collect(named, omissions)

        def check(root: str) -> Outcome:
            return self._check_project(*grouped[root], named)

        parts = self._check_beside(grouped, check)
        outcome = Outcome()
        for root in sorted(grouped):
            outcome.add(parts.get(root) or check(root))
        with self.clock.stage("left out"):
            self._tell_omissions(named, omissions, outcome)
        outcome.notices += disobeyed(self.places)
        outcome.findings.sort(key=in_order)
        outcome.failures.sort(key=lambda failure: (failure.path, failure.code))
        gaps = outcome.left_out
        for failure in outcome.failures:
            gaps.setdefault(failure.path, f"{failure.code} failed on it")
        self.progress.clear()
        return outcome

    def _check_beside(
        self, grouped: Mapping[str, _Grouped], check: Callable[[str], Outcome]
    ) -> dict[str, Outcome]:
        """Check all projects of ``grouped``, the smaller ones in another process, and return their outcomes by root.

        Returns nothing, and checks nothing, if a second process would not save time.
        """
        if not self.options.once or len(grouped) < 2 or self.sources.buffer_paths():
            return {}
        from gllint.run.project_processes import start

        def alone(root: str) -> Outcome:
            self.options = self.options._replace(jobs=1)
            self.pool.jobs = 1
            self.progress = Progress(False)
            return check(root)

        sizes = {
            root: sum(signature.size for signature in files.values() if signature)
            for root, (place, files) in grouped.items()
            if not os.path.isdir(self.store(place).folder or "")  # a project in the cache takes no time
        }
        jobs = self.options.jobs or min(place.config.jobs or self.pool.jobs for place, _ in grouped.values())
        process = start(sizes, jobs, alone)
        if process is None:
            return {}
        parts: dict[str, Outcome] = {}
        try:
            parts |= {root: check(root) for root in sorted(grouped) if root not in process.roots}
            parts |= process.outcomes()
        finally:
            process.close()
        return parts

    def _check_project(
        self, place: Place, files: Mapping[str, Signature | None], named: Collection[str]
    ) -> Outcome:
        """Return the outcome of checking ``files`` of one project; ``named`` are the paths that the user passed."""
        workspace = self.workspace(place)
        named_texts = [path for path in files if text_kind(path) is not None]
        strangers = self._strangers(workspace, files)
        passed_over = {*named_texts, *(path for notice in strangers for path in notice.paths)}
        files = {path: signature for path, signature in files.items() if path not in passed_over}
        workspace.announce(files, complete=place.root in self._complete)
        results = workspace.landing(files, named)
        texts = [*named_texts, *self._texts_below(workspace, named)]
        shown = {*files, *texts}
        results |= workspace.landing_texts(texts)
        if not self.options.bound:
            results |= workspace.caused(shown)
        outcome = Outcome()
        with self.clock.stage("suppress"):
            self.conclude_all(workspace, shown, results, outcome)
        if self.options.fixes:
            outcome.findings = self.vetted(workspace.index, outcome.findings, self.store(place))
        notices = [*workspace.notices(files, named), *workspace.text_notices(texts, named), *strangers]
        outcome.notices += notices
        sights = list(workspace.tools(files))
        outcome.tools = tools_in_force(sights, place.config)
        outcome.has_tools = any(sight.result != "unregistered" for sight in sights)
        outcome.plain_numbers = workspace.plain_numbers(files)
        outcome.left_out = workspace.left_out(files)
        for notice in notices:
            outcome.left_out |= notice.reasons()
        for path, result in results.items():
            for finding in result.findings:
                if finding.code == "GL900":
                    outcome.left_out.setdefault(path, f"{finding.message} (line {finding.span.line})")
        return outcome

    def _strangers(self, workspace: Workspace, paths: Iterable[str]) -> list[Notice]:
        """Return a notice of the files that are not Python by name, first line or content: they are not checked."""
        nameless = [
            path
            for path in paths
            if not is_python_name(path) and text_kind(path) is None and not self.sources.holds(path)
        ]
        broken = workspace.index.table.broken(nameless) if nameless else {}
        strangers = tuple(path for path in broken if not is_script(path))
        return [Notice(strangers, _STRANGE)] if strangers else []

    def _texts_below(self, workspace: Workspace, named: Collection[str]) -> list[str]:
        """Return the templates and data files that a module reads and that are in the folders ``named``."""
        texts = workspace.index.texts()
        folders = [path for path in named if os.path.isdir(path)] if texts else []
        tops = {path: [top for top in folders if path.startswith(top.rstrip("/") + "/")] for path in texts}
        return [
            path
            for path, above in tops.items()
            if path not in named and any(not is_left_out(path, top, self.places) for top in above)
        ]

    def _tell_omissions(
        self, named: Collection[str], omissions: Iterable[Omission], outcome: Outcome
    ) -> None:
        """Report the left-out files in the folders ``named`` that belong to the project."""
        folders = [path for path in named if os.path.isdir(path)]
        if not folders:
            return
        from gllint.run.omissions import Omissions

        def index_of(path: str) -> Index:
            return self.workspace(self.place_of(path)).index

        search = Omissions(folders, frozenset(outcome.checked), omissions, self.places, index_of)
        by_reason: dict[tuple[str, str], list[str]] = defaultdict(list)
        for path, why in search.unchecked_files():
            by_reason[why, "folder" if path.endswith("/") else "file"].append(path)
            outcome.left_out.setdefault(path, why)
        outcome.notices += [Notice(tuple(paths), why, noun) for (why, noun), paths in by_reason.items()]
        if search.has_given_up:
            lack = "not searched completely for files that code imports"
            outcome.notices.append(Notice(tuple(folders), "too many files", "folder", lack=lack))
            outcome.left_out |= {f"{folder}/": lack for folder in folders}

    def unseen(self, outcome: Outcome, show: Callable[[str], str]) -> Unseen:
        """Count what an outcome leaves unchecked; ``show`` returns the path to print for a file."""

        def judges_text(path: str) -> bool:
            return TEXT_RULE in self.config_of(path).codes_in(path)

        return unseen(outcome.tools, outcome.left_out, show, judges_text, len(outcome.plain_numbers))

    def files(self, paths: Sequence[str]) -> list[str]:
        """Return the files that :meth:`check` would check. Raises :class:`UsageError`."""
        grouped = self._collect([absolute(path) for path in paths])
        return [path for _, files in grouped.values() for path in files]

    def announce(self, paths: Iterable[str]) -> None:
        """Announce the files for :meth:`check_file` at once, since each late file means a new look at the project."""
        for path in paths:
            self.workspace(self.place_of(path)).announce({path: signature_of(path)})

    def lists(self, path: str) -> bool:
        """Return whether the walk of its project has found a file."""
        return path in self.workspace(self.place_of(path)).index.files

    def notices(self, paths: Iterable[str], named: Collection[str]) -> list[Notice]:
        """Return the notices of the projects of ``paths``; ``named`` are the paths that the user passed (absolute).

        Raises :class:`UsageError` if a configuration is wrong.
        """
        projects: dict[str, tuple[Place, list[str]]] = {}
        for folder in filter(os.path.isdir, named):
            place = self.places.project(folder)
            projects.setdefault(place.root, (place, []))
        for path in paths:
            place = self.place_of(path)
            projects.setdefault(place.root, (place, []))[1].append(path)
        notices: list[Notice] = []
        for place, files in projects.values():
            workspace = self.workspace(place)
            workspace.announce({path: signature_of(path) for path in files})
            workspace.landing(())  # only then it is known which unread files matter
            notices += workspace.notices(files, named)
        return [*notices, *disobeyed(self.places)]

    def check_file(self, path: str, is_named: bool = False) -> Outcome:
        """Check one file (absolute) in its project. If ``is_named``, the user passed it, and GL900 reports it, too."""
        place = self.place_of(path)
        workspace = self.workspace(place)
        workspace.announce({path: signature_of(path)})
        outcome = Outcome()
        self.conclude_all(workspace, [path], workspace.landing([path], [path] if is_named else ()), outcome)
        outcome.tools = tools_in_force(workspace.tools([path]), place.config)
        if self.options.fixes:
            outcome.findings = self.vetted(workspace.index, outcome.findings)
        outcome.findings.sort(key=in_order)
        return outcome

    def vetted(self, index: Index, findings: Sequence[Finding], store: Store | None = None) -> list[Finding]:
        """Return the findings, without fixes that would break other code that reads the value; helps name that code.

        Any file may have such code, also one that is no module of the project. What was found is kept in ``store``
        for each file until that changes.
        """
        if not findings:
            return []
        from gllint.run.reader_cache import readers_of
        from gllint_rules.check.readers import changed_by, vetted

        changed = changed_by(findings)
        if not changed:
            return list(findings)
        here = os.getcwd().replace(os.sep, "/").rstrip("/")

        def shown(path: str) -> str:
            return relative(path, here if path.startswith(f"{here}/") else index.root)

        return vetted(findings, readers_of(changed, index, store), shown)

    def obstacles(self, path: str, codes: Iterable[str]) -> list[Obstacle]:
        """Return the unread files that may matter to findings of ``codes`` in a file (absolute)."""
        return self.workspace(self.place_of(path)).obstacles(path, codes)

    def explain(self, path: str, line: int, code: str | None) -> list[str]:
        """Return the sentences that explain why there is, or is not, a finding at a line."""
        path = absolute(path)
        self.places.ask_about([path])
        workspace = self.workspace(self.place_of(path))
        workspace.announce({path: signature_of(path)})
        return workspace.explain(path, line, code)

    def maps(self, paths: Collection[str]) -> list[Map]:
        """Return a map for each project: where the numbers in checked files (absolute) come from."""
        return [workspace.map(paths) for workspace in self.workspaces()]

    def workspace(self, place: Place) -> Workspace:
        """Return the project at ``place``. Raises :class:`UsageError` if gllint was never installed."""
        if place.root not in self._workspaces:
            if not os.path.isdir(os.path.join(gllint_rules.__path__[0], "stubs", "tables")):
                raise UsageError(
                    "the tables of the standard library are missing: install gllint with pip, even from a checkout"
                )
            if self.options.jobs is None and place.config.jobs is not None:
                self.pool.jobs = place.config.jobs
            store = self.store(place)
            turns, fixes = self.options.take_turns, self.options.fixes
            self._workspaces[place.root] = Workspace(Index(place, store, self), store, turns, fixes)
        return self._workspaces[place.root]

    def take_over(self, other: Engine) -> None:
        """Take over what ``other`` inferred under other options; ``other`` cannot be used any more."""
        for workspace in other.workspaces():
            self.workspace(self.places.project(workspace.root)).take_over(workspace)

    def store(self, place: Place) -> Store:
        """Return the cache of the project at ``place``."""
        return Store.of(self.cache_dir(place), place.root, place.config.rules)

    def workspaces(self) -> Sequence[Workspace]:
        """Return the projects of all files so far, in the order of their folders."""
        return [self._workspaces[root] for root in sorted(self._workspaces)]

    def cache_dir(self, place: Place) -> str | None:
        """Return the cache folder of a project, ``None`` if nothing is cached."""
        if not self.options.cache:
            return None
        top = place.repository or place.root
        if place.config.cache_dir is not None:
            top = os.path.join(place.config.base, place.config.cache_dir)
        elif os.environ.get(CACHE_VARIABLE):
            top = os.environ[CACHE_VARIABLE]
        return cache_folder(top)

    def place_of(self, path: str) -> Place:
        """Return the place of a file. Raises :class:`UsageError` if its configuration is wrong."""
        return self.places.project(os.path.dirname(path))

    def config_of(self, path: str) -> Config:
        """Return the configuration in force for a file."""
        return self.place_of(path).config

    def configurations(self, paths: Iterable[str]) -> list[Config]:
        """Return the configurations that apply at ``paths`` and below them."""
        return self.places.configurations(map(absolute, paths))

    def baselines_of(self, paths: Iterable[str]) -> list[str]:
        """Return the baselines that the configurations of files and folders (absolute) name."""
        folders = dict.fromkeys(
            path if os.path.isdir(path) else os.path.dirname(path) for path in dict.fromkeys(paths)
        )
        files = (self.places.project(folder).config.baseline_file for folder in folders)
        return [*dict.fromkeys(file for file in files if file is not None)]

    def top_of(self, path: str) -> str:
        """Return the top folder of a file's repository, or of its project if it is in no repository."""
        place = self.place_of(path)
        return place.repository or place.root

    def put(self, path: str, data: bytes) -> None:
        """Use ``data`` as the content of a file from now on, in place of what is on disk."""
        self.sources.put(path, data)
        self.workspace(self.place_of(path)).changed(path)

    def close(self, interrupted: bool = False) -> None:
        """End the processes that were started."""
        if interrupted:
            self.pool.kill()
        else:
            self.pool.close()

    # --- from paths to files -------------------------------------------------------------------------------

    def _collect(self, paths: list[str], omissions: list[Omission] | None = None) -> dict[str, _Grouped]:
        """Return the files below ``paths`` by the root of their project. Raises :class:`UsageError`."""
        for path in paths:
            if not self.sources.holds(path) and not os.path.lexists(path):
                raise UsageError(f"{path}: no such file or folder")
        self.places.ask_about(paths)
        grouped: dict[str, _Grouped] = {}

        def add(path: str, place: Place, signature: Signature | None) -> None:
            grouped.setdefault(place.root, (place, {}))[1][path] = signature

        for path in paths:
            if self.sources.holds(path) or not os.path.isdir(path):
                place = self.place_of(path)
                if not (place.config.force_exclude and is_excluded(path, place)):
                    add(path, place, signature_of(path))
                continue
            _refuse_locked(path)
            place = self.places.project(path)
            if place.config.force_exclude and is_excluded(path, place):
                continue
            if _has_texts(path):
                grouped.setdefault(place.root, (place, {}))
            walk = self.store(place).walk(path, self.places, omissions=omissions, pages=self.pages)
            for file in walk:
                add(file.path, file.place, file.signature)
                if f"{file.place.root}/".startswith(path.rstrip("/") + "/"):
                    self._complete.add(file.place.root)
        return grouped

    # --- from results to findings --------------------------------------------------------------------------

    def conclude_all(
        self, project: Reader, paths: Collection[str], results: Mapping[str, Result], outcome: Outcome
    ) -> None:
        """Add to ``outcome`` the findings of ``results`` whose codes are on and that no comment suppresses.

        Only of ``paths`` all findings are known, so suppressions in other files are not reported as unused.
        """
        outcome.checked += paths
        index = project.index
        texts = [path for path in paths if text_kind(path) is not None]
        marked = index.table.marked(paths if not texts else {*paths}.difference(texts))
        for path in sorted({*marked, *texts, *results}):
            result = results.get(path, Result())
            outcome.failures += result.failures
            if result.notice:
                outcome.notices.append(Notice((path,), result.notice))
            codes = index.config.codes_in(path)
            findings = tuple(finding for finding in result.findings if finding.code in codes)
            if any(finding.code in _OF_WHAT_IS_NOWHERE for finding in findings):
                findings = _judged(project, findings, outcome)
            is_unread = result.notice or any(finding.code == "GL900" for finding in result.findings)
            if is_unread or result.failures or path not in paths:
                codes -= {"GL901"}  # findings that are unknown here may need the suppressions
            visible_findings = self._unsuppressed(project, path, findings, codes, outcome)
            own_findings = (
                visible_findings if path in paths else [f for f in visible_findings if f in findings]
            )
            outcome.findings += _with_wanted_fixes(own_findings, index.config.fixable_codes)
            outcome.suppressed += len({*findings}.difference(visible_findings)) if path in paths else 0

    def _unsuppressed(
        self,
        project: Reader,
        path: str,
        findings: tuple[Finding, ...],
        codes: frozenset[str],
        outcome: Outcome,
    ) -> tuple[Finding, ...]:
        """Return the findings of a file that its comments do not suppress, and count the others."""
        try:
            source = self.sources.of(path).text.source
        except (OSError, Undecodable):
            return findings
        from gllint.verdict import suppress
        from gllint.verdict.text_comments import comments_of

        if not self.options.comments or not suppress.may_suppress(source):
            return findings

        def is_judged(suppression: suppress.Suppression, unused: Sequence[str]) -> bool:
            obstacles = project.obstacles(path, unused, self.sources.lines(path)[suppression.span.line - 1])
            if obstacles:
                outcome.unjudged.append(
                    Unjudged("suppression", path, suppression.span.line, tuple(obstacles))
                )
            return not obstacles

        return suppress.apply(
            path,
            comments_of(path, source),
            findings,
            codes,
            noqa=self.options.noqa,
            require_reason=project.index.config.require_reason,
            is_judged=is_judged,
        )


def _with_wanted_fixes(findings: Iterable[Finding], fixable: frozenset[str] | None) -> Iterable[Finding]:
    """Return the findings, without the fixes of codes that are not ``fixable`` (``None``: all are)."""
    if fixable is None:
        return findings
    return [f if f.fix is None or f.code in fixable else f._replace(fix=None) for f in findings]


def tools_in_force(sights: Iterable[ToolSight], config: Config) -> list[ToolSight]:
    """Return each tool once, with the sight that shows most of its result, in files for which any rule is on."""
    order = ("number", "text", "unknown", "other", "unregistered")
    sights_by_place: dict[tuple[str, int], ToolSight] = {}
    for sight in sorted(sights, key=lambda sight: (sight.tool, order.index(sight.result))):
        place = sight.tool.path, sight.tool.at
        old_sight = sights_by_place.get(place)
        if old_sight is None or order.index(sight.result) < order.index(old_sight.result):
            sights_by_place[place] = sight
    in_force = {path: bool(config.codes_in(path)) for path, _ in sights_by_place}
    return [sight for (path, _), sight in sorted(sights_by_place.items()) if in_force[path]]


def _judged(project: Reader, findings: tuple[Finding, ...], outcome: Outcome) -> tuple[Finding, ...]:
    """Return the findings, without those of something missing that an unread file may contain."""
    unread = project.unread()
    if not unread:
        return findings
    open_ones = [finding for finding in findings if finding.code in _OF_WHAT_IS_NOWHERE]
    outcome.unjudged += [Unjudged("name", f.path, f.span.line, tuple(unread)) for f in open_ones]
    return tuple(finding for finding in findings if finding not in open_ones)


def _refuse_locked(folder: str) -> None:
    """Raise :class:`UsageError` for a folder whose content cannot be listed."""
    try:
        os.scandir(folder).close()
    except OSError as error:
        raise UsageError(f"{folder}: cannot be read: {error.strerror}") from None


def _has_texts(folder: str) -> bool:
    """Return whether a folder itself contains templates or data files."""
    try:
        with os.scandir(folder) as entries:
            return any(text_kind(entry.name) is not None for entry in islice(entries, _MOST_ENTRIES))
    except OSError:
        return False


def by_path(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """Group findings by their file, keeping their order."""
    grouped: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        grouped[finding.path].append(finding)
    return grouped


def in_order(finding: Finding) -> tuple[str, int, int, str, int, int, str]:
    """Return the sort key of a finding: path, line, column, code, end, message."""
    span = finding.span
    return (
        finding.path, span.line, span.column, finding.code, span.end_line, span.end_column, finding.message,
    )  # fmt: skip

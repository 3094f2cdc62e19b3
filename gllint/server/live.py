"""A project that stays loaded and follows edits one file at a time.

What the command line does for a whole project is done here for what an edit touches, over an index of the same kind:
facts of the files that did not change are kept, a fresh :class:`Project` is put over them for each edit (that
takes a millisecond), and it inherits what the edit leaves valid.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

from gllint.files.digest import digest
from gllint.files.discover import Folders, Signature, is_left_out, is_python_name, signature_of, walk
from gllint.files.places import Place
from gllint.files.sources import Sources
from gllint.run.analysis_cache import result_of
from gllint.run.baselines import Baselines
from gllint.run.cache import Store
from gllint.run.engine import Engine, Options, Outcome, in_order
from gllint.run.following import FollowingIndex
from gllint.run.notices import Notice, disobeyed, notices
from gllint.run.obstacles import Obstacle, Obstacles
from gllint.run.parsing import Unparsed, syntax_error, too_large
from gllint.run.results import Result
from gllint.run.rules import FileCheck, check_file, check_files
from gllint.run.screening import MAY_USE, TALKS, UNREADABLE, UseSearch, digest_if_user
from gllint.run.workspace import caused, landed, tools_of, unreadable
from gllint_rules import Finding, ToolSight
from gllint_rules.reading.stack import on_large_stack
from gllint_rules.words.text_files import text_kind

_CHUNK = 50
_FEW_FILES = 64
_SWEPT = 16
# Bytes of an open file that are parsed at each keystroke although no rule could report on them.
_MOST_TYPED = 200_000
_MOST_SPEAKERS = 16  # files that are checked again at once because they may be about the one that is edited


class LiveWorkspace:
    """A project whose files change while it is in use."""

    def __init__(self, index: FollowingIndex, store: Store) -> None:
        """Make the workspace of a project that is not loaded yet."""
        self.config, self.root = index.config, index.root
        self.is_loaded = False
        self.index, self._store = index, store
        self._sources = index.means.sources
        self._results: dict[str, Result] = {}
        # The rules' results for open files, as long as nothing was edited but comments and blank lines.
        self._checks: dict[str, FileCheck] = {}
        self._is_forgotten = False  # what was known of results before the project was another one
        self._is_settled = False  # every file was checked as it is now
        # What was said last by the files that must be checked again, as far as it lies in others.
        self._last: dict[str, Result] = {}
        self._speakers: dict[str, frozenset[str]] = {}  # and in which others that was
        self._unused: set[tuple[str, str]] = set()  # suppressions that nothing needed, by file and line
        self._obstacles: Obstacles | None = None
        self._judged: dict[
            str, tuple[bytes, Unparsed | None]
        ] = {}  # open files, as they were when Python was asked

    # --- loading -------------------------------------------------------------------------------------------

    def is_worth_a_process(self) -> bool:
        """Return whether loading the project takes long enough for a process of its own: many files, not in the
        cache.
        """
        index = self.index
        index.list_files()
        return (
            self._store.folder is not None
            and len(index.files) > _FEW_FILES
            and (index.table.unknown() > 0 or not index.analysis_cache.has_results(self.config.codes))
        )

    def load(self) -> None:
        """Load the whole project from the cache and its files; later changes are followed."""
        index = self.index
        self._results = self._recalled()
        if len(self._results) < len(index.candidates()):
            # Only now, not at every keystroke: what is read while an editor is open is read again by the next process.
            index.save()
        index.table.save(index.is_complete)
        index.table.share()
        index.project.evaluator.forget()  # what was inferred for all files would only take up memory
        self.is_loaded = True

    def _recalled(self) -> dict[str, Result]:
        """Return the results of earlier checks that are still valid, by file."""
        index = self.index
        index.project  # noqa: B018 (building it determines which stored results are still valid)
        entries = index.analysis_cache.results(self.config.codes, index.candidates())
        index.find_tools()
        self._is_forgotten = False
        return {path: result_of(entries[path]) for path in entries.keys() & index.analysis_cache.fresh.keys()}

    def take_facts(self, other: LiveWorkspace) -> None:
        """Take over the facts of the same project under another configuration: they depend on the text alone."""
        is_buffer = other._sources.holds
        self.index.parsed = {path: facts for path, facts in other.index.parsed.items() if not is_buffer(path)}

    # --- changes -------------------------------------------------------------------------------------------

    def changed(self, path: str) -> None:
        """Update the project after a change of a file, which may be new or deleted."""
        if text_kind(path) is not None:
            self._follow_text(path)
            return
        exists = self._sources.exists(path)
        if not self.index.has_project or not exists or path not in self.index.files:
            self._start_again(path, exists)
        else:
            self._follow(path)

    def written(self, path: str) -> bool:
        """Update the project after a file was written on disk, unless it is open. Return False for an unknown file."""
        signature = signature_of(path)
        if text_kind(path) is not None:
            self.changed(path)
            return True
        if path not in self.index.files or signature is None:
            return False
        self.index.files[path] = signature
        if not self._sources.holds(path):
            self.changed(path)
        return True

    def _start_again(self, path: str, exists: bool) -> None:
        """A file that comes or goes may change what any import leads to."""
        self.index.files.pop(path, None)
        if exists:
            self.index.files[path] = None if self._sources.holds(path) else signature_of(path)
        self.index.drop(path)
        self._forget_project({path})

    def _forget_project(self, changed: Collection[str]) -> None:
        self.index.dependencies.probed.clear()
        self.index.forget_project()
        self._outdate(self._results.keys(), changed)
        self._is_forgotten = True

    def _follow(self, path: str) -> None:
        """Update the index after an edit of one file."""
        index, read = self.index, self._sources.read
        screened = index.table.screen([path])[path]
        had_talking, talks = bool(index.talking), bool(screened.flags & TALKS)
        (index.talking.add if talks else index.talking.discard)(path)
        if bool(index.talking) != had_talking:  # what a list of tools means in any file has changed
            index.drop(path)
            self._forget_project({path})
            return
        name = screened.digest
        if not name and screened.flags & MAY_USE:
            name = digest_if_user(UseSearch(index.settings, index.names, False), path, read)
        candidate, unread = index.candidates().get(path), index.unread.get(path)
        if path in index.parsed:
            is_same = name and candidate == name
        elif unread is not None:
            is_same = unread.digest == digest(read(path))
        else:  # it used no tool before, and uses none now
            is_same = not name and candidate is None
        if is_same:
            return
        index.follow(path, name)
        self._renew({path})

    def _follow_text(self, path: str) -> None:
        """Update the project after an edit of a template, prompt or data file: modules that read it are checked
        again.
        """
        index = self.index
        if not index.has_project:
            index.drop(path)
        elif path in index.texts():
            index.drop(path)
            if self._sources.exists(path):
                self._renew({path})
            else:
                self._forget_project({path})
        elif path in index.dependencies.probed:
            self._forget_project({path})

    def _renew(self, changed: set[str]) -> None:
        """Have the project follow the facts as they are."""
        stale = self.index.renew(changed)
        if not stale:  # only where things are is another matter
            self._place_again(changed)
            return
        self._outdate(stale, changed)

    def _place_again(self, changed: set[str]) -> None:
        """Update the places of all findings that are in files of ``changed``, where only lines have moved."""
        moved = {path for path, result in self._results.items() if not result.places.isdisjoint(changed)}
        for path in moved & self._checks.keys():
            on_large_stack(self._checks[path].place_again, self.index)
            self._results[path] = self._checks[path].result
        self._obstacles = None
        self._forget_last_places(changed)
        checks = self._checks
        if unplaced := moved - checks.keys():
            self._outdate(unplaced, changed)
            self._checks = checks

    def _outdate(self, stale: Collection[str], changed: Collection[str]) -> None:
        """Forget the results of the files ``stale``; what they reported in others is kept for open files, until it
        is known anew.
        """
        self._is_settled, self._obstacles = False, None
        self._checks = {}
        for path, result in self._results.items():
            other_paths = frozenset(finding.path for finding in result.findings) - {path}
            if path in stale and other_paths:
                self._last[path], self._speakers[path] = result, other_paths
        self._results = {path: result for path, result in self._results.items() if path not in stale}
        self._forget_last_places(changed)

    def _forget_last_places(self, changed: Collection[str]) -> None:
        for path, result in self._last.items():
            findings = tuple(f for f in result.findings if f.path not in changed or f.path == path)
            self._last[path] = result._replace(findings=findings)

    # --- results -------------------------------------------------------------------------------------------

    def forget_results(self, path: str) -> None:
        """Have a file checked again: rules that ask about the whole project may say something else now."""
        if path not in self._checks:
            self._results.pop(path, None)

    def _check(self, paths: Iterable[str]) -> dict[str, Result]:
        """Return the rules' results for candidates; for open files, what is needed to move their findings is kept."""
        results: dict[str, Result] = {}
        for path in paths:
            check = FileCheck(self.index, path, False)
            if not self._is_settled:
                self._checks = {}  # what is learnt of one file may change what is said of another
            if self._sources.holds(path) and check.is_lasting(self.index):
                self._checks[path] = check
            results[path] = check.result
        return results

    def landing(self, paths: Iterable[str], fixes: bool = False) -> dict[str, Result]:
        """Return the results for ``paths``: what their own check reports, and what the check of other files
        reports in them.
        """
        index, wanted = self.index, dict.fromkeys(paths)
        candidates = index.candidates()
        texts = [path for path in wanted if text_kind(path) is not None]
        readers = [reader for path in texts for reader in index.texts().get(path, ())]
        reporting_files = [*wanted, *readers, *islice(self._speaking_of(wanted), _MOST_SPEAKERS)]
        unchecked = [path for path in reporting_files if path in candidates and path not in self._results]
        index.project  # noqa: B018 (asking for it adds the candidates that are new)
        self._results |= on_large_stack(self._check, unchecked)
        results = {
            path: result
            for path, result in self._all_results()
            if path in wanted or any(finding.path in wanted for finding in result.findings)
        }
        if fixes:  # stored results have none: they are checked again
            again = [path for path in results if path in candidates]
            results |= on_large_stack(check_files, index, again, True)
        for path, screened in index.table.screen(wanted.keys() - texts).items():
            if screened.flags & UNREADABLE:
                results.setdefault(path, Result(unreadable(path, screened, self.config.codes)))
        findings = landed(results.values())
        for path in wanted.keys() - texts:
            if not any(finding.code == "GL900" for finding in findings.get(path, ())):
                findings[path] = [*findings.get(path, ()), *self._unparsed(path)]
        return {
            path: Result(tuple(findings.get(path, ())), results.get(path, Result()).failures)
            for path in wanted
        }

    def _unparsed(self, path: str) -> tuple[Finding, ...]:
        """Return the finding for an open file that Python cannot read or that is too large; ``()`` for any other."""
        if not self._sources.holds(path):
            return ()
        data = self._sources.read(path)
        size = too_large(data)
        if size is not None:
            return syntax_error(path, Unparsed(size), self.config.codes)
        if path in self.index.candidates() or len(data) > _MOST_TYPED:
            return ()
        if path not in self._judged or self._judged[path][0] is not data:
            self._judged = {
                other: entry for other, entry in self._judged.items() if self._sources.holds(other)
            }
            self._judged[path] = data, self.index.table.broken([path]).get(path)
        return syntax_error(path, self._judged[path][1], self.config.codes)

    def notices(self) -> list[Notice]:
        """Return what of the project is not looked at although no finding in an open file reports it."""
        of_run = notices(self.index, self._unread, self.index.files, self._sources.buffer_paths())
        return [*of_run, *disobeyed(self.index.means.places)]

    def tools(self) -> list[ToolSight]:
        """Return the tools of the project, as far as their files were checked."""
        return tools_of(self._results, self.index.files)

    def left_out(self) -> dict[str, str]:
        """Return why candidates could not be read, or a part of them."""
        return {path: result.left_out for path, result in self._results.items() if result.left_out}

    def caused(self, paths: Collection[str]) -> dict[str, Result]:
        """Return the results for other files of the project because of what is in ``paths``."""
        return caused(landed(result for _, result in self._all_results()), paths, self.index.own_files())

    def _speaking_of(self, paths: Collection[str]) -> Iterator[str]:
        """Yield the files that must be checked again and had findings in one of ``paths``."""
        for path, other_paths in self._speakers.items():
            if path not in self._results and not other_paths.isdisjoint(paths):
                yield path

    def _all_results(self) -> Iterator[tuple[str, Result]]:
        """Yield the result of each file; for one that an edit has broken, with what it last reported in other files."""
        for path, result in self._results.items():
            last = self._last.get(path)
            if last is not None and isinstance(self.index.parsed.get(path), Unparsed):
                old_findings = tuple(finding for finding in last.findings if finding.path != path)
                yield path, result._replace(findings=(*result.findings, *old_findings))
            else:
                yield path, result

    def obstacles(self, path: str, codes: Iterable[str], comment: str = "") -> list[Obstacle]:
        """Return what was not read and may matter to findings of ``codes`` in a file, at a line with a ``comment``.

        A suppression that was unused before an edit counts as unused until every file is checked again.
        """
        if not self._is_settled:
            return [] if (path, comment) in self._unused else [Obstacle(self.root, "is being read")]
        obstacles = self._unread().of(path, codes)
        if not obstacles:
            self._unused.add((path, comment))
        return obstacles

    def unread(self) -> list[Obstacle]:
        """Return the files of the project that cannot be read."""
        return self._unread().unread()

    def _unread(self) -> Obstacles:
        if self._obstacles is None:
            self._obstacles = Obstacles(self.index, lambda other: self._results.get(other, Result()))
        return self._obstacles

    @property
    def is_settled(self) -> bool:
        """Return whether every file was checked as it is now."""
        return self._is_settled

    # --- what can wait -------------------------------------------------------------------------------------

    def settle(self) -> Iterator[None]:
        """Check, step by step, the files whose results an edit may have changed. Another edit stops it."""
        if self._is_forgotten:
            self._results = self._recalled() | self._results
        yield from self._settle_users()
        unknown = [path for path in self.index.candidates() if path not in self._results]
        if unknown:
            self._checks = {}  # what other files say may change what is said of these
        for number, path in enumerate(unknown, 1):
            if number % _SWEPT == 1:
                # What was inferred for files that are not open would only take up memory.
                self.index.renew_aside(is_last=False)
            self._results[path] = check_file(self.index, path, False)
            if number == len(unknown):
                self.index.renew_aside(is_last=True)
            yield
        broken = self.index.parsed
        self._last = {
            path: result for path, result in self._last.items() if isinstance(broken.get(path), Unparsed)
        }
        self._speakers = {
            path: other_paths for path, other_paths in self._speakers.items() if path in self._last
        }
        self._unused.clear()
        self._is_settled = True

    def settle_few(self) -> None:
        """Do at once what is left, where that is little: a suppression can be judged only then."""
        result_paths, candidates = self._results.keys(), self.index.candidates()
        if not self._is_settled and len(candidates.keys() - result_paths) <= _MOST_SPEAKERS:
            for _ in self.settle():
                pass

    def _settle_users(self) -> Iterator[None]:
        """Update, step by step, the list of files that use tools, after the names of tools have changed."""
        index = self.index
        old_candidates = index.candidates()
        names = index.tool_names(
            {path: name for path, name in old_candidates.items() if index.table.passing(path)}
        )
        if names == index.names:
            return
        closed = [path for path in index.files if not self._sources.holds(path)]
        for number, _ in enumerate(index.table.users(names, index.table.screen(closed))):
            if number % _CHUNK == 0:
                yield
        new_candidates = index.choose_again()
        if new_candidates.keys() != old_candidates.keys():
            self._renew({*(new_candidates.keys() ^ old_candidates.keys())})

    def rescan(self) -> Iterator[None]:
        """Compare, step by step, the files on disk with the known ones, and follow what changed."""
        index = self.index
        files: dict[str, Signature | None] = {}
        folders = Folders()
        for number, item in enumerate(walk(self.root, index.means.places, True, folders)):
            files[item.path] = item.signature
            if number % _CHUNK == 0:
                yield
        for path in self._sources.buffer_paths():
            if path in index.files:
                files.setdefault(path, None)
        loaded = index.dependencies.loaded
        texts = [path for path in index.texts() if not self._sources.holds(path)]
        for path in [path for path in texts if path in loaded and index.digest_of(path) != loaded[path]]:
            self.changed(path)
        changed = [path for path, signature in files.items() if index.files.get(path) != signature]
        has_other_files = files.keys() != index.files.keys()
        index.table.files, index.locked = files, folders.locked
        index.means.pages |= {self.root: set(), **folders.pages}
        changed = [path for path in changed if not self._sources.holds(path)]
        if has_other_files:
            for path in changed:
                index.drop(path)
            self._forget_project({path})
            return
        for path in changed:
            self.changed(path)
            yield


class LiveEngine(Engine):
    """An engine over live workspaces."""

    def __init__(self, options: Options | None = None) -> None:
        super().__init__(options)
        self.sources = Sources(most=0)
        self.baselines = Baselines(self)
        self._lives: dict[str, LiveWorkspace] = {}

    def live(self, place: Place) -> LiveWorkspace:
        """Return the project at ``place``."""
        if place.root not in self._lives:
            store = self.store(place)
            self._lives[place.root] = LiveWorkspace(FollowingIndex(place, store, self), store)
        return self._lives[place.root]

    def lives(self) -> list[LiveWorkspace]:
        """Return the projects that were asked about so far."""
        return [self._lives[root] for root in sorted(self._lives)]

    def put(self, path: str, data: bytes) -> None:
        """Let ``data`` count as the content of a file from now on, whatever is on disk."""
        self.sources.put(path, data)
        self.live(self.place_of(path)).changed(path)

    def would_check(self, path: str, top: str) -> bool:
        """Say whether ``gllint check`` of the folder ``top`` would come upon a file, were it saved."""
        may_be = is_python_name(path) or text_kind(path) is not None
        return may_be and not is_left_out(path, top, self.places)

    def obstacles(self, path: str, codes: Iterable[str]) -> list[Obstacle]:
        """Return what was not read and may matter to findings of ``codes`` in a file, by its absolute path."""
        return self.live(self.place_of(path)).obstacles(path, codes)

    def check(self, paths: Sequence[str]) -> Outcome:
        """Check files of projects that are loaded, by their absolute paths; with the fixes."""
        outcome = Outcome()
        for path in paths:
            outcome.add(self.conclude(path, fixes=True))
        return outcome

    def conclude(self, path: str, fixes: bool = False) -> Outcome:
        """Return the findings in one file of a loaded project.

        Without ``fixes`` a finding has a fix only if that takes no time to make.
        """
        workspace = self.live(self.place_of(path))
        if text_kind(path) is not None or workspace.index.table.marked([path]):
            workspace.settle_few()
        outcome = Outcome()
        self.conclude_all(workspace, [path], workspace.landing([path], fixes=fixes), outcome)
        if fixes:
            outcome.findings = self.vetted(workspace.index, outcome.findings)
        if not workspace.is_settled:  # what takes a suppression away waits until that is sure
            outcome.findings = [f._replace(fix=None) if f.code == "GL901" else f for f in outcome.findings]
        outcome.findings.sort(key=in_order)
        return outcome

    def caused(self, workspace: LiveWorkspace, paths: Collection[str]) -> Outcome:
        """Return the findings that ``paths`` of a project cause in its other files."""
        outcome = Outcome()
        self.conclude_all(workspace, (), workspace.caused(paths), outcome)
        outcome.findings.sort(key=in_order)
        return outcome

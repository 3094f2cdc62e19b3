"""One project in a batch run: from its files to the rules' results for them, which are cached."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from gllint.files.discover import Signature
from gllint.files.paths import absolute
from gllint.run.analysis_cache import result_of
from gllint.run.cache import Store
from gllint.run.index import Index
from gllint.run.notices import Notice, notices
from gllint.run.parsing import Unparsed, syntax_error
from gllint.run.results import Result, StoredResult
from gllint.run.screening import MAY_USE, PASSES, UNREADABLE, Screened
from gllint_rules import Cut, Finding, PlainNumber, ToolSight
from gllint_rules.reading.stack import on_large_stack
from gllint_rules.words.text_files import text_kind

if TYPE_CHECKING:
    from gllint.run.obstacles import Obstacle, Obstacles
    from gllint_rules.check.map import Map


_UNUSED_TEXT = "no Python code loads it"


class Workspace:
    """The files of one project and the rules' results for them.

    ``take_turns``: one process at a time analyses the project; the others read the results from the cache.
    """

    def __init__(self, index: Index, store: Store, take_turns: bool, fixes: bool) -> None:
        self.index, self.config, self.root = index, index.config, index.root
        self._store, self._take_turns, self._fixes = store, take_turns, fixes
        self._has_turn = self._is_unsaved = False
        self._results: dict[str, Result | StoredResult] | None = None
        self._fixed: dict[str, Result] | None = None
        self._speaking: dict[str, list[str]] | None = None  # by file, the candidates with findings about it
        self._obstacles: Obstacles | None = None
        self._findings_by_paths: dict[frozenset[str], Mapping[str, Sequence[Finding]]] = {}

    def take_over(self, other: Workspace) -> None:
        """Take over the facts of the same project under another configuration; ``other`` cannot be used any more."""
        self.index.take_over(other.index)

    def announce(self, files: Mapping[str, Signature | None], complete: bool = False) -> None:
        """Announce files of the project; ``complete`` says that these are all of them."""
        index = self.index
        late = [path for path in files if index.knows_candidates and path not in index.files]
        index.files.update(files)
        index.is_complete = index.is_complete or complete
        for path, screened in index.table.screen(late).items():
            if screened.flags & (PASSES | MAY_USE):
                self.changed(path)

    def landing(self, paths: Iterable[str], named: Collection[str] = ()) -> dict[str, Result]:
        """Return the findings located in ``paths``, also those that the check of another file found.

        A number in a constant or a schema becomes a finding when another file uses it in a tool or a message. So all
        candidates are checked, except for those with cached results.

        The files ``named`` by the user must be Python even if no rule could report on them.
        """
        wanted = sorted(set(paths))
        self._learn()
        landed = self._concerning(wanted)
        screened = self.index.table.screen(wanted)
        named_files = [path for path in wanted if path in named and path not in self.index.candidates()]
        broken = self.index.table.broken(named_files)
        if not self._take_turns:
            self._save_table()
        results: dict[str, Result] = {}
        for path in wanted:
            result = self._result(path) if path in self.index.candidates() else Result()
            findings = list(landed.get(path, ()))
            findings += unreadable(path, screened[path], self.config.codes)
            findings += syntax_error(path, broken.get(path), self.config.codes)
            if path in named and result.notice:
                unread = self._not_taken(path)
                findings += unread
                result = result._replace(notice="") if unread else result
            if findings or result.failures or result.notice:
                results[path] = Result(tuple(findings), result.failures, notice=result.notice)
        return results

    def landing_texts(self, paths: Collection[str]) -> dict[str, Result]:
        """Return the findings in templates and data files, which the checks of their readers find."""
        landed = self._concerning(paths) if paths else {}
        return {path: Result(tuple(landed[path])) for path in paths if landed.get(path)}

    def text_notices(self, paths: Collection[str], named: Collection[str]) -> list[Notice]:
        """Return notices of the templates and data files that are not checked.

        These are files that code loads but gllint cannot read, and files that the user ``named`` but no code loads.
        """
        readers = self.index.texts()
        reasons = {
            path: self.index.why_unparsed(path, parsed)
            for path in sorted(readers)
            if not self.index.is_sound(path) and isinstance(parsed := self.index.read(path), Unparsed)
        }
        unused = tuple(path for path in paths if path in named and path not in readers)
        several = [Notice(tuple(reasons), details=tuple(reasons.values()))] if reasons else []
        # A commit hook passes every changed text, so there the notice would only disturb.
        is_news = bool(unused) and not self.config.force_exclude
        return [*several, *([Notice(unused, _UNUSED_TEXT)] if is_news else [])]

    def _not_taken(self, path: str) -> tuple[Finding, ...]:
        """Return the finding of a file that the user passed and that is valid Python, but too large or not readable."""
        parsed = self.index.read(path)
        if not isinstance(parsed, Unparsed):
            return ()
        return syntax_error(path, parsed._replace(is_python=False), self.config.codes)

    def tools(self, paths: Collection[str]) -> list[ToolSight]:
        """Return the tools that ``paths`` define, or whose functions are there."""
        return tools_of({path: self._result(path) for path in self._offering(paths)}, paths)

    def plain_numbers(self, paths: Collection[str]) -> list[PlainNumber]:
        """Return the numbers that ``plain-kinds`` leaves out, in ``paths`` or in what they return, each once."""
        results = {path: self._result(path) for path in self._offering(paths)}
        numbers = {
            number
            for path, result in results.items()
            for number in result.plain_numbers
            if path in paths or number.path in paths
        }
        return sorted(numbers)

    def _offering(self, paths: Collection[str]) -> list[str]:
        path_set = frozenset(paths)
        return list(
            dict.fromkeys(
                [*(p for p in self.index.candidates() if p in path_set), *self._speaking_of(path_set)]
            )
        )

    def left_out(self, paths: Collection[str]) -> dict[str, str]:
        """Return the candidates among ``paths`` that could not be read completely, each with the reason."""
        reasons = {path: self._result(path).left_out for path in self.index.candidates() if path in paths}
        return {path: why for path, why in reasons.items() if why}

    def caused(self, paths: Collection[str]) -> dict[str, Result]:
        """Return the findings in other files of the project that ``paths`` cause."""
        return caused(self._concerning(paths), paths, self.index.own_files())

    def _concerning(self, paths: Collection[str]) -> Mapping[str, Sequence[Finding]]:
        """Return, by file, all findings of the files that have at least one finding about ``paths``.

        The results of the project are stored on the way, if some are new.
        """
        path_set = frozenset(paths)
        if path_set not in self._findings_by_paths:
            findings = [
                finding for path in self._speaking_of(path_set) for finding in self._result(path).findings
            ]
            targets = {finding.path for finding in findings if finding.concerns(path_set)}
            # Further candidates may find the same in these files: findings at one place are merged, with all tools.
            speakers = self._speaking_of(targets)
            results = (
                self._with_fixes(speakers) if self._fixes else {path: self._result(path) for path in speakers}
            )
            # Only the last answer is kept: `landing` and `caused` are called for the same paths.
            self._findings_by_paths = {
                path_set: {
                    path: merged for path, merged in landed(results.values()).items() if path in targets
                }
            }
            self._save()
        return self._findings_by_paths[path_set]

    def _speaking_of(self, paths: Iterable[str]) -> list[str]:
        """Return, in order, the candidates whose findings concern one of ``paths``."""
        paths = frozenset(paths)
        results = self._check_candidates(paths)
        if self._speaking is None:
            self._speaking = defaultdict(list)
            for path in self.index.candidates():
                for other in results[path].concerned:
                    self._speaking[other].append(path)
        speakers = {path for other in paths for path in self._speaking.get(other, ())}
        return [path for path in self.index.candidates() if path in speakers] if speakers else []

    def _result(self, path: str) -> Result:
        """Return the rules' results for a candidate, without the fixes."""
        results = self._check_candidates()
        result = results[path]
        if isinstance(result, StoredResult):
            results[path] = result = result_of(result)
        return result

    def _with_fixes(self, paths: Sequence[str]) -> dict[str, Result]:
        """Return the rules' results for candidates, with the fixes."""
        index, candidates = self.index, self.index.candidates()
        if not paths:
            return {}
        if self._fixed is None:
            self._fixed = {}
            cache_entry = (
                index.analysis_cache.fixed(self.config.codes, candidates) if self._may_be_known else None
            )
            if cache_entry is not None and index.holds(cache_entry.rests_on):
                self._fixed = dict(cache_entry.results)
                index.dependencies.loaded.update(cache_entry.rests_on.loaded)
        missing = [path for path in paths if path not in self._fixed and self._result(path).findings]
        if missing:
            index.find_tools()
            with index.means.clock.stage("fixes"):
                self._fixed |= self._checked(missing, True)
            self._is_unsaved = True
        return {path: self._fixed[path] for path in paths if path in self._fixed}

    def explain(self, path: str, line: int, code: str | None) -> list[str]:
        """Return the sentences that explain why there is, or is not, a finding at a line."""
        speakers = self._speaking_of([path])
        takes_part = path in self.index.candidates() or speakers
        broken = self.index.read(path) if takes_part else self.index.table.broken([path]).get(path)
        if isinstance(broken, Unparsed):
            return [f"{_from_here(path)} was not checked: {self.index.why_unparsed(path, broken)}"]
        if not takes_part:
            return [f"{_from_here(path)} contains nothing that the rules check."]
        project = self.index.project
        from gllint_rules.check.why import why

        codes = self.config.codes_in(path)
        return on_large_stack(lambda: why(project, path, line, code, codes, speakers, absolute(".")))

    def map(self, paths: Collection[str]) -> Map:
        """Return the tools that ``paths`` define, with the numbers they return and the messages that claim these."""
        from gllint_rules.check.map import Map, map_of

        candidates = self.index.candidates().keys() & set(paths)
        if not candidates:
            return Map()
        project = self.index.project
        return on_large_stack(lambda: map_of(project, candidates))

    def obstacles(self, path: str, codes: Iterable[str], comment: str = "") -> list[Obstacle]:
        """Return the unread files that may matter to findings of ``codes`` in a file."""
        return self._unread().of(path, codes)

    def unread(self) -> list[Obstacle]:
        """Return the files of the project that cannot be read."""
        return self._unread().unread()

    def _unread(self) -> Obstacles:
        if self._obstacles is None:
            from gllint.run.obstacles import Obstacles

            self._obstacles = Obstacles(self.index, self._result)
        return self._obstacles

    def cuts(self) -> list[Cut]:
        """Return the places of values that were too complex to follow, in the checked files and those they use."""
        results = self._results or {}
        cut_files = [
            path
            for path, result in results.items()
            if not isinstance(result, StoredResult) or result.has_cuts
        ]
        return sorted({cut for path in cut_files for cut in self._result(path).cuts})

    def notices(self, paths: Collection[str], named: Collection[str]) -> list[Notice]:
        """Return the notices of files that were not checked although no finding reports them."""
        return list(notices(self.index, self._unread, paths, named))

    def changed(self, path: str) -> None:
        """Forget the facts and results of a file that has changed; the facts of other files are kept."""
        if text_kind(path) is None:
            self.index.files.setdefault(path, None)
        self.index.forget(path)
        self._results = self._fixed = self._speaking = self._obstacles = None
        self._findings_by_paths = {}

    @property
    def cache_folder(self) -> str | None:
        """The folder of stored results; ``None`` if nothing is stored."""
        return self._store.folder

    def counts(self) -> tuple[int, int]:
        """Return the number of known files, and of candidates among them."""
        return len(self.index.files), len(self.index.candidates()) if self.index.knows_candidates else 0

    def _learn(self) -> None:
        """Analyse the project, if processes take turns: the first one does, the others read the cache."""
        if self.index.knows_candidates or not self._take_turns:
            return
        with self._store.turn():
            self.index.table.forget()
            self._has_turn = True
            self._check_candidates()
            self._save()
            self._save_table()
            self._has_turn = False

    def _save_table(self) -> None:
        self.index.table.save(self.index.is_complete)

    def _check_candidates(self, audience: frozenset[str] = frozenset()) -> dict[str, Result | StoredResult]:
        """Return the rules' results for all candidates, without fixes.

        ``audience`` are the files whose findings will be shown, so that their fixes are computed at the same time.
        """
        index, candidates = self.index, self.index.candidates()
        if self._results is None:
            results: dict[str, Result | StoredResult] = {}
            if candidates and self._may_be_known:
                results.update(index.analysis_cache.results(self.config.codes, candidates))
            if len(results) < len(candidates):
                self._check_others(results, audience)
            self._results = results
        return self._results

    def _check_others(self, results: dict[str, Result | StoredResult], audience: frozenset[str]) -> None:
        """Check the candidates without results, and those whose results turn out to be outdated."""
        index, candidates = self.index, self.index.candidates()
        index.find_tools()
        for path in results.keys() - index.analysis_cache.fresh.keys():
            del results[path]
        missing = [path for path in candidates if path not in results]
        index.means.progress.expect("checking", len(missing))
        with index.means.clock.stage("rules"):
            # The fixes of files that are shown will be needed, so they are computed at once.
            shown = [path for path in missing if path in audience] if self._fixes else []
            if not results and 2 * len(shown) >= len(missing):
                shown = missing
            if shown:
                self._fixed = self._checked(shown, True)
                results.update((path, _without_fixes(result)) for path, result in self._fixed.items())
            rest = [path for path in missing if path not in results]
            if rest:
                results.update(self._checked(rest, False))
        self._is_unsaved = True

    @property
    def _may_keep(self) -> bool:
        may_keep = self.index.is_worth_keeping and self.cache_folder is not None
        return may_keep and (self._has_turn or not self._take_turns)

    def _checked(self, paths: Sequence[str], fixes: bool) -> dict[str, Result]:
        """Return the rules' results for candidates, computed in several processes if that saves time."""
        from gllint.run import crew, rules

        if crew.is_worth(self.index, paths):
            with contextlib.suppress(crew.Crash):
                return crew.check_files(self.index, paths, fixes)
        return on_large_stack(rules.check_files, self.index, paths, fixes)

    @property
    def _may_be_known(self) -> bool:
        return not self.index.means.clock.by_rule

    def _save(self) -> None:
        """Store all results, at the end: the dependencies of a file may grow until the last file is checked."""
        index = self.index
        if not (self._is_unsaved and self._may_keep):
            return
        self._is_unsaved = False
        index.save(self._results)
        if self._fixed is not None:
            with_findings = {path: result for path, result in self._fixed.items() if result.findings}
            index.analysis_cache.keep_fixed(
                self.config.codes, index.candidates(), with_findings, index.dependencies
            )


def _without_fixes(result: Result) -> Result:
    return result._replace(findings=tuple(finding._replace(fix=None) for finding in result.findings))


def tools_of(results: Mapping[str, Result], paths: Collection[str]) -> list[ToolSight]:
    """Return the tools of ``results`` that one of ``paths`` defines, or whose functions are there."""
    return [
        sight
        for path, result in results.items()
        for sight in result.tools
        if path in paths or sight.tool.path in paths
    ]


def landed(results: Iterable[Result]) -> dict[str, list[Finding]]:
    """Group findings by file, and merge those at the same place."""
    findings = [finding for result in results for finding in result.findings]
    if not findings:
        return {}
    from gllint_rules.check.merge import merged

    by_file: dict[str, list[Finding]] = {}
    for finding in merged(findings):
        by_file.setdefault(finding.path, []).append(finding)
    return by_file


def caused(
    landed: Mapping[str, Sequence[Finding]], paths: Collection[str], files: Collection[str]
) -> dict[str, Result]:
    """Return the findings in other files that ``paths`` cause."""
    findings_by_path = {
        path: tuple(finding for finding in findings if finding.concerns(paths))
        for path, findings in landed.items()
        if path not in paths and path in files
    }
    return {path: Result(findings) for path, findings in findings_by_path.items() if findings}


def unreadable(path: str, screened: Screened, codes: frozenset[str]) -> tuple[Finding, ...]:
    """Return the GL900 finding of a file that cannot be read; nothing if it can be read, or if GL900 is off."""
    if not screened.flags & UNREADABLE:
        return ()
    return syntax_error(path, Unparsed(screened.error), codes)


def _from_here(path: str) -> str:
    """Return an absolute path relative to the working directory, where it is below that."""
    return path.removeprefix(absolute(".").rstrip("/") + "/")

"""One project from files to findings: screen, facts, second round, rules, each remembered in the cache.

Every step is taken only when something asks for it. A file that the screen refuses costs a read; a project
with no candidate file never loads the parser; an unchanged project is answered from the cache.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from gllint.files.discover import Signature, walk
from gllint.files.places import Place, Places
from gllint.files.source import decode as decode_source
from gllint.files.writing import read_bytes
from gllint.run.cache import Store, digest
from gllint.run.clock import Clock
from gllint.run.parsing import Parsed, Unparsed, judge, parse
from gllint.run.pool import (
    IS_PYTHON,
    MARKED,
    MAY_USE,
    PASSES,
    UNDECODABLE,
    UNREADABLE,
    Pool,
    Screened,
    judge_file,
    screen_bytes,
    screen_file,
    uses_file,
    words_in,
    words_of_file,
)  # fmt: skip
from gllint.run.progress import Progress
from gllint_rules import Cut, Failure, Finding, Span
from gllint_rules.reading.stack import on_large_stack
from gllint_rules.words.screen import ANY_NAME, Screen

if TYPE_CHECKING:
    from gllint_rules.project.project import Project
    from gllint_rules.reading.facts import Module

_WORTH_FILES = 2000
_SMALL_PROJECT = 500
_WORTH_BYTES = 250_000
_FINE_CLOCK, _COARSE_CLOCK = 100_000_000, 2_000_000_000


class Known(NamedTuple):
    """A row of the screen's table: the file as it was, and what was said of it."""

    signature: Signature
    screened: Screened
    uses: bytes | None = None
    mentions: tuple[bytes, frozenset[str]] | None = (
        None  # which words it holds, of those that the key stands for
    )


@dataclass(slots=True)
class Dependencies:
    """Files outside the candidates that the answers rest on: what they held, and whether they were there.

    Also the words that were looked for, and the files that hold them.
    """

    loaded: dict[str, bytes] = field(default_factory=dict)
    probed: dict[str, bool] = field(default_factory=dict)
    mentions: dict[str, frozenset[str]] = field(default_factory=dict)


@dataclass(slots=True)
class Result:
    """What the rules say of one file, before suppressions. ``notice`` says why they were not asked."""

    findings: tuple[Finding, ...] = ()
    failures: tuple[Failure, ...] = ()
    cuts: tuple[Cut, ...] = ()  # what came to light on the way, in whatever file
    notice: str = ""


class Workspace:
    """The files and facts of one project.

    ``overlay`` holds contents that count instead of those on disk.
    """

    def __init__(
        self,
        place: Place,
        places: Places,
        store: Store,
        pool: Pool,
        overlay: Mapping[str, bytes],
        progress: Progress,
        clock: Clock,
        take_turns: bool = False,
    ) -> None:
        self.root, self.config = place.root, place.config
        self._places, self._store, self._pool, self._progress = places, store, pool, progress
        self._overlay = overlay
        self._clock = clock
        self._take_turns = take_turns
        self._has_turn = False
        self._settings = replace(place.config.rules, audit="GL405" in place.config.codes)
        self._started = time.time_ns()
        self._files: dict[str, Signature | None] = {}
        self._complete = False
        self._table: dict[str, Known] | None = None
        self._changed = False
        self._parsed: dict[str, Parsed] = {}
        self._announced: set[str] = set()
        self._disturbed = False  # a file changed while we read it twice: nothing of this run is kept
        self._dependencies = Dependencies()
        self._names: frozenset[bytes] | None = None
        self._added: dict[str, bytes] | None = None
        self._project: Project | None = None
        self._results: dict[str, Result] | None = None
        self._landed: dict[str, dict[Finding, None]] | None = None
        self._top_level: dict[str, list[str]] | None = None
        self._words: frozenset[str] = frozenset()  # all that were ever looked for
        self._unanswered: set[str] = set()
        self._is_waiting = False

    # --- what the callers ask ------------------------------------------------------------------------------

    def announce(self, files: Mapping[str, Signature | None], complete: bool = False) -> None:
        """Announce files of the project; ``complete`` says that these are all of them."""
        late = [path for path in files if self._added is not None and path not in self._files]
        self._files.update(files)
        self._complete = self._complete or complete
        for path, screened in self._screen(late).items():
            if screened.flags & (PASSES | MAY_USE):
                self.changed(path)

    def check(self, paths: Iterable[str]) -> dict[str, Result]:
        """Return the findings of those ``paths`` (listed before) of which there is anything to say."""
        wanted = sorted(set(paths))
        with self._clock.stage("screen"):
            screened = self._screen(wanted)
        results = {
            path: Result(self._unreadable(path, screened[path]))
            for path in wanted
            if screened[path].flags & UNREADABLE
        }
        if any(screened[path].flags & (PASSES | MAY_USE) for path in wanted):
            self._learn()
            results |= self._check_candidates(wanted)
        self._save_table()
        return results

    def landing(self, paths: Iterable[str], named: Collection[str] = ()) -> dict[str, Result]:
        """Return what there is to say of ``paths``, whichever file's check made it visible.

        Those that somebody ``named`` must be Python even where no rule could speak about them.

        A number in a constant or a schema is found where another file puts it into a tool or a message, so that
        all candidates are checked; what is known of them from earlier runs is not checked again.
        """
        wanted = sorted(set(paths))
        self._learn()
        results = self._check_candidates(list(self._candidates()))
        if self._landed is None:
            self._landed = {}
            for result in results.values():
                for finding in result.findings:
                    self._landed.setdefault(finding.path, {})[finding] = None
        screened = self._screen(wanted)
        broken = self._broken([path for path in wanted if path in named], screened)
        if not self._take_turns:
            self._save_table()
        return {
            path: Result(
                (
                    *self._landed.get(path, ()),
                    *self._unreadable(path, screened[path]),
                    *_syntax_error(path, broken.get(path), self.config.codes),
                ),
                results.get(path, Result()).failures,
                notice=results.get(path, Result()).notice,
            )
            for path in wanted
        }

    def cuts(self) -> list[Cut]:
        """Where the budgets of the inference ran out, in the files that were checked and what they lead to."""
        return sorted({cut for result in (self._results or {}).values() for cut in result.cuts})

    def undecodable(self, paths: Iterable[str]) -> list[str]:
        """Return those of the ``paths`` that are no text and take no part in the project."""
        screened = self._screen(sorted(paths))
        return [p for p, s in screened.items() if s.flags & UNDECODABLE and p not in self._candidates()]

    def changed(self, path: str) -> None:
        """Take note that the content of a file is another one now (see ``overlay``); the rest is kept."""
        self._files.setdefault(path, None)
        self._parsed.pop(path, None)
        self._announced.clear()
        self._added = self._project = self._results = self._landed = self._top_level = None
        self._dependencies.mentions.clear()

    def is_marked(self, path: str) -> bool:
        """Say whether a checked file may hold a suppression that names one of our codes."""
        return bool(self._screen([path])[path].flags & MARKED)

    @property
    def cache_folder(self) -> str | None:
        """Where results are kept, ``None`` where nothing is."""
        return self._store.folder

    def counts(self) -> tuple[int, int]:
        """Return how many files are known, and how many of them take part in the project."""
        return len(self._files), len(self._added or ())

    def explain(self, path: str, line: int, code: str | None) -> list[str]:
        """Return why there is, or is not, a finding at a line: floor 2's own words."""
        self.check([path])
        added = self._candidates()
        if path not in added:
            return [f"{path} mentions nothing that a rule speaks about; it was not parsed."]
        project = self._loaded_project(added)
        broken = self._parsed.get(path)
        if isinstance(broken, Unparsed):
            return [f"{path}:{broken.line}:{broken.column}: {broken.message}"]
        from gllint_rules.check.why import why

        return on_large_stack(lambda: why(project, path, line, code))

    # --- first round: the screen ---------------------------------------------------------------------------

    def _screen(self, paths: list[str]) -> dict[str, Screened]:
        table = self._known()
        verdicts: dict[str, Screened] = {}
        unknown: list[str] = []
        for path in paths:
            row = table.get(path)
            if path in self._overlay:
                verdicts[path] = self._screen_overlay(path)
            elif row is not None and self._holds(row, self._files.get(path)):
                verdicts[path] = row.screened
            else:
                unknown.append(path)
        self._progress.expect("reading", len(unknown))
        read = self._pool.map(
            screen_file, self._settings, unknown, worth=len(unknown) > _WORTH_FILES, tick=self._progress.tick
        )
        for path, screened in zip(unknown, read, strict=True):
            verdicts[path] = screened
            seen = self._files.get(path)
            table[path] = Known(seen or Signature(0, 0, 0, 0), screened)
            self._changed = True
        return verdicts

    def _broken(self, named: list[str], screened: Mapping[str, Screened]) -> dict[str, Unparsed]:
        """Say of the named files that the screen refuses which ones are no Python, and why."""
        candidates = self._candidates()
        asked = [p for p in named if p not in candidates and not screened[p].flags & (IS_PYTHON | UNREADABLE)]
        here = [path for path in asked if path in self._overlay]
        there = [path for path in asked if path not in self._overlay]
        verdicts = {path: judge(self._overlay[path]) for path in here}
        size = sum(seen.size for path in there if (seen := self._files.get(path)))
        self._progress.expect("parsing", len(there))
        judged = self._pool.map(
            judge_file, None, there, worth=size > _WORTH_BYTES, chunk=16, tick=self._progress.tick
        )
        table = self._known()
        for path, verdict in zip(there, judged, strict=True):
            verdicts[path] = verdict
            if verdict is None:
                row = table[path]
                known = row.screened._replace(flags=row.screened.flags | IS_PYTHON)
                table[path] = row._replace(screened=known)
                self._changed = True
        return {path: verdict for path, verdict in verdicts.items() if verdict is not None}

    def _unreadable(self, path: str, screened: Screened) -> tuple[Finding, ...]:
        if not screened.flags & UNREADABLE:
            return ()
        return _syntax_error(path, Unparsed(screened.error), self.config.codes)

    def _screen_overlay(self, path: str) -> Screened:
        return screen_bytes(self._settings, self._overlay[path])

    def _holds(self, row: Known, seen: Signature | None) -> bool:
        """Say whether a row still speaks of the file as it is."""
        return seen is not None and row.signature == seen

    def _known(self) -> dict[str, Known]:
        if self._table is None:
            saved = self._store.read("screen")
            self._table = _table(saved) if isinstance(saved, tuple) else {}
        return self._table

    def _save_table(self) -> None:
        if not self._changed or self._table is None:
            return
        table = self._table
        if self._complete:
            table = {path: row for path, row in table.items() if path in self._files}
        trusted = {p: row for p, row in table.items() if p not in self._overlay and self._is_settled(row)}
        self._store.write("screen", _columns(trusted))
        self._changed = False

    def _is_settled(self, row: Known) -> bool:
        """Say whether the file was last written clearly before this run began to read."""
        newest = max(row.signature.mtime, row.signature.ctime)
        grain = _COARSE_CLOCK if newest % 1_000_000_000 == 0 else _FINE_CLOCK
        return 0 < newest < self._started - grain

    def _learn(self) -> None:
        """Where processes take turns, let the first learn the project; the others find it in the cache."""
        if self._added is not None or not self._take_turns:
            return
        with self._store.turn():
            self._table = None
            self._has_turn = True
            self._check_candidates(list(self._candidates()))
            self._save_table()
            self._has_turn = False

    # --- second round: files that use a tool of the project ------------------------------------------------

    def _candidates(self) -> dict[str, bytes]:
        """Return the files that take part in the project, with their digests."""
        if self._added is None:
            self._list_project()
            with self._clock.stage("screen"):
                screened = self._screen(list(self._files))
            passing = {p: s.digest for p, s in screened.items() if s.flags & PASSES}
            using = [p for p, s in screened.items() if s.flags & MAY_USE and not s.flags & PASSES]
            self._added = dict(sorted((passing | self._users(passing, using)).items()))
        return self._added

    def _list_project(self) -> None:
        if not self._complete:
            for found in walk(self.root, self._places, within_project=True):
                self._files.setdefault(found.path, found.signature)
            for path in self._overlay:
                if self._places.project(os.path.dirname(path)).root == self.root:
                    self._files.setdefault(path, None)
            self._complete = True

    def _users(self, passing: Mapping[str, bytes], using: list[str]) -> dict[str, bytes]:
        names = self._tool_names(passing)
        if not names or not using:
            return {}
        key = digest(*sorted(names))
        table = self._known()
        found: dict[str, bytes] = {}
        unknown: list[str] = []
        for path in using:
            row = table.get(path)
            if path in self._overlay:
                data = self._overlay[path]
                found[path] = digest(data) if Screen(self._settings).uses(data, names) else b""
            elif row is not None and row.uses is not None and row.uses.startswith(key):
                found[path] = row.uses[len(key) :]
            else:
                unknown.append(path)
        work = (self._settings, names)
        with self._clock.stage("second round"):
            judged = self._pool.map(uses_file, work, unknown, worth=len(unknown) > _WORTH_FILES)
            for path, value in zip(unknown, judged, strict=True):
                found[path] = value
                table[path] = table[path]._replace(uses=key + value)
                self._changed = True
        return {path: value for path, value in found.items() if value}

    def _tool_names(self, passing: Mapping[str, bytes]) -> frozenset[bytes]:
        if not passing:
            return frozenset()
        key = self._key(passing)
        saved = self._store.read("names")
        if _is_entry(saved, frozenset) and saved[0] == key and self._unchanged(saved[2]):
            return self._reaching(frozenset(saved[1]))
        from gllint_rules.project.offered import names_of_tools

        project = self._project = self._new_project()
        self._add(project, passing)
        with self._clock.stage("tool names"):
            names = on_large_stack(lambda: project.once(names_of_tools))
        if self._is_worth_keeping():
            self._store.write("names", (key, names, self._dependencies))
        return self._reaching(names)

    def _reaching(self, names: frozenset[bytes]) -> frozenset[bytes]:
        """In a small project every file that runs or derives from something is worth parsing: names may change."""
        return names | {ANY_NAME} if names and len(self._files) <= _SMALL_PROJECT else names

    # --- facts and rules -----------------------------------------------------------------------------------

    def _check_candidates(self, wanted: list[str]) -> dict[str, Result]:
        added = self._candidates()
        asked = [path for path in wanted if path in added]
        known = self._known_results(added)
        missing = [path for path in asked if path not in known]
        if missing:
            project = self._loaded_project(added)
            self._progress.expect("checking", len(missing))
            with self._clock.stage("rules"):
                known |= on_large_stack(lambda: dict(self._run_over(project, missing)))
            if self._is_worth_keeping() and (self._has_turn or not self._take_turns):
                self._keep_results(added, known)
        return {path: known[path] for path in asked}

    def _known_results(self, added: Mapping[str, bytes]) -> dict[str, Result]:
        if self._results is None:
            self._results = {}
            if not self._overlay and not self._clock.by_rule:
                saved = self._store.read(self._results_name())
                if _is_entry(saved, dict) and saved[0] == self._key(added) and self._unchanged(saved[2]):
                    self._dependencies.loaded.update(saved[2].loaded)
                    self._dependencies.probed.update(saved[2].probed)
                    self._dependencies.mentions.update(saved[2].mentions)
                    self._results = dict(saved[1])
        return self._results

    def _keep_results(self, added: Mapping[str, bytes], known: Mapping[str, Result]) -> None:
        sound = {path: result for path, result in known.items() if not result.failures}
        self._store.write(self._results_name(), (self._key(added), sound, self._dependencies))

    def _results_name(self) -> str:
        return "results-" + digest(*(code.encode() for code in sorted(self.config.codes))).hex()

    def _is_worth_keeping(self) -> bool:
        return not self._overlay and not self._disturbed

    def _run_over(self, project: Project, paths: list[str]) -> Iterator[tuple[str, Result]]:
        """Run the rules, with the fixes, over files.

        Where a fix asks who mentions a word, the file is run again once all words of all files are known: one look
        at the files of the project is enough for them.
        """
        again = []
        for path in paths:
            self._is_waiting = False
            yield path, self._run_rules(project, path, fixes=True)
            self._progress.tick(1)
            if self._is_waiting:
                again.append(path)
        if again:
            self._look_for(self._unanswered)
            yield from self._run_over(project, again)

    def _run_rules(self, project: Project, path: str, fixes: bool = True) -> Result:
        parsed = self._parsed[path]
        if isinstance(parsed, Unparsed):
            notice = f"{parsed.message} (line {parsed.line})" if parsed.is_python else ""
            return Result(_syntax_error(path, parsed, self.config.codes), notice=notice)
        from gllint_rules.check.check import check

        codes = self.config.codes
        reports: list[Finding | Failure] = []
        if self._clock.by_rule:
            for code in sorted(codes):
                with self._clock.rule(code):
                    reports += check(project, path, frozenset({code}), fixes)
        else:
            reports += check(project, path, codes, fixes)
        return _gather(reports, project, _unread(parsed))

    def _loaded_project(self, added: Mapping[str, bytes]) -> Project:
        if self._project is None:
            self._project = self._new_project()
        self._add(self._project, added)
        return self._project

    def _new_project(self) -> Project:
        if self._clock.by_rule:
            from gllint_rules.catalogue import load_all

            with self._clock.stage("load"):
                load_all()
        from gllint_rules.project.project import Project

        packages = self._packages()
        return Project(
            self._settings,
            self._load,
            self._exists,
            self._source_of,
            self.root,
            packages,
            self._mentioning,
        )

    def _packages(self) -> dict[str, list[str]]:
        from gllint_rules.project.imports import top_level_packages

        if self._top_level is None:
            self._top_level = top_level_packages(sorted(self._files))
        return self._top_level

    def _key(self, digests: Mapping[str, bytes]) -> bytes:
        """Return what identifies the facts: the files that have some, and the names that imports can lead to."""
        files = (part for path in sorted(digests) for part in (_bytes(path), digests[path]))
        return digest(*files, _bytes(repr(sorted(self._packages().items()))))

    def _add(self, project: Project, added: Mapping[str, bytes]) -> None:
        new = [path for path in added if path not in self._announced]
        self._read_facts([path for path in new if path not in self._parsed], added)
        for path in new:
            parsed = self._parsed[path]
            if not isinstance(parsed, Unparsed):
                project.add(parsed)
        self._announced.update(new)

    def _read_facts(self, paths: list[str], digests: Mapping[str, bytes]) -> None:
        self._progress.expect("reading", len(paths))
        for path in paths:
            if path in self._overlay:
                self._parsed[path] = parse(path, self._overlay[path], self._clock)
            else:
                self._parsed[path] = self._read_here(path, digests[path])
            self._progress.tick(1)

    def _read_here(self, path: str, expected: bytes) -> Parsed:
        try:
            data = read_bytes(path)
        except OSError as error:
            self._disturbed = True
            return Unparsed(f"cannot be read: {error.strerror}")
        self._disturbed = self._disturbed or digest(data) != expected
        return parse(path, data, self._clock)

    # --- what floor 2 asks back ----------------------------------------------------------------------------

    def _load(self, path: str) -> Module | None:
        if path in self._parsed:
            parsed = self._parsed[path]
        else:
            parsed = self._parsed[path] = self._load_helper(path)
        return None if isinstance(parsed, Unparsed) else parsed

    def _load_helper(self, path: str) -> Parsed:
        try:
            data = self._overlay[path] if path in self._overlay else read_bytes(path)
        except OSError as error:
            self._dependencies.loaded[path] = b""
            return Unparsed(f"cannot be read: {error.strerror}")
        self._dependencies.loaded[path] = digest(data)
        return parse(path, data)

    def _exists(self, path: str) -> bool:
        if path in self._files or path in self._overlay:
            return True
        probed = self._dependencies.probed
        if path not in probed:
            probed[path] = os.path.isfile(path)
        return probed[path]

    def _source_of(self, path: str) -> str:
        if path in self._overlay:
            return decode_source(self._overlay[path]).source
        data = read_bytes(path)
        if self._added and path in self._added:
            self._disturbed = self._disturbed or digest(data) != self._added[path]
        elif path not in self._dependencies.loaded:
            self._dependencies.loaded[path] = digest(data)
        return decode_source(data).source

    def _mentioning(self, word: str) -> frozenset[str] | None:
        found = self._dependencies.mentions.get(word)
        if found is None:
            self._unanswered.add(word)
            self._is_waiting = True
        return found

    def _look_for(self, words: Iterable[str]) -> None:
        """Find the files of the project that hold one of ``words``; what each file holds is kept in the table."""
        self._words |= frozenset(words)
        self._unanswered.clear()
        with self._clock.stage("mentions"):
            found = self._mentions_in(list(self._files), self._words)
            mentions: dict[str, set[str]] = {word: set() for word in self._words}
            for path, held in found.items():
                for word in held:
                    mentions[word].add(path)
        self._dependencies.mentions = {word: frozenset(paths) for word, paths in mentions.items()}

    def _mentions_in(self, paths: list[str], words: frozenset[str]) -> dict[str, frozenset[str]]:
        key = digest(*(word.encode("utf-8", "surrogatepass") for word in sorted(words)))
        self._screen(paths)
        table = self._known()
        found: dict[str, frozenset[str]] = {}
        unknown: list[str] = []
        for path in paths:
            row = table.get(path)
            if path in self._overlay:
                found[path] = words_in(words, self._overlay[path])
            elif row is not None and row.mentions is not None and row.mentions[0] == key:
                found[path] = row.mentions[1]
            else:
                unknown.append(path)
        held = self._pool.map(words_of_file, words, unknown, worth=len(unknown) > _WORTH_FILES)
        for path, value in zip(unknown, held, strict=True):
            found[path] = value
            table[path] = table[path]._replace(mentions=(key, value))
            self._changed = True
        return found

    def _unchanged(self, dependencies: Dependencies) -> bool:
        if dependencies.mentions:
            self._look_for(dependencies.mentions)
            if any(self._dependencies.mentions[word] != held for word, held in dependencies.mentions.items()):
                return False
        if any(os.path.isfile(path) != there for path, there in dependencies.probed.items()):
            return False
        return all(_digest_of(path) == value for path, value in dependencies.loaded.items())


def _is_entry(saved: Any, kind: type) -> bool:
    """Say whether what the cache holds is a key, an answer of ``kind`` and what the answer rests on."""
    return (
        isinstance(saved, tuple)
        and len(saved) == 3
        and isinstance(saved[1], kind)
        and isinstance(saved[2], Dependencies)
    )


def _columns(table: Mapping[str, Known]) -> tuple[list[Any], ...]:
    """Lay the table out in columns, which are read many times faster than rows."""
    rows = table.values()
    return (
        list(table),
        *([row.signature[part] for row in rows] for part in range(len(Signature._fields))),
        [row.screened.flags for row in rows],
        [row.screened.digest.hex() for row in rows],
        [row.screened.error for row in rows],
        ["-" if row.uses is None else row.uses.hex() for row in rows],
        ["-" if row.mentions is None else row.mentions[0].hex() for row in rows],
        [" ".join(sorted(row.mentions[1])) if row.mentions is not None else "" for row in rows],
    )


def _table(columns: tuple[list[Any], ...]) -> dict[str, Known]:
    """Return the table of :func:`_columns`, empty where the columns are none."""
    try:
        paths, *signature, flags, digests, errors, uses, asked, held = columns
        screened = map(Screened, flags, map(bytes.fromhex, digests), errors)
        used = (None if value == "-" else bytes.fromhex(value) for value in uses)
        mentions = (
            None if key == "-" else (bytes.fromhex(key), frozenset(words.split()))
            for key, words in zip(asked, held, strict=True)
        )
        return dict(zip(paths, map(Known, map(Signature, *signature), screened, used, mentions), strict=True))
    except (TypeError, ValueError):
        return {}


def _digest_of(path: str) -> bytes:
    try:
        return digest(read_bytes(path))
    except OSError:
        return b""


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _unread(module: Module) -> str:
    """Say which part of a file could not be read, if any."""
    for number, why in sorted(module.unread.items()):
        begin = module.outline.sections[number].begin
        return f"{why} (line {module.source.count(chr(10), 0, begin) + 1})"
    return ""


def _gather(reports: Iterable[Finding | Failure], project: Project, notice: str) -> Result:
    found = list(reports)
    return Result(
        tuple(r for r in found if isinstance(r, Finding)),
        tuple(r for r in found if isinstance(r, Failure)),
        tuple(project.cuts()),
        notice,
    )


def _syntax_error(path: str, why: Unparsed | None, codes: frozenset[str]) -> tuple[Finding, ...]:
    if why is None or why.is_python or "GL900" not in codes:
        return ()
    place = Span(why.line, why.column, why.line, why.column + 1)
    return (Finding("GL900", path, place, why.message, "This file was not checked."),)

"""The files of a project that were not read, and the files for which that matters.

A suppression is not called unused, and an entry of a baseline not fixed, while a file that may need it is unread. An
unread file matters to another file if some file mentions both, directly or through others. What a file mentions are
the names of modules in its text, since a file that does not parse has no imports.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property

from gllint.files.config import DEFAULT_EXCLUDE
from gllint.files.discover import is_python_name
from gllint.files.places import MARKERS
from gllint.files.writing import read_bytes
from gllint.run.index import Index
from gllint.run.results import Result
from gllint_rules.tuples import NamedTuple

MOST_FILES, MOST_BYTES = 10_000, 64_000_000
_FEW_FILES = 200
# Folders of generated or installed files.
_FOREIGN = frozenset(DEFAULT_EXCLUDE) | {"dist-packages"}
# Rules that report what is missing in the whole project: every unread file may have it.
_ANYWHERE = ("GL3", "GL7")


class Obstacle(NamedTuple):
    """A file or folder that was not read, and why."""

    path: str
    why: str


class Obstacles:
    """The files of one project that were not read.

    ``result_of`` returns the results of the rules for a module of the project.
    """

    def __init__(self, index: Index, result_of: Callable[[str], Result]) -> None:
        self._index, self._result_of = index, result_of
        self._reachable: dict[str, frozenset[str]] = {}

    def of(self, path: str, codes: Iterable[str]) -> list[Obstacle]:
        """Return the unread files that may matter to findings of ``codes`` (or of their prefixes) in a file."""
        files = self.files
        if path in files:
            return [Obstacle(path, files[path])]
        unread_files = files | self._troubled
        if any(code.startswith(_ANYWHERE) or any(a.startswith(code) for a in _ANYWHERE) for code in codes):
            matter = frozenset(unread_files)
        else:
            matter = self._matter(path, unread_files) if unread_files else frozenset()
        return [Obstacle(other, unread_files[other]) for other in sorted(matter)] + self._excluded_for(path)

    def beside(self, paths: Collection[str]) -> dict[str, str]:
        """Return the unread files that mention one of ``paths``, or are mentioned by one, each with the reason.

        Mentions through other files are not followed, since every run asks this.
        """
        files = {path: why for path, why in self.files.items() if path not in paths}
        if not files:
            return {}
        stems = frozenset(map(stem, paths))
        texts = {path: self._raw(path) for path in files}
        matter = {path for path, data in texts.items() if data is None or _words(data, stems)}
        if len(paths) <= _FEW_FILES:
            file_stems = frozenset(map(stem, files))
            mentioned = set[str]().union(*(_words(self._raw(path) or b"", file_stems) for path in paths))
            matter |= {path for path in files if stem(path) in mentioned}
        return {path: why for path, why in files.items() if path in matter}

    def unread(self) -> list[Obstacle]:
        """Return the files of the project that cannot be read."""
        return [Obstacle(*entry) for entry in sorted(self.files.items())]

    @cached_property
    def files(self) -> dict[str, str]:
        """The files of the project that were not read completely, each with the reason."""
        return self._index.incomplete_files()

    @cached_property
    def _troubled(self) -> dict[str, str]:
        """The files of which a part was not read, or on which a rule failed, each with the reason."""
        reasons: dict[str, str] = {}
        for path in self._index.candidates():
            result = self._result_of(path)
            if result.notice or result.failures:
                reasons[path] = result.notice or f"{result.failures[0].code} failed on it"
        return {path: why for path, why in reasons.items() if path not in self.files}

    # --- which files lead to which -------------------------------------------------------------------------

    def _matter(self, path: str, unread: Collection[str]) -> frozenset[str]:
        """Return the ``unread`` files that some file mentions, directly or through others, together with ``path``."""
        if self._mentions is None:
            return frozenset(unread)
        if path not in self._reachable:
            users = _closure({path}, self._mentioned_by)
            self._reachable[path] = frozenset(_closure(users, self._mentions))
        return self._reachable[path].intersection(unread)

    @cached_property
    def _mentions(self) -> dict[str, set[str]] | None:
        """The files whose modules each file mentions; ``None`` if there are too many files to read."""
        index = self._index
        nodes = sorted({*index.files, *index.parsed, *index.unread, *self.files})
        by_stem: dict[str, set[str]] = defaultdict(set)
        for path in nodes:
            by_stem[stem(path)].add(path)
        stems, size = frozenset(by_stem), 0
        mentions: dict[str, set[str]] = {}
        for path in nodes:
            data = self._raw(path)
            size += len(data or b"")
            if size > MOST_BYTES or len(mentions) > MOST_FILES:
                return None
            mentioned = _words(data, stems) if data is not None else stems
            mentions[path] = set[str]().union(*(by_stem[name] for name in mentioned))
        return mentions

    @cached_property
    def _mentioned_by(self) -> dict[str, set[str]]:
        users: dict[str, set[str]] = defaultdict(set)
        for path, mentioned in (self._mentions or {}).items():
            for other in mentioned:
                users[other].add(path)
        return users

    def _raw(self, path: str) -> bytes | None:
        """Return the bytes of a file, ``None`` if they cannot be read."""
        try:
            return self._index.means.sources.of(path).raw
        except OSError:
            return None

    # --- what lies next to the project ----------------------------------------------------------------------

    def _excluded_for(self, path: str) -> list[Obstacle]:
        """Return the excluded files that mention a file, or a package that re-exports it."""
        names = {stem(path)} | {stem(user) for user in self._packages_over(path)}
        return [
            Obstacle(other, why) for other, why, stems in self._excluded if stems is None or names & stems
        ]

    def _packages_over(self, path: str) -> Iterator[str]:
        """Yield the packages above a file whose ``__init__`` mentions it."""
        folder = os.path.dirname(path)
        while folder.startswith(self._index.root) and folder != self._index.root:
            init = f"{folder}/__init__.py"
            data = self._raw(init) if init in self._index.files else None
            if data is not None and _words(data, frozenset({stem(path)})):
                yield init
            folder = os.path.dirname(folder)

    @cached_property
    def _excluded(self) -> list[tuple[str, str, frozenset[str] | None]]:
        """The excluded files: path, reason, and the modules that each mentions (``None``: possibly all of them)."""
        stems = frozenset(map(stem, self._index.files))
        entries: list[tuple[str, str, frozenset[str] | None]] = []
        size = 0
        for path, why in _unlisted_files(self._index.root, self._index.files):
            if why:
                entries.append((path, why, None))
                continue
            try:
                data = read_bytes(path)
            except OSError as error:
                entries.append((path, f"cannot be read: {error.strerror}", None))
                continue
            size += len(data)
            if len(entries) >= MOST_FILES or size > MOST_BYTES:
                entries.append((self._index.root, "contains too many excluded files", None))
                break
            entries.append((path, "is excluded", frozenset(_words(data, stems))))
        return entries


def stem(path: str) -> str:
    """Return the last part of a file's module name: ``a/b.py`` → ``b``, ``a/__init__.py`` → ``a``."""
    folder, _, name = path.rpartition("/")
    name = name.partition(".")[0]
    return folder.rpartition("/")[2] if name == "__init__" else name


def _words(data: bytes, words: frozenset[str]) -> set[str]:
    """Return which of some words may be in a file, whatever its encoding is."""
    from gllint_rules.words.screen import words_in

    ascii_words = {word.encode(): word for word in words if word.isascii() and word}
    # Without zero bytes, ASCII words of UTF-16 and UTF-32 are those of UTF-8.
    matches = {ascii_words[word] for word in words_in(data.replace(b"\0", b""), frozenset(ascii_words))}
    return matches | {word for word in words if not word.isascii() and not data.isascii()}


def _closure(paths: Collection[str], edges: Mapping[str, Collection[str]]) -> set[str]:
    """Return the paths and everything that can be reached from them along ``edges``."""
    closure, waiting = set(paths), list(paths)
    while waiting:
        new = set(edges.get(waiting.pop(), ())) - closure
        closure |= new
        waiting += new
    return closure


def _unlisted_files(root: str, listed: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the Python files below a folder that are not in ``listed``, with an empty reason.

    A folder that cannot be read is yielded with the reason. Other projects, environments and generated folders are
    skipped.
    """
    pending = [root]
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(folder) as several:
                entries = sorted(several, key=lambda entry: entry.name)
        except OSError as error:
            yield folder, f"cannot be read: {error.strerror}"
            continue
        names = {entry.name for entry in entries}
        if "pyvenv.cfg" in names or (folder != root and MARKERS & names):
            continue
        for entry in entries:
            path = f"{folder.rstrip('/')}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _FOREIGN:
                    pending.append(path)
            elif is_python_name(entry.name) and path not in listed and entry.is_file(follow_symlinks=False):
                yield path, ""

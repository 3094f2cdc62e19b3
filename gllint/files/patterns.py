"""gitignore patterns, quick enough to be asked about every file of a large tree.

pathspec knows how to read a pattern. A walk asks about each folder on its way down, so that here a pattern speaks
of the entry it names and never of what lies below it; git itself is asked the same questions in a test. The library
is imported only for patterns that are more than a plain name.
"""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_PLAIN = re.compile(r"(?P<include>!?)(?P<name>[\w.-]+)(?P<folder>/?)")
_LITERAL = re.compile(r"[\w.-]+")
_FOLDERS_BELOW = "/**/"
_CLASS = re.compile(r"\[:(\w+):\]")
_CLASSES = {"alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "lower": "a-z", "upper": "A-Z"} | {
    "space": " \t",
    "xdigit": "0-9a-fA-F",
}
_MARK = "ps_d"  # the group with which pathspec notes the slash behind a folder that matched


class _Pattern(NamedTuple):
    rank: int
    ignores: bool
    regex: re.Pattern[str]

    def names(self, path: str, is_folder: bool) -> bool:
        """Say whether the pattern names the entry ``path`` itself, not only a folder above it."""
        found = self.regex.search(path)
        if found is not None and found.lastgroup is None:
            return True
        found = self.regex.search(f"{path}/") if is_folder else None
        return found is not None and found.lastgroup == _MARK and found.start(_MARK) == len(path)


class _Group:
    """Patterns of one kind, in their order: one expression says of nearly all entries that none of them names it."""

    def __init__(self) -> None:
        self._patterns: list[_Pattern] = []
        self._any: re.Pattern[str] | None = None

    def add(self, pattern: _Pattern) -> None:
        self._patterns.append(pattern)
        self._any = None

    def __len__(self) -> int:
        return len(self._patterns)

    def last(self, path: str, is_folder: bool) -> tuple[int, bool | None]:
        """Return the rank and the verdict of the last pattern that names an entry."""
        if self._any is None:
            each = (pattern.regex.pattern.replace(f"(?P<{_MARK}>", "(") for pattern in self._patterns)
            with _quiet():
                self._any = re.compile("|".join(f"(?:{one})" for one in each))
        if self._any.search(f"{path}/" if is_folder else path) or (is_folder and self._any.search(path)):
            for pattern in reversed(self._patterns):
                if pattern.names(path, is_folder):
                    return pattern.rank, pattern.ignores
        return _SILENT


class Patterns:
    """The patterns of one ``.gitignore`` or one list of excludes; later ones win, ``!`` includes again."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._plain: dict[tuple[str, bool], tuple[int, bool]] = {}
        self._by_name, self._by_path = _Group(), _Group()
        # Those whose last part is a plain name: few of a tree's entries are called so, no other is asked about.
        self._by_path_to: dict[str, _Group] = {}
        self._answers: dict[tuple[str, bool], tuple[int, bool | None]] = {}
        for rank, line in enumerate(lines):
            plain = _PLAIN.fullmatch(line)
            if plain is None:
                self._add(rank, line)
                continue
            for is_folder in (True,) if plain["folder"] else (True, False):
                self._plain[plain["name"], is_folder] = (rank, not plain["include"])

    def __bool__(self) -> bool:
        return bool(self._plain or self._by_name or self._by_path or self._by_path_to)

    @property
    def looks_at_paths(self) -> bool:
        """Whether the folders that an entry lies in matter, not its name alone."""
        return bool(self._by_path or self._by_path_to)

    def verdict(self, path: str, name: str, is_folder: bool) -> bool | None:
        """Say whether ``path``, relative to the patterns' folder, is ignored; ``None`` where none speaks."""
        entry = name, is_folder
        answer = self._answers.get(entry)
        if answer is None:
            # The same few names are met in many folders.
            plain = self._plain.get(entry, _SILENT)
            answer = self._answers[entry] = max(plain, self._by_name.last(name, is_folder), key=_rank)
        if self.looks_at_paths:
            if self._by_path:
                answer = max(answer, self._by_path.last(path, is_folder), key=_rank)
            if name in self._by_path_to:
                answer = max(answer, self._by_path_to[name].last(path, is_folder), key=_rank)
        return answer[1]

    def excludes(self, path: str) -> bool:
        """Say whether the file ``path`` or one of the folders it lies in is ignored."""
        parts = path.split("/")
        return any(
            self.verdict("/".join(parts[: depth + 1]), parts[depth], depth + 1 < len(parts))
            for depth in range(len(parts))
        )

    def _add(self, rank: int, line: str) -> None:
        from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

        try:
            with _quiet():
                read = GitIgnoreSpecPattern(_in_words_of_pathspec(line))
        except (ValueError, re.error):
            return  # as git does, which lets a malformed pattern match nothing
        if read.include is not None and read.regex is not None:
            last = line.removesuffix("/").rpartition("/")[2]
            if "/" not in line.strip().removesuffix("/"):
                patterns = self._by_name
            elif _LITERAL.fullmatch(last):
                patterns = self._by_path_to.setdefault(last, _Group())
            else:
                patterns = self._by_path
            patterns.add(_Pattern(rank, read.include, read.regex))


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Compile without warnings of a bracket within a bracket, which is no set to git."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def is_pattern(line: str) -> bool:
    """Say whether a line can name anything: git lets one that is malformed pass, and match nothing."""
    return bool(Patterns([line]))


def _in_words_of_pathspec(line: str) -> str:
    """Write out what pathspec takes for something else than git does."""
    line = _CLASS.sub(lambda found: _CLASSES.get(found[1], ""), line.rstrip("\r\n"))
    return f"{line}*/" if line.endswith(_FOLDERS_BELOW) else line


_SILENT: tuple[int, bool | None] = (-1, None)


def _rank(answer: tuple[int, bool | None]) -> int:
    return answer[0]

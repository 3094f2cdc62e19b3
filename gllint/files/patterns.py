"""gitignore patterns, quick enough to be asked about every file of a large tree.

pathspec knows how to read a pattern. A walk asks about each folder on its way down, so that here a pattern speaks
of the entry it names and never of what lies below it; git itself is asked the same questions in a test. The library
is imported only for patterns that are more than a plain name.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from functools import cache, cached_property

from gllint_rules.tuples import NamedTuple

_PLAIN = re.compile(r"(?P<include>!?)(?:(?P<star>\*)(?=\.[^.]+$))?(?P<name>[\w.-]+)(?P<folder>/?)")
_LITERAL = re.compile(r"[\w.-]+")
_LITERAL_PATH = re.compile(r"!?[\w./ -]+")
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
    text: str

    def names(self, path: str, is_folder: bool) -> bool:
        """Say whether the pattern names the entry ``path`` itself, not only a folder above it."""
        search = _compiled(self.text).search
        found = search(path)
        if found is not None and found.lastgroup is None:
            return True
        found = search(f"{path}/") if is_folder else None
        return found is not None and found.lastgroup == _MARK and found.start(_MARK) == len(path)


class _Group:
    """Patterns of one kind, in their order: one expression says of nearly all entries that none of them names it."""

    def __init__(self) -> None:
        self.patterns: list[_Pattern] = []

    @cached_property
    def _any(self) -> re.Pattern[str]:
        return _compiled("|".join(pattern.text.replace(f"(?P<{_MARK}>", "(?:") for pattern in self.patterns))

    def last(self, path: str, is_folder: bool) -> tuple[int, bool | None]:
        """Return the rank and the verdict of the last pattern that names an entry."""
        if self.patterns and (self._any.search(path) or (is_folder and self._any.search(f"{path}/"))):
            for pattern in reversed(self.patterns):
                if pattern.names(path, is_folder):
                    return pattern.rank, pattern.ignores
        return _SILENT


class Patterns:
    """The patterns of one ``.gitignore`` or one list of excludes; later ones win, ``!`` includes again."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._plain: dict[tuple[str, bool], tuple[int, bool]] = {}
        self._endings: dict[tuple[str, bool], tuple[int, bool]] = {}  # of `*.pyc`
        self._by_name, self._by_path = _Group(), _Group()
        # Those whose last part is a plain name: few of a tree's entries are called so, no other is asked about.
        self._by_path_to: dict[str, _Group] = {}
        self._answers: dict[tuple[str, bool], tuple[int, bool | None]] = {}
        for rank, line in enumerate(lines):
            plain = _PLAIN.fullmatch(line)
            if plain is None:
                self._add(rank, line)
                continue
            table = self._endings if plain["star"] else self._plain
            for is_folder in (True,) if plain["folder"] else (True, False):
                table[plain["name"], is_folder] = (rank, not plain["include"])

    def __bool__(self) -> bool:
        groups = (self._by_name, self._by_path)
        return bool(self._plain or self._endings or self._by_path_to or any(g.patterns for g in groups))

    def verdict(self, path: str, name: str, is_folder: bool) -> bool | None:
        """Say whether ``path``, relative to the patterns' folder, is ignored; ``None`` where none speaks."""
        answer = self._answers.get((name, is_folder))
        if answer is None:
            # The same few names are met in many folders.
            answer = self._answers[name, is_folder] = self._by_its_name(name, is_folder)
        if self._by_path.patterns:
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

    def _by_its_name(self, name: str, is_folder: bool) -> tuple[int, bool | None]:
        _, dot, ending = name.rpartition(".")
        ended = self._endings.get((dot + ending, is_folder), _SILENT)
        plain = self._plain.get((name, is_folder), _SILENT)
        return max(plain, ended, self._by_name.last(name, is_folder), key=_rank)

    def _add(self, rank: int, line: str) -> None:
        from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

        try:
            text, include = GitIgnoreSpecPattern.pattern_to_regex(_in_words_of_pathspec(line))
            if include is None or text is None:
                return
            if _LITERAL_PATH.fullmatch(line) is None:
                _compiled(text)
        except (ValueError, re.error):
            return  # as git does, which lets a malformed pattern match nothing
        *folders, last = line.strip().removesuffix("/").split("/")
        group = self._by_name
        if folders:
            group = self._by_path_to.setdefault(last, _Group()) if _LITERAL.fullmatch(last) else self._by_path
        group.patterns.append(_Pattern(rank, include, text))


@cache
def _compiled(text: str) -> re.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a bracket within a bracket, which is no set to git
        return re.compile(text)


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

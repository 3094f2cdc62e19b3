"""gitignore patterns, quick enough to be asked about every file of a large tree.

A walk asks about each folder on its way down, so that here a pattern is about the entry it names and never of what
lies below it; git itself is asked the same questions in a test. A pattern becomes an expression that never tries two
ways through the same text: what is between two stars is taken where it comes first, and that is final. So the cost
of ``*a*a*a*a*ab``, which may come with a repository of someone else's, grows with the length of a name alone.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from functools import cache, cached_property

from gllint_rules.tuples import NamedTuple
from gllint_runtime.policy.expressions import expression

_PLAIN = expression(r"(?P<include>!?)(?:(?P<star>\*)(?=\.[^.]+$))?(?P<name>[\w.-]+)(?P<folder>/?)", re.ASCII)
_LITERAL = expression(r"[\w.-]+", re.ASCII)
_WITHOUT_LAST_BLANKS = expression(r"(?:\\.|[^\\ ]|\ ++(?!\Z))*+\\?", re.DOTALL)
MOST_CHARACTERS = 4_096  # of what a pattern asks for one by one: no system knows longer paths

_STAR, _SLASH = "*", "/"
_FOLDERS, _SOME_FOLDERS, _ANYTHING = "(?:[^/]*+/)*?", "(?:[^/]*+/)+?", ".*+"  # of `**/`, `**\/` and `**`
_GLUED = expression(r"[^*?\[\\]++(?<!/)\*\*/")  # `a**/b`, which names `ab`
_SPECIAL = expression(r"[*?\[\\]|\Z")
_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": r" \t", "cntrl": r"\x00-\x1f\x7f", "digit": "0-9",
    "graph": r"\x21-\x7e", "lower": "a-z", "print": r"\x20-\x7e", "punct": r"!-/:-@\[-`{-~",
    "space": r" \t\n\r", "upper": "A-Z", "xdigit": "0-9a-fA-F",
}  # fmt: skip


class _Pattern(NamedTuple):
    rank: int
    ignores: bool
    only_folders: bool
    text: str

    def names(self, path: str, is_folder: bool) -> bool:
        """Say whether the pattern names the entry ``path`` itself, not only a folder above it."""
        return (is_folder or not self.only_folders) and _compiled(self.text).match(path) is not None


class _Group:
    """Patterns of one kind, in their order: one expression rules out nearly all entries."""

    def __init__(self) -> None:
        self.patterns: list[_Pattern] = []

    @cached_property
    def _any(self) -> re.Pattern[str]:
        return _compiled("|".join(pattern.text for pattern in self.patterns))

    def last(self, path: str, is_folder: bool) -> tuple[int, bool | None]:
        """Return the rank and the verdict of the last pattern that names an entry."""
        if self.patterns and self._any.match(path):
            for pattern in reversed(self.patterns):
                if pattern.names(path, is_folder):
                    return pattern.rank, pattern.ignores
        return _SILENT


class Patterns:
    """The patterns of one ``.gitignore`` or one list of excludes; later ones win, ``!`` includes again."""

    def __init__(self, lines: Iterable[str]) -> None:
        """Read the lines of an ignore file; plain names and endings (``*.pyc``) are looked up, all others are
        expressions.
        """
        self._plain: dict[tuple[str, bool], tuple[int, bool]] = {}
        self._endings: dict[tuple[str, bool], tuple[int, bool]] = {}  # of `*.pyc`
        self._by_name, self._by_path = _Group(), _Group()
        # Those whose last part is a plain name: few of a tree's entries are called so, no other is asked about.
        self._by_path_to: dict[str, _Group] = {}
        self._answers: dict[tuple[str, bool], tuple[int, bool | None]] = {}
        for rank, line in enumerate(lines):
            plain = _PLAIN.fullmatch(line)
            if plain is None:
                self._add(rank, _bytewise(line))
                continue
            table = self._endings if plain["star"] else self._plain
            for is_folder in (True,) if plain["folder"] else (True, False):
                table[plain["name"], is_folder] = (rank, not plain["include"])

    def __bool__(self) -> bool:
        groups = (self._by_name, self._by_path)
        return bool(self._plain or self._endings or self._by_path_to or any(g.patterns for g in groups))

    def verdict(self, path: str, name: str, is_folder: bool) -> bool | None:
        """Return whether ``path``, relative to the patterns' folder, is ignored; ``None`` if no pattern matches it."""
        if not path.isascii():
            path, name = _bytewise(path), _bytewise(name)
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
        """Add the pattern of one line of an ignore file, if it is one: ``!build/`` includes the folders ``build``
        again.
        """
        line = line.rstrip("\n").removesuffix("\r")
        match = _WITHOUT_LAST_BLANKS.match(line)
        line = match[0] if match else line
        if line.startswith("#"):
            return
        include = line.startswith("!")
        line = line[include:]
        only_folders = line.endswith("/")
        line = line[: len(line) - only_folders]
        if not line:
            return
        is_path = "/" in line
        line = line.removeprefix("/") if is_path else line
        try:
            text = _expression(line, is_path)
            _compiled(text)
        except (_Malformed, re.error):
            return  # as git does, which lets a malformed pattern match nothing
        group = self._by_name
        if is_path:
            last = line.rpartition("/")[2]
            by_last = _LITERAL.fullmatch(last) and not _GLUED.match(line)
            group = self._by_path_to.setdefault(last, _Group()) if by_last else self._by_path
        group.patterns.append(_Pattern(rank, not include, only_folders, text))


def is_pattern(line: str) -> bool:
    """Say whether a line can name anything: git lets one that is malformed pass, and match nothing."""
    return bool(Patterns([line]))


def is_too_long(line: str) -> bool:
    """Return whether a pattern has more than MOST_CHARACTERS parts, so that it is ignored here."""
    # A plain name of any length is only looked up: it is obeyed.
    if len(line) <= MOST_CHARACTERS or line.startswith("#") or _PLAIN.fullmatch(line):
        return False
    try:
        return sum(1 for _ in _tokens(line.removesuffix("\r"), is_path=True)) > MOST_CHARACTERS
    except _Malformed:
        return False


class _Malformed(Exception):
    """A pattern that matches nothing."""


@cache
def _compiled(text: str) -> re.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a bracket within a bracket, which is no set to git
        return re.compile(text, re.DOTALL)


def _bytewise(text: str) -> str:
    """Return a text with a character for each byte of its name on disk, of which git's ``?`` matches one."""
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("latin-1")


def _expression(line: str, is_path: bool) -> str:
    r"""Return the expression of a pattern: ``*.py`` → ``[^/]*\.py(?![^/])\Z``. Raises :class:`_Malformed`.

    Each part between two ``**`` is atomic (``(?>…)``): the first place where it fits is as good as any other, and
    no pattern takes exponential time.
    """
    tokens = list(_tokens(line, is_path))
    if len(tokens) > MOST_CHARACTERS:
        raise _Malformed
    parts = list[str]()
    leading, region = "", list[str]()
    for token in tokens:
        if token in (_FOLDERS, _SOME_FOLDERS):
            parts += ["(?>", leading, *_region(region), ")"]
            leading, region = token, []
        else:
            region.append(token)
    return "".join([*parts, leading, *_region(region), r"\Z"])


def _region(tokens: list[str]) -> Iterator[str]:
    """Yield the expressions of a stretch without ``**``, folder by folder: no star matches a slash."""
    name: list[str] = []
    for token in tokens:
        if token == _SLASH:
            yield from _name(name)
            yield _SLASH
            name = []
        else:
            name.append(token)
    yield from _name(name)


def _name(tokens: list[str]) -> Iterator[str]:
    """Yield the expressions of one folder or file name; what is between two stars is matched where it comes first."""
    if _STAR not in tokens:
        yield from tokens
        return
    last = len(tokens) - 1 - tokens[::-1].index(_STAR)
    first = tokens.index(_STAR)
    yield from tokens[:first]
    piece: list[str] = []
    for token in tokens[first + 1 : last + 1]:
        if token != _STAR:
            piece.append(token)
        elif piece:
            yield from ("(?>[^/]*?", *piece, ")")
            piece = []
    end = tokens[last + 1 :]
    yield from ("[^/]*", *end, "(?![^/])") if end else ("[^/]*+",)


def _tokens(line: str, is_path: bool) -> Iterator[str]:
    """Yield the parts of a pattern as expressions: one character, a star, a slash or ``**``.

    ``a*/?`` → ``a``, ``_STAR``, ``_SLASH``, ``[^/]``. Raises :class:`_Malformed`.
    """
    place = 0
    plain = _SPECIAL.search(line)
    beginnings = (
        0,
        plain.start() if plain else 0,
    )  # git compares what is plain text, and matches the rest alone
    while place < len(line):
        char = line[place]
        place += 1
        if char == "\\":
            if place == len(line):
                raise _Malformed
            yield _SLASH if line[place] == "/" else re.escape(line[place])
            place += 1
        elif char == "*":
            begin = place - 1
            while line.startswith("*", place):
                place += 1
            is_double = place - begin > 1 and is_path and (begin in beginnings or line[begin - 1] == "/")
            if is_double and place == len(line):
                yield _ANYTHING
            elif is_double and line.startswith("/", place):
                yield _FOLDERS
                place += 1
            elif is_double and line.startswith("\\/", place):
                yield _SOME_FOLDERS
                place += 2
            else:
                yield _STAR
        elif char == "[":
            text, place = _bracket(line, place)
            yield text
        else:
            yield "[^/]" if char == "?" else _SLASH if char == "/" else re.escape(char)


def _bracket(line: str, place: int) -> tuple[str, int]:
    """Return the expression of a set of characters, and the place behind it.

    ``[!0-9]`` from its ``!`` → ``(?!/)[^00-9]``, 6: the start of a range is also added on its own.

    It is read as git reads it. Raises :class:`_Malformed` for a set that has no end or no character.
    """
    negated = line[place : place + 1] in ("!", "^")
    place += negated
    parts: list[str] = []
    range_start = ""  # what a range may begin with
    first = True
    while first or line[place : place + 1] != "]":
        first = False
        char = line[place : place + 1]
        following = line[place + 1 : place + 2]
        place += 1
        if char == "-" and range_start and following not in ("", "]"):  # a range: `a-z`, `a-\]`
            place += following == "\\"
            range_end = line[place : place + 1]
            place += 1
            if range_start <= range_end:  # git matches nothing by `z-a`
                parts.append(f"{re.escape(range_start)}-{re.escape(range_end)}")
            char = ""  # what ends a range does not begin another
        elif char == "[" and following == ":":  # a class: `[:digit:]`
            end = line.find("]", place + 1)
            if end < 0:
                raise _Malformed
            name = line[place + 1 : end - 1]
            if end > place + 1 and line[end - 1] == ":":
                if name not in _CLASSES:
                    raise _Malformed
                parts.append(_CLASSES[name])
                place, char = end + 1, ""
            else:  # a plain `[`
                parts.append(r"\[")
        elif char == "\\":  # an escape: `\]`
            char = following
            place += 1
            parts.append(re.escape(char))
        else:
            parts.append(re.escape(char))
        if place >= len(line):
            raise _Malformed
        range_start = char
    if not (parts or negated):
        raise _Malformed  # it asks for a character of an empty set
    return f"(?!/)[{'^' if negated else ''}{''.join(parts)}]" if parts else "[^/]", place + 1


_SILENT: tuple[int, bool | None] = (-1, None)


def _rank(answer: tuple[int, bool | None]) -> int:
    return answer[0]

"""gitignore patterns, quick enough to be asked about every file of a large tree.

Most patterns are a plain name, ``*.suffix`` or a plain path; those are answered by a table or ``endswith``.
Only the rest becomes a regular expression. A pattern is asked about each folder on the way down, so it speaks
of the entry it names and never of what lies below; git itself is asked the same questions in a test.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_MAGIC = re.compile(r"[*?\[\\]")
_TOKEN = re.compile(
    r"\A\*\*\Z|\A\*\*/|/\*\*/|/\*\*\Z|\*+|\?|\\.|\[[!^]?\]?(?:\[:\w+:\]|[^\]])*\]",
)
_WHOLE = {"**": ".*", "**/": "(?:.*/)?", "/**/": "/(?:.*/)?", "/**": "/.*", "?": "[^/]"}
_POSIX = {"alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "lower": "a-z", "upper": "A-Z"} | {
    "space": r"\s",
    "xdigit": "0-9a-fA-F",
}


class _Entry(NamedTuple):
    rank: int
    ignores: bool
    folders_only: bool


class Patterns:
    """The patterns of one ``.gitignore`` or one list of excludes; later ones win, ``!`` includes again."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._names: dict[str, list[_Entry]] = {}
        self._paths: dict[str, list[_Entry]] = {}
        self._suffixes: dict[str, list[tuple[str, _Entry]]] = {}  # by their last character
        self._name_expressions: list[tuple[re.Pattern[str], _Entry]] = []
        self._path_expressions: list[tuple[str, re.Pattern[str], _Entry]] = []
        self._count = 0
        for rank, line in enumerate(lines):
            self._add(rank, line)

    def __bool__(self) -> bool:
        return self._count > 0

    def verdict(self, path: str, name: str, is_folder: bool) -> bool | None:
        """Say whether ``path``, relative to the patterns' folder, is ignored; ``None`` where none speaks."""
        best: _Entry | None = None
        for entry in self._candidates(path, name):
            if (is_folder or not entry.folders_only) and (best is None or entry.rank > best.rank):
                best = entry
        return None if best is None else best.ignores

    def excludes(self, path: str) -> bool:
        """Say whether the file ``path`` or one of the folders it lies in is ignored."""
        parts = path.split("/")
        return any(
            self.verdict("/".join(parts[: depth + 1]), parts[depth], depth + 1 < len(parts))
            for depth in range(len(parts))
        )

    def _candidates(self, path: str, name: str) -> Iterable[_Entry]:
        found = [*self._names.get(name, ()), *self._paths.get(path, ())]
        found += [entry for suffix, entry in self._suffixes.get(name[-1], ()) if name.endswith(suffix)]
        if self._name_expressions:
            found += [entry for expression, entry in self._name_expressions if expression.fullmatch(name)]
        if self._path_expressions:
            found += [
                entry
                for start, expression, entry in self._path_expressions
                if path.startswith(start) and expression.fullmatch(path)
            ]
        return found

    def _add(self, rank: int, line: str) -> None:
        pattern = _without_trailing_spaces(line.rstrip("\r\n"))
        if not pattern or pattern.startswith("#"):
            return
        ignores = not pattern.startswith("!")
        pattern = pattern.removeprefix("!")
        core = pattern.removesuffix("/")
        if not core:
            return
        self._count += 1
        entry = _Entry(rank, ignores, core != pattern)
        anchored = "/" in core
        core = core.removeprefix("/")
        if not _MAGIC.search(core):
            (self._paths if anchored else self._names).setdefault(core, []).append(entry)
        elif not anchored and len(core) > 1 and core[0] == "*" and not _MAGIC.search(core[1:]):
            self._suffixes.setdefault(core[-1], []).append((core[1:], entry))
        else:
            self._add_expression(core, anchored, entry)

    def _add_expression(self, core: str, anchored: bool, entry: _Entry) -> None:
        try:
            expression = re.compile(_translate(core), re.DOTALL)
        except re.error:
            return  # as git does, which lets a malformed pattern match nothing
        if anchored:
            # A pattern with a literal first folder is asked only of what lies in that folder.
            start = _MAGIC.split(core)[0].rpartition("/")
            self._path_expressions.append((start[0] + start[1], expression, entry))
        else:
            self._name_expressions.append((expression, entry))


def _without_trailing_spaces(line: str) -> str:
    stripped = line.rstrip(" ")
    return stripped + " " if stripped.endswith("\\") and stripped != line else stripped


def _translate(core: str) -> str:
    """Return the regular expression that the whole of a name or path must match."""
    out: list[str] = []
    at = 0
    for token in _TOKEN.finditer(core):
        text = token.group()
        out.append(re.escape(core[at : token.start()]))
        at = token.end()
        if text[0] == "\\":
            out.append(re.escape(text[1:]))
        elif text[0] == "[":
            out.append(_character_class(text[1:-1]))
        elif text == "**" and core != "**":
            out.append("[^/]*")
        else:
            out.append(_WHOLE.get(text, "[^/]*"))
    return "".join(out) + re.escape(core[at:])


def _character_class(inside: str) -> str:
    negated = inside[0] in "!^"
    parts = re.split(r"\[:(\w+):\]", inside[negated:].replace("\\", ""))
    parts[::2] = [re.sub(r"([\\\[\]&~|^])", r"\\\1", part) for part in parts[::2]]
    parts[1::2] = [_POSIX.get(name, "") for name in parts[1::2]]
    return f"(?!/)[{'^' if negated else ''}{''.join(parts)}]"

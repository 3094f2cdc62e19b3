"""gitignore patterns, quick enough to be asked about every file of a large tree.

Most patterns are a plain name, ``*.suffix`` or a plain path; those are answered by a table or ``endswith``.
Only the rest becomes a regular expression, through pathspec, which is imported only then.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_MAGIC = re.compile(r"[*?\[\\]")


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
        self._expressions: list[tuple[str, re.Pattern[str], _Entry]] = []
        for rank, line in enumerate(lines):
            self._add(rank, line)

    def __bool__(self) -> bool:
        return bool(self._names or self._paths or self._suffixes or self._expressions)

    def verdict(self, path: str, name: str, is_folder: bool) -> bool | None:
        """Say whether ``path``, relative to the patterns' folder, is ignored; ``None`` where none speaks."""
        best: _Entry | None = None
        for entry in self._candidates(path, name, is_folder):
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

    def _candidates(self, path: str, name: str, is_folder: bool) -> Iterable[_Entry]:
        found = [*self._names.get(name, ()), *self._paths.get(path, ())]
        found += [entry for suffix, entry in self._suffixes.get(name[-1], ()) if name.endswith(suffix)]
        if self._expressions:
            asked = path + "/" if is_folder else path
            found += [
                entry
                for start, expression, entry in self._expressions
                if path.startswith(start) and expression.search(asked)
            ]
        return found

    def _add(self, rank: int, line: str) -> None:
        line = line.rstrip("\r\n")
        pattern = line if line.endswith("\\ ") else line.rstrip(" \t")
        if not pattern or pattern.startswith("#"):
            return
        ignores = not pattern.startswith("!")
        pattern = pattern.removeprefix("!")
        core = pattern.rstrip("/")
        entry = _Entry(rank, ignores, core != pattern)
        if not core:
            return
        anchored = "/" in core
        literal = core.removeprefix("/")
        if not _MAGIC.search(core):
            (self._paths if anchored else self._names).setdefault(literal, []).append(entry)
        elif not anchored and len(core) > 1 and core[0] == "*" and not _MAGIC.search(core[1:]):
            self._suffixes.setdefault(core[-1], []).append((core[1:], entry))
        else:
            self._add_expression(pattern, literal if anchored else "", entry)

    def _add_expression(self, pattern: str, anchored: str, entry: _Entry) -> None:
        from pathspec import GitIgnoreSpec

        # A pattern with a literal first folder is asked only of what lies in that folder.
        start = _MAGIC.split(anchored)[0].rpartition("/")[0]
        for compiled in GitIgnoreSpec.from_lines([pattern]).patterns:
            expression = getattr(compiled, "regex", None)
            if expression is not None:
                self._expressions.append((start + "/" if start else "", expression, entry))

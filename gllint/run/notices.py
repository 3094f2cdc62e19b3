"""Notices: what a run did not check although no finding reports it. They are the same for every host."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from gllint.files.places import Places
from gllint.run.index import Index
from gllint.run.screening import UNDECODABLE
from gllint_rules.tuples import NamedTuple

if TYPE_CHECKING:
    from gllint.run.obstacles import Obstacles

_MOST_PATHS = 3
_DISOBEYED = "not applied in full"
_FEW_BYTES = 100_000  # files that no rule could report on are parsed up to this size: some 30 ms, once


class Notice(NamedTuple):
    """Files or folders that were not checked, and why. No finding reports them.

    ``why`` is the reason for all of them; ``details`` has one for each.
    """

    paths: tuple[str, ...]
    why: str = ""
    noun: str = "file"
    details: tuple[str, ...] = ()
    lack: str = "not checked"

    def text(self, show: Callable[[str], str]) -> str:
        """Return ``3 files not checked, cannot be decoded: a.py, b.py, c.py``; ``show`` returns the path to print."""
        details = self.details or ("",) * len(self.paths)
        entries = [(show(path), detail) for path, detail in zip(self.paths, details, strict=True)]
        listed = ", ".join(f"{name} ({detail})" if detail else name for name, detail in entries[:_MOST_PATHS])
        tail = f" and {len(entries) - _MOST_PATHS} more" if len(entries) > _MOST_PATHS else ""
        why = f", {self.why}" if self.why else ""
        plural = "s" if len(entries) > 1 else ""
        return f"{len(entries)} {self.noun}{plural} {self.lack}{why}: {listed}{tail}"

    def without(self, paths: Collection[str]) -> Notice:
        """Return the notice without some paths and their ``details``."""
        entries = [entry for entry in zip(self.paths, self.details, strict=True) if entry[0] not in paths]
        return self._replace(
            paths=tuple(path for path, _ in entries), details=tuple(detail for _, detail in entries)
        )

    def reasons(self) -> dict[str, str]:
        """Return why each path was not checked. The path of a folder ends with a slash."""
        details = self.details or (self.why,) * len(self.paths)
        slash = "/" if self.noun == "folder" else ""
        return {path + slash: why for path, why in zip(self.paths, details, strict=True)}


def notices(
    index: Index, unread: Callable[[], Obstacles], paths: Collection[str], named: Collection[str]
) -> Iterator[Notice]:
    """Yield what was not checked when ``paths`` of a project were.

    ``named`` are the files that the user passed: findings report what is wrong with them. ``unread`` returns the files
    of the project that were not read.
    """
    undecodable = _undecodable(index, paths)
    if files := tuple(path for path in undecodable if path not in named):
        yield Notice(files, "cannot be decoded")
    if paths and (unparsed := _unparsed(index, unread, paths, {*named, *undecodable})):
        yield Notice(tuple(unparsed), details=tuple(unparsed.values()))
    for folder, why in sorted(index.locked.items()):
        # If it is the project's own folder, the files that the user passed were read.
        lack = "not read in full" if folder == index.root else "not checked"
        yield Notice((folder,), why, "folder", lack=lack)


def disobeyed(places: Places) -> Iterator[Notice]:
    """Yield the ignore files and configurations that are not applied, or not in full."""
    if shadowed := tuple(sorted(places.shadowed)):
        each = "it" if len(shadowed) == 1 else "each"
        yield Notice(shadowed, f"a gllint.toml is next to {each}", "configuration", lack="not in force")
    files: dict[str, list[str]] = defaultdict(list)
    for path, why in sorted(places.disobeyed.items()):
        files[why].append(path)
    for why, paths in files.items():
        yield Notice(tuple(paths), f"it has {why}" if len(paths) == 1 else f"each has {why}", lack=_DISOBEYED)


def _undecodable(index: Index, paths: Collection[str]) -> list[str]:
    """Return those of ``paths`` that cannot be decoded as text and are no modules of the project."""
    candidates = index.candidates()
    screened = index.table.screen(sorted(paths))
    return [path for path, look in screened.items() if look.flags & UNDECODABLE and path not in candidates]


def _unparsed(
    index: Index, unread: Callable[[], Obstacles], paths: Collection[str], exempt: Collection[str]
) -> dict[str, str]:
    """Return the files that do not parse, except ``exempt`` ones, each with the reason.

    A file that no rule could report on is parsed only if an answer depends on it, or if all such files are small
    together. Files next to ``paths`` are included if they mention one of them or are mentioned by one.
    """
    candidates = index.candidates()
    others = {path for path in paths if path not in candidates}.difference(exempt)
    sizes = [signature.size for path in others if (signature := index.files.get(path))]
    doubtful = others if sum(sizes) <= _FEW_BYTES else set()
    doubtful |= index.unsound().difference(candidates, exempt)
    reasons = unread().beside(paths) if index.incomplete_files().keys() - paths else {}
    broken = index.table.broken(sorted(doubtful.union(reasons)))
    reasons |= {path: index.why_unparsed(path, why) for path, why in broken.items()}
    return dict(sorted(reasons.items()))

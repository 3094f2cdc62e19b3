"""What a run passes over on its way although no finding reports it: the same for every host."""

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
_DISOBEYED = "not obeyed in full"
_FEW_BYTES = 100_000  # that are parsed although no rule could report on them: some 30 ms, once


class Notice(NamedTuple):
    """Files that were not checked although no finding reports them, and why; or such folders.

    ``why`` applies to all of them, ``details`` to each.
    """

    paths: tuple[str, ...]
    why: str = ""
    noun: str = "file"
    details: tuple[str, ...] = ()
    lack: str = "not checked"

    def text(self, show: Callable[[str], str]) -> str:
        """Return what to say about them; ``show`` gives the path that people see."""
        details = self.details or ("",) * len(self.paths)
        entries = [(show(path), detail) for path, detail in zip(self.paths, details, strict=True)]
        listed = ", ".join(f"{name} ({detail})" if detail else name for name, detail in entries[:_MOST_PATHS])
        tail = f" and {len(entries) - _MOST_PATHS} more" if len(entries) > _MOST_PATHS else ""
        why = f", {self.why}" if self.why else ""
        plural = "s" if len(entries) > 1 else ""
        return f"{len(entries)} {self.noun}{plural} {self.lack}{why}: {listed}{tail}"

    def without(self, paths: Collection[str]) -> Notice:
        """Return the same, with its ``details``, of other paths than these."""
        entries = [entry for entry in zip(self.paths, self.details, strict=True) if entry[0] not in paths]
        return self._replace(
            paths=tuple(path for path, _ in entries), details=tuple(detail for _, detail in entries)
        )

    def reasons(self) -> dict[str, str]:
        """Return of each path why it was not checked; that of a folder ends with a slash."""
        details = self.details or (self.why,) * len(self.paths)
        slash = "/" if self.noun == "folder" else ""
        return {path + slash: why for path, why in zip(self.paths, details, strict=True)}


def notices(
    index: Index, unread: Callable[[], Obstacles], paths: Collection[str], named: Collection[str]
) -> Iterator[Notice]:
    """Yield what was passed over on the way to ``paths`` of a project; those that are ``named`` have findings.

    ``unread`` gives what of the project was not read.
    """
    undecodable = _undecodable(index, paths)
    if files := tuple(path for path in undecodable if path not in named):
        yield Notice(files, "cannot be decoded")
    if paths and (unparsed := _unparsed(index, unread, paths, {*named, *undecodable})):
        yield Notice(tuple(unparsed), details=tuple(unparsed.values()))
    for folder, why in sorted(index.locked.items()):
        yield Notice((folder,), why, "folder")


def disobeyed(places: Places) -> Iterator[Notice]:
    """Yield the files of patterns, and the configurations, that were met and are not obeyed."""
    if shadowed := tuple(sorted(places.shadowed)):
        each = "it" if len(shadowed) == 1 else "each"
        yield Notice(shadowed, f"a gllint.toml is next to {each}", "configuration", lack="not in force")
    files: dict[str, list[str]] = defaultdict(list)
    for path, why in sorted(places.disobeyed.items()):
        files[why].append(path)
    for why, paths in files.items():
        yield Notice(tuple(paths), f"it has {why}" if len(paths) == 1 else f"each has {why}", lack=_DISOBEYED)


def _undecodable(index: Index, paths: Collection[str]) -> list[str]:
    """Return those of the ``paths`` that are no text and take no part in the project."""
    candidates = index.candidates()
    screened = index.table.screen(sorted(paths))
    return [path for path, look in screened.items() if look.flags & UNDECODABLE and path not in candidates]


def _unparsed(
    index: Index, unread: Callable[[], Obstacles], paths: Collection[str], exempt: Collection[str]
) -> dict[str, str]:
    """Return of files that are not Python, the ``exempt`` aside, what is wrong with them.

    A file that no rule could report on is parsed where an answer rests on it, and where all of these together are
    small. Of the files next to ``paths`` those are among them that could matter to them.
    """
    candidates = index.candidates()
    others = {path for path in paths if path not in candidates}.difference(exempt)
    sizes = [signature.size for path in others if (signature := index.files.get(path))]
    doubtful = others if sum(sizes) <= _FEW_BYTES else set()
    doubtful |= index.unsound().difference(candidates, exempt)
    reasons = unread().beside(paths) if index.unread_files().keys() - paths else {}
    broken = index.table.broken(sorted(doubtful.union(reasons)))
    reasons |= {path: index.why_unparsed(path, why) for path, why in broken.items()}
    return dict(sorted(reasons.items()))

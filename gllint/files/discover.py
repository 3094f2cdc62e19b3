"""Finding the files: folders walked quickly, ``.gitignore`` and excludes obeyed, loops impossible.

Links to folders are not followed, so that no loop can be walked and no file is seen twice.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from gllint.files.patterns import Patterns
from gllint.files.places import MARKERS, Place, Places
from gllint.files.writing import read_bytes
from gllint_rules.tuples import NamedTuple

SUFFIXES = (".py", ".pyi", ".ipynb")
_LARGEST = 1_000_000  # of a .gitignore; what is larger is as good as none


class Signature(NamedTuple):
    """What tells that a file is still the one that was read, without reading it."""

    mtime: int
    ctime: int
    size: int
    inode: int


class Found(NamedTuple):
    """One file, absolute and with forward slashes, and the place that it belongs to."""

    path: str
    place: Place
    signature: Signature


class _Ignores(NamedTuple):
    """The gitignore patterns that reach a folder: each with the length of its own folder's path."""

    layers: tuple[tuple[int, Patterns], ...]

    def below(self, folder: str, files: tuple[str, ...]) -> _Ignores:
        lines = [line for file in files for line in _read_lines(file)]
        patterns = Patterns(lines)
        return _Ignores((*self.layers, (len(folder.rstrip("/")) + 1, patterns))) if patterns else self


class _Judge:
    """Says which entries are left out in the folders of one place under the same patterns.

    In nearly all folders the name of an entry decides, and few names are met.
    """

    def __init__(self, place: Place, ignores: _Ignores) -> None:
        self.place, self.ignores = place, ignores
        self._by_name: dict[tuple[str, bool], bool] = {}
        self._all, self._names = False, frozenset[str]()

    def enter(self, folder: str) -> None:
        """Be asked about the entries of ``folder`` from now on."""
        config = self.place.config
        beyond = [config.excluded.beyond_names(config.relative(folder))]
        beyond += [patterns.beyond_names(folder[start:]) for start, patterns in self.ignores.layers]
        self._all = any(all_of_them for all_of_them, _ in beyond)
        self._names = frozenset().union(*(names for _, names in beyond))

    def leaves_out(self, path: str, name: str, is_folder: bool) -> bool:
        """Say whether the entry ``path`` of the folder that was entered is left out."""
        if self._all or name in self._names:
            return self._is_left_out(path, name, is_folder)
        known = self._by_name.get((name, is_folder))
        if known is None:
            known = self._by_name[name, is_folder] = self._is_left_out(path, name, is_folder)
        return known

    def _is_left_out(self, path: str, name: str, is_folder: bool) -> bool:
        config = self.place.config
        if config.excluded.verdict(config.relative(path), name, is_folder):
            return True
        for start, patterns in reversed(self.ignores.layers):
            verdict = patterns.verdict(path[start:], name, is_folder)
            if verdict is not None:
                return verdict
        return False


def signature(stat: os.stat_result) -> Signature:
    """Return the signature of a file from its status."""
    return Signature(stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino)


def walk(top: str, places: Places, within_project: bool = False) -> Iterator[Found]:
    """Yield the Python files below the folder ``top``, in no particular order.

    ``within_project`` leaves out the folders that are projects of their own.
    """
    pending = [(top, _Judge(places.of(top), _ignores_above(top, places)))]
    while pending:
        folder, judge = pending.pop()
        try:
            with os.scandir(folder) as entries:
                listed = list(entries)
        except OSError:
            continue
        names = {entry.name for entry in listed}
        if within_project and folder != top and MARKERS & names:
            continue
        place, ignores = _enter(folder, names, places, judge.ignores, folder == top)
        if place is not judge.place or ignores is not judge.ignores:
            judge = _Judge(place, ignores)
        judge.enter(folder)
        start = folder if folder != "/" else ""
        for entry in listed:
            name = entry.name
            try:
                is_folder = entry.is_dir(follow_symlinks=False)
                if not is_folder and not name.endswith(SUFFIXES):
                    continue
                path = f"{start}/{name}"
                if judge.leaves_out(path, name, is_folder):
                    continue
                if is_folder:
                    pending.append((path, judge))
                elif entry.is_file():
                    yield Found(path, place, signature(entry.stat()))
            except OSError:
                continue


def is_excluded(path: str, place: Place) -> bool:
    """Say whether the configuration excludes ``path`` or a folder that it lies in."""
    return place.config.excluded.excludes(place.config.relative(path))


def is_left_out(path: str, top: str, places: Places) -> bool:
    """Say whether a walk of the folder ``top`` would not come upon the file ``path`` below it."""
    folder, ignores = top, _ignores_above(top, places)
    parts = path.removeprefix(top.rstrip("/") + "/").split("/")
    for depth, name in enumerate(parts):
        names = {mark for mark in (*MARKERS, ".gitignore") if os.path.exists(f"{folder}/{mark}")}
        place, ignores = _enter(folder, names, places, ignores, folder == top)
        judge = _Judge(place, ignores)
        judge.enter(folder)
        folder = f"{folder.rstrip('/')}/{name}"
        if judge.leaves_out(folder, name, depth + 1 < len(parts)):
            return True
    return False


def _enter(
    folder: str, names: set[str], places: Places, ignores: _Ignores, is_top: bool
) -> tuple[Place, _Ignores]:
    """Return the place of a folder and the patterns that reach what is in it."""
    marks = MARKERS & names
    place = places.of(folder, marks)
    if ".git" in marks and not is_top:
        ignores = _Ignores(())
    if ".gitignore" in names or ".git" in marks:
        ignores = ignores.below(folder, _ignore_files(folder, names))
    return place if place.root else places.project(folder), ignores


def _ignores_above(top: str, places: Places) -> _Ignores:
    """Collect the patterns of the folders above ``top``, up to its repository (else its project)."""
    place = places.of(top)
    limit = place.repository or places.project(top).root
    folders: list[str] = []
    folder = top
    while folder != limit and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
        folders.append(folder)
    ignores = _Ignores(())
    for above in reversed(folders):
        ignores = ignores.below(above, _ignore_files(above, {".gitignore", ".git"}))
    return ignores


def _ignore_files(folder: str, names: set[str]) -> tuple[str, ...]:
    """Name the pattern files of a folder, the stronger ones last."""
    own = (f"{folder}/.gitignore",) if ".gitignore" in names else ()
    return (f"{folder}/.git/info/exclude", *own) if ".git" in names else own


def _read_lines(file: str) -> list[str]:
    try:
        return read_bytes(file, _LARGEST).decode("utf-8-sig", "surrogateescape").split("\n")
    except OSError:
        return []

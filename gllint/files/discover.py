"""Finding the files: folders walked quickly, ``.gitignore`` and excludes obeyed, loops impossible.

Links to folders are not followed, so that no loop can be walked and no file is seen twice.
"""

from __future__ import annotations

import errno
import os
import time
from collections import deque
from collections.abc import Iterator
from functools import cached_property
from stat import S_ISREG
from typing import Any

from gllint.errors import UsageError
from gllint.files.digest import digest
from gllint.files.paths import IGNORES_CASE
from gllint.files.patterns import MOST_CHARACTERS, Patterns, is_too_long
from gllint.files.places import MARKERS, Place, Places
from gllint.files.writing import read_bytes
from gllint_rules.tuples import NamedTuple
from gllint_rules.words.text_files import PAGE_SUFFIXES
from gllint_runtime.policy.expressions import expression

SUFFIXES = (".py", ".pyi", ".pyw", ".ipynb")
_LONGEST_SUFFIX = max(map(len, SUFFIXES))
FOLDER, FILE, LINK, SCRIPT = "dfls"
_SHEBANG = expression(rb"#![^\n]*python")
_FINE_CLOCK, _COARSE_CLOCK = 100_000_000, 2_000_000_000
_BOM = b"\xef\xbb\xbf"
_LARGEST = 1_000_000  # of a .gitignore; what is larger is as good as none, and reported
# Folders and files that are read around a file because they are of its project, whose folder the user did not name. It
# may be someone's home if nothing marks it as a project.
MOST_OF_PROJECT, MOST_WITHOUT_MARKER = 200_000, 2_000


class Signature(NamedTuple):
    """The stamp that shows whether a file is still the one that was read, without reading it."""

    mtime: int
    ctime: int
    size: int
    inode: int


class SourceFile(NamedTuple):
    """One file, absolute and with forward slashes, and the place that it belongs to."""

    path: str
    place: Place
    signature: Signature


class Omission(NamedTuple):
    """What a walk left out, and what it is: a Python file, a folder, a link to a folder, or what may be a script.

    What the configuration leaves out of its own accord is none: who wrote that knows of it.
    """

    path: str
    what: str


class _Listing(NamedTuple):
    """What is in a folder: the digest of the patterns that it was sorted out under, its markers (``.git``), folders,
    files of Python and pages, and what is left out, each after a letter for its kind.
    """

    under: str
    marks: list[str]
    folders: list[str]
    files: list[str]
    pages: list[str]
    omissions: list[str]


class Folders:
    """What walks found in folders, to be believed as long as a folder is the same: nothing in it has come or gone then.

    ``listings`` is the content of an earlier one, of any shape; ``visits`` are the folders that were met, ``locked``
    those within a project that cannot be listed or not in full, each with the reason, ``omissions`` what was left out,
    and ``pages`` the pages of each project by its top folder.
    """

    def __init__(self, listings: dict[str, Any] | None = None) -> None:
        self.listings = listings or {}
        self.visits: set[str] = set()
        self.locked: dict[str, str] = {}
        self.omissions: list[Omission] = []
        self.pages: dict[str, set[str]] = {}
        self.has_changed = False
        self._started = time.time_ns()

    def of(self, folder: str, stamp: list[int]) -> _Listing | None:
        """Return what was stored for a folder whose time stamp is still the same.

        ``None`` if it has to be listed again.
        """
        self.visits.add(folder)
        entry = self.listings.get(folder)
        try:
            old_stamp, *rest = entry or ((), "", [], [], [], [], [])
            _, marks, folders, files, pages, omissions = rest
            names = [*marks, *folders, *files, *pages, *(other[1:] for other in omissions)]
            is_sound = _NO_NAMES.isdisjoint(names) and "/" not in "".join(names)
        except (TypeError, ValueError):  # an entry of another version, or damaged
            return None
        return _Listing(*rest) if is_sound and old_stamp == stamp else None

    def put(self, folder: str, stamp: list[int], listing: _Listing) -> None:
        """Note what is found in a folder, unless it was written to just now."""
        if is_settled(max(stamp[:2]), self._started):
            self.listings[folder] = (stamp, *listing)
            self.has_changed = True

    def drop_stale(self) -> None:
        """Forget what was known of folders that were not met."""
        for folder in self.listings.keys() - self.visits:
            del self.listings[folder]


_NO_NAMES = frozenset({"", ".", ".."})  # of an entry of a folder


class _Lines:
    """The patterns of a folder's files, which are read and seldom needed."""

    def __init__(self, folder: str, lines: list[str]) -> None:
        self.start, self._lines = len(folder.rstrip("/")) + 1, lines

    @cached_property
    def patterns(self) -> Patterns:
        return Patterns(self._lines)


class _Ignores(NamedTuple):
    """The gitignore patterns that reach a folder, and the digest of their texts."""

    layers: tuple[_Lines, ...] = ()
    digest: bytes = b""

    def descend(self, folder: str, files: tuple[str, ...], disobeyed: dict[str, str]) -> _Ignores:
        """Return these patterns and those in a folder's ignore ``files``; a file that is not obeyed is noted in
        ``disobeyed``.
        """
        lines = [line for file in files for line in _read_lines(file, disobeyed)]
        if not any(lines):
            return self
        parts = (text.encode("utf-8", "surrogateescape") for text in (folder, *lines))
        return _Ignores((*self.layers, _Lines(folder, lines)), digest(self.digest, *parts))


class _Judge:
    """Says which entries are left out in the folders of one place under the same patterns."""

    def __init__(self, place: Place, ignores: _Ignores) -> None:
        self.place, self.ignores = place, ignores
        config = place.config
        excludes = repr((config.exclude, config.extend_exclude, config.base)).encode("utf-8", "surrogatepass")
        self.under = digest(ignores.digest, excludes).hex()

    def omits(self, path: str, name: str, is_folder: bool) -> bool:
        """Return whether the entry ``path`` is left out, by the configuration or by the innermost ignore file that
        names it.
        """
        config = self.place.config
        if config.excluded.verdict(config.relative(path), name, is_folder):
            return True
        for layer in reversed(self.ignores.layers):
            verdict = layer.patterns.verdict(path[layer.start :], name, is_folder)
            if verdict is not None:
                return verdict
        return False

    def is_excluded_by_user(self, path: str, name: str, is_folder: bool) -> bool:
        """Say whether the configuration itself leaves the entry ``path`` out: with more than the usual excludes."""
        config = self.place.config
        return config.excluded_by_wish.verdict(config.relative(path), name, is_folder) is True


def signature(stat: os.stat_result) -> Signature:
    """Return the signature of a file from its status."""
    return Signature(stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino)


def signature_of(path: str) -> Signature | None:
    """Return the signature of a file, ``None`` if there is none."""
    try:
        return signature(os.stat(path))
    except OSError:
        return None


def is_settled(newest: int, started: int) -> bool:
    """Say whether what was last written at ``newest`` was so clearly before a run ``started`` to read."""
    grain = _COARSE_CLOCK if newest % 1_000_000_000 == 0 else _FINE_CLOCK
    return 0 < newest < started - grain


_ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
"""The folder went meanwhile, or is a link to nothing."""


def walk(
    top: str,
    places: Places,
    within_project: bool = False,
    folders: Folders | None = None,
) -> Iterator[SourceFile]:
    """Yield the Python files below the folder ``top``, the nearest to ``top`` first; pages are noted in ``folders``.

    ``within_project`` skips folders that are projects of their own. Folders whose listing is in ``folders`` and
    still valid are not listed again. Raises :class:`UsageError` for a folder that the user named and that cannot
    be listed. ``within_project`` such a folder is only noted in ``folders.locked``, and the walk ends after a
    number of entries.
    """
    folders = folders or Folders()
    most = _most_entries(top, places) if within_project else None
    count = 0
    pending = deque([(top, _Judge(places.of(top), _ignores_above(top, places)))])
    while pending:
        if most is not None and count >= most:
            folders.locked[top] = f"{most:,} folders and files were read{_without_marker(top, places)}"
            return
        count += 1
        folder, judge = pending.popleft()
        try:
            status = os.stat(folder)
            stamp = [status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
            listing = folders.of(folder, stamp)
            entries = _list(folder) if listing is None else []
        except OSError as error:
            if error.errno in _ABSENT:
                continue
            why = f"cannot be listed: {error.strerror}"
            if not within_project:
                raise UsageError(f"{folder}: {why}; exclude it, or let it be read") from None
            folders.locked[folder] = why
            continue
        names = (
            _with_marks(folder, {entry.name for entry in entries}) if listing is None else {*listing.marks}
        )
        if within_project and folder != top and places.markers & names:
            continue
        place, ignores = _enter(folder, names, places, judge.ignores, folder == top)
        if place is not judge.place or ignores is not judge.ignores:
            judge = _Judge(place, ignores)
        start = folder if folder != "/" else ""
        if listing is None or listing.under != judge.under:
            try:
                marks = sorted(names & {*MARKERS, ".gitignore"})
                listing = _listing_of(start, _list(folder) if listing else entries, judge, marks)
            except OSError:  # it has gone meanwhile
                continue
            folders.put(folder, stamp, listing)
        subfolders, files = listing.folders, listing.files
        folders.omissions += [Omission(f"{start}/{other[1:]}", other[0]) for other in listing.omissions]
        if listing.pages:
            pages = folders.pages.setdefault(place.root, set())
            pages.update(f"{start}/{name}" for name in listing.pages)
        # Where the walk ends must not depend on the order in which a disk lists.
        pending += [(f"{start}/{name}", judge) for name in (sorted(subfolders) if most else subfolders)]
        count += len(files)
        for name in files:
            path = f"{start}/{name}"
            try:
                status = os.stat(path)
            except OSError:
                continue
            if S_ISREG(status.st_mode):
                yield SourceFile(path, place, signature(status))


def _most_entries(top: str, places: Places) -> int:
    """Return after how many folders and files the walk of a project ends."""
    return MOST_OF_PROJECT if places.of(top).root else MOST_WITHOUT_MARKER


def _without_marker(top: str, places: Places) -> str:
    if places.of(top).root:
        return ""
    *names, last = sorted(places.markers, reverse=True)
    return f", and no {', '.join(names)} or {last} marks a project"


def _with_marks(folder: str, names: set[str]) -> set[str]:
    """Return the names in a folder, with those of files of ours that the system finds there under other capitals."""
    if not IGNORES_CASE:
        return names
    marks = {name.lower() for name in names} & {*MARKERS, ".gitignore"}
    return names | {mark for mark in marks - names if os.path.lexists(f"{folder}/{mark}")}


def _list(folder: str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return list(entries)


def entries_of(folder: str) -> list[os.DirEntry[str]]:
    """Return what is in a folder, by name; nothing if it cannot be listed."""
    try:
        return sorted(_list(folder), key=lambda entry: entry.name)
    except OSError:
        return []


def _listing_of(start: str, entries: list[os.DirEntry[str]], judge: _Judge, marks: list[str]) -> _Listing:
    """Return the listing of a folder with some ``marks``: which of its ``entries`` to visit, and which are left out.

    Among the omissions is only what may be or contain Python, each after a letter for its kind: a file, a folder, a
    link to a folder, or a file without a suffix, which may be a script. What the project's own ``exclude`` leaves out
    is not among them.
    """
    listing = _Listing(judge.under, marks, [], [], [], [])
    for entry in entries:
        name = entry.name
        try:
            is_folder = entry.is_dir(follow_symlinks=False)
        except OSError:
            continue
        path = f"{start}/{name}"
        if is_folder or is_python_name(name):
            if not judge.omits(path, name, is_folder):
                (listing.folders if is_folder else listing.files).append(name)
            elif not judge.is_excluded_by_user(path, name, is_folder):
                listing.omissions.append(f"{FOLDER if is_folder else FILE}{name}")
        elif _leads_to_folder(entry):
            if not judge.is_excluded_by_user(path, name, True):
                listing.omissions.append(f"{LINK}{name}")
        elif name.endswith(PAGE_SUFFIXES):
            if not judge.omits(path, name, False):
                listing.pages.append(name)
        elif "." not in name and not judge.omits(path, name, False):
            listing.omissions.append(f"{SCRIPT}{name}")
    return listing


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_symlink() and entry.is_dir()
    except OSError:
        return False


def is_python_name(name: str) -> bool:
    """Say whether a file of that name is Python to someone: to Windows, whose names have no capitals, ``A.PY`` is."""
    return name.endswith(SUFFIXES) or name[-_LONGEST_SUFFIX:].lower().endswith(SUFFIXES)


def is_script(path: str) -> bool:
    """Say whether the first line of a file says that Python runs it."""
    try:
        with open(path, "rb") as file:
            return os.path.isfile(path) and _SHEBANG.match(file.read(200)) is not None
    except OSError:
        return False


def is_excluded(path: str, place: Place) -> bool:
    """Say whether the configuration excludes ``path`` or a folder that it lies in."""
    return place.config.excluded.excludes(place.config.relative(path))


def is_left_out(path: str, top: str, places: Places) -> bool:
    """Return whether a walk of the folder ``top`` would not reach the file ``path`` below it."""
    folder, ignores = top, _ignores_above(top, places)
    parts = path.removeprefix(top.rstrip("/") + "/").split("/")
    for depth, name in enumerate(parts):
        names = {mark for mark in (*MARKERS, ".gitignore") if os.path.exists(f"{folder}/{mark}")}
        place, ignores = _enter(folder, names, places, ignores, folder == top)
        judge = _Judge(place, ignores)
        folder = f"{folder.rstrip('/')}/{name}"
        if judge.omits(folder, name, depth + 1 < len(parts)):
            return True
    return False


def _enter(
    folder: str, names: set[str], places: Places, ignores: _Ignores, is_top: bool
) -> tuple[Place, _Ignores]:
    """Return the place of a folder, and the ignore patterns that apply in it."""
    marks = places.markers & names
    place = places.of(folder, marks)
    if ".git" in marks and not is_top:
        ignores = _Ignores()
    if ".gitignore" in names or ".git" in marks:
        ignores = ignores.descend(folder, _ignore_files(folder, names), places.disobeyed)
    return place if place.root else places.project(folder), ignores


def _ignores_above(top: str, places: Places) -> _Ignores:
    """Return the ignore patterns of the folders above ``top``, up to its repository (else its project)."""
    place = places.of(top)
    limit = place.repository or places.project(top).root
    folders: list[str] = []
    folder = top
    while folder != limit and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
        folders.append(folder)
    ignores = _Ignores()
    for parent in reversed(folders):
        files = _ignore_files(parent, {".gitignore", ".git"})
        ignores = ignores.descend(parent, files, places.disobeyed)
    return ignores


def _ignore_files(folder: str, names: set[str]) -> tuple[str, ...]:
    """Name the pattern files of a folder, the stronger ones last."""
    in_folder = (f"{folder}/.gitignore",) if ".gitignore" in names else ()
    return (f"{folder}/.git/info/exclude", *in_folder) if ".git" in names else in_folder


def _read_lines(file: str, disobeyed: dict[str, str]) -> list[str]:
    """Return the lines of an ignore file; why it cannot be used, if so, is noted in ``disobeyed``."""
    try:
        lines = read_bytes(file, _LARGEST).removeprefix(_BOM).decode("utf-8", "surrogateescape").split("\n")
    except OSError:
        if os.path.isfile(file) and os.path.getsize(file) > _LARGEST:
            disobeyed[file] = f"more than {_LARGEST:,} bytes"
        return []
    if any(map(is_too_long, lines)):
        disobeyed[file] = f"a pattern of more than {MOST_CHARACTERS:,} characters"
    return lines

"""The cache of one project: a folder of entries, each a file that is whole or absent.

An entry is a value in MessagePack or JSON after a signature of its name and value. It is written to a temporary file
and renamed into place, so a killed process leaves no half entry. An entry may come with a repository of someone else:
it is read only if this user's key signed it, and reading it can create gllint's own records and nothing else.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from binascii import b2a_base64
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, BinaryIO, TypeVar

import gllint
from gllint.files.digest import DIGEST_SIZE, digest
from gllint.files.discover import Folders, Omission, SourceFile, entries_of, walk
from gllint.files.places import Places
from gllint.files.writing import read_bytes
from gllint.run.signing import signer
from gllint_rules import RULES, Settings
from gllint_rules.tuples import NamedTuple
from gllint_runtime.policy.expressions import expression

FOLDER = ".gllint_cache"
_PREFIX = b"gllint-4\n"
_LABELS = {
    "CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n# A cache of gllint; gllint clean removes it.\n",
    ".gitignore": "*\n",
}
_STORE = expression(r"[0-9a-f]{40}")
_ENTRY = expression(r"screen|facts|folders|readers|(?:results|fixes)-[0-9a-f]{40}")
_TEMPORARY = expression(r"new-[0-9a-z_]{8}")
_OURS = expression(rb"gllint-\d+\n")
_BINARY = getattr(os, "O_BINARY", 0)
_JSON_STARTS = (b"[", b"{")  # no array or map of MessagePack begins with these
_LOCK = "lock"
_FOLDERS = "folders"
_FEW_FOLDERS = 500  # up to this many, reading JSON is faster than importing msgspec
_LOCK_PATIENCE = 60.0
_KEEP_SECONDS = 14 * 24 * 3600
_OWN_PACKAGES = ("gllint", "gllint_rules", "gllint_runtime")
_T = TypeVar("_T")


def encode(value: object, is_small: bool = False) -> bytes:
    """Return a value as bytes: plain values, named tuples, tuples, frozen sets, and dicts with string keys.

    A value that ``is_small`` becomes JSON: MessagePack is read faster, but its import takes longer than that.
    """
    import json

    if is_small:
        with contextlib.suppress(TypeError):
            return json.dumps(value, default=_as_json).encode("ascii")
    import msgspec

    try:
        return msgspec.msgpack.encode(value)
    except UnicodeEncodeError:  # only JSON can have a lone surrogate, as in a file name that is not UTF-8
        return json.dumps(msgspec.to_builtins(value)).encode("ascii")


def decode(payload: bytes, kind: type[_T], build: Callable[[Any], _T] | None = None) -> _T:
    """Return the value that :func:`encode` wrote. Raises ``ValueError`` if it is not a ``kind``, or no value at all.

    ``build`` creates it from its JSON, which has bytes as base64 and tuples as lists; without ``build``, msgspec does.
    """
    try:
        if not payload.startswith(_JSON_STARTS):
            import msgspec

            return msgspec.msgpack.decode(payload, type=kind)
        import json

        value = json.loads(payload)
        if build is not None:
            return build(value)
        import msgspec

        return msgspec.convert(value, kind)
    except (RecursionError, MemoryError, OverflowError) as error:  # too deep or too long to be gllint's own
        raise ValueError("no entry") from error
    except (AttributeError, TypeError) as error:
        raise ValueError("an entry of another making") from error


def _as_json(value: object) -> Any:
    if isinstance(value, bytes):
        return b2a_base64(value, newline=False).decode("ascii")
    if isinstance(value, frozenset):
        return list(value)
    raise TypeError


class Store:
    """The entries of one project under one version and one set of rule options. ``None``: keep nothing."""

    def __init__(self, folder: str | None) -> None:
        self._signer = signer()
        self.folder = folder if self._signer.key else None
        self._has_folder = False

    @classmethod
    def of(cls, cache_dir: str | None, root: str, settings: Settings) -> Store:
        """Return the store of the project ``root`` inside ``cache_dir``."""
        if cache_dir is None:
            return cls(None)
        if os.path.islink(cache_dir):
            # The link may come with the repository and lead anywhere: nothing is read or written there.
            return cls(None)
        name = digest(
            installation(),
            root.encode("utf-8", "surrogateescape"),
            repr(settings).encode("utf-8", "surrogatepass"),
        )
        return cls(f"{cache_dir}/{name.hex()}")

    def read(self, name: str, kind: type[_T], build: Callable[[Any], _T] | None = None) -> _T | None:
        """Return the entry ``name``, ``None`` if there is none, or none that is signed and contains a ``kind``.

        ``build`` creates it from JSON, see :func:`decode`.
        """
        if self.folder is None:
            return None
        try:
            data = read_bytes(f"{self.folder}/{name}")
        except OSError:
            return None
        start = len(_PREFIX) + DIGEST_SIZE
        payload = data[start:]
        signed = data[len(_PREFIX) : start]
        if not data.startswith(_PREFIX) or not self._signer.has_signed(
            signed, *self._identity(name), payload
        ):
            return None
        try:
            return decode(payload, kind, build)
        except ValueError:  # of another version of gllint
            return None

    def has(self, name: str) -> bool:
        """Return whether there is an entry ``name``, valid or not."""
        return self.folder is not None and os.path.isfile(f"{self.folder}/{name}")

    def write(self, name: str, value: object, is_small: bool = False) -> None:
        """Write an entry atomically. If the folder cannot be written, this store keeps nothing from then on."""
        if self.folder is None:
            return
        payload = encode(value, is_small)
        try:
            self._make()
            temporary = f"{self.folder}/new-{os.urandom(4).hex()}"
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_PREFIX + self._signer.sign(*self._identity(name), payload) + payload)
                os.replace(temporary, f"{self.folder}/{name}")
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise
        except OSError:
            self.folder = None

    def _identity(self, name: str) -> tuple[bytes, bytes]:
        """Return the names of store and entry, which are signed too, so that an entry is valid in its place only."""
        return os.path.basename(self.folder or "").encode("utf-8", "surrogateescape"), name.encode()

    def walk(
        self,
        top: str,
        places: Places,
        within_project: bool = False,
        locked: dict[str, str] | None = None,
        omissions: list[Omission] | None = None,
        pages: dict[str, set[str]] | None = None,
    ) -> Iterator[SourceFile]:
        """Yield the Python files below ``top`` like :func:`~gllint.files.discover.walk`, with cached folder listings.

        The folders that cannot be listed are added to ``locked``, each with the reason, what is left out to
        ``omissions``, and pages to those of their project.
        """
        folders = Folders(self.read(_FOLDERS, dict[str, Any], dict))
        yield from walk(top, places, within_project, folders)
        if locked is not None:
            locked |= folders.locked
        if omissions is not None:
            omissions += folders.omissions
        if pages is not None:
            for root, paths in folders.pages.items():
                pages.setdefault(root, set()).update(paths)
        if not within_project:
            folders.drop_stale()
        if folders.has_changed:
            self.write(_FOLDERS, folders.listings, len(folders.listings) <= _FEW_FOLDERS)

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for other processes, so that only one computes an entry.

        After a minute the wait ends, and the entry is computed twice.
        """
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError, ImportError):
                if self.folder is not None:
                    self._make()
                    _wait_for(stack.enter_context(_opened_lock(f"{self.folder}/{_LOCK}")))
            yield

    def _make(self) -> None:
        """Create the cache folder, unless a link is in its place."""
        if self._has_folder or self.folder is None:
            return
        top = os.path.dirname(self.folder)
        for folder in (top, self.folder):
            if os.path.islink(folder):
                raise OSError(0, "a link in place of the cache")
        if not os.path.isdir(self.folder):
            os.makedirs(self.folder, exist_ok=True)
            _label(top)
            _prune(top)
        self._has_folder = True


@cache
def installation() -> bytes:
    """Return a digest of this Python and of gllint's own files, so that a changed rule does not get old results.

    The digests of installed files are in the installer's RECORD; without one, sizes and times identify the files.
    """
    record = os.path.dirname(gllint.__path__[0]) + f"/gllint-{gllint.__version__}.dist-info/RECORD"
    folders = list(RULES.packages())
    try:
        record_data = read_bytes(record)
    except OSError:
        record_data = b""
        for package in _OWN_PACKAGES:
            folders += (sys.modules.get(package) or __import__(package)).__path__
    parts = [gllint.__version__, sys.version]
    for folder in folders:
        parts += [f"{path}{stat.st_mtime_ns}{stat.st_size}" for path, stat in _own_files(folder)]
    return digest(record_data, *(part.encode("utf-8", "surrogateescape") for part in parts))


def cache_folder(top: str) -> str:
    """Return the absolute path of the folder for caches within ``top``."""
    return os.path.abspath(os.path.join(top, FOLDER)).replace(os.sep, "/")


class Cleaned(NamedTuple):
    """The outcome of cleaning: whether anything was removed, and what was left because it is not ours."""

    removed: bool
    foreign_files: list[str]


def clean(cache_dir: str) -> Cleaned:
    """Remove gllint's files from a cache folder, and the folder if it is empty then. A link is kept."""
    if os.path.islink(cache_dir) or not os.path.isdir(cache_dir):
        return Cleaned(False, [cache_dir] if os.path.lexists(cache_dir) else [])
    return _removed(cache_dir, _is_label, with_stores=True)


def _removed(folder: str, is_ours: Callable[[os.DirEntry[str]], bool], with_stores: bool = False) -> Cleaned:
    """Remove gllint's own files in a folder, and the folder if nothing else is in it."""
    foreign_files: list[str] = []
    removed = False
    for entry in entries_of(folder):
        if with_stores and _is_store(entry):
            result = _removed(entry.path, _is_entry)
        else:
            is_gone = is_ours(entry) and _unlinked(entry.path)
            result = Cleaned(is_gone, [] if is_gone else [entry.path.replace(os.sep, "/")])
        removed = removed or result.removed
        foreign_files += result.foreign_files
    with contextlib.suppress(OSError):
        os.rmdir(folder)
        removed = True
    return Cleaned(removed, foreign_files)


def _is_store(entry: os.DirEntry[str]) -> bool:
    return _STORE.fullmatch(entry.name) is not None and entry.is_dir(follow_symlinks=False)


def _unlinked(path: str) -> bool:
    """Delete a file, and return whether it is gone."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass  # another process cleans too
    except OSError:
        return False
    return True


def _is_entry(entry: os.DirEntry[str]) -> bool:
    """Return whether gllint wrote a file of a store, judged by its name and its first bytes."""
    if not entry.is_file(follow_symlinks=False):
        return False
    if entry.name == _LOCK:
        return entry.stat(follow_symlinks=False).st_size == 0
    head = _head(entry.path, len(_PREFIX))
    if _TEMPORARY.fullmatch(entry.name):
        return _PREFIX.startswith(head)
    return _ENTRY.fullmatch(entry.name) is not None and _OURS.match(head) is not None


def _is_label(entry: os.DirEntry[str]) -> bool:
    text = _LABELS.get(entry.name)
    return (
        text is not None
        and entry.is_file(follow_symlinks=False)
        and _head(entry.path, len(text) + 1) == text.encode()
    )


def _head(path: str, size: int) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(size)
    except OSError:
        return b"?"


def _opened_lock(path: str) -> BinaryIO:
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    return os.fdopen(os.open(path, flags, 0o666), "rb", buffering=0)


def _wait_for(lock: BinaryIO) -> None:
    """Take the lock of the cache, or return without it after a minute."""
    import fcntl

    deadline = time.monotonic() + _LOCK_PATIENCE
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return
            time.sleep(0.02)
        else:
            return


def _own_files(folder: str) -> list[tuple[str, os.stat_result]]:
    """Return the files below a folder with their status, except bytecode."""
    files: list[tuple[str, os.stat_result]] = []
    for entry in sorted(os.scandir(folder), key=lambda e: e.name):
        if entry.is_dir():
            files += [] if entry.name == "__pycache__" else _own_files(entry.path)
        else:
            files.append((entry.path, entry.stat()))
    return files


def _label(top: str) -> None:
    if any(entry.name not in _LABELS and not _STORE.fullmatch(entry.name) for entry in entries_of(top)):
        return  # the user keeps other files there, which git must not ignore
    for name, text in _LABELS.items():
        with contextlib.suppress(FileExistsError), open(f"{top}/{name}", "xb") as file:
            file.write(text.encode())


def _prune(top: str) -> None:
    """Remove the stores that were not written to for two weeks. Other files are not gllint's and are kept."""
    limit = time.time() - _KEEP_SECONDS
    for entry in entries_of(top):
        if _is_store(entry) and entry.stat(follow_symlinks=False).st_mtime < limit:
            _removed(entry.path, _is_entry)

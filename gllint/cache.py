"""The cache of one project: a folder of entries, each whole or absent, never wrong.

An entry is its payload behind the digest of its name and payload, written to a temporary file and renamed into place;
what a killed process leaves behind does not pass the digest or was never renamed. An entry can come with a
repository that somebody else made, so reading one can build our own records and nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from typing import Any

import gllint
from gllint_rules import Settings

FOLDER = ".gllint_cache"
_DIGEST_SIZE = 20
_PREFIX = b"gllint-1\n"
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# A cache of gllint; gllint clean removes it.\n"
_PICKLE_DEPTH = 5000
_KEEP_SECONDS = 14 * 24 * 3600
_OWN_PACKAGES = ("gllint", "gllint_rules", "gllint_runtime")
_BUILTINS = frozenset({"Ellipsis", "complex", "frozenset", "set"})


def digest(*parts: bytes) -> bytes:
    """Return a digest of ``parts``, which are told apart."""
    state = hashlib.blake2b(digest_size=_DIGEST_SIZE)
    for part in parts:
        state.update(b"%d:" % len(part))
        state.update(part)
    return state.digest()


def pickled(value: object) -> bytes:
    """Pickle facts, which nest as deeply as source does. Raises ``RecursionError`` where that is too deep."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _PICKLE_DEPTH))
    try:
        return pickle.dumps(value, protocol=5)
    finally:
        sys.setrecursionlimit(limit)


class Store:
    """The entries of one project under one version and one set of rule options. ``None``: keep nothing."""

    def __init__(self, folder: str | None) -> None:
        self.folder = folder
        self._made = False

    @classmethod
    def of(cls, cache_dir: str | None, root: str, settings: Settings) -> Store:
        """Return the store of the project ``root`` inside ``cache_dir``."""
        if cache_dir is None:
            return cls(None)
        name = digest(installation(), root.encode("utf-8", "surrogateescape"), repr(settings).encode())
        return cls(f"{cache_dir}/{name.hex()}")

    def read(self, name: str) -> Any:
        """Return the entry ``name``, or ``None`` where there is no sound one."""
        if self.folder is None:
            return None
        try:
            with open(f"{self.folder}/{name}", "rb") as file:
                data = file.read()
        except OSError:
            return None
        start = len(_PREFIX) + _DIGEST_SIZE
        payload = data[start:]
        if not data.startswith(_PREFIX) or data[len(_PREFIX) : start] != digest(name.encode(), payload):
            return None
        try:
            return _Reader(io.BytesIO(payload)).load()
        except Exception:
            # Whatever a sound digest over an entry of another making holds: it is as good as absent.
            return None

    def holds(self, name: str) -> bool:
        """Say whether there is an entry ``name``, sound or not."""
        return self.folder is not None and os.path.exists(f"{self.folder}/{name}")

    def write(self, name: str, value: object) -> None:
        """Put an entry in place, all at once. Where the folder cannot be written, nothing is kept."""
        if self.folder is None:
            return
        try:
            payload = pickled(value)
        except RecursionError:
            # Facts of very deep source are not kept; they are read again the next time.
            return
        self.write_pickled(name, payload)

    def write_pickled(self, name: str, payload: bytes) -> None:
        """Put an entry in place that is pickled already."""
        if self.folder is None:
            return
        try:
            self._make()
            handle, temporary = tempfile.mkstemp(dir=self.folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_PREFIX + digest(name.encode(), payload) + payload)
                os.replace(temporary, f"{self.folder}/{name}")
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise
        except OSError:
            self.folder = None

    def keep_only(self, prefix: str, names: set[str]) -> None:
        """Drop the entries that begin with ``prefix`` and are not among ``names``, once they are many."""
        if self.folder is None:
            return
        with contextlib.suppress(OSError):
            stale = [n for n in os.listdir(self.folder) if n.startswith(prefix) and n not in names]
            if len(stale) > len(names) + 64:
                for name in stale:
                    os.unlink(f"{self.folder}/{name}")

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Let one process at a time through, so that several do not compute the same entries at once."""
        try:
            import fcntl
        except ImportError:
            yield
            return
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):
                if self.folder is not None:
                    self._make()
                    lock = stack.enter_context(open(f"{self.folder}/lock", "wb"))
                    fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _make(self) -> None:
        if self._made or self.folder is None:
            return
        top = os.path.dirname(self.folder)
        if not os.path.isdir(self.folder):
            os.makedirs(self.folder, exist_ok=True)
            _label(top)
            _prune(top)
        self._made = True


@cache
def installation() -> bytes:
    """Return a digest of this Python and of gllint's own files: a changed rule must not find old results."""
    parts = [gllint.__version__, sys.version]
    for package in _OWN_PACKAGES:
        module = sys.modules.get(package) or __import__(package)
        for folder in module.__path__:
            parts += [f"{path}{stat.st_mtime_ns}{stat.st_size}" for path, stat in _own_files(folder)]
    return digest(*(part.encode("utf-8", "surrogateescape") for part in parts))


def clean(cache_dir: str) -> bool:
    """Remove a cache folder; say whether there was one. Leaves alone what is not a cache of ours."""
    import shutil

    if not os.path.isfile(f"{cache_dir}/CACHEDIR.TAG"):
        return False
    shutil.rmtree(cache_dir, ignore_errors=True)
    return True


class _Reader(pickle.Unpickler):
    """Builds records of our own packages and plain containers, and refuses everything else."""

    def find_class(self, module: str, name: str) -> Any:
        if module == "builtins" and name in _BUILTINS:
            return super().find_class(module, name)
        if module.partition(".")[0] in _OWN_PACKAGES:
            found = super().find_class(module, name)
            if isinstance(found, type) and found.__module__ == module:
                return found
        raise pickle.UnpicklingError(f"{module}.{name} does not belong into the cache")


def _own_files(folder: str) -> list[tuple[str, os.stat_result]]:
    found: list[tuple[str, os.stat_result]] = []
    for entry in sorted(os.scandir(folder), key=lambda e: e.name):
        if entry.is_dir():
            found += [] if entry.name == "__pycache__" else _own_files(entry.path)
        else:
            found.append((entry.path, entry.stat()))
    return found


def _label(top: str) -> None:
    for name, text in (("CACHEDIR.TAG", _TAG), (".gitignore", "*\n")):
        if not os.path.exists(f"{top}/{name}"):
            with open(f"{top}/{name}", "w", encoding="utf-8") as file:
                file.write(text)


def _prune(top: str) -> None:
    limit = time.time() - _KEEP_SECONDS
    for entry in os.scandir(top):
        if entry.is_dir(follow_symlinks=False) and entry.stat().st_mtime < limit:
            for old in os.scandir(entry.path):
                os.unlink(old.path)
            os.rmdir(entry.path)

"""The key that signs the entries of a user's caches.

A repository of someone else may contain a cache folder, at the path of the user's own. So entries are signed, and
unsigned ones are ignored. The key is a file in the user's state folder that no one else can read, or the value of
``GLLINT_CACHE_KEY``: machines with the same value share their caches.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from _operator import _compare_digest
from functools import lru_cache

from gllint.files.digest import signature
from gllint_rules.tuples import NamedTuple

VARIABLE = "GLLINT_CACHE_KEY"
_SIZE = 32
_NAME = "cache-key"


class Signer(NamedTuple):
    """Signs entries with ``key``; without one, ``trouble`` says why."""

    key: bytes
    trouble: str = ""

    def sign(self, *parts: bytes) -> bytes:
        return signature(self.key, *parts)

    def has_signed(self, signed: bytes, *parts: bytes) -> bool:
        return _compare_digest(signed, self.sign(*parts))


def signer() -> Signer:
    """Return the signer of this user's caches, with ``GLLINT_CACHE_KEY`` or a key file, which is created if missing."""
    shared = os.environ.get(VARIABLE)
    if shared:
        return Signer(signature(b"", shared.encode("utf-8", "surrogateescape")))
    return _own(state_folder())


def state_folder() -> str | None:
    """Return the folder for gllint's state of this user (on Linux ``~/.local/state/gllint``), ``None`` if unknown."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Application Support")
    else:
        base = os.environ.get("XDG_STATE_HOME", "")
        # By its specification, a relative path is ignored: it would lead into the current project.
        base = base if os.path.isabs(base) else os.path.expanduser("~/.local/state")
    return os.path.join(base, "gllint") if os.path.isabs(base) else None


@lru_cache(maxsize=8)
def _own(folder: str | None) -> Signer:
    """Return the signer with this user's key, which is created if there is none."""
    if folder is None:
        return Signer(b"", "this user has no state folder for the key of the cache")
    path = os.path.join(folder, _NAME)
    try:
        try:
            return _read(path)
        except FileNotFoundError:
            _make(folder, path)
            return _read(path)
    except OSError as error:
        return Signer(b"", f"its key in {folder} cannot be used ({error.strerror or error})")


def _read(path: str) -> Signer:
    """Read the key, which only its owner may be able to read. Raises OSError."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "it is not a regular file")
        if sys.platform != "win32" and (status.st_uid != os.geteuid() or status.st_mode & 0o077):
            raise OSError(0, "others can read it")
        key = file.read(_SIZE + 1)
    if len(key) != _SIZE:
        raise OSError(0, f"it must have {_SIZE} bytes")
    return Signer(key)


def _make(folder: str, path: str) -> None:
    """Create the key file atomically. If several processes do so at once, the first one's key stays."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    new = f"{path}.{os.getpid()}-{os.urandom(4).hex()}"
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(os.urandom(_SIZE))
        with contextlib.suppress(FileExistsError):
            if sys.platform == "win32":
                os.rename(new, path)  # which fails there where the other one is
            else:
                os.link(new, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(new)

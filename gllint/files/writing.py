"""Reading and writing files of others: nothing outside the project, and no one ever sees half of one."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from typing import BinaryIO

from gllint_runtime.policy.regular_files import read_bytes as read_bytes

_STREAMS = ("/dev/", "/proc/")
_NO_WRITE_BIT = "write-protected"
_WAITS = (0.01, 0.05, 0.2)  # seconds


def way_out(path: str, root: str) -> str | None:
    """Return where the links in ``path`` lead if that is outside the folder ``root``; ``None`` if it is inside.

    What is below a link to the folder itself is inside. Raises ``OSError``.
    """
    try:
        target, top = os.path.realpath(path), os.path.realpath(root)
    except ValueError as error:
        raise OSError(0, str(error)) from None
    return None if target == top or target.startswith(top.rstrip(os.sep) + os.sep) else target


def repository_of(folder: str) -> str | None:
    """Return the top of the repository that a folder lies in, ``None`` if it lies in none."""
    while not os.path.exists(f"{folder}/.git"):
        if os.path.dirname(folder) == folder:
            return None
        folder = os.path.dirname(folder)
    return folder


def check_inside(path: str, root: str) -> None:
    """Raise ``OSError`` where links lead ``path`` out of the project ``root``."""
    target = way_out(path, root)
    if target is not None:
        raise OSError(0, f"a link leads out of the project, to {target}; pass that file instead")


def write_atomically(path: str, data: bytes) -> None:
    """Replace the content of a file atomically, and keep its mode and owner.

    The target of a symbolic link is replaced, the link stays. A file with a second name (a hard link) is written
    in place, so that both names stay one file; the new content is first written next to it. Raises ``OSError``.
    """
    target = os.path.realpath(path)
    status = _status(target)
    if status is not None and not stat.S_ISREG(status.st_mode):
        raise OSError(0, "not a regular file")
    # For root the system would allow writing a file that its owner has made read-only.
    if status is not None and (not status.st_mode & 0o222 or not os.access(target, os.W_OK)):
        raise PermissionError(13, _NO_WRITE_BIT, path)
    temporary = f"{os.path.dirname(target)}/.gllint-{os.urandom(8).hex()}"
    if status is not None and status.st_nlink > 1:
        _write_named(temporary, data, status)
        with open(target, "r+b") as file:
            file.write(data)
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
        os.unlink(temporary)
        return
    try:
        try:
            _write_unnamed(temporary, data, status)
        except (OSError, AttributeError):  # no such system call, or a file system that has none
            _write_named(temporary, data, status)
        _replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _replace(temporary: str, target: str) -> None:
    """Rename a file over another one, several times if Windows refuses it while a scanner reads the old one."""
    for wait in _WAITS:
        try:
            os.replace(temporary, target)
            break
        except PermissionError as error:
            if getattr(error, "winerror", None) is None:
                raise
        time.sleep(wait)
    else:
        os.replace(temporary, target)


def _write_unnamed(path: str, data: bytes, old: os.stat_result | None) -> None:
    """Write a file that gets its name only when it is complete, so that no half of it stays behind."""
    folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)
    try:
        handle = os.open(os.path.dirname(path), os.O_TMPFILE | os.O_WRONLY, _mode(old))
        with os.fdopen(handle, "wb") as file:
            _fill(file, data, old)
            # The descriptor of the folder is what makes Python follow the link to the file.
            os.link(f"/proc/self/fd/{handle}", os.path.basename(path), dst_dir_fd=folder)
    finally:
        os.close(folder)


def _write_named(path: str, data: bytes, old: os.stat_result | None) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _mode(old))
    with os.fdopen(handle, "wb") as file:
        _fill(file, data, old)


def _mode(old: os.stat_result | None) -> int:
    return 0o666 if old is None else 0o600


def _fill(file: BinaryIO, data: bytes, old: os.stat_result | None) -> None:
    """Write the data to disk, with the owner and permissions of the old file."""
    file.write(data)
    file.flush()
    os.fsync(file.fileno())
    if old is not None:
        with contextlib.suppress(OSError, AttributeError):
            os.fchown(file.fileno(), old.st_uid, old.st_gid)
        if hasattr(os, "fchmod"):  # which Windows has only from Python 3.13 on
            os.fchmod(file.fileno(), old.st_mode & 0o7777)


def write_output(path: str, data: bytes) -> None:
    """Write the output of a command to ``path``, a file atomically, a device or a pipe as it is. Raises ``OSError``."""
    status = _status(path)
    if status is not None and stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(21, "is a folder", path)
    if (status is None or stat.S_ISREG(status.st_mode)) and not path.startswith(_STREAMS):
        write_atomically(path, data)
    else:
        # A pipe that no one reads is an error, nothing to wait for.
        flag = getattr(os, "O_NONBLOCK", 0)  # which Windows has not
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | flag)
        if flag:
            os.set_blocking(handle, True)
        with os.fdopen(handle, "wb") as file:
            file.write(data)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise OSError(0, str(error)) from None

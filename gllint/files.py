"""Writing files so that nobody ever sees half of one."""

from __future__ import annotations

import contextlib
import os
import tempfile


def write_atomically(path: str, data: bytes) -> None:
    """Replace a file's content at once, keeping its mode and owner. A link stays, its target is replaced.

    Raises ``OSError``, also for a file that is write-protected.
    """
    target = os.path.realpath(path)
    exists = os.path.exists(target)
    if exists and not os.access(target, os.W_OK):
        raise PermissionError(13, "write-protected", path)
    handle, temporary = tempfile.mkstemp(prefix=".gllint-", dir=os.path.dirname(target))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _take_over(target, temporary, exists)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _take_over(target: str, temporary: str, exists: bool) -> None:
    if exists:
        status = os.stat(target)
        with contextlib.suppress(OSError, AttributeError):
            os.chown(temporary, status.st_uid, status.st_gid)
        os.chmod(temporary, status.st_mode & 0o7777)
    else:
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)

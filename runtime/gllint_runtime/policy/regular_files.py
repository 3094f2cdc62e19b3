"""Reading what may be no plain file: a pipe, a device, a folder, or more than anybody means."""

from __future__ import annotations

import os
import stat

MAX_BYTES = 64_000_000
_READING = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
)


def read_bytes(path: str, limit: int = MAX_BYTES) -> bytes:
    """Return a file's bytes. Raises ``OSError``, also for what is no regular file or is larger than ``limit``.

    It never waits: a pipe without a writer would block the run for ever.
    """
    try:
        handle = os.open(path, _READING)
    except ValueError as error:  # a null byte in the name
        raise OSError(0, str(error)) from None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "not a regular file")
        if status.st_size > limit:
            raise OSError(0, f"too large to be read: {status.st_size} bytes")
        parts = []
        # It may have more than its size, if it is being written or reports none.
        while part := os.read(handle, status.st_size or limit):
            parts.append(part)
        return b"".join(parts)[:limit]
    finally:
        os.close(handle)

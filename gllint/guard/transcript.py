"""The messages that a guard let pass, one a line: a run for ``gllint audit``. Only its owner can read the file."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import time
from typing import Any

from gllint.errors import UsageError

_MOST_BYTES = 64_000_000


class Transcript:
    """A file of JSON Lines, at most 64 MB; ``None`` for its path: none."""

    def __init__(self, path: str | None) -> None:
        """Open the file, and name this session if the file has others.

        Raises :class:`UsageError` if it cannot be written.
        """
        self._file: int | None = None
        self._left = _MOST_BYTES
        # By which an audit distinguishes this session from those in the file already.
        self._session: str | None = None
        if path is None:
            return
        try:
            folder = os.path.dirname(path)
            if folder:
                os.makedirs(folder, mode=0o700, exist_ok=True)
            self._file = os.open(
                path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o600
            )
            if _ends_amid_a_line(path, self._file):
                os.write(self._file, b"\n")
        except OSError as error:
            raise UsageError(f"{path}: cannot be written: {error.strerror}") from None
        if os.fstat(self._file).st_size:
            self._session = _name_of_session()

    def write(self, sender: str, message: Any, session: str | None = None) -> None:
        """Write a message, with the name of its session if there are several; once the file is full, nothing more
        is written.
        """
        if self._file is None:
            return
        entry = {"at": round(time.time(), 3), "from": sender, "message": message}
        if (name := session or self._session) is not None:
            entry["session_id"] = name
        line = json.dumps(entry, ensure_ascii=True)
        data = f"{line}\n".encode()
        self._left -= len(data)
        try:
            if self._left >= 0:
                os.write(self._file, data)
                return
        except OSError:
            pass
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _ends_amid_a_line(path: str, file: int) -> bool:
    """Return whether the last line of the file is incomplete, because its writer was killed."""
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode) or status.st_size == 0:
        return False
    with contextlib.suppress(OSError), open(path, "rb") as old:
        old.seek(-1, os.SEEK_END)
        return old.read(1) != b"\n"
    return False


def default_path(state_folder: str | None) -> str | None:
    """Return a file of its own for this session in the user's state folder."""
    if state_folder is None:
        return None
    return os.path.join(state_folder, "guard", f"{_name_of_session()}.jsonl")


def _name_of_session() -> str:
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"

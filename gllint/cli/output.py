"""The output of the command: text, unbuffered, and an exit status."""

from __future__ import annotations

import sys

NO_FINDINGS, FOUND, WRONG, INTERRUPTED = 0, 1, 2, 130


def say(text: str, *, error: bool = False, end: str = "\n") -> None:
    """Write to standard output, or to standard error."""
    stream = sys.stderr if error else sys.stdout
    stream.write(text + end)
    stream.flush()

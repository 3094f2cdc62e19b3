"""Words to whoever runs the command, at once."""

from __future__ import annotations

import sys


def say(text: str, *, error: bool = False, end: str = "\n") -> None:
    """Write to standard output, or to standard error."""
    stream = sys.stderr if error else sys.stdout
    stream.write(text + end)
    stream.flush()

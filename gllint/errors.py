"""What stops a run: a wrong command or a wrong configuration. Everything else is a finding."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UsageError(Exception):
    """The command or the configuration is wrong. Printed as one line; the exit status is 2."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest of ``known``, or nothing where none is near."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f"; did you mean '{close[0]}'?" if close else ""

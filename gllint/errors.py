"""What stops a run: a wrong command or a wrong configuration. Everything else is a finding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_NEAR = 0.7


class UsageError(Exception):
    """The command or the configuration is wrong. Printed as one line; the exit status is 2."""


def nearest(word: str, candidates: Mapping[str, str] | Iterable[str], otherwise: str = "") -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest of ``candidates``, or ``otherwise`` where none is near.

    A mapping tells what to suggest for each candidate.
    """
    import difflib

    suggestions = candidates if isinstance(candidates, Mapping) else {name: name for name in candidates}
    folded = {name.casefold().replace("_", "-"): right for name, right in suggestions.items()}
    close = difflib.get_close_matches(word.casefold().replace("_", "-"), folded, n=1, cutoff=_NEAR)
    return f"; did you mean '{folded[close[0]]}'?" if close else otherwise

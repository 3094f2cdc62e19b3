"""The name that is nearest to one that nothing bears, in a time that does not grow with the number of names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

_MOST_COMPARED = 200  # names, letter by letter
_LONGEST = 100  # letters of a name that are looked at for what it has in common with others


def nearest_name(name: str, names: frozenset[str]) -> str | None:
    """Return the one of ``names`` that is spelt most like ``name``; ``None`` if none is much like it."""
    from difflib import get_close_matches  # a run that finds nothing needs none

    return next(iter(get_close_matches(name, _candidates(name, names), n=1)), None)


def _candidates(name: str, names: frozenset[str]) -> list[str]:
    """Return those of many names that have most in common with ``name``, in an order that is always the same."""
    if len(names) <= _MOST_COMPARED:
        return sorted(names)
    bearers = [several for part in _parts(name) if (several := _bearers(names).get(part))]
    counts: Counter[str] = Counter()
    for several in sorted(bearers, key=len):
        if counts and len(several) > _MOST_COMPARED:
            break  # what nearly all have distinguishes none
        counts.update(several[:_MOST_COMPARED])
    return sorted(counts, key=lambda other: (-counts[other], other))[:_MOST_COMPARED]


@lru_cache(maxsize=4)
def _bearers(names: frozenset[str]) -> dict[str, list[str]]:
    """For every three letters in a row the names that have them."""
    bearers: dict[str, list[str]] = {}
    for name in sorted(names):
        for part in _parts(name):
            bearers.setdefault(part, []).append(name)
    return bearers


def _parts(name: str) -> Iterator[str]:
    text = f" {name[:_LONGEST]} "
    return iter(dict.fromkeys(text[at : at + 3] for at in range(len(text) - 2)))

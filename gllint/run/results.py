"""What the rules say of each file, and what that rests on: both are kept for the next run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gllint.files.digest import digest
from gllint.run.cache import Store
from gllint_rules import Cut, Failure, Finding


@dataclass(slots=True)
class Dependencies:
    """Files outside the candidates that the answers rest on: what they held, and whether they were there and ours.

    Also the words that were looked for, and the files that hold them.
    """

    loaded: dict[str, bytes] = field(default_factory=dict)
    probed: dict[str, bool] = field(default_factory=dict)
    owned: dict[str, bool] = field(default_factory=dict)
    mentions: dict[str, frozenset[str]] = field(default_factory=dict)


@dataclass(slots=True)
class Result:
    """What the rules say of one file, before suppressions. ``notice`` says why they were not asked."""

    findings: tuple[Finding, ...] = ()
    failures: tuple[Failure, ...] = ()
    cuts: tuple[Cut, ...] = ()  # what came to light on the way, in whatever file
    notice: str = ""


class Kept:
    """The answers in the cache: each under the digest of what was asked, with the dependencies it rests on."""

    def __init__(self, store: Store, is_unchanged: Callable[[Dependencies], bool]) -> None:
        self._store, self._is_unchanged = store, is_unchanged

    def names(self, key: bytes) -> frozenset[bytes] | None:
        """Return the names by which tools may be used, ``None`` where they must be worked out."""
        found = self._read("names", key, frozenset)
        return None if found is None else frozenset(found[0])

    def keep_names(self, key: bytes, names: frozenset[bytes], dependencies: Dependencies) -> None:
        """Keep the names by which tools may be used."""
        self._store.write("names", (key, names, dependencies))

    def results(
        self, key: bytes, codes: frozenset[str], fixes: bool
    ) -> tuple[dict[str, Result], Dependencies] | None:
        """Return what the rules ``codes`` said, with the ``fixes`` or without; ``None`` where nothing holds."""
        found = self._read(_results_name(codes, fixes), key, dict)
        return None if found is None else (dict(found[0]), found[1])

    def keep_results(
        self,
        key: bytes,
        codes: frozenset[str],
        fixes: bool,
        results: Mapping[str, Result],
        dependencies: Dependencies,
    ) -> None:
        """Keep what the rules said, failures aside."""
        sound = {path: result for path, result in results.items() if not result.failures}
        self._store.write(_results_name(codes, fixes), (key, sound, dependencies))

    def _read(self, name: str, key: bytes, kind: type) -> tuple[Any, Dependencies] | None:
        match self._store.read(name):
            case (saved, value, Dependencies() as rests_on) if saved == key and isinstance(value, kind):
                return (value, rests_on) if self._is_unchanged(rests_on) else None
        return None


def _results_name(codes: frozenset[str], fixes: bool) -> str:
    kind = b"fixes" if fixes else b"findings"
    return "results-" + digest(kind, *(code.encode() for code in sorted(codes))).hex()

"""The baseline: findings that were there before, so that only new ones are reported.

Each old finding is kept with its fingerprint, not as a count for each file: one that is fixed while another
appears elsewhere does not cancel out. A finding counts as the old one where code, file, scope and line agree;
where the function around it was renamed (its old name is gone); or where its file was moved (the old one is gone).
An edited line is new: someone looked at it.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence

from gllint.errors import UsageError
from gllint.files.paths import relative
from gllint.files.writing import read_bytes, write_atomically
from gllint.shown import visible
from gllint.verdict.fingerprint import Fingerprint, fingerprints
from gllint_rules import Finding
from gllint_rules.tuples import NamedTuple

VERSION = 1
_FIELDS = ("code", "path", "scope", "text", "target")
_MOST = 1_000_000
_ADVICE = "write one with --write-baseline"
_OWN = "GL9"  # what gllint says about itself and of files that it cannot read
_LOOKS_LIKE_ONE = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"findings"\s*:')


class Compared(NamedTuple):
    """What is new, which are known, and which old ones are gone or of what the run did not judge.

    ``unjudged`` are those of ``unseen`` that were looked for, in vain, while something that matters was not read.
    """

    new: list[Finding]
    matches: list[Fingerprint]
    fixed: list[Fingerprint]
    unseen: list[Fingerprint]
    # Each with the paths of what was not read, and the reasons.
    unjudged: Sequence[tuple[Fingerprint, Sequence[tuple[str, str]]]] = ()


def takes(code: str) -> bool:
    """Say whether a baseline may contain findings of a code."""
    return not code.startswith(_OWN)


def read(path: str) -> list[Fingerprint]:
    """Return the findings in a baseline file. Raises :class:`UsageError` if it is missing or no baseline."""
    try:
        document = json.loads(read_bytes(path).decode("utf-8-sig"), object_pairs_hook=_object)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}; {_ADVICE}") from None
    except ValueError as error:
        raise UsageError(f"{path}: is not a baseline: {visible(str(error))}; {_ADVICE}") from None
    except RecursionError:
        raise UsageError(f"{path}: is not a baseline: nested too deeply; {_ADVICE}") from None
    version = document.get("version") if isinstance(document, dict) else None
    if type(version) is not int or version != VERSION or not isinstance(document.get("findings"), list):
        raise UsageError(f"{path}: is not a baseline of version {VERSION}; {_ADVICE}")
    old_entries: list[Fingerprint] = []
    for number, entry in enumerate(document["findings"], 1):
        try:
            base, count = _entry(entry, _MOST - len(old_entries))
        except ValueError as error:
            raise UsageError(f"{path}: is not a baseline: entry {number}: {error}; {_ADVICE}") from None
        old_entries += [base._replace(nth=nth) for nth in range(count)]
    return [entry for entry in old_entries if takes(entry.code)]


def target(path: str) -> list[Fingerprint]:
    """Return the findings in the baseline that is to be written.

    ``[]`` if it is missing, damaged or of another version.

    Raises :class:`UsageError` for a file that is no baseline, which would be overwritten.
    """
    if not os.path.exists(path):
        return []
    try:
        data = read_bytes(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from None
    if data.strip() and not looks_like_one(data):
        raise UsageError(f"{path}: exists and is not a baseline; remove it, or choose another file")
    try:
        return read(path)
    except UsageError:
        return []


def looks_like_one(data: bytes) -> bool:
    """Say whether the content of a file begins as a baseline does."""
    return _LOOKS_LIKE_ONE.match(data) is not None


def as_bytes(fingerprints: Iterable[Fingerprint]) -> bytes:
    """Return a baseline as JSON, one entry a line and sorted, so that diffs are small."""
    counts: dict[Fingerprint, int] = {}
    for fingerprint in fingerprints:
        base = fingerprint._replace(nth=0)
        counts[base] = counts.get(base, 0) + 1
    entries = [
        {**dict(zip(_FIELDS, base, strict=False)), **({"count": count} if count > 1 else {})}
        for base, count in sorted(counts.items(), key=lambda item: (item[0].path, *item[0]))
    ]
    lines = ",\n".join("    " + json.dumps(entry, ensure_ascii=False) for entry in entries)
    text = f'{{\n  "version": {VERSION},\n  "findings": [\n{lines}\n  ]\n}}\n' if entries else _EMPTY
    return text.encode("utf-8", "backslashreplace")


def write(path: str, fingerprints: Iterable[Fingerprint]) -> None:
    """Write a baseline. Raises :class:`UsageError`."""
    try:
        write_atomically(path, as_bytes(fingerprints))
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from None


_EMPTY = f'{{\n  "version": {VERSION},\n  "findings": []\n}}\n'


def compare(
    old: Sequence[Fingerprint],
    findings: Sequence[Finding],
    current: Sequence[Fingerprint],
    *,
    was_checked: Callable[[Fingerprint], bool],
    has_scope: Callable[[str, str], bool],
    exists: Callable[[str], bool],
) -> Compared:
    """Return which findings are new, and which old ones are fixed or were not seen.

    ``current`` are the fingerprints of ``findings``. ``was_checked`` says whether this run would have reported an
    old finding again; ``has_scope(path, scope)`` and ``exists(path)`` whether its function and its file are still
    there.
    """

    def lost_scope(entry: Fingerprint) -> bool:
        return not has_scope(entry.path, entry.scope)

    def missing_file(entry: Fingerprint) -> bool:
        return not exists(entry.path)

    # From the surest key to the least: the same place; the function renamed; the file renamed; both.
    matching = _Matching(old, current)
    matching.match(lambda f: f[:5], lambda _: True)
    matching.match(lambda f: (f.code, f.path, f.text, f.target), lost_scope)
    matching.match(lambda f: (f.code, f.scope, f.text, f.target), missing_file)
    matching.match(lambda f: (f.code, f.text, f.target), missing_file)
    matches = [current[index] for index in sorted(matching.pairs)]
    fixed: list[Fingerprint] = []
    unseen: list[Fingerprint] = []
    for index, entry in enumerate(old):
        if index not in matching.used:
            (fixed if was_checked(entry) or missing_file(entry) else unseen).append(entry)
    return Compared(
        new=[finding for index, finding in enumerate(findings) if index not in matching.pairs],
        matches=matches,
        fixed=fixed,
        unseen=unseen,
    )


class _Matching:
    """Pairs current findings with old ones, the surest ground first."""

    def __init__(self, old: Sequence[Fingerprint], current: Sequence[Fingerprint]) -> None:
        self._old, self._current = old, current
        self.pairs: dict[int, int] = {}
        self.used: set[int] = set()

    def match(
        self, key: Callable[[Fingerprint], tuple[object, ...]], may: Callable[[Fingerprint], bool]
    ) -> None:
        """Pair old and current entries with the same ``key``, each once; only old ones for which ``may`` is true."""
        free: dict[tuple[object, ...], deque[int]] = defaultdict(deque)
        for index, entry in enumerate(self._old):
            if index not in self.used and may(entry):
                free[key(entry)].append(index)
        for index, entry in enumerate(self._current):
            candidates = free.get(key(entry)) if index not in self.pairs else None
            if candidates:
                self.pairs[index] = candidates.popleft()
                self.used.add(self.pairs[index])


def entries(findings: Sequence[Finding], source: Callable[[str], str], folder: str) -> list[Fingerprint]:
    """Return what a baseline in ``folder`` contains of findings; ``source`` gives a file's text."""
    findings = [finding for finding in findings if takes(finding.code)]
    return fingerprints(findings, source, lambda path: relative(path, folder))


def _entry(entry: object, room: int) -> tuple[Fingerprint, int]:
    """Return the fingerprint of an entry of a baseline, and how many findings it stands for. Raises ValueError."""
    if not isinstance(entry, dict):
        raise ValueError("must be an object")
    for field in _FIELDS:
        if not isinstance(entry.get(field), str):
            raise ValueError(f"'{field}' must be a string" if field in entry else f"lacks '{field}'")
    count = entry.get("count", 1)
    if type(count) is not int or not 1 <= count <= room:
        raise ValueError(f"'count' must be a whole number from 1 to {room}")
    try:
        if "\0" in entry["path"]:
            raise ValueError
        os.fsencode(entry["path"])
    except ValueError:
        raise ValueError("'path' is not a file name") from None
    return Fingerprint(*(entry[field] for field in _FIELDS)), count


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Reject a key that is given twice, as a merge leaves it: which of the two would count?"""
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        [(twice, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"key '{twice}' is given twice")
    return mapping

"""The baseline: findings that were there before, so that only new ones are reported.

Each old finding is kept with its fingerprint, not as a count for each file: one that is fixed while another
appears elsewhere does not cancel out. A finding counts as the old one where code, file, scope and line agree;
where the calls on the line were renamed; where the line was edited but the message is the same; where the
function around it was renamed (its old name is gone); or where its file was moved (the old one is gone).
"""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from gllint.errors import UsageError
from gllint.files import write_atomically
from gllint.fingerprint import Fingerprint
from gllint_rules import Finding

VERSION = 1
_FIELDS = ("code", "path", "scope", "text", "target")
_MESSAGE = "message"
_CALLEE = re.compile(r"\b\w+(?=\s*\()")


@dataclass(slots=True)
class Compared:
    """What is new, how many are known, and which old ones are gone. ``kept`` is the baseline as it is now."""

    new: list[Finding]
    known: int
    fixed: list[Fingerprint]
    kept: list[Fingerprint]
    is_stale: bool


def read(path: str) -> list[Fingerprint]:
    """Read a baseline. Raises :class:`UsageError` where it is missing or is none."""
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be read: {error.strerror}; write one with --write-baseline"
        ) from None
    except ValueError as error:
        raise UsageError(f"{path}: is no baseline: {error}; write one with --write-baseline") from None
    if not isinstance(document, dict) or document.get("version") != VERSION:
        raise UsageError(f"{path}: is no baseline of version {VERSION}; write one with --write-baseline")
    try:
        entries = [(_fingerprint(entry), int(entry.get("count", 1))) for entry in document["findings"]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{path}: is no baseline: an entry lacks {error}") from None
    return [base._replace(nth=nth) for base, count in entries for nth in range(count)]


def write(path: str, fingerprints: Iterable[Fingerprint]) -> None:
    """Write a baseline, one entry a line, in an order that keeps diffs small. Raises :class:`UsageError`."""
    counts: dict[Fingerprint, int] = {}
    for fingerprint in fingerprints:
        base = fingerprint._replace(nth=0)
        counts[base] = counts.get(base, 0) + 1
    entries = [
        {
            **dict(zip(_FIELDS, base, strict=False)),
            _MESSAGE: base.message,
            **({"count": count} if count > 1 else {}),
        }
        for base, count in sorted(counts.items(), key=lambda item: (item[0].path, *item[0]))
    ]
    lines = ",\n".join("    " + json.dumps(entry, ensure_ascii=False) for entry in entries)
    text = f'{{\n  "version": {VERSION},\n  "findings": [\n{lines}\n  ]\n}}\n' if entries else _EMPTY
    try:
        write_atomically(path, text.encode("utf-8", "backslashreplace"))
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
    """Tell new findings from old ones.

    ``current`` are the fingerprints of ``findings``. ``was_checked`` says whether this run would have
    reported an old finding if it were still there; ``has_scope(path, scope)`` and ``exists(path)`` whether
    the function and the file of an old one are still there.
    """

    def lost_scope(entry: Fingerprint) -> bool:
        return not has_scope(entry.path, entry.scope)

    def lost_file(entry: Fingerprint) -> bool:
        return not exists(entry.path)

    matching = _Matching(old, current)
    matching.match(lambda f: f[:5], lambda _: True)
    matching.match(lambda f: (f.code, f.path, f.scope, _shape(f.text), _shape(f.target)), lambda _: True)
    matching.match(lambda f: (f.code, f.path, f.scope, f.message), lambda old: bool(old.message))
    matching.match(lambda f: (f.code, f.path, _shape(f.text), _shape(f.target)), lost_scope)
    matching.match(lambda f: (f.code, f.scope, f.text, f.target), lost_file)
    unmatched = [entry for index, entry in enumerate(old) if index not in matching.used]
    fixed = [entry for entry in unmatched if was_checked(entry) or lost_file(entry)]
    gone = set(map(id, fixed))
    known = [current[index] for index in sorted(matching.pairs)]
    return Compared(
        new=[finding for index, finding in enumerate(findings) if index not in matching.pairs],
        known=len(known),
        fixed=fixed,
        kept=known + [entry for entry in unmatched if id(entry) not in gone],
        is_stale=bool(fixed) or any(old[o][:5] != current[c][:5] for c, o in matching.pairs.items()),
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
        free: dict[tuple[object, ...], list[int]] = defaultdict(list)
        for index, entry in enumerate(self._old):
            if index not in self.used and may(entry):
                free[key(entry)].append(index)
        for index, entry in enumerate(self._current):
            candidates = free.get(key(entry)) if index not in self.pairs else None
            if candidates:
                self.pairs[index] = candidates.pop(0)
                self.used.add(self.pairs[index])


def relative_to(folder: str) -> Callable[[str], str]:
    """Return the function that names a file in a baseline of ``folder``."""
    return lambda path: os.path.relpath(path, folder).replace(os.sep, "/")


def _shape(text: str) -> str:
    return _CALLEE.sub("_", text)


def _fingerprint(entry: dict[str, object]) -> Fingerprint:
    code, path, scope, text, target = (_text(entry[field]) for field in _FIELDS)
    return Fingerprint(code, path, scope, text, target, message=_text(entry.get(_MESSAGE, "")))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a text")
    return value

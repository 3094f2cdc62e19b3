"""Applying fixes: in memory over several passes, then to disk, each file completely or not at all."""

from __future__ import annotations

import os
from bisect import bisect, insort
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from gllint.files.line_changes import patch
from gllint.files.source import Change, Offsets, Undecodable, changed, main_newline
from gllint.files.writing import check_inside, read_bytes, write_atomically
from gllint.run.engine import Engine, Outcome, by_path
from gllint.run.parsing import Unparsed, parse
from gllint.verdict.noqa import add_noqa
from gllint.verdict.text_comments import suppressing_text
from gllint_rules import Finding, Fix
from gllint_rules.catalogue.installed import package_of
from gllint_rules.check.own_rules import is_own
from gllint_rules.words.text_files import text_kind

MAX_PASSES = 20


@dataclass(slots=True)
class Fixed:
    """The outcome of fixing: the bytes of each file that changes, and the number of fixed findings by code."""

    outcome: Outcome
    old_data: dict[str, bytes] = field(default_factory=dict)
    new_data: dict[str, bytes] = field(default_factory=dict)
    applied: dict[str, Counter[str]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)


def fix(engine: Engine, paths: Sequence[str], unsafe: bool) -> Fixed:
    """Apply all fixes in memory until there are no more, and return the changed files.

    The files are read only once, so that each edit fits the bytes that were checked. Raises :class:`UsageError`.
    """
    fixed = Fixed(engine.check(paths))
    aliases = _links(fixed.outcome)
    stuck = set(aliases)
    unsettled = Unsettled()
    for _ in range(MAX_PASSES):
        checked = set(fixed.outcome.checked)
        wanted = {
            path: fixable
            for path, findings in by_path(fixed.outcome.findings).items()
            if path in checked
            and path not in stuck
            and (fixable := _wanted(unsettled.without(path, findings, fixed.errors), unsafe))
        }
        if not wanted:
            break
        if new := [path for path in wanted if path not in fixed.old_data]:
            for path in new:
                _pin(engine, path, fixed, stuck)
        else:
            unsettled.note(fixed.outcome.findings, wanted, unsafe)
            for path, fixable in wanted.items():
                changes, applied = chosen(engine.sources.of(path).text.source, [fix for _, fix in fixable])
                codes = Counter(fixable[number][0] for number in applied)
                _change(engine, path, changes, codes, fixed, stuck)
            for link, file in aliases.items():
                if file in fixed.old_data:
                    engine.put(link, engine.sources.of(file).raw)
        fixed.outcome = engine.check(paths)
    fixed.new_data = _new_data(engine, fixed)
    return fixed


_MOST_REPEATS = 2


class Unsettled:
    """The rules of installed packages whose fixes do not reduce the number of their findings in a file."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], list[int]] = {}
        self._named: set[tuple[str, str]] = set()

    def note(self, findings: Iterable[Finding], wanted: Collection[str], unsafe: bool) -> None:
        """Count the findings that are about to be fixed in the files ``wanted``."""
        counts = Counter(
            (f.path, f.code) for f in findings if f.path in wanted and is_own(f.code) and _wanted([f], unsafe)
        )
        for place, count in counts.items():
            self._counts.setdefault(place, []).append(count)

    def without(self, path: str, findings: Iterable[Finding], errors: list[str]) -> list[Finding]:
        """Return the findings, without those of rules whose fixes have no effect: each is added to ``errors`` once."""
        settled = []
        counts = Counter(finding.code for finding in findings)
        for finding in findings:
            place = (path, finding.code)
            repeats = self._counts.get(place, [])
            if len(repeats) < _MOST_REPEATS or counts[finding.code] < repeats[-1]:
                settled.append(finding)
            elif place not in self._named:
                self._named.add(place)
                errors.append(
                    f"{path}: the fix of {finding.code} ({package_of(finding.code)}) does not remove its finding:"
                    f" made {_MOST_REPEATS} times, then skipped"
                )
        return settled


def suppress(engine: Engine, paths: Sequence[str], narrow: Callable[[Outcome], None]) -> Fixed:
    """Add a suppression for each finding, in memory only, and return the changed files.

    ``narrow`` removes from the outcome the findings that need none. Raises :class:`UsageError`.
    """
    fixed = Fixed(engine.check(paths))
    stuck, checked = set(_links(fixed.outcome)), set(fixed.outcome.checked)
    for path in by_path(fixed.outcome.findings):
        if path in checked and path not in stuck:
            _pin(engine, path, fixed, stuck)
    if fixed.old_data:  # a file may have changed between the first check and the reading of its bytes
        fixed.outcome = engine.check(paths)
    narrow(fixed.outcome)
    for path, findings in by_path(fixed.outcome.findings).items():
        if path in fixed.old_data:
            source = engine.sources.of(path).text.source
            is_python = text_kind(path) is None
            changes = add_noqa(source, findings) if is_python else suppressing_text(path, source, findings)
            if changes:  # none in plain text and JSON, which have no comments
                _change(engine, path, changes, Counter({"noqa": len(changes)}), fixed, stuck)
    fixed.new_data = _new_data(engine, fixed)
    return fixed


def _new_data(engine: Engine, fixed: Fixed) -> dict[str, bytes]:
    return {
        path: now for path, data in fixed.old_data.items() if (now := engine.sources.of(path).raw) != data
    }


def write(engine: Engine, fixed: Fixed) -> list[str]:
    """Write the fixed files and return their paths. Files that cannot be written are added to ``fixed.errors``."""
    written: list[str] = []
    for path, data in fixed.new_data.items():
        error = _replace(engine, path, fixed.old_data[path], data)
        if error is None:
            written.append(path)
        else:
            fixed.errors.append(error)
    return written


def undo(engine: Engine, fixed: Fixed, written: Collection[str], paths: Sequence[str]) -> None:
    """Restore in memory the files that could not be written, and check again. Raises :class:`UsageError`."""
    for path in fixed.new_data.keys() - written:
        engine.put(path, fixed.old_data[path])
    fixed.outcome = engine.check(paths)


def _replace(engine: Engine, path: str, old_data: bytes, new_data: bytes) -> str | None:
    """Replace a file's content. Return the error if that failed, else ``None``.

    A file outside the project, to which only a link leads, is not written, nor one that changed in the meantime.
    """
    try:
        check_inside(path, engine.top_of(path))
        if read_bytes(path) != old_data:
            return f"{path}: changed while it was being fixed, so it was not written"
        write_atomically(path, new_data)
    except OSError as error:
        return f"{path}: cannot be written: {error.strerror}"
    return None


def apply(source: str, fixes: Iterable[Fix]) -> tuple[str, int]:
    """Apply the fixes that do not overlap; return the new source and the number of applied fixes."""
    changes, applied = chosen(source, fixes)
    return changed(source, changes), len(applied)


def chosen(source: str, fixes: Iterable[Fix]) -> tuple[list[Change], list[int]]:
    """Return the changes of the fixes that do not overlap an earlier one, and the positions of these fixes.

    A fix is applied completely or not at all. Edits that several fixes share (an import) are made once.
    """
    offsets = Offsets(source)
    choice: dict[tuple[int, int], str] = {}
    places: list[tuple[int, int]] = []  # those of `choice`, in order
    applied: list[int] = []
    for number, wanted in enumerate(fixes):
        edits = {offsets.of(edit.span): edit.content for edit in wanted.edits}
        if len(edits) == len(wanted.edits) and all(_fits(*edit, choice, places) for edit in edits.items()):
            for place in edits:
                if place not in choice:
                    insort(places, place)
            choice.update(edits)
            applied.append(number)
    newline = main_newline(source)
    return [
        (start, end, content.replace("\r\n", "\n").replace("\n", newline) if newline != "\n" else content)
        for (start, end), content in choice.items()
    ], applied


def diff(path: str, old_data: bytes | None, new_data: bytes) -> bytes:
    """Return the change as a patch for ``git apply`` and ``patch -p1``. ``old_data`` of a new file is ``None``."""
    name = path.encode("utf-8", "surrogateescape")
    tail = b"\t" if b" " in name else b""
    old_name, new_name = (_quoted(side + name) + tail for side in (b"a/", b"b/"))
    if old_data is None:
        old_name, old_data = b"/dev/null", b""
    lines = patch(_at_newlines(old_data), _at_newlines(new_data), old_name, new_name)
    return b"".join(
        line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n" for line in lines
    )


def _links(outcome: Outcome) -> dict[str, str]:
    """Map each link with findings to its target, if that is checked, too: only the target is fixed."""
    checked = set(outcome.checked)
    files = {path: os.path.realpath(path).replace(os.sep, "/") for path in by_path(outcome.findings)}
    return {path: file for path, file in files.items() if path != file and file in checked}


def _wanted(findings: Iterable[Finding], unsafe: bool) -> list[tuple[str, Fix]]:
    """Return the fixes to apply, each with the code of its finding: the safe ones, or all if ``unsafe``."""
    fixes = ((finding.code, finding.fix) for finding in findings)
    return [(code, fix) for code, fix in fixes if fix is not None and (unsafe or fix.applicability == "safe")]


def _pin(engine: Engine, path: str, fixed: Fixed, stuck: set[str]) -> None:
    """Store the bytes of a file from before the fixes. An unreadable file is reported and added to ``stuck``."""
    try:
        source = engine.sources.of(path)
        fixed.old_data[path], _ = source.raw, source.text
        engine.put(path, fixed.old_data[path])
    except (OSError, Undecodable) as error:
        stuck.add(path)
        fixed.old_data.pop(path, None)
        fixed.errors.append(f"{path}: cannot be read: {error}")


def _change(
    engine: Engine, path: str, changes: list[Change], codes: Counter[str], fixed: Fixed, stuck: set[str]
) -> None:
    """Change a file in memory and count the fixes by code, unless the result would not parse or cannot be encoded."""
    file = engine.sources.of(path)
    text, notebook = file.text, file.notebook
    source = changed(text.source, changes)
    try:
        code = text.encode(source)
        data = code if notebook is None else notebook.with_changes(changes)
    except ValueError as error:
        cannot_encode = f"its encoding {text.encoding} cannot encode the fix"
        why = cannot_encode if isinstance(error, UnicodeEncodeError) else error
        stuck.add(path)
        fixed.errors.append(f"{path}: cannot be fixed: {why}")
        return
    broken = parse(path, code) if source != text.source else None
    if source == text.source or isinstance(broken, Unparsed):
        stuck.add(path)
        if isinstance(broken, Unparsed) and not isinstance(parse(path, text.encode(text.source)), Unparsed):
            fixed.errors.append(
                f"{path}: a fix would have broken this file, so it was not changed ({_whose(path, fixed)})"
            )
        return
    fixed.applied[path] = fixed.applied.get(path, Counter()) + codes
    engine.put(path, data)


def _whose(path: str, fixed: Fixed) -> str:
    """Say whose defect a fix that breaks a file is: a package's, if it has a fix there, or gllint's."""
    findings = (f for f in fixed.outcome.findings if f.path == path and f.fix is not None)
    package_rules = sorted({f"{f.code} of {package_of(f.code)}" for f in findings if is_own(f.code)})
    return f"{' or '.join(package_rules)}, or a defect of gllint" if package_rules else "a defect of gllint"


def _fits(
    place: tuple[int, int], content: str, choice: dict[tuple[int, int], str], places: list[tuple[int, int]]
) -> bool:
    """Return whether an edit does not conflict with the edits chosen so far."""
    if place in choice:
        return choice[place] == content and place[0] == place[1]
    start, end = place
    return all(
        # Insertions at the edge of a replacement conflict with it: their order would be uncertain.
        start < end and other < upto and (end == other or upto == start)
        for other, upto in _touching(places, start, end)
    )


def _touching(places: list[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """Return the ``places`` that touch the range. They are sorted and do not overlap, so their ends are sorted, too."""
    first = stop = bisect(places, (start, end))
    while first and places[first - 1][1] >= start:
        first -= 1
    while stop < len(places) and places[stop][0] <= end:
        stop += 1
    return places[first:stop]


def _at_newlines(data: bytes) -> list[bytes]:
    # bytes.splitlines would also end a line at a lone "\r", which git does not.
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _quoted(name: bytes) -> bytes:
    r"""Return a file name as git quotes it in a patch: ``a"b`` → ``"a\"b"``; a plain name is unchanged."""
    if not any(byte < 32 or byte in b'"\\\x7f' for byte in name):
        return name
    body = b"".join(
        b"\\%03o" % b if b < 32 or b == 127 else b"\\" + bytes([b]) if b in b'"\\' else bytes([b])
        for b in name
    )
    return b'"' + body + b'"'

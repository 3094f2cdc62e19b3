"""Only what changed: the lines that git says are new since a revision."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from gllint.errors import UsageError, nearest
from gllint.files.paths import relative
from gllint.files.writing import repository_of
from gllint_rules import Finding

if TYPE_CHECKING:
    from gllint.files.notebooks import Place

_Cell: TypeAlias = "Callable[[str, int], Place | None]"
_HUNK = re.compile(rb"@@ -\S+ \+(\d+)(?:,(\d+))? @@")
# A repository that came with its .git may name programs there, of which git runs none for us, and fetches nothing.
_WITHOUT_PROGRAMS = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
_WITHOUT_NETWORK = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
_FILTER = re.compile(r"(filter\..+)\.[^.]+", re.DOTALL)


class Changes:
    """The changed lines of the files of one repository since ``revision``. Raises :class:`UsageError`.

    That is the merge base with ``REV`` (or ``REV...``), as a pull request is shown; ``REV..`` is the tip itself.
    """

    def __init__(self, revision: str, folder: str) -> None:
        self._top = os.fsdecode(_git(folder, "rev-parse", "--show-toplevel")).rstrip("\n")
        self._lines = _changed_lines(self._diff(_commit(folder, revision)))
        listed = _git(self._top, "ls-files", "--others", "--exclude-standard", "-z")
        self._untracked = {os.fsdecode(name) for name in listed.split(b"\0") if name}

    def touch(self, finding: Finding, cell: _Cell) -> bool:
        """Return whether a line of a finding, or of its evidence, has changed."""

        def in_file(path: str, line: int) -> int:
            return at.file_line if (at := cell(path, line)) is not None else line

        places = [(finding.path, finding.span), *((note.path, note.span) for note in finding.notes)]
        return any(
            self._is_new(path, in_file(path, span.line), in_file(path, span.end_line))
            for path, span in places
        )

    def _is_new(self, path: str, first: int, last: int) -> bool:
        path = relative(os.path.realpath(path), os.path.realpath(self._top))
        if path in self._untracked:
            return True
        lines = self._lines.get(path, ())
        return any(start <= last and first < start + count for start, count in lines)

    def _diff(self, commit: str) -> bytes:
        return _git(
            self._top, *_without_filters(self._top), "-c", "core.quotePath=false", "diff", "--unified=0", "--no-color",
            "--no-ext-diff", "--no-textconv", "--text", "--ignore-submodules=all", "--src-prefix=a/",
            "--dst-prefix=b/", "--find-renames", commit, "--",
        )  # fmt: skip


def _without_filters(folder: str) -> list[str]:
    """Return the git options that switch off the filters in the repository's own configuration, which may run any
    program.
    """
    options: list[str] = []
    names: dict[str, None] = {}
    for scope in ("--local", "--worktree"):
        listed = _run(
            folder, "config", scope, "--includes", "-z", "--name-only", "--get-regexp", r"^filter\."
        )
        keys = os.fsdecode(listed.stdout).split("\0")
        names.update((match[1], None) for key in keys if (match := _FILTER.fullmatch(key)))
    for name in names:
        if "=" in name:
            raise UsageError(f"--since: the git configuration has a filter with an invalid name: {name}")
        for option in ("clean=", "smudge=", "process=", "required=false"):
            options += ["-c", f"{name}.{option}"]
    return options


def only_changed(
    findings: Sequence[Finding], revision: str, folders: Iterable[str], cell: _Cell
) -> list[Finding]:
    """Return the findings on lines that changed since ``revision``, in the repositories of ``folders``.

    ``cell`` gives the cell of a line of a notebook. Raises :class:`UsageError` for a revision that a repository
    does not have.
    """
    repositories: dict[str | None, Changes] = {}
    results: list[Finding] = []
    for folder in folders:
        # A wrong revision is an error also where there is nothing to report.
        _changes(repositories, folder, revision)
    for finding in findings:
        if _changes(repositories, os.path.dirname(finding.path), revision).touch(finding, cell):
            results.append(finding)
    return results


def _changes(repositories: dict[str | None, Changes], folder: str, revision: str) -> Changes:
    top = repository_of(folder)
    if top not in repositories:
        repositories[top] = Changes(revision, folder)
    return repositories[top]


def _changed_lines(diff: bytes) -> dict[str, list[tuple[int, int]]]:
    """Return the ranges of new lines in a diff, by file: ``"@@ -1 +3,2 @@"`` → ``[(3, 2)]``, first line and count."""
    ranges: dict[str, list[tuple[int, int]]] = {}
    current: list[tuple[int, int]] = []
    pending = 0
    for line in diff.split(b"\n"):
        if pending and line[:1] in (b"+", b"-"):
            pending -= 1
            continue
        hunk = _HUNK.match(line)
        if hunk:
            count = int(hunk[2]) if hunk[2] is not None else 1
            current.append((int(hunk[1]), count))
            pending = _hunk_size(line)
        elif line.startswith(b"+++ "):
            current = ranges.setdefault(_name(line[4:]), [])
    return ranges


def _hunk_size(line: bytes) -> int:
    counts = re.match(rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@", line)
    assert counts is not None
    return sum(int(count) if count is not None else 1 for count in counts.groups())


def _name(quoted: bytes) -> str:
    name = quoted.rstrip(b"\t\r")
    if name.startswith(b'"'):
        name = name[1:-1].decode("unicode_escape").encode("latin-1")
    return os.fsdecode(name.removeprefix(b"b/"))


def _commit(folder: str, revision: str) -> str:
    """Return the commit to compare with: the merge base of HEAD and ``REV``, or for ``REV..`` the revision itself.

    Raises :class:`UsageError` if they have no commit in common.
    """
    if revision.endswith("..") and not revision.endswith("..."):
        return _tip(folder, revision.removesuffix(".."))
    name = revision.removesuffix("...")
    done = _run(folder, "merge-base", _tip(folder, name), "HEAD")
    if done.returncode:
        raise UsageError(
            f"--since: '{name}' and HEAD have no commit in common; in a shallow clone fetch more of the history, "
            f"or compare with its tip: --since {name}.."
        )
    return done.stdout.decode().strip()


def _tip(folder: str, revision: str) -> str:
    """Return the commit that a revision names. Raises :class:`UsageError`."""
    done = _run(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}")
    if done.returncode:
        references = os.fsdecode(_git(folder, "for-each-ref", "--format=%(refname:short)")).split()
        hint = (
            "; nothing is committed yet" if revision == "HEAD" else nearest(revision, ["HEAD", *references])
        )
        raise UsageError(f"--since: git does not know the revision '{revision}'{hint}")
    return done.stdout.decode().strip()


def _git(folder: str, *arguments: str) -> bytes:
    done = _run(folder, *arguments)
    if done.returncode:
        messages = os.fsdecode(done.stderr).strip().splitlines() or ["git failed"]
        fatal = next((line for line in messages if line.startswith(("fatal:", "error:"))), messages[0])
        raise UsageError(f"--since: {fatal}")
    return done.stdout


def _run(folder: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Return the result of a git command, run without hooks, filters and network."""
    try:
        return subprocess.run(
            ["git", "-C", folder, *_WITHOUT_PROGRAMS, *arguments],
            env={**os.environ, **_WITHOUT_NETWORK},
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        raise UsageError("--since: git is not installed") from None

"""``gllint audit``: recorded runs, judged number by number."""

from __future__ import annotations

import gc
import io
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TextIO, cast

from gllint.cli.explaining import config_for
from gllint.cli.output import FOUND, NO_FINDINGS, WRONG, say
from gllint.errors import UsageError
from gllint.files.paths import absolute, relative
from gllint.files.records import entries
from gllint.files.writing import way_out, write_output
from gllint.report.audit import Judged, Totals, excerpt, faults_of, render
from gllint.run.progress import Progress
from gllint.shown import visible
from gllint.verdict import baseline
from gllint.verdict.fingerprint import Fingerprint
from gllint_rules.tuples import NamedTuple
from gllint_runtime.audit.audit import judged_records
from gllint_runtime.audit.formats import FormatError, Reader, Record
from gllint_runtime.audit.judgement import Answer, Number
from gllint_runtime.audit.mapping import MappedReader
from gllint_runtime.policy.keywords import Mode
from gllint_runtime.policy.settings import Policy

_SUFFIXES = (".json", ".jsonl", ".ndjson")
_ENDINGS = ", ".join(_SUFFIXES)
# Compressed or rotated runs (`runs.jsonl.gz`, `runs.jsonl.1`), not other files (`runs.jsonl.lock`).
_MAY_BE_RUN = re.compile(r"\.(?:jsonl?|ndjson)\.(?:gz|bz2|xz|zst|lz4|br|zip|[0-9-]+|old|bak)$", re.IGNORECASE)
_MOST_TROUBLES = 20  # of one file that are reported


class Request(NamedTuple):
    """The arguments of the command."""

    runs: tuple[str, ...]
    format: str = "auto"
    output_format: str = "text"
    output_file: str | None = None
    baseline: str | None = None
    write_baseline: str | None = None
    config: str | None = None
    isolated: bool = False
    quiet: bool = False
    stats: bool = False
    judge: str | None = None
    map: str | None = None


def run(request: Request) -> int:
    """Judge the runs, report them, and return the exit status. Raises :class:`UsageError`."""
    policy = config_for(".", request.config, request.isolated).rules.policy
    gc.enable()  # a long run: what a conversation leaves behind has cycles
    return _Audit(request, policy).run()


class _Audit:
    def __init__(self, request: Request, policy: Policy) -> None:
        self._request, self._policy = request, policy
        self._totals = Totals(_modes(request.judge))
        self._troubles = 0
        self._progress = Progress(is_enabled=not request.quiet)
        self._known = _Known(request.baseline)
        self._found: list[Fingerprint] = []
        self._reader = _reader(request.map)

    def run(self) -> int:
        """Audit all files, write the output, and return the exit status."""
        request = self._request
        if request.write_baseline is not None:
            baseline.target(request.write_baseline)
        pieces = render(self._judged(), request.output_format)
        if request.output_file is None or request.output_file == "-":
            for piece in pieces:
                self._progress.clear()
                sys.stdout.write(piece)
        else:
            # The output is joined in memory: a page is cut to a limit, and JSON is not used for very long runs.
            text = "".join(pieces)
            try:
                write_output(os.path.abspath(request.output_file), text.encode("utf-8", "backslashreplace"))
            except OSError as error:
                raise UsageError(f"{request.output_file}: cannot be written: {error.strerror}") from None
        if self._totals.conversations and not self._totals.answers and not self._totals.unread:
            self._tell("nothing was checked: the recordings contain no answer of an assistant")
        self._progress.clear()
        sys.stdout.flush()
        if request.write_baseline is not None:
            baseline.write(request.write_baseline, self._found)
            count = len(self._found)
            noun = "number" if count == 1 else "numbers"
            self._note(f"Wrote {count:,} {noun} to {visible(request.write_baseline)}.")
        self._note(self._totals.line())
        if request.stats:
            is_json = request.output_format in ("json", "json-lines")
            self._note(json.dumps(self._totals.stats()) if is_json else self._totals.stats_text().rstrip())
        if request.judge is not None:
            self._note(self._totals.judgement_text())
        if self._known.count:
            noun = "number is" if self._known.count == 1 else "numbers are"
            self._note(f"{self._known.count:,} {noun} known from the baseline.")
        if self._troubles or self._totals.unread or self._totals.unread_results:
            return WRONG
        return FOUND if self._totals.faults and request.write_baseline is None else NO_FINDINGS

    def _note(self, text: str) -> None:
        if not self._request.quiet:
            say(text, error=self._request.output_format != "text" or self._request.output_file is not None)

    def _judged(self) -> Iterator[Judged]:
        """Yield each conversation with its verdicts and the findings that are not in the baseline."""
        for path in self._files():
            count, troubles = 0, self._troubles
            for conversation in judged_records(
                self._records(path), self._policy, self._reader, tries_invented=self._request.stats
            ):
                count += 1
                faults = faults_of(conversation)
                if self._request.write_baseline is not None:
                    self._found += _fingerprints(
                        path, faults, os.path.dirname(absolute(self._request.write_baseline))
                    )
                judged = Judged(path, conversation, self._known.new(path, faults))
                self._totals.add(judged)
                yield judged
            if not count and troubles == self._troubles:
                self._tell(f"{path}: contains no conversation")

    def _files(self) -> Iterator[str]:
        """Yield the files to audit: those passed, and the recorded runs in folders. Raises :class:`UsageError`."""
        for run in self._request.runs:
            if run != "-" and not os.path.exists(run):
                raise UsageError(f"{run}: no such file or folder")
        for run in self._request.runs:
            if run == "-" or not os.path.isdir(run):
                yield run
                continue
            names = sorted(self._names(run))
            if not names:
                raise UsageError(f"{run}: contains no recorded run ({_ENDINGS})")
            for name in names:
                # An unreadable file does not stop the rest; a pipe could block for ever.
                if os.path.isfile(name) and os.access(name, os.R_OK):
                    yield name
                else:
                    self._tell(f"{name}: cannot be read")

    def _names(self, run: str) -> Iterator[str]:
        """Yield the files below a folder with the suffix of a recorded run, and report other files that may be one."""
        for folder, folders, files in os.walk(run, onerror=self._tell_of_folder):
            for name in files:
                if name.lower().endswith(_SUFFIXES):
                    yield os.path.join(folder, name)
                elif _MAY_BE_RUN.search(name):
                    self._tell(
                        f"{os.path.join(folder, name)}: not read: its name must end in one of {_ENDINGS}"
                    )
            for path in (os.path.join(folder, name) for name in folders):
                if os.path.islink(path) and way_out(path, run) is not None:
                    self._tell(
                        f"{path}: not read: this link leads out of the folder; pass it to have it read"
                    )

    def _tell_of_folder(self, error: OSError) -> None:
        self._tell(f"{error.filename}: cannot be listed: {error.strerror}")

    def _tell(self, trouble: str) -> None:
        """Report what was not judged, which makes the exit status 2."""
        self._troubles += 1
        self._progress.clear()
        say(f"gllint: {visible(trouble)}", error=True)

    def _records(self, path: str) -> Iterator[list[Record]]:
        """Yield the records of a file. What cannot be read is reported and skipped."""
        troubles = 0
        with _opened(path) as stream:
            self._progress.expect("auditing", _size(path))
            for place, value, trouble in entries(stream, lambda read: self._progress.tick(read)):
                if trouble is None:
                    try:
                        records = self._reader.read(value)
                        del value  # a whole file may be one value, which would be in memory twice
                        yield records
                        continue
                    except FormatError as error:
                        trouble = str(error)
                    except RecursionError:
                        trouble = "it is nested too deeply"
                troubles += 1
                if troubles <= _MOST_TROUBLES:
                    self._tell(f"{path}: {place}: {trouble}")
        if troubles > _MOST_TROUBLES:
            self._tell(f"{path}: {troubles - _MOST_TROUBLES:,} more like these")


def _modes(names: str | None) -> tuple[Mode, ...]:
    """Return the two modes that ``--judge`` compares. Raises :class:`UsageError`."""
    modes = tuple(names.split(",")) if names is not None else ()
    if names is not None and sorted(modes) != ["claims", "sourced"]:
        raise UsageError(f"--judge: must be two modes, as in `--judge claims,sourced`, got {names!r}")
    return cast("tuple[Mode, ...]", modes)


def _reader(path: str | None) -> Reader:
    """Return the reader of recordings, with the paths of ``--map``. Raises :class:`UsageError`."""
    if path is None:
        return Reader()
    with _opened(path) as stream:
        try:
            return MappedReader(stream.read())
        except (FormatError, UnicodeDecodeError) as error:
            raise UsageError(f"{path}: {error}") from None


def _size(path: str) -> int:
    try:
        return 0 if path == "-" else os.path.getsize(path)
    except OSError:
        return 0


def _opened(path: str) -> TextIO:
    if path == "-":
        return io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="strict")
    try:
        return open(path, encoding="utf-8", errors="strict")
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


# ---------------------------------------------------------------------------------------------- the baseline


def _fingerprints(path: str, faults: Sequence[tuple[Answer, Number]], folder: str) -> Iterator[Fingerprint]:
    shown = path if path == "-" else relative(absolute(path), folder)
    for answer, number in faults:
        yield Fingerprint(number.verdict, shown, number.conversation, excerpt(answer, number), number.text)


class _Known:
    """The faults of a baseline, each as often as the baseline has it; ``count`` is how many were seen again."""

    def __init__(self, path: str | None) -> None:
        self.count = 0
        self._folder = os.path.dirname(absolute(path)) if path else ""
        entries = baseline.read(path) if path else []
        self._entries = Counter(entry._replace(nth=0) for entry in entries)

    def new(self, path: str, faults: list[tuple[Answer, Number]]) -> list[tuple[Answer, Number]]:
        """Return the faults that are not in the baseline, and count the others."""
        if not self._entries:
            return faults
        new = []
        for fault, entry in zip(faults, _fingerprints(path, faults, self._folder), strict=True):
            if self._entries[entry] > 0:
                self._entries[entry] -= 1
                self.count += 1
            else:
                new.append(fault)
        return new

"""The flake8 plugin: the findings of ``gllint check`` as flake8 reports them.

flake8 hands over one file at a time, in several processes. Each process keeps one engine, and with it what it
learnt of the projects; between processes the cache keeps it. A file that the screen rejects costs a read.
"""

from __future__ import annotations

import argparse
import ast
import mmap
import multiprocessing
import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from gllint import __version__
from gllint.errors import UsageError
from gllint.files.discover import is_excluded, is_left_out
from gllint.files.paths import absolute
from gllint.files.source import as_bytes
from gllint.report import in_cell, in_file
from gllint.run.engine import Engine, Options, Outcome
from gllint.shown import failure_text, visible
from gllint_rules import RULES, Finding

if TYPE_CHECKING:
    from gllint.run.baselines import Baselines

Report = tuple[int, int, str, type["Plugin"]]
# How flake8 reports a file that it cannot open or parse.
_UNREADABLE, _UNPARSABLE = "E902", "E999"


class Plugin:
    """What flake8 makes for each file and runs.

    ``lines`` are the file as flake8 read it; they count only for standard input, everything else is read
    from disk, byte for byte as ``gllint check`` reads it.
    """

    name = "gllint"
    version = __version__
    _engine: ClassVar[Engine | None] = None
    _baselines: ClassVar[Baselines | None] = None
    _paths: ClassVar[tuple[str, ...]] = ()  # absolute; empty where flake8 reads standard input
    _stdin: ClassVar[str] = "stdin"
    _silenced: ClassVar[frozenset[str]] = (
        frozenset()
    )  # those of flake8's own codes that its user does not see

    # Whether this run reported what a file leaves unchecked. The processes that flake8 forks share the byte.
    _has_reported: ClassVar[mmap.mmap] = mmap.mmap(-1, 1)

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        self._filename, self._lines = filename, lines

    @classmethod
    def parse_options(cls, manager: Any, options: argparse.Namespace, args: Sequence[str]) -> None:
        """Take over flake8's files and options; it calls this in each of its processes."""
        named = getattr(options, "filenames", None) or args or ["."]
        cls._paths = tuple(absolute(path) for path in named if path != "-")
        cls._stdin = getattr(options, "stdin_display_name", None) or "stdin"
        noqa = not getattr(options, "disable_noqa", False)
        cls._engine = engine = Engine(Options(jobs=1, noqa=noqa, take_turns=True, fixes=False))
        cls._baselines = None
        if multiprocessing.parent_process() is None:
            cls._has_reported[0] = 0
        cls._silenced = _silenced(options)
        _report_unreadable_files()
        try:
            engine.places.ask_about([path for path in cls._paths if os.path.exists(path)])
            engine.announce([path for path in cls._paths if os.path.isfile(path)])
            if (
                cls._paths
                and multiprocessing.parent_process() is None
                and not cls._silenced.issuperset(RULES)
            ):
                cls._tell_notices(engine, _files_of(options, named))
        except UsageError as error:
            raise _refusal(error) from None

    def run(self) -> Iterator[Report]:
        """Yield line, column (from 0), text and type of each finding in the file."""
        engine = self._engine or Engine(Options(jobs=1, take_turns=True, fixes=False))
        path = absolute(self._filename)
        if not self._paths and self._filename in ("-", self._stdin):
            engine.put(path, as_bytes("".join(self._lines)))
        if not engine.lists(path) and not self._would_be_checked(path, engine):
            return
        outcome = engine.check_file(path, is_named=path in self._paths or engine.sources.holds(path))
        if outcome.findings and engine.config_of(path).baseline_file is not None:
            self._leave_out(outcome, engine)
        for failure in outcome.failures:  # of which the file's own line knows nothing
            yield 1, 0, visible(failure_text(failure)), type(self)
        for notice in outcome.notices:
            _say(notice.text(_shown))
        gaps = engine.unseen(outcome, _shown)
        if not gaps.is_empty and not self._has_reported[0]:
            self._has_reported[0] = 1
            _say(f"{gaps.line()}. `gllint check` counts this for all files.")
        if outcome.findings and self._would_be_checked(path, engine):
            self._tell_hidden(path, engine, outcome.findings)
            for finding in outcome.findings:
                cell = engine.sources.cell(path, finding.span.line)
                place = in_file(finding.span, cell)
                text = f"{finding.code} {visible(in_cell(finding.message, finding.span, cell))}"
                yield place.line, place.column - 1, text, type(self)

    @classmethod
    def reports_instead(cls, filename: str, lines: Sequence[str], codes: set[str]) -> Iterator[Report]:
        """Yield the findings for a file that flake8 itself reports as unreadable, with ``codes`` of its own.

        Nothing if the user sees those codes: it would be said twice.
        """
        if not codes & cls._silenced:
            return
        path = absolute(filename)
        if path in cls._paths and not os.path.lexists(path):
            yield 1, 0, "GL900 no such file or folder", cls
        else:
            yield from cls(ast.Module([], []), filename, lines).run()

    @classmethod
    def _tell_notices(cls, engine: Engine, paths: Sequence[str]) -> None:
        """Report, once and before flake8 begins, what is passed over on the way to the files ``paths``."""
        refusals = () if _UNPARSABLE in cls._silenced else paths  # by flake8 itself
        for notice in engine.notices(paths, cls._paths):
            if (notice := notice.without(refusals) if notice.details else notice).paths:
                _say(notice.text(_shown))

    @classmethod
    def _leave_out(cls, outcome: Outcome, engine: Engine) -> None:
        """Remove the findings that are in the configured baseline from ``outcome``."""
        from gllint.run.baselines import Baselines

        if cls._baselines is None:
            cls._baselines = Baselines(engine)
        try:
            cls._baselines.leave_out(outcome)
        except UsageError as error:
            raise _refusal(error) from None

    def _tell_hidden(self, path: str, engine: Engine, findings: Sequence[Finding]) -> None:
        """Print which findings flake8 will hide, because a text in their line looks like a ``noqa`` comment."""
        from gllint.verdict.suppress import Comments, may_suppress

        source = engine.sources.code(path)
        if not engine.options.noqa or not may_suppress(source):
            return
        comments = Comments(source)
        for finding in filter(comments.flake8_hides, findings):
            at = f"{path}:{finding.span.line}"
            _say(f"{at}: flake8 takes a text for `noqa` and hides {finding.code}; `gllint check` reports it")

    def _would_be_checked(self, path: str, engine: Engine) -> bool:
        """Say whether ``gllint check`` would check the file too: what flake8 excludes is its own."""
        place = engine.place_of(path)
        if not self._paths or path in self._paths:
            return not (place.config.force_exclude and is_excluded(path, place))
        tops = [top for top in self._paths if path.startswith(top.rstrip("/") + "/")]
        return not is_left_out(path, max(tops, key=len, default=place.root), engine.places)


def _refusal(error: UsageError) -> Exception:
    """Return the exception that makes flake8 end with a text."""
    from flake8.exceptions import ExecutionError  # type: ignore[import-untyped]

    refusal: Exception = ExecutionError(f"gllint: {error}")
    return refusal


def _silenced(options: argparse.Namespace) -> frozenset[str]:
    """Return our codes, and flake8's for unreadable files, that it does not report under these options."""
    from flake8.style_guide import Decision, DecisionEngine  # type: ignore[import-untyped]

    try:
        decide = DecisionEngine(options).decision_for
        codes = (_UNREADABLE, _UNPARSABLE, *RULES)
        return frozenset(code for code in codes if decide(code) is not Decision.Selected)
    except AttributeError:  # not all options are there: someone else calls
        return frozenset()


def _files_of(options: argparse.Namespace, named: Sequence[str]) -> list[str]:
    """Return the absolute paths of the files that flake8 is about to check."""
    from flake8.discover_files import expand_paths  # type: ignore[import-untyped]

    try:
        excluded = (*options.exclude, *options.extend_exclude)
        patterns, stdin = options.filename, options.stdin_display_name
    except AttributeError:
        return []
    files = expand_paths(paths=named, stdin_display_name=stdin, filename_patterns=patterns, exclude=excluded)
    return [absolute(file) for file in files if file != "-" and os.path.exists(file)]


def _report_unreadable_files() -> None:
    """Make flake8 report our findings for files that it cannot open or parse, about which it asks no plugin."""
    from flake8.checker import FileChecker  # type: ignore[import-untyped]

    original = FileChecker.run_checks
    if getattr(original, "by_gllint", False):
        return

    def run_checks(self: Any) -> Any:
        """Run flake8's own checks, and report our findings in place of its error about an unreadable file."""
        result = original(self)
        codes = {code for code, *_ in self.results} & {_UNREADABLE, _UNPARSABLE}
        if self.processor is not None:
            codes.discard(
                _UNREADABLE
            )  # the file was read, so that plugins were run: the code is about its tokens
        if codes:
            lines = self.processor.lines if self.processor is not None else ()
            for line, column, text, _ in Plugin.reports_instead(self.display_name, lines, codes):
                self.report(None, line, column, text)
        return result

    run_checks.by_gllint = True  # type: ignore[attr-defined]
    FileChecker.run_checks = run_checks


def _shown(path: str) -> str:
    """Return a path relative to the current folder where it lies below it."""
    return path.removeprefix(absolute(".").rstrip("/") + "/")


def _say(text: str) -> None:
    print(f"gllint: {visible(text)}", file=sys.stderr)

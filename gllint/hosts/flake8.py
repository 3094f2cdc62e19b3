"""The flake8 plugin: the findings of ``gllint check`` as flake8 reports them.

flake8 hands over one file at a time, in several processes. Each process keeps one engine, and with it what it
learnt of the projects; between processes the cache carries it. A file that the screen refuses costs a read.
"""

from __future__ import annotations

import argparse
import ast
import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from gllint import __version__
from gllint.errors import UsageError
from gllint.files.discover import is_excluded, is_left_out
from gllint.files.places import absolute
from gllint.files.source import as_bytes
from gllint.run.engine import Engine, Options, Outcome
from gllint.shown import failure_text, visible
from gllint_rules import Finding

if TYPE_CHECKING:
    from gllint.run.baselines import Baselines

Report = tuple[int, int, str, type["Plugin"]]


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

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        self._filename, self._lines = filename, lines

    @classmethod
    def parse_options(cls, manager: Any, options: argparse.Namespace, args: Sequence[str]) -> None:
        """Take over what flake8 was asked to check and how; called in each of its processes."""
        named = getattr(options, "filenames", None) or args or ["."]
        cls._paths = tuple(absolute(path) for path in named if path != "-")
        cls._stdin = getattr(options, "stdin_display_name", None) or "stdin"
        noqa = not getattr(options, "disable_noqa", False)
        cls._engine = engine = Engine(Options(jobs=1, noqa=noqa, take_turns=True, fixes=False))
        cls._baselines = None
        try:
            engine.places.ask_about([path for path in cls._paths if os.path.exists(path)])
            engine.announce([path for path in cls._paths if os.path.isfile(path)])
        except UsageError as error:
            raise _refusal(error) from None

    def run(self) -> Iterator[Report]:
        """Yield line, column (from 0), text and type of each finding."""
        engine = self._engine or Engine(Options(jobs=1, take_turns=True, fixes=False))
        path = absolute(self._filename)
        if not self._paths and self._filename in ("-", self._stdin):
            engine.put(path, as_bytes("".join(self._lines)))
        if not engine.lists(path) and not self._would_be_checked(path, engine):
            return
        outcome = engine.check_file(path)
        if outcome.findings and engine.config_of(path).baseline_file is not None:
            self._leave_out(outcome, engine)
        for failure in outcome.failures:
            print(f"gllint: {visible(failure_text(failure, path))}", file=sys.stderr)
        for notice in outcome.notices:
            print(f"gllint: {visible(path)} not checked, {visible(notice.why)}", file=sys.stderr)
        if outcome.findings and self._would_be_checked(path, engine):
            self._tell_hidden(path, engine, outcome.findings)
            for finding in outcome.findings:
                text = f"{finding.code} {visible(finding.message)}"
                yield finding.span.line, finding.span.column - 1, text, type(self)

    @classmethod
    def _leave_out(cls, outcome: Outcome, engine: Engine) -> None:
        """Take out what the baseline holds that the configuration names."""
        from gllint.run.baselines import Baselines

        if cls._baselines is None:
            cls._baselines = Baselines(engine)
        try:
            cls._baselines.leave_out(outcome)
        except UsageError as error:
            raise _refusal(error) from None

    def _tell_hidden(self, path: str, engine: Engine, findings: Sequence[Finding]) -> None:
        """Tell of findings that flake8 will leave out because of a text that reads like a comment."""
        from gllint.verdict.suppress import Comments, may_suppress

        source = engine.sources.code(path)
        if not engine.options.noqa or not may_suppress(source):
            return
        comments = Comments(source)
        for finding in filter(comments.flake8_hides, findings):
            text = f"{path}:{finding.span.line}: a text hides {finding.code} from flake8; `gllint check` tells it"
            print(f"gllint: {visible(text)}", file=sys.stderr)

    def _would_be_checked(self, path: str, engine: Engine) -> bool:
        """Say whether ``gllint check`` would check the file too: what flake8 excludes is its own."""
        place = engine.place_of(path)
        if not self._paths or path in self._paths:
            return not (place.config.force_exclude and is_excluded(path, place))
        tops = [top for top in self._paths if path.startswith(top.rstrip("/") + "/")]
        return not is_left_out(path, max(tops, key=len, default=place.root), engine.places)


def _refusal(error: UsageError) -> Exception:
    """What makes flake8 end with a text."""
    from flake8.exceptions import ExecutionError  # type: ignore[import-untyped]

    refusal: Exception = ExecutionError(f"gllint: {error}")
    return refusal

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
from typing import Any, ClassVar

from gllint import __version__
from gllint.errors import UsageError
from gllint.files.discover import is_excluded, is_left_out
from gllint.files.places import absolute
from gllint.files.source import as_bytes
from gllint.run.engine import Engine, Options
from gllint.shown import visible

Report = tuple[int, int, str, type["Plugin"]]


class Plugin:
    """What flake8 makes for each file and runs.

    ``lines`` are the file as flake8 read it; they count only for standard input, everything else is read
    from disk, byte for byte as ``gllint check`` reads it.
    """

    name = "gllint"
    version = __version__
    _engine: ClassVar[Engine | None] = None
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
        try:
            engine.places.ask_about([path for path in cls._paths if os.path.exists(path)])
            engine.announce([path for path in cls._paths if os.path.isfile(path)])
        except UsageError as error:
            from flake8.exceptions import ExecutionError  # type: ignore[import-untyped]

            raise ExecutionError(f"gllint: {error}") from None

    def run(self) -> Iterator[Report]:
        """Yield line, column (from 0), text and type of each finding."""
        engine = self._engine or Engine(Options(jobs=1, take_turns=True, fixes=False))
        path = absolute(self._filename)
        if not self._paths and self._filename in ("-", self._stdin):
            engine.put(path, as_bytes("".join(self._lines)))
        if not engine.lists(path) and not self._would_be_checked(path, engine):
            return
        outcome = engine.check_file(path)
        for failure in outcome.failures:
            said = f"internal error: {failure.code} failed on {path}: {failure.error}"
            print(f"gllint: {visible(said)}", file=sys.stderr)
        for notice in outcome.notices:
            print(f"gllint: {visible(path)} not checked, {visible(notice.why)}", file=sys.stderr)
        if outcome.findings and self._would_be_checked(path, engine):
            for finding in outcome.findings:
                text = f"{finding.code} {visible(finding.message)}"
                yield finding.span.line, finding.span.column - 1, text, type(self)

    def _would_be_checked(self, path: str, engine: Engine) -> bool:
        """Say whether ``gllint check`` would check the file too: what flake8 excludes is its own."""
        place = engine.place_of(path)
        if not self._paths or path in self._paths:
            return not (place.config.force_exclude and is_excluded(path, place))
        tops = [top for top in self._paths if path.startswith(top.rstrip("/") + "/")]
        return not is_left_out(path, max(tops, key=len, default=place.root), engine.places)

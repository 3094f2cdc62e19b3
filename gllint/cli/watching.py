"""``gllint check --watch``: the same check again whenever a file that it could read has changed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec

import click

from gllint.cli.output import WRONG
from gllint.errors import UsageError
from gllint.files.discover import is_python_name
from gllint.shown import visible
from gllint_rules.words.text_files import text_kind

_PAUSE = 200  # milliseconds in which changes that come together count as one


def watch(paths: Sequence[str], check: Callable[[], int]) -> int:
    """Run ``check`` now and after each change below ``paths``, until Ctrl-C; return its last status.

    Raises :class:`UsageError` if watchfiles is not installed or a path does not exist.
    """
    if find_spec("watchfiles") is None:
        raise UsageError("--watch needs watchfiles: run `pip install watchfiles`")
    for path in paths:
        if not os.path.exists(path):
            raise UsageError(f"{path}: no such file or folder")
    import watchfiles

    # The folder of a file, since editors replace a file with a new one.
    folders = {path if os.path.isdir(path) else os.path.dirname(os.path.abspath(path)) for path in paths}
    changes = watchfiles.watch(
        *sorted(folders),
        watch_filter=lambda _, path: matters(path),
        debounce=_PAUSE,
        rust_timeout=_PAUSE,
        yield_on_timeout=True,
        raise_interrupt=True,
    )
    next(changes)  # the watch begins here: a change during a check leads to another round
    status = _round(check)
    for changed in changes:
        if changed:
            status = _round(check)
    return status


def matters(path: str) -> bool:
    """Return whether a check may read a file: Python, a template, or a configuration (TOML of any name)."""
    return is_python_name(path) or path.endswith(".toml") or text_kind(path) is not None


def _round(check: Callable[[], int]) -> int:
    """Check once and return the exit status. An error in a file that is being edited does not end the watch."""
    if sys.stdout.isatty():
        click.clear()
    try:
        status = check()
    except UsageError as error:
        click.echo(f"gllint: {visible(str(error))}", err=True)
        status = WRONG
    click.echo("Watching for changes; Ctrl-C ends it.", err=True)
    sys.stdout.flush()
    return status

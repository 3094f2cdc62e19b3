"""The entry: from the arguments to the exit status, whatever happens on the way.

The commands are written with click, whose import takes longer than checking a few files. So the plain calls of
``gllint check`` that hooks and editors make are read here; what is not plain, or wrong, click reads.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn, TextIO

from gllint.cli.output import FOUND, INTERRUPTED, WRONG, say
from gllint.errors import UsageError
from gllint.report import FORMATS
from gllint.shown import visible

_CLOSED = (errno.EINVAL, None)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EBADF)
_FLAGS = {
    "--fix": "fix", "--fix-only": "fix_only", "--show-fixes": "show_fixes", "--ignore-noqa": "ignore_noqa",
    "--exit-non-zero-on-fix": "exit_non_zero_on_fix", "-s": "silent", "--silent": "silent",
    "--unsafe-fixes": "unsafe_fixes", "--diff": "diff", "--isolated": "isolated", "--statistics": "statistics",
    "--force-exclude": "force_exclude", "--exit-zero": "exit_zero", "--no-cache": "no_cache",
    "--strict": "strict", "--fail-on-unseen": "fail_on_unseen", "--timings": "timings",
    "-q": "quiet", "--quiet": "quiet", "-v": "verbose", "--verbose": "verbose",
}  # fmt: skip
_FORMAT = "--output-format"
# How variables begin that click answers to.
_VARIABLES = ("GLLINT_", "_GLLINT_COMPLETE")


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit status."""
    if sys.stderr is None:  # closed by the caller
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        sys.exit(_fail("standard output is closed"))
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding=_encoding(stream), errors="backslashreplace")
    # The objects of a short run live until its end, so a search for garbage would find none.
    gc.disable()
    try:
        status = _run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
    except UsageError as error:
        status = _fail(str(error))
    except KeyboardInterrupt:
        status = INTERRUPTED
    except BrokenPipeError:
        # The program that reads the output has ended.
        _drop_output()
        status = FOUND
    except Exception as error:
        if _is_broken_pipe_of_windows(error):
            _drop_output()
            sys.exit(FOUND)
        if isinstance(error, OSError) and error.filename is None and error.errno in _FULL:
            _drop_output()
            sys.exit(_fail(f"the output cannot be written: {error.strerror}"))
        if isinstance(error, OSError) and (reason := _folder_trouble()):
            sys.exit(_fail(f"the current folder cannot be read: {reason}"))
        if os.environ.get("GLLINT_TRACEBACK"):
            raise
        status = _fail(
            f"internal error: {type(error).__name__}: {error}",
            "Set GLLINT_TRACEBACK=1 to see where, and please report it.",
        )
    gc.freeze()
    sys.exit(status)


def _encoding(stream: TextIO) -> str | None:
    """Return the encoding to set for an output stream, ``None`` to keep Python's choice.

    A file or a pipe gets UTF-8, which readers of the formats expect; Windows would use its old code page.
    """
    is_chosen = "PYTHONIOENCODING" in os.environ or stream.isatty()
    return None if is_chosen else "utf-8"


def plain_check(arguments: Sequence[str]) -> dict[str, Any] | None:
    """Return the request fields of a plain ``gllint check`` call, ``None`` if only click can read the arguments.

    ``["check", "--fix", "src"]`` → ``{"fix": True, "paths": ("src",)}``
    """
    if arguments[:1] != ["check"] or any(name.startswith(_VARIABLES) for name in os.environ):
        return None
    fields: dict[str, Any] = {}
    paths: list[str] = []
    words = iter(arguments[1:])
    for word in words:
        name, equals, value = word.partition("=")
        if word in _FLAGS:
            fields[_FLAGS[word]] = True
        elif name == _FORMAT and (chosen := value if equals else next(words, "")) in FORMATS:
            fields["output_format"] = chosen
        elif word.startswith("-") and word != "-":
            return None
        else:
            paths.append(word)
    return {**fields, "paths": tuple(paths)}


def _refuse_names(arguments: Sequence[str]) -> None:
    """Raise :class:`UsageError` for an option that is also the name of an existing file.

    Hooks and patterns (``*.py``) pass file names where options may be: a file named ``--config=ignore=["GL"]#.py``
    would turn off every rule.
    """
    for word in arguments:
        if word == "--":
            return
        if word[:1] == "-" and word != "-" and os.path.lexists(word):
            raise UsageError(
                f"{word}: this file name looks like an option: write ./{word}, or rename the file"
            )


def _run(arguments: Sequence[str]) -> int:
    """Run a plain ``check`` directly; hand everything else to click, which takes longer to import."""
    _refuse_names(arguments)
    plain = plain_check(list(arguments))
    if plain is None:
        from gllint.cli import commands

        return commands.run(arguments)
    from gllint.cli.checking import run
    from gllint.cli.request import Request

    return run(Request(**plain))


def _is_broken_pipe_of_windows(error: Exception) -> bool:
    return sys.platform == "win32" and isinstance(error, OSError) and (error.errno, error.filename) == _CLOSED


def _folder_trouble() -> str:
    """Return why the current folder cannot be read (it may have been deleted), ``""`` if it can."""
    try:
        os.getcwd()
    except OSError as error:
        return error.strerror or type(error).__name__
    return ""


def _drop_output() -> None:
    """Redirect the rest of standard output to nowhere, so that closing it raises no error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(text: str, advice: str = "") -> int:
    say(f"gllint: {visible(text)}", error=True)
    if advice:
        say(advice, error=True)
    return WRONG

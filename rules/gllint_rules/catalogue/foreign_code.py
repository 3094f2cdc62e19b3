"""Run the code of installed packages so that neither its errors nor its duration end the run."""

from __future__ import annotations

import faulthandler
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from types import FunctionType
from typing import TYPE_CHECKING, TypeVar

from gllint_rules.reading.stack import start_thread

if TYPE_CHECKING:
    import threading

_T = TypeVar("_T")
# Seconds for an import, and for a rule on one file. gllint's own inference for that file is mostly stored by then.
PATIENCE = 10.0
_GRACE = 1.0  # seconds that a stopped thread has to end
SILENCE = 20.0  # seconds after which a worker process whose Python is blocked is ended
_LAST = 30.0  # seconds after which the program ends if its Python is blocked
_MOST_CHARACTERS = 300  # of an error's text


class ForeignError(Exception):
    """An error of an installed package's code, described for the user."""


class OutOfTime(ForeignError):
    """The code of an installed package took longer than :data:`PATIENCE`."""


class _Stop(BaseException):
    """Raised inside a foreign thread to end it. Not an Exception, so that the thread's own handlers miss it."""


def run_foreign(name: str, work: Callable[[], _T]) -> _T:
    """Return the result of ``work``, which is run in a separate thread.

    ``name`` says whose rule it is. Raises ForeignError if ``work`` raises, and OutOfTime if it takes longer than
    :data:`PATIENCE`: then the thread is stopped between two steps of Python.
    """
    result: list[_T] = []
    failure: list[BaseException] = []

    def call() -> None:
        try:
            result.append(work())
        except BaseException as error:  # sys.exit() too, and errors that do not derive from Exception
            failure.append(error)

    limit = sys.getrecursionlimit()  # foreign code may change it
    with redirect_stdout(sys.stderr), _last_resort():
        thread = start_thread(_in_frame_named(name, call), name)
        if thread is None:  # the system allows no more threads
            call()
        elif not _join_or_stop(thread):
            raise OutOfTime(f"it did not finish within {PATIENCE:g} s")
    sys.setrecursionlimit(limit)
    if failure:
        error = failure[0]
        raise error if isinstance(error, ForeignError) else ForeignError(_description(error))
    return result[0]


def _in_frame_named(name: str, function: Callable[[], None]) -> Callable[[], None]:
    """Return a function that calls ``function`` in a frame called ``name``.

    The traceback of :func:`_last_resort` shows only names of frames: this one says whose code blocks Python.
    """

    def call() -> None:
        function()

    code = call.__code__.replace(co_name=name, co_qualname=name)
    return FunctionType(code, globals(), name, None, call.__closure__)


@contextmanager
def _last_resort() -> Iterator[None]:
    """End the program with a traceback if foreign code blocks all of Python."""
    try:
        faulthandler.dump_traceback_later(_LAST, exit=True, file=sys.__stderr__ or sys.stderr)
    except (AttributeError, OSError, RuntimeError, ValueError):  # standard error is closed or not a file
        yield
        return
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def _join_or_stop(thread: threading.Thread) -> bool:
    """Wait for a thread, and stop it if it takes too long. Return whether it ended by itself."""
    thread.join(PATIENCE)
    if not thread.is_alive():
        return True
    import ctypes

    # Raises `_Stop` in the thread, before its next step of Python.
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_Stop))
    thread.join(_GRACE)
    return False


def _description(error: BaseException) -> str:
    """Return type, text and place of an error: ``KeyError: 'x' (rules.py:12)``."""
    try:
        text = str(error)
    except Exception:  # the `__str__` of a foreign exception may raise, too
        text = ""
    text = text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"
    innermost = error.__traceback__
    while innermost is not None and innermost.tb_next is not None:
        innermost = innermost.tb_next
    place = ""
    if innermost is not None:
        file = innermost.tb_frame.f_code.co_filename.replace("\\", "/").rpartition("/")[2]
        place = f" ({file}:{innermost.tb_lineno})"
    return f"{type(error).__name__}{': ' if text else ''}{text}{place}"

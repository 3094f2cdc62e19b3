"""Running what an installed package brings: whatever it does, and however long it takes, the run goes on."""

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
PATIENCE = 10.0  # seconds for an import, and for a rule and a file: what gllint infers for it is mostly known by then
_GRACE = 1.0  # seconds in which what was stopped must have ended
SILENCE = 20.0  # seconds after which a process of its own is ended in which nothing of Python runs any more
_LAST = 30.0  # seconds after which the program ends where nothing of Python runs any more
_MOST_SAID = 300  # characters of an error


class ForeignError(Exception):
    """What someone else's code did wrong, in words."""


class OutOfTime(ForeignError):
    """It took too long."""


class _Stop(BaseException):
    """Ends a thread in the middle of what it does."""


def run_foreign(name: str, work: Callable[[], _T]) -> _T:
    """Return the result of ``work``, run in a thread of its own.

    ``name`` says whose rule it is. Raises ForeignError for its errors, and OutOfTime if it takes longer than
    :data:`PATIENCE`: then it is stopped between two steps of Python.
    """
    result: list[_T] = []
    failure: list[BaseException] = []

    def call() -> None:
        try:
            result.append(work())
        except BaseException as error:  # sys.exit, and what derives from nothing that anybody catches
            failure.append(error)

    limit = sys.getrecursionlimit()
    with redirect_stdout(sys.stderr), _last_resort():
        thread = start_thread(_called(name, call), name)
        if thread is None:
            call()
        elif not _has_ended(thread):
            raise OutOfTime(f"it did not come back within {PATIENCE:g} s")
    sys.setrecursionlimit(limit)
    if failure:
        error = failure[0]
        raise error if isinstance(error, ForeignError) else ForeignError(_described(error))
    return result[0]


def _called(name: str, function: Callable[[], None]) -> Callable[[], None]:
    """Call ``function`` in a frame with this name, which a traceback shows even if Python is blocked."""

    def call() -> None:
        function()

    code = call.__code__.replace(co_name=name, co_qualname=name)
    return FunctionType(code, globals(), name, None, call.__closure__)


@contextmanager
def _last_resort() -> Iterator[None]:
    """End the program with a traceback if foreign code blocks all of Python."""
    try:
        faulthandler.dump_traceback_later(_LAST, exit=True, file=sys.__stderr__ or sys.stderr)
    except (AttributeError, OSError, RuntimeError, ValueError):  # there is nowhere to write to
        yield
        return
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def _has_ended(thread: threading.Thread) -> bool:
    """Wait for a thread, and stop it if it takes too long. Returns false if it was stopped."""
    thread.join(PATIENCE)
    if not thread.is_alive():
        return True
    import ctypes

    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_Stop))
    thread.join(_GRACE)
    return False


def _described(error: BaseException) -> str:
    """Describe an error, with the place where it was raised."""
    try:
        text = str(error)
    except Exception:  # theirs too
        text = ""
    text = text if len(text) <= _MOST_SAID else f"{text[:_MOST_SAID]}…"
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    file = "" if place is None else place.tb_frame.f_code.co_filename.replace("\\", "/").rpartition("/")[2]
    where = f" ({file}:{place.tb_lineno})" if place is not None else ""
    return f"{type(error).__name__}{': ' if text else ''}{text}{where}"

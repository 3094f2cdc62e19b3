"""A stack that is deep enough for whatever Python itself compiles, the same in every host.

Parsers, the reader and the inference walk a tree by recursion, and source nests as deeply as its author likes. How
deep they get must not depend on who calls: flake8 calls from far down its own stack, a worker process from near the
top. So all of it runs in a thread of its own. Memory is taken only as the stack is used.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    import threading

_P = ParamSpec("_P")
_T = TypeVar("_T")
# Bytes. Where the machine grants no such stack, the next one is tried.
SIZES = tuple(megabytes << 20 for megabytes in (512, 256, 64))
# Frames for each of those stacks: 3.4 KB each, more than three times what one takes.
BYTES_PER_FRAME = 3400


@cache
def _thread_state() -> threading.local:
    import threading  # a run that parses nothing needs none

    return threading.local()


def on_large_stack(function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Return ``function(*args, **kwargs)``, called on a large stack."""
    if getattr(_thread_state(), "size", 0):
        return function(*args, **kwargs)
    result: list[_T] = []
    failure: list[BaseException] = []

    def call() -> None:
        try:
            result.append(function(*args, **kwargs))
        except BaseException as error:
            failure.append(error)

    with _recursion_limit():
        thread = start_thread(call)
        if thread is None:
            return function(*args, **kwargs)
        thread.join()
    if failure:
        try:
            raise failure[0]
        finally:
            failure.clear()  # the error references this frame: let neither keep the other alive
    return result[0]


def start_thread(target: Callable[[], object], name: str = "gllint") -> threading.Thread | None:
    """Start a daemon thread with a large stack; ``None`` if the machine grants none."""
    import threading

    for size in SIZES:
        try:
            old_size = threading.stack_size(size)
        except (ValueError, RuntimeError):
            continue
        try:
            thread = threading.Thread(target=_run, args=(target, size), name=name, daemon=True)
            thread.start()
            return thread
        except RuntimeError:
            continue
        finally:
            threading.stack_size(old_size)
    return None


def raise_recursion_limit() -> None:
    """Let Python recurse as deeply as a large stack allows; for a process whose threads are all ours."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), SIZES[0] // BYTES_PER_FRAME))


def _run(target: Callable[[], Any], size: int) -> None:
    _thread_state().size = size
    target()


@contextmanager
def _recursion_limit() -> Iterator[None]:
    """Raise the limit of nested calls for a while."""
    # The limit is the whole process's. The caller waits meanwhile, and finds its own again.
    old_limit = sys.getrecursionlimit()
    raise_recursion_limit()
    try:
        yield
    finally:
        sys.setrecursionlimit(old_limit)

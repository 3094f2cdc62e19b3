"""Code that is written once and runs in both worlds: generators that yield whatever may block or must be awaited.

From synchronous code :func:`finish` runs them, on an event loop :func:`finishing`.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable, Generator
from types import NoneType
from typing import Any, TypeVar

Answer = TypeVar("Answer")

Question = tuple[Callable[[], Any], bool]
"""A provider or a callback to call, whose answer may have to be awaited, and whether it blocks: such a one gets a
thread of its own where an event loop must not wait for it."""

Asking = Generator[Question, Any, Answer]

# What needs no closer look; asking the rest costs three abstract classes.
_NEVER_AWAITABLE = frozenset({dict, list, str, int, bool, NoneType})


def finish(work: Asking[Answer]) -> Answer:
    """Run ``work`` from synchronous code; what must be awaited is, on one event loop in a thread of its own."""
    loop: asyncio.AbstractEventLoop | None = None
    try:
        function, _ = next(work)
        while True:
            try:
                answer = function()
                if type(answer) not in _NEVER_AWAITABLE and inspect.isawaitable(answer):
                    if loop is None:
                        loop = asyncio.new_event_loop()
                        threading.Thread(target=loop.run_forever, daemon=True).start()
                    answer = asyncio.run_coroutine_threadsafe(_awaited(answer), loop).result()
            except BaseException as error:
                function, _ = work.throw(_passed_on(error))
            else:
                function, _ = work.send(answer)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    finally:
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)


async def finishing(work: Asking[Answer]) -> Answer:
    """Run ``work`` on the caller's event loop; what blocks runs beside it."""
    try:
        function, blocking = next(work)
        while True:
            try:
                answer = await in_thread(function) if blocking else function()
                if inspect.isawaitable(answer):
                    answer = await answer
            except BaseException as error:
                function, blocking = work.throw(_passed_on(error))
            else:
                function, blocking = work.send(answer)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]


async def in_thread(function: Callable[[], Any]) -> Any:
    """Call a function in a thread of its own, so that one that hangs keeps no other waiting."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(error: BaseException | None, result: Any) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    def work() -> None:
        error: BaseException | None = None
        result = None
        try:
            result = function()
        except BaseException as raised:
            error = _passed_on(raised)
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, error, result)

    threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True).start()
    return await future


def _passed_on(error: BaseException) -> BaseException:
    """The error itself, but for a StopIteration, which no generator and no future can be told, a RuntimeError."""
    if not isinstance(error, (StopIteration, StopAsyncIteration)):
        return error
    told = RuntimeError("It has no further answer")
    told.__cause__ = error
    return told


async def _awaited(answer: Awaitable[Any]) -> Any:
    return await answer

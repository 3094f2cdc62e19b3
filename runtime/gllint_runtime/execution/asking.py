"""Code that is written once and runs in both worlds: generators that yield whatever may block or must be awaited.

From synchronous code :func:`finish` runs them, on an event loop :func:`finishing`.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import operator
import threading
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import Future
from types import NoneType
from typing import Any, TypeVar

Answer = TypeVar("Answer")

OnLoop = Callable[[Callable[[], Any]], Any]
"""How an event loop calls a function: right there (:func:`operator.call`), or where it may block :func:`in_thread`."""

Question = tuple[Callable[[], Any], OnLoop]
"""What to call; its answer may have to be awaited."""

Asking = Generator[Question, Any, Answer]

# What needs no closer look; asking the rest costs three abstract classes.
_NEVER_AWAITABLE = frozenset({dict, list, str, int, bool, NoneType})


def way_to_call(function: Callable[..., Any]) -> OnLoop:
    """Return a coroutine function blocks no loop, any other may."""
    return operator.call if inspect.iscoroutinefunction(function) else in_thread


def finish(work: Asking[Answer]) -> Answer:
    """Run ``work`` from synchronous code and return its result.

    What it yields is called; what that returns is awaited, if it can be, on one event loop in a thread of its own.
    """
    loop_thread: LoopThread | None = None
    try:
        function, _ = next(work)
        while True:
            try:
                answer = function()
                if type(answer) not in _NEVER_AWAITABLE and inspect.isawaitable(answer):
                    loop_thread = loop_thread or LoopThread()
                    answer, error = loop_thread.start(answer).result()
                    if error is not None:
                        raise error
            except BaseException as error:  # of the function: `work` decides about it
                function, _ = work.throw(_passed_on(error))
            else:
                function, _ = work.send(answer)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    finally:
        if loop_thread is not None:
            loop_thread.stop()


async def finishing(work: Asking[Answer]) -> Answer:
    """Run ``work`` on the caller's event loop and return its result; each function runs as ``work`` says
    (``on_loop``).
    """
    try:
        function, on_loop = next(work)
        while True:
            try:
                answer = on_loop(function)
                while inspect.isawaitable(answer):
                    answer = await answer
            except BaseException as error:
                function, on_loop = work.throw(_passed_on(error))
            else:
                function, on_loop = work.send(answer)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]


class LoopThread:
    """An event loop in a thread of its own, for synchronous code that has to wait for what is awaited there."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop = self._runner.get_loop()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with self._runner:
            self._loop.run_forever()

    def start(self, work: Awaitable[Any]) -> Future[tuple[Any, BaseException | None]]:
        """Await ``work`` there: what it comes to, or what it raises."""
        return asyncio.run_coroutine_threadsafe(_outcome(work), self._loop)

    def stop(self) -> None:
        """Cancel whatever still runs there, and end once it has."""
        self._loop.call_soon_threadsafe(self._loop.stop)


async def _outcome(work: Awaitable[Any]) -> tuple[Any, BaseException | None]:
    try:
        return await work, None
    except BaseException as error:  # SystemExit, too, would end the loop before anybody hears of it
        return None, error


async def in_thread(function: Callable[[], Any]) -> Any:
    """Return what ``function`` returns, called in a thread of its own, so that one that hangs blocks no other."""
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()

    def work() -> None:
        try:
            future.set_result(function())
        except BaseException as error:
            future.set_exception(_passed_on(error))

    threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True).start()
    return await asyncio.wrap_future(future)


def _passed_on(error: BaseException) -> BaseException:
    """Return the error, or a RuntimeError for a StopIteration, which generators and futures cannot raise."""
    if not isinstance(error, (StopIteration, StopAsyncIteration)):
        return error
    exhaustion = RuntimeError("It has no further answer")
    exhaustion.__cause__ = error
    return exhaustion

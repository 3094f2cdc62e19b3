"""Code that is written once and runs in both worlds: it yields what it asks for, and a driver answers.

A driver for synchronous callers answers at once; one for asyncio awaits on the caller's own event loop.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable, Generator
from types import NoneType
from typing import Any, NamedTuple, TypeVar

Answer = TypeVar("Answer")

_NEVER_AWAITABLE = frozenset(
    {dict, list, str, int, bool, NoneType}
)  # asking the rest costs three abstract classes


class Ask(NamedTuple):
    """A call of a provider or a callback; what it returns may have to be awaited.

    ``blocking`` calls get a thread of their own where an event loop must not wait for them.
    """

    function: Callable[[], Any]
    blocking: bool = True


def drive(asking: Generator[Any, Any, Answer], answer: Callable[[Any], Any]) -> Answer:
    """Run to the end, each thing asked for answered by ``answer``."""
    proceed: Callable[[Any], Any] = asking.send
    value: Any = None
    while True:
        try:
            asked = proceed(value)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        try:
            value, proceed = answer(asked), asking.send
        except BaseException as error:
            value, proceed = _raisable(error), asking.throw


async def adrive(asking: Generator[Any, Any, Answer], answer: Callable[[Any], Awaitable[Any]]) -> Answer:
    """:func:`drive` for asyncio."""
    proceed: Callable[[Any], Any] = asking.send
    value: Any = None
    while True:
        try:
            asked = proceed(value)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        try:
            value, proceed = await answer(asked), asking.send
        except BaseException as error:
            value, proceed = _raisable(error), asking.throw


def _raisable(error: BaseException) -> BaseException:
    """What a generator can be told: a StopIteration would be taken for its own end."""
    if isinstance(error, (StopIteration, StopAsyncIteration)):
        told = RuntimeError("It has no further answer")
        told.__cause__ = error
        return told
    return error


class Waiter:
    """Waits for awaitables from synchronous code, all of them on one event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    def __call__(self, asked: Ask) -> Any:
        """What ``asked`` returns, awaited if need be."""
        answer = asked.function()
        if type(answer) in _NEVER_AWAITABLE or not inspect.isawaitable(answer):
            return answer
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, daemon=True).start()
        return asyncio.run_coroutine_threadsafe(_awaited(answer), self._loop).result()

    def close(self) -> None:
        """Stop the loop."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)


async def _awaited(answer: Awaitable[Any]) -> Any:
    return await answer


async def awaited(asked: Ask) -> Any:
    """What ``asked`` returns, from the caller's event loop; what blocks runs beside it."""
    answer = await in_thread(asked.function) if asked.blocking else asked.function()
    return await answer if inspect.isawaitable(answer) else answer


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
            future.set_exception(_raisable(error))

    def work() -> None:
        try:
            outcome = (None, function())
        except BaseException as error:
            outcome = (error, None)  # type: ignore[assignment]
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, *outcome)

    threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True).start()
    return await future

"""Code that is written once and runs in both worlds: coroutines that ask for whatever may block or must be awaited.

From synchronous code they run by :func:`finish`, with :class:`Waiter` to answer what they ask; nothing in them waits
then. On an event loop they are awaited as any other, with :func:`ask`.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable, Coroutine
from types import NoneType
from typing import Any, Protocol, TypeVar

Answer = TypeVar("Answer")

# What needs no closer look; asking the rest costs three abstract classes.
_NEVER_AWAITABLE = frozenset({dict, list, str, int, bool, NoneType})


class Ask(Protocol):
    """Calls a provider or a callback, whose answer may have to be awaited.

    A ``blocking`` one gets a thread of its own where an event loop must not wait for it.
    """

    async def __call__(self, function: Callable[[], Any], *, blocking: bool = True) -> Any: ...


def finish(work: Coroutine[Any, Any, Answer]) -> Answer:
    """Run a coroutine that asks a :class:`Waiter`, and so never waits itself."""
    try:
        work.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    work.close()
    raise RuntimeError("What runs from synchronous code cannot wait")


class Waiter:
    """Answers from synchronous code; awaits what must be on one event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    async def ask(self, function: Callable[[], Any], *, blocking: bool = True) -> Any:
        """What ``function`` returns, awaited if need be."""
        answer = _called(function)
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


async def ask(function: Callable[[], Any], *, blocking: bool = True) -> Any:
    """What ``function`` returns, from the caller's event loop; what blocks runs beside it."""
    answer = await in_thread(function) if blocking else _called(function)
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
            future.set_exception(error)

    def work() -> None:
        error: BaseException | None = None
        result = None
        try:
            result = _called(function)
        except BaseException as raised:
            error = raised
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, error, result)

    threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True).start()
    return await future


def _called(function: Callable[[], Any]) -> Any:
    """Call it; a StopIteration, which no coroutine and no future can be told, becomes a RuntimeError."""
    try:
        return function()
    except (StopIteration, StopAsyncIteration) as error:
        raise RuntimeError("It has no further answer") from error


async def _awaited(answer: Awaitable[Any]) -> Any:
    return await answer

"""A tool call whose arguments are verified, and the ways to run it."""

from __future__ import annotations

import asyncio
import inspect
import math
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import wait
from typing import Any, Literal, NamedTuple

from gllint_runtime.execution.approval import ToolCategory
from gllint_runtime.execution.argument_units import Change
from gllint_runtime.execution.asking import LoopThread, in_thread
from gllint_runtime.execution.tools import BaseTool
from gllint_runtime.policy.data import copy_plain
from gllint_runtime.policy.errors import GLRuntimeError, GLSecurityError, reason_of
from gllint_runtime.policy.outputs import output_schema, usable_checker
from gllint_runtime.policy.parameter_units import ParameterUnits
from gllint_runtime.policy.validation import inline_refs

Mode = Literal["Replay", "Live"]


class Call(NamedTuple):
    """A tool call whose arguments have been verified; ``arguments`` is the registry's own copy.

    ``changes`` are the numbers in it that were converted to the unit of their parameter.
    """

    tool: Any
    arguments: dict[str, Any]
    repaired: bool
    entry: Entry
    changes: tuple[Change, ...] = ()

    def start(self) -> Any:
        """Call the tool's function, with arguments of its own."""
        return self.entry.function(**copy_plain(self.arguments))


class Entry:
    """A registered tool with what is computed once: validators and the parameters its function takes."""

    def __init__(self, tool: Any) -> None:
        """Compute once what each call of ``tool`` needs. Raises GLValidationError for a schema that cannot be used."""
        self.tool = tool
        self.category = ToolCategory(tool.category)
        self.check_args = usable_checker(tool.name, "ARGS_SCHEMA", tool.args_schema)
        self.result_schema = output_schema(tool.name, tool.result_schema)
        self.args_schema = inline_refs(tool.args_schema)
        self.parameters = ParameterUnits(tool.args_schema)
        self.function: Callable[..., Any] = tool.execute if isinstance(tool, BaseTool) else tool.fn
        self.accepted, self.needed = _parameters(self.function)
        self.is_async = inspect.iscoroutinefunction(self.function)
        self.runs_here = tool.timeout is None and not self.is_async


def _parameters(function: Callable[..., Any]) -> tuple[frozenset[str] | None, frozenset[str]]:
    """Return the keywords that a function accepts (``None`` for any) and those that it requires.

    ``def f(a, b=1)`` → ``{"a", "b"}``, ``{"a"}``.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None, frozenset()
    named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    accepted = None if any(p.kind is p.VAR_KEYWORD for p in parameters) else frozenset(p.name for p in named)
    return accepted, frozenset(p.name for p in named if p.default is p.empty)


def refuse_egress(call: Call, mode: Mode) -> None:
    """Raise EGRESS_BLOCKED for a tool that needs the network in Replay."""
    if call.tool.live_required and mode != "Live":
        raise GLSecurityError(
            "EGRESS_BLOCKED", f"Tool '{call.tool.name}' requires Live mode but runtime is in {mode}"
        )


def run_blocking(call: Call, cancelled: Callable[[], bool] = lambda: False) -> Any:
    """Return the result of a verified call from synchronous code.

    A plain function without a timeout runs right here. One with a timeout, and every coroutine, runs in a thread
    of its own, which is left behind (and cancelled, if it is a coroutine) when the time is up or ``cancelled()``
    is true. Raises GLRuntimeError TOOL_FAILED for any exception of the tool, or CANCELLED; SystemExit and
    KeyboardInterrupt pass through.
    """
    if not call.entry.runs_here:
        return _in_thread(call, _result(call, call.start), cancelled)
    try:
        result = call.start()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        raise _failed(call, error) from error
    if type(result) is dict or not inspect.isawaitable(result):  # most results are dicts: a quick answer
        return result
    return _in_thread(call, _result(call, lambda: result), cancelled)


async def run_async(call: Call) -> Any:
    """Return the result of a verified call on the current event loop; a plain function runs in a thread of its own.

    Cancellation reaches the coroutine. Raises as :func:`run_blocking` does.
    """
    try:
        async with asyncio.timeout(call.tool.timeout):
            return await _result(call, call.start, aside=not call.entry.is_async)
    except TimeoutError:
        raise _timed_out(call) from None


def _in_thread(call: Call, work: Coroutine[Any, Any, Any], cancelled: Callable[[], bool]) -> Any:
    """Return the result of an async tool, run on an event loop of its own until it ends, times out or is cancelled."""
    loop_thread = LoopThread()
    running = loop_thread.start(work)
    deadline = time.monotonic() + (math.inf if call.tool.timeout is None else call.tool.timeout)
    try:
        # Every 20 ms, whether the time is up or the run is cancelled.
        while not wait([running], min(0.02, max(0.0, deadline - time.monotonic()))).done:
            if time.monotonic() >= deadline:
                raise _timed_out(call)
            if cancelled():
                raise GLRuntimeError("CANCELLED", "The user stopped the run")
    finally:
        loop_thread.stop()
    result, error = running.result()
    if error is None:
        return result
    # Nothing else cancels it: a cancellation is the tool's own.
    raise _failed(call, error) if isinstance(error, asyncio.CancelledError) else error


async def _result(call: Call, start: Callable[[], Any], *, aside: bool = False) -> Any:
    """Return the result of a call, awaited on the current event loop; ``aside`` starts it in a thread of its own."""
    try:
        result = await in_thread(start) if aside else start()
        return await result if inspect.isawaitable(result) else result
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise _failed(call, error) from error  # the tool's own: the task was not cancelled
    except BaseException as error:
        raise _failed(call, error) from error


def _failed(call: Call, error: BaseException) -> GLRuntimeError:
    message = f"Tool '{call.tool.name}' failed: {reason_of(error)}"
    return GLRuntimeError("TOOL_FAILED", message, context={"tool_name": call.tool.name})


def _timed_out(call: Call) -> GLRuntimeError:
    message = f"Tool '{call.tool.name}' timed out after {call.tool.timeout:g} s"
    return GLRuntimeError("TOOL_FAILED", message, context={"tool_name": call.tool.name})

"""Tools and their registry: verify the arguments, only then execute, then verify the output.

Every way to run a tool (``ToolRegistry.invoke`` and ``execute``, ``dispatch_tool``, ``ToolRuntime``) goes
through :meth:`ToolRegistry.verify` and :meth:`ToolRegistry.check_output`; there is no other.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import json
import logging
import math
import threading
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, NamedTuple

from gllint_runtime import schemas, validation
from gllint_runtime.approval import ApprovalGate, Approve, Notify, ToolCategory
from gllint_runtime.errors import GLDataError, GLError, GLRuntimeError, GLSecurityError, GLValidationError
from gllint_runtime.units import UnitRegistry

logger = logging.getLogger("gllint_runtime")

Mode = Literal["Replay", "Live"]
Cancelled = Callable[[], bool]


def _any_object() -> dict[str, Any]:
    return {"type": "object"}


@dataclass
class Tool:
    """A function offered to a model, with JSON Schemas (Draft 2020-12) for its arguments and its result.

    ``live_required`` marks a tool that reaches the network: Replay refuses it. ``timeout`` is in seconds.
    ``preview(**arguments)`` tells the user what a call would change.
    """

    name: str
    description: str = ""
    args_schema: dict[str, Any] = field(default_factory=_any_object)
    result_schema: dict[str, Any] = field(default_factory=_any_object)
    fn: Callable[..., Any] | None = None
    live_required: bool = False
    category: ToolCategory = ToolCategory.READ_ONLY
    timeout: float | None = None
    preview: Callable[..., str] | None = None

    def __post_init__(self) -> None:
        if not callable(self.fn):
            raise TypeError(f"Tool {self.name!r} needs a callable fn")


@dataclass
class ToolResult:
    """What a :class:`BaseTool` answers: data or an error, never an exception."""

    success: bool
    data: Any | None
    tool_name: str
    category: ToolCategory
    error_message: str | None = None
    execution_time_ms: float = 0.0
    cancelled: bool = False


class BaseTool(ABC):
    """A tool as a class with an async ``execute`` (seed 003). Schemas and ``preview`` are optional."""

    args_schema: ClassVar[dict[str, Any]] = {"type": "object"}
    result_schema: ClassVar[dict[str, Any]] = {}
    live_required: bool = False
    timeout: float | None = 30.0

    @property
    @abstractmethod
    def name(self) -> str:
        """The unique identifier."""

    @property
    @abstractmethod
    def description(self) -> str:
        """What it does, for the model and the user."""

    @property
    @abstractmethod
    def category(self) -> ToolCategory:
        """Decides whether the user is asked."""

    @abstractmethod
    async def execute(self, **kwargs: Any) -> ToolResult:
        """Run the tool."""

    def format_result(self, result: ToolResult) -> str:
        """The result for people."""
        if not result.success:
            return f"{self.name} failed: {result.error_message}"
        return json.dumps(result.data, ensure_ascii=False, default=str)


class Output(NamedTuple):
    """What a tool returned, verified: plain data, and the Quantities and raw numbers found in it."""

    data: Any
    found: schemas.Survey


class Call(NamedTuple):
    """A tool call whose arguments have been verified; ``arguments`` is the registry's own copy."""

    tool: Any
    arguments: dict[str, Any]
    repaired: bool
    entry: _Entry


class _Entry:
    """A registered tool with what is computed once: validators and the parameters its function takes."""

    def __init__(self, tool: Any) -> None:
        self.tool = tool
        self.check_args = validation.checker(tool.args_schema)
        self.check_result = validation.checker(tool.result_schema)
        self.args_schema = validation.inline_refs(tool.args_schema)
        self.function: Callable[..., Any] = tool.execute if isinstance(tool, BaseTool) else tool.fn
        self.accepted, self.needed = _parameters(self.function)
        self.runs_here = tool.timeout is None and not inspect.iscoroutinefunction(self.function)


def _parameters(function: Callable[..., Any]) -> tuple[frozenset[str] | None, frozenset[str]]:
    """The keywords that a function takes (``None``: any) and those it cannot do without."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None, frozenset()
    named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    accepted = None if any(p.kind is p.VAR_KEYWORD for p in parameters) else frozenset(p.name for p in named)
    return accepted, frozenset(p.name for p in named if p.default is p.empty)


class ToolRegistry:
    """The tools of an agent, and the only place that runs them.

    ``extend_units`` and ``strict_units`` widen or narrow the units that results may carry;
    ``allow_raw_numbers`` gives up the Quantity rule for results, loudly: such numbers can still not be
    claimed. ``approve`` and ``notify`` are the callbacks of :mod:`gllint_runtime.approval`.
    """

    def __init__(
        self,
        *,
        extend_units: Collection[str] = (),
        strict_units: bool = False,
        allow_raw_numbers: bool = False,
        approve: Approve | None = None,
        notify: Notify | None = None,
    ) -> None:
        self.units = UnitRegistry(extend_units, strict=strict_units)
        self.allow_raw_numbers = allow_raw_numbers
        self.gate = ApprovalGate(approve, notify)
        self._entries: dict[str, _Entry] = {}
        if allow_raw_numbers:
            logger.warning("This registry lets tools return raw numbers; none of them can be claimed")

    # ------------------------------------------------------------------------------------------ tools

    def register(self, tool: Tool | BaseTool, *, replace: bool = False) -> None:
        """Add a tool. Raises GLValidationError for a schema of no use, ValueError for a name that is taken."""
        if not isinstance(tool.name, str) or not tool.name or tool.name == "None":
            raise ValueError(f"{tool.name!r} is no name for a tool")
        if tool.name in self._entries and not replace:
            raise ValueError(f"Tool {tool.name!r} is registered already")
        ToolCategory(tool.category)
        for code, schema in (("ARGS_SCHEMA", tool.args_schema), ("RESULT_SCHEMA", tool.result_schema)):
            _refuse_bad_schema(tool.name, code, schema)
        self._entries[tool.name] = _Entry(tool)
        logger.info("Registered tool: %s", tool.name)

    def get(self, name: str) -> Any:
        """The tool of that name. Raises GLDataError PATH_RESOLUTION."""
        return self._entry(name).tool

    def get_tool_names(self) -> list[str]:
        """All names in order of registration."""
        return [*self._entries]

    def descriptors(self) -> list[dict[str, Any]]:
        """Name, description and parameters of each tool, as providers want them, all references inlined."""
        return [
            {
                "name": name,
                "description": entry.tool.description,
                "parameters": entry.args_schema,
            }
            for name, entry in self._entries.items()
        ]

    def _entry(self, name: str) -> _Entry:
        entry = self._entries.get(name)
        if entry is None:
            hint = f"Registered tools: {', '.join(self._entries) or 'none'}."
            raise GLDataError("PATH_RESOLUTION", f"Tool '{name}' not found in registry", hint=hint)
        return entry

    # -------------------------------------------------------------------------------------- executing

    def invoke(self, name: str, arguments: Mapping[str, Any] | None = None, *, mode: Mode = "Live") -> Any:
        """Run a tool and return its verified output as plain data. Raises GLError."""
        call = self.verify(name, arguments or {})
        refuse_egress(call, mode)
        self.gate.check(call.tool, call.arguments)
        return self.check_output(call, run_blocking(call)).data

    async def execute(self, name: str, /, **arguments: Any) -> ToolResult:
        """Run a tool in the running event loop and return a ToolResult, whatever happens."""
        started = time.perf_counter()
        category = ToolCategory.READ_ONLY
        result: Any = None
        error: GLError | None = None
        data = None
        try:
            category = ToolCategory(self.get(name).category)
            call = self.verify(name, arguments)
            self.gate.check(call.tool, call.arguments)
            async with asyncio.timeout(call.tool.timeout):
                result = await _run(call, offload=True)
            if not isinstance(result, ToolResult) or result.success:
                data = self.check_output(call, result).data
        except TimeoutError:
            error = _timed_out(call)
        except GLError as failure:
            error = failure
        elapsed = (time.perf_counter() - started) * 1000
        if error is not None:
            denied = error.code == "APPROVAL_DENIED"
            text = "Tool execution cancelled" if denied else str(error)
            return ToolResult(False, None, name, category, text, elapsed, cancelled=denied)
        if isinstance(result, ToolResult):
            return replace(result, data=data, execution_time_ms=result.execution_time_ms or elapsed)
        return ToolResult(True, data, name, category, None, elapsed)

    def verify(self, name: str, arguments: Any) -> Call:
        """Find the tool, repair stringified JSON, hold the arguments to the schema and the signature.

        Raises GLDataError PATH_RESOLUTION for an unknown tool and GLValidationError ARGS_SCHEMA.
        """
        entry = self._entry(name)
        if isinstance(arguments, str):
            arguments = _parsed_object(arguments)
        if not isinstance(arguments, Mapping):
            raise GLValidationError("ARGS_SCHEMA", f"The arguments of '{name}' are not an object")
        try:
            plain = validation.plain(arguments)
        except ValueError as error:
            raise GLValidationError(
                "ARGS_SCHEMA", f"The arguments of '{name}' are not JSON: {error}"
            ) from None
        fixed = plain
        if any(isinstance(value, (str, list, dict)) for value in plain.values()):
            fixed = validation.parse_stringified(plain, entry.args_schema)
        problem = entry.check_args(fixed)
        if problem is not None:
            path, message = problem
            raise GLValidationError(
                "ARGS_SCHEMA",
                f"Arguments of '{name}' fail the schema: {message}",
                path=schemas.show_path(path),
            )
        if entry.accepted is not None and not fixed.keys() <= entry.accepted:
            unknown = ", ".join(sorted(fixed.keys() - entry.accepted))
            raise GLValidationError("ARGS_SCHEMA", f"'{name}' takes no argument {unknown}")
        if not fixed.keys() >= entry.needed:
            missing = ", ".join(sorted(entry.needed - fixed.keys()))
            raise GLValidationError("ARGS_SCHEMA", f"'{name}' needs the argument {missing}")
        return Call(entry.tool, fixed, fixed is not plain and fixed != plain, entry)

    def check_output(self, call: Call, output: Any) -> Output:
        """The output as plain data, once it fits its schema and each number in it has an allowed unit.

        Raises GLRuntimeError TOOL_FAILED for a ToolResult that failed, GLValidationError RESULT_SCHEMA or
        UNIT_UNKNOWN.
        """
        if isinstance(output, ToolResult):
            if not output.success:
                raise GLRuntimeError("TOOL_FAILED", f"Tool '{call.tool.name}' failed: {output.error_message}")
            output = output.data
        try:
            plain = validation.plain(output)
        except ValueError as error:
            raise _bad_output(f"{error}. Wrap each number in a Quantity.") from None
        problem = call.entry.check_result(plain)
        if problem is not None:
            path, message = problem
            raise _bad_output(message, path)
        survey = schemas.survey(plain)
        for path, trouble in () if self.allow_raw_numbers else survey.malformed:
            raise _bad_output(trouble, path)
        if survey.raw_numbers and not self.allow_raw_numbers:
            raise _bad_output("a raw number; wrap it in a Quantity {value, unit}", survey.raw_numbers[0])
        if survey.raw_numbers:
            places = ", ".join(map(schemas.show_path, survey.raw_numbers))
            logger.warning("Tool %s returned raw numbers at %s", call.tool.name, places)
        for path, quantity in survey.quantities:
            if not self.units.is_allowed(quantity["unit"]):
                self.units.require(quantity["unit"], schemas.show_path(path))
        return Output(plain, survey)

    def list(self) -> list[Any]:
        """All tools in order of registration."""
        return [entry.tool for entry in self._entries.values()]


def __getattr__(name: str) -> Any:
    """``ToolRuntime``, which GreenLang's module of this name has: its users change the package name only."""
    if name == "ToolRuntime":
        from gllint_runtime.runtime import ToolRuntime

        return ToolRuntime
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _bad_output(message: str, path: schemas.Path = ()) -> GLValidationError:
    where = schemas.show_path(path)
    return GLValidationError(
        "RESULT_SCHEMA", f"Tool output validation failed at {where}: {message}", path=where
    )


def _refuse_bad_schema(name: str, code: str, schema: Any) -> None:
    """Raise for a schema that is invalid, misspelt or points outside: it would check nothing, or fetch."""
    try:
        troubles = [f"{schemas.show_path(p.path)}: {p.message}" for p in schemas.schema_problems(schema)]
        troubles += [
            f"{schemas.show_path(path)}: did you mean {meant!r}?"
            for path, meant in schemas.misspelt_keywords(schema)
        ]
        troubles += [
            f"{schemas.show_path(path)}: no such schema is known here"
            for path in validation.foreign_refs(schema)
        ]
    except RecursionError:
        troubles = ["it is nested too deeply, or in itself"]
    if code == "ARGS_SCHEMA" and not troubles and not isinstance(schema, Mapping):
        troubles = ["$: a model is told the arguments by an object schema"]
    if troubles:
        kind = "args_schema" if code == "ARGS_SCHEMA" else "result_schema"
        raise GLValidationError(code, f"The {kind} of '{name}' cannot be used: {'; '.join(troubles)}")


def _parsed_object(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def refuse_egress(call: Call, mode: Mode) -> None:
    """Raise EGRESS_BLOCKED for a tool that needs the network in Replay."""
    if call.tool.live_required and mode != "Live":
        raise GLSecurityError(
            "EGRESS_BLOCKED", f"Tool '{call.tool.name}' requires Live mode but runtime is in {mode}"
        )


# ------------------------------------------------------------------------------------------ running a call


def run_blocking(call: Call, cancelled: Cancelled = lambda: False) -> Any:
    """Run a verified call to its end from synchronous code.

    A plain function without a timeout runs right here. One with a timeout, and every coroutine, runs in a
    thread of its own, which is left behind (and told to stop, if it is a coroutine) when the time is up or
    ``cancelled()`` turns true. Raises GLRuntimeError TOOL_FAILED or CANCELLED.
    """
    if call.entry.runs_here:
        try:
            result = call.entry.function(**validation.copy_plain(call.arguments))
        except Exception as error:
            raise _failed(call, error) from error
        if not inspect.isawaitable(result):
            return result
        return _in_thread(call, _awaited(call, result), cancelled)
    return _in_thread(call, _run(call), cancelled)


def _in_thread(call: Call, work: Coroutine[Any, Any, Any], cancelled: Cancelled) -> Any:
    outcome: list[Any] = []
    failure: list[BaseException] = []
    finished = threading.Event()
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)

    def finish() -> None:
        try:
            outcome.append(loop.run_until_complete(task))
        except (
            asyncio.CancelledError
        ) as error:  # the tool's own: nobody else cancels a task that is waited for
            failure.append(_failed(call, error))
        except BaseException as error:
            failure.append(error)
            if task.done() and not task.cancelled():
                task.exception()  # asyncio complains of one that nobody has looked at
        finally:
            finished.set()
            loop.close()

    threading.Thread(target=contextvars.copy_context().run, args=(finish,), daemon=True).start()
    deadline = time.monotonic() + (math.inf if call.tool.timeout is None else call.tool.timeout)
    while not finished.wait(min(0.02, max(0.0, deadline - time.monotonic()))):
        late = time.monotonic() >= deadline
        if late or cancelled():
            with suppress(RuntimeError):  # it may have ended just now
                loop.call_soon_threadsafe(task.cancel)
            raise _timed_out(call) if late else GLRuntimeError("CANCELLED", "The user stopped the run")
    if failure:
        raise failure[0]
    return outcome[0]


async def _run(call: Call, *, offload: bool = False) -> Any:
    """Run a call in the current event loop; ``offload`` moves a plain function to a worker thread."""
    run = call.entry.function
    arguments = validation.copy_plain(call.arguments)
    try:
        if offload and not inspect.iscoroutinefunction(run):
            result = await asyncio.to_thread(run, **arguments)
        else:
            result = run(**arguments)
    except Exception as error:
        raise _failed(call, error) from error
    return await _awaited(call, result) if inspect.isawaitable(result) else result


async def _awaited(call: Call, result: Awaitable[Any]) -> Any:
    try:
        return await result
    except Exception as error:
        raise _failed(call, error) from error


def _failed(call: Call, error: BaseException) -> GLRuntimeError:
    reason = "".join(
        traceback.format_exception_only(error)
    ).strip()  # also of an error that cannot be printed
    message = f"Tool '{call.tool.name}' failed: {reason}"
    return GLRuntimeError("TOOL_FAILED", message, context={"tool_name": call.tool.name})


def _timed_out(call: Call) -> GLRuntimeError:
    message = f"Tool '{call.tool.name}' timed out after {call.tool.timeout:g} s"
    return GLRuntimeError("TOOL_FAILED", message, context={"tool_name": call.tool.name})

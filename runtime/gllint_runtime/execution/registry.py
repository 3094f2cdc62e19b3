"""The tools of an agent: verify the arguments, only then execute, then verify the output.

Every way to run a tool (``ToolRegistry.invoke`` and ``execute``, ``dispatch_tool``, ``ToolRuntime``) goes
through :meth:`ToolRegistry.verify` and :meth:`ToolRegistry.check_output`; there is no other.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from gllint_runtime.execution.approval import ApprovalGate, Approve, Notify, ToolCategory
from gllint_runtime.execution.calls import Call, Entry, Mode, _run, _timed_out, refuse_egress, run_blocking
from gllint_runtime.execution.tools import BaseTool, Tool, ToolResult
from gllint_runtime.policy import schemas, validation
from gllint_runtime.policy.errors import GLDataError, GLError, GLRuntimeError, GLValidationError
from gllint_runtime.policy.units import UnitRegistry

logger = logging.getLogger("gllint_runtime")


class Output(NamedTuple):
    """What a tool returned, verified: plain data, and the Quantities and raw numbers found in it."""

    data: Any
    found: schemas.Survey


class ToolRegistry:
    """The tools of an agent, and the only place that runs them.

    ``extend_units`` and ``strict_units`` widen or narrow the units that results may carry;
    ``allow_raw_numbers`` gives up the Quantity rule for results, loudly: such numbers can still not be
    claimed. ``approve`` and ``notify`` are the callbacks of :mod:`gllint_runtime.execution.approval`.
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
        self._entries: dict[str, Entry] = {}
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
        self._entries[tool.name] = Entry(tool)
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

    def _entry(self, name: str) -> Entry:
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

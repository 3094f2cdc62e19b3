"""The tools of an agent: verify the arguments, only then execute, then verify the output.

Every way to run a tool (``ToolRegistry.invoke`` and ``execute``, ``dispatch_tool``, ``ToolRuntime``) goes
through :meth:`ToolRegistry.verify` and :meth:`ToolRegistry.check_output`; there is no other.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

from gllint_runtime.execution.approval import ApprovalGate, Approve, Notify, ToolCategory
from gllint_runtime.execution.argument_units import Change, Traced, with_quantities_converted
from gllint_runtime.execution.asking import Asking, finish, finishing
from gllint_runtime.execution.calls import Call, Entry, Mode, refuse_egress, run_async, run_blocking
from gllint_runtime.execution.steps import CLARIFICATION
from gllint_runtime.execution.tools import ToolResult, as_tool
from gllint_runtime.policy import schemas, validation
from gllint_runtime.policy.data import Survey
from gllint_runtime.policy.errors import GLDataError, GLError, GLRuntimeError, GLValidationError
from gllint_runtime.policy.keywords import ArgumentUnits, OutputSettings
from gllint_runtime.policy.log import logger
from gllint_runtime.policy.outputs import plain_arguments, verified_output
from gllint_runtime.policy.settings import Policy, combined

_NUMBERS = frozenset({int, float, bool})


class ToolRegistry:
    """The tools of an agent, and the only place that runs them.

    ``settings`` are ``extend_units``, ``strict_units``, ``packs``, ``plain_keys``, ``plain_kinds`` and
    ``allow_raw_numbers`` of :class:`~gllint_runtime.policy.settings.Policy`; numbers outside Quantities can
    never be claimed. They go before those of ``policy``. ``approve``, ``notify`` and ``confirm_notes`` are those of
    :mod:`gllint_runtime.execution.approval`. A registry is also a read-only mapping from names to tools.
    """

    def __init__(
        self,
        *,
        approve: Approve | None = None,
        notify: Notify | None = None,
        confirm_notes: bool = False,
        policy: Policy | None = None,
        **settings: Unpack[OutputSettings],
    ) -> None:
        self.policy = combined(policy, settings, OutputSettings)
        self.units = self.policy.unit_registry()
        self.gate = ApprovalGate(approve, notify, confirm_notes=confirm_notes)
        self._entries: dict[str, Entry] = {}
        if self.policy.allow_raw_numbers:
            logger.warning(
                "allow_raw_numbers is on: tools may return numbers without a unit, "
                "but answers cannot cite those numbers"
            )

    # ------------------------------------------------------------------------------------------ tools

    def register(self, tool: Any, *, replace: bool = False) -> None:
        """Add a Tool, a BaseTool, or any object with a ``name`` and a ``run`` method.

        Raises GLValidationError for a schema of no use, ValueError for a name that is taken, TypeError for what
        is no tool.
        """
        tool = as_tool(tool)
        # A model that asks for the tool "None" asks for clarification.
        if not isinstance(tool.name, str) or not tool.name or tool.name == CLARIFICATION:
            raise ValueError(f"{tool.name!r} is not a valid name for a tool")
        if tool.name in self._entries and not replace:
            raise ValueError(f"Tool {tool.name!r} is already registered")
        self._entries[tool.name] = Entry(tool)
        logger.info("Registered tool: %s", tool.name)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter([*self._entries])

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, name: str) -> Any:
        """Return the tool of that name. Raises KeyError."""
        return self._entries[name].tool

    def get(self, name: str) -> Any:
        """Return the tool of that name. Raises GLDataError PATH_RESOLUTION."""
        return self._entry(name).tool

    def descriptors(self) -> list[dict[str, Any]]:
        """Name, description and parameters of each tool, as providers want them, all references inlined."""
        return [
            {"name": name, "description": entry.tool.description, "parameters": entry.args_schema}
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
        return finish(self._invoking(name, arguments, mode))

    async def ainvoke(self, name: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """:meth:`invoke` on the running event loop."""
        return await finishing(self._invoking(name, arguments))

    async def execute(self, name: str, /, **arguments: Any) -> ToolResult:
        """Run a tool in the running event loop and return a ToolResult, whatever happens."""
        started = time.perf_counter()
        category = ToolCategory.READ_ONLY
        try:
            category = self._entry(name).category
            call = self.verify(name, arguments)
            result = await finishing(self._calling(call))
            answer = result if isinstance(result, ToolResult) else ToolResult(True, None, name, category)
            answer = replace(answer, data=self.check_output(call, result).data if answer.success else None)
        except GLError as error:
            denied = error.code == "APPROVAL_DENIED"
            text = "Tool execution cancelled" if denied else str(error)
            answer = ToolResult(False, None, name, category, text, cancelled=denied)
        answer.execution_time_ms = answer.execution_time_ms or (time.perf_counter() - started) * 1000
        return answer

    def _invoking(self, name: str, arguments: Any, mode: Mode = "Live") -> Asking[Any]:
        call = self.verify(name, arguments or {})
        return self.check_output(call, (yield from self._calling(call, mode))).data

    def _calling(self, call: Call, mode: Mode = "Live") -> Asking[Any]:
        refuse_egress(call, mode)
        yield from self.gate.checking(call.tool, call.arguments, call.entry.category)
        return (yield partial(run_blocking, call), lambda _: run_async(call))

    def verify(self, name: str, arguments: Any, *, argument_units: ArgumentUnits | None = None) -> Call:
        """Find the tool, repair stringified JSON, convert Quantities, check the arguments against schema and signature.

        ``argument_units`` goes before that of the registry's policy. Raises GLDataError PATH_RESOLUTION for an
        unknown tool and GLValidationError ARGS_SCHEMA or ARGUMENT_UNIT.
        """
        entry = self._entry(name)
        if isinstance(arguments, str):
            arguments = validation.parse_stringified(arguments, {"type": "object"})
        fixed = plain = plain_arguments(name, arguments)
        changes: tuple[Change, ...] = ()
        if not _NUMBERS.issuperset(map(type, plain.values())):
            fixed = validation.parse_stringified(plain, entry.args_schema)
            units = argument_units or self.policy.argument_units
            if units != "off" and _may_hold_quantities(fixed, entry):
                fixed, changes = with_quantities_converted(
                    name, fixed, entry.parameters, self.policy.quantity_shapes
                )
        self._check_arguments(entry, fixed)
        return Call(entry.tool, fixed, fixed is not plain and fixed != plain, entry, changes)

    def verify_converted(self, call: Call, traced: Traced) -> Call:
        """Return the call with converted arguments, once these fit the schema. Raises as :meth:`verify` does."""
        self._check_arguments(call.entry, traced.values)
        return call._replace(arguments=traced.values, repaired=True, changes=traced.changes)

    def _check_arguments(self, entry: Entry, fixed: dict[str, Any]) -> None:
        """Check arguments against a tool's schema and signature. Raises GLValidationError ARGS_SCHEMA."""
        name = entry.tool.name
        problem = entry.check_args(fixed)
        if problem is not None:
            path, message = problem
            raise GLValidationError(
                "ARGS_SCHEMA",
                f"Arguments of '{name}' do not match the schema: {message}",
                path=schemas.show_path(path),
            )
        if entry.accepted is not None and not fixed.keys() <= entry.accepted:
            unknown = ", ".join(sorted(fixed.keys() - entry.accepted))
            raise GLValidationError("ARGS_SCHEMA", f"'{name}' takes no argument {unknown}")
        if not fixed.keys() >= entry.needed:
            missing = ", ".join(sorted(entry.needed - fixed.keys()))
            raise GLValidationError("ARGS_SCHEMA", f"'{name}' needs the argument {missing}")

    def check_output(self, call: Call, output: Any, policy: Policy | None = None) -> Survey:
        """Return the output as plain data, once it fits its schema and each number in it has an allowed unit.

        Raises GLRuntimeError TOOL_FAILED for a ToolResult that failed, GLValidationError RESULT_SCHEMA or
        UNIT_UNKNOWN.
        """
        if isinstance(output, ToolResult):
            if not output.success:
                raise GLRuntimeError("TOOL_FAILED", f"Tool '{call.tool.name}' failed: {output.error_message}")
            output = output.data
        return verified_output(
            call.tool.name, output, policy or self.policy, self.units, call.entry.result_schema
        )

    def list(self) -> list[Any]:
        """Return all tools in order of registration."""
        return [entry.tool for entry in self._entries.values()]


def _may_hold_quantities(arguments: dict[str, Any], entry: Entry) -> bool:
    """Return whether some argument is an object or a list, or text where a number with a unit is asked for."""
    numeric_only = entry.parameters.numeric_only
    for name, value in arguments.items():
        kind = type(value)
        if kind is dict or kind is list or (kind is str and name in numeric_only):
            return True
    return False

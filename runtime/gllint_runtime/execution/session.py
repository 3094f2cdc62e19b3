"""The gate: tool outputs go in, a message comes out once each of its numbers is claimed and proven.

For agents that have a loop of their own; :class:`~gllint_runtime.execution.runtime.ToolRuntime` is built on it.
"""

from __future__ import annotations

import json
import logging
import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, reduce
from operator import getitem
from typing import Any, Literal, Unpack

from gllint_runtime.execution.argument_units import (
    Arguments,
    Change,
    Traced,
    with_converted,
    with_quantities_converted,
)
from gllint_runtime.execution.origins import Origins
from gllint_runtime.execution.record import CallRecord, Origin
from gllint_runtime.execution.steps import read_claims
from gllint_runtime.execution.trace import Metrics, count_of
from gllint_runtime.policy.claims import Macro, find_macros, in_place, macro_problems
from gllint_runtime.policy.data import Survey, copy_plain, plain
from gllint_runtime.policy.errors import (
    GLDataError,
    GLError,
    GLProvenanceError,
    GLRuntimeError,
    GLValidationError,
)
from gllint_runtime.policy.keywords import PolicySettings
from gllint_runtime.policy.numbers import scan_naked_numbers, unsafe_characters
from gllint_runtime.policy.outputs import plain_arguments, resolve_path, usable_checker, verified_output
from gllint_runtime.policy.parameter_units import ParameterUnits
from gllint_runtime.policy.quantity_context import holds_time
from gllint_runtime.policy.rendering import format_quantity
from gllint_runtime.policy.schemas import Claim, Quantity
from gllint_runtime.policy.settings import Policy, combined
from gllint_runtime.policy.units import UnitRegistry
from gllint_runtime.policy.validation import Checker
from gllint_runtime.show import Showing, Shown

logger = logging.getLogger("gllint_runtime")

_VERSION = 1
_MAX_BYTES = 64_000_000
_MAX_MESSAGE = 500_000


@dataclass
class Verified(Showing):
    """A message that may be shown: its text, where each number comes from, and the session's metrics."""

    message: str
    provenance: list[dict[str, Any]]
    metrics: dict[str, Any]
    rendering: Shown = field(repr=False)
    status: Literal["success"] = "success"


@dataclass(frozen=True)
class Refused:
    """A message that may not be shown, and why; ``hint`` is what to tell the model."""

    error: GLError
    hint: str
    metrics: dict[str, Any]
    status: Literal["error"] = "error"


class Session:
    """One conversation: what its tools returned, and what may be said of it. Safe under threads and tasks.

    ``settings`` are the fields of :class:`~gllint_runtime.policy.settings.Policy`, and go before those of ``policy``;
    ``constants`` are numbers that arguments may hold, by name. Claims may cite any earlier call; beyond ``max_bytes``
    of outputs the oldest are forgotten, and a claim that cites one of them is refused.
    """

    trace: Sequence[Mapping[str, Any]] = ()  # what a run has done; a session knows its tools' outputs only

    def __init__(
        self,
        *,
        constants: Mapping[str, Any] | None = None,
        max_bytes: int = _MAX_BYTES,
        policy: Policy | None = None,
        **settings: Unpack[PolicySettings],
    ) -> None:
        policy = combined(policy, settings, PolicySettings)
        self._begin(policy, policy.unit_registry(), numbers_by_name(constants), max_bytes)

    def _begin(
        self, policy: Policy, units: UnitRegistry, constants: dict[str, Any], max_bytes: int = _MAX_BYTES
    ) -> None:
        """Begin under what was checked already, but for ``max_bytes``."""
        if type(max_bytes) is not int or max_bytes < 1:
            raise ValueError(f"max_bytes is a number of bytes, not {max_bytes!r}")
        self.policy = policy
        self.units = units
        self.constants = constants
        self.metrics = Metrics()
        self._max_bytes = max_bytes
        self._bytes = 0
        self._count = 0
        self._heard: list[str] = []
        self._calls: dict[str, CallRecord] = {}
        self._origins = Origins(constants)
        self._lock = threading.RLock()

    # ------------------------------------------------------------------------------------- what comes in

    def user(self, text: str) -> None:
        """Tell what the user said: arguments may hold its numbers. What was said last need not be told again."""
        if not isinstance(text, str):
            raise TypeError(f"What the user said is text, not {type(text).__name__}")
        text = str.__str__(text)
        with self._lock:
            if self._heard and self._heard[-1] == text:
                return
            self._heard.append(text)
            self._bytes += len(text)
            self._origins.learn(text)
            if self._bytes > self._max_bytes:
                self._forget()

    def tool_arguments(
        self, tool: str, arguments: Mapping[str, Any] | None, *, args_schema: Mapping[str, Any] | None = None
    ) -> Arguments:
        """The arguments of a call as its tool takes them; ask before the tool runs, and give :meth:`record` the answer.

        What is a Quantity is converted to the unit of its parameter, which ``args_schema`` declares or its name ends
        in. Raises GLValidationError ARGS_SCHEMA or ARGUMENT_UNIT, GLProvenanceError MISSING_ORIGIN.
        """
        values = plain_arguments(tool, {} if arguments is None else arguments)
        parameters = _parameters(args_schema)
        changes: tuple[Change, ...] = ()
        if self.policy.argument_units != "off":
            values, changes = with_quantities_converted(tool, values, parameters)
        return Arguments(self.trace_arguments(tool, values, args_schema, parameters, changes))

    def record(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None,
        output: Any,
        *,
        result_schema: Mapping[str, Any] | None = None,
        args_schema: Mapping[str, Any] | None = None,
    ) -> str:
        """Verify one tool output, keep a copy, and return the ``call_id`` that claims cite.

        ``arguments`` are what the tool was called with: those of :meth:`tool_arguments`, or any others, which are
        held to their units now. Raises GLValidationError ARGS_SCHEMA, ARGUMENT_UNIT, RESULT_SCHEMA or UNIT_UNKNOWN,
        GLProvenanceError MISSING_ORIGIN.
        """
        if not isinstance(tool, str):
            raise GLValidationError("ARGS_SCHEMA", f"The name of a tool is text, not {type(tool).__name__}")
        tool = str.__str__(tool)
        values = arguments if isinstance(arguments, Arguments) else plain_arguments(tool, arguments or {})
        check = None if result_schema is None else _checker(tool, result_schema)
        verified = verified_output(tool, output, self.policy, self.units, check)
        with self._lock:
            if isinstance(values, Arguments):
                origins = values.origins
            else:
                parameters = _parameters(args_schema)
                origins = self.trace_arguments(
                    tool, values, args_schema, parameters, may_convert=False
                ).origins
            return self.admit(tool, dict(values), verified, origins).call_id

    def output(self, call_id: str) -> Any:
        """A copy of what a call returned, as it was verified. Raises KeyError."""
        with self._lock:
            return copy_plain(self._calls[call_id].output.data)

    def trace_arguments(
        self,
        tool: str,
        arguments: dict[str, Any],
        args_schema: Any,
        parameters: ParameterUnits,
        changes: tuple[Change, ...] = (),
        *,
        may_convert: bool = True,
    ) -> Traced:
        """The arguments with the origin of each number in them; one of another unit than its parameter's is refused.

        Under ``argument_units="convert"`` it is converted, unless the tool has run already (``may_convert``). Raises
        GLProvenanceError MISSING_ORIGIN, GLValidationError ARGUMENT_UNIT.
        """
        policy = self.policy
        judges_units = policy.argument_units != "off"
        if policy.argument_origin == "off" and not judges_units:
            return Traced(arguments, None, changes)
        with self._lock:
            origins, misfits = self._origins.trace(
                arguments, args_schema, parameters if judges_units else None, changes
            )
        if misfits and policy.argument_units != "record":
            converts = may_convert and policy.argument_units == "convert"
            new = [misfit.change() if converts else None for misfit in misfits]
            if None in new:
                takes_quantities = may_convert and args_schema is not None
                raise misfits[new.index(None)].error(tool, takes_quantities=takes_quantities)
            changes = (*changes, *(change for change in new if change is not None))
            arguments = with_converted(arguments, changes[-len(new) :])
            return self.trace_arguments(tool, arguments, args_schema, parameters, changes)
        if policy.argument_origin == "strict" and (loose := [o for o in origins if not o.grounded]):
            raise GLProvenanceError(
                "MISSING_ORIGIN",
                f"The number {loose[0].value} in the arguments of '{tool}' has no origin",
                path=loose[0].path,
                context=[origin.to_dict() for origin in loose[:50]],
            )
        return Traced(arguments, None if policy.argument_origin == "off" else origins, changes)

    def next_id(self) -> str:
        """The id that the next call will have."""
        return f"tc_{self._count + 1}"

    def admit(
        self, tool: str, arguments: dict[str, Any], output: Survey, origins: tuple[Origin, ...] | None
    ) -> CallRecord:
        """Keep a call whose output is verified."""
        with self._lock:
            self._count += 1
            record = CallRecord(f"tc_{self._count}", tool, arguments, output, origins)
            self._keep(record)
            self.metrics.executed[tool] = self.metrics.executed.get(tool, 0) + 1
            return record

    def _keep(self, record: CallRecord) -> None:
        self._calls[record.call_id] = record
        self._origins.learn(record)
        self._bytes += record.size
        if self._bytes > self._max_bytes:
            self._forget()

    def _forget(self) -> None:
        """Drop the oldest calls, then what was said longest ago: too much is held."""
        enough = self._max_bytes * 3 // 4
        while self._bytes > enough and len(self._calls) > 1:
            self._bytes -= self._calls.pop(next(iter(self._calls))).size
        while self._bytes > enough and len(self._heard) > 1:
            self._bytes -= len(self._heard.pop(0))
        self._origins = Origins(self.constants, [*self._heard, *self._calls.values()])

    # ------------------------------------------------------------------------------------ what goes out

    def check(self, message: str, claims: Sequence[Any] | None = ()) -> Verified:
        """The message as the user may see it, with its provenance. Raises GLError.

        ``claims`` are objects ``{"source_call_id", "path", "quantity"}`` or :class:`Claim`; ``{{claim:i}}`` in the
        message stands for claim ``i``.
        """
        if not isinstance(message, str):
            raise GLValidationError("STEP_SCHEMA", f"The message is text, not {type(message).__name__}")
        rendering = self.check_read(str.__str__(message), read_claims(claims))
        return Verified("".join(rendering.pieces), rendering.provenance, self.metrics.to_dict(), rendering)

    def verify(self, message: str, claims: Sequence[Any] | None = ()) -> Verified | Refused:
        """Like :meth:`check`, but a union told apart by ``status`` (``"success"``, ``"error"``)."""
        try:
            return self.check(message, claims)
        except GLError as error:
            return Refused(error, self.repair_hint(error), self.metrics.to_dict())

    @staticmethod
    def repair_hint(error: BaseException | Refused) -> str:
        """What to tell the model, so that it can mend its step."""
        if isinstance(error, Refused):
            return error.hint
        return f"{error}\n{error.hint}" if isinstance(error, GLError) else f"{type(error).__name__}: {error}"

    def check_read(self, message: str, claims: Sequence[Claim]) -> Shown:
        """What :meth:`check` lets be shown, for claims that :func:`read_claims` has read."""
        if len(message) > _MAX_MESSAGE:
            raise GLValidationError("STEP_SCHEMA", f"The message has more than {_MAX_MESSAGE} characters")
        if unsafe := unsafe_characters(message):
            start = unsafe[0][0]
            raise GLRuntimeError("UNSAFE_TEXT", f"Control character {message[start]!r} at position {start}")
        macros = find_macros(message)
        self._refuse_naked_numbers(message, macros)
        if not macros and not claims:
            return Shown([message], [], [], [], self.trace)
        for _, problem in macro_problems(macros, len(claims)):
            raise GLRuntimeError("MISSING_CLAIM", problem)
        provenance, returned = [], []
        with self._lock:
            for number, claim in enumerate(claims):
                record, quantity = self._resolve(number, claim)
                provenance.append(record.provenance(claim))
                returned.append(quantity)
        units = [quantity.unit for quantity in returned]
        if [unit for unit in units if unit == "count" or holds_time(unit)]:
            self._refuse_naked_numbers(message, macros, units)
        values = [format_quantity(quantity) for quantity in returned]
        cited = [macro.index or 0 for macro in macros]
        pieces = in_place(message, macros, lambda macro: values[macro.index or 0])
        return Shown(pieces, cited, provenance, returned, self.trace)

    def _refuse_naked_numbers(self, message: str, macros: list[Macro], claimed: Sequence[str] = ()) -> None:
        naked = scan_naked_numbers(
            message,
            whitelist=self.policy.whitelist,
            words=self.policy.number_words,
            units=self.units.own,
            glued=self.units.of_packs,
            macros=macros,
            claimed=claimed,
        )
        if not naked:
            return
        with self._lock:
            self.metrics.naked_number_rejections += 1
        raise GLRuntimeError(
            "NO_NAKED_NUMBERS",
            f"Naked number '{naked[0].text[:200]}' detected at position {naked[0].start}",
            hint=naked[0].hint,
            context=[{"text": number.text, "position": number.start} for number in naked[:200]],
        )

    def _resolve(self, number: int, claim: Claim) -> tuple[CallRecord, Quantity]:
        """The call that a claim cites and the Quantity that it really returned."""
        record = self._calls.get(claim.source_call_id)
        if record is None:
            raise GLProvenanceError(
                "MISSING_TOOL_CALL",
                f"Claim {number} cites tool call '{claim.source_call_id[:80]}', which this run does not have",
                hint=f"Calls of this run: {', '.join([*self._calls][-20:]) or 'none'}.",
            )
        actual = resolve_path(record.output, claim.path, arrays=self.policy.array_paths)
        if claim.quantity.unit != actual.unit:
            self.units.require(claim.quantity.unit, claim.path)
        if claim.quantity != actual and not self.units.same_quantity(actual, claim.quantity):
            self.metrics.quantity_mismatches += 1
            raise GLDataError(
                "QUANTITY_MISMATCH",
                f"Claim {number} mismatch: tool returned value={actual.value} unit='{actual.unit}', "
                f"but claimed value={claim.quantity.value} unit='{claim.quantity.unit}'",
                path=claim.path,
            )
        logger.debug("Claim %s holds: %s of %s", number, claim.path, claim.source_call_id)
        return record, actual

    # ------------------------------------------------------------------------------------------ storing

    def to_json(self) -> str:
        """The session as text, for a store between requests."""
        with self._lock:
            calls = [
                {
                    "id": record.call_id,
                    "tool": record.tool_name,
                    "arguments": record.arguments,
                    "output": record.output.data,
                    "exact": [
                        [list(path), _exact_text(quantity.value)]
                        for path, quantity in record.output.quantities.items()
                        if isinstance(quantity.value, (Decimal, Fraction))
                    ],
                    "origins": None if record.origins is None else [[*origin] for origin in record.origins],
                }
                for record in self._calls.values()
            ]
            stored = {
                "gllint_session": _VERSION,
                "policy": self.policy._asdict(),
                "constants": {name: _exact_text(value) for name, value in self.constants.items()},
                "max_bytes": self._max_bytes,
                "count": self._count,
                "user": self._heard,
                "metrics": asdict(self.metrics),
                "calls": calls,
            }
        return json.dumps(stored)

    @classmethod
    def from_json(cls, text: str) -> Session:
        """The session that :meth:`to_json` wrote, each of its outputs verified again.

        Raises ValueError for what is no session, GLError for an output that the policy refuses.
        """
        try:
            stored = json.loads(text)
            if not isinstance(stored, dict) or stored.get("gllint_session") != _VERSION:
                raise ValueError(f"no session of version {_VERSION}")
            policy = Policy(**stored["policy"])
            constants = {name: _number_of(value) for name, value in stored["constants"].items()}
            session = cls.__new__(cls)
            session._begin(policy, policy.unit_registry(), numbers_by_name(constants), stored["max_bytes"])
            session._count = count_of(stored["count"])
            for message in stored["user"]:
                session.user(str.__str__(message))
            session.metrics = Metrics.restored(stored["metrics"])
            for call in stored["calls"]:
                session._keep(session._restored(call))
        except GLError:
            raise
        except RecursionError:
            raise ValueError("This is no stored session: it is nested too deeply") from None
        except Exception as error:
            raise ValueError(f"This is no stored session: {error}") from None
        return session

    def _restored(self, call: Mapping[str, Any]) -> CallRecord:
        number = call["id"].removeprefix("tc_")
        if not number.isdecimal() or call["id"] != f"tc_{int(number)}" or not 0 < int(number) <= self._count:
            raise ValueError(f"no id of this session: {call['id']!r}")
        if (
            call["id"] in self._calls
            or not isinstance(call["arguments"], dict)
            or not isinstance(call["tool"], str)
        ):
            raise ValueError(f"call {call['id']} is stored twice, or not as a call")
        for path, written in call["exact"]:
            reduce(getitem, path, call["output"])["value"] = _number_of(written)
        output = verified_output(call["tool"], call["output"], self.policy, self.units)
        origins = None if call["origins"] is None else tuple(Origin(*o) for o in plain(call["origins"]))
        return CallRecord(call["id"], call["tool"], plain(call["arguments"]), output, origins)


def numbers_by_name(constants: Mapping[str, Any] | None) -> dict[str, Any]:
    """A copy of declared constants. Raises TypeError for what is no number under a name, ValueError for nan."""
    if not isinstance(constants, Mapping | None):
        raise TypeError(f"constants are numbers by their names, not {constants!r}")
    for name, value in (constants or {}).items():
        if isinstance(value, bool) or not isinstance(value, (int, float, Decimal, Fraction)):
            raise TypeError(f"constants: {name!r} is a number, not {value!r}")
        if not (value.is_finite() if isinstance(value, Decimal) else -math.inf < value < math.inf):
            raise ValueError(f"constants: {name!r} is a finite number, not {value!r}")
    return dict(constants or {})


def _exact_text(value: Any) -> Any:
    return {"exact": str(value)} if isinstance(value, (Decimal, Fraction)) else value


def _number_of(stored: Any) -> Any:
    if not isinstance(stored, dict):
        return stored
    written = stored["exact"]
    if len(written) > 2000:
        raise ValueError("a number is too long")
    return Fraction(written) if "/" in written else Decimal(written)


_BY_NAME = ParameterUnits()


def _parameters(args_schema: Mapping[str, Any] | None) -> ParameterUnits:
    """The units of a tool's parameters, by their names alone where it has no schema."""
    return _BY_NAME if args_schema is None else ParameterUnits(args_schema)


def _checker(tool: str, schema: Mapping[str, Any]) -> Checker:
    try:
        text = json.dumps(schema, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return usable_checker(tool, "RESULT_SCHEMA", schema)
    return _checker_of(tool, text)


@lru_cache(maxsize=256)
def _checker_of(tool: str, text: str) -> Checker:
    return usable_checker(tool, "RESULT_SCHEMA", json.loads(text))

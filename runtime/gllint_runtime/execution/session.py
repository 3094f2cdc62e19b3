"""The gate: tool outputs go in, a message comes out once each of its numbers is claimed and proven.

For agents that have a loop of their own; :class:`~gllint_runtime.execution.runtime.ToolRuntime` is built on it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, NoReturn, Unpack

from gllint_runtime.execution.argument_units import (
    Arguments,
    Change,
    Clash,
    Misfit,
    Traced,
    has_number,
    prose_in,
    with_converted,
    with_quantities_converted,
)
from gllint_runtime.execution.fork_lock import ForkLock
from gllint_runtime.execution.record import CallRecord, Origin
from gllint_runtime.execution.sourced import SourcedGate
from gllint_runtime.execution.steps import read_claims
from gllint_runtime.execution.stored_sessions import (
    Key,
    checked_constants,
    exact_text,
    log_policy_differences,
    number_of,
    opened,
    plain_policy,
    restored_call,
    signed_text,
    stored_call,
)
from gllint_runtime.execution.streaming import MessageStream
from gllint_runtime.execution.text_numbers import text_hint, word_around
from gllint_runtime.execution.trace import Metrics, count_of
from gllint_runtime.execution.verdicts import Event, Redact, Verdicts
from gllint_runtime.policy.claims import SHORT_MACRO, Macro, find_macros, in_place, macro_problems
from gllint_runtime.policy.data import Survey, copy_plain
from gllint_runtime.policy.errors import (
    GLDataError,
    GLError,
    GLProvenanceError,
    GLRuntimeError,
    GLValidationError,
)
from gllint_runtime.policy.keywords import Mode, PolicySettings
from gllint_runtime.policy.log import logger
from gllint_runtime.policy.names import read_name
from gllint_runtime.policy.numbers import NakedNumber, scan_naked_numbers, unsafe_characters
from gllint_runtime.policy.outputs import (
    PLAIN,
    OutputSchema,
    claimable,
    json_value,
    odd_paths,
    output_schema,
    plain_arguments,
    resolve_path,
    unheld_output,
    verified_output,
)
from gllint_runtime.policy.parameter_units import ParameterUnits
from gllint_runtime.policy.rendering import REST_LENGTH, format_quantity
from gllint_runtime.policy.schemas import Claim, Path, Quantity, show_path
from gllint_runtime.policy.settings import Policy, combined
from gllint_runtime.policy.units import UnitRegistry, conversion
from gllint_runtime.show import Showing, Shown

_MOST_MESSAGES = 100
_CALCULATOR, _CALCULATED = "calculate", ("result",)  # the ready tool, and where its result is
_CLAIM_KEYS = frozenset({"source_call_id", "path"})
_CALL_ID = re.compile(r"tc_([1-9][0-9]{0,8})")
_UNVERIFIED = "[unverified]"
_MAX_BYTES = 64_000_000
_MAX_MESSAGE = 500_000
_MAX_PROSE = 20_000  # characters of an argument that is judged as a message


@dataclass
class Verified(Showing):
    """A message that may be shown: its text, where each number comes from, and the session's metrics."""

    message: str
    provenance: list[dict[str, Any]]
    metrics: dict[str, Any]
    rendering: Shown = field(repr=False)
    status: Literal["success"] = "success"

    @property
    def violations(self) -> list[dict[str, Any]]:
        """What the levels of the policy let through: each error as data (:meth:`GLError.to_dict`), with its level."""
        return [*self.rendering.violations]


@dataclass(frozen=True)
class Refused:
    """A message that may not be shown, and why; ``hint`` is for the model."""

    error: GLError
    hint: str
    metrics: dict[str, Any]
    status: Literal["error"] = "error"


class Session:
    """One conversation: what its tools returned, and what may be said of it. Safe under threads and tasks.

    ``settings`` are the fields of :class:`~gllint_runtime.policy.settings.Policy`, and go before those of ``policy``;
    ``constants`` are numbers that arguments may contain, by name. ``redact`` receives each text of the trace, pages,
    events and spans, and returns its replacement. Claims may cite any earlier call; beyond
    ``max_bytes`` of outputs the oldest are forgotten, and a claim that cites one of them is rejected.
    """

    _steps: Sequence[Mapping[str, Any]] = ()  # of a run; a session knows its tools' outputs only

    def __init__(
        self,
        *,
        constants: Mapping[str, Any] | None = None,
        max_bytes: int = _MAX_BYTES,
        policy: Policy | None = None,
        redact: Redact | None = None,
        **settings: Unpack[PolicySettings],
    ) -> None:
        """Begin a conversation. Raises ValueError or TypeError for a setting that is no use."""
        policy = combined(policy, settings, PolicySettings)
        if redact is not None and not callable(redact):
            raise TypeError(f"redact must be a callable, not {redact!r}")
        self.verdicts = Verdicts(redact)
        self._begin(policy, policy.unit_registry(), checked_constants(constants), max_bytes)

    def _begin(
        self, policy: Policy, units: UnitRegistry, constants: dict[str, Any], max_bytes: int = _MAX_BYTES
    ) -> None:
        """Set everything to the beginning of a conversation. Raises ValueError for ``max_bytes``; the other settings
        were checked already.
        """
        if type(max_bytes) is not int or max_bytes < 1:
            raise ValueError(f"max_bytes must be an integer of at least 1, got {max_bytes!r}")
        self.policy = policy
        self.units = units
        self.constants = constants
        self.metrics = Metrics()
        self._max_bytes = max_bytes
        self._bytes = 0
        self._count = 0  # of the calls: the next one is `tc_1`
        self._heard: list[str] = []  # what the user said
        self._calls: dict[str, CallRecord] = {}
        self._names: dict[str, str] = {}  # a framework's id of a call → ours
        self._arranged: dict[str, str] = {}  # the same for calls that still run
        self._said: dict[str, list[Claim]] = {}  # a recently shown message → its claims
        self.version = 0
        self._stored = ""  # the state as it was last saved or loaded
        self.conversation: str | None = None
        self._prompts: list[str] = []
        # Judges messages in sourced mode, and the arguments of calls.
        self._judge = SourcedGate(policy, constants)
        self._lock = ForkLock()

    @property
    def _sourced(self) -> SourcedGate | None:
        return self._judge if self.policy.mode == "sourced" else None

    # ------------------------------------------------------------------------------------- what comes in

    def user(self, text: str) -> None:
        """Add what the user said: arguments may contain its numbers. The last text is not added twice."""
        if not isinstance(text, str):
            raise TypeError(f"The user's text must be a str, not {type(text).__name__}")
        text = str.__str__(text)
        with self._lock:
            if self._heard and self._heard[-1] == text:  # frameworks pass the last text of a history again
                return
            self._heard.append(text)
            self._bytes += len(text)
            self._judge.hear("user", text)
            if self._bytes > self._max_bytes:
                self._forget()

    def prompt(self, text: str) -> None:
        """Add what the program itself says to the model: its numbers may be repeated."""
        if not isinstance(text, str):
            raise TypeError(f"A prompt must be a str, not {type(text).__name__}")
        text = str.__str__(text)
        with self._lock:
            if text in self._prompts:
                return
            self._prompts.append(text)
            self._bytes += len(text)
            self._judge.hear("prompt", text)

    @property
    def mode(self) -> Mode:
        """How messages are checked: ``"claims"`` or ``"sourced"``."""
        return self.policy.mode

    @property
    def user_texts(self) -> list[str]:
        """What the user said, each text once in a row, in order. A copy."""
        with self._lock:
            return [*self._heard]

    def has_heard(self, text: str) -> bool:
        """Return whether the user said just this."""
        return text in self._heard

    def tool_arguments(
        self, tool: str, arguments: Mapping[str, Any] | None, *, args_schema: Mapping[str, Any] | None = None
    ) -> Arguments:
        """Return the arguments of a call as its tool takes them; call this before the tool runs, and give the
        result to :meth:`record`.

        A Quantity is converted to the unit of its parameter, declared in ``args_schema`` or named by its end
        (``heat_kwh``); a macro in a text becomes what it claims. Raises GLValidationError ARGS_SCHEMA or
        ARGUMENT_UNIT, GLProvenanceError MISSING_ORIGIN, and for a macro what :meth:`check` raises.
        """
        values = self._with_claims_shown(plain_arguments(tool, {} if arguments is None else arguments))
        parameters = _parameters(args_schema)
        changes: tuple[Change, ...] = ()
        if self.policy.argument_units != "off":
            values, changes = with_quantities_converted(tool, values, parameters, self.policy.quantity_shapes)
        return Arguments(self.trace_arguments(tool, values, args_schema, parameters, changes))

    def record(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None,
        output: Any,
        *,
        result_schema: Mapping[str, Any] | None = None,
        args_schema: Mapping[str, Any] | None = None,
        tool_call_id: str | None = None,
    ) -> str:
        """Verify a tool's output, keep a copy, and return the id that claims cite: ``"tc_1"``.

        ``arguments`` are those of :meth:`tool_arguments`, or any others, whose origins are traced now.
        ``result_schema`` and ``args_schema`` are the tool's JSON Schemas, ``tool_call_id`` the framework's own id
        of the call, which claims may cite. Raises GLValidationError ARGS_SCHEMA, ARGUMENT_UNIT, RESULT_SCHEMA or
        UNIT_UNKNOWN, GLProvenanceError MISSING_ORIGIN.
        """
        if not isinstance(tool, str):
            raise GLValidationError(
                "ARGS_SCHEMA", f"The name of a tool must be a str, not {type(tool).__name__}"
            )
        tool = str.__str__(tool)
        values = (
            arguments
            if isinstance(arguments, Arguments)
            else plain_arguments(tool, {} if arguments is None else arguments)
        )
        schema = None if result_schema is None else _output_schema(tool, result_schema)
        with self._lock:
            verified = self._verified(tool, output, schema)
            if isinstance(values, Arguments):
                origins = values.origins
            else:
                parameters = _parameters(args_schema)
                origins = self.trace_arguments(
                    tool, values, args_schema, parameters, may_convert=False
                ).origins
            own_id = self._arranged.pop(tool_call_id, None) if tool_call_id is not None else None
            call_id = self.admit(tool, dict(values), verified, origins, own_id).call_id
            if tool_call_id is not None:
                self._names[str.__str__(tool_call_id)] = call_id
            return call_id

    def _verified(self, tool: str, output: Any, schema: OutputSchema | None) -> Survey:
        """Return the verified output; one that breaks a rule whose level does not block is kept without claimable
        numbers.
        """
        try:
            return verified_output(tool, output, self.policy, self.units, schema)
        except GLError as error:
            self.verdicts.violation(error, self.policy.level(error.code))
        try:
            return unheld_output(output, self.policy, self.units)
        except ValueError:  # nothing of it can be kept
            return Survey(None)

    def output(self, call_id: str) -> Any:
        """Return a copy of what a call returned, as it was verified. Raises KeyError."""
        with self._lock:
            return copy_plain(self._calls[call_id].output.data)

    def declared_units(self, call_id: str) -> dict[str, str]:
        """Return the units of what a call returned that its schema alone says, by the path of each number.

        Raises KeyError.
        """
        with self._lock:
            return self._calls[call_id].output.declared_units()

    def told_of(self, tool_call_id: str) -> dict[str, Any] | None:
        """Return what the model receives of a call, by the framework's own id; ``None`` if it was not recorded."""
        with self._lock:
            call_id = self._names.get(tool_call_id)
            return None if call_id is None else {"tool_call_id": call_id, "output": self.output(call_id)}

    def odd_paths(self, call_id: str) -> list[str]:
        """Return how claims write the paths of a call's Quantities whose keys are no names. Raises KeyError."""
        with self._lock:
            return odd_paths(self._calls[call_id].output)

    def claimable(self) -> list[Claim]:
        """Return a claim for each number that a message may cite, in the order in which they were recorded."""
        arrays = self.policy.array_paths
        with self._lock:
            return [
                Claim(call_id, path, quantity)
                for call_id, record in self._calls.items()
                for path, quantity in claimable(record.output, arrays=arrays).items()
            ]

    @property
    def has_calls(self) -> bool:
        """Return whether anything was recorded."""
        return bool(self._calls)

    def arrange(self, tool_call_ids: Sequence[str]) -> None:
        """Give calls that run side by side their ids by their places, whichever of them ends first."""
        with self._lock:
            for name in tool_call_ids if len(tool_call_ids) > 1 else ():
                if name not in self._arranged and name not in self._names:
                    self._count += 1
                    self._arranged[name] = f"tc_{self._count}"

    @property
    def count(self) -> int:
        """How many calls there were."""
        return self._count

    def restore(
        self,
        call_id: str | None,
        tool: str,
        arguments: Mapping[str, Any] | None,
        output: Any,
        *,
        tool_call_id: str | None = None,
    ) -> None:
        """Record a call of a stored history again, under its id or the next one.

        A call whose id is recorded already is taken for the same call and left as it is: the histories of several
        requests repeat each other. Two agents may have given two calls one id, which shows if the framework's ids
        (``tool_call_id``) differ: only the first can be cited, and the second raises GLError. So does what is no id.
        A framework's id stays with the call that had it first.
        """
        with self._lock:
            if call_id is None:
                call_id, number = self.next_id(), self._count + 1
            elif isinstance(call_id, str) and (digits := _CALL_ID.fullmatch(call_id)):
                number = int(digits[1])
            else:
                raise GLProvenanceError(
                    "MISSING_TOOL_CALL", f"'{str(call_id)[:80]}' is not the id of a recorded call"
                )
            if call_id in self._calls:
                is_named = call_id in self._names.values()
                if tool_call_id is not None and is_named and self._names.get(tool_call_id) != call_id:
                    raise GLProvenanceError(
                        "MISSING_TOOL_CALL", f"'{call_id}' is already the id of another call"
                    )
            else:
                values = plain_arguments(tool, arguments if isinstance(arguments, Mapping) else {})
                try:
                    verified = verified_output(tool, output, self.policy, self.units)
                except GLError:  # as foreign JSON was let through: what has no unit cannot be claimed
                    verified = unheld_output(output, self.policy, self.units)
                self._count = max(self._count, number)
                self._keep(CallRecord(call_id, str.__str__(tool), values, verified, None))
            if tool_call_id is not None:
                self._names.setdefault(str.__str__(tool_call_id), call_id)

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
        """Return the arguments with the origin of each number; one in another unit than its parameter's is
        rejected or converted.

        It is converted under ``argument_units="convert"``, unless the tool has run already
        (``may_convert=False``). Raises GLProvenanceError MISSING_ORIGIN, GLValidationError ARGUMENT_UNIT,
        GLDataError BASIS.
        """
        policy = self.policy
        judges_units = policy.argument_units != "off"
        if policy.argument_origin == "off" and not judges_units:
            return Traced(arguments, None, changes)
        with self._lock:
            origins, misfits, clashes = self._traced(
                arguments, parameters, changes, judges_units=judges_units
            )
        if clashes and policy.argument_units != "record":
            clash = clashes[0].error(tool)
            self.verdicts.violation(clash, policy.level(clash.code))
        if misfits and policy.argument_units != "record":
            converts = may_convert and policy.argument_units == "convert"
            new = [misfit.change() if converts else None for misfit in misfits]
            if None in new:
                takes_quantities = may_convert and args_schema is not None
                misfit = misfits[new.index(None)].error(tool, takes_quantities=takes_quantities)
                self.verdicts.violation(misfit, policy.level(misfit.code))
            else:
                changes = (*changes, *(change for change in new if change is not None))
                arguments = with_converted(arguments, changes[-len(new) :])
                return self.trace_arguments(tool, arguments, args_schema, parameters, changes)
        is_strict = policy.argument_origin == "strict"
        traced = () if policy.argument_origin == "off" else origins
        prose = self._judged_prose(tool, arguments, args_schema) if is_strict else frozenset()
        if loose := [
            o
            for o in traced
            if o.demand is not None or (is_strict and not o.grounded and o.path not in prose)
        ]:
            first = loose[0]
            what = f"{first.value} in the arguments of '{tool}'"
            error = GLProvenanceError(
                "MISSING_ORIGIN",
                f"The number {what} has no origin"
                if first.demand is None
                else f"{what} may come from {first.demand} alone, but comes from {first.source or first.kind}",
                path=loose[0].path,
                context=[origin.to_dict() for origin in loose[:50]],
            )
            self.verdicts.violation(error, policy.level(error.code))
        return Traced(arguments, None if policy.argument_origin == "off" else origins, changes)

    def _traced(
        self,
        arguments: dict[str, Any],
        parameters: ParameterUnits,
        changes: tuple[Change, ...],
        *,
        judges_units: bool,
    ) -> tuple[tuple[Origin, ...], list[Misfit], list[Clash]]:
        """Return the origins of the numbers in a call's arguments, and those whose unit or basis does not fit the
        parameter.
        """
        if not has_number(arguments):
            return (), [], []
        from gllint_runtime.execution.origins import Tracing  # brings the reader of texts

        policy = self.policy
        tracing = Tracing(
            self._judge.provenance,
            self._calls,
            self._heard,
            kinds=policy.kinds_with_origin,
            shapes=policy.quantity_shapes,
        )
        citations = self._citations(arguments)
        origins = tracing.origins(
            arguments, parameters, changes, judges_units=judges_units, citations=citations
        )
        return origins, tracing.misfits, tracing.clashes

    def _with_claims_shown(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments with each macro replaced by what it claims.

        "You used {{tc_1.heat}}" → "You used 2.00 kWh".

        ``{{claim:0}}`` is the first entry of the argument ``claims``. Raises GLError for a wrong claim.
        """
        claims = arguments.get("claims")

        def shown(value: Any) -> Any:
            """Replace the macros in each text of an argument."""
            if type(value) is dict:
                return {key: shown(item) for key, item in value.items()}
            if type(value) is list:
                return [shown(item) for item in value]
            if type(value) is not str or not ("{{tc_" in value or find_macros(value)):
                return value
            text, cited = self._with_short_claims(value, claims if type(claims) is list else [])
            rendered, _, errors = self._rendered(text, read_claims(cited))
            self.verdicts.settle(errors, self.policy.level, 0) if errors else None
            return rendered

        return {key: shown(value) for key, value in arguments.items()}

    def _rendered(
        self, message: str, claims: Sequence[Claim]
    ) -> tuple[str, list[tuple[int, int]], list[GLError]]:
        """Return a text with what its macros claim, the places of that in it, and the errors of macros that are
        wrong.
        """
        macros = find_macros(message)
        errors: list[GLError] = [
            GLRuntimeError("MISSING_CLAIM", text)
            for place, text in macro_problems(macros, len(claims))
            if isinstance(place, Macro)
        ]
        proven: list[tuple[int, int]] = []
        pieces: list[str] = []
        length = 0
        for place, piece in enumerate(in_place(message, macros, lambda macro: "")):
            if place % 2:  # texts and macros alternate
                macro, piece = macros[place // 2], _UNVERIFIED
                if macro.index is not None and macro.index < len(claims):
                    try:
                        with self._lock:
                            quantity = self._resolve(macro.index, claims[macro.index])[1]
                        piece = format_quantity(quantity, message[macro.end : macro.end + REST_LENGTH])
                    except GLError as error:
                        errors.append(error)
                proven.append((length, length + len(piece)))
            pieces.append(piece)
            length += len(piece)
        return "".join(pieces), proven, errors

    def _judged_prose(self, tool: str, arguments: dict[str, Any], args_schema: Any) -> frozenset[str]:
        """Return the paths of arguments that people read, each judged like a message. Raises GLProvenanceError."""
        gate = self._judge
        declared = args_schema.get("properties") if isinstance(args_schema, Mapping) else None
        paths = []
        for path, text in prose_in(arguments, declared if isinstance(declared, Mapping) else {}):
            if len(text) > _MAX_PROSE or unsafe_characters(text):  # traced number by number
                continue
            with self._lock:
                findings = gate.judge(text)
            findings = [one for one in findings if one.kind in self.policy.kinds_with_origin]
            paths.append(show_path(path))
            if failing := gate.errors(findings):
                first = failing[0]
                number = first.context[0]["text"]
                error = GLProvenanceError(
                    "MISSING_ORIGIN",
                    f"The number {number} in the arguments of '{tool}' has no origin: {first.message}",
                    first.hint,
                    path=paths[-1],
                    context=first.context,
                )
                self.verdicts.violation(error, self.policy.level(error.code))
        return frozenset(paths)

    def _citations(self, arguments: dict[str, Any]) -> dict[Path, Origin | None]:
        """Return the places of valid claims in a call's arguments, by path: the origin of each number, ``None``
        for each text.
        """
        citations: dict[Path, Origin | None] = {}
        for name, value in arguments.items():
            if type(value) is not list and type(value) is not dict:
                continue
            for number, item in enumerate(value if type(value) is list else [value]):
                if type(item) is not dict or not item.keys() >= _CLAIM_KEYS:
                    continue
                try:
                    (claim,) = read_claims([self._with_quantity(item)])
                    record, _ = self._resolve(0, claim)
                except GLError:  # its tool says what is wrong with it
                    continue
                place: Path = (name, number) if type(value) is list else (name,)
                citations.update(dict.fromkeys((*place, key) for key in ("source_call_id", "path", "basis")))
                if "quantity" not in item:
                    continue
                citations[*place, "quantity", "unit"] = None
                path = *place, "quantity", "value"
                given, unit = item["quantity"].get("value"), claim.quantity.unit
                source, grounded = f"{record.call_id} {claim.path}", record.grounded is not False
                citations[path] = Origin(show_path(path), given, "tool", source, grounded, unit, unit)
        return citations

    def next_id(self) -> str:
        """Return the id that the next call will have."""
        return f"tc_{self._count + 1}"

    def admit(
        self,
        tool: str,
        arguments: dict[str, Any],
        output: Survey,
        origins: tuple[Origin, ...] | None,
        call_id: str | None = None,
    ) -> CallRecord:
        """Keep a call whose output is verified, and return its record; its id is the next one (``tc_3``) or
        ``call_id``.
        """
        with self._lock:
            if call_id is None:
                self._count += 1
                call_id = f"tc_{self._count}"
            if tool == _CALCULATOR:
                self._inherit_basis(arguments, output)
            record = CallRecord(call_id, tool, arguments, output, origins)
            self._keep(record)
            self.verdicts.call(record)
            self.metrics.executed[tool] = self.metrics.executed.get(tool, 0) + 1
            return record

    def _inherit_basis(self, arguments: dict[str, Any], output: Survey) -> None:
        """Give the result of a calculation the basis of the numbers in it if they share one, unless it is a ratio
        or a change.
        """
        result = output.quantities.get(_CALCULATED)
        claims = arguments.get("claims")
        if result is None or type(claims) is not list or conversion(result.unit, "%") is not None:
            return
        try:
            bases = {basis for _, basis in self.cited(read_claims(claims))} - {None}
        except GLError:  # a tool of the same name that takes something else
            return
        if len(bases) == 1:
            output.bases.setdefault(_CALCULATED, str(bases.pop()))

    def _keep(self, record: CallRecord) -> None:
        self._calls[record.call_id] = record
        self._judge.record(record)
        self._bytes += record.size
        if self._bytes > self._max_bytes:
            self._forget()

    def _forget(self) -> None:
        """Drop the oldest calls, then the oldest texts of the user, until a quarter of ``max_bytes`` is free."""
        enough = self._max_bytes * 3 // 4
        while self._bytes > enough and len(self._calls) > 1:
            record = self._calls.pop(next(iter(self._calls)))
            self.verdicts.release(record)
            self._bytes -= record.size
        while self._bytes > enough and len(self._heard) > 1:
            self._bytes -= len(self._heard.pop(0))
        self._names = {name: call_id for name, call_id in self._names.items() if call_id in self._calls}
        # The judge cannot forget: a new one is given what is left.
        self._judge = SourcedGate(self.policy, self.constants)
        for prompt in self._prompts:
            self._judge.hear("prompt", prompt)
        for text in self._heard:
            self._judge.hear("user", text)
        for record in self._calls.values():
            self._judge.record(record)

    # ------------------------------------------------------------------------------------ what goes out

    def check(self, message: str, claims: Sequence[Any] | None = (), *, mode: Mode | None = None) -> Verified:
        """Return a message as the user may see it, with its provenance.

        "{{claim:0}}" → "12.50 kWh". Raises GLError.

        ``claims`` are objects ``{"source_call_id", "path", "quantity"}`` or :class:`Claim`; ``{{claim:i}}`` is the
        place of claim ``i``. ``mode`` is the session's own by default.
        """
        if not isinstance(message, str):
            self._refuse("STEP_SCHEMA", f"The message must be a str, not {type(message).__name__}")
        try:
            message, claims = self._with_short_claims(str.__str__(message), claims)
            read = read_claims(claims)
        except GLError as error:
            self.verdicts.violation(error, "block")
            raise
        rendering = self.check_read(str.__str__(message), read, mode)
        return Verified("".join(rendering.pieces), rendering.provenance, self.metrics.to_dict(), rendering)

    def _with_short_claims(self, message: str, claims: Any) -> tuple[str, Any]:
        """Return the message with a numbered macro for each claim, and its claims, each with a quantity.

        "{{tc_1.heat}}" → "{{claim:0}}" with a claim of ``$.heat``. The list may be JSON text; a claim without a
        quantity gets that of its path.
        """
        if type(claims) is str:
            read = json_value(claims)
            claims = claims if read is None else read  # invalid JSON is rejected as a list of claims
        shorthand = [*SHORT_MACRO.finditer(message)] if "{{tc_" in message else []
        if type(claims) not in (list, tuple) and not (claims is None and shorthand):
            return message, claims
        entries = [*(claims or ())]
        if shorthand:  # else one of the claims that are added would be that of a macro which has none
            for place, text in macro_problems(find_macros(message), len(entries)):
                if isinstance(place, Macro) and not SHORT_MACRO.fullmatch(place.text):
                    raise GLRuntimeError("MISSING_CLAIM", text)
        pieces: list[str] = []
        at = 0
        for match in shorthand:
            pieces += message[at : match.start()], f"{{{{claim:{len(entries)}}}}}"
            entries.append({"source_call_id": match[1], "path": f"$.{match[2]}"})
            at = match.end()
        message = "".join([*pieces, message[at:]])
        return message, [self._with_quantity(claim) for claim in entries]

    def _with_quantity(self, claim: Any) -> Any:
        """Return a claim with the recorded Quantity of its path if it has none of its own."""
        if type(claim) is not dict or "quantity" in claim or not claim.keys() >= {"source_call_id", "path"}:
            return claim
        call_id, path = claim["source_call_id"], claim.get("path")
        record = self._calls.get(call_id) or self._calls.get(self._names.get(call_id, ""))
        if record is None or not isinstance(path, str):
            # Any quantity: `_resolve` rejects the claim for its call or path.
            return {**claim, "quantity": {"value": 0, "unit": "1"}}
        quantity = resolve_path(record.output, path, arrays=self.policy.array_paths)
        return Claim(record.call_id, path, quantity, claim.get("basis"))

    def verify(self, message: str, claims: Sequence[Any] | None = ()) -> Verified | Refused:
        """Like :meth:`check`, but a union distinguished by ``status`` (``"success"``, ``"error"``)."""
        try:
            return self.check(message, claims)
        except GLError as error:
            return Refused(error, self.repair_hint(error), self.metrics.to_dict())

    @staticmethod
    def repair_hint(error: BaseException | Refused) -> str:
        """Return the text for the model, so that it can repair its step."""
        if isinstance(error, Refused):
            return error.hint
        return str(error) if isinstance(error, GLError) else f"{type(error).__name__}: {error}"

    def check_read(self, message: str, claims: Sequence[Claim], mode: Mode | None = None) -> Shown:
        """Return what of a message may be shown, with its provenance, for claims that :func:`read_claims` has read.

        Raises GLError.
        """
        if len(message) > _MAX_MESSAGE:  # checks take time in proportion to the length
            self._refuse("STEP_SCHEMA", f"The message has more than {_MAX_MESSAGE} characters")
        if unsafe := unsafe_characters(message):
            start = unsafe[0][0]
            self._refuse("UNSAFE_TEXT", f"Control character {message[start]!r} at position {start}")
        if (mode or self.mode) == "sourced":
            return self._check_sourced(message, claims, self._judge)
        errors: list[GLError] = []

        def violation(error: GLError) -> None:
            errors.append(error)
            if self.policy.level(error.code) == "block":
                self.verdicts.settle(errors, self.policy.level, 0)

        macros = find_macros(message)
        units = [claim.quantity.unit for claim in claims]
        faults = self._naked(message, macros, units)
        if naked := [number for number in faults if not number.is_reading]:
            violation(self._naked_number(message, naked))
        if not macros and not claims:
            violations = self.verdicts.settle(errors, self.policy.level, 0)
            self._remember(message, [])
            return Shown([message], [], [], [], self._steps, violations)
        for _, problem in macro_problems(macros, len(claims)):
            violation(GLRuntimeError("MISSING_CLAIM", problem))
        provenance: list[dict[str, Any]] = []
        returned: list[Quantity] = []
        places: dict[int, int] = {}
        with self._lock:
            for number, claim in enumerate(claims):
                try:
                    record, quantity = self._resolve(number, claim)
                except GLError as error:
                    violation(error)
                    continue
                places[number] = len(returned)
                provenance.append(self.verdicts.redacted(record.provenance(claim)))
                returned.append(quantity)
        resolved = [
            returned[places[number]].unit if number in places else unit for number, unit in enumerate(units)
        ]
        # With the units that the tools returned: a claim may state another spelling of one.
        if macros and not naked:
            if resolved != units:
                faults = self._naked(message, macros, resolved)
            if touching := [number for number in faults if not number.is_reading]:
                violation(self._naked_number(message, touching))
            elif faults:
                violation(_misread(faults))
        pieces, cited = [""], []
        for i, piece in enumerate(in_place(message, macros, lambda macro: "")):
            macro = macros[i // 2] if i % 2 else None
            place = places.get(-1 if macro.index is None else macro.index) if macro else None
            if place is not None:
                rest = message[macro.end : macro.end + REST_LENGTH] if macro else ""
                pieces += format_quantity(returned[place], rest), ""
                cited.append(place)
            else:
                pieces[-1] += _UNVERIFIED if macro else piece
        violations = self.verdicts.settle(errors, self.policy.level, len(cited))
        self._remember("".join(pieces), [claims[number] for number in places])
        return Shown(pieces, cited, provenance, returned, self._steps, violations)

    def _check_sourced(self, message: str, claims: Sequence[Claim], gate: SourcedGate) -> Shown:
        """Return a message with each of its plain numbers judged, and its macros replaced by what they claim.

        Raises GLError.
        """
        rendered, proven, errors = self._rendered(message, claims)
        unused = [
            text for place, text in macro_problems(find_macros(message), len(claims)) if type(place) is int
        ]
        errors += [GLRuntimeError("MISSING_CLAIM", text) for text in unused]
        with self._lock:
            findings = gate.judge(rendered, proven)
        errors += gate.errors(findings)
        notes = gate.no_unit(findings)
        violations = self.verdicts.settle(errors, self.policy.level, len(findings), notes)
        entries = [self.verdicts.redacted(gate.entry(finding)) for finding in findings]
        pieces = [""]
        at = 0
        for entry in entries:
            start, end = entry["span"]
            pieces[-1] += rendered[at:start]
            pieces += rendered[start:end], ""
            at = end
        pieces[-1] += rendered[at:]
        self._remember(rendered, [*claims])
        return Shown(pieces, [*range(len(entries))], entries, [], self._steps, violations)

    def _refuse(self, code: str, message: str) -> NoReturn:
        kind = GLValidationError if code in GLValidationError.codes else GLRuntimeError
        self.verdicts.violation(error := kind(code, message), "block")
        raise error

    def _remember(self, message: str, claims: list[Claim]) -> None:
        with self._lock:
            self._said.pop(message, None)
            self._said[message] = claims
            if len(self._said) > _MOST_MESSAGES:
                del self._said[next(iter(self._said))]

    def resolved(self, claim: Claim) -> Quantity:
        """Return the Quantity that a claim of a structured answer cites.

        Raises GLError, unless the level lets the claim pass.
        """
        with self._lock:
            try:
                quantity = self._resolve(0, claim)[1]
            except GLError as error:
                self.verdicts.violation(error, self.policy.level(error.code))
                return claim.quantity
        self.verdicts.passed(1)
        return quantity

    def cited(self, claims: Sequence[Claim]) -> list[tuple[Quantity, str | None]]:
        """Return the Quantities of claims, each with its basis, to calculate with; no verdict. Raises GLError."""
        with self._lock:
            resolved = [(claim, *self._resolve(number, claim)) for number, claim in enumerate(claims)]
            return [(quantity, record.basis_of(claim)) for claim, record, quantity in resolved]

    def judge_number(self, place: str, value: Any) -> None:
        """Check a number of a structured answer that has no claim. Raises GLError.

        In mode ``"sourced"`` it needs a source in the unit of its key (``heat_kwh``); in mode ``"claims"`` it is a
        fault.
        """
        if self._sourced is not None and isinstance(value, int | float | Decimal | Fraction):
            key = place.rpartition(".")[2].partition("[")[0]
            shown = format(Decimal(str(float(value) if isinstance(value, Fraction) else value)), "f")
            try:
                self.check(f"{shown} {read_name(key).unit or ''}".strip())
            except GLError as error:
                error.path = error.path or place
                raise
            return
        naked = GLRuntimeError(
            "NO_NAKED_NUMBERS", f"Naked number '{str(value)[:200]}' at {place}", path=place
        )
        self.verdicts.violation(naked, self.policy.level(naked.code))

    def sourced_quantity(self, value: Any) -> Quantity | None:
        """Return ``{"value": 5, "unit": "kWh"}`` of a structured answer as a Quantity, judged in mode "sourced";
        else ``None``.

        Raises GLError if nothing shows it.
        """
        if self._sourced is None or not isinstance(value, Mapping) or value.keys() != {"value", "unit"}:
            return None
        number, unit = value["value"], value["unit"]
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not isinstance(unit, str):
            return None
        self.check(f"{number} {unit}".strip())
        return Quantity(number, unit)

    def declare_unclaimed(self, place: str, value: Any, reason: str) -> None:
        """Note a number of a structured answer that is declared to need no claim."""
        self.verdicts.unclaimed(place, value, reason)

    def claims_of(self, message: str) -> list[dict[str, Any]]:
        """Return the claims of a message that was shown lately, so that another agent can repeat them.

        ``[]`` for any other text.

        The message may be within a longer text, such as a framework's report of a sub-agent's answer.
        """
        with self._lock:
            claims = self._said.get(message)
            if claims is None:
                shown = reversed(self._said.items())
                claims = next((claims for said, claims in shown if claims and said in message), [])
            return [claim.to_dict() for claim in claims]

    def was_shown(self, message: str) -> bool:
        """Return whether this session let the message be shown lately."""
        return message in self._said

    def stream(self) -> MessageStream:
        """Return a stream that shows a message while it is written: by sentences, each once it passes."""
        return MessageStream(self)

    def shown_part(self, before: str, part: str, claims: Sequence[Claim]) -> str | None:
        """Return what ``part`` of a message shows, after ``before`` was shown: "{{claim:0}} now." → "2.00 kWh now."

        ``None`` if it is rejected. It is no verdict, and sends no event.
        """
        message = before + part
        if unsafe_characters(part):
            return None
        if self._sourced is not None:
            return self._sourced_part(before, part, claims)
        macros: list[Macro] = []
        cited: dict[int, Quantity] = {}
        for macro in find_macros(message):
            if macro.index is None or macro.index >= len(claims):
                return None
            if macro.index not in cited:
                try:
                    with self._lock:
                        cited[macro.index] = self._resolve(macro.index, claims[macro.index])[1]
                except GLError:
                    return None
            # Numbered by the claims of this part: `_naked` gets the units of these alone.
            macros.append(replace(macro, index=[*cited].index(macro.index)))
        quantities = [*cited.values()]
        if self._naked(message, macros, [quantity.unit for quantity in quantities]):
            return None
        claims_in_part = [
            replace(macro, start=macro.start - len(before), end=macro.end - len(before))
            for macro in macros
            if macro.start >= len(before)
        ]

        def shown(macro: Macro) -> str:
            return format_quantity(quantities[macro.index or 0], part[macro.end : macro.end + REST_LENGTH])

        return "".join(in_place(part, claims_in_part, shown))

    def _sourced_part(self, before: str, part: str, claims: Sequence[Claim]) -> str | None:
        """Return a part of a stream if each number in it has a source; ``None`` if not, or if it has a macro."""
        gate = self._sourced
        if gate is None or find_macros(part):
            return None  # what a macro shows is judged with the whole message
        with self._lock:
            return None if any(finding.fails for finding in gate.judge_part(before, part)) else part

    @property
    def trace(self) -> list[dict[str, Any]]:
        """What was recorded and judged, in order; each entry contains the hash of the one before. A copy."""
        with self._lock:
            return self.verdicts.trace()

    def on_event(self, callback: Callable[[Event], Any]) -> None:
        """Call ``callback`` with each verdict: ``{"verdict": "pass" | "warn" | "block", "code", "error"}``.

        Where OpenTelemetry is in use, the span of the moment gets each as ``gen_ai.evaluation.result``.
        """
        self.verdicts.listen(callback)

    def _naked(self, message: str, macros: list[Macro], claimed: Sequence[str] = ()) -> list[NakedNumber]:
        """Return the numbers of a message without a claim, by the policy's settings."""
        naked = scan_naked_numbers(
            message,
            whitelist=self.policy.whitelist,
            words=self.policy.number_words,
            units=self.units.own,
            glued=self.units.of_packs,
            macros=macros,
            claimed=claimed,
        )
        if not (naked and self.policy.designations):
            return naked
        from gllint_runtime.policy.designations import without_designations  # few sessions have that setting

        return without_designations(message, naked)

    def _naked_number(self, message: str, naked: list[NakedNumber]) -> GLRuntimeError:
        """Return the error for the first number of a message without a claim, with all of them as its context."""
        with self._lock:
            self.metrics.naked_number_rejections += 1
        first = naked[0]
        word = word_around(message, first.start, first.end)
        within = f" in '{word[:200]}'" if word != first.text and first.hint is None else ""
        with self._lock:
            hint = first.hint or text_hint(word, self._judge.provenance)
        return GLRuntimeError(
            "NO_NAKED_NUMBERS",
            f"Naked number '{first.text[:200]}' detected at position {first.start}{within}",
            hint=hint,
            context=_as_context(naked),
        )

    def _resolve(self, number: int, claim: Claim) -> tuple[CallRecord, Quantity]:
        """Return the call that a claim cites and the Quantity that it returned.

        Raises GLError if the claim states another.
        """
        record = self._calls.get(claim.source_call_id) or self._calls.get(
            self._names.get(claim.source_call_id, "")
        )
        if record is None:
            raise GLProvenanceError(
                "MISSING_TOOL_CALL",
                f"Claim {number} cites tool call '{claim.source_call_id[:80]}', which this run does not have",
                hint=f"Calls of this run: {', '.join([*self._calls][-20:]) or 'none'}.",
            )
        actual = resolve_path(record.output, claim.path, arrays=self.policy.array_paths)
        if claim.basis is not None:
            self._hold_to_basis(number, claim, record)
        # A plain number ("count") may be claimed without a unit.
        if actual.unit == PLAIN and claim.quantity.unit in ("", "1", PLAIN):
            claim = replace(claim, quantity=Quantity(claim.quantity.value, actual.unit))
        if claim.quantity.unit != actual.unit:
            self.units.require(claim.quantity.unit, claim.path)
        if claim.quantity != actual and not self.units.same_quantity(actual, claim.quantity):
            self.metrics.quantity_mismatches += 1
            claimed = claim.quantity
            message = (
                f"Claim {number} mismatch: tool returned value={actual.value} unit='{actual.unit}', "
                f"but claimed value={claimed.value} unit='{claimed.unit}'"
            )
            if self.units.same_quantity(actual, Quantity(actual.value, claimed.unit)):
                message = f"{message}: the values differ, the units are the same"
            raise GLDataError("QUANTITY_MISMATCH", message, path=claim.path)
        logger.debug("Claim %s holds: %s of %s", number, claim.path, claim.source_call_id)
        return record, actual

    @staticmethod
    def _hold_to_basis(number: int, claim: Claim, record: CallRecord) -> None:
        """Raise GLDataError BASIS unless the tool's schema declares the basis that a claim names."""
        actual = record.basis_of(claim)
        if claim.basis != actual:
            declared = "declares none" if actual is None else f"declares '{actual}'"
            raise GLDataError(
                "BASIS",
                f"Claim {number} has the basis '{str(claim.basis)[:100]}', but the tool's schema {declared}",
                path=claim.path,
            )

    # ------------------------------------------------------------------------------------------ storing

    def to_json(self, *, key: Key | None = None) -> str:
        """Return the session as text, for a store between requests; ``key`` signs it (HMAC-SHA256).

        Each change gives its text the next ``version``: a store that is to replace another version than the one it
        read has a second writer.
        """
        with self._lock:
            stored = {
                "policy": plain_policy(self.policy),
                "prompts": self._prompts,
                "constants": {name: exact_text(value) for name, value in self.constants.items()},
                "max_bytes": self._max_bytes,
                "count": self._count,
                "user": self._heard,
                "metrics": asdict(self.metrics),
                "calls": [stored_call(record) for record in self._calls.values()],
                "names": self._names,
                "conversation": self.conversation,
                "trace": self.trace,
            }
            state = json.dumps(stored)
            if state != self._stored:
                self.version += 1
                self._stored = state
            return signed_text({"version": self.version, **stored}, key)

    @classmethod
    def from_json(cls, text: str, *, policy: Policy | None = None, key: Key | None = None) -> Session:
        """Return the session that :meth:`to_json` wrote, its outputs verified again under ``policy`` (or the
        default one).

        The policy in the text is ignored, and logged if it differs. Raises ValueError for a text that is no
        session, GLError for an output that the policy rejects, GLSecurityError SESSION_SIGNATURE if ``key`` did
        not sign the text.
        """
        session = cls(policy=policy)
        try:
            session._fill(opened(text, key))
        except GLError:
            raise
        except RecursionError:
            raise ValueError("This is not a stored session: it is nested too deeply") from None
        except Exception as error:
            raise ValueError(f"This is not a stored session: {error}") from None
        return session

    def _fill(self, stored: Mapping[str, Any]) -> None:
        """Fill a new session with stored data. Raises ValueError, TypeError or KeyError for data of another form."""
        known = {name: value for name, value in stored.items() if name not in ("gllint_session", "version")}
        state = json.dumps(known)
        log_policy_differences(self.policy, stored["policy"])
        constants = {name: number_of(value) for name, value in stored["constants"].items()}
        self._begin(self.policy, self.units, checked_constants(constants), stored["max_bytes"])
        self.version, self._count = count_of(stored["version"]), count_of(stored["count"])
        for message in stored.get("prompts", ()):
            self.prompt(str.__str__(message))
        for message in stored["user"]:
            self.user(str.__str__(message))
        self.metrics = Metrics.restored(stored["metrics"])
        for call in stored["calls"]:
            self._keep(restored_call(call, self._count, self._calls, self.policy, self.units))
        names = {str.__str__(name): call_id for name, call_id in stored["names"].items()}
        self._names = {name: call_id for name, call_id in names.items() if call_id in self._calls}
        self.conversation = None if stored["conversation"] is None else str(stored["conversation"])
        self.verdicts.restore(stored["trace"])
        self._stored = state


_BY_NAME = ParameterUnits()


def _as_context(numbers: Sequence[NakedNumber]) -> list[dict[str, Any]]:
    return [{"text": number.text, "position": number.start} for number in numbers[:200]]


def _misread(numbers: Sequence[NakedNumber]) -> GLDataError:
    """The error of a message whose text says something else of its claims than their quantities."""
    first = numbers[0]
    message = f"'{first.text[:200]}' at position {first.start} changes the meaning of a claimed number"
    return GLDataError("QUANTITY_MISMATCH", message, hint=first.hint, context=_as_context(numbers))


def _parameters(args_schema: Mapping[str, Any] | None) -> ParameterUnits:
    """Return the units of a tool's parameters, by their names alone where it has no schema."""
    return _BY_NAME if args_schema is None else ParameterUnits(args_schema)


def _output_schema(tool: str, schema: Mapping[str, Any]) -> OutputSchema:
    try:
        text = json.dumps(schema, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return output_schema(tool, schema)
    return _output_schema_of(tool, text)


@lru_cache(maxsize=256)
def _output_schema_of(tool: str, text: str) -> OutputSchema:
    return output_schema(tool, json.loads(text))

"""ToolRuntime: the loop between a model and its tools, and the last gate before the user.

A message leaves it only when each of its numbers is a claim, each claim leads to a Quantity in the verified
output of a tool call of this very run, and the claimed value is the tool's.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, Protocol

from gllint_runtime.execution.approval import ApprovalGate, Approve, Notify
from gllint_runtime.execution.calls import Call, Mode, refuse_egress, run_blocking
from gllint_runtime.execution.registry import Output, ToolRegistry
from gllint_runtime.execution.steps import Step, read_step
from gllint_runtime.execution.trace import CallRecord, Metrics, Origin, Origins, Trace, snapshot
from gllint_runtime.policy.claims import ClaimPathError, Macro, find_macros, macro_problems, resolve_path
from gllint_runtime.policy.errors import (
    GLDataError,
    GLError,
    GLProvenanceError,
    GLRuntimeError,
    error_from_dict,
)
from gllint_runtime.policy.numbers import scan_naked_numbers, unsafe_characters
from gllint_runtime.policy.schemas import ASSISTANT_STEP_SCHEMA, Claim, Quantity, is_quantity
from gllint_runtime.policy.validation import copy_plain
from gllint_runtime.providers import Provider, Tape, takes_options

logger = logging.getLogger("gllint_runtime")

RULES = """
Rules for numbers:
- Every number comes from a tool. Call one; do not calculate, round, convert or estimate yourself.
- In the final message write {{claim:0}}, {{claim:1}}, ... where a value belongs, and no digit of your own.
- Put nothing but blanks or punctuation beside a macro: it brings its value and its unit.
- claims[i] says where {{claim:i}} comes from: source_call_id (the tc_N of the tool call), path ($.field of
  its output) and quantity (exactly the value and unit found there)."""


class Telemetry(Protocol):
    """Where spans go; :mod:`gllint_runtime.otel` has the one for OpenTelemetry."""

    def run(self, runtime: ToolRuntime) -> AbstractContextManager[Any]:
        """Around one run."""

    def tool(self, call: Call, call_id: str) -> AbstractContextManager[Any]:
        """Around one execution of a tool."""


_NO_SPAN: AbstractContextManager[None] = nullcontext()


_DECISIONS = {"tool_call": "tool_use", "final": "final_answer", "clarification": "clarification"}


class _Run:
    """What belongs to one run and is gone with it."""

    def __init__(self, user_message: str, constants: Mapping[str, Any]) -> None:
        self.trace = Trace()
        self.metrics = Metrics()
        self.calls: dict[str, CallRecord] = {}
        self.origins = Origins(user_message, constants)


class ToolRuntime:
    """Runs a model with tools under the policy that no number is guessed.

    ``mode`` is ``"Replay"`` (no tool that needs the network; temperature 0 and ``seed`` go to the provider)
    or ``"Live"``. ``max_steps`` bounds the answers asked of the model. ``repair_on`` names the error codes
    that are told to the model for another try, at most ``max_retries`` times in a run; all others are raised.

    ``argument_origin`` traces the numbers that the model puts into arguments: ``"record"`` adds what it finds
    to the provenance, ``"strict"`` refuses a number that is neither the user's, nor a tool's, nor one of
    ``constants``, ``"off"`` looks at none. ``number_words`` refuses numbers spelled out, too;
    ``whitelist`` adds regular expressions whose matches may hold digits.
    """

    def __init__(
        self,
        provider: Provider,
        registry: ToolRegistry,
        mode: Mode = "Replay",
        seed: int = 42,
        *,
        max_steps: int = 20,
        repair_on: Collection[str] = ("NO_NAKED_NUMBERS",),
        argument_origin: Literal["off", "record", "strict"] = "record",
        constants: Mapping[str, float] | None = None,
        number_words: bool = False,
        whitelist: Sequence[str] = (),
        approve: Approve | None = None,
        notify: Notify | None = None,
        telemetry: Telemetry | None = None,
    ) -> None:
        if mode not in ("Replay", "Live"):
            raise ValueError(f'mode is "Replay" or "Live", not {mode!r}')
        if argument_origin not in ("off", "record", "strict"):
            raise ValueError(f'argument_origin is "off", "record" or "strict", not {argument_origin!r}')
        unknown_codes = set(repair_on) - GLError.codes
        if unknown_codes:
            raise ValueError(f"no such error code: {', '.join(sorted(unknown_codes))}")
        self.provider = provider
        self.registry = registry
        self.mode: Mode = mode
        self.seed = seed
        self.max_steps = max_steps
        self.repair_on = frozenset(repair_on)
        self.argument_origin = argument_origin
        self.constants = dict(constants or {})
        self.number_words = number_words
        self.whitelist = tuple(whitelist)
        self.gate = ApprovalGate(approve, notify) if approve or notify else registry.gate
        self.telemetry = telemetry
        self._tape = provider if isinstance(provider, Tape) else None
        self._clock: Callable[[], float] = self._tape.clock if self._tape else time.perf_counter
        self._takes_options = takes_options(provider)
        self._cancelled = threading.Event()
        self._run = _Run("", {})

    # ------------------------------------------------------------------------------------------- running

    def run(self, system_prompt: str, user_msg: str, max_retries: int = 2) -> dict[str, Any]:
        """Let the model answer ``user_msg``.

        Returns ``{"message", "provenance", "metrics", "trace"}``, and ``"clarification_needed": True`` where
        the message is a question back. Raises GLError; what the provider raises comes through as it is.
        """
        self._run = run = _Run(user_msg, self.constants)
        self._cancelled.clear()
        with self.telemetry.run(self) if self.telemetry else _NO_SPAN:
            answer = self._loop(run, system_prompt, user_msg, max_retries)
        return {**answer, "metrics": run.metrics.to_dict(), "trace": run.trace.entries}

    def try_run(self, system_prompt: str, user_msg: str, max_retries: int = 2) -> dict[str, Any]:
        """Like :meth:`run`, but returns a union told apart by ``status`` and raises nothing.

        ``"success"`` comes with what ``run`` returns; ``"max_attempts_reached"`` and ``"error"`` with
        ``error`` (see GLError.to_dict), ``metrics`` and ``trace``.
        """
        status = "error"
        try:
            return {"status": "success", **self.run(system_prompt, user_msg, max_retries)}
        except GLError as error:
            failure = error.to_dict()
            if error.code == "MAX_STEPS":
                status = "max_attempts_reached"
        except Exception as error:
            failure = GLRuntimeError("PROVIDER_FAILED", str(error)).to_dict()
            failure["error_type"] = type(error).__name__
        return {"status": status, "error": failure, "metrics": self.get_metrics(), "trace": self.trace}

    def cancel(self) -> None:
        """Stop the run in progress at its next step; from any thread, also from a callback."""
        self._cancelled.set()

    def get_metrics(self) -> dict[str, Any]:
        """The metrics of the last run, under the names of seed 000 and ``replay_violations``."""
        return self._run.metrics.to_dict()

    @property
    def trace(self) -> list[dict[str, Any]]:
        """The trace of the last run; a copy."""
        entries: list[dict[str, Any]] = copy_plain(self._run.trace.entries)
        return entries

    def _loop(self, run: _Run, system_prompt: str, user_msg: str, max_retries: int) -> dict[str, Any]:
        request = self._open(run)
        state = self.provider.init_chat(f"{system_prompt}\n{RULES}", user_msg)
        attempts = 0
        while True:
            self._next_step(run)
            started = self._clock()
            raw = self.provider.chat_step(state=state, **request)
            elapsed = (self._clock() - started) * 1000
            self._stop_if_cancelled()
            step = None
            try:
                step = read_step(raw)
                if step.kind == "tool_call":
                    self._note(run, step, raw, elapsed)
                    state = self.provider.inject_tool_result(self._call_tool(run, step))
                    continue
                answer = self._finalize(run, step)
            except GLError as error:
                if step is None or step.kind != "tool_call":
                    self._note(run, step, raw, elapsed, error)
                if error.code not in self.repair_on or attempts >= max_retries:
                    raise
                attempts += 1
                logger.info("Asking the model to repair: %s", error)
                state = self.provider.inject_error(f"{error}\n{error.hint}")
            else:
                self._note(run, step, raw, elapsed)
                return answer

    def _open(self, run: _Run) -> dict[str, Any]:
        """Enter the settings into the trace and return what is the same in each request to the provider."""
        options = {"temperature": 0.0, "seed": self.seed} if self.mode == "Replay" else {}
        start = {"mode": self.mode, "options": options, "argument_origin": self.argument_origin}
        run.trace.append("start", 0, input=self._tape.opening(start) if self._tape else start)
        request = {"schema": ASSISTANT_STEP_SCHEMA, "tools": self.registry.descriptors()}
        return request | {"options": options} if options and self._takes_options else request

    def _next_step(self, run: _Run) -> None:
        self._stop_if_cancelled()
        if run.metrics.model_steps >= self.max_steps:
            run.trace.append("model", self.max_steps, "max_attempts", success=False)
            raise GLRuntimeError("MAX_STEPS", f"No final answer after {self.max_steps} steps")
        run.metrics.model_steps += 1

    def _stop_if_cancelled(self) -> None:
        if self._cancelled.is_set():
            raise GLRuntimeError("CANCELLED", "The user stopped the run")

    def _note(
        self, run: _Run, step: Step | None, raw: Any, elapsed: float, error: GLError | None = None
    ) -> None:
        """Enter a decision of the model into the trace."""
        tool = step.tool_name if step and step.kind == "tool_call" else None
        run.metrics.tool_steps += tool is not None
        run.trace.append(
            "model",
            run.metrics.model_steps,
            _DECISIONS[step.kind] if step else "invalid",
            tool=tool,
            validation=error.to_dict() if error else "valid",
            observation=snapshot(raw),
            success=error is None,
            duration_ms=elapsed,
        )

    # -------------------------------------------------------------------------------------- calling tools

    def _call_tool(self, run: _Run, step: Step) -> dict[str, Any]:
        """Verify, trace back, execute, verify again, and note all of it. Returns what the provider is told."""
        outcome = _Outcome()
        call_id = f"tc_{len(run.calls) + 1}"
        call = None
        success = False
        try:
            call = self.registry.verify(step.tool_name, step.arguments)
            outcome.validation["arguments"] = "repaired" if call.repaired else "valid"
            origins = self._trace_arguments(run, call)
            output = self._obtain(run, call, call_id, outcome)
            success = True
        except GLError as error:
            outcome.validation["error"] = error.to_dict()
            raise
        finally:
            run.trace.append(
                "tool",
                run.metrics.model_steps,
                tool=step.tool_name,
                call_id=call_id if success else None,
                input=call.arguments if call and not call.repaired else snapshot(step.arguments),
                validation=outcome.validation,
                observation=outcome.observation,
                success=success,
                duration_ms=outcome.elapsed_ms,
            )
        record = CallRecord(call_id, call.tool.name, call.arguments, output.data, output.found, origins)
        run.calls[call_id] = record
        run.origins.learn(record)
        run.metrics.executed.append(record.tool_name)
        run.metrics.latency_ms += outcome.elapsed_ms
        logger.debug("%s %s(%s) returned %s", call_id, record.tool_name, record.arguments, record.output)
        return {"tool_call_id": call_id, "output": copy_plain(record.output)}

    def _trace_arguments(self, run: _Run, call: Call) -> tuple[Origin, ...] | None:
        if self.argument_origin == "off":
            return None
        origins = run.origins.trace(call.arguments, call.tool.args_schema)
        loose = [origin for origin in origins if not origin.grounded]
        if loose and self.argument_origin == "strict":
            raise GLProvenanceError(
                "MISSING_ORIGIN",
                f"The number {loose[0].value} in the arguments of '{call.tool.name}' has no origin",
                path=loose[0].path,
                context=[origin.to_dict() for origin in loose],
            )
        return origins

    def _obtain(self, run: _Run, call: Call, call_id: str, outcome: _Outcome) -> Output:
        """The verified output, recorded or by executing the call; ``outcome`` is filled on the way."""
        name = call.tool.name
        recorded = self._tape.recorded_call(name, call.arguments) if self._tape else None
        try:
            if recorded is None:
                self._permit(run, call, outcome)
            elif recorded["approval"] is None:  # it never got as far as running
                _recorded_output(recorded)
            else:
                outcome.validation["approval"] = recorded["approval"]
            self._stop_if_cancelled()
            started = self._clock()
            try:
                with self.telemetry.tool(call, call_id) if self.telemetry else _NO_SPAN:
                    raw = (
                        run_blocking(call, self._cancelled.is_set)
                        if recorded is None
                        else _recorded_output(recorded)
                    )
                    output = self.registry.check_output(call, raw)
                    outcome.observation = output.data
            finally:
                outcome.elapsed_ms = (self._clock() - started) * 1000
            self._stop_if_cancelled()
        except GLError as error:
            self._record(call, outcome, {"error": error.to_dict()})
            raise
        self._record(call, outcome, {"output": output.data})
        return output

    def _record(self, call: Call, outcome: _Outcome, ending: dict[str, Any]) -> None:
        if self._tape:
            ending["approval"] = outcome.validation.get("approval")
            self._tape.call_done(call.tool.name, call.arguments, ending)

    def _permit(self, run: _Run, call: Call, outcome: _Outcome) -> None:
        try:
            refuse_egress(call, self.mode)
        except GLError:
            run.metrics.replay_violations += 1
            raise
        outcome.validation["approval"] = self.gate.check(call.tool, call.arguments)

    # ---------------------------------------------------------------------------------- the final message

    def _finalize(self, run: _Run, step: Step) -> dict[str, Any]:
        """The message with its claims rendered and their provenance, once nothing in it is unproven."""
        macros = find_macros(step.message)
        self._refuse_naked_numbers(run, step.message, macros)
        for _, problem in macro_problems(macros, len(step.claims)):
            raise GLRuntimeError("MISSING_CLAIM", problem)
        rendered: list[str] = []
        provenance: list[dict[str, Any]] = []
        for number, claim in enumerate(step.claims):
            record, quantity = self._resolve(run, number, claim)
            rendered.append(format_quantity(quantity))
            provenance.append(record.provenance(claim))
        answer = {"message": _render(step.message, macros, rendered), "provenance": provenance}
        return answer | {"clarification_needed": True} if step.kind == "clarification" else answer

    def _refuse_naked_numbers(self, run: _Run, message: str, macros: list[Macro]) -> None:
        if unsafe := unsafe_characters(message):
            start = unsafe[0][0]
            raise GLRuntimeError("UNSAFE_TEXT", f"Control character {message[start]!r} at position {start}")
        units = self.registry.units.allowlist
        naked = scan_naked_numbers(
            message, whitelist=self.whitelist, words=self.number_words, units=units, macros=macros
        )
        if not naked:
            return
        run.metrics.naked_number_rejections += 1
        raise GLRuntimeError(
            "NO_NAKED_NUMBERS",
            f"Naked number '{naked[0].text}' detected at position {naked[0].start}",
            context=[{"text": number.text, "position": number.start} for number in naked],
        )

    def _resolve(self, run: _Run, number: int, claim: Claim) -> tuple[CallRecord, Quantity]:
        """The call that a claim cites and the Quantity that it really returned."""
        record = run.calls.get(claim.source_call_id)
        if record is None:
            raise GLProvenanceError(
                "MISSING_TOOL_CALL",
                f"Claim {number} cites tool call '{claim.source_call_id}', which this run does not have",
                hint=f"Calls of this run: {', '.join(run.calls) or 'none'}.",
            )
        try:
            found = resolve_path(record.output, claim.path)
        except ClaimPathError as error:
            raise GLDataError("PATH_RESOLUTION", str(error), hint=error.hint, path=claim.path) from None
        if not is_quantity(found):
            message = f"Path '{claim.path}' does not lead to a Quantity"
            raise GLDataError("PATH_RESOLUTION", message, path=claim.path)
        actual = Quantity(found["value"], found["unit"])
        if claim.quantity.unit != actual.unit:
            self.registry.units.require(claim.quantity.unit, claim.path)
        if not self.registry.units.same_quantity(actual, claim.quantity):
            run.metrics.quantity_mismatches += 1
            raise GLDataError(
                "QUANTITY_MISMATCH",
                f"Claim {number} mismatch: tool returned value={actual.value} unit='{actual.unit}', "
                f"but claimed value={claim.quantity.value} unit='{claim.quantity.unit}'",
                path=claim.path,
            )
        logger.debug("Claim %s holds: %s of %s", number, claim.path, claim.source_call_id)
        return record, actual


@dataclass(slots=True)
class _Outcome:
    """What became of a tool call, filled as it goes on, so that a failure leaves what was known."""

    validation: dict[str, Any] = field(default_factory=dict)
    observation: Any = None
    elapsed_ms: float = 0.0


def _recorded_output(recorded: Mapping[str, Any]) -> Any:
    """The output of a recorded call; raises the error that it ended with."""
    if "error" in recorded:
        raise error_from_dict(recorded["error"])
    return recorded["output"]


# ------------------------------------------------------------------------------------------------ rendering


def _render(template: str, macros: list[Macro], rendered: list[str]) -> str:
    """The template with each macro replaced, in one pass: what is put in is never read again."""
    parts: list[str] = []
    position = 0
    for macro in macros:
        assert macro.index is not None
        parts += template[position : macro.start], rendered[macro.index]
        position = macro.end
    return "".join((*parts, template[position:]))


def format_quantity(quantity: Quantity) -> str:
    """``268.00 kgCO2e``: two decimals, no separators; below 1, four significant digits: nothing turns to 0."""
    value = quantity.value
    if isinstance(value, int):
        text = f"{value}.00"
    elif abs(value) >= 1 or value == 0:
        text = f"{abs(value) if value == 0 else value:.2f}"
    else:
        text = f"{value:.{3 - Decimal(str(value)).adjusted()}f}"
    return f"{text} {quantity.unit}".rstrip()

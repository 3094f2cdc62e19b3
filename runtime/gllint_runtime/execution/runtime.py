"""ToolRuntime: the loop between a model and its tools, and the last gate before the user.

A message leaves it only when each of its numbers is a claim, each claim leads to a Quantity in the verified
output of a tool call of this very run, and the claimed value is the tool's.
"""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, Unpack, cast

from gllint_runtime.execution.approval import Approve, Notify
from gllint_runtime.execution.asking import Asking, finish, finishing, in_thread, way_to_call
from gllint_runtime.execution.calls import Call, Mode, refuse_egress, run_async, run_blocking
from gllint_runtime.execution.claimed import using
from gllint_runtime.execution.registry import ToolRegistry
from gllint_runtime.execution.session import Session
from gllint_runtime.execution.steps import Step, read_step
from gllint_runtime.execution.stored_sessions import checked_constants
from gllint_runtime.execution.trace import snapshot, trace_entry
from gllint_runtime.execution.verdicts import Verdicts
from gllint_runtime.policy.data import Survey, copy_plain
from gllint_runtime.policy.errors import GLError, GLRuntimeError, error_from_dict, reason_of
from gllint_runtime.policy.keywords import MessageSettings
from gllint_runtime.policy.kinds import KINDS
from gllint_runtime.policy.log import logger
from gllint_runtime.policy.schemas import ASSISTANT_STEP_SCHEMA
from gllint_runtime.policy.settings import Policy, combined
from gllint_runtime.providers import Provider, Tape, takes_options
from gllint_runtime.show import Showing, Shown

if TYPE_CHECKING:
    from gllint_runtime.execution.responses import AgentResponse


MENDABLE = frozenset(
    {
        *("NO_NAKED_NUMBERS", "MISSING_CLAIM", "UNSAFE_TEXT", "PATH_RESOLUTION", "QUANTITY_MISMATCH"),
        *("MISSING_TOOL_CALL", "STEP_SCHEMA", "ARGS_SCHEMA", "ARGUMENT_UNIT", "UNIT_UNKNOWN", "BASIS"),
        *("NO_SOURCE", "MISLABELLED"),
    }
)
"""The errors that a model can repair when it receives them. Security and approval are not among them."""

RULES = """
Rules for numbers:
- Every number comes from a tool. Call one; do not calculate, round, convert or estimate yourself. Where there is a
  tool `calculate`, it adds, subtracts, divides and compares what you cite.
- In the final message write {{claim:0}}, {{claim:1}}, ... where a value belongs, and no digit of your own.
- Put only blanks or punctuation next to a macro: it shows its value and its unit.
- claims[i] says where {{claim:i}} comes from: source_call_id (the tc_N of the tool call), path ($.field of
  its output) and quantity (exactly the value and unit found there)."""


class Telemetry(Protocol):
    """The receiver of spans; :mod:`gllint_runtime.otel` has the one for OpenTelemetry."""

    def run(self, mode: Mode, metrics: Callable[[], dict[str, Any]]) -> AbstractContextManager[Any]:
        """Around one run."""

    def tool(self, call: Call, call_id: str) -> AbstractContextManager[Callable[[Any], None] | None]:
        """Return a context around one execution of a tool, which yields a function that receives the output."""


_NO_SPAN: AbstractContextManager[None] = nullcontext()

_DECISIONS = {"tool_call": "tool_use", "final": "final_answer", "clarification": "clarification"}


class RunResult(Showing, dict[str, Any]):
    """The answer of a run: a dict that shows itself."""

    def __init__(self, rendering: Shown, metrics: dict[str, Any]) -> None:
        message = "".join(rendering.pieces)
        super().__init__(
            message=message, provenance=rendering.provenance, metrics=metrics, trace=rendering.trace
        )
        self.rendering = rendering


class _Run(Session):
    """A session that is gone with its run, and what was done in it."""

    def __init__(self, runtime: ToolRuntime) -> None:
        self.verdicts = Verdicts()
        self._begin(runtime.policy, runtime.registry.units, runtime.constants)
        self.steps: list[dict[str, Any]] = []
        self._steps = self.steps
        self.era = runtime._era


class ToolRuntime:
    """Runs a model with tools under the policy that no number is guessed.

    ``mode`` is ``"Replay"`` (no tool that needs the network; temperature 0 and ``seed`` go to the provider)
    or ``"Live"``. ``max_steps`` bounds the answers asked of the model. ``repair_on`` names the error codes
    that are sent to the model for another attempt, at most ``max_retries`` times in a run whatever it does in
    between; all others are raised. The default is what a model can mend.

    ``settings`` are ``argument_origin``, ``argument_units``, ``number_words``, ``whitelist`` and ``array_paths`` of
    :class:`~gllint_runtime.policy.settings.Policy`, ``constants`` those of
    :class:`~gllint_runtime.execution.session.Session`; units, packs and plain keys are the registry's.
    """

    def __init__(
        self,
        provider: Provider,
        registry: ToolRegistry,
        mode: Mode = "Replay",
        seed: int = 42,
        *,
        max_steps: int = 20,
        repair_on: Collection[str] = MENDABLE,
        constants: Mapping[str, Any] | None = None,
        approve: Approve | None = None,
        notify: Notify | None = None,
        telemetry: Telemetry | None = None,
        policy: Policy | None = None,
        **settings: Unpack[MessageSettings],
    ) -> None:
        if mode not in ("Replay", "Live"):
            raise ValueError(f'mode must be "Replay" or "Live", got {mode!r}')
        if not callable(getattr(provider, "chat_step", None)):
            raise TypeError(f"provider must have a method chat_step, got {type(provider).__name__}")
        if not isinstance(registry, ToolRegistry):
            raise TypeError(f"registry must be a ToolRegistry, got {type(registry).__name__}")
        if isinstance(max_steps, bool) or not isinstance(max_steps, int) or max_steps < 1:
            raise ValueError(f"max_steps must be an integer of at least 1, got {max_steps!r}")
        if isinstance(repair_on, str):
            raise TypeError(f"repair_on must be a list of error codes, got {repair_on!r}")
        unknown_codes = set(repair_on) - GLError.codes
        if unknown_codes:
            raise ValueError(f"repair_on has unknown error codes: {', '.join(sorted(unknown_codes))}")
        self.provider = provider
        self.registry = registry
        self.mode: Mode = mode
        self.seed = seed
        self.max_steps = max_steps
        self.repair_on = frozenset(repair_on)
        self.policy = combined(policy or registry.policy, settings, MessageSettings)
        self.constants = checked_constants(constants)
        self.gate = registry.gate.asking(approve, notify)
        self.telemetry = telemetry
        self._tape = provider if isinstance(provider, Tape) else Tape()
        self._takes_options = takes_options(provider)
        self._on_loop = way_to_call(provider.chat_step)
        if (blocks := getattr(provider, "blocking", None)) is not None:
            self._on_loop = in_thread if blocks else operator.call
        self._era = object()  # another one with each ``cancel``
        self._interrupts: set[Callable[[], object]] = set()
        self._run = self._new_run()

    # ------------------------------------------------------------------------------------------- running

    def run(self, system_prompt: str, user_msg: str, max_retries: int = 2) -> RunResult:
        """Return the model's answer to ``user_msg``: ``{"message", "provenance", "metrics", "trace"}``.

        ``"clarification_needed": True`` is added where the message is a question to the user. The dict shows
        itself in notebooks and by ``to_html()``. Raises GLError; exceptions of the provider pass through.
        """
        return finish(self._turns(self._new_run(), system_prompt, user_msg, max_retries))

    async def arun(self, system_prompt: str, user_msg: str, max_retries: int = 2) -> RunResult:
        """:meth:`run` on the caller's event loop, that of async providers, callbacks and tools as well.

        What blocks runs in a thread of its own. Cancelling the task reaches the tool that is running.
        """
        return await finishing(self._turns(self._new_run(), system_prompt, user_msg, max_retries))

    def try_run(self, system_prompt: str, user_msg: str, max_retries: int = 2) -> AgentResponse:
        """Like :meth:`run`, but raises nothing: a union distinguished by ``status``, see :mod:`.responses`."""
        run = self._new_run()
        try:
            return _success(finish(self._turns(run, system_prompt, user_msg, max_retries)))
        except Exception as error:
            return _failure(run, error)

    async def try_arun(self, system_prompt: str, user_msg: str, max_retries: int = 2) -> AgentResponse:
        """:meth:`try_run` on the caller's event loop."""
        run = self._new_run()
        try:
            return _success(await finishing(self._turns(run, system_prompt, user_msg, max_retries)))
        except Exception as error:
            return _failure(run, error)

    def cancel(self) -> None:
        """Stop the runs in progress at their next step; from any thread, also from a callback."""
        self._era = object()
        for interrupt in [*self._interrupts]:
            interrupt()

    def get_metrics(self) -> dict[str, Any]:
        """Return the metrics of the last run, under the names of seed 000 and ``replay_violations``."""
        return self._run.metrics.to_dict()

    @property
    def trace(self) -> list[dict[str, Any]]:
        """The trace of the last run; a copy."""
        return cast("list[dict[str, Any]]", copy_plain(self._run.steps))

    def _new_run(self) -> _Run:
        self._run = run = _Run(self)
        return run

    def _go_on(self, run: _Run) -> None:
        """Raise CANCELLED where the user stopped the run."""
        if run.era is not self._era:
            raise GLRuntimeError("CANCELLED", "The user stopped the run")

    def _turns(self, run: _Run, system_prompt: str, user_msg: str, max_retries: int) -> Asking[RunResult]:
        """Return one run, in either world."""
        work = self._loop(run, system_prompt, user_msg, max_retries)
        return work if self.telemetry is None else self._in_a_span(run, work)

    def _in_a_span(self, run: _Run, work: Asking[RunResult]) -> Asking[RunResult]:
        assert self.telemetry is not None
        with self.telemetry.run(self.mode, run.metrics.to_dict):
            return (yield from work)

    def _loop(self, run: _Run, system_prompt: str, user_msg: str, max_retries: int) -> Asking[RunResult]:
        """Ask the model and run its tools until its answer passes; yield each function that has to be run or
        awaited.
        """
        provider, on_loop, clock, metrics = self.provider, self._on_loop, self._tape.clock, run.metrics
        run.prompt(system_prompt)
        run.user(user_msg)
        request = self._open(run)
        prompt = system_prompt if self.policy.mode == "sourced" else f"{system_prompt}\n{RULES}"
        state = yield partial(provider.init_chat, prompt, user_msg), on_loop
        attempts = 0
        last_error: GLError | None = None
        while True:
            self._go_on(run)
            if metrics.model_steps >= self.max_steps:
                run.steps.append(trace_entry("model", self.max_steps, "max_attempts", success=False))
                raise GLRuntimeError("MAX_STEPS", f"No final answer after {self.max_steps} steps")
            metrics.model_steps += 1
            started = clock()
            try:
                raw = yield partial(provider.chat_step, state=state, **request), on_loop
            except Exception as failure:
                if last_error is not None:  # there is no further answer: raise what was to be repaired
                    raise last_error from failure
                raise
            elapsed = (clock() - started) * 1000
            self._go_on(run)
            step = None
            is_call = False
            try:
                step = read_step(raw)
                if is_call := step.kind == "tool_call":
                    metrics.tool_steps += 1
                    _note(run, step, raw, elapsed)
                    result = yield from self._call_tool(run, step)
                else:
                    rendering = run.check(step.message, step.claims).rendering
            except GLError as error:
                if not is_call:
                    _note(run, step, raw, elapsed, error)
                # The unit of a tool's output is the tool's, whatever the model does.
                mendable = error.code in self.repair_on and not (is_call and error.code == "UNIT_UNKNOWN")
                if not mendable or attempts >= max_retries:
                    raise
                attempts += 1
                last_error = error
                logger.info("Asking the model to repair: %s", error)
                try:
                    state = yield partial(provider.inject_error, Session.repair_hint(error)), on_loop
                except Exception as failure:  # there is no caller to report it to
                    raise error from failure
                continue
            last_error = None
            if is_call:
                state = yield partial(provider.inject_tool_result, result), on_loop
                continue
            _note(run, step, raw, elapsed)
            answer = RunResult(rendering, metrics.to_dict())
            if step.kind == "clarification":
                answer["clarification_needed"] = True
            return answer

    def _open(self, run: _Run) -> dict[str, Any]:
        """Return what each request to the provider has in common (schema, tools, options), and enter the settings
        into the trace.
        """
        policy = self.policy
        options = {"temperature": 0.0, "seed": self.seed} if self.mode == "Replay" else {}
        start: dict[str, Any] = {
            "mode": self.mode,
            "options": options,
            "argument_origin": policy.argument_origin,
        }
        if policy.packs:
            start["packs"] = [*policy.packs]
        if policy.plain_keys:
            start["plain_keys"] = [*policy.plain_keys]
        if policy.plain_kinds != KINDS:
            start["plain_kinds"] = [*policy.plain_kinds]
        run.steps.append(trace_entry("start", 0, input=self._tape.opening(start)))
        request = {"schema": ASSISTANT_STEP_SCHEMA, "tools": self.registry.descriptors()}
        if options and self._takes_options:
            request["options"] = options
        return request

    # -------------------------------------------------------------------------------------- calling tools

    def _call_tool(self, run: _Run, step: Step) -> Asking[dict[str, Any]]:
        """Run one call of the model and return what the provider receives: ``{"tool_call_id": "tc_1", "output": …}``.

        Its arguments are verified and traced, its output is verified, and each step is entered into the trace.
        """
        validation: dict[str, Any] = {}
        entry = trace_entry(
            "tool", run.metrics.model_steps, tool=step.tool_name, validation=validation, success=False
        )
        call = None
        try:
            registry, units = self.registry, self.policy.argument_units
            call = registry.verify(step.tool_name, step.arguments, argument_units=units)
            traced = run.trace_arguments(
                call.tool.name, call.arguments, call.tool.args_schema, call.entry.parameters, call.changes
            )
            if traced.changes is not call.changes:
                call = registry.verify_converted(call, traced)
            validation["arguments"] = "repaired" if call.repaired else "valid"
            if traced.origins:
                validation["origins"] = [origin.to_dict() for origin in traced.origins]
            output = yield from self._obtain(run, call, entry)
        except GLError as error:
            validation["error"] = error.to_dict()
            run.metrics.replay_violations += error.code == "EGRESS_BLOCKED"
            raise
        finally:
            entry["input"] = call.arguments if call and not call.repaired else snapshot(step.arguments)
            run.steps.append(entry)
        record = run.admit(call.tool.name, call.arguments, output, traced.origins)
        call_id = entry["call_id"] = record.call_id
        entry["success"] = True
        run.metrics.latency_ms += entry["duration_ms"]
        logger.debug("%s %s(%s) returned %s", call_id, step.tool_name, call.arguments, output.data)
        answer = {"tool_call_id": call_id, "output": copy_plain(output.data)}
        if output.declared:
            answer["units"] = output.declared_units()
        if call.changes and units == "convert":
            answer["converted"] = [change.to_dict() for change in call.changes]
        return answer

    def _obtain(self, run: _Run, call: Call, entry: dict[str, Any]) -> Asking[Survey]:
        """Return the verified output of a call, from the recording if there is one, else by executing it, and note
        it in ``entry``.
        """
        name, tape = call.tool.name, self._tape
        recorded = tape.recorded_call(name, call.arguments)
        approval = None
        try:
            if recorded is None:
                refuse_egress(call, self.mode)
                approval = yield from self.gate.checking(call.tool, call.arguments, call.entry.category)
            elif (approval := recorded["approval"]) is None:  # it never got as far as running
                _recorded_output(recorded)
            entry["validation"]["approval"] = approval
            self._go_on(run)
            started = tape.clock()
            try:
                with self.telemetry.tool(call, run.next_id()) if self.telemetry else _NO_SPAN as note:
                    if recorded is None:
                        blocking_call = partial(self._uninterrupted, run, call)
                        raw = yield blocking_call, lambda _: self._interruptible(run, call)
                    else:
                        raw = _recorded_output(recorded)
                    output = self.registry.check_output(call, raw, self.policy)
                    entry["observation"] = output.data
                    if note is not None:
                        note(output.data)
            finally:
                entry["duration_ms"] = (tape.clock() - started) * 1000
            self._go_on(run)
        except GLError as error:
            tape.call_done(name, call.arguments, {"error": error.to_dict(), "approval": approval})
            raise
        tape.call_done(name, call.arguments, {"output": output.data, "approval": approval})
        return output

    def _uninterrupted(self, run: _Run, call: Call) -> Any:
        """Run a call to its end; the run's session is that of the moment."""
        with using(run):
            return run_blocking(call, lambda: run.era is not self._era)

    async def _interruptible(self, run: _Run, call: Call) -> Any:
        """Return the result of a call that ``cancel()`` can stop from any thread; the session is the current one
        in it.
        """
        with using(run):
            task = asyncio.ensure_future(run_async(call))
        interrupt = partial(asyncio.get_running_loop().call_soon_threadsafe, task.cancel)
        self._interrupts.add(interrupt)
        try:
            return await task
        except asyncio.CancelledError:
            self._go_on(run)
            raise
        finally:
            self._interrupts.discard(interrupt)


def _note(run: _Run, step: Step | None, raw: Any, elapsed: float, error: GLError | None = None) -> None:
    """Enter a step of the model into the trace, with what was wrong with it, if anything."""
    run.steps.append(
        trace_entry(
            "model",
            run.metrics.model_steps,
            _DECISIONS[step.kind] if step else "invalid",
            (step.tool_name or None) if step else None,
            validation=error.to_dict() if error else "valid",
            observation=snapshot(raw),
            success=error is None,
            duration_ms=elapsed,
        )
    )


def _success(answer: RunResult) -> AgentResponse:
    answer["status"] = "success"
    return cast("AgentResponse", answer)


def _failure(run: _Run, error: Exception) -> AgentResponse:
    """Return the response of a run that ended with an error: status "error" or "max_attempts_reached"."""
    if isinstance(error, GLError):
        failure = error.to_dict()
    else:
        failure = GLRuntimeError("PROVIDER_FAILED", reason_of(error)).to_dict()
        failure["error_type"] = type(error).__name__
    status = "max_attempts_reached" if failure["code"] == "MAX_STEPS" else "error"
    metrics, trace = run.metrics.to_dict(), run.steps
    return cast("AgentResponse", {"status": status, "error": failure, "metrics": metrics, "trace": trace})


def _recorded_output(recorded: Mapping[str, Any]) -> Any:
    """Return the output of a recorded call; raises the error that it ended with."""
    if "error" in recorded:
        raise error_from_dict(recorded["error"])
    return recorded["output"]

"""ToolRuntime: the loop between a model and its tools, and the last gate before the user.

A message leaves it only when each of its numbers is a claim, each claim leads to a Quantity in the verified
output of a tool call of this very run, and the claimed value is the tool's.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, Unpack, cast

from gllint_runtime.execution.approval import Approve, Notify
from gllint_runtime.execution.asking import Asking, finish, finishing
from gllint_runtime.execution.calls import Call, Mode, refuse_egress, run_async, run_blocking
from gllint_runtime.execution.registry import ToolRegistry
from gllint_runtime.execution.session import Session, numbers_by_name
from gllint_runtime.execution.steps import Step, read_step
from gllint_runtime.execution.trace import Trace, snapshot
from gllint_runtime.policy.data import Survey, copy_plain
from gllint_runtime.policy.errors import GLError, GLRuntimeError, error_from_dict
from gllint_runtime.policy.schemas import ASSISTANT_STEP_SCHEMA
from gllint_runtime.policy.settings import MessageSettings, known
from gllint_runtime.providers import Provider, Tape, takes_options
from gllint_runtime.show import Showing, Shown

if TYPE_CHECKING:
    from gllint_runtime.execution.responses import AgentResponse

logger = logging.getLogger("gllint_runtime")

MENDABLE = frozenset(
    {
        *("NO_NAKED_NUMBERS", "MISSING_CLAIM", "UNSAFE_TEXT", "PATH_RESOLUTION", "QUANTITY_MISMATCH"),
        *("MISSING_TOOL_CALL", "STEP_SCHEMA", "ARGS_SCHEMA", "UNIT_UNKNOWN"),
    }
)
"""The errors that a model can mend when it is told of them. Security and approval are not among them."""

RULES = """
Rules for numbers:
- Every number comes from a tool. Call one; do not calculate, round, convert or estimate yourself.
- In the final message write {{claim:0}}, {{claim:1}}, ... where a value belongs, and no digit of your own.
- Put nothing but blanks or punctuation beside a macro: it brings its value and its unit.
- claims[i] says where {{claim:i}} comes from: source_call_id (the tc_N of the tool call), path ($.field of
  its output) and quantity (exactly the value and unit found there)."""


class Telemetry(Protocol):
    """Where spans go; :mod:`gllint_runtime.otel` has the one for OpenTelemetry."""

    def run(self, mode: Mode, metrics: Callable[[], dict[str, Any]]) -> AbstractContextManager[Any]:
        """Around one run."""

    def tool(self, call: Call, call_id: str) -> AbstractContextManager[Callable[[Any], None] | None]:
        """Around one execution of a tool; what it gives is told the output."""


_NO_SPAN: AbstractContextManager[None] = nullcontext()


_DECISIONS = {"tool_call": "tool_use", "final": "final_answer", "clarification": "clarification"}


class RunResult(Showing, dict[str, Any]):
    """What a run answers: a dict that shows itself."""

    def __init__(self, shown: Shown) -> None:
        super().__init__(message="".join(shown.pieces), provenance=shown.provenance)
        self._verified = shown

    def _shown(self) -> Shown:
        return self._verified._replace(provenance=self["provenance"], trace=self["trace"])


class _Run:
    """What belongs to one run and is gone with it; ``on_loop`` says in which world it runs."""

    def __init__(self, session: Session, *, on_loop: bool) -> None:
        self.session = session
        self.metrics = session.metrics
        self.trace = Trace()
        self.on_loop = on_loop
        self.cancelled = False
        self.interrupt: Callable[[], object] = lambda: None


class ToolRuntime:
    """Runs a model with tools under the policy that no number is guessed.

    ``mode`` is ``"Replay"`` (no tool that needs the network; temperature 0 and ``seed`` go to the provider)
    or ``"Live"``. ``max_steps`` bounds the answers asked of the model. ``repair_on`` names the error codes
    that are told to the model for another try, at most ``max_retries`` times in a run whatever it does in
    between; all others are raised. The default is what a model can mend.

    ``settings`` are ``argument_origin``, ``number_words``, ``whitelist`` and ``array_paths`` of
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
        **settings: Unpack[MessageSettings],
    ) -> None:
        if mode not in ("Replay", "Live"):
            raise ValueError(f'mode is "Replay" or "Live", not {mode!r}')
        if not callable(getattr(provider, "chat_step", None)):
            raise TypeError(f"a provider has a method chat_step; {type(provider).__name__} has none")
        if not isinstance(registry, ToolRegistry):
            raise TypeError(f"registry is a ToolRegistry, not {type(registry).__name__}")
        if isinstance(max_steps, bool) or not isinstance(max_steps, int) or max_steps < 1:
            raise ValueError(f"max_steps is a number of steps, not {max_steps!r}")
        if isinstance(repair_on, str):
            raise TypeError(f"repair_on is a list of error codes, not {repair_on!r}")
        unknown_codes = set(repair_on) - GLError.codes
        if unknown_codes:
            raise ValueError(f"no such error code: {', '.join(sorted(unknown_codes))}")
        self.provider = provider
        self.registry = registry
        self.mode: Mode = mode
        self.seed = seed
        self.max_steps = max_steps
        self.repair_on = frozenset(repair_on)
        self.policy = (
            replace(registry.policy, **known(settings, MessageSettings)) if settings else registry.policy
        )
        self.constants = numbers_by_name(constants)
        self.gate = registry.gate.asking(approve, notify)
        self.telemetry = telemetry
        self._tape = provider if isinstance(provider, Tape) else None
        self._clock: Callable[[], float] = self._tape.clock if self._tape else time.perf_counter
        self._takes_options = takes_options(provider)
        self._blocking = _blocks(provider)
        self._runs: set[_Run] = set()
        self._run: _Run | None = None

    # ------------------------------------------------------------------------------------------- running

    def run(self, system_prompt: str, user_msg: str, max_retries: int = 2) -> RunResult:
        """Let the model answer ``user_msg``.

        Returns ``{"message", "provenance", "metrics", "trace"}``, and ``"clarification_needed": True`` where
        the message is a question back; the dict shows itself in notebooks and by ``to_html()``. Raises GLError; what
        the provider raises comes through as it is.
        """
        run = self._new_run()
        return finish(self._turns(run, system_prompt, user_msg, max_retries))

    async def arun(self, system_prompt: str, user_msg: str, max_retries: int = 2) -> RunResult:
        """:meth:`run` on the caller's event loop, that of async providers, callbacks and tools as well.

        What blocks runs in a thread of its own. Cancelling the task reaches the tool that is running.
        """
        run = self._new_run(on_loop=True)
        return await finishing(self._turns(run, system_prompt, user_msg, max_retries))

    def try_run(self, system_prompt: str, user_msg: str, max_retries: int = 2) -> AgentResponse:
        """Like :meth:`run`, but raises nothing: a union told apart by ``status``, see :mod:`.responses`."""
        try:
            return _success(self.run(system_prompt, user_msg, max_retries))
        except Exception as error:
            return self._failure(error)

    async def try_arun(self, system_prompt: str, user_msg: str, max_retries: int = 2) -> AgentResponse:
        """:meth:`try_run` on the caller's event loop."""
        try:
            return _success(await self.arun(system_prompt, user_msg, max_retries))
        except Exception as error:
            return self._failure(error)

    def _failure(self, error: Exception) -> AgentResponse:
        run: _Run = getattr(error, "_gllint_run", None) or self._last_run
        if isinstance(error, GLError):
            failure = error.to_dict()
        else:
            failure = GLRuntimeError("PROVIDER_FAILED", _text_of(error)).to_dict()
            failure["error_type"] = type(error).__name__
        status = "max_attempts_reached" if failure["code"] == "MAX_STEPS" else "error"
        metrics, trace = run.metrics.to_dict(), run.trace.entries
        return cast("AgentResponse", {"status": status, "error": failure, "metrics": metrics, "trace": trace})

    def cancel(self) -> None:
        """Stop the runs in progress at their next step; from any thread, also from a callback."""
        for run in [*self._runs]:
            run.cancelled = True
            run.interrupt()

    def get_metrics(self) -> dict[str, Any]:
        """The metrics of the last run, under the names of seed 000 and ``replay_violations``."""
        return self._last_run.metrics.to_dict()

    @property
    def trace(self) -> list[dict[str, Any]]:
        """The trace of the last run; a copy."""
        return self._last_run.trace.entries

    @property
    def _last_run(self) -> _Run:
        return self._run or self._new_run()

    def _new_run(self, *, on_loop: bool = False) -> _Run:
        session = Session.under(self.policy, self.registry.units, self.constants)
        self._run = run = _Run(session, on_loop=on_loop)
        return run

    def _turns(self, run: _Run, system_prompt: str, user_msg: str, max_retries: int) -> Asking[RunResult]:
        """One run, in either world."""
        run.session.user(user_msg)
        self._runs.add(run)
        try:
            with self.telemetry.run(self.mode, run.metrics.to_dict) if self.telemetry else _NO_SPAN:
                answer = yield from self._loop(run, system_prompt, user_msg, max_retries)
        except Exception as error:
            error._gllint_run = run  # type: ignore[attr-defined]
            raise
        finally:
            self._runs.discard(run)
        answer["metrics"], answer["trace"] = run.metrics.to_dict(), run.trace.close()
        return answer

    def _loop(self, run: _Run, system_prompt: str, user_msg: str, max_retries: int) -> Asking[RunResult]:
        provider, blocking = self.provider, self._blocking
        request = self._open(run)
        state = yield partial(provider.init_chat, f"{system_prompt}\n{RULES}", user_msg), blocking
        attempts = 0
        told: GLError | None = None
        while True:
            self._next_step(run)
            started = self._clock()
            try:
                raw = yield partial(provider.chat_step, state=state, **request), blocking
            except Exception as failure:
                if told is not None:  # there is no further answer: what was to be mended stands
                    raise told from failure
                raise
            elapsed = (self._clock() - started) * 1000
            _stop_if_cancelled(run)
            step = told = None
            try:
                step = read_step(raw)
                if step.kind == "tool_call":
                    self._note(run, step, raw, elapsed)
                    result = yield from self._call_tool(run, step)
                else:
                    answer = _finalize(run, step)
            except GLError as error:
                if step is None or step.kind != "tool_call":
                    self._note(run, step, raw, elapsed, error)
                # The unit of a tool's output is the tool's, whatever the model does.
                is_the_tools = error.code == "UNIT_UNKNOWN" and step is not None and step.kind == "tool_call"
                if error.code not in self.repair_on or is_the_tools or attempts >= max_retries:
                    raise
                attempts += 1
                told = error
                logger.info("Asking the model to repair: %s", error)
                try:
                    state = yield partial(provider.inject_error, Session.repair_hint(error)), blocking
                except Exception as failure:  # nobody to tell
                    raise error from failure
                continue
            if step.kind == "tool_call":
                state = yield partial(provider.inject_tool_result, result), blocking
                continue
            self._note(run, step, raw, elapsed)
            return answer

    def _open(self, run: _Run) -> dict[str, Any]:
        """Enter the settings into the trace and return what is the same in each request to the provider."""
        options = {"temperature": 0.0, "seed": self.seed} if self.mode == "Replay" else {}
        start: dict[str, Any] = {
            "mode": self.mode,
            "options": options,
            "argument_origin": self.policy.argument_origin,
        }
        for name, further in (("packs", self.policy.packs), ("plain_keys", self.policy.plain_keys)):
            if further:
                start[name] = [*further]
        run.trace.append("start", 0, input=snapshot(self._tape.opening(start)) if self._tape else start)
        request = {"schema": ASSISTANT_STEP_SCHEMA, "tools": self.registry.descriptors()}
        return request | {"options": options} if options and self._takes_options else request

    def _next_step(self, run: _Run) -> None:
        _stop_if_cancelled(run)
        if run.metrics.model_steps >= self.max_steps:
            run.trace.append("model", self.max_steps, "max_attempts", success=False)
            raise GLRuntimeError("MAX_STEPS", f"No final answer after {self.max_steps} steps")
        run.metrics.model_steps += 1

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

    def _call_tool(self, run: _Run, step: Step) -> Asking[dict[str, Any]]:
        """Verify, trace back, execute, verify again, and note all of it. Returns what the provider is told."""
        outcome = _Outcome()
        call_id = run.session.next_id()
        call = None
        success = False
        try:
            call = self.registry.verify(step.tool_name, step.arguments)
            outcome.validation["arguments"] = "repaired" if call.repaired else "valid"
            origins = run.session.trace_arguments(call.tool.name, call.arguments, call.tool.args_schema)
            output = yield from self._obtain(run, call, call_id, outcome)
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
        run.session.admit(call.tool.name, call.arguments, output, origins)
        run.metrics.latency_ms += outcome.elapsed_ms
        logger.debug("%s %s(%s) returned %s", call_id, step.tool_name, call.arguments, output.data)
        return {"tool_call_id": call_id, "output": copy_plain(output.data)}

    def _obtain(self, run: _Run, call: Call, call_id: str, outcome: _Outcome) -> Asking[Survey]:
        """The verified output, recorded or by executing the call; ``outcome`` is filled on the way."""
        name = call.tool.name
        recorded = self._tape.recorded_call(name, call.arguments) if self._tape else None
        try:
            if recorded is None:
                yield from self._permit(run, call, outcome)
            elif recorded["approval"] is None:  # it never got as far as running
                _recorded_output(recorded)
            else:
                outcome.validation["approval"] = recorded["approval"]
            _stop_if_cancelled(run)
            started = self._clock()
            try:
                with self.telemetry.tool(call, call_id) if self.telemetry else _NO_SPAN as note:
                    if recorded is not None:
                        raw = _recorded_output(recorded)
                    elif run.on_loop:
                        raw = yield partial(_interruptible, run, call), False
                    else:
                        raw = run_blocking(call, lambda: run.cancelled)
                    output = self.registry.check_output(call, raw)
                    outcome.observation = output.data
                    if note is not None:
                        note(output.data)
            finally:
                outcome.elapsed_ms = (self._clock() - started) * 1000
            _stop_if_cancelled(run)
        except GLError as error:
            self._record(call, outcome, {"error": error.to_dict()})
            raise
        self._record(call, outcome, {"output": output.data})
        return output

    def _record(self, call: Call, outcome: _Outcome, ending: dict[str, Any]) -> None:
        if self._tape:
            ending["approval"] = outcome.validation.get("approval")
            self._tape.call_done(call.tool.name, call.arguments, ending)

    def _permit(self, run: _Run, call: Call, outcome: _Outcome) -> Asking[None]:
        try:
            refuse_egress(call, self.mode)
        except GLError:
            run.metrics.replay_violations += 1
            raise
        asking = self.gate.checking(call.tool, call.arguments, call.entry.category)
        outcome.validation["approval"] = yield from asking


def _finalize(run: _Run, step: Step) -> RunResult:
    """The message with its claims rendered and their provenance, once nothing in it is unproven."""
    answer = RunResult(run.session.check_read(step.message, step.claims))
    if step.kind == "clarification":
        answer["clarification_needed"] = True
    return answer


def _blocks(provider: Provider) -> bool:
    declared = getattr(provider, "blocking", None)
    return not inspect.iscoroutinefunction(provider.chat_step) if declared is None else bool(declared)


def _success(answer: RunResult) -> AgentResponse:
    answer["status"] = "success"
    return cast("AgentResponse", answer)


async def _interruptible(run: _Run, call: Call) -> Any:
    """Run a call as a task that ``cancel()`` reaches from any thread."""
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(run_async(call))
    run.interrupt = lambda: loop.call_soon_threadsafe(task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        _stop_if_cancelled(run)
        raise
    finally:
        run.interrupt = lambda: None


def _stop_if_cancelled(run: _Run) -> None:
    if run.cancelled:
        raise GLRuntimeError("CANCELLED", "The user stopped the run")


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return type(error).__name__


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

"""The runtime on an event loop: providers, callbacks and tools, cancellation, timeouts."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from gllint_runtime import (
    GLError,
    GLRuntimeError,
    ScriptedProvider,
    Tool,
    ToolCategory,
    ToolRegistry,
    ToolRuntime,
)

HEAT = {"heat": {"value": 12.5, "unit": "kWh"}}
CALL = {"kind": "tool_call", "tool_name": "meter", "arguments": {}}
FINAL = {
    "kind": "final",
    "message": "It uses {{claim:0}}.",
    "claims": [{"source_call_id": "tc_1", "path": "$.heat", "quantity": HEAT["heat"]}],
}


class AsyncProvider:
    """A script behind coroutines, which must all run on one loop."""

    def __init__(self, *steps: Any) -> None:
        self._script = ScriptedProvider(steps)
        self.loops: set[Any] = set()

    async def _now(self, name: str, *arguments: Any, **options: Any) -> Any:
        self.loops.add(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return getattr(self._script, name)(*arguments, **options)

    async def init_chat(self, *arguments: Any) -> Any:
        return await self._now("init_chat", *arguments)

    async def chat_step(self, **options: Any) -> Any:
        return await self._now("chat_step", **options)

    async def inject_tool_result(self, result: Any) -> Any:
        return await self._now("inject_tool_result", result)

    async def inject_error(self, message: str) -> Any:
        return await self._now("inject_error", message)


def registry_of(fn: Any, **options: Any) -> ToolRegistry:
    registry = ToolRegistry(approve=options.pop("approve", None))
    registry.register(Tool(name="meter", fn=fn, **options))
    return registry


async def on_the_loop() -> Any:
    await asyncio.sleep(0)
    return HEAT


TOOLS = [lambda: HEAT, on_the_loop, lambda: on_the_loop()]


@pytest.mark.parametrize("fn", TOOLS)
@pytest.mark.parametrize("provider", [AsyncProvider, lambda *steps: ScriptedProvider(steps)])
def test_both_worlds_give_the_same(fn: Any, provider: Any) -> None:
    steps = (CALL, {"kind": "final", "message": "It uses 5."}, FINAL)
    answers = [
        ToolRuntime(provider(*steps), registry_of(fn)).run("", ""),
        asyncio.run(ToolRuntime(provider(*steps), registry_of(fn)).arun("", "")),
        asyncio.run(ToolRuntime(provider(*steps), registry_of(fn)).try_arun("", "")),
    ]
    assert {answer["message"] for answer in answers} == {"It uses 12.50 kWh."}
    assert [answer["metrics"]["naked_number_rejections"] for answer in answers] == [1, 1, 1]


def test_one_loop_lives_across_all_calls() -> None:
    provider = AsyncProvider(CALL, FINAL)
    ToolRuntime(provider, registry_of(on_the_loop)).run("", "")
    assert len(provider.loops) == 1
    provider = AsyncProvider(CALL, FINAL)
    loops: list[Any] = []

    async def tool() -> Any:
        loops.append(asyncio.get_running_loop())
        return HEAT

    async def main() -> None:
        await ToolRuntime(provider, registry_of(tool)).arun("", "")
        assert {*loops} == provider.loops == {asyncio.get_running_loop()}

    asyncio.run(main())


def test_a_sync_run_within_a_loop() -> None:
    async def main() -> Any:
        return ToolRuntime(AsyncProvider(CALL, FINAL), registry_of(on_the_loop)).run("", "")

    assert asyncio.run(main())["message"] == "It uses 12.50 kWh."


@pytest.mark.parametrize("answer", [True, False])
def test_consent_is_awaited(answer: bool) -> None:
    async def approve(tool: Any, arguments: Any, first_use: bool) -> bool:
        await asyncio.sleep(0)
        return answer

    registry = registry_of(on_the_loop, approve=approve, category=ToolCategory.EXTERNAL)
    for result in (
        ToolRuntime(ScriptedProvider([CALL, FINAL]), registry).try_run("", ""),
        asyncio.run(ToolRuntime(ScriptedProvider([CALL, FINAL]), registry).try_arun("", "")),
    ):
        assert result["status"] == ("success" if answer else "error")


def test_cancelling_the_task_reaches_the_tool() -> None:
    ends: list[str] = []

    async def slow() -> Any:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            ends.append("cancelled")
            raise

    async def main() -> None:
        task = asyncio.create_task(
            ToolRuntime(ScriptedProvider([CALL, FINAL]), registry_of(slow)).arun("", "")
        )
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert ends == ["cancelled"]


def test_nobody_is_told_of_a_tool_that_ends_too_late(caplog: pytest.LogCaptureFixture) -> None:
    release, ended = threading.Event(), threading.Event()

    def slow() -> Any:
        release.wait(10)
        ended.set()
        return HEAT

    async def main() -> None:
        runtime = ToolRuntime(ScriptedProvider([CALL, FINAL]), registry_of(slow, timeout=0.02))
        assert (await runtime.try_arun("", ""))["error"]["code"] == "TOOL_FAILED"
        release.set()
        while not ended.is_set():
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)

    asyncio.run(main())
    assert [record for record in caplog.records if record.name == "asyncio"] == []


@pytest.mark.parametrize("blocking", [True, False])
def test_cancel_stops_a_run_from_another_thread(blocking: bool) -> None:
    started = threading.Event()

    def slow() -> Any:
        started.set()
        time.sleep(0.5)
        return HEAT

    async def slow_too() -> Any:
        started.set()
        await asyncio.sleep(30)

    runtime = ToolRuntime(ScriptedProvider([CALL, FINAL]), registry_of(slow if blocking else slow_too))
    threading.Thread(target=lambda: started.wait(10) and runtime.cancel()).start()
    assert asyncio.run(runtime.try_arun("", ""))["error"]["code"] == "CANCELLED"


@pytest.mark.parametrize("fn", [lambda: time.sleep(0.5), lambda: asyncio.sleep(30)])
def test_every_kind_of_tool_has_a_timeout(fn: Any) -> None:
    for result in (
        ToolRuntime(ScriptedProvider([CALL]), registry_of(fn, timeout=0.02)).try_run("", ""),
        asyncio.run(ToolRuntime(ScriptedProvider([CALL]), registry_of(fn, timeout=0.02)).try_arun("", "")),
    ):
        assert result["error"]["code"] == "TOOL_FAILED" and "timed out" in result["error"]["message"]


def test_tools_that_hang_keep_no_other_waiting() -> None:
    release = threading.Event()

    async def main() -> str:
        stuck = [
            asyncio.create_task(
                ToolRuntime(ScriptedProvider([CALL]), registry_of(release.wait, timeout=20)).try_arun("", "")
            )
            for _ in range(50)
        ]
        await asyncio.sleep(0)
        answer = await ToolRuntime(ScriptedProvider([CALL, FINAL]), registry_of(lambda: HEAT)).arun("", "")
        release.set()
        await asyncio.gather(*stuck)
        return str(answer["message"])

    assert asyncio.run(main()) == "It uses 12.50 kWh."


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")

    __repr__ = __str__


@pytest.mark.parametrize(
    "error",
    [StopIteration, StopAsyncIteration, asyncio.CancelledError, Unprintable, TimeoutError],
)
@pytest.mark.parametrize("is_async", [True, False])
def test_whatever_a_tool_raises(error: type[BaseException], is_async: bool) -> None:
    def fail() -> Any:
        raise error

    async def fail_later() -> Any:
        raise error

    registry = registry_of(fail_later if is_async else fail)
    for result in (
        ToolRuntime(ScriptedProvider([CALL]), registry).try_run("", ""),
        asyncio.run(ToolRuntime(ScriptedProvider([CALL]), registry).try_arun("", "")),
    ):
        assert result["error"]["code"] == "TOOL_FAILED"


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_is_meant_for_the_program_comes_through(error: type[BaseException]) -> None:
    def leave() -> Any:
        raise error

    with pytest.raises(error):
        ToolRuntime(ScriptedProvider([CALL]), registry_of(leave)).try_run("", "")


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_a_program_that_an_async_provider_ends_does_not_wait_for_ever(error: type[BaseException]) -> None:
    class Leaving(AsyncProvider):
        async def chat_step(self, **options: Any) -> Any:
            raise error

    raised: list[BaseException] = []

    def run() -> None:
        try:
            ToolRuntime(Leaving(), ToolRegistry()).run("", "")
        except BaseException as reason:
            raised.append(reason)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(10)
    assert [type(reason) for reason in raised] == [error]


@pytest.mark.parametrize("error", [StopIteration(), IndexError(), Unprintable(), ConnectionError("down")])
def test_whatever_a_provider_raises(error: Exception) -> None:
    class Failing(ScriptedProvider):
        def chat_step(self, **options: Any) -> Any:
            raise error

    for result in (
        ToolRuntime(Failing([]), ToolRegistry()).try_run("", ""),
        asyncio.run(ToolRuntime(Failing([]), ToolRegistry()).try_arun("", "")),
    ):
        assert result["status"] == "error" and result["error"]["code"] == "PROVIDER_FAILED"


@pytest.mark.parametrize(
    ("step", "code"),
    [
        ({"kind": "final", "message": "It uses 5."}, "NO_NAKED_NUMBERS"),
        ({"kind": "final", "message": "{{claim:0}}"}, "MISSING_CLAIM"),
        ({"kind": "final", "message": "\x1b"}, "UNSAFE_TEXT"),
        (FINAL, "MISSING_TOOL_CALL"),
        ("nonsense", "STEP_SCHEMA"),
        ({"name": "guess"}, "PATH_RESOLUTION"),
        ({"name": "meter", "args": {"x": 1}}, "ARGS_SCHEMA"),
    ],
)
def test_what_a_model_can_mend_it_is_told(step: Any, code: str) -> None:
    provider = ScriptedProvider([step, CALL, FINAL])
    assert ToolRuntime(provider, registry_of(lambda: HEAT)).run("", "")["message"] == "It uses 12.50 kWh."
    assert provider.received[1]["error"].startswith(f"[{code}]")
    with pytest.raises(GLError) as caught:  # no further answer: the error itself
        ToolRuntime(ScriptedProvider([step]), registry_of(lambda: HEAT)).run("", "")
    assert caught.value.code == code
    with pytest.raises(GLError) as caught:
        ToolRuntime(ScriptedProvider([step, CALL, FINAL]), registry_of(lambda: HEAT), repair_on=()).run(
            "", ""
        )
    assert caught.value.code == code


def test_a_provider_that_cannot_be_told() -> None:
    class Deaf(ScriptedProvider):
        inject_error = None  # type: ignore[assignment]

    with pytest.raises(GLRuntimeError, match="NO_NAKED_NUMBERS"):
        ToolRuntime(Deaf([{"kind": "final", "message": "It uses 5."}]), ToolRegistry()).run("", "")


def test_the_unit_of_an_output_is_not_the_models_to_mend() -> None:
    provider = ScriptedProvider([CALL, FINAL])
    with pytest.raises(GLError, match="UNIT_UNKNOWN"):
        ToolRuntime(provider, registry_of(lambda: {"heat": {"value": 5, "unit": "furlong"}})).run("", "")


def test_no_tool_call_resets_the_budget() -> None:
    naked = {"kind": "final", "message": "It uses 5."}
    provider = ScriptedProvider([naked, CALL, naked, CALL, naked, FINAL])
    with pytest.raises(GLRuntimeError, match="NO_NAKED_NUMBERS"):
        ToolRuntime(provider, registry_of(lambda: HEAT)).run("", "", max_retries=2)


@pytest.mark.parametrize("error", ["EGRESS_BLOCKED", "APPROVAL_DENIED"])
def test_security_is_never_told(error: str) -> None:
    options: dict[str, Any] = (
        {"live_required": True} if error == "EGRESS_BLOCKED" else {"category": ToolCategory.EXTERNAL}
    )
    with pytest.raises(GLError, match=error):
        ToolRuntime(ScriptedProvider([CALL, FINAL]), registry_of(lambda: HEAT, **options)).run("", "")


def test_many_runs_at_once_never_cross() -> None:
    registry = ToolRegistry()
    registry.register(Tool(name="meter", fn=lambda n: {"heat": {"value": n, "unit": "kWh"}}))

    async def one(number: int) -> str:
        call = {**CALL, "arguments": {"n": number}}
        claims = [{"source_call_id": "tc_1", "path": "$.heat", "quantity": {"value": number, "unit": "kWh"}}]
        runtime = ToolRuntime(ScriptedProvider([call, {**FINAL, "claims": claims}]), registry)
        return str((await runtime.arun("", ""))["message"])

    async def main() -> list[str]:
        return await asyncio.gather(*map(one, range(100)))

    assert asyncio.run(main()) == [f"It uses {number}.00 kWh." for number in range(100)]


def test_a_failure_tells_of_its_own_run_though_another_began_since() -> None:
    second_began = asyncio.Event()

    class Model:
        def init_chat(self, system_prompt: str, user_msg: str) -> str:
            return user_msg

        async def chat_step(self, *, schema: Any, tools: Any, state: str) -> Any:
            if state == "first":
                await second_began.wait()
                raise ConnectionError("down")
            second_began.set()
            return {"kind": "final", "message": "Done"}

    runtime = ToolRuntime(Model(), ToolRegistry())  # type: ignore[arg-type]

    async def both() -> Any:
        return await asyncio.gather(runtime.try_arun("", "first"), runtime.try_arun("", "second"))

    failed, answered = asyncio.run(both())
    assert answered["status"] == "success" and failed["status"] == "error"
    assert [entry["kind"] for entry in failed["trace"]] == ["start"]


@pytest.mark.parametrize(("declared", "beside"), [(None, True), (True, True), (False, False)])
def test_a_provider_that_may_block_runs_beside_the_loop(declared: Any, beside: bool) -> None:
    threads: list[int] = []

    class Plain(ScriptedProvider):
        blocking = declared

        def chat_step(self, **options: Any) -> Any:
            threads.append(threading.get_ident())
            return super().chat_step(**options)

    asyncio.run(ToolRuntime(Plain([CALL, FINAL]), registry_of(lambda: HEAT)).arun("", ""))
    assert [thread != threading.get_ident() for thread in threads] == [beside] * 2


def test_a_plain_tool_runs_in_the_thread_that_asks() -> None:
    threads: list[int] = []

    def meter() -> Any:
        threads.append(threading.get_ident())
        return HEAT

    ToolRuntime(ScriptedProvider([CALL, FINAL]), registry_of(meter)).run("", "")
    assert threads == [threading.get_ident()]


def test_no_thread_keeps_a_program_from_ending() -> None:
    """A provider, a tool with a timeout and one beside the loop: whichever hangs, the program can be left."""
    daemons: list[bool] = []

    class Watched(AsyncProvider):
        async def chat_step(self, **options: Any) -> Any:
            daemons.append(threading.current_thread().daemon)
            return await super().chat_step(**options)

    def meter() -> Any:
        daemons.append(threading.current_thread().daemon)
        return HEAT

    ToolRuntime(Watched(CALL, FINAL), registry_of(meter, timeout=20)).run("", "")
    asyncio.run(ToolRuntime(ScriptedProvider([CALL, FINAL]), registry_of(meter)).arun("", ""))
    assert daemons == [True] * 4


def test_no_thread_outlives_a_run() -> None:
    before = {*threading.enumerate()}
    ToolRuntime(AsyncProvider(CALL, FINAL), registry_of(on_the_loop)).run("", "")
    for thread in {*threading.enumerate()} - before:
        thread.join(10)
        assert not thread.is_alive()

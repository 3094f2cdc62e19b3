"""The benchmarks of the gate, in a size for every day."""

from __future__ import annotations

import asyncio
import json
import os
import runpy
import signal
import sys
import threading
import time
from importlib import import_module
from pathlib import Path

import pytest

import gllint_runtime
from gllint_runtime import Session
from gllint_runtime.policy.lock_free import cached_property

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))


def test_claims_never_cross_and_memory_is_flat() -> None:
    benchmark = runpy.run_path(str(BENCHMARKS / "gate_load.py"))
    load = benchmark["run"](600, threads=16, tasks=50)
    assert load.wrong == []
    assert benchmark["is_flat"](load.memory), load.memory


def test_the_benchmark_tells_what_it_sees(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    benchmark = runpy.run_path(str(BENCHMARKS / "gate_load.py"))
    monkeypatch.setattr(sys, "argv", ["gate_load.py", "--turns", "20", "--threads", "2", "--tasks", "2"])
    assert benchmark["main"]() == 0
    assert "wrong answers: 0" in capsys.readouterr().out
    bent = {"message": "It uses 5.00 kWh.", "provenance": [{"arguments": {"number": 5}}]}
    wrong: list[str] = []
    benchmark["_judge"](5, bent, wrong)
    assert wrong == []
    benchmark["_judge"](6, bent, wrong)
    assert wrong == ["6: It uses 5.00 kWh."]


CONVERSATIONS = runpy.run_path(str(BENCHMARKS / "conversations.py"))


@pytest.mark.parametrize("package", CONVERSATIONS["FRAMEWORKS"])
def test_conversations_over_one_agent_never_cross_and_are_not_lost(package: str) -> None:
    pytest.importorskip(package)
    seen = CONVERSATIONS["run"](package, 2, threads=2, rounds=1)
    assert seen.wrong == [] and seen.answers == 20 and len(seen.memory) == 1


def test_a_conversation_that_went_wrong_is_told() -> None:
    async def other(conversation: str, text: str) -> str:
        if text == "again":
            raise ValueError("lost")
        return "It uses 2.00 kWh."

    wrong: list[str] = []
    asyncio.run(CONVERSATIONS["_talk"](other, "a", CONVERSATIONS["_first"](2), wrong))
    assert wrong == []
    asyncio.run(CONVERSATIONS["_talk"](other, "a", CONVERSATIONS["_others"](2), wrong))
    assert [one.split(": ")[1] for one in wrong] == ["again", "steal 3", "read 1000002", "again"]


ADOPTION = runpy.run_path(str(BENCHMARKS / "adoption.py"))


@pytest.mark.parametrize("name", ADOPTION["FRAMEWORKS"])
def test_every_made_up_number_is_stopped_in_every_framework(name: str) -> None:
    pytest.importorskip(ADOPTION["FRAMEWORKS"][name])
    attempts = ADOPTION["attempts"]()
    assert len({*attempts}) == 50
    tried = attempts[::4]
    row = ADOPTION["measure"](ADOPTION["bench_of"](name), turns=1, tried=tried)
    assert {*row.stopped.values()} <= {len(tried), "n/a", "refused"} and row.stopped["plain"] == len(tried)
    assert row.lines <= 8
    assert f"| {row.name} | {row.lines} | {len(tried)} |" in ADOPTION["table"]([row])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_process_that_is_forked_waits_for_no_thread_of_its_parent() -> None:
    session, is_held, is_over = Session(), threading.Event(), threading.Event()

    def hold() -> None:
        with session._lock:
            is_held.set()
            is_over.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    is_held.wait(30)
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # ends what waits
        os._exit(session.record("meter", {}, {"heat": {"value": 5, "unit": "kWh"}}) != "tc_1")
    status = os.waitpid(child, 0)[1]
    is_over.set()
    thread.join()
    assert status == 0
    assert session.record("meter", {}, {"heat": {"value": 5, "unit": "kWh"}}) == "tc_1"


def test_the_benchmark_of_the_audit_judges_answers_and_wrong_copies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    benchmark = runpy.run_path(str(BENCHMARKS / "audit.py"))
    function = {"name": "price", "arguments": '{"site": "north"}'}
    turns = [
        {"role": "user", "content": "What is the price?"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": function}]},
        {"role": "tool", "tool_call_id": "c1", "content": '{"price_usd": 1234.5, "fee_usd": 187}'},
        {"role": "assistant", "content": "The price is $1,234.50."},
    ]
    (tmp_path / "runs.json").write_text(json.dumps([{"traj": turns}]))
    benchmark["main"](str(tmp_path / "runs.json"))
    header, _, row, *_ = capsys.readouterr().out.splitlines()
    assert header.split(" | ")[1:4] == ["unchanged", "a digit is another", "ten times as large"]
    assert row.startswith("| gllint ") and row.split(" | ")[1:3] == ["0 of 1 (0%)", "1 of 1 (100%)"]


def has_ended(child: int) -> bool:
    """Return whether a process ends within 20 seconds; kill it otherwise."""
    until = time.monotonic() + 20
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return False
        time.sleep(0.01)
    return True


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_process_that_is_forked_amid_an_import_can_use_the_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow_for_a_test.py").write_text("import time\ntime.sleep(0.5)\n")
    monkeypatch.setattr(gllint_runtime, "__path__", [*gllint_runtime.__path__, str(tmp_path)])
    name = "gllint_runtime.slow_for_a_test"
    thread = threading.Thread(target=import_module, args=[name])
    thread.start()
    while name not in sys.modules:
        time.sleep(0.001)
    child = os.fork()
    if child == 0:
        import_module(name)
        os._exit(0)
    thread.join()
    assert has_ended(child)
    del sys.modules[name]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_process_that_is_forked_amid_a_cached_property_can_use_that_of_another_object() -> None:
    """On Python 3.11, that of functools has one lock for all."""
    has_begun, is_over = threading.Event(), threading.Event()

    class Slow:
        @cached_property
        def value(self) -> int:
            has_begun.set()
            is_over.wait(30)
            return 1

    thread = threading.Thread(target=lambda: Slow().value)
    thread.start()
    has_begun.wait(10)
    child = os.fork()
    if child == 0:
        is_over.set()
        os._exit(Slow().value - 1)
    is_over.set()
    thread.join()
    assert has_ended(child)

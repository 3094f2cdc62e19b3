"""The runtime under load: many turns at once, none of which sees another's numbers, in memory that stays flat."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from trust import Budget, Row, run_tests

from gllint_runtime import Session

_BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "gate_load.py"
_HOSTILE = [
    f"tests/runtime/{name}.py"
    for name in ("test_adversarial", "test_adversarial_data", "test_load", "test_async")
]
_KEY = "the key of the store"
_MOST, _TURNS_A_SECOND = 100_000, 1_000


def suite(budget: Budget) -> Iterator[Row]:
    gate_load = _benchmark()
    turns = max(2_000, min(_MOST, int(budget.seconds * _TURNS_A_SECOND)))
    load = gate_load.run(turns, threads=64, tasks=1_000)
    wrong = list(load.wrong)
    if turns == _MOST and not gate_load.is_flat(load.memory):
        wrong.append(f"memory grows: {load.memory} MB")
    held = f"{load.memory[1]:.0f} to {load.memory[-1]:.0f} MB"
    yield Row("load: 64 threads, 1,000 tasks", f"{turns} turns, {held}", wrong, turns, 50_000)
    yield _shared(budget)
    yield _restarted(budget)
    told, failed = run_tests(_HOSTILE)
    yield Row("load: hostile providers and tools", told, failed)


def _heat(session: Session, number: int) -> list[str]:
    """Record a result and cite it; what is wrong where another one's number is shown, or none."""
    quantity = {"value": number + 0.5, "unit": "kWh"}
    call = session.record("meter", {"site": number}, {"heat": quantity})
    claim = {"source_call_id": call, "path": "$.heat", "quantity": quantity}
    shown = session.verify("It used {{claim:0}}.", [claim])
    told = getattr(shown, "message", str(shown))
    return [] if format(number + 0.5, ".2f") in told.replace(",", "") else [f"{number}: {told}"]


def _shared(budget: Budget) -> Row:
    """Many threads in one conversation: each is shown its own number."""
    session, end = Session(), budget.part(0.1)

    def talk(thread: int) -> tuple[int, list[str]]:
        wrong, turn = list[str](), 0
        for turn in end.rounds():
            wrong += _heat(session, 1_000_000 * thread + turn)
        return turn + 1, wrong

    return _at_once("load: 64 threads in one conversation", talk, 1_000)


def _restarted(budget: Budget) -> Row:
    """Many conversations, each read from a store for each turn and written to it again."""
    store, end = dict[int, str](), budget.part(0.1)

    def talk(thread: int) -> tuple[int, list[str]]:
        wrong, turn = list[str](), 0
        for turn in end.rounds():
            kept = store.get(thread)
            session = Session() if kept is None else Session.from_json(kept, key=_KEY)
            wrong += [] if session.count == turn else [f"{thread}: {session.count} calls after {turn} turns"]
            wrong += _heat(session, 1_000_000 * thread + turn)
            store[thread] = session.to_json(key=_KEY)
        return turn + 1, wrong

    return _at_once("load: 64 conversations from a store", talk, 200)


def _at_once(name: str, talk: Callable[[int], tuple[int, list[str]]], least: int) -> Row:
    with ThreadPoolExecutor(64) as pool:
        done = [*pool.map(talk, range(64))]
    turns = sum(count for count, _ in done)
    return Row(name, f"{turns} turns", [line for _, wrong in done for line in wrong][:20], turns, least)


def _benchmark() -> Any:
    spec = importlib.util.spec_from_file_location("gate_load", _BENCHMARK)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["gate_load"] = module
    spec.loader.exec_module(module)
    return module

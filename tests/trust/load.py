"""The runtime under load: many turns at once, none of which sees another's numbers, in memory that stays flat."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trust import Budget, Row, run_tests

_BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "gate_load.py"
_HOSTILE = [
    f"tests/runtime/{name}.py"
    for name in ("test_adversarial", "test_adversarial_data", "test_load", "test_async")
]
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
    told, failed = run_tests(_HOSTILE)
    yield Row("load: hostile providers and tools", told, failed)


def _benchmark() -> Any:
    spec = importlib.util.spec_from_file_location("gate_load", _BENCHMARK)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["gate_load"] = module
    spec.loader.exec_module(module)
    return module

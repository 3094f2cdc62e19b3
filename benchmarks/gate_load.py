"""Many turns at once over one registry: no claim may reach another turn's answer, and memory stays flat.

``python benchmarks/gate_load.py`` runs 100,000 turns, half of them in 64 threads, half in 1,000 asyncio tasks; each
asks for a number that no other turn has. Exits with 1 where an answer holds another number, or memory grows.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import threading
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from gllint_runtime import Quantity, ToolRegistry, ToolRuntime, tool

_GROWTH = 1.15  # what an allocator keeps, and no more


class Load(NamedTuple):
    """What was seen: turns, wrong answers, seconds, and the resident memory in MB as the turns went by."""

    turns: int
    wrong: list[str]
    seconds: float
    memory: list[float]


class Model:
    """Asks for its own number, states a made-up one every third time, then claims what the tool said."""

    blocking = False

    def __init__(self, tool_name: str) -> None:
        self._tool = tool_name
        self.number = 0
        self._steps: Iterator[Any] = iter(())

    def init_chat(self, system_prompt: str, user_msg: str) -> None:
        claim = {
            "source_call_id": "tc_1",
            "path": "$.heat",
            "quantity": {"value": self.number, "unit": "kWh"},
        }
        steps = [
            {"kind": "tool_call", "tool_name": self._tool, "arguments": {"number": self.number}},
            {"kind": "final", "final": {"message": f"It uses {self.number} kWh.", "claims": []}},
            {"kind": "final", "final": {"message": "It uses {{claim:0}}.", "claims": [claim]}},
        ]
        self._steps = iter(steps if self.number % 3 == 0 else [steps[0], steps[2]])

    def chat_step(self, *, schema: Any, tools: Any, state: Any) -> Any:
        return next(self._steps)

    def inject_tool_result(self, result: dict[str, Any]) -> None:
        assert result["output"]["heat"]["value"] == self.number

    def inject_error(self, message: str) -> None:
        assert "NO_NAKED_NUMBERS" in message


@tool
def meter(number: int) -> dict[str, Quantity]:
    """Answers the number that it is asked for."""
    return {"heat": Quantity(number, "kWh")}


@tool
async def distant_meter(number: int) -> dict[str, Quantity]:
    """The same, after others have had their turn."""
    await asyncio.sleep(0)
    return {"heat": Quantity(number, "kWh")}


def run(turns: int, threads: int, tasks: int) -> Load:
    """Run so many turns, half of them in threads, half in tasks."""
    registry = ToolRegistry()
    registry.register(meter)
    registry.register(distant_meter)
    wrong: list[str] = []
    memory: list[float] = []
    began = time.perf_counter()
    rounds = 5
    for number in range(rounds):
        first = number * turns // rounds
        middle, last = first + turns // rounds // 2, (number + 1) * turns // rounds
        _in_threads(registry, range(first, middle), threads, wrong)
        asyncio.run(_in_tasks(registry, range(middle, last), tasks, wrong))
        gc.collect()
        memory.append(resident())
    return Load(turns, wrong, time.perf_counter() - began, memory)


def _in_threads(registry: ToolRegistry, numbers: range, threads: int, wrong: list[str]) -> None:
    def work(mine: range) -> None:
        model = Model("meter")
        runtime = ToolRuntime(model, registry)
        for model.number in mine:
            _judge(model.number, runtime.run("", f"How much is {model.number}?"), wrong)

    started = [threading.Thread(target=work, args=(numbers[first::threads],)) for first in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()


async def _in_tasks(registry: ToolRegistry, numbers: range, tasks: int, wrong: list[str]) -> None:
    async def work(mine: range) -> None:
        model = Model("distant_meter")
        runtime = ToolRuntime(model, registry)
        for model.number in mine:
            _judge(model.number, await runtime.arun("", f"How much is {model.number}?"), wrong)

    async with asyncio.TaskGroup() as group:
        for first in range(tasks):
            group.create_task(work(numbers[first::tasks]))


def _judge(number: int, answer: dict[str, Any], wrong: list[str]) -> None:
    (entry,) = answer["provenance"]
    if answer["message"] != f"It uses {number}.00 kWh." or entry["arguments"] != {"number": number}:
        wrong.append(f"{number}: {answer['message']}")


def resident() -> float:
    """The memory that this process holds, in MB."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:  # not Linux: the most that was ever held says as much
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def is_flat(memory: list[float]) -> bool:
    """Whether the last round holds no more than the second did; the first fills caches."""
    return memory[-1] <= memory[1] * _GROWTH


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=64)
    parser.add_argument("--tasks", type=int, default=1_000)
    given = parser.parse_args()
    load = run(given.turns, given.threads, given.tasks)
    print(f"{load.turns} turns in {load.seconds:.1f} s, {load.seconds / load.turns * 1e6:.0f} µs a turn")
    print(f"wrong answers: {len(load.wrong)}", *load.wrong[:5], sep="\n  ")
    print("memory in MB:", ", ".join(f"{held:.0f}" for held in load.memory))
    return int(bool(load.wrong) or not is_flat(load.memory))


if __name__ == "__main__":
    raise SystemExit(main())

"""What a turn of the runtime costs, beside the same turn at another commit.

``python benchmarks/turn.py --against REV`` prints one line for each shape of a turn.

Both are measured in turns (A B A B), each in a process of its own, and of all rounds the least CPU time counts: other
work on the machine can only add to it. The ratio is this checkout's time over the other's.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

_HERE = Path(__file__).resolve().parent.parent
_QUANTITY = {"$ref": "greenlang://schemas/quantity.json"}
_SLICE = 0.02  # seconds that are measured in one


class Shape(NamedTuple):
    """A turn: its tools (name, arguments, output, schema of the output) and what the model says."""

    name: str
    tools: list[tuple[str, dict[str, Any], Any, dict[str, Any]]]
    steps: list[Any]
    user: str = "How much does site 7 use?"


class Model:
    """Says ``steps``, one after the other."""

    blocking = False

    def __init__(self, steps: list[Any]) -> None:
        self._all = steps
        self._steps = iter(steps)

    def init_chat(self, system_prompt: str, user_msg: str) -> None:
        self._steps = iter(self._all)

    def chat_step(self, *, schema: Any, tools: Any, state: Any) -> Any:
        return next(self._steps)

    def inject_tool_result(self, result: dict[str, Any]) -> None: ...

    def inject_error(self, message: str) -> None: ...


def shapes() -> Iterator[Shape]:
    """What turns look like, from a greeting to fifty claims."""
    one = ("one", {"site": 7}, {"heat": _quantity(12.5)}, {"heat": _QUANTITY})
    claim = _claim(1, "$.heat", 12.5)
    yield Shape("no tool", [one], [_final("Hello, what would you like to know?")])
    yield Shape("one tool", [one], [_call(one), _final("It uses {{claim:0}}.", claim)])
    yield Shape(
        "steps as text", [one], [json.dumps(s) for s in (_call(one), _final("It uses {{claim:0}}.", claim))]
    )
    refused = [_call(one), _final("It uses 13 kWh."), _final("It uses {{claim:0}}.", claim)]
    yield Shape("refused once", [one], refused)
    head = "The **house** by the [river](https://example.org/a) uses {{claim:0}} in all.\n\n"
    long = head + "Other sentences follow without any number, as they do in a report.\n" * 80
    yield Shape("long message", [one], [_call(one), _final(long, claim)])

    five: list[Any] = []
    for i in range(5):
        arguments = {"share": i + 0.5, "floors": 800, "name": "north"}
        output = {"heat": _quantity(i + 0.5), "cost": {"value": 3 * i, "unit": "USD"}}
        five.append((f"t{i}", arguments, output, {"heat": _QUANTITY, "cost": _QUANTITY}))
    message = ", ".join(f"{{{{claim:{i}}}}}" for i in range(5))
    claims = [_claim(i + 1, "$.heat", i + 0.5) for i in range(5)]
    yield Shape("five tools", five, [*map(_call, five), _final(message, *claims)])

    many = {f"m{i}": _quantity(i + 0.25) for i in range(500)}
    large = ("large", {"site": 7}, many, {"additionalProperties": _QUANTITY})
    yield Shape(
        "large output", [large], [_call(large), _final("It uses {{claim:0}}.", _claim(1, "$.m7", 7.25))]
    )
    message = "\n".join(f"- one is {{{{claim:{i}}}}}, as told" for i in range(50))
    claims = [_claim(1, f"$.m{i}", i + 0.25) for i in range(50)]
    yield Shape("fifty claims", [large], [_call(large), _final(message, *claims)])


def _quantity(value: float) -> dict[str, Any]:
    return {"value": value, "unit": "kWh"}


def _claim(call: int, path: str, value: float) -> dict[str, Any]:
    return {"source_call_id": f"tc_{call}", "path": path, "quantity": _quantity(value)}


def _call(tool: tuple[str, dict[str, Any], Any, Any]) -> dict[str, Any]:
    return {"kind": "tool_call", "tool_name": tool[0], "arguments": tool[1]}


def _final(message: str, *claims: Any) -> dict[str, Any]:
    return {"kind": "final", "final": {"message": message, "claims": [*claims]}}


def measure() -> None:
    """Print a line of JSON for each shape: its name and the least CPU time of a turn in microseconds."""
    from gllint_runtime import Tool, ToolRegistry, ToolRuntime

    for shape in shapes():
        registry = ToolRegistry()
        for name, arguments, output, members in shape.tools:
            schema = {"type": "object", "properties": members}
            if "additionalProperties" in members:
                schema = {"type": "object", **members}
            typed: Any = {
                key: {"type": "string" if isinstance(value, str) else "number"}
                for key, value in arguments.items()
            }
            told = {"type": "object", "properties": typed, "required": [*typed]}
            registry.register(Tool(name, "", told, schema, lambda _output=output, **arguments: _output))
        model: Any = Model(shape.steps)
        runtime = ToolRuntime(model, registry, repair_on={"NO_NAKED_NUMBERS"})
        runtime.run("", shape.user)
        began = time.process_time()
        runtime.run("", shape.user)
        turns = max(3, int(_SLICE / (time.process_time() - began + 1e-9)))
        best = min(_time(runtime, shape.user, turns) for _ in range(7))
        print(json.dumps([shape.name, best / turns * 1e6]))


def _time(runtime: Any, user: str, turns: int) -> float:
    began = time.process_time()
    for _ in range(turns):
        runtime.run("", user)
    return time.process_time() - began


def compare(against: str, rounds: int) -> None:
    """Measure this checkout and the commit ``against`` in turns, and print a table."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", against, "runtime"], cwd=_HERE, check=True, capture_output=True
        ).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        best: dict[str, dict[str, float]] = {}
        for _ in range(rounds):
            for side, root in (("there", Path(folder)), ("here", _HERE)):
                shown = subprocess.run(
                    [sys.executable, __file__, "--measure"],
                    env={**os.environ, "PYTHONPATH": str(root / "runtime")},
                    check=True,
                    capture_output=True,
                    text=True,
                ).stdout
                for name, spent in map(json.loads, shown.splitlines()):
                    times = best.setdefault(name, {})
                    times[side] = min(spent, times.get(side, spent))
    for name, times in best.items():
        there, here = times["there"], times["here"]
        print(f"{name:14} {there:9.1f} µs there {here:9.1f} µs here   {here / there:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", default="HEAD", help="the commit to compare with")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure()
    else:
        compare(given.against, given.rounds)


if __name__ == "__main__":
    main()

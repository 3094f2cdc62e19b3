"""What it takes to put the gate into an agent of each framework, and what that stops and costs.

``python benchmarks/adoption.py`` prints, for each framework that is installed: the lines of code that adopt the gate,
how many of 50 scripted attempts to state a made-up number are stopped in a plain run, in a streamed one, in a
structured answer and in a run of two agents, and what a turn costs more than in the bare framework, both measured in
this run. ``n/a`` is what a framework does not have, ``refused`` what its gate refuses clearly. The models are scripted
in each framework's own way; nothing reaches a network. Each file of ``adopted`` is one framework; one environment does
not hold them all.
"""

from __future__ import annotations

import json
import logging
import re
import runpy
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from gllint_runtime.adapters.kit import REFUSAL

FOLDER = Path(__file__).parent / "adopted"
TURNS = 100
HEAT = {"heat": {"value": 12.5, "unit": "kWh"}}
CLAIM = {"source_call_id": "tc_1", "path": "$.heat", "quantity": HEAT["heat"]}
HONEST = json.dumps({"message": "It uses {{claim:0}}.", "claims": [CLAIM]})
PLAIN = "It uses little."
_CODE = re.compile(r"\[[A-Z]+(?:_[A-Z]+)+\]")  # of an error of the gate, however a framework wraps it
WAYS = ("plain", "streamed", "structured", "agents")


def attempts() -> list[str]:
    """Fifty answers with a number that no tool returned, or with the tool's number changed."""
    typed = [
        *(
            "It uses 13 kWh.",
            "It uses 12.5 kWh.",
            "About 500kWh.",
            "Some 1e6 units.",
            "It is 5%.",
            "It costs €5.",
        ),
        *(
            "Half: ½.",
            "Ⅻ rooms.",
            "⑤ rooms.",
            "５ rooms.",
            "٥ rooms.",
            "५ kWh.",
            "𝟓 kWh.",
            "5️⃣ rooms.",
            "🔟 rooms.",
        ),
        *("💯 percent.", "⚄ rooms.", ":five: rooms.", "&#53; rooms.", "&frac12; of it.", "5<b>0</b>0 kWh."),
        *("5\u200b00 kWh.", "In Q3.", "The 3rd.", "On 2024-02-30.", "At 25:00.", "```\n500\n```", "%35 kWh."),
    ]
    changed = [
        *("-@", "− @", "-<!-- x -->@", "&minus;@", "minus @", "$@", "@000", "5@", "@k", "@ million", "@ MWh"),
        *("@/m2", "@ per m2", "@%", "@²", "@@", "@e6", "@万", "√@", "@ CO2e"),
    ]
    messages = [text.replace("@", "{{claim:0}}") for text in changed]
    other = {**CLAIM, "quantity": {"value": 13, "unit": "kWh"}}
    cold = {**CLAIM, "path": "$.cold"}
    answers = [{"message": message, "claims": [CLAIM]} for message in messages]
    answers += [{"message": "It uses {{claim:0}}.", "claims": [claim]} for claim in (cold, other)]
    return [*typed, *map(json.dumps, answers)]


class Row(NamedTuple):
    """One framework: lines to adopt, attempts stopped in each way, microseconds a turn takes bare and gated."""

    name: str
    lines: int
    stopped: dict[str, int | str]
    bare: float
    gated: float


class Bench(NamedTuple):
    """One framework: the code that adopts it, a bare turn, and ways to run it gated that give all that is shown.

    Each takes what the model says behind a call of :func:`meter`: in ``structured`` as the text of an answer's
    ``note``, in ``agents`` as what a second agent says of the first one's number (:func:`repeated`).
    """

    name: str
    adopting: str
    bare: Callable[[str], str]
    ways: Mapping[str, Callable[[str], str]]


def meter(site: str = "north") -> dict[str, Any]:
    """The heat that a site used."""
    return HEAT


def note(answer: str) -> dict[str, Any]:
    """An answer as a structured one, its text in ``note``."""
    return {"note": json.loads(answer) if answer.startswith("{") else answer}


def repeated(answer: str) -> str:
    """An answer as a supervisor's, whose sub-agent's tool returned the number."""
    return answer.replace('"tc_1"', '"tc_2"').replace('"$.heat"', '"$.numbers.heat"')


def frameworks() -> dict[str, str]:
    """The files of the frameworks and loops, each with the package that it needs."""
    found = {}
    for path in sorted(FOLDER.glob("*.py")):
        first = path.read_text("utf-8").partition("\n")[0]
        found[path.stem] = first.rpartition("package ")[2].rstrip('."')
    return found


FRAMEWORKS = frameworks()


def is_installed(package: str) -> bool:
    """Whether a package is there, one within a namespace included."""
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # nor is its parent
        return False


def bench_of(name: str) -> Bench:
    """The bench of a framework that is installed."""
    if str(FOLDER.parent) not in sys.path:
        sys.path.insert(0, str(FOLDER.parent))
    bench: Bench = runpy.run_path(str(FOLDER / f"{name}.py"))["bench"]()
    return bench


# ----------------------------------------------------------------------------------------------- measuring


def is_stopped(way: Callable[[str], str], attempt: str) -> bool:
    """Whether the gate let nothing of an attempt be shown but its refusal."""
    try:
        return way(attempt).strip() == REFUSAL
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None and not _CODE.search(str(cause)):
            cause = cause.__cause__ or cause.__context__
        if cause is None:
            raise
        return True


def stopped_of(name: str, way: Callable[[str], str], tried: Sequence[str]) -> int | str:
    """How many attempts are stopped; ``refused`` where the gate refuses to run so."""
    try:
        honest = [way(HONEST), way(PLAIN)]
    except Exception as error:
        if "not streamed" in str(error):
            return "refused"
        raise
    if honest != ["It uses 12.50 kWh.", PLAIN]:
        raise AssertionError(f"{name}: an honest answer did not come through: {honest}")
    return sum(is_stopped(way, attempt) for attempt in tried)


def measure(bench: Bench, turns: int = TURNS, tried: Sequence[str] = ()) -> Row:
    """Let every attempt run through the gate, then time honest turns, bare and gated in alternation."""
    stopped = {
        way: stopped_of(f"{bench.name}, {way}", bench.ways[way], tried or attempts())
        if way in bench.ways
        else "n/a"
        for way in WAYS
    }
    if bench.bare(PLAIN) != PLAIN:
        raise AssertionError(f"{bench.name}: an honest answer did not come through")
    times: tuple[list[float], list[float]] = [], []
    for _ in range(turns):
        for kept, turn in zip(times, (bench.bare, bench.ways["plain"]), strict=True):
            began = time.process_time()
            turn(HONEST)
            kept.append((time.process_time() - began) * 1e6)
    lines = sum(bool(line.strip()) for line in bench.adopting.splitlines())
    return Row(bench.name, lines, stopped, *(statistics.median(kept) for kept in times))


def table(rows: list[Row]) -> str:
    """The rows as a Markdown table."""
    head = f"| framework | lines to adopt | {' | '.join(WAYS)} | a turn bare, µs | gated, µs | more, µs |"
    return "\n".join(
        [head, "|---|--:|--:|--:|--:|--:|--:|--:|--:|"]
        + [
            f"| {name} | {lines} | {' | '.join(str(stopped[way]) for way in WAYS)} | {bare:.0f} | {gated:.0f} | "
            f"{gated - bare:.0f} |"
            for name, lines, stopped, bare, gated in rows
        ]
    )


def main() -> int:
    logging.disable()
    rows, gaps = [], []
    for name, package in FRAMEWORKS.items():
        if not is_installed(package):
            gaps.append(f"{package} is not installed: {name} is left out")
            continue
        try:
            bench = bench_of(name)
        except ImportError as error:  # another framework holds it at an old version
            gaps.append(f"{name} is left out: {error}")
            continue
        rows.append(measure(bench))
    print(table(rows), *gaps, sep="\n")
    counts = [count for row in rows for count in row.stopped.values() if isinstance(count, int)]
    return int(any(count < len(attempts()) for count in counts))


if __name__ == "__main__":
    raise SystemExit(main())

"""Nothing that walks an input hangs: the time of each walk at n, 2n and 4n, how it grows, and by what it gives up.

The walks stand in ``walks.py``, ``traffic_walks.py`` and ``answer_walks.py``, the constants by which they give up in ``bounds.toml``, each beside the walk that meets
it and the test that holds what is said then, or why nothing is: who adds a constant adds it there.
"""

from __future__ import annotations

import ast
import gc
import math
import re
import time
import tomllib
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import answer_walks
import traffic_walks
import walks
from trust import Budget, Row
from walks import Walk

WALKS = {**walks.WALKS, **traffic_walks.WALKS, **answer_walks.WALKS}
_REPOSITORY = Path(__file__).parents[2]
_ROOMS = {"gllint": "", "gllint_rules": "rules", "gllint_runtime": "runtime"}
_IS_BUDGET = re.compile(r"(?:^|_)(?:MOST|MAX|LARGEST|LONGEST|DEEPEST|REACH)(?:_|$)")
_MEASURABLE = 0.05  # seconds
_TIMES = 3  # that a size is walked, of which the shortest counts
_LONG = 0.5  # seconds that chance adds little to
_STEEPEST = 1.35  # the exponent of the time over the size of the input; what is linear is measured up to here


class Measured(NamedTuple):
    """The seconds, the bytes of input and what came of it, at one size."""

    seconds: float
    size: int
    outcome: int


def suite(budget: Budget) -> Iterator[Row]:
    """A row for each walk for which there is time, two at once; those of which none was taken are too few."""
    walked = 0
    for row in budget.map(_row, [*WALKS], partial(Row, "budgets", "broken")):
        walked += 1
        yield row
    yield Row("budgets: all", f"{walked} of {len(WALKS)} walks", count=walked, least=len(WALKS))


def _row(name: str) -> Row:
    walk = WALKS[name]
    _walked(walk, max(walk.n // 4, 2))  # what is imported and compiled at first use
    # Whatever else the machine does makes a time longer: the first one by chance too long would hide growth.
    one, two, four = _shortest(walk, walk.n), _walked(walk, 2 * walk.n), _walked(walk, 4 * walk.n)
    for _ in range(_TIMES - 1):
        if _is_too_steep(one, four):  # and the last one by chance too long would be growth that is none
            one, four = min(one, _walked(walk, walk.n)), min(four, _walked(walk, 4 * walk.n))
    growth = _growth(one, four)
    times = " ".join(f"{1000 * measured.seconds:.1f}" for measured in (one, two, four))
    given_up = ", ".join(constant.rpartition(":")[2] for constant in budgets_of(name)) or "none needed"
    told = f"n = {walk.n}: {times} ms, time ~ size^{growth:.2f}; budget: {given_up}"
    wrong = []
    if _is_too_steep(one, four):
        wrong.append(f"grows faster than its input: {told}")
    if not (one.outcome and two.outcome and four.outcome):
        wrong.append(f"nothing came of it, so that nothing was walked: {told}")
    return Row(f"budgets: {name}", told, wrong)


def _growth(one: Measured, four: Measured) -> float:
    return math.log(four.seconds / one.seconds) / math.log(four.size / one.size)


def _is_too_steep(one: Measured, four: Measured) -> bool:
    return four.seconds > _MEASURABLE and _growth(one, four) > _STEEPEST


def _shortest(walk: Walk, n: int) -> Measured:
    shortest = _walked(walk, n)
    for _ in range(_TIMES - 1):
        if shortest.seconds < _LONG:
            shortest = min(shortest, _walked(walk, n))
    return shortest


def _walked(walk: Walk, n: int) -> Measured:
    with TemporaryDirectory() as folder:
        steps = walk.begin(Path(folder), n)
        names = [path for path in Path(folder).rglob("*") if path.is_file()]
        size = sum(path.stat().st_size + len(str(path)) for path in names)
        gc.collect()
        gc.disable()  # it looks at all that is alive, of which the other walks left some
        try:
            begun = time.process_time()
            outcome = steps()
            return Measured(max(time.process_time() - begun, 1e-6), size, outcome)
        finally:
            gc.enable()


def budgets_of(walk: str) -> list[str]:
    """The constants by which a walk gives up."""
    return [constant for constant, bound in bounds().items() if bound.walk == walk]


class Bound(NamedTuple):
    """The walk that meets a constant; the test that holds what is said then, or why nothing need be said."""

    walk: str
    test: str
    quiet: str


@cache
def bounds() -> dict[str, Bound]:
    """What ``bounds.toml`` says of each constant."""
    groups = tomllib.loads((Path(__file__).parent / "bounds.toml").read_text("utf-8"))["bounds"]
    return {
        constant: Bound(walk, group.get("test", ""), group.get("quiet", ""))
        for group in groups
        for constant, walk in group["constants"].items()
    }


def constants() -> set[str]:
    """Each constant of a module whose name says that it is a budget, as ``module:NAME``."""
    found: set[str] = set()
    for room, folder in _ROOMS.items():
        base = _REPOSITORY / folder
        for path in (base / room).rglob("*.py"):
            module = ".".join(path.relative_to(base).with_suffix("").parts).removesuffix(".__init__")
            for statement in ast.parse(path.read_text("utf-8")).body:
                found.update(
                    f"{module}:{name}"
                    for name in _bound(statement)
                    if name.isupper() and _IS_BUDGET.search(name)
                )
    return found


def _bound(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
            yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))

"""Mutants: one small change to a module at a time, which the tests that reach its line are to notice.

The tests run once, watched by coverage, which says which of them reach which line. Then each of two processes, in a
copy of the checkout of its own and with all that is not ours loaded, forks for each mutant, and runs the quickest of
its tests first. ``survivors.md`` lists those that live on and change nothing that anybody could see.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import accumulate, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from trust import Budget, Row

_TOP = Path(__file__).parents[2]
_PARTS = (
    "gllint",
    "rules",
    "runtime",
    "tests",
    "examples",
    "docs",
    "benchmarks",
    "pyproject.toml",
    "README.md",
)
_SURVIVORS = Path(__file__).with_name("survivors.md")
_POLICY, _VERDICT = "runtime/gllint_runtime/policy", "gllint/verdict"
_GROUPS = {
    "scanner": [f"{_POLICY}/{name}.py" for name in ("numbers", "neighbours", "view", "claims")],
    "units": [f"{_POLICY}/units.py"],
    "suppressions": [f"{_VERDICT}/suppress.py", f"{_VERDICT}/noqa.py"],
    "baseline": [f"{_VERDICT}/baseline.py", f"{_VERDICT}/fingerprint.py"],
}
_TESTS = [
    *sorted(
        f"tests/runtime/{path.name}"
        for path in (_TOP / "tests" / "runtime").glob("test_*.py")
        if path.stem not in ("test_load", "test_adapters")
    ),
    "tests/program/test_suppress.py",
    "tests/program/test_baseline.py",
]
_PATIENCE, _ENOUGH = (
    60,
    10.0,
)  # seconds for the tests of one mutant: till they hang, and as the watched ones took
_OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.And: ast.Or, ast.Or: ast.And, ast.Mult: ast.Add, ast.Div: ast.Mult,
}  # fmt: skip
_LEAST = {"runtime": 60}  # mutants of a group, in an hour
Reached = dict[str, dict[int, list[str]]]  # by file and line, the tests


def suite(budget: Budget) -> Iterator[Row]:
    """The suite runs in a process of its own, in which nothing of gllint is loaded yet."""
    command = [sys.executable, __file__, str(budget.seconds), str(budget.seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        yield Row("mutation", "did not run", [done.stderr[-1500:]])
        return
    known = set(re.findall(r"^\| `(.+)` \| .+ \|$", _SURVIVORS.read_text("utf-8"), re.MULTILINE))
    tried: dict[str, list[str | None]] = defaultdict(list)
    for line in done.stdout.splitlines():
        mutant = json.loads(line)
        tried[mutant["group"]].append(mutant["survivor"])
    for group in (*_GROUPS, "runtime"):
        results = tried[group]
        survivors = sorted(result for result in results if result is not None)
        unknown = [line for line in survivors if line not in known]
        killed = len(results) - len(survivors)
        shown = "".join(f"\n{'':16}lives: {line}" for line in unknown)
        wrong = [f"{len(unknown)} of {len(results)} live"] if len(unknown) > 0.1 * len(results) else []
        told = f"{killed} of {len(results)} mutants killed, {len(survivors) - len(unknown)} live as they may{shown}"
        yield Row(f"mutation: {group}", told, wrong, len(results), _LEAST.get(group, 40))


# --- mutants ------------------------------------------------------------------------------------------------


class Mutant(NamedTuple):
    """A change to the node of a file that a walk comes upon as its ``number``-th."""

    name: str
    line: int
    number: int
    what: str
    change: Callable[[ast.AST], None]

    def source(self, original: str) -> str:
        tree = ast.parse(original)
        self.change(next(node for at, node in enumerate(ast.walk(tree)) if at == self.number))
        return ast.unparse(ast.fix_missing_locations(tree))


def _mutants(name: str, source: str) -> Iterator[Mutant]:
    for number, node in enumerate(ast.walk(ast.parse(source))):
        for what, change in _changes(node):
            yield Mutant(name, getattr(node, "lineno", 0), number, what, change)


def _changes(node: ast.AST) -> Iterator[tuple[str, Callable[[ast.AST], None]]]:
    match node:
        case ast.Compare(ops=[op]) if type(op) in _OTHER:
            yield f"{type(op).__name__} turned", lambda n: setattr(n, "ops", [_OTHER[type(op)]()])
        case ast.BoolOp(op=op) | ast.BinOp(op=op) if type(op) in _OTHER:
            yield f"{type(op).__name__} turned", lambda n: setattr(n, "op", _OTHER[type(op)]())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield (
                "not dropped",
                lambda n: setattr(n, "op", ast.UAdd()) or setattr(n, "operand", _truth(operand)),
            )
        case ast.Constant(value=bool(value)):
            yield f"{value} turned", lambda n: setattr(n, "value", not value)
        case ast.Constant(value=int(value)):
            yield f"{value} + 1", lambda n: setattr(n, "value", value + 1)
        case ast.If() | ast.IfExp() | ast.While(test=ast.Compare()):
            yield "condition never true", lambda n: setattr(n, "test", ast.Constant(False))
        case ast.Return(value=ast.expr()):
            yield "returns None", lambda n: setattr(n, "value", ast.Constant(None))


def _truth(operand: ast.expr) -> ast.expr:
    return ast.Call(ast.Name("bool", ast.Load()), [operand], [])


# --- trying them --------------------------------------------------------------------------------------------


def _main(seconds: float, seed: int) -> None:
    budget = Budget(seconds, seed)
    with TemporaryDirectory() as folder:
        tops = [Path(folder, "0"), Path(folder, "1")]
        _copy_to(tops[0])
        halves = [(_TESTS[half::2], Path(folder, f"reached{half}.json")) for half in (0, 1)]
        _both([partial(_watch, tops[0], tests, where) for tests, where in halves])
        if not all(where.exists() for _, where in halves):
            sys.exit("the tests fail before anything is changed, or take too long")
        watched = [json.loads(where.read_text()) for _, where in halves]
        took = watched[0][1] | watched[1][1]
        reached: Reached = defaultdict(lambda: defaultdict(list))
        for lines_by_file, _, _ in watched:
            for name, lines in lines_by_file.items():
                for line, tests in lines.items():
                    reached[name][int(line)] += tests
        for name in watched[0][2]:
            with suppress(Exception):
                importlib.import_module(name)
        shutil.copytree(*tops)  # what is compiled with it
        drawn = _drawn(reached, random.Random(seed))
        _both([partial(_try_mutants, tops[half], budget, drawn[half::2], reached, took) for half in (0, 1)])


def _both(works: list[Callable[[], object]]) -> None:
    """Do works at once, each in a process of its own."""
    children = []
    for work in works:
        if (child := os.fork()) == 0:
            try:
                work()
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                os._exit(0)  # or the folder would go, which the other one is working in
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


def _copy_to(top: Path) -> None:
    for part in _PARTS:
        source = _TOP / part
        if source.is_dir():
            shutil.copytree(source, top / part, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        else:
            shutil.copy(source, top)


def _forked(work: Callable[[], int], patience: float) -> int | None:
    """The status of what runs in a child; ``None`` where it takes too long."""
    if (child := os.fork()) == 0:
        os.setpgid(0, 0)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        status = 1
        try:
            status = work()
        finally:
            os._exit(status)
    end = time.monotonic() + patience
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _in_copy(top: Path, tests: list[str], plugins: list[Any]) -> int:
    """Run tests in a copy of the checkout, whose packages come first."""
    roots = [str(top), str(top / "rules"), str(top / "runtime")]
    sys.path[:0] = roots
    os.environ |= {"PYTHONPATH": os.pathsep.join(roots), "HOME": str(top)}
    os.chdir(top)
    import pytest

    return int(pytest.main(["-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests], plugins=plugins))


def _watch(top: Path, tests: list[str], where: Path) -> None:
    """Write down which tests reach which lines, how long each takes, and which modules they load that are not ours."""
    import coverage

    measured = coverage.Coverage(
        data_file=None,
        config_file=False,
        concurrency="thread",
        include=[f"{top}/runtime/*", f"{top}/gllint/verdict/*"],
    )
    measured.start()
    took: dict[str, float] = {}

    class Named:
        def pytest_runtest_setup(self, item: Any) -> None:
            try:
                measured.switch_context(item.nodeid)
            except coverage.CoverageException:  # tests/conftest.py has stopped what it takes for CI's
                measured.start()
                measured.switch_context(item.nodeid)

        def pytest_runtest_logreport(self, report: Any) -> None:
            took[report.nodeid] = took.get(report.nodeid, 0) + report.duration

    os.dup2(2, 1)
    if _in_copy(top, tests, [Named()]):
        return
    measured.stop()
    data = measured.get_data()
    reached = {
        os.path.relpath(file, top): {
            line: sorted(filter(None, tests)) for line, tests in data.contexts_by_lineno(file).items()
        }
        for file in data.measured_files()
    }
    others = [
        name
        for name, module in sys.modules.items()
        if not (getattr(module, "__file__", None) or "").startswith(str(top))
        and not name.startswith(("gllint", "test", "conftest"))
    ]
    where.write_text(json.dumps([reached, took, others]))


def _drawn(reached: Reached, draw: random.Random) -> list[tuple[str, Mutant]]:
    """All mutants, each with its group: of each group one in turn, by chance which."""
    named = {name for names in _GROUPS.values() for name in names}
    others = sorted(name for name in reached if name.startswith("runtime/") and name not in named)
    columns = []
    for group, names in (*_GROUPS.items(), ("runtime", others)):
        mutants = [mutant for name in names for mutant in _mutants(name, (_TOP / name).read_text("utf-8"))]
        draw.shuffle(mutants)
        columns.append([(group, mutant) for mutant in mutants])
    return [drawn for row in zip_longest(*columns) for drawn in row if drawn is not None]


def _try_mutants(
    top: Path, budget: Budget, drawn: list[tuple[str, Mutant]], reached: Reached, took: dict[str, float]
) -> None:
    """Print what becomes of each mutant for which there is time."""
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    for group, mutant in drawn:
        if not budget.left():
            break
        file = top / mutant.name
        original = file.read_text("utf-8")
        lines = reached[mutant.name]
        # Of a statement over several lines coverage knows the first.
        tests = lines.get(max((at for at in lines if at <= mutant.line), default=0), [])
        if not tests:  # what runs when the module is imported
            tests = sorted({test for named in lines.values() for test in named})
        tests = sorted(tests, key=lambda test: took[test])
        quick = [
            test
            for test, until in zip(tests, accumulate(map(took.get, tests)), strict=True)
            if until < _ENOUGH
        ]
        file.write_text(mutant.source(original), encoding="utf-8")
        status = _forked(lambda tests=quick or tests[:1]: _in_copy(top, tests, []), _PATIENCE)
        file.write_text(original, encoding="utf-8")
        text = original.splitlines()[mutant.line - 1].strip() if mutant.line else ""
        lives = f"{mutant.name.rpartition('/')[2]}: {text}: {mutant.what}".replace("|", "/").replace("`", "'")
        print(json.dumps({"group": group, "survivor": lives if status == 0 else None}), flush=True)


if __name__ == "__main__":
    _main(float(sys.argv[1]), int(sys.argv[2]))

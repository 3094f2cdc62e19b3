"""Mutants: one small change to a module at a time, which the tests that reach its line are to notice.

The tests run once, watched by coverage, which says which of them reach which line. Then each of two processes, in a
copy of the checkout of its own and with all that is not ours loaded, forks for each mutant.
"""

from __future__ import annotations

import ast
import copy
import importlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

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
        if path.stem != "test_load"
    ),
    "tests/program/test_suppress.py",
    "tests/program/test_baseline.py",
]
_PATIENCE = 90  # seconds for the tests of one mutant
_OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.And: ast.Or, ast.Or: ast.And, ast.Mult: ast.Add, ast.Div: ast.Mult,
}  # fmt: skip
Reached = dict[str, dict[int, list[str]]]  # by file and line, the tests


def suite(budget: Budget) -> Iterator[Row]:
    """The suite runs in a process of its own, in which nothing of gllint is loaded yet."""
    command = [sys.executable, __file__, str(budget.seconds), str(budget.seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        yield Row("mutation", "did not run", [done.stderr[-1500:]])
        return
    tried: dict[str, list[str | None]] = defaultdict(list)
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            mutant = json.loads(line)
            tried[mutant["group"]].append(mutant["survivor"])
    for group, results in sorted(tried.items()):
        survivors = [result for result in results if result is not None]
        killed = len(results) - len(survivors)
        # Some of those that live on change nothing that anybody could see: they are for a reader to judge.
        shown = "".join(f"\n{'':16}lives: {line}" for line in survivors)
        wrong = [f"{len(survivors)} of {len(results)} live"] if killed < 0.9 * len(results) else []
        yield Row(f"mutation: {group}", f"{killed} of {len(results)} mutants killed{shown}", wrong)


# --- mutants ------------------------------------------------------------------------------------------------


def _mutants(tree: ast.Module) -> Iterator[tuple[int, str, ast.Module]]:
    """Each change of one node: its line, what it is, and the module with it."""
    for number, node in enumerate(ast.walk(tree)):
        for what, change in _changes(node):
            mutant = copy.deepcopy(tree)
            # A walk of the copy comes upon its nodes in the same order.
            change(next(n for at, n in enumerate(ast.walk(mutant)) if at == number))
            yield getattr(node, "lineno", 0), what, ast.fix_missing_locations(mutant)


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
        _copy_to(Path(folder, "0"))
        if _forked(lambda: _watch(Path(folder, "0"), Path(folder, "reached.json")), 600) != 0:
            sys.exit("the tests fail before anything is changed, or take too long")
        reached, modules = json.loads(Path(folder, "reached.json").read_text())
        for name in modules:
            with suppress(Exception):
                importlib.import_module(name)
        children = []
        for number in range(2):
            top = Path(folder, str(number))
            if number:
                _copy_to(top)
            if (child := os.fork()) == 0:
                try:
                    _try_mutants(top, budget, random.Random(f"{seed} {number}"), reached)
                finally:
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
    os.environ |= {"PYTHONPATH": os.pathsep.join(roots), "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(top)}
    sys.dont_write_bytecode = True
    os.chdir(top)
    import pytest

    return int(pytest.main(["-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests], plugins=plugins))


def _watch(top: Path, where: Path) -> int:
    """Write down which tests reach which lines, and which modules they load that are not ours."""
    import coverage

    measured = coverage.Coverage(
        data_file=None,
        config_file=False,
        concurrency="thread",
        include=[f"{top}/runtime/*", f"{top}/gllint/verdict/*"],
    )
    measured.start()

    class Named:
        def pytest_runtest_setup(self, item: Any) -> None:
            try:
                measured.switch_context(item.nodeid)
            except coverage.CoverageException:  # tests/conftest.py has stopped what it takes for CI's
                measured.start()
                measured.switch_context(item.nodeid)

    status = _in_copy(top, _TESTS, [Named()])
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
    where.write_text(json.dumps([reached, others]))
    return status


def _try_mutants(top: Path, budget: Budget, draw: random.Random, reached: Reached) -> None:
    """Draw mutants and print what becomes of each, as long as there is time."""
    named = {name for names in _GROUPS.values() for name in names}
    others = sorted(name for name in reached if name.startswith("runtime/") and name not in named)
    groups = {**_GROUPS, "runtime": others}
    while budget.left():
        group = draw.choice(sorted(groups))
        name = draw.choice(groups[group])
        original = (top / name).read_text("utf-8")
        mutants = list(_mutants(ast.parse(original)))
        if not mutants:
            continue
        line, what, mutant = draw.choice(mutants)
        lines = {int(at): tests for at, tests in reached.get(name, {}).items()}
        # Of a statement over several lines coverage knows the first.
        tests = lines.get(max((at for at in lines if at <= line), default=0), [])
        if not tests:  # what runs when the module is imported
            tests = sorted({test for named in lines.values() for test in named})[::5]
        lives = f"{name}:{line}: {what}"
        (top / name).write_text(ast.unparse(mutant), encoding="utf-8")
        shutil.rmtree((top / name).parent / "__pycache__", ignore_errors=True)
        status = _forked(lambda tests=tests: _in_copy(top, tests, []), _PATIENCE)  # type: ignore[misc]
        (top / name).write_text(original, encoding="utf-8")
        print(json.dumps({"group": group, "survivor": lives if status == 0 else None}), flush=True)


if __name__ == "__main__":
    _main(float(sys.argv[1]), int(sys.argv[2]))

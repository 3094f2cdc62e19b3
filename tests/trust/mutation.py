"""Mutants: one small change to a function at a time, which the tests that reach its line are to notice.

All is loaded and all tests are collected once. Then a process, in which coverage says which test reaches which line,
runs them, and for each mutant another one is forked, puts the changed code into the functions that live, and runs the
quickest of its tests. ``survivors.md`` lists those that live on and change nothing that anybody could see.
"""

from __future__ import annotations

import ast
import gc
import json
import os
import random
import re
import signal
import sys
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import _lru_cache_wrapper, partial
from itertools import accumulate, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from trust import PYTEST, Budget, Row, ran

_TOP = Path(__file__).parents[2]
_SURVIVORS = Path(__file__).with_name("survivors.md")
_POLICY, _VERDICT = "runtime/gllint_runtime/policy", "gllint/verdict"
_GROUPS = {
    "scanner": [f"{_POLICY}/{name}.py" for name in ("numbers", "neighbours", "view", "claims")],
    "units": [f"{_POLICY}/units.py"],
    "suppressions": [f"{_VERDICT}/suppress.py", f"{_VERDICT}/noqa.py"],
    "baseline": [f"{_VERDICT}/baseline.py", f"{_VERDICT}/fingerprint.py"],
}
_FOLDERS = {  # whatever else the tests reach there
    "policy": f"{_POLICY}/",
    "execution": "runtime/gllint_runtime/execution/",
    "audit": "runtime/gllint_runtime/audit/",
    "guard": "gllint/guard/",
    "unit inference": "rules/gllint_rules/inference/measures/",
    "runtime": "runtime/",
}
_LEAST = {"runtime": 60}  # mutants of a group, in an hour; of the others 40
_SLOW = ("test_load", "test_adapters")
_TESTS = [
    *sorted(
        f"tests/runtime/{path.name}"
        for path in (_TOP / "tests" / "runtime").glob("test_*.py")
        if path.stem not in _SLOW
    ),
    "tests/program/test_suppress.py",
    "tests/program/test_baseline.py",
    "tests/program/test_guard.py",
    "tests/rules/test_units_with_pint.py",
]
_PATIENCE, _ENOUGH = (
    60,
    20.0,
)  # seconds for the tests of a mutant: till they hang, and by what they took before
_NO_TIME = "no time was left for a mutant once the tests had run"
_OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.And: ast.Or, ast.Or: ast.And, ast.Mult: ast.Add, ast.Div: ast.Mult,
}  # fmt: skip


def suite(budget: Budget) -> Iterator[Row]:
    """The suite runs in a process of its own, in which nothing of gllint is loaded yet."""
    command = [sys.executable, __file__, str(budget.seconds), str(budget.seed)]
    done = ran(*command, cwd=_TOP, timeout=budget.seconds + 1200)
    tried: dict[str, list[str | None]] = defaultdict(list)
    for line in done.stdout.splitlines():
        if line.startswith('{"group"'):
            mutant = json.loads(line)
            tried[mutant["group"]].append(mutant["survivor"])
    if not tried and _NO_TIME in done.stdout.splitlines():
        yield Row("mutation", _NO_TIME, count=0)
    elif not tried:
        yield Row("mutation", "did not run", [done.stdout[-500:] + done.stderr[-1000:]])
    known = set(re.findall(r"^\| `(.+)` \| .+ \|$", _SURVIVORS.read_text("utf-8"), re.MULTILINE))
    for group, results in sorted(tried.items()):
        survivors = sorted(result for result in results if result is not None)
        unknown = [line for line in survivors if line not in known]
        killed = len(results) - len(survivors)
        shown = "".join(f"\n{'':16}lives: {line}" for line in unknown)
        wrong = [f"{len(unknown)} of {len(results)} live"] if len(unknown) > 0.1 * len(results) else []
        told = f"{killed} of {len(results)} mutants killed, {len(survivors) - len(unknown)} live as listed"
        yield Row(f"mutation: {group}", told + shown, wrong, len(results), _LEAST.get(group, 40))


# --- mutants ------------------------------------------------------------------------------------------------


class Mutant(NamedTuple):
    """A change to the node of a file that a walk comes upon as its ``number``-th."""

    name: str
    line: int
    text: str
    number: int
    what: str
    change: Callable[[ast.AST], None]


def _mutants(name: str) -> Iterator[Mutant]:
    source = (_TOP / name).read_text("utf-8")
    tree, texts = ast.parse(source), source.splitlines()
    bodies = [
        node.body for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    within = {node for body in bodies for statement in body for node in ast.walk(statement)}
    for number, node in enumerate(ast.walk(tree)):
        if node in within:
            for what, change in _changes(node):
                line = node.lineno  # type: ignore[attr-defined]
                yield Mutant(name, line, texts[line - 1].strip(), number, what, change)


def _changes(node: ast.AST) -> Iterator[tuple[str, Callable[[ast.AST], None]]]:
    match node:
        case ast.Compare(ops=[op]) if type(op) in _OTHER:
            yield f"{type(op).__name__} turned", lambda n: setattr(n, "ops", [_OTHER[type(op)]()])
        case ast.BoolOp(op=op) | ast.BinOp(op=op) if type(op) in _OTHER:
            yield f"{type(op).__name__} turned", lambda n: setattr(n, "op", _OTHER[type(op)]())
        case ast.UnaryOp(op=ast.Not()):
            # Twice denied, it is as it was without.
            yield "not dropped", lambda n: setattr(n, "operand", ast.UnaryOp(ast.Not(), n.operand))  # type: ignore[attr-defined]
        case ast.Constant(value=bool(value)):
            yield f"{value} turned", lambda n: setattr(n, "value", not value)
        case ast.Constant(value=int(value)) if value < 100:  # one more or less of a bound is no difference
            yield f"{value} + 1", lambda n: setattr(n, "value", value + 1)
        case ast.If() | ast.IfExp() | ast.While(test=ast.Compare()):
            yield "condition never true", lambda n: setattr(n, "test", _but(n.test, False))  # type: ignore[attr-defined]
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield "returns None", lambda n: setattr(n, "value", _but(n.value, None))  # type: ignore[attr-defined]


def _but(value: ast.expr, other: object) -> ast.expr:
    """Another value than that of an expression, which is found out all the same."""
    return ast.Subscript(ast.Tuple([value, ast.Constant(other)], ast.Load()), ast.Constant(1), ast.Load())


Living = dict[str, list[FunctionType]]  # by file


def _put_in(mutant: Mutant, living: Living) -> None:
    """Change the code of the functions that live."""
    file = str(_TOP / mutant.name)
    source = Path(file).read_text("utf-8")
    tree = ast.parse(source)
    mutant.change(next(node for at, node in enumerate(ast.walk(tree)) if at == mutant.number))
    changed = compile(ast.fix_missing_locations(tree), file, "exec", dont_inherit=True)
    pairs = zip(_codes(compile(source, file, "exec", dont_inherit=True)), _codes(changed), strict=True)
    by_old = dict(pairs)
    for function in living[file]:
        function.__code__ = by_old.get(function.__code__, function.__code__)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)


# --- trying them --------------------------------------------------------------------------------------------


class Trying:
    """A plugin of pytest that, instead of running the tests once, runs them for each mutant."""

    def __init__(self, seconds: float, seed: int) -> None:
        self._budget, self._seed = Budget(seconds, seed), seed

    def pytest_runtestloop(self, session: Any) -> bool:
        with TemporaryDirectory() as folder:
            halves = [(session.items[half::2], Path(folder, f"{half}.json")) for half in (0, 1)]
            _both([partial(_watch, items, where) for items, where in halves])
            reached: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
            took: dict[str, float] = {}
            for _, where in halves:
                by_file, seconds = json.loads(where.read_text())
                took |= seconds
                for name, lines in by_file.items():
                    for line, tests in lines.items():
                        reached[name][int(line)] += map(sys.intern, tests)
        if not reached:
            os.write(
                _OUT,
                b"The tests use a gllint from elsewhere: install this checkout, `pip install -e '.[trust]'`.\n",
            )
            return True
        items = {item.nodeid: item for item in session.items}
        drawn = _drawn([*reached], random.Random(self._seed))
        living: Living = defaultdict(list)
        for each in gc.get_objects():
            if isinstance(each, FunctionType):
                living[each.__code__.co_filename].append(each)
            elif isinstance(each, _lru_cache_wrapper) and str(each.__module__).startswith("gllint"):
                each.cache_clear()  # what it said while the tests were collected
        gc.freeze()  # what a process leaves alone is not copied for it
        if not self._budget.left():
            os.write(_OUT, f"{_NO_TIME}\n".encode())
        _both([partial(self._try, drawn[half::2], items, living, reached, took) for half in (0, 1)])
        return True

    def _try(self, drawn: Any, items: Any, living: Living, reached: Any, took: dict[str, float]) -> None:
        """Print what becomes of each mutant for which there is time."""
        for group, mutant in drawn:
            if not self._budget.left():
                break
            lines = reached[mutant.name]
            # Of a statement over several lines coverage knows the first.
            tests = lines.get(max((at for at in lines if at <= mutant.line), default=0), [])
            if not tests:  # what runs when the module is imported
                tests = {test for named in lines.values() for test in named}
            tests = sorted(tests, key=took.__getitem__)
            until = accumulate(took[test] for test in tests)
            chosen = [
                items[test]
                for number, (test, at) in enumerate(zip(tests, until, strict=True))
                if not number or at < _ENOUGH
            ]
            status = _forked(partial(_survives, mutant, living, chosen))
            lives = f"{mutant.name.rpartition('/')[2]}: {mutant.text}: {mutant.what}".replace(
                "|", "/"
            ).replace("`", "'")
            line = json.dumps({"group": group, "survivor": lives if status == 0 else None})
            os.write(_OUT, f"{line}\n".encode())


def _drawn(names: list[str], draw: random.Random) -> list[tuple[str, Mutant]]:
    """All mutants, each with its group: of each group one in turn, by chance which."""
    named = {name for names in _GROUPS.values() for name in names}
    others: dict[str, list[str]] = {group: [] for group in _FOLDERS}
    for name in sorted({*names} - named):
        group = next((group for group, folder in _FOLDERS.items() if name.startswith(folder)), None)
        if group is not None:
            others[group].append(name)
    columns = []
    for group, files in (*_GROUPS.items(), *others.items()):
        mutants = [(group, mutant) for name in files for mutant in _mutants(name)]
        draw.shuffle(mutants)
        columns.append(mutants)
    return [drawn for row in zip_longest(*columns) for drawn in row if drawn is not None]


def _survives(mutant: Mutant, living: Living, items: list[Any]) -> int:
    _put_in(mutant, living)
    return int(any(map(_failure, items)))


def _failure(item: Any) -> str:
    """Run a test, and tear down what it has set up; how it fails, if it does."""
    from _pytest.runner import runtestprotocol

    reports = runtestprotocol(item, log=False, nextitem=None)
    return "".join(f"{report.longrepr} " for report in reports if report.failed)


def _watch(items: list[Any], where: Path) -> None:
    """Write down which tests reach which lines, and how long each takes."""
    import coverage

    include = [f"{_TOP}/gllint/verdict/*", *(f"{_TOP}/{folder}*" for folder in _FOLDERS.values())]
    measured = coverage.Coverage(data_file=None, config_file=False, concurrency="thread", include=include)
    took = {}
    for module in list(sys.modules.values()):
        vars(module).get("_UNMEASURED", set()).clear()  # tests/conftest.py would stop what it takes for CI's
    measured.start()
    for item in items:
        measured.switch_context(item.nodeid)
        begun = time.process_time()
        if said := _failure(item):
            took = {}
            os.write(_OUT, f"{item.nodeid} fails before anything is changed:\n{said}\n".encode())
            break
        took[item.nodeid] = time.process_time() - begun
    measured.stop()
    data = measured.get_data()
    reached = {
        os.path.relpath(file, _TOP): {
            line: sorted(filter(None, tests)) for line, tests in data.contexts_by_lineno(file).items()
        }
        for file in data.measured_files()
    }
    if took:
        where.write_text(json.dumps([reached, took]))


def _both(works: list[Callable[[], object]]) -> None:
    """Do works at once, each in a process of its own."""
    children = []
    for work in works:
        if (child := os.fork()) == 0:
            try:
                work()
            except BaseException:
                traceback.print_exc(file=sys.__stderr__)
            finally:
                os._exit(0)  # or what is to be torn down would be so here, too
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


def _forked(work: Callable[[], int]) -> int | None:
    """The status of what runs in a child; ``None`` where it takes too long."""
    if (child := os.fork()) == 0:
        os.setpgid(0, 0)
        status = 1
        try:
            status = work()
        finally:
            os._exit(status)
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


if __name__ == "__main__":
    import pytest

    _OUT = os.dup(1)  # pytest catches what is printed
    os.chdir(_TOP)
    pytest.main([*PYTEST[3:], *_TESTS], plugins=[Trying(float(sys.argv[1]), int(sys.argv[2]))])

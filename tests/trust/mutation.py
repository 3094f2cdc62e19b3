"""Mutants: one small change to a module at a time, which the tests that reach its line are to notice.

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
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from trust import PYTEST, Budget, Row

_TOP = Path(__file__).parents[2]
_SURVIVORS = Path(__file__).with_name("survivors.md")
_POLICY, _VERDICT = "runtime/gllint_runtime/policy", "gllint/verdict"
_GROUPS = {
    "scanner": [f"{_POLICY}/{name}.py" for name in ("numbers", "neighbours", "view", "claims")],
    "units": [f"{_POLICY}/units.py"],
    "suppressions": [f"{_VERDICT}/suppress.py", f"{_VERDICT}/noqa.py"],
    "baseline": [f"{_VERDICT}/baseline.py", f"{_VERDICT}/fingerprint.py"],
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
]
_PATIENCE, _ENOUGH = (
    60,
    20.0,
)  # seconds for the tests of a mutant: till they hang, and by what they took before
_OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.And: ast.Or, ast.Or: ast.And, ast.Mult: ast.Add, ast.Div: ast.Mult,
}  # fmt: skip


def suite(budget: Budget) -> Iterator[Row]:
    """The suite runs in a process of its own, in which nothing of gllint is loaded yet."""
    command = [sys.executable, __file__, str(budget.seconds), str(budget.seed)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=_TOP, check=False)
    tried: dict[str, list[str | None]] = defaultdict(list)
    for line in done.stdout.splitlines():
        if line.startswith('{"group"'):
            mutant = json.loads(line)
            tried[mutant["group"]].append(mutant["survivor"])
    if not tried:
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
    # What decorates a class says how it is kept, and annotations say nothing.
    passed = [part for node in ast.walk(tree) for part in _not_run(node)]
    left_out = {node for part in passed for node in ast.walk(part)}
    for number, node in enumerate(ast.walk(tree)):
        if node not in left_out:
            for what, change in _changes(node):
                line = getattr(node, "lineno", 1)
                yield Mutant(name, line, texts[line - 1].strip(), number, what, change)


def _not_run(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.ClassDef(decorator_list=decorators):
            yield from decorators
        case ast.AnnAssign(annotation=annotation) | ast.arg(annotation=ast.expr() as annotation):
            yield annotation
        case ast.If(test=ast.Name("TYPE_CHECKING")):
            yield node


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
            yield "condition never true", lambda n: setattr(n, "test", ast.Constant(False))
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield "returns None", lambda n: setattr(n, "value", ast.Constant(None))


Living = dict[str, list[FunctionType]]  # by file


def _put_in(mutant: Mutant, module: ModuleType, living: Living) -> None:
    """Change the code of the functions that live, and what the module and its classes hold beside them."""
    file = str(module.__file__)
    source = Path(file).read_text("utf-8")
    tree = ast.parse(source)
    mutant.change(next(node for at, node in enumerate(ast.walk(tree)) if at == mutant.number))
    changed = compile(ast.fix_missing_locations(tree), file, "exec", dont_inherit=True)
    was = list(_codes(compile(source, file, "exec", dont_inherit=True)))
    pairs = {old: new for old, new in zip(was, _codes(changed), strict=True) if old != new}
    for function in living[file]:
        function.__code__ = pairs.get(function.__code__, function.__code__)
    if all(code.co_name == "<module>" or not code.co_flags & 1 for code in pairs):  # no function's
        fresh = ModuleType(module.__name__)
        fresh.__dict__.update(__file__=file, __package__=module.__package__)
        exec(changed, fresh.__dict__)
        _hold(vars(module), vars(fresh))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)


def _hold(old: Any, new: Any) -> None:
    """Let modules and classes hold the plain values, and functions the defaults, that a changed module has."""
    ours = [vars(m) for name, m in list(sys.modules.items()) if name.startswith(("gllint", "test"))]
    for name, value in dict(new).items():
        before = old.get(name)
        plain, was = (getattr(each, "__wrapped__", each) for each in (value, before))  # of what is cached
        if isinstance(plain, FunctionType) and isinstance(was, FunctionType):
            was.__defaults__, was.__kwdefaults__ = plain.__defaults__, plain.__kwdefaults__
        elif isinstance(value, type) and isinstance(before, type) and value.__module__ == before.__module__:
            _hold(vars(before), vars(value))
            for key, held in vars(value).items():
                if isinstance(held, (int, float, str, tuple, frozenset)) and vars(before).get(key) != held:
                    with suppress(AttributeError):
                        setattr(before, key, held)
        elif not isinstance(value, (type, ModuleType)) and not name.startswith("__") and name in old:
            for namespace in ours:
                if namespace.get(name) is before:
                    namespace[name] = value


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
        items = {item.nodeid: item for item in session.items}
        drawn = _drawn([*reached], random.Random(self._seed))
        living: Living = defaultdict(list)
        for each in gc.get_objects():
            if isinstance(each, FunctionType):
                living[each.__code__.co_filename].append(each)
        gc.freeze()  # what a process leaves alone is not copied for it
        _both([partial(self._try, drawn[half::2], items, living, reached, took) for half in (0, 1)])
        return True

    def _try(self, drawn: Any, items: Any, living: Living, reached: Any, took: dict[str, float]) -> None:
        """Print what becomes of each mutant for which there is time."""
        modules = {
            os.path.relpath(file, _TOP): module
            for module in list(sys.modules.values())
            if (file := getattr(module, "__file__", None))
        }
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
            status = _forked(partial(_survives, mutant, modules[mutant.name], living, chosen))
            lives = f"{mutant.name.rpartition('/')[2]}: {mutant.text}: {mutant.what}".replace(
                "|", "/"
            ).replace("`", "'")
            line = json.dumps({"group": group, "survivor": lives if status == 0 else None})
            os.write(_OUT, f"{line}\n".encode())


def _drawn(names: list[str], draw: random.Random) -> list[tuple[str, Mutant]]:
    """All mutants, each with its group: of each group one in turn, by chance which."""
    named = {name for names in _GROUPS.values() for name in names}
    others = sorted(name for name in names if name.startswith("runtime/") and name not in named)
    columns = []
    for group, files in (*_GROUPS.items(), ("runtime", others)):
        mutants = [(group, mutant) for name in files for mutant in _mutants(name)]
        draw.shuffle(mutants)
        columns.append(mutants)
    return [drawn for row in zip_longest(*columns) for drawn in row if drawn is not None]


def _survives(mutant: Mutant, module: ModuleType, living: Living, items: list[Any]) -> int:
    _put_in(mutant, module, living)
    return int(any(map(_failure, items)))


def _failure(item: Any) -> str:
    """Run a test, and tear down what it has set up; how it fails, if it does."""
    from _pytest.runner import runtestprotocol

    reports = runtestprotocol(item, log=False, nextitem=None)
    return "".join(f"{report.longrepr} " for report in reports if report.failed)


def _watch(items: list[Any], where: Path) -> None:
    """Write down which tests reach which lines, and how long each takes."""
    import coverage

    include = [f"{_TOP}/runtime/*", f"{_TOP}/gllint/verdict/*"]
    measured = coverage.Coverage(data_file=None, config_file=False, concurrency="thread", include=include)
    took = {}
    measured.start()
    for item in items:
        with suppress(coverage.CoverageException):  # tests/conftest.py has stopped what it takes for CI's
            measured.start()
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

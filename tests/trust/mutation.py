"""Mutants: one small change to a function at a time, which the tests that reach its line are to notice.

All is loaded and all tests are collected once. Then a process, in which coverage says which test reaches which line,
runs them, and for each mutant another one is forked, puts the changed code into the functions that live, and runs the
quickest of its tests. ``tests/runtime/test_answers.py`` counts the wrong verdicts on 1,750 conversations, which takes
too long for one mutant; here each conversation is a test of its own. ``survivors.md`` lists those that live on and
change nothing that anybody could see: the rate of a group leaves them out. A short run tries the groups that have few
and quick tests. By itself, for some groups alone:

    python tests/trust/mutation.py SECONDS SEED HOURS [GROUP ...]
"""

from __future__ import annotations

import ast
import gc
import json
import math
import operator
import os
import random
import re
import resource
import signal
import sys
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import _lru_cache_wrapper, cache, partial
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from trust import PYTEST, Budget, Row, left_out, ran

_TOP = Path(__file__).parents[2]
_SURVIVORS = Path(__file__).with_name("survivors.md")
_POLICY, _VERDICT = "runtime/gllint_runtime/policy", "gllint/verdict"
_RULES = "rules/gllint_rules"
# The files of each group, or the beginnings of their names; a file belongs to the first group that names it.
_GROUPS = {
    "scanner": [
        f"{_POLICY}/{name}"
        for name in (
            "claimed_text", "claims", "designations", "number_", "numbers", "quantity_", "rendered_text",
            "surroundings",
        )
    ],
    "units": [f"{_POLICY}/{name}" for name in ("names", "parameter_units", "stock_units", "text_units", "unit")],
    "policy": [f"{_POLICY}/"],
    "execution": ["runtime/gllint_runtime/execution/"],
    "audit": ["runtime/gllint_runtime/audit/"],
    "provenance": ["runtime/gllint_runtime/provenance/"],
    "unit inference": [f"{_RULES}/inference/units/"],
    "query engine": [
        *(f"{_RULES}/inference/{name}.py" for name in ("questions", "following")),
        *(f"{_RULES}/project/{name}.py" for name in ("project", "project_questions")),
        *(f"{_RULES}/reading/{name}.py" for name in ("edits", "reads")),
        *(f"gllint/run/{name}.py" for name in ("analysis_cache", "following")),
    ],
    "guard": ["gllint/guard/"],
    "suppressions": [f"{_VERDICT}/suppress.py", f"{_VERDICT}/noqa.py"],
    "baseline": [f"{_VERDICT}/baseline.py", f"{_VERDICT}/fingerprint.py"],
    "runtime": ["runtime/"],  # whatever else the tests reach there
}  # fmt: skip
_LEAST, _LEAST_OF_OTHERS = {"runtime": 60}, 40  # mutants of a group, in an hour
# Of the mutants that are not listed, how many may live in a group of how many, and in a smaller one.
_LIVING, _MANY, _LIVING_OF_FEW = 0.08, 50, 0.1
_SLOW = ("test_load", "test_answers")
_TESTS = [
    *sorted(
        f"tests/runtime/{path.name}"
        for path in (_TOP / "tests" / "runtime").glob("test_*.py")
        if path.stem not in _SLOW
    ),
    "tests/frameworks/gates/test_every_gate.py",
    "tests/program/test_analysis_cache.py",
    "tests/program/test_audit.py",
    "tests/program/test_suppress.py",
    "tests/program/test_baseline.py",
    "tests/program/test_guard.py",
    "tests/program/test_guard_edges.py",
    "tests/program/test_guard_relay.py",
    "tests/program/test_kept.py",
    "tests/rules/test_budgets.py",
    "tests/rules/test_cases.py",
    "tests/rules/test_edits.py",
    "tests/rules/test_following.py",
    "tests/rules/test_measures.py",
    "tests/rules/test_questions.py",
    "tests/rules/test_units_with_pint.py",
]
# Nearly all tests reach these; the ones that are named ask of them what the others take for granted.
_ANSWERING = {"policy", "provenance"}
_OWN = {
    **dict.fromkeys(_ANSWERING, ("answers/",)),
    "query engine": (
        "test_analysis_cache.py",
        "test_budgets.py",
        "test_edits.py",
        "test_following.py",
        "test_kept.py",
        "test_questions.py",
    ),
    "unit inference": ("test_measures.py", "test_units_with_pint.py", "test_case[gl106", "test_case[gl50"),
}
# The groups of a short run, and all tests of theirs: running every test once takes five minutes.
_QUICK = {
    "suppressions": ["tests/program/test_suppress.py"],
    "baseline": ["tests/program/test_baseline.py"],
    "guard": [
        "tests/program/test_guard.py",
        "tests/program/test_guard_edges.py",
        "tests/program/test_guard_relay.py",
    ],
}
# Seconds of this process for the tests of a mutant, by what they took before: for the quickest, for its group's own,
# for all. And till they hang; what waits does so by the clock.
_FIRST, _ENOUGH_OWN, _ENOUGH, _PATIENCE, _WAITS = 1.0, 15.0, 15.0, 90, 600
_OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.And: ast.Or, ast.Or: ast.And, ast.Mult: ast.Add, ast.Div: ast.Mult,
}  # fmt: skip


def suite(budget: Budget) -> Iterator[Row]:
    """The suite runs in a process of its own, in which nothing of gllint is loaded yet."""
    groups = () if budget.is_whole() else _QUICK
    command = [sys.executable, __file__, str(budget.seconds), str(budget.seed), str(budget.hours), *groups]
    done = ran(*command, cwd=_TOP, timeout=budget.seconds + 2400)
    tried: dict[str, list[str | None]] = defaultdict(list)
    failing: list[str] = []
    for line in done.stdout.splitlines():
        if line.startswith('{"group"'):
            mutant = json.loads(line)
            tried[mutant["group"]].append(mutant["survivor"])
        elif line.startswith('{"fails"'):
            failing.append(f"{json.loads(line)['fails']} fails before anything is changed")
    if not tried:
        yield Row("mutation", "did not run", [done.stdout[-500:] + done.stderr[-1000:]])
    for group, results in sorted(tried.items()):
        yield row(group, results)
    yield from (left_out(f"mutation: {group}") for group in _GROUPS if groups and group not in groups)
    if failing:
        yield Row("mutation: tests", f"{len(failing)} tests were left out", failing)
    gone = stale()
    yield Row("mutation: survivors.md", f"{len(_listed())} survivors, each with its reason", gone)


def row(group: str, results: Sequence[str | None]) -> Row:
    """What became of the mutants of a group: the text of each that lives, ``None`` for one that was killed."""
    survivors = sorted(result for result in results if result is not None)
    listed = _listed()
    unlisted = [line for line in survivors if line not in listed]
    killed, equivalent = len(results) - len(survivors), len(survivors) - len(unlisted)
    counted = killed + len(unlisted)
    rate = f", {math.floor(100 * killed / counted)} %" if counted else ""
    shown = "".join(f"\n{'':16}lives: {line}" for line in unlisted)
    most = _LIVING * counted if counted >= _MANY else _LIVING_OF_FEW * len(results)
    wrong = [f"{len(unlisted)} of {counted} live"] if len(unlisted) > most else []
    said = f"{killed} of {counted} mutants killed{rate}; {equivalent} more live as listed"
    return Row(f"mutation: {group}", said + shown, wrong, len(results), _LEAST.get(group, _LEAST_OF_OTHERS))


def _listed() -> set[str]:
    """The mutants of ``survivors.md``."""
    return set(re.findall(r"^\| `(.+)` \| .+ \|$", _SURVIVORS.read_text("utf-8"), re.MULTILINE))


def stale() -> list[str]:
    """The lines of ``survivors.md`` that are no mutant of any file as it stands."""
    listed = _listed()
    files = {line.partition(":")[0] for line in listed}
    names = {
        path.relative_to(_TOP).as_posix()
        for top in ("runtime", "rules", "gllint")
        for path in (_TOP / top).rglob("*.py")
        if path.name in files
    }
    there = {mutant.shown for name in names if _group(name) for mutant in _mutants(name)}
    return [f"stale, take it out: {line}" for line in sorted(listed - there)]


def _group(name: str) -> str | None:
    """The group of a file."""
    return next((group for group, heads in _GROUPS.items() if any(map(name.startswith, heads))), None)


# --- mutants ------------------------------------------------------------------------------------------------


class Mutant(NamedTuple):
    """A change to the node of a file that a walk comes upon as its ``number``-th."""

    name: str
    line: int
    text: str
    number: int
    what: str
    change: Callable[[ast.AST], None]

    @property
    def shown(self) -> str:
        """How ``survivors.md`` has it."""
        text = f"{self.name.rpartition('/')[2]}: {self.text}: {self.what}"
        return text.replace("|", "/").replace("`", "'")


def _mutants(name: str) -> Iterator[Mutant]:
    source = (_TOP / name).read_text("utf-8")
    tree, texts = ast.parse(source), source.splitlines()
    bodies = [
        node.body for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    within = {node for body in bodies for statement in body for node in ast.walk(statement)}
    # What holds anyway is said to a reader, or to a checker of types, and does nothing.
    said = (node for node in ast.walk(tree) if isinstance(node, ast.Assert))
    lengths = (
        word.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "zip"
        for word in node.keywords
    )
    within.difference_update(*map(ast.walk, (*said, *lengths)))
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


@cache
def _read(name: str) -> tuple[ast.Module, list[CodeType]]:
    """A file as it is: parsed, and its functions as they live. Read before the fork, which then has its own."""
    source = (_TOP / name).read_text("utf-8")
    return ast.parse(source), [*_codes(compile(source, str(_TOP / name), "exec", dont_inherit=True))]


def _module(name: str) -> str:
    """The name of a file's module."""
    return ".".join(Path(name).with_suffix("").parts[0 if name.startswith("gllint/") else 1 :])


def _put_in(mutant: Mutant, living: Living) -> None:
    """Change the code of the functions that live, and the tree for good: that of a process of its own."""
    file = str(_TOP / mutant.name)
    tree, old = _read(mutant.name)
    mutant.change(next(node for at, node in enumerate(ast.walk(tree)) if at == mutant.number))
    changed = compile(ast.fix_missing_locations(tree), file, "exec", dont_inherit=True)
    by_old = dict(zip(old, _codes(changed), strict=True))
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

    def __init__(self, seconds: float, seed: int, hours: float, groups: Sequence[str]) -> None:
        self._budget, self._seed, self._groups = Budget(seconds, seed, hours=hours), seed, groups

    def pytest_collection(self) -> None:
        """Before any test is read: hypothesis tries the same examples each time, and makes none of them smaller."""
        from hypothesis import Phase, settings

        alike = {"deadline": None, "derandomize": True, "phases": (Phase.explicit, Phase.generate)}
        settings.register_profile("mutation", **alike)  # type: ignore[arg-type]
        settings.load_profile("mutation")

    def pytest_runtestloop(self, session: Any) -> bool:
        with TemporaryDirectory() as folder:
            items = {item.nodeid: item for item in [*session.items, *_conversations(self._groups)]}
            halves = [([*items.values()][half::2], Path(folder, f"{half}.json")) for half in (0, 1)]
            _both([partial(_watch, items, where) for items, where in halves])
            reached: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
            took: dict[str, float] = {}
            for _, where in halves:
                by_file, seconds, wrong = json.loads(where.read_text())
                took |= seconds
                for conversation, most in wrong.items():
                    items[conversation].most = most
                for name, lines in by_file.items():
                    for line, tests in lines.items():
                        reached[name][int(line)] += map(sys.intern, tests)
        if not reached:
            os.write(
                _OUT,
                b"The tests use a gllint from elsewhere: install this checkout, `pip install -e '.[trust]'`.\n",
            )
            return True
        drawn = _drawn([*reached], self._groups, random.Random(self._seed))
        for name in reached:  # what the tests import where they first need it is to be changed, too
            if name.endswith(".py"):
                with suppress(ImportError):
                    import_module(_module(name))
        living: Living = defaultdict(list)
        for each in gc.get_objects():
            if isinstance(each, FunctionType):
                living[each.__code__.co_filename].append(each)
            elif isinstance(each, _lru_cache_wrapper) and str(each.__module__).startswith("gllint"):
                each.cache_clear()  # what it said while the tests were collected
        gc.freeze()  # what a process leaves alone is not copied for it
        _both([partial(self._try, drawn[half::2], items, living, reached, took) for half in (0, 1)])
        return True

    def _try(self, drawn: Any, items: Any, living: Living, reached: Any, took: dict[str, float]) -> None:
        """Print what becomes of each mutant that is due, and of those for which there is time."""
        for share, group, mutant in drawn:
            if share >= min(1.0, self._budget.hours) and not self._budget.goes_on(1):
                break
            lines = reached[mutant.name]
            # Of a statement over several lines coverage knows the first.
            tests = lines.get(max((at for at in lines if at <= mutant.line), default=0), [])
            if not tests:  # what runs when the module is imported
                tests = {test for named in lines.values() for test in named}
            _read(mutant.name)
            chosen = _chosen(tests, _OWN.get(group, ()), took)
            status = _forked(partial(_survives, mutant, living, [items[test] for test in chosen]))
            line = json.dumps({"group": group, "survivor": mutant.shown if status == 0 else None})
            os.write(_OUT, f"{line}\n".encode())


def _chosen(tests: Collection[str], own: Collection[str], took: dict[str, float]) -> list[str]:
    """The quickest of some tests, one at least; then the quickest of the group's ``own``, and of the others."""
    quickest = sorted(tests, key=took.__getitem__)
    first = _within(_FIRST, quickest, took) or quickest[:1]
    rest = quickest[len(first) :]
    owned = _within(_ENOUGH_OWN, [test for test in rest if any(part in test for part in own)], took)
    others = sorted({*rest}.difference(owned), key=took.__getitem__)
    return [*first, *owned, *_within(_ENOUGH - _FIRST, others, took)]


def _within(seconds: float, tests: Sequence[str], took: dict[str, float]) -> list[str]:
    """The first of some tests, as many as take no longer together."""
    until = accumulate(took[test] for test in tests)
    return [test for test, at in zip(tests, until, strict=True) if at < seconds]


def _drawn(
    names: Collection[str], groups: Sequence[str], draw: random.Random
) -> list[tuple[float, str, Mutant]]:
    """All mutants of ``groups`` in an order by chance, each with its group and the part of an hour in which it is due."""
    files: dict[str, list[str]] = {group: [] for group in groups or _GROUPS}
    for name in sorted(names):
        group = _group(name)
        if group in files:
            files[group].append(name)
    due: list[tuple[float, str, Mutant]] = []
    for group in files:
        mutants = [mutant for name in files[group] for mutant in _mutants(name)]
        draw.shuffle(mutants)
        least = _LEAST.get(group, _LEAST_OF_OTHERS)
        due += [(number / least, group, mutant) for number, mutant in enumerate(mutants)]
    return sorted(due, key=lambda each: each[0])


def _survives(mutant: Mutant, living: Living, items: list[Any]) -> int:
    _put_in(mutant, living)
    return int(any(map(_failure, items)))


class _Conversation:
    """What a conversation of ``test_answers.py`` adds to the figures there; it fails where that is more than it was."""

    def __init__(self, nodeid: str, case: dict[str, Any], answers: list[tuple[bool, str]]) -> None:
        self.nodeid, self._case, self._answers = nodeid, case, answers
        self.most: list[int] | None = None

    def wrong(self) -> list[int]:
        """How many right answers are rejected, and how many wrong ones pass."""
        from test_answers import verdicts

        judged = [*verdicts(self._case, self._answers)]
        return [sum(right != passed and right is kind for right, passed in judged) for kind in (True, False)]

    def failure(self) -> str:
        wrong = self.wrong()
        self.most = self.most or wrong
        return "more wrong verdicts" if any(map(operator.gt, wrong, self.most)) else ""


def _conversations(groups: Collection[str]) -> Iterator[_Conversation]:
    if groups and _ANSWERING.isdisjoint(groups):
        return
    sys.path.append(str(_TOP / "tests" / "runtime"))
    from test_answers import conversations

    for number, (case, answers) in enumerate(conversations("")):
        yield _Conversation(f"answers/{number}", case, answers)


def _failure(item: Any) -> str:
    """Run a test, and tear down what it has set up; how it fails, if it does."""
    if isinstance(item, _Conversation):
        return item.failure()
    from _pytest.runner import runtestprotocol

    reports = runtestprotocol(item, log=False, nextitem=None)
    return "".join(f"{report.longrepr} " for report in reports if report.failed)


def _watch(items: list[Any], where: Path) -> None:
    """Write down which tests reach which lines, and how long each takes."""
    import coverage

    include = [f"{_TOP}/{head}*" for heads in _GROUPS.values() for head in heads]
    measured = coverage.Coverage(data_file=None, config_file=False, concurrency="thread", include=include)
    took = {}
    coverage.Coverage.current = lambda: None  # type: ignore[method-assign]  # tests/conftest.py would stop CI's
    measured.start()
    for item in items:
        measured.switch_context(item.nodeid)
        begun = time.process_time()
        if said := _failure(item):
            os.write(_OUT, f"{json.dumps({'fails': item.nodeid, 'said': said[-300:]})}\n".encode())
        else:
            took[item.nodeid] = time.process_time() - begun
    measured.stop()
    data = measured.get_data()
    reached = {
        os.path.relpath(file, _TOP): {
            line: sorted(took.keys() & tests) for line, tests in data.contexts_by_lineno(file).items()
        }
        for file in data.measured_files()
    }
    wrong = {item.nodeid: item.most for item in items if isinstance(item, _Conversation)}
    where.write_text(json.dumps([reached, took, wrong]))


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
    """The status of what runs in a child; another than 0 where it takes too long, ``None`` where it waits."""
    if (child := os.fork()) == 0:
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_CPU, (_PATIENCE, _PATIENCE))
        status = 1
        try:
            status = work()
        finally:
            os._exit(status)
    end = time.monotonic() + _WAITS
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
    seconds, seed, hours, *groups = sys.argv[1:]
    quick = [test for group in groups for test in _QUICK.get(group, _TESTS)]
    chosen = Trying(float(seconds), int(seed), float(hours), groups)
    pytest.main([*PYTEST[3:], *dict.fromkeys(quick or _TESTS)], plugins=[chosen])
